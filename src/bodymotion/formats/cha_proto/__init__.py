"""Spot animations as the vendor's messages: Animation as text (`.cap`) or bytes (`.pb`), out and in; logs of the robot's states, in.

================ ===========================================================================================
`fields`         the messages and the numbers of their fields: the one table of them
`heading`        name, tracks, options and parameters of an animation as fields
`columns`        the columns of an animation as numbers of a keyframe's message
`encoding`       animation → bytes, keyframes by compiled loops (`row_kernels`)
`printing`       animation → text
`decoding`       bytes → a table of all rows and the fields around them (`recording`)
`text_reading`   text → the same
`animations`     that → animation; `state_log`: that of a log → animation
`vendor`         to and from the message objects of the vendor's package, an extra
================ ===========================================================================================
"""

from bodymotion.formats.cha_proto.encoding import to_bytes
from bodymotion.formats.cha_proto.printing import to_text
from bodymotion.formats.cha_proto.reader import (
    check_animation_message,
    check_state_log,
    from_bytes,
    from_text,
    read_animation_message,
    read_state_log,
)
from bodymotion.formats.cha_proto.vendor import from_proto, to_move_info, to_proto
from bodymotion.formats.cha_proto.writer import write_message_bytes, write_message_text

__all__ = [
    "check_animation_message",
    "check_state_log",
    "from_bytes",
    "from_proto",
    "from_text",
    "read_animation_message",
    "read_state_log",
    "to_bytes",
    "to_move_info",
    "to_proto",
    "to_text",
    "write_message_bytes",
    "write_message_text",
]
