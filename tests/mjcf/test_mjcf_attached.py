"""<attach>: MuJoCo makes the same model of what is read, with other settings and defaults in the attached model."""

from __future__ import annotations

import pytest

pytest.importorskip("mujoco")

import mujoco
from mujoco_models import model_differences

import bodymotion as bm
from bodymotion.formats.mjcf import read_mjcf

CHILD = """<mujoco model="child"><compiler angle="radian" eulerseq="XYZ" meshdir="meshes" boundmass="0.7"/>
    <default><geom density="500"/><joint damping="0.3" axis="0 1 0"/><motor gear="4"/>
      <default class="strong"><joint armature="0.2"/><geom density="700"/><motor forcerange="-3 3"/></default></default>
    <asset><mesh file="wedge.stl"/><material name="red" rgba="1 0 0 1"/></asset>
    <worldbody><geom name="table" type="box" size="0.1 0.2 0.1" pos="0 0 -1" euler="0.1 0.2 0.3"/><site name="here"/>
      <frame name="moved" pos="0 0.5 0" euler="0.5 0 0.2">
        <body name="palm" pos="0 0 0.1" euler="0.3 0.2 0.1"><joint name="grip" range="-1 1" class="strong"/>
          <geom type="box" mesh="wedge"/><site name="tip" euler="0.4 0 0"/>
          <body name="finger" pos="0 0 0.2" childclass="strong"><joint name="bend" type="slide" range="0 1"/>
            <geom size="0.1" material="red"/>
            <body name="nail" euler="0.1 0.2 0.3"><joint name="last" ref="0.2" springref="0.1"/>
              <geom size="0.1" type="box" fromto="0 0 0 1 0 0"/></body>
          </body>
        </body>
      </frame>
      <body name="other" pos="1 0 0"><joint name="other"/><geom size="0.1"/></body>
    </worldbody>
    <contact><exclude body1="palm" body2="nail"/><exclude body1="palm" body2="other"/></contact>
    <tendon><fixed name="cord"><joint joint="grip" coef="1"/><joint joint="bend" coef="1"/></fixed></tendon>
    <equality><joint joint1="grip" joint2="bend"/></equality>
    <actuator><motor name="pull" joint="grip" class="strong"/><motor name="push" joint="other"/>
      <motor name="cord" tendon="cord"/></actuator>
    <sensor><gyro site="tip"/><actuatorfrc actuator="pull"/><clock name="time"/><jointpos joint="other"/></sensor>
  </mujoco>"""
PARENT = """<mujoco model="m"><default><geom density="2000"/><joint damping="9"/><default class="strong"><joint armature="5"/></default>
    </default><asset><model name="child" file="parts/child.xml"/><model name="nest" file="parts/nest.xml"/></asset><worldbody>
    <body name="arm" euler="90 10 0"><joint name="turn" axis="0 0 1" range="-90 90"/><geom size="0.1"/>{}</body></worldbody></mujoco>"""
# A model that attaches another one; its angles are in degrees.
NEST = """<mujoco model="nest"><default><joint damping="2"/></default><asset><model name="child" file="child.xml"/></asset><worldbody>
    <body name="hold" euler="0 20 0"><joint name="j"/><geom size="0.2"/><attach model="child" body="palm" prefix="in_"/></body>
    </worldbody></mujoco>"""
CASES = {
    "a body": '<attach model="child" body="palm" prefix="a_"/>',
    "a body below another": '<attach model="child" body="nail" prefix="a_"/>',
    "a body in a frame": '<frame pos="0 0 1" euler="0 90 0"><attach model="child" body="other" prefix="a_"/></frame>',
    "the world": '<attach model="child" prefix="a_"/>',
    "a frame": '<attach model="child" frame="moved" prefix="a_"/>',
    "an empty prefix": '<attach model="child" body="palm" prefix=""/>',
    "twice": '<attach model="child" prefix="l_"/><frame pos="0 1 0"><attach model="child" prefix="r_"/></frame>',
    "between others": (
        '<body name="one"><joint/><geom size="1"/></body><attach model="child" body="palm" prefix="a/"/>'
        '<body name="two"><joint/><geom size="1"/></body>'
    ),
    "one that attaches": '<frame euler="0 0 30"><attach model="nest" prefix="out_"/></frame>',
}


@pytest.fixture
def folder(tmp_path, strangers):
    parts = tmp_path / "parts"
    (parts / "meshes").mkdir(parents=True)
    mesh = (strangers / "06/parts/part_wedge.stl").read_bytes()
    (parts / "meshes/wedge.stl").write_bytes(mesh)
    (parts / "child.xml").write_text(CHILD)
    (parts / "nest.xml").write_text(NEST)
    return tmp_path


@pytest.mark.parametrize("case", CASES)
def test_what_is_attached(case, folder):
    path = folder / "scene.xml"
    path.write_text(PARENT.format(CASES[case]))
    body = read_mjcf(path).require()
    assert not bm.save(body, folder / "again.xml").losses
    before, after = (
        mujoco.MjModel.from_xml_path(str(folder / name))
        for name in ("scene.xml", "again.xml")
    )
    assert model_differences(before, after) == []


def test_attached_models_of_reports(strangers, tmp_path):
    for name in ("attach", "frameattach"):
        path = strangers / f"07/{name}.xml"
        bm.save(bm.load_body(path), tmp_path / "again.xml")
        before, after = (
            mujoco.MjModel.from_xml_path(str(file))
            for file in (path, tmp_path / "again.xml")
        )
        assert model_differences(before, after) == []


@pytest.mark.parametrize(
    ("attach", "rule"),
    [
        ('<attach model="chlid" prefix="a_"/>', "MJCF117"),
        ('<attach model="child" body="plam" prefix="a_"/>', "MJCF117"),
        ('<attach model="nest" prefix="a_"/>', "MJCF102"),
        ('<attach model="child"/>', "XML105"),
    ],
)
def test_what_cannot_be_attached(attach, rule, folder):
    (folder / "parts/nest.xml").unlink()
    path = folder / "scene.xml"
    path.write_text(PARENT.format("\n" + attach))
    problems = [p for p in read_mjcf(path).problems if p.severity == "error"]
    assert rule in [problem.rule for problem in problems]
    assert problems[0].location.line in (2, 4)


def test_models_that_attach_each_other(folder):
    """There is no end to it, so the reading stops."""
    loop = '<mujoco><asset><model name="{0}" file="{0}.xml"/></asset><worldbody><attach model="{0}" prefix="x"/></worldbody></mujoco>'
    (folder / "parts/nest.xml").write_text(loop.format("child"))
    (folder / "parts/child.xml").write_text(loop.format("nest"))
    path = folder / "scene.xml"
    path.write_text(PARENT.format('<attach model="nest" prefix="a_"/>'))
    assert read_mjcf(path).refusal.rule == "FMT009"


def test_copies_of_copies(folder):
    """Each of ten models attaches the next one four times: a million bodies of a few kB are not made."""
    four = "".join(f'<attach model="n" prefix="{k}"/>' for k in "abcd")
    for number in range(10):
        (folder / f"parts/m{number}.xml").write_text(
            f'<mujoco><asset><model name="n" file="m{number + 1}.xml"/></asset><worldbody>{four}</worldbody></mujoco>'
        )
    (folder / "parts/m10.xml").write_text(CHILD)
    path = folder / "parts/m0.xml"
    assert read_mjcf(path).refusal.rule == "FMT009"
