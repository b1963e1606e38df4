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

MAX_KEYS = 1_000_000  # Keys of all elements, those that aliases repeat counted as often as they are read.
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
        self.drawn: list[FoundShape] = []
        self.visited = self.depth = 0
        self._included: dict[tuple[Path, int], Document | None] = {}
        self._including: list[Path] = []
        self._unknown_types: set[str] = set()

    def read(self, elements: Node | None, title: str) -> LinkParts:
        """Return the contents of the elements of a link."""
        self.link = LinkParts()
        self.drawn = self.link.drawn
        if elements is not None:
            with self.context.found.recover():
                self._all(elements, NodeFrame(), title)
        return self.link

    def _all(self, elements: Node, frame: NodeFrame, title: str) -> None:
        if self.depth >= MAX_DEPTH:
            raise TOO_LARGE.error(
                f"elements are nested more than {MAX_DEPTH} deep", elements.location
            )
        self.depth += 1
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
        self._count(elements)
        if isinstance(elements, Sequence):
            for item in elements.items:
                yield from self._each(item, title)
        elif isinstance(elements, Mapping):
            kind = elements.items.get("type")
            if kind is None and any(
                isinstance(v, Scalar) and v.value in TYPES
                for v in elements.items.values()
            ):
                fields = Fields(elements, self.context, f"an element of {title}")
                fields.report_misspelt(("type",), as_meant=("type",))
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
                            self._refuse(
                                f"{name:.60} in {title} is not a mapping", item
                            )
                            continue
                        yield name, item
                elif value.value.lower() in ("", "~", "null"):
                    yield name, Mapping(value.text, value.offset)
                else:
                    self._refuse(f"{name:.60} in {title} is {value.value!r:.60}", value)
        elif elements.value.lower() not in ("", "~", "null"):
            self._refuse(f"elements of {title} are {elements.value!r:.60}", elements)

    def _refuse(self, message: str, node: Node) -> None:
        self.context.found.refuse(rules.ELEMENT.error(message, node.location))

    def _count(self, node: Node) -> None:
        self.visited += 1 + (len(node.items) if isinstance(node, Mapping) else 0)
        if self.visited > MAX_KEYS:
            raise TOO_LARGE.error(
                f"the elements expand to more than {MAX_KEYS} keys", node.location
            )

    def _element(self, kind: str, node: Mapping, frame: NodeFrame) -> None:
        self._count(node)
        title = label(kind, node.items.get("name"))
        fields = Fields(node, self.context, title)
        if kind == "Skip":
            return
        frame = self._moved(fields, frame)
        match kind:
            case "Shape":
                self._shape(fields, frame)
            case "Resource":
                self._resource(fields, frame, None)
            case "RigidBody":
                self._rigid_body(fields, frame)
            case _ if kind in GROUPS:
                visual = frame.visual and kind != "Collision"
                collision = frame.collision and kind != "Visual"
                self._inside(fields, NodeFrame(frame.transform, visual, collision))
            case _ if kind == "Text" or kind in SCENERY:
                fields.report(
                    NOT_SHOWN if kind == "Text" else rules.NOT_SHOWN,
                    f"{title} is not shown",
                )
            case _:
                self._device(fields, kind, frame)

    def _moved(self, fields: Fields, frame: NodeFrame) -> NodeFrame:
        translation = fields.translation("translation")
        rotation = fields.rotation("rotation")
        if isinstance(fields.find("scale"), Sequence):
            scale = fields.vector("scale", default=(1.0, 1.0, 1.0))
        else:
            scale = None
        if scale is None and fields.has("scale"):
            scale = (fields.number("scale", default=1.0),) * 3
        if translation is None and rotation is None and scale is None:
            return frame
        own = poses.to_matrix(
            [*(translation or (0.0, 0.0, 0.0)), *(rotation or (1.0, 0.0, 0.0, 0.0))]
        )
        own[:3, :3] *= scale or (1.0, 1.0, 1.0)
        if frame.transform is IDENTITY:
            whole = own
        else:
            whole = frame.transform @ own
        if not np.isfinite(whole).all():
            raise TOO_LARGE.error(
                f"the pose of {fields.title} is not finite", fields.location()
            )
        return NodeFrame(whole, frame.visual, frame.collision)

    def _inside(self, fields: Fields, frame: NodeFrame) -> None:
        for key, kind in NAMED.items():
            value = fields.find(key)
            if isinstance(value, Mapping):
                self._element(kind, value, frame)
        elements = fields.find("elements")
        if elements is not None:
            self._all(elements, frame, fields.title)

    def _rigid_body(self, fields: Fields, frame: NodeFrame) -> None:
        if not poses.is_rigid(frame.transform):
            fields.report(
                SCALED, f"{fields.title} is inside of a Transform with a scale"
            )
        mass = read_mass(fields)
        outer = self.drawn
        self.drawn = []
        is_invertible = (
            frame.transform is not IDENTITY
            and abs(np.linalg.det(frame.transform[:3, :3])) > 1e-12
        )
        if is_invertible:
            back = np.linalg.inv(frame.transform)
        else:
            back = None
        self._inside(fields, frame)
        inner = self.drawn
        self.drawn = outer
        if back is not None:
            inner = [
                FoundShape(drawn.shape.moved(back), drawn.visual, drawn.collision)
                for drawn in inner
            ]
        visuals, collisions = by_purpose(inner)
        self.link.segments.append(
            replace(
                mass,
                name=fields.text("name"),
                transform=frozen(frame.transform if back is not None else IDENTITY),
                visuals=visuals,
                collisions=collisions,
                extra=fields.rest(("type", *POSE_KEYS)),
            )
        )
        fields.report_misspelt(MASS_KEYS)

    def _device(self, fields: Fields, kind: str, frame: NodeFrame) -> None:
        if kind not in DEVICES and kind not in self._unknown_types:
            self._unknown_types.add(kind)
            self._report_unknown_type(fields, kind)
        self.link.devices.append(
            (read_device(fields, kind, 0, frame.transform), fields.node, fields.unknown)
        )
        self._inside(fields, frame)

    def _report_unknown_type(self, fields: Fields, kind: str) -> None:
        """Report a type that Choreonoid itself does not have.

        As a warning where it is probably a misspelt one, and none of a plugin.
        """
        if len(self._unknown_types) <= MAX_UNKNOWN_TYPES:
            almost = meant(kind, TYPES)
        else:
            almost = None
        message = f"the type {kind} is not one of Choreonoid's own; {fields.title} is kept as it is"
        problem = rules.PLUGIN_NODE.problem(
            message, fields.location(), data={"type": kind}
        )
        if almost is not None:
            message = f"the type {kind} is unknown; {fields.title} is kept as it is, and has no effect"
            hint = f"did you mean {almost!r}?"
            problem = replace(
                problem,
                message=message,
                location=fields.location("type"),
                hint=hint,
                severity="warning",
            )
        self.context.found.add(problem)

    def _shape(self, fields: Fields, frame: NodeFrame) -> None:
        geometry = fields.find("geometry")
        if not isinstance(geometry, Mapping):
            fields.report(rules.ELEMENT, f"{fields.title} has no geometry")
            return
        material = self._material(fields)
        kind = geometry.items.get("type")
        if isinstance(kind, Scalar) and kind.value == "Resource":
            resource = Fields(geometry, self.context, f"the geometry of {fields.title}")
            self._resource(resource, self._moved(resource, frame), material)
            return
        made = self.shapes.geometry(
            geometry,
            self.context,
            material is not None and material.texture is not None,
        )
        if made is not None:
            shape = Shape(made, frame.transform, material or PLAIN, fields.text("name"))
            self.drawn.append(FoundShape(shape, frame.visual, frame.collision))
        fields.report_misspelt(SHAPE_KEYS)

    def _material(self, fields: Fields) -> Material | None:
        appearance = fields.find("appearance")
        material = fields.find("material")
        if isinstance(appearance, Mapping):
            return self.shapes.material(appearance, self.context)
        if isinstance(material, Mapping):
            return self.shapes.material(fields.node, self.context)
        return None

    def _resource(
        self, fields: Fields, frame: NodeFrame, material: Material | None
    ) -> None:
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
        context = self.context
        # The model is whole without a faulty file.
        outside, context.found = context.found, Diagnostics(path)
        self._including.append(path)
        self.document = included
        with context.found.recover():
            if isinstance(included.root, Mapping):
                context.angle_unit = angle_unit(
                    Fields(included.root, context, path.name), unit
                )
            self._all(found, frame, path.name)
        inside, context.found = context.found, outside
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
