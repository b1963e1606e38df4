"""Cameras: presets, a camera that just sees given points, and the path of one that follows the root."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats

FIELD_OF_VIEW = 0.6  # [rad] From the top of the image to its bottom.
MARGIN = 0.09  # Share of the image that stays free at each side.
SMOOTHING = 0.4  # [s] Standard deviation of the Gaussian that smooths the path of a following camera.

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
"""Direction from the robot to the camera.

Its front is +x, its left +y. Seen from its right side, it walks to the right.
"""


@dataclass(frozen=True, eq=False)
class Camera:
    """A camera in the world: `position`, `look_at` [m] and `up` (3,).

    `field_of_view` [rad] is from the top to the bottom of the image; a camera with a
    `height` [m] has no perspective and sees that height.
    """

    position: Floats
    look_at: Floats
    up: Floats
    field_of_view: float = FIELD_OF_VIEW
    height: float | None = None

    @property
    def axes(self) -> Floats:
        """Unit vectors (3, 3).

        To the right of the image, to its top, and away from the camera.
        """
        return _axes(self.look_at - self.position, self.up)

    @property
    def distance(self) -> float:
        """Distance [m] to the point looked at."""
        return float(np.linalg.norm(self.look_at - self.position))

    def moved(self, offset: Floats) -> Camera:
        """Return the camera moved by `offset` (3,)."""
        return replace(
            self, position=self.position + offset, look_at=self.look_at + offset
        )

    def project(self, points: npt.ArrayLike, size: tuple[int, int]) -> Floats:
        """Return the pixels (..., 2) of points (..., 3) in the world, from the upper left corner of an image of `size` (width, height).

        Points behind the camera are NaN.
        """
        width, height = size
        seen = (np.asarray(points, dtype=np.float64) - self.position) @ self.axes.T
        if self.height is not None:
            scale = np.full(seen.shape[:-1], height / self.height)
        else:
            depth = np.where(seen[..., 2] > 0, seen[..., 2], np.nan)
            scale = 0.5 * height / (np.tan(0.5 * self.field_of_view) * depth)
        return np.stack(
            [0.5 * width + scale * seen[..., 0], 0.5 * height - scale * seen[..., 1]],
            axis=-1,
        )


def looking(position: npt.ArrayLike, look_at: npt.ArrayLike) -> Camera:
    """Return the upright camera at a position that looks at another one.

    Raises ValueError when the positions are equal, or a number is not finite.
    """
    here = np.asarray(position, dtype=np.float64)
    there = np.asarray(look_at, dtype=np.float64)
    if not np.isfinite([*here, *there]).all() or np.linalg.norm(there - here) < 1e-6:
        raise ValueError(
            "the position of a camera and the point it looks at must be finite and "
            "different"
        )
    return Camera(here, there, _up_of(there - here))


def fitted(
    points: Floats,
    direction: npt.ArrayLike,
    size: tuple[int, int],
    *,
    flat: bool = False,
    margin: float = MARGIN,
    field_of_view: float = FIELD_OF_VIEW,
) -> Camera:
    """Return the camera that just sees points (N, 3) from a direction (3,), in an image of `size` (width, height).

    `flat`: without perspective. `margin`: share of the image that stays free at each
    side.
    """
    forward = -np.asarray(direction, dtype=np.float64)
    up = _up_of(forward)
    axes = _axes(forward, up)
    seen = points @ axes.T
    low = seen.min(axis=0)
    high = seen.max(axis=0)
    radius = max(0.5 * float(np.linalg.norm(high - low)), 1e-3)
    share = 1.0 - 2.0 * margin
    aspect = size[0] / size[1]
    if flat:
        center = 0.5 * (low + high)
        height = max(high[1] - low[1], (high[0] - low[0]) / aspect, 1e-3) / share
        at = center @ axes
        return Camera(at - 4 * radius * axes[2], at, up, height=float(height))
    slopes = np.tan(0.5 * field_of_view) * share * np.array([aspect, 1.0])
    depth = np.inf
    middle = np.zeros(2)
    for k, slope in enumerate(slopes):
        # Each point must be between the two planes through the camera and the sides of
        # the image.
        one = (seen[:, k] - slope * seen[:, 2]).max()
        other = (-seen[:, k] - slope * seen[:, 2]).max()
        depth, middle[k] = min(depth, -(one + other) / (2 * slope)), 0.5 * (one - other)
    depth = min(depth, low[2] - 0.2 * radius)
    position = np.array([*middle, depth]) @ axes
    return Camera(
        position,
        position + (0.5 * (low[2] + high[2]) - depth) * axes[2],
        up,
        field_of_view,
    )


def smoothed_path(roots: Floats, step: float) -> Floats:
    """Return the path (T, 3) of a camera that follows roots (T, 3), `step` seconds apart.

    Smooth, with the same ends.
    """
    reach = min(int(np.ceil(3 * SMOOTHING / step)), max(len(roots) - 1, 0))
    path = np.array(roots)
    if reach:
        bell = np.exp(-0.5 * (np.arange(-reach, reach + 1) * step / SMOOTHING) ** 2)
        # Mirrored at its ends, the path keeps them, and the velocity there.
        before = 2 * roots[0] - roots[reach:0:-1]
        after = 2 * roots[-1] - roots[-2 : -reach - 2 : -1]
        padded = np.concatenate([before, roots, after])
        path = np.stack(
            [
                np.convolve(padded[:, k], bell / bell.sum(), mode="valid")
                for k in range(3)
            ],
            axis=1,
        )
    return path


def _up_of(forward: Floats) -> Floats:
    """Return the upward direction (3,).

    +z, or +x for a camera that looks straight down or up.
    """
    level = np.hypot(forward[0], forward[1]) > 1e-3 * abs(forward[2])
    if level:
        return np.array([0.0, 0.0, 1.0])
    return np.array([1.0, 0.0, 0.0])


def _axes(forward: Floats, up: Floats) -> Floats:
    ahead = forward / np.linalg.norm(forward)
    right = np.cross(ahead, up)
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(right, ahead), ahead])
