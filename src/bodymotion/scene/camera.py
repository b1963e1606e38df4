"""Cameras: presets, one that just sees given points, and one that follows the root."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats

# [rad] From the top of the image to its bottom.
FIELD_OF_VIEW = 0.6
# Share of the image that stays free at each side.
MARGIN = 0.09
# [s] Standard deviation of the Gaussian that smooths the path of a camera.
SMOOTHING = 0.4
# Standard deviations after which the Gaussian is cut off: it is 0.01 there.
REACH_OF_SMOOTHING = 3.0
# [m] Of what a camera sees: a single point has a size, too.
MIN_SIZE = 1e-3
# Distance from the camera to the nearest point, at least, in radii of the points.
NEAR = 0.2
# Horizontal over vertical component of a direction that is not straight down or up.
MIN_TILT = 1e-3
# [m] From a camera to the point that it looks at.
MIN_VIEW_DISTANCE = 1e-6

# Direction from the robot to the camera. Its front is +x, its left +y. Seen from its
# right side, it walks to the right.
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
        """Return the pixels (..., 2) of points (..., 3) in the world.

        Their origin is the upper left corner of an image of `size` (width, height).
        Points behind the camera are NaN.
        """
        width, height = size
        seen = (np.asarray(points, dtype=np.float64) - self.position) @ self.axes.T
        if self.height is not None:
            scale = np.full(seen.shape[:-1], height / self.height)
        else:
            # At a distance d, the image shows a height of 2 d tan(field_of_view / 2).
            depth = np.where(seen[..., 2] > 0, seen[..., 2], np.nan)
            scale = 0.5 * height / (np.tan(0.5 * self.field_of_view) * depth)
        column = 0.5 * width + scale * seen[..., 0]
        row = 0.5 * height - scale * seen[..., 1]
        return np.stack([column, row], axis=-1)


def looking(position: npt.ArrayLike, look_at: npt.ArrayLike) -> Camera:
    """Return the upright camera at a position that looks at another one.

    Raises ValueError when the positions are equal, or a number is not finite.
    """
    eye = np.asarray(position, dtype=np.float64)
    target = np.asarray(look_at, dtype=np.float64)
    is_finite = np.isfinite([*eye, *target]).all()
    if not is_finite or np.linalg.norm(target - eye) < MIN_VIEW_DISTANCE:
        raise ValueError(
            "the position of a camera and the point it looks at must be finite and "
            "different"
        )
    return Camera(eye, target, _up_of(target - eye))


def fitted(
    points: Floats,
    direction: npt.ArrayLike,
    size: tuple[int, int],
    *,
    flat: bool = False,
    margin: float = MARGIN,
    field_of_view: float = FIELD_OF_VIEW,
) -> Camera:
    """Return the camera that just sees points (N, 3) from a direction (3,).

    Parameters
    ----------
    points, direction:
        In the world; the direction is from the points to the camera.
    size:
        Of the image: width, height.
    flat:
        Without perspective.
    margin:
        Share of the image that stays free at each side.
    field_of_view:
        [rad] From the top of the image to its bottom.
    """
    forward = -np.asarray(direction, dtype=np.float64)
    up = _up_of(forward)
    axes = _axes(forward, up)
    seen = points @ axes.T
    low = seen.min(axis=0)
    high = seen.max(axis=0)
    # Half the diagonal of the points.
    radius = max(0.5 * float(np.linalg.norm(high - low)), MIN_SIZE)
    used_share = 1.0 - 2.0 * margin
    aspect = size[0] / size[1]
    if flat:
        extent = high - low
        height = max(extent[1], extent[0] / aspect, MIN_SIZE) / used_share
        target = 0.5 * (low + high) @ axes
        position = target - 4 * radius * axes[2]
        return Camera(position, target, up, height=float(height))
    # Each point must be between the two planes through the camera and the sides of
    # the image: |x − middle| ≤ slope · (z − depth), for both directions of the image.
    slopes = np.tan(0.5 * field_of_view) * used_share * np.array([aspect, 1.0])
    depth = np.inf
    middle = np.zeros(2)
    for k, slope in enumerate(slopes):
        # Both sides: middle − slope·depth ≥ right, −middle − slope·depth ≥ left. Their
        # sum bounds the depth, their difference gives the middle.
        right = (seen[:, k] - slope * seen[:, 2]).max()
        left = (-seen[:, k] - slope * seen[:, 2]).max()
        depth = min(depth, -(right + left) / (2 * slope))
        middle[k] = 0.5 * (right - left)
    # The camera stays in front of all points.
    depth = min(depth, low[2] - NEAR * radius)
    position = np.array([*middle, depth]) @ axes
    distance = 0.5 * (low[2] + high[2]) - depth
    return Camera(position, position + distance * axes[2], up, field_of_view)


def smoothed_path(roots: Floats, step: float) -> Floats:
    """Return the smooth path (T, 3) of a camera that follows roots (T, 3).

    The roots are `step` seconds apart. The ends of the path are theirs.
    """
    reach = int(np.ceil(REACH_OF_SMOOTHING * SMOOTHING / step))
    reach = min(reach, max(len(roots) - 1, 0))
    path = np.array(roots)
    if not reach:
        return path
    bell = np.exp(-0.5 * (np.arange(-reach, reach + 1) * step / SMOOTHING) ** 2)
    bell /= bell.sum()
    # Mirrored at its ends, the path keeps them, and the velocity there.
    before = 2 * roots[0] - roots[reach:0:-1]
    after = 2 * roots[-1] - roots[-2 : -reach - 2 : -1]
    padded = np.concatenate([before, roots, after])
    for axis in range(3):
        path[:, axis] = np.convolve(padded[:, axis], bell, mode="valid")
    return path


def _up_of(forward: Floats) -> Floats:
    """Return the upward direction (3,) of a camera that looks `forward` (3,).

    +z, or +x for a camera that looks straight down or up.
    """
    if np.hypot(forward[0], forward[1]) > MIN_TILT * abs(forward[2]):
        return np.array([0.0, 0.0, 1.0])
    return np.array([1.0, 0.0, 0.0])


def _axes(forward: Floats, up: Floats) -> Floats:
    """Return unit vectors (3, 3) to the right, to the top, and ahead of a camera."""
    ahead = forward / np.linalg.norm(forward)
    right = np.cross(ahead, up)
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(right, ahead), ahead])
