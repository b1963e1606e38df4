"""What MJCF cannot hold, kept in the file's `<custom>` texts, which MuJoCo ignores and our reader reads.

The name of a text is `bodymotion KIND NAME`, with the name of an object in the file; its data is a mapping in JSON::

    <custom>
      <text name="bodymotion link RARM_ELBOW" data="{&quot;joint&quot;: {&quot;id&quot;: 7, &quot;gear_ratio&quot;: 100.0}}"/>
    </custom>

Kinds are `body` (whose name is empty), `link`, `device`, `geom`, `material` and `loop`. A text has only
what the rest of the file does not hold. Where the two disagree because the file was edited, the rest of the file counts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.formats.xml.tree import is_xml_text
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.model.links import Link, Segment

if TYPE_CHECKING:
    from bodymotion.formats.xml.tree import Element
    from bodymotion.geometry.shapes import Shape

MAX_DEPTH = 50


def text_name(kind: str, name: str) -> str:
    """Return the name of the text of an object."""
    return f"bodymotion {kind} {name}".rstrip()


def plain(value: object, lost: list[str], where: str, depth: int = 0) -> object:
    """Return a value as JSON holds it, arrays as lists; the rest is left out, and its path is added to `lost`."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufU":
        return value.tolist()
    if depth < MAX_DEPTH and isinstance(value, (list, tuple)):
        return [plain(item, lost, f"{where}[{i}]", depth + 1) for i, item in enumerate(value)]
    if depth < MAX_DEPTH and isinstance(value, Mapping):
        found = {}
        for key, item in value.items():
            if isinstance(key, str):
                found[key] = plain(item, lost, f"{where}.{key}", depth + 1)
            else:
                lost.append(f"{where}[{key!r:.40}]")
        return found
    lost.append(where)
    return None


class Kept:
    """The texts of a file by kind and name."""

    def __init__(self) -> None:
        self.lost: list[str] = []
        """The paths of values that JSON cannot hold."""
        self._texts: dict[str, dict[str, object]] = {}

    def add(self, kind: str, name: str, values: Mapping[str, object]) -> None:
        """Keep values of an object."""
        if values:
            key = text_name(kind, name)
            entry = plain(values, self.lost, f"{kind} {name}".rstrip())
            assert isinstance(entry, dict)
            self._texts.setdefault(key, {}).update(entry)

    def get(self, kind: str, name: str) -> dict[str, object]:
        """Return what is kept of an object; mostly nothing."""
        return self._texts.get(text_name(kind, name), {})

    def names(self, kind: str) -> list[str]:
        """Return the names of the objects of a kind that have a text."""
        start = f"{text_name(kind, '')} "
        return [key.removeprefix(start) for key in self._texts if key.startswith(start)]

    def write(self, root: Element) -> None:
        """Add the texts to the `<custom>` of a model."""
        if not self._texts:
            return
        custom = root.add("custom")
        for name, values in self._texts.items():
            text = json.dumps(values, ensure_ascii=False)
            # JSON can write characters that XML cannot hold as \uXXXX.
            custom.add("text", {"name": name, "data": text if is_xml_text(text) else json.dumps(values)})

    def read(self, name: str, data: str) -> bool:
        """Read a text of a file; return whether it is one of ours that can be used."""
        if not name.startswith("bodymotion "):
            return False
        try:
            values = json.loads(data)
        except (ValueError, RecursionError):
            return False
        if not isinstance(values, dict):
            return False
        self._texts.setdefault(name, {}).update(values)
        return True


SUM_TOLERANCE = 1e-9
"""Relative difference up to which the sums of the segments equal the link in the rest of the file."""


def json_of_segments(link: Link) -> list[dict[str, object]] | None:
    """Return the entry of a link's segments; None where the transform of one cannot be inverted."""
    kept: list[dict[str, object]] = []
    for segment in link.segments:
        if _inverse(segment.transform) is None:
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


def separate_segments(
    entry: object, whole: Segment | None, visuals: tuple[Shape, ...], collisions: tuple[Shape, ...]
) -> tuple[Segment, ...] | None:
    """Return the segments of a link from its entry; None without one, or where it does not fit the link any more.

    `whole` is the link as one segment, from the rest of the file.
    """
    if not isinstance(entry, list) or not entry:
        return None
    found: list[Segment] = []
    at = [0, 0]
    for one in entry:
        if not isinstance(one, dict):
            return None
        transform, counts = _array(one.get("transform"), (4, 4)), one.get("shapes")
        mass, inertia = _array(one.get("mass"), ()), _array(one.get("inertia"), (3, 3))
        center = _array(one.get("center_of_mass"), (3,))
        if transform is None or mass is None or inertia is None or center is None:
            return None
        back = _inverse(transform)
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


def _inverse(transform: Floats) -> Floats | None:
    """Return the inverse of a transform; None where it is not exact."""
    if not np.isfinite(transform).all() or not (transform[3] == (0.0, 0.0, 0.0, 1.0)).all():
        return None
    with np.errstate(all="ignore"):
        usable = np.linalg.cond(transform[:3, :3]) < 1e6
    return np.asarray(np.linalg.inv(transform), dtype=np.float64) if usable else None


def _same_mass(one: Link, other: Link) -> bool:
    half = 0.5 * (one.inertia + one.inertia.T)
    return bool(
        abs(one.mass - other.mass) <= SUM_TOLERANCE * abs(other.mass)
        and np.abs(one.center_of_mass - other.center_of_mass).max()
        <= SUM_TOLERANCE * max(1.0, np.abs(other.center_of_mass).max())
        and np.abs(half - other.inertia).max() <= SUM_TOLERANCE * max(np.abs(other.inertia).max(), 1e-12)
    )
