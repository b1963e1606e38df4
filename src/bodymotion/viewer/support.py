"""What carries the robot, as it is measured: where its feet touch the ground, the support polygon around that, the zero moment point.

Of what stands still nothing is sent. A foot that stands has its print on the ground, one that swings a ball at its lowest place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bodymotion.geometry.arrays import Floats
from bodymotion.viewer.contacts import STANCE, SWING
from bodymotion.viewer.insight import Insight

if TYPE_CHECKING:
    import viser

    from bodymotion.viewer.scene import Scene

__all__ = ["MEASURED_ZMP", "SUPPORT", "FootPrints", "MeasuredZmp", "SupportPolygon", "filled"]

SUPPORT, MEASURED_ZMP = (70, 120, 220), (0, 140, 110)
ABOVE = 0.0012
"""Things on the ground lie so many times the robot's size above it, so that they do not flicker with it."""
SMALLEST_CHANGE = 1e-5
"""[m] Smaller changes since the last message are not sent."""


def filled(corners: Floats) -> Floats | None:
    """Return corners (M, 3) of which those beyond their number are NaN with the last one in their place; None where there is none."""
    count = int(np.isfinite(corners[:, 0]).sum())
    if not count:
        return None
    found = np.array(corners)
    found[count:] = found[count - 1]
    return found


class _Patch:
    """A flat polygon on the ground with up to M corners, and its outline."""

    def __init__(
        self, scene: Scene, name: str, most: int, color: tuple[int, int, int], opacity: float, level: int
    ) -> None:
        self._up = np.array([0.0, 0.0, level * ABOVE * scene.size])
        self._following = np.append(np.arange(1, most), 0)
        most = max(most, 3)
        api = scene.server.scene
        inner = np.arange(1, most - 1)
        self._face = api.add_mesh_simple(
            name,
            np.zeros((most, 3)),
            np.stack([np.zeros_like(inner), inner, inner + 1], axis=1),
            color=color,
            opacity=opacity,
            side="double",
            flat_shading=True,
            cast_shadow=False,
            receive_shadow=False,
            visible=False,
        )
        self._edge = api.add_line_segments(
            f"{name} outline", np.zeros((most, 2, 3)), color, thickness=2.5, thickness_units="screen", visible=False
        )
        self._sent = np.full((most, 3), np.nan)
        self._shown = False

    def show(self, corners: Floats | None) -> None:
        """Show the polygon with these corners (M, 3), NaN beyond their number; none is hidden."""
        places = None if corners is None else filled(corners)
        if places is not None:
            places = np.concatenate([places, np.repeat(places[-1:], len(self._sent) - len(places), axis=0)]) + self._up
            if not np.abs(places - self._sent).max() <= SMALLEST_CHANGE:
                self._face.vertices = places.astype(np.float32)
                self._edge.points = np.stack([places, np.roll(places, -1, axis=0)], axis=1).astype(np.float32)
                self._sent = places
        if self._shown != (places is not None):
            self._shown = places is not None
            self._face.visible = self._edge.visible = self._shown

    def remove(self) -> None:
        self._face.remove()
        self._edge.remove()


class SupportPolygon:
    """The support polygon of an insight."""

    def __init__(self, scene: Scene, insight: Insight) -> None:
        self._corners = insight.support
        most = 3 if self._corners is None else self._corners.shape[1]
        self._patch = _Patch(scene, "/world/support polygon", most, SUPPORT, 0.3, 1)

    def place(self, frame: int | None) -> None:
        """Show it at a frame, or hide it."""
        self._patch.show(None if frame is None or self._corners is None else self._corners[frame])

    def remove(self) -> None:
        """Take it away."""
        self._patch.remove()


class FootPrints:
    """For each foot of an insight its print on the ground where it stands, and a ball at its lowest place where it swings."""

    def __init__(self, scene: Scene, insight: Insight) -> None:
        self._corners, self._places = insight.foot_patches, insight.touching
        names = () if insight.measures is None else insight.measures.contacts.names
        self._patches = [
            _Patch(scene, f"/world/foot print {k}", corners.shape[1], STANCE, 0.75, 2)
            for k, corners in enumerate(self._corners)
        ]
        self._balls: list[viser.SceneNodeHandle] = [
            scene.server.scene.add_icosphere(
                f"/world/foot in swing {k}",
                radius=0.009 * scene.size,
                color=SWING,
                cast_shadow=False,
                receive_shadow=False,
                visible=False,
            )
            for k in range(len(names))
        ]
        self._swings = [False] * len(names)

    def place(self, frame: int | None) -> None:
        """Show them at a frame, or hide them."""
        for k, (patch, ball) in enumerate(zip(self._patches, self._balls, strict=True)):
            corners = None if frame is None else self._corners[k][frame]
            stands = corners is not None and bool(np.isfinite(corners[0, 0]))
            patch.show(corners if stands else None)
            swings = frame is not None and not stands
            if swings and self._places is not None and np.isfinite(self._places[frame, k]).all():
                ball.position = self._places[frame, k]
            if swings != self._swings[k]:
                ball.visible = self._swings[k] = swings

    def remove(self) -> None:
        """Take them away."""
        for patch in self._patches:
            patch.remove()
        for ball in self._balls:
            ball.remove()


class MeasuredZmp:
    """The zero moment point that is measured: a cube, to be told from the ball of the file's own."""

    def __init__(self, scene: Scene, insight: Insight) -> None:
        self._points = insight.zmp
        api, side = scene.server.scene, 0.02 * scene.size
        self._cube = api.add_box(
            "/world/measured zero moment point",
            MEASURED_ZMP,
            (side, side, side),
            cast_shadow=False,
            receive_shadow=False,
            visible=False,
        )
        api.add_label(
            "/world/measured zero moment point/name", "ZMP (measured) ", font_screen_scale=0.75, anchor="center-right"
        )
        self._shown = False

    def place(self, frame: int | None) -> None:
        """Show it at a frame, or hide it; it is hidden in flight, too."""
        point = None if frame is None or self._points is None else self._points[frame]
        there = point is not None and bool(np.isfinite(point).all())
        if there and point is not None:
            self._cube.position = point
        if there != self._shown:
            self._cube.visible = self._shown = there

    def remove(self) -> None:
        """Take it away."""
        self._cube.remove()
