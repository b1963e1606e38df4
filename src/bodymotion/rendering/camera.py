"""Where pictures are taken from: presets, a camera that just sees some points, and one that goes along with the root."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats

__all__ = ["FIELD_OF_VIEW", "PRESETS", "Camera", "fitted", "followed", "looking"]

FIELD_OF_VIEW = 0.6
"""[rad] From the top of a picture to its bottom."""
ROOM = 0.09
"""The share of the picture that stays free at each side."""
SOFTLY = 0.4
"""[s] The standard deviation of the bell curve by which the path of a camera that follows is smoothed."""

PRESETS: dict[str, tuple[float, float, float]] = {
    "corner": (1.0, 0.75, 0.45),
    "iso": (1.0, -1.0, 0.8165),
    "front": (1.0, 0.0, 0.1),
    "back": (-1.0, 0.0, 0.1),
    "left": (0.0, 1.0, 0.1),
    "right": (0.0, -1.0, 0.1),
    "side": (0.0, -1.0, 0.1),
    "top": (0.0, 0.0, 1.0),
}
"""From which side the presets look; a robot's front is +x, its left +y. From its right side it walks to the right in the picture."""


@dataclass(frozen=True, eq=False)
class Camera:
    """A camera in the world: `position`, `look_at` [m] and `up` (3,).

    `field_of_view` [rad] is from the top to the bottom of the picture; a camera with a `height` [m] sees so much without perspective.
    """

    position: Floats
    look_at: Floats
    up: Floats
    field_of_view: float = FIELD_OF_VIEW
    height: float | None = None

    @property
    def axes(self) -> Floats:
        """Unit vectors (3, 3): to the right of the picture, to its top, and away from the camera."""
        return _axes(self.look_at - self.position, self.up)

    @property
    def distance(self) -> float:
        """How far [m] the point looked at is away."""
        return float(np.linalg.norm(self.look_at - self.position))

    def moved(self, offset: Floats) -> Camera:
        """Return the camera moved by `offset` (3,)."""
        return replace(self, position=self.position + offset, look_at=self.look_at + offset)

    def project(self, points: npt.ArrayLike, size: tuple[int, int]) -> Floats:
        """Return where points (..., 3) of the world are in a picture of `size` (width, height): pixels (..., 2) from its upper left corner.

        What is behind the camera is NaN.
        """
        width, height = size
        seen = (np.asarray(points, dtype=np.float64) - self.position) @ self.axes.T
        if self.height is not None:
            scale = np.full(seen.shape[:-1], height / self.height)
        else:
            depth = np.where(seen[..., 2] > 0, seen[..., 2], np.nan)
            scale = 0.5 * height / (np.tan(0.5 * self.field_of_view) * depth)
        return np.stack([0.5 * width + scale * seen[..., 0], 0.5 * height - scale * seen[..., 1]], axis=-1)


def looking(position: npt.ArrayLike, look_at: npt.ArrayLike) -> Camera:
    """Return the camera at a place that looks at another, upright.

    Raises
    ------
    ValueError
        When the two are one place, or a number is not finite.
    """
    here, there = np.asarray(position, dtype=np.float64), np.asarray(look_at, dtype=np.float64)
    if not np.isfinite([*here, *there]).all() or np.linalg.norm(there - here) < 1e-6:
        raise ValueError("a camera looks from one place to another one")
    return Camera(here, there, _up_of(there - here))


def fitted(
    points: Floats,
    direction: npt.ArrayLike,
    size: tuple[int, int],
    *,
    flat: bool = False,
    room: float = ROOM,
    field_of_view: float = FIELD_OF_VIEW,
) -> Camera:
    """Return the camera that just sees points (N, 3) from a direction (3,), in a picture of `size` (width, height).

    `flat`: without perspective. `room`: so much of the picture stays free at each side.
    """
    forward = -np.asarray(direction, dtype=np.float64)
    up = _up_of(forward)
    axes = _axes(forward, up)
    seen = points @ axes.T
    low, high = seen.min(axis=0), seen.max(axis=0)
    radius = max(0.5 * float(np.linalg.norm(high - low)), 1e-3)
    share, aspect = 1.0 - 2.0 * room, size[0] / size[1]
    if flat:
        center = 0.5 * (low + high)
        height = max(high[1] - low[1], (high[0] - low[0]) / aspect, 1e-3) / share
        at = center @ axes
        return Camera(at - 4 * radius * axes[2], at, up, height=float(height))
    slopes = np.tan(0.5 * field_of_view) * share * np.array([aspect, 1.0])
    depth, middle = np.inf, np.zeros(2)
    for k, slope in enumerate(slopes):
        # Each point is to lie inside the two planes of the picture's sides, which go through the camera.
        one, other = (seen[:, k] - slope * seen[:, 2]).max(), (-seen[:, k] - slope * seen[:, 2]).max()
        depth, middle[k] = min(depth, -(one + other) / (2 * slope)), 0.5 * (one - other)
    depth = min(depth, low[2] - 0.2 * radius)
    position = np.array([*middle, depth]) @ axes
    return Camera(position, position + (0.5 * (low[2] + high[2]) - depth) * axes[2], up, field_of_view)


def followed(roots: Floats, step: float) -> Floats:
    """Return the path (T, 3) of a camera that follows roots (T, 3), one each `step` seconds: smooth, and level unless the root flies."""
    reach = min(int(np.ceil(3 * SOFTLY / step)), max(len(roots) - 1, 0))
    path = np.array(roots)
    if reach:
        bell = np.exp(-0.5 * (np.arange(-reach, reach + 1) * step / SOFTLY) ** 2)
        # Mirrored about its ends the path keeps them, and its speed there.
        before, after = 2 * roots[0] - roots[reach:0:-1], 2 * roots[-1] - roots[-2 : -reach - 2 : -1]
        padded = np.concatenate([before, roots, after])
        path = np.stack([np.convolve(padded[:, k], bell / bell.sum(), mode="valid") for k in range(3)], axis=1)
    return path


def _up_of(forward: Floats) -> Floats:
    """Return which way (3,) is up: +z, or +x for a camera that looks straight down or up."""
    level = np.hypot(forward[0], forward[1]) > 1e-3 * abs(forward[2])
    return np.array([0.0, 0.0, 1.0]) if level else np.array([1.0, 0.0, 0.0])


def _axes(forward: Floats, up: Floats) -> Floats:
    ahead = forward / np.linalg.norm(forward)
    right = np.cross(ahead, up)
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(right, ahead), ahead])
