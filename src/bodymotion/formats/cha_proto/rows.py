"""Keyframes as messages: the field that each column has, and tables of numbers to and from the bytes and the text of many keyframes.

A `Layout` is the message of one keyframe with gaps for its numbers. Protobuf writes it once; NumPy fills in the numbers of all
keyframes that have the same fields. Making 36 000 messages number by number would take as long as the vendor's converter.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from bodymotion.animation import GROUPS, LEGS, Keyframes
from bodymotion.formats.cha_proto.messages import MESSAGES, ROWS, Field, message_class
from bodymotion.geometry.arrays import Floats

TIME = "time"

Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.intp]

_CHUNK_ROWS = 4096
_MAX_LAYOUTS = 64
"""So many layouts of one length are remembered while rows are read."""


def _paths() -> dict[str, str]:
    joints = ("shoulder_0", "shoulder_1", "elbow_0", "elbow_1", "wrist_0", "wrist_1")
    paths = {"gripper": "gripper.gripper_angle.value"}
    paths |= {c: f"arm.joint_angles.{j}.value" for c, j in zip(GROUPS["arm_joints"], joints, strict=True)}
    for part, position, orientation in (
        ("hand", "arm.hand_pose.position", "arm.hand_pose"),
        ("body", "body.body_pos", "body"),
        ("com", "body.com_pos", ""),
    ):
        paths |= {f"{part}_{axis}": f"{position}.{axis}.value" for axis in "xyz"}
        if orientation:
            paths |= {f"{part}_quat_{axis}": f"{orientation}.quaternion.{axis}" for axis in "wxyz"}
            paths |= {
                f"{part}_{angle}": f"{orientation}.euler_angles.{angle}.value" for angle in ("roll", "pitch", "yaw")
            }
    for leg in LEGS:
        for column, joint in (("hx", "hip_x"), ("hy", "hip_y"), ("kn", "knee")):
            paths[f"{leg}_{column}"] = f"legs.{leg}.joint_angles.{joint}"
        paths |= {f"{leg}_{axis}": f"legs.{leg}.foot_pos.{axis}.value" for axis in "xyz"}
    paths |= {f"{leg}_contact": f"legs.{leg}.stance.value" for leg in LEGS}
    return paths


PATHS: Mapping[str, str] = _paths()
"""The path of each column through AnimationKeyframe, in the order in which a reader returns columns."""


def _parents(path: str) -> list[str]:
    """Return the paths of the messages that a number is in, the outermost first, without the keyframe itself."""
    parts = path.split(".")[:-1]
    return [".".join(parts[: k + 1]) for k in range(len(parts))]


def _fields(message: str, path: str = "") -> Iterator[tuple[str, Field]]:
    """Return the fields of a message and of those within it, each with its path, in the order of field numbers."""
    for name, one in sorted(MESSAGES[message].items(), key=lambda item: item[1].number):
        yield path + name, one
        if one.kind in MESSAGES:
            yield from _fields(one.kind, f"{path}{name}.")


@cache
def rivals(kind: str) -> Mapping[str, str]:
    """Return, for each message within a row of `kind` that is a member of a oneof, the other member: `body.body_pos` and `body.com_pos`."""
    members: dict[tuple[str, str], list[str]] = {}
    for path, one in _fields(kind):
        if one.choice:
            members.setdefault((path.rpartition(".")[0], one.choice), []).append(path)
    return {one: other for first, second in members.values() for one, other in ((first, second), (second, first))}


@cache
def _leaves(kind: str) -> tuple[str, ...]:
    """Return the paths of all numbers of a row, in the order of field numbers."""
    return tuple(path for path, one in _fields(kind) if one.kind not in MESSAGES)


@dataclass(frozen=True)
class Columns:
    """The columns that a message holds.

    Attributes
    ----------
    fields:
        The column, as its index in the table, by the path of its field.
    parents:
        The paths of the messages that these fields are in.
    grouped:
        The indices of the columns of the groups of the header.
    dropped:
        The names of the columns that a later one excludes.
    unknown:
        The names that are no columns.
    """

    fields: Mapping[str, int]
    parents: tuple[str, ...]
    grouped: frozenset[int]
    dropped: tuple[str, ...]
    unknown: tuple[str, ...]


def message_columns(keyframes: Keyframes) -> Columns:
    """Return the columns that a message holds: of those that exclude each other the last one, as when each field is set in turn."""
    other_of = rivals("AnimationKeyframe")
    held: dict[str, int] = {}
    for index, name in enumerate(keyframes.columns):
        if name not in PATHS:
            continue
        excluded = tuple(f"{other_of[parent]}." for parent in _parents(PATHS[name]) if parent in other_of)
        held = {path: column for path, column in held.items() if not path.startswith(excluded or ("\0",))}
        held[PATHS[name]] = index
    kept = set(held.values())
    return Columns(
        held,
        tuple(dict.fromkeys(parent for path in held for parent in _parents(path))),
        _grouped(keyframes),
        tuple(name for k, name in enumerate(keyframes.columns) if k not in kept and name in PATHS),
        tuple(name for name in keyframes.columns if name not in PATHS),
    )


def _grouped(keyframes: Keyframes) -> frozenset[int]:
    """Return the indices of the columns of the groups of the header; of all columns where there is no header."""
    if not keyframes.header:
        return frozenset(range(len(keyframes.columns)))
    grouped: set[int] = set()
    index = 0
    for keyword in keyframes.header:
        if keyword == TIME:
            continue
        width = len(GROUPS.get(keyword, ("",)))
        if keyword in GROUPS:
            grouped.update(range(index, index + width))
        index += width
    return frozenset(grouped)


def gap(number: int) -> float:
    """Return the value that marks a gap of a layout: no number of a real file has its bytes or its digits."""
    return 98765432109870.5 + number


@dataclass(frozen=True)
class Layout:
    """A message with gaps for numbers.

    Attributes
    ----------
    wire:
        (L,) the bytes.
    gaps:
        (K, 8) the indices of the bytes of each number.
    """

    wire: npt.NDArray[np.uint8]
    gaps: Numbers

    @staticmethod
    def of(message: Any, count: int) -> Layout | None:  # noqa: ANN401
        """Return the layout of a message in which the numbers are `gap(0)`, `gap(1)` …; None where one of these is missing."""
        wire = message.SerializeToString(deterministic=True)
        begins = [wire.find(struct.pack("<d", gap(k))) for k in range(count)]
        if -1 in begins:
            return None
        return Layout(np.frombuffer(wire, np.uint8), np.array(begins, np.intp).reshape(-1, 1) + np.arange(8))

    def fill(self, numbers: Floats) -> npt.NDArray[np.uint8]:
        """Return the bytes (N, L) of messages with `numbers` (N, K)."""
        messages = np.tile(self.wire, (len(numbers), 1))
        if len(self.gaps):
            messages[:, self.gaps] = np.ascontiguousarray(numbers, "<f8").view(np.uint8).reshape(*numbers.shape, 8)
        return messages

    def numbers(self, messages: npt.NDArray[np.uint8]) -> tuple[Flags, Floats]:
        """Return which of `messages` (N, L) have this layout, and the numbers (M, K) of these."""
        fixed = np.ones(len(self.wire), np.bool_)
        fixed[self.gaps] = False
        same = np.asarray((messages[:, fixed] == self.wire[fixed]).all(axis=1))
        found = np.ascontiguousarray(messages[same][:, self.gaps]).reshape(int(same.sum()), 8 * len(self.gaps))
        return same, np.asarray(found.view("<f8") if len(self.gaps) else np.zeros(found.shape), np.float64)


def keyframe_rows(times: Floats, values: Floats, columns: Columns, *, as_text: bool) -> Iterator[bytes]:
    """Return the keyframes of a message Animation, tag and length included, in pieces: as bytes, or as text in UTF-8."""
    table = np.column_stack([times, *(values[:, index] for index in columns.fields.values())])
    paths = (TIME, *columns.fields)
    is_flag = np.array([path.endswith("stance.value") for path in paths])
    written = np.where(is_flag, np.abs(table) >= 1, np.ascontiguousarray(table).view(np.uint64) != 0)
    patterns = np.packbits(written, axis=1)
    keys = patterns.view(f"V{patterns.shape[1]}").ravel().tolist()
    layouts: dict[bytes, tuple[Layout, str, Numbers]] = {}
    for start in range(0, len(table), _CHUNK_ROWS):
        alike: dict[bytes, list[int]] = {}
        for k, key in enumerate(keys[start : start + _CHUNK_ROWS], start):
            alike.setdefault(key, []).append(k)
        rows: dict[int, bytes] = {}
        for key, chosen in alike.items():
            pattern = written[chosen[0]]
            if key not in layouts:
                layouts[key] = _keyframe_layout(paths, columns.parents, is_flag, pattern)
            layout, text, printed = layouts[key]
            if as_text:
                for k, numbers in zip(chosen, table[chosen][:, printed].tolist(), strict=True):
                    rows[k] = (text % tuple(numbers)).encode()
            else:
                for k, content in zip(chosen, layout.fill(table[chosen][:, pattern & ~is_flag]), strict=True):
                    rows[k] = content.tobytes()
        if len(layouts) > _CHUNK_ROWS:
            layouts.clear()
        yield b"".join(map(rows.__getitem__, sorted(rows)))


def _keyframe_layout(
    paths: Sequence[str], parents: Sequence[str], is_flag: Flags, pattern: Flags
) -> tuple[Layout, str, Numbers]:
    """Return the layout of a keyframe that has the fields of `pattern`, its text with a %r at each gap, and the indices of these
    numbers.
    """
    from google.protobuf import text_format

    animation = message_class("Animation")()
    row = animation.animation_keyframes.add()
    for parent in parents:
        attrgetter(parent)(row).SetInParent()
    numbers: list[int] = []
    for index in np.flatnonzero(pattern).tolist():
        _set(row, paths[index], True if is_flag[index] else gap(len(numbers)))
        numbers += [] if is_flag[index] else [index]
    layout = Layout.of(animation, len(numbers))
    assert layout is not None, "each gap is written"
    text = text_format.MessageToString(animation)
    order = sorted(range(len(numbers)), key=lambda k: text.index(repr(gap(k))))
    for k in order:
        text = text.replace(repr(gap(k)), "%r")
    return layout, text, np.array([numbers[k] for k in order], np.intp)


def _set(message: Any, path: str, value: float) -> None:  # noqa: ANN401
    parent, _, name = path.rpartition(".")
    setattr(attrgetter(parent)(message) if parent else message, name, value)


@dataclass(frozen=True)
class Table:
    """The rows of a message as a table.

    Attributes
    ----------
    parents:
        The paths of the messages that are in any row.
    columns:
        The paths of the numbers that are in any row.
    values, held:
        (N, C) the numbers, and whether each is there.
    """

    parents: frozenset[str]
    columns: tuple[str, ...]
    values: Floats
    held: Flags

    def column(self, path: str) -> Floats:
        """Return the numbers (N,) of a column; zeros where no row has it."""
        return self.values[:, self.columns.index(path)] if path in self.columns else np.zeros(len(self.values))


_Key = tuple[frozenset[str], tuple[str, ...]]


class TableReader:
    """Reads rows of bytes into a table.

    Parameters
    ----------
    kind:
        The message that the rows are in, a key of `ROWS`.
    """

    def __init__(self, kind: str) -> None:
        self.kind = ROWS[kind][1]
        self.count = 0
        self.with_unknown = 0
        """How many rows have fields that are not in the table of messages."""
        self._class = message_class(self.kind)
        self._layouts: dict[int, list[tuple[Layout, _Key]]] = {}
        self._found: dict[_Key, list[tuple[Numbers, Floats]]] = {}

    def read(self, rows: Sequence[bytes]) -> None:
        """Read further rows.

        Raises
        ------
        google.protobuf.message.DecodeError
            When a row is no message; `count` is then its index.
        """
        first = self.count
        by_length: dict[int, list[int]] = {}
        for k, row in enumerate(rows):
            by_length.setdefault(len(row), []).append(k)
        for length, chosen in by_length.items():
            messages = np.frombuffer(b"".join([rows[k] for k in chosen]), np.uint8).reshape(len(chosen), length)
            indices = first + np.array(chosen, np.intp)
            for layout, key in self._layouts.get(length, ()):
                messages, indices = self._take(layout, key, messages, indices)
            while len(indices):
                self.count = int(indices[0])
                found = self._parse(messages[0].tobytes(), indices[:1])
                messages, indices = messages[1:], indices[1:]
                if found is not None:
                    messages, indices = self._take(*found, messages, indices)
        self.count = first + len(rows)

    def _take(
        self, layout: Layout, key: _Key, messages: npt.NDArray[np.uint8], indices: Numbers
    ) -> tuple[npt.NDArray[np.uint8], Numbers]:
        """Keep the numbers of the messages that have a layout; return the other messages."""
        same, numbers = layout.numbers(messages)
        if not same.any():
            return messages, indices
        constants = np.ones((len(numbers), len(key[1]) - numbers.shape[1]))
        self._found[key].append((indices[same], np.hstack([numbers, constants])))
        return messages[~same], indices[~same]

    def _parse(self, row: bytes, index: Numbers) -> tuple[Layout, _Key] | None:
        """Read one row by protobuf; return its layout where rows like it may follow."""
        message = self._class.FromString(row)
        size = message.ByteSize()
        message.DiscardUnknownFields()
        self.with_unknown += message.ByteSize() < size
        parents: set[str] = set()
        numbers: dict[str, float] = {}
        others: dict[str, float] = {}
        _walk(message, "", parents, numbers, others)
        key = frozenset(parents), (*numbers, *others)
        self._found.setdefault(key, []).append((index, np.array([[*numbers.values(), *others.values()]], np.float64)))
        known = self._layouts.setdefault(len(row), [])
        if (
            message.SerializeToString(deterministic=True) != row
            or set(others.values()) - {1.0}
            or len(known) >= _MAX_LAYOUTS
        ):
            return None
        for k, path in enumerate(numbers):
            _set(message, path, gap(k))
        layout = Layout.of(message, len(numbers))
        if layout is None:
            return None
        known.append((layout, key))
        return known[-1]

    @property
    def columns(self) -> tuple[str, ...]:
        """The paths of the numbers that are in any of the rows."""
        parents = {"", *(parent for key, _ in self._found for parent in key)} if self._found else set()
        return tuple(path for path in _leaves(self.kind) if path.rpartition(".")[0] in parents)

    def table(self) -> Table:
        """Return all rows as a table."""
        columns = self.columns
        values = np.zeros((self.count, len(columns)))
        held = np.zeros((self.count, len(columns)), np.bool_)
        for (parents, paths), pieces in self._found.items():
            there = np.array([path.rpartition(".")[0] in {"", *parents} for path in columns])
            order = [columns.index(path) for path in paths]
            for indices, numbers in pieces:
                held[indices] = there
                values[indices[:, None], order] = numbers
        return Table(frozenset(parent for key, _ in self._found for parent in key), columns, values, held)


def _walk(
    message: Any,  # noqa: ANN401
    path: str,
    parents: set[str],
    numbers: dict[str, float],
    others: dict[str, float],
) -> None:
    """Collect the messages within a row, and its numbers: floating-point ones, and whole ones and flags."""
    for field, value in message.ListFields():
        name = path + field.name
        if field.message_type is not None:
            parents.add(name)
            _walk(value, f"{name}.", parents, numbers, others)
        elif isinstance(value, float):
            numbers[name] = value
        else:
            others[name] = float(value)
