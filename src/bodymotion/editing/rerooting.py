"""Choose another link of a body as its root.

The same mechanism with another root link.

Between the old root r₀ and the new one rₖ lies a chain r₀ … rₖ; the pose of each is Pᵢ
= Pᵢ₋₁·Oᵢ·Jᵢ(q), with the offset Oᵢ and the joint's motion Jᵢ about, or along, the axis
aᵢ. Inverted, Pᵢ₋₁ = Pᵢ·Jᵢ(q)⁻¹·Oᵢ⁻¹: rᵢ is the parent of rᵢ₋₁, with the same joint and
the same value q, and the axis −R(Oᵢ)·aᵢ in its frame. A joint rotates its link about
the link's own origin, so for a rotational joint the origin of rᵢ₋₁ moves to it, to the
position of Oᵢ; its axes keep their directions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from bodymotion.diagnostics import (
    Location,
    Locator,
    Problem,
    SourceMap,
    Subject,
    losses,
)
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.model.body import Body
from bodymotion.model.links import Device, ForceSensor, Joint, Segment
from bodymotion.model.scaling import HISTORY_KEY
from bodymotion.model.trees import depth_first


def reroot(body: Body, link: str | int) -> Body:
    """Return the body with another link as its root.

    All its points and the values of its joints do not change.

    A joint between the old root and the new one becomes the joint of the link that was
    its parent. It keeps its name, id, limits and motor; its axis is inverted. The
    frames of links there with a rotational joint move to the joint without a rotation.
    `root_pose` is the pose of the new root with all joints at 0. The new root gets the
    joint of the old one.

    Links are in depth-first order, siblings in their old order. Columns of joints with
    ids do not change; those without follow the new order of links. With the first root
    again the body is as before, up to rounding.

    A force sensor stays at its joint: it moves to the link of the joint, with its pose
    when all joints are at 0. It then measures the opposite of what it measured before;
    `problems` reports each (LOSS080).

    Parameters
    ----------
    link:
        The new root's name, or its index.

    Raises
    ------
    KeyError
        When no link has this name.
    ValueError
        When a crawler is between the two roots (its belt belongs to its own link), or
        no link has this index.
    """
    if isinstance(link, int):
        if not 0 <= link < len(body.links):
            raise ValueError(f"no link {link}: the body has {len(body.links)} links")
        root = link
    else:
        root = body.link(link).index
    if root == 0:
        return body
    path = body.path_to_root(root)
    for index in path[:-1]:
        joint = body.links[index].joint
        if joint.type == "crawler":
            raise ValueError(
                f"{body.links[index].name!r} is a crawler between the old root and the "
                "new one: its belt is on its own link"
            )
    history = _History.of(body)
    shifts = _shifts(body, path, history)
    parents = {link.index: link.parent for link in body.links}
    # Along the path, children become parents.
    parents.update({above: below for below, above in pairwise(path)})
    parents[root] = -1
    order = depth_first(parents, history.ranks.__getitem__)
    numbers = {old: new for new, old in enumerate(order)}
    joints, offsets = _joints_and_offsets(body, path, shifts)
    # Everything that names a link by its index, or is in its frame, moves with it.
    links = []
    for old, new in numbers.items():
        before = body.links[old]
        segments = [_moved(segment, shifts[old]) for segment in before.segments]
        links.append(
            replace(
                before,
                index=new,
                parent=-1 if old == root else numbers[parents[old]],
                joint=joints[old],
                offset=offsets[old],
                segments=tuple(segments),
            )
        )
    devices, moved_sensors = _devices(body, path)
    moved_devices = []
    for device in devices:
        pose = _relative(device.pose, shifts[device.link])
        moved_devices.append(replace(device, link=numbers[device.link], pose=pose))
    extra_joints = []
    for extra in body.extra_joints:
        one, two = extra.links
        positions = frozen(extra.positions - shifts[[one, two]])
        extra_joints.append(
            replace(extra, links=(numbers[one], numbers[two]), positions=positions)
        )
    # Locations are by index, so they follow the new order. The history lets the old
    # root restore the old frames and order.
    source = replace(
        body.source,
        locations=_renumbered(body.source.locations, order),
        options={**body.source.options, HISTORY_KEY: history.after(body, shifts)},
    )
    return replace(
        body,
        links=tuple(links),
        root_pose=offsets[root],
        devices=tuple(moved_devices),
        extra_joints=tuple(extra_joints),
        source=source,
        problems=(*body.problems, *moved_sensors),
    )


def _devices(body: Body, path: list[int]) -> tuple[list[Device], list[Problem]]:
    """Return the devices with force sensors on the new links of their joints.

    In the old frames; and a problem for each moved sensor.
    """
    # From each link whose joint changes sides to the link that then has the joint. The
    # joint of the root (0) moves to the new root.
    links_of = dict(pairwise(path)) | {0: path[0]}
    at_rest = body.forward_kinematics(np.zeros(body.num_joints), poses.IDENTITY)
    devices: list[Device] = []
    problems = []
    for device in body.devices:
        if isinstance(device, ForceSensor) and device.link in links_of:
            old = device.link
            new = links_of[device.link]
            # The sensor stays where it is in space. Its pose is given in the frame of
            # the new link: Oᵢ for a link on the path, the inverse of the new root's
            # pose for the old root.
            if old:
                between = body.links[old].offset
            else:
                between = poses.inverse(at_rest[new])
            sensor = (
                f"{device.name!r:.60} at joint {body.links[old].joint.name!r:.60} was "
                f"on link {body.links[old].name!r:.60}"
            )
            problems.append(
                losses.FORCE_SENSOR.problem(
                    f"{sensor}, and is now on {body.links[new].name!r:.60}"
                )
            )
            device = replace(
                device, link=new, pose=frozen(poses.compose(between, device.pose))
            )
        devices.append(device)
    return devices, problems


def _renumbered(locations: SourceMap, order: list[int]) -> SourceMap:
    """Return locations by the new indices of links.

    `order` are the old indices in the new order.
    """
    if not locations and not locations.unknown:
        return locations

    def locator(old: int) -> Locator:
        return lambda rest: locations.locate(("links", old, *rest))

    entries: dict[Subject, Location | Locator] = {
        ("links", new): locator(old) for new, old in enumerate(order)
    }
    numbers = {old: new for new, old in enumerate(order)}
    # ("links", old index, …) gets the new index; other parts stay.
    unknown = [
        ("links", numbers.get(int(one[1]), int(one[1])), *one[2:])
        if len(one) > 1 and one[0] == "links"
        else one
        for one in locations.unknown
    ]
    # The empty subject is the rest: what is not of a link is found as before.
    return SourceMap({(): locations.locate, **entries}, unknown)


@dataclass(frozen=True)
class _History:
    """The state before the first change of root.

    The rank of each link in the order, and the translation of its frame since then.
    """

    ranks: Mapping[int, int]
    moved: Mapping[int, Floats]

    @classmethod
    def of(cls, body: Body) -> _History:
        """Return the history that a body has kept, or a new one."""
        plain = cls({link.index: link.index for link in body.links}, {})
        kept = body.source.options.get(HISTORY_KEY)
        names = [link.name for link in body.links]
        # The history names links. It no longer fits where names are not unique, or
        # where links were added, removed or renamed since.
        if (
            not isinstance(kept, Mapping)
            or len(set(names)) < len(names)
            or set(kept.get("order", ())) != set(names)
        ):
            return plain
        rank_of = {name: rank for rank, name in enumerate(kept["order"])}
        moved = {
            link.index: np.asarray(kept["moved"][link.name])
            for link in body.links
            if link.name in kept["moved"]
        }
        return cls({link.index: rank_of[link.name] for link in body.links}, moved)

    def after(self, body: Body, shifts: Floats) -> dict[str, object]:
        """Return the history after frames have been moved by `shifts` (L, 3)."""
        order = sorted(self.ranks, key=lambda index: self.ranks[index])
        moved = {}
        for link in body.links:
            # (3,) From the frame before the first change of root to the new one.
            total = self.moved.get(link.index, np.zeros(3)) + shifts[link.index]
            if total.any():
                moved[link.name] = tuple(total.tolist())
        return {
            "order": tuple(body.links[index].name for index in order),
            "moved": moved,
        }


def _shifts(body: Body, path: list[int], history: _History) -> Floats:
    """Return the translations (L, 3) of the origins of the links, in their own axes.

    Only those on the path move.
    """
    shifts = np.zeros((len(body.links), 3))
    for below, index in pairwise([-1, *path]):
        # The joint of the link below now rotates this one, so the origin of this one
        # moves to the joint: to Oᵢ in the frame of this link.
        if below >= 0 and body.links[below].joint.type == "rotate":
            shifts[index] = body.links[below].offset[:3]
        else:
            # No joint rotates this link about its own origin any more: the origin moves
            # back to where it was at first.
            shifts[index] -= history.moved.get(index, 0.0)
    return shifts


def _joints_and_offsets(
    body: Body, path: list[int], shifts: Floats
) -> tuple[dict[int, Joint], dict[int, Floats]]:
    """Return the joint and the offset of each link, by its old index."""
    joints = {link.index: link.joint for link in body.links}
    # The old root has no parent: its offset is replaced below.
    offsets = {
        link.index: _relative(link.offset, shifts[link.parent]) for link in body.links
    }
    root = path[0]
    at_rest = body.forward_kinematics(np.zeros(body.num_joints))[root]
    joints[root] = body.links[0].joint
    offsets[root] = _placed(at_rest, shifts[root])
    for below, above in pairwise(path):
        link = body.links[below]
        rotation = rotations.normalized(link.offset[3:])
        # Pᵢ₋₁ = Pᵢ·Jᵢ⁻¹·Oᵢ⁻¹: the rotation by −q about R(Oᵢ)·aᵢ is one by q about its
        # inverse.
        axis = -rotations.rotate(rotation, link.joint.axis)
        # Adding 0 makes 0 of −0, which would be in written files.
        joints[above] = replace(link.joint, axis=frozen(axis + 0.0))
        offsets[above] = _placed(
            _relative(poses.inverse(link.offset), shifts[below]), shifts[above]
        )
    return joints, offsets


def _placed(pose: Floats, shift: Floats) -> Floats:
    """Return the pose of a frame that has been moved by `shift` along its own axes."""
    return frozen(np.concatenate([poses.transform_points(pose, shift), pose[3:]]))


def _relative(pose: Floats, shift: Floats) -> Floats:
    """Return a pose in a frame that has been moved by `shift` along its own axes."""
    return frozen(np.concatenate([pose[:3] - shift, pose[3:]]))


def _moved(segment: Segment, shift: Floats) -> Segment:
    transform = segment.transform.copy()
    transform[:3, 3] -= shift
    return replace(segment, transform=frozen(transform))
