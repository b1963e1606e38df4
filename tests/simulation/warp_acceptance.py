"""Many simulations together on a device of Warp; its CPU backend computes what MuJoCo does, in single precision: `make accept-gpu`."""

import numpy as np
import pytest
from tests.simulation.test_simulation import pendulum

import bodymotion as bm
from bodymotion.diagnostics import WrongUseError


def test_steps_on_a_device_are_those_of_mujoco():
    """Swinging pendulums, and a biped that starts to walk: joints, root and contact forces agree; shorter motions end at their own end."""
    motions = [
        bm.Motion.from_joints(np.full((20, 1), angle), 100) for angle in (0.1, -0.4)
    ] + [bm.Motion.from_joints(np.full((12, 1), 0.3), 100)]
    free = {"gains": [[0.0, 0.0]]}
    for found, motion in zip(
        bm.simulation.simulate_many(pendulum(), motions, device="cpu", **free),
        motions,
        strict=True,
    ):
        alone = bm.simulate(pendulum(), motion, **free)
        assert found.times.tolist() == alone.times.tolist()
        np.testing.assert_allclose(found.q, alone.q, atol=1e-4)
    body, walk = (
        bm.load_body("examples/biped.wrl"),
        bm.load_motion("examples/biped_walk.seq"),
    )
    parts = [walk.between(0, 0.2), walk.between(1, 1.15)]
    for found, motion in zip(
        bm.simulation.simulate_many(body, parts, device="cpu"), parts, strict=True
    ):
        alone = bm.simulate(body, motion)
        np.testing.assert_allclose(found.q, alone.q, atol=1e-3)
        np.testing.assert_allclose(found.root, alone.root, atol=1e-3)
        weight = body.mass * 9.81
        on_floor = [one.contact_forces[..., 2].sum(axis=1) for one in (found, alone)]
        assert np.abs(on_floor[0] - on_floor[1]).mean() < 0.02 * weight


def test_frames_on_a_device_are_those_of_our_own_kinematics(tmp_path):
    """Poses, torques with rotors, and root wrenches of many windows in one call, on MuJoCo's tree and on ours, for a turning root."""
    body = bm.load_body("examples/biped.wrl")
    times, random = np.arange(80) / 100, np.random.default_rng(1)
    root = np.concatenate(
        [
            random.normal(size=(80, 3)).cumsum(axis=0) * 0.01,
            np.ones((80, 1)),
            np.sin(times[:, None] * [1, 2, 3]),
        ],
        axis=1,
    )
    root[:, 3:] /= np.linalg.norm(root[:, 3:], axis=1)[:, None]
    q = 0.3 * np.sin(times[:, None] * random.uniform(1, 5, body.num_joints))
    bm.save(bm.Motion.from_joints(q, 100, root=root), tmp_path / "a.seq")
    tensors = bm.open_collection(tmp_path).to_tensors(37, body=body, test=0, workers=1)
    np.testing.assert_allclose(
        tensors.link_poses(body, device="cpu")[..., :3],
        tensors.link_poses(body)[..., :3],
        atol=1e-6,
    )
    pairs = zip(
        tensors.inverse_dynamics(body, device="cpu"),
        tensors.inverse_dynamics(body),
        strict=True,
    )
    for found, wanted in pairs:
        np.testing.assert_allclose(found, wanted, atol=3e-6 * np.abs(wanted).max())


def test_what_a_device_cannot_do_is_refused():
    with pytest.raises(WrongUseError, match="until_fall"):
        bm.simulation.simulate_many(
            pendulum(),
            [bm.Motion.from_joints(np.zeros((3, 1)), 100)],
            device="cpu",
            until_fall=True,
        )
