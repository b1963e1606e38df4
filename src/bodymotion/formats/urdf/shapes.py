"""The <visual>, <collision> and <material> elements, in both directions."""

import math
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path

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
from bodymotion.formats.urdf.extension import LossReport
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
from bodymotion.model.links import Link

Y_TO_Z: Floats = frozen(
    [
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, -1.0, 0.0],
        [0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 1.0],
    ]
)
"""Rotates cylinders, which are along y here, to the direction of URDF: along z."""

SOLIDS: dict[str, tuple[Callable[..., Geometry], tuple[str, ...]]] = {
    "box": (lambda *size: Box(size), ()),
    "cylinder": (Cylinder, ("radius", "length")),
    "sphere": (Sphere, ("radius",)),
    "capsule": (Capsule, ("radius", "length")),
}
"""By name of an element, what is made of its sizes, and the attributes that have these.

Without such it is `size`.
"""
SQUARE_TOLERANCE = 1e-9  # How far the axes of a transform may be from orthogonal, and scales from equal, for a solid to be written as one.


def read_rgba(material: Element) -> tuple[float, float, float, float] | None:
    """Return red, green, blue and alpha in 0…1 of a material's <color>.

    None without.
    """
    color = material.first("color")
    if color is None:
        return None
    rgba = finite_numbers(color, "rgba", (3, 4), None)
    if any(map(math.isnan, rgba)):
        return None
    clipped = tuple(min(max(value, 0.0), 1.0) for value in rgba)
    if clipped != rgba:
        message = f"rgba is {color.get('rgba')!r:.60}; expected numbers from 0 to 1: they are clipped"
        color.report(rules.MATERIAL, message)
    red, green, blue, alpha = (*clipped, 1.0)[:4]
    return red, green, blue, alpha


class ShapeReader:
    """Reads the shapes of links, with the materials and files of one model."""

    def __init__(
        self, robot: Element, files: PackageFinder, found: Diagnostics
    ) -> None:
        self.files = files
        self.found = found
        self._files: dict[str, tuple[Path, ReferencedFiles] | None] = {}
        self._loaders: dict[int, ReferencedFiles] = {}
        """By the id of a finder, the loader of the files that its files name."""
        self.meshes = MeshReader(PART_UNREADABLE.as_error, found)
        self.defined: dict[str, Element] = {}
        everywhere = [*robot.all("material")]
        everywhere += [
            m
            for link in robot.all("link")
            for v in link.all("visual")
            for m in v.all("material")
        ]
        for element in everywhere:
            if element.first("color") or element.first("texture"):
                self.defined.setdefault(element.get("name"), element)
        self.surfaces: dict[str, Material] = {}
        """By the name of a material, what <bodymotion> has of it beside colour and image."""
        self.images: dict[str, Location] = {}
        """By uri, where an image is named first."""
        self._known: dict[int, Material] = {}
        self._count = 0

    def shapes(
        self, link: Element, kind: str, materials: Sequence[str] = ()
    ) -> tuple[Shape, ...]:
        """Return the shapes of a link's <visual> or <collision> elements, in the frame of the link.

        `materials` are the names of their materials, where the elements have none. A
        shape that cannot be read is left out.
        """
        found: list[Shape] = []
        for number, element in enumerate(link.all(kind)):
            found += self._read(element, materials[number] if materials else None)
        return tuple(found)

    def _read(self, element: Element, material_name: str | None) -> list[Shape]:
        self._count += 1
        if self._count > MAX_SHAPES:
            raise TOO_LARGE.error(
                f"the model has more than {MAX_SHAPES} shapes", element.location
            )
        transform = poses.to_matrix(read_origin(element))
        if material_name is None:
            defined = None
        else:
            defined = self.defined[material_name]
        if defined is None:
            material = self._material(element)
        else:
            material = self._known_material(defined, material_name or "")
        geometry = element.first("geometry")
        if geometry is not None and geometry.children:
            solid = geometry.children[0]
        else:
            solid = None
        if solid is None:
            element.lacks(rules.GEOMETRY, f"a <{element.name}> has no geometry")
            return []
        name = element.get("name")
        if solid.name == "mesh":
            return self._mesh(solid, transform, material, name)
        made = self._solid(solid)
        if made is None:
            return []
        if not isinstance(made, (Box, Sphere)):
            transform = transform @ Y_TO_Z
        return [Shape(made, transform, material or Material(), name)]

    def _solid(self, solid: Element) -> Geometry | None:
        if solid.name not in SOLIDS:
            expected = f"expected {', '.join(SOLIDS)}, mesh"
            solid.report(
                rules.GEOMETRY, f"<{solid.name:.60}> is no geometry of URDF: {expected}"
            )
            return None
        make, names = SOLIDS[solid.name]
        sizes = tuple(map(solid.number, names)) or solid.numbers("size", 3)
        if solid.faulty:
            return None
        if not all(np.isfinite(size) and size >= 0 for size in sizes):
            solid.report(
                rules.SIZE,
                f"<{solid.name}> has a size of {min(sizes):g}; expected zero or more",
            )
            return None
        return make(*sizes)

    def _mesh(
        self, mesh: Element, transform: Floats, material: Material | None, name: str
    ) -> list[Shape]:
        scale = finite_numbers(mesh, "scale", (1, 3), (1.0, 1.0, 1.0))
        found = self._file(mesh.get("filename"), mesh.location_of("filename"))
        if found is None:
            return []
        transform = transform @ np.diag(
            [*(scale if len(scale) == 3 else scale * 3), 1.0]
        )
        shapes = self.meshes.shapes(*found, mesh.location_of("filename"))
        return [
            Shape(
                shape.geometry,
                transform @ shape.transform,
                material or shape.material,
                name or shape.name,
            )
            for shape in shapes
        ]

    def _file(
        self, uri: str, location: Location
    ) -> tuple[Path, ReferencedFiles] | None:
        """Return the file that a uri names, and the loader of the files that it names.

        None where it cannot be opened.
        """
        if uri not in self._files:
            self._files[uri] = None
            found = self.files.find(uri)
            if isinstance(found, FoundFile):
                self._files[uri] = (
                    found.path,
                    self._loaders.setdefault(
                        id(found.finder), ReferencedFiles(found.finder)
                    ),
                )
            else:
                if found.package:
                    hint = rules.PACKAGE_PATHS
                elif found.is_outside:
                    hint = PART_OUTSIDE.hint
                else:
                    hint = ""
                # That a file outside is not opened is our own rule, not a fault of the
                # model.
                severity: Severity = "warning" if found.is_outside else "error"
                if found.name:
                    message = f"{found.name!r:.200} {found.reason}"
                else:
                    message = found.reason
                self.found.report(
                    PART_MISSING,
                    message,
                    location,
                    hint=hint,
                    severity=severity,
                    data=found.data,
                )
        return self._files[uri]

    def _material(self, element: Element) -> Material | None:
        material = element.first("material")
        if material is None:
            return None
        name = material.get("name")
        used = (
            material
            if material.first("color") or material.first("texture")
            else self.defined.get(name)
        )
        if used is None:
            # What could not be read may define it.
            if material.document is None or not material.document.incomplete:
                material.report(
                    rules.MATERIAL, f"the material {name!r:.60} is not defined"
                )
            return None
        return self._known_material(used, name)

    def _known_material(self, element: Element, name: str) -> Material:
        if id(element) in self._known:
            return self._known[id(element)]
        material = self.surfaces.get(name, Material())
        rgba = read_rgba(element)
        if rgba is not None:
            material = replace(material, diffuse=rgba[:3], transparency=1.0 - rgba[3])
        texture = element.first("texture")
        if texture is not None:
            uri = texture.get("filename")
            found = self._file(uri, texture.location_of("filename"))
            if found is not None:
                self.images.setdefault(uri, texture.location_of("filename"))
                material = replace(material, texture=Texture(found[0], uri))
        self._known[id(element)] = material
        return material


class ShapeWriter:
    """Makes the <visual> and <collision> elements of links, and collects their meshes and materials.

    Losses are added to `lost` and `renamed`.
    `prefix` is that of the paths of files, such as `package://NAME/`.
    """

    def __init__(
        self, folder: MeshFolder, prefix: str, lost: LossReport, renamed: Renamings
    ) -> None:
        self.folder = folder
        self.prefix = prefix
        self.lost = lost
        self.renamed = renamed
        self.materials: dict[str, tuple[Material, Element]] = {}
        """Materials by their names in the file."""
        self._names: dict[object, str] = {}

    def elements(
        self, link: Link, name: str
    ) -> tuple[list[Element], list[tuple[int, int]], list[Material]]:
        """Return the elements of a link called `name` in the file, and what the elements do not hold.

        That is the number of visuals and collisions of each segment, and the materials
        of the collisions; none where all are the default.
        """
        found: list[Element] = []
        counts = []
        materials = []
        plain = True
        for kind in ("visual", "collision"):
            for segment in link.segments:
                known = len(found)
                for shape in (
                    segment.visuals if kind == "visual" else segment.collisions
                ):
                    element = self._element(kind, shape.moved(segment.transform), name)
                    if element is not None:
                        found.append(element)
                        if kind == "collision":
                            materials.append(shape.material)
                            # A mesh with colours has a material in its file.
                            colored = (
                                isinstance(shape.geometry, Mesh)
                                and shape.geometry.colors is not None
                            )
                            plain = (
                                plain and shape.material == Material() and not colored
                            )
                counts.append(len(found) - known)
        number = len(link.segments)
        return (
            found,
            list(zip(counts[:number], counts[number:], strict=True)),
            [] if plain else materials,
        )

    def _element(self, kind: str, shape: Shape, link: str) -> Element | None:
        element_and_pose = self._placed(shape, link)
        if element_and_pose is None:
            return None
        solid, pose = element_and_pose
        element = Element(kind)
        # Readers remove the white space around a name.
        name = valid_text(shape.name).strip()
        if name:
            element.attributes["name"] = name
        self.renamed.add("shape", shape.name, name)
        add_origin(element, pose)
        element.add("geometry").children.append(solid)
        if kind == "visual":
            element.add("material", {"name": self.material(shape.material)})
        return element

    def _placed(self, shape: Shape, link: str) -> tuple[Element, Floats] | None:
        """Return the element of a geometry and its pose as a matrix (4, 4).

        None where it is left out, which is reported.
        """
        geometry = shape.geometry
        matrix = shape.transform
        if isinstance(geometry, (Lines, Points)) or not np.isfinite(matrix).all():
            if isinstance(geometry, (Lines, Points)):
                what = "lines and points"
            else:
                what = "shapes whose pose is not finite"
            self.lost.add(losses.NOT_DRAWN, f"{what} are left out", link)
            return None
        rigid, scale = _split(matrix)
        if rigid is not None:
            x, y, z = np.abs(scale).tolist()
            even = max(x, z) - min(x, z) <= SQUARE_TOLERANCE * max(x, z)
            if isinstance(geometry, Box):
                return Element(
                    "box", {"size": number_text(np.array(geometry.size) * (x, y, z))}
                ), rigid
            if (
                isinstance(geometry, Sphere)
                and even
                and abs(x - y) <= SQUARE_TOLERANCE * max(x, y)
            ):
                return Element(
                    "sphere", {"radius": number_text(geometry.radius * x)}
                ), rigid
            if (
                isinstance(geometry, Cylinder)
                and even
                and geometry.side
                and geometry.top
                and geometry.bottom
            ):
                sizes = {
                    "radius": number_text(geometry.radius * x),
                    "length": number_text(geometry.height * y),
                }
                return Element("cylinder", sizes), rigid @ Y_TO_Z.T
        return self._meshed(shape, rigid, scale, link)

    def _meshed(
        self, shape: Shape, rigid: Floats | None, scale: Floats, link: str
    ) -> tuple[Element, Floats] | None:
        mesh = to_mesh(shape.geometry)
        if not isinstance(shape.geometry, Mesh):
            kind = type(shape.geometry).__name__.lower()
            self.lost.add(
                losses.MESHED,
                f"{with_article(kind)} that URDF does not have becomes a mesh",
                link,
            )
        if rigid is None or (scale <= 0).any():
            if isinstance(shape.geometry, Mesh):
                self.lost.add(
                    losses.MESHED,
                    "a mesh is sheared or mirrored: the transformed mesh is in its "
                    "file",
                    link,
                )
            mesh = transformed(mesh, shape.transform)
            rigid = np.eye(4)
            scale = np.ones(3)
        if not len(mesh.faces):
            self.lost.add(
                losses.NOT_DRAWN.as_note, "meshes without triangles are left out", link
            )
            return None
        if not np.isfinite(mesh.vertices).all():
            self.lost.add(
                losses.NOT_DRAWN,
                "meshes with vertices that are not finite are left out",
                link,
            )
            return None
        path = self.folder.add(mesh, link, shape.material)
        if path is None:
            self.lost.add(
                losses.NOT_DRAWN,
                "no mesh files can be written beside a pipe or a terminal",
                link,
            )
            return None
        attributes = {"filename": self.prefix + path}
        if (scale != 1.0).any():
            attributes["scale"] = number_text(scale)
        return Element("mesh", attributes), rigid

    def material(self, material: Material) -> str:
        """Return the name of the <material> of a material, which is added if it is new."""
        texture = material.texture
        looks = [
            getattr(material, field.name)
            for field in fields(material)
            if field.name != "texture"
        ]
        key = (*looks, None if texture is None else str(texture.path))
        if key not in self._names:
            name = f"material_{len(self.materials)}"
            element = Element("material", {"name": name})
            element.add(
                "color",
                {"rgba": number_text([*material.diffuse, 1.0 - material.transparency])},
            )
            if texture is not None:
                path = self.folder.image(texture)
                if path is not None:
                    element.add("texture", {"filename": self.prefix + path})
                if not (
                    texture.repeat_s
                    and texture.repeat_t
                    and np.array_equal(texture.transform, np.eye(3))
                ):
                    message = "the transform and repetition of an image are only in the meshes"
                    self.lost.add(losses.SURFACE.as_note, message, texture.path.name)
            self._names[key] = name
            self.materials[name] = material, element
        return self._names[key]


def _split(matrix: Floats) -> tuple[Floats | None, Floats]:
    """Return an affine transform as a rigid one (4, 4) after a scale (3,) along the axes.

    None where it is no such transform.

    One that mirrors has a negative scale along z.
    """
    linear = matrix[:3, :3]
    scale = np.linalg.norm(linear, axis=0)
    if not (scale > 1e-150).all():
        return None, np.ones(3)
    axes = linear / scale
    if np.abs(axes.T @ axes - np.eye(3)).max() > SQUARE_TOLERANCE:
        return None, np.ones(3)
    # Scales that are 1 but for rounding are 1: then the mesh has no scale.
    scale = np.where(np.abs(scale - 1.0) < 4e-15, 1.0, scale)
    if np.linalg.det(axes) < 0:
        axes = axes * (1.0, 1.0, -1.0)
        scale = scale * (1.0, 1.0, -1.0)
    rigid = np.eye(4)
    rigid[:3, :3], rigid[:3, 3] = axes, matrix[:3, 3]
    return rigid, scale
