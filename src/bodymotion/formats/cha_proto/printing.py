"""Messages in the protobuf text format, as the vendor's tools print them: two blanks a level, fields in order of number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bodymotion.animation import Animation
from bodymotion.diagnostics import Problem
from bodymotion.formats.cha_proto.columns import TIME, Columns, message_columns
from bodymotion.formats.cha_proto.encoding import column_losses, complete, message_times, message_values
from bodymotion.formats.cha_proto.fields import ENUMS, MESSAGES
from bodymotion.formats.cha_proto.heading import heading
from bodymotion.formats.cha_proto.trees import BOOL, DOUBLE, MESSAGE, row_tree
from bodymotion.geometry.arrays import Floats

__all__ = ["printed", "to_text"]

_PIECE = 1024
"""So many rows are turned into text at once."""
_LAYOUTS = 4096
"""So many patterns of zeros are remembered."""
_ESCAPES = {ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t", ord('"'): '\\"', ord("'"): "\\'", ord("\\"): "\\\\"}
_ESCAPES |= {code: f"\\{code:03o}" for code in (*range(32), 127) if code not in _ESCAPES}


def to_text(animation: Animation, *, move_params_config: str | Path | None = None) -> str:
    """Return an animation as the text of the vendor's message Animation: what a `.cap` file holds.

    Arguments and errors are those of `to_bytes`.
    """
    pieces, problems = printed(animation, move_params_config)
    complete(problems)
    return "".join(pieces)


def printed(animation: Animation, config: str | Path | None = None) -> tuple[Iterator[str], list[Problem]]:
    """Return the text of the message in pieces, and what it cannot hold."""
    tree, problems = heading(animation, config)
    columns = message_columns(animation.keyframes)
    problems += column_losses(animation, columns)
    table = np.column_stack((message_times(animation), message_values(animation, columns)))
    return _pieces(tree, table, columns), problems


def _pieces(tree: Mapping[str, Any], table: Floats, columns: Columns) -> Iterator[str]:
    yield _printed("Animation", {"name": tree["name"]}, "")
    yield from _rows(table, columns)
    yield _printed("Animation", {name: value for name, value in tree.items() if name != "name"}, "")


def _printed(message: str, tree: Mapping[str, Any], indent: str) -> str:
    """Return a message that has no rows as text."""
    lines: list[str] = []
    for name in sorted(tree, key=lambda name: MESSAGES[message][name].number):
        value, kind = tree[name], MESSAGES[message][name].kind
        if kind in MESSAGES:
            lines.append(f"{indent}{name} {{\n{_printed(kind, value, indent + '  ')}{indent}}}\n")
        elif kind in ENUMS:
            if value:
                lines.append(f"{indent}{name}: {next(n for n, v in ENUMS[kind].items() if v == value)}\n")
        elif kind == "string":
            if value:
                lines.append(f'{indent}{name}: "{value.translate(_ESCAPES)}"\n')
        elif kind == "double":
            if value != 0 or np.signbit(value):
                lines.append(f"{indent}{name}: {float(value)!r}\n")
        elif value:
            lines.append(f"{indent}{name}: {'true' if kind == 'bool' else int(value)}\n")
    return "".join(lines)


def _rows(table: Floats, columns: Columns) -> Iterator[str]:
    """Return the keyframes as text: each is a layout, which depends on what is zero, filled with numbers."""
    slots = _slots(columns)
    numbers = [place for _, kind, place in slots if kind == DOUBLE]
    flags = [place for _, kind, place in slots if kind == BOOL]
    order = [*numbers, *flags]
    layouts: dict[bytes, tuple[str, list[int]]] = {}
    for start in range(0, len(table), _PIECE):
        piece = table[start : start + _PIECE, order]
        there = np.empty(piece.shape, np.bool_)
        there[:, : len(numbers)] = np.ascontiguousarray(piece[:, : len(numbers)]).view(np.uint64) != 0
        there[:, len(numbers) :] = np.abs(piece[:, len(numbers) :]) >= 1
        whole: list[bool] = np.asarray(there[:, : len(numbers)].all(axis=1)).tolist()
        texts: list[str] = []
        rows = piece[:, : len(numbers)].tolist()
        for row, pattern, complete_row in zip(rows, there, whole, strict=True):
            key = pattern.tobytes()
            layout = layouts.get(key)
            if layout is None:
                if len(layouts) >= _LAYOUTS:
                    layouts.clear()
                layout = layouts[key] = _layout(columns, dict(zip(order, pattern.tolist(), strict=True)), numbers)
            text, kept = layout
            texts.append(text % tuple(row if complete_row else [row[n] for n in kept]))
        yield "".join(texts)


def _slots(columns: Columns) -> list[tuple[int, int, int]]:
    """Return slot, kind and place in the table of all numbers of a row, in their order."""
    tree = row_tree("AnimationKeyframe")
    given = {tree.slot_of[TIME]: 0, **{slot: 1 + place for slot, place in columns.places.items()}}
    return [(slot, tree.slots[slot].kind, given[slot]) for slot in sorted(given)]


def _layout(columns: Columns, there: Mapping[int, bool], numbers: list[int]) -> tuple[str, list[int]]:
    """Return the text of a keyframe with a %r for each number that is written, and which numbers these are."""
    tree = row_tree("AnimationKeyframe")
    places = {slot: place for slot, _, place in _slots(columns)}
    lines: list[str] = []
    kept: list[int] = []

    def add(node: int, name: str, indent: str) -> None:
        lines.append(f"{indent}{name} {{\n")
        by_number = {number: inner for inner, number in tree.names[node].items()}
        for number, (kind, target) in tree.fields[node].items():
            inner = by_number[number]
            if kind == MESSAGE:
                if target in columns.nodes:
                    add(target, inner, indent + "  ")
            elif target in places and there[places[target]]:
                if kind == DOUBLE:
                    kept.append(numbers.index(places[target]))
                lines.append(f"{indent}  {inner}: {'%r' if kind == DOUBLE else 'true'}\n")
        lines.append(f"{indent}}}\n")

    add(0, "animation_keyframes", "")
    return "".join(lines), kept
