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

CONTAINERS = "worldbody", "body", "frame", "replicate"
"""Elements that have the content of a `<body>`, one another included."""
MAX_SIZE = 1e100  # Larger numbers are reported, like those that are not finite.

NOT_READ = "composite", "flexcomp", "replicate", "plugin"
"""Elements of a body that are not read.

MuJoCo makes bodies of them.
"""

OF_KIND = {
    **dict.fromkeys(("joint", "joint1", "joint2", "jointinparent"), "joint"),
    **dict.fromkeys(("body", "body1", "body2", "target"), "body"),
    **dict.fromkeys(("geom", "geom1", "geom2"), "geom"),
    **dict.fromkeys(
        ("site", "site1", "site2", "refsite", "sidesite", "slidersite", "cranksite"),
        "site",
    ),
    **dict.fromkeys(("tendon", "tendon1", "tendon2"), "tendon"),
    **{
        kind: kind
        for kind in (
            "actuator",
            "camera",
            "mesh",
            "hfield",
            "texture",
            "material",
            "plugin",
            "flex",
        )
    },
    "instance": "plugin",
}
"""By attribute, the kind of object that it names."""
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
"""The attributes of an actuator that name what it drives."""

MAX_SPELLING_NAMES = 2_000  # Among more names no similar one is searched for.


@dataclass
class Content:
    """What an element may have.

    Attributes, and elements by their names; None where its elements are not checked.
    """

    attributes: frozenset[str]
    elements: dict[str, Content] | None = field(default_factory=dict)


@cache
def vocabulary() -> Mapping[str, Content]:
    """Return what `<mujoco>` and `<mujocoinclude>` may have, by these names."""
    sections: dict[str, dict[str, str]] = {"groups": {}, "sensors": {}, "elements": {}}
    top: dict[str, Content] = {}
    stack: list[dict[str, Content]] = [top]
    rows: dict[str, str] = {}
    for line in (
        Path(__file__).with_name("elements.txt").read_text("utf-8").splitlines()
    ):
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
    assert (
        root is not None
        and root["sensor"].elements is not None
        and root["default"].elements is not None
    )
    for more, names in sections["sensors"].items():
        for name in names.split():
            known = root["sensor"].elements.setdefault(name, Content(frozenset()))
            known.attributes = frozenset(
                _expanded(f"*sensor {more}", sections["groups"])
            )
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


def correct_names(root: Element) -> None:
    """Report the elements and attributes of a model that MJCF does not have.

    Read misspelt ones as they are meant.

    What is in other such elements is not looked at.
    """
    stack: list[tuple[Element, Content]] = [(root, vocabulary()[root.name])]
    while stack:
        element, content = stack.pop()
        if content.elements is None:
            continue
        for name in list(element.attributes):
            if name not in content.attributes and not name.startswith(
                ("xmlns", "xml:")
            ):
                free = content.attributes - element.attributes.keys()
                message = f"<{element.name}> has no attribute {name!r:.60}"
                if meant := _report_name(element, name, message, name, free, "'{}'"):
                    element.correct(name, meant)
        for child in element.children:
            if child.name not in content.elements and child.name != "include":
                message = f"<{element.name}> has no element <{child.name:.60}>"
                child.name = (
                    _report_name(
                        child, "", message, child.name, content.elements, "<{}>"
                    )
                    or child.name
                )
        known = (
            (child, content.elements.get(child.name))
            for child in reversed(element.children)
        )
        stack += [(child, inner) for child, inner in known if inner is not None]


def _report_name(
    element: Element,
    attribute: str,
    message: str,
    name: str,
    known: Collection[str],
    shown: str,
) -> str | None:
    """Report an unknown name, and return which of the known ones may be meant, unless so many were reported that more are only counted."""
    full = element.is_full(rules.UNKNOWN_NAME) or element.is_full(MISSPELT)
    if full:
        meant = None
    else:
        meant = closest_name(name, known)
    if meant is None:
        element.report(rules.UNKNOWN_NAME, message, attribute)
    else:
        element.report(
            MISSPELT, f"{message}: did you mean {shown.format(meant)}?", attribute
        )
    return meant


def finite(
    element: Element, name: str, count: int, default: tuple[float, ...] | None = None
) -> Floats:
    """Return the numbers of an attribute.

    Those larger than MAX_SIZE are reported, and the default, or NaN, is returned.
    """
    numbers = np.array(element.numbers(name, count, default))
    if not (np.abs(numbers) < MAX_SIZE).all():
        message = f"{name} of <{element.name}> has a number that is not finite, or larger than {MAX_SIZE:g}"
        element.report(NOT_FINITE, message, name, fatal=True)
        return np.array(default if default is not None else [np.nan] * count)
    return numbers


def check_actuators(root: Element) -> None:
    """Report actuators that drive something that does not exist.

    The body can be read all the same.
    """
    inside = [element for world in root.all("worldbody") for element in world.every()]
    if any(element.name in NOT_READ for element in inside):
        # MuJoCo makes bodies of it, with names that are not in the file.
        return
    elements = {"body": ("body",), "site": ("site",), "joint": ("joint", "freejoint")}
    names = {
        kind: {e.get("name") for e in inside if e.name in own}
        for kind, own in elements.items()
    }
    names["tendon"] = {element.get("name") for element in root.inside("tendon")}
    for element in root.inside("actuator"):
        for attribute in DRIVEN:
            kind = OF_KIND[attribute]
            name = element.get(attribute)
            if not name or name in names[kind]:
                continue
            known = names[kind] - {""}
            if len(known) <= MAX_SPELLING_NAMES:
                other = closest_name(name, sorted(known))
            else:
                other = None
            message = f"<{element.name:.60}> drives the {kind} {name!r:.60}, which does not exist"
            if other is None:
                hint = None
            else:
                hint = f"did you mean {other!r:.60}?"
            element.report(rules.REFERENCE, message, attribute, hint=hint)


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
        fits = [(c == " " or not c.isspace()) and is_xml_text(c) for c in wanted]
        text = (
            "".join(
                c if fit else "_" for c, fit in zip(wanted, fits, strict=True)
            ).strip()
            or fallback
            or kind
        )
        used = self._used.setdefault(kind, set())
        name = text
        number = self._next.get((kind, text), 2)
        while name in used:
            name = f"{text}_{number}"
            number = number + 1
        self._next[kind, text] = number
        used.add(name)
        return name

    def release(self, kind: str, name: str) -> None:
        """Release a name that was not used."""
        self._used.get(kind, set()).discard(name)


class Kept:
    """The texts of a file by kind and name: what a Body has and MJCF cannot hold.

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
            # JSON can write characters that XML cannot hold as \uXXXX.
            custom.add(
                "text",
                {
                    "name": name,
                    "data": text if is_xml_text(text) else json.dumps(values),
                },
            )

    def read(self, name: str, data: str) -> None:
        """Read a text of a file, if it is one of ours that can be used."""
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
