"""Write a motion as a log in MCAP.

`/joint_states` has a JointState for each frame, `/tf` a TFMessage with the frames of
all links in `world`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import orjson

from bodymotion.diagnostics import Problem, losses
from bodymotion.diagnostics.text import counted
from bodymotion.formats.mcap.assembling import WORLD
from bodymotion.formats.mcap.log import DATE
from bodymotion.formats.mcap.messages import JOINT_STATE, NANOSECONDS, TRANSFORMS
from bodymotion.formats.mcap.reader import FEATURE
from bodymotion.formats.tables.columns import (
    SharedTime,
    column_names,
    on_one_timeline,
    renamed_labels,
)
from bodymotion.model.body import Body
from bodymotion.motion import Motion, MultiSE3Seq
from bodymotion.system.deferred import need
from bodymotion.system.files import whole_file

TOPICS = {JOINT_STATE: "/joint_states", TRANSFORMS: "/tf"}
# [s] 68 years: the seconds of a time of ROS 2 have 32 bits with a sign.
MAX_SECONDS = 2**31
PARENT = "world"


class Message(NamedTuple):
    """A message of one of the TOPICS at a time [ns]."""

    time: int
    type: str
    fields: Any


def write_mcap(
    motion: Motion,
    path: str | Path,
    *,
    encoding: Literal["cdr", "json"] = "cdr",
    body: Body | None = None,
) -> tuple[Problem, ...]:
    """Write a motion as a log.

    Return what is lost.

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
    # Whole nanoseconds, as ROS has them.
    times = _nanoseconds(shared)
    if times[0] > DATE:
        text = "readers read the times as dates, and count from the first one"
        problems.append(losses.STAMPS.as_note.problem(text))
    frames: tuple[str, ...] = ()
    if shared.links is not None:
        frames, renamed = _frame_names(shared.links, body)
        problems += renamed
    joints: tuple[str, ...] = ()
    if shared.joints is not None:
        names, lost = column_names(shared.joints, body)
        joints = tuple(names)
        problems += lost
    if encoding == "json":
        problems += _not_finite(shared)
    codec = _Codec(encoding)
    with whole_file(path) as stream:
        writer = need("mcap.writer", "lake", FEATURE).Writer(stream)
        # The profile says how names of topics and types are to be read.
        writer.start(codec.profile, "bodymotion")
        channels = {}
        for kind, topic in TOPICS.items():
            schema = writer.register_schema(
                kind, codec.schema_encoding, codec.schema_of(kind)
            )
            channels[kind] = writer.register_channel(topic, encoding, schema)
        for message in _messages(shared, times, joints, frames, codec):
            data = codec.encoded(message)
            # Times of a log have no sign; those in messages have one.
            logged = max(message.time, 0)
            writer.add_message(channels[message.type], logged, data, logged)
        writer.finish()
    return tuple(problems)


def _nanoseconds(shared: SharedTime) -> npt.NDArray[np.int64]:
    """Return the times [ns] of the frames.

    ValueError where they cannot be whole nanoseconds, each after the one before.
    """
    exact = shared.timeline.times * NANOSECONDS
    # Beyond these, the seconds of ROS do not fit into 32 bits.
    is_in_range = bool((np.abs(exact) < MAX_SECONDS * NANOSECONDS).all())
    if is_in_range:
        times = np.rint(exact).astype(np.int64)
    if not is_in_range or not (np.diff(times) > 0).all():
        raise ValueError(
            "times of a log are whole nanoseconds, each after the one before, of at "
            "most 68 years"
        )
    return times


def _frame_names(
    links: MultiSE3Seq, body: Body | None
) -> tuple[tuple[str, ...], list[Problem]]:
    """Return the names of the frames of links.

    And what is lost of the names of the links.
    """
    labels: tuple[str, ...] = links.part_labels
    if not labels and body is not None:
        labels = tuple(link.name for link in body.links[: links.num_parts])
    # A frame called `world`, or two of one name, would be read as another tree.
    if len({*labels} - {*WORLD}) == links.num_parts:
        return labels, []
    frames = tuple(f"link_{k}" for k in range(links.num_parts))
    if not labels:
        return frames, []
    return frames, list(renamed_labels("link", labels, frames))


def _not_finite(shared: SharedTime) -> Iterator[Problem]:
    """Yield the loss of numbers that JSON cannot hold."""
    num_lost = 0
    for component in (shared.joints, shared.links):
        if component is not None:
            num_lost += int(np.count_nonzero(~np.isfinite(component.values)))
    if num_lost:
        text = f"{counted(num_lost, 'number')} not finite, written as null in JSON"
        yield losses.NOT_FINITE.problem(text)


class _Codec:
    """Messages in an encoding, and the descriptions of their types."""

    def __init__(self, encoding: str) -> None:
        typesys = need("rosbags.typesys", "lake", FEATURE)
        self._types = typesys.get_typestore(typesys.Stores.LATEST)
        self._is_cdr = encoding == "cdr"
        if self._is_cdr:
            self.profile = "ros2"
            self.schema_encoding = "ros2msg"
        else:
            self.profile = ""
            self.schema_encoding = "jsonschema"

    def schema_of(self, kind: str) -> bytes:
        if not self._is_cdr:
            return b'{"type": "object"}'
        text: str = self._types.generate_msgdef(kind, ros_version=2)[0]
        return text.encode()

    def new(self, kind: str, **fields: object) -> object:
        """Return a message of a type of ROS 2, or a mapping of its fields."""
        if self._is_cdr:
            return self._types.types[kind](**fields)
        return fields

    def encoded(self, message: Message) -> bytes:
        if self._is_cdr:
            return bytes(self._types.serialize_cdr(message.fields, message.type))
        return orjson.dumps(message.fields, option=orjson.OPT_SERIALIZE_NUMPY)


def _messages(
    shared: SharedTime,
    times: npt.NDArray[np.int64],
    joints: tuple[str, ...],
    frames: tuple[str, ...],
    codec: _Codec,
) -> Iterator[Message]:
    """Yield the messages of all frames of the motion, in order of time."""
    none = np.zeros(0)
    for k, time in enumerate(times.tolist()):
        if shared.joints is not None:
            state = codec.new(
                # Velocities and efforts are left empty: a motion has none.
                JOINT_STATE,
                header=_header(codec, time, ""),
                name=[*joints],
                position=shared.joints.values[k].copy(),
                velocity=none,
                effort=none,
            )
            yield Message(time, JOINT_STATE, state)
        if shared.links is not None:
            poses = shared.links.values[k].tolist()
            transforms = [
                _transform(codec, time, frame, pose)
                for frame, pose in zip(frames, poses, strict=True)
            ]
            message = codec.new(TRANSFORMS, transforms=transforms)
            yield Message(time, TRANSFORMS, message)


def _header(codec: _Codec, time: int, frame: str) -> object:
    # The time in the message may be negative; the log's may not.
    seconds, rest = divmod(time, NANOSECONDS)
    stamp = codec.new("builtin_interfaces/msg/Time", sec=seconds, nanosec=rest)
    return codec.new("std_msgs/msg/Header", stamp=stamp, frame_id=frame)


def _transform(codec: _Codec, time: int, child: str, pose: list[float]) -> object:
    """Return the message of a frame in the world, of a pose x y z, w x y z."""
    x, y, z, qw, qx, qy, qz = pose
    translation = codec.new("geometry_msgs/msg/Vector3", x=x, y=y, z=z)
    rotation = codec.new("geometry_msgs/msg/Quaternion", w=qw, x=qx, y=qy, z=qz)
    transform = codec.new(
        "geometry_msgs/msg/Transform", translation=translation, rotation=rotation
    )
    return codec.new(
        "geometry_msgs/msg/TransformStamped",
        header=_header(codec, time, PARENT),
        child_frame_id=child,
        transform=transform,
    )
