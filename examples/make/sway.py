"""Spot sways to the beat with all four feet on the ground, as an animation file: feet and body, at a frequency."""

from __future__ import annotations

import numpy as np

from .solids import number

BPM = 96
BEATS = 8
FREQUENCY = 16.0
FEET = np.array(
    [
        [0.29785, 0.165945],
        [0.29785, -0.165945],
        [-0.29785, 0.165945],
        [-0.29785, -0.165945],
    ]
)
"""Front left, front right, hind left, hind right, below their hips [m]."""
HEIGHT = 0.47

HEAD = """\
# A sway: made by examples/make_examples.py of the project bodymotion (Apache-2.0). Edit the script, not this file.
controls legs body
bpm {bpm}
frequency {frequency}
extendable                   # it ends as it begins
truncatable
description Sway to the beat.
display_rgb 150 90 200

speed 0.5 1 2
body_entry_slices 0 1 8
body_exit_slices 0 2 8
translation_multiplier.y 0 1 1.5
rotation_multiplier.roll 0 1 1.5
body_tracking_stiffness 1 5 11

foot_pos contact body_pos body_quat_wxyz
"""


def sway() -> str:
    """Return the whole file."""
    count = round(BEATS * 60 / BPM * FREQUENCY) + 1
    phase = np.linspace(0.0, 2 * np.pi * BEATS / 2, count)
    side, bounce = 0.05 * np.sin(phase), 0.012 * (np.cos(2 * phase) - 1)
    roll, yaw = 0.12 * np.sin(phase), 0.06 * np.sin(phase / 2) ** 2
    feet = np.column_stack([FEET, np.zeros(4)]).ravel()
    lines = []
    for k in range(count):
        turn = _product(_about(2, yaw[k]), _about(0, roll[k]))
        values = [*feet, 1, 1, 1, 1, 0, side[k], HEIGHT + bounce[k], *turn]
        lines.append(" ".join(number(float(value), 6) for value in values))
    return (
        HEAD.format(bpm=BPM, frequency=number(FREQUENCY, 3)) + "\n".join(lines) + "\n"
    )


def _about(axis: int, angle: float) -> list[float]:
    """Return the turn about one axis, as a quaternion w x y z."""
    turn = [np.cos(angle / 2), 0.0, 0.0, 0.0]
    turn[1 + axis] = np.sin(angle / 2)
    return turn


def _product(a: list[float], b: list[float]) -> list[float]:
    """Return the turn `a` after the turn `b`."""
    w, x, y, z = a
    s, t, u, v = b
    return [
        w * s - x * t - y * u - z * v,
        w * t + x * s + y * v - z * u,
        w * u - x * v + y * s + z * t,
        w * v + x * u - y * t + z * s,
    ]
