"""The shapes before a camera.

Which of their faces is visible at each pixel, its depth, and its colour.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bodymotion.formats.meshes.glb import IMAGES
from bodymotion.geometry.arrays import Floats, Indices, check_memory
from bodymotion.geometry.meshes import corner_normals
from bodymotion.geometry.shapes import Corners, Lines, Material, Mesh, Points, Shape

if TYPE_CHECKING:
    from bodymotion.kernels.rays import Boxes

MAX_TRANSPARENCY = (
    0.5  # Shapes that are more transparent are invisible; all others are opaque.
)
MAX_TEXTURE_PIXELS = 16_000_000  # Larger images are not used as textures.
HEADLIGHT = 0.7
OVERHEAD = 0.4
# Intensities of the light along the camera's axis, of the one from straight above, and
# of the ambient light.
AMBIENT = 0.5
BYTES_PER_FACE = 3 * (3 + 3) * 8  # Of normals and paints.


class VisibleShapes:
    """Shapes before a camera, each fixed in one of some frames.

    Their faces are numbered one after the other.
    """

    def __init__(self, shapes: Iterable[tuple[Shape, int]]) -> None:
        self._parts: list[_Part] = []
        self.num_faces = 0
        for shape, frame in shapes:
            if (
                # Lines and points have no faces that a ray could hit.
                isinstance(shape.geometry, (Lines, Points))
                or shape.material.transparency > MAX_TRANSPARENCY
            ):
                continue
            mesh = shape.to_mesh()
            if len(mesh.faces) and np.isfinite(mesh.vertices).all():
                self._parts.append(_Part(mesh, shape.material, frame, self.num_faces))
                self.num_faces += len(mesh.faces)

    @cached_property
    def _paints(self) -> list[_Paint]:
        check_memory(
            self.num_faces * BYTES_PER_FACE, f"materials of {self.num_faces} triangles"
        )
        # Images by path, read once for all shapes that use them.
        images: dict[Path, tuple[npt.NDArray[np.uint8], bool] | None] = {}
        return [_Paint(part.mesh, part.material, images) for part in self._parts]

    def draw(
        self,
        first: int,
        views: Floats,
        rays: Floats,
        near: float,
        depths: Floats,
        owners: Indices,
    ) -> None:
        """Draw the shapes over what was drawn before.

        They are seen along `rays` (H, W, 3) of the camera from the depth `near` [m] on.

        `views` (K, 3, 4) take points of the camera to each frame. `depths` and `owners`
        (H, W), the depths and the numbers of the visible
        faces, which begin with `first`, are changed where something nearer is drawn.
        """
        from bodymotion.kernels.rays import cast

        for part in self._parts:
            view = views[part.frame]
            # Only rays that may hit the part's sphere are cast.
            window = _window(
                (part.middle - view[:, 3]) @ view[:, :3], part.radius, rays
            )
            ways = rays[window]
            number = first + part.first
            # The camera's origin, for all rays.
            starts = np.broadcast_to(0.0, ways.shape)
            cast(
                part.tree,
                view,
                starts,
                ways,
                near,
                depths[window],
                owners[window],
                number,
                part.mesh.two_sided,
            )

    def shade(
        self,
        first: int,
        views: Floats,
        rays: Floats,
        owners: Indices,
        colors: npt.NDArray[np.uint8],
    ) -> None:
        """Fill in `colors` (H, W, 3) the colours of the visible faces.

        Those from number `first` on.

        See `draw`.

        The last of the `views` is that of the world: the light from above comes along
        its z axis.
        """
        for part, paint in zip(self._parts, self._paints, strict=True):
            start = first + part.first
            # Pixels whose visible face is one of this part.
            here = (owners >= start) & (owners < start + len(part.mesh.faces))
            if here.any():
                view = views[part.frame]
                faces = owners[here] - start
                # (M, 3, 3) corners from the camera, along the axes of the part's frame.
                corners = part.mesh.vertices[part.mesh.faces[faces]] - view[:, 3]
                above = view[:, :3] @ views[-1, 2, :3]
                found = paint.shaded(
                    faces, corners, rays[here] @ view[:, :3].T, view[:, 2], above
                )
                # Rounded to 0…255.
                colors[here] = np.floor(255.0 * np.clip(found, 0.0, 1.0) + 0.5)


class _Part:
    """A mesh and its material, fixed in a frame.

    With the sphere around it and the number of its first face.
    """

    def __init__(self, mesh: Mesh, material: Material, frame: int, first: int) -> None:
        self.mesh = mesh
        self.material = material
        self.frame = frame
        self.first = first
        self.middle = 0.5 * (mesh.vertices.min(axis=0) + mesh.vertices.max(axis=0))
        # Corners of meshes near the largest number: the radius is inf, and the part is
        # seen in the whole image.
        with np.errstate(over="ignore"):
            self.radius = float(
                np.linalg.norm(mesh.vertices - self.middle, axis=1).max()
            )

    @cached_property
    def tree(self) -> Boxes:
        from bodymotion.kernels.rays import boxes

        return boxes(self.mesh.vertices[self.mesh.faces])


def _window(center: Floats, radius: float, rays: Floats) -> tuple[slice, slice]:
    """Return the rows and columns of `rays` that may hit a sphere.

    The rays are (H, W, 3), the sphere is around `center` (3,) in the camera's frame.
    """
    slices = []
    for axis, slopes in ((1, -rays[:, 0, 1]), (0, rays[0, :, 0])):
        if axis:
            across = -center[1]
        else:
            across = center[0]
        # A camera looks along its −z axis, y upwards.
        ahead = -center[2]
        distance = np.hypot(across, ahead)
        # The tangents of the sphere, in the plane of the axis and the camera's
        # direction.
        if radius < distance:
            spread = np.arcsin(radius / distance)
        else:
            spread = np.pi
        angles = np.arctan2(across, ahead) + (spread + 1e-9) * np.array([-1.0, 1.0])
        # A tangent beyond ±90° is behind the camera: the window is open on that side.
        ends = np.where(
            np.abs(angles) < 0.5 * np.pi, np.tan(angles), np.copysign(np.inf, angles)
        )
        # Slopes increase from left to right and from top to bottom (with y negated).
        slices.append(slice(*np.searchsorted(slopes, ends)))
    return slices[0], slices[1]


class _Paint:
    """The material of one mesh.

    Normals (F, 3, 3) and `paints` (F, 3, C) at the corners of its faces.

    Paints are colours, or coordinates in `image` (H, W, 3); None where the whole mesh
    has the diffuse colour.
    """

    def __init__(
        self,
        mesh: Mesh,
        material: Material,
        images: dict[Path, tuple[npt.NDArray[np.uint8], bool] | None],
    ) -> None:
        self.normals = corner_normals(mesh)
        self.two_sided = mesh.two_sided
        parts = (material.diffuse, material.specular, material.emissive)
        row = [
            *parts[0],
            *parts[1],
            *parts[2],
            material.ambient_intensity,
            material.shininess,
        ]
        # Numbers that are missing or out of range would give colours outside 0…1.
        self.numbers = np.clip(np.nan_to_num(row), 0.0, 1.0)
        self.paints: Floats | None = None
        self.image: npt.NDArray[np.uint8] | None = None
        texture = material.texture
        points = mesh.texture_coordinates
        if texture is not None and points is not None:
            if texture.path not in images:
                images[texture.path] = _image(texture.path)
            found = images[texture.path]
            if found is not None:
                self.image, self.is_grey = found
                self.repeats = (texture.repeat_s, texture.repeat_t)
                flat = (
                    np.c_[_first(points, 2), np.ones(len(points.values))]
                    @ texture.transform.T
                )
                self.paints = flat[:, :2][points.indices]
        # VRML97: a texture takes the place of the colours of vertices.
        if self.image is None and mesh.colors is not None:
            self.paints = np.clip(_first(mesh.colors, 3), 0.0, 1.0)[mesh.colors.indices]

    def shaded(
        self,
        faces: Indices,
        corners: Floats,
        rays: Floats,
        behind: Floats,
        above: Floats,
    ) -> Floats:
        """Return the colours (M, 3) where rays (M, 3) hit faces (M,).

        The faces have corners (M, 3, 3) from the camera, in the mesh's frame.

        `behind` (3,) and `above` (3,) are the directions to the light along the
        camera's axis and to that from above.
        """
        # Barycentric coordinates: the volume of a ray with the edge opposite to each
        # corner, as a share of the three.
        sides = (np.cross(corners[:, k - 2], corners[:, k - 1]) for k in range(3))
        shares = np.stack([np.sum(side * rays, axis=1) for side in sides], axis=1)
        total = shares.sum(axis=1, keepdims=True)
        # A ray in the plane of the face: the middle of the face.
        shares = np.where(
            total != 0.0,
            np.clip(shares / np.where(total != 0.0, total, 1.0), 0.0, 1.0),
            1.0 / 3.0,
        )
        normals = np.einsum("mk,mkc->mc", shares, self.normals[faces])
        diffuse = self._diffuse(faces, shares)
        length = np.linalg.norm(normals, axis=1, keepdims=True)
        # The back of a face that is visible from both sides is lit as its front.
        away = np.sum(normals * rays, axis=1, keepdims=True)
        normals = np.where(self.two_sided & (away > 0.0), -normals, normals) / np.where(
            length > 0.0, length, np.inf
        )
        to_eye = rays / np.linalg.norm(rays, axis=1, keepdims=True)
        specular, emissive, ambient, shininess = (
            self.numbers[3:6],
            self.numbers[6:9],
            *self.numbers[9:],
        )
        # The lighting model of VRML97: ambient + diffuse + specular, per light.
        bright = np.full((len(faces), 1), AMBIENT * ambient)
        gloss = np.zeros((len(faces), 1))
        for light, power in ((behind, HEADLIGHT), (above, OVERHEAD)):
            hit = (normals @ light)[:, None]
            # The half vector between the direction to the light and the one to the eye.
            middle = light - to_eye
            size = np.linalg.norm(middle, axis=1, keepdims=True)
            mirrored = np.sum(normals * middle, axis=1, keepdims=True) / np.where(
                size > 0.0, size, np.inf
            )
            bright += np.where(hit > 0.0, power * hit, 0.0)
            gloss += np.where(
                (hit > 0.0) & (size > 0.0),
                # VRML97: the exponent is 128 times the shininess.
                power * np.maximum(mirrored, 0.0) ** (128.0 * shininess),
                0.0,
            )
        return np.asarray(emissive + bright * diffuse + gloss * specular)

    def _diffuse(self, faces: Indices, shares: Floats) -> Floats:
        """Return the diffuse colours (M, 3) of faces at barycentric `shares` (M, 3)."""
        own = self.numbers[:3]
        if self.paints is None:
            return own
        paint = np.einsum("mk,mkc->mc", shares, self.paints[faces])
        if self.image is None:
            return np.asarray(paint)
        high, wide = self.image.shape[:2]
        # A texture that repeats goes on with the fraction; others keep their edge
        # pixels.
        s, t = (
            np.where(again, one - np.floor(one), one)
            for one, again in zip(paint.T, self.repeats, strict=True)
        )
        columns = np.clip(s * wide, 0.0, wide - 1.0).astype(np.intp)
        # t counts from the bottom of the image, rows from its top.
        rows = np.clip((1.0 - t) * high, 0.0, high - 1.0).astype(np.intp)
        shown = self.image[rows, columns] / 255.0
        return np.asarray(shown * own if self.is_grey else shown)


def _first(corners: Corners, columns: int) -> Floats:
    return np.nan_to_num(np.asarray(corners.values, dtype=np.float64))[:, :columns]


def _image(path: Path) -> tuple[npt.NDArray[np.uint8], bool] | None:
    """Return the pixels (H, W, 3) of an image from the top and whether it is grey.

    None for invalid images.
    """
    from PIL import Image

    try:
        with Image.open(path, formats=IMAGES) as opened:
            if opened.width * opened.height > MAX_TEXTURE_PIXELS:
                return None
            grey = opened.mode in ("1", "L", "LA", "I", "I;16", "F")
            return np.asarray(opened.convert("RGB")), grey
    except (
        Exception
    ):  # Pillow raises various errors for invalid images; the surface is drawn without
        return None
