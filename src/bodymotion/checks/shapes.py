"""Numbers, poses, shapes and sizes."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from bodymotion.checks import rules
from bodymotion.checks.sheet import Sheet, some
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.shapes import Lines, Mesh, Points, Shape
from bodymotion.model.devices import Device
from bodymotion.model.links import Joint, Link

__all__ = ["check_numbers", "check_shapes", "check_sizes"]

LARGEST, SMALLEST = 50.0, 1e-3
"""[m] Robots are told that are larger, or smaller."""

_OF_JOINTS = tuple(f.name for f in fields(Joint) if f.type == "float" or f.name == "axis")


def check_numbers(sheet: Sheet) -> None:
    """Check that numbers are finite (limits may be infinite) and that the quaternions of poses are of length 1."""
    body = sheet.body
    if not np.isfinite(body.root_pose).all():
        sheet.of_body(rules.NOT_FINITE, "the root pose is not finite")
    for link in body.links:
        for what, part in _not_finite(link):
            sheet.of_link(rules.NOT_FINITE, link, f"has a number that is not finite in its {what}", part)
        said = _turn(link.offset)
        if said:
            rule = rules.QUATERNION if any(link.offset[3:]) else rules.NO_TURN
            sheet.of_link(rule, link, f"has an offset {said}", "turn")
    for number, device in enumerate(body.devices):
        if not np.isfinite(_numbers(device)).all():
            sheet.of_device(rules.NOT_FINITE, number, "has a number that is not finite")
        said = _turn(device.pose)
        if said:
            sheet.of_device(rules.QUATERNION if any(device.pose[3:]) else rules.NO_TURN, number, f"has a pose {said}")
    for number, extra in enumerate(body.extra_joints):
        if not np.isfinite([*extra.positions.flat, *extra.axis]).all():
            sheet.of_extra_joint(rules.NOT_FINITE, number, "has a number that is not finite")


def _not_finite(link: Link) -> list[tuple[str, str]]:
    """Return what of a link has such a number, and the part that it belongs to."""
    joint = link.joint
    found = []
    if not np.isfinite(link.offset).all():
        found.append(("offset", "offset"))
    for name in _OF_JOINTS:
        given = np.asarray(getattr(joint, name))
        is_limit = name in ("lower", "upper", "velocity_lower", "velocity_upper")
        if np.isnan(given).any() if is_limit else not np.isfinite(given).all():
            found.append((f"joint ({name})", "velocity" if name.startswith("velocity") else name))
    masses = [(s.mass, *s.center_of_mass, *s.inertia.flat, *s.transform.flat) for s in link.segments]
    if not np.isfinite([number for row in masses for number in row]).all():
        found.append(("mass, centre of mass, inertia or segments", "mass"))
    if not all(_shape_is_finite(shape) for s in link.segments for shape in (*s.visuals, *s.collisions)):
        found.append(("shapes", ""))
    return found


def _shape_is_finite(shape: Shape) -> bool:
    geometry = shape.geometry
    given: tuple[object, ...]
    if isinstance(geometry, (Mesh, Lines, Points)):
        given = (getattr(geometry, "vertices", None), getattr(geometry, "points", None))
    else:
        given = tuple(getattr(geometry, f.name) for f in fields(geometry))
    arrays = (np.asarray(value, dtype=np.float64) for value in (shape.transform, *given) if value is not None)
    return all(bool(np.isfinite(array).all()) for array in arrays)


def _numbers(device: Device) -> Floats:
    values = (getattr(device, f.name) for f in fields(device) if f.name not in ("extra", "name", "type"))
    return np.concatenate([np.ravel(np.asarray(value, dtype=np.float64)) for value in values])


def _turn(pose: Floats) -> str:
    """Say what is wrong with the quaternion of a pose, "" if nothing is."""
    length = float(np.linalg.norm(pose[3:]))
    if not np.isfinite(length) or abs(length - 1) <= 1e-6:
        return ""
    return f"whose quaternion is of length {length:.6g}"


def check_shapes(sheet: Sheet) -> None:
    """Check the shapes of links."""
    bare = []
    seen = any(box is not None for box in sheet.boxes)
    for link, box in zip(sheet.body.links, sheet.boxes, strict=True):
        if seen and box is None and link.mass > 0 and link.index and link.joint.type in ("rotate", "slide"):
            bare.append(repr(link.name))
        for segment in link.segments:
            for shape in (*segment.visuals, *segment.collisions):
                _shape(sheet, link, shape)
    if bare:
        sheet.of_body(rules.NO_SHAPE, f"without a shape: {some(bare)}")


def _shape(sheet: Sheet, link: Link, shape: Shape) -> None:
    geometry = shape.geometry
    if isinstance(geometry, Mesh) and geometry.faces.size:
        lowest, highest = int(geometry.faces.min()), int(geometry.faces.max())
        if lowest < 0 or highest >= len(geometry.vertices):
            wrong = lowest if lowest < 0 else highest
            said = f"has a mesh with the corner {wrong}, and {len(geometry.vertices)} vertices"
            sheet.of_link(rules.INDICES, link, said)
    stretch = np.linalg.norm(shape.transform[:3, :3], axis=0)
    if np.isfinite(stretch).all() and stretch.min() <= 1e-9 * max(stretch.max(), 1e-300):
        sheet.of_link(rules.FLAT, link, "has a shape that is scaled by 0")


def check_sizes(sheet: Sheet) -> None:
    """Check that lengths are in metres; scenery, which has one link, may be as large as it likes."""
    if len(sheet.body.links) < 2:
        return
    if sheet.diagonal > LARGEST:
        sheet.of_body(rules.HUGE, f"the robot is {sheet.diagonal:.4g} m large")
    elif 0 < sheet.diagonal < SMALLEST:
        sheet.of_body(rules.TINY, f"the robot is {sheet.diagonal:.4g} m large")
    for link in sheet.body.links[1:]:
        away = float(np.linalg.norm(link.offset[:3]))
        if LARGEST < away < np.inf:
            sheet.of_link(rules.FAR_LINK, link, f"is {away:.4g} m from its parent", "offset")
