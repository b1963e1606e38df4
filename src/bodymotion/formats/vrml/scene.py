"""Walking through a scene: grouping nodes, their transforms, switches, parts; and the shapes that are found."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics import Diagnostics, FormatError, Subject
from bodymotion.formats.vrml import nodes, rules
from bodymotion.formats.vrml.nodes import ModelDiagnostics, Node, without_fault
from bodymotion.formats.vrml.reader import InlineLoader, PrototypeBodies
from bodymotion.formats.vrml.shapes import PLAIN, AppearanceReader, GeometryReader
from bodymotion.formats.vrml.values import STANDARD_NODES
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.geometry.shapes import MAX_SHAPES, Geometry, Material, Shape

if TYPE_CHECKING:
    from bodymotion.formats.meshes.reading import MeshReader

MAX_NODES = 1_000_000  # Nodes that a walk visits: USE inside USE expands to any number.

MESH_FILES = (".stl",)  # Parts that are meshes, not VRML97.

IDENTITY: Floats = frozen(np.eye(4))


@dataclass(frozen=True)
class FoundShape:
    """A shape that was found, in the frame where the walk began; whether it is visible, and whether others collide with it."""

    shape: Shape
    visual: bool
    collision: bool


def by_purpose(drawn: list[FoundShape]) -> tuple[tuple[Shape, ...], tuple[Shape, ...]]:
    """Return the visual and the collision shapes."""
    return tuple(d.shape for d in drawn if d.visual), tuple(d.shape for d in drawn if d.collision)


@dataclass(frozen=True)
class NodeFrame:
    """The frame of a node: its transform (4, 4) from where the walk began, and what the shapes in it are for."""

    transform: Floats = field(default_factory=lambda: IDENTITY)
    visual: bool = True
    collision: bool = True


class SceneWalker:
    """Walk through nodes and collect shapes in `drawn`.

    `walk` calls a function `visit(node, frame)` first for each node, before prototypes are expanded; where it returns True, the node is
    done. It may continue inside of the node with `enter`. The walk keeps its own stack: nodes may be nested to any depth. Nothing here
    refers back to the walker, so its memory is freed with it.
    """

    def __init__(self, found: Diagnostics, parts: InlineLoader) -> None:
        self.found = found
        self.parts = parts
        self.drawn: list[FoundShape] = []
        self.visited = 0
        self.unknown: Subject = ()
        """What is unknown in the value where a node that the walk visits cannot be read; set by its user."""
        self._stack: list[tuple[Iterator[Node], NodeFrame] | Callable[[], None]] = []
        self._mesh_reader: MeshReader | None = None
        self._reported: set[str] = set()
        self.actual = PrototypeBodies(parts)
        self.geometry = GeometryReader(found, self.actual)
        self.appearance = AppearanceReader(found, self.actual, parts.resolve)

    def walk(self, nodes: Iterable[Node], frame: NodeFrame, visit: Callable[[Node, NodeFrame], bool]) -> None:
        """Walk through nodes in a frame, and everything inside them; go on after faults where `found` is of a model.

        Raises
        ------
        FormatError
            At the first fault, where `found` is not of a model; when there are too many nodes or shapes.
        """
        self.enter(nodes, frame)
        while self._stack:
            item = self._stack[-1]
            node = None if callable(item) else next(item[0], None)
            if callable(item) or node is None:
                self._stack.pop()
            try:
                if callable(item):
                    item()
                elif node is not None:
                    self._visit(node, item[1], visit)
            except FormatError as error:
                if error.problem.rule == rules.TOO_LARGE.code:
                    self._stack.clear()
                    raise
                if not isinstance(self.found, ModelDiagnostics):
                    raise
                self.found.fault(error, *([self.unknown] if self.unknown else []))
                rest = None if node is None else without_fault(node, error)
                if rest is not None and not callable(item):
                    self.enter([rest], item[1])

    def enter(self, nodes: Iterable[Node], frame: NodeFrame, leave: Callable[[], None] | None = None) -> None:
        """Continue the walk with nodes in a frame; call `leave` when everything inside them is done."""
        if leave is not None:
            self._stack.append(leave)
        self._stack.append((iter(nodes), frame))

    def _visit(self, node: Node, frame: NodeFrame, visit: Callable[[Node, NodeFrame], bool]) -> None:
        self.visited += 1
        if self.visited > MAX_NODES:
            raise rules.TOO_LARGE.error(f"the scene expands to more than {MAX_NODES} nodes", node.location)
        found: Node | None = node
        while found is not None and not visit(found, frame):
            if found.proto is None:
                self._walk_into(found, frame)
                return
            found = self.actual.inside(found)

    def _walk_into(self, found: Node, frame: NodeFrame) -> None:
        match found.type:
            case "Transform":
                self.enter(nodes.children(found), self.frame_inside(frame, node_transform(found), found))
            case "Group" | "Anchor" | "Billboard":
                self.enter(nodes.children(found), frame)
            case "Switch":
                choices = found.get("choice")
                choices = choices if isinstance(choices, list) else nodes.children(found, "choice")
                chosen = nodes.integer(found, "whichChoice", -1)
                if 0 <= chosen < len(choices) and isinstance(choices[chosen], Node):
                    self.enter([choices[chosen]], frame)
                message = "the children that a Switch does not select"
                self._report_scenery(found, message, len(choices) > 1 or chosen != 0)
            case "LOD":
                levels = nodes.children(found, "level") or nodes.children(found)
                self.enter(levels[:1], frame)
                self._report_scenery(found, "the other levels of an LOD", len(levels) > 1)
            case "Collision":
                collide, proxy = nodes.flag(found, "collide", True), nodes.child(found, "proxy")
                if proxy is not None and collide:
                    self.enter([proxy], replace(frame, visual=False))
                solid = collide and proxy is None
                self.enter(nodes.children(found), replace(frame, collision=frame.collision and solid))
            case "Inline":
                self._part(found, frame)
            case "Shape":
                self._draw(found, frame)
            case _ if found.type in STANDARD_NODES:
                self._report_scenery(found, found.type)
            case _ if found.type not in self._reported:
                self._reported.add(found.type)
                message = f"the node type {found.type} is unknown: left out"
                self.found.report(rules.NODE_LEFT_OUT, message, found.location)

    def _report_scenery(self, node: Node, what: str, applies: bool = True) -> None:
        if applies and node.type not in self._reported:
            self._reported.add(node.type)
            self.found.report(rules.SCENERY, f"{what}: not a part of a body", node.location)

    def _part(self, node: Node, frame: NodeFrame) -> None:
        urls = nodes.texts(node, "url")
        if any(url.lower().endswith(MESH_FILES) for url in urls):
            if self._mesh_reader is None:
                from bodymotion.formats.meshes.reading import MeshReader

                self._mesh_reader = MeshReader(rules.PART_UNREADABLE, self.found)
            path = self.parts.resolve(node)
            for shape in () if path is None else self._mesh_reader.shapes(path, self.parts, node.location):
                self._add(shape.geometry, PLAIN, frame, node)
            return
        scene = self.parts.load(node)
        if scene is not None:
            self.parts.users.setdefault(str(scene.path), self.unknown)
            self.enter(scene.nodes, frame)

    def _draw(self, node: Node, frame: NodeFrame) -> None:
        part = nodes.child(node, "geometry")
        found = self.actual(part) if part is not None else None
        if found is None or not (frame.visual or frame.collision):
            return
        material = self.appearance.read(nodes.child(node, "appearance"))
        self._add(self.geometry.read(found, textured=material.texture is not None), material, frame, node)

    def _add(self, geometry: Geometry | None, material: Material, frame: NodeFrame, node: Node) -> None:
        if geometry is None:
            return
        if len(self.drawn) >= MAX_SHAPES:
            raise rules.TOO_LARGE.error(f"the scene expands to more than {MAX_SHAPES} shapes", node.location)
        shape = Shape(geometry, frame.transform, material, node.name)
        self.drawn.append(FoundShape(shape, frame.visual, frame.collision))

    def frame_inside(self, frame: NodeFrame, transform: Floats, node: Node) -> NodeFrame:
        """Return the frame inside a node with its own transform (4, 4)."""
        whole = transform if frame.transform is IDENTITY else frame.transform @ transform
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


def rotation_matrix(axis: tuple[float, float, float], angle: float) -> tuple[tuple[float, float, float], ...]:
    """Return the matrix of a rotation about an axis of length 1 (Rodrigues' formula); single numbers are faster without arrays."""
    x, y, z = axis
    c, s = math.cos(angle), math.sin(angle)
    u = 1.0 - c
    return (
        (x * x * u + c, x * y * u - z * s, x * z * u + y * s),
        (x * y * u + z * s, y * y * u + c, y * z * u - x * s),
        (x * z * u - y * s, y * z * u + x * s, z * z * u + c),
    )
