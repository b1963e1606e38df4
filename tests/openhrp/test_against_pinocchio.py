"""Poses and centres of mass of real robots against Pinocchio, in a model that is built from our Body."""

from __future__ import annotations

import numpy as np
import pytest

from bodymotion.formats.openhrp import read_openhrp
from bodymotion.geometry import rotations

pin = pytest.importorskip("pinocchio")

ROBOTS = (
    "choreonoid+choreonoid/share/model/SR1/SR1.wrl",
    "choreonoid+choreonoid/share/model/GR001/GR001.wrl",
    "choreonoid+choreonoid/share/model/PA10/PA10.wrl",
    "isri-aist+hrp4c_description/vrml/HRP4Cmain.wrl",
    "fkanehiro+openhrp3/sample/model/sample1_bush.wrl",
)


def model_of(body):
    """Return Pinocchio's model, and for each link its joint there and its placement in it; the root floats."""

    def se3(pose):
        return pin.SE3(rotations.to_matrix(pose[3:]), np.array(pose[:3]))

    model = pin.Model()
    homes = {
        0: (
            model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root"),
            pin.SE3.Identity(),
        )
    }
    for link in body.links:
        if link.index:
            joint, placement = homes[link.parent]
            placement = placement * se3(link.offset)
            if link.joint.type in ("rotate", "slide"):
                kind = (
                    pin.JointModelRevoluteUnaligned
                    if link.joint.type == "rotate"
                    else pin.JointModelPrismaticUnaligned
                )
                name = f"{link.index}"
                homes[link.index] = (
                    model.addJoint(
                        joint, kind(np.array(link.joint.axis)), placement, name
                    ),
                    pin.SE3.Identity(),
                )
            else:
                homes[link.index] = joint, placement
        joint, placement = homes[link.index]
        inertia = pin.Inertia(
            link.mass, np.array(link.center_of_mass), np.array(link.inertia)
        )
        model.appendBodyToJoint(joint, inertia, placement)
    return model, homes


@pytest.mark.parametrize("name", ROBOTS)
def test_poses_and_centre_of_mass(corpus, name):
    body = read_openhrp(corpus / "wrl" / name).require()
    model, homes = model_of(body)
    data = model.createData()
    rng = np.random.default_rng(7)
    for _ in range(5):
        q = rng.uniform(-1, 1, body.num_joints)
        root = np.concatenate(
            [rng.normal(size=3), rotations.normalized(rng.normal(size=4))]
        )
        full = pin.neutral(model)
        full[:7] = [*root[:3], *root[4:], root[3]]
        for column, index in enumerate(body.joint_links):
            if index > 0 and body.links[index].joint.type in ("rotate", "slide"):
                full[model.idx_qs[homes[index][0]]] = q[column]
        pin.forwardKinematics(model, data, full)
        poses = body.forward_kinematics(q, root)
        for index, (joint, placement) in homes.items():
            theirs = data.oMi[joint] * placement
            assert np.abs(poses[index, :3] - theirs.translation).max() < 1e-12
            assert (
                np.abs(rotations.to_matrix(poses[index, 3:]) - theirs.rotation).max()
                < 1e-12
            )
        assert (
            np.abs(
                body.center_of_mass(poses) - pin.centerOfMass(model, data, full)
            ).max()
            < 1e-12
        )
        assert pin.computeTotalMass(model) == pytest.approx(body.mass)
