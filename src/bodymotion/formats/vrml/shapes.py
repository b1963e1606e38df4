"""Find the shapes of a scene of VRML97 (ISO/IEC 14772-1, clause 6).

The walk follows grouping nodes, their transforms, switches and parts. Geometry becomes
primitives, meshes, lines and points; appearance becomes a `Material`. Without a
Material node the standard shows the plain colour white and no light on it. Here such a
surface is white too, but lit, so that its shape is visible.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import Diagnostics, FormatError, Rule, Subject
from bodymotion.diagnostics.text import counted, with_article
from bodymotion.formats.limits import ITEMS_BETWEEN_CLOCKS, check_time
from bodymotion.formats.resources import PART_UNREADABLE, ReferencedFiles
from bodymotion.formats.rules import TOO_LARGE
from bodymotion.formats.vrml import nodes, rules
from bodymotion.formats.vrml.fields import STANDARD_NODES
from bodymotion.formats.vrml.nodes import ModelDiagnostics, Node, without_fault
from bodymotion.formats.vrml.reader import PrototypeBodies, load_inline, resolve_url
from bodymotion.formats.vrml.values import is_declared
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Bools, Floats, Indices, frozen, frozen_ints, unit
from bodymotion.geometry.meshes import Triangles, grid_faces, triangulate
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

MAX_NODES = 1_000_000
"""Nodes that a walk visits: USE inside USE expands to any number."""
MESH_FILES = (".stl",)
"""Parts that are meshes, not VRML97."""

IDENTITY: Floats = frozen(np.eye(4))

Actual: TypeAlias = Callable[[Node | None], Node | None]
"""Returns the node that an instance of a prototype means."""

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

PLAIN = Material(diffuse=(1.0, 1.0, 1.0))
"""The material of shapes that have none."""

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
"""By the names of nodes, the class, the fields of its sizes, and its parts.

The sizes have their defaults.
"""
PROPERTIES = {
    "normal": ("Normal", "vector", 3),
    "color": ("Color", "color", 3),
    "texCoord": ("TextureCoordinate", "point", 2),
}
"""Of corners of faces.

By the fields of their nodes, the types of those, the field with the values, and the
numbers in one.
"""
MAX_VERTICES = 2_000_000
"""Vertices that an Extrusion, written in few words, may unfold to."""
UP: Floats = frozen(np.array([0.0, 1.0, 0.0]))
"""The tangent of a spine that has no length."""
MIN_BEND = 1e-9
"""Sine of the angle of a spine below which it is straight, except for rounding."""
MIN_AXIS = 1e-100
"""Length of an axis below which a rotation has none: the squares would be 0."""


@dataclass(frozen=True)
class FoundShape:
    """A shape that was found, in the frame where the walk began.

    Whether it is visible, and whether others collide with it.
    """

    shape: Shape
    visual: bool
    collision: bool


# Segments draw some shapes and collide with others: a Collision has both.
def by_purpose(drawn: list[FoundShape]) -> tuple[tuple[Shape, ...], tuple[Shape, ...]]:
    """Return the visual and the collision shapes."""
    visuals = tuple(found.shape for found in drawn if found.visual)
    collisions = tuple(found.shape for found in drawn if found.collision)
    return visuals, collisions


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
        """What is unknown in the value where a node cannot be read.

        Set by its user.
        """
        # Siblings that remain, with their frame; or a function to call when all above
        # it is done.
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
        # The top is either a function to call, or siblings of which one is visited. A
        # node's children are pushed above its siblings, so the order is that of the
        # file.
        while self._stack:
            item = self._stack[-1]
            if callable(item):
                self._stack.pop()
                self._attempt(item)
                continue
            siblings, frame = item
            node = next(siblings, None)
            if node is None:
                self._stack.pop()
                continue
            error = self._attempt(partial(self._visit, node, frame, visit))
            if error is not None:
                # Without the faulty field the rest of the node is still shown: it is
                # visited again.
                rest = without_fault(node, error)
                if rest is not None:
                    self.enter([rest], frame)

    def _attempt(self, step: Callable[[], None]) -> FormatError | None:
        """Do a step of the walk.

        Record and return the error that it raises.
        """
        try:
            step()
        except FormatError as error:
            # A limit ends the walk: what is left on the stack would exceed it again.
            if error.problem.rule == TOO_LARGE.code:
                self._stack.clear()
                raise
            # A scene by itself ends at its first fault; a model reports all of them.
            if not isinstance(self.found, ModelDiagnostics):
                raise
            if self.unknown:
                self.found.fault(error, self.unknown)
            else:
                self.found.fault(error)
            return error
        return None

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
        """Visit a node, then what its prototype means, then its contents."""
        self.visited += 1
        if self.visited % ITEMS_BETWEEN_CLOCKS == 0:
            check_time(node.location)
        if self.visited > MAX_NODES:
            message = f"the scene expands to more than {MAX_NODES} nodes"
            raise TOO_LARGE.error(message, node.location)
        # `visit` sees an instance of a prototype before its body: the nodes of OpenHRP
        # models are prototypes that mean more than what they draw.
        inner: Node | None = node
        while inner is not None and not visit(inner, frame):
            if inner.proto is None:
                self._walk_into(inner, frame)
                return
            inner = self.actual.inside(inner)

    def _walk_into(self, node: Node, frame: NodeFrame) -> None:
        """Continue the walk inside a node of the standard."""
        match node.type:
            case "Transform":
                inside = self.frame_inside(frame, node_transform(node), node)
                self.enter(nodes.children(node), inside)
            case "Group" | "Anchor" | "Billboard":
                self.enter(nodes.children(node), frame)
            case "Switch":
                self._enter_switch(node, frame)
            # A viewer selects the level by the distance. A model has none: the finest,
            # first level counts. The field is `level` in VRML97, `children` in X3D.
            case "LOD":
                levels = nodes.children(node, "level") or nodes.children(node)
                self.enter(levels[:1], frame)
                if len(levels) > 1:
                    self._report_scenery(node, "the other levels of an LOD")
            case "Collision":
                self._enter_collision(node, frame)
            case "Inline":
                self._part(node, frame)
            case "Shape":
                self._draw(node, frame)
            case _ if node.type in STANDARD_NODES:
                self._report_scenery(node, node.type)

    def _enter_switch(self, node: Node, frame: NodeFrame) -> None:
        # `nodes.children` leaves out NULL, but whichChoice counts it.
        choices = node.get("choice")
        if not isinstance(choices, list):
            choices = nodes.children(node, "choice")
        number = nodes.integer(node, "whichChoice", -1)
        # The standard: -1, and any number without a choice, selects nothing.
        if 0 <= number < len(choices) and isinstance(choices[number], Node):
            self.enter([choices[number]], frame)
        if len(choices) > 1 or number != 0:
            self._report_scenery(node, "the children that a Switch does not select")

    def _enter_collision(self, node: Node, frame: NodeFrame) -> None:
        """Enter the children of a Collision; its proxy collides in place of them."""
        collide = nodes.flag(node, "collide", True)
        proxy = nodes.child(node, "proxy")
        # The proxy collides but is not seen (ISO/IEC 14772-1, 6.8).
        if proxy is not None and collide:
            self.enter([proxy], replace(frame, visual=False))
        # `collide FALSE` also holds for Collision nodes inside.
        is_solid = frame.collision and collide and proxy is None
        self.enter(nodes.children(node), replace(frame, collision=is_solid))

    def _report_scenery(self, node: Node, title: str) -> None:
        if node.type not in self._reported:
            self._reported.add(node.type)
            message = f"{title}: not a part of a body"
            self.found.report(rules.SCENERY, message, node.location)

    def _part(self, node: Node, frame: NodeFrame) -> None:
        urls = nodes.texts(node, "url")
        if any(url.lower().endswith(MESH_FILES) for url in urls):
            self._add_mesh_file(node, frame)
            return
        scene = load_inline(node, self.parts)
        if scene is not None:
            # A problem of the part makes unknown what the part becomes.
            self.parts.users.setdefault(str(scene.path), self.unknown)
            self.enter(scene.nodes, frame)

    def _add_mesh_file(self, node: Node, frame: NodeFrame) -> None:
        if self._mesh_reader is None:
            from bodymotion.formats.meshes.reading import MeshReader

            self._mesh_reader = MeshReader(PART_UNREADABLE, self.found)
        path = resolve_url(node, self.parts)
        if path is not None:
            for shape in self._mesh_reader.shapes(path, self.parts, node.location):
                self._add(shape.geometry, PLAIN, frame, node)

    def _draw(self, node: Node, frame: NodeFrame) -> None:
        geometry_node = self.actual(nodes.child(node, "geometry"))
        # Nothing inside a proxy that does not collide is needed: reading a mesh takes
        # time.
        if geometry_node is None or not (frame.visual or frame.collision):
            return
        material = self.appearance.read(nodes.child(node, "appearance"))
        is_textured = material.texture is not None
        geometry = self.geometry.read(geometry_node, textured=is_textured)
        self._add(geometry, material, frame, node)

    def _add(
        self,
        geometry: Geometry | None,
        material: Material,
        frame: NodeFrame,
        node: Node,
    ) -> None:
        """Add a shape to those that were found."""
        if geometry is None:
            return
        if len(self.drawn) >= MAX_SHAPES:
            # USE and prototypes write many shapes in few words.
            message = f"the scene expands to more than {MAX_SHAPES} shapes"
            raise TOO_LARGE.error(message, node.location)
        shape = Shape(geometry, frame.transform, material, node.name)
        self.drawn.append(FoundShape(shape, frame.visual, frame.collision))

    def frame_inside(
        self, frame: NodeFrame, transform: Floats, node: Node
    ) -> NodeFrame:
        """Return the frame inside a node with its own transform (4, 4)."""
        # The product with the identity is skipped: it is the frame of most shapes.
        if frame.transform is IDENTITY:
            whole = transform
        else:
            whole = frame.transform @ transform
        if not np.isfinite(whole).all():
            message = f"{node.type}: translation, rotation or scale is not finite"
            raise rules.INFINITE_POINT.error(message, node.location)
        return NodeFrame(whole, frame.visual, frame.collision)


def node_transform(node: Node) -> Floats:
    """Return the matrix (4, 4) of a Transform (ISO/IEC 14772-1, 6.52)."""
    # T · C · R · SR · S · −SR · −C
    # C is the center, SR the orientation of the scale.
    matrix = np.eye(4)
    if "rotation" in node.fields:
        matrix[:3, :3] = rotation_matrix(*nodes.axis_angle(node))
    scale = nodes.vector(node, "scale", (1.0, 1.0, 1.0))
    if scale != (1.0, 1.0, 1.0):
        stretch = np.array(rotation_matrix(*nodes.axis_angle(node, "scaleOrientation")))
        # SR · S · SRᵀ: scaling the columns of SR is the product with diag(S).
        matrix[:3, :3] = matrix[:3, :3] @ (stretch * scale) @ stretch.T
    matrix[:3, 3] = nodes.vector(node, "translation", (0.0, 0.0, 0.0))
    center = nodes.vector(node, "center", (0.0, 0.0, 0.0))
    if any(center):
        # T · C · A · (−C): the translation is t + c − A c, for the linear part A.
        matrix[:3, 3] += center - matrix[:3, :3] @ center
    return matrix


def rotation_matrix(
    axis: tuple[float, float, float], angle: float
) -> tuple[tuple[float, float, float], ...]:
    """Return the matrix of a rotation about an axis of length 1."""
    # Rodrigues' formula, R = cos · 1 + sin · [a]× + (1 − cos) · a aᵀ, of single numbers:
    # for one rotation these are faster than arrays.
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
    """Make materials; `files` finds their images.

    An Appearance that is used several times gives the same material each time.
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
        # The node is kept with its result: its id may not be used again meanwhile.
        if id(node) not in self._known:
            self._known[id(node)] = (node, self._read(node))
        return self._known[id(node)][1]

    def _read(self, node: Node) -> Material:
        """Make the material of an Appearance node."""
        appearance = self.actual(node)
        if appearance is None or appearance.type != "Appearance":
            return PLAIN
        material = self.actual(nodes.child(appearance, "material"))
        texture = self.actual(nodes.child(appearance, "texture"))
        transform = self.actual(nodes.child(appearance, "textureTransform"))
        image = None
        if texture is not None:
            image = self._texture(texture, transform)
        # Without a Material the standard's white, and not the Material node's grey,
        # counts.
        if material is not None and material.type == "Material":
            return Material(**self._material_values(material), texture=image)
        if image is None:
            return PLAIN
        return Material(diffuse=PLAIN.diffuse, texture=image)

    def _material_values(self, node: Node) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name, attribute in MATERIAL_FIELDS.items():
            default = getattr(_DEFAULT, attribute)
            if isinstance(default, tuple):
                color = nodes.vector(node, name, default)
                values[attribute] = self._clipped(node, color)
            else:
                share = nodes.number(node, name, default)
                (values[attribute],) = self._clipped(node, (share,))
        return values

    def _clipped(self, node: Node, values: tuple[float, ...]) -> tuple[float, ...]:
        """Return values within 0…1, and report others; 0 for one that is nan."""
        if all(0.0 <= value <= 1.0 for value in values):
            # The regular case. Comparisons with nan are false, so nan goes on to the
            # report.
            return values
        text = " ".join(f"{value:g}" for value in values)
        message = f"a Material has the value {text}, expected 0…1"
        self.found.report(rules.OUT_OF_RANGE, message, node.location)
        clipped = []
        for value in values:
            if math.isnan(value):
                value = 0.0
            clipped.append(min(max(value, 0.0), 1.0))
        return tuple(clipped)

    def _texture(self, node: Node, transform: Node | None) -> Texture | None:
        """Return the texture of a node; None where it cannot be shown."""
        if node.type != "ImageTexture":
            message = f"{node.type} is not shown"
            self.found.report(rules.NOT_SHOWN, message, node.location)
            return None
        urls = nodes.texts(node, "url")
        path = resolve_url(node, self.files)
        if path is None:
            return None
        # Which url of the list was found: writers keep the text of the file.
        used = urls[0]
        for url in urls:
            if url.replace("\\", "/").endswith(path.name):
                used = url
                break
        return Texture(
            path,
            used,
            repeat_s=nodes.flag(node, "repeatS", True),
            repeat_t=nodes.flag(node, "repeatT", True),
            transform=texture_matrix(transform),
        )


def texture_matrix(node: Node | None) -> Floats:
    """Return the (3, 3) matrix of a TextureTransform for columns (s, t, 1).

    ISO/IEC 14772-1, 6.49. The identity where numbers are not finite.
    """
    # The standard's order (6.49): of the point (s, t), −C is applied last.
    # −C · S · R · C · T
    if node is None:
        return frozen(np.eye(3))
    center = np.array(nodes.vector(node, "center", (0.0, 0.0)))
    translation = np.array(nodes.vector(node, "translation", (0.0, 0.0)))
    angle = nodes.number(node, "rotation", 0.0)
    cosine = np.cos(angle)
    sine = np.sin(angle)
    rotation = [[cosine, -sine], [sine, cosine]]
    scale = np.diag(nodes.vector(node, "scale", (1.0, 1.0)))
    matrix = np.eye(3)
    # S · R on the left; on the right S R (C + T) − C.
    matrix[:2, :2] = scale @ rotation
    matrix[:2, 2] = matrix[:2, :2] @ (center + translation) - center
    if not np.isfinite(matrix).all():
        matrix = np.eye(3)
    return frozen(matrix)


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
        # A box-mapped and an unmapped mesh differ, so both are in the key.
        if key not in self._known:
            self._known[key] = (node, self._read(node, textured))
        return self._known[key][1]

    def report(self, rule: Rule, message: str, node: Node) -> None:
        """Report a problem of a node."""
        self.found.report(rule, message, node.location)

    def _read(self, node: Node, textured: bool) -> Geometry | None:
        """Make the geometry of a node, by its type."""
        match node.type:
            case "IndexedFaceSet":
                return self._face_set(node, textured)
            case "Box":
                return self._box(node)
            case "Sphere" | "Cylinder" | "Cone":
                return self._round_solid(node)
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
                message = f"{node.type} is not a known geometry"
                self.report(rules.NOT_SHOWN, message, node)
        return None

    def _box(self, node: Node) -> Box | None:
        size = nodes.vector(node, "size", (2.0, 2.0, 2.0))
        # A flat box is a plate, as the Plane prototype of old models has it.
        if not self._sizes(node, size, some_zero=True):
            return None
        x, y, z = size
        return Box((x, y, z))

    def _round_solid(self, node: Node) -> Geometry | None:
        solid, fields, parts = ROUND_SOLIDS[node.type]
        sizes = [nodes.number(node, name, size) for name, size in fields.items()]
        has_parts = {part: nodes.flag(node, part, True) for part in parts}
        if not self._sizes(node, sizes):
            return None
        return solid(*sizes, **has_parts)

    def _sizes(
        self, node: Node, sizes: Sequence[float], some_zero: bool = False
    ) -> bool:
        """Return whether a primitive of these sizes is shown; report wrong ones."""
        are_good = all(np.isfinite(size) and size >= 0 for size in sizes)
        zeros = sum(size == 0 for size in sizes)
        # `some_zero` is a bool: no zero is allowed, or one.
        is_shown = are_good and zeros <= some_zero
        if not are_good or zeros:
            text = " ".join(f"{size:g}" for size in sizes)
            message = (
                f"the size of {with_article(node.type)} is {text}, "
                "expected positive numbers"
            )
            rule = replace(rules.BAD_SIZE, leaves_out=not is_shown)
            self.report(rule, message, node)
        return is_shown

    def points(self, node: Node) -> Floats:
        """Return the points (V, 3) of the node's `coord`."""
        points = nodes.rows(self.actual(nodes.child(node, "coord")), "point", 3)
        if not len(points):
            self.report(rules.NO_POINTS, f"{node.type} has no points", node)
        return points

    def _face_set(self, node: Node, textured: bool) -> Mesh | None:
        """Return the mesh of an IndexedFaceSet; None without faces."""
        points = self.points(node)
        index = nodes.integers(node, "coordIndex")
        if not len(points) or not len(index):
            return None
        # The standard allows concave faces and faces with any number of corners.
        triangles = triangulate(index, points)
        self._report_faces(node, triangles, index, len(points))
        finite: Bools = np.isfinite(points)
        if not finite.all():
            triangles = self._finite_triangles(node, triangles, index, finite)
            # Points that no face uses must not make other numbers infinite.
            points = np.where(finite, points, 0.0)
        # Points of each triangle (F, 3); `corners` are positions in coordIndex.
        faces = index[triangles.corners]
        if not len(faces):
            return None
        polygons = triangles.polygons
        corners = triangles.corners
        colors = self.corners(node, "color", faces, polygons, corners)
        normals = self.corners(node, "normal", faces, polygons, corners)
        uv = self.corners(node, "texCoord", faces, polygons, corners)
        if uv is None and textured:
            # A texture without coordinates: the standard's own mapping (6.23).
            uv = Corners(_box_mapping(points), frozen_ints(faces))
        return self.mesh(node, points, faces, normals, colors, uv)

    def _report_faces(
        self,
        node: Node,
        triangles: Triangles,
        index: npt.NDArray[np.integer],
        num_points: int,
    ) -> None:
        """Report the faces that are left out."""
        if triangles.out_of_range:
            faces = counted(triangles.out_of_range, "face")
            verb = "is" if num_points == 1 else "are"
            message = (
                f"{faces} with points that do not exist: the highest index is "
                f"{index.max()}, and there {verb} {counted(num_points, 'point')}"
            )
            self.report(rules.BAD_INDEX, message, node)
        if triangles.too_small:
            faces = counted(triangles.too_small, "face")
            message = f"{faces} with fewer than three corners"
            self.report(rules.SMALL_FACE, message, node)

    def _finite_triangles(
        self,
        node: Node,
        triangles: Triangles,
        index: npt.NDArray[np.integer],
        finite: Bools,
    ) -> Triangles:
        """Return the triangles whose points are finite, and report the others."""
        of_points = np.asarray(finite.all(axis=1))
        # (T,): whether all three points of a triangle are finite.
        good = of_points[index[triangles.corners]].all(axis=1)
        if good.all():
            return triangles
        number = counted(int((~good).sum()), "triangle")
        message = f"{number} with corners that are not finite"
        self.report(rules.INFINITE_POINT, message, node)
        return replace(
            triangles,
            corners=triangles.corners[good],
            polygons=triangles.polygons[good],
        )

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

        Parameters
        ----------
        part:
            A key of `PROPERTIES`.
        faces:
            (F, K) the vertices of triangles or lines.
        polygons:
            (F,) the faces of the file that they are of.
        entries:
            (F, K) their positions in lists of indices; None where the node has no such
            lists.
        """
        _, name, width = PROPERTIES[part]
        # Texture coordinates have no field texCoordPerVertex: they are always per
        # vertex.
        per_vertex = part == "texCoord" or nodes.flag(node, f"{part}PerVertex", True)
        values = nodes.rows(self.actual(nodes.child(node, part)), name, width)
        if not len(values):
            return None
        index: npt.NDArray[np.integer] = nodes.NO_INTEGERS
        if entries is not None:
            index = nodes.integers(node, f"{part}Index")
        # Row of `values` for each corner. Without an index list the order of coordIndex
        # counts for corners, and that of the faces for faces.
        if per_vertex:
            rows = faces
        else:
            rows = np.repeat(polygons[:, None], faces.shape[1], axis=1)
        # The index list has one entry per corner, -1 included, or one per face.
        if len(index):
            positions = rows
            if per_vertex and entries is not None:
                positions = entries
            if positions.max() < len(index):
                rows = index[positions]
            else:
                # An index that is too short: -1 makes the check below refuse the list.
                rows = np.full((1, 3), -1)
        is_finite = bool(np.isfinite(values).all())
        if part == "normal" and not is_finite and entries is not None:
            # A normal that is not finite has no direction: the face's own is used.
            whole_rows = np.isfinite(values).all(axis=1, keepdims=True)
            values = np.where(whole_rows, values, 0.0)
            is_finite = True
        if rows.min() < 0 or rows.max() >= len(values) or not is_finite:
            kind = "corners" if per_vertex else "faces"
            message = (
                f"{part}: {len(values)} values and {len(index)} indices "
                f"do not fit the {kind} of this {node.type}"
            )
            self.report(rules.UNUSED_LIST, message, node)
            return None
        # Viewers clip colours; a value above 1 would change the shading.
        if part == "color":
            values = np.clip(values, 0, 1)
        return Corners(values, frozen_ints(rows))

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

        They are ccw, solid and creaseAngle.
        """
        if not nodes.flag(node, "ccw", True):
            # Reversed corners make the other side the front; values go with their
            # corners.
            faces = faces[:, ::-1]
            normals = normals and normals.reversed()
            colors = colors and colors.reversed()
            uv = uv and uv.reversed()
        crease = nodes.number(node, "creaseAngle", 0.0)
        if not np.isfinite(crease):
            crease = 0.0
        return Mesh(
            vertices=points,
            faces=frozen_ints(faces),
            crease_angle=crease,
            normals=normals,
            colors=colors,
            texture_coordinates=uv,
            two_sided=not nodes.flag(node, "solid", True),
        )

    def _line_set(self, node: Node) -> Lines | None:
        """Return the lines of an IndexedLineSet; None without segments."""
        points = self.points(node)
        index = nodes.integers(node, "coordIndex")
        if not len(points) or not len(index):
            return None
        # A segment joins two neighbours in the list; negative indices end a line.
        starts = np.flatnonzero((index[:-1] >= 0) & (index[1:] >= 0))
        segments = np.stack([index[starts], index[starts + 1]], axis=1)
        finite = np.asarray(np.isfinite(points).all(axis=1))
        in_range = (segments < len(points)).all(axis=1)
        # `minimum` only keeps the lookup in range: those segments are bad anyway.
        good = in_range & finite[np.minimum(segments, len(points) - 1)].all(axis=1)
        if not good.all():
            number = counted(int((~good).sum()), "line")
            message = f"{number} with points that do not exist"
            self.report(rules.BAD_INDEX, message, node)
            segments = segments[good]
            starts = starts[good]
        if not len(segments):
            return None
        # Colour per line: the number of -1 before a segment is the number of its line.
        line_numbers = np.cumsum(index < 0, dtype=np.int64)[starts]
        positions = np.stack([starts, starts + 1], axis=1)
        colors = self.corners(node, "color", segments, line_numbers, positions)
        if colors is None:
            return Lines(points, segments)
        # With colours each segment has two points of its own, since two lines may give
        # a shared point different colours.
        return Lines(
            points[segments].reshape(-1, 3),
            frozen_ints(np.arange(2 * len(segments)).reshape(-1, 2)),
            colors.values[colors.indices].reshape(-1, 3),
        )

    def _point_set(self, node: Node) -> Points | None:
        points = self.points(node)
        colors = nodes.rows(self.actual(nodes.child(node, "color")), "color", 3)
        has_colors = len(colors) >= len(points)
        if len(colors) and not has_colors:
            message = f"{len(colors)} colours for {len(points)} points"
            self.report(rules.UNUSED_LIST, message, node)
        good = np.asarray(np.isfinite(points).all(axis=1))
        if not good.any():
            return None
        if not has_colors:
            return Points(points[good], None)
        return Points(points[good], np.clip(colors[: len(points)][good], 0, 1))


def _box_mapping(points: Floats) -> Floats:
    """Map a texture without coordinates.

    S along the longest edge of the bounding box, t along the next, at the same scale.
    """
    low = points.min(axis=0)
    size = points.max(axis=0) - low
    # A stable sort keeps x before y before z where edges are equally long.
    axes = np.argsort(-size, kind="stable")[:2]
    length = size[axes[0]]
    if not length > 0:
        length = 1.0
    # The same length divides both: the image keeps its proportions (6.23).
    coordinates: Floats = (points[:, axes] - low[axes]) / length
    return coordinates


# ---- surfaces that are unfolded from few numbers (ISO/IEC 14772-1, 6.17 and 6.18)


def read_elevation_grid(node: Node, reader: GeometryReader) -> Mesh | None:
    """Return the mesh of a grid of heights over the x-z plane."""
    columns = nodes.integer(node, "xDimension", 0)
    rows = nodes.integer(node, "zDimension", 0)
    heights = nodes.numbers(node, "height")
    if columns < 2 or rows < 2 or len(heights) < columns * rows:
        message = (
            f"ElevationGrid of {columns} × {rows} points has {len(heights)} heights"
        )
        reader.report(rules.BAD_SIZE, message, node)
        return None
    x_spacing = nodes.number(node, "xSpacing", 1.0)
    z_spacing = nodes.number(node, "zSpacing", 1.0)
    # Heights are row by row along z, x fastest: point n is at (n % columns, n //
    # columns).
    z, x = np.divmod(np.arange(columns * rows), columns)
    y = heights[: columns * rows]
    points = np.stack([x * x_spacing, y, z * z_spacing], axis=1)
    if not np.isfinite(points).all():
        message = "ElevationGrid has heights or spacings that are not finite"
        reader.report(rules.INFINITE_POINT, message, node)
        return None
    grid = np.arange(columns * rows).reshape(rows, columns)
    # The rows of the grid go along +z, so its faces look down.
    faces = grid_faces(grid)[:, ::-1]
    # Each square is two triangles, and colours may be per square.
    squares = np.repeat(np.arange((columns - 1) * (rows - 1)), 2)
    normals = reader.corners(node, "normal", faces, squares)
    colors = reader.corners(node, "color", faces, squares)
    uv = reader.corners(node, "texCoord", faces, squares)
    if not uv:
        # Without coordinates the image covers the grid once (6.17).
        even = np.stack([x / (columns - 1), z / (rows - 1)], axis=1)
        uv = Corners(even, frozen_ints(faces))
    return reader.mesh(node, points, faces, normals, colors, uv)


class _Sweep(NamedTuple):
    """The fields of an Extrusion: a cross-section, swept along a spine of S points."""

    section: Floats
    """(C, 2) x and z of its points."""
    spine: Floats
    """(S, 3)."""
    scale: Floats
    """(S, 2)."""
    orientation: Floats
    """(S, 4) axis and angle [rad]."""

    def points(self) -> Floats:
        """Return the points (S, C, 3) of the cross-section at each point."""
        # Scale is of x and z; the section lies in the plane y = 0 of its frame.
        scaled = self.section[None] * self.scale[:, None]
        zeros = np.zeros(scaled.shape[:2])
        flat = np.stack([scaled[..., 0], zeros, scaled[..., 1]], axis=-1)
        rotation = rotations.from_axis_angle(
            self.orientation[:, :3], self.orientation[:, 3]
        )
        # First the orientation, within the frame of the spine; then that frame.
        flat = rotations.rotate(rotation[:, None], flat)
        frames = _frames(self.spine)
        # frames[s] @ flat[s, k] for each point s of the spine, k of the section.
        points: Floats = self.spine[:, None] + np.einsum("sij,skj->ski", frames, flat)
        return points


class _Surface(NamedTuple):
    """Pieces of the surface of an Extrusion: its side, and its caps."""

    faces: list[Indices]
    uv_faces: list[Indices]
    """The same triangles, as numbers of texture coordinates."""
    uv_values: list[Floats]


def read_extrusion(node: Node, reader: GeometryReader) -> Mesh | None:
    """Return the mesh of a cross-section that is swept along a spine."""
    sweep = _read_sweep(node, reader)
    if sweep is None:
        return None
    points = sweep.points()
    num_spine, num_section = points.shape[:2]
    # Texture coordinates are not joined at the seam: there s goes from 1 back to 0.
    uv_grid = np.arange(num_spine * num_section).reshape(num_spine, num_section)
    # Where the section or the spine is closed, its last points are its first ones.
    grid = uv_grid.copy()
    has_round_section = bool((sweep.section[0] == sweep.section[-1]).all())
    has_round_spine = bool((points[0] == points[-1]).all())
    if has_round_section:
        grid[:, -1] = grid[:, 0]
    if has_round_spine and num_spine > 2:
        grid[-1] = grid[0]
    # s runs along the section, t along the spine, both by number of points (6.18).
    s, t = np.meshgrid(np.linspace(0, 1, num_section), np.linspace(0, 1, num_spine))
    surface = _Surface(
        [grid_faces(grid)],
        [grid_faces(uv_grid)],
        [np.stack([s, t], axis=-1).reshape(-1, 2)],
    )
    # A closed section repeats its first point, which an end face has once.
    rim = np.arange(num_section - has_round_section)
    # Fewer than three points enclose no area.
    if len(rim) >= 3:
        # Seen from outside, the first cap has the opposite order.
        if nodes.flag(node, "beginCap", True):
            _close_end(surface, sweep.section, rim[::-1], grid[0])
        if nodes.flag(node, "endCap", True):
            _close_end(surface, sweep.section, rim, grid[-1])

    points = points.reshape(-1, 3)
    faces = np.concatenate(surface.faces)
    uv_faces = np.concatenate(surface.uv_faces)
    # The side is the first piece; each end face adds one.
    has_both_caps = len(surface.faces) == 3
    is_closed = has_round_section and (has_round_spine or has_both_caps)
    if is_closed and "ccw" not in node.fields and _volume(points, faces) < 0:
        # Real models have such sections and mean a body that is seen from outside.
        message = "the cross-section of an Extrusion runs clockwise"
        reader.report(rules.INSIDE_OUT, message, node)
        faces = faces[:, ::-1]
        uv_faces = uv_faces[:, ::-1]
    uv = Corners(np.concatenate(surface.uv_values), frozen_ints(uv_faces))
    return reader.mesh(node, points, faces, None, None, uv)


def _read_sweep(node: Node, reader: GeometryReader) -> _Sweep | None:
    """Read the fields of an Extrusion; None where they give no surface."""
    section = nodes.rows(node, "crossSection", 2)
    spine = nodes.rows(node, "spine", 3)
    if not len(section):
        section = np.array([[1.0, 1], [1, -1], [-1, -1], [-1, 1], [1, 1]])
    # Defaults of the standard: a square of 2 × 2 m, along 1 m of y.
    if not len(spine):
        spine = np.array([[0.0, 0, 0], [0, 1, 0]])
    if len(spine) < 2 or len(section) < 2:
        message = f"Extrusion of {len(section)} points along {len(spine)}"
        reader.report(rules.BAD_SIZE, message, node)
        return None
    # A million points may be written with two short lists.
    num_points = len(spine) * len(section)
    if num_points > MAX_VERTICES:
        message = f"{node.type} expands to {num_points} points"
        reader.report(TOO_LARGE, message, node)
        return None
    scale = nodes.rows(node, "scale", 2)
    orientation = nodes.rows(node, "orientation", 4)
    sweep = _Sweep(
        section,
        spine,
        _stretched(scale, [1.0, 1.0], len(spine)),
        _stretched(orientation, [0.0, 0.0, 1.0, 0.0], len(spine)),
    )
    if not all(np.isfinite(values).all() for values in sweep):
        message = "Extrusion has numbers that are not finite"
        reader.report(rules.INFINITE_POINT, message, node)
        return None
    return sweep


def _close_end(
    surface: _Surface, section: Floats, order: Indices, ring: Indices
) -> None:
    """Close an end of an Extrusion.

    `order` is that of its points, and `ring` are their vertices.
    """
    # The image covers the longer extent of the face, at the same scale in both directions.
    extent = np.ptp(section, axis=0).max()
    if not extent > 0:
        extent = 1.0
    zeros = np.zeros(len(section))
    flat = np.stack([section[:, 0], zeros, section[:, 1]], axis=1)
    triangles = order[triangulate(order, flat).corners]
    # `triangulate` wants points in space: the face is flat, in the plane y = 0.
    surface.faces.append(ring[triangles])
    # Numbers of texture coordinates continue behind those of the pieces before.
    surface.uv_faces.append(triangles + sum(map(len, surface.uv_values)))
    surface.uv_values.append((section - section.min(axis=0)) / extent)


def _volume(points: Floats, faces: Indices) -> float:
    """Return the volume inside a closed mesh.

    Negative where the faces look inwards.
    """
    # Gauss's theorem: a sum over the tetrahedra from one point to each face, times 6.
    # That point is in the middle, so that large coordinates do not cancel digits.
    a, b, c = np.moveaxis((points - points.mean(axis=0))[faces], 1, 0)
    # Six times the volume: only the sign is used.
    return float(np.einsum("ij,ij->", a, np.cross(b, c)))


def _stretched(values: Floats, default: list[float], count: int) -> Floats:
    """Return one row for each point of the spine.

    Where there are too few, the last is repeated.
    """
    if not len(values):
        values = np.array([default])
    return values[np.minimum(np.arange(count), len(values) - 1)]


def _frames(spine: Floats) -> Floats:
    """Return the planes that the cross-section is carried into along the spine.

    (S, 3, 3), columns are their x, y, z axes. y is tangent to the spine, z normal to
    the plane that the spine bends in. Where it does not bend, z is that of the point
    before. On a straight spine y is rotated onto it by the smallest angle.
    """
    is_closed = len(spine) > 2 and bool((spine[0] == spine[-1]).all())
    # Neighbours of each point; at an open end the point itself, so that the tangent
    # there is that of the only segment.
    after = np.roll(spine, -1, axis=0)
    before = np.roll(spine, 1, axis=0)
    if is_closed:
        after[-1] = spine[1]
        before[0] = spine[-2]
    else:
        after[-1] = spine[-1]
        before[0] = spine[0]
    # The tangent is parallel to the chord between the neighbours (6.18).
    tangent = unit(after - before)
    _fill(tangent, UP)
    # |bend| = |after| · |before| · sin(angle): compared as a product, without a
    # division by lengths that may be 0.
    bend = np.cross(after - spine, before - spine)
    size_after = np.linalg.norm(after - spine, axis=1)
    size_before = np.linalg.norm(before - spine, axis=1)
    is_straight = np.linalg.norm(bend, axis=1) <= MIN_BEND * (size_after * size_before)
    bend[is_straight] = 0.0
    normal = unit(bend)
    # A wholly straight spine has one frame for all points.
    if not normal.any():
        return np.broadcast_to(_upright_frame(tangent[0]), (len(spine), 3, 3)).copy()
    _fill(normal, np.zeros(3))
    # The side that the spine bends to may change: z would jump by 180° there and twist
    # the surface. The standard demands a positive product with the one before.
    for i in range(1, len(normal)):
        if normal[i] @ normal[i - 1] < 0:
            normal[i] = -normal[i]
    # Perpendicular to the tangent, also where z was copied from a neighbour.
    side = unit(np.cross(tangent, normal))
    # Tangent and z are parallel where a spine turns back: any side will do.
    _fill(side, np.array([1.0, 0.0, 0.0]))
    return np.stack([side, tangent, np.cross(side, tangent)], axis=-1)


def _upright_frame(tangent: Floats) -> Floats:
    """Return the smallest rotation (3, 3) of the y axis onto a tangent."""
    axis = np.cross(UP, tangent)
    sine = np.linalg.norm(axis)
    # Tangent along ±y: the axis is 0, and any axis in the x-z plane serves for 180°.
    if not (np.abs(axis).max() > MIN_AXIS):
        axis = np.array([1.0, 0.0, 0.0])
    # sin = |up × t|, cos = up · t = t_y, so the angle is exact near 0 and 180°.
    rotation = rotations.from_axis_angle(axis, np.arctan2(sine, tangent[1]))
    return rotations.to_matrix(rotation)


def _fill(rows: Floats, default: Floats) -> None:
    """Replace zero rows by the row before.

    Leading ones become the first other row.
    """
    is_set = rows.any(axis=1)
    if not is_set.any():
        rows[:] = default
        return
    # The last row that is set, up to each row; −1 before the first.
    source = np.maximum.accumulate(np.where(is_set, np.arange(len(rows)), -1))
    rows[:] = rows[np.where(source < 0, int(np.argmax(is_set)), source)]
