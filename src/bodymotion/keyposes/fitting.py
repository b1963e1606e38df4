"""Key poses that keep the motion between them close to a motion."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.keyposes.interpolation import Plan
from bodymotion.keyposes.values import KeyPose, KeyPoses, LinkKey
from bodymotion.model.body import Body
from bodymotion.motion import Motion

# [m, or of a quaternion's component] A root that moves less stays where the body has
# it.
MIN_ROOT_MOVE = 1e-9


class _Recording(NamedTuple):
    """Joints (T, J), root poses (T, 7) and zero moment point (T, 3) or None.

    At times (T,) [s] since the first frame. `root_moves` is whether the root is a link
    with keys.
    """

    times: Floats
    q: Floats
    root: Floats
    zmp: Floats | None
    root_moves: bool


def fit(
    kind: type[KeyPoses],
    motion: Motion,
    body: Body,
    *,
    tolerance: float = 0.01,
    name: str = "",
) -> KeyPoses:
    """Return as few key poses as keep the motion between them close to a motion.

    See `KeyPoses.from_motion`.
    """
    if not tolerance > 0:
        raise ValueError(f"tolerance: expected a positive number, got {tolerance}")
    recording = _record(motion, body)
    _check_numbers(recording, body)
    frames = sorted({0, len(recording.q) - 1})
    while True:
        key_poses = kind(
            name=name or "Motion",
            target_body=body.name,
            poses=tuple(_key_pose(recording, body, frame) for frame in frames),
        )
        errors = _measure_errors(recording, Plan(key_poses, body, "none", False))
        if (errors <= tolerance).all():
            return key_poses
        worst_frames = _find_worst_frames(frames, errors, tolerance)
        refined = sorted({*frames, *worst_frames})
        if refined == frames:
            # Key poses hold joints, root and ZMP, so that only overflow comes here.
            frame = int(np.flatnonzero(~(errors <= tolerance))[0])
            raise ValueError(
                f"no key poses are within {tolerance:g} of the motion at frame "
                f"{frame}, where they are off by {errors[frame]:g}"
            )
        frames = refined


def _record(motion: Motion, body: Body) -> _Recording:
    """Return what key poses hold of a motion."""
    joints = motion.joint_displacement
    if joints is None or not joints.num_frames:
        raise ValueError("the motion has no joint displacements")
    q = np.asarray(body.joint_values(joints))
    root = np.asarray(body.link_poses(motion)[:, 0])
    moves = bool(np.abs(root - body.root_pose).max() > MIN_ROOT_MOVE)
    times = joints.timeline.times - joints.timeline.times[0]
    point = None
    zmp = motion.zmp
    if zmp is not None and not zmp.is_root_relative and len(zmp.values) == len(q):
        point = np.asarray(zmp.values)
    return _Recording(times, q, root, point, moves)


def _check_numbers(recording: _Recording, body: Body) -> None:
    """Raise ValueError at the first number that is not finite.

    A key pose cannot hold it. Joints are checked before the root, and this before the
    ZMP.
    """
    names = [joint.name or f"joint {k}" for k, joint in enumerate(body.joints)]
    parts = [
        (recording.q, [f"joint {name!r}" for name in names]),
        (recording.root, ["the root"] * 7),
    ]
    if recording.zmp is not None:
        parts.append((recording.zmp, ["the ZMP"] * 3))
    for values, labels in parts:
        wrong = np.argwhere(~np.isfinite(values))
        if len(wrong):
            frame, column = wrong[0].tolist()
            raise ValueError(
                f"{labels[column]} is {values[frame, column]} in frame {frame}; "
                "key poses need finite numbers (`edit --fill-gaps` fills gaps)"
            )


def _key_pose(
    recording: _Recording,
    body: Body,
    frame: int,
) -> KeyPose:
    """Return the key pose of a frame."""
    links: tuple[LinkKey, ...] = ()
    if recording.root_moves:
        root = recording.root[frame]
        key = LinkKey(
            name=body.links[0].name,
            index=0,
            position=root[:3],
            rotation=rotations.to_matrix(root[3:]),
            is_base=True,
        )
        links = (key,)
    return KeyPose(
        time=float(recording.times[frame]),
        joints=dict(enumerate(recording.q[frame].tolist())),
        links=links,
        zmp=None if recording.zmp is None else recording.zmp[frame],
        zmp_is_stationary=False,
    )


def _measure_errors(recording: _Recording, plan: Plan) -> Floats:
    """Return the largest error (T,) [rad or m] of key poses in each frame."""
    interpolated = plan.at(recording.times)
    root = recording.root
    joints = np.abs(interpolated.q - recording.q).max(axis=1, initial=0.0)
    position = np.abs(interpolated.root[:, :3] - root[:, :3]).max(axis=1)
    angle = rotations.angle_between(interpolated.root[:, 3:], root[:, 3:])
    errors = np.maximum(np.maximum(joints, position), angle)
    if recording.zmp is not None and interpolated.zmp is not None:
        zmp = np.abs(interpolated.zmp - recording.zmp).max(axis=1)
        errors = np.maximum(errors, zmp)
    return np.asarray(errors)


def _find_worst_frames(
    frames: list[int],
    errors: Floats,
    tolerance: float,
) -> list[int]:
    """Return the worst frame of each segment that is off by more than a tolerance.

    Segments are between `frames`; `errors` (T,).
    """
    worst = []
    for start, end in pairwise(frames):
        inside = errors[start + 1 : end]
        if inside.max(initial=0.0) > tolerance:
            worst.append(start + 1 + int(inside.argmax()))
    return worst
