"""Logs of robots: MCAP (`.mcap`) and rosbag2 (a folder with `metadata.yaml` and files `.mcap`, or `.db3` of SQLite).

Messages are known by their fields, in any encoding: CDR of ROS 2 (its standard types),
JSON and protobuf, as of Foxglove.

============================================== =============================================================================
``name``, ``position``                         JointState: joints by their names [rad or m]; or ``joints``, a list of such
``joint_names``, ``points``                    JointTrajectory: ``positions`` at ``time_from_start``; read where no joints are
``transforms`` of ``child_frame_id``           TFMessage, FrameTransforms: ``translation`` [m] and ``rotation``, x y z w by name
``child_frame_id``, ``pose``                   Odometry: ``position`` and ``orientation``
============================================== =============================================================================

The time of a message is its ``header.stamp`` or ``timestamp``, and that of the log
where these are zero and not the start of a simulation. Poses of links in the world
follow from the tree of frames below the first one, which is a link itself unless it is
called world, map, odom or earth. Other frames are read at the times of the frame with
the most messages, by interpolation. Names of joints may come in any order; a joint
without a value keeps its last one. A trajectory replaces the rest of the one before it.
Dates become times from the first message on.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from io import BytesIO
from itertools import takewhile
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeAlias, TypeVar, cast

import numpy as np
import orjson

from bodymotion.diagnostics import (
    Diagnostics,
    FormatError,
    Location,
    Problem,
    ReadResult,
    Source,
    SourceMap,
    judgement,
    losses,
)
from bodymotion.diagnostics.text import counted, listed
from bodymotion.formats.limits import Budget, budget_for
from bodymotion.formats.mcap_records import (
    MCAP,
    CutError,
    Kind,
    Record,
    all_records,
    message_of,
)
from bodymotion.formats.resources import check_inside, unreadable
from bodymotion.formats.rosbag2 import read_messages
from bodymotion.formats.rules import TOO_LARGE, UNREADABLE
from bodymotion.formats.tables.columns import (
    MAX_GROWTH,
    MIN_NUMBERS,
    TWICE,
    column_names,
    in_body_order,
    in_id_order,
    on_one_timeline,
    renamed_labels,
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
from bodymotion.system.deferred import need
from bodymotion.system.files import open_file, whole_file

DAMAGED = judgement.error(
    "MCP003",
    "A log is a file of MCAP or of SQLite, without damage.",
    "nothing can be read from a recording that was cut before its first message",
    example=("a text called walk.mcap", "walk.mcap"),
)
MESSAGE = judgement.error(
    "MCP004",
    "Messages have the encoding of their topic.",
    example=('{"name": ["HIP"]', '{"name": ["HIP"]}'),
)
NO_MOTION = judgement.error(
    "MCP101",
    "A log has messages with names and positions of joints, or with frames.",
    example=("images", "JointState"),
)
CUT = judgement.warning(
    "MCP102",
    "A log is complete to its end.",
    "the part before the cut is read",
    example=("a recording that was killed", "one that was stopped"),
)
UNREAD = judgement.note(
    "MCP103",
    "A log has the topics of one motion only.",
    "topic=… (--topic) names the one to read",
    example=("/joint_states, /camera", "/joint_states, /tf"),
)
MISSING_VALUES = judgement.warning(
    "MCP104",
    "Each message has a value for each joint.",
    "a joint keeps its last value; before its first message it has the first value",
    example=(
        '{"name": ["HIP"]} after {"name": ["HIP", "KNEE"]}',
        '{"name": ["HIP", "KNEE"]}',
    ),
)
CLOCK = judgement.note(
    "MCP105",
    "Times are not dates.",
    "times are counted from the first message",
    example=("1700000000 s", "0 s"),
)
TIME = judgement.warning(
    "MCP106",
    "The messages of a topic have different times, and their clock never goes back.",
    "a log in which a simulation starts again holds several motions: record each of "
    "them, or cut the log",
    example=("0.0 s, 0.1 s, 0.0 s, 0.1 s", "0.0 s, 0.1 s, 0.2 s, 0.3 s"),
)
PARENT = judgement.warning(
    "MCP107",
    "The parent of a frame stays the same.",
    example=("a cube in the world, then in a hand", "a cube in the world"),
)

PIECE_BYTES = 64  # [bytes] So many of a message cost about as much as a row of a table.
# [ns] Times later than the first are those of a clock.
DATE = 10**17
MAX_TIME = 1 << 62
RESET = (
    10**8
)  # [ns] A clock that goes back further was set to another time; less is the delay of a message.
WORLD = ("world", "map", "odom", "earth", "")  # Frames that are no links.
_KINDS = {
    "joints": ("name", "joints"),
    "trajectory": ("joint_names",),
    "frames": ("transforms", "child_frame_id"),
}
_STATE = "sensor_msgs/msg/JointState"
_FRAMES = "tf2_msgs/msg/TFMessage"
_TYPES = (
    _STATE,
    _FRAMES,
    "trajectory_msgs/msg/JointTrajectory",
    "nav_msgs/msg/Odometry",
)
EXPECTED = (
    "JointState, JointTrajectory, TFMessage, Odometry, or messages with their fields"
)
_FEATURE = "reading and writing logs of robots"
SQLITE = b"SQLite format 3\0"
ZSTD = b"\x28\xb5\x2f\xfd"
_Row: TypeAlias = tuple[int, tuple[str, ...], list[float]]
_AnyRow = TypeVar("_AnyRow", _Row, tuple[int, list[float]])


def _get(value: Any, *names: str) -> Any:  # noqa: ANN401
    """Return the first of some fields that a message has, in whatever encoding.

    None where it has none.
    """
    for name in names:
        if isinstance(value, dict):
            found = value.get(name)
        else:
            found = getattr(value, name, None)
        if found is not None:
            return found
    return None


def _nanoseconds(stamp: Any) -> int:  # noqa: ANN401
    found = int(_get(stamp, "sec", "seconds") or 0) * 10**9 + int(
        _get(stamp, "nanosec", "nsec", "nanos") or 0
    )
    if abs(found) >= MAX_TIME:
        raise ValueError(f"the time {found} ns is no date")
    return found


def _stamp(message: Any) -> int:  # noqa: ANN401
    """Return the time [ns] in a message.

    0 where it has none.
    """
    return _nanoseconds(
        _get(_get(message, "header"), "stamp") or _get(message, "timestamp")
    )


def _list(message: Any, name: str) -> list[Any]:  # noqa: ANN401
    found = _get(message, name)
    if found is None:
        return []
    return [*found]


def _number(value: Any) -> float:  # noqa: ANN401
    if value is None:
        return float("nan")
    return float(value)


@dataclass
class _Topic:
    """A topic, and its messages with joints.

    Their stamp and the time of the log [ns], the time after these of a point of a
    trajectory.
    """

    type: str = ""
    kind: str | None = None
    """A key of _KINDS, "" where messages have no such fields.

    None before the first message.
    """
    latest: int = 0
    without_positions: int = 0
    """The number of messages, or points of trajectories, that have no positions."""
    joints: list[tuple[int, int, int, tuple[str, ...], list[float]]] = field(
        default_factory=list
    )

    def time(self, stamp: int, logged: int) -> int:
        """Return the time of a message.

        That of the log where it has no stamp, unless 0 is a time of a simulation.
        """
        return stamp or (0 if 0 < self.latest <= DATE else logged)

    def rows(self) -> list[_Row]:
        """Return the times, names and values of joints.

        A trajectory replaces what is left of those before it.
        """
        rows: list[_Row] = []
        for stamp, logged, after, names, values in self.joints:
            time = self.time(stamp, logged) + after
            while (
                self.kind == "trajectory"
                and rows
                and rows[-1][0] >= time
                and {*rows[-1][1]} <= {*names}
            ):
                rows.pop()
            rows.append((time, names, values))
        return rows


class _Log:
    """The messages of motion, by topics and frames."""

    def __init__(self, found: Diagnostics, path: Path) -> None:
        self.found = found
        self.location = Location(str(path))
        self.budget = Budget(str(path), 0)
        self.topics: dict[str, _Topic] = {}
        self.poses: dict[
            str, dict[tuple[str, str], list[tuple[int, int, list[float]]]]
        ] = {}
        """By frame, then by topic and parent: as in a topic."""
        self.frames: dict[str, tuple[str, dict[int, list[float]]]] = {}
        self.start = 0
        typesys = need("rosbags.typesys", "lake", _FEATURE)
        self.types = typesys.get_typestore(typesys.Stores.LATEST)

    def cdr(self, kind: str) -> Callable[[bytes], Any] | None:
        if kind in _TYPES:
            return partial(self.types.deserialize_cdr, typename=kind)
        return None

    def add(
        self,
        topic: str,
        logged: int,
        data: bytes,
        decode: Callable[[bytes], Any] | None,
    ) -> None:
        """Add a message of a topic that is known.

        Report one that cannot be decoded.
        """
        about = self.topics[topic]
        if decode is None or about.kind == "":
            about.kind = ""
            return
        pieces = 1 + len(data) // PIECE_BYTES
        self.budget.take_items(pieces, "pieces of messages", self.location)
        try:
            message = decode(data)
            if about.kind is None:
                about.kind = next(
                    (
                        kind
                        for kind, names in _KINDS.items()
                        if _get(message, *names) is not None
                    ),
                    "",
                )
            self._add(topic, max(-MAX_TIME, min(logged, MAX_TIME)), message)
        except Exception as error:  # what decoders raise for damaged data
            reason = f"{type(error).__name__}: {error}".removesuffix(": ")[:100]
            if data.startswith(ZSTD):
                reason = "it is compressed; of a rosbag2, only whole files and chunks may be compressed"
            self.found.report(
                MESSAGE, f"a message of {topic[:60]}: {reason}", self.location
            )
            self.found.mark_unknown(("components", "all"))

    def _add(self, topic: str, logged: int, message: Any) -> None:  # noqa: ANN401
        about = self.topics[topic]
        stamp = _stamp(message)
        rows: list[tuple[int, Any, Any]] = []
        if about.kind == "frames":
            for one in (
                [message]
                if _get(message, "transforms") is None
                else _list(message, "transforms")
            ):
                parent = (
                    _get(one, "parent_frame_id")
                    or _get(_get(one, "header"), "frame_id")
                    or ""
                )
                pose = _get(one, "transform") or _get(_get(one, "pose"), "pose") or one
                position = [
                    _number(_get(_get(pose, "translation", "position"), axis))
                    for axis in "xyz"
                ]
                turn = [
                    _number(_get(_get(pose, "rotation", "orientation"), axis))
                    for axis in "wxyz"
                ]
                child = str(_get(one, "child_frame_id")).lstrip("/")
                at = _stamp(one) or stamp
                sources = self.poses.setdefault(child, {})
                sources.setdefault((topic, str(parent).lstrip("/")), []).append(
                    (at, logged, position + turn)
                )
                about.latest = max(about.latest, at)
        elif about.kind == "trajectory":
            names = _list(message, "joint_names")
            for point in _list(message, "points"):
                rows.append(
                    (
                        _nanoseconds(_get(point, "time_from_start")),
                        names,
                        _list(point, "positions"),
                    )
                )
        elif each := _list(message, "joints"):
            each = [one for one in each if _get(one, "position") is not None]
            rows = [
                (
                    0,
                    [_get(one, "name") for one in each],
                    [_get(one, "position") for one in each],
                )
            ]
        elif about.kind:
            rows = [(0, _list(message, "name"), _list(message, "position"))]
        for after, names, values in rows:
            if not len(values):
                # Each list of a JointState may be empty: of velocities or torques
                # alone.
                about.without_positions += 1
                continue
            if len(names) != len(values):
                raise ValueError(f"{len(names)} names and {len(values)} positions")
            about.joints.append(
                (stamp, logged, after, (*map(str, names),), [*map(_number, values)])
            )
            about.latest = max(about.latest, stamp)

    def motion(
        self, source: Source, body: "Body | None", from_zero: bool, wanted: str | None
    ) -> ReadResult[Motion]:
        """Return the motion of the messages, that of the topic `wanted` where several have it, with all problems."""
        used = {
            name: about for name, about in self.topics.items() if about.kind is not None
        }
        order = {
            n: (n != wanted, one.kind == "trajectory", -len(one.joints))
            for n, one in used.items()
            if one.joints
        }
        best = min(order, key=lambda name: order[name], default="")
        moving = {topic for sources in self.poses.values() for topic, _ in sources} | {
            *order
        }
        if not moving or wanted not in (None, *moving):
            topics = listed(
                sorted(
                    f"{name} ({about.type or 'no type'})"
                    for name, about in used.items()
                ),
                8,
            )
            if used:
                message = f"the topics are {topics}"
            else:
                message = "no messages"
            if wanted:
                missing = f"no motion in the topic {wanted}; "
            else:
                missing = ""
            self.found.report(
                NO_MOTION, f"{missing}{message}; expected {EXPECTED}", self.location
            )
            return ReadResult(None, self.found.problems)
        if best:
            rows = self._in_time(best, self.topics[best].rows())
        else:
            rows = []
        if best and (count := self.topics[best].without_positions):
            about = counted(count, "message")
            message = f"{about} of {best} without positions: not read"
            self.found.report(MISSING_VALUES, message, self.location)
        unread = [
            n for n, one in used.items() if one.kind != "frames" and n != best
        ] + self._choose_frames(wanted)
        if unread:
            self.found.report(
                UNREAD, f"not read: {listed(sorted(unread), 8)}", self.location
            )
        longest: dict[int, list[float]] = max(
            (one[1] for one in self.frames.values()), key=len, default={}
        )
        main = sorted(longest)
        if len(main) == 1 and rows:  # a robot that is fixed to the world
            main = sorted({row[0] for row in rows})
        first = min([*main, *(row[0] for row in rows)])
        if first > DATE:
            self.found.report(
                CLOCK, f"times are dates from {first / 1e9:.3f} s on", self.location
            )
        if first > DATE or from_zero:
            self.start = first
        else:
            self.start = 0
        components: list[Component] = []
        with self.found.recover(("components", "all")):
            components += self._links(main, body) if main else []
            components += [self._joints(rows, body)] if rows else []
        source = replace(
            source, locations=SourceMap({(): self.location}, self.found.unknown)
        )
        return ReadResult(
            Motion(tuple(components), source=source, problems=self.found.problems),
            self.found.problems,
        )

    def _choose_frames(self, wanted: str | None) -> list[str]:
        """Set the frames, each of one topic and with one parent.

        Return what is not read for that.
        """
        unread = []
        for child, sources in self.poses.items():
            topic, parent = max(
                sources, key=lambda one: (one[0] == wanted, len(sources[one]))
            )
            unread += [
                f"{child} of {name}"
                for name in {name for name, _ in sources}
                if name != topic
            ]
            if others := [
                one for name, one in sources if name == topic and one != parent
            ]:
                message = f"{child} is below {parent} and below {listed(others, 8)}; read below {parent}"
                self.found.report(PARENT, message, self.location)
            rows = [
                (self.topics[topic].time(at, logged), pose)
                for at, logged, pose in sources[topic, parent]
            ]
            self.frames[child] = (
                parent,
                dict(self._in_time(f"{child} of {topic}", rows)),
            )
        return unread

    def _in_time(self, name: str, rows: list[_AnyRow]) -> list[_AnyRow]:
        """Return the rows before their clock goes back.

        Report that, and rows of one time that differ. Single messages may be late.
        """
        times = np.array([row[0] for row in rows], np.int64)
        late = np.maximum.accumulate(times) - times > RESET
        if (late[:-1] & late[1:]).any():
            end = int((late[:-1] & late[1:]).argmax())
            change = f"goes back from {times[end - 1] / 1e9:.6g} s to {times[end] / 1e9:.6g} s"
            message = (
                f"{name}: the clock {change}; {end} of {len(rows)} messages are read"
            )
            self.found.report(TIME, message, self.location)
            rows = rows[:end]
        first: dict[Any, list[float]] = {}
        if repeated := sum(
            first.setdefault(row[:-1], row[-1]) != row[-1] for row in rows
        ):
            message = f"{name}: {counted(repeated, 'message')} replaced by another one of the same time"
            self.found.report(TIME, message, self.location)
        return rows

    def _seconds(self, times: list[int]) -> Floats:
        return np.asarray((np.array(times, np.int64) - self.start) / 1e9)

    def _check_size(self, columns: int, rows: int, known: int) -> None:
        if columns * rows > max(MIN_NUMBERS, MAX_GROWTH * known):
            raise TOO_LARGE.error(
                f"{columns} names at {rows} times, of which {known} are there",
                self.location,
            )

    def _joints(self, rows: list[_Row], body: "Body | None") -> Component:
        times = sorted({row[0] for row in rows})
        names = [*dict.fromkeys(name for row in rows for name in row[1])]
        self._check_size(len(names), len(times), sum(len(row[1]) for row in rows))
        number, column = (
            {one: k for k, one in enumerate(every)} for every in (times, names)
        )
        seen = np.zeros((len(times), len(names)), np.bool_)
        values = np.zeros(seen.shape)
        for time, own, position in rows:
            at = number[time], [column[name] for name in own]
            seen[at], values[at] = True, position
        if twice := {
            name
            for own in {row[1] for row in rows}
            for name, count in Counter(own).items()
            if count > 1
        }:
            self.found.report(
                TWICE,
                f"a message has two values of {listed(sorted(twice), 8)}",
                self.location,
            )
        if not seen.all():
            missing = [
                name
                for name, known in zip(
                    names, np.atleast_1d(seen.all(axis=0)), strict=True
                )
                if not known
            ]
            self.found.report(
                MISSING_VALUES, f"messages without {listed(missing, 8)}", self.location
            )
            last = np.maximum.accumulate(
                np.where(seen, np.arange(len(times))[:, None], seen.argmax(axis=0))
            )
            values = values[last, np.arange(len(names))]
        labels = tuple(names)
        if body is not None:
            values, labels = in_body_order(
                values, names, body, self.location, self.found
            )
        elif (
            by_id := in_id_order(values, names, self.location, self.found)
        ) is not None:
            values = by_id
            labels = ()
        timeline = timeline_of(self._seconds(times))
        return MultiValueSeq(
            content=JOINT_DISPLACEMENT,
            timeline=timeline,
            values=values,
            part_labels=labels,
        )

    def _links(self, times: list[int], body: "Body | None") -> list[Component]:
        """Return the poses of links in the world."""
        children: dict[str, list[str]] = {}
        for child in sorted(
            self.frames, key=lambda child: -len(self.frames[child][1])
        ):  # the root before what stays
            children.setdefault(self.frames[child][0], []).append(child)
        top = next((parent for parent in children if parent not in self.frames), None)
        if top is None:
            raise NO_MOTION.error("each frame is below another one", self.location)
        self._check_size(
            len(self.frames),
            len(times),
            sum(len(one[1]) for one in self.frames.values()),
        )
        world = {top: np.tile([0.0, 0, 0, 1, 0, 0, 0], (len(times), 1))}
        waiting = children[top][::-1]
        while waiting:
            child = waiting.pop()
            parent, own = self.frames[child]
            order = sorted(own)
            local = np.array([own[time] for time in order])[:, None]
            if order != times:
                local = sampled(local, self._seconds(order), self._seconds(times))
            world[child] = (
                local[:, 0]
                if parent == top
                else poses.compose(world[parent], local[:, 0])
            )
            waiting += children.get(child, [])[::-1]
        names = [name for name in world if name not in WORLD]
        is_numbered = names == [f"link_{k}" for k in range(len(names))]
        labels = () if is_numbered else tuple(names)
        if body is not None:
            links = [link.name for link in body.links]
            names = [
                *takewhile(
                    world.__contains__, names[: len(links)] if is_numbered else links
                )
            ]
            labels = tuple(links[: len(names)])
        if unread := sorted({*self.frames} - {*names, *WORLD}):
            self.found.report(
                UNREAD, f"frames that are not read: {listed(unread, 8)}", self.location
            )
        if not names:
            return []
        values = np.stack([world[name] for name in names], axis=1)
        timeline = timeline_of(self._seconds(times))
        return [
            MultiSE3Seq(
                content=LINK_POSITION,
                timeline=timeline,
                values=values,
                part_labels=labels,
            )
        ]


def read_mcap(
    path: str | Path,
    *,
    body: "Body | None" = None,
    from_zero: bool = False,
    topic: str | None = None,
    allow_outside: bool | None = None,
) -> ReadResult[Motion]:
    """Read the motion of a log in MCAP, or of a rosbag2 by its `metadata.yaml` or its `.db3`.

    Parameters
    ----------
    path:
        The file. Of a `metadata.yaml` all files `.mcap` or `.db3` beside it are read.
    body:
        Its joints and links are matched by name.
    from_zero:
        Count times from the first message; for dates this is done anyway.
    topic:
        The topic of joints, or of poses, that is read where several have them; by
        default the one with the most messages.
    allow_outside:
        See `bodymotion.load`.
    """
    path = Path(path)
    found = Diagnostics(path)
    files = [path]
    if path.suffix.lower() in (".yaml", ".yml"):
        files = [*path.parent.glob("*.mcap")] or [*path.parent.glob("*.db3")]
        files.sort(
            key=lambda file: (len(file.name), file.name)
        )  # bag_10 is after bag_9
    log = _Log(found, path)
    with found.recover(("components", "all")), budget_for(path) as budget:
        log.budget = budget
        if not files:
            packed = listed(sorted(file.name for file in path.parent.glob("*.zstd")), 8)
            raise UNREADABLE.error(
                f"unpack {packed} (zstd -d)"
                if packed
                else "no .mcap or .db3 beside it",
                log.location,
            )
        for file in files:
            if file != path:
                check_inside(file, path, allow_outside)
                budget.add_file(file.stat().st_size)
            try:
                _read(file, log)
            except FormatError:
                raise
            except OSError as error:
                raise unreadable(error, file) from error
            except Exception as error:  # what the parsers of damaged records raise
                reason = f"{type(error).__name__}: {error}".removesuffix(": ")[:200]
                raise DAMAGED.error(
                    f"a record cannot be decoded ({reason})", Location(str(file))
                ) from error
    if found.has_errors and not (
        log.poses or any(about.joints for about in log.topics.values())
    ):
        return ReadResult(None, found.problems)
    parts = tuple(file for file in files if file != path)
    return log.motion(Source("mcap", path, parts=parts), body, from_zero, topic)


def _read_sqlite(path: Path, log: _Log) -> None:
    """Read the messages of a file of SQLite into the log."""
    for message in read_messages(path, log.budget):
        log.topics.setdefault(message.topic, _Topic(message.kind))
        decode = log.cdr(message.kind)
        log.add(message.topic, message.time, message.data, decode)


def _read(path: Path, log: _Log) -> None:
    """Read the messages of a file into the log.

    Report where it is cut.
    """
    with open_file(path) as file:
        head = file.read(len(SQLITE))
        file.seek(0)
        if head == SQLITE:
            _read_sqlite(path, log)
        elif head.startswith(MCAP):
            _read_records(path, file, log)
        else:
            raise ValueError(
                "the file is no MCAP file and no database of SQLite"
                if head
                else "the file is empty"
            )


def _read_records(path: Path, file: BinaryIO, log: _Log) -> None:
    """Read the messages of a file of MCAP into the log.

    Report where it is cut.
    """
    records = need("mcap.records", "lake", _FEATURE)
    streams = need("mcap.data_stream", "lake", _FEATURE)
    protobuf = need("mcap_protobuf.decoder", "lake", _FEATURE).DecoderFactory()
    schemas: dict[int, Any] = {}
    channels: dict[int, tuple[str, Callable[[bytes], Any] | None]] = {}
    num_messages = 0

    def stream_of(record: Record) -> Any:  # noqa: ANN401
        return streams.ReadDataStream(BytesIO(record.content))

    def decoder(channel: Any) -> Callable[[bytes], Any] | None:  # noqa: ANN401
        """Return the decoder of the messages of a channel.

        None where there is none.
        """
        schema = schemas.get(channel.schema_id)
        if channel.message_encoding == "json":
            return orjson.loads
        if channel.message_encoding == "cdr" and schema is not None:
            return log.cdr(schema.name)
        if channel.message_encoding == "protobuf":
            return cast(
                "Callable[[bytes], Any] | None",
                protobuf.decoder_for(channel.message_encoding, schema),
            )
        return None

    try:
        for record in all_records(file, log.budget, log.location):
            if record.kind == Kind.SCHEMA:
                schema = records.Schema.read(stream_of(record))
                schemas[schema.id] = schema
            elif record.kind == Kind.CHANNEL:
                channel = records.Channel.read(stream_of(record))
                schema = schemas.get(channel.schema_id)
                channels[channel.id] = channel.topic, decoder(channel)
                type_name = "" if schema is None else schema.name
                log.topics.setdefault(channel.topic, _Topic(type_name))
            elif record.kind == Kind.MESSAGE:
                message = message_of(record.content)
                if message.channel not in channels:
                    raise ValueError(
                        f"a message is of channel {message.channel}, which is not "
                        "defined"
                    )
                topic, decode = channels[message.channel]
                log.add(topic, message.time, message.data, decode)
                num_messages += 1
    except CutError as error:
        if not num_messages:
            raise ValueError(f"{error}, before the first message") from None
        text = f"{error}; {counted(num_messages, 'message')} are read"
        log.found.report(CUT, text, log.location)


def write_mcap(
    motion: Motion,
    path: str | Path,
    *,
    encoding: Literal["cdr", "json"] = "cdr",
    body: "Body | None" = None,
) -> tuple[Problem, ...]:
    """Write a motion as a log.

    `/joint_states` (JointState) and `/tf` (TFMessage, frames of links in `world`);
    return what is lost.

    Parameters
    ----------
    motion, path:
        The motion, and the file to write. Times are rounded to nanoseconds.
    encoding:
        "cdr" for ROS 2, or "json" with the same fields.
    body:
        The names of its joints and links are used where the motion has none.

    Raises
    ------
    ValueError
        For an unknown encoding; when the motion has nothing that moves; when only some
        joints are the body's.
    """
    if encoding not in ("cdr", "json"):
        raise ValueError(f"the encodings are 'cdr' and 'json', not {encoding!r}")
    shared = on_one_timeline(motion, body=body)
    if shared.joints is None and shared.links is None:
        raise ValueError(
            "a log holds joints and poses of links, and the motion has none of them"
        )
    problems = [*shared.problems, *shared.time_losses()]
    if shared.zmp is not None:
        problems.append(losses.COMPONENT.problem("a log holds no zero moment point"))
    exact = shared.timeline.times * 1e9
    if (
        not (np.abs(exact) < 2**31 * 1e9).all()
        or not (np.diff(times := np.rint(exact).astype(np.int64)) > 0).all()
    ):
        raise ValueError(
            "times of a log are whole nanoseconds, each after the one before, of at "
            "most 68 years"
        )
    if times[0] > DATE:
        problems.append(
            losses.STAMPS.as_note.problem(
                "readers read the times as dates, and count from the first one"
            )
        )
    links = shared.links
    if links is not None:
        labels: tuple[str, ...] = links.part_labels
        if not labels and body is not None:
            labels = tuple(link.name for link in body.links[: links.num_parts])
        usable = len({*labels} - {*WORLD}) == links.num_parts
        if usable:
            frames = labels
        else:
            frames = tuple(f"link_{k}" for k in range(links.num_parts))
        if labels and not usable:
            problems += renamed_labels("link", labels, frames)
    if shared.joints is not None:
        names, lost = column_names(shared.joints, body)
        problems += lost
    held = [c.values for c in (shared.joints, links) if c is not None]
    if encoding == "json" and (
        missing := sum(int(np.count_nonzero(~np.isfinite(values))) for values in held)
    ):
        problems.append(
            losses.NOT_FINITE.problem(
                f"{counted(missing, 'number')} not finite, written as null in JSON"
            )
        )
    typesys = need("rosbags.typesys", "lake", _FEATURE)
    cdr = encoding == "cdr"
    types = typesys.get_typestore(typesys.Stores.LATEST)

    def new(kind: str, **fields: object) -> object:
        if cdr:
            return types.types[kind](**fields)
        return fields

    def header(time: int, frame: str) -> object:
        stamp = new(
            "builtin_interfaces/msg/Time", sec=time // 10**9, nanosec=time % 10**9
        )
        return new("std_msgs/msg/Header", stamp=stamp, frame_id=frame)

    def frame_of(time: int, child: str, pose: list[float]) -> object:
        position = new(
            "geometry_msgs/msg/Vector3", **dict(zip("xyz", pose, strict=False))
        )
        turn = new(
            "geometry_msgs/msg/Quaternion", **dict(zip("wxyz", pose[3:], strict=True))
        )
        transform = new(
            "geometry_msgs/msg/Transform", translation=position, rotation=turn
        )
        kind = "geometry_msgs/msg/TransformStamped"
        return new(
            kind,
            header=header(time, "world"),
            child_frame_id=child,
            transform=transform,
        )

    with whole_file(path) as stream:
        writer = need("mcap.writer", "lake", _FEATURE).Writer(stream)
        writer.start("ros2" if cdr else "", "bodymotion")
        channels = {}
        for topic, kind in (("/joint_states", _STATE), ("/tf", _FRAMES)):
            if cdr:
                text = types.generate_msgdef(kind, ros_version=2)[0]
            else:
                text = '{"type": "object"}'
            schema = writer.register_schema(
                kind, "ros2msg" if cdr else "jsonschema", text.encode()
            )
            channels[kind] = writer.register_channel(topic, encoding, schema)
        for k, time in enumerate(times.tolist()):
            messages = {}
            if shared.joints is not None:
                values = shared.joints.values[k].copy()
                none = np.zeros(0)
                state = {
                    "name": [*names],
                    "position": values,
                    "velocity": none,
                    "effort": none,
                }
                messages[_STATE] = new(_STATE, header=header(time, ""), **state)
            if links is not None:
                rows = zip(frames, links.values[k].tolist(), strict=True)
                messages[_FRAMES] = new(
                    _FRAMES, transforms=[frame_of(time, *row) for row in rows]
                )
            for name, content in messages.items():
                if cdr:
                    json = None
                else:
                    json = orjson.dumps(content, option=orjson.OPT_SERIALIZE_NUMPY)
                data = json or bytes(types.serialize_cdr(content, name))
                writer.add_message(channels[name], max(time, 0), data, max(time, 0))
        writer.finish()
    return tuple(problems)
