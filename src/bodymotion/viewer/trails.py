"""Where the centre of mass and the zero moment points were in the last seconds: lines that fade into the floor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bodymotion.geometry.arrays import Floats
from bodymotion.motion.timeline import Timeline
from bodymotion.viewer.insight import Insight
from bodymotion.viewer.looks import Look
from bodymotion.viewer.overlays import MASS_COLOR, ZMP_COLOR
from bodymotion.viewer.support import MEASURED_ZMP, SMALLEST_CHANGE

if TYPE_CHECKING:
    import viser

    from bodymotion.viewer.scene import Scene

__all__ = ["PIECES", "Trails", "trail"]

PIECES = 40
"""A trail has so many straight pieces."""


def trail(points: Floats, timeline: Timeline, time: float, seconds: float) -> Floats:
    """Return the pieces (PIECES, 2, 3), oldest first, of the way that points (T, 3) went in the last seconds before a time.

    Pieces before the first frame, and those with a point that is NaN, have no length.
    """
    times = np.linspace(max(time - seconds, float(timeline.times[0])), time, PIECES + 1)
    way = points[np.minimum(np.asarray(timeline.frames_at(times)), len(points) - 1)]
    pieces = np.stack([way[:-1], way[1:]], axis=1)
    unknown = ~np.isfinite(pieces).all(axis=(1, 2))
    if unknown.any():
        known = way[np.isfinite(way).all(axis=1)]
        pieces[unknown] = known[-1] if len(known) else 0.0
    return pieces


class Trails:
    """The trails of an insight."""

    def __init__(self, scene: Scene, insight: Insight, look: Look) -> None:
        self._scene = scene
        self._timeline = insight.take.timeline
        ways = {
            "mass": (insight.center_of_mass if insight.take.body.mass > 0 else None, MASS_COLOR),
            "zmp": (insight.given_zmp, ZMP_COLOR),
            "measured_zmp": (insight.zmp, MEASURED_ZMP),
        }
        self._ways = {name: (points, color) for name, (points, color) in ways.items() if points is not None}
        self._up = np.array([0.0, 0.0, 0.002 * scene.size])
        self._lines: dict[str, viser.LineSegmentsHandle] = {}
        for name, (_, color) in self._ways.items():
            self._lines[name] = scene.server.scene.add_line_segments(
                f"/world/trail {name}",
                np.zeros((PIECES, 2, 3)),
                faded(color, look),
                thickness=3.5,
                thickness_units="screen",
                visible=False,
            )
        self._sent = {name: np.full((PIECES, 2, 3), np.nan) for name in self._ways}
        self._shown = dict.fromkeys(self._ways, False)

    def place(self, frame: int | None, seconds: float, on: set[str]) -> None:
        """Show those that are `on` up to a frame, or hide them all."""
        for name, (points, _) in self._ways.items():
            shown = frame is not None and name in on
            if frame is not None and shown:
                pieces = trail(points, self._timeline, float(self._timeline.times[frame]), seconds) + self._up
                if not np.abs(pieces - self._sent[name]).max() <= SMALLEST_CHANGE:
                    self._lines[name].points = pieces.astype(np.float32)
                    self._sent[name] = pieces
            if shown != self._shown[name]:
                self._lines[name].visible = self._shown[name] = shown

    def look_like(self, look: Look) -> None:
        """Fade into the floor of another look."""
        for name, (_, color) in self._ways.items():
            self._lines[name].colors = faded(color, look)

    def remove(self) -> None:
        """Take them away."""
        for line in self._lines.values():
            line.remove()


def faded(color: tuple[int, int, int], look: Look) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """Return the colours (PIECES, 2, 3) of a trail: the floor's where it begins, its own where it ends."""
    share = np.linspace(0.0, 1.0, PIECES + 1)[:, None] ** 0.7
    colors = share * np.array(color) + (1.0 - share) * np.array(look.fade)
    return np.stack([colors[:-1], colors[1:]], axis=1).astype(np.uint8)
