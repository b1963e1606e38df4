"""Which feet stand, where no column says it: from how high they are and how fast. How the robot infers it is not published.

At a keyframe a foot is in stance when it is on the floor, no more than `CLEAR` above the lowest foot of the first keyframe, and hardly
moves there: no faster than `SLOW` on its curve, which is still where the foot turns back, and where a step begins or ends. At the first
and the last keyframe being on the floor is enough. Between two keyframes it is in stance when it is so at both, and goes no faster than
`SLOW` from one to the other.

Where only angles of legs are given, heights are those seen from a level body: a foot is in stance at a keyframe when it is no more than
`CLEAR` above the lowest one there, and speeds do not count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats

if TYPE_CHECKING:
    from bodymotion.animation import Animation

__all__ = ["CLEAR", "SLOW", "contacts_at_keyframes", "inferred_contacts", "stays_between"]

CLEAR = 0.02
"""[m] A foot no higher than that above the floor is on it."""

SLOW = 0.25
"""[m/s] A foot no faster than that stands."""


def inferred_contacts(times: Floats, feet: Floats, *, free: bool = False) -> npt.NDArray[np.bool_]:
    """Say which feet are in stance (N, 4) at keyframes with times (N,) [s], of feet (N, 4, 3) [m]; `free`: as seen from the body."""
    height = feet[:, :, 2]
    if free or not len(times):
        return np.asarray(height - height.min(axis=1, keepdims=True, initial=np.inf) <= CLEAR)
    from bodymotion.kernels.slopes import pchip_slopes

    speed = np.linalg.norm(pchip_slopes(feet.reshape(-1, 12), np.diff(times)).reshape(-1, 4, 3), axis=-1)
    speed[[0, -1]] = 0.0
    return np.asarray((height <= height[0].min() + CLEAR) & (speed <= SLOW))


def stays_between(times: Floats, feet: Floats, *, free: bool = False) -> npt.NDArray[np.bool_]:
    """Say which feet (N - 1, 4) go slowly enough from one keyframe to the next to be in stance."""
    steps = np.linalg.norm(np.diff(feet, axis=0), axis=-1)
    return np.asarray(free | (steps <= SLOW * np.diff(times)[:, None]))


def contacts_at_keyframes(animation: Animation) -> npt.NDArray[np.bool_]:
    """Return which feet (N, 4) are in stance at the keyframes of an animation: by their columns, else inferred.

    Raises
    ------
    ValueError
        When it cannot be played; see `play`.
    """
    from bodymotion.spot.playback.playing import check_keyframes
    from bodymotion.spot.playback.standing import sit, stand
    from bodymotion.spot.playback.tracks import Tracks

    check_keyframes(animation)
    before = sit() if "starts_sitting" in animation.options else stand()
    return Tracks(animation, before, before.frame).contacts(animation.keyframes.times)
