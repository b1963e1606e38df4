"""The links of a body as <body> elements, each with its joints and its mass; several links as one body.

MuJoCo accepts no moving body without mass, but a body may have several joints. So where a body was read from MJCF, links without mass,
shapes or devices that carry one other link are written into the body of that link.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from bodymotion.diagnostics import Diagnostics, Location, Problem, Rule, losses
from bodymotion.formats.kept_json import attributes_of, differences, dynamic_values, json_of_segments, mjcf_values
from bodymotion.formats.mjcf.bodies import DYNAMICS, ball_parts, displacement, plain_joint
from bodymotion.formats.mjcf.geom_writer import GeomWriter, pose_attributes
from bodymotion.formats.mjcf.names import Output
from bodymotion.formats.mjcf.rules import REFUSED
from bodymotion.formats.xml.tree import Element, number_text
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats, same
from bodymotion.model import inertias
from bodymotion.model.body import Body
from bodymotion.model.links import Joint, Link
from bodymotion.model.motors import armature, first_number

TYPES = {"rotate": "hinge", "slide": "slide"}
NOT_SUPPORTED = {"free": "is free and not at the root", "crawler": "moves a belt", "planar": "is planar"}
"""Joints that become fixed; planar ones are of URDF."""


def joint_element(link: Link, name: str, problems: Diagnostics, *, top: bool) -> Element | None:
    """Return the joint of a link, which may be in the world (`top`); None where it is fixed to its parent. Losses go to `problems`."""
    joint = link.joint

    def lose(rule: Rule, message: str) -> None:
        problems.add(rule.problem(message, Location(inside=f"links[{link.index}]")))

    if link.parent < 0 or (top and joint.type == "free"):
        if joint.type != "free":
            return None
        own = attributes_of({k: v for k, v in mjcf_values(joint.extra).items() if k != "name"})
        return Element("joint" if own.get("type") == "free" else "freejoint", {"name": name, **own})
    kind = "planar" if joint.type == "fixed" and joint.extra.get("urdf_type") == "planar" else joint.type
    if kind in NOT_SUPPORTED:
        what = f"joint {joint.name} {NOT_SUPPORTED[kind]}, which MuJoCo does not support"
        lose(losses.JOINT_KIND, f"{what}: it is written as fixed")
    if joint.type not in TYPES:
        return None
    only_mjcf = mjcf_values(joint.extra)
    if "ball" in only_mjcf:
        which = f"joint {joint.name} was a part of a ball joint, of which the others are gone"
        lose(losses.JOINT_KIND, f"{which}: it is written as a hinge")
    attributes = {"name": name, "type": TYPES[joint.type], "axis": number_text(joint.axis)}
    if not np.linalg.norm(joint.axis) > 1e-12:
        attributes["axis"] = "0 0 1"
        lose(losses.EFFECT, f"joint {joint.name} has the axis 0 0 0: it is written as 0 0 1")
    limits = joint_limits(joint)
    if limits is not None:
        attributes["range"] = number_text(limits)
    elif np.isfinite([joint.lower, joint.upper]).any():
        which = f"the lower limit of joint {joint.name}, {joint.lower:g}, is above the upper, {joint.upper:g}"
        lose(losses.EFFECT, f"{which}: the limits are left out")
    rotor_inertia = armature(joint)
    if rotor_inertia > 0 and np.isfinite(rotor_inertia):
        attributes["armature"] = number_text(rotor_inertia)
    # `friction` of URDF is the frictionloss of MJCF.
    extra: dict[str, object] = {"frictionloss": joint.extra.get("friction"), **dynamic_values(joint.extra)}
    for key in DYNAMICS:
        value = extra.get(key)
        if value is None:
            continue
        try:
            numbers = np.atleast_1d(np.asarray(value, dtype=np.float64))
        except (TypeError, ValueError):
            numbers = np.array([np.nan])
        minimum = -np.inf if key == "springref" else 0.0
        if numbers.ndim == 1 and len(numbers) and np.isfinite(numbers).all() and (numbers >= minimum).all():
            attributes[key] = number_text(numbers)
        else:
            what = f"{key} of joint {joint.name} is {value!r:.60}, which MuJoCo refuses"
            lose(losses.EFFECT, f"{what}: it is left out")
    attributes |= attributes_of({k: v for k, v in only_mjcf.items() if k not in ("ball", "type", "pos", *attributes)})
    return Element("joint", attributes)


def rest_of(joint: Joint) -> float:
    """Return the value of a joint where the body has the pose of the file (`ref`)."""
    rest = first_number(mjcf_values(joint.extra), "ref") or 0.0
    return rest if np.isfinite(rest) and joint.type in TYPES else 0.0


def joint_limits(joint: Joint) -> tuple[float, float] | None:
    """Return the limits of a joint for MuJoCo; None where there are none.

    MuJoCo ignores equal limits: the upper one is then the next larger number.
    """
    lower, upper = joint.lower, joint.upper
    if np.isnan([lower, upper]).any() or lower > upper or not np.isfinite([lower, upper]).any():
        return None
    return lower, float(np.nextafter(upper, np.inf)) if lower == upper else upper


def kept_of_joint(joint: Joint, read_back: Joint) -> dict[str, object]:
    """Return the fields of a joint that differ from those that the reader makes of the element."""
    found = differences(joint, read_back, skip=("extra",))
    # Values under "mjcf" are written as attributes.
    ours, theirs = joint.extra, read_back.extra
    equal = {"mjcf", *(key for key in ours if key in theirs and same(ours[key], theirs[key]))}
    if not ours.keys() | theirs.keys() <= equal:
        found["extra"] = {key: value for key, value in ours.items() if key not in equal}
    if without := [key for key in theirs if key not in equal]:
        found["without"] = without
    return found


def chains(body: Body) -> dict[int, tuple[int, ...]]:
    """Return the links that are written in the body of another one: by index of that one, in order from the parent."""
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
        own = not link.segments and link.index not in used and children.get(link.index) == [link.index + 1]
        if ahead and not own and (moves or link.joint.type == "fixed"):
            found[link.index] = ahead
        ahead = (*ahead, link.index) if moves and own else ()
    return found


def at_rest(joint: Joint, offset: Floats) -> Floats:
    """Return the pose (7,) of a link in its parent with its joint at the value of `ref`, mostly 0."""
    rest = rest_of(joint)
    return poses.compose(offset, displacement(joint, rest)) if rest else offset


def ball_starts(body: Body, indices: Sequence[int]) -> set[int]:
    """Return the first of each three links of a body that were read from a ball joint."""
    found: set[int] = set()
    for index in indices:
        three = body.links[index : index + 3]
        ball, *others = (mjcf_values(link.joint.extra).get("ball") for link in three)
        if (
            index + 2 in indices
            and not found & {index - 1, index - 2}
            and isinstance(ball, Mapping)
            and all(other == ball for other in others)
            and all(link.joint.type == "rotate" for link in three)
            and all(np.array_equal(link.joint.axis, axis) for link, axis in zip(three, np.eye(3), strict=True))
            and not any(link.offset[:3].any() for link in three[1:])
        ):
            found.add(index)
    return found


def in_last_frame(body: Body, ahead: tuple[int, ...], last: int) -> tuple[Floats, list[tuple[Floats, Floats]]]:
    """Return the pose (7,) of the last link in the parent of the first one, at `ref`, and the anchor and axis of each joint.

    Anchor (3,) [m], the point that a joint rotates about, and axis (3,) are in the last link's frame.
    """
    whole = poses.IDENTITY
    anchors_and_axes: list[tuple[Floats, Floats]] = []
    for index in (last, *reversed(ahead)):
        joint = body.links[index].joint
        back = poses.inverse(whole)
        anchors_and_axes.insert(0, (back[:3], rotations.rotate(back[3:], joint.axis)))
        whole = poses.compose(at_rest(joint, body.links[index].offset), whole)
    return whole, anchors_and_axes


INERTIA_MARGIN = 1e-6  # Part of the largest moment by which a tensor must satisfy MuJoCo's conditions to be written as it is (fullinertia).
MIN_MOMENT = 1e-13  # [kg m²] MuJoCo refuses fullinertia with a principal moment below 1e-14, but not diaginertia.


def accepted_body(body: Body, *, strict: bool) -> tuple[Body, tuple[Problem, ...]]:
    """Return the body as MuJoCo accepts it, and what was changed. Links that are written in the body of others need no mass.

    Raises
    ------
    FormatError
        When MuJoCo refuses a link and `strict`; the message names all such links.
    """
    within = {index for ahead in chains(body).values() for index in ahead}
    found = [one for one in inertias.faults(body, asymmetric=False) if one.link not in within]
    if not found:
        return body, ()
    if not strict:
        return inertias.repaired(body)
    messages = "; ".join(f"{body.links[one.link].name or one.link}: {one.message}" for one in found)
    count = "one link" if len(found) == 1 else f"{len(found)} links"
    raise REFUSED.error(f"MuJoCo refuses {count}: {messages}", Location(inside=f"links[{found[0].link}]"))


def write_inertial(element: Element, link: Link, problems: Diagnostics) -> None:
    """Add the <inertial> of a link to its body, as exactly as MuJoCo accepts it.

    Moments close to what MuJoCo refuses (a flat body: a + b = c) are written along their axes, the smallest one raised by the
    rounding error.
    """
    mass, tensor = link.mass, link.inertia
    if mass < inertias.MIN_INERTIAL and inertias.fault(1.0, tensor) is not None:
        # Links without mass need no inertia in MuJoCo.
        if tensor.any():
            message = f"link {link.name} has an impossible inertia and no mass: the inertia is left out"
            problems.add(losses.INERTIA_CHANGED.problem(message, Location(inside=f"links[{link.index}]")))
        tensor = np.zeros((3, 3))
    if mass == 0 and not tensor.any() and not link.center_of_mass.any():
        return
    if not np.array_equal(tensor, tensor.T):
        if np.abs(tensor - tensor.T).max() > 1e-6 * np.abs(tensor).max():
            message = f"the inertia of link {link.name} is not symmetric: its symmetric part is written"
            problems.add(losses.INERTIA_CHANGED.problem(message, Location(inside=f"links[{link.index}]")))
        tensor = 0.5 * tensor + 0.5 * tensor.T
    attributes = {"pos": number_text(link.center_of_mass), "mass": number_text(mass)}
    moments, axes = inertias.principal_moments(tensor)
    minimum, middle, most = moments.tolist()
    if minimum > INERTIA_MARGIN * most and minimum + middle > most * (1.0 + INERTIA_MARGIN) and minimum > MIN_MOMENT:
        six = (tensor[0, 0], tensor[1, 1], tensor[2, 2], tensor[0, 1], tensor[0, 2], tensor[1, 2])
        element.add("inertial", {**attributes, "fullinertia": number_text(six)})
        return
    if not (tensor - np.diag(np.diag(tensor))).any():
        element.add("inertial", {**attributes, "diaginertia": number_text(_raised(np.diag(tensor)))})
        return
    rotation = number_text(rotations.from_matrix(axes))
    element.add("inertial", {**attributes, "quat": rotation, "diaginertia": number_text(_raised(moments))})


def _raised(moments: Floats) -> Floats:
    """Return moments with the smallest one raised until MuJoCo's test without tolerance holds: a + b ≥ c."""
    lifted = np.maximum(moments, 0.0)
    a, b, c = np.argsort(lifted).tolist()
    if lifted[a] + lifted[b] < lifted[c]:
        lifted[a] = lifted[c] - lifted[b]
        while lifted[a] + lifted[b] < lifted[c]:
            lifted[a] = math.nextafter(lifted[a], math.inf)
    return lifted


class LinkWriter:
    """Writes the links of one body; losses are added to `problems`.

    `elements` are the elements of the links, `joint_names` the names of their joints, both by link index.
    """

    def __init__(self, output: Output, geoms: GeomWriter) -> None:
        self.body, self.names, self.kept, self.problems = output.body, output.names, output.kept, output.problems
        self.geoms = geoms
        self.elements: dict[int, Element] = {}
        self.joint_names: dict[int, str] = {}
        messages = mjcf_values(self.body.extra).get("bodies")
        of_bodies = messages.items() if isinstance(messages, Mapping) else ()
        self._of_bodies = {key: of for key, of in of_bodies if isinstance(of, Mapping)}
        """Attributes and lights that only MJCF has, by the names of links."""
        self._chains = chains(self.body)
        self._within = {index for ahead in self._chains.values() for index in ahead}
        self._count = 0
        """Joints with a value so far: the id that the reader gives to the next one."""

    def write(self, link: Link, world: Element) -> None:
        """Add a link to the body of its parent, or to the world; links come in link order."""
        if link.index in self._within:
            return
        if link.index == 0 and _is_world(self.body):
            self.elements[0] = world
            self.geoms.write(world, link, "world")
            _lights(world, self._of_bodies.get(link.name, {}))
            return
        body, ahead = self.body, self._chains.get(link.index, ())
        name = self.names.free("body", link.name, f"link_{link.index}")
        first = body.links[ahead[0]] if ahead else link
        parent = world if first.parent < 0 else self.elements[first.parent]
        pose = body.root_pose if link.parent < 0 else link.offset
        if not np.linalg.norm(pose[3:]) > 1e-9:
            # MuJoCo refuses a quaternion of zero.
            pose = np.array([*pose[:3], 1.0, 0.0, 0.0, 0.0])
        values: dict[str, object] = {}
        if name != link.name:
            values["name"] = link.name
        if not same(pose, link.offset):
            values["offset"] = link.offset
        if ahead:
            pose, anchors_and_axes = in_last_frame(body, ahead, link.index)
        elif rest_of(link.joint) and link.parent >= 0:
            pose = at_rest(link.joint, pose)
        of_body = self._of_bodies.get(link.name, {})
        attributes = {k: v for k, v in attributes_of(of_body.get("body")).items() if k not in ("name", "pos", "quat")}
        element = self.elements[link.index] = parent.add("body", {"name": name, **pose_attributes(pose), **attributes})
        if ahead:
            balls = ball_starts(body, (*ahead, link.index))
            for index, (anchor, axis) in zip((*ahead, link.index), anchors_and_axes, strict=True):
                if index in balls:
                    self._ball(body.links[index : index + 3], element, anchor, values)
                if any(index in range(start, start + 3) for start in balls):
                    continue
                joint = self._joint(body.links[index], element, body.links[index].name, values, chain=True)
                if joint is not None:
                    joint.attributes |= {"pos": number_text(anchor), "axis": number_text(axis)}
        else:
            self._joint(link, element, name, values)
        _lights(element, of_body)
        write_inertial(element, link, self.problems)
        self._segments(link, values, complete=self.geoms.write(element, link, name))
        self.kept.add("link", name, values)

    def _joint(
        self, link: Link, element: Element, name: str, values: dict[str, object], chain: bool = False
    ) -> Element | None:
        joint_name = self.names.free("joint", link.joint.name, name)
        at_top = link.parent < 0 or (link.parent == 0 and self.elements[0].name == "worldbody")
        joint = joint_element(link, joint_name, self.problems, top=at_top)
        if joint is None:
            self.names.release("joint", joint_name)
        else:
            element.children.append(joint)
            self.joint_names[link.index] = joint_name
        read_back = plain_joint(joint, link.name, self._count)
        self._count += joint is not None and joint.name == "joint"
        of_joint = kept_of_joint(link.joint, read_back)
        if of_joint and not chain:
            values["joint"] = of_joint
        elif of_joint and joint is not None:
            values.setdefault("joints", {})[joint_name] = of_joint  # type: ignore[index]
        return joint

    def _ball(self, links: Sequence[Link], element: Element, anchor: Floats, values: dict[str, object]) -> None:
        values_of_ball = attributes_of(mjcf_values(links[0].joint.extra).get("ball"))
        name = self.names.free("joint", values_of_ball.get("name", ""), "ball")
        ball = element.add("joint", {**values_of_ball, "name": name, "type": "ball", "pos": number_text(anchor)})
        attributes = {k: v for k, v in ball.attributes.items() if k not in ("name", "type", "pos")}
        for link, read_back in zip(links, ball_parts(name, attributes), strict=True):
            self.joint_names[link.index] = name
            of_joint = kept_of_joint(link.joint, replace(read_back, id=self._count))
            self._count += 1
            if of_joint:
                values.setdefault("joints", {})[read_back.name] = of_joint  # type: ignore[index]

    def _segments(self, link: Link, values: dict[str, object], *, complete: bool) -> None:
        """Keep the segments of a link; they can be separated read_back where all of their shapes are written (`complete`)."""
        if len(link.segments) == 1 and np.array_equal(link.segments[0].transform, np.eye(4)):
            segment = link.segments[0]
            extra = {key: value for key, value in segment.extra.items() if key != "mjcf"}
            kept = {key: value for key, value in (("name", segment.name), ("extra", extra)) if value}
            if kept != {"name": link.name}:
                values["segment"] = kept
            if not segment.mass and not segment.inertia.any() and not (segment.visuals or segment.collisions):
                values["segment"] = {**kept, "empty": True}
            return
        counts = [(len(segment.visuals), len(segment.collisions)) for segment in link.segments]
        entry = json_of_segments(link, counts) if complete else None
        if entry:
            extras = ({"extra": segment.extra} if segment.extra else {} for segment in link.segments)
            values["segments"] = [{**one, **extra} for one, extra in zip(entry, extras, strict=True)]
        elif link.segments:
            message = f"the {len(link.segments)} segments of link {link.name} are written as one, in the link's frame"
            self.problems.add(losses.SEGMENTS.problem(message, Location(inside=f"links[{link.index}]")))


def _lights(element: Element, values: Mapping[str, object]) -> None:
    """Add the lights that a body was read with, but not those with a target, which may be gone."""
    attributes = values.get("lights")
    for light in attributes if isinstance(attributes, (list, tuple)) else []:
        attributes = attributes_of(light)
        if attributes.pop("element", "") == "light" and "target" not in attributes:
            element.add("light", attributes)


def _is_world(body: Body) -> bool:
    """Return whether the root is the world of the MJCF file that the body was read from."""
    root = body.links[0]
    return (
        body.source.format == "mjcf"
        and root.name == "world"
        and root.joint == Joint(name="world")
        and root.mass == 0
        and np.array_equal(root.offset, poses.IDENTITY)
        and np.array_equal(body.root_pose, poses.IDENTITY)
    )
