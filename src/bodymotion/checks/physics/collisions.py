"""Collisions of links with each other and with the floor.

MuJoCo's contacts of convex hulls of collision shapes, frame by frame.

Links that overlap at rest, links that move as one, and a link and the one that carries
it do not collide, as in a simulation. MuJoCo is loaded only if the boxes of two shapes,
or of a shape and the floor, overlap in a frame.
"""

import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bodymotion.geometry.arrays import Bools, Floats, Indices
from bodymotion.geometry.meshes import box_overlap
from bodymotion.kernels.boxes import find_deep
from bodymotion.kernels.compiling import is_small
from bodymotion.kernels.kinematics import apply, matrices
from bodymotion.model.body import Body
from bodymotion.model.collision_points import TOUCH_DISTANCE, CollisionPoints
from bodymotion.system.deferred import need

MIN_DEPTH = 0.02  # [m] Shallower overlaps are no collisions: hulls and models of shapes are inexact.
MAX_LINKS = 1000  # Of bodies with more links MuJoCo tries all frames.
BLOCK_POSES = 1 << 17  # Poses of shapes in one block.
FRAMES_TOGETHER = 32  # Consecutive frames whose bounding boxes are compared at once.
LIMIT = MIN_DEPTH - TOUCH_DISTANCE
FLOOR = -1  # The floor in place of the index of a link.


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
        """Return each pair of links with its depths (T,) [m], which are 0 where the two do not overlap."""
        for one, two in sorted(set(map(tuple, self.links.tolist()))):
            own = (self.links == [one, two]).all(axis=1)
            depths = np.zeros(self.num_frames)
            depths[self.frames[own]] = self.depths[own]
            yield one, two, depths

    def of_postures(self, rows: slice) -> "Collisions":
        """Return the collisions in some of the postures, which are counted from the first of these on."""
        own = (self.frames >= rows.start) & (self.frames < rows.stop)
        frames = self.frames[own] - rows.start
        return Collisions(
            self.links[own],
            frames,
            self.depths[own],
            self.points[own],
            rows.stop - rows.start,
        )


class _Boxes:
    """The boxes of K links with shapes, and those of their S shapes along the shapes' own axes, all in the frames of the links.

    They contain the shapes: two shapes overlap along no direction by more than their
    boxes do. Of the links, `partners` (K, K) may collide; the shapes of link k are
    `edges[k]`…`edges[k + 1]`.
    """

    def __init__(self, body: Body) -> None:
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
        self.radii = np.linalg.norm(self.shape_middles, axis=1) + np.linalg.norm(
            self.shape_halves, axis=1
        )
        if len(first) <= MAX_LINKS:
            count = len(first)
        else:
            count = 0
        self.partners = np.zeros((count, count), dtype=bool)
        for one in range(count):
            others = shapes.shapes[shapes.partners(int(first[one]))]
            self.partners[one, np.searchsorted(self.links, others)] = True
        for pair in shapes.rest_overlaps if count else ():
            self.partners[tuple(np.searchsorted(self.links, pair))] = False

    def near(self, placed: Floats, floor: float | None) -> Bools:
        """Return in which frames (T,) boxes overlap by more than `MIN_DEPTH`.

        Poses (T, L, 7) of links, and the height of a floor [m].
        """
        found = np.full(len(placed), len(self.links) > MAX_LINKS)
        turns = matrices(placed[:, self.links])
        origins = placed[:, self.links, :3].T
        middles = apply(turns, self.middles.T[:, :, None]) + origins
        reach = apply(np.abs(turns), self.halves.T[:, :, None]) - 0.5 * LIMIT
        # Most pairs are apart in all frames: the boxes around each over some frames
        # show it.
        starts = np.arange(0, len(placed), FRAMES_TOGETHER)
        low = middles - reach
        high = middles + reach
        lowest = np.minimum.reduceat(low, starts, axis=-1)
        highest = np.maximum.reduceat(high, starts, axis=-1)
        small = is_small(find_deep, self.partners.sum() * len(placed))
        if not small:
            links = tuple(
                map(np.ascontiguousarray, (turns, origins, low, high, lowest, highest))
            )
            boxes = (self.axes, self.shape_middles, self.shape_halves, self.radii)
            blocks = np.append(starts, len(placed))
            find_deep(
                np.argwhere(self.partners),
                blocks,
                links,
                boxes,
                np.array(self.edges),
                LIMIT,
                found,
            )
        for one, partners in enumerate(self.partners if small else ()):
            apart = np.any(
                (lowest >= highest[:, [one]]) | (highest <= lowest[:, [one]]), axis=0
            )
            others = np.flatnonzero(partners & ~np.all(apart, axis=1))
            near = (low[:, others] < high[:, [one]]) & (high[:, others] > low[:, [one]])
            which, frames = np.nonzero(near.all(axis=0) & ~found)
            pair = np.full_like(which, one), others[which]
            a, b = (
                (turns[:, :, k, frames], self.halves[k].T, middles[:, k, frames])
                for k in pair
            )
            deep = box_overlap(a, b, LIMIT) > LIMIT
            for two in sorted(set(pair[1][deep].tolist())):
                inner = frames[deep & (pair[1] == two)]
                boxes_of = []
                for k, among in (
                    (one, np.s_[..., :, None, :]),
                    (two, np.s_[..., None, :, :]),
                ):
                    part = slice(*self.edges[k : k + 2])
                    turn = turns[:, :, k, inner]
                    axes = np.einsum("ijf,sjk->iksf", turn, self.axes[part])
                    place = (
                        np.einsum("ijf,sj->isf", turn, self.shape_middles[part])
                        + origins[:, k][:, None, inner]
                    )
                    boxes_of.append(
                        (
                            axes[among],
                            self.shape_halves[part].T[..., None][among],
                            place[among],
                        )
                    )
                found[inner] |= (
                    box_overlap(boxes_of[0], boxes_of[1], LIMIT) > LIMIT
                ).any(axis=(0, 1))
        if floor is not None:
            low = middles[2] - reach[2] - 0.5 * LIMIT < floor - MIN_DEPTH
            for k in np.flatnonzero(low.any(axis=1)).tolist():
                part = slice(*self.edges[k : k + 2])
                frames = np.flatnonzero(low[k])
                up = turns[2, :, k, frames]
                extents = (
                    np.abs(np.einsum("fj,sjk->fsk", up, self.axes[part]))
                    * self.shape_halves[part]
                )
                bottom = (
                    up @ self.shape_middles[part].T
                    - extents.sum(axis=-1)
                    + origins[2, k, frames, None]
                )
                found[frames[(bottom < floor - MIN_DEPTH).any(axis=1)]] = True
        return found


_boxes: dict[int, _Boxes] = {}  # By the id of a body, as long as it lives.


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
    step = BLOCK_POSES // (len(boxes.links) + 1) + 1
    blocks = [
        slice(start, start + step)
        for start in range(0, len(q) if len(boxes.links) else 0, step)
    ]
    near = [
        boxes.near(body.forward_kinematics(q[block], root[block]), floor)
        for block in blocks
    ]
    frames = np.flatnonzero(np.concatenate([np.zeros(0, dtype=np.bool_), *near]))
    if len(frames):
        found = _contacts(body, q, root, frames, floor)
    else:
        found = np.zeros((0, 7))
    # Of several contacts of a pair in one frame the deepest.
    found = found[np.lexsort(found[:, 3::-1].T)]
    pairs = found[:, :3].astype(np.int64)
    first = np.concatenate([[True], (np.diff(pairs, axis=0) != 0).any(axis=1)])[
        : len(pairs)
    ]
    return Collisions(
        pairs[first, :2], pairs[first, 2], -found[first, 3], found[first, 4:], len(q)
    )


def _contacts(
    body: Body, q: Floats, root: Floats, frames: Indices, floor: float | None
) -> Floats:
    """Return MuJoCo's contacts deeper than `MIN_DEPTH` in `frames` as rows.

    Two links, frame, distance [m], point (3,) [m].
    """
    from bodymotion.simulation.world import WorldOptions, robot_of

    mujoco = need("mujoco", "sim", "finding collisions of links")
    worlds = _boxes[id(body)].worlds
    if worlds:
        world, data = worlds.pop()
    else:
        robot = robot_of(body, visuals=True)
        options = WorldOptions(
            None, 0.001, "touching", 1.0, floor=True, limits=False, sensors=False
        )
        world = robot.world(options, robot.points.home())
        data = mujoco.MjData(world.model)
    model = world.model
    plane = model.geom("floor").id
    collides = model.geom_contype[plane], model.geom_conaffinity[plane]
    if floor is None:
        model.geom_contype[plane] = model.geom_conaffinity[plane] = 0
    # Of links that move as one, the first names them all.
    link_of = np.zeros(model.nbody, dtype=np.int64)
    link_of[world.bodies[::-1]] = np.arange(len(world.bodies))[::-1]
    link_of = link_of[model.geom_bodyid]
    link_of[plane] = FLOOR
    columns = np.flatnonzero(world.qpos >= 0)
    up = np.array([0.0, 0.0, floor or 0.0])
    rows = [np.zeros((0, 7))]
    for frame in frames.tolist():
        data.qpos[world.qpos[columns]] = q[frame, columns]
        if world.root >= 0:
            data.qpos[world.root : world.root + 3] = root[frame, :3] - up
            data.qpos[world.root + 3 : world.root + 7] = root[frame, 3:]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        if data.ncon:
            contacts = data.contact
            deep = np.flatnonzero(contacts.dist < -MIN_DEPTH)
            if len(deep):
                links = np.sort(link_of[contacts.geom[deep]], axis=1)
                numbers = np.full(len(deep), frame)
                rows.append(
                    np.column_stack(
                        [links, numbers, contacts.dist[deep], contacts.pos[deep] + up]
                    )
                )
    model.geom_contype[plane], model.geom_conaffinity[plane] = collides
    worlds.append((world, data))
    return np.concatenate(rows)
