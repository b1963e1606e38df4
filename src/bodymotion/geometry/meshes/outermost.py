"""The points of shapes that lie farthest out: enough to know where something stands, and how far it reaches, in any pose."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.meshes.transforms import used_vertices
from bodymotion.geometry.shapes import Shape

__all__ = ["outermost_points"]

DIRECTIONS = 512
SMALL = 64
"""A cloud of no more points is taken as it is."""
BLOCK = 32
"""So many directions are looked in at once: for clouds of a million points, less than a gigabyte."""


def outermost_points(shapes: Iterable[Shape]) -> Floats:
    """Return points (N, 3) of shapes, in the frame of the thing that has them: those that lie farthest out in one of some 500 directions.

    The farthest point in any other direction is missed by at most the cloud's radius times 1 − cos of the angle to the next of these:
    about 1 %; of parts with corners (feet, boxes) by nothing. A small cloud is given whole. Points that are not finite are left out.
    """
    clouds = [used_vertices(shape.geometry) @ shape.transform[:3, :3].T + shape.transform[:3, 3] for shape in shapes]
    cloud = np.concatenate([np.zeros((0, 3)), *clouds])
    cloud = np.asarray(cloud[np.isfinite(cloud).all(axis=1)])
    if len(cloud) <= SMALL:
        return cloud
    directions = _directions()
    blocks = [directions[start : start + BLOCK] for start in range(0, len(directions), BLOCK)]
    return np.asarray(cloud[np.unique(np.concatenate([np.argmax(cloud @ block.T, axis=0) for block in blocks]))])


def _directions() -> Floats:
    """Spread unit vectors over the sphere: a Fibonacci lattice, and the six along the axes."""
    i = np.arange(DIRECTIONS) + 0.5
    z = 1 - 2 * i / DIRECTIONS
    angle = np.pi * (1 + np.sqrt(5)) * i
    radius = np.sqrt(1 - z * z)
    lattice = np.stack([radius * np.cos(angle), radius * np.sin(angle), z], axis=1)
    return np.concatenate([lattice, np.eye(3), -np.eye(3)])
