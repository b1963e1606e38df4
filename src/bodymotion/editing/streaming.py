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
from bodymotion.formats.seq.headers import ComponentHeader
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

# The smallest size of a number in a row: ``0.0, ``.
MIN_BYTES_OF_NUMBER = 5


def trim_file(
    source: str | Path,
    target: str | Path,
    start: float | None = None,
    end: float | None = None,
    *,
    progress: Progress | None = None,
) -> tuple[Problem, ...]:
    """Write the frames of one .seq file from time `start` to time `end` into another.

    In seconds, both included; see `bodymotion.editing.trim`.

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
    low = -np.inf if start is None else start - ON_FRAME
    high = np.inf if end is None else end + ON_FRAME
    with open_motion(source) as reader:
        # A header has the number of frames, so frames are counted before they are
        # written.
        headers = list(reader.components)
        ends = reader.end_times()
        unchanged = []
        for index, header in enumerate(reader.components):
            if header.layout is None:
                problem = unknown_component(header.type, header.content, "trimmed")
                unchanged.append(problem)
                continue
            count = 0
            for times in _times(reader, index):
                count += int(np.count_nonzero((times >= low) & (times <= high)))
            extent = ends[index]
            if extent is not None and not count:
                raise ValueError(
                    f"{header.content} has no frame there: its frames are from "
                    f"{extent[0]:g} s to {extent[1]:g} s"
                )
            headers[index] = replace(header, num_frames=count)

        def cut(_: int, rows: Rows) -> Pieces:
            for times, stamps, values in rows:
                is_inside = (times >= low) & (times <= high)
                if is_inside.any():
                    if stamps is not None:
                        # Time stamps count from the start, as in `trim`.
                        stamps = stamps[is_inside] - (start or 0.0)
                    yield stamps, values[is_inside]

        return (*write_rows(reader, target, headers, cut, progress), *unchanged)


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
    with open_motion(source) as reader:
        timed = [header for header in reader.components if header.layout is not None]
        rate = common_rate((header.frame_rate for header in timed), frame_rate)
        # The number of frames of each component is needed before they are written.
        counts = {}
        for index, ends in enumerate(reader.end_times()):
            if ends is not None:
                # The number of frames depends only on the last time.
                timeline = Timeline.stamped([ends[1]])
                counts[index] = frames_needed(timeline, rate, method, start)
        headers = list(reader.components)
        num_numbers = 0
        for index, header in enumerate(reader.components):
            if header.layout is not None:
                count = counts.get(index, 0)
                num_numbers += count * header.layout.width
                headers[index] = replace(
                    header, num_frames=count, frame_rate=rate, has_frame_time=False
                )
        # A late first time stamp can ask for more frames than the disk has room for.
        size = MIN_BYTES_OF_NUMBER * num_numbers
        _check_disk(Path(target), size, max(counts.values(), default=0), rate)
        # By component: where linear interpolation crosses jumps by full turns.
        wraps: dict[int, list[Wrap]] = {}

        def is_resampled(header: ComponentHeader) -> bool:
            is_at_rate = not header.has_frame_time and header.frame_rate == rate
            return bool(start) or not is_at_rate

        def resample(index: int, rows: Rows) -> Pieces:
            header = reader.components[index]
            is_joints = header.content == JOINT_DISPLACEMENT
            found = None
            if is_joints and method == "linear" and is_resampled(header):
                found = wraps.setdefault(index, [])
            return _resampled(rows, counts.get(index, 0), rate, method, start, found)

        notation = Notation(version, style, se3_format, digits)
        problems = list(
            write_rows(reader, target, headers, resample, progress, notation)
        )
        # As `Motion.resample`: components of unknown types are reported only when
        # others change.
        if start or any(map(is_resampled, timed)):
            for header in reader.components:
                if header.layout is None:
                    problems.append(not_resampled(header.type, header.content))
        for index, found in wraps.items():
            content = reader.components[index].content
            problem = wrap_problem(tuple(found), content)
            if problem is not None:
                problems.append(problem)
        return tuple(problems)


def _check_disk(target: Path, size: int, count: int, rate: float) -> None:
    """Raise ValueError where the disk cannot hold the result, before writing begins."""
    # A device or a pipe takes no room on a disk.
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
    # Frames up to the last row are written, the others wait for the rows after it.
    for more, _, rows in source:
        times = np.concatenate([times[-1:], more])
        values = np.concatenate([values[-1:], rows]) if len(values) else rows
        check_increasing(times)
        if wraps is not None:
            # The index in the file of the first row: that of the row before, where one
            # stayed.
            first = read - (len(values) - len(rows))
            for wrap in find_wraps(values):
                wraps.append(replace(wrap, frame=first + wrap.frame))
        read += len(rows)
        final = _num_final_frames(float(times[-1]) - start, rate, method)
        yield from _frames(times, values, done, min(final, count), rate, method, start)
        done = max(done, min(final, count))
    # Behind the last row its values are held.
    yield from _frames(times, values, done, count, rate, method, start)


def _num_final_frames(last: float, rate: float, method: Method) -> int:
    """Return the number of frames that do not depend on rows after time `last`."""
    if method != "linear":
        return int(taking_effect(np.array([last]), rate, method)[0])
    # The product may be rounded up to an integer: that frame is still after `last`.
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
    """Yield resampled frames from `first` to before `last`, in pieces."""
    # Numbers of a frame. Pieces are so long that they have about `CHUNK_NUMBERS`.
    width = max(int(np.prod(values.shape[1:])), 1)
    step = max(CHUNK_NUMBERS // width, 1)
    # (N,) The first frame in which each row is held.
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
        for times, _, _ in reader.rows(index, CHUNK_NUMBERS):
            yield times
        return
    # At a fixed rate the header is enough.
    for first in range(0, header.num_frames, CHUNK_NUMBERS):
        frames = np.arange(first, min(first + CHUNK_NUMBERS, header.num_frames))
        yield frames / (header.frame_rate or 1.0)
