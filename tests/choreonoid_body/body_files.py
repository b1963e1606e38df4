"""Small .body files, made in the tests."""

from __future__ import annotations

from pathlib import Path

from bodymotion.checks.bodies import check_body
from bodymotion.formats.choreonoid_body import parse_body
from bodymotion.model.body import Body

HEAD = "format: ChoreonoidBody\nformat_version: 2.0\nname: Test\n"


def parsed(text: str, folder: Path = Path("folder"), **options) -> Body:
    """Read a text as a .body file in a folder."""
    return parse_body(text.encode(), folder / "test.body", **options)


def with_links(text: str, **options) -> Body:
    """Read a file with these links."""
    return parsed(f"{HEAD}links:\n{text}", **options)


def link_with(text: str, **options) -> Body:
    """Read a file with one link that has these keys beside its name, each line of the text one more step indented."""
    lines = "".join(f"    {line}\n" for line in text.splitlines())
    return with_links(f"  -\n    name: BASE\n{lines}", **options)


def rules(body: Body) -> list[str]:
    """Return the rules that a file breaks, those about the meaning of the model left out."""
    return [problem.rule for problem in body.problems]


def all_rules(body: Body) -> set[str]:
    """Return the rules that a file and the model in it break."""
    return {problem.rule for problem in check_body(body)}
