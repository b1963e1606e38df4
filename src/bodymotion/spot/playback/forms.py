"""The forms that our picture of Spot is made of: rounded shells drawn through cross-sections, tubes, balls, and looks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.shapes import Capsule, Cylinder, Material, Mesh, Shape, Sphere

__all__ = ["DARK", "GREY", "RUBBER", "STEEL", "YELLOW", "Section", "ball", "disc", "shell", "tube"]

YELLOW = Material(diffuse=(0.96, 0.68, 0.05), specular=(0.25, 0.25, 0.25), shininess=0.4)
DARK = Material(diffuse=(0.10, 0.105, 0.115), specular=(0.3, 0.3, 0.3), shininess=0.35)
GREY = Material(diffuse=(0.30, 0.31, 0.33), specular=(0.3, 0.3, 0.3), shininess=0.35)
STEEL = Material(diffuse=(0.55, 0.56, 0.58), specular=(0.5, 0.5, 0.5), shininess=0.6)
RUBBER = Material(diffuse=(0.06, 0.06, 0.065), shininess=0.05)

Section: TypeAlias = tuple[float, float, float, float, float]
"""Of a shell: where it is along the axis, centre and half width across (u), centre and half width across (v)."""

AROUND = 40


def shell(
    axis: str, sections: Sequence[Section], material: Material, squareness: float = 4.0, crease: float = 0.7
) -> Shape:
    """Return a closed surface through cross-sections along `axis` ("x" or "z"), rounded the less the larger `squareness` is (2: an ellipse).

    Across an axis x, u is y and v is z; across z, u is x and v is y.
    """
    angle = np.arange(AROUND) * 2 * np.pi / AROUND
    power = 2.0 / squareness
    c, s = np.cos(angle), np.sin(angle)
    u_unit, v_unit = np.sign(c) * np.abs(c) ** power, np.sign(s) * np.abs(s) ** power
    rings = [(at, u + half_u * u_unit, v + half_v * v_unit) for at, u, half_u, v, half_v in sections]
    order = [0, 1, 2] if axis == "x" else [2, 0, 1]
    points = []
    for at, u, v in rings:
        ring = np.empty((AROUND, 3))
        for column, values in zip(order, (np.full(AROUND, at), u, v), strict=True):
            ring[:, column] = values
        points.append(ring)
    ends = [points[0].mean(axis=0, keepdims=True), points[-1].mean(axis=0, keepdims=True)]
    vertices = np.concatenate([*points, *ends])
    around = np.arange(AROUND)
    beside = (around + 1) % AROUND
    faces = []
    for k in range(len(rings) - 1):
        low, high = k * AROUND, (k + 1) * AROUND
        faces += [
            np.stack([low + around, low + beside, high + beside], axis=-1),
            np.stack([low + around, high + beside, high + around], axis=-1),
        ]
    first, last = len(vertices) - 2, len(vertices) - 1
    top = (len(rings) - 1) * AROUND
    faces.append(np.stack([np.full(AROUND, first), beside, around], axis=-1))
    faces.append(np.stack([np.full(AROUND, last), top + around, top + beside], axis=-1))
    triangles = np.concatenate(faces).astype(np.int32)
    if sections[-1][0] < sections[0][0]:
        triangles = triangles[:, ::-1]
    return Shape(Mesh(vertices, triangles, crease_angle=crease), material=material)


def tube(
    start: npt.ArrayLike, end: npt.ArrayLike, radius: float, material: Material, *, round_ends: bool = True
) -> Shape:
    """Return a tube from one point (3,) to another."""
    a, b = np.asarray(start, dtype=np.float64), np.asarray(end, dtype=np.float64)
    length = float(np.linalg.norm(b - a))
    form = Capsule(radius, length) if round_ends else Cylinder(radius, length)
    return Shape(form, _along((a + b) / 2, b - a), material)


def disc(center: npt.ArrayLike, direction: npt.ArrayLike, radius: float, thickness: float, material: Material) -> Shape:
    """Return a flat cylinder whose axis has a direction (3,)."""
    return Shape(
        Cylinder(radius, thickness), _along(np.asarray(center), np.asarray(direction, dtype=np.float64)), material
    )


def ball(center: npt.ArrayLike, radius: float, material: Material) -> Shape:
    """Return a ball."""
    transform = np.eye(4)
    transform[:3, 3] = center
    return Shape(Sphere(radius), transform, material)


def _along(center: Floats, direction: Floats) -> Floats:
    """Return the transform (4, 4) that takes the y axis, along which cylinders stand, to a direction."""
    unit = direction / np.linalg.norm(direction)
    y = np.array([0.0, 1.0, 0.0])
    axis = np.cross(y, unit)
    if np.linalg.norm(axis) < 1e-12:
        axis = np.array([1.0, 0.0, 0.0])
    angle = float(np.arctan2(np.linalg.norm(np.cross(y, unit)), y @ unit))
    transform = np.eye(4)
    transform[:3, :3] = rotations.to_matrix(rotations.from_axis_angle(axis, angle))
    transform[:3, 3] = center
    return transform
