"""Pairs for bodies of any format: a sound robot, and the same with one thing changed."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
from PIL import Image

import bodymotion as bm
from checks.sound_robot import (
    robot,
    with_device,
    with_extra,
    with_joint,
    with_link,
    with_segment,
)
from rules.pairs import Pair, calls, folders

BODY = robot()
LOOSE = replace(BODY, extra_joints=())
EYE = np.eye(3)
PAINTED = """#VRML V2.0 utf8
Shape {
  appearance Appearance { texture ImageTexture { url "wood.png" } }
  geometry Box { }
}
"""


def picture() -> bytes:
    """Return an image as PNG."""
    file = io.BytesIO()
    Image.new("RGB", (4, 4)).save(file, "PNG")
    return file.getvalue()


def pair(wrong: bm.Body, right: bm.Body = BODY) -> Pair:
    return calls(lambda _: bm.check(wrong).problems, lambda _: bm.check(right).problems)


def of_joint(
    wrong: dict[str, object], right: dict[str, object] | None = None, index: int = 2
) -> Pair:
    """Change a joint of the sound robot."""
    return pair(
        with_joint(BODY, index, **wrong), with_joint(BODY, index, **(right or {}))
    )


def of_segment(
    wrong: dict[str, object], right: dict[str, object] | None = None
) -> Pair:
    """Change the mass or shape of a link of the sound robot."""
    return pair(with_segment(BODY, 2, **wrong), with_segment(BODY, 2, **(right or {})))


def shapes(edge: float) -> bm.Body:
    """Return a robot of one link, a box of that size."""
    box = (bm.shapes.Shape(bm.shapes.Box((edge, edge, edge))),)
    part = bm.Segment(mass=1.0, inertia=edge**2 / 6 * EYE, visuals=box, collisions=box)
    arm = bm.Joint(name="ARM", type="rotate", id=0)
    pose = [edge, 0, 0, 1, 0, 0, 0]
    links = (
        bm.Link(name="BASE", segments=(part,)),
        bm.Link(name="ARM", index=1, parent=0, joint=arm, offset=pose),
    )
    return bm.Body(name="box", links=(links[0], replace(links[1], segments=(part,))))


def triangle(last: int) -> tuple[bm.shapes.Shape, ...]:
    return (
        bm.shapes.Shape(
            bm.shapes.Mesh([[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0]], [[0, 1, last]])
        ),
    )


def ball(height: float) -> tuple[bm.shapes.Shape, ...]:
    return (bm.shapes.Shape(bm.shapes.Sphere(0.1), np.diag([1.0, height, 1.0, 1.0])),)


def gyros(second: str) -> bm.Body:
    return replace(
        BODY, devices=(*BODY.devices, bm.model.Gyro(name=second, id=1, link=0))
    )


def at(distance: float, length: float = 1.0) -> list[float]:
    return [distance, 0, 0, length, 0, 0, 0]


FLAT = {"type": "xy", "axis": [1, 0, 0]}
PAIRS: dict[str, Pair] = {
    "BODY101": pair(
        with_link(with_joint(BODY, 2, name="OTHER"), 2, name="ARM"),
        with_joint(BODY, 2, name="OTHER"),
    ),
    "BODY102": of_joint({"name": "ARM"}, {"name": "HAND"}),
    "BODY103": pair(gyros("gyro"), gyros("gyro2")),
    "BODY104": pair(with_link(BODY, 2, name=""), with_link(BODY, 2, name="HAND")),
    "BODY105": of_segment({"mass": float("nan")}, {"mass": 2.0}),
    "BODY106": pair(
        with_link(LOOSE, 2, offset=at(0.3, 2.0)), with_link(LOOSE, 2, offset=at(0.3))
    ),
    "BODY107": pair(
        with_link(LOOSE, 2, offset=at(0.3, 0.0)), with_link(LOOSE, 2, offset=at(0.3))
    ),
    "BODY108": pair(
        bm.Body(name="robot"), bm.Body(name="robot", links=(bm.Link(name="BASE"),))
    ),
    "BODY110": of_joint({"axis": [0, 0, 2]}, {"axis": [0, 0, 1]}),
    "BODY111": of_joint({"axis": [0, 0, 0]}, {"axis": [0, 0, 1]}),
    "BODY112": of_joint({"lower": 2.0, "upper": -1.0}, {"lower": -1.0, "upper": 2.0}),
    "BODY113": of_joint({"lower": 0.0, "upper": 0.0}, {"lower": 0.0, "upper": 0.1}),
    "BODY114": of_joint({"velocity_lower": 3.0}, {"velocity_lower": -3.0}),
    "BODY115": of_joint(
        {"lower": -90.0, "upper": 90.0}, {"lower": -1.57, "upper": 1.57}
    ),
    "BODY116": of_joint({"lower": 0.5}, {"lower": -0.5}),
    "BODY117": of_joint({"id": 1}, {"id": 2}, index=3),
    "BODY118": of_joint({"id": 4}, {"id": 2}, index=3),
    "BODY119": pair(
        with_joint(BODY, 0, type="rotate", id=3), with_joint(BODY, 0, type="free")
    ),
    "BODY120": pair(
        with_joint(LOOSE, 3, type="free"), with_joint(LOOSE, 3, type="rotate")
    ),
    "BODY121": of_joint({"gear_ratio": 0.0}, {"gear_ratio": 100.0}),
    "BODY122": of_joint(
        {"type": "slide", "lower": -1500.0, "upper": 1500.0},
        {"type": "slide", "lower": -1.5, "upper": 1.5},
    ),
    "BODY130": of_segment({"mass": -1.0}, {"mass": 2.0}),
    "BODY131": of_segment({"mass": 0.0, "inertia": 0.0 * EYE}, {"mass": 2.0}),
    "BODY132": of_segment({"inertia": 0.0 * EYE}, {"inertia": 0.01 * EYE}),
    "BODY133": of_segment(
        {"inertia": np.diag([0.01, 0.01, 0.5])},
        {"inertia": np.diag([0.01, 0.01, 0.01])},
    ),
    "BODY134": of_segment(
        {"inertia": [[0.02, 0.005, 0], [0, 0.02, 0], [0, 0, 0.02]]},
        {"inertia": 0.02 * EYE},
    ),
    "BODY135": of_segment(
        {"center_of_mass": [0, 0, 50]}, {"center_of_mass": [0, 0, 0.05]}
    ),
    "BODY136": of_segment({"inertia": 1e3 * EYE}, {"inertia": 0.013 * EYE}),
    "BODY137": pair(
        with_segment(with_joint(BODY, 0, type="fixed"), 0, mass=0.0),
        with_joint(BODY, 0, type="fixed"),
    ),
    "BODY138": of_segment(
        {"mass": 1000.0, "inertia": 0.01 * EYE}, {"mass": 1.0, "inertia": 0.01 * EYE}
    ),
    "BODY140": pair(shapes(70.0), shapes(0.2)),
    "BODY141": pair(shapes(5e-5), shapes(0.2)),
    "BODY142": pair(
        with_link(LOOSE, 3, offset=at(300.0)), with_link(LOOSE, 3, offset=at(0.3))
    ),
    "BODY143": of_segment({"visuals": (), "collisions": ()}),
    "BODY144": of_segment({"visuals": triangle(3)}, {"visuals": triangle(2)}),
    "BODY145": of_segment({"visuals": ball(0.0)}, {"visuals": ball(1.0)}),
    "BODY146": folders(
        "robot.wrl",
        {"robot.wrl": PAINTED, "wood.png": "wood"},
        {"robot.wrl": PAINTED, "wood.png": picture()},
    ),
    "BODY150": pair(
        with_device(BODY, 0, pose=at(30.0)), with_device(BODY, 0, pose=at(0.03))
    ),
    "BODY151": pair(with_device(BODY, 0, id=2), with_device(BODY, 0, id=0)),
    "BODY152": pair(
        with_device(BODY, 1, field_of_view=0.0), with_device(BODY, 1, field_of_view=0.8)
    ),
    "BODY153": pair(
        with_device(BODY, 2, scan_step=0.0), with_device(BODY, 2, scan_step=0.1)
    ),
    "BODY154": pair(with_device(BODY, 0, link=9), with_device(BODY, 0, link=3)),
    "BODY160": pair(with_extra(BODY, links=(2, 9)), with_extra(BODY, links=(2, 3))),
    "BODY161": pair(with_extra(BODY, positions=[[0, 0, 0], [0.4, 0, 0]]), BODY),
    "BODY110 of an extra joint": pair(
        with_extra(BODY, **FLAT | {"axis": [2, 0, 0]}), with_extra(BODY, **FLAT)
    ),
}
