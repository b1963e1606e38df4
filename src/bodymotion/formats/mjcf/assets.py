"""Meshes, textures and materials of a model, each read when it is first used."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import numpy as np

from bodymotion.formats.kept_json import usable
from bodymotion.formats.meshes.reading import MeshReader
from bodymotion.formats.mjcf import rules
from bodymotion.formats.mjcf.defaults import finite
from bodymotion.formats.resources import PART_OUTSIDE, ResourceFinder
from bodymotion.formats.vrml.reader import InlineLoader
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import frozen
from bodymotion.geometry.shapes import Material, Mesh, Texture

if TYPE_CHECKING:
    from bodymotion.diagnostics import Diagnostics, Location
    from bodymotion.formats.mjcf.defaults import Defaults, Settings
    from bodymotion.formats.mjcf.kept import Kept
    from bodymotion.formats.xml.tree import Element

CLASSES = {
    "visual": {"group": "2", "contype": "0", "conaffinity": "0"},
    "collision": {"group": "3"},
    "seen_collision": {"group": "1"},
}
"""Classes of geoms of our writer: visuals, collision shapes (MuJoCo does not show group 3), and both."""

SCENE = ("floor", "light", "home")
"""Names of the floor, the light and the keyframe of our writer; the reader leaves them out of a file of ours."""
INTEGRATOR = {"integrator": "implicitfast"}
"""The option that our writer adds for position actuators: their damping is integrated implicitly."""

FROM_Y_TO_Z = poses.from_parts(np.zeros(3), [np.sqrt(0.5), -np.sqrt(0.5), 0.0, 0.0])
"""The pose of a frame whose z is along y: cylinders and capsules are along y in a Body, along z in MJCF."""


def material_of(rgba: tuple[float, ...], specular: float, shininess: float, emission: float) -> Material:
    """Return the material of the numbers in an MJCF material."""
    red, green, blue, alpha = rgba
    return Material(
        diffuse=(red, green, blue),
        specular=(specular, specular, specular),
        emissive=(emission * red, emission * green, emission * blue),
        shininess=shininess,
        transparency=1.0 - alpha,
    )


DEFAULT_COLOR = (0.5, 0.5, 0.5, 1.0)
"""The rgba of a geom without one."""


MATERIAL_ATTRIBUTES = {"name", "class", "rgba", "specular", "shininess", "emission", "texture"}


@dataclass(frozen=True)
class MeshAsset:
    """A mesh, and how MuJoCo computes its mass (`inertia` of the asset)."""

    mesh: Mesh
    inertia: str


class Assets:
    """The assets of a model by name."""

    def __init__(
        self,
        root: Element,
        settings: Settings,
        defaults: Defaults,
        kept: Kept,
        finder: ResourceFinder,
        path: Path,
        found: Diagnostics,
    ) -> None:
        self.settings, self.kept, self.finder, self.path, self.found = settings, kept, finder, path, found
        self._loader = InlineLoader(finder)
        self._files = MeshReader(rules.MESH_FILE, found)
        self._elements: dict[str, dict[str, Element]] = {"mesh": {}, "material": {}, "texture": {}}
        self._meshes: dict[str, MeshAsset | None] = {}
        self.faulty: set[str] = set()
        """Meshes that are missing, or have wrong numbers."""
        self.images: dict[str, Location] = {}
        """By url, where an image is named first."""
        self._unknown: set[str] = set()
        self._materials: dict[tuple[str, tuple[float, ...] | None], Material] = {}
        for section in root.all("asset"):
            for plain in section.children:
                if plain.name not in self._elements:
                    continue
                element = defaults.full(plain)
                name = element.get("name") or PurePosixPath(element.get("file").replace("\\", "/")).stem
                if name in self._elements[element.name]:
                    element.report(rules.SAME_NAME, f"a second asset <{element.name}> has the name {name!r:.60}")
                self._elements[element.name].setdefault(name, element)

    def mesh(self, name: str, user: Element) -> MeshAsset | None:
        """Return the mesh of a name; None where it cannot be read, which is reported once."""
        if name not in self._meshes:
            element = self._elements["mesh"].get(name)
            self._meshes[name] = None
            if element is not None:
                self._meshes[name] = self._read(element)
            elif name:
                user.report(rules.ASSET, f"there is no mesh {name!r:.60}", "mesh", fatal=True)
                self.faulty.add(name)
        return self._meshes[name]

    def _read(self, element: Element) -> MeshAsset | None:
        if "builtin" in element.attributes:
            message = f"mesh {element.get('name')!r:.60} is made by MuJoCo (builtin), which is not read"
            element.report(rules.MESH_MADE, message, "builtin")
            return None
        found = self._vertices(element)
        if found is None:
            return None
        vertices = found.vertices
        with np.errstate(all="ignore"):
            if "refpos" in element.attributes:
                vertices = vertices - finite(element, "refpos", 3)
            if "refquat" in element.attributes:
                back = rotations.conjugate(rotations.normalized(finite(element, "refquat", 4)))
                vertices = rotations.rotate(back, vertices)
            moved = replace(found, vertices=frozen(vertices), normals=found.normals)
            if "refquat" in element.attributes:
                moved = replace(moved, normals=None)
            scale = finite(element, "scale", 3, (1.0, 1.0, 1.0))
            if (scale != 1.0).any():
                from bodymotion.geometry.meshes import transformed

                moved = transformed(moved, np.diag([*scale, 1.0]))
        if not np.isfinite(moved.vertices).all() or not len(moved.faces):
            self._report(element, "has no triangles, or vertices that are not finite")
            return None
        return MeshAsset(moved, element.get("inertia", "legacy"))

    def _vertices(self, element: Element) -> Mesh | None:
        if "vertex" in element.attributes:
            corners = np.array(element.numbers("vertex"))
            if not len(corners) or len(corners) % 3:
                element.wrong(f"vertex of <mesh> has {len(corners)} numbers; expected three for each vertex", "vertex")
                self.faulty.add(element.get("name"))
                return None
            corners = corners.reshape(-1, 3)
            if "face" not in element.attributes:
                return self._hull(element, corners)
            numbers = np.array(element.numbers("face"))
            if not len(numbers) or len(numbers) % 3 or not ((numbers >= 0) & (numbers < len(corners))).all():
                element.wrong(
                    "face of <mesh> has wrong numbers; expected three indices of vertices for each triangle", "face"
                )
                self.faulty.add(element.get("name"))
                return None
            return Mesh(frozen(corners), numbers.astype(np.int32).reshape(-1, 3))
        name = element.get("file")
        if not name:
            self._report(element, "has neither file nor vertex")
            return None
        path = self._file(name, self.settings.meshdir, element)
        if path is None:
            return None
        shapes = self._files.shapes(path, self._loader, element.location)
        meshes = [shape.geometry for shape in shapes if isinstance(shape.geometry, Mesh) and _identity(shape.transform)]
        if len(meshes) == len(shapes) == 1:
            return meshes[0]
        return _joined([shape.to_mesh() for shape in shapes if isinstance(shape.geometry, Mesh)])

    def _hull(self, element: Element, corners: Any) -> Mesh | None:  # noqa: ANN401
        try:
            import trimesh

            hull = trimesh.convex.convex_hull(corners)
            return Mesh(frozen(np.asarray(hull.vertices, dtype=np.float64)), np.asarray(hull.faces, dtype=np.int32))
        except (
            Exception
        ) as error:  # Without scipy there is no hull; for flat meshes the library raises various exceptions.
            message = f"mesh {element.get('name')!r:.60} is the convex hull of its vertices, which cannot be computed: {error!s:.100}"
            element.report(rules.MESH_MADE, message, "vertex")
            return None

    def _file(self, name: str, folder: str, element: Element) -> Path | None:
        path = PurePosixPath(name.replace("\\", "/"))
        within = PurePosixPath(path.name if self.settings.strippath else path)
        # Where <compiler> with the folder is in an included file, files may be named relative to the model.
        names = (str(PurePosixPath(folder.replace("\\", "/")) / within), str(within))
        first, *others = (self.finder.find_one(wanted, self.path) for wanted in dict.fromkeys(names))
        for file in (first, *others):
            if isinstance(file, Path):
                return file
        assert not isinstance(first, Path)
        message = f"{name!r:.200} {first.reason}"
        if first.is_outside:
            # That such a file is not opened is our own rule, not a fault of the model.
            element.report(rules.MESH_FILE, message, "file", hint=PART_OUTSIDE.hint, severity="warning")
        else:
            element.report(rules.MESH_FILE, message, "file", data=first.data)
        return None

    def material(self, geom: Element) -> Material:
        """Return the material of a geom; its own rgba takes precedence over that of the material."""
        name = geom.get("material")
        own = _finite(geom, "rgba", 4) if "rgba" in geom.attributes else None
        key = (name, own)
        if key not in self._materials:
            self._materials[key] = self._material(name, own, geom)
        return self._materials[key]

    def _material(self, name: str, own: tuple[float, ...] | None, geom: Element) -> Material:
        if not name:
            return material_of(own or DEFAULT_COLOR, 0.5, 0.5, 0.0)
        element = self._elements["material"].get(name)
        if element is None:
            if name not in self._unknown:
                geom.report(rules.ASSET, f"there is no material {name!r:.60}", "material", fatal=True)
            self._unknown.add(name)
            return Material()
        more = sorted(element.attributes.keys() - MATERIAL_ATTRIBUTES)
        if more or any(layer.get("role") != "rgb" for layer in element.all("layer")):
            message = f"material {name!r:.60}: {', '.join(more) or 'layers'} left out"
            element.report(rules.LOOK, message[:300])
        rgba = _finite(element, "rgba", 4, (1.0, 1.0, 1.0, 1.0))
        # As in MuJoCo, a geom's own colour counts unless it is the default.
        if own is not None and own != DEFAULT_COLOR:
            rgba = own
        values = [
            *_finite(element, "specular", 1, (0.5,)),
            *_finite(element, "shininess", 1, (0.5,)),
            *_finite(element, "emission", 1, (0.0,)),
        ]
        material = material_of(rgba, *values)
        kept_values = self.kept.get("material", name)
        as_kept = replace(material, **usable(material, kept_values, skip=("texture",)))
        seen = zip((*as_kept.diffuse, as_kept.transparency), (*material.diffuse, material.transparency), strict=True)
        if own is None and all(math.isclose(a, b, abs_tol=1e-6) for a, b in seen):
            material = as_kept
        return self._textured(material, element, kept_values)

    def _textured(self, material: Material, element: Element, kept_values: dict[str, object]) -> Material:
        name = element.get("texture")
        if not name:
            layers = (layer.get("texture") for layer in element.all("layer") if layer.get("role") == "rgb")
            name = next(layers, "")
        if not name:
            return material
        texture = self._elements["texture"].get(name)
        if texture is None:
            element.report(rules.ASSET, f"there is no texture {name!r:.60}", "texture", fatal=True)
            return material
        file = texture.get("file")
        path = self._file(file, self.settings.texturedir, texture) if file else None
        if not file:
            message = f"texture {name!r:.60} has no image file: it is left out"
            texture.report(rules.LOOK, message)
        if path is None:
            return material
        kept = kept_values.get("texture")
        values: dict[str, Any] = kept if isinstance(kept, dict) else {}
        repeat = values.get("repeat")
        repeats = repeat if isinstance(repeat, list) and len(repeat) == 2 else [True, True]
        image = Texture(path, file, bool(repeats[0]), bool(repeats[1]))
        image = replace(image, **usable(image, {k: values[k] for k in ("url", "transform") if k in values}))
        self.images.setdefault(image.url, texture.location_of("file"))
        return replace(material, texture=image)

    def _report(self, element: Element, message: str) -> None:
        element.report(rules.MESH_FILE, f"mesh {element.get('name')!r:.60} {message}")


def _identity(transform: Any) -> bool:  # noqa: ANN401
    return bool((transform == np.eye(4)).all())


def _joined(meshes: list[Mesh]) -> Mesh | None:
    """Return several meshes as one, without normals and colours; None for no mesh."""
    if len(meshes) < 2:
        return meshes[0] if meshes else None
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes[:-1])])
    faces = [mesh.faces + np.int32(start) for mesh, start in zip(meshes, starts.tolist(), strict=True)]
    vertices = np.concatenate([mesh.vertices for mesh in meshes])
    return Mesh(frozen(vertices), np.concatenate(faces), crease_angle=meshes[0].crease_angle)


def _finite(element: Element, name: str, count: int, default: tuple[float, ...] | None = None) -> tuple[float, ...]:
    return tuple(finite(element, name, count, default).tolist())
