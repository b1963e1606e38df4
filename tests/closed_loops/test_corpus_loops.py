"""The loops of real models: they close and stay closed between singular poses, and at those it is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bodymotion as bm
from bodymotion.model.closed_loops import Loops

MODELS = Path("choreonoid+choreonoid/share/model")
CLOSED_LINK = {
    "piston": Path("wrl") / MODELS / "misc/ClosedLinkSample.wrl",
    "xy": Path("wrl/fkanehiro+openhrp3/sample/model/closed-link-sample.wrl"),
    "hinge": Path("body") / MODELS / "misc/ClosedLinkSample.body",
}
"""One and the same parallelogram: base and coupler 0.2 m, cranks 0.1 m; at J0 = ±π/2 all four lie on one line."""
OTHERS = {
    "4wheelsVehicle.wrl": Path("wrl") / MODELS / "misc/4wheelsVehicle.wrl",
    "FourWheelCar.body": Path("body") / MODELS / "misc/FourWheelCar.body",
    "2F-85.body": Path("body") / MODELS / "Robotiq/2F-85.body",
    "DoubleArmV7-Upper.body": Path("body")
    / MODELS
    / "DoubleArmV7/DoubleArmV7-Upper.body",
}


@pytest.mark.parametrize("kind", CLOSED_LINK)
def test_a_parallelogram_between_its_singular_poses(corpus, kind) -> None:
    body = bm.load(corpus / CLOSED_LINK[kind])
    assert [joint.type for joint in body.extra_joints] == [kind]
    theta = np.concatenate([np.linspace(0, 1.56, 300), np.linspace(1.56, -1.56, 600)])
    q = np.zeros((len(theta), 3))
    q[:, 0] = theta
    closed = bm.model.close_loops(body, q)
    assert closed.driving == (0,)
    np.testing.assert_allclose(
        closed.q, np.stack([theta, -theta, theta], axis=1), atol=1e-9
    )
    assert not closed.singular.any()
    # The .body file keeps the points in planes 0.04 m apart, which no joint can help.
    np.testing.assert_allclose(
        closed.residual, 0.04 if kind == "hinge" else 0.0, atol=1e-9
    )
    assert closed.tilt.max() < 1e-9


@pytest.mark.parametrize("kind", CLOSED_LINK)
def test_a_parallelogram_at_its_singular_poses(corpus, kind) -> None:
    body = bm.load(corpus / CLOSED_LINK[kind])
    for theta in (np.pi / 2, -np.pi / 2):
        at = bm.model.close_loops(body, [theta, -theta, theta])
        assert at.singular
        assert at.margin < 1e-9
        led = bm.model.close_loops(body, [theta, 0, 0], start=np.zeros(3))
        assert led.singular
        np.testing.assert_allclose(led.q, [theta, -theta, theta], atol=1e-6)
    turned = np.zeros((1000, 3))
    turned[:, 0] = np.linspace(0, 4 * np.pi, 1000)
    closed = bm.model.close_loops(body, turned)
    np.testing.assert_allclose(closed.q[:, 2], turned[:, 0], atol=1e-6)
    passed = np.searchsorted(turned[:, 0], np.pi / 2 + np.pi * np.arange(4))
    assert closed.singular[passed].all()
    assert closed.singular.sum() <= 8


@pytest.mark.parametrize("name", OTHERS)
def test_a_mechanism_moves_without_jumps(corpus, name) -> None:
    body = bm.load(corpus / OTHERS[name])
    loops = Loops(body)
    driving = loops.driving()
    q = np.zeros((400, body.num_joints))
    q[:, list(driving)] = 0.35 * (1 - np.cos(np.linspace(0, 2 * np.pi, 400)))[:, None]
    closed = loops.close(q)
    assert not closed.singular.any()
    assert np.abs(np.diff(closed.q, axis=0)).max() < 0.05
    np.testing.assert_allclose(closed.q[-1], closed.q[0], atol=1e-9)
    # Two of the arm's points lie in planes 6.5 mm apart; the residual is that and no more.
    expected = 0.0065 if name.startswith("DoubleArm") else 0.0
    np.testing.assert_allclose(closed.residual, expected, atol=1e-9)
    assert closed.tilt.max() < 1e-9


def test_the_vehicle_steers_both_wheels_by_the_parallelogram(corpus) -> None:
    body = bm.load(corpus / OTHERS["4wheelsVehicle.wrl"])
    names = [body.links[i].name for i in body.joint_links]
    q = np.zeros((50, body.num_joints))
    q[:, names.index("STEERING_RIGHT")] = np.linspace(-0.6, 0.6, 50)
    closed = bm.model.close_loops(body, q)
    np.testing.assert_allclose(
        closed.q[:, names.index("STEERING_LEFT")],
        q[:, names.index("STEERING_RIGHT")],
        atol=1e-9,
    )


def test_the_example_robot_walks_with_closed_hands(examples) -> None:
    body, motion = bm.load(examples / "biped.wrl"), bm.load(examples / "biped_walk.seq")
    q = body.joint_values(motion.joint_displacement)
    closed = bm.model.close_loops(body, q)
    assert closed.residual.max() < 1e-9
    assert not closed.singular.any()
    np.testing.assert_allclose(closed.q, q, atol=1e-9)
    assert [body.joints[column].name for column in closed.driving] == [
        "R_FINGER_CRANK",
        "L_FINGER_CRANK",
    ]
