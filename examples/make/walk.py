"""A walk of ten seconds: the planned zero moment point, the centre of mass that follows it, the joints that put it there.

First pass: preview control moves the centre of mass as if all mass were there. Later passes: the zero moment point of the whole
robot is computed, and what it misses is fed through the same controller and added.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bodymotion import Body
from bodymotion.geometry import poses, rotations

from .balance import zero_moment_point
from .legs import Leg
from .preview import Preview
from .solids import Array
from .steps import Plan, smooth

RATE = 100.0
SECONDS = 10.0
PASSES = 4
CROUCH = 0.014
"""How much lower than with straight legs the robot stands [m]."""
DIP = 0.016
"""How much lower still the waist is when the feet are a step apart [m]."""


@dataclass(frozen=True)
class Walk:
    """`root` (T, 7) poses of the root link, `joints` (T, J), planned `zmp` (T, 3) in the world."""

    root: Array
    joints: Array
    zmp: Array


def plan() -> Plan:
    """Lay out nine steps: straight on, a bend to the left, straight on."""
    return Plan(turns=(0.0, 0.06, 0.12, 0.12, 0.12, 0.06, 0.0, 0.0, 0.0))


def softened(values: Array, seconds: float) -> Array:
    """Take the weighted mean (raised cosine) over `seconds` around each frame."""
    half = round(seconds * RATE / 2)
    window = np.hanning(2 * half + 3)[1:-1]
    padded = np.pad(values, half, mode="edge")
    return np.convolve(padded, window / window.sum(), mode="valid")


def walk(body: Body) -> Walk:
    """Make the walk of the robot."""
    times = np.arange(round(SECONDS * RATE) + 1) / RATE
    steps = plan()
    ankles = steps.ankles(times)
    headings = steps.headings(times)
    heading = softened((headings[0] + headings[1]) / 2, 0.4)
    apart = ankles[1][:, :3] - ankles[0][:, :3]
    stride = softened(
        apart[:, 0] * np.cos(heading) + apart[:, 1] * np.sin(heading), 0.24
    )

    joints = gestures(body, times, stride, heading)
    root = np.zeros((len(times), 7))
    root[:, 2] = body.root_pose[2] - CROUCH - DIP * (stride / steps.length) ** 2
    root[:, 3:] = rotations.from_rpy(
        np.stack(
            [np.zeros_like(times), np.zeros_like(times), heading - 0.30 * stride],
            axis=-1,
        )
    )
    legs = [Leg.of(body, side) for side in "RL"]
    planned = steps.zero_moment_point(times)
    reference = planned[:, :2]
    center = np.zeros_like(reference)
    missing = reference
    for number in range(PASSES):
        height = (
            float(
                body.center_of_mass(body.forward_kinematics(joints, root))[:, 2].mean()
            )
            if number
            else 0.7
        )
        center = center + Preview(height).track(missing)
        center = settled(center, reference[-1], times)
        if not number:
            root[:, :2] = center
        root, joints = placed(body, legs, root, joints, ankles, center)
        missing = (
            reference
            - zero_moment_point(body, body.forward_kinematics(joints, root), 1 / RATE)[
                :, :2
            ]
        )
        missing[:2] = missing[-2:] = 0
    return Walk(*rounded(root, joints, legs), np.round(planned, 6))


def settled(center: Array, end: Array, times: Array) -> Array:
    """Let the last of the movement, under a millimetre, die out in the last half second: the robot stands still at the end."""
    fade = 1 - smooth((times - (SECONDS - 0.6)) / 0.5)
    return end + (center - end) * fade[:, None]


def placed(
    body: Body,
    legs: list[Leg],
    root: Array,
    joints: Array,
    ankles: list[Array],
    center: Array,
) -> tuple[Array, Array]:
    """Move the root until the centre of mass (T, 2) is where it shall be, the feet staying where they are."""
    root, joints = root.copy(), joints.copy()
    for _ in range(60):
        for leg, ankle in zip(legs, ankles, strict=True):
            joints[:, leg.columns] = leg.joints(root, ankle)
        missing = (
            center - body.center_of_mass(body.forward_kinematics(joints, root))[:, :2]
        )
        if np.abs(missing).max() < 1e-10:
            break
        root[:, :2] += missing
    return root, joints


def gestures(body: Body, times: Array, stride: Array, heading: Array) -> Array:
    """Move what does not walk: the chest turns against the pelvis, the arms swing against the legs, the head looks into the bend.

    `stride` (T,) is by how much the left foot is ahead of the right one [m].
    """
    joints = np.zeros((len(times), body.num_joints))

    def put(name: str, values: Array | float) -> None:
        joints[:, body.link(name).joint.id] = values

    ahead = np.interp(times + 0.5, times, heading) - heading
    put("CHEST_YAW", 0.62 * stride)
    put("CHEST_PITCH", 0.04)
    put("HEAD_PAN", -0.32 * stride + softened(ahead, 0.6) * 0.8)
    put("HEAD_TILT", 0.06)
    grasp = 0.08 + 0.13 * (1 - np.cos(2 * np.pi * times / 5.0))
    for side, sign in (("R", -1.0), ("L", 1.0)):
        put(f"{side}_SHOULDER_PITCH", 0.06 + 1.35 * sign * stride)
        put(f"{side}_SHOULDER_ROLL", sign * 0.14)
        put(f"{side}_SHOULDER_YAW", -sign * 0.08)
        put(f"{side}_ELBOW", -0.42 + 0.9 * sign * stride)
        put(f"{side}_WRIST", sign * 0.15)
        opened = np.round(grasp, 6)
        put(f"{side}_FINGER_CRANK", opened)
        put(f"{side}_FINGERS", -opened)
        put(f"{side}_FINGER_ROCKER", opened)
    return joints


def rounded(root: Array, joints: Array, legs: list[Leg]) -> tuple[Array, Array]:
    """Drop the digits that mean nothing: legs and root to 1e-10, so that the feet stay put; the rest to 1e-6."""
    result = np.round(joints, 6)
    for leg in legs:
        result[:, leg.columns] = np.round(joints[:, leg.columns], 10)
    return np.round(
        poses.from_parts(root[:, :3], rotations.normalized(root[:, 3:])), 10
    ), result
