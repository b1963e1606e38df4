"""The motion of a recorded figure.

Points and directions of its limbs, orientations, and contacts of its feet.

Orientations do not depend on the rest pose of a file. The frame of a part has x
forward, y left, z up where the figure stands upright: with R(t) the orientation of a
joint, its up axis in the joint's frame is the mean of Rᵀ·z over the upright frames
(hips high, the line from hips to shoulders within 12° of vertical), and its lateral
axis the mean of Rᵀ·(left hip − right hip), shoulders for the chest. Of a figure that is
never upright, that line is the up axis of chest and head. Feet have the up axis of the
frames in which they are on the ground, and their forward axis points from ankle to toe.
A robot is upright with all joints at 0.

Let ℓ be the length of a leg. A point of a foot (ankle or toe) is low up to 0.06·ℓ above
its ground, which is the median height of that point while it moves slower than 0.25·ℓ/s
within the lowest 0.1·ℓ of the clip; it is in contact while it is low and slower than
0.35·ℓ/s. Contacts and gaps of less than 0.08 s are none.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from bodymotion.diagnostics import WrongUseError
from bodymotion.dynamics import measure
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Bools, Floats, without_short_runs
from bodymotion.kernels.feet import product
from bodymotion.model.body import Body
from bodymotion.motion import Motion, filters
from bodymotion.motion.components import Timeline
from bodymotion.retargeting.roles import (
    DIGITS,
    SIDES,
    Figure,
    figure_of_body,
    figure_of_skeleton,
    foot_cloud,
)
from bodymotion.retargeting.skeletons import check_kind, is_calibrated, title
from bodymotion.skeleton import Skeleton

# [leg lengths, leg lengths/s] Lower, slower points of feet define the ground.
GROUND_HEIGHT = 0.1
GROUND_SPEED = 0.25
# [leg lengths, leg lengths/s] Lower, slower points are in contact.
CONTACT_HEIGHT = 0.06
CONTACT_SPEED = 0.35
MIN_PHASE = 0.08  # [s] Shorter contacts, and gaps between contacts, are removed.
LEFT_OUT = 16  # Means leave out less than 1/LEFT_OUT of the frames, the first: mostly they are the same where a recording begins later.
MAX_LEAN = np.radians(
    12
)  # Maximum angle of the line from hips to shoulders from vertical in upright frames.
UPRIGHT = 0.95  # Of the 95 % quantile of the height of the hips above the lower foot: frames above are upright.
LEG = (("hip", "knee"), ("knee", "ankle"))
MIN_LENGTH = 1e-6  # [m]
PARTS = {
    "pelvis": "pelvis",
    "chest": "chest",
    "head": "head",
    "left foot": "left ankle",
    "right foot": "right ankle",
}
"""Parts with an orientation, and the roles of their joints."""


@dataclass(frozen=True, eq=False)
class Sole:
    """The points (P, 3) [m] of a foot that can touch the ground, in its frame, and how far the lowest ones reach from the ankle.

    `front`, `back`, `depth` below, `left` and `right` are the sides of their box.
    """

    points: Floats = field(repr=False)
    front: float
    back: float
    depth: float
    left: float
    right: float


@dataclass(frozen=True, eq=False)
class Recording:
    """A figure that moves over T frames on level ground at z = 0.

    Attributes
    ----------
    figure, timeline:
        The figure, and the times of the frames, with the frame rate of the source where
        it has one.
    points:
        By role, positions (T, 3) [m].
    frames:
        By part, orientations (T, 4): x forward, y left, z up where the figure is
        upright.
    contact:
        (T, 2, 2) whether ankle and toe of the left and the right foot are in contact.
    ankle_height:
        [m] of the ankles of feet that are flat on the ground.
    """

    figure: Figure
    timeline: Timeline
    points: Mapping[str, Floats]
    frames: Mapping[str, Floats]
    contact: Bools
    ankle_height: float

    @property
    def times(self) -> Floats:
        """The time (T,) [s] of each frame."""
        return self.timeline.times

    @property
    def on_ground(self) -> Bools:
        """(T, 2) whether the left and the right foot are in contact."""
        return np.asarray(self.contact.any(axis=2))

    @property
    def leg(self) -> float:
        """The length [m] of a leg from hip to ankle."""
        return 0.5 * sum(
            self.length(f"{side} hip", f"{side} knee", f"{side} ankle")
            for side in SIDES
        )

    def length(self, *roles: str) -> float:
        """Return the median length [m] of a limb from role to role."""
        ways = (self.points[b] - self.points[a] for a, b in pairwise(roles))
        return float(
            np.round(
                sum(np.median(np.linalg.norm(way, axis=1)) for way in ways), DIGITS
            )
        )

    def directions(self, *roles: str) -> list[Floats]:
        """Return the unit vectors (T, 3) from role to role.

        Where two are at one point, the one before.
        """
        found: list[Floats] = []
        for start, end in pairwise(roles):
            way = self.points[end] - self.points[start]
            length = np.linalg.norm(way, axis=1, keepdims=True)
            missing = length < MIN_LENGTH
            found.append(
                np.where(
                    missing,
                    found[-1] if found else 0.0,
                    way / np.where(missing, 1.0, length),
                )
            )
        return found


class MovingFigure(NamedTuple):
    """A figure, the poses (T, N, 7) of its joints, and the times of the frames."""

    figure: Figure
    placed: Floats
    timeline: Timeline


def moving_figure(
    source: Skeleton | Motion,
    body: Body | None = None,
    roles: Mapping[str, str] | None = None,
) -> MovingFigure:
    """Return the figure of a skeleton, or of a motion of a body, as it moves.

    Raises
    ------
    ValueError
        When the roles of its joints cannot be found, there are no frames, or numbers
        are not finite; and for a motion without its body.
    """
    name = title(source)
    if isinstance(source, Skeleton):
        placed = source.joint_poses()
        timeline = Timeline.uniform(source.num_frames, source.frame_rate)
        if not len(placed):
            raise ValueError(f"{name}: no frames: there is nothing to retarget")
    elif body is None:
        raise WrongUseError(
            f"{name}: a motion is retargeted with its body; expected one "
            "(source_body, --source-body)"
        )
    else:
        check_kind(body, "source_body", Body)
        found = measure(body, source)
        root = source.link_position
        placed = found.link_poses
        timeline = found.timeline or Timeline.stamped(found.times)
        if root is not None and not (known := root.values[:, 0, 3:].any(axis=1)).all():
            what = f"the root's quaternion is 0 in frame {known.argmin()}"
            raise ValueError(f"{name}: {what}; `bodymotion check` finds all")
    if not np.isfinite(placed).all():
        raise ValueError(
            f"{name}: numbers are not finite (`bodymotion check`); `edit --fill-gaps` "
            "fills gaps"
        )
    if isinstance(source, Skeleton):
        figure = figure_of_skeleton(source, placed, roles)
    else:
        figure = figure_of_body(found.body, roles)
    if is_calibrated(placed, timeline.times):
        placed = placed[[1, *range(1, len(placed))]]
    return MovingFigure(figure, np.round(placed, DIGITS), timeline)


def recorded(
    source: Skeleton | Motion,
    body: Body | None = None,
    roles: Mapping[str, str] | None = None,
) -> Recording:
    """Return the recording of a figure with two legs.

    Parameters and errors as `moving_figure`.
    """
    figure, placed, timeline = moving_figure(source, body, roles)
    times = timeline.times
    if figure.is_quadruped:
        raise ValueError(
            f"{title(source)}: four legs; expected two for a robot with two legs"
        )
    points = {role: np.round(figure.at(role, placed), DIGITS) for role in figure.points}
    leg = float(
        np.mean(
            [
                figure.length(f"{side} hip", f"{side} knee", f"{side} ankle")
                for side in SIDES
            ]
        )
    )
    shortest = min(
        figure.length(f"{side} {a}", f"{side} {b}") for side in SIDES for a, b in LEG
    )
    if not MIN_LENGTH < leg < np.inf or shortest <= MIN_LENGTH:
        raise ValueError(
            f"{figure.name}: a leg is {leg:g} m long; expected hips, knees and ankles "
            "at different points"
        )
    late = slice(
        (len(times) - 1) % (1 << max((len(times) // LEFT_OUT).bit_length() - 1, 0)),
        None,
    )
    lasting = {role: at[late] for role, at in points.items()}
    feet = {part: [f"{side} {part}" for side in SIDES] for part in ("ankle", "toe")}
    lows = {
        part: ground_height([lasting[role] for role in feet[part]], times[late], leg)
        for part in feet
    }
    phases = [
        [phases_of_contact(points[role], lows[part], times, leg) for role in feet[part]]
        for part in feet
    ]
    contact = np.array(phases).transpose(2, 1, 0)
    if isinstance(source, Skeleton):
        ground = lows["toe"]
    else:
        ground = 0.0
    if isinstance(source, Motion):
        axes = part_axes(figure)
    else:
        axes = _mean_axes(figure, placed[late], lasting, contact[late])
    ankle = lows["ankle"] - ground
    if isinstance(source, Motion):
        ankle = sole(body, figure).depth  # type: ignore[arg-type]
        ground = lows["ankle"] - ankle
    links = {part: figure.points[PARTS[part]][0] for part in axes}
    frames = {
        part: rotations.multiply(placed[:, links[part], 3:], axis)
        for part, axis in axes.items()
    }
    points = {role: at - [0.0, 0.0, ground] for role, at in points.items()}
    return Recording(figure, timeline, points, frames, contact, float(ankle))


def part_axes(figure: Figure) -> dict[str, Floats]:
    """Return for the parts of a robot the quaternions (4,) of their frames in the frames of their links."""
    frame = _frame(
        np.array([0.0, 0.0, 1.0]), figure.rest["left hip"] - figure.rest["right hip"]
    )
    return {
        part: rotations.multiply(
            rotations.conjugate(figure.reference[figure.points[role][0], 3:]), frame
        )
        for part, role in PARTS.items()
        if role in figure.points
    }


def sole_points(body: Body, figure: Figure, side: str) -> Floats:
    """Return the points (N, 3) with which a foot can touch the ground, in the frame of its link, that of the ankle.

    They are the contact points of the foot and what it carries. A foot without shapes
    is a box, as long as a quarter of the leg, and as deep as the ankle is above z = 0
    in the robot's own pose, where that is below 0.15 legs.
    """
    foot, ankle = figure.points[f"{side} ankle"]
    if len(cloud := foot_cloud(body, figure, f"{side} ankle")):
        return poses.transform_points(poses.inverse(figure.reference[foot]), cloud)
    leg = figure.length(f"{side} hip", f"{side} knee", f"{side} ankle")
    high = float(figure.at(f"{side} ankle", figure.reference)[2])
    if 0 < high < 0.15 * leg:
        depth = high
    else:
        depth = 0.1 * leg
    box = [[x * leg, y * leg, -depth] for x in (0.15, -0.1) for y in (0.05, -0.05)]
    return ankle + rotations.rotate(part_axes(figure)[f"{side} foot"], np.array(box))


def lowest_of_links(body: Body, placed: Floats, below: float = 0.0) -> Floats:
    """Return the height (T,) [m] of the lowest contact point of all links at poses (T, L, 7), exact where it is `below`.

    Elsewhere it is that of the lowest box around the points of a link.
    """
    lowest = np.full(len(placed), np.inf)
    for k, link in enumerate(body.links):
        if len(points := link.contact_points):
            middle = 0.5 * (points.max(axis=0) + points.min(axis=0))
            size = 0.5 * np.ptp(points, axis=0)
            up = rotations.rotate(
                rotations.conjugate(placed[:, k, 3:]), [0.0, 0.0, 1.0]
            )
            height = (
                placed[:, k, 2] + up @ middle - np.abs(up) @ size
            )  # Of the box around the points.
            rows = height < below
            height[rows] = placed[rows, k, 2] + product(up[rows], points.T).min(
                axis=1, initial=np.inf
            )
            lowest = np.minimum(lowest, height)
    return lowest


def sole(body: Body, figure: Figure, side: str = "left") -> Sole:
    """Return the box of the lowest points of a foot."""
    axes = part_axes(figure)[f"{side} foot"]
    cloud = sole_points(body, figure, side) - figure.points[f"{side} ankle"][1]
    points = cloud = rotations.rotate(rotations.conjugate(axes), cloud)
    cloud = cloud[cloud[:, 2] <= cloud[:, 2].min() + 0.1 * np.ptp(cloud[:, 0])]
    (front, left, _), (back, right, depth) = cloud.max(axis=0), -cloud.min(axis=0)
    return Sole(
        points, float(front), float(back), float(depth), float(left), float(right)
    )


def _frame(up: Floats, lateral: Floats) -> Floats:
    """Return the quaternion (4,) of the frame with z along `up`, and y along what of `lateral` is normal to it."""
    z = up / max(float(np.linalg.norm(up)), 1e-9)
    y = lateral - (lateral @ z) * z
    y = y / max(float(np.linalg.norm(y)), 1e-9)
    return rotations.from_matrix(np.stack([np.cross(y, z), y, z], axis=1))


def _mean_axes(
    figure: Figure, placed: Floats, points: Mapping[str, Floats], contact: Bools
) -> dict[str, Floats]:
    """Return for the parts of a person the quaternions (4,) of their frames in the frames of their joints."""
    hips = 0.5 * (points["left hip"] + points["right hip"])
    tall = hips[:, 2] - np.minimum(
        points["left ankle"][:, 2], points["right ankle"][:, 2]
    )
    high = float(np.quantile(tall, 0.95))
    upright = tall >= high - (1 - UPRIGHT) * abs(high)
    across = points["left hip"] - points["right hip"]
    up = spine = np.broadcast_to([0.0, 0.0, 1.0], across.shape)
    shoulders = across
    if "left shoulder" in points:
        shoulders = points["left shoulder"] - points["right shoulder"]
        spine = 0.5 * (points["left shoulder"] + points["right shoulder"]) - hips
        spine = spine / np.maximum(
            np.linalg.norm(spine, axis=1, keepdims=True), MIN_LENGTH
        )
    straight = upright & (spine[:, 2] > np.cos(MAX_LEAN))
    found = {}
    for part, role in PARTS.items():
        if role not in figure.points:
            continue
        back = rotations.conjugate(placed[:, figure.points[role][0], 3:])
        if part.endswith("foot"):
            side = part.split()[0]
            flat = contact[:, SIDES.index(side)].all(axis=1)
            forward = rotations.rotate(back, points[f"{side} toe"] - points[role]).mean(
                axis=0
            )
            z = rotations.rotate(back, up)[flat if flat.any() else upright].mean(axis=0)
            # Without a toe, feet point forward where the figure is upright.
            if forward.any():
                lateral = np.cross(z, forward)
            else:
                lateral = rotations.rotate(back, across)[upright].mean(axis=0)
            found[part] = np.round(_frame(z, lateral), DIGITS)
        else:
            # Who always leans has the spine as the up axis of chest and head.
            if part == "pelvis" or straight.any():
                along = up
            else:
                along = spine
            counted = straight if straight.any() else upright
            lateral = rotations.rotate(back, across if part == "pelvis" else shoulders)[
                counted
            ].mean(axis=0)
            y = lateral / max(float(np.linalg.norm(lateral)), 1e-9)
            z = rotations.rotate(back, along)[counted].mean(axis=0)
            found[part] = np.round(_frame(z - (z @ y) * y, lateral), DIGITS)
    return found


def smoothed(
    values: Floats, times: Floats, cutoff: float, *, are_poses: bool = False
) -> Floats:
    """Return values (T, …) without what is faster than a cutoff [Hz], rounded."""
    return np.round(
        filters.low_pass_filter(values, times, cutoff, are_poses=are_poses), DIGITS
    )


def _speed(points: Floats, times: Floats) -> Floats:
    """Return the speeds (T,) [m/s] of a point (T, 3), by central differences."""
    if len(times) < 3:
        return np.zeros(len(times))
    return np.asarray(np.linalg.norm(np.gradient(points, times, axis=0), axis=1))


def ground_height(points: list[Floats], times: Floats, leg: float) -> float:
    """Return the height [m] of the points of feet that are on the ground."""
    height = np.concatenate([at[:, 2] for at in points])
    speed = np.concatenate([_speed(at, times) for at in points])
    low = height < np.quantile(height, 0.02) + GROUND_HEIGHT * leg
    still = low & (speed < GROUND_SPEED * leg)
    return float(np.round(np.median(height[still if still.any() else low]), DIGITS))


def phases_of_contact(
    points: Floats, ground: float, times: Floats, leg: float
) -> Bools:
    """Return when (T,) a point of a foot is in contact."""
    near = (points[:, 2] < ground + CONTACT_HEIGHT * leg) & (
        _speed(points, times) < CONTACT_SPEED * leg
    )
    found = without_short_runs(near, times, MIN_PHASE)
    first = int((found != found[0]).argmax())
    if times[first] - times[0] < MIN_PHASE:
        found[:first] = found[first]
    return found
