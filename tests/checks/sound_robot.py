"""A small robot with nothing wrong, to break in one place at a time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bodymotion import Body, Joint, Link, Motion, Segment
from bodymotion.geometry.shapes import Box, Mesh, Shape
from bodymotion.model import ExtraJoint, Gyro, RangeSensor, VisionSensor
from bodymotion.motion import LINK_POSITION, MultiSE3Seq
from bodymotion.motion.components import Timeline


def box_segment(name: str, edge: float = 0.2, mass: float = 2.0) -> Segment:
    inertia = mass / 6 * edge**2 * np.eye(3)
    shape = Shape(Box((edge, edge, edge)))
    return Segment(
        name=name, mass=mass, inertia=inertia, visuals=(shape,), collisions=(shape,)
    )


def joint(name: str, number: int, **more: object) -> Joint:
    usual: dict[str, object] = {
        "lower": -1.0,
        "upper": 2.0,
        "velocity_lower": -3.0,
        "velocity_upper": 3.0,
    }
    return Joint(name=name, type="rotate", id=number, axis=[0, 0, 1], **usual | more)  # type: ignore[arg-type]


def robot() -> Body:
    """BASE with a free joint, ARM and HAND in a chain, and LEG on BASE; a loop between HAND and LEG that is closed at rest."""
    pose = [0.3, 0, 0, 1, 0, 0, 0]
    links = (
        Link(
            name="BASE",
            joint=Joint(name="BASE", type="free"),
            segments=(box_segment("BASE_LINK"),),
        ),
        Link(
            name="ARM",
            index=1,
            parent=0,
            offset=pose,
            joint=joint("ARM", 0),
            segments=(box_segment("ARM_LINK"),),
        ),
        Link(
            name="HAND",
            index=2,
            parent=1,
            offset=pose,
            joint=joint("HAND", 1),
            segments=(box_segment("H"),),
        ),
        Link(
            name="LEG",
            index=3,
            parent=0,
            offset=pose,
            joint=joint("LEG", 2),
            segments=(box_segment("LEG_LINK"),),
        ),
    )
    devices = (
        Gyro(name="gyro", id=0, link=0),
        VisionSensor(name="eye", id=0, link=2, type="COLOR"),
        RangeSensor(name="laser", id=0, link=2),
    )
    loop = ExtraJoint(name="loop", links=(2, 3), positions=[[0.0, 0, 0], [0.3, 0, 0]])
    return Body(name="sound", links=links, devices=devices, extra_joints=(loop,))


def with_link(body: Body, index: int, **changes: object) -> Body:
    links = list(body.links)
    links[index] = replace(links[index], **changes)  # type: ignore[arg-type]
    return replace(body, links=tuple(links))


def with_joint(body: Body, index: int, **changes: object) -> Body:
    return with_link(body, index, joint=replace(body.links[index].joint, **changes))  # type: ignore[arg-type]


def with_segment(body: Body, index: int, **changes: object) -> Body:
    return with_link(
        body, index, segments=(replace(body.links[index].segments[0], **changes),)
    )  # type: ignore[arg-type]


def with_device(body: Body, number: int, **changes: object) -> Body:
    devices = list(body.devices)
    devices[number] = replace(devices[number], **changes)  # type: ignore[arg-type]
    return replace(body, devices=tuple(devices))


def with_extra(body: Body, **changes: object) -> Body:
    return replace(body, extra_joints=(replace(body.extra_joints[0], **changes),))  # type: ignore[arg-type]


def broken_mesh() -> Shape:
    return Shape(Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 3]]))


def walk(body: Body) -> Motion:
    """Ten frames at 10 Hz with the root and all joints, well within the limits."""
    times = np.arange(10) / 10
    q = 0.5 * np.sin(times)[:, None] * np.ones(body.num_joints)
    root = np.tile([0.0, 0, 0, 1, 0, 0, 0], (10, 1))
    return Motion.from_joints(
        q, frame_rate=10, root=root, joint_names=[joint.name for joint in body.joints]
    )


def with_all_links(motion: Motion, body: Body) -> Motion:
    poses = body.link_poses(motion)
    filled = MultiSE3Seq(
        content=LINK_POSITION, timeline=Timeline.uniform(len(poses), 10.0), values=poses
    )
    return motion.replaced(motion.joint_displacement, filled)
