"""As few key poses as keep the motion between them close to a motion."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.geometry import rotations
from bodymotion.keyposes.interpolation import Plan
from bodymotion.keyposes.values import KeyPose, KeyPoses, LinkKey

if TYPE_CHECKING:
    from bodymotion.model.body import Body
    from bodymotion.motion import Motion

MIN_ROOT_MOVE = 1e-9
"""[m, or of a quaternion's component] A root that moves less than this stays where the body has it."""


def fit(motion: Motion, body: Body, tolerance: float, name: str) -> KeyPoses:
    """Return the key poses; see `KeyPoses.from_motion`."""
    joints = motion.joint_displacement
    if not tolerance > 0:
        raise ValueError(f"tolerance: expected a positive number, got {tolerance}")
    if joints is None or not joints.num_frames:
        raise ValueError("the motion has no joint displacements")
    times = joints.timeline.times - joints.timeline.times[0]
    q = np.asarray(body.joint_values(joints))
    root = np.asarray(body.link_poses(motion)[:, 0])
    moves = bool(np.abs(root - body.root_pose).max() > MIN_ROOT_MOVE)
    zmp = motion.zmp
    point = (
        np.asarray(zmp.values) if zmp is not None and not zmp.is_root_relative and len(zmp.values) == len(q) else None
    )

    def pose(frame: int) -> KeyPose:
        link = LinkKey(
            name=body.links[0].name,
            index=0,
            position=root[frame, :3],
            rotation=rotations.to_matrix(root[frame, 3:]),
            is_base=True,
        )
        return KeyPose(
            time=float(times[frame]),
            joints=dict(enumerate(q[frame].tolist())),
            links=(link,) if moves else (),
            zmp=None if point is None else point[frame],
            zmp_is_stationary=False,
        )

    def sequence(frames: list[int]) -> KeyPoses:
        return KeyPoses(name=name or "Motion", target_body=body.name, poses=tuple(pose(frame) for frame in frames))

    frames = sorted({0, len(q) - 1})
    while True:
        made = Plan(sequence(frames), body, "none", with_zmp=False).at(times)
        error = np.abs(made.q - q).max(axis=1, initial=0.0)
        error = np.maximum(error, np.abs(made.root[:, :3] - root[:, :3]).max(axis=1))
        error = np.maximum(error, rotations.angle_between(made.root[:, 3:], root[:, 3:]))
        if point is not None and made.zmp is not None:
            error = np.maximum(error, np.abs(made.zmp - point).max(axis=1))
        if error.max() <= tolerance:
            return sequence(frames)
        # Of each segment that is off by more than the tolerance, the frame that is off most.
        segments = ((start + 1, error[start + 1 : end]) for start, end in pairwise(frames))
        worst = {first + int(part.argmax()) for first, part in segments if part.max(initial=0.0) > tolerance}
        frames = sorted({*frames, *worst})
