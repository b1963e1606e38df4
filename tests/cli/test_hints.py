"""Hints name options that the commands have, and all commands that read files have the options of readers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import click
import numpy as np
from click.testing import CliRunner

import bodymotion as bm
from bodymotion.cli.app import COMMANDS, app
from bodymotion.formats.registry import FORMATS
from sample_files import ROOT

SOURCE = ROOT / "src" / "bodymotion"
READING = tuple(name for name in COMMANDS if name != "spot")
WITHOUT_BODY = ("info", "retime", "diff")
"""Commands that read no motion on a body."""
PRINTED_BY = {
    "checks": ("check",),
    "mirroring.py": ("edit",),
    "smoothing.py": ("edit",),
    "balancing": ("balance",),
    "retargeting": ("retarget",),
    "simulation": ("simulate",),
}
"""The commands that print the texts of a package or module, where not all do."""
OF_CALLS = {"body", "delimiter"}
"""Options of readers that are for programs only."""
OPTION = re.compile(r"(?<![\w-])--[a-z]")


def options_of(command: str) -> dict[str, set[str]]:
    """Return the options of a command by the names of their parameters."""
    group = app
    found = group.get_command(click.Context(group), command)
    return {one.name: {*one.opts, *one.secondary_opts} for one in found.params}


OPTIONS = {command: options_of(command) for command in READING}


def texts() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Return the texts of the library that name options, docstrings left out: file and line, text, and commands that print it."""
    for path in SOURCE.rglob("*.py"):
        if not {"cli", "viewer", "client"} & set(path.parts) and path.name not in (
            "command.py",
            "extension.py",
        ):
            code = path.read_text(encoding="utf-8")
            if not OPTION.search(code):
                continue
            printing = next(
                (PRINTED_BY[part] for part in path.parts if part in PRINTED_BY), READING
            )
            bare = set()
            for node in ast.walk(
                ast.parse(code)
            ):  # an expression comes before the text that it is
                if isinstance(node, ast.Expr):
                    bare.add(id(node.value))
                    continue
                text = (
                    node.value
                    if isinstance(node, ast.Constant) and id(node) not in bare
                    else None
                )
                if isinstance(text, str) and OPTION.search(text):
                    yield f"{path.name}:{node.lineno}", text, printing


def test_options_that_hints_name_are_ones_of_the_commands():
    found = list(texts())
    assert found
    for where, text, printing in found:
        commands = set(printing)
        for verb, option in re.findall(
            r"`(?:bodymotion )?([a-z]+)(?= [^`]*--)|(?<![\w-])(--[a-z-]+)", text
        ):
            if verb:
                assert verb in READING, where
                commands = {verb}
                continue
            wanted = (
                commands - set(WITHOUT_BODY)
                if option in ("--by-position", "--body")
                else commands
            )
            assert all(
                any(option in names for names in OPTIONS[one].values())
                for one in wanted
            ), (where, option)


def test_commands_have_the_options_of_all_readers():
    names = {name for row in FORMATS for name in row.read.options} - OF_CALLS
    assert names
    for command in READING:
        assert names <= set(OPTIONS[command]), command


def test_a_table_without_names_is_read_by_each_command(tmp_path):
    body = bm.load_body(ROOT / "examples" / "biped.wrl")
    table = tmp_path / "dance.csv"
    rows = np.hstack(
        [
            np.tile(body.root_pose[[0, 1, 2, 4, 5, 6, 3]], (4, 1)),
            np.zeros((4, body.num_joints)),
        ]
    )
    np.savetxt(table, rows, delimiter=",")
    model = str(ROOT / "examples" / "biped.wrl")
    for arguments in (
        ["info", table],
        ["check", table, "--body", model],
        ["measure", model, table],
        ["plot", model, table, "--list"],
        ["view", model, table, "--html", tmp_path / "a.html"],
        ["convert", table, tmp_path / "a.seq"],
        ["retime", table, tmp_path / "b.seq", "--rate", "10"],
        ["edit", table, tmp_path / "c.seq", "--reverse"],
        ["diff", table, table],
    ):
        # The layout is recognised by the numbers, and can be stated.
        for layout in ([], ["--layout", "unitree"]):
            answer = CliRunner().invoke(app, [*map(str, arguments), *layout])
            assert answer.exit_code == 0, (arguments, answer.output)
    assert (
        CliRunner().invoke(app, ["info", model, "--layout", "unitree"]).exit_code == 2
    )
