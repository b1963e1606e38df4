"""Gains of joint servos: torque = kp · (command − q) + kd · (rate of the command − rate of q)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.model.motors import armature

if TYPE_CHECKING:
    from bodymotion.model.body import Body

__all__ = ["BANDWIDTH", "DAMPING_RATIO", "default_gains", "standing_links"]

BANDWIDTH = 15.0
"""[Hz] Natural frequency of a servo with default gains."""
DAMPING_RATIO = 1.0
MIN_INERTIA = 1e-4
"""[kg m² or kg] A joint is taken to move this at least."""
CONTACT_HEIGHT = 0.02
"""[m] Links whose shapes reach down to this height above the lowest point support the body."""


def default_gains(body: Body) -> Floats:
    """Return the gains kp, kd (J, 2) of the joints: [N m/rad, N m s/rad] or [N/m, N s/m].

    A servo that moves the inertia I is the oscillator I·x″ + kd·x′ + kp·x = 0 = x″ + 2ζω·x′ + ω²·x. So kp = I·ω² and kd = 2·ζ·I·ω, with
    ω = 2π · `BANDWIDTH` and ζ = `DAMPING_RATIO`. I is what the joint moves at rest, about its axis: the links that it carries; the rest of
    the body instead if the joint lies between a free root and a link that supports the body, because that link stays on the ground; and
    the armature. Under gravity a link of length l at the end of such a servo sags by about g/(l·ω²): 0.3° for 0.2 m.
    """
    poses = body.forward_kinematics(np.zeros(body.num_joints))
    masses = np.array([link.mass for link in body.links])
    turns = rotations.to_matrix(poses[:, 3:])
    centers = poses[:, :3] + np.einsum("lij,lj->li", turns, [link.center_of_mass for link in body.links])
    inertias = np.einsum("lij,ljk,lmk->lim", turns, [link.inertia for link in body.links], turns)
    standing = standing_links(body, poses) if not body.is_mounted else set()
    below = [np.zeros(len(body.links), dtype=bool) for _ in body.links]
    for link in reversed(body.links):
        below[link.index][link.index] = True
        if link.parent >= 0:
            below[link.parent] |= below[link.index]
    found = np.zeros((body.num_joints, 2))
    for column, index in enumerate(body.joint_links):
        joint = body.links[index].joint
        if index <= 0 or joint.type not in ("rotate", "slide"):
            continue
        axis = turns[index] @ joint.axis
        moved = ~below[index] if any(below[index][foot] for foot in standing) else below[index]
        if joint.type == "slide":
            inertia = float(masses[moved].sum())
        else:
            arms = np.cross(axis, centers[moved] - poses[index, :3])
            inertia = float(np.einsum("i,lij,j->", axis, inertias[moved], axis) + masses[moved] @ (arms**2).sum(axis=1))
        inertia = max(inertia + armature(joint), MIN_INERTIA) if np.isfinite(inertia) else MIN_INERTIA
        omega = 2.0 * np.pi * BANDWIDTH
        found[column] = inertia * omega**2, 2.0 * DAMPING_RATIO * inertia * omega
    return found


def standing_links(body: Body, link_poses: Floats) -> set[int]:
    """Return the links, by index, whose collision shapes are lowest in poses (L, 7), within `CONTACT_HEIGHT`."""
    lows: dict[int, float] = {}
    for link in body.links:
        box = [shape.bounds for shape in link.collisions if shape.bounds is not None]
        if box:
            corners = np.array(
                [[b[i, 0], b[j, 1], b[k, 2]] for b in box for i in (0, 1) for j in (0, 1) for k in (0, 1)]
            )
            lows[link.index] = float(
                (rotations.rotate(link_poses[link.index, 3:], corners)[:, 2]).min() + link_poses[link.index, 2]
            )
    return {index for index, low in lows.items() if low < min(lows.values()) + CONTACT_HEIGHT}
