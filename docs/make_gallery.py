"""Make motions of the bundled biped with inverse kinematics and balance, simulate them, and draw them.

python docs/make_gallery.py [FOLDER]

Writes wave.seq, squat.seq, bow.seq and step_turn.seq, and a picture of each, to FOLDER, by default docs/images.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import bodymotion as bm

ROOT = Path(__file__).resolve().parents[1]
FEET = ["R_ANKLE_ROLL", "L_ANKLE_ROLL"]
BODY = bm.load_body(ROOT / "examples" / "biped.wrl")
REST = bm.load_motion(ROOT / "examples" / "biped_walk.seq")
Q, START = (
    BODY.joint_values(REST.joint_displacement)[0],
    REST.link_position.values[0, 0],
)
LINKS = {
    link.name: pose
    for link, pose in zip(BODY.links, BODY.forward_kinematics(Q, START), strict=True)
}


def rise(times: np.ndarray, begin: float, end: float) -> np.ndarray:
    """Return 0 until `begin`, 1 from `end` on, and a smooth step in between."""
    s = np.clip((times - begin) / (end - begin), 0.0, 1.0)
    return s**3 * (10.0 - 15.0 * s + 6.0 * s * s)


def wave() -> bm.Motion:
    """Raise the right hand and wave."""
    t = np.arange(401) / 100.0
    up = rise(t, 0.3, 1.3) * (1.0 - rise(t, 2.8, 3.7))
    swing = (
        0.08
        * np.sin(2.0 * np.pi * 1.5 * (t - 1.3))
        * rise(t, 1.2, 1.5)
        * (1.0 - rise(t, 2.5, 2.8))
    )
    hand = (
        LINKS["R_WRIST"][:3]
        + up[:, None] * [0.25, -0.12, 0.45]
        + swing[:, None] * [0.0, 1.0, 0.0]
    )
    return BODY.ik({"R_WRIST": hand}, q0=Q, root=START, pinned=FEET).motion(
        frame_rate=100
    )


def squat() -> bm.Motion:
    """Go down by 0.1 m and up again."""
    t = np.arange(401) / 100.0
    root = START + (rise(t, 0.5, 1.8) - rise(t, 2.2, 3.5))[:, None] * [
        0.0,
        0.0,
        -0.1,
        0.0,
        0.0,
        0.0,
        0.0,
    ]
    return BODY.ik(
        {"WAIST": root}, q0=Q, root=START, free_root=True, pinned=FEET
    ).motion(frame_rate=100)


def bow() -> bm.Motion:
    """Bend forwards with the whole trunk, and rise."""
    t = np.arange(401) / 100.0
    angle = 0.45 * (rise(t, 0.5, 1.6) - rise(t, 2.2, 3.3))
    turn = bm.rotations.multiply(
        bm.rotations.from_axis_angle([0.0, 1.0, 0.0], angle), START[3:]
    )
    root = np.concatenate([np.tile(START[:3], (len(t), 1)), turn], axis=1)
    return BODY.ik(
        {"WAIST": root}, q0=Q, root=START, free_root=True, pinned=FEET
    ).motion(frame_rate=100)


def step_turn() -> bm.Motion:
    """Turn by 0.35 rad in two steps."""
    t = np.arange(501) / 100.0
    goals = {}
    for name, begin in (("L_ANKLE_ROLL", 1.0), ("R_ANKLE_ROLL", 2.6)):
        share = rise(t, begin, begin + 0.9)
        yaw = bm.rotations.from_axis_angle([0.0, 0.0, 1.0], 0.35 * share)
        foot = np.concatenate(
            [bm.rotations.rotate(yaw, LINKS[name][:3] - START[:3]) + START[:3], yaw],
            axis=1,
        )
        foot[:, 2] += 0.05 * np.sin(np.pi * share) ** 2
        goals[name] = np.concatenate(
            [foot[:, :3], bm.rotations.multiply(yaw, LINKS[name][3:])], axis=1
        )
    yaw = bm.rotations.from_axis_angle([0.0, 0.0, 1.0], 0.35 * rise(t, 1.2, 3.3))
    goals["WAIST"] = np.concatenate(
        [np.tile(START[:3], (len(t), 1)), bm.rotations.multiply(yaw, START[3:])], axis=1
    )
    return BODY.ik(goals, q0=Q, root=START, free_root=True).motion(frame_rate=100)


GALLERY = {
    "wave": (wave, 2.0),
    "squat": (squat, 2.0),
    "bow": (bow, 1.9),
    "step_turn": (step_turn, 3.0),
}
"""What makes each motion, and the time [s] of its picture."""


def main(folder: Path) -> None:
    """Write all motions and pictures, and print what balancing changed and whether the robot falls."""
    for name, (make, at) in GALLERY.items():
        motion = bm.balance(BODY, make())
        fall = bm.simulate(BODY, motion).fall
        print(
            f"{name}: {'does not fall' if fall is None else f'falls at {fall:.2f} s'}"
        )
        print(motion.report)
        bm.save(motion, folder / f"{name}.seq")
        bm.render(
            BODY, motion, at=at, size=(480, 480), output=folder / f"gallery_{name}.png"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images")
