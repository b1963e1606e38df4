"""Frames of trunk, head and feet: x forward, y left, z up.

They do not depend on the rest pose of a file. With R(t) the orientation of a joint of a
person, the up axis of its part in the joint's frame is the mean of Rᵀ·z over the
upright frames: hips high, and the line from hips to shoulders within 12° of vertical.
The lateral axis is the mean of Rᵀ·(left hip − right hip), shoulders for the chest. Of a
figure that is never upright, that line is the up axis of chest and head. Feet have the
up axis of the frames in which they are on the ground, and their forward axis points
from ankle to toe. A robot is upright with all joints at 0.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Bools, Floats
from bodymotion.retargeting.roles import DIGITS, SIDES, Figure

# [rad] Angle of the line from hips to shoulders from vertical in upright frames.
MAX_LEAN = np.radians(12)
# Of the quantile below: hips are higher above the lower foot in upright frames.
UPRIGHT_SHARE = 0.95
# Of the heights of hips above the lower foot: a few jumps are higher.
TALL_QUANTILE = 0.95
# [m] Points nearer to each other have no direction.
MIN_LENGTH = 1e-6
# Parts with an orientation, and the roles of their joints.
PARTS = {
    "pelvis": "pelvis",
    "chest": "chest",
    "head": "head",
    "left foot": "left ankle",
    "right foot": "right ankle",
}
UP = np.array([0.0, 0.0, 1.0])


def part_axes(figure: Figure) -> dict[str, Floats]:
    """Return the orientations (4,) of the frames of a robot's parts in their links."""
    frame = _frame_of_axes(UP, figure.rest["left hip"] - figure.rest["right hip"])
    axes = {}
    for part, role in PARTS.items():
        if role in figure.points:
            orientation = figure.reference[figure.link_of(role), 3:]
            axes[part] = rotations.multiply(rotations.conjugate(orientation), frame)
    return axes


def mean_part_axes(
    figure: Figure,
    joint_poses: Floats,
    points: Mapping[str, Floats],
    contact: Bools,
) -> dict[str, Floats]:
    """Return the orientations (4,) of the frames of a person's parts in their joints.

    `joint_poses` (T, J, 7), `points` by role (T, 3) [m], `contact` (T, 2, 2) of ankle
    and toe of both feet.
    """
    posture = _find_posture(points)
    axes = {}
    for part, role in PARTS.items():
        if role not in figure.points:
            continue
        orientations = joint_poses[:, figure.link_of(role), 3:]
        to_joint = rotations.conjugate(orientations)
        if part.endswith("foot"):
            side = part.split()[0]
            to_toe = points[f"{side} toe"] - points[role]
            is_flat = np.asarray(contact[:, SIDES.index(side)].all(axis=1))
            frame = _foot_axes(posture, to_joint, to_toe, is_flat)
        else:
            frame = _trunk_axes(posture, to_joint, part)
        axes[part] = np.round(frame, DIGITS)
    return axes


class _Posture(NamedTuple):
    """How a person stands in T frames.

    `across_hips`, `across_shoulders` (T, 3) [m] point to the left, `spine` (T, 3) is
    the unit vector from hips to shoulders. In `upright` frames (T,) hips are high; in
    `straight` ones the spine is vertical, too.
    """

    across_hips: Floats
    across_shoulders: Floats
    spine: Floats
    upright: Bools
    straight: Bools


def _find_posture(points: Mapping[str, Floats]) -> _Posture:
    """Return how a person stands, for positions (T, 3) [m] by role."""
    hips = 0.5 * (points["left hip"] + points["right hip"])
    lower_ankle = np.minimum(points["left ankle"][:, 2], points["right ankle"][:, 2])
    height = hips[:, 2] - lower_ankle
    tall = float(np.quantile(height, TALL_QUANTILE))
    upright = height >= tall - (1 - UPRIGHT_SHARE) * abs(tall)
    across_hips = points["left hip"] - points["right hip"]
    across_shoulders = across_hips
    spine = np.broadcast_to(UP, across_hips.shape)
    if "left shoulder" in points:
        left = points["left shoulder"]
        right = points["right shoulder"]
        across_shoulders = left - right
        spine = 0.5 * (left + right) - hips
        length = np.linalg.norm(spine, axis=1, keepdims=True)
        spine = spine / np.maximum(length, MIN_LENGTH)
    straight = upright & (spine[:, 2] > np.cos(MAX_LEAN))
    return _Posture(across_hips, across_shoulders, spine, upright, straight)


def _foot_axes(
    posture: _Posture,
    to_joint: Floats,
    to_toe: Floats,
    is_flat: Bools,
) -> Floats:
    """Return the orientation (4,) of a foot in its joint.

    `to_joint` (T, 4) rotates from the world to the joint; `to_toe` (T, 3) [m].
    """
    forward = rotations.rotate(to_joint, to_toe).mean(axis=0)
    up = rotations.rotate(to_joint, np.broadcast_to(UP, to_toe.shape))
    z = up[is_flat if is_flat.any() else posture.upright].mean(axis=0)
    if forward.any():
        return _frame_of_axes(z, np.cross(z, forward))
    # Without a toe, feet point forward where the figure is upright.
    lateral = rotations.rotate(to_joint, posture.across_hips)
    return _frame_of_axes(z, lateral[posture.upright].mean(axis=0))


def _trunk_axes(
    posture: _Posture,
    to_joint: Floats,
    part: str,
) -> Floats:
    """Return the orientation (4,) of pelvis, chest or head in its joint.

    `to_joint` (T, 4) rotates from the world to the joint.
    """
    across = posture.across_hips if part == "pelvis" else posture.across_shoulders
    up = np.broadcast_to(UP, across.shape)
    rows = posture.straight
    if not rows.any():
        rows = posture.upright
        # One who always leans has the spine as the up axis of chest and head.
        if part != "pelvis":
            up = posture.spine
    lateral = rotations.rotate(to_joint, across)[rows].mean(axis=0)
    y = lateral / max(float(np.linalg.norm(lateral)), 1e-9)
    z = rotations.rotate(to_joint, up)[rows].mean(axis=0)
    return _frame_of_axes(z - (z @ y) * y, lateral)


def _frame_of_axes(up: Floats, lateral: Floats) -> Floats:
    """Return the orientation (4,) of the frame with z along `up`.

    y is along the part of `lateral` that is normal to it.
    """
    z = up / max(float(np.linalg.norm(up)), 1e-9)
    y = lateral - (lateral @ z) * z
    y = y / max(float(np.linalg.norm(y)), 1e-9)
    return rotations.from_matrix(np.stack([np.cross(y, z), y, z], axis=1))
