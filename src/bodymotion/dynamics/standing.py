"""Where the root is, of motions that have joints alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bodymotion.dynamics.feet import FRAMES, find_feet, soles
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body

__all__ = ["feet_of_joints", "placed_on_feet", "root_on_feet"]


def root_on_feet(
    body: Body, q: npt.ArrayLike, feet: Sequence[int | str] | None = None, start: npt.ArrayLike | None = None
) -> Floats:
    """Return root poses (T, 7) in the world that let the feet of a walk stay where they stand, for joint values (T, J).

    The lowest foot stands and does not move, until another one would be lower by 0.1 mm: then that one stands where it is. So feet do not
    slip, and there is no flight; on a sole that rolls over its toe the root is off until the next one stands.

    Parameters
    ----------
    feet:
        Indices or names of the links that may stand; when not given, those of `feet_of_joints`.
    start:
        (7,) the root's pose in the first frame; when not given, the body's own, at the height where its lowest foot stands on z = 0.

    Raises
    ------
    ValueError
        When `q` has not J columns, or there are no feet.
    """
    return placed_on_feet(body, q, feet_of_joints(body, q) if feet is None else feet, start)[0]


def feet_of_joints(body: Body, q: npt.ArrayLike) -> tuple[int, ...]:
    """Return the links, in link order, that may stand in a motion of joint values (T, J) alone.

    They are those that `find_feet` finds in the first frame and in the whole motion, with the root at the body's own pose; and those that
    it finds when the body stands on these.
    """
    values = np.asarray(q, dtype=np.float64)
    values = values[np.unique(np.linspace(0, len(values) - 1, FRAMES).astype(int))] if len(values) else values
    placed = body.forward_kinematics(values)
    found = {*find_feet(body, placed[:1]), *find_feet(body, placed)}
    if found and len(values):
        root, _ = placed_on_feet(body, values, sorted(found))
        found |= {*find_feet(body, body.forward_kinematics(values, root))}
    return tuple(sorted(found))


def placed_on_feet(
    body: Body, q: npt.ArrayLike, feet: Sequence[int | str], start: npt.ArrayLike | None = None
) -> tuple[Floats, Floats]:
    """Return the root poses of `root_on_feet` (T, 7), and the height (T,) [m] of the lowest point of all `feet` then."""
    from bodymotion.kernels.feet import lowest, roots

    link_poses = body.forward_kinematics(q, poses.IDENTITY)
    first = np.array(body.root_pose if start is None else start, dtype=np.float64)
    first[3:] = rotations.normalized(first[3:])
    standing = soles(body, feet)
    if not standing.links:
        raise ValueError(f"{body.name or 'the body'} has no feet to stand on: say which links they are")
    own = np.ascontiguousarray(link_poses[:, list(standing.links)])
    if start is None and len(own):
        placed = poses.compose(first, own[:1])
        first[2] -= lowest(placed, standing.points, standing.edges, 0.0)[..., 0].min()
    return roots(own, standing.points, standing.edges, first)
