"""Collisions of links with each other and with the floor.

MuJoCo's contacts of convex hulls of collision shapes, frame by frame.

Links that overlap at rest, links that move as one, and a link and the one that carries
it do not collide, as in a simulation. MuJoCo is loaded only if the boxes of two shapes,
or of a shape and the floor, overlap in a frame.
"""

import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from types import EllipsisType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bodymotion.geometry.arrays import Bools, Floats, Indices
from bodymotion.geometry.meshes import box_overlap
from bodymotion.kernels.boxes import find_deep
from bodymotion.kernels.compiling import is_small
from bodymotion.kernels.kinematics import apply, matrices
from bodymotion.model.body import Body
from bodymotion.model.collision_points import TOUCH_DISTANCE, CollisionPoints
from bodymotion.system.deferred import need

if TYPE_CHECKING:
    from bodymotion.simulation.world import World

# [m] Shallower overlaps are no collisions: hulls and models of shapes are inexact.
MIN_DEPTH = 0.02
# Of bodies with more links MuJoCo tries all frames.
MAX_LINKS = 1000
# Poses of shapes in one block.
BLOCK_POSES = 1 << 17
# Consecutive frames whose bounding boxes are compared at once.
FRAMES_TOGETHER = 32
# [m] The overlap of boxes from which on MuJoCo is asked.
LIMIT = MIN_DEPTH - TOUCH_DISTANCE
# The floor in place of the index of a link.
FLOOR = -1


@dataclass(frozen=True)
class Collisions:
    """Overlaps of pairs of links: C of them, in order of pairs, then of frames.

    Attributes
    ----------
    links:
        (C, 2) the indices of the links, the lower one first; `FLOOR` for the floor.
    frames:
        (C,) the rows of the postures.
    depths:
        (C,) [m] the smallest distance by which one link must be moved so that the two
        do not overlap.
    points:
        (C, 3) [m] the position of the overlap in the world.
    num_frames:
        T.
    """

    links: Indices
    frames: Indices
    depths: Floats
    points: Floats
    num_frames: int

    def by_pair(self) -> Iterator[tuple[int, int, Floats]]:
        """Return each pair of links with its depths (T,) [m].

        They are 0 where the two do not overlap.
        """
        for one, two in sorted(set(map(tuple, self.links.tolist()))):
            rows = (self.links == [one, two]).all(axis=1)
            depths = np.zeros(self.num_frames)
            depths[self.frames[rows]] = self.depths[rows]
            yield one, two, depths

    def of_postures(self, rows: slice) -> "Collisions":
        """Return the collisions in some of the postures.

        They are counted from the first of these on.
        """
        inside = (self.frames >= rows.start) & (self.frames < rows.stop)
        return Collisions(
            self.links[inside],
            self.frames[inside] - rows.start,
            self.depths[inside],
            self.points[inside],
            rows.stop - rows.start,
        )


class _LinkBoxes(NamedTuple):
    """Boxes around K links in T frames, along the axes of the world.

    `rotations` (3, 3, K, T) and `origins` (3, K, T) of the links; the `middles`, the
    lowest and the highest coordinates (3, K, T) of the boxes.
    """

    rotations: Floats
    origins: Floats
    middles: Floats
    low: Floats
    high: Floats


class _Boxes:
    """The boxes of K links with shapes, and those of their S shapes.

    Those of shapes are along the shapes' own axes; all are in the frames of the links.
    They contain the shapes: two shapes overlap along no direction by more than their
    boxes do. Of the links, `partners` (K, K) may collide; the shapes of link k are
    `edges[k]`…`edges[k + 1]`.
    """

    def __init__(self, body: Body) -> None:
        """Compute the boxes of links and shapes, and which pairs may collide."""
        shapes = CollisionPoints(body, visuals=True)
        # MuJoCo's with their data, when nothing computes with them: a copy takes longer
        # than a walk without contacts.
        self.worlds: list[Any] = []
        self.links, first = np.unique(shapes.shapes, return_index=True)
        if not len(first):
            return
        self.edges = [*first.tolist(), len(shapes.shapes)]
        starts = shapes.starts[first]
        low = np.minimum.reduceat(shapes.points, starts)
        high = np.maximum.reduceat(shapes.points, starts)
        self.middles = 0.5 * (low + high)
        self.halves = 0.5 * (high - low)
        self.axes = shapes.axes
        self.shape_middles, self.shape_halves = shapes.boxes
        # (S,) [m] A ball around the link's origin with this radius contains the shape.
        self.radii = np.linalg.norm(self.shape_middles, axis=1)
        self.radii += np.linalg.norm(self.shape_halves, axis=1)
        self.partners = self._find_partners(shapes, first)

    def _find_partners(self, shapes: CollisionPoints, first: Indices) -> Bools:
        """Return which links may collide (K, K), given the first shape of each.

        None of a body with too many links.
        """
        count = len(first)
        if count > MAX_LINKS:
            return np.zeros((0, 0), dtype=bool)
        partners = np.zeros((count, count), dtype=bool)
        for one in range(count):
            others = shapes.shapes[shapes.partners(int(first[one]))]
            partners[one, np.searchsorted(self.links, others)] = True
        # Links that overlap at rest, as at joints, are not reported.
        for pair in shapes.rest_overlaps:
            partners[tuple(np.searchsorted(self.links, pair))] = False
        return partners

    def find_near(self, link_poses: Floats, floor: float | None) -> Bools:
        """Return in which frames (T,) boxes overlap by more than `MIN_DEPTH`.

        Poses (T, L, 7) of links, and the height of a floor [m].
        """
        num_frames = len(link_poses)
        near = np.full(num_frames, len(self.links) > MAX_LINKS)
        boxes = self._place(link_poses[:, self.links])
        # Most pairs are apart in all frames: the boxes around each over some frames
        # show it.
        starts = np.arange(0, num_frames, FRAMES_TOGETHER)
        lowest = np.minimum.reduceat(boxes.low, starts, axis=-1)
        highest = np.maximum.reduceat(boxes.high, starts, axis=-1)
        if is_small(find_deep, self.partners.sum() * num_frames):
            for one in range(len(self.partners)):
                self._find_deep_pairs(boxes, one, lowest, highest, near)
        else:
            arrays = (boxes.rotations, boxes.origins, boxes.low, boxes.high)
            find_deep(
                np.argwhere(self.partners),
                np.append(starts, num_frames),
                tuple(map(np.ascontiguousarray, (*arrays, lowest, highest))),
                (self.axes, self.shape_middles, self.shape_halves, self.radii),
                np.array(self.edges),
                LIMIT,
                near,
            )
        if floor is not None:
            self._find_below(boxes, floor, near)
        return near

    def _place(self, link_poses: Floats) -> _LinkBoxes:
        rotations = matrices(link_poses)
        origins = link_poses[..., :3].T
        middles = apply(rotations, self.middles.T[:, :, None]) + origins
        # Boxes that overlap by less than the limit are apart.
        reach = apply(np.abs(rotations), self.halves.T[:, :, None]) - 0.5 * LIMIT
        return _LinkBoxes(rotations, origins, middles, middles - reach, middles + reach)

    def _find_deep_pairs(
        self, boxes: _LinkBoxes, one: int, lowest: Floats, highest: Floats, near: Bools
    ) -> None:
        """Set `near` (T,) where shapes of a link and of its partners overlap.

        `lowest` and `highest` (3, K, B) are the coordinates over some frames together.
        """
        # Boxes are apart if they are along one of the three axes.
        is_apart = (lowest >= highest[:, [one]]) | (highest <= lowest[:, [one]])
        is_always_apart = np.all(np.any(is_apart, axis=0), axis=1)
        others = np.flatnonzero(self.partners[one] & ~is_always_apart)
        overlaps = boxes.low[:, others] < boxes.high[:, [one]]
        overlaps &= boxes.high[:, others] > boxes.low[:, [one]]
        rows, frames = np.nonzero(overlaps.all(axis=0) & ~near)
        partners = others[rows]

        def box_of(links: Indices) -> tuple[Floats, Floats, Floats]:
            return (
                boxes.rotations[:, :, links, frames],
                self.halves[links].T,
                boxes.middles[:, links, frames],
            )

        # First the boxes of the links along their own axes, then those of their shapes.
        depths = box_overlap(box_of(np.full_like(rows, one)), box_of(partners), LIMIT)
        is_deep = depths > LIMIT
        for two in sorted(set(partners[is_deep].tolist())):
            inner = frames[is_deep & (partners == two)]
            depths = box_overlap(
                self._shape_boxes(boxes, one, inner, np.s_[..., :, None, :]),
                self._shape_boxes(boxes, two, inner, np.s_[..., None, :, :]),
                LIMIT,
            )
            near[inner] |= (depths > LIMIT).any(axis=(0, 1))

    def _shape_boxes(
        self,
        boxes: _LinkBoxes,
        link: int,
        frames: Indices,
        axes_among: tuple[EllipsisType | slice | None, ...],
    ) -> tuple[Floats, Floats, Floats]:
        """Return the boxes of the shapes of a link in some frames.

        `axes_among` makes an axis for the shapes of the other link of a pair.
        """
        shapes = slice(*self.edges[link : link + 2])
        rotations = boxes.rotations[:, :, link, frames]
        axes = np.einsum("ijf,sjk->iksf", rotations, self.axes[shapes])
        middles = np.einsum("ijf,sj->isf", rotations, self.shape_middles[shapes])
        middles += boxes.origins[:, link][:, None, frames]
        halves = self.shape_halves[shapes].T[..., None]
        return axes[axes_among], halves[axes_among], middles[axes_among]

    def _find_below(self, boxes: _LinkBoxes, floor: float, near: Bools) -> None:
        """Set `near` (T,) where a shape is below a floor at this height [m]."""
        # The coordinates of the boxes lack half of the limit.
        is_low = boxes.low[2] - 0.5 * LIMIT < floor - MIN_DEPTH
        for link in np.flatnonzero(is_low.any(axis=1)).tolist():
            shapes = slice(*self.edges[link : link + 2])
            frames = np.flatnonzero(is_low[link])
            # The vertical in the frame of the link.
            up = boxes.rotations[2, :, link, frames]
            along_axes = np.abs(np.einsum("fj,sjk->fsk", up, self.axes[shapes]))
            extents = along_axes * self.shape_halves[shapes]
            bottom = (
                up @ self.shape_middles[shapes].T
                - extents.sum(axis=-1)
                + boxes.origins[2, link, frames, None]
            )
            near[frames[(bottom < floor - MIN_DEPTH).any(axis=1)]] = True


# By the id of a body, as long as it lives.
_boxes: dict[int, _Boxes] = {}


def find_collisions(
    body: Body, q: Floats, root: Floats, floor: float | None = None
) -> Collisions:
    """Return the collisions in T postures.

    Joint values (T, J), root poses (T, 7), and the height [m] of a level floor.

    The shapes of a body without collision shapes are its visuals.

    Raises
    ------
    ImportError
        Without the extra `sim`, where boxes of shapes overlap.
    FormatError, ValueError
        When MuJoCo cannot load the body.
    """
    boxes = _boxes.get(id(body))
    if boxes is None:
        boxes = _boxes[id(body)] = _Boxes(body)
        weakref.finalize(body, _boxes.pop, id(body), None)
    is_near = np.zeros(len(q), dtype=bool)
    if len(boxes.links):
        step = BLOCK_POSES // (len(boxes.links) + 1) + 1
        for start in range(0, len(q), step):
            block = slice(start, start + step)
            link_poses = body.forward_kinematics(q[block], root[block])
            is_near[block] = boxes.find_near(link_poses, floor)
    frames = np.flatnonzero(is_near)
    if len(frames):
        contacts = _contacts(body, q, root, frames, floor)
    else:
        contacts = np.zeros((0, CONTACT_COLUMNS))
    # Of several contacts of a pair in one frame the deepest.
    contacts = contacts[np.lexsort(contacts[:, 3::-1].T)]
    keys = contacts[:, :3].astype(np.int64)
    is_first = np.ones(len(keys), dtype=bool)
    is_first[1:] = (np.diff(keys, axis=0) != 0).any(axis=1)
    deepest = contacts[is_first]
    return Collisions(
        links=keys[is_first, :2],
        frames=keys[is_first, 2],
        depths=-deepest[:, 3],
        points=deepest[:, 4:],
        num_frames=len(q),
    )


# Two links, the frame, the distance [m], and the point (3,) [m].
CONTACT_COLUMNS = 7


def _contacts(
    body: Body, q: Floats, root: Floats, frames: Indices, floor: float | None
) -> Floats:
    """Return MuJoCo's contacts deeper than `MIN_DEPTH` in `frames` as rows.

    Two links, frame, distance [m], point (3,) [m].
    """
    mujoco = need("mujoco", "sim", "finding collisions of links")
    world, data = _take_world(body)
    model = world.model
    plane = model.geom("floor").id
    # Without a floor its plane collides with nothing; restored below, as the world is
    # used again.
    collides = model.geom_contype[plane], model.geom_conaffinity[plane]
    if floor is None:
        model.geom_contype[plane] = model.geom_conaffinity[plane] = 0
    link_of = _links_of_geoms(world, plane)
    columns = np.flatnonzero(world.qpos >= 0)
    # The plane of the model is at z = 0, so the body is moved down.
    up = np.array([0.0, 0.0, floor or 0.0])
    rows = [np.zeros((0, CONTACT_COLUMNS))]
    for frame in frames.tolist():
        data.qpos[world.qpos[columns]] = q[frame, columns]
        if world.root >= 0:
            data.qpos[world.root : world.root + 3] = root[frame, :3] - up
            data.qpos[world.root + 3 : world.root + 7] = root[frame, 3:]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        contacts = data.contact
        if not data.ncon:
            continue
        deep = np.flatnonzero(contacts.dist < -MIN_DEPTH)
        if len(deep):
            links = np.sort(link_of[contacts.geom[deep]], axis=1)
            numbers = np.full(len(deep), frame)
            points = contacts.pos[deep] + up
            rows.append(np.column_stack([links, numbers, contacts.dist[deep], points]))
    model.geom_contype[plane], model.geom_conaffinity[plane] = collides
    _boxes[id(body)].worlds.append((world, data))
    return np.concatenate(rows)


def _take_world(body: Body) -> "tuple[World, Any]":
    """Return MuJoCo's world with a body and a floor, and its data."""
    from bodymotion.simulation.world import WorldOptions, robot_of

    worlds = _boxes[id(body)].worlds
    if worlds:
        world, data = worlds.pop()
        return world, data
    mujoco = need("mujoco", "sim", "finding collisions of links")
    robot = robot_of(body, visuals=True)
    options = WorldOptions(
        gains=None,
        timestep=0.001,
        self_collision="touching",
        friction=1.0,
        floor=True,
        limits=False,
        sensors=False,
    )
    world = robot.world(options, robot.points.home())
    return world, mujoco.MjData(world.model)


def _links_of_geoms(world: "World", plane: int) -> Indices:
    """Return the link of each of MuJoCo's geoms.

    `FLOOR` for the plane.
    """
    # Of links that move as one, the first names them all: it is written last.
    link_of_body = np.zeros(world.model.nbody, dtype=np.int64)
    link_of_body[world.bodies[::-1]] = np.arange(len(world.bodies))[::-1]
    links: Indices = link_of_body[world.model.geom_bodyid]
    links[plane] = FLOOR
    return links
