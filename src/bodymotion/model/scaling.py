"""Scale a body, or convert its units of length."""

import math
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from bodymotion.diagnostics import Problem, Source
from bodymotion.diagnostics.losses import UNSCALED
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.geometry.shapes import Box, Geometry, Lines, Mesh, Points, Shape, Sphere
from bodymotion.model.body import Body
from bodymotion.model.links import (
    Device,
    Joint,
    Link,
    OtherDevice,
    RangeSensor,
    Segment,
    VisionSensor,
)

_T = TypeVar("_T")

# The option of a source that keeps what `editing.reroot` changed.
HISTORY_KEY = "rerooted"

# The lengths in `Joint.extra` of a sliding joint. Numbers, or the named numbers of a
# mapping.
LENGTHS: dict[str, tuple[str, ...]] = {
    "safety_controller": ("soft_lower_limit", "soft_upper_limit"),
    "calibration": ("rising", "falling"),
    "joint_displacement": (),
    "springref": (),
    "margin": (),
}


def scale(body: Body, factor: float) -> Body:
    """Return the body with all lengths times `factor`.

    0.001 converts millimetres to metres.

    Lengths are: offsets, centres of mass, shapes, positions of devices and of extra
    joints, limits and velocity limits of sliding joints, clip distances and the largest
    distance of sensors; of a sliding joint of a URDF also its soft limits, calibration
    and mimic, of an MJCF its springref and margin. Masses do not change, so inertias
    scale with the square of the factor. Angles, motors, and the limits of accelerations
    and forces do not change either, nor does other data of the file (`extra`); where it
    may have lengths, `problems` reports it (LOSS081).

    Raises
    ------
    ValueError
        When the factor is not a positive, finite number.
    """
    if not 0 < factor < math.inf:
        raise ValueError(f"factor {factor}, expected a positive, finite number")
    # Mimics refer to joints by name.
    slides = {link.joint.name for link in body.links if link.joint.type == "slide"}
    extra_joints = tuple(
        replace(joint, positions=frozen(factor * joint.positions))
        for joint in body.extra_joints
    )
    return replace(
        body,
        links=tuple(_link(link, factor, slides) for link in body.links),
        devices=tuple(_device(device, factor) for device in body.devices),
        extra_joints=extra_joints,
        viewpoints=tuple(
            replace(view, pose=_pose(view.pose, factor)) for view in body.viewpoints
        ),
        root_pose=_pose(body.root_pose, factor),
        environment=tuple(_shape(shape, factor) for shape in body.environment),
        source=_source(body.source, factor),
        problems=(*body.problems, *(_unscaled(body) if factor != 1 else ())),
    )


def _link(link: Link, factor: float, slides: set[str]) -> Link:
    return replace(
        link,
        offset=_pose(link.offset, factor),
        joint=_joint(link.joint, factor, slides),
        segments=tuple(_segment(segment, factor) for segment in link.segments),
    )


def _segment(segment: Segment, factor: float) -> Segment:
    return replace(
        segment,
        transform=_transform(segment.transform, factor),
        center_of_mass=frozen(factor * segment.center_of_mass),
        # Inertia is mass times length squared.
        inertia=frozen(factor**2 * segment.inertia),
        visuals=tuple(_shape(shape, factor) for shape in segment.visuals),
        collisions=tuple(_shape(shape, factor) for shape in segment.collisions),
    )


def _unscaled(body: Body) -> list[Problem]:
    """Return a problem for data that may have lengths and is not scaled."""
    parts: list[Any] = [body, *body.devices, *body.extra_joints]
    for link in body.links:
        parts += [link.joint, *link.segments]
    found = []
    for name, what in (
        ("urdf", "elements of a URDF for other programs"),
        ("mjcf", "the values that only MJCF has"),
    ):
        if any(part.extra.get(name) for part in parts):
            found.append(UNSCALED.problem(f"{what} are not scaled"))
    for device in body.devices:
        # Devices that the library does not know may have lengths anywhere.
        if isinstance(device, OtherDevice) and device.extra:
            message = f"the fields of {device.kind} {device.name!r:.60} are not scaled"
            found.append(UNSCALED.problem(message))
    return found


def _source(source: Source, factor: float) -> Source:
    """Scale the history of `reroot`."""
    kept = source.options.get(HISTORY_KEY)
    if not isinstance(kept, Mapping):
        return source
    moved = {}
    for name, shift in kept["moved"].items():
        moved[name] = tuple(factor * length for length in shift)
    return replace(
        source, options={**source.options, HISTORY_KEY: {**kept, "moved": moved}}
    )


def _pose(pose: Floats, factor: float) -> Floats:
    return frozen(np.concatenate([factor * pose[:3], pose[3:]]))


def _transform(transform: Floats, factor: float) -> Floats:
    scaled = transform.copy()
    scaled[:3, 3] *= factor
    return frozen(scaled)


def _joint(joint: Joint, factor: float, slides: Collection[str]) -> Joint:
    # Angles of rotating joints stay; but a mimic of a slide has a length.
    if joint.extra:
        joint = replace(joint, extra=_kept(joint, factor, slides))
    if joint.type != "slide":
        return joint
    return _scaled(joint, factor, "lower", "upper", "velocity_lower", "velocity_upper")


def _scaled(thing: _T, factor: float, *names: str) -> _T:
    scaled = {name: factor * getattr(thing, name) for name in names}
    return replace(thing, **scaled)  # type: ignore[type-var]


def _kept(joint: Joint, factor: float, slides: Collection[str]) -> dict[str, object]:
    """Return the extra data of a joint with its lengths scaled.

    A mimic of another joint is q = multiplier · q' + offset; each q is a length where
    its joint slides.
    """
    kept = dict(joint.extra)
    # Values in `extra` are lengths only where the joint slides.
    lengths = LENGTHS if joint.type == "slide" else {}
    for name, keys in lengths.items():
        values = kept.get(name)
        if isinstance(values, Mapping):
            kept[name] = {
                key: _times(value, factor) if key in keys else value
                for key, value in values.items()
            }
        # A plain number, or one that only exists as a mapping.
        elif values is not None and not keys:
            kept[name] = _times(values, factor)
    mimic = kept.get("mimic")
    if isinstance(mimic, Mapping):
        # Units of the joint and of the one that it mimics: the multiplier has the unit
        # of q per unit of q'.
        own = factor if joint.type == "slide" else 1.0
        other = factor if mimic.get("joint") in slides else 1.0
        factors = {"multiplier": own / other, "offset": own}
        scaled = {
            key: _times(mimic.get(key), factor) for key, factor in factors.items()
        }
        kept["mimic"] = {key: scaled.get(key, value) for key, value in mimic.items()}
    return kept


def _times(value: object, factor: float) -> object:
    # `bool` is an int in Python.
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return factor * value
    return value


def _shape(shape: Shape, factor: float) -> Shape:
    """Scale the geometry itself, so that a transform without scale stays one."""
    return replace(
        shape,
        geometry=_geometry(shape.geometry, factor),
        transform=_transform(shape.transform, factor),
    )


def _geometry(geometry: Geometry, factor: float) -> Geometry:
    if isinstance(geometry, (Mesh, Lines, Points)):
        return _scaled(geometry, factor, "vertices")
    match geometry:
        case Box(size=(x, y, z)):
            return Box((factor * x, factor * y, factor * z))
        case Sphere():
            return _scaled(geometry, factor, "radius")
        case _:
            return _scaled(geometry, factor, "radius", "height")


def _device(device: Device, factor: float) -> Device:
    moved = replace(device, pose=_pose(device.pose, factor))
    if isinstance(moved, VisionSensor):
        return _scaled(moved, factor, "front_clip_distance", "back_clip_distance")
    if isinstance(moved, RangeSensor):
        return _scaled(moved, factor, "max_distance")
    return moved
