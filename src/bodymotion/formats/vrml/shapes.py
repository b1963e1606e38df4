"""The shapes of a scene of VRML97 (ISO/IEC 14772-1, clause 6).

The walk that finds them, and the nodes in a Shape.

The walk follows grouping nodes, their transforms, switches and parts. Geometry becomes
primitives, meshes, lines and points; appearance becomes a `Material`. Without a
Material node the standard shows the plain colour white and no light on it. Here such a
surface is white too, but lit, so that its shape is visible.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import Diagnostics, FormatError, Rule, Subject
from bodymotion.diagnostics.text import counted, with_article
from bodymotion.formats.limits import ITEMS_BETWEEN_CLOCKS, check_time
from bodymotion.formats.resources import PART_UNREADABLE, ReferencedFiles
from bodymotion.formats.rules import TOO_LARGE
from bodymotion.formats.vrml import nodes, rules
from bodymotion.formats.vrml.nodes import ModelDiagnostics, Node, without_fault
from bodymotion.formats.vrml.reader import PrototypeBodies, load_inline, resolve_url
from bodymotion.formats.vrml.values import STANDARD_NODES, is_declared
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Bools, Floats, Indices, frozen, frozen_ints, unit
from bodymotion.geometry.meshes import grid_faces, triangulate
from bodymotion.geometry.shapes import (
    MAX_SHAPES,
    Box,
    Cone,
    Corners,
    Cylinder,
    Geometry,
    Lines,
    Material,
    Mesh,
    Points,
    Shape,
    Sphere,
    Texture,
)

if TYPE_CHECKING:
    from bodymotion.formats.meshes.reading import MeshReader

MAX_NODES = 1_000_000  # Nodes that a walk visits: USE inside USE expands to any number.

MESH_FILES = (".stl",)  # Parts that are meshes, not VRML97.

IDENTITY: Floats = frozen(np.eye(4))

Actual: TypeAlias = Callable[
    [Node | None], Node | None
]  # Returns the node that an instance of a prototype means.

_DEFAULT = Material()
MATERIAL_FIELDS = {
    "diffuseColor": "diffuse",
    "ambientIntensity": "ambient_intensity",
    "specularColor": "specular",
    "emissiveColor": "emissive",
    "shininess": "shininess",
    "transparency": "transparency",
}
"""By the fields of a Material node, the attributes of a `Material`."""

PLAIN = Material(diffuse=(1.0, 1.0, 1.0))  # The material of shapes that have none.

GEOMETRY_NODES = (
    *("Box", "Cone", "Cylinder", "ElevationGrid", "Extrusion", "IndexedFaceSet"),
    *("IndexedLineSet", "PointSet", "Sphere", "Text"),
)

ROUND_SOLIDS: dict[
    str, tuple[Callable[..., Geometry], dict[str, float], tuple[str, ...]]
] = {
    "Sphere": (Sphere, {"radius": 1.0}, ()),
    "Cylinder": (Cylinder, {"radius": 1.0, "height": 2.0}, ("side", "top", "bottom")),
    "Cone": (Cone, {"bottomRadius": 1.0, "height": 2.0}, ("side", "bottom")),
}
"""By the names of nodes, the class, the fields of its sizes with their defaults, and its parts."""
PROPERTIES = {
    "normal": ("Normal", "vector", 3),
    "color": ("Color", "color", 3),
    "texCoord": ("TextureCoordinate", "point", 2),
}
"""Of corners of faces.

By the fields of their nodes, the types of those, the field with the values, and the
numbers in one.
"""
MAX_VERTICES = (
    2_000_000  # Vertices that an Extrusion, written in few words, may unfold to.
)


@dataclass(frozen=True)
class FoundShape:
    """A shape that was found, in the frame where the walk began.

    Whether it is visible, and whether others collide with it.
    """

    shape: Shape
    visual: bool
    collision: bool


def by_purpose(drawn: list[FoundShape]) -> tuple[tuple[Shape, ...], tuple[Shape, ...]]:
    """Return the visual and the collision shapes."""
    return tuple(d.shape for d in drawn if d.visual), tuple(
        d.shape for d in drawn if d.collision
    )


@dataclass(frozen=True)
class NodeFrame:
    """The frame of a node.

    Its transform (4, 4) from where the walk began, and what the shapes in it are for.
    """

    transform: Floats = field(default_factory=lambda: IDENTITY)
    visual: bool = True
    collision: bool = True


class SceneWalker:
    """Walk through nodes and collect shapes in `drawn`.

    `walk` calls a function `visit(node, frame)` first for each node, before prototypes
    are expanded; where it returns True, the node is
    done. It may continue inside of the node with `enter`. The walk keeps its own stack:
    nodes may be nested to any depth. Nothing here refers back to the walker, so its
    memory is freed with it.
    """

    def __init__(self, found: Diagnostics, parts: ReferencedFiles) -> None:
        self.found = found
        self.parts = parts
        self.drawn: list[FoundShape] = []
        self.visited = 0
        self.unknown: Subject = ()
        """What is unknown in the value where a node that the walk visits cannot be read.

        Set by its user.
        """
        self._stack: list[tuple[Iterator[Node], NodeFrame] | Callable[[], None]] = []
        self._mesh_reader: MeshReader | None = None
        self._reported: set[str] = set()
        self.actual = PrototypeBodies(parts)
        self.geometry = GeometryReader(found, self.actual)
        self.appearance = AppearanceReader(found, self.actual, parts)

    def walk(
        self,
        nodes: Iterable[Node],
        frame: NodeFrame,
        visit: Callable[[Node, NodeFrame], bool],
    ) -> None:
        """Walk through nodes in a frame, and everything inside them.

        Go on after faults where `found` is of a model.

        Raises FormatError at the first fault, where `found` is not of a model; when
        there are too many nodes or shapes.
        """
        self.enter(nodes, frame)
        while self._stack:
            item = self._stack[-1]
            if callable(item):
                node = None
            else:
                node = next(item[0], None)
            if callable(item) or node is None:
                self._stack.pop()
            try:
                if callable(item):
                    item()
                elif node is not None:
                    self._visit(node, item[1], visit)
            except FormatError as error:
                if error.problem.rule == TOO_LARGE.code:
                    self._stack.clear()
                    raise
                if not isinstance(self.found, ModelDiagnostics):
                    raise
                self.found.fault(error, *([self.unknown] if self.unknown else []))
                if node is None:
                    rest = None
                else:
                    rest = without_fault(node, error)
                if rest is not None and not callable(item):
                    self.enter([rest], item[1])

    def enter(
        self,
        nodes: Iterable[Node],
        frame: NodeFrame,
        leave: Callable[[], None] | None = None,
    ) -> None:
        """Continue the walk with nodes in a frame.

        Call `leave` when everything inside them is done.
        """
        if leave is not None:
            self._stack.append(leave)
        self._stack.append((iter(nodes), frame))

    def _visit(
        self, node: Node, frame: NodeFrame, visit: Callable[[Node, NodeFrame], bool]
    ) -> None:
        self.visited += 1
        if self.visited % ITEMS_BETWEEN_CLOCKS == 0:
            check_time(node.location)
        if self.visited > MAX_NODES:
            raise TOO_LARGE.error(
                f"the scene expands to more than {MAX_NODES} nodes", node.location
            )
        found: Node | None = node
        while found is not None and not visit(found, frame):
            if found.proto is None:
                self._walk_into(found, frame)
                return
            found = self.actual.inside(found)

    def _walk_into(self, found: Node, frame: NodeFrame) -> None:
        match found.type:
            case "Transform":
                self.enter(
                    nodes.children(found),
                    self.frame_inside(frame, node_transform(found), found),
                )
            case "Group" | "Anchor" | "Billboard":
                self.enter(nodes.children(found), frame)
            case "Switch":
                choices = found.get("choice")
                if not isinstance(choices, list):
                    choices = nodes.children(found, "choice")
                chosen = nodes.integer(found, "whichChoice", -1)
                if 0 <= chosen < len(choices) and isinstance(choices[chosen], Node):
                    self.enter([choices[chosen]], frame)
                message = "the children that a Switch does not select"
                self._report_scenery(found, message, len(choices) > 1 or chosen != 0)
            case "LOD":
                levels = nodes.children(found, "level") or nodes.children(found)
                self.enter(levels[:1], frame)
                self._report_scenery(
                    found, "the other levels of an LOD", len(levels) > 1
                )
            case "Collision":
                collide = nodes.flag(found, "collide", True)
                proxy = nodes.child(found, "proxy")
                if proxy is not None and collide:
                    self.enter([proxy], replace(frame, visual=False))
                solid = collide and proxy is None
                self.enter(
                    nodes.children(found),
                    replace(frame, collision=frame.collision and solid),
                )
            case "Inline":
                self._part(found, frame)
            case "Shape":
                self._draw(found, frame)
            case _ if found.type in STANDARD_NODES:
                self._report_scenery(found, found.type)

    def _report_scenery(self, node: Node, what: str, applies: bool = True) -> None:
        if applies and node.type not in self._reported:
            self._reported.add(node.type)
            self.found.report(
                rules.SCENERY, f"{what}: not a part of a body", node.location
            )

    def _part(self, node: Node, frame: NodeFrame) -> None:
        urls = nodes.texts(node, "url")
        if any(url.lower().endswith(MESH_FILES) for url in urls):
            if self._mesh_reader is None:
                from bodymotion.formats.meshes.reading import MeshReader

                self._mesh_reader = MeshReader(PART_UNREADABLE, self.found)
            path = resolve_url(node, self.parts)
            for shape in (
                ()
                if path is None
                else self._mesh_reader.shapes(path, self.parts, node.location)
            ):
                self._add(shape.geometry, PLAIN, frame, node)
            return
        scene = load_inline(node, self.parts)
        if scene is not None:
            self.parts.users.setdefault(str(scene.path), self.unknown)
            self.enter(scene.nodes, frame)

    def _draw(self, node: Node, frame: NodeFrame) -> None:
        found = self.actual(nodes.child(node, "geometry"))
        if found is None or not (frame.visual or frame.collision):
            return
        material = self.appearance.read(nodes.child(node, "appearance"))
        self._add(
            self.geometry.read(found, textured=material.texture is not None),
            material,
            frame,
            node,
        )

    def _add(
        self,
        geometry: Geometry | None,
        material: Material,
        frame: NodeFrame,
        node: Node,
    ) -> None:
        if geometry is None:
            return
        if len(self.drawn) >= MAX_SHAPES:
            raise TOO_LARGE.error(
                f"the scene expands to more than {MAX_SHAPES} shapes", node.location
            )
        shape = Shape(geometry, frame.transform, material, node.name)
        self.drawn.append(FoundShape(shape, frame.visual, frame.collision))

    def frame_inside(
        self, frame: NodeFrame, transform: Floats, node: Node
    ) -> NodeFrame:
        """Return the frame inside a node with its own transform (4, 4)."""
        if frame.transform is IDENTITY:
            whole = transform
        else:
            whole = frame.transform @ transform
        if not np.isfinite(whole).all():
            message = f"{node.type}: translation, rotation or scale is not finite"
            raise rules.INFINITE_POINT.error(message, node.location)
        return NodeFrame(whole, frame.visual, frame.collision)


def node_transform(node: Node) -> Floats:
    """Return the matrix (4, 4) of a Transform, T · C · R · SR · S · −SR · −C (ISO/IEC 14772-1, 6.52)."""
    matrix = np.eye(4)
    if "rotation" in node.fields:
        matrix[:3, :3] = rotation_matrix(*nodes.axis_angle(node))
    scale = nodes.vector(node, "scale", (1.0, 1.0, 1.0))
    if scale != (1.0, 1.0, 1.0):
        stretch = np.array(rotation_matrix(*nodes.axis_angle(node, "scaleOrientation")))
        matrix[:3, :3] = matrix[:3, :3] @ (stretch * scale) @ stretch.T
    matrix[:3, 3] = nodes.vector(node, "translation", (0.0, 0.0, 0.0))
    center = nodes.vector(node, "center", (0.0, 0.0, 0.0))
    if any(center):
        matrix[:3, 3] += center - matrix[:3, :3] @ center
    return matrix


def rotation_matrix(
    axis: tuple[float, float, float], angle: float
) -> tuple[tuple[float, float, float], ...]:
    """Return the matrix of a rotation about an axis of length 1 (Rodrigues' formula).

    Single numbers are faster without arrays.
    """
    x, y, z = axis
    c = math.cos(angle)
    s = math.sin(angle)
    u = 1.0 - c
    return (
        (x * x * u + c, x * y * u - z * s, x * z * u + y * s),
        (x * y * u + z * s, y * y * u + c, y * z * u - x * s),
        (x * z * u - y * s, y * z * u + x * s, z * z * u + c),
    )


class AppearanceReader:
    """Make materials; an Appearance that is used several times gives the same material each time.

    `files` finds the images.
    """

    def __init__(
        self,
        found: Diagnostics,
        actual: Actual,
        files: ReferencedFiles,
    ) -> None:
        self.found = found
        self.actual = actual
        self.files = files
        self._known: dict[int, tuple[Node, Material]] = {}

    def read(self, node: Node | None) -> Material:
        """Return the material of an Appearance node."""
        if node is None:
            return PLAIN
        if id(node) not in self._known:
            self._known[id(node)] = (node, self._read(node))
        return self._known[id(node)][1]

    def _read(self, node: Node) -> Material:
        found = self.actual(node)
        if found is None or found.type != "Appearance":
            return PLAIN
        material, texture, transform = (
            self.actual(nodes.child(found, name))
            for name in ("material", "texture", "textureTransform")
        )
        if texture is not None:
            image = self._texture(texture, transform)
        else:
            image = None
        if material is None or material.type != "Material":
            if image is None:
                return PLAIN
            return Material(diffuse=PLAIN.diffuse, texture=image)
        values: dict[str, Any] = {}
        for name, attribute in MATERIAL_FIELDS.items():
            default = getattr(_DEFAULT, attribute)
            if isinstance(default, tuple):
                values[attribute] = self._clipped(
                    material, nodes.vector(material, name, default)
                )
            else:
                (values[attribute],) = self._clipped(
                    material, (nodes.number(material, name, default),)
                )
        return Material(**values, texture=image)

    def _clipped(self, node: Node, values: tuple[float, ...]) -> tuple[float, ...]:
        if all(0.0 <= value <= 1.0 for value in values):
            return values
        text = " ".join(f"{value:g}" for value in values)
        self.found.report(
            rules.OUT_OF_RANGE,
            f"a Material has the value {text}, expected 0…1",
            node.location,
        )
        return tuple(
            min(max(value, 0.0), 1.0) if value == value else 0.0 for value in values
        )

    def _texture(self, node: Node, transform: Node | None) -> Texture | None:
        if node.type != "ImageTexture":
            self.found.report(
                rules.NOT_SHOWN, f"{node.type} is not shown", node.location
            )
            return None
        urls = nodes.texts(node, "url")
        path = resolve_url(node, self.files)
        if path is None:
            return None
        return Texture(
            path,
            next(
                (url for url in urls if url.replace("\\", "/").endswith(path.name)),
                urls[0],
            ),
            repeat_s=nodes.flag(node, "repeatS", True),
            repeat_t=nodes.flag(node, "repeatT", True),
            transform=texture_matrix(transform),
        )


def texture_matrix(node: Node | None) -> Floats:
    """Return the (3, 3) matrix of a TextureTransform for columns (s, t, 1).

    −C · S · R · C · T (ISO/IEC 14772-1, 6.49).
    """
    if node is None:
        return frozen(np.eye(3))
    center = np.array(nodes.vector(node, "center", (0.0, 0.0)))
    translation = np.array(nodes.vector(node, "translation", (0.0, 0.0)))
    angle = nodes.number(node, "rotation", 0.0)
    c = np.cos(angle)
    s = np.sin(angle)
    matrix = np.eye(3)
    matrix[:2, :2] = np.diag(nodes.vector(node, "scale", (1.0, 1.0))) @ [
        [c, -s],
        [s, c],
    ]
    matrix[:2, 2] = matrix[:2, :2] @ (center + translation) - center
    return frozen(matrix if np.isfinite(matrix).all() else np.eye(3))


class GeometryReader:
    """Make geometry of geometry nodes.

    A node that is used several times (USE) gives the same object each time.

    `actual` returns the node that an instance of a prototype means.
    """

    def __init__(self, found: Diagnostics, actual: Actual) -> None:
        self.found = found
        self.actual = actual
        self._known: dict[tuple[int, bool], tuple[Node, Geometry | None]] = {}

    def read(self, node: Node, textured: bool) -> Geometry | None:
        """Return the geometry of a node, None where it shows nothing.

        `textured` adds the standard's own texture mapping.
        """
        key = (id(node), textured)
        if key not in self._known:
            self._known[key] = (node, self._read(node, textured))
        return self._known[key][1]

    def report(self, rule: Rule, message: str, node: Node) -> None:
        """Report a problem of a node."""
        self.found.report(rule, message, node.location)

    def _read(self, node: Node, textured: bool) -> Geometry | None:
        match node.type:
            case "IndexedFaceSet":
                return self._face_set(node, textured)
            case "Box":
                x, y, z = nodes.vector(node, "size", (2.0, 2.0, 2.0))
                # A flat box is a plate, as the Plane prototype of old models has it.
                if self._sizes(node, [x, y, z], some_zero=True):
                    return Box((x, y, z))
                return None
            case "Sphere" | "Cylinder" | "Cone":
                made, fields, parts = ROUND_SOLIDS[node.type]
                sizes = [
                    nodes.number(node, name, default)
                    for name, default in fields.items()
                ]
                there = {part: nodes.flag(node, part, True) for part in parts}
                if self._sizes(node, sizes):
                    return made(*sizes, **there)
                return None
            case "IndexedLineSet":
                return self._line_set(node)
            case "PointSet":
                return self._point_set(node)
            case "ElevationGrid":
                return read_elevation_grid(node, self)
            case "Extrusion":
                return read_extrusion(node, self)
            case "Text":
                self.report(rules.NOT_SHOWN, "Text is not shown", node)
            case _ if is_declared(node):
                self.report(
                    rules.NOT_SHOWN, f"{node.type} is not a known geometry", node
                )
        return None

    def _sizes(self, node: Node, sizes: list[float], some_zero: bool = False) -> bool:
        good = all(np.isfinite(size) and size >= 0 for size in sizes)
        zeros = sum(size == 0 for size in sizes)
        shown = good and zeros <= some_zero
        if not good or zeros:
            self.report(
                replace(rules.BAD_SIZE, leaves_out=not shown),
                f"the size of {with_article(node.type)} is "
                f"{' '.join(f'{size:g}' for size in sizes)}, expected positive numbers",
                node,
            )
        return shown

    def points(self, node: Node) -> Floats:
        """Return the points (V, 3) of the node's `coord`."""
        points = nodes.rows(self.actual(nodes.child(node, "coord")), "point", 3)
        if not len(points):
            self.report(rules.NO_POINTS, f"{node.type} has no points", node)
        return points

    def _face_set(self, node: Node, textured: bool) -> Mesh | None:
        points = self.points(node)
        index = nodes.integers(node, "coordIndex")
        if not len(points) or not len(index):
            return None
        triangles = triangulate(index, points)
        if triangles.out_of_range:
            wrong = f"{counted(triangles.out_of_range, 'face')} with points that do not exist"
            counts = f"the highest index is {index.max()}, and there {'is' if len(points) == 1 else 'are'} {counted(len(points), 'point')}"
            self.report(rules.BAD_INDEX, f"{wrong}: {counts}", node)
        if triangles.too_small:
            self.report(
                rules.SMALL_FACE,
                f"{counted(triangles.too_small, 'face')} with fewer than three corners",
                node,
            )
        faces = index[triangles.corners]
        finite: Bools = np.isfinite(points)
        if not finite.all():
            good = np.asarray(finite.all(axis=1))[faces].all(axis=1)
            if not good.all():
                message = f"{counted(int((~good).sum()), 'triangle')} with corners that are not finite"
                self.report(rules.INFINITE_POINT, message, node)
                faces = faces[good]
                triangles = replace(
                    triangles,
                    corners=triangles.corners[good],
                    polygons=triangles.polygons[good],
                )
            # Points that no face uses must not make other numbers infinite.
            points = np.where(finite, points, 0.0)
        if not len(faces):
            return None
        colors, normals, uv = (
            self.corners(node, part, faces, triangles.polygons, triangles.corners)
            for part in ("color", "normal", "texCoord")
        )
        if uv is None and textured:
            uv = Corners(_box_mapping(points), frozen_ints(faces))
        return self.mesh(node, points, faces, normals, colors, uv)

    def corners(
        self,
        node: Node,
        part: str,
        faces: npt.NDArray[np.integer],
        polygons: npt.NDArray[np.integer],
        entries: npt.NDArray[np.integer] | None = None,
    ) -> Corners | None:
        """Return colours, normals or texture coordinates of corners.

        None where there are none, or too few, which is reported.

        `faces` (F, K) are the vertices of triangles or lines, `polygons` (F,) the faces
        of the file that they are of, and `entries` (F, K)
        their places in lists of indices, None where the node has no such lists.
        """
        _, name, width = PROPERTIES[part]
        per_vertex = part == "texCoord" or nodes.flag(node, f"{part}PerVertex", True)
        values = nodes.rows(self.actual(nodes.child(node, part)), name, width)
        if not len(values):
            return None
        index = (
            nodes.NO_INTEGERS
            if entries is None
            else nodes.integers(node, f"{part}Index")
        )
        if per_vertex:
            which = faces
        else:
            which = np.repeat(polygons[:, None], faces.shape[1], axis=1)
        if len(index):
            if per_vertex and entries is not None:
                places = entries
            else:
                places = which
            if places.max() < len(index):
                which = index[places]
            else:
                which = np.full((1, 3), -1)
        finite = bool(np.isfinite(values).all())
        if part == "normal" and not finite and entries is not None:
            # A normal that is not finite has no direction: the face's own is used.
            values = np.where(
                np.isfinite(values).all(axis=1, keepdims=True), values, 0.0
            )
            finite = True
        if which.min() < 0 or which.max() >= len(values) or not finite:
            kind = "corners" if per_vertex else "faces"
            words = f"{len(values)} values and {len(index)} indices do not fit the {kind} of this {node.type}"
            self.report(rules.UNUSED_LIST, f"{part}: {words}", node)
            return None
        return Corners(
            np.clip(values, 0, 1) if part == "color" else values, frozen_ints(which)
        )

    def mesh(
        self,
        node: Node,
        points: Floats,
        faces: npt.NDArray[np.integer],
        normals: Corners | None,
        colors: Corners | None,
        uv: Corners | None,
    ) -> Mesh:
        """Return a mesh with the fields that all surfaces share.

        Ccw, solid, creaseAngle.
        """
        if not nodes.flag(node, "ccw", True):
            faces = faces[:, ::-1]
            normals, colors, uv = (c and c.reversed() for c in (normals, colors, uv))
        crease = nodes.number(node, "creaseAngle", 0.0)
        return Mesh(
            vertices=points,
            faces=frozen_ints(faces),
            crease_angle=crease if np.isfinite(crease) else 0.0,
            normals=normals,
            colors=colors,
            texture_coordinates=uv,
            two_sided=not nodes.flag(node, "solid", True),
        )

    def _line_set(self, node: Node) -> Lines | None:
        points = self.points(node)
        index = nodes.integers(node, "coordIndex")
        if not len(points) or not len(index):
            return None
        here = np.flatnonzero((index[:-1] >= 0) & (index[1:] >= 0))
        segments = np.stack([index[here], index[here + 1]], axis=1)
        finite = np.asarray(np.isfinite(points).all(axis=1))
        good = (segments < len(points)).all(axis=1) & finite[
            np.minimum(segments, len(points) - 1)
        ].all(axis=1)
        if not good.all():
            self.report(
                rules.BAD_INDEX,
                f"{counted(int((~good).sum()), 'line')} with points that do not exist",
                node,
            )
            segments = segments[good]
            here = here[good]
        if not len(segments):
            return None
        line = np.cumsum(index < 0, dtype=np.int64)[here]
        positions = np.stack([here, here + 1], axis=1)
        colors = self.corners(node, "color", segments, line, positions)
        if colors is None:
            return Lines(points, segments)
        return Lines(
            points[segments].reshape(-1, 3),
            frozen_ints(np.arange(2 * len(segments)).reshape(-1, 2)),
            colors.values[colors.indices].reshape(-1, 3),
        )

    def _point_set(self, node: Node) -> Points | None:
        points = self.points(node)
        colors = nodes.rows(self.actual(nodes.child(node, "color")), "color", 3)
        fits = len(colors) >= len(points)
        if not fits and len(colors):
            self.report(
                rules.UNUSED_LIST,
                f"{len(colors)} colours for {len(points)} points",
                node,
            )
        good = np.asarray(np.isfinite(points).all(axis=1))
        if not good.any():
            return None
        return Points(
            points[good], np.clip(colors[: len(points)][good], 0, 1) if fits else None
        )


def _box_mapping(points: Floats) -> Floats:
    """Map a texture without coordinates.

    S along the longest edge of the bounding box, t along the next, at the same scale.
    """
    low = points.min(axis=0)
    high = points.max(axis=0)
    size = high - low
    # A stable sort keeps x before y before z where edges are equally long.
    first, second = np.argsort(-size, kind="stable")[:2]
    if size[first] > 0:
        length = size[first]
    else:
        length = 1.0
    return np.stack(
        [
            (points[:, first] - low[first]) / length,
            (points[:, second] - low[second]) / length,
        ],
        axis=1,
    )


# ---- surfaces that are unfolded from few numbers (ISO/IEC 14772-1, 6.17 and 6.18)


def read_elevation_grid(node: Node, reader: GeometryReader) -> Mesh | None:
    """Return the mesh of a grid of heights over the x-z plane."""
    columns = nodes.integer(node, "xDimension", 0)
    rows = nodes.integer(node, "zDimension", 0)
    heights = nodes.numbers(node, "height")
    if columns < 2 or rows < 2 or len(heights) < columns * rows:
        reader.report(
            rules.BAD_SIZE,
            f"ElevationGrid of {columns} × {rows} points has {len(heights)} heights",
            node,
        )
        return None
    spacing = [nodes.number(node, "xSpacing", 1.0), nodes.number(node, "zSpacing", 1.0)]
    z, x = np.divmod(np.arange(columns * rows), columns)
    points = np.stack(
        [x * spacing[0], heights[: columns * rows], z * spacing[1]], axis=1
    )
    if not np.isfinite(points).all():
        reader.report(
            rules.INFINITE_POINT,
            "ElevationGrid has heights or spacings that are not finite",
            node,
        )
        return None
    grid = np.arange(columns * rows).reshape(rows, columns)
    # The rows of the grid go along +z, so its faces look down.
    faces = grid_faces(grid)[:, ::-1]
    squares = np.repeat(np.arange((columns - 1) * (rows - 1)), 2)
    even = Corners(
        np.stack([x / (columns - 1), z / (rows - 1)], axis=1), frozen_ints(faces)
    )
    normals, colors, uv = (
        reader.corners(node, part, faces, squares)
        for part in ("normal", "color", "texCoord")
    )
    return reader.mesh(node, points, faces, normals, colors, uv or even)


def read_extrusion(node: Node, reader: GeometryReader) -> Mesh | None:
    """Return the mesh of a cross-section that is swept along a spine."""
    section = nodes.rows(node, "crossSection", 2)
    spine = nodes.rows(node, "spine", 3)
    if not len(section):
        section = np.array([[1.0, 1], [1, -1], [-1, -1], [-1, 1], [1, 1]])
    if not len(spine):
        spine = np.array([[0.0, 0, 0], [0, 1, 0]])
    if len(spine) < 2 or len(section) < 2:
        reader.report(
            rules.BAD_SIZE,
            f"Extrusion of {len(section)} points along {len(spine)}",
            node,
        )
        return None
    if len(spine) * len(section) > MAX_VERTICES:
        reader.report(
            TOO_LARGE,
            f"{node.type} expands to {len(spine) * len(section)} points",
            node,
        )
        return None
    scale = _stretched(nodes.rows(node, "scale", 2), [1.0, 1.0], len(spine))
    rotation = _stretched(
        nodes.rows(node, "orientation", 4), [0.0, 0.0, 1.0, 0.0], len(spine)
    )
    if not all(
        np.isfinite(values).all() for values in (section, spine, scale, rotation)
    ):
        reader.report(
            rules.INFINITE_POINT, "Extrusion has numbers that are not finite", node
        )
        return None

    scaled = section[None] * scale[:, None]
    flat = np.stack(
        [scaled[..., 0], np.zeros(scaled.shape[:2]), scaled[..., 1]], axis=-1
    )
    flat = rotations.rotate(
        rotations.from_axis_angle(rotation[:, :3], rotation[:, 3])[:, None], flat
    )
    points = spine[:, None] + np.einsum("sij,skj->ski", _frames(spine), flat)

    uv_grid = np.arange(len(spine) * len(section)).reshape(len(spine), len(section))
    grid = uv_grid.copy()
    round_section = bool((section[0] == section[-1]).all())
    round_spine = bool((points[0] == points[-1]).all())
    if round_section:
        grid[:, -1] = grid[:, 0]
    if round_spine and len(spine) > 2:
        grid[-1] = grid[0]
    s, t = np.meshgrid(np.linspace(0, 1, len(section)), np.linspace(0, 1, len(spine)))
    uv_values = [np.stack([s, t], axis=-1).reshape(-1, 2)]
    uv_faces = [grid_faces(uv_grid)]
    all_faces = [grid_faces(grid)]
    rim = np.arange(len(section) - round_section)
    extent = np.ptp(section, axis=0).max()
    on_cap = (section - section.min(axis=0)) / (extent if extent > 0 else 1.0)
    for flag, ring, ends_up in (
        ("beginCap", 0, False),
        ("endCap", len(spine) - 1, True),
    ):
        if nodes.flag(node, flag, True) and len(rim) >= 3:
            # Seen from outside, the first cap has the opposite order.
            if ends_up:
                order = rim
            else:
                order = rim[::-1]
            flat_section = np.stack(
                [section[:, 0], np.zeros(len(section)), section[:, 1]], axis=1
            )
            cut = order[triangulate(order, flat_section).corners]
            all_faces.append(grid[ring][cut])
            uv_faces.append(cut + sum(map(len, uv_values)))
            uv_values.append(on_cap)
    whole = np.concatenate(all_faces)
    uv_whole = np.concatenate(uv_faces)
    closed = round_section and (round_spine or len(all_faces) == 3)
    if (
        closed
        and "ccw" not in node.fields
        and _volume(points.reshape(-1, 3), whole) < 0
    ):
        # Real models have such sections and mean a body that is seen from outside.
        reader.report(
            rules.INSIDE_OUT, "the cross-section of an Extrusion runs clockwise", node
        )
        whole = whole[:, ::-1]
        uv_whole = uv_whole[:, ::-1]
    uv = Corners(np.concatenate(uv_values), frozen_ints(uv_whole))
    return reader.mesh(node, points.reshape(-1, 3), whole, None, None, uv)


def _volume(points: Floats, faces: Indices) -> float:
    """Return the volume inside a closed mesh by Gauss's theorem.

    Negative where the faces look inwards.
    """
    a, b, c = np.moveaxis((points - points.mean(axis=0))[faces], 1, 0)
    return float(np.einsum("ij,ij->", a, np.cross(b, c)))


def _stretched(values: Floats, default: list[float], count: int) -> Floats:
    """Return one row for each point of the spine.

    Where there are too few, the last is repeated.
    """
    if not len(values):
        values = np.array([default])
    return values[np.minimum(np.arange(count), len(values) - 1)]


def _frames(spine: Floats) -> Floats:
    """Return the planes (S, 3, 3) that the cross-section is carried into along the spine.

    Columns are their x, y, z axes.

    y is tangent to the spine, z normal to the plane that the spine bends in. Where it
    does not bend, z is that of the point before. On a straight spine y is rotated onto
    it by the smallest angle.
    """
    closed = len(spine) > 2 and bool((spine[0] == spine[-1]).all())
    after = np.roll(spine, -1, axis=0)
    before = np.roll(spine, 1, axis=0)
    if closed:
        after[-1], before[0] = spine[1], spine[-2]
    else:
        after[-1], before[0] = spine[-1], spine[0]
    tangent = unit(after - before)
    _fill(tangent, np.array([0.0, 1.0, 0.0]))
    bend = np.cross(after - spine, before - spine)
    size = np.linalg.norm(after - spine, axis=1) * np.linalg.norm(
        before - spine, axis=1
    )
    bend[np.linalg.norm(bend, axis=1) <= 1e-9 * size] = 0.0
    normal = unit(bend)
    if not normal.any():
        up = np.array([0.0, 1.0, 0.0])
        axis = np.cross(up, tangent[0])
        if not (np.abs(axis).max() > 1e-100):
            axis = np.array([1.0, 0.0, 0.0])
        turned = rotations.from_axis_angle(
            axis, np.arctan2(np.linalg.norm(np.cross(up, tangent[0])), tangent[0, 1])
        )
        return np.broadcast_to(rotations.to_matrix(turned), (len(spine), 3, 3)).copy()
    _fill(normal, np.zeros(3))
    for i in range(1, len(normal)):
        if normal[i] @ normal[i - 1] < 0:
            normal[i] = -normal[i]
    # Perpendicular to the tangent, also where z was copied from a neighbour.
    side = unit(np.cross(tangent, normal))
    _fill(side, np.array([1.0, 0.0, 0.0]))
    return np.stack([side, tangent, np.cross(side, tangent)], axis=-1)


def _fill(rows: Floats, default: Floats) -> None:
    """Replace zero rows by the row before, leading ones by the first that is not zero."""
    there = rows.any(axis=1)
    if not there.any():
        rows[:] = default
        return
    source = np.maximum.accumulate(np.where(there, np.arange(len(rows)), -1))
    rows[:] = rows[np.where(source < 0, int(np.argmax(there)), source)]
