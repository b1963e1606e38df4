"""Triangles out of everything: polygons, primitives, smooth normals, and the buffers that a graphics card wants."""

from __future__ import annotations

from bodymotion.meshing.buffers import split_corners
from bodymotion.meshing.normals import corner_normals
from bodymotion.meshing.outermost import outermost_points
from bodymotion.meshing.polygons import Triangles, triangulate
from bodymotion.meshing.primitives import to_mesh
from bodymotion.meshing.transforms import bounds, transformed, used_vertices

__all__ = [
    "Triangles",
    "bounds",
    "corner_normals",
    "outermost_points",
    "split_corners",
    "to_mesh",
    "transformed",
    "triangulate",
    "used_vertices",
]
