"""Movement without trembling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bodymotion.editing.rules import IDLE, NOT_EDITED
from bodymotion.geometry.arrays import Floats
from bodymotion.motion import JOINT_DISPLACEMENT, LINK_POSITION, ZMP, Component, Motion, OtherSeq
from bodymotion.motion.interpolation import unwrapped
from bodymotion.motion.interpolation.lowpass import gaussian, low_passed
from bodymotion.motion.interpolation.sampling import are_poses, bridged

__all__ = ["smooth"]


MOVING = (JOINT_DISPLACEMENT, LINK_POSITION, ZMP)


def smooth(motion: Motion, cutoff: float, contents: Sequence[str] | None = None) -> Motion:
    """Return the motion with what is faster than `cutoff` [Hz] damped: joint displacements, poses of links and the ZMP.

    The filter is a weighted mean with the weights of a bell (Gaussian) that damps `cutoff` by 3 dB. It does not delay, does not
    overshoot, and leaves the first and the last frame as they are: beyond them, movement is continued by reflection through the end.
    Orientations are averaged as quaternions with signs that do not jump. Joint angles that jump by full turns are filtered without the
    jumps, which are put back. Numbers that are not finite stay, and have no part in the mean.

    Parameters
    ----------
    contents:
        Which components are filtered; others stay as they are. When not given: joint displacements, poses of links and the ZMP, and
        `problems` names the others.

    Raises
    ------
    ValueError
        When one of them has time stamps instead of a frame rate.
    """
    if not 0 < cutoff < np.inf:
        raise ValueError(f"a cutoff is a positive, finite number of Hz, not {cutoff}")
    chosen = MOVING if contents is None else contents
    components: list[Component] = []
    for component in motion.components:
        if isinstance(component, OtherSeq) or component.content not in chosen or not component.num_frames:
            components.append(component)
            continue
        if component.timeline.frame_rate is None:
            raise ValueError(
                f"{component.content} has time stamps: Motion.resample() puts it on a frame rate, which smoothing needs"
            )
        weights = gaussian(cutoff / component.timeline.frame_rate)
        values = component.values
        if component.content == JOINT_DISPLACEMENT:
            whole = unwrapped(values)
            turns = np.where(np.isfinite(values), values, 0.0) - np.where(np.isfinite(whole), whole, 0.0)
            values = _smoothed(whole, weights) + turns
        else:
            values = _smoothed(values, weights)
        components.append(replace(component, values=values))
    problems = list(motion.problems)
    if contents is None:
        problems += [
            NOT_EDITED.problem(f"{c.content} is not smoothed") for c in motion.components if not _is_of(c, MOVING)
        ]
    if not any(_is_of(c, chosen) and c.num_frames for c in motion.timed):
        problems.append(IDLE.problem(f"nothing is smoothed: the motion has none of {', '.join(chosen)}"))
    return replace(motion, components=tuple(components), problems=tuple(problems))


def _is_of(component: Component, contents: Sequence[str]) -> bool:
    return not isinstance(component, OtherSeq) and component.content in contents


def _smoothed(values: Floats, weights: Floats) -> Floats:
    known, missing = bridged(values)

    def ask(first: int, last: int, rows: Floats) -> None:
        rows[:] = known[first:last]

    out = np.empty(values.shape)
    low_passed(ask, out, weights, ends=(0, len(values) - 1), poses=are_poses(values))
    return out if missing is None else np.where(missing, values, out)
