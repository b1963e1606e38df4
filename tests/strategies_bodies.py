"""Random bodies for laws: trees of links with joints of every type, masses, shapes, materials, devices and closed loops.

`bodies()` gives what every format can take; what only some can take is asked for by name. All numbers are finite and of ordinary size, all
quaternions of length 1, all axes too, and the links stand depth-first, as a file has them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from bodymotion.geometry import poses, rotations
from bodymotion.geometry.shapes import (
    Box,
    Capsule,
    Cone,
    Corners,
    Cylinder,
    Lines,
    Material,
    Mesh,
    Points,
    Shape,
    Sphere,
)
from bodymotion.model.body import Body, ExtraJoint, Viewpoint
from bodymotion.model.links import (
    AccelerationSensor,
    Device,
    ForceSensor,
    Gyro,
    Joint,
    Link,
    OtherDevice,
    RangeSensor,
    Segment,
    VisionSensor,
)

__all__ = [
    "DEVICES",
    "EXTRA_JOINT_TYPES",
    "GEOMETRIES",
    "affine_transforms",
    "axes",
    "bodies",
    "devices",
    "geometries",
    "inertias",
    "joints",
    "materials",
    "meshes",
    "numbers",
    "poses_7",
    "quaternions",
    "segments",
    "shapes",
]

GEOMETRIES = ("box", "sphere", "cylinder", "cone", "capsule", "mesh", "lines", "points")
DEVICES = (
    "AccelerationSensor",
    "Gyro",
    "ForceSensor",
    "VisionSensor",
    "RangeSensor",
    "other",
)
EXTRA_JOINT_TYPES = ("xyz", "xy", "z", "piston", "ball", "hinge")


def numbers(low: float = -2.0, high: float = 2.0) -> st.SearchStrategy[float]:
    """Return numbers: short decimals, as people write them, and any others."""
    short = st.integers(int(np.ceil(low * 100)), int(np.floor(high * 100))).map(
        lambda n: n / 100
    )
    return short | st.floats(low, high, allow_nan=False, allow_subnormal=False)


def positive(low: float = 0.01, high: float = 2.0) -> st.SearchStrategy[float]:
    """Return numbers that are safely above zero."""
    return numbers(low, high)


def vectors(low: float = -2.0, high: float = 2.0) -> st.SearchStrategy[np.ndarray]:
    """Return vectors (3,)."""
    return st.tuples(*[numbers(low, high)] * 3).map(np.array)


@st.composite
def axes(draw) -> np.ndarray:
    """Return vectors (3,) of length 1: along x, y or z as a rule."""
    if draw(st.booleans()):
        return np.eye(3)[draw(st.integers(0, 2))] * draw(st.sampled_from([1.0, -1.0]))
    vector = draw(vectors(-1, 1))
    length = np.linalg.norm(vector)
    return vector / length if length > 0.01 else np.array([0.0, 0.0, 1.0])


@st.composite
def quaternions(draw) -> np.ndarray:
    """Return unit quaternions (4,), w x y z: none, turns by a short decimal about an axis, any."""
    if draw(st.booleans()):
        return rotations.IDENTITY
    return rotations.from_axis_angle(draw(axes()), draw(numbers(-3.14, 3.14)))


def poses_7() -> st.SearchStrategy[np.ndarray]:
    """Return poses (7,)."""
    return st.builds(poses.from_parts, vectors(), quaternions())


@st.composite
def affine_transforms(draw, rigid: bool = True) -> np.ndarray:
    """Return transforms (4, 4): the identity, rigid ones, and with `rigid=False` stretched, mirrored and sheared ones."""
    if draw(st.booleans()):
        return np.eye(4)
    matrix = poses.to_matrix(draw(poses_7()))
    if not rigid and draw(st.booleans()):
        turn = rotations.to_matrix(draw(quaternions()))
        stretch = np.diag([draw(positive(0.1, 3.0)) for _ in range(3)])
        mirror = draw(st.sampled_from([1.0, 1.0, -1.0]))
        matrix[:3, :3] = matrix[:3, :3] @ turn @ stretch @ turn.T * mirror
    return matrix


@st.composite
def inertias(draw, mass: float, sane: bool = True) -> np.ndarray:
    """Return inertia tensors (3, 3) about the centre of mass: of a turned solid box, or with `sane=False` any symmetric numbers."""
    if not sane:
        half = np.array([[draw(numbers()) for _ in range(3)] for _ in range(3)])
        return half + half.T
    squares = np.array([draw(positive(0.02, 1.0)) for _ in range(3)]) ** 2
    principal = mass / 12.0 * (squares.sum() - squares)
    if draw(st.booleans()):
        return np.diag(principal)
    turn = rotations.to_matrix(draw(quaternions()))
    tensor = turn @ np.diag(principal) @ turn.T
    return 0.5 * (tensor + tensor.T)


@st.composite
def materials(draw) -> Material:
    """Return materials: the default, or any colours."""
    if draw(st.booleans()):
        return Material()
    share = numbers(0.0, 1.0)
    color = st.tuples(share, share, share)
    return Material(
        draw(color), draw(share), draw(color), draw(color), draw(share), draw(share)
    )


@st.composite
def corner_lists(
    draw, faces: np.ndarray, width: int, low: float, high: float
) -> Corners:
    """Return a property of corners: for each vertex, for each face, or for each corner by itself."""
    per = draw(st.sampled_from(["vertex", "face", "corner"]))
    count = int(faces.max()) + 1 if per == "vertex" else len(faces)
    values = np.array(
        [[draw(numbers(low, high)) for _ in range(width)] for _ in range(count)]
    )
    if per == "vertex":
        return Corners(values, faces)
    if per == "face":
        return Corners(values, np.repeat(np.arange(count)[:, None], 3, axis=1))
    indices = st.lists(
        st.integers(0, count - 1), min_size=faces.size, max_size=faces.size
    )
    return Corners(values, np.array(draw(indices)).reshape(faces.shape))


@st.composite
def meshes(draw, plain: bool = True) -> Mesh:
    """Return small closed meshes (a tetrahedron or two); with `plain=False` with normals, colours, crease angles and two sides."""
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    size, at = draw(positive(0.1, 1.0)), draw(vectors())
    vertices = corners * size + at
    faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    if draw(st.booleans()):
        vertices = np.concatenate(
            [vertices, corners * draw(positive(0.1, 1.0)) + draw(vectors())]
        )
        faces = np.concatenate([faces, faces + 4])
    if plain:
        return Mesh(vertices, faces)
    return Mesh(
        vertices,
        faces,
        crease_angle=draw(st.sampled_from([0.0, 0.5, 1.5707963267948966])),
        normals=draw(st.none() | corner_lists(faces, 3, -1, 1)),
        colors=draw(st.none() | corner_lists(faces, 3, 0, 1)),
        texture_coordinates=draw(st.none() | corner_lists(faces, 2, -2, 2)),
        two_sided=draw(st.booleans()),
    )


@st.composite
def geometries(
    draw,
    kinds: Sequence[str] = ("box", "sphere", "cylinder", "mesh"),
    plain: bool = True,
):
    """Return geometries of these kinds (see `GEOMETRIES`)."""
    some_points = st.lists(vectors(), min_size=2, max_size=5).map(np.array)
    kind = draw(st.sampled_from(kinds))
    match kind:
        case "box":
            return Box((draw(positive()), draw(positive()), draw(positive())))
        case "sphere":
            return Sphere(draw(positive()))
        case "cylinder" if plain:
            return Cylinder(draw(positive()), draw(positive()))
        case "cylinder":
            return Cylinder(
                draw(positive()),
                draw(positive()),
                *(draw(st.booleans()) for _ in range(3)),
            )
        case "cone" if plain:
            return Cone(draw(positive()), draw(positive()))
        case "cone":
            return Cone(
                draw(positive()),
                draw(positive()),
                *(draw(st.booleans()) for _ in range(2)),
            )
        case "capsule":
            return Capsule(draw(positive()), draw(positive()))
        case "mesh":
            return draw(meshes(plain))
        case "lines":
            vertices = draw(some_points)
            ends = st.tuples(*[st.integers(0, len(vertices) - 1)] * 2)
            return Lines(
                vertices, np.array(draw(st.lists(ends, min_size=1, max_size=5)))
            )
        case _:
            vertices = draw(some_points)
            return Points(vertices, draw(st.none() | st.just(np.abs(vertices) / 2)))


@st.composite
def shapes(
    draw,
    kinds: Sequence[str] = ("box", "sphere", "cylinder", "mesh"),
    plain: bool = True,
    rigid: bool = True,
):
    """Return shapes; `plain=False` as for `meshes`, `rigid=False` with stretched transforms too."""
    return Shape(
        draw(geometries(kinds, plain)),
        draw(affine_transforms(rigid)),
        draw(materials()),
    )


@st.composite
def segments(
    draw,
    name: str,
    sane: bool = True,
    kinds: Sequence[str] = ("box", "sphere", "cylinder", "mesh"),
    plain: bool = True,
    rigid: bool = True,
    placed: bool = True,
) -> Segment:
    """Return segments; `placed=False` leaves them at the link's own frame."""
    mass = draw(positive(0.1, 20.0)) if sane else draw(numbers(0.0, 5.0))
    shown = draw(st.lists(shapes(kinds, plain, rigid), max_size=2)) if kinds else []
    return Segment(
        name=name,
        transform=draw(affine_transforms()) if placed else np.eye(4),
        mass=mass,
        center_of_mass=draw(vectors(-0.5, 0.5)),
        inertia=draw(inertias(mass, sane)),
        visuals=tuple(shown),
        collisions=tuple(
            shown
            if draw(st.booleans())
            else draw(st.lists(shapes(kinds, plain, rigid), max_size=1))
        )
        if kinds
        else (),
    )


@st.composite
def joints(draw, name: str, kind: str, number: int) -> Joint:
    """Return joints of a type with limits, or without, and with a motor, or without."""
    limits = {}
    if kind in ("rotate", "slide") and draw(st.booleans()):
        limits = {
            "lower": draw(numbers(-3.0, -0.01)),
            "upper": draw(numbers(0.01, 3.0)),
        }
    if kind in ("rotate", "slide", "crawler") and draw(st.booleans()):
        speed = draw(positive(0.1, 10.0))
        limits |= {"velocity_lower": -speed, "velocity_upper": speed}
    motor = {}
    if kind in ("rotate", "slide") and draw(st.booleans()):
        motor = {
            "gear_ratio": draw(positive(1.0, 200.0)),
            "gear_efficiency": draw(positive(0.1, 1.0)),
            "rotor_inertia": draw(positive(1e-5, 1e-2)),
            "rotor_resistor": draw(positive()),
            "torque_const": draw(positive()),
            "encoder_pulse": draw(positive(1.0, 1000.0)),
        }
    moves = kind in ("rotate", "slide", "crawler")
    return Joint(
        name=name,
        type=kind,
        id=number,
        **({"axis": draw(axes())} if moves else {}),
        **limits,
        **motor,
    )


@st.composite
def devices(draw, kind: str, name: str, number: int, link: int) -> Device:
    """Return a device of a kind (see `DEVICES`)."""
    common = {"name": name, "id": number, "link": link, "pose": draw(poses_7())}
    limit = st.just(np.array([-1.0, -1.0, -1.0])) | vectors(0.1, 100.0)
    match kind:
        case "AccelerationSensor":
            return AccelerationSensor(**common, max_acceleration=draw(limit))
        case "Gyro":
            return Gyro(**common, max_angular_velocity=draw(limit))
        case "ForceSensor":
            return ForceSensor(**common, max_force=draw(limit), max_torque=draw(limit))
        case "VisionSensor":
            return VisionSensor(
                **common,
                type=draw(st.sampled_from(["COLOR", "DEPTH", "COLOR_DEPTH", "NONE"])),
                field_of_view=draw(positive(0.1, 3.0)),
                front_clip_distance=draw(positive(0.01, 0.5)),
                back_clip_distance=draw(positive(1.0, 100.0)),
                width=draw(st.integers(1, 2000)),
                height=draw(st.integers(1, 2000)),
                frame_rate=draw(positive(1.0, 100.0)),
            )
        case "RangeSensor":
            return RangeSensor(
                **common,
                scan_angle=draw(positive(0.1, 6.0)),
                scan_step=draw(positive(0.01, 0.1)),
                scan_rate=draw(positive(1.0, 100.0)),
                max_distance=draw(positive(1.0, 100.0)),
            )
        case _:
            return OtherDevice(
                **common,
                type="BarometricSensor",
                extra={"ceiling": draw(numbers()), "unit": "hPa"},
            )


def _free_choice(draw, count: int) -> list[int]:
    """Return a tree of `count` nodes as parents, depth-first: a node hangs on the one before it or on one of that one's ancestors."""
    parents = [-1]
    for index in range(1, count):
        path = [index - 1]
        while parents[path[-1]] >= 0:
            path.append(parents[path[-1]])
        parents.append(draw(st.sampled_from(path)))
    return parents


@st.composite
def bodies(
    draw,
    *,
    max_links: int = 5,
    sane: bool = True,
    joint_types: Sequence[str] = ("rotate", "slide", "fixed"),
    root_types: Sequence[str] = ("free", "fixed"),
    kinds: Sequence[str] = ("box", "sphere", "cylinder", "mesh"),
    plain: bool = True,
    rigid: bool = True,
    max_segments: int = 1,
    placed_segments: bool = False,
    device_kinds: Sequence[str] = (),
    extra_joint_types: Sequence[str] = (),
    viewpoints: bool = False,
) -> Body:
    """Return bodies.

    Parameters
    ----------
    max_links:
        The most links.
    sane:
        Every link has a mass above zero and an inertia that a solid box could have; False: any numbers, and links without segments.
    joint_types, root_types:
        Of which types the joints are (all: rotate, slide, fixed, crawler) and those of the root (free, fixed).
    kinds, plain, rigid:
        Which geometries there are (() none), whether with nothing but vertices and faces, and whether shapes are never stretched.
    max_segments, placed_segments:
        How many segments a link has, and whether they have places of their own in it.
    device_kinds, extra_joint_types:
        Which devices and extra joints there are (see `DEVICES`, `EXTRA_JOINT_TYPES`); () none.
    viewpoints:
        Whether there may be places to look from.
    """
    parents = _free_choice(draw, draw(st.integers(1, max_links)))
    types = [
        draw(st.sampled_from(root_types)),
        *(draw(st.sampled_from(joint_types)) for _ in parents[1:]),
    ]
    moving = [
        index
        for index, kind in enumerate(types)
        if kind in ("rotate", "slide", "crawler")
    ]
    numbered = dict(zip(draw(st.permutations(moving)), range(len(moving)), strict=True))
    links = []
    for index, (parent, kind) in enumerate(zip(parents, types, strict=True)):
        name = draw(st.sampled_from(["LINK", "RARM_JOINT", "腰"])) + str(index)
        given = [
            draw(segments(f"{name}_S{k}", sane, kinds, plain, rigid, placed_segments))
            for k in range(draw(st.integers(1 if sane else 0, max_segments)))
        ]
        joint = draw(joints(name, kind, numbered.get(index, -1)))
        pose = draw(poses_7())
        links.append(
            Link(
                name=name,
                index=index,
                parent=parent,
                joint=joint,
                offset=pose,
                segments=tuple(given),
            ),
        )
    carried: list[Device] = []
    for link in range(len(links)) if device_kinds else ():
        for kind in draw(st.lists(st.sampled_from(device_kinds), max_size=2)):
            same_kind = sum(device.name.startswith(f"{kind}_") for device in carried)
            carried.append(draw(devices(kind, f"{kind}_{same_kind}", same_kind, link)))
    loops = []
    if extra_joint_types and len(links) > 1:
        for number, kind in enumerate(
            draw(st.lists(st.sampled_from(extra_joint_types), max_size=2))
        ):
            ends = draw(st.permutations(range(len(links))))[:2]
            positions = np.stack([draw(vectors()), draw(vectors())])
            loops.append(
                ExtraJoint(
                    name=f"LOOP{number}",
                    type=kind,
                    links=(ends[0], ends[1]),
                    positions=positions,
                    axis=draw(axes()),
                )
            )
    views = ()
    if viewpoints:
        view = st.builds(
            Viewpoint,
            description=st.sampled_from(["", "front", 'from "above"']),
            pose=poses_7(),
            field_of_view=positive(0.1, 1.5),
        )
        views = tuple(draw(st.lists(view, max_size=2)))
    return Body(
        name="robot",
        links=tuple(links),
        devices=tuple(carried),
        extra_joints=tuple(loops),
        viewpoints=views,
        root_pose=links[0].offset,
        info={"name": "", "version": "1.1", "info": ""},
    )
