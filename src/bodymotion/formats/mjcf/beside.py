"""What of a model is no body, kept as plain data; and what its motors say of the joints."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from bodymotion.formats.mjcf import rules
from bodymotion.formats.mjcf.motors import effort_range

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem
    from bodymotion.formats.mjcf.defaults import Defaults
    from bodymotion.formats.mjcf.loops import LoopReader
    from bodymotion.formats.mjcf.tree import Tree
    from bodymotion.formats.xml_tree import Element
    from bodymotion.links import Link

__all__ = ["plain_sections", "with_efforts"]

SECTIONS = ("keyframe", "tendon", "actuator", "contact")
MOST = 100_000
"""So many elements are kept as they are."""


def with_efforts(links: tuple[Link, ...], tree: Tree, root: Element, defaults: Defaults) -> tuple[Link, ...]:
    """Give the links with the range of effort at their joints, as far as motors say it and the joints do not already."""
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
    root: Element, own: bool, loops: LoopReader, sensors: list[Element], tree: Tree, problems: list[Problem]
) -> dict[str, object]:
    """Give what has no place in a body by the name of its section; of a file of ours (`own`) only what is not made of the body."""
    joints = {raw.joint_element.get("name") for raw in tree.links if raw.joint_element is not None}
    found: dict[str, list[Element]] = {}
    for name in SECTIONS:
        for element in (child for section in root.all(name) for child in section.children):
            ours = own and (
                (name == "actuator" and element.name == "motor" and element.get("joint") in joints)
                or (name == "contact" and element.name == "exclude")
                or (name == "tendon" and element.get("name") in loops.tendons)
            )
            if not ours:
                found.setdefault(name, []).append(element)
    for name, elements in (("equality", loops.others), ("sensor", sensors)):
        if elements:
            found[name] = elements
    left = [MOST]
    for name, elements in found.items():
        rule = {"equality": rules.EQUALITY, "sensor": rules.SENSOR}.get(name, rules.KEPT)
        what = f"{len(elements)} of <{name}>" if len(elements) > 1 else f"one of <{name}>"
        problems.append(rule.problem(f"{what} kept as plain data", elements[0].location))
    kept = {name: [_plain(element, left) for element in elements] for name, elements in found.items()}
    return {"mjcf": kept} if kept else {}


def _plain(element: Element, left: list[int], depth: int = 0) -> dict[str, object]:
    left[0] -= 1
    values: dict[str, object] = {"element": element.name, **element.attributes}
    if element.children and left[0] > 0 and depth < 20:
        values["children"] = [_plain(child, left, depth + 1) for child in element.children]
    return values
