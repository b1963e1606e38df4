"""Transfer a recorded motion to a robot: `retarget`.

With s the length of the robot's leg over the source's, d the directions of the source's
limbs and L the lengths of the robot's:

    hips      s times the path of the source, moved by the mean of (ankle − hip − Σ L·d) of both legs, low-pass filtered; and no further
              from a foot in contact than the leg is long
    knees, ankles    knee = hip + L·d, ankle = knee + L·d, pinned while the source's foot is on the ground (`feet`)
    arms      elbow = shoulder + L·d, wrist = elbow + L·d, hand = wrist + L·d
    pelvis, chest, head, feet    the orientations of the source, with x forward, y left, z up where both are upright

Inverse kinematics (`kernels.inverse_kinematics`) brings all frames as near to these
goals as limits allow: hips, trunk and legs, then arms and head, with goals from where
the shoulders are. A posture weight decides what is left open, such as the twist of an
arm. Feet that cannot reach their goals are planned again, with the orientations that
they reach. Goals and joints are low-pass filtered. A last pass over legs and trunk
keeps velocity limits, filters what is sudden more, since no posture reaches the goals
(`speeds`), pins each stance by the mean of where its foot is then, and brings the feet
there; it is repeated as long as that brings them much nearer. One over the arms keeps
them apart from the body (`capsules`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Bools, Floats, Indices
from bodymotion.geometry.poses import changed_pose, pose_difference
from bodymotion.kernels.compiling import in_slices
from bodymotion.kernels.inverse_kinematics import Space
from bodymotion.model import ik
from bodymotion.model.body import Body
from bodymotion.motion import Motion
from bodymotion.motion.filters import smooth_upper_bound
from bodymotion.retargeting.capsules import kept_apart
from bodymotion.retargeting.feet import (
    between_stances,
    foot_path,
    lowest_heights,
    phase_means,
    rolling,
)
from bodymotion.retargeting.quadruped import as_quadruped, planned, stand_of
from bodymotion.retargeting.roles import (
    DIGITS,
    LIMBS,
    SIDES,
    BendSide,
    Figure,
    bent,
    figure_of_body,
    find_hinge,
    free_to_walk,
)
from bodymotion.retargeting.skeletons import (
    Recorded,
    motion_of_joints,
    of_same_links,
    problems_of_source,
    with_body,
)
from bodymotion.retargeting.source import (
    MIN_LENGTH,
    Recording,
    lowest_of_links,
    part_axes,
    recorded,
    smoothed,
    sole,
)
from bodymotion.retargeting.speeds import CALMING_TIME, calmed, within_speeds
from bodymotion.skeleton import Skeleton

CUTOFF = 6.0
SLOW_CUTOFF = 2.0
PELVIS_CUTOFF = 3.0
ARM_CUTOFF = 8.0
"""[Hz] of the low-pass filters of goals and legs; of the posture near which arms are in the last pass, so that what their goals leave
open is smooth; of what the pelvis is moved for the feet; and of arms at the end."""
MIN_FEET_RATIO = 1.05  # Minimum ratio of the distance of feet side by side to the width of their soles.
STRETCH = 0.98  # Of the length of a leg: hips are no further from a foot in contact.
# The weights [1/rad] of the posture: of legs and trunk, and of arms and head.
POSTURE = 0.004
ARM_POSTURE = 0.008
FOOT = 4.0
SWING = 0.1
PELVIS = 1.0
CHEST = 0.7
HEAD = 0.3
KNEE = 0.13
ARM = 0.3
HAND = 0.1
"""The weights of goals.

SWING is that of the orientation of feet where it is not known yet what they can reach.
"""
LAST_FOOT = 30.0
LAST_PELVIS = 10.0
LESS = 0.7
LAST_LEGS = 1.0
LAST_WRIST = 0.6
LAST_POSTURE = 0.03
"""The weights in the last pass: of feet; of the pelvis, which is less by a factor each time, so that it is smooth if feet reach their goals
nevertheless, and moves with them if not; of the filtered values of legs and trunk; of wrists; and of the values of other joints."""
MAX_ARM_PASSES = 8
SLOW_POSTURE = 0.3
MAX_BEHIND = 0.02
"""How often arms are brought to their goals at most, so that other joints make up for those that are too slow; the weight of the posture
then; and how far behind [rad or m] joints may be."""
MAX_PLANS = 7
MAX_MISS = 0.0075
"""How often the feet are planned at most; and of the length of a leg: a foot that is further from its goals on average in a stance phase
cannot reach them, and is planned again, with the orientations that it reaches."""
MAX_ATTEMPTS = 12
SOLE_TOLERANCE = 2e-4
MAX_MISSED_SHARE = 0.02
MAX_REMAINING = 0.95
"""How often the last pass is repeated at most, to keep velocity limits and pinned feet together; the distance [m] at which soles are at
their goals; the share of frames in which they, and plans, need not be; and that of the mean distance before below which repeating helps."""
FIRST_STEPS = 60
STEPS = 2
ARM_STEPS = 4
LAST_STEPS = 1
RESTARTS = 20
"""Steps of inverse kinematics in the first frame, in others, in others for arms, and in the last pass over legs.

And tried start poses.
"""
SLICE = 1000
RUN_IN = 40
"""Frames that are solved one after another, about, and those by which a slice begins later. It ends where the hips are high: near there
is the posture with which the search begins."""
BENT = 0.4
MIN_BENT = 0.05
"""[rad] How far knees and elbows are bent where the search begins, and at least.

Beyond straight they would bend to the other side.
"""
MAX_DEPTH = 0.004  # [m] Where a shin leans, the block of an ankle reaches below the sole, which is not lifted for less.
MIN_SWING_SHARE = 0.3  # A hinge whose limb moves ahead by less than this share of its way bends to its wider side.


def retarget(
    source: Recorded,
    body: Body,
    *,
    source_body: Body | None = None,
    roles: Mapping[str, str] | None = None,
    source_roles: Mapping[str, str] | None = None,
) -> Motion:
    """Return the motion of a body that follows a recorded figure.

    Its `problems` are the jumps of the source.

    Parameters
    ----------
    source:
        A skeleton, a script of a robot, or the motion of another robot, `source_body`.
        A skeleton of the body's own links (`to_skeleton`) returns the body's motion.
    roles, source_roles:
        By role (`roles.ROLES`, `roles.QUADRUPED_ROLES`), names of links of the body and
        of joints or links of the source, where they are not found automatically.

    Raises
    ------
    ValueError
        When the roles of joints cannot be found, the source has no frames or numbers
        that are not finite, or a source that is no motion of a robot has a
        `source_body`.
    """
    source, source_body = with_body(source, source_body)
    if isinstance(source, Skeleton) and not roles and not source_roles:
        motion = of_same_links(source, body)
    else:
        motion = None
    if motion is None and (figure := figure_of_body(body, roles)).is_quadruped:
        motion = as_quadruped(
            planned(source, source_body, source_roles, stand_of(figure)), body, figure
        )
    elif motion is None:
        motion = retargeted(
            recorded(source, source_body, source_roles),
            free_to_walk(body, figure),
            figure,
        )
    return replace(motion, problems=problems_of_source(source))


def retargeted(recording: Recording, body: Body, figure: Figure) -> Motion:
    """Return the motion of a body, whose figure is known, that does what is recorded."""
    goals = Goals(recording, body, figure)
    times = recording.times
    pelvis = figure.points["pelvis"][0]
    legs = goals.columns("left ankle", "right ankle", "chest")
    arms = [column for column in goals.columns(*figure.points) if column not in legs]
    space = goals.space(legs, POSTURE)
    q, root = goals.search(
        [*goals.feet(FOOT, SWING), *goals.trunk(), *goals.knees()], space
    )
    placed = goals.placed(q, root)
    for plan in range(MAX_PLANS):
        if plan:
            shares = goals.missed(placed)
        else:
            shares = np.ones_like(goals.recording.on_ground, dtype=np.float64)
        if (shares > 0).mean() <= MAX_MISSED_SHARE:
            break
        goals.plan_feet(placed, shares)
        q, root = goals.refine(
            [*goals.feet(FOOT, FOOT), *goals.trunk(), *goals.knees()], space, q, root
        )
        placed = goals.placed(q, root)
    if arms and (tasks := goals.on_chest(placed)):
        still = np.asarray(body.root_pose)
        q[:, arms] = goals.search(
            tasks, goals.space(arms, ARM_POSTURE, False), still, ARM_STEPS
        )[0][:, arms]
    slow = smoothed(q, times, SLOW_CUTOFF)
    q = smoothed(q, times, CUTOFF)
    others = np.setdiff1d(np.arange(body.num_joints), legs)
    q[:, others], root = slow[:, others], smoothed(root, times, CUTOFF, are_poses=True)
    held = goals.in_contact()
    before = np.inf
    space = goals.space(legs, LAST_LEGS)
    for attempt in range(MAX_ATTEMPTS):
        q, root = calmed(body, within_speeds(body, q, times, held), root, times, legs)
        placed = goals.placed(q, root)
        away = goals.follow(placed)
        rows = np.flatnonzero(away > SOLE_TOLERANCE)
        now = float(away.mean())
        if len(rows) <= MAX_MISSED_SHARE * len(q) or now > MAX_REMAINING * before:
            break
        before = now
        weight = max(LAST_PELVIS * LESS**attempt, PELVIS)
        hips = ik.FrameTask(pelvis, np.round(placed[:, pelvis], DIGITS), weight, weight)
        last = [*goals.feet(LAST_FOOT, LAST_FOOT), hips]
        q, root = goals.refine(last, space, q, root, rows, LAST_STEPS)
    else:
        placed = goals.placed(q, root)
    apart = kept_apart(body, figure, placed)
    posture = LAST_POSTURE
    for _ in range(MAX_ARM_PASSES):
        reaching: list[ik.Task] = [*goals.arms(placed, LAST_WRIST), *apart]
        if not (arms and reaching):
            break
        q = goals.refine(reaching, goals.space(arms, posture, False), q, root)[0]
        q[:, arms] = smoothed(q[:, arms], times, ARM_CUTOFF)
        sought = q
        q = within_speeds(body, q, times, held)
        posture = SLOW_POSTURE
        if (
            np.abs(q - sought)[:, arms].max(axis=1) > MAX_BEHIND
        ).mean() <= MAX_MISSED_SHARE:
            break
        placed = goals.placed(q, root)
    q, root = calmed(body, within_speeds(body, q, times, held), root, times, legs)
    q, root = goals.lifted(within_speeds(body, q, times, held), root)
    return motion_of_joints(body, q, root, recording.timeline)


class Goals:
    """Where the parts of a body should be in each frame, as tasks of inverse kinematics."""

    def __init__(self, recording: Recording, body: Body, figure: Figure) -> None:
        self.recording = recording
        self.body = body
        self.figure = figure
        self.axes = part_axes(figure)
        self.start, self.lower, self.upper = bent(body, self._sides(), MIN_BENT, BENT)
        rest = figure.rest
        times = recording.times
        middle = 0.5 * (rest["left hip"] + rest["right hip"])
        upright = rotations.multiply(
            figure.reference[figure.points["pelvis"][0], 3:], self.axes["pelvis"]
        )
        leg = np.mean(
            [
                figure.length(f"{side} hip", f"{side} knee", f"{side} ankle")
                for side in SIDES
            ]
        )
        scale = float(leg) / recording.leg
        points = recording.points
        hips = scale * 0.5 * (points["left hip"] + points["right hip"])
        self.soles = soles = [sole(body, figure, side) for side in SIDES]
        hips[:, 2] += soles[0].depth - scale * recording.ankle_height
        placed = np.concatenate([hips, recording.frames["pelvis"]], axis=1)
        self.pelvis = smoothed(placed, times, CUTOFF, are_poses=True)
        self.raw: list[Floats] = []
        self.ankles: list[Floats] = []
        self.middle = middle
        self.at_hips = [
            rotations.rotate(rotations.conjugate(upright), rest[f"{side} hip"] - middle)
            for side in SIDES
        ]
        for k, side in enumerate(SIDES):
            hip = poses.transform_points(self.pelvis, self.at_hips[k])
            ankle = self.chain(hip, f"{side} hip", f"{side} knee", f"{side} ankle")[-1]
            ankle[:, 2] = soles[k].depth + scale * (
                points[f"{side} ankle"][:, 2] - recording.ankle_height
            )
            raw = np.concatenate([ankle, recording.frames[f"{side} foot"]], axis=1)
            self.raw.append(smoothed(raw, times, CUTOFF, are_poses=True))
        self._apart()
        self.free_pelvis = self.pelvis
        self.leg = float(leg)
        self.plan_feet()

    def _apart(self) -> None:
        """Move feet that would overlap apart, to both sides of the pelvis.

        The fewer, the farther one is ahead of the other.
        """
        (left, right), (one, other) = self.raw, self.soles
        way = rotations.rotate(
            rotations.conjugate(self.pelvis[:, 3:]), left[:, :3] - right[:, :3]
        )
        near = np.clip(
            2.0 - np.abs(way[:, 0]) / max(one.front + one.back, 1e-9), 0.0, 1.0
        )
        missing = near * np.maximum(
            (one.right + other.left) * MIN_FEET_RATIO - way[:, 1], 0.0
        )
        aside = rotations.rotate(self.pelvis[:, 3:], np.array([0.0, 0.5, 0.0])) * [
            1,
            1,
            0,
        ]
        for foot, sign in ((left, 1.0), (right, -1.0)):
            foot[:, :3] += sign * aside * missing[:, None]

    def plan_feet(
        self, placed: Floats | None = None, shares: Floats | None = None
    ) -> None:
        """Pin the feet, with the orientations that they reach in poses (T, L, 7) of the links, and move the pelvis with them.

        The pelvis moves by the mean of what both feet are moved, and is no further from
        a foot in contact than a leg is long. Of what the plan before is changed by,
        `shares` (T, 2) are taken.
        """
        times = self.recording.times
        contact = self.recording.contact
        if (
            placed is not None
        ):  # Where the axes of a hip do not meet, it moves with the thigh.
            local = np.concatenate(
                [self._local("pelvis", self.middle), self.axes["pelvis"]]
            )
            back = poses.inverse(
                poses.compose(placed[:, self.figure.points["pelvis"][0]], local)
            )
            hips = (
                poses.transform_points(back, self.figure.at(f"{side} hip", placed))
                for side in SIDES
            )
            self.at_hips = [smoothed(hip, times, CUTOFF) for hip in hips]
        before = self.ankles
        self.ankles = []
        for k, side in enumerate(SIDES):
            path = self.raw[k]
            if placed is not None:
                path = np.concatenate(
                    [path[:, :3], self.foot(side, placed)[:, 3:]], axis=1
                )
                path[:, 3:] = smoothed(path, times, CUTOFF, are_poses=True)[:, 3:]
            path = foot_path(
                path, times, contact[:, k], self.soles[k], tilted=placed is not None
            )
            if shares is not None:
                path = changed_pose(
                    before[k], shares[:, [k]] * pose_difference(path, before[k])
                )
            self.ankles.append(np.round(path, DIGITS))
        self.pelvis = self.free_pelvis.copy()
        away = np.zeros((len(times), 3))
        for side, at, path in zip(SIDES, self.at_hips, self.ankles, strict=True):
            hip = poses.transform_points(self.free_pelvis, at)
            away += (
                path[:, :3]
                - self.chain(hip, f"{side} hip", f"{side} knee", f"{side} ankle")[-1]
            )
        self.pelvis[:, :3] += smoothed(0.5 * away, times, PELVIS_CUTOFF)
        lowered = np.zeros(len(times))
        for k, path in enumerate(self.ankles):
            away = poses.transform_points(self.pelvis, self.at_hips[k]) - path[:, :3]
            high = np.sqrt(
                np.maximum(
                    (STRETCH * self.leg) ** 2 - away[:, 0] ** 2 - away[:, 1] ** 2, 0.0
                )
            )
            lowered = np.maximum(
                lowered,
                np.where(self.recording.on_ground[:, k], away[:, 2] - high, 0.0),
            )
        self.pelvis[:, 2] -= np.round(smooth_upper_bound(lowered, times), DIGITS)
        self.hips = [poses.transform_points(self.pelvis, at) for at in self.at_hips]

    def placed(self, q: Floats, root: Floats) -> Floats:
        """Return the poses (T, L, 7) of the links."""
        return np.asarray(self.body.forward_kinematics(q, root))

    def foot(self, side: str, placed: Floats) -> Floats:
        """Return the poses (T, 7) of the frame of a foot, its origin at the ankle, for poses (T, L, 7) of the links."""
        turned = rotations.multiply(
            placed[:, self.figure.points[f"{side} ankle"][0], 3:],
            self.axes[f"{side} foot"],
        )
        return np.round(
            np.concatenate([self.figure.at(f"{side} ankle", placed), turned], axis=1),
            DIGITS,
        )

    def in_contact(self) -> Bools:
        """Return which joints (T, J) hold a foot that is in contact."""
        held = np.zeros((len(self.pelvis), self.body.num_joints), dtype=bool)
        for k, side in enumerate(SIDES):
            held[:, self.columns(f"{side} ankle")] |= self.recording.on_ground[:, [k]]
        return held

    def missed(self, placed: Floats) -> Floats:
        """Return for each foot (T, 2) 0 where its sole is near its goals, up to 1 where it is far, in poses (T, L, 7) of the links.

        It is that of the mean distance in a stance phase; in swings it goes from one to
        the next.
        """
        shares = np.zeros(self.recording.on_ground.shape)
        frames = np.arange(len(placed))
        for k, (side, on) in enumerate(
            zip(SIDES, self.recording.on_ground.T, strict=True)
        ):
            if on.any():
                away = self._distance(self.foot(side, placed), k)[:, None]
                far = np.clip(
                    phase_means(away, on, np.ones(len(on)))[:, 0]
                    / (MAX_MISS * self.leg)
                    - 1.0,
                    0.0,
                    1.0,
                )
                shares[:, k] = np.interp(frames, np.flatnonzero(on), far[on])
        return shares

    def follow(self, placed: Floats) -> Floats:
        """Move the goals of each stance phase by the mean of what the foot is away in poses (T, L, 7) of the links.

        Swings are as in these poses, moved to begin and end at the goals. Return how
        far (T,) [m] the feet are from their goals.
        """
        away = np.zeros(len(placed))
        for k, side in enumerate(SIDES):
            on = self.recording.on_ground[:, k]
            feet = self.foot(side, placed)
            same = np.ones(len(on))
            turned = phase_means(pose_difference(feet, self.ankles[k]), on, same) * [
                0,
                0,
                0,
                1,
                1,
                1,
            ]
            turned = np.concatenate(
                [feet[:, :3], changed_pose(self.ankles[k], turned)[:, 3:]], axis=1
            )
            stances = rolling(turned, on, same, self.soles[k])
            self.ankles[k] = np.round(
                between_stances(feet, self.recording.times, stances, on, self.soles[k]),
                DIGITS,
            )
            away = np.maximum(away, self._distance(feet, k))
        return away

    def _distance(self, feet: Floats, k: int) -> Floats:
        """Return how far (T,) [m] the sole of a foot is from its goal, for poses (T, 7) of its frame."""
        change = pose_difference(feet, self.ankles[k]).reshape(-1, 2, 3)
        far, angle = np.sqrt(np.einsum("tki,tki->kt", change, change))
        return np.asarray(far + (self.soles[k].front + self.soles[k].back) * angle)

    def lifted(self, q: Floats, root: Floats) -> tuple[Floats, Floats]:
        """Return joints (T, J) and root poses (T, 7), higher where soles would be below the ground, or other links by `MAX_DEPTH`."""
        placed = self.placed(q, root)
        depth = np.maximum(
            -lowest_of_links(self.body, placed, -MAX_DEPTH) - MAX_DEPTH, 0.0
        )
        for k, side in enumerate(SIDES):
            depth = np.maximum(
                depth, -lowest_heights(self.foot(side, placed), self.soles[k])
            )
        lift = smooth_upper_bound(depth, self.recording.times, CALMING_TIME)[:, None]
        if not self.body.is_mounted:
            return q, root + lift * np.eye(7)[2]
        slides = np.zeros(self.body.num_joints)
        for column in self.columns("pelvis"):
            joint = self.body.joints[column]
            link = self.body.joint_links[column]
            if joint.type == "slide":
                slides[column] = np.round(
                    rotations.rotate(self.figure.reference[link, 3:], joint.axis)[2], 3
                )
        return q + lift * slides, root

    def columns(self, *roles: str) -> list[int]:
        """Return the columns of the joints between the root and the links of roles."""
        return self.body.columns_above(*(self.figure.points[role][0] for role in roles))

    def _sides(self) -> Iterator[BendSide]:
        """Yield the knees and elbows, with the sides to which they bend.

        A knee bends the shin backwards, an elbow the forearm forwards.
        """
        rest = self.figure.rest
        links = self.body.links
        forward = np.cross(rest["left hip"] - rest["right hip"], [0.0, 0.0, 1.0])
        for side in SIDES:
            for parts, ahead in ((LIMBS["leg"], -forward), (LIMBS["arm"], forward)):
                roles = [f"{side} {part}" for part in parts[:3]]
                if roles[0] in rest:
                    index = self.figure.points[roles[1]][0]
                else:
                    index = -1
                if (
                    index in self.body.joint_links
                    and links[index].joint.type == "rotate"
                ):
                    hinge = find_hinge(self.body, self.figure, *roles)
                    swing = hinge.end_velocity @ ahead
                    size = np.linalg.norm(hinge.end_velocity) * np.linalg.norm(ahead)
                    is_sideways = abs(swing) < MIN_SWING_SHARE * size
                    sign = np.sign(hinge.wider_side if is_sideways else swing) or 1.0
                    yield BendSide(hinge.column, hinge.straight, sign)

    def placed_root(self, frame: int) -> Floats:
        """Return the root's pose (7,) for which the pelvis is at its goal in a frame, with the joints as where the search begins."""
        if self.body.is_mounted:
            return np.asarray(self.body.root_pose)
        link = self.figure.points["pelvis"][0]
        turned = self.turned("pelvis", self.pelvis[frame, 3:])
        placed = self.placed(self.start, np.asarray(self.body.root_pose))
        at = self.pelvis[frame, :3] - rotations.rotate(
            turned, self._local("pelvis", self.middle)
        )
        return poses.compose(
            [*at, *turned], poses.compose(poses.inverse(placed[link]), placed[0])
        )

    def _local(self, role: str, point: Floats) -> Floats:
        """Return a point (3,) of the upright pose in the frame of a role's link."""
        return poses.transform_points(
            poses.inverse(self.figure.reference[self.figure.points[role][0]]), point
        )

    def turned(self, part: str, frames: Floats) -> Floats:
        """Return the orientations (..., 4) of a part's link for those of its frame (..., 4)."""
        return rotations.multiply(frames, rotations.conjugate(self.axes[part]))

    def feet(self, weight: float, orientation_weight: float) -> list[ik.FrameTask]:
        """Return the tasks of both feet."""
        tasks: list[ik.FrameTask] = []
        for side, path in zip(SIDES, self.ankles, strict=True):
            link, point = self.figure.points[f"{side} ankle"]
            goal = np.concatenate(
                [path[:, :3], self.turned(f"{side} foot", path[:, 3:])], axis=1
            )
            tasks.append(
                ik.FrameTask(link, goal, weight, 0.3 * orientation_weight, point)
            )
        return tasks

    def trunk(self) -> list[ik.FrameTask]:
        """Return the tasks of pelvis, chest and head."""
        link = self.figure.points["pelvis"][0]
        point = self._local("pelvis", self.middle)
        goal = np.concatenate(
            [self.pelvis[:, :3], self.turned("pelvis", self.pelvis[:, 3:])], axis=1
        )
        tasks: list[ik.FrameTask] = [ik.FrameTask(link, goal, PELVIS, PELVIS, point)]
        for part, below, share in (("chest", "pelvis", CHEST), ("head", "chest", HEAD)):
            known = part in self.axes and part in self.recording.frames
            if known and self.columns(part) != self.columns(below):
                frames = np.concatenate(
                    [goal[:, :3], self.recording.frames[part]], axis=1
                )
                turned = self.turned(
                    part,
                    smoothed(frames, self.recording.times, CUTOFF, are_poses=True)[
                        :, 3:
                    ],
                )
                tasks.append(
                    ik.FrameTask(self.figure.points[part][0], turned, 1.0, share)
                )
        return tasks

    def chain(self, base: Floats, *roles: str) -> list[Floats]:
        """Return the positions (T, 3) of the roles of a limb after the first, which is at `base` (T, 3).

        Limb by limb as the source.
        """
        found = []
        for start, end, way in zip(
            roles, roles[1:], self.recording.directions(*roles), strict=False
        ):
            base = base + self.figure.length(start, end) * way
            found.append(base)
        return found

    def knees(self) -> list[ik.FrameTask]:
        """Return the tasks of the knees."""
        tasks: list[ik.FrameTask] = []
        for side, hip in zip(SIDES, self.hips, strict=True):
            (goal,) = self.chain(hip, f"{side} hip", f"{side} knee")
            link, point = self.figure.points[f"{side} knee"]
            tasks.append(
                ik.FrameTask(
                    link,
                    smoothed(goal, self.recording.times, CUTOFF),
                    KNEE,
                    point=point,
                )
            )
        return tasks

    def arms(self, placed: Floats, wrist: float = ARM) -> list[ik.FrameTask]:
        """Return the tasks of elbows, wrists and hands, with the shoulders as they are in poses (T, L, 7) of the links.

        `wrist` is the weight of wrists.
        """
        tasks: list[ik.FrameTask] = []
        for side in SIDES:
            roles = [
                f"{side} {part}" for part in ("shoulder", "elbow", "wrist", "hand")
            ]
            if not all(
                role in self.figure.points and role in self.recording.points
                for role in roles
            ):
                continue
            goals = self.chain(self.figure.at(roles[0], placed), *roles)
            for role, goal, weight in zip(
                roles[1:], goals, (ARM, wrist, HAND), strict=True
            ):
                if (
                    role.endswith("hand")
                    and self.recording.length(*roles[2:]) < MIN_LENGTH
                ):
                    continue
                link, point = self.figure.points[role]
                tasks.append(
                    ik.FrameTask(
                        link,
                        smoothed(goal, self.recording.times, CUTOFF),
                        weight,
                        point=point,
                    )
                )
        return tasks

    def on_chest(self, placed: Floats) -> list[ik.FrameTask]:
        """Return the tasks of arms and head for poses (T, L, 7) of the links, moved to where the chest is where the search begins."""
        chest = self.figure.points["chest"][0]
        tasks = []
        begin = self.placed(self.start, np.asarray(self.body.root_pose))[chest]
        moved = poses.compose(begin, poses.inverse(placed[:, chest]))
        for task in (*self.trunk()[1:], *self.arms(placed)):
            goal = np.asarray(task.goal)
            if goal.shape[1] == 4:
                goal = rotations.multiply(moved[:, 3:], goal)
            else:
                goal = poses.transform_points(moved, goal)
            tasks.append(replace(task, goal=goal))
        return [task for task in tasks if task.link != chest]

    def space(self, columns: list[int], weight: float, free_root: bool = True) -> Space:
        """Return that joints in `columns` move, and the root.

        `weight` [1/rad] is that of the posture, but not of what moves the pelvis.
        """
        weights = np.full(6 + self.body.num_joints, weight)
        weights[[6 + column for column in self.columns("pelvis")]] = 0.0
        free = free_root and not self.body.is_mounted
        moving, lower, upper, pull = ik.search_space(self.body, free, columns, weights)
        return moving, np.r_[lower[:6], self.lower], np.r_[upper[:6], self.upper], pull

    def search(
        self,
        tasks: Sequence[ik.Task],
        space: Space,
        root: Floats | None = None,
        steps: int = STEPS,
    ) -> tuple[Floats, Floats]:
        """Return joints (T, J) and root poses (T, 7), with a search that begins where knees are bent, slice by slice of the frames.

        Each slice begins `RUN_IN` frames after its end, with more steps, and goes
        backwards in time: the result does not depend on where the recording begins. A
        `root` (7,) that is given stays where it is.
        """
        count = len(self.pelvis)
        start = self.start
        out = np.empty((count, self.body.num_joints)), np.empty((count, 7))
        inner = [] if self.body.is_mounted else range(count - SLICE, SLICE // 2, -SLICE)
        edges = [
            0,
            *(a + int(self.pelvis[a : a + RUN_IN, 2].argmax()) for a in inner[::-1]),
            count,
        ]
        # A root that is moved by joints begins far from its goal.
        restarts = RESTARTS * bool(self.columns("pelvis") and self.body.is_mounted)

        def work(begin: int, end: int) -> None:
            for first, stop in pairwise(edges[begin : end + 1]):
                last = min(stop + RUN_IN, count)
                if root is None:
                    at = self.placed_root(last - 1)
                else:
                    at = root
                begun = self._solution(
                    tasks,
                    space,
                    slice(last - 1, last),
                    start,
                    at,
                    start,
                    FIRST_STEPS,
                    restarts,
                )
                rows = slice(last - 1, first - 1 if first else None, -1)
                found = self._solution(
                    tasks, space, rows, begun.q[0], begun.root[0], start, steps
                )
                for values, solved in zip(out, (found.q, found.root), strict=True):
                    values[first:stop] = solved[::-1][: stop - first]

        in_slices(len(edges) - 1, work, 1)
        return out

    def refine(
        self,
        tasks: Sequence[ik.Task],
        space: Space,
        q: Floats,
        root: Floats,
        rows: Indices | None = None,
        steps: int = STEPS,
    ) -> tuple[Floats, Floats]:
        """Return joints (T, J) and root poses (T, 7) that are nearer to the goals, each frame from its own, in some `rows` or all."""
        if rows is None:
            rows = np.arange(len(q))
        out = (q.copy(), root.copy())
        found = self._solution(tasks, space, rows, q[rows], root[rows], q[rows], steps)
        out[0][rows], out[1][rows] = found.q, found.root
        return out

    def _solution(
        self,
        tasks: Sequence[ik.Task],
        space: Space,
        rows: slice | Indices,
        q: Floats,
        root: Floats,
        rest: Floats,
        steps: int,
        restarts: int = 0,
    ) -> ik.Solution:
        """Return the solution of tasks in some rows."""
        problem = ik.TaskList(self.body, q, root, rest)
        for task in tasks:
            if isinstance(task, ik.FrameTask):
                task = replace(task, goal=np.asarray(task.goal)[rows])
            elif isinstance(task, ik.DistanceTask):
                task = replace(task, distance=np.asarray(task.distance)[rows])
            problem.add_task(task)
        problem.add_loops()
        return ik.solve(problem, space, restarts, steps)
