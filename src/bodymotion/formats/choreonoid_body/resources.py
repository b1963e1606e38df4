"""Files that elements name: scenes in VRML97 and COLLADA, meshes, and elements in other YAML files; each is opened once.

Which files may be opened is the business of the loader of Inline parts: those in the folder tree of the model. `package://NAME/path` is
looked for in the folders above the file that says so.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics import FormatError
from bodymotion.formats.choreonoid_body import rules
from bodymotion.formats.choreonoid_body.document import Document, Mapping, Node, Scalar, Sequence, parse_document
from bodymotion.formats.meshes.collada import Part, SceneNode, read_collada
from bodymotion.formats.meshes.single_mesh import read_mesh_file
from bodymotion.formats.vrml import access
from bodymotion.formats.vrml.inline import InlineLoader
from bodymotion.formats.vrml.nodes import Node as VrmlNode
from bodymotion.formats.vrml.reader import parse_vrml
from bodymotion.formats.vrml.scene import Drawn, Place, SceneWalker, node_transform
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.shapes import Shape, Texture

if TYPE_CHECKING:
    from bodymotion.diagnostics import Location, Problem
    from bodymotion.formats.vrml.nodes import Scene
    from bodymotion.geometry.shapes import Material, Mesh

__all__ = ["COLLADA", "ELEMENTS", "MESHES", "SCENES", "ResourceReader", "asked_nodes", "locate", "read_elements"]

SCENES = (".wrl", ".vrml")
COLLADA = (".dae",)
MESHES = (".stl", ".obj", ".ply", ".off", ".glb", ".gltf")
ELEMENTS = (".yaml", ".yml", ".scen")

PACKAGE = "package://"
MOST_BYTES = 2 * 10**8


def locate(uri: str, base: Path | None, parts: InlineLoader, location: Location) -> Path | None:
    """Return the file that a uri means, None where there is none to be opened; why is in the loader's problems."""
    uris = [uri] if uri else []
    if uri.startswith(PACKAGE):
        name, _, rest = uri.removeprefix(PACKAGE).partition("/")
        homes = ((folder, _package(name, folder)) for folder in parts.folders(base))
        uris = [os.path.relpath(home / rest, folder) for folder, home in homes if home is not None] or uris
    return parts.resolve_urls(uris, base, location)


def _package(name: str, folder: Path) -> Path | None:
    """Return the folder of that name at, or beside, a folder or one of those above it."""
    for above in (folder, *folder.parents):
        if above.name == name or (above / name).is_dir():
            return above if above.name == name else above / name
    return None


def read_elements(path: Path, including: Document) -> Document:
    """Parse a YAML file whose elements another file includes; it may use that one's anchors.

    Raises
    ------
    FormatError
        When it cannot be opened, or is not YAML.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise rules.TOO_LARGE.error(f"{path.name} is larger than {MOST_BYTES} bytes")
        data = path.read_bytes()
    except OSError as error:
        raise rules.UNREADABLE.error(f"{path.name}: {error.strerror}") from error
    return parse_document(data, path, including.anchors)


class ResourceReader:
    """Draws the files that resources name.

    `asked` has, by uri, the names of nodes that the model takes out of a file: such a node is not drawn again within another one.
    """

    def __init__(self, problems: list[Problem], parts: InlineLoader, asked: dict[str, set[str]]) -> None:
        self.problems = problems
        self.parts = parts
        self.asked = asked
        self.walker = SceneWalker(problems, parts)
        self._scenes: dict[Path, Scene | None] = {}
        self._meshes: dict[Path, Mesh | None] = {}
        self._collada: dict[Path, SceneNode | None] = {}
        self._left_out: set[str] = set()
        self._wanted = ""
        self._found: tuple[VrmlNode, Floats] | None = None

    def mesh(self, path: Path, location: Location) -> Mesh | None:
        """Return the mesh of a file, None where it cannot be read (which is noted)."""
        if path not in self._meshes:
            try:
                self._meshes[path] = read_mesh_file(path)
            except ValueError as error:
                self._meshes[path] = None
                self.problems.append(rules.RESOURCE_BROKEN.problem(f"{path.name}: {error}", location))
        return self._meshes[path]

    def scene(
        self, path: Path, uri: str, name: str, excluded: list[str], place: Place, location: Location
    ) -> list[Drawn]:
        """Return the shapes of a VRML97 file, or of its node called `name`, at a place.

        A node that is asked for by name keeps the direction that it has in its file, not its position.
        """
        scene = self._open(path, location)
        if scene is None:
            return []
        asked = self.asked.get(uri, set()) if name else set()
        self._left_out = (asked | set(excluded)) - {name}
        if not name:
            return self._draw(scene.nodes, place)
        self._wanted, self._found = name, None
        self._draw(scene.nodes, Place())
        self._wanted = ""
        if self._found is None:
            self.problems.append(rules.RESOURCE_NODE.problem(f"{path.name} has no node {name!r:.60}", location))
            return []
        node, above = self._found
        inside = [node]
        if node.type == "Transform":
            above, inside = above @ node_transform(node), access.children(node)
        turned = np.array(above)
        turned[:3, 3] = 0.0
        return self._draw(inside, Place(place.transform @ turned, place.visual, place.collision))

    def collada(
        self, path: Path, uri: str, name: str, excluded: list[str], place: Place, location: Location
    ) -> list[Drawn]:
        """Return the shapes of a COLLADA file, or of its node called `name`, as `scene` does."""
        if path not in self._collada:
            self._collada[path] = self._open_collada(path, location)
        root = self._collada[path]
        if root is None:
            return []
        asked = self.asked.get(uri, set()) if name else set()
        self._left_out = (asked | set(excluded)) - {name}
        drawn: list[Drawn] = []
        if not name:
            self._draw_collada(root, place.transform @ root.transform, place, path, location, drawn)
            return drawn
        found = _find(root, root.transform, name)
        if found is None:
            self.problems.append(rules.RESOURCE_NODE.problem(f"{path.name} has no node {name!r:.60}", location))
            return []
        node, turned = found[0], np.array(found[1])
        turned[:3, 3] = 0.0
        self._draw_collada(node, place.transform @ turned, place, path, location, drawn)
        return drawn

    def _draw_collada(
        self, node: SceneNode, transform: Floats, place: Place, path: Path, location: Location, drawn: list[Drawn]
    ) -> None:
        for part in node.parts:
            material = self._textured(part, path, location)
            drawn.append(Drawn(Shape(part.mesh, transform, material, node.name), place.visual, place.collision))
        for child in node.children:
            if not {child.name, child.id} & self._left_out:
                self._draw_collada(child, transform @ child.transform, place, path, location, drawn)

    def _open_collada(self, path: Path, location: Location) -> SceneNode | None:
        try:
            root, remarks = read_collada(path)
        except ValueError as error:
            self.problems.append(rules.RESOURCE_BROKEN.problem(f"{path.name}: {error}", location))
            return None
        self.problems += [rules.RESOURCE_PARTS.problem(f"{path.name}: {remark}", location) for remark in remarks]
        return root

    def _textured(self, part: Part, path: Path, location: Location) -> Material:
        if not part.image:
            return part.material
        image = self.parts.resolve_urls([part.image], path, location)
        return replace(part.material, texture=None if image is None else Texture(image, part.image))

    def _draw(self, nodes: list[VrmlNode], place: Place) -> list[Drawn]:
        self.walker.drawn = []
        try:
            self.walker.walk(nodes, place, self._meet)
        except FormatError as error:
            self.problems.append(error.problem)
            drawn = self.walker.drawn
            # What was still to be walked through must not come up in the next file.
            self.walker = SceneWalker(self.problems, self.parts)
            return drawn
        return self.walker.drawn

    def _meet(self, node: VrmlNode, place: Place) -> bool:
        if self._wanted:
            if self._found is None and node.name == self._wanted:
                self._found = (node, place.transform)
            return self._found is not None or node.type == "Shape"
        return bool(node.name) and node.name in self._left_out

    def _open(self, path: Path, location: Location) -> Scene | None:
        if path not in self._scenes:
            self._scenes[path] = None
            try:
                scene = parse_vrml(path.read_bytes(), path)
            except OSError as error:
                self.problems.append(rules.RESOURCE_BROKEN.problem(f"{path.name}: {error.strerror}", location))
            except FormatError as error:
                self.problems += [
                    error.problem,
                    rules.RESOURCE_BROKEN.problem(f"{path.name} is left out", location),
                ]
            else:
                self.problems += scene.problems
                self._scenes[path] = scene
        return self._scenes[path]


def _find(node: SceneNode, transform: Floats, name: str) -> tuple[SceneNode, Floats] | None:
    """Return the node of that name or id, and its transform in the scene, from a node whose transform is known."""
    if name in (node.name, node.id):
        return node, transform
    below = (_find(child, transform @ child.transform, name) for child in node.children)
    return next((found for found in below if found is not None), None)


def asked_nodes(root: Node) -> dict[str, set[str]]:
    """Return the names of nodes that a document asks for, by uri."""
    asked: dict[str, set[str]] = {}
    seen: set[int] = set()
    stack: list[Node] = [root]
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, Sequence):
            stack += [] if node.long else node.items
        elif isinstance(node, Mapping):
            uri, name = node.items.get("uri"), node.items.get("node")
            if isinstance(uri, Scalar) and isinstance(name, Scalar):
                asked.setdefault(uri.value, set()).add(name.value)
            stack += node.items.values()
    return asked
