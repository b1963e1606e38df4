"""The shapes of a robot's feet, and feet rotated so that their soles are level."""

from dataclasses import replace

import numpy as np

from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.meshes import hull_of_sorted
from bodymotion.model.body import Body
from bodymotion.retargeting.limb_search import MIN_TIP
from bodymotion.retargeting.roles import DIGITS, SIDES, Figure

# [rad] Soles that are tilted by less are level. Edges that differ by less are one sole.
MIN_TILT = np.radians(3)
# [rad] Soles are made level in the upright pose up to this tilt.
MAX_TILT = np.radians(30)
# Of the length of a foot: shorter edges are no soles.
MIN_SOLE = 0.5
# Decimals of [m]: one point of each millimetre is enough for the outline of a foot.
OUTLINE_DIGITS = 3


def foot_cloud(
    body: Body,
    figure: Figure,
    role: str,
) -> Floats:
    """Return the contact points (N, 3) of a role's link and what it carries.

    They are in the upright pose. A foot without shapes has none.
    """
    foot = figure.link_of(role)
    clouds = [np.zeros((0, 3))]
    for link in body.links:
        if foot in body.path_to_root(link.index) and len(link.contact_points):
            link_pose = figure.reference[link.index]
            clouds.append(poses.transform_points(link_pose, link.contact_points))
    return np.concatenate(clouds)


def level_feet(body: Body, figure: Figure) -> Figure:
    """Return the figure with feet rotated about their ankles so that soles are level.

    A sole may be tilted as seen from the side or from the front.
    """
    lateral = figure.rest["left hip"] - figure.rest["right hip"]
    lateral = lateral * [1, 1, 0] / max(float(np.hypot(*lateral[:2])), MIN_TIP)
    forward = np.cross(lateral, [0.0, 0.0, 1.0])
    for axis, direction in ((lateral, forward), (forward, -lateral)):
        for side in SIDES:
            role = f"{side} ankle"
            tilt = _measure_tilt(foot_cloud(body, figure, role), direction)
            if MIN_TILT < abs(tilt) < MAX_TILT:
                rotation = rotations.from_axis_angle(axis, tilt)
                figure = _rotate_foot(body, figure, role, rotation)
    return figure


def _measure_tilt(cloud: Floats, direction: Floats) -> float:
    """Return the angle [rad] of a sole along a level direction (3,), 0 without a sole.

    `cloud` (N, 3) are the points of the foot.
    """
    points = np.column_stack([cloud @ direction, cloud[:, 2]])
    points = points[np.argsort(cloud[:, 2], kind="stable")]
    along = np.round(points[:, 0], OUTLINE_DIGITS)
    lowest = points[np.unique(along, return_index=True)[1]]
    outline = np.array(hull_of_sorted(sorted(map(tuple, lowest.tolist()))))
    if len(outline) < 3:
        return 0.0
    along, up = (np.roll(outline, -1, axis=0) - outline).T
    angles = np.arctan2(up, along)
    # The longest edge is the sole. One that is nearly flat has several edges.
    is_sole = np.abs(angles - angles[np.argmax(along)]) < MIN_TILT
    length = along[is_sole].sum()
    if not length > MIN_SOLE * np.ptp(outline[:, 0]):
        return 0.0
    return float(np.arctan2(up[is_sole].sum(), length))


def _rotate_foot(
    body: Body,
    figure: Figure,
    role: str,
    rotation: Floats,
) -> Figure:
    """Return the figure with a foot and what it carries rotated about its ankle."""
    ankle = figure.rest[role]
    foot = figure.link_of(role)
    motion = np.array([*(ankle - rotations.rotate(rotation, ankle)), *rotation])
    moved = np.round(poses.compose(motion, figure.reference), DIGITS)
    reference = figure.reference.copy()
    for link in range(len(body.links)):
        if foot in body.path_to_root(link):
            reference[link] = moved[link]
    return replace(figure, reference=reference)
