"""What a file holds that a Body has no field for, as plain data in `extra` under "mjcf"; and the efforts of motors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.formats.mjcf import rules
from bodymotion.formats.mjcf.assets import CLASSES, INTEGRATOR, SCENE
from bodymotion.formats.mjcf.defaults import finite, pose
from bodymotion.formats.mjcf.names import is_motor
from bodymotion.formats.xml.tree import number_text
from bodymotion.geometry import poses, rotations
from bodymotion.model.motors import effort_range

if TYPE_CHECKING:
    from bodymotion.formats.mjcf.bodies import Tree
    from bodymotion.formats.mjcf.defaults import Defaults, Item, Settings
    from bodymotion.formats.mjcf.devices import DeviceReader, LoopReader
    from bodymotion.formats.mjcf.geoms import Geom
    from bodymotion.formats.xml.tree import Element
    from bodymotion.model.links import Link

POSE = ("pos", "quat", "axisangle", "euler", "xyaxes", "zaxis")
SITE_ATTRIBUTES = ("name", "class", "material", "fromto", *POSE)
"""Attributes of a site that its device has fields for."""
BODY_ATTRIBUTES = ("name", "childclass", *POSE)
GEOM_RULES = {"contype": "1", "conaffinity": "1", "group": "0"}
"""The defaults of geoms."""
GEOM_KEPT = (
    "contype",
    "conaffinity",
    "condim",
    "group",
    "priority",
    "friction",
    "solmix",
    "solref",
    "solimp",
    "margin",
    "gap",
    "fluidshape",
    "fluidcoef",
    "user",
)


def body_extras(element: Element, lights: Sequence[Item], settings: Settings) -> dict[str, object]:
    """Return what a body has besides joints, mass, shapes and devices: attributes and lights."""
    values: dict[str, object] = {}
    attributes = {key: value for key, value in element.attributes.items() if key not in BODY_ATTRIBUTES}
    if attributes:
        values["body"] = attributes
    if lights:
        values["lights"] = [in_body_frame(item, settings) for item in lights]
    return values


def in_body_frame(item: Item, settings: Settings) -> dict[str, object]:
    """Return an element of a body as plain data: with its defaults, in the body's frame, angles in radians."""
    element = item.element
    values = {key: value for key, value in element.attributes.items() if key not in ("class", *POSE)}
    if element.name == "light":
        item_pose = poses.from_parts(finite(element, "pos", 3, (0.0, 0.0, 0.0)), rotations.IDENTITY)
        if item.frame is not None:
            item_pose = poses.compose(item.frame, item_pose)
            values["dir"] = number_text(rotations.rotate(item.frame[3:], finite(element, "dir", 3, (0.0, 0.0, -1.0))))
        return {"element": "light", **values, "pos": number_text(item_pose[:3])}
    if "fromto" in values:
        ends = finite(element, "fromto", 6).reshape(2, 3)
        ends = ends if item.frame is None else poses.transform_points(item.frame, ends)
        return {"element": element.name, **values, "fromto": number_text(ends)}
    item_pose = pose(element, settings)
    item_pose = item_pose if item.frame is None else poses.compose(item.frame, item_pose)
    return {"element": element.name, **values, "pos": number_text(item_pose[:3]), "quat": number_text(item_pose[3:])}


def geom_rules(geoms: Sequence[Geom]) -> list[dict[str, object]]:
    """Return the attributes of contact and visibility of each geom that the classes of our writer do not give; none where no geom
    has any.
    """
    found: list[dict[str, object]] = []
    needed = False
    for geom in geoms:
        element = geom.element
        attributes = {key: value for key, value in element.attributes.items() if key in GEOM_KEPT}
        own_flat_mesh = geom.type == "mesh" and element.get("class") in CLASSES and has_no_contacts(element)
        regular = {**GEOM_RULES, **CLASSES[kind_of(visual=geom.visual, collision=geom.collision)]}
        values: dict[str, object] = {}
        for key, value in {**GEOM_RULES, **attributes}.items():
            if key in ("contype", "conaffinity") and own_flat_mesh:
                continue
            if key == "group" and _hidden(value) == _hidden(regular["group"]):
                # Viewers may use groups for more; here they only hide geoms.
                continue
            if value.split() != regular.get(key, "").split():
                values[key] = value
        if geom.type == "plane":
            values["plane"] = element.get("size")
        needed |= bool(values)
        found.append({**values, "shown": [geom.visual, geom.collision]})
    kinds = [(geom.visual, geom.collision) for geom in geoms]
    # Our writer puts geoms that are only visible first, and writes one geom for both purposes only where all geoms are so.
    ordered = kinds == sorted(kinds, key=lambda kind: kind[1]) and ((True, True) not in kinds or len(set(kinds)) == 1)
    return found if needed or not ordered else []


def _hidden(group: str) -> bool:
    return group.strip() not in ("", "0", "1", "2")


def kind_of(*, visual: bool, collision: bool) -> str:
    """Return the class that our writer gives a geom."""
    return "seen_collision" if visual and collision else "visual" if visual else "collision"


def has_no_contacts(element: Element) -> bool:
    """Return whether contype and conaffinity exclude all contacts of a geom."""
    return not np.any([element.number(key, 1.0) for key in ("contype", "conaffinity")])


SECTIONS = ("keyframe", "tendon", "actuator", "contact")
WHOLE = ("option", "size", "statistic", "visual", "extension", "deformable")
"""Sections that are kept with their attributes."""
CLASSED = (
    *("general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder", "muscle", "adhesion", "dcmotor"),
    *("tendon", "equality", "pair"),
)
"""Elements whose defaults are kept, because the elements are kept as they are."""
MAX_KEPT = 100_000
"""Elements that are kept with their children."""


def with_efforts(links: tuple[Link, ...], tree: Tree, root: Element, defaults: Defaults) -> tuple[Link, ...]:
    """Return the links with the effort ranges of their joints that only motors give."""
    changed = list(links)
    by_joint = {link.joint.name: link.index for link in reversed(links) if link.joint.type in ("rotate", "slide")}
    for raw, link in zip(tree.links, links, strict=True):
        if raw.joint_element is not None and raw.joint_element.get("name"):
            by_joint[raw.joint_element.get("name")] = link.index
    for section in root.all("actuator"):
        for plain in section.all("motor", "position", "velocity", "general"):
            element = defaults.full(plain)
            index = by_joint.get(element.get("joint"))
            if index is None:
                continue
            gear = element.numbers("gear")[0] if element.get("gear") else 1.0
            # The control of a motor is a force; that of other actuators is not.
            control = element.numbers("ctrlrange", 2, (0.0, 0.0)) if element.name == "motor" else (0.0, 0.0)
            limits = element.numbers("forcerange", 2, control)
            low, high = sorted((limits[0] * gear, limits[1] * gear))
            joint = changed[index].joint
            known = effort_range(joint)
            if not low < high or not math.isfinite(low) or not math.isfinite(high):
                continue
            if known is None or not (
                math.isclose(known[0], low, rel_tol=1e-9) and math.isclose(known[1], high, rel_tol=1e-9)
            ):
                extra = {**joint.extra, "joint_effort_range": [low, high]}
                changed[index] = replace(changed[index], joint=replace(joint, extra=extra))
    return tuple(changed)


def plain_sections(
    root: Element,
    of_body: dict[str, object],
    loops: LoopReader,
    devices: DeviceReader,
    tree: Tree,
) -> dict[str, object]:
    """Return the elements that no field of a body holds, by section; of a file of ours without those that the writer makes again.

    `of_body` is what <custom> keeps of the body.
    """
    made = "motors" in of_body
    kinds = {"made": "motor", "position": "position"}
    motors = _own_motors(root, tree, kinds.get(str(of_body.get("motors")), "")) if made else set()
    excluded = of_body.get("excludes")
    excludes = excluded if made and isinstance(excluded, list) else []
    found: dict[str, list[Element]] = {}
    for name in SECTIONS:
        for element in (child for section in root.all(name) for child in section.children):
            ours = (
                (name == "actuator" and id(element) in motors)
                or (name == "keyframe" and made and element.get("name") in SCENE)
                or (name == "contact" and [element.get("body1"), element.get("body2")] in excludes)
                or (name == "tendon" and element.get("name") in loops.tendons)
            )
            if not ours:
                found.setdefault(name, []).append(element)
    for name in WHOLE:
        found.setdefault(name, []).extend(e for e in root.all(name) if not (made and e.attributes == INTEGRATOR))
    numbers = [
        c for section in root.all("custom") for c in section.children if not c.get("name").startswith("bodymotion ")
    ]
    found["custom"] = numbers
    found["asset"] = [
        child for section in root.all("asset") for child in section.children if child.name not in ("mesh", "material")
    ]
    # Images of materials are read; other textures, such as the sky, and height fields are kept.
    found["asset"] = [
        child
        for child in found["asset"]
        if not (child.name == "texture" and child.get("file") and child.get("type", "cube") == "2d")
    ]
    for name, elements in (("equality", loops.others), ("sensor", devices.others)):
        found[name] = elements
    left = [MAX_KEPT]
    kept: dict[str, object] = {}
    for name, elements in found.items():
        if not elements:
            continue
        rule = {"equality": rules.EQUALITY, "sensor": rules.SENSOR}.get(name, rules.KEPT)
        # The efforts of motors of joints are read.
        reported = [element for element in elements if name != "actuator" or not is_motor(element)]
        if reported and name not in ("size", "asset", "custom"):
            what = f"{len(reported)} of <{name}>" if len(reported) > 1 else f"one of <{name}>"
            reported[0].report(rule, f"{what} kept as plain data")
        kept[name] = [_plain(element, left) for element in elements]
    for one, element in zip(kept.get("sensor", []), devices.others, strict=False):  # type: ignore[call-overload]
        one["order"] = devices.order[id(element)]
    classes = [_classes(element, left) for element in root.all("default")]
    if any(classes):
        kept["default"] = [one for one in classes if one]
    if tree.of_bodies:
        kept["bodies"] = tree.of_bodies
    if tree.of_world:
        kept["worldbody"] = tree.of_world
    if "keyframe" in kept:
        # A ball joint is read as three links.
        elements_of = dict.fromkeys(id(raw.joint_element) for raw in tree.links if raw.joint_element is not None)
        named = {id(raw.joint_element): raw.joint.name for raw in tree.links if raw.joint_element is not None}
        balls = {
            id(e): e.get("name")
            for raw in tree.links
            if (e := raw.joint_element) is not None and e.get("type") == "ball"
        }
        kept["joints"] = [{**named, **balls}[key] for key in elements_of]
    return {"mjcf": kept} if kept else {}


def _own_motors(root: Element, tree: Tree, kind: str) -> set[int]:
    """Return the ids of the actuators of a kind that our writer made: the first one of each joint."""
    joints = {raw.joint_element.get("name") for raw in tree.links if raw.joint_element is not None}
    found: dict[str, int] = {}
    for section in root.all("actuator"):
        for element in section.all(kind):
            if element.get("joint") in joints:
                found.setdefault(element.get("joint"), id(element))
    return set(found.values())


def _plain(element: Element, left: list[int], depth: int = 0) -> dict[str, object]:
    left[0] -= 1
    values: dict[str, object] = {"element": element.name, **element.attributes}
    if element.children and left[0] > 0 and depth < 20:
        values["children"] = [_plain(child, left, depth + 1) for child in element.children]
    return values


def _classes(element: Element, left: list[int], depth: int = 0) -> dict[str, object]:
    """Return a class of defaults, and those in it, with the defaults of elements that are kept."""
    if depth > 20:
        return {}
    inside = [_plain(child, left) for child in element.children if child.name in CLASSED]
    inside += [below for child in element.all("default") if (below := _classes(child, left, depth + 1))]
    return {"element": "default", **element.attributes, "children": inside} if inside else {}
