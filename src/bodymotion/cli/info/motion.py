"""A `Motion` as data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from bodymotion.arrays import Floats
from bodymotion.cli.info.data import Data, about_file, number, plain, problems_of
from bodymotion.motion import LINK_POSITION, Component, Motion, MultiSE3Seq, OtherSeq, Vector3Seq
from bodymotion.timeline import Timeline

__all__ = ["Extent", "describe_motion"]


class Extent:
    """The lowest and highest value of each number of a row, met piece by piece, and how many numbers are not finite."""

    def __init__(self) -> None:
        self.lower: Floats | None = None
        self.upper: Floats | None = None
        self.first: Floats | None = None
        self.last: Floats | None = None
        self.non_finite = 0

    def add(self, values: Floats) -> None:
        """Take rows (T, …) into account."""
        if not len(values):
            return
        finite = np.isfinite(values)
        missing = int(values.size - np.count_nonzero(finite))
        self.non_finite += missing
        lower = (np.where(finite, values, np.inf) if missing else values).min(axis=0)
        upper = (np.where(finite, values, -np.inf) if missing else values).max(axis=0)
        self.lower = lower if self.lower is None else np.minimum(self.lower, lower)
        self.upper = upper if self.upper is None else np.maximum(self.upper, upper)
        self.first = np.array(values[0]) if self.first is None else self.first
        self.last = np.array(values[-1])


def describe_motion(motion: Motion, path: Path, parts: bool = False) -> Data:
    """Give all that `info` knows of a motion, as JSON can hold it; with `parts`, the range of each joint and link, too."""
    extents = []
    for component in motion.components:
        extent = Extent()
        if not isinstance(component, OtherSeq):
            extent.add(component.values)
        extents.append(extent)
    components = [_component(c, e, parts) for c, e in zip(motion.components, extents, strict=True)]
    return {
        **about_file(path, "motion", motion.source.format),
        "version": motion.source.version,
        "encoding": motion.source.encoding,
        "options": plain(motion.source.options),
        **_shared_time([c.timeline for c in motion.timed]),
        "components": components,
        "root_displacement": _root_displacement(motion.components, extents),
        "extra": plain(motion.extra),
        **problems_of(motion.problems),
    }


def _shared_time(timelines: list[Timeline]) -> Data:
    """Give rate, count and duration where all components have the same, else None."""
    shared = timelines[0] if timelines and all(t == timelines[0] for t in timelines) else None
    if shared is None:
        return {"frame_rate": None, "num_frames": None, "duration": None}
    return {"frame_rate": shared.frame_rate, "num_frames": shared.num_frames, "duration": number(shared.duration)}


def _component(component: Component, extent: Extent, parts: bool) -> Data:
    if isinstance(component, OtherSeq):
        return {"type": component.type, "content": component.content, "extra": plain(component.extra)}
    timeline = component.timeline
    data: Data = {
        "type": type(component).__name__,
        "content": component.content,
        "num_parts": 1 if isinstance(component, Vector3Seq) else component.num_parts,
        "num_frames": timeline.num_frames,
        "frame_rate": timeline.frame_rate,
        "has_frame_time": timeline.stamps is not None,
        "import_rate": timeline.import_rate,
        "first_time": number(timeline.times[0]) if timeline.num_frames else None,
        "last_time": number(timeline.times[-1]) if timeline.num_frames else None,
        "duration": number(timeline.duration),
        "part_labels": list(component.part_labels),
        "extra": plain(component.extra),
    }
    if isinstance(component, Vector3Seq):
        data["is_root_relative"] = component.is_root_relative
    data["range"] = _range(component, extent)
    if parts and not isinstance(component, Vector3Seq):
        data["parts"] = _parts(component, extent)
    return data


def _positions(component: Component, values: Floats) -> Floats:
    return values[..., :3] if isinstance(component, MultiSE3Seq) else values


def _range(component: Component, extent: Extent) -> Data | None:
    """Give the extent of all parts together: numbers for a MultiValueSeq, x y z for poses and vectors."""
    if extent.lower is None or extent.upper is None or not extent.lower.size:
        return None
    lower, upper = _positions(component, extent.lower), _positions(component, extent.upper)
    if isinstance(component, Vector3Seq):
        low, high = plain(lower), plain(upper)
    elif isinstance(component, MultiSE3Seq):
        low, high = plain(lower.min(axis=0)), plain(upper.max(axis=0))
    else:
        low, high = number(lower.min()), number(upper.max())
    return {"lower": low, "upper": high, "non_finite": extent.non_finite}


def _parts(component: Component, extent: Extent) -> list[Data]:
    if extent.lower is None or extent.upper is None or isinstance(component, OtherSeq):
        return []
    lower, upper = _positions(component, extent.lower), _positions(component, extent.upper)
    labels = component.part_labels
    return [
        {"part": i, "label": labels[i] if i < len(labels) else "", "lower": plain(low), "upper": plain(high)}
        for i, (low, high) in enumerate(zip(lower, upper, strict=True))
    ]


def _root_displacement(components: tuple[Component, ...], extents: list[Extent]) -> Data | None:
    """Give where the root is at the first and at the last frame, and how far apart the two are."""
    for component, extent in zip(reversed(components), reversed(extents), strict=True):
        if isinstance(component, MultiSE3Seq) and component.content == LINK_POSITION:
            if extent.first is None or extent.last is None or not len(extent.first):
                return None
            start, end = extent.first[0, :3], extent.last[0, :3]
            return {"start": plain(start), "end": plain(end), "distance": number(_distance(start, end))}
    return None


def _distance(start: npt.NDArray[np.float64], end: npt.NDArray[np.float64]) -> float:
    with np.errstate(all="ignore"):
        return float(np.linalg.norm(end - start))
