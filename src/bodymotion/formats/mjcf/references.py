"""Whether what actuators drive is in the model: MuJoCo refuses a file where it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bodymotion.formats.mjcf import rules
from bodymotion.formats.mjcf.tree import NOT_READ
from bodymotion.formats.xml.places import nearest

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem
    from bodymotion.formats.xml.tree import Element

__all__ = ["check_actuators", "is_motor"]

DRIVEN = {
    "joint": "joint",
    "jointinparent": "joint",
    "tendon": "tendon",
    "site": "site",
    "refsite": "site",
    "cranksite": "site",
    "slidersite": "site",
    "body": "body",
}
"""What an attribute of an actuator names."""

MOST = 200
"""So many actuators are told."""
MOST_NAMES = 2_000
"""Among more names none is looked for that is meant by another."""


def is_motor(element: Element) -> bool:
    """Whether an actuator drives one joint and nothing else, as a motor of a robot does."""
    return "joint" in element.attributes or "jointinparent" in element.attributes


def check_actuators(root: Element, problems: list[Problem]) -> None:
    """Note actuators that drive something which is not there, as errors; the body can be read all the same."""
    actuators = [element for section in root.all("actuator") for element in section.children]
    if not actuators:
        return
    names: dict[str, set[str]] = {"joint": set(), "site": set(), "body": set()}
    for world in root.all("worldbody"):
        for element in world.every():
            if element.name in NOT_READ:
                # What it makes has names that stand nowhere.
                return
            kind = "joint" if element.name == "freejoint" else element.name
            if kind in names:
                names[kind].add(element.get("name"))
    names["tendon"] = {element.get("name") for section in root.all("tendon") for element in section.children}
    left = MOST
    for element in actuators:
        for attribute, kind in DRIVEN.items():
            name = element.get(attribute)
            if not name or name in names[kind] or left == 0:
                continue
            left -= 1
            known = names[kind] - {""}
            other = nearest(name, sorted(known)) if len(known) <= MOST_NAMES else None
            words = f"<{element.name:.60}> drives the {kind} {name!r:.60}, which is not there"
            hint = None if other is None else f"did you mean {other!r:.60}?"
            problems.append(rules.REFERENCE.problem(words, element.place(attribute), hint))
