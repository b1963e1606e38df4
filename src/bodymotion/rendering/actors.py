"""A body as actors of VTK: for each link one actor per surface, all with the matrix of the link.

Colours are those of the file, as in the browser viewer: those of VRML97 are display values, and lights are added in the same space.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bodymotion.formats.meshes.glb import IMAGES, MAX_PIXELS, MAX_TEXTURE_PIXELS
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.meshes import LINES, TRIANGLES, Part, surface_parts
from bodymotion.geometry.shapes import Material, Shape
from bodymotion.rendering.vtk import image_of, poly_data, vtk

AMBIENT = 0.5  # Share of its own colour that a surface has in the shade.
MAX_HIGHLIGHT = 0.12  # Strength of the brightest highlight; more would saturate light colours.
MAX_TRANSPARENCY = 0.7  # A surface that is more transparent casts no shadow.
AXIS_COLORS = ((214, 52, 62), (46, 160, 67), (38, 98, 214))


@dataclass
class _Surface:
    """A surface of a link as VTK data, mapper, property of actors, and texture."""

    data: Any
    mapper: Any
    style: Any
    texture: Any
    casts_shadow: bool = False


class BodyParts:
    """The surfaces of the `shapes` of the links of a body, for any number of robots; `size` [m] is the extent of the body.

    `pale` is the share of white in the colours. A body without shapes is shown by the axes of its links, `axes` [m] long. The links `far`
    cast no shadow; `cast_shadows` is whether any surface casts one.
    """

    def __init__(
        self,
        shapes: Sequence[Iterable[Shape]],
        size: float,
        *,
        pale: float = 0.0,
        axes: float | None = None,
        far: Sequence[int] = (),
    ) -> None:
        textures: dict[Path, Any] = {}
        self.links = [[_surface(part, textures, pale) for part in surface_parts(own)] for own in shapes]
        if not any(self.links):
            self.links = [[_axes(axes or 0.1 * size)] for _ in shapes]
        for index in far:
            for surface in self.links[index]:
                surface.casts_shadow = False
        self.cast_shadows = any(one.casts_shadow for surfaces in self.links for one in surfaces)


class Robot:
    """One robot in a renderer; as a `silhouette`, white without light, and without surfaces that cast no shadow."""

    def __init__(self, parts: BodyParts, renderer: Any, silhouette: bool = False) -> None:  # noqa: ANN401
        v = vtk()
        self.matrices = [v.vtkMatrix4x4() for _ in parts.links]
        white = v.vtkProperty()
        white.LightingOff()
        for surfaces, matrix in zip(parts.links, self.matrices, strict=True):
            for one in surfaces:
                if silhouette and not one.casts_shadow:
                    continue
                actor = v.vtkActor()
                actor.SetMapper(mapper_of(one.data, colored=False) if silhouette else one.mapper)
                actor.SetProperty(white if silhouette else one.style)
                actor.SetUserMatrix(matrix)
                if one.texture is not None and not silhouette:
                    actor.SetTexture(one.texture)
                renderer.AddActor(actor)

    def pose(self, matrices: Floats) -> None:
        """Set the link poses (L, 4, 4)."""
        for matrix, values in zip(self.matrices, matrices, strict=True):
            matrix.DeepCopy(values.ravel())


def mapper_of(data: Any, colored: bool = True) -> Any:  # noqa: ANN401
    """Return the mapper of data that stays as it is."""
    mapper = vtk().vtkPolyDataMapper()
    mapper.SetInputData(data)
    mapper.SetScalarVisibility(colored)
    mapper.StaticOn()
    return mapper


def _surface(part: Part, textures: dict[Path, Any], pale: float) -> _Surface:
    material, mode = part.surface.material, part.surface.mode
    colors = _bytes(np.concatenate(part.colors), pale) if part.colors else None
    data = poly_data(
        mode,
        np.concatenate(part.positions),
        np.concatenate(part.indices),
        normals=np.concatenate(part.normals) if part.normals else None,
        colors=colors,
        uv=np.concatenate(part.uv) if part.uv else None,
    )
    texture = _texture(material, textures) if part.surface.textured else None
    casts_shadow = mode == TRIANGLES and material.transparency < MAX_TRANSPARENCY
    return _Surface(data, mapper_of(data), _style(part, texture is not None, pale), texture, casts_shadow)


def _style(part: Part, textured: bool, pale: float) -> Any:  # noqa: ANN401
    material, mode = part.surface.material, part.surface.mode
    style = vtk().vtkProperty()
    if mode != TRIANGLES:
        style.LightingOff()
        style.SetLineWidth(1.5)
        style.SetPointSize(3.0)
        style.SetColor(*_paler(material.emissive if any(material.emissive) else material.diffuse, pale))
        return style
    glow = np.clip(np.nan_to_num(np.asarray(material.emissive, dtype=np.float64)), 0.0, 1.0)
    # A surface that emits light reflects less: the sum would saturate.
    base = _paler((1.0, 1.0, 1.0) if textured else material.diffuse, pale) * (1.0 - glow.max())
    style.SetDiffuseColor(*base)
    style.SetDiffuse(1.0 - AMBIENT)
    own = AMBIENT * base + _paler(glow, 0.5 * pale) * glow.any()
    strength = AMBIENT if part.surface.channels else max(float(own.max()), 1e-6)
    style.SetAmbientColor(*(base if part.surface.channels else own / strength))
    style.SetAmbient(strength)
    shine = float(np.clip(max(material.specular), 0.0, 1.0))
    style.SetSpecularColor(1.0, 1.0, 1.0)
    style.SetSpecular(MAX_HIGHLIGHT * shine)
    style.SetSpecularPower(float(np.clip(128.0 * material.shininess, 8.0, 80.0)))
    style.SetInterpolationToPhong()
    style.SetOpacity(float(np.clip(1.0 - material.transparency, 0.0, 1.0)))
    style.SetBackfaceCulling(not part.surface.two_sided)
    return style


def _paler(color: npt.ArrayLike, pale: float) -> Floats:
    return np.clip(np.nan_to_num(np.asarray(color, dtype=np.float64)), 0.0, 1.0) * (1.0 - pale) + pale


def _bytes(colors: npt.NDArray[np.float32], pale: float) -> npt.NDArray[np.uint8]:
    shown = np.clip(np.nan_to_num(colors), 0.0, 1.0)
    shown[:, :3] = shown[:, :3] * (1.0 - pale) + pale
    return np.round(255.0 * shown).astype(np.uint8)


def _texture(material: Material, known: dict[Path, Any]) -> Any:  # noqa: ANN401
    """Return the texture of a material; None where the file is not an image."""
    assert material.texture is not None
    path = material.texture.path
    if path not in known:
        known[path] = _opened(path)
    if known[path] is None:
        return None
    texture = vtk().vtkTexture()
    texture.SetInputData(known[path])
    texture.InterpolateOn()
    texture.MipmapOn()
    # VTK cannot repeat in one direction only.
    texture.SetRepeat(bool(material.texture.repeat_s or material.texture.repeat_t))
    return texture


def _opened(path: Path) -> Any:  # noqa: ANN401
    from PIL import Image

    try:
        with Image.open(path, formats=IMAGES) as opened:
            if opened.width * opened.height > MAX_PIXELS:
                return None
            clear = opened.mode in ("RGBA", "LA") or "transparency" in opened.info
            picture = opened.convert("RGBA" if clear else "RGB")
        picture.thumbnail((MAX_TEXTURE_PIXELS, MAX_TEXTURE_PIXELS))
        return image_of(np.asarray(picture)[::-1])
    except Exception:  # Pillow raises exceptions of many kinds for broken images
        return None


def _axes(length: float) -> _Surface:
    """Return the axes of a coordinate frame."""
    points = np.concatenate([np.zeros((3, 3)), length * np.eye(3)])
    data = poly_data(LINES, points, np.array([[0, 3], [1, 4], [2, 5]]), colors=np.array(AXIS_COLORS * 2))
    style = vtk().vtkProperty()
    style.LightingOff()
    style.SetLineWidth(4.0)
    return _Surface(data, mapper_of(data), style, None)
