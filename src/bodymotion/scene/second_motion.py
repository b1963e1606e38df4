"""A second motion of the same body on the timeline of the first, and the differences between the two."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bodymotion.diagnostics.text import fixed, shown
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.motion.components import ON_FRAME, Timeline
from bodymotion.scene.scene import Scene


def extended(first: Scene, second: Scene) -> Scene:
    """Return the first scene with its last frame held until the end of the second one, at the times of the second one's frames."""
    own, other = first.timeline, second.timeline
    later = other.times[other.times > own.times[-1] + ON_FRAME]
    count = len(later)
    if first.num_frames < 2 or not count:
        return first
    timeline = Timeline.stamped(np.concatenate([own.times, later]), own.import_rate)
    if own.frame_rate is not None and own.frame_rate == other.frame_rate:
        timeline = Timeline.uniform(own.num_frames + count, own.frame_rate)

    def held(values: Floats) -> Floats:
        return frozen(np.concatenate([values, np.repeat(values[-1:], count, axis=0)]))

    return replace(
        first,
        timeline=timeline,
        link_poses=held(first.link_poses),
        q=held(first.q),
        zmp=None if first.zmp is None else held(first.zmp),
        own_frames=first.num_frames,
    )


def side_by_side(first: Scene, second: Scene, is_ghost: bool) -> Scene:
    """Return the first scene with the second one beside it, or as a ghost at its position, on one timeline."""
    return replace(extended(first, second), second=second, is_ghost=is_ghost)


@dataclass(frozen=True, eq=False)
class Differences:
    """The differences between two motions in the frames that both have.

    Attributes
    ----------
    joints:
        (T, J) [rad, m] values of the second motion minus those of the first.
    roots:
        (T,) [m] distance between the roots; None where one of the motions has no root poses.
    """

    scene: Scene
    joints: Floats
    roots: Floats | None

    def largest_at(self, frame: int) -> tuple[int, float]:
        """Return the joint column with the largest difference at a frame, and the difference."""
        row = self.joints[min(frame, len(self.joints) - 1)]
        column = int(np.abs(row).argmax())
        return column, float(row[column])

    @property
    def largest(self) -> tuple[int, int, float]:
        """The frame, the joint column and the amount of the largest difference."""
        frame, column = divmod(int(np.abs(self.joints).argmax()), self.joints.shape[1])
        return frame, column, float(self.joints[frame, column])

    def describe(self, frame: int) -> str:
        """Return the largest difference at a frame, and over all frames, in words."""
        parts = []
        if self.joints.size:
            at, column, amount = self.largest
            if frame < len(self.joints):
                parts.append(f"now {self._joint(*self.largest_at(frame))}")
            parts.append(f"max {self._joint(column, amount)} at {fixed(float(self.scene.timeline.times[at]), 2)} s")
        if self.roots is not None and len(self.roots):
            now = f"{1e3 * self.roots[frame]:.0f} mm, " if frame < len(self.roots) else ""
            parts.append(f"distance of roots {now}max {1e3 * self.roots.max():.0f} mm")
        return "; ".join(parts) or "no joints to compare"

    def _joint(self, column: int, amount: float) -> str:
        joint = self.scene.body.joints[column]
        name = shown(joint.name) or f"joint {column}"
        if joint.type == "slide":
            return f"{name} {fixed(1e3 * amount, 1, '+')} mm"
        return f"{name} {fixed(np.rad2deg(amount), 2, '+')}°"


def differences(first: Scene, second: Scene) -> Differences:
    """Compare two scenes of one body."""
    own = first.own_frames or first.num_frames
    times = first.timeline.times[:own]
    common = times[times <= second.timeline.times[-1] + 1e-9]
    frames = np.asarray(second.timeline.frames_at(common))
    columns = min(first.q.shape[1], second.q.shape[1])
    joints = second.q[frames, :columns] - first.q[: len(common), :columns]
    roots = None
    if first.has_root and second.has_root:
        roots = np.linalg.norm(second.link_poses[frames, 0, :3] - first.link_poses[: len(common), 0, :3], axis=1)
    return Differences(first, frozen(joints), roots)
