"""All checks of a body."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from bodymotion.checks import rules
from bodymotion.checks.devices import check_devices
from bodymotion.checks.joints import check_joints
from bodymotion.checks.loops import check_loops
from bodymotion.checks.masses import check_masses
from bodymotion.checks.names import check_names
from bodymotion.checks.places import LARGEST
from bodymotion.checks.shapes import check_numbers, check_shapes, check_sizes
from bodymotion.checks.sheet import Sheet
from bodymotion.checks.textures import check_textures
from bodymotion.diagnostics import Location, Problem
from bodymotion.formats.openhrp.rules import NO_HUMANOID
from bodymotion.model.body import Body

__all__ = ["check_body"]


def check_body(body: Body) -> tuple[Problem, ...]:
    """Return what a reader has said of a body, and what else there is to say of it."""
    sheet = Sheet(body)
    source = body.source
    if source.format == "openhrp" and not source.version and source.path is not None and _names_joints(source.path):
        said = NO_HUMANOID.problem("the file speaks of joints and has no Humanoid", Location(str(source.path), 1, 1))
        return (*body.problems, said, *_checked(sheet))
    if not body.links:
        return (*body.problems, rules.NO_LINKS.problem("the body has no links"))
    return (*body.problems, *_checked(sheet))


def _names_joints(path: Path) -> bool:
    """Whether a file without a Humanoid has words that only models have: else it is a scene, or a part of a model."""
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return False
        return re.search(rb"\b(?:Humanoid|Joint|Segment)\b", path.read_bytes()) is not None
    except OSError:
        return False


def _checked(sheet: Sheet) -> tuple[Problem, ...]:
    for check in (
        check_names,
        check_numbers,
        check_joints,
        check_masses,
        check_shapes,
        check_textures,
        check_sizes,
        check_devices,
        check_loops,
    ):
        # Numbers near the largest there are may overflow; what is not finite has a rule of its own.
        with np.errstate(all="ignore"):
            check(sheet)
    return sheet.placed()
