"""Wavefront OBJ with its materials (MTL), written and read: text, so numbers keep all their digits.

Written are `v` (with a colour where corners have colours), `vt`, `vn` and `f` in the order of the mesh, a `usemtl` before the faces of
each colour where faces have colours, and one comment with what OBJ cannot hold::

    # bodymotion crease_angle 0.5 two_sided 0 channels 3

The reader knows these, and what modelling programs write: polygons of any size, indices counted from the end, `mtllib`. Curves, lines,
groups and smoothing are not read.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from bodymotion.formats.meshes import DEFAULT_CREASE_ANGLE
from bodymotion.formats.meshes.collada import Part, triangle_corners
from bodymotion.formats.xml.tree import number_text
from bodymotion.geometry.arrays import Floats, frozen_ints
from bodymotion.geometry.shapes import Corners, Material, Mesh

MAX_MATERIALS = 256
"""Faces with more colours than this are written as vertices with colours."""
SPECULAR_EXPONENT = 128.0
"""VRML97's shininess 0…1 as the exponent of MTL's `Ns`."""
MARK = "# bodymotion"


@dataclass(frozen=True)
class _Colored:
    """A mesh's arrays as OBJ has them: colours of vertices (V, 3), or the materials (F,) of faces and their colours (M, 3 or 4)."""

    vertices: Floats
    faces: npt.NDArray[np.integer]
    vertex_colors: Floats | None = None
    face_materials: npt.NDArray[np.integer] | None = None
    materials: Floats | None = None


def to_obj(mesh: Mesh, material: Material | None = None, image: str = "", library: str = "") -> tuple[bytes, bytes]:
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
        f"{MARK} crease_angle {number_text(mesh.crease_angle)} two_sided {int(mesh.two_sided)}"
        + (f" channels {mesh.colors.values.shape[1]}" if mesh.colors is not None else ""),
    ]
    named: dict[str, tuple[Material, str]] = {}
    if library:
        head.append(f"mtllib {library}")
        named = {"material_0": (look, image)} if colored.materials is None else {}
        for number, row in enumerate([] if colored.materials is None else colored.materials.tolist()):
            clear = 1.0 - row[3] if len(row) > 3 else look.transparency
            named[f"material_{number}"] = replace(look, diffuse=(row[0], row[1], row[2]), transparency=clear), image
    parts = ["\n".join(head).encode(), b"\n"]
    points = colored.vertices
    if colored.vertex_colors is not None:
        points = np.concatenate([points, colored.vertex_colors], axis=1)
    parts.append(_rows(b"v", points))
    uv, normals = mesh.texture_coordinates, mesh.normals
    if uv is not None:
        coordinates = uv.values
        if look.texture is not None:
            coordinates = (np.c_[coordinates, np.ones(len(coordinates))] @ look.texture.transform.T)[:, :2]
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
        return _Colored(mesh.vertices, mesh.faces, face_materials=corner[:, 0], materials=rows)
    # Each vertex once for each colour that it has; where it has one, vertices keep their numbers.
    first = np.full(len(mesh.vertices), -1, dtype=np.int64)
    first[mesh.faces] = corner
    if (first[mesh.faces] == corner).all():
        shown = np.ones((len(mesh.vertices), 3))
        shown[first >= 0] = rows[first[first >= 0], :3]
        return _Colored(mesh.vertices, mesh.faces, vertex_colors=shown)
    pairs, vertex = np.unique(np.stack([mesh.faces.ravel(), corner.ravel()], axis=1), axis=0, return_inverse=True)
    return _Colored(mesh.vertices[pairs[:, 0]], vertex.reshape(-1, 3), vertex_colors=rows[pairs[:, 1], :3])


def _rows(word: bytes, values: Floats) -> bytes:
    """Return a line for each row, numbers in their shortest form."""
    import orjson

    if not len(values):
        return b""
    text = orjson.dumps(np.ascontiguousarray(values, dtype=np.float64), option=orjson.OPT_SERIALIZE_NUMPY)
    lines = text[2:-2].replace(b"],[", b"\n" + word + b" ").replace(b",", b" ")
    return word + b" " + lines + b"\n"


def _faces(colored: _Colored, uv: Corners | None, normals: Corners | None, names: list[str]) -> Iterator[bytes]:
    import orjson

    if not len(colored.faces):
        return
    columns = [colored.faces] + [corners.indices for corners in (uv, normals) if corners is not None]
    joint = b"//" if uv is None else b"/"
    table = np.ascontiguousarray(np.stack(columns, axis=2).astype(np.int64) + 1)

    def written(rows: npt.NDArray[np.int64]) -> bytes:
        text = orjson.dumps(rows, option=orjson.OPT_SERIALIZE_NUMPY)
        # [[[v,t],[v,t],[v,t]],[[…]]]: brackets of faces, of corners, then commas inside of corners.
        text = text[3:-3].replace(b"]],[[", b"\nf ").replace(b"],[", b" ").replace(b",", joint)
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
    """Return the bytes of a library of materials: by name, each with the path of its image or ""."""
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
            *([f"map_Kd {image}"] if image else []),
            "",
        ]
    return "\n".join(lines).encode()


@dataclass
class _Lines:
    """The lines of a file by their first words, without these."""

    v: list[bytes] = field(default_factory=list)
    vt: list[bytes] = field(default_factory=list)
    vn: list[bytes] = field(default_factory=list)
    f: list[bytes] = field(default_factory=list)
    counts: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    """For faces with indices counted from the end: the number of vertices, texture coordinates and normals before them."""
    materials: list[tuple[int, str]] = field(default_factory=list)
    libraries: list[str] = field(default_factory=list)
    crease_angle: float = DEFAULT_CREASE_ANGLE
    two_sided: bool = False
    channels: int | None = None
    """Numbers of a colour, where the file gives this number; else four where a material is not opaque, or three."""


def read_obj(data: bytes, library: Callable[[str], bytes | None]) -> list[Part]:
    """Read the bytes of a file.

    Parameters
    ----------
    data:
        The file.
    library:
        Returns the bytes of a file of materials by its name in the OBJ, None where there is none.

    Returns
    -------
    One part; several where surfaces have images. Faces in several plain materials are one mesh with colours.

    Raises
    ------
    ValueError
        When the file has no triangles, or its lines are not those of an OBJ.
    """
    lines = _lines_by_word(data)
    points = _numbers(lines.v, 3)
    colors = None
    if points.shape[1] >= 6:
        points, colors = points[:, :3], points[:, -3:]
    points = np.ascontiguousarray(points[:, :3])
    counts, index = _corners(lines, (len(points), len(lines.vt), len(lines.vn)))
    entries, owner = triangle_corners(counts, index[:, 0], points)
    corners = index[entries]
    if not len(corners):
        raise ValueError("the file has no triangles")
    normals = _attribute(_numbers(lines.vn, 3)[:, :3], corners[:, :, 2]) if lines.vn else None
    uv = _attribute(_numbers(lines.vt, 2)[:, :2], corners[:, :, 1]) if lines.vt else None
    whole = Mesh(
        vertices=np.where(np.isfinite(points), points, 0.0),
        faces=frozen_ints(corners[:, :, 0]),
        crease_angle=lines.crease_angle,
        normals=normals,
        texture_coordinates=uv,
        colors=_attribute(colors, corners[:, :, 0]) if colors is not None else None,
        two_sided=lines.two_sided,
    )
    known: dict[str, tuple[Material, str]] = {}
    for name in lines.libraries:
        if (text := library(name)) is not None:
            known = {**read_mtl(text), **known}
    # For each face the index of its `usemtl`, −1 for none.
    statement = np.full(len(counts), -1, dtype=np.int64)
    for number, (start, _) in enumerate(lines.materials):
        statement[start:] = number
    used = statement[owner]
    return _parts_by_material(whole, used, [name for _, name in lines.materials], known, lines.channels)


def _lines_by_word(data: bytes) -> _Lines:
    lines = _Lines()
    rows = {b"v": lines.v, b"vt": lines.vt, b"vn": lines.vn, b"f": lines.f}
    for line in data.replace(b"\\\r\n", b" ").replace(b"\\\n", b" ").replace(b"\t", b" ").split(b"\n"):
        word, _, rest = line.strip().partition(b" ")
        if word == b"f" and b"-" in rest:
            lines.counts[len(lines.f)] = len(lines.v), len(lines.vt), len(lines.vn)
        if word in rows:
            rows[word].append(rest)
        elif word == b"usemtl":
            lines.materials.append((len(lines.f), rest.strip().decode("utf-8", "replace")))
        elif word == b"mtllib":
            lines.libraries.append(rest.strip().decode("utf-8", "replace"))
        elif line.startswith(MARK.encode()):
            _read_mark(line.split(), lines)
    return lines


def _read_mark(words: list[bytes], lines: _Lines) -> None:
    pairs = dict(zip(words[2::2], words[3::2], strict=False))
    try:
        angle = float(pairs.get(b"crease_angle", b"nan"))
    except ValueError:
        return
    lines.crease_angle = angle if 0.0 <= angle <= math.pi else DEFAULT_CREASE_ANGLE
    lines.two_sided = pairs.get(b"two_sided") == b"1"
    lines.channels = {b"3": 3, b"4": 4}.get(pairs.get(b"channels", b""))


def _words_per_line(rows: list[bytes]) -> int:
    """Return the number of words in each line where single blanks separate them and all lines have as many; else 0."""
    blanks = rows[0].rstrip().count(b" ", 1)
    ends = rows[0].startswith(b" ")
    if any(row.count(b" ", 1) != blanks or row.startswith(b" ") != ends for row in rows):
        return 0
    return blanks + 1


def _parsed(text: bytes) -> Floats:
    """Return numbers separated by blanks, parsed in bulk; the first word that is not a number ends them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            return np.fromstring(text, dtype=np.float64, sep=" ")
        except ValueError:
            return np.zeros(0)


def _numbers(rows: list[bytes], min_width: int) -> Floats:
    """Return rows of numbers as an array; rows of different lengths are cut to the shortest."""
    if not rows:
        return np.zeros((0, min_width))
    width = _words_per_line(rows)
    if width >= min_width:
        # A line with this many blanks has at most so many words: where the sum is right, each line is right.
        flat = _parsed(b" ".join(rows))
        if len(flat) == len(rows) * width:
            return flat.reshape(len(rows), width)
    words = [row.split() for row in rows]
    shortest = min(map(len, words))
    if shortest < min_width:
        raise ValueError(f"a line has {shortest} numbers, expected {min_width}")
    if max(map(len, words)) != shortest:
        shortest = min_width if shortest < 6 else shortest
    try:
        return np.array([word for row in words for word in row[:shortest]], dtype=np.float64).reshape(
            len(rows), shortest
        )
    except ValueError as error:
        raise ValueError("a line has a word that is not a number") from error


def _corners(lines: _Lines, ends: tuple[int, int, int]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the number of corners of each face, and for each corner its indices (N, 3): vertex, texture coordinate, normal; −1
    for none.
    """
    rows = lines.f
    if not rows:
        return np.zeros(0, dtype=np.int64), np.zeros((0, 3), dtype=np.int64)
    text = b" ".join(rows)
    number, width = len(text.split()), _words_per_line(rows)
    is_regular = width * len(rows) == number
    counts = np.full(len(rows), width) if is_regular else np.array([len(row.split()) for row in rows], dtype=np.int64)
    slashes, doubles = text.count(b"/"), text.count(b"//")
    columns: tuple[int, ...] | None = {
        (0, 0): (0,),
        (2 * number, number): (0, 2),
        (2 * number, 0): (0, 1, 2),
        (number, 0): (0, 1),
    }.get((slashes, doubles))
    index = np.zeros((number, 3))
    flat = _parsed(text.replace(b"/", b" ")) if columns is not None else np.zeros(0)
    if columns is not None and len(flat) == number * len(columns):
        index[:, columns] = flat.reshape(number, -1)
    else:
        try:
            for corner, word in enumerate(text.split()):
                for column, part in enumerate(word.split(b"/")[:3]):
                    index[corner, column] = float(part or b"0")
        except ValueError as error:
            raise ValueError("a face has a word that is not an index") from error
    if not (np.abs(index) < 2**31).all():
        raise ValueError("an index is not an integer below 2^31")
    whole = index.astype(np.int64)
    if (whole < 0).any():
        above = np.tile(np.array(ends, dtype=np.int64), (len(counts), 1))
        for face, seen in lines.counts.items():
            above[face] = seen
        whole = np.where(whole < 0, np.repeat(above, counts, axis=0) + whole + 1, whole)
    # 0 is not an index, and one counted from the end may be before the first: both become "none".
    return counts.astype(np.int64), np.where(whole >= 1, whole - 1, -1)


def _attribute(values: Floats, index: npt.NDArray[np.int64]) -> Corners | None:
    if not len(values) or index.min() < 0 or index.max() >= len(values) or not np.isfinite(values).all():
        return None
    return Corners(np.ascontiguousarray(values), frozen_ints(index))


def _parts_by_material(
    whole: Mesh,
    used: npt.NDArray[np.int64],
    names: list[str],
    known: dict[str, tuple[Material, str]],
    channels: int | None,
) -> list[Part]:
    plain = Material(), ""
    statements, rows = np.unique(used, return_inverse=True)
    # One name may be used several times.
    kinds: dict[str, int] = {}
    kind = np.array([kinds.setdefault(names[k] if k >= 0 else "", len(kinds)) for k in statements])[rows]
    looks = [known.get(name, plain) for name in kinds]
    if len(looks) == 1 and (channels is None or whole.colors is not None or not known):
        return [Part(whole, *looks[0])]
    if any(image for _, image in looks):
        return [Part(_part(whole, kind == k), *look) for k, look in enumerate(looks)]
    values = np.array([[*look.diffuse, 1.0 - look.transparency] for look, _ in looks])
    values = values[:, : channels or (4 if (values[:, 3] != 1.0).any() else 3)]
    if whole.colors is None and len(known):
        rgb = Corners(values, frozen_ints(np.repeat(kind[:, None], 3, axis=1)))
        whole = replace(whole, colors=rgb)
    return [Part(whole, looks[0][0])]


def _part(mesh: Mesh, chosen: npt.NDArray[np.bool_]) -> Mesh:
    """Return some faces of a mesh, with the vertices that they use."""
    used, faces = np.unique(mesh.faces[chosen], return_inverse=True)

    def corners(given: Corners | None) -> Corners | None:
        return None if given is None else Corners(given.values, given.indices[chosen])

    return replace(
        mesh,
        vertices=mesh.vertices[used],
        faces=frozen_ints(faces.reshape(-1, 3)),
        normals=corners(mesh.normals),
        colors=corners(mesh.colors),
        texture_coordinates=corners(mesh.texture_coordinates),
    )


def read_mtl(data: bytes) -> dict[str, tuple[Material, str]]:
    """Return the materials of a library by name, each with the path of its image or ""; other lines are skipped."""
    found: dict[str, tuple[Material, str]] = {}
    name: str | None = None
    values: dict[str, list[float]] = {}
    image = ""

    def close() -> None:
        if name is not None:
            found.setdefault(name, (_material(values), image))

    for line in data.decode("utf-8", "replace").splitlines():
        word, _, rest = line.strip().partition(" ")
        rest = rest.strip()
        if word == "newmtl":
            close()
            name, values, image = rest, {}, ""
        elif word == "map_Kd":
            # Options are before the name of the file.
            image = rest.split()[-1] if rest.startswith("-") and rest.split() else rest
        elif word:
            try:
                values[word] = [float(number) for number in rest.split()]
            except ValueError:
                continue
    close()
    return found


def _material(values: dict[str, list[float]]) -> Material:
    default = Material()

    def share(value: float) -> float:
        return min(max(value, 0.0), 1.0) if value == value else 0.0

    def color(word: str, default_color: tuple[float, float, float]) -> tuple[float, float, float]:
        given = values.get(word, [])
        return (share(given[0]), share(given[1]), share(given[2])) if len(given) == 3 else default_color

    def single(word: str) -> float | None:
        given = values.get(word, [])
        return given[0] if len(given) == 1 else None

    diffuse = color("Kd", default.diffuse)
    opaque, clear, exponent = single("d"), single("Tr"), single("Ns")
    ambient = color("Ka", (0.0, 0.0, 0.0))
    largest = max(range(3), key=lambda k: diffuse[k])
    has_ambient = diffuse[largest] and "Ka" in values
    return Material(
        diffuse=diffuse,
        ambient_intensity=share(ambient[largest] / diffuse[largest]) if has_ambient else default.ambient_intensity,
        specular=color("Ks", default.specular),
        emissive=color("Ke", default.emissive),
        shininess=default.shininess if exponent is None else share(exponent / SPECULAR_EXPONENT),
        transparency=share(1.0 - opaque if opaque is not None else clear or 0.0),
    )
