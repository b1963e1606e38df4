"""Motions of people and of quadrupeds made those of robots with four legs: laws that hold for every robot, and the playback of Spot."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from click.testing import CliRunner

import bodymotion as bm
from bodymotion.cli.app import app
from bodymotion.editing import mirror
from bodymotion.geometry import rotations
from bodymotion.retargeting.figures import figure_of_body
from bodymotion.retargeting.quadruped_plans import Stand, make_plan, measure_stand
from bodymotion.retargeting.roles import LEGS, QUADRUPED_ROLES
from bodymotion.spot.playback import play, spot_body
from sample_files import ROOT

BIPED, WALK = ROOT / "examples" / "biped.wrl", ROOT / "examples" / "biped_walk.seq"
RATE = 50.0


TAIL = """
        <body pos="-0.4 0 0"><joint axis="0 1 0"/><geom type="sphere" size="0.02" mass="0.1"/>
          <body pos="0 0 -0.2"><joint axis="0 1 0"/><geom type="sphere" size="0.02" mass="0.1"/>
            <body pos="0 0 -0.3"><joint axis="0 1 0"/><geom type="sphere" size="0.02" mass="0.1"/></body>
          </body>
        </body>"""


def dog(folder, knee="-2.6 2.6", yaw=0.0, tail=""):
    """Return a quadruped of 12 joints whose names state nothing, and whose legs hang down with all joints at 0; it faces `yaw` [rad]."""

    def text(*vector):
        return " ".join(
            f"{x:.9g}"
            for x in rotations.rotate(rotations.from_rpy([0.0, 0.0, yaw]), vector)
        )

    def leg(name, x, y):
        return f"""
        <body name="{name}a" pos="{text(x, y, 0)}">
          <joint name="{name}1" axis="{text(1, 0, 0)}" range="-0.6 0.6"/><geom type="sphere" size="0.03" mass="0.5"/>
          <body name="{name}b" pos="{text(0, 0.08 * np.sign(y), 0)}">
            <joint name="{name}2" axis="{text(0, 1, 0)}" range="-1.5 1.5"/><geom type="sphere" size="0.03" mass="0.5"/>
            <body name="{name}c" pos="0 0 -0.25">
              <joint name="{name}3" axis="{text(0, 1, 0)}" range="{knee}"/>
              <geom type="sphere" size="0.02" mass="0.2"/>
              <body name="{name}d" pos="0 0 -0.25"><geom type="sphere" size="0.02" mass="0.1"/></body>
            </body>
          </body>
        </body>"""

    legs = "".join(
        leg(f"l{k}", x, y)
        for k, (x, y) in enumerate(
            [(-0.25, -0.06), (0.25, 0.06), (0.25, -0.06), (-0.25, 0.06)]
        )
    )
    base = '<body name="base" pos="0 0 0.5"><freejoint/><geom type="box" size="0.1 0.1 0.05" mass="5"/>'
    path = folder / "dog.xml"
    path.write_text(
        f"<mujoco model='dog'><compiler angle='radian'/><worldbody>{base}{legs}{tail}</body></worldbody></mujoco>"
    )
    return bm.load_body(path)


@pytest.fixture(scope="module")
def biped():
    return bm.load_body(BIPED)


@pytest.fixture(scope="module")
def walk():
    return bm.load_motion(WALK).resample(RATE)[50:350]


ROBOTS = {
    "spot": lambda _: spot_body(arm=False),
    "dog": dog,
    "dog whose knees bend forwards": lambda folder: dog(folder, "0.1 2.6"),
    "dog that faces y": lambda folder: dog(folder, yaw=0.5 * np.pi),
}


def feet_of(body, motion):
    figure = figure_of_body(body)
    placed = body.link_poses(motion)
    return np.stack([figure.locate(f"{leg} foot", placed) for leg in LEGS], axis=1)


@pytest.mark.parametrize("name", ROBOTS)
def test_feet_of_quadrupeds_stay_and_joints_keep_their_limits(
    name, biped, walk, tmp_path
):
    body = ROBOTS[name](tmp_path)
    rest = figure_of_body(body).rest
    ahead = rest["front left hip"] - rest["hind left hip"]
    assert np.argmax(ahead) == (name == "dog that faces y")
    motion = bm.retarget(walk, body, source_body=biped)
    found = bm.retargeting.compare_retarget(walk, body, motion, source_body=biped)
    assert (
        found.joint_jumps,
        found.root_jumps,
        found.limit_violations,
        found.speed_violations,
    ) == (0, 0, 0, 0)
    assert found.penetration < 0.005
    assert (
        max(found.reach.values()) < 2e-5
    )  # Of both passes: after the first it is more.
    assert np.degrees(max(found.directions.values())) < 1
    assert found.float_share < 0.01
    feet = feet_of(body, motion)
    low = feet[..., 2] < feet[..., 2].min(axis=0) + 0.002
    steps = np.linalg.norm(np.diff(feet, axis=0), axis=2)[low[1:] & low[:-1]]
    assert len(steps) > 0.4 * low.size
    assert np.quantile(steps, 0.95) < 0.001
    swings = low[:, [0]] & low[:, [3]] | low[:, [1]] & low[:, [2]]
    assert swings.mean() > 0.9  # one diagonal pair is on the ground


@pytest.mark.parametrize("name", ["spot", "dog"])
def test_a_mirrored_walk_gives_the_mirrored_motion(name, biped, walk, tmp_path):
    """Left front and right hind legs are one pair: of the mirrored walk they do what the others did."""
    body = ROBOTS[name](tmp_path)
    one, other = (
        feet_of(body, bm.retarget(source, body, source_body=biped))
        for source in (walk, mirror(walk, biped))
    )
    assert np.abs(other[:, [1, 0, 3, 2]] * [1, -1, 1] - one).max() < 0.003


def test_the_body_of_spot_does_what_its_animation_does(biped, walk):
    body = spot_body(arm=False)
    played = play(bm.spot.retarget_to_spot(walk, source_body=biped))
    motion = bm.retarget(walk, body, source_body=biped)
    late = slice(50, 250)
    played, motion = (one.resample(RATE) for one in (played, motion))
    feet = feet_of(body, motion)[late] - feet_of(body, played)[late]
    assert np.abs(feet).max() < 0.02  # Keyframes are 0.05 s apart.
    joints = [
        body.joint_values(one.joint_displacement)[late] for one in (played, motion)
    ]
    assert np.degrees(np.abs(joints[0] - joints[1]).mean()) < 0.3
    roots = [one.link_position.values[late, 0] for one in (played, motion)]
    assert np.abs(roots[0] - roots[1]).max() < 0.005


@pytest.mark.parametrize("name", ["dog", "dog whose knees bend forwards"])
def test_from_quadruped_to_quadruped_and_back(name, biped, walk, tmp_path):
    """Paths are scaled by the lengths of legs, feet stay on the ground, and the way back gives the motion again."""
    spot, body = spot_body(arm=False), ROBOTS[name](tmp_path)
    first = bm.retarget(walk, spot, source_body=biped)
    motion = bm.retarget(first, body, source_body=spot)
    found = bm.retargeting.compare_retarget(first, body, motion, source_body=spot)
    assert (found.joint_jumps, found.root_jumps, found.limit_violations) == (0, 0, 0)
    assert max(found.reach.values()) < 0.005
    assert found.contact_agreement > 0.9
    paths = [
        np.linalg.norm(
            one.link_position.values[-1, 0, :2] - one.link_position.values[0, 0, :2]
        )
        for one in (first, motion)
    ]
    assert paths[1] / paths[0] == pytest.approx(0.5 / (0.3215 + 0.3365), rel=0.01)
    back = bm.retarget(motion, spot, source_body=body)
    assert np.abs(feet_of(spot, back) - feet_of(spot, first)).max() < 0.02
    skeleton = bm.retargeting.to_skeleton(spot, first, RATE)
    again = bm.retarget(skeleton, body)
    assert np.abs(feet_of(body, again) - feet_of(body, motion)).mean() < 0.01


def test_the_feet_of_a_wider_robot_are_as_high(tmp_path):
    """Also where the trunk of the source rolls and pitches in the air: they were moved along its axes."""
    body = dog(tmp_path)
    times = np.arange(0.0, 2.0, 1 / RATE)
    wave = np.sin(2 * np.pi * times)[:, None]
    root = np.column_stack(
        [
            np.maximum(wave, 0) * [0, 0, 0.2] + [0, 0, 0.5],
            rotations.from_rpy(wave * [0.2, 0.3, 0]),
        ]
    )
    motion = bm.Motion.from_joints(np.zeros((len(times), 12)), times=times, root=root)
    height, feet = measure_stand(figure_of_body(body))
    one, other = (
        make_plan(motion, body, None, Stand(height, feet * [1, share, 1])).feet
        for share in (1, 2)
    )
    assert np.ptp(one[..., 2]) > 0.1
    assert np.abs(other - one - feet * [0, 1, 0]).max() < 0.002


@pytest.mark.parametrize("quarter", [(0.0, 0.0, 0.0), (0.5 * np.pi, 0.0, 0.0)])
def test_roles_of_quadrupeds_without_names(quarter):
    """Spot's links by topology and geometry alone, those with roles stated by their names; also of a model that lies on its side."""
    body = spot_body(arm=True)
    links = [dataclasses.replace(link, name=f"link{link.index}") for link in body.links]
    rotated = np.array([0.0, 0.0, 0.0, *rotations.from_rpy(quarter)])
    figure = figure_of_body(
        dataclasses.replace(body, links=tuple(links), root_pose=rotated)
    )
    assert figure.is_quadruped
    assert all(
        np.ptp([figure.rest[f"{leg} {part}"][2] for part in ("hip", "foot")]) > 0.3
        for leg in LEGS
    )
    short = {
        "front left": "fl",
        "front right": "fr",
        "hind left": "hl",
        "hind right": "hr",
    }
    for leg, name in short.items():
        parts = {
            part: body.links[figure.points[f"{leg} {part}"][0]].name
            for part in ("hip", "knee", "foot")
        }
        assert parts == {
            "hip": f"{name}_uleg",
            "knee": f"{name}_lleg",
            "foot": f"{name}_foot",
        }


def test_a_tail_that_hangs_down_is_no_leg(tmp_path):
    alone, tailed = (
        figure_of_body(dog(tmp_path)),
        figure_of_body(dog(tmp_path, tail=TAIL)),
    )
    assert {role: alone.names[k] for role, (k, _) in alone.points.items()} == {
        role: tailed.names[k] for role, (k, _) in tailed.points.items()
    }


def test_the_trunk_leans_no_further_than_that_of_an_animal(biped):
    times = np.arange(0.0, 1.0, 1 / RATE)
    for rpy in ([0.8, 0, 0], [0, -0.8, 0], [0, 0.1, 0]):
        root = np.tile([0, 0, 1, *rotations.from_rpy(rpy)], (len(times), 1))
        motion = bm.Motion.from_joints(
            np.zeros((len(times), len(biped.joints))), times=times, root=root
        )
        lean = make_plan(
            motion, biped, None, measure_stand(figure_of_body(spot_body(arm=False)))
        ).rpy[:, :2]
        assert np.abs(lean - np.clip(rpy[:2], -0.25, 0.25)).max() < 1e-6


def test_what_a_quadruped_lacks_is_named(tmp_path):
    """Four straight legs: an error of two legs was raised."""
    body = dog(tmp_path)
    fixed = [
        dataclasses.replace(link, joint=dataclasses.replace(link.joint, type="fixed"))
        if link.name.endswith("c")
        else link
        for link in body.links
    ]
    with pytest.raises(ValueError, match="found no knee of the front left leg"):
        figure_of_body(dataclasses.replace(body, links=tuple(fixed)))


def test_map_of_a_quadruped(tmp_path):
    body, model = dog(tmp_path), tmp_path / "dog.xml"
    run = CliRunner().invoke(
        app,
        [
            "retarget",
            str(WALK),
            str(model),
            "--source-body",
            str(BIPED),
            "--show-map",
            "--json",
        ],
    )
    assert run.exit_code == 0, run.output
    found = json.loads(run.stdout)
    assert found["left knee"] == {"source": "L_KNEE", "body": None}
    assert {*QUADRUPED_ROLES} < found.keys()
    assert found["hind right knee"]["source"] is None
    out = tmp_path / "dog.seq"
    run = CliRunner().invoke(
        app,
        [
            "retarget",
            str(WALK),
            str(model),
            "--source-body",
            str(BIPED),
            "-o",
            str(out),
        ],
    )
    assert run.exit_code == 0, run.output
    assert "hind right foot" in run.stdout
    assert not [
        problem
        for problem in bm.check(out, body=model).problems
        if problem.severity == "error"
    ]
    with pytest.raises(ValueError, match="four legs; expected two"):
        bm.retarget(bm.load_motion(out), bm.load_body(BIPED), source_body=body)
    with pytest.raises(ValueError, match="no joint 'tail'"):
        figure_of_body(body, {"front left foot": "tail"})
    with pytest.raises(
        ValueError, match="front left knee: no joint rotates link 'l1d'"
    ):
        bm.retarget(
            bm.load_motion(WALK),
            body,
            source_body=bm.load_body(BIPED),
            roles={"front left knee": "l1d"},
        )


def test_spot_and_its_animations_are_sources(tmp_path):
    """Of a robot with four legs; the result can be a recording with the links of the robot, whose motion it is again."""
    dog(tmp_path)
    model, played = tmp_path / "dog.xml", tmp_path / "trot.seq"
    bm.save(bm.play(bm.load_animation(ROOT / "examples/trot.cha")), played)
    results = []
    for source, out in (
        (ROOT / "examples/trot.cha", "a.seq"),
        (played, "b.seq"),
        (played, "b.bvh"),
    ):
        of = [] if source.suffix == ".cha" else ["--source-body", "spot"]
        run = CliRunner().invoke(
            app, ["retarget", str(source), str(model), *of, "-o", str(tmp_path / out)]
        )
        assert run.exit_code == 0, run.output
        found = bm.load(tmp_path / out)
        results.append(
            bm.retarget(found, bm.load_body(model)) if out.endswith("bvh") else found
        )
    robot = bm.load_body(model)
    feet = [feet_of(robot, one.resample(RATE))[:200] for one in results]
    assert np.ptp(feet[0][..., 0]) > 0.05
    assert np.abs(feet[1] - feet[0]).max() < 0.005
    assert np.abs(feet[2] - feet[1]).max() < 0.005
    run = CliRunner().invoke(
        app,
        [
            "retarget",
            str(played),
            str(BIPED),
            "--source-body",
            "spot",
            "-o",
            str(tmp_path / "c.seq"),
        ],
    )
    assert run.exit_code == 1
    assert f"{played}: four legs; expected two" in run.stderr
