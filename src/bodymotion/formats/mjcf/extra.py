"""What MJCF has and a Body has no field for.

Plain data in the `extra` of the body, under "mjcf".

The writer writes it back where it was: an element is written if everything that it
names is in the model; others are left out and reported.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics import Diagnostics, Location, losses
from bodymotion.diagnostics.text import counted, listed
from bodymotion.formats.kept_json import PHYSICAL_SECTIONS, attributes_of, mjcf_values
from bodymotion.formats.mjcf import rules
from bodymotion.formats.mjcf.defaults import (
    ORIENTATIONS,
    Defaults,
    Item,
    Settings,
    pose,
)
from bodymotion.formats.mjcf.geoms import INTEGRATOR, SCENE
from bodymotion.formats.mjcf.names import OF_KIND, finite
from bodymotion.formats.xml.tree import Element, number_text
from bodymotion.geometry import poses, rotations
from bodymotion.model.body import Body
from bodymotion.model.links import Link, effort_range

if TYPE_CHECKING:
    from bodymotion.formats.mjcf.bodies import Tree
    from bodymotion.formats.mjcf.devices import DeviceReader
    from bodymotion.formats.mjcf.loops import LoopReader


POSE = ("pos", *ORIENTATIONS)
SITE_ATTRIBUTES = (
    "name",
    "class",
    "material",
    "fromto",
    *POSE,
)  # Attributes of a site that its device has fields for.
BODY_ATTRIBUTES = ("name", "childclass", *POSE)

SECTIONS = ("keyframe", "tendon", "actuator", "contact")
WHOLE = "option", "size", "statistic", "visual", "extension", "deformable"
"""Sections that are kept with their attributes."""
CLASSED = (
    *(
        "general",
        "motor",
        "position",
        "velocity",
        "intvelocity",
        "damper",
        "cylinder",
        "muscle",
        "adhesion",
        "dcmotor",
    ),
    *("tendon", "equality", "pair"),
)
"""Elements whose defaults are kept, because the elements are kept as they are."""
MAX_KEPT = 100_000  # Elements that are kept with their children.

WRITTEN_WHOLE = ("option", "size", "statistic", "visual")
LISTS = (
    "custom",
    "asset",
    "worldbody",
    "tendon",
    "contact",
    "equality",
    "actuator",
    "sensor",
    "keyframe",
)
"""In an order in which elements name only those of earlier sections."""
OBJECTS = {"objname": "objtype", "refname": "reftype"}
KINDS = {"freejoint": "joint", "spatial": "tendon", "fixed": "tendon", "xbody": "body"}
MAX_DEPTH = 20
MAX_LISTED_JOINTS = 3  # Joints that a message names.


def body_extras(
    element: Element, lights: Sequence[Item], settings: Settings
) -> dict[str, object]:
    """Return what a body has besides joints, mass, shapes and devices.

    Attributes and lights.
    """
    values: dict[str, object] = {
        "body": {
            key: value
            for key, value in element.attributes.items()
            if key not in BODY_ATTRIBUTES
        },
        "lights": [in_body_frame(item, settings) for item in lights],
    }
    return {key: value for key, value in values.items() if value}


def in_body_frame(item: Item, settings: Settings) -> dict[str, object]:
    """Return an element of a body as plain data.

    With its defaults, in the body's frame, angles in radians.
    """
    element = item.element
    values = {
        key: value
        for key, value in element.attributes.items()
        if key not in ("class", *POSE)
    }
    if element.name == "light":
        item_pose = item.placed(
            poses.from_parts(
                finite(element, "pos", 3, (0.0, 0.0, 0.0)), rotations.IDENTITY
            )
        )
        if item.frame is not None:
            values["dir"] = number_text(
                rotations.rotate(
                    item.frame[3:], finite(element, "dir", 3, (0.0, 0.0, -1.0))
                )
            )
        return {"element": "light", **values, "pos": number_text(item_pose[:3])}
    if "fromto" in values:
        ends = finite(element, "fromto", 6).reshape(2, 3)
        if item.frame is not None:
            ends = poses.transform_points(item.frame, ends)
        return {"element": element.name, **values, "fromto": number_text(ends)}
    item_pose = item.placed(pose(element, settings))
    return {
        "element": element.name,
        **values,
        "pos": number_text(item_pose[:3]),
        "quat": number_text(item_pose[3:]),
    }


def with_efforts(
    links: tuple[Link, ...], tree: Tree, root: Element, defaults: Defaults
) -> tuple[Link, ...]:
    """Return the links with the effort ranges of their joints.

    MuJoCo clamps the force of each actuator (`forcerange`), and then the sum of those
    on a joint (`actuatorfrcrange`, which the joint has already). Where a model has
    neither, the range of a motor's control is one of its force. Else it is not used: it
    is often −1 to 1, for a policy that is scaled elsewhere.
    """
    by_joint = {
        link.joint.name: link.index
        for link in reversed(links)
        if link.joint.type in ("rotate", "slide")
    }
    for raw, link in zip(tree.links, links, strict=True):
        if raw.joint_element is not None and raw.joint_element.get("name"):
            by_joint[raw.joint_element.get("name")] = link.index
    on_joints: dict[int, list[Element]] = {}
    for actuator in root.inside("actuator"):
        element = defaults.full(actuator)
        if element.get("joint") in by_joint:
            on_joints.setdefault(by_joint[element.get("joint")], []).append(element)
    changed = list(links)
    narrow: list[Element] = []
    for index, elements in on_joints.items():
        joint = changed[index].joint
        stated = effort_range(joint)
        controls = _summed_ranges(elements, tree.settings, "ctrlrange")
        forces = _summed_ranges(elements, tree.settings, "forcerange")
        if forces is None and stated is None:
            forces = controls
        low, high = forces or stated or (-math.inf, math.inf)
        if stated is not None:
            low = max(low, stated[0])
            high = min(high, stated[1])
        if controls is not None and (controls[0] > low or controls[1] < high):
            narrow.append(elements[0])
        is_known = stated is not None and np.allclose(
            stated, (low, high), rtol=1e-9, atol=0.0
        )
        if forces is not None and low < high and not is_known:
            extra = {**joint.extra, "joint_effort_range": [low, high]}
            changed[index] = replace(changed[index], joint=replace(joint, extra=extra))
    if narrow:
        _report_narrow_controls(narrow)
    return tuple(changed)


def _report_narrow_controls(motors: Sequence[Element]) -> None:
    """Report joints whose motors get less force by their control than by their limits."""
    joints = tuple(motor.get("joint") for motor in motors)
    message = (
        f"the range of the control of {counted(len(joints), 'joint')} "
        f"({listed(joints, MAX_LISTED_JOINTS)}) is narrower than the limits of its "
        "force; "
        "the limits count"
    )
    motors[0].report(rules.NARROW_CONTROL, message, data={"joints": joints})


def _summed_ranges(
    actuators: Sequence[Element], settings: Settings, attribute: str
) -> tuple[float, float] | None:
    """Return the range of what all actuators of a joint give it together.

    None where one of them has no such range.
    """
    low = 0.0
    high = 0.0
    for element in actuators:
        ends = _actuator_range(element, settings, attribute)
        if ends is None:
            return None
        if element.get("gear"):
            gear = element.numbers("gear")[0]
        else:
            gear = 1.0
        least, most = sorted((ends[0] * gear, ends[1] * gear))
        low = low + least
        high = high + most
    if low < high:
        return (low, high)
    return None


def _actuator_range(
    element: Element, settings: Settings, attribute: str
) -> tuple[float, float] | None:
    """Return a range of an actuator [N or N m before the gear] that applies."""
    # The control of a motor is a force; that of other actuators is not.
    if attribute == "ctrlrange" and element.name != "motor":
        return None
    if not element.get(attribute):
        return None
    flag = {"ctrlrange": "ctrllimited", "forcerange": "forcelimited"}[attribute]
    limited = element.get(flag, "auto")
    is_automatic = limited == "auto" and settings.of(element).autolimits
    if limited != "true" and not is_automatic:
        return None
    low, high = element.numbers(attribute, 2)
    is_range = low < high and math.isfinite(low) and math.isfinite(high)
    if is_range:
        return (low, high)
    return None


def plain_sections(
    root: Element,
    of_body: dict[str, object],
    loops: LoopReader,
    devices: DeviceReader,
    tree: Tree,
) -> dict[str, object]:
    """Return the elements that no field of a body holds, by section.

    Of a file of ours without those that the writer makes again.

    `of_body` is what <custom> keeps of the body.
    """
    made = "motors" in of_body
    ours = {
        id(element)
        for element in root.inside("tendon")
        if element.get("name") in loops.tendons
    }
    if made:
        kind = {"made": "motor", "position": "position"}.get(str(of_body["motors"]), "")
        own_joints = {
            raw.joint_element.get("name")
            for raw in tree.links
            if raw.joint_element is not None
        }
        motors = [
            e
            for e in root.inside("actuator")
            if e.name == kind and e.get("joint") in own_joints
        ]
        # The first actuator of each joint is one that our writer made.
        ours |= set(
            {element.get("joint"): id(element) for element in reversed(motors)}.values()
        )
        ours |= {
            id(element)
            for element in root.inside("keyframe")
            if element.get("name") in SCENE
        }
        excluded = of_body.get("excludes")
        excludes = excluded if isinstance(excluded, list) else []
        ours |= {
            id(e)
            for e in root.inside("contact")
            if [e.get("body1"), e.get("body2")] in excludes
        }
    found = {
        name: [element for element in root.inside(name) if id(element) not in ours]
        for name in SECTIONS
    }
    found |= {
        name: [e for e in root.all(name) if not (made and e.attributes == INTEGRATOR)]
        for name in WHOLE
    }
    found["custom"] = [
        child
        for child in root.inside("custom")
        if not child.get("name").startswith("bodymotion ")
    ]
    # Images of materials are read; other textures, such as the sky, and height fields
    # are kept.
    found["asset"] = [
        child
        for child in root.inside("asset")
        if child.name not in ("mesh", "material", "model")
        and not (
            child.name == "texture"
            and child.get("file")
            and child.get("type", "cube") == "2d"
        )
    ]
    found["equality"], found["sensor"] = loops.others, devices.others
    left = [MAX_KEPT]
    kept: dict[str, object] = {}
    counts: dict[str, int] = {}
    first: Element | None = None
    for name, elements in found.items():
        if not elements:
            continue
        # The efforts of motors of joints are read.
        reported = [
            e
            for e in elements
            if name != "actuator"
            or not {"joint", "jointinparent"} & e.attributes.keys()
        ]
        if reported and name == "equality":
            message = (
                f"{counted(len(reported), 'equality', 'equalities')} kept as plain data"
            )
            reported[0].report(rules.EQUALITY, message)
        elif reported and name not in ("size", "asset", "custom"):
            counts[name] = len(reported)
            first = first or reported[0]
        kept[name] = [_plain(element, left) for element in elements]
    if first is not None:
        sections = ", ".join(f"{count} of <{name}>" for name, count in counts.items())
        total = counted(sum(counts.values()), "element")
        message = f"no field of a body holds {total}: {sections}; kept as plain data"
        first.report(rules.KEPT, message, data={"sections": counts})
    for one, element in zip(kept.get("sensor", []), devices.others, strict=False):  # type: ignore[call-overload]
        one["order"] = devices.order[id(element)]
    classes = [
        one for element in root.all("default") if (one := _classes(element, left))
    ]
    others = {"default": classes, "bodies": tree.of_bodies, "worldbody": tree.of_world}
    kept |= {name: values for name, values in others.items() if values}
    if "keyframe" in kept:
        named: dict[int, str] = {}
        for raw in tree.links:
            if (joint := raw.joint_element) is not None:
                # A ball joint is read as three links.
                named[id(joint)] = (
                    joint.get("name") if joint.get("type") == "ball" else raw.joint.name
                )
        kept["joints"] = list(named.values())
    if kept:
        return {"mjcf": kept}
    return {}


def _plain(element: Element, left: list[int], depth: int = 0) -> dict[str, object]:
    left[0] -= 1
    values: dict[str, object] = {"element": element.name, **element.attributes}
    if element.children and left[0] > 0 and depth < MAX_DEPTH:
        values["children"] = [
            _plain(child, left, depth + 1) for child in element.children
        ]
    return values


def _classes(element: Element, left: list[int], depth: int = 0) -> dict[str, object]:
    """Return a class of defaults, and those in it, with the defaults of elements that are kept."""
    if depth > MAX_DEPTH:
        return {}
    inside = [
        _plain(child, left) for child in element.children if child.name in CLASSED
    ]
    inside += [
        below
        for child in element.all("default")
        if (below := _classes(child, left, depth + 1))
    ]
    if inside:
        return {"element": "default", **element.attributes, "children": inside}
    return {}


def _kind(section: str, element: Element) -> str:
    """Return the kind of object that an element of a section is.

    Names are unique within a kind.
    """
    if section in ("actuator", "sensor", "equality"):
        return section
    return KINDS.get(element.name, element.name)


class ExtraSections:
    """The sections of a body that was read from MJCF."""

    def __init__(self, body: Body, problems: Diagnostics) -> None:
        self.body = body
        self.problems = problems
        self.kept_values = mjcf_values(body.extra)
        self.classes: set[str] = set()
        """The classes of defaults in the model."""
        self.order: dict[int, int] = {}
        """By id of an element, the position of a sensor in the file that the body was read from."""
        self.joints: list[str] = []
        """The names of the joints in the written model."""
        self._names: dict[str, set[str]] = {}

    def defaults(self, into: Element) -> None:
        """Add the classes to the `<default>` of a model, which has classes of the writer."""
        own = {child.get("class"): child for child in into.children}
        for top in self.elements("default"):
            if top.get("class"):
                into.attributes["class"] = top.get("class")
                self.classes.add(top.get("class"))
            stack = [(into, child) for child in reversed(top.children)]
            while stack:
                above, child = stack.pop()
                if child.name != "default":
                    above.children.append(child)
                    continue
                name = child.get("class")
                self.classes.add(name)
                target = own.get(name)
                if target is None:
                    target = above.add("default", dict(child.attributes))
                elif above is not into:
                    # The writer's class of geoms moves to the one of the same name.
                    into.children.remove(target)
                    above.children.append(target)
                stack += [(target, inner) for inner in reversed(child.children)]

    def lists(
        self, sections: Mapping[str, Element], without: Collection[str] = ()
    ) -> None:
        """Add elements to the sections of a model, which already have the elements of the body.

        Not to those in `without`.
        """
        for section in sections.values():
            self._collect_names(section)
        for name in (name for name in LISTS if name not in without):
            section = sections[name]
            waiting = [
                (one, element)
                for one in self._items(name)
                if (element := self._element(one)) is not None
            ]
            for one, element in waiting:
                if why := self._obstacle(name, element):
                    self._report(
                        f"{' '.join(filter(None, (f'<{element.name}>', element.get('name'))))}: {why}",
                        name,
                    )
                    continue
                section.children.append(element)
                self._collect_names(element, name)
                location = one.get("order")
                if isinstance(location, int) and name == "sensor":
                    self.order[id(element)] = location
        for name, held in self.kept_values.items():
            if held and name not in (
                *WRITTEN_WHOLE,
                *LISTS,
                "default",
                "joints",
                "bodies",
            ):
                self._report(f"<{name}>, which is not written", name)

    def elements(self, *names: str) -> list[Element]:
        """Return the elements of sections that are kept with their attributes."""
        return [
            element
            for name in names
            for one in self._items(name)
            if (element := self._element(one)) is not None
        ]

    def _items(self, name: str) -> Iterator[Mapping[str, object]]:
        held = self.kept_values.get(name)
        for one in held if isinstance(held, (list, tuple)) else []:
            if isinstance(one, Mapping):
                yield one

    def _element(self, one: Mapping[str, object], depth: int = 0) -> Element | None:
        name = one.get("element")
        if not isinstance(name, str) or not name.isidentifier() or depth > MAX_DEPTH:
            self._report(f"an entry that is not an element: {name!r:.60}")
            return None
        element = Element(
            name,
            {
                key: value
                for key, value in attributes_of(one).items()
                if key != "element"
            },
        )
        inner = one.get("children")
        for child in inner if isinstance(inner, (list, tuple)) else []:
            if isinstance(child, Mapping):
                made = self._element(child, depth + 1)
            else:
                made = None
            if made is not None:
                element.children.append(made)
        return element

    def _collect_names(self, element: Element, section: str = "") -> None:
        """Add the names of an element, which is in a section, and of those in it."""
        stack = [(element, section)]
        while stack:
            one, section = stack.pop()
            if one.name in (*LISTS, "actuator", "sensor") and not one.get("name"):
                inside = one.name
            else:
                inside = section
            if one.get("name"):
                self._names.setdefault(_kind(section, one), set()).add(one.get("name"))
            stack += [(child, inside) for child in one.children]

    def _obstacle(self, section: str, element: Element) -> str:
        """Return why an element is not written.

        Something that it names is missing, or its own name is not free; "" if nothing
        is.
        """
        if element.get("name") and element.get("name") in self._names.get(
            _kind(section, element), ()
        ):
            return "another element has its name"
        for one in element.every():
            if one.get("class") and one.get("class") not in self.classes:
                del one.attributes["class"]
            if section in ("custom", "keyframe") and one.name != "element":
                continue
            for key, wanted in self._named(one):
                if wanted not in self._names.get(key, ()) and not (
                    key == "body" and wanted == "world"
                ):
                    return f"there is no {key} {wanted!r:.60}"
        if section == "asset" and (
            element.get("file") or element.name not in ("texture", "hfield")
        ):
            return "it has a file of its own"
        if section == "keyframe" and self.joints != self.kept_values.get("joints"):
            return "the joints of the model have changed"
        return ""

    @staticmethod
    def _named(element: Element) -> Iterator[tuple[str, str]]:
        for key, value in element.attributes.items():
            if key in OBJECTS and element.get(OBJECTS[key]):
                kind = element.get(OBJECTS[key])
                yield KINDS.get(kind, kind), value.strip()
            elif key in OF_KIND and (element.name != "light" or key == "target"):
                yield OF_KIND[key], value.strip()

    def _report(self, message: str, section: str = "actuator") -> None:
        location = Location(inside=self.body.name or "extra")
        if section in PHYSICAL_SECTIONS:
            rule = losses.ONLY_MJCF
        else:
            rule = losses.ONLY_MJCF.as_note
        self.problems.add(rule.problem(f"left out: {message}", location))
