"""The segments of a link, kept beside the one mass and the geoms that MJCF has of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.model.links import Link, Segment

if TYPE_CHECKING:
    from bodymotion.geometry.shapes import Shape

__all__ = ["kept_of_segments", "segments_again"]

NEAR = 1e-9
"""By this part the sum of the segments may differ from what the file says of the link."""


def kept_of_segments(link: Link) -> list[dict[str, object]] | None:
    """Return what is kept of a link's segments; None where a place of one cannot be undone."""
    kept: list[dict[str, object]] = []
    for segment in link.segments:
        if _back(segment.transform) is None:
            return None
        kept.append(
            {
                "name": segment.name,
                "transform": segment.transform,
                "mass": segment.mass,
                "center_of_mass": segment.center_of_mass,
                "inertia": segment.inertia,
                "shapes": [len(segment.visuals), len(segment.collisions)],
                **({"extra": segment.extra} if segment.extra else {}),
            }
        )
    return kept


def segments_again(
    said: object, whole: Segment | None, visuals: tuple[Shape, ...], collisions: tuple[Shape, ...]
) -> tuple[Segment, ...] | None:
    """Return the segments that the file keeps of a link; None where there are none, or where the link is another one by now.

    `whole` is the link as one segment, as the rest of the file says it.
    """
    if not isinstance(said, list) or not said:
        return None
    found: list[Segment] = []
    at = [0, 0]
    for one in said:
        if not isinstance(one, dict):
            return None
        transform, counts = _array(one.get("transform"), (4, 4)), one.get("shapes")
        mass, inertia = _array(one.get("mass"), ()), _array(one.get("inertia"), (3, 3))
        center = _array(one.get("center_of_mass"), (3,))
        if transform is None or mass is None or inertia is None or center is None:
            return None
        back = _back(transform)
        if back is None or not isinstance(counts, list) or len(counts) != 2 or not all(_is_count(n) for n in counts):
            return None
        shapes = [
            tuple(shape.moved(back) for shape in given[start : start + count])
            for given, start, count in zip((visuals, collisions), at, counts, strict=True)
        ]
        at = [start + count for start, count in zip(at, counts, strict=True)]
        name, extra = one.get("name"), one.get("extra")
        found.append(
            Segment(
                name=name if isinstance(name, str) else "",
                transform=frozen(transform),
                mass=float(mass),
                center_of_mass=frozen(center),
                inertia=frozen(inertia),
                visuals=shapes[0],
                collisions=shapes[1],
                extra=extra if isinstance(extra, dict) else {},
            )
        )
    link = Link(segments=tuple(found))
    if at != [len(visuals), len(collisions)] or not _same_mass(link, Link(segments=(whole,) if whole else ())):
        return None
    return tuple(found)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**7


def _array(value: object, shape: tuple[int, ...]) -> Floats | None:
    try:
        found = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
    return found if found.shape == shape and np.isfinite(found).all() else None


def _back(transform: Floats) -> Floats | None:
    """Return the inverse of a place; None where there is none to be relied on."""
    if not np.isfinite(transform).all() or not (transform[3] == (0.0, 0.0, 0.0, 1.0)).all():
        return None
    with np.errstate(all="ignore"):
        usable = np.linalg.cond(transform[:3, :3]) < 1e6
    return np.asarray(np.linalg.inv(transform), dtype=np.float64) if usable else None


def _same_mass(one: Link, other: Link) -> bool:
    half = 0.5 * (one.inertia + one.inertia.T)
    return bool(
        abs(one.mass - other.mass) <= NEAR * abs(other.mass)
        and np.abs(one.center_of_mass - other.center_of_mass).max()
        <= NEAR * max(1.0, np.abs(other.center_of_mass).max())
        and np.abs(half - other.inertia).max() <= NEAR * max(np.abs(other.inertia).max(), 1e-12)
    )
