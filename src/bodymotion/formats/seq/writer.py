"""Write body motions in the four versions of the format, as YAML or JSON.

Piece by piece, in as much memory as a piece needs.

The block style is that of the documents: keys in block style, a row of numbers in flow
style on a line of its own. The json style is JSON with the same rows, one to a line.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Literal, TypeAlias, get_args

import numpy as np

from bodymotion.diagnostics import (
    Diagnostics,
    Location,
    Problem,
    Rule,
    Source,
    losses,
    reference,
)
from bodymotion.formats.seq import values as as_text
from bodymotion.formats.seq.headers import ComponentHeader, header_of
from bodymotion.formats.seq.streaming import MotionReader
from bodymotion.formats.seq.values import (
    CONTENTS,
    KEYS,
    OF_COMPONENTS,
    OLD_TYPES,
    SE3_SIZES,
    TYPES,
    Unwritable,
    content_name,
    key_name,
)
from bodymotion.formats.text import PIECE, rounded, row_texts
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.motion import ZMP, Component, Motion, OtherSeq
from bodymotion.motion.components import Timeline
from bodymotion.motion.interpolation.resampling import at_fixed_rate
from bodymotion.system.files import whole_file

Version: TypeAlias = Literal[1, 2, 3, 4]
Style: TypeAlias = Literal["block", "json"]
SE3Format: TypeAlias = Literal["XYZQWQXQYQZ", "XYZQXQYQZQW", "XYZRPY"]
VERSIONS: tuple[Version, ...] = get_args(Version)
Progress: TypeAlias = Callable[[int, int], None]
Pieces: TypeAlias = Iterable[
    tuple[Floats | None, Floats]
]  # Times (N,) or None, and values (N, …) of some frames.
Rows: TypeAlias = Iterator[tuple[Floats, Floats | None, Floats]]
"""Times (N,) [s] of some rows, their time stamps if any, and their values (N, …)."""

CHUNK_NUMBERS = 32 * PIECE  # About how many numbers are read at a time.

ORDER_IN_VERSION = reference.note(
    "SEQ301",
    "The order of a pose is one that all programs read. Choreonoid reads XYZQXQYQZQW "
    "in version 1 only.",
    "every program reads the order XYZQWQXQYQZ",
    example=("SE3Format: XYZQXQYQZQW", "SE3Format: XYZQWQXQYQZ"),
)
# Keys that the writer itself writes: kept ones of the same name are left out.
_TOP_KEYS = frozenset(
    itertools.chain(*(KEYS[name] for name in KEYS.keys() - {"frames", "part_labels"}))
)
_COMPONENT_KEYS = frozenset(itertools.chain(*(KEYS[name] for name in OF_COMPONENTS)))
_UNIT = 1e-9
"""Error of the length of a quaternion from which its loss is reported."""


def write_seq(
    motion: Motion,
    path: str | Path,
    *,
    version: int | str | None = None,
    style: Style | None = None,
    se3_format: SE3Format | None = None,
    frame_time: bool | None = None,
    digits: int | None = None,
) -> tuple[Problem, ...]:
    """Write a motion, and return what the file does not hold of it.

    Parameters
    ----------
    motion, path:
        The motion, and the file to write, whole or not at all.
    version:
        1, 2, 3 or 4; by default that of the file that the motion was read from, and 4
        for a new one.
    style:
        "block", YAML as in the documents, or "json"; by default "json" for a .json,
        else as in the file that was read.
    se3_format:
        The order of a pose's numbers: XYZQWQXQYQZ (default), XYZQXQYQZQW or XYZRPY
        [rad]; the last is exact to 1e-12 rad, not to the bit.
    frame_time:
        Write time stamps with all frames (True) or none (False); by default with those
        that have them.
    digits:
        Round values to this number of significant digits (1 to 15); by default the
        shortest text that reads back as the same double. Times and rates are never
        rounded.

    Raises
    ------
    ValueError
        For a version, style or order that does not exist, for stamps in version 1, for
        stamps that do not increase, and where stamps must become a rate that is not
        given, or at which the frames do not fit into memory.
    """
    # Checked before the file is opened.
    version = version_to_write(version, _version_of(motion.source), frame_time)
    problems: tuple[Problem, ...] = ()
    # Version 1 has no stamps, so they become a rate.
    if frame_time is False or version == 1:
        motion, problems = at_fixed_rate(motion)
    elif frame_time:
        motion = motion.mapped(lambda c: replace(c, timeline=_with_stamps(c.timeline)))
    headers = [header_of(component) for component in motion.components]
    notation = Notation(version, style, se3_format, digits)
    with whole_file(path) as stream:
        writer = SeqWriter(stream, path, notation, motion.source)
        further = writer.write(
            motion.extra, headers, lambda k: _pieces_of(motion.components[k])
        )
        return (*problems, *further)


def _version_of(source: Source) -> str:
    """Return the version of the .seq that was read.

    "" for a motion from another file.
    """
    return source.version if source.format == "seq" else ""


def _with_stamps(timeline: Timeline) -> Timeline:
    if timeline.stamps is not None:
        return timeline
    # Frames at a fixed rate get the times that they have.
    return Timeline.stamped(timeline.times, timeline.frame_rate)


def _pieces_of(component: Component) -> Pieces:
    assert not isinstance(component, OtherSeq)
    values = component.values
    stamps = component.timeline.stamps
    width = max(1, int(np.prod(values.shape[1:])))
    # Some megabytes of text at a time.
    count = max(1, 64 * PIECE // width)
    for start in range(0, len(values), count):
        piece = slice(start, start + count)
        yield None if stamps is None else stamps[piece], values[piece]


def version_to_write(
    version: int | str | None, read: str, frame_time: bool | None = None
) -> Version:
    """Return the version to write.

    The one that is given, else that of the file that was read, else 4.

    Raises
    ------
    ValueError
        When it is not 1, 2, 3 or 4, or is 1 and all frames are to have time stamps.
    """
    # The version of the file read may be unknown: then the default counts.
    wanted = read if version is None else version
    # "2", 2 and 2.0 are all version 2.
    known = dict(zip(map(float, VERSIONS), VERSIONS, strict=True))
    result = None
    # True is 1 for float(), but no version.
    if not isinstance(wanted, bool):
        with suppress(TypeError, ValueError):
            result = known.get(float(wanted))
    if result is None and version is not None:
        raise ValueError(f"the versions of .seq are 1, 2, 3 and 4, not {version!r}")
    if result == 1 and frame_time:
        raise ValueError(
            "version 1 of .seq has no time-stamped frames; versions 2, 3 and 4 have"
        )
    return result or 4


def _default_style(path: str | Path, read: Source) -> Style:
    # A .json must hold JSON, whatever was read.
    is_json = Path(path).suffix.lower() == ".json"
    was_json = read.format == "seq" and read.options.get("style") == "flow"
    return "json" if is_json or was_json else "block"


def _common_rate(headers: Sequence[ComponentHeader]) -> float | None:
    """Return the frame rate [Hz] of the top node, None for none.

    Components inherit it: where one must stay without, the top node has none.
    """
    rates: list[float] = []
    for head in headers:
        if head.layout is None:
            # A component of an unknown type may have its rate among its kept keys.
            if head.extra.keys().isdisjoint(KEYS["frame_rate"]):
                return None
        elif head.frame_rate is None:
            return None
        else:
            rates.append(head.frame_rate)
    return max(rates, default=None)


@dataclass(frozen=True)
class Notation:
    """How a motion is written.

    The options of `write_seq`, by default those of the file that the motion was read
    from.
    """

    version: int | str | None = None
    style: Style | None = None
    se3_format: SE3Format | None = None
    digits: int | None = None


class SeqWriter:
    """Writes a motion, whose frames come in pieces, to a stream.

    `read` is where it was read from.

    Raises
    ------
    ValueError
        For a version, style, order or number of digits that does not exist.
    """

    def __init__(
        self, stream: BinaryIO, path: str | Path, notation: Notation, read: Source
    ) -> None:
        self.version = version_to_write(notation.version, _version_of(read))
        self.style = notation.style or _default_style(path, read)
        self.order = notation.se3_format or "XYZQWQXQYQZ"
        self.digits = notation.digits
        if self.style not in ("block", "json"):
            raise ValueError(f"the styles are 'block' and 'json', not {self.style!r}")
        if self.order not in SE3_SIZES:
            raise ValueError(
                f"the SE3 formats are {', '.join(SE3_SIZES)}, not {self.order!r}"
            )
        if self.digits is not None:
            # Raises ValueError for a number of digits that does not exist.
            rounded(np.zeros(0), self.digits)
        self._stream = stream
        self._json = self.style == "json"
        self._begun = 0
        self._problems = Diagnostics()

    def write(
        self,
        extra: Mapping[str, object],
        headers: Sequence[ComponentHeader],
        frames: Callable[[int], Pieces],
    ) -> tuple[Problem, ...]:
        """Write a motion, and return what could not be written.

        Parameters
        ----------
        extra, headers:
            The unknown keys of the top node, and the components; those without a layout
            are of unknown types.
        frames:
            Returns the frames of a component, in all as many as in its header.
        """
        self._top(extra, headers)
        for k, header in enumerate(headers):
            if header.layout is None:
                self._other(header)
            else:
                self._component(header, frames(k))
        # The list of components ends, and the top node.
        if self._json:
            self._put("\n]\n}\n" if headers else "]\n}\n")
        else:
            self._put("\n" if headers else " []\n")
        return self._problems.problems

    def _top(
        self, extra: Mapping[str, object], headers: Sequence[ComponentHeader]
    ) -> None:
        """Write the keys of the top node."""
        top_type = "BodyMotion" if self.version == 1 else "CompositeSeq"
        pairs: list[tuple[str, str]] = [
            ("type", self._text(top_type)),
            ("content", self._text("BodyMotion")),
            ("format_version", str(self.version)),
        ]
        rate = _common_rate(headers)
        if rate is not None:
            pairs.append(("frame_rate", as_text.rate(rate)))
        # Components may be of different lengths: the longest counts.
        lengths = [head.num_frames for head in headers if head.layout is not None]
        if lengths:
            pairs.append(("num_frames", str(max(lengths))))
        lines = [f"{self._key(name)} {text}" for name, text in pairs]
        lines += [f"{key} {text}" for key, text in self._extra(extra, "", _TOP_KEYS)]
        if self._json:
            self._put("{\n")
        end = ",\n" if self._json else "\n"
        for line in lines:
            self._put(line + end)
        self._put(self._key("components"))
        if self._json:
            self._put(" [")

    def _component(self, head: ComponentHeader, pieces: Pieces) -> None:
        """Write a component: its keys, then its rows."""
        is_vector = head.type == "Vector3Seq"
        is_root_relative = is_vector and head.is_root_relative
        content = self._content(head.content, is_root_relative)
        pairs = [("type", self._text(head.type)), ("content", content)]
        if head.frame_rate is not None:
            pairs.append(("frame_rate", as_text.rate(head.frame_rate)))
        pairs.append(("num_frames", str(head.num_frames)))
        # A Vector3Seq has always 3.
        if not is_vector:
            pairs.append(("num_parts", str(head.num_parts)))
        if head.part_labels:
            lost = Unwritable()
            labels = as_text.value(list(head.part_labels), lost, self._json)
            pairs.append(("part_labels", labels))
            self._unwritable(lost, head.content)
        # Only where it is true: a missing key means no.
        if head.has_frame_time:
            pairs.append(("has_frame_time", "true"))
        # In version 1 the content's name says so.
        if is_root_relative and (self.version > 1 or head.content != ZMP):
            pairs.append(("is_root_relative", "true"))
        if head.type == "MultiSE3Seq":
            pairs.append(("se3_format", self._text(self.order)))
            # Choreonoid reads this order in version 1 only.
            if self.order == "XYZQXQYQZQW" and self.version > 1:
                message = "the poses are written in the order XYZQXQYQZQW"
                self._note(ORDER_IN_VERSION, message, head.content)
        entries = [(self._key(name), text) for name, text in pairs]
        self._head([*entries, *self._extra(head.extra, head.content, _COMPONENT_KEYS)])
        self._frames(head, pieces)

    def _other(self, component: ComponentHeader) -> None:
        """Write a component of an unknown type as it is."""
        # The type of a component that was not understood when it was read.
        if component.type in (OLD_TYPES if self.version == 1 else TYPES):
            message = (
                f"a component of type {component.type} is kept as data: "
                "readers will interpret it as one of that type"
            )
            self._note(losses.CONTENT, message, component.content)
        pairs = [
            (self._key("type"), self._text(component.type)),
            (self._key("content"), self._text(component.content)),
        ]
        # Both are written already.
        taken = frozenset((*KEYS["type"], *KEYS["content"]))
        self._head([*pairs, *self._extra(component.extra, component.content, taken)])
        if self._json:
            self._put("\n}")

    def _head(self, pairs: list[tuple[str, str]]) -> None:
        lines = [f"{name} {text}" for name, text in pairs]
        if self._json:
            # JSON has commas between components.
            self._put(",\n{\n" if self._begun else "\n{\n")
            self._put(",\n".join(lines))
        else:
            self._put("\n  -")
            self._put("".join(f"\n    {line}" for line in lines))
        self._begun += 1

    def _frames(self, head: ComponentHeader, pieces: Pieces) -> None:
        """Write the rows of a component."""
        if self._json:
            self._put(",\n" + self._key("frames"))
            between = b",\n"
            lead = b" [\n"
        else:
            self._put("\n    " + self._key("frames"))
            between = b"\n      - "
            lead = between
        # Irregular numbers are counted, and reported once for each component.
        tally = _Tally()
        num_rows = 0
        # Piece by piece, so memory is bounded by a piece.
        for times, values in pieces:
            # Numbers of rows in messages count across pieces.
            tally.times(times, head, num_rows)
            num_rows += len(values)
            for text in row_texts(self._numbers(values, head, tally), times, between):
                self._stream.write(lead + text)
                # The first row has another lead than the others.
                lead = between
        # A caller that gives other frames than its headers say has a fault.
        if num_rows != head.num_frames:
            raise ValueError(
                f"{head.content}: {num_rows} rows for {head.num_frames} frames"
            )
        # An empty list has no line of its own.
        if not num_rows:
            self._put(" []")
        elif self._json:
            self._put("\n]")
        if self._json:
            self._put("\n}")
        self._report_tally(tally, head.content)

    def _report_tally(self, tally: _Tally, content: str) -> None:
        if tally.non_finite:
            message = f"numbers of {content} that are not finite: {tally.non_finite}"
            self._note(losses.NOT_FINITE, message, content)
        if tally.not_unit:
            message = (
                f"quaternions of {content} whose length is not 1, which {self.order} "
                f"cannot hold: {tally.not_unit}"
            )
            self._note(losses.ORIENTATION, message, content)

    def _numbers(self, values: Floats, head: ComponentHeader, tally: _Tally) -> Floats:
        if head.type == "MultiSE3Seq":
            values = self._poses(values, tally)
        tally.non_finite += int(values.size - np.count_nonzero(np.isfinite(values)))
        if self.digits is None:
            return values
        return rounded(values, self.digits)

    def _poses(self, values: Floats, tally: _Tally) -> Floats:
        """Return poses (N, P, 7) in the order of the file."""
        if self.order == "XYZQWQXQYQZ":
            return values
        if self.order == "XYZQXQYQZQW":
            # x y z w: the reader's order is w x y z.
            return np.ascontiguousarray(values[..., [0, 1, 2, 4, 5, 6, 3]])
        # Roll, pitch and yaw hold only rotations: the length of a quaternion is lost.
        quaternions = values[..., 3:]
        with np.errstate(over="ignore", invalid="ignore"):
            lengths = np.linalg.norm(quaternions, axis=-1)
            tally.not_unit += int(
                np.count_nonzero(np.isfinite(lengths) & (np.abs(lengths - 1) > _UNIT))
            )
            # A finite quaternion whose length overflows.
            tally.not_unit += int(
                np.count_nonzero(
                    np.isinf(lengths) & np.isfinite(quaternions).all(axis=-1)
                )
            )
        # Unknown orientations stay unknown.
        known = np.isfinite(quaternions).all(axis=-1, keepdims=True)
        # The identity stands in for nan, for which angles are not defined.
        angles = np.where(
            known,
            rotations.to_rpy(np.where(known, quaternions, rotations.IDENTITY)),
            np.nan,
        )
        return np.concatenate([values[..., :3], angles], axis=-1)

    def _content(self, content: str, is_root_relative: bool) -> str:
        spelled = content_name(content, self.version, is_root_relative)
        # A content may have the name that another one has in this version.
        meaning = CONTENTS[self.version].get(spelled, spelled)
        if meaning != content:
            message = (
                f"the content {content!r} means {meaning} in version {self.version}"
            )
            self._note(losses.CONTENT, message, content)
        return self._text(spelled)

    def _extra(
        self, extra: Mapping[str, object], where: str, taken: frozenset[str]
    ) -> list[tuple[str, str]]:
        """Return unknown keys with their values as text."""
        lost = Unwritable()
        pairs = []
        for name, thing in extra.items():
            # Keys that the writer writes itself, and those that no reader accepts.
            if (
                not isinstance(name, str)
                or name in taken
                or len(name) > as_text.MAX_KEY
            ):
                lost.values.append(f"the key {str(name)[:40]!r}")
                continue
            text = as_text.value(thing, lost, self._json)
            # Frames of a component of an unknown type keep a line for each row.
            if (
                name == "frames"
                and not self._json
                and isinstance(thing, (list, tuple))
                and thing
            ):
                text = "".join(f"\n      - {as_text.value(row, lost)}" for row in thing)
            pairs.append((as_text.key(name, lost, self._json), text))
        self._unwritable(lost, where)
        return pairs

    def _unwritable(self, lost: Unwritable, where: str) -> None:
        """Report what cannot be written of the values of a part."""
        part = where or "the top node"
        if lost.values:
            self._note(
                losses.VALUE,
                f"in {part} is not written: {', '.join(lost.values[:8])}",
                where,
            )
        if lost.texts:
            self._note(
                losses.TEXT,
                f"texts in {part} that are not Unicode: {len(lost.texts)}",
                where,
            )
        if lost.numbers:
            self._note(
                losses.NOT_FINITE,
                f"numbers in the keys of {part} that are not finite: {lost.numbers}",
                where,
            )

    def _text(self, text: str) -> str:
        # Half a character is replaced, and reported.
        lost = Unwritable()
        written = as_text.name(text, lost, self._json)
        self._unwritable(lost, text)
        return written

    def _key(self, key: str) -> str:
        return as_text.key(key_name(key, self.version), Unwritable(), self._json)

    def _note(self, rule: Rule, message: str, where: str) -> None:
        self._problems.add(rule.problem(message, Location(inside=where or None)))

    def _put(self, text: str) -> None:
        self._stream.write(text.encode())


class _Tally:
    """Counts of irregular numbers of a component."""

    def __init__(self) -> None:
        self.non_finite = 0
        self.not_unit = 0
        self._last = -np.inf

    def times(self, times: Floats | None, head: ComponentHeader, row: int) -> None:
        """Check that the times of a piece increase."""
        # Header and frames must agree, since hasFrameTime is written first.
        if (times is not None) != head.has_frame_time:
            raise ValueError(
                f"{head.content}: its head and its frames disagree about time stamps"
            )
        if times is None or not len(times):
            return
        # Compared with the last time of the piece before, too.
        wrong = ~(np.diff(times, prepend=self._last) > 0) | ~np.isfinite(times)
        if wrong.any():
            raise ValueError(
                f"{head.content}: time stamps must be finite and increase; frame "
                f"{row + int(np.argmax(wrong))} does not"
            )
        self._last = float(times[-1])


def can_copy(
    reader: MotionReader,
    version: int | str | None = None,
    frame_time: bool | None = None,
) -> bool:
    """Return whether the frames can be copied one by one.

    Not when stamps must become a rate.
    """
    stamped = any(header.has_frame_time for header in reader.components)
    # Resampling needs all frames at once.
    return not stamped or (
        version_to_write(version, reader.source.version) > 1 and frame_time is not False
    )


def copy_seq(
    reader: MotionReader,
    path: str | Path,
    notation: Notation,
    frame_time: bool | None = None,
    progress: Progress | None = None,
) -> tuple[Problem, ...]:
    """Write what a reader reads, for motions larger than memory.

    Return its problems, and what the file does not hold.

    `frame_time` as for `write_seq`.
    """
    version_to_write(
        notation.version, reader.source.version, frame_time
    )  # an impossible one is reported first
    if not can_copy(reader, notation.version, frame_time):
        raise ValueError(
            "time stamps can become a rate only in memory: load the motion and save it"
        )
    headers = [
        # Without `frame_time`, components keep their stamps or rates.
        header if frame_time is None else replace(header, has_frame_time=frame_time)
        for header in reader.components
    ]

    def copied(index: int, rows: Rows) -> Pieces:
        return (
            # Stamps may be added or left out for all components.
            (times if headers[index].has_frame_time else None, values)
            for times, _, values in rows
        )

    return write_rows(reader, path, headers, copied, progress, notation)


def write_rows(
    reader: MotionReader,
    path: str | Path,
    headers: Sequence[ComponentHeader],
    change: Callable[[int, Rows], Pieces],
    progress: Progress | None = None,
    notation: Notation = Notation(),
) -> tuple[Problem, ...]:
    """Write the rows of a reader, changed, with other headers.

    Return the reader's problems, and what the file does not hold.

    Parameters
    ----------
    headers, change:
        The components to write, and their frames: what `change(index, rows)` makes of
        the rows of a component.
    progress:
        Called with the number of frames read so far, and of all frames.
    """
    total = sum(header.num_frames for header in reader.components)
    done = 0

    def rows(index: int) -> Rows:
        nonlocal done
        for times, stamps, values in reader.rows(index, CHUNK_NUMBERS):
            done += len(values)
            if progress is not None:
                progress(done, total)
            yield times, stamps, values

    with whole_file(path) as stream:
        writer = SeqWriter(stream, path, notation, reader.source)
        return (
            *reader.problems,
            *writer.write(reader.extra, headers, lambda k: change(k, rows(k))),
        )
