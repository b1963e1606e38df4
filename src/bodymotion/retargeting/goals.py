"""Where the parts of a body should be while it does what a figure does."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Bools, Floats
from bodymotion.geometry.poses import changed_pose, pose_difference
from bodymotion.model import ik
from bodymotion.model.body import Body
from bodymotion.motion.filters import smooth_upper_bound
from bodymotion.retargeting.feet import (
    join_stances,
    lowest_heights,
    mean_of_phases,
    plan_foot,
    roll_on_ground,
)
from bodymotion.retargeting.hinges import BendSide, bend_hinges, find_hinge
from bodymotion.retargeting.part_frames import MIN_LENGTH, part_axes
from bodymotion.retargeting.roles import DIGITS, LIMBS, SIDES, Figure
from bodymotion.retargeting.soles import lowest_of_links, measure_sole
from bodymotion.retargeting.source import Recording, round_low_passed
from bodymotion.retargeting.speeds import CALMING_TIME

# [Hz] Of the low-pass filter of goals.
GOAL_CUTOFF = 6.0
# [Hz] Of the low-pass filter of what the pelvis is moved for the feet.
PELVIS_CUTOFF = 3.0
# Of the width of the soles: feet side by side are further apart.
MIN_FEET_RATIO = 1.05
# Of the length of a leg: hips are no further from a foot in contact.
STRETCH = 0.98
# Of the length of a leg: the mean distance of a foot from its goals in a stance phase.
# A foot that is further away cannot reach them.
MAX_MISS = 0.0075
# [rad] How far knees and elbows are bent where the search begins.
BENT = 0.4
# [rad] How far they are bent at least; beyond straight they bend to the other side.
MIN_BENT = 0.05
# Of the path of a limb's end: the part of it ahead, or behind, of a hinge that bends. A
# hinge whose limb moves ahead by less bends to its wider side.
MIN_SWING_SHARE = 0.3
# [m] Links other than feet may be so far below the ground. Where a shin leans, the
# block of an ankle reaches below the sole.
MAX_DEPTH = 0.004


@dataclass(frozen=True)
class GoalWeights:
    """The weights of goals among the tasks of inverse kinematics."""

    foot: float = 4.0
    # Of the orientation of feet where it is not known yet what they can reach.
    swing: float = 0.1
    # [1/rad] Of the orientation of a foot, times that of its position.
    foot_orientation: float = 0.3
    pelvis: float = 1.0
    chest: float = 0.7
    head: float = 0.3
    knee: float = 0.13
    # Of elbows, and of wrists in the first pass.
    arm: float = 0.3
    hand: float = 0.1


class Goals:
    """Where the parts of a body should be in each frame, as tasks.

    Attributes
    ----------
    recording, body, figure:
        What is done, by which body.
    posture:
        Where the search begins, and limits that keep knees and elbows bent.
    axes:
        By part, the orientation (4,) of its frame in its link.
    soles:
        Of the left and the right foot.
    raw_feet, feet:
        For each foot the poses (T, 7) of its frame as the source has it, and planned:
        pinned where it is on the ground.
    free_pelvis, pelvis:
        (T, 7) Goals of the frame of the pelvis, its origin between the hips: as the
        source has it, and moved with the feet.
    hips:
        For each side the positions (T, 3) [m] of the hip.
    """

    def __init__(
        self,
        recording: Recording,
        body: Body,
        figure: Figure,
    ) -> None:
        self.recording = recording
        self.body = body
        self.figure = figure
        self.axes = part_axes(figure)
        self.posture = bend_hinges(body, self._find_bend_sides(), MIN_BENT, BENT)
        self.soles = [measure_sole(body, figure, side) for side in SIDES]
        rest = figure.rest
        self._middle = 0.5 * (rest["left hip"] + rest["right hip"])
        orientation = figure.reference[figure.link_of("pelvis"), 3:]
        upright = rotations.multiply(orientation, self.axes["pelvis"])
        to_pelvis = rotations.conjugate(upright)
        self._hips_in_pelvis = [
            rotations.rotate(to_pelvis, rest[f"{side} hip"] - self._middle)
            for side in SIDES
        ]
        self._scale = figure.leg_length / recording.leg
        self.free_pelvis = self._scale_pelvis()
        self.pelvis = self.free_pelvis
        self.raw_feet = [self._scale_foot(number) for number in range(len(SIDES))]
        self._separate_feet()
        self.feet: list[Floats] = []
        self.hips: list[Floats] = []
        self.plan_feet()

    def _find_bend_sides(self) -> Iterator[BendSide]:
        """Yield the knees and elbows, with the sides to which they bend.

        A knee bends the shin backwards, an elbow the forearm forwards.
        """
        rest = self.figure.rest
        links = self.body.links
        forward = np.cross(rest["left hip"] - rest["right hip"], [0.0, 0.0, 1.0])
        for side in SIDES:
            for limb, direction in (("leg", -forward), ("arm", forward)):
                roles = [f"{side} {part}" for part in LIMBS[limb][:3]]
                if roles[0] not in rest:
                    continue
                index = self.figure.link_of(roles[1])
                is_moved = index in self.body.joint_links
                if not is_moved or links[index].joint.type != "rotate":
                    continue
                hinge = find_hinge(self.body, self.figure, *roles)
                swing = hinge.end_velocity @ direction
                size = np.linalg.norm(hinge.end_velocity) * np.linalg.norm(direction)
                is_sideways = abs(swing) < MIN_SWING_SHARE * size
                sign = np.sign(hinge.wider_side if is_sideways else swing) or 1.0
                yield BendSide(hinge.column, hinge.straight, sign)

    def _scale_pelvis(self) -> Floats:
        """Return the poses (T, 7) of the pelvis on the scaled path of the source.

        An ankle of the source on the ground is one of the body on the ground.
        """
        points = self.recording.points
        hips = self._scale * 0.5 * (points["left hip"] + points["right hip"])
        hips[:, 2] += self.soles[0].depth - self._scale * self.recording.ankle_height
        pelvis = np.concatenate([hips, self.recording.frames["pelvis"]], axis=1)
        return self._filter_poses(pelvis)

    def _scale_foot(self, number: int) -> Floats:
        """Return the poses (T, 7) of a foot of the body whose limbs are the source's.

        Its height is the scaled one of the source.
        """
        side = SIDES[number]
        recording = self.recording
        hip = poses.transform_points(self.pelvis, self._hips_in_pelvis[number])
        ankle = self._follow_leg(hip, side)
        height = recording.points[f"{side} ankle"][:, 2] - recording.ankle_height
        ankle[:, 2] = self.soles[number].depth + self._scale * height
        foot = np.concatenate([ankle, recording.frames[f"{side} foot"]], axis=1)
        return self._filter_poses(foot)

    def _filter(self, values: Floats, cutoff: float = GOAL_CUTOFF) -> Floats:
        """Return values (T, N) without what is faster than a cutoff [Hz]."""
        return round_low_passed(values, self.recording.times, cutoff)

    def _filter_poses(self, goals: Floats) -> Floats:
        """Return poses (T, 7) without what is faster than the cutoff of goals."""
        times = self.recording.times
        return round_low_passed(goals, times, GOAL_CUTOFF, are_poses=True)

    def _separate_feet(self) -> None:
        """Move feet that would overlap apart, to both sides of the pelvis.

        The less, the farther one is ahead of the other.
        """
        left, right = self.raw_feet
        left_sole, right_sole = self.soles
        to_pelvis = rotations.conjugate(self.pelvis[:, 3:])
        apart = rotations.rotate(to_pelvis, left[:, :3] - right[:, :3])
        # 1 up to a length of a sole ahead, 0 from two lengths on.
        lengths_ahead = np.abs(apart[:, 0]) / max(left_sole.length, 1e-9)
        nearness = np.clip(2.0 - lengths_ahead, 0.0, 1.0)
        width = left_sole.right + right_sole.left
        missing = nearness * np.maximum(width * MIN_FEET_RATIO - apart[:, 1], 0.0)
        half_left = rotations.rotate(self.pelvis[:, 3:], np.array([0.0, 0.5, 0.0]))
        change = half_left * [1, 1, 0] * missing[:, None]
        left[:, :3] += change
        right[:, :3] -= change

    def plan_feet(
        self, link_poses: Floats | None = None, shares: Floats | None = None
    ) -> None:
        """Pin the feet, and move the pelvis with them.

        Feet have the orientations that they reach in poses (T, L, 7) of the links. The
        share (T, 2) is that of the change from the plan before.
        """
        if link_poses is not None:
            self._hips_in_pelvis = self._measure_hips(link_poses)
        self.feet = [
            self._plan_foot(number, link_poses, shares) for number in range(len(SIDES))
        ]
        self._move_pelvis()
        self._lower_pelvis()
        self.hips = [
            poses.transform_points(self.pelvis, hip) for hip in self._hips_in_pelvis
        ]

    def _measure_hips(self, link_poses: Floats) -> list[Floats]:
        """Return the positions (T, 3) of the hips in the frame of the pelvis.

        Where the axes of a hip do not meet, it moves with the thigh.
        """
        frame = np.concatenate([self._middle_in_pelvis(), self.axes["pelvis"]])
        pelvis = poses.compose(link_poses[:, self.figure.link_of("pelvis")], frame)
        to_pelvis = poses.inverse(pelvis)
        hips = []
        for side in SIDES:
            hip = self.figure.locate(f"{side} hip", link_poses)
            hips.append(self._filter(poses.transform_points(to_pelvis, hip)))
        return hips

    def _plan_foot(
        self,
        number: int,
        link_poses: Floats | None,
        shares: Floats | None,
    ) -> Floats:
        """Return the planned poses (T, 7) of a foot, as `plan_feet`."""
        raw = self.raw_feet[number]
        if link_poses is not None:
            reached = self.locate_foot(SIDES[number], link_poses)
            raw = np.concatenate([raw[:, :3], reached[:, 3:]], axis=1)
            raw[:, 3:] = self._filter_poses(raw)[:, 3:]
        planned = plan_foot(
            raw,
            self.recording.times,
            self.recording.contact[:, number],
            self.soles[number],
            tilted=link_poses is not None,
        )
        if shares is not None:
            previous = self.feet[number]
            change = shares[:, [number]] * pose_difference(planned, previous)
            planned = changed_pose(previous, change)
        return np.round(planned, DIGITS)

    def _move_pelvis(self) -> None:
        """Move the pelvis by the mean of what both feet are moved."""
        change = np.zeros((len(self.free_pelvis), 3))
        for side, hip, foot in zip(SIDES, self._hips_in_pelvis, self.feet, strict=True):
            hip = poses.transform_points(self.free_pelvis, hip)
            change += foot[:, :3] - self._follow_leg(hip, side)
        self.pelvis = self.free_pelvis.copy()
        self.pelvis[:, :3] += self._filter(0.5 * change, PELVIS_CUTOFF)

    def _lower_pelvis(self) -> None:
        """Lower the pelvis where a hip is too far from a foot in contact.

        With x, y the level distances of ankle and hip, a leg of length ℓ reaches up to
        the height √(ℓ² − x² − y²).
        """
        max_length = STRETCH * self.figure.leg_length
        lowered = np.zeros(len(self.pelvis))
        for number, foot in enumerate(self.feet):
            hip = poses.transform_points(self.pelvis, self._hips_in_pelvis[number])
            leg = hip - foot[:, :3]
            square = max_length**2 - leg[:, 0] ** 2 - leg[:, 1] ** 2
            max_height = np.sqrt(np.maximum(square, 0.0))
            on_ground = self.recording.on_ground[:, number]
            excess = np.where(on_ground, leg[:, 2] - max_height, 0.0)
            lowered = np.maximum(lowered, excess)
        lowered = smooth_upper_bound(lowered, self.recording.times)
        self.pelvis[:, 2] -= np.round(lowered, DIGITS)

    def locate_foot(self, side: str, link_poses: Floats) -> Floats:
        """Return the poses (T, 7) of the frame of a foot, its origin at the ankle.

        `link_poses` (T, L, 7).
        """
        role = f"{side} ankle"
        orientations = link_poses[:, self.figure.link_of(role), 3:]
        orientations = rotations.multiply(orientations, self.axes[f"{side} foot"])
        ankle = self.figure.locate(role, link_poses)
        return np.round(np.concatenate([ankle, orientations], axis=1), DIGITS)

    def find_held_joints(self) -> Bools:
        """Return which joints (T, J) hold a foot that is in contact."""
        held = np.zeros((len(self.pelvis), self.body.num_joints), dtype=bool)
        for number, side in enumerate(SIDES):
            columns = self.columns(f"{side} ankle")
            held[:, columns] |= self.recording.on_ground[:, [number]]
        return held

    def measure_misses(self, link_poses: Floats) -> Floats:
        """Return how far (T, 2) each foot misses its goals: 0 not at all, up to 1.

        It is that of the mean distance in a stance phase, for poses (T, L, 7) of the
        links; in swings it goes from one phase to the next.
        """
        shares = np.zeros(self.recording.on_ground.shape)
        frames = np.arange(len(link_poses))
        weights = np.ones(len(link_poses))
        for number, on_ground in enumerate(self.recording.on_ground.T):
            if not on_ground.any():
                continue
            foot = self.locate_foot(SIDES[number], link_poses)
            distance = self._measure_distance(foot, number)[:, None]
            mean = mean_of_phases(distance, on_ground, weights)[:, 0]
            ratio = mean / (MAX_MISS * self.figure.leg_length)
            miss = np.clip(ratio - 1.0, 0.0, 1.0)
            stance_frames = np.flatnonzero(on_ground)
            shares[:, number] = np.interp(frames, stance_frames, miss[on_ground])
        return shares

    def pin_feet(self, link_poses: Floats) -> Floats:
        """Move the goals of each stance phase to the foot in poses of the links.

        They move by the mean distance in that phase. Swings are as in these poses (T,
        L, 7), moved to begin and end at the goals. Return how far (T,) [m] the feet are
        from their goals.
        """
        distance = np.zeros(len(link_poses))
        weights = np.ones(len(link_poses))
        for number, sole in enumerate(self.soles):
            on_ground = self.recording.on_ground[:, number]
            foot = self.locate_foot(SIDES[number], link_poses)
            goal = self.feet[number]
            change = mean_of_phases(pose_difference(foot, goal), on_ground, weights)
            orientations = changed_pose(goal, change)[:, 3:]
            turned = np.concatenate([foot[:, :3], orientations], axis=1)
            stances = roll_on_ground(turned, on_ground, weights, sole)
            times = self.recording.times
            joined = join_stances(foot, times, stances, on_ground, sole)
            self.feet[number] = np.round(joined, DIGITS)
            distance = np.maximum(distance, self._measure_distance(foot, number))
        return distance

    def _measure_distance(self, foot: Floats, number: int) -> Floats:
        """Return how far (T,) [m] the sole of a foot at poses (T, 7) is from its goal.

        A rotation moves its ends by its length times the angle.
        """
        change = pose_difference(foot, self.feet[number]).reshape(-1, 2, 3)
        distance, angle = np.sqrt(np.einsum("tki,tki->kt", change, change))
        return np.asarray(distance + self.soles[number].length * angle)

    def lift_above_ground(self, q: Floats, root: Floats) -> tuple[Floats, Floats]:
        """Return joints (T, J) and root poses (T, 7), higher where needed.

        Soles are below the ground there, or other links by `MAX_DEPTH`.
        """
        link_poses = self.link_poses(q, root)
        lowest = lowest_of_links(self.body, link_poses, -MAX_DEPTH)
        depth = np.maximum(-lowest - MAX_DEPTH, 0.0)
        for side, sole in zip(SIDES, self.soles, strict=True):
            foot = self.locate_foot(side, link_poses)
            depth = np.maximum(depth, -lowest_heights(foot, sole))
        lift = smooth_upper_bound(depth, self.recording.times, CALMING_TIME)
        if not self.body.is_mounted:
            return q, root + lift[:, None] * np.eye(7)[2]
        return q + lift[:, None] * self._heights_of_slides(), root

    def _heights_of_slides(self) -> Floats:
        """Return how much (J,) sliding joints above the pelvis lift it, per metre."""
        heights = np.zeros(self.body.num_joints)
        for column in self.columns("pelvis"):
            joint = self.body.joints[column]
            if joint.type == "slide":
                link = self.body.joint_links[column]
                axis = rotations.rotate(self.figure.reference[link, 3:], joint.axis)
                heights[column] = np.round(axis[2], 3)
        return heights

    def link_poses(self, q: Floats, root: Floats) -> Floats:
        """Return the poses (T, L, 7) of the links."""
        return np.asarray(self.body.forward_kinematics(q, root))

    def columns(self, *roles: str) -> list[int]:
        """Return the columns of the joints between the root and the links of roles."""
        return self.body.columns_above(*(self.figure.link_of(role) for role in roles))

    def place_root(self, frame: int) -> Floats:
        """Return the root's pose (7,) for which the pelvis is at its goal in a frame.

        The joints are as where the search begins.
        """
        still = np.asarray(self.body.root_pose)
        if self.body.is_mounted:
            return still
        orientation = self._link_orientations("pelvis", self.pelvis[frame, 3:])
        middle = rotations.rotate(orientation, self._middle_in_pelvis())
        pelvis = [*(self.pelvis[frame, :3] - middle), *orientation]
        link_poses = self.link_poses(self.posture.q, still)
        to_pelvis = poses.inverse(link_poses[self.figure.link_of("pelvis")])
        return poses.compose(pelvis, poses.compose(to_pelvis, link_poses[0]))

    def _middle_in_pelvis(self) -> Floats:
        """Return the middle (3,) of the hips in the frame of the pelvis' link."""
        pelvis = self.figure.reference[self.figure.link_of("pelvis")]
        return poses.transform_points(poses.inverse(pelvis), self._middle)

    def _link_orientations(self, part: str, frames: Floats) -> Floats:
        """Return the orientations (..., 4) of a part's link for those of its frame."""
        return rotations.multiply(frames, rotations.conjugate(self.axes[part]))

    def _follow_leg(self, hip: Floats, side: str) -> Floats:
        """Return the positions (T, 3) of an ankle for those (T, 3) of its hip.

        Thigh and shin have the directions of the source's.
        """
        roles = (f"{side} hip", f"{side} knee", f"{side} ankle")
        return self._follow_limb(hip, *roles)[-1]

    def _follow_limb(self, base: Floats, *roles: str) -> list[Floats]:
        """Return the positions (T, 3) of the roles of a limb after the first one.

        That is at `base` (T, 3); the limbs have the directions of the source's.
        """
        positions = []
        directions = self.recording.directions(*roles)
        for start, end, direction in zip(roles, roles[1:], directions, strict=False):
            base = base + self.figure.length(start, end) * direction
            positions.append(base)
        return positions

    def foot_tasks(self, weight: float, orientation_weight: float) -> list[ik.Task]:
        """Return the tasks of both feet."""
        tasks: list[ik.Task] = []
        for side, path in zip(SIDES, self.feet, strict=True):
            link, point = self.figure.points[f"{side} ankle"]
            orientations = self._link_orientations(f"{side} foot", path[:, 3:])
            goal = np.concatenate([path[:, :3], orientations], axis=1)
            angular = GoalWeights.foot_orientation * orientation_weight
            tasks.append(ik.FrameTask(link, goal, weight, angular, point))
        return tasks

    def leg_tasks(self, swing_weight: float) -> list[ik.Task]:
        """Return the tasks of feet, trunk and knees.

        `swing_weight` is that of the orientation of feet.
        """
        feet = self.foot_tasks(GoalWeights.foot, swing_weight)
        return [*feet, self._pelvis_task(), *self._trunk_tasks(), *self._knee_tasks()]

    def _pelvis_task(self) -> ik.FrameTask:
        """Return the task of the pelvis."""
        orientations = self._link_orientations("pelvis", self.pelvis[:, 3:])
        goal = np.concatenate([self.pelvis[:, :3], orientations], axis=1)
        weight = GoalWeights.pelvis
        link = self.figure.link_of("pelvis")
        return ik.FrameTask(link, goal, weight, weight, self._middle_in_pelvis())

    def _trunk_tasks(self) -> list[ik.FrameTask]:
        """Return the tasks of the orientations of chest and head.

        One that no joint moves against the part below it has none.
        """
        tasks = []
        for part, below, weight in (
            ("chest", "pelvis", GoalWeights.chest),
            ("head", "chest", GoalWeights.head),
        ):
            is_known = part in self.axes and part in self.recording.frames
            if not is_known or self.columns(part) == self.columns(below):
                continue
            frames = self.recording.frames[part]
            filtered = self._filter_poses(
                np.concatenate([self.pelvis[:, :3], frames], axis=1)
            )
            goal = self._link_orientations(part, filtered[:, 3:])
            tasks.append(ik.FrameTask(self.figure.link_of(part), goal, 1.0, weight))
        return tasks

    def _knee_tasks(self) -> list[ik.FrameTask]:
        """Return the tasks of the knees."""
        tasks = []
        for side, hip in zip(SIDES, self.hips, strict=True):
            (goal,) = self._follow_limb(hip, f"{side} hip", f"{side} knee")
            tasks.append(self._position_task(f"{side} knee", goal, GoalWeights.knee))
        return tasks

    def arm_tasks(
        self, link_poses: Floats, wrist: float = GoalWeights.arm
    ) -> list[ik.FrameTask]:
        """Return the tasks of elbows, wrists and hands.

        The shoulders are as in poses (T, L, 7) of the links; `wrist` is the weight of
        wrists.
        """
        tasks: list[ik.FrameTask] = []
        weights = (GoalWeights.arm, wrist, GoalWeights.hand)
        for side in SIDES:
            roles = [f"{side} {part}" for part in LIMBS["arm"]]
            in_both = self.figure.points.keys() & self.recording.points.keys()
            if not in_both.issuperset(roles):
                continue
            shoulder = self.figure.locate(roles[0], link_poses)
            goals = self._follow_limb(shoulder, *roles)
            has_hand = self.recording.length(*roles[2:]) >= MIN_LENGTH
            for role, goal, weight in zip(roles[1:], goals, weights, strict=True):
                if has_hand or not role.endswith("hand"):
                    tasks.append(self._position_task(role, goal, weight))
        return tasks

    def _position_task(
        self,
        role: str,
        goal: Floats,
        weight: float,
    ) -> ik.FrameTask:
        """Return the task that brings the point of a role to positions (T, 3)."""
        link, point = self.figure.points[role]
        return ik.FrameTask(link, self._filter(goal), weight, point=point)

    def tasks_on_chest(self, link_poses: Floats) -> list[ik.Task]:
        """Return the tasks of arms and head as seen from the chest.

        The goals for poses (T, L, 7) of the links are moved to where the chest is where
        the search begins.
        """
        chest = self.figure.link_of("chest")
        still = np.asarray(self.body.root_pose)
        begin = self.link_poses(self.posture.q, still)[chest]
        motion = poses.compose(begin, poses.inverse(link_poses[:, chest]))
        tasks: list[ik.Task] = []
        for task in (*self._trunk_tasks(), *self.arm_tasks(link_poses)):
            if task.link == chest:
                continue
            goal = np.asarray(task.goal)
            if goal.shape[1] == 4:
                goal = rotations.multiply(motion[:, 3:], goal)
            else:
                goal = poses.transform_points(motion, goal)
            tasks.append(replace(task, goal=goal))
        return tasks
