"""The shapes before a camera as arrays for the kernels: triangles and their materials."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bodymotion.formats.meshes.glb import IMAGES
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.meshes import corner_normals
from bodymotion.geometry.shapes import Corners, Lines, Material, Points, Shape
from bodymotion.system.memory import check_memory

if TYPE_CHECKING:
    from bodymotion.geometry.shapes import Mesh
    from bodymotion.kernels.rasters import Looks, Solids

MAX_TRANSPARENCY = 0.5
"""Shapes that are more transparent are invisible; all others are opaque."""
MAX_TEXTURE_PIXELS = 16_000_000
"""Larger images are not used as textures."""
PLAIN, PAINTED, TEXTURED = 0, 1, 2
LOOKS = 3 * (3 + 3) * 4
"""Bytes that a face takes in `Looks`."""


class Seen:
    """Shapes before a camera, each fixed in one of some frames; `solids` alone is enough for depths."""

    def __init__(self, shapes: Iterable[tuple[Shape, int]]) -> None:
        from bodymotion.kernels.rasters import Solids

        self._shapes: list[tuple[Mesh, Material]] = []
        frames, spheres = [], []
        for shape, frame in shapes:
            if isinstance(shape.geometry, (Lines, Points)) or shape.material.transparency > MAX_TRANSPARENCY:
                continue
            mesh = shape.to_mesh()
            used = mesh.vertices[mesh.faces]
            if not len(used) or not np.isfinite(mesh.vertices).all():
                continue
            middle = 0.5 * (mesh.vertices.min(axis=0) + mesh.vertices.max(axis=0))
            with np.errstate(over="ignore"):
                radius = float(np.linalg.norm(mesh.vertices - middle, axis=1).max())
            self._shapes.append((mesh, shape.material))
            frames.append(frame)
            spheres.append([*middle, radius])
        meshes = [mesh for mesh, _ in self._shapes]
        vertex_edges = _edges([len(mesh.vertices) for mesh in meshes])
        self.solids: Solids = Solids(
            vertices=np.concatenate([np.zeros((0, 3)), *(mesh.vertices for mesh in meshes)]),
            faces=np.concatenate(
                [
                    np.zeros((0, 3), dtype=np.int32),
                    *(mesh.faces + start for mesh, start in zip(meshes, vertex_edges[:-1], strict=True)),
                ]
            ),
            vertex_edges=vertex_edges,
            face_edges=_edges([len(mesh.faces) for mesh in meshes]),
            frames=np.array(frames, dtype=np.int32),
            spheres=np.array(spheres, dtype=np.float64).reshape(-1, 4),
            two_sided=np.array([mesh.two_sided for mesh in meshes], dtype=np.bool_),
        )
        self._looks: Looks | None = None

    @property
    def looks(self) -> Looks:
        """Normals, colours and textures of the solids, computed when they are first read."""
        if self._looks is None:
            self._looks = _looks(self._shapes)
        return self._looks


def _looks(shapes: Sequence[tuple[Mesh, Material]]) -> Looks:
    from bodymotion.kernels.rasters import Looks

    count = sum(len(mesh.faces) for mesh, _ in shapes)
    check_memory(count * LOOKS, f"materials of {count} triangles")
    normals = np.empty((count, 3, 3), dtype=np.float32)
    paints = np.zeros((count, 3, 3), dtype=np.float32)
    kinds, materials, images, tinted = [], [], [], []
    pictures: dict[Path, tuple[int, npt.NDArray[np.uint8], bool] | None] = {}
    start = 0
    for mesh, material in shapes:
        faces = slice(start, start + len(mesh.faces))
        start = faces.stop
        normals[faces] = corner_normals(mesh)
        texture, places = material.texture, mesh.texture_coordinates
        picture = None
        if texture is not None and places is not None:
            if texture.path not in pictures:
                first = sum(one[1].size // 3 for one in pictures.values() if one is not None)
                pictures[texture.path] = _picture(texture.path, first)
            picture = pictures[texture.path]
        kind = PLAIN
        if texture is not None and places is not None and picture is not None:
            kind = TEXTURED
            flat = np.c_[_first(places, 2), np.ones(len(places.values))] @ texture.transform.T
            paints[faces, :, :2] = _at_corners(flat[:, :2], places)
        elif mesh.colors is not None:
            kind = PAINTED
            paints[faces] = _at_corners(np.clip(_first(mesh.colors, 3), 0.0, 1.0), mesh.colors)
        kinds.append(kind)
        parts = (material.diffuse, material.specular, material.emissive)
        row = [*parts[0], *parts[1], *parts[2], material.ambient_intensity, material.shininess]
        materials.append(np.clip(np.nan_to_num(row), 0.0, 1.0))
        if kind == TEXTURED and texture is not None and picture is not None:
            high, wide = picture[1].shape[:2]
            images.append([picture[0], wide, high, texture.repeat_s, texture.repeat_t])
            tinted.append(picture[2])
        else:
            images.append([0, 1, 1, 0, 0])
            tinted.append(False)
    loaded = [one[1].reshape(-1, 3) for one in pictures.values() if one is not None]
    return Looks(
        normals=normals,
        paints=paints,
        kinds=np.array(kinds, dtype=np.int32),
        materials=np.array(materials, dtype=np.float64).reshape(-1, 11),
        textures=np.concatenate([np.zeros((1, 3), dtype=np.uint8), *loaded])[1 if loaded else 0 :],
        images=np.array(images, dtype=np.int64).reshape(-1, 5),
        tinted=np.array(tinted, dtype=np.bool_),
    )


def _edges(counts: Sequence[int]) -> npt.NDArray[np.int32]:
    total = np.cumsum([0, *counts])
    if total[-1] > np.iinfo(np.int32).max:
        raise MemoryError(f"{total[-1]} vertices or triangles before a camera; the limit is 2³¹ − 1")
    return total.astype(np.int32)


def _first(corners: Corners, columns: int) -> Floats:
    return np.nan_to_num(np.asarray(corners.values, dtype=np.float64))[:, :columns]


def _at_corners(values: Floats, corners: Corners) -> npt.NDArray[np.float32]:
    return np.asarray(values[corners.indices], dtype=np.float32)


def _picture(path: Path, first: int) -> tuple[int, npt.NDArray[np.uint8], bool] | None:
    """Return the number of an image's first pixel, its pixels (H, W, 3) from the top and whether it is grey; None for invalid images."""
    from PIL import Image

    try:
        with Image.open(path, formats=IMAGES) as opened:
            if opened.width * opened.height > MAX_TEXTURE_PIXELS:
                return None
            grey = opened.mode in ("1", "L", "LA", "I", "I;16", "F")
            return first, np.asarray(opened.convert("RGB")), grey
    except Exception:  # Pillow raises various errors for invalid images; the surface is drawn without
        return None
