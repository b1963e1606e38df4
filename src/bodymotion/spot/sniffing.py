"""Which of Spot's formats a file has, by its first bytes. Imports no format.

Every function takes the first bytes of a file (`HEAD` of `formats.registry`) and
returns whether they are those of one format.
"""

import re

from bodymotion.formats.encodings import in_utf8

_CONTROLS = re.compile(
    rb"^(?:\xef\xbb\xbf)?[ \t]*controls(?:[ \t]+(?:legs|body|arm|gripper))+[ \t]*"
    rb"(?:(?:#|//)[^\r\n]*)?$",
    re.MULTILINE,
)
_FIRST_FIELD = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s|#[^\n]*+\n)*+([a-z_]++)\s*+(?::\s*+)?[\w\"'{<\[.-]"
)
_MESSAGE_ROWS = re.compile(
    rb"(?:^|[\s{}<>;,])(animation_keyframes|key_frames)\s*+(?::\s*+)?[{<\[]"
)
# The fields of the message Animation.
ANIMATION_FIELDS = (
    rb"name|animation_keyframes|controls_arm|controls_legs|controls_body|"
    rb"controls_gripper|bpm|retime_to_integer_slices|minimum_parameters|"
    rb"default_parameters|maximum_parameters|truncatable|extendable|neutral_start|"
    rb"precise_steps|track_swing_trajectories|arm_playback|precise_timing|"
    rb"assume_zero_roll_and_pitch|arm_required|no_looping|arm_prohibited|"
    rb"timing_adjustability|starts_sitting|custom_gait_cycle"
)
_SEQUENCE_FIELD = re.compile(
    rb"(?:^|[\s{}<>;,])(?:slices_per_minute|choreography_sequence|moves)\s*+[:{<\[]"
)
# The fields of the messages ChoreographySequence and ChoreographerSave.
_SEQUENCE_FIELDS = (
    *(b"name", b"slices_per_minute", b"moves", b"choreography_info", b"entrance_state"),
    *(
        b"choreography_sequence",
        b"music_file",
        b"music_start_slice",
        b"choreography_start_slice",
    ),
)
_LISTED_MOVE = re.compile(
    rb"(?:^|\s)moves\s*+:?\s*+[{<]\s*+name\b"
)  # The start of a move in a robot's list of moves.
_NOT_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1f]")
# A protobuf tag is the number of a field times 8 and the kind of its value.
_NAME_TAG = 0x0A
_ROW_TAG = 0x12
_STATE_TAG = 0x0A
_TEMPO_TAG = 0x11
_AFTER_TEMPO = (b"\x1a", b"\x22", b"\x28")
_KEYFRAME_TAGS = frozenset((0x09, 0x12, 0x1A, 0x22, 0x2A))
_STATE_TAGS = frozenset((0x0A, 0x12, 0x1A, 0x22))


def looks_like_cha(head: bytes) -> bool:
    """Return whether a file has a line `controls …` with tracks of Spot."""
    return _CONTROLS.search(head.replace(b"\r", b"\n")) is not None


def looks_like_animation_text(head: bytes) -> bool:
    """Return whether a file is a message Animation as text.

    It starts with one of its fields, and has keyframes.
    """
    first = _FIRST_FIELD.match(head)
    return (
        first is not None
        and first[1] in ANIMATION_FIELDS.split(b"|")
        and _message_rows(head) == b"animation_keyframes"
    )


def looks_like_animation_bytes(head: bytes) -> bool:
    """Return whether a file is a message Animation as bytes.

    The tag and text of its name, if any, and the tag of a keyframe.
    """
    at = _after_name(head)
    return at >= 0 and _starts_row(head, at, _ROW_TAG, _KEYFRAME_TAGS)


def looks_like_choreography_text(head: bytes) -> bool:
    """Return whether a file is a choreography as the vendor's text.

    A message ChoreographySequence or ChoreographerSave.

    It has a tempo or moves, and no keyframes.
    """
    first = _FIRST_FIELD.match(head)
    return (
        first is not None
        and first[1] in _SEQUENCE_FIELDS
        and _SEQUENCE_FIELD.search(head) is not None
        and not _message_rows(head)
        and _LISTED_MOVE.search(head) is None
    )


def looks_like_choreography_bytes(head: bytes) -> bool:
    """Return whether a file is a choreography as the vendor's bytes.

    A message ChoreographySequence, or one inside of a ChoreographerSave.

    Name, if any, and tempo.
    """
    size, start = _length(head, 1)
    if (
        head[:1] == bytes([_NAME_TAG])
        and start
        and looks_like_choreography_bytes(head[start : start + size])
    ):
        return True
    at = _after_name(head)
    after = at + 9
    return (
        at >= 0
        and head[at : at + 1] == bytes([_TEMPO_TAG])
        and (after == len(head) or head[after : after + 1] in _AFTER_TEMPO)
    )


def looks_like_log(head: bytes) -> bool:
    """Return whether a file is a message ChoreographyStateLog.

    As bytes (the tag of a state and its length) or as text.
    """
    first = _FIRST_FIELD.match(head)
    if first is not None and first[1] == b"key_frames":
        return _message_rows(head) == b"key_frames"
    return (
        _starts_row(head, 0, _STATE_TAG, _STATE_TAGS)
        and is_binary(head, len(head))
        and _nested(head)
    )


def is_binary(data: bytes, size: int = 4096) -> bool:
    """Return whether the first `size` bytes hold one that no text holds."""
    return _NOT_TEXT.search(in_utf8(data[:size])[0]) is not None


def _message_rows(head: bytes) -> bytes:
    found = _MESSAGE_ROWS.search(head)
    if found is None:
        return b""
    return found[1]


def _length(head: bytes, at: int) -> tuple[int, int]:
    """Return a length of up to four bytes, and where it ends.

    An end of 0 means that there is none.
    """
    size = 0
    for n, byte in enumerate(head[at : at + 4]):
        size |= (byte & 127) << 7 * n
        if byte < 128:
            return size, at + n + 1
    return 0, 0


def _after_name(head: bytes) -> int:
    """Return where the name at the start of a message ends.

    0 where there is none, -1 where it is no text or does not end.
    """
    if head[:1] != bytes([_NAME_TAG]):
        return 0
    size, at = _length(head, 1)
    name = head[at : at + size]
    if at == 0 or len(name) < size or _NOT_TEXT.search(name):
        return -1
    return at + size


def _starts_row(head: bytes, at: int, tag: int, inside: frozenset[int]) -> bool:
    if head[at : at + 1] != bytes([tag]):
        return False
    size, start = _length(head, at + 1)
    return start > 0 and size > 0 and start < len(head) and head[start] in inside


def _nested(head: bytes) -> bool:
    """Return whether the first state is one, and ends before another.

    It begins with a field that fits into it, and ends before another state or the end.
    """
    size, start = _length(head, 1)
    inner, after = _length(head, start + 1)
    if after == 0 or after + inner > start + size:
        return False
    end = start + size
    return end >= len(head) or head[end] == _STATE_TAG
