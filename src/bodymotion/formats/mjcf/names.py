"""The elements and attributes of MJCF, which are in `elements.txt`, and names that a model uses and does not have."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from bodymotion.formats.mjcf import rules
from bodymotion.formats.xml.syntax import closest_name

if TYPE_CHECKING:
    from bodymotion.formats.xml.tree import Element

CONTAINERS = ("worldbody", "body", "frame", "replicate")
"""Elements that have the content of a `<body>`, one another included."""


@dataclass
class Content:
    """What an element may have: attributes, and elements by their names; None where its elements are not checked."""

    attributes: frozenset[str]
    elements: dict[str, Content] | None = field(default_factory=dict)


@cache
def vocabulary() -> Mapping[str, Content]:
    """Return what `<mujoco>` and `<mujocoinclude>` may have, by these names."""
    sections: dict[str, dict[str, str]] = {"groups": {}, "sensors": {}, "elements": {}}
    top: dict[str, Content] = {}
    stack: list[dict[str, Content]] = [top]
    rows: dict[str, str] = {}
    for line in Path(__file__).with_name("elements.txt").read_text("utf-8").splitlines():
        name, _, attributes = line.strip().partition(":")
        if not line.startswith("  "):
            rows = sections.get(name, {})
        elif rows is not sections["elements"]:
            rows[name] = attributes
        else:
            depth = (len(line) - len(line.lstrip())) // 2 - 1
            content = Content(frozenset(_expanded(attributes, sections["groups"])))
            del stack[depth + 1 :]
            stack[depth][name] = content
            assert content.elements is not None
            stack.append(content.elements)
    root = top["mujoco"].elements
    assert root is not None and root["sensor"].elements is not None and root["default"].elements is not None
    for more, names in sections["sensors"].items():
        for name in names.split():
            known = root["sensor"].elements.setdefault(name, Content(frozenset()))
            known.attributes = frozenset(_expanded(f"*sensor {more}", sections["groups"]))
    root["default"].elements["default"] = root["default"]
    in_body = root["body"].elements
    assert in_body is not None
    for name in CONTAINERS:
        root[name].elements = in_body
        if name != "worldbody":
            in_body[name] = root.pop(name)
    # MuJoCo 4 does not have it any more; its content is not checked.
    in_body["composite"] = Content(frozenset(), None)
    return top | {"mujocoinclude": top["mujoco"]}


def _expanded(text: str, groups: Mapping[str, str]) -> set[str]:
    found: set[str] = set()
    for word in text.split():
        found |= _expanded(groups[word[1:]], groups) if word.startswith("*") else {word}
    return found


def check_names(root: Element) -> None:
    """Report the elements and attributes of a model that MJCF does not have; what is in such an element is not looked at."""
    stack: list[tuple[Element, Content]] = [(root, vocabulary()[root.name])]
    while stack:
        element, content = stack.pop()
        if content.elements is None:
            continue
        for name in element.attributes:
            if name not in content.attributes and not name.startswith(("xmlns", "xml:")):
                free = content.attributes - element.attributes.keys()
                _report_name(element, name, f"<{element.name}> has no attribute {name!r:.60}", name, free, "'{}'")
        for child in element.children:
            if child.name not in content.elements and child.name != "include":
                message = f"<{element.name}> has no element <{child.name:.60}>"
                _report_name(child, "", message, child.name, content.elements, "<{}>")
        known = ((child, content.elements.get(child.name)) for child in reversed(element.children))
        stack += [(child, inner) for child, inner in known if inner is not None]


def _report_name(element: Element, attribute: str, message: str, name: str, known: Collection[str], shown: str) -> None:
    """Report an unknown name, and which of the known ones may be meant, unless so many were reported that more are only counted."""
    found = None if element.document is None else element.document.found
    full = found is not None and (found.is_full(rules.FOREIGN) or found.is_full(rules.MISSPELT))
    meant = None if full else closest_name(name, known)
    if meant is None:
        element.report(rules.FOREIGN, message, attribute)
    else:
        element.report(rules.MISSPELT, f"{message}: did you mean {shown.format(meant)}?", attribute)


NOT_READ = ("composite", "flexcomp", "replicate", "attach", "plugin")
"""Elements of a body that are not read; MuJoCo makes bodies of them."""

OF_KIND = {
    **dict.fromkeys(("joint", "joint1", "joint2", "jointinparent"), "joint"),
    **dict.fromkeys(("body", "body1", "body2", "target"), "body"),
    **dict.fromkeys(("geom", "geom1", "geom2"), "geom"),
    **dict.fromkeys(("site", "site1", "site2", "refsite", "sidesite", "slidersite", "cranksite"), "site"),
    **dict.fromkeys(("tendon", "tendon1", "tendon2"), "tendon"),
    **{kind: kind for kind in ("actuator", "camera", "mesh", "hfield", "texture", "material", "plugin", "flex")},
    "instance": "plugin",
}
"""By attribute, the kind of object that it names."""
DRIVEN = ("joint", "jointinparent", "tendon", "site", "refsite", "cranksite", "slidersite", "body")
"""The attributes of an actuator that name what it drives."""

MAX_SPELLING_NAMES = 2_000
"""Among more names no similar one is searched for."""


def check_actuators(root: Element) -> None:
    """Report actuators that drive something that does not exist; the body can be read all the same."""
    actuators = list(root.inside("actuator"))
    if not actuators:
        return
    names: dict[str, set[str]] = {"joint": set(), "site": set(), "body": set()}
    for world in root.all("worldbody"):
        for element in world.every():
            if element.name in NOT_READ:
                # MuJoCo makes bodies of it, with names that are not in the file.
                return
            kind = "joint" if element.name == "freejoint" else element.name
            if kind in names:
                names[kind].add(element.get("name"))
    names["tendon"] = {element.get("name") for element in root.inside("tendon")}
    for element in actuators:
        for attribute in DRIVEN:
            kind, name = OF_KIND[attribute], element.get(attribute)
            if not name or name in names[kind]:
                continue
            known = names[kind] - {""}
            other = closest_name(name, sorted(known)) if len(known) <= MAX_SPELLING_NAMES else None
            message = f"<{element.name:.60}> drives the {kind} {name!r:.60}, which does not exist"
            hint = None if other is None else f"did you mean {other!r:.60}?"
            element.report(rules.REFERENCE, message, attribute, hint=hint)
