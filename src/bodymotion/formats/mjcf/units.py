"""Whether the limits of a model that is in degrees look like radians."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.formats.mjcf import rules

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem
    from bodymotion.formats.mjcf.settings import Settings
    from bodymotion.formats.mjcf.tree import RawLink

__all__ = ["check_unit"]

LARGEST = 2 * math.pi + 0.01
"""Limits of a robot in radians stay within a turn. One in degrees has more than this somewhere."""
MANY = 4
"""So many joints with limits as small as that are no chance, even where all are whole degrees."""


def check_unit(links: Sequence[RawLink], settings: Settings, problems: list[Problem]) -> None:
    """Note where the limits of all joints that turn are within a few degrees, and no whole ones or many."""
    if settings.angle == 1.0:
        return
    limited = [
        link
        for link in links
        if link.joint.type == "rotate" and math.isfinite(link.joint.lower) and math.isfinite(link.joint.upper)
    ]
    if not limited:
        return
    limits = np.array([[link.joint.lower, link.joint.upper] for link in limited]) / settings.angle
    largest = float(np.abs(limits).max())
    whole = bool((np.abs(limits - np.round(limits)) < 1e-9).all())
    if largest > LARGEST or (whole and len(limited) < MANY):
        return
    link = limited[int(np.abs(limits).max(axis=1).argmax())]
    element = link.joint_element or link.element
    which = f"the limits of joint {link.joint.name!r:.60} are" if len(limited) == 1 else "the limits of all joints are"
    words = f"{which} within ±{largest:.4g} degrees: are radians meant?"
    problems.append(rules.RADIANS.problem(words, element.place("range")))
