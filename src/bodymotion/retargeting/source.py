"""The motion of a recorded figure with two legs.

Points and directions of its limbs, orientations (`part_frames`), and contacts of its
feet (`contact_phases`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from bodymotion.diagnostics import WrongUseError
from bodymotion.dynamics import measure
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Bools, Floats
from bodymotion.model.body import Body
from bodymotion.motion import Motion, filters
from bodymotion.motion.components import Timeline
from bodymotion.retargeting.contact_phases import find_contact, find_ground_height
from bodymotion.retargeting.figures import figure_of_body, figure_of_skeleton
from bodymotion.retargeting.part_frames import (
    MIN_LENGTH,
    PARTS,
    mean_part_axes,
    part_axes,
)
from bodymotion.retargeting.roles import DIGITS, SIDES, Figure
from bodymotion.retargeting.skeletons import check_kind, is_calibrated, title
from bodymotion.retargeting.soles import measure_sole
from bodymotion.skeleton import Skeleton

# Means leave out less than 1/LEFT_OUT of the frames, the first ones. So they are mostly
# the same where a recording begins later.
LEFT_OUT = 16


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
        left = self.length("left hip", "left knee", "left ankle")
        right = self.length("right hip", "right knee", "right ankle")
        return 0.5 * (left + right)

    def length(self, *roles: str) -> float:
        """Return the median length [m] of a limb from role to role."""
        total = 0.0
        for start, end in pairwise(roles):
            bone = self.points[end] - self.points[start]
            total += np.median(np.linalg.norm(bone, axis=1))
        return float(np.round(total, DIGITS))

    def directions(self, *roles: str) -> list[Floats]:
        """Return the unit vectors (T, 3) from role to role.

        Where two are at one point, the one before.
        """
        directions: list[Floats] = []
        previous: Floats | float = 0.0
        for start, end in pairwise(roles):
            bone = self.points[end] - self.points[start]
            length = np.linalg.norm(bone, axis=1, keepdims=True)
            is_missing = length < MIN_LENGTH
            direction = bone / np.where(is_missing, 1.0, length)
            previous = np.where(is_missing, previous, direction)
            directions.append(previous)
        return directions


class MovingFigure(NamedTuple):
    """A figure, the poses (T, N, 7) of its joints, and the times of the frames."""

    figure: Figure
    joint_poses: Floats
    timeline: Timeline


def find_moving_figure(
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
        joint_poses = source.joint_poses()
        timeline = Timeline.uniform(source.num_frames, source.frame_rate)
        if not len(joint_poses):
            raise ValueError(f"{name}: no frames: there is nothing to retarget")
        _check_finite(name, joint_poses)
        figure = figure_of_skeleton(source, joint_poses, roles)
    elif body is None:
        raise WrongUseError(
            f"{name}: a motion is retargeted with its body; expected one "
            "(source_body, --source-body)"
        )
    else:
        check_kind(body, "source_body", Body)
        measures = measure(body, source)
        joint_poses = measures.link_poses
        timeline = measures.timeline or Timeline.stamped(measures.times)
        _check_root(name, source)
        _check_finite(name, joint_poses)
        figure = figure_of_body(measures.body, roles)
    if is_calibrated(joint_poses, timeline.times):
        joint_poses = joint_poses[[1, *range(1, len(joint_poses))]]
    return MovingFigure(figure, np.round(joint_poses, DIGITS), timeline)


def _check_root(name: str, motion: Motion) -> None:
    """Raise ValueError where a quaternion of the root is 0."""
    root = motion.link_position
    if root is None:
        return
    is_rotation = root.values[:, 0, 3:].any(axis=1)
    if not is_rotation.all():
        frame = is_rotation.argmin()
        raise ValueError(
            f"{name}: the root's quaternion is 0 in frame {frame}; `bodymotion check` "
            "finds all"
        )


def _check_finite(name: str, joint_poses: Floats) -> None:
    """Raise ValueError where numbers are not finite."""
    if not np.isfinite(joint_poses).all():
        raise ValueError(
            f"{name}: numbers are not finite (`bodymotion check`); `edit --fill-gaps` "
            "fills gaps"
        )


def record_figure(
    source: Skeleton | Motion,
    body: Body | None = None,
    roles: Mapping[str, str] | None = None,
) -> Recording:
    """Return the recording of a figure with two legs.

    Parameters and errors as `find_moving_figure`.
    """
    figure, joint_poses, timeline = find_moving_figure(source, body, roles)
    if figure.is_quadruped:
        raise ValueError(
            f"{title(source)}: four legs; expected two for a robot with two legs"
        )
    _check_legs(figure)
    times = timeline.times
    points = {
        role: np.round(figure.locate(role, joint_poses), DIGITS)
        for role in figure.points
    }
    late = _late_frames(len(times))
    contact = np.empty((len(times), 2, 2), dtype=bool)
    heights = {}
    for column, part in enumerate(("ankle", "toe")):
        feet = [points[f"{side} {part}"] for side in SIDES]
        late_feet = [foot[late] for foot in feet]
        height = find_ground_height(late_feet, times[late], figure.leg_length)
        heights[part] = height
        for row, foot in enumerate(feet):
            contact[:, row, column] = find_contact(
                foot, height, times, figure.leg_length
            )
    if isinstance(source, Skeleton):
        late_points = {role: path[late] for role, path in points.items()}
        axes = mean_part_axes(figure, joint_poses[late], late_points, contact[late])
        ground = heights["toe"]
        ankle_height = heights["ankle"] - ground
    else:
        assert body is not None
        axes = part_axes(figure)
        ankle_height = measure_sole(body, figure).depth
        ground = heights["ankle"] - ankle_height
    frames = {}
    for part, axis in axes.items():
        orientations = joint_poses[:, figure.link_of(PARTS[part]), 3:]
        frames[part] = rotations.multiply(orientations, axis)
    on_level_zero = {role: path - [0.0, 0.0, ground] for role, path in points.items()}
    return Recording(
        figure, timeline, on_level_zero, frames, contact, float(ankle_height)
    )


def _check_legs(figure: Figure) -> None:
    """Raise ValueError where hips, knees and ankles are at one point."""
    bones = []
    for side in SIDES:
        bones.append(figure.length(f"{side} hip", f"{side} knee"))
        bones.append(figure.length(f"{side} knee", f"{side} ankle"))
    leg = figure.leg_length
    if not MIN_LENGTH < leg < np.inf or min(bones) <= MIN_LENGTH:
        raise ValueError(
            f"{figure.name}: a leg is {leg:g} m long; expected hips, knees and ankles "
            "at different points"
        )


def _late_frames(count: int) -> slice:
    """Return the frames of which means are taken: all but some of the first ones.

    Their number is a multiple of a power of two, plus one.
    """
    power_of_two = 1 << max((count // LEFT_OUT).bit_length() - 1, 0)
    return slice((count - 1) % power_of_two, None)


def round_low_passed(
    values: Floats,
    times: Floats,
    cutoff: float,
    *,
    are_poses: bool = False,
) -> Floats:
    """Return values (T, …) without what is faster than a cutoff [Hz], rounded."""
    filtered = filters.low_pass_filter(values, times, cutoff, are_poses=are_poses)
    return np.round(filtered, DIGITS)
