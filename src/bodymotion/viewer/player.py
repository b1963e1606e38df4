"""The playback state: time, current frame, playback speed and loop.

The player has no clock. Its owner calls `advance` with the seconds that have passed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import isfinite

from bodymotion.motion.components import Timeline

# The playback speeds of the keys. Any value between the first and the last is allowed.
SPEEDS = 0.1, 0.25, 0.5, 1.0, 2.0, 4.0


# Key, modifier, action (see `run_action`) and description, of the live viewer.
KEYS: tuple[tuple[str, str | None, str, str], ...] = (
    ("space", None, "toggle", "Play or pause"),
    ("arrowright", None, "next", "One frame forward"),
    ("arrowleft", None, "back", "One frame back"),
    ("arrowright", "shift", "far_next", "0.1 s forward"),
    ("arrowleft", "shift", "far_back", "0.1 s back"),
    ("home", None, "first", "First frame"),
    ("end", None, "last", "Last frame"),
    ("[", None, "slower", "Slower"),
    ("]", None, "faster", "Faster"),
    ("L", None, "loop", "Switch loop on or off"),
    ("F", None, "follow", "Switch camera follows root on or off"),
)


@dataclass
class Player:
    """Playback over a timeline with at least one frame.

    `time` [s] is always within the timeline.
    """

    timeline: Timeline
    time: float = field(default=0.0)
    playing: bool = False
    loop: bool = True
    speed: float = 1.0

    def __post_init__(self) -> None:
        if self.timeline.num_frames < 1:
            raise ValueError("a player needs at least one frame")
        self.seek(self.time)

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
        """The index of the current frame: the last one at or before `time`."""
        return int(self.timeline.frames_at(self.time))

    @property
    def num_frames(self) -> int:
        """The number of frames."""
        return self.timeline.num_frames

    def play(self) -> None:
        """Start to play; at the end, from the beginning.

        A single frame does not play.
        """
        if self.num_frames < 2:
            return
        if self.time >= self.end:
            self.time = self.start
        self.playing = True

    def pause(self) -> None:
        """Pause at the current time."""
        self.playing = False

    def seek(self, time: float) -> None:
        """Go to a time [s] between those of the first and the last frame."""
        if isfinite(time):
            self.time = min(max(float(time), self.start), self.end)
        else:
            self.time = self.start

    def seek_frame(self, frame: int) -> None:
        """Go to the time of a frame.

        Indices below 0 are the first frame, those beyond the last the last.
        """
        self.time = float(
            self.timeline.times[min(max(int(frame), 0), self.num_frames - 1)]
        )

    def step(self, frames: int) -> None:
        """Pause and go some frames forward, or back when negative."""
        self.pause()
        self.seek_frame(self.frame + frames)

    def set_speed(self, speed: float) -> None:
        """Set the playback speed (1: real time), clipped to the range of `SPEEDS`."""
        if isfinite(speed):
            self.speed = min(max(speed, SPEEDS[0]), SPEEDS[-1])

    def change_speed(self, name: str) -> None:
        """Set the next of `SPEEDS` that is "faster" or "slower"."""
        faster = (s for s in SPEEDS if s > self.speed)
        slower = (s for s in reversed(SPEEDS) if s < self.speed)
        self.speed = next(faster if name == "faster" else slower, self.speed)

    def advance(self, seconds: float) -> None:
        """Advance by `seconds` of the clock.

        With `loop` it starts again after the last frame, which is shown as long as the
        one before it. Without, it pauses at the last frame.
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

    def with_timeline(self, timeline: Timeline) -> Player:
        """Return a player over another timeline.

        It is at the same time, with the same speed and loop.
        """
        playing = self.playing and timeline.num_frames > 1
        return Player(timeline, self.time, playing, self.loop, self.speed)


def run_action(player: Player, name: str, before_seek: Callable[[], None]) -> None:
    """Run the action of a key or button by its name in `KEYS`.

    `before_seek` is called before the frame changes.
    """
    near = {
        distance: player.timeline.frames_at(player.time + distance) - player.frame
        for distance in (0.1, -0.1)
    }
    tenth = max(1, int(near[0.1]))
    back = min(-1, int(near[-0.1]))
    steps = {
        "next": 1,
        "back": -1,
        "far_next": tenth,
        "far_back": back,
        "last": player.num_frames,
    }
    if name in ("slower", "faster"):
        player.change_speed(name)
    elif name == "loop":
        player.loop = not player.loop
    elif player.num_frames > 1:
        before_seek()
        if name == "toggle":
            (player.pause if player.playing else player.play)()
        elif name == "first":
            player.seek_frame(0)
        else:
            player.step(steps[name])
