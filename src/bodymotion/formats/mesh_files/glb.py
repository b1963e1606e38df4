"""Shapes as one binary glTF file (GLB 2.0): what the browser draws of a link, and a mesh file beside a model.

Parts with the same surface are merged, so a link costs few draw calls. Colours of VRML97 are meant for the screen (sRGB) and glTF's are
linear, so they are converted; otherwise everything would look pale. VRML97's shininess becomes roughness as Blinn–Phong exponents
commonly do: roughness = √(2 / (2 + 128 · shininess)).

Layout: the glTF 2.0 specification of the Khronos Group, chapters 3 (meshes, materials, images) and 4 (GLB).
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import orjson

from bodymotion.arrays import Floats
from bodymotion.formats.mesh_files.glb_reading import VERTEX
from bodymotion.shapes import Lines, Material, Mesh, Points, Shape

__all__ = ["mesh_to_glb", "to_glb"]

MOST_NUMBERED = 1 << 24
"""Vertices with larger numbers than single precision has whole ones are not numbered."""

POINTS, LINES, TRIANGLES = 0, 1, 4
LARGEST_TEXTURE = 2048
"""Pixels of a texture's longer side; larger images are scaled down."""
MOST_PIXELS = 64_000_000
IMAGES = ("PNG", "JPEG", "GIF", "BMP", "TGA", "TIFF", "PPM")

UNLIT = "KHR_materials_unlit"

_REPEAT, _CLAMP = 10497, 33071


class _Surface(NamedTuple):
    """How a part is drawn."""

    mode: int
    material: Material
    textured: bool
    two_sided: bool
    channels: int

    @property
    def key(self) -> tuple[object, ...]:
        """What parts must have in common to be drawn together."""
        look = self.material
        seen = (look.diffuse, look.emissive, look.shininess, look.transparency)
        texture = look.texture
        image = (str(texture.path), texture.repeat_s, texture.repeat_t) if self.textured and texture else None
        return (self.mode, self.two_sided, self.channels, seen, image)


@dataclass
class _Part:
    surface: _Surface
    positions: list[npt.NDArray[np.float32]] = field(default_factory=list)
    normals: list[npt.NDArray[np.float32]] = field(default_factory=list)
    colors: list[npt.NDArray[np.float32]] = field(default_factory=list)
    uv: list[npt.NDArray[np.float32]] = field(default_factory=list)
    vertices: list[npt.NDArray[np.float32]] = field(default_factory=list)
    indices: list[npt.NDArray[np.uint32]] = field(default_factory=list)
    count: int = 0


_Parts: TypeAlias = dict[tuple[object, ...], _Part]


def to_glb(shapes: Iterable[Shape], paint: Material | None = None, glow: float = 0.0) -> bytes | None:
    """Give the shapes as a GLB, in the frame that they are in; None where nothing is to be seen.

    With `paint` everything has that material, whatever the shapes say. With a `glow` it has so many times its colour, whatever the
    light (KHR_materials_unlit).
    """
    parts: _Parts = {}
    for shape in shapes:
        if isinstance(shape.geometry, (Lines, Points)):
            _add_lines(parts, shape, paint)
        else:
            _add_triangles(parts, shape, paint)
    return _written(parts, glow) if parts else None


def mesh_to_glb(mesh: Mesh, material: Material) -> bytes:
    """Give a mesh as a GLB that `glb_reading` makes the same mesh of, in single precision, without triangles that have no area."""
    parts: _Parts = {}
    _add_triangles(parts, Shape(mesh, material=material), None, whole=True)
    extras = {"bodymotion": {"crease_angle": mesh.crease_angle, "normals": mesh.normals is not None}}
    return _written(parts, 0.0, extras) if parts else b""


def _add_triangles(parts: _Parts, shape: Shape, paint: Material | None, whole: bool = False) -> None:
    mesh = shape.to_mesh()
    buffers = mesh.corners_split
    if not len(buffers.triangles):
        return
    material = paint or shape.material
    colors = buffers.colors if paint is None and material.texture is None else None
    uv = buffers.uv if whole or material.texture is not None else None
    channels = 0 if colors is None else colors.shape[1]
    textured = uv is not None and material.texture is not None
    surface = _Surface(TRIANGLES, material, textured, mesh.two_sided, channels)
    part = parts.setdefault(surface.key, _Part(surface))
    part.positions.append(buffers.positions)
    part.normals.append(buffers.normals)
    if colors is not None:
        part.colors.append(_linear(colors))
    if uv is not None:
        matrix = material.texture.transform if material.texture is not None else np.eye(3)
        part.uv.append(_image_places(uv, matrix))
    if whole and buffers.vertices is not None and len(mesh.vertices) < MOST_NUMBERED:
        part.vertices.append(buffers.vertices.astype(np.float32))
    part.indices.append(buffers.triangles.astype(np.uint32).ravel() + np.uint32(part.count))
    part.count += len(buffers.positions)


def _add_lines(parts: _Parts, shape: Shape, paint: Material | None) -> None:
    geometry = shape.geometry
    assert isinstance(geometry, (Lines, Points))
    places = (geometry.vertices @ shape.transform[:3, :3].T + shape.transform[:3, 3]).astype(np.float32)
    if isinstance(geometry, Lines):
        mode, indices = LINES, geometry.segments.ravel().astype(np.uint32)
    else:
        mode, indices = POINTS, np.arange(len(places), dtype=np.uint32)
    if not len(indices) or not np.isfinite(places).all():
        return
    material = paint or shape.material
    colors = geometry.colors if paint is None else None
    surface = _Surface(mode, material, False, True, 0 if colors is None else 3)
    part = parts.setdefault(surface.key, _Part(surface))
    part.positions.append(places)
    if colors is not None:
        part.colors.append(_linear(np.asarray(colors[:, :3], dtype=np.float32)))
    part.indices.append(indices + np.uint32(part.count))
    part.count += len(places)


def _image_places(uv: npt.NDArray[np.float32], matrix: Floats) -> npt.NDArray[np.float32]:
    """Take VRML97's places in the image (from the lower left) to glTF's (from the upper left)."""
    moved = np.c_[uv, np.ones(len(uv), dtype=np.float32)] @ matrix.T
    return np.stack([moved[:, 0], 1.0 - moved[:, 1]], axis=1).astype(np.float32)


def _linear(srgb: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """Take sRGB colours (..., 3 or 4) in 0…1 to linear light (IEC 61966-2-1); a fourth channel stays."""
    value = np.clip(np.nan_to_num(np.asarray(srgb, dtype=np.float32)), 0.0, 1.0)
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    return np.concatenate([linear[..., :3], value[..., 3:]], axis=-1).astype(np.float32)


class _Document:
    """Collects the parts of a GLB: the JSON tables and one block of bytes."""

    def __init__(self) -> None:
        self.tables: dict[str, list[dict[str, Any]]] = {}
        self.block = bytearray()

    def add(self, table: str, entry: dict[str, Any]) -> int:
        rows = self.tables.setdefault(table, [])
        rows.append(entry)
        return len(rows) - 1

    def bytes(self, data: bytes) -> int:
        self.block += b"\0" * (-len(self.block) % 4)
        view = self.add("bufferViews", {"buffer": 0, "byteOffset": len(self.block), "byteLength": len(data)})
        self.block += data
        return view

    def array(self, values: npt.NDArray[Any], kind: str, component: int, **more: Any) -> int:  # noqa: ANN401
        view = self.bytes(np.ascontiguousarray(values).tobytes())
        return self.add(
            "accessors", {"bufferView": view, "componentType": component, "count": len(values), "type": kind, **more}
        )


def _written(parts: _Parts, glow: float, extras: dict[str, Any] | None = None) -> bytes:
    document = _Document()
    images: dict[Path, tuple[int, bool] | None] = {}
    primitives = []
    for part in parts.values():
        surface = part.surface
        positions = np.concatenate(part.positions)
        lowest, highest = positions.min(axis=0).tolist(), positions.max(axis=0).tolist()
        attributes = {"POSITION": document.array(positions, "VEC3", 5126, min=lowest, max=highest)}
        if part.normals:
            attributes["NORMAL"] = document.array(np.concatenate(part.normals), "VEC3", 5126)
        if part.uv:
            attributes["TEXCOORD_0"] = document.array(np.concatenate(part.uv), "VEC2", 5126)
        if part.colors:
            attributes["COLOR_0"] = document.array(np.concatenate(part.colors), f"VEC{surface.channels}", 5126)
        if part.vertices:
            attributes[VERTEX] = document.array(np.concatenate(part.vertices), "SCALAR", 5126)
        primitives.append(
            {
                "attributes": attributes,
                "indices": document.array(np.concatenate(part.indices), "SCALAR", 5125),
                "mode": surface.mode,
                "material": document.add("materials", _material(document, surface, images)),
            }
        )
    document.add("meshes", {"primitives": primitives, **({"extras": extras} if extras else {})})
    if glow:
        for material in document.tables["materials"]:
            material["extensions"] = {UNLIT: {}}
            factor = material["pbrMetallicRoughness"]["baseColorFactor"]
            factor[:3] = [glow * value for value in factor[:3]]
    root = {
        "asset": {"version": "2.0", "generator": "bodymotion"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "buffers": [{"byteLength": len(document.block)}],
        **({"extensionsUsed": [UNLIT]} if glow else {}),
        **document.tables,
    }
    text = orjson.dumps(root)
    text += b" " * (-len(text) % 4)
    block = bytes(document.block) + b"\0" * (-len(document.block) % 4)
    size = 12 + 8 + len(text) + 8 + len(block)
    head = struct.pack("<4sII", b"glTF", 2, size)
    return head + struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(block), b"BIN\0") + block


def _material(document: _Document, surface: _Surface, images: dict[Path, tuple[int, bool] | None]) -> dict[str, Any]:
    look = surface.material
    base: Floats | tuple[float, float, float] = look.diffuse
    if surface.mode != TRIANGLES:
        base = look.emissive if any(look.emissive) else look.diffuse
    if surface.channels:
        base = (1.0, 1.0, 1.0)
    alpha = min(max(1.0 - look.transparency, 0.0), 1.0)
    shininess = min(max(look.shininess, 0.0), 1.0)
    pbr: dict[str, Any] = {"metallicFactor": 0.0, "roughnessFactor": float(np.sqrt(2.0 / (2.0 + 128.0 * shininess)))}
    see_through = alpha < 1.0 or surface.channels == 4
    if surface.textured and look.texture is not None:
        path = look.texture.path
        if path not in images:
            images[path] = _image(document, path)
        image = images[path]
        if image is not None:
            wrap = {
                "wrapS": _REPEAT if look.texture.repeat_s else _CLAMP,
                "wrapT": _REPEAT if look.texture.repeat_t else _CLAMP,
            }
            sampler = document.add("samplers", wrap)
            pbr["baseColorTexture"] = {"index": document.add("textures", {"source": image[0], "sampler": sampler})}
            base = (1.0, 1.0, 1.0)
            see_through |= image[1]
    pbr["baseColorFactor"] = [*_linear(base).tolist(), alpha]
    material: dict[str, Any] = {"pbrMetallicRoughness": pbr, "doubleSided": bool(surface.two_sided)}
    if any(look.emissive):
        material["emissiveFactor"] = _linear(look.emissive).tolist()
    if see_through:
        material["alphaMode"] = "BLEND"
    return material


def _image(document: _Document, path: Path) -> tuple[int, bool] | None:
    """Embed an image file as PNG or JPEG; give its index and whether it is see-through, None where it is no image.

    A file may be broken in any way; what it should cover is then drawn without it.
    """
    from PIL import Image

    try:
        with Image.open(path, formats=IMAGES) as opened:
            if opened.width * opened.height > MOST_PIXELS:
                return None
            kind = opened.format
            clear = opened.mode in ("RGBA", "LA") or "transparency" in opened.info
            if kind in ("PNG", "JPEG") and max(opened.size) <= LARGEST_TEXTURE:
                opened.load()
                data = path.read_bytes()
            else:
                kind = "PNG"
                picture = opened.convert("RGBA" if clear else "RGB")
                picture.thumbnail((LARGEST_TEXTURE, LARGEST_TEXTURE))
                buffer = io.BytesIO()
                picture.save(buffer, "PNG")
                data = buffer.getvalue()
    except Exception:  # Pillow raises whatever the bytes of an image lead to; the surface is then drawn without it
        return None
    view = document.bytes(data)
    return document.add("images", {"bufferView": view, "mimeType": f"image/{kind.lower()}"}), clear
