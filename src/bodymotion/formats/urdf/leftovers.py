"""What other programs say inside of links and joints: kept as XML, and put back where it was."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from bodymotion.formats.urdf import rules
from bodymotion.formats.urdf.elements import one_line
from bodymotion.formats.xml.places import nearest
from bodymotion.formats.xml.tree import Element, parse_xml

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem

__all__ = ["parsed", "put_back", "read_rest", "unknown_element"]

_SHAPE = (("name",), ("origin", "geometry", "material"))
_SIZES = (("radius", "length"), ())
WORDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "link": (("name",), ("inertial", "visual", "collision")),
    "inertial": ((), ("origin", "mass", "inertia")),
    "mass": (("value",), ()),
    "inertia": (("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), ()),
    "visual": _SHAPE,
    "collision": _SHAPE,
    "geometry": ((), ("box", "cylinder", "sphere", "capsule", "mesh")),
    "box": (("size",), ()),
    "cylinder": _SIZES,
    "sphere": _SIZES,
    "capsule": _SIZES,
    "mesh": (("filename", "scale"), ()),
    "material": (("name",), ("color", "texture")),
    "color": (("rgba",), ()),
    "texture": (("filename",), ()),
    "joint": (
        ("name", "type"),
        ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic", "calibration", "safety_controller"),
    ),
    "origin": (("xyz", "rpy"), ()),
    "parent": (("link",), ()),
    "child": (("link",), ()),
    "axis": (("xyz",), ()),
    "limit": (("lower", "upper", "effort", "velocity"), ()),
    "dynamics": (("damping", "friction"), ()),
    "mimic": (("joint", "multiplier", "offset"), ()),
    "calibration": (("rising", "falling"), ()),
    "safety_controller": (("soft_lower_limit", "soft_upper_limit", "k_position", "k_velocity"), ()),
}
"""The attributes and elements of each element of a link or joint; those below <geometry> are told by the reader of shapes."""

REPEATED = ("visual", "collision")
MOST_SLIPS = 10
"""So many attributes of an element are looked at for slips."""
MOST_PROBLEMS = 500
"""In a file with more to be said than this, slips are not looked for any longer, and unknown elements are not listed one by one."""


def read_rest(element: Element, problems: list[Problem]) -> str:
    """Return what a <link> or <joint> says that URDF does not have, as XML with nothing else in it; empty where there is nothing.

    Of visuals and collisions all are there, empty ones too, as soon as one says something: so they can be told apart.
    """
    rest = _rest(element, problems, f"{element.name} {element.get('name')!r:.60}")
    return one_line(rest) if _says(rest) else ""


def _says(rest: Element) -> bool:
    return bool(rest.attributes or rest.children)


def _rest(element: Element, problems: list[Problem], title: str) -> Element:
    attributes, words = WORDS[element.name]
    others = {
        key: value for key, value in element.attributes.items() if key not in attributes and not key.startswith("xmlns")
    }
    slips = _slips(element, others, attributes) if others and len(problems) < MOST_PROBLEMS else {}
    if slips:
        first = next(iter(slips))
        what = ", ".join(f"{slip!r:.60}: did you mean {word!r}?" for slip, word in slips.items())
        problems.append(rules.MISSPELT.problem(f"<{element.name}> has no attribute {what}", element.place(first)))
    if len(others) > len(slips):
        strange = [key for key in others if key not in slips]
        what = f"{', '.join(strange)[:80]} of <{element.name}> in {title} is kept"
        problems.append(rules.UNKNOWN.problem(what, element.place(strange[0])))
    rest = Element(element.name, others)
    for word in words:
        found = list(element.all(word))
        parts = [_rest(one, problems, title) for one in (found if word in REPEATED else found[:1])]
        if any(map(_says, parts)):
            rest.children += parts
        if word not in REPEATED and len(found) > 1:
            problems.append(rules.SECOND.problem(f"a second <{word}> in {title}", found[1].location))
    there = {child.name for child in element.children}
    free = [word for word in words if word in REPEATED or word not in there]
    for child in element.children:
        if child.name not in words and element.name != "geometry":
            if len(problems) < MOST_PROBLEMS:
                problems.append(unknown_element(child, free, f" in {title}", problems))
            elif len(problems) == MOST_PROBLEMS:
                more = "what else means nothing in URDF is kept, too, and not listed any longer"
                problems.append(rules.UNKNOWN.problem(more, child.location))
            rest.children.append(child)
    return rest


def _slips(element: Element, others: Mapping[str, str], known: tuple[str, ...]) -> dict[str, str]:
    """Return the attributes that are others by a slip, with those that are meant and not there."""
    free = [name for name in known if name not in element.attributes]
    found = {name: nearest(name, free) for name in islice(others, MOST_SLIPS)}
    return {name: word for name, word in found.items() if word is not None}


def unknown_element(child: Element, known: Iterable[str], where: str, problems: list[Problem]) -> Problem:
    """Say that an element means nothing where it stands, and which it may be meant for."""
    word = nearest(child.name, known) if len(problems) < MOST_PROBLEMS else None
    if word is None:
        return rules.UNKNOWN.problem(f"<{child.name[:60]}>{where} is kept", child.location)
    return rules.MISSPELT.problem(f"<{child.name[:60]}>{where}: did you mean <{word}>?", child.location)


def parsed(text: object, name: str) -> Element | None:
    """Return what `read_rest` gave, as an element of that name; None where it is none."""
    try:
        found = parse_xml(str(text).encode("utf-8", "replace"))
    except ValueError:
        return None
    return found if found.name == name else None


def put_back(element: Element, rest: Element) -> bool:
    """Put what was read of another element into one; give whether all of it has a place there."""
    whole = True
    _, words = WORDS.get(element.name, ((), ()))
    for key, value in rest.attributes.items():
        element.attributes.setdefault(key, value)
    for word in REPEATED:
        ours, theirs = list(element.all(word)), list(rest.all(word))
        if word in words and len(ours) == len(theirs):
            for one, other in zip(ours, theirs, strict=True):
                whole &= put_back(one, other)
        elif word in words and any(map(_says, theirs)):
            whole = False
    for child in rest.children:
        if child.name not in words:
            element.children.append(replace(child))
        elif child.name not in REPEATED:
            there = element.first(child.name)
            whole &= there is not None and put_back(there, child)
    return whole
