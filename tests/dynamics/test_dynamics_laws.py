"""What holds for every body and every motion: energy, momentum, and the ways in which quantities follow from one another."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import bodymotion as bm
from bodymotion.geometry import poses, rotations
from sample_files import tries
from strategies_bodies import bodies

STEP = 1e-4


class Moving:
    """A body in one random state: all of q, u = (v₀, ω₀, q̇) and u̇."""

    def __init__(self, body: bm.Body, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.body, count = body, body.num_joints
        self.q, self.dq, self.ddq = rng.normal(size=(3, count))
        self.velocity, self.acceleration = rng.normal(size=(2, 6))
        self.root = poses.from_parts(
            rng.normal(size=3), rotations.normalized(rng.normal(size=4))
        )
        self.poses = body.forward_kinematics(self.q, self.root)
        self.speeds = np.concatenate([self.velocity, self.dq])
        self.gains = np.concatenate([self.acceleration, self.ddq])

    def forces(self, speeds=None, gains=None, **options) -> np.ndarray:
        u, du = (
            self.speeds if speeds is None else speeds,
            self.gains if gains is None else gains,
        )
        moving = u[6:], du[6:], u[:6], du[:6]
        found = bm.dynamics.inverse_dynamics(self.body, self.poses, *moving, **options)
        return np.concatenate([found.root_wrench, found.torques])

    def energy(self, t: float) -> float:
        """Of the state after `t` seconds of this motion, to the second order in t."""
        u = self.speeds + t * self.gains
        linear, angular = u[:3], u[3:6]
        place = (
            self.root[:3] + t * self.velocity[:3] + 0.5 * t * t * self.acceleration[:3]
        )
        # Middle of the path: exact to the second order.
        half = t * self.velocity[3:] + 0.5 * t * t * self.acceleration[3:]
        turn = rotations.from_axis_angle(half, np.linalg.norm(half))
        root = poses.from_parts(place, rotations.multiply(turn, self.root[3:]))
        q = self.q + t * self.dq + 0.5 * t * t * self.ddq
        link_poses = self.body.forward_kinematics(q, root)
        moving = bm.dynamics.link_velocities(
            self.body, link_poses, u[6:], [*linear, *angular]
        )
        kinetic = bm.dynamics.momentum(self.body, link_poses, moving).kinetic_energy
        rotors = bm.dynamics.rotor_energy(self.body, u[6:])
        return float(
            kinetic + rotors + bm.dynamics.potential_energy(self.body, link_poses)
        )


seeds = st.integers(0, 9999)


@settings(max_examples=tries(30))
@given(body=bodies(), seed=seeds)
def test_forces_are_linear_in_accelerations(body, seed):
    """M·u̇ + the forces without acceleration = the forces; and gravity is an acceleration of the root."""
    case = Moving(body, seed)
    matrix = bm.dynamics.mass_matrix(body, case.poses)
    np.testing.assert_allclose(
        matrix, matrix.T, atol=1e-12 * (1 + np.abs(matrix).max())
    )
    forces, still = case.forces(), case.forces(gains=0 * case.gains)
    size = 1e-9 * (1 + np.abs(forces).max() + np.abs(still).max())
    np.testing.assert_allclose(matrix @ case.gains + still, forces, atol=size)
    lifted = case.gains + np.concatenate(
        [[0, 0, 9.80665], np.zeros(len(case.gains) - 3)]
    )
    np.testing.assert_allclose(
        case.forces(gravity=0.0, gains=lifted), forces, atol=size
    )


@settings(max_examples=tries(30))
@given(body=bodies(), seed=seeds)
def test_jacobians_give_velocities_and_momentum(body, seed):
    case = Moving(body, seed)
    moving = bm.dynamics.link_velocities(body, case.poses, case.dq, case.velocity)
    found = bm.dynamics.jacobians(body, case.poses) @ case.speeds
    np.testing.assert_allclose(found, moving, atol=1e-10 * (1 + np.abs(moving).max()))
    momentum = bm.dynamics.momentum(body, case.poses, moving)
    matrix = bm.dynamics.mass_matrix(body, case.poses, rotors=False)
    size = 1e-10 * (1 + np.abs(matrix).max())
    about_root = momentum.angular + np.cross(
        momentum.center_of_mass - case.root[:3], momentum.linear
    )
    np.testing.assert_allclose(
        (matrix @ case.speeds)[:6], [*momentum.linear, *about_root], atol=100 * size
    )
    np.testing.assert_allclose(
        0.5 * case.speeds @ matrix @ case.speeds,
        momentum.kinetic_energy,
        atol=100 * size,
    )
    np.testing.assert_allclose(
        momentum.center_of_mass, body.center_of_mass(case.poses), atol=1e-12
    )


@settings(max_examples=tries(30))
@given(body=bodies(), seed=seeds)
def test_power_is_the_change_of_energy(body, seed):
    """What root and joints put in, force times speed, is what kinetic and potential energy gain."""
    case = Moving(body, seed)
    power = case.forces() @ case.speeds
    change = (case.energy(STEP) - case.energy(-STEP)) / (2 * STEP)
    size = 1 + abs(power) + abs(case.energy(0.0))
    assert abs(power - change) < 2e-5 * size * (1 + np.abs(case.gains).max()) ** 2


@settings(max_examples=tries(20))
@given(body=bodies(), seed=seeds)
def test_what_falls_freely_feels_nothing(body, seed):
    """Without turning and with stiff joints: no force anywhere, and the momentum grows by the weight."""
    case = Moving(body, seed)
    falling = np.zeros_like(case.speeds)
    falling[:3] = case.velocity[:3]
    gains = np.zeros_like(case.gains)
    gains[2] = -9.80665
    assert np.abs(case.forces(falling, gains)).max(initial=0) <= 1e-12 * (1 + body.mass)


@settings(max_examples=tries(15))
@given(body=bodies(), seed=seeds)
def test_batches_are_frames_side_by_side(body, seed):
    rng = np.random.default_rng(seed)
    q, dq, ddq = rng.normal(size=(3, 2, 3, body.num_joints))
    link_poses = body.forward_kinematics(q)
    whole = bm.dynamics.inverse_dynamics(body, link_poses, dq, ddq, wrenches=True)
    one = bm.dynamics.inverse_dynamics(
        body, link_poses[1, 2], dq[1, 2], ddq[1, 2], wrenches=True
    )
    assert whole.torques.shape == (2, 3, body.num_joints)
    np.testing.assert_allclose(
        whole.torques[1, 2],
        one.torques,
        atol=1e-12 * (1 + np.abs(whole.torques).max(initial=0)),
    )
    np.testing.assert_array_equal(whole.link_wrenches[..., 0, :], whole.root_wrench)
    assert bm.dynamics.mass_matrix(body, link_poses).shape == (
        2,
        3,
        6 + body.num_joints,
        6 + body.num_joints,
    )
    assert bm.dynamics.jacobian(body, link_poses, 0).shape == (
        2,
        3,
        6,
        6 + body.num_joints,
    )
