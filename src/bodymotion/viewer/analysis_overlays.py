"""Overlays that need the analysis of the whole motion: contacts, support polygon, computed ZMP, trails, colours of limits.

Each is made when it is on and the analysis is there for the first time. Overlays that are off cost nothing during playback, and nothing is
sent for what does not move.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

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
LAYER_HEIGHT = 0.0012  # Height of a flat overlay above the ground, in sizes of the robot, against flicker.
COLLISION_COLOR = (215, 25, 30)
MAX_COLLISIONS = 12  # Collisions of one frame that are shown.
TRAIL_PIECES = 40


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

    def remove_trails(self) -> None:
        """Remove the trails, which are made again in the colours of dark mode or light mode when they are shown."""
        if self._trails is not None:
            self._trails.remove()
            self._trails = None

    def remove(self) -> None:
        """Remove all overlays."""
        for overlay in self._made.values():
            overlay.remove()
        self._made.clear()
        self.remove_trails()
        self._remove_colors()


class _Overlay:
    """What `place` shows at a frame; None hides it. `handles` are its nodes."""

    handles: tuple[Any, ...]

    def place(self, frame: int | None) -> None:
        raise NotImplementedError

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()


def closed_corners(corners: Floats, count: int) -> Floats | None:
    """Return the `count` first corners of (M, 3) with the last known one in place of those that are NaN or missing; None without any."""
    known = int(np.isfinite(corners[:, 0]).sum())
    return corners[np.minimum(np.arange(count), known - 1)] if known else None


class _Patch(_Overlay):
    """A flat polygon on the ground with corners (T, M, 3), NaN for unused ones, and its outline."""

    def __init__(
        self, nodes: RobotNodes, name: str, corners: Floats | None, color: Rgb, opacity: float, level: int
    ) -> None:
        self._corners = corners
        self._up = np.array([0.0, 0.0, level * LAYER_HEIGHT * nodes.size])
        self._count = count = 3 if corners is None else max(corners.shape[1], 3)
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
        self.handles = (self._face, self._edge)

    def place(self, frame: int | None) -> None:
        hidden = frame is None or self._corners is None
        points = None if hidden else closed_corners(self._corners[frame], self._count)  # type: ignore[index]
        if points is not None:
            points = np.round(points + self._up, POSITION_DIGITS).astype(np.float32)
            self._face.vertices = points
            self._edge.points = np.stack([points, np.roll(points, -1, axis=0)], axis=1)
        self._face.visible = self._edge.visible = points is not None


class _FootPatches(_Overlay):
    """For each foot its contact patch on the ground in stance, and a ball at its lowest point in swing."""

    def __init__(self, nodes: RobotNodes, analysis: MotionAnalysis) -> None:
        self._points = analysis.contact_points
        api: Any = nodes.server.scene
        self._patches, self._balls = [], []
        for k, corners in enumerate(analysis.foot_patches):
            self._patches.append(_Patch(nodes, f"/world/foot print {k}", corners, STANCE, 0.75, 2))
            name, radius = f"/world/foot in swing {k}", 0.009 * nodes.size
            self._balls.append(api.add_icosphere(name, radius=radius, color=SWING, visible=False, **NO_SHADOW))
        self.handles = (*self._patches, *self._balls)

    def place(self, frame: int | None) -> None:
        for k, (patch, ball) in enumerate(zip(self._patches, self._balls, strict=True)):
            patch.place(frame)
            ball.visible = frame is not None and not patch._face.visible
            if ball.visible and self._points is not None and np.isfinite(self._points[frame, k]).all():
                ball.position = self._points[frame, k]


class _ComputedZmp(_Overlay):
    """The computed zero moment point: a cube, while the recorded one is a ball. It is hidden in flight."""

    def __init__(self, nodes: RobotNodes, analysis: MotionAnalysis) -> None:
        self._points = analysis.zmp
        api: Any = nodes.server.scene
        side, name = 0.02 * nodes.size, "/world/measured zero moment point"
        self._cube = api.add_box(name, COMPUTED_ZMP_COLOR, (side, side, side), visible=False, **NO_SHADOW)
        api.add_label(f"{name}/name", "ZMP (computed) ", font_screen_scale=0.75, anchor="center-right")
        self.handles = (self._cube,)

    def place(self, frame: int | None) -> None:
        point = None if frame is None or self._points is None else self._points[frame]
        self._cube.visible = point is not None and bool(np.isfinite(point).all())
        if self._cube.visible:
            self._cube.position = point


class _CollisionMarks(_Overlay):
    """Where links are inside of each other or below the floor: red balls with the names of the links and the depth."""

    def __init__(self, nodes: RobotNodes, analysis: MotionAnalysis) -> None:
        self._found, self._body = analysis.collisions, nodes.scene.body
        self._frames = np.zeros(0, dtype=np.int64) if self._found is None else self._found.frames
        api: Any = nodes.server.scene
        radius = 0.012 * nodes.size
        self._balls, self._labels = [], []
        for k in range(min(int(np.bincount(self._frames).max(initial=0)), MAX_COLLISIONS)):
            name = f"/world/collision {k}"
            ball = api.add_icosphere(name, radius=radius, color=COLLISION_COLOR, visible=False, **NO_SHADOW)
            self._balls.append(ball)
            self._labels.append(api.add_label(f"{name}/name", "", font_screen_scale=0.75, anchor="bottom-left"))
        self.handles = tuple(self._balls)

    def place(self, frame: int | None) -> None:
        found, rows = self._found, np.flatnonzero(self._frames == frame)
        for k, (ball, label) in enumerate(zip(self._balls, self._labels, strict=True)):
            ball.visible = k < len(rows)
            if k < len(rows) and found is not None:
                one, two = ("floor" if link < 0 else self._body.links[link].name for link in found.links[rows[k]])
                ball.position = found.points[rows[k]]
                label.text = f" {one} – {two}: {found.depths[rows[k]] * 1000:.0f} mm"


_OVERLAYS: dict[str, Callable[[RobotNodes, MotionAnalysis], _Overlay]] = {
    "support": lambda nodes, found: _Patch(nodes, "/world/support polygon", found.support, SUPPORT_COLOR, 0.3, 1),
    "contacts": _FootPatches,
    "overlaps": _CollisionMarks,
    "measured_zmp": _ComputedZmp,
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

    def remove(self) -> None:
        """Remove them."""
        for line in self._lines.values():
            line.remove()


def _faded(color: Rgb, theme: Theme) -> npt.NDArray[np.uint8]:
    """Return the colours (TRAIL_PIECES, 2, 3) of a trail, from that of the floor to its own."""
    share = np.linspace(0.0, 1.0, TRAIL_PIECES + 1)[:, None] ** 0.7
    colors = share * np.array(color) + (1.0 - share) * np.array(theme.fade)
    return np.stack([colors[:-1], colors[1:]], axis=1).astype(np.uint8)
