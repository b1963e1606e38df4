"""STL files, written as bytes; and plain meshes of any format of trimesh, read.

These are STL, PLY, OFF, 3MF …

Binary STL: 80 bytes of header, the number of triangles, then for each its normal and
three corners as 12 floats, and two bytes; all of it little-endian and in single
precision (3D Systems, "StereoLithography Interface Specification", 1989).

Text STL: `solid NAME`, for each triangle `facet normal … outer loop`, three lines
`vertex X Y Z`, `endloop endfacet`, then `endsolid`. A file may have many solids; they
are one mesh.
"""

import re
import zipfile
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from bodymotion.formats.limits import Budget
from bodymotion.formats.meshes import DEFAULT_CREASE_ANGLE
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.shapes import Mesh

_TRIANGLE = np.dtype(
    [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")]
)
_HEADER_BYTES = 80
_COUNT_BYTES = 4

MAX_BYTES = 2 * 10**9

# Archives hold several files, of any size once unpacked. None of them is known to be
# the mesh.
ARCHIVES = (".zip", ".gz", ".bz2", ".tgz", ".tar", ".zae", ".3dxml")

TEXT_MESHES = (".stl", ".obj", ".ply", ".off", ".dae")
_VERTEX = re.compile(rb"\bvertex\s+(\S+\s+\S+\s+\S+)", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(rb"(?<![\d.,])-?\d+,\d+(?![\d.,])")
# [bytes] The part of a mesh that is searched for decimal commas.
_SEARCHED = 1 << 20


def to_stl(mesh: Mesh) -> bytes:
    """Return the triangles of a mesh as the bytes of a file."""
    # A record is normal, three corners and two bytes that nobody uses.
    records = np.zeros(len(mesh.faces), dtype=_TRIANGLE)
    with np.errstate(over="ignore"):
        records["normal"] = mesh.face_normals
        records["corners"] = mesh.vertices[mesh.faces]
    # A header that begins with "solid" would mean the text form.
    header = b"binary STL by bodymotion".ljust(_HEADER_BYTES, b" ")
    return header + np.uint32(len(records)).tobytes() + records.tobytes()


def read_mesh_file(path: Path) -> Mesh:
    """Read a mesh, its vertices merged where they coincide.

    Raises ValueError when nothing can be made of the file; with the reason.
    """
    if path.suffix.lower() in ARCHIVES:
        raise ValueError("the file is an archive; unpack it and name the mesh in it")
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ValueError("the file is too large")
        # From a stream, not by its name: so no file that it names (a material, an
        # image) is opened.
        with path.open("rb") as stream:
            vertices, faces = _read_stream(stream, path)
    except Exception as error:
        # trimesh's readers raise many exceptions for broken files.
        raise ValueError(mesh_fault(path, error)) from error
    if not len(faces) or not np.isfinite(vertices).all():
        raise ValueError("the file has no triangles, or corners that are not finite")
    # A damaged file may name corners that it does not have.
    if not (faces.min() >= 0 and faces.max() < len(vertices)):
        raise ValueError("faces have corners that do not exist")
    return Mesh(vertices, faces, crease_angle=DEFAULT_CREASE_ANGLE)


def _read_stream(stream: BinaryIO, path: Path) -> tuple[Floats, npt.NDArray[np.int32]]:
    """Return vertices (V, 3) and faces (F, 3)."""
    import trimesh

    _check_unpacked_size(stream, path)
    suffix = path.suffix.lower()
    corners = None
    if suffix == ".stl":
        corners = _text_corners(stream.read())
        stream.seek(0)
    if corners is None:
        loaded = trimesh.load_mesh(stream, file_type=suffix.lstrip("."))
    else:
        numbers = np.arange(len(corners)).reshape(-1, 3)
        loaded = trimesh.Trimesh(corners, numbers)
    vertices = np.asarray(loaded.vertices, dtype=np.float64).reshape(-1, 3)
    faces: npt.NDArray[np.int32] = np.asarray(loaded.faces).reshape(-1, 3)
    return vertices, faces


def _check_unpacked_size(stream: BinaryIO, path: Path) -> None:
    """Refuse an archive, such as 3MF, that is very large once unpacked."""
    if zipfile.is_zipfile(stream):
        with zipfile.ZipFile(stream) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
        # A mesh of its own: what other meshes of the model take is not its fault.
        Budget(str(path), stream.seek(0, 2)).take_bytes(unpacked)
    stream.seek(0)


def _text_corners(data: bytes) -> Floats | None:
    """Return the corners (3 n, 3) of triangles, None for a binary file.

    trimesh refuses those without `endsolid`, and those in one line.
    """
    # A binary file may begin with "solid" as well: only its length, which follows from
    # the number of triangles, distinguishes the forms for certain.
    start = _HEADER_BYTES + _COUNT_BYTES
    count = int.from_bytes(data[_HEADER_BYTES:start], "little")
    if len(data) >= start and len(data) == start + _TRIANGLE.itemsize * count:
        return None
    rows = _VERTEX.findall(data)
    if not rows:
        return None
    if len(rows) % 3:
        raise ValueError(f"{len(rows)} corners are not a multiple of three")
    words = b" ".join(rows).split()
    return np.array(list(map(float, words))).reshape(-1, 3)


def mesh_fault(path: Path, error: Exception) -> str:
    """Return why a mesh cannot be read.

    With what is known about its numbers.
    """
    if path.suffix.lower() in TEXT_MESHES and path.is_file():
        with path.open("rb") as stream:
            comma = _DECIMAL_COMMA.search(stream.read(_SEARCHED))
        if comma is not None:
            number = comma[0].decode()
            expected = number.replace(",", ".")
            return f"{number} has a decimal comma; expected {expected}"
    return str(error) or type(error).__name__
