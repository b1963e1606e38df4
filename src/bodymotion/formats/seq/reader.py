"""From a document to a Motion: the rows of each component into its arrays."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import FormatError, Problem
from bodymotion.diagnostics.source import Source
from bodymotion.formats.seq import rules
from bodymotion.formats.seq.document import Document, open_document, whole_document
from bodymotion.formats.seq.headers import ComponentHeader, Headers, read_headers
from bodymotion.formats.seq.source_bytes import ByteSource, UnusualError
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.motion import (
    JOINT_DISPLACEMENT,
    LINK_POSITION,
    ZMP,
    Component,
    Motion,
    MultiSE3Seq,
    MultiValueSeq,
    OtherSeq,
    Vector3Seq,
)
from bodymotion.motion.timeline import Timeline

__all__ = [
    "MUST_BE_FINITE",
    "component_of",
    "finite_problems",
    "parse_seq",
    "read_document",
    "read_seq",
    "row_blocks",
    "source_of",
]

T = TypeVar("T")
MUST_BE_FINITE = (JOINT_DISPLACEMENT, LINK_POSITION, ZMP)
"""The contents whose numbers are."""


def read_seq(path: str | Path) -> Motion:
    """Read a body motion file (.seq, .yaml, .yml, .json) of any version.

    Parameters
    ----------
    path:
        The file. Rows in the usual shape are read in pieces: no more than the arrays and some megabytes are held in memory.

    Raises
    ------
    FormatError
        When nothing can be made of the file, with line, column and rule. What is odd but readable is in `Motion.problems`.
    """
    with ByteSource.open(path) as source:
        return read_document(source, motion_of)


def parse_seq(data: bytes, path: str = "") -> Motion:
    """Read a body motion from the bytes of a file; `path` is only for messages. Raises as `read_seq` does."""
    return read_document(ByteSource(None, data, path or None), motion_of)


def read_document(source: ByteSource, use: Callable[[Document], T]) -> T:
    """Return what `use` makes of the document: as the fast reader finds it, or else as a full YAML parse does."""
    try:
        return use(open_document(source))
    except UnusualError as error:
        why = error
    return use(whole_document(source, why))


def motion_of(document: Document) -> Motion:
    headers = read_headers(document)
    problems = list(headers.problems)
    done: dict[tuple[int, object], tuple[Floats, Floats | None, int, int]] = {}
    components: list[Component] = []
    for header in headers.components:
        values = times = None
        if header.layout is not None:
            key = (
                id(header.frames or header),
                header.layout,
            )  # aliases give one sequence of frames to several components
            if key not in done:
                try:
                    done[key] = _read(header)
                except FormatError as error:
                    # What was odd before the fault is to be known, too.
                    raise FormatError(error.problem, (*problems, *error.problems)) from error
            values, times, first, bad = done[key]
            problems += finite_problems(header, first, bad) if bad else []
        components.append(component_of(header, values, times))
    return Motion(tuple(components), headers.extra, source_of(document, headers), tuple(problems))


def source_of(document: Document, headers: Headers) -> Source:
    """Say where a motion came from, with what a writer needs to write it alike."""
    path = document.source.path
    options = {
        "style": headers.style,
        "frame_rate": headers.frame_rate,
        "se3_formats": tuple(c.se3_format for c in headers.components),
    }
    return Source("seq", Path(path) if path else None, str(headers.version), document.encoding, options)


def row_blocks(header: ComponentHeader) -> Iterator[tuple[int, npt.NDArray[np.float64]]]:
    """Return the rows (N, width) of a component as they are read, with the number of the first one, times checked.

    Raises
    ------
    FormatError
        At a row that has not the numbers it should have, or whose time does not increase.
    """
    if header.layout is None or header.frames is None:
        return
    row, last = 0, -np.inf
    for block in header.frames.blocks(header.layout, header.inside):
        if header.layout.stamped:
            times = np.concatenate([[last], block[:, 0]])
            good = (times[1:] > times[:-1]) & (times[1:] < np.inf)
            if not good.all():
                k = int(np.argmin(good))
                before = f"not after {float(times[k])!r} s, the time of the frame before" if row + k else "no time"
                where = header.frames.location(row + k, header.inside)
                raise rules.TIME_ORDER.error(f"frame {row + k} is at {float(times[k + 1])!r} s, {before}", where)
            last = times[-1]
        yield row, block
        row += len(block)


def _read(header: ComponentHeader) -> tuple[Floats, Floats | None, int, int]:
    """Return the values, the times, the first row with numbers that are not finite (−1: none), and how many such rows there are."""
    assert header.layout is not None
    bad, first = 0, -1
    blocks = row_blocks(header)
    start = next(blocks, None)  # before room is made: rows that are not as the header says are found here
    values, times = header.layout.empty(header.num_frames)
    for row, block in () if start is None else itertools.chain([start], blocks):
        stop = row + len(block)
        header.layout.store(block, values[row:stop], None if times is None else times[row:stop])
        finite = np.isfinite(block)
        if not finite.all():
            rows = np.flatnonzero(~finite.all(axis=1))
            first = row + int(rows[0]) if first < 0 else first
            bad += len(rows)
    return frozen(values), None if times is None else frozen(times), first, bad


def finite_problems(header: ComponentHeader, first: int, count: int) -> list[Problem]:
    """Say that `count` rows, the first of them `first`, hold numbers that are not finite, where that is a fault."""
    if header.content not in MUST_BE_FINITE:
        return []
    assert header.frames is not None
    more = f" and {count - 1} more" if count > 1 else ""
    message = f"{header.content} has nan or inf in frame {first}{more}"
    return [rules.NOT_FINITE.problem(message, header.frames.location(first, header.inside))]


def component_of(header: ComponentHeader, values: Floats | None, times: Floats | None) -> Component:
    """Make a component of its header and its rows (None for a component of an unknown type)."""
    if values is None:
        return OtherSeq(type=header.type, content=header.content, extra=header.extra)
    if header.has_frame_time:
        timeline = Timeline.stamped(np.empty(0) if times is None else times, header.frame_rate)
    else:
        assert header.frame_rate is not None
        timeline = Timeline.uniform(len(values), header.frame_rate)
    content, labels, extra = header.content, header.part_labels, header.extra
    if header.type == "MultiSE3Seq":
        return MultiSE3Seq(content=content, timeline=timeline, values=values, part_labels=labels, extra=extra)
    if header.type == "MultiValueSeq":
        return MultiValueSeq(content=content, timeline=timeline, values=values, part_labels=labels, extra=extra)
    relative = header.is_root_relative
    return Vector3Seq(
        content=content, timeline=timeline, values=values, part_labels=labels, extra=extra, is_root_relative=relative
    )
