"""The joints of a leg for given poses of pelvis and foot, in closed form.

The three hip axes meet in one point, so do the two of the ankle: the knee follows from the distance of the two points, the ankle from
the direction in which the foot sees the hip, the hip from what is left (Kajita et al., "Humanoid robotics", chapter 2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bodymotion import Body
from bodymotion.geometry import poses, rotations

from .solids import Array


@dataclass(frozen=True)
class Leg:
    """Where the hip is in the root's frame, how long thigh and shin are, and the six columns of joint arrays."""

    hip: Array
    thigh: float
    shin: float
    columns: slice
    foot: int

    @classmethod
    def of(cls, body: Body, side: str) -> Leg:
        """Read it from the body."""
        first, knee, ankle, foot = (
            body.link(f"{side}_{name}")
            for name in ("HIP_YAW", "KNEE", "ANKLE_PITCH", "ANKLE_ROLL")
        )
        column = first.joint.id
        return cls(
            first.offset[:3],
            -knee.offset[2],
            -ankle.offset[2],
            slice(column, column + 6),
            foot.index,
        )

    def joints(self, root: Array, ankle: Array) -> Array:
        """Return yaw, roll, pitch of the hip, the knee, pitch and roll of the ankle (T, 6) for poses (T, 7) of root and ankle.

        Raises
        ------
        ValueError
            When the foot is farther from the hip than the leg is long.
        """
        seen = poses.transform_points(
            poses.inverse(ankle), poses.transform_points(root, self.hip)
        )
        far = np.linalg.norm(seen, axis=-1)
        if np.max(far) >= self.thigh + self.shin:
            worst = int(np.argmax(far))
            raise ValueError(
                f"frame {worst}: the foot is {far[worst]:.4f} m from the hip, the leg too short"
            )
        inside = (self.thigh**2 + self.shin**2 - far**2) / (2 * self.thigh * self.shin)
        knee = np.pi - np.arccos(np.clip(inside, -1, 1))
        lean = np.arcsin(np.clip(self.thigh * np.sin(np.pi - knee) / far, -1, 1))
        # Of the two ankles that reach the hip, the one that rolls by less than a quarter turn.
        up = np.where(seen[:, 2] < 0, -1.0, 1.0)
        roll = np.arctan2(up * seen[:, 1], up * seen[:, 2])
        pitch = -np.arctan2(seen[:, 0], up * np.hypot(seen[:, 1], seen[:, 2])) - lean
        x, y = np.array([1.0, 0, 0]), np.array([0, 1.0, 0])
        turn = rotations.multiply(rotations.conjugate(root[:, 3:]), ankle[:, 3:])
        turn = rotations.multiply(turn, rotations.from_axis_angle(x, -roll))
        turn = rotations.multiply(turn, rotations.from_axis_angle(y, -pitch - knee))
        m = rotations.to_matrix(turn)
        hip_yaw = np.arctan2(-m[:, 0, 1], m[:, 1, 1])
        hip_roll = np.arctan2(
            m[:, 2, 1], m[:, 1, 1] * np.cos(hip_yaw) - m[:, 0, 1] * np.sin(hip_yaw)
        )
        hip_pitch = np.arctan2(-m[:, 2, 0], m[:, 2, 2])
        return np.stack([hip_yaw, hip_roll, hip_pitch, knee, pitch, roll], axis=-1)
