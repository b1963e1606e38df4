"""Pairs for URDF models and the XML under them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import bodymotion as bm
from bodymotion.diagnostics import Problem
from bodymotion.formats.urdf import read_urdf
from bodymotion.formats.xml.tree import parse_xml
from rules.pairs import (
    Pair,
    calls,
    examples,
    files,
    folders,
    in_format,
    limited,
    problems_of,
)

ROBOT = """\
<!DOCTYPE robot>
<robot name="r">
  <material name="red"><color rgba="1 0 0 1"/></material>
  <!-- note: new -->
  <link name="waist">
    <inertial><mass value="5"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
    <visual><geometry><sphere radius="0.1"/></geometry><material name="red"/></visual>
  </link>
  <link name="hip"/>
  <link name="foot"><!-- the foot --></link>
  <joint name="hip_joint" type="revolute">
    <parent link="waist"/>
    <child link="hip"/>
    <origin xyz="0 0 0.3"/>
    <axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="90" velocity="5"/>
  </joint>
  <joint name="foot_joint" type="fixed">
    <parent link="hip"/>
    <child link="foot"/><!-- of the foot -->
    <!-- mimics hip_joint -->
  </joint>
  <gazebo reference="hip">
    <sensor name="imu" type="imu"><pose>0 0 0 0 0 0</pose></sensor>
    <sensor name="eye" type="camera"><camera><horizontal_fov>1.0</horizontal_fov></camera></sensor>
  </gazebo>
  <bodymotion version="2">
    <joint link="hip" torque_const="0.2"/>
  </bodymotion>
</robot>
"""
LINKS = '<robot name="r"> <link name="a"/> <link name="b"/> {} </robot>\n'
FLOATING = (
    '<joint name="j" type="floating"><parent link="map"/><child link="a"/></joint>'
)
GROUND = (
    '<link name="map"><visual><geometry><box size="5 5 1"/></geometry></visual></link>'
)
TURNED = '<origin rpy="0 0 1.57"{}/>'
MESH = '<robot name="r"><link name="a"><visual><geometry><mesh filename="hand.stl"/></geometry></visual></link></robot>\n'
STL = "solid hand\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid\n"


def joint(parent: str, child: str) -> str:
    return f'<joint name="{parent}{child}" type="fixed"><parent link="{parent}"/><child link="{child}"/></joint>'


def nested(depth: int) -> str:
    return (
        '<robot name="r"><link name="a"/>'
        + "<note>" * depth
        + "</note>" * depth
        + "</robot>\n"
    )


def from_urdf(
    folder: Path, torque: float = 1.0, **options: object
) -> Iterable[Problem]:
    """Save a robot that was read from URDF, with the constant of a motor that URDF has no words for."""
    (folder / "given.urdf").write_text(
        LINKS.format(joint("a", "b").replace("fixed", "continuous"))
    )
    body = read_urdf(folder / "given.urdf").require()
    links = (
        body.links[0],
        replace(body.links[1], joint=replace(body.links[1].joint, torque_const=torque)),
    )
    return bm.save(replace(body, links=links), folder / "r.urdf", **options).problems


def limits(folder: Path, speeds: dict[str, float]) -> Iterable[Problem]:
    """Save a joint with a limit of its effort."""
    joint = bm.Joint(
        name="knee",
        type="rotate",
        id=0,
        extra={"joint_effort_range": [-3.0, 3.0]},
        **speeds,
    )
    body = bm.Body(
        links=(
            bm.Link(name="base"),
            bm.Link(name="knee", index=1, parent=0, joint=joint),
        )
    )
    return bm.save(body, folder / "knee.urdf").problems


PAIRS: dict[str, Pair] = {
    "FMT009 of XML": limited(
        calls(
            lambda _: problems_of(lambda: parse_xml(ROBOT.encode())),
            lambda _: problems_of(lambda: parse_xml(b"<robot/>")),
        ),
        "bodymotion.formats.xml.tree.MAX_BYTES",
        100,
    ),
    **examples("r.urdf", ROBOT, "XML101 XML102 XML104 XML105 XML106"),
    "FMT009 .urdf": files("r.urdf", nested(300), nested(100)),
    "URDF101": files("r.urdf", ROBOT.replace("robot", "robots"), ROBOT),
    "URDF102": files(
        "r.urdf", ROBOT.replace("<!-- note: new -->", '<xacro:leg side="left"/>'), ROBOT
    ),
    **examples("r.urdf", ROBOT, "URDF103 URDF104 URDF111 URDF112 URDF113"),
    **in_format(
        "r.urdf",
        '<robot name="r"> <link name="base"/> </robot>\n',
        {"BODY108": ("", '<link name="base"/>')},
    ),
    "BODY125 .urdf": files("r.urdf", LINKS.format(""), LINKS.format(joint("a", "b"))),
    "BODY125 of a cycle": files(
        "r.urdf",
        LINKS.format(joint("a", "b") + joint("b", "a")),
        LINKS.format(joint("a", "b")),
    ),
    **examples("r.urdf", ROBOT, "BODY124"),
    **in_format(
        "r.urdf",
        ROBOT.replace('0.3"', '0.3" rpy="0 0 1.5708"'),
        {
            "BODY105": ('xyz="0 0 inf"', 'xyz="0 0 0.3"'),
            "BODY109": ('rpy="0 0 90"', 'rpy="0 0 1.5708"'),
            "BODY110": ('<axis xyz="0 2 0"/>', '<axis xyz="0 1 0"/>'),
        },
    ),
    "URDF116": files(
        "r.urdf",
        LINKS.format(f'<link name="map"/>{FLOATING}{joint("a", "b")}'),
        LINKS.format(joint("a", "b")),
    ),
    "URDF117": files(
        "r.urdf",
        LINKS.format(f"{GROUND}{FLOATING}{joint('a', 'b')}"),
        LINKS.format(f'<link name="map"/>{FLOATING}{joint("a", "b")}'),
    ),
    "URDF118": files(
        "r.urdf",
        ROBOT.replace('<origin xyz="0 0 0.3"/>', TURNED.format(' quat_xyzw="0 0 1 1"')),
        ROBOT.replace('<origin xyz="0 0 0.3"/>', TURNED.format("")),
    ),
    **examples("r.urdf", ROBOT, "URDF120 URDF121 URDF124 URDF127 URDF130 URDF131"),
    **examples("r.urdf", ROBOT, "URDF132 URDF133 URDF150 URDF151 URDF152 URDF160"),
    **in_format(
        "r.urdf", MESH, {"FMT020": ("hnad.stl", "hand.stl")}, beside={"hand.stl": STL}
    ),
    "FMT021 .urdf": folders(
        "r.urdf",
        {"r.urdf": MESH, "hand.stl": "solid"},
        {"r.urdf": MESH, "hand.stl": STL},
    ),
    "URDF162": calls(lambda folder: from_urdf(folder, torque=0.02), from_urdf),
    "URDF163": calls(
        lambda folder: from_urdf(folder, package="robot_description"), from_urdf
    ),
    "URDF164": calls(
        lambda folder: limits(folder, {}),
        lambda folder: limits(folder, {"velocity_lower": -3, "velocity_upper": 3}),
    ),
}
