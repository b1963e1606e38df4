"""Binary glTF files (GLB 2.0), written and read.

What the browser draws of a link, and mesh files beside a model.

Written: parts with the same surface are merged, so a link costs few draw calls. Colours
of VRML97 are for the screen (sRGB) and those of glTF are linear, so they are converted;
otherwise everything would look pale. VRML97's shininess becomes roughness as is common
for Blinn–Phong exponents: roughness = √(2 / (2 + 128 · shininess)).

Read with trimesh: colours, normals and texture coordinates of corners, visible sides,
materials. A glTF splits a vertex wherever its corners differ. Here vertices at one
position are merged again; a file of `to_glb` has their numbers in the attribute
``_VERTEX``, and in
the `extras` of its mesh what glTF has no field for::

    "extras": {"bodymotion": {"crease_angle": 0.5, "normals": false}}

Layout: the glTF 2.0 specification of the Khronos Group, chapters 3.6 (accessors), 3.7
(meshes), 3.9 (materials) and 4 (GLB).
"""

import io
import math
import struct
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from bodymotion.formats.meshes import DEFAULT_CREASE_ANGLE
from bodymotion.formats.plain import parse_json
from bodymotion.geometry.arrays import Floats, frozen_ints
from bodymotion.geometry.meshes import TRIANGLES, Part, Surface, surface_parts
from bodymotion.geometry.shapes import Corners, Material, Mesh, Shape

MAX_TEXTURE_PIXELS = (
    2048  # Pixels of a texture's longer side; larger images are scaled down.
)
MAX_PIXELS = 64_000_000
IMAGES = ("PNG", "JPEG", "GIF", "BMP", "TGA", "TIFF", "PPM")

UNLIT = "KHR_materials_unlit"

_REPEAT = 10497
_CLAMP = 33071

MARK = "bodymotion"
VERTEX = "_VERTEX"
GENERATOR = "bodymotion"
MAX_NODES = 100_000
MAX_CORNERS = 4_000_000
_READ_MODES = (0, 1, TRIANGLES, 5)
"""Points, lines, triangles and strips of these.

What trimesh makes geometries of, one per primitive and in their order.
"""


def to_glb(
    shapes: Iterable[Shape], paint: Material | None = None, glow: float = 0.0
) -> bytes | None:
    """Return the shapes as a GLB, in the frame that they are in.

    None where nothing is visible.

    With `paint` everything has that material. With a `glow` the colours are multiplied
    by it and do not depend on light (KHR_materials_unlit).
    """
    parts = surface_parts(shapes, paint)
    if parts:
        return _written(parts, glow)
    return None


def mesh_to_glb(mesh: Mesh, material: Material) -> bytes:
    """Return a mesh as a GLB that `read_gltf` reads as the same mesh, in single precision, without triangles of zero area."""
    parts = surface_parts([Shape(mesh, material=material)], whole=True)
    extras = {
        "bodymotion": {
            "crease_angle": mesh.crease_angle,
            "normals": mesh.normals is not None,
        }
    }
    if parts:
        return _written(parts, 0.0, extras)
    return b""


def _linear(srgb: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """Convert sRGB colours (..., 3 or 4) in 0…1 to linear light (IEC 61966-2-1).

    A fourth channel is kept.
    """
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
        view = self.add(
            "bufferViews",
            {"buffer": 0, "byteOffset": len(self.block), "byteLength": len(data)},
        )
        self.block += data
        return view

    def array(
        self,
        values: npt.NDArray[Any],
        kind: str,
        component: int,
        **more: Any,  # noqa: ANN401
    ) -> int:
        view = self.bytes(np.ascontiguousarray(values).tobytes())
        entry = {
            "bufferView": view,
            "componentType": component,
            "count": len(values),
            "type": kind,
            **more,
        }
        return self.add("accessors", entry)


def _written(
    parts: list[Part], glow: float, extras: dict[str, Any] | None = None
) -> bytes:
    document = _Document()
    images: dict[Path, tuple[int, bool] | None] = {}
    primitives = []
    for part in parts:
        surface = part.surface
        positions = np.concatenate(part.positions)
        lowest = positions.min(axis=0).tolist()
        highest = positions.max(axis=0).tolist()
        attributes = {
            "POSITION": document.array(positions, "VEC3", 5126, min=lowest, max=highest)
        }
        if part.normals:
            attributes["NORMAL"] = document.array(
                np.concatenate(part.normals), "VEC3", 5126
            )
        if part.uv:
            # In VRML97 from the lower left, in glTF from the upper left.
            s, t = np.concatenate(part.uv).T
            attributes["TEXCOORD_0"] = document.array(
                np.stack([s, np.float32(1.0) - t], axis=1), "VEC2", 5126
            )
        if part.colors:
            attributes["COLOR_0"] = document.array(
                _linear(np.concatenate(part.colors)), f"VEC{surface.channels}", 5126
            )
        if part.vertices:
            attributes[VERTEX] = document.array(
                np.concatenate(part.vertices), "SCALAR", 5126
            )
        indices = document.array(np.concatenate(part.indices), "SCALAR", 5125)
        material = document.add("materials", _material(document, surface, images))
        primitives.append(
            {
                "attributes": attributes,
                "indices": indices,
                "mode": surface.mode,
                "material": material,
            }
        )
    document.add(
        "meshes", {"primitives": primitives, **({"extras": extras} if extras else {})}
    )
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
    head = struct.pack("<4sII", b"glTF", 2, 12 + 8 + len(text) + 8 + len(block))
    return (
        head
        + struct.pack("<I4s", len(text), b"JSON")
        + text
        + struct.pack("<I4s", len(block), b"BIN\0")
        + block
    )


def _material(
    document: _Document, surface: Surface, images: dict[Path, tuple[int, bool] | None]
) -> dict[str, Any]:
    look = surface.material
    base: Floats | tuple[float, float, float] = look.diffuse
    if surface.mode != TRIANGLES:
        if any(look.emissive):
            base = look.emissive
        else:
            base = look.diffuse
    if surface.channels:
        base = (1.0, 1.0, 1.0)
    alpha = min(max(1.0 - look.transparency, 0.0), 1.0)
    shininess = min(max(look.shininess, 0.0), 1.0)
    pbr: dict[str, Any] = {
        "metallicFactor": 0.0,
        "roughnessFactor": float(np.sqrt(2.0 / (2.0 + 128.0 * shininess))),
    }
    is_transparent = alpha < 1.0 or surface.channels == 4
    if surface.textured and look.texture is not None:
        path = look.texture.path
        if path not in images:
            images[path] = _image(document, path)
        image = images[path]
        if image is not None:
            repeats = {"wrapS": look.texture.repeat_s, "wrapT": look.texture.repeat_t}
            sampler = document.add(
                "samplers",
                {key: _REPEAT if on else _CLAMP for key, on in repeats.items()},
            )
            pbr["baseColorTexture"] = {
                "index": document.add(
                    "textures", {"source": image[0], "sampler": sampler}
                )
            }
            base = (1.0, 1.0, 1.0)
            is_transparent |= image[1]
    pbr["baseColorFactor"] = [*_linear(base).tolist(), alpha]
    material: dict[str, Any] = {
        "pbrMetallicRoughness": pbr,
        "doubleSided": bool(surface.two_sided),
    }
    if any(look.emissive):
        material["emissiveFactor"] = _linear(look.emissive).tolist()
    if is_transparent:
        material["alphaMode"] = "BLEND"
    return material


def _image(document: _Document, path: Path) -> tuple[int, bool] | None:
    """Embed an image file as PNG or JPEG.

    Return its index and whether it is transparent, None where it is no image.

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
    return document.add(
        "images",
        {"bufferView": document.bytes(data), "mimeType": f"image/{kind.lower()}"},
    ), clear


def read_gltf(data: bytes, kind: str = "glb") -> tuple[list[Shape], int]:
    """Read a glTF with all its numbers in one file, binary or (`kind` "gltf") as text.

    Trimesh takes it apart.

    Returns
    -------
    The triangles of the scene that is shown; and the number of images, not read, 0 for
    a file of bodymotion, whose model names them.

    Raises
    ------
    ValueError
        When nothing can be made of the file; with the reason.
    """
    from trimesh.exchange.gltf import load_glb, load_gltf

    try:
        header = parse_json(
            data
            if kind == "gltf"
            else data[20 : 20 + int.from_bytes(data[12:16], "little")]
        )
        _check_sizes(header, len(data))
        # From a stream, without a resolver: so no file that it names is opened.
        loaded = (load_gltf if kind == "gltf" else load_glb)(io.BytesIO(data))
        primitives = [
            (mesh, primitive)
            for mesh in header["meshes"]
            for primitive in mesh["primitives"]
            if primitive.get("mode", TRIANGLES) in _READ_MODES
        ]
        made = {
            name: _shape(header, mesh, primitive, found)
            for (name, found), (mesh, primitive) in zip(
                loaded["geometry"].items(), primitives, strict=True
            )
            if len(found.get("faces", ()))
        }
        places = {loaded["base_frame"]: np.eye(4)}
        placed: dict[str, list[Floats]] = {name: [] for name in made}
        for edge in loaded["graph"]:
            if edge["frame_from"] not in places:
                raise ValueError(
                    "a node is below a camera or below lines; move it to the top"
                )
            place = places[edge["frame_to"]] = (
                places[edge["frame_from"]] @ edge["matrix"]
            )
            if edge.get("geometry") in placed:
                placed[edge["geometry"]].append(_finite("the pose of a node", place))
        shapes = [
            replace(shape, transform=place)
            for name, shape in made.items()
            for place in placed[name]
        ]
        if header["asset"].get("generator") == GENERATOR:
            images = 0
        else:
            images = len(header.get("images", ()))
    except (
        Exception
    ) as error:  # trimesh's readers raise many exceptions for broken files
        raise ValueError(
            f"this is not a glTF: {error or type(error).__name__}"[:200]
        ) from error
    if not shapes:
        raise ValueError("the file has no triangles")
    return shapes, images


def _check_sizes(header: dict[str, Any], size: int) -> None:
    """Check what trimesh does not.

    That all numbers are in the file, and that few bytes do not stand for many nodes or
    corners.
    """
    accessors, nodes, meshes = (
        header.get(table, []) for table in ("accessors", "nodes", "meshes")
    )
    primitives = [primitive for mesh in meshes for primitive in mesh["primitives"]]
    used = [
        accessors[k]
        for primitive in primitives
        for k in primitive["attributes"].values()
    ]
    used += [
        accessors[primitive["indices"]]
        for primitive in primitives
        if "indices" in primitive
    ]
    if any("sparse" in accessor or "bufferView" not in accessor for accessor in used):
        raise ValueError(
            "its numbers are compressed or sparse; export it without compression"
        )
    if sum(accessor["count"] for accessor in [*accessors, *used]) > max(
        MAX_CORNERS, 2 * size
    ):
        raise ValueError("its accessors have more elements than the file")
    below = [
        *header["scenes"][header.get("scene", 0)]["nodes"],
        *(k for node in nodes for k in node.get("children", ())),
    ]
    if len(set(below)) != len(below):
        raise ValueError("a node is in two nodes, or in itself")
    if (
        sum(len(meshes[node["mesh"]]["primitives"]) for node in nodes if "mesh" in node)
        > MAX_NODES
    ):
        raise ValueError(f"it shows more than {MAX_NODES} surfaces")


def _finite(name: str, values: npt.ArrayLike, *widths: int) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all() or (widths and array.shape[-1] not in widths):
        raise ValueError(
            f"{name} has values that are not finite, or a wrong number of them"
        )
    return array


def _shape(
    header: dict[str, Any],
    mesh: dict[str, Any],
    primitive: dict[str, Any],
    found: dict[str, Any],
) -> Shape:
    if "material" in primitive:
        surface = header["materials"][primitive["material"]]
    else:
        surface = {}

    def numbers(name: str, values: Any, *widths: int) -> Floats:  # noqa: ANN401
        if values.dtype.kind in "iu" and header["accessors"][
            primitive["attributes"][name]
        ].get("normalized"):
            values = np.maximum(values / np.iinfo(values.dtype).max, -1.0)
        return _finite(name, values, *widths)

    places = numbers("POSITION", found["vertices"], 3)
    corners = np.asarray(found["faces"])
    if corners.dtype.kind not in "iu" or not 0 <= corners.min() <= corners.max() < len(
        places
    ):
        raise ValueError("an index is beyond the corners")
    # A file of `to_glb` numbers its vertices; else those at one position are one.
    for keys in (found.get("vertex_attributes", {}).get(VERTEX, places), places):
        _, first, number = np.unique(
            keys + 0.0, axis=0, return_index=True, return_inverse=True
        )
        vertices = places[first]
        number = number.reshape(-1)
        if np.array_equal(vertices[number], places):
            break

    def of_corners(name: str, values: Any, *widths: int) -> Corners | None:  # noqa: ANN401
        if values is None:
            return None
        if len(values) != len(places):
            raise ValueError(
                f"{name} has {len(values)} values for {len(places)} corners"
            )
        rows, row = np.unique(
            numbers(name, values, *widths), axis=0, return_inverse=True
        )
        if name == "COLOR_0":
            rows = np.concatenate(
                [to_srgb(rows[:, :3]), np.clip(rows[:, 3:], 0.0, 1.0)], axis=1
            )
        return Corners(rows, frozen_ints(row.reshape(-1)[corners]))

    own_fields = found["metadata"].get(MARK)
    if not isinstance(own_fields, dict):
        own_fields = {}
    angle = own_fields.get("crease_angle")
    visual = found.get("visual")
    uv, colors = (
        (None, None)
        if visual is None
        else (visual.uv, visual.vertex_attributes.get("color"))
    )
    read = Mesh(
        vertices,
        frozen_ints(number[corners]),
        angle
        if isinstance(angle, (int, float)) and math.isfinite(angle)
        else DEFAULT_CREASE_ANGLE,
        normals=None
        if own_fields.get("normals") is False
        else of_corners("NORMAL", found.get("vertex_normals"), 3),
        colors=of_corners("COLOR_0", found.get("vertex_colors", colors), 3, 4),
        texture_coordinates=of_corners("TEXCOORD_0", uv, 2),
        two_sided=surface.get("doubleSided") is True,
    )
    base = _finite(
        "a base colour",
        surface.get("pbrMetallicRoughness", {}).get("baseColorFactor", (1.0,) * 4),
        4,
    )
    red, green, blue = to_srgb(base[:3]).tolist()
    glow_red, glow_green, glow_blue = to_srgb(
        _finite("a glow", surface.get("emissiveFactor", (0.0,) * 3), 3)
    ).tolist()
    look = Material(
        diffuse=(red, green, blue),
        emissive=(glow_red, glow_green, glow_blue),
        transparency=1.0 - min(max(float(base[3]), 0.0), 1.0),
    )
    return Shape(read, material=look, name=str(mesh.get("name", "")))


def to_srgb(linear: Floats) -> Floats:
    """Convert linear light to sRGB (IEC 61966-2-1)."""
    value = np.clip(linear, 0.0, 1.0)
    return np.where(
        value < 0.0031308, 12.92 * value, 1.055 * value ** (1 / 2.4) - 0.055
    )
