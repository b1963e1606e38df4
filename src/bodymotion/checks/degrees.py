"""Whether the joint values of a motion, which are radians, look like degrees."""

from __future__ import annotations

import math

import numpy as np

from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body

__all__ = ["look_like_degrees"]

LONG = 0.25
"""In this part of the frames joints are beyond their limits, at least: a few wild frames are something else."""


def look_like_degrees(q: Floats, body: Body, tolerance: float) -> tuple[str, int, int] | None:
    """Say in words that values (T, J) look like degrees, and where (frame, column) they do most; None where they do not.

    They do where some are beyond a full turn, and most joints beyond their limits would keep these, were the values degrees. One joint
    alone may be out by full turns.
    """
    beyond = np.zeros(q.shape, dtype=bool)
    limited: list[int] = []
    kept: list[int] = []
    for column, (joint, link) in enumerate(zip(body.joints, body.joint_links, strict=True)):
        if link < 0 or joint.type != "rotate" or not joint.lower <= joint.upper < math.inf or joint.lower == -math.inf:
            continue
        limited.append(column)
        low, high = joint.lower - tolerance, joint.upper + tolerance
        values = q[:, column]
        beyond[:, column] = (values < low) | (values > high)
        angles = np.radians(values)
        if beyond[:, column].any() and not ((angles < low) | (angles > high)).any():
            kept.append(column)
    wrong = int(beyond.any(axis=0).sum())
    if len(kept) < min(2, len(limited)) or not 2 * len(kept) > wrong:
        return None
    sizes = np.where(np.isfinite(q[:, kept]), np.abs(q[:, kept]), 0.0)
    if sizes.max() <= 2 * math.pi or np.mean(beyond[:, kept].any(axis=1)) < LONG:
        return None
    frame, k = (int(i) for i in np.unravel_index(int(np.argmax(sizes)), sizes.shape))
    column = kept[k]
    name = body.joints[column].name or body.links[body.joint_links[column]].name
    joints = "1 joint is beyond its limits" if wrong == 1 else f"{wrong} joints are beyond their limits"
    within = "" if len(kept) == wrong else f"; as degrees {len(kept)} of them are within"
    said = f"{joints}, such as {name!r} at {q[frame, column]:.6g} in frame {frame}: these look like degrees{within}"
    return said, frame, column
