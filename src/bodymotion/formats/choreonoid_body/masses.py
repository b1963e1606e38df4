"""Mass, centre of mass and inertia, of a link itself or of a RigidBody in it."""

from __future__ import annotations

import math

import numpy as np

from bodymotion.formats.choreonoid_body import rules
from bodymotion.formats.choreonoid_body.fields import Fields, forgiving
from bodymotion.geometry.arrays import Floats, frozen

__all__ = ["MASS_KEYS", "read_mass"]

MASS_KEYS = ("mass", "center_of_mass", "inertia")


def read_mass(fields: Fields) -> tuple[float, Floats, Floats]:
    """Return mass [kg], centre of mass (3,) [m] and inertia (3, 3) [kg m²] about it.

    Raises
    ------
    FormatError
        When inertia has neither nine nor six numbers.
    """
    mass = fields.number("mass", default=0.0)
    if mass < 0:
        fields.tell(rules.MASS, f"mass of {fields.title} is {mass:g}, not a number from 0 on", "mass")
    center = frozen(fields.vector("center_of_mass", default=(0.0, 0.0, 0.0)))
    return mass, center, _inertia(fields)


@forgiving(frozen(np.eye(3)))
def _inertia(fields: Fields) -> Floats:
    numbers = fields.numbers("inertia")
    if numbers is None:
        return frozen(np.zeros((3, 3)))
    if len(numbers) == 6:
        xx, xy, xz, yy, yz, zz = numbers
        numbers = [xx, xy, xz, xy, yy, yz, xz, yz, zz]
    if len(numbers) != 9:
        wrong = f"inertia of {fields.title} has {len(numbers)} numbers instead of 9 or 6"
        raise rules.INERTIA_SIZE.error(wrong, fields.place("inertia"))
    if not all(map(math.isfinite, numbers)):
        fields.tell(rules.NOT_FINITE, f"inertia of {fields.title} is not finite", "inertia")
        return frozen(np.zeros((3, 3)))
    inertia = np.array(numbers).reshape(3, 3)
    if np.abs(inertia - inertia.T).max() > 1e-6 * np.abs(inertia).max():
        fields.tell(rules.ASYMMETRIC, f"inertia of {fields.title} is not symmetric", "inertia")
    return frozen(inertia)
