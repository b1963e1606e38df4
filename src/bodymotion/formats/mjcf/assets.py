"""The meshes, materials and textures of a model, each read when it is first used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import numpy as np

from bodymotion.diagnostics import Diagnostics, Location
from bodymotion.formats.kept_json import usable
from bodymotion.formats.meshes.reading import MeshReader
from bodymotion.formats.mjcf import rules
from bodymotion.formats.mjcf.defaults import Defaults, Settings
from bodymotion.formats.mjcf.masses import convex_hull
from bodymotion.formats.mjcf.names import Kept, finite
from bodymotion.formats.resources import (
    PART_MISSING,
    PART_OUTSIDE,
    PART_UNREADABLE,
    ReferencedFiles,
    ResourceFinder,
)
from bodymotion.formats.xml.tree import MISSING, Element
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.geometry.meshes import transformed
from bodymotion.geometry.shapes import Material, Mesh, Texture

# The rgba of a geom without one.
DEFAULT_COLOR = (0.5, 0.5, 0.5, 1.0)
MATERIAL_ATTRIBUTES = {
    "name",
    "class",
    "rgba",
    "specular",
    "shininess",
    "emission",
    "texture",
}
# Colours that differ by more were edited in the file. What <custom> keeps of them is
# ignored then.
COLOR_TOLERANCE = 1e-6


class Surface(NamedTuple):
    """The numbers of an MJCF material."""

    rgba: tuple[float, ...]
    specular: float = 0.5
    shininess: float = 0.5
    emission: float = 0.0

    @property
    def material(self) -> Material:
        """The material with these numbers."""
        red, green, blue, alpha = self.rgba
        specular = self.specular
        emission = self.emission
        return Material(
            diffuse=(red, green, blue),
            specular=(specular, specular, specular),
            emissive=(emission * red, emission * green, emission * blue),
            shininess=self.shininess,
            transparency=1.0 - alpha,
        )


class MeshAsset(NamedTuple):
    """A mesh, and how MuJoCo computes its mass (`inertia` of the asset)."""

    mesh: Mesh
    inertia: str


class Assets:
    """Reads the assets of a model by their names.

    Attributes
    ----------
    faulty:
        Meshes that are missing, or have wrong numbers.
    images:
        By url, where an image is named first.
    """

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
        """Collect the assets of a model by name.

        Each is read when it is first used.
        """
        self.settings = settings
        self.kept = kept
        self.finder = finder
        self.path = path
        self.faulty: set[str] = set()
        self.images: dict[str, Location] = {}
        self._loader = ReferencedFiles(finder)
        self._files = MeshReader(PART_UNREADABLE.as_error, found)
        self._elements: dict[str, dict[str, Element]] = {
            "mesh": {},
            "material": {},
            "texture": {},
        }
        self._meshes: dict[str, MeshAsset | None] = {}
        self._unknown_materials: set[str] = set()
        self._materials: dict[tuple[str, tuple[float, ...] | None], Material] = {}
        for plain in root.inside("asset"):
            if plain.name in self._elements:
                self._add(defaults.full(plain))

    def _add(self, element: Element) -> None:
        """Add an asset; one without a name has that of its file."""
        elements = self._elements[element.name]
        name = element.get("name")
        if not name:
            name = PurePosixPath(element.get("file").replace("\\", "/")).stem
        if name and name in elements:
            message = f"a second asset <{element.name}> has the name {name!r:.60}"
            element.report(rules.SAME_NAME, message)
        elements.setdefault(name, element)

    def mesh(self, name: str, user: Element) -> MeshAsset | None:
        """Return the mesh of a name, which an element uses.

        None where it cannot be read, which is reported once.
        """
        if name not in self._meshes:
            element = self._elements["mesh"].get(name)
            self._meshes[name] = None if element is None else self._read_mesh(element)
            if element is None and name:
                message = f"there is no mesh {name!r:.60}"
                user.report(rules.ASSET, message, "mesh", fatal=True)
                self.faulty.add(name)
        return self._meshes[name]

    def _read_mesh(self, element: Element) -> MeshAsset | None:
        """Return the mesh of an asset in its own frame, None for none."""
        name = element.get("name")
        if "builtin" in element.attributes:
            message = (
                f"mesh {name!r:.60} is made by MuJoCo (builtin), which is not read"
            )
            element.report(rules.MESH_MADE, message, "builtin")
            return None
        mesh = self._triangles(element)
        if mesh is None:
            return None
        # MuJoCo applies refpos and refquat first, then the scale.
        mesh = _in_mesh_frame(mesh, element)
        scale = finite(element, "scale", 3, (1.0, 1.0, 1.0))
        if (scale != 1.0).any():
            mesh = transformed(mesh, np.diag([*scale, 1.0]))
        if not np.isfinite(mesh.vertices).all() or not len(mesh.faces):
            message = (
                f"mesh {name!r:.60} has no triangles, or vertices that are not finite"
            )
            element.report(PART_UNREADABLE.as_error, message)
            return None
        return MeshAsset(mesh, element.get("inertia", "legacy"))

    def _triangles(self, element: Element) -> Mesh | None:
        """Return the mesh in an element or in its file.

        None where it has none.
        """
        if "vertex" in element.attributes:
            return self._read_vertices(element)
        name = element.get("file")
        if not name:
            title = f"mesh {element.get('name')!r:.60}"
            element.report(MISSING, f"{title} has neither file nor vertex")
            return None
        path = self._file(name, self.settings.of(element).meshdir, element)
        if path is None:
            return None
        shapes = self._files.shapes(path, self._loader, element.location)
        meshes = [shape for shape in shapes if isinstance(shape.geometry, Mesh)]
        # A single mesh without a transform keeps its normals and texture coordinates.
        if len(shapes) == 1 and meshes:
            geometry = meshes[0].geometry
            is_in_place = (meshes[0].transform == np.eye(4)).all()
            if is_in_place and isinstance(geometry, Mesh):
                return geometry
        return _joined([shape.to_mesh() for shape in meshes])

    def _read_vertices(self, element: Element) -> Mesh | None:
        """Return the mesh of the vertices in an element.

        Its faces are those in the element, or those of the convex hull.
        """
        name = element.get("name")
        numbers = np.array(element.numbers("vertex"))
        if not len(numbers) or len(numbers) % 3:
            message = (
                f"vertex of <mesh> has {len(numbers)} numbers; expected three for "
                "each vertex"
            )
            element.wrong(message, "vertex")
            self.faulty.add(name)
            return None
        vertices = numbers.reshape(-1, 3)
        if "face" not in element.attributes:
            title = f"mesh {name!r:.60} is the convex hull of its vertices"
            return convex_hull(vertices, element, rules.MESH_MADE, title)
        faces = np.array(element.numbers("face"))
        are_indices = ((faces >= 0) & (faces < len(vertices))).all()
        if not len(faces) or len(faces) % 3 or not are_indices:
            message = (
                "face of <mesh> has wrong numbers; expected three indices of vertices "
                "for each triangle"
            )
            element.wrong(message, "face")
            self.faulty.add(name)
            return None
        return Mesh(frozen(vertices), faces.astype(np.int32).reshape(-1, 3))

    def _file(self, name: str, folder: str, element: Element) -> Path | None:
        """Return the file that an asset names, None where it cannot be opened."""
        settings = self.settings.of(element)
        path = PurePosixPath(name.replace("\\", "/"))
        if settings.strippath:
            path = PurePosixPath(path.name)
        # An absolute path replaces the folder.
        in_folder = str(PurePosixPath(folder.replace("\\", "/")) / path)
        candidates = [(in_folder, settings.path or self.path)]
        # As in MuJoCo, the folder of an included file is the second, without the folder
        # that <compiler> names.
        document = element.document
        if document is not None and document.path:
            candidates.append((str(path), Path(document.path)))
        # Where <compiler> with the folder is in an included file, files may be named
        # relative to the model.
        candidates.append((str(path), self.path))
        results = [
            self.finder.find_one(wanted, holder)
            for wanted, holder in dict.fromkeys(candidates)
        ]
        for result in results:
            if isinstance(result, Path):
                return result
        first = results[0]
        assert not isinstance(first, Path)
        message = f"{name!r:.200} {first.reason}"
        if first.is_outside:
            # That such a file is not opened is our own rule, not a fault of the model.
            element.report(PART_MISSING, message, "file", hint=PART_OUTSIDE.hint)
        else:
            element.report(PART_MISSING.as_error, message, "file", data=first.data)
        return None

    def material(self, geom: Element) -> Material:
        """Return the material of a geom.

        Its own rgba takes precedence over that of the material.
        """
        name = geom.get("material")
        color = None
        if "rgba" in geom.attributes:
            color = tuple(finite(geom, "rgba", 4).tolist())
        key = (name, color)
        if key not in self._materials:
            self._materials[key] = self._read_material(name, color, geom)
        return self._materials[key]

    def _read_material(
        self, name: str, color: tuple[float, ...] | None, geom: Element
    ) -> Material:
        """Return a material, in the colour of a geom if this has one."""
        if not name:
            return Surface(color or DEFAULT_COLOR).material
        element = self._elements["material"].get(name)
        if element is None:
            if name not in self._unknown_materials:
                message = f"there is no material {name!r:.60}"
                geom.report(rules.ASSET, message, "material", fatal=True)
            self._unknown_materials.add(name)
            return Material()
        # Reflectance and the maps of physically based rendering have no field here.
        others = sorted(element.attributes.keys() - MATERIAL_ATTRIBUTES)
        layers = [layer.get("role") for layer in element.all("layer")]
        if others or any(role != "rgb" for role in layers):
            message = f"material {name!r:.60}: {', '.join(others) or 'layers'} left out"
            element.report(rules.LOOK, message[:300])
        rgba = tuple(finite(element, "rgba", 4, (1.0, 1.0, 1.0, 1.0)).tolist())
        # As in MuJoCo, a geom's own colour counts unless it is the default.
        if color is not None and color != DEFAULT_COLOR:
            rgba = color
        material = Surface(
            rgba,
            finite(element, "specular", 1, (0.5,)).item(),
            finite(element, "shininess", 1, (0.5,)).item(),
            finite(element, "emission", 1, (0.0,)).item(),
        ).material
        # MJCF has one number for specular colour and one for emission: our writer keeps
        # the colours. They hold unless the colour was edited in the file.
        kept = self.kept.get("material", name)
        as_kept = replace(material, **usable(material, kept, skip=("texture",)))
        if color is None and np.allclose(
            [*as_kept.diffuse, as_kept.transparency],
            [*material.diffuse, material.transparency],
            rtol=1e-9,
            atol=COLOR_TOLERANCE,
        ):
            material = as_kept
        return self._textured(material, element, kept)

    def _textured(
        self, material: Material, element: Element, kept: Mapping[str, object]
    ) -> Material:
        """Return a material with the image that its element names."""
        name = element.get("texture")
        for layer in element.all("layer"):
            if not name and layer.get("role") == "rgb":
                name = layer.get("texture")
        if not name:
            return material
        texture = self._elements["texture"].get(name)
        if texture is None:
            message = f"there is no texture {name!r:.60}"
            element.report(rules.ASSET, message, "texture", fatal=True)
            return material
        file = texture.get("file")
        if not file:
            message = f"texture {name!r:.60} has no image file: it is left out"
            texture.report(rules.LOOK, message)
            return material
        path = self._file(file, self.settings.of(texture).texturedir, texture)
        if path is None:
            return material
        image = _kept_image(Texture(path, file), kept.get("texture"))
        self.images.setdefault(image.url, texture.location_of("file"))
        return replace(material, texture=image)


def _kept_image(image: Texture, kept: object) -> Texture:
    """Return an image with what <custom> keeps of it."""
    if not isinstance(kept, dict):
        return image
    repeat = kept.get("repeat")
    if isinstance(repeat, list) and len(repeat) == 2:
        image = replace(image, repeat_s=bool(repeat[0]), repeat_t=bool(repeat[1]))
    values = {key: kept[key] for key in ("url", "transform") if key in kept}
    return replace(image, **usable(image, values))


def _in_mesh_frame(mesh: Mesh, element: Element) -> Mesh:
    """Return a mesh in the frame that refpos and refquat of its element give."""
    vertices: Floats = mesh.vertices
    normals = mesh.normals
    if "refpos" in element.attributes:
        vertices = vertices - finite(element, "refpos", 3)
    if "refquat" in element.attributes:
        rotation = rotations.normalized(finite(element, "refquat", 4))
        # The inverse rotation: refpos and refquat are the pose of the mesh's frame in
        # the file. Normals would need it too; they are computed again.
        vertices = rotations.rotate(rotations.conjugate(rotation), vertices)
        normals = None
    return replace(mesh, vertices=frozen(vertices), normals=normals)


def _joined(meshes: list[Mesh]) -> Mesh | None:
    """Return several meshes as one, without normals and colours; None for no mesh."""
    if not meshes:
        return None
    if len(meshes) == 1:
        return meshes[0]
    faces = []
    start = 0
    for mesh in meshes:
        faces.append(mesh.faces + np.int32(start))
        start += len(mesh.vertices)
    vertices = np.concatenate([mesh.vertices for mesh in meshes])
    crease_angle = meshes[0].crease_angle
    return Mesh(frozen(vertices), np.concatenate(faces), crease_angle=crease_angle)
