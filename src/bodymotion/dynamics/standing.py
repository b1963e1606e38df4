"""Where the root is, of motions that have joints alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bodymotion import poses, rotations
from bodymotion.arrays import Floats
from bodymotion.body import Body
from bodymotion.dynamics.feet import find_feet, soles

__all__ = ["root_on_feet"]


def root_on_feet(
    body: Body, q: npt.ArrayLike, feet: Sequence[int | str] | None = None, start: npt.ArrayLike | None = None
) -> Floats:
    """Give root poses (T, 7) in the world that let the feet of a walk stay where they stand, for joint values (T, J).

    The lowest foot stands and does not move, until another one would be lower by 0.1 mm: then that one stands where it is. So feet do not
    slip, and there is no flight; on a sole that rolls over its toe the root is off until the next one stands.

    Parameters
    ----------
    feet:
        Indices or names of the links that may stand; when not given, those that `find_feet` finds.
    start:
        (7,) the root's pose in the first frame; when not given, the body's own, at the height where its lowest foot stands on z = 0.

    Raises
    ------
    ValueError
        When `q` has not J columns, or there are no feet.
    """
    from bodymotion.kernels.contacts import lowest
    from bodymotion.kernels.standing import roots

    link_poses = body.forward_kinematics(q, poses.IDENTITY)
    first = np.array(body.root_pose if start is None else start, dtype=np.float64)
    first[3:] = rotations.normalized(first[3:])
    found = find_feet(body, poses.compose(first, link_poses)) if feet is None else tuple(feet)
    standing = soles(body, found)
    if not standing.links:
        raise ValueError(f"{body.name or 'the body'} has no feet to stand on: say which links they are")
    own = np.ascontiguousarray(link_poses[:, list(standing.links)])
    if start is None and len(own):
        placed = poses.compose(first, own[:1])
        first[2] -= lowest(placed, standing.points, standing.edges, 0.0)[..., 0].min()
    return roots(own, standing.points, standing.edges, first)
