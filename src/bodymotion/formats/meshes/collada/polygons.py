"""The five forms of polygons as one list of corners."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bodymotion.formats.meshes.collada.elements import child, children, indices, local

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

__all__ = ["ended", "polygon_corners"]


def polygon_corners(element: Element, width: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the number of corners of each polygon, and the indices (N, width) of all corners, one polygon after another."""
    lists = [indices(p.text) for p in children(element, "p")]
    lists += [indices(p.text) for ph in children(element, "ph") for p in children(ph, "p")]
    lists = [values[: len(values) // width * width].reshape(-1, width) for values in lists]
    kind = local(element)
    none = np.zeros((0, width), dtype=np.int64)
    if kind in ("tristrips", "trifans"):
        strips = [strip for strip in lists if len(strip) >= 3]
        faces = [_strip(len(strip)) if kind == "tristrips" else _fan(len(strip)) for strip in strips]
        rows = [strip[face.reshape(-1)] for strip, face in zip(strips, faces, strict=True)]
        corners = np.concatenate([none, *rows])
        return np.full(len(corners) // 3, 3, dtype=np.int64), corners
    corners = np.concatenate([none, *lists])
    if kind == "polygons":
        return np.array([len(polygon) for polygon in lists], dtype=np.int64), corners
    if kind == "polylist":
        found = child(element, "vcount")
        counts = indices(found.text if found is not None else "")
        if (counts < 0).any() or counts.sum() > len(corners):
            raise ValueError("vcount does not fit the corners")
        return counts, corners[: counts.sum()]
    return np.full(len(corners) // 3, 3, dtype=np.int64), corners[: len(corners) // 3 * 3]


def _strip(count: int) -> npt.NDArray[np.int64]:
    first = np.arange(count - 2)
    odd = first % 2
    return np.stack([first, first + 1 + odd, first + 2 - odd], axis=1)


def _fan(count: int) -> npt.NDArray[np.int64]:
    first = np.arange(count - 2)
    return np.stack([np.zeros_like(first), first + 1, first + 2], axis=1)


def ended(counts: npt.NDArray[np.int64], index: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Put −1 behind each polygon's indices; what points nowhere to either side points beyond all vertices."""
    ends = np.cumsum(counts)
    return np.insert(np.where(index < 0, 2**31 - 1, index), ends, -1)
