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
    from bodymotion.formats.urdf.extension_writer import Tally
    from bodymotion.model.links import Link

__all__ = ["ShapeWriter", "inertial_element"]

SQUARE = 1e-9
"""How far the axes of a transform may be from square, and scales from equal, for a solid to stay one."""


class ShapeWriter:
    """Makes the <visual> and <collision> elements of links, and collects their meshes and materials.

    Parameters
    ----------
    folder:
        Takes the meshes.
    prefix:
        Stands before the paths of files, as `package://NAME/`.
    lost:
        What is lost is added.
    """

    def __init__(self, folder: MeshFolder, prefix: str, lost: Tally) -> None:
        self.folder, self.prefix, self.lost = folder, prefix, lost
        self.materials: dict[str, tuple[Material, Element]] = {}
        """Materials by their names in the file."""
        self._by_look: dict[object, str] = {}

    def elements(self, link: Link, name: str) -> tuple[list[Element], list[tuple[int, int]], list[Material]]:
        """Return the elements of a link that is called `name` in the file, how many of each kind are of each segment, and the
        materials of those that are collisions, which the elements do not say; none of those where all are plain.
        """
        found: list[Element] = []
        counts = []
        looks = []
        plain = True
        for kind in ("visual", "collision"):
            for segment in link.segments:
                known = len(found)
                for shape in segment.visuals if kind == "visual" else segment.collisions:
                    element = self._element(kind, shape.moved(segment.transform), name)
                    if element is not None:
                        found.append(element)
                        if kind == "collision":
                            looks.append(shape.material)
                            # A mesh with colours gets a material from its file.
                            colored = isinstance(shape.geometry, Mesh) and shape.geometry.colors is not None
                            plain = plain and shape.material == Material() and not colored
                counts.append(len(found) - known)
        number = len(link.segments)
        return found, list(zip(counts[:number], counts[number:], strict=True)), [] if plain else looks

    def _element(self, kind: str, shape: Shape, link: str) -> Element | None:
        placed = self._placed(shape, link)
        if placed is None:
            return None
        solid, pose = placed
        element = Element(kind, {"name": shape.name} if shape.name and is_xml_text(shape.name) else {})
        origin = origin_element(pose)
        if origin is not None:
            element.children.append(origin)
        element.add("geometry").children.append(solid)
        if kind == "visual":
            element.add("material", {"name": self.material(shape.material)})
        return element

    def _placed(self, shape: Shape, link: str) -> tuple[Element, Floats] | None:
        """Return the element of a geometry and its pose as a matrix (4, 4); None where nothing can be shown, which is noted."""
        geometry, matrix = shape.geometry, shape.transform
        if isinstance(geometry, (Lines, Points)):
            self.lost.add(losses.NOT_DRAWN, "lines and points are left out", link)
            return None
        if not np.isfinite(matrix).all():
            self.lost.add(losses.NOT_DRAWN, "shapes whose place is not finite are left out", link)
            return None
        turn, scale = _split(matrix)
        if turn is not None:
            x, y, z = np.abs(scale).tolist()
            even = max(x, z) - min(x, z) <= SQUARE * max(x, z)
            if isinstance(geometry, Box):
                size = np.array(geometry.size) * (x, y, z)
                return Element("box", {"size": number_text(size)}), turn
            if isinstance(geometry, Sphere) and even and abs(x - y) <= SQUARE * max(x, y):
                return Element("sphere", {"radius": number_text(geometry.radius * x)}), turn
            if isinstance(geometry, Cylinder) and even and geometry.side and geometry.top and geometry.bottom:
                sizes = {"radius": number_text(geometry.radius * x), "length": number_text(geometry.height * y)}
                return Element("cylinder", sizes), turn @ Y_TO_Z.T
        return self._meshed(shape, turn, scale, link)

    def _meshed(self, shape: Shape, turn: Floats | None, scale: Floats, link: str) -> tuple[Element, Floats] | None:
        mesh = to_mesh(shape.geometry)
        if not isinstance(shape.geometry, Mesh):
            kind = type(shape.geometry).__name__.lower()
            self.lost.add(losses.MESHED, f"a {kind} that URDF cannot say becomes a mesh", link)
        if turn is None or (scale <= 0).any():
            if isinstance(shape.geometry, Mesh):
                self.lost.add(losses.MESHED, "a mesh is stretched askew or mirrored: its file has it so", link)
            mesh, turn, scale = transformed(mesh, shape.transform), np.eye(4), np.ones(3)
        if not len(mesh.faces) or not np.isfinite(mesh.vertices).all():
            self.lost.add(
                losses.NOT_DRAWN, "meshes without triangles, or with corners that are not finite, are left out", link
            )
            return None
        path = self.folder.add(mesh, link, shape.material)
        if path is None:
            self.lost.add(losses.NOT_DRAWN, "no meshes can stand beside a pipe or a terminal", link)
            return None
        attributes = {"filename": self.prefix + path}
        if (scale != 1.0).any():
            attributes["scale"] = number_text(scale)
        return Element("mesh", attributes), turn

    def material(self, look: Material) -> str:
        """Return the name of the <material> of a look, which is made where there is none."""
        texture = look.texture
        key = (
            look.diffuse,
            look.transparency,
            look.ambient_intensity,
            look.specular,
            look.emissive,
            look.shininess,
            None if texture is None else str(texture.path),
        )
        if key not in self._by_look:
            name = f"material_{len(self.materials)}"
            element = Element("material", {"name": name})
            element.add("color", {"rgba": number_text([*look.diffuse, 1.0 - look.transparency])})
            if texture is not None:
                path = self.folder.image(texture)
                if path is not None:
                    element.add("texture", {"filename": self.prefix + path})
                plain = texture.repeat_s and texture.repeat_t and np.array_equal(texture.transform, np.eye(3))
                if not plain:
                    self.lost.add(
                        losses.SURFACE, "how an image is moved or repeated is lost but in the meshes", texture.path.name
                    )
            self._by_look[key] = name
            self.materials[name] = look, element
        return self._by_look[key]


def _split(matrix: Floats) -> tuple[Floats | None, Floats]:
    """Return an affine transform as a rigid one (4, 4) after a scale (3,) along the axes; None where it is more than that.

    One that mirrors has a negative scale along z.
    """
    linear = matrix[:3, :3]
    scale = np.linalg.norm(linear, axis=0)
    if not (scale > 1e-150).all():
        return None, np.ones(3)
    axes = linear / scale
    if np.abs(axes.T @ axes - np.eye(3)).max() > SQUARE:
        return None, np.ones(3)
    # Scales that are 1 but for rounding are left so: then the mesh is placed, not scaled.
    scale = np.where(np.abs(scale - 1.0) < 4e-15, 1.0, scale)
    if np.linalg.det(axes) < 0:
        axes, scale = axes * (1.0, 1.0, -1.0), scale * (1.0, 1.0, -1.0)
    rigid = np.eye(4)
    rigid[:3, :3], rigid[:3, 3] = axes, matrix[:3, 3]
    return rigid, scale


def inertial_element(link: Link, name: str, lost: Tally) -> Element | None:
    """Return the <inertial> of a link, along the link's axes; None where the link has no mass."""
    mass, center, inertia = link.mass, np.array(link.center_of_mass), np.array(link.inertia)
    parts = np.concatenate([[mass], center, inertia.ravel()])
    if not np.isfinite(parts).all():
        lost.add(losses.NOT_A_NUMBER, "masses, centres of mass and inertias that are no numbers become 0", name)
        mass = mass if np.isfinite(mass) else 0.0
        center, inertia = (np.where(np.isfinite(values), values, 0.0) for values in (center, inertia))
    if mass == 0 and not inertia.any():
        return None
    if np.abs(inertia - inertia.T).max() > 1e-12 * np.abs(inertia).max():
        lost.add(losses.UNSAID, "inertias that are not symmetric: the mean with their mirror image is written", name)
    # The upper triangle to the bit where the tensor is symmetric.
    inertia = np.where(inertia == inertia.T, inertia, 0.5 * inertia + 0.5 * inertia.T)
    element = Element("inertial")
    # Always said, even where it is the origin: some readers take a missing one for a fault.
    element.add("origin", {"xyz": number_text(center), "rpy": "0 0 0"})
    element.add("mass", {"value": number_text(mass)})
    names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    element.add("inertia", dict(zip(names, map(number_text, inertia[np.triu_indices(3)]), strict=True)))
    return element
