"""Keyframes as messages of the vendor.

The field that each column has; tables of numbers to and from the bytes and the text of
many keyframes.

A `Layout` is the message of one keyframe with gaps for its numbers. Protobuf writes it
once; NumPy fills in the numbers of all keyframes that have the same fields. Making 36
000 messages number by number would take as long as the vendor's converter.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple

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
    """Return the path of each column's field within AnimationKeyframe."""
    # Wrappers (.value) tell a value of 0 from one that is missing; quaternions and leg
    # angles are plain doubles, which vanish from the wire when they are 0.
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


# The path of each column through AnimationKeyframe. In the order in which a reader
# returns columns.
PATHS: Mapping[str, str] = _paths()


def _parents(path: str) -> list[str]:
    """Return the paths of the messages that a number is in.

    The outermost first, without the keyframe itself.
    """
    parts = path.split(".")[:-1]
    return [".".join(parts[: k + 1]) for k in range(len(parts))]


def _fields(message: str, path: str = "") -> Iterator[tuple[str, Field]]:
    """Return the fields of a message and of those within it, with paths.

    In the order of field numbers.
    """
    for name, one in sorted(MESSAGES[message].items(), key=lambda item: item[1].number):
        yield path + name, one
        if one.kind in MESSAGES:
            yield from _fields(one.kind, f"{path}{name}.")


@cache
def rivals(kind: str) -> Mapping[str, str]:
    """Return the other member of a oneof for each of its members.

    Of messages within a row of `kind`.

    `body.body_pos` and `body.com_pos`.
    """
    members: dict[tuple[str, str], list[str]] = {}
    for path, one in _fields(kind):
        if one.choice:
            members.setdefault((path.rpartition(".")[0], one.choice), []).append(path)
    pairs = list(members.values())
    return dict(pairs) | {second: first for first, second in pairs}


def message_columns(columns: Sequence[str]) -> dict[str, int]:
    """Return the column, as its index, of each field that a message holds.

    Of those that exclude each other the last one.
    """
    other_of = rivals("AnimationKeyframe")
    # A later column of a oneof removes what an earlier rival set.
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
    # Above 2^46 the step of doubles is 1/64: each + number is exact and distinct.
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
        # Deterministic: equal fields are always written in the same order.
        wire = message.SerializeToString(deterministic=True)
        begins = [wire.find(struct.pack("<d", gap(k))) for k in range(count)]
        if -1 in begins:
            return None
        return Layout(
            # (L,) bytes, and for each number the indices of its eight bytes.
            np.frombuffer(wire, np.uint8),
            np.array(begins, np.intp).reshape(-1, 1) + np.arange(8),
        )

    def fill(self, numbers: Floats) -> npt.NDArray[np.uint8]:
        """Return the bytes (N, L) of messages with `numbers` (N, K)."""
        messages = np.tile(self.wire, (len(numbers), 1))
        # Rows that differ in their numbers only: copy the bytes, fill in the gaps.
        if len(self.gaps):
            messages[:, self.gaps] = (
                np.ascontiguousarray(numbers, "<f8")
                .view(np.uint8)
                .reshape(*numbers.shape, 8)
            )
        return messages

    def numbers(self, messages: npt.NDArray[np.uint8]) -> tuple[Bools, Floats]:
        """Return which of `messages` (N, L) have this layout.

        And the numbers (M, K) of these.
        """
        # All bytes beside the gaps must be equal: tags, lengths and flags.
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
    # Chunks bound the memory for hundreds of thousands of keyframes.
    for start in range(0, len(times), _CHUNK_ROWS):
        chunk = slice(start, start + _CHUNK_ROWS)
        table = np.ascontiguousarray(
            np.column_stack([times[chunk], values[chunk][:, list(fields.values())]])
        )
        # A plain double of +0 is not written; −0 has bits. A contact is written from 1
        # on.
        written = np.where(is_flag, np.abs(table) >= 1, table.view(np.uint64) != 0)
        # Rows with the same written fields share a layout: the pattern, as bytes, is
        # the key.
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
                    # %r writes the shortest digits that round-trip, as protobuf does.
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
    """Return the layout of a keyframe with the fields of `pattern`.

    And its text with a %r at each gap, and the indices of these numbers.
    """
    from google.protobuf import text_format

    animation = message_class("Animation")()
    row = animation.animation_keyframes.add()
    # Messages without values exist in each row, as in the vendor's converter: the robot
    # complains about fields that come and go.
    for parent in dict.fromkeys(chain.from_iterable(map(_parents, paths))):
        attrgetter(parent)(row).SetInParent()
    numbers: list[int] = []
    for index in np.flatnonzero(pattern).tolist():
        set_field(row, paths[index], True if is_flag[index] else gap(len(numbers)))
        numbers += [] if is_flag[index] else [index]
    layout = Layout.of(animation, len(numbers))
    assert layout is not None, "each gap is written"
    text = text_format.MessageToString(animation)
    # Fields of a text are in the order of their numbers, not of `paths`.
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
    # Only rows of equal length can have the same layout.
    by_length: dict[int, list[int]] = {}
    for k, content in enumerate(rows):
        by_length.setdefault(len(content), []).append(k)
    pieces: list[_Piece] = []
    for indices in by_length.values():
        pieces += _pieces_of(rows, np.array(indices, np.intp), kind, location)
    # The table has a column for each number of a message that occurs.
    parents = frozenset[str]().union(*(piece.row.parents for piece in pieces))
    columns = tuple(
        path
        for path, field in _fields(kind)
        if field.kind not in MESSAGES and _is_in(path, parents) and rows
    )
    if len(rows) * (len(columns) + 1) > most:
        message = (
            f"{len(rows)} keyframes of up to {len(columns)} numbers: nearly all are "
            "empty"
        )
        raise TOO_LARGE.error(message, location)
    table = np.zeros((len(rows), len(columns)))
    held = np.zeros(table.shape, np.bool_)
    # Pieces are rows of one layout: copy them into the table at once.
    for piece in pieces:
        held[piece.indices] = [_is_in(path, piece.row.parents) for path in columns]
        order = [columns.index(path) for path in piece.row.paths]
        table[piece.indices[:, None], order] = piece.values
    with_unknown = sum(piece.row.has_unknown for piece in pieces)
    return Table(parents, columns, table, held, with_unknown)


def _is_in(path: str, parents: Set[str]) -> bool:
    """Return whether the message of a field is at the top, or one of `parents`."""
    parent = path.rpartition(".")[0]
    return not parent or parent in parents


class _Row(NamedTuple):
    """A row as protobuf reads it.

    Attributes
    ----------
    parents:
        The messages within it.
    numbers:
        Its floating-point numbers, by their paths.
    others:
        Its whole numbers and flags.
    has_unknown:
        Whether it has fields that are not in the table of messages.
    """

    parents: set[str]
    numbers: dict[str, float]
    others: dict[str, float]
    has_unknown: bool

    @property
    def paths(self) -> list[str]:
        """The paths of all values."""
        return [*self.numbers, *self.others]


class _Piece(NamedTuple):
    """Rows of one layout.

    The first one, and the indices (N,) and values (N, C) of all.
    """

    row: _Row
    indices: Indices
    values: Floats


def _pieces_of(
    rows: Sequence[bytes], indices: Indices, kind: str, location: Location
) -> Iterator[_Piece]:
    """Yield rows of one length in pieces of one layout."""
    length = len(rows[indices[0]])
    content = b"".join([rows[k] for k in indices])
    messages = np.frombuffer(content, np.uint8).reshape(len(indices), length)
    num_layouts = 0
    # The first row gives the layout; the rows that do not fit come in the next turn.
    while len(indices):
        row, layout = _read_row(messages[0].tobytes(), kind, location, int(indices[0]))
        if layout is None or num_layouts == _MAX_LAYOUTS:
            # Without a layout this row alone is taken as protobuf reads it.
            values = np.array([[*row.numbers.values(), *row.others.values()]])
            yield _Piece(row, indices[:1], values.astype(np.float64))
            messages = messages[1:]
            indices = indices[1:]
            continue
        num_layouts += 1
        same, numbers = layout.numbers(messages)
        # All flags of a layout are 1.
        flags = np.ones((len(numbers), len(row.others)))
        yield _Piece(row, indices[same], np.hstack([numbers, flags]))
        messages = messages[~same]
        indices = indices[~same]


def _read_row(
    content: bytes, kind: str, location: Location, number: int
) -> tuple[_Row, Layout | None]:
    """Return a row, and its layout if others may have the same."""
    from google.protobuf.message import DecodeError

    try:
        message = message_class(kind).FromString(content)
    except DecodeError:
        reason = f"keyframe {number + 1} is not a protobuf message, or is cut off"
        subject = ("keyframes", number)
        raise rules.WIRE.error(reason, location, subject=subject) from None
    # Unknown fields are dropped; the size tells that there were some.
    size = message.ByteSize()
    message.DiscardUnknownFields()
    row = _Row(set(), {}, {}, bool(message.ByteSize() < size))
    _walk(message, "", row)
    # Protobuf may write a message otherwise than this one: then bytes do not compare.
    is_usual = message.SerializeToString(deterministic=True) == content
    if not is_usual or set(row.others.values()) - {1.0}:
        return row, None
    for k, path in enumerate(row.numbers):
        set_field(message, path, gap(k))
    return row, Layout.of(message, len(row.numbers))


def _walk(message: Any, path: str, row: _Row) -> None:  # noqa: ANN401
    """Collect the messages within a row, and its values."""
    for field, value in message.ListFields():
        name = path + field.name
        if field.message_type is not None:
            row.parents.add(name)
            _walk(value, f"{name}.", row)
        elif isinstance(value, float):
            row.numbers[name] = value
        else:
            row.others[name] = float(value)
