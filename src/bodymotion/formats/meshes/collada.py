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
from typing import NamedTuple
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
MAX_INDEX = 2**31
# The exponent of Phong that is VRML97's shininess 1.
SHININESS_EXPONENT = 128.0
DEFAULT_SHININESS = 0.2
# Weights of red, green and blue in COLLADA's mode RGB_ZERO (ISO/CIE xyz).
LUMINANCE = [0.212671, 0.715160, 0.072169]
POLYGON_LISTS = ("triangles", "polylist", "polygons", "tristrips", "trifans")
MAX_NODES = 100_000
MAX_DEPTH = 60


def inside(element: Element, path: str) -> Element:
    """Return the first element on a path, an empty one for none."""
    found = element.find(path)
    return NOTHING if found is None else found


def numbers(element: Element, count: int | None = None) -> Floats:
    """Return the numbers in an element; `count` of them, or ValueError."""
    try:
        values = np.array((element.text or "").split(), dtype=np.float64)
    except ValueError as error:
        slip = number_slip(element.text or "")
        message = f"a <{element.tag}> has text that is not a number"
        raise ValueError(f"{message}: {slip}" if slip else message) from error
    if count is not None and len(values) != count:
        raise ValueError(f"a <{element.tag}> has {len(values)} numbers, not {count}")
    return values


def indices(text: str | None) -> Indices:
    """Return whole numbers from a text."""
    values = np.array((text or "").split(), dtype=np.float64)
    if not np.isfinite(values).all() or (np.abs(values) > MAX_INDEX).any():
        raise ValueError("an index is not an integer")
    return values.astype(np.int64)


class Polygons(NamedTuple):
    """Polygons, one after another.

    Attributes
    ----------
    counts:
        (P,) The number of corners of each.
    corners:
        (N, width) The indices of all corners.
    """

    counts: Indices
    corners: Indices


def polygon_corners(element: Element, width: int) -> Polygons:
    """Return the polygons of a list, whose corners have `width` indices."""
    lists = []
    # A polygon with holes is a <ph>: its outline is read, its holes are not.
    for path in ("p", "ph/p"):
        for element_of_list in element.findall(path):
            values = indices(element_of_list.text)
            rows = len(values) // width
            lists.append(values[: rows * width].reshape(-1, width))
    if element.tag in ("tristrips", "trifans"):
        lists = [_separate_triangles(strip, element.tag) for strip in lists]
    corners = np.concatenate([np.zeros((0, width), dtype=np.int64), *lists])
    if element.tag == "polygons":
        counts = np.array([len(polygon) for polygon in lists], dtype=np.int64)
        return Polygons(counts, corners)
    if element.tag == "polylist":
        counts = indices(element.findtext("vcount"))
        if (counts < 0).any() or counts.sum() > len(corners):
            raise ValueError("vcount does not fit the corners")
        return Polygons(counts, corners[: counts.sum()])
    # <triangles>, and strips and fans that were taken apart above.
    num_triangles = len(corners) // 3
    counts = np.full(num_triangles, 3, dtype=np.int64)
    return Polygons(counts, corners[: 3 * num_triangles])


def _separate_triangles(strip: Indices, kind: str) -> Indices:
    """Return the corners of the triangles of a strip or a fan."""
    # n corners make n − 2 triangles: triangle k has the corners k, k + 1, k + 2.
    first = np.arange(max(len(strip) - 2, 0))
    if kind == "tristrips":
        # Every second triangle of a strip has its corners in reverse order.
        is_odd = first % 2
        corners = (first, first + 1 + is_odd, first + 2 - is_odd)
    else:
        corners = (np.zeros_like(first), first + 1, first + 2)
    return strip[np.stack(corners, axis=1).reshape(-1)]


def triangle_corners(
    counts: Indices, index: Indices, points: Floats
) -> tuple[Indices, Indices]:
    """Return the corners (F, 3) of the triangles of polygons.

    And the polygon (F,) of each triangle.

    The corners are places in `index` (N,), the vertices of polygons of `counts`
    corners. Polygons with an index that is no vertex, and triangles with a corner that
    is not finite, are left out.
    """
    # An index below 0 is no vertex; −1 would end the polygon.
    valid = np.where(index < 0, MAX_INDEX - 1, index)
    terminated = np.insert(valid, np.cumsum(counts), -1)
    triangles = triangulate(terminated, points)
    # Each polygon has one more entry in the terminated list than it has corners.
    entries = triangles.corners - triangles.polygons[:, None]
    is_finite = np.asarray(np.isfinite(points).all(axis=1))
    is_good = is_finite[index[entries]].all(axis=1)
    return entries[is_good], triangles.polygons[is_good]


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
    """Return the parts of a node and of those below.

    With the transforms and names of their nodes.

    The node is at a transform (4, 4). Nodes below it whose name or id is in `left_out`
    are passed over.
    """
    for part in node.parts:
        yield part, transform, node.name
    for child in node.children:
        if child.name not in left_out and child.id not in left_out:
            yield from placed_parts(child, transform @ child.transform, left_out)


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


class _Surface(NamedTuple):
    """A material, and the path of its image, "" for none."""

    material: Material
    image: str = ""


class _Input(NamedTuple):
    """Which of the indices of a corner is that of a source."""

    offset: int
    source: str


class _Reader:
    def __init__(self, root: Element) -> None:
        self.root = root
        self.remarks: list[str] = []
        self.visited = 0
        """Nodes and meshes so far."""
        self.by_id: dict[str, Element] = {}
        for element in root.iter():
            if element.get("id"):
                self.by_id[element.get("id", "")] = element
        self._meshes: dict[str, list[tuple[Mesh, str]]] = {}
        self._surfaces: dict[str, _Surface] = {}

    def at(self, url: str) -> Element:
        """Return the element that a url (#id) of this file means.

        An empty one where there is none.
        """
        # A url of another file (FILE#id) is not followed: no id has a "#".
        return self.by_id.get(url.removeprefix("#"), NOTHING)

    def surface(self, target: str) -> _Surface:
        """Return a material by its id."""
        if target not in self._surfaces:
            instance = inside(self.at(target), "instance_effect")
            effect = self.at(instance.get("url", ""))
            try:
                surface = self.effect(inside(effect, "profile_COMMON"))
            except ValueError as error:
                self.remarks.append(f"material {target!r:.60}: {error}")
                surface = _Surface(Material())
            self._surfaces[target] = surface
        return self._surfaces[target]

    def effect(self, common: Element) -> _Surface:
        """Return the surface of an effect: the first shading of its technique."""
        for shading in inside(common, "technique"):
            if shading.tag in ("phong", "blinn", "lambert", "constant"):
                return self.shading(shading, common)
        return _Surface(Material())

    def shading(self, shading: Element, common: Element) -> _Surface:
        """Read a Phong, Blinn, Lambert or constant shading."""
        texture = shading.find("diffuse/texture")
        # An image is not tinted.
        default = Material().diffuse if texture is None else (1.0, 1.0, 1.0)
        shininess = DEFAULT_SHININESS
        # COLLADA has Phong's exponent, VRML97 a share of 0 to 1.
        exponent = numbers(inside(shading, "shininess/float"))
        if len(exponent) and np.isfinite(exponent[0]):
            shininess = float(np.clip(exponent[0] / SHININESS_EXPONENT, 0.0, 1.0))
        material = Material(
            diffuse=_color(shading, "diffuse", default),
            specular=_color(shading, "specular", (0.0, 0.0, 0.0)),
            emissive=_color(shading, "emission", (0.0, 0.0, 0.0)),
            shininess=shininess,
            transparency=_transparency(shading),
        )
        if texture is None:
            return _Surface(material)
        return _Surface(material, self.image(texture.get("texture", ""), common))

    def image(self, name: str, common: Element) -> str:
        """Return the path of the image that a sampler means.

        Some files name the image itself.
        """
        parameters = {
            parameter.get("sid", ""): parameter
            for parameter in common.findall("newparam")
        }
        # COLLADA 1.4: texture → sampler2D → surface → image. 1.5: sampler2D →
        # instance_image → image, and the path is in <ref>.
        sampler = inside(parameters.get(name, NOTHING), "sampler2D")
        surface = parameters.get(sampler.findtext("source", "").strip(), NOTHING)
        of_surface = surface.findtext("surface/init_from", name)
        target = inside(sampler, "instance_image").get("url", of_surface)
        start = inside(self.at(target.strip()), "init_from")
        return start.findtext("ref", start.text or "").strip()

    def scene(self) -> SceneNode:
        """Return the scene that is shown, else the first one of the library."""
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

    def nodes(self, parent: Element, depth: int) -> Iterator[SceneNode]:
        for element in parent:
            if element.tag == "node":
                yield self.node(element, depth)
            elif element.tag == "instance_node":
                url = element.get("url", "")
                target = self.at(url)
                if target.tag == "node":
                    yield self.node(target, depth)
                else:
                    self.remarks.append(f"there is no node {url!r:.60}")

    def node(self, element: Element, depth: int) -> SceneNode:
        """Read a node with its meshes and the nodes below it."""
        # <instance_node> may refer to a node above it: depth and number are limited, or
        # a small file would expand without end.
        self.visited += 1
        if depth > MAX_DEPTH or self.visited > MAX_NODES:
            raise ValueError("the scene expands to too many nodes")
        parts: list[Part] = []
        for instance in element.findall("instance_geometry"):
            parts += self.parts(instance)
        name = element.get("name", "")
        if element.find("instance_controller") is not None:
            self.remarks.append(f"the skin of node {name!r:.60} is not read")
        return SceneNode(
            name=name,
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
                # The first transform is the outermost one.
                whole = whole @ step
        if not np.isfinite(whole).all():
            raise ValueError(
                f"the transform of node {element.get('name', '')!r:.60} is not finite"
            )
        return frozen(whole)

    def parts(self, instance: Element) -> Iterator[Part]:
        """Return the meshes of an <instance_geometry> in their materials."""
        url = instance.get("url", "")
        # Polygons name their material by a symbol; each instance of the geometry binds
        # symbols to materials.
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
        # A mesh is read once, and may be shown very often.
        self.visited += len(self._meshes[url])
        if self.visited > MAX_NODES:
            raise ValueError("the scene expands to too many meshes")
        for mesh, symbol in self._meshes[url]:
            # Files without bindings often name the material itself.
            surface = self.surface(bound.get(symbol, symbol))
            yield Part(mesh, surface.material, surface.image)

    def meshes(self, geometry: Element) -> Iterator[tuple[Mesh, str]]:
        """Return the meshes of a geometry, with the symbols of their materials.

        One for each list of polygons.
        """
        mesh = geometry.find("mesh")
        if mesh is None:
            raise ValueError("there is no such mesh in the file")
        for element in mesh:
            if element.tag in POLYGON_LISTS:
                polygons = self.polygons(element)
                if polygons is not None:
                    yield polygons, element.get("material", "")

    def polygons(self, element: Element) -> Mesh | None:
        """Return the triangles of a list of polygons, None where it has none."""
        inputs: dict[str, _Input] = {}
        for each in element.findall("input"):
            offset = int(each.get("offset", "0"))
            semantic = each.get("semantic", "")
            inputs.setdefault(semantic, _Input(offset, each.get("source", "")))
        # Each corner has `width` indices; several inputs may share one.
        width = 1 + max((each.offset for each in inputs.values()), default=0)
        # The inputs of <vertices> have the index of the vertex.
        vertex = inputs.get("VERTEX", _Input(0, ""))
        for each in self.at(vertex.source).findall("input"):
            semantic = each.get("semantic", "")
            inputs.setdefault(semantic, _Input(vertex.offset, each.get("source", "")))
        points = self.source(inputs.get("POSITION", _Input(0, "")).source, 3)
        counts, corners = polygon_corners(element, width)
        index = corners[:, vertex.offset]
        entries, _ = triangle_corners(counts, index, points)
        if not len(entries):
            return None
        # (F, 3, width) All indices of the corners of triangles.
        of_triangles = corners[entries]
        return Mesh(
            vertices=np.where(np.isfinite(points), points, 0.0),
            faces=frozen_ints(index[entries]),
            crease_angle=DEFAULT_CREASE_ANGLE,
            normals=self.corners(inputs.get("NORMAL"), of_triangles, 3),
            texture_coordinates=self.corners(inputs.get("TEXCOORD"), of_triangles, 2),
            two_sided=True,
        )

    def corners(
        self, origin: _Input | None, corners: Indices, width: int
    ) -> Corners | None:
        """Return an attribute of the corners of triangles (F, 3, N).

        None where the file has none that fits.
        """
        if origin is None:
            return None
        values = self.source(origin.source, width)
        index = corners[:, :, origin.offset]
        is_index = index.min() >= 0 and index.max() < len(values)
        if is_index and np.isfinite(values).all():
            return Corners(values, frozen_ints(index))
        self.remarks.append(
            "normals or texture coordinates do not fit their polygons: not used"
        )
        return None

    def source(self, url: str, width: int) -> Floats:
        """Return the rows of a source, the first `width` numbers of each."""
        element = self.at(url)
        accessor = inside(element, "technique_common/accessor")
        stride = int(accessor.get("stride", width))
        start = int(accessor.get("offset", "0"))
        if element is NOTHING or stride < width or start < 0:
            raise ValueError(
                f"the source {url!r:.60} does not exist, or has too few numbers"
            )
        # Rows of `stride` numbers; an accessor may use only the first of each.
        values = numbers(inside(element, "float_array"))[start:]
        rows = len(values) // stride
        return values[: rows * stride].reshape(-1, stride)[:, :width]


def _color(
    shading: Element, name: str, default: tuple[float, float, float]
) -> tuple[float, float, float]:
    color = shading.find(f"{name}/color")
    if color is None:
        return default
    channels = np.nan_to_num(numbers(color)[:3])
    red, green, blue = np.clip(channels, 0.0, 1.0).tolist()
    return red, green, blue


def _transparency(shading: Element) -> float:
    """Return the transparency of a material.

    It is the alpha of `transparent`, or the inverted luminance of its colour.
    """
    transparent = shading.find("transparent")
    # Without `opaque` the mode is A_ONE: alpha 1 is opaque. In RGB_ZERO black is
    # opaque.
    factor = float((*numbers(inside(shading, "transparency/float")), 1.0)[0])
    color = np.ones(4)
    mode = ""
    if transparent is not None:
        color = numbers(inside(transparent, "color"))
        mode = transparent.get("opaque", "")
    if len(color) < 4 or not np.isfinite(color).all() or not np.isfinite(factor):
        return 0.0
    opacity = factor * float(color[3])
    if mode == "RGB_ZERO":
        opacity = 1.0 - factor * float(color[:3] @ LUMINANCE)
    # Many programs write 0 for "not transparent", so 0 is read as opaque.
    if opacity > 0:
        return float(np.clip(1.0 - opacity, 0.0, 1.0))
    return 0.0


def _look_at(rows: Floats) -> Floats:
    """Return the transform (4, 4) of a <lookat>: eye, target and up (3, 3)."""
    eye, target, up = rows
    # A camera of COLLADA looks along −z: z points from the target to the eye.
    back = eye - target
    side = np.cross(up, back)
    if not side.any() or not back.any():
        raise ValueError("a <lookat> has no direction")
    back = back / np.linalg.norm(back)
    side = side / np.linalg.norm(side)
    matrix = np.eye(4)
    matrix[:3, :4] = np.stack([side, np.cross(back, side), back, eye], axis=1)
    return matrix
