"""Pairs for Choreonoid models."""

from __future__ import annotations

from rules.pairs import Pair, examples, files, folders, in_format

HEAD = "format: ChoreonoidBody\nformat_version: 2.0\nangle_unit: degree\nname: robot\n"
ROBOT = f"""\
{HEAD}root_link: WAIST
links:
  - name: WAIST
    translation: [ 0, 0, 0.3 ]
    joint_type: free # of the root
    mass: 5
    inertia: [ 0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1 ]
    elements:
      - {{ type: Shape, geometry: {{ type: Sphere, radius: 0.1 }} }}
      - {{ type: Group }}
      - {{ type: Transform, scale: 1, elements: [ {{ type: RateGyroSensor, name: gyro, id: 0 }} ] }}
      - {{ type: Camera, name: eye, id: 0, format: COLOR, field_of_view: 60 }}
      - {{ type: RangeSensor, name: laser, id: 0, yaw_range: 90, yaw_step: 1 }}
  - name: HIP # with mass and inertia
    mass: 1
    inertia: [ 0.01, 0, 0, 0.01, 0, 0.01 ]
    parent: WAIST
    rotation: [ 0, 0, 1, 30 ]
    joint_type: revolute
    joint_axis: [ 0, 1, 0 ]
    joint_id: 0
    joint_range: [ -90, 90 ]
    max_joint_velocity: 300
  - name: KNEE
    parent: HIP
    joint_type: prismatic
    joint_axis: Y
    joint_id: 1 # of the knee
    mass: 2 # in kg
    inertia: [ 0.02, 0, 0, 0.02, 0, 0.02 ]
  - {{ type: Link, name: TAIL, parent: WAIST, joint_type: fixed, mass: 1 }}
  - {{ name: TOE, parent: KNEE, joint_type: revolute, joint_id: 2, mass: 1, inertia: [ 0.1, 0, 0, 0.1, 0, 0.1 ] }}
extra_joints:
  - {{ link1_name: HIP, link2_name: TAIL, joint_type: ball }}
# another document
"""


def links(text: str) -> str:
    """Return a file with these links."""
    return f"{HEAD}links:\n{text}"


def shape(text: str) -> str:
    """Return a file with an element in its only link."""
    return links(f"  - name: BASE\n    mass: 1\n    elements:\n      - {text}\n")


FACE = "{ type: Shape, geometry: { type: Mesh, vertices: [ 0, 0, 0, 1, 0, 0, 0, 1, 0 ], faces: [ 0, 1, 2 ] } }"
HAND = "#VRML V2.0 utf8\nDEF HAND Shape { geometry Box { } }\n"
STL = "solid hand\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid\n"
RESOURCE = shape("{ type: Resource, uri: hand.wrl, node: HAND }")
FILE = shape("{ type: Resource, uri: hand.stl }")
DAE = """\
<COLLADA version="1.4.1"><asset><unit meter="1"/></asset>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="a" count="9">0 0 0 1 0 0 0 1 0</float_array>
<technique_common><accessor source="#a" count="3" stride="3"/></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></triangles>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node><instance_geometry url="#g"/></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>
"""
COLLADA = shape("{ type: Resource, uri: hand.dae }")
RED = "{ diffuseColor: [ 1, 0, 0 ] }"
TWO = shape(
    f"{{ type: Shape, geometry: {{ type: Sphere, radius: 1 }}, material: &red {RED} }}"
) + ("      - { type: Shape, geometry: { type: Sphere, radius: 1 }, material: *red }\n")


def track(count: int) -> str:
    return links(
        f"  - {{ type: ContinuousTrack, name: T, joint_axis: Y, num_joints: {count}, mass: 1, inertia: [ 1, 0, 0, 1, 0, 1 ] }}\n"
    )


PAIRS: dict[str, Pair] = {
    **examples("robot.body", ROBOT, "BDY102 BDY103 BDY104"),
    **examples("robot.body", ROBOT, "YAML103 YAML104 YAML105 YAML107"),
    **examples("robot.body", TWO, "YAML102"),
    **in_format(
        "robot.body",
        ROBOT,
        {
            "YAML101": ("joint_axis: [ 0, 1, 0", "joint_axis: [ 0, 1, 0 ]"),
            "YAML106": ("jointaxis: [ 0, 1, 0 ]", "joint_axis: [ 0, 1, 0 ]"),
        },
    ),
    "YAML106 of a mass": files(
        "robot.body", ROBOT.replace("mass: 2 # in kg", "Mass: 2 # in kg"), ROBOT
    ),
    "FMT009 .body": files("robot.body", track(5000), track(50)),
    "BDY116": files(
        "robot.body",
        ROBOT.replace("1, 30 ]", "1, 1.5708 ]"),
        ROBOT.replace("1, 30 ]", "1, 90 ]"),
    ),
    **in_format(
        "robot.body",
        ROBOT,
        {
            "BODY105": ("translation: [ 0, 0, .inf ]", "translation: [ 0, 0, 0.3 ]"),
            "BODY106": ("rotation: [ 0, 0, 1.05, 30 ]", "rotation: [ 0, 0, 1, 30 ]"),
            "BODY107": ("rotation: [ 0, 0, 0, 30 ]", "rotation: [ 0, 0, 1, 30 ]"),
            "BODY110": ("joint_axis: [ 0, 2, 0 ]", "joint_axis: [ 0, 1, 0 ]"),
            "BODY123": ("joint_id: 1000000", "joint_id: 0"),
            "BODY124": ("max_joint_velocity: -300", "max_joint_velocity: 300"),
            "BODY152": ("field_of_view: 200", "field_of_view: 60"),
            "BODY155": ("{ type: Transform, scale: 2,", "{ type: Transform, scale: 1,"),
            "BODY160": ("link1_name: HUP", "link1_name: HIP"),
        },
    ),
    **examples("robot.body", shape(FACE), "BDY113"),
    **in_format(
        "robot.body",
        f"{HEAD}links: [ {{ name: BASE }} ]\n",
        {"BODY108": ("[ ]", "[ { name: BASE } ]")},
    ),
    **examples("robot.body", ROBOT, "BDY124 BDY126 BDY130 BDY131"),
    **examples(
        "robot.body",
        links("  - name: WAIST\n  - name: HIP # again\n    parent: WAIST\n"),
        "BDY123",
    ),
    "BODY125": files(
        "robot.body",
        links("  - name: A\n  - name: B\n"),
        links("  - name: A\n  - name: B\n    parent: A\n"),
    ),
    **examples(
        "robot.body",
        links(
            "  - name: BASE\n  - { type: SubBody, name: HAND, parent: BASE, uri: hand.body }\n"
        ),
        "BDY127",
        beside={"hand.body": links("  - name: PALM\n")},
    ),
    **examples("robot.body", ROBOT, "BDY141 BDY142 BDY150 BDY151"),
    **examples("robot.body", ROBOT, "BDY153 BDY154 BDY157 BDY171"),
    **examples(
        "robot.body",
        RESOURCE,
        "BDY160 BDY161",
        beside={"hand.wrl": HAND, "hand.docx": HAND},
    ),
    "FMT021 .body": folders(
        "robot.body",
        {"robot.body": FILE, "hand.stl": ""},
        {"robot.body": FILE, "hand.stl": STL},
    ),
    "BDY163": folders(
        "robot.body",
        {"robot.body": COLLADA, "hand.dae": DAE.replace('meter="1"', 'meter="long"')},
        {"robot.body": COLLADA, "hand.dae": DAE},
    ),
}
