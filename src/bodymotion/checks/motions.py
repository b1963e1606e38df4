"""Rules about a motion, alone and on the body that it is for.

And about key poses on their body.

Alone: numbers and quaternions, and whether numbers are in metres, radians and frames
per second. On its body: its columns, the limits of the joints, link poses, and physics.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING
from weakref import ref

import numpy as np

from bodymotion.checks import rules
from bodymotion.checks.findings import (
    Finding,
    Moment,
    Sampling,
    all_frames,
    component_number,
    frame_location,
    too_fast,
)
from bodymotion.checks.physics.checking import check_physics, find_calm_steps
from bodymotion.checks.physics.ground import find_ground
from bodymotion.diagnostics import Diagnostics, Location, Problem, Rule, Subject
from bodymotion.diagnostics.text import counted, listed
from bodymotion.formats.rules import TOO_LARGE
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Bools, Floats
from bodymotion.geometry.rotations import FULL_TURN, MIN_SHARE, angles_in_degrees
from bodymotion.model.body import Body, fit_problems
from bodymotion.model.links import velocity_range
from bodymotion.motion import Motion, MultiSE3Seq, MultiValueSeq, OtherSeq, Vector3Seq
from bodymotion.motion.components import (
    JOINT_DISPLACEMENT,
    LINK_POSITION,
    ZMP,
    Timeline,
    out_of_order,
    with_even_steps,
)
from bodymotion.motion.interpolation import sampled
from bodymotion.motion.rules import (
    MAX_LENGTH_ERROR,
    MOTION_NOT_FINITE,
    MOTION_QUATERNION,
    MOTION_QUATERNION_LENGTH,
    MOTION_ZERO_QUATERNION,
    ROUNDING,
)

if TYPE_CHECKING:
    from bodymotion.keyposes import KeyPoses

# Units.
MAX_HEIGHT = 20.0
MAX_HEIGHT_IN_MM = 5.0
"""[m] Root heights above the first look like millimetres, if they are at most the second when divided by 1000."""
FLOOR_HEIGHT = 0.1  # [m] Ground this close to 0 after division by 1000 shows that the positions are millimetres.
# [m/s] The speed of a root that is above `MAX_HEIGHT`, and of any root.
MAX_SPEED_HIGH = 30.0
MAX_SPEED = 100.0
ZERO_LENGTH = 1e-150  # Quaternions up to this length are zero: its square is, and memory that was never written holds such numbers.
MAX_ZMP_DISTANCE = 20.0
MAX_ZMP_DISTANCE_IN_MM = 2.0
"""[m] Distances of the zero moment point from the root.

As stored, and divided by 1000.
"""
MAX_TIME_STEP = 0.1  # [Hz] Frame rates up to this look like times between frames [s].
# [s] Times between stamped frames: the median at least, and the longest one.
MIN_GAP = 1e-6
MAX_GAP = 3600.0
MAX_ANGLE = 720.0  # Larger values are not angles, neither in radians nor in degrees.
MAX_JOINT_SPEED = 12.0  # [rad/s] Joints with a larger median speed, beyond a full turn, look like degrees.
MILLIMETRES = np.array([0.001, 0.001, 0.001, 1.0, 1.0, 1.0, 1.0])
"""Factors for a pose whose position is in millimetres."""

# A motion on its body.
LIMIT_TOLERANCE = 1e-6  # [rad or m] The distance beyond a limit that is ignored: files have few digits.
SPEED_TOLERANCE = 1.001
"""The speed, as a multiple of the limit, that is ignored.

Speeds are differences between two frames.
"""
SPEED_TYPES = ("rotate", "slide", "crawler")
POSE_TOLERANCE = (
    1e-3  # [m, rad] The difference from forward kinematics that is ignored.
)
POSES_AT_ONCE = (
    1 << 16
)  # Poses that are compared in one block, which bounds the memory.
MIN_SPEED_FACTOR = 3.0  # With a wrong frame rate the fastest joint has at least this multiple of its velocity limit.
MIN_FAST_SHARE = 0.02
MIN_FAST_STEPS = 4
"""A joint is too fast throughout where it is so in more than this share of the steps, and in more than this number."""
MIN_MOVE = 0.02  # [rad or m] Joints that move less are left out.

# Key poses.
MAX_MISS = 1e-3  # [m, rad] So much may a link be away from its key.
MAX_FRAMES = 200_000  # Of a motion between key poses that is checked: 33 minutes.
RATE = 100.0  # [Hz] At which the motion between the poses is looked at.


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
    found: Diagnostics,
    motion: Motion,
    number: int,
    component: MultiValueSeq | MultiSE3Seq | Vector3Seq,
) -> None:
    wrong: Bools = ~np.isfinite(component.values)
    names = component.part_labels
    unknown = motion.source.locations.unknown
    wrong[
        :,
        [
            k
            for k, name in enumerate(names)
            if ("contents", component.content, name) in unknown
        ],
    ] = False
    poses = wrong
    if isinstance(component, MultiSE3Seq):
        wrong = np.any(wrong, axis=-1)
    for frame, part in _each(found, MOTION_NOT_FINITE, wrong):
        if isinstance(component, Vector3Seq):
            of = ""
        else:
            of = f" of {part_name(component, part)}"
        message = f"{component.content}: a number{of} in frame {frame} is not finite"
        if poses.ndim > wrong.ndim:
            first = int(np.argmax(poses[frame, part]))
        else:
            first = 3
        _report(
            found,
            MOTION_NOT_FINITE,
            message,
            motion,
            number,
            frame,
            part,
            *([first] if first < 3 else []),
        )


def _check_quaternions(
    found: Diagnostics, motion: Motion, number: int, component: MultiSE3Seq
) -> None:
    length = _quaternion_lengths(component)
    off = np.abs(length - 1)
    for rule, wrong in (
        (MOTION_ZERO_QUATERNION, length < ZERO_LENGTH),
        (MOTION_QUATERNION_LENGTH, (length >= ZERO_LENGTH) & (off > MAX_LENGTH_ERROR)),
        (MOTION_QUATERNION, (off > ROUNDING) & (off <= MAX_LENGTH_ERROR)),
    ):
        for frame, part in _each(found, rule, wrong):
            of = f"the quaternion of {part_name(component, part)} in frame {frame}"
            message = (
                f"{component.content}: {of} is of length {length[frame, part]:.6g}"
            )
            _report(found, rule, message, motion, number, frame, part)


def _quaternion_lengths(component: MultiSE3Seq) -> Floats:
    """Return the lengths (T, P) of the quaternions.

    NaN where a number is not finite.
    """
    quaternions = component.values[..., 3:]
    return np.asarray(
        np.hypot.reduce(
            np.where(np.isfinite(quaternions), np.abs(quaternions), np.nan), axis=-1
        )
    )


def _each(found: Diagnostics, rule: Rule, wrong: Bools) -> Iterator[tuple[int, int]]:
    """Return the frame and the part of each wrong value in (T, P).

    Those beyond the cap of the collector are only counted.
    """
    indices = np.argwhere(wrong)
    for done, (frame, part) in enumerate(indices):
        if found.is_full(rule):
            found.count_more(rule, len(indices) - done)
            return
        yield int(frame), int(part)


def _report(
    found: Diagnostics,
    rule: Rule,
    message: str,
    motion: Motion,
    number: int,
    frame: int,
    part: int,
    *inside: int,
) -> None:
    subject: Subject = ("components", number, "frames", frame, part)
    if motion.source.locations.is_known(subject):
        data = {"frame": frame, "part": part}
        found.report(
            rule,
            message,
            frame_location(motion, number, frame, part, *inside),
            subject=subject,
            data=data,
        )


def part_name(component: MultiValueSeq | MultiSE3Seq, part: int) -> str:
    """Return the name of a joint or a link in a component, or its number where it has none."""
    labels = component.part_labels
    if part < len(labels):
        label = labels[part]
    else:
        label = ""
    if label:
        return repr(label)
    return f"{'joint' if isinstance(component, MultiValueSeq) else 'link'} {part}"


def check_units(motion: Motion) -> list[Problem]:
    """Return the problems of numbers that look like other units, of a motion without a body."""
    return _check_any_motion(_with_unknown(motion))[0]


def _check_any_motion(
    motion: Motion, body: Body | None = None, q: Floats | None = None
) -> tuple[list[Problem], frozenset[str]]:
    """Return what the rules about any motion find, and the contents of the components that are in millimetres.

    On a body, `q` (T, J) are the joint values; None where they are unknown.
    """
    joints = motion.joint_displacement
    if body is None:
        degrees = _degrees(motion)
    else:
        if joints is None or q is None or not len(q):
            degrees = []
        else:
            degrees = _degrees_on_body(motion, joints, q, body)
    in_mm, contents = _in_millimetres(motion, body, None if degrees else q)
    return [*_time_steps(motion), *in_mm, *degrees], contents


def _with_unknown(motion: Motion) -> Motion:
    """Return a motion in which what is unknown is NaN.

    These are numbers that are not finite, quaternions that are no orientations, and
    stamped frames that could not be read, or are not in order. The times of the latter
    are at even steps between the others.
    """
    components = list(motion.components)
    for k, one in enumerate(motion.components):
        if isinstance(one, OtherSeq):
            continue
        unknown = ~np.isfinite(one.values)
        timeline = one.timeline
        if isinstance(one, MultiSE3Seq):
            unknown[..., 3:] |= (
                np.abs(_quaternion_lengths(one) - 1) > MAX_LENGTH_ERROR
            )[..., None]
        if (
            timeline.stamps is not None
            and (wrong := out_of_order(timeline.stamps)).any()
        ):
            unknown[wrong] = True
            timeline = Timeline.stamped(
                with_even_steps(np.where(wrong, np.nan, timeline.stamps))
            )
        if unknown.any() or timeline is not one.timeline:
            components[k] = replace(
                one, values=np.where(unknown, np.nan, one.values), timeline=timeline
            )
    return replace(motion, components=tuple(components))


def _time_steps(motion: Motion) -> list[Problem]:
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
                continue
            message = f"frame {frame + 1} is {gaps[frame]:.6g} s after the one before it; the median of these times is {median:.6g} s"
            data = {
                "frame": frame + 1,
                "gap": float(gaps[frame]),
                "median": median,
                "every_step": median < MIN_GAP,
            }
            return [
                rules.TIME_STAMPS.problem(
                    message, frame_location(motion, number, frame + 1), data=data
                )
            ]
        if rate is None or not 0 < rate <= MAX_TIME_STEP or component.num_frames < 2:
            continue
        duration = component.num_frames / rate
        message = (
            f"the frame rate is {rate:g} Hz, so {component.num_frames} frames take "
            f"{duration:.6g} s; it looks like the time "
            f"between two frames"
        )
        hint = f"write frameRate: {1 / rate:.6g}"
        return [
            rules.FRAME_RATE.problem(message, frame_location(motion, number, 0), hint)
        ]
    return []


def _in_millimetres(
    motion: Motion, body: Body | None = None, q: Floats | None = None
) -> tuple[list[Problem], frozenset[str]]:
    """Return the problems of positions that look like millimetres, and the contents of these components.

    `q` (T, J) are joint values.
    """
    links = motion.link_position
    zmp = motion.zmp
    if links is None or not links.num_parts or not links.num_frames:
        return [], frozenset()
    times = links.timeline.times
    root = links.values[:, 0]
    valid = np.asarray(np.isfinite(root[:, :3]).all(axis=1))
    if np.count_nonzero(valid) < 2 or not (np.diff(times) > 0).all():
        return [], frozenset()
    problems: list[Problem] = []
    found: set[str] = set()
    height = float(np.median(np.abs(root[valid, 2])))
    if _is_in_millimetres(
        root, times, valid, height, body, q, motion.joint_displacement
    ):
        found.add(links.content)
        shown = " ".join(f"{value:.4g}" for value in root[int(np.argmax(valid)), :3])
        message = f"the root starts at {shown}: these look like millimetres"
        problems.append(
            rules.METRES.problem(
                message, frame_location(motion, component_number(motion, links), 0)
            )
        )
    if zmp is not None and zmp.num_frames and (np.diff(zmp.timeline.times) > 0).all():
        if found:
            in_metres = root * MILLIMETRES
        else:
            in_metres = root
        distance = _distance_from_root(zmp, in_metres, times)
        if distance > MAX_ZMP_DISTANCE:
            smaller = replace(zmp, values=zmp.values / 1000)
        else:
            smaller = None
        if (
            smaller is not None
            and _distance_from_root(smaller, in_metres, times) < MAX_ZMP_DISTANCE_IN_MM
        ):
            if not found:
                message = f"the zero moment point is {distance:.4g} m from the root (90th percentile): it looks like millimetres"
                problems.append(
                    rules.METRES.problem(
                        message,
                        frame_location(motion, component_number(motion, zmp), 0),
                    )
                )
            found.add(zmp.content)
    return problems, frozenset(found)


def _is_in_millimetres(
    root: Floats,
    times: Floats,
    valid: Bools,
    height: float,
    body: Body | None,
    q: Floats | None,
    joints: MultiValueSeq | None,
) -> bool:
    steps = np.linalg.norm(np.diff(root[:, :3], axis=0), axis=1) / np.diff(times)
    moving = steps[np.isfinite(steps) & (steps > 0)]
    if moving.size > len(steps) / 10:
        speed = float(np.median(moving))
    else:
        speed = 0.0
    if height / 1000 > MAX_HEIGHT_IN_MM:
        return False
    if speed > MAX_SPEED and np.ptp(root[valid, :3], axis=0).max() > MAX_HEIGHT:
        return True
    if height <= MAX_HEIGHT:
        return False
    if body is None:
        return speed > MAX_SPEED_HIGH
    if (
        q is None
        or joints is None
        or len(q) != len(root)
        or not body.links
        or body.links[0].joint.type != "free"
    ):
        return False
    if np.ptp(root[valid, :3], axis=0).max() > FLOOR_HEIGHT:
        # A moving root over feet on level ground is in metres.
        ground = find_ground(body, q, root, times)
        if ground is not None and ground.level:
            return False
    ground = find_ground(body, q, root * MILLIMETRES, times)
    return ground is not None and ground.level and abs(ground.height) < FLOOR_HEIGHT


def _distance_from_root(zmp: Vector3Seq, root: Floats, times: Floats) -> float:
    """Return the 90th percentile of the distances [m] between the zero moment point and the root.

    NaN where all are unknown.
    """
    if zmp.is_root_relative:
        away = zmp.values
    else:
        own = zmp.timeline.times
        away = (
            zmp.values
            - (
                root
                if np.array_equal(own, times)
                else sampled(root[:, None], times, own)[:, 0]
            )[:, :3]
        )
    length = np.linalg.norm(away, axis=1)
    length = length[np.isfinite(length)]
    if length.size:
        return float(np.quantile(length, 0.9))
    return math.nan


def _degrees(motion: Motion) -> list[Problem]:
    """Return the problem of joint values that look like degrees.

    Beyond a full turn from the start, or too fast for any motor.
    """
    joints = motion.joint_displacement
    if joints is None or joints.num_frames < 2 or not joints.num_parts:
        return []
    finite = np.flatnonzero(np.isfinite(joints.values).all(axis=1))
    values = joints.values[finite]
    gaps = np.diff(joints.timeline.times[finite])
    if (
        not len(gaps)
        or not (gaps > 0).all()
        or not FULL_TURN < np.abs(values).max() <= MAX_ANGLE
    ):
        return []
    used = [k for k in range(joints.num_parts) if values[:, k].any()]
    kept = []
    for column in used:
        sizes = np.abs(values[:, column])
        speeds = np.abs(np.diff(values[:, column])) / gaps
        moving = speeds[speeds > 0]
        is_fast = (
            moving.size > len(speeds) / 4 and float(np.median(moving)) > MAX_JOINT_SPEED
        )
        if np.mean(sizes > FULL_TURN) >= MIN_SHARE and (
            sizes[0] > FULL_TURN or is_fast
        ):
            kept.append(column)
    if len(kept) < 2 or 2 * len(kept) < len(used):
        return []
    row, k = (
        int(i)
        for i in np.unravel_index(
            int(np.argmax(np.abs(values[:, kept]))), (len(values), len(kept))
        )
    )
    frame = int(finite[row])
    message = (
        f"{len(kept)} of {len(used)} joints are beyond a full turn, such as "
        f"{part_name(joints, kept[k])} at "
        f"{values[row, kept[k]]:.6g} in frame {frame}: these look like degrees"
    )
    hint = "multiply them by π/180; a file in degrees is read with `--input-degrees`"
    return [
        rules.IN_DEGREES.problem(
            message,
            frame_location(motion, component_number(motion, joints), frame),
            hint,
        )
    ]


def _degrees_on_body(
    motion: Motion, joints: MultiValueSeq, q: Floats, body: Body
) -> list[Problem]:
    """Return the problem of joint values (T, J) that look like degrees, by the limits of the joints."""
    turning = [
        k
        for k, (joint, link) in enumerate(
            zip(body.joints, body.joint_links, strict=True)
        )
        if link >= 0
        and joint.type == "rotate"
        and -math.inf < joint.lower <= joint.upper < math.inf
    ]
    lower = np.array([body.joints[k].lower for k in turning]) - LIMIT_TOLERANCE
    upper = np.array([body.joints[k].upper for k in turning]) + LIMIT_TOLERANCE
    found = angles_in_degrees(q[:, turning], lower, upper)
    # A single joint may really make many turns.
    if found is None or len(found.columns) < min(2, len(turning)):
        return []
    column = turning[found.column]
    frame = found.frame
    name = body.joints[column].name or body.links[body.joint_links[column]].name
    joint_count = f"{counted(found.beyond, 'joint')} {'is' if found.beyond == 1 else 'are'} beyond the limits"
    kept = len(found.columns)
    if kept == found.beyond:
        inside = ""
    else:
        inside = f"; in degrees {kept} of them would be within their limits"
    message = f"{joint_count}, such as {name!r} at {q[frame, column]:.6g} in frame {frame}: these look like degrees{inside}"
    number = component_number(motion, joints)
    return [
        rules.IN_DEGREES.problem(
            message,
            frame_location(motion, number, frame),
            subject=("components", number),
        )
    ]


def check_motion_on_body(motion: Motion, body: Body) -> tuple[Problem, ...]:
    """Return the problems of a motion on the body that it is for."""
    return tuple(one.problem for one in _findings(motion, body))


def moments(motion: Motion, body: Body) -> tuple[Moment, ...]:
    """Return the moments of the problems that `check` reports of a motion on its body, in order of time.

    Of each rule, and for limits of each joint, the 100 worst are kept; `amount` orders
    them. Problems of a whole motion have none.
    """
    with np.errstate(all="ignore"):
        found = [moment for one in _findings(motion, body) for moment in one.moments]
    return tuple(
        sorted(found, key=lambda moment: (moment.time, moment.rule, moment.subject))
    )


_last: list[tuple[ref[Motion], ref[Body], list[Finding]]] = []
"""The findings of the last motion on its body, for a report that calls both `check` and `moments`."""


def _findings(motion: Motion, body: Body) -> list[Finding]:
    for last_motion, last_body, found in _last:
        if last_motion() is motion and last_body() is body:
            return found
    found = _find(motion, body)
    _last[:] = [(ref(motion), ref(body), found)]
    return found


def _find(motion: Motion, body: Body) -> list[Finding]:
    motion = _with_unknown(motion)
    joints = motion.joint_displacement
    links = motion.link_position
    problems = Diagnostics()
    q = None
    if joints is not None:
        try:
            q = body.joint_values(joints)
        except ValueError as error:
            problems.add(
                rules.JOINTS.problem(
                    str(error), _component_location(motion, joints), ""
                )
            )
        else:
            problems.extend(
                fit_problems(motion, body, partial(_component_location, motion, joints))
            )
    elif links is None and not _is_unread(motion, JOINT_DISPLACEMENT, LINK_POSITION):
        where = Location(
            None if motion.source.path is None else str(motion.source.path)
        )
        problems.add(
            rules.NOTHING_MOVES.problem(
                "the motion has neither JointDisplacement nor LinkPosition", where
            )
        )
    fits = links is None or _links_fit(
        motion, links, body, joints is not None, problems
    )
    of_any, unusable = _check_any_motion(motion, body, q)
    problems.extend(of_any)
    if (joints is None and links is None) or any(
        one.rule == rules.IN_DEGREES.code for one in of_any
    ):
        # Limits, speeds and physics would only repeat the finding about degrees.
        return [*map(Finding, problems.problems)]
    found = list[Finding]()
    fast = list[Finding]()
    of_physics = list[Finding]()
    # Frames that could not be read are NaN. The rules look at the others, and at the
    # components whose names are known.
    contents = (JOINT_DISPLACEMENT, LINK_POSITION, ZMP)
    others = [
        ("components", k)
        for k, one in enumerate(motion.components)
        if one.content not in contents
    ]
    unknown = [
        one
        for one in motion.source.locations.unknown
        if one[0] != "contents" and one[:2] not in others
    ]
    complete = all(one[2:3] == ("frames",) and len(one) > 3 for one in unknown)
    complete = complete and all(
        (np.diff(one.timeline.times) > 0).all() for one in motion.timed
    )
    if joints is not None and q is not None and len(q):
        found += _check_positions(
            all_frames(motion, joints), component_number(motion, joints), q, body
        )
    if (
        links is not None
        and fits
        and joints is not None
        and q is not None
        and links.content not in unusable
    ):
        found += _check_link_poses(motion, links, joints, q, body)
    # Speeds and physics would only repeat the finding about a wrong rate. A long gap
    # between time stamps changes no other speed.
    has_rate = not any(
        one.rule == rules.FRAME_RATE.code or one.data.get("every_step")
        for one in of_any
    )
    if complete and has_rate and not problems.has_errors:
        if joints is None or q is None:
            wrong_rate = []
        else:
            wrong_rate = _check_frame_rate(motion, joints, q, body)
        of_physics = wrong_rate or check_physics(motion, body, q, unusable)
    has_rate = has_rate and not any(
        one.problem.rule == rules.FRAME_RATE.code for one in of_physics
    )
    if complete and joints is not None and q is not None and has_rate:
        shares = _speed_shares(
            joints, q, body, find_calm_steps(joints.timeline.times, of_physics)
        )
        fast = _check_speeds(
            all_frames(motion, joints), component_number(motion, joints), body, shares
        )
    return [*map(Finding, problems.problems), *found, *fast, *of_physics]


def _is_unread(motion: Motion, *contents: str) -> bool:
    """Return whether the components of one of these contents may be there, but could not be read."""
    is_known = motion.source.locations.is_known
    return not (
        is_known(("components", "all"))
        and all(is_known(("contents", one)) for one in contents)
    )


def _component_location(
    motion: Motion, component: MultiValueSeq | MultiSE3Seq
) -> Location:
    """Return the location of a component.

    That of its first frame, where it has one.
    """
    number = component_number(motion, component)
    inside = f"components[{number}]"
    if component.num_frames:
        return replace(frame_location(motion, number, 0), inside=inside)
    path = motion.source.path
    return Location(None if path is None else str(path), inside=inside)


def _links_fit(
    motion: Motion, links: MultiSE3Seq, body: Body, joints: bool, problems: Diagnostics
) -> bool:
    count = links.num_parts
    wanted = len(body.links)
    if count > wanted or (
        count < wanted and not joints and not _is_unread(motion, JOINT_DISPLACEMENT)
    ):
        wrong = f"{links.content} has poses of {counted(count, 'link')}, {body.name or 'the body'} has {counted(wanted, 'link')}"
        if count > wanted:
            without = ""
        else:
            without = ", and no joints to compute the others from"
        problems.add(
            rules.LINKS.problem(wrong + without, _component_location(motion, links))
        )
    return count == wanted


def _check_link_poses(
    motion: Motion, links: MultiSE3Seq, joints: MultiValueSeq, q: Floats, body: Body
) -> list[Finding]:
    if links.timeline != joints.timeline or not body.links or not len(q):
        return []
    step = max(POSES_AT_ONCE // len(body.links), 1)
    worst = np.zeros(2)
    at = [(0, 0), (0, 0)]
    amount = np.zeros(len(q))
    differs = np.zeros(len(body.links), dtype=bool)
    for start in range(0, len(q), step):
        recorded = links.values[start : start + step]
        expected = body.forward_kinematics(q[start : start + step], recorded[:, 0])
        distance = np.linalg.norm(recorded[..., :3] - expected[..., :3], axis=-1)
        angle = rotations.angle_between(recorded[..., 3:], expected[..., 3:])
        for kind, one in enumerate((distance, angle)):
            one[~np.isfinite(one)] = 0.0
            frame, link = (
                int(k) for k in np.unravel_index(int(np.argmax(one)), one.shape)
            )
            if one[frame, link] > worst[kind]:
                worst[kind], at[kind] = one[frame, link], (start + frame, link)
        both = np.maximum(distance, angle)
        amount[start : start + len(recorded)] = both.max(axis=1)
        differs |= (both > POSE_TOLERANCE).any(axis=0)
    wrong = amount > POSE_TOLERANCE
    if not wrong.any():
        return []
    (frame_a, link_a), (frame_b, link_b) = at
    count = int(np.count_nonzero(differs))
    frames = counted(int(np.count_nonzero(wrong)), "frame")
    message = (
        f"links are up to {worst[0] * 1000:.3g} mm ({body.links[link_a].name!r}, "
        f"frame {frame_a}) and {np.degrees(worst[1]):.3g}° "
        f"({body.links[link_b].name!r}, frame {frame_b}) from the forward kinematics "
        f"of root and joints, in {frames}: "
        f"{count} of {len(body.links)} links; the first in the tree is "
        f"{body.links[int(np.argmax(differs))].name!r}"
    )
    of = all_frames(motion, links)
    text = "links differ from the forward kinematics of root and joints in"
    problem = rules.POSES_DISAGREE.problem(message, of.locate(int(np.argmax(wrong))))
    moments = of.moments(
        rules.POSES_DISAGREE,
        amount / POSE_TOLERANCE,
        lambda run: f"{text} {of.when(run.worst)}",
    )
    return [Finding(problem, tuple(moments))]


def _check_positions(
    frames: Sampling, number: int, q: Floats, body: Body
) -> list[Finding]:
    """Report the joints that are beyond their limits."""
    found: list[Finding] = []
    for column, (joint, link) in enumerate(
        zip(body.joints, body.joint_links, strict=True)
    ):
        if (
            link < 0
            or joint.type not in ("rotate", "slide")
            or joint.lower > joint.upper
        ):
            continue
        beyond = np.maximum(joint.lower - q[:, column], q[:, column] - joint.upper)
        name = joint.name or body.links[link].name
        unit = "rad" if joint.type == "rotate" else "m"
        text = f"{unit} in frame {{frame}}, its limit is {{limit:.6g}} {unit}"
        where = (
            q[:, column],
            (joint.lower, joint.upper),
            f"is at {{value:.6g}} {text}",
        )
        found += _beyond(
            rules.POSITION_LIMIT,
            "beyond it",
            frames,
            number,
            name,
            beyond / LIMIT_TOLERANCE,
            *where,
        )
    return found


def _beyond(
    rule: Rule,
    how: str,
    frames: Sampling,
    number: int,
    name: str,
    amount: Floats,
    values: Floats,
    limits: tuple[float, float],
    text: str,
) -> list[Finding]:
    """Return the finding of a joint whose `amount` (T or T − 1,) is above 1 in some frame.

    `text` follows the name, with {frame}, {next}, {value} and {limit}: one of `values`
    and the one of `limits` that it is beyond.
    """
    wrong = amount > 1.0
    if not (count := int(np.count_nonzero(wrong))):
        return []

    def message_of(frame: int) -> str:
        value = float(values[frame])
        if value < limits[0]:
            limit = limits[0]
        else:
            limit = limits[1]
        return f"{name!r} {text.format(frame=frame, next=frame + 1, value=value, limit=limit)}"

    first = int(np.argmax(wrong))
    worst = int(np.nanargmax(np.where(np.isnan(amount), -np.inf, amount)))
    message = f"{message_of(worst)}: {how} in {counted(count, 'frame')}, first in frame {first}"
    moments = frames.moments(rule, amount, lambda run: message_of(run.worst), name)
    problem = rule.problem(
        message, frames.locate(worst), subject=("components", number, "frames", worst)
    )
    return [Finding(problem, tuple(moments))]


def _speed_shares(
    joints: MultiValueSeq, q: Floats, body: Body, calm: Bools
) -> dict[int, tuple[Floats, Floats]]:
    """Return for each joint that is too fast somewhere its speeds (T − 1,), and these as multiples of its limit.

    Only `calm` steps (T − 1,) count; in the others a rule about sudden changes explains
    the speed.
    """
    columns = [
        column
        for column, (joint, link) in enumerate(
            zip(body.joints, body.joint_links, strict=True)
        )
        if link >= 0 and joint.type in SPEED_TYPES
    ]
    low, high = (
        np.array([velocity_range(body.joints[k]) for k in columns]).reshape(-1, 2).T
    )
    speeds = np.diff(q[:, columns], axis=0) / np.diff(joints.timeline.times)[:, None]
    known = np.where(calm[:, None] & np.isfinite(speeds), speeds, 0.0)
    shares = np.maximum(known / low, known / high)
    fast = np.flatnonzero((shares > SPEED_TOLERANCE).any(axis=0)).tolist()
    return {columns[k]: (known[:, k], shares[:, k]) for k in fast}


def _check_speeds(
    frames: Sampling, number: int, body: Body, fast: dict[int, tuple[Floats, Floats]]
) -> list[Finding]:
    """Report the joints that are too fast.

    `fast` is the result of `_speed_shares`.
    """
    found: list[Finding] = []
    for column, (speeds, share) in fast.items():
        joint = body.joints[column]
        link = body.joint_links[column]
        name = joint.name or body.links[link].name
        unit = "m/s" if joint.type == "slide" else "rad/s"
        text = f"moves at {{value:.6g}} {unit} from frame {{frame}} to {{next}}, its limit is {{limit:.6g}} {unit}"
        where = (speeds, (joint.velocity_lower, joint.velocity_upper), text)
        found += _beyond(
            rules.SPEED_LIMIT,
            "faster",
            frames,
            number,
            name,
            share / SPEED_TOLERANCE,
            *where,
        )
    return found


def _check_frame_rate(
    motion: Motion, joints: MultiValueSeq, q: Floats, body: Body
) -> list[Finding]:
    """Report a frame rate that is far too high.

    A third of the joints are too fast in many frames, and one of them by far.

    `q` (T, J) are the joint values. Joints that are fast in a few frames only are
    reported one by one.
    """
    fast = _speed_shares(joints, q, body, np.ones(max(len(q) - 1, 0), dtype=bool))
    moving = [
        column
        for column, (joint, link) in enumerate(
            zip(body.joints, body.joint_links, strict=True)
        )
        if link >= 0
        and -math.inf < joint.velocity_lower < 0 < joint.velocity_upper < math.inf
        if len(q)
        and np.fmax.reduce(q[:, column]) - np.fmin.reduce(q[:, column]) > MIN_MOVE
    ]
    tops: dict[int, float] = {}
    for column in moving:
        share = fast.get(column, (0, np.zeros(0)))[1]
        if np.count_nonzero(share > 1) > max(
            MIN_FAST_SHARE * len(share), MIN_FAST_STEPS
        ):
            tops[column] = float(np.partition(share, -MIN_FAST_STEPS)[-MIN_FAST_STEPS])
    is_rare = len(tops) < min(3, len(moving)) or 3 * len(tops) < len(moving)
    if is_rare or max(tops.values(), default=0.0) < MIN_SPEED_FACTOR:
        return []
    worst = max(tops, key=lambda column: tops[column])
    frame = int(np.argmax(fast[worst][1]))
    name = body.joints[worst].name or body.links[body.joint_links[worst]].name
    reason = f"{len(tops)} of {len(moving)} moving joints are too fast in many frames, {name!r} by up to {tops[worst]:.3g} times its limit"
    factor = 10.0 ** max(math.ceil(math.log10(tops[worst])), 1)
    return [
        too_fast(
            reason,
            joints.timeline,
            frame_location(motion, component_number(motion, joints), frame),
            factor,
        )
    ]


def check_key_poses(key_poses: "KeyPoses", body: Body) -> tuple[Problem, ...]:
    """Return the problems of key poses on a body.

    Where these have no errors, also those of the motion between them.
    """
    found: list[Problem] = []
    locations = key_poses.source.locations

    def report(rule: Rule, message: str, *subject: str | int) -> None:
        location = locations.locate(subject) or Location(
            str(key_poses.source.path) if key_poses.source.path else None
        )
        found.append(rule.problem(message, location, subject=subject))

    if key_poses.target_body and body.name and key_poses.target_body != body.name:
        report(
            rules.OTHER_BODY,
            f"the key poses are for {key_poses.target_body!r}, the body is "
            f"{body.name!r}",
        )
    names = {link.name for link in body.links}
    for number, pose in enumerate(key_poses.poses):
        unknown = [joint for joint in pose.joints if joint >= body.num_joints]
        if unknown:
            ids = listed(map(str, unknown))
            message = f"the pose at {pose.time:g} s has the joints {ids}; the body has ids up to {body.num_joints - 1}"
            report(rules.NO_SUCH_JOINT, message, "poses", number, "joints")
        for joint, value in pose.joints.items():
            if joint >= body.num_joints:
                continue
            limits = body.joints[joint]
            if (
                not limits.lower - LIMIT_TOLERANCE
                <= value
                <= limits.upper + LIMIT_TOLERANCE
            ):
                between = f"{limits.lower:.6g} to {limits.upper:.6g}"
                message = f"joint {limits.name!r} is at {value:.6g} at {pose.time:g} s; its range is {between}"
                report(
                    rules.KEY_BEYOND_LIMIT, message, "poses", number, "joints", joint
                )
        for place, key in enumerate(pose.links):
            if key.name not in names and not 0 <= key.index < len(body.links):
                message = f"the body has no link {key.name!r}, nor one with the index {key.index}: the key is not used"
                report(rules.NO_SUCH_LINK, message, "poses", number, "links", place)
    if not key_poses.poses or any(
        problem.severity == "error" for problem in (*found, *key_poses.problems)
    ):
        return tuple(found)
    num_frames = RATE * key_poses.duration
    if num_frames > MAX_FRAMES:
        message = (
            f"the last pose is at {key_poses.duration:g} s: at {RATE:g} Hz the motion "
            "has"
            f" {num_frames:.0f} frames; expected at most {MAX_FRAMES}; the motion "
            "between"
            " the poses is not checked"
        )
        last = len(key_poses.poses) - 1
        report(TOO_LARGE, message, "poses", last)
        return tuple(found)
    for link, time, distance, angle in _missed(key_poses, body):
        message = (
            f"link {body.links[link].name!r} cannot reach the pose of its keys: it is "
            f"{1000 * distance:.4g} mm and {angle:.4g} rad away "
            f"at {time:.4g} s"
        )
        numbers = [
            n for n, pose in enumerate(key_poses.poses) if pose.time <= time
        ] or [0]
        report(rules.OUT_OF_REACH, message, "poses", numbers[-1])
    return (*found, *check_motion_on_body(key_poses.to_motion(body, RATE), body))


def _missed(key_poses: "KeyPoses", body: Body) -> list[tuple[int, float, float, float]]:
    """Return each link that misses its keys.

    Its index, when it does so most [s], and by how much [m, rad].
    """
    from bodymotion.keyposes.interpolation import Plan

    made = Plan(key_poses, body, "none", with_zmp=False).at(
        np.arange(int(RATE * key_poses.duration) + 1) / RATE
    )
    errors = np.nan_to_num(made.errors)
    worst = errors.max(axis=2)
    return [
        (
            link,
            float(made.times[frame]),
            float(errors[frame, n, 0]),
            float(errors[frame, n, 1]),
        )
        for n, link in enumerate(made.links)
        if worst[frame := int(worst[:, n].argmax()), n] > MAX_MISS
    ]
