"""Feet on the ground.

Which links are feet, when they are in contact, how far they slip, support polygons, and
the root that they carry.

The contact points of a link are the outermost ones of its collision shapes, or of its
visuals where it has none: all corners of a sole, and round shapes to 1 % of their size.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import ShortRepr, WrongUseError
from bodymotion.dynamics.trees import point_velocities
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Bools, ContentEquality, Floats, Indices, runs
from bodymotion.model.body import Body

# Frames, evenly spread, in which feet are searched.
SAMPLED_FRAMES = 200
# Height above the lowest point, as a share of the body's height, up to which a link is
# down.
MAX_HEIGHT_SHARE = 0.002
# Height of a link above a foot that it carries, as a share of the body's height, up to
# which both are level.
LEVEL_SHARE = 0.0005
# Smallest share of the frames in which a foot is down.
MIN_DOWN_SHARE = 0.1
NAMES = ("foot", "feet", "toe", "sole", "ankle", "wheel", "paw")

# [m] Points of a foot up to this height above its lowest one touch the ground with it.
MAX_PATCH_HEIGHT = 0.003
# [m/s] A foot that moves up or down faster is not in contact.
MAX_VERTICAL_SPEED = 1.0
# [s] Interval over which the slip of a foot is measured, so that noise does not add up.
SLIP_INTERVAL = 0.1


@dataclass(frozen=True, eq=False)
class Soles(ShortRepr):
    """The contact points of K feet.

    `links` (K,) indices, `points` (P, 3) [m] in the feet's frames, those of foot k from
    `edges[k]` to `edges[k + 1]`.
    """

    links: tuple[int, ...]
    points: Floats
    edges: Indices


def foot_links(body: Body, feet: Sequence[int | str]) -> tuple[int, ...]:
    """Return the indices of feet, given as indices or names of links.

    Raises
    ------
    KeyError
        When no link has such a name; the message lists the names that exist.
    WrongUseError
        When there is no link of such a number.
    """
    if isinstance(feet, str):
        raise WrongUseError(
            f"`feet`: expected a sequence of links, got the one text {feet!r}"
        )
    found = tuple(
        body.link(foot).index if isinstance(foot, str) else int(foot) for foot in feet
    )
    for index in found:
        if not 0 <= index < len(body.links):
            raise WrongUseError(
                f"feet: there is no link {index}; the body has links 0 to "
                f"{len(body.links) - 1}"
            )
    return found


def soles(body: Body, feet: Sequence[int | str]) -> Soles:
    """Return the contact points of feet, given as indices or names of links.

    Of a link without shapes it is the origin.
    """
    links = foot_links(body, feet)
    clouds = [body.links[index].contact_points for index in links]
    clouds = [cloud if len(cloud) else np.zeros((1, 3)) for cloud in clouds]
    # Foot k has the points edges[k] … edges[k + 1].
    edges = np.cumsum([0, *map(len, clouds)]).astype(np.int64)
    return Soles(links, np.concatenate(clouds) if clouds else np.zeros((0, 3)), edges)


def find_feet(body: Body, link_poses: npt.ArrayLike) -> tuple[int, ...]:
    """Return the links, in link order, that carry a body.

    Its links are at poses (T, L, 7).

    In each of up to 200 frames a link is down when it reaches to within 0.2 % of the
    body's height of the lowest point. A foot is a link that is down in at least 10 % of
    the frames. A link that carries a foot is a foot, too, if it is level with it at
    least half of the time that the foot is down: this holds for the foot of a toe, not
    for the housing of an ankle. Where no link has shapes, feet are the last links of
    their chains with foot, toe, sole, ankle, wheel or paw in their names, and their
    origins are the contact points.
    """
    link_poses = np.asarray(link_poses, dtype=np.float64)
    shaped = soles(
        body, [link.index for link in body.links if len(link.contact_points)]
    )
    if not shaped.links:
        return _feet_by_name(body)
    if not len(link_poses):
        return ()
    from bodymotion.kernels.feet import heights

    # A long motion gives the same feet from a sample, at a bounded cost.
    frames = np.linspace(0, len(link_poses) - 1, SAMPLED_FRAMES).astype(int)
    links = shaped.links
    sampled = link_poses[np.unique(frames)][:, links]
    # (T, K, 2): lowest and highest point of each link with shapes.
    extents = heights(sampled, shaped.points, shaped.edges, MAX_HEIGHT_SHARE)
    bottom, top = np.moveaxis(extents, -1, 0)
    lowest = bottom.min(axis=1)
    body_height = top.max(axis=1) - lowest
    # (T, K): near the lowest point of all links. The heights are those of the body in
    # that frame, so that the ground need not be known.
    is_down = bottom <= (lowest + MAX_HEIGHT_SHARE * body_height)[:, None]
    tolerance = (LEVEL_SHARE * body_height)[:, None]
    feet: list[int] = []
    # From the tips inwards, as parents are before their children.
    for number in np.flatnonzero(is_down.mean(axis=0) >= MIN_DOWN_SHARE)[::-1]:
        carried = [
            foot for foot in feet if links[number] in body.path_to_root(links[foot])
        ]
        # A foot and its toe are both at the ground; a housing above it is not, as it
        # lies higher than the link that it carries.
        is_level = bottom[:, [number]] <= bottom[:, carried] + tolerance
        carried_down = is_down[:, carried]
        level_counts = (carried_down & is_level).sum(axis=0)
        if (level_counts >= 0.5 * carried_down.sum(axis=0)).all():
            feet.append(int(number))
    return tuple(links[number] for number in sorted(feet))


def _feet_by_name(body: Body) -> tuple[int, ...]:
    """Return the last links of chains with the name of a foot."""
    parents = {link.parent for link in body.links}
    feet = []
    for link in body.links:
        name = link.name.lower()
        if link.index not in parents and any(part in name for part in NAMES):
            feet.append(link.index)
    return tuple(feet)


@dataclass(frozen=True)
class Thresholds(ShortRepr):
    """Thresholds for when a foot is low, and when it is fast over the ground.

    Two numbers each give a hysteresis.

    `height` [m] of its lowest point above the ground: low from below the first until
    above the second. `speed` [m/s] along the ground at
    its contact point: fast from above the second until below the first. A low foot is
    in contact, except while it lifts off or comes down, and while it is fast and does
    not slip (`detect_contacts`).
    """

    height: tuple[float, float] = (0.005, 0.01)
    speed: tuple[float, float] = (0.15, 0.3)


@dataclass(frozen=True, eq=False)
class Contacts(ContentEquality):
    """K feet over T frames.

    Attributes
    ----------
    links, names:
        The links of the feet.
    in_contact:
        (T, K) whether a foot is in contact.
    heights:
        (T, K) [m] of its lowest point above the ground.
    points:
        (T, K, 3) [m] in the world: the contact point, the mean of the points within 3
        mm of the lowest one.
    velocities:
        (T, K, 3) [m/s] in the world: of the foot at its contact point.
    slip_speeds:
        (T, K) [m/s]: how fast feet in contact slip over the ground; 0 without contact,
        and for `crawls`.
    crawls:
        (K,) whether it is a crawler, whose belt runs over the ground: its contact
        depends on its height alone.
    """

    links: tuple[int, ...]
    names: tuple[str, ...]
    in_contact: Bools
    heights: Floats
    points: Floats
    velocities: Floats
    slip_speeds: Floats
    crawls: tuple[bool, ...] = ()


@dataclass(frozen=True)
class FootSlip(ShortRepr):
    """The slip of foot number `foot` in one stance phase, frames `first` … `last`.

    `way` [m]; `fastest` is the frame of its top speed.
    """

    foot: int
    first: int
    last: int
    way: float
    fastest: int


@dataclass(frozen=True, eq=False)
class SupportPolygons(ContentEquality):
    """The support polygons of T frames.

    The convex hulls of the points in contact, seen from above.

    `corners` (T, M, 2) [m] x and y in the world, counter-clockwise; frame t has
    `counts[t]` of them, the rest are NaN. A polygon may be a
    line (2), a point (1) or nothing (0).
    """

    corners: Floats
    counts: Indices

    def margins(self, points: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Return distances (T,) [m] of points (T, 2) inside the polygons.

        They are negative outside. The second array has the polygons' nearest points (T,
        2).
        """
        from bodymotion.kernels.feet import margins

        found = margins(self.corners, self.counts, np.asarray(points, dtype=np.float64))
        return found[:, 0], found[:, 1:]


def ground_height(feet: Soles, link_poses: npt.ArrayLike) -> float:
    """Return the height [m] of the flat ground under a walk.

    The median over all frames of the lowest foot's lowest point; 0 without feet.

    As a foot is on the ground most of the time, neither jumps nor single frames below
    the ground change it.
    """
    from bodymotion.kernels.feet import lowest

    poses = np.asarray(link_poses, dtype=np.float64)
    if not feet.links or not len(poses):
        return 0.0
    # (T, K) heights of the lowest points, then (T,) those of the lowest foot.
    heights = lowest(poses[:, feet.links], feet.points, feet.edges, MAX_PATCH_HEIGHT)[
        ..., 0
    ].min(axis=1)
    # Frames with unknown joint values have no height.
    heights = heights[np.isfinite(heights)]
    if len(heights):
        return float(np.median(heights))
    return 0.0


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
    """Return when feet are in contact with level ground.

    A foot that is low is in contact, except

    - while it lifts off or comes down: it lifts off from where it is for the last time
      less than 1 mm above the height of the contact, or
      has been at one height for 0.1 s;
    - while it is fast and does not slip. It slips when it is on the mean at most 1 mm
      above the height of the contact and 2 mm above the
      lowest foot; but a foot that is fast for less than 0.1 s just after coming down or
      before lifting off still swings, unless it is on the ground or below it.

    So a foot that is dragged over the ground is in contact, however fast. A crawler is
    never fast: its belt touches, not the link.

    Parameters
    ----------
    feet:
        Of `soles`.
    link_poses, link_velocities:
        (T, L, 7) and (T, L, 6) in the world.
    ground:
        Height [m] of the ground, one number or one per frame (T,), for stairs and
        lifts.
    times:
        (T,) [s].
    """
    from bodymotion.kernels.feet import lowest, stances

    limits = thresholds or Thresholds()
    poses = np.asarray(link_poses, dtype=np.float64)
    moving = np.asarray(link_velocities, dtype=np.float64)
    links = list(feet.links)
    # (T, K, 4): the height of the lowest point, then the contact point.
    found = lowest(poses[:, links], feet.points, feet.edges, MAX_PATCH_HEIGHT)
    heights = found[..., 0] - np.broadcast_to(ground, (len(poses),))[:, None]
    points = found[..., 1:]
    # The contact point moves with the foot: v + ω × arm.
    velocities = point_velocities(moving[:, links], points - poses[:, links, :3])
    crawls = tuple(body.links[index].joint.type == "crawler" for index in links)
    # (T, K) [m/s] along the ground.
    speeds = np.where(crawls, 0.0, np.linalg.norm(velocities[..., :2], axis=-1))
    in_contact = (
        stances(
            heights,
            speeds,
            np.asarray(times, dtype=np.float64),
            limits.height,
            limits.speed,
        )
        > 0
    )
    # A foot that falls or rises fast passes the contact height within a frame or two.
    in_contact &= np.abs(velocities[..., 2]) < MAX_VERTICAL_SPEED
    slip = np.where(in_contact, speeds, 0.0)
    names = tuple(body.links[index].name for index in links)
    return Contacts(
        feet.links, names, in_contact, heights, points, velocities, slip, crawls
    )


def foot_slips(contacts: Contacts, times: npt.ArrayLike) -> tuple[FootSlip, ...]:
    """Return the slip of feet in each of their stance phases, foot by foot.

    Crawlers have none.

    It is the path of the contact point over intervals of 0.1 s, so that noise such as
    the rounding of files does not add up. The fastest frame is that of the fastest
    interval.
    """
    at = np.asarray(times, dtype=np.float64)
    found: list[FootSlip] = []
    for k in range(len(contacts.links)):
        if k < len(contacts.crawls) and contacts.crawls[k]:
            continue
        contact = contacts.in_contact[:, k]
        velocity = np.nan_to_num(
            np.where(contact[:, None], contacts.velocities[:, k, :2], 0.0)
        )
        # Trapezoidal rule: the position (T, 2) of the contact point, integrated from
        # velocities within contact.
        steps = 0.5 * (velocity[1:] + velocity[:-1]) * np.diff(at)[:, None]
        position = np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)])
        for first, after in runs(contact):
            last = after - 1
            # Number of the 0.1 s interval that each frame of the phase is in; the
            # margin keeps frames at an interval's edge from being rounded into the one
            # before.
            intervals = (at[first:after] - at[first]) / SLIP_INTERVAL
            begun, starts = np.unique(np.floor(intervals + 1e-6), return_index=True)
            # The first frames of the intervals, and the last frame. A rest shorter than
            # half an interval belongs to the interval before.
            marks = np.unique(
                np.append(first + starts[begun < max(intervals[-1] - 0.5, 0.5)], last)
            )
            ways = np.linalg.norm(np.diff(position[marks], axis=0), axis=1)
            if len(ways):
                longest = _largest(ways / np.diff(at[marks]))
            else:
                longest = 0
            # The fastest frame is searched in the fastest interval only.
            part = contacts.slip_speeds[
                marks[longest] : (marks[longest + 1] if len(ways) else last) + 1, k
            ]
            found.append(
                FootSlip(
                    k,
                    first,
                    last,
                    float(ways.sum()),
                    int(marks[longest] + _largest(part)),
                )
            )
    return tuple(found)


def longest_slip(contacts: Contacts, times: npt.ArrayLike) -> float:
    """Return the longest slip [m] of a foot in one stance phase.

    0 without feet.
    """
    return max((slip.way for slip in foot_slips(contacts, times)), default=0.0)


def _largest(values: Floats) -> int:
    """Return the first index of the largest value within rounding."""
    return int(np.argmax(values >= (1 - 1e-6) * values.max()))


def support_polygons(
    contacts: Contacts,
    feet: Soles,
    link_poses: npt.ArrayLike,
    ground: float | npt.ArrayLike,
) -> SupportPolygons:
    """Return the support polygons.

    Convex hulls of the points of feet in contact that are within 3 mm of a foot's
    lowest point.
    """
    from bodymotion.kernels.feet import hulls

    poses = np.asarray(link_poses, dtype=np.float64)
    heights = contacts.heights + np.broadcast_to(ground, (len(poses),))[:, None]
    touching = contacts.in_contact.astype(np.float64)
    corners, counts = hulls(
        poses[:, list(feet.links)],
        feet.points,
        feet.edges,
        touching,
        heights,
        MAX_PATCH_HEIGHT,
    )
    return SupportPolygons(corners, counts)


def root_on_feet(
    body: Body,
    q: npt.ArrayLike,
    feet: Sequence[int | str] | None = None,
    start: npt.ArrayLike | None = None,
) -> Floats:
    """Return root poses (T, 7) for which the feet of a walk do not slip.

    In the world, for joint values (T, J).

    The lowest foot is in contact and does not move, until another one would be lower by
    0.1 mm; then that one does not move. So feet do not slip, and there is no flight
    phase; while a sole rolls over its toe, the root is inexact until the next foot is
    in contact.

    Parameters
    ----------
    feet:
        Indices or names of the links that may be in contact; by default those of
        `feet_of_joints`.
    start:
        (7,) the root's pose in the first frame; by default the body's own, at the
        height where its lowest foot is at z = 0.

    Raises
    ------
    ValueError
        When `q` does not have J columns, or there are no feet.
    """
    return placed_on_feet(
        body, q, feet_of_joints(body, q) if feet is None else feet, start
    )[0]


def feet_of_joints(body: Body, q: npt.ArrayLike) -> tuple[int, ...]:
    """Return the links, in link order, that are feet in joint values (T, J) alone.

    They are those that `find_feet` finds in the first frame and in the whole motion,
    with the root at the body's own pose, and those that it finds when these carry the
    body.

    They are those that `find_feet` finds in the first frame and in the whole motion,
    with the root at the body's own pose, and those that it finds when these carry the
    body.
    """
    values = np.asarray(q, dtype=np.float64)
    if len(values):
        values = values[
            np.unique(np.linspace(0, len(values) - 1, SAMPLED_FRAMES).astype(int))
        ]
    placed = body.forward_kinematics(values)
    found = {*find_feet(body, placed[:1]), *find_feet(body, placed)}
    if found and len(values):
        # With a fixed root the lowest link is not always the one that carries the body;
        # so feet are sought once more with a root that the feet so far carry.
        root, _ = placed_on_feet(body, values, sorted(found))
        found |= {*find_feet(body, body.forward_kinematics(values, root))}
    return tuple(sorted(found))


def placed_on_feet(
    body: Body,
    q: npt.ArrayLike,
    feet: Sequence[int | str],
    start: npt.ArrayLike | None = None,
) -> tuple[Floats, Floats]:
    """Return the root poses of `root_on_feet` (T, 7) and the heights of feet.

    The heights (T,) [m] are those of the lowest point of all `feet` at these poses.
    """
    from bodymotion.kernels.feet import lowest, roots

    first = np.array(body.root_pose if start is None else start, dtype=np.float64)
    first[3:] = rotations.normalized(first[3:])
    found = soles(body, feet)
    if not found.links:
        raise ValueError(
            f"{body.name or 'the body'} has no feet; name the links that are: feet=[…]"
        )
    # (T, K, 7) in the root's frame.
    own = body.forward_kinematics(q, poses.IDENTITY, found.links)
    # Without a given start, the lowest foot of the first frame is put at z = 0.
    if start is None and len(own):
        placed = poses.compose(first, own[:1])
        first[2] -= lowest(placed, found.points, found.edges, 0.0)[..., 0].min()
    return roots(own, found.points, found.edges, first)
