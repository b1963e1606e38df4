"""The zero moment point, told in the world or in the root link's frame."""

from __future__ import annotations

from dataclasses import replace

from bodymotion.editing.frames import root_poses
from bodymotion.editing.rules import IDLE
from bodymotion.geometry import poses
from bodymotion.motion import ZMP, Component, Motion, Vector3Seq

__all__ = ["zmp_to_root", "zmp_to_world"]


def zmp_to_world(motion: Motion) -> Motion:
    """Return the motion with its ZMP in the world's frame; one that is there already stays as it is.

    Raises
    ------
    ValueError
        When a ZMP has to be converted and the motion has no root pose.
    """
    return _all_converted(motion, root_relative=False)


def zmp_to_root(motion: Motion) -> Motion:
    """Return the motion with its ZMP in the root link's frame; all else is as for `zmp_to_world`."""
    return _all_converted(motion, root_relative=True)


def _all_converted(motion: Motion, root_relative: bool) -> Motion:
    components = tuple(_converted(motion, c, root_relative) for c in motion.components)
    problems = motion.problems
    if motion.zmp is None:
        problems = (*problems, IDLE.problem("nothing is converted: the motion has no ZMP"))
    return replace(motion, components=components, problems=problems)


def _converted(motion: Motion, component: Component, root_relative: bool) -> Component:
    if not isinstance(component, Vector3Seq) or component.content != ZMP:
        return component
    if component.is_root_relative == root_relative:
        return component
    root = root_poses(motion, component.timeline.times, "converting the ZMP")
    pose = poses.inverse(root) if root_relative else root
    return replace(component, values=poses.transform_points(pose, component.values), is_root_relative=root_relative)
