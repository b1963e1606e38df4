"""Shapes, materials and masses as elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics import losses
from bodymotion.formats.meshes.folder import MeshFolder
from bodymotion.formats.urdf.elements import origin_element
from bodymotion.formats.urdf.shapes import Y_TO_Z
from bodymotion.formats.xml.tree import Element, is_xml_text, number_text
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.meshes import to_mesh, transformed
from bodymotion.geometry.shapes import Box, Cylinder, Lines, Material, Mesh, Points, Shape, Sphere

if TYPE_CHECKING:
    from bodymotion.formats.urdf.extension_writer import LossReport
    from bodymotion.model.links import Link

SQUARE_TOLERANCE = 1e-9
"""How far the axes of a transform may be from orthogonal, and scales from equal, for a solid to be written as one."""


class ShapeWriter:
    """Makes the <visual> and <collision> elements of links, and collects their meshes and materials.

    Parameters
    ----------
    folder:
        The folder of the mesh files.
    prefix:
        Prefix of the paths of files, such as `package://NAME/`.
    lost:
        Losses are added.
    """

    def __init__(self, folder: MeshFolder, prefix: str, lost: LossReport) -> None:
        self.folder, self.prefix, self.lost = folder, prefix, lost
        self.materials: dict[str, tuple[Material, Element]] = {}
        """Materials by their names in the file."""
        self._names: dict[object, str] = {}

    def elements(self, link: Link, name: str) -> tuple[list[Element], list[tuple[int, int]], list[Material]]:
        """Return the elements of a link called `name` in the file, and what the elements do not hold.

        That is the number of visuals and collisions of each segment, and the materials of the collisions; none where all are the default.
        """
        found: list[Element] = []
        counts = []
        materials = []
        plain = True
        for kind in ("visual", "collision"):
            for segment in link.segments:
                known = len(found)
                for shape in segment.visuals if kind == "visual" else segment.collisions:
                    element = self._element(kind, shape.moved(segment.transform), name)
                    if element is not None:
                        found.append(element)
                        if kind == "collision":
                            materials.append(shape.material)
                            # A mesh with colours has a material in its file.
                            colored = isinstance(shape.geometry, Mesh) and shape.geometry.colors is not None
                            plain = plain and shape.material == Material() and not colored
                counts.append(len(found) - known)
        number = len(link.segments)
        return found, list(zip(counts[:number], counts[number:], strict=True)), [] if plain else materials

    def _element(self, kind: str, shape: Shape, link: str) -> Element | None:
        element_and_pose = self._placed(shape, link)
        if element_and_pose is None:
            return None
        solid, pose = element_and_pose
        element = Element(kind, {"name": shape.name} if shape.name and is_xml_text(shape.name) else {})
        origin = origin_element(pose)
        if origin is not None:
            element.children.append(origin)
        element.add("geometry").children.append(solid)
        if kind == "visual":
            element.add("material", {"name": self.material(shape.material)})
        return element

    def _placed(self, shape: Shape, link: str) -> tuple[Element, Floats] | None:
        """Return the element of a geometry and its pose as a matrix (4, 4); None where it is left out, which is reported."""
        geometry, matrix = shape.geometry, shape.transform
        if isinstance(geometry, (Lines, Points)):
            self.lost.add(losses.NOT_DRAWN, "lines and points are left out", link)
            return None
        if not np.isfinite(matrix).all():
            self.lost.add(losses.NOT_DRAWN, "shapes whose pose is not finite are left out", link)
            return None
        rigid, scale = _split(matrix)
        if rigid is not None:
            x, y, z = np.abs(scale).tolist()
            even = max(x, z) - min(x, z) <= SQUARE_TOLERANCE * max(x, z)
            if isinstance(geometry, Box):
                size = np.array(geometry.size) * (x, y, z)
                return Element("box", {"size": number_text(size)}), rigid
            if isinstance(geometry, Sphere) and even and abs(x - y) <= SQUARE_TOLERANCE * max(x, y):
                return Element("sphere", {"radius": number_text(geometry.radius * x)}), rigid
            if isinstance(geometry, Cylinder) and even and geometry.side and geometry.top and geometry.bottom:
                sizes = {"radius": number_text(geometry.radius * x), "length": number_text(geometry.height * y)}
                return Element("cylinder", sizes), rigid @ Y_TO_Z.T
        return self._meshed(shape, rigid, scale, link)

    def _meshed(self, shape: Shape, rigid: Floats | None, scale: Floats, link: str) -> tuple[Element, Floats] | None:
        mesh = to_mesh(shape.geometry)
        if not isinstance(shape.geometry, Mesh):
            kind = type(shape.geometry).__name__.lower()
            self.lost.add(losses.MESHED, f"a {kind} that URDF does not have becomes a mesh", link)
        if rigid is None or (scale <= 0).any():
            if isinstance(shape.geometry, Mesh):
                self.lost.add(losses.MESHED, "a mesh is sheared or mirrored: the transformed mesh is in its file", link)
            mesh, rigid, scale = transformed(mesh, shape.transform), np.eye(4), np.ones(3)
        if not len(mesh.faces):
            self.lost.add(losses.NOT_DRAWN.as_note, "meshes without triangles are left out", link)
            return None
        if not np.isfinite(mesh.vertices).all():
            self.lost.add(losses.NOT_DRAWN, "meshes with vertices that are not finite are left out", link)
            return None
        path = self.folder.add(mesh, link, shape.material)
        if path is None:
            self.lost.add(losses.NOT_DRAWN, "no mesh files can be written beside a pipe or a terminal", link)
            return None
        attributes = {"filename": self.prefix + path}
        if (scale != 1.0).any():
            attributes["scale"] = number_text(scale)
        return Element("mesh", attributes), rigid

    def material(self, material: Material) -> str:
        """Return the name of the <material> of a material, which is added if it is new."""
        texture = material.texture
        key = (
            material.diffuse,
            material.transparency,
            material.ambient_intensity,
            material.specular,
            material.emissive,
            material.shininess,
            None if texture is None else str(texture.path),
        )
        if key not in self._names:
            name = f"material_{len(self.materials)}"
            element = Element("material", {"name": name})
            element.add("color", {"rgba": number_text([*material.diffuse, 1.0 - material.transparency])})
            if texture is not None:
                path = self.folder.image(texture)
                if path is not None:
                    element.add("texture", {"filename": self.prefix + path})
                plain = texture.repeat_s and texture.repeat_t and np.array_equal(texture.transform, np.eye(3))
                if not plain:
                    self.lost.add(
                        losses.SURFACE.as_note,
                        "the transform and repetition of an image are only in the meshes",
                        texture.path.name,
                    )
            self._names[key] = name
            self.materials[name] = material, element
        return self._names[key]


def _split(matrix: Floats) -> tuple[Floats | None, Floats]:
    """Return an affine transform as a rigid one (4, 4) after a scale (3,) along the axes; None where it is no such transform.

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
        axes, scale = axes * (1.0, 1.0, -1.0), scale * (1.0, 1.0, -1.0)
    rigid = np.eye(4)
    rigid[:3, :3], rigid[:3, 3] = axes, matrix[:3, 3]
    return rigid, scale


def inertial_element(link: Link, name: str, lost: LossReport) -> Element | None:
    """Return the <inertial> of a link, along the link's axes; None where the link has no mass."""
    mass, center, inertia = link.mass, np.array(link.center_of_mass), np.array(link.inertia)
    parts = np.concatenate([[mass], center, inertia.ravel()])
    if not np.isfinite(parts).all():
        lost.add(losses.NOT_A_NUMBER, "masses, centres of mass and inertias that are not finite become 0", name)
        mass = mass if np.isfinite(mass) else 0.0
        center, inertia = (np.where(np.isfinite(values), values, 0.0) for values in (center, inertia))
    if mass == 0 and not inertia.any():
        return None
    if np.abs(inertia - inertia.T).max() > 1e-12 * np.abs(inertia).max():
        lost.add(losses.UNSAID, "inertias that are not symmetric: the symmetric part is written", name)
    # The upper triangle to the bit where the tensor is symmetric.
    inertia = np.where(inertia == inertia.T, inertia, 0.5 * inertia + 0.5 * inertia.T)
    element = Element("inertial")
    # Always written, because some readers refuse a link without it.
    element.add("origin", {"xyz": number_text(center), "rpy": "0 0 0"})
    element.add("mass", {"value": number_text(mass)})
    names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    element.add("inertia", dict(zip(names, map(number_text, inertia[np.triu_indices(3)]), strict=True)))
    return element
