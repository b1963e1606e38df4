"""Filter a motion, and remove jumps of joint angles by full turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bodymotion.editing.rules import IDLE, NOT_EDITED
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body
from bodymotion.motion import JOINT_DISPLACEMENT, LINK_POSITION, ZMP, Component, Motion, MultiValueSeq, OtherSeq
from bodymotion.motion.interpolation import unwrapped
from bodymotion.motion.interpolation.lowpass import gaussian, low_passed
from bodymotion.motion.interpolation.sampling import are_poses, bridged

FILTERED = (JOINT_DISPLACEMENT, LINK_POSITION, ZMP)


def smooth(motion: Motion, cutoff: float, contents: Sequence[str] | None = None) -> Motion:
    """Return the motion after a low-pass filter: joint displacements, poses of links and the ZMP.

    The filter is a weighted mean with Gaussian weights. It has no delay and no overshoot, and does not change the first and the last frame:
    beyond them the motion is continued by reflection through the end. Orientations are averaged as quaternions with continuous signs. Joint
    angles that jump by full turns are filtered without the jumps, which are restored. Numbers that are not finite stay, and do not count.

    Parameters
    ----------
    cutoff:
        [Hz] The frequency that the filter reduces by 3 dB.
    contents:
        The contents of the components that are filtered; others do not change. By default joint displacements, poses of links and the ZMP;
        `problems` then reports the others.

    Raises
    ------
    ValueError
        When the cutoff is not positive and finite, or one of the components has time stamps instead of a frame rate.
    """
    if not 0 < cutoff < np.inf:
        raise ValueError(f"cutoff {cutoff} Hz, expected a positive, finite number")
    chosen = FILTERED if contents is None else contents
    components: list[Component] = []
    for component in motion.components:
        if isinstance(component, OtherSeq) or component.content not in chosen or not component.num_frames:
            components.append(component)
            continue
        if component.timeline.frame_rate is None:
            raise ValueError(
                f"{component.content} has time stamps, but smoothing needs a frame rate; use Motion.resample() first"
            )
        weights = gaussian(cutoff / component.timeline.frame_rate)
        values = component.values
        if component.content == JOINT_DISPLACEMENT:
            whole = unwrapped(values)
            full_turns = np.where(np.isfinite(values), values, 0.0) - np.where(np.isfinite(whole), whole, 0.0)
            values = _smoothed(whole, weights) + full_turns
        else:
            values = _smoothed(values, weights)
        components.append(replace(component, values=values))
    problems = list(motion.problems)
    if contents is None:
        problems += [
            NOT_EDITED.problem(f"{c.content} is not smoothed") for c in motion.components if not _is_of(c, FILTERED)
        ]
    if not any(_is_of(c, chosen) and c.num_frames for c in motion.timed):
        problems.append(IDLE.problem(f"nothing to smooth: the motion has none of {', '.join(chosen)}"))
    return replace(motion, components=tuple(components), problems=tuple(problems))


def _is_of(component: Component, contents: Sequence[str]) -> bool:
    return not isinstance(component, OtherSeq) and component.content in contents


def _smoothed(values: Floats, weights: Floats) -> Floats:
    known, missing = bridged(values)

    def read(first: int, last: int, rows: Floats) -> None:
        rows[:] = known[first:last]

    out = np.empty(values.shape)
    low_passed(read, out, weights, ends=(0, len(values) - 1), poses=are_poses(values))
    return out if missing is None else np.where(missing, values, out)


def unwrap(motion: Motion, body: Body | None = None) -> Motion:
    """Return the motion without jumps of joint displacements by full turns (`bodymotion.motion.interpolation.unwrapped`).

    With a body only the columns of rotational joints are unwrapped; columns with names are identified by name (`Body.joint_columns`, which
    may raise ValueError).
    """
    components = tuple(_unwrapped(c, body) for c in motion.components)
    problems = motion.problems
    if motion.joint_displacement is None:
        problems = (*problems, IDLE.problem("nothing to unwrap: the motion has no joint displacements"))
    return replace(motion, components=components, problems=problems)


def _unwrapped(component: Component, body: Body | None) -> Component:
    if not isinstance(component, MultiValueSeq) or component.content != JOINT_DISPLACEMENT:
        return component
    values = unwrapped(component.values)
    if body is not None:
        rotates = [True] * component.num_parts
        for column, joint in zip(body.joint_columns(component), body.joints, strict=True):
            if column >= 0:
                rotates[column] = joint.type == "rotate"
        values = np.where(rotates, values, component.values)
    return replace(component, values=values)
