"""What actuators drive: MuJoCo refuses a model that has it not, and a check says where it is named."""

from __future__ import annotations

import pytest

import bodymotion as bm

MODEL = """<mujoco>
  <worldbody>
    <body name="base">
      <freejoint name="float"/>
      <geom size="0.1"/>
      <site name="tip"/>
      <frame pos="0.1 0 0">
        <body name="arm">
          <joint name="elbow"/>
          <geom size="0.1"/>
        </body>
      </frame>
    </body>
  </worldbody>
  <tendon><fixed name="rope"><joint joint="elbow" coef="1"/></fixed></tendon>
  <actuator>
    ACTUATOR
  </actuator>
</mujoco>
"""
GOOD = [
    '<motor joint="elbow"/>',
    '<motor joint="float"/>',
    '<position jointinparent="elbow"/>',
    '<general tendon="rope"/>',
    '<motor site="tip"/>',
    '<adhesion body="arm" ctrlrange="0 1"/>',
]
BAD = [
    ('<motor joint="elbo"/>', "elbow"),
    ('<motor joint="arm"/>', ""),
    ('<motor jointinparent="j3"/>', ""),
    ('<general tendon="elbow"/>', ""),
    ('<velocity site="top"/>', ""),
    ('<adhesion body="tip" ctrlrange="0 1"/>', ""),
]


def compiles(text: str) -> bool:
    mujoco = pytest.importorskip("mujoco")
    try:
        mujoco.MjModel.from_xml_string(text)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("actuator", GOOD)
def test_what_is_there_may_be_driven(actuator, tmp_path):
    path = tmp_path / "r.xml"
    path.write_text(MODEL.replace("ACTUATOR", actuator))
    assert compiles(path.read_text()) and bm.check(path).ok


@pytest.mark.parametrize(("actuator", "meant"), BAD)
def test_what_is_not_there_is_an_error_where_it_is_named(actuator, meant, tmp_path):
    path = tmp_path / "r.xml"
    path.write_text(MODEL.replace("ACTUATOR", actuator))
    (error,) = bm.check(path).errors
    assert error.rule == "MJCF152" and (error.location.line, error.location.column) == (
        17,
        5 + actuator.index(" ") + 1,
    )
    assert repr(meant) in error.hint if meant else not error.hint
    assert bm.load(path).num_joints == 1
    assert not compiles(path.read_text())


def test_a_sensor_at_a_missing_site_is_left_out(tmp_path):
    """As an actuator for a missing joint: the body was refused, as that of the G1 of ProtoMotions."""
    path = tmp_path / "r.xml"
    text = MODEL.replace("ACTUATOR", "").replace(
        "</mujoco>", '<sensor><gyro site="tip"/><gyro site="imu"/></sensor></mujoco>'
    )
    path.write_text(text)
    (error,) = bm.check(path).errors
    assert error.rule == "MJCF152"
    assert (
        error.location.column
        == text.split("\n")[error.location.line - 1].index('site="imu"') + 1
    )
    assert [device.kind for device in bm.load(path).devices] == ["Gyro"]
    assert not compiles(text)


def test_motors_of_joints_are_no_news(tmp_path):
    path = tmp_path / "r.xml"
    path.write_text(MODEL.replace("ACTUATOR", "\n".join(GOOD[:3])))
    notes = [
        dict(problem.data)
        for problem in bm.check(path).problems
        if problem.rule == "MJCF154"
    ]
    assert notes == [{"sections": {"tendon": 1}}]


def test_what_is_kept_of_all_sections_is_one_note(tmp_path):
    path = tmp_path / "r.xml"
    path.write_text(
        '<mujoco><option timestep="0.01"/><size njmax="9"/><worldbody><body name="a"><joint name="j"/><geom size="1"/></body></worldbody>'
        '<tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon><sensor><clock/><jointpos joint="j"/></sensor></mujoco>'
    )
    notes = [p for p in bm.check(path).problems if p.rule == "MJCF154"]
    assert [dict(problem.data) for problem in notes] == [
        {"sections": {"tendon": 1, "option": 1, "sensor": 2}}
    ]
    assert notes[0].location.line == 1


def test_names_that_are_made_are_not_missed(tmp_path):
    path = tmp_path / "r.xml"
    path.write_text(
        MODEL.replace("ACTUATOR", '<motor joint="elbow_0"/>').replace(
            "<site", '<replicate count="2"/><site'
        )
    )
    assert bm.check(path).ok
