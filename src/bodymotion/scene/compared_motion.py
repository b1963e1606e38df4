"""A compared motion: a second motion of the same body on the timeline of the first, and the differences between the two."""

from dataclasses import replace

import numpy as np

from bodymotion.diagnostics.text import fixed, shown
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.motion.components import ON_FRAME, Timeline
from bodymotion.scene.scene import Scene


def extended(first: Scene, second: Scene) -> Scene:
    """Return the first scene with its last frame held until the end of the second one, at the times of the second one's frames."""
    own = first.timeline
    other = second.timeline
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
    """Return the first scene with the second one beside it, or as a ghost at its position, on one timeline.

    The timeline of a ghost ends with the first motion: after it there is nothing that
    the ghost could be compared with.
    """
    if not is_ghost:
        return replace(extended(first, second), compared=second)
    end = float(first.timeline.times[-1])
    last = float(second.timeline.times[-1])
    notes = first.notes
    if first.num_frames > 1 and last > end + ON_FRAME:
        notes = (
            *notes,
            f"the ghost is shown to {fixed(end, 2)} s, where the first motion ends, "
            f"not to its end at {fixed(last, 2)} s",
        )
    return replace(first, compared=second, is_ghost=True, notes=notes)


class Differences:
    """The differences between two scenes of one body, in the frames that both have.

    `joints`: (T, J) [rad, m] values of the second motion minus those of the first.
    `roots`: (T,) [m] distance between the roots; None where
    one of the motions has no root poses.
    """

    def __init__(self, first: Scene, second: Scene) -> None:
        self._scene = first
        times = first.timeline.times[: first.own_frames or first.num_frames]
        common = times[times <= second.timeline.times[-1] + 1e-9]
        frames = np.asarray(second.timeline.frames_at(common))
        count = len(common)
        columns = min(first.q.shape[1], second.q.shape[1])
        self.joints: Floats = second.q[frames, :columns] - first.q[:count, :columns]
        self.roots: Floats | None = None
        if first.has_root and second.has_root:
            apart = second.link_poses[frames, 0, :3] - first.link_poses[:count, 0, :3]
            self.roots = np.linalg.norm(apart, axis=1)

    def describe(self, frame: int) -> str:
        """Return the largest difference at a frame, and over all frames, in words."""
        parts = []
        if self.joints.size:
            at, column = divmod(int(np.abs(self.joints).argmax()), self.joints.shape[1])
            if frame < len(self.joints):
                parts.append(
                    "now "
                    f"{self._joint(frame, int(np.abs(self.joints[frame]).argmax()))}"
                )
            parts.append(
                f"max {self._joint(at, column)} at "
                f"{fixed(float(self._scene.timeline.times[at]), 2)} s"
            )
        if self.roots is not None and len(self.roots):
            if frame < len(self.roots):
                now = f"{1e3 * self.roots[frame]:.0f} mm, "
            else:
                now = ""
            parts.append(f"distance of roots {now}max {1e3 * self.roots.max():.0f} mm")
        return "; ".join(parts) or "no joints to compare"

    def _joint(self, frame: int, column: int) -> str:
        joint = self._scene.body.joints[column]
        amount = float(self.joints[frame, column])
        name = shown(joint.name) or f"joint {column}"
        if joint.type == "slide":
            return f"{name} {fixed(1e3 * amount, 1, '+')} mm"
        return f"{name} {fixed(np.rad2deg(amount), 2, '+')}°"
