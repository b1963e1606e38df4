"""Triangles out of everything: polygons, primitives, smooth normals, and the buffers that a graphics card wants."""

from __future__ import annotations

from bodymotion.geometry.meshes.buffers import split_corners
from bodymotion.geometry.meshes.normals import corner_normals
from bodymotion.geometry.meshes.outermost import outermost_points
from bodymotion.geometry.meshes.polygons import Triangles, triangulate
from bodymotion.geometry.meshes.primitives import to_mesh
from bodymotion.geometry.meshes.transforms import bounds, transformed, used_vertices

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
