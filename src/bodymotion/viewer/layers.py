"""What lies over the robot and is worked out of the whole motion: contacts, support polygon, measured zero moment point, trails, colours.

Each is made when it is on and known for the first time. What is off costs nothing while playing.
"""

from __future__ import annotations

from typing import Protocol

from bodymotion.viewer.insight import Insight
from bodymotion.viewer.limits import LimitColors
from bodymotion.viewer.looks import look_of
from bodymotion.viewer.scene import Scene
from bodymotion.viewer.support import FootPrints, MeasuredZmp, SupportPolygon
from bodymotion.viewer.switches import LIMIT_SWITCHES, Switches
from bodymotion.viewer.trails import Trails

__all__ = ["Layers"]


class _Mark(Protocol):
    def place(self, frame: int | None) -> None: ...

    def remove(self) -> None: ...


MARKS: dict[str, type[SupportPolygon] | type[FootPrints] | type[MeasuredZmp]] = {
    "support": SupportPolygon,
    "contacts": FootPrints,
    "measured_zmp": MeasuredZmp,
}


class Layers:
    """The layers of a scene, as they are switched on; `own_contacts` when the motion itself says which feet stand."""

    def __init__(self, scene: Scene, switches: Switches, own_contacts: bool) -> None:
        self._scene = scene
        self._switches = switches
        self._names = tuple(name for name in MARKS if name != "contacts" or not own_contacts)
        self.insight: Insight | None = None
        self._marks: dict[str, _Mark] = {}
        self._trails: Trails | None = None
        self.colors: LimitColors | None = None

    @property
    def wanted(self) -> tuple[str, ...]:
        """The switches that are on and need to know the whole motion."""
        return tuple(name for name in (*self._names, "trails", *LIMIT_SWITCHES) if getattr(self._switches, name))

    @property
    def quantities(self) -> tuple[str, ...]:
        """The quantities that these need, beside what is always worked out."""
        return ("torques",) if self._switches.torque_limits else ()

    def in_words(self) -> str:
        """Say why some of what is on cannot be shown."""
        balance = any(getattr(self._switches, name) for name in self._names)
        return self.insight.about_feet if self.insight is not None and balance else ""

    def learn(self, insight: Insight | None) -> None:
        """Go on with what is known of another motion, or of none."""
        self._clear()
        self.insight = insight

    def place(self, frame: int, holds: bool) -> None:
        """Show what is on at a frame; nothing where the motion no longer `holds`, because somebody has posed the robot."""
        insight = self.insight
        if insight is None:
            return
        at = min(frame, insight.take.num_frames - 1) if holds else None
        for name in self._names:
            on = getattr(self._switches, name)
            if on and name not in self._marks and insight.on_feet:
                self._marks[name] = MARKS[name](self._scene, insight)
            if name in self._marks:
                self._marks[name].place(at if on else None)
        self._place_trails(insight, at)
        self._color(insight, at)

    def _place_trails(self, insight: Insight, at: int | None) -> None:
        switches = self._switches
        if switches.trails and self._trails is None:
            self._trails = Trails(self._scene, insight, look_of(switches.dark))
        if self._trails is not None:
            on = (
                {name for name in ("mass", "zmp", "measured_zmp") if getattr(switches, name)}
                if switches.trails
                else set()
            )
            self._trails.place(at, switches.trail_seconds, on)

    def _color(self, insight: Insight, at: int | None) -> None:
        kind = next((kind for name, kind in LIMIT_SWITCHES.items() if getattr(self._switches, name)), None)
        if self.colors is not None and self.colors.kind != kind:
            self.colors.remove()
            self.colors = None
            self._scene.show_visuals(self._switches.visuals)
        if kind is not None and self.colors is None and insight.measures is not None:
            self.colors = LimitColors(self._scene, insight, kind)
            self._scene.show_visuals(False)
        if self.colors is not None:
            self.colors.place(at)

    def look_like(self, dark: bool) -> None:
        """Suit a light or a dark floor."""
        if self._trails is not None:
            self._trails.look_like(look_of(dark))

    def _clear(self) -> None:
        for mark in self._marks.values():
            mark.remove()
        self._marks.clear()
        if self._trails is not None:
            self._trails.remove()
            self._trails = None
        if self.colors is not None:
            self.colors.remove()
            self.colors = None
            self._scene.show_visuals(self._switches.visuals)

    def remove(self) -> None:
        """Take everything away."""
        self._clear()
