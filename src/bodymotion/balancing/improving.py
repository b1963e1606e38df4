"""Search the motion nearest to another one that keeps its balance, at the same times.

Feet in contact are pinned (`stance`). The path of the centre of mass is planned
(`planning`), postures follow it (`postures`), and their inverse dynamics gives the next
plan. The best postures of all plans are the result.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from bodymotion.balancing.judging import END_FRAMES, SAFE_MARGIN, held, near_flights
from bodymotion.balancing.knees import JointLimits, knee_limits
from bodymotion.balancing.planning import plan_center
from bodymotion.balancing.postures import Goals, Postures, solve_postures
from bodymotion.balancing.slowing import excess_speed
from bodymotion.balancing.stance import (
    FootPlan,
    SupportEdges,
    plan_feet,
    support_edges,
)
from bodymotion.balancing.zmp import ZMP_CUTOFF, smooth_zmp
from bodymotion.dynamics import Measures, measure
from bodymotion.dynamics.differentiation import derivatives
from bodymotion.geometry.arrays import Bools, Floats, runs
from bodymotion.model.closed_loops import close_loops
from bodymotion.motion import Motion
from bodymotion.motion.filters import low_pass_filter, smooth_upper_bound
from bodymotion.motion.interpolation.lowpass import bump, inner_shares

# Of plan and postures. Each plan uses the inverse dynamics of the postures before.
MAX_ITERATIONS = 6
# [m] The path of the centre of mass is found when it changes by less.
CENTER_TOLERANCE = 2e-4
# [m/s] A motion whose centre of mass is slower at an end is at rest there.
REST_SPEED = 0.05
# [Hz] of the low-pass filter of the root of a motion without root poses, which follows
# the feet with all their noise.
ROOT_CUTOFF = 3.0
# [Hz] of the low-pass filter of the height of the centre of mass.
HEIGHT_CUTOFF = 4.0
# [m] Maximum that links moving about the centre of mass add to the zero moment point.
MAX_OFFSET = 0.15
# Of gravity: the acceleration that carries the body counts as this much at least.
MIN_FALL = 0.1
# [m] Where legs are too short by more for the height of the centre of mass, it is
# planned lower.
MIN_LOWERING = 2e-4
# [m] It is planned lower by twice this at most.
MAX_LOWERING = 0.03
# [s] over which it is lowered: if it falls fast, feet carry little.
LOWERING_TIME = 0.5
# [m] Feet and centre of mass that are further from their goals have missed them.
MAX_MISS = 1e-3
# A joint that is faster than its limit by a larger factor is too fast.
SPEED_TOLERANCE = 1.01


class Score(NamedTuple):
    """How good postures are; more is better."""

    # Of the frames that are as they should be.
    share: float
    # [m] Minimum stability margin.
    margin: float


class Improved(NamedTuple):
    """The result of the search: misses (T,) [m] of the goals, and its measures."""

    missed: Floats
    measures: Measures
    feet: FootPlan


class Setting(NamedTuple):
    """What does not change during the search."""

    old: Measures
    smooth: Postures
    feet: FootPlan
    edges: SupportEdges
    air: Bools
    # (T, 3) [m] of the centre of mass of the smooth postures.
    path: Floats
    acceleration: Floats
    at_rest: tuple[bool, bool]
    limits: JointLimits

    @property
    def planned(self) -> slice:
        """The axes of the centre of mass that are planned.

        In the air it falls freely, so that its height is planned, too.
        """
        return slice(0, 3 if self.air.any() else 2)


def improve(
    old: Measures,
    margin: float,
    step: Callable[[], None],
) -> Improved:
    """Return the postures nearest to those of a motion that keep the balance.

    `margin` [m] is the distance of the zero moment point from the edges of the support
    polygon. `step` is called after each of `MAX_ITERATIONS` iterations.
    """
    setting = _prepare_search(old, margin)
    smooth = setting.smooth
    times = old.times
    postures = smooth
    measures = old
    wanted_height = np.array(setting.path[:, 2])
    center = np.array(setting.path)
    lacking = np.zeros(1)
    best: tuple[Score, Improved] | None = None
    for iteration in range(MAX_ITERATIONS):
        goal = np.column_stack([setting.path[:, :2], wanted_height])
        path = _plan_path(setting, measures, goal)
        change = np.abs(path - center[:, setting.planned]).max()
        is_found = change < CENTER_TOLERANCE and lacking.max() <= MIN_LOWERING
        if iteration and is_found:
            break
        center[:, 2] = wanted_height
        center[:, setting.planned] = path
        root = np.array(postures.root)
        root[:, :2] += (path - measures.center_of_mass[:, setting.planned])[:, :2]
        rise = center[:, 2] - setting.path[:, 2]
        feet = replace(
            setting.feet, targets=_lift_feet(setting.feet.targets, rise, setting.air)
        )
        goals = Goals(times, setting.limits, feet, center, smooth)
        postures, missed = solve_postures(
            old.body, goals, Postures(postures.joints, root)
        )
        measures = _measure_postures(old, postures, setting.feet)
        lacking = np.clip(center[:, 2] - measures.center_of_mass[:, 2], 0, MAX_LOWERING)
        if lacking.max() > MIN_LOWERING:
            lowered = wanted_height - smooth_upper_bound(
                2.0 * lacking, times, LOWERING_TIME
            )
            lowest = setting.path[:, 2] - 2.0 * MAX_LOWERING
            wanted_height = np.maximum(lowered, lowest)
        score = score_of(measures, missed)
        if best is None or score > best[0]:
            best = score, Improved(missed, measures, setting.feet)
        step()
    assert best is not None
    return best[1]


def has_margin(old: Measures, margin: float) -> bool:
    """Return whether a motion keeps a margin [m], less 10 mm, in 99 % of its frames."""
    setting = _prepare_search(old, margin)
    points = smooth_zmp(old)
    depths = []
    for number, point in zip(setting.edges.numbers, points, strict=True):
        if number >= 0:
            normals, limits = setting.edges.polygons[number]
            depths.append((limits - normals @ point).min())
    return bool(np.quantile(depths or [0.0], 0.01) >= -SAFE_MARGIN)


def _prepare_search(old: Measures, margin: float) -> Setting:
    """Plan the feet, and prepare the search."""
    times = old.times
    if old.motion.link_position is None:
        cutoff = ROOT_CUTOFF
    else:
        cutoff = ZMP_CUTOFF
    # What is faster than a body tilts is mostly the noise of a file.
    smooth = Postures(
        low_pass_filter(old.joint_displacements, times, ZMP_CUTOFF),
        low_pass_filter(old.root_poses, times, cutoff, are_poses=True),
    )
    links = old.body.forward_kinematics(*smooth)
    feet = plan_feet(old, links)
    path = old.body.center_of_mass(links)
    path[:, 2:] = low_pass_filter(path[:, 2:], times, HEIGHT_CUTOFF)
    speed = np.linalg.norm(old.center_of_mass_velocity, axis=1)
    return Setting(
        old,
        smooth,
        feet,
        support_edges(feet, old, margin),
        np.asarray(~feet.contact.any(axis=1)),
        path,
        derivatives(path, times)[1],
        (bool(speed[0] < REST_SPEED), bool(speed[-1] < REST_SPEED)),
        knee_limits(old.body, feet.links, smooth.joints),
    )


def _plan_path(
    setting: Setting,
    measures: Measures,
    goal: Floats,
) -> Floats:
    """Plan the path of the centre of mass with the inverse dynamics of postures."""
    times = setting.old.times
    path = measures.center_of_mass
    rate = measures.center_of_mass_acceleration
    gravity = -measures.gravity[2]
    fall = np.maximum(rate[:, 2] + gravity, MIN_FALL * gravity)
    height = path[:, 2] - measures.ground
    pendulum = low_pass_filter((height / fall)[:, None], times, ZMP_CUTOFF)
    offset = measures.zmp[:, :2] - path[:, :2] + pendulum * rate[:, :2]
    offset = np.clip(np.nan_to_num(offset), -MAX_OFFSET, MAX_OFFSET)
    inner = np.clip(np.arange(len(times)), END_FRAMES, len(times) - 1 - END_FRAMES)
    return plan_center(
        times,
        goal[:, setting.planned],
        setting.acceleration[:, setting.planned],
        low_pass_filter(offset[inner], times, ZMP_CUTOFF),
        pendulum[:, 0],
        setting.edges.polygons,
        setting.edges.numbers,
        setting.at_rest,
    )


def _measure_postures(
    old: Measures,
    postures: Postures,
    feet: FootPlan,
) -> Measures:
    """Measure postures, with closed loops closed."""
    body = old.body
    joints = postures.joints
    if body.extra_joints:
        joints = close_loops(body, joints).q
    motion = Motion.from_joints(joints, times=old.times, root=postures.root)
    return measure(body, motion, feet=feet.links, ground=old.ground)


def _lift_feet(
    targets: Floats,
    change: Floats,
    air: Bools,
) -> Floats:
    """Return the poses of feet, higher where the centre of mass flies higher.

    `targets` (T, K, 7); `change` (T,) [m] of the height of the centre of mass.
    """
    targets = np.array(targets)
    for a, b in runs(air):
        share = inner_shares(b - a)
        straight = (1.0 - share) * change[a] + share * change[b - 1]
        more = max((change[a:b] - straight).max(), 0.0)
        targets[a:b, :, 2] += (more * bump(share))[:, None]
    return targets


def score_of(measures: Measures, missed: Floats) -> Score:
    """Return how good postures are that miss their goals by (T,) [m]."""
    joints = measures.body.joints
    limited = np.array([joint.lower <= joint.upper for joint in joints], dtype=bool)
    good = (measures.limit_distances[:, limited] >= -1e-6).all(axis=1)
    good &= excess_speed(measures) <= SPEED_TOLERANCE
    good &= missed < MAX_MISS
    flies = falls_freely(measures)
    margin = np.where(flies, np.inf, np.nan_to_num(measures.stability_margin, nan=-1.0))
    good &= margin >= SAFE_MARGIN
    return Score(float(np.mean(good)), float(margin.min()))


def falls_freely(measures: Measures) -> Bools:
    """Return where (T,) nothing holds the robot, and the frames next to these."""
    free = (held(measures) <= [0.05, SAFE_MARGIN]).all(axis=1)
    window = np.ones(1 + 2 * END_FRAMES)
    spread = np.convolve(free, window)[END_FRAMES:-END_FRAMES] > 0
    return spread | near_flights(measures)
