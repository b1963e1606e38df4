"""The `<inertial>` of a link."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics import Location, losses
from bodymotion.formats.mjcf.rules import REFUSED
from bodymotion.formats.mjcf.writing.chains import chains
from bodymotion.formats.xml.tree import number_text
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.model import inertias

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem
    from bodymotion.formats.xml.tree import Element
    from bodymotion.model.body import Body
    from bodymotion.model.links import Link

__all__ = ["acceptable", "write_inertial"]

CLEAR = 1e-6
"""A tensor whose moments keep this part of the largest away from what MuJoCo refuses is written by its six numbers, as it is."""
SMALL = 1e-13
"""[kg m²] MuJoCo refuses six numbers with a principal moment below 1e-14, and the same moments along their axes not."""


def acceptable(body: Body, *, fix_inertia: bool) -> tuple[Body, tuple[Problem, ...]]:
    """Return the body as MuJoCo takes it, and what was changed. Links that are written within others need no mass.

    Raises
    ------
    FormatError
        When MuJoCo refuses some link and `fix_inertia` is not asked for; the message names all of them.
    """
    within = {index for ahead in chains(body).values() for index in ahead}
    found = [one for one in inertias.faults(body, asymmetric=False) if one.link not in within]
    if not found:
        return body, ()
    if fix_inertia:
        return inertias.repaired(body)
    told = "; ".join(f"{body.links[one.link].name or one.link}: {one.message}" for one in found)
    count = "one link" if len(found) == 1 else f"{len(found)} links"
    raise REFUSED.error(f"MuJoCo refuses {count}: {told}", Location(inside=f"links[{found[0].link}]"))


def write_inertial(element: Element, link: Link, problems: list[Problem]) -> None:
    """Return a body its mass and inertia, as exactly as MuJoCo takes them.

    Where moments are so near to what it refuses (a flat body: a + b = c) that its own rounding may cross the line, they are written along
    their axes, the smallest raised by what rounding had taken.
    """
    mass, tensor = link.mass, link.inertia
    if mass < inertias.LEAST and inertias.fault(1.0, tensor) is not None:
        # MuJoCo does not ask links that carry nothing for an inertia.
        if tensor.any():
            words = f"link {link.name} has an inertia that no body has, and no mass: it is left out"
            problems.append(losses.INERTIA_CHANGED.problem(words, Location(inside=f"links[{link.index}]")))
        tensor = np.zeros((3, 3))
    if mass == 0 and not tensor.any() and not link.center_of_mass.any():
        return
    if not np.array_equal(tensor, tensor.T):
        if np.abs(tensor - tensor.T).max() > 1e-6 * np.abs(tensor).max():
            words = f"the inertia of link {link.name} is not symmetric: its symmetric part is written"
            problems.append(losses.INERTIA_CHANGED.problem(words, Location(inside=f"links[{link.index}]")))
        tensor = 0.5 * tensor + 0.5 * tensor.T
    given = {"pos": number_text(link.center_of_mass), "mass": number_text(mass)}
    moments, axes = inertias.principal_moments(tensor)
    least, middle, most = moments.tolist()
    if least > CLEAR * most and least + middle > most * (1.0 + CLEAR) and least > SMALL:
        six = (tensor[0, 0], tensor[1, 1], tensor[2, 2], tensor[0, 1], tensor[0, 2], tensor[1, 2])
        element.add("inertial", {**given, "fullinertia": number_text(six)})
        return
    if not (tensor - np.diag(np.diag(tensor))).any():
        element.add("inertial", {**given, "diaginertia": number_text(_lifted(np.diag(tensor)))})
        return
    turn = number_text(rotations.from_matrix(axes))
    element.add("inertial", {**given, "quat": turn, "diaginertia": number_text(_lifted(moments))})


def _lifted(moments: Floats) -> Floats:
    """Raise the smallest moment until MuJoCo's test, which has no tolerance, holds: a + b ≥ c."""
    lifted = np.maximum(moments, 0.0)
    a, b, c = np.argsort(lifted).tolist()
    if lifted[a] + lifted[b] < lifted[c]:
        lifted[a] = lifted[c] - lifted[b]
        while lifted[a] + lifted[b] < lifted[c]:
            lifted[a] = math.nextafter(lifted[a], math.inf)
    return lifted
