"""Where the elements that say a link's joint and mass stand in a URDF or an MJCF file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from xml.parsers import expat

from bodymotion.formats.xml.tree import Document, Element

if TYPE_CHECKING:
    from bodymotion.diagnostics import Location
    from bodymotion.model.links import Link

__all__ = ["BelowLinks", "Spot"]

Spot: TypeAlias = tuple[int, int]
"""Line and column."""

KEPT = ("joint", "freejoint", "limit", "axis", "origin", "child", "inertial", "mass", "inertia")

_Below: TypeAlias = dict[str, list[Element]]
"""Elements by the way to them: `""` is the holder itself, `inertial/mass` a <mass> in an <inertial> in it."""


class BelowLinks:
    """What stands below some links of a file, found in one pass that keeps nothing else.

    In URDF what says a joint stands in a <joint> beside the links, and here with the link that it holds, after `joint/`. In MJCF all is
    in the <body>, or in a <frame> in it.

    Raises
    ------
    ValueError
        When the file is no XML that can be looked through; no more than that it has changed, as it has been read before.
    """

    def __init__(self, data: bytes, path: Path, spots: set[Spot], names: set[str]) -> None:
        self._document, self._spots, self._names = Document(str(path), data), spots, names
        self._found: dict[Spot, _Below] = {}
        self._joints: dict[str, _Below] = {}
        self._open: list[tuple[_Below, str]] = []
        self._urdf = False
        self._parser = expat.ParserCreate()
        self._parser.ordered_attributes = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        try:
            self._parser.Parse(data, True)
        except (expat.ExpatError, LookupError) as error:
            raise ValueError(str(error)) from error
        finally:
            del self._parser

    def place(self, spot: Spot, link: Link, words: tuple[str, ...]) -> Location | None:
        """Return the place of the first of `words` (`inertial/mass@value`: an attribute of an element) below the link at `spot`."""
        below = self._found.get(spot, {})
        for word in words:
            way, _, attribute = word.partition("@")
            element = self._element(below, way, link)
            if element is not None and (not attribute or attribute in element.attributes):
                return element.location_of(attribute) if attribute else element.location
        return None

    def _element(self, below: _Below, way: str, link: Link) -> Element | None:
        first, _, rest = way.partition("/")
        if self._urdf:
            found = self._joints.get(link.name, {}).get(rest, []) if first == "joint" else below.get(way, [])
            return found[0] if found else None
        found = below.get(way, [])
        if first == "joint":
            # A body with several joints is several links.
            found = [one for one in found if one.get("name") == link.joint.name] or (found if len(found) == 1 else [])
        return found[0] if found else None

    def _start(self, name: str, attributes: list[str]) -> None:
        if not self._open:
            self._urdf = name == "robot"
        holds = (len(self._open) == 1 and name in ("link", "joint")) if self._urdf else name in ("body", "worldbody")
        below, way = ({}, "") if holds or not self._open else self._open[-1]
        if not holds and name != "frame":
            way = f"{way}/{name}" if way else name
        if holds or name in KEPT:
            parser = self._parser
            element = Element(
                name,
                dict(zip(attributes[::2], attributes[1::2], strict=True)),
                line=parser.CurrentLineNumber,
                column=parser.CurrentColumnNumber + 1,
                document=self._document,
                offset=parser.CurrentByteIndex,
            )
            below.setdefault(way, []).append(element)
        self._open.append((below, way))

    def _end(self, name: str) -> None:
        below, way = self._open.pop()
        if way or "" not in below:
            return
        holder = below[""][0]
        if holder.name != "joint":
            spot = (holder.line or 0, holder.column or 0)
            if spot in self._spots:
                self._found[spot] = below
            return
        held = next((child.get("link") for child in below.get("child", [])), "")
        if held in self._names:
            self._joints.setdefault(held, below)
