"""Change values of a motion.

Filter it, fill gaps, scale and offset joints, and remove jumps of joint angles by full
turns.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bodymotion.diagnostics import WrongUseError
from bodymotion.diagnostics.spelling import choices
from bodymotion.editing.rules import IDLE, NOT_EDITED
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body
from bodymotion.motion import (
    JOINT_DISPLACEMENT,
    LINK_POSITION,
    ZMP,
    Component,
    Motion,
    MultiSE3Seq,
    MultiValueSeq,
    OtherSeq,
)
from bodymotion.motion.components import TimedComponent
from bodymotion.motion.interpolation import sampled, unwrapped
from bodymotion.motion.interpolation.lowpass import all_low_passed, gaussian
from bodymotion.motion.interpolation.sampling import are_poses, bridged

FILTERED = (JOINT_DISPLACEMENT, LINK_POSITION, ZMP)


def smooth(
    motion: Motion, cutoff: float, contents: Sequence[str] | None = None
) -> Motion:
    """Return the motion after a low-pass filter.

    Joint displacements, poses of links and the ZMP.

    The filter is a weighted mean with Gaussian weights. It has no delay and no
    overshoot, and does not change the first and the last frame: beyond them the motion
    is continued by reflection through the end. Orientations are averaged as quaternions
    with continuous signs. Joint angles that jump by full turns are filtered without the
    jumps, which are restored. Numbers that are not finite stay, and do not count.

    Parameters
    ----------
    cutoff:
        [Hz] The frequency that the filter reduces by 3 dB.
    contents:
        The contents of the components that are filtered; others do not change. By
        default joint displacements, poses of links and the ZMP;
        `problems` then reports the others.

    Raises
    ------
    ValueError
        When the cutoff is not positive and finite, or one of the components has time
        stamps instead of a frame rate.
    """
    if not 0 < cutoff < np.inf:
        raise ValueError(f"cutoff {cutoff} Hz, expected a positive, finite number")
    chosen = FILTERED if contents is None else contents

    def smoothed(component: TimedComponent) -> Component:
        if component.content not in chosen or not component.num_frames:
            return component
        if component.timeline.frame_rate is None:
            raise ValueError(
                f"{component.content} has time stamps, but smoothing needs a frame "
                "rate; use Motion.resample() or `retime --rate` first"
            )
        weights = gaussian(cutoff / component.timeline.frame_rate)
        values = component.values
        if component.content == JOINT_DISPLACEMENT:
            whole = unwrapped(values)
            full_turns = np.where(np.isfinite(values), values, 0.0) - np.where(
                np.isfinite(whole), whole, 0.0
            )
            return replace(component, values=_smoothed(whole, weights) + full_turns)
        return replace(component, values=_smoothed(values, weights))

    if contents is None:
        others = [c.content for c in motion.components if not _is_of(c, FILTERED)]
    else:
        others = []
    problems = [NOT_EDITED.problem(f"{content} is not smoothed") for content in others]
    if not any(_is_of(c, chosen) and c.num_frames for c in motion.timed):
        problems.append(
            IDLE.problem(
                f"nothing to smooth: the motion has none of {', '.join(chosen)}"
            )
        )
    return motion.mapped(smoothed, problems)


def _is_of(component: Component, contents: Sequence[str]) -> bool:
    return not isinstance(component, OtherSeq) and component.content in contents


def _smoothed(values: Floats, weights: Floats) -> Floats:
    known, missing = bridged(values)
    out = all_low_passed(known, weights, poses=are_poses(values))
    if missing is None:
        return out
    return np.where(missing, values, out)


def fill_gaps(motion: Motion) -> Motion:
    """Return the motion with numbers that are not finite replaced by straight lines
    over time from the last to the next known one.

    Before the first known number and after the last one, that one is held. Orientations
    go by SLERP from one quaternion that is known as a whole to the next. Columns
    without a known number do not change.
    """
    return motion.mapped(
        lambda c: (
            c
            if np.isfinite(c.values).all()
            else replace(c, values=_filled(c.values, c.timeline.times))
        )
    )


def _filled(values: Floats, times: Floats) -> Floats:
    out = np.array(values)
    if are_poses(values):
        lines = out[..., :3]
    else:
        lines = out
    for index in np.ndindex(lines.shape[1:]):
        column = lines[:, *index]
        missing = ~np.isfinite(column)
        if not missing.all():
            column[missing] = np.interp(
                times[missing], times[~missing], column[~missing]
            )
    for part in range(values.shape[1]) if are_poses(values) else ():
        known = np.isfinite(values[:, part, 3:]).all(axis=1)
        if known.any() and not known.all():
            rotated = sampled(out[known, part : part + 1], times[known], times[~known])
            out[~known, part, 3:] = rotated[:, 0, 3:]
    return out


def change_joint(
    motion: Motion,
    joint: str,
    *,
    factor: float = 1.0,
    offset: float = 0.0,
    body: Body | None = None,
) -> Motion:
    """Return the motion with each displacement of one joint multiplied by `factor`,
    then increased by `offset` [rad or m].

    The joint is found by the labels of the columns, or as the `body` finds it
    (`Body.joint_columns`). Poses of other links than the root, efforts and a ZMP do not
    change; `problems` reports them.

    Raises
    ------
    ValueError
        When there is no such joint, or a number is not finite.
    """
    if not np.isfinite([factor, offset]).all():
        raise ValueError(
            f"factor {factor} and offset {offset}, expected finite numbers"
        )
    component = motion.joint_displacement
    if component is None:
        raise ValueError("the motion has no joint displacements")
    labels = list(component.part_labels)
    if body is not None:
        names = [each.name for each in body.joints]
        columns = list(body.joint_columns(component))
    else:
        names = labels
        columns = list(range(len(labels)))
    if joint in names:
        column = columns[names.index(joint)]
    else:
        column = -1
    if column < 0:
        if any(names):
            known = choices(joint, names)
        else:
            known = "the columns have no names; give the body (--body MODEL)"
        raise WrongUseError(f"no joint {joint!r}; {known}")
    values = np.array(component.values)
    values[:, column] = factor * values[:, column] + offset
    others = [
        NOT_EDITED.problem(f"{c.content} does not follow the joint {joint}")
        for c in motion.components
        if c is not component
        and not (
            isinstance(c, MultiSE3Seq)
            and c.content == LINK_POSITION
            and c.num_parts == 1
        )
    ]
    return motion.mapped(
        lambda c: replace(c, values=values) if c is component else c, others
    )


def unwrap(motion: Motion, body: Body | None = None) -> Motion:
    """Return the motion without jumps of joint displacements by full turns
    (`bodymotion.motion.interpolation.unwrapped`).

    With a body only the columns of rotational joints are unwrapped; columns with names
    are identified by name (`Body.joint_columns`, which may raise ValueError).
    """
    idle = motion.joint_displacement is None
    if idle:
        problems = [
            IDLE.problem("nothing to unwrap: the motion has no joint displacements")
        ]
    else:
        problems = []

    def changed(component: TimedComponent) -> Component:
        if (
            not isinstance(component, MultiValueSeq)
            or component.content != JOINT_DISPLACEMENT
        ):
            return component
        values = unwrapped(component.values)
        if body is not None:
            joints = zip(body.joint_columns(component), body.joints, strict=True)
            others = [
                column
                for column, joint in joints
                if column >= 0 and joint.type != "rotate"
            ]
            values = np.array(values)
            values[:, others] = component.values[:, others]
        return replace(component, values=values)

    return motion.mapped(changed, problems)
