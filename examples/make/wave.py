"""Spot waves with its arm: up, four times to and fro, and down again, as an animation file of joint angles."""

from __future__ import annotations

import numpy as np

from .solids import number

BPM = 120
BEAT = 60.0 / BPM
STEP = BEAT / 5
"""From keyframe to keyframe."""
PARTS = (("# up", 2), ("# to and fro, once a beat", 4), ("# and down", 2))
"""What happens, and for how many beats."""
STOWED = np.array([0.0, -3.1, 3.1, 0.0, 0.0, 0.0])
RAISED = np.array([0.0, -2.1, 1.5, 0.0, -0.9, 0.0])
"""Angles of shoulder 0 and 1, elbow 0 and 1, wrist 0 and 1 [rad]."""
SWING = np.array([0.25, 0.0, 0.0, 0.5, 0.0, 0.0])
OPEN = -0.6

HEAD = """\
# A wave: made by examples/make_examples.py of the project bodymotion (Apache-2.0). Edit the script, not this file.
controls arm gripper
bpm {bpm}
arm_required
arm_playback jointspace      # with respect to the body
no_looping
description Hello.
display_rgb 40 160 220

# minimum, default, maximum
speed 0.5 1 1.25
arm_entry_slices 0 2 8
gripper_multiplier 0 1 1.5

time arm_joints gripper
"""


def wave() -> str:
    """Return the whole file."""
    lines = []
    time, beat = 0.0, 0.0
    up, swung = PARTS[0][1], PARTS[0][1] + PARTS[1][1]
    end = sum(beats for _, beats in PARTS)
    for remark, beats in PARTS:
        lines.append(remark)
        last = beat + beats == end
        for k in range(round(beats * BEAT / STEP) + last):
            now = beat + k * STEP / BEAT
            raised = _eased(now / up) * _eased((end - now) / (end - swung))
            swinging = (
                _eased(2 * (now - up))
                * _eased(2 * (swung - now))
                * np.sin(2 * np.pi * (now - up))
            )
            angles = STOWED + raised * (RAISED - STOWED) + swinging * SWING
            values = [time, *angles, OPEN * raised]
            lines.append(" ".join(number(float(value), 4) for value in values))
            time += STEP
        beat += beats
    return HEAD.format(bpm=BPM) + "\n".join(lines) + "\n"


def _eased(share: float) -> float:
    """Go from 0 to 1, slowly at both ends."""
    share = min(max(share, 0.0), 1.0)
    return share * share * (3 - 2 * share)
