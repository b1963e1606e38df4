"""Shapes as <geom> elements: solids along z with half sizes, or meshes that MuJoCo can load; and their materials."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from bodymotion.diagnostics import Location, Problem, losses
from bodymotion.formats.kept_json import attributes_of, differences, mjcf_values
from bodymotion.formats.mjcf.extra import GEOM_KEPT, kind_of
from bodymotion.formats.mjcf.geoms import material_of
from bodymotion.formats.mjcf.names import Output
from bodymotion.formats.xml.tree import Element, number_text
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.shapes import Material, Mesh, Shape
from bodymotion.geometry.solids import is_flat, solid
from bodymotion.model.links import Link


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
    if len(np.unique(mesh.vertices[np.unique(mesh.faces)].astype(np.float32), axis=0)) >= 4:
        return mesh, False
    # In two at the middle of the first edge, without normals, colours and texture coordinates.
    first, second, third = mesh.faces.T
    middle = 0.5 * (mesh.vertices[first] + mesh.vertices[second])
    extra = len(mesh.vertices) + np.arange(len(mesh.faces))
    faces = np.concatenate([np.stack([first, extra, third], axis=1), np.stack([extra, second, third], axis=1)])
    bare = replace(mesh, normals=None, colors=None, texture_coordinates=None)
    return replace(bare, vertices=np.concatenate([mesh.vertices, middle]), faces=faces), True


def pose_attributes(pose: Floats) -> dict[str, str]:
    """Return the attributes pos and quat (w x y z) of a pose (7,); those of the identity are left out."""
    position = {"pos": number_text(pose[:3])} if pose[:3].any() else {}
    return position | ({"quat": number_text(pose[3:])} if (pose[3:] != rotations.IDENTITY).any() else {})


class GeomWriter:
    """Writes shapes and their materials; each mesh, material and image is one asset, however often it is used."""

    def __init__(self, output: Output, hull_vertices: int = 0) -> None:
        self.output, self.asset, self.names = output, output.asset, output.names
        # Every body has its inertia. MuJoCo does not use that of meshes, but refuses flat ones unless inertia is "shell".
        self._attributes = {"inertia": "shell", **({"maxhullvert": str(hull_vertices)} if hull_vertices else {})}
        self._materials: dict[object, str] = {}
        self._assets: dict[str, str] = {}
        """By path, the names of meshes and images."""
        self._lost: set[str] = set()
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
            both = list(visuals) == list(collisions) and not flat
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
        shapes = _shared(plans[0] if len(link.segments) == 1 and isinstance(plans[0], (list, tuple)) else [], link)
        if not shapes:
            self._counts["other rules", name] += 1
            return False
        for rules, shape, seen, touched in shapes:
            self._geom(element, shape, kind_of(visual=seen, collision=touched), name, rules)
        return True

    def _geom(self, element: Element, shape: Shape, kind: str, name: str, rules: Mapping[str, object] = {}) -> None:
        found, plane = solid(shape), rules.get("plane")
        is_plane = isinstance(plane, str) and poses.is_rigid(shape.transform)
        if found is None:
            self._counts["not drawn", name] += 1
            return
        attributes = {"class": kind}
        if shape.name:
            attributes["name"] = self.names.free("geom", shape.name)
            if attributes["name"] != shape.name:
                self.output.kept.add("geom", attributes["name"], {"name": shape.name})
        attributes["type"] = found.type
        if is_plane:
            attributes |= {"type": "plane", "size": str(plane) or "0 0 1"}
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
        attributes |= attributes_of({key: value for key, value in rules.items() if key in GEOM_KEPT})
        if not is_plane:
            attributes |= pose_attributes(found.pose)
        attributes["material"] = self._material(shape.material)
        element.add("geom", attributes)

    def _mesh(self, mesh: Mesh, name: str) -> str:
        path = self.output.folder.add(mesh, name)
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

    def _material(self, material: Material) -> str:
        image = material.texture
        pixels = image and (image.path, image.url, image.repeat_s, image.repeat_t, image.transform.tobytes())
        key = (*(getattr(material, field.name) for field in fields(material) if field.name != "texture"), pixels)
        if key in self._materials:
            return self._materials[key]
        name = self.names.free("material", f"material_{len(self._materials)}")
        self._materials[key] = name
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
        self.output.kept.add("material", name, attributes_kept)
        return name

    def _texture(self, material: Material) -> str:
        image = material.texture
        if image is None:
            return ""
        if image.path.suffix.lower() != ".png":
            self._lost.add(f"MuJoCo reads only PNG images: {image.path.name!r:.80} is left out")
            return ""
        path = self.output.folder.image(image)
        if path is None:
            return ""
        if path not in self._assets:
            self._assets[path] = self.names.free("texture", image.path.stem)
            self.asset.add("texture", {"name": self._assets[path], "type": "2d", "file": path})
        return self._assets[path]

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
        return [*found, *map(losses.SURFACE.problem, sorted(self._lost))]


def _shared(plan: Sequence[object], link: Link) -> list[tuple[Mapping[str, object], Shape, bool, bool]]:
    """Return the shape of each geom, and whether it is a visual and a collision; nothing where the shapes have changed."""
    left = [list(link.visuals), list(link.collisions)]
    found: list[tuple[Mapping[str, object], Shape, bool, bool]] = []
    for rules in plan:
        shown = rules.get("shown") if isinstance(rules, Mapping) else None
        if not isinstance(rules, Mapping) or not isinstance(shown, (list, tuple)) or len(shown) != 2:
            return []
        used = [rest.pop(0) for wanted, rest in zip(shown, left, strict=True) if wanted and rest]
        if len(used) != sum(map(bool, shown)) or not used or used[0] != used[-1]:
            return []
        found.append((rules, used[0], bool(shown[0]), bool(shown[1])))
    return [] if any(left) else found
