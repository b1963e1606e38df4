"""What is being found out about a body: the findings so far, where its parts stand in the file, and what the reader has said already."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from bodymotion.checks.parts import parts_of
from bodymotion.checks.places import places_of
from bodymotion.checks.rules import SAID
from bodymotion.diagnostics import Location, Problem, Rule
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.shapes import Shape
from bodymotion.model.body import Body
from bodymotion.model.devices import Device
from bodymotion.model.links import Link

__all__ = ["Sheet", "some"]

Box = tuple[Floats, Floats]

MANY = 500
"""For more links than this it is worth to load the compiled kinematics."""


_QUOTED = re.compile("'([^']+)'|\"([^\"]+)\"")


@dataclass(frozen=True)
class _Said:
    """Of what a reader has spoken by a rule: lines (path and number), and names in quotes."""

    lines: set[tuple[str | None, int]]
    names: set[str]


_NOTHING = _Said(set(), set())


@dataclass
class Sheet:
    """A body under examination."""

    body: Body
    problems: list[Problem] = field(default_factory=list)
    _parts: dict[int, tuple[int, str]] = field(default_factory=dict)
    """For problems, by their number, the link and the part of it that is wrong."""

    def of_link(self, rule: Rule, link: Link, message: str, part: str = "", hint: str | None = None) -> None:
        """Say that a link, or its joint, breaks a rule; `message` goes on after the link's name.

        `part` is what is wrong with it, a word of `bodymotion.checks.parts.WORDS`.
        """
        said = len(self.problems)
        title = f"link {link.name!r}" if link.name else f"link {link.index}"
        names = {link.name, link.joint.name, *(segment.name for segment in link.segments)}
        self._say(rule, f"{title} {message}", self._place("links", link.index), names, hint)
        if part and len(self.problems) > said:
            self._parts[said] = (link.index, part)

    def of_device(self, rule: Rule, number: int, message: str) -> None:
        """Say that device `number` breaks a rule."""
        device = self.body.devices[number]
        self._say(rule, f"{name_of(device)} {message}", self._place("devices", number), {device.name})

    def of_extra_joint(self, rule: Rule, number: int, message: str) -> None:
        """Say that an extra joint breaks a rule."""
        joint = self.body.extra_joints[number]
        title = f"extra joint {joint.name!r}" if joint.name else f"extra joint {number}"
        self._say(rule, f"{title} {message}", self._place("extra_joints", number), {joint.name})

    def of_body(self, rule: Rule, message: str) -> None:
        """Say that the body as a whole breaks a rule."""
        path = self.body.source.path
        if not any(code in self._said for code in SAID.get(rule.code, ())):
            self.problems.append(rule.problem(message, Location(None if path is None else str(path))))

    def is_said(self, rule: Rule) -> bool:
        """Whether the reader has said of the whole body what a rule says of a part."""
        return any(code in self._said for code in SAID.get(rule.code, ()))

    def placed(self) -> tuple[Problem, ...]:
        """Return the problems, those of links at what is wrong in the file as far as that is found."""
        found = parts_of(self.body, set(self._parts.values()), self._places.get("links", ())) if self._parts else {}
        placed: list[Problem] = []
        for number, problem in enumerate(self.problems):
            place = found.get(self._parts.get(number, (-1, "")))
            if place is None:
                placed.append(problem)
            elif not any(
                (place.path, place.line) in self._said.get(code, _NOTHING).lines for code in SAID.get(problem.rule, ())
            ):
                placed.append(replace(problem, location=place))
        return tuple(placed)

    def _place(self, kind: str, number: int) -> Location:
        places = self._places.get(kind, ())
        if number < len(places):
            return places[number]
        path = self.body.source.path
        return Location(None if path is None else str(path))

    def _say(self, rule: Rule, message: str, place: Location, names: set[str], hint: str | None = None) -> None:
        for code in SAID.get(rule.code, ()):
            said = self._said.get(code, _NOTHING)
            if (place.line is not None and (place.path, place.line) in said.lines) or said.names & names:
                return
        self.problems.append(rule.problem(message, place, hint))

    @cached_property
    def _places(self) -> dict[str, tuple[Location, ...]]:
        return places_of(self.body)

    @cached_property
    def _said(self) -> dict[str, _Said]:
        said: dict[str, _Said] = {}
        for problem in self.body.problems:
            of_rule = said.setdefault(problem.rule, _Said(set(), set()))
            if problem.location.line is not None:
                of_rule.lines.add((problem.location.path, problem.location.line))
            of_rule.names.update(name for pair in _QUOTED.findall(problem.message) for name in pair if name)
        return said

    @cached_property
    def at_rest(self) -> Floats:
        """The poses (L, 7) of the links in the world with all joints at 0."""
        if len(self.body.links) > MANY:
            return self.body.forward_kinematics(np.zeros(self.body.num_joints))
        found: list[Floats] = []
        for link in self.body.links:
            found.append(
                poses.compose(found[link.parent], link.offset)
                if link.parent >= 0
                else poses.compose(poses.IDENTITY, self.body.root_pose)
            )
        return np.array(found).reshape(-1, 7)

    @cached_property
    def boxes(self) -> tuple[Box | None, ...]:
        """For each link the lowest and highest corner of its shapes, in its own frame; None where it has none."""
        return tuple(_box(link) for link in self.body.links)

    @cached_property
    def diagonal(self) -> float:
        """The length [m] of the diagonal of the box around all shapes and link frames at rest."""
        there = [k for k, box in enumerate(self.boxes) if box is not None]
        edges = np.array([corners(box) for box in self.boxes if box is not None]).reshape(-1, 8, 3)
        placed = poses.transform_points(self.at_rest[there][:, None], edges)
        together = np.concatenate([self.at_rest[:, :3], placed.reshape(-1, 3)])
        together = together[np.isfinite(together).all(axis=1)]
        return float(np.linalg.norm(together.max(axis=0) - together.min(axis=0))) if len(together) else 0.0


def _box(link: Link) -> Box | None:
    bounds = [b for shape in (*link.visuals, *link.collisions) if (b := _bounds(shape)) is not None]
    if not bounds:
        return None
    box = (np.min([b[0] for b in bounds], axis=0), np.max([b[1] for b in bounds], axis=0))
    return box if np.isfinite(box).all() else None


def _bounds(shape: Shape) -> Floats | None:
    try:
        return shape.bounds
    except IndexError:
        # Of a mesh whose triangles have corners that are not there; a rule of its own says so.
        return None


def corners(box: Box) -> Floats:
    """Return the corners (8, 3) of a box."""
    return np.array([[box[i][0], box[j][1], box[k][2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)])


def distance(box: Box, point: Floats) -> float:
    """Return how far [m] a point is outside of a box, 0 inside."""
    return float(np.linalg.norm(np.maximum(np.maximum(box[0] - point, point - box[1]), 0.0)))


def size(box: Box) -> float:
    """Return the length [m] of a box's diagonal."""
    return float(np.linalg.norm(box[1] - box[0]))


def name_of(device: Device) -> str:
    """Say which device is meant."""
    return (
        f"{device.kind or 'device'} {device.name!r}" if device.name else f"a {device.kind or 'device'} without a name"
    )


def some(names: list[str]) -> str:
    """List a few names."""
    return ", ".join(names) if len(names) <= 6 else f"{', '.join(names[:5])} and {len(names) - 5} more"
