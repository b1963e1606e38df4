"""Extra joints as equality constraints.

| type | as | is it the same |
|---|---|---|
| xyz, ball | `connect` of two sites | yes |
| hinge | two `connect`s, of sites `HINGE_ARM` apart along the axis | yes: two points held are a line held |
| xy, piston | the lengths of two tendons, from the second point to sites `FAR` away along u and v | within travel²/2·`FAR` |
| z | the length of one tendon, to a site `FAR` away along the axis | within travel²/2·`FAR` |

A point at a fixed distance from a far one moves on a ball; seen from near, that is a plane. Nothing else in MuJoCo holds a point in a plane
without a body more.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics import Location, losses
from bodymotion.formats.only_mjcf import of_mjcf, texts
from bodymotion.formats.xml.tree import Element, number_text
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import ExtraJoint

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem
    from bodymotion.formats.mjcf.kept import Kept
    from bodymotion.formats.mjcf.writer import Names
    from bodymotion.model.body import Body

__all__ = ["FAR", "HINGE_ARM", "LoopWriter"]

FAR = 1000.0
"""[m]"""
HINGE_ARM = 0.1
"""[m]"""
STIFF = {"solref": "0.004 1", "solimp": "0.999 0.9999 0.0001"}
"""As stiff as MuJoCo's default time step of 2 ms carries: its own default lets a loop of a few kilograms open by a millimetre."""


@dataclass
class LoopWriter:
    """Writes the extra joints of a body."""

    body: Body
    elements: dict[int, Element]
    names: Names
    kept: Kept
    problems: list[Problem]
    sites: Mapping[str, tuple[int, Floats]] = field(default_factory=dict)
    """Where (link, pose) the sites are that stand for devices."""
    classes: Collection[str] = ()
    """The classes of defaults that are written."""

    def write(self, root: Element) -> None:
        """Put the constraints, and the tendons that they need, into a model."""
        equality, tendon = Element("equality"), Element("tendon")
        for number, joint in enumerate(self.body.extra_joints):
            self._write(joint, number, equality, tendon)
        root.children += [element for element in (tendon, equality) if element.children]

    def _write(self, joint: ExtraJoint, number: int, equality: Element, tendon: Element) -> None:
        if self._as_told(joint, equality):
            return
        name = self.names.free("equality", joint.name, f"loop_{number}")
        said: dict[str, object] = {"type": joint.type, "axis": joint.axis, "order": number}
        if name != joint.name:
            said["name"] = joint.name
        extra = {key: value for key, value in joint.extra.items() if key != "mjcf"}
        if extra:
            said["extra"] = extra
        first, second = joint.positions
        sites = [self._site(joint.links[0], f"{name}_1", first), self._site(joint.links[1], f"{name}_2", second)]
        said["sites"] = sites
        self.kept.add("loop", name, said)
        if joint.links[0] == joint.links[1]:
            words = (
                f"extra joint {joint.name} holds link {self.body.links[joint.links[0]].name} to itself: it does nothing"
            )
            self.problems.append(losses.LOOP_NEAREST.problem(words, Location(inside=f"extra_joints[{number}]")))
            return
        axis = _unit(joint.axis)
        if joint.type in ("xyz", "ball", "hinge"):
            self._connect(equality, name, sites)
            if joint.type == "hinge":
                arm = HINGE_ARM * axis
                ends = [
                    self._site(joint.links[0], f"{name}_3", first + arm),
                    self._site(joint.links[1], f"{name}_4", second + arm),
                ]
                self._connect(equality, self.names.free("equality", f"{name}_axis"), ends)
            return
        directions = _normals(axis) if joint.type in ("xy", "piston") else axis[None]
        resting, moved = self._distances(joint, directions), self._moved(joint, directions)
        for count, (direction, rest) in enumerate(zip(directions, resting, strict=True)):
            far = self._site(joint.links[0], f"{name}_far{count}", first + FAR * direction)
            rope = self.names.free("tendon", f"{name}_{count}")
            spatial = tendon.add("spatial", {"name": rope, "rgba": "0 0 0 0"})
            spatial.add("site", {"site": far})
            spatial.add("site", {"site": sites[1]})
            own = name if count == 0 else self.names.free("equality", f"{name}_{count}")
            given = {"name": own, "tendon1": rope, "polycoef": number_text([FAR - rest, 0, 0, 0, 0]), **STIFF}
            equality.add("tendon", given if moved[count] else {**given, "active": "false"})
        words = (
            f"extra joint {joint.name} of type {joint.type} is held on balls with a radius of {FAR:g} m, as MuJoCo has no plane to hold it "
            f"in: 1 m from its place it is {0.5 / FAR:g} m off"
        )
        self.problems.append(losses.LOOP_NEAREST.problem(words, Location(inside=f"extra_joints[{number}]")))

    def _as_told(self, joint: ExtraJoint, equality: Element) -> bool:
        """Write a constraint as it stood in MJCF; False where it came from elsewhere, or is another one by now."""
        given = {k: v for k, v in texts(of_mjcf(joint.extra)).items() if k != "name"}
        plain = ExtraJoint(type="ball")
        if not given or joint.type != "ball" or set(joint.extra) != {"mjcf"} or (joint.axis != plain.axis).any():
            return False
        if given.get("class") not in self.classes:
            given.pop("class", None)
        if "site1" in given:
            ends = [self.sites.get(given.get(key, "")) for key in ("site1", "site2")]
            for end, link, position in zip(ends, joint.links, joint.positions, strict=True):
                if end is None or end[0] != link or not np.allclose(end[1][:3], position, rtol=0, atol=1e-9):
                    return False
        else:
            given |= {
                key: self.elements[link].get("name", "world")
                for key, link in zip(("body1", "body2"), joint.links, strict=True)
            }
            given["anchor"] = number_text(joint.positions[0])
        if joint.name:
            name = self.names.free("equality", joint.name)
            if name != joint.name:
                self.names.give_back("equality", name)
                return False
            given = {"name": name, **given}
        equality.add("connect", given)
        return True

    def _connect(self, equality: Element, name: str, sites: list[str]) -> None:
        equality.add("connect", {"name": name, "site1": sites[0], "site2": sites[1], **STIFF})

    def _site(self, link: int, name: str, position: Floats) -> str:
        free = self.names.free("site", name)
        self.elements[link].add("site", {"name": free, "pos": number_text(position), "group": "5"})
        return free

    def _distances(self, joint: ExtraJoint, directions: Floats) -> Floats:
        """Return how far the second point is from each far one where the joints are at 0: MuJoCo counts the length from there."""
        still = self.body.forward_kinematics(np.zeros(self.body.num_joints), poses.IDENTITY)
        one, other = (still[link] for link in joint.links)
        point = poses.transform_points(other, joint.positions[1])
        far = poses.transform_points(one, joint.positions[0] + FAR * directions)
        return np.asarray(np.linalg.norm(far - point, axis=-1))

    def _moved(self, joint: ExtraJoint, directions: Floats) -> list[bool]:
        """Say for each direction whether any joint moves the two points apart along it.

        Where none does (out of the plane of a plane mechanism) the constraint is switched off: all that is left of it is how round the ball
        is, some micrometres that next to no joint could take away, and MuJoCo would push with enormous forces.
        """
        chance = np.random.default_rng(0).uniform(-1.0, 1.0, (8, self.body.num_joints))
        anywhere = self.body.forward_kinematics(chance, poses.IDENTITY)
        one, other = (anywhere[:, link] for link in joint.links)
        between = poses.transform_points(poses.inverse(one), poses.transform_points(other, joint.positions[1]))
        return [bool(np.ptp(between @ direction) > 1e-9) for direction in directions]


def _unit(axis: Floats) -> Floats:
    length = np.linalg.norm(axis)
    return axis / length if length > 0 else np.array([1.0, 0.0, 0.0])


def _normals(axis: Floats) -> Floats:
    """Return two unit vectors (2, 3) normal to a unit axis and to each other."""
    start = np.eye(3)[int(np.argmin(np.abs(axis)))]
    u = _unit(start - axis * (axis @ start))
    return np.stack([u, np.cross(axis, u)])
