"""The jointed sample models, as bodies and in MuJoCo and Pinocchio."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from bodymotion.formats.mjcf import write_mjcf
from bodymotion.formats.openhrp import read_openhrp
from bodymotion.geometry import poses, rotations
from bodymotion.model import inertias
from goldens import CORPUS, answer
from sample_files import sampled

GOLDENS = sampled(
    sorted(
        path for path in (CORPUS / "golden").glob("wrl__*.json") if "fk" in answer(path)
    )
)
CONFIGURATIONS = 50


def short(path: Path) -> str:
    return path.stem.removeprefix("wrl__")


@cache
def body_of(path: Path):
    """Read the model of an answer."""
    return read_openhrp(CORPUS / answer(path)["file"], allow_outside=True).require()


@cache
def repaired_body_of(path: Path):
    """Read the model of an answer; links that simulators refuse are repaired."""
    return inertias.repaired(body_of(path))[0]


@cache
def mujoco_model_of(path: Path, folder: Path):
    """Return MuJoCo's model of the MJCF that is written of a model into a folder, and what was lost."""
    import mujoco

    target = folder / f"{short(path)}.xml"
    lost = write_mjcf(body_of(path), target)
    return mujoco.MjModel.from_xml_path(str(target)), lost


@dataclass(frozen=True)
class Place:
    """Where a joint is in MuJoCo's arrays: its number, and the places of its position and velocity."""

    joint: int
    position: int
    velocity: int


def joint_places(body, model) -> dict[int, Place]:
    """Return for each joint column of a body that moves a link where it is in MuJoCo, found by the name of the joint.

    One sample has a name twice; there it is the joint of the body of that number.
    """
    names = [link.joint.name for link in body.links]
    found = {}
    for column, index in enumerate(body.joint_links):
        if index > 0 and body.links[index].joint.type in ("rotate", "slide"):
            alone = names.count(names[index]) == 1
            number = (
                model.joint(names[index]).id
                if alone
                else int(model.body_jntadr[index + 1])
            )
            found[column] = Place(
                number, int(model.jnt_qposadr[number]), int(model.jnt_dofadr[number])
            )
    return found


def configurations(body, count: int = CONFIGURATIONS) -> tuple[np.ndarray, np.ndarray]:
    """Return random joint values (N, J) and root poses (N, 7), those of the body itself where its root is fixed."""
    rng = np.random.default_rng(11)
    q = rng.uniform(-2, 2, (count, body.num_joints))
    if body.links[0].joint.type != "free":
        return q, np.tile(body.root_pose, (count, 1))
    return q, poses.from_parts(
        rng.normal(size=(count, 3)), rotations.normalized(rng.normal(size=(count, 4)))
    )


def set_configuration(body, places, data, q, root) -> None:
    """Put MuJoCo's model into a configuration; `places` are those of its joints."""
    if body.links[0].joint.type == "free":
        data.qpos[:7] = root
    for column, place in places.items():
        data.qpos[place.position] = q[column]


def pinocchio_model_of(body):
    """Build Pinocchio's model joint by joint from a body, with its rotors; give it and the joint of each column."""
    import pinocchio as pin

    def se3(pose):
        return pin.SE3(rotations.to_matrix(pose[3:]), np.array(pose[:3]))

    model = pin.Model()
    homes = {}
    columns = {
        index: column for column, index in enumerate(body.joint_links) if index > 0
    }
    joints = {}
    for link in body.links:
        if link.parent < 0 and link.joint.type == "free":
            homes[0] = (
                model.addJoint(
                    0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root"
                ),
                pin.SE3.Identity(),
            )
        elif link.parent < 0:
            homes[0] = 0, se3(body.root_pose)
        else:
            joint, placement = homes[link.parent]
            placement = placement * se3(link.offset)
            homes[link.index] = joint, placement
            if link.joint.type in ("rotate", "slide") and link.index in columns:
                turns = link.joint.type == "rotate"
                kind = (
                    pin.JointModelRevoluteUnaligned
                    if turns
                    else pin.JointModelPrismaticUnaligned
                )
                number = model.addJoint(
                    joint, kind(np.array(link.joint.axis)), placement, str(link.index)
                )
                homes[link.index] = number, pin.SE3.Identity()
                joints[columns[link.index]] = number
                rotor = np.ravel(link.joint.extra.get("equivalentInertia", 0.0))[0]
                armature = model.armature.copy()
                armature[model.idx_vs[number]] = (
                    rotor or link.joint.gear_ratio**2 * link.joint.rotor_inertia
                )
                model.armature = armature
        joint, placement = homes[link.index]
        half = 0.5 * (link.inertia + link.inertia.T)
        model.appendBodyToJoint(
            joint,
            pin.Inertia(link.mass, np.array(link.center_of_mass), half),
            placement,
        )
    return model, joints
