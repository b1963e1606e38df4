"""From an animation to the vendor's message, as bytes: no package of the vendor's is needed for that."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bodymotion.animation import Animation
from bodymotion.diagnostics import Problem, losses
from bodymotion.formats.cha_proto.columns import TIME, Columns, message_columns
from bodymotion.formats.cha_proto.heading import TINY, heading
from bodymotion.formats.cha_proto.messages import to_wire, varint
from bodymotion.formats.cha_proto.trees import CLOCK, DOUBLE, MESSAGE, Numbers, row_tree
from bodymotion.geometry.arrays import Floats

__all__ = ["column_losses", "complete", "encoded", "message_times", "message_values", "to_bytes"]

MANY = 1 << 15
"""From so many numbers on compiled code writes them; to load the compiler takes longer than to write fewer."""


def to_bytes(animation: Animation, *, move_params_config: str | Path | None = None) -> bytes:
    """Return an animation as the bytes of the vendor's message Animation, just as the robot gets them.

    Parameters
    ----------
    animation:
        What is written. Of columns that exclude each other the message holds the last ones. A zero becomes 1e-6, as the vendor's converter
        does it, except in columns of groups where it is not the bare text 0 (`Keyframes.exact_zeros`).
    move_params_config:
        The robot's MoveParamsConfig, its text or a file: the limits of parameters that the animation only names.

    Raises
    ------
    ValueError
        When a parameter is only named, and its limits are not in `move_params_config`.
    """
    data, problems = encoded(animation, move_params_config)
    complete(problems)
    return data


def complete(problems: list[Problem]) -> None:
    """Raise ValueError when parameters lack limits: nothing that is sent to a robot may leave them out in silence."""
    lacking = [problem.message for problem in problems if problem.rule == losses.NO_LIMITS.code]
    if lacking:
        raise ValueError(f"{'; '.join(lacking)}: move_params_config=… gives the robot's")


def encoded(animation: Animation, config: str | Path | None = None) -> tuple[bytes, list[Problem]]:
    """Return the bytes of the message, and what it cannot hold."""
    tree, problems = heading(animation, config)
    columns = message_columns(animation.keyframes)
    problems += column_losses(animation, columns)
    before = to_wire("Animation", {"name": tree.pop("name")})
    after = to_wire("Animation", tree)
    return _with_records(before, message_times(animation), message_values(animation, columns), columns, after), problems


def column_losses(animation: Animation, columns: Columns) -> list[Problem]:
    """Say which columns the message does not hold as they are."""
    problems = [losses.NO_FIELD.problem(f"the column {name} has no field") for name in columns.unknown]
    if columns.dropped:
        problems.append(losses.EXCLUDED.problem(f"left out: {', '.join(columns.dropped)}"))
    for place in columns.places.values():
        name = animation.keyframes.columns[place]
        values = animation.keyframes.values[:, place]
        if name.endswith("_contact") and not np.isin(values, (0.0, 1.0)).all():
            problems.append(losses.WHOLE.problem(f"{name}: a foot is in stance from 1 on"))
    return problems


def message_times(animation: Animation) -> Floats:
    """Return the times (N,) [s] of the keyframes in the message.

    Those of the option `frequency` are summed up step by step, from 0; in a column `time` a zero becomes 1e-6.
    """
    keyframes = animation.keyframes
    frequency = animation.options.get("frequency")
    if TIME not in keyframes.header and isinstance(frequency, (int, float)) and frequency > 0 and len(keyframes):
        steps = np.full(len(keyframes), 1.0 / frequency)
        steps[0] = 0.0
        summed = np.cumsum(steps)
        if np.allclose(summed, keyframes.times, rtol=1e-9, atol=1e-9):
            return summed
        return keyframes.times
    return np.where(keyframes.times == 0, TINY, keyframes.times)


def message_values(animation: Animation, columns: Columns) -> Floats:
    """Return the numbers (N, C) of all columns as the message holds them: zeros as the vendor's converter writes them."""
    keyframes = animation.keyframes
    # Of contacts zero and tiny are the same.
    numbers = [place for place, name in enumerate(keyframes.columns) if not name.endswith("_contact")]
    zeros = keyframes.values == 0
    zeros[:, [place for place in range(zeros.shape[1]) if place not in numbers]] = False
    if keyframes.exact_zeros is not None:
        free = [place not in columns.grouped for place in range(zeros.shape[1])]
        zeros &= keyframes.exact_zeros | np.array(free, bool)
    if not zeros.any():
        return np.ascontiguousarray(keyframes.values)
    return np.where(zeros, TINY, keyframes.values)


def _program(columns: Columns) -> Numbers:
    """Return the entries of a keyframe's message in their order, as `row_kernels.measure` takes them."""
    tree = row_tree("AnimationKeyframe")
    nodes = {0, *columns.nodes}
    entries: list[tuple[int, int, int, int]] = []

    def add(node: int, tag: int, owner: int) -> None:
        place = len(entries)
        entries.append((MESSAGE, tag, owner, 0))
        for number, (kind, target) in tree.fields[node].items():
            if kind == MESSAGE:
                if target in nodes:
                    add(target, number << 3 | 2, place)
            elif tree.slots[target].path == TIME:
                entries.append((kind, number << 3 | 1, place, CLOCK))
            elif target in columns.places:
                entries.append((kind, number << 3 | int(kind == DOUBLE), place, columns.places[target]))

    add(0, 2 << 3 | 2, 0)
    return np.array(entries, np.int64)


def _with_records(before: bytes, times: Floats, values: Floats, columns: Columns, after: bytes) -> bytes:
    """Return the field of keyframes, a record for each row, between the bytes of other fields."""
    program = _program(columns)
    if values.size + len(times) < MANY:
        return b"".join((before, *_plain_records(program, times, values), after))

    from bodymotion.formats.cha_proto.row_kernels import measure, write
    from bodymotion.kernels.slices import in_slices

    count = len(times)
    clock, bits = np.ascontiguousarray(times).view(np.uint64), values.view(np.uint64)
    lengths = np.empty(count, np.int64)
    in_slices(count, lambda a, b: measure(program, clock[a:b], values[a:b], bits[a:b], lengths[a:b]))
    ends = np.cumsum(lengths) + len(before)
    starts = ends - lengths
    out = np.empty(int(ends[-1]) + len(after), np.uint8)
    out[: len(before)] = np.frombuffer(before, np.uint8)
    out[int(ends[-1]) :] = np.frombuffer(after, np.uint8)
    in_slices(count, lambda a, b: write(program, clock[a:b], values[a:b], bits[a:b], starts[a:b], out))
    return out.tobytes()


def _plain_records(program: Numbers, times: Floats, values: Floats) -> Iterator[bytes]:
    """Return the records of rows one by one, in plain Python."""
    entries: list[tuple[int, int, int, int]] = [tuple(entry) for entry in program.tolist()]
    for clock, row in zip(times.tolist(), values.tolist(), strict=True):
        contents = [b""] * len(entries)
        for place in range(len(entries) - 1, 0, -1):
            kind, tag, owner, column = entries[place]
            piece = b""
            if kind == MESSAGE:
                piece = bytes([tag]) + varint(len(contents[place])) + contents[place]
            elif kind == DOUBLE:
                bits = struct.pack("<d", clock if column == CLOCK else row[column])
                piece = bytes([tag]) + bits if any(bits) else b""
            elif abs(row[column]) >= 1:
                piece = bytes([tag, 1])
            contents[owner] = piece + contents[owner]
        yield bytes([entries[0][1]]) + varint(len(contents[0])) + contents[0]
