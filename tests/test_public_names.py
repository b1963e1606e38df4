"""One thing has one name: keywords of public functions and methods, and options of commands."""

from __future__ import annotations

import ast
import inspect
import re
from collections import defaultdict
from importlib import import_module
from pkgutil import resolve_name

import click
import pytest

import bodymotion
from bodymotion.cli.app import COMMANDS, app
from sample_files import ROOT

PACKAGES = ROOT / "src" / "bodymotion"
KEYWORDS = {
    "progress": {"Callable[[int, int], None] | None"},
    "output": {"str | PathLike[str]", "str | PathLike[str] | None"},
    "bpm": {"float | None"},
    "by_position": {"bool"},
    "workers": {"int | None"},
    "cluster": {"str | None"},
    "close_loops": {"bool"},
    "on_feet": {"bool | None"},
}
"""What these keywords accept in every public function; an output may be optional."""
HOMONYMS = {"--from", "--to", "--ground", "--root", "--smooth", "--zmp"}
"""Options with two meanings: times, and formats or targets; a height, and whether there is one …"""


def signatures() -> dict[str, inspect.Signature]:
    """Return those of the functions in the stubs, and of the methods of the classes there."""
    found = {}
    for stub in PACKAGES.rglob("__init__.pyi"):
        package = import_module(
            ".".join(("bodymotion", *stub.parent.relative_to(PACKAGES).parts))
        )
        for name in package.__all__:
            thing = getattr(package, name)
            if inspect.isclass(thing):
                methods = inspect.getmembers(thing, inspect.isfunction)
                found |= {
                    f"{name}.{key}": inspect.signature(one)
                    for key, one in methods
                    if not key.startswith("_")
                }
            elif inspect.isfunction(thing):
                found[f"{package.__name__}.{name}"] = inspect.signature(thing)
    return found


def written(annotation: object) -> str:
    """Return a type as it is written, without the modules of names."""
    text = (
        annotation
        if isinstance(annotation, str)
        else inspect.formatannotation(annotation)
    )
    return re.sub(r"\b(?:\w+\.)+(?=\w)", "", text)


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_a_keyword_accepts_the_same_everywhere(keyword):
    found = {
        name: written(one.parameters[keyword].annotation)
        for name, one in signatures().items()
        if keyword in one.parameters
    }
    assert (
        found
        and {
            name: text for name, text in found.items() if text not in KEYWORDS[keyword]
        }
        == {}
    )


def test_an_option_means_the_same_in_all_commands():
    """The names of a motion's file and of another file differ in the help: OUT and FILE."""
    found: dict[str, dict[tuple[object, ...], list[str]]] = defaultdict(
        lambda: defaultdict(list)
    )

    def collect(name: str, command: click.Command) -> None:
        if isinstance(command, click.Group):
            for part in command.list_commands(context):
                collect(f"{name} {part}", command.get_command(context, part))
        for one in command.params:
            for flag in one.opts if isinstance(one, click.Option) else ():
                metavar = (one.metavar or "").replace("OUT", "FILE")
                found[flag][metavar, one.type.name, "-o" in one.opts].append(name)

    context = click.Context(app)
    for name in COMMANDS:
        collect(name, app.get_command(context, name))
    different = {
        flag: dict(meanings) for flag, meanings in found.items() if len(meanings) > 1
    }
    assert different.keys() == HOMONYMS, different
    assert set(found["-o"]) == set(found["--output"])


@pytest.mark.parametrize("stub", sorted(PACKAGES.rglob("__init__.pyi")), ids=str)
def test_each_name_of_a_stub_is_found(stub):
    """Names are found whether their import is on one line or wrapped."""
    module = import_module(".".join(stub.parent.relative_to(PACKAGES.parent).parts))
    names = {
        alias.asname
        for node in ast.parse(stub.read_text()).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname is not None
    }
    assert names <= {*module.__all__}


def test_former_names_are_the_present_ones_with_a_warning():
    for name, present in bodymotion._RENAMED.items():
        with pytest.warns(DeprecationWarning, match=present):
            former = getattr(bodymotion, name)
        assert former is resolve_name(present)
        assert name not in bodymotion.__all__
