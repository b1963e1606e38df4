"""Binary glTF files (GLB 2.0), written and read: what the browser draws of a link, and mesh files beside a model.

Written: parts with the same surface are merged, so a link costs few draw calls. Colours of VRML97 are for the screen (sRGB) and those of
glTF are linear, so they are converted; otherwise everything would look pale. VRML97's shininess becomes roughness as is common for
Blinn–Phong exponents: roughness = √(2 / (2 + 128 · shininess)).

Read: colours, normals and texture coordinates of corners, visible sides, materials. A glTF splits a vertex wherever its corners differ.
Here vertices at one position are merged again; a file of `to_glb` has their numbers in the attribute ``_VERTEX``, and in the `extras` of
its mesh what glTF has no field for::

    "extras": {"bodymotion": {"crease_angle": 0.5, "normals": false}}

Layout: the glTF 2.0 specification of the Khronos Group, chapters 3.5 (nodes), 3.6 (accessors), 3.7 (meshes), 3.9 (materials) and 4 (GLB).
"""

from __future__ import annotations

import io
import math
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from bodymotion.formats.meshes import DEFAULT_CREASE_ANGLE
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats, frozen_ints
from bodymotion.geometry.meshes.surfaces import TRIANGLES, Part, Surface, surface_parts
from bodymotion.geometry.shapes import Corners, Material, Mesh, Shape

MAX_TEXTURE_PIXELS = 2048
"""Pixels of a texture's longer side; larger images are scaled down."""
MAX_PIXELS = 64_000_000
IMAGES = ("PNG", "JPEG", "GIF", "BMP", "TGA", "TIFF", "PPM")

UNLIT = "KHR_materials_unlit"

_REPEAT, _CLAMP = 10497, 33071


def to_glb(shapes: Iterable[Shape], paint: Material | None = None, glow: float = 0.0) -> bytes | None:
    """Return the shapes as a GLB, in the frame that they are in; None where nothing is visible.

    With `paint` everything has that material. With a `glow` the colours are multiplied by it and do not depend on light
    (KHR_materials_unlit).
    """
    parts = surface_parts(shapes, paint)
    return _written(parts, glow) if parts else None


def mesh_to_glb(mesh: Mesh, material: Material) -> bytes:
    """Return a mesh as a GLB that `read_glb` reads as the same mesh, in single precision, without triangles of zero area."""
    parts = surface_parts([Shape(mesh, material=material)], whole=True)
    extras = {"bodymotion": {"crease_angle": mesh.crease_angle, "normals": mesh.normals is not None}}
    return _written(parts, 0.0, extras) if parts else b""


def _linear(srgb: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """Convert sRGB colours (..., 3 or 4) in 0…1 to linear light (IEC 61966-2-1); a fourth channel is kept."""
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
        entry = {"bufferView": view, "componentType": component, "count": len(values), "type": kind, **more}
        return self.add("accessors", entry)


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
            # In VRML97 from the lower left, in glTF from the upper left.
            s, t = np.concatenate(part.uv).T
            attributes["TEXCOORD_0"] = document.array(np.stack([s, np.float32(1.0) - t], axis=1), "VEC2", 5126)
        if part.colors:
            attributes["COLOR_0"] = document.array(_linear(np.concatenate(part.colors)), f"VEC{surface.channels}", 5126)
        if part.vertices:
            attributes[VERTEX] = document.array(np.concatenate(part.vertices), "SCALAR", 5126)
        indices = document.array(np.concatenate(part.indices), "SCALAR", 5125)
        material = document.add("materials", _material(document, surface, images))
        primitives.append({"attributes": attributes, "indices": indices, "mode": surface.mode, "material": material})
    document.add("meshes", {"primitives": primitives, **({"extras": extras} if extras else {})})
    if glow:
        for look in document.tables["materials"]:
            look["extensions"] = {UNLIT: {}}
            factor = look["pbrMetallicRoughness"]["baseColorFactor"]
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
    is_transparent = alpha < 1.0 or surface.channels == 4
    if surface.textured and look.texture is not None:
        path = look.texture.path
        if path not in images:
            images[path] = _image(document, path)
        image = images[path]
        if image is not None:
            repeats = {"wrapS": look.texture.repeat_s, "wrapT": look.texture.repeat_t}
            sampler = document.add("samplers", {key: _REPEAT if on else _CLAMP for key, on in repeats.items()})
            pbr["baseColorTexture"] = {"index": document.add("textures", {"source": image[0], "sampler": sampler})}
            base = (1.0, 1.0, 1.0)
            is_transparent |= image[1]
    pbr["baseColorFactor"] = [*_linear(base).tolist(), alpha]
    material: dict[str, Any] = {"pbrMetallicRoughness": pbr, "doubleSided": bool(surface.two_sided)}
    if any(look.emissive):
        material["emissiveFactor"] = _linear(look.emissive).tolist()
    if is_transparent:
        material["alphaMode"] = "BLEND"
    return material


def _image(document: _Document, path: Path) -> tuple[int, bool] | None:
    """Embed an image file as PNG or JPEG; return its index and whether it is transparent, None where it is no image.

    A file may be broken in any way; its surface is then drawn without it.
    """
    from PIL import Image

    try:
        with Image.open(path, formats=IMAGES) as opened:
            if opened.width * opened.height > MAX_PIXELS:
                return None
            kind = opened.format
            clear = opened.mode in ("RGBA", "LA") or "transparency" in opened.info
            if kind in ("PNG", "JPEG") and max(opened.size) <= MAX_TEXTURE_PIXELS:
                opened.load()
                data = path.read_bytes()
            else:
                kind = "PNG"
                picture = opened.convert("RGBA" if clear else "RGB")
                picture.thumbnail((MAX_TEXTURE_PIXELS, MAX_TEXTURE_PIXELS))
                buffer = io.BytesIO()
                picture.save(buffer, "PNG")
                data = buffer.getvalue()
    except Exception:  # Pillow raises many exceptions for broken images
        return None
    view = document.bytes(data)
    return document.add("images", {"bufferView": view, "mimeType": f"image/{kind.lower()}"}), clear


MARK, VERTEX, GENERATOR = "bodymotion", "_VERTEX", "bodymotion"
MAX_NODES = 100_000
_KINDS = {5120: np.int8, 5121: np.uint8, 5122: np.int16, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}


@dataclass(frozen=True)
class GlbPart:
    """Triangles of one surface, the transform (4, 4) of their node, and how they look."""

    mesh: Mesh
    transform: Floats
    material: Material
    name: str


@dataclass(frozen=True)
class GlbScene:
    """The contents of a file; `images` is the number of images that are not read, 0 for a file of bodymotion, whose model names them."""

    parts: list[GlbPart]
    images: int


def read_glb(data: bytes) -> GlbScene | None:
    """Read a GLB; None for one with required extensions, triangle strips, or numbers in other files.

    Raises
    ------
    ValueError
        When nothing can be made of the file; with the reason.
    """
    try:
        return _File(data).scene()
    except _UnsupportedError:
        return None
    except (LookupError, TypeError, AttributeError, struct.error, OverflowError) as error:
        raise ValueError(f"this is not a glTF: {error}"[:200]) from error


class _UnsupportedError(Exception):
    pass


class _File:
    def __init__(self, data: bytes) -> None:
        magic, version, size = struct.unpack_from("<4sII", data)
        if magic != b"glTF" or version != 2 or size > len(data):
            raise ValueError("this is not a GLB of version 2, or it is cut off")
        length, kind = struct.unpack_from("<I4s", data, 12)
        if kind != b"JSON" or 20 + length > len(data):
            raise ValueError("the file has no JSON, or it is cut off")
        self.tables: dict[str, Any] = orjson.loads(data[20 : 20 + length])
        self.block = b""
        if 28 + length <= len(data):
            following, kind = struct.unpack_from("<I4s", data, 20 + length)
            self.block = data[28 + length : 28 + length + following] if kind == b"BIN\0" else b""
        if self.tables.get("extensionsRequired"):
            raise _UnsupportedError
        self._meshes: dict[int, list[tuple[Mesh, Material, str]]] = {}

    def scene(self) -> GlbScene:
        """Walk through the nodes of the scene that is shown."""
        nodes = self.tables.get("nodes", [])
        scenes = self.tables.get("scenes")
        roots = scenes[self.tables.get("scene", 0)].get("nodes", []) if scenes else range(len(nodes))
        stack = [(index, np.eye(4)) for index in reversed(roots)]
        parts: list[GlbPart] = []
        seen = 0
        while stack:
            index, outer = stack.pop()
            seen += 1
            if seen > MAX_NODES:
                raise ValueError(f"the nodes are circular, or more than {MAX_NODES}")
            node = nodes[index]
            place = outer @ _transform(node)
            if not np.isfinite(place).all():
                raise ValueError("the pose of a node is not finite")
            if "mesh" in node:
                parts += [GlbPart(mesh, place, look, name) for mesh, look, name in self._mesh(node["mesh"])]
            stack += [(child, place) for child in reversed(node.get("children", []))]
        if not parts:
            raise ValueError("the file has no triangles")
        ours = self.tables.get("asset", {}).get("generator") == GENERATOR
        return GlbScene(parts, 0 if ours else len(self.tables.get("images", [])))

    def _mesh(self, index: int) -> list[tuple[Mesh, Material, str]]:
        if index not in self._meshes:
            mesh = self.tables["meshes"][index]
            extras = mesh.get("extras")
            own_fields = extras.get(MARK) if isinstance(extras, dict) else None
            found = []
            for primitive in mesh["primitives"]:
                mode = primitive.get("mode", TRIANGLES)
                if mode > TRIANGLES:
                    raise _UnsupportedError
                if mode == TRIANGLES:
                    number = primitive.get("material")
                    surface = self.tables["materials"][number] if number is not None else {}
                    made = self._triangles(primitive, own_fields if isinstance(own_fields, dict) else {}, surface)
                    if len(made.faces):
                        found.append((made, _look(surface), str(mesh.get("name", ""))))
            self._meshes[index] = found
        return self._meshes[index]

    def _triangles(self, primitive: dict[str, Any], own_fields: dict[str, Any], surface: dict[str, Any]) -> Mesh:
        attributes = primitive["attributes"]
        places = self._numbers(attributes["POSITION"])
        count = len(places)
        given = primitive.get("indices")
        corners = np.arange(count) if given is None else self._raw(given)[:, 0].astype(np.int64)
        corners = corners[: len(corners) - len(corners) % 3].reshape(-1, 3)
        if len(corners) and not 0 <= corners.min() <= corners.max() < count:
            raise ValueError("an index is beyond the corners")
        if places.shape[1] != 3 or not np.isfinite(places).all():
            raise ValueError("corners are not finite")
        vertices, number = self._joined(places, attributes)

        def of_corners(name: str, widths: tuple[int, ...]) -> Corners | None:
            if name not in attributes:
                return None
            values = self._numbers(attributes[name])
            if len(values) != count or values.shape[1] not in widths or not np.isfinite(values).all():
                raise ValueError(f"{name} is not as it should be")
            rows, row = np.unique(values, axis=0, return_inverse=True)
            if name == "COLOR_0":
                rows = np.concatenate([to_srgb(rows[:, :3]), np.clip(rows[:, 3:], 0.0, 1.0)], axis=1)
            elif name == "TEXCOORD_0":
                rows = np.stack([rows[:, 0], 1.0 - rows[:, 1]], axis=1)
            return Corners(rows, frozen_ints(row.reshape(-1)[corners]))

        angle = own_fields.get("crease_angle")
        return Mesh(
            vertices,
            frozen_ints(number[corners]),
            angle if isinstance(angle, (int, float)) and math.isfinite(angle) else DEFAULT_CREASE_ANGLE,
            normals=None if own_fields.get("normals") is False else of_corners("NORMAL", (3,)),
            colors=of_corners("COLOR_0", (3, 4)),
            texture_coordinates=of_corners("TEXCOORD_0", (2,)),
            two_sided=surface.get("doubleSided") is True,
        )

    def _joined(self, places: Floats, attributes: dict[str, Any]) -> tuple[Floats, npt.NDArray[np.int64]]:
        """Return the vertices as they were before they were split, and the number that each is now."""
        if VERTEX in attributes:
            keys = self._numbers(attributes[VERTEX])
            _, first, number = np.unique(keys[:, 0], return_index=True, return_inverse=True)
            if len(keys) == len(places) and np.array_equal(places[first][number.reshape(-1)], places):
                return places[first], number.reshape(-1)
        _, first, number = np.unique(places + 0.0, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        return places[first[order]], rank[number.reshape(-1)]

    def _numbers(self, index: int) -> Floats:
        """Return an accessor's values (N, K) as numbers, integers that stand for 0…1 or −1…1 as these."""
        raw = self._raw(index)
        values = raw.astype(np.float64)
        if self.tables["accessors"][index].get("normalized") and raw.dtype != np.float32:
            values = np.maximum(values / np.iinfo(raw.dtype).max, -1.0)
        return values

    def _raw(self, index: int) -> npt.NDArray[Any]:
        accessor = self.tables["accessors"][index]
        if "sparse" in accessor or "bufferView" not in accessor:
            raise _UnsupportedError
        view = self.tables["bufferViews"][accessor["bufferView"]]
        if view.get("buffer", 0) != 0 or "uri" in self.tables["buffers"][0]:
            raise _UnsupportedError
        kind, width = np.dtype(_KINDS[accessor["componentType"]]).newbyteorder("<"), _WIDTHS[accessor["type"]]
        start, length = view.get("byteOffset", 0), view["byteLength"]
        if min(start, length, accessor["count"]) < 0 or start + length > len(self.block):
            raise ValueError("an accessor exceeds the data")
        stride = view.get("byteStride", width * kind.itemsize)
        if stride < width * kind.itemsize:
            # Overlapping elements could be any number of them.
            raise ValueError("the stride of an accessor is smaller than its elements")
        block = self.block[start : start + length]
        return np.ndarray(
            (accessor["count"], width), kind, block, accessor.get("byteOffset", 0), (stride, kind.itemsize)
        )


def _transform(node: dict[str, Any]) -> Floats:
    if "matrix" in node:
        return np.array(node["matrix"], dtype=np.float64).reshape(4, 4).T
    x, y, z, w = node.get("rotation", (0.0, 0.0, 0.0, 1.0))
    pose = np.array([*node.get("translation", (0.0, 0.0, 0.0)), w, x, y, z], dtype=np.float64)
    return poses.to_matrix(pose) @ np.diag([*np.array(node.get("scale", (1.0, 1.0, 1.0)), dtype=np.float64), 1.0])


def to_srgb(linear: Floats) -> Floats:
    """Convert linear light to sRGB (IEC 61966-2-1)."""
    value = np.clip(linear, 0.0, 1.0)
    return np.where(value < 0.0031308, 12.92 * value, 1.055 * value ** (1 / 2.4) - 0.055)


def _look(surface: dict[str, Any]) -> Material:
    base = np.array(surface.get("pbrMetallicRoughness", {}).get("baseColorFactor", (1.0,) * 4), dtype=np.float64)
    glow = np.array(surface.get("emissiveFactor", (0.0,) * 3), dtype=np.float64)
    if base.shape != (4,) or glow.shape != (3,) or not (np.isfinite(base).all() and np.isfinite(glow).all()):
        raise ValueError("a material has a wrong number of values, or values that are not finite")
    red, green, blue = to_srgb(base[:3]).tolist()
    bright, of_green, of_blue = to_srgb(glow).tolist()
    clear = 1.0 - min(max(float(base[3]), 0.0), 1.0)
    return Material(diffuse=(red, green, blue), emissive=(bright, of_green, of_blue), transparency=clear)
