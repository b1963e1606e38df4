"""A trot for Spot, as an animation file: diagonal pairs of feet step in turn, one stride a beat."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .solids import number

Array = npt.NDArray[np.float64]

BPM = 100
STRIDE = 60.0 / BPM
STRIDES = 8
STEP = STRIDE / 12
"""From keyframe to keyframe."""
SWING = 5 * STEP
"""Each pair swings that long; for a twelfth of a stride all four feet stand."""
SPEED = 0.55
"""[m/s] at full trot."""
LIFT = 0.07
HEIGHT = 0.48
FEET = np.array(
    [
        [0.29785, 0.165945],
        [0.29785, -0.165945],
        [-0.29785, 0.165945],
        [-0.29785, -0.165945],
    ]
)
"""Front left, front right, hind left, hind right, below their hips."""
PAIRS = (0, 1, 1, 0)

HEAD = """\
# A trot: made by examples/make_examples.py of the project bodymotion (Apache-2.0). Edit the script, not this file.
controls legs body
bpm {bpm}
extendable                  # looped, it goes on where it has come to
retime_to_integer_slices
description Trot forward, one stride a beat.
display_rgb 250 180 20
track_swing_trajectories

speed 0.5 1 1.25
body_entry_slices 0 1 4
body_tracking_stiffness 1 5 10

time foot_pos contact body_pos body_euler_rpy
"""


def trot() -> str:
    """Return the whole file."""
    count = 12 * STRIDES + 1
    times = np.arange(count) * STEP
    end = times[-1]
    body = _forward(times, end)
    lines = []
    feet, stance = np.zeros((count, 4, 3)), np.ones((count, 4), dtype=int)
    for foot in range(4):
        feet[:, foot, :2] = FEET[foot]
        start = STEP / 2 + PAIRS[foot] * STRIDE / 2
        place = FEET[foot, 0]
        for k in range(STRIDES):
            up = round((start + k * STRIDE - STEP / 2) / STEP)
            down = up + 5
            landing = (
                _forward(min(times[down] + (STRIDE - SWING) / 2, end), end)
                if k < STRIDES - 1
                else body[-1]
            )
            goal = FEET[foot, 0] + landing
            share = np.linspace(0.0, 1.0, 6)
            eased = share - np.sin(2 * np.pi * share) / (2 * np.pi)
            feet[up : down + 1, foot, 0] = place + eased * (goal - place)
            feet[up : down + 1, foot, 2] = LIFT * np.sin(np.pi * share) ** 2
            feet[down:, foot, 0] = goal
            stance[up + 1 : down, foot] = 0
            place = goal
    phase = 2 * np.pi * times / STRIDE
    fade = np.clip(np.minimum(times, end - times) / STRIDE, 0.0, 1.0)
    fade = fade * fade * (3 - 2 * fade)
    sway = 0.010 * fade * np.sin(phase)
    height = HEIGHT - 0.010 * fade * np.cos(2 * phase) - 0.008 * fade
    roll = -0.020 * fade * np.sin(phase)
    pitch = 0.012 * fade * np.sin(2 * phase + 0.6)
    yaw = 0.025 * fade * np.sin(phase + 0.9)
    for k in range(count):
        values = [
            times[k],
            *feet[k].ravel(),
            *stance[k],
            body[k],
            sway[k],
            height[k],
            roll[k],
            pitch[k],
            yaw[k],
        ]
        lines.append(" ".join(number(float(value), 4) for value in values))
    return HEAD.format(bpm=BPM) + "\n".join(lines) + "\n"


def _forward(time: Array | float, end: float) -> Array:
    """Return how far the body is: it speeds up in the first two strides and slows down in the last two."""
    ramp = 2 * STRIDE

    def begun(t: Array) -> Array:
        share = np.clip(t / ramp, 0.0, 1.0)
        return ramp * (share**3 - share**4 / 2) + np.maximum(t - ramp, 0.0)

    t = np.asarray(time, dtype=np.float64)
    late = np.maximum(t - (end - ramp), 0.0)
    return np.asarray(
        SPEED * (begun(t) - (late - (begun(np.asarray(ramp)) - begun(ramp - late))))
    )
