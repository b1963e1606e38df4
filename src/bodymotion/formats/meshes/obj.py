"""Wavefront OBJ with its materials (MTL), written and read.

Text, so numbers keep all their digits.

Written are `v` (with a colour where corners have colours), `vt`, `vn` and `f` in the
order of the mesh, a `usemtl` before the faces of
each colour where faces have colours, and one comment with what OBJ cannot hold::

    # bodymotion crease_angle 0.5 two_sided 0 channels 3

The reader knows these, and what modelling programs write: polygons of any size, indices
counted from the end, `mtllib`. Curves, lines, groups and smoothing are not read.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bodymotion.formats.meshes import DEFAULT_CREASE_ANGLE
from bodymotion.formats.meshes.collada import Part, triangle_corners
from bodymotion.formats.text import json_text, parsed
from bodymotion.formats.xml.tree import number_text
from bodymotion.geometry.arrays import Bools, Floats, Indices, frozen_ints
from bodymotion.geometry.shapes import Corners, Material, Mesh

# Faces with more colours than this are written as vertices with colours.
MAX_MATERIALS = 256
# VRML97's shininess 1 as the exponent of MTL's `Ns`.
SPECULAR_EXPONENT = 128.0
MARK = "# bodymotion"
# Numbers of a `v` that ends with a colour.
MIN_COLORED_WIDTH = 6


class LibraryMaterial(NamedTuple):
    """A material, and the path of its image in the library, "" for none."""

    material: Material
    image: str


@dataclass(frozen=True)
class _Colored:
    """A mesh's arrays as OBJ has them.

    Colours of vertices (V, 3), or the materials (F,) of faces and their colours (M, 3
    or 4).
    """

    vertices: Floats
    faces: npt.NDArray[np.integer]
    vertex_colors: Floats | None = None
    face_materials: npt.NDArray[np.integer] | None = None
    materials: Floats | None = None


def to_obj(
    mesh: Mesh, material: Material | None = None, image: str = "", library: str = ""
) -> tuple[bytes, bytes]:
    """Return the bytes of an OBJ file and of its library of materials.

    Parameters
    ----------
    mesh:
        Its vertices are finite.
    material, image:
        The material of the surface; `image` is the path of its texture in the library.
    library:
        The name of the file of materials; "" without one.

    Returns
    -------
    The OBJ, and the MTL: empty where there is no library.
    """
    look = material or Material()
    if look.texture is not None:
        # Only the image of such a surface is visible.
        mesh = replace(mesh, colors=None)
    colored = _colored(mesh)
    lines = ["# Wavefront OBJ by bodymotion", _mark(mesh)]
    materials: dict[str, LibraryMaterial] = {}
    if library:
        lines.append(f"mtllib {library}")
        materials = _library_materials(colored, look, image)
    parts = ["\n".join(lines).encode(), b"\n"]
    points = colored.vertices
    if colored.vertex_colors is not None:
        points = np.concatenate([points, colored.vertex_colors], axis=1)
    parts.append(_rows(b"v", points))
    uv = mesh.texture_coordinates
    normals = mesh.normals
    if uv is not None:
        coordinates = uv.values
        if look.texture is not None:
            # OBJ has no transform of textures: it goes into the coordinates, (N, 2).
            homogeneous = np.c_[coordinates, np.ones(len(coordinates))]
            coordinates = (homogeneous @ look.texture.transform.T)[:, :2]
        parts.append(_rows(b"vt", coordinates))
    if normals is not None:
        parts.append(_rows(b"vn", normals.values))
    parts += _faces(colored, uv, normals, list(materials))
    return b"".join(parts), to_mtl(materials)


def _mark(mesh: Mesh) -> str:
    """Return the comment with what OBJ cannot hold."""
    angle = number_text(mesh.crease_angle)
    text = f"{MARK} crease_angle {angle} two_sided {int(mesh.two_sided)}"
    if mesh.colors is None:
        return text
    return f"{text} channels {mesh.colors.values.shape[1]}"


def _library_materials(
    colored: _Colored, look: Material, image: str
) -> dict[str, LibraryMaterial]:
    """Return a material for each colour of faces, or the only one."""
    if colored.materials is None:
        return {"material_0": LibraryMaterial(look, image)}
    materials: dict[str, LibraryMaterial] = {}
    for number, (red, green, blue, *alpha) in enumerate(colored.materials.tolist()):
        transparency = 1.0 - alpha[0] if alpha else look.transparency
        material = replace(look, diffuse=(red, green, blue), transparency=transparency)
        materials[f"material_{number}"] = LibraryMaterial(material, image)
    return materials


def _colored(mesh: Mesh) -> _Colored:
    """Return the arrays of a mesh as OBJ holds them.

    OBJ has no colours of corners. They become materials of faces, or colours of
    vertices, which follow the position in a line `v`.
    """
    colors = mesh.colors
    if colors is None or not len(mesh.faces):
        return _Colored(mesh.vertices, mesh.faces)
    rows, row = np.unique(colors.values, axis=0, return_inverse=True)
    # (F, 3) The colour of each corner.
    corners = row.reshape(-1)[colors.indices]
    # Each face has one colour, and there are few of them: they become materials.
    if (corners == corners[:, :1]).all() and len(rows) <= MAX_MATERIALS:
        of_faces = corners[:, 0]
        return _Colored(
            mesh.vertices, mesh.faces, face_materials=of_faces, materials=rows
        )
    # Each vertex once for each colour that it has; where it has one, vertices keep
    # their numbers.
    of_vertices = np.full(len(mesh.vertices), -1, dtype=np.int64)
    # The last colour of each vertex; −1 where no face has it.
    of_vertices[mesh.faces] = corners
    if (of_vertices[mesh.faces] == corners).all():
        is_used = of_vertices >= 0
        shown = np.ones((len(mesh.vertices), 3))
        shown[is_used] = rows[of_vertices[is_used], :3]
        return _Colored(mesh.vertices, mesh.faces, vertex_colors=shown)
    # (3 F, 2) Vertex and colour of each corner; each pair becomes a vertex.
    both = np.stack([mesh.faces.ravel(), corners.ravel()], axis=1)
    pairs, vertex = np.unique(both, axis=0, return_inverse=True)
    return _Colored(
        mesh.vertices[pairs[:, 0]],
        vertex.reshape(-1, 3),
        vertex_colors=rows[pairs[:, 1], :3],
    )


def _rows(word: bytes, values: Floats) -> bytes:
    """Return a line for each row of numbers, which begins with a word."""
    if not len(values):
        return b""
    # [[1,2],[3,4]]: the outer brackets are left out.
    text = json_text(values)[2:-2]
    text = text.replace(b"],[", b"\n" + word + b" ").replace(b",", b" ")
    return word + b" " + text + b"\n"


def _faces(
    colored: _Colored, uv: Corners | None, normals: Corners | None, names: list[str]
) -> Iterator[bytes]:
    """Return the lines of faces, and before them those that name their materials."""
    if not len(colored.faces):
        return
    columns = [colored.faces]
    columns += [corners.indices for corners in (uv, normals) if corners is not None]
    # v/vt/vn; without texture coordinates v//vn.
    separator = b"//" if uv is None else b"/"
    # (F, 3, N) Indices of OBJ begin at 1.
    table = np.stack(columns, axis=2).astype(np.int64) + 1
    if colored.face_materials is None or not names:
        if names:
            yield b"usemtl " + names[0].encode() + b"\n"
        yield _face_lines(table, separator)
        return
    # Faces stay in order: `usemtl` stands wherever the material changes.
    starts = np.flatnonzero(np.diff(colored.face_materials, prepend=-1))
    for start, end in zip(starts, [*starts[1:], len(table)], strict=True):
        name = names[int(colored.face_materials[start])]
        yield b"usemtl " + name.encode() + b"\n"
        yield _face_lines(table[start:end], separator)


def _face_lines(table: Indices, separator: bytes) -> bytes:
    """Return the lines of faces whose corners have several indices (F, 3, N)."""
    # [[[v,t],[v,t],[v,t]],[[…]]]: brackets of faces, of corners, then commas inside of
    # corners.
    text = json_text(table)[3:-3]
    text = text.replace(b"]],[[", b"\nf ")
    text = text.replace(b"],[", b" ")
    return b"f " + text.replace(b",", separator) + b"\n"


def to_mtl(materials: Mapping[str, LibraryMaterial]) -> bytes:
    """Return the bytes of a library of materials, given by their names."""
    lines = []
    for name, (look, image) in materials.items():
        ambient = [look.ambient_intensity * value for value in look.diffuse]
        lines += [
            f"newmtl {name}",
            f"Ka {number_text(ambient)}",
            f"Kd {number_text(look.diffuse)}",
            f"Ks {number_text(look.specular)}",
            f"Ke {number_text(look.emissive)}",
            f"Ns {number_text(SPECULAR_EXPONENT * look.shininess)}",
            f"d {number_text(1.0 - look.transparency)}",
        ]
        if image:
            lines.append(f"map_Kd {image}")
        lines.append("")
    return "\n".join(lines).encode()


@dataclass
class _Lines:
    """The lines of a file.

    Attributes
    ----------
    rows:
        By word, the rest of its lines.
    before:
        For each face, the number of vertices, texture coordinates and normals before
        it, and that of its material.
    names:
        The materials that are used, with their numbers.
    materials:
        Those of the libraries.
    mark:
        The fields of our comment.
    """

    rows: dict[bytes, list[bytes]]
    before: array[int] = field(default_factory=lambda: array("q"))
    names: dict[str, int] = field(default_factory=lambda: {"": 0})
    materials: dict[str, LibraryMaterial] = field(default_factory=dict)
    mark: dict[bytes, bytes] = field(default_factory=dict)


def read_obj(data: bytes, library: Callable[[str], bytes | None]) -> list[Part]:
    """Read the bytes of a file.

    Parameters
    ----------
    data:
        The file.
    library:
        Returns the bytes of a file of materials by its name in the OBJ, None where
        there is none.

    Returns
    -------
    One part; several where surfaces have images. Faces in several plain materials are
    one mesh with colours.

    Raises
    ------
    ValueError
        When the file has no triangles, or its lines are not those of an OBJ.
    """
    lines = _split_lines(data, library)
    points = _numbers(lines.rows[b"v"], 3)
    # `v x y z r g b`, or `v x y z w r g b`.
    colors = points[:, -3:] if points.shape[1] >= MIN_COLORED_WIDTH else None
    points = np.ascontiguousarray(points[:, :3])
    # (F, 4) Vertices, texture coordinates and normals before each face; its material.
    faces = np.array(lines.before).reshape(-1, 4)
    counts, index = _corners(lines.rows[b"f"], faces[:, :3])
    entries, owner = triangle_corners(counts, index[:, 0], points)
    corners = index[entries]
    if not len(corners):
        raise ValueError("the file has no triangles")
    mark = lines.mark
    angle = parsed(mark.get(b"crease_angle", b"").decode("latin-1"))
    if not 0.0 <= angle <= math.pi:
        angle = DEFAULT_CREASE_ANGLE
    normals = _numbers(lines.rows[b"vn"], 3)[:, :3]
    coordinates = _numbers(lines.rows[b"vt"], 2)[:, :2]
    mesh = Mesh(
        vertices=np.where(np.isfinite(points), points, 0.0),
        faces=frozen_ints(corners[:, :, 0]),
        crease_angle=angle,
        normals=_attribute(normals, corners[:, :, 2]),
        texture_coordinates=_attribute(coordinates, corners[:, :, 1]),
        colors=_attribute(colors, corners[:, :, 0]) if colors is not None else None,
        two_sided=mark.get(b"two_sided") == b"1",
    )
    # Numbers of a colour, where the file gives this number; else four where a material
    # is not opaque, or three.
    channels = {b"3": 3, b"4": 4}.get(mark.get(b"channels", b""))
    of_faces = faces[owner, 3]
    return _parts_by_material(mesh, of_faces, lines, channels)


def _split_lines(data: bytes, library: Callable[[str], bytes | None]) -> _Lines:
    """Sort the lines of a file by their words, and read its libraries."""
    rows: dict[bytes, list[bytes]] = {b"v": [], b"vt": [], b"vn": [], b"f": []}
    lines = _Lines(rows)
    # A line may go on behind a backslash.
    data = data.replace(b"\\\r\n", b" ").replace(b"\\\n", b" ").replace(b"\t", b" ")
    material = 0
    mark = MARK.encode()
    for line in data.split(b"\n"):
        word, _, rest = line.strip().partition(b" ")
        if word == b"f":
            # A negative index counts back from the lines before the face.
            counts = (len(rows[b"v"]), len(rows[b"vt"]), len(rows[b"vn"]))
            lines.before.extend((*counts, material))
        if word in rows:
            rows[word].append(rest)
        elif word == b"usemtl":
            name = rest.strip().decode("utf-8", "replace")
            material = lines.names.setdefault(name, len(lines.names))
        elif word == b"mtllib":
            text = library(rest.strip().decode("utf-8", "replace"))
            if text is not None:
                lines.materials = {**read_mtl(text), **lines.materials}
        # The comment of our writer: pairs of a name and a value.
        elif line.startswith(mark):
            words = line.split()
            lines.mark = dict(zip(words[2::2], words[3::2], strict=False))
    return lines


def _numbers(rows: list[bytes], min_width: int) -> Floats:
    """Return rows of numbers as an array.

    Rows of different lengths are cut to the shortest.
    """
    lengths = {len(row.split()) for row in rows} or {min_width}
    shortest = min(lengths)
    if shortest < min_width:
        raise ValueError(f"a line has {shortest} numbers, expected {min_width}")
    # Rows with and without colours have the positions in common.
    width = shortest
    if len(lengths) > 1 and shortest < MIN_COLORED_WIDTH:
        width = min_width
    return _table(rows, width, None, "a line has a word that is not a number")


def _table(rows: list[bytes], width: int, between: str | None, fault: str) -> Floats:
    if not rows:
        return np.zeros((0, width))
    try:
        return np.loadtxt(
            rows, delimiter=between, usecols=range(width), comments=None, ndmin=2
        )
    except ValueError as error:
        raise ValueError(fault) from error


def _corners(rows: list[bytes], before: Indices) -> tuple[Indices, Indices]:
    """Return the corners of faces.

    The number of corners of each face, and the indices (N, 3) of all corners.

    Vertex, texture coordinate, normal; −1 for none.
    """
    counts = np.array([len(row.split()) for row in rows], dtype=np.int64)
    # An index that is left out becomes a zero: 1//3 is 1/0/3, and 1 is 1/0/0.
    words = [word + b"/0/0\n" for word in b" ".join(rows).split()]
    words = b"".join(words).replace(b"//", b"/0/").splitlines()
    index = _table(words, 3, "/", "a face has a word that is not an index")
    if not (np.abs(index) < 2**31).all():
        raise ValueError("an index is not an integer below 2^31")
    whole = index.astype(np.int64)
    if (whole < 0).any():
        # −1 is the last one before the face: `before` in OBJ's count from 1.
        from_end = np.repeat(before, counts, axis=0) + whole + 1
        whole = np.where(whole < 0, from_end, whole)
    # 0 is not an index, and one counted from the end may be before the first: both
    # become "none".
    return counts, np.where(whole >= 1, whole - 1, -1)


def _attribute(values: Floats, index: Indices) -> Corners | None:
    """Return an attribute of corners, None where the file has none that fits."""
    if not len(values) or not np.isfinite(values).all():
        return None
    if index.min() < 0 or index.max() >= len(values):
        return None
    return Corners(np.ascontiguousarray(values), frozen_ints(index))


def _parts_by_material(
    mesh: Mesh, of_faces: Indices, lines: _Lines, channels: int | None
) -> list[Part]:
    """Return a mesh in parts, if materials of its faces (F,) have images.

    Else it is one, with the colours of several materials.
    """
    plain = LibraryMaterial(Material(), "")
    names = list(lines.names)
    # `used` (M,) material numbers, `kind` (F,) the place of each face's in it.
    used, kind = np.unique(of_faces, return_inverse=True)
    looks = [lines.materials.get(names[number], plain) for number in used]
    has_colors = mesh.colors is not None or not lines.materials
    if len(looks) == 1 and (channels is None or has_colors):
        return [Part(mesh, *looks[0])]
    if any(look.image for look in looks):
        return [
            Part(_part(mesh, kind == number), *look)
            for number, look in enumerate(looks)
        ]
    if not has_colors:
        values = np.array(
            [
                [*look.material.diffuse, 1.0 - look.material.transparency]
                for look in looks
            ]
        )
        if channels is None:
            is_transparent = (values[:, 3] != 1.0).any()
            channels = 4 if is_transparent else 3
        corners = frozen_ints(np.repeat(kind[:, None], 3, axis=1))
        mesh = replace(mesh, colors=Corners(values[:, :channels], corners))
    return [Part(mesh, looks[0].material)]


def _part(mesh: Mesh, chosen: Bools) -> Mesh:
    """Return the chosen faces (F,) of a mesh, with their vertices."""
    used, faces = np.unique(mesh.faces[chosen], return_inverse=True)
    return replace(
        mesh,
        vertices=mesh.vertices[used],
        faces=frozen_ints(faces.reshape(-1, 3)),
        normals=_chosen_corners(mesh.normals, chosen),
        colors=_chosen_corners(mesh.colors, chosen),
        texture_coordinates=_chosen_corners(mesh.texture_coordinates, chosen),
    )


def _chosen_corners(corners: Corners | None, chosen: Bools) -> Corners | None:
    if corners is None:
        return None
    return Corners(corners.values, corners.indices[chosen])


def read_mtl(data: bytes) -> dict[str, LibraryMaterial]:
    """Return the materials of a library by name; other lines are skipped."""
    materials: dict[str, dict[str, str]] = {}
    lines: dict[str, str] = {}
    for line in data.decode("utf-8", "replace").splitlines():
        word, _, rest = line.strip().partition(" ")
        if word == "newmtl":
            lines = {}
            materials.setdefault(rest.strip(), lines)
        lines[word] = rest.strip()
    return {
        name: LibraryMaterial(_material(lines), _image(lines.get("map_Kd", "")))
        for name, lines in materials.items()
    }


def _image(text: str) -> str:
    """Return the path in a line `map_Kd`, which is behind options."""
    if text.startswith("-"):
        return text.split()[-1]
    return text


def _material(lines: Mapping[str, str]) -> Material:
    """Return the material of the lines of a `newmtl`, given by their words."""
    default = Material()
    diffuse = _color(lines, "Kd", default.diffuse)
    ambient = _color(lines, "Ka", (0.0, 0.0, 0.0))
    # VRML97 has ambient light as a share of the diffuse colour. The brightest channel
    # gives the most exact ratio.
    largest = max(range(3), key=lambda channel: diffuse[channel])
    ambient_intensity = default.ambient_intensity
    if diffuse[largest] and "Ka" in lines:
        ambient_intensity = min(ambient[largest] / diffuse[largest], 1.0)
    shininess = _shares(lines, "Ns", 1, SPECULAR_EXPONENT) or [default.shininess]
    opacity = _shares(lines, "d", 1)
    # Some programs write the transparency instead.
    transparency = _shares(lines, "Tr", 1) or [0.0]
    if opacity:
        transparency = [1.0 - opacity[0]]
    return Material(
        diffuse=diffuse,
        ambient_intensity=ambient_intensity,
        specular=_color(lines, "Ks", default.specular),
        emissive=_color(lines, "Ke", default.emissive),
        shininess=shininess[0],
        transparency=transparency[0],
    )


def _color(
    lines: Mapping[str, str], word: str, default: tuple[float, float, float]
) -> tuple[float, float, float]:
    red, green, blue = _shares(lines, word, 3) or default
    return red, green, blue


def _shares(
    lines: Mapping[str, str], word: str, count: int, divisor: float = 1.0
) -> list[float] | None:
    """Return `count` numbers of a line in 0…1, None for others."""
    try:
        values = [float(number) / divisor for number in lines.get(word, "").split()]
    except ValueError:
        return None
    if len(values) != count:
        return None
    return [0.0 if math.isnan(value) else min(max(value, 0.0), 1.0) for value in values]
