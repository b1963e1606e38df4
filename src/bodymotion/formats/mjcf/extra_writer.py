"""The plain data that the reader keeps of a model, written back where it stood.

An element is written if everything that it names is in the model; others are left out and reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from bodymotion.diagnostics import Location, losses
from bodymotion.formats.only_mjcf import of_mjcf, texts
from bodymotion.formats.xml.tree import Element

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem
    from bodymotion.model.body import Body

__all__ = ["Passed"]

WHOLE = ("option", "size", "statistic", "visual")
LISTS = ("custom", "asset", "worldbody", "tendon", "contact", "equality", "actuator", "sensor", "keyframe")
"""In the order in which one may name what stands in another."""
OF_KIND = {
    **dict.fromkeys(("joint", "joint1", "joint2", "jointinparent"), "joint"),
    **dict.fromkeys(("body", "body1", "body2", "target"), "body"),
    **dict.fromkeys(("geom", "geom1", "geom2"), "geom"),
    **dict.fromkeys(("site", "site1", "site2", "refsite", "sidesite", "slidersite", "cranksite"), "site"),
    **dict.fromkeys(("tendon", "tendon1", "tendon2"), "tendon"),
    "actuator": "actuator",
    "camera": "camera",
    "mesh": "mesh",
    "hfield": "hfield",
    "texture": "texture",
    "material": "material",
    "plugin": "plugin",
    "instance": "plugin",
    "flex": "flex",
}
"""What attributes name."""
OBJECTS = {"objname": "objtype", "refname": "reftype"}
KINDS = {"freejoint": "joint", "spatial": "tendon", "fixed": "tendon", "xbody": "body"}
DEEPEST = 20


class Passed:
    """The sections of a body that was read from MJCF."""

    def __init__(self, body: Body, problems: list[Problem]) -> None:
        self.body, self.problems = body, problems
        self.given = of_mjcf(body.extra)
        self.classes: set[str] = set()
        """The classes of defaults that are written."""
        self.order: dict[int, int] = {}
        """The place that a sensor had among all of its file, by the id of its element."""
        self.joints: list[str] = []
        """The names of the joints of the model that is written, as they stand there."""
        self._names: dict[str, set[str]] = {}

    def defaults(self, into: Element) -> None:
        """Put the classes that elements below may be of into the `<default>` of a model, which has classes of its own."""
        own = {child.get("class"): child for child in into.children}
        for one in self._items("default"):
            top = self._element(one)
            if top is None:
                continue
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
                    # Our class of geoms moves to where the other of its name is.
                    into.children.remove(target)
                    above.children.append(target)
                stack += [(target, inner) for inner in reversed(child.children)]

    def heads(self) -> list[Element]:
        """Return the sections that have attributes of their own."""
        return [element for name in WHOLE for one in self._items(name) if (element := self._element(one)) is not None]

    def lists(self, sections: Mapping[str, Element]) -> None:
        """Put elements into the sections of a model, which have what is made of the body already."""
        for section in sections.values():
            self._note(section)
        for name in LISTS:
            section = sections[name]
            waiting = [(one, element) for one in self._items(name) if (element := self._element(one)) is not None]
            for one, element in waiting:
                if self._fits(name, element):
                    section.children.append(element)
                    self._note(element)
                    place = one.get("order")
                    if isinstance(place, int) and name == "sensor":
                        self.order[id(element)] = place
        for name, held in self.given.items():
            if held and name not in (*WHOLE, *LISTS, "default", "joints", "bodies"):
                self._lost(f"<{name}>, which is not written")

    def _items(self, name: str) -> Iterator[Mapping[str, object]]:
        held = self.given.get(name)
        for one in held if isinstance(held, (list, tuple)) else []:
            if isinstance(one, Mapping):
                yield one

    def _element(self, one: Mapping[str, object], depth: int = 0) -> Element | None:
        name = one.get("element")
        if not isinstance(name, str) or not name.isidentifier() or depth > DEEPEST:
            self._lost(f"what is no element: {name!r:.60}")
            return None
        element = Element(name, {key: value for key, value in texts(one).items() if key != "element"})
        inner = one.get("children")
        for child in inner if isinstance(inner, (list, tuple)) else []:
            made = self._element(child, depth + 1) if isinstance(child, Mapping) else None
            if made is not None:
                element.children.append(made)
        return element

    def _note(self, element: Element) -> None:
        """Take down the names of an element and of those in it."""
        stack = [(element, "")]
        while stack:
            one, section = stack.pop()
            inside = one.name if one.name in (*LISTS, "actuator", "sensor") and not one.get("name") else section
            kind = {"actuator": "actuator", "sensor": "sensor", "equality": "equality"}.get(section, one.name)
            if one.get("name"):
                self._names.setdefault(KINDS.get(kind, kind), set()).add(one.get("name"))
            stack += [(child, inside) for child in one.children]

    def _fits(self, section: str, element: Element) -> bool:
        """Whether all that an element names is there, and its own name is free; else it is told."""
        title = f"<{element.name}> {element.get('name')}".rstrip()
        kind = {"actuator": "actuator", "sensor": "sensor", "equality": "equality"}.get(
            section, KINDS.get(element.name, element.name)
        )
        if element.get("name") and element.get("name") in self._names.get(kind, ()):
            self._lost(f"{title}: there is another of its name")
            return False
        for one in element.every():
            if one.get("class") and one.get("class") not in self.classes:
                del one.attributes["class"]
            if section in ("custom", "keyframe") and one.name != "element":
                continue
            for key, wanted in self._named(one):
                if wanted not in self._names.get(key, ()) and not (key == "body" and wanted == "world"):
                    self._lost(f"{title}: there is no {key} {wanted!r:.60}")
                    return False
        if section == "asset" and (element.get("file") or element.name not in ("texture", "hfield")):
            self._lost(f"{title}: it has a file of its own")
            return False
        return section != "keyframe" or self._posed(element, title)

    @staticmethod
    def _named(element: Element) -> Iterator[tuple[str, str]]:
        for key, value in element.attributes.items():
            if key in OBJECTS and element.get(OBJECTS[key]):
                kind = element.get(OBJECTS[key])
                yield KINDS.get(kind, kind), value.strip()
            elif key in OF_KIND and element.name != "light":
                yield OF_KIND[key], value.strip()
            elif key in ("target",):
                yield "body", value.strip()

    def _posed(self, element: Element, title: str) -> bool:
        """Whether a keyframe is one of the joints that are written."""
        if self.joints == self.given.get("joints"):
            return True
        self._lost(f"{title}: the model has other joints by now")
        return False

    def _lost(self, words: str) -> None:
        place = Location(inside=self.body.name or "extra")
        self.problems.append(losses.ONLY_MJCF.problem(f"left out: {words}", place))
