"""Move a motion in the world, and convert its ZMP between world and root link."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from bodymotion.editing.rules import IDLE, NOT_EDITED
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.motion import (
    LINK_POSITION,
    ZMP,
    Component,
    Motion,
    MultiSE3Seq,
    OtherSeq,
    Vector3Seq,
)
from bodymotion.motion.interpolation import sampled

# Accepted difference of the length of a quaternion from 1.
QUATERNION_TOLERANCE = 1e-3


def move(motion: Motion, pose: npt.ArrayLike) -> Motion:
    """Return the motion moved as a whole.

    Each pose X of a link becomes `pose`·X, and so does a ZMP in the world frame.

    Components of other contents do not change. `problems` reports those that may have
    positions in the world, and a motion with nothing to move.

    Parameters
    ----------
    pose:
        (7,) x y z [m] and the quaternion w x y z: a rotation about the origin of the
        world, then a translation.

    Raises
    ------
    ValueError
        When a number is not finite, or the length of the quaternion is not 1 within
        0.001.
    """
    by = frozen(pose, (7,), "pose")
    if (
        not np.isfinite(by).all()
        or abs(float(np.linalg.norm(by[3:])) - 1) > QUATERNION_TOLERANCE
    ):
        raise ValueError(
            f"pose {by.tolist()}, expected finite x y z and a unit quaternion w x y z"
        )
    # Poses and ZMP are known to be in the world (or marked as in the root frame). Of
    # other contents the file does not state the frame.
    known = {MultiSE3Seq: LINK_POSITION, Vector3Seq: ZMP}
    problems = [
        NOT_EDITED.problem(
            f"{c.content} is not moved: it is unknown whether it is in the world frame"
        )
        for c in motion.components
        if isinstance(c, (MultiSE3Seq, Vector3Seq, OtherSeq))
        and c.content != known.get(type(c))
    ]
    components = tuple(moved(c, by) for c in motion.components)
    if not problems and all(
        new is old for new, old in zip(components, motion.components, strict=True)
    ):
        message = (
            "nothing to move: the motion has neither poses of links nor a ZMP in the "
            "world frame"
        )
        problems.append(IDLE.problem(message))
    return motion.replaced(*components, problems=problems)


def start_at(
    motion: Motion, x: float = 0.0, y: float = 0.0, yaw: float = 0.0
) -> Motion:
    """Return the motion moved so that the root starts at `x`, `y` with heading `yaw`.

    In its first frame; [m] and [rad].

    Height and tilt stay.

    Raises
    ------
    ValueError
        When the motion has no root pose, or a number is not finite.
    """
    link_position = motion.link_position
    if link_position is None or not link_position.values.size:
        raise ValueError(
            "the motion has no pose of the root link (LinkPosition), so it has no "
            "start position"
        )
    if not np.isfinite(link_position.values[0, 0]).all():
        raise ValueError(
            "the first pose of the root link has numbers that are not finite, so it "
            "cannot be moved"
        )
    if not np.isfinite([x, y, yaw]).all():
        raise ValueError(
            f"start position {x}, {y} with heading {yaw}, expected finite numbers"
        )
    # The transform target·level(X₀)⁻¹ takes the first pose X₀ to the target. Both are
    # level, so height and tilt stay.
    target = np.array([x, y, 0.0, np.cos(0.5 * yaw), 0.0, 0.0, np.sin(0.5 * yaw)])
    return move(
        motion, poses.compose(target, poses.inverse(level(link_position.values[0, 0])))
    )


def heading(quaternion: npt.ArrayLike) -> Floats:
    """Return the heading (...) [rad] of orientations (..., 4).

    The rotation about z that leaves only a tilt about a horizontal axis.

    Unlike the yaw of roll, pitch and yaw it is also defined for a root that points
    straight up or down.
    """
    q = rotations.normalized(quaternion)
    # A rotation q is a tilt after a rotation about z. The latter is (w, 0, 0, z) at
    # length 1, with the half angle atan2(z, w).
    return np.asarray(2.0 * np.arctan2(q[..., 3], q[..., 0]))


def level(pose: npt.ArrayLike) -> Floats:
    """Return poses (..., 7) with only x, y and the heading of the given ones."""
    pose = np.asarray(pose, dtype=np.float64)
    flat = np.zeros(pose.shape)
    flat[..., :2] = pose[..., :2]
    # A rotation by ψ about z is the quaternion cos ψ/2, 0, 0, sin ψ/2.
    half = 0.5 * heading(pose[..., 3:])
    flat[..., 3] = np.cos(half)
    flat[..., 6] = np.sin(half)
    return flat


def moved(component: Component, by: Floats) -> Component:
    """Return a component with `by` (7,) applied to it from the left.

    Where it is one of link poses or of a ZMP in the world.
    """
    if isinstance(component, MultiSE3Seq) and component.content == LINK_POSITION:
        return replace(component, values=poses.compose(by, component.values))
    if (
        isinstance(component, Vector3Seq)
        and component.content == ZMP
        and not component.is_root_relative
    ):
        return replace(component, values=poses.transform_points(by, component.values))
    return component


def root_poses(motion: Motion, times: Floats, what: str) -> Floats:
    """Return the root link's poses (N, 7) at times (N,) [s].

    Interpolated linearly and by SLERP between frames.

    Raises ValueError when the motion has none; the message begins with `what`, the
    operation that needs them.
    """
    link_position = motion.link_position
    if link_position is None or not link_position.values.size:
        raise ValueError(
            f"{what} needs the pose of the root link, and the motion has no "
            "LinkPosition"
        )
    root = link_position.values[:, :1]
    # At the same times nothing is interpolated: the numbers stay as they are, to the
    # last bit.
    if np.array_equal(link_position.timeline.times, times):
        return np.asarray(root[:, 0])
    return np.asarray(sampled(root, link_position.timeline.times, times)[:, 0])


def zmp_to_world(motion: Motion) -> Motion:
    """Return the motion with its ZMP in the world frame.

    A ZMP that is in it already does not change.

    Raises
    ------
    ValueError
        When a ZMP must be converted and the motion has no root pose.
    """
    return _all_converted(motion, root_relative=False)


def zmp_to_root(motion: Motion) -> Motion:
    """Return the motion with its ZMP in the root link's frame.

    Otherwise like `zmp_to_world`.
    """
    return _all_converted(motion, root_relative=True)


def _all_converted(motion: Motion, root_relative: bool) -> Motion:
    """Return the motion with its ZMP in one of the two frames."""

    def converted(c: Component) -> Component:
        """Return a component, a ZMP in the other frame."""
        if (
            not isinstance(c, Vector3Seq)
            or c.content != ZMP
            or c.is_root_relative == root_relative
        ):
            return c
        root = root_poses(motion, c.timeline.times, "converting the ZMP")
        # A point in the root frame is the inverse of the root's pose, applied to the
        # point in the world.
        if root_relative:
            pose = poses.inverse(root)
        else:
            pose = root
        return replace(
            c,
            values=poses.transform_points(pose, c.values),
            is_root_relative=root_relative,
        )

    if motion.zmp is not None:
        problems = []
    else:
        problems = [IDLE.problem("nothing to convert: the motion has no ZMP")]
    return motion.mapped(converted, problems)
