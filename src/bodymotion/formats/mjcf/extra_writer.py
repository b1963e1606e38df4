"""The plain data that the reader keeps of a model, written back where it stood.

An element is written if everything that it names is in the model; others are left out and reported.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from bodymotion.diagnostics import Diagnostics, Location, losses
from bodymotion.formats.mjcf.names import OF_KIND
from bodymotion.formats.mjcf_extra import MATTERS, attributes_of, mjcf_values
from bodymotion.formats.xml.tree import Element

if TYPE_CHECKING:
    from bodymotion.model.body import Body

WHOLE = ("option", "size", "statistic", "visual")
LISTS = ("custom", "asset", "worldbody", "tendon", "contact", "equality", "actuator", "sensor", "keyframe")
"""In an order in which elements name only those of earlier sections."""
OBJECTS = {"objname": "objtype", "refname": "reftype"}
KINDS = {"freejoint": "joint", "spatial": "tendon", "fixed": "tendon", "xbody": "body"}
MAX_DEPTH = 20


class ExtraSections:
    """The sections of a body that was read from MJCF."""

    def __init__(self, body: Body, problems: Diagnostics) -> None:
        self.body, self.problems = body, problems
        self.given = mjcf_values(body.extra)
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
                    # The writer's class of geoms moves to the one of the same name.
                    into.children.remove(target)
                    above.children.append(target)
                stack += [(target, inner) for inner in reversed(child.children)]

    def heads(self) -> list[Element]:
        """Return the sections that have attributes of their own."""
        return [element for name in WHOLE for one in self._items(name) if (element := self._element(one)) is not None]

    def lists(self, sections: Mapping[str, Element], without: Collection[str] = ()) -> None:
        """Add elements to the sections of a model, which already have the elements of the body; not to those in `without`."""
        for section in sections.values():
            self._collect_names(section)
        for name in (name for name in LISTS if name not in without):
            section = sections[name]
            waiting = [(one, element) for one in self._items(name) if (element := self._element(one)) is not None]
            for one, element in waiting:
                if self._is_complete(name, element):
                    section.children.append(element)
                    self._collect_names(element)
                    location = one.get("order")
                    if isinstance(location, int) and name == "sensor":
                        self.order[id(element)] = location
        for name, held in self.given.items():
            if held and name not in (*WHOLE, *LISTS, "default", "joints", "bodies"):
                self._report(f"<{name}>, which is not written", name)

    def _items(self, name: str) -> Iterator[Mapping[str, object]]:
        held = self.given.get(name)
        for one in held if isinstance(held, (list, tuple)) else []:
            if isinstance(one, Mapping):
                yield one

    def _element(self, one: Mapping[str, object], depth: int = 0) -> Element | None:
        name = one.get("element")
        if not isinstance(name, str) or not name.isidentifier() or depth > MAX_DEPTH:
            self._report(f"an entry that is no element: {name!r:.60}")
            return None
        element = Element(name, {key: value for key, value in attributes_of(one).items() if key != "element"})
        inner = one.get("children")
        for child in inner if isinstance(inner, (list, tuple)) else []:
            made = self._element(child, depth + 1) if isinstance(child, Mapping) else None
            if made is not None:
                element.children.append(made)
        return element

    def _collect_names(self, element: Element) -> None:
        """Collect the names of an element and of those in it."""
        stack = [(element, "")]
        while stack:
            one, section = stack.pop()
            inside = one.name if one.name in (*LISTS, "actuator", "sensor") and not one.get("name") else section
            kind = {"actuator": "actuator", "sensor": "sensor", "equality": "equality"}.get(section, one.name)
            if one.get("name"):
                self._names.setdefault(KINDS.get(kind, kind), set()).add(one.get("name"))
            stack += [(child, inside) for child in one.children]

    def _is_complete(self, section: str, element: Element) -> bool:
        """Return whether everything that an element names exists, and its own name is free; report it if not."""
        title = f"<{element.name}> {element.get('name')}".rstrip()
        kind = {"actuator": "actuator", "sensor": "sensor", "equality": "equality"}.get(
            section, KINDS.get(element.name, element.name)
        )
        if element.get("name") and element.get("name") in self._names.get(kind, ()):
            self._report(f"{title}: another element has its name", section)
            return False
        for one in element.every():
            if one.get("class") and one.get("class") not in self.classes:
                del one.attributes["class"]
            if section in ("custom", "keyframe") and one.name != "element":
                continue
            for key, wanted in self._named(one):
                if wanted not in self._names.get(key, ()) and not (key == "body" and wanted == "world"):
                    self._report(f"{title}: there is no {key} {wanted!r:.60}", section)
                    return False
        if section == "asset" and (element.get("file") or element.name not in ("texture", "hfield")):
            self._report(f"{title}: it has a file of its own", section)
            return False
        if section == "keyframe" and self.joints != self.given.get("joints"):
            self._report(f"{title}: the joints of the model have changed", "keyframe")
            return False
        return True

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
        rule = losses.ONLY_MJCF if section in MATTERS else losses.ONLY_MJCF.as_note
        self.problems.add(rule.problem(f"left out: {message}", location))
