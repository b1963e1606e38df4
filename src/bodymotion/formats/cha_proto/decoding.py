"""Messages read from bytes of the wire format."""

from __future__ import annotations

import numpy as np

from bodymotion.diagnostics import Location
from bodymotion.formats.cha_proto.fields import MESSAGES
from bodymotion.formats.cha_proto.messages import WireError, from_wire
from bodymotion.formats.cha_proto.recording import KINDS, Recording, check_size
from bodymotion.formats.cha_proto.rules import SPARSE, WIRE
from bodymotion.formats.cha_proto.trees import row_tree

__all__ = ["decode"]

_OUTSIDE = 1 << 20
"""No more bytes than this may lie outside of the rows."""


def decode(data: bytes, kind: str, location: Location | None = None) -> Recording:
    """Read an Animation or a ChoreographyStateLog from bytes.

    Raises
    ------
    FormatError
        When they are no message (CAP001), or hold next to nothing in many rows (CAP004).
    """
    from bodymotion.formats.cha_proto.row_kernels import find_rows, read_rows

    location = location or Location()
    outer, inner = KINDS[kind]
    raw = np.frombuffer(data, np.uint8)
    none = np.zeros(0, np.uint8)
    number = MESSAGES[kind][outer].number
    count, others, fault = find_rows(raw, number, np.zeros((0, 2), np.int64), none)
    if fault >= 0:
        raise WIRE.error(f"no field, or one that is cut off, at byte {fault}", location)
    if others > _OUTSIDE:
        raise SPARSE.error(f"{others} bytes outside of keyframes", location)
    check_size(count, 1, len(data), location)
    spans, rest = np.zeros((count, 2), np.int64), np.zeros(others, np.uint8)
    find_rows(raw, number, spans, rest)
    try:
        tree, unknown = from_wire(kind, rest.tobytes())
    except WireError as error:
        raise WIRE.error(str(error), location) from None

    rows = row_tree(inner)
    doubles, seen = np.zeros(8, np.uint8), np.zeros(len(rows.nodes), np.uint8)
    given = (raw, doubles, spans, *rows.tables, rows.owners)
    no_table = np.zeros((count, 0))
    fault, _, _ = read_rows(*given, np.zeros(0, np.int64), seen, no_table, no_table.astype(np.uint8))
    if fault >= 0:
        raise WIRE.error(f"no field, or one that is cut off, at byte {fault} in a keyframe", location)
    slots = np.array([place for place, slot in enumerate(rows.slots) if seen[slot.owner]], np.int64)
    check_size(count, len(slots), len(data), location)
    values, held = np.zeros((count, len(slots))), np.zeros((count, len(slots)), np.uint8)
    _, _, in_rows = read_rows(*given, slots, seen, values, held)
    recording = Recording(
        kind,
        tree,
        count,
        frozenset(node.path for node, there in zip(rows.nodes, seen, strict=True) if there),
        tuple(rows.slots[place].path for place in slots),
        values,
        held.view(np.bool_),
        location=location,
    )
    recording.say_unknown(unknown, in_rows)
    return recording
