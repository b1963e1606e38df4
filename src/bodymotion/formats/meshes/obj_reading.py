"""Wavefront OBJ and its materials (MTL), read: what `obj` writes, and what modelling programs do.

Read are `v` (with a colour, too), `vt`, `vn`, `f` (any polygons, indices counted from the end, too), `usemtl`, `mtllib`; curves, lines,
groups and smoothing are not.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from bodymotion.formats.meshes.collada.polygons import ended
from bodymotion.formats.meshes.obj import MARK, SPECULAR_EXPONENT
from bodymotion.geometry.arrays import Floats, frozen_ints
from bodymotion.geometry.meshes import triangulate
from bodymotion.geometry.shapes import Corners, Material, Mesh

__all__ = ["ObjPart", "read_mtl", "read_obj"]

SMOOTH = 0.5
"""[rad] Crease angle of a mesh that does not give one."""


@dataclass(frozen=True)
class ObjPart:
    """A mesh in one material, and the path of its image as the library writes it, "" for none."""

    mesh: Mesh
    material: Material
    image: str = ""


@dataclass
class _Lines:
    """The lines of a file by their first words, without these."""

    v: list[bytes] = field(default_factory=list)
    vt: list[bytes] = field(default_factory=list)
    vn: list[bytes] = field(default_factory=list)
    f: list[bytes] = field(default_factory=list)
    counts: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    """For faces with indices from the end: how many vertices, texture coordinates and normals stand above."""
    materials: list[tuple[int, str]] = field(default_factory=list)
    libraries: list[str] = field(default_factory=list)
    crease_angle: float = SMOOTH
    two_sided: bool = False
    channels: int | None = None
    """How many numbers a colour has, where the file says it: else four where one is not opaque."""


def read_obj(data: bytes, library: Callable[[str], bytes | None]) -> list[ObjPart]:
    """Read the bytes of a file.

    Parameters
    ----------
    data:
        The file.
    library:
        Gives the bytes of a file of materials by its name in the OBJ, None where there is none.

    Returns
    -------
    One part; several where surfaces have images. Faces in several plain materials are one mesh with colours.

    Raises
    ------
    ValueError
        When it holds no triangles, or its lines are not those of an OBJ.
    """
    lines = _sorted(data)
    points = _numbers(lines.v, 3)
    colors = None
    if points.shape[1] >= 6:
        points, colors = points[:, :3], points[:, -3:]
    points = np.ascontiguousarray(points[:, :3])
    counts, index = _corners(lines, (len(points), len(lines.vt), len(lines.vn)))
    triangles = triangulate(ended(counts, index[:, 0]), points)
    place = triangles.corners - triangles.polygons[:, None]
    corners = index[place]
    finite = np.asarray(np.isfinite(points).all(axis=1))
    good = finite[corners[:, :, 0]].all(axis=1) if len(place) else np.zeros(0, dtype=bool)
    corners, owner = corners[good], triangles.polygons[good]
    if not len(corners):
        raise ValueError("it holds no triangles")
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
    used = _materials_of(lines, len(counts))[owner]
    return _dressed(whole, used, [name for _, name in lines.materials], known, lines.channels)


def _sorted(data: bytes) -> _Lines:
    lines = _Lines()
    v, vt, vn, f = lines.v, lines.vt, lines.vn, lines.f
    for line in data.replace(b"\\\r\n", b" ").replace(b"\\\n", b" ").replace(b"\t", b" ").split(b"\n"):
        start = line[:2]
        if start == b"v ":
            v.append(line[2:])
        elif start == b"f ":
            if b"-" in line:
                lines.counts[len(f)] = len(v), len(vt), len(vn)
            f.append(line[2:])
        elif start == b"vn":
            vn.append(line[2:])
        elif start == b"vt":
            vt.append(line[2:])
        elif start:
            _sort_other(line, lines)
    return lines


def _sort_other(line: bytes, lines: _Lines) -> None:
    words = line.split()
    word = words[0] if words else b""
    if word == b"usemtl":
        lines.materials.append((len(lines.f), line.strip()[6:].strip().decode("utf-8", "replace")))
    elif word == b"mtllib":
        lines.libraries.append(line.strip()[6:].strip().decode("utf-8", "replace"))
    elif word == b"v":
        lines.v.append(b" ".join(words[1:]))
    elif word == b"f":
        lines.counts[len(lines.f)] = len(lines.v), len(lines.vt), len(lines.vn)
        lines.f.append(b" ".join(words[1:]))
    elif line.startswith(MARK.encode()):
        _read_mark(words, lines)


def _read_mark(words: list[bytes], lines: _Lines) -> None:
    pairs = dict(zip(words[2::2], words[3::2], strict=False))
    try:
        angle = float(pairs.get(b"crease_angle", b"nan"))
    except ValueError:
        return
    lines.crease_angle = angle if 0.0 <= angle <= math.pi else SMOOTH
    lines.two_sided = pairs.get(b"two_sided") == b"1"
    lines.channels = {b"3": 3, b"4": 4}.get(pairs.get(b"channels", b""))


def _even(rows: list[bytes]) -> int:
    """Return the number of words in each of some lines where they are separated by single blanks and all have as many; else 0."""
    blanks = rows[0].rstrip().count(b" ", 1)
    ends = rows[0].startswith(b" ")
    if any(row.count(b" ", 1) != blanks or row.startswith(b" ") != ends for row in rows):
        return 0
    return blanks + 1


def _parsed(text: bytes) -> Floats:
    """Return numbers separated by blanks, in bulk; the first that is none ends them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            return np.fromstring(text, dtype=np.float64, sep=" ")
        except ValueError:
            return np.zeros(0)


def _numbers(rows: list[bytes], least: int) -> Floats:
    """Return rows of numbers as an array; of rows of different lengths as many as all have."""
    if not rows:
        return np.zeros((0, least))
    width = _even(rows)
    if width >= least:
        # With so many blanks a line has no more words than that: where the sum is right, each line is.
        flat = _parsed(b" ".join(rows))
        if len(flat) == len(rows) * width:
            return flat.reshape(len(rows), width)
    words = [row.split() for row in rows]
    shortest = min(map(len, words))
    if shortest < least:
        raise ValueError(f"a line has {shortest} numbers, not {least}")
    if max(map(len, words)) != shortest:
        shortest = least if shortest < 6 else shortest
    try:
        return np.array([word for row in words for word in row[:shortest]], dtype=np.float64).reshape(
            len(rows), shortest
        )
    except ValueError as error:
        raise ValueError("a line holds something else than numbers") from error


def _corners(lines: _Lines, ends: tuple[int, int, int]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the number of corners of each face, and of each corner its indices (N, 3) of place, texture and normal; −1 for none."""
    rows = lines.f
    if not rows:
        return np.zeros(0, dtype=np.int64), np.zeros((0, 3), dtype=np.int64)
    text = b" ".join(rows)
    number, width = len(text.split()), _even(rows)
    counts = (
        np.full(len(rows), width)
        if width * len(rows) == number
        else np.array([len(row.split()) for row in rows], dtype=np.int64)
    )
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
            for place, word in enumerate(text.split()):
                for column, part in enumerate(word.split(b"/")[:3]):
                    index[place, column] = float(part or b"0")
        except ValueError as error:
            raise ValueError("a face holds something else than indices") from error
    if not (np.abs(index) < 2**31).all():
        raise ValueError("an index is no small whole number")
    whole = index.astype(np.int64)
    if (whole < 0).any():
        above = np.tile(np.array(ends, dtype=np.int64), (len(counts), 1))
        for face, seen in lines.counts.items():
            above[face] = seen
        whole = np.where(whole < 0, np.repeat(above, counts, axis=0) + whole + 1, whole)
    # 0 is no index, and one from the end may point in front of the first: both are made "none".
    return counts.astype(np.int64), np.where(whole >= 1, whole - 1, -1)


def _attribute(values: Floats, index: npt.NDArray[np.int64]) -> Corners | None:
    if not len(values) or index.min() < 0 or index.max() >= len(values) or not np.isfinite(values).all():
        return None
    return Corners(np.ascontiguousarray(values), frozen_ints(index))


def _materials_of(lines: _Lines, count: int) -> npt.NDArray[np.int64]:
    """Return for each face the place of its `usemtl`, −1 for none."""
    found = np.full(count, -1, dtype=np.int64)
    for number, (start, _) in enumerate(lines.materials):
        found[start:] = number
    return found


def _dressed(
    whole: Mesh,
    used: npt.NDArray[np.int64],
    names: list[str],
    known: dict[str, tuple[Material, str]],
    channels: int | None,
) -> list[ObjPart]:
    plain = Material(), ""
    places, rows = np.unique(used, return_inverse=True)
    # One name may be used in many places.
    kinds: dict[str, int] = {}
    kind = np.array([kinds.setdefault(names[place] if place >= 0 else "", len(kinds)) for place in places])[rows]
    looks = [known.get(name, plain) for name in kinds]
    if len(looks) == 1 and (channels is None or whole.colors is not None or not known):
        return [ObjPart(whole, *looks[0])]
    if any(image for _, image in looks):
        return [ObjPart(_part(whole, kind == k), *look) for k, look in enumerate(looks)]
    values = np.array([[*look.diffuse, 1.0 - look.transparency] for look, _ in looks])
    values = values[:, : channels or (4 if (values[:, 3] != 1.0).any() else 3)]
    if whole.colors is None and len(known):
        rgb = Corners(values, frozen_ints(np.repeat(kind[:, None], 3, axis=1)))
        whole = Mesh(
            whole.vertices,
            whole.faces,
            whole.crease_angle,
            whole.normals,
            rgb,
            whole.texture_coordinates,
            whole.two_sided,
        )
    return [ObjPart(whole, looks[0][0])]


def _part(mesh: Mesh, chosen: npt.NDArray[np.bool_]) -> Mesh:
    """Return some faces of a mesh, with the vertices that they use."""
    used, faces = np.unique(mesh.faces[chosen], return_inverse=True)

    def corners(given: Corners | None) -> Corners | None:
        return None if given is None else Corners(given.values, given.indices[chosen])

    return Mesh(
        mesh.vertices[used],
        frozen_ints(faces.reshape(-1, 3)),
        mesh.crease_angle,
        corners(mesh.normals),
        corners(mesh.colors),
        corners(mesh.texture_coordinates),
        mesh.two_sided,
    )


def read_mtl(data: bytes) -> dict[str, tuple[Material, str]]:
    """Return the materials of a library by name, each with the path of its image or ""; lines that are none are passed over."""
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
            # Options stand before the name of the file.
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

    def color(word: str, otherwise: tuple[float, float, float]) -> tuple[float, float, float]:
        given = values.get(word, [])
        return (share(given[0]), share(given[1]), share(given[2])) if len(given) == 3 else otherwise

    def single(word: str) -> float | None:
        given = values.get(word, [])
        return given[0] if len(given) == 1 else None

    diffuse = color("Kd", default.diffuse)
    opaque, clear, exponent = single("d"), single("Tr"), single("Ns")
    ambient = color("Ka", (0.0, 0.0, 0.0))
    largest = max(range(3), key=lambda k: diffuse[k])
    return Material(
        diffuse=diffuse,
        ambient_intensity=share(ambient[largest] / diffuse[largest])
        if diffuse[largest] and "Ka" in values
        else default.ambient_intensity,
        specular=color("Ks", default.specular),
        emissive=color("Ke", default.emissive),
        shininess=default.shininess if exponent is None else share(exponent / SPECULAR_EXPONENT),
        transparency=share(1.0 - opaque if opaque is not None else clear or 0.0),
    )
