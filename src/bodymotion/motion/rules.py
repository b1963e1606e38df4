"""Rules about the numbers of a motion, whatever its format: for readers that look at each row, and for the check of a motion."""

from __future__ import annotations

from bodymotion.diagnostics import Rule

__all__ = ["FAR", "MOTION_NOT_FINITE", "MOTION_NO_QUATERNION", "MOTION_NO_TURN", "MOTION_QUATERNION", "ROUGH"]

ROUGH = 1e-3
"""By so much the length of a quaternion may be off: files give few digits."""

FAR = 0.1
"""By more than that, what stands there may be no quaternion: it is not brought to the length of 1 in a file."""

MOTION_NOT_FINITE = Rule(
    "MOT101",
    "error",
    "Joint displacements, poses and points are finite numbers.",
    "judgement",
    "the program that wrote them has divided by zero",
    example=("0.1, nan", "0.1, 0.2"),
)
MOTION_QUATERNION = Rule(
    "MOT102",
    "warning",
    "The quaternions of poses are of length 1; those that are off by up to 10 % are brought to that length.",
    "judgement",
    fixable=True,
    example=("1.05, 0, 0, 0", "1, 0, 0, 0"),
)
MOTION_NO_TURN = Rule(
    "MOT103",
    "warning",
    "The quaternion of a pose is not zero.",
    "judgement",
    "0 0 0 0 is no orientation: write 1 0 0 0",
    example=("0, 0, 0, 0", "1, 0, 0, 0"),
)
MOTION_NO_QUATERNION = Rule(
    "MOT104",
    "error",
    "The length of a quaternion is not off by more than 10 %.",
    "judgement",
    "are these angles? A quaternion has the cosine and sines of half an angle",
    example=("0, 0, 45, 0", "0.92388, 0, 0.382683, 0"),
)
