"""Extra joints as equality constraints, in both directions.

| type | written as | error |
|---|---|---|
| xyz, ball | `connect` of two sites | none |
| hinge | two `connect`s, `HINGE_ARM` apart along the axis | none |
| xy, piston | the lengths of two tendons to far sites | travel²/2·`FAR_DISTANCE` |
| z | the length of one tendon to a far site | travel²/2·`FAR_DISTANCE` |

Two fixed points fix a line. Far sites are `FAR_DISTANCE` away, along the axis or the
two directions normal to it. A point at a fixed distance from a far one moves on a
sphere, which is nearly a plane.
Nothing else in MuJoCo holds a point in a plane without an additional body.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, get_args

import numpy as np

from bodymotion.diagnostics import Location, losses
from bodymotion.formats.kept_json import attributes_of, mjcf_values, usable
from bodymotion.formats.mjcf import rules
from bodymotion.formats.mjcf.defaults import Defaults
from bodymotion.formats.mjcf.devices import Site
from bodymotion.formats.mjcf.names import Kept, Output, finite
from bodymotion.formats.xml.tree import Element, number_text
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import ExtraJoint, ExtraJointType
from bodymotion.model.closed_loops import constrained_directions, unit_axis

# [m] Length of the tendons that hold a point in a plane.
FAR_DISTANCE = 1000.0
# [m] Distance of the two points of a hinge.
HINGE_ARM = 0.1
# As stiff as MuJoCo's default time step of 2 ms allows. With the default, a loop of a
# few kilograms opens by a millimetre.
STIFF_SOLVER = {"solref": "0.004 1", "solimp": "0.999 0.9999 0.0001"}
# Types whose points are held by <connect>.
HELD_POINTS = ("xyz", "ball", "hinge")
# [m] A site that is this far from its end was moved in the body.
MOVED = 1e-9
# [m] Smaller changes of a distance are rounding errors.
MIN_MOTION = 1e-9
TYPES: tuple[ExtraJointType, ...] = get_args(ExtraJointType)


class LoopWriter:
    """Writes the extra joints of a body.

    `elements` are those of its links, `sites` those of devices, `classes` those of
    defaults.
    """

    def __init__(
        self,
        output: Output,
        elements: dict[int, Element],
        sites: Mapping[str, Site],
        classes: Collection[str],
    ) -> None:
        """Prepare to write the extra joints of the body of `output`."""
        self.body = output.body
        self.names = output.names
        self.kept = output.kept
        self.problems = output.problems
        self.renamed = output.renamed
        self.elements = elements
        self.sites = sites
        self.classes = classes

    def write(self, tendon: Element, equality: Element) -> None:
        """Add the constraints, and the tendons that they need, to sections."""
        for number, joint in enumerate(self.body.extra_joints):
            # A constraint of an MJCF file keeps its attributes, such as solref.
            if not self._write_as_read(joint, equality):
                self._write(joint, number, equality, tendon)

    def _write(
        self, joint: ExtraJoint, number: int, equality: Element, tendon: Element
    ) -> None:
        """Write an extra joint as constraints between new sites."""
        name = self.names.free("equality", joint.name, f"loop_{number}")
        self.renamed.add("extra joint", joint.name, name)
        # Both ends are sites, so that the reader finds them in the frames of their
        # links. An anchor would hold for body1 only.
        sites = [
            self._add_site(joint.links[end], f"{name}_{end + 1}", joint.positions[end])
            for end in (0, 1)
        ]
        self._keep(joint, number, name, sites)
        if joint.links[0] == joint.links[1]:
            link = self.body.links[joint.links[0]].name
            message = (
                f"extra joint {joint.name} holds link {link} to itself, which has no "
                "effect"
            )
            self._report(message, number)
        elif joint.type in HELD_POINTS:
            self._connect(joint, name, sites, equality)
        else:
            self._hold_in_plane(joint, name, sites[1], equality, tendon)
            message = (
                f"extra joint {joint.name} of type {joint.type} is held on a sphere "
                f"with a radius of {FAR_DISTANCE:g} m, as MuJoCo cannot hold points in "
                "a plane: 1 m from its position the difference is "
                f"{0.5 / FAR_DISTANCE:g} m"
            )
            self._report(message, number)

    def _keep(
        self, joint: ExtraJoint, number: int, name: str, sites: Sequence[str]
    ) -> None:
        """Keep what the constraints do not hold of an extra joint."""
        # MJCF holds neither the type nor the axis of a joint of a closed loop.
        values: dict[str, object] = {
            "type": joint.type,
            "axis": joint.axis,
            "order": number,
        }
        if name != joint.name:
            values["name"] = joint.name
        extra = {key: value for key, value in joint.extra.items() if key != "mjcf"}
        if extra:
            values["extra"] = extra
        values["sites"] = sites
        self.kept.add("loop", name, values)

    def _report(self, message: str, number: int) -> None:
        location = Location(inside=f"extra_joints[{number}]")
        self.problems.add(losses.LOOP_NEAREST.problem(message, location))

    def _connect(
        self, joint: ExtraJoint, name: str, sites: Sequence[str], equality: Element
    ) -> None:
        """Hold two points together; for a hinge two more along its axis."""
        ends = {"site1": sites[0], "site2": sites[1]}
        if joint.type != "hinge":
            equality.add("connect", {"name": name, **ends, **STIFF_SOLVER})
            return
        # The axis is the same in both links at rest, so a second pair of points at the
        # same offset holds it.
        arm = HINGE_ARM * unit_axis(joint)
        # Site names end in 1 and 2 for the ends, in 3 and 4 for these.
        on_axis = [
            self._add_site(
                joint.links[end], f"{name}_{end + 3}", joint.positions[end] + arm
            )
            for end in (0, 1)
        ]
        equality.add("connect", {"name": name, **ends, **STIFF_SOLVER})
        ends = {"site1": on_axis[0], "site2": on_axis[1]}
        second = self.names.free("equality", f"{name}_axis")
        equality.add("connect", {"name": second, **ends, **STIFF_SOLVER})

    def _hold_in_plane(
        self,
        joint: ExtraJoint,
        name: str,
        site: str,
        equality: Element,
        tendon: Element,
    ) -> None:
        """Hold the distances of the second point from far points along directions."""
        # (D, 3) Unit vectors in the first link along which the points must not move
        # apart: one for "z", two for "xy" and "piston".
        directions = constrained_directions(joint)
        distances = self._distances(joint, directions)
        are_moved = self._are_moved(joint, directions)
        for number, direction in enumerate(directions):
            position = joint.positions[0] + FAR_DISTANCE * direction
            far = self._add_site(joint.links[0], f"{name}_far{number}", position)
            rope = self.names.free("tendon", f"{name}_{number}")
            spatial = tendon.add("spatial", {"name": rope, "rgba": "0 0 0 0"})
            spatial.add("site", {"site": far})
            spatial.add("site", {"site": site})
            equality_name = name
            if number > 0:
                equality_name = self.names.free("equality", f"{name}_{number}")
            # MuJoCo holds length − length at qpos0 = polycoef[0]. So the length that is
            # held is FAR_DISTANCE, the one with the points in the plane, even where the
            # loop is open at rest.
            offset = FAR_DISTANCE - distances[number]
            attributes = {
                "name": equality_name,
                "tendon1": rope,
                "polycoef": number_text([offset, 0, 0, 0, 0]),
                **STIFF_SOLVER,
            }
            if not are_moved[number]:
                attributes["active"] = "false"
            equality.add("tendon", attributes)

    def _write_as_read(self, joint: ExtraJoint, equality: Element) -> bool:
        """Write a constraint as it was in an MJCF file.

        False where it was read from another format, or has changed.
        """
        attributes = attributes_of(mjcf_values(joint.extra))
        attributes.pop("name", None)
        # <connect> holds a point only: a joint whose type or axis was changed since is
        # written anew.
        plain_axis = ExtraJoint(type="ball").axis
        is_ball = joint.type == "ball" and np.array_equal(joint.axis, plain_axis)
        if not attributes or not is_ball or set(joint.extra) != {"mjcf"}:
            return False
        # A class that the file no longer has would be a fault.
        if attributes.get("class") not in self.classes:
            attributes.pop("class", None)
        if "site1" in attributes:
            names = (attributes["site1"], attributes.get("site2", ""))
            if not self._are_ends(joint, names):
                return False
        else:
            for key, link in zip(("body1", "body2"), joint.links, strict=True):
                attributes[key] = self.elements[link].get("name", "world")
            attributes["anchor"] = number_text(joint.positions[0])
        if joint.name:
            name = self.names.free("equality", joint.name)
            if name != joint.name:
                self.names.release("equality", name)
                return False
            attributes = {"name": name, **attributes}
        equality.add("connect", attributes)
        return True

    def _are_ends(self, joint: ExtraJoint, names: Sequence[str]) -> bool:
        """Return whether sites of these names are at the ends of an extra joint."""
        for name, link, position in zip(
            names, joint.links, joint.positions, strict=True
        ):
            site = self.sites.get(name)
            if site is None or site.link != link:
                return False
            if not np.allclose(site.pose[:3], position, rtol=0, atol=MOVED):
                return False
        return True

    def _add_site(self, link: int, name: str, position: Floats) -> str:
        free = self.names.free("site", name)
        # Group 5 is hidden in MuJoCo's viewer by default.
        attributes = {"name": free, "pos": number_text(position), "group": "5"}
        self.elements[link].add("site", attributes)
        return free

    def _distances(self, joint: ExtraJoint, directions: Floats) -> Floats:
        """Return the distance of the second point from each far one.

        With the joints at 0, the reference of MuJoCo's polynomial.
        """
        at_zero = self.body.forward_kinematics(
            np.zeros(self.body.num_joints), poses.IDENTITY
        )
        first, second = (at_zero[link] for link in joint.links)
        point = poses.transform_points(second, joint.positions[1])
        far_in_link = joint.positions[0] + FAR_DISTANCE * directions
        far = poses.transform_points(first, far_in_link)
        return np.asarray(np.linalg.norm(far - point, axis=-1))

    def _are_moved(self, joint: ExtraJoint, directions: Floats) -> list[bool]:
        """Return, for each direction, whether any joint moves the points along it.

        Where none does (normal to the plane of a planar mechanism) the constraint is
        inactive. It would only hold the curvature of the sphere, some micrometres that
        no joint can change, and MuJoCo would apply enormous forces.
        """
        # Eight poses (8, J) with a fixed seed: the same body gives the same file.
        random = np.random.default_rng(0).uniform(-1.0, 1.0, (8, self.body.num_joints))
        moved = self.body.forward_kinematics(random, poses.IDENTITY)
        first, second = (moved[:, link] for link in joint.links)
        # (8, 3) The second point in the world, and below in the frame of the first
        # link.
        points = poses.transform_points(second, joint.positions[1])
        between = poses.transform_points(poses.inverse(first), points)
        extents = [np.ptp(between @ direction) for direction in directions]
        return [bool(extent > MIN_MOTION) for extent in extents]


class _JointRead(NamedTuple):
    """An extra joint, its element, and what <custom> keeps as its place among all."""

    joint: ExtraJoint
    element: Element
    order: Any = None


class LoopReader:
    """Reads the extra joints of a model: equalities that hold points together.

    Attributes
    ----------
    others:
        Equalities that are no extra joints.
    tendons:
        Tendons that our writer made for extra joints.
    used_sites:
        Sites that our writer made for the ends of extra joints.
    """

    def __init__(self, defaults: Defaults, kept: Kept, sites: dict[str, Site]) -> None:
        self.defaults = defaults
        self.kept = kept
        self.sites = sites
        self.others: list[Element] = []
        self.tendons: set[str] = set()
        self.used_sites: set[str] = set()

    def read(
        self,
        root: Element,
        of_body: dict[str, int],
        reference: Floats,
        left_out: set[str],
    ) -> list[tuple[ExtraJoint, Element]]:
        """Return the extra joints, and their elements.

        `of_body` is the link of each body, `reference` (L, 7) the poses of the links
        with the joint values of the poses in the file: an anchor is in these.
        `left_out` are the names of bodies and sites that are not read.
        """
        # Equalities have no defaults of their own element names: those of "equality"
        # apply to all.
        elements = list(root.inside("equality"))
        by_name = {element.get("name"): element for element in elements}
        # First the joints of our writer, from <custom>: their equalities are not read
        # again.
        joints: list[_JointRead] = []
        for name in self.kept.names("loop"):
            kept = self._read_kept(name, by_name.get(name), root)
            if kept is not None:
                joints.append(kept)
        # Equalities of joints that mimic others are made from `extra` by the writer.
        mimics = self.kept.get("body", "").get("mimics")
        for element in elements:
            is_mimic = isinstance(mimics, list) and element.get("name") in mimics
            if (element.name == "joint" and is_mimic) or self._is_made(element):
                continue
            joint = None
            if _is_connection(element, left_out):
                joint = self._connect(element, of_body, reference)
            if joint is None:
                self.others.append(element)
            else:
                joints.append(_JointRead(joint, element))
        # The order is that of the body. Where a joint was added in the file, the file's
        # order holds.
        if all(isinstance(read.order, int) for read in joints):
            joints.sort(key=lambda read: read.order)
        return [(read.joint, read.element) for read in joints]

    def _read_kept(
        self, name: str, element: Element | None, root: Element
    ) -> _JointRead | None:
        """Return an extra joint of our writer, None where it cannot be read."""
        kept = self.kept.get("loop", name)
        kind = next((kind for kind in TYPES if kind == kept.get("type")), None)
        ends = self._kept_ends(kept.get("sites"))
        if kind is None or ends is None:
            return None
        first, second = (self.sites[end] for end in ends)
        # A joint within one link has no constraint: it is in <custom> only.
        if element is None and first.link != second.link:
            # The constraint was removed from the file.
            return None
        self._hide_sites(name, ends)
        # Positions are those of the sites, which may have been moved in the file.
        base = ExtraJoint(
            name=name,
            type=kind,
            links=(first.link, second.link),
            positions=np.stack([first.pose[:3], second.pose[:3]]),
        )
        joint = replace(base, **usable(base, kept, skip=("links", "positions")))
        return _JointRead(
            joint, root if element is None else element, kept.get("order")
        )

    def _kept_ends(self, names: object) -> list[str] | None:
        """Return the names of the two sites of an extra joint.

        None if one is gone.
        """
        if not isinstance(names, list) or len(names) != 2:
            return None
        ends = list(map(str, names))
        return ends if self.sites.keys() >= set(ends) else None

    def _hide_sites(self, name: str, ends: Sequence[str]) -> None:
        """Record the sites that our writer made for an extra joint."""
        for site in self.sites:
            rest = site.removeprefix(f"{name}_")
            # Those of a hinge and the far ones are numbered.
            is_numbered = rest.removeprefix("far").isdecimal()
            if rest != site and (site in ends or is_numbered):
                self.used_sites.add(site)

    def _is_made(self, element: Element) -> bool:
        """Return whether our writer made an equality for an extra joint."""
        sites = {element.get("site1"), element.get("site2")} - {""}
        if sites:
            return sites <= self.used_sites
        if element.name != "tendon":
            return False
        # Names of equalities and tendons begin with that of the joint
        # (`_hold_in_plane`).
        rope = element.get("tendon1")
        for name in self.kept.names("loop"):
            is_named = element.get("name").startswith(name)
            if is_named and rope.startswith(f"{name}_"):
                self.tendons.add(rope)
                return True
        return False

    def _connect(
        self, element: Element, of_body: dict[str, int], reference: Floats
    ) -> ExtraJoint | None:
        """Return the extra joint of a <connect>, None where it is none."""
        if "site1" in element.attributes or "site2" in element.attributes:
            return self._connect_sites(element)
        links = self._linked_bodies(element, of_body)
        if links is None:
            return None
        # The anchor is in the frame of body1. The point of body2 is where it is in the
        # pose of the file, in which MuJoCo takes the constraint to hold.
        first = finite(element, "anchor", 3)
        if len(links) < 2:
            return None
        point = poses.transform_points(reference[links[0]], first)
        second = poses.transform_points(poses.inverse(reference[links[1]]), point)
        return _ball(element, (links[0], links[1]), first, second)

    def _connect_sites(self, element: Element) -> ExtraJoint | None:
        names = [element.need("site1"), element.need("site2")]
        for name in names:
            if name and name not in self.sites:
                message = f"<connect> names the site {name!r:.60}, which does not exist"
                element.report(rules.REFERENCE, message, fatal=True)
        if not self.sites.keys() >= set(names):
            return None
        first, second = (self.sites[name] for name in names)
        links = (first.link, second.link)
        return _ball(element, links, first.pose[:3], second.pose[:3])

    @staticmethod
    def _linked_bodies(element: Element, of_body: dict[str, int]) -> list[int] | None:
        """Return the links of the bodies that are connected.

        As far as they exist.

        None where one is the world, and this is no link.
        """
        links = []
        for body in (element.need("body1"), element.get("body2") or "world"):
            if body in of_body:
                links.append(of_body[body])
            elif body == "world":
                message = (
                    f"equality {element.get('name')!r:.60} holds a body to the world, "
                    "which is not a link"
                )
                element.report(rules.EQUALITY, message)
                return None
            elif body:
                message = f"<connect> names the body {body!r:.60}, which does not exist"
                element.report(rules.REFERENCE, message, fatal=True)
        return links


def _is_connection(element: Element, left_out: set[str]) -> bool:
    """Return whether an equality holds points of bodies that are read together."""
    if element.name != "connect" or element.get("active", "true") == "false":
        return False
    ends = {element.get(name) for name in ("site1", "site2", "body1", "body2")}
    return not (ends - {""}) & left_out


def _ball(
    element: Element, links: tuple[int, int], first: Floats, second: Floats
) -> ExtraJoint:
    """Return the extra joint of a constraint that holds two points (3,) together.

    `extra` has its attributes for the writer.
    """
    extra = {
        "mjcf": {
            key: value for key, value in element.attributes.items() if key != "name"
        }
    }
    positions = np.stack([first, second])
    return ExtraJoint(
        name=element.get("name"),
        type="ball",
        links=links,
        positions=positions,
        extra=extra,
    )
