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
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import orjson

from bodymotion.formats.meshes import DEFAULT_CREASE_ANGLE
from bodymotion.formats.plain import parse_json
from bodymotion.geometry.arrays import Floats, frozen_ints
from bodymotion.geometry.meshes import TRIANGLES, Part, Surface, surface_parts
from bodymotion.geometry.shapes import Corners, Material, Mesh, Shape, Texture

# Pixels of a texture's longer side; larger images are scaled down.
MAX_TEXTURE_PIXELS = 2048
MAX_PIXELS = 64_000_000
IMAGES = ("PNG", "JPEG", "GIF", "BMP", "TGA", "TIFF", "PPM")

UNLIT = "KHR_materials_unlit"

# Constants of OpenGL that glTF uses.
_REPEAT = 10497
_CLAMP = 33071
_FLOAT = 5126
_UNSIGNED_INT = 5125

# VRML97's shininess 1 as an exponent of Blinn–Phong.
SHININESS_EXPONENT = 128.0

MARK = "bodymotion"
VERTEX = "_VERTEX"
GENERATOR = "bodymotion"
MAX_NODES = 100_000
MAX_CORNERS = 4_000_000
# [bytes] Parts of a GLB begin at multiples of this number.
ALIGNMENT = 4
# Points, lines, triangles and strips of these. What trimesh makes geometries of, one
# per primitive and in their order.
_READ_MODES = (0, 1, TRIANGLES, 5)


class EmbeddedImage(NamedTuple):
    """An image in a GLB: its number, and whether it is transparent."""

    number: int
    is_transparent: bool


def to_glb(
    shapes: Iterable[Shape], paint: Material | None = None, glow: float = 0.0
) -> bytes | None:
    """Return the shapes as a GLB, in the frame that they are in.

    None where nothing is visible.

    With `paint` everything has that material. With a `glow` the colours are multiplied
    by it and do not depend on light (KHR_materials_unlit).
    """
    parts = surface_parts(shapes, paint)
    return _encode(parts, glow) if parts else None


def mesh_to_glb(mesh: Mesh, material: Material) -> bytes:
    """Return a mesh as a GLB that `read_gltf` reads as the same mesh.

    It is in single precision, without triangles of zero area.
    """
    parts = surface_parts([Shape(mesh, material=material)], whole=True)
    fields = {
        "crease_angle": mesh.crease_angle,
        "normals": mesh.normals is not None,
    }
    return _encode(parts, 0.0, {MARK: fields}) if parts else b""


def _linear(srgb: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """Convert sRGB colours to linear light (IEC 61966-2-1).

    They are (..., 3 or 4), in 0…1.

    A fourth channel is kept.
    """
    value = np.clip(np.nan_to_num(np.asarray(srgb, dtype=np.float32)), 0.0, 1.0)
    # Near black the curve is a straight line. glTF has linear light, VRML97 sRGB.
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

    def add_bytes(self, data: bytes) -> int:
        """Add bytes, and return the index of their view."""
        # −n mod 4 is the number of bytes up to the next multiple of 4.
        self.block += b"\0" * (-len(self.block) % ALIGNMENT)
        view = {"buffer": 0, "byteOffset": len(self.block), "byteLength": len(data)}
        self.block += data
        return self.add("bufferViews", view)

    def array(
        self,
        values: npt.NDArray[Any],
        kind: str,
        component: int = _FLOAT,
        **more: Any,  # noqa: ANN401
    ) -> int:
        """Add an array, and return the index of its accessor."""
        view = self.add_bytes(np.ascontiguousarray(values).tobytes())
        accessor = {
            "bufferView": view,
            "componentType": component,
            "count": len(values),
            "type": kind,
            **more,
        }
        return self.add("accessors", accessor)

    def encoded(self, root: dict[str, Any]) -> bytes:
        """Return the file: header, JSON of `root` and the tables, bytes."""
        text = orjson.dumps({**root, **self.tables})
        # glTF fills up the JSON with blanks, the bytes with zeros.
        text += b" " * (-len(text) % ALIGNMENT)
        block = bytes(self.block) + b"\0" * (-len(self.block) % ALIGNMENT)
        # Each of the two chunks begins with its length and its type.
        body = struct.pack("<I4s", len(text), b"JSON") + text
        body += struct.pack("<I4s", len(block), b"BIN\0") + block
        header_bytes = 12
        header = struct.pack("<4sII", b"glTF", 2, header_bytes + len(body))
        return header + body


def _encode(
    parts: list[Part], glow: float, extras: dict[str, Any] | None = None
) -> bytes:
    """Return parts as a GLB: one mesh with a primitive for each part.

    `extras` are fields of ours in the mesh, for the reader.
    """
    document = _Document()
    images: dict[Path, EmbeddedImage | None] = {}
    primitives = [_primitive(document, part, images) for part in parts]
    mesh: dict[str, Any] = {"primitives": primitives}
    if extras:
        mesh["extras"] = extras
    document.add("meshes", mesh)
    root: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": GENERATOR},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "buffers": [{"byteLength": len(document.block)}],
    }
    if glow:
        root["extensionsUsed"] = [UNLIT]
        for look in document.tables["materials"]:
            look["extensions"] = {UNLIT: {}}
            # Without light the base colour is what is seen.
            factor = look["pbrMetallicRoughness"]["baseColorFactor"]
            factor[:3] = [glow * value for value in factor[:3]]
    return document.encoded(root)


def _primitive(
    document: _Document, part: Part, images: dict[Path, EmbeddedImage | None]
) -> dict[str, Any]:
    """Add the arrays and the material of a part, and return its primitive."""
    surface = part.surface
    positions = np.concatenate(part.positions)
    # glTF requires the bounds of positions.
    lowest = positions.min(axis=0).tolist()
    highest = positions.max(axis=0).tolist()
    attributes = {
        "POSITION": document.array(positions, "VEC3", min=lowest, max=highest)
    }
    if part.normals:
        attributes["NORMAL"] = document.array(np.concatenate(part.normals), "VEC3")
    if part.uv:
        # In VRML97 from the lower left, in glTF from the upper left.
        s, t = np.concatenate(part.uv).T
        coordinates = np.stack([s, np.float32(1.0) - t], axis=1)
        attributes["TEXCOORD_0"] = document.array(coordinates, "VEC2")
    if part.colors:
        colors = _linear(np.concatenate(part.colors))
        attributes["COLOR_0"] = document.array(colors, f"VEC{surface.channels}")
    if part.vertices:
        attributes[VERTEX] = document.array(np.concatenate(part.vertices), "SCALAR")
    indices = np.concatenate(part.indices)
    return {
        "attributes": attributes,
        "indices": document.array(indices, "SCALAR", _UNSIGNED_INT),
        "mode": surface.mode,
        "material": document.add("materials", _material(document, surface, images)),
    }


def _material(
    document: _Document, surface: Surface, images: dict[Path, EmbeddedImage | None]
) -> dict[str, Any]:
    """Return the glTF material of a surface, with its image."""
    look = surface.material
    base = look.diffuse
    if surface.mode != TRIANGLES and any(look.emissive):
        # Lines and points of VRML97 have the colour in which they glow.
        base = look.emissive
    # Colours of vertices replace that of the material: glTF multiplies both.
    if surface.channels:
        base = (1.0, 1.0, 1.0)
    alpha = min(max(1.0 - look.transparency, 0.0), 1.0)
    shininess = min(max(look.shininess, 0.0), 1.0)
    # Blinn-Phong with the exponent n is as wide as Beckmann's distribution of the
    # roughness m, with m² = 2 / (n + 2).
    roughness = float(np.sqrt(2.0 / (2.0 + SHININESS_EXPONENT * shininess)))
    pbr: dict[str, Any] = {"metallicFactor": 0.0, "roughnessFactor": roughness}
    is_transparent = alpha < 1.0 or surface.channels == 4
    if surface.textured and look.texture is not None:
        path = look.texture.path
        if path not in images:
            images[path] = _embed(document, path)
        image = images[path]
        if image is not None:
            texture = _texture(document, look.texture, image)
            pbr["baseColorTexture"] = {"index": texture}
            base = (1.0, 1.0, 1.0)
            is_transparent |= image.is_transparent
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


def _texture(document: _Document, texture: Texture, image: EmbeddedImage) -> int:
    """Add a texture, and return its index."""
    sampler = {
        "wrapS": _REPEAT if texture.repeat_s else _CLAMP,
        "wrapT": _REPEAT if texture.repeat_t else _CLAMP,
    }
    entry = {"source": image.number, "sampler": document.add("samplers", sampler)}
    return document.add("textures", entry)


def _embed(document: _Document, path: Path) -> EmbeddedImage | None:
    """Embed an image file as PNG or JPEG.

    None where it is no image.

    A file may be broken in any way; its surface is then drawn without it.
    """
    from PIL import Image

    try:
        with Image.open(path, formats=IMAGES) as image:
            if image.width * image.height > MAX_PIXELS:
                return None
            kind = image.format
            is_transparent = (
                image.mode in ("RGBA", "LA") or "transparency" in image.info
            )
            # glTF has PNG and JPEG only. A file of these is embedded as it is, after
            # `load` has found it whole.
            if kind in ("PNG", "JPEG") and max(image.size) <= MAX_TEXTURE_PIXELS:
                image.load()
                data = path.read_bytes()
            else:
                kind = "PNG"
                picture = image.convert("RGBA" if is_transparent else "RGB")
                picture.thumbnail((MAX_TEXTURE_PIXELS, MAX_TEXTURE_PIXELS))
                buffer = io.BytesIO()
                picture.save(buffer, "PNG")
                data = buffer.getvalue()
    except Exception:  # Pillow raises many exceptions for broken images
        return None
    entry = {
        "bufferView": document.add_bytes(data),
        "mimeType": f"image/{kind.lower()}",
    }
    return EmbeddedImage(document.add("images", entry), is_transparent)


def read_gltf(data: bytes, kind: str = "glb") -> tuple[list[Shape], int]:
    """Read a glTF whose numbers are all in one file.

    It is binary, or with `kind` "gltf" text. Trimesh takes it apart.

    Returns
    -------
    The triangles of the scene that is shown; and the number of images, not read, 0 for
    a file of bodymotion, whose model names them.

    Raises
    ------
    ValueError
        When nothing can be made of the file; with the reason.
    """
    try:
        header = _read_header(data, kind)
        _check_sizes(header, len(data))
        shapes = _read_shapes(header, data, kind)
        num_images = len(header.get("images", ()))
        if header["asset"].get("generator") == GENERATOR:
            num_images = 0
    except Exception as error:
        # trimesh's readers raise many exceptions for broken files.
        message = f"this is not a glTF: {error or type(error).__name__}"
        raise ValueError(message[:200]) from error
    if not shapes:
        raise ValueError("the file has no triangles")
    return shapes, num_images


def _read_header(data: bytes, kind: str) -> dict[str, Any]:
    """Return the JSON of a file, of a binary one its first chunk."""
    if kind != "gltf":
        # 12 bytes of the file's header, then length and type of the first chunk.
        chunk = 20
        size = int.from_bytes(data[12:16], "little")
        data = data[chunk : chunk + size]
    header: dict[str, Any] = parse_json(data)
    return header


def _read_shapes(header: dict[str, Any], data: bytes, kind: str) -> list[Shape]:
    """Return the triangles of the scene that is shown."""
    from trimesh.exchange.gltf import load_glb, load_gltf

    # From a stream, without a resolver: so no file that it names is opened.
    load = load_gltf if kind == "gltf" else load_glb
    loaded = load(io.BytesIO(data))
    # In the order in which trimesh makes geometries of them, to find the material of
    # each in the header again.
    primitives = []
    for mesh in header["meshes"]:
        for primitive in mesh["primitives"]:
            if primitive.get("mode", TRIANGLES) in _READ_MODES:
                primitives.append((mesh, primitive))
    shapes: dict[str, Shape] = {}
    for (name, geometry), (mesh, primitive) in zip(
        loaded["geometry"].items(), primitives, strict=True
    ):
        if len(geometry.get("faces", ())):
            shapes[name] = _shape(header, mesh, primitive, geometry)
    # By node, its transform (4, 4) in the scene. Edges go from parents to children, in
    # an order in which parents come first.
    transforms = {loaded["base_frame"]: np.eye(4)}
    uses: dict[str, list[Floats]] = {name: [] for name in shapes}
    for edge in loaded["graph"]:
        if edge["frame_from"] not in transforms:
            raise ValueError(
                "a node is below a camera or below lines; move it to the top"
            )
        transform = transforms[edge["frame_from"]] @ edge["matrix"]
        transforms[edge["frame_to"]] = transform
        if edge.get("geometry") in uses:
            uses[edge["geometry"]].append(_finite("the pose of a node", transform))
    placed = []
    for name, shape in shapes.items():
        placed += [replace(shape, transform=transform) for transform in uses[name]]
    return placed


def _check_sizes(header: dict[str, Any], size: int) -> None:
    """Check what trimesh does not: that all numbers are in the file.

    And that few bytes do not stand for many nodes or corners.
    """
    accessors = header.get("accessors", [])
    nodes = header.get("nodes", [])
    meshes = header.get("meshes", [])
    # Accessors count once in the table, and once for each use.
    used = []
    for mesh in meshes:
        for primitive in mesh["primitives"]:
            used += [accessors[index] for index in primitive["attributes"].values()]
            if "indices" in primitive:
                used.append(accessors[primitive["indices"]])
    if any("sparse" in accessor or "bufferView" not in accessor for accessor in used):
        raise ValueError(
            "its numbers are compressed or sparse; export it without compression"
        )
    num_elements = sum(accessor["count"] for accessor in [*accessors, *used])
    if num_elements > max(MAX_CORNERS, 2 * size):
        raise ValueError("its accessors have more elements than the file")
    children = list(header["scenes"][header.get("scene", 0)]["nodes"])
    num_surfaces = 0
    for node in nodes:
        children += node.get("children", ())
        if "mesh" in node:
            num_surfaces += len(meshes[node["mesh"]]["primitives"])
    # The nodes are a tree: none is reached twice, or from itself.
    if len(set(children)) != len(children):
        raise ValueError("a node is in two nodes, or in itself")
    if num_surfaces > MAX_NODES:
        raise ValueError(f"it shows more than {MAX_NODES} surfaces")


def _finite(name: str, values: npt.ArrayLike, *widths: int) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all() or (widths and array.shape[-1] not in widths):
        raise ValueError(
            f"{name} has values that are not finite, or a wrong number of them"
        )
    return array


class _Corners:
    """The corners of the triangles of a primitive, and their attributes."""

    def __init__(
        self,
        header: dict[str, Any],
        primitive: dict[str, Any],
        geometry: dict[str, Any],
    ) -> None:
        """Check the positions and indices of a primitive that trimesh read."""
        self.accessors = header.get("accessors", [])
        self.attributes = primitive["attributes"]
        self.positions = self.numbers("POSITION", geometry["vertices"], 3)
        """(N, 3) One for each corner that differs in an attribute."""
        self.faces = np.asarray(geometry["faces"])
        is_integer = self.faces.dtype.kind in "iu"
        count = len(self.positions)
        if not is_integer or not 0 <= self.faces.min() <= self.faces.max() < count:
            raise ValueError("an index is beyond the corners")

    def numbers(self, name: str, values: Any, *widths: int) -> Floats:  # noqa: ANN401
        """Return the numbers of an attribute; normalised integers in −1…1."""
        if values.dtype.kind in "iu":
            accessor = self.accessors[self.attributes[name]]
            if accessor.get("normalized"):
                # glTF 2.0: f = max(c / max, −1), so that both ends of a signed range
                # are reached.
                values = np.maximum(values / np.iinfo(values.dtype).max, -1.0)
        return _finite(name, values, *widths)

    def of(
        self,
        name: str,
        values: Any,  # noqa: ANN401
        *widths: int,
    ) -> Corners | None:
        """Return an attribute of the corners of each triangle, None without values."""
        if values is None:
            return None
        count = len(self.positions)
        if len(values) != count:
            raise ValueError(f"{name} has {len(values)} values for {count} corners")
        numbers = self.numbers(name, values, *widths)
        # Values once, with an index for each corner: most corners share theirs.
        rows, row = np.unique(numbers, axis=0, return_inverse=True)
        if name == "COLOR_0":
            alpha = np.clip(rows[:, 3:], 0.0, 1.0)
            rows = np.concatenate([to_srgb(rows[:, :3]), alpha], axis=1)
        return Corners(rows, frozen_ints(row.reshape(-1)[self.faces]))

    def merged(
        self,
        numbers: Any,  # noqa: ANN401
    ) -> tuple[Floats, npt.NDArray[np.int32]]:
        """Return vertices (V, 3) and faces (F, 3).

        Corners at one position are one vertex.

        A file of `to_glb` has numbers of its vertices, which count if they fit.
        """
        for keys in (self.positions if numbers is None else numbers, self.positions):
            # Adding 0.0 makes 0.0 of -0.0.
            _, first, number = np.unique(
                keys + 0.0, axis=0, return_index=True, return_inverse=True
            )
            # A vertex number fits if all of its corners are at one position.
            vertices = self.positions[first]
            number = number.reshape(-1)
            if np.array_equal(vertices[number], self.positions):
                break
        return vertices, frozen_ints(number[self.faces])


def _shape(
    header: dict[str, Any],
    mesh: dict[str, Any],
    primitive: dict[str, Any],
    geometry: dict[str, Any],
) -> Shape:
    """Return the triangles of a primitive, which trimesh read as `geometry`."""
    surface = {}
    if "material" in primitive:
        surface = header["materials"][primitive["material"]]
    corners = _Corners(header, primitive, geometry)
    vertices, faces = corners.merged(geometry.get("vertex_attributes", {}).get(VERTEX))
    fields = geometry["metadata"].get(MARK)
    if not isinstance(fields, dict):
        fields = {}
    angle = fields.get("crease_angle")
    if not isinstance(angle, (int, float)) or not math.isfinite(angle):
        angle = DEFAULT_CREASE_ANGLE
    # `normals` false: the mesh had none, and those of the file are made from its
    # creases.
    normals = None
    if fields.get("normals") is not False:
        normals = geometry.get("vertex_normals")
    coordinates = None
    colors = None
    visual = geometry.get("visual")
    if visual is not None:
        coordinates = visual.uv
        colors = visual.vertex_attributes.get("color")
    colors = geometry.get("vertex_colors", colors)
    return Shape(
        Mesh(
            vertices,
            faces,
            angle,
            normals=corners.of("NORMAL", normals, 3),
            colors=corners.of("COLOR_0", colors, 3, 4),
            texture_coordinates=corners.of("TEXCOORD_0", coordinates, 2),
            two_sided=surface.get("doubleSided") is True,
        ),
        material=_read_material(surface),
        name=str(mesh.get("name", "")),
    )


def _read_material(surface: dict[str, Any]) -> Material:
    factors = surface.get("pbrMetallicRoughness", {})
    base = _finite("a base colour", factors.get("baseColorFactor", (1.0,) * 4), 4)
    glow = _finite("a glow", surface.get("emissiveFactor", (0.0,) * 3), 3)
    red, green, blue = to_srgb(base[:3]).tolist()
    glow_red, glow_green, glow_blue = to_srgb(glow).tolist()
    return Material(
        diffuse=(red, green, blue),
        emissive=(glow_red, glow_green, glow_blue),
        transparency=1.0 - min(max(float(base[3]), 0.0), 1.0),
    )


def to_srgb(linear: Floats) -> Floats:
    """Convert linear light to sRGB (IEC 61966-2-1)."""
    # The inverse of `_linear`.
    value = np.clip(linear, 0.0, 1.0)
    return np.where(
        value < 0.0031308, 12.92 * value, 1.055 * value ** (1 / 2.4) - 0.055
    )
