"""How far loops are from closing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.model.closed_loops.constraints import held_directions, unit_axis

if TYPE_CHECKING:
    from bodymotion.model.body import Body

__all__ = ["loop_errors"]


def loop_errors(body: Body, link_poses: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Return how far the E extra joints of a body are from closing.

    Parameters
    ----------
    link_poses:
        (..., L, 7) in the world.

    Returns
    -------
    How far apart the two points are (..., E) [m], in the directions in which the extra joint holds them; and the angle (..., E) [rad]
    between the two axes of a hinge, 0 for other types.

    Raises
    ------
    ValueError
        When there are not L poses of 7 numbers.
    """
    link_poses = np.asarray(link_poses, dtype=np.float64)
    if link_poses.ndim < 2 or link_poses.shape[-2:] != (len(body.links), 7):
        raise ValueError(f"link poses have shape (..., {len(body.links)}, 7), these have {link_poses.shape}")
    apart = np.zeros((*link_poses.shape[:-2], len(body.extra_joints)))
    tilted = np.zeros(apart.shape)
    for k, joint in enumerate(body.extra_joints):
        first, second = (link_poses[..., index, :] for index in joint.links)
        turns = [rotations.normalized(pose[..., 3:]) for pose in (first, second)]
        ends = [
            pose[..., :3] + rotations.rotate(turn, point)
            for pose, turn, point in zip((first, second), turns, joint.positions, strict=True)
        ]
        between = rotations.rotate(rotations.conjugate(turns[0]), ends[1] - ends[0])
        apart[..., k] = np.linalg.norm(between @ held_directions(joint).T, axis=-1)
        if joint.type == "hinge":
            one, other = (rotations.rotate(turn, unit_axis(joint)) for turn in turns)
            tilted[..., k] = np.arctan2(
                np.linalg.norm(np.cross(one, other), axis=-1), np.einsum("...i,...i->...", one, other)
            )
    return apart, tilted
