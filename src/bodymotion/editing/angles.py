"""Joint angles that go on beyond a full turn, instead of jumping back by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bodymotion.editing.rules import IDLE
from bodymotion.model.body import Body
from bodymotion.motion import JOINT_DISPLACEMENT, Component, Motion, MultiValueSeq
from bodymotion.motion.interpolation import unwrapped

__all__ = ["unwrap"]


def unwrap(motion: Motion, body: Body | None = None) -> Motion:
    """Return the motion with jumps of joint displacements by full turns taken out (`bodymotion.motion.interpolation.unwrapped`).

    With a body only the columns of joints that rotate are looked at; columns with names go by name (`Body.joint_columns`, which may raise
    ValueError).
    """
    components = tuple(_unwrapped(c, body) for c in motion.components)
    problems = motion.problems
    if motion.joint_displacement is None:
        problems = (*problems, IDLE.problem("nothing is unwrapped: the motion has no joint displacements"))
    return replace(motion, components=components, problems=problems)


def _unwrapped(component: Component, body: Body | None) -> Component:
    if not isinstance(component, MultiValueSeq) or component.content != JOINT_DISPLACEMENT:
        return component
    values = unwrapped(component.values)
    if body is not None:
        turning = [True] * component.num_parts
        for column, joint in zip(body.joint_columns(component), body.joints, strict=True):
            if column >= 0:
                turning[column] = joint.type == "rotate"
        values = np.where(turning, values, component.values)
    return replace(component, values=values)
