"""Geoms as shapes: what is seen of a body, and what touches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.formats.mjcf import rules
from bodymotion.formats.mjcf.conventions import FROM_Y_TO_Z
from bodymotion.formats.mjcf.fitting import fitted
from bodymotion.formats.mjcf.frames import Item, finite, orientation, turn_to
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.geometry.shapes import MOST_SHAPES, Box, Capsule, Cylinder, Geometry, Mesh, Shape, Sphere

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem
    from bodymotion.formats.mjcf.assets import Assets
    from bodymotion.formats.mjcf.kept import Kept
    from bodymotion.formats.mjcf.settings import Settings
    from bodymotion.formats.xml.tree import Element

__all__ = ["Geom", "GeomReader"]

SEEN = 3
"""MuJoCo's viewer shows groups below this one."""
WIDEST = 100.0
"""A plane without end is shown this wide [m] either way."""
FROM_Z_TO_Y = poses.inverse(FROM_Y_TO_Z)
_SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3}


@dataclass(frozen=True)
class Geom:
    """A geom: its shape in the body, and what the body's mass may be worked out from.

    `type` as in MJCF, `size` its half sizes, `pose` (7,) that of its own frame, with z along cylinders.
    """

    element: Element
    type: str
    size: tuple[float, ...]
    pose: Floats
    shape: Shape
    visual: bool
    collision: bool
    inertia: str = ""


class GeomReader:
    """Reads the geoms of a model."""

    def __init__(self, settings: Settings, assets: Assets, kept: Kept, problems: list[Problem]) -> None:
        self.settings, self.assets, self.kept, self.problems = settings, assets, kept, problems
        self._read = 0

    def read(self, item: Item) -> Geom | None:
        """Return the geom of an element with its defaults; None where it shows nothing, which is noted."""
        element = item.element
        self._read += 1
        if self._read > MOST_SHAPES:
            raise rules.TOO_LARGE.error(f"the model has more than {MOST_SHAPES} geoms", element.location)
        kind = element.get("type", "sphere")
        given = (
            finite(element, "size", len(element.attributes["size"].split()))
            if "size" in element.attributes
            else np.zeros(0)
        )
        if element.vague and "type" not in element.attributes:
            self._nothing(element)
            return None
        if element.get("mesh") and kind != "mesh" and kind in _SIZES:
            return self._fitted(item, kind)
        if kind not in (*_SIZES, "mesh", "plane"):
            self._tell(element, f"of type {kind!r:.60} is left out")
            return None
        inertia, size = "", tuple(given.tolist())
        if kind == "mesh":
            asset = self.assets.mesh(element.need("mesh"), element)
            if asset is None:
                self._nothing(element)
                return None
            place = self._pose(element)
            geometry: Geometry = asset.mesh
            inertia, transform = (
                asset.inertia,
                poses.to_matrix(place if item.frame is None else poses.compose(item.frame, place)),
            )
        elif kind == "plane":
            place = self._pose(element)
            geometry, transform = (
                _plane(given),
                poses.to_matrix(place if item.frame is None else poses.compose(item.frame, place)),
            )
        else:
            size, place = self._sized(element, kind, given)
            own = place if item.frame is None else poses.compose(item.frame, place)
            geometry, transform = _solid(kind, size, own)
        if item.frame is not None:
            place = poses.compose(item.frame, place)
        return self._made(element, kind, size, place, geometry, transform, inertia)

    def _nothing(self, element: Element) -> None:
        """Pass over a geom that shows nothing; where that is because of a fault, what else it says is looked at."""
        if element.vague or element.get("mesh") in self.assets.faulty:
            self._pose(element)
            self.assets.material(element)
            _seen_and_touched(element)

    def _made(
        self,
        element: Element,
        kind: str,
        size: tuple[float, ...],
        place: Floats,
        geometry: Geometry,
        transform: Floats,
        inertia: str,
    ) -> Geom:
        visual, collision = _seen_and_touched(element)
        name = element.get("name")
        kept = self.kept.get("geom", name).get("name") if name else None
        shape = Shape(
            geometry, frozen(transform), self.assets.material(element), kept if isinstance(kept, str) else name
        )
        return Geom(element, kind, size, place, shape, visual, collision, inertia)

    def _fitted(self, item: Item, kind: str) -> Geom | None:
        """Return a solid that is fitted around a mesh."""
        element = item.element
        asset = self.assets.mesh(element.need("mesh"), element)
        if asset is None:
            self._nothing(element)
            return None
        with np.errstate(all="ignore"):
            found = fitted(
                asset,
                kind,
                scale=element.number("fitscale", 1.0),
                bounds=self.settings.fitaabb,
                location=element.location,
                problems=self.problems,
            )
        size = found[0] if found is not None else ()
        # A capsule may be as short as a ball.
        if found is None or not (np.isfinite(size).all() and size[0] > 0 and min(size) >= 0):
            self._tell(element, f"of type {kind} cannot be fitted around a mesh without volume")
            return None
        place = poses.compose(self._pose(element), found[1])
        if item.frame is not None:
            place = poses.compose(item.frame, place)
        return self._made(element, kind, size, place, *_solid(kind, size, place), "")

    def _pose(self, element: Element) -> Floats:
        return poses.from_parts(finite(element, "pos", 3, (0.0, 0.0, 0.0)), orientation(element, self.settings))

    def _sized(self, element: Element, kind: str, given: Floats) -> tuple[tuple[float, ...], Floats]:
        """Return the half sizes and the pose of a solid; a fromto gives its length and where it lies."""
        size = given.tolist()
        if "fromto" not in element.attributes or kind == "sphere":
            place = self._pose(element)
        else:
            ends = finite(element, "fromto", 6)
            along = ends[:3] - ends[3:]
            turn = turn_to(along)
            if turn is None:
                element.fault(rules.GEOM_SIZE, "the two points of a fromto are one", "fromto")
                turn = rotations.IDENTITY
                along = np.ones(3)
            place = poses.from_parts(0.5 * (ends[:3] + ends[3:]), turn)
            half = 0.5 * float(np.linalg.norm(along))
            size = [size[0] if size else 0.0, half] if kind in ("capsule", "cylinder") else [*(size * 2)[:1] * 2, half]
        size = size[: _SIZES[kind]]
        if len(size) < _SIZES[kind] or not all(value > 0 for value in size):
            shown = " ".join(f"{value:g}" for value in size)
            if not element.vague or len(size) == _SIZES[kind]:
                element.fault(
                    rules.GEOM_SIZE,
                    f"a geom of type {kind} has the sizes {shown or 'none'}, not {_SIZES[kind]} positive ones",
                    "size",
                )
            size = [1.0] * _SIZES[kind]
        return tuple(size), place

    def _tell(self, element: Element, words: str) -> None:
        name = element.get("name")
        self.problems.append(
            rules.GEOM.problem(f"geom {name!r:.60} {words}" if name else f"a geom {words}", element.location)
        )


def _seen_and_touched(element: Element) -> tuple[bool, bool]:
    """Say whether a geom is seen and whether it touches. Hidden ones (group 3 and more) are there to touch; one that does neither must not
    become an obstacle elsewhere, and is taken for seen.
    """
    touches = element.number("contype", 1.0) != 0 or element.number("conaffinity", 1.0) != 0
    hidden = element.number("group", 0.0) >= SEEN
    # What lies in a plane touches nothing in MuJoCo: our writer says so of shapes that are there to touch all the same.
    ours = element.get("class") in ("collision", "seen_collision") and element.get("type") == "mesh"
    return not hidden or not (touches or ours), touches or ours


def _solid(kind: str, size: tuple[float, ...], place: Floats) -> tuple[Geometry, Floats]:
    """Return a geometry of ours, whose cylinders stand along y, and its transform (4, 4)."""
    match kind:
        case "sphere":
            return Sphere(size[0]), poses.to_matrix(place)
        case "box":
            return Box((2.0 * size[0], 2.0 * size[1], 2.0 * size[2])), poses.to_matrix(place)
        case "ellipsoid":
            return Sphere(1.0), poses.to_matrix(place) @ np.diag([*size, 1.0])
    upright = poses.to_matrix(poses.compose(place, FROM_Z_TO_Y))
    if kind == "cylinder":
        return Cylinder(size[0], 2.0 * size[1]), upright
    return Capsule(size[0], 2.0 * size[1]), upright


def _plane(size: Floats) -> Mesh:
    """Return a plane as two triangles that look along z; where it has no end, a wide one."""
    half = [value if value > 0 else WIDEST for value in [*size[:2].tolist(), 0.0, 0.0][:2]]
    corners = np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])
    return Mesh(frozen(corners * [*half, 0.0]), np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32))
