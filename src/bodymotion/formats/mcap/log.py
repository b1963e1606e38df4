"""The messages of a log that move a robot, by topics and frames."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from bodymotion.diagnostics import Diagnostics, Location
from bodymotion.formats.limits import Budget
from bodymotion.formats.mcap.messages import (
    MAX_TIME,
    Kind,
    frame_poses,
    joint_rows,
    kind_of,
    stamp_of,
    trajectory_rows,
)
from bodymotion.formats.mcap.rules import MESSAGE

Decoder: TypeAlias = Callable[[bytes], Any]

# [bytes] So many of a message cost about as much as a row of a table.
PIECE_BYTES = 64
# [ns] Later times are dates: they are counted from 1970.
DATE = 10**17
# The first bytes of a message that is compressed by itself.
ZSTD_HEAD = b"\x28\xb5\x2f\xfd"
# Characters of the reason that a decoder gives.
MAX_REASON = 100


class Stamp(NamedTuple):
    """The time [ns] in a message, and that at which it was logged.

    The first is 0 where the message has none.
    """

    stated: int
    logged: int


class JointMessage(NamedTuple):
    """Values of joints, `after` [ns] the time of their message."""

    stamp: Stamp
    after: int
    names: tuple[str, ...]
    positions: list[float]


class PoseMessage(NamedTuple):
    """A pose (x y z, w x y z) of a frame in its parent."""

    stamp: Stamp
    pose: list[float]


class FrameSource(NamedTuple):
    """A topic that has a frame, and the parent that the frame has there."""

    topic: str
    parent: str


class JointRow(NamedTuple):
    """Values of joints at a time [ns]."""

    time: int
    names: tuple[str, ...]
    positions: list[float]


@dataclass
class Topic:
    """A topic and its messages with joints.

    Its `kind` is None before the first message. A topic whose messages have no fields
    of a motion `is_unknown`.
    """

    type: str = ""
    kind: Kind | None = None
    is_unknown: bool = False
    latest: int = 0
    """[ns] The latest time in a message."""
    num_without_positions: int = 0
    """Messages, or points of trajectories, that have no positions."""
    joints: list[JointMessage] = field(default_factory=list)

    @property
    def is_used(self) -> bool:
        """Whether a message has come."""
        return self.kind is not None or self.is_unknown

    def time_of(self, stamp: Stamp) -> int:
        """Return the time [ns] of a message.

        Without a time of its own it is that of the log, unless 0 is a time of a
        simulation: then all other times are small, too.
        """
        # Each message of ROS has a time in its header, but for 0.
        if stamp.stated:
            return stamp.stated
        if 0 < self.latest <= DATE:
            return 0
        return stamp.logged

    def rows(self) -> list[JointRow]:
        """Return the values of joints in the order of the messages.

        A trajectory replaces what is left of those before it.
        """
        rows: list[JointRow] = []
        for message in self.joints:
            # Points of a trajectory are `after` its own time.
            time = self.time_of(message.stamp) + message.after
            if self.kind == "trajectory":
                names = {*message.names}
                # A new trajectory begins: points of the old one behind it are never
                # reached.
                while (
                    rows and rows[-1].time >= time and names.issuperset(rows[-1].names)
                ):
                    rows.pop()
            rows.append(JointRow(time, message.names, message.positions))
        return rows


class Log:
    """The messages of motion in a log."""

    def __init__(self, diagnostics: Diagnostics, path: Path, budget: Budget) -> None:
        self.diagnostics = diagnostics
        self.location = Location(str(path))
        self.budget = budget
        self.topics: dict[str, Topic] = {}
        self.frames: dict[str, dict[FrameSource, list[PoseMessage]]] = {}
        """The poses of each frame, by its topic and parent."""

    @property
    def holds_motion(self) -> bool:
        """Whether a message with joints or frames has come."""
        return bool(self.frames) or any(t.joints for t in self.topics.values())

    def moving_topics(self) -> Iterator[str]:
        """Yield the topics of joints and of frames."""
        for sources in self.frames.values():
            for source in sources:
                yield source.topic
        for name, topic in self.topics.items():
            if topic.joints:
                yield name

    def add(self, name: str, logged: int, data: bytes, decode: Decoder | None) -> None:
        """Add a message of a topic that is known.

        One that cannot be decoded is reported.
        """
        topic = self.topics[name]
        # Without a decoder the type is not known to move a robot.
        if decode is None or topic.is_unknown:
            topic.is_unknown = True
            return
        # The budget counts what a message costs, not only messages.
        pieces = 1 + len(data) // PIECE_BYTES
        self.budget.take_items(pieces, "pieces of messages", self.location)
        try:
            message = decode(data)
            # The first message shows the kind; its schema may have any name.
            if topic.kind is None:
                topic.kind = kind_of(message)
                topic.is_unknown = topic.kind is None
            # Times of a damaged log may be any number of 64 bits.
            self._add_message(name, max(-MAX_TIME, min(logged, MAX_TIME)), message)
        except Exception as error:  # what decoders raise for damaged data
            reason = f"{type(error).__name__}: {error}".removesuffix(": ")[:MAX_REASON]
            if data.startswith(ZSTD_HEAD):
                reason = (
                    "it is compressed; of a rosbag2, only whole files and chunks may "
                    "be compressed"
                )
            text = f"a message of {name[:60]}: {reason}"
            self.diagnostics.report(MESSAGE, text, self.location)
            self.diagnostics.mark_unknown(("components", "all"))

    def _add_message(
        self,
        name: str,
        logged: int,
        message: Any,  # noqa: ANN401
    ) -> None:
        """Add the joints or frames of a decoded message."""
        topic = self.topics[name]
        if topic.kind == "frames":
            self._add_frames(name, logged, message)
            return
        stamp = Stamp(stamp_of(message), logged)
        if topic.kind == "trajectory":
            rows = trajectory_rows(message)
        elif topic.kind == "joints":
            rows = joint_rows(message)
        else:
            return
        for row in rows:
            # A JointState may have only velocities or efforts.
            if not row.positions:
                topic.num_without_positions += 1
                continue
            topic.joints.append(JointMessage(stamp, *row))
            topic.latest = max(topic.latest, stamp.stated)

    def _add_frames(self, name: str, logged: int, message: Any) -> None:  # noqa: ANN401
        topic = self.topics[name]
        for frame in frame_poses(message):
            sources = self.frames.setdefault(frame.child, {})
            poses = sources.setdefault(FrameSource(name, frame.parent), [])
            poses.append(PoseMessage(Stamp(frame.stamp, logged), frame.pose))
            topic.latest = max(topic.latest, frame.stamp)
