"""The elements and attributes of MJCF (`elements.txt`), and their numbers.

Names of objects, and the texts in <custom> by these names.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

from bodymotion.diagnostics import Diagnostics
from bodymotion.formats.kept_json import plain
from bodymotion.formats.meshes.folder import MeshFolder
from bodymotion.formats.mjcf import rules
from bodymotion.formats.plain import parse_json
from bodymotion.formats.renaming import Renamings
from bodymotion.formats.xml.syntax import closest_name
from bodymotion.formats.xml.tree import MISSPELT, Element, is_xml_text
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body
from bodymotion.model.rules import NOT_FINITE

# Elements that have the content of a `<body>`, one another included.
CONTAINERS = "worldbody", "body", "frame", "replicate"
# Larger numbers are reported, like those that are not finite.
MAX_SIZE = 1e100

# Elements of a body that are not read. MuJoCo makes bodies of them.
NOT_READ = "composite", "flexcomp", "replicate", "plugin"

_OBJECTS = {
    "joint": ("joint", "joint1", "joint2", "jointinparent"),
    "body": ("body", "body1", "body2", "target"),
    "geom": ("geom", "geom1", "geom2"),
    "site": (
        "site",
        "site1",
        "site2",
        "refsite",
        "sidesite",
        "slidersite",
        "cranksite",
    ),
    "tendon": ("tendon", "tendon1", "tendon2"),
    "actuator": ("actuator",),
    "camera": ("camera",),
    "mesh": ("mesh",),
    "hfield": ("hfield",),
    "texture": ("texture",),
    "material": ("material",),
    "plugin": ("plugin", "instance"),
    "flex": ("flex",),
}
OF_KIND: dict[str, str] = {}
for _kind, _attributes in _OBJECTS.items():
    OF_KIND |= dict.fromkeys(_attributes, _kind)
"""By attribute, the kind of object that it names."""
# The attributes of an actuator that name what it drives.
DRIVEN = (
    "joint",
    "jointinparent",
    "tendon",
    "site",
    "refsite",
    "cranksite",
    "slidersite",
    "body",
)

# Among more names no similar one is searched for.
MAX_SPELLING_NAMES = 2_000


@dataclass
class Content:
    """What an element may have.

    Attributes, and elements by their names; None where its elements are not checked.
    """

    attributes: frozenset[str]
    elements: dict[str, Content] | None = field(default_factory=dict)

    @property
    def inner(self) -> dict[str, Content]:
        """The elements of an element whose elements are checked."""
        assert self.elements is not None
        return self.elements


@cache
def vocabulary() -> Mapping[str, Content]:
    """Return what `<mujoco>` and `<mujocoinclude>` may have, by these names."""
    text = Path(__file__).with_name("elements.txt").read_text("utf-8")
    sections: dict[str, dict[str, str]] = {"groups": {}, "sensors": {}}
    # The elements that are open at each level of indentation.
    levels: list[dict[str, Content]] = [{}]
    section = ""
    for line in text.splitlines():
        name, _, attributes = line.strip().partition(":")
        if not line.startswith("  "):
            section = name
        elif section in sections:
            sections[section][name] = attributes
        else:
            depth = (len(line) - len(line.lstrip())) // 2 - 1
            content = Content(frozenset(_expanded(attributes, sections["groups"])))
            levels[depth][name] = content
            levels[depth + 1 :] = [content.inner]
    top = levels[0]
    root = top["mujoco"].inner
    sensors = root["sensor"].inner
    for attributes, names in sections["sensors"].items():
        expanded = _expanded(f"*sensor {attributes}", sections["groups"])
        for name in names.split():
            content = sensors.setdefault(name, Content(frozenset()))
            content.attributes = frozenset(expanded)
    # Classes are nested to any depth: the table refers to itself.
    root["default"].inner["default"] = root["default"]
    in_body = root["body"].inner
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


def correct_names(root: Element) -> None:
    """Report the elements and attributes of a model that MJCF does not have.

    Read misspelt ones as they are meant.

    What is in other such elements is not looked at.
    """
    # Each element with what MJCF allows in it.
    stack: list[tuple[Element, Content]] = [(root, vocabulary()[root.name])]
    while stack:
        element, content = stack.pop()
        if content.elements is None:
            continue
        _correct_attributes(element, content.attributes)
        for child in element.children:
            if child.name not in content.elements and child.name != "include":
                message = f"<{element.name}> has no element <{child.name:.60}>"
                meant = _meant(child, child.name, content.elements)
                _report_name(child, "", message, meant and f"<{meant}>")
                child.name = meant or child.name
        for child in reversed(element.children):
            inner = content.elements.get(child.name)
            if inner is not None:
                stack.append((child, inner))


def _correct_attributes(element: Element, known: frozenset[str]) -> None:
    for name in list(element.attributes):
        if name in known or name.startswith(("xmlns", "xml:")):
            continue
        message = f"<{element.name}> has no attribute {name!r:.60}"
        meant = _meant(element, name, known - element.attributes.keys())
        _report_name(element, name, message, meant and f"'{meant}'")
        if meant:
            element.correct(name, meant)


def _meant(element: Element, name: str, known: Collection[str]) -> str | None:
    """Return which of the known names may be meant.

    None if so many were reported that more are only counted.
    """
    if element.is_full(rules.UNKNOWN_NAME) or element.is_full(MISSPELT):
        return None
    return closest_name(name, known)


def _report_name(
    element: Element, attribute: str, message: str, meant: str | None
) -> None:
    """Report an unknown name, and which one is meant."""
    if meant:
        message = f"{message}: did you mean {meant}?"
        element.report(MISSPELT, message, attribute)
    else:
        element.report(rules.UNKNOWN_NAME, message, attribute)


def finite(
    element: Element, name: str, count: int, default: tuple[float, ...] | None = None
) -> Floats:
    """Return the numbers of an attribute.

    Where one is larger than MAX_SIZE, which is reported, the default or NaN.
    """
    numbers = np.array(element.numbers(name, count, default))
    if (np.abs(numbers) < MAX_SIZE).all():
        return numbers
    message = (
        f"{name} of <{element.name}> has a number that is not finite, or larger than "
        f"{MAX_SIZE:g}"
    )
    element.report(NOT_FINITE, message, name, fatal=True)
    return np.full(count, np.nan) if default is None else np.array(default)


def check_actuators(root: Element) -> None:
    """Report actuators that drive something that does not exist.

    The body can be read all the same.
    """
    # By kind, the names that an actuator can refer to.
    names: dict[str, set[str]] = {"body": set(), "site": set(), "joint": set()}
    for world in root.all("worldbody"):
        for element in world.every():
            if element.name in NOT_READ:
                # MuJoCo makes bodies of it, with names that are not in the file.
                return
            kind = "joint" if element.name == "freejoint" else element.name
            if kind in names:
                names[kind].add(element.get("name"))
    names["tendon"] = {element.get("name") for element in root.inside("tendon")}
    for element in root.inside("actuator"):
        for attribute in DRIVEN:
            name = element.get(attribute)
            if name and name not in names[OF_KIND[attribute]]:
                _report_driven(element, attribute, names[OF_KIND[attribute]] - {""})


def _report_driven(element: Element, attribute: str, known: Collection[str]) -> None:
    """Report an actuator of something that is not among the known names."""
    kind = OF_KIND[attribute]
    name = element.get(attribute)
    hint = None
    if len(known) <= MAX_SPELLING_NAMES:
        similar = closest_name(name, sorted(known))
        if similar is not None:
            hint = f"did you mean {similar!r:.60}?"
    message = (
        f"<{element.name:.60}> drives the {kind} {name!r:.60}, which does not exist"
    )
    element.report(rules.REFERENCE, message, attribute, hint=hint)


def _fits(letter: str) -> bool:
    """Return whether a letter can be in a name."""
    return (letter == " " or not letter.isspace()) and is_xml_text(letter)


class Names:
    """Makes unique names for each kind of object (`body`, `joint`, `site` …)."""

    def __init__(self) -> None:
        # The name of the world as a body.
        self._used: dict[str, set[str]] = {"body": {"world"}}
        self._next: dict[tuple[str, str], int] = {}

    def free(self, kind: str, wanted: str, fallback: str = "") -> str:
        """Return the wanted name, with a number where it is used already.

        `fallback` where it is empty.

        Characters that XML cannot hold, and white space other than a blank, become `_`.
        """
        letters = [letter if _fits(letter) else "_" for letter in wanted]
        text = "".join(letters).strip() or fallback or kind
        used = self._used.setdefault(kind, set())
        name = text
        # The number to try first: without it, many equal names would take quadratic
        # time.
        number = self._next.get((kind, text), 2)
        while name in used:
            name = f"{text}_{number}"
            number += 1
        self._next[kind, text] = number
        used.add(name)
        return name

    def release(self, kind: str, name: str) -> None:
        """Release a name that was not used."""
        self._used.get(kind, set()).discard(name)


class Kept:
    """The texts of a file with what MJCF cannot hold of a Body.

    They are in `<custom>`, which MuJoCo ignores and our reader reads. The name of a
    text is `bodymotion KIND NAME`, with the name of an
    object in the file; its data is a mapping in JSON::

        <custom>
          <text name="bodymotion link RARM_ELBOW" data="{&quot;joint&quot;:
          {&quot;id&quot;: 7, &quot;gear_ratio&quot;: 100.0}}"/>
        </custom>

    Kinds are `body` (whose name is empty), `link`, `device`, `geom`, `material` and
    `loop`. A text has only what the rest of the file does not hold. Where the two
    disagree because the file was edited, the rest of the file counts.
    """

    def __init__(self) -> None:
        self.lost: list[str] = []
        """The paths of values that JSON cannot hold."""
        self._texts: dict[str, dict[str, object]] = {}

    def add(self, kind: str, name: str, values: Mapping[str, object]) -> None:
        """Keep values of an object."""
        if values:
            key = f"{kind} {name}".rstrip()
            self._texts.setdefault(f"bodymotion {key}", {}).update(
                plain(values, self.lost, key)
            )

    def get(self, kind: str, name: str) -> dict[str, object]:
        """Return what is kept of an object; mostly nothing."""
        return self._texts.get(f"bodymotion {kind} {name}".rstrip(), {})

    def names(self, kind: str) -> list[str]:
        """Return the names of the objects of a kind that have a text."""
        start = f"bodymotion {kind} "
        return [key.removeprefix(start) for key in self._texts if key.startswith(start)]

    def write(self, custom: Element) -> None:
        """Add the texts to the `<custom>` of a model."""
        for name, values in self._texts.items():
            text = json.dumps(values, ensure_ascii=False)
            if not is_xml_text(text):
                # JSON can write characters that XML cannot hold as \uXXXX.
                text = json.dumps(values)
            custom.add("text", {"name": name, "data": text})

    def read(self, name: str, data: str) -> None:
        """Read a text of a file, if it is one of ours."""
        if name.startswith("bodymotion "):
            with suppress(ValueError):
                values = parse_json(data)
                if isinstance(values, dict):
                    self._texts.setdefault(name, {}).update(values)


@dataclass
class Output:
    """What all parts of a model that is written share.

    The body, its files, assets, names, texts of <custom>, and losses.
    """

    body: Body
    folder: MeshFolder
    names: Names
    asset: Element = field(default_factory=lambda: Element("asset"))
    kept: Kept = field(default_factory=Kept)
    renamed: Renamings = field(default_factory=Renamings)
    problems: Diagnostics = field(default_factory=Diagnostics)
