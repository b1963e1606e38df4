"""A second motion of a body on the timeline of the first, and their differences."""

from dataclasses import replace

import numpy as np

from bodymotion.diagnostics.text import fixed, shown
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.motion.components import ON_FRAME, Timeline
from bodymotion.scene.scene import Scene

# [s] Of the times of frames that are meant to be equal.
ROUNDING = 1e-9


def extended(first: Scene, second: Scene) -> Scene:
    """Return the first scene with its last frame held until the end of the second.

    The added frames are at the times of the second one's.
    """
    timeline = first.timeline
    other = second.timeline
    later = other.times[other.times > timeline.times[-1] + ON_FRAME]
    count = len(later)
    if first.num_frames < 2 or not count:
        return first
    if timeline.frame_rate is not None and timeline.frame_rate == other.frame_rate:
        longer = Timeline.uniform(timeline.num_frames + count, timeline.frame_rate)
    else:
        times = np.concatenate([timeline.times, later])
        longer = Timeline.stamped(times, timeline.import_rate)

    def hold(values: Floats) -> Floats:
        return frozen(np.concatenate([values, np.repeat(values[-1:], count, axis=0)]))

    return replace(
        first,
        timeline=longer,
        link_poses=hold(first.link_poses),
        q=hold(first.q),
        zmp=None if first.zmp is None else hold(first.zmp),
        own_frames=first.num_frames,
    )


def side_by_side(first: Scene, second: Scene, is_ghost: bool) -> Scene:
    """Return the first scene with the second one beside it, on one timeline.

    A ghost is at the position of the first. Its timeline ends with the first motion:
    after it there is nothing that the ghost could be compared with.
    """
    if not is_ghost:
        return replace(extended(first, second), compared=second)
    end = float(first.timeline.times[-1])
    last = float(second.timeline.times[-1])
    notes = first.notes
    if first.num_frames > 1 and last > end + ON_FRAME:
        note = (
            f"the ghost is shown to {fixed(end, 2)} s, where the first motion ends, "
            f"not to its end at {fixed(last, 2)} s"
        )
        notes = (*notes, note)
    return replace(first, compared=second, is_ghost=True, notes=notes)


class Differences:
    """The differences between two scenes of one body, in the frames that both have.

    Attributes
    ----------
    joints:
        (T, J) [rad, m] Values of the second motion minus those of the first.
    roots:
        (T,) [m] Distance between the roots; None where one of the motions has no root
        poses.
    """

    def __init__(self, first: Scene, second: Scene) -> None:
        """Compute the differences at the times that both scenes have."""
        self._scene = first
        times = first.timeline.times[: first.own_frames or first.num_frames]
        # Times of the first scene until the second one ends.
        common = times[times <= second.timeline.times[-1] + ROUNDING]
        frames = np.asarray(second.timeline.frames_at(common))
        count = len(common)
        # Models may differ: only columns that both have.
        columns = min(first.q.shape[1], second.q.shape[1])
        self.joints: Floats = second.q[frames, :columns] - first.q[:count, :columns]
        self.roots: Floats | None = None
        if first.has_root and second.has_root:
            positions = first.link_poses[:count, 0, :3]
            others = second.link_poses[frames, 0, :3]
            self.roots = np.linalg.norm(others - positions, axis=1)

    def describe(self, frame: int) -> str:
        """Return the largest difference at a frame, and over all frames, in words."""
        parts = []
        if self.joints.size:
            if frame < len(self.joints):
                largest = int(np.abs(self.joints[frame]).argmax())
                parts.append(f"now {self._joint(frame, largest)}")
            index = int(np.abs(self.joints).argmax())
            worst, column = divmod(index, self.joints.shape[1])
            time = fixed(float(self._scene.timeline.times[worst]), 2)
            parts.append(f"max {self._joint(worst, column)} at {time} s")
        if self.roots is not None and len(self.roots):
            distance = f"max {1e3 * self.roots.max():.0f} mm"
            if frame < len(self.roots):
                distance = f"{1e3 * self.roots[frame]:.0f} mm, {distance}"
            parts.append(f"distance of roots {distance}")
        return "; ".join(parts) or "no joints to compare"

    def _joint(self, frame: int, column: int) -> str:
        """Return the difference of a joint at a frame, in words."""
        joint = self._scene.body.joints[column]
        amount = float(self.joints[frame, column])
        name = shown(joint.name) or f"joint {column}"
        if joint.type == "slide":
            return f"{name} {fixed(1e3 * amount, 1, '+')} mm"
        return f"{name} {fixed(np.rad2deg(amount), 2, '+')}°"
