"""Messages that say nothing a robot could play."""

from __future__ import annotations

from dataclasses import replace

from bodymotion.animation import Animation
from bodymotion.diagnostics import Problem
from bodymotion.formats.cha import check_animation, rules

__all__ = ["unplayable"]

_RULES = frozenset(
    rule.code
    for rule in (
        rules.OPTION_NUMBER,
        rules.BPM_POSITIVE,
        rules.PARAMETER_NUMBER,
        rules.SPEED_ZERO,
        rules.PARAMETER_HUGE,
        rules.NOT_FINITE,
        rules.TIME_NEGATIVE,
        rules.TIME_BACK,
        rules.TIME_REPEATED,
        rules.QUATERNION_ZERO,
        rules.VALUE_HUGE,
        rules.MOVE_LONG,
    )
)


def unplayable(animation: Animation, path: str | None = None) -> tuple[Problem, ...]:
    """Return the faults for which an animation cannot be played. What else the document asks for, `check_animation` says."""
    found = (problem for problem in check_animation(animation) if problem.rule in _RULES)
    return tuple(replace(one, location=replace(one.location, path=path)) for one in found)
