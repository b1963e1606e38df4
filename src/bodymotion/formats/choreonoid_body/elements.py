"""Elements of a link: rigid bodies, shapes, resources and devices, under groups and transforms that put them in their places.

`elements` is a list of mappings with a `type`, or one such mapping, or a mapping from types to nodes (`elements: { Shape: { … } }`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics import FormatError
from bodymotion.formats.choreonoid_body import rules
from bodymotion.formats.choreonoid_body.devices import DEVICES, read_device
from bodymotion.formats.choreonoid_body.document import Document, Mapping, Node, Scalar, Sequence
from bodymotion.formats.choreonoid_body.fields import Fields, angle_unit, label
from bodymotion.formats.choreonoid_body.geometry import ShapeReader
from bodymotion.formats.choreonoid_body.masses import MASS_KEYS, read_mass
from bodymotion.formats.choreonoid_body.plain import Context
from bodymotion.formats.choreonoid_body.resources import (
    COLLADA,
    ELEMENTS,
    MESHES,
    SCENES,
    ResourceReader,
    asked_nodes,
    locate,
    read_elements,
)
from bodymotion.formats.faults import fault
from bodymotion.formats.text.spelling import meant
from bodymotion.formats.vrml.appearance import PLAIN
from bodymotion.formats.vrml.scene import IDENTITY, Drawn, Place
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.geometry.shapes import Material, Mesh, Shape
from bodymotion.model.devices import Device
from bodymotion.model.links import Segment

if TYPE_CHECKING:
    from bodymotion.formats.vrml.inline import InlineLoader

__all__ = ["ElementReader", "LinkParts"]

MOST_KEYS = 1_000_000
"""How many keys elements may have in all, those that aliases repeat counted as often as they are read."""
DEEPEST = 60
"""How deep elements may be nested, files in files included."""

GROUPS = ("Group", "Node", "Transform", "Visual", "Collision", "VisualOrCollision", "Switch")
SCENERY = ("AmbientLight", "DirectionalLight", "Fog", "Text", "Viewpoint")
TYPES = ("Shape", "Resource", "RigidBody", *GROUPS, *SCENERY, *DEVICES)
MOST_STRANGE = 200
"""So many types that nobody knows are looked at for one that is meant by another."""
NAMED = {"shape": "Shape", "resource": "Resource"}
"""Keys of Visual and Collision that hold a single element of that type."""

SHAPE_KEYS = ("type", "name", "geometry", "appearance", "material", "translation", "rotation", "scale", "elements")
SHAPE_PLACE = ("translation", "rotation", "scale")


@dataclass
class LinkParts:
    """What the elements of one link hold: segments, devices, and the shapes that belong to no RigidBody."""

    segments: list[Segment] = field(default_factory=list)
    devices: list[Device] = field(default_factory=list)
    device_nodes: list[Mapping] = field(default_factory=list)
    drawn: list[Drawn] = field(default_factory=list)


class ElementReader:
    """Reads elements of the links of one file, and of the files that they name."""

    def __init__(self, document: Document, context: Context, parts: InlineLoader) -> None:
        self.context = context
        self.parts = parts
        self.shapes = ShapeReader(context, parts)
        self.resources = ResourceReader(context.problems, parts, asked_nodes(document.root))
        self.document = document
        self.link = LinkParts()
        self.drawn: list[Drawn] = []
        self.visited = 0
        self.depth = 0
        self._included: dict[tuple[Path, int], Document | None] = {}
        self._including: list[Path] = []
        self._strange: set[str] = set()

    def read(self, elements: Node | None, title: str) -> LinkParts:
        """Read the elements of a link.

        Raises
        ------
        FormatError
            When an element is of no known form, or too many unfold from aliases.
        """
        self.link = LinkParts()
        self.drawn = self.link.drawn
        if elements is not None:
            self._all(elements, Place(), title)
        return self.link

    def _all(self, elements: Node, place: Place, title: str) -> None:
        if self.depth >= DEEPEST:
            raise rules.TOO_LARGE.error(f"elements are nested more than {DEEPEST} deep", elements.location)
        self.depth += 1
        try:
            for kind, node in self._each(elements, title):
                try:
                    self._element(kind, node, place)
                except FormatError as error:
                    fault(self.context.problems, error)
        finally:
            self.depth -= 1

    def _each(self, elements: Node, title: str) -> Iterator[tuple[str, Mapping]]:
        """Return types and nodes of elements in any of their forms."""
        self._count(elements)
        if isinstance(elements, Sequence):
            for item in elements.items:
                yield from self._each(item, title)
        elif isinstance(elements, Mapping):
            kind = elements.items.get("type")
            if isinstance(kind, Scalar):
                yield kind.value, elements
                return
            for name, value in elements.items.items():
                if isinstance(value, Mapping):
                    own = value.items.get("type")
                    yield (own.value if isinstance(own, Scalar) else name), value
                elif isinstance(value, Sequence):
                    for item in value.items:
                        if not isinstance(item, Mapping):
                            self._refuse(f"{name:.60} in {title} is no mapping", item)
                            continue
                        yield name, item
                elif value.value.lower() in ("", "~", "null"):
                    yield name, Mapping(value.text, value.offset)
                else:
                    self._refuse(f"{name:.60} in {title} is {value.value!r:.60}", value)
        elif elements.value.lower() not in ("", "~", "null"):
            self._refuse(f"elements of {title} are {elements.value!r:.60}", elements)

    def _refuse(self, message: str, node: Node) -> None:
        fault(self.context.problems, rules.ELEMENT.error(message, node.location))

    def _count(self, node: Node) -> None:
        self.visited += 1 + (len(node.items) if isinstance(node, Mapping) else 0)
        if self.visited > MOST_KEYS:
            raise rules.TOO_LARGE.error(f"the elements unfold to more than {MOST_KEYS} keys", node.location)

    def _element(self, kind: str, node: Mapping, place: Place) -> None:
        self._count(node)
        title = label(kind, node.items.get("name"))
        fields = Fields(node, self.context, title)
        if kind == "Skip":
            return
        place = self._moved(fields, place)
        match kind:
            case "Shape":
                self._shape(fields, place)
            case "Resource":
                self._resource(fields, place, None)
            case "RigidBody":
                self._rigid_body(fields, place)
            case "Visual":
                self._inside(fields, replace(place, collision=False))
            case "Collision":
                self._inside(fields, replace(place, visual=False))
            case _ if kind in GROUPS:
                self._inside(fields, place)
            case _ if kind in SCENERY:
                fields.tell(rules.NOT_SHOWN, f"{title} is not shown")
            case _:
                self._device(fields, kind, place)

    def _moved(self, fields: Fields, place: Place) -> Place:
        translation, rotation = fields.translation(), fields.rotation()
        scale = fields.vector("scale", default=(1.0, 1.0, 1.0)) if isinstance(fields.find("scale"), Sequence) else None
        if scale is None and fields.has("scale"):
            scale = (fields.number("scale", default=1.0),) * 3
        if translation is None and rotation is None and scale is None:
            return place
        own = _matrix(translation or (0.0, 0.0, 0.0), rotation or (1.0, 0.0, 0.0, 0.0), scale or (1.0, 1.0, 1.0))
        whole = own if place.transform is IDENTITY else place.transform @ own
        if not np.isfinite(whole).all():
            raise rules.TOO_LARGE.error(f"{fields.title} stands at a place that is not finite", fields.place())
        return Place(whole, place.visual, place.collision)

    def _inside(self, fields: Fields, place: Place) -> None:
        for key, kind in NAMED.items():
            value = fields.find(key)
            if isinstance(value, Mapping):
                self._element(kind, value, place)
        elements = fields.find("elements")
        if elements is not None:
            self._all(elements, place, fields.title)

    def _rigid_body(self, fields: Fields, place: Place) -> None:
        if not poses.is_rigid(place.transform):
            fields.tell(rules.SCALED, f"{fields.title} stands under a Transform with a scale")
        mass, center, inertia = read_mass(fields)
        outer, self.drawn = self.drawn, []
        back = np.linalg.inv(place.transform) if place.transform is not IDENTITY and _invertible(place) else None
        self._inside(fields, place)
        inner, self.drawn = self.drawn, outer
        if back is not None:
            inner = [Drawn(drawn.shape.moved(back), drawn.visual, drawn.collision) for drawn in inner]
        self.link.segments.append(
            Segment(
                name=fields.text("name"),
                transform=frozen(place.transform if back is not None else IDENTITY),
                mass=mass,
                center_of_mass=center,
                inertia=inertia,
                visuals=tuple(d.shape for d in inner if d.visual),
                collisions=tuple(d.shape for d in inner if d.collision),
                extra=fields.rest(("type", *SHAPE_PLACE)),
            )
        )
        fields.warn_of_misspelt(MASS_KEYS)

    def _device(self, fields: Fields, kind: str, place: Place) -> None:
        if kind not in DEVICES and kind not in self._strange:
            self._strange.add(kind)
            self._tell_strange(fields, kind)
        self.link.devices.append(read_device(fields, kind, 0, place.transform))
        self.link.device_nodes.append(fields.node)
        self._inside(fields, place)

    def _tell_strange(self, fields: Fields, kind: str) -> None:
        """Say that Choreonoid itself does not know a type, and which one may be meant: then it is a slip, and no plugin's."""
        like = meant(kind, TYPES) if len(self._strange) <= MOST_STRANGE else None
        if like is None:
            fields.tell(rules.PLUGIN_NODE, f"{kind} is a type that only plugins know; {fields.title} is kept as it is")
            return
        words = f"{kind} is a type that nobody knows; {fields.title} is kept as it is, and does nothing"
        slip = rules.PLUGIN_NODE.problem(words, fields.place("type"), f"did you mean {like!r}?")
        self.context.problems.append(replace(slip, severity="warning"))

    def _shape(self, fields: Fields, place: Place) -> None:
        geometry = fields.find("geometry")
        if not isinstance(geometry, Mapping):
            fields.tell(rules.ELEMENT, f"{fields.title} has no geometry")
            return
        material = self._material(fields)
        kind = geometry.items.get("type")
        if isinstance(kind, Scalar) and kind.value == "Resource":
            resource = Fields(geometry, self.context, f"the geometry of {fields.title}")
            self._resource(resource, self._moved(resource, place), material)
            return
        textured = material is not None and material.texture is not None
        made = self.shapes.geometry(geometry, self.context, textured)
        if made is not None:
            shape = Shape(made, place.transform, material or PLAIN, fields.text("name"))
            self.drawn.append(Drawn(shape, place.visual, place.collision))
        fields.warn_of_misspelt(SHAPE_KEYS)

    def _material(self, fields: Fields) -> Material | None:
        appearance, material = fields.find("appearance"), fields.find("material")
        if isinstance(appearance, Mapping):
            return self.shapes.material(appearance, self.context)
        return self.shapes.material(fields.node, self.context) if isinstance(material, Mapping) else None

    def _resource(self, fields: Fields, place: Place, material: Material | None) -> None:
        """Draw what a resource names, in one material if there is one."""
        uri, name = fields.text("uri"), fields.text("node")
        where = fields.place("uri")
        path = locate(uri, fields.node.text.path, self.parts, where)
        if path is None:
            return
        suffix = path.suffix.lower()
        if suffix in SCENES:
            drawn = self.resources.scene(path, uri, name, fields.texts("exclude"), place, where)
        elif suffix in COLLADA:
            drawn = self.resources.collada(path, uri, name, fields.texts("exclude"), place, where)
        elif suffix in MESHES:
            mesh = self.resources.mesh(path, where)
            if name and mesh is not None:
                fields.tell(rules.RESOURCE_NODE, f"{path.name} is taken as a whole, not its node {name!r:.60}", "node")
            drawn = [] if mesh is None else [self._placed(mesh, place, fields)]
        elif suffix in ELEMENTS:
            self._include(path, name, place, fields)
            return
        else:
            kinds = " ".join((*SCENES, *COLLADA, *MESHES, *ELEMENTS))
            fields.tell(rules.RESOURCE_KIND, f"{path.name} is not read: {kinds} are", "uri")
            return
        if material is not None:
            drawn = [replace(d, shape=replace(d.shape, material=material)) for d in drawn]
        self.drawn += drawn

    def _placed(self, mesh: Mesh, place: Place, fields: Fields) -> Drawn:
        crease = fields.angle("crease_angle", default=mesh.crease_angle)
        if crease != mesh.crease_angle:
            mesh = replace(mesh, crease_angle=crease)
        return Drawn(Shape(mesh, place.transform, PLAIN, fields.text("name")), place.visual, place.collision)

    def _include(self, path: Path, name: str, place: Place, fields: Fields) -> None:
        """Read elements out of another YAML file: those under the key or the anchor `name`, or the whole file's."""
        if path in self._including:
            fields.tell(rules.RESOURCE_BROKEN, f"{path.name} contains itself", "uri")
            return
        key = (path, id(self.document))
        if key not in self._included:
            self._included[key] = self._opened(path, fields)
        included = self._included[key]
        if included is None:
            return
        found: Node | None = included.root
        if isinstance(found, Mapping):
            scene = found.items.get("scene")
            found = (found.items.get(name) or included.anchors.get(name)) if name else (scene or found)
        elif name:
            found = included.anchors.get(name)
        if found is None:
            fields.tell(rules.RESOURCE_NODE, f"{path.name} has no node {name!r:.60}", "node")
            return
        outer, unit = self.document, self.context.angle_unit
        self._including.append(path)
        try:
            self.document = included
            if isinstance(included.root, Mapping):
                self.context.angle_unit = angle_unit(Fields(included.root, self.context, path.name), unit)
            self._all(found, place, path.name)
        except FormatError as error:
            self._broken(error, path, fields)
        finally:
            self.document, self.context.angle_unit = outer, unit
            self._including.pop()

    def _opened(self, path: Path, fields: Fields) -> Document | None:
        try:
            document = read_elements(path, self.document)
        except FormatError as error:
            self._broken(error, path, fields)
            return None
        self.context.problems += document.problems
        for uri, names in asked_nodes(document.root).items():
            self.resources.asked.setdefault(uri, set()).update(names)
        return document

    def _broken(self, error: FormatError, path: Path, fields: Fields) -> None:
        wrong = rules.RESOURCE_BROKEN.problem(f"{path.name} cannot be used as a whole", fields.place("uri"))
        self.context.problems += [error.problem, wrong]


def _matrix(translation: tuple[float, ...], turn: tuple[float, ...], scale: tuple[float, ...]) -> Floats:
    """Return the matrix (4, 4) that stretches, turns by a unit quaternion, and moves; single numbers are faster without arrays."""
    w, x, y, z = turn
    a, b, c = scale
    return np.array(
        [
            [(1 - 2 * (y * y + z * z)) * a, 2 * (x * y - w * z) * b, 2 * (x * z + w * y) * c, translation[0]],
            [2 * (x * y + w * z) * a, (1 - 2 * (x * x + z * z)) * b, 2 * (y * z - w * x) * c, translation[1]],
            [2 * (x * z - w * y) * a, 2 * (y * z + w * x) * b, (1 - 2 * (x * x + y * y)) * c, translation[2]],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )


def _invertible(place: Place) -> bool:
    return bool(abs(np.linalg.det(place.transform[:3, :3])) > 1e-12)
