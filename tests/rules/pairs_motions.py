"""Pairs for motions, and for motions on a body."""

from __future__ import annotations

import sys
from dataclasses import replace
from unittest.mock import patch

import numpy as np

import bodymotion as bm
from bodymotion.motion import MultiSE3Seq
from checks.sound_robot import robot, walk, with_all_links
from rules.pairs import Pair, calls, examples
from rules.pairs_seq import MOTION
from rules.pairs_tables import TABLE
from walker import FAULTS, frames, moving, punch, puncher, walker

BODY, TWO_FEET = robot(), walker()
WALK = walk(BODY)
WHOLE = with_all_links(WALK, BODY)
TIMES = frames(100)
NAMES = [joint.name for joint in BODY.joints]
OF_URDF = replace(BODY, source=replace(BODY.source, format="urdf"))
STILL = [0.0, 0, 0, 1, 0, 0, 0]


def pair(
    wrong: bm.Motion, right: bm.Motion = WALK, body: bm.Body | None = BODY
) -> Pair:
    return calls(
        lambda _: bm.check(wrong, body=body).problems,
        lambda _: bm.check(right, body=body).problems,
    )


def joints(index: object, value: float) -> bm.Motion:
    """Return the walk with another value of a joint."""
    values = np.array(WALK.joint_displacement.values)
    values[index] = value
    return WALK.replaced(
        WALK.link_position, replace(WALK.joint_displacement, values=values)
    )


def poses(index: object, value: object, motion: bm.Motion = WALK) -> bm.Motion:
    """Return a motion with other numbers in its poses."""
    values = np.array(motion.link_position.values)
    values[index] = value
    changed = replace(motion.link_position, values=values)
    return motion.replaced(
        *(changed if isinstance(c, MultiSE3Seq) else c for c in motion.components)
    )


def columns(count: int) -> bm.Motion:
    return bm.Motion.from_joints(np.zeros((10, count)), 10, root=STILL)


def turned(*angles: float) -> bm.Motion:
    return bm.Motion.from_joints(np.tile(angles, (10, 1)), 10, root=STILL)


def links(count: int) -> bm.Motion:
    return bm.Motion.from_link_poses(np.tile(STILL, (10, count, 1)), 10)


def physics(code: str) -> Pair:
    """Make a fault and a smaller one in a robot that walks."""
    fault, large, small = FAULTS[code]
    return pair(fault(TIMES, large), fault(TIMES, small), TWO_FEET)


def gone(scale: float) -> bm.Motion:
    """Return a motion whose root goes on at 0.5 m/s, 0.7 m above the floor, in metres over `scale`."""
    root = np.tile([0.0, 0, 0.7, 1, 0, 0, 0], (100, 1))
    root[:, 0] = 0.5 * TIMES[:100]
    return bm.Motion.from_joints(
        np.zeros((100, 3)), 100, root=root * [scale, scale, scale, 1, 1, 1, 1]
    )


def rated(rate: float) -> bm.Motion:
    return bm.Motion.from_joints(np.zeros((10, 3)), rate, root=STILL)


def stamped(last: float) -> bm.Motion:
    return bm.Motion.from_joints(
        np.zeros((4, 3)), times=[0, 0.01, 0.02, last], root=STILL
    )


def held(effort: float) -> list[bm.Problem]:
    """Hold an arm of 2 kg at 0.5 m by a motor."""
    return list(
        bm.check(moving(frames(100, 2.0)), body=walker(arm=2.0, effort=effort)).problems
    )


def without_mujoco(_: object) -> tuple[bm.Problem, ...]:
    with patch.dict(sys.modules, {"mujoco": None}):
        return bm.check(punch(0.025), body=puncher()).problems


def named(*names: str) -> bm.Motion:
    return bm.Motion.from_joints(
        np.zeros((10, len(names))), 10, root=STILL, joint_names=names
    )


PAIRS: dict[str, Pair] = {
    "MOT101": pair(joints((3, 1), np.nan), body=None),
    "MOT102": pair(poses((3, 0, 3), 1.05), body=None),
    "MOT103": pair(poses((3, 0, slice(3, None)), 0.0), body=None),
    "MOT104": pair(poses((3, 0, 3), 1.11), poses((3, 0, 3), 1.09), body=None),
    **examples("walk.csv", TABLE, "MOT105"),
    **examples("walk.seq", MOTION, "MOT106"),
    "MOT201": pair(columns(2), columns(3)),
    "MOT202": pair(columns(4), columns(3)),
    "MOT212": pair(
        WALK.replaced(links(3).link_position, WALK.joint_displacement), WALK
    ),
    "MOT221": pair(
        columns(3),
        bm.Motion.from_joints(np.zeros((10, 3)), 10, root=STILL, joint_names=NAMES),
        OF_URDF,
    ),
    "MOT222": pair(named(*NAMES, "LAMP"), named(*NAMES)),
    "MOT223": pair(named(*NAMES[:2]), named(*NAMES)),
    "MOT203": pair(links(3), links(4)),
    "MOT204": pair(joints((5, 1), 2.1), joints((5, 1), 1.9)),
    "MOT205": pair(joints((5, 2), -0.6), joints((5, 2), 0.3)),
    "MOT206": pair(poses((7, 3, 0), 9.0, WHOLE), WHOLE),
    "MOT207": pair(bm.Motion(), columns(3)),
    "MOT208": pair(turned(57.3, 20, -30), turned(1, 0.35, -0.52)),
    "MOT209": pair(gone(1000.0), gone(1.0), None),
    "MOT210": pair(rated(0.002), rated(500.0), None),
    "MOT211": pair(stamped(1e9), stamped(60.0), None),
    **{code: physics(code) for code in FAULTS},
    "MOT331": calls(lambda _: held(9.0), lambda _: held(9.4)),
    "MOT341": pair(punch(0.025), punch(0.015), puncher()),
    "MOT342": calls(
        without_mujoco, lambda _: bm.check(punch(0.025), body=puncher()).problems
    ),
}
