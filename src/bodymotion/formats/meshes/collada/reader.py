"""Nodes, transforms and meshes of a COLLADA file."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bodymotion.formats.meshes.collada.elements import child, children, local, numbers
from bodymotion.formats.meshes.collada.materials import MaterialReader
from bodymotion.formats.meshes.collada.polygons import ended, polygon_corners
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats, frozen, frozen_ints
from bodymotion.geometry.meshes import triangulate
from bodymotion.geometry.shapes import Corners, Material, Mesh

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

__all__ = ["Part", "SceneNode", "read_collada"]

MOST_BYTES = 2 * 10**8
MOST_NODES = 100_000
DEEPEST = 60
SMOOTH = 0.5
"""[rad] Crease angle of a mesh without normals: rounded parts look round, edges stay edges."""


@dataclass(frozen=True)
class Part:
    """A mesh in one material; `image` is the path of its texture as the file writes it, "" for none."""

    mesh: Mesh
    material: Material
    image: str = ""


@dataclass(frozen=True)
class SceneNode:
    """A node of the scene: its `name` and `id`, its `transform` (4, 4) in the node above, what it shows itself, nodes below."""

    name: str
    id: str
    transform: Floats
    parts: tuple[Part, ...]
    children: tuple[SceneNode, ...]


def read_collada(path: Path) -> tuple[SceneNode, list[str]]:
    """Read a COLLADA file.

    Returns
    -------
    The scene as one node whose transform brings lengths to metres; and in words what could not be used.

    Raises
    ------
    ValueError
        When nothing can be made of the file; with the reason.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ValueError("the file is too large")
        root = ET.fromstring(path.read_bytes())
    except OSError as error:
        raise ValueError(error.strerror or str(error)) from error
    except ET.ParseError as error:
        raise ValueError(f"not XML: {error}") from error
    except (LookupError, UnicodeError) as error:
        raise ValueError(f"not XML: {error}") from error
    try:
        if local(root) != "COLLADA":
            raise ValueError("the file is no COLLADA")
        reader = _Reader(root)
        return reader.scene(), reader.remarks
    except (ArithmeticError, IndexError) as error:
        raise ValueError(str(error)) from error


class _Reader:
    def __init__(self, root: Element) -> None:
        self.root = root
        self.remarks: list[str] = []
        self.by_id = {name: element for element in root.iter() if (name := element.get("id"))}
        self.visited = 0
        self._meshes: dict[str, list[tuple[Mesh, str]]] = {}
        self.materials = MaterialReader(self.by_id, self.remarks)

    def at(self, url: str | None) -> Element | None:
        """Return the element that a url (#id) of this file means."""
        return self.by_id.get((url or "").removeprefix("#"))

    def scene(self) -> SceneNode:
        unit = child(self.root, "asset", "unit")
        try:
            meter = float("1" if unit is None else unit.get("meter", "1"))
        except ValueError:
            meter = 0.0
        if not (np.isfinite(meter) and meter > 0):
            self.remarks.append("its unit is no length: it is read as metres")
            meter = 1.0
        used = child(self.root, "scene", "instance_visual_scene")
        shown = self.at(used.get("url")) if used is not None else None
        if shown is None:
            shown = child(self.root, "library_visual_scenes", "visual_scene")
        nodes = [] if shown is None else list(self.nodes(shown, 0))
        if not nodes:
            raise ValueError("it has no scene with nodes")
        return SceneNode("", "", frozen(np.diag([meter, meter, meter, 1.0])), (), tuple(nodes))

    def nodes(self, above: Element, depth: int) -> Iterator[SceneNode]:
        for element in above:
            if local(element) == "node":
                yield self.node(element, depth)
            elif local(element) == "instance_node":
                target = self.at(element.get("url"))
                if target is None or local(target) != "node":
                    self.remarks.append(f"there is no node {element.get('url', '')!r:.60}")
                else:
                    yield self.node(target, depth)

    def node(self, element: Element, depth: int) -> SceneNode:
        self.visited += 1
        if depth > DEEPEST or self.visited > MOST_NODES:
            raise ValueError("it unfolds to too many nodes")
        parts = [part for instance in children(element, "instance_geometry") for part in self.parts(instance)]
        if next(children(element, "instance_controller"), None) is not None:
            self.remarks.append(f"the skin of node {element.get('name', '')!r:.60} is not read")
        return SceneNode(
            name=element.get("name", ""),
            id=element.get("id", ""),
            transform=self.transform(element),
            parts=tuple(parts),
            children=tuple(self.nodes(element, depth + 1)),
        )

    def transform(self, element: Element) -> Floats:
        """Multiply the transforms of a node, in the order of the file."""
        whole = np.eye(4)
        for part in element:
            step = np.eye(4)
            match local(part):
                case "matrix":
                    step = numbers(part, 16).reshape(4, 4)
                case "translate":
                    step[:3, 3] = numbers(part, 3)
                case "rotate":
                    x, y, z, angle = numbers(part, 4)
                    step[:3, :3] = rotations.to_matrix(rotations.from_axis_angle([x, y, z], np.radians(angle)))
                case "scale":
                    step[:3, :3] = np.diag(numbers(part, 3))
                case "lookat":
                    step = _look_at(numbers(part, 9).reshape(3, 3))
                case _:
                    continue
            with np.errstate(invalid="ignore", over="ignore"):
                whole = whole @ step
        if not np.isfinite(whole).all():
            raise ValueError(f"the place of node {element.get('name', '')!r:.60} is not finite")
        return frozen(whole)

    def parts(self, instance: Element) -> Iterator[Part]:
        url = instance.get("url", "")
        bound = {
            found.get("symbol", ""): found.get("target", "")
            for found in children(child(instance, "bind_material", "technique_common"), "instance_material")
        }
        if url not in self._meshes:
            geometry = self.at(url)
            try:
                self._meshes[url] = list(self.meshes(geometry))
            except (ValueError, IndexError, OverflowError) as error:
                self.remarks.append(f"geometry {url!r:.60}: {error}")
                self._meshes[url] = []
        self.visited += len(self._meshes[url])
        if self.visited > MOST_NODES:
            raise ValueError("it unfolds to too many meshes")
        for mesh, symbol in self._meshes[url]:
            # Files that bind nothing often name the material itself.
            material, image = self.materials.material(bound.get(symbol, symbol))
            yield Part(mesh, material, image)

    def meshes(self, geometry: Element | None) -> Iterator[tuple[Mesh, str]]:
        """Return the meshes of a geometry, one for each list of polygons, with the symbol of its material."""
        mesh = child(geometry, "mesh")
        if mesh is None:
            raise ValueError("there is no such mesh")
        for element in mesh:
            if local(element) in ("triangles", "polylist", "polygons", "tristrips", "trifans"):
                made = self.polygons(element)
                if made is not None:
                    yield made, element.get("material", "")

    def polygons(self, element: Element) -> Mesh | None:
        inputs: dict[str, tuple[int, str]] = {}
        for found in children(element, "input"):
            inputs.setdefault(found.get("semantic", ""), (int(found.get("offset", "0")), found.get("source", "")))
        width = 1 + max((offset for offset, _ in inputs.values()), default=0)
        offset, source = inputs.get("VERTEX", (0, ""))
        vertices = self.at(source)
        positions = next((i for i in children(vertices, "input") if i.get("semantic") == "POSITION"), None)
        points = self.source(positions.get("source") if positions is not None else None, 3)
        starts, corners = polygon_corners(element, width)
        index = corners[:, offset]
        triangles = triangulate(ended(starts, index), points)
        # Each polygon has one more place in the ended list than it has corners.
        place = triangles.corners - triangles.polygons[:, None]
        if not len(place):
            return None
        faces = index[place]
        finite: npt.NDArray[np.bool_] = np.isfinite(points)
        good = np.asarray(finite.all(axis=1))[faces].all(axis=1)
        faces, place = faces[good], place[good]
        if not len(faces):
            return None
        normals = self.corners(inputs.get("NORMAL"), corners, place, 3)
        if normals is None:
            inside = next((i for i in children(vertices, "input") if i.get("semantic") == "NORMAL"), None)
            normals = None if inside is None else self.corners((offset, inside.get("source", "")), corners, place, 3)
        return Mesh(
            vertices=np.where(finite, points, 0.0),
            faces=frozen_ints(faces),
            crease_angle=SMOOTH,
            normals=normals,
            texture_coordinates=self.corners(inputs.get("TEXCOORD"), corners, place, 2),
            two_sided=True,
        )

    def corners(
        self, given: tuple[int, str] | None, corners: npt.NDArray[np.int64], place: npt.NDArray[np.int64], width: int
    ) -> Corners | None:
        if given is None:
            return None
        values = self.source(given[1], width)
        which = corners[:, given[0]][place]
        if not len(values) or which.min() < 0 or which.max() >= len(values) or not np.isfinite(values).all():
            self.remarks.append("normals or texture coordinates do not fit their polygons: not used")
            return None
        return Corners(values, frozen_ints(which))

    def source(self, url: str | None, width: int) -> Floats:
        """Return the first `width` columns of a source."""
        element = self.at(url)
        values = numbers(child(element, "float_array"))
        accessor = child(element, "technique_common", "accessor")
        stride = int(accessor.get("stride", width)) if accessor is not None else width
        start = int(accessor.get("offset", "0")) if accessor is not None else 0
        if element is None or stride < width or start < 0:
            raise ValueError(f"the source {url!r:.60} is not there, or has too few numbers")
        values = values[start:]
        return values[: len(values) // stride * stride].reshape(-1, stride)[:, :width]


def _look_at(rows: Floats) -> Floats:
    eye, target, up = rows
    back = eye - target
    side = np.cross(up, back)
    if not side.any() or not back.any():
        raise ValueError("a <lookat> looks nowhere")
    back, side = back / np.linalg.norm(back), side / np.linalg.norm(side)
    matrix = np.eye(4)
    matrix[:3, :4] = np.stack([side, np.cross(back, side), back, eye], axis=1)
    return matrix
