"""Files that elements name.

Scenes in VRML97 and COLLADA, meshes, and elements in other YAML files; each is opened
once.

`formats.resources` decides which files may be opened. `package://NAME/path` is looked
for in the folders above the file that names it.
"""

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar, cast

import numpy as np

from bodymotion.diagnostics import Diagnostics, FormatError, Location
from bodymotion.formats.choreonoid_body import rules
from bodymotion.formats.meshes.collada import (
    Part,
    SceneNode,
    placed_parts,
    read_collada,
)
from bodymotion.formats.meshes.stl import mesh_fault
from bodymotion.formats.resources import (
    PART_UNREADABLE,
    NotFound,
    ReferencedFiles,
    ResourceFinder,
    file_bytes,
)
from bodymotion.formats.vrml import nodes
from bodymotion.formats.vrml.nodes import Node as VrmlNode
from bodymotion.formats.vrml.reader import parse_vrml
from bodymotion.formats.vrml.shapes import (
    FoundShape,
    NodeFrame,
    SceneWalker,
    node_transform,
)
from bodymotion.formats.yaml.fields import MAX_BYTES, open_text
from bodymotion.formats.yaml.tree import Document, Mapping, Node, Scalar, Sequence
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.shapes import Material, Shape, Texture

SCENES = (".wrl", ".vrml")
COLLADA = (".dae",)
MESHES = (".stl", ".obj", ".ply", ".off", ".glb", ".gltf")
ELEMENTS = (".yaml", ".yml", ".scen")  # File name extensions of resources.

T = TypeVar("T")

PACKAGE = "package://"


def find_file(uri: str, node: Mapping, finder: ResourceFinder) -> Path | NotFound:
    """Return the file that a uri in a node means, or why it is not opened."""
    if node.text.path is None:
        holder = None
    else:
        holder = Path(node.text.path)
    if uri:
        uris = [uri]
    else:
        uris = []
    # ROS names a file by its package, a folder above or beside the model.
    if uri.startswith(PACKAGE):
        name, _, rest = uri.removeprefix(PACKAGE).partition("/")
        packages = (
            (folder, _package(name, folder)) for folder in finder.folders(holder)
        )
        uris = [
            os.path.relpath(package / rest, folder)
            for folder, package in packages
            if package is not None
        ] or uris
    return finder.find(uris, holder)


def _package(name: str, folder: Path) -> Path | None:
    """Return the folder of that name at, or beside, a folder or one above it."""
    # From the model upwards: the nearest counts.
    for above in (folder, *folder.parents):
        if above.name == name or (above / name).is_dir():
            if above.name == name:
                return above
            return above / name
    return None


def read_elements(path: Path, including: Document, found: Diagnostics) -> Document:
    """Parse a YAML file that another one includes, and that may use its anchors.

    FormatError where it is not YAML.
    """
    # Its problems count only if it can be used.
    own = Diagnostics(path)
    document = open_text(file_bytes(path, MAX_BYTES), path, own, including.anchors)
    if own.refusal is not None:
        raise FormatError(own.refusal, own.problems)
    found.extend(own.problems)
    return document


class ResourceReader:
    """Reads the shapes of the files that resources name.

    `parts` reads those of VRML97 files, problems go to `found`.

    `names` are, by uri, the names of nodes that the model has out of a file: such a
    node is not drawn again within another one.
    """

    def __init__(
        self, found: Diagnostics, parts: ReferencedFiles, names: dict[str, set[str]]
    ) -> None:
        self.found = found
        self.parts = parts
        self.names = names
        self._walker = SceneWalker(found, parts)
        self._files: dict[Path, object] = {}
        self._left_out: set[str] = set()
        self._wanted = ""
        self._node: tuple[VrmlNode, Floats] | None = None

    def once(self, path: Path, where: Location, read: Callable[[Path], T]) -> T | None:
        """Return what a file holds, read once.

        None where it cannot be read, which is recorded.
        """
        if path not in self._files:
            # None while it is read, and where that fails: it is reported once.
            self._files[path] = None
            try:
                self._files[path] = read(path)
            except FormatError as error:
                self.found.add(error.problem)
                self.found.report(
                    PART_UNREADABLE.as_error, f"{path.name} is left out", where
                )
            except (OSError, ValueError) as error:
                if isinstance(error, OSError):
                    fault = error.strerror
                else:
                    fault = mesh_fault(path, error)
                self.found.report(
                    PART_UNREADABLE.as_error, f"{path.name}: {fault}", where
                )
        return cast("T | None", self._files[path])

    def shapes(
        self,
        path: Path,
        uri: str,
        name: str,
        excluded: tuple[str, ...],
        frame: NodeFrame,
        where: Location,
    ) -> list[FoundShape]:
        """Return the shapes of a file, or of its node called `name`, at a pose.

        A node that is named keeps the orientation that it has in its file, not its
        position.
        """
        # Nodes that the model draws elsewhere are not drawn within this one.
        if name:
            others = self.names.get(uri, set())
        else:
            others = set()
        self._left_out = (others | set(excluded)) - {name}
        if path.suffix.lower() in COLLADA:
            draw = self._of_collada
        else:
            draw = self._of_scene
        drawn = draw(path, name, frame, where)
        if drawn is None:
            self.found.report(
                rules.RESOURCE_NODE, f"{path.name} has no node {name!r:.60}", where
            )
        return drawn or []

    def _of_scene(
        self, path: Path, name: str, frame: NodeFrame, where: Location
    ) -> list[FoundShape] | None:
        """Return the shapes of a VRML97 file, None without the node."""
        is_new = path not in self._files
        scene = self.once(path, where, lambda path: parse_vrml(path.read_bytes(), path))
        if scene is None:
            return []
        # Problems of a file are reported once, with its first use.
        if is_new:
            self.found.extend(scene.problems)
        if not name:
            return self._draw(scene.nodes, frame)
        # The first walk finds the node and its transform, the second draws it.
        self._wanted = name
        self._node = None
        self._draw(scene.nodes, NodeFrame())
        self._wanted = ""
        if self._node is None:
            return None
        node, above = self._node
        inside = [node]
        if node.type == "Transform":
            above = above @ node_transform(node)
            inside = nodes.children(node)
        # A named node keeps its orientation, and loses its position.
        rotation = np.array(above)
        rotation[:3, 3] = 0.0
        return self._draw(
            inside, NodeFrame(frame.transform @ rotation, frame.visual, frame.collision)
        )

    def _of_collada(
        self, path: Path, name: str, frame: NodeFrame, where: Location
    ) -> list[FoundShape] | None:
        """Return the shapes of a COLLADA file, None without the node."""
        root = self.once(path, where, partial(self._read_collada, where))
        if root is None:
            return []
        if name:
            found = _find_node(root, root.transform, name)
        else:
            found = (root, root.transform)
        if found is None:
            return None
        node = found[0]
        transform = np.array(found[1])
        # A named node loses its position: `not name` is 0 or 1.
        transform[:3, 3] *= not name
        shapes = (
            Shape(part.mesh, at, self._textured(part, path, where), title)
            for part, at, title in placed_parts(
                node, frame.transform @ transform, self._left_out
            )
        )
        return [FoundShape(shape, frame.visual, frame.collision) for shape in shapes]

    def _read_collada(self, where: Location, path: Path) -> SceneNode:
        root, remarks = read_collada(path)
        for remark in remarks:
            self.found.report(rules.RESOURCE_PARTS, f"{path.name}: {remark}", where)
        return root

    def _textured(self, part: Part, path: Path, where: Location) -> Material:
        if not part.image:
            return part.material
        image = self.parts.finder.find(part.image, path)
        if isinstance(image, NotFound):
            self.found.add(image.problem(where))
            return replace(part.material, texture=None)
        self.parts.urls.setdefault(part.image, where)
        return replace(part.material, texture=Texture(image, part.image))

    def _draw(self, nodes: list[VrmlNode], frame: NodeFrame) -> list[FoundShape]:
        walker = self._walker
        walker.drawn = []
        try:
            walker.walk(nodes, frame, self._visit)
        except FormatError as error:
            self.found.add(error.problem)
            # The nodes that were not visited yet must not be visited in the next file.
            self._walker = SceneWalker(self.found, self.parts)
        return walker.drawn

    def _visit(self, node: VrmlNode, frame: NodeFrame) -> bool:
        # While a node is searched for, nothing is drawn.
        if self._wanted:
            if self._node is None and node.name == self._wanted:
                self._node = (node, frame.transform)
            return self._node is not None or node.type == "Shape"
        return bool(node.name) and node.name in self._left_out


def _find_node(
    node: SceneNode, transform: Floats, name: str
) -> tuple[SceneNode, Floats] | None:
    """Return the node of that name or id below a node, and its transform."""
    if name in (node.name, node.id):
        return node, transform
    below = (
        _find_node(child, transform @ child.transform, name) for child in node.children
    )
    return next((found for found in below if found is not None), None)


def named_nodes(root: Node) -> dict[str, set[str]]:
    """Return the names of the nodes that a document has out of files, by uri."""
    names: dict[str, set[str]] = {}
    seen: set[int] = set()
    stack: list[Node] = [root]
    # With a stack and a set: aliases may share nodes.
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, Sequence):
            # A list of numbers names no file.
            stack += [] if node.numbers else node.items
        elif isinstance(node, Mapping):
            uri = node.items.get("uri")
            name = node.items.get("node")
            if isinstance(uri, Scalar) and isinstance(name, Scalar):
                names.setdefault(uri.value, set()).add(name.value)
            stack += node.items.values()
    return names
