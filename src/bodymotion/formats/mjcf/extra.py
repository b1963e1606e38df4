"""What MJCF has and a Body has no field for.

The elements are kept as XML in the `extra` of the body, under "mjcf", by section. The
writer writes an element back if everything that it names is in the model; others are
left out and reported.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from bodymotion.diagnostics import Diagnostics, Location, Severity, losses
from bodymotion.diagnostics.text import counted
from bodymotion.formats.kept_json import PHYSICAL_SECTIONS, attributes_of, mjcf_values
from bodymotion.formats.mjcf import rules
from bodymotion.formats.mjcf.defaults import (
    ORIENTATIONS,
    Item,
    Settings,
    pose,
)
from bodymotion.formats.mjcf.geoms import INTEGRATOR, SCENE
from bodymotion.formats.mjcf.names import OF_KIND, finite
from bodymotion.formats.xml.tree import Element, number_text, one_line, parse_xml
from bodymotion.geometry import poses
from bodymotion.model.body import Body

if TYPE_CHECKING:
    from bodymotion.formats.mjcf.bodies import Tree
    from bodymotion.formats.mjcf.devices import DeviceReader
    from bodymotion.formats.mjcf.loops import LoopReader


POSE = ("pos", *ORIENTATIONS)
# Attributes of a site that its device has fields for.
SITE_ATTRIBUTES = ("name", "class", "material", "fromto", *POSE)
BODY_ATTRIBUTES = ("name", "childclass", *POSE)

ACTUATORS = (
    "general",
    "motor",
    "position",
    "velocity",
    "intvelocity",
    "damper",
    "cylinder",
    "muscle",
    "adhesion",
    "dcmotor",
)
# Elements whose defaults are kept, because the elements are kept as they are.
CLASSED = (*ACTUATORS, "tendon", "equality", "pair")

# Sections that are kept; elements name only those of earlier ones.
LISTS = (
    "worldbody",
    "tendon",
    "contact",
    "equality",
    "actuator",
    "sensor",
    "keyframe",
)
LEFT_OUT = ("size", "statistic", "visual", "extension", "deformable")
# The attribute of a kept sensor with its position in the file.
ORDER = "order"
OBJECTS = {"objname": "objtype", "refname": "reftype"}
KINDS = {"freejoint": "joint", "spatial": "tendon", "fixed": "tendon", "xbody": "body"}


def body_attributes(element: Element) -> dict[str, str]:
    """Return the attributes of a body that no field holds, such as gravcomp."""
    return {
        key: value
        for key, value in element.attributes.items()
        if key not in BODY_ATTRIBUTES
    }


def in_body_frame(item: Item, settings: Settings) -> Element:
    """Return an element with its defaults, in the body's frame, angles in radians."""
    element = item.element
    attributes = {
        key: value
        for key, value in element.attributes.items()
        if key not in ("class", *POSE)
    }
    # fromto holds two points: both move with the <frame>.
    if "fromto" in attributes:
        ends = finite(element, "fromto", 6).reshape(2, 3)
        if item.frame is not None:
            ends = poses.transform_points(item.frame, ends)
        attributes["fromto"] = number_text(ends)
    else:
        item_pose = item.placed(pose(element, settings))
        attributes["pos"] = number_text(item_pose[:3])
        attributes["quat"] = number_text(item_pose[3:])
    return Element(element.name, attributes)


def kept_sections(
    root: Element,
    of_body: Mapping[str, object],
    loops: LoopReader,
    devices: DeviceReader,
    tree: Tree,
) -> dict[str, object]:
    """Return the elements that no field of a body holds, for its `extra`.

    Of a file of ours without those that the writer makes again. `of_body` is what
    <custom> keeps of the body.
    """
    is_made = "motors" in of_body
    made = {
        id(element)
        for element in root.inside("tendon")
        if element.get("name") in loops.tendons
    }
    if is_made:
        made |= _made_elements(root, of_body, tree)
    sections: dict[str, list[Element]] = {}
    for name in ("keyframe", "tendon", "actuator", "contact"):
        elements = root.inside(name)
        sections[name] = [element for element in elements if id(element) not in made]
    sections["option"] = list(root.all("option"))
    if is_made:
        # The writer adds this option again with its position actuators.
        sections["option"] = [
            option for option in root.all("option") if option.attributes != INTEGRATOR
        ]
    sections["equality"] = loops.others
    sections["sensor"] = devices.others
    _report_kept(sections)
    _report_left_out(root)
    for sensor in devices.others:
        # Sensors that are devices are written apart: the numbers restore the order.
        sensor.attributes[ORDER] = str(devices.order[id(sensor)])
    sections["default"] = _kept_classes(root)
    sections["worldbody"] = tree.of_world
    kept: dict[str, object] = {
        name: list(map(one_line, each)) for name, each in sections.items() if each
    }
    if tree.of_bodies:
        kept["bodies"] = tree.of_bodies
    # A keyframe is a row of numbers for all joints: it only fits the same ones.
    if "keyframe" in kept:
        kept["joints"] = _joint_names(tree)
    return {"mjcf": kept} if kept else {}


def _made_elements(
    root: Element, of_body: Mapping[str, object], tree: Tree
) -> set[int]:
    """Return the ids of the actuators, keyframes and contacts that our writer made."""
    made: dict[str, int] = {}
    joints = {
        raw.joint_element.get("name")
        for raw in tree.links
        if raw.joint_element is not None
    }
    # By what <custom> keeps of the actuators, the element that the writer made.
    kinds = {"made": "motor", "position": "position"}
    kind = kinds.get(str(of_body["motors"]))
    for element in root.inside("actuator"):
        joint = element.get("joint")
        if element.name == kind and joint in joints:
            # The first actuator of each joint is one that our writer made.
            made.setdefault(joint, id(element))
    others = {id(key) for key in root.inside("keyframe") if key.get("name") in SCENE}
    excludes = of_body.get("excludes")
    if isinstance(excludes, list):
        for contact in root.inside("contact"):
            if [contact.get("body1"), contact.get("body2")] in excludes:
                others.add(id(contact))
    return others | set(made.values())


def _report_kept(sections: Mapping[str, Sequence[Element]]) -> None:
    """Report the elements that are kept as XML.

    Not motors of joints: their efforts are read.
    """
    reported = dict(sections)
    of_joints = {"joint", "jointinparent"}
    reported["actuator"] = [
        element
        for element in sections["actuator"]
        if not of_joints & element.attributes.keys()
    ]
    equalities = reported.pop("equality")
    if equalities:
        count = counted(len(equalities), "equality", "equalities")
        equalities[0].report(rules.EQUALITY, f"{count} kept as XML")
    counts = {name: len(elements) for name, elements in reported.items() if elements}
    if not counts:
        return
    first = reported[next(iter(counts))][0]
    message = f"no field of a body holds {_listed(counts)}; kept as XML"
    first.report(rules.KEPT, message, data={"sections": counts})


def _listed(counts: Mapping[str, int]) -> str:
    """Return the numbers of elements in words: "3 elements: 2 of <tendon>, …"."""
    total = counted(sum(counts.values()), "element")
    sections = ", ".join(f"{count} of <{name}>" for name, count in counts.items())
    return f"{total}: {sections}"


def _report_left_out(root: Element) -> None:
    """Report sections about sizes, appearance, plugins and soft bodies."""
    sections = {name: list(root.all(name)) for name in LEFT_OUT}
    sections["custom"] = [
        entry
        for entry in root.inside("custom")
        if not entry.get("name").startswith("bodymotion ")
    ]
    sections["asset"] = [asset for asset in root.inside("asset") if not _is_read(asset)]
    counts = {name: len(elements) for name, elements in sections.items() if elements}
    if not counts:
        return
    # Plugins and soft bodies change how the model moves; the others do not.
    is_physical = counts.keys() & {"extension", "deformable"}
    severity: Severity = "warning" if is_physical else "note"
    first = sections[next(iter(counts))][0]
    first.report(rules.NOT_READ, f"{_listed(counts)}; left out", severity=severity)


def _is_read(asset: Element) -> bool:
    """Return whether an asset is read: of textures, images of materials only."""
    if asset.name in ("mesh", "material", "model"):
        return True
    is_image = asset.get("file") and asset.get("type", "cube") == "2d"
    return asset.name == "texture" and bool(is_image)


def _joint_names(tree: Tree) -> list[str]:
    """Return the names of the joints in the file, a ball joint once."""
    names: dict[int, str] = {}
    for raw in tree.links:
        joint = raw.joint_element
        if joint is None:
            continue
        is_ball = joint.get("type") == "ball"
        names[id(joint)] = joint.get("name") if is_ball else raw.joint.name
    return list(names.values())


def _kept_classes(parent: Element) -> list[Element]:
    """Return the classes of defaults with those of elements that are kept."""
    classes = []
    for element in parent.all("default"):
        children = [child for child in element.children if child.name in CLASSED]
        children += _kept_classes(element)
        if children:
            classes.append(Element("default", element.attributes, children))
    return classes


def _kind(section: str, element: Element) -> str:
    """Return the kind of object that an element of a section is.

    Names are unique within a kind.
    """
    if section in ("actuator", "sensor", "equality"):
        return section
    return KINDS.get(element.name, element.name)


class ExtraSections:
    """Writes the sections that were kept of a body from MJCF.

    Attributes
    ----------
    classes:
        The classes of defaults in the model.
    order:
        By id of an element, the position of a sensor in the file that the body was read
        from.
    joints:
        The names of the joints in the written model.
    """

    def __init__(self, body: Body, problems: Diagnostics) -> None:
        self.body = body
        self.problems = problems
        self.kept = mjcf_values(body.extra)
        self.classes: set[str] = set()
        self.order: dict[int, int] = {}
        self.joints: list[str] = []
        self._names: dict[str, set[str]] = {}

    def elements(self, section: str) -> list[Element]:
        """Return the elements of a section; entries that are not XML are reported."""
        texts = self.kept.get(section)
        elements = []
        for text in texts if isinstance(texts, (list, tuple)) else ():
            try:
                elements.append(parse_xml(str(text).encode("utf-8", "replace")))
            except ValueError:
                self._report(f"an entry that is not XML: {text!r:.60}", section)
        return elements

    def add_classes(self, default: Element) -> None:
        """Add the classes to the <default> of a model, which has our classes."""
        written = {child.get("class"): child for child in default.children}
        for top in self.elements("default"):
            if top.get("class"):
                default.attributes["class"] = top.get("class")
                self.classes.add(top.get("class"))
            self._add_class(default, default, top, written)

    def _add_class(
        self,
        default: Element,
        target: Element,
        kept: Element,
        written: Mapping[str, Element],
    ) -> None:
        """Add the content of a kept class to the class `target` of the model."""
        for child in kept.children:
            if child.name != "default":
                target.children.append(child)
                continue
            name = child.get("class")
            self.classes.add(name)
            # Geoms of our classes and of a class of the file may have the same name.
            inner = written.get(name)
            if inner is None:
                inner = target.add("default", dict(child.attributes))
            elif target is not default:
                # The writer's class of geoms moves to the one of the same name.
                default.children.remove(inner)
                target.children.append(inner)
            self._add_class(default, inner, child, written)

    def add_to(
        self, sections: Mapping[str, Element], without: Collection[str] = ()
    ) -> None:
        """Add the kept elements to the sections of a model, but not to `without`.

        The sections already have the elements of the body.
        """
        for section in sections.values():
            self._collect_names(section)
        for name in LISTS:
            if name in without:
                continue
            for element in self.elements(name):
                order = element.attributes.pop(ORDER, "")
                obstacle = self._obstacle(name, element)
                if obstacle:
                    title = f"<{element.name}> {element.get('name')}".rstrip()
                    self._report(f"{title}: {obstacle}", name)
                    continue
                sections[name].children.append(element)
                self._collect_names(element, name)
                if order.isdecimal():
                    self.order[id(element)] = int(order)

    def _collect_names(self, element: Element, section: str = "") -> None:
        """Add the names of an element and of those in it."""
        name = element.get("name")
        if name:
            self._names.setdefault(_kind(section, element), set()).add(name)
        elif element.name in LISTS:
            section = element.name
        for child in element.children:
            self._collect_names(child, section)

    def _obstacle(self, section: str, element: Element) -> str:
        """Return why an element is not written, "" if nothing prevents it.

        Something that it names is missing, or its own name is not free.
        """
        name = element.get("name")
        if name and name in self._names.get(_kind(section, element), ()):
            return "another element has its name"
        for inner in element.every():
            if inner.get("class") and inner.get("class") not in self.classes:
                del inner.attributes["class"]
            if section == "keyframe":
                continue
            for kind, wanted in _named_objects(inner):
                is_world = kind == "body" and wanted == "world"
                if wanted not in self._names.get(kind, ()) and not is_world:
                    return f"there is no {kind} {wanted!r:.60}"
        if section == "keyframe" and self.joints != self.kept.get("joints"):
            return "the joints of the model have changed"
        return ""

    def _report(self, message: str, section: str) -> None:
        location = Location(inside=self.body.name or "extra")
        rule = losses.ONLY_MJCF
        if section not in PHYSICAL_SECTIONS:
            rule = rule.as_note
        self.problems.add(rule.problem(f"left out: {message}", location))


def _named_objects(element: Element) -> Iterator[tuple[str, str]]:
    """Return the kinds and names of the objects that an element names."""
    for key, value in element.attributes.items():
        if key in OBJECTS and element.get(OBJECTS[key]):
            kind = element.get(OBJECTS[key])
            yield KINDS.get(kind, kind), value.strip()
        elif key in OF_KIND:
            yield OF_KIND[key], value.strip()


def attributes_of_bodies(body: Body) -> dict[str, dict[str, str]]:
    """Return, by names of links, the attributes that only MJCF has."""
    bodies = mjcf_values(body.extra).get("bodies")
    if not isinstance(bodies, Mapping):
        return {}
    by_link: dict[str, dict[str, str]] = {}
    for name, values in bodies.items():
        attributes = attributes_of(values)
        # Name and pose are those of the link.
        for key in ("name", "pos", "quat"):
            attributes.pop(key, None)
        by_link[name] = attributes
    return by_link
