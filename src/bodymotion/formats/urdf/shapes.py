"""The <visual>, <collision>, <material> and <inertial> elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.formats.meshes.reading import MeshReader
from bodymotion.formats.urdf import rules
from bodymotion.formats.urdf.elements import finite, read_origin
from bodymotion.formats.xml.places import nearest
from bodymotion.formats.xml.tree import TOO_DEEP
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.geometry.shapes import MOST_SHAPES, Box, Capsule, Cylinder, Material, Shape, Sphere, Texture

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem
    from bodymotion.formats.urdf.resources import FileFinder
    from bodymotion.formats.xml.tree import Element
    from bodymotion.geometry.shapes import Geometry

__all__ = ["STANDING", "ShapeReader", "read_inertial", "read_rgba"]

STANDING: Floats = frozen([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, -1.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
"""Takes what stands along y, as cylinders do here, to where URDF's stand: along z."""

SOLIDS = ("box", "cylinder", "sphere", "capsule", "mesh")


def read_inertial(link: Element, problems: list[Problem]) -> tuple[float, Floats, Floats] | None:
    """Return mass, centre of mass (3,) and inertia (3, 3) about it along the link's axes; None without <inertial>.

    Raises
    ------
    FormatError
        When a value is no number.
    """
    inertial = link.first("inertial")
    if inertial is None:
        return None
    pose = read_origin(inertial, problems)
    mass, inertia = inertial.first("mass"), inertial.first("inertia")
    title = f"the <inertial> of link {link.get('name')!r:.60}"
    weight = 0.0
    if mass is None:
        problems.append(rules.MASS.problem(f"{title} has no <mass>", inertial.location))
    else:
        weight = finite((mass.number("value"),), mass, problems)[0]
        if weight < 0:
            problems.append(rules.MASS.problem(f"{title} has the mass {weight:g}, less than zero", mass.place("value")))
    tensor = np.zeros((3, 3))
    if inertia is None:
        problems.append(rules.MASS.problem(f"{title} has no <inertia>", inertial.location))
    else:
        names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        missing = [name for name in names if name not in inertia.attributes]
        if missing:
            problems.append(rules.MASS.problem(f"{title} has no {', '.join(missing)}", inertia.location))
        six = finite(tuple(inertia.number(name, 0.0) for name in names), inertia, problems)
        tensor[np.triu_indices(3)] = six
        tensor = tensor + np.triu(tensor, 1).T
    turn = poses.to_matrix(pose)[:3, :3]
    if not np.array_equal(turn, np.eye(3)):
        tensor = turn @ tensor @ turn.T
    return weight, frozen(pose[:3]), frozen(tensor)


def read_rgba(material: Element, problems: list[Problem]) -> tuple[float, float, float, float] | None:
    """Return red, green, blue and alpha in 0…1 of a material's <color>; None without."""
    color = material.first("color")
    if color is None:
        return None
    given = finite(color.numbers("rgba", (3, 4)), color, problems)
    clipped = tuple(min(max(value, 0.0), 1.0) for value in given)
    if clipped != given:
        problems.append(rules.MATERIAL.problem(f"rgba is {color.get('rgba')!r:.60}: beyond 0…1", color.location))
    red, green, blue, alpha = (*clipped, 1.0)[:4]
    return red, green, blue, alpha


class ShapeReader:
    """Reads the shapes of links, with the materials and files of one model.

    `surfaces` has, by the name of a material, what is known of it beside colour and image.
    """

    def __init__(self, robot: Element, files: FileFinder, problems: list[Problem]) -> None:
        self.files, self.problems = files, problems
        self.meshes = MeshReader(rules.RESOURCE_BROKEN, problems)
        self.defined: dict[str, Element] = {}
        everywhere = [*robot.all("material")]
        everywhere += [m for link in robot.all("link") for v in link.all("visual") for m in v.all("material")]
        for element in everywhere:
            if element.first("color") or element.first("texture"):
                self.defined.setdefault(element.get("name"), element)
        self.surfaces: dict[str, Material] = {}
        """Materials by name, filled by the reader of the extension."""
        self._known: dict[int, Material] = {}
        self._read_so_far = 0

    def shapes(self, link: Element, kind: str, materials: Sequence[str] = ()) -> tuple[Shape, ...]:
        """Return the shapes of a link's <visual> or <collision> elements, in the frame of the link.

        `materials` names those of the elements, where they do not say so themselves.

        Raises
        ------
        FormatError
            When a value is no number.
        """
        found: list[Shape] = []
        for number, element in enumerate(link.all(kind)):
            found += self._read(element, materials[number] if materials else None)
        return tuple(found)

    def _read(self, element: Element, look: str | None) -> list[Shape]:
        self._read_so_far += 1
        if self._read_so_far > MOST_SHAPES:
            raise TOO_DEEP.error(f"the model has more than {MOST_SHAPES} shapes", element.location)
        place = poses.to_matrix(read_origin(element, self.problems))
        material = self._material(element) if look is None else self._known_look(self.defined[look], look)
        geometry = element.first("geometry")
        solid = geometry.children[0] if geometry is not None and geometry.children else None
        if solid is None:
            self.problems.append(rules.GEOMETRY.problem(f"a <{element.name}> has no geometry", element.location))
            return []
        name = element.get("name")
        if solid.name == "mesh":
            return self._mesh(solid, place, material, name)
        made = self._solid(solid)
        if made is None:
            return []
        if not isinstance(made, (Box, Sphere)):
            place = place @ STANDING
        return [Shape(made, place, material or Material(), name)]

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
            said = nearest(solid.name, SOLIDS)
            which = "box, cylinder, sphere, capsule and mesh are" if said is None else f"did you mean <{said}>?"
            words = f"<{solid.name:.60}> is no geometry of URDF: {which}"
            self.problems.append(rules.GEOMETRY.problem(words, solid.location))
            return None
        if not all(np.isfinite(size) and size >= 0 for size in sizes):
            self.problems.append(rules.SIZE.problem(f"<{solid.name}> has a size of {min(sizes):g}", solid.location))
            return None
        return made

    def _mesh(self, mesh: Element, place: Floats, material: Material | None, name: str) -> list[Shape]:
        scale = finite(mesh.numbers("scale", (1, 3), (1.0, 1.0, 1.0)), mesh, self.problems)
        found = self.files.find(mesh.get("filename"), mesh.place("filename"))
        if found is None:
            return []
        place = place @ np.diag([*(scale if len(scale) == 3 else scale * 3), 1.0])
        return [
            Shape(shape.geometry, place @ shape.transform, material or shape.material, name or shape.name)
            for shape in self.meshes.shapes(*found, mesh.place("filename"))
        ]

    def _material(self, element: Element) -> Material | None:
        given = element.first("material")
        if given is None:
            return None
        name = given.get("name")
        used = given if given.first("color") or given.first("texture") else self.defined.get(name)
        if used is None:
            self.problems.append(rules.MATERIAL.problem(f"the material {name!r:.60} is not defined", given.location))
            return None
        return self._known_look(used, name)

    def _known_look(self, used: Element, name: str) -> Material:
        if id(used) not in self._known:
            self._known[id(used)] = self._look(used, name)
        return self._known[id(used)]

    def _look(self, element: Element, name: str) -> Material:
        look = self.surfaces.get(name, Material())
        rgba = read_rgba(element, self.problems)
        if rgba is not None:
            look = replace(look, diffuse=rgba[:3], transparency=1.0 - rgba[3])
        texture = element.first("texture")
        if texture is not None:
            uri = texture.get("filename")
            found = self.files.find(uri, texture.place("filename"))
            if found is not None:
                look = replace(look, texture=Texture(found[0], uri))
        return look
