"""The shapes before a camera: triangles as arrays for the rasteriser, and the colours of what is visible."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bodymotion.formats.meshes.glb import IMAGES
from bodymotion.geometry.arrays import Floats, Ints
from bodymotion.geometry.meshes import corner_normals
from bodymotion.geometry.shapes import Corners, Lines, Material, Points, Shape
from bodymotion.system.memory import check_memory

if TYPE_CHECKING:
    from bodymotion.geometry.shapes import Mesh
    from bodymotion.kernels.rasters import Solids

MAX_TRANSPARENCY = 0.5
"""Shapes that are more transparent are invisible; all others are opaque."""
MAX_TEXTURE_PIXELS = 16_000_000
"""Larger images are not used as textures."""
HEADLIGHT, OVERHEAD, AMBIENT = 0.7, 0.4, 0.5
"""Intensities of the light along the camera's axis, of the one from straight above, and of the ambient light."""
BYTES_PER_FACE = 3 * (3 + 3) * 8
"""Of normals and paints."""


class VisibleShapes:
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

    @cached_property
    def _paints(self) -> list[_Paint]:
        count = len(self.solids.faces)
        check_memory(count * BYTES_PER_FACE, f"materials of {count} triangles")
        images: dict[Path, tuple[npt.NDArray[np.uint8], bool] | None] = {}
        return [_Paint(mesh, material, images) for mesh, material in self._shapes]

    def shade(
        self, first: int, placements: Floats, half: tuple[float, float], owners: Ints, colors: npt.NDArray[np.uint8]
    ) -> None:
        """Fill in `colors` (N, H, W, 3) the colours of the visible faces from number `first` on.

        `placements` (N, K, 3, 4) take points of each frame to the camera's coordinates; the last frame is the world, and the light from
        above comes along its z axis. `half`: half width and half height of the image at depth 1. `owners` (N, H, W): the visible faces.
        """
        solids = self.solids
        height, width = owners.shape[1:]
        for n, owner in enumerate(owners):
            rows, columns = np.nonzero((owner >= first) & (owner < first + len(solids.faces)))
            faces = owner[rows, columns] - first
            parts = np.searchsorted(solids.face_edges, faces, side="right") - 1
            u, v = half[0] * ((2.0 * columns + 1.0) / width - 1.0), half[1] * (1.0 - (2.0 * rows + 1.0) / height)
            rays = np.stack([u, v, np.ones_like(u)], axis=1)
            for part in np.unique(parts):
                here = parts == part
                matrix = placements[n, solids.frames[part]]
                corners = solids.vertices[solids.faces[faces[here]]] @ matrix[:, :3].T + matrix[:, 3]
                above = placements[n, -1, :, 2]
                own = faces[here] - solids.face_edges[part]
                found = self._paints[part].shaded(own, corners, rays[here], matrix, above)
                colors[n, rows[here], columns[here]] = np.floor(255.0 * np.clip(found, 0.0, 1.0) + 0.5)


class _Paint:
    """The material of one mesh: normals (F, 3, 3) and `paints` (F, 3, C) at the corners of its faces.

    Paints are colours, or coordinates in `image` (H, W, 3); None where the whole mesh has the diffuse colour.
    """

    def __init__(
        self, mesh: Mesh, material: Material, images: dict[Path, tuple[npt.NDArray[np.uint8], bool] | None]
    ) -> None:
        self.normals, self.two_sided = corner_normals(mesh), mesh.two_sided
        parts = (material.diffuse, material.specular, material.emissive)
        row = [*parts[0], *parts[1], *parts[2], material.ambient_intensity, material.shininess]
        self.numbers = np.clip(np.nan_to_num(row), 0.0, 1.0)
        self.paints: Floats | None = None
        self.image: npt.NDArray[np.uint8] | None = None
        texture, points = material.texture, mesh.texture_coordinates
        if texture is not None and points is not None:
            if texture.path not in images:
                images[texture.path] = _image(texture.path)
            found = images[texture.path]
            if found is not None:
                self.image, self.is_grey = found
                self.repeats = (texture.repeat_s, texture.repeat_t)
                flat = np.c_[_first(points, 2), np.ones(len(points.values))] @ texture.transform.T
                self.paints = flat[:, :2][points.indices]
        if self.image is None and mesh.colors is not None:
            self.paints = np.clip(_first(mesh.colors, 3), 0.0, 1.0)[mesh.colors.indices]

    def shaded(self, faces: Ints, corners: Floats, rays: Floats, matrix: Floats, above: Floats) -> Floats:
        """Return the colours (M, 3) where rays (M, 3) hit faces (M,) with corners (M, 3, 3), in the camera's coordinates.

        `matrix` (3, 4) takes points of the mesh there; `above` (3,) is the direction of the light from above.
        """
        shares = np.stack(
            [np.sum(np.cross(corners[:, k - 2], corners[:, k - 1]) * rays, axis=1) for k in range(3)], axis=1
        )
        total = shares.sum(axis=1, keepdims=True)
        shares = np.where(total != 0.0, np.clip(shares / np.where(total != 0.0, total, 1.0), 0.0, 1.0), 1.0 / 3.0)
        normals = np.einsum("mk,mkc->mc", shares, self.normals[faces]) @ matrix[:, :3].T
        diffuse = self._diffuse(faces, shares)
        length = np.linalg.norm(normals, axis=1, keepdims=True)
        away = np.sum(normals * rays, axis=1, keepdims=True)
        normals = np.where(self.two_sided & (away > 0.0), -normals, normals) / np.where(length > 0.0, length, np.inf)
        to_eye = rays / np.linalg.norm(rays, axis=1, keepdims=True)
        specular, emissive, ambient, shininess = self.numbers[3:6], self.numbers[6:9], *self.numbers[9:]
        bright, gloss = np.full((len(faces), 1), AMBIENT * ambient), np.zeros((len(faces), 1))
        for light, power in ((np.array([0.0, 0.0, -1.0]), HEADLIGHT), (above, OVERHEAD)):
            hit = (normals @ light)[:, None]
            middle = light - to_eye
            size = np.linalg.norm(middle, axis=1, keepdims=True)
            mirrored = np.sum(normals * middle, axis=1, keepdims=True) / np.where(size > 0.0, size, np.inf)
            bright += np.where(hit > 0.0, power * hit, 0.0)
            gloss += np.where((hit > 0.0) & (size > 0.0), power * np.maximum(mirrored, 0.0) ** (128.0 * shininess), 0.0)
        return np.asarray(emissive + bright * diffuse + gloss * specular)

    def _diffuse(self, faces: Ints, shares: Floats) -> Floats:
        own = self.numbers[:3]
        if self.paints is None:
            return own
        paint = np.einsum("mk,mkc->mc", shares, self.paints[faces])
        if self.image is None:
            return np.asarray(paint)
        high, wide = self.image.shape[:2]
        s, t = (np.where(again, one - np.floor(one), one) for one, again in zip(paint.T, self.repeats, strict=True))
        columns = np.clip(s * wide, 0.0, wide - 1.0).astype(np.intp)
        rows = np.clip((1.0 - t) * high, 0.0, high - 1.0).astype(np.intp)
        shown = self.image[rows, columns] / 255.0
        return np.asarray(shown * own if self.is_grey else shown)


def _edges(counts: Sequence[int]) -> npt.NDArray[np.int32]:
    total = np.cumsum([0, *counts])
    if total[-1] > np.iinfo(np.int32).max:
        raise MemoryError(f"{total[-1]} vertices or triangles before a camera; the limit is 2³¹ − 1")
    return total.astype(np.int32)


def _first(corners: Corners, columns: int) -> Floats:
    return np.nan_to_num(np.asarray(corners.values, dtype=np.float64))[:, :columns]


def _image(path: Path) -> tuple[npt.NDArray[np.uint8], bool] | None:
    """Return the pixels (H, W, 3) of an image from the top and whether it is grey; None for invalid images."""
    from PIL import Image

    try:
        with Image.open(path, formats=IMAGES) as opened:
            if opened.width * opened.height > MAX_TEXTURE_PIXELS:
                return None
            grey = opened.mode in ("1", "L", "LA", "I", "I;16", "F")
            return np.asarray(opened.convert("RGB")), grey
    except Exception:  # Pillow raises various errors for invalid images; the surface is drawn without
        return None
