"""Spot animations: the vendor's animation files for Choreographer (.cha).

Three sections, a blank line between them::

    controls body gripper          # options: a keyword and its values
    bpm 120

    speed 0.5 1 2                  // parameters: minimum, default, maximum; or "no parameters"

    time body_pos body_yaw gripper
    0.0  0 0 0.48  0.0  0          # keyframes, one a line
    0.5  0 0 0.42  0.2  -0.8

`words` has every keyword, `rules` all that is said about a file. `text` and `sections` find the lines, `options`, `parameters`, `columns`
and `rows` read them, `agreement` and `keyframes` look at what was read. `reader` and `writer` are the ways in and out.
"""

from __future__ import annotations

from bodymotion.formats.cha.reader import check_animation, check_cha, examine, parse_cha, read_cha
from bodymotion.formats.cha.rules import RULES
from bodymotion.formats.cha.writer import cha_text, write_cha

__all__ = [
    "RULES",
    "cha_text",
    "check_animation",
    "check_cha",
    "examine",
    "parse_cha",
    "read_cha",
    "write_cha",
]
