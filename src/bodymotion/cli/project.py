"""Defaults of a project: `[tool.bodymotion]` in `bodymotion.toml` or `pyproject.toml`.

The nearest such table counts: of the current folder, or else of a folder above it. Its
keys have the names of options, and relative paths are relative to the file::

    [tool.bodymotion]
    body = "models/robot.urdf"
    package-path = ["models"]
    select = ["MOT", "BODY"]
    ignore = ["BODY136"]

An option on the command line replaces its default.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from bodymotion.diagnostics.spelling import choices

FILES = ("bodymotion.toml", "pyproject.toml")
MAX_BYTES = 1 << 20  # [bytes] A larger file is no file of settings.
WITH_BODY = ("check", "diff", "edit", "retime", "catalogue")
"""The commands whose option `--body` has the default of the project."""
BODY = "body"
PACKAGE_PATH = "package-path"
RULES = ("select", "ignore")


@dataclass(frozen=True)
class Project:
    """The defaults of a project, and the file that has them."""

    path: Path
    body: str | None = None
    package_paths: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def options_of(self, command: str) -> dict[str, Any]:
        """Return the defaults of a command, by the names of its parameters."""
        found: dict[str, Any] = {}
        if self.body is not None and command in WITH_BODY:
            found["body"] = self.body
        if self.package_paths:
            found["package_paths"] = list(self.package_paths)
        # Only this command reports rules by selection.
        if command == "check":
            if self.select:
                found["select"] = list(self.select)
            if self.ignore:
                found["ignore"] = list(self.ignore)
        return found


def find_project(folder: Path) -> Project | None:
    """Return the defaults that hold in a folder.

    None where no file has any.

    Raises
    ------
    click.UsageError
        When the file is no TOML, or a key or its value is none of a project.
    """
    # The nearest folder with a table counts, as of other tools.
    for above in (folder, *folder.parents):
        for name in FILES:
            path = above / name
            if path.is_file():
                table = _table(path)
                if table is not None:
                    return _project(path, table)
    return None


def _table(path: Path) -> Mapping[str, Any] | None:
    """Return `[tool.bodymotion]` of a file.

    None without it, and for a pyproject.toml that cannot be read.
    """
    try:
        # The file may be that of anyone, in a folder above: it is not read to any
        # length.
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise ValueError(f"the file has {size} bytes; expected at most {MAX_BYTES}")
        content = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        if path.name != FILES[0]:
            # A pyproject.toml of others is theirs to repair.
            return None
        raise click.UsageError(f"{path}: {error}") from None
    tools = content.get("tool")
    if isinstance(tools, dict):
        table = tools.get("bodymotion")
    else:
        table = None
    if table is not None and not isinstance(table, dict):
        raise click.UsageError(
            f"{path}: tool.bodymotion is {table!r:.60}; expected a table"
        )
    return table


def _project(path: Path, table: Mapping[str, Any]) -> Project:
    """Return the defaults in a table; a wrong one is wrong use."""
    known = (BODY, PACKAGE_PATH, *RULES)
    # A misspelt key would have no effect, and nobody would notice.
    for key in table:
        if key not in known:
            raise click.UsageError(
                f"{path}: [tool.bodymotion] has no key {key!r}; {choices(key, known)}"
            )
    body = table.get(BODY)
    if body is not None and not isinstance(body, str):
        raise click.UsageError(
            f"{path}: {BODY} is {body!r:.60}; expected the path of a model as text"
        )
    lists = {key: _texts(path, key, table.get(key, [])) for key in known[1:]}
    # Paths are relative to the file, wherever the command is called.
    folder = path.parent
    return Project(
        path,
        body=None if body is None else str(folder / body),
        package_paths=tuple(str(folder / text) for text in lists[PACKAGE_PATH]),
        select=lists["select"],
        ignore=lists["ignore"],
    )


def _texts(path: Path, key: str, value: object) -> tuple[str, ...]:
    """Return a list of texts, or one text as such a list."""
    entries = [value] if isinstance(value, str) else value
    if not isinstance(entries, list) or not all(isinstance(e, str) for e in entries):
        raise click.UsageError(
            f"{path}: {key} is {value!r:.60}; expected a text or a list of texts"
        )
    return tuple(entries)


def defaults_of(command: str) -> dict[str, Any]:
    """Return the defaults of a command in the current folder."""
    project = find_project(Path.cwd())
    if project is None:
        return {}
    return project.options_of(command)
