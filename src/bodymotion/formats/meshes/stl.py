"""Triangles as binary STL: single precision, without colours, and each triangle with corners of its own.

Layout: 80 bytes of header, the number of triangles, then for each its normal and three corners as 12 floats, and two bytes; all of it
little-endian (the specification of 3D Systems, "StereoLithography Interface Specification", 1989).
"""

from __future__ import annotations

import numpy as np

from bodymotion.geometry.shapes import Mesh

__all__ = ["to_stl"]

_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


def to_stl(mesh: Mesh) -> bytes:
    """Return the triangles of a mesh as the bytes of a file."""
    records = np.zeros(len(mesh.faces), dtype=_TRIANGLE)
    with np.errstate(over="ignore"):
        records["normal"] = mesh.face_normals
        records["corners"] = mesh.vertices[mesh.faces]
    # A header that begins with "solid" is taken for the text form.
    header = b"binary STL by bodymotion".ljust(80, b" ")
    return header + np.uint32(len(records)).tobytes() + records.tobytes()
