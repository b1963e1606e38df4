"""Pairs for the language VRML97 and its shapes."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable
from pathlib import Path

import bodymotion as bm
from bodymotion.diagnostics import Problem
from bodymotion.formats.vrml import parse_vrml
from rules.pairs import Pair, calls, examples, files, folders, limited

HEAD = "#VRML V2.0 utf8\n"
SCENE = f"""\
{HEAD}WorldInfo {{ info "a scene" }}
PROTO Knob [ field SFFloat size 1 ] {{ Sphere {{ radius IS size }} }}
DEF BALL Shape {{
  appearance Appearance {{ material Material {{ diffuseColor 0.8 0.2 0.2 }} }}
  geometry Box {{ size 1 1 1 }}
}}
Transform {{
  translation 0 0 1
  rotation 0 0 1 0.5
  children [ USE BALL ]
}}
Transform {{ children [ Group {{ }} ] }}
Shape {{ geometry Sphere {{ radius 1 }} }}
Shape {{ geometry Knob {{ }} }}
"""
FACES = f"""\
{HEAD}Shape {{
  geometry IndexedFaceSet {{
    coord Coordinate {{ point [ 0 0 0, 1 0 0, 0 1 0 ] }}
    coordIndex [ 0, 1, 2, -1 ]
    color Color {{ color [ 1 0 0, 0 1 0, 0 0 1 ] }}
  }}
}}
"""
FACE = FACES[len(HEAD) :]
HAND = f'{HEAD}Inline {{ url "hand.wrl" }}\n'
PART = f"{HEAD}Shape {{ geometry Box {{ }} }}\n"
COMMENTED = f"{HEAD}# 歩行\nGroup {{ }}\n"


def nested(depth: int) -> str:
    return HEAD + "Group { children [ " * depth + "] }" * depth + "\n"


def doubled(times: int) -> str:
    groups = "".join(
        f"DEF G{k + 1} Group {{ children [ USE G{k} USE G{k} ] }}\n"
        for k in range(times)
    )
    return f"{HEAD}DEF G0 Shape {{ geometry Box {{ }} }}\n{groups}"


def chain(length: int) -> dict[str, str]:
    parts = {
        f"part{k}.wrl": f'{HEAD}Inline {{ url "part{k + 1}.wrl" }}\n'
        for k in range(length)
    }
    return {**parts, f"part{length}.wrl": PART}


def glb(**more: object) -> bytes:
    """Return a triangle as a binary glTF, with more in its JSON."""
    points = struct.pack("<9f", 0, 0, 0, 1, 0, 0, 0, 1, 0)
    scene = {
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}
        ],
        "bufferViews": [{"buffer": 0, "byteLength": len(points)}],
        "buffers": [{"byteLength": len(points)}],
        **more,
    }
    text = json.dumps(scene).encode()
    text += b" " * (-len(text) % 4)
    chunks = (
        struct.pack("<2I", len(text), 0x4E4F534A)
        + text
        + struct.pack("<2I", len(points), 0x004E4942)
        + points
    )
    return struct.pack("<4s2I", b"glTF", 2, 12 + len(chunks)) + chunks


def hand_behind(folder: Path, target: str) -> Iterable[Problem]:
    """Return what is found in a model with a part that is a symbolic link."""
    (folder / "model").mkdir()
    for path, text in {
        "hand.wrl": PART,
        "model/arm.wrl": PART,
        "model/robot.wrl": HAND,
    }.items():
        (folder / path).write_text(text)
    (folder / "model/hand.wrl").symlink_to(target)
    return bm.check(folder / "model/robot.wrl").problems


MESH = """\
<robot name="bare"><link name="base"><visual><geometry><mesh filename="hand.glb"/></geometry></visual></link></robot>
"""

PAIRS: dict[str, Pair] = {
    **examples("robot.wrl", SCENE, "VRML101 VRML102 VRML103"),
    **examples("robot.wrl", FACES, "VRML104 VRML105"),
    "FMT009 of nested nodes": files("robot.wrl", nested(300), nested(200)),
    **examples("robot.wrl", SCENE, "VRML110"),
    "VRML111": files("robot.wrl", COMMENTED.encode("cp932"), COMMENTED),
    **examples("robot.wrl", SCENE, "VRML112 VRML113 VRML114"),
    **examples("robot.wrl", SCENE.replace("Group {", "DEF EMPTY Group {"), "VRML115"),
    **examples("robot.wrl", SCENE, "VRML116 VRML117 VRML118 VRML120 VRML121 VRML201"),
    "VRML119": calls(
        lambda _: parse_vrml(HEAD.encode()).problems,
        lambda _: parse_vrml(b"%bGroup { }\n" % HEAD.encode()).problems,
    ),
    "VRML122": files("robot.wrl", "\ufeff" + SCENE, SCENE),
    **examples("robot.wrl", HAND, "FMT020 VRML132 VRML133", beside={"hand.wrl": PART}),
    "VRML131": calls(
        lambda folder: hand_behind(folder, "../hand.wrl"),
        lambda folder: hand_behind(folder, "arm.wrl"),
    ),
    "VRML134": folders("part0.wrl", chain(100), chain(30)),
    "FMT021": folders(
        "robot.wrl",
        {"robot.wrl": HAND, "hand.wrl": "#VRML V1.0 ascii\n"},
        {"robot.wrl": HAND, "hand.wrl": PART},
    ),
    **examples(
        "robot.wrl",
        f'{HEAD}EXTERNPROTO Knub [ ] "parts.wrl#Knob"\nShape {{ geometry Knub {{ }} }}\n',
        "VRML136",
        beside={"parts.wrl": f"{HEAD}PROTO Knob [ ] {{ Sphere {{ }} }}\n"},
    ),
    **examples("robot.wrl", SCENE, "VRML202"),
    **examples("robot.wrl", FACES, "VRML123 VRML203 VRML204 VRML205 VRML207"),
    **examples(
        "robot.wrl",
        f"{HEAD}Shape {{ geometry IndexedFaceSet {{ coord Coordinate {{ point [ 0 0 0, 1 0 0, 0 1 0 ] }} coordIndex [ 0, 1, 2 ] }} }}\n",
        "VRML206",
    ),
    **examples(
        "robot.wrl",
        f"{HEAD}Shape {{ geometry Extrusion {{ crossSection [ 0 0, 0 1, 1 1, 0 0 ] }} }}\n",
        "VRML208",
    ),
    **examples("robot.wrl", SCENE, "VRML209 VRML210"),
    "FMT009 .wrl": limited(
        files("robot.wrl", doubled(6), doubled(5)),
        "bodymotion.formats.vrml.shapes.MAX_SHAPES",
        100,
    ),
    **examples(
        "robot.wrl", f"{HEAD}Shape {{ geometry Box {{ size 2 1 1 }} }}\n", "VRML213"
    ),
    **examples("robot.wrl", f"{HEAD}Group {{ }}\n", "VRML214"),
    "VRML215": folders(
        "robot.urdf",
        {"robot.urdf": MESH, "hand.glb": glb(images=[{"uri": "hand.png"}])},
        {"robot.urdf": MESH, "hand.glb": glb()},
        place=False,
    ),
}
