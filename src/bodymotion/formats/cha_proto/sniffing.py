"""How a message is known by its first bytes.

Bytes: an animation's start with the tag and text of its name, or the tag of a keyframe; then comes the tag of a keyframe, which no text
file holds. A log's start with the tag of a state and its length. Text: a field of the message, and somewhere one of keyframes.
"""

from __future__ import annotations

import re

from bodymotion.formats.cha_proto.fields import MESSAGES

__all__ = ["is_bytes", "looks_like_animation_bytes", "looks_like_animation_text", "looks_like_log"]

_FIRST = re.compile(rb"(?:\xef\xbb\xbf)?(?:\s|#[^\n]*+\n)*+([a-z_]++)\s*+(?::\s*+)?[\w\"'{<\[.-]")
_ROWS = re.compile(rb"(?:^|[\s{}<>;,])(animation_keyframes|key_frames)\s*+(?::\s*+)?[{<\[]")
_OF_ANIMATION = {name.encode() for name in MESSAGES["Animation"]}
_NOT_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_NAME_TAG, _ROW_TAG, _STATE_TAG = 0x0A, 0x12, 0x0A
_IN_KEYFRAME = frozenset((0x09, 0x12, 0x1A, 0x22, 0x2A))
_IN_STATE = frozenset((0x0A, 0x12, 0x1A, 0x22))


def looks_like_animation_text(head: bytes) -> bool:
    """Whether the first bytes are those of a message Animation as text."""
    first = _FIRST.match(head)
    return first is not None and first[1] in _OF_ANIMATION and _rows(head) == b"animation_keyframes"


def looks_like_animation_bytes(head: bytes) -> bool:
    """Whether the first bytes are those of a message Animation."""
    at = 0
    if head[:1] == bytes([_NAME_TAG]):
        size, at = _length(head, 1)
        name = head[at : at + size]
        if at == 0 or len(name) < size or _NOT_TEXT.search(name):
            return False
        at += size
    return _starts_row(head, at, _ROW_TAG, _IN_KEYFRAME)


def looks_like_log(head: bytes) -> bool:
    """Whether the first bytes are those of a message ChoreographyStateLog, as bytes or text."""
    first = _FIRST.match(head)
    if first is not None and first[1] == b"key_frames":
        return _rows(head) == b"key_frames"
    return _starts_row(head, 0, _STATE_TAG, _IN_STATE) and _NOT_TEXT.search(head) is not None and _nested(head)


def is_bytes(data: bytes) -> bool:
    """Whether a file of a message is bytes rather than text: what no text holds is near its beginning."""
    return _NOT_TEXT.search(data[:4096]) is not None


def _rows(head: bytes) -> bytes:
    found = _ROWS.search(head)
    return b"" if found is None else found[1]


def _length(head: bytes, at: int) -> tuple[int, int]:
    """Return a length of up to four bytes, and where it ends; 0 for an end: there is none."""
    size = 0
    for n, byte in enumerate(head[at : at + 4]):
        size |= (byte & 127) << 7 * n
        if byte < 128:
            return size, at + n + 1
    return 0, 0


def _starts_row(head: bytes, at: int, tag: int, inside: frozenset[int]) -> bool:
    if head[at : at + 1] != bytes([tag]):
        return False
    size, start = _length(head, at + 1)
    return start > 0 and size > 0 and start < len(head) and head[start] in inside


def _nested(head: bytes) -> bool:
    """Whether the first state begins with a field that fits into it, and ends before another state or the end."""
    size, start = _length(head, 1)
    inner, after = _length(head, start + 1)
    if after == 0 or after + inner > start + size:
        return False
    end = start + size
    return end >= len(head) or head[end] == _STATE_TAG
