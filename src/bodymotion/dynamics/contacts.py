"""When feet stand, where, whether they slip, and the polygon that they span."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bodymotion.dynamics.feet import Soles
from bodymotion.dynamics.kinematics import point_velocities
from bodymotion.geometry.arrays import ContentEquality, Floats
from bodymotion.model.body import Body

__all__ = [
    "PATCH",
    "Contacts",
    "Slide",
    "SupportPolygons",
    "Thresholds",
    "detect_contacts",
    "ground_height",
    "slides",
    "support_polygons",
]

PATCH = 0.003
"""[m] Points of a foot up to so much above its lowest one touch the ground with it."""
FALLING = 1.0
"""[m/s] What goes up or down so fast stands on nothing, wherever it is."""
TENTH = 0.1
"""[s] From one time to another that is so much later the way of a foot that slides is taken."""


@dataclass(frozen=True)
class Thresholds:
    """When a foot is taken to be low, and when to be fast over the ground: from the one number on, until it is beyond the other.

    `height` [m] of its lowest point above the ground: low from below the first until above the second. `speed` [m/s] along the ground of
    the place where it touches: fast from above the second until below the first. A low foot stands, but not while it leaves or comes down,
    nor while it is fast and does not slide (`detect_contacts`). Two numbers each keep a foot that trembles about one from standing and not
    standing in turns.
    """

    height: tuple[float, float] = (0.005, 0.01)
    speed: tuple[float, float] = (0.15, 0.3)


@dataclass(frozen=True, eq=False)
class Contacts(ContentEquality):
    """K feet over T frames.

    Attributes
    ----------
    links, names:
        Which links they are.
    standing:
        (T, K) whether a foot stands.
    heights:
        (T, K) [m] of its lowest point above the ground.
    points:
        (T, K, 3) [m] in the world: the middle of the points that touch, which are those within 3 mm of the lowest one.
    velocities:
        (T, K, 3) [m/s] in the world: of the foot at that place.
    slip_speeds:
        (T, K) [m/s]: how fast standing feet slide over the ground there; 0 where they do not stand, and for `crawls`.
    crawls:
        (K,) whether it is a crawler, whose belt runs over the ground: it stands by its height alone.
    """

    links: tuple[int, ...]
    names: tuple[str, ...]
    standing: npt.NDArray[np.bool_]
    heights: Floats
    points: Floats
    velocities: Floats
    slip_speeds: Floats
    crawls: tuple[bool, ...] = ()


@dataclass(frozen=True)
class Slide:
    """How far foot number `foot` slides in one stance, frames `first` … `last`: `way` [m]; it is `fastest` in that frame."""

    foot: int
    first: int
    last: int
    way: float
    fastest: int


@dataclass(frozen=True, eq=False)
class SupportPolygons(ContentEquality):
    """The convex hulls of what touches the ground, seen from above, in T frames.

    `corners` (T, M, 2) [m] x and y in the world, counter-clockwise; frame t has `counts[t]` of them, the rest are NaN. A polygon may be a
    line (2), a point (1) or nothing (0).
    """

    corners: Floats
    counts: npt.NDArray[np.int64]

    def margins(self, points: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Return how far (T,) [m] points (T, 2) are inside (negative outside), and of each polygon the point (T, 2) nearest to them."""
        from bodymotion.kernels.feet import margins

        found = margins(self.corners, self.counts, np.asarray(points, dtype=np.float64))
        return found[:, 0], found[:, 1:]


def ground_height(feet: Soles, link_poses: npt.ArrayLike) -> float:
    """Return the height [m] of the flat ground that feet walk on: the median over all frames of the lowest foot's lowest point; 0 without
    feet.

    While one foot stands most of the time this is where it stands, and neither jumps nor single frames below the ground change it.
    """
    from bodymotion.kernels.feet import lowest

    poses = np.asarray(link_poses, dtype=np.float64)
    if not feet.links or not len(poses):
        return 0.0
    heights = lowest(poses[:, feet.links], feet.points, feet.edges, PATCH)[..., 0].min(axis=1)
    heights = heights[np.isfinite(heights)]
    return float(np.median(heights)) if len(heights) else 0.0


def detect_contacts(
    body: Body,
    feet: Soles,
    link_poses: npt.ArrayLike,
    link_velocities: npt.ArrayLike,
    ground: float | npt.ArrayLike = 0.0,
    thresholds: Thresholds | None = None,
    *,
    times: npt.ArrayLike,
) -> Contacts:
    """Return when feet stand on level ground.

    A foot that is low stands, but not

    - while it leaves or comes down: from where it is for the last time less than 1 mm above the height at which it stood, or has been
      at one height for 0.1 s, it climbs;
    - while it is fast and does not slide. It slides when it is no more than 1 mm above the height at which it stands and 2 mm above the
      lowest foot, on the mean; but what is fast for less than 0.1 s just after coming down or before leaving still swings, unless it is
      on the ground or below it.

    So what is dragged over the ground stands on it, however fast. A crawler is never fast: its belt, not the link, is what touches.

    Parameters
    ----------
    feet:
        Of `soles`.
    link_poses, link_velocities:
        (T, L, 7) and (T, L, 6) in the world.
    ground:
        Height [m] of the ground, one number or (T,) one each frame, for stairs and lifts.
    times:
        (T,) [s].
    """
    from bodymotion.kernels.feet import lowest, stances

    limits = thresholds or Thresholds()
    poses, moving = np.asarray(link_poses, dtype=np.float64), np.asarray(link_velocities, dtype=np.float64)
    links = list(feet.links)
    found = lowest(poses[:, links], feet.points, feet.edges, PATCH)
    heights = found[..., 0] - np.broadcast_to(ground, (len(poses),))[:, None]
    points = found[..., 1:]
    velocities = point_velocities(moving[:, links], points - poses[:, links, :3])
    crawls = tuple(body.links[index].joint.type == "crawler" for index in links)
    speeds = np.where(crawls, 0.0, np.linalg.norm(velocities[..., :2], axis=-1))
    standing = stances(heights, speeds, np.asarray(times, dtype=np.float64), limits.height, limits.speed) > 0
    standing &= np.abs(velocities[..., 2]) < FALLING
    slip = np.where(standing, speeds, 0.0)
    names = tuple(body.links[index].name for index in links)
    return Contacts(feet.links, names, standing, heights, points, velocities, slip, crawls)


def slides(contacts: Contacts, times: npt.ArrayLike) -> tuple[Slide, ...]:
    """Return how far feet slide in each of their stances, foot by foot; crawlers are left out.

    The way is that of the place where a foot touches, from tenth to tenth of a second: what trembles, as the last digits of files do, goes
    nowhere. The fastest frame is that of the tenth in which it is fastest.
    """
    at = np.asarray(times, dtype=np.float64)
    found: list[Slide] = []
    for k in range(len(contacts.links)):
        if k < len(contacts.crawls) and contacts.crawls[k]:
            continue
        stands = contacts.standing[:, k]
        velocity = np.nan_to_num(np.where(stands[:, None], contacts.velocities[:, k, :2], 0.0))
        steps = 0.5 * (velocity[1:] + velocity[:-1]) * np.diff(at)[:, None]
        place = np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)])
        edges = np.flatnonzero(np.diff(np.concatenate([[False], stands, [False]]).astype(np.int8)))
        for first, after in edges.reshape(-1, 2):
            last = int(after) - 1
            tenths = np.searchsorted(at[first:after], np.arange(at[first], at[last] - 0.5 * TENTH, TENTH)) + first
            marks = np.unique(np.append(tenths, last))
            ways = np.linalg.norm(np.diff(place[marks], axis=0), axis=1)
            longest = _largest(ways / np.diff(at[marks])) if len(ways) else 0
            part = contacts.slip_speeds[marks[longest] : (marks[longest + 1] if len(ways) else last) + 1, k]
            found.append(Slide(k, int(first), last, float(ways.sum()), int(marks[longest] + _largest(part))))
    return tuple(found)


def _largest(values: Floats) -> int:
    """Return the first place of what is largest but for rounding."""
    return int(np.argmax(values >= (1 - 1e-6) * values.max()))


def support_polygons(
    contacts: Contacts, feet: Soles, link_poses: npt.ArrayLike, ground: float | npt.ArrayLike
) -> SupportPolygons:
    """Return the convex hulls of the points with which standing feet touch the ground: those within 3 mm of a foot's lowest one."""
    from bodymotion.kernels.feet import hulls

    poses = np.asarray(link_poses, dtype=np.float64)
    heights = contacts.heights + np.broadcast_to(ground, (len(poses),))[:, None]
    standing = contacts.standing.astype(np.float64)
    corners, counts = hulls(poses[:, list(feet.links)], feet.points, feet.edges, standing, heights, PATCH)
    return SupportPolygons(corners, counts)
