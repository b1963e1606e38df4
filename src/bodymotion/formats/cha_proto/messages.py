"""Messages outside of the keyframes, as nested dictionaries, to and from the wire format. They are small: plain Python does."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

from bodymotion.formats.cha_proto.fields import ENUMS, MESSAGES, Field

__all__ = ["Tree", "WireError", "from_wire", "to_wire", "varint"]

Tree = dict[str, Any]
"""A message: scalars, and messages as trees of their own, by the names of fields."""

_WHOLE = ("int32", "int64", "bool", *ENUMS)
_VARINT, _FIXED64, _BLOCK, _FIXED32 = 0, 1, 2, 5
_TEXT_LIMIT = 64
"""So many bytes of a bad text are shown."""


class WireError(ValueError):
    """The bytes are no such message; the text says why."""


def varint(value: int) -> bytes:
    """Return a whole number as a varint; a negative one as its 64 bits."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def to_wire(message: str, tree: Mapping[str, Any]) -> bytes:
    """Return a message as bytes, in order of field number; plain values that are 0, False or empty are left out."""
    fields = MESSAGES[message]
    return b"".join(_field(fields[name], tree[name]) for name in sorted(tree, key=lambda name: fields[name].number))


def _field(one: Field, value: Any) -> bytes:  # noqa: ANN401
    if one.kind in MESSAGES:
        content = to_wire(one.kind, value)
    elif one.kind == "string":
        content = value.encode("utf-8")
        if not content:
            return b""
    elif one.kind == "double":
        bits = struct.pack("<d", value)
        return varint(one.number << 3 | _FIXED64) + bits if any(bits) else b""
    else:
        return varint(one.number << 3 | _VARINT) + varint(int(value)) if value else b""
    return varint(one.number << 3 | _BLOCK) + varint(len(content)) + content


def from_wire(message: str, data: bytes) -> tuple[Tree, list[str]]:
    """Read a message without repeated fields; gives it and the names of what is unknown in it. A field that comes again adds to the first.

    Raises
    ------
    WireError
        When the bytes are no message, or a text is not UTF-8.
    """
    tree: Tree = {}
    unknown: dict[str, None] = {}
    _read(message, data, tree, unknown, "")
    return tree, list(unknown)


def _read(message: str, data: bytes, tree: Tree, unknown: dict[str, None], path: str) -> None:
    names = {one.number: (name, one) for name, one in MESSAGES[message].items()}
    at = 0
    while at < len(data):
        key, at = _read_varint(data, at)
        number, wire = key >> 3, key & 7
        content: bytes | int
        if wire == _VARINT:
            content, at = _read_varint(data, at)
        elif wire == _BLOCK:
            size, at = _read_varint(data, at)
            content, at = _taken(data, at, size)
        elif wire in (_FIXED64, _FIXED32):
            content, at = _taken(data, at, 8 if wire == _FIXED64 else 4)
        else:
            raise WireError(f"field {number} is of wire type {wire}, which is not in use")
        name, one = names.get(number, ("", None))
        if number == 0:
            raise WireError("there is no field 0")
        where = f"{path}{name or number}"
        if one is None:
            unknown[where] = None
        elif one.kind in MESSAGES and wire == _BLOCK and isinstance(content, bytes):
            _read(one.kind, content, tree.setdefault(name, {}), unknown, f"{where}.")
        elif one.kind == "string" and wire == _BLOCK and isinstance(content, bytes):
            tree[name] = _text(content, where)
        elif one.kind == "double" and wire == _FIXED64 and isinstance(content, bytes):
            tree[name] = struct.unpack("<d", content)[0]
        elif one.kind in _WHOLE and wire == _VARINT and isinstance(content, int):
            tree[name] = _whole(one.kind, content)
        else:
            unknown[where] = None


def _whole(kind: str, bits: int) -> int | bool:
    if kind == "bool":
        return bits != 0
    size = 64 if kind == "int64" else 32
    bits &= (1 << size) - 1
    return bits - (1 << size) if bits >> (size - 1) else bits


def _text(content: bytes, where: str) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise WireError(f"the text {where} is not UTF-8: {content[:_TEXT_LIMIT]!r}") from error


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for count in range(10):
        if at + count >= len(data):
            break
        byte = data[at + count]
        value |= (byte & 127) << 7 * count
        if byte < 128:
            return value & (1 << 64) - 1, at + count + 1
    raise WireError("a number is cut off or too long")


def _taken(data: bytes, at: int, size: int) -> tuple[bytes, int]:
    if size > len(data) - at:
        raise WireError(f"{size} bytes are announced, {len(data) - at} are left")
    return data[at : at + size], at + size
