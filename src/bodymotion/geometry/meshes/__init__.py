"""Triangle meshes: polygons, primitives, smooth normals, transforms, and buffers for drawing."""

from bodymotion.geometry.meshes.polygons import Triangles, triangulate
from bodymotion.geometry.meshes.primitives import (
    bounds,
    grid_faces,
    outermost_points,
    to_mesh,
    transformed,
    used_vertices,
)
from bodymotion.geometry.meshes.surfaces import corner_normals, split_corners

__all__ = [
    "Triangles",
    "bounds",
    "corner_normals",
    "grid_faces",
    "outermost_points",
    "split_corners",
    "to_mesh",
    "transformed",
    "triangulate",
    "used_vertices",
]
