"""The <visual>, <collision>, <material> and <inertial> elements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.formats.meshes.reading import MeshReader
from bodymotion.formats.resources import PART_OUTSIDE, FoundFile, PackageFinder
from bodymotion.formats.urdf import rules
from bodymotion.formats.urdf.elements import finite_numbers, read_origin
from bodymotion.formats.vrml.reader import InlineLoader
from bodymotion.formats.xml.syntax import closest_name
from bodymotion.formats.xml.tree import TOO_DEEP
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.geometry.shapes import MOST_SHAPES, Box, Capsule, Cylinder, Material, Shape, Sphere, Texture

if TYPE_CHECKING:
    from pathlib import Path

    from bodymotion.diagnostics import Diagnostics, Location, Severity
    from bodymotion.formats.xml.tree import Element
    from bodymotion.geometry.shapes import Geometry

Y_TO_Z: Floats = frozen([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, -1.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
"""Rotates cylinders, which are along y here, to the direction of URDF: along z."""

SOLIDS = ("box", "cylinder", "sphere", "capsule", "mesh")


def read_rgba(material: Element) -> tuple[float, float, float, float] | None:
    """Return red, green, blue and alpha in 0…1 of a material's <color>; None without."""
    color = material.first("color")
    if color is None:
        return None
    given = finite_numbers(color, "rgba", (3, 4), None)
    if any(map(math.isnan, given)):
        return None
    clipped = tuple(min(max(value, 0.0), 1.0) for value in given)
    if clipped != given:
        color.report(
            rules.MATERIAL, f"rgba is {color.get('rgba')!r:.60}; expected numbers from 0 to 1: they are clipped"
        )
    red, green, blue, alpha = (*clipped, 1.0)[:4]
    return red, green, blue, alpha


class ShapeReader:
    """Reads the shapes of links, with the materials and files of one model."""

    def __init__(self, robot: Element, files: PackageFinder, found: Diagnostics) -> None:
        self.files, self.found = files, found
        self._files: dict[str, tuple[Path, InlineLoader] | None] = {}
        self._loaders: dict[int, InlineLoader] = {}
        """By the id of a finder, the loader of the files that its files name."""
        self.meshes = MeshReader(rules.RESOURCE_BROKEN, found)
        self.defined: dict[str, Element] = {}
        everywhere = [*robot.all("material")]
        everywhere += [m for link in robot.all("link") for v in link.all("visual") for m in v.all("material")]
        for element in everywhere:
            if element.first("color") or element.first("texture"):
                self.defined.setdefault(element.get("name"), element)
        self.surfaces: dict[str, Material] = {}
        """By the name of a material, what <bodymotion> has of it beside colour and image."""
        self.images: dict[str, Location] = {}
        """By uri, where an image is named first."""
        self._known: dict[int, Material] = {}
        self._count = 0

    def shapes(self, link: Element, kind: str, materials: Sequence[str] = ()) -> tuple[Shape, ...]:
        """Return the shapes of a link's <visual> or <collision> elements, in the frame of the link.

        `materials` are the names of their materials, where the elements have none. A shape that cannot be read is left out.
        """
        found: list[Shape] = []
        for number, element in enumerate(link.all(kind)):
            found += self._read(element, materials[number] if materials else None)
        return tuple(found)

    def _read(self, element: Element, material_name: str | None) -> list[Shape]:
        self._count += 1
        if self._count > MOST_SHAPES:
            raise TOO_DEEP.error(f"the model has more than {MOST_SHAPES} shapes", element.location)
        transform = poses.to_matrix(read_origin(element))
        defined = None if material_name is None else self.defined[material_name]
        material = self._material(element) if defined is None else self._known_material(defined, material_name or "")
        geometry = element.first("geometry")
        solid = geometry.children[0] if geometry is not None and geometry.children else None
        if solid is None:
            element.report(rules.GEOMETRY, f"a <{element.name}> has no geometry")
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
        sizes: tuple[float, ...]
        made: Geometry
        if solid.name == "box":
            x, y, z = sizes = solid.numbers("size", 3)
            made = Box((x, y, z))
        elif solid.name == "sphere":
            sizes = (solid.number("radius"),)
            made = Sphere(sizes[0])
        elif solid.name in ("cylinder", "capsule"):
            radius, length = sizes = (solid.number("radius"), solid.number("length"))
            made = Cylinder(radius, length) if solid.name == "cylinder" else Capsule(radius, length)
        else:
            meant = closest_name(solid.name, SOLIDS)
            expected = f"expected {', '.join(SOLIDS)}" if meant is None else f"did you mean <{meant}>?"
            solid.report(rules.GEOMETRY, f"<{solid.name:.60}> is no geometry of URDF: {expected}")
            return None
        if solid.faulty:
            return None
        if not all(np.isfinite(size) and size >= 0 for size in sizes):
            solid.report(rules.SIZE, f"<{solid.name}> has a size of {min(sizes):g}; expected zero or more")
            return None
        return made

    def _mesh(self, mesh: Element, transform: Floats, material: Material | None, name: str) -> list[Shape]:
        scale = finite_numbers(mesh, "scale", (1, 3), (1.0, 1.0, 1.0))
        found = self._file(mesh.get("filename"), mesh.location_of("filename"))
        if found is None:
            return []
        transform = transform @ np.diag([*(scale if len(scale) == 3 else scale * 3), 1.0])
        shapes = self.meshes.shapes(*found, mesh.location_of("filename"))
        return [
            Shape(shape.geometry, transform @ shape.transform, material or shape.material, name or shape.name)
            for shape in shapes
        ]

    def _file(self, uri: str, location: Location) -> tuple[Path, InlineLoader] | None:
        """Return the file that a uri names, and the loader of the files that it names; None where it cannot be opened."""
        if uri not in self._files:
            self._files[uri] = None
            found = self.files.find(uri)
            if isinstance(found, FoundFile):
                loader = self._loaders.setdefault(id(found.finder), InlineLoader(found.finder))
                self._files[uri] = found.path, loader
            else:
                hint = rules.PACKAGE_PATHS if found.package else PART_OUTSIDE.hint if found.is_outside else None
                # That a file outside is not opened is our own rule, not a fault of the model.
                severity: Severity = "warning" if found.is_outside else "error"
                message = f"{found.name!r:.200} {found.reason}" if found.name else found.reason
                self.found.report(
                    rules.RESOURCE_MISSING, message, location, hint=hint, severity=severity, data=found.data
                )
        return self._files[uri]

    def _material(self, element: Element) -> Material | None:
        given = element.first("material")
        if given is None:
            return None
        name = given.get("name")
        used = given if given.first("color") or given.first("texture") else self.defined.get(name)
        if used is None:
            given.report(rules.MATERIAL, f"the material {name!r:.60} is not defined")
            return None
        return self._known_material(used, name)

    def _known_material(self, used: Element, name: str) -> Material:
        if id(used) not in self._known:
            self._known[id(used)] = self._new_material(used, name)
        return self._known[id(used)]

    def _new_material(self, element: Element, name: str) -> Material:
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
        return material
