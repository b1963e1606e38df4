"""Spot animations: the vendor's animation files for Choreographer (.cha).

Three sections, a blank line between them::

    controls body gripper          # options: a keyword and its values
    bpm 120

    speed 0.5 1 2                  // parameters: minimum, default, maximum; or "no
    parameters"

    time body_pos body_yaw gripper
    0.0  0 0 0.48  0.0  0          # keyframes, one a line
    0.5  0 0 0.42  0.2  -0.8

==================
============================================================================
`keywords`         the keywords of options, parameters and columns, and what each takes
`rules`            the rules of the format
`rows`             bytes → text, lines and words with their locations; comments; lines →
keyframes
`head`             the lines above the keyframes
`head_checks`,     rules on the values of an animation, whatever it comes from
`keyframe_checks`
`reader`, `writer` files in, by their three sections, and out
==================
============================================================================
"""

from bodymotion.spot.cha.reader import (
    check_animation,
    is_apart,
    move_name,
    parse_cha,
    read_cha,
    unplayable,
)
from bodymotion.spot.cha.writer import cha_text, write_cha

__all__ = [
    "cha_text",
    "check_animation",
    "is_apart",
    "move_name",
    "parse_cha",
    "read_cha",
    "unplayable",
    "write_cha",
]
