"""Equalities that close loops as extra joints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from bodymotion.formats.mjcf import rules
from bodymotion.formats.mjcf.frames import finite
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import frozen
from bodymotion.model.body import ExtraJoint, ExtraJointType

if TYPE_CHECKING:
    from bodymotion.diagnostics import Location, Problem
    from bodymotion.formats.mjcf.defaults import Defaults
    from bodymotion.formats.mjcf.devices import Place
    from bodymotion.formats.mjcf.kept import Kept
    from bodymotion.formats.xml.tree import Element
    from bodymotion.geometry.arrays import Floats

__all__ = ["LoopReader"]

TYPES: tuple[ExtraJointType, ...] = get_args(ExtraJointType)


class LoopReader:
    """Makes extra joints of the equalities of a model."""

    def __init__(self, defaults: Defaults, kept: Kept, sites: dict[str, Place], problems: list[Problem]) -> None:
        self.defaults, self.kept, self.sites, self.problems = defaults, kept, sites, problems
        self.others: list[Element] = []
        """Equalities that hold no point."""
        self.tendons: set[str] = set()
        """Tendons that stand for an extra joint of ours."""
        self.taken: set[str] = set()
        """Sites that stand for the ends of extra joints."""

    def read(
        self, root: Element, of_body: dict[str, int], resting: Floats, left_out: frozenset[str]
    ) -> list[tuple[ExtraJoint, Location]]:
        """Return the extra joints, and where they stand.

        `of_body` gives the link of each body, `resting` (L, 7) where links are when all joints have the values that their bodies' poses
        are for: an anchor is given there. `left_out` are the names of bodies and sites that are not read.
        """
        found: list[tuple[ExtraJoint, Location, Any]] = []
        listed = self.kept.get("body", "").get("mimics")
        mimics = listed if isinstance(listed, list) else []
        # Classes have what they say of all equalities under one name, that of joints among them is another thing.
        elements = [child for section in root.all("equality") for child in section.children]
        named = {element.get("name"): element for element in elements}
        for name in self.kept.names("loop"):
            made = self._kept(name, named.get(name), root)
            if made is not None:
                found.append(made)
        for element in elements:
            if self._ours(element) or (element.name == "joint" and element.get("name") in mimics):
                continue
            ends = {element.get(name) for name in ("site1", "site2", "body1", "body2")} - {""}
            if element.get("active", "true") == "false" or ends & left_out:
                self.others.append(element)
                continue
            joint = self._connect(element, of_body, resting) if element.name == "connect" else None
            if joint is None:
                self.others.append(element)
            else:
                found.append((joint, element.location, None))
        if found and all(isinstance(order, int) for _, _, order in found):
            found.sort(key=lambda one: one[2])
        return [(joint, location) for joint, location, _ in found]

    def _kept(self, name: str, element: Element | None, root: Element) -> tuple[ExtraJoint, Location, Any] | None:
        said = self.kept.get("loop", name)
        ends = said.get("sites")
        kind = next((kind for kind in TYPES if kind == said.get("type")), None)
        if (
            kind is None
            or not isinstance(ends, list)
            or len(ends) != 2
            or not all(end in self.sites for end in map(str, ends))
        ):
            return None
        one, two = (self.sites[str(end)] for end in ends)
        if element is None and one.link != two.link:
            # Somebody took the constraint out of the file.
            return None
        self.taken |= {
            end for end in self.sites if end.startswith(f"{name}_") and (end in ends or self._of_loop(end, name))
        }
        axis, extra, title = said.get("axis"), said.get("extra"), said.get("name")
        given: dict[str, Any] = {}
        if isinstance(axis, list) and len(axis) == 3 and all(isinstance(n, (int, float)) for n in axis):
            given["axis"] = frozen(np.array(axis, dtype=np.float64))
        if isinstance(extra, dict):
            given["extra"] = extra
        joint = ExtraJoint(
            name=title if isinstance(title, str) else name,
            type=kind,
            links=(one.link, two.link),
            positions=frozen(np.stack([one.pose[:3], two.pose[:3]])),
            **given,
        )
        where = element.location if element is not None else root.location
        return joint, where, said.get("order")

    @staticmethod
    def _of_loop(site: str, name: str) -> bool:
        rest = site.removeprefix(f"{name}_")
        return rest.isdecimal() or rest.removeprefix("far").isdecimal()

    def _ours(self, element: Element) -> bool:
        """Whether an equality is one of those that our writer makes for an extra joint."""
        sites = {element.get("site1"), element.get("site2")} - {""}
        if sites:
            return sites <= self.taken
        rope = element.get("tendon1")
        for name in self.kept.names("loop"):
            if element.name == "tendon" and rope.startswith(f"{name}_") and element.get("name").startswith(name):
                self.tendons.add(rope)
                return True
        return False

    def _connect(self, element: Element, of_body: dict[str, int], resting: Floats) -> ExtraJoint | None:
        name = element.get("name")
        if "site1" in element.attributes or "site2" in element.attributes:
            ends = [element.need("site1"), element.need("site2")]
            for end in ends:
                if end and end not in self.sites:
                    element.fault(rules.REFERENCE, f"<connect> names the site {end!r:.60}, which is not there")
            if any(end not in self.sites for end in ends):
                return None
            one, two = (self.sites[end] for end in ends)
            return ExtraJoint(
                name=name,
                type="ball",
                links=(one.link, two.link),
                positions=np.stack([one.pose[:3], two.pose[:3]]),
                extra={"mjcf": _alone(element)},
            )
        bodies = [element.need("body1"), element.get("body2", "world") or "world"]
        links = []
        for body in bodies:
            if body == "world" and body not in of_body:
                words = f"equality {name!r:.60} holds a body to the world, which is no link"
                self.problems.append(rules.EQUALITY.problem(words, element.location))
                return None
            if body not in of_body:
                if body:
                    element.fault(rules.REFERENCE, f"<connect> names the body {body!r:.60}, which is not there")
                continue
            links.append(of_body[body])
        first = finite(element, "anchor", 3)
        if len(links) < 2:
            return None
        point = poses.transform_points(resting[links[0]], first)
        second = poses.transform_points(poses.inverse(resting[links[1]]), point)
        return ExtraJoint(
            name=name,
            type="ball",
            links=(links[0], links[1]),
            positions=np.stack([first, second]),
            extra={"mjcf": _alone(element)},
        )


def _alone(element: Element) -> dict[str, object]:
    """Return what the file says of a constraint, to be said again."""
    return {key: value for key, value in element.attributes.items() if key != "name"}
