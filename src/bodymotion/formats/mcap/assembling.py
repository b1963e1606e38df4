"""From the messages of a log to a motion.

The joints are those of one topic, the poses those of a tree of frames. The pose of a
link in the world is the product of the poses from the root of the tree to its frame::

    T_world_link = T_world_root · … · T_parent_link
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, takewhile
from typing import Any, NamedTuple, TypeVar

import numpy as np

from bodymotion.diagnostics import ReadResult, Source, SourceMap
from bodymotion.diagnostics.text import counted, listed
from bodymotion.formats.mcap.log import DATE, JointRow, Log
from bodymotion.formats.mcap.messages import EXPECTED
from bodymotion.formats.mcap.rules import (
    CLOCK,
    MISSING_VALUES,
    NO_MOTION,
    PARENT,
    TIME,
    UNREAD,
)
from bodymotion.formats.rules import TOO_LARGE
from bodymotion.formats.tables.columns import (
    MAX_GROWTH,
    MIN_NUMBERS,
    TWICE,
    in_body_order,
    in_id_order,
    timeline_of,
)
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body
from bodymotion.motion import (
    JOINT_DISPLACEMENT,
    LINK_POSITION,
    Component,
    Motion,
    MultiSE3Seq,
    MultiValueSeq,
)
from bodymotion.motion.interpolation import sampled

# [ns] A clock that goes back further was set to another time. Less is the delay of a
# message.
RESET = 10**8
# Frames that are no links.
WORLD = ("world", "map", "odom", "earth", "")
IDENTITY = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
# Names in a message.
MAX_LISTED = 8


class PoseRow(NamedTuple):
    """A pose at a time [ns]."""

    time: int
    pose: list[float]


class Frame(NamedTuple):
    """A frame: its parent and its poses in it by time [ns]."""

    parent: str
    poses: dict[int, list[float]]


Row = TypeVar("Row", JointRow, PoseRow)


def motion_of(
    log: Log, source: Source, body: Body | None, from_zero: bool, wanted: str | None
) -> ReadResult[Motion]:
    """Return the motion of the messages, with all problems.

    Where several topics have a motion, it is that of the topic `wanted`.
    """
    return _Assembler(log, body).motion(source, from_zero, wanted)


class _Assembler:
    def __init__(self, log: Log, body: Body | None) -> None:
        self.log = log
        self.diagnostics = log.diagnostics
        self.location = log.location
        self.body = body
        self.frames: dict[str, Frame] = {}
        self.start = 0
        """[ns] The time that becomes 0."""

    def motion(
        self, source: Source, from_zero: bool, wanted: str | None
    ) -> ReadResult[Motion]:
        """Return the motion of the topics that were chosen."""
        moving = {*self.log.moving_topics()}
        if not moving or wanted not in (None, *moving):
            self._report_no_motion(wanted)
            return ReadResult(None, self.diagnostics.problems)
        # Joints of one topic only: two would contradict each other.
        joint_topic = self._choose_joint_topic(wanted)
        rows: list[JointRow] = []
        if joint_topic:
            rows = self._in_time(joint_topic, self.log.topics[joint_topic].rows())
        unread = self._choose_frames(wanted)
        self._report_unread(joint_topic, unread)
        # Poses of all frames are put on one set of times.
        pose_times = self._pose_times(rows)
        self._set_start([*pose_times, *(row.time for row in rows)], from_zero)
        components: list[Component] = []
        with self.diagnostics.recover(("components", "all")):
            if pose_times:
                components += self._links(pose_times)
            if rows:
                components.append(self._joints(rows))
        locations = SourceMap({(): self.location}, self.diagnostics.unknown)
        motion = Motion(
            tuple(components),
            source=replace(source, locations=locations),
            problems=self.diagnostics.problems,
        )
        return ReadResult(motion, self.diagnostics.problems)

    def _report_no_motion(self, wanted: str | None) -> None:
        titles = sorted(
            # Topics without any message say nothing.
            f"{name} ({topic.type or 'no type'})"
            for name, topic in self.log.topics.items()
            if topic.is_used
        )
        message = "no messages"
        if titles:
            message = f"the topics are {listed(titles, MAX_LISTED)}"
        if wanted:
            message = f"no motion in the topic {wanted}; {message}"
        text = f"{message}; expected {EXPECTED}"
        self.diagnostics.report(NO_MOTION, text, self.location)

    def _choose_joint_topic(self, wanted: str | None) -> str:
        """Return the topic of the joints.

        It is the wanted one, else a topic of states before one of trajectories, else
        the one with the most messages. "" without joints.
        """

        # Tuples compare in order: wanted first, then states, then the most messages.
        def order(name: str) -> tuple[bool, bool, int]:
            topic = self.log.topics[name]
            return name != wanted, topic.kind == "trajectory", -len(topic.joints)

        with_joints = [name for name, topic in self.log.topics.items() if topic.joints]
        return min(with_joints, key=order, default="")

    def _report_unread(self, joint_topic: str, frames: list[str]) -> None:
        """Report messages and topics that are not read."""
        if joint_topic:
            count = self.log.topics[joint_topic].num_without_positions
            if count:
                text = (
                    f"{counted(count, 'message')} of {joint_topic} without positions: "
                    "not read"
                )
                self.diagnostics.report(MISSING_VALUES, text, self.location)
        unread = [
            name
            for name, topic in self.log.topics.items()
            if topic.is_used and topic.kind != "frames" and name != joint_topic
        ]
        unread += frames
        if unread:
            text = f"not read: {listed(sorted(unread), MAX_LISTED)}"
            self.diagnostics.report(UNREAD, text, self.location)

    def _choose_frames(self, wanted: str | None) -> list[str]:
        """Set the frames, each of one topic and with one parent.

        Return what is not read for that.
        """
        unread: list[str] = []
        for child, sources in self.log.frames.items():
            # The wanted topic, else the one with the most messages of this frame.
            chosen = max(
                sources,
                key=lambda source: (source.topic == wanted, len(sources[source])),
            )
            topics = {source.topic for source in sources}
            unread += [f"{child} of {name}" for name in topics - {chosen.topic}]
            parents = [
                source.parent
                for source in sources
                if source.topic == chosen.topic and source.parent != chosen.parent
            ]
            if parents:
                text = (
                    f"{child} is below {chosen.parent} and below "
                    f"{listed(parents, MAX_LISTED)}; read below {chosen.parent}"
                )
                self.diagnostics.report(PARENT, text, self.location)
            topic = self.log.topics[chosen.topic]
            rows = [
                PoseRow(topic.time_of(message.stamp), message.pose)
                # By time; the last pose of a time counts.
                for message in sources[chosen]
            ]
            rows = self._in_time(f"{child} of {chosen.topic}", rows)
            self.frames[child] = Frame(chosen.parent, dict(rows))
        return unread

    def _in_time(self, name: str, rows: list[Row]) -> list[Row]:
        """Return the rows before their clock goes back.

        Report that, and rows of one time that differ. Single messages may be late: only
        two late ones in a row show that the clock was set.
        """
        times = np.array([row.time for row in rows], np.int64)
        # The latest time so far, less the time of the message.
        is_late = np.maximum.accumulate(times) - times > RESET
        # Two in a row: one alone was only late.
        is_reset = is_late[:-1] & is_late[1:]
        if is_reset.any():
            end = int(is_reset.argmax())
            text = (
                f"{name}: the clock goes back from {times[end - 1] / 1e9:.6g} s to "
                f"{times[end] / 1e9:.6g} s; {end} of {len(rows)} messages are read"
            )
            self.diagnostics.report(TIME, text, self.location)
            rows = rows[:end]
        num_replaced = 0
        # A later message of the same time replaces the first.
        first: dict[Any, list[float]] = {}
        for row in rows:
            *key, values = row
            if first.setdefault(tuple(key), values) != values:
                num_replaced += 1
        if num_replaced:
            text = (
                f"{name}: {counted(num_replaced, 'message')} replaced by another one "
                f"of "
                "the same time"
            )
            self.diagnostics.report(TIME, text, self.location)
        return rows

    def _pose_times(self, joint_rows: list[JointRow]) -> list[int]:
        """Return the times [ns] at which poses are read.

        They are those of the frame with the most messages. A robot that is fixed to the
        world has one pose; it is held at the times of its joints.
        """
        longest: dict[int, list[float]] = {}
        for frame in self.frames.values():
            if len(frame.poses) > len(longest):
                longest = frame.poses
        if len(longest) == 1 and joint_rows:
            return sorted({row.time for row in joint_rows})
        return sorted(longest)

    def _set_start(self, times: list[int], from_zero: bool) -> None:
        first = min(times)
        # Later than in any simulation: counted from 1970.
        if first > DATE:
            text = f"times are dates from {first / 1e9:.3f} s on"
            self.diagnostics.report(CLOCK, text, self.location)
        if first > DATE or from_zero:
            self.start = first

    def _seconds(self, times: Sequence[int]) -> Floats:
        # int64 minus int64 first: a date in ns has more digits than a double.
        return np.asarray((np.array(times, np.int64) - self.start) / 1e9)

    def _check_size(self, columns: int, rows: int, num_known: int) -> None:
        """Refuse a table in which far more values are missing than are there."""
        if columns * rows > max(MIN_NUMBERS, MAX_GROWTH * num_known):
            raise TOO_LARGE.error(
                f"{columns} names at {rows} times, of which {num_known} are there",
                self.location,
            )

    def _joints(self, rows: list[JointRow]) -> Component:
        """Return the component of the joints of all messages."""
        # Each time once; messages of one time are merged.
        times = sorted({row.time for row in rows})
        # In the order of their first message.
        names = [*dict.fromkeys(chain.from_iterable(row.names for row in rows))]
        num_known = sum(len(row.names) for row in rows)
        self._check_size(len(names), len(times), num_known)
        frame_of = {time: frame for frame, time in enumerate(times)}
        column_of = {name: column for column, name in enumerate(names)}
        # Which values are known (T, N): messages may have a part of the joints.
        is_known = np.zeros((len(times), len(names)), np.bool_)
        values = np.zeros(is_known.shape)
        for row in rows:
            frame = frame_of[row.time]
            columns = [column_of[name] for name in row.names]
            is_known[frame, columns] = True
            values[frame, columns] = row.positions
        self._report_repeated_names(rows)
        if not is_known.all():
            is_missing = ~is_known.all(axis=0)
            missing = [names[column] for column in np.flatnonzero(is_missing)]
            text = f"messages without {listed(missing, MAX_LISTED)}"
            self.diagnostics.report(MISSING_VALUES, text, self.location)
            # A joint without a value stays where it was.
            values = _held(values, is_known)
        labels = tuple(names)
        if self.body is not None:
            values, labels = in_body_order(
                values, names, self.body, self.location, self.diagnostics
            )
        else:
            by_id = in_id_order(values, names, self.location, self.diagnostics)
            if by_id is not None:
                values = by_id
                labels = ()
        return MultiValueSeq(
            content=JOINT_DISPLACEMENT,
            timeline=timeline_of(self._seconds(times)),
            values=values,
            part_labels=labels,
        )

    def _report_repeated_names(self, rows: list[JointRow]) -> None:
        repeated = set()
        for names in {row.names for row in rows}:
            counts = Counter(names)
            repeated |= {name for name in names if counts[name] > 1}
        if repeated:
            text = f"a message has two values of {listed(sorted(repeated), MAX_LISTED)}"
            self.diagnostics.report(TWICE, text, self.location)

    def _links(self, times: list[int]) -> list[Component]:
        """Return the poses of links in the world."""
        world = self._world_poses(times)
        names, labels = self._link_names(world)
        # The world and the map are no links.
        if unread := sorted({*self.frames} - {*names, *WORLD}):
            text = f"frames that are not read: {listed(unread, MAX_LISTED)}"
            self.diagnostics.report(UNREAD, text, self.location)
        if not names:
            return []
        return [
            MultiSE3Seq(
                content=LINK_POSITION,
                timeline=timeline_of(self._seconds(times)),
                values=np.stack([world[name] for name in names], axis=1),
                part_labels=labels,
            )
        ]

    def _world_poses(self, times: list[int]) -> dict[str, Floats]:
        """Return the poses (T, 7) of all frames in the world, each after its parent."""
        # The frames with the most messages first: the root before what stays.
        by_messages = sorted(
            self.frames, key=lambda name: -len(self.frames[name].poses)
        )
        children: dict[str, list[str]] = {}
        for child in by_messages:
            children.setdefault(self.frames[child].parent, []).append(child)
        # The top has no pose of its own: it is the world.
        top = next((parent for parent in children if parent not in self.frames), None)
        if top is None:
            raise NO_MOTION.error("each frame is below another one", self.location)
        num_known = sum(len(frame.poses) for frame in self.frames.values())
        self._check_size(len(self.frames), len(times), num_known)
        # The top is the world: the identity at all times.
        world = {top: np.tile(IDENTITY, (len(times), 1))}
        # A stack; children in reverse, since the last is taken first.
        waiting = children[top][::-1]
        while waiting:
            child = waiting.pop()
            parent = self.frames[child].parent
            local = self._poses_at(self.frames[child], times)
            # A product with the identity would change the last digits.
            if parent == top:
                world[child] = local
            else:
                world[child] = poses.compose(world[parent], local)
            waiting += children.get(child, [])[::-1]
        return world

    def _poses_at(self, frame: Frame, times: list[int]) -> Floats:
        """Return the poses (T, 7) of a frame in its parent."""
        own_times = sorted(frame.poses)
        local = np.array([frame.poses[time] for time in own_times])
        # The same times: no interpolation, so no digit changes.
        if own_times == times:
            return local
        links = sampled(local[:, None], self._seconds(own_times), self._seconds(times))
        return links[:, 0]

    def _link_names(
        self, world: dict[str, Floats]
    ) -> tuple[list[str], tuple[str, ...]]:
        """Return the frames that are links, and the labels of these.

        Of a body they are its first links, as many as have a frame. Frames link_0,
        link_1 … have no labels.
        """
        # Frames of the world are above the robot.
        names = [name for name in world if name not in WORLD]
        is_numbered = names == [f"link_{k}" for k in range(len(names))]
        if self.body is None:
            if is_numbered:
                return names, ()
            return names, tuple(names)
        links = [link.name for link in self.body.links]
        if is_numbered:
            names = names[: len(links)]
        else:
            # Links without a frame end the list: poses are by link index.
            names = [*takewhile(world.__contains__, links)]
        return names, tuple(links[: len(names)])


def _held(values: Floats, is_known: np.ndarray[Any, np.dtype[np.bool_]]) -> Floats:
    """Return values (T, N) in which unknown ones are the last known before them.

    Before the first known one they are that.
    """
    frames = np.arange(len(values))[:, None]
    # The first frame in which each joint (N,) is known.
    first_known = is_known.argmax(axis=0)
    # The running maximum of frame numbers: the latest known one.
    last_known = np.maximum.accumulate(np.where(is_known, frames, first_known))
    return np.asarray(values[last_known, np.arange(values.shape[1])])
