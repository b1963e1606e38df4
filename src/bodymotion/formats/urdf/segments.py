"""Links of several segments: URDF has one mass for a link, so the parts are kept in <bodymotion> and put back from there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bodymotion.formats.urdf import rules
from bodymotion.formats.urdf.extension import Said, plain
from bodymotion.model.links import Link, Segment

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem
    from bodymotion.geometry.shapes import Shape

__all__ = ["is_parted", "kept_segments", "parted"]

ALIKE = 1e-9
"""How near the sums of the parts must be to what the file says of the whole, for the parts to be believed."""
FLATTEST = 1e-9
"""The smallest determinant of a transform that is turned back."""
ARRAYS = {"transform": (4, 4), "center_of_mass": (3,), "inertia": (3, 3), "mass": (), "shapes": (2,)}


def is_parted(link: Link) -> bool:
    """Whether the segments of a link are more than one in the link's own frame."""
    return len(link.segments) > 1 or any(not np.array_equal(one.transform, np.eye(4)) for one in link.segments)


def kept_segments(link: Link, counts: Sequence[tuple[int, int]]) -> list[dict[str, Any]] | None:
    """Return what is to be kept of the segments of a link; None where they cannot be told apart again.

    `counts` says how many <visual> and <collision> elements each has.
    """
    found = []
    for one, count in zip(link.segments, counts, strict=True):
        numbers = np.concatenate([one.transform.ravel(), one.inertia.ravel(), one.center_of_mass, [one.mass]])
        if not np.isfinite(numbers).all() or abs(np.linalg.det(one.transform[:3, :3])) < FLATTEST:
            return None
        found.append(
            {
                "name": one.name,
                "transform": plain(one.transform),
                "mass": one.mass,
                "center_of_mass": plain(one.center_of_mass),
                "inertia": plain(one.inertia),
                "shapes": list(count),
            }
        )
    return found


def parted(said: Said, whole: Segment, problems: list[Problem]) -> tuple[Segment, ...]:
    """Return the segments that a link was made of, from those kept and the link as one segment; that one where they do not fit it."""
    given = said.values.get("segments")
    try:
        found = [_segment(values) for values in given] if isinstance(given, list) else []
        counts = [_counts(values) for values in given] if isinstance(given, list) else []
        found = _with_shapes(found, counts, whole)
    except (TypeError, ValueError, OverflowError, np.linalg.LinAlgError) as error:
        said.wrong(f"segments cannot be used: {error}"[:200], problems)
        return (whole,)
    if not found or not _sums_up(found, whole):
        problems.append(
            rules.CHANGED.problem("the link's masses or shapes were changed by hand", said.element.location)
        )
        return (whole,)
    return tuple(found)


def _segment(values: object) -> Segment:
    if not isinstance(values, Mapping):
        raise TypeError("no mapping")
    arrays = {}
    for name in ("transform", "mass", "center_of_mass", "inertia"):
        arrays[name] = np.array(values.get(name, np.nan), dtype=np.float64)
        if arrays[name].shape != ARRAYS[name] or not np.isfinite(arrays[name]).all():
            raise ValueError(f"{name} is of another shape, or not finite")
    name, extra = values.get("name", ""), values.get("extra", {})
    return Segment(
        name=name if isinstance(name, str) else "",
        transform=arrays["transform"],
        mass=float(arrays["mass"]),
        center_of_mass=arrays["center_of_mass"],
        inertia=arrays["inertia"],
        extra=extra if isinstance(extra, dict) else {},
    )


def _counts(values: Mapping[str, object]) -> tuple[int, int]:
    shown = values.get("shapes", [0, 0])
    if not isinstance(shown, list) or len(shown) != 2 or not all(isinstance(n, int) and n >= 0 for n in shown):
        raise ValueError("shapes are no two counts")
    return shown[0], shown[1]


def _with_shapes(segments: list[Segment], counts: list[tuple[int, int]], whole: Segment) -> list[Segment]:
    """Return the segments with their shapes, back in their own frames; none where the shapes are not so many."""
    if [sum(count[k] for count in counts) for k in (0, 1)] != [len(whole.visuals), len(whole.collisions)]:
        return []
    found, taken = [], [0, 0]
    for segment, count in zip(segments, counts, strict=True):
        back = np.linalg.inv(segment.transform)
        own: list[tuple[Shape, ...]] = []
        for k, shapes in enumerate((whole.visuals, whole.collisions)):
            own.append(tuple(shape.moved(back) for shape in shapes[taken[k] : taken[k] + count[k]]))
            taken[k] += count[k]
        found.append(replace(segment, visuals=own[0], collisions=own[1]))
    return found


def _sums_up(segments: list[Segment], whole: Segment) -> bool:
    made = Link(segments=tuple(segments))
    inertia = 0.5 * (made.inertia + made.inertia.T)
    pairs = ((made.mass, whole.mass), (made.center_of_mass, whole.center_of_mass), (inertia, whole.inertia))
    return all(
        bool(np.abs(np.asarray(ours) - theirs).max() <= ALIKE * max(1e-6, float(np.abs(theirs).max())))
        for ours, theirs in pairs
    )
