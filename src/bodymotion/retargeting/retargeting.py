"""Transfer a recorded motion to a robot: `retarget`.

With s the length of the robot's leg over the source's, d the directions of the source's
limbs and L the lengths of the robot's:

    hips            s times the path of the source, moved by the mean of
                    (ankle − hip − Σ L·d) of both legs, low-pass filtered; and no
                    further from a foot in contact than the leg is long
    knees, ankles   knee = hip + L·d, ankle = knee + L·d, pinned while the source's foot
                    is on the ground (`feet`)
    arms            elbow = shoulder + L·d, wrist = elbow + L·d, hand = wrist + L·d
    pelvis, chest,  the orientations of the source, with x forward, y left, z up where
    head, feet      both are upright

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

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from bodymotion.geometry.arrays import Floats
from bodymotion.model import ik
from bodymotion.model.body import Body
from bodymotion.motion import Motion
from bodymotion.retargeting.capsules import separate_arms
from bodymotion.retargeting.figures import figure_of_body, free_root
from bodymotion.retargeting.goals import GOAL_CUTOFF, Goals, GoalWeights
from bodymotion.retargeting.posture_search import (
    Postures,
    SolverPass,
    free_variables,
    refine_postures,
    search_postures,
)
from bodymotion.retargeting.quadruped import follow_plan
from bodymotion.retargeting.quadruped_plans import make_plan, measure_stand
from bodymotion.retargeting.roles import DIGITS, Figure
from bodymotion.retargeting.skeletons import (
    Recorded,
    motion_of_joints,
    of_same_links,
    problems_of_source,
    with_body,
)
from bodymotion.retargeting.source import Recording, record_figure, round_low_passed
from bodymotion.retargeting.speeds import filter_sudden_changes, limit_velocities
from bodymotion.skeleton import Skeleton

# [Hz] Of the posture near which arms are in the last pass. So what their goals leave
# open is smooth.
SLOW_CUTOFF = 2.0
# [Hz] Of arms at the end.
ARM_CUTOFF = 8.0
# [1/rad] Of the posture of legs and trunk.
POSTURE_WEIGHT = 0.004
# [1/rad] Of the posture of arms and head.
ARM_POSTURE_WEIGHT = 0.008
# Steps of inverse kinematics in a frame, for arms.
ARM_STEPS = 4
# How often the feet are planned at most.
MAX_PLANS = 7
# Of the frames: in so many soles, or arms, need not be at their goals.
MAX_MISSED_SHARE = 0.02


@dataclass(frozen=True)
class LastPass:
    """The last pass over legs and trunk, which is repeated."""

    max_attempts: int = 12
    # Of inverse kinematics in a frame.
    steps: int = 1
    # [m] Soles that are nearer are at their goals.
    sole_tolerance: float = 2e-4
    # Of the mean distance before: repeating helps where it gets less than this.
    max_remaining: float = 0.95
    # Weight of feet.
    foot: float = 30.0
    # Weight of the pelvis in the first attempt.
    pelvis: float = 10.0
    # Factor of the weight of the pelvis for each further attempt. So it is smooth if
    # feet reach their goals nevertheless, and moves with them if not.
    pelvis_decay: float = 0.7
    # [1/rad] Weight of the filtered values of legs and trunk.
    posture: float = 1.0


@dataclass(frozen=True)
class LastArmPass:
    """The last pass over the arms, which is repeated.

    So other joints make up for those that are too slow.
    """

    max_passes: int = 8
    # Weight of wrists.
    wrist: float = 0.6
    # [1/rad] Weight of the posture in the first pass.
    posture: float = 0.03
    # [1/rad] The same in further ones.
    slow_posture: float = 0.3
    # [rad or m] Joints may be so far behind where they are sought.
    max_behind: float = 0.02


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
    motion = None
    if isinstance(source, Skeleton) and not roles and not source_roles:
        motion = of_same_links(source, body)
    if motion is None:
        figure = figure_of_body(body, roles)
        if figure.is_quadruped:
            stand = measure_stand(figure)
            plan = make_plan(source, source_body, source_roles, stand)
            motion = follow_plan(plan, body, figure)
        else:
            recording = record_figure(source, source_body, source_roles)
            motion = _Retargeting(recording, free_root(body, figure), figure).run()
    return replace(motion, problems=problems_of_source(source))


class _Retargeting:
    """The passes that bring a body with two legs to what is recorded.

    `legs` and `arms` are the columns of the joints of legs and trunk, and of arms and
    head; `held` (T, J) is whether a joint holds a foot in contact.
    """

    def __init__(
        self,
        recording: Recording,
        body: Body,
        figure: Figure,
    ) -> None:
        self.recording = recording
        self.body = body
        self.goals = Goals(recording, body, figure)
        self.legs = self.goals.columns("left ankle", "right ankle", "chest")
        all_columns = self.goals.columns(*figure.points)
        self.arms = [column for column in all_columns if column not in self.legs]
        self.held = self.goals.find_held_joints()

    def run(self) -> Motion:
        """Return the motion of the body."""
        postures = self.reach_with_legs()
        postures = self.reach_with_arms(postures)
        postures = self.filter_postures(postures)
        postures = self.pin_feet(postures)
        postures = self.separate_arms(postures)
        postures = self.remove_sudden_changes(postures)
        q = self.limit_velocities(postures.q)
        q, root = self.goals.lift_above_ground(q, postures.root)
        return motion_of_joints(self.body, q, root, self.recording.timeline)

    def reach_with_legs(self) -> Postures:
        """Return postures with legs and trunk near to their goals.

        Feet that do not reach them are planned again.
        """
        goals = self.goals
        space = free_variables(goals, self.legs, POSTURE_WEIGHT)
        first_pass = SolverPass(goals.leg_tasks(GoalWeights.swing), space)
        postures = search_postures(goals, first_pass)
        link_poses = goals.link_poses(*postures)
        shares = np.ones(self.recording.on_ground.shape)
        for _ in range(MAX_PLANS):
            if (shares > 0).mean() <= MAX_MISSED_SHARE:
                break
            goals.plan_feet(link_poses, shares)
            next_pass = SolverPass(goals.leg_tasks(GoalWeights.foot), space)
            postures = refine_postures(goals, next_pass, postures)
            link_poses = goals.link_poses(*postures)
            shares = goals.measure_misses(link_poses)
        return postures

    def reach_with_arms(self, postures: Postures) -> Postures:
        """Return postures with arms and head near to their goals.

        They are solved on a body whose chest stays where the search begins: its motion
        has no effect on what the goals leave open.
        """
        if not self.arms:
            return postures
        goals = self.goals
        tasks = goals.tasks_on_chest(goals.link_poses(*postures))
        if not tasks:
            return postures
        space = free_variables(goals, self.arms, ARM_POSTURE_WEIGHT, free_root=False)
        arm_pass = SolverPass(tasks, space, ARM_STEPS)
        on_chest = search_postures(goals, arm_pass, np.asarray(self.body.root_pose))
        postures.q[:, self.arms] = on_chest.q[:, self.arms]
        return postures

    def filter_postures(self, postures: Postures) -> Postures:
        """Return postures without what is fast; arms and head are filtered more."""
        times = self.recording.times
        q = round_low_passed(postures.q, times, SLOW_CUTOFF)
        fast = round_low_passed(postures.q, times, GOAL_CUTOFF)
        q[:, self.legs] = fast[:, self.legs]
        root = round_low_passed(postures.root, times, GOAL_CUTOFF, are_poses=True)
        return Postures(q, root)

    def limit_velocities(self, q: Floats) -> Floats:
        """Return joint values (T, J) that keep velocity limits."""
        return limit_velocities(self.body, q, self.recording.times, self.held)

    def remove_sudden_changes(self, postures: Postures) -> Postures:
        """Return postures that keep velocity limits, without sudden changes."""
        q = self.limit_velocities(postures.q)
        q, root = filter_sudden_changes(
            self.body, q, postures.root, self.recording.times, self.legs
        )
        return Postures(q, root)

    def pin_feet(self, postures: Postures) -> Postures:
        """Return postures whose feet do not slide, as far as velocity limits allow."""
        goals = self.goals
        pelvis = goals.figure.link_of("pelvis")
        space = free_variables(goals, self.legs, LastPass.posture)
        previous_distance = np.inf
        for attempt in range(LastPass.max_attempts):
            postures = self.remove_sudden_changes(postures)
            link_poses = goals.link_poses(*postures)
            distances = goals.pin_feet(link_poses)
            rows = np.flatnonzero(distances > LastPass.sole_tolerance)
            distance = float(distances.mean())
            is_near = len(rows) <= MAX_MISSED_SHARE * len(distances)
            if is_near or distance > LastPass.max_remaining * previous_distance:
                break
            previous_distance = distance
            weight = LastPass.pelvis * LastPass.pelvis_decay**attempt
            weight = max(weight, GoalWeights.pelvis)
            goal = np.round(link_poses[:, pelvis], DIGITS)
            tasks = goals.foot_tasks(LastPass.foot, LastPass.foot)
            tasks.append(ik.FrameTask(pelvis, goal, weight, weight))
            last_pass = SolverPass(tasks, space, LastPass.steps)
            postures = refine_postures(goals, last_pass, postures, rows)
        return postures

    def separate_arms(self, postures: Postures) -> Postures:
        """Return postures with arms near to their goals, but apart from the body."""
        goals = self.goals
        q, root = postures
        link_poses = goals.link_poses(q, root)
        distance_tasks = separate_arms(self.body, goals.figure, link_poses)
        posture_weight = LastArmPass.posture
        for _ in range(LastArmPass.max_passes):
            arm_tasks = goals.arm_tasks(link_poses, LastArmPass.wrist)
            tasks = [*arm_tasks, *distance_tasks]
            if not (self.arms and tasks):
                break
            space = free_variables(goals, self.arms, posture_weight, free_root=False)
            arm_pass = SolverPass(tasks, space)
            sought = refine_postures(goals, arm_pass, Postures(q, root)).q
            sought[:, self.arms] = round_low_passed(
                sought[:, self.arms], self.recording.times, ARM_CUTOFF
            )
            q = self.limit_velocities(sought)
            behind = np.abs(q - sought)[:, self.arms].max(axis=1)
            if (behind > LastArmPass.max_behind).mean() <= MAX_MISSED_SHARE:
                break
            posture_weight = LastArmPass.slow_posture
            link_poses = goals.link_poses(q, root)
        return Postures(q, root)
