"""Models that stand: contacts at rest, the keyframe `home`, servos; against MuJoCo."""

from __future__ import annotations

import numpy as np
import pytest
from comparing_mjcf import differences

import bodymotion as bm
from bodymotion.formats.gains import read_gains
from bodymotion.formats.mjcf import read_mjcf, write_mjcf
from bodymotion.geometry.meshes import hull_distance
from bodymotion.model.links import BANDWIDTH, default_gains
from sample_files import corpus_files, sampled

mujoco = pytest.importorskip("mujoco")
CUBE = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])


def stood(path):
    """Return a model and its data in the keyframe `home`."""
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    if model.njnt:
        mujoco.mj_resetDataKeyframe(model, data, model.key("home").id)
    mujoco.mj_forward(model, data)
    return model, data


def self_contacts(model, data) -> int:
    floor = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, "floor")
    return sum(floor not in contact.geom for contact in data.contact)


def test_distance_of_hulls():
    """Cubes beside, touching and in each other; clouds against a separating plane, which exists if and only if they are apart."""
    optimize = pytest.importorskip("scipy.optimize")
    assert hull_distance(CUBE, CUBE + np.array([1.25, 0.3, 0])) == pytest.approx(0.25)
    assert hull_distance(CUBE, CUBE + 2.0) == pytest.approx(np.sqrt(3))
    assert (
        hull_distance(CUBE, CUBE + np.array([1.0, 0, 0]))
        == hull_distance(CUBE, CUBE + np.array([0.9, 0.2, 0.2]))
        == 0
    )
    random = np.random.default_rng(1)
    for _ in range(15):
        a, b = random.normal(size=(2, 20, 3)) * random.uniform(
            0.1, 1, (2, 1, 3)
        ) + random.normal(size=(2, 1, 3))
        rows = np.vstack([np.c_[a, np.ones(20)], np.c_[-b, -np.ones(20)]])
        plane = optimize.linprog(
            np.zeros(4), A_ub=rows, b_ub=-np.ones(40), bounds=[(None, None)] * 4
        )
        assert (hull_distance(a, b) > 0) == (plane.status == 0)


def test_the_bundled_biped_stands(examples, tmp_path):
    """No self-contact at rest, the soles on the floor, and after 2 s it stands where it stood; what was made is not read back."""
    body = bm.load(examples / "biped.wrl")
    losses = write_mjcf(body, tmp_path / "biped.xml", actuators="position")
    model, data = stood(tmp_path / "biped.xml")
    assert self_contacts(model, data) == 0 and "MJCF160" in {
        problem.rule for problem in losses
    }
    start = data.xpos.copy()
    mujoco.mj_step(model, data, 1000)
    assert np.abs(data.xpos - start).max() < 0.005
    assert (
        differences(body, again := read_mjcf(tmp_path / "biped.xml").require()) == []
        and again.problems == ()
    )
    write_mjcf(body, tmp_path / "all.xml", self_collision="all")
    assert self_contacts(*stood(tmp_path / "all.xml")) > 0
    write_mjcf(
        body,
        tmp_path / "none.xml",
        self_collision="none",
        collision_shapes="box",
        actuators="none",
    )
    model, data = stood(tmp_path / "none.xml")
    assert self_contacts(model, data) == 0 and data.ncon > 0 and model.nu == 0
    assert not (
        model.geom_type[model.geom_contype + model.geom_conaffinity > 0]
        == mujoco.mjtGeom.mjGEOM_MESH
    ).any()


def test_default_gains_are_those_of_an_oscillator(tmp_path):
    """A bar about its end: kp = m·l²/3·ω², critically damped, so a step of the command decays as (1 + ω·t)·exp(−ω·t)."""
    mass, length = 3.0, 0.5
    bar = bm.Segment(
        mass=mass,
        center_of_mass=[0.5 * length, 0, 0],
        inertia=np.diag([1e-3, 1, 1]) * mass * length**2 / 12,
    )
    joint = bm.Joint(name="J", type="rotate", id=0)
    body = bm.Body(
        links=(
            bm.Link(name="BASE"),
            bm.Link(name="BAR", index=1, parent=0, joint=joint, segments=(bar,)),
        )
    )
    omega = 2 * np.pi * BANDWIDTH
    assert default_gains(body) == pytest.approx(
        mass * length**2 / 3 * np.array([[omega**2, 2 * omega]])
    )
    write_mjcf(body, tmp_path / "bar.xml", actuators="position")
    model, data = stood(tmp_path / "bar.xml")
    model.opt.timestep = 1e-5
    data.ctrl[0] = 0.1
    mujoco.mj_step(model, data, 2000)
    t = omega * data.time
    assert data.qpos[0] == pytest.approx(0.1 * (1 - (1 + t) * np.exp(-t)), rel=1e-3)


def test_a_file_of_gains(tmp_path):
    knee, hip = (
        bm.Joint(name=name, type="rotate", id=k)
        for k, name in enumerate(("KNEE", "HIP"))
    )
    links = [
        bm.Link(name="WAIST"),
        *(
            bm.Link(name=f"{j.name}_LINK", index=k + 1, parent=k, joint=j)
            for k, j in enumerate((knee, hip))
        ),
    ]
    body = bm.Body(links=tuple(links))
    (tmp_path / "gains.txt").write_text(
        "# hip and knee\nHIP 3000 100\nKNEE_LINK, 8e3, 50\n"
    )
    assert read_gains(tmp_path / "gains.txt", body).tolist() == [
        [8000, 50],
        [3000, 100],
    ]
    (tmp_path / "gains.txt").write_text("8000 50 1\n3000 100 1\n")
    assert read_gains(tmp_path / "gains.txt", body).tolist() == [
        [8000, 50],
        [3000, 100],
    ]
    (tmp_path / "gains.txt").write_text("8000 50\n")
    with pytest.raises(bm.FormatError):
        read_gains(tmp_path / "gains.txt", body)


@pytest.mark.parametrize(
    "path",
    sampled(corpus_files("wrl/*/sample/model/*.wrl", "body/**/misc/*.body"), least=3),
    ids=lambda p: p.name,
)
def test_no_model_touches_itself_at_rest(path, tmp_path):
    """5 s (here 0.5 s) of any model: no self-contact at the start, no warning of MuJoCo, finite numbers."""
    body = bm.load(path)
    write_mjcf(body, tmp_path / "model.xml", actuators="position")
    model, data = stood(tmp_path / "model.xml")
    assert self_contacts(model, data) == 0
    mujoco.mj_step(model, data, 500)
    assert np.isfinite(data.qpos).all() and not any(
        warning.number for warning in data.warning
    )


def test_links_are_named_after_segments(tmp_path):
    part = bm.Segment(name="RLEG_LINK3", mass=1.0, inertia=np.eye(3))
    body = bm.Body(
        links=(
            bm.Link(name="WAIST"),
            bm.Link(name="RLEG_JOINT3", index=1, parent=0, segments=(part,)),
        )
    )
    bm.save(body, tmp_path / "r.urdf", link_names="segments")
    assert '<link name="RLEG_LINK3">' in (tmp_path / "r.urdf").read_text()
    again = bm.load(tmp_path / "r.urdf")
    assert [link.name for link in again.links] == ["WAIST", "RLEG_LINK3"]
    assert again.links[1].mass == 1.0


def test_servos_do_not_inherit_the_limits_of_motors(tmp_path):
    """Defaults of a file for its motors hold for all its actuators in MuJoCo, but not for the servos that are written instead."""
    (tmp_path / "a.xml").write_text(
        '<mujoco><default><motor ctrlrange="-1 1" ctrllimited="true" gear="7"/></default><worldbody><body><joint name="j"/>'
        '<geom size="0.1"/></body></worldbody><actuator><motor joint="j"/></actuator></mujoco>'
    )
    write_mjcf(bm.load(tmp_path / "a.xml"), tmp_path / "b.xml", actuators="position")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "b.xml"))
    assert (
        model.nu == 1
        and not model.actuator_ctrllimited[0]
        and model.actuator_gear[0, 0] == 1
    )
