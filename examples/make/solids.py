"""Solids that the robot is built of: what VRML text they are, and how much they weigh.

A solid stands in its own frame with the axes of VRML97: cylinders and limbs along y. Shells stand as they are given. Mass, centre
and inertia come from the volume, so that every link of the robot is a body that could exist.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
ROUND = 28
"""Corners of the cross-section of a shell or limb."""


def number(value: float, digits: int = 4) -> str:
    """Write a number with so many decimals at most."""
    text = f"{value:.{digits}f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def numbers(values: npt.ArrayLike, digits: int = 4) -> str:
    """Write numbers with spaces between."""
    return " ".join(number(value, digits) for value in np.ravel(values))


@dataclass(frozen=True)
class MassProperties:
    """`mass` [kg], `center` (3,) [m] and `inertia` (3, 3) [kg m²] about the centre."""

    mass: float
    center: Array
    inertia: Array

    def placed(self, turn: Array, position: Array) -> MassProperties:
        """Return the same, turned by the matrix `turn` (3, 3), then moved to `position` (3,)."""
        return MassProperties(
            self.mass, turn @ self.center + position, turn @ self.inertia @ turn.T
        )


def joined(parts: Sequence[MassProperties]) -> MassProperties:
    """Put rigid parts together: the inertia tensors are moved to the common centre (Huygens-Steiner)."""
    mass = sum(part.mass for part in parts)
    center = sum((part.mass * part.center for part in parts), np.zeros(3)) / mass
    inertia = np.zeros((3, 3))
    for part in parts:
        arm = part.center - center
        inertia += part.inertia + part.mass * (
            arm @ arm * np.eye(3) - np.outer(arm, arm)
        )
    return MassProperties(mass, center, inertia)


@dataclass(frozen=True)
class Box:
    """A box with edges of `size` (x, y, z)."""

    size: tuple[float, float, float]

    def vrml(self) -> str:
        """Return the geometry node."""
        return f"Box {{ size {numbers(self.size)} }}"

    def mass_properties(self, density: float) -> MassProperties:
        """Return them for a density [kg/m³]."""
        x, y, z = self.size
        mass = density * x * y * z
        return MassProperties(
            mass,
            np.zeros(3),
            mass / 12 * np.diag([y * y + z * z, x * x + z * z, x * x + y * y]),
        )


@dataclass(frozen=True)
class Sphere:
    """A ball."""

    radius: float

    def vrml(self) -> str:
        """Return the geometry node."""
        return f"Sphere {{ radius {number(self.radius)} }}"

    def mass_properties(self, density: float) -> MassProperties:
        """Return them for a density [kg/m³]."""
        mass = density * 4 / 3 * np.pi * self.radius**3
        return MassProperties(
            mass, np.zeros(3), 0.4 * mass * self.radius**2 * np.eye(3)
        )


@dataclass(frozen=True)
class Cylinder:
    """A cylinder along y."""

    radius: float
    height: float

    def vrml(self) -> str:
        """Return the geometry node."""
        return (
            f"Cylinder {{ radius {number(self.radius)} height {number(self.height)} }}"
        )

    def mass_properties(self, density: float) -> MassProperties:
        """Return them for a density [kg/m³]."""
        r, h = self.radius, self.height
        mass = density * np.pi * r * r * h
        across = mass * (3 * r * r + h * h) / 12
        return MassProperties(
            mass, np.zeros(3), np.diag([across, mass * r * r / 2, across])
        )


@dataclass(frozen=True)
class Station:
    """A cross-section at height `at`: half widths `a` and `b` along the first and second axis, its middle, its `power`.

    The outline is the superellipse |u/a|^power + |v/b|^power = 1: 2 is an ellipse, large powers near a rectangle.
    """

    at: float
    a: float
    b: float
    middle: tuple[float, float] = (0.0, 0.0)
    power: float = 2.5


def outline(power: float) -> Array:
    """Return the corners (ROUND, 2) of a superellipse of half width 1, counterclockwise, closest where it bends most."""
    angle = 2 * np.pi * np.arange(ROUND) / ROUND
    direction = np.round(np.stack([np.cos(angle), np.sin(angle)], axis=-1), 15)
    return np.asarray(np.sign(direction) * np.abs(direction) ** (2 / power))


def rounded_stations(
    stations: Sequence[Station], first: float, last: float, steps: int = 4
) -> list[Station]:
    """Draw a smooth hull through cross-sections and round its two ends with radii `first` and `last`.

    Between the given heights the widths follow cubics with the slopes of their neighbours (Catmull and Rom, 1974).
    """
    at = np.array([s.at for s in stations])
    values = np.array([[s.a, s.b, *s.middle, s.power] for s in stations])
    slopes = np.gradient(values, at, axis=0)
    quarter = np.sin(0.5 * np.pi * np.arange(steps + 1) / steps)
    low = at[0] + first * (1 - quarter[::-1])
    high = at[-1] - last * (1 - quarter)
    inner = np.linspace(
        low[-1], high[0], max(2, round((high[0] - low[-1]) / 0.028) + 1)
    )
    result = []
    for height in np.concatenate([low, inner[1:-1], high]):
        k = int(np.clip(np.searchsorted(at, height) - 1, 0, len(at) - 2))
        span = at[k + 1] - at[k]
        t = (height - at[k]) / span
        a, b, u, v, power = (
            values[k] * (2 * t**3 - 3 * t**2 + 1)
            + values[k + 1] * (3 * t**2 - 2 * t**3)
            + span * (slopes[k] * (t**3 - 2 * t**2 + t) + slopes[k + 1] * (t**3 - t**2))
        )
        lost = _lost(height - at[0], first) + _lost(at[-1] - height, last)
        result.append(
            Station(
                float(height),
                float(a - lost),
                float(b - lost),
                (float(u), float(v)),
                float(power),
            )
        )
    return result


def _lost(depth: float, radius: float) -> float:
    """How much a rounded edge of `radius` takes off the half width, `depth` below its end."""
    if depth >= radius:
        return 0.0
    return radius - float(np.sqrt(max(0.0, radius**2 - (radius - depth) ** 2)))


def _hull(rings: Array) -> tuple[Array, list[list[int]]]:
    """Join rings (R, ROUND, 3), counterclockwise seen from above, to a closed hull: points and faces."""
    faces = []
    for ring in range(len(rings) - 1):
        for k in range(ROUND):
            low, high = ring * ROUND, (ring + 1) * ROUND
            after = (k + 1) % ROUND
            faces.append([low + k, low + after, high + after, high + k])
    faces.append(list(range(ROUND))[::-1])
    faces.append(list(range((len(rings) - 1) * ROUND, len(rings) * ROUND)))
    return rings.reshape(-1, 3), faces


def hull_mass(points: Array, faces: list[list[int]], density: float) -> MassProperties:
    """Weigh a closed hull: the sum over the tetrahedra between the origin and its triangles."""
    triangles = np.array(
        [
            [face[0], face[k], face[k + 1]]
            for face in faces
            for k in range(1, len(face) - 1)
        ]
    )
    a, b, c = (points[triangles[:, k]] for k in range(3))
    volumes = np.einsum("ni,ni->n", a, np.cross(b, c)) / 6
    total = a + b + c
    mass = density * volumes.sum()
    center = np.einsum("n,ni->i", volumes, total) / 4 / volumes.sum()
    second = (
        sum(np.einsum("n,ni,nj->ij", volumes, v, v) for v in (a, b, c, total))
        * density
        / 20
    )
    second = second - mass * np.outer(center, center)
    return MassProperties(float(mass), center, np.trace(second) * np.eye(3) - second)


@dataclass(frozen=True)
class Shell:
    """A rounded hull through cross-sections along z (axes x and y): an IndexedFaceSet."""

    stations: tuple[Station, ...]
    first: float
    last: float

    def hull(self) -> tuple[Array, list[list[int]]]:
        """Return its points (N, 3) and faces."""
        rings = [
            np.column_stack(
                [outline(s.power) * [s.a, s.b] + s.middle, np.full(ROUND, s.at)]
            )
            for s in rounded_stations(self.stations, self.first, self.last)
        ]
        return _hull(np.round(np.array(rings), 4))

    def vrml(self) -> str:
        """Return the geometry node."""
        points, faces = self.hull()
        point = ", ".join(numbers(p) for p in points)
        index = " ".join(" ".join(map(str, face)) + " -1" for face in faces)
        return f"IndexedFaceSet {{ creaseAngle 0.9 coord Coordinate {{ point [ {point} ] }} coordIndex [ {index} ] }}"

    def mass_properties(self, density: float) -> MassProperties:
        """Return them for a density [kg/m³]."""
        return hull_mass(*self.hull(), density)


@dataclass(frozen=True)
class Limb:
    """A rounded hull along a straight line, y, with the same outline all along (axes x and z): an Extrusion."""

    stations: tuple[Station, ...]
    first: float
    last: float

    def vrml(self) -> str:
        """Return the geometry node."""
        ring = outline(self.stations[0].power) * [1, -1]
        section = ", ".join(numbers(p) for p in np.vstack([ring, ring[:1]]))
        stations = rounded_stations(self.stations, self.first, self.last)
        spine = ", ".join(f"0 {number(s.at)} 0" for s in stations)
        scale = ", ".join(numbers([s.a, s.b]) for s in stations)
        return f"Extrusion {{ creaseAngle 0.9 crossSection [ {section} ] spine [ {spine} ] scale [ {scale} ] }}"

    def hull(self) -> tuple[Array, list[list[int]]]:
        """Return its points (N, 3) and faces."""
        stations = rounded_stations(self.stations, self.first, self.last)
        ring = outline(self.stations[0].power) * [1, -1]
        rings = [
            np.column_stack([ring[:, 0] * s.a, np.full(ROUND, s.at), ring[:, 1] * s.b])
            for s in stations
        ]
        return _hull(np.array(rings))

    def mass_properties(self, density: float) -> MassProperties:
        """Return them for a density [kg/m³]."""
        return hull_mass(*self.hull(), density)


Solid = Box | Sphere | Cylinder | Shell | Limb


def limb(
    *stations: tuple[float, float, float], power: float = 2.5, ends: tuple[float, float]
) -> Limb:
    """Make a limb of (at, a, b)."""
    return Limb(tuple(Station(at, a, b, power=power) for at, a, b in stations), *ends)


def shell(
    *stations: tuple[float, float, float, float],
    power: float = 2.5,
    ends: tuple[float, float],
) -> Shell:
    """Make a shell of (at, a, b, middle along x)."""
    return Shell(
        tuple(Station(at, a, b, (x, 0.0), power) for at, a, b, x in stations), *ends
    )
