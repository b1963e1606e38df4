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
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from bodymotion.formats.meshes.glb_reading import VERTEX
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.meshes.surfaces import TRIANGLES, Part, Surface, surface_parts
from bodymotion.geometry.shapes import Material, Mesh, Shape

__all__ = ["mesh_to_glb", "to_glb"]

LARGEST_TEXTURE = 2048
"""Pixels of a texture's longer side; larger images are scaled down."""
MOST_PIXELS = 64_000_000
IMAGES = ("PNG", "JPEG", "GIF", "BMP", "TGA", "TIFF", "PPM")

UNLIT = "KHR_materials_unlit"

_REPEAT, _CLAMP = 10497, 33071


def to_glb(shapes: Iterable[Shape], paint: Material | None = None, glow: float = 0.0) -> bytes | None:
    """Return the shapes as a GLB, in the frame that they are in; None where nothing is to be seen.

    With `paint` everything has that material, whatever the shapes say. With a `glow` it has so many times its colour, whatever the
    light (KHR_materials_unlit).
    """
    parts = surface_parts(shapes, paint)
    return _written(parts, glow) if parts else None


def mesh_to_glb(mesh: Mesh, material: Material) -> bytes:
    """Return a mesh as a GLB that `glb_reading` makes the same mesh of, in single precision, without triangles that have no area."""
    parts = surface_parts([Shape(mesh, material=material)], whole=True)
    extras = {"bodymotion": {"crease_angle": mesh.crease_angle, "normals": mesh.normals is not None}}
    return _written(parts, 0.0, extras) if parts else b""


def _from_above(uv: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Take VRML97's places in the image (from the lower left) to glTF's (from the upper left)."""
    return np.stack([uv[:, 0], np.float32(1.0) - uv[:, 1]], axis=1)


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


def _written(parts: list[Part], glow: float, extras: dict[str, Any] | None = None) -> bytes:
    document = _Document()
    images: dict[Path, tuple[int, bool] | None] = {}
    primitives = []
    for part in parts:
        surface = part.surface
        positions = np.concatenate(part.positions)
        lowest, highest = positions.min(axis=0).tolist(), positions.max(axis=0).tolist()
        attributes = {"POSITION": document.array(positions, "VEC3", 5126, min=lowest, max=highest)}
        if part.normals:
            attributes["NORMAL"] = document.array(np.concatenate(part.normals), "VEC3", 5126)
        if part.uv:
            attributes["TEXCOORD_0"] = document.array(_from_above(np.concatenate(part.uv)), "VEC2", 5126)
        if part.colors:
            attributes["COLOR_0"] = document.array(_linear(np.concatenate(part.colors)), f"VEC{surface.channels}", 5126)
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


def _material(document: _Document, surface: Surface, images: dict[Path, tuple[int, bool] | None]) -> dict[str, Any]:
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
