"""<attach>: a body, a frame or the whole world of another model, in this one.

As in MuJoCo, each name of the other model gets a prefix, numbers keep the meaning that
its <compiler> gives them, and its elements keep its defaults. Elements of other
sections, such as actuators, come along if everything that they name does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from bodymotion.formats.mjcf import rules
from bodymotion.formats.mjcf.defaults import (
    ClassTree,
    Defaults,
    Settings,
    main_class,
    read_settings,
)
from bodymotion.formats.mjcf.extra import KINDS, OBJECTS
from bodymotion.formats.mjcf.names import OF_KIND, correct_names
from bodymotion.formats.rules import TOO_LARGE
from bodymotion.formats.xml.tree import MISSING, Document, Element

# Of all attached models together, with their defaults. More than any robot has, and
# copied in a few seconds.
MAX_ELEMENTS = 10**5
MAX_NESTING = 20  # Models that attach models.
# In an order in which elements name only those of earlier sections.
SECTIONS = ("custom", "contact", "tendon", "equality", "actuator", "sensor")
WITHOUT_DEFAULTS = ("custom", "sensor")
# Sections whose elements have the defaults of the section's name, whatever their own.
ONE_CLASS = ("tendon", "equality")


@dataclass
class Model:
    """Another model, with the classes of the models that are attached to it."""

    root: Element
    settings: Settings
    classes: list[ClassTree]
    defaults: Defaults

    @cached_property
    def num_defaults(self) -> int:
        """The number of elements in classes, which are read once for each <attach>."""
        count = 0
        for root in (self.root, *(tree.root for tree in self.classes)):
            for default in root.all("default"):
                count += len(list(default.every()))
        return count


@dataclass
class Attacher:
    """Puts the contents of other models into a model.

    Attributes
    ----------
    open_model:
        Returns the root of the model that a <model> names; None where it cannot be
        read, which is reported.
    settings:
        By id of a document, the settings of the attached model that it is a part of.
    documents:
        These documents, so that their ids stay theirs.
    """

    open_model: Callable[[Element], Element | None]
    settings: dict[int, Settings] = field(default_factory=dict)
    documents: list[Document] = field(default_factory=list)
    _count: int = 0

    def attach(self, root: Element, nesting: int = 0) -> list[ClassTree]:
        """Replace each <attach> of a model by what it stands for.

        Return the classes of defaults that this needs.
        """
        attaching = _attach_elements(root)
        if not attaching:
            return []
        if nesting >= MAX_NESTING:
            message = f"more than {MAX_NESTING} models that attach models"
            raise TOO_LARGE.error(message, attaching[0].element.location)
        # Models that nothing attaches are not opened.
        wanted = {element.get("model") for _, element in attaching}
        models: dict[str, Model | None] = {}
        for asset in list(root.inside("asset")):
            name = _name_of(asset)
            if asset.name == "model" and name in wanted:
                models[name] = self._model(asset, nesting)
        classes: list[ClassTree] = []
        for parent, element in attaching:
            model = self._named_model(element, models)
            content = None if model is None else self._content(element, model)
            # Looked up now: an <attach> that cannot be replaced is deleted, which moves
            # others.
            index = _index_of(element, parent.children)
            if model is None or content is None:
                parent.partial = True
                del parent.children[index]
                continue
            parent.children[index] = content
            self._count_more(model.num_defaults + len(model.classes) + 1, element)
            prefix = element.get("prefix")
            # Prefixes add up: a model within an attached one has both.
            classes.append(ClassTree(prefix, model.root))
            for each in model.classes:
                classes.append(replace(each, prefix=prefix + each.prefix))
            root.children += self._sections(element, model, content)
        return classes

    @staticmethod
    def _named_model(
        element: Element, models: Mapping[str, Model | None]
    ) -> Model | None:
        """Return the model that an <attach> names, None where it cannot be read."""
        name = element.need("model")
        if "prefix" not in element.attributes:
            message = "<attach> has no prefix"
            element.report(MISSING, message, "prefix", fatal=True)
        if name and name not in models:
            message = f"<attach> names the model {name!r:.60}, which is not in <asset>"
            element.report(rules.ATTACH, message, "model", fatal=True)
        return models.get(name)

    def _model(self, element: Element, nesting: int) -> Model | None:
        """Return a model of <asset>, complete with the models that it attaches."""
        root = self.open_model(element)
        if root is None:
            return None
        correct_names(root)
        settings = read_settings(root)
        if root.document is not None and root.document.path:
            settings = replace(settings, path=Path(root.document.path))
        # Included files are documents of their own, with the settings of this model.
        for part in root.every():
            document = part.document
            if document is not None and id(document) not in self.settings:
                self.settings[id(document)] = settings
                self.documents.append(document)
        classes = self.attach(root, nesting + 1)
        return Model(root, settings, classes, Defaults(root, classes))

    def _content(self, attach: Element, model: Model) -> Element | None:
        """Return what is attached, in a <frame>.

        None where the model has no such body or frame, which is reported.
        """
        prefix = attach.get("prefix")
        main = main_class(prefix)
        kind = "frame" if attach.get("frame") else "body"
        name = attach.get(kind)
        # Without a body or frame, the whole world of the other model is attached.
        if not name:
            inside = [self._copy(e, prefix) for e in model.root.inside("worldbody")]
            return replace(
                attach, name="frame", attributes={"childclass": main}, children=inside
            )
        found = _find(model.root, kind, name)
        if found is None:
            message = (
                f"the model {attach.get('model')!r:.60} has no {kind} {name!r:.60}"
            )
            attach.report(rules.ATTACH, message, kind, fatal=True)
            return None
        element, childclass = found
        if childclass not in ("", "main"):
            main = prefix + childclass
        attributes = {"childclass": main}
        inside = [self._copy(element, prefix)]
        return replace(attach, name="frame", attributes=attributes, children=inside)

    def _count_more(self, number: int, element: Element) -> None:
        self._count += number
        if self._count > MAX_ELEMENTS:
            message = f"attached models have more than {MAX_ELEMENTS} elements"
            raise TOO_LARGE.error(message, element.location)

    def _copy(self, element: Element, prefix: str) -> Element:
        """Return an element with all below it, with prefixed names."""
        copy = replace(element, attributes=_prefixed(element, prefix), children=[])
        # Copied, because a model may be attached several times under different
        # prefixes.
        stack = [(element, copy)]
        while stack:
            original, made = stack.pop()
            self._count_more(1, original)
            for child in original.children:
                attributes = _prefixed(child, prefix)
                inner = replace(child, attributes=attributes, children=[])
                made.children.append(inner)
                stack.append((child, inner))
        return copy

    def _sections(
        self, attach: Element, model: Model, content: Element
    ) -> Iterator[Element]:
        """Return the sections of a model that come along, with their defaults."""
        prefix = attach.get("prefix")
        main = {"class": main_class(prefix)}
        # The copies have the values of their defaults as attributes of their own.
        assets = []
        for element in model.root.inside("asset"):
            if element.name == "model":
                continue
            copy = self._copy(model.defaults.full(element), prefix)
            name = prefix + _name_of(element)
            attributes = {**copy.attributes, **main, "name": name}
            assets.append(replace(copy, attributes=attributes))
        yield replace(attach, name="asset", attributes={}, children=assets)
        # What comes along, by kind and name: it grows from section to section.
        names = {(_kind(e.name, "body"), e.get("name")) for e in content.every()}
        names |= {(e.name, e.get("name")) for e in assets}
        for section in SECTIONS:
            kept = []
            for element in model.root.inside(section):
                is_own = element.get("name").startswith("bodymotion ")
                full = _with_defaults(element, section, model.defaults)
                copy = self._copy(full, prefix)
                # What names something of the model that does not come along stays.
                is_complete = names.issuperset(_all_references(copy))
                if not is_complete or (section == "custom" and is_own):
                    continue
                names.add((_kind(element.name, section), copy.get("name")))
                kept.append(replace(copy, attributes={**copy.attributes, **main}))
            yield replace(attach, name=section, attributes={}, children=kept)
        key = next(model.root.inside("keyframe"), None)
        if key is not None:
            message = (
                f"the keyframes of the attached model {attach.get('model')!r:.60} are "
                "left out"
            )
            key.report(rules.NOT_READ, message)


class _Attaching(NamedTuple):
    """An <attach>, and the element that it is in."""

    parent: Element
    element: Element


def _attach_elements(root: Element) -> list[_Attaching]:
    """Return the <attach> elements of the world, in order of the file."""
    attaching = []
    for world in root.all("worldbody"):
        for parent in world.every():
            attaching += [_Attaching(parent, child) for child in parent.all("attach")]
    return attaching


def _index_of(element: Element, elements: Sequence[Element]) -> int:
    """Return the place of an element; others may be equal to it."""
    return next(place for place, each in enumerate(elements) if each is element)


def _with_defaults(element: Element, section: str, defaults: Defaults) -> Element:
    if section in WITHOUT_DEFAULTS:
        return element
    tag = section if section in ONE_CLASS else element.name
    return replace(defaults.full(replace(element, name=tag)), name=element.name)


def _name_of(element: Element) -> str:
    """Return the name of an asset.

    Without one, as in MuJoCo, that of its file.
    """
    file = PurePosixPath(element.get("file").replace("\\", "/"))
    return element.get("name") or file.stem


def _kind(name: str, section: str) -> str:
    if section in ("actuator", "sensor", "equality"):
        return section
    return KINDS.get(name, name)


def _references(element: Element) -> Iterator[tuple[str, str]]:
    """Return the kind and the name of each object that an element names."""
    for key, value in element.attributes.items():
        kind = ""
        if key in OBJECTS:
            kind = element.get(OBJECTS[key])
        elif key in OF_KIND:
            kind = OF_KIND[key]
        is_world = kind == "body" and value.strip() == "world"
        if kind and value.strip() and not is_world:
            yield KINDS.get(kind, kind), value.strip()


def _all_references(element: Element) -> Iterator[tuple[str, str]]:
    """Return what an element and those in it name."""
    for inner in element.every():
        yield from _references(inner)


def _prefixed(element: Element, prefix: str) -> dict[str, str]:
    """Return the attributes of an element with a prefix before each name."""
    found: dict[str, str] = {}
    for key, value in element.attributes.items():
        # The world has no prefix: it is the same body in both models.
        is_name = key == "name" or key in OF_KIND or key in OBJECTS
        is_world = value.strip() == "world" and OF_KIND.get(key) == "body"
        if key in ("class", "childclass") and value.strip() == "main":
            found[key] = main_class(prefix)
        elif key in ("class", "childclass") or (is_name and not is_world):
            found[key] = prefix + value.strip()
        else:
            found[key] = value
    return found


def _find(root: Element, kind: str, name: str) -> tuple[Element, str] | None:
    """Return the body or frame of a name, and the class around it."""
    stack = [(element, "") for element in root.inside("worldbody")]
    while stack:
        element, childclass = stack.pop()
        if element.name == kind and element.get("name") == name:
            return element, childclass
        inner = element.get("childclass") or childclass
        stack += [(child, inner) for child in element.children]
    return None
