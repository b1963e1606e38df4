"""Pairs for OpenHRP models."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import bodymotion as bm
from bodymotion.diagnostics import Problem
from rules.pairs import Pair, calls, examples, files, in_format, limited

HEAD = "#VRML V2.0 utf8\n"
ROBOT = f"""{HEAD}\
DEF robot Humanoid {{
  humanoidBody [
    DEF WAIST Joint {{ jointType "free"
      translation 0 0 0.8
      children [
        DEF WAIST_LINK Segment {{ mass 5
          centerOfMass 0 0 0.1
          momentsOfInertia [ 0.1 0 0 0 0.1 0 0 0 0.1 ]
          children [
            Transform {{ scale 1 1 1 children [ DEF gyro Gyro {{ sensorId 0 maxAngularVelocity [ 10 10 10 ] }} ] }}
            DEF eye VisionSensor {{
              sensorId 0 type "COLOR" width 320 height 240 fieldOfView 0.785 frontClipDistance 0.1 backClipDistance 10
            }}
            DEF ear VisionSensor {{
              sensorId 1 # of the second camera
            }}
            DEF laser RangeSensor {{ sensorId 0 scanAngle 3.14 }}
          ]
        }}
        DEF HIP Joint {{ name "HIP"
          jointType "rotate"
          jointAxis 0 1 0
          jointId 0
          rotation 0 0 1 0.5
          ulimit [ 1.5 ]
          llimit [ -1.5 ]
          gearRatio 100
          rotorInertia 0.3
          children [ DEF HIP_LINK Segment {{
            mass 1 momentsOfInertia [ 0.01 0 0 0 0.01 0 0 0 0.01 ]
          }} ]
        }}
        Group {{ children [ DEF KNEE Joint {{
          jointType "slide" jointId 1 # of the second joint
          translation 0 0 0.3
          jointAxis 0 0 1
          children [ Transform {{ scale 1 1 1 children [ DEF KNEE_LINK Segment {{ # again
            mass 2 momentsOfInertia [ 0.02 0 0 0 0.02 0 0 0 0.02 ]
          }} ] }} ]
        }} ] }}
      ]
    }}
  ]
  joints [ USE WAIST, USE HIP, USE KNEE ]
  segments [ USE WAIST_LINK, USE HIP_LINK, USE KNEE_LINK ]
}}
DEF loop ExtraJoint {{ link1Name "HIP" link2Name "KNEE" jointType "xyz" }}
"""
"""A robot of three links with nothing wrong."""
GYRO = ROBOT.replace(" sensorId 0 maxAngularVelocity [ 10 10 10 ]", " sensorId 0")


def body(text: str) -> str:
    """Return a robot around what stands in its humanoidBody."""
    return f"{HEAD}DEF robot Humanoid {{ humanoidBody [ {text} ] }}\n"


def joint(name: str, children: str = "", more: str = "") -> str:
    return f'DEF {name} Joint {{ jointType "fixed" {more} children [ {children} ] }}\n'


def moved(first: int, second: int) -> str:
    limbs = "".join(
        f'DEF J{k} Joint {{ jointType "rotate" jointId {k} children [ Segment {{ mass 1 }} ] }}\n'
        for k in (first, second)
    )
    return body(joint("BASE", limbs))


SCENE = f"{HEAD}Group {{ children [ Shape {{ geometry Box {{ }} }} ] }}\n"
FIXED = 'DEF A Joint { jointType "fixed" } '


def read(folder: Path, name: str) -> Iterable[Problem]:
    (folder / name).write_text(ROBOT)
    return bm.check(folder / name, format="openhrp").problems


PAIRS: dict[str, Pair] = {
    "FMT015": files("r.wrl", ROBOT.replace("mass 5", "mass\u30005"), ROBOT),
    "WRL101": files(
        "robot.wrl", body(joint("A")) + body(joint("B"))[len(HEAD) :], body(joint("A"))
    ),
    **examples(
        "robot.wrl",
        body('DEF BASE Joint { jointType "fixed" }')
        .replace(" [  ", " [ ")
        .replace("  ]", " ]"),
        "WRL102",
    ),
    "BODY125 .wrl": files(
        "robot.wrl",
        body(joint("ARM") + joint("LEG")),
        body(joint("WAIST", joint("ARM") + joint("LEG"))),
    ),
    "WRL104": files(
        "robot.wrl",
        body(
            joint(
                "WAIST",
                f"Transform {{ translation 0 0 1 children [ {joint('HIP')} ] }}",
            )
        ),
        body(joint("WAIST", joint("HIP", more="translation 0 0 1"))),
    ),
    "WRL105": files(
        "robot.wrl",
        body(
            joint("WAIST", f"DEF WAIST_LINK Segment {{ children [ {joint('HIP')} ] }}")
        ),
        body(joint("WAIST", f"DEF WAIST_LINK Segment {{ }} {joint('HIP')}")),
    ),
    "WRL106": files(
        "robot.wrl",
        body(joint("WAIST", "DEF A Segment { children [ DEF B Segment { } ] }")),
        body(joint("WAIST", "DEF A Segment { } DEF B Segment { }")),
    ),
    "WRL107": files(
        "robot.wrl",
        body(joint("BASE")) + "Shape { geometry Box { } }\n",
        body(
            joint(
                "BASE",
                "DEF BASE_LINK Segment { children [ Shape { geometry Box { } } ] }",
            )
        ),
    ),
    **examples("robot.wrl", ROBOT, "WRL108 WRL109 WRL114"),
    "WRL112": limited(
        files("robot.wrl", body(joint("A", FIXED * 20)), body(joint("A", FIXED * 19))),
        "bodymotion.formats.openhrp.nodes.MAX_LINKS",
        20,
    ),
    "WRL113": files("robot.wrl", "", SCENE),
    "WRL116": files("robot.wrl", HEAD + joint("BASE"), body(joint("BASE"))),
    "WRL117": calls(
        lambda folder: read(folder, "robot.txt"),
        lambda folder: read(folder, "robot.wrl"),
    ),
    **examples("robot.wrl", ROBOT, "WRL115 WRL118 WRL119 WRL120 WRL121 WRL126 WRL127"),
    **examples(
        "robot.wrl",
        f'{HEAD}PROTO Joint [ field SFString jointType "fixed" ] {{ }} {body("DEF HIP Joint { }").removeprefix(HEAD)}',
        "WRL149",
    ),
    "WRL128": files("robot.wrl", moved(1, 0), moved(0, 1)),
    **examples("robot.wrl", ROBOT, "BODY123 BODY155 WRL131 WRL132 WRL135 WRL136"),
    **examples("robot.wrl", ROBOT.replace("1 0.5", "1 1.5708"), "BODY109"),
    **in_format(
        "robot.wrl",
        ROBOT,
        {
            "BODY105": ("translation 0 0 inf", "translation 0 0 0.8"),
            "BODY106": ("rotation 0 0 1.05 0.5", "rotation 0 0 1 0.5"),
            "BODY110": ("jointAxis 0 2 0", "jointAxis 0 1 0"),
            "BODY152": ("fieldOfView 45", "fieldOfView 0.785"),
            "BODY155": (
                "scale 2 2 2 children [ DEF gyro",
                "scale 1 1 1 children [ DEF gyro",
            ),
            "BODY160": ('link1Name "HUP"', 'link1Name "HIP"'),
        },
    ),
    **examples("robot.wrl", ROBOT, "WRL140 WRL148 WRL163 WRL170 WRL181"),
    **examples("robot.wrl", GYRO, "WRL162"),
    **examples("robot.wrl", GYRO.replace("gyro", "nose"), "WRL168"),
}
