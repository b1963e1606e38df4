"""Where the parts of a body stand in its file."""

from __future__ import annotations

import re
from bisect import bisect_right
from pathlib import Path

from bodymotion.diagnostics import Location
from bodymotion.model.body import Body

__all__ = ["places_of"]

LARGEST = 64 << 20
"""In a file of more bytes nothing is looked for."""

_START = {
    "urdf": re.compile(rb"""<(?P<kind>link|joint)\b[^<>]*?\bname\s*=\s*(?P<quote>["'])(?P<name>.*?)(?P=quote)"""),
    "mjcf": re.compile(rb"""<(?P<kind>body)\b[^<>]*?\bname\s*=\s*(?P<quote>["'])(?P<name>.*?)(?P=quote)"""),
}


def places_of(body: Body) -> dict[str, tuple[Location, ...]]:
    """Return the locations of a body's "links", "devices" and "extra_joints", in their order, as far as they are known.

    They are those that the reader has kept; for XML formats a link is where its name stands in its tag. Of a body that was changed since
    (other links than the file's) none are known.
    """
    source = body.source
    wanted = {"links": body.links, "devices": body.devices, "extra_joints": body.extra_joints}
    kept = {name: places for name, places in source.places.items() if len(places) == len(wanted.get(name, ()))}
    if "links" not in kept and source.format in _START and source.path is not None:
        kept["links"] = _in_xml(body, source.path, _START[source.format])
    return kept


def _in_xml(body: Body, path: Path, start: re.Pattern[bytes]) -> tuple[Location, ...]:
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return ()
        data = path.read_bytes()
    except OSError:
        return ()
    lines = [0, *(match.end() for match in re.finditer(rb"\n", data))]
    found: dict[str, Location] = {}
    for match in start.finditer(data):
        name = match["name"].decode("utf-8", "replace")
        line = bisect_right(lines, match.start())
        if match["kind"] != b"joint":
            found.setdefault(name, Location(str(path), line, match.start() - lines[line - 1] + 1))
    nowhere = Location(str(path))
    return tuple(found.get(link.name, nowhere) for link in body.links)
