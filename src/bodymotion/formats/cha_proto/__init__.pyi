from bodymotion.formats.cha_proto.reader import from_bytes as from_bytes
from bodymotion.formats.cha_proto.reader import from_text as from_text
from bodymotion.formats.cha_proto.reader import (
    read_animation_message as read_animation_message,
)
from bodymotion.formats.cha_proto.sequence import (
    choreography_from_bytes as choreography_from_bytes,
)
from bodymotion.formats.cha_proto.sequence import read_choreography as read_choreography
from bodymotion.formats.cha_proto.state_log import read_log as read_log
from bodymotion.formats.cha_proto.state_log import read_state_log as read_state_log
from bodymotion.formats.cha_proto.vendor import from_proto as from_proto
from bodymotion.formats.cha_proto.vendor import to_move_info as to_move_info
from bodymotion.formats.cha_proto.vendor import to_proto as to_proto
from bodymotion.formats.cha_proto.writer import to_bytes as to_bytes
from bodymotion.formats.cha_proto.writer import to_text as to_text
from bodymotion.formats.cha_proto.writer import (
    write_message_bytes as write_message_bytes,
)
from bodymotion.formats.cha_proto.writer import write_message_text as write_message_text
from bodymotion.formats.cha_proto.writer import write_save as write_save
from bodymotion.formats.cha_proto.writer import (
    write_sequence_bytes as write_sequence_bytes,
)
from bodymotion.formats.cha_proto.writer import (
    write_sequence_text as write_sequence_text,
)
