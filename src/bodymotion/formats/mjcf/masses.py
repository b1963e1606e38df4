"""The masses of bodies: of <inertial>, or of geoms as MuJoCo computes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bodymotion.diagnostics import Rule
from bodymotion.formats.mjcf import rules
from bodymotion.formats.mjcf.defaults import Item, Settings, pose
from bodymotion.formats.mjcf.names import finite
from bodymotion.formats.xml.tree import Element
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.geometry.shapes import Mesh
from bodymotion.model import inertias
from bodymotion.model.links import Link, Segment

if TYPE_CHECKING:
    from bodymotion.formats.mjcf.geoms import Geom

# [kg/m³] The default of geoms.
DENSITY = 1000.0
# The exponent of Thomsen's formula for the area of an ellipsoid.
THOMSEN_POWER = 1.6075


class Moments(NamedTuple):
    """How the volume of a solid, or the area of a shell, is distributed.

    Attributes
    ----------
    size:
        The volume [m³], or the area [m²].
    second:
        (3, 3) The second moments about the centre, ∫x·xᵀdV [m⁵] or ∫x·xᵀdA [m⁴].
    center:
        (3,) [m] The centre in the frame of the geom or mesh.
    """

    size: float
    second: Floats
    center: Floats


def read_mass(item: Item, settings: Settings) -> Segment:
    """Return the mass of an `<inertial>`, as a segment without shapes."""
    element = item.element
    element.need("pos")
    mass = element.number("mass")
    frame = item.placed(pose(element, settings))
    # (3, 3) From the frame of <inertial> to that of the body: I_body = R·I·Rᵀ.
    rotation = rotations.to_matrix(frame[3:])
    if "fullinertia" in element.attributes:
        xx, yy, zz, xy, xz, yz = finite(element, "fullinertia", 6).tolist()
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        return _segment(mass, frame[:3], rotation @ tensor @ rotation.T)
    moments = finite(element, "diaginertia", 3, (0.0, 0.0, 0.0))
    # R·diag(moments)·Rᵀ; the mean with its transpose removes what rounding left.
    tensor = (rotation * moments) @ rotation.T
    return _segment(mass, frame[:3], 0.5 * (tensor + tensor.T))


def _segment(mass: float, center: Floats, inertia: Floats) -> Segment:
    return Segment(mass=mass, center_of_mass=center, inertia=inertia)


def mass_of_geoms(geoms: Sequence[Geom], settings: Settings) -> Segment:
    """Compute the mass of a body from its geoms, each of uniform density."""
    # Geoms of other groups, such as visuals, have no mass then.
    low, high = settings.inertiagrouprange
    parts = []
    for geom in geoms:
        if low <= geom.element.number("group", 0.0) <= high:
            part = _mass_of_geom(geom)
            if part is not None:
                parts.append(part)
    # A link adds the masses of its segments and moves their inertias to the common
    # centre.
    whole = Link(segments=tuple(parts))
    if whole.mass > 0:
        return _segment(whole.mass, whole.center_of_mass, whole.inertia)
    return Segment()


def _mass_of_geom(geom: Geom) -> Segment | None:
    """Return the mass of a geom in the body's frame.

    None where it has none.
    """
    element = geom.element
    # A plane has no mass in MuJoCo.
    if geom.type == "plane":
        return None
    moments = _moments_of_geom(geom)
    if moments is None or not moments.size > 0:
        return None
    if "mass" in element.attributes:
        mass = element.number("mass")
    else:
        mass = moments.size * element.number("density", DENSITY)
    if mass == 0:
        return None
    rotation = rotations.to_matrix(geom.pose[3:])
    # (3, 3) [kg m²] Second moments of the mass about its centre, in the body's frame.
    spread = rotation @ (moments.second * (mass / moments.size)) @ rotation.T
    center = rotation @ moments.center + geom.pose[:3]
    # I = tr(S)·1 − S, for the second moments S of the mass.
    return _segment(mass, center, np.trace(spread) * np.eye(3) - spread)


def _moments_of_geom(geom: Geom) -> Moments | None:
    """Return the moments of a geom in its own frame.

    None where it has none.
    """
    is_shell = geom.element.get("shellinertia") == "true"
    if geom.type == "mesh":
        mesh = geom.shape.geometry
        assert isinstance(mesh, Mesh)
        kind = "shell" if is_shell else geom.inertia
        return mesh_moments(mesh, kind, geom.element)
    kind = geom.type
    size = geom.size
    # A sphere is an ellipsoid of three equal half axes.
    if kind == "sphere":
        kind = "ellipsoid"
        size = size * 3
    if is_shell:
        return _shell_moments(kind, size)
    return _solid_moments(kind, size)


def _diagonal(size: float, x: float, y: float, z: float) -> Moments:
    """Return moments about the middle from their means along the axes [m²]."""
    return Moments(size, size * np.diag([x, y, z]), np.zeros(3))


def _sum(one: Moments, other: Moments) -> Moments:
    # Both have the same centre: of solids that are symmetric about it.
    return Moments(one.size + other.size, one.second + other.second, one.center)


def _solid_moments(kind: str, size: tuple[float, ...]) -> Moments:
    """Return the volume of a solid and its second moments about its middle."""
    if kind == "ellipsoid":
        # ∫x²dV = V·a²/5 for an ellipsoid, and V·h²/3 for a box of half size h.
        volume = 4 / 3 * np.pi * size[0] * size[1] * size[2]
        return Moments(volume, volume * np.diag(np.square(size) / 5), np.zeros(3))
    if kind == "box":
        volume = 8 * size[0] * size[1] * size[2]
        return Moments(volume, volume * np.diag(np.square(size) / 3), np.zeros(3))
    radius, half = size
    # ∫x²dV = V·r²/4 across the axis of a cylinder, V·h²/3 along it.
    rod = 2 * np.pi * radius**2 * half
    across = radius**2 / 4
    cylinder = _diagonal(rod, across, across, half**2 / 3)
    if kind == "cylinder":
        return cylinder
    # Two half balls, whose centres of mass lie 3/8 of the radius beyond the ends.
    ball = 4 / 3 * np.pi * radius**3
    # Along the axis: the mean of (h + u)² = h² + 2hu + u², with u ≥ 0 the distance
    # beyond the end. Its mean is 3r/8 in a half ball, the mean of u² is r²/5.
    across = radius**2 / 5
    along = radius**2 / 5 + half**2 + 2 * half * 3 / 8 * radius
    return _sum(cylinder, _diagonal(ball, across, across, along))


def _shell_moments(kind: str, size: tuple[float, ...]) -> Moments:
    """Return the moments of a solid's surface about its middle."""
    if kind == "box":
        return _box_shell(size)
    if kind == "ellipsoid":
        return _ellipsoid_shell(size)
    radius, half = size
    # 2πr · 2h. The mean of x² on a circle is r²/2.
    side = 4.0 * np.pi * radius * half
    across = radius**2 / 2.0
    tube = _diagonal(side, across, across, half**2 / 3.0)
    if kind == "cylinder":
        # Two discs at the ends.
        ends = 2.0 * np.pi * radius**2
        across = radius**2 / 4.0
        return _sum(tube, _diagonal(ends, across, across, half**2))
    # Two half spheres, whose centres lie half of the radius beyond the ends.
    ends = 4.0 * np.pi * radius**2
    across = radius**2 / 3.0
    along = half**2 + half * radius + radius**2 / 3.0
    return _sum(tube, _diagonal(ends, across, across, along))


def _box_shell(size: tuple[float, ...]) -> Moments:
    x, y, z = size
    squares = np.square(size)
    # The areas of the pairs of faces normal to x, y and z.
    pairs = 8.0 * np.array([y * z, x * z, x * y])
    area = float(pairs.sum())
    # A pair is at the full half size along its normal, others spread over it (1/3).
    second = np.diag(squares * (pairs + (area - pairs) / 3.0))
    return Moments(area, second, np.zeros(3))


def _ellipsoid_shell(size: tuple[float, ...]) -> Moments:
    """Return the moments of the shell of an ellipsoid.

    As in MuJoCo, it is equally thick along its three axes, and its area is Thomsen's
    formula.
    """
    # Thomsen: area ≈ 4π·(((ab)ᵖ + (ac)ᵖ + (bc)ᵖ)/3)^(1/p), within 1.1 %.
    x, y, z = (value**THOMSEN_POWER for value in size)
    mean = (x * y + x * z + y * z) / 3.0
    area = 4.0 * np.pi * mean ** (1.0 / THOMSEN_POWER)
    thickness = 1.0 / sum(1.0 / value for value in size)
    spread = (np.square(size) + 2.0 * thickness * np.array(size)) / 5.0
    return Moments(area, area * np.diag(spread), np.zeros(3))


def mesh_moments(mesh: Mesh, kind: str, element: Element) -> Moments | None:
    """Return the moments of a mesh as MuJoCo computes them, in the mesh's frame.

    `kind` is the `inertia` of its asset: "legacy", "exact", "convex" or "shell". None
    where it has no volume, or no area, which is reported.
    """
    # (F, 3, 3) The corners of each triangle.
    corners = mesh.vertices[mesh.faces]
    if kind == "convex":
        title = "the mass of a mesh is that of its convex hull"
        hull = convex_hull(mesh.vertices, element, rules.GEOM_MASS, title)
        if hull is not None:
            corners = hull.vertices[hull.faces]
    # (F, 3) Normals whose lengths are twice the areas.
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = 0.5 * np.linalg.norm(normals, axis=1)
    area = areas.sum()
    if not area > 0:
        return None
    # (3,) The centre of the surface: the tip of the tetrahedra in the first sum.
    middle = (areas[:, None] * corners.mean(axis=1)).sum(axis=0) / area
    if kind == "shell":
        second = _second_moments(corners - middle, areas, 12.0)
        return Moments(float(area), second, middle)
    volumes = _tetrahedra(corners, normals, middle, kind)
    volume = float(volumes.sum())
    if volume > 0:
        # The centre of a tetrahedron with its tip at the origin is a quarter of the sum
        # of its other corners.
        sums = (corners - middle).sum(axis=1)
        center = middle + (volumes[:, None] * sums).sum(axis=0) / (4.0 * volume)
        # In "legacy" each volume counts as positive, so the sum depends on the tip:
        # MuJoCo sums again about the centre.
        volumes = _tetrahedra(corners, normals, center, kind)
        volume = float(volumes.sum())
    if not volume > 0:
        element.report(rules.GEOM_MASS, "a mesh has no volume inside: its mass is zero")
        return None
    second = _second_moments(corners - center, volumes, 20.0)
    return Moments(volume, second, center)


def _tetrahedra(corners: Floats, normals: Floats, tip: Floats, kind: str) -> Floats:
    """Return the volumes (F,) [m³] of tetrahedra.

    They are between triangles and a tip (3,).

    Triangles are (F, 3, 3). The volumes are negative where the normal (F, 3), of twice
    the area, points to the tip, except in "legacy".
    """
    # A third of area times height; the normal has twice the area, hence 1/6.
    volumes = ((corners[:, 0] - tip) * normals).sum(axis=1) / 6.0
    return np.asarray(np.abs(volumes) if kind == "legacy" else volumes)


def _second_moments(corners: Floats, weights: Floats, share: float) -> Floats:
    """Return the second moments (3, 3) of triangles or tetrahedra.

    They are Σ weight/share · (Σ v·vᵀ + s·sᵀ), s = Σ v, over corners v. The share is 20
    of tetrahedra to the origin, 12 of triangles.
    """
    # Corners (F, 3, 3) are relative to the centre, `sums` is (F, 3).
    sums = corners.sum(axis=1)
    of_corners = np.einsum("f,fki,fkj->ij", weights, corners, corners)
    of_sums = np.einsum("f,fi,fj->ij", weights, sums, sums)
    return np.asarray((of_corners + of_sums) / share)


def convex_hull(
    points: Floats, element: Element, rule: Rule, title: str
) -> Mesh | None:
    """Return the convex hull of points (V, 3).

    None where it cannot be computed, which is reported: without SciPy, and for flat
    ones.
    """
    # Imported here: only a mesh whose mass is that of its hull needs trimesh.
    import trimesh

    try:
        hull = trimesh.convex.convex_hull(points)
    except Exception as error:
        message = f"{title}, which cannot be computed: {error!s:.100}"
        element.report(rule, message)
        return None
    vertices = np.asarray(hull.vertices, dtype=np.float64)
    return Mesh(frozen(vertices), np.asarray(hull.faces, dtype=np.int32))


def apply_bounds(mass: Segment, settings: Settings) -> Segment:
    """Apply the compiler's bounds to a body's mass, and its balancing of moments."""
    bounds = settings.boundmass or settings.boundinertia or settings.balanceinertia
    if not bounds or not np.isfinite(mass.inertia).all():
        return mass
    # MuJoCo bounds the moments along the principal axes, not the entries of the matrix.
    moments, axes = inertias.principal_moments(mass.inertia)
    bounded = np.maximum(moments, settings.boundinertia)
    smallest, middle, largest = np.sort(bounded).tolist()
    # Moments that no body has become their mean.
    if settings.balanceinertia and smallest + middle < largest:
        bounded = np.full(3, bounded.mean())
    tensor = mass.inertia
    if (bounded != moments).any():
        tensor = (axes * bounded) @ axes.T
    return _segment(max(mass.mass, settings.boundmass), mass.center_of_mass, tensor)
