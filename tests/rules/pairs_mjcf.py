"""Pairs for MuJoCo models."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

import bodymotion as bm
from bodymotion.diagnostics import Problem
from rules.pairs import Pair, calls, examples, files, folders, in_format, problems_of

ROBOT = """\
<mujoco>
  <compiler coordinate="local"/>
  <default> <default class="leg"> <geom group="1"/> </default> </default>
  <asset> <material name="red" rgba="1 0 0 1"/> <mesh name="hand" file="hand.stl"/> </asset>
  <worldbody>
    <!-- no floor -->
    <body name="base">
      <freejoint/>
      <inertial pos="0 0 0" mass="2" diaginertia="0.01 0.01 0.01"/>
      <geom type="sphere" size="0.1"/>
      <geom type="mesh" mesh="hand"/>
      <!-- a cable -->
      <site name="head"/>
      <body name="waist" pos="0 0 0.3" quat="1 0 0 0" childclass="leg">
        <joint name="hip" type="hinge" axis="0 1 0" range="-90 90" limited="true"/>
        <geom type="box" size="0.1 0.1 0.1" material="red"/>
        <body name="knee"><!-- again -->
          <joint name="knee"/>
          <geom type="box" size="0.1 0.1 0.1"/>
        </body>
      </body>
    </body>
  </worldbody>
  <sensor> <gyro site="head"/> <!-- a clock --> </sensor>
  <!-- nothing tied -->
  <!-- no motor -->
</mujoco>
"""
TIED = ROBOT.replace(
    "<!-- nothing tied -->", "<equality> <!-- nothing tied --> </equality>"
).replace("<!-- no motor -->", "<actuator> <!-- no motor --> </actuator>")
CORNERS = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))


def stl(*faces: tuple[int, int, int]) -> str:
    """Return a mesh of some faces of a tetrahedron."""
    text = "solid hand\n"
    for face in faces:
        corners = "".join("vertex {} {} {}\n".format(*CORNERS[k]) for k in face)
        text += f"facet normal 0 0 1\nouter loop\n{corners}endloop\nendfacet\n"
    return f"{text}endsolid\n"


HAND = stl((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
HOLLOW = """\
<mujoco> <asset> <mesh name="hand" file="hand.stl" inertia="exact"/> </asset>
<worldbody> <body> <geom type="mesh" mesh="hand"/> </body> </worldbody> </mujoco>
"""


def world(text: str) -> str:
    return f"<mujoco> <worldbody> {text} </worldbody> </mujoco>\n"


def motor(control: str) -> str:
    """Return a model whose motor has a force of 88 N m and this range of control."""
    body = f'<body> <joint name="hip"/> {GEOM} </body>'
    limits = f'ctrlrange="{control}" forcerange="-88 88"'
    return (
        f"<mujoco> <worldbody> {body} </worldbody> "
        f'<actuator> <motor joint="hip" {limits}/> </actuator> </mujoco>\n'
    )


def attaching(name: str) -> str:
    """Return a model that attaches one of this name to a body."""
    return (
        '<mujoco> <asset> <model name="hand" file="hand.xml"/> </asset> <worldbody> '
        f'<attach model="{name}" prefix="a_"/> </worldbody> </mujoco>\n'
    )


def classes(depth: int) -> str:
    """Return classes one in the other, each with what is in the one around it."""
    many = " ".join(f'a{k}="0"' for k in range(700))
    inside = " ".join(f"<e{k} {many}/>" for k in range(10))
    text = (
        f"<default> {inside} "
        + "".join(f'<default class="c{k}"> ' for k in range(depth))
        + "</default>" * depth
    )
    return f"<mujoco> {text} </default> <worldbody> <body> {GEOM} </body> </worldbody> </mujoco>\n"


GEOM = '<geom size="0.1"/>'
PART = f'<mujocoinclude> <body name="leg"> {GEOM} </body> </mujocoinclude>\n'
LEFT, RIGHT = (
    f'<body name="{side}"> <joint name="{side}"/> {GEOM} </body>'
    for side in ("left", "right")
)
TABLE = f'<body name="table"> {GEOM} </body>'
FREE = f'<body name="a"> <freejoint/> {GEOM} {{}} </body>'


def save(folder: Path, count: int, mass: float = 1.0) -> Iterable[Problem]:
    """Save a chain of links."""
    part = bm.Segment(
        mass=mass,
        inertia=[[0.01, 0, 0], [0, 0.01, 0], [0, 0, 0.01]] if mass else [[0.0] * 3] * 3,
    )
    links = [bm.Link(name="l0", segments=(part,))]
    for k in range(1, count):
        joint = bm.Joint(name=f"l{k}", type="rotate", id=k - 1)
        links.append(
            bm.Link(name=f"l{k}", index=k, parent=k - 1, joint=joint, segments=(part,))
        )
    return problems_of(
        lambda: bm.save(
            bm.Body(name="chain", links=tuple(links)), folder / "chain.xml", strict=True
        )
    )


def crossed(folder: Path, apart: float) -> Iterable[Problem]:
    """Save a chain of three links, each with a box, the last one this far [m] from the first."""
    part = bm.Segment(
        mass=1.0,
        inertia=np.eye(3),
        collisions=(bm.shapes.Shape(bm.shapes.Box((0.2, 0.2, 0.2))),),
    )
    links = [bm.Link(segments=(part,))]
    for k in (1, 2):
        joint = bm.Joint(name=f"l{k}", type="rotate", id=k - 1)
        offset = [0, 0, 0.5 * apart, 1, 0, 0, 0]
        links.append(
            bm.Link(
                name=f"l{k}",
                index=k,
                parent=k - 1,
                joint=joint,
                offset=offset,
                segments=(part,),
            )
        )
    return bm.save(bm.Body(links=tuple(links)), folder / "crossed.xml").problems


PAIRS: dict[str, Pair] = {
    "MJCF101": files(
        "r.mjcf",
        f"<model> <body> {GEOM} </body> </model>\n",
        world(f"<body> {GEOM} </body>"),
    ),
    **examples(
        "r.xml", world('<include file="leg.xml"/>'), "MJCF102", beside={"leg.xml": PART}
    ),
    **in_format(
        "r.xml",
        world(f"<body> {GEOM} </body>"),
        {"BODY108": ("", f"<body> {GEOM} </body>")},
    ),
    **in_format(
        "r.xml",
        ROBOT,
        {
            "BODY105": ('pos="0 0 1e300"', 'pos="0 0 0.3"'),
            "BODY107": ('quat="0 0 0 0"', 'quat="1 0 0 0"'),
            "FMT020": ('file="hnad.stl"', 'file="hand.stl"'),
        },
        beside={"hand.stl": HAND},
    ),
    "FMT009 .xml": files("r.xml", classes(150), classes(20)),
    **examples(
        "r.xml",
        ROBOT,
        "MJCF105 MJCF106 MJCF107 MJCF108 MJCF111 MJCF114 MJCF116",
        beside={"hand.stl": HAND},
    ),
    "XML106 .xml": folders(
        "r.xml",
        {"r.xml": ROBOT.replace('type="sphere', 'typ="sphere'), "hand.stl": HAND},
        {"r.xml": ROBOT, "hand.stl": HAND},
    ),
    "MJCF112": files(
        "r.xml",
        world(f"<body> {GEOM} {FREE.format('')} </body>"),
        world(FREE.format("")),
    ),
    **examples("r.xml", world(f'<body> <joint name="hip"/> {GEOM} </body>'), "MJCF120"),
    **examples(
        "r.xml", world(f'<body> <joint type="hinge"/> {GEOM} </body>'), "MJCF121"
    ),
    "MJCF117": folders(
        "r.xml",
        {"r.xml": attaching("hnad"), "hand.xml": world(FREE)},
        {"r.xml": attaching("hand"), "hand.xml": world(FREE)},
    ),
    "MJCF122": files(
        "r.xml",
        world(LEFT + RIGHT),
        world(f'<body name="base"> {GEOM} {LEFT} {RIGHT} </body>'),
    ),
    "MJCF124": files("r.xml", world(FREE + TABLE), world(FREE)),
    "MJCF126": files("r.xml", motor("-1 1"), motor("-88 88")),
    **examples(
        "r.xml",
        ROBOT,
        "MJCF123 MJCF125 MJCF140 MJCF141 MJCF142 MJCF144 MJCF145",
        beside={"hand.stl": HAND},
    ),
    "MJCF132": folders(
        "r.xml",
        {"r.xml": HOLLOW, "hand.stl": stl((0, 1, 2), (0, 2, 1))},
        {"r.xml": HOLLOW, "hand.stl": HAND},
    ),
    "MJCF133": calls(
        lambda folder: save(folder, 3, 0.0), lambda folder: save(folder, 3)
    ),
    **examples("r.xml", TIED, "MJCF151 MJCF152 MJCF154", beside={"hand.stl": HAND}),
    "MJCF155": calls(lambda folder: save(folder, 200), lambda folder: save(folder, 20)),
    "MJCF160": calls(
        lambda folder: crossed(folder, 0.0), lambda folder: crossed(folder, 1.0)
    ),
}
