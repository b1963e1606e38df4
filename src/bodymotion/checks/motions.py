"""Rules about a motion by itself: numbers and quaternions, and whether numbers are in metres, radians and frames per second."""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from bodymotion.checks import rules
from bodymotion.checks.findings import Finding
from bodymotion.checks.physics.samples import ground_of
from bodymotion.diagnostics import Diagnostics, Location, Problem, Rule, Subject
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.units import FULL_TURN, MIN_SHARE
from bodymotion.model.body import Body
from bodymotion.motion import Motion, MultiSE3Seq, MultiValueSeq, Vector3Seq
from bodymotion.motion.components import Timeline
from bodymotion.motion.interpolation import sampled
from bodymotion.motion.rules import (
    MAX_LENGTH_ERROR,
    MOTION_NO_QUATERNION,
    MOTION_NO_TURN,
    MOTION_NOT_FINITE,
    MOTION_QUATERNION,
    ROUNDING,
)

MAX_HEIGHT, MAX_HEIGHT_IN_MM = 20.0, 5.0
"""[m] Root heights above the first look like millimetres, if they are at most the second when divided by 1000."""
FLOOR_HEIGHT = 0.1  # [m] Ground this close to 0 after division by 1000 shows that the positions are millimetres.
MAX_SPEED_HIGH, MAX_SPEED = 30.0, 100.0  # [m/s] The speed of a root that is above `MAX_HEIGHT`, and of any root.
MAX_ZMP_DISTANCE, MAX_ZMP_DISTANCE_IN_MM = 20.0, 2.0
"""[m] Distances of the zero moment point from the root: as stored, and divided by 1000."""
MAX_TIME_STEP = 0.1  # [Hz] Frame rates up to this look like times between frames [s].
MIN_GAP, MAX_GAP = 1e-6, 3600.0  # [s] Times between stamped frames: the median at least, and the longest one.
MAX_ANGLE = 720.0  # Larger values are not angles, neither in radians nor in degrees.
MAX_JOINT_SPEED = 12.0  # [rad/s] Joints with a larger median speed, beyond a full turn, look like degrees.
MILLIMETRES = np.array(
    [0.001, 0.001, 0.001, 1.0, 1.0, 1.0, 1.0]
)  # Factors for a pose whose position is in millimetres.


def check_motion(motion: Motion) -> tuple[Problem, ...]:
    """Return the problems of reading a motion, and the numbers and quaternions that are wrong, one by one."""
    found = Diagnostics(motion.source.path)
    for number, component in enumerate(motion.components):
        if isinstance(component, (MultiValueSeq, MultiSE3Seq, Vector3Seq)):
            _check_finite(found, motion, number, component)
            if isinstance(component, MultiSE3Seq):
                _check_quaternions(found, motion, number, component)
    return (*motion.problems, *found.problems)


def _check_finite(
    found: Diagnostics, motion: Motion, number: int, component: MultiValueSeq | MultiSE3Seq | Vector3Seq
) -> None:
    wrong: npt.NDArray[np.bool_] = ~np.isfinite(component.values)
    if isinstance(component, MultiSE3Seq):
        wrong = np.any(wrong, axis=-1)
    for frame, part in _each(found, MOTION_NOT_FINITE, wrong):
        of = "" if isinstance(component, Vector3Seq) else f" of {part_name(component, part)}"
        message = f"{component.content}: a number{of} in frame {frame} is not finite"
        _report(found, MOTION_NOT_FINITE, message, motion, number, frame, part)


def _check_quaternions(found: Diagnostics, motion: Motion, number: int, component: MultiSE3Seq) -> None:
    length = np.linalg.norm(component.values[..., 3:], axis=-1)
    off = np.where(np.isfinite(length), np.abs(length - 1), 0)
    for rule, wrong in (
        (MOTION_NO_TURN, length == 0),
        (MOTION_NO_QUATERNION, (length > 0) & (off > MAX_LENGTH_ERROR)),
        (MOTION_QUATERNION, (off > ROUNDING) & (off <= MAX_LENGTH_ERROR)),
    ):
        for frame, part in _each(found, rule, wrong):
            of = f"the quaternion of {part_name(component, part)} in frame {frame}"
            message = f"{component.content}: {of} is of length {length[frame, part]:.6g}"
            _report(found, rule, message, motion, number, frame, part)


def _each(found: Diagnostics, rule: Rule, wrong: npt.NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Return the frame and the part of each wrong value in (T, P); those beyond the cap of the collector are only counted."""
    indices = np.argwhere(wrong)
    for done, (frame, part) in enumerate(indices):
        if found.is_full(rule):
            found.count_more(rule, len(indices) - done)
            return
        yield int(frame), int(part)


def _report(found: Diagnostics, rule: Rule, message: str, motion: Motion, number: int, frame: int, part: int) -> None:
    subject: Subject = ("components", number, "frames", frame, part)
    if motion.source.locations.is_known(subject):
        data = {"frame": frame, "part": part}
        found.report(rule, message, frame_location(motion, number, frame, part), subject=subject, data=data)


def part_name(component: MultiValueSeq | MultiSE3Seq, part: int) -> str:
    """Return the name of a joint or a link in a component, or its number where it has none."""
    labels = component.part_labels
    label = labels[part] if part < len(labels) else ""
    return repr(label) if label else f"{'joint' if isinstance(component, MultiValueSeq) else 'link'} {part}"


def component_number(motion: Motion, component: MultiValueSeq | MultiSE3Seq | Vector3Seq) -> int:
    """Return the index of a component in its motion."""
    return next(k for k, one in enumerate(motion.components) if one is component)


def frame_location(motion: Motion, component: int, frame: int, part: int | None = None) -> Location:
    """Return where a frame of a component, or one part of it, is in the file; `inside` is its path in the document."""
    path = motion.source.path
    inside = f"components[{component}].frames[{frame}]"
    subject: Subject = ("components", component, "frames", frame)
    found = motion.source.locations.locate(subject if part is None else (*subject, part))
    if found is None:
        return Location(None if path is None else str(path), inside=inside)
    return found if found.inside else replace(found, inside=inside)


def check_units(motion: Motion) -> list[Problem]:
    """Return the problems of numbers that look like other units."""
    return [*time_steps(motion), *in_millimetres(motion)[0], *_degrees(motion)]


def time_steps(motion: Motion) -> list[Problem]:
    """Return the problem of a frame rate that looks like the time between two frames, or of time stamps that are not seconds."""
    for number, component in enumerate(motion.components):
        if not isinstance(component, (MultiValueSeq, MultiSE3Seq, Vector3Seq)):
            continue
        rate = component.timeline.frame_rate
        if rate is None and component.num_frames > 1:
            gaps = np.diff(component.timeline.times)
            median = float(np.median(gaps))
            frame = int(gaps.argmax() if median >= MIN_GAP else gaps.argmin())
            if (median >= MIN_GAP and gaps[frame] <= MAX_GAP) or not (gaps > 0).all():
                # Times that do not increase are reported by the reader.
                continue
            message = f"frame {frame + 1} is {gaps[frame]:.6g} s after the one before it; the median of these times is {median:.6g} s"
            data = {"frame": frame + 1, "gap": float(gaps[frame]), "median": median}
            return [rules.TIME_STAMPS.problem(message, frame_location(motion, number, frame + 1), data=data)]
        if rate is None or not 0 < rate <= MAX_TIME_STEP or component.num_frames < 2:
            continue
        duration = component.num_frames / rate
        message = (
            f"the frame rate is {rate:g} Hz, so {component.num_frames} frames take {duration:.6g} s; it looks like the time "
            f"between two frames"
        )
        hint = f"write frameRate: {1 / rate:.6g}"
        return [rules.FRAME_RATE.problem(message, frame_location(motion, number, 0), hint)]
    return []


def in_millimetres(
    motion: Motion, body: Body | None = None, q: Floats | None = None
) -> tuple[list[Problem], frozenset[str]]:
    """Return the problems of positions that look like millimetres, and the contents of these components; `q` (T, J) are joint values."""
    links, zmp = motion.link_position, motion.zmp
    if links is None or not links.num_parts or not links.num_frames:
        return [], frozenset()
    times, root = links.timeline.times, links.values[:, 0]
    valid = np.asarray(np.isfinite(root).all(axis=1))
    if np.count_nonzero(valid) < 2 or not (np.diff(times) > 0).all():
        return [], frozenset()
    problems: list[Problem] = []
    found: set[str] = set()
    height = float(np.median(np.abs(root[valid, 2])))
    if _is_in_millimetres(root, times, valid, height, body, q, motion.joint_displacement):
        found.add(links.content)
        shown = " ".join(f"{value:.4g}" for value in root[int(np.argmax(valid)), :3])
        message = f"the root starts at {shown}: these look like millimetres"
        problems.append(rules.METRES.problem(message, frame_location(motion, component_number(motion, links), 0)))
    if zmp is not None and zmp.num_frames and (np.diff(zmp.timeline.times) > 0).all():
        in_metres = root * MILLIMETRES if found else root
        distance = _distance_from_root(zmp, in_metres, times)
        smaller = replace(zmp, values=zmp.values / 1000) if distance > MAX_ZMP_DISTANCE else None
        if smaller is not None and _distance_from_root(smaller, in_metres, times) < MAX_ZMP_DISTANCE_IN_MM:
            if not found:
                message = f"the zero moment point is {distance:.4g} m from the root (90th percentile): it looks like millimetres"
                problems.append(rules.METRES.problem(message, frame_location(motion, component_number(motion, zmp), 0)))
            found.add(zmp.content)
    return problems, frozenset(found)


def _is_in_millimetres(
    root: Floats,
    times: Floats,
    valid: npt.NDArray[np.bool_],
    height: float,
    body: Body | None,
    q: Floats | None,
    joints: MultiValueSeq | None,
) -> bool:
    steps = np.linalg.norm(np.diff(root[:, :3], axis=0), axis=1) / np.diff(times)
    moving = steps[np.isfinite(steps) & (steps > 0)]
    speed = float(np.median(moving)) if moving.size > len(steps) / 10 else 0.0
    if height / 1000 > MAX_HEIGHT_IN_MM:
        return False
    if speed > MAX_SPEED and np.ptp(root[valid, :3], axis=0).max() > MAX_HEIGHT:
        return True
    if height <= MAX_HEIGHT:
        return False
    if body is None:
        return speed > MAX_SPEED_HIGH
    if q is None or joints is None or len(q) != len(root) or not body.links or body.links[0].joint.type != "free":
        return False
    if np.ptp(root[valid, :3], axis=0).max() > FLOOR_HEIGHT:
        # A moving root over feet on level ground is in metres.
        ground = ground_of(body, q, root, times)
        if ground is not None and ground.level:
            return False
    ground = ground_of(body, q, root * MILLIMETRES, times)
    return ground is not None and ground.level and abs(ground.height) < FLOOR_HEIGHT


def _distance_from_root(zmp: Vector3Seq, root: Floats, times: Floats) -> float:
    """Return the 90th percentile of the distances [m] between the zero moment point and the root; NaN where all are unknown."""
    if zmp.is_root_relative:
        away = zmp.values
    else:
        own = zmp.timeline.times
        away = zmp.values - (root if np.array_equal(own, times) else sampled(root[:, None], times, own)[:, 0])[:, :3]
    length = np.linalg.norm(away, axis=1)
    length = length[np.isfinite(length)]
    return float(np.quantile(length, 0.9)) if length.size else math.nan


def too_fast(reason: str, timeline: Timeline, location: Location, factor: float = 10.0) -> Finding:
    """Return the finding of a motion that is too fast as a whole, possibly by a `factor`, a power of ten."""
    rate = timeline.frame_rate
    timing = "its time stamps" if rate is None else f"{rate:g} frames per second"
    question = "are the time stamps seconds?" if rate is None else f"is it {rate / factor:g} frames per second?"
    hint = f"{question} Otherwise slow it down: `bodymotion retime --speed`. Speeds and physics are not checked"
    return Finding(rules.FRAME_RATE.problem(f"with {timing} {reason}", location, hint))


def _degrees(motion: Motion) -> list[Problem]:
    """Return the problem of joint values that look like degrees: beyond a full turn from the start, or too fast for any motor."""
    joints = motion.joint_displacement
    if joints is None or joints.num_frames < 2 or not joints.num_parts:
        return []
    values, gaps = joints.values, np.diff(joints.timeline.times)
    if not np.isfinite(values).all() or not (gaps > 0).all() or not FULL_TURN < np.abs(values).max() <= MAX_ANGLE:
        return []
    used = [k for k in range(joints.num_parts) if values[:, k].any()]
    kept = []
    for column in used:
        sizes = np.abs(values[:, column])
        speeds = np.abs(np.diff(values[:, column])) / gaps
        moving = speeds[speeds > 0]
        is_fast = moving.size > len(speeds) / 4 and float(np.median(moving)) > MAX_JOINT_SPEED
        if np.mean(sizes > FULL_TURN) >= MIN_SHARE and (sizes[0] > FULL_TURN or is_fast):
            kept.append(column)
    if len(kept) < 2 or 2 * len(kept) < len(used):
        return []
    frame, k = (int(i) for i in np.unravel_index(int(np.argmax(np.abs(values[:, kept]))), (len(values), len(kept))))
    message = (
        f"{len(kept)} of {len(used)} joints are beyond a full turn, such as {part_name(joints, kept[k])} at "
        f"{values[frame, kept[k]]:.6g} in frame {frame}: these look like degrees"
    )
    hint = "multiply them by π/180; a table in degrees is read by `bodymotion convert --degrees`"
    return [rules.IN_DEGREES.problem(message, frame_location(motion, component_number(motion, joints), frame), hint)]
