"""The <visual>, <collision> and <material> elements, in both directions."""

import math
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bodymotion.diagnostics import Diagnostics, Location, Severity, losses
from bodymotion.diagnostics.text import with_article
from bodymotion.formats.meshes.folder import MeshFolder
from bodymotion.formats.meshes.reading import MeshReader
from bodymotion.formats.renaming import Renamings
from bodymotion.formats.resources import (
    PART_MISSING,
    PART_OUTSIDE,
    PART_UNREADABLE,
    FoundFile,
    PackageFinder,
    ReferencedFiles,
)
from bodymotion.formats.rules import TOO_LARGE
from bodymotion.formats.urdf import rules
from bodymotion.formats.urdf.elements import add_origin, finite_numbers, read_origin
from bodymotion.formats.urdf.losses import LossReport, changed_fields
from bodymotion.formats.xml.tree import Element, number_text, valid_text
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.geometry.meshes import to_mesh, transformed
from bodymotion.geometry.shapes import (
    MAX_SHAPES,
    Box,
    Capsule,
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
from bodymotion.model.links import Link, Segment

# Rotates cylinders, which are along y here, to the direction of URDF: along z.
Y_TO_Z: Floats = frozen(
    [
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, -1.0, 0.0],
        [0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 1.0],
    ]
)


class Solid(NamedTuple):
    """How a solid is made, and the attributes with its sizes; none for `size`."""

    make: Callable[..., Geometry]
    attributes: tuple[str, ...] = ()


def _box(x: float, y: float, z: float) -> Box:
    return Box((x, y, z))


# By name of an element.
SOLIDS = {
    "box": Solid(_box),
    "cylinder": Solid(Cylinder, ("radius", "length")),
    "sphere": Solid(Sphere, ("radius",)),
    "capsule": Solid(Capsule, ("radius", "length")),
}
# How far the axes of a transform may be from orthogonal, and scales from equal. A solid
# under another transform is written as a mesh.
SQUARE_TOLERANCE = 1e-9
# How far scales that are 1 but for rounding are from 1: then a mesh has no scale.
UNIT_TOLERANCE = 4e-15
# Columns shorter than this one have no direction.
MIN_SCALE = 1e-150


class FileToRead(NamedTuple):
    """A file, and the loader of the files that it names itself."""

    path: Path
    loader: ReferencedFiles


def read_rgba(material: Element) -> tuple[float, float, float, float] | None:
    """Return red, green, blue and alpha in 0…1.

    None for a material without <color>.
    """
    color = material.first("color")
    if color is None:
        return None
    rgba = finite_numbers(color, "rgba", (3, 4), None)
    # A number that cannot be read was reported: the shape has the default colour.
    if any(map(math.isnan, rgba)):
        return None
    clipped = tuple(min(max(value, 0.0), 1.0) for value in rgba)
    if clipped != rgba:
        message = (
            f"rgba is {color.get('rgba')!r:.60}; expected numbers from 0 to 1: they "
            "are clipped"
        )
        color.report(rules.MATERIAL, message)
    # Three numbers have an alpha of 1.
    red, green, blue, alpha = (*clipped, 1.0)[:4]
    return red, green, blue, alpha


class ShapeReader:
    """Reads the shapes of links, with the materials and files of one model."""

    def __init__(
        self, robot: Element, files: PackageFinder, found: Diagnostics
    ) -> None:
        """Prepare to read shapes: find the materials that are defined in the model."""
        self.files = files
        self.found = found
        self.meshes = MeshReader(PART_UNREADABLE.as_error, found)
        self.images: dict[str, Location] = {}
        """By uri, where an image is named first."""
        self._files: dict[str, FileToRead | None] = {}
        self._loaders: dict[int, ReferencedFiles] = {}
        """By the id of a finder, the loader of the files that its files name."""
        self._defined = _defined_materials(robot)
        self._materials: dict[int, Material] = {}
        """By the id of an element."""
        self._count = 0

    def shapes(self, link: Element, kind: str) -> tuple[Shape, ...]:
        """Return the shapes of a link's <visual> or <collision> elements.

        They are in the frame of the link. A shape that cannot be read is left out.
        """
        shapes: list[Shape] = []
        for element in link.all(kind):
            shapes += self._read(element)
        return tuple(shapes)

    def _read(self, element: Element) -> list[Shape]:
        """Return the shapes of one element: several for a mesh file with several."""
        self._count += 1
        if self._count > MAX_SHAPES:
            message = f"the model has more than {MAX_SHAPES} shapes"
            raise TOO_LARGE.error(message, element.location)
        transform = poses.to_matrix(read_origin(element))
        material = self._material(element)
        geometry = element.first("geometry")
        if geometry is None or not geometry.children:
            element.lacks(rules.GEOMETRY, f"a <{element.name}> has no geometry")
            return []
        # URDF allows one geometry; others after it are ignored.
        solid = geometry.children[0]
        name = element.get("name")
        if solid.name == "mesh":
            return self._mesh(solid, transform, material, name)
        made = _read_solid(solid)
        if made is None:
            return []
        # Cylinders and capsules are along z in URDF, along y in a Body, as in VRML97.
        if not isinstance(made, (Box, Sphere)):
            transform = transform @ Y_TO_Z
        return [Shape(made, transform, material or Material(), name)]

    def _mesh(
        self, mesh: Element, transform: Floats, material: Material | None, name: str
    ) -> list[Shape]:
        """Return the shapes of a mesh file, under a transform (4, 4)."""
        scale = finite_numbers(mesh, "scale", (1, 3), (1.0, 1.0, 1.0))
        location = mesh.location_of("filename")
        file = self._file(mesh.get("filename"), location)
        if file is None:
            return []
        # Some files have one number for all axes; URDF has three.
        if len(scale) == 1:
            scale *= 3
        transform = transform @ np.diag([*scale, 1.0])
        return [
            Shape(
                shape.geometry,
                transform @ shape.transform,
                # A material in the URDF replaces that of the mesh file.
                material or shape.material,
                name or shape.name,
            )
            for shape in self.meshes.shapes(file.path, file.loader, location)
        ]

    def _file(self, uri: str, location: Location) -> FileToRead | None:
        """Return the file that a uri names, None where it cannot be opened."""
        if uri not in self._files:
            self._files[uri] = self._find(uri, location)
        return self._files[uri]

    def _find(self, uri: str, location: Location) -> FileToRead | None:
        """Return the file that a uri names; report one that cannot be opened."""
        file = self.files.find(uri)
        if isinstance(file, FoundFile):
            # One loader for each finder, so that a file named twice is opened once.
            loader = self._loaders.get(id(file.finder)) or ReferencedFiles(file.finder)
            self._loaders[id(file.finder)] = loader
            return FileToRead(file.path, loader)
        hint = ""
        severity: Severity = "error"
        if file.is_outside:
            hint = PART_OUTSIDE.hint
            # That a file outside is not opened is our own rule, not a fault of the
            # model.
            severity = "warning"
        if file.package:
            hint = rules.PACKAGE_PATHS
        message = file.reason
        if file.name:
            message = f"{file.name!r:.200} {file.reason}"
        self.found.report(
            PART_MISSING,
            message,
            location,
            hint=hint,
            severity=severity,
            data=file.data,
        )
        return None

    def _material(self, element: Element) -> Material | None:
        """Return the material of a shape.

        None where it has none or an unknown one.
        """
        material = element.first("material")
        if material is None:
            return None
        name = material.get("name")
        # A <material> with a name only refers to one that is defined elsewhere.
        if not _is_defined(material):
            if name not in self._defined:
                message = f"the material {name!r:.60} is not defined"
                material.report(rules.MATERIAL, message)
                return None
            material = self._defined[name]
        key = id(material)
        if key not in self._materials:
            self._materials[key] = self._read_material(material)
        return self._materials[key]

    def _read_material(self, element: Element) -> Material:
        """Return the material with the colour and the image of a <material>."""
        material = Material()
        rgba = read_rgba(element)
        if rgba is not None:
            material = replace(material, diffuse=rgba[:3], transparency=1.0 - rgba[3])
        texture = element.first("texture")
        if texture is None:
            return material
        uri = texture.get("filename")
        location = texture.location_of("filename")
        file = self._file(uri, location)
        if file is None:
            return material
        self.images.setdefault(uri, location)
        return replace(material, texture=Texture(file.path, uri))


def _defined_materials(robot: Element) -> dict[str, Element]:
    """Return the materials with content by name.

    The first of a name counts; those of the robot come before those of links.
    """
    materials = list(robot.all("material"))
    for link in robot.all("link"):
        for visual in link.all("visual"):
            materials += visual.all("material")
    defined: dict[str, Element] = {}
    for material in materials:
        if _is_defined(material):
            defined.setdefault(material.get("name"), material)
    return defined


def _is_defined(material: Element) -> bool:
    return bool(material.first("color") or material.first("texture"))


def _read_solid(solid: Element) -> Geometry | None:
    """Return a box, cylinder, sphere or capsule; None where its sizes are faulty."""
    if solid.name not in SOLIDS:
        expected = f"expected {', '.join(SOLIDS)}, mesh"
        message = f"<{solid.name:.60}> is no geometry of URDF: {expected}"
        solid.report(rules.GEOMETRY, message)
        return None
    make, attributes = SOLIDS[solid.name]
    # A box has `size` with three numbers, others have an attribute for each size.
    sizes = tuple(map(solid.number, attributes)) or solid.numbers("size", 3)
    if solid.faulty:
        return None
    if not all(np.isfinite(size) and size >= 0 for size in sizes):
        message = f"<{solid.name}> has a size of {min(sizes):g}; expected zero or more"
        solid.report(rules.SIZE, message)
        return None
    return make(*sizes)


class Placed(NamedTuple):
    """The element of a geometry, and its pose as a matrix (4, 4)."""

    element: Element
    pose: Floats


class Scaled(NamedTuple):
    """A rigid transform (4, 4) after a scale (3,) along the axes."""

    rigid: Floats
    scale: Floats


class ShapeWriter:
    """Makes the <visual> and <collision> elements of links.

    Collects their meshes and materials. Losses are added to `lost` and `renamed`.
    `prefix` is that of the paths of files, such as `package://NAME/`.
    """

    def __init__(
        self, folder: MeshFolder, prefix: str, lost: LossReport, renamed: Renamings
    ) -> None:
        self.folder = folder
        self.prefix = prefix
        self.lost = lost
        self.renamed = renamed
        self.materials: list[Element] = []
        self._names: dict[object, str] = {}

    def elements(self, link: Link, name: str) -> list[Element]:
        """Return the elements of a link called `name` in the file."""
        elements: list[Element] = []
        for segment in link.segments:
            for shape in segment.visuals:
                elements += self._elements("visual", shape, segment, name)
        for segment in link.segments:
            for shape in segment.collisions:
                collision = self._elements("collision", shape, segment, name)
                elements += collision
                # A mesh with colours has a material in its file.
                is_colored = (
                    isinstance(shape.geometry, Mesh)
                    and shape.geometry.colors is not None
                )
                if collision and (shape.material != Material() or is_colored):
                    message = "collisions have no material"
                    self.lost.add(losses.SURFACE.as_note, message, name)
        return elements

    def _elements(
        self, kind: str, shape: Shape, segment: Segment, link: str
    ) -> list[Element]:
        """Return the element of a shape, or none."""
        # URDF has no segments: shapes are in the frame of the link.
        placed = self._place(shape.moved(segment.transform), link)
        if placed is None:
            return []
        element = Element(kind)
        # Readers remove the white space around a name.
        name = valid_text(shape.name).strip()
        if name:
            element.attributes["name"] = name
        self.renamed.add("shape", shape.name, name)
        add_origin(element, placed.pose)
        element.add("geometry").children.append(placed.element)
        if kind == "visual":
            element.add("material", {"name": self.material(shape.material)})
        return [element]

    def _place(self, shape: Shape, link: str) -> Placed | None:
        """Return the geometry of a shape.

        None where it is left out, with a loss.
        """
        if isinstance(shape.geometry, (Lines, Points)):
            self.lost.add(losses.NOT_DRAWN, "lines and points are left out", link)
            return None
        if not np.isfinite(shape.transform).all():
            message = "shapes whose pose is not finite are left out"
            self.lost.add(losses.NOT_DRAWN, message, link)
            return None
        # URDF has poses, and scales of meshes only: a scale of a solid goes into its
        # sizes.
        scaled = split_scale(shape.transform)
        solid = None if scaled is None else _solid_element(shape.geometry, scaled)
        return solid or self._meshed(shape, scaled, link)

    def _meshed(self, shape: Shape, scaled: Scaled | None, link: str) -> Placed | None:
        """Return a shape as a mesh; a sheared or mirrored one is transformed."""
        mesh = to_mesh(shape.geometry)
        is_mesh = isinstance(shape.geometry, Mesh)
        if not is_mesh:
            kind = with_article(type(shape.geometry).__name__.lower())
            message = f"{kind} that URDF does not have becomes a mesh"
            self.lost.add(losses.MESHED, message, link)
        # <mesh> has no attribute for a shear, and a mirrored mesh would show its
        # inside.
        if scaled is None or (scaled.scale <= 0).any():
            if is_mesh:
                message = (
                    "a mesh is sheared or mirrored: the transformed mesh is in its file"
                )
                self.lost.add(losses.MESHED, message, link)
            mesh = transformed(mesh, shape.transform)
            scaled = Scaled(np.eye(4), np.ones(3))
        if not len(mesh.faces):
            message = "meshes without triangles are left out"
            self.lost.add(losses.NOT_DRAWN.as_note, message, link)
            return None
        if not np.isfinite(mesh.vertices).all():
            message = "meshes with vertices that are not finite are left out"
            self.lost.add(losses.NOT_DRAWN, message, link)
            return None
        path = self.folder.add(mesh, link, shape.material)
        if path is None:
            message = "no mesh files can be written beside a pipe or a terminal"
            self.lost.add(losses.NOT_DRAWN, message, link)
            return None
        attributes = {"filename": self.prefix + path}
        if (scaled.scale != 1.0).any():
            attributes["scale"] = number_text(scaled.scale)
        return Placed(Element("mesh", attributes), scaled.rigid)

    def material(self, material: Material) -> str:
        """Return the name of the <material> of a material.

        A new one is added.
        """
        texture = material.texture
        looks = [
            getattr(material, field.name)
            for field in fields(material)
            if field.name != "texture"
        ]
        # Equal materials are one element. Images are compared by file.
        key = (*looks, None if texture is None else str(texture.path))
        if key not in self._names:
            name = f"material_{len(self.materials)}"
            self._names[key] = name
            self.materials.append(self._material_element(material, name))
        return self._names[key]

    def _material_element(self, material: Material, name: str) -> Element:
        """Return the <material> of a material.

        What URDF does not have is a loss.
        """
        element = Element("material", {"name": name})
        rgba = [*material.diffuse, 1.0 - material.transparency]
        element.add("color", {"rgba": number_text(rgba)})
        if changed_fields(material, Material(), ("texture", "diffuse", "transparency")):
            message = "highlights and glow of materials are left out"
            self.lost.add(losses.SURFACE.as_note, message, name)
        texture = material.texture
        if texture is None:
            return element
        path = self.folder.image(texture)
        if path is not None:
            element.add("texture", {"filename": self.prefix + path})
        repeats = texture.repeat_s and texture.repeat_t
        if not (repeats and np.array_equal(texture.transform, np.eye(3))):
            message = "the transform and repetition of an image are only in the meshes"
            self.lost.add(losses.SURFACE.as_note, message, texture.path.name)
        return element


def split_scale(matrix: Floats) -> Scaled | None:
    """Return an affine transform (4, 4) as a scale and a rigid transform.

    None where it is no such transform. One that mirrors has a negative scale along z.
    """
    linear = matrix[:3, :3]
    # M = R·diag(scale): the columns of M are the scaled axes.
    scale = np.linalg.norm(linear, axis=0)
    if not (scale > MIN_SCALE).all():
        return None
    axes = linear / scale
    # RᵀR = 1 for a rotation or a mirror image; a sheared M has other entries.
    if np.abs(axes.T @ axes - np.eye(3)).max() > SQUARE_TOLERANCE:
        return None
    scale = np.where(np.abs(scale - 1.0) < UNIT_TOLERANCE, 1.0, scale)
    if np.linalg.det(axes) < 0:
        axes = axes * (1.0, 1.0, -1.0)
        scale = scale * (1.0, 1.0, -1.0)
    rigid = np.eye(4)
    rigid[:3, :3] = axes
    rigid[:3, 3] = matrix[:3, 3]
    return Scaled(rigid, scale)


def _solid_element(geometry: Geometry, scaled: Scaled) -> Placed | None:
    """Return a box, sphere or cylinder; None where URDF has no such solid."""
    # Solids are symmetric: a mirrored one is the same.
    x, y, z = np.abs(scaled.scale).tolist()
    is_round = _are_equal(x, z)
    if isinstance(geometry, Box):
        size = number_text(np.array(geometry.size) * (x, y, z))
        return Placed(Element("box", {"size": size}), scaled.rigid)
    if isinstance(geometry, Sphere) and is_round and _are_equal(x, y):
        radius = number_text(geometry.radius * x)
        return Placed(Element("sphere", {"radius": radius}), scaled.rigid)
    if not isinstance(geometry, Cylinder) or not is_round:
        return None
    # VRML97 may leave out parts of a cylinder, URDF cannot.
    if not (geometry.side and geometry.top and geometry.bottom):
        return None
    sizes = {
        "radius": number_text(geometry.radius * x),
        "length": number_text(geometry.height * y),
    }
    return Placed(Element("cylinder", sizes), scaled.rigid @ Y_TO_Z.T)


def _are_equal(scale: float, other: float) -> bool:
    return abs(scale - other) <= SQUARE_TOLERANCE * max(scale, other)
