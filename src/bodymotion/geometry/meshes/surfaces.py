"""Shapes as few parts for drawing: one list of triangles, lines or points for each surface, in the frame of the shapes.

Colours are sRGB, as in VRML97; texture coordinates count from the lower left of the image.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.shapes import Lines, Material, Points, Shape

__all__ = ["LINES", "POINTS", "TRIANGLES", "Part", "Surface", "surface_parts"]

POINTS, LINES, TRIANGLES = 0, 1, 4
"""The modes of glTF."""
MAX_NUMBERED = 1 << 24
"""Vertices are numbered up to the largest exact whole number of single precision."""


class Surface(NamedTuple):
    """How a part is drawn; `channels` of its own colours: 0, 3 or 4."""

    mode: int
    material: Material
    textured: bool
    two_sided: bool
    channels: int

    @property
    def key(self) -> tuple[object, ...]:
        """The properties that shapes of one part have in common."""
        material = self.material
        appearance = (material.diffuse, material.emissive, material.shininess, material.transparency)
        texture = material.texture
        image = (str(texture.path), texture.repeat_s, texture.repeat_t) if self.textured and texture else None
        return (self.mode, self.two_sided, self.channels, appearance, image)


Singles: TypeAlias = npt.NDArray[np.float32]


@dataclass
class Part:
    """A part that is drawn at once: arrays to concatenate; `indices` count through all of them.

    `positions` and `normals` (N, 3), `colors` (N, channels), `uv` (N, 2), `vertices` (N,) the number of the mesh's vertex.
    """

    surface: Surface
    positions: list[Singles] = field(default_factory=list)
    normals: list[Singles] = field(default_factory=list)
    colors: list[Singles] = field(default_factory=list)
    uv: list[Singles] = field(default_factory=list)
    vertices: list[Singles] = field(default_factory=list)
    indices: list[npt.NDArray[np.uint32]] = field(default_factory=list)
    count: int = 0


_Parts: TypeAlias = dict[tuple[object, ...], Part]


def surface_parts(shapes: Iterable[Shape], paint: Material | None = None, *, whole: bool = False) -> list[Part]:
    """Return the parts of shapes; none where nothing is visible.

    `paint` replaces the materials of the shapes. `whole` keeps texture coordinates without a texture, and the numbers of vertices.
    """
    parts: _Parts = {}
    for shape in shapes:
        if isinstance(shape.geometry, (Lines, Points)):
            _add_lines(parts, shape, paint)
        else:
            _add_triangles(parts, shape, paint, whole)
    return list(parts.values())


def _add_triangles(parts: _Parts, shape: Shape, paint: Material | None, whole: bool) -> None:
    mesh = shape.to_mesh()
    buffers = mesh.corners_split
    if not len(buffers.triangles):
        return
    material = paint or shape.material
    colors = buffers.colors if paint is None and material.texture is None else None
    uv = buffers.uv if whole or material.texture is not None else None
    channels = 0 if colors is None else colors.shape[1]
    textured = uv is not None and material.texture is not None
    surface = Surface(TRIANGLES, material, textured, mesh.two_sided, channels)
    part = parts.setdefault(surface.key, Part(surface))
    part.positions.append(buffers.positions)
    part.normals.append(buffers.normals)
    if colors is not None:
        part.colors.append(colors)
    if uv is not None:
        matrix = material.texture.transform if material.texture is not None else np.eye(3)
        part.uv.append((np.c_[uv, np.ones(len(uv), dtype=np.float32)] @ matrix.T)[:, :2].astype(np.float32))
    if whole and buffers.vertices is not None and len(mesh.vertices) < MAX_NUMBERED:
        part.vertices.append(buffers.vertices.astype(np.float32))
    part.indices.append(buffers.triangles.astype(np.uint32).ravel() + np.uint32(part.count))
    part.count += len(buffers.positions)


def _add_lines(parts: _Parts, shape: Shape, paint: Material | None) -> None:
    geometry = shape.geometry
    assert isinstance(geometry, (Lines, Points))
    positions = (geometry.vertices @ shape.transform[:3, :3].T + shape.transform[:3, 3]).astype(np.float32)
    if isinstance(geometry, Lines):
        mode, indices = LINES, geometry.segments.ravel().astype(np.uint32)
    else:
        mode, indices = POINTS, np.arange(len(positions), dtype=np.uint32)
    if not len(indices) or not np.isfinite(positions).all():
        return
    material = paint or shape.material
    colors = geometry.colors if paint is None else None
    surface = Surface(mode, material, False, True, 0 if colors is None else 3)
    part = parts.setdefault(surface.key, Part(surface))
    part.positions.append(positions)
    if colors is not None:
        part.colors.append(np.asarray(colors[:, :3], dtype=np.float32))
    part.indices.append(indices + np.uint32(part.count))
    part.count += len(positions)
