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
        """Return a component after the filter."""
        if component.content not in chosen or not component.num_frames:
            return component
        if component.timeline.frame_rate is None:
            raise ValueError(
                f"{component.content} has time stamps, but smoothing needs a frame "
                "rate; use Motion.resample() or `retime --rate` first"
            )
        # The cutoff in cycles per frame.
        weights = gaussian(cutoff / component.timeline.frame_rate)
        values = component.values
        if component.content == JOINT_DISPLACEMENT:
            # A filter would turn a jump from π to −π into a sweep of the joint through
            # a full turn. So the jumps are taken out and added again. Where a number is
            # not finite, the jump is 0.
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
    # Gaps are bridged for the filter. The result has them again.
    known, missing = bridged(values)
    out = all_low_passed(known, weights, poses=are_poses(values))
    if missing is None:
        return out
    return np.where(missing, values, out)


def fill_gaps(motion: Motion) -> Motion:
    """Return the motion with numbers that are not finite replaced.

    By straight lines over time from the last to the next known one. Before the first
    known number and after the last one, that one is held. Orientations go by SLERP from
    one quaternion that is known as a whole to the next. Columns without a known number
    do not change.
    """
    return motion.mapped(
        lambda c: (
            c
            if np.isfinite(c.values).all()
            else replace(c, values=_filled(c.values, c.timeline.times))
        )
    )


def _filled(values: Floats, times: Floats) -> Floats:
    """Return values with their gaps filled; times (T,) in seconds."""
    filled = np.array(values)
    # A view: what is written to it is in `filled`. Of poses, only the positions are
    # filled number by number.
    numbers = filled[..., :3] if are_poses(values) else filled
    for index in np.ndindex(numbers.shape[1:]):
        column = numbers[:, *index]
        is_known = np.isfinite(column)
        if is_known.any():
            # Beyond the known numbers `np.interp` holds the first or the last one.
            column[~is_known] = np.interp(
                times[~is_known], times[is_known], column[is_known]
            )
    if not are_poses(values):
        return filled
    for part in range(values.shape[1]):
        # (T,) The four numbers of a quaternion depend on each other, so one is known as
        # a whole or not at all.
        is_turned = np.isfinite(values[:, part, 3:]).all(axis=1)
        if is_turned.any() and not is_turned.all():
            known = filled[is_turned, part : part + 1]
            between = sampled(known, times[is_turned], times[~is_turned])
            filled[~is_turned, part, 3:] = between[:, 0, 3:]
    return filled


def change_joint(
    motion: Motion,
    joint: str,
    *,
    factor: float = 1.0,
    offset: float = 0.0,
    body: Body | None = None,
) -> Motion:
    """Return the motion with the displacements of one joint scaled and shifted.

    Multiplied by `factor`, then increased by `offset` [rad or m]. The joint is found by
    the labels of the columns, or as the `body` finds it (`Body.joint_columns`). Poses
    of other links than the root, efforts and a ZMP do not change; `problems` reports
    them.

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
    names = list(component.part_labels)
    columns: Sequence[int] = range(len(names))
    if body is not None:
        names = [item.name for item in body.joints]
        columns = body.joint_columns(component)
    column = columns[names.index(joint)] if joint in names else -1
    if column < 0:
        known = "the columns have no names; give the body (--body MODEL)"
        if any(names):
            known = choices(joint, names)
        raise WrongUseError(f"no joint {joint!r}; {known}")
    values = np.array(component.values)
    values[:, column] = factor * values[:, column] + offset
    problems = []
    for other in motion.components:
        # The pose of the root does not depend on joints, so it alone stays right.
        is_root = (
            isinstance(other, MultiSE3Seq)
            and other.content == LINK_POSITION
            and other.num_parts == 1
        )
        if other is not component and not is_root:
            message = f"{other.content} does not follow the joint {joint}"
            problems.append(NOT_EDITED.problem(message))
    return motion.mapped(
        lambda c: replace(c, values=values) if c is component else c, problems
    )


def unwrap(motion: Motion, body: Body | None = None) -> Motion:
    """Return the motion without jumps of joint displacements by full turns.

    See `bodymotion.motion.interpolation.unwrapped`. With a body only the columns of
    rotational joints are unwrapped; columns with names are identified by name
    (`Body.joint_columns`, which may raise ValueError).
    """
    problems = []
    if motion.joint_displacement is None:
        message = "nothing to unwrap: the motion has no joint displacements"
        problems.append(IDLE.problem(message))

    def changed(component: TimedComponent) -> Component:
        """Return a component, joint displacements without jumps."""
        if (
            not isinstance(component, MultiValueSeq)
            or component.content != JOINT_DISPLACEMENT
        ):
            return component
        values = unwrapped(component.values)
        if body is not None:
            joints = zip(body.joint_columns(component), body.joints, strict=True)
            # 2π m of a sliding joint are no full turn: its column stays.
            others = [
                column
                for column, joint in joints
                if column >= 0 and joint.type != "rotate"
            ]
            values = np.array(values)
            values[:, others] = component.values[:, others]
        return replace(component, values=values)

    return motion.mapped(changed, problems)
