"""The links of a body as <body> elements, each with its joints and its mass; several links as one body.

MuJoCo accepts no moving body without mass, but a body may have several joints. So where a body was read from MJCF, links without mass,
shapes or devices that carry one other link are written into the body of that link.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics import Location, losses
from bodymotion.formats.mjcf.geom_writer import GeomWriter, pose_attributes
from bodymotion.formats.mjcf.joints import DYNAMICS, ball_parts, plain_joint
from bodymotion.formats.mjcf.kept import json_of_segments
from bodymotion.formats.mjcf.rules import REFUSED
from bodymotion.formats.only_mjcf import of_mjcf, texts
from bodymotion.formats.xml.tree import Element, number_text
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats, same
from bodymotion.model import inertias
from bodymotion.model.links import Joint
from bodymotion.model.motors import armature, motor_range

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem
    from bodymotion.formats.mjcf.kept import Kept
    from bodymotion.formats.mjcf.writer import Names
    from bodymotion.model.body import Body
    from bodymotion.model.links import Link

__all__ = [
    "TYPES",
    "LinkWriter",
    "acceptable",
    "at_rest",
    "ball_element",
    "ball_starts",
    "chains",
    "in_last_frame",
    "joint_element",
    "kept_of_joint",
    "motor_element",
    "rest_of",
    "write_inertial",
]

TYPES = {"rotate": "hinge", "slide": "slide"}


def joint_element(link: Link, name: str, problems: list[Problem], *, top: bool) -> Element | None:
    """Return the joint of a link, None where MJCF welds the link to its parent; what it loses goes to `problems`.

    `top` says whether the link stands in the world.
    """
    joint = link.joint
    place = Location(inside=f"links[{link.index}]")
    if link.parent < 0 or (top and joint.type == "free"):
        if joint.type != "free":
            return None
        alone = texts({k: v for k, v in of_mjcf(joint.extra).items() if k != "name"})
        return Element("joint" if alone.get("type") == "free" else "freejoint", {"name": name, **alone})
    if joint.type in ("free", "crawler"):
        told = {
            "free": f"joint {joint.name} is free and not at the root, which MuJoCo does not have: it is fixed",
            "crawler": f"joint {joint.name} moves a belt, which MuJoCo does not have: it is fixed",
        }
        problems.append(losses.JOINT_KIND.problem(told[joint.type], place))
    if joint.type == "fixed" and joint.extra.get("urdf_type") == "planar":
        words = f"joint {joint.name} slides and turns in a plane, which MuJoCo does not have: it is fixed"
        problems.append(losses.JOINT_KIND.problem(words, place))
    if joint.type not in TYPES:
        return None
    if "ball" in of_mjcf(joint.extra):
        words = f"joint {joint.name} is a part of a ball joint, which the body has no more: it is a hinge"
        problems.append(losses.JOINT_KIND.problem(words, place))
    given = {"name": name, "type": TYPES[joint.type], "axis": number_text(joint.axis)}
    if not np.linalg.norm(joint.axis) > 1e-12:
        given["axis"] = "0 0 1"
        problems.append(losses.EFFECT.problem(f"joint {joint.name} has no axis: it is written as z", place))
    limits = told_limits(joint)
    if limits is not None:
        given["range"] = number_text(limits)
    elif np.isfinite([joint.lower, joint.upper]).any():
        words = (
            f"the lower limit of joint {joint.name}, {joint.lower:g}, is above the upper, {joint.upper:g}: none is set"
        )
        problems.append(losses.EFFECT.problem(words, place))
    turning = armature(joint)
    if turning > 0 and np.isfinite(turning):
        given["armature"] = number_text(turning)
    given |= _dynamics(joint, problems, place)
    beyond = of_mjcf(joint.extra)
    given |= texts({k: v for k, v in beyond.items() if k not in ("ball", "type", "pos", *given)})
    return Element("joint", given)


def _dynamics(joint: Joint, problems: list[Problem], place: Location) -> dict[str, str]:
    """Return damping, springs and friction, which URDF calls `friction`; what MuJoCo refuses is told."""
    # Of the URDF's friction a file of ours says frictionloss.
    extra: dict[str, object] = {"frictionloss": joint.extra.get("friction"), **joint.extra}
    given: dict[str, str] = {}
    for key in DYNAMICS:
        value = extra.get(key)
        if value is None:
            continue
        try:
            numbers = np.atleast_1d(np.asarray(value, dtype=np.float64))
        except (TypeError, ValueError):
            numbers = np.array([np.nan])
        least = -np.inf if key == "springref" else 0.0
        if numbers.ndim == 1 and len(numbers) and np.isfinite(numbers).all() and (numbers >= least).all():
            given[key] = number_text(numbers)
        else:
            words = f"{key} of joint {joint.name} is {value!r:.60}, which MuJoCo does not take: it is left out"
            problems.append(losses.EFFECT.problem(words, place))
    return given


def ball_element(joint: Joint, name: str) -> Element:
    """Return the ball joint that three joints were read from."""
    said = texts(of_mjcf(joint.extra).get("ball"))
    return Element("joint", {**said, "name": name, "type": "ball"})


def rest_of(joint: Joint) -> float:
    """Return the value that MuJoCo's `ref` gives the joint where the body is at its pose."""
    try:
        rest = float(str(of_mjcf(joint.extra).get("ref", "0")))
    except ValueError:
        return 0.0
    return rest if np.isfinite(rest) and joint.type in TYPES else 0.0


def told_limits(joint: Joint) -> tuple[float, float] | None:
    """Return the range of a joint as MuJoCo takes it for one; None where there is none.

    It takes equal limits for none: the upper one is then the next number.
    """
    lower, upper = joint.lower, joint.upper
    if np.isnan([lower, upper]).any() or lower > upper or not np.isfinite([lower, upper]).any():
        return None
    return lower, float(np.nextafter(upper, np.inf)) if lower == upper else upper


def motor_element(joint: Joint, name: str, joint_name: str) -> Element:
    """Return the motor of a joint: its control is the torque [Nm] (force [N]) before the gear."""
    given = {"name": name, "joint": joint_name}
    if joint.gear_ratio not in (0.0, 1.0):
        given["gear"] = number_text(joint.gear_ratio)
    limits = motor_range(joint)
    if limits is not None:
        given["forcerange"] = number_text(limits)
    return Element("motor", given)


def kept_of_joint(joint: Joint, again: Joint) -> dict[str, object]:
    """Return the fields of a joint in which it differs from what the reader would make of the file without them."""
    found = {
        field.name: getattr(joint, field.name)
        for field in fields(Joint)
        if field.name != "extra" and not same(getattr(joint, field.name), getattr(again, field.name))
    }
    # What MJCF alone says stands in the file itself, in the joint, the body or the lights.
    kept = {k: v for k, v in joint.extra.items() if k != "mjcf" and not (k in again.extra and same(v, again.extra[k]))}
    if kept:
        found["extra"] = kept
    without = [
        key
        for key in again.extra
        if key != "mjcf" and not (key in joint.extra and same(joint.extra[key], again.extra[key]))
    ]
    if without:
        found |= {"extra": kept, "without": without}
    return found


def chains(body: Body) -> dict[int, tuple[int, ...]]:
    """Return the links that are written within the body of another one: by that one's index, in order from the parent on."""
    if body.source.format != "mjcf":
        return {}
    children: dict[int, list[int]] = {}
    for link in body.links:
        children.setdefault(link.parent, []).append(link.index)
    used = {device.link for device in body.devices} | {end for joint in body.extra_joints for end in joint.links}
    found: dict[int, tuple[int, ...]] = {}
    ahead: tuple[int, ...] = ()
    for link in body.links:
        moves = link.parent >= 0 and link.joint.type in ("rotate", "slide")
        alone = not link.segments and link.index not in used and children.get(link.index) == [link.index + 1]
        if ahead and not (moves or (link.joint.type == "fixed" and not alone)):
            ahead = ()
        if moves and alone:
            ahead = (*ahead, link.index)
        elif ahead:
            found[link.index] = ahead
            ahead = ()
    return found


def at_rest(joint: Joint, offset: Floats) -> Floats:
    """Return where a link is (7,) in its parent when its joint has the value of MuJoCo's `ref`, mostly 0."""
    rest = rest_of(joint)
    if not rest:
        return offset
    if joint.type == "slide":
        return poses.compose(offset, poses.from_parts(rest * joint.axis, rotations.IDENTITY))
    return poses.compose(offset, poses.from_parts(np.zeros(3), rotations.from_axis_angle(joint.axis, rest)))


def ball_starts(body: Body, indices: Sequence[int]) -> set[int]:
    """Return the links among those of one body at which three begin that stand for a ball joint."""
    found: set[int] = set()
    for index in indices:
        three = body.links[index : index + 3]
        said = [of_mjcf(link.joint.extra).get("ball") for link in three]
        if (
            len(three) == 3
            and three[-1].index in indices
            and not any(index in range(start, start + 3) for start in found)
            and isinstance(said[0], Mapping)
            and said[0] == said[1] == said[2]
            and all(link.joint.type == "rotate" for link in three)
            and all(np.array_equal(link.joint.axis, axis) for link, axis in zip(three, np.eye(3), strict=True))
            and not any(link.offset[:3].any() for link in three[1:])
        ):
            found.add(index)
    return found


def in_last_frame(body: Body, ahead: tuple[int, ...], last: int) -> tuple[Floats, list[tuple[Floats, Floats]]]:
    """Return where the last link is (7,) in the parent of the first one, at its `ref` in MuJoCo, and for each joint where it is.

    That is the point (3,) that it turns about and its axis (3,), in the last link's frame.
    """
    links = [body.links[index] for index in (*ahead, last)]
    offsets = [at_rest(link.joint, link.offset) for link in links]
    whole = offsets[0]
    for offset in offsets[1:]:
        whole = poses.compose(whole, offset)
    placed = []
    for number, index in enumerate((*ahead, last)):
        rest = poses.IDENTITY
        for offset in offsets[number + 1 :]:
            rest = poses.compose(rest, offset)
        back = poses.inverse(rest)
        placed.append((back[:3], rotations.rotate(back[3:], body.links[index].joint.axis)))
    return whole, placed


CLEAR = 1e-6
"""A tensor whose moments keep this part of the largest away from what MuJoCo refuses is written by its six numbers, as it is."""
SMALL = 1e-13
"""[kg m²] MuJoCo refuses six numbers with a principal moment below 1e-14, and the same moments along their axes not."""


def acceptable(body: Body, *, fix_inertia: bool) -> tuple[Body, tuple[Problem, ...]]:
    """Return the body as MuJoCo takes it, and what was changed. Links that are written within others need no mass.

    Raises
    ------
    FormatError
        When MuJoCo refuses some link and `fix_inertia` is not asked for; the message names all of them.
    """
    within = {index for ahead in chains(body).values() for index in ahead}
    found = [one for one in inertias.faults(body, asymmetric=False) if one.link not in within]
    if not found:
        return body, ()
    if fix_inertia:
        return inertias.repaired(body)
    told = "; ".join(f"{body.links[one.link].name or one.link}: {one.message}" for one in found)
    count = "one link" if len(found) == 1 else f"{len(found)} links"
    raise REFUSED.error(f"MuJoCo refuses {count}: {told}", Location(inside=f"links[{found[0].link}]"))


def write_inertial(element: Element, link: Link, problems: list[Problem]) -> None:
    """Return a body its mass and inertia, as exactly as MuJoCo takes them.

    Where moments are so near to what it refuses (a flat body: a + b = c) that its own rounding may cross the line, they are written along
    their axes, the smallest raised by what rounding had taken.
    """
    mass, tensor = link.mass, link.inertia
    if mass < inertias.LEAST and inertias.fault(1.0, tensor) is not None:
        # MuJoCo does not ask links that carry nothing for an inertia.
        if tensor.any():
            words = f"link {link.name} has an inertia that no body has, and no mass: it is left out"
            problems.append(losses.INERTIA_CHANGED.problem(words, Location(inside=f"links[{link.index}]")))
        tensor = np.zeros((3, 3))
    if mass == 0 and not tensor.any() and not link.center_of_mass.any():
        return
    if not np.array_equal(tensor, tensor.T):
        if np.abs(tensor - tensor.T).max() > 1e-6 * np.abs(tensor).max():
            words = f"the inertia of link {link.name} is not symmetric: its symmetric part is written"
            problems.append(losses.INERTIA_CHANGED.problem(words, Location(inside=f"links[{link.index}]")))
        tensor = 0.5 * tensor + 0.5 * tensor.T
    given = {"pos": number_text(link.center_of_mass), "mass": number_text(mass)}
    moments, axes = inertias.principal_moments(tensor)
    least, middle, most = moments.tolist()
    if least > CLEAR * most and least + middle > most * (1.0 + CLEAR) and least > SMALL:
        six = (tensor[0, 0], tensor[1, 1], tensor[2, 2], tensor[0, 1], tensor[0, 2], tensor[1, 2])
        element.add("inertial", {**given, "fullinertia": number_text(six)})
        return
    if not (tensor - np.diag(np.diag(tensor))).any():
        element.add("inertial", {**given, "diaginertia": number_text(_lifted(np.diag(tensor)))})
        return
    turn = number_text(rotations.from_matrix(axes))
    element.add("inertial", {**given, "quat": turn, "diaginertia": number_text(_lifted(moments))})


def _lifted(moments: Floats) -> Floats:
    """Raise the smallest moment until MuJoCo's test, which has no tolerance, holds: a + b ≥ c."""
    lifted = np.maximum(moments, 0.0)
    a, b, c = np.argsort(lifted).tolist()
    if lifted[a] + lifted[b] < lifted[c]:
        lifted[a] = lifted[c] - lifted[b]
        while lifted[a] + lifted[b] < lifted[c]:
            lifted[a] = math.nextafter(lifted[a], math.inf)
    return lifted


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
            self.names.release("joint", joint_name)
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
        apart = json_of_segments(link) if complete else None
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
