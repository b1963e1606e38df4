"""Where the feet go and where the zero moment point shall be, over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bodymotion.geometry import poses, rotations

from .robot import ANKLE_HEIGHT, HIP_WIDTH
from .solids import Array

SIDES = ("R", "L")


def smooth(t: Array) -> Array:
    """Go from 0 to 1 while t does, with least jerk: velocity and acceleration are 0 at both ends."""
    t = np.clip(t, 0, 1)
    return t**3 * (10 - 15 * t + 6 * t * t)


def hump(t: Array, rise: int, fall: int) -> Array:
    """Go from 0 up to 1 and back to 0 while t goes from 0 to 1; `rise` and `fall` (3 or more) say how steeply."""
    t = np.clip(t, 0, 1)
    top = rise / (rise + fall)
    return (t / top) ** rise * ((1 - t) / (1 - top)) ** fall


@dataclass(frozen=True)
class Plan:
    """A walk: `turns` are the changes of heading [rad] from step to step, the last step brings the feet together.

    Times in seconds: `rest` before the start, `shift` of the weight at start and end, a step of `swing` on one foot and `both` on
    two. `length` of a step, height `lift` of the foot [m]; `heel` and `toe` are by how much the heel is up when the foot leaves the
    ground and the toe when it comes back [rad]. `inward` and `ahead` place the zero moment point in the sole: towards the other foot,
    and forward at the begin and the end of a step. `pivots` are the tip of the toe and the end of the heel, ahead of and
    behind the ankle.
    """

    turns: tuple[float, ...]
    length: float = 0.22
    rest: float = 0.95
    shift: float = 0.6
    swing: float = 0.6
    both: float = 0.15
    lift: float = 0.035
    heel: float = 0.34
    toe: float = 0.16
    inward: float = 0.012
    ahead: tuple[float, float] = (0.005, 0.04)
    pivots: tuple[float, float] = (0.152, 0.092)

    def footholds(self) -> list[tuple[int, float, float, float]]:
        """Return side (0 right, 1 left), x, y and heading of each step; the two where the robot stands at first come first."""
        holds = [(0, 0.0, -HIP_WIDTH, 0.0), (1, 0.0, HIP_WIDTH, 0.0)]
        x = y = heading = 0.0
        for k, turn in enumerate(self.turns):
            if k < len(self.turns) - 1:
                middle = heading + turn / 2
                x, y, heading = (
                    x + self.length * np.cos(middle),
                    y + self.length * np.sin(middle),
                    heading + turn,
                )
            side = k % 2
            out = HIP_WIDTH * (2 * side - 1)
            holds.append(
                (side, x - out * np.sin(heading), y + out * np.cos(heading), heading)
            )
        return holds

    def begin(self, step: int) -> float:
        """When a step's foot leaves the ground [s]."""
        return self.rest + self.shift + step * (self.swing + self.both)

    def ankles(self, times: Array) -> list[Array]:
        """Return the poses (T, 7) of the right and of the left ankle."""
        holds = self.footholds()
        result = []
        for side in (0, 1):
            _, x0, y0, heading0 = holds[side]
            x, y, heading = (np.full(len(times), value) for value in (x0, y0, heading0))
            z = np.full(len(times), ANKLE_HEIGHT)
            pitch = np.zeros(len(times))
            last = holds[side]
            for step, hold in enumerate(holds[2:]):
                if hold[0] != side:
                    continue
                phase = (times - self.begin(step)) / self.swing
                there = smooth(phase)
                x = x + there * (hold[1] - last[1])
                y = y + there * (hold[2] - last[2])
                heading = heading + there * (hold[3] - last[3])
                share = np.hypot(hold[1] - last[1], hold[2] - last[2]) / (
                    2 * self.length
                )
                heel, toe = (
                    self.heel * share * hump(phase, 4, 5),
                    self.toe * share * hump(phase, 6, 3),
                )
                pitch = pitch + heel - toe
                z = (
                    z
                    + self.lift * hump(phase, 3, 3)
                    + self.pivots[0] * np.sin(heel)
                    + self.pivots[1] * np.sin(toe)
                )
                last = hold
            turn = rotations.from_rpy(
                np.stack([np.zeros_like(pitch), pitch, heading], axis=-1)
            )
            result.append(poses.from_parts(np.stack([x, y, z], axis=-1), turn))
        return result

    def headings(self, times: Array) -> tuple[Array, Array]:
        """Return the heading [rad] of the right and of the left foot, without its wrap at a half turn."""
        holds = self.footholds()
        result = []
        for side in (0, 1):
            heading = np.full(len(times), holds[side][3])
            last = holds[side][3]
            for step, hold in enumerate(holds[2:]):
                if hold[0] == side:
                    heading = heading + smooth(
                        (times - self.begin(step)) / self.swing
                    ) * (hold[3] - last)
                    last = hold[3]
            result.append(heading)
        return result[0], result[1]

    def zero_moment_point(self, times: Array) -> Array:
        """Return the planned zero moment point (T, 3): in the middle, on foot after foot, in the middle."""
        holds = self.footholds()
        here = self._middle(holds[0], holds[1])
        point = np.repeat(here[None], len(times), axis=0)
        standing = {0: holds[0], 1: holds[1]}
        for step, hold in enumerate(holds[2:]):
            foot = standing[1 - hold[0]]
            shift = self.both if step else self.shift
            first, last = (
                self._in_sole(foot, self.ahead[0]),
                self._in_sole(foot, self.ahead[1]),
            )
            begin = self.begin(step)
            point = point + smooth((times - begin + shift) / shift)[:, None] * (
                first - here
            )
            point = point + smooth((times - begin) / self.swing)[:, None] * (
                last - first
            )
            here = last
            standing[hold[0]] = hold
        end = self.begin(len(self.turns) - 1) + self.swing
        return point + smooth((times - end) / self.shift)[:, None] * (
            self._middle(*standing.values()) - here
        )

    def _in_sole(self, hold: tuple[int, float, float, float], ahead: float) -> Array:
        side, x, y, heading = hold
        inward = self.inward * (1 - 2 * side)
        c, s = np.cos(heading), np.sin(heading)
        return np.array([x + c * ahead - s * inward, y + s * ahead + c * inward, 0.0])

    def _middle(
        self, a: tuple[int, float, float, float], b: tuple[int, float, float, float]
    ) -> Array:
        ahead = sum(self.ahead) / 2
        return (self._in_sole(a, ahead) + self._in_sole(b, ahead)) / 2
