"""Parts that an Inline names and that are no VRML97: plain meshes such as STL, read by trimesh."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import BinaryIO

import numpy as np

from bodymotion.geometry.shapes import Mesh

__all__ = ["read_mesh_file"]

SMOOTH = 0.5
"""[rad] Crease angle of a mesh that does not give one: rounded parts look round, edges stay edges."""

MOST_BYTES = 2 * 10**9

ARCHIVES = (".zip", ".gz", ".bz2", ".tgz", ".tar", ".zae", ".3dxml")
"""They hold other files, of any size once unpacked; nothing says which of them is the mesh."""

MOST_TIMES = 20
"""A 3MF file is an archive, too: it unpacks to no more than so many times its size, or"""
MOST_ALWAYS = 64 << 20
"""so many bytes."""


def read_mesh_file(path: Path) -> Mesh:
    """Read a mesh, its vertices merged where they coincide.

    Raises
    ------
    ValueError
        When nothing can be made of the file; with the reason.
    """
    import trimesh

    if path.suffix.lower() in ARCHIVES:
        raise ValueError("it is an archive: unpack it, and name the mesh in it")
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ValueError("the file is too large")
        # From a stream, not by its name: then no file that it mentions (a material, an image) is opened.
        with path.open("rb") as stream:
            if zipfile.is_zipfile(stream):
                _look_into(stream)
            stream.seek(0)
            loaded = trimesh.load_mesh(stream, file_type=path.suffix.lstrip(".").lower())
        faces = np.asarray(loaded.faces).reshape(-1, 3)
        vertices = np.asarray(loaded.vertices, dtype=np.float64).reshape(-1, 3)
    except Exception as error:  # trimesh's readers raise whatever the bytes lead to
        raise ValueError(str(error) or type(error).__name__) from error
    if not len(faces) or not np.isfinite(vertices).all():
        raise ValueError("it holds no triangles, or corners that are not finite")
    if not (faces.min() >= 0 and faces.max() < len(vertices)):
        raise ValueError("faces have corners that are not there")
    return Mesh(vertices, faces, crease_angle=SMOOTH)


def _look_into(stream: BinaryIO) -> None:
    """Raise ValueError where an archive unpacks to too much."""
    with zipfile.ZipFile(stream) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
    if unpacked > max(MOST_ALWAYS, MOST_TIMES * stream.seek(0, 2)):
        raise ValueError(f"it unpacks to {unpacked >> 20} MiB")
