"""Messages of robots, known by their fields.

A message of any encoding is a mapping (JSON) or an object with attributes (CDR,
protobuf). The names of a field differ between ROS 2, Foxglove and protobuf:
``header.stamp`` is ``timestamp``, ``sec`` is ``seconds``.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal["joints", "trajectory", "frames"]

# The fields that show the kind of a message; the first kind that fits is taken.
FIELDS: dict[Kind, tuple[str, ...]] = {
    "joints": ("name", "joints"),
    "trajectory": ("joint_names",),
    "frames": ("transforms", "child_frame_id"),
}

JOINT_STATE = "sensor_msgs/msg/JointState"
TRANSFORMS = "tf2_msgs/msg/TFMessage"
# The types of ROS 2 that are decoded from CDR.
STANDARD_TYPES = (
    JOINT_STATE,
    TRANSFORMS,
    "trajectory_msgs/msg/JointTrajectory",
    "nav_msgs/msg/Odometry",
)
EXPECTED = (
    "JointState, JointTrajectory, TFMessage, Odometry, or messages with their fields"
)

NANOSECONDS = 10**9
# [ns] A sum of two times stays within 64 bits.
MAX_TIME = 1 << 62


class JointRow(NamedTuple):
    """Values of joints [rad or m], `after` [ns] the time of their message."""

    after: int
    names: tuple[str, ...]
    positions: list[float]


class FramePose(NamedTuple):
    """The pose (x y z, w x y z) of a frame in its parent, at a time [ns] or 0."""

    parent: str
    child: str
    stamp: int
    pose: list[float]


def field(message: Any, *names: str) -> Any:  # noqa: ANN401
    """Return the first of some fields that a message has.

    None where it has none of them.
    """
    for name in names:
        # Decoders of JSON give mappings, others objects.
        if isinstance(message, dict):
            value = message.get(name)
        else:
            value = getattr(message, name, None)
        if value is not None:
            return value
    return None


def kind_of(message: Any) -> Kind | None:  # noqa: ANN401
    """Return the kind of a message.

    None where it is of no robot's motion.
    """
    # In order: a JointState has `name`, a trajectory `joint_names`.
    for kind, names in FIELDS.items():
        if field(message, *names) is not None:
            return kind
    return None


def stamp_of(message: Any) -> int:  # noqa: ANN401
    """Return the time [ns] in a message.

    0 where it has none.
    """
    stamp = field(field(message, "header"), "stamp") or field(message, "timestamp")
    return _nanoseconds(stamp)


def joint_rows(message: Any) -> Iterator[JointRow]:  # noqa: ANN401
    """Yield the values of a JointState, or of a list of joints.

    A list of a JointState may be empty: of a message of velocities or torques alone.
    """
    joints = _items(message, "joints")
    # A JointState has parallel lists; other messages a list of joints.
    if not joints:
        yield _joint_row(0, _items(message, "name"), _items(message, "position"))
        return
    joints = [joint for joint in joints if field(joint, "position") is not None]
    names = [field(joint, "name") for joint in joints]
    yield _joint_row(0, names, [field(joint, "position") for joint in joints])


def trajectory_rows(message: Any) -> Iterator[JointRow]:  # noqa: ANN401
    """Yield the points of a JointTrajectory."""
    names = _items(message, "joint_names")
    for point in _items(message, "points"):
        # The time of a point counts from the message.
        after = _nanoseconds(field(point, "time_from_start"))
        yield _joint_row(after, names, _items(point, "positions"))


def frame_poses(message: Any) -> Iterator[FramePose]:  # noqa: ANN401
    """Yield the frames of a TFMessage, of FrameTransforms or of an Odometry."""
    transforms: Iterable[Any] = [message]
    # An Odometry is one frame by itself.
    if field(message, "transforms") is not None:
        transforms = _items(message, "transforms")
    stamp = stamp_of(message)
    for transform in transforms:
        # Foxglove has the parent in a field, ROS in the header.
        parent = field(transform, "parent_frame_id") or field(
            field(transform, "header"), "frame_id"
        )
        # A TransformStamped, an Odometry (pose with covariance), or a pose itself.
        pose = (
            field(transform, "transform")
            or field(field(transform, "pose"), "pose")
            or transform
        )
        translation = field(pose, "translation", "position")
        rotation = field(pose, "rotation", "orientation")
        # x y z, then w x y z, whatever the order in the message.
        numbers = [_number(field(translation, axis)) for axis in "xyz"]
        numbers += [_number(field(rotation, axis)) for axis in "wxyz"]
        # tf1 wrote names with a slash in front.
        yield FramePose(
            str(parent or "").lstrip("/"),
            str(field(transform, "child_frame_id")).lstrip("/"),
            # A frame without a time of its own has that of the message.
            stamp_of(transform) or stamp,
            numbers,
        )


def _nanoseconds(stamp: Any) -> int:  # noqa: ANN401
    # ROS 2 has sec and nanosec, protobuf seconds and nanos.
    seconds = int(field(stamp, "sec", "seconds") or 0)
    rest = int(field(stamp, "nanosec", "nsec", "nanos") or 0)
    time = seconds * NANOSECONDS + rest
    if abs(time) >= MAX_TIME:
        raise ValueError(f"the time {time} ns is no date")
    return time


def _items(message: Any, name: str) -> list[Any]:  # noqa: ANN401
    items = field(message, name)
    if items is None:
        return []
    return [*items]


def _number(value: Any) -> float:  # noqa: ANN401
    if value is None:
        return float("nan")
    return float(value)


def _joint_row(after: int, names: list[Any], positions: list[Any]) -> JointRow:
    if positions and len(names) != len(positions):
        raise ValueError(f"{len(names)} names and {len(positions)} positions")
    return JointRow(after, tuple(map(str, names)), [_number(one) for one in positions])
