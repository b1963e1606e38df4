"""Which number of a keyframe's message each column is, and which of an animation's columns get into it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bodymotion.animation import GROUPS, Keyframes
from bodymotion.formats.cha_proto.trees import row_tree

__all__ = ["PATHS", "TIME", "Columns", "message_columns"]

TIME = "time"
_LEGS = ("fl", "fr", "hl", "hr")


def _paths() -> dict[str, str]:
    arm = zip(
        GROUPS["arm_joints"], ("shoulder_0", "shoulder_1", "elbow_0", "elbow_1", "wrist_0", "wrist_1"), strict=True
    )
    paths = {"gripper": "gripper.gripper_angle.value"}
    paths |= {column: f"arm.joint_angles.{joint}.value" for column, joint in arm}
    for part, place, position, among in (
        ("hand", "arm.hand_pose.position", "hand", "arm.hand_pose"),
        ("body", "body.body_pos", "body", "body"),
        ("com", "body.com_pos", "com", ""),
    ):
        paths |= {f"{position}_{axis}": f"{place}.{axis}.value" for axis in "xyz"}
        if among:
            paths |= {f"{part}_quat_{axis}": f"{among}.quaternion.{axis}" for axis in "wxyz"}
            paths |= {f"{part}_{turn}": f"{among}.euler_angles.{turn}.value" for turn in ("roll", "pitch", "yaw")}
    for leg in _LEGS:
        for column, joint in (("hx", "hip_x"), ("hy", "hip_y"), ("kn", "knee")):
            paths[f"{leg}_{column}"] = f"legs.{leg}.joint_angles.{joint}"
        paths |= {f"{leg}_{axis}": f"legs.{leg}.foot_pos.{axis}.value" for axis in "xyz"}
    paths |= {f"{leg}_contact": f"legs.{leg}.stance.value" for leg in _LEGS}
    return paths


PATHS: Mapping[str, str] = _paths()
"""The number that each single column is, as a path through AnimationKeyframe; in the order in which columns are given back."""


@dataclass(frozen=True)
class Columns:
    """Which columns a message holds.

    Attributes
    ----------
    places:
        The column (its place in the table) for each slot of the tree that has one.
    nodes:
        The messages that hold them, in order.
    grouped:
        The places of the columns that came in a group.
    dropped:
        The names of the columns that the message has no place for, because of a later one.
    unknown:
        The names that no column has.
    """

    places: Mapping[int, int]
    nodes: tuple[int, ...]
    grouped: frozenset[int]
    dropped: tuple[str, ...]
    unknown: tuple[str, ...]


def message_columns(keyframes: Keyframes) -> Columns:
    """Say which columns a keyframe's message holds: of those that exclude each other the last one, as by setting one after the other."""
    tree = row_tree("AnimationKeyframe")
    held: dict[int, int] = {}
    unknown: list[str] = []
    for place, name in enumerate(keyframes.columns):
        if name not in PATHS:
            unknown.append(name)
            continue
        slot = tree.slot_of[PATHS[name]]
        for node in _above(slot):
            rival = tree.nodes[node].rival
            if rival >= 0:
                gone = tree.nodes[rival]
                for other in range(gone.first_slot, gone.last_slot):
                    held.pop(other, None)
        held[slot] = place
    nodes = {node for slot in held for node in _above(slot)}
    kept = set(held.values())
    dropped = tuple(n for p, n in enumerate(keyframes.columns) if p not in kept and n in PATHS)
    return Columns(held, tuple(sorted(nodes)), _grouped(keyframes), dropped, tuple(unknown))


def _above(slot: int) -> list[int]:
    """Return the nodes that a slot lies in, the row itself left out."""
    tree = row_tree("AnimationKeyframe")
    return [n for n, node in enumerate(tree.nodes) if n and node.first_slot <= slot < node.last_slot]


def _grouped(keyframes: Keyframes) -> frozenset[int]:
    """Return the places of columns that a group of the header stands for; of all columns where there is no header."""
    if not keyframes.header:
        return frozenset(range(len(keyframes.columns)))
    grouped: set[int] = set()
    place = 0
    for keyword in keyframes.header:
        if keyword == TIME:
            continue
        width = len(GROUPS.get(keyword, ("",)))
        if keyword in GROUPS:
            grouped.update(range(place, place + width))
        place += width
    return frozenset(grouped)
