"""Make a motion slower where joints, motors or the balance need more time."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from bodymotion.balancing.judging import SAFE_MARGIN
from bodymotion.balancing.zmp import ZMP_CUTOFF, smooth_zmp
from bodymotion.dynamics import Measures
from bodymotion.editing.retiming import speed_shares, stretched
from bodymotion.geometry.arrays import Floats, runs
from bodymotion.model.links import effort_range
from bodymotion.motion import Motion
from bodymotion.motion.filters import low_pass_filter, smooth_upper_bound

# For balance and torques by this factor each time.
MAX_SLOWER_ONCE = 1.5
# Of the efforts of motors. Torques are filtered before they are compared with it.
EFFORT_SHARE = 0.98
# A motion that had to be made slower by more has a jump.
MAX_FACTOR = 100
# A motion is not made slower by less.
MIN_FACTOR = 1e-6
# Parts that are slower by less are not reported.
MIN_SLOWNESS = 1e-3


class Slowed(NamedTuple):
    """A slower motion: times (T,) [s] of the motion before, and when these are now."""

    motion: Motion
    times: Floats
    later: Floats


class SlowPart(NamedTuple):
    """A part of the input that is slower.

    Begin and end [s], and the largest factor.
    """

    begin: float
    end: float
    factor: float


def check_jumps(measures: Measures) -> None:
    """Raise ValueError for a joint so fast that no slowing down is of use."""
    shares = _speed_shares(measures)
    if shares.max(initial=0.0) <= MAX_FACTOR:
        return
    frame, column = np.unravel_index(shares.argmax(), shares.shape)
    name = measures.body.joints[column].name
    raise ValueError(
        f"joint {name!r} is {shares.max():.3g} times as fast as its velocity limit "
        f"at {measures.times[frame]:.3f} s, expected a jump of no more than "
        f"{MAX_FACTOR} times; remove jumps first, or use limits=False (--no-limits)"
    )


def _speed_shares(measures: Measures) -> Floats:
    """Return joint speeds (T, J) as shares of their limits."""
    shares = speed_shares(measures.body, measures.joint_velocities)
    # Slowing down cannot reach a limit of 0; it is reported.
    shares[np.isinf(shares)] = 0.0
    return shares


def excess_speed(measures: Measures) -> Floats:
    """Return by which factor (T,) joints are faster than their limits, 1 for none."""
    return np.asarray(_speed_shares(measures).max(axis=1, initial=1.0))


def excess_acceleration(measures: Measures, acceleration: float) -> Floats:
    """Return by which factor (T,) joints must be slower for an acceleration."""
    sudden = np.abs(measures.joint_accelerations).max(axis=1, initial=0.0)
    return np.asarray(np.maximum(np.sqrt(sudden / acceleration), 1.0))


def excess_torque(measures: Measures) -> Floats:
    """Return by which factor (T,) motors need a slower motion, 1 for none.

    At half the speed, what moving adds to the torques that the postures need at rest is
    a quarter. Where these are too large themselves, slowing down does not help. Neither
    does it in a motion with a flight, which would fall.
    """
    none = np.ones(len(measures.times))
    limits = [
        effort_range(joint) or (-np.inf, np.inf) for joint in measures.body.joints
    ]
    lower, upper = EFFORT_SHARE * np.reshape(limits, (-1, 2)).T
    torques = low_pass_filter(measures.torques, measures.times, ZMP_CUTOFF)
    beyond = (torques < lower) | (torques > upper)
    if not beyond.any() or not measures.contacts.in_contact.any(axis=1).all():
        return none
    rest = low_pass_filter(_at_rest(measures).torques, measures.times, ZMP_CUTOFF)
    added = torques - rest
    allowed = np.where(added > 0, upper - rest, lower - rest)
    share = np.clip(allowed / np.where(beyond, added, 1.0), MAX_SLOWER_ONCE**-2, 1.0)
    helps = beyond & (rest > lower) & (rest < upper)
    share = np.where(helps, share, 1.0)
    return np.asarray(share.min(axis=1, initial=1.0) ** -0.5)


def _at_rest(measures: Measures) -> Measures:
    """Return the measures of the same postures without movement."""
    return replace(
        measures,
        joint_velocities=0.0 * measures.joint_velocities,
        joint_accelerations=0.0 * measures.joint_accelerations,
        root_velocity=0.0 * measures.root_velocity,
        root_acceleration=0.0 * measures.root_acceleration,
    )


def excess_tipping(measures: Measures) -> Floats:
    """Return by which factor (T,) the balance needs a slower motion, 1 for none.

    At half the speed the zero moment point is at a quarter of its distance from the
    centre of mass. A motion with a flight is not made slower: it would fall.
    """
    none = np.ones(len(measures.times))
    if not measures.contacts.in_contact.any(axis=1).all():
        return none
    zmp = smooth_zmp(measures)
    margins = np.nan_to_num(measures.support_polygons.margins(zmp)[0], nan=SAFE_MARGIN)
    lack = SAFE_MARGIN - margins
    away = np.linalg.norm(zmp - measures.center_of_mass[:, :2], axis=1)
    share = 1.0 - (lack + SAFE_MARGIN) / np.maximum(away, 1e-9)
    share = np.clip(share, MAX_SLOWER_ONCE**-2, 1.0)
    helps = (lack > 0) & (away > lack)
    return np.where(helps, share**-0.5, none)


def slower(
    motion: Motion,
    times: Floats,
    factor: Floats,
) -> Slowed:
    """Return the motion smoothly slower by a factor (T,).

    A fixed rate is kept.
    """
    slowness = smooth_upper_bound(factor, times)
    steps = 0.5 * (slowness[1:] + slowness[:-1]) * np.diff(times)
    later = times[0] + np.concatenate(([0.0], np.cumsum(steps)))
    return Slowed(stretched(motion, times, later, "cubic"), times, later)


def slow_parts(times: Floats, later: Floats) -> tuple[SlowPart, ...]:
    """Return which parts of a motion with times (T,) are slower at `later` (T,)."""
    factors = np.diff(later) / np.diff(times)
    return tuple(
        SlowPart(float(times[a]), float(times[b]), float(factors[a:b].max()))
        for a, b in runs(np.asarray(factors > 1.0 + MIN_SLOWNESS))
    )
