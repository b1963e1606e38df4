"""Small bodies and motions for the viewer's tests, made in code."""

from __future__ import annotations

import numpy as np

import bodymotion as bm
from bodymotion.geometry import rotations
from bodymotion.geometry.shapes import Corners


def placed(x: float, y: float, z: float) -> np.ndarray:
    transform = np.eye(4)
    transform[:3, 3] = x, y, z
    return transform


def colored(r: float, g: float, b: float, **more: object) -> bm.shapes.Material:
    return bm.shapes.Material(diffuse=(r, g, b), **more)


def box(
    size: tuple[float, float, float],
    at: tuple[float, float, float],
    material: bm.shapes.Material,
) -> bm.shapes.Shape:
    return bm.shapes.Shape(bm.shapes.Box(size), placed(*at), material)


def link(
    name: str,
    index: int,
    parent: int,
    at: tuple[float, float, float],
    axis: tuple[float, float, float] = (0, 0, 1),
    kind: str = "rotate",
    joint_id: int = -1,
    visuals: tuple[bm.shapes.Shape, ...] = (),
    mass: float = 1.0,
    **limits: float,
) -> bm.Link:
    return bm.Link(
        name=name,
        index=index,
        parent=parent,
        joint=bm.Joint(name=name, type=kind, id=joint_id, axis=axis, **limits),
        offset=(*at, 1.0, 0.0, 0.0, 0.0),
        segments=(
            bm.Segment(name=name, mass=mass, visuals=visuals, collisions=visuals),
        ),
    )


def arm() -> bm.Body:
    """A red fixed base with a green arm that turns about y (joint 0) and a blue slider along x at its end (joint 1)."""
    return bm.Body(
        name="arm",
        links=(
            link("BASE", 0, -1, (0, 0, 0), kind="fixed", visuals=(box((0.4, 0.4, 0.2), (0, 0, 0.1), colored(0.9, 0.1, 0.1)),)),
            link(
                "ARM", 1, 0, (0, 0, 0.3), (0, 1, 0), joint_id=0, lower=-1.5, upper=1.0,
                visuals=(box((0.1, 0.1, 0.6), (0, 0, 0.3), colored(0.1, 0.8, 0.1)),),
            ),
            link(
                "HAND", 2, 1, (0, 0, 0.6), (1, 0, 0), kind="slide", joint_id=1, lower=-0.1, upper=0.3,
                visuals=(box((0.3, 0.2, 0.1), (0, 0, 0.05), colored(0.1, 0.2, 0.9)),),
            ),
        ),
    )  # fmt: skip


def biped() -> bm.Body:
    """Two legs with feet, a trunk with a camera and a range sensor, a head with a colour for each face."""
    grey, dark, orange = (
        colored(0.75, 0.77, 0.8),
        colored(0.2, 0.22, 0.25, shininess=0.6),
        colored(0.95, 0.45, 0.1),
    )
    face = bm.shapes.Mesh(
        vertices=np.array([[0, -0.1, 0], [0, 0.1, 0], [0, 0, 0.2], [-0.2, 0, 0.08]]),
        faces=np.array([[0, 1, 2], [1, 3, 2], [3, 0, 2], [0, 3, 1]]),
        colors=Corners(
            np.array(
                [[1, 0.9, 0.2], [0.2, 0.9, 0.4], [0.3, 0.4, 1.0], [0.9, 0.2, 0.6]]
            ),
            np.repeat(np.arange(4), 3).reshape(4, 3),
        ),
    )
    links = [
        link("WAIST", 0, -1, (0, 0, 0.85), kind="free", mass=8, visuals=(
            box((0.2, 0.34, 0.14), (0, 0, 0.0), dark), box((0.22, 0.38, 0.36), (0, 0, 0.3), grey),
            bm.shapes.Shape(bm.shapes.Sphere(0.06), placed(0.1, 0, 0.36), colored(0.2, 0.6, 1.0, transparency=0.5)),
        )),
        link("HEAD", 1, 0, (0.03, 0, 0.52), (0, 0, 1), joint_id=0, lower=-1, upper=1, visuals=(
            bm.shapes.Shape(face, placed(0.08, 0, 0)), bm.shapes.Shape(bm.shapes.Cylinder(0.03, 0.08), np.array(
                [[1, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1.0]]), dark))),
    ]  # fmt: skip
    for side, y, j in (("R", -0.11, 1), ("L", 0.11, 5)):
        hip = len(links)
        upright = np.array(
            [[1, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, -0.2], [0, 0, 0, 1.0]]
        )
        links += [
            link(f"{side}_HIP", hip, 0, (0, y, -0.08), (0, 1, 0), joint_id=j, lower=-2, upper=0.6, mass=3, visuals=(
                box((0.12, 0.12, 0.34), (0, 0, -0.17), grey),)),
            link(f"{side}_KNEE", hip + 1, hip, (0, 0, -0.36), (0, 1, 0), joint_id=j + 1, lower=0, upper=2.4, visuals=(
                bm.shapes.Shape(bm.shapes.Cylinder(0.06, 0.14), material=orange), box((0.1, 0.1, 0.3), (0, 0, -0.17), grey))),
            link(f"{side}_ANKLE", hip + 2, hip + 1, (0, 0, -0.35), (0, 1, 0), joint_id=j + 2, lower=-1, upper=1, visuals=(
                box((0.26, 0.13, 0.06), (0.04, 0, -0.03), dark),)),
            link(f"{side}_ARM", hip + 3, 0, (0, 2.2 * y, 0.42), (0, 1, 0), joint_id=j + 3, visuals=(
                bm.shapes.Shape(bm.shapes.Capsule(0.045, 0.4), upright, orange),)),
        ]  # fmt: skip
    forward = rotations.from_matrix(np.array([[0.0, 0, -1], [-1, 0, 0], [0, 1, 0]]))
    devices = (
        bm.model.VisionSensor(
            name="EYE",
            id=0,
            link=1,
            pose=(0.1, 0, 0.1, *forward),
            field_of_view=0.9,
            type="COLOR",
        ),
        bm.model.RangeSensor(
            name="SCAN",
            id=0,
            link=0,
            pose=(0.12, 0, 0.1, *forward),
            scan_angle=2.0,
            max_distance=5.0,
        ),
        bm.model.ForceSensor(name="FOOT", id=0, link=4, pose=(0, 0, -0.03, 1, 0, 0, 0)),
        bm.model.Gyro(name="GYRO", id=0, link=0, pose=(0, 0, 0.2, 1, 0, 0, 0)),
    )
    views = (bm.model.Viewpoint(description="From <b>far</b>", pose=(4.0, 0, 1.0, *rotations.from_matrix(
        np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])))),)  # fmt: skip
    return bm.Body(
        name="biped",
        links=tuple(links),
        devices=devices,
        viewpoints=views,
        root_pose=(0, 0, 0.85, 1, 0, 0, 0),
    )


def swinging(
    body: bm.Body, seconds: float = 2.0, rate: float = 50.0, size: float = 0.4
) -> bm.Motion:
    """All joints of a body swing, each with another phase; the root is not given."""
    frames = round(seconds * rate) + 1
    t = np.arange(frames) / rate
    q = size * np.sin(2 * np.pi * t[:, None] / 2.0 + np.arange(body.num_joints) * 0.7)
    timeline = bm.Timeline.uniform(frames, rate)
    return bm.Motion(
        (bm.MultiValueSeq(content="JointDisplacement", timeline=timeline, values=q),)
    )


def run_view(*arguments: object):
    """Run `bodymotion view` without a browser in this process; return its result with `exit_code`, `stdout` and `stderr`."""
    from click.testing import CliRunner

    from bodymotion.cli.app import app

    runner = CliRunner(env={"COLUMNS": "300", "NO_COLOR": "1"})
    result = runner.invoke(app, ["view", "--no-browser", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), (
        result.exception
    )
    return result
