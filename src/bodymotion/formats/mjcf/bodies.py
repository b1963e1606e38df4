"""The bodies of a model with their joints and masses.

Read as links, depth-first in the order of the file, and written.

MuJoCo accepts no moving body without mass, but a body may have several joints. So where
a body was read from MJCF, links without mass, shapes or devices that carry one other
link are written into the body of that link. So are those of a planar joint of URDF.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np

from bodymotion.diagnostics import (
    Diagnostics,
    Location,
    Problem,
    Rule,
    Severity,
    losses,
)
from bodymotion.formats.kept_json import (
    PLANAR_JOINTS,
    attributes_of,
    differences,
    dynamic_values,
    json_of_segments,
    mjcf_values,
    separate_segments,
    usable,
)
from bodymotion.formats.mjcf import rules
from bodymotion.formats.mjcf.defaults import Defaults, Item, Settings, contents, pose
from bodymotion.formats.mjcf.extra import body_extras, in_body_frame
from bodymotion.formats.mjcf.geoms import (
    SCENE,
    Geom,
    Geoms,
    GeomWriter,
    geom_rules,
    mass_of_geoms,
    pose_attributes,
    read_mass,
    settled,
)
from bodymotion.formats.mjcf.names import NOT_READ, Kept, Output, finite
from bodymotion.formats.mjcf.rules import REFUSED
from bodymotion.formats.rules import TOO_LARGE
from bodymotion.formats.xml.syntax import closest_name
from bodymotion.formats.xml.tree import Element, number_text
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats, frozen, same
from bodymotion.geometry.shapes import Shape
from bodymotion.model import inertias
from bodymotion.model.body import Body
from bodymotion.model.links import (
    MAX_LINKS,
    Joint,
    JointType,
    Link,
    Segment,
    armature,
    first_number,
    floats_in_world,
)
from bodymotion.model.rules import NO_LINKS, REVERSED_LIMITS

MAX_ID = 9999
IS_ROOT = "is_root"
"""Key of what <custom> keeps of the world.

Whether it is the root link, though it has one body that has no joint, or is free.
"""
FLOATS_IN = "floats_in"
"""Key of what <custom> keeps of a free link.

The body that it is a child of, and its place among the children.
"""
_PLACED = ("name", "class", "type", "pos", "axis")
DYNAMICS = ("damping", "stiffness", "frictionloss", "springref", "margin")
"""Attributes that a Joint has no field for, kept in `extra` under their names, in rad or m."""
_FIELDS = frozenset((*_PLACED, "range", "limited", "armature", "ref", *DYNAMICS))

TYPES = {"hinge": "rotate", "slide": "slide", "ball": "ball", "free": "free"}
WRITTEN_TYPES = {"rotate": "hinge", "slide": "slide"}
NOT_SUPPORTED = {
    "free": "is free below a link that moves",
    "crawler": "moves a belt",
}
"""Joints that become fixed."""
INERTIA_MARGIN = 1e-6  # Part of the largest moment by which a tensor must satisfy MuJoCo's conditions to be written as it is (fullinertia).
MIN_MOMENT = 1e-13  # [kg m²] MuJoCo refuses fullinertia with a principal moment below 1e-14, but not diaginertia.


@dataclass
class RawLink:
    """A link, and the elements of its body that are read later.

    Sites and cameras, with the frames around them.
    """

    name: str
    parent: int
    joint: Joint
    offset: Floats
    element: Element
    segments: tuple[Segment, ...] = ()
    items: list[Item] = field(default_factory=list)
    joint_element: Element | None = None
    inertial: Element | None = None
    mass_unknown: bool = False
    """Whether the mass is that of geoms of which one could not be read, or of a link that stands for one of several joints of a body."""
    name_unknown: bool = False
    """Whether the name is another one's (MJCF107)."""
    rest: float = 0.0


@dataclass
class Tree:
    """Reads the bodies of a model as links, in order."""

    settings: Settings
    defaults: Defaults
    geoms: Geoms
    kept: Kept
    links: list[RawLink] = field(default_factory=list)
    of_body: dict[str, int] = field(default_factory=dict)
    """By the name of a body in the file, the index of the link with its frame."""
    root_pose: Floats = field(default_factory=lambda: poses.IDENTITY)
    left_out: set[str] = field(default_factory=set)
    """Names of bodies and sites of the file that are not a part of the robot."""
    of_world: list[dict[str, object]] = field(default_factory=list)
    """Shapes, sites, cameras and lights of the world where it is no link, as plain data."""
    of_bodies: dict[str, dict[str, object]] = field(default_factory=dict)
    """What bodies have besides joints, mass, shapes and devices, by the names of their links."""
    scenery: list[Shape] = field(default_factory=list)
    """Visual shapes of bodies that are left out, in the world."""
    floating: dict[str, list[tuple[int, Item]]] = field(default_factory=dict)
    """By the name of a body, the free bodies that are its children, with their places among these."""
    has_body: bool = False
    _names: set[str] = field(default_factory=set)
    _number: int = 0

    def read(self, root: Element) -> None:
        """Read the links of a model."""
        inside = [
            child for element in root.all("worldbody") for child in element.children
        ]
        world = replace(next(root.all("worldbody"), root), children=inside)
        items = list(contents(world, "", self.settings, self.defaults))
        tops = [item for item in items if item.element.name == "body"]
        own = [item for item in items if item.element.name != "body"]
        if "motors" in self.kept.get("body", ""):
            own = [item for item in own if item.element.get("name") not in SCENE]
        self.has_body = bool(tops) or any(item.element.name == "geom" for item in own)
        if not self.has_body:
            world.report(
                NO_LINKS, "the world has no body; expected at least one", fatal=True
            )
        tops = self._robot(self._separate_floating(tops))
        is_marked = bool(self.kept.get("link", "world").get(IS_ROOT))
        has_one_body = len(tops) == 1 and set(self._joints(tops[0])) <= {"free"}
        body_is_root = has_one_body and not is_marked
        if body_is_root:
            others = [
                item
                for item in own
                if item.element.name in ("geom", "site", "camera", "light")
            ]
            if any(item.element.name != "light" for item in others):
                world.report(
                    rules.WORLD_SHAPES,
                    "shapes, sites and cameras of the world are kept as plain data",
                )
            self.of_world = [self._plain(item) for item in others]
            self._bodies([(tops[0], -1)])
        else:
            if tops and not has_one_body:
                if len(tops) > 1:
                    what = f"{len(tops)} bodies"
                else:
                    what = "a body with a joint that is not free"
                world.report(
                    rules.WORLD, f"the world has {what}: it is read as the root link"
                )
            link = RawLink("world", -1, Joint(name="world"), poses.IDENTITY, world)
            self._names.add("world")
            self.links.append(link)
            self.of_body["world"] = 0
            self._fill(link, own, "world", {}, moving=False)
            self._bodies([(item, 0) for item in tops])

    def _plain(self, item: Item) -> dict[str, object]:
        """Return an element of the world as plain data.

        Instead of a geom's material its colour.
        """
        values = in_body_frame(item, self.settings)
        if item.element.name == "geom":
            material = self.geoms.material(item.element)
            values.pop("material", None)
            values["rgba"] = number_text(
                [*material.diffuse, 1.0 - material.transparency]
            )
        return values

    def _robot(self, tops: list[Item]) -> list[Item]:
        """Return the bodies of the world that are read.

        The robot is the body with the most joints. If it is free, the others are left
        out, because a Body has one free root. Otherwise all are read.
        """
        free = [top for top in tops if "free" in self._joints(top)]
        if len(tops) < 2 or not free:
            return tops
        sizes = [_count_joints(top.element) for top in tops]
        most = max(sizes)
        largest = [
            top
            for top, size in zip(tops, sizes, strict=True)
            if size == most and top in free
        ]
        if len(largest) != 1:
            return tops
        others = [top for top in tops if top is not largest[0]]
        named = ", ".join(repr(top.element.get("name")) for top in others)
        robot = largest[0].element.get("name")
        reason = f"which is free and has the most joints ({most})"
        message = f"the world has {len(tops)} bodies: only {robot!r:.60} is read, {reason}, without {named:.200}"
        others[0].element.report(rules.OTHER_BODIES, message)
        self.left_out |= {
            element.get("name")
            for top in others
            for element in top.element.every()
            if element.name in ("body", "site")
        }
        self.scenery = [shape for top in others for shape in self._shapes(top)]
        return largest

    def _shapes(self, top: Item) -> Iterator[Shape]:
        """Return the visual shapes of a body and of those in it, in the world."""
        stack = [(top, poses.IDENTITY)]
        while stack:
            item, above = stack.pop()
            element = item.element
            at_rest = poses.compose(above, item.placed(pose(element, self.settings)))
            childclass = self._childclass(item)
            for inner in contents(element, childclass, self.settings, self.defaults):
                if inner.element.name == "body":
                    stack.append((inner, at_rest))
                if inner.element.name != "geom":
                    continue
                geom = self.geoms.read(inner)
                if geom is not None and geom.visual:
                    yield geom.shape.moved(poses.to_matrix(at_rest))

    def _childclass(self, item: Item) -> str:
        if not item.element.get("childclass"):
            return item.childclass
        return self.defaults.known(item.element, "childclass")

    def _separate_floating(self, tops: list[Item]) -> list[Item]:
        """Return the bodies that are children of the world.

        Those that float in another body are added when it is read.
        """
        found: list[Item] = []
        for top in tops:
            name = top.element.get("name")
            if name:
                entry = self.kept.get("link", name).get(FLOATS_IN)
            else:
                entry = None
            match entry:
                case [str() as above, int() as place]:
                    self.floating.setdefault(above, []).append((place, top))
                case _:
                    found.append(top)
        inside = {
            element.get("name")
            for top in found
            for element in top.element.every()
            if element.name == "body"
        }
        for above in self.floating.keys() - inside:
            found += [top for _, top in self.floating.pop(above)]
        return found

    def _joints(self, top: Item) -> list[str]:
        inside = contents(top.element, top.childclass, self.settings, self.defaults)
        elements = [
            item.element
            for item in inside
            if item.element.name in ("joint", "freejoint")
        ]
        return [
            "free" if element.name == "freejoint" else element.get("type", "hinge")
            for element in elements
        ]

    def _bodies(self, todo: list[tuple[Item, int]]) -> None:
        stack = todo[::-1]
        while stack:
            item, parent = stack.pop()
            element = item.element
            childclass = self._childclass(item)
            inside = list(contents(element, childclass, self.settings, self.defaults))
            if (
                len(self.links)
                + max(sum(inner.element.name == "joint" for inner in inside), 1)
                > MAX_LINKS
            ):
                raise TOO_LARGE.error(
                    f"the model has more than {MAX_LINKS} links", element.location
                )
            index = self._body(item, parent, inside)
            children = [inner for inner in inside if inner.element.name == "body"]
            for place, floating in self.floating.get(element.get("name"), ()):
                children.insert(place, floating)
            stack += [(inner, index) for inner in reversed(children)]

    def _body(self, item: Item, parent: int, inside: list[Item]) -> int:
        """Add the links of one body and return the index of the last, which has the body's frame, mass and shapes."""
        element = item.element
        in_file = element.get("name")
        if in_file:
            kept_values = self.kept.get("link", in_file)
        else:
            kept_values = {}
        kept_name = kept_values.get("name")
        if isinstance(kept_name, str):
            name = kept_name
        else:
            name = in_file or self._free(f"link_{len(self.links)}")
        body_pose = item.placed(pose(element, self.settings))
        joints = read_joints(
            [i for i in inside if i.element.name in ("joint", "freejoint")],
            self.settings,
        )
        free = next((read for read in joints if read.joint.type == "free"), None)
        if free is not None and len(joints) > 1:
            free.element.report(
                rules.FREE,
                f"body {name!r:.60} has a free joint and other joints",
                fatal=True,
            )
            free.element.faulty |= {"type"}
            joints = [free]
        floating = self.floating.get(self._name_of(parent), ())
        floats = any(item is other for _, other in floating)
        if floats:
            body_pose = self._in_parent(parent, body_pose, kept_values)
        if (
            free is not None
            and parent >= 0
            and not floats
            and (parent > 0 or self.links[0].element.name != "worldbody")
        ):
            free.element.report(
                rules.FREE,
                f"body {name!r:.60} has a free joint inside of another body",
                fatal=True,
            )
            free.element.faulty |= {"type"}
        chain = self._chain(joints, body_pose, name, element)
        if len(chain) > 1:
            message = f"body {name!r:.60} is read as the links {', '.join(repr(link.name) for link in chain)}"
            element.report(rules.SEVERAL_JOINTS, message[:300])
        link = chain[-1]
        of_chain = kept_values.get("joints")
        if len(chain) == 1:
            link.joint = with_kept(link.joint, kept_values.get("joint"))
        elif isinstance(of_chain, dict):
            for each in chain:
                each.joint = with_kept(each.joint, of_chain.get(each.joint.name))
        if parent < 0:
            self.root_pose = chain[0].offset
            link.offset = usable(Link(), kept_values).get("offset", link.offset)
        for each in chain:
            each.parent = parent
            each.mass_unknown = each is not link
            self.links.append(each)
            parent = len(self.links) - 1
        if in_file:
            if in_file in self.of_body:
                element.report(
                    rules.SAME_NAME, f"a second body has the name {in_file!r:.60}"
                )
                link.name_unknown = True
            self.of_body.setdefault(in_file, parent)
        self._fill(link, inside, name, kept_values)
        return parent

    def _name_of(self, index: int) -> str:
        if index >= 0:
            return self.links[index].element.get("name")
        return ""

    def _in_parent(
        self, parent: int, body_pose: Floats, kept: dict[str, object]
    ) -> Floats:
        """Return the pose (7,) of a free body in the link that it is a child of, to the bit where nothing has moved."""
        at_rest = poses.IDENTITY
        index = parent
        while index >= 0:
            at_rest = poses.compose(self.links[index].offset, at_rest)
            index = self.links[index].parent
        if self.links[0].element.name != "worldbody":
            root_pose = poses.inverse(self.links[0].offset)
            at_rest = poses.compose(poses.compose(self.root_pose, root_pose), at_rest)
        found = poses.compose(poses.inverse(at_rest), body_pose)
        offset = usable(Link(), kept).get("offset", found)
        return offset if np.allclose(offset, found, rtol=0, atol=1e-9) else found

    def _chain(
        self, joints: list[JointRead], body_pose: Floats, name: str, element: Element
    ) -> list[RawLink]:
        """Return the links of a body with these joints.

        Each rotates about its anchor, and the last has the body's frame.
        """
        chain: list[RawLink] = []
        before = body_pose
        at = np.zeros(3)
        for number, read in enumerate(joints):
            step = read.anchor - at
            if step.any():
                offset = poses.compose(before, [*step, 1.0, 0.0, 0.0, 0.0])
            else:
                offset = before
            if read.rest:
                offset = poses.compose(offset, displacement(read.joint, -read.rest))
            last = number == len(joints) - 1 and not read.anchor.any()
            if last:
                own = name
            else:
                own = self._free(f"{name}_{read.joint.name or number}")
            self._names.add(own)
            if read.joint.name:
                joint = read.joint
            else:
                joint = replace(read.joint, name=own)
            if joint.type in ("rotate", "slide"):
                joint = replace(joint, id=self._number)
                self._number += 1
            chain.append(
                RawLink(
                    own,
                    -1,
                    joint,
                    frozen(offset),
                    element,
                    joint_element=read.element,
                    rest=read.rest,
                )
            )
            before = poses.IDENTITY
            at = read.anchor
        if at.any() or not joints:
            self._names.add(name)
            if joints:
                back = np.array([*-at, 1.0, 0.0, 0.0, 0.0])
            else:
                back = body_pose
            chain.append(RawLink(name, -1, Joint(name=name), frozen(back), element))
        return chain

    def _free(self, wanted: str) -> str:
        name = wanted
        number = 2
        while name in self._names:
            name = f"{wanted}_{number}"
            number = number + 1
        self._names.add(name)
        return name

    def _fill(
        self,
        link: RawLink,
        inside: list[Item],
        name: str,
        kept: dict[str, object],
        *,
        moving: bool = True,
    ) -> None:
        of_kind: dict[str, list[Item]] = {}
        geoms: list[Geom] = []
        for item in inside:
            kind = item.element.name
            of_kind.setdefault(kind, []).append(item)
            if kind == "geom" and (geom := self.geoms.read(item)) is not None:
                geoms.append(geom)
            elif kind in ("site", "camera"):
                link.items.append(item)
            elif kind in NOT_READ:
                item.element.report(rules.NOT_READ, f"<{kind}> is left out")
        inertial = next(iter(of_kind.get("inertial", [])[-1:]), None)
        mass = Segment()
        if moving:
            link.inertial = None if inertial is None else inertial.element
            settings = self.settings.of(link.element)
            wanted = settings.inertiafromgeom
            of_geoms = wanted == "true" or (wanted == "auto" and inertial is None)
            if of_geoms:
                mass = mass_of_geoms(geoms, settings)
            elif inertial is not None:
                mass = read_mass(inertial, self.settings)
            mass = settled(mass, settings)
            link.mass_unknown = of_geoms and any(
                item.element.faulty for item in of_kind.get("geom", [])
            )
        visuals = tuple(geom.shape for geom in geoms if geom.visual)
        collisions = tuple(geom.shape for geom in geoms if geom.collision)
        if moving:
            own_element = link.element
        else:
            own_element = replace(link.element, attributes={})
        of_it = body_extras(own_element, of_kind.get("light", []), self.settings)
        if of_it:
            self.of_bodies[link.name] = of_it
        own = kept.get("segment")
        segment = replace(
            mass,
            name="" if isinstance(own, dict) else name,
            visuals=visuals,
            collisions=collisions,
        )
        values = usable(
            segment,
            own,
            skip=(
                "transform",
                "mass",
                "center_of_mass",
                "inertia",
                "visuals",
                "collisions",
            ),
        )
        rules_of_geoms = geom_rules(geoms)
        extra = {
            **values.pop("extra", {}),
            **({"mjcf": {"geoms": rules_of_geoms}} if rules_of_geoms else {}),
        }
        segment = replace(segment, **values, extra=extra)
        parts = None
        with suppress(TypeError, ValueError, OverflowError):
            parts = separate_segments(kept.get("segments"), segment)
        there = (
            isinstance(own, dict)
            or mass.mass
            or mass.inertia.any()
            or visuals
            or collisions
        )
        link.segments = parts or ((segment,) if there else ())


def _count_joints(body: Element) -> int:
    """Return the number of joints of a body and of those in it, without free ones."""
    return sum(
        1
        for element in body.every()
        if element.name == "joint" and element.get("type") != "free"
    )


def displacement(joint: Joint, value: float) -> Floats:
    """Return the pose (7,) by which a joint that rotates or slides moves its link at a value."""
    if joint.type == "slide":
        return poses.from_parts(value * joint.axis, rotations.IDENTITY)
    return poses.from_parts(np.zeros(3), rotations.from_axis_angle(joint.axis, value))


def ball_parts(name: str, attributes: dict[str, str]) -> list[Joint]:
    """Return the three joints that a ball joint is read as.

    Each keeps the attributes of the ball joint.
    """
    extra = {"mjcf": {"ball": {"name": name, **attributes}}}
    return [
        Joint(
            name=f"{name or 'ball'}_{letter}",
            type="rotate",
            axis=frozen(axis),
            extra=extra,
        )
        for letter, axis in zip("xyz", np.eye(3), strict=True)
    ]


@dataclass(frozen=True)
class JointRead:
    """A joint of one value.

    Attributes
    ----------
    anchor:
        (3,) [m] The point that it rotates about, in the body's frame.
    rest:
        [rad or m] Its value where the body has the pose of the file (`ref`).
    """

    joint: Joint
    anchor: Floats
    rest: float
    element: Element


def read_joints(items: list[Item], settings: Settings) -> list[JointRead]:
    """Return the joints of a body in the order in which they move it.

    Three for a ball joint.
    """
    found: list[JointRead] = []
    for item in items:
        element = item.element
        if element.name == "freejoint":
            kind = "free"
        else:
            kind = element.get("type", "hinge")
        if kind not in TYPES:
            message = (
                f"a joint has the type {kind!r:.60}; expected one of {', '.join(TYPES)}"
            )
            element.report(rules.JOINT_TYPE, message, "type", fatal=True)
            meant = closest_name(kind, ("hinge", "slide"))
            if meant is not None:
                element.faulty -= {"type"}
            kind = meant or "hinge"
        name = element.get("name")
        if kind == "free":
            # A <freejoint> has no defaults; <joint type="free"> has, and may be damped.
            own = {
                k: v
                for k, v in element.attributes.items()
                if k not in ("name", "class", "pos", "axis")
            }
            joint = Joint(name=name, type="free", extra={"mjcf": own} if own else {})
            found.append(JointRead(joint, np.zeros(3), 0.0, element))
            continue
        anchor = finite(element, "pos", 3, (0.0, 0.0, 0.0))
        if item.frame is not None:
            anchor = poses.transform_points(item.frame, anchor)
        if kind == "ball":
            element.report(
                rules.BALL, f"joint {name!r:.60} is a ball: it is read as three joints"
            )
            own = {
                k: v
                for k, v in element.attributes.items()
                if k not in (*_PLACED, "ref")
            }
            if "range" in own:
                angle = settings.of(element).angle
                limits = np.array(element.numbers("range", 2))
                own["range"] = number_text(limits * angle)
            found += [
                JointRead(part, anchor, 0.0, element) for part in ball_parts(name, own)
            ]
            continue
        found.append(
            _of_one_value(
                item, "rotate" if kind == "hinge" else "slide", anchor, settings
            )
        )
    return found


def _of_one_value(
    item: Item, kind: JointType, anchor: Floats, settings: Settings
) -> JointRead:
    element = item.element
    settings = settings.of(element)
    unit = settings.angle if kind == "rotate" else 1.0
    axis = finite(element, "axis", 3, (0.0, 0.0, 1.0))
    length = np.linalg.norm(axis)
    if not abs(length - 1.0) <= 1e-12:
        # One of length 1 is kept to the bit.
        if length < 1e-10:
            axis = np.zeros(3)
        else:
            axis = axis / length
    if item.frame is not None:
        axis = rotations.rotate(rotations.normalized(item.frame[3:]), axis)
    lower, upper = _limits(element, unit, settings)
    extra: dict[str, object] = {}
    for key in DYNAMICS:
        if key in element.attributes:
            numbers = element.numbers(key)
            # The margin is no angle for MuJoCo's compiler, whatever its unit.
            if key == "springref":
                value = [number * unit for number in numbers]
            else:
                value = list(numbers)
            extra[key] = value[0] if len(value) == 1 else value
    # What only MJCF has is kept as text.
    only_mjcf = {
        key: value for key, value in element.attributes.items() if key not in _FIELDS
    }
    if ref := element.number("ref", 0.0) * unit:
        only_mjcf["ref"] = number_text(ref)
    if "actuatorfrcrange" in element.attributes:
        forces = element.numbers("actuatorfrcrange", 2)
    else:
        forces = (0.0, 0.0)
    if forces[0] < forces[1] and element.get("actuatorfrclimited", "auto") != "false":
        extra["joint_effort_range"] = list(forces)
    if only_mjcf:
        extra["mjcf"] = only_mjcf
    joint = Joint(
        name=element.get("name"),
        type=kind,
        axis=frozen(axis),
        lower=lower,
        upper=upper,
        rotor_inertia=element.number("armature", 0.0),
        extra=extra,
    )
    return JointRead(
        joint, anchor, float(finite(element, "ref", 1, (0.0,))[0]) * unit, element
    )


def _limits(element: Element, unit: float, settings: Settings) -> tuple[float, float]:
    """Return the limits that apply.

    Those of range, where limited is "true", or "auto" and the compiler has autolimits.
    """
    low, high = element.numbers("range", 2, (0.0, 0.0))
    limited = element.get("limited", "auto")
    if limited not in ("true", "false", "auto"):
        element.wrong(
            f"limited of <joint> is {limited!r:.60}; expected true, false or auto",
            "limited",
        )
    if low > high:
        message = f"the range of joint {element.get('name')!r:.60} is {low:g} {high:g}; expected the lower limit first"
        hint = 'MuJoCo refuses the model where limited="true", and ignores the range elsewhere; swap the limits if they are exchanged'
        data = {"lower": low * unit, "upper": high * unit}
        severity: Severity | None = "error" if limited == "true" else None
        element.report(
            REVERSED_LIMITS, message, "range", hint=hint, severity=severity, data=data
        )
        if limited == "true":
            element.faulty |= {"range"}
    # MuJoCo ignores a range in reverse order.
    if (
        low >= high
        or limited == "false"
        or (limited == "auto" and not settings.autolimits)
    ):
        return -np.inf, np.inf
    return low * unit, high * unit


def with_kept(joint: Joint, kept: object) -> Joint:
    """Return a joint with the fields that <custom> keeps of it.

    Armature in the <joint> itself takes precedence.
    """
    if not isinstance(kept, dict):
        return joint
    values = usable(
        joint, kept, skip=() if joint.type in ("fixed", "free") else ("type",)
    )
    if not -1 <= values.get("id", -1) <= MAX_ID:
        del values["id"]
    if "extra" in values:
        without = kept.get("without")
        if isinstance(without, list):
            gone = {key for key in without if isinstance(key, str)}
        else:
            gone = set()
        values["extra"] = {
            **values["extra"],
            **{key: value for key, value in joint.extra.items() if key not in gone},
        }
    inertia = armature(joint)
    if joint.lower > -np.inf or joint.upper < np.inf:
        for name in ("lower", "upper"):
            if name in values and abs(values[name] - getattr(joint, name)) > 1e-9:
                del values[name]
    whole = replace(joint, **values)
    is_other = armature(whole) >= 0 and not np.isclose(
        armature(whole), inertia, rtol=1e-9, atol=0.0
    )
    if joint.type in ("rotate", "slide") and is_other:
        gear = whole.gear_ratio or 1.0
        extra = {
            key: value
            for key, value in whole.extra.items()
            if key != "equivalentInertia"
        }
        whole = replace(whole, rotor_inertia=inertia / gear**2, extra=extra)
    return whole


def joint_element(
    link: Link, name: str, problems: Diagnostics, *, top: bool
) -> Element | None:
    """Return the joint of a link, which may be in the world (`top`).

    None where it is fixed to its parent. Losses go to `problems`.
    """
    joint = link.joint

    def lose(rule: Rule, message: str) -> None:
        problems.add(rule.problem(message, Location(inside=f"links[{link.index}]")))

    if link.parent < 0 or (top and joint.type == "free"):
        if joint.type != "free":
            return None
        own = attributes_of(
            {k: v for k, v in mjcf_values(joint.extra).items() if k != "name"}
        )
        return Element(
            "joint" if own.get("type") == "free" else "freejoint", {"name": name, **own}
        )
    kind = joint.type
    if kind in NOT_SUPPORTED:
        reason = "MuJoCo has no such joint"
        if kind == "free":
            reason = "MuJoCo has free joints only in the world"
        what = f"joint {joint.name} {NOT_SUPPORTED[kind]}; {reason}"
        lose(losses.JOINT_KIND, f"{what}: it is written as fixed")
    if joint.type not in WRITTEN_TYPES:
        return None
    only_mjcf = mjcf_values(joint.extra)
    if "ball" in only_mjcf:
        which = f"joint {joint.name} was a part of a ball joint whose other parts were removed"
        lose(losses.JOINT_KIND, f"{which}: it is written as a hinge")
    attributes = {
        "name": name,
        "type": WRITTEN_TYPES[joint.type],
        "axis": number_text(joint.axis),
    }
    if not np.linalg.norm(joint.axis) > 1e-12:
        attributes["axis"] = "0 0 1"
        lose(
            losses.EFFECT,
            f"joint {joint.name} has the axis 0 0 0: it is written as 0 0 1",
        )
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
    extra: dict[str, object] = {
        "frictionloss": joint.extra.get("friction"),
        **dynamic_values(joint.extra),
    }
    for key in DYNAMICS:
        value = extra.get(key)
        if value is None:
            continue
        try:
            numbers = np.atleast_1d(np.asarray(value, dtype=np.float64))
        except (TypeError, ValueError):
            numbers = np.array([np.nan])
        if key == "springref":
            minimum = -np.inf
        else:
            minimum = 0.0
        if (
            numbers.ndim == 1
            and len(numbers)
            and np.isfinite(numbers).all()
            and (numbers >= minimum).all()
        ):
            attributes[key] = number_text(numbers)
        else:
            what = f"{key} of joint {joint.name} is {value!r:.60}, which MuJoCo refuses"
            lose(losses.EFFECT, f"{what}: it is left out")
    attributes |= attributes_of(
        {
            k: v
            for k, v in only_mjcf.items()
            if k not in ("ball", "type", "pos", *attributes)
        }
    )
    return Element("joint", attributes)


def rest_of(joint: Joint) -> float:
    """Return the value of a joint where the body has the pose of the file (`ref`)."""
    rest = first_number(mjcf_values(joint.extra), "ref") or 0.0
    if np.isfinite(rest) and joint.type in WRITTEN_TYPES:
        return rest
    return 0.0


def joint_limits(joint: Joint) -> tuple[float, float] | None:
    """Return the limits of a joint for MuJoCo.

    None where there are none.

    MuJoCo ignores equal limits: the upper one is then the next larger number.
    """
    lower = joint.lower
    upper = joint.upper
    if (
        np.isnan([lower, upper]).any()
        or lower > upper
        or not np.isfinite([lower, upper]).any()
    ):
        return None
    return lower, float(np.nextafter(upper, np.inf)) if lower == upper else upper


def kept_of_joint(joint: Joint, read_back: Joint) -> dict[str, object]:
    """Return the fields of a joint that differ from those that the reader makes of the element."""
    found = differences(joint, read_back, skip=("extra",))
    # Values under "mjcf" are written as attributes.
    ours = joint.extra
    theirs = read_back.extra
    equal = {
        "mjcf",
        *(key for key in ours if key in theirs and same(ours[key], theirs[key])),
    }
    if not ours.keys() | theirs.keys() <= equal:
        found["extra"] = {key: value for key, value in ours.items() if key not in equal}
    if without := [key for key in theirs if key not in equal]:
        found["without"] = without
    return found


def chains(body: Body) -> dict[int, tuple[int, ...]]:
    """Return the links that are written in the body of another one.

    By index of that one, in order from the parent.
    """
    planar = body.extra.get(PLANAR_JOINTS)
    if isinstance(planar, Mapping):
        below_planar = set(planar)
    else:
        below_planar = set()
    if body.source.format != "mjcf" and not below_planar:
        return {}
    children: dict[int, list[int]] = {}
    for link in body.links:
        children.setdefault(link.parent, []).append(link.index)
    used = {device.link for device in body.devices} | {
        end for joint in body.extra_joints for end in joint.links
    }
    found: dict[int, tuple[int, ...]] = {}
    ahead: tuple[int, ...] = ()
    for link in body.links:
        moves = link.parent >= 0 and link.joint.type in ("rotate", "slide")
        own = (
            not link.segments
            and link.index not in used
            and children.get(link.index) == [link.index + 1]
        )
        if body.source.format != "mjcf":
            # Of a URDF, the two links of a planar joint only.
            if link.name in below_planar and moves and len(ahead) >= 2:
                found[link.index] = ahead[-2:]
                own = False
        elif ahead and not own and (moves or link.joint.type == "fixed"):
            found[link.index] = ahead
        if moves and own:
            ahead = (*ahead, link.index)
        else:
            ahead = ()
    return found


def at_rest(joint: Joint, offset: Floats) -> Floats:
    """Return the pose (7,) of a link in its parent with its joint at the value of `ref`, mostly 0."""
    rest = rest_of(joint)
    if rest:
        return poses.compose(offset, displacement(joint, rest))
    return offset


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
            and all(
                np.array_equal(link.joint.axis, axis)
                for link, axis in zip(three, np.eye(3), strict=True)
            )
            and not any(link.offset[:3].any() for link in three[1:])
        ):
            found.add(index)
    return found


def in_last_frame(
    body: Body, ahead: tuple[int, ...], last: int
) -> tuple[Floats, list[tuple[Floats, Floats]]]:
    """Return the pose (7,) of the last link in the parent of the first one, at `ref`, and the anchor and axis of each joint.

    Anchor (3,) [m], the point that a joint rotates about, and axis (3,) are in the last
    link's frame.
    """
    whole = poses.IDENTITY
    anchors_and_axes: list[tuple[Floats, Floats]] = []
    for index in (last, *reversed(ahead)):
        joint = body.links[index].joint
        back = poses.inverse(whole)
        anchors_and_axes.insert(0, (back[:3], rotations.rotate(back[3:], joint.axis)))
        whole = poses.compose(at_rest(joint, body.links[index].offset), whole)
    return whole, anchors_and_axes


def accepted_body(body: Body, *, strict: bool) -> tuple[Body, tuple[Problem, ...]]:
    """Return the body as MuJoCo accepts it, and what was changed.

    Links that are written in the body of others need no mass.

    Raises FormatError when MuJoCo refuses a link and `strict`; the message names all
    such links.
    """
    within = {index for ahead in chains(body).values() for index in ahead}
    found = [
        one for one in inertias.faults(body, asymmetric=False) if one.link not in within
    ]
    if not found:
        return body, ()
    if not strict:
        return inertias.repaired(body)
    messages = "; ".join(
        f"{body.links[one.link].name or one.link}: {one.message}" for one in found
    )
    if len(found) == 1:
        count = "one link"
    else:
        count = f"{len(found)} links"
    raise REFUSED.error(
        f"MuJoCo refuses {count}: {messages}",
        Location(inside=f"links[{found[0].link}]"),
    )


def write_inertial(element: Element, link: Link, problems: Diagnostics) -> None:
    """Add the <inertial> of a link to its body, as exactly as MuJoCo accepts it.

    Moments close to what MuJoCo refuses (a flat body: a + b = c) are written along
    their axes, the smallest one raised by the rounding error.
    """
    mass = link.mass
    tensor = link.inertia
    if mass < inertias.MIN_INERTIAL and inertias.fault(1.0, tensor) is not None:
        # Links without mass need no inertia in MuJoCo.
        if tensor.any():
            message = f"link {link.name} has an impossible inertia and no mass: the inertia is left out"
            problems.add(
                losses.INERTIA_CHANGED.problem(
                    message, Location(inside=f"links[{link.index}]")
                )
            )
        tensor = np.zeros((3, 3))
    if mass == 0 and not tensor.any() and not link.center_of_mass.any():
        return
    if not np.array_equal(tensor, tensor.T):
        if np.abs(tensor - tensor.T).max() > 1e-6 * np.abs(tensor).max():
            message = f"the inertia of link {link.name} is not symmetric: its symmetric part is written"
            problems.add(
                losses.INERTIA_CHANGED.problem(
                    message, Location(inside=f"links[{link.index}]")
                )
            )
        tensor = 0.5 * tensor + 0.5 * tensor.T
    attributes = {"pos": number_text(link.center_of_mass), "mass": number_text(mass)}
    moments, axes = inertias.principal_moments(tensor)
    minimum, middle, most = moments.tolist()
    if (
        minimum > INERTIA_MARGIN * most
        and minimum + middle > most * (1.0 + INERTIA_MARGIN)
        and minimum > MIN_MOMENT
    ):
        six = (
            tensor[0, 0],
            tensor[1, 1],
            tensor[2, 2],
            tensor[0, 1],
            tensor[0, 2],
            tensor[1, 2],
        )
        element.add("inertial", {**attributes, "fullinertia": number_text(six)})
        return
    if not (tensor - np.diag(np.diag(tensor))).any():
        element.add(
            "inertial",
            {**attributes, "diaginertia": number_text(_raised(np.diag(tensor)))},
        )
        return
    rotation = number_text(rotations.from_matrix(axes))
    element.add(
        "inertial",
        {**attributes, "quat": rotation, "diaginertia": number_text(_raised(moments))},
    )


def _raised(moments: Floats) -> Floats:
    """Return moments with the smallest one raised until MuJoCo's test without tolerance holds.

    A + b ≥ c.
    """
    lifted = np.maximum(moments, 0.0)
    a, b, c = np.argsort(lifted).tolist()
    if lifted[a] + lifted[b] < lifted[c]:
        lifted[a] = lifted[c] - lifted[b]
        while lifted[a] + lifted[b] < lifted[c]:
            lifted[a] = math.nextafter(lifted[a], math.inf)
    return lifted


class LinkWriter:
    """Writes the links of one body; losses are added to `problems`.

    `elements` are the elements of the links, `joint_names` the names of their joints,
    both by link index.
    """

    def __init__(self, output: Output, geoms: GeomWriter) -> None:
        self.body = output.body
        self.names = output.names
        self.kept = output.kept
        self.problems = output.problems
        self.renamed = output.renamed
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
        """Add a link to the body of its parent, or to the world.

        Links come in link order.
        """
        if link.index in self._within:
            return
        if link.index == 0 and _is_world(self.body):
            self.elements[0] = world
            self.geoms.write(world, link, "world")
            children = [each for each in self.body.links if each.parent == 0]
            if len(children) == 1 and children[0].joint.type not in WRITTEN_TYPES:
                self.kept.add("link", "world", {IS_ROOT: True})
            _lights(world, self._of_bodies.get(link.name, {}))
            return
        body = self.body
        ahead = self._chains.get(link.index, ())
        name = self.names.free("body", link.name, f"link_{link.index}")
        self.renamed.add("link", link.name, name)
        if ahead:
            first = body.links[ahead[0]]
        else:
            first = link
        if first.parent < 0:
            parent = world
        else:
            parent = self.elements[first.parent]
        if link.parent < 0:
            pose = body.root_pose
        else:
            pose = link.offset
        floats = floats_in_world(body, link.index) and parent is not world
        if floats:
            at_zero = body.forward_kinematics(np.zeros(body.num_joints))
            pose = at_zero[link.index]
        if not np.linalg.norm(pose[3:]) > 1e-9:
            # MuJoCo refuses a quaternion of zero.
            pose = np.array([*pose[:3], 1.0, 0.0, 0.0, 0.0])
        values: dict[str, object] = {}
        if name != link.name:
            values["name"] = link.name
        if not same(pose, link.offset):
            values["offset"] = link.offset
        if floats:
            siblings = [other for other in body.links if other.parent == link.parent]
            place = siblings.index(link)
            values[FLOATS_IN] = [parent.get("name"), place]
            parent = world
        if ahead:
            pose, anchors_and_axes = in_last_frame(body, ahead, link.index)
        elif rest_of(link.joint) and link.parent >= 0:
            pose = at_rest(link.joint, pose)
        of_body = self._of_bodies.get(link.name, {})
        attributes = {
            k: v
            for k, v in attributes_of(of_body.get("body")).items()
            if k not in ("name", "pos", "quat")
        }
        element = self.elements[link.index] = parent.add(
            "body", {"name": name, **pose_attributes(pose), **attributes}
        )
        if ahead:
            balls = ball_starts(body, (*ahead, link.index))
            for index, (anchor, axis) in zip(
                (*ahead, link.index), anchors_and_axes, strict=True
            ):
                if index in balls:
                    self._ball(body.links[index : index + 3], element, anchor, values)
                if any(index in range(start, start + 3) for start in balls):
                    continue
                joint = self._joint(
                    body.links[index],
                    element,
                    body.links[index].name,
                    values,
                    chain=True,
                )
                if joint is not None:
                    joint.attributes |= {
                        "pos": number_text(anchor),
                        "axis": number_text(axis),
                    }
        else:
            self._joint(link, element, name, values)
        _lights(element, of_body)
        write_inertial(element, link, self.problems)
        self._segments(link, values, complete=self.geoms.write(element, link, name))
        self.kept.add("link", name, values)

    def _joint(
        self,
        link: Link,
        element: Element,
        name: str,
        values: dict[str, object],
        chain: bool = False,
    ) -> Element | None:
        joint_name = self.names.free("joint", link.joint.name, name)
        at_top = link.parent < 0 or floats_in_world(self.body, link.index)
        joint = joint_element(link, joint_name, self.problems, top=at_top)
        read_back = Joint(name=link.name)
        if joint is None:
            self.names.release("joint", joint_name)
        else:
            element.children.append(joint)
            self.joint_names[link.index] = joint_name
            self.renamed.add("joint", link.joint.name, joint_name)
            # As the reader makes it of the element, with angles in radians.
            read_back = read_joints([Item(joint, None, "")], Settings(angle=1.0))[
                0
            ].joint
            if read_back.type != "free":
                read_back = replace(read_back, id=self._count)
            self._count += joint.name == "joint"
        of_joint = kept_of_joint(link.joint, read_back)
        if of_joint and not chain:
            values["joint"] = of_joint
        elif of_joint and joint is not None:
            values.setdefault("joints", {})[joint_name] = of_joint  # type: ignore[index]
        return joint

    def _ball(
        self,
        links: Sequence[Link],
        element: Element,
        anchor: Floats,
        values: dict[str, object],
    ) -> None:
        values_of_ball = attributes_of(mjcf_values(links[0].joint.extra).get("ball"))
        ball_name = values_of_ball.get("name", "")
        name = self.names.free("joint", ball_name, "ball")
        self.renamed.add("joint", ball_name, name)
        ball = element.add(
            "joint",
            {
                **values_of_ball,
                "name": name,
                "type": "ball",
                "pos": number_text(anchor),
            },
        )
        attributes = {
            k: v for k, v in ball.attributes.items() if k not in ("name", "type", "pos")
        }
        for link, read_back in zip(links, ball_parts(name, attributes), strict=True):
            self.joint_names[link.index] = name
            of_joint = kept_of_joint(link.joint, replace(read_back, id=self._count))
            self._count += 1
            if of_joint:
                values.setdefault("joints", {})[read_back.name] = of_joint  # type: ignore[index]

    def _segments(
        self, link: Link, values: dict[str, object], *, complete: bool
    ) -> None:
        """Keep the segments of a link.

        They can be separated read_back where all of their shapes are written
        (`complete`).
        """
        if len(link.segments) == 1 and np.array_equal(
            link.segments[0].transform, np.eye(4)
        ):
            segment = link.segments[0]
            extra = {
                key: value for key, value in segment.extra.items() if key != "mjcf"
            }
            kept = {
                key: value
                for key, value in (("name", segment.name), ("extra", extra))
                if value
            }
            if kept != {"name": link.name}:
                values["segment"] = kept
            if (
                not segment.mass
                and not segment.inertia.any()
                and not (segment.visuals or segment.collisions)
            ):
                values["segment"] = {**kept, "empty": True}
            return
        counts = [
            (len(segment.visuals), len(segment.collisions)) for segment in link.segments
        ]
        if complete:
            entry = json_of_segments(link, counts)
        else:
            entry = None
        if entry:
            extras = (
                {"extra": segment.extra} if segment.extra else {}
                for segment in link.segments
            )
            values["segments"] = [
                {**one, **extra} for one, extra in zip(entry, extras, strict=True)
            ]
        elif link.segments:
            message = f"the {len(link.segments)} segments of link {link.name} are written as one, in the link's frame"
            self.problems.add(
                losses.SEGMENTS.problem(
                    message, Location(inside=f"links[{link.index}]")
                )
            )


def _lights(element: Element, values: Mapping[str, object]) -> None:
    """Add the lights that a body was read with, but not those with a target, which may be missing."""
    attributes = values.get("lights")
    for light in attributes if isinstance(attributes, (list, tuple)) else []:
        attributes = attributes_of(light)
        if attributes.pop("element", "") == "light" and "target" not in attributes:
            element.add("light", attributes)


def _is_world(body: Body) -> bool:
    """Return whether the root is the world.

    That of an MJCF file, or one of another format without mass and shapes.
    """
    root = body.links[0]
    is_plain = not root.segments and len(body.links) > 1
    return (
        (body.source.format == "mjcf" or is_plain)
        and root.name == "world"
        and root.joint == Joint(name="world")
        and root.mass == 0
        and np.array_equal(root.offset, poses.IDENTITY)
        and np.array_equal(body.root_pose, poses.IDENTITY)
    )
