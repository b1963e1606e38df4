"""Whether the places of keyframes, which are metres, look like millimetres or centimetres."""

from __future__ import annotations

import numpy as np

from bodymotion.animation import LEGS, Animation
from bodymotion.formats.cha import rules
from bodymotion.formats.cha.findings import Findings
from bodymotion.formats.cha.places import Places
from bodymotion.formats.cha.words import COLUMNS

__all__ = ["check_metres"]

HIGH = 5.0
"""[m] Neither body nor hand is mostly as high as this, nor are feet so far apart."""
LEAST, MOST = 0.1, 1.5
"""[m] What is so high, or so far apart, may be a robot."""
UNITS = ((1000.0, "millimetres"), (100.0, "centimetres"))


def check_metres(animation: Animation, places: Places, findings: Findings) -> bool:
    """Say once if places look like another unit than metres; gives whether they do.

    They do where a height, or the way from a front to a hind foot, is mostly too large for a robot, and would not be in the other unit.
    """
    frames, controls = animation.keyframes, animation.controls
    front, hind = f"{LEGS[0]}_x", f"{LEGS[2]}_x"
    looked_at = [
        (name, frames.column(name), "is")
        for name in ("body_z", "com_z", "hand_z")
        if frames.has(name) and (not controls or COLUMNS[name].track in controls)
    ]
    if frames.has(front) and frames.has(hind) and (not controls or "legs" in controls):
        looked_at.append((front, frames.column(front) - frames.column(hind), f"less {hind} is"))
    for name, values, verb in looked_at:
        sizes = np.abs(values[np.isfinite(values)])
        size = float(np.median(sizes)) if sizes.size else 0.0
        if size <= HIGH:
            continue
        for scale, unit in UNITS:
            if LEAST <= size / scale <= MOST:
                row = int(np.argmax(np.abs(np.nan_to_num(values)) > HIGH))
                said = f"{name} {verb} {values[row]:g} in keyframe {row + 1}: these look like {unit}"
                hint = f"divide all places by {scale:g}. Jumps, and what a robot would mind, are not looked at"
                findings.add(rules.METRES, said, places.value(row, name), hint)
                return True
    return False
