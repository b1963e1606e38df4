"""Triangles as Wavefront OBJ with its materials (MTL): text, so that numbers keep all their digits.

What is written: `v` (with a colour where corners have some), `vt`, `vn` and `f` in the order of the mesh, a `usemtl` before the faces of
each colour where faces have colours, and one comment for what OBJ has no word for::

    # bodymotion crease_angle 0.5 two_sided 0 channels 3
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from bodymotion.formats.xml.tree import number_text
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.shapes import Corners, Material, Mesh

__all__ = ["to_mtl", "to_obj"]

MOST_MATERIALS = 256
"""Faces with more colours than this become corners with colours."""
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
        How the surface looks; `image` is the path of its texture as it is to stand in the library.
    library:
        The name of the file of materials; "" for none.

    Returns
    -------
    The OBJ, and the MTL: empty where there is no library.
    """
    look = material or Material()
    if look.texture is not None:
        # Its image is all that is seen of such a surface.
        mesh = replace(mesh, colors=None)
    colored = _colored(mesh)
    head = [
        "# Wavefront OBJ by bodymotion",
        f"{MARK} crease_angle {number_text(mesh.crease_angle)} two_sided {int(mesh.two_sided)}"
        + (f" channels {mesh.colors.values.shape[1]}" if mesh.colors is not None else ""),
    ]
    named = _named_materials(colored, look, image) if library else {}
    if library:
        head.append(f"mtllib {library}")
    parts = ["\n".join(head).encode(), b"\n"]
    points = colored.vertices
    if colored.vertex_colors is not None:
        points = np.concatenate([points, colored.vertex_colors], axis=1)
    parts.append(_rows(b"v", points))
    uv, normals = mesh.texture_coordinates, mesh.normals
    if uv is not None:
        places = uv.values
        if look.texture is not None:
            places = (np.c_[places, np.ones(len(places))] @ look.texture.transform.T)[:, :2]
        parts.append(_rows(b"vt", places))
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
    if (corner == corner[:, :1]).all() and len(rows) <= MOST_MATERIALS:
        return _Colored(mesh.vertices, mesh.faces, face_materials=corner[:, 0], materials=rows)
    # Each vertex once for each colour that it has; where it has one, vertices keep their numbers.
    first = np.full(len(mesh.vertices), -1, dtype=np.int64)
    first[mesh.faces] = corner
    if (first[mesh.faces] == corner).all():
        shown = np.ones((len(mesh.vertices), 3))
        shown[first >= 0] = rows[first[first >= 0], :3]
        return _Colored(mesh.vertices, mesh.faces, vertex_colors=shown)
    pairs, place = np.unique(np.stack([mesh.faces.ravel(), corner.ravel()], axis=1), axis=0, return_inverse=True)
    return _Colored(mesh.vertices[pairs[:, 0]], place.reshape(-1, 3), vertex_colors=rows[pairs[:, 1], :3])


def _named_materials(colored: _Colored, look: Material, image: str) -> dict[str, tuple[Material, str]]:
    if colored.materials is None:
        return {"material_0": (look, image)}
    found = {}
    for number, row in enumerate(colored.materials.tolist()):
        clear = 1.0 - row[3] if len(row) > 3 else look.transparency
        diffuse = (row[0], row[1], row[2])
        found[f"material_{number}"] = replace(look, diffuse=diffuse, transparency=clear), image
    return found


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
