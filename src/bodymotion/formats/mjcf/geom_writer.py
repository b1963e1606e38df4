"""Shapes as <geom> elements: solids along z with half sizes, or meshes that MuJoCo can load; and their materials."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bodymotion.diagnostics import Location, losses
from bodymotion.formats.kept_json import attributes_of, differences, mjcf_values
from bodymotion.formats.mjcf.extra import GEOM_KEPT, kind_of
from bodymotion.formats.mjcf.geoms import FROM_Y_TO_Z, material_of
from bodymotion.formats.xml.tree import Element, number_text
from bodymotion.geometry import meshes as meshing
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.shapes import Box, Capsule, Cylinder, Lines, Mesh, Points, Shape, Sphere

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem
    from bodymotion.formats.meshes.folder import MeshFolder
    from bodymotion.formats.mjcf.extra import Kept
    from bodymotion.formats.mjcf.writer import Names
    from bodymotion.geometry.shapes import Material
    from bodymotion.model.links import Link

MIN_SIZE = 1e-12
"""[m] MuJoCo refuses sizes below mjMINVAL."""
MIN_HALF_SIZE = 1e-9
"""[m] The half size of boxes and capsules without extent in a direction, which MuJoCo refuses."""
FLAT_RATIO = 1e-5
"""Thickness divided by width below which MuJoCo cannot compute the convex hull of a mesh."""


@dataclass(frozen=True)
class Solid:
    """A geom: its type and sizes as in MJCF, or its mesh, and its pose (7,) in the body."""

    type: str
    size: tuple[float, ...]
    pose: Floats
    mesh: Mesh | None = None
    meshed: bool = False
    """Whether the mesh replaces a geometry that MJCF does not have."""

    @property
    def is_flat(self) -> bool:
        """Whether it is a mesh without a convex hull, which has no contacts."""
        return self.mesh is not None and is_flat(self.mesh)


def solid(shape: Shape) -> Solid | None:
    """Return a shape as a geom; None for lines, points, and shapes without size."""
    geometry, transform = shape.geometry, shape.transform
    if isinstance(geometry, (Lines, Points)) or not np.isfinite(transform).all():
        return None
    scale = _scale(transform)
    if scale is not None and not isinstance(geometry, Mesh):
        size, kind = _sized(geometry, scale)
        if kind:
            if not all(MIN_SIZE < value < np.inf for value in size):
                return None
            rigid = transform.copy()
            rigid[:3, :3] /= np.where(scale > 0, scale, 1.0)
            pose = poses.from_matrix(rigid)
            if kind in ("cylinder", "capsule", "ellipsoid"):
                pose = poses.compose(pose, FROM_Y_TO_Z)
            return Solid(kind, size, pose)
    if isinstance(geometry, Mesh) and scale is not None and (scale == 1.0).all():
        return Solid("mesh", (), poses.from_matrix(transform), geometry)
    return Solid("mesh", (), poses.IDENTITY, shape.to_mesh(), meshed=True)


def _scale(transform: Floats) -> Floats | None:
    """Return the scale of a matrix along its own axes, 1 where it is 1 but for rounding; None where it shears or mirrors."""
    linear = transform[:3, :3]
    lengths = np.linalg.norm(linear, axis=0)
    if not (lengths > MIN_SIZE).all():
        return None
    rotation = linear / lengths
    if np.abs(rotation.T @ rotation - np.eye(3)).max() > 1e-9 or np.linalg.det(rotation) < 0:
        return None
    return np.where(np.abs(lengths - 1.0) < 1e-12, 1.0, lengths)


def _sized(geometry: object, scale: Floats) -> tuple[tuple[float, ...], str]:
    """Return the sizes of a scaled primitive and its type in MJCF; "" where MJCF has none."""
    x, y, z = scale.tolist()
    is_round = abs(x - z) <= 1e-12 * x
    match geometry:
        case Box(size=(a, b, c)):
            half = (0.5 * x * a, 0.5 * y * b, 0.5 * z * c)
            thin = min(half) >= 0 and sum(value > MIN_HALF_SIZE for value in half) == 2
            return (tuple(max(value, MIN_HALF_SIZE) for value in half) if thin else half), "box"
        case Sphere(radius=radius) if is_round and abs(x - y) <= 1e-12 * x:
            return (x * radius,), "sphere"
        case Sphere(radius=radius):
            # As for cylinders, its z is along the y of the shape.
            return (x * radius, z * radius, y * radius), "ellipsoid"
        case Cylinder(radius=radius, height=height, side=True, top=True, bottom=True) if is_round:
            return (x * radius, 0.5 * y * height), "cylinder"
        case Capsule(radius=radius, height=height) if is_round and abs(x - y) <= 1e-12 * x:
            return (x * radius, 0.5 * y * height or MIN_HALF_SIZE), "capsule"
    return (), ""


def loadable(mesh: Mesh) -> tuple[Mesh | None, bool]:
    """Return a mesh that MuJoCo loads, and whether it was changed; None where it has no area.

    MuJoCo requires at least four vertices, all finite, and an area. Triangles are halved where there are only three.
    """
    if not len(mesh.faces) or not np.isfinite(mesh.vertices).all():
        return None, False
    with np.errstate(all="ignore"):
        corner = mesh.vertices.astype(np.float32).astype(np.float64)[mesh.faces]
        double = np.linalg.norm(np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]), axis=1)
        if not 1e-14 < 0.5 * double.sum() < np.inf:
            return None, False
    used = np.unique(mesh.faces)
    if len(np.unique(mesh.vertices[used].astype(np.float32), axis=0)) >= 4:
        return mesh, False
    # In two at the middle of the first edge, without normals, colours and texture coordinates.
    first, second, third = mesh.faces.T
    middle = 0.5 * (mesh.vertices[first] + mesh.vertices[second])
    extra = len(mesh.vertices) + np.arange(len(mesh.faces))
    faces = np.concatenate([np.stack([first, extra, third], axis=1), np.stack([extra, second, third], axis=1)])
    bare = replace(mesh, normals=None, colors=None, texture_coordinates=None)
    return replace(bare, vertices=np.concatenate([mesh.vertices, middle]), faces=faces), True


def is_flat(mesh: Mesh) -> bool:
    """Return whether a mesh is flat, so that it has no convex hull."""
    points = meshing.used_vertices(mesh)
    if len(points) < 4:
        return True
    spread = np.linalg.svd((points - points.mean(axis=0)).T @ (points - points.mean(axis=0)), compute_uv=False)
    return bool(spread[2] <= FLAT_RATIO**2 * spread[0])


def same_shape(a: Shape, b: Shape) -> bool:
    """Return whether two shapes are equal. In most models, visual and collision are the same object."""
    if a.geometry is not b.geometry and a.geometry != b.geometry:
        return False
    return bool(np.array_equal(a.transform, b.transform) and a.name == b.name and a.material == b.material)


class MaterialWriter:
    """Writes each material once, and its image."""

    def __init__(self, asset: Element, names: Names, kept: Kept, folder: MeshFolder) -> None:
        self.asset, self.names, self.kept, self.folder = asset, names, kept, folder
        self._written: dict[object, str] = {}
        self._images: dict[str, str] = {}
        self._lost: set[str] = set()

    def name(self, material: Material) -> str:
        """Return the name of a material, which is written when it is first used."""
        image = material.texture
        pixels = image and (image.path, image.url, image.repeat_s, image.repeat_t, image.transform.tobytes())
        key = (*(getattr(material, field.name) for field in fields(material) if field.name != "texture"), pixels)
        if key in self._written:
            return self._written[key]
        name = self.names.free("material", f"material_{len(self._written)}")
        self._written[key] = name
        red, green, blue = material.diffuse
        specular = sum(material.specular) / 3.0 if len(set(material.specular)) > 1 else material.specular[0]
        brightest = max(material.diffuse)
        # MuJoCo stores emission in single precision; for colours near black it has no effect.
        emission = min(max(material.emissive) / brightest, 1000.0) if brightest > 1e-6 else 0.0
        rgba = (red, green, blue, 1.0 - material.transparency)
        numbers: dict[str, Any] = {"rgba": rgba, "specular": specular, "shininess": material.shininess}
        numbers |= {"emission": emission} if emission else {}
        attributes = {"name": name, **{key: number_text(value) for key, value in numbers.items()}}
        element = self.asset.add("material", attributes)
        read_back = material_of(rgba, specular, material.shininess, emission)
        attributes_kept = differences(material, read_back, skip=("texture",))
        texture = self._texture(material)
        if texture:
            element.attributes["texture"] = texture
            assert image is not None
            repeats = [image.repeat_s, image.repeat_t]
            attributes_kept["texture"] = {"url": image.url, "repeat": repeats, "transform": image.transform}
        self.kept.add("material", name, attributes_kept)
        return name

    def _texture(self, material: Material) -> str:
        image = material.texture
        if image is None:
            return ""
        if image.path.suffix.lower() != ".png":
            self._lost.add(f"MuJoCo reads only PNG images: {image.path.name!r:.80} is left out")
            return ""
        path = self.folder.image(image)
        if path is None:
            return ""
        if path not in self._images:
            self._images[path] = self.names.free("texture", image.path.stem)
            self.asset.add("texture", {"name": self._images[path], "type": "2d", "file": path})
        return self._images[path]

    @property
    def lost(self) -> list[Problem]:
        """What the file does not hold of surfaces."""
        return [losses.SURFACE.problem(message) for message in sorted(self._lost)]


def pose_attributes(pose: Floats) -> dict[str, str]:
    """Return the attributes pos and quat (w x y z) of a pose (7,); those of the identity are left out."""
    position = {"pos": number_text(pose[:3])} if pose[:3].any() else {}
    return position | ({"quat": number_text(pose[3:])} if (pose[3:] != rotations.IDENTITY).any() else {})


class GeomWriter:
    """Writes shapes; each mesh is one asset, however often it is used."""

    def __init__(
        self,
        asset: Element,
        names: Names,
        kept: Kept,
        folder: MeshFolder,
        materials: MaterialWriter,
        hull_vertices: int = 0,
    ) -> None:
        self.asset, self.names, self.kept, self.folder, self.materials = asset, names, kept, folder, materials
        # Every body has its inertia. MuJoCo does not use that of meshes, but refuses flat ones unless inertia is "shell".
        self._attributes = {"inertia": "shell", **({"maxhullvert": str(hull_vertices)} if hull_vertices else {})}
        self._assets: dict[str, str] = {}
        self._inline: dict[int, tuple[Mesh, str]] = {}
        self._ready: dict[int, tuple[Mesh, Mesh | None, bool]] = {}
        self._counts: Counter[tuple[str, str]] = Counter()
        self._colored = 0

    def write(self, element: Element, link: Link, name: str) -> bool:
        """Add the shapes of a link to its body, called `name`; return whether all of them are written."""
        left_out = self._counts["not drawn", name]
        if not self._as_read(element, link, name):
            visuals, collisions = link.visuals, link.collisions
            flat = any(found is not None and found.is_flat for found in map(solid, visuals))
            both = len(visuals) == len(collisions) and all(map(same_shape, visuals, collisions)) and not flat
            shapes = [(shape, "seen_collision" if both else "visual") for shape in visuals]
            shapes += [] if both else [(shape, "collision") for shape in collisions]
            for shape, kind in shapes:
                self._geom(element, shape, kind, name)
        return self._counts["not drawn", name] == left_out

    def _as_read(self, element: Element, link: Link, name: str) -> bool:
        """Write the geoms of a link as they were in an MJCF file; False where it was read from another format, or has changed."""
        plans = [rules for segment in link.segments if (rules := mjcf_values(segment.extra).get("geoms"))]
        if not plans:
            return False
        plan = plans[0] if len(link.segments) == 1 and isinstance(plans[0], (list, tuple)) else []
        shapes = _shared(plan, link)
        if not shapes:
            self._counts["other rules", name] += 1
            return False
        for rules, shape, seen, touched in shapes:
            attributes_kept = attributes_of({key: value for key, value in rules.items() if key in GEOM_KEPT})
            kind = kind_of(visual=seen, collision=touched)
            plane = rules.get("plane")
            self._geom(element, shape, kind, name, attributes_kept, plane if isinstance(plane, str) else None)
        return True

    def _geom(
        self,
        element: Element,
        shape: Shape,
        kind: str,
        name: str,
        attributes_kept: Mapping[str, str] = {},
        plane: str | None = None,
    ) -> None:
        found = solid(shape)
        is_plane = plane is not None and poses.is_rigid(shape.transform)
        if found is None:
            self._counts["not drawn", name] += 1
            return
        attributes = {"class": kind}
        if shape.name:
            attributes["name"] = self.names.free("geom", shape.name)
            if attributes["name"] != shape.name:
                self.kept.add("geom", attributes["name"], {"name": shape.name})
        attributes["type"] = found.type
        if is_plane:
            attributes |= {"type": "plane", "size": plane or "0 0 1"}
            attributes |= pose_attributes(poses.from_matrix(shape.transform))
        elif found.mesh is None:
            attributes["size"] = number_text(found.size)
        else:
            if id(found.mesh) not in self._ready:
                self._ready[id(found.mesh)] = (found.mesh, *loadable(found.mesh))
            _, mesh, changed = self._ready[id(found.mesh)]
            if mesh is None:
                self.names.release("geom", attributes.get("name", ""))
                self._counts["not drawn", name] += 1
                return
            if changed or (found.meshed and not isinstance(shape.geometry, Mesh)):
                self._counts["meshed", name] += 1
            attributes["mesh"] = self._mesh(mesh, name)
            self._colored += mesh.colors is not None
            if kind != "visual" and is_flat(mesh):
                self._counts["flat", name] += 1
                attributes |= {"contype": "0", "conaffinity": "0"}
        attributes |= attributes_kept
        if not is_plane:
            attributes |= pose_attributes(found.pose)
        attributes["material"] = self.materials.name(shape.material)
        element.add("geom", attributes)

    def _mesh(self, mesh: Mesh, name: str) -> str:
        path = self.folder.add(mesh, name)
        if path is not None:
            if path not in self._assets:
                self._assets[path] = self.names.free("mesh", path.rpartition("/")[2].rpartition(".")[0])
                self.asset.add("mesh", {"name": self._assets[path], "file": path, **self._attributes})
            return self._assets[path]
        # Where no file can be written beside the model, the vertices are in it.
        if id(mesh) not in self._inline:
            self._inline[id(mesh)] = mesh, self.names.free("mesh", name)
            inside = {"vertex": number_text(mesh.vertices), "face": " ".join(map(str, mesh.faces.ravel().tolist()))}
            self.asset.add("mesh", {"name": self._inline[id(mesh)][1], **self._attributes, **inside})
        return self._inline[id(mesh)][1]

    @property
    def lost(self) -> list[Problem]:
        """What the geoms do not hold of the shapes."""
        messages = {
            "not drawn": (losses.NOT_DRAWN, "{} of link {} without a surface left out"),
            "meshed": (losses.MESHED, "{} of link {} written as mesh"),
            "other rules": (losses.ONLY_MJCF, "the contacts of {} of link {}, whose shapes have changed"),
            "flat": (losses.FLAT, "{} of link {} that are flat, which have no contacts in MuJoCo"),
        }
        found = []
        for (what, name), count in self._counts.items():
            rule, message = messages[what]
            shapes = "a shape" if count == 1 else f"{count} shapes"
            found.append(rule.problem(message.format(shapes, name), Location(inside=f"link {name}")))
        if self._colored:
            message = (
                f"MuJoCo shows one colour for each mesh: vertex colours of {self._colored} are only in the mesh files"
            )
            found.append(losses.MESH_LOOK.problem(message))
        return found


def _shared(plan: Sequence[object], link: Link) -> list[tuple[Mapping[str, object], Shape, bool, bool]]:
    """Return the shape of each geom, and whether it is a visual and a collision; nothing where the shapes have changed."""
    left = [list(link.visuals), list(link.collisions)]
    found: list[tuple[Mapping[str, object], Shape, bool, bool]] = []
    for rules in plan:
        shown = rules.get("shown") if isinstance(rules, Mapping) else None
        if not isinstance(rules, Mapping) or not isinstance(shown, (list, tuple)) or len(shown) != 2:
            return []
        used = [rest.pop(0) for wanted, rest in zip(shown, left, strict=True) if wanted and rest]
        if len(used) != sum(map(bool, shown)) or not used or not same_shape(used[0], used[-1]):
            return []
        found.append((rules, used[0], bool(shown[0]), bool(shown[1])))
    return [] if any(left) else found
