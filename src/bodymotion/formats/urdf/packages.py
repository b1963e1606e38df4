"""ROS packages: the folders that `package://NAME/…` starts from, known by their `package.xml`."""

from __future__ import annotations

import re
from pathlib import Path

from bodymotion.diagnostics import FormatError
from bodymotion.formats.xml.tree import parse_xml

__all__ = ["SIGN", "is_package_name", "package_above", "package_name", "package_prefix"]

SIGN = "package.xml"
LARGEST = 10**6
_LEGAL = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


def package_above(folder: Path) -> Path | None:
    """Return the nearest folder, this one or above it, that is a package; None where there is none."""
    return next((above for above in (folder, *folder.parents) if (above / SIGN).is_file()), None)


def package_name(package: Path) -> str:
    """Return the name that a package's package.xml says, which may not be the one of its folder; empty where it says none."""
    try:
        file = package / SIGN
        root = parse_xml(file.read_bytes()) if file.stat().st_size <= LARGEST else None
    except (OSError, FormatError):
        return ""
    name = root.first("name") if root is not None else None
    return name.text.strip() if name is not None else ""


def is_package_name(name: str) -> bool:
    """Whether a package can be called so (ROS REP 144: letters, digits, underscores, hyphens; a letter first)."""
    return _LEGAL.fullmatch(name) is not None


def package_prefix(model: Path, name: str) -> tuple[str, str]:
    """Return what stands before paths from a model's folder in the words of the package called `name`, and what is to be noted of it.

    The package is the one around the model, and its path inside of that is a part of the prefix.

    Raises
    ------
    ValueError
        When no package can have the name.
    """
    if not is_package_name(name):
        raise ValueError(f"{name!r:.60} is no name of a package: letters, digits, _ and - after a letter")
    folder = model.absolute().parent.resolve()
    home = package_above(folder)
    if home is None:
        return (
            f"package://{name}/",
            f"there is no {SIGN} above the file: its folder is taken for that of the package {name}",
        )
    inside = folder.relative_to(home).as_posix()
    said = package_name(home)
    note = f"the {SIGN} above the file is of the package {said!r:.60}, not {name}" if said not in ("", name) else ""
    return f"package://{name}/" + (f"{inside}/" if inside != "." else ""), note
