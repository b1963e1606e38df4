"""Spot animations as the vendor's messages: text (`.cap`) and bytes (`.pb`), read and written; logs of the robot's states, read.

============ =================================================================================================
`messages`   the messages and their fields in one table, built with google.protobuf
`rows`       the column of each field; tables of numbers to and from the bytes and the text of keyframes
`reader`     bytes or text → animation
`state_log`  a log of the robot's states → animation
`writer`     animation → bytes, text, files
`vendor`     to and from the message objects of the vendor's package, which is an extra
============ =================================================================================================

Google's library reads and writes everything but rows that look alike: of those it writes one, and `rows` fills in the others.
"""

from bodymotion.formats.cha_proto.reader import from_bytes, from_text, read_animation_message
from bodymotion.formats.cha_proto.state_log import read_log, read_state_log
from bodymotion.formats.cha_proto.vendor import from_proto, to_move_info, to_proto
from bodymotion.formats.cha_proto.writer import to_bytes, to_text, write_message_bytes, write_message_text

__all__ = [
    "from_bytes",
    "from_proto",
    "from_text",
    "read_animation_message",
    "read_log",
    "read_state_log",
    "to_bytes",
    "to_move_info",
    "to_proto",
    "to_text",
    "write_message_bytes",
    "write_message_text",
]
