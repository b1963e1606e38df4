"""The log of a robot's states, ChoreographyStateLog.

Read as an animation of what the robot did, and written.
"""

from pathlib import Path

import numpy as np

from bodymotion.diagnostics import Diagnostics, ReadResult, Source
from bodymotion.formats.resources import file_bytes
from bodymotion.spot.animation import GROUPS, Animation, Keyframes
from bodymotion.spot.cha_proto.messages import message_class
from bodymotion.spot.cha_proto.reader import MAX_FILE_BYTES, read_table
from bodymotion.spot.cha_proto.rows import PATHS, TIME, Table, set_field
from bodymotion.spot.cha_proto.rules import STAMPS
from bodymotion.spot.sniffing import is_binary

# The columns of a log, and their tracks.
_GROUPS = {
    "leg_joints": "legs",
    "contact": "legs",
    "body_pos": "body",
    "body_quat_wxyz": "body",
    "arm_joints": "arm",
    "gripper": "gripper",
}


def read_state_log(path: str | Path) -> Animation:
    """Read a file of a message ChoreographyStateLog, as text or bytes.

    Legs, contacts and body, arm and gripper where the robot has them.

    Each leg stays the leg that it is, with the contact of its foot. Times start at 0.

    Raises FormatError when the file is no such message (CAP001, CAP002), cannot be read
    (FMT002), or has no states (CAP006).
    """
    return read_log(path).require()


def read_log(path: str | Path) -> ReadResult[Animation]:
    """Read a file of a message ChoreographyStateLog as `read_state_log` does."""
    found = Diagnostics(path)
    with found.recover():
        data = file_bytes(path, MAX_FILE_BYTES)
        return read_log_data(data, is_text=not is_binary(data), path=Path(path))
    return ReadResult(None, found.problems)


def read_log_data(
    data: bytes, *, is_text: bool, path: Path | None = None
) -> ReadResult[Animation]:
    """Read the bytes, or the text, of a message ChoreographyStateLog."""
    found = Diagnostics(path)
    animation: Animation | None = None
    with found.recover():
        _, table = read_table(data, "ChoreographyStateLog", found, is_text=is_text)
        animation = _animation(table, found, path)
    return ReadResult(animation, found.problems)


def log_bytes(animation: Animation, start: int) -> bytes:
    """Return an animation as the bytes of a message ChoreographyStateLog.

    Its times begin at `start` [ns since 1970].
    """
    log = message_class("ChoreographyStateLog")()
    fields = [
        (_field(column), column.endswith("_contact"))
        for column in animation.keyframes.columns
    ]
    for time, values in zip(
        animation.keyframes.times.tolist(),
        animation.keyframes.values.tolist(),
        strict=True,
    ):
        row = log.key_frames.add()
        # Timestamps of protobuf: whole seconds and nanoseconds.
        row.timestamp.seconds, row.timestamp.nanos = divmod(
            start + round(time * 1e9), 1_000_000_000
        )
        for (path, is_flag), value in zip(fields, values, strict=True):
            set_field(row, path, bool(value) if is_flag else value)
    return bytes(log.SerializeToString())


def log_text(data: bytes) -> str:
    """Return the bytes of a message ChoreographyStateLog as its text."""
    from google.protobuf import text_format

    return str(
        text_format.MessageToString(
            message_class("ChoreographyStateLog").FromString(data)
        )
    )


def _animation(table: Table, found: Diagnostics, path: Path | None) -> Animation:
    """Return the states of a log as keyframes."""
    header = [TIME]
    columns = []
    tracks = []
    # Groups that are complete become one keyword; the header is written that way.
    for keyword, track in _GROUPS.items():
        group = GROUPS.get(keyword, (keyword,))
        present = [name for name in group if _field(name) in table.columns]
        if present:
            header += [keyword] if len(present) == len(group) else present
            columns += present
            tracks.append(track)
    seconds, nanos = (
        table.column(f"timestamp.{part}") for part in ("seconds", "nanos")
    )
    # Differences first: nanoseconds since 1970 are beyond the 53 bits of a double.
    times = (seconds - seconds[0]) + (nanos - nanos[0]) * 1e-9
    # Times must increase: keep states that are later than all before them.
    rising = np.concatenate(
        ([True], times[1:] > np.maximum.accumulate(times)[:-1])
    ) & np.isfinite(times)
    if not rising.all():
        count = int((~rising).sum())
        message = f"{count} of {len(times)} keyframes are not after those before them"
        found.report(STAMPS, message, data={"left_out": count, "keyframes": len(times)})
    return Animation(
        name=path.name.split(".")[0] if path is not None else "",
        options={"controls": tuple(dict.fromkeys(tracks))},
        keyframes=Keyframes(
            columns=tuple(columns),
            values=table.values[rising][
                :, [table.columns.index(_field(column)) for column in columns]
            ],
            times=times[rising],
            header=tuple(header),
        ),
        problems=found.problems,
        source=Source("state-log", path),
    )


def _field(column: str) -> str:
    """Return the field of a logged state that a column is.

    As a path through LoggedStateKeyFrame.
    """
    # The log's message has its own names and nesting for what keyframes hold.
    if column.endswith("_contact"):
        return f"foot_contact_state.{column}"
    part, _, inner = PATHS[column].partition(".")
    if part == "body":
        kind, _, axis = inner.partition(".")
        pose = "rotation" if kind == "quaternion" else "position"
        return f"animation_tform_body.{pose}.{axis.removesuffix('.value')}"
    prefix = "arm." if part == "arm" else ""
    return f"joint_angles.{prefix}{inner.replace('joint_angles.', '')}"
