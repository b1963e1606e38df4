"""Spot animations and choreographies as the vendor's messages: text (`.cap`, `.csq`) and bytes (`.pb`), read and written; logs, read.

============= =================================================================================================
`messages`    the messages and their fields in one table, built with google.protobuf
`rows`        the column of each field; tables of numbers to and from the bytes and the text of keyframes
`reader`      bytes or text → animation
`state_log`   a log of the robot's states → animation
`sequence`    bytes or text → choreography, and back
`writer`      animation → bytes, text, files
`robot_moves` the moves of a robot and the ranges of their parameters
`vendor`      to and from the message objects of the vendor's package, which is an extra
============= =================================================================================================

Google's library reads and writes everything but rows that look alike: of those it writes one, and `rows` fills in the others.
"""

from bodymotion.formats.cha_proto.reader import from_bytes, from_text, read_animation_message
from bodymotion.formats.cha_proto.sequence import (
    choreography_from_bytes,
    read_choreography,
    write_save,
    write_sequence_bytes,
    write_sequence_text,
)
from bodymotion.formats.cha_proto.state_log import read_log, read_state_log
from bodymotion.formats.cha_proto.vendor import from_proto, to_move_info, to_proto
from bodymotion.formats.cha_proto.writer import to_bytes, to_text, write_message_bytes, write_message_text

__all__ = [
    "choreography_from_bytes",
    "from_bytes",
    "from_proto",
    "from_text",
    "read_animation_message",
    "read_choreography",
    "read_log",
    "read_state_log",
    "to_bytes",
    "to_move_info",
    "to_proto",
    "to_text",
    "write_message_bytes",
    "write_message_text",
    "write_save",
    "write_sequence_bytes",
    "write_sequence_text",
]
