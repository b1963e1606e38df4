"""What a player does, without anything to show it on: time, speed, loop, and which frame that is.

The player knows no clock. Whoever has one says with `advance` how many seconds have passed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite

from bodymotion.motion.timeline import Timeline

__all__ = ["SPEEDS", "Player"]

SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
"""The speeds that the player's buttons step through; any value between the first and the last is allowed."""


@dataclass
class Player:
    """Plays over a timeline with at least one frame.

    `time` [s] is where it stands, always within the timeline; `frame` the index of the frame that is in force there.
    """

    timeline: Timeline
    time: float = field(default=0.0)
    playing: bool = False
    loop: bool = True
    speed: float = 1.0

    def __post_init__(self) -> None:
        if self.timeline.num_frames < 1:
            raise ValueError("a player needs at least one frame")
        self.time = self._within(self.time)

    @property
    def start(self) -> float:
        """The time [s] of the first frame."""
        return float(self.timeline.times[0])

    @property
    def end(self) -> float:
        """The time [s] of the last frame."""
        return float(self.timeline.times[-1])

    @property
    def frame(self) -> int:
        """The index of the frame in force: the last one at or before `time`."""
        return int(self.timeline.frames_at(self.time))

    @property
    def num_frames(self) -> int:
        """How many frames there are."""
        return self.timeline.num_frames

    def play(self) -> None:
        """Go on playing; from the beginning when it stands at the end. One frame alone does not play."""
        if self.num_frames < 2:
            return
        if self.time >= self.end:
            self.time = self.start
        self.playing = True

    def pause(self) -> None:
        """Stop where it is."""
        self.playing = False

    def toggle(self) -> None:
        """Play when paused, pause when playing."""
        if self.playing:
            self.pause()
        else:
            self.play()

    def seek(self, time: float) -> None:
        """Go to a time [s]; before the first frame is the first frame, after the last one the last."""
        self.time = self._within(time)

    def seek_frame(self, frame: int) -> None:
        """Go to the very time of a frame; below 0 is the first, beyond the last the last."""
        self.time = float(self.timeline.times[min(max(int(frame), 0), self.num_frames - 1)])

    def step(self, frames: int) -> None:
        """Pause and go some frames on (or back, when negative)."""
        self.pause()
        self.seek_frame(self.frame + frames)

    def set_speed(self, speed: float) -> None:
        """Play so many times faster than the clock, kept within the first and the last of `SPEEDS`."""
        if isfinite(speed):
            self.speed = min(max(speed, SPEEDS[0]), SPEEDS[-1])

    def faster(self) -> None:
        """Take the next higher of `SPEEDS`."""
        self.set_speed(next((s for s in SPEEDS if s > self.speed), SPEEDS[-1]))

    def slower(self) -> None:
        """Take the next lower of `SPEEDS`."""
        self.set_speed(next((s for s in reversed(SPEEDS) if s < self.speed), SPEEDS[0]))

    def advance(self, seconds: float) -> None:
        """Let `seconds` of the clock pass.

        At the end it starts again, with what is left over, when it loops; the last frame is then shown as long as the one before
        it. When it does not loop it stays on the last frame and pauses.
        """
        if not self.playing or not seconds > 0:
            return
        time = self.time + seconds * self.speed
        if self.loop:
            times = self.timeline.times
            period = self.end - self.start + float(times[-1] - times[-2])
            if time >= self.start + period:
                time = self.start + (time - self.start) % period
            self.time = time
        elif time >= self.end:
            self.time = self.end
            self.pause()
        else:
            self.time = time

    def moved_to(self, timeline: Timeline) -> Player:
        """Return a player over another timeline that stands at the same time, with the same speed and loop."""
        playing = self.playing and timeline.num_frames > 1
        return Player(timeline, self.time, playing, self.loop, self.speed)

    def _within(self, time: float) -> float:
        if not isfinite(time):
            return self.start
        return min(max(float(time), self.start), self.end)
