"""A body as a small drawing in SVG: each link's outline in its colour, those farther away first. Nothing is installed for it.

The outline of a link is the convex hull of its outermost points, as seen from the front left and a little above.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np

from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.meshes import outermost_points
from bodymotion.model.body import Body
from bodymotion.model.links import Link

__all__ = ["drawing"]

Polygon: TypeAlias = list[tuple[float, float]]

AZIMUTH, ELEVATION = np.radians(35.0), np.radians(15.0)
"""From where it is seen: so far from +x towards +y, so far above the ground."""
MOST_LINKS = 400
"""Of a body with more links only the first are drawn."""


def drawing(body: Body, link_poses: Floats, height: int = 220) -> str:
    """Draw a body with links at poses (L, 7) as SVG, `height` [px] high; an empty text when nothing of it can be seen."""
    right = np.array([-np.sin(AZIMUTH), np.cos(AZIMUTH), 0.0])
    up = np.array([-np.sin(ELEVATION) * np.cos(AZIMUTH), -np.sin(ELEVATION) * np.sin(AZIMUTH), np.cos(ELEVATION)])
    towards = np.cross(right, up)
    pieces: list[tuple[float, str, Polygon]] = []
    for link, pose in zip(body.links[:MOST_LINKS], link_poses, strict=False):
        points = outermost_points(shape for shape in link.visuals if shape.bounds is not None)
        if not len(points):
            continue
        placed = rotations.rotate(rotations.normalized(pose[3:]), points) + pose[:3]
        placed = placed[np.isfinite(placed).all(axis=1)]
        if len(placed):
            seen = zip((placed @ right).tolist(), (placed @ up).tolist(), strict=True)
            pieces.append((float((placed @ towards).mean()), _color(link), _hull(seen)))
    if not pieces:
        return ""
    corners = np.array([corner for _, _, polygon in pieces for corner in polygon])
    low, high = corners.min(axis=0), corners.max(axis=0)
    span = np.maximum(high - low, 1e-3 * max(float((high - low).max()), 1e-9))
    scale = (height - 8) / max(span[1], 0.6 * span[0])
    width = scale * span[0] + 8
    tall = scale * span[1] + 8
    shapes = "".join(
        f'<polygon points="{_points(polygon, low, high, scale)}" fill="{color}"/>'
        for _, color, polygon in sorted(pieces, key=lambda piece: piece[0])
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{tall:.0f}" viewBox="0 0 {width:.1f} {tall:.1f}">'
        f'<g stroke="#00000055" stroke-width="0.7" stroke-linejoin="round">{shapes}</g></svg>'
    )


def _points(polygon: Polygon, low: Floats, high: Floats, scale: float) -> str:
    return " ".join(f"{4 + scale * (x - low[0]):.1f},{4 + scale * (high[1] - y):.1f}" for x, y in polygon)


def _color(link: Link) -> str:
    """Return the colour of the link's largest shape."""
    largest = max(
        link.visuals, key=lambda shape: 0.0 if shape.bounds is None else float(np.ptp(shape.bounds, axis=0).sum())
    )
    red, green, blue = (round(255 * min(max(value, 0.0), 1.0)) for value in largest.material.diffuse)
    return f"#{red:02x}{green:02x}{blue:02x}"


def _hull(points: Iterable[tuple[float, float]]) -> Polygon:
    """Return the convex hull, counter-clockwise (Andrew's monotone chain)."""
    ordered = sorted(set(points))
    if len(ordered) < 3:
        return ordered
    half: list[Polygon] = []
    for run in (ordered, ordered[::-1]):
        chain: Polygon = []
        for point in run:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], point) <= 0:
                chain.pop()
            chain.append(point)
        half.append(chain[:-1])
    return half[0] + half[1]


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
