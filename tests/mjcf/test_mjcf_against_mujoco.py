"""Models written by hand, with the parts of MJCF that robots use: our reader against MuJoCo's compiler."""

from __future__ import annotations

import numpy as np
import pytest
from mujoco_peer import check_against_mujoco, mujoco

from bodymotion.formats.mjcf import read_mjcf, write_mjcf
from bodymotion.model.body import Body
from bodymotion.model.links import Joint, Link, Segment

HEAD = '<compiler angle="radian"/>'
INERTIAL = '<inertial pos="0.1 0 0.2" mass="2" diaginertia="0.1 0.2 0.25"/>'

MODELS = {
    "degrees and eulers": """<mujoco><compiler eulerseq="XYz"/><worldbody>
        <body name="a" pos="1 2 3" euler="30 40 50"><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
        <body name="b" euler="-20 10 5" pos="0 0 1"><joint name="j" axis="1 1 0" range="-30 60"/>
        <inertial pos="0.1 0 0" mass="2" fullinertia="1 2 2.5 0.1 0.2 0.3"/></body></body></worldbody></mujoco>""",
    "every orientation": f"""<mujoco>{HEAD}<worldbody><body name="a">{INERTIAL}
        <body name="b" axisangle="1 2 3 0.7">{INERTIAL}<joint name="jb"/></body>
        <body name="c" xyaxes="1 1 0 0 1 0.5">{INERTIAL}<joint name="jc" type="slide"/></body>
        <body name="d" zaxis="1 0 -1">{INERTIAL}<joint name="jd" axis="0 1 0"/></body>
        <body name="e" zaxis="0 0 -1">{INERTIAL}<joint name="je" axis="0 1 0"/></body>
        <body name="f" quat="2 0 0 1">{INERTIAL}<joint name="jf" axis="0 1 0"/></body>
        <body name="g" euler="0.1 0.2 0.3"><inertial pos="0 0 0" euler="0.3 0.2 0.1" mass="1" diaginertia="1 2 2.5"/>
        <joint name="jg" axis="0 1 0"/></body></body></worldbody></mujoco>""",
    "several joints in a body": f"""<mujoco>{HEAD}<worldbody><body name="base">{INERTIAL}<body name="a" pos="0 0 1" euler="0.1 0.2 0.3">
        <joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/><joint name="turn" axis="0 1 0"/>{INERTIAL}
        <body name="b" pos="0 0.5 0"><joint name="b1" pos="0.1 0.2 0.3" axis="1 0 0"/><joint name="b2" pos="-0.1 0 0.3" axis="0 0 1"/>
        {INERTIAL}<body name="c" pos="1 0 0"><joint name="c" pos="0 0 -0.4" axis="0 1 1"/>{INERTIAL}</body>
        </body></body></body></worldbody></mujoco>""",
    "a body that a joint holds to the world": f"""<mujoco>{HEAD}<worldbody><geom type="box" size="1 1 0.1"/>
        <body name="cart" pos="0 0 1"><joint name="rail" type="slide" axis="1 0 0" range="-1 1"/>{INERTIAL}
        <body name="pole"><joint name="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.1 0 1" size="0.05"/></body></body>
        </worldbody></mujoco>""",
    "values that do not begin at zero": f"""<mujoco>{HEAD}<worldbody><body name="a">{INERTIAL}
        <body name="b" pos="0 0 1"><joint name="jb" ref="0.5" axis="0 1 0" range="-1 1"/>{INERTIAL}
        <body name="c" pos="0 0 1"><joint name="jc" ref="-0.2" type="slide" pos="1 2 3" axis="1 1 0"/>
        <joint name="jd" ref="0.3" pos="0 0 0.1" axis="0 0 1"/>{INERTIAL}</body></body></body></worldbody></mujoco>""",
    "a ball": f"""<mujoco>{HEAD}<worldbody><body name="a">{INERTIAL}<body name="b" pos="0 0 1">
        <joint name="ball" type="ball" pos="0.1 0 0"/>{INERTIAL}</body></body></worldbody></mujoco>""",
    "classes": f"""<mujoco>{HEAD}<default><joint axis="0 1 0" armature="0.01"/><geom density="500"/>
        <default class="arm"><joint range="-1 2" armature="0.5"/><geom type="capsule" size="0.05 0.2" euler="0.1 0 0"/>
        <default class="hand"><joint type="slide" range="0 0.1"/><geom type="box" size="0.1 0.1 0.1"/></default></default></default>
        <worldbody><body name="a" childclass="arm"><freejoint/><geom/><body name="b" pos="0 0 0.4"><joint name="b"/><geom quat="1 0 1 0"/>
        <geom class="main" size="0.1"/><body name="c" childclass="hand" pos="0 0 0.4"><joint name="c"/><geom pos="0 0 0.1"/>
        <body name="d" pos="0 0 0.2"><joint name="d" class="arm"/><geom/></body></body></body></body></worldbody></mujoco>""",
    "a ball that floats": """<mujoco><worldbody><body name="a"><freejoint/><geom type="sphere" size="0.1"/></body>
        </worldbody></mujoco>""",
    "masses of solids together": """<mujoco><worldbody><body name="a"><freejoint/>
        <geom type="sphere" size="0.1" pos="0.1 0 0"/><geom type="box" size="0.1 0.2 0.3" euler="10 20 30" mass="2"/>
        <geom type="capsule" size="0.1 0.2" pos="0 0 0.5" density="300"/><geom type="cylinder" size="0.2 0.1" axisangle="1 0 0 45"/>
        <geom type="ellipsoid" size="0.1 0.2 0.3" pos="-1 0 0"/><geom type="box" fromto="0 0 0 1 1 1" size="0.1"/>
        <geom type="ellipsoid" fromto="0 0 0 1 -1 1" size="0.2"/><geom type="cylinder" fromto="0 1 0 1 1 1" size="0.1"/>
        <geom type="sphere" size="1" mass="0"/></body></worldbody></mujoco>""",
    "groups that weigh nothing": """<mujoco><compiler inertiagrouprange="0 1"/><worldbody><body name="a"><freejoint/>
        <geom size="0.1" group="1"/><geom size="0.2" group="2"/></body></worldbody></mujoco>""",
    "geoms before the inertial": f"""<mujoco><compiler angle="radian" inertiafromgeom="true"/><worldbody><body name="a"><freejoint/>
        {INERTIAL}<geom type="box" size="0.1 0.2 0.3"/></body></worldbody></mujoco>""",
    "bounds of masses": """<mujoco><compiler boundmass="0.5" boundinertia="0.01" balanceinertia="true"/><worldbody><body name="a">
        <freejoint/>        <inertial pos="0 0 0" mass="0.1" diaginertia="0.001 0.02 0.5"/>
        <body name="b"><joint name="b"/><inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.5"/></body></body></worldbody></mujoco>""",
    "a total mass": f"""<mujoco><compiler angle="radian" settotalmass="10"/><worldbody><body name="a"><freejoint/>{INERTIAL}
        <body name="b"><joint name="b"/>{INERTIAL}<geom size="0.1"/></body></body></worldbody></mujoco>""",
    "frames": f"""<mujoco>{HEAD}<worldbody><frame pos="1 0 0" euler="0 0 0.5"><frame pos="0 0 1"><body name="a" pos="0 1 0">
        {INERTIAL}<frame euler="0.5 0 0" pos="0 0 0.2"><geom type="box" size="0.1 0.1 0.1"/>
        <body name="b" pos="0 0 1"><joint name="b" axis="1 0 0"/>{INERTIAL}</body></frame>
        <body name="c"><joint name="c"/><frame pos="0.1 0 0" euler="0 0.3 0"><geom type="capsule" size="0.1 0.2"/>
        <geom type="sphere" size="0.1" pos="0 0 1"/></frame></body></body></frame></frame></worldbody></mujoco>""",
    "meshes in the file": """<mujoco><asset>
        <mesh name="wedge" vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 2 1 0 1 3 0 3 2 1 2 3" scale="0.5 0.5 2" refpos="0.1 0.2 0"/>
        <mesh name="turned" vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 2 1 0 1 3 0 3 2 1 2 3" refquat="1 1 0 0" refpos="0.1 0.2 0"
        inertia="exact" scale="1 2 1"/><mesh name="shell" vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 2 1 0 1 3 0 3 2 1 2 3"
        inertia="shell"/></asset><worldbody><body name="a"><freejoint/><geom type="mesh" mesh="wedge" pos="1 2 3" euler="10 20 30"/>
        <geom type="mesh" mesh="turned" mass="3"/><geom type="mesh" mesh="shell" pos="0 0 1"/></body></worldbody></mujoco>""",
    "limits of every kind": f"""<mujoco>{HEAD}<worldbody><body name="a">{INERTIAL}
        <body name="b"><joint name="b" range="-1 1" limited="false"/>{INERTIAL}</body>
        <body name="c"><joint name="c" range="-1 1" limited="true"/>{INERTIAL}</body>
        <body name="d"><joint name="d" range="0 0"/>{INERTIAL}</body>
        <body name="e"><joint name="e" type="slide" range="-0.5 1"/>{INERTIAL}</body></body></worldbody></mujoco>""",
    "limits that are asked for": f"""<mujoco><compiler angle="radian" autolimits="false"/><worldbody><body name="a">{INERTIAL}
        <body name="b"><joint name="b" range="-1 1" limited="false"/>{INERTIAL}</body>
        <body name="c"><joint name="c" range="-1 1" limited="true"/>{INERTIAL}</body></body></worldbody></mujoco>""",
}


@pytest.mark.parametrize("name", MODELS)
def test_what_mujoco_makes_of_it(name, tmp_path, monkeypatch):
    # MuJoCo writes what it has to say of old attributes into a file where it runs.
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "model.xml"
    path.write_text(MODELS[name])
    body = read_mjcf(path).require()
    check_against_mujoco(body, path)
    # And what we write of it is for MuJoCo the same robot.
    again = tmp_path / "again.xml"
    write_mjcf(body, again)
    model, rewritten = (
        mujoco.MjModel.from_xml_path(str(file)) for file in (path, again)
    )
    assert rewritten.body_mass.sum() == pytest.approx(model.body_mass.sum())
    assert [rewritten.body(number).name for number in range(model.nbody)] == [
        model.body(n).name for n in range(model.nbody)
    ]
    assert (rewritten.njnt, rewritten.nv) == (model.njnt, model.nv) or name == "a ball"
    check_against_mujoco(body, again, axes=False)
    read_again = read_mjcf(again).require()
    assert [link.name for link in read_again.links] == [
        link.name for link in body.links
    ]
    check_against_mujoco(read_again, again)


def test_bounds_of_geoms(tmp_path):
    """Each geom lies where MuJoCo has it: the boxes around bodies without turns."""
    path = tmp_path / "model.xml"
    path.write_text(MODELS["masses of solids together"])
    body = read_mjcf(path).require()
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    assert len(body.links[0].visuals) == model.ngeom
    for number, shape in enumerate(body.links[0].visuals):
        low, high = shape.bounds
        assert np.abs(0.5 * (low + high) - data.geom_xpos[number]).max() < 1e-9


@pytest.mark.parametrize("bounds", ["false", "true"])
@pytest.mark.parametrize("shell", ["false", "true"])
@pytest.mark.parametrize("kind", ["sphere", "capsule", "cylinder", "ellipsoid", "box"])
def test_solids_around_meshes(kind, shell, bounds, tmp_path):
    """MuJoCo fits them to the mesh's inertia or bounds; it has meshes in single precision, and skins of ellipsoids nearly."""
    path = tmp_path / "model.xml"
    path.write_text(
        f"""<mujoco><compiler fitaabb="{bounds}"/><asset><mesh name="m" vertex="0 0 0 1 0 0 0 0.5 0 0 0 0.3"/></asset><worldbody>
        <body name="a"><freejoint/><geom type="{kind}" mesh="m" fitscale="0.8" shellinertia="{shell}" pos="1 2 3" euler="10 20 30"/>
        </body></worldbody></mujoco>"""
    )
    body, model = read_mjcf(path).require(), mujoco.MjModel.from_xml_path(str(path))
    link = body.links[0]
    assert link.mass == pytest.approx(model.body_mass[1], rel=1e-6)
    assert np.abs(link.center_of_mass - model.body_ipos[1]).max() < 1e-6
    assert np.sort(np.linalg.eigvalsh(link.inertia)) == pytest.approx(
        np.sort(model.body_inertia[1]), rel=2e-5
    )
    write_mjcf(body, tmp_path / "again.xml")
    again = mujoco.MjModel.from_xml_path(str(tmp_path / "again.xml"))
    assert sorted(again.geom_size[0]) == pytest.approx(
        sorted(model.geom_size[0]), abs=1e-6
    )


@pytest.mark.parametrize(
    ("kind", "size"),
    [
        ("sphere", "0.3"),
        ("capsule", "0.1 0.2"),
        ("cylinder", "0.1 0.2"),
        ("ellipsoid", "0.1 0.2 0.3"),
        ("box", "0.1 0.2 0.3"),
    ],
)
def test_skins_of_solids(kind, size, tmp_path):
    path = tmp_path / "model.xml"
    path.write_text(
        f"""<mujoco><worldbody><body name="a"><freejoint/><geom type="{kind}" size="{size}" shellinertia="true" euler="10 20 30"/>
        </body></worldbody></mujoco>"""
    )
    body = read_mjcf(path).require()
    assert body.problems == ()
    # MuJoCo takes the inertia of an ellipsoid's skin from two ellipsoids that differ a little.
    link, model = body.links[0], mujoco.MjModel.from_xml_path(str(path))
    assert link.mass == pytest.approx(model.body_mass[1], rel=1e-9)
    assert np.sort(np.linalg.eigvalsh(link.inertia)) == pytest.approx(
        np.sort(model.body_inertia[1]), rel=1e-5
    )


@pytest.mark.parametrize("size", [3e-15, 1e-14, 1e-12, 1e-8])
def test_tiny_inertias_on_turned_axes(size, tmp_path):
    rng = np.random.default_rng(4)
    for _ in range(50):
        axes, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        tensor = axes @ np.diag([size, 2 * size, 2.5 * size]) @ axes.T
        segment = Segment(name="a", mass=1.0, inertia=0.5 * (tensor + tensor.T))
        link = Link(name="a", joint=Joint(name="a", type="free"), segments=(segment,))
        write_mjcf(Body(name="m", links=(link,)), tmp_path / "a.xml")
        model = mujoco.MjModel.from_xml_path(str(tmp_path / "a.xml"))
        assert np.sort(model.body_inertia[1]) == pytest.approx(
            [size, 2 * size, 2.5 * size], rel=1e-3
        )
