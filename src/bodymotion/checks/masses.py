"""Masses: whether each link can be a rigid body, and whether its mass is where its shape is."""

from __future__ import annotations

import numpy as np

from bodymotion.checks import rules
from bodymotion.checks.sheet import Box, Sheet, distance, size
from bodymotion.model import inertias
from bodymotion.model.links import Link

__all__ = ["check_masses"]

FAR = 1.0
"""A centre of mass may be outside the box around the shapes by so many of its diagonals."""
LEAST = 0.01
"""[m] A box counts as this large at least."""
HEAVIEST, NARROW = 25_000.0, 0.05
"""[kg/m³] and part of the diagonal: what is heavier than any metal would be, with a smaller radius of gyration, is told."""
WIDE = 3.0
"""A radius of gyration of more than so many diagonals of the shape is told."""

_RULES = {
    "mass": rules.NO_MASS,
    "zero": rules.NO_INERTIA,
    "negative": rules.TRIANGLE,
    "triangle": rules.TRIANGLE,
    "asymmetric": rules.ASYMMETRIC,
}


def check_masses(sheet: Sheet) -> None:
    """Check mass, centre of mass and inertia of each link."""
    if not any(link.mass or link.inertia.any() for link in sheet.body.links):
        # A thing without any mass is scenery, or only to be looked at.
        if any(link.joint.type in ("rotate", "slide", "free") for link in sheet.body.links):
            sheet.of_body(rules.NO_MASS, "no link has a mass")
        return
    for one in inertias.faults(sheet.body):
        link = sheet.body.links[one.link]
        if one.why == "finite":
            continue
        rule = rules.NEGATIVE_MASS if one.why == "mass" and link.mass < 0 else _RULES[one.why]
        part = "mass" if one.why == "mass" else "inertia"
        sheet.of_link(rule, link, f"can be no rigid body: {one.message}", part)
    for link, box in zip(sheet.body.links, sheet.boxes, strict=True):
        if link.mass == 0 and link.inertia.any() and np.isfinite(link.inertia).all():
            sheet.of_link(rules.INERTIA_FOR_NOTHING, link, "has an inertia and no mass", "mass")
        if box is not None and np.isfinite([link.mass, *link.center_of_mass, *link.inertia.flat]).all():
            _in_shape(sheet, link, size(box), distance(box, link.center_of_mass))
            _dense(sheet, link, box)


def _in_shape(sheet: Sheet, link: Link, diagonal: float, outside: float) -> None:
    extent = max(diagonal, LEAST)
    if link.mass > 0 and outside > FAR * extent:
        shown = " ".join(f"{number:.4g}" for number in link.center_of_mass)
        said = f"has its centre of mass at {shown} m, {outside:.3g} m outside of its shape, which is {diagonal:.3g} m large"
        sheet.of_link(rules.CENTER_FAR, link, said, "center")
    if link.mass > inertias.LEAST:
        radius = float(np.sqrt(max(np.abs(np.diag(link.inertia)).max(), 0.0) / link.mass))
        if radius > WIDE * extent:
            said = f"has a radius of gyration of {radius:.3g} m, its shape is {diagonal:.3g} m large"
            sheet.of_link(rules.GYRATION, link, said, "inertia")


def _dense(sheet: Sheet, link: Link, box: Box) -> None:
    """Tell a mass that is far too large for the shape, and for the inertia."""
    volume = float(np.prod(np.maximum(box[1] - box[0], LEAST)))
    largest = float(np.abs(np.diag(link.inertia)).max())
    if size(box) < LEAST or link.mass <= inertias.LEAST or largest == 0 or link.mass <= HEAVIEST * volume:
        return
    radius = float(np.sqrt(largest / link.mass))
    if radius < NARROW * size(box):
        said = (
            f"has a mass of {link.mass:g} kg in a shape that is {size(box):.3g} m large, and an inertia with a radius of gyration of "
            f"{radius:.2g} m: neither is of such a mass"
        )
        sheet.of_link(rules.DENSE, link, said, "mass")
