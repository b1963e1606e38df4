"""Binary glTF files (GLB 2.0) as meshes: colours, normals and texture coordinates of corners, which side is seen, and how it looks.

A glTF splits a vertex wherever its corners differ. Here vertices at one place are one again; a file of `glb.to_glb` says which they were,
in the attribute ``_VERTEX``, and in the `extras` of its mesh what else glTF has no word for::

    "extras": {"bodymotion": {"crease_angle": 0.5, "normals": false}}

Layout: the glTF 2.0 specification of the Khronos Group, chapters 3.6 (accessors), 3.7 (meshes), 3.5 (nodes) and 4 (GLB).
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats, frozen_ints
from bodymotion.geometry.shapes import Corners, Material, Mesh

__all__ = ["GlbPart", "GlbScene", "read_glb"]

MARK, VERTEX, GENERATOR = "bodymotion", "_VERTEX", "bodymotion"
SMOOTH = 0.5
"""[rad] Crease angle of a mesh that does not give one."""
MOST_NODES = 100_000
TRIANGLES = 4
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
    """What a file shows; `images`: how many it has that are not read, 0 for a file of our own, whose model names them."""

    parts: list[GlbPart]
    images: int


def read_glb(data: bytes) -> GlbScene | None:
    """Read a GLB; None for one that is made otherwise than most: with extensions that it needs, strips, or numbers in other files.

    Raises
    ------
    ValueError
        When nothing can be made of the file; with the reason.
    """
    try:
        return _File(data).scene()
    except _OtherwiseError:
        return None
    except (LookupError, TypeError, AttributeError, struct.error, OverflowError) as error:
        raise ValueError(f"it is no glTF: {error}"[:200]) from error


class _OtherwiseError(Exception):
    pass


class _File:
    def __init__(self, data: bytes) -> None:
        magic, version, size = struct.unpack_from("<4sII", data)
        if magic != b"glTF" or version != 2 or size > len(data):
            raise ValueError("it is no GLB of version 2, or cut off")
        length, kind = struct.unpack_from("<I4s", data, 12)
        if kind != b"JSON" or 20 + length > len(data):
            raise ValueError("it has no JSON, or is cut off")
        self.tables: dict[str, Any] = orjson.loads(data[20 : 20 + length])
        self.block = b""
        if 28 + length <= len(data):
            following, kind = struct.unpack_from("<I4s", data, 20 + length)
            self.block = data[28 + length : 28 + length + following] if kind == b"BIN\0" else b""
        if self.tables.get("extensionsRequired"):
            raise _OtherwiseError
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
            if seen > MOST_NODES:
                raise ValueError("its nodes go round in a circle, or are too many")
            node = nodes[index]
            place = outer @ _transform(node)
            if not np.isfinite(place).all():
                raise ValueError("the place of a node is not finite")
            if "mesh" in node:
                parts += [GlbPart(mesh, place, look, name) for mesh, look, name in self._mesh(node["mesh"])]
            stack += [(child, place) for child in reversed(node.get("children", []))]
        if not parts:
            raise ValueError("it holds no triangles")
        ours = self.tables.get("asset", {}).get("generator") == GENERATOR
        return GlbScene(parts, 0 if ours else len(self.tables.get("images", [])))

    def _mesh(self, index: int) -> list[tuple[Mesh, Material, str]]:
        if index not in self._meshes:
            mesh = self.tables["meshes"][index]
            extras = mesh.get("extras")
            said = extras.get(MARK) if isinstance(extras, dict) else None
            found = []
            for primitive in mesh["primitives"]:
                mode = primitive.get("mode", TRIANGLES)
                if mode > TRIANGLES:
                    raise _OtherwiseError
                if mode == TRIANGLES:
                    number = primitive.get("material")
                    surface = self.tables["materials"][number] if number is not None else {}
                    made = self._triangles(primitive, said if isinstance(said, dict) else {}, surface)
                    if len(made.faces):
                        found.append((made, _look(surface), str(mesh.get("name", ""))))
            self._meshes[index] = found
        return self._meshes[index]

    def _triangles(self, primitive: dict[str, Any], said: dict[str, Any], surface: dict[str, Any]) -> Mesh:
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
                rows = np.concatenate([_to_srgb(rows[:, :3]), np.clip(rows[:, 3:], 0.0, 1.0)], axis=1)
            elif name == "TEXCOORD_0":
                rows = np.stack([rows[:, 0], 1.0 - rows[:, 1]], axis=1)
            return Corners(rows, frozen_ints(row.reshape(-1)[corners]))

        angle = said.get("crease_angle")
        return Mesh(
            vertices,
            frozen_ints(number[corners]),
            angle if isinstance(angle, (int, float)) and math.isfinite(angle) else SMOOTH,
            normals=None if said.get("normals") is False else of_corners("NORMAL", (3,)),
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
            raise _OtherwiseError
        view = self.tables["bufferViews"][accessor["bufferView"]]
        if view.get("buffer", 0) != 0 or "uri" in self.tables["buffers"][0]:
            raise _OtherwiseError
        kind, width = np.dtype(_KINDS[accessor["componentType"]]).newbyteorder("<"), _WIDTHS[accessor["type"]]
        start, length = view.get("byteOffset", 0), view["byteLength"]
        if min(start, length, accessor["count"]) < 0 or start + length > len(self.block):
            raise ValueError("its numbers are cut off")
        stride = view.get("byteStride", width * kind.itemsize)
        if stride < width * kind.itemsize:
            # Numbers that overlap could be any number of them.
            raise ValueError("its numbers overlap")
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


def _to_srgb(linear: Floats) -> Floats:
    """Take linear light to the screen's colours (IEC 61966-2-1)."""
    value = np.clip(linear, 0.0, 1.0)
    return np.where(value < 0.0031308, 12.92 * value, 1.055 * value ** (1 / 2.4) - 0.055)


def _look(surface: dict[str, Any]) -> Material:
    base = np.array(surface.get("pbrMetallicRoughness", {}).get("baseColorFactor", (1.0,) * 4), dtype=np.float64)
    glow = np.array(surface.get("emissiveFactor", (0.0,) * 3), dtype=np.float64)
    if base.shape != (4,) or glow.shape != (3,) or not (np.isfinite(base).all() and np.isfinite(glow).all()):
        raise ValueError("a material is not as it should be")
    red, green, blue = _to_srgb(base[:3]).tolist()
    bright, of_green, of_blue = _to_srgb(glow).tolist()
    clear = 1.0 - min(max(float(base[3]), 0.0), 1.0)
    return Material(diffuse=(red, green, blue), emissive=(bright, of_green, of_blue), transparency=clear)
