"""What of a model is no body, kept as plain data; and what its motors say of the joints."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from bodymotion.formats.mjcf import rules
from bodymotion.formats.mjcf.references import is_motor
from bodymotion.model.motors import effort_range

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem
    from bodymotion.formats.mjcf.defaults import Defaults
    from bodymotion.formats.mjcf.devices import DeviceReader
    from bodymotion.formats.mjcf.loops import LoopReader
    from bodymotion.formats.mjcf.tree import Tree
    from bodymotion.formats.xml.tree import Element
    from bodymotion.model.links import Link

__all__ = ["plain_sections", "with_efforts"]

SECTIONS = ("keyframe", "tendon", "actuator", "contact")
WHOLE = ("option", "size", "statistic", "visual", "extension", "deformable")
"""Sections that are kept with their own attributes."""
CLASSED = (
    *("general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder", "muscle", "adhesion", "dcmotor"),
    *("tendon", "equality", "pair"),
)
"""What classes of defaults say of these is kept, since their elements are kept as they stand."""
MOST = 100_000
"""So many elements are kept as they are."""


def with_efforts(links: tuple[Link, ...], tree: Tree, root: Element, defaults: Defaults) -> tuple[Link, ...]:
    """Return the links with the range of effort at their joints, as far as motors say it and the joints do not already."""
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
            # What controls a motor is a force; what controls the others is none.
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
    said: dict[str, object],
    loops: LoopReader,
    devices: DeviceReader,
    tree: Tree,
    problems: list[Problem],
) -> dict[str, object]:
    """Return what has no place in a body by the name of its section; of a file of ours only what is not made of the body.

    `said` is what a file of ours keeps of the body.
    """
    made = bool(said) and "motors" in said
    motors = _own_motors(root, tree) if made else set()
    excluded = said.get("excludes")
    excludes = excluded if made and isinstance(excluded, list) else []
    found: dict[str, list[Element]] = {}
    for name in SECTIONS:
        for element in (child for section in root.all(name) for child in section.children):
            ours = (
                (name == "actuator" and id(element) in motors)
                or (name == "contact" and [element.get("body1"), element.get("body2")] in excludes)
                or (name == "tendon" and element.get("name") in loops.tendons)
            )
            if not ours:
                found.setdefault(name, []).append(element)
    for name in WHOLE:
        found.setdefault(name, []).extend(root.all(name))
    numbers = [
        c for section in root.all("custom") for c in section.children if not c.get("name").startswith("bodymotion ")
    ]
    found["custom"] = numbers
    found["asset"] = [
        child for section in root.all("asset") for child in section.children if child.name not in ("mesh", "material")
    ]
    # Images of materials are read; what else there is, sky and height fields, is kept.
    found["asset"] = [
        child
        for child in found["asset"]
        if not (child.name == "texture" and child.get("file") and child.get("type", "cube") == "2d")
    ]
    for name, elements in (("equality", loops.others), ("sensor", devices.others)):
        found[name] = elements
    left = [MOST]
    kept: dict[str, object] = {}
    for name, elements in found.items():
        if not elements:
            continue
        rule = {"equality": rules.EQUALITY, "sensor": rules.SENSOR}.get(name, rules.KEPT)
        # Motors of joints are what a robot has: their efforts are read.
        told = [element for element in elements if name != "actuator" or not is_motor(element)]
        if told and name not in ("size", "asset", "custom"):
            what = f"{len(told)} of <{name}>" if len(told) > 1 else f"one of <{name}>"
            problems.append(rule.problem(f"{what} kept as plain data", told[0].location))
        kept[name] = [_plain(element, left) for element in elements]
    for one, element in zip(kept.get("sensor", []), devices.others, strict=False):  # type: ignore[call-overload]
        one["order"] = devices.order[id(element)]
    classes = [_classes(element, left) for element in root.all("default")]
    if any(classes):
        kept["default"] = [one for one in classes if one]
    if tree.said:
        kept["bodies"] = tree.said
    if tree.beside:
        kept["worldbody"] = tree.beside
    if "keyframe" in kept:
        # A ball joint stands for three links.
        elements_of = dict.fromkeys(id(raw.joint_element) for raw in tree.links if raw.joint_element is not None)
        named = {id(raw.joint_element): raw.joint.name for raw in tree.links if raw.joint_element is not None}
        balls = {
            id(e): e.get("name")
            for raw in tree.links
            if (e := raw.joint_element) is not None and e.get("type") == "ball"
        }
        kept["joints"] = [{**named, **balls}[key] for key in elements_of]
    return {"mjcf": kept} if kept else {}


def _own_motors(root: Element, tree: Tree) -> set[int]:
    """Return the motors that our writer made, the first one of each joint."""
    joints = {raw.joint_element.get("name") for raw in tree.links if raw.joint_element is not None}
    found: dict[str, int] = {}
    for section in root.all("actuator"):
        for element in section.all("motor"):
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
    """Return a class of defaults with those in it, as far as they say something of what is kept as it stands."""
    if depth > 20:
        return {}
    inside = [_plain(child, left) for child in element.children if child.name in CLASSED]
    inside += [below for child in element.all("default") if (below := _classes(child, left, depth + 1))]
    return {"element": "default", **element.attributes, "children": inside} if inside else {}
