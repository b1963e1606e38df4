"""From a log of the robot's states, ChoreographyStateLog, to an animation: what the robot did becomes a move."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bodymotion.animation import GROUPS, Animation, Keyframes
from bodymotion.diagnostics.source import Source
from bodymotion.formats.cha_proto.columns import PATHS, TIME
from bodymotion.formats.cha_proto.recording import Recording, filled
from bodymotion.formats.cha_proto.rules import NO_FRAMES, STAMPS
from bodymotion.geometry.arrays import Floats

__all__ = ["animation_of_log"]

_GROUPS = {
    "leg_joints": "legs",
    "contact": "legs",
    "body_pos": "body",
    "body_quat_wxyz": "body",
    "arm_joints": "arm",
    "gripper": "gripper",
}
"""The columns of a log, and the tracks that they are of."""


def _logged(column: str) -> str:
    """Return the number of a logged state that a column is, as a path through LoggedStateKeyFrame."""
    path = PATHS[column]
    part, _, inner = path.partition(".")
    leg, _, joint = inner.partition(".")
    if column.endswith("_contact"):
        return f"foot_contact_state.{column}"
    if part == "legs":
        return f"joint_angles.{leg}.{joint.removeprefix('joint_angles.')}"
    if part == "arm":
        return f"joint_angles.arm.{inner.removeprefix('joint_angles.')}"
    if part == "gripper":
        return "joint_angles.gripper_angle.value"
    place, _, axis = inner.partition(".")
    return f"animation_tform_body.{'rotation' if place == 'quaternion' else 'position'}.{axis.removesuffix('.value')}"


def animation_of_log(recording: Recording, path: Path | None = None) -> Animation:
    """Make an animation of a log: legs, contacts and body, and arm and gripper where the robot has them; times from 0.

    Each leg stays the leg that it is, and contacts those of their feet.

    Raises
    ------
    FormatError
        When there is no state in it (CAP006).
    """
    if not recording.count:
        raise NO_FRAMES.error("there is no state in it", recording.location)
    values, places = filled(recording), recording.places
    header, columns, tracks = [TIME], [], []
    for keyword, track in _GROUPS.items():
        singles = [name for name in GROUPS.get(keyword, (keyword,)) if _logged(name) in places]
        if singles:
            header += [keyword] if len(singles) == len(GROUPS.get(keyword, (keyword,))) else singles
            columns += singles
            tracks.append(track)
    times = _times(values, places)
    rising = np.concatenate(([True], times[1:] > np.maximum.accumulate(times)[:-1])) & np.isfinite(times)
    problems = list(recording.problems)
    if not rising.all():
        count = int((~rising).sum())
        problems.append(STAMPS.problem(f"{count} of {len(times)} are not after those before", recording.location))
    name = path.name.split(".")[0] if path is not None else ""
    return Animation(
        name=name,
        options={"controls": tuple(dict.fromkeys(tracks))},
        keyframes=Keyframes(
            columns=tuple(columns),
            values=values[rising][:, [places[_logged(column)] for column in columns]],
            times=times[rising],
            header=tuple(header),
        ),
        problems=tuple(problems),
        source=Source("state-log", path),
    )


def _times(values: Floats, places: dict[str, int]) -> Floats:
    """Return the times (N,) [s] since the first state, exact to the nanosecond."""
    parts = [places.get(f"timestamp.{part}") for part in ("seconds", "nanos")]
    seconds, nanos = (np.zeros(len(values)) if place is None else values[:, place] for place in parts)
    return np.asarray((seconds - seconds[0]) + (nanos - nanos[0]) * 1e-9, np.float64)
