"""Elements of a link.

Rigid bodies, shapes, resources and devices, inside of groups and transforms.

`elements` is a list of mappings with a `type`, or one such mapping, or a mapping from
types to nodes (`elements: { Shape: { … } }`).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from bodymotion.diagnostics import Diagnostics, FormatError
from bodymotion.diagnostics.spelling import meant
from bodymotion.formats.choreonoid_body import resources, rules
from bodymotion.formats.choreonoid_body.devices import DEVICES, read_device
from bodymotion.formats.choreonoid_body.fields import Fields, angle_unit
from bodymotion.formats.choreonoid_body.geometry import ShapeReader
from bodymotion.formats.choreonoid_body.links import MASS_KEYS, FoundDevice, read_mass
from bodymotion.formats.meshes.stl import read_mesh_file
from bodymotion.formats.resources import PART_UNREADABLE, NotFound, ReferencedFiles
from bodymotion.formats.rules import TOO_LARGE
from bodymotion.formats.vrml.rules import NOT_SHOWN
from bodymotion.formats.vrml.shapes import (
    IDENTITY,
    PLAIN,
    FoundShape,
    NodeFrame,
    by_purpose,
)
from bodymotion.formats.yaml.fields import Context, label
from bodymotion.formats.yaml.tree import Document, Mapping, Node, Scalar, Sequence
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import frozen
from bodymotion.geometry.shapes import Material, Mesh, Shape
from bodymotion.model.links import Segment
from bodymotion.model.rules import SCALED

MAX_KEYS = 1_000_000
"""Keys of all elements.

Those that aliases repeat count as often as they are read.
"""
MAX_DEPTH = 60  # Levels of elements inside of each other, files in files included.

GROUPS = (
    "Group",
    "Node",
    "Transform",
    "Visual",
    "Collision",
    "VisualOrCollision",
    "Switch",
)
SCENERY = ("AmbientLight", "DirectionalLight", "Fog", "Viewpoint")
TYPES = ("Shape", "Resource", "RigidBody", "Text", *GROUPS, *SCENERY, *DEVICES)
MAX_UNKNOWN_TYPES = 200  # Unknown types that are compared with known ones.
NAMED = {"shape": "Shape", "resource": "Resource"}
"""Keys of Visual and Collision that hold a single element of that type."""

SHAPE_KEYS = (
    "type",
    "name",
    "geometry",
    "appearance",
    "material",
    "translation",
    "rotation",
    "scale",
    "elements",
)
POSE_KEYS = ("translation", "rotation", "scale")

# Below it, the inverse would have no digits left.
MIN_DETERMINANT = 1e-12
"""Of a transform with a scale that can be undone."""


@dataclass
class LinkParts:
    """The contents of the elements of one link.

    Segments, devices, and the shapes that belong to no RigidBody.
    """

    segments: list[Segment] = field(default_factory=list)
    devices: list[FoundDevice] = field(default_factory=list)
    drawn: list[FoundShape] = field(default_factory=list)
    is_faulty: bool = False
    """Whether an element could not be read."""


class ElementReader:
    """Reads the elements of the links of one file, and of the files that they name."""

    def __init__(
        self, document: Document, context: Context, parts: ReferencedFiles
    ) -> None:
        self.context = context
        self.parts = parts
        self.document = document
        self.shapes = ShapeReader(context, parts)
        self.resources = resources.ResourceReader(
            context.found, parts, resources.named_nodes(document.root)
        )
        self.link = LinkParts()
        # Shapes go to the link, or within a RigidBody to that.
        self.drawn: list[FoundShape] = []
        self.visited = self.depth = 0
        self._included: dict[tuple[Path, int], Document | None] = {}
        self._including: list[Path] = []
        self._unknown_types: set[str] = set()

    def read(self, elements: Node | None, title: str) -> LinkParts:
        """Return the contents of the elements of a link."""
        # New lists for each link: the reader reads all links of a file.
        self.link = LinkParts()
        self.drawn = self.link.drawn
        if elements is not None:
            with self.context.found.recover():
                self._all(elements, NodeFrame(), title)
        return self.link

    def _all(self, elements: Node, frame: NodeFrame, title: str) -> None:
        """Read all elements in a frame; faults leave the others."""
        if self.depth >= MAX_DEPTH:
            raise TOO_LARGE.error(
                f"elements are nested more than {MAX_DEPTH} deep", elements.location
            )
        self.depth += 1
        # The depth counts through files that are included.
        try:
            for kind, node in self._each(elements, title):
                try:
                    self._element(kind, node, frame)
                except FormatError as error:
                    self.context.found.refuse(error)
                    self.link.is_faulty = True
        finally:
            self.depth -= 1

    def _each(self, elements: Node, title: str) -> Iterator[tuple[str, Mapping]]:
        """Return the types of elements, and their mappings."""
        # Aliases repeat elements: each use counts.
        self._count(elements)
        if isinstance(elements, Sequence):
            for item in elements.items:
                yield from self._each(item, title)
        elif isinstance(elements, Mapping):
            element_type = self._type_of(elements, title)
            if element_type is not None:
                yield element_type, elements
                return
            # Old files: the types of the elements are keys.
            for name, value in elements.items.items():
                yield from self._by_name(name, value, title)
        elif not _is_null(elements):
            message = f"elements of {title} are {elements.value!r:.60}"
            self._refuse(message, elements)

    def _type_of(self, element: Mapping, title: str) -> str | None:
        """Return the type that an element states, also under a misspelt key."""
        # The value of another key is a type of element: `type` is misspelt.
        if "type" not in element.items:
            for value in element.items.values():
                if isinstance(value, Scalar) and value.value in TYPES:
                    fields = Fields(element, self.context, f"an element of {title}")
                    fields.report_misspelt(("type",), as_meant=("type",))
                    break
        node = element.items.get("type")
        return node.value if isinstance(node, Scalar) else None

    def _by_name(
        self, name: str, value: Node, title: str
    ) -> Iterator[tuple[str, Mapping]]:
        """Return the elements under a key that is their type."""
        if isinstance(value, Mapping):
            element_type = value.items.get("type")
            if isinstance(element_type, Scalar):
                name = element_type.value
            yield name, value
        elif isinstance(value, Sequence):
            for item in value.items:
                if isinstance(item, Mapping):
                    yield name, item
                else:
                    self._refuse(f"{name:.60} in {title} is not a mapping", item)
        elif _is_null(value):
            # `Camera:` without a value is an element without keys.
            yield name, Mapping(value.text, value.offset)
        else:
            self._refuse(f"{name:.60} in {title} is {value.value!r:.60}", value)

    def _refuse(self, message: str, node: Node) -> None:
        self.context.found.refuse(rules.ELEMENT.error(message, node.location))

    def _count(self, node: Node) -> None:
        self.visited += 1
        if isinstance(node, Mapping):
            self.visited += len(node.items)
        if self.visited > MAX_KEYS:
            message = f"the elements expand to more than {MAX_KEYS} keys"
            raise TOO_LARGE.error(message, node.location)

    def _element(self, element_type: str, node: Mapping, frame: NodeFrame) -> None:
        """Read one element by its type."""
        self._count(node)
        title = label(element_type, node.items.get("name"))
        fields = Fields(node, self.context, title)
        if element_type == "Skip":
            return
        frame = self._moved(fields, frame)
        match element_type:
            case "Shape":
                self._shape(fields, frame)
            case "Resource":
                self._resource(fields, frame, None)
            case "RigidBody":
                self._rigid_body(fields, frame)
            case "Text":
                fields.report(NOT_SHOWN, f"{title} is not shown")
            case _ if element_type in GROUPS:
                # A Collision is not drawn, a Visual collides with nothing.
                visual = frame.visual and element_type != "Collision"
                collision = frame.collision and element_type != "Visual"
                self._inside(fields, NodeFrame(frame.transform, visual, collision))
            case _ if element_type in SCENERY:
                fields.report(rules.NOT_SHOWN, f"{title} is not shown")
            case _:
                self._device(fields, element_type, frame)

    def _moved(self, fields: Fields, frame: NodeFrame) -> NodeFrame:
        """Return the frame inside of an element with its own pose and scale."""
        translation = fields.translation("translation")
        rotation = fields.rotation("rotation")
        scale = self._scale(fields)
        # The usual case: no matrix is made.
        if translation is None and rotation is None and scale is None:
            return frame
        position = translation or (0.0, 0.0, 0.0)
        quaternion = rotation or (1.0, 0.0, 0.0, 0.0)
        # First the scale, then the rotation, then the translation: T · R · S.
        transform = poses.to_matrix([*position, *quaternion])
        transform[:3, :3] *= scale or (1.0, 1.0, 1.0)
        if frame.transform is not IDENTITY:
            transform = frame.transform @ transform
        if not np.isfinite(transform).all():
            message = f"the pose of {fields.title} is not finite"
            raise TOO_LARGE.error(message, fields.location())
        return NodeFrame(transform, frame.visual, frame.collision)

    def _scale(self, fields: Fields) -> tuple[float, ...] | None:
        """Return a scale (3,) of one number or three.

        None where there is none.
        """
        if isinstance(fields.find("scale"), Sequence):
            return fields.vector("scale", default=(1.0, 1.0, 1.0))
        if fields.has("scale"):
            return (fields.number("scale", default=1.0),) * 3
        return None

    def _inside(self, fields: Fields, frame: NodeFrame) -> None:
        for key, kind in NAMED.items():
            value = fields.find(key)
            if isinstance(value, Mapping):
                self._element(kind, value, frame)
        elements = fields.find("elements")
        if elements is not None:
            self._all(elements, frame, fields.title)

    def _rigid_body(self, fields: Fields, frame: NodeFrame) -> None:
        """Add a RigidBody as a segment of the link."""
        transform = frame.transform
        # A mass has no meaning in a frame that is stretched.
        if not poses.is_rigid(transform):
            message = f"{fields.title} is inside of a Transform with a scale"
            fields.report(SCALED, message)
        mass = read_mass(fields)
        back = None
        # Shapes are in the frame of the link; those of a RigidBody must be in its own.
        if transform is not IDENTITY:
            determinant = np.linalg.det(transform[:3, :3])
            if abs(determinant) > MIN_DETERMINANT:
                back = np.linalg.inv(transform)
        # Shapes from here on belong to the RigidBody.
        outer = self.drawn
        self.drawn = []
        self._inside(fields, frame)
        inner = self.drawn
        self.drawn = outer
        # Without an inverse the shapes stay in the link's frame.
        if back is None:
            transform = IDENTITY
        else:
            inner = [replace(drawn, shape=drawn.shape.moved(back)) for drawn in inner]
        visuals, collisions = by_purpose(inner)
        self.link.segments.append(
            replace(
                mass,
                name=fields.text("name"),
                transform=frozen(transform),
                visuals=visuals,
                collisions=collisions,
                extra=fields.rest(("type", *POSE_KEYS)),
            )
        )
        fields.report_misspelt(MASS_KEYS)

    def _device(self, fields: Fields, kind: str, frame: NodeFrame) -> None:
        # Each unknown type is reported once.
        if kind not in DEVICES and kind not in self._unknown_types:
            self._unknown_types.add(kind)
            self._report_unknown_type(fields, kind)
        self.link.devices.append(
            (read_device(fields, kind, 0, frame.transform), fields.node, fields.unknown)
        )
        self._inside(fields, frame)

    def _report_unknown_type(self, fields: Fields, element_type: str) -> None:
        """Report a type that Choreonoid itself does not have.

        As a warning where it is probably a misspelt one, and none of a plugin.
        """
        almost = None
        # A file may have any number of unknown types: comparing takes time.
        if len(self._unknown_types) <= MAX_UNKNOWN_TYPES:
            almost = meant(element_type, TYPES)
        data = {"type": element_type}
        if almost is None:
            message = (
                f"the type {element_type} is not one of Choreonoid's own; "
                f"{fields.title} is kept as it is"
            )
            problem = rules.PLUGIN_NODE.problem(message, fields.location(), data=data)
        else:
            message = (
                f"the type {element_type} is unknown; {fields.title} is kept as it is, "
                "and has no effect"
            )
            rule = replace(rules.PLUGIN_NODE, severity="warning")
            hint = f"did you mean {almost!r}?"
            problem = rule.problem(message, fields.location("type"), hint, data=data)
        self.context.found.add(problem)

    def _shape(self, fields: Fields, frame: NodeFrame) -> None:
        """Add the shape of a Shape element, or of its file."""
        node = fields.find("geometry")
        if not isinstance(node, Mapping):
            fields.report(rules.ELEMENT, f"{fields.title} has no geometry")
            return
        material = self._material(fields)
        geometry_type = node.items.get("type")
        # A geometry may be a file.
        if isinstance(geometry_type, Scalar) and geometry_type.value == "Resource":
            resource = Fields(node, self.context, f"the geometry of {fields.title}")
            self._resource(resource, self._moved(resource, frame), material)
            return
        is_textured = material is not None and material.texture is not None
        geometry = self.shapes.geometry(node, self.context, is_textured)
        if geometry is not None:
            name = fields.text("name")
            shape = Shape(geometry, frame.transform, material or PLAIN, name)
            self.drawn.append(FoundShape(shape, frame.visual, frame.collision))
        fields.report_misspelt(SHAPE_KEYS)

    def _material(self, fields: Fields) -> Material | None:
        appearance = fields.find("appearance")
        material = fields.find("material")
        # The material may be in the shape itself.
        if isinstance(appearance, Mapping):
            return self.shapes.material(appearance, self.context)
        if isinstance(material, Mapping):
            return self.shapes.material(fields.node, self.context)
        return None

    def _resource(
        self, fields: Fields, frame: NodeFrame, material: Material | None
    ) -> None:
        """Add the shapes of the file that a Resource names."""
        uri = fields.text("uri")
        name = fields.text("node")
        where = fields.location("uri")
        path = resources.find_file(uri, fields.node, self.parts.finder)
        if isinstance(path, NotFound):
            self.context.found.add(path.problem(where))
            return
        suffix = path.suffix.lower()
        if suffix in (*resources.SCENES, *resources.COLLADA):
            drawn = self.resources.shapes(
                path, uri, name, fields.texts("exclude"), frame, where
            )
        elif suffix in resources.MESHES:
            # STL and the like have no names of nodes.
            mesh = self.resources.once(path, where, read_mesh_file)
            if name and mesh is not None:
                fields.report(
                    rules.RESOURCE_NODE,
                    f"{path.name} is read as a whole, not its node {name!r:.60}",
                    "node",
                )
            if mesh is None:
                drawn = []
            else:
                drawn = [self._placed(mesh, frame, fields)]
        elif suffix in resources.ELEMENTS:
            self._include(path, name, frame, fields)
            return
        else:
            kinds = " ".join(
                (
                    *resources.SCENES,
                    *resources.COLLADA,
                    *resources.MESHES,
                    *resources.ELEMENTS,
                )
            )
            fields.report(
                rules.RESOURCE_KIND,
                f"{path.name} cannot be read; resources are {kinds}",
                "uri",
            )
            return
        # The material of the shape replaces those of the file.
        if material is not None:
            drawn = [
                replace(d, shape=replace(d.shape, material=material)) for d in drawn
            ]
        self.drawn += drawn

    def _placed(self, mesh: Mesh, frame: NodeFrame, fields: Fields) -> FoundShape:
        crease = fields.angle("crease_angle", default=mesh.crease_angle)
        if crease != mesh.crease_angle:
            mesh = replace(mesh, crease_angle=crease)
        return FoundShape(
            Shape(mesh, frame.transform, PLAIN, fields.text("name")),
            frame.visual,
            frame.collision,
        )

    def _include(self, path: Path, name: str, frame: NodeFrame, fields: Fields) -> None:
        """Read elements of another YAML file.

        Those of the key or the anchor `name`, or those of the whole file.
        """
        # YAML files can include each other in circles.
        if path in self._including:
            fields.report(
                PART_UNREADABLE.as_error, f"{path.name} contains itself", "uri"
            )
            return
        included = self._opened(path, fields)
        if included is None:
            return
        found: Node | None = included.root
        if isinstance(found, Mapping):
            # A file with a key `scene` has its elements there.
            scene = found.items.get("scene")
            if name:
                found = found.items.get(name) or included.anchors.get(name)
            else:
                found = scene or found
        elif name:
            found = included.anchors.get(name)
        if found is None:
            fields.report(
                rules.RESOURCE_NODE, f"{path.name} has no node {name!r:.60}", "node"
            )
            return
        outer = self.document
        unit = self.context.angle_unit
        # Problems inside are collected apart.
        context = self.context
        # The model is whole without a faulty file.
        outside, context.found = context.found, Diagnostics(path)
        self._including.append(path)
        self.document = included
        with context.found.recover():
            # An included file may have another unit of angles.
            if isinstance(included.root, Mapping):
                context.angle_unit = angle_unit(
                    Fields(included.root, context, path.name), unit
                )
            self._all(found, frame, path.name)
        inside, context.found = context.found, outside
        # Back to the file around it.
        self.document, context.angle_unit = outer, unit
        self._including.pop()
        outside.extend(inside.problems)
        if inside.refusal is not None:
            fields.report(
                PART_UNREADABLE.as_error,
                f"{path.name} cannot be read as a whole",
                "uri",
            )

    def _opened(self, path: Path, fields: Fields) -> Document | None:
        """Return the parsed file of elements; None where it is faulty."""
        # By the file around it too, as the included one may use its anchors.
        key = (path, id(self.document))
        if key not in self._included:
            self._included[key] = None
            try:
                document = self._included[key] = resources.read_elements(
                    path, self.document, self.context.found
                )
                for uri, names in resources.named_nodes(document.root).items():
                    self.resources.names.setdefault(uri, set()).update(names)
            except FormatError as error:
                self.context.found.extend(error.problems)
                fields.report(
                    PART_UNREADABLE.as_error, f"{path.name} is left out", "uri"
                )
        return self._included[key]


def _is_null(node: Scalar) -> bool:
    return node.value.lower() in ("", "~", "null")
