"""A motion as data: from a `Motion`, or from an open file that is larger than memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bodymotion.cli.info.data import Data, about_file, number, plain, problems_of
from bodymotion.diagnostics import Problem
from bodymotion.diagnostics.source import Source
from bodymotion.formats.seq import MotionReader
from bodymotion.geometry.arrays import Floats
from bodymotion.motion import LINK_POSITION, Component, Motion, MultiSE3Seq, OtherSeq, Vector3Seq

__all__ = ["describe_motion", "describe_open_motion"]

CHUNK = 16384
"""How many frames of a large file are looked at together."""


@dataclass
class _Seen:
    """What is known of a component's values: of each number of a row the lowest and the highest, of all rows the first and the last."""

    lower: Floats | None = None
    upper: Floats | None = None
    first: Floats | None = None
    last: Floats | None = None
    non_finite: int = 0
    first_time: float | None = None
    last_time: float | None = None

    def add(self, component: Component) -> None:
        """Take the rows of a component, or of a piece of it, into account."""
        if isinstance(component, OtherSeq) or not component.num_frames:
            return
        values = component.values
        finite = np.isfinite(values)
        missing = int(values.size - np.count_nonzero(finite))
        self.non_finite += missing
        lower = (np.where(finite, values, np.inf) if missing else values).min(axis=0)
        upper = (np.where(finite, values, -np.inf) if missing else values).max(axis=0)
        self.lower = lower if self.lower is None else np.minimum(self.lower, lower)
        self.upper = upper if self.upper is None else np.maximum(self.upper, upper)
        self.first = np.array(values[0]) if self.first is None else self.first
        self.last = np.array(values[-1])
        if component.timeline.stamps is not None:
            self.first_time = float(component.timeline.stamps[0]) if self.first_time is None else self.first_time
            self.last_time = float(component.timeline.stamps[-1])


@dataclass
class _Component:
    """A component by what its header and its values say."""

    type: str
    content: str
    num_frames: int | None = None
    num_parts: int = 0
    rate: float | None = None
    stamped: bool = False
    is_root_relative: bool = False
    part_labels: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    seen: _Seen = field(default_factory=_Seen)


def describe_motion(motion: Motion, path: Path, parts: bool = False) -> Data:
    """Return all that `info` knows of a motion, as JSON can hold it; with `parts`, the range of each joint and link, too."""
    components = []
    for c in motion.components:
        if isinstance(c, OtherSeq):
            components.append(_Component(c.type, c.content, extra=c.extra))
            continue
        line = c.timeline
        components.append(
            _Component(
                type(c).__name__,
                c.content,
                line.num_frames,
                1 if isinstance(c, Vector3Seq) else c.num_parts,
                line.import_rate if line.frame_rate is None else line.frame_rate,
                line.stamps is not None,
                isinstance(c, Vector3Seq) and c.is_root_relative,
                c.part_labels,
                c.extra,
            )
        )
        components[-1].seen.add(c)
    return _described(components, motion.source, motion.extra, motion.problems, path, parts)


def describe_open_motion(
    reader: MotionReader, path: Path, parts: bool = False, progress: Callable[[int, int], None] | None = None
) -> Data:
    """Return the same of an open file, in little memory, from its headers and the count of its rows.

    The rows are read, some at a time, only with `parts`, or where they hold the times. `progress` is told how many frames have been
    read, and of how many.
    """
    components = [
        _Component(
            h.type,
            h.content,
            None if h.layout is None else h.num_frames,
            1 if h.type == "Vector3Seq" else h.num_parts,
            h.frame_rate,
            h.has_frame_time,
            h.is_root_relative,
            h.part_labels,
            h.extra,
        )
        for h in reader.components
    ]
    problems = list(reader.problems)
    if parts or any(c.stamped for c in components):
        met: dict[tuple[str, str], Problem] = {}
        total = max((c.num_frames or 0 for c in components), default=0)
        for count, chunk in enumerate(reader.chunks(CHUNK), 1):
            for component, piece in zip(components, chunk.components, strict=True):
                component.seen.add(piece)
            for problem in chunk.problems:
                met.setdefault((problem.rule, (problem.location.inside or "").partition(".frames")[0]), problem)
            if progress is not None:
                progress(min(count * CHUNK, total), total)
        problems += met.values()
    return _described(components, reader.source, reader.extra, problems, path, parts)


def _described(
    components: Sequence[_Component],
    source: Source,
    extra: Mapping[str, object],
    problems: Sequence[Problem],
    path: Path,
    parts: bool,
) -> Data:
    rows = [_component(component, parts) for component in components]
    return {
        **about_file(path, "motion", source.format),
        "version": source.version,
        "encoding": source.encoding,
        "options": plain(source.options),
        **_shared_time([row for row in rows if "num_frames" in row]),
        "components": rows,
        "root_displacement": _root_displacement(components),
        "extra": plain(extra),
        **problems_of(problems),
    }


def _shared_time(rows: list[Data]) -> Data:
    """Return rate, count and duration where all components have the same, else None."""
    names = ("frame_rate", "num_frames", "duration")
    times = ("first_time", *names)
    same = rows and all(row[name] == rows[0][name] for row in rows for name in times)
    return {name: rows[0][name] if same else None for name in names}


def _component(c: _Component, parts: bool) -> Data:
    if c.num_frames is None:
        return {"type": c.type, "content": c.content, "extra": plain(c.extra)}
    first, last = c.seen.first_time, c.seen.last_time
    if not c.stamped and c.num_frames and c.rate is not None:
        first, last = 0.0, (c.num_frames - 1) / c.rate
    data: Data = {
        "type": c.type,
        "content": c.content,
        "num_parts": c.num_parts,
        "num_frames": c.num_frames,
        "frame_rate": None if c.stamped else c.rate,
        "has_frame_time": c.stamped,
        "import_rate": c.rate if c.stamped else None,
        "first_time": first,
        "last_time": last,
        "duration": 0.0 if not c.num_frames else None if first is None or last is None else number(last - first),
        "part_labels": list(c.part_labels),
        "extra": plain(c.extra),
    }
    if c.type == Vector3Seq.__name__:
        data["is_root_relative"] = c.is_root_relative
    data["range"] = _range(c)
    if parts and c.type != Vector3Seq.__name__:
        data["parts"] = _parts(c)
    return data


def _extent(c: _Component) -> tuple[Floats, Floats] | None:
    """Return the lowest and highest of each part: numbers, or positions x y z."""
    if c.seen.lower is None or c.seen.upper is None or not c.seen.lower.size:
        return None
    if c.type == MultiSE3Seq.__name__:
        return c.seen.lower[:, :3], c.seen.upper[:, :3]
    return c.seen.lower, c.seen.upper


def _range(c: _Component) -> Data | None:
    """Return the extent of all parts together: numbers for a MultiValueSeq, x y z for poses and vectors."""
    extent = _extent(c)
    if extent is None:
        return None
    lower, upper = extent
    if c.type != Vector3Seq.__name__:
        lower, upper = lower.min(axis=0), upper.max(axis=0)
    return {"lower": plain(lower), "upper": plain(upper), "non_finite": c.seen.non_finite}


def _parts(c: _Component) -> list[Data]:
    extent = _extent(c)
    if extent is None:
        return []
    return [
        {
            "part": i,
            "label": c.part_labels[i] if i < len(c.part_labels) else "",
            "lower": plain(low),
            "upper": plain(high),
        }
        for i, (low, high) in enumerate(zip(*extent, strict=True))
    ]


def _root_displacement(components: Sequence[_Component]) -> Data | None:
    """Return where the root is at the first and at the last frame, and how far apart the two are."""
    for c in reversed(components):
        if c.type == MultiSE3Seq.__name__ and c.content == LINK_POSITION:
            if c.seen.first is None or c.seen.last is None or not len(c.seen.first):
                return None
            start, end = c.seen.first[0, :3], c.seen.last[0, :3]
            with np.errstate(all="ignore"):
                distance = float(np.linalg.norm(end - start))
            return {"start": plain(start), "end": plain(end), "distance": number(distance)}
    return None
