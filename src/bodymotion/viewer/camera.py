"""Where to look from: the first view, the presets, the model's own viewpoints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Viewpoint

__all__ = ["FIELD_OF_VIEW", "PRESETS", "View", "framing", "from_viewpoint"]

FIELD_OF_VIEW = 0.7
"""[rad] of the presets, from the top of the picture to its bottom."""

PRESETS: dict[str, tuple[float, float, float]] = {
    "Corner": (1.0, 0.75, 0.45),
    "Front": (1.0, 0.0, 0.0),
    "Side": (0.0, 1.0, 0.0),
    "Top": (-1e-3, 0.0, 1.0),
}
"""From which side the presets look; a robot's front is +x, the side is its left, +y."""


@dataclass(frozen=True)
class View:
    """A camera: where it is, what it looks at, which way is up (3,) in the world, and its `field_of_view` [rad]."""

    position: Floats
    look_at: Floats
    up: Floats
    field_of_view: float


def framing(bounds: npt.ArrayLike, preset: str) -> View:
    """Return the camera that sees the whole box `bounds` (2, 3) from the side of a preset."""
    low, high = np.asarray(bounds, dtype=np.float64)
    center = 0.5 * (low + high)
    radius = max(0.5 * float(np.linalg.norm(high - low)), 1e-3)
    direction = np.array(PRESETS[preset])
    direction /= np.linalg.norm(direction)
    distance = 1.08 * radius / np.sin(0.5 * FIELD_OF_VIEW)
    return View(center + distance * direction, center, np.array([0.0, 0.0, 1.0]), FIELD_OF_VIEW)


def from_viewpoint(viewpoint: Viewpoint, model: npt.ArrayLike, reach: float) -> View:
    """Return the camera of a model's viewpoint, for the pose (7,) of the model in the world.

    A viewpoint has a direction but no centre; the point looked at is put `reach` metres in front of it.
    """
    pose = poses.compose(model, viewpoint.pose)
    forward = rotations.rotate(pose[3:], [0.0, 0.0, -1.0])
    field = viewpoint.field_of_view if 0.05 < viewpoint.field_of_view < 2.8 else FIELD_OF_VIEW
    return View(pose[:3], pose[:3] + max(reach, 1e-3) * forward, rotations.rotate(pose[3:], [0.0, 1.0, 0.0]), field)
