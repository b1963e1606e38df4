"""Where a thing came from: what a save needs to write it back alike. Never part of `==`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bodymotion.diagnostics import Location

__all__ = ["Source"]


@dataclass(frozen=True)
class Source:
    """`format` ("seq", "openhrp", …), `path`, `version` as the file gives it, text `encoding`, and the format's `options`."""

    format: str = ""
    path: Path | None = None
    version: str = ""
    encoding: str = ""
    options: Mapping[str, object] = field(default_factory=dict)
    parts: tuple[Path, ...] = ()
    """Other files that were read for this one."""
    places: Mapping[str, tuple[Location, ...]] = field(default_factory=dict, repr=False)
    """Where a body's "links", "devices" and "extra_joints" stand in the file, in their order; empty where the reader does not say."""
