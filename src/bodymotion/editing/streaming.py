"""Trim or resample files larger than memory, row by row from one .seq file to another.

The result is that of `trim` and `Motion.resample`. Only methods that work row by row
are supported: holding and linear interpolation. A cubic spline or a filter needs the
whole motion.
"""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from bodymotion.diagnostics import Problem
from bodymotion.formats.seq import open_motion
from bodymotion.formats.seq.streaming import MotionReader
from bodymotion.formats.seq.writer import (
    CHUNK_NUMBERS,
    Notation,
    Pieces,
    Progress,
    Rows,
    SE3Format,
    Style,
    write_rows,
)
from bodymotion.geometry.arrays import Floats
from bodymotion.motion import JOINT_DISPLACEMENT, not_resampled
from bodymotion.motion.components import ON_FRAME, Timeline
from bodymotion.motion.interpolation import (
    HOLDING,
    Method,
    frames_needed,
    sampled,
    taking_effect,
)
from bodymotion.motion.interpolation.resampling import common_rate
from bodymotion.motion.interpolation.sampling import (
    Wrap,
    check_increasing,
    find_wraps,
    wrap_problem,
)
from bodymotion.motion.rules import unknown_component

MIN_BYTES_OF_NUMBER = 5  # The smallest size of a number in a row: ``0.0, ``.


def trim_file(
    source: str | Path,
    target: str | Path,
    start: float | None = None,
    end: float | None = None,
    *,
    progress: Progress | None = None,
) -> tuple[Problem, ...]:
    """Write the frames of one .seq file from time `start` to time `end` [s], both included, into another.

    See `bodymotion.editing.trim`.

    Parameters
    ----------
    progress:
        Called with the number of frames read so far, and of all frames.

    Returns
    -------
    The problems of the reader and of the writer.
    """
    if start is not None and end is not None and not end >= start:
        raise ValueError(f"the end, {end:g} s, is before the start, {start:g} s")
    if start is None:
        low = -np.inf
    else:
        low = start - ON_FRAME
    if end is None:
        high = np.inf
    else:
        high = end + ON_FRAME
    with open_motion(source) as reader:
        headers = list(reader.components)
        ends = reader.end_times()
        for index, header in enumerate(reader.components):
            if header.layout is None:
                continue
            count = sum(
                int(np.count_nonzero((t >= low) & (t <= high)))
                for t in _times(reader, index)
            )
            range_of_times = ends[index]
            if range_of_times is not None and not count:
                message = f"{header.content} has no frame there: its frames are from {range_of_times[0]:g} s to {range_of_times[1]:g} s"
                raise ValueError(message)
            headers[index] = replace(header, num_frames=count)

        def cut(_: int, rows: Rows) -> Pieces:
            for times, stamps, values in rows:
                kept = (times >= low) & (times <= high)
                if kept.any():
                    yield (
                        None if stamps is None else stamps[kept] - (start or 0.0),
                        values[kept],
                    )

        left = [
            unknown_component(h.type, h.content, "trimmed")
            for h in reader.components
            if h.layout is None
        ]
        return (*write_rows(reader, target, headers, cut, progress), *left)


def resample_file(
    source: str | Path,
    target: str | Path,
    frame_rate: float | None = None,
    method: Method = "linear",
    *,
    start: float = 0.0,
    progress: Progress | None = None,
    version: int | str | None = None,
    style: Style | None = None,
    se3_format: SE3Format = "XYZQWQXQYQZ",
    digits: int | None = None,
) -> tuple[Problem, ...]:
    """Resample a .seq file to a frame rate, and write it to another file.

    See `Motion.resample`. All else is as for `trim_file`.

    Version, style, order and digits are those of
    `bodymotion.formats.seq.writer.write_seq`.

    Raises ValueError for a method that needs the motion as a whole; and as
    `Motion.resample`.
    """
    if method != "linear" and method not in HOLDING:
        raise ValueError(
            f"{method!r} needs the motion as a whole: load it and use Motion.resample()"
        )
    found: dict[int, list[Wrap]] = {}
    with open_motion(source) as reader:
        timed = [header for header in reader.components if header.layout is not None]
        rate = common_rate((header.frame_rate for header in timed), frame_rate)
        counts = {
            k: frames_needed(Timeline.stamped([ends[1]]), rate, method, start)
            for k, ends in enumerate(reader.end_times())
            if ends is not None
        }
        widths = [
            0 if header.layout is None else header.layout.width
            for header in reader.components
        ]
        numbers = sum(count * widths[k] for k, count in counts.items())
        _check_disk(
            Path(target),
            MIN_BYTES_OF_NUMBER * numbers,
            max(counts.values(), default=0),
            rate,
        )
        headers = [
            header
            if header.layout is None
            else replace(
                header,
                num_frames=counts.get(k, 0),
                frame_rate=rate,
                has_frame_time=False,
            )
            for k, header in enumerate(reader.components)
        ]

        def changed(index: int, rows: Rows) -> Pieces:
            header = reader.components[index]
            is_unchanged = (
                not header.has_frame_time and header.frame_rate == rate and not start
            )
            is_watched = (
                header.content == JOINT_DISPLACEMENT
                and method == "linear"
                and not is_unchanged
            )
            if is_watched:
                wraps = found.setdefault(index, [])
            else:
                wraps = None
            return _resampled(rows, counts.get(index, 0), rate, method, start, wraps)

        problems = write_rows(
            reader,
            target,
            headers,
            changed,
            progress,
            Notation(version, style, se3_format, digits),
        )
        jumps = [
            wrap_problem(tuple(wraps), reader.components[k].content)
            for k, wraps in found.items()
        ]
        is_resampled = start or any(
            header.has_frame_time or header.frame_rate != rate for header in timed
        )
        if is_resampled:
            left = [
                not_resampled(h.type, h.content)
                for h in reader.components
                if h.layout is None
            ]
        else:
            left = []
        return (
            *problems,
            *left,
            *(problem for problem in jumps if problem is not None),
        )


def _check_disk(target: Path, size: int, count: int, rate: float) -> None:
    """Raise ValueError where the disk cannot hold the result, before writing begins."""
    if target.exists() and not target.is_file():
        return
    try:
        free = shutil.disk_usage(target.resolve().parent).free
    except OSError:
        return
    if size > free:
        raise ValueError(
            f"{count} frames at {rate:g} Hz take at least {size / 1e9:.1f} GB, the "
            f"disk has {free / 1e9:.1f} GB left: if times begin "
            "late, `retime --start first` leaves out the time before them"
        )


def _resampled(
    source: Rows,
    count: int,
    rate: float,
    method: Method,
    start: float,
    wraps: list[Wrap] | None,
) -> Pieces:
    """Return the frames 0…count−1 piece by piece.

    The last row that was read stays, as the one before the next piece.
    """
    times = np.empty(0)
    values = np.empty((0,))
    done = read = 0
    for more, _, rows in source:
        times = np.concatenate([times[-1:], more])
        if len(values):
            values = np.concatenate([values[-1:], rows])
        else:
            values = rows
        check_increasing(times)
        if wraps is not None:
            wraps += [
                replace(w, frame=w.frame + read - (len(values) - len(rows)))
                for w in find_wraps(values)
            ]
        read += len(rows)
        final = _num_final_frames(float(times[-1]) - start, rate, method)
        yield from _frames(times, values, done, min(final, count), rate, method, start)
        done = max(done, min(final, count))
    yield from _frames(times, values, done, count, rate, method, start)


def _num_final_frames(last: float, rate: float, method: Method) -> int:
    """Return the number of frames that do not depend on rows after one at time `last`."""
    if method != "linear":
        return int(taking_effect(np.array([last]), rate, method)[0])
    frame = int(np.floor(last * rate))
    if frame / rate <= last:
        return frame + 1
    return frame


def _frames(
    times: Floats,
    values: Floats,
    first: int,
    last: int,
    rate: float,
    method: Method,
    start: float,
) -> Pieces:
    width = max(int(np.prod(values.shape[1:])), 1)
    step = max(CHUNK_NUMBERS // width, 1)
    effect = taking_effect(times - start, rate, method)
    for frame in range(first, last, step):
        frames = np.arange(frame, min(frame + step, last))
        if method == "linear":
            yield None, sampled(values, times, start + frames / rate)
        else:
            before = np.searchsorted(effect, frames, side="right") - 1
            yield None, values[np.clip(before, 0, len(values) - 1)]


def _times(reader: MotionReader, index: int) -> Iterator[Floats]:
    """Return the times of a component's frames.

    Only time stamps have to be read for that.
    """
    header = reader.components[index]
    if header.has_frame_time:
        yield from (times for times, _, _ in reader.rows(index, CHUNK_NUMBERS))
    else:
        for first in range(0, header.num_frames, CHUNK_NUMBERS):
            yield np.arange(first, min(first + CHUNK_NUMBERS, header.num_frames)) / (
                header.frame_rate or 1.0
            )
