"""Which parts of a body are mirror images of which, in its middle plane y = 0 of the root's frame at joint values 0.

The mirror M takes (x, y, z) to (x, −y, z), and a turn with quaternion (w, x, y, z) to the one with (w, −x, y, −z). A link's own frame
need not be mirrored itself: the pose of link i with orientation Rᵢ becomes the pose of its partner j with orientation
(M·Rᵢ·M)·(M·Rᵢ₀·M)⁻¹·Rⱼ₀, where Rᵢ₀ and Rⱼ₀ are the orientations at joint values 0. A turn by q about an axis a (in the world at joint
values 0) becomes one by −q about M·a: where the partner's axis is M·a, its joint value is −q, where it is −M·a, it is q. For a slide it
is the other way round.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bodymotion.editing.sides import pair_names
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body

__all__ = ["Symmetry", "mirrored_points", "mirrored_turns", "symmetry"]

UNDECIDED = 0.7
"""Cosine of the angle between two axes below which they are no mirror images, and no sign can be told."""


@dataclass(frozen=True)
class Symmetry:
    """The mirror image of a body in itself.

    Attributes
    ----------
    links:
        (L,) The partner of each link; of one in the middle, itself.
    columns, signs:
        (J,) Column c of mirrored joint values is signs[c] times column columns[c].
    frames:
        (L, 4) The turn (M·Rᵢ₀·M)⁻¹·Rⱼ₀ of each link i with partner j.
    offset, worst_link:
        [m] How far the origin of the worst link's partner is from the mirror image of its own, at joint values 0.
    tilt, worst_joint:
        [rad] How far the axis of the worst joint's partner is from the mirror image of its own.
    """

    links: npt.NDArray[np.intp]
    columns: npt.NDArray[np.intp]
    signs: Floats
    frames: Floats
    offset: float
    worst_link: str
    tilt: float
    worst_joint: str


def mirrored_points(points: Floats) -> Floats:
    """Return the mirror images of points (..., 3)."""
    return np.asarray(points * np.array([1.0, -1.0, 1.0]))


def mirrored_turns(quaternions: Floats) -> Floats:
    """Return M·R·M for orientations (..., 4)."""
    return np.asarray(quaternions * np.array([1.0, -1.0, 1.0, -1.0]))


def symmetry(body: Body, pairs: Mapping[str, str] | None = None) -> Symmetry:
    """Find the mirror image of a body in itself: partners by name, signs from its geometry.

    Parameters
    ----------
    pairs:
        Names of links that are partners, where the names do not follow the rules of `bodymotion.editing.sides`.

    Raises
    ------
    ValueError
        When partners have joints of different types, parents that are no partners, or axes that are far from mirror images; the message
        names them.
    """
    links = np.array(pair_names([link.name for link in body.links], pairs), dtype=np.intp)
    if not pairs and len(links) and np.array_equal(links, np.arange(len(links))):
        links = np.array(pair_names([link.joint.name or link.name for link in body.links]), dtype=np.intp)
    for link in body.links:
        partner = body.links[links[link.index]]
        if link.joint.type != partner.joint.type:
            raise ValueError(
                f"{link.name} has a {link.joint.type} joint, its partner {partner.name} a {partner.joint.type} one"
            )
        if link.index and (partner.index == 0 or links[link.parent] != partner.parent):
            raise ValueError(
                f"{link.name} hangs on {body.links[link.parent].name}, but its partner {partner.name} not on the partner of that: "
                "give the pairs of links"
            )
    rest = body.forward_kinematics(np.zeros(body.num_joints), [0, 0, 0, 1, 0, 0, 0])
    apart = np.linalg.norm(rest[links, :3] - mirrored_points(rest[:, :3]), axis=1)
    worst = int(np.argmax(apart)) if len(apart) else 0
    columns, signs = np.arange(body.num_joints), np.ones(body.num_joints)
    tilt, worst_joint = 0.0, ""
    for column, index in enumerate(body.joint_links):
        if index < 0 or body.links[index].joint.type not in ("rotate", "slide", "crawler"):
            continue
        link, partner = body.links[index], body.links[links[index]]
        here = mirrored_points(rotations.rotate(rest[link.index, 3:], link.joint.axis))
        there = rotations.rotate(rest[partner.index, 3:], partner.joint.axis)
        cosine = float(np.clip(here @ there, -1, 1))
        if abs(cosine) < UNDECIDED or partner.index not in body.joint_links:
            raise ValueError(
                f"the axes of {link.name} and {partner.name} are no mirror images: give the pairs of links, or is the body not symmetric?"
            )
        target = body.joint_links.index(partner.index)
        columns[target] = column
        signs[target] = np.sign(cosine) * (1.0 if link.joint.type == "slide" else -1.0)
        off = float(np.arctan2(np.linalg.norm(np.cross(here, there)), abs(cosine)))
        if off > tilt:
            tilt, worst_joint = off, link.name
    frames = rotations.multiply(rotations.conjugate(mirrored_turns(rest[:, 3:])), rest[links, 3:])
    return Symmetry(
        links,
        columns,
        signs,
        frames,
        float(apart[worst]) if len(apart) else 0.0,
        body.links[worst].name if len(apart) else "",
        tilt,
        worst_joint,
    )
