"""Compiled loops between tables of keyframes and the wire format.

A row is a record of the animation: tag, length, and the message. A first loop measures the records, a second one writes each in its place,
so that threads can share the work; reading looks first for what is there at all, then fills a table of just that.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bodymotion.formats.cha_proto.trees import BOOL, CLOCK, DOUBLE, INTEGER, MESSAGE
from bodymotion.geometry.arrays import Floats
from bodymotion.kernels.compiling import inlined, kernel

__all__ = ["find_rows", "measure", "read_rows", "write"]

Numbers = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]

VARINT, FIXED64, BLOCK, FIXED32 = 0, 1, 2, 5
"""The wire types that are still in use."""
LAST_FIELD = (1 << 29) - 1
"""No field has a higher number."""


@inlined
def _varint_size(x: int) -> int:
    size = 1
    while x >= 128:
        x >>= 7
        size += 1
    return size


@inlined
def _put_varint(out: Bytes, at: int, x: int) -> int:
    while x >= 128:
        out[at] = (x & 127) | 128
        x >>= 7
        at += 1
    out[at] = x
    return at + 1


@inlined
def _put_double(out: Bytes, at: np.uint64, x: np.uint64) -> None:
    """Write eight bytes; without a loop, and at a place that cannot be negative, the compiler makes one store of them."""
    out[at] = x
    out[at + np.uint64(1)] = x >> np.uint64(8)
    out[at + np.uint64(2)] = x >> np.uint64(16)
    out[at + np.uint64(3)] = x >> np.uint64(24)
    out[at + np.uint64(4)] = x >> np.uint64(32)
    out[at + np.uint64(5)] = x >> np.uint64(40)
    out[at + np.uint64(6)] = x >> np.uint64(48)
    out[at + np.uint64(7)] = x >> np.uint64(56)


@inlined
def _sizes(program: Numbers, clock: Bits, values: Floats, bits: Bits, row: int, sizes: Numbers) -> int:
    """Fill `sizes` (K,) with what each entry takes, tag and length left out; give that of the whole row, with both."""
    for k in range(program.shape[0]):
        sizes[k] = 0
    for k in range(program.shape[0] - 1, 0, -1):
        kind, owner, column = program[k, 0], program[k, 2], program[k, 3]
        if kind == MESSAGE:
            sizes[owner] += 1 + _varint_size(sizes[k]) + sizes[k]
        elif kind == DOUBLE:
            if (clock[row] if column == CLOCK else bits[row, column]) != 0:
                sizes[k] = 8
                sizes[owner] += 9
        elif abs(values[row, column]) >= 1.0:
            sizes[k] = 1
            sizes[owner] += 2
    whole: int = sizes[0]
    return 1 + _varint_size(whole) + whole


@kernel
def measure(program: Numbers, clock: Bits, values: Floats, bits: Bits, lengths: Numbers) -> None:
    """Fill `lengths` (N,) with the bytes of each row's record.

    `program` (K, 4): what an entry is, its tag, the entry of the message that holds it, and its column of `values` (N, C), or CLOCK for
    the time. The first entry is the row itself. `clock` (N,) and `bits` (N, C) are times and values as whole numbers: a plain number is
    written unless all its bits are 0.
    """
    sizes = np.empty(program.shape[0], np.int64)
    for row in range(lengths.shape[0]):
        lengths[row] = _sizes(program, clock, values, bits, row, sizes)


@kernel
def write(program: Numbers, clock: Bits, values: Floats, bits: Bits, starts: Numbers, out: Bytes) -> None:
    """Write the records of all rows into `out`, each from its place in `starts` (N,) on; the arguments are as in `measure`."""
    sizes = np.empty(program.shape[0], np.int64)
    for row in range(starts.shape[0]):
        _sizes(program, clock, values, bits, row, sizes)
        at = starts[row]
        for k in range(program.shape[0]):
            if program[k, 0] == MESSAGE:
                out[at] = program[k, 1]
                at = _put_varint(out, at + 1, sizes[k])
            elif sizes[k] == 8:
                out[at] = program[k, 1]
                x = clock[row] if program[k, 3] == CLOCK else bits[row, program[k, 3]]
                _put_double(out, np.uint64(at + 1), x)
                at += 9
            elif sizes[k] == 1:
                out[at] = program[k, 1]
                out[at + 1] = 1
                at += 2


@inlined
def _varint(data: Bytes, at: int, stop: int) -> tuple[Any, int]:
    """Return a varint's 64 bits, as a signed number, and where it ends; -1 for an end: it is cut off or too long."""
    value = np.int64(0)
    shift = 0
    while at < stop and shift < 70:
        byte = np.int64(data[at])
        at += 1
        if shift < 64:
            value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
    return value, -1


@inlined
def _skipped(data: Bytes, at: int, stop: int, wire: int) -> int:
    """Return where a value of this wire type ends; -1 when it is cut off, or of no type that is in use."""
    if wire == VARINT:
        return _varint(data, at, stop)[1]
    if wire in (FIXED64, FIXED32):
        end = at + (8 if wire == FIXED64 else 4)
        return end if end <= stop else -1
    if wire == BLOCK:
        size, start = _varint(data, at, stop)
        return start + size if start >= 0 and 0 <= size <= stop - start else -1
    return -1


@kernel
def find_rows(data: Bytes, number: int, spans: Numbers, rest: Bytes) -> tuple[int, int, int]:
    """Go through the fields of the outermost message: those of `number` are rows, all others the rest.

    Fills `spans` (N, 2), from where to where each row goes, and `rest` with the bytes of all other fields, unless these are empty. Gives
    how many rows there are, how many bytes of other fields, and where the data is at fault, or -1.
    """
    rows, others, at, stop = 0, 0, 0, data.shape[0]
    while at < stop:
        start = at
        key, after = _varint(data, at, stop)
        field = key >> 3
        if after < 0 or field < 1 or field > LAST_FIELD:
            return rows, others, start
        at = _skipped(data, after, stop, key & 7)
        if at < 0:
            return rows, others, start
        if field == number and key & 7 == BLOCK:
            if spans.shape[0]:
                spans[rows, 0] = _varint(data, after, stop)[1]
                spans[rows, 1] = at
            rows += 1
        else:
            if rest.shape[0]:
                for n in range(start, at):
                    rest[others + n - start] = data[n]
            others += at - start
    return rows, others, -1


@inlined
def _clear(node: int, tables: Numbers, present: Bytes, row: Floats) -> None:
    for n in range(node, tables[node, 1]):
        present[n] = 0
    for s in range(tables[node, 2], tables[node, 3]):
        row[s] = 0.0


@kernel
def read_rows(
    data: Bytes,
    doubles: Bytes,
    spans: Numbers,
    kinds: Numbers,
    targets: Numbers,
    tables: Numbers,
    owners: Numbers,
    columns: Numbers,
    seen: Bytes,
    values: Floats,
    held: Bytes,
) -> tuple[int, int, int]:
    """Read rows by the tables of their tree (`RowTree`).

    Fills `seen` (M,) with the nodes that any row has; where `values` (N, C) and `held` (N, C) have columns, these too: the numbers of the
    slots `columns` (C,), and whether each is there. `doubles` is room for eight bytes. Gives where the data is at fault, or -1; how many
    fields were unknown; and in how many rows.
    """
    nodes = kinds.shape[0]
    present = np.zeros(nodes, np.uint8)
    row = np.zeros(owners.shape[0])
    number = doubles.view(np.float64)
    node_stack = np.zeros(16, np.int64)
    stop_stack = np.zeros(16, np.int64)
    unknown, in_rows = 0, 0
    for r in range(spans.shape[0]):
        _clear(0, tables, present, row)
        before = unknown
        present[0] = 1
        depth, at = 0, spans[r, 0]
        node_stack[0], stop_stack[0] = 0, spans[r, 1]
        while depth >= 0:
            node, stop = node_stack[depth], stop_stack[depth]
            if at >= stop:
                depth -= 1
                continue
            start = at
            key, at = _varint(data, at, stop)
            field, wire = key >> 3, key & 7
            if at < 0 or field < 1 or field > LAST_FIELD:
                return start, unknown, in_rows
            kind = kinds[node, field] if field < kinds.shape[1] else 0
            if kind == MESSAGE and wire == BLOCK:
                size, at = _varint(data, at, stop)
                if at < 0 or size < 0 or size > stop - at:
                    return start, unknown, in_rows
                child = targets[node, field]
                rival = tables[child, 0]
                if rival >= 0 and present[rival]:
                    _clear(rival, tables, present, row)
                present[child] = 1
                depth += 1
                node_stack[depth], stop_stack[depth] = child, at + size
            elif kind == DOUBLE and wire == FIXED64:
                if stop - at < 8:
                    return start, unknown, in_rows
                for n in range(8):
                    doubles[n] = data[at + n]
                row[targets[node, field]] = number[0]
                at += 8
            elif kind in (BOOL, INTEGER) and wire == VARINT:
                whole, at = _varint(data, at, stop)
                if at < 0:
                    return start, unknown, in_rows
                row[targets[node, field]] = (1.0 if whole != 0 else 0.0) if kind == BOOL else float(whole)
            else:
                at = _skipped(data, at, stop, wire)
                if at < 0:
                    return start, unknown, in_rows
                unknown += 1
        if unknown > before:
            in_rows += 1
        for n in range(nodes):
            seen[n] |= present[n]
        for c in range(values.shape[1]):
            values[r, c] = row[columns[c]]
            held[r, c] = present[owners[columns[c]]]
    return -1, unknown, in_rows
