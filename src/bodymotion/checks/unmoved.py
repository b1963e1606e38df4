"""For formats whose readers keep no `source.locations` yet: locations found by reading the file again, and repeated findings left out.

This module and `old_*` go when the last of these formats has moved.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, replace
from pathlib import Path

from bodymotion.checks.old_parts import parts_of
from bodymotion.checks.old_places import LARGEST, places_of
from bodymotion.diagnostics import Location, Problem
from bodymotion.model.body import Body

SAID: dict[str, tuple[str, ...]] = {
    "BODY101": ("WRL110", "BDY122", "URDF111", "MJCF107"),
    "BODY102": ("WRL110", "BDY122", "URDF111", "MJCF107"),
    "BODY104": ("WRL111", "BDY121"),
    "BODY105": ("WRL147", "BDY108", "VRML118", "URDF126", "MJCF110"),
    "BODY110": ("WRL122", "BDY132", "URDF122"),
    "BODY111": ("WRL123", "BDY133", "URDF123", "MJCF113"),
    "BODY112": ("WRL130", "BDY137", "URDF125", "MJCF153"),
    "BODY113": (),
    "BODY115": ("BDY115", "BDY104"),
    "BODY117": ("WRL125", "BDY135"),
    "BODY118": ("WRL124", "WRL125", "BDY136"),
    "BODY119": ("WRL137", "BDY128"),
    "BODY120": ("WRL138",),
    "BODY121": ("WRL133",),
    "BODY130": ("WRL141", "BDY140", "URDF130", "MJCF134"),
    "BODY131": ("WRL142", "WRL141", "WRL147", "BDY143", "BDY142", "BDY140", "BDY114", "URDF130", "MJCF130", "MJCF120"),
    "BODY132": ("WRL143", "BDY143", "BDY114", "MJCF130"),
    "BODY133": ("WRL145", "BDY145", "MJCF131"),
    "BODY134": ("WRL144", "BDY144"),
    "BODY136": ("BDY142", "BDY114"),
    "BODY137": ("BDY114", "WRL147"),
    "BODY151": ("WRL160", "WRL161", "WRL162"),
    "BODY152": ("WRL163", "WRL164", "WRL165", "WRL166", "BDY155"),
    "BODY153": ("WRL167", "BDY156"),
    "BODY162": ("WRL122", "WRL123", "BDY132"),
}
"""For a rule here those of the readers that report the same."""

_WORDS = {"velocity_lower": "velocity", "velocity_upper": "velocity", "center_of_mass": "center", "rotation": "turn"}
_QUOTED = re.compile("'([^']+)'|\"([^\"]+)\"")


@dataclass(frozen=True)
class _Said:
    """Of what a reader has reported by a rule: lines (path and number), and names in quotes."""

    lines: set[tuple[str | None, int]]
    names: set[str]


_NOTHING = _Said(set(), set())


def adjusted(body: Body, problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """Return the problems with locations, without those that the reader has reported by a rule of its own."""
    if body.source.locations:
        return problems
    humanoid = _no_humanoid(body)
    if not problems:
        return humanoid
    said = _said(body)
    places = places_of(body)
    kept: list[tuple[Problem, tuple[int, str]]] = []
    for problem in problems:
        codes = SAID.get(problem.rule, ())
        if (not problem.subject or problem.rule in ("BODY115", "BODY151")) and any(code in said for code in codes):
            continue
        part = (-1, "")
        if len(problem.subject) >= 2:
            kind, number = str(problem.subject[0]), problem.subject[1]
            if kind in ("links", "devices", "extra_joints") and isinstance(number, int):
                known = places.get(kind, ())
                place = known[number] if number < len(known) else problem.location
                if any(_is_echo(said.get(code, _NOTHING), place, _names(body, kind, number)) for code in codes):
                    continue
                problem = replace(problem, location=place)
                if kind == "links" and len(problem.subject) > 2:
                    field = str(problem.subject[2])
                    part = (number, _WORDS.get(field, field))
        kept.append((problem, part))
    found = parts_of(body, {part for _, part in kept if part[0] >= 0}, places.get("links", ()))
    result = []
    for problem, part in kept:
        exact = found.get(part)
        if exact is None:
            result.append(problem)
        elif not any((exact.path, exact.line) in said.get(code, _NOTHING).lines for code in SAID.get(problem.rule, ())):
            result.append(replace(problem, location=exact))
    return (*humanoid, *result)


def _names(body: Body, kind: str, number: int) -> set[str]:
    if kind == "links":
        link = body.links[number]
        return {link.name, link.joint.name, *(segment.name for segment in link.segments)}
    return {getattr(body, kind)[number].name}


def _is_echo(said: _Said, place: Location, names: set[str]) -> bool:
    return (place.line is not None and (place.path, place.line) in said.lines) or bool(said.names & names)


def _said(body: Body) -> dict[str, _Said]:
    said: dict[str, _Said] = {}
    for problem in body.problems:
        of_rule = said.setdefault(problem.rule, _Said(set(), set()))
        if problem.location.line is not None:
            of_rule.lines.add((problem.location.path, problem.location.line))
        of_rule.names.update(name for pair in _QUOTED.findall(problem.message) for name in pair if name)
    return said


def _no_humanoid(body: Body) -> tuple[Problem, ...]:
    source = body.source
    if source.format != "openhrp" or source.version or source.path is None or not _names_joints(source.path):
        return ()
    from bodymotion.formats.openhrp.rules import NO_HUMANOID

    return (NO_HUMANOID.problem("the file has joints and no Humanoid", Location(str(source.path), 1, 1)),)


def _names_joints(path: Path) -> bool:
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return False
        return re.search(rb"\b(?:Humanoid|Joint|Segment)\b", path.read_bytes()) is not None
    except OSError:
        return False


def location_of_text(text: str, body: Body) -> Location:
    """Return where a file of the body first has a text; the first file where none does."""
    files = (body.source.path, *body.source.parts)
    for path in files:
        try:
            if path is None or not path.is_file() or path.stat().st_size > LARGEST:
                continue
            data = path.read_bytes()
        except OSError:
            continue
        at = data.find(text.encode("utf-8", "replace"))
        if text and at >= 0:
            lines = [0, *(match.end() for match in re.finditer(rb"\r\n?|\n", data))]
            line = bisect_right(lines, at)
            return Location(str(path), line, len(data[lines[line - 1] : at].decode("utf-8", "replace")) + 1)
    return Location(None if files[0] is None else str(files[0]))
