"""Where in its file stands what is said of a link: the limit, the axis, the inertia that a finding is about.

Readers keep no more than the places of links (`Source.places`). Only of a body of which there is something to say the file is looked
at once more, for the places of what is said; so all that is sound costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from bodymotion.checks.old_parts_in_xml import BelowLinks, Spot
from bodymotion.diagnostics import FormatError, Location
from bodymotion.model.body import Body
from bodymotion.system.open_files import open_file

if TYPE_CHECKING:
    from bodymotion.formats.vrml.nodes import Node
    from bodymotion.model.links import Link

__all__ = ["parts_of"]

_URDF = {
    **{part: (f"joint@{part}", "joint") for part in ("name", "type")},
    **{part: (f"joint/limit@{part}", "joint/limit", "joint") for part in ("lower", "upper", "velocity")},
    "axis": ("joint/axis@xyz", "joint"),
    "offset": ("joint/origin@xyz", "joint"),
    "turn": ("joint/origin@rpy", "joint"),
    "mass": ("inertial/mass@value", "inertial"),
    "center": ("inertial/origin@xyz", "inertial"),
    "inertia": ("inertial/inertia", "inertial"),
}
_MJCF = {
    **{part: (f"joint@{part}", "joint", "freejoint") for part in ("name", "type", "axis")},
    **dict.fromkeys(("lower", "upper"), ("joint@range", "joint")),
    "rotor_inertia": ("joint@armature", "joint"),
    "offset": ("@pos",),
    "turn": tuple(f"@{name}" for name in ("quat", "axisangle", "euler", "xyaxes", "zaxis")),
    "mass": ("inertial@mass", "inertial"),
    "center": ("inertial@pos", "inertial"),
    "inertia": ("inertial@fullinertia", "inertial@diaginertia", "inertial"),
}
_MOTOR = ("gear_ratio", "gear_efficiency", "rotor_inertia", "rotor_resistor", "torque_const", "encoder_pulse")
_OPENHRP = {
    "lower": ("llimit",),
    "upper": ("ulimit",),
    "velocity": ("lvlimit", "uvlimit"),
    "climit": ("climit",),
    "type": ("jointType",),
    "id": ("jointId",),
    "axis": ("jointAxis",),
    "offset": ("translation",),
    "turn": ("rotation",),
    "mass": ("mass",),
    "center": ("centerOfMass",),
    "inertia": ("momentsOfInertia",),
    "gear_ratio": ("gearRatio",),
    "gear_efficiency": ("gearEfficiency",),
    "rotor_inertia": ("rotorInertia",),
    "rotor_resistor": ("rotorResistor",),
    "torque_const": ("torqueConst",),
    "encoder_pulse": ("encoderPulse",),
}
WORDS: dict[str, Mapping[str, tuple[str, ...]]] = {"urdf": _URDF, "mjcf": _MJCF, "openhrp": _OPENHRP}
"""For each format, what may say a part of a link: the first of these that is there.

In XML the elements below a link's, and an attribute; in URDF `joint` is the one that holds the link.
"""

LARGEST = 16 << 20
"""In a file of more bytes nothing is looked for."""

_Lookup: TypeAlias = "Callable[[Spot, Link, tuple[str, ...]], Location | None]"


def parts_of(
    body: Body, wanted: Collection[tuple[int, str]], links: tuple[Location, ...]
) -> dict[tuple[int, str], Location]:
    """Return the places of parts of links, each named by the link's index and a word of `WORDS`, as far as they are found.

    `links` are the places of the links. Where a file is not there any more, is too large or has changed since, nothing may be found.
    """
    words = WORDS.get(body.source.format, {})
    by_path: dict[str, list[tuple[int, str]]] = {}
    for index, part in wanted:
        if part in words and index < len(links) and links[index].path and links[index].line is not None:
            by_path.setdefault(str(links[index].path), []).append((index, part))
    found: dict[tuple[int, str], Location] = {}
    for path, there in by_path.items():
        data = _content(Path(path))
        if data is None:
            continue
        spots = {_spot(links[index]) for index, _ in there}
        try:
            lookup = _FINDERS[body.source.format](
                data, Path(path), spots, {body.links[index].name for index, _ in there}
            )
        except (FormatError, ValueError):
            continue
        for index, part in there:
            place = lookup(_spot(links[index]), body.links[index], words[part])
            if place is not None:
                found[index, part] = place
    return found


def _spot(place: Location) -> Spot:
    return place.line or 0, place.column or 0


def _content(path: Path) -> bytes | None:
    try:
        with open_file(path) as file:
            data = file.read(LARGEST + 1)
    except (OSError, ValueError):
        return None
    return data if len(data) <= LARGEST else None


def _in_xml(data: bytes, path: Path, spots: set[Spot], names: set[str]) -> _Lookup:
    return BelowLinks(data, path, spots, names).place


def _in_openhrp(data: bytes, path: Path, spots: set[Spot], names: set[str]) -> _Lookup:
    from bodymotion.formats.vrml.reader import parse_vrml

    scene = parse_vrml(data, path)
    nodes = _nodes([*scene.nodes, *(node for proto in scene.protos.values() for node in proto.body)])
    found = {spot: node for node in nodes if node.type == "Joint" and (spot := _spot(node.location)) in spots}

    def place(spot: Spot, link: Link, words: tuple[str, ...]) -> Location | None:
        if spot not in found:
            return None
        segments = [node for node in _nodes([found[spot]], below="Joint") if node.type == "Segment"]
        for word in words:
            said = [node for node in (found[spot], *segments) if word in node.offsets]
            if len(said) == 1:
                return said[0].location_of(word)
        return None

    return place


def _nodes(tops: list[Node], below: str = "") -> Iterator[Node]:
    """Return nodes and all in them, each once, but not what is of the type `below` and in them."""
    from bodymotion.formats.vrml.nodes import Node

    stack, seen = tops[::-1], set[int]()
    first = True
    while stack:
        node = stack.pop()
        if id(node) in seen or (below and not first and node.type == below):
            continue
        first = False
        seen.add(id(node))
        yield node
        for value in node.fields.values():
            stack += [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, Node)]


_FINDERS: dict[str, Callable[[bytes, Path, set[Spot], set[str]], _Lookup]] = {
    "urdf": _in_xml,
    "mjcf": _in_xml,
    "openhrp": _in_openhrp,
}
