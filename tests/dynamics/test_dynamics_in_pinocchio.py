"""Dynamics of all jointed sample robots, their roots set free, against Pinocchio in a model that is built joint by joint from our Body."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import bodymotion as bm
from bodymotion.geometry import poses, rotations

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "models_across"))
from jointed_models import GOLDENS, body_of, pinocchio_model_of, short

pin = pytest.importorskip("pinocchio")

FRAMES = 5


@pytest.fixture(autouse=True)
def _samples(corpus):
    """Skip, or fail where CI=true, without the samples."""


class Case:
    """A robot in random frames, and what Pinocchio needs to say the same of it."""

    def __init__(self, path: Path) -> None:
        body = body_of(path)
        root = replace(body.links[0], joint=replace(body.links[0].joint, type="free"))
        self.body = replace(body, links=(root, *body.links[1:]))
        self.model, self.joints = pinocchio_model_of(self.body)
        self.model.gravity.linear = np.array([0.0, 0.0, -9.80665])
        self.data = self.model.createData()
        rng = np.random.default_rng(len(body.links))
        count = self.body.num_joints
        self.q = rng.uniform(-2, 2, (FRAMES, count))
        self.dq, self.ddq = rng.normal(size=(2, FRAMES, count))
        self.velocity, self.acceleration = rng.normal(size=(2, FRAMES, 6))
        turns = rotations.normalized(rng.normal(size=(FRAMES, 4)))
        self.root = poses.from_parts(rng.normal(size=(FRAMES, 3)), turns)
        self.link_poses = self.body.forward_kinematics(self.q, self.root)
        self.columns = [*range(6), *(6 + column for column in self.joints)]
        self.places = [
            *range(6),
            *(self.model.idx_vs[number] for number in self.joints.values()),
        ]

    def frame(self, t: int) -> np.ndarray:
        """Return what takes Pinocchio's speeds, of the root in its own frame, to ours (in order of `columns`)."""
        whole = np.eye(len(self.columns))
        turn = rotations.to_matrix(self.root[t, 3:])
        whole[:3, :3] = whole[3:6, 3:6] = turn
        return whole

    def state(self, t: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        x, v, a = (
            pin.neutral(self.model),
            np.zeros(self.model.nv),
            np.zeros(self.model.nv),
        )
        x[:7] = [*self.root[t, :3], *self.root[t, 4:], self.root[t, 3]]
        turned = self.frame(t)[:6, :6].T
        linear, angular = self.velocity[t, :3], self.velocity[t, 3:]
        v[:6] = turned @ self.velocity[t]
        a[:6] = turned @ (self.acceleration[t] - [*np.cross(angular, linear), 0, 0, 0])
        for column, number in self.joints.items():
            x[self.model.idx_qs[number]] = self.q[t, column]
            v[self.model.idx_vs[number]] = self.dq[t, column]
            a[self.model.idx_vs[number]] = self.ddq[t, column]
        return x, v, a


def check(ours, theirs, what: str) -> None:
    """Within 1e-9 of the largest value of the array."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape
    if theirs.size:
        assert np.abs(ours - theirs).max() <= 1e-9 * np.abs(theirs).max() + 1e-300, what


@pytest.mark.parametrize("path", GOLDENS, ids=short)
def test_forces_and_mass_matrices(path):
    case = Case(path)
    moving = case.dq, case.ddq, case.velocity, case.acceleration
    ours = bm.dynamics.inverse_dynamics(
        case.body, case.link_poses, *moving, wrenches=True
    )
    together = np.concatenate([ours.root_wrench, ours.torques], axis=1)
    matrices = bm.dynamics.mass_matrix(case.body, case.link_poses)
    forces, masses, theirs = [], [], ([], [])
    for t in range(FRAMES):
        x, v, a = case.state(t)
        frame = case.frame(t)
        forces.append(frame.T @ together[t, case.columns])
        theirs[0].append(pin.rnea(case.model, case.data, x, v, a)[case.places])
        matrix = pin.crba(case.model, case.data, x)
        matrix = np.triu(matrix) + np.triu(matrix, 1).T
        masses.append(frame.T @ matrices[t][np.ix_(case.columns, case.columns)] @ frame)
        theirs[1].append(matrix[np.ix_(case.places, case.places)])
    check(forces, theirs[0], "inverse dynamics")
    check(masses, theirs[1], "mass matrix")
    np.testing.assert_array_equal(ours.link_wrenches[:, 0], ours.root_wrench)


@pytest.mark.parametrize("path", GOLDENS, ids=short)
def test_momentum_energy_and_centre_of_mass(path):
    case = Case(path)
    velocities = bm.dynamics.link_velocities(
        case.body, case.link_poses, case.dq, case.velocity
    )
    ours = bm.dynamics.momentum(case.body, case.link_poses, velocities)
    potential = bm.dynamics.potential_energy(case.body, case.link_poses)
    moving = case.dq, case.ddq, case.velocity, case.acceleration
    force = bm.dynamics.inverse_dynamics(
        case.body, case.link_poses, *moving
    ).root_wrench[:, :3]
    names = (
        "linear",
        "angular",
        "kinetic",
        "potential",
        "center",
        "center velocity",
        "center acceleration",
    )
    theirs = {name: [] for name in names}
    for t in range(FRAMES):
        x, v, a = case.state(t)
        momentum = pin.computeCentroidalMomentum(case.model, case.data, x, v)
        theirs["linear"].append(momentum.linear.copy())
        theirs["angular"].append(momentum.angular.copy())
        # Link by link: computeKineticEnergy of Pinocchio 4.1 is not ½·vᵀ·M·v where slides have rotors.
        links = zip(case.model.inertias, case.data.v, strict=True)
        theirs["kinetic"].append(
            sum(0.5 * inertia.vtiv(moving) for inertia, moving in links)
        )
        theirs["potential"].append(pin.computePotentialEnergy(case.model, case.data, x))
        pin.centerOfMass(case.model, case.data, x, v, a)
        for name, value in zip(
            names[4:],
            (case.data.com[0], case.data.vcom[0], case.data.acom[0]),
            strict=True,
        ):
            theirs[name].append(value.copy())
    check(ours.linear, theirs["linear"], "linear momentum")
    check(ours.angular, theirs["angular"], "angular momentum")
    check(ours.kinetic_energy, theirs["kinetic"], "kinetic energy")
    check(potential, theirs["potential"], "potential energy")
    if case.body.mass:
        check(ours.center_of_mass, theirs["center"], "centre of mass")
        check(ours.center_of_mass_velocity, theirs["center velocity"], "its velocity")
        check(
            force / case.body.mass - [0, 0, 9.80665],
            theirs["center acceleration"],
            "its acceleration",
        )


@pytest.mark.parametrize("path", GOLDENS, ids=short)
def test_jacobians(path):
    """Of every link's origin, and the velocities and accelerations of all links with them."""
    case = Case(path)
    ours = bm.dynamics.jacobians(case.body, case.link_poses)
    moving = case.dq, case.ddq, case.velocity, case.acceleration
    velocities, accelerations = bm.dynamics.link_accelerations(
        case.body, case.link_poses, *moving
    )
    columns = {index: column for column, index in enumerate(case.body.joint_links)}
    home = {}
    for link in case.body.links:
        own = case.joints.get(columns.get(link.index, -1), None)
        home[link.index] = 1 if link.parent < 0 else own or home[link.parent]
    for t in range(FRAMES):
        x, v, a = case.state(t)
        pin.forwardKinematics(case.model, case.data, x, v, a)
        pin.computeJointJacobians(case.model, case.data, x)
        frame, mine, theirs, speeds, gains = case.frame(t), [], [], [], []
        for index, number in home.items():
            arm = case.link_poses[t, index, :3] - case.data.oMi[number].translation
            aligned = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
            found = pin.getJointJacobian(case.model, case.data, number, aligned)
            found[:3] += np.cross(found[3:].T, arm).T
            theirs.append(found[:, case.places])
            mine.append(ours[t, index][:, case.columns] @ frame)
            speed = pin.getVelocity(case.model, case.data, number, aligned)
            gain = pin.getClassicalAcceleration(case.model, case.data, number, aligned)
            whirl = np.cross(speed.angular, np.cross(speed.angular, arm))
            speeds.append(
                [*(speed.linear + np.cross(speed.angular, arm)), *speed.angular]
            )
            gains.append(
                [*(gain.linear + np.cross(gain.angular, arm) + whirl), *gain.angular]
            )
        check(mine, theirs, "Jacobians")
        check(velocities[t], speeds, "velocities")
        check(accelerations[t], gains, "accelerations")
