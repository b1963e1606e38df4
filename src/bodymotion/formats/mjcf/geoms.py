"""The geoms of a model, read as shapes.

Solids are along z with half sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bodymotion.diagnostics import Diagnostics
from bodymotion.formats.mjcf import rules
from bodymotion.formats.mjcf.assets import Assets, MeshAsset
from bodymotion.formats.mjcf.defaults import Defaults, Item, Settings, pose, rotation_to
from bodymotion.formats.mjcf.masses import mesh_moments
from bodymotion.formats.mjcf.names import Kept, finite
from bodymotion.formats.resources import ResourceFinder
from bodymotion.formats.rules import TOO_LARGE
from bodymotion.formats.xml.tree import Element
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.geometry.meshes import FROM_Y_TO_Z
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
)

# Classes of geoms of our writer. Visuals, collision shapes (MuJoCo does not show group
# 3), and both.
CLASSES = {
    "visual": {"group": "2", "contype": "0", "conaffinity": "0"},
    "collision": {"group": "3"},
    "seen_collision": {"group": "1"},
}

# Names of the floor, the light and the keyframe of our writer. The reader leaves them
# out of a file of ours.
SCENE = ("floor", "light", "home")
# The option that our writer adds for position actuators. Their damping is integrated
# implicitly.
INTEGRATOR = {"integrator": "implicitfast"}

# MuJoCo's viewer shows the groups below this one.
FIRST_HIDDEN_GROUP = 3
# [m] The half size of a plane without limits.
PLANE_HALF_SIZE = 100.0
FROM_Z_TO_Y = poses.inverse(FROM_Y_TO_Z)
# By type of a solid, the number of its half sizes.
_SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3}

GEOM_DEFAULTS = {"contype": "1", "conaffinity": "1", "group": "0"}
# Attributes of contact and visibility that no field of a Shape holds.
GEOM_KEPT = (
    "contype",
    "conaffinity",
    "condim",
    "group",
    "priority",
    "friction",
    "solmix",
    "solref",
    "solimp",
    "margin",
    "gap",
    "fluidshape",
    "fluidcoef",
    "user",
)


@dataclass(frozen=True)
class Geom:
    """A geom, with what the body's mass may be computed from.

    `shape` is its shape in the body.
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


class Form(NamedTuple):
    """Half sizes [m] and pose (7,) of a geom in the frame around it.

    Of a mesh, the mesh and how MuJoCo computes its mass.
    """

    size: tuple[float, ...]
    pose: Floats
    mesh: Mesh | None = None
    inertia: str = ""


class Role(NamedTuple):
    """Whether a geom is a visual, and whether it is a collision shape."""

    visual: bool
    collision: bool


class Geoms:
    """Reads the geoms of a model."""

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
        """Prepare to read geoms: find the assets of the model."""
        self.settings = settings
        self.kept = kept
        self.assets = Assets(root, settings, defaults, kept, finder, path, found)
        self._count = 0

    def material(self, geom: Element) -> Material:
        """Return the material of a geom."""
        return self.assets.material(geom)

    def read(self, item: Item) -> Geom | None:
        """Return the geom of an element with its defaults.

        None where it is left out, which is reported.
        """
        element = item.element
        self._count += 1
        if self._count > MAX_SHAPES:
            message = f"the model has more than {MAX_SHAPES} geoms"
            raise TOO_LARGE.error(message, element.location)
        kind = element.get("type", "sphere")
        frame = poses.IDENTITY
        # fromto gives position and orientation: `pos` and `quat` do not apply then.
        if not _has_ends(element, kind):
            frame = pose(element, self.settings)
        role = _role(element)
        material = self.material(element)
        form = self._form(element, kind, frame)
        if form is None:
            if element.partial or element.get("mesh") in self.assets.faulty:
                # The mass of its body is unknown.
                element.faulty |= {"geom"}
            return None
        # From the frame around the geom to that of the body.
        geom_pose = item.placed(form.pose)
        if form.mesh is not None:
            geometry: Geometry = form.mesh
            transform = poses.to_matrix(geom_pose)
        else:
            geometry, transform = _solid(kind, form.size, geom_pose)
        name = element.get("name")
        # The name of a shape, where it was not free or not valid in the file.
        kept = self.kept.get("geom", name).get("name") if name else None
        if not isinstance(kept, str):
            kept = name
        shape = Shape(geometry, frozen(transform), material, kept)
        return Geom(element, kind, form.size, geom_pose, shape, *role, form.inertia)

    def _form(self, element: Element, kind: str, frame: Floats) -> Form | None:
        """Return the form of a geom.

        Its pose (7,) is `frame`, unless fromto gives it.

        None where it is left out, which is reported.
        """
        size: tuple[float, ...] = ()
        if "size" in element.attributes:
            count = len(element.get("size").split())
            size = tuple(finite(element, "size", count).tolist())
        # A missing class may give the type: nothing can be said of this geom.
        if element.partial and "type" not in element.attributes:
            return None
        if kind == "plane":
            return Form(size, frame, _plane(size))
        if kind not in (*_SIZES, "mesh"):
            _report_left_out(element, f"of type {kind!r:.60} is left out")
            return None
        # A solid with a mesh is fitted around it, below.
        if kind != "mesh" and not element.get("mesh"):
            return _sized(element, kind, size, frame)
        asset = self.assets.mesh(element.need("mesh"), element)
        if asset is None:
            return None
        if kind == "mesh":
            return Form(size, frame, asset.mesh, asset.inertia)
        return self._fitted(element, kind, asset, frame)

    def _fitted(
        self, element: Element, kind: str, asset: MeshAsset, frame: Floats
    ) -> Form | None:
        """Return the form of a solid around a mesh.

        None for a mesh without volume, which is reported. As in MuJoCo, its axes are
        those of the mesh's inertia, z along the longest. Its size is that of the box
        with the mesh's second moments, or with `fitaabb` that of the box around the
        mesh along those axes; both times the geom's `fitscale`.
        """
        scale = element.number("fitscale", 1.0)
        mesh = asset.mesh
        moments = mesh_moments(mesh, asset.inertia, element)
        is_bounds = self.settings.of(element).fitaabb and moments is not None
        center = np.zeros(3)
        second = np.zeros((3, 3))
        if moments is not None:
            center = moments.center
            second = moments.second / moments.size
        # Eigenvalues ascend, so the last axis, z, is the longest. `axes` (3, 3) has the
        # axes in columns; a left-handed set is no rotation.
        spreads, axes = np.linalg.eigh(second)
        if np.linalg.det(axes) < 0:
            axes[:, 0] *= -1.0
        # A box of half size h has the second moment h²/3.
        half = np.sqrt(3.0 * np.maximum(spreads, 0.0))
        middle = np.zeros(3)
        if is_bounds:
            # (V, 3) The vertices in the frame of the axes.
            points = (mesh.vertices - center) @ axes
            low = points.min(axis=0)
            high = points.max(axis=0)
            half = 0.5 * (high - low)
            middle = 0.5 * (low + high)
        sizes = _bounding_sizes if is_bounds else _mean_sizes
        size = tuple(scale * value for value in sizes(kind, *half.tolist()))
        # A capsule may have the length zero.
        if not (np.isfinite(size).all() and size[0] > 0 and min(size) >= 0):
            message = (
                f"of type {kind} cannot be fitted around a mesh without volume: it is "
                "left out"
            )
            _report_left_out(element, message)
            return None
        # The fitted solid in the frame of the mesh, then in that of the geom.
        own = poses.from_parts(center + axes @ middle, rotations.from_matrix(axes))
        return Form(size, poses.compose(frame, own))


def _has_ends(element: Element, kind: str) -> bool:
    """Return whether `fromto` gives the pose of a geom."""
    return "fromto" in element.attributes and kind not in ("sphere", "mesh", "plane")


def _bounding_sizes(kind: str, x: float, y: float, z: float) -> tuple[float, ...]:
    """Return the half sizes of a solid around a box of these half sizes."""
    # The half length of a capsule is without its half balls.
    radius = max(x, y)
    match kind:
        case "sphere":
            return (max(x, y, z),)
        case "capsule":
            return radius, max(0.0, z - radius)
        case "cylinder":
            return radius, z
    return x, y, z


def _mean_sizes(kind: str, x: float, y: float, z: float) -> tuple[float, ...]:
    """Return the half sizes of a solid like a box of these half sizes."""
    # MuJoCo's own formulas: means of the half sizes, and for a capsule half of the
    # radius less, where a bounding capsule has a whole one less.
    radius = 0.5 * (x + y)
    match kind:
        case "sphere":
            return ((x + y + z) / 3.0,)
        case "capsule":
            return radius, max(0.0, z - 0.5 * radius)
        case "cylinder":
            return radius, z
    return x, y, z


def _plane(size: tuple[float, ...]) -> Mesh:
    """Return two triangles with the normal z; without limits of PLANE_HALF_SIZE."""
    # MJCF's 0 means infinite in that direction, which no mesh can be.
    half = []
    for value in [*size[:2], 0.0, 0.0][:2]:
        half.append(value if value > 0 else PLANE_HALF_SIZE)
    corners = np.array(
        [[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]]
    )
    faces = np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32)
    return Mesh(frozen(corners * [*half, 0.0]), faces)


def _sized(
    element: Element, kind: str, sizes: tuple[float, ...], frame: Floats
) -> Form | None:
    """Return the form of a solid of these half sizes.

    Fromto gives its length and pose. None where they cannot be read.
    """
    if _has_ends(element, kind):
        # MuJoCo's z of the geom points from the second end to the first one.
        ends = finite(element, "fromto", 6)
        along = ends[:3] - ends[3:]
        rotation = rotation_to(along)
        if rotation is None:
            message = "the two points of fromto are the same"
            element.report(rules.GEOM_SIZE, message, "fromto", fatal=True)
        if rotation is None or "fromto" in element.faulty:
            return None
        frame = poses.from_parts(0.5 * (ends[:3] + ends[3:]), rotation)
        half = 0.5 * float(np.linalg.norm(along))
        if kind in ("capsule", "cylinder"):
            radius = sizes[0] if sizes else 0.0
            sizes = (radius, half)
        else:
            # One size is that of both axes across.
            across = sizes[:1] * 2
            sizes = (*across, half)
    number = _SIZES[kind]
    size = sizes[:number]
    if len(size) == number and all(value > 0 for value in size):
        return Form(size, frame)
    if not element.partial or len(size) == number:
        shown = " ".join(f"{value:g}" for value in size)
        message = (
            f"a geom of type {kind} has the sizes {shown or 'none'}; expected {number} "
            "above 0"
        )
        element.report(rules.GEOM_SIZE, message, "size", fatal=True)
    return None


def _report_left_out(element: Element, message: str) -> None:
    name = element.get("name")
    title = f"geom {name!r:.60}" if name else "a geom"
    element.report(rules.GEOM, f"{title} {message}")


def _role(element: Element) -> Role:
    """Return whether a geom is seen, and whether it collides.

    Geoms in hidden groups (3 and more) are collision shapes; one without contacts in a
    hidden group is read as a visual.
    """
    # MJCF has no visuals: by convention group 2 is seen and has no contacts, and group
    # 3 is hidden and has.
    is_hidden = element.number("group", 0.0) >= FIRST_HIDDEN_GROUP
    # Flat meshes have no contacts in MuJoCo: our writer excludes the contacts of flat
    # collision shapes.
    is_flat_collision = (
        element.get("class") in ("collision", "seen_collision")
        and element.get("type") == "mesh"
    )
    collision = _has_contacts(element) or is_flat_collision
    return Role(visual=not is_hidden or not collision, collision=collision)


def _has_contacts(element: Element) -> bool:
    # Geoms collide where contype of one and conaffinity of the other have a common bit.
    types = element.number("contype", 1.0)
    affinities = element.number("conaffinity", 1.0)
    return types != 0 or affinities != 0


def _solid(
    kind: str, size: tuple[float, ...], geom_pose: Floats
) -> tuple[Geometry, Floats]:
    """Return a solid and its transform (4, 4): here cylinders are along y."""
    match kind:
        case "sphere":
            return Sphere(size[0]), poses.to_matrix(geom_pose)
        case "box":
            x, y, z = size
            return Box((2.0 * x, 2.0 * y, 2.0 * z)), poses.to_matrix(geom_pose)
        # A Body has no ellipsoid: it is a unit sphere with a transform that scales it.
        case "ellipsoid":
            scale = np.diag([*size, 1.0])
            return Sphere(1.0), poses.to_matrix(geom_pose) @ scale
    # Cylinders and capsules are along z in MJCF, along y in VRML97 and in a Body.
    upright = poses.to_matrix(poses.compose(geom_pose, FROM_Z_TO_Y))
    radius, half = size
    if kind == "cylinder":
        return Cylinder(radius, 2.0 * half), upright
    return Capsule(radius, 2.0 * half), upright


def geom_rules(geoms: Sequence[Geom]) -> list[dict[str, object]]:
    """Return what the classes of our writer do not give.

    For each geom; nothing where the classes give everything.

    These are attributes of contact and visibility.
    """
    # Entries are kept for all geoms or for none: they are matched by their order.
    entries = [_irregular_attributes(geom) for geom in geoms]
    if _is_in_order(geoms) and not any(entries):
        return []
    return [
        {**entry, "shown": [geom.visual, geom.collision]}
        for entry, geom in zip(entries, geoms, strict=True)
    ]


def _irregular_attributes(geom: Geom) -> dict[str, object]:
    """Return the attributes of a geom beside those of its class.

    The class is one of our writer.
    """
    element = geom.element
    is_flat_collision = (
        geom.type == "mesh"
        and element.get("class") in CLASSES
        and not _has_contacts(element)
    )
    given = {
        key: value for key, value in element.attributes.items() if key in GEOM_KEPT
    }
    kind = kind_of(visual=geom.visual, collision=geom.collision)
    regular = {**GEOM_DEFAULTS, **CLASSES[kind]}
    values: dict[str, object] = {}
    # Compared word by word, so that spaces and line breaks make no difference.
    for key, value in {**GEOM_DEFAULTS, **given}.items():
        if key in ("contype", "conaffinity") and is_flat_collision:
            continue
        if key == "group" and _is_hidden(value) == _is_hidden(regular["group"]):
            # Viewers may use groups for more; here they only hide geoms.
            continue
        if value.split() != regular.get(key, "").split():
            values[key] = value
    if geom.type == "plane":
        values["plane"] = element.get("size")
    return values


def _is_in_order(geoms: Sequence[Geom]) -> bool:
    """Return whether our writer would write the geoms in this order.

    It writes geoms that are only visible first, and one geom for both purposes only
    where all geoms are so.
    """
    # False sorts before True: visuals first.
    collisions = [geom.collision for geom in geoms]
    kinds = {(geom.visual, geom.collision) for geom in geoms}
    has_both = (True, True) in kinds
    return collisions == sorted(collisions) and (not has_both or len(kinds) == 1)


def _is_hidden(group: str) -> bool:
    return group.strip() not in ("", "0", "1", "2")


def kind_of(*, visual: bool, collision: bool) -> str:
    """Return the class that our writer gives a geom."""
    if visual and collision:
        return "seen_collision"
    if visual:
        return "visual"
    return "collision"
