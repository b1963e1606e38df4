"""`measure`: from a body and a motion to joint values, root poses and their derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import Location, Problem, WrongUseError, judgement
from bodymotion.dynamics.contacts import Thresholds, feet_of_joints, foot_links, placed_on_feet
from bodymotion.dynamics.differentiation import DERIVATIVES, Derivative, derivatives, pose_derivatives, stretches
from bodymotion.dynamics.kinematics import GRAVITY, gravity_vector
from bodymotion.dynamics.measures import Measures
from bodymotion.geometry.arrays import Floats, frozen, median_step
from bodymotion.model.body import Body
from bodymotion.model.joint_names import by_position as put_by_position
from bodymotion.model.joint_names import fit_problems
from bodymotion.motion import Motion
from bodymotion.motion.interpolation import unwrapped
from bodymotion.motion.interpolation.sampling import bridged

ON_FEET = judgement.note(
    "MEAS101",
    "A motion has the pose of the root; otherwise it is computed from feet in contact.",
    "on_feet=False (`bodymotion measure --no-on-feet`) keeps the root at the model's own pose",
    example=("a walk with JointDisplacement alone", "one with the root's pose, too"),
)
NOT_FINITE = judgement.warning(
    "MEAS103",
    "The numbers of a motion that is measured are finite; results that depend on others are left out.",
    "`bodymotion check` reports where they are",
    example=("nan for a joint in one frame", "a number"),
)

SMOOTHING_TIME, SMOOTHING_TIME_ON_FEET = 0.05, 0.15
"""[s] Window of the polynomials of "suited" derivatives; the second one of a root that follows the feet."""
MAX_NAMED = 5  # Joints that are named in a message at most.
MIN_WINDOW = 9  # Splines are used where the window has fewer frames.
MIN_WINDOW_PLAYED = 5
"""The same for a played animation: its accelerations jump at keyframes, where splines would oscillate."""


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
    by_position: bool = False,
) -> Measures:
    """Measure a motion on a body. Most results are computed when they are first read.

    The motion is that of the joints and the root's pose, also where the motion has the poses of all links beside them; from poses of all
    links alone, joints are recovered. Components on several timelines get one (`Motion.synchronized`), cubically. Over a long gap between
    time stamps the robot rests. Numbers that are not finite are left out, with all results that depend on them. `Measures.problems`
    reports this, and other irregularities.

    Parameters
    ----------
    derivative, window, order:
        Method for velocities and accelerations: "spline", "central" or "savgol", see `derivatives`; or "suited": splines, but from 180
        frames per second on, where files have too few digits for them, "savgol" over 0.05 s (`window` is ignored then); for a played
        animation, whose accelerations jump at its keyframes, from 100 on. Jumps of rotating joints by full turns are removed.
    gravity:
        [m/s²] downwards along z, or the acceleration (3,) of free fall.
    ground:
        Height [m] of level ground, one number or one per frame (T,); by default the median height of the lowest foot, or its height in each
        frame where the root follows the feet.
    feet:
        Indices or names of the links that may be in contact; by default those that `find_feet` finds, or those that the root follows.
    thresholds:
        Thresholds of contact.
    close_loops:
        Whether dependent joints in closed loops are computed from the others.
    on_feet:
        Whether to compute the root's pose so that feet in contact do not slip (`root_on_feet`): for walks that have joints alone.
        The root's
        velocity then has a small step where the supporting foot changes; "suited" derivatives of it are those over 0.15 s. None does so,
        and adds a note to `Measures.problems`, where the motion has no root pose, the root is free, and there are feet, none of which
        rotates by a full turn as wheels do. Otherwise a root without a pose has the body's own.
    by_position:
        Read joint columns by position, whatever their names.

    Raises
    ------
    ValueError
        When the motion does not fit the body (`Body.joint_values`, `Body.link_poses`), has no frames, none with finite numbers, or times
        that do not increase; or with `on_feet`, when there are no feet. `WrongUseError` for an invalid argument.
    KeyError
        When no link has the name of a foot.
    TypeError
        For anything but a body and a motion.
    """
    _check_kinds(body, motion)
    motion = put_by_position(motion, body) if by_position else motion
    if derivative not in ("suited", *DERIVATIVES):
        raise WrongUseError(f"derivative: expected one of suited, {', '.join(DERIVATIVES)}, got {derivative!r}")
    placed = configurations(body, motion, feet=feet, close_loops=close_loops, on_feet=on_feet)
    times, q, root = placed.times, placed.joint_displacements, placed.root_poses
    if ground is None:
        ground = placed.ground
    gap = median_step(times) if len(times) > 1 else np.inf
    fewest = MIN_WINDOW_PLAYED if "spot" in motion.extra else MIN_WINDOW

    def rates(
        method: Callable[..., tuple[Floats, Floats]], values: Floats, smoothing: float = SMOOTHING_TIME
    ) -> tuple[Floats, Floats]:
        if derivative != "suited":
            options: dict[str, Any] = {"method": derivative, "window": window, "order": order}
        else:
            frames = 2 * int(0.5 * smoothing / gap) + 1 if gap > 0 else 0
            options = {"method": "savgol" if frames >= fewest else "spline", "window": max(frames, fewest), "order": 3}
        return _in_stretches(partial(method, **options), values, times)

    turning = [column for column, joint in enumerate(body.joints) if joint.type == "rotate"]
    whole = np.array(q)
    whole[:, turning] = unwrapped(whole[:, turning])
    dq, ddq = rates(derivatives, whole)
    on_feet_time = SMOOTHING_TIME_ON_FEET if placed.on_feet else SMOOTHING_TIME
    velocity, acceleration = rates(pose_derivatives, root, on_feet_time)
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
        problems=placed.problems,
        given_ground=None if ground is None else _heights(ground, len(times)),
        given_feet=placed.feet,
        thresholds=thresholds or Thresholds(),
    )


@dataclass(frozen=True, eq=False)
class Configurations:
    """A motion on a body: times (T,), joint values (T, J) and root poses (T, 7), with NaN where they are not finite.

    `feet` are those that are given or that the root follows; `ground` (T,) is the height of the lowest one if the root follows them.
    """

    times: Floats
    joint_displacements: Floats
    root_poses: Floats
    problems: tuple[Problem, ...]
    feet: tuple[int, ...] | None
    on_feet: bool
    ground: Floats | None


def configurations(
    body: Body,
    motion: Motion,
    *,
    feet: Sequence[int | str] | None = None,
    close_loops: bool = False,
    on_feet: bool | None = None,
) -> Configurations:
    """Return the joint values and root poses of a motion on a body; options and errors are those of `measure`."""
    links = None if feet is None else foot_links(body, feet)
    times, q, root, problems = _configurations(body, motion)
    if not len(times):
        raise ValueError("the motion has no frames to measure")
    where = Location(None if motion.source.path is None else str(motion.source.path))
    problems += fit_problems(motion, body)
    q, root, lacking = _finite(body, times, q, root, where)
    problems += lacking
    if close_loops and body.extra_joints:
        from bodymotion.model import closed_loops

        q = closed_loops.close_loops(body, q).q
    if on_feet is None and root is None and (found := _followed_feet(body, q, links)):
        on_feet, links = True, found
        message = "the motion has no root pose: the root follows the feet"
        problems += (ON_FEET.problem(message, where),)
    ground = None
    if on_feet:
        whole = bridged(q)[0]
        links = feet_of_joints(body, whole) if links is None else links
        root, lowest = placed_on_feet(body, whole, links)
        if np.isfinite(lowest).all():
            # The height decreases slightly with each step.
            ground = lowest
    if root is None:
        root = np.broadcast_to(body.root_pose, (len(times), 7))
    return Configurations(times, q, root, problems, links, bool(on_feet), ground)


def _in_stretches(method: Callable[..., tuple[Floats, Floats]], values: Floats, times: Floats) -> tuple[Floats, Floats]:
    """Return derivatives of values (T, …); each stretch has its own."""
    parts = [method(values[a:b], times[a:b]) for a, b in pairwise(stretches(times))]
    return np.concatenate([first for first, _ in parts]), np.concatenate([second for _, second in parts])


def _check_kinds(body: object, motion: object) -> None:
    if isinstance(body, Body) and isinstance(motion, Motion):
        return
    kinds = [type(thing).__name__ for thing in (body, motion)]
    how = ""
    if "Animation" in kinds:
        how = "; bodymotion.play returns the motion of an animation, bodymotion.spot.body() its body"
    elif {"str", "Path", "PosixPath", "WindowsPath"} & set(kinds):
        how = "; read files with bodymotion.load first"
    raise TypeError(f"measure: expected a Body and then a Motion, got {' and '.join(kinds)}{how}")


def _heights(ground: float | npt.ArrayLike, frames: int) -> Floats:
    """Return the height of the ground (T,) in each frame."""
    heights = np.asarray(ground, dtype=np.float64)
    if heights.shape not in ((), (1,), (frames,)):
        raise WrongUseError(
            f"ground: expected one height, or one for each of {frames} frames, got shape {heights.shape}"
        )
    if not np.isfinite(heights).all():
        wrong = heights[~np.isfinite(heights)][0]
        raise WrongUseError(f"ground: expected finite heights, got {wrong:g}")
    return frozen(np.broadcast_to(heights, (frames,)))


def _followed_feet(body: Body, q: Floats, feet: tuple[int, ...] | None) -> tuple[int, ...]:
    """Return the feet that the root may follow; none where the root is not free, or a foot is a wheel."""
    if not body.links or body.is_mounted:
        return ()
    whole = bridged(q)[0]
    found = feet_of_joints(body, whole) if feet is None else feet
    turning = {column for column in body.columns_above(*found) if body.joints[column].type == "rotate"}
    return () if any(np.ptp(unwrapped(whole[:, [column]])) > 2 * np.pi for column in turning) else found


def _finite(
    body: Body, times: Floats, q: Floats, root: Floats | None, where: Location
) -> tuple[Floats, Floats | None, tuple[Problem, ...]]:
    """Return joints and root with NaN for what is not finite, and the problem that reports it."""
    wrong = ~np.isfinite(q)
    lost = np.zeros(len(q), dtype=np.bool_)
    if root is not None:
        lost |= ~np.isfinite(root).all(axis=1)
    if not wrong.any() and not lost.any():
        return q, root, ()
    if (q.size and wrong.all()) or lost.all():
        raise ValueError(
            f"no frame has a finite {'root pose' if lost.all() else 'joint value'}, so it cannot be measured"
        )
    frames = np.flatnonzero(wrong.any(axis=1) | lost)
    names = ["the root"] * bool(lost.any())
    names += [body.joints[k].name or f"joint {k}" for k in np.flatnonzero(wrong.any(axis=0))]
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    message = (
        f"{len(frames)} of {len(q)} frames have numbers that are not finite, from frame {frames[0]} ({times[frames[0]]:.3f} s) on: "
        f"{', '.join(names[:MAX_NAMED])}{more}; results that depend on them are left out"
    )
    if root is not None and lost.any():
        root = np.where(lost[:, None], np.nan, root)
    return np.where(wrong, np.nan, q), root, (NOT_FINITE.problem(message, where),)


def _configurations(body: Body, motion: Motion) -> tuple[Floats, Floats, Floats | None, tuple[Problem, ...]]:
    """Return times (T,), joint values (T, J), root poses (T, 7) or None without any, and problems."""
    problems: tuple[Problem, ...] = ()
    link_position = motion.link_position
    if link_position is not None and link_position.num_parts > len(body.links):
        body.link_poses(motion)
    if motion.joint_displacement is None and link_position is not None and link_position.num_parts == len(body.links):
        from bodymotion.editing import recover_joints

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
        together = motion.replaced(*used).synchronized("cubic")
        joints, link_position = together.joint_displacement or joints, together.link_position
    root = None if link_position is None else link_position.values[:, 0]
    return joints.timeline.times, body.joint_values(joints), root, problems
