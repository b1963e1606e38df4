"""Forward kinematics of a whole trajectory: one call here, a Python loop over Pinocchio's forwardKinematics there.

Pinocchio's model is built from our Body, and its results are not read out; ours are all link poses.
"""

from __future__ import annotations

import time

import numpy as np

from bodymotion.geometry import poses, rotations
from bodymotion.model.body import Body

WARM_UP = 20
"""Calls before the first one that counts: a program with much work gets compiled code."""


def pinocchio_model(body: Body):
    """Build Pinocchio's model of a body with a free root; gives it and, for each joint column, its place in Pinocchio's q."""
    import pinocchio as pin

    def se3(pose):
        return pin.SE3(rotations.to_matrix(pose[3:]), np.array(pose[:3]))

    model = pin.Model()
    parents = {
        0: model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root")
    }
    placements = {0: pin.SE3.Identity()}
    columns = {}
    for link in body.links[1:]:
        at = placements[link.parent] * se3(link.offset)
        if link.joint.type in ("rotate", "slide") and link.index in body.joint_links:
            kind = (
                pin.JointModelRevoluteUnaligned
                if link.joint.type == "rotate"
                else pin.JointModelPrismaticUnaligned
            )
            parents[link.index] = model.addJoint(
                parents[link.parent], kind(np.array(link.joint.axis)), at, link.name
            )
            placements[link.index] = pin.SE3.Identity()
            columns[body.joint_links.index(link.index)] = model.idx_qs[
                parents[link.index]
            ]
        else:
            parents[link.index], placements[link.index] = parents[link.parent], at
    return model, columns, parents, placements


def pinocchio_configurations(body, columns, size, q, root):
    """Return Pinocchio's configurations (T, nq): root position, quaternion x y z w, joints."""
    rows = np.zeros((len(q), size))
    rows[:, :3] = root[:, :3]
    rows[:, 3:7] = np.roll(rotations.normalized(root[:, 3:]), -1, axis=1)
    for column, place in columns.items():
        rows[:, place] = q[:, column]
    return rows


def compare(body: Body, q, root, repeats: int = 7):
    """Return the median seconds of ours and of Pinocchio's loop, taken in turns, and the largest distance of a link [m]."""
    import pinocchio as pin

    model, columns, parents, placements = pinocchio_model(body)
    data = model.createData()
    configurations = list(pinocchio_configurations(body, columns, model.nq, q, root))
    ours, theirs = [], []
    for _ in range(WARM_UP):
        body.forward_kinematics(q, root)
    for _ in range(repeats):
        start = time.perf_counter()
        found = body.forward_kinematics(q, root)
        ours.append(time.perf_counter() - start)
        start = time.perf_counter()
        for configuration in configurations:
            pin.forwardKinematics(model, data, configuration)
        theirs.append(time.perf_counter() - start)
    last = np.array(
        [
            (data.oMi[parents[i]] * placements[i]).translation
            for i in range(len(body.links))
        ]
    )
    return (
        float(np.median(ours)),
        float(np.median(theirs)),
        float(np.abs(found[-1, :, :3] - last).max()),
    )


def main() -> list[tuple[str, float, float, float, str]]:
    """Print one row; return (name, ours [s], peer [s], ratio peer/ours, target)."""
    import bodymotion as bm
    from benchmarks.samples import sample

    body = bm.load(sample("wrl/choreonoid+choreonoid/share/model/SR1/SR1.wrl"))
    motion = bm.load(
        sample("seq/choreonoid+choreonoid/sample/SimpleController/SR1WalkPattern2.seq")
    )
    q = motion.joint_displacement.values
    root = np.tile(poses.IDENTITY, (len(q), 1))
    ours, theirs, apart = compare(body, q, root)
    row = (
        "forward kinematics, SR1 over SR1WalkPattern2, against a loop over Pinocchio",
        ours,
        theirs,
        theirs / ours,
        ">= 3",
    )
    print(
        f"{row[0]}: ours {ours * 1e3:.2f} ms, Pinocchio {theirs * 1e3:.2f} ms, ratio {row[3]:.2f} (target {row[4]})"
    )
    print(
        f"  {len(q)} frames, {len(body.links)} links, {ours / len(q) / len(body.links) * 1e9:.1f} ns a link; apart {apart:.1e} m"
    )
    return [row]


if __name__ == "__main__":
    main()
