"""What a robot is made of before it is text: parts, sensors, links, loops."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from .solids import Array, MassProperties, Solid, joined

Vector = tuple[float, float, float]

ALONG: dict[str, tuple[Vector, float]] = {
    "": ((0.0, 0.0, 1.0), 0.0),
    "x": ((0.0, 0.0, 1.0), -0.5 * np.pi),
    "z": ((1.0, 0.0, 0.0), 0.5 * np.pi),
}
"""The turns that lay the y axis of a solid along another axis."""


def turn_matrix(axis: Vector, angle: float) -> Array:
    """Return the rotation matrix of a turn about `axis` (Rodrigues)."""
    x, y, z = np.asarray(axis) / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray(
        np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
    )


@dataclass(frozen=True)
class Part:
    """A solid of one `look` and `density` [kg/m³] in a link: its y axis lies along `along`, then it is moved to `at`."""

    solid: Solid
    look: str
    density: float
    at: Vector = (0.0, 0.0, 0.0)
    along: str = ""
    turn: tuple[Vector, float] | None = None

    @property
    def rotation(self) -> tuple[Vector, float]:
        """Axis and angle."""
        return self.turn if self.turn is not None else ALONG[self.along]

    def mass_properties(self) -> MassProperties:
        """Return them in the link's frame."""
        return self.solid.mass_properties(self.density).placed(
            turn_matrix(*self.rotation), np.array(self.at)
        )


@dataclass(frozen=True)
class Sensor:
    """A sensor node: its DEF `name`, its `type` and its `fields`, as VRML text."""

    name: str
    type: str
    fields: dict[str, str]


@dataclass
class Link:
    """A joint with what it carries. Angles in degrees; `gear` is ratio and rotor inertia [kg m²]."""

    name: str
    axis: Vector | None
    at: Vector
    limits: tuple[float, float] = (0.0, 0.0)
    speed: float = 0.0
    gear: tuple[float, float] = (1.0, 0.0)
    parts: list[Part] = field(default_factory=list)
    pack: tuple[str, Vector, list[Part]] | None = None
    sensors: list[Sensor] = field(default_factory=list)
    children: list[Link] = field(default_factory=list)
    id: int = -1

    def walk(self) -> Iterator[Link]:
        """Return the link and all below it, depth first."""
        yield self
        for child in self.children:
            yield from child.walk()

    @property
    def segment_names(self) -> list[str]:
        """The names of its segments."""
        return [f"{self.name}_LINK"] + ([self.pack[0]] if self.pack else [])


@dataclass(frozen=True)
class Loop:
    """A closed loop: a point of one link stays with a point of another."""

    name: str
    links: tuple[str, str]
    points: tuple[Vector, Vector]


@dataclass(frozen=True)
class Robot:
    """The whole of it; `looks` are VRML Appearance bodies by name."""

    name: str
    info: tuple[str, ...]
    version: str
    looks: dict[str, str]
    root: Link
    loops: tuple[Loop, ...]
    viewpoints: tuple[tuple[str, Vector, Vector], ...]


def segment_mass(parts: list[Part]) -> MassProperties:
    """Weigh the parts of a segment together."""
    return joined([part.mass_properties() for part in parts])
