"""Walking through a scene: grouping nodes, their transforms, switches, parts; and the shapes met on the way."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics import FormatError
from bodymotion.formats.faults import fault
from bodymotion.formats.meshes.single_mesh import read_mesh_file
from bodymotion.formats.vrml import access
from bodymotion.formats.vrml.appearance import PLAIN, AppearanceReader
from bodymotion.formats.vrml.geometry import GeometryReader
from bodymotion.formats.vrml.mending import without_fault
from bodymotion.formats.vrml.nodes import Node
from bodymotion.formats.vrml.prototypes import expand
from bodymotion.formats.vrml.rules import PART_UNREADABLE
from bodymotion.formats.vrml.shape_rules import NOT_FINITE, SCENERY, TOO_LARGE, UNKNOWN_NODE
from bodymotion.formats.vrml.specs import STANDARD_NODES
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.geometry.shapes import MOST_SHAPES, Mesh, Shape

if TYPE_CHECKING:
    from bodymotion.diagnostics import Location, Problem, Rule
    from bodymotion.formats.vrml.inline import InlineLoader

__all__ = ["IDENTITY", "Drawn", "Place", "SceneWalker", "node_transform", "turn_matrix"]

MOST_NODES = 1_000_000
"""How many nodes may be visited: USE inside USE unfolds to any number."""

MESH_FILES = (".stl",)
"""Parts that are not VRML97, but plain meshes."""


IDENTITY: Floats = frozen(np.eye(4))


@dataclass(frozen=True)
class Drawn:
    """A shape met on the way, in the frame where the walk began; whether it is to be seen, and whether it is solid to others."""

    shape: Shape
    visual: bool
    collision: bool


@dataclass(frozen=True)
class Place:
    """Where the walk is: the transform so far (4, 4), and what shapes here are for."""

    transform: Floats = field(default_factory=lambda: IDENTITY)
    visual: bool = True
    collision: bool = True


class PrototypeBodies:
    """Looks through instances of prototypes into the node that stands first in their bodies; each is expanded once."""

    def __init__(self, parts: InlineLoader) -> None:
        self.parts = parts
        self._known: dict[int, tuple[Node, Node | None]] = {}

    def __call__(self, node: Node) -> Node | None:
        """Return the node that an instance stands for, prototypes of prototypes too; None where there is none."""
        found: Node | None = node
        while found is not None and found.proto is not None:
            found = self.inside(found)
        return found

    def inside(self, node: Node) -> Node | None:
        """Return the node that stands first in the body of an instance: it may be an instance itself.

        Where it has no name, it takes the instance's.
        """
        if id(node) not in self._known:
            found = next(iter(expand(node, self.parts)), None)
            if found is not None and node.name and not found.name:
                found = replace(found, name=node.name)
            self._known[id(node)] = (node, found)
        return self._known[id(node)][1]


class SceneWalker:
    """Walks through nodes and collects shapes in `drawn`.

    `walk` is given a function `meet(node, place)` that is asked first about each node, prototypes not yet looked through; where it
    gives True it has dealt with the node. It may have the walk go on inside with `enter`. The walk keeps its own stack: nodes may be
    nested to any depth. Nothing here points back at the walker, so that what it holds is let go when it is.
    """

    def __init__(self, problems: list[Problem], parts: InlineLoader) -> None:
        self.problems = problems
        self.parts = parts
        self.drawn: list[Drawn] = []
        self.visited = 0
        self._stack: list[tuple[Iterator[Node], Place] | Callable[[], None]] = []
        self._mesh_files: dict[Path, Mesh | None] = {}
        self._strange: set[str] = set()
        self.actual = PrototypeBodies(parts)
        self.geometry = GeometryReader(problems, self.actual)
        self.appearance = AppearanceReader(problems, self.actual, parts.resolve)

    def tell(self, rule: Rule, message: str, location: Location) -> None:
        """Note a problem."""
        self.problems.append(rule.problem(message, location))

    def walk(self, nodes: Iterable[Node], place: Place, meet: Callable[[Node, Place], bool]) -> None:
        """Walk through nodes that stand at a place, and all that is inside them; past all faults, if `problems` are `Faults`."""
        self.enter(nodes, place)
        while self._stack:
            item = self._stack[-1]
            node = None if callable(item) else next(item[0], None)
            if callable(item) or node is None:
                self._stack.pop()
            try:
                if callable(item):
                    item()
                elif node is not None:
                    self._visit(node, item[1], meet)
            except FormatError as error:
                if error.problem.rule == TOO_LARGE.code:
                    raise
                fault(self.problems, error)
                rest = None if node is None else without_fault(node, error)
                if rest is not None and not callable(item):
                    self.enter([rest], item[1])

    def enter(self, nodes: Iterable[Node], place: Place, leave: Callable[[], None] | None = None) -> None:
        """Have the walk go on with nodes that stand at a place; call `leave` when all that is inside them is done."""
        if leave is not None:
            self._stack.append(leave)
        self._stack.append((iter(nodes), place))

    def _visit(self, node: Node, place: Place, meet: Callable[[Node, Place], bool]) -> None:
        self.visited += 1
        if self.visited > MOST_NODES:
            raise TOO_LARGE.error(f"the scene unfolds to more than {MOST_NODES} nodes", node.location)
        found: Node | None = node
        while found is not None and not meet(found, place):
            if found.proto is None:
                self._walk_into(found, place)
                return
            found = self.actual.inside(found)

    def _walk_into(self, found: Node, place: Place) -> None:
        match found.type:
            case "Transform":
                self.enter(access.children(found), self.moved(place, node_transform(found), found))
            case "Group" | "Anchor" | "Billboard":
                self.enter(access.children(found), place)
            case "Switch":
                choices = found.get("choice")
                choices = choices if isinstance(choices, list) else access.children(found, "choice")
                chosen = access.integer(found, "whichChoice", -1)
                if 0 <= chosen < len(choices) and isinstance(choices[chosen], Node):
                    self.enter([choices[chosen]], place)
                self._say_scenery(found, "what a Switch does not choose", len(choices) > 1 or chosen != 0)
            case "LOD":
                levels = access.children(found, "level") or access.children(found)
                self.enter(levels[:1], place)
                self._say_scenery(found, "the other levels of an LOD", len(levels) > 1)
            case "Collision":
                self._collision(found, place)
            case "Inline":
                self._part(found, place)
            case "Shape":
                self._draw(found, place)
            case _ if found.type in STANDARD_NODES:
                self._say_scenery(found, found.type)
            case _ if found.type not in self._strange:
                self._strange.add(found.type)
                self.tell(UNKNOWN_NODE, f"{found.type} is no node that is known; it is left out", found.location)

    def _say_scenery(self, node: Node, what: str, there: bool = True) -> None:
        if there and node.type not in self._strange:
            self._strange.add(node.type)
            self.tell(SCENERY, f"{what}: no part of a body", node.location)

    def _collision(self, node: Node, place: Place) -> None:
        collide, proxy = access.flag(node, "collide", True), access.child(node, "proxy")
        if proxy is not None and collide:
            self.enter([proxy], replace(place, visual=False))
        solid = collide and proxy is None
        self.enter(access.children(node), replace(place, collision=place.collision and solid))

    def _part(self, node: Node, place: Place) -> None:
        urls = access.texts(node, "url")
        if any(url.lower().endswith(MESH_FILES) for url in urls):
            path = self.parts.resolve(node)
            mesh = self._mesh_file(path, node) if path is not None else None
            if mesh is not None:
                self._add(Shape(mesh, place.transform, PLAIN, node.name), place, node)
            return
        scene = self.parts.load(node)
        if scene is not None:
            self.enter(scene.nodes, place)

    def _mesh_file(self, path: Path, node: Node) -> Mesh | None:
        if path not in self._mesh_files:
            try:
                self._mesh_files[path] = read_mesh_file(path)
            except ValueError as error:
                self._mesh_files[path] = None
                self.tell(PART_UNREADABLE, f"{path.name}: {error}", node.location)
        return self._mesh_files[path]

    def _draw(self, node: Node, place: Place) -> None:
        part = access.child(node, "geometry")
        found = self.actual(part) if part is not None else None
        if found is None or not (place.visual or place.collision):
            return
        material = self.appearance.read(access.child(node, "appearance"))
        geometry = self.geometry.read(found, textured=material.texture is not None)
        if geometry is not None:
            self._add(Shape(geometry, place.transform, material, node.name), place, node)

    def _add(self, shape: Shape, place: Place, node: Node) -> None:
        if len(self.drawn) >= MOST_SHAPES:
            raise TOO_LARGE.error(f"the scene unfolds to more than {MOST_SHAPES} shapes", node.location)
        self.drawn.append(Drawn(shape, place.visual, place.collision))

    def moved(self, place: Place, transform: Floats, node: Node) -> Place:
        """Return the place inside a node with a transform (4, 4) of its own."""
        whole = transform if place.transform is IDENTITY else place.transform @ transform
        if not np.isfinite(whole).all():
            raise NOT_FINITE.error(f"{node.type}: its translation, rotation or scale is not finite", node.location)
        return Place(whole, place.visual, place.collision)


def node_transform(node: Node) -> Floats:
    """Return the matrix (4, 4) of a Transform, T · C · R · SR · S · −SR · −C (ISO/IEC 14772-1, 6.52)."""
    matrix = np.eye(4)
    if "rotation" in node.fields:
        matrix[:3, :3] = turn_matrix(*access.axis_angle(node))
    scale = access.vector(node, "scale", (1.0, 1.0, 1.0))
    if scale != (1.0, 1.0, 1.0):
        stretch = np.array(turn_matrix(*access.axis_angle(node, "scaleOrientation")))
        matrix[:3, :3] = matrix[:3, :3] @ (stretch * scale) @ stretch.T
    matrix[:3, 3] = access.vector(node, "translation", (0.0, 0.0, 0.0))
    center = access.vector(node, "center", (0.0, 0.0, 0.0))
    if any(center):
        matrix[:3, 3] += center - matrix[:3, :3] @ center
    return matrix


def turn_matrix(axis: tuple[float, float, float], angle: float) -> tuple[tuple[float, float, float], ...]:
    """Return the rotation matrix of a turn about an axis of length 1 (Rodrigues' formula); single numbers are faster without arrays."""
    x, y, z = axis
    c, s = math.cos(angle), math.sin(angle)
    u = 1.0 - c
    return (
        (x * x * u + c, x * y * u - z * s, x * z * u + y * s),
        (x * y * u + z * s, y * y * u + c, y * z * u - x * s),
        (x * z * u - y * s, y * z * u + x * s, z * z * u + c),
    )
