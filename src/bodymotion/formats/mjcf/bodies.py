"""Reading the bodies of a model, with their joints and masses, as links.

Links are depth-first in the order of the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from bodymotion.formats.kept_json import separate_segments, usable
from bodymotion.formats.mjcf import rules
from bodymotion.formats.mjcf.defaults import Defaults, Item, Settings, contents, pose
from bodymotion.formats.mjcf.extra import body_attributes, in_body_frame
from bodymotion.formats.mjcf.geoms import SCENE, Geom, Geoms, geom_rules
from bodymotion.formats.mjcf.joints import (
    JointRead,
    displacement,
    read_joints,
    with_kept,
)
from bodymotion.formats.mjcf.masses import (
    apply_bounds,
    mass_of_geoms,
    read_mass,
)
from bodymotion.formats.mjcf.names import NOT_READ, Kept
from bodymotion.formats.rules import TOO_LARGE
from bodymotion.formats.xml.tree import Element, number_text
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.geometry.shapes import Shape
from bodymotion.model.links import MAX_LINKS, Joint, Link, Segment
from bodymotion.model.rules import NO_LINKS

# Key of what <custom> keeps of the world. Whether it is the root link, though it has
# one body that has no joint, or is free.
IS_ROOT = "is_root"
# Key of what <custom> keeps of a free link. The body that it is a child of, and its
# place among the children.
FLOATS_IN = "floats_in"
# [m] A free body that is this far from its kept pose was moved in the file.
MOVED = 1e-9


@dataclass
class RawLink:
    """A link, and the elements of its body that are read later.

    Attributes
    ----------
    items:
        Sites and cameras, with the frames around them.
    mass_unknown:
        The mass is that of geoms of which one could not be read, or of a link that
        stands for one of several joints of a body.
    name_unknown:
        The name is another one's (MJCF107).
    rest:
        [rad or m] The value of the joint where the body has the pose of the file.
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
    name_unknown: bool = False
    rest: float = 0.0


class FloatingBody(NamedTuple):
    """A free body that is a child of the world in the file only."""

    place: int
    item: Item


class _Content(NamedTuple):
    """What a body has, by kind."""

    geoms: list[Geom]
    geom_elements: list[Element]
    inertial: Item | None


@dataclass
class Tree:
    """Reads the bodies of a model as links, in order.

    Attributes
    ----------
    of_body:
        By the name of a body in the file, the index of the link with its frame.
    left_out:
        Names of bodies and sites of the file that are not a part of the robot.
    of_world:
        Shapes, sites and cameras of the world where it is no link.
    of_bodies:
        Attributes of bodies that no field holds, by the names of their links.
    scenery:
        Visual shapes of bodies that are left out, in the world.
    floating:
        By the name of a body, the free bodies that are its children.
    """

    settings: Settings
    defaults: Defaults
    geoms: Geoms
    kept: Kept
    links: list[RawLink] = field(default_factory=list)
    of_body: dict[str, int] = field(default_factory=dict)
    root_pose: Floats = field(default_factory=lambda: poses.IDENTITY)
    left_out: set[str] = field(default_factory=set)
    of_world: list[Element] = field(default_factory=list)
    of_bodies: dict[str, dict[str, str]] = field(default_factory=dict)
    scenery: list[Shape] = field(default_factory=list)
    floating: dict[str, list[FloatingBody]] = field(default_factory=dict)
    has_body: bool = False
    _names: set[str] = field(default_factory=set)
    _number: int = 0

    def read(self, root: Element) -> None:
        """Read the links of a model."""
        children = list(root.inside("worldbody"))
        # There may be several <worldbody>, of included files: MuJoCo merges them.
        world = replace(next(root.all("worldbody"), root), children=children)
        items = list(contents(world, "", self.settings, self.defaults))
        bodies = [item for item in items if item.element.name == "body"]
        others = [item for item in items if item.element.name != "body"]
        # In a file of our writer the floor and the light are made, not a part of the
        # robot.
        if "motors" in self.kept.get("body", ""):
            others = [item for item in others if item.element.get("name") not in SCENE]
        has_geom = any(item.element.name == "geom" for item in others)
        self.has_body = bool(bodies) or has_geom
        if not self.has_body:
            message = "the world has no body; expected at least one"
            world.report(NO_LINKS, message, fatal=True)
        bodies = self._robot(self._separate_floating(bodies))
        # One body that is fixed or free is the root itself, unless our writer had a
        # root link "world".
        is_marked = bool(self.kept.get("link", "world").get(IS_ROOT))
        is_one = len(bodies) == 1 and set(self._joint_types(bodies[0])) <= {"free"}
        if is_one and not is_marked:
            self._keep_world(world, others)
            self._read_bodies([(bodies[0], -1)])
            return
        if bodies and not is_one:
            what = "a body with a joint that is not free"
            if len(bodies) > 1:
                what = f"{len(bodies)} bodies"
            message = f"the world has {what}: it is read as the root link"
            world.report(rules.WORLD, message)
        # Otherwise the world is the root, as a Body has one: link 0 is its fixed
        # parent.
        self._add_world(world, others)
        self._read_bodies([(item, 0) for item in bodies])

    def _add_world(self, world: Element, others: list[Item]) -> None:
        """Add the world as the root link."""
        link = RawLink("world", -1, Joint(name="world"), poses.IDENTITY, world)
        self._names.add("world")
        self.links.append(link)
        self.of_body["world"] = 0
        content = self._read_content(link, others)
        self._add_segments(link, content, Segment(), "world", {})

    def _keep_world(self, world: Element, others: list[Item]) -> None:
        """Keep the shapes, sites and cameras of a world that is no link."""
        # A floor or a camera in the world is no part of the robot. The writer puts it
        # back.
        kept = []
        for item in others:
            kind = item.element.name
            if kind in ("geom", "site", "camera"):
                kept.append(item)
            elif kind == "light":
                _report_light(item.element)
        if kept:
            message = "shapes, sites and cameras of the world are kept as XML"
            world.report(rules.WORLD_SHAPES, message)
        self.of_world = [self._kept_element(item) for item in kept]

    def _kept_element(self, item: Item) -> Element:
        """Return an element of the world in the world's frame.

        A geom has the colour of its material in place of the material.
        """
        element = in_body_frame(item, self.settings)
        if element.name == "geom":
            # The material may not be in the file that is written; its colour is.
            material = self.geoms.material(item.element)
            for name in ("material", "rgba"):
                element.attributes.pop(name, None)
            rgba = [*material.diffuse, 1.0 - material.transparency]
            element.attributes["rgba"] = number_text(rgba)
        return element

    def _robot(self, bodies: list[Item]) -> list[Item]:
        """Return the bodies of the world that are read.

        The robot is the body with the most joints. If it is free, the others are left
        out, because a Body has one free root. Otherwise all are read.
        """
        free = [body for body in bodies if "free" in self._joint_types(body)]
        # A scene holds objects beside the robot, which are free as well.
        if len(bodies) < 2 or not free:
            return bodies
        most = max(_count_joints(body.element) for body in bodies)
        largest = [body for body in free if _count_joints(body.element) == most]
        # With two robots of the same number of joints there is no telling which is
        # meant: all are read, below the world.
        if len(largest) != 1:
            return bodies
        others = [body for body in bodies if body is not largest[0]]
        _report_others(largest[0].element, [body.element for body in others], most)
        # Equalities and sensors that name these are left out, but not reported as
        # faults. Their visual shapes are the robot's environment.
        for body in others:
            self.left_out |= _names_in(body.element, ("body", "site"))
            self.scenery += self._shapes(body)
        return largest

    def _shapes(self, body: Item) -> Iterator[Shape]:
        """Return the visual shapes of a body, in the world.

        And those of the bodies in it.
        """
        stack = [(body, poses.IDENTITY)]
        while stack:
            item, above = stack.pop()
            own_pose = item.placed(pose(item.element, self.settings))
            at_rest = poses.compose(above, own_pose)
            for inner in self._contents(item):
                if inner.element.name == "body":
                    stack.append((inner, at_rest))
                if inner.element.name != "geom":
                    continue
                geom = self.geoms.read(inner)
                if geom is not None and geom.visual:
                    yield geom.shape.moved(poses.to_matrix(at_rest))

    def _contents(self, item: Item) -> list[Item]:
        """Return the elements in a body with their defaults."""
        childclass = item.childclass
        if item.element.get("childclass"):
            childclass = self.defaults.known(item.element, "childclass")
        return list(contents(item.element, childclass, self.settings, self.defaults))

    def _separate_floating(self, bodies: list[Item]) -> list[Item]:
        """Return the bodies that are children of the world.

        Those that float in another body are added when it is read.
        """
        fixed: list[Item] = []
        for item in bodies:
            name = item.element.get("name")
            # MuJoCo has free joints in the world only. Our writer puts a free link that
            # is a child of another there and keeps its parent in <custom>.
            entry = self.kept.get("link", name).get(FLOATS_IN) if name else None
            match entry:
                case [str() as above, int() as place]:
                    self.floating.setdefault(above, []).append(
                        FloatingBody(place, item)
                    )
                case _:
                    fixed.append(item)
        inside: set[str] = set()
        for item in fixed:
            inside |= _names_in(item.element, ("body",))
        # The body that a body floats in may have been removed from the file.
        for above in self.floating.keys() - inside:
            fixed += [body.item for body in self.floating.pop(above)]
        return fixed

    def _joint_types(self, body: Item) -> list[str]:
        """Return the types of the joints of a body."""
        types = []
        for item in contents(
            body.element, body.childclass, self.settings, self.defaults
        ):
            if item.element.name == "freejoint":
                types.append("free")
            elif item.element.name == "joint":
                types.append(item.element.get("type", "hinge"))
        return types

    def _read_bodies(self, bodies: list[tuple[Item, int]]) -> None:
        """Read bodies, given with their parents, and all in them."""
        stack = bodies[::-1]
        while stack:
            item, parent = stack.pop()
            element = item.element
            inside = self._contents(item)
            # A body becomes one link for each of its joints, and at least one.
            num_joints = sum(inner.element.name == "joint" for inner in inside)
            if len(self.links) + max(num_joints, 1) > MAX_LINKS:
                message = f"the model has more than {MAX_LINKS} links"
                raise TOO_LARGE.error(message, element.location)
            index = self._read_body(item, parent, inside)
            children = [inner for inner in inside if inner.element.name == "body"]
            # Back among the children at the place that it had: links are in this order.
            for place, floating in self.floating.get(element.get("name"), ()):
                children.insert(place, floating)
            stack += [(inner, index) for inner in reversed(children)]

    def _read_body(self, item: Item, parent: int, inside: list[Item]) -> int:
        """Add the links of one body and return the index of the last.

        It has the body's frame, mass and shapes.
        """
        element = item.element
        name_in_file = element.get("name")
        # What <custom> keeps goes by the name in the file, which may not be the link's
        # own.
        kept = self.kept.get("link", name_in_file) if name_in_file else {}
        name = kept.get("name")
        if not isinstance(name, str):
            name = name_in_file or self._free_name(f"link_{len(self.links)}")
        body_pose = item.placed(pose(element, self.settings))
        floating = self.floating.get(self._name_of(parent), ())
        floats = any(item is body.item for body in floating)
        joints = self._read_joints(inside, name, floats or self._is_in_world(parent))
        if floats:
            body_pose = self._in_parent(parent, body_pose, kept)
        chain = self._chain(joints, body_pose, name, element)
        if len(chain) > 1:
            shown = ", ".join(repr(link.name) for link in chain)
            message = f"body {name!r:.60} is read as the links {shown}"
            element.report(rules.SEVERAL_JOINTS, message[:300])
        # The links before the last one have a joint, but neither mass nor shapes.
        link = chain[-1]
        _add_kept_joints(chain, kept)
        # The pose of the root body is `root_pose`; the offset of the root link is kept
        # apart, because it may differ in other formats.
        if parent < 0:
            self.root_pose = chain[0].offset
            link.offset = usable(Link(), kept).get("offset", link.offset)
        # From here `parent` is the last link that was added.
        for each in chain:
            each.parent = parent
            each.mass_unknown = each is not link
            parent = len(self.links)
            self.links.append(each)
        if name_in_file:
            if name_in_file in self.of_body:
                message = f"a second body has the name {name_in_file!r:.60}"
                element.report(rules.SAME_NAME, message)
                link.name_unknown = True
            self.of_body.setdefault(name_in_file, parent)
        attributes = body_attributes(element)
        if attributes:
            self.of_bodies[link.name] = attributes
        content = self._read_content(link, inside)
        mass = self._read_mass(link, content)
        self._add_segments(link, content, mass, name, kept)
        return parent

    def _is_in_world(self, parent: int) -> bool:
        """Return whether a body with this parent is in the world of the file."""
        if parent < 0:
            return True
        return parent == 0 and self.links[0].element.name == "worldbody"

    def _read_joints(
        self, inside: Sequence[Item], name: str, may_be_free: bool
    ) -> list[JointRead]:
        """Return the joints of the body `name`: one if it is free."""
        items = [item for item in inside if item.element.name in ("joint", "freejoint")]
        joints = read_joints(items, self.settings)
        free = next((read for read in joints if read.joint.type == "free"), None)
        if free is None:
            return joints
        if len(joints) > 1:
            message = f"body {name!r:.60} has a free joint and other joints"
            free.element.report(rules.FREE, message, fatal=True)
            free.element.faulty |= {"type"}
        if not may_be_free:
            message = f"body {name!r:.60} has a free joint inside of another body"
            free.element.report(rules.FREE, message, fatal=True)
            free.element.faulty |= {"type"}
        # MuJoCo allows no joint beside a free one: the others are dropped.
        return [free]

    def _name_of(self, index: int) -> str:
        if index >= 0:
            return self.links[index].element.get("name")
        return ""

    def _in_parent(
        self, parent: int, body_pose: Floats, kept: dict[str, object]
    ) -> Floats:
        """Return the pose (7,) of a free body in its parent.

        To the bit where nothing has moved.
        """
        # The pose of the parent with all joints at 0: the product of the offsets above
        # it.
        at_rest = poses.IDENTITY
        index = parent
        while index >= 0:
            at_rest = poses.compose(self.links[index].offset, at_rest)
            index = self.links[index].parent
        if self.links[0].element.name != "worldbody":
            # The offset of the root may differ from its pose in the world.
            root_pose = poses.inverse(self.links[0].offset)
            at_rest = poses.compose(poses.compose(self.root_pose, root_pose), at_rest)
        in_parent = poses.compose(poses.inverse(at_rest), body_pose)
        # The product rounds. The kept offset is exact, and used unless the file was
        # edited.
        offset: Floats = usable(Link(), kept).get("offset", in_parent)
        return (
            offset if np.allclose(offset, in_parent, rtol=0, atol=MOVED) else in_parent
        )

    def _chain(
        self,
        joints: Sequence[JointRead],
        body_pose: Floats,
        name: str,
        element: Element,
    ) -> list[RawLink]:
        """Return the links of a body with these joints.

        Each rotates about its anchor, and the last has the body's frame.
        """
        chain: list[RawLink] = []
        # The pose of the body in the link before, and the anchor of that link's joint.
        before = body_pose
        anchor = np.zeros(3)
        for number, read in enumerate(joints):
            # All joints of an MJCF body are in the frame of the body, each with its own
            # anchor; a Link rotates about its own origin. So the origin of each link is
            # its anchor.
            step = read.anchor - anchor
            offset = before
            if step.any():
                offset = poses.compose(before, [*step, 1.0, 0.0, 0.0, 0.0])
            # The pose of the file is that at `ref`; the offset is that at 0.
            if read.rest:
                offset = poses.compose(offset, displacement(read.joint, -read.rest))
            # The last joint's link is the body itself, if it rotates about the body's
            # origin.
            is_last = number == len(joints) - 1 and not read.anchor.any()
            link_name = name
            if not is_last:
                link_name = self._free_name(f"{name}_{read.joint.name or number}")
            self._names.add(link_name)
            chain.append(
                RawLink(
                    link_name,
                    -1,
                    self._named_joint(read.joint, link_name),
                    frozen(offset),
                    element,
                    joint_element=read.element,
                    rest=read.rest,
                )
            )
            # All links of a body have the same orientation: after the first only
            # anchors differ.
            before = poses.IDENTITY
            anchor = read.anchor
        # Otherwise a fixed link leads back from the last anchor to the body's frame.
        if joints and not anchor.any():
            return chain
        self._names.add(name)
        offset = body_pose
        if joints:
            offset = np.array([*-anchor, 1.0, 0.0, 0.0, 0.0])
        chain.append(RawLink(name, -1, Joint(name=name), frozen(offset), element))
        return chain

    def _named_joint(self, joint: Joint, name: str) -> Joint:
        """Return a joint with a name and, if it has a value, an id."""
        if not joint.name:
            joint = replace(joint, name=name)
        # The ids are columns of a motion, in the order of MuJoCo's qpos.
        if joint.type in ("rotate", "slide"):
            joint = replace(joint, id=self._number)
            self._number += 1
        return joint

    def _free_name(self, wanted: str) -> str:
        name = wanted
        number = 2
        while name in self._names:
            name = f"{wanted}_{number}"
            number += 1
        self._names.add(name)
        return name

    def _read_content(self, link: RawLink, inside: Sequence[Item]) -> _Content:
        """Read the geoms of a body; add sites and cameras to its link."""
        content = _Content([], [], None)
        for item in inside:
            element = item.element
            kind = element.name
            if kind == "geom":
                content.geom_elements.append(element)
                geom = self.geoms.read(item)
                if geom is not None:
                    content.geoms.append(geom)
            elif kind in ("site", "camera"):
                link.items.append(item)
            elif kind == "inertial":
                content = content._replace(inertial=item)
            elif kind == "light":
                _report_light(element)
            # Joints and bodies are read elsewhere.
            elif kind in NOT_READ:
                element.report(rules.NOT_READ, f"<{kind}> is left out")
        return content

    def _read_mass(self, link: RawLink, content: _Content) -> Segment:
        """Return the mass of a body.

        It is that of its <inertial>, or that of its geoms.
        """
        inertial = content.inertial
        if inertial is not None:
            link.inertial = inertial.element
        # <inertial> takes precedence, unless <compiler inertiafromgeom="true">.
        settings = self.settings.of(link.element)
        wanted = settings.inertiafromgeom
        is_of_geoms = wanted == "true" or (wanted == "auto" and inertial is None)
        mass = Segment()
        if is_of_geoms:
            mass = mass_of_geoms(content.geoms, settings)
            elements = content.geom_elements
            link.mass_unknown = any(element.faulty for element in elements)
        elif inertial is not None:
            mass = read_mass(inertial, self.settings)
        return apply_bounds(mass, settings)

    def _add_segments(
        self,
        link: RawLink,
        content: _Content,
        mass: Segment,
        name: str,
        kept: dict[str, object],
    ) -> None:
        """Add the segment of a link, or those that <custom> keeps of it."""
        of_segment = kept.get("segment")
        # MuJoCo has one mass per body. Segments of the body are in <custom>.
        is_kept = isinstance(of_segment, dict)
        segment = replace(mass, name="" if is_kept else name)
        segment = _with_shapes(segment, content.geoms, of_segment)
        parts = None
        # Where the file was edited, the kept segments do not fit its masses.
        with suppress(TypeError, ValueError, OverflowError):
            parts = separate_segments(kept.get("segments"), segment)
        has_mass = bool(mass.mass) or mass.inertia.any()
        has_content = has_mass or segment.visuals or segment.collisions
        if parts:
            link.segments = parts
        elif is_kept or has_content:
            link.segments = (segment,)


def _with_shapes(segment: Segment, geoms: Sequence[Geom], kept: object) -> Segment:
    """Return a segment with shapes, and with what <custom> keeps of it."""
    values = usable(segment, kept)
    extra = dict(values.get("extra", {}))
    attributes = geom_rules(geoms)
    if attributes:
        extra["mjcf"] = {"geoms": attributes}
    return replace(
        segment,
        name=values.get("name", segment.name),
        visuals=tuple(geom.shape for geom in geoms if geom.visual),
        collisions=tuple(geom.shape for geom in geoms if geom.collision),
        extra=extra,
    )


def _report_others(robot: Element, others: Sequence[Element], num_joints: int) -> None:
    """Report the bodies of the world that are left out."""
    names = ", ".join(repr(body.get("name")) for body in others)
    message = (
        f"the world has {len(others) + 1} bodies: only {robot.get('name')!r:.60} is "
        f"read, which is free and has the most joints ({num_joints}), without "
        f"{names:.200}"
    )
    others[0].report(rules.OTHER_BODIES, message)


def _names_in(body: Element, kinds: tuple[str, ...]) -> set[str]:
    """Return the names of a body and of the elements in it, of these kinds."""
    return {element.get("name") for element in body.every() if element.name in kinds}


def _add_kept_joints(chain: Sequence[RawLink], kept: dict[str, object]) -> None:
    """Add what <custom> keeps of the joints of a body."""
    of_chain = kept.get("joints")
    # One joint is under "joint", several are under "joints" by their names.
    if len(chain) == 1:
        chain[0].joint = with_kept(chain[0].joint, kept.get("joint"))
    elif isinstance(of_chain, dict):
        for link in chain:
            link.joint = with_kept(link.joint, of_chain.get(link.joint.name))


def _report_light(element: Element) -> None:
    element.report(rules.NOT_READ, "<light> is left out", severity="note")


def _count_joints(body: Element) -> int:
    """Return the number of joints in a body, without free ones."""
    return sum(
        element.name == "joint" and element.get("type") != "free"
        for element in body.every()
    )
