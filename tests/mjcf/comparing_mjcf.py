"""How a body that went through MJCF is compared with the one it was."""

from __future__ import annotations

import itertools
import json

import numpy as np

from bodymotion.geometry.arrays import same
from bodymotion.geometry.meshes import to_mesh, transformed

__all__ = ["differences"]


def close(a, b, tolerance=1e-9) -> bool:
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    return a.shape == b.shape and bool(
        np.allclose(a, b, rtol=tolerance, atol=tolerance)
    )


def differences(before, after, lost=()) -> list[str]:
    """List in what two bodies differ, but for what the codes in `lost` allow: segments put together, shapes left out or meshed."""
    found = [
        name
        for name in ("name", "info", "extra", "viewpoints", "root_pose")
        if not same(getattr(before, name), getattr(after, name))
    ]
    if [link.name for link in before.links] != [link.name for link in after.links]:
        return [*found, "links"]
    if before.joint_links != after.joint_links:
        found.append("joint columns")
    for one, two in zip(before.links, after.links, strict=True):
        found += [f"{one.name}: {what}" for what in link_differences(one, two, lost)]
    for what in ("devices", "extra_joints"):
        ours, theirs = getattr(before, what), getattr(after, what)
        found += [
            f"{what}: {a} {b}" for a, b in itertools.zip_longest(ours, theirs) if a != b
        ]
    return found


def link_differences(one, two, lost) -> list[str]:
    found = [
        name
        for name in ("parent", "joint", "offset")
        if not same(getattr(one, name), getattr(two, name))
    ]
    found += [
        name
        for name in ("mass", "center_of_mass", "inertia")
        if not close(getattr(one, name), getattr(two, name))
    ]
    if "LOSS035" not in lost and [said_of(s) for s in one.segments] != [
        said_of(s) for s in two.segments
    ]:
        found.append("segments")
    for name in ("visuals", "collisions"):
        ours, theirs = getattr(one, name), getattr(two, name)
        if "LOSS031" in lost:
            ours = [shape for shape in ours if has_surface(shape)]
        if len(ours) != len(theirs):
            found.append(f"{len(ours)} {name}, {len(theirs)}")
            continue
        found += [
            f"{name}: {a} {b}"
            for a, b in zip(ours, theirs, strict=True)
            if not same_surface(a, b)
        ]
    return found


def said_of(segment):
    """Return what comes back of a segment to the bit; the inertia of one alone may be rounded."""
    return (
        segment.name,
        segment.extra,
        segment.mass,
        segment.transform.tolist(),
        segment.center_of_mass.tolist(),
    )


def has_surface(shape) -> bool:
    """Whether a shape has a triangle: a cylinder whose parts are all left out has none."""
    return (
        type(shape.geometry).__name__ not in ("Lines", "Points")
        and len(to_mesh(shape.geometry).faces) > 0
    )


def same_surface(a, b) -> bool:
    """Whether two shapes have the same triangles where they are meshes, or are the same solid, and look alike."""
    if a.material != b.material or a.name != b.name:
        return False
    if type(a.geometry) is type(b.geometry) and type(a.geometry).__name__ != "Mesh":
        return close(a.bounds, b.bounds, 1e-8) and volume(a) == volume_near(
            b, volume(a)
        )
    one, two = (transformed(to_mesh(s.geometry), s.transform) for s in (a, b))
    return one.faces.shape == two.faces.shape and close(
        one.vertices[one.faces], two.vertices[two.faces], 1e-8
    )


def volume(shape) -> float:
    mesh = shape.to_mesh()
    corner = mesh.vertices[mesh.faces]
    return float(
        np.einsum("fi,fi->", corner[:, 0], np.cross(corner[:, 1], corner[:, 2])) / 6
    )


def volume_near(shape, wanted: float) -> float:
    """Return the volume of a shape, `wanted` itself where it is as near as rounding allows."""
    found = volume(shape)
    return wanted if abs(found - wanted) <= 1e-9 * max(abs(wanted), 1e-6) else found


def reported(problems) -> set[str]:
    """Return the codes of what was lost: links that do not collide are none of that."""
    return {problem.rule for problem in problems} - {"MJCF160"}


def kept_texts(root) -> dict[str, object]:
    """Return what a file keeps in its custom texts."""
    return {
        text.get("name"): json.loads(text.attributes["data"])
        for custom in root.all("custom")
        for text in custom.all("text")
    }
