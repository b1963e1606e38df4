"""A body in another size, or in other units of length."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from bodymotion.arrays import Floats, frozen
from bodymotion.body import Body, Viewpoint
from bodymotion.devices import Device, RangeSensor, VisionSensor
from bodymotion.editing.rerooting import KEPT
from bodymotion.links import Joint, Link, Segment
from bodymotion.shapes import Box, Geometry, Lines, Mesh, Points, Shape, Sphere
from bodymotion.source import Source

__all__ = ["scale"]


def scale(body: Body, factor: float) -> Body:
    """Give the body with all lengths times `factor`: 0.001 makes metres of what was in millimetres.

    Lengths are: offsets, centres of mass, shapes, places of devices and of extra joints, limits and velocity limits of sliding joints, clip
    distances and the largest distance of sensors. Masses stay as they are, so inertias go with the square of the factor. Angles, motors,
    and the limits of accelerations and forces stay, too, and so does what a file says beyond the document (`extra`).

    Raises
    ------
    ValueError
        When the factor is no positive, finite number.
    """
    if not 0 < factor < math.inf:
        raise ValueError(f"a body is scaled by a positive, finite factor, not by {factor}")
    extra_joints = tuple(replace(joint, positions=frozen(factor * joint.positions)) for joint in body.extra_joints)
    return replace(
        body,
        links=tuple(_link(link, factor) for link in body.links),
        devices=tuple(_device(device, factor) for device in body.devices),
        extra_joints=extra_joints,
        viewpoints=tuple(_viewpoint(viewpoint, factor) for viewpoint in body.viewpoints),
        root_pose=_pose(body.root_pose, factor),
        source=_source(body.source, factor),
    )


def _source(source: Source, factor: float) -> Source:
    """Take what `reroot` remembers of the way back along."""
    kept = source.options.get(KEPT)
    if not isinstance(kept, Mapping):
        return source
    moved = {name: tuple(factor * length for length in shift) for name, shift in kept["moved"].items()}
    return replace(source, options={**source.options, KEPT: {**kept, "moved": moved}})


def _pose(pose: Floats, factor: float) -> Floats:
    return frozen(np.concatenate([factor * pose[:3], pose[3:]]))


def _transform(transform: Floats, factor: float) -> Floats:
    scaled = transform.copy()
    scaled[:3, 3] *= factor
    return frozen(scaled)


def _link(link: Link, factor: float) -> Link:
    return replace(
        link,
        offset=_pose(link.offset, factor),
        joint=_joint(link.joint, factor),
        segments=tuple(_segment(segment, factor) for segment in link.segments),
    )


def _joint(joint: Joint, factor: float) -> Joint:
    if joint.type != "slide":
        return joint
    return replace(
        joint,
        lower=factor * joint.lower,
        upper=factor * joint.upper,
        velocity_lower=factor * joint.velocity_lower,
        velocity_upper=factor * joint.velocity_upper,
    )


def _segment(segment: Segment, factor: float) -> Segment:
    return replace(
        segment,
        transform=_transform(segment.transform, factor),
        center_of_mass=frozen(factor * segment.center_of_mass),
        inertia=frozen(factor**2 * segment.inertia),
        visuals=tuple(_shape(shape, factor) for shape in segment.visuals),
        collisions=tuple(_shape(shape, factor) for shape in segment.collisions),
    )


def _shape(shape: Shape, factor: float) -> Shape:
    """Scale the geometry itself, so that a transform that only turns and moves goes on to do no more."""
    return replace(shape, geometry=_geometry(shape.geometry, factor), transform=_transform(shape.transform, factor))


def _geometry(geometry: Geometry, factor: float) -> Geometry:
    if isinstance(geometry, (Mesh, Lines, Points)):
        return replace(geometry, vertices=frozen(factor * geometry.vertices))
    match geometry:
        case Box(size=(x, y, z)):
            return Box((factor * x, factor * y, factor * z))
        case Sphere():
            return Sphere(factor * geometry.radius)
        case _:
            return replace(geometry, radius=factor * geometry.radius, height=factor * geometry.height)


def _device(device: Device, factor: float) -> Device:
    moved = replace(device, pose=_pose(device.pose, factor))
    if isinstance(moved, VisionSensor):
        return replace(
            moved,
            front_clip_distance=factor * moved.front_clip_distance,
            back_clip_distance=factor * moved.back_clip_distance,
        )
    if isinstance(moved, RangeSensor):
        return replace(moved, max_distance=factor * moved.max_distance)
    return moved


def _viewpoint(viewpoint: Viewpoint, factor: float) -> Viewpoint:
    return replace(viewpoint, pose=_pose(viewpoint.pose, factor))
