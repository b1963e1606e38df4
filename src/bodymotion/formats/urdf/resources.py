"""The files that a URDF model names, and which of them may be opened.

A relative path starts from the folder of the model; `package://NAME/path` from the folder of the package NAME: one of `package_paths`
(it, or a folder NAME in it), else a folder NAME beside the model, else the ROS package around the model (the folder with a `package.xml`)
if it says that it is NAME, else a folder NAME at or beside a folder above the model, if it is a ROS package. Opened are files in the
folder tree of the model, and of packages found in this way. A model inside of a package may name every file of it: `../meshes/arm.stl`
is how most do.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from bodymotion.formats.urdf import rules
from bodymotion.formats.urdf.packages import SIGN, package_above, package_name
from bodymotion.formats.vrml.inline import LIES_OUTSIDE, OUTSIDE, InlineLoader

if TYPE_CHECKING:
    from bodymotion.diagnostics import Location, Problem

__all__ = ["FileFinder"]

PACKAGE = "package://"
PACKAGE_LOST = "which is not found"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


class FileFinder:
    """Finds the files of one model; what is missing goes to `problems`, once for each name."""

    def __init__(
        self, model: Path, package_paths: Iterable[str | Path], allow_outside: bool, problems: list[Problem]
    ) -> None:
        self.model, self.allow_outside, self.problems = model, allow_outside, problems
        self.package_paths = [Path(path) for path in package_paths]
        self.folder = _real(model.parent)
        self.home = package_above(self.folder)
        self.own = InlineLoader(self.home or self.folder, allow_outside, model=model)
        self._packages: dict[str, InlineLoader | None] = {}
        self._found: dict[str, tuple[Path, InlineLoader] | None] = {}

    def find(self, uri: str, location: Location) -> tuple[Path, InlineLoader] | None:
        """Return the file that a uri means, and what finds the files that this one names; None where there is none to be opened."""
        if uri not in self._found:
            words = "is not named"
            self._found[uri] = None
            if uri:
                path, parts, words = self._look(uri, location)
                if path is not None and parts is not None:
                    self._found[uri] = path, parts
            if self._found[uri] is None:
                outside = words == LIES_OUTSIDE
                hint = rules.PACKAGE_PATHS if PACKAGE_LOST in words else OUTSIDE if outside else None
                problem = rules.RESOURCE_MISSING.problem(f"{uri!r:.200} {words}", location, hint)
                # That it is not opened is our own rule, no fault of the file.
                self.problems.append(replace(problem, severity="warning") if outside else problem)
        return self._found[uri]

    def _look(self, uri: str, location: Location) -> tuple[Path | None, InlineLoader | None, str]:
        base = self.model
        if uri.startswith(PACKAGE) or uri.startswith("model://"):
            name, _, rest = uri.partition("://")[2].partition("/")
            parts = self._package(name)
            if parts is None:
                return None, None, f"is in the package {name!r:.60}, {PACKAGE_LOST}"
            return self._resolved(parts, rest, None, location)
        if uri.lower().startswith("file:"):
            uri = unquote(re.sub(r"^file:(//(localhost)?(?=/))?(//)?", "", uri, flags=re.IGNORECASE))
        elif _SCHEME.match(uri) and not re.match(r"[A-Za-z]:[\\/]", uri):
            return None, None, "is not opened"
        if uri.startswith("/"):
            # As a path from the model's folder: those that lead out of the tree are known by that.
            uri = os.path.relpath(uri, self.folder)
        return self._resolved(self.own, uri, base, location)

    def _resolved(
        self, parts: InlineLoader, name: str, base: Path | None, location: Location
    ) -> tuple[Path | None, InlineLoader | None, str]:
        known = len(parts.problems)
        path = parts.resolve_urls([name], base, location)
        words = "is missing"
        if len(parts.problems) > known:
            if "outside" in parts.problems[-1].message:
                words = LIES_OUTSIDE
            del parts.problems[known:]
        return path, parts if path is not None else None, words

    def _package(self, name: str) -> InlineLoader | None:
        if name not in self._packages:
            home = self._home(name) if name not in ("", ".", "..") else None
            self._packages[name] = None if home is None else InlineLoader(home, self.allow_outside)
        return self._packages[name]

    def _home(self, name: str) -> Path | None:
        """Return the folder of a package."""
        for given in self.package_paths:
            for folder in (given, given / name):
                if folder.name == name and folder.is_dir():
                    return folder
        if (self.folder / name).is_dir():
            return self.folder / name
        if self.home is not None and package_name(self.home) == name:
            return self.home
        for above in (self.folder, *self.folder.parents):
            for folder in (above, above / name):
                good = self.allow_outside or (folder / SIGN).is_file()
                if folder.name == name and folder.is_dir() and good:
                    return folder
        return None


def _real(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path.absolute()
