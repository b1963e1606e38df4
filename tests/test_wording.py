"""Grammar of messages: articles before nouns that a value gives, counts, hints about options of the command."""

import ast
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import bodymotion as bm
from bodymotion.cli.app import app
from bodymotion.cli.options import kind_of
from bodymotion.diagnostics import WrongUseError
from bodymotion.diagnostics.text import with_article
from bodymotion.keyposes import KeyPoses
from bodymotion.scene.loading import load_inputs

SOURCE = Path(bm.__file__).parent
ALWAYS_A = {
    "link.joint.type",
    "partner.joint.type",
    "joint.type",
    "path.suffix",
    "what",
    "field_type",
}
"""Expressions whose values begin with the sound of their literal article: types of joints (rotate, slide, …), extensions, `an SFFloat`."""


def articles(tree):
    """Yield the expressions in f-strings that follow a literal article."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            for before, value in zip(node.values, node.values[1:], strict=False):
                text = getattr(before, "value", None)
                follows = isinstance(text, str) and f" {text}".lower().endswith(
                    (" a ", " an ")
                )
                if follows and isinstance(value, ast.FormattedValue):
                    yield ast.unparse(value.value)


@pytest.mark.parametrize("package", sorted(p.name for p in SOURCE.iterdir()))
def test_an_article_before_a_value_fits_it(package):
    """A literal `a` before a name such as AccelerationSensor is wrong: `with_article` chooses."""
    path = SOURCE / package
    files = path.rglob("*.py") if path.is_dir() else [path]
    found = {
        expression
        for file in files
        if file.suffix == ".py"
        for expression in articles(ast.parse(file.read_text("utf-8")))
    }
    assert found <= ALWAYS_A


def test_nouns_have_their_articles():
    assert with_article("AccelerationSensor") == "an AccelerationSensor"
    assert with_article("Gyro") == "a Gyro"
    assert with_article("KeyPoses") == "KeyPoses"
    assert kind_of(KeyPoses) == "a pose sequence"


def test_too_many_files_are_counted():
    motion = bm.Motion.from_joints(np.zeros((2, 1)), 50)
    body = bm.Body(links=(bm.Link(name="a"),))
    with pytest.raises(WrongUseError, match="found 2 models and 1 motion;"):
        load_inputs(body, body, motion, max_motions=2)
    with pytest.raises(WrongUseError, match="found 0 models and 2 motions;"):
        load_inputs(motion, motion)


def test_simulate_names_no_option_of_another_command(tmp_path, monkeypatch):
    pytest.importorskip("mujoco")
    monkeypatch.chdir(tmp_path)
    box = bm.shapes.Shape(bm.shapes.Box((0.2, 0.2, 0.1)))
    segment = bm.Segment(
        mass=1.0, inertia=0.01 * np.eye(3), visuals=(box,), collisions=(box,)
    )
    root = bm.Link(name="a", joint=bm.Joint(type="free"), segments=(segment,))
    arm = bm.Link(
        name="b",
        index=1,
        parent=0,
        joint=bm.Joint(name="b", type="rotate", id=0),
        segments=(segment,),
    )
    bm.save(bm.Body(name="r", links=(root, arm)), "r.wrl")
    bm.save(bm.Motion.from_joints(np.zeros((20, 1)), 100), "w.seq")
    result = CliRunner().invoke(app, ["simulate", "r.wrl", "w.seq", "--to", "0.1"])
    assert "MEAS101" in result.stderr
    assert "bodymotion measure" not in result.stderr
