"""Each rule about bodies and motions: what breaks it is told, and by that rule alone; the sound robot breaks none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sound_robot import (
    robot,
    walk,
    with_all_links,
    with_device,
    with_extra,
    with_joint,
    with_link,
    with_segment,
)

import bodymotion as bm
from bodymotion.checks import rules
from bodymotion.diagnostics.catalogue import catalogue, retired, rules_of
from bodymotion.motion import MultiSE3Seq

NAN = float("nan")
BODY = robot()
FAR = [0.3, 0, 0, 2, 0, 0, 0]
THIN = np.diag([0.01, 0.01, 0.5])


CASES: dict[str, tuple[bm.Body, ...]] = {
    "BODY105": (
        with_link(BODY, 2, offset=[NAN, 0, 0, 1, 0, 0, 0]),
        with_joint(BODY, 2, lower=NAN),
        with_joint(BODY, 2, rotor_inertia=float("inf")),
        with_joint(BODY, 2, axis=[NAN, 0, 1]),
        with_segment(BODY, 2, mass=NAN),
        with_segment(BODY, 2, inertia=np.full((3, 3), NAN)),
        with_segment(
            BODY, 2, visuals=(bm.shapes.Shape(bm.shapes.Box((1.0, NAN, 1.0))),)
        ),
        with_device(BODY, 0, pose=[0, NAN, 0, 1, 0, 0, 0]),
        with_extra(BODY, positions=[[NAN, 0, 0], [0, 0, 0]]),
        replace(BODY, root_pose=[0, 0, NAN, 1, 0, 0, 0]),
    ),
    "BODY106": (
        with_link(BODY, 2, offset=FAR),
        with_device(BODY, 0, pose=[0, 0, 0, 0.9, 0, 0, 0]),
    ),
    "BODY107": (
        with_link(BODY, 1, offset=[0.3, 0, 0, 0, 0, 0, 0]),
        with_device(BODY, 0, pose=np.zeros(7)),
    ),
    "BODY110": (
        with_joint(BODY, 2, axis=[0, 0, 2]),
        with_extra(BODY, type="xy", axis=[2, 0, 0]),
    ),
    "BODY111": (
        with_joint(BODY, 2, axis=[0, 0, 0]),
        with_extra(BODY, type="xy", axis=[0, 0, 0]),
    ),
    "BODY112": (
        with_joint(BODY, 2, lower=1.0, upper=-1.0),
        with_joint(BODY, 2, velocity_lower=3, velocity_upper=-3),
    ),
    "BODY114": (
        with_joint(BODY, 2, velocity_lower=1.0),
        with_joint(BODY, 2, velocity_lower=0, velocity_upper=0),
    ),
    "BODY121": (
        with_joint(BODY, 2, gear_ratio=0.0),
        with_joint(BODY, 2, gear_efficiency=1.5),
        with_joint(BODY, 2, rotor_inertia=-1.0),
        with_joint(BODY, 2, torque_const=-1.0),
        with_joint(BODY, 2, rotor_resistor=-1.0),
        with_joint(BODY, 2, encoder_pulse=-1.0),
        with_joint(BODY, 2, extra={"climit": np.array([-10.0])}),
    ),
    "BODY133": (
        with_segment(BODY, 2, inertia=THIN),
        with_segment(BODY, 2, inertia=np.diag([-0.01, 0.01, 0.01])),
    ),
    "BODY151": (
        with_device(BODY, 0, id=2),
        replace(BODY, devices=(*BODY.devices, bm.model.Gyro(name="g", id=0, link=2))),
    ),
    "BODY152": (
        with_device(BODY, 1, field_of_view=0.0),
        with_device(BODY, 1, front_clip_distance=20.0),
        with_device(BODY, 1, width=0),
    ),
    "BODY153": (
        with_device(BODY, 2, scan_step=0.0),
        with_device(BODY, 2, max_distance=-1.0),
    ),
    "BODY160": (with_extra(BODY, links=(2, 9)), with_extra(BODY, links=(2, 2))),
    "BODY161": (
        with_extra(BODY, positions=[[0, 0, 0], [0.4, 0, 0]]),
        with_extra(BODY, type="z", axis=[1, 0, 0], positions=[[0, 0, 0], [0.4, 0, 0]]),
        with_extra(BODY, type="xy", axis=[0, 1, 0], positions=[[0, 0, 0], [0.4, 0, 0]]),
    ),
}
ALSO = {
    "BODY105": {"BODY143"},
    "BODY107": {"BODY161"},
}
"""Rules that the same fault may break, too."""


def codes(report: bm.Findings) -> set[str]:
    return {problem.rule for problem in report.problems}


def test_nothing_is_wrong_with_a_sound_robot():
    assert bm.check(BODY) == bm.Findings()


@pytest.mark.parametrize("code", CASES)
def test_each_rule_has_what_breaks_it(code):
    for body in CASES[code]:
        found = codes(bm.check(body))
        assert code in found
        assert found <= {code} | ALSO.get(code, set())


def test_a_loop_may_be_open_in_the_directions_that_it_leaves_free():
    apart = [[0, 0, 0], [0.4, 0, 0]]
    assert bm.check(with_extra(BODY, type="z", axis=[0, 0, 1], positions=apart)).ok
    for kind in ("xy", "piston"):
        assert (
            bm.check(with_extra(BODY, type=kind, axis=[1, 0, 0], positions=apart))
            == bm.Findings()
        )


def test_the_axes_of_a_hinge_stay_together():
    body = with_extra(BODY, type="hinge", axis=[0, 0, 1])
    assert bm.check(body) == bm.Findings()
    half = np.sqrt(0.5)
    turned = with_link(body, 3, offset=[0.3, 0, 0, half, half, 0, 0])
    (problem,) = bm.check(turned).problems
    assert problem.rule == "BODY161" and "90°" in problem.message


def test_scenery_may_be_large_and_without_mass():
    ground = bm.Link(
        name="ground",
        segments=(
            bm.Segment(visuals=(bm.shapes.Shape(bm.shapes.Box((900.0, 900.0, 0.1))),)),
        ),
    )
    assert bm.check(bm.Body(name="world", links=(ground,))) == bm.Findings()


def poses(motion: bm.Motion, change) -> bm.Motion:
    values = np.array(motion.link_position.values)
    change(values)
    changed = replace(motion.link_position, values=values)
    return motion.replaced(
        *(changed if isinstance(c, MultiSE3Seq) else c for c in motion.components)
    )


def joints(motion: bm.Motion, change) -> bm.Motion:
    values = np.array(motion.joint_displacement.values)
    change(values)
    changed = replace(motion.joint_displacement, values=values)
    return motion.replaced(
        *(changed if c is motion.joint_displacement else c for c in motion.components)
    )


def put(index, value):
    return lambda values: values.__setitem__(index, value)


WALK = walk(BODY)
MOTIONS = {
    "MOT101": joints(WALK, put((3, 1), NAN)),
    "MOT102": poses(WALK, put((3, 0, 3), 1.05)),
    "MOT103": poses(WALK, put((3, 0, slice(3, None)), 0.0)),
    "MOT104": poses(WALK, put((3, 0, 3), 45.0)),
    "MOT211": bm.Motion.from_joints(
        np.zeros((4, 3)), times=1.7e18 + 1e7 * np.arange(4)
    ),
}
ON_BODIES = {
    "MOT201": WALK.replaced(
        WALK.link_position,
        bm.Motion.from_joints(np.zeros((10, 2)), 10).joint_displacement,
    ),
    "MOT202": bm.Motion.from_joints(np.zeros((10, 5)), 10),
    "MOT203": bm.Motion.from_link_poses(
        np.tile([0.0, 0, 0, 1, 0, 0, 0], (10, 2, 1)), 10
    ),
    "MOT212": WALK.replaced(
        bm.Motion.from_link_poses(
            WALK.link_position.values[:, [0, 0]], 10
        ).link_position,
        WALK.joint_displacement,
    ),
    "MOT204": joints(WALK, put((slice(4, 7), 1), np.array([2.0, 2.1, 1.9]))),
    "MOT205": joints(WALK, put((5, 2), -0.6)),
    "MOT206": poses(with_all_links(WALK, BODY), put((7, 3, 0), 9.0)),
    "MOT207": bm.Motion(),
}


def test_nothing_is_wrong_with_a_sound_walk():
    for motion in (WALK, with_all_links(WALK, BODY)):
        assert bm.check(motion) == bm.check(motion, body=BODY) == bm.Findings()


@pytest.mark.parametrize("code", MOTIONS)
def test_each_rule_of_a_motion(code):
    assert codes(bm.check(MOTIONS[code])) == {code}


@pytest.mark.parametrize("code", ON_BODIES)
def test_each_rule_of_a_motion_on_a_body(code):
    assert code in (found := codes(bm.check(ON_BODIES[code], body=BODY)))
    assert found <= {code, "MOT205"}
    assert not bm.check(ON_BODIES[code]).problems


def test_the_worst_frame_is_named():
    (problem,) = (
        p
        for p in bm.check(ON_BODIES["MOT204"], body=BODY).problems
        if p.rule == "MOT204"
    )
    assert "'HAND'" in problem.message and "2.1 rad" in problem.message
    assert problem.location.inside == "components[1].frames[5]"


def test_joints_go_by_name():
    """Columns in another order, with names: the limits are those of the joints named."""
    names = ["LEG", "ARM", "HAND"]
    q = np.zeros((10, 3))
    q[:, 0] = 5.0
    report = bm.check(bm.Motion.from_joints(q, 10, joint_names=names), body=BODY)
    assert [p.rule for p in report.problems] == ["MOT204"]
    assert "'LEG'" in report.problems[0].message


def test_one_side_without_velocity_limit():
    body = with_joint(BODY, 1, velocity_lower=-np.inf)
    q = np.zeros((3, 3))
    q[1, 0] = -1.0
    report = bm.check(bm.Motion.from_joints(q, 10), body=body)
    assert [p.rule for p in report.problems] == ["MOT205"]
    assert report.problems[0].location.inside == "components[0].frames[1]"
    assert "10 rad/s" in report.problems[0].message


def test_all_rules_are_in_the_catalogue():
    known = catalogue()
    assert list(known) == sorted(known)
    assert {rule.code for rule in rules_of(rules)} <= set(known)
    assert {"SEQ111", "BODY118", "VRML102", "FMT001"} <= set(known)
    for code, stays in retired().items():
        assert code not in known and stays in known
