"""The geoms of a model, with the meshes, textures and materials that they name, each read when it is first used.

Masses from geoms.

Shapes are written as solids along z with half sizes, or as meshes that MuJoCo can load.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias

import numpy as np

from bodymotion.diagnostics import Diagnostics, Location, Problem, Rule, losses
from bodymotion.formats.kept_json import attributes_of, differences, mjcf_values, usable
from bodymotion.formats.meshes.reading import MeshReader
from bodymotion.formats.mjcf import rules
from bodymotion.formats.mjcf.defaults import Defaults, Item, Settings, pose, rotation_to
from bodymotion.formats.mjcf.names import Kept, Output, finite
from bodymotion.formats.resources import (
    PART_MISSING,
    PART_OUTSIDE,
    PART_UNREADABLE,
    ReferencedFiles,
    ResourceFinder,
)
from bodymotion.formats.rules import TOO_LARGE
from bodymotion.formats.xml.tree import MISSING, Element, number_text
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.geometry.meshes import FROM_Y_TO_Z, is_flat, solid, transformed
from bodymotion.geometry.shapes import (
    MAX_SHAPES,
    Box,
    Capsule,
    Cylinder,
    Geometry,
    Material,
    Mesh,
    Shape,
    Sphere,
    Texture,
)
from bodymotion.model import inertias
from bodymotion.model.links import Link, Segment

CLASSES = {
    "visual": {"group": "2", "contype": "0", "conaffinity": "0"},
    "collision": {"group": "3"},
    "seen_collision": {"group": "1"},
}
"""Classes of geoms of our writer.

Visuals, collision shapes (MuJoCo does not show group 3), and both.
"""

SCENE = ("floor", "light", "home")
"""Names of the floor, the light and the keyframe of our writer.

The reader leaves them out of a file of ours.
"""
INTEGRATOR = {"integrator": "implicitfast"}
"""The option that our writer adds for position actuators.

Their damping is integrated implicitly.
"""
DEFAULT_COLOR = (0.5, 0.5, 0.5, 1.0)  # The rgba of a geom without one.
MATERIAL_ATTRIBUTES = {
    "name",
    "class",
    "rgba",
    "specular",
    "shininess",
    "emission",
    "texture",
}
DENSITY = 1000.0  # [kg/m³] The default of geoms.

FIRST_HIDDEN_GROUP = 3  # MuJoCo's viewer shows the groups below this one.
PLANE_HALF_SIZE = 100.0  # [m] The half size of a plane without limits.
FROM_Z_TO_Y = poses.inverse(FROM_Y_TO_Z)
_SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3}

GEOM_RULES = {
    "contype": "1",
    "conaffinity": "1",
    "group": "0",
}  # The defaults of geoms.
GEOM_KEPT = (
    *(
        "contype",
        "conaffinity",
        "condim",
        "group",
        "priority",
        "friction",
        "solmix",
        "solref",
        "solimp",
    ),
    *("margin", "gap", "fluidshape", "fluidcoef", "user"),
)


def material_of(
    rgba: tuple[float, ...], specular: float, shininess: float, emission: float
) -> Material:
    """Return the material of the numbers in an MJCF material."""
    red, green, blue, alpha = rgba
    return Material(
        diffuse=(red, green, blue),
        specular=(specular, specular, specular),
        emissive=(emission * red, emission * green, emission * blue),
        shininess=shininess,
        transparency=1.0 - alpha,
    )


MeshAsset: TypeAlias = tuple[
    Mesh, str
]  # A mesh, and how MuJoCo computes its mass (`inertia` of the asset).


class Geoms:
    """Reads the geoms of a model, and its assets by name."""

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
        self.settings = settings
        self.kept = kept
        self.finder = finder
        self.path = path
        self.found = found
        self._loader = ReferencedFiles(finder)
        self._files = MeshReader(PART_UNREADABLE.as_error, found)
        self._elements: dict[str, dict[str, Element]] = {
            "mesh": {},
            "material": {},
            "texture": {},
        }
        self._meshes: dict[str, MeshAsset | None] = {}
        self.faulty: set[str] = set()
        """Meshes that are missing, or have wrong numbers."""
        self.images: dict[str, Location] = {}
        """By url, where an image is named first."""
        self._unknown: set[str] = set()
        self._count = 0
        self._materials: dict[tuple[str, tuple[float, ...] | None], Material] = {}
        for element in (
            defaults.full(plain)
            for plain in root.inside("asset")
            if plain.name in self._elements
        ):
            name = (
                element.get("name")
                or PurePosixPath(element.get("file").replace("\\", "/")).stem
            )
            if name and name in self._elements[element.name]:
                element.report(
                    rules.SAME_NAME,
                    f"a second asset <{element.name}> has the name {name!r:.60}",
                )
            self._elements[element.name].setdefault(name, element)

    def mesh(self, name: str, user: Element) -> MeshAsset | None:
        """Return the mesh of a name.

        None where it cannot be read, which is reported once.
        """
        if name not in self._meshes:
            element = self._elements["mesh"].get(name)
            self._meshes[name] = None if element is None else self._read(element)
            if element is None and name:
                user.report(
                    rules.ASSET, f"there is no mesh {name!r:.60}", "mesh", fatal=True
                )
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
        if "refpos" in element.attributes:
            vertices = vertices - finite(element, "refpos", 3)
        if "refquat" in element.attributes:
            back = rotations.conjugate(
                rotations.normalized(finite(element, "refquat", 4))
            )
            vertices = rotations.rotate(back, vertices)
        if "refquat" in element.attributes:
            normals = None
        else:
            normals = found.normals
        moved = replace(found, vertices=frozen(vertices), normals=normals)
        scale = finite(element, "scale", 3, (1.0, 1.0, 1.0))
        if (scale != 1.0).any():
            moved = transformed(moved, np.diag([*scale, 1.0]))
        if not np.isfinite(moved.vertices).all() or not len(moved.faces):
            message = f"mesh {element.get('name')!r:.60} has no triangles, or vertices that are not finite"
            element.report(PART_UNREADABLE.as_error, message)
            return None
        return moved, element.get("inertia", "legacy")

    def _vertices(self, element: Element) -> Mesh | None:
        if "vertex" in element.attributes:
            corners = np.array(element.numbers("vertex"))
            if not len(corners) or len(corners) % 3:
                element.wrong(
                    f"vertex of <mesh> has {len(corners)} numbers; expected three for "
                    "each vertex",
                    "vertex",
                )
                self.faulty.add(element.get("name"))
                return None
            corners = corners.reshape(-1, 3)
            if "face" not in element.attributes:
                what = f"mesh {element.get('name')!r:.60} is the convex hull of its vertices"
                return _convex_hull(corners, element, rules.MESH_MADE, what)
            numbers = np.array(element.numbers("face"))
            if (
                not len(numbers)
                or len(numbers) % 3
                or not ((numbers >= 0) & (numbers < len(corners))).all()
            ):
                message = "face of <mesh> has wrong numbers; expected three indices of vertices for each triangle"
                element.wrong(message, "face")
                self.faulty.add(element.get("name"))
                return None
            return Mesh(frozen(corners), numbers.astype(np.int32).reshape(-1, 3))
        name = element.get("file")
        if not name:
            element.report(
                MISSING, f"mesh {element.get('name')!r:.60} has neither file nor vertex"
            )
            return None
        folder = self.settings.of(element).meshdir
        path = self._file(name, folder, element)
        if path is None:
            return None
        shapes = self._files.shapes(path, self._loader, element.location)
        if (
            len(shapes) == 1
            and isinstance(shapes[0].geometry, Mesh)
            and (shapes[0].transform == np.eye(4)).all()
        ):
            return shapes[0].geometry
        return _joined(
            [shape.to_mesh() for shape in shapes if isinstance(shape.geometry, Mesh)]
        )

    def _file(self, name: str, folder: str, element: Element) -> Path | None:
        path = PurePosixPath(name.replace("\\", "/"))
        strip = self.settings.of(element).strippath
        within = PurePosixPath(path.name if strip else path)
        in_folder = str(PurePosixPath(folder.replace("\\", "/")) / within)
        candidates = [(in_folder, self.settings.of(element).path or self.path)]
        # As in MuJoCo, the folder of an included file is the second, without the folder
        # that <compiler> names.
        document = element.document
        if document is not None and document.path:
            candidates.append((str(within), Path(document.path)))
        # Where <compiler> with the folder is in an included file, files may be named
        # relative to the model.
        candidates.append((str(within), self.path))
        first, *others = (
            self.finder.find_one(wanted, holder)
            for wanted, holder in dict.fromkeys(candidates)
        )
        for file in (first, *others):
            if isinstance(file, Path):
                return file
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
        if "rgba" in geom.attributes:
            own = tuple(finite(geom, "rgba", 4).tolist())
        else:
            own = None
        key = (name, own)
        if key not in self._materials:
            self._materials[key] = self._material(name, own, geom)
        return self._materials[key]

    def _material(
        self, name: str, own: tuple[float, ...] | None, geom: Element
    ) -> Material:
        if not name:
            return material_of(own or DEFAULT_COLOR, 0.5, 0.5, 0.0)
        element = self._elements["material"].get(name)
        if element is None:
            if name not in self._unknown:
                geom.report(
                    rules.ASSET,
                    f"there is no material {name!r:.60}",
                    "material",
                    fatal=True,
                )
            self._unknown.add(name)
            return Material()
        more = sorted(element.attributes.keys() - MATERIAL_ATTRIBUTES)
        if more or any(layer.get("role") != "rgb" for layer in element.all("layer")):
            element.report(
                rules.LOOK,
                f"material {name!r:.60}: {', '.join(more) or 'layers'} left out"[:300],
            )
        rgba = tuple(finite(element, "rgba", 4, (1.0, 1.0, 1.0, 1.0)).tolist())
        # As in MuJoCo, a geom's own colour counts unless it is the default.
        if own is not None and own != DEFAULT_COLOR:
            rgba = own
        numbers = {"specular": 0.5, "shininess": 0.5, "emission": 0.0}
        material = material_of(
            rgba, *(finite(element, key, 1, (n,)).item() for key, n in numbers.items())
        )
        kept_values = self.kept.get("material", name)
        as_kept = replace(material, **usable(material, kept_values, skip=("texture",)))
        seen = zip(
            (*as_kept.diffuse, as_kept.transparency),
            (*material.diffuse, material.transparency),
            strict=True,
        )
        if own is None and all(math.isclose(a, b, abs_tol=1e-6) for a, b in seen):
            material = as_kept
        return self._textured(material, element, kept_values)

    def _textured(
        self, material: Material, element: Element, kept_values: dict[str, object]
    ) -> Material:
        name = element.get("texture")
        if not name:
            name = next(
                (
                    layer.get("texture")
                    for layer in element.all("layer")
                    if layer.get("role") == "rgb"
                ),
                "",
            )
        if not name:
            return material
        texture = self._elements["texture"].get(name)
        if texture is None:
            element.report(
                rules.ASSET, f"there is no texture {name!r:.60}", "texture", fatal=True
            )
            return material
        file = texture.get("file")
        folder = self.settings.of(texture).texturedir
        if file:
            path = self._file(file, folder, texture)
        else:
            path = None
        if not file:
            texture.report(
                rules.LOOK, f"texture {name!r:.60} has no image file: it is left out"
            )
        if path is None:
            return material
        kept = kept_values.get("texture")
        values: dict[str, Any] = kept if isinstance(kept, dict) else {}
        repeat = values.get("repeat")
        if isinstance(repeat, list) and len(repeat) == 2:
            repeats = repeat
        else:
            repeats = [True, True]
        image = Texture(path, file, bool(repeats[0]), bool(repeats[1]))
        image = replace(
            image,
            **usable(
                image, {k: values[k] for k in ("url", "transform") if k in values}
            ),
        )
        self.images.setdefault(image.url, texture.location_of("file"))
        return replace(material, texture=image)

    def read(self, item: Item) -> Geom | None:
        """Return the geom of an element with its defaults.

        None where it is left out, which is reported.
        """
        element = item.element
        self._count += 1
        if self._count > MAX_SHAPES:
            raise TOO_LARGE.error(
                f"the model has more than {MAX_SHAPES} geoms", element.location
            )
        kind = element.get("type", "sphere")
        between = "fromto" in element.attributes and kind not in (
            "sphere",
            "mesh",
            "plane",
        )
        if between:
            frame = poses.IDENTITY
        else:
            frame = pose(element, self.settings)
        visual, collision = _visual_and_collision(element)
        material = self.material(element)
        found = self._form(element, kind, frame)
        if found is None:
            if element.partial or element.get("mesh") in self.faulty:
                # The mass of its body is unknown.
                element.faulty |= {"geom"}
            return None
        size, geom_pose, mesh, inertia = found
        geom_pose = item.placed(geom_pose)
        geometry, transform = (
            (mesh, poses.to_matrix(geom_pose))
            if mesh
            else _solid(kind, size, geom_pose)
        )
        name = element.get("name")
        if name:
            kept = self.kept.get("geom", name).get("name")
        else:
            kept = None
        shape = Shape(
            geometry,
            frozen(transform),
            material,
            kept if isinstance(kept, str) else name,
        )
        return Geom(element, kind, size, geom_pose, shape, visual, collision, inertia)

    def _form(self, element: Element, kind: str, frame: Floats) -> _Form | None:
        """Return the form of a geom whose pose (7,) is `frame`, unless fromto gives it.

        None where it is left out, which is reported.
        """
        count = len(element.get("size").split())
        if "size" in element.attributes:
            size = tuple(finite(element, "size", count).tolist())
        else:
            size = ()
        if element.partial and "type" not in element.attributes:
            return None
        if kind == "plane":
            # Two triangles with the normal z; without limits they have PLANE_HALF_SIZE.
            half = [
                value if value > 0 else PLANE_HALF_SIZE
                for value in [*size[:2], 0.0, 0.0][:2]
            ]
            corners = np.array(
                [[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]]
            )
            faces = np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32)
            return size, frame, Mesh(frozen(corners * [*half, 0.0]), faces), ""
        if kind not in (*_SIZES, "mesh"):
            self._left_out(element, f"of type {kind!r:.60} is left out")
            return None
        if kind != "mesh" and not element.get("mesh"):
            return self._sized(element, kind, list(size), frame)
        asset = self.mesh(element.need("mesh"), element)
        if asset is None:
            return None
        if kind == "mesh":
            return (size, frame, *asset)
        return self._fitted(element, kind, asset, frame)

    def _fitted(
        self, element: Element, kind: str, asset: MeshAsset, frame: Floats
    ) -> _Form | None:
        """Return the form of a solid around a mesh.

        None for a mesh without volume, which is reported.

        As in MuJoCo, its axes are those of the mesh's inertia, z along the longest. Its
        size is that of the box with the mesh's second moments, or with `fitaabb` that
        of the box around the mesh along those axes; both times the geom's `fitscale`.
        """
        scale = element.number("fitscale", 1.0)
        mesh, inertia = asset
        found = mesh_moments(mesh, inertia, element)
        bounds = self.settings.of(element).fitaabb and found is not None
        volume, center, moments = found or (1.0, np.zeros(3), np.zeros((3, 3)))
        spreads, axes = np.linalg.eigh(moments / volume)
        if np.linalg.det(axes) < 0:
            axes[:, 0] *= -1.0
        half = np.sqrt(3.0 * np.maximum(spreads, 0.0))
        middle = np.zeros(3)
        if bounds:
            points = (mesh.vertices - center) @ axes
            low = points.min(axis=0)
            high = points.max(axis=0)
            half = 0.5 * (high - low)
            middle = 0.5 * (low + high)
        x, y, z = half.tolist()
        if bounds:
            radius = max(x, y)
        else:
            radius = 0.5 * (x + y)
        sizes: dict[str, tuple[float, ...]] = {
            "sphere": (max(x, y, z) if bounds else (x + y + z) / 3.0,),
            "capsule": (radius, max(0.0, z - (radius if bounds else 0.5 * radius))),
            "cylinder": (radius, z),
            "ellipsoid": (x, y, z),
            "box": (x, y, z),
        }
        size = tuple(scale * value for value in sizes[kind])
        # A capsule may have the length zero.
        if not (np.isfinite(size).all() and size[0] > 0 and min(size) >= 0):
            self._left_out(
                element,
                f"of type {kind} cannot be fitted around a mesh without volume: it is "
                "left out",
            )
            return None
        own = poses.from_parts(center + axes @ middle, rotations.from_matrix(axes))
        return size, poses.compose(frame, own), None, ""

    def _sized(
        self, element: Element, kind: str, size: list[float], frame: Floats
    ) -> _Form | None:
        """Return the form of a solid of these half sizes.

        Fromto gives its length and pose. None where they cannot be read.
        """
        if "fromto" in element.attributes and kind != "sphere":
            ends = finite(element, "fromto", 6)
            along = ends[:3] - ends[3:]
            rotation = rotation_to(along)
            if rotation is None:
                element.report(
                    rules.GEOM_SIZE,
                    "the two points of fromto are the same",
                    "fromto",
                    fatal=True,
                )
            if rotation is None or "fromto" in element.faulty:
                return None
            frame = poses.from_parts(0.5 * (ends[:3] + ends[3:]), rotation)
            half = 0.5 * float(np.linalg.norm(along))
            if kind in ("capsule", "cylinder"):
                size = [size[0] if size else 0.0, half]
            else:
                size = [*(size * 2)[:1] * 2, half]
        number = _SIZES[kind]
        size = size[:number]
        if len(size) == number and all(value > 0 for value in size):
            return tuple(size), frame, None, ""
        if not element.partial or len(size) == number:
            shown = " ".join(f"{value:g}" for value in size)
            message = f"a geom of type {kind} has the sizes {shown or 'none'}; expected {number} above 0"
            element.report(rules.GEOM_SIZE, message, "size", fatal=True)
        return None

    def _left_out(self, element: Element, message: str) -> None:
        name = element.get("name")
        element.report(
            rules.GEOM, f"geom {name!r:.60} {message}" if name else f"a geom {message}"
        )


def _joined(meshes: list[Mesh]) -> Mesh | None:
    """Return several meshes as one, without normals and colours.

    None for no mesh.
    """
    if len(meshes) < 2:
        if meshes:
            return meshes[0]
        return None
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes[:-1])])
    faces = [
        mesh.faces + np.int32(start)
        for mesh, start in zip(meshes, starts.tolist(), strict=True)
    ]
    vertices = np.concatenate([mesh.vertices for mesh in meshes])
    return Mesh(
        frozen(vertices), np.concatenate(faces), crease_angle=meshes[0].crease_angle
    )


def _convex_hull(
    points: Floats, element: Element, rule: Rule, what: str
) -> Mesh | None:
    """Return the convex hull of points (V, 3).

    None where it cannot be computed, which is reported: without SciPy, and for flat
    ones.
    """
    import trimesh

    try:
        hull = trimesh.convex.convex_hull(points)
    except Exception as error:
        element.report(rule, f"{what}, which cannot be computed: {error!s:.100}")
        return None
    return Mesh(
        frozen(np.asarray(hull.vertices, dtype=np.float64)),
        np.asarray(hull.faces, dtype=np.int32),
    )


def _segment(mass: float, center: Floats, inertia: Floats) -> Segment:
    return Segment(mass=mass, center_of_mass=center, inertia=inertia)


def read_mass(item: Item, settings: Settings) -> Segment:
    """Return the mass of an `<inertial>`, as a segment without shapes."""
    element = item.element
    element.need("pos")
    mass = element.number("mass")
    frame = item.placed(pose(element, settings))
    rotation = rotations.to_matrix(frame[3:])
    if "fullinertia" in element.attributes:
        xx, yy, zz, xy, xz, yz = finite(element, "fullinertia", 6).tolist()
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        return _segment(mass, frame[:3], rotation @ tensor @ rotation.T)
    moments = finite(element, "diaginertia", 3, (0.0, 0.0, 0.0))
    tensor = (rotation * moments) @ rotation.T
    return _segment(mass, frame[:3], 0.5 * (tensor + tensor.T))


def mass_of_geoms(geoms: Sequence[Geom], settings: Settings) -> Segment:
    """Compute the mass of a body from its geoms, each of uniform density."""
    low, high = settings.inertiagrouprange
    chosen = [
        geom for geom in geoms if low <= geom.element.number("group", 0.0) <= high
    ]
    whole = Link(
        segments=tuple(part for part in map(_of_geom, chosen) if part is not None)
    )
    if whole.mass > 0:
        return _segment(whole.mass, whole.center_of_mass, whole.inertia)
    return Segment()


def _of_geom(geom: Geom) -> Segment | None:
    element = geom.element
    if geom.type == "plane":
        return None
    shell = element.get("shellinertia") == "true"
    kind, size = (
        ("ellipsoid", geom.size * 3)
        if geom.type == "sphere"
        else (geom.type, geom.size)
    )
    center = np.zeros(3)
    if kind == "mesh":
        mesh = geom.shape.geometry
        assert isinstance(mesh, Mesh)
        found = mesh_moments(mesh, "shell" if shell else geom.inertia, element)
        if found is None:
            return None
        volume, center, moments = found
    else:
        volume, moments = (_shell_moments if shell else _solid_moments)(kind, size)
    if not volume > 0:
        return None
    if "mass" in element.attributes:
        mass = element.number("mass")
    else:
        mass = volume * element.number("density", DENSITY)
    if mass == 0:
        return None
    rotation = rotations.to_matrix(geom.pose[3:])
    spread = rotation @ (moments * (mass / volume)) @ rotation.T
    return _segment(
        mass, rotation @ center + geom.pose[:3], np.trace(spread) * np.eye(3) - spread
    )


def _solid_moments(kind: str, size: tuple[float, ...]) -> tuple[float, Floats]:
    """Return the volume [m³] of a solid and its second moments ∫x·xᵀdV (3, 3) [m⁵] about its middle."""
    match kind:
        case "ellipsoid":
            volume = 4 / 3 * np.pi * size[0] * size[1] * size[2]
            return volume, volume * np.diag(np.square(size) / 5)
        case "box":
            volume = 8 * size[0] * size[1] * size[2]
            return volume, volume * np.diag(np.square(size) / 3)
    radius, half = size
    rod = 2 * np.pi * radius**2 * half
    moments = rod * np.diag([radius**2 / 4, radius**2 / 4, half**2 / 3])
    if kind == "cylinder":
        return rod, moments
    # Two half balls, whose centres of mass lie 3/8 of the radius beyond the ends.
    ball = 4 / 3 * np.pi * radius**3
    along = radius**2 / 5 + half**2 + 2 * half * 3 / 8 * radius
    return rod + ball, moments + ball * np.diag([radius**2 / 5, radius**2 / 5, along])


def _shell_moments(kind: str, size: tuple[float, ...]) -> tuple[float, Floats]:
    """Return the area [m²] of a solid's surface and its second moments ∫x·xᵀdA (3, 3) [m⁴] about its middle.

    As in MuJoCo, the shell of an ellipsoid is equally thick along its three axes, and
    its area is Thomsen's formula.
    """
    squares = np.square(size)
    match kind:
        case "box":
            pairs = 8.0 * np.array(
                [size[1] * size[2], size[0] * size[2], size[0] * size[1]]
            )
            area = float(pairs.sum())
            return area, np.diag(squares * (pairs + (area - pairs) / 3.0))
        case "ellipsoid":
            power = 1.6075
            x, y, z = (value**power for value in size)
            area = 4.0 * np.pi * ((x * y + x * z + y * z) / 3.0) ** (1.0 / power)
            thickness = 1.0 / sum(1.0 / value for value in size)
            return area, area * np.diag(
                (squares + 2.0 * thickness * np.array(size)) / 5.0
            )
    radius, half = size
    side = 4.0 * np.pi * radius * half
    moments = side * np.diag([radius**2 / 2.0, radius**2 / 2.0, half**2 / 3.0])
    if kind == "cylinder":
        ends = 2.0 * np.pi * radius**2
        return side + ends, moments + ends * np.diag(
            [radius**2 / 4.0, radius**2 / 4.0, half**2]
        )
    ends = 4.0 * np.pi * radius**2
    along = half**2 + half * radius + radius**2 / 3.0
    return side + ends, moments + ends * np.diag(
        [radius**2 / 3.0, radius**2 / 3.0, along]
    )


def mesh_moments(
    mesh: Mesh, kind: str, element: Element
) -> tuple[float, Floats, Floats] | None:
    """Return volume (of a shell: area), centre and second moments about the centre, in the mesh's frame, as MuJoCo computes them."""
    corner = mesh.vertices[mesh.faces]
    if kind == "convex":
        hull = _convex_hull(
            mesh.vertices,
            element,
            rules.GEOM_MASS,
            "the mass of a mesh is that of its convex hull",
        )
        if hull is not None:
            corner = hull.vertices[hull.faces]
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    area = 0.5 * np.linalg.norm(normal, axis=1)
    if not area.sum() > 0:
        return None
    middle = (area[:, None] * corner.mean(axis=1)).sum(axis=0) / area.sum()
    if kind == "shell":
        return float(area.sum()), middle, _second(corner - middle, area, 12.0)
    volumes = _tetrahedra(corner, normal, middle, kind)
    total = float(volumes.sum())
    if total > 0:
        moment = (volumes[:, None] * (corner - middle).sum(axis=1)).sum(axis=0)
        center = middle + moment / (4.0 * total)
        # In "legacy" each volume counts as positive, so the sum depends on the tip:
        # MuJoCo sums again about the centre.
        volumes = _tetrahedra(corner, normal, center, kind)
        total = float(volumes.sum())
    if not total > 0:
        element.report(rules.GEOM_MASS, "a mesh has no volume inside: its mass is zero")
        return None
    return total, center, _second(corner - center, volumes, 20.0)


def _tetrahedra(corner: Floats, normal: Floats, tip: Floats, kind: str) -> Floats:
    """Return the volumes (F,) [m³] of the tetrahedra between triangles (F, 3, 3) and a tip (3,).

    They are negative where the normal (F, 3), of twice the area, points to the tip,
    except in "legacy".
    """
    volumes = ((corner[:, 0] - tip) * normal).sum(axis=1) / 6.0
    return np.asarray(np.abs(volumes) if kind == "legacy" else volumes)


def _second(corner: Floats, weight: Floats, share: float) -> Floats:
    """Return Σ weight/share · (Σ v·vᵀ + s·sᵀ), s = Σ v, over corners v of triangles.

    20 of tetrahedra to the origin, 12 of triangles.
    """
    total = corner.sum(axis=1)
    each = np.einsum("f,fki,fkj->ij", weight, corner, corner) + np.einsum(
        "f,fi,fj->ij", weight, total, total
    )
    return np.asarray(each / share)


def settled(mass: Segment, settings: Settings) -> Segment:
    """Apply the compiler's bounds to a body's mass, and its balancing of impossible moments."""
    bounds = settings.boundmass or settings.boundinertia or settings.balanceinertia
    if not bounds or not np.isfinite(mass.inertia).all():
        return mass
    moments, axes = inertias.principal_moments(mass.inertia)
    changed = np.maximum(moments, settings.boundinertia)
    smallest, middle, most = np.sort(changed).tolist()
    if settings.balanceinertia and smallest + middle < most:
        changed = np.full(3, changed.mean())
    if (changed == moments).all():
        tensor = mass.inertia
    else:
        tensor = (axes * changed) @ axes.T
    return _segment(max(mass.mass, settings.boundmass), mass.center_of_mass, tensor)


_Form: TypeAlias = tuple[tuple[float, ...], Floats, Mesh | None, str]
"""Half sizes [m] and pose (7,) of a geom in the frame around it.

Of a mesh, the mesh and how MuJoCo computes its mass.
"""


@dataclass(frozen=True)
class Geom:
    """A geom: its shape in the body, and what the body's mass may be computed from.

    `type` as in MJCF, `size` its half sizes [m], `pose` (7,) that of its own frame,
    with z along cylinders, `inertia` that of its mesh.
    """

    element: Element
    type: str
    size: tuple[float, ...]
    pose: Floats
    shape: Shape
    visual: bool
    collision: bool
    inertia: str = ""


def _visual_and_collision(element: Element) -> tuple[bool, bool]:
    """Return whether a geom is a visual and whether it is a collision shape.

    Geoms in hidden groups (3 and more) are collision shapes; one without contacts in a
    hidden group is read as a visual.
    """
    has_contacts = (
        element.number("contype", 1.0) != 0 or element.number("conaffinity", 1.0) != 0
    )
    hidden = element.number("group", 0.0) >= FIRST_HIDDEN_GROUP
    # Flat meshes have no contacts in MuJoCo: our writer excludes the contacts of flat
    # collision shapes.
    own_class = (
        element.get("class") in ("collision", "seen_collision")
        and element.get("type") == "mesh"
    )
    return not hidden or not (has_contacts or own_class), has_contacts or own_class


def _solid(
    kind: str, size: tuple[float, ...], geom_pose: Floats
) -> tuple[Geometry, Floats]:
    match kind:
        case "sphere":
            return Sphere(size[0]), poses.to_matrix(geom_pose)
        case "box":
            return Box((2.0 * size[0], 2.0 * size[1], 2.0 * size[2])), poses.to_matrix(
                geom_pose
            )
        case "ellipsoid":
            return Sphere(1.0), poses.to_matrix(geom_pose) @ np.diag([*size, 1.0])
    upright = poses.to_matrix(poses.compose(geom_pose, FROM_Z_TO_Y))
    if kind == "cylinder":
        return Cylinder(size[0], 2.0 * size[1]), upright
    return Capsule(size[0], 2.0 * size[1]), upright


def geom_rules(geoms: Sequence[Geom]) -> list[dict[str, object]]:
    """Return the attributes of contact and visibility of each geom that the classes of our writer do not give, if there are any."""
    found: list[dict[str, object]] = []
    for geom in geoms:
        element = geom.element
        attributes = {
            key: value for key, value in element.attributes.items() if key in GEOM_KEPT
        }
        touches = element.number("contype", 1.0) or element.number("conaffinity", 1.0)
        own_flat_mesh = (
            geom.type == "mesh" and element.get("class") in CLASSES and not touches
        )
        regular = {
            **GEOM_RULES,
            **CLASSES[kind_of(visual=geom.visual, collision=geom.collision)],
        }
        values: dict[str, object] = {}
        for key, value in {**GEOM_RULES, **attributes}.items():
            if key in ("contype", "conaffinity") and own_flat_mesh:
                continue
            if key == "group" and _hidden(value) == _hidden(regular["group"]):
                # Viewers may use groups for more; here they only hide geoms.
                continue
            if value.split() != regular.get(key, "").split():
                values[key] = value
        if geom.type == "plane":
            values["plane"] = element.get("size")
        found.append({**values, "shown": [geom.visual, geom.collision]})
    kinds = [(geom.visual, geom.collision) for geom in geoms]
    # Our writer puts geoms that are only visible first, and writes one geom for both
    # purposes only where all geoms are so.
    ordered = kinds == sorted(kinds, key=lambda kind: kind[1]) and (
        (True, True) not in kinds or len(set(kinds)) == 1
    )
    if not ordered or any(len(values) > 1 for values in found):
        return found
    return []


def _hidden(group: str) -> bool:
    return group.strip() not in ("", "0", "1", "2")


def kind_of(*, visual: bool, collision: bool) -> str:
    """Return the class that our writer gives a geom."""
    if visual and collision:
        return "seen_collision"
    if visual:
        return "visual"
    return "collision"


def loadable(mesh: Mesh) -> tuple[Mesh | None, bool]:
    """Return a mesh that MuJoCo loads, and whether it was changed.

    None where it has no area.

    MuJoCo requires at least four vertices, all finite, and an area. Triangles are
    halved where there are only three.
    """
    if not len(mesh.faces) or not np.isfinite(mesh.vertices).all():
        return None, False
    with np.errstate(all="ignore"):
        corner = mesh.vertices.astype(np.float32).astype(np.float64)[mesh.faces]
        double = np.linalg.norm(
            np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]), axis=1
        )
        if not 1e-14 < 0.5 * double.sum() < np.inf:
            return None, False
    if (
        len(np.unique(mesh.vertices[np.unique(mesh.faces)].astype(np.float32), axis=0))
        >= 4
    ):
        return mesh, False
    # In two at the middle of the first edge, without normals, colours and texture
    # coordinates.
    first, second, third = mesh.faces.T
    middle = 0.5 * (mesh.vertices[first] + mesh.vertices[second])
    extra = len(mesh.vertices) + np.arange(len(mesh.faces))
    faces = np.concatenate(
        [
            np.stack([first, extra, third], axis=1),
            np.stack([extra, second, third], axis=1),
        ]
    )
    bare = replace(mesh, normals=None, colors=None, texture_coordinates=None)
    return replace(
        bare, vertices=np.concatenate([mesh.vertices, middle]), faces=faces
    ), True


def pose_attributes(pose: Floats) -> dict[str, str]:
    """Return the attributes pos and quat (w x y z) of a pose (7,).

    Those of the identity are left out.
    """
    if pose[:3].any():
        position = {"pos": number_text(pose[:3])}
    else:
        position = {}
    return position | (
        {"quat": number_text(pose[3:])}
        if (pose[3:] != rotations.IDENTITY).any()
        else {}
    )


class GeomWriter:
    """Writes shapes and their materials.

    Each mesh, material and image is one asset, however often it is used.
    """

    def __init__(self, output: Output, hull_vertices: int = 0) -> None:
        self.output = output
        self.asset = output.asset
        self.names = output.names
        # Every body has its inertia. MuJoCo does not use that of meshes, but refuses
        # flat ones unless inertia is "shell".
        self._attributes = {
            "inertia": "shell",
            **({"maxhullvert": str(hull_vertices)} if hull_vertices else {}),
        }
        self._materials: dict[object, str] = {}
        self._assets: dict[str, str] = {}
        """By path, the names of meshes and images."""
        self._lost: set[str] = set()
        self._inline: dict[int, tuple[Mesh, str]] = {}
        self._ready: dict[int, tuple[Mesh, Mesh | None, bool]] = {}
        self._counts: Counter[tuple[str, str]] = Counter()
        self._colored = 0

    def write(self, element: Element, link: Link, name: str) -> bool:
        """Add the shapes of a link to its body, called `name`.

        Return whether all of them are written.
        """
        left_out = self._counts["not drawn", name]
        if not self._as_read(element, link, name):
            visuals = link.visuals
            collisions = link.collisions
            flat = any(
                found is not None and found.is_flat for found in map(solid, visuals)
            )
            both = list(visuals) == list(collisions) and not flat
            shapes = [
                (shape, "seen_collision" if both else "visual") for shape in visuals
            ]
            shapes += [] if both else [(shape, "collision") for shape in collisions]
            for shape, kind in shapes:
                self._geom(element, shape, kind, name)
        return self._counts["not drawn", name] == left_out

    def _as_read(self, element: Element, link: Link, name: str) -> bool:
        """Write the geoms of a link as they were in an MJCF file.

        False where it was read from another format, or has changed.
        """
        plans = [
            rules
            for segment in link.segments
            if (rules := mjcf_values(segment.extra).get("geoms"))
        ]
        if not plans:
            return False
        shapes = _shared(
            plans[0]
            if len(link.segments) == 1 and isinstance(plans[0], (list, tuple))
            else [],
            link,
        )
        if not shapes:
            self._counts["other rules", name] += 1
            return False
        for rules, shape, seen, touched in shapes:
            self._geom(
                element, shape, kind_of(visual=seen, collision=touched), name, rules
            )
        return True

    def _geom(
        self,
        element: Element,
        shape: Shape,
        kind: str,
        name: str,
        rules: Mapping[str, object] = {},
    ) -> None:
        found = solid(shape)
        plane = rules.get("plane")
        is_plane = isinstance(plane, str) and poses.is_rigid(shape.transform)
        if found is None:
            self._counts["not drawn", name] += 1
            return
        attributes = {"class": kind}
        if shape.name:
            attributes["name"] = self.names.free("geom", shape.name)
            if attributes["name"] != shape.name:
                self.output.kept.add("geom", attributes["name"], {"name": shape.name})
                self.output.renamed.add("shape", shape.name, attributes["name"])
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
        attributes |= attributes_of(
            {key: value for key, value in rules.items() if key in GEOM_KEPT}
        )
        if not is_plane:
            attributes |= pose_attributes(found.pose)
        attributes["material"] = self._material(shape.material)
        element.add("geom", attributes)

    def _mesh(self, mesh: Mesh, name: str) -> str:
        path = self.output.folder.add(mesh, name)
        if path is not None:
            if path not in self._assets:
                self._assets[path] = self.names.free(
                    "mesh", path.rpartition("/")[2].rpartition(".")[0]
                )
                self.asset.add(
                    "mesh",
                    {"name": self._assets[path], "file": path, **self._attributes},
                )
            return self._assets[path]
        # Where no file can be written beside the model, the vertices are in it.
        if id(mesh) not in self._inline:
            self._inline[id(mesh)] = mesh, self.names.free("mesh", name)
            inside = {
                "vertex": number_text(mesh.vertices),
                "face": " ".join(map(str, mesh.faces.ravel().tolist())),
            }
            self.asset.add(
                "mesh",
                {"name": self._inline[id(mesh)][1], **self._attributes, **inside},
            )
        return self._inline[id(mesh)][1]

    def _material(self, material: Material) -> str:
        image = material.texture
        pixels = image and (
            image.path,
            image.url,
            image.repeat_s,
            image.repeat_t,
            image.transform.tobytes(),
        )
        key = (
            *(
                getattr(material, field.name)
                for field in fields(material)
                if field.name != "texture"
            ),
            pixels,
        )
        if key in self._materials:
            return self._materials[key]
        name = self.names.free("material", f"material_{len(self._materials)}")
        self._materials[key] = name
        red, green, blue = material.diffuse
        if len(set(material.specular)) > 1:
            specular = sum(material.specular) / 3.0
        else:
            specular = material.specular[0]
        brightest = max(material.diffuse)
        # MuJoCo stores emission in single precision; for colours near black it has no
        # effect.
        if brightest > 1e-6:
            emission = min(max(material.emissive) / brightest, 1000.0)
        else:
            emission = 0.0
        rgba = (red, green, blue, 1.0 - material.transparency)
        numbers: dict[str, Any] = {
            "rgba": rgba,
            "specular": specular,
            "shininess": material.shininess,
        }
        numbers |= {"emission": emission} if emission else {}
        attributes = {
            "name": name,
            **{key: number_text(value) for key, value in numbers.items()},
        }
        element = self.asset.add("material", attributes)
        read_back = material_of(rgba, specular, material.shininess, emission)
        attributes_kept = differences(material, read_back, skip=("texture",))
        if image is not None and (texture := self._texture(image)):
            element.attributes["texture"] = texture
            repeats = [image.repeat_s, image.repeat_t]
            attributes_kept["texture"] = {
                "url": image.url,
                "repeat": repeats,
                "transform": image.transform,
            }
        self.output.kept.add("material", name, attributes_kept)
        return name

    def _texture(self, image: Texture) -> str:
        if image.path.suffix.lower() != ".png":
            self._lost.add(
                f"MuJoCo reads only PNG images: {image.path.name!r:.80} is left out"
            )
            return ""
        path = self.output.folder.image(image)
        if path is None:
            return ""
        if path not in self._assets:
            self._assets[path] = self.names.free("texture", image.path.stem)
            self.asset.add(
                "texture", {"name": self._assets[path], "type": "2d", "file": path}
            )
        return self._assets[path]

    @property
    def lost(self) -> list[Problem]:
        """What the geoms do not hold of the shapes."""
        messages = {
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
        found = []
        for (what, name), count in self._counts.items():
            rule, message = messages[what]
            if count == 1:
                shapes = "a shape"
            else:
                shapes = f"{count} shapes"
            found.append(
                rule.problem(
                    message.format(shapes, name), Location(inside=f"link {name}")
                )
            )
        if self._colored:
            message = f"MuJoCo shows one colour for each mesh: vertex colours of {self._colored} are only in the mesh files"
            found.append(losses.MESH_LOOK.problem(message))
        return [*found, *map(losses.SURFACE.problem, sorted(self._lost))]


def _shared(
    plan: Sequence[object], link: Link
) -> list[tuple[Mapping[str, object], Shape, bool, bool]]:
    """Return the shape of each geom, and whether it is a visual and a collision.

    Nothing where the shapes have changed.
    """
    left = [list(link.visuals), list(link.collisions)]
    found: list[tuple[Mapping[str, object], Shape, bool, bool]] = []
    for row in plan:
        if isinstance(row, Mapping):
            shown = row.get("shown")
        else:
            shown = None
        if (
            not isinstance(row, Mapping)
            or not isinstance(shown, (list, tuple))
            or len(shown) != 2
        ):
            return []
        used = [
            rest.pop(0)
            for wanted, rest in zip(shown, left, strict=True)
            if wanted and rest
        ]
        if len(used) != sum(map(bool, shown)) or not used or used[0] != used[-1]:
            return []
        found.append((row, used[0], bool(shown[0]), bool(shown[1])))
    return [] if any(left) else found
