"""Which links a body stands on, and with which points.

The points of a link are the outermost ones of its collision shapes, or of its visuals where it has none: all corners of a sole, and what is
round to 1 % of its size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import WrongUseError
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.meshes import outermost_points
from bodymotion.model.body import Body
from bodymotion.model.links import Link

__all__ = ["FRAMES", "Soles", "contact_points", "find_feet", "foot_links", "soles"]

FRAMES = 200
"""So many frames, evenly spread, are looked at to find feet."""
NEAR = 0.002
"""A link may be as much above the lowest point, as a part of the body's height, and still count as down there."""
LEVEL = 0.0005
"""By so much, as a part of the body's height, a link may be above one that hangs on it and still be level with it."""
OFTEN = 0.1
"""In this part of the frames a foot is down there."""
NAMES = ("foot", "feet", "toe", "sole", "ankle", "wheel", "paw")


@dataclass(frozen=True, eq=False)
class Soles:
    """The points that K feet stand with.

    `links` (K,) indices, `points` (P, 3) [m] in the feet's frames, those of foot k from `edges[k]` to `edges[k + 1]`.
    """

    links: tuple[int, ...]
    points: Floats
    edges: npt.NDArray[np.int64]


def contact_points(link: Link) -> Floats:
    """Return the outermost points (N, 3) [m] of a link in its frame; none for a link without shapes."""
    return outermost_points(link.collisions or link.visuals)


def foot_links(body: Body, feet: Sequence[int | str]) -> tuple[int, ...]:
    """Return the indices of feet, which are indices or names of links.

    Raises
    ------
    KeyError
        When no link has such a name; the message lists those there are.
    WrongUseError
        When there is no link of such a number.
    """
    if isinstance(feet, str):
        raise WrongUseError(f"`feet`: expected a sequence of links, got the one text {feet!r}")
    found = tuple(body.link(foot).index if isinstance(foot, str) else int(foot) for foot in feet)
    for index in found:
        if not 0 <= index < len(body.links):
            raise WrongUseError(f"there is no link {index} that could be a foot: they are 0 to {len(body.links) - 1}")
    return found


def soles(body: Body, feet: Sequence[int | str]) -> Soles:
    """Return the points of feet, which are indices or names of links; one without shapes stands on its origin."""
    links = foot_links(body, feet)
    clouds = [contact_points(body.links[index]) for index in links]
    clouds = [cloud if len(cloud) else np.zeros((1, 3)) for cloud in clouds]
    edges = np.cumsum([0, *map(len, clouds)]).astype(np.int64)
    return Soles(links, np.concatenate(clouds) if clouds else np.zeros((0, 3)), edges)


def find_feet(body: Body, link_poses: npt.ArrayLike) -> tuple[int, ...]:
    """Return the links, in link order, that a body stands on while its links are at poses (T, L, 7).

    In each of up to 200 frames those are down that reach to within 0.2 % of the body's height of its lowest point. A foot is a link that is
    down in 10 % of the frames or more. One that carries a foot is a foot, too, if it is level with that one at least half of the time that
    one is down: the foot of a toe is, the housing of an ankle is not. Where no link has shapes, feet are the last links of their chains
    with foot, toe, sole, ankle, wheel or paw in their names, and stand on their origins.
    """
    placed = np.asarray(link_poses, dtype=np.float64)
    clouds = {link.index: cloud for link in body.links if len(cloud := contact_points(link))}
    if not clouds:
        parents = {link.parent for link in body.links}
        tips = [link for link in body.links if link.index not in parents]
        return tuple(link.index for link in tips if any(name in link.name.lower() for name in NAMES))
    if not len(placed):
        return ()
    from bodymotion.kernels.feet import lowest

    chosen = placed[np.unique(np.linspace(0, len(placed) - 1, FRAMES).astype(int))]
    links = np.array(list(clouds))
    points = np.concatenate(list(clouds.values()))
    edges = np.cumsum([0, *map(len, clouds.values())]).astype(np.int64)
    bottom = lowest(chosen[:, links], points, edges, 0.0)[..., 0]
    upside = poses.compose(np.array([0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]), chosen[:, links])
    top = -lowest(upside, points, edges, 0.0)[..., 0]
    least = bottom.min(axis=1)
    tall = top.max(axis=1) - least
    down = bottom <= (least + NEAR * tall)[:, None]
    found: list[int] = []
    # Tips first: a parent stands before its children.
    for place in np.flatnonzero(down.mean(axis=0) >= OFTEN)[::-1]:
        hanging = [other for other in found if _carries(body, int(links[place]), int(links[other]))]
        level = bottom[:, [place]] <= bottom[:, hanging] + (LEVEL * tall)[:, None]
        with_them = down[:, hanging] & level
        if (with_them.sum(axis=0) >= 0.5 * down[:, hanging].sum(axis=0)).all():
            found.append(int(place))
    return tuple(int(links[place]) for place in sorted(found))


def _carries(body: Body, index: int, other: int) -> bool:
    while other > index:
        other = body.links[other].parent
    return other == index
