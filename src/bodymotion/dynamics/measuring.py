"""From a body and a motion to what is measured: joint values, the root, and their derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypedDict

import numpy as np
import numpy.typing as npt

from bodymotion.arrays import Floats, frozen
from bodymotion.body import Body
from bodymotion.diagnostics import Problem
from bodymotion.dynamics.contacts import Thresholds
from bodymotion.dynamics.derivatives import Derivative, derivatives, pose_derivatives
from bodymotion.dynamics.measures import Measures
from bodymotion.dynamics.rows import GRAVITY, gravity_vector
from bodymotion.dynamics.standing import root_on_feet
from bodymotion.editing import recover_joints
from bodymotion.interpolation import unwrapped

if TYPE_CHECKING:
    from bodymotion.motion import Motion

__all__ = ["measure"]

SMOOTHED, SMOOTHED_ON_FEET = 0.05, 0.15
"""[s] Derivatives that suit a motion are those of polynomials over so much time; the second, of a root that follows the feet."""
FEWEST = 9
"""Where that are fewer frames, splines are taken."""


def measure(
    body: Body,
    motion: Motion,
    *,
    derivative: Derivative | Literal["suited"] = "suited",
    window: int = 9,
    order: int = 3,
    gravity: float | npt.ArrayLike = GRAVITY,
    ground: float | npt.ArrayLike | None = None,
    feet: Sequence[int | str] | None = None,
    thresholds: Thresholds | None = None,
    close_loops: bool = False,
    on_feet: bool = False,
) -> Measures:
    """Measure a motion on a body. Little is worked out at once; the rest when it is asked for.

    The motion is what joints and the root's pose say, also where the motion has the poses of all links beside them; from poses of all links
    alone, joints are recovered. Components on several timelines are put on one, cubically. Without a root pose the root stands at the
    body's own.

    Parameters
    ----------
    derivative, window, order:
        How velocities and accelerations come from values: "spline", "central" or "savgol", see `derivatives`; or "suited": splines, but
        from 180 frames a second on, where files give too few digits for them, "savgol" over 0.05 s (`window` means nothing then).
        Rotating joints that jump by full turns are taken to go on.
    gravity:
        [m/s²] downwards along z, or the acceleration (3,) of what falls.
    ground:
        Height [m] of level ground, one number or (T,) one each frame; when not given, that of the lowest foot in the middle one of all
        frames.
    feet:
        Indices or names of the links that may stand; when not given, those that `find_feet` finds.
    thresholds:
        When feet are taken to stand.
    close_loops:
        Whether joints in closed loops that follow from others are worked out anew.
    on_feet:
        Whether to work out the root's pose anew, so that feet stay where they stand (`root_on_feet`): for walks that have joints alone.
        The root's velocity then has a small step where another foot takes over; "suited" derivatives of it are those over 0.15 s.

    Raises
    ------
    ValueError
        When the motion does not fit the body (`Body.joint_values`, `Body.link_poses`), has no frames, or has times that do not increase.
    """
    times, q, root, problems = _configurations(body, motion)
    if not len(times):
        raise ValueError("the motion has no frames, so there is nothing to measure")
    if close_loops and body.extra_joints:
        from bodymotion import closed_loops

        q = closed_loops.close_loops(body, q).q
    if on_feet:
        root = root_on_feet(body, q, feet)
    pace, root_pace = _paces(derivative, window, order, times, on_feet)
    turning = [column for column, joint in enumerate(body.joints) if joint.type == "rotate"]
    whole = np.array(q)
    whole[:, turning] = unwrapped(whole[:, turning])
    dq, ddq = derivatives(whole, times, **pace)
    velocity, acceleration = pose_derivatives(root, times, **root_pace)
    return Measures(
        body=body,
        motion=motion,
        times=frozen(times),
        joint_displacements=frozen(q),
        root_poses=frozen(root),
        joint_velocities=frozen(dq),
        joint_accelerations=frozen(ddq),
        root_velocity=frozen(velocity),
        root_acceleration=frozen(acceleration),
        gravity=frozen(gravity_vector(gravity)),
        problems=problems,
        given_ground=None
        if ground is None
        else frozen(np.broadcast_to(np.asarray(ground, dtype=np.float64), (len(times),))),
        given_feet=None if feet is None else tuple(feet),
        thresholds=thresholds or Thresholds(),
    )


class _Pace(TypedDict):
    method: Derivative
    window: int
    order: int


def _paces(
    derivative: Derivative | Literal["suited"], window: int, order: int, times: Floats, on_feet: bool
) -> tuple[_Pace, _Pace]:
    """Say how joints and the root are differentiated."""
    if derivative != "suited":
        pace: _Pace = {"method": derivative, "window": window, "order": order}
        return pace, pace
    gap = float(np.median(np.diff(times))) if len(times) > 1 else np.inf
    return _suited(gap, SMOOTHED), _suited(gap, SMOOTHED_ON_FEET if on_feet else SMOOTHED)


def _suited(gap: float, seconds: float) -> _Pace:
    frames = 2 * int(0.5 * seconds / gap) + 1 if gap > 0 else 0
    return {"method": "savgol" if frames >= FEWEST else "spline", "window": max(frames, FEWEST), "order": 3}


def _configurations(body: Body, motion: Motion) -> tuple[Floats, Floats, Floats, tuple[Problem, ...]]:
    """Give times (T,), joint values (T, J), root poses (T, 7), and what was odd."""
    problems: tuple[Problem, ...] = ()
    link_position = motion.link_position
    if link_position is not None and link_position.num_parts > len(body.links):
        body.link_poses(motion)
    if motion.joint_displacement is None and link_position is not None and link_position.num_parts == len(body.links):
        before = len(motion.problems)
        motion, _ = recover_joints(motion, body)
        problems = motion.problems[before:]
    joints, link_position = motion.joint_displacement, motion.link_position
    if joints is None:
        body.link_poses(motion)
        raise ValueError("the motion has no joint displacements")
    if link_position is not None and not link_position.num_parts:
        link_position = None
    used = [c for c in (joints, link_position) if c is not None]
    if any(c.timeline != joints.timeline for c in used):
        together = motion.replaced(*used).on_common_timeline(method="cubic")
        joints, link_position = together.joint_displacement or joints, together.link_position
    root = (
        np.broadcast_to(body.root_pose, (joints.num_frames, 7)) if link_position is None else link_position.values[:, 0]
    )
    return joints.timeline.times, body.joint_values(joints), root, problems
