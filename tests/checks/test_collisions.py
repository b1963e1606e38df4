"""Links inside of each other, and links below the floor: depths follow from the shapes, which are boxes and balls."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bodymotion as bm
from bodymotion.checks import moments
from bodymotion.checks.physics import collisions
from bodymotion.checks.physics.collisions import FLOOR, find_collisions
from bodymotion.kernels import compiling
from sample_files import CORPUS, missing
from walker import RADIUS, frames, moving, punch, puncher, smoothly, walker

pytest.importorskip("mujoco")
REACH = 0.9
SAMPLES = "seq/choreonoid+choreonoid/sample/SimpleController/SR1WalkPattern{}.seq"
SR1 = CORPUS / "wrl/choreonoid+choreonoid/share/model/SR1/SR1.wrl"


@pytest.mark.parametrize(
    ("depth", "severity"),
    [(0.015, None), (0.025, "warning"), (0.045, "warning"), (0.06, "error")],
)
def test_a_hand_in_the_trunk_is_reported_with_names_depth_and_time(depth, severity):
    body, motion = puncher(), punch(depth)
    found = [
        one for one in bm.check(motion, body=body).problems if one.rule == "MOT341"
    ]
    assert [one.severity for one in found] == ([severity] if severity else [])
    if found:
        assert (
            "'TRUNK' and 'HAND'" in found[0].message
            and f"{depth * 1000:.3g} mm" in found[0].message
        )
        assert 1.0 <= found[0].data["time"] < 1.5
        (moment,) = [one for one in moments(motion, body) if one.rule == "MOT341"]
        assert (moment.start, moment.end, moment.severity) == (
            1.0,
            pytest.approx(1.49),
            severity,
        )


def test_depth_frame_and_point_of_a_ball_in_a_box():
    depths = np.linspace(-0.1, 0.147, 26)
    q = np.column_stack([0 * depths, 0.2 + RADIUS - depths - 0.5])
    found = find_collisions(puncher(), q, np.tile(bm.Body().root_pose, (len(q), 1)))
    assert found.frames.tolist() == np.flatnonzero(depths > 0.02).tolist()
    assert found.depths == pytest.approx(depths[found.frames], abs=1e-6)
    assert (np.abs(found.points[:, 1:]) < 1e-6).all() and (
        np.abs(found.points[:, 0] - 0.2) < 0.1
    ).all()


def test_links_that_overlap_at_rest_do_not_collide():
    body = puncher(0.2)
    q = np.array([[0.0, 0.0], [0.0, -0.2], [1.0, -0.1]])
    assert not len(find_collisions(body, q, np.tile(body.root_pose, (3, 1))).depths)


def test_mujoco_is_asked_only_about_frames_in_which_boxes_overlap(
    monkeypatch, examples
):
    body = bm.load_body(examples / "biped.wrl")
    rng = np.random.default_rng(0)
    q = (
        rng.uniform(-1.5, 1.5, (60, body.num_joints))
        * np.linspace(0.0, 1.0, 60)[:, None]
    )
    root = np.column_stack(
        [rng.normal(size=(60, 2)), rng.uniform(0.5, 1.0, 60), rng.normal(size=(60, 4))]
    )
    found = find_collisions(body, q, root, floor=0.1)
    asked = []
    monkeypatch.setattr(
        collisions, "_contacts", lambda *args: asked.append(args[3]) or np.zeros((0, 7))
    )
    # The frames are the same for NumPy and for the compiled code.
    monkeypatch.setattr(compiling._Kernel, "is_compiled", False)
    for largest_small in (10**9, -1):
        monkeypatch.setattr(compiling, "MAX_NUMPY_WORK", largest_small)
        monkeypatch.setattr(compiling, "MAX_NUMPY_WORK_IN_ALL", largest_small)
        find_collisions(body, q, root, floor=0.1)
        bm.check(examples / "biped_walk.seq", body=body)
    assert (
        len(asked) == 2
        and asked[0].size < 60
        and asked[0].tolist() == asked[1].tolist()
    )
    monkeypatch.undo()
    # Without boxes the same is found.
    monkeypatch.setattr(collisions, "MAX_LINKS", 0)
    monkeypatch.setattr(collisions, "_boxes", {})
    every = find_collisions(body, q, root, floor=0.1)
    assert len(found.frames) > 20 and all(
        map(np.array_equal, vars(found).values(), vars(every).values())
    )


def dipping(depth: float) -> tuple[bm.Motion, bm.Body]:
    """Return a body that stands, with a ball at the end of an arm that is `depth` below the floor for a fifth of a second."""
    body = walker(arm=0.1)
    place = np.eye(4)
    place[0, 3] = REACH
    hand = replace(
        body.links[5].segments[0],
        visuals=(bm.shapes.Shape(bm.shapes.Sphere(RADIUS), place),),
    )
    body = replace(
        body, links=(*body.links[:5], replace(body.links[5], segments=(hand,)))
    )
    times = frames(100, 4.0)
    down = np.arcsin((0.8 + depth - RADIUS) / REACH)
    near = np.clip(1.0 - np.abs(times - 2.0) / 0.8, 0.0, 1.0)
    return moving(times, arm=down * np.sin(0.5 * np.pi * near) ** 2), body


@pytest.mark.parametrize(
    ("depth", "severity"), [(0.015, None), (0.03, "warning"), (0.12, "error")]
)
def test_a_hand_below_the_floor(depth, severity):
    motion, body = dipping(depth)
    found = [
        one for one in bm.check(motion, body=body).problems if one.rule == "MOT312"
    ]
    assert [one.severity for one in found] == ([severity] if severity else [])
    if found:
        assert (
            "'ARM'" in found[0].message and f"{depth * 1000:.3g} mm" in found[0].message
        )
        assert found[0].data["time"] == pytest.approx(2.0, abs=0.02)


def test_the_floor_is_where_it_is_put():
    body = puncher()
    root = np.array([[0.0, 0, 1.17, 1, 0, 0, 0]])
    free = replace(
        body,
        links=(
            replace(body.links[0], joint=bm.Joint(name="TRUNK", type="free")),
            *body.links[1:],
        ),
    )
    found = find_collisions(free, np.zeros((1, 2)), root, floor=1.0)
    assert found.links.tolist() == [[FLOOR, 0]] and found.depths == pytest.approx(
        0.03, abs=1e-6
    )


@pytest.mark.parametrize("pattern", [1, 2, 3])
def test_the_walks_of_sr1_do_not_collide(pattern):
    if not SR1.exists():
        missing("SR1")
    body, motion = bm.load_body(SR1), bm.load_motion(CORPUS / SAMPLES.format(pattern))
    q = body.joint_values(motion.joint_displacement)
    assert not len(
        find_collisions(body, q, np.tile(body.root_pose, (len(q), 1))).depths
    )
    # An arm through the trunk is found in the same walk.
    names = [joint.name for joint in body.joints]
    q = np.array(q)
    arm = [
        names.index(f"RARM_{name}") for name in ("SHOULDER_P", "SHOULDER_Y", "ELBOW")
    ]
    inside = (
        smoothly(np.arange(len(q)) / 500, 1.0, 2.0)[:, None]
        - smoothly(np.arange(len(q)) / 500, 2.2, 3.2)[:, None]
    )
    q[:, arm] += inside * (np.array([0.3, 1.0, -1.0]) - q[:, arm])
    found = [
        one
        for one in bm.check(bm.Motion.from_joints(q, 500), body=body).problems
        if one.rule == "MOT341"
    ]
    assert (
        found[0].severity == "error"
        and "RARM_WRIST_R" in found[0].message
        and 1.5 <= found[0].data["time"] < 2.7
    )
