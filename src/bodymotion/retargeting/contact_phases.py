"""When the feet of a recorded figure are on the ground.

Let ℓ be the length of a leg. A point of a foot (ankle or toe) is low up to 0.06·ℓ above
its ground, which is the median height of that point while it moves slower than 0.25·ℓ/s
within the lowest 0.1·ℓ of the clip; it is in contact while it is low and slower than
0.35·ℓ/s. Contacts and gaps of less than 0.08 s are none.
"""

from collections.abc import Sequence

import numpy as np

from bodymotion.geometry.arrays import Bools, Floats, without_short_runs
from bodymotion.retargeting.roles import DIGITS

# [leg lengths] Lower and slower points of feet define the ground.
GROUND_HEIGHT = 0.1
# [leg lengths/s] The same.
GROUND_SPEED = 0.25
# [leg lengths] Lower and slower points of feet are in contact.
CONTACT_HEIGHT = 0.06
# [leg lengths/s] The same.
CONTACT_SPEED = 0.35
# [s] Shorter contacts, and gaps between contacts, are removed.
MIN_PHASE = 0.08
# Of the heights of feet: a few wrong frames of a recording are lower.
LOWEST_QUANTILE = 0.02


def find_ground_height(
    points: Sequence[Floats],
    times: Floats,
    leg_length: float,
) -> float:
    """Return the height [m] of the points (T, 3) of feet that are on the ground."""
    height = np.concatenate([point[:, 2] for point in points])
    speed = np.concatenate([_compute_speed(point, times) for point in points])
    max_height = np.quantile(height, LOWEST_QUANTILE) + GROUND_HEIGHT * leg_length
    is_low = height < max_height
    is_still = is_low & (speed < GROUND_SPEED * leg_length)
    on_ground = is_still if is_still.any() else is_low
    return float(np.round(np.median(height[on_ground]), DIGITS))


def find_contact(
    points: Floats,
    ground: float,
    times: Floats,
    leg_length: float,
) -> Bools:
    """Return when (T,) a point (T, 3) of a foot is in contact with the ground [m]."""
    is_low = points[:, 2] < ground + CONTACT_HEIGHT * leg_length
    is_slow = _compute_speed(points, times) < CONTACT_SPEED * leg_length
    contact = without_short_runs(is_low & is_slow, times, MIN_PHASE)
    # A short phase at the begin is none, either.
    first_change = int((contact != contact[0]).argmax())
    if times[first_change] - times[0] < MIN_PHASE:
        contact[:first_change] = contact[first_change]
    return contact


def _compute_speed(points: Floats, times: Floats) -> Floats:
    """Return the speeds (T,) [m/s] of a point (T, 3), by central differences."""
    if len(times) < 3:
        return np.zeros(len(times))
    return np.asarray(np.linalg.norm(np.gradient(points, times, axis=0), axis=1))
