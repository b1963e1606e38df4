"""Rules about limits of joints, in position and in speed, and about frame rates."""

import math
from dataclasses import dataclass

import numpy as np

from bodymotion.checks import rules
from bodymotion.checks.findings import (
    Finding,
    Sampling,
    all_frames,
    component_number,
    driven_columns,
    joint_name,
    too_fast,
)
from bodymotion.checks.physics.checking import find_calm_steps
from bodymotion.checks.units import LIMIT_TOLERANCE
from bodymotion.diagnostics import Rule
from bodymotion.diagnostics.text import counted
from bodymotion.geometry.arrays import Bools, Floats
from bodymotion.model.body import Body
from bodymotion.model.links import velocity_range
from bodymotion.motion import Motion, MultiValueSeq

# The speed, as a multiple of the limit, that is ignored. Speeds are differences between
# two frames.
SPEED_TOLERANCE = 1.001
SPEED_TYPES = ("rotate", "slide", "crawler")
# With a wrong frame rate the fastest joint has at least this multiple of its limit.
MIN_SPEED_FACTOR = 3.0
MIN_FAST_SHARE = 0.02
# A joint is too fast throughout where it is so in more than this share of the steps.
# And in more than this number.
MIN_FAST_STEPS = 4
# With a wrong frame rate at least this number of joints, and a third, are too fast.
MIN_FAST_JOINTS = 3
# [rad or m] Joints that move less are left out.
MIN_MOVE = 0.02


def _joints_of(motion: Motion) -> MultiValueSeq:
    """Return the joint displacements, which a motion with joint values has."""
    joints = motion.joint_displacement
    assert joints is not None
    return joints


@dataclass(frozen=True)
class _JointLimit:
    """A limit of one joint.

    Attributes
    ----------
    rule:
        The rule about it.
    name:
        The name of the joint.
    comparison:
        How a value beyond the limit compares with it.
    text:
        What follows the name, with {frame}, {next}, {value} and {limit}.
    values:
        (T or T − 1,) What is compared with the limits.
    lower, upper:
        The limits.
    """

    rule: Rule
    name: str
    comparison: str
    text: str
    values: Floats
    lower: float
    upper: float

    def check(self, frames: Sampling, number: int, amount: Floats) -> list[Finding]:
        """Report where `amount` (T or T − 1,) is above 1, in a component."""
        is_beyond = amount > 1.0
        count = int(np.count_nonzero(is_beyond))
        if not count:
            return []
        first = int(np.argmax(is_beyond))
        worst = int(np.nanargmax(amount))
        message = (
            f"{self._describe(worst)}: {self.comparison} in {counted(count, 'frame')}, "
            f"first in frame {first}"
        )
        subject = ("components", number, "frames", worst)
        problem = self.rule.problem(message, frames.locate(worst), subject=subject)
        moments = frames.moments(
            self.rule, amount, lambda run: self._describe(run.worst), self.name
        )
        return [Finding(problem, tuple(moments))]

    def _describe(self, frame: int) -> str:
        value = float(self.values[frame])
        limit = self.lower if value < self.lower else self.upper
        text = self.text.format(frame=frame, next=frame + 1, value=value, limit=limit)
        return f"{self.name!r} {text}"


def check_positions(motion: Motion, q: Floats, body: Body) -> list[Finding]:
    """Report the joints that are beyond their limits, for joint values (T, J)."""
    joints = _joints_of(motion)
    frames = all_frames(motion, joints)
    number = component_number(motion, joints)
    findings: list[Finding] = []
    for column in driven_columns(body, "rotate", "slide"):
        joint = body.joints[column]
        # Reversed limits are a fault of the body, and reported there.
        if joint.lower > joint.upper:
            continue
        unit = "rad" if joint.type == "rotate" else "m"
        values = q[:, column]
        limit = _JointLimit(
            rules.POSITION_LIMIT,
            joint_name(body, column),
            "beyond it",
            f"is at {{value:.6g}} {unit} in frame {{frame}}, its limit is "
            f"{{limit:.6g}} {unit}",
            values,
            joint.lower,
            joint.upper,
        )
        distance = np.maximum(joint.lower - values, values - joint.upper)
        findings += limit.check(frames, number, distance / LIMIT_TOLERANCE)
    return findings


@dataclass(frozen=True)
class _JointSpeeds:
    """The speeds (T − 1,) of a joint, and these as multiples of its limit."""

    speeds: Floats
    shares: Floats


def _find_fast_joints(
    joints: MultiValueSeq, q: Floats, body: Body, calm: Bools | None = None
) -> dict[int, _JointSpeeds]:
    """Return the speeds of joints that are too fast somewhere.

    By column.

    Only `calm` steps (T − 1,) count; in the others a rule about sudden changes explains
    the speed.
    """
    columns = driven_columns(body, *SPEED_TYPES)
    limits = [velocity_range(body.joints[column]) for column in columns]
    lower, upper = np.array(limits).reshape(-1, 2).T
    # (T − 1, C) [rad/s or m/s] The mean speed of each step.
    speeds = np.diff(q[:, columns], axis=0) / np.diff(joints.timeline.times)[:, None]
    counts = np.isfinite(speeds)
    if calm is not None:
        counts &= calm[:, None]
    speeds = np.where(counts, speeds, 0.0)
    # `lower` is negative: of both quotients the one in the direction of the motion is
    # positive.
    shares = np.maximum(speeds / lower, speeds / upper)
    fast = np.flatnonzero((shares > SPEED_TOLERANCE).any(axis=0)).tolist()
    return {columns[k]: _JointSpeeds(speeds[:, k], shares[:, k]) for k in fast}


def check_speeds(
    motion: Motion, q: Floats, body: Body, sudden: list[Finding]
) -> list[Finding]:
    """Report the joints that are too fast where `sudden` reports no sudden changes."""
    joints = _joints_of(motion)
    calm = find_calm_steps(joints.timeline.times, sudden)
    frames = all_frames(motion, joints)
    number = component_number(motion, joints)
    findings: list[Finding] = []
    for column, fast in _find_fast_joints(joints, q, body, calm).items():
        joint = body.joints[column]
        unit = "m/s" if joint.type == "slide" else "rad/s"
        limit = _JointLimit(
            rules.SPEED_LIMIT,
            joint_name(body, column),
            "faster",
            f"moves at {{value:.6g}} {unit} from frame {{frame}} to {{next}}, its "
            f"limit is {{limit:.6g}} {unit}",
            fast.speeds,
            joint.velocity_lower,
            joint.velocity_upper,
        )
        findings += limit.check(frames, number, fast.shares / SPEED_TOLERANCE)
    return findings


def check_frame_rate(motion: Motion, q: Floats, body: Body) -> list[Finding]:
    """Report a frame rate that is far too high.

    A third of the joints are too fast in many frames, and one of them by far.

    `q` (T, J) are the joint values. Joints that are fast in a few frames only are
    reported one by one.
    """
    joints = _joints_of(motion)
    moving = _find_moving_columns(q, body)
    fast_joints = _find_fast_joints(joints, q, body)
    factors: dict[int, float] = {}
    for column in set(moving) & set(fast_joints):
        shares = fast_joints[column].shares
        min_steps = max(MIN_FAST_SHARE * len(shares), MIN_FAST_STEPS)
        if np.count_nonzero(shares > 1) > min_steps:
            # The MIN_FAST_STEPS-th largest speed: fewer steps may be wrong for another
            # reason.
            factors[column] = float(
                np.partition(shares, -MIN_FAST_STEPS)[-MIN_FAST_STEPS]
            )
    if len(factors) < min(MIN_FAST_JOINTS, len(moving)):
        return []
    if 3 * len(factors) < len(moving) or not factors:
        return []
    # Of several the one with the lowest column.
    worst = max(sorted(factors), key=lambda column: factors[column])
    factor = factors[worst]
    if factor < MIN_SPEED_FACTOR:
        return []
    reason = (
        f"{len(factors)} of {len(moving)} moving joints are too fast in many frames, "
        f"{joint_name(body, worst)!r} by up to {factor:.3g} times its limit"
    )
    frame = int(np.argmax(fast_joints[worst].shares))
    location = all_frames(motion, joints).locate(frame)
    # Rates are wrong by a power of ten, as 1000 for 100: the next one above the factor.
    power_of_ten = max(math.ceil(math.log10(factor)), 1)
    return [too_fast(reason, joints.timeline, location, 10.0**power_of_ten)]


def _find_moving_columns(q: Floats, body: Body) -> list[int]:
    """Return the columns that move and have speed limits.

    Of joint values (T, J).
    """
    if not len(q):
        return []
    extents = np.fmax.reduce(q) - np.fmin.reduce(q)
    columns = []
    for column, link in enumerate(body.joint_links):
        joint = body.joints[column]
        is_limited = (
            -math.inf < joint.velocity_lower < 0 < joint.velocity_upper < math.inf
        )
        if link >= 0 and is_limited and extents[column] > MIN_MOVE:
            columns.append(column)
    return columns
