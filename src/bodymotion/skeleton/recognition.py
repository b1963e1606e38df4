"""Find the unit and the up axis of a skeleton from its size and its poses: most files of recorded motion name neither."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from bodymotion.skeleton.values import Skeleton

FEET = re.compile(r"foot|toe|ankle|paw", re.IGNORECASE)
"""Names of joints of feet."""
UNITS = (0.001, 0.01, 0.0254, 0.0254 / 0.45, 0.3048, 1.0)
"""[m] Millimetre, centimetre, inch, the unit of the CMU recordings, foot, metre."""
LEG_LENGTH = 0.95
"""[m] From the hips along the leg to the toes or the ankle, of an adult."""
MAX_RATIO = 2.0
"""The length of a leg over LEG_LENGTH is at most so far from 1."""
MAX_TILT = 30.0
"""[°] Between the mean direction from feet to hips and the up axis."""
MAX_SAMPLES = 100
"""Frames that are looked at."""


def recognize(skeleton: Skeleton) -> tuple[float | None, str | None]:
    """Return the unit of length [m] and the up axis, each None where it cannot be found.

    The hips are the first joint with two branches; feet are found by their names. The unit is that with which the legs are about as long as
    those of an adult; the up axis is that along which the hips are above the feet, on the mean.
    """
    parents, names = skeleton.parents, skeleton.names
    branches = Counter(parents)
    hips = next((joint for joint in range(len(parents)) if branches[joint] > 1), None)
    feet = [joint for joint, name in enumerate(names) if FEET.search(name)]
    if hips is None or not feet or not skeleton.num_frames:
        return None, None
    values = skeleton.values[:: max(1, skeleton.num_frames // MAX_SAMPLES)]
    with np.errstate(all="ignore"):
        positions = skeleton._positions(values)[0]
        upward = (positions[hips] - positions[feet].mean(axis=0)).mean(axis=1)
        axis = int(np.abs(upward).argmax())
        steep = abs(upward[axis]) > np.cos(np.radians(MAX_TILT)) * np.linalg.norm(upward)
        along = np.full(len(parents), np.nan)
        along[hips] = 0
        for joint, parent in enumerate(parents):
            if parent >= 0 and joint != hips:
                along[joint] = along[parent] + np.median(np.linalg.norm(positions[joint] - positions[parent], axis=0))
        leg = np.nanmax(along[feet], initial=0)
        ratios = np.abs(np.log(np.array(UNITS) * leg / LEG_LENGTH))
    sign = "-" if upward[axis] < 0 else ""
    best = int(np.argmin(np.nan_to_num(ratios, nan=np.inf)))
    return UNITS[best] if ratios[best] < np.log(MAX_RATIO) else None, f"{sign}{'XYZ'[axis]}" if steep else None
