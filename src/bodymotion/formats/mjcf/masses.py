"""Masses of bodies: as `<inertial>` gives them, or as MuJoCo works them out from geoms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.formats.mjcf import rules
from bodymotion.formats.mjcf.frames import Item, finite, pose
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.shapes import Mesh
from bodymotion.model import inertias

if TYPE_CHECKING:
    from bodymotion.diagnostics import Location, Problem
    from bodymotion.formats.mjcf.geoms import Geom
    from bodymotion.formats.mjcf.settings import Settings

__all__ = ["Mass", "given_mass", "mass_of_geoms", "mesh_moments", "settled"]

DENSITY = 1000.0


@dataclass(frozen=True)
class Mass:
    """A mass [kg], its centre (3,) [m] and its inertia (3, 3) [kg m²] about that, in a body's frame."""

    mass: float
    center: Floats
    inertia: Floats


NONE = Mass(0.0, np.zeros(3), np.zeros((3, 3)))


def given_mass(item: Item, settings: Settings) -> Mass:
    """Return what an `<inertial>` says; FormatError where it says two things or nothing of what must be there."""
    element = item.element
    element.need("pos")
    mass = element.number("mass")
    frame = pose(element, settings)
    if item.frame is not None:
        frame = poses.compose(item.frame, frame)
    turn = rotations.to_matrix(frame[3:])
    if "fullinertia" in element.attributes:
        xx, yy, zz, xy, xz, yz = finite(element, "fullinertia", 6).tolist()
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        plain = item.frame is None and (frame[3:] == rotations.IDENTITY).all()
        return Mass(mass, frame[:3], tensor if plain else turn @ tensor @ turn.T)
    moments = finite(element, "diaginertia", 3, (0.0, 0.0, 0.0))
    if (frame[3:] == rotations.IDENTITY).all():
        return Mass(mass, frame[:3], np.diag(moments))
    tensor = (turn * moments) @ turn.T
    return Mass(mass, frame[:3], 0.5 * (tensor + tensor.T))


def mass_of_geoms(geoms: Sequence[Geom], settings: Settings, problems: list[Problem]) -> Mass:
    """Work the mass of a body out from its geoms, each solid and of even density (1000 kg/m³ where none is given)."""
    low, high = settings.inertiagrouprange
    parts = [
        part
        for geom in geoms
        if low <= geom.element.number("group", 0.0) <= high and (part := _of_geom(geom, problems)) is not None
    ]
    total = sum(part.mass for part in parts)
    if not total > 0:
        return NONE
    if len(parts) == 1:
        return parts[0]
    center = np.asarray(sum((part.mass * part.center for part in parts), np.zeros(3)) / total)
    tensor = np.zeros((3, 3))
    for part in parts:
        arm = part.center - center
        tensor += part.inertia + part.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return Mass(float(total), center, tensor)


def _of_geom(geom: Geom, problems: list[Problem]) -> Mass | None:
    element = geom.element
    if geom.type == "plane":
        return None
    shell = element.get("shellinertia") == "true"
    if geom.type == "mesh":
        mesh = geom.shape.geometry
        assert isinstance(mesh, Mesh)
        kind = "shell" if shell else geom.inertia
        found = mesh_moments(mesh, kind, element.location, problems)
        if found is None:
            return None
        volume, center, moments = found
    else:
        volume, moments = (_shell_moments if shell else _solid_moments)(geom.type, geom.size)
        center = np.zeros(3)
    if not volume > 0:
        return None
    mass = element.number("mass") if "mass" in element.attributes else volume * element.number("density", DENSITY)
    if mass == 0:
        return None
    turn = rotations.to_matrix(geom.pose[3:])
    spread = turn @ (moments * (mass / volume)) @ turn.T
    return Mass(mass, turn @ center + geom.pose[:3], np.trace(spread) * np.eye(3) - spread)


def _solid_moments(kind: str, size: tuple[float, ...]) -> tuple[float, Floats]:
    """Return the volume [m³] of a solid and its second moments ∫x·xᵀdV (3, 3) [m⁵] about its middle."""
    match kind:
        case "sphere":
            volume = 4 / 3 * np.pi * size[0] ** 3
            return volume, volume * np.diag([size[0] ** 2 / 5] * 3)
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

    That of an ellipsoid is spread as MuJoCo has it, as a skin equally thick along the three axes, and its area is Thomsen's formula.
    """
    squares = np.square(size)
    match kind:
        case "sphere":
            area = 4.0 * np.pi * squares[0]
            return area, area * np.diag([squares[0] / 3.0] * 3)
        case "box":
            pairs = 8.0 * np.array([size[1] * size[2], size[0] * size[2], size[0] * size[1]])
            area = float(pairs.sum())
            return area, np.diag(squares * (pairs + (area - pairs) / 3.0))
        case "ellipsoid":
            power = 1.6075
            x, y, z = (value**power for value in size)
            area = 4.0 * np.pi * ((x * y + x * z + y * z) / 3.0) ** (1.0 / power)
            thickness = 1.0 / sum(1.0 / value for value in size)
            return area, area * np.diag((squares + 2.0 * thickness * np.array(size)) / 5.0)
    radius, half = size
    side = 4.0 * np.pi * radius * half
    moments = side * np.diag([radius**2 / 2.0, radius**2 / 2.0, half**2 / 3.0])
    if kind == "cylinder":
        ends = 2.0 * np.pi * radius**2
        return side + ends, moments + ends * np.diag([radius**2 / 4.0, radius**2 / 4.0, half**2])
    ends = 4.0 * np.pi * radius**2
    along = half**2 + half * radius + radius**2 / 3.0
    return side + ends, moments + ends * np.diag([radius**2 / 3.0, radius**2 / 3.0, along])


def mesh_moments(
    mesh: Mesh, kind: str, location: Location, problems: list[Problem]
) -> tuple[float, Floats, Floats] | None:
    """Return volume (for a shell: area), centre and second moments about that, in the mesh's own frame, as MuJoCo takes them."""
    corner = mesh.vertices[mesh.faces]
    if kind == "convex":
        try:
            import trimesh

            hull = trimesh.convex.convex_hull(mesh.vertices)
            corner = np.asarray(hull.vertices)[np.asarray(hull.faces)]
        except Exception:  # without scipy there is no hull, and its library raises what it likes for flat ones
            words = "the mass of a mesh is that of the mesh, not of its convex hull"
            problems.append(rules.GEOM_MASS.problem(words, location))
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    area = 0.5 * np.linalg.norm(normal, axis=1)
    if not area.sum() > 0:
        return None
    middle = (area[:, None] * corner.mean(axis=1)).sum(axis=0) / area.sum()
    if kind == "shell":
        return float(area.sum()), middle, _second(corner - middle, area, 12.0)
    volume = ((corner[:, 0] - middle) * normal).sum(axis=1) / 6.0
    if kind == "legacy":
        volume = np.abs(volume)
    total = float(volume.sum())
    if not total > 0:
        problems.append(rules.GEOM_MASS.problem("a mesh has no volume inside: it weighs nothing", location))
        return None
    center = middle + (volume[:, None] * (corner - middle).sum(axis=1)).sum(axis=0) / (4.0 * total)
    return total, center, _second(corner - center, volume, 20.0)


def _second(corner: Floats, weight: Floats, share: float) -> Floats:
    """Return Σ weight/share · (Σ v·vᵀ + s·sᵀ), s = Σ v, over the corners v of each triangle: with 20 of tetrahedra to the origin, with 12
    of triangles.
    """
    total = corner.sum(axis=1)
    each = np.einsum("f,fki,fkj->ij", weight, corner, corner) + np.einsum("f,fi,fj->ij", weight, total, total)
    return np.asarray(each / share)


def settled(mass: Mass, settings: Settings) -> Mass:
    """Apply the compiler's bounds to a body's mass, and its balancing of moments that no body has."""
    if not (settings.boundmass or settings.boundinertia or settings.balanceinertia):
        return mass
    moments, axes = inertias.principal_moments(mass.inertia)
    changed = np.maximum(moments, settings.boundinertia)
    least, middle, most = np.sort(changed).tolist()
    if settings.balanceinertia and least + middle < most:
        changed = np.full(3, changed.mean())
    weight = max(mass.mass, settings.boundmass)
    if (changed == moments).all():
        return Mass(weight, mass.center, mass.inertia)
    return Mass(weight, mass.center, (axes * changed) @ axes.T)
