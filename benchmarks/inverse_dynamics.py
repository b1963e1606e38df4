"""Inverse dynamics of 7146 frames: one call here, a Python loop over Pinocchio's rnea there.

The body is SR1 (30 links), moving at random. Ours gives the torques and the root's force and moment; that it works out the poses of all
links first is part of what is timed. Pinocchio's model is built from our Body; its results are not read out. Both get velocities and
accelerations.
"""

from __future__ import annotations

import time

import numpy as np

from benchmarks.kinematics import WARM_UP
from bodymotion.dynamics import inverse_dynamics, pose_derivatives
from bodymotion.dynamics.differentiation import derivatives
from bodymotion.geometry import poses, rotations
from bodymotion.model.body import Body

FRAMES = 7146
RATE = 100.0


def moving(body: Body) -> tuple[np.ndarray, np.ndarray]:
    """Return joint values (T, J) and root poses (T, 7) that go to and fro, each at its own pace."""
    rng = np.random.default_rng(2)
    t = np.arange(FRAMES)[:, None] / RATE
    q = rng.uniform(0.2, 1.0, body.num_joints) * np.sin(
        rng.uniform(1, 6, body.num_joints) * t
    )
    place = 0.1 * np.sin(rng.uniform(1, 4, 3) * t) + [0.0, 0.0, 0.8]
    return q, poses.from_parts(
        place, rotations.from_rpy(0.3 * np.sin(rng.uniform(1, 4, 3) * t))
    )


def peer(body: Body, q, dq, ddq, root, velocity, acceleration):
    """Return Pinocchio's model and the rows (q, v, a) of each frame."""
    import pinocchio as pin

    from benchmarks.kinematics import pinocchio_configurations, pinocchio_model
    from bodymotion.dynamics.trees import rotor_inertias

    model, columns, parents, placements = pinocchio_model(body)
    armature = model.armature.copy()
    for column, index in enumerate(body.joint_links):
        if column in columns:
            armature[model.idx_vs[parents[index]]] = rotor_inertias(body)[column]
    model.armature = armature
    for link in body.links:
        half = 0.5 * (link.inertia + link.inertia.T)
        inertia = pin.Inertia(link.mass, np.array(link.center_of_mass), half)
        model.appendBodyToJoint(parents[link.index], inertia, placements[link.index])
    model.gravity.linear = np.array([0.0, 0.0, -9.80665])
    turn = np.swapaxes(rotations.to_matrix(root[:, 3:]), 1, 2)
    v, a = np.zeros((2, len(q), model.nv))
    v[:, :3], v[:, 3:6] = (
        (turn @ part[..., None])[..., 0] for part in (velocity[:, :3], velocity[:, 3:])
    )
    bent = acceleration[:, :3] - np.cross(velocity[:, 3:], velocity[:, :3])
    a[:, :3], a[:, 3:6] = (
        (turn @ part[..., None])[..., 0] for part in (bent, acceleration[:, 3:])
    )
    places = {column: place - 1 for column, place in columns.items()}
    for column, place in places.items():
        v[:, place], a[:, place] = dq[:, column], ddq[:, column]
    rows = pinocchio_configurations(body, columns, model.nq, q, root)
    return model, places, list(zip(rows, v, a, strict=True))


def main(repeats: int = 7) -> list[tuple[str, float, float, float, str]]:
    """Print one row; return (name, ours [s], peer [s], ratio peer/ours, target)."""
    import pinocchio as pin

    import bodymotion as bm
    from benchmarks.samples import sample

    body = bm.load(sample("wrl/choreonoid+choreonoid/share/model/SR1/SR1.wrl"))
    q, root = moving(body)
    times = np.arange(FRAMES) / RATE
    dq, ddq = derivatives(q, times)
    velocity, acceleration = pose_derivatives(root, times)
    model, places, rows = peer(body, q, dq, ddq, root, velocity, acceleration)
    data = model.createData()

    def ours():
        link_poses = body.forward_kinematics(q, root)
        return inverse_dynamics(body, link_poses, dq, ddq, velocity, acceleration)

    for _ in range(WARM_UP):
        found = ours()
    mine, theirs = [], []
    for _ in range(repeats):
        start = time.perf_counter()
        found = ours()
        mine.append(time.perf_counter() - start)
        start = time.perf_counter()
        for x, v, a in rows:
            pin.rnea(model, data, x, v, a)
        theirs.append(time.perf_counter() - start)
    torques = np.array([data.tau[place] for place in places.values()])
    apart = (
        np.abs(found.torques[-1, list(places)] - torques).max() / np.abs(torques).max()
    )
    a, b = float(np.median(mine)), float(np.median(theirs))
    name = (
        "inverse dynamics, SR1 over 7146 frames, against a loop over Pinocchio's rnea"
    )
    print(
        f"{name}: ours {a * 1e3:.2f} ms, Pinocchio {b * 1e3:.2f} ms, ratio {b / a:.2f} (target >= 4)"
    )
    print(
        f"  {FRAMES} frames, {len(body.links)} links, {a / FRAMES / len(body.links) * 1e9:.1f} ns a link; apart {apart:.1e}"
    )
    return [(name, a, b, b / a, ">= 4")]


if __name__ == "__main__":
    main()
