"""What the functions of this room are given, as tables for the kernels: batch axes made one, numbers of a body in arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import WrongUseError
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body
from bodymotion.model.motors import armature

if TYPE_CHECKING:
    from bodymotion.kernels.rigid_bodies import Masses

__all__ = ["GRAVITY", "gravity_vector", "mass_arrays", "rotor_inertias", "table", "tables"]

GRAVITY = 9.80665
"""[m/s²] Standard gravity."""


def table(values: npt.ArrayLike, batch: tuple[int, ...], width: int, what: str) -> Floats:
    """Return `values` (..., width) over the `batch` axes (they broadcast) as (N, width)."""
    array = np.asarray(values, dtype=np.float64)
    try:
        count = int(np.prod(batch, dtype=np.int64))
        return np.ascontiguousarray(np.broadcast_to(array, (*batch, width)).reshape(count, width))
    except ValueError:
        shape = ", ".join(map(str, (*batch, width)))
        raise ValueError(f"{what}: expected shape ({shape}), got {array.shape}") from None


def tables(body: Body, link_poses: npt.ArrayLike) -> tuple[Floats, tuple[int, ...]]:
    """Return link poses (..., L, 7) as (N, L, 7), and their batch axes."""
    poses = np.asarray(link_poses, dtype=np.float64)
    count = len(body.links)
    if poses.ndim < 2 or poses.shape[-2:] != (count, 7):
        raise ValueError(f"link poses have shape (..., {count}, 7), these have {poses.shape}")
    frames = int(np.prod(poses.shape[:-2], dtype=np.int64))
    return poses.reshape(frames, count, 7), poses.shape[:-2]


def mass_arrays(body: Body) -> Masses:
    """Return masses (L,), centres of mass (L, 3) and inertias (L, 3, 3) about them in the links' frames, of these the symmetric part."""
    inertias = np.array([link.inertia for link in body.links]).reshape(-1, 3, 3)
    return (
        np.array([link.mass for link in body.links], dtype=np.float64),
        np.array([link.center_of_mass for link in body.links]).reshape(-1, 3),
        np.ascontiguousarray(0.5 * (inertias + np.swapaxes(inertias, 1, 2))),
    )


def rotor_inertias(body: Body) -> Floats:
    """Return what the rotor adds to the inertia (J,) [kg m² or kg] that a joint feels: `equivalentInertia`, else gear_ratio² · rotor_inertia.

    It is 0 for joints that move no link.
    """
    _, kinds, _, _, _ = body.tree
    return np.array(
        [armature(body.links[i].joint) if i >= 0 and kinds[i] else 0.0 for i in body.joint_links], dtype=np.float64
    )


def gravity_vector(gravity: float | npt.ArrayLike) -> Floats:
    """Return the acceleration (3,) [m/s²] of what falls: one number is its amount, downwards along z."""
    array = np.asarray(gravity, dtype=np.float64)
    if not np.isfinite(array).all():
        raise WrongUseError(f"gravity is finite, not {array}")
    if array.shape == ():
        return np.array([0.0, 0.0, -float(array)])
    if array.shape != (3,):
        raise WrongUseError(f"gravity is one number or a vector (3,), this has shape {array.shape}")
    return array
