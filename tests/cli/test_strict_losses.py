"""`--strict-losses`: exit code 3 for a loss that matters; without it the exit code is 0."""

import pytest
from click.testing import CliRunner

import bodymotion as bm
from bodymotion.cli.app import app
from bodymotion.model.body import Body, ExtraJoint
from bodymotion.model.links import Joint, Link

WRITE = ("convert", "edit", "retime", "retarget", "balance", "ik", "simulate")
"""The commands that write a motion or a model."""


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def loop(tmp_path):
    """A model with a closed loop, which no URDF can hold."""
    links = (
        Link(name="base"),
        Link(
            name="arm", index=1, parent=0, joint=Joint(name="arm", type="rotate", id=0)
        ),
    )
    joint = ExtraJoint(name="loop", links=(0, 1))
    path = tmp_path / "models" / "loop.wrl"
    path.parent.mkdir()
    bm.save(Body(name="loop", links=links, extra_joints=(joint,)), path)
    return path


@pytest.mark.parametrize("options, code", [((), 0), (("--strict-losses",), 3)])
def test_a_loss_is_reported_and_is_3_only_on_demand(loop, tmp_path, options, code):
    result = run("convert", loop, tmp_path / "loop.urdf", *options)
    assert result.exit_code == code
    assert "LOSS039" in result.stderr
    assert (tmp_path / "loop.urdf").exists()


@pytest.mark.parametrize("options, code", [((), 0), (("--strict-losses",), 3)])
def test_many_files_have_the_exit_code_of_one(loop, tmp_path, options, code):
    folder = tmp_path / "out"
    result = run(
        *("convert", loop.parent, folder, "--to", "urdf", "--workers", "1"), *options
    )
    assert result.exit_code == code, result.output
    # The loss is printed and counted in both cases.
    assert "LOSS039" in result.stderr
    assert "1 file done: 1 with losses" in result.stderr
    assert f'"exit_code":{code}' in (folder / "results.jsonl").read_text().replace(
        " ", ""
    )


@pytest.mark.parametrize("command", WRITE)
def test_each_command_that_writes_has_the_option(command):
    assert "--strict-losses" in run(command, "--help").output


def test_the_commands_that_write_are_complete():
    """A command that ends with the code of a save imports one of its functions."""
    from importlib import import_module

    from bodymotion.cli.app import COMMANDS, MODULES

    ends = {"finish", "conclude", "saved", "exit_code"}
    found = {
        name for name in COMMANDS if ends & vars(import_module(MODULES[name])).keys()
    }
    assert found == set(WRITE)
