"""Writing shapes as geoms, with their meshes, materials and images.

Shapes are solids along z with half sizes, or meshes that MuJoCo can load.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import NamedTuple

import numpy as np

from bodymotion.diagnostics import Location, Problem, losses
from bodymotion.formats.kept_json import attributes_of, differences, mjcf_values
from bodymotion.formats.mjcf.assets import Surface
from bodymotion.formats.mjcf.geoms import GEOM_KEPT, Role, kind_of
from bodymotion.formats.mjcf.names import Output
from bodymotion.formats.xml.tree import Element, number_text
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.meshes import Solid, is_flat, solid
from bodymotion.geometry.shapes import Material, Mesh, Shape, Texture
from bodymotion.model.links import Link

# [m²] MuJoCo refuses a mesh of a smaller area.
MIN_AREA = 1e-14
# MuJoCo refuses a mesh of fewer vertices.
MIN_VERTICES = 4
# MuJoCo stores emission in single precision. For darker colours it has no effect.
MIN_BRIGHTNESS = 1e-6
MAX_EMISSION = 1000.0

# By what is lost of a shape, the rule and the message.
MESSAGES = {
    "not drawn": (losses.NOT_DRAWN, "{} of link {} without a surface left out"),
    "meshed": (losses.MESHED, "{} of link {} written as mesh"),
    "other rules": (
        losses.ONLY_MJCF,
        "the contacts of {} of link {}, whose shapes have changed",
    ),
    "flat": (
        losses.FLAT,
        "{} of link {} that are flat, which have no contacts in MuJoCo",
    ),
}


class LoadableMesh(NamedTuple):
    """A mesh that MuJoCo loads, and whether it was changed."""

    mesh: Mesh
    is_changed: bool


class KeptGeom(NamedTuple):
    """A shape, and the attributes that it had as a geom."""

    attributes: Mapping[str, object]
    shape: Shape
    role: Role


class _InlineMesh(NamedTuple):
    """A mesh whose vertices are in the model.

    `mesh` keeps its id in use.
    """

    mesh: Mesh
    name: str


class _ReadyMesh(NamedTuple):
    """A mesh as MuJoCo loads it, None where it does not.

    `mesh` keeps its id in use.
    """

    mesh: Mesh
    loadable: LoadableMesh | None


def loadable(mesh: Mesh) -> LoadableMesh | None:
    """Return a mesh that MuJoCo loads, None where it has no area.

    MuJoCo requires at least four vertices, all finite, and an area. Triangles are
    halved where there are only three.
    """
    if not len(mesh.faces) or not np.isfinite(mesh.vertices).all():
        return None
    # MuJoCo holds vertices in single precision: what is flat or equal there is refused.
    single = mesh.vertices.astype(np.float32)
    with np.errstate(all="ignore"):
        corners = single.astype(np.float64)[mesh.faces]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        area = 0.5 * np.linalg.norm(normals, axis=1).sum()
        if not MIN_AREA < area < np.inf:
            return None
    # (U, 3) The vertices of faces: others do not count for MuJoCo either.
    used = single[np.unique(mesh.faces)]
    if len(np.unique(used, axis=0)) >= MIN_VERTICES:
        return LoadableMesh(mesh, is_changed=False)
    return LoadableMesh(_halved(mesh), is_changed=True)


def _halved(mesh: Mesh) -> Mesh:
    """Return a mesh with each triangle in two.

    They are divided at the middle of the first edge. The mesh has no normals, colours
    and texture coordinates.
    """
    # Vertex numbers (F,) of the corners of all triangles.
    first, second, third = mesh.faces.T
    middle = 0.5 * (mesh.vertices[first] + mesh.vertices[second])
    extra = len(mesh.vertices) + np.arange(len(mesh.faces))
    halves = [
        np.stack([first, extra, third], axis=1),
        np.stack([extra, second, third], axis=1),
    ]
    return replace(
        mesh,
        vertices=np.concatenate([mesh.vertices, middle]),
        faces=np.concatenate(halves),
        normals=None,
        colors=None,
        texture_coordinates=None,
    )


def pose_attributes(pose: Floats) -> dict[str, str]:
    """Return the attributes pos and quat (w x y z) of a pose (7,).

    Those of the identity are left out.
    """
    attributes: dict[str, str] = {}
    if pose[:3].any():
        attributes["pos"] = number_text(pose[:3])
    if (pose[3:] != rotations.IDENTITY).any():
        attributes["quat"] = number_text(pose[3:])
    return attributes


class GeomWriter:
    """Writes shapes and their materials.

    Each mesh, material and image is one asset, however often it is used.
    """

    def __init__(self, output: Output, hull_vertices: int = 0) -> None:
        """Prepare to write shapes.

        Hulls of meshes have at most `hull_vertices` vertices, 0 for no limit.
        """
        self.output = output
        self.asset = output.asset
        self.names = output.names
        # Every body has its inertia. MuJoCo does not use that of meshes, but refuses
        # flat ones unless inertia is "shell".
        self._mesh_attributes = {"inertia": "shell"}
        if hull_vertices:
            self._mesh_attributes["maxhullvert"] = str(hull_vertices)
        self._materials: dict[object, str] = {}
        self._assets: dict[str, str] = {}
        """By path, the names of meshes and images."""
        self._inline: dict[int, _InlineMesh] = {}
        self._ready: dict[int, _ReadyMesh] = {}
        self._lost_images: set[str] = set()
        self._counts: Counter[tuple[str, str]] = Counter()
        """Of shapes, by what is lost of them and by link."""
        self._colored = 0

    def write(self, element: Element, link: Link, name: str) -> bool:
        """Add the shapes of a link to its body, called `name`.

        Return whether all of them are written.
        """
        left_out = self._counts["not drawn", name]
        kept = self._kept_geoms(link, name)
        if kept:
            for attributes, shape, role in kept:
                kind = kind_of(visual=role.visual, collision=role.collision)
                self._write_geom(element, shape, kind, name, attributes)
        else:
            self._write_shapes(element, link, name)
        return self._counts["not drawn", name] == left_out

    def _write_shapes(self, element: Element, link: Link, name: str) -> None:
        """Write the shapes of a link in the classes of our writer."""
        visuals = list(link.visuals)
        collisions = list(link.collisions)
        # Equal shapes are one geom that is seen and collides. A flat one cannot be:
        # MuJoCo computes no contacts of it.
        if visuals == collisions and not any(map(_is_flat_solid, visuals)):
            for shape in visuals:
                self._write_geom(element, shape, "seen_collision", name)
            return
        for shape in visuals:
            self._write_geom(element, shape, "visual", name)
        for shape in collisions:
            self._write_geom(element, shape, "collision", name)

    def _kept_geoms(self, link: Link, name: str) -> list[KeptGeom]:
        """Return the geoms of a link as they were in an MJCF file.

        Nothing where it was read from another format, or has changed.
        """
        entries = []
        for segment in link.segments:
            geoms = mjcf_values(segment.extra).get("geoms")
            if geoms:
                entries.append(geoms)
        if not entries:
            return []
        geoms = []
        if len(link.segments) == 1 and isinstance(entries[0], (list, tuple)):
            geoms = _assign(entries[0], link)
        if not geoms:
            self._counts["other rules", name] += 1
        return geoms

    def _write_geom(
        self,
        element: Element,
        shape: Shape,
        kind: str,
        name: str,
        kept: Mapping[str, object] | None = None,
    ) -> None:
        """Add a geom of a class to a body.

        `kept` are its attributes in an MJCF file.
        """
        kept = kept or {}
        form = solid(shape)
        if form is None:
            self._counts["not drawn", name] += 1
            return
        attributes = {"class": kind}
        if shape.name:
            attributes["name"] = self._geom_name(shape.name)
        attributes["type"] = form.type
        plane = kept.get("plane")
        # A plane of MJCF is read as two triangles; it becomes a plane again unless
        # scaled.
        is_plane = isinstance(plane, str) and poses.is_rigid(shape.transform)
        pose = form.pose
        if is_plane:
            attributes |= {"type": "plane", "size": str(plane) or "0 0 1"}
            attributes |= pose_attributes(poses.from_matrix(shape.transform))
        elif form.mesh is None:
            attributes["size"] = number_text(form.size)
        else:
            mesh = self._mesh_of(form, shape, name)
            if mesh is None:
                self.names.release("geom", attributes.get("name", ""))
                self._counts["not drawn", name] += 1
                return
            attributes["mesh"] = self._mesh_name(mesh, name)
            # MuJoCo's convex hull needs a volume: a flat mesh has no contacts.
            if kind != "visual" and is_flat(mesh):
                self._counts["flat", name] += 1
                attributes |= {"contype": "0", "conaffinity": "0"}
        of_contacts = {key: value for key, value in kept.items() if key in GEOM_KEPT}
        attributes |= attributes_of(of_contacts)
        if not is_plane:
            attributes |= pose_attributes(pose)
        attributes["material"] = self._material_name(shape.material)
        element.add("geom", attributes)

    def _geom_name(self, wanted: str) -> str:
        name = self.names.free("geom", wanted)
        if name != wanted:
            self.output.kept.add("geom", name, {"name": wanted})
            self.output.renamed.add("shape", wanted, name)
        return name

    def _mesh_of(self, form: Solid, shape: Shape, name: str) -> Mesh | None:
        """Return the mesh of a shape as MuJoCo loads it.

        None where MuJoCo refuses it.
        """
        assert form.mesh is not None
        # By identity: shapes that share a mesh share the asset. `_ReadyMesh` holds the
        # mesh, because ids are used again after an object is gone.
        key = id(form.mesh)
        if key not in self._ready:
            self._ready[key] = _ReadyMesh(form.mesh, loadable(form.mesh))
        ready = self._ready[key].loadable
        if ready is None:
            return None
        is_meshed = form.meshed and not isinstance(shape.geometry, Mesh)
        if ready.is_changed or is_meshed:
            self._counts["meshed", name] += 1
        self._colored += ready.mesh.colors is not None
        return ready.mesh

    def _mesh_name(self, mesh: Mesh, name: str) -> str:
        """Return the name of the asset of a mesh.

        A new one is added.
        """
        path = self.output.folder.add(mesh, name)
        if path is None:
            return self._inline_name(mesh, name)
        if path not in self._assets:
            stem = path.rpartition("/")[2].rpartition(".")[0]
            asset = self.names.free("mesh", stem)
            self._assets[path] = asset
            attributes = {"name": asset, "file": path, **self._mesh_attributes}
            self.asset.add("mesh", attributes)
        return self._assets[path]

    def _inline_name(self, mesh: Mesh, name: str) -> str:
        """Return the name of a mesh whose vertices are in the model."""
        if id(mesh) not in self._inline:
            asset = self.names.free("mesh", name)
            self._inline[id(mesh)] = _InlineMesh(mesh, asset)
            attributes = {
                "name": asset,
                **self._mesh_attributes,
                "vertex": number_text(mesh.vertices),
                "face": " ".join(map(str, mesh.faces.ravel().tolist())),
            }
            self.asset.add("mesh", attributes)
        return self._inline[id(mesh)].name

    def _material_name(self, material: Material) -> str:
        """Return the name of the asset of a material.

        A new one is added.
        """
        key = _material_key(material)
        if key not in self._materials:
            name = self.names.free("material", f"material_{len(self._materials)}")
            self._materials[key] = name
            self._add_material(material, name)
        return self._materials[key]

    def _add_material(self, material: Material, name: str) -> None:
        """Add the asset of a material.

        <custom> keeps what MJCF does not hold of it.
        """
        surface = _surface(material)
        attributes = {
            "name": name,
            "rgba": number_text(surface.rgba),
            "specular": number_text(surface.specular),
            "shininess": number_text(surface.shininess),
        }
        if surface.emission:
            attributes["emission"] = number_text(surface.emission)
        element = self.asset.add("material", attributes)
        kept = differences(material, surface.material, skip=("texture",))
        image = material.texture
        texture = self._texture_name(image) if image is not None else ""
        if image is not None and texture:
            element.attributes["texture"] = texture
            kept["texture"] = {
                "url": image.url,
                "repeat": [image.repeat_s, image.repeat_t],
                "transform": image.transform,
            }
        self.output.kept.add("material", name, kept)

    def _texture_name(self, image: Texture) -> str:
        """Return the name of the asset of an image.

        "" where MuJoCo cannot read it.
        """
        if image.path.suffix.lower() != ".png":
            message = (
                f"MuJoCo reads only PNG images: {image.path.name!r:.80} is left out"
            )
            self._lost_images.add(message)
            return ""
        path = self.output.folder.image(image)
        if path is None:
            return ""
        if path not in self._assets:
            name = self.names.free("texture", image.path.stem)
            self._assets[path] = name
            self.asset.add("texture", {"name": name, "type": "2d", "file": path})
        return self._assets[path]

    @property
    def lost(self) -> list[Problem]:
        """What the geoms do not hold of the shapes."""
        problems = []
        for (kind, name), count in self._counts.items():
            rule, message = MESSAGES[kind]
            shapes = "a shape" if count == 1 else f"{count} shapes"
            location = Location(inside=f"link {name}")
            problems.append(rule.problem(message.format(shapes, name), location))
        if self._colored:
            message = (
                "MuJoCo shows one colour for each mesh: vertex colours of "
                f"{self._colored} are only in the mesh files"
            )
            problems.append(losses.MESH_LOOK.problem(message))
        problems += map(losses.SURFACE.problem, sorted(self._lost_images))
        return problems


def _is_flat_solid(shape: Shape) -> bool:
    form = solid(shape)
    return form is not None and form.is_flat


def _material_key(material: Material) -> object:
    """Return what makes two materials the same asset."""
    looks = [
        getattr(material, field.name)
        for field in fields(material)
        if field.name != "texture"
    ]
    image = material.texture
    if image is None:
        return (*looks, None)
    pixels = (
        image.path,
        image.url,
        image.repeat_s,
        image.repeat_t,
        image.transform.tobytes(),
    )
    return (*looks, pixels)


def _surface(material: Material) -> Surface:
    """Return the numbers of an MJCF material that are closest to a material."""
    # MJCF has one number for the specular colour: the mean; equal ones are exact.
    specular = material.specular[0]
    if len(set(material.specular)) > 1:
        specular = sum(material.specular) / 3.0
    brightest = max(material.diffuse)
    emission = 0.0
    # MuJoCo multiplies rgba by the emission: the colour of the glow is that of the
    # material, and a black one cannot glow.
    if brightest > MIN_BRIGHTNESS:
        emission = min(max(material.emissive) / brightest, MAX_EMISSION)
    rgba = (*material.diffuse, 1.0 - material.transparency)
    return Surface(rgba, specular, material.shininess, emission)


def _assign(entries: Sequence[object], link: Link) -> list[KeptGeom]:
    """Return the shape of each kept geom; nothing where the shapes have changed."""
    visuals = list(link.visuals)
    collisions = list(link.collisions)
    geoms: list[KeptGeom] = []
    for entry in entries:
        role = _kept_role(entry)
        if role is None or not isinstance(entry, Mapping):
            return []
        shapes = []
        if role.visual and visuals:
            shapes.append(visuals.pop(0))
        if role.collision and collisions:
            shapes.append(collisions.pop(0))
        # A geom for both purposes is the same shape in both lists.
        if not shapes or len(shapes) != sum(role) or shapes[0] != shapes[-1]:
            return []
        geoms.append(KeptGeom(entry, shapes[0], role))
    return [] if visuals or collisions else geoms


def _kept_role(entry: object) -> Role | None:
    shown = entry.get("shown") if isinstance(entry, Mapping) else None
    if not isinstance(shown, (list, tuple)) or len(shown) != 2:
        return None
    return Role(visual=bool(shown[0]), collision=bool(shown[1]))
