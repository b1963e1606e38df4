"""Wavefront OBJ with its materials (MTL), written and read.

Text, so numbers keep all their digits.

Written are `v` (with a colour where corners have colours), `vt`, `vn` and `f` in the
order of the mesh, a `usemtl` before the faces of
each colour where faces have colours, and one comment with what OBJ cannot hold::

    # bodymotion crease_angle 0.5 two_sided 0 channels 3

The reader knows these, and what modelling programs write: polygons of any size, indices
counted from the end, `mtllib`. Curves, lines, groups and smoothing are not read.
"""

import math
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from bodymotion.formats.meshes import DEFAULT_CREASE_ANGLE
from bodymotion.formats.meshes.collada import Part, triangle_corners
from bodymotion.formats.text import json_text, parsed
from bodymotion.formats.xml.tree import number_text
from bodymotion.geometry.arrays import Bools, Floats, Indices, frozen_ints
from bodymotion.geometry.shapes import Corners, Material, Mesh

MAX_MATERIALS = (
    256  # Faces with more colours than this are written as vertices with colours.
)
SPECULAR_EXPONENT = 128.0  # VRML97's shininess 0…1 as the exponent of MTL's `Ns`.
MARK = "# bodymotion"


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
    head = [
        "# Wavefront OBJ by bodymotion",
        f"{MARK} crease_angle {number_text(mesh.crease_angle)} two_sided "
        f"{int(mesh.two_sided)}"
        + (
            f" channels {mesh.colors.values.shape[1]}"
            if mesh.colors is not None
            else ""
        ),
    ]
    named: dict[str, tuple[Material, str]] = {}
    if library:
        head.append(f"mtllib {library}")
        if colored.materials is None:
            named = {"material_0": (look, image)}
        else:
            named = {}
        for number, row in enumerate(
            [] if colored.materials is None else colored.materials.tolist()
        ):
            if len(row) > 3:
                clear = 1.0 - row[3]
            else:
                clear = look.transparency
            named[f"material_{number}"] = (
                replace(look, diffuse=(row[0], row[1], row[2]), transparency=clear),
                image,
            )
    parts = ["\n".join(head).encode(), b"\n"]
    points = colored.vertices
    if colored.vertex_colors is not None:
        points = np.concatenate([points, colored.vertex_colors], axis=1)
    parts.append(_rows(b"v", points))
    uv = mesh.texture_coordinates
    normals = mesh.normals
    if uv is not None:
        coordinates = uv.values
        if look.texture is not None:
            coordinates = (
                np.c_[coordinates, np.ones(len(coordinates))] @ look.texture.transform.T
            )[:, :2]
        parts.append(_rows(b"vt", coordinates))
    if normals is not None:
        parts.append(_rows(b"vn", normals.values))
    parts += _faces(colored, uv, normals, list(named))
    return b"".join(parts), to_mtl(named)


def _colored(mesh: Mesh) -> _Colored:
    colors = mesh.colors
    if colors is None or not len(mesh.faces):
        return _Colored(mesh.vertices, mesh.faces)
    rows, row = np.unique(colors.values, axis=0, return_inverse=True)
    corner = row.reshape(-1)[colors.indices]
    if (corner == corner[:, :1]).all() and len(rows) <= MAX_MATERIALS:
        return _Colored(
            mesh.vertices, mesh.faces, face_materials=corner[:, 0], materials=rows
        )
    # Each vertex once for each colour that it has; where it has one, vertices keep
    # their numbers.
    first = np.full(len(mesh.vertices), -1, dtype=np.int64)
    first[mesh.faces] = corner
    if (first[mesh.faces] == corner).all():
        shown = np.ones((len(mesh.vertices), 3))
        shown[first >= 0] = rows[first[first >= 0], :3]
        return _Colored(mesh.vertices, mesh.faces, vertex_colors=shown)
    pairs, vertex = np.unique(
        np.stack([mesh.faces.ravel(), corner.ravel()], axis=1),
        axis=0,
        return_inverse=True,
    )
    return _Colored(
        mesh.vertices[pairs[:, 0]],
        vertex.reshape(-1, 3),
        vertex_colors=rows[pairs[:, 1], :3],
    )


def _rows(word: bytes, values: Floats) -> bytes:
    if not len(values):
        return b""
    lines = (
        json_text(values)[2:-2].replace(b"],[", b"\n" + word + b" ").replace(b",", b" ")
    )
    return word + b" " + lines + b"\n"


def _faces(
    colored: _Colored, uv: Corners | None, normals: Corners | None, names: list[str]
) -> Iterator[bytes]:
    if not len(colored.faces):
        return
    columns = [colored.faces] + [
        corners.indices for corners in (uv, normals) if corners is not None
    ]
    joint = b"//" if uv is None else b"/"
    table = np.stack(columns, axis=2).astype(np.int64) + 1

    def written(rows: Indices) -> bytes:
        # [[[v,t],[v,t],[v,t]],[[…]]]: brackets of faces, of corners, then commas inside
        # of corners.
        text = (
            json_text(rows)[3:-3]
            .replace(b"]],[[", b"\nf ")
            .replace(b"],[", b" ")
            .replace(b",", joint)
        )
        return b"f " + text + b"\n"

    if colored.face_materials is None or not names:
        if names:
            yield b"usemtl " + names[0].encode() + b"\n"
        yield written(table)
        return
    starts = np.flatnonzero(np.diff(colored.face_materials, prepend=-1))
    for start, end in zip(starts, [*starts[1:], len(table)], strict=True):
        yield b"usemtl " + names[int(colored.face_materials[start])].encode() + b"\n"
        yield written(table[start:end])


def to_mtl(materials: dict[str, tuple[Material, str]]) -> bytes:
    """Return the bytes of a library of materials.

    By name, each with the path of its image or "".
    """
    lines = []
    for name, (look, image) in materials.items():
        lines += [
            f"newmtl {name}",
            "Ka "
            f"{number_text([look.ambient_intensity * value for value in look.diffuse])}",
            f"Kd {number_text(look.diffuse)}",
            f"Ks {number_text(look.specular)}",
            f"Ke {number_text(look.emissive)}",
            f"Ns {number_text(SPECULAR_EXPONENT * look.shininess)}",
            f"d {number_text(1.0 - look.transparency)}",
            *([f"map_Kd {image}"] if image else []),
            "",
        ]
    return "\n".join(lines).encode()


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
    rows: dict[bytes, list[bytes]] = {b"v": [], b"vt": [], b"vn": [], b"f": []}
    before = array("q")
    """For each face the number of vertices, texture coordinates and normals before it, and that of its material."""
    names = {"": 0}
    known = dict[str, tuple[Material, str]]()
    mark: dict[bytes, bytes] = {}
    material = 0
    for line in (
        data.replace(b"\\\r\n", b" ")
        .replace(b"\\\n", b" ")
        .replace(b"\t", b" ")
        .split(b"\n")
    ):
        word, _, rest = line.strip().partition(b" ")
        if word == b"f":
            before.extend(
                (len(rows[b"v"]), len(rows[b"vt"]), len(rows[b"vn"]), material)
            )
        if word in rows:
            rows[word].append(rest)
        elif word == b"usemtl":
            material = names.setdefault(
                rest.strip().decode("utf-8", "replace"), len(names)
            )
        elif (
            word == b"mtllib"
            and (text := library(rest.strip().decode("utf-8", "replace"))) is not None
        ):
            known = {**read_mtl(text), **known}
        elif line.startswith(MARK.encode()):
            words = line.split()
            mark = dict(zip(words[2::2], words[3::2], strict=False))
    points = _numbers(rows[b"v"], 3)
    if points.shape[1] >= 6:
        colors = points[:, -3:]
    else:
        colors = None
    points = np.ascontiguousarray(points[:, :3])
    faces = np.array(before).reshape(-1, 4)
    counts, index = _corners(rows[b"f"], faces[:, :3])
    entries, owner = triangle_corners(counts, index[:, 0], points)
    corners = index[entries]
    if not len(corners):
        raise ValueError("the file has no triangles")
    angle = parsed(mark.get(b"crease_angle", b"").decode("latin-1"))
    whole = Mesh(
        vertices=np.where(np.isfinite(points), points, 0.0),
        faces=frozen_ints(corners[:, :, 0]),
        crease_angle=angle if 0.0 <= angle <= math.pi else DEFAULT_CREASE_ANGLE,
        normals=_attribute(_numbers(rows[b"vn"], 3)[:, :3], corners[:, :, 2]),
        texture_coordinates=_attribute(
            _numbers(rows[b"vt"], 2)[:, :2], corners[:, :, 1]
        ),
        colors=_attribute(colors, corners[:, :, 0]) if colors is not None else None,
        two_sided=mark.get(b"two_sided") == b"1",
    )
    # Numbers of a colour, where the file gives this number; else four where a material
    # is not opaque, or three.
    channels = {b"3": 3, b"4": 4}.get(mark.get(b"channels", b""))
    return _parts_by_material(whole, faces[owner, 3], list(names), known, channels)


def _numbers(rows: list[bytes], min_width: int) -> Floats:
    """Return rows of numbers as an array.

    Rows of different lengths are cut to the shortest.
    """
    lengths = {len(row.split()) for row in rows} or {min_width}
    shortest = min(lengths)
    if shortest < min_width:
        raise ValueError(f"a line has {shortest} numbers, expected {min_width}")
    if len(lengths) > 1 and shortest < 6:
        width = min_width
    else:
        width = shortest
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
    """Return the number of corners of each face, and the indices (N, 3) of corners.

    Vertex, texture coordinate, normal; −1 for none.
    """
    counts = np.array([len(row.split()) for row in rows], dtype=np.int64)
    # An index that is left out becomes a zero: 1//3 is 1/0/3, and 1 is 1/0/0.
    words = (
        b"".join(word + b"/0/0\n" for word in b" ".join(rows).split())
        .replace(b"//", b"/0/")
        .splitlines()
    )
    index = _table(words, 3, "/", "a face has a word that is not an index")
    if not (np.abs(index) < 2**31).all():
        raise ValueError("an index is not an integer below 2^31")
    whole = index.astype(np.int64)
    if (whole < 0).any():
        whole = np.where(
            whole < 0, np.repeat(before, counts, axis=0) + whole + 1, whole
        )
    # 0 is not an index, and one counted from the end may be before the first: both
    # become "none".
    return counts, np.where(whole >= 1, whole - 1, -1)


def _attribute(values: Floats, index: Indices) -> Corners | None:
    if (
        not len(values)
        or index.min() < 0
        or index.max() >= len(values)
        or not np.isfinite(values).all()
    ):
        return None
    return Corners(np.ascontiguousarray(values), frozen_ints(index))


def _parts_by_material(
    whole: Mesh,
    used: Indices,
    names: list[str],
    known: dict[str, tuple[Material, str]],
    channels: int | None,
) -> list[Part]:
    plain = Material(), ""
    present, kind = np.unique(used, return_inverse=True)
    looks = [known.get(name, plain) for name in (names[k] for k in present)]
    if len(looks) == 1 and (channels is None or whole.colors is not None or not known):
        return [Part(whole, *looks[0])]
    if any(image for _, image in looks):
        return [Part(_part(whole, kind == k), *look) for k, look in enumerate(looks)]
    values = np.array([[*look.diffuse, 1.0 - look.transparency] for look, _ in looks])
    values = values[:, : channels or (4 if (values[:, 3] != 1.0).any() else 3)]
    if whole.colors is None and len(known):
        whole = replace(
            whole,
            colors=Corners(values, frozen_ints(np.repeat(kind[:, None], 3, axis=1))),
        )
    return [Part(whole, looks[0][0])]


def _part(mesh: Mesh, chosen: Bools) -> Mesh:
    used, faces = np.unique(mesh.faces[chosen], return_inverse=True)

    def corners(part: Corners | None) -> Corners | None:
        if part is None:
            return None
        return Corners(part.values, part.indices[chosen])

    return replace(
        mesh,
        vertices=mesh.vertices[used],
        faces=frozen_ints(faces.reshape(-1, 3)),
        normals=corners(mesh.normals),
        colors=corners(mesh.colors),
        texture_coordinates=corners(mesh.texture_coordinates),
    )


def read_mtl(data: bytes) -> dict[str, tuple[Material, str]]:
    """Return the materials of a library by name, each with the path of its image or "".

    Other lines are skipped.
    """
    found: dict[str, dict[str, str]] = {}
    lines: dict[str, str] = {}
    for line in data.decode("utf-8", "replace").splitlines():
        word, _, rest = line.strip().partition(" ")
        if word == "newmtl":
            lines = {}
            found.setdefault(rest.strip(), lines)
        lines[word] = rest.strip()
    return {
        name: (_material(lines), _image(lines.get("map_Kd", "")))
        for name, lines in found.items()
    }


def _image(text: str) -> str:
    if text.startswith("-"):
        return text.split()[-1]
    return text


def _material(lines: dict[str, str]) -> Material:
    default = Material()

    def shares(word: str, count: int, divisor: float = 1.0) -> list[float] | None:
        """Return the numbers of a line in 0…1, None where there are not `count` of them."""
        try:
            values = [float(number) / divisor for number in lines.get(word, "").split()]
        except ValueError:
            return None
        if len(values) == count:
            return [
                min(max(value, 0.0), 1.0) if value == value else 0.0 for value in values
            ]
        return None

    def color(
        word: str, default_color: tuple[float, float, float]
    ) -> tuple[float, float, float]:
        red, green, blue = shares(word, 3) or default_color
        return red, green, blue

    diffuse = color("Kd", default.diffuse)
    ambient = color("Ka", (0.0, 0.0, 0.0))
    largest = max(range(3), key=lambda k: diffuse[k])
    has_ambient = diffuse[largest] and "Ka" in lines
    opaque = shares("d", 1)
    clear = shares("Tr", 1)
    return Material(
        diffuse=diffuse,
        ambient_intensity=min(ambient[largest] / diffuse[largest], 1.0)
        if has_ambient
        else default.ambient_intensity,
        specular=color("Ks", default.specular),
        emissive=color("Ke", default.emissive),
        shininess=(shares("Ns", 1, SPECULAR_EXPONENT) or [default.shininess])[0],
        transparency=1.0 - opaque[0] if opaque else (clear or [0.0])[0],
    )
