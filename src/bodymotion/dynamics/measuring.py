"""From a body and a motion to what is measured: joint values, the root, and their derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypedDict

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import Location, Problem, WrongUseError
from bodymotion.dynamics import rules
from bodymotion.dynamics.contacts import Thresholds
from bodymotion.dynamics.derivatives import DERIVATIVES, Derivative, derivatives, pose_derivatives
from bodymotion.dynamics.feet import foot_links
from bodymotion.dynamics.measures import Measures
from bodymotion.dynamics.rows import GRAVITY, gravity_vector
from bodymotion.dynamics.standing import feet_of_joints, placed_on_feet
from bodymotion.editing import recover_joints
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.model.body import Body
from bodymotion.motion.interpolation import unwrapped
from bodymotion.motion.interpolation.sampling import bridged

if TYPE_CHECKING:
    from bodymotion.motion import Motion

__all__ = ["measure"]

SMOOTHED, SMOOTHED_ON_FEET = 0.05, 0.15
"""[s] Derivatives that suit a motion are those of polynomials over so much time; the second, of a root that follows the feet."""
NAMED = 5
"""So many joints are named in a message at most."""
FEWEST = 9
"""Where that are fewer frames, splines are taken."""
FEWEST_PLAYED = 5
"""The same of a played animation: its pieces meet in keyframes with different accelerations, about which splines swing."""


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
    on_feet: bool | None = None,
) -> Measures:
    """Measure a motion on a body. Little is worked out at once; the rest when it is asked for.

    The motion is what joints and the root's pose say, also where the motion has the poses of all links beside them; from poses of all links
    alone, joints are recovered. Components on several timelines are put on one, cubically. Numbers that are not finite are left out, with
    all that follows from them; `Measures.problems` says so, and what else is odd.

    Parameters
    ----------
    derivative, window, order:
        How velocities and accelerations come from values: "spline", "central" or "savgol", see `derivatives`; or "suited": splines, but
        from 180 frames a second on, where files give too few digits for them, "savgol" over 0.05 s (`window` means nothing then); of a
        played animation, whose accelerations jump at its keyframes, from 100 on.
        Rotating joints that jump by full turns are taken to go on.
    gravity:
        [m/s²] downwards along z, or the acceleration (3,) of what falls.
    ground:
        Height [m] of level ground, one number or (T,) one each frame; when not given, that of the lowest foot in the middle one of all
        frames; where the root follows the feet, in each frame.
    feet:
        Indices or names of the links that may stand; when not given, those that `find_feet` finds, or those that the root follows.
    thresholds:
        When feet are taken to stand.
    close_loops:
        Whether joints in closed loops that follow from others are worked out anew.
    on_feet:
        Whether to work out the root's pose anew, so that feet stay where they stand (`root_on_feet`): for walks that have joints alone.
        The root's velocity then has a small step where another foot takes over; "suited" derivatives of it are those over 0.15 s. None
        does so, and adds a note to `Measures.problems`, where the motion does not say where the root is, the root is free, and there are
        feet, none of which turns by a whole turn as wheels do. Otherwise a root without a pose stands at the body's own.

    Raises
    ------
    ValueError
        When the motion does not fit the body (`Body.joint_values`, `Body.link_poses`), has no frames, none with finite numbers, or times
        that do not increase; or with `on_feet`, when there are no feet. `WrongUseError` when an argument makes no sense.
    KeyError
        When no link has the name of a foot.
    TypeError
        For anything but a body and a motion.
    """
    _check_kinds(body, motion)
    if derivative not in ("suited", *DERIVATIVES):
        raise WrongUseError(f"derivatives are suited, {', '.join(DERIVATIVES)}, not {derivative!r}")
    feet = None if feet is None else foot_links(body, feet)
    times, q, root, problems = _configurations(body, motion)
    if not len(times):
        raise ValueError("the motion has no frames, so there is nothing to measure")
    where = Location(None if motion.source.path is None else str(motion.source.path))
    problems += _more_columns(body, motion, where)
    q, root, lacking = _finite(body, times, q, root, where)
    problems += lacking
    if close_loops and body.extra_joints:
        from bodymotion.model import closed_loops

        q = closed_loops.close_loops(body, q).q
    if on_feet is None and root is None and (found := _standing(body, q, feet)):
        on_feet, feet = True, found
        message = "the root follows the feet, as the motion does not say where it is"
        problems += (rules.ON_FEET.problem(message, where),)
    if on_feet:
        whole = bridged(q)[0]
        feet = feet_of_joints(body, whole) if feet is None else feet
        root, lowest = placed_on_feet(body, whole, feet)
        if ground is None and np.isfinite(lowest).all():
            # It goes down by a little with each step.
            ground = lowest
    if root is None:
        root = np.broadcast_to(body.root_pose, (len(times), 7))
    pace, root_pace = _paces(
        derivative, window, order, times, bool(on_feet), FEWEST_PLAYED if "spot" in motion.extra else FEWEST
    )
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
        given_ground=None if ground is None else _heights(ground, len(times)),
        given_feet=feet,
        thresholds=thresholds or Thresholds(),
    )


def _check_kinds(body: object, motion: object) -> None:
    from bodymotion.motion import Motion

    if isinstance(body, Body) and isinstance(motion, Motion):
        return
    kinds = [type(thing).__name__ for thing in (body, motion)]
    how = ""
    if "Animation" in kinds:
        how = "; of an animation, bodymotion.play gives the motion and spot_body the body"
    elif {"str", "Path", "PosixPath", "WindowsPath"} & set(kinds):
        how = "; bodymotion.load gives what a file holds"
    raise TypeError(f"measure takes a Body and then a Motion, not {' and '.join(kinds)}{how}")


def _heights(ground: float | npt.ArrayLike, frames: int) -> Floats:
    """Return the height of the ground (T,) in each frame."""
    heights = np.asarray(ground, dtype=np.float64)
    if heights.shape not in ((), (1,), (frames,)):
        raise WrongUseError(
            f"the ground has one height, or one for each of {frames} frames; these have shape {heights.shape}"
        )
    if not np.isfinite(heights).all():
        wrong = heights[~np.isfinite(heights)][0]
        raise WrongUseError(f"the ground's height is a finite number, not {wrong:g}")
    return frozen(np.broadcast_to(heights, (frames,)))


class _Pace(TypedDict):
    method: Derivative
    window: int
    order: int


def _paces(
    derivative: Derivative | Literal["suited"], window: int, order: int, times: Floats, on_feet: bool, fewest: int
) -> tuple[_Pace, _Pace]:
    """Say how joints and the root are differentiated."""
    if derivative != "suited":
        pace: _Pace = {"method": derivative, "window": window, "order": order}
        return pace, pace
    gap = float(np.median(np.diff(times))) if len(times) > 1 else np.inf
    return _suited(gap, SMOOTHED, fewest), _suited(gap, SMOOTHED_ON_FEET if on_feet else SMOOTHED, fewest)


def _suited(gap: float, seconds: float, fewest: int) -> _Pace:
    frames = 2 * int(0.5 * seconds / gap) + 1 if gap > 0 else 0
    return {"method": "savgol" if frames >= fewest else "spline", "window": max(frames, fewest), "order": 3}


def _standing(body: Body, q: Floats, feet: tuple[int, ...] | None) -> tuple[int, ...]:
    """Return the feet that may stay where they stand; none where the root is not free, or nothing stands but wheels."""
    if not body.links or body.is_mounted:
        return ()
    whole = bridged(q)[0]
    found = feet_of_joints(body, whole) if feet is None else feet
    return () if any(_rolls(body, whole, foot) for foot in found) else found


def _rolls(body: Body, q: Floats, index: int) -> bool:
    """Say whether a joint that carries a link turns by more than a whole turn."""
    _, kinds, columns, _, _ = body.tree
    while index > 0:
        if kinds[index] == 1 and np.ptp(unwrapped(q[:, [columns[index]]])) > 2 * np.pi:
            return True
        index = body.links[index].parent
    return False


def _more_columns(body: Body, motion: Motion, where: Location) -> tuple[Problem, ...]:
    joints = motion.joint_displacement
    if joints is None or joints.num_parts <= body.num_joints:
        return ()
    message = (
        f"the motion has {joints.num_parts} joint columns and the body {body.num_joints}; the columns from "
        f"{body.num_joints} on are left out"
    )
    return (rules.MORE_COLUMNS.problem(message, where),)


def _finite(
    body: Body, times: Floats, q: Floats, root: Floats | None, where: Location
) -> tuple[Floats, Floats | None, tuple[Problem, ...]]:
    """Return joints and root with NaN for what is not finite, and say so."""
    wrong = ~np.isfinite(q)
    lost = np.zeros(len(q), dtype=np.bool_)
    if root is not None:
        lost |= ~np.isfinite(root).all(axis=1)
    if not wrong.any() and not lost.any():
        return q, root, ()
    if (q.size and wrong.all()) or lost.all():
        raise ValueError(
            f"no frame has a finite {'root pose' if lost.all() else 'joint value'}, so there is nothing to measure"
        )
    frames = np.flatnonzero(wrong.any(axis=1) | lost)
    names = ["the root"] * bool(lost.any())
    names += [body.joints[k].name or f"joint {k}" for k in np.flatnonzero(wrong.any(axis=0))]
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    message = (
        f"{len(frames)} of {len(q)} frames have numbers that are not finite, from frame {frames[0]} ({times[frames[0]]:.3f} s) on: "
        f"{', '.join(names[:NAMED])}{more}; what follows from them is left out"
    )
    if root is not None and lost.any():
        root = np.where(lost[:, None], np.nan, root)
    return np.where(wrong, np.nan, q), root, (rules.NOT_FINITE.problem(message, where),)


def _configurations(body: Body, motion: Motion) -> tuple[Floats, Floats, Floats | None, tuple[Problem, ...]]:
    """Return times (T,), joint values (T, J), root poses (T, 7) or None without any, and what was odd."""
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
    root = None if link_position is None else link_position.values[:, 0]
    return joints.timeline.times, body.joint_values(joints), root, problems
