"""Extra joints as equality constraints, in both directions.

| type | written as | error |
|---|---|---|
| xyz, ball | `connect` of two sites | none |
| hinge | two `connect`s, of sites `HINGE_ARM` apart along the axis | none: two fixed points fix a line |
| xy, piston | the lengths of two tendons, from the second point to sites `FAR_DISTANCE` away along u and v | travel²/2·`FAR_DISTANCE` |
| z | the length of one tendon, to a site `FAR_DISTANCE` away along the axis | travel²/2·`FAR_DISTANCE` |

A point at a fixed distance from a far one moves on a sphere, which is nearly a plane.
Nothing else in MuJoCo holds a point in a plane without an additional body.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, get_args

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

FAR_DISTANCE = 1000.0  # [m] Length of the tendons that hold a point in a plane.
HINGE_ARM = 0.1  # [m] Distance of the two points of a hinge.
STIFF_SOLVER = {"solref": "0.004 1", "solimp": "0.999 0.9999 0.0001"}
"""As stiff as MuJoCo's default time step of 2 ms allows.

With the default, a loop of a few kilograms opens by a millimetre.
"""
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
        self.body = output.body
        self.names = output.names
        self.kept = output.kept
        self.problems = output.problems
        self.renamed = output.renamed
        self.elements = elements
        self.sites = sites
        self.classes = classes

    def write(self, tendon: Element, equality: Element) -> None:
        """Add the constraints, and the tendons that they need, to the sections of a model."""
        for number, joint in enumerate(self.body.extra_joints):
            self._write(joint, number, equality, tendon)

    def _write(
        self, joint: ExtraJoint, number: int, equality: Element, tendon: Element
    ) -> None:
        if self._as_read(joint, equality):
            return
        name = self.names.free("equality", joint.name, f"loop_{number}")
        self.renamed.add("extra joint", joint.name, name)
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
        sites = [
            self._site(joint.links[k], f"{name}_{k + 1}", joint.positions[k])
            for k in (0, 1)
        ]
        values["sites"] = sites
        self.kept.add("loop", name, values)
        if joint.links[0] == joint.links[1]:
            message = f"extra joint {joint.name} holds link {self.body.links[joint.links[0]].name} to itself, which has no effect"
            self.problems.add(
                losses.LOOP_NEAREST.problem(
                    message, Location(inside=f"extra_joints[{number}]")
                )
            )
            return
        if joint.type in ("xyz", "ball", "hinge"):
            points = {name: sites}
            if joint.type == "hinge":
                arm = HINGE_ARM * unit_axis(joint)
                ends = [
                    self._site(
                        joint.links[k], f"{name}_{k + 3}", joint.positions[k] + arm
                    )
                    for k in (0, 1)
                ]
                points[self.names.free("equality", f"{name}_axis")] = ends
            for own, (one, two) in points.items():
                equality.add(
                    "connect", {"name": own, "site1": one, "site2": two, **STIFF_SOLVER}
                )
            return
        directions = constrained_directions(joint)
        distances = self._distances(joint, directions)
        moved = self._moved(joint, directions)
        for count, (direction, rest) in enumerate(
            zip(directions, distances, strict=True)
        ):
            far = self._site(
                joint.links[0],
                f"{name}_far{count}",
                joint.positions[0] + FAR_DISTANCE * direction,
            )
            tendon_name = self.names.free("tendon", f"{name}_{count}")
            spatial = tendon.add("spatial", {"name": tendon_name, "rgba": "0 0 0 0"})
            spatial.add("site", {"site": far})
            spatial.add("site", {"site": sites[1]})
            if count == 0:
                own = name
            else:
                own = self.names.free("equality", f"{name}_{count}")
            polynomial = number_text([FAR_DISTANCE - rest, 0, 0, 0, 0])
            attributes = {
                "name": own,
                "tendon1": tendon_name,
                "polycoef": polynomial,
                **STIFF_SOLVER,
            }
            equality.add(
                "tendon",
                attributes if moved[count] else {**attributes, "active": "false"},
            )
        message = (
            f"extra joint {joint.name} of type {joint.type} is held on a sphere with "
            f"a radius of {FAR_DISTANCE:g} m, as MuJoCo cannot hold "
            "points in a plane: 1 m from its position the difference is "
            f"{0.5 / FAR_DISTANCE:g} m"
        )
        self.problems.add(
            losses.LOOP_NEAREST.problem(
                message, Location(inside=f"extra_joints[{number}]")
            )
        )

    def _as_read(self, joint: ExtraJoint, equality: Element) -> bool:
        """Write a constraint as it was in an MJCF file.

        False where it was read from another format, or has changed.
        """
        attributes = {
            k: v
            for k, v in attributes_of(mjcf_values(joint.extra)).items()
            if k != "name"
        }
        plain = ExtraJoint(type="ball")
        if (
            not attributes
            or joint.type != "ball"
            or set(joint.extra) != {"mjcf"}
            or (joint.axis != plain.axis).any()
        ):
            return False
        if attributes.get("class") not in self.classes:
            attributes.pop("class", None)
        if "site1" in attributes:
            ends = [
                self.sites.get(attributes.get(key, "")) for key in ("site1", "site2")
            ]
            for end, link, position in zip(
                ends, joint.links, joint.positions, strict=True
            ):
                if (
                    end is None
                    or end[0] != link
                    or not np.allclose(end[1][:3], position, rtol=0, atol=1e-9)
                ):
                    return False
        else:
            bodies = [self.elements[link].get("name", "world") for link in joint.links]
            attributes |= dict(zip(("body1", "body2"), bodies, strict=True))
            attributes["anchor"] = number_text(joint.positions[0])
        if joint.name:
            name = self.names.free("equality", joint.name)
            if name != joint.name:
                self.names.release("equality", name)
                return False
            attributes = {"name": name, **attributes}
        equality.add("connect", attributes)
        return True

    def _site(self, link: int, name: str, position: Floats) -> str:
        free = self.names.free("site", name)
        self.elements[link].add(
            "site", {"name": free, "pos": number_text(position), "group": "5"}
        )
        return free

    def _distances(self, joint: ExtraJoint, directions: Floats) -> Floats:
        """Return the distance of the second point from each far one with the joints at 0, the reference of MuJoCo's polynomial."""
        at_zero = self.body.forward_kinematics(
            np.zeros(self.body.num_joints), poses.IDENTITY
        )
        one, other = (at_zero[link] for link in joint.links)
        point = poses.transform_points(other, joint.positions[1])
        far = poses.transform_points(
            one, joint.positions[0] + FAR_DISTANCE * directions
        )
        return np.asarray(np.linalg.norm(far - point, axis=-1))

    def _moved(self, joint: ExtraJoint, directions: Floats) -> list[bool]:
        """Return for each direction whether any joint moves the two points relative to each other along it.

        Where none does (normal to the plane of a planar mechanism) the constraint is
        inactive. It would only hold the curvature of the sphere, some micrometres that
        no joint can change, and MuJoCo would apply enormous forces.
        """
        random = np.random.default_rng(0).uniform(-1.0, 1.0, (8, self.body.num_joints))
        moved = self.body.forward_kinematics(random, poses.IDENTITY)
        one, other = (moved[:, link] for link in joint.links)
        between = poses.transform_points(
            poses.inverse(one), poses.transform_points(other, joint.positions[1])
        )
        return [bool(np.ptp(between @ direction) > 1e-9) for direction in directions]


class LoopReader:
    """Reads the extra joints of a model: equalities that hold points together."""

    def __init__(self, defaults: Defaults, kept: Kept, sites: dict[str, Site]) -> None:
        self.defaults = defaults
        self.kept = kept
        self.sites = sites
        self.others: list[Element] = []
        """Equalities that are no extra joints."""
        self.tendons: set[str] = set()
        """Tendons that our writer made for extra joints."""
        self.used_sites: set[str] = set()
        """Sites that our writer made for the ends of extra joints."""

    def read(
        self,
        root: Element,
        of_body: dict[str, int],
        reference: Floats,
        left_out: set[str],
    ) -> list[tuple[ExtraJoint, Element]]:
        """Return the extra joints, and their elements.

        `of_body` is the link of each body, `reference` (L, 7) the poses of the links
        with the joint values of the poses in the file: an
        anchor is in these. `left_out` are the names of bodies and sites that are not
        read.
        """
        listed = self.kept.get("body", "").get("mimics")
        mimics = listed if isinstance(listed, list) else []
        # Equalities have no defaults of their own element names: those of "equality"
        # apply to all.
        elements = list(root.inside("equality"))
        named = {element.get("name"): element for element in elements}
        made = (
            self._kept(name, named.get(name), root) for name in self.kept.names("loop")
        )
        found = [one for one in made if one is not None]
        for element in elements:
            if self._ours(element) or (
                element.name == "joint" and element.get("name") in mimics
            ):
                continue
            ends = {
                element.get(name) for name in ("site1", "site2", "body1", "body2")
            } - {""}
            is_read = (
                element.name == "connect"
                and element.get("active", "true") != "false"
                and not ends & left_out
            )
            if is_read:
                joint = self._connect(element, of_body, reference)
            else:
                joint = None
            if joint is None:
                self.others.append(element)
            else:
                found.append((joint, element, None))
        if found and all(isinstance(order, int) for _, _, order in found):
            found.sort(key=lambda one: one[2])
        return [(joint, element) for joint, element, _ in found]

    def _kept(
        self, name: str, element: Element | None, root: Element
    ) -> tuple[ExtraJoint, Element, Any] | None:
        kept_values = self.kept.get("loop", name)
        ends = kept_values.get("sites")
        kind = next((kind for kind in TYPES if kind == kept_values.get("type")), None)
        if (
            kind is None
            or not isinstance(ends, list)
            or len(ends) != 2
            or not self.sites.keys() >= set(map(str, ends))
        ):
            return None
        one, two = (self.sites[str(end)] for end in ends)
        if element is None and one[0] != two[0]:
            # The constraint was removed from the file.
            return None
        for site in self.sites:
            rest = site.removeprefix(f"{name}_")
            if rest != site and (site in ends or rest.removeprefix("far").isdecimal()):
                self.used_sites.add(site)
        base = ExtraJoint(
            name=name,
            type=kind,
            links=(one[0], two[0]),
            positions=np.stack([one[1][:3], two[1][:3]]),
        )
        joint = replace(base, **usable(base, kept_values, skip=("links", "positions")))
        return joint, root if element is None else element, kept_values.get("order")

    def _ours(self, element: Element) -> bool:
        sites = {element.get("site1"), element.get("site2")} - {""}
        if sites:
            return sites <= self.used_sites
        rope = element.get("tendon1")
        for name in self.kept.names("loop"):
            if (
                element.name == "tendon"
                and rope.startswith(f"{name}_")
                and element.get("name").startswith(name)
            ):
                self.tendons.add(rope)
                return True
        return False

    def _connect(
        self, element: Element, of_body: dict[str, int], reference: Floats
    ) -> ExtraJoint | None:
        name = element.get("name")
        if "site1" in element.attributes or "site2" in element.attributes:
            ends = [element.need("site1"), element.need("site2")]
            for end in ends:
                if end and end not in self.sites:
                    message = (
                        f"<connect> names the site {end!r:.60}, which does not exist"
                    )
                    element.report(rules.REFERENCE, message, fatal=True)
            if any(end not in self.sites for end in ends):
                return None
            one, two = (self.sites[end] for end in ends)
            return _ball(element, (one[0], two[0]), one[1][:3], two[1][:3])
        bodies = [element.need("body1"), element.get("body2", "world") or "world"]
        links = []
        for body in bodies:
            if body == "world" and body not in of_body:
                element.report(
                    rules.EQUALITY,
                    f"equality {name!r:.60} holds a body to the world, which is not a "
                    "link",
                )
                return None
            if body not in of_body:
                if body:
                    message = (
                        f"<connect> names the body {body!r:.60}, which does not exist"
                    )
                    element.report(rules.REFERENCE, message, fatal=True)
                continue
            links.append(of_body[body])
        first = finite(element, "anchor", 3)
        if len(links) < 2:
            return None
        point = poses.transform_points(reference[links[0]], first)
        second = poses.transform_points(poses.inverse(reference[links[1]]), point)
        return _ball(element, (links[0], links[1]), first, second)


def _ball(
    element: Element, links: tuple[int, int], first: Floats, second: Floats
) -> ExtraJoint:
    """Return the extra joint of a constraint that holds two points (3,) of links together, with its attributes for the writer."""
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
