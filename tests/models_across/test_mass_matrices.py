"""Mass matrices of the sample robots: MuJoCo with our MJCF, and Pinocchio with a model built joint by joint from our Body."""

from __future__ import annotations

import numpy as np
import pytest
from jointed_models import (
    GOLDENS,
    configurations,
    joint_places,
    mujoco_model_of,
    pinocchio_model_of,
    repaired_body_of,
    set_configuration,
    short,
)

from bodymotion.geometry import rotations

mujoco = pytest.importorskip("mujoco")
pin = pytest.importorskip("pinocchio")


@pytest.fixture(autouse=True)
def _samples(corpus):
    """Skip, or fail where CI=true, without the samples."""


@pytest.mark.parametrize("path", GOLDENS, ids=short)
def test_mass_matrices(path, folder):
    """Of a free root, MuJoCo has the linear velocity in the world and the angular one in the root, Pinocchio has both in the root."""
    body, (model, _) = repaired_body_of(path), mujoco_model_of(path, folder)
    peer, joints = pinocchio_model_of(body)
    data, peer_data = mujoco.MjData(model), peer.createData()
    places = joint_places(body, model)
    free = body.links[0].joint.type == "free"
    columns = sorted(places)
    theirs = [*range(6 * free), *(places[column].velocity for column in columns)]
    ours = [*range(6 * free), *(peer.idx_vs[joints[column]] for column in columns)]
    assert peer.nv == len(ours)
    if not ours:
        return
    for q, root in zip(*configurations(body, 10), strict=True):
        set_configuration(body, places, data, q, root)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_makeM(model, data)
        full = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, full)
        frame = np.eye(len(theirs))
        if free:
            frame[:3, :3] = rotations.to_matrix(root[3:])
        mapped = frame.T @ full[np.ix_(theirs, theirs)] @ frame
        position = pin.neutral(peer)
        if free:
            position[:7] = [*root[:3], *root[4:], root[3]]
        for column, number in joints.items():
            position[peer.idx_qs[number]] = q[column]
        matrix = pin.crba(peer, peer_data, position)
        matrix = (np.triu(matrix) + np.triu(matrix, 1).T)[np.ix_(ours, ours)]
        assert np.abs(mapped - matrix).max() < 1e-6 * np.abs(matrix).max()
