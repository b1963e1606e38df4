"""Triangle meshes: polygons, primitives, smooth normals, transforms, and buffers for drawing."""

from __future__ import annotations

from bodymotion.geometry.meshes.normals import corner_normals, split_corners
from bodymotion.geometry.meshes.polygons import Triangles, triangulate
from bodymotion.geometry.meshes.primitives import to_mesh
from bodymotion.geometry.meshes.transforms import bounds, outermost_points, transformed, used_vertices

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
