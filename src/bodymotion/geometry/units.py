"""Whether angles look like degrees: one judgement for limits, rotations, motions and keyframes.

All angles are radians. Nothing in a file shows that they are meant as degrees; these functions look for values that no robot has in radians
and that would be plausible as degrees.
"""

import math
from dataclasses import dataclass

import numpy as np

from bodymotion.geometry.arrays import Floats

FULL_TURN = 2.0 * math.pi  # [rad]
MAX_ROTATION = FULL_TURN + 1e-3  # [rad] The angle of a rotation that is larger looks like degrees.
MAX_LIMIT = 40.0  # [rad] Limits of a joint beyond this (6.4 full turns) look like degrees.
MAX_WHOLE_LIMIT = 2 * FULL_TURN  # [rad] So do limits beyond this when both are whole numbers, such as -35 and 20.
NO_LIMIT = 1e4  # [rad] Files write a number beyond this for a joint without a limit.
MIN_SHARE = 0.25  # The part of the frames in which angles must be too large: a few wild frames have another cause.


def limits_in_degrees(lower: float, upper: float) -> float | None:
    """Return the larger of two joint limits [rad], as a positive angle, if the limits look like degrees; else None."""
    largest = max((abs(limit) for limit in (lower, upper) if abs(limit) < NO_LIMIT), default=0.0)
    whole = float(lower).is_integer() and float(upper).is_integer()
    return largest if largest > (MAX_WHOLE_LIMIT if whole else MAX_LIMIT) else None


def limits_in_radians(limits: Floats) -> int | None:
    """Return which of joint limits (J, 2) [°] are the widest, if all of them look like radians; else None.

    Some joint of a robot in degrees has a limit beyond a full turn in radians. Whole numbers of a few joints may be degrees.
    """
    widest = np.abs(limits).max(axis=1)
    whole = (np.abs(limits - np.round(limits)) < 1e-9).all()
    return None if widest.max() > FULL_TURN + 0.01 or (whole and len(limits) < 4) else int(widest.argmax())


@dataclass(frozen=True)
class AnglesInDegrees:
    """Angles over time that look like degrees.

    Attributes
    ----------
    columns:
        The columns that would stay between their limits as degrees.
    beyond:
        How many columns are beyond their limits as radians.
    frame, column:
        Where the largest of them is.
    """

    columns: tuple[int, ...]
    beyond: int
    frame: int
    column: int


def angles_in_degrees(
    values: Floats, lower: Floats, upper: Floats, *, max_angle: float = math.inf
) -> AnglesInDegrees | None:
    """Return how angles over time look like degrees; None where they do not.

    They do where some are beyond a full turn, in more than `MIN_SHARE` of the frames some are beyond their limits, and most columns that
    are beyond their limits would stay between them as degrees.

    Parameters
    ----------
    values:
        (T, C) [rad].
    lower, upper:
        (C,) the limits [rad]; columns with infinite ones are never beyond.
    max_angle:
        Values beyond this [rad] are wrong for another reason, and are not looked at.
    """
    with np.errstate(invalid="ignore"):
        wrong = (values < lower) | (values > upper)
        columns = np.flatnonzero(wrong.any(axis=0))
        as_degrees = np.radians(values[:, columns])
        kept = columns[~((as_degrees < lower[columns]) | (as_degrees > upper[columns])).any(axis=0)]
    if 2 * len(kept) <= len(columns) or np.mean(wrong[:, kept].any(axis=1)) <= MIN_SHARE:
        return None
    sizes = np.abs(values[:, kept].T)
    sizes[~(sizes <= max_angle) | np.isinf(sizes)] = 0.0
    column, frame = np.unravel_index(np.argmax(sizes), sizes.shape)
    if sizes[column, frame] <= FULL_TURN:
        return None
    return AnglesInDegrees(tuple(kept.tolist()), len(columns), int(frame), int(kept[column]))
