"""Keyframes as messages: the field that each column has, and tables of numbers to and from the bytes and the text of many keyframes.

A `Layout` is the message of one keyframe with gaps for its numbers. Protobuf writes it
once; NumPy fills in the numbers of all keyframes that have the same fields. Making 36
000 messages number by number would take as long as the vendor's converter.
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

from bodymotion.diagnostics import Location
from bodymotion.formats.rules import TOO_LARGE
from bodymotion.geometry.arrays import Bools, Floats, Indices
from bodymotion.motion.feet import LEGS
from bodymotion.spot.animation import GROUPS
from bodymotion.spot.cha_proto import rules
from bodymotion.spot.cha_proto.messages import MESSAGES, Field, message_class

TIME = "time"


_CHUNK_ROWS = 4096
_MAX_LAYOUTS = (
    64  # Maximum number of layouts of one length that are kept while rows are read.
)


def _paths() -> dict[str, str]:
    joints = ("shoulder_0", "shoulder_1", "elbow_0", "elbow_1", "wrist_0", "wrist_1")
    paths = {"gripper": "gripper.gripper_angle.value"}
    paths |= {
        c: f"arm.joint_angles.{j}.value"
        for c, j in zip(GROUPS["arm_joints"], joints, strict=True)
    }
    for part, position, orientation in (
        ("hand", "arm.hand_pose.position", "arm.hand_pose"),
        ("body", "body.body_pos", "body"),
        ("com", "body.com_pos", ""),
    ):
        paths |= {f"{part}_{axis}": f"{position}.{axis}.value" for axis in "xyz"}
        if orientation:
            paths |= {
                f"{part}_quat_{axis}": f"{orientation}.quaternion.{axis}"
                for axis in "wxyz"
            }
            paths |= {
                f"{part}_{angle}": f"{orientation}.euler_angles.{angle}.value"
                for angle in ("roll", "pitch", "yaw")
            }
    for leg in LEGS:
        for column, joint in (("hx", "hip_x"), ("hy", "hip_y"), ("kn", "knee")):
            paths[f"{leg}_{column}"] = f"legs.{leg}.joint_angles.{joint}"
        paths |= {
            f"{leg}_{axis}": f"legs.{leg}.foot_pos.{axis}.value" for axis in "xyz"
        }
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
    """Return, for each message within a row of `kind` that is a member of a oneof, the other member.

    `body.body_pos` and `body.com_pos`.
    """
    members: dict[tuple[str, str], list[str]] = {}
    for path, one in _fields(kind):
        if one.choice:
            members.setdefault((path.rpartition(".")[0], one.choice), []).append(path)
    return {
        one: other
        for first, second in members.values()
        for one, other in ((first, second), (second, first))
    }


def message_columns(columns: Sequence[str]) -> dict[str, int]:
    """Return the column, as its index, of each field that a message holds.

    Of those that exclude each other the last one.
    """
    other_of = rivals("AnimationKeyframe")
    held: dict[str, int] = {}
    for index, name in enumerate(columns):
        if name in PATHS:
            excluded = tuple(
                f"{other_of[parent]}."
                for parent in _parents(PATHS[name])
                if parent in other_of
            )
            held = {
                path: column
                for path, column in held.items()
                if not path.startswith(excluded or ("\0",))
            }
            held[PATHS[name]] = index
    return held


def gap(number: int) -> float:
    """Return the value that marks a gap of a layout.

    No number of a real file has its bytes or its digits.
    """
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
    gaps: Indices

    @staticmethod
    def of(message: Any, count: int) -> Layout | None:  # noqa: ANN401
        """Return the layout of a message in which the numbers are `gap(0)`, `gap(1)` ….

        None where one of these is missing.
        """
        wire = message.SerializeToString(deterministic=True)
        begins = [wire.find(struct.pack("<d", gap(k))) for k in range(count)]
        if -1 in begins:
            return None
        return Layout(
            np.frombuffer(wire, np.uint8),
            np.array(begins, np.intp).reshape(-1, 1) + np.arange(8),
        )

    def fill(self, numbers: Floats) -> npt.NDArray[np.uint8]:
        """Return the bytes (N, L) of messages with `numbers` (N, K)."""
        messages = np.tile(self.wire, (len(numbers), 1))
        if len(self.gaps):
            messages[:, self.gaps] = (
                np.ascontiguousarray(numbers, "<f8")
                .view(np.uint8)
                .reshape(*numbers.shape, 8)
            )
        return messages

    def numbers(self, messages: npt.NDArray[np.uint8]) -> tuple[Bools, Floats]:
        """Return which of `messages` (N, L) have this layout, and the numbers (M, K) of these."""
        fixed = np.ones(len(self.wire), np.bool_)
        fixed[self.gaps] = False
        same = np.asarray((messages[:, fixed] == self.wire[fixed]).all(axis=1))
        found = np.ascontiguousarray(messages[same][:, self.gaps]).reshape(
            int(same.sum()), 8 * len(self.gaps)
        )
        return same, np.asarray(
            found.view("<f8") if len(self.gaps) else np.zeros(found.shape), np.float64
        )


def keyframe_rows(
    times: Floats, values: Floats, fields: Mapping[str, int], *, as_text: bool
) -> Iterator[bytes]:
    """Return the keyframes of a message Animation, tag and length included, in pieces.

    As bytes, or as text in UTF-8.
    """
    paths = (TIME, *fields)
    is_flag = np.array([path.endswith("stance.value") for path in paths])
    for start in range(0, len(times), _CHUNK_ROWS):
        chunk = slice(start, start + _CHUNK_ROWS)
        table = np.ascontiguousarray(
            np.column_stack([times[chunk], values[chunk][:, list(fields.values())]])
        )
        written = np.where(is_flag, np.abs(table) >= 1, table.view(np.uint64) != 0)
        patterns = np.packbits(written, axis=1)
        alike: dict[bytes, list[int]] = {}
        for k, key in enumerate(
            patterns.view(f"V{patterns.shape[1]}").ravel().tolist()
        ):
            alike.setdefault(key, []).append(k)
        rows = [b""] * len(table)
        for chosen in alike.values():
            pattern = written[chosen[0]]
            layout, text, printed = _keyframe_layout(paths, is_flag, pattern)
            if as_text:
                contents = [
                    (text % tuple(numbers)).encode()
                    for numbers in table[chosen][:, printed].tolist()
                ]
            else:
                contents = [
                    content.tobytes()
                    for content in layout.fill(table[chosen][:, pattern & ~is_flag])
                ]
            for k, content in zip(chosen, contents, strict=True):
                rows[k] = content
        yield b"".join(rows)


def _keyframe_layout(
    paths: Sequence[str], is_flag: Bools, pattern: Bools
) -> tuple[Layout, str, Indices]:
    """Return the layout of a keyframe with the fields of `pattern`, its text with a %r at each gap, and the indices of these numbers."""
    from google.protobuf import text_format

    animation = message_class("Animation")()
    row = animation.animation_keyframes.add()
    for parent in dict.fromkeys(parent for path in paths for parent in _parents(path)):
        attrgetter(parent)(row).SetInParent()
    numbers: list[int] = []
    for index in np.flatnonzero(pattern).tolist():
        set_field(row, paths[index], True if is_flag[index] else gap(len(numbers)))
        numbers += [] if is_flag[index] else [index]
    layout = Layout.of(animation, len(numbers))
    assert layout is not None, "each gap is written"
    text = text_format.MessageToString(animation)
    order = sorted(range(len(numbers)), key=lambda k: text.index(repr(gap(k))))
    for k in order:
        text = text.replace(repr(gap(k)), "%r")
    return layout, text, np.array([numbers[k] for k in order], np.intp)


def set_field(message: Any, path: str, value: float) -> None:  # noqa: ANN401
    """Set the field of a message at a path such as "body.body_pos.x.value"."""
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
    with_unknown:
        How many rows have fields that are not in the table of messages.
    left_out:
        For each row of a text that has a fault, the row before which it is.
    """

    parents: frozenset[str]
    columns: tuple[str, ...]
    values: Floats
    held: Bools
    with_unknown: int
    left_out: tuple[int, ...] = ()

    def column(self, path: str) -> Floats:
        """Return the numbers (N,) of a column.

        Zeros where no row has it.
        """
        if path in self.columns:
            return self.values[:, self.columns.index(path)]
        return np.zeros(len(self.values))


def table_of(rows: Sequence[bytes], kind: str, most: int, location: Location) -> Table:
    """Return rows of bytes as a table; `kind` is their message.

    Rows of one length are compared with the layout of the first one, which protobuf
    reads; it also reads what no layout fits.

    Raises FormatError when a row is no message (CAP001), or the table would have more
    than `most` numbers (FMT009).
    """
    from google.protobuf.message import DecodeError

    pieces: dict[
        tuple[frozenset[str], tuple[str, ...]], list[tuple[Indices, Floats]]
    ] = {}
    with_unknown = 0
    by_length: dict[int, list[int]] = {}
    for k, content in enumerate(rows):
        by_length.setdefault(len(content), []).append(k)
    for length, alike in by_length.items():
        indices = np.array(alike, np.intp)
        messages = np.frombuffer(b"".join([rows[k] for k in alike]), np.uint8).reshape(
            len(alike), length
        )
        layouts = 0
        while len(indices):
            content = messages[0].tobytes()
            first = int(indices[0])
            try:
                message = message_class(kind).FromString(content)
            except DecodeError:
                reason = (
                    f"keyframe {first + 1} is not a protobuf message, or is cut off"
                )
                raise rules.WIRE.error(
                    reason, location, subject=("keyframes", first)
                ) from None
            size = message.ByteSize()
            message.DiscardUnknownFields()
            with_unknown += message.ByteSize() < size
            parents: set[str] = set()
            numbers: dict[str, float] = {}
            others: dict[str, float] = {}
            _walk(message, "", parents, numbers, others)
            found = pieces.setdefault((frozenset(parents), (*numbers, *others)), [])
            is_layout = message.SerializeToString(
                deterministic=True
            ) == content and not set(others.values()) - {1.0}
            for k, path in enumerate(numbers if is_layout else ()):
                set_field(message, path, gap(k))
            if is_layout and layouts < _MAX_LAYOUTS:
                layout = Layout.of(message, len(numbers))
            else:
                layout = None
            if layout is None:
                found.append(
                    (
                        indices[:1],
                        np.array([[*numbers.values(), *others.values()]], np.float64),
                    )
                )
                messages = messages[1:]
                indices = indices[1:]
                continue
            layouts += 1
            same, values = layout.numbers(messages)
            found.append(
                (
                    indices[same],
                    np.hstack([values, np.ones((len(values), len(others)))]),
                )
            )
            messages = messages[~same]
            indices = indices[~same]
    known = {"" for _ in rows[:1]}.union(*(parents for parents, _ in pieces))
    leaves = (path for path, one in _fields(kind) if one.kind not in MESSAGES)
    columns = tuple(path for path in leaves if path.rpartition(".")[0] in known)
    if len(rows) * (len(columns) + 1) > most:
        message = f"{len(rows)} keyframes of up to {len(columns)} numbers: nearly all are empty"
        raise TOO_LARGE.error(message, location)
    table = np.zeros((len(rows), len(columns)))
    held = np.zeros(table.shape, np.bool_)
    for (within, paths), parts in pieces.items():
        there = np.array([path.rpartition(".")[0] in {"", *within} for path in columns])
        order = [columns.index(path) for path in paths]
        for indices, values in parts:
            held[indices] = there
            table[indices[:, None], order] = values
    return Table(frozenset(known - {""}), columns, table, held, with_unknown)


def _walk(
    message: Any,  # noqa: ANN401
    path: str,
    parents: set[str],
    numbers: dict[str, float],
    others: dict[str, float],
) -> None:
    """Collect the messages within a row, and its numbers.

    Floating-point ones, and whole ones and flags.
    """
    for field, value in message.ListFields():
        name = path + field.name
        if field.message_type is not None:
            parents.add(name)
            _walk(value, f"{name}.", parents, numbers, others)
        elif isinstance(value, float):
            numbers[name] = value
        else:
            others[name] = float(value)
