"""The world frame: shift and turn it, or start the motion at a place in it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from bodymotion.editing.rules import IDLE, NOT_EDITED
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.motion import LINK_POSITION, ZMP, Component, Motion, MultiSE3Seq, OtherSeq, Vector3Seq
from bodymotion.motion.interpolation import sampled

__all__ = ["heading", "level", "move", "moved", "root_poses", "start_at"]

NEAR = 1e-3
"""The length of a quaternion may differ from 1 by so much."""

PIECE = 1 << 17
"""How many poses are worked on at a time."""


def move(motion: Motion, pose: npt.ArrayLike) -> Motion:
    """Return the motion moved through the world as one: each pose X of a link becomes `pose`·X, a ZMP in the world moves alike.

    Parameters
    ----------
    pose:
        (7,) x y z [m] and the quaternion w x y z: first everything is turned about the origin of the world, then shifted.

    Raises
    ------
    ValueError
        When a number is not finite, or the length of the quaternion is not 1 to 0.001.

    Components of other contents stay as they are; those that may hold places in the world are named in `problems`; where there is
    nothing to move, that is said, too.
    """
    by = frozen(pose, (7,), "pose")
    if not np.isfinite(by).all() or abs(float(np.linalg.norm(by[3:])) - 1) > NEAR:
        raise ValueError(f"a pose is x y z and a unit quaternion w x y z, all of them finite, not {by.tolist()}")
    left = [c.content for c in motion.components if _may_be_in_the_world(c)]
    problems = [
        NOT_EDITED.problem(f"{content} is not moved: whether it is in the world frame is not known") for content in left
    ]
    components = tuple(moved(c, by) for c in motion.components)
    if not problems and all(new is old for new, old in zip(components, motion.components, strict=True)):
        problems.append(
            IDLE.problem("nothing is moved: the motion has neither poses of links nor a ZMP in the world's frame")
        )
    return replace(motion, components=components, problems=(*motion.problems, *problems))


def _may_be_in_the_world(component: Component) -> bool:
    if isinstance(component, OtherSeq):
        return True
    if isinstance(component, MultiSE3Seq):
        return component.content != LINK_POSITION
    return isinstance(component, Vector3Seq) and component.content != ZMP


def start_at(motion: Motion, x: float = 0.0, y: float = 0.0, yaw: float = 0.0) -> Motion:
    """Return the motion moved so that the root is at `x`, `y` [m] with heading `yaw` [rad] in its first frame; its height and tilt stay.

    Raises
    ------
    ValueError
        When the motion has no root pose, or a number is not finite.
    """
    link_position = motion.link_position
    if link_position is None or not link_position.values.size:
        raise ValueError("the motion has no pose of the root link (LinkPosition), so it starts nowhere")
    if not np.isfinite(link_position.values[0, 0]).all():
        raise ValueError(
            "the first pose of the root link has numbers that are not finite, so it cannot be put anywhere"
        )
    if not np.isfinite([x, y, yaw]).all():
        raise ValueError(f"a motion starts at finite numbers, not at {x}, {y} with heading {yaw}")
    target = np.array([x, y, 0.0, np.cos(0.5 * yaw), 0.0, 0.0, np.sin(0.5 * yaw)])
    return move(motion, poses.compose(target, poses.inverse(level(link_position.values[0, 0]))))


def heading(quaternion: npt.ArrayLike) -> Floats:
    """Return the yaw (...) [rad] of orientations (..., 4): the turn about z that leaves only a tilt about a horizontal axis.

    Unlike the yaw of roll, pitch and yaw it has no trouble with a root that looks straight up or down.
    """
    q = rotations.normalized(quaternion)
    return np.asarray(2.0 * np.arctan2(q[..., 3], q[..., 0]))


def level(pose: npt.ArrayLike) -> Floats:
    """Return poses (..., 7) on the ground: only x, y and the heading of the ones given."""
    pose = np.asarray(pose, dtype=np.float64)
    flat = np.zeros(pose.shape)
    flat[..., :2] = pose[..., :2]
    half = 0.5 * heading(pose[..., 3:])
    flat[..., 3], flat[..., 6] = np.cos(half), np.sin(half)
    return flat


def moved(component: Component, by: Floats) -> Component:
    """Return a component with `by` (7,) applied to it from the left, where it is one of link poses or of a ZMP in the world."""
    if isinstance(component, MultiSE3Seq) and component.content == LINK_POSITION:
        return replace(component, values=moved_poses(component.values, by))
    if isinstance(component, Vector3Seq) and component.content == ZMP and not component.is_root_relative:
        return replace(component, values=poses.transform_points(by, component.values))
    return component


def moved_poses(values: Floats, by: Floats) -> Floats:
    """Return `by` · poses, for poses (T, L, 7), piece by piece."""
    out = np.empty(values.shape)
    step = max(PIECE // max(values.shape[1], 1), 1)
    for start in range(0, len(values), step):
        out[start : start + step] = poses.compose(by, values[start : start + step])
    return out


def root_poses(motion: Motion, times: Floats, what: str) -> Floats:
    """Return the root link's poses (N, 7) at times (N,) [s]; between frames by straight lines and SLERP.

    Raises
    ------
    ValueError
        When the motion has none; the message begins with `what`, which needs them.
    """
    link_position = motion.link_position
    if link_position is None or not link_position.values.size:
        raise ValueError(f"{what} needs the pose of the root link, and the motion has no LinkPosition")
    root = link_position.values[:, :1]
    if np.array_equal(link_position.timeline.times, times):
        return np.asarray(root[:, 0])
    return np.asarray(sampled(root, link_position.timeline.times, times)[:, 0])
