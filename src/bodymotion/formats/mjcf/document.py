"""The file and those that it includes, as one tree."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bodymotion.diagnostics import FormatError, Location
from bodymotion.formats.mjcf import rules
from bodymotion.formats.vrml.inline import OUTSIDE, InlineLoader
from bodymotion.formats.xml.tree import MISSING, Element, parse_xml
from bodymotion.system.open_files import open_file

if TYPE_CHECKING:
    from bodymotion.formats.xml.faults import XmlFaults

__all__ = ["included", "read_bytes"]

MOST_BYTES = 10**8
MOST_ELEMENTS = 2 * 10**6
DEEPEST = 250
ROOTS = ("mujoco", "mujocoinclude")


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a file; FormatError where it cannot be read, or is too large."""
    place = Location(str(path))
    try:
        with open_file(path) as file:
            if file.seek(0, 2) > MOST_BYTES:
                raise rules.TOO_LARGE.error(f"the file is larger than {MOST_BYTES} bytes", place)
            file.seek(0)
            return file.read()
    except (OSError, ValueError) as error:
        if isinstance(error, FormatError):
            raise
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise rules.UNREADABLE.error(f"cannot be opened: {reason}", place) from error


def included(
    data: bytes, path: Path, parts: InlineLoader, faults: XmlFaults | None = None
) -> tuple[Element, list[Path]]:
    """Parse a model; the elements of included files stand in the place of their `<include>`.

    With `faults`, those that cannot be read are left out, and noted there.

    Returns
    -------
    The root, and the files that were included.

    Raises
    ------
    FormatError
        When it is no XML or no MJCF, or an included file is missing, lies outside, or is included twice.
    """
    root = parse_xml(data, path, faults)
    if root.name not in ROOTS:
        raise rules.NOT_MJCF.error(f"the root is <{root.name:.60}>, not <mujoco>", root.location)
    files: list[Path] = []
    seen = {path.resolve()}
    stack, count = [(root, 0)], 0
    while stack:
        element, depth = stack.pop()
        count += 1
        if count > MOST_ELEMENTS or depth > DEEPEST:
            raise rules.TOO_LARGE.error("the files hold too many elements, or nested too deep", element.location)
        if any(child.name == "include" for child in element.children):
            children: list[Element] = []
            for child in element.children:
                children += _contents(child, path, parts, seen, files, faults) if child.name == "include" else [child]
            element.children = children
            # What is included may include: look at the same element again.
            stack.append((element, depth))
            continue
        stack += [(child, depth + 1) for child in element.children]
    return root, files


def _contents(
    include: Element, path: Path, parts: InlineLoader, seen: set[Path], files: list[Path], faults: XmlFaults | None
) -> list[Element]:
    try:
        return _contents_of_file(include, path, parts, seen, files, faults)
    except FormatError as error:
        if faults is None:
            raise
        faults.note(error.problem, error.problem.message)
        faults.incomplete = True
        return []


def _contents_of_file(
    include: Element, path: Path, parts: InlineLoader, seen: set[Path], files: list[Path], faults: XmlFaults | None
) -> list[Element]:
    name = include.get("file")
    if not name:
        raise MISSING.error("<include> has no file", include.location)
    holder = Path(include.path) if include.path else path
    told = len(parts.problems)
    # MuJoCo starts from the folder of the model, and then from that of the file which includes.
    found = parts.resolve_urls([name], path, include.location)
    if found is None and holder != path:
        found = parts.resolve_urls([name], holder, include.location)
    if found is None:
        why = parts.problems[-1].message if len(parts.problems) > told else f"{name!r:.200} is missing"
        raise rules.INCLUDE.error(why, include.place("file"), OUTSIDE if "outside" in why else None)
    del parts.problems[told:]
    real = found.resolve()
    if real in seen:
        raise rules.INCLUDE.error(f"{found.name} is included twice, or includes itself", include.place("file"))
    seen.add(real)
    files.append(found)
    root = parse_xml(read_bytes(found), found, faults)
    if root.name not in ROOTS:
        raise rules.NOT_MJCF.error(
            f"the root of {found.name} is <{root.name:.60}>, neither <mujoco> nor <mujocoinclude>", root.location
        )
    return root.children
