"""The links of a body as MJCF bodies, each with its joints, its mass and its shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics import Location, losses
from bodymotion.formats.mjcf.kept_segments import kept_of_segments
from bodymotion.formats.mjcf.plain_joints import ball_parts, plain_joint
from bodymotion.formats.mjcf.writing.chains import at_rest, ball_starts, chains, in_last_frame
from bodymotion.formats.mjcf.writing.geoms import GeomWriter, pose_attributes
from bodymotion.formats.mjcf.writing.joints import ball_element, joint_element, kept_of_joint, rest_of
from bodymotion.formats.mjcf.writing.masses import write_inertial
from bodymotion.formats.only_mjcf import of_mjcf, texts
from bodymotion.formats.xml.tree import Element, number_text
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import same
from bodymotion.model.links import Joint

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem
    from bodymotion.formats.mjcf.kept import Kept
    from bodymotion.formats.mjcf.writing.names import Names
    from bodymotion.geometry.arrays import Floats
    from bodymotion.model.body import Body
    from bodymotion.model.links import Link

__all__ = ["LinkWriter"]


class LinkWriter:
    """Writes the links of one body; what they lose goes to `problems`.

    `elements` are the elements of the links, `joint_names` the names of their joints, both by the numbers of the links.
    """

    def __init__(self, body: Body, names: Names, kept: Kept, geoms: GeomWriter, problems: list[Problem]) -> None:
        self.body, self.names, self.kept, self.geoms, self.problems = body, names, kept, geoms, problems
        self.elements: dict[int, Element] = {}
        self.joint_names: dict[int, str] = {}
        told = of_mjcf(body.extra).get("bodies")
        self._said = (
            {key: of for key, of in told.items() if isinstance(of, Mapping)} if isinstance(told, Mapping) else {}
        )
        """What MJCF says of bodies beside all else, by the names of their links."""
        self._chains = chains(body)
        self._within = {index for ahead in self._chains.values() for index in ahead}
        self._count = 0
        """How many joints with a value there are so far: the reader's number for the next one."""

    def write(self, link: Link, world: Element) -> None:
        """Put a link into the body of its parent, or into the world; links come in link order."""
        if link.index in self._within:
            return
        if link.index == 0 and _is_world(self.body):
            self.elements[0] = world
            self.geoms.write(world, link, "world")
            _lights(world, self._said.get(link.name, {}))
            return
        body, ahead = self.body, self._chains.get(link.index, ())
        name = self.names.free("body", link.name, f"link_{link.index}")
        first = body.links[ahead[0]] if ahead else link
        parent = world if first.parent < 0 else self.elements[first.parent]
        pose = _usable(body.root_pose if link.parent < 0 else link.offset)
        said: dict[str, object] = {}
        if name != link.name:
            said["name"] = link.name
        if not same(pose, link.offset):
            said["offset"] = link.offset
        if ahead:
            pose, placed = in_last_frame(body, ahead, link.index)
        elif rest_of(link.joint) and link.parent >= 0:
            pose = at_rest(link.joint, pose)
        said_of_body = self._said.get(link.name, {})
        attributes = {k: v for k, v in texts(said_of_body.get("body")).items() if k not in ("name", "pos", "quat")}
        element = self.elements[link.index] = parent.add("body", {"name": name, **pose_attributes(pose), **attributes})
        if ahead:
            balls = ball_starts(body, (*ahead, link.index))
            for index, (anchor, axis) in zip((*ahead, link.index), placed, strict=True):
                if index in balls:
                    self._ball(body.links[index : index + 3], element, anchor, said)
                if any(index in range(start, start + 3) for start in balls):
                    continue
                joint = self._joint(body.links[index], element, body.links[index].name, said, chain=True)
                if joint is not None:
                    joint.attributes |= {"pos": number_text(anchor), "axis": number_text(axis)}
        else:
            self._joint(link, element, name, said)
        _lights(element, said_of_body)
        write_inertial(element, link, self.problems)
        complete = self.geoms.write(element, link, name)
        self._segments(link, said, complete=complete)
        self.kept.add("link", name, said)

    def _joint(
        self, link: Link, element: Element, name: str, said: dict[str, object], chain: bool = False
    ) -> Element | None:
        """Put the joint of a link into a body, and what the file does not say of it into `said`."""
        joint_name = self.names.free("joint", link.joint.name, name)
        at_top = link.parent < 0 or (link.parent == 0 and self.elements[0].name == "worldbody")
        joint = joint_element(link, joint_name, self.problems, top=at_top)
        if joint is None:
            self.names.give_back("joint", joint_name)
        else:
            element.children.append(joint)
            self.joint_names[link.index] = joint_name
        again = plain_joint(joint, link.name, self._count)
        self._count += joint is not None and joint.name == "joint"
        of_joint = kept_of_joint(link.joint, again)
        if of_joint and not chain:
            said["joint"] = of_joint
        elif of_joint and joint is not None:
            said.setdefault("joints", {})[joint_name] = of_joint  # type: ignore[index]
        return joint

    def _ball(self, links: Sequence[Link], element: Element, anchor: Floats, said: dict[str, object]) -> None:
        """Put a ball joint into a body, which three links came of."""
        wanted = str(texts(of_mjcf(links[0].joint.extra).get("ball")).get("name", ""))
        name = self.names.free("joint", wanted, "ball")
        ball = ball_element(links[0].joint, name)
        element.children.append(ball)
        ball.attributes["pos"] = number_text(anchor)
        attributes = {k: v for k, v in ball.attributes.items() if k not in ("name", "type", "pos")}
        for link, again in zip(links, ball_parts(name, attributes), strict=True):
            self.joint_names[link.index] = name
            of_joint = kept_of_joint(link.joint, replace(again, id=self._count))
            self._count += 1
            if of_joint:
                said.setdefault("joints", {})[again.name] = of_joint  # type: ignore[index]

    def _segments(self, link: Link, said: dict[str, object], *, complete: bool) -> None:
        """Keep what the segments of a link are; they can be told apart where all of their shapes are there (`complete`)."""
        place = Location(inside=f"links[{link.index}]")
        alone = len(link.segments) == 1 and np.array_equal(link.segments[0].transform, np.eye(4))
        if alone:
            segment = link.segments[0]
            extra = {key: value for key, value in segment.extra.items() if key != "mjcf"}
            kept = {key: value for key, value in (("name", segment.name), ("extra", extra)) if value}
            if kept != {"name": link.name}:
                said["segment"] = kept
            if not segment.mass and not segment.inertia.any() and not (segment.visuals or segment.collisions):
                said["segment"] = {**kept, "empty": True}
            return
        apart = kept_of_segments(link) if complete else None
        if apart:
            said["segments"] = apart
        elif link.segments:
            words = f"the {len(link.segments)} segments of link {link.name} are written as one, in the link's frame"
            self.problems.append(losses.SEGMENTS.problem(words, place))


def _lights(element: Element, said: Mapping[str, object]) -> None:
    """Put the lights that were on a body there again; the names of what they look at may be gone."""
    given = said.get("lights")
    for light in given if isinstance(given, (list, tuple)) else []:
        attributes = texts(light)
        if attributes.pop("element", "") == "light" and "target" not in attributes:
            element.add("light", attributes)


def _is_world(body: Body) -> bool:
    """Whether the root stands for the world of an MJCF file that the body was read from."""
    root = body.links[0]
    return (
        body.source.format == "mjcf"
        and root.name == "world"
        and root.joint == Joint(name="world")
        and root.mass == 0
        and np.array_equal(root.offset, poses.IDENTITY)
        and np.array_equal(body.root_pose, poses.IDENTITY)
    )


def _usable(pose: np.ndarray) -> np.ndarray:
    """Return a pose whose quaternion MuJoCo takes: one without length is no turn."""
    if np.linalg.norm(pose[3:]) > 1e-9:
        return pose
    return np.array([*pose[:3], 1.0, 0.0, 0.0, 0.0])
