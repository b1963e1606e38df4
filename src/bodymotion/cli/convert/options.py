"""The options of a conversion: which of them say something about the formats at hand."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from bodymotion.formats.registry import Format

__all__ = ["Options", "known", "one"]

NAMES = {
    "version": "--seq-version",
    "style": "--style",
    "se3_format": "--se3-format",
    "frame_time": "--frame-time",
    "digits": "--digits",
    "rate": "--rate",
    "method": "--method",
    "body": "--body",
    "layout": "--layout",
    "columns": "--columns",
    "frame_rate": "--input-rate",
    "degrees": "--degrees",
    "quaternion_order": "--quaternion-order",
    "joint_names": "--joint-names",
    "link_names": "--link-names",
    "from_zero": "--from-zero",
    "mesh": "--mesh",
    "scale": "--scale",
    "root": "--root",
    "fix_inertia": "--fix-inertia",
    "package": "--package",
    "move_params_config": "--move-params",
    "legs": "--legs",
    "bpm": "--bpm",
    "package_paths": "--package-path",
}


@dataclass(frozen=True)
class Options:
    """What was asked for on the command line; in `given`, None stands for what was not."""

    given: Mapping[str, Any]
    write_as: str | None = None
    allow_outside: bool = False
    every: bool = False

    def some(self, *names: str) -> dict[str, Any]:
        """Return the options of these names that were given."""
        return {name: self.given[name] for name in names if self.given[name] is not None}

    def others(self, names: Collection[str]) -> dict[str, Any]:
        """Return the options that were given, but those of these names."""
        return {name: value for name, value in self.given.items() if value is not None and name not in names}


def one(format: Format) -> str:
    """Return a format's title with its article."""
    return f"{'an' if format.title[0] in 'AEIOU' else 'a'} {format.title}"


def known(asked: Mapping[str, Any], names: Collection[str], format: Format) -> dict[str, Any]:
    """Let options pass that a format knows; one that says nothing about it is wrong use."""
    given = {name: value for name, value in asked.items() if value is not None}
    for name in given:
        if name not in names:
            raise typer.BadParameter(f"it says nothing about {one(format)}", param_hint=NAMES[name])
    return given
