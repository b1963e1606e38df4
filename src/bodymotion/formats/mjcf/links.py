"""Writing links as bodies.

MuJoCo accepts no moving body without mass, but a body may have several joints. So where
a body was read from MJCF, links without mass, shapes or devices that carry one other
link are written into the body of that link. So are those of a planar joint of URDF.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from bodymotion.diagnostics import Diagnostics, Location, Problem, losses
from bodymotion.formats.kept_json import (
    PLANAR_JOINTS,
    attributes_of,
    json_of_segments,
    mjcf_values,
)
from bodymotion.formats.mjcf.bodies import FLOATS_IN, IS_ROOT
from bodymotion.formats.mjcf.defaults import Item, Settings
from bodymotion.formats.mjcf.extra import attributes_of_bodies
from bodymotion.formats.mjcf.geom_writer import GeomWriter, pose_attributes
from bodymotion.formats.mjcf.joints import (
    WRITTEN_TYPES,
    at_rest,
    ball_parts,
    ball_starts,
    joint_element,
    kept_of_joint,
    read_joints,
)
from bodymotion.formats.mjcf.names import Output
from bodymotion.formats.mjcf.rules import REFUSED
from bodymotion.formats.xml.tree import Element, number_text
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats, same
from bodymotion.model import inertias
from bodymotion.model.body import Body
from bodymotion.model.links import Joint, Link, floats_in_world

# Part of the largest moment by which a tensor must satisfy MuJoCo's conditions. Closer
# ones are written along their axes instead of as they are (fullinertia).
INERTIA_MARGIN = 1e-6
# [kg m²] MuJoCo refuses fullinertia with a principal moment below 1e-14. It accepts
# such a one in diaginertia.
MIN_MOMENT = 1e-13
# Relative difference up to which an inertia is symmetric but for rounding.
SYMMETRY_TOLERANCE = 1e-6
# A shorter quaternion is no rotation.
MIN_QUATERNION = 1e-9


def chains(body: Body) -> dict[int, tuple[int, ...]]:
    """Return the links that are written in the body of another one.

    By index of that one, in order from the parent.
    """
    planar = body.extra.get(PLANAR_JOINTS)
    # A planar joint of URDF is three links: two slides and a rotation.
    below_planar = set(planar) if isinstance(planar, Mapping) else set()
    is_mjcf = body.source.format == "mjcf"
    if not is_mjcf and not below_planar:
        return {}
    removable = _removable_links(body)
    found: dict[int, tuple[int, ...]] = {}
    ahead: tuple[int, ...] = ()
    for link in body.links:
        moves = link.parent >= 0 and link.joint.type in ("rotate", "slide")
        is_removable = link.index in removable
        if is_mjcf:
            # A chain ends with a link that has content, and moves in it or is fixed.
            is_end = not is_removable and (moves or link.joint.type == "fixed")
            if ahead and is_end:
                found[link.index] = ahead
        elif link.name in below_planar and moves and len(ahead) >= 2:
            # Of a URDF, the two links of a planar joint only.
            found[link.index] = ahead[-2:]
            is_removable = False
        ahead = (*ahead, link.index) if moves and is_removable else ()
    return found


def _links_within(chains_of_links: Mapping[int, tuple[int, ...]]) -> set[int]:
    """Return the links that are written in the body of another one."""
    return set().union(*chains_of_links.values())


def _removable_links(body: Body) -> set[int]:
    """Return the links without content that carry the next link and no other."""
    children: dict[int, list[int]] = {}
    for link in body.links:
        children.setdefault(link.parent, []).append(link.index)
    # A link with a device or the end of a loop needs a body of its own.
    used = {device.link for device in body.devices}
    for joint in body.extra_joints:
        used |= set(joint.links)
    return {
        link.index
        for link in body.links
        if not link.segments
        and link.index not in used
        and children.get(link.index) == [link.index + 1]
    }


class Frame(NamedTuple):
    """Anchor (3,) [m] and axis (3,) of a joint, in the frame of a link."""

    anchor: Floats
    axis: Floats


class Chain(NamedTuple):
    """Several joints of one body.

    Attributes
    ----------
    pose:
        (7,) That of the last link in the parent of the first one, at `ref`.
    joints:
        By link, the anchor and axis of its joint in the last link's frame.
    """

    pose: Floats
    joints: dict[int, Frame]


def in_last_frame(body: Body, links: Sequence[int]) -> Chain:
    """Return the joints of several links as those of the last one."""
    pose = poses.IDENTITY
    frames: dict[int, Frame] = {}
    # From the last link to the first: `pose` is that of the last link in link `index`.
    for index in reversed(links):
        joint = body.links[index].joint
        back = poses.inverse(pose)
        frames[index] = Frame(back[:3], rotations.rotate(back[3:], joint.axis))
        pose = poses.compose(at_rest(joint, body.links[index].offset), pose)
    return Chain(pose, {index: frames[index] for index in links})


def accepted_body(body: Body, *, strict: bool) -> tuple[Body, tuple[Problem, ...]]:
    """Return the body as MuJoCo accepts it, and what was changed.

    Links that are written in the body of others need no mass. Raises FormatError when
    MuJoCo refuses a link and `strict`; the message names all such links.
    """
    within = _links_within(chains(body))
    faults = [
        fault
        for fault in inertias.faults(body, asymmetric=False)
        if fault.link not in within
    ]
    if not faults:
        return body, ()
    if not strict:
        return inertias.repaired(body)
    messages = "; ".join(
        f"{body.links[fault.link].name or fault.link}: {fault.message}"
        for fault in faults
    )
    count = "one link" if len(faults) == 1 else f"{len(faults)} links"
    location = Location(inside=f"links[{faults[0].link}]")
    raise REFUSED.error(f"MuJoCo refuses {count}: {messages}", location)


def write_inertial(element: Element, link: Link, problems: Diagnostics) -> None:
    """Add the <inertial> of a link to its body.

    It is as exact as MuJoCo accepts it.

    Moments close to what MuJoCo refuses (a flat body: a + b = c) are written along
    their axes, the smallest one raised by the rounding error.
    """
    mass = link.mass
    tensor = _written_tensor(link, problems)
    if mass == 0 and not tensor.any() and not link.center_of_mass.any():
        return
    attributes = {"pos": number_text(link.center_of_mass), "mass": number_text(mass)}
    moments, axes = inertias.principal_moments(tensor)
    smallest, middle, largest = moments.tolist()
    # MuJoCo computes the eigenvalues of fullinertia, and refuses the result where
    # rounding breaks a + b ≥ c. So fullinertia is only for tensors far from that limit.
    is_large = smallest > INERTIA_MARGIN * largest and smallest > MIN_MOMENT
    is_diagonal = not (tensor - np.diag(np.diag(tensor))).any()
    if is_large and smallest + middle > largest * (1.0 + INERTIA_MARGIN):
        # MuJoCo's order: xx yy zz xy xz yz.
        rows = [0, 1, 2, 0, 0, 1]
        columns = [0, 1, 2, 1, 2, 2]
        attributes["fullinertia"] = number_text(tensor[rows, columns])
    elif is_diagonal:
        attributes["diaginertia"] = number_text(_raised(np.diag(tensor)))
    else:
        attributes["quat"] = number_text(rotations.from_matrix(axes))
        attributes["diaginertia"] = number_text(_raised(moments))
    element.add("inertial", attributes)


def _written_tensor(link: Link, problems: Diagnostics) -> Floats:
    """Return the symmetric inertia (3, 3) of a link.

    Zero where MuJoCo needs none.
    """
    tensor = link.inertia
    location = Location(inside=f"links[{link.index}]")
    is_light = link.mass < inertias.MIN_INERTIAL
    if is_light and inertias.fault(1.0, tensor) is not None:
        # Links without mass need no inertia in MuJoCo.
        if tensor.any():
            message = (
                f"link {link.name} has an impossible inertia and no mass: the inertia "
                "is left out"
            )
            problems.add(losses.INERTIA_CHANGED.problem(message, location))
        return np.zeros((3, 3))
    if np.array_equal(tensor, tensor.T):
        return tensor
    skew = np.abs(tensor - tensor.T).max()
    if skew > SYMMETRY_TOLERANCE * np.abs(tensor).max():
        message = (
            f"the inertia of link {link.name} is not symmetric: its symmetric part is "
            "written"
        )
        problems.add(losses.INERTIA_CHANGED.problem(message, location))
    return np.asarray(0.5 * tensor + 0.5 * tensor.T)


def _raised(moments: Floats) -> Floats:
    """Return moments with the smallest one raised to what MuJoCo accepts.

    Its test, a + b ≥ c, has no tolerance: a sum may be too small by rounding.
    """
    lifted = np.maximum(moments, 0.0)
    # Indices of the smallest, middle and largest moment.
    a, b, c = np.argsort(lifted).tolist()
    if lifted[a] + lifted[b] >= lifted[c]:
        return lifted
    lifted[a] = lifted[c] - lifted[b]
    # c − b may round down: the next larger numbers follow until the sum is enough.
    while lifted[a] + lifted[b] < lifted[c]:
        lifted[a] = math.nextafter(lifted[a], math.inf)
    return lifted


class LinkWriter:
    """Writes the links of one body; losses are added to `problems`.

    `elements` are the elements of the links, `joint_names` the names of their joints,
    both by link index.
    """

    def __init__(self, output: Output, geoms: GeomWriter) -> None:
        """Find the links whose joints are written in the body of another link."""
        self.body = output.body
        self.names = output.names
        self.kept = output.kept
        self.problems = output.problems
        self.renamed = output.renamed
        self.geoms = geoms
        self.elements: dict[int, Element] = {}
        self.joint_names: dict[int, str] = {}
        self._attributes = attributes_of_bodies(self.body)
        self._chains = chains(self.body)
        self._within = _links_within(self._chains)
        self._count = 0
        """Joints with a value so far: the id that the reader gives to the next one."""

    def write(self, link: Link, world: Element) -> None:
        """Add a link to the body of its parent, or to the world.

        Links come in link order.
        """
        if link.index in self._within:
            return
        if link.index == 0 and _is_world(self.body):
            self._write_world(link, world)
            return
        # Links whose joints are written in the body of this one, from the top.
        chain = (*self._chains.get(link.index, ()), link.index)
        name = self.names.free("body", link.name, f"link_{link.index}")
        self.renamed.add("link", link.name, name)
        values: dict[str, Any] = {}
        if name != link.name:
            values["name"] = link.name
        top = self.body.links[chain[0]]
        parent = world if top.parent < 0 else self.elements[top.parent]
        pose = self._pose(link, parent is world)
        # The offset of a root differs from its pose in the world; <custom> keeps it.
        if not same(pose, link.offset):
            values["offset"] = link.offset
        if parent is not world and floats_in_world(self.body, link.index):
            # MuJoCo has free joints in the world only.
            links = self.body.links
            siblings = [other for other in links if other.parent == link.parent]
            values[FLOATS_IN] = [parent.get("name"), siblings.index(link)]
            parent = world
        element = parent.add("body", {"name": name})
        self.elements[link.index] = element
        if len(chain) > 1:
            joints = in_last_frame(self.body, chain)
            pose = joints.pose
            self._write_chain(joints, element, values)
        else:
            if link.parent >= 0:
                pose = at_rest(link.joint, pose)
            self._write_joint(link, element, name, values)
        element.attributes |= pose_attributes(pose)
        element.attributes |= self._attributes.get(link.name, {})
        write_inertial(element, link, self.problems)
        complete = self.geoms.write(element, link, name)
        self._keep_segments(link, values, complete=complete)
        self.kept.add("link", name, values)

    def _write_world(self, link: Link, world: Element) -> None:
        """Write the root link as the world."""
        self.elements[0] = world
        self.geoms.write(world, link, "world")
        children = [each for each in self.body.links if each.parent == 0]
        # The reader takes the world for the root if it has several bodies, or one that
        # moves.
        if len(children) == 1 and children[0].joint.type not in WRITTEN_TYPES:
            self.kept.add("link", "world", {IS_ROOT: True})

    def _pose(self, link: Link, is_in_world: bool) -> Floats:
        """Return the pose (7,) of a link in its parent, or in the world."""
        pose = link.offset
        if link.parent < 0:
            pose = self.body.root_pose
        # A free link is written in the world where it is with all joints at 0.
        if not is_in_world and floats_in_world(self.body, link.index):
            at_zero = self.body.forward_kinematics(np.zeros(self.body.num_joints))
            pose = at_zero[link.index]
        if np.linalg.norm(pose[3:]) > MIN_QUATERNION:
            return pose
        # MuJoCo refuses a quaternion of zero.
        return np.array([*pose[:3], 1.0, 0.0, 0.0, 0.0])

    def _write_chain(
        self, chain: Chain, element: Element, values: dict[str, Any]
    ) -> None:
        """Write the joints of several links into one body."""
        links = self.body.links
        balls = ball_starts(self.body, tuple(chain.joints))
        for index, frame in chain.joints.items():
            if index in balls:
                self._write_ball(
                    links[index : index + 3], element, frame.anchor, values
                )
            # The second and third link of a ball are in its <joint> already.
            if balls & {index, index - 1, index - 2}:
                continue
            name = links[index].name
            joint = self._write_joint(links[index], element, name, values, chain=True)
            if joint is not None:
                joint.attributes["pos"] = number_text(frame.anchor)
                joint.attributes["axis"] = number_text(frame.axis)

    def _write_joint(
        self,
        link: Link,
        element: Element,
        name: str,
        values: dict[str, Any],
        chain: bool = False,
    ) -> Element | None:
        """Add the joint of a link to a body.

        What it does not hold is added to `values`.
        """
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
            settings = Settings(angle=1.0)
            read_back = read_joints([Item(joint, None, "")], settings)[0].joint
            # The reader numbers the joints that have a value: an id that follows this
            # is not kept.
            if read_back.type != "free":
                read_back = replace(read_back, id=self._count)
            self._count += joint.name == "joint"
        of_joint = kept_of_joint(link.joint, read_back)
        # `values["joints"]` of several by name, `values["joint"]` of the only one.
        if of_joint and not chain:
            values["joint"] = of_joint
        elif of_joint and joint is not None:
            values.setdefault("joints", {})[joint_name] = of_joint
        return joint

    def _write_ball(
        self,
        links: Sequence[Link],
        element: Element,
        anchor: Floats,
        values: dict[str, Any],
    ) -> None:
        """Write the joints of three links as the ball joint that they were."""
        attributes = attributes_of(mjcf_values(links[0].joint.extra).get("ball"))
        original = attributes.pop("name", "")
        name = self.names.free("joint", original, "ball")
        self.renamed.add("joint", original, name)
        position = {"type": "ball", "pos": number_text(anchor)}
        element.add("joint", {"name": name, **attributes, **position})
        others = {key: text for key, text in attributes.items() if key not in position}
        for link, read_back in zip(links, ball_parts(name, others), strict=True):
            self.joint_names[link.index] = name
            of_joint = kept_of_joint(link.joint, replace(read_back, id=self._count))
            self._count += 1
            if of_joint:
                values.setdefault("joints", {})[read_back.name] = of_joint

    def _keep_segments(
        self, link: Link, values: dict[str, Any], *, complete: bool
    ) -> None:
        """Keep the segments of a link.

        They can be separated again where all of their shapes are written (`complete`).
        """
        segments = link.segments
        if not segments:
            return
        # One segment in the frame of the link is what the reader makes of a body.
        if len(segments) == 1 and np.array_equal(segments[0].transform, np.eye(4)):
            self._keep_segment(link, values)
            return
        entries = None
        if complete:
            counts = [(len(each.visuals), len(each.collisions)) for each in segments]
            entries = json_of_segments(link, counts)
        if entries is None:
            message = (
                f"the {len(segments)} segments of link {link.name} are written as one, "
                "in the link's frame"
            )
            location = Location(inside=f"links[{link.index}]")
            self.problems.add(losses.SEGMENTS.problem(message, location))
            return
        for entry, segment in zip(entries, segments, strict=True):
            if segment.extra:
                entry["extra"] = segment.extra
        values["segments"] = entries

    def _keep_segment(self, link: Link, values: dict[str, Any]) -> None:
        """Keep what the body does not hold of the only segment."""
        (segment,) = link.segments
        extra = {key: value for key, value in segment.extra.items() if key != "mjcf"}
        kept: dict[str, object] = {}
        if segment.name:
            kept["name"] = segment.name
        if extra:
            kept["extra"] = extra
        has_mass = segment.mass or segment.inertia.any()
        is_empty = not (has_mass or segment.visuals or segment.collisions)
        if is_empty:
            values["segment"] = {**kept, "empty": True}
        elif kept != {"name": link.name}:
            values["segment"] = kept


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
