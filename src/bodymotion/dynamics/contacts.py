"""When feet stand, where, whether they slip, and the polygon that they span."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bodymotion.arrays import ContentEquality, Floats
from bodymotion.body import Body
from bodymotion.dynamics.feet import Soles
from bodymotion.dynamics.kinematics import point_velocities

__all__ = ["PATCH", "Contacts", "SupportPolygons", "Thresholds", "detect_contacts", "ground_height", "support_polygons"]

PATCH = 0.003
"""[m] Points of a foot up to so much above its lowest one touch the ground with it."""


@dataclass(frozen=True)
class Thresholds:
    """When a foot is taken to stand: from where both its height and its speed are below the first numbers until one is above the second.

    `height` [m] of its lowest point above the ground, `speed` [m/s] of the place where it touches. Two numbers each keep a foot that
    trembles about one from standing and not standing in turns.
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


@dataclass(frozen=True, eq=False)
class SupportPolygons(ContentEquality):
    """The convex hulls of what touches the ground, seen from above, in T frames.

    `corners` (T, M, 2) [m] x and y in the world, counter-clockwise; frame t has `counts[t]` of them, the rest are NaN. A polygon may be a
    line (2), a point (1) or nothing (0).
    """

    corners: Floats
    counts: npt.NDArray[np.int64]

    def margins(self, points: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Give how far (T,) [m] points (T, 2) are inside (negative outside), and of each polygon the point (T, 2) nearest to them."""
        from bodymotion.kernels.contacts import margins

        found = margins(self.corners, self.counts, np.asarray(points, dtype=np.float64))
        return found[:, 0], found[:, 1:]


def ground_height(feet: Soles, link_poses: npt.ArrayLike) -> float:
    """Give the height [m] of the flat ground that feet walk on: the median over all frames of the lowest foot's lowest point; 0 without
    feet.

    While one foot stands most of the time this is where it stands, and neither jumps nor single frames below the ground change it.
    """
    from bodymotion.kernels.contacts import lowest

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
) -> Contacts:
    """Give when feet stand on level ground. A crawler does while it is low enough, however fast: the belt, not the link, is what touches.

    Parameters
    ----------
    feet:
        Of `soles`.
    link_poses, link_velocities:
        (T, L, 7) and (T, L, 6) in the world.
    ground:
        Height [m] of the ground, one number or (T,) one each frame, for stairs and lifts.
    """
    from bodymotion.kernels.contacts import lowest

    limits = thresholds or Thresholds()
    poses, moving = np.asarray(link_poses, dtype=np.float64), np.asarray(link_velocities, dtype=np.float64)
    links = list(feet.links)
    found = lowest(poses[:, links], feet.points, feet.edges, PATCH)
    heights = found[..., 0] - np.broadcast_to(ground, (len(poses),))[:, None]
    points = found[..., 1:]
    velocities = point_velocities(moving[:, links], points - poses[:, links, :3])
    crawls = tuple(body.links[index].joint.type == "crawler" for index in links)
    speeds = np.where(crawls, 0.0, np.linalg.norm(velocities, axis=-1))
    begins = (heights < limits.height[0]) & (speeds < limits.speed[0])
    ends = (heights > limits.height[1]) | (speeds > limits.speed[1])
    standing = _latched(begins, ~(ends | np.isnan(heights) | np.isnan(speeds)))
    slip = np.where(standing & ~np.array(crawls, dtype=bool), np.linalg.norm(velocities[..., :2], axis=-1), 0.0)
    names = tuple(body.links[index].name for index in links)
    return Contacts(feet.links, names, standing, heights, points, velocities, slip, crawls)


def _latched(begins: npt.NDArray[np.bool_], goes_on: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Give what is true from where it `begins` (T, K) as long as it `goes_on`; at the first frame, where it goes on."""
    if not len(begins):
        return begins
    decided = begins | ~goes_on
    decided[0] = True
    frames = np.where(decided, np.arange(len(begins))[:, None], 0)
    last = np.maximum.accumulate(frames, axis=0)
    value = np.where(np.arange(len(begins))[:, None] == 0, goes_on, begins & goes_on)
    return np.asarray(np.take_along_axis(value, last, axis=0))


def support_polygons(
    contacts: Contacts, feet: Soles, link_poses: npt.ArrayLike, ground: float | npt.ArrayLike
) -> SupportPolygons:
    """Give the convex hulls of the points with which standing feet touch the ground: those within 3 mm of a foot's lowest one."""
    from bodymotion.kernels.contacts import hulls

    poses = np.asarray(link_poses, dtype=np.float64)
    heights = contacts.heights + np.broadcast_to(ground, (len(poses),))[:, None]
    standing = contacts.standing.astype(np.float64)
    corners, counts = hulls(poses[:, list(feet.links)], feet.points, feet.edges, standing, heights, PATCH)
    return SupportPolygons(corners, counts)
