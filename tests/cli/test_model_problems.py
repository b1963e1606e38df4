"""Commands that read a model report what was not read of it, as `check` does."""

import pytest
from click.testing import CliRunner

import bodymotion as bm
from bodymotion.cli.app import app

TWO_BODIES = """<mujoco><worldbody>
  <body name="cup" pos="1 0 0"><freejoint/><geom size=".05"/></body>
  <body name="dog" pos="0 0 .5"><freejoint/><geom type="box" size=".2 .1 .1"/>
    <body name="leg" pos=".1 0 -.1"><joint name="k" axis="0 1 0" range="-90 90"/>
      <geom type="capsule" size=".03" fromto="0 0 0 0 0 -.2"/></body></body>
</worldbody></mujoco>"""


@pytest.mark.parametrize(
    ("command", "rest"),
    [
        ("simulate", ["--to", "0.002"]),
        ("measure", ["motion.seq"]),
        ("ik", ["--to", "leg=0.1,0,0.3"]),
        ("render", ["-o", "out.png", "--size", "64x64"]),
        ("report", ["motion.seq", "-o", "out.html"]),
    ],
)
def test_a_body_that_is_left_out_is_reported_once(command, rest, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two.xml").write_text(TWO_BODIES)
    still = bm.Motion.from_joints([[0.0]] * 5, 100, joint_names=("k",))
    bm.save(still, tmp_path / "motion.seq")
    result = CliRunner().invoke(app, [command, "two.xml", *rest])
    assert result.exit_code in (0, 1), result.stderr
    assert result.stderr.count("MJCF124") == 1
