"""Shapes of links.

Primitives and meshes, their material, and their transform into the link's frame.

Primitives are those of VRML97 with its axes: the axis of a cylinder, cone or capsule is
y, its centre the origin. `Shape.to_mesh` turns any of them into triangles in the link's
frame.

A mesh has one list of vertices. Normals, colours and texture coordinates are `Corners`:
a list of distinct values and, for each corner of each triangle, an index into it. So a
colour per face, a colour per vertex and normals split along sharp edges have one form,
and `Mesh.corners_split` converts it to buffers with one normal per vertex, as graphics
cards need them.

Bounds, meshes and transformed shapes are computed by `bodymotion.geometry.meshes`,
which
provides some methods here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import ShortRepr
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import (
    ContentEquality,
    Floats,
    Ints,
    frozen,
    frozen_ints,
    unit,
)
from bodymotion.system.deferred import provided_by

# Models with more shapes are rejected. Each is processed by itself wherever a body is
# drawn, checked or written.
MAX_SHAPES = 20_000

# Formats of the images of textures, as Pillow calls them.
IMAGE_FORMATS = (
    "PNG",
    "JPEG",
    "GIF",
    "BMP",
    "TIFF",
    "WEBP",
    "TGA",
    "SGI",
    "DDS",
    "PPM",
)


@dataclass(frozen=True)
class Box(ShortRepr):
    """A box with edges of `size` (x, y, z) metres, centred on the origin."""

    size: tuple[float, float, float]


@dataclass(frozen=True)
class Sphere(ShortRepr):
    """A ball, centred on the origin."""

    radius: float


@dataclass(frozen=True)
class Cylinder(ShortRepr):
    """A cylinder along y, `height` metres tall, centred on the origin.

    Any of its parts may be absent.
    """

    radius: float
    height: float
    side: bool = True
    top: bool = True
    bottom: bool = True


@dataclass(frozen=True)
class Cone(ShortRepr):
    """A cone along y: its tip at +height/2, the base of `radius` at −height/2."""

    radius: float
    height: float
    side: bool = True
    bottom: bool = True


@dataclass(frozen=True)
class Capsule(ShortRepr):
    """A cylinder along y of `height` between the centres of its two half balls."""

    radius: float
    height: float


@dataclass(frozen=True, eq=False)
class Corners(ContentEquality):
    """A property of the corners of triangles.

    `values` (N, K), `indices` (F, 3) into them.
    """

    values: Floats
    indices: Ints

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", frozen(self.values))
        object.__setattr__(self, "indices", frozen_ints(self.indices))

    def reversed(self) -> Corners:
        """Return the property for faces whose corners are in the opposite order."""
        return Corners(self.values, self.indices[:, ::-1])


@dataclass(frozen=True, eq=False)
class TriangleBuffers(ShortRepr):
    """Triangles for graphics cards.

    Each vertex has one normal, one colour and one texture coordinate.

    `positions` (N, 3), `normals` (N, 3) unit, `triangles` (M, 3) into them; `colors`
    (N, 3 or 4) in 0…1 and `uv` (N, 2) or None;
    `vertices` (N,): the index of the mesh's vertex.
    """

    positions: npt.NDArray[np.float32]
    normals: npt.NDArray[np.float32]
    triangles: Ints
    colors: npt.NDArray[np.float32] | None = None
    uv: npt.NDArray[np.float32] | None = None
    vertices: Ints | None = None


@dataclass(frozen=True, eq=False)
class Mesh(ContentEquality):
    """Triangles.

    Attributes
    ----------
    vertices:
        (V, 3) in metres.
    faces:
        (F, 3) indices of vertices, counter-clockwise seen from outside.
    crease_angle:
        [rad] Without `normals`: faces that meet at a smaller angle share a smooth
        normal.
    normals, colors, texture_coordinates:
        Of the corners of the faces, or None. Colours are RGB or RGBA in 0…1.
    two_sided:
        Whether the back of a face is visible, too (VRML's `solid FALSE`).
    """

    vertices: Floats
    faces: Ints
    crease_angle: float = 0.0
    normals: Corners | None = None
    colors: Corners | None = None
    texture_coordinates: Corners | None = None
    two_sided: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "vertices", frozen(self.vertices, (None, 3), "vertices")
        )
        object.__setattr__(
            self, "faces", frozen_ints(self.faces, "faces").reshape(-1, 3)
        )

    @cached_property
    def face_normals(self) -> Floats:
        """Unit normals (F, 3); zero for triangles without area."""
        corner = self.vertices[self.faces]
        with np.errstate(all="ignore"):
            return frozen(
                unit(np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]))
            )

    @cached_property
    @provided_by("bodymotion.geometry.meshes:split_corners")
    def corners_split(self) -> TriangleBuffers:
        """The triangles as buffers for drawing.

        Vertices are split wherever their corners differ.
        """
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Lines(ContentEquality):
    """Polylines: `vertices` (V, 3) and `segments` (S, 2) of their indices.

    `colors` (V, 3) in 0…1 or None.
    """

    vertices: Floats
    segments: Ints
    colors: Floats | None = None

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "vertices", frozen(self.vertices, (None, 3), "vertices")
        )
        object.__setattr__(
            self, "segments", frozen_ints(self.segments, "segments").reshape(-1, 2)
        )


@dataclass(frozen=True, eq=False)
class Points(ContentEquality, vertices=(None, 3)):
    """Separate points: `vertices` (V, 3).

    `colors` (V, 3) in 0…1 or None.
    """

    vertices: Floats
    colors: Floats | None = None


Geometry: TypeAlias = Box | Sphere | Cylinder | Cone | Capsule | Mesh | Lines | Points


@dataclass(frozen=True, eq=False)
class Texture(ContentEquality):
    """An image on a surface.

    `path` of the file, whether it repeats, and `transform` (3, 3) of texture
    coordinates.
    """

    path: Path = field(compare=False)
    url: str
    repeat_s: bool = True
    repeat_t: bool = True
    transform: Floats = field(default_factory=lambda: frozen(np.eye(3)))


@dataclass(frozen=True, eq=False)
class Material(ContentEquality):
    """The material of a surface as in VRML97: all values in 0…1, colours are RGB."""

    diffuse: tuple[float, float, float] = (0.8, 0.8, 0.8)
    ambient_intensity: float = 0.2
    specular: tuple[float, float, float] = (0.0, 0.0, 0.0)
    emissive: tuple[float, float, float] = (0.0, 0.0, 0.0)
    shininess: float = 0.2
    transparency: float = 0.0
    texture: Texture | None = None


@dataclass(frozen=True, eq=False)
class Shape(ContentEquality, transform=(4, 4)):
    """A geometry with its place in a link, and its material.

    `transform` (4, 4) is affine and leads into the frame of the link.
    """

    geometry: Geometry
    transform: Floats = field(default_factory=lambda: frozen(np.eye(4)))
    material: Material = field(default_factory=Material)
    name: str = ""

    def _summary(self) -> str:
        if self.name:
            name = f"{self.name!r}: "
        else:
            name = ""
        x, y, z = self.transform[:3, 3]
        return f"Shape({name}{self.geometry!r} at {x:.4g} {y:.4g} {z:.4g} m)"

    def moved(self, transform: npt.ArrayLike) -> Shape:
        """Return the shape with `transform` (4, 4) applied after its own."""
        return Shape(
            self.geometry,
            np.asarray(transform) @ self.transform,
            self.material,
            self.name,
        )

    @provided_by("bodymotion.geometry.meshes:mesh_of_shape")
    def to_mesh(self) -> Mesh:
        """Return the triangles in the frame of the link.

        Lines and points have none.
        """
        raise NotImplementedError

    @cached_property
    @provided_by("bodymotion.geometry.meshes:bounds_of_shape")
    def bounds(self) -> Floats | None:
        """Lowest and highest corner (2, 3) of the box around the shape.

        The box is axis-aligned; None where the shape is empty.
        """
        raise NotImplementedError


def shape_along(
    geometry: Geometry, center: Floats, direction: Floats, material: Material
) -> Shape:
    """Return a shape at `center` (3,) whose axis y is along a `direction` (3,)."""
    axis = np.asarray(direction) / max(float(np.linalg.norm(direction)), 1e-12)
    across = np.cross([0.0, 1.0, 0.0], axis)
    if np.linalg.norm(across) > 1e-9:
        about = across
    else:
        about = np.array([1.0, 0.0, 0.0])
    transform = np.eye(4)
    transform[:3, :3] = rotations.to_matrix(
        rotations.from_axis_angle(about, np.arccos(np.clip(axis[1], -1.0, 1.0)))
    )
    transform[:3, 3] = center
    return Shape(geometry, transform, material)
