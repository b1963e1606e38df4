"""All checks of a body."""

from __future__ import annotations

from bodymotion.body import Body
from bodymotion.checks import rules
from bodymotion.checks.devices import check_devices
from bodymotion.checks.joints import check_joints
from bodymotion.checks.loops import check_loops
from bodymotion.checks.masses import check_masses
from bodymotion.checks.names import check_names
from bodymotion.checks.shapes import check_numbers, check_shapes, check_sizes
from bodymotion.checks.sheet import Sheet
from bodymotion.diagnostics import Location, Problem
from bodymotion.formats.openhrp.rules import NO_HUMANOID

__all__ = ["check_body"]


def check_body(body: Body) -> tuple[Problem, ...]:
    """Give what a reader has said of a body, and what else there is to say of it."""
    sheet = Sheet(body)
    if body.source.format == "openhrp" and not body.source.version and body.source.path is not None:
        said = NO_HUMANOID.problem("the file has no Humanoid", Location(str(body.source.path), 1, 1))
        return (*body.problems, said, *_checked(sheet))
    if not body.links:
        return (*body.problems, rules.NO_LINKS.problem("the body has no links"))
    return (*body.problems, *_checked(sheet))


def _checked(sheet: Sheet) -> tuple[Problem, ...]:
    for check in (
        check_names,
        check_numbers,
        check_joints,
        check_masses,
        check_shapes,
        check_sizes,
        check_devices,
        check_loops,
    ):
        check(sheet)
    return tuple(sheet.problems)
