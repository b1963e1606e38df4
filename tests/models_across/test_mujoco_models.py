"""Every jointed sample model in MuJoCo: places of links, masses, limits, axes, names."""

from __future__ import annotations

import numpy as np
import pytest
from jointed_models import (
    GOLDENS,
    body_of,
    configurations,
    joint_places,
    mujoco_model_of,
    repaired_body_of,
    set_configuration,
    short,
)

from bodymotion.diagnostics import FormatError
from bodymotion.formats.mjcf import read_mjcf, write_mjcf
from bodymotion.geometry import rotations
from bodymotion.model import inertias
from sample_files import ACCEPT

mujoco = pytest.importorskip("mujoco")

REPAIRS = {"LOSS045", "LOSS046", "LOSS047", "LOSS048"}


@pytest.fixture(autouse=True)
def _samples(corpus):
    """Skip, or fail where CI=true, without the samples."""


def test_how_many_models_there_are(tmp_path):
    """51 with joints; MuJoCo refuses 24 of them as they are, and then the error names each link and what to do."""
    refused = 0
    for path in GOLDENS:
        body = body_of(path)
        bad = inertias.faults(body)
        if bad:
            refused += 1
            with pytest.raises(FormatError) as caught:
                write_mjcf(body, tmp_path / "refused.xml", strict=True)
            assert caught.value.problem.rule == "MJCF133"
            assert all(
                body.links[one.link].name in caught.value.problem.message for one in bad
            )
            assert "--strict" in caught.value.problem.hint
            assert not (tmp_path / "refused.xml").exists()
    if ACCEPT:
        assert (len(GOLDENS), refused) == (51, 24)
    assert refused


@pytest.mark.parametrize("path", GOLDENS, ids=short)
def test_links_are_where_ours_are(path, folder):
    body, (model, lost) = repaired_body_of(path), mujoco_model_of(path, folder)
    names = [model.body(index + 1).name for index in range(len(body.links))]
    if len({link.name for link in body.links}) == len(body.links):
        assert names == [link.name for link in body.links]
    data, places = mujoco.MjData(model), joint_places(body, model)
    q, root = configurations(body)
    expected = body.forward_kinematics(q, root)
    centers = body.center_of_mass(expected) if body.mass > 0 else None
    for number in range(len(q)):
        set_configuration(body, places, data, q[number], root[number])
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        assert np.abs(data.xpos[1:] - expected[number, :, :3]).max() < 1e-9
        assert (
            rotations.angle_between(data.xquat[1:], expected[number, :, 3:]).max()
            < 1e-9
        )
        if centers is not None:
            assert np.abs(data.subtree_com[0] - centers[number]).max() < 1e-9 * max(
                1.0, np.abs(centers[number]).max()
            )
    if not {problem.rule for problem in lost} & REPAIRS:
        assert repaired_body_of(path) == body_of(path)
        assert model.body_mass.sum() == pytest.approx(
            body_of(path).mass, rel=1e-9, abs=0.0
        )


@pytest.mark.parametrize("path", GOLDENS, ids=short)
def test_joints_are_ours(path, folder):
    body, (model, _) = repaired_body_of(path), mujoco_model_of(path, folder)
    places = joint_places(body, model)
    free = body.links[0].joint.type == "free"
    moving = [link for link in body.links[1:] if link.joint.type in ("rotate", "slide")]
    assert model.njnt == len(moving) + free
    assert model.nu == len(places)
    for column, place in places.items():
        joint = body.joints[column]
        theirs = model.joint(place.joint)
        assert np.abs(theirs.axis - joint.axis).max() < 1e-12
        bounded = (
            np.isfinite([joint.lower, joint.upper]).any() and joint.lower <= joint.upper
        )
        assert bool(model.jnt_limited[theirs.id]) == bounded
        if bounded:
            assert theirs.range == pytest.approx([joint.lower, joint.upper], rel=1e-12)
        rotor = (
            np.ravel(joint.extra.get("equivalentInertia", 0.0))[0]
            or joint.gear_ratio**2 * joint.rotor_inertia
        )
        assert model.dof_armature[theirs.dofadr[0]] == pytest.approx(rotor)


@pytest.mark.parametrize("path", GOLDENS, ids=short)
def test_links_weigh_what_ours_do(path, folder):
    body, (model, _) = repaired_body_of(path), mujoco_model_of(path, folder)
    for link in body.links:
        number = link.index + 1
        assert model.body_mass[number] == pytest.approx(link.mass, rel=1e-12)
        if link.mass > 0:
            turn = rotations.to_matrix(model.body_iquat[number])
            tensor = turn @ np.diag(model.body_inertia[number]) @ turn.T
            half = 0.5 * (link.inertia + link.inertia.T)
            assert np.abs(tensor - half).max() <= 1e-9 * np.abs(half).max()
            assert np.abs(model.body_ipos[number] - link.center_of_mass).max() < 1e-12


@pytest.mark.parametrize("path", GOLDENS, ids=short)
def test_what_is_read_back_is_the_same(path, folder):
    body, (_, lost) = repaired_body_of(path), mujoco_model_of(path, folder)
    again = read_mjcf(folder / f"{short(path)}.xml").require()
    assert again.problems == ()
    assert [link.name for link in again.links] == [link.name for link in body.links]
    assert [link.joint for link in again.links] == [link.joint for link in body.links]
    assert again.devices == body.devices
    assert again.extra_joints == body.extra_joints
    assert np.array_equal(
        [link.offset for link in again.links], [link.offset for link in body.links]
    )
    codes = {problem.rule for problem in lost}
    if not codes & {"LOSS031", "LOSS035"}:
        assert [[s.name for s in link.segments] for link in again.links] == [
            [s.name for s in link.segments] for link in body.links
        ]
        assert [[s.mass for s in link.segments] for link in again.links] == [
            [s.mass for s in link.segments] for link in body.links
        ]
        assert [len(link.visuals) for link in again.links] == [
            len(link.visuals) for link in body.links
        ]
        assert [len(link.collisions) for link in again.links] == [
            len(link.collisions) for link in body.links
        ]
