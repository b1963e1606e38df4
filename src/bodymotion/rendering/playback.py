"""The motion that is rendered.

Poses of the links at any time, positions of the root, and the extent of the robot.
"""

from functools import cached_property
from itertools import product

import numpy as np

from bodymotion.geometry.arrays import Floats
from bodymotion.motion.interpolation import sampled
from bodymotion.scene.scene import Scene, path_frames

# Times at which the positions of the robot are computed to choose the camera.
MAX_SAMPLES = 24
# The camera follows a root that moves farther than this, in robot sizes.
MIN_WALK = 0.6
# [m] The smallest and the largest size of a robot that is believed.
MIN_SIZE = 0.02
MAX_SIZE = 1e3


class Playback:
    """A robot and its motion at any time.

    `size` [m] is the extent of the robot in the first frame.

    With `stand`, the lowest point of the robot is always on the ground; None: only
    where the motion has no root poses.
    """

    def __init__(self, scene: Scene, stand: bool | None = None) -> None:
        self.scene = scene
        if stand is None:
            self.stand = scene.on_ground_by_default
        else:
            self.stand = stand
        self._times = scene.timeline.times
        points = self.points(self.at(self.first))
        self.size = float(
            np.clip(np.linalg.norm(np.ptp(points, axis=0)), MIN_SIZE, MAX_SIZE)
        )

    @property
    def first(self) -> float:
        """The time [s] of the first frame."""
        return float(self._times[0])

    @property
    def last(self) -> float:
        """The time [s] of the last frame."""
        return float(self._times[-1])

    def frame(self, time: float) -> int:
        """Return the last frame that is not after a time [s]."""
        return int(self.scene.timeline.frames_at(time))

    def at(self, time: float) -> Floats:
        """Return the poses (L, 7) of the links in the world at a time [s].

        They are interpolated between frames.
        """
        frame = self.frame(time)
        # The next frame, unless it has the same time.
        later = self._times[frame + 1 : frame + 2] > self._times[frame]
        near = slice(frame, frame + 1 + later.sum())
        link_poses: Floats = np.array(
            sampled(self.scene.link_poses[near], self._times[near], [time])[0]
        )
        # The lowest point is put on the ground after interpolation.
        if self.stand:
            link_poses[:, 2] += self.scene.ground_offset(link_poses)
        return link_poses

    def roots(self, times: Floats) -> Floats:
        """Return the positions (T, 3) [m] of the root at times (T,) [s]."""
        if self.stand:
            return np.stack([self.at(float(time))[0, :3] for time in times])
        positions = self.scene.link_poses[:, 0, :3]
        return np.stack(
            [np.interp(times, self._times, positions[:, k]) for k in range(3)], axis=1
        )

    def points(self, link_poses: Floats) -> Floats:
        """Return the outermost points (N, 3) of the robot with link poses (L, 7).

        Without shapes, points around its links.
        """
        if len(self.scene.extent.points):
            return self.scene.extent.placed(link_poses)
        # The eight corners of a cube around each link.
        corners = np.array(list(product((-1.0, 1.0), repeat=3)))
        around = link_poses[:, None, :3] + self.axes * corners
        return np.asarray(around.reshape(-1, 3))

    @cached_property
    def axes(self) -> float:
        """Length [m] of the axes that show the links of a body without shapes."""
        extent = np.ptp(self.scene.link_poses[0, :, :3], axis=0).max()
        return max(0.1, 0.1 * float(extent))

    @cached_property
    def path(self) -> Floats:
        """The path (N, 3) of the root of a motion without a body.

        Empty for others.
        """
        if not self.scene.without_body or self.scene.num_frames < 2:
            return np.zeros((0, 3))
        return np.array(
            self.scene.link_poses[path_frames(self.scene.num_frames), 0, :3]
        )

    def sampled(self, times: Floats) -> Floats:
        """Return some of the times (T,) [s], equally spaced.

        The first and the last are among them.
        """
        count = min(len(times), MAX_SAMPLES)
        indices = np.linspace(0, len(times) - 1, count).astype(int)
        return np.asarray(times[np.unique(indices)])

    def goes_far(self, times: Floats) -> bool:
        """Return whether the root moves far between the times (T,) [s]."""
        roots = self.roots(self.sampled(times))[:, :2]
        return bool(
            len(times) > 1 and np.ptp(roots, axis=0).max() > MIN_WALK * self.size
        )
