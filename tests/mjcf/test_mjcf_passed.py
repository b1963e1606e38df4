"""What MJCF has and a Body has not: MuJoCo makes the same model of what is written again, and what is lost elsewhere is told."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("mujoco")

import mujoco
from comparing_mjcf import differences
from mujoco_models import model_differences

import bodymotion as bm
from bodymotion.editing import reroot

MASS = '<inertial pos="0.01 0 0" mass="2" diaginertia="0.1 0.2 0.15"/>'
RADIAN = '<compiler angle="radian"/>'
MODELS = {
    "joints": f"""<mujoco><default><joint damping="0.3" armature="0.01"/></default><worldbody><body name="base">{MASS}
        <body name="a"><joint name="a" range="-90 45" stiffness="3" springref="10" frictionloss="0.2" margin="0.1"
        actuatorfrcrange="-5 5" solreflimit="0.01 1" solimplimit="0.8 0.9 0.01 0.5 2" solreffriction="0.03 1" user="1 2"/>{MASS}
        <body name="b" pos="0 0 1"><joint name="b" type="slide" ref="0.3" springref="0.2" springdamper="0.1 1"
        actuatorgravcomp="true"/>{MASS}
        <body name="c" pos="0.1 0 0" euler="0 30 0"><joint name="c" ref="30" damping="0" axis="0 1 1"/>{MASS}</body></body></body></body>
        </worldbody></mujoco>""",
    "several joints of a body, turned at rest": f"""<mujoco><worldbody><body name="base">{MASS}
        <body name="a" pos="1 0 0" euler="10 20 30"><joint name="x" axis="1 0 0" ref="20" damping="1"/>
        <joint name="y" axis="0 1 0" pos="0 0 0.2" stiffness="5" springref="5"/><joint name="s" type="slide" ref="0.2"/>{MASS}</body>
        </body></worldbody></mujoco>""",
    "a free joint with damping": f"""<mujoco><worldbody><body name="a"><joint type="free" name="f" damping="0.5" armature="0.1"/>{MASS}
        </body></worldbody></mujoco>""",
    "ball joints": f"""<mujoco><worldbody><body name="base">{MASS}<body name="a" pos="0 0 1">
        <joint name="ball" type="ball" range="0 40" damping="0.4" stiffness="2" armature="0.02" frictionloss="0.1"/>{MASS}
        <body name="b"><joint name="other" type="ball" pos="0 0 0.3"/>{MASS}<body name="c"><joint name="h" axis="1 0 0"/>
        <joint name="third" type="ball" pos="0.1 0 0"/>{MASS}</body></body></body></body>
        </worldbody><keyframe><key qpos="0.5 0.5 0.5 0.5 1 0 0 0 0.3 0 1 0 0"/></keyframe></mujoco>""",
    "actuators": f"""<mujoco><compiler autolimits="false"/><default><position kp="77"/><default class="strong"><general gear="3"/>
        <default class="stronger"><general forcerange="-4 4" forcelimited="true"/></default></default></default>
        <worldbody><body name="base">{MASS}<body name="a"><joint name="a"/>{MASS}<site name="s"/>
        <body name="b">
        <joint name="b" limited="true" range="-20 20"/>{MASS}</body></body></body></worldbody>
        <tendon><fixed name="t"><joint joint="a" coef="1"/><joint joint="b" coef="-2"/></fixed></tendon>
        <actuator><position name="pb" joint="b"/><motor name="ma" joint="a" class="strong" ctrlrange="-1 1" ctrllimited="true"/>
        <velocity joint="b" kv="2" class="stronger" ctrlrange="-3 3" ctrllimited="false"/>
        <general name="g" tendon="t" dyntype="filter" dynprm="0.1"/>
        <motor name="second" joint="a" gear="7"/><motor site="s" gear="0 0 1 0 0 0"/></actuator></mujoco>""",
    "sensors of actuators": f"""<mujoco><worldbody><body name="base">{MASS}<body name="a"><joint name="a"/>{MASS}<site name="s"/>
        <body name="b"><joint name="b"/>{MASS}</body></body></body></worldbody>
        <tendon><fixed name="t"><joint joint="a" coef="1"/></fixed></tendon>
        <actuator><motor name="one" joint="a"/></actuator>
        <actuator><position name="two" joint="b"/><motor name="three" tendon="t"/></actuator>
        <sensor><actuatorfrc name="force" actuator="one"/><jointpos joint="b"/><actuatorpos actuator="two"/><gyro site="s"/>
        <actuatorvel actuator="three"/><tendonpos tendon="t"/><user objtype="actuator" objname="two" datatype="real"
        needstage="acc" dim="1"/>
        </sensor></mujoco>""",
    "no actuators": f"""<mujoco><worldbody><body name="base">{MASS}<body name="a"><joint name="a"/>{MASS}</body></body>
        </worldbody></mujoco>""",
    "equalities": f"""<mujoco><default><equality solref="0.05 1"/><default class="soft"><equality solimp="0.5 0.6 0.01"/></default>
        </default>
        <worldbody><body name="base"><freejoint/>{MASS}<site name="one" pos="0 0 0.5"/><body name="a" pos="0 0 1">
        <joint name="a" ref="20"/>{MASS}<site name="two"/></body><body name="b" pos="1 0 0"><joint name="b"/>{MASS}</body>
        </body></worldbody><equality><connect name="held" body1="a" body2="b" anchor="0.1 0 0"/>
        <weld name="welded" body1="a" body2="b" class="soft"/><joint name="geared" joint1="a" joint2="b" polycoef="0.1 2 0 0 0"/>
        <joint joint1="b" polycoef="0.2 0 0 0 0" active="false"/><connect body1="base" anchor="0 0 1"/>
        </equality></mujoco>""",
    "connected sites": f"""<mujoco><worldbody><body name="base"><freejoint/>{MASS}<site name="one" pos="0 0 0.5" size="0.02"/>
        <body name="a" pos="0 0 0.5"><joint name="a"/>{MASS}<site name="two"/></body></body></worldbody><equality>
        <connect name="c" site1="one" site2="two" solref="0.03 1"/></equality><sensor><gyro site="one"/></sensor></mujoco>""",
    "tendons": f"""<mujoco><default><tendon stiffness="4"/></default><worldbody><site name="fixed" pos="1 0 1"/><body name="base">
        <freejoint/>{MASS}<geom name="wrap" type="cylinder" size="0.05 0.1"/><site name="s1" pos="0 0 0.5"/><body name="a" pos="0 0 1">
        <joint name="a" axis="0 1 0"/>{MASS}<site name="s2" pos="0.2 0 0"/></body></body></worldbody><tendon>
        <spatial name="rope" range="0 2" damping="0.1" width="0.01"><site site="s1"/><geom geom="wrap"/><site site="s2"/>
        <pulley divisor="2"/><site site="s2"/><site site="fixed"/></spatial>
        <fixed name="f" frictionloss="0.3" springlength="0.1"><joint joint="a" coef="2"/></fixed></tendon></mujoco>""",
    "sensors": f"""<mujoco><worldbody><body name="base"><freejoint/>{MASS}<site name="imu" pos="0 0 0.1" euler="10 20 0"/>
        <body name="a"><joint name="a"/>{MASS}<site name="foot" type="box" size="0.1 0.1 0.01"/><site name="line" type="capsule"
        fromto="0 0 0 0 0 1" size="0.01"/><site name="eye" zaxis="0 1 0"/><camera name="cam" mode="targetbody" target="base" pos="0 1 1"/>
        <camera name="lens" focal="0.01 0.02" sensorsize="0.01 0.01" resolution="100 100"/></body></body></worldbody>
        <sensor><jointpos name="q" joint="a" noise="0.1"/><accelerometer name="acc" site="imu" noise="0.2" cutoff="30"/>
        <framequat name="quat" objtype="site" objname="imu" reftype="body" refname="a"/><gyro site="imu" user="3 4"/>
        <torque name="tq" site="foot" cutoff="4"/><touch site="foot"/><force site="foot"/><rangefinder name="far" site="eye"/>
        <rangefinder site="line" cutoff="3"/><magnetometer site="imu"/><subtreecom body="a"/><gyro name="again" site="foot"/>
        <velocimeter site="line"/></sensor></mujoco>""",
    "contacts": f"""<mujoco><default><pair condim="6"/></default><worldbody><body name="base"><freejoint/>{MASS}
        <geom name="g1" size="0.1" contype="2" conaffinity="4" condim="6" priority="1" group="3"/>
        <geom name="ghost" size="0.2" contype="0" conaffinity="0" group="4" mass="0"/>
        <geom name="g2" type="box" size="0.1 0.2 0.3" pos="0 0 1" friction="2 0.1 0.1" solref="0.01 1" solimp="0.8 0.9 0.01" margin="0.02"
        gap="0.01" solmix="2" fluidshape="ellipsoid" user="7"/><geom size="0.2" group="2" contype="1" conaffinity="0"/>
        <geom name="plain" type="capsule" size="0.1 0.2" contype="0" conaffinity="0"/>
        <body name="a" pos="0 0 2"><joint name="a"/>{MASS}<geom name="g3" type="cylinder" fromto="0 0 0 0.1 0.2 0.3" size="0.05"/></body>
        </body></worldbody><contact><exclude body1="base" body2="a"/><pair geom1="g1" geom2="g3" friction="3 3 0.1 0.1 0.1"/></contact>
        </mujoco>""",
    "a child on a base that stands still": f"""<mujoco><worldbody><geom name="floor" type="plane" size="0 0 1" friction="0.3"/>
        <body name="base">{MASS}<geom size="0.3"/><body name="a"><joint name="a"/>{MASS}<geom size="0.3"/></body></body>
        </worldbody></mujoco>""",
    "what is beside the robot": f"""<mujoco><option gravity="0 0 -3" timestep="0.001" integrator="implicitfast"><flag contact="disable"/>
        </option><worldbody><frame pos="0 0 1" euler="90 0 0">
        <geom name="wall" type="plane" size="1 1 0.1" condim="4" rgba="0.1 0.2 0.3 1"/></frame>
        <camera name="view" pos="0 -1 1" euler="90 0 0"/>
        <site name="goal" pos="1 1 1"/><body name="base" gravcomp="0.5"><freejoint/>{MASS}
        <geom size="0.1"/>
        </body></worldbody><sensor><framepos objtype="site" objname="goal"/></sensor></mujoco>""",
    "names with slashes": f"""<mujoco><worldbody><body name="base">{MASS}
        <body name="left/arm"><joint name="left/j"/>{MASS}<site name="left/s"/></body><body name="c" gravcomp="1"><joint name="c"/>{MASS}
        </body></body><body name="d">{MASS}</body></worldbody><actuator><motor name="left/m" joint="left/j"/></actuator>
        <contact><exclude body1="left/arm" body2="c"/></contact></mujoco>""",
    "keyframes and bodies of the world": f"""<mujoco><worldbody><geom type="plane" size="3 3 1"/>
        <body name="target" mocap="true" pos="1 1 1">
        <geom size="0.1" contype="0" conaffinity="0"/></body><body name="base"><joint name="x" type="slide" axis="1 0 0"/>{MASS}
        <body name="a"><joint name="a"/>{MASS}</body></body></worldbody><actuator><motor joint="a"/></actuator>
        <keyframe><key name="home" time="1" qpos="0.1 0.2" qvel="1 2" ctrl="3"/><key name="other" qpos="1 2"/></keyframe></mujoco>""",
}


def compiled(path):
    return mujoco.MjModel.from_xml_path(str(path))


@pytest.mark.parametrize("name", MODELS)
def test_mujoco_makes_the_same_of_it(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path, again, third = (
        tmp_path / f"{word}.xml" for word in ("model", "again", "third")
    )
    path.write_text(MODELS[name])
    body = bm.load(path)
    report = bm.save(body, again)
    # The plane is a mesh for a Body, but not for MJCF; nothing else can be told.
    assert [str(problem) for problem in report.losses] == []
    assert model_differences(compiled(path), compiled(again)) == []
    once_more = bm.load(again)
    bm.save(once_more, third)
    assert model_differences(compiled(path), compiled(third)) == []
    assert [
        difference
        for difference in differences(body, once_more)
        if not difference.endswith(": offset")
    ] == []


@pytest.mark.parametrize(
    "name",
    sorted(set(MODELS) - {"no actuators", "a child on a base that stands still"}),
)
@pytest.mark.parametrize("target", ["robot.urdf", "robot.wrl"])
def test_where_it_has_no_place_it_is_told(name, target, tmp_path):
    (tmp_path / "model.xml").write_text(MODELS[name])
    losses = bm.save(bm.load(tmp_path / "model.xml"), tmp_path / target).losses
    assert {problem.rule for problem in losses} & {"LOSS085", "LOSS023"}


SCENE = f"""<mujoco><size nuserdata="5"/><statistic extent="2"/><visual><map znear="0.1"/></visual>
<custom><numeric name="n" data="1 2 3"/></custom>
<asset><texture type="skybox" builtin="gradient" width="8" height="48"/></asset>
<worldbody><light name="sun" pos="0 0 3"/><body name="base"><freejoint/>{MASS}<light pos="0 0 1"/></body></worldbody></mujoco>"""


def test_the_appearance_of_a_scene_is_left_out_and_reported(tmp_path):
    (tmp_path / "model.xml").write_text(SCENE)
    body = bm.load(tmp_path / "model.xml")
    found = [problem for problem in body.problems if problem.rule == "MJCF106"]
    assert {problem.severity for problem in found} == {"note"}
    assert sum(problem.count for problem in found) == 3
    words = " ".join(problem.message for problem in found)
    for section in ("size", "statistic", "visual", "custom", "asset"):
        assert f"1 of <{section}>" in words
    assert "<light> is left out" in words
    assert not body.extra


def test_what_names_something_that_is_gone(tmp_path):
    """A joint taken out of the body: the actuator at it, and keyframes for it, cannot be written."""
    path = tmp_path / "model.xml"
    path.write_text(MODELS["keyframes and bodies of the world"])
    body = bm.load(path)
    links = [link for link in body.links if link.name != "a"]
    smaller = bm.Body(
        name="m", links=tuple(links), extra=body.extra, source=body.source
    )
    losses = bm.save(smaller, tmp_path / "smaller.xml").losses
    assert [problem.rule for problem in losses] == ["LOSS085"] * 3
    assert "joint 'a'" in losses[0].message
    assert compiled(tmp_path / "smaller.xml").nu == 0


def test_the_file_counts_where_it_was_changed(tmp_path):
    path, again = tmp_path / "model.xml", tmp_path / "again.xml"
    path.write_text(MODELS["joints"])
    bm.save(bm.load(path), again)
    again.write_text(again.read_text().replace('stiffness="3"', 'stiffness="4"'))
    assert bm.load(again).links[1].joint.extra["stiffness"] == 4


def test_margins_are_no_angles(tmp_path):
    path = tmp_path / "model.xml"
    path.write_text(MODELS["joints"])
    assert bm.load(path).links[1].joint.extra["margin"] == 0.1
    assert bm.load(path).links[1].joint.extra["springref"] == pytest.approx(
        np.radians(10)
    )


def test_what_touches_nothing_is_no_obstacle(tmp_path):
    path = tmp_path / "model.xml"
    path.write_text(MODELS["contacts"])
    assert [shape.name for shape in bm.load(path).links[0].collisions] == [
        "g1",
        "g2",
        "",
    ]


def test_edited_ball_joints_are_three_and_told(tmp_path):
    """With a sensor on a link between, a ball joint cannot be written; the body is the same robot still."""
    path = tmp_path / "model.xml"
    path.write_text(MODELS["ball joints"].partition("<keyframe>")[0] + "</mujoco>")
    body = bm.load(path)
    device = bm.model.Gyro(name="between", id=0, link=2)
    changed = bm.Body(name="m", links=body.links, devices=(device,), source=body.source)
    losses = bm.save(changed, tmp_path / "again.xml").losses
    assert "LOSS033" in {problem.rule for problem in losses}


URDF = """<robot name="r"><link name="base"/><link name="a">{0}</link><link name="b">{0}</link><link name="c">{0}</link>
<joint name="ja" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="3"
velocity="2"/><dynamics damping="0.5" friction="0.2"/></joint><joint name="jb" type="continuous"><parent link="a"/><child link="b"/>
<axis xyz="0 0 1"/><mimic joint="ja" multiplier="-2" offset="0.3"/></joint><joint name="jc" type="planar"><parent link="b"/>
<child link="c"/><axis xyz="0 0 1"/></joint></robot>""".format(
    '<inertial><mass value="1"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>'
)


def test_what_a_urdf_says_of_joints_acts_in_mujoco(tmp_path):
    (tmp_path / "robot.urdf").write_text(URDF)
    body = bm.load(tmp_path / "robot.urdf")
    losses = bm.save(body, tmp_path / "robot.xml").losses
    assert "LOSS033" not in {problem.rule for problem in losses}
    model = compiled(tmp_path / "robot.xml")
    joint = model.joint("ja").dofadr[0]
    assert (model.dof_damping[joint], model.dof_frictionloss[joint]) == (0.5, 0.2)
    data = mujoco.MjData(model)
    data.qpos[model.joint("ja").qposadr[0]] = 0.4
    data.qpos[model.joint("jb").qposadr[0]] = -2 * 0.4 + 0.3
    mujoco.mj_forward(model, data)
    assert model.neq == 1
    assert np.abs(data.efc_pos[: data.ne]).max() < 1e-12
    again = bm.load(tmp_path / "robot.xml")
    assert [joint.extra for joint in again.joints] == [
        joint.extra for joint in body.joints
    ]
    assert again.extra == body.extra


def test_a_joint_that_follows_one_that_is_fixed(tmp_path):
    (tmp_path / "robot.urdf").write_text(
        URDF.replace('type="revolute"', 'type="fixed"')
    )
    losses = bm.save(bm.load(tmp_path / "robot.urdf"), tmp_path / "robot.xml").losses
    assert "LOSS086" in {problem.rule for problem in losses}


def test_bodies_of_other_formats_have_motors_still(tmp_path):
    """Each joint has one, as before, also when the file is read and written again; a file of MuJoCo's own gets none."""
    (tmp_path / "robot.urdf").write_text(URDF)
    bm.save(bm.load(tmp_path / "robot.urdf"), tmp_path / "robot.xml")
    bm.save(bm.load(tmp_path / "robot.xml"), tmp_path / "again.xml")
    assert (
        model_differences(
            compiled(tmp_path / "robot.xml"), compiled(tmp_path / "again.xml")
        )
        == []
    )
    assert compiled(tmp_path / "again.xml").nu == 5


def test_what_a_material_says_more_is_told(tmp_path):
    path = tmp_path / "model.xml"
    path.write_text(
        """<mujoco><asset><texture name="t" type="2d" builtin="checker" width="8" height="8"/><material name="m" texture="t"
        reflectance="0.4"/></asset><worldbody><body name="a"><freejoint/><geom size="1" material="m"/></body></worldbody></mujoco>"""
    )
    told = [
        problem.message
        for problem in bm.load(path).problems
        if problem.rule == "MJCF144"
    ]
    assert len(told) == 2
    assert "reflectance" in told[0]


def test_what_is_said_of_a_body_stays_with_it(tmp_path):
    """Hung up by another link, a body's joints go to other links; what takes the weight off one does not."""
    path = tmp_path / "model.xml"
    path.write_text(
        f"""<mujoco><worldbody><body name="a"><freejoint/>{MASS}<body name="b" gravcomp="1"><joint name="j"/>{MASS}</body></body>
        </worldbody></mujoco>"""
    )
    turned = reroot(bm.load(path), "b")
    bm.save(turned, tmp_path / "turned.xml")
    model = compiled(tmp_path / "turned.xml")
    assert [model.body_gravcomp[model.body(name).id] for name in "ab"] == [0, 1]
