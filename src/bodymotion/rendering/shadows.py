"""The shadow on the floor: what the robot covers as the sun sees it, blurred, and laid on the floor as a texture.

Shadow maps of VTK cost several times as much without a graphics card, and are speckled where they are not fine enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.meshes.surfaces import TRIANGLES, Part
from bodymotion.rendering.surroundings import SHADE
from bodymotion.rendering.vtk import image_of, poly_data, vtk

__all__ = ["Caster", "Shadow"]

CELL = 1.4
"""The size of the cells to which vertices are pulled, in pixels of the shadow."""
BLUR = 0.008
"""The standard deviation of the blur, in sizes of the body."""
FEW = 60
"""Faces of a link that are left as they are."""
CLEAR = 0.7
"""What is as transparent as this casts no shadow."""
MOST = 2048
"""Pixels of an edge."""


@dataclass(frozen=True, eq=False)
class Caster:
    """The triangles of a body, coarse: `points` (N, 3) in the frames of the links `links` (N,), and `faces` (F, 3) of them."""

    points: Floats
    links: npt.NDArray[np.intp]
    faces: npt.NDArray[np.int64]

    @classmethod
    def of(cls, links: Sequence[Sequence[Part]], cell: float) -> Caster:
        """Make that of the parts of links; vertices are pulled together to cells [m]."""
        points, owners, faces, count = (
            [np.zeros((0, 3))],
            [np.zeros(0, dtype=np.intp)],
            [np.zeros((0, 3), dtype=np.int64)],
            0,
        )
        for index, parts in enumerate(links):
            for part in parts:
                if part.surface.mode == TRIANGLES and part.surface.material.transparency < CLEAR:
                    some, of = _coarse(
                        np.concatenate(part.positions).astype(np.float64),
                        np.concatenate(part.indices).astype(np.int64).reshape(-1, 3),
                        cell,
                    )
                    points.append(some)
                    owners.append(np.full(len(some), index, dtype=np.intp))
                    faces.append(of + count)
                    count += len(some)
        return cls(np.concatenate(points), np.concatenate(owners), np.concatenate(faces))

    def fallen(self, link_poses: Floats, sun: Floats) -> Floats:
        """Return where (N, 2) the points come to on the floor, along the direction (3,) of the sun, for links at poses (L, 7)."""
        along = np.array([[1.0, 0.0, -sun[0] / sun[2]], [0.0, 1.0, -sun[1] / sun[2]]])
        falls = along @ poses.to_matrix(link_poses)[:, :3]
        return np.asarray(np.einsum("nij,nj->ni", falls[self.links, :, :3], self.points) + falls[self.links, :, 3])


class Shadow:
    """The shadow of robots of one body of `size` metres, which has so many `pixels`; it darkens the floor by `shade`."""

    def __init__(
        self,
        renderer: Any,  # noqa: ANN401
        links: Sequence[Sequence[Part]],
        size: float,
        shade: float,
        pixels: int,
    ) -> None:
        v = vtk()
        self._caster = Caster.of(links, CELL * size / pixels)
        self._size, self._shade, self._pixels = size, shade, pixels
        corners = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=np.float64)
        mapper, self._actor, self._texture = v.vtkPolyDataMapper(), v.vtkActor(), v.vtkTexture()
        mapper.SetInputData(poly_data(TRIANGLES, corners, np.array([[0, 1, 2], [0, 2, 3]]), uv=corners[:, :2]))
        self._actor.SetMapper(mapper)
        self._actor.GetProperty().LightingOff()
        self._actor.GetProperty().SetBackfaceCulling(True)
        self._actor.ForceOpaqueOn()
        self._texture.InterpolateOn()
        self._texture.RepeatOff()
        self._actor.SetTexture(self._texture)
        renderer.AddActor(self._actor)

    def cast(self, robots: Sequence[Floats], sun: Floats) -> None:
        """Cast the shadow of robots whose links are at poses (L, 7) each; `sun` (3,) is the direction to it."""
        from bodymotion.kernels.silhouettes import cover

        fallen = [self._caster.fallen(one, sun) for one in robots]
        self._actor.SetVisibility(len(self._caster.points) > 0)
        if not len(self._caster.points):
            return
        # By rows, along which minima are found quickly.
        everything = np.ascontiguousarray(np.concatenate(fallen).T)
        room = 3.0 * BLUR * self._size
        low, high = everything.min(axis=1) - room, everything.max(axis=1) + room
        pixel = max(self._size / self._pixels, float((high - low).max()) / MOST)
        width, height = np.ceil((high - low) / pixel).astype(int)
        covered = np.zeros((height, width), dtype=np.uint8)
        for one in fallen:
            cover((one - low) / pixel, self._caster.faces, covered)
        self._texture.SetInputData(image_of(_dimming(covered, self._shade, BLUR * self._size / pixel)))
        self._actor.SetPosition(*low, SHADE * self._size)
        self._actor.SetScale(pixel * width, pixel * height, 1.0)


def _coarse(positions: Floats, faces: npt.NDArray[np.int64], cell: float) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Pull vertices together to cells [m], and leave away the faces that have no area any more, or are there already."""
    if len(faces) <= FEW:
        return positions, faces
    cells = np.round(positions / cell).astype(np.int64)
    _, first, of = np.unique(cells, axis=0, return_index=True, return_inverse=True)
    faces = of.reshape(-1)[faces]
    faces = np.unique(np.sort(faces[(faces != np.roll(faces, 1, axis=1)).all(axis=1)], axis=1), axis=0)
    return positions[first], faces


def _dimming(covered: npt.NDArray[np.uint8], shade: float, blur: float) -> npt.NDArray[np.uint8]:
    """Return black (H, W, 4) that is opaque where the floor is covered (H, W), with soft edges."""
    from PIL import Image, ImageFilter

    soft = Image.fromarray(covered).filter(ImageFilter.GaussianBlur(blur))
    out = np.zeros((*covered.shape, 4), dtype=np.uint8)
    out[..., 3] = np.asarray(soft) * np.float32(shade)
    return out
