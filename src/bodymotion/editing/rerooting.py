"""A body hung up by another of its links: the same mechanism, told from another root.

Between the old root r₀ and the new one rₖ lies a chain r₀ … rₖ; the pose of each is Pᵢ = Pᵢ₋₁·Oᵢ·Jᵢ(q), with the offset Oᵢ and the joint's
motion Jᵢ about, or along, the axis aᵢ. Told backwards, Pᵢ₋₁ = Pᵢ·Jᵢ(q)⁻¹·Oᵢ⁻¹: link rᵢ₋₁ hangs on rᵢ, by the same joint with the same
value q, whose axis is −R(Oᵢ)·aᵢ in its frame. A joint turns its link about the link's own origin, so where the joint turns, the origin of
rᵢ₋₁ moves to it, to the position of Oᵢ; its axes keep their directions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics import losses
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.model.body import Body, ExtraJoint
from bodymotion.model.devices import Device, ForceSensor
from bodymotion.model.links import Joint, Segment

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem

__all__ = ["reroot"]

KEPT = "rerooted"
"""Under this name `source.options` keep what leads back: the order of links, and how far which frames were moved."""


def reroot(body: Body, link: str | int) -> Body:
    """Return the body with another link as its root; all its points, and the values of its joints, stay what they are.

    A joint on the way from the old root to the new one is then that of the link which it held before; it keeps its name, id, limits and
    motor, and its axis is turned round. Links on that way whose joint turns get their frame moved to the joint, without a turn, and what is
    in the frame is told anew. `root_pose` is where the new root is with all joints at 0. The new root takes over the old one's own joint.

    Links stand depth-first again, neighbours in their old order; columns of joints with ids stay where they are, those without follow the
    new order of links. Re-rooted to the first root again, the body is what it was, up to rounding.

    A force sensor stays at its joint: it goes to the link that the joint holds now, with its place when all joints are at 0. It then reads
    what that link exerts, the opposite of what it read before; `problems` say so of each (LOSS080).

    Parameters
    ----------
    link:
        The new root's name, or its index.

    Raises
    ------
    KeyError
        When there is no link of that name.
    ValueError
        When a crawler is on the way (its belt is on its own link, so it cannot change hands), or the index is that of no link.
    """
    if isinstance(link, int):
        if not 0 <= link < len(body.links):
            raise ValueError(f"there is no link {link}: the body has {len(body.links)}")
        root = link
    else:
        root = body.link(link).index
    if root == 0:
        return body
    way = _way(body, root)
    for index in way[:-1]:
        joint = body.links[index].joint
        if joint.type == "crawler":
            raise ValueError(
                f"{body.links[index].name!r} is a crawler between the old root and the new one: its belt is on its own link"
            )
    memory = _Memory.of(body)
    shifts = _shifts(body, way, memory)
    parents = {link.index: link.parent for link in body.links}
    parents.update({above: below for below, above in pairwise(way)})
    parents[root] = -1
    order = _order(parents, root, memory)
    numbers = {old: new for new, old in enumerate(order)}
    joints, offsets = _joints_and_offsets(body, way, shifts)
    links = []
    for old in order:
        link_ = body.links[old]
        links.append(
            replace(
                link_,
                index=numbers[old],
                parent=-1 if old == root else numbers[parents[old]],
                joint=joints[old],
                offset=offsets[old],
                segments=tuple(_moved(segment, shifts.get(old)) for segment in link_.segments),
            )
        )
    source = body.source
    places = dict(source.places)
    if len(places.get("links", ())) == len(body.links):
        places["links"] = tuple(places["links"][old] for old in order)
    kept = memory.after(body, shifts)
    devices, said = _devices(body, way)
    return replace(
        body,
        links=tuple(links),
        root_pose=offsets[root],
        devices=tuple(
            replace(device, link=numbers[device.link], pose=_seen_from(device.pose, shifts.get(device.link)))
            for device in devices
        ),
        extra_joints=tuple(_tied(joint, numbers, shifts) for joint in body.extra_joints),
        source=replace(source, places=places, options={**source.options, KEPT: kept}),
        problems=(*body.problems, *said),
    )


def _devices(body: Body, way: list[int]) -> tuple[list[Device], list[Problem]]:
    """Return the devices with force sensors on the links that hold their joints from now on, told in the frames of before; and say which."""
    holders = dict(pairwise(way)) | {0: way[0]}
    at_rest = {0: poses.IDENTITY}
    for index in reversed(way[:-1]):
        at_rest[index] = poses.compose(at_rest[body.links[index].parent], body.links[index].offset)
    devices: list[Device] = []
    said = []
    for device in body.devices:
        if isinstance(device, ForceSensor) and device.link in holders:
            old, new = device.link, holders[device.link]
            between = body.links[old].offset if old else poses.inverse(at_rest[new])
            words = f"{device.name!r:.60} at joint {body.links[old].joint.name!r:.60} was on link {body.links[old].name!r:.60}"
            said.append(losses.FORCE_SENSOR.problem(f"{words}, and is on {body.links[new].name!r:.60}"))
            device = replace(device, link=new, pose=frozen(poses.compose(between, device.pose)))
        devices.append(device)
    return devices, said


def _way(body: Body, root: int) -> list[int]:
    """Return the links from the new root to the old one."""
    way = [root]
    while way[-1] != 0:
        way.append(body.links[way[-1]].parent)
    return way


@dataclass(frozen=True)
class _Memory:
    """What was before the first change of root: the place of each link in the order, and how far its frame is from where it was."""

    ranks: Mapping[int, int]
    moved: Mapping[int, Floats]

    @classmethod
    def of(cls, body: Body) -> _Memory:
        plain = cls({link.index: link.index for link in body.links}, {})
        kept = body.source.options.get(KEPT)
        names = [link.name for link in body.links]
        if not isinstance(kept, Mapping) or len(set(names)) < len(names) or set(kept.get("order", ())) != set(names):
            return plain
        place = {name: rank for rank, name in enumerate(kept["order"])}
        moved = {link.index: np.asarray(kept["moved"][link.name]) for link in body.links if link.name in kept["moved"]}
        return cls({link.index: place[link.name] for link in body.links}, moved)

    def after(self, body: Body, shifts: Mapping[int, Floats]) -> dict[str, object]:
        """Return what is to be kept when frames have been moved by `shifts`."""
        order = sorted(self.ranks, key=lambda index: self.ranks[index])
        moved = {}
        for link in body.links:
            total = self.moved.get(link.index, np.zeros(3)) + shifts.get(link.index, np.zeros(3))
            if total.any():
                moved[link.name] = tuple(total.tolist())
        return {"order": tuple(body.links[index].name for index in order), "moved": moved}


def _shifts(body: Body, way: list[int], memory: _Memory) -> dict[int, Floats]:
    """Say for the links on the way by how much their origins move, in their own axes."""
    shifts = {}
    for below, index in pairwise([-1, *way]):
        if below >= 0 and body.links[below].joint.type == "rotate":
            shift = np.array(body.links[below].offset[:3])
        else:
            # Nothing turns this link any more about its own origin: that may be where it was at first.
            shift = -memory.moved.get(index, np.zeros(3))
        if shift.any():
            shifts[index] = shift
    return shifts


def _order(parents: Mapping[int, int], root: int, memory: _Memory) -> list[int]:
    children: dict[int, list[int]] = {}
    for index, parent in parents.items():
        children.setdefault(parent, []).append(index)
    order = []
    waiting = [root]
    while waiting:
        index = waiting.pop()
        order.append(index)
        waiting += sorted(children.get(index, ()), key=lambda child: memory.ranks[child], reverse=True)
    return order


def _joints_and_offsets(
    body: Body, way: list[int], shifts: Mapping[int, Floats]
) -> tuple[dict[int, Joint], dict[int, Floats]]:
    joints = {link.index: link.joint for link in body.links}
    offsets = {link.index: _seen_from(link.offset, shifts.get(link.parent)) for link in body.links}
    at_rest = poses.compose(poses.IDENTITY, body.root_pose)
    for index in reversed(way[:-1]):
        at_rest = poses.compose(at_rest, body.links[index].offset)
    root = way[0]
    joints[root] = body.links[0].joint
    offsets[root] = frozen(_placed(at_rest, shifts.get(root)))
    for below, above in pairwise(way):
        link = body.links[below]
        turn = rotations.normalized(link.offset[3:])
        axis = -rotations.rotate(turn, link.joint.axis)
        joints[above] = replace(link.joint, axis=frozen(axis + 0.0))
        offsets[above] = frozen(_placed(_seen_from(poses.inverse(link.offset), shifts.get(below)), shifts.get(above)))
    return joints, offsets


def _placed(pose: Floats, shift: Floats | None) -> Floats:
    """Return the pose of a frame that has been moved by `shift` along its own axes."""
    if shift is None:
        return pose
    return poses.compose(pose, np.array([*shift, 1.0, 0.0, 0.0, 0.0]))


def _seen_from(pose: Floats, shift: Floats | None) -> Floats:
    """Return a pose in a frame that has been moved by `shift` along its own axes."""
    return pose if shift is None else frozen(np.concatenate([pose[:3] - shift, pose[3:]]))


def _moved(segment: Segment, shift: Floats | None) -> Segment:
    if shift is None:
        return segment
    transform = segment.transform.copy()
    transform[:3, 3] -= shift
    return replace(segment, transform=frozen(transform))


def _tied(joint: ExtraJoint, numbers: Mapping[int, int], shifts: Mapping[int, Floats]) -> ExtraJoint:
    a, b = joint.links
    positions = [
        point - shifts.get(index, np.zeros(3)) for point, index in zip(joint.positions, joint.links, strict=True)
    ]
    return replace(joint, links=(numbers[a], numbers[b]), positions=frozen(positions))
