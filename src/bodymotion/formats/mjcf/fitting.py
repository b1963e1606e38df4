"""A solid fitted around a mesh: what `mesh` means at a geom that is no mesh."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bodymotion.formats.mjcf.masses import mesh_moments
from bodymotion.geometry import poses, rotations

if TYPE_CHECKING:
    from bodymotion.diagnostics import Location, Problem
    from bodymotion.formats.mjcf.assets import MeshAsset
    from bodymotion.geometry.arrays import Floats

__all__ = ["fitted"]


def fitted(
    asset: MeshAsset, kind: str, *, scale: float, bounds: bool, location: Location, problems: list[Problem]
) -> tuple[tuple[float, ...], Floats] | None:
    """Return the half sizes of a solid around a mesh, and its pose (7,) in the mesh's frame; None for a mesh without volume.

    As MuJoCo has it, its axes are those of the mesh's inertia, z along the longest. It is as large as the box with the mesh's second
    moments, or with `bounds` as the box around the mesh along those axes; `scale` is the geom's `fitscale`.
    """
    found = mesh_moments(asset.mesh, asset.inertia, location, problems)
    if found is None:
        return None
    volume, center, moments = found
    spreads, axes = np.linalg.eigh(moments / volume)
    if np.linalg.det(axes) < 0:
        axes[:, 0] *= -1.0
    half = np.sqrt(3.0 * np.maximum(spreads, 0.0))
    middle = np.zeros(3)
    if bounds:
        points = (asset.mesh.vertices - center) @ axes
        low, high = points.min(axis=0), points.max(axis=0)
        half, middle = 0.5 * (high - low), 0.5 * (low + high)
    x, y, z = half.tolist()
    round_about_z = max(x, y) if bounds else 0.5 * (x + y)
    sizes: dict[str, tuple[float, ...]] = {
        "sphere": (max(x, y, z) if bounds else (x + y + z) / 3.0,),
        "capsule": (round_about_z, max(0.0, z - (round_about_z if bounds else 0.5 * round_about_z))),
        "cylinder": (round_about_z, z),
        "ellipsoid": (x, y, z),
        "box": (x, y, z),
    }
    place = poses.from_parts(center + axes @ middle, rotations.from_matrix(axes))
    return tuple(scale * size for size in sizes[kind]), place
