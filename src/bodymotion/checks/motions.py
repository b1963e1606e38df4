"""Checks of a motion by itself."""

from __future__ import annotations

import numpy as np

from bodymotion.checks import rules
from bodymotion.checks.rows import place_of_frame
from bodymotion.diagnostics import Problem
from bodymotion.motion import Motion, MultiSE3Seq, MultiValueSeq, Vector3Seq
from bodymotion.motion.rules import MAX_LENGTH_ERROR, ROUNDING

__all__ = ["check_motion", "part_name"]


def check_motion(motion: Motion) -> tuple[Problem, ...]:
    """Return what a reader has said of a motion, and what else there is to say of its numbers."""
    problems = list(motion.problems)
    said = {problem.rule for problem in problems}
    for number, component in enumerate(motion.components):
        if not isinstance(component, (MultiValueSeq, MultiSE3Seq, Vector3Seq)):
            continue
        if not said & set(rules.SAID["MOT101"]):
            problems += _not_finite(motion, number, component)
        if isinstance(component, MultiSE3Seq):
            problems += _turns(motion, number, component)
    return tuple(problems)


def _not_finite(motion: Motion, number: int, component: MultiValueSeq | MultiSE3Seq | Vector3Seq) -> list[Problem]:
    wrong = ~np.isfinite(component.values)
    count = int(np.count_nonzero(wrong))
    if not count:
        return []
    frame, *part = (int(k) for k in np.unravel_index(int(np.argmax(wrong)), wrong.shape))
    of = "" if isinstance(component, Vector3Seq) else f" of {part_name(component, part[0])}"
    message = (
        f"{component.content} has {count} numbers that are not finite, the first{of} in frame {frame}"
        if count > 1
        else f"a number of {component.content}{of} in frame {frame} is not finite"
    )
    return [rules.MOTION_NOT_FINITE.problem(message, place_of_frame(motion, number, frame))]


def _turns(motion: Motion, number: int, component: MultiSE3Seq) -> list[Problem]:
    length = np.linalg.norm(component.values[..., 3:], axis=-1)
    off = np.where(np.isfinite(length), np.abs(length - 1), 0)
    found = []
    for rule, wrong, said in (
        (rules.MOTION_NO_TURN, length == 0, "are zero"),
        (rules.MOTION_NO_QUATERNION, (length > 0) & (off > MAX_LENGTH_ERROR), "are far from length 1"),
        (rules.MOTION_QUATERNION, (off > ROUNDING) & (off <= MAX_LENGTH_ERROR), "are not of length 1"),
    ):
        count = int(np.count_nonzero(wrong))
        if count:
            frame, part = (int(k) for k in np.unravel_index(int(np.argmax(wrong)), wrong.shape))
            message = (
                f"{count} quaternions of {component.content} {said}, the first of {part_name(component, part)} in frame {frame}"
                f" is of length {length[frame, part]:.6g}"
            )
            found.append(rule.problem(message, place_of_frame(motion, number, frame)))
    return found


def part_name(component: MultiValueSeq | MultiSE3Seq, part: int) -> str:
    """Say which joint or link is meant."""
    labels = component.part_labels
    label = labels[part] if part < len(labels) else ""
    return repr(label) if label else f"{'joint' if isinstance(component, MultiValueSeq) else 'link'} {part}"
