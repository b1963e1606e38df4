"""A body as things that VTK draws: for each link an actor for each of its surfaces, all of them moved by one matrix.

Colours are those of the file, as the browser viewer shows them: VRML97 means them for the screen, and light is added up there, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bodymotion.formats.meshes.glb import IMAGES, LARGEST_TEXTURE, MOST_PIXELS
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.meshes.surfaces import LINES, TRIANGLES, Part, surface_parts
from bodymotion.geometry.shapes import Material
from bodymotion.model.body import Body
from bodymotion.rendering.vtk import image_of, matrix_into, poly_data, vtk

__all__ = ["BodyParts", "Robot"]

AMBIENT = 0.5
"""So much of its own colour a surface has in the shade."""
SHINE = 0.12
"""The brightest highlight on a surface that shines at all; more would burn out light colours."""
AXIS_COLORS = ((214, 52, 62), (46, 160, 67), (38, 98, 214))


@dataclass
class _Drawn:
    """One surface of a link: `data` to be drawn, `style` an actor's properties."""

    mapper: Any
    style: Any
    texture: Any


class BodyParts:
    """What the links of a body look like, made once for any number of robots of its kind; `size` [m] is its extent.

    `pale` mixes the colours with so much white. A body without any shapes is shown by the axes of its links, `axes` [m] long.
    """

    def __init__(self, body: Body, size: float, *, pale: float = 0.0, axes: float | None = None) -> None:
        textures: dict[Path, Any] = {}
        self.surfaces = [surface_parts(link.visuals) for link in body.links]
        self.links: list[list[_Drawn]] = [[_drawn(part, textures, pale) for part in some] for some in self.surfaces]
        if not any(self.surfaces):
            self.links = [[_axes(axes or 0.1 * size)] for _ in body.links]


class Robot:
    """One robot in a renderer."""

    def __init__(self, parts: BodyParts, renderer: Any) -> None:  # noqa: ANN401
        v = vtk()
        self.matrices = [v.vtkMatrix4x4() for _ in parts.links]
        for drawn, matrix in zip(parts.links, self.matrices, strict=True):
            for one in drawn:
                actor = v.vtkActor()
                actor.SetMapper(one.mapper)
                actor.SetProperty(one.style)
                actor.SetUserMatrix(matrix)
                if one.texture is not None:
                    actor.SetTexture(one.texture)
                renderer.AddActor(actor)

    def place(self, link_poses: Floats) -> None:
        """Put the links at poses (L, 7)."""
        for matrix, values in zip(self.matrices, poses.to_matrix(link_poses), strict=True):
            matrix_into(matrix, values)


def _mapper(data: Any) -> Any:  # noqa: ANN401
    mapper = vtk().vtkPolyDataMapper()
    mapper.SetInputData(data)
    mapper.StaticOn()
    return mapper


def _drawn(part: Part, textures: dict[Path, Any], pale: float) -> _Drawn:
    look, mode = part.surface.material, part.surface.mode
    colors = _bytes(np.concatenate(part.colors), pale) if part.colors else None
    data = poly_data(
        mode,
        np.concatenate(part.positions),
        np.concatenate(part.indices),
        normals=np.concatenate(part.normals) if part.normals else None,
        colors=colors,
        uv=np.concatenate(part.uv) if part.uv else None,
    )
    texture = _texture(look, textures) if part.surface.textured else None
    return _Drawn(_mapper(data), _style(part, texture is not None, pale), texture)


def _style(part: Part, textured: bool, pale: float) -> Any:  # noqa: ANN401
    look, mode = part.surface.material, part.surface.mode
    style = vtk().vtkProperty()
    if mode != TRIANGLES:
        style.LightingOff()
        style.SetLineWidth(1.5)
        style.SetPointSize(3.0)
        style.SetColor(*_paler(look.emissive if any(look.emissive) else look.diffuse, pale))
        return style
    glow = np.clip(np.nan_to_num(np.asarray(look.emissive, dtype=np.float64)), 0.0, 1.0)
    # What gives light by itself answers that of others less: together they would burn out.
    base = _paler((1.0, 1.0, 1.0) if textured else look.diffuse, pale) * (1.0 - glow.max())
    style.SetDiffuseColor(*base)
    style.SetDiffuse(1.0 - AMBIENT)
    own = AMBIENT * base + _paler(glow, 0.5 * pale) * glow.any()
    strength = AMBIENT if part.surface.channels else max(float(own.max()), 1e-6)
    style.SetAmbientColor(*(base if part.surface.channels else own / strength))
    style.SetAmbient(strength)
    shine = float(np.clip(max(look.specular), 0.0, 1.0))
    style.SetSpecularColor(1.0, 1.0, 1.0)
    style.SetSpecular(SHINE * shine)
    style.SetSpecularPower(float(np.clip(128.0 * look.shininess, 8.0, 80.0)))
    style.SetInterpolationToPhong()
    style.SetOpacity(float(np.clip(1.0 - look.transparency, 0.0, 1.0)))
    style.SetBackfaceCulling(not part.surface.two_sided)
    return style


def _paler(color: npt.ArrayLike, pale: float) -> Floats:
    return np.clip(np.nan_to_num(np.asarray(color, dtype=np.float64)), 0.0, 1.0) * (1.0 - pale) + pale


def _bytes(colors: npt.NDArray[np.float32], pale: float) -> npt.NDArray[np.uint8]:
    shown = np.clip(np.nan_to_num(colors), 0.0, 1.0)
    shown[:, :3] = shown[:, :3] * (1.0 - pale) + pale
    return np.round(255.0 * shown).astype(np.uint8)


def _texture(look: Material, known: dict[Path, Any]) -> Any:  # noqa: ANN401
    """Return the texture of a material; None where the file is no image, and the surface is drawn without it."""
    assert look.texture is not None
    path = look.texture.path
    if path not in known:
        known[path] = _opened(path)
    if known[path] is None:
        return None
    texture = vtk().vtkTexture()
    texture.SetInputData(known[path])
    texture.InterpolateOn()
    texture.MipmapOn()
    # Repeating in one direction alone is rare, and VTK has no such thing.
    texture.SetRepeat(bool(look.texture.repeat_s or look.texture.repeat_t))
    return texture


def _opened(path: Path) -> Any:  # noqa: ANN401
    from PIL import Image

    try:
        with Image.open(path, formats=IMAGES) as opened:
            if opened.width * opened.height > MOST_PIXELS:
                return None
            clear = opened.mode in ("RGBA", "LA") or "transparency" in opened.info
            picture = opened.convert("RGBA" if clear else "RGB")
        picture.thumbnail((LARGEST_TEXTURE, LARGEST_TEXTURE))
        return image_of(np.asarray(picture)[::-1])
    except Exception:  # Pillow raises whatever the bytes of an image lead to; the surface is then drawn without it
        return None


def _axes(length: float) -> _Drawn:
    """Return the three axes of a frame."""
    points = np.concatenate([np.zeros((3, 3)), length * np.eye(3)])
    data = poly_data(LINES, points, np.array([[0, 3], [1, 4], [2, 5]]), colors=np.array(AXIS_COLORS * 2))
    style = vtk().vtkProperty()
    style.LightingOff()
    style.SetLineWidth(4.0)
    return _Drawn(_mapper(data), style, None)
