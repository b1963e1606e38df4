"""Motions larger than memory: headers at once, frames in chunks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import Diagnostics, FormatError, Problem, Source
from bodymotion.formats.seq.document import Document, whole_document
from bodymotion.formats.seq.file_bytes import ByteSource, UnusualError
from bodymotion.formats.seq.headers import ComponentHeader, Headers, read_headers
from bodymotion.formats.seq.reader import Effort, component_of, read_document, read_rows, source_of
from bodymotion.formats.seq.rows import RowFaultError, row_numbers
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.motion import Component, Motion


@dataclass(frozen=True, eq=False)
class MotionChunk(Motion):
    """Some frames of a longer motion.

    Frame k of the chunk is frame `first_frame` + k of the motion. The timelines of frames at a fixed rate count from the chunk's own
    first frame, which is at `first_frame` / rate seconds of the motion; time stamps are those of the motion.
    """

    first_frame: int = field(default=0, compare=False)


class MotionReader:
    """An open body motion file; a context manager.

    Attributes
    ----------
    components:
        The components without their rows (`ComponentHeader`), their frames counted, not parsed.
    extra, source, problems:
        As in the `Motion` that `load` returns, without the problems that only the rows show.
    """

    def __init__(self, path: str | Path) -> None:
        self._bytes = ByteSource.open(path)
        try:
            read_document(self._bytes, self._open)
        except BaseException:
            self._bytes.close()
            raise

    def _open(self, document: Document) -> None:
        headers, problems = _sound_headers(document)
        for header in headers.components:
            next(_blocks(header), None)  # rows in a shape that only a full YAML parse can read raise here
        self.components: tuple[ComponentHeader, ...] = headers.components
        self.extra = headers.extra
        self.source: Source = source_of(document, headers)
        self.problems: tuple[Problem, ...] = problems

    @property
    def num_frames(self) -> int:
        """The number of frames of the longest component."""
        return max((header.num_frames for header in self.components), default=0)

    def end_times(self) -> tuple[tuple[float, float] | None, ...]:
        """Return the times [s] of the first and the last frame of each component; None where it has no frames."""
        return tuple(self._ends(k, header) for k, header in enumerate(self.components))

    def _ends(self, index: int, header: ComponentHeader) -> tuple[float, float] | None:
        if header.layout is None or header.frames is None:
            return None
        last = header.num_frames - 1
        if not header.has_frame_time:
            assert header.frame_rate is not None
            return 0.0, last / header.frame_rate
        try:
            first, final = (row_numbers(header.frames.row(row), header.layout)[0] for row in (0, last))
        except RowFaultError as error:
            raise error.rule.error(f"the first or last frame {error.message}", header.location) from None
        except UnusualError as error:
            whole, _ = _sound_headers(whole_document(self._bytes, error))
            return self._ends(index, whole.components[index])
        return first, final

    def chunks(self, num_frames: int) -> Iterator[MotionChunk]:
        """Read the motion in pieces of so many frames, the last one shorter; all components in step.

        A component that has ended has no frames in the chunks that follow. Components of unknown types are in each chunk as a whole.
        No more than a chunk and some megabytes are held in memory.

        Raises
        ------
        FormatError
            At a faulty row.
        """
        if num_frames < 1:
            raise ValueError(f"a chunk has at least one frame, not {num_frames}")
        cursors = [_Cursor(self._bytes, k, header) for k, header in enumerate(self.components)]
        for first in range(0, self.num_frames, num_frames):
            components = tuple(cursor.component(num_frames) for cursor in cursors)
            yield MotionChunk(components, self.extra, self.source, (), first)

    def pieces(self, index: int, num_frames: int) -> Iterator[tuple[Floats | None, Floats]]:
        """Read one component in pieces of so many frames, the last one shorter: times (N,) or None, and values (N, …).

        Raises
        ------
        FormatError
            At a faulty row.
        """
        cursor = _Cursor(self._bytes, index, self.components[index])
        while found := cursor.values(num_frames):
            values, times = found
            yield times, values

    def ranges(self) -> tuple[tuple[Floats, Floats] | None, ...]:
        """Return the lowest and the highest values of each component, of the shape that its values have in one frame.

        All rows are read, in bounded memory. None for components without frames; nan is ignored.
        """
        lower: list[Floats | None] = [None] * len(self.components)
        upper: list[Floats | None] = [None] * len(self.components)
        for k, header in enumerate(self.components):
            cursor = _Cursor(self._bytes, k, header)
            while values := cursor.values(_RANGE_ROWS):
                with np.errstate(all="ignore"):
                    low, high = np.fmin.reduce(values[0]), np.fmax.reduce(values[0])
                    before = lower[k], upper[k]
                    lower[k] = low if before[0] is None else np.fmin(before[0], low)
                    upper[k] = high if before[1] is None else np.fmax(before[1], high)
        return tuple(
            None if low is None or high is None else (frozen(low), frozen(high))
            for low, high in zip(lower, upper, strict=True)
        )

    def __enter__(self) -> MotionReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; its frames cannot be read any more."""
        self._bytes.close()


_RANGE_ROWS = 1024
"""Rows that are searched at a time."""


def _sound_headers(document: Document) -> tuple[Headers, tuple[Problem, ...]]:
    """Return the headers of a document and what else is to be known of them.

    Raises
    ------
    FormatError
        When the motion cannot be read as a whole.
    """
    found = Diagnostics(document.source.path)
    found.extend(document.faults.problems)
    found.refusal = document.faults.refusal
    headers = read_headers(document, found)
    if found.refusal is not None:
        raise FormatError(found.refusal, found.problems)
    return headers, found.problems


def _blocks(header: ComponentHeader) -> Iterator[tuple[int, npt.NDArray[np.float64]]]:
    """Return the rows (N, width) of a component as they are read, with the number of the first one.

    Raises
    ------
    FormatError
        At a faulty row.
    """
    if header.layout is None:
        return
    found, row = Diagnostics(header.location.path), 0
    for _, block in read_rows(header, header.layout, (), found, Effort([header])):
        if found.refusal is not None:
            break
        yield row, block
        row += len(block)
    if found.refusal is not None:
        raise FormatError(found.refusal, found.problems)


class _Cursor:
    """Reads the rows of one component in order."""

    def __init__(self, source: ByteSource, index: int, header: ComponentHeader) -> None:
        self._source, self._index, self._header = source, index, header
        self._blocks = _blocks(header)
        self._left: npt.NDArray[np.float64] | None = None
        self._row = 0

    def _next(self) -> npt.NDArray[np.float64] | None:
        """Return the next block of rows, without those that were returned before; None at the end."""
        try:
            found = next(self._blocks, None)
        except UnusualError as error:
            headers, _ = _sound_headers(whole_document(self._source, error))
            self._header = headers.components[self._index]
            self._blocks = _blocks(self._header)
            found = next(self._blocks, None)
        while found is not None and found[0] + len(found[1]) <= self._row:
            found = next(self._blocks, None)
        return None if found is None else found[1][max(self._row - found[0], 0) :]

    def rows(self, count: int) -> npt.NDArray[np.float64]:
        """Return the next `count` rows, fewer at the end."""
        layout = self._header.layout
        assert layout is not None
        parts: list[npt.NDArray[np.float64]] = []
        missing = count
        while missing:
            block = self._next() if self._left is None else self._left
            if block is None:
                break
            part, left = block[:missing], block[missing:]
            self._left = left if len(left) else None
            parts.append(part)
            missing -= len(part)
            self._row += len(part)
        return np.concatenate(parts) if parts else np.empty((0, layout.width))

    def values(self, count: int) -> tuple[Floats, Floats | None] | None:
        """Return the values of the next rows and their times; None at the end."""
        if self._header.layout is None:
            return None
        rows = self.rows(count)
        if not len(rows):
            return None
        values, times = self._header.layout.empty(len(rows))
        self._header.layout.store(rows, values, times)
        return values, times

    def component(self, count: int) -> Component:
        """Return a component made of the next `count` rows."""
        header = self._header
        if header.layout is None:
            return component_of(header, None, None)
        values, times = self.values(count) or header.layout.empty(0)
        return component_of(header, frozen(values), times)


def open_motion(path: str | Path) -> MotionReader:
    """Open a body motion file of any size: headers at once, frames in chunks.

    >>> with open_motion("log.seq") as reader:              # doctest: +SKIP
    ...     for chunk in reader.chunks(100_000): ...

    Raises
    ------
    FormatError
        When the headers or the first rows have a fault for which `load` returns no motion.
    """
    return MotionReader(path)
