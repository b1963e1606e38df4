"""Take a result only where it is good: elsewhere the motion stays as it was."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from bodymotion.balancing.knees import knee_limits
from bodymotion.balancing.postures import Goals, Postures, solve_postures
from bodymotion.balancing.stance import FootPlan
from bodymotion.dynamics import Measures
from bodymotion.geometry.arrays import Bools, Floats, median_step, runs
from bodymotion.geometry.poses import changed_pose, pose_difference
from bodymotion.kernels.feet import lowest
from bodymotion.motion.filters import MIN_FILTERED
from bodymotion.motion.interpolation.lowpass import quintic

# [s] Over this time, within a part, the motion changes from the input to the result.
BLEND_TIME = 0.3
# [s] A shorter part is not worth two transitions.
MIN_SPAN = 3.0 * BLEND_TIME


class Span(NamedTuple):
    """A part of a motion: frames `first` to before `after`."""

    first: int
    after: int


def good_spans(
    bad: Bools,
    needed: Bools,
    times: Floats,
) -> list[Span]:
    """Return the parts without bad frames (T,) in which a change is needed (T,)."""
    if len(times) < MIN_FILTERED:
        return []
    gap = median_step(times)
    return [
        Span(first, after)
        for first, after in runs(~bad)
        if (after - first) * gap >= MIN_SPAN and needed[first:after].any()
    ]


def weights_of(spans: list[Span], times: Floats) -> Floats:
    """Return how much (T,) of a result is taken: 1 inside of parts, 0 outside.

    At the ends of the motion no transition is needed.
    """
    weights = np.zeros(len(times))
    for span in spans:
        part = slice(span.first, span.after)
        since = times[part] - times[span.first]
        left = times[span.after - 1]
        before_end = left - times[part]
        share = np.ones(span.after - span.first)
        if span.first:
            share = np.minimum(share, since / BLEND_TIME)
        if span.after < len(times):
            share = np.minimum(share, before_end / BLEND_TIME)
        weights[part] = quintic(np.clip(share, 0.0, 1.0))
    return weights


def blend(
    old: Measures,
    new: Measures,
    feet: FootPlan,
    weights: Floats,
) -> Postures:
    """Return the old postures where weights (T,) are 0, the new ones where they are 1.

    Both are unchanged to the bit there. In transitions feet and the centre of mass are
    between those of both postures, and feet are not below the ground.
    """
    joints = np.where(
        weights[:, None] > 0, new.joint_displacements, old.joint_displacements
    )
    root = np.where(weights[:, None] > 0, new.root_poses, old.root_poses)
    limits = knee_limits(old.body, feet.links, old.joint_displacements)
    for first, after in runs((weights > 0) & (weights < 1)):
        frames = slice(first, after)
        share = weights[frames, None]
        near = _interpolate_postures(old, new, frames, share)
        targets = _interpolate_feet(old, new, feet, frames, share)
        goals = Goals(
            old.times[frames],
            limits,
            replace(feet, targets=targets),
            (1.0 - share) * old.center_of_mass[frames]
            + share * new.center_of_mass[frames],
            near,
        )
        # The copy tells the search to begin there exactly.
        start = Postures(near.joints.copy(), near.root)
        postures, _ = solve_postures(old.body, goals, start)
        joints[frames] = postures.joints
        root[frames] = postures.root
    return Postures(joints, root)


def _interpolate_postures(
    old: Measures,
    new: Measures,
    frames: slice,
    share: Floats,
) -> Postures:
    """Return postures between two others, by a share (N, 1) of the second."""
    joints = (1.0 - share) * old.joint_displacements[frames]
    joints += share * new.joint_displacements[frames]
    change = pose_difference(new.root_poses[frames], old.root_poses[frames])
    return Postures(joints, changed_pose(old.root_poses[frames], share * change))


def _interpolate_feet(
    old: Measures,
    new: Measures,
    feet: FootPlan,
    frames: slice,
    share: Floats,
) -> Floats:
    """Return the poses (N, K, 7) of feet between two postures, above the ground."""
    links = list(feet.links)
    soles = old.feet
    begin = old.link_poses[frames][:, links]
    change = pose_difference(new.link_poses[frames][:, links], begin)
    targets = changed_pose(begin, share[:, None] * change)
    heights = lowest(targets, soles.points, soles.edges, 0.0)[..., 0]
    depths = old.ground[frames, None] - heights
    # A foot that is below the ground in both postures may be.
    allowed = np.maximum(
        _foot_depths(old, links, frames), _foot_depths(new, links, frames)
    )
    targets[..., 2] += np.maximum(depths - np.maximum(allowed, 0.0), 0.0)
    return targets


def _foot_depths(
    measures: Measures,
    links: list[int],
    frames: slice,
) -> Floats:
    """Return the depths (N, K) [m] of feet below the ground."""
    soles = measures.feet
    feet = measures.link_poses[frames][:, links]
    heights = lowest(feet, soles.points, soles.edges, 0.0)[..., 0]
    return np.asarray(measures.ground[frames, None] - heights)


def smaller_spans(
    spans: list[Span],
    worse: Bools,
    times: Floats,
) -> Iterator[Span]:
    """Return the parts of spans around worse frames (T,), which are left out.

    A transition that is worse takes its whole part with it, as there is no better place
    for it.
    """
    for span in spans:
        inside = np.flatnonzero(worse[span.first : span.after]) + span.first
        if not len(inside):
            yield span
            continue
        starts = [span.first, *(inside + 1)]
        ends = [*inside, span.after]
        for first, after in zip(starts, ends, strict=True):
            if (after - first) * median_step(times) >= MIN_SPAN:
                yield Span(int(first), int(after))
