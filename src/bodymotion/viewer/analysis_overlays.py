"""Overlays that need the analysis of the whole motion: contacts, support polygon, computed ZMP, trails, colours of limits.

Each is made when it is on and the analysis is there for the first time. Overlays that are off cost nothing during playback, and nothing is
sent for what does not move.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats
from bodymotion.motion.components import Timeline
from bodymotion.scene.options import LIMIT_OPTIONS, DisplayOptions
from bodymotion.scene.theme import DARK, LIGHT, MASS_COLOR, STANCE, SWING, ZMP_COLOR, Rgb, Theme
from bodymotion.viewer.analysis import MotionAnalysis
from bodymotion.viewer.limit_colors import LimitColors
from bodymotion.viewer.nodes import RobotNodes
from bodymotion.viewer.overlays import NO_SHADOW, ON_SCREEN, POSITION_DIGITS

if TYPE_CHECKING:
    import viser

SUPPORT_COLOR, COMPUTED_ZMP_COLOR = (70, 120, 220), (0, 140, 110)
LAYER_HEIGHT = 0.0012
"""Height of a flat overlay above the ground, in sizes of the robot, against flicker."""
COLLISION_COLOR = (215, 25, 30)
MAX_COLLISIONS = 12
"""Collisions of one frame that are shown."""
TRAIL_PIECES = 40


class _Overlay(Protocol):
    def place(self, frame: int | None) -> None: ...

    def remove(self) -> None: ...


class AnalysisOverlays:
    """The overlays of one robot, as the display options have them; `has_contacts` when the motion itself records contacts."""

    def __init__(self, nodes: RobotNodes, options: DisplayOptions, has_contacts: bool) -> None:
        self._nodes = nodes
        self._options = options
        self._names = tuple(name for name in _OVERLAYS if name != "contacts" or not has_contacts)
        self.analysis: MotionAnalysis | None = None
        self._made: dict[str, _Overlay] = {}
        self._trails: Trails | None = None
        self.colors: LimitColors | None = None

    @property
    def needed(self) -> tuple[str, ...]:
        """The options that are on and need the analysis."""
        names = (*self._names, "contacts", "trails", *LIMIT_OPTIONS)
        return tuple(dict.fromkeys(name for name in names if getattr(self._options, name, False)))

    @property
    def quantities(self) -> tuple[str, ...]:
        """The quantities that they need, beyond those that every analysis has."""
        return ("torques",) if self._options.torque_limits else ()

    def describe(self) -> str:
        """Return why an overlay that is on cannot be shown."""
        balance = any(getattr(self._options, name, False) for name in self._names)
        return self.analysis.no_feet_reason if self.analysis is not None and balance else ""

    def set_analysis(self, analysis: MotionAnalysis | None) -> None:
        """Show another analysis, or none."""
        self.remove()
        self.analysis = analysis

    def place(self, frame: int, recorded: bool) -> None:
        """Show a frame; nothing unless the `recorded` pose is shown, because a pose set by hand was not analyzed."""
        analysis = self.analysis
        if analysis is None:
            return
        at = min(frame, analysis.scene.num_frames - 1) if recorded else None
        for name in self._names:
            on = getattr(self._options, "contacts" if name == "overlaps" else name)
            if on and name not in self._made and (analysis.on_feet or name == "overlaps"):
                self._made[name] = _OVERLAYS[name](self._nodes, analysis)
            if name in self._made:
                self._made[name].place(at if on else None)
        self._place_trails(analysis, at)
        self._place_colors(analysis, at)

    def _place_trails(self, analysis: MotionAnalysis, at: int | None) -> None:
        options = self._options
        if options.trails and self._trails is None:
            self._trails = Trails(self._nodes, analysis, DARK if options.dark else LIGHT)
        if self._trails is not None:
            on = {name for name in ("mass", "zmp", "measured_zmp") if options.trails and getattr(options, name)}
            self._trails.place(at, options.trail_seconds, on)

    def _place_colors(self, analysis: MotionAnalysis, at: int | None) -> None:
        kind = next((kind for name, kind in LIMIT_OPTIONS.items() if getattr(self._options, name)), None)
        if self.colors is not None and self.colors.kind != kind:
            self._remove_colors()
        if kind is not None and self.colors is None and analysis.measures is not None:
            self.colors = LimitColors(self._nodes, analysis, kind)
            self._nodes.show_visuals(False)
        if self.colors is not None:
            self.colors.place(at)

    def _remove_colors(self) -> None:
        if self.colors is not None:
            self.colors.remove()
            self.colors = None
            self._nodes.show_visuals(self._options.visuals)

    def set_theme(self, dark: bool) -> None:
        """Adapt trails to dark mode or light mode."""
        if self._trails is not None:
            self._trails.set_theme(DARK if dark else LIGHT)

    def remove(self) -> None:
        """Remove all overlays."""
        for overlay in self._made.values():
            overlay.remove()
        self._made.clear()
        if self._trails is not None:
            self._trails.remove()
            self._trails = None
        self._remove_colors()


def closed_corners(corners: Floats) -> Floats | None:
    """Return corners (M, 3) with the last one in place of unused ones, which are NaN; None where all are unused."""
    count = int(np.isfinite(corners[:, 0]).sum())
    if not count:
        return None
    found = np.array(corners)
    found[count:] = found[count - 1]
    return found


class _Patch:
    """A flat polygon on the ground with up to M corners, and its outline."""

    def __init__(self, nodes: RobotNodes, name: str, num_corners: int, color: Rgb, opacity: float, level: int) -> None:
        self._up = np.array([0.0, 0.0, level * LAYER_HEIGHT * nodes.size])
        count = max(num_corners, 3)
        api: Any = nodes.server.scene
        inner = np.arange(1, count - 1)
        self._face = api.add_mesh_simple(
            name,
            np.zeros((count, 3)),
            np.stack([np.zeros_like(inner), inner, inner + 1], axis=1),
            color=color,
            opacity=opacity,
            side="double",
            flat_shading=True,
            visible=False,
            **NO_SHADOW,
        )
        self._edge = api.add_line_segments(
            f"{name} outline", np.zeros((count, 2, 3)), color, thickness=2.5, visible=False, **ON_SCREEN
        )
        self._count = count

    def show(self, corners: Floats | None) -> None:
        """Show the polygon with corners (M, 3), NaN for unused ones; hide it without corners."""
        points = None if corners is None else closed_corners(corners)
        if points is not None:
            points = np.concatenate([points, np.repeat(points[-1:], self._count - len(points), axis=0)]) + self._up
            points = np.round(points, POSITION_DIGITS).astype(np.float32)
            self._face.vertices = points
            self._edge.points = np.stack([points, np.roll(points, -1, axis=0)], axis=1)
        self._face.visible = self._edge.visible = points is not None

    def remove(self) -> None:
        self._face.remove()
        self._edge.remove()


class SupportPolygon:
    """The support polygon."""

    def __init__(self, nodes: RobotNodes, analysis: MotionAnalysis) -> None:
        self._corners = analysis.support
        count = 3 if self._corners is None else self._corners.shape[1]
        self._patch = _Patch(nodes, "/world/support polygon", count, SUPPORT_COLOR, 0.3, 1)

    def place(self, frame: int | None) -> None:
        """Show it at a frame, or hide it."""
        self._patch.show(None if frame is None or self._corners is None else self._corners[frame])

    def remove(self) -> None:
        """Remove it."""
        self._patch.remove()


class FootPatches:
    """For each foot its contact patch on the ground in stance, and a ball at its lowest point in swing."""

    def __init__(self, nodes: RobotNodes, analysis: MotionAnalysis) -> None:
        self._corners, self._points = analysis.foot_patches, analysis.contact_points
        api: Any = nodes.server.scene
        self._patches = [
            _Patch(nodes, f"/world/foot print {k}", corners.shape[1], STANCE, 0.75, 2)
            for k, corners in enumerate(self._corners)
        ]
        self._balls = [
            api.add_icosphere(
                f"/world/foot in swing {k}", radius=0.009 * nodes.size, color=SWING, visible=False, **NO_SHADOW
            )
            for k in range(len(self._corners))
        ]

    def place(self, frame: int | None) -> None:
        """Show them at a frame, or hide them."""
        for k, (patch, ball) in enumerate(zip(self._patches, self._balls, strict=True)):
            corners = None if frame is None else self._corners[k][frame]
            in_stance = corners is not None and bool(np.isfinite(corners[0, 0]))
            patch.show(corners if in_stance else None)
            in_swing = frame is not None and not in_stance
            if in_swing and self._points is not None and np.isfinite(self._points[frame, k]).all():
                ball.position = self._points[frame, k]
            ball.visible = in_swing

    def remove(self) -> None:
        """Remove them."""
        for handle in (*self._patches, *self._balls):
            handle.remove()


class MeasuredZmp:
    """The computed zero moment point: a cube, while the recorded one is a ball. It is hidden in flight."""

    def __init__(self, nodes: RobotNodes, analysis: MotionAnalysis) -> None:
        self._points = analysis.zmp
        api: Any = nodes.server.scene
        side, name = 0.02 * nodes.size, "/world/measured zero moment point"
        self._cube = api.add_box(name, COMPUTED_ZMP_COLOR, (side, side, side), visible=False, **NO_SHADOW)
        api.add_label(f"{name}/name", "ZMP (computed) ", font_screen_scale=0.75, anchor="center-right")

    def place(self, frame: int | None) -> None:
        """Show it at a frame, or hide it."""
        point = None if frame is None or self._points is None else self._points[frame]
        self._cube.visible = point is not None and bool(np.isfinite(point).all())
        if self._cube.visible:
            self._cube.position = point

    def remove(self) -> None:
        """Remove it."""
        self._cube.remove()


class CollisionMarks:
    """Where links are inside of each other or below the floor: red balls with the names of the links and the depth."""

    def __init__(self, nodes: RobotNodes, analysis: MotionAnalysis) -> None:
        found = analysis.collisions
        self._frames = np.zeros(0, dtype=np.int64) if found is None else found.frames
        self._found, self._body = found, nodes.scene.body
        api: Any = nodes.server.scene
        count = min(int(np.bincount(self._frames).max(initial=0)), MAX_COLLISIONS)
        name, radius = "/world/collision", 0.012 * nodes.size
        self._balls = [
            api.add_icosphere(f"{name} {k}", radius=radius, color=COLLISION_COLOR, visible=False, **NO_SHADOW)
            for k in range(count)
        ]
        self._labels = [
            api.add_label(f"{name} {k}/name", "", font_screen_scale=0.75, anchor="bottom-left") for k in range(count)
        ]

    def place(self, frame: int | None) -> None:
        """Show them at a frame, or hide them."""
        found, rows = self._found, np.flatnonzero(self._frames == frame)
        for k, (ball, label) in enumerate(zip(self._balls, self._labels, strict=True)):
            ball.visible = k < len(rows)
            if k < len(rows) and found is not None:
                one, two = ("floor" if link < 0 else self._body.links[link].name for link in found.links[rows[k]])
                ball.position = found.points[rows[k]]
                label.text = f" {one} – {two}: {found.depths[rows[k]] * 1000:.0f} mm"

    def remove(self) -> None:
        """Remove them."""
        for ball in self._balls:
            ball.remove()


_OVERLAYS: dict[str, type[SupportPolygon] | type[FootPatches] | type[MeasuredZmp] | type[CollisionMarks]] = {
    "support": SupportPolygon,
    "contacts": FootPatches,
    "overlaps": CollisionMarks,
    "measured_zmp": MeasuredZmp,
}


def trail(points: Floats, timeline: Timeline, time: float, seconds: float) -> Floats:
    """Return the pieces (TRAIL_PIECES, 2, 3), oldest first, of the path of points (T, 3) in the last seconds before a time.

    Pieces before the first frame, and those with a point that is NaN, have no length.
    """
    times = np.linspace(max(time - seconds, float(timeline.times[0])), time, TRAIL_PIECES + 1)
    path = points[np.minimum(np.asarray(timeline.frames_at(times)), len(points) - 1)]
    pieces = np.stack([path[:-1], path[1:]], axis=1)
    unknown = ~np.isfinite(pieces).all(axis=(1, 2))
    if unknown.any():
        known = path[np.isfinite(path).all(axis=1)]
        pieces[unknown] = known[-1] if len(known) else 0.0
    return pieces


class Trails:
    """The paths of centre of mass and zero moment points in the last seconds, as lines that fade into the floor."""

    def __init__(self, nodes: RobotNodes, analysis: MotionAnalysis, theme: Theme) -> None:
        self._timeline = analysis.scene.timeline
        paths = {
            "mass": (analysis.center_of_mass if analysis.scene.body.mass > 0 else None, MASS_COLOR),
            "zmp": (analysis.recorded_zmp, ZMP_COLOR),
            "measured_zmp": (analysis.zmp, COMPUTED_ZMP_COLOR),
        }
        self._paths = {name: (points, color) for name, (points, color) in paths.items() if points is not None}
        self._up = np.array([0.0, 0.0, 0.002 * nodes.size])
        self._lines: dict[str, viser.LineSegmentsHandle] = {
            name: nodes.server.scene.add_line_segments(
                f"/world/trail {name}",
                np.zeros((TRAIL_PIECES, 2, 3)),
                _faded(color, theme),
                thickness=3.5,
                thickness_units="screen",
                visible=False,
            )
            for name, (_, color) in self._paths.items()
        }

    def place(self, frame: int | None, seconds: float, on: set[str]) -> None:
        """Show those that are `on` up to a frame, or hide all."""
        for name, (points, _) in self._paths.items():
            self._lines[name].visible = frame is not None and name in on
            if frame is not None and name in on:
                pieces = trail(points, self._timeline, float(self._timeline.times[frame]), seconds) + self._up
                self._lines[name].points = np.round(pieces, POSITION_DIGITS).astype(np.float32)

    def set_theme(self, theme: Theme) -> None:
        """Fade into the floor of another theme."""
        for name, (_, color) in self._paths.items():
            self._lines[name].colors = _faded(color, theme)

    def remove(self) -> None:
        """Remove them."""
        for line in self._lines.values():
            line.remove()


def _faded(color: Rgb, theme: Theme) -> npt.NDArray[np.uint8]:
    """Return the colours (TRAIL_PIECES, 2, 3) of a trail, from that of the floor to its own."""
    share = np.linspace(0.0, 1.0, TRAIL_PIECES + 1)[:, None] ** 0.7
    colors = share * np.array(color) + (1.0 - share) * np.array(theme.fade)
    return np.stack([colors[:-1], colors[1:]], axis=1).astype(np.uint8)
