"""The `<geom>` elements of a link and the meshes that they show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics import Location, losses
from bodymotion.formats.mjcf.alone import GEOM_KEPT, kind_of
from bodymotion.formats.mjcf.conventions import CLASSES
from bodymotion.formats.mjcf.writing.solids import is_flat, loadable, same_shape, solid
from bodymotion.formats.only_mjcf import of_mjcf, texts
from bodymotion.formats.xml.tree import Element, number_text
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.shapes import Mesh, Shape

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem
    from bodymotion.formats.meshes.folder import MeshFolder
    from bodymotion.formats.mjcf.kept import Kept
    from bodymotion.formats.mjcf.writing.looks import Looks
    from bodymotion.formats.mjcf.writing.names import Names
    from bodymotion.geometry.arrays import Floats
    from bodymotion.model.links import Link

__all__ = ["CLASSES", "GeomWriter", "pose_attributes"]


def pose_attributes(pose: Floats) -> dict[str, str]:
    """Return a pose (7,) as the attributes pos and quat (w x y z, as ours); what is zero is left out."""
    given = {}
    if pose[:3].any():
        given["pos"] = number_text(pose[:3])
    if (pose[3:] != (1.0, 0.0, 0.0, 0.0)).any():
        given["quat"] = number_text(pose[3:])
    return given


class GeomWriter:
    """Writes shapes: each mesh, however often it is shown, as one asset."""

    def __init__(self, asset: Element, names: Names, kept: Kept, folder: MeshFolder, looks: Looks) -> None:
        self.asset, self.names, self.kept, self.folder, self.looks = asset, names, kept, folder, looks
        self._assets: dict[str, str] = {}
        self._inline: dict[int, tuple[Mesh, str]] = {}
        self._ready: dict[int, tuple[Mesh, Mesh | None, bool]] = {}
        self._counts: dict[tuple[str, str], int] = {}
        self._colored = 0

    def write(self, element: Element, link: Link, name: str) -> bool:
        """Put the shapes of a link into its body, which is called `name`; say whether all of them are there."""
        left_out = self._counts.get(("not drawn", name), 0)
        self._write(element, link, name)
        return self._counts.get(("not drawn", name), 0) == left_out

    def _write(self, element: Element, link: Link, name: str) -> None:
        visuals, collisions = link.visuals, link.collisions
        if self._as_told(element, link, name):
            return
        both = len(visuals) == len(collisions) and all(map(same_shape, visuals, collisions))
        if both and not any(self._flat(shape) for shape in visuals):
            for shape in visuals:
                self._geom(element, shape, "seen_collision", name)
            return
        for shape in visuals:
            self._geom(element, shape, "visual", name)
        for shape in collisions:
            self._geom(element, shape, "collision", name)

    def _as_told(self, element: Element, link: Link, name: str) -> bool:
        """Write the geoms of a link that came from MJCF as they stood there; False where it is told of none, or of others."""
        given = [rules for segment in link.segments if (rules := of_mjcf(segment.extra).get("geoms"))]
        if not given:
            return False
        plan = given[0] if len(link.segments) == 1 and isinstance(given[0], (list, tuple)) else []
        shapes = _shared(plan, link)
        if not shapes:
            self._tell("other rules", name)
            return False
        for rules, shape, seen, touched in shapes:
            said = texts({key: value for key, value in rules.items() if key in GEOM_KEPT})
            kind = kind_of(visual=seen, collision=touched)
            plane = rules.get("plane")
            self._geom(element, shape, kind, name, said, plane if isinstance(plane, str) else None)
        return True

    def _flat(self, shape: Shape) -> bool:
        found = solid(shape)
        return found is not None and found.mesh is not None and is_flat(found.mesh)

    def _geom(
        self,
        element: Element,
        shape: Shape,
        kind: str,
        name: str,
        said: Mapping[str, str] = {},
        plane: str | None = None,
    ) -> None:
        found = solid(shape)
        place = _turned_only(shape.transform) if plane is not None else None
        if found is None:
            return self._tell("not drawn", name)
        attributes = {"class": kind}
        if shape.name:
            attributes["name"] = self.names.free("geom", shape.name)
            if attributes["name"] != shape.name:
                self.kept.add("geom", attributes["name"], {"name": shape.name})
        attributes["type"] = found.type
        if place is not None:
            attributes |= {"type": "plane", "size": plane or "0 0 1", **pose_attributes(place)}
        elif found.mesh is None:
            attributes["size"] = number_text(found.size)
        else:
            mesh, changed = self._loadable(found.mesh)
            if mesh is None:
                self.names.give_back("geom", attributes.get("name", ""))
                return self._tell("not drawn", name)
            if changed or (found.meshed and not isinstance(shape.geometry, Mesh)):
                self._tell("meshed", name)
            attributes["mesh"] = self._mesh(mesh, name)
            self._colored += mesh.colors is not None
            if kind != "visual" and is_flat(mesh):
                self._tell("flat", name)
                attributes |= {"contype": "0", "conaffinity": "0"}
        attributes |= said
        if place is None:
            attributes |= pose_attributes(found.pose)
        attributes["material"] = self.looks.name(shape.material)
        element.add("geom", attributes)
        return None

    def _loadable(self, mesh: Mesh) -> tuple[Mesh | None, bool]:
        if id(mesh) not in self._ready:
            self._ready[id(mesh)] = (mesh, *loadable(mesh))
        return self._ready[id(mesh)][1:]

    def _mesh(self, mesh: Mesh, name: str) -> str:
        path = self.folder.add(mesh, name)
        if path is not None:
            if path not in self._assets:
                self._assets[path] = self.names.free("mesh", path.rpartition("/")[2].rpartition(".")[0])
                # Inertias are all given: how MuJoCo takes those of meshes does not matter, but it refuses flat ones for most ways.
                self.asset.add("mesh", {"name": self._assets[path], "file": path, "inertia": "shell"})
            return self._assets[path]
        # Where no file can be beside the model, the vertices stand in it.
        if id(mesh) not in self._inline:
            self._inline[id(mesh)] = mesh, self.names.free("mesh", name)
            self.asset.add(
                "mesh",
                {
                    "name": self._inline[id(mesh)][1],
                    "inertia": "shell",
                    "vertex": number_text(mesh.vertices),
                    "face": " ".join(map(str, mesh.faces.ravel().tolist())),
                },
            )
        return self._inline[id(mesh)][1]

    def _tell(self, what: str, name: str) -> None:
        self._counts[what, name] = self._counts.get((what, name), 0) + 1

    @property
    def lost(self) -> list[Problem]:
        """What the geoms do not hold of the shapes."""
        said = {
            "not drawn": (losses.NOT_DRAWN, "{} of link {} without a surface left out"),
            "meshed": (losses.MESHED, "{} of link {} written as mesh"),
            "other rules": (losses.ONLY_MJCF, "how {} of link {} touch, which has other ones by now"),
            "flat": (losses.FLAT, "{} of link {} lying in a plane, which MuJoCo takes for no obstacle"),
        }
        found = []
        for (what, name), count in self._counts.items():
            rule, words = said[what]
            shapes = "a shape" if count == 1 else f"{count} shapes"
            found.append(rule.problem(words.format(shapes, name), Location(inside=f"link {name}")))
        if self._colored:
            words = f"MuJoCo shows one colour for each mesh: those of the corners of {self._colored} are in the mesh files alone"
            found.append(losses.MESH_LOOK.problem(words))
        return found


def _shared(plan: Sequence[object], link: Link) -> list[tuple[Mapping[str, object], Shape, bool, bool]]:
    """Return the shape of each geom, and whether it is seen and whether it touches; none where the link has other shapes by now."""
    left = [list(link.visuals), list(link.collisions)]
    found: list[tuple[Mapping[str, object], Shape, bool, bool]] = []
    for rules in plan:
        shown = rules.get("shown") if isinstance(rules, Mapping) else None
        if not isinstance(rules, Mapping) or not isinstance(shown, (list, tuple)) or len(shown) != 2:
            return []
        taken = [rest.pop(0) for wanted, rest in zip(shown, left, strict=True) if wanted and rest]
        if len(taken) != sum(map(bool, shown)) or not taken or not same_shape(taken[0], taken[-1]):
            return []
        found.append((rules, taken[0], bool(shown[0]), bool(shown[1])))
    return [] if any(left) else found


def _turned_only(transform: Floats) -> Floats | None:
    """Return a transform (4, 4) as a pose (7,); None where it stretches."""
    turn = transform[:3, :3]
    if np.abs(turn.T @ turn - np.eye(3)).max() > 1e-9 or np.linalg.det(turn) < 0:
        return None
    return poses.from_parts(transform[:3, 3], rotations.from_matrix(turn))
