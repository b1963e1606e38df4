"""Scenes in COLLADA files (.dae), of the versions 1.4 and 1.5.

Nodes, meshes, plain materials.

What the files of robots use of it::

    <COLLADA> <asset> <unit meter="0.001"/> </asset>
      <library_effects> <effect id> … <phong> <diffuse> <color> | <texture
      texture="SAMPLER"/> … <library_materials> <material id> <instance_effect
      url="#…"/> <library_geometries> <geometry id> <mesh> <source id> … <vertices id> …
                           <triangles> | <polylist> | <polygons> | <tristrips> |
                           <trifans>
      <library_visual_scenes> <visual_scene id> <node id name> <matrix> | <translate> |
      <rotate> | <scale>, <instance_geometry>, <node> … <scene> <instance_visual_scene
      url="#…"/>

Lengths are converted to metres. `up_axis` is ignored: robot models use the coordinates
of such files as they are. Skins, lights and cameras are not read. Only the
file itself is opened.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from bodymotion.diagnostics.spelling import number_slip
from bodymotion.formats.meshes import DEFAULT_CREASE_ANGLE
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats, Indices, frozen, frozen_ints
from bodymotion.geometry.meshes import triangulate
from bodymotion.geometry.shapes import Corners, Material, Mesh

NOTHING = ET.Element("")

MAX_BYTES = 2 * 10**8
MAX_NODES = 100_000
MAX_DEPTH = 60


def inside(element: Element, path: str) -> Element:
    """Return the first element on a path of names, an empty one where there is none."""
    found = element.find(path)
    return NOTHING if found is None else found


def numbers(element: Element, count: int | None = None) -> Floats:
    """Return the numbers in an element; `count` of them, or ValueError."""
    try:
        values = np.array((element.text or "").split(), dtype=np.float64)
    except ValueError as error:
        slip = number_slip(element.text or "")
        raise ValueError(
            f"a <{element.tag}> has text that is not a "
            f"number{f': {slip}' if slip else ''}"
        ) from error
    if count is not None and len(values) != count:
        raise ValueError(f"a <{element.tag}> has {len(values)} numbers, not {count}")
    return values


def indices(text: str | None) -> Indices:
    """Return whole numbers from a text."""
    values = np.array((text or "").split(), dtype=np.float64)
    if not np.isfinite(values).all() or (np.abs(values) > 2**31).any():
        raise ValueError("an index is not an integer")
    return values.astype(np.int64)


def polygon_corners(element: Element, width: int) -> tuple[Indices, Indices]:
    """Return the number of corners of each polygon, and the indices (N, width) of all corners, one polygon after another."""
    lists = [indices(p.text) for path in ("p", "ph/p") for p in element.findall(path)]
    lists = [
        values[: len(values) // width * width].reshape(-1, width) for values in lists
    ]
    kind = element.tag
    if kind in ("tristrips", "trifans"):
        for k, strip in enumerate(lists):
            first = np.arange(max(len(strip) - 2, 0))
            odd = first % 2
            in_strip = (first, first + 1 + odd, first + 2 - odd)
            in_fan = (np.zeros_like(first), first + 1, first + 2)
            lists[k] = strip[
                np.stack(in_strip if kind == "tristrips" else in_fan, axis=1).reshape(
                    -1
                )
            ]
    corners = np.concatenate([np.zeros((0, width), dtype=np.int64), *lists])
    if kind == "polygons":
        return np.array([len(polygon) for polygon in lists], dtype=np.int64), corners
    if kind == "polylist":
        counts = indices(element.findtext("vcount"))
        if (counts < 0).any() or counts.sum() > len(corners):
            raise ValueError("vcount does not fit the corners")
        return counts, corners[: counts.sum()]
    return np.full(len(corners) // 3, 3, dtype=np.int64), corners[
        : len(corners) // 3 * 3
    ]


def triangle_corners(
    counts: Indices, index: Indices, points: Floats
) -> tuple[Indices, Indices]:
    """Return where the corners (F, 3) of triangles are in the `index` (N,) of polygons of `counts` corners, and their polygons (F,).

    Polygons with an index that is no vertex, and triangles with a corner that is not
    finite, are left out.
    """
    found = triangulate(
        np.insert(np.where(index < 0, 2**31 - 1, index), np.cumsum(counts), -1), points
    )
    # Each polygon has one more entry in the terminated list than it has corners.
    entries = found.corners - found.polygons[:, None]
    good = np.asarray(np.isfinite(points).all(axis=1))[index[entries]].all(axis=1)
    return entries[good], found.polygons[good]


@dataclass(frozen=True)
class Part:
    """A mesh in one material.

    `image` is the path of its texture as the file writes it, "" for none.
    """

    mesh: Mesh
    material: Material
    image: str = ""


@dataclass(frozen=True)
class SceneNode:
    """A node of the scene.

    Its `name` and `id`, its `transform` (4, 4) in the node above, its own `parts`, and
    the nodes below.
    """

    name: str
    id: str
    transform: Floats
    parts: tuple[Part, ...]
    children: tuple[SceneNode, ...]


def placed_parts(
    node: SceneNode, transform: Floats, left_out: Collection[str] = ()
) -> Iterator[tuple[Part, Floats, str]]:
    """Return the parts of a node at a transform (4, 4) and of those below it, with their transforms and the names of their nodes.

    Nodes below it whose name or id is in `left_out` are passed over.
    """
    yield from ((part, transform, node.name) for part in node.parts)
    for below in node.children:
        if below.name not in left_out and below.id not in left_out:
            yield from placed_parts(below, transform @ below.transform, left_out)


def read_collada(path: Path) -> tuple[SceneNode, list[str]]:
    """Read a COLLADA file.

    Returns
    -------
    The scene as one node whose transform brings lengths to metres; and as text what
    could not be used.

    Raises
    ------
    ValueError
        When the file cannot be read; the message is the reason.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ValueError("the file is too large")
        root = ET.fromstring(path.read_bytes())
    except OSError as error:
        raise ValueError(error.strerror or str(error)) from error
    except (ET.ParseError, LookupError, UnicodeError) as error:
        raise ValueError(f"not XML: {error}") from error
    for element in root.iter():
        # The versions differ in the namespace only.
        element.tag = element.tag.rpartition("}")[2]
    try:
        if root.tag != "COLLADA":
            raise ValueError("the root element is not <COLLADA>")
        reader = _Reader(root)
        return reader.scene(), reader.remarks
    except (ArithmeticError, IndexError) as error:
        raise ValueError(str(error)) from error


class _Reader:
    def __init__(self, root: Element) -> None:
        self.root = root
        self.remarks: list[str] = []
        self.visited = 0
        self._meshes: dict[str, list[tuple[Mesh, str]]] = {}
        self.by_id = {
            name: element for element in root.iter() if (name := element.get("id"))
        }
        self._materials: dict[str, tuple[Material, str]] = {}

    def at(self, url: str) -> Element:
        """Return the element that a url (#id) of this file means, an empty one where there is none."""
        return self.by_id.get(url.removeprefix("#"), NOTHING)

    def material(self, target: str) -> tuple[Material, str]:
        """Return a material by its id, and the path of its image, "" for none."""
        if target not in self._materials:
            effect = self.at(inside(self.at(target), "instance_effect").get("url", ""))
            try:
                self._materials[target] = self.effect(inside(effect, "profile_COMMON"))
            except ValueError as error:
                self.remarks.append(f"material {target!r:.60}: {error}")
                self._materials[target] = (Material(), "")
        return self._materials[target]

    def effect(self, common: Element) -> tuple[Material, str]:
        kinds = ("phong", "blinn", "lambert", "constant")
        shading = next(
            (found for found in inside(common, "technique") if found.tag in kinds), None
        )
        if shading is None:
            return Material(), ""

        def color(
            name: str, default: tuple[float, float, float]
        ) -> tuple[float, float, float]:
            found = shading.find(f"{name}/color")
            if found is None:
                return default
            red, green, blue = np.clip(
                np.nan_to_num(numbers(found)[:3]), 0.0, 1.0
            ).tolist()
            return red, green, blue

        texture = shading.find("diffuse/texture")
        shine = numbers(inside(shading, "shininess/float"))
        material = Material(
            diffuse=color(
                "diffuse",
                (1.0, 1.0, 1.0) if texture is not None else Material().diffuse,
            ),
            specular=color("specular", (0.0, 0.0, 0.0)),
            emissive=color("emission", (0.0, 0.0, 0.0)),
            shininess=float(np.clip(shine[0] / 128.0, 0.0, 1.0))
            if len(shine) and np.isfinite(shine[0])
            else 0.2,
            transparency=self.transparency(shading),
        )
        return material, "" if texture is None else self.image(
            texture.get("texture", ""), common
        )

    def transparency(self, shading: Element) -> float:
        """Return the transparency: of `transparent` the alpha, or the inverted luminance of its colour."""
        found = shading.find("transparent")
        factor = float((*numbers(inside(shading, "transparency/float")), 1.0)[0])
        if found is not None:
            color = numbers(inside(found, "color"))
        else:
            color = np.ones(4)
        if len(color) < 4 or not np.isfinite(color).all() or not np.isfinite(factor):
            return 0.0
        if found is not None and found.get("opaque") == "RGB_ZERO":
            opacity = 1.0 - factor * float(color[:3] @ [0.212671, 0.715160, 0.072169])
        else:
            opacity = factor * float(color[3])
        # Many programs write 0 for "not transparent", so 0 is read as opaque.
        if opacity > 0:
            return float(np.clip(1.0 - opacity, 0.0, 1.0))
        return 0.0

    def image(self, name: str, common: Element) -> str:
        """Return the path of the image that a sampler means.

        Some files name the image itself.
        """
        parameters = {
            found.get("sid", ""): found for found in common.findall("newparam")
        }
        sampler = inside(parameters.get(name, NOTHING), "sampler2D")
        surface = parameters.get(sampler.findtext("source", "").strip(), NOTHING)
        name = inside(sampler, "instance_image").get(
            "url", surface.findtext("surface/init_from", name)
        )
        start = inside(self.at(name.strip()), "init_from")
        return start.findtext("ref", start.text or "").strip()

    def scene(self) -> SceneNode:
        try:
            meter = float(inside(self.root, "asset/unit").get("meter", "1"))
        except ValueError:
            meter = 0.0
        if not (np.isfinite(meter) and meter > 0):
            self.remarks.append(
                "the unit is not a positive length; lengths are read as metres"
            )
            meter = 1.0
        used = self.at(inside(self.root, "scene/instance_visual_scene").get("url", ""))
        if used is NOTHING:
            used = inside(self.root, "library_visual_scenes/visual_scene")
        nodes = tuple(self.nodes(used, 0))
        if not nodes:
            raise ValueError("the file has no scene with nodes")
        return SceneNode("", "", frozen(np.diag([meter, meter, meter, 1.0])), (), nodes)

    def nodes(self, above: Element, depth: int) -> Iterator[SceneNode]:
        for element in above:
            if element.tag == "node":
                yield self.node(element, depth)
            elif element.tag == "instance_node":
                target = self.at(element.get("url", ""))
                if target.tag != "node":
                    self.remarks.append(
                        f"there is no node {element.get('url', '')!r:.60}"
                    )
                else:
                    yield self.node(target, depth)

    def node(self, element: Element, depth: int) -> SceneNode:
        self.visited += 1
        if depth > MAX_DEPTH or self.visited > MAX_NODES:
            raise ValueError("the scene expands to too many nodes")
        parts = [
            part
            for instance in element.findall("instance_geometry")
            for part in self.parts(instance)
        ]
        if element.find("instance_controller") is not None:
            self.remarks.append(
                f"the skin of node {element.get('name', '')!r:.60} is not read"
            )
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
            match part.tag:
                case "matrix":
                    step = numbers(part, 16).reshape(4, 4)
                case "translate":
                    step[:3, 3] = numbers(part, 3)
                case "rotate":
                    x, y, z, angle = numbers(part, 4)
                    step[:3, :3] = rotations.to_matrix(
                        rotations.from_axis_angle([x, y, z], np.radians(angle))
                    )
                case "scale":
                    step[:3, :3] = np.diag(numbers(part, 3))
                case "lookat":
                    step = _look_at(numbers(part, 9).reshape(3, 3))
                case _:
                    continue
            with np.errstate(invalid="ignore", over="ignore"):
                whole = whole @ step
        if not np.isfinite(whole).all():
            raise ValueError(
                f"the transform of node {element.get('name', '')!r:.60} is not finite"
            )
        return frozen(whole)

    def parts(self, instance: Element) -> Iterator[Part]:
        url = instance.get("url", "")
        bound = {
            found.get("symbol", ""): found.get("target", "")
            for found in instance.findall(
                "bind_material/technique_common/instance_material"
            )
        }
        if url not in self._meshes:
            try:
                self._meshes[url] = list(self.meshes(self.at(url)))
            except (ValueError, IndexError, OverflowError) as error:
                self.remarks.append(f"geometry {url!r:.60}: {error}")
                self._meshes[url] = []
        self.visited += len(self._meshes[url])
        if self.visited > MAX_NODES:
            raise ValueError("the scene expands to too many meshes")
        for mesh, symbol in self._meshes[url]:
            # Files without bindings often name the material itself.
            material, image = self.material(bound.get(symbol, symbol))
            yield Part(mesh, material, image)

    def meshes(self, geometry: Element) -> Iterator[tuple[Mesh, str]]:
        """Return the meshes of a geometry, one for each list of polygons, with the symbol of its material."""
        mesh = geometry.find("mesh")
        if mesh is None:
            raise ValueError("there is no such mesh in the file")
        for element in mesh:
            if element.tag in (
                "triangles",
                "polylist",
                "polygons",
                "tristrips",
                "trifans",
            ):
                made = self.polygons(element)
                if made is not None:
                    yield made, element.get("material", "")

    def polygons(self, element: Element) -> Mesh | None:
        inputs: dict[str, tuple[int, str]] = {}
        for found in element.findall("input"):
            inputs.setdefault(
                found.get("semantic", ""),
                (int(found.get("offset", "0")), found.get("source", "")),
            )
        width = 1 + max((offset for offset, _ in inputs.values()), default=0)
        offset, source = inputs.get("VERTEX", (0, ""))
        for found in self.at(source).findall("input"):
            inputs.setdefault(
                found.get("semantic", ""), (offset, found.get("source", ""))
            )
        points = self.source(inputs.get("POSITION", (0, ""))[1], 3)
        starts, corners = polygon_corners(element, width)
        index = corners[:, offset]
        entries, _ = triangle_corners(starts, index, points)
        if not len(entries):
            return None
        return Mesh(
            vertices=np.where(np.isfinite(points), points, 0.0),
            faces=frozen_ints(index[entries]),
            crease_angle=DEFAULT_CREASE_ANGLE,
            normals=self.corners(inputs.get("NORMAL"), corners, entries, 3),
            texture_coordinates=self.corners(
                inputs.get("TEXCOORD"), corners, entries, 2
            ),
            two_sided=True,
        )

    def corners(
        self,
        origin: tuple[int, str] | None,
        corners: Indices,
        entries: Indices,
        width: int,
    ) -> Corners | None:
        if origin is None:
            return None
        values = self.source(origin[1], width)
        which = corners[:, origin[0]][entries]
        if (
            not len(values)
            or which.min() < 0
            or which.max() >= len(values)
            or not np.isfinite(values).all()
        ):
            self.remarks.append(
                "normals or texture coordinates do not fit their polygons: not used"
            )
            return None
        return Corners(values, frozen_ints(which))

    def source(self, url: str, width: int) -> Floats:
        element = self.at(url)
        accessor = inside(element, "technique_common/accessor")
        stride = int(accessor.get("stride", width))
        start = int(accessor.get("offset", "0"))
        if element is NOTHING or stride < width or start < 0:
            raise ValueError(
                f"the source {url!r:.60} does not exist, or has too few numbers"
            )
        values = numbers(inside(element, "float_array"))[start:]
        return values[: len(values) // stride * stride].reshape(-1, stride)[:, :width]


def _look_at(rows: Floats) -> Floats:
    eye, target, up = rows
    back = eye - target
    side = np.cross(up, back)
    if not side.any() or not back.any():
        raise ValueError("a <lookat> has no direction")
    back = back / np.linalg.norm(back)
    side = side / np.linalg.norm(side)
    matrix = np.eye(4)
    matrix[:3, :4] = np.stack([side, np.cross(back, side), back, eye], axis=1)
    return matrix
