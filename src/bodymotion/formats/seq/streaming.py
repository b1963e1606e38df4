"""Motions larger than memory: headers at once, frames in chunks."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

import numpy as np

from bodymotion.diagnostics import Diagnostics, FormatError, Problem, Source
from bodymotion.formats.registry import format_of_kind
from bodymotion.formats.seq.document import Document, whole_document
from bodymotion.formats.seq.headers import ComponentHeader, Headers, read_headers
from bodymotion.formats.seq.reader import (
    Effort,
    RowReader,
    component_of,
    read_document,
    source_of,
)
from bodymotion.formats.seq.rows import RowFaultError, row_numbers
from bodymotion.formats.seq.scan import ByteSource, UnusualError
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.motion import Component, Motion

_RANGE_ROWS = 1024  # Rows that are searched at a time.


@dataclass(frozen=True, eq=False)
class MotionChunk(Motion):
    """Some frames of a longer motion.

    Frame k of the chunk is frame `first_frame` + k of the motion. The timelines of
    frames at a fixed rate count from the chunk's own first frame, which is at
    `first_frame` / rate seconds of the motion; time stamps are those of the motion.
    """

    first_frame: int = field(default=0, compare=False)


class MotionReader(AbstractContextManager["MotionReader"]):
    """An open body motion file; a context manager.

    Attributes
    ----------
    components:
        The components without their rows (`ComponentHeader`), their frames counted, not
        parsed.
    extra, source, problems:
        As in the `Motion` that `load` returns, without the problems that only the rows
        show.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self._bytes = ByteSource.open(Path(path))
        # Headers and first rows are checked now; the rest when it is read.
        try:
            read_document(self._bytes, self._open)
        except BaseException:
            self._bytes.close()
            raise

    def _open(self, document: Document) -> None:
        headers, problems = _sound_headers(document)
        for header in headers.components:
            next(
                _blocks(header), None
            )  # rows in a shape that only a full YAML parse can read raise here
        self.components: tuple[ComponentHeader, ...] = headers.components
        self.extra = headers.extra
        self.source: Source = source_of(document, headers)
        self.problems: tuple[Problem, ...] = problems

    @property
    def num_frames(self) -> int:
        """The number of frames of the longest component."""
        return max((header.num_frames for header in self.components), default=0)

    def end_times(self) -> tuple[tuple[float, float] | None, ...]:
        """Return the times [s] of the first and the last frame of each component.

        None where it has no frames.
        """
        return tuple(self._ends(k, header) for k, header in enumerate(self.components))

    def _ends(self, index: int, header: ComponentHeader) -> tuple[float, float] | None:
        """Return the first and last time [s] of a component."""
        if header.layout is None or header.frames is None:
            return None
        last = header.num_frames - 1
        if not header.has_frame_time:
            assert header.frame_rate is not None
            return 0.0, last / header.frame_rate
        # Only the two rows are parsed.
        try:
            first, final = (
                row_numbers(header.frames.row(row), header.layout)[0]
                for row in (0, last)
            )
        except RowFaultError as error:
            raise error.rule.error(
                f"the first or last frame {error.message}", header.location
            ) from None
        except UnusualError as error:
            whole, _ = _sound_headers(whole_document(self._bytes, error))
            return self._ends(index, whole.components[index])
        return first, final

    def chunks(self, num_frames: int) -> Iterator[MotionChunk]:
        """Read the motion in pieces of `num_frames` frames, the last one shorter.

        All components in step.

        A component that has ended has no frames in the chunks that follow. Components
        of unknown types are in each chunk as a whole. No more than a chunk and some
        megabytes are held in memory.

        Raises
        ------
        FormatError
            At a faulty row.
        """
        if num_frames < 1:
            raise ValueError(f"a chunk has at least one frame, not {num_frames}")
        # One iterator for each component: they advance together.
        readers = [self.pieces(k, num_frames) for k in range(len(self.components))]
        for first in range(0, self.num_frames, num_frames):
            components: list[Component] = []
            for header, pieces in zip(self.components, readers, strict=True):
                # Shorter components have ended.
                times, values = next(pieces, None) or (None, None)
                if values is None and header.layout is not None:
                    values, times = header.layout.unknown(0)
                components.append(
                    component_of(
                        header, None if values is None else frozen(values), times
                    )
                )
            yield MotionChunk(tuple(components), self.extra, self.source, (), first)

    def pieces(
        self, index: int, num_frames: int
    ) -> Iterator[tuple[Floats | None, Floats]]:
        """Read one component in pieces of `num_frames` frames, the last one shorter.

        Times (N,) or None, and values (N, …).

        Raises
        ------
        FormatError
            At a faulty row.
        """
        layout = self.components[index].layout
        if layout is None:
            return

        def stored(parts: list[Floats]) -> tuple[Floats | None, Floats]:
            values, times = layout.unknown(sum(map(len, parts)))
            layout.store(
                np.concatenate(parts) if len(parts) > 1 else parts[0], values, times
            )
            return times, values

        parts: list[Floats] = []
        # Rows that the current piece still needs.
        missing = num_frames
        for block in self._blocks(index):
            # A block may fill several pieces.
            while len(block) >= missing:
                yield stored([*parts, block[:missing]])
                block = block[missing:]
                parts = []
                missing = num_frames
            # The rest waits for the next block.
            if len(block):
                parts.append(block)
                missing -= len(block)
        if parts:
            yield stored(parts)

    def _blocks(self, index: int) -> Iterator[Floats]:
        """Return the rows (N, width) of a component as they are read.

        The file is parsed as a whole where only that can read the rest.
        """
        row = 0
        try:
            for block in _blocks(self.components[index]):
                yield block
                row += len(block)
        except UnusualError as error:
            headers, _ = _sound_headers(whole_document(self._bytes, error))
            # Rows that were read already are skipped.
            for block in _blocks(headers.components[index]):
                if len(block) > row:
                    yield block[row:]
                row = max(row - len(block), 0)

    def rows(
        self, index: int, numbers: int
    ) -> Iterator[tuple[Floats, Floats | None, Floats]]:
        """Read one component, about so many numbers at a time.

        Times (N,) [s], time stamps if it has any, and values (N, …).

        Raises
        ------
        FormatError
            At a faulty row.
        """
        header = self.components[index]
        row = 0
        if header.layout is not None:
            width = header.layout.width
        else:
            width = 1
        # A row wider than the limit is read by itself.
        for stamps, values in self.pieces(index, max(numbers // max(width, 1), 1)):
            if stamps is None:
                # Times of a fixed rate: frame number / rate.
                times = np.arange(row, row + len(values)) / (header.frame_rate or 1.0)
            else:
                times = stamps
            row += len(values)
            yield times, stamps, values

    def ranges(self) -> tuple[tuple[Floats, Floats] | None, ...]:
        """Return the lowest and the highest values of each component.

        Of the shape that its values have in one frame. All rows are read, in bounded
        memory. None for components without frames; nan is ignored.
        """
        ranges: list[tuple[Floats, Floats] | None] = [None] * len(self.components)
        for index in range(len(self.components)):
            for _, values in self.pieces(index, _RANGE_ROWS):
                # `fmin` ignores nan, `min` would not.
                low, high = ranges[index] or (values[0], values[0])
                low = np.fmin(low, np.fmin.reduce(values))
                high = np.fmax(high, np.fmax.reduce(values))
                ranges[index] = frozen(low), frozen(high)
        return tuple(ranges)

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; its frames cannot be read any more."""
        self._bytes.close()


def _sound_headers(document: Document) -> tuple[Headers, tuple[Problem, ...]]:
    """Return the headers of a document and what else is to be known of them.

    Raises
    ------
    FormatError
        When the motion cannot be read as a whole.
    """
    found = document.faults_so_far()
    headers = read_headers(document, found)
    # A reader of chunks cannot go back: any fault ends it.
    if found.refusal is not None:
        raise FormatError(found.refusal, found.problems)
    return headers, found.problems


def _blocks(header: ComponentHeader) -> Iterator[Floats]:
    """Return the rows (N, width) of a component as they are read.

    Raises
    ------
    FormatError
        At a faulty row.
    """
    if header.layout is None:
        return
    found = Diagnostics(header.location.path)
    for _, block in RowReader(header, (), found, Effort([header])).rows(header.layout):
        # Rows behind a fault are not used.
        if found.refusal is not None:
            break
        yield block
    if found.refusal is not None:
        raise FormatError(found.refusal, found.problems)


def open_motion(path: str | PathLike[str]) -> MotionReader:
    """Open a body motion file of any size: headers at once, frames in chunks.

    >>> with open_motion("log.seq") as reader:              # doctest: +SKIP
    ...     for chunk in reader.chunks(100_000): ...

    Raises
    ------
    FormatError
        When the headers or the first rows have a fault for which `load` returns no
        motion, and when the file holds none (FMT004).
    """
    # Only regular files: a pipe cannot be looked at twice.
    if Path(path).is_file():
        format_of_kind("Motion", path)
    return MotionReader(path)
