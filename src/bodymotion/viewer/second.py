"""A second motion of the same body: beside the first one, or as a ghost in its place, with what differs between the two."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics.text import shown
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.geometry.shapes import Material
from bodymotion.motion.timeline import Timeline
from bodymotion.viewer.scene import Scene
from bodymotion.viewer.take import Take
from bodymotion.viewer.text import fixed

if TYPE_CHECKING:
    import viser

__all__ = ["Differences", "SecondRobot", "differences", "on_one_time_line", "together"]

GHOST = Material(diffuse=(0.2, 0.5, 0.95), transparency=0.62)
ROOM = 1.35
"""The second robot stands so many times the first one's width to its right."""
LEAST_ROOM = 0.45
"""… but no less than that many times its size."""


def on_one_time_line(first: Take, second: Take) -> Take:
    """Return the first take with its last frame going on as long as the second one does."""
    end, own = float(second.timeline.times[-1]), first.timeline
    missing = end - float(own.times[-1])
    if first.num_frames < 2 or missing <= 0:
        return first
    rate = own.frame_rate or (own.num_frames - 1) / max(own.duration, 1e-9)
    more = int(np.ceil(missing * rate - 1e-6))
    if more < 1:
        return first
    stamps = np.concatenate([own.times, own.times[-1] + np.arange(1, more + 1) / rate])
    timeline = (
        Timeline.uniform(own.num_frames + more, own.frame_rate)
        if own.stamps is None and own.frame_rate is not None
        else Timeline.stamped(stamps, own.import_rate)
    )

    def on(values: Floats) -> Floats:
        return frozen(np.concatenate([values, np.repeat(values[-1:], more, axis=0)]))

    return replace(
        first,
        timeline=timeline,
        link_poses=on(first.link_poses),
        q=on(first.q),
        zmp=None if first.zmp is None else on(first.zmp),
        own_frames=first.num_frames,
    )


def together(first: Take, second: Take, is_ghost: bool) -> Take:
    """Return the first take with the second one beside it, or as a ghost in its place, on one time line."""
    return replace(on_one_time_line(first, second), second=second, is_ghost=is_ghost)


@dataclass(frozen=True, eq=False)
class Differences:
    """How far two motions are apart in the frames of the first, as far as both go.

    `joints` (T, J) [rad, m]: values of the second less those of the first. `roots` (T,) [m]: how far their roots are apart, None where one
    of them does not say where its root is.
    """

    take: Take
    joints: Floats
    roots: Floats | None

    def largest(self, frame: int) -> tuple[int, float]:
        """Return the column with the largest difference at a frame, and the difference."""
        row = self.joints[min(frame, len(self.joints) - 1)]
        column = int(np.abs(row).argmax())
        return column, float(row[column])

    @property
    def worst(self) -> tuple[int, int, float]:
        """The frame, the column and the amount of the largest difference of all."""
        frame, column = divmod(int(np.abs(self.joints).argmax()), self.joints.shape[1])
        return frame, column, float(self.joints[frame, column])

    def in_words(self, frame: int) -> str:
        """Say what differs most at a frame, and over all."""
        said = []
        if self.joints.size:
            at, column, most = self.worst
            time = float(self.take.timeline.times[at])
            if frame < len(self.joints):
                said.append(f"now {self._joint(*self.largest(frame))}")
            said.append(f"most {self._joint(column, most)} at {fixed(time, 2)} s")
        if self.roots is not None and len(self.roots):
            now = f"{1e3 * self.roots[frame]:.0f} mm, " if frame < len(self.roots) else ""
            said.append(f"roots {now}at most {1e3 * self.roots.max():.0f} mm apart")
        return "; ".join(said) or "no joints to compare"

    def _joint(self, column: int, amount: float) -> str:
        joint = self.take.body.joints[column]
        name = shown(joint.name) or f"joint {column}"
        if joint.type == "slide":
            return f"{name} {fixed(1e3 * amount, 1, '+')} mm"
        return f"{name} {fixed(np.rad2deg(amount), 2, '+')}°"


def differences(first: Take, second: Take) -> Differences:
    """Compare two takes of one body."""
    own = first.own_frames or first.num_frames
    times = first.timeline.times[:own]
    both = times[times <= second.timeline.times[-1] + 1e-9]
    frames = np.asarray(second.timeline.frames_at(both))
    columns = min(first.q.shape[1], second.q.shape[1])
    joints = second.q[frames, :columns] - first.q[: len(both), :columns]
    roots = None
    if first.has_root and second.has_root:
        roots = np.linalg.norm(second.link_poses[frames, 0, :3] - first.link_poses[: len(both), 0, :3], axis=1)
    return Differences(first, frozen(joints), roots)


class SecondRobot:
    """The robot of the second motion in the scene of the first."""

    def __init__(self, server: viser.ViserServer, first: Scene, take: Take, is_ghost: bool, stands: bool) -> None:
        self.take = take
        self.differences = differences(first.take, take)
        self._at = beside = np.zeros(3)
        if not is_ghost:
            width = float(first.bounds[1, 1] - first.bounds[0, 1])
            beside[1] = -max(ROOM * width, LEAST_ROOM * first.size)
        self.scene = Scene(
            server,
            take,
            self._poses_at(0, stands),
            root="/world/second robot",
            paint=GHOST if is_ghost else None,
            at=beside,
        )

    def _poses_at(self, frame: int, stands: bool) -> Floats:
        poses = np.array(self.take.link_poses[frame])
        if stands and not self.take.has_root:
            poses[:, 2] += self.take.lift(poses)
        return poses

    def place(self, time: float, stands: bool) -> None:
        """Put it where it is at a time [s]; `stands` when what has no root poses stands on the ground."""
        self.scene.place(self._poses_at(int(self.take.timeline.frames_at(time)), stands))

    def with_it(self, bounds: Floats) -> Floats:
        """Return the box (2, 3) around the first robot widened so that the second one, where it stands beside it, is in it."""
        return np.stack([np.minimum(bounds[0], bounds[0] + self._at), np.maximum(bounds[1], bounds[1] + self._at)])

    def remove(self) -> None:
        """Take it out of the scene."""
        self.scene.remove()
