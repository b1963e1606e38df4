"""Collisions of links with each other and with the floor: MuJoCo's contacts of convex hulls of collision shapes, frame by frame.

Links that overlap at rest, links that move as one, and a link and the one that carries it do not collide, as in a simulation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body
from bodymotion.simulation.world import WorldOptions, robot_of
from bodymotion.system.extras import need

MIN_DEPTH = 0.02
"""[m] Shallower overlaps are no collisions: hulls and models of shapes are inexact."""
FLOOR = -1
"""The floor in place of the index of a link."""


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
        (C,) [m] the least distance by which one link must be moved so that the two do not overlap.
    points:
        (C, 3) [m] the position of the overlap in the world.
    num_frames:
        T.
    """

    links: npt.NDArray[np.int64]
    frames: npt.NDArray[np.int64]
    depths: Floats
    points: Floats
    num_frames: int

    def by_pair(self) -> Iterator[tuple[int, int, Floats]]:
        """Return each pair of links with its depths (T,) [m], which are 0 where the two do not overlap."""
        for one, two in np.unique(self.links, axis=0).tolist():
            own = (self.links == [one, two]).all(axis=1)
            depths = np.zeros(self.num_frames)
            depths[self.frames[own]] = self.depths[own]
            yield one, two, depths


def find_collisions(body: Body, q: Floats, root: Floats, floor: float | None = None) -> Collisions:
    """Return the collisions in T postures: joint values (T, J), root poses (T, 7), and the height [m] of a level floor.

    The shapes of a body without collision shapes are its visuals.

    Raises
    ------
    ImportError
        Without the extra `sim`.
    FormatError, ValueError
        When MuJoCo cannot load the body.
    """
    mujoco = need("mujoco", "sim", "finding collisions of links")
    robot = robot_of(body, visuals=True)
    options = WorldOptions(None, 0.001, "touching", 1.0, floor=True, limits=False, sensors=False)
    world = robot.world(options, robot.points.home())
    model, data = world.model, mujoco.MjData(world.model)
    plane = model.geom("floor").id
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
    for frame in range(len(q)):
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
                rows.append(np.column_stack([links, numbers, contacts.dist[deep], contacts.pos[deep] + up]))
    found = np.concatenate(rows)
    # Of several contacts of a pair in one frame the deepest.
    found = found[np.lexsort(found[:, 3::-1].T)]
    pairs = found[:, :3].astype(np.int64)
    first = np.concatenate([[True], (np.diff(pairs, axis=0) != 0).any(axis=1)])[: len(pairs)]
    return Collisions(pairs[first, :2], pairs[first, 2], -found[first, 3], found[first, 4:], len(q))
