"""From one .seq file to another, in as much memory as a piece needs: for motions larger than memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO

import numpy as np

from bodymotion.diagnostics import Problem
from bodymotion.formats.seq import ComponentHeader
from bodymotion.formats.seq.streaming import MotionReader
from bodymotion.formats.seq.writing.names import SE3Format, Style
from bodymotion.formats.seq.writing.plan import Head, known_version
from bodymotion.formats.seq.writing.writer import SeqWriter, style_like
from bodymotion.formats.text.decimals import PIECE
from bodymotion.geometry.arrays import Floats
from bodymotion.motion import OtherSeq

__all__ = ["can_copy", "copy_seq"]


def can_copy(reader: MotionReader, version: int | str | None = None, frame_time: bool | None = None) -> bool:
    """Whether the frames can go from file to file one by one: not when stamps must become a rate."""
    stamped = any(header.has_frame_time for header in reader.components)
    return not stamped or (known_version(version, reader.source.version) > 1 and frame_time is not False)


def copy_seq(
    reader: MotionReader,
    stream: BinaryIO,
    *,
    version: int | str | None = None,
    style: Style | None = None,
    se3_format: SE3Format | None = None,
    frame_time: bool | None = None,
    digits: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Problem, ...]:
    """Write what a reader reads; gives what the file does not hold of it. Options are those of `write_seq`.

    `progress(done, total)` is called with numbers of frames, summed over the components.
    """
    chosen = known_version(version, reader.source.version)
    if frame_time and chosen == 1:
        raise ValueError("version 1 of .seq knows no time-stamped frames; versions 2, 3 and 4 do")
    if not can_copy(reader, chosen, frame_time):
        raise ValueError("time stamps can become a rate only in memory: load the motion and save it")
    writer = SeqWriter(stream, chosen, style or style_like(reader.source), se3_format or "XYZQWQXQYQZ", digits)
    timed = [header for header in reader.components if header.layout is not None]
    writer.top(reader.extra, [_head(header, frame_time) for header in timed])
    total, done = sum(header.num_frames for header in timed), 0
    for index, header in enumerate(reader.components):
        if header.layout is None:
            writer.other(OtherSeq(type=header.type, content=header.content, extra=header.extra))
            continue
        head, passed = _head(header, frame_time), done

        def told(
            header: ComponentHeader = header, head: Head = head, index: int = index, passed: int = passed
        ) -> Iterator[tuple[Floats | None, Floats]]:
            row = 0
            width = max(1, int(header.layout.width)) if header.layout else 1
            for times, values in reader.pieces(index, max(1, 32 * PIECE // width)):
                if head.has_frame_time and times is None:
                    times = np.arange(row, row + len(values)) / (header.frame_rate or 1.0)
                row += len(values)
                if progress is not None:
                    progress(passed + row, total)
                yield times, values

        writer.component(head, told())
        done += header.num_frames
    return writer.end()


def _head(header: ComponentHeader, frame_time: bool | None) -> Head:
    return Head(
        type=header.type,
        content=header.content,
        num_frames=header.num_frames,
        num_parts=None if header.type == "Vector3Seq" else header.num_parts,
        frame_rate=header.frame_rate,
        has_frame_time=header.has_frame_time if frame_time is None else frame_time,
        is_root_relative=header.is_root_relative and header.type == "Vector3Seq",
        part_labels=header.part_labels,
        extra=header.extra,
    )
