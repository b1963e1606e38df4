"""Models, motions and scripts as data for `bodymotion info`, as JSON can hold it.

Docs/commands.md names the members.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bodymotion.cli.output import Data, about_file, members, number, plain
from bodymotion.diagnostics import Problem, Source
from bodymotion.extensions import kind_of

if TYPE_CHECKING:
    from bodymotion.formats.seq import MotionReader
    from bodymotion.formats.seq.headers import ComponentHeader
    from bodymotion.geometry.arrays import Floats
    from bodymotion.geometry.shapes import Geometry
    from bodymotion.keyposes import KeyPoses
    from bodymotion.model.body import Body
    from bodymotion.model.links import Device, Link
    from bodymotion.model.scripts import RobotScript
    from bodymotion.motion import Component, Motion
    from bodymotion.skeleton import Skeleton

CHUNK = 16384
"""Frames of a large file that are read together."""
COMMON_FIELDS = {"name", "id", "link", "pose", "extra"}
"""Fields that devices of all kinds have."""


def describe(
    thing: Body | Motion | KeyPoses | Skeleton | RobotScript,
    path: Path,
    parts: bool = False,
) -> Data:
    """Return the contents of a file as data.

    With `parts`, the range of each joint and link of a motion.
    """
    from bodymotion.model.scripts import RobotScript

    kind = kind_of(thing)
    # Extensions describe their scripts themselves.
    describe_kind = None if kind is None else kind.function("describe")
    if describe_kind is not None:
        data: Data = describe_kind(thing, path)
        return data
    if kind is not None and isinstance(thing, RobotScript):
        about = about_file(path, kind.noun, thing.source.format)
        return {**about, **members(thing, "title")}
    functions: dict[str, Callable[[Any, Path], Data]] = {
        "Body": _body,
        "KeyPoses": _key_poses,
        "Skeleton": _skeleton,
        "Motion": partial(describe_motion, parts=parts),
    }
    return functions[type(thing).__name__](thing, path)


def _key_poses(key_poses: KeyPoses, path: Path) -> Data:
    """Return key poses as data."""
    poses = []
    names: dict[str, None] = {}
    for pose in key_poses.poses:
        links = [key.name or str(key.index) for key in pose.links]
        touching = [
            name for name, key in zip(links, pose.links, strict=True) if key.is_touching
        ]
        # A dict as a set that keeps the order: each link once.
        names |= dict.fromkeys(links)
        poses.append(
            {
                **members(pose, "time", "max_transition_time"),
                "num_joints": len(pose.joints),
                "links": links,
                "touching": touching,
                **members(pose, "zmp", "syllable"),
            }
        )
    return {
        **about_file(path, "key poses", key_poses.source.format),
        "encoding": key_poses.source.encoding,
        **members(key_poses, "name", "target_body", "duration"),
        "num_poses": len(key_poses),
        "links": list(names),
        "poses": poses,
    }


def _skeleton(skeleton: Skeleton, path: Path) -> Data:
    """Return a skeleton as data, with the path of its root."""
    from bodymotion.skeleton.values import UP_AXES

    if skeleton.joints:
        columns = len(skeleton.joints[0].channels)
    else:
        columns = 0
    # Forward kinematics of the root alone, in its first and last frame: enough for the
    # path, also of hours of motion.
    rows = skeleton.values[[0, -1][: len(skeleton)], :columns]
    ends = replace(skeleton, joints=skeleton.joints[:1], values=rows)
    roots = (
        ends.joint_positions(as_read=True)[:, :1]
        @ UP_AXES[skeleton.up].T
        * skeleton.unit
    )
    return {
        **about_file(path, "skeleton", skeleton.source.format),
        "encoding": skeleton.source.encoding,
        "num_joints": len(skeleton.joints),
        **members(skeleton, "num_frames", "frame_time", "frame_rate", "duration"),
        **members(skeleton, "unit", "unit_is_known", "up", "up_is_known"),
        "root": {"start": roots[0, 0].tolist(), "end": roots[-1, 0].tolist()}
        if roots.size
        else None,
        "joints": [
            members(joint, "name", "parent", "offset", "channels", "ends")
            for joint in skeleton.joints
        ],
    }


def _body(body: Body, path: Path) -> Data:
    """Return a body as data, with all joints at 0."""
    rest = body.forward_kinematics(np.zeros(body.num_joints))
    box = _bounding_box(body, rest)
    # By the identity of a geometry: the numbers of triangles and vertices.
    known: dict[int, tuple[int, int]] = {}
    links = [_link(link, known) for link in body.links]
    return {
        **about_file(path, "body", body.source.format),
        **members(body.source, "version", "encoding"),
        **members(body, "name", "info", "extra"),
        "num_links": len(body.links),
        "num_joints": body.num_joints,
        "num_devices": len(body.devices),
        "num_extra_joints": len(body.extra_joints),
        "num_triangles": sum(link["num_triangles"] for link in links),
        "num_vertices": sum(link["num_vertices"] for link in links),
        "mass": number(body.mass),
        "center_of_mass": plain(body.center_of_mass(rest)) if body.mass else None,
        "bounding_box": None
        if box is None
        else {"lower": plain(box[0]), "upper": plain(box[1])},
        "root_pose": plain(body.root_pose),
        "links": links,
        "joints": [
            {
                "column": column,
                "id": joint.id,
                "name": joint.name,
                "type": joint.type,
                "link": index,
            }
            for column, (joint, index) in enumerate(
                zip(body.joints, body.joint_links, strict=True)
            )
        ],
        "devices": [_device(body, device) for device in body.devices],
        "extra_joints": [
            members(joint, "name", "type", "links", "positions", "axis", "extra")
            for joint in body.extra_joints
        ],
        "viewpoints": [
            members(viewpoint, "description", "pose", "field_of_view")
            for viewpoint in body.viewpoints
        ],
    }


def _bounding_box(body: Body, rest: Floats) -> Floats | None:
    """Return the corners (2, 3) of the box around all visible shapes."""
    from bodymotion.geometry import poses

    corners = []
    for link, frame in zip(body.links, poses.to_matrix(rest), strict=True):
        for shape in link.visuals:
            box = shape.moved(frame).bounds
            if box is not None:
                corners.append(box)
    if not corners:
        return None
    # (N, 2, 3) boxes become (2, N, 3): all lower corners, all upper ones.
    lower, upper = np.moveaxis(np.array(corners), 1, 0)
    return np.array([lower.min(axis=0), upper.max(axis=0)])


def _size(geometry: Geometry, known: dict[int, tuple[int, int]]) -> tuple[int, int]:
    """Return how many triangles and vertices a geometry has.

    One that is used many times is triangulated once.
    """
    from bodymotion.geometry.shapes import Lines, Mesh, Points, Shape

    # A `USE` of VRML is the same object many times.
    if id(geometry) not in known:
        if isinstance(geometry, (Lines, Points, Mesh)):
            mesh = geometry
        else:
            mesh = Shape(geometry).to_mesh()
        known[id(geometry)] = (
            len(mesh.faces) if isinstance(mesh, Mesh) else 0,
            len(mesh.vertices),
        )
    return known[id(geometry)]


def _link(link: Link, known: dict[int, tuple[int, int]]) -> Data:
    """Return a link; `known` has the sizes of geometries, by their identity."""
    sizes = []
    # A link may have several segments, as in OpenHRP: their shapes are added up.
    for segment in link.segments:
        sizes += [_size(shape.geometry, known) for shape in segment.visuals]
    return {
        **members(
            link,
            "name",
            "index",
            "parent",
            "offset",
            "mass",
            "center_of_mass",
            "inertia",
        ),
        "segments": [segment.name for segment in link.segments],
        "num_visuals": len(sizes),
        "num_collisions": sum(len(segment.collisions) for segment in link.segments),
        "num_triangles": sum(triangles for triangles, _ in sizes),
        "num_vertices": sum(vertices for _, vertices in sizes),
        "joint": members(link.joint, *(one.name for one in fields(link.joint))),
    }


def _device(body: Body, device: Device) -> Data:
    """Return a device as data, with the fields of its kind."""
    # A file may place a device on a link that it lacks.
    known = 0 <= device.link < len(body.links)
    return {
        **members(device, "kind", "name", "id", "link"),
        "link_name": body.links[device.link].name if known else "",
        "pose": plain(device.pose),
        **members(
            device,
            *(one.name for one in fields(device) if one.name not in COMMON_FIELDS),
            "extra",
        ),
    }


@dataclass
class _Component:
    """The header of a component, without a layout where its type is unknown.

    The range of each number, the first and last row.
    """

    header: ComponentHeader
    lower: Floats | None = None
    upper: Floats | None = None
    first: Floats | None = None
    last: Floats | None = None
    non_finite: int = 0
    first_time: float | None = None
    last_time: float | None = None

    def add(self, component: Component) -> None:
        """Add the rows of a component, or of a piece of it."""
        from bodymotion.motion import OtherSeq

        if isinstance(component, OtherSeq) or not component.num_frames:
            return
        values = component.values
        finite = np.isfinite(values)
        missing = int(values.size - np.count_nonzero(finite))
        self.non_finite += missing
        # What is not finite takes part in no minimum or maximum.
        lower = (np.where(finite, values, np.inf) if missing else values).min(axis=0)
        upper = (np.where(finite, values, -np.inf) if missing else values).max(axis=0)
        if self.lower is None or self.upper is None:
            self.lower = lower
            self.upper = upper
            self.first = np.array(values[0])
        else:
            self.lower = np.minimum(self.lower, lower)
            self.upper = np.maximum(self.upper, upper)
        self.last = np.array(values[-1])
        # Pieces come in order of time: the first begins, the last one ends.
        stamps = component.timeline.stamps
        if stamps is not None:
            if self.first_time is None:
                self.first_time = float(stamps[0])
            self.last_time = float(stamps[-1])


def describe_motion(motion: Motion, path: Path, parts: bool = False) -> Data:
    """Return a motion as data.

    With `parts`, the range of each joint and link.
    """
    from bodymotion.formats.seq.headers import header_of

    components = [_Component(header_of(component)) for component in motion.components]
    for described, component in zip(components, motion.components, strict=True):
        described.add(component)
    return _described(components, motion.source, motion.extra, path, parts)


def describe_open_motion(
    reader: MotionReader,
    path: Path,
    parts: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Data, Sequence[Problem]]:
    """Return an open file as data, and its problems, in little memory.

    The rows are read, in chunks, only with `parts`, or where they hold the times.
    `progress(done, total)` is called with numbers of frames.
    """
    components = [_Component(header) for header in reader.components]
    problems = list(reader.problems)
    # At a fixed rate the headers have all that is printed.
    if parts or any(c.header.has_frame_time for c in components):
        # One problem of each rule and component, as many frames may have it.
        first_problems: dict[tuple[str, str], Problem] = {}
        total = max((c.header.num_frames for c in components), default=0)
        for number_of_chunk, chunk in enumerate(reader.chunks(CHUNK), 1):
            for component, piece in zip(components, chunk.components, strict=True):
                component.add(piece)
            for problem in chunk.problems:
                inside = problem.location.inside or ""
                place = inside.partition(".frames")[0]
                first_problems.setdefault((problem.rule, place), problem)
            if progress is not None:
                progress(min(number_of_chunk * CHUNK, total), total)
        problems += first_problems.values()
    return _described(components, reader.source, reader.extra, path, parts), problems


def _described(
    components: Sequence[_Component],
    source: Source,
    extra: Mapping[str, object],
    path: Path,
    parts: bool,
) -> Data:
    """Return a motion as data, from the headers and ranges of its components."""
    rows = [_component(component, parts) for component in components]
    # Rate, number of frames and duration are given where they are the same for all
    # components.
    names = ("frame_rate", "num_frames", "duration")
    timed = [row for row in rows if "num_frames" in row]
    # Components are together where rate, number, duration and beginning are the same.
    select = itemgetter("first_time", *names)
    same = len(set(map(select, timed))) == 1
    return {
        **about_file(path, "motion", source.format),
        **members(source, "version", "encoding", "options"),
        **{name: timed[0][name] if same else None for name in names},
        "components": rows,
        "root_displacement": _root_displacement(components),
        "extra": plain(extra),
    }


def _component(component: _Component, parts: bool) -> Data:
    """Return a component; with `parts`, the range of each joint and link."""
    header = component.header
    if header.layout is None:
        return members(header, "type", "content", "extra")
    first_time = component.first_time
    last_time = component.last_time
    # At a fixed rate times follow from the header.
    if (
        not header.has_frame_time
        and header.num_frames
        and header.frame_rate is not None
    ):
        first_time = 0.0
        last_time = (header.num_frames - 1) / header.frame_rate
    duration = None
    if not header.num_frames:
        duration = 0.0
    elif first_time is not None and last_time is not None:
        duration = number(last_time - first_time)
    is_vector = header.type == "Vector3Seq"
    has_stamps = header.has_frame_time
    data: Data = {
        **members(header, "type", "content"),
        "num_parts": 1 if is_vector else header.num_parts,
        "num_frames": header.num_frames,
        "frame_rate": None if has_stamps else header.frame_rate,
        "has_frame_time": has_stamps,
        "import_rate": header.frame_rate if has_stamps else None,
        "first_time": first_time,
        "last_time": last_time,
        "duration": duration,
        "part_labels": list(header.part_labels),
        "extra": plain(header.extra),
    }
    if is_vector:
        data["is_root_relative"] = header.is_root_relative
    lows, highs = _extremes(component)
    data["range"] = None
    if lows.size:
        data["range"] = {
            "lower": plain(lows if is_vector else lows.min(axis=0)),
            "upper": plain(highs if is_vector else highs.max(axis=0)),
            "non_finite": component.non_finite,
        }
    if parts and not is_vector:
        data["parts"] = _part_ranges(header.part_labels, lows, highs)
    return data


def _extremes(component: _Component) -> tuple[Floats, Floats]:
    """Return the lowest and the highest values of each part.

    Of a part: a number (P,), or the position x y z (P, 3); of a vector (3,).
    """
    lower = component.lower
    upper = component.upper
    if lower is None or upper is None:
        return np.zeros((0, 1)), np.zeros((0, 1))
    if component.header.type == "MultiSE3Seq":
        # Of poses only positions: extremes of the numbers of a quaternion mean nothing.
        return lower[:, :3], upper[:, :3]
    return lower, upper


def _part_ranges(labels: Sequence[str], lows: Floats, highs: Floats) -> list[Data]:
    """Return the range of each part; those without a label have an empty one."""
    ranges = []
    for index, (low, high) in enumerate(zip(lows, highs, strict=True)):
        label = labels[index] if index < len(labels) else ""
        ranges.append(
            {"part": index, "label": label, "lower": plain(low), "upper": plain(high)}
        )
    return ranges


def _root_displacement(components: Sequence[_Component]) -> Data | None:
    """Return the first and the last position of the root, and their distance."""
    # The last component of this content counts, as for `Motion.link_position`.
    for c in reversed(components):
        if c.header.type == "MultiSE3Seq" and c.header.content == "LinkPosition":
            if c.first is None or c.last is None or not len(c.first):
                return None
            start = c.first[0, :3]
            end = c.last[0, :3]
            with np.errstate(all="ignore"):
                distance = float(np.linalg.norm(end - start))
            return {
                "start": plain(start),
                "end": plain(end),
                "distance": number(distance),
            }
    return None
