"""A `Body` as data."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np

from bodymotion.cli.info.data import Data, about_file, number, plain, problems_of
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.shapes import Geometry, Lines, Mesh, Points, Shape
from bodymotion.model.body import Body
from bodymotion.model.devices import Device
from bodymotion.model.links import Joint, Link

__all__ = ["describe_body"]

_OF_EVERY_DEVICE = {"name", "id", "link", "pose", "extra"}


def describe_body(body: Body, path: Path) -> Data:
    """Return all that `info` knows of a body, as JSON can hold it; `docs/commands.md` names the members."""
    rest = _rest_poses(body)
    box = _bounding_box(body, rest)
    counts = _Counts()
    links = [_link(body, link, counts) for link in body.links]
    return {
        **about_file(path, "body", body.source.format),
        "version": body.source.version,
        "encoding": body.source.encoding,
        "name": body.name,
        "info": plain(body.info),
        "extra": plain(body.extra),
        "num_links": len(body.links),
        "num_joints": body.num_joints,
        "num_devices": len(body.devices),
        "num_extra_joints": len(body.extra_joints),
        "num_triangles": sum(link["num_triangles"] for link in links),
        "num_vertices": sum(link["num_vertices"] for link in links),
        "mass": number(body.mass),
        "center_of_mass": plain(_center_of_mass(body, rest)),
        "bounding_box": None if box is None else {"lower": plain(box[0]), "upper": plain(box[1])},
        "root_pose": plain(body.root_pose),
        "links": links,
        "joints": [
            {"column": column, "id": joint.id, "name": joint.name, "type": joint.type, "link": index}
            for column, (joint, index) in enumerate(zip(body.joints, body.joint_links, strict=True))
        ],
        "devices": [_device(body, device) for device in body.devices],
        "extra_joints": [
            {
                "name": joint.name,
                "type": joint.type,
                "links": list(joint.links),
                "positions": plain(joint.positions),
                "axis": plain(joint.axis),
                "extra": plain(joint.extra),
            }
            for joint in body.extra_joints
        ],
        "viewpoints": [
            {"description": v.description, "pose": plain(v.pose), "field_of_view": number(v.field_of_view)}
            for v in body.viewpoints
        ],
        **problems_of(body.problems),
    }


def _rest_poses(body: Body) -> Floats:
    """Return the poses (L, 7) with all joints at 0, without the compiled kernels: to load them takes longer than this."""
    rest = np.empty((len(body.links), 7))
    for link in body.links:
        rest[link.index] = body.root_pose if link.parent < 0 else poses.compose(rest[link.parent], link.offset)
    return rest


def _center_of_mass(body: Body, rest: Floats) -> Floats | None:
    if not body.mass:
        return None
    masses = np.array([link.mass for link in body.links])
    centers = poses.transform_points(rest, np.array([link.center_of_mass for link in body.links]))
    return np.asarray(masses @ centers / body.mass)


def _bounding_box(body: Body, rest: Floats) -> Floats | None:
    boxes = [
        box
        for link, frame in zip(body.links, poses.to_matrix(rest), strict=True)
        for shape in link.visuals
        if (box := shape.moved(frame).bounds) is not None
    ]
    return (
        np.array([np.min([box[0] for box in boxes], axis=0), np.max([box[1] for box in boxes], axis=0)])
        if boxes
        else None
    )


class _Counts:
    """Triangles and vertices of geometries; what is used many times is cut into triangles once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[int, int]] = {}

    def of(self, geometry: Geometry) -> tuple[int, int]:
        """Return how many triangles and vertices a geometry has."""
        if id(geometry) not in self._known:
            if isinstance(geometry, (Lines, Points)):
                count = (0, len(geometry.vertices))
            else:
                mesh = geometry if isinstance(geometry, Mesh) else Shape(geometry).to_mesh()
                count = (len(mesh.faces), len(mesh.vertices))
            self._known[id(geometry)] = count
        return self._known[id(geometry)]


def _link(body: Body, link: Link, counts: _Counts) -> Data:
    sizes = [counts.of(shape.geometry) for segment in link.segments for shape in segment.visuals]
    return {
        "name": link.name,
        "index": link.index,
        "parent": link.parent,
        "offset": plain(link.offset),
        "mass": number(link.mass),
        "center_of_mass": plain(link.center_of_mass),
        "inertia": plain(link.inertia),
        "segments": [segment.name for segment in link.segments],
        "num_visuals": len(sizes),
        "num_collisions": sum(len(segment.collisions) for segment in link.segments),
        "num_triangles": sum(triangles for triangles, _ in sizes),
        "num_vertices": sum(vertices for _, vertices in sizes),
        "joint": _joint(link.joint),
    }


def _joint(joint: Joint) -> Data:
    return {field.name: plain(getattr(joint, field.name)) for field in fields(joint)}


def _device(body: Body, device: Device) -> Data:
    own = {f.name: plain(getattr(device, f.name)) for f in fields(device) if f.name not in _OF_EVERY_DEVICE}
    known = 0 <= device.link < len(body.links)
    return {
        "kind": device.kind,
        "name": device.name,
        "id": device.id,
        "link": device.link,
        "link_name": body.links[device.link].name if known else "",
        "pose": plain(device.pose),
        **own,
        "extra": plain(device.extra),
    }
