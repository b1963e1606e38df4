"""Rules about numbers of a motion that look like other units.

Degrees, millimetres, and rates.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from bodymotion.checks import rules
from bodymotion.checks.findings import (
    component_number,
    driven_columns,
    frame_location,
    joint_name,
    part_name,
)
from bodymotion.checks.physics.ground import find_ground
from bodymotion.diagnostics import Problem
from bodymotion.diagnostics.text import counted
from bodymotion.geometry.arrays import Bools, Floats
from bodymotion.geometry.rotations import FULL_TURN, MIN_SHARE, angles_in_degrees
from bodymotion.model.body import Body
from bodymotion.motion import Motion, MultiSE3Seq, MultiValueSeq, Vector3Seq
from bodymotion.motion.components import Timeline
from bodymotion.motion.interpolation import sampled

# [m] Root heights above this may be millimetres.
MAX_HEIGHT = 20.0
# [m] If they are at most this when divided by 1000.
MAX_HEIGHT_IN_MM = 5.0
# [m] Ground this close to 0 after division by 1000 shows that they are millimetres.
MAX_FLOOR_HEIGHT = 0.1
# [m/s] The largest speed of a root that is above `MAX_HEIGHT`.
MAX_SPEED_HIGH = 30.0
# [m/s] The largest speed of any root.
MAX_SPEED = 100.0
# A root that moves in a smaller part of the steps has no speed.
MIN_MOVING_SHARE = 0.1
# [m] The largest distance of the zero moment point from the root, as stored.
MAX_ZMP_DISTANCE = 20.0
# [m] The same, divided by 1000.
MAX_ZMP_DISTANCE_IN_MM = 2.0
# The quantile of these distances: single frames may be wrong.
ZMP_QUANTILE = 0.9
# [Hz] Frame rates up to this look like times between frames [s].
MAX_TIME_STEP = 0.1
# [s] The smallest median time between stamped frames.
MIN_GAP = 1e-6
# [s] The longest time between two stamped frames.
MAX_GAP = 3600.0
# Larger values are not angles, neither in radians nor in degrees.
MAX_ANGLE = 720.0
# [rad/s] Joints with a larger median speed, beyond a full turn, look like degrees.
MAX_JOINT_SPEED = 12.0
# A joint that moves in a smaller part of the steps has no speed.
MIN_ROTATING_SHARE = 0.25
# [rad or m] The distance beyond a limit that is ignored: files have few digits.
LIMIT_TOLERANCE = 1e-6
# Factors for a pose whose position is in millimetres.
MM_TO_M = np.array([0.001, 0.001, 0.001, 1.0, 1.0, 1.0, 1.0])


def check_time_steps(motion: Motion) -> list[Problem]:
    """Return the problem of a wrong frame rate, or of time stamps that are not seconds.

    The rate looks like the time between two frames.
    """
    for number, component in enumerate(motion.components):
        if not isinstance(component, (MultiValueSeq, MultiSE3Seq, Vector3Seq)):
            continue
        if component.num_frames < 2:
            continue
        rate = component.timeline.frame_rate
        if rate is None:
            problems = _check_stamps(motion, number, component.timeline.times)
        elif 0 < rate <= MAX_TIME_STEP:
            problems = [_report_rate(motion, number, rate, component.num_frames)]
        else:
            problems = []
        if problems:
            return problems
    return []


def _check_stamps(motion: Motion, number: int, times: Floats) -> list[Problem]:
    """Report time stamps that are no seconds, by their gaps.

    All gaps are very short, or one is very long.
    """
    gaps = np.diff(times)
    median = float(np.median(gaps))
    is_too_short = median < MIN_GAP
    frame = int(gaps.argmin() if is_too_short else gaps.argmax())
    is_too_long = gaps[frame] > MAX_GAP
    if not (is_too_short or is_too_long) or not (gaps > 0).all():
        return []
    message = (
        f"frame {frame + 1} is {gaps[frame]:.6g} s after the one before it; the median "
        f"of these times is {median:.6g} s"
    )
    data = {
        "frame": frame + 1,
        "gap": float(gaps[frame]),
        "median": median,
        "every_step": is_too_short,
    }
    location = frame_location(motion, number, frame + 1)
    return [rules.TIME_STAMPS.problem(message, location, data=data)]


def _report_rate(motion: Motion, number: int, rate: float, num_frames: int) -> Problem:
    message = (
        f"the frame rate is {rate:g} Hz, so {num_frames} frames take "
        f"{num_frames / rate:.6g} s; it looks like the time between two frames"
    )
    hint = f"write frameRate: {1 / rate:.6g}"
    return rules.FRAME_RATE.problem(message, frame_location(motion, number, 0), hint)


@dataclass(frozen=True)
class _Root:
    """The root poses (T, 7) of a motion, at times (T,) [s].

    `is_known` (T,) are the frames whose position is finite. On a body, `q` (T, J) are
    the joint values where these are known, in the same frames.
    """

    poses: Floats
    times: Floats
    is_known: Bools
    body: Body | None
    q: Floats | None

    def is_in_millimetres(self) -> bool:
        """Return whether the positions look like millimetres."""
        # Heights alone do not decide: speeds, and on a body the ground under its feet,
        # do.
        height = float(np.median(np.abs(self.poses[self.is_known, 2])))
        if height / 1000 > MAX_HEIGHT_IN_MM:
            return False
        speed = self._median_speed()
        moves_by = np.ptp(self.poses[self.is_known, :3], axis=0).max()
        if speed > MAX_SPEED and moves_by > MAX_HEIGHT:
            return True
        if height <= MAX_HEIGHT:
            return False
        if self.body is None:
            return speed > MAX_SPEED_HIGH
        if self.q is None or not self.body.links or self.body.is_mounted:
            return False
        # A moving root over feet on level ground is in metres.
        if moves_by > MAX_FLOOR_HEIGHT and self._ground_height(1.0) is not None:
            return False
        ground_height = self._ground_height(MM_TO_M)
        return ground_height is not None and abs(ground_height) < MAX_FLOOR_HEIGHT

    def _median_speed(self) -> float:
        """Return the median speed [m/s] of the steps in which the root moves.

        0 where it hardly ever does.
        """
        steps = np.linalg.norm(np.diff(self.poses[:, :3], axis=0), axis=1)
        speeds = steps / np.diff(self.times)
        moving = speeds[np.isfinite(speeds) & (speeds > 0)]
        if moving.size <= len(speeds) * MIN_MOVING_SHARE:
            return 0.0
        return float(np.median(moving))

    def _ground_height(self, factors: float | Floats) -> float | None:
        """Return the height [m] of level ground, with scaled root poses."""
        assert self.body is not None and self.q is not None
        ground = find_ground(self.body, self.q, self.poses * factors, self.times)
        if ground is None or not ground.level:
            return None
        return ground.height


def check_metres(
    motion: Motion, body: Body | None = None, q: Floats | None = None
) -> tuple[list[Problem], frozenset[str]]:
    """Return the problems of positions that look like millimetres.

    And the contents of these components. `q` (T, J) are joint values.
    """
    links = motion.link_position
    if links is None or not links.num_parts or not _is_increasing(links.timeline):
        return [], frozenset()
    times = links.timeline.times
    poses = links.values[:, 0]
    is_known = np.asarray(np.isfinite(poses[:, :3]).all(axis=1))
    if np.count_nonzero(is_known) < 2:
        return [], frozenset()
    if q is not None and len(q) != len(poses):
        q = None
    root_in_mm = _Root(poses, times, is_known, body, q).is_in_millimetres()
    if root_in_mm:
        poses = poses * MM_TO_M
    distance = _find_distance_in_mm(motion.zmp, poses, times)

    contents = []
    problems = []
    if motion.zmp is not None and distance is not None:
        contents.append(motion.zmp.content)
        message = (
            f"the zero moment point is {distance:.4g} m from the root (90th "
            "percentile): it looks like millimetres"
        )
        problems = [_report_metres(motion, motion.zmp, message)]
    if root_in_mm:
        contents.append(links.content)
        first = links.values[int(np.argmax(is_known)), 0, :3]
        shown = " ".join(f"{value:.4g}" for value in first)
        message = f"the root starts at {shown}: these look like millimetres"
        # One problem for both.
        problems = [_report_metres(motion, links, message)]
    return problems, frozenset(contents)


def _is_increasing(timeline: Timeline) -> bool:
    return bool(timeline.num_frames and (np.diff(timeline.times) > 0).all())


def _report_metres(
    motion: Motion, component: MultiSE3Seq | Vector3Seq, message: str
) -> Problem:
    number = component_number(motion, component)
    return rules.METRES.problem(message, frame_location(motion, number, 0))


def _find_distance_in_mm(
    zmp: Vector3Seq | None, root: Floats, times: Floats
) -> float | None:
    """Return the distance of a zero moment point in millimetres from the root.

    None where it is in metres.
    """
    if zmp is None or not _is_increasing(zmp.timeline):
        return None
    distance = _distance_from_root(zmp, root, times)
    if distance > MAX_ZMP_DISTANCE:
        smaller = replace(zmp, values=zmp.values / 1000)
        if _distance_from_root(smaller, root, times) < MAX_ZMP_DISTANCE_IN_MM:
            return distance
    return None


def _distance_from_root(zmp: Vector3Seq, root: Floats, times: Floats) -> float:
    """Return the 90th percentile of the distances [m] from the root.

    NaN where all are unknown.
    """
    offsets = zmp.values
    if not zmp.is_root_relative:
        zmp_times = zmp.timeline.times
        if not np.array_equal(zmp_times, times):
            root = sampled(root[:, None], times, zmp_times)[:, 0]
        offsets = offsets - root[:, :3]
    lengths = np.linalg.norm(offsets, axis=1)
    lengths = lengths[np.isfinite(lengths)]
    if lengths.size:
        return float(np.quantile(lengths, ZMP_QUANTILE))
    return math.nan


def check_degrees(motion: Motion) -> list[Problem]:
    """Return the problem of joint values that look like degrees.

    Beyond a full turn from the start, or too fast for any motor.
    """
    joints = motion.joint_displacement
    if joints is None or joints.num_frames < 2 or not joints.num_parts:
        return []
    finite = np.flatnonzero(np.isfinite(joints.values).all(axis=1))
    values = joints.values[finite]
    gaps = np.diff(joints.timeline.times[finite])
    if not len(gaps) or not (gaps > 0).all():
        return []
    if not FULL_TURN < np.abs(values).max() <= MAX_ANGLE:
        return []
    # Columns of zeros say nothing about the unit.
    used = np.flatnonzero(values.any(axis=0))
    in_degrees = [
        column for column in used.tolist() if _is_in_degrees(values[:, column], gaps)
    ]
    # A wheel may turn far: one joint, or a minority of them, is no evidence.
    if len(in_degrees) < 2 or 2 * len(in_degrees) < len(used):
        return []
    sizes = np.abs(values[:, in_degrees])
    row, k = np.unravel_index(np.argmax(sizes), sizes.shape)
    column = in_degrees[k]
    frame = int(finite[row])
    message = (
        f"{len(in_degrees)} of {len(used)} joints are beyond a full turn, such as "
        f"{part_name(joints, column)} at "
        f"{values[row, column]:.6g} in frame {frame}: these look like degrees"
    )
    hint = "multiply them by π/180; a file in degrees is read with `--input-degrees`"
    location = frame_location(motion, component_number(motion, joints), frame)
    return [rules.IN_DEGREES.problem(message, location, hint)]


def _is_in_degrees(values: Floats, gaps: Floats) -> bool:
    """Return whether the values (T,) of a joint look like degrees."""
    sizes = np.abs(values)
    if np.mean(sizes > FULL_TURN) < MIN_SHARE:
        return False
    if sizes[0] > FULL_TURN:
        return True
    speeds = np.abs(np.diff(values)) / gaps
    moving = speeds[speeds > 0]
    if moving.size <= len(speeds) * MIN_ROTATING_SHARE:
        return False
    return float(np.median(moving)) > MAX_JOINT_SPEED


def check_degrees_on_body(motion: Motion, q: Floats, body: Body) -> list[Problem]:
    """Return the problem of joint values (T, J) that look like degrees.

    By the limits of the joints.
    """
    limited = [
        column
        for column in driven_columns(body, "rotate")
        if -math.inf < body.joints[column].lower <= body.joints[column].upper < math.inf
    ]
    lower = np.array([body.joints[column].lower for column in limited])
    upper = np.array([body.joints[column].upper for column in limited])
    angles = angles_in_degrees(
        q[:, limited], lower - LIMIT_TOLERANCE, upper + LIMIT_TOLERANCE
    )
    # A single joint may really make many turns.
    if angles is None or len(angles.columns) < min(2, len(limited)):
        return []
    column = limited[angles.column]
    frame = angles.frame
    verb = "is" if angles.beyond == 1 else "are"
    message = (
        f"{counted(angles.beyond, 'joint')} {verb} beyond the limits, such as "
        f"{joint_name(body, column)!r} at {q[frame, column]:.6g} in frame {frame}: "
        "these look like degrees"
    )
    num_within = len(angles.columns)
    if num_within != angles.beyond:
        message += f"; in degrees {num_within} of them would be within their limits"
    assert motion.joint_displacement is not None
    number = component_number(motion, motion.joint_displacement)
    location = frame_location(motion, number, frame)
    subject = ("components", number)
    return [rules.IN_DEGREES.problem(message, location, subject=subject)]
