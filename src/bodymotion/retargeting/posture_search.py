"""Inverse kinematics over all frames of a motion."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from bodymotion.geometry.arrays import Floats, Indices
from bodymotion.kernels.compiling import in_slices
from bodymotion.kernels.inverse_kinematics import Space
from bodymotion.model import ik
from bodymotion.retargeting.goals import Goals

# Steps of inverse kinematics in the first frame of a slice.
FIRST_STEPS = 60
# Steps in other frames: each begins with the posture of the frame next to it.
STEPS = 2
# Start poses that are tried where joints move the root, far from its goal.
RESTARTS = 20
# Frames that are solved one after another, about. A slice ends where the hips are high:
# near there is the posture with which the search begins.
SLICE = 1000
# Frames by which a slice begins later, so that its begin has no effect.
RUN_IN = 40


class Postures(NamedTuple):
    """Joint values (T, J) and root poses (T, 7), or those of one frame."""

    q: Floats
    root: Floats


class SolverPass(NamedTuple):
    """Tasks, the variables that may move for them, and the steps in a frame."""

    tasks: Sequence[ik.Task]
    space: Space
    steps: int = STEPS


def free_variables(
    goals: Goals,
    columns: list[int],
    posture_weight: float,
    free_root: bool = True,
) -> Space:
    """Return that joints in `columns` move, and the root.

    `posture_weight` [1/rad] is that of the posture, but not of what moves the pelvis.
    """
    body = goals.body
    weights = np.full(6 + body.num_joints, posture_weight)
    weights[[6 + column for column in goals.columns("pelvis")]] = 0.0
    is_free = free_root and not body.is_mounted
    space = ik.search_space(body, is_free, columns, weights)
    return space._replace(
        lower=np.r_[space.lower[:6], goals.posture.lower],
        upper=np.r_[space.upper[:6], goals.posture.upper],
    )


def search_postures(
    goals: Goals,
    solver_pass: SolverPass,
    root: Floats | None = None,
) -> Postures:
    """Return the postures of all frames, with a search that begins with bent knees.

    It goes slice by slice of the frames. Each slice begins `RUN_IN` frames after its
    end, with more steps, and goes backwards in time: the result does not depend on
    where the recording begins. A `root` (7,) that is given stays where it is.
    """
    body = goals.body
    count = len(goals.pelvis)
    rest = goals.posture.q
    first_pass = solver_pass._replace(steps=FIRST_STEPS)
    edges = _edges_of_slices(goals)
    # A root that is moved by joints begins far from its goal.
    restarts = 0
    if goals.columns("pelvis") and body.is_mounted:
        restarts = RESTARTS
    postures = Postures(np.empty((count, body.num_joints)), np.empty((count, 7)))

    def search_slice(first: int, stop: int) -> None:
        last = min(stop + RUN_IN, count) - 1
        start = Postures(rest, goals.place_root(last) if root is None else root)
        begin = _solve(goals, first_pass, slice(last, last + 1), start, rest, restarts)
        start = Postures(begin.q[0], begin.root[0])
        backwards = slice(last, first - 1 if first else None, -1)
        solution = _solve(goals, solver_pass, backwards, start, rest)
        postures.q[first:stop] = solution.q[::-1][: stop - first]
        postures.root[first:stop] = solution.root[::-1][: stop - first]

    def search_slices(begin: int, end: int) -> None:
        for first, stop in pairwise(edges[begin : end + 1]):
            search_slice(first, stop)

    in_slices(len(edges) - 1, search_slices, 1)
    return postures


def _edges_of_slices(goals: Goals) -> list[int]:
    """Return the first frames of all slices, and the number of frames."""
    heights = goals.pelvis[:, 2]
    edges = [len(heights)]
    if not goals.body.is_mounted:
        for frame in range(len(heights) - SLICE, SLICE // 2, -SLICE):
            edges.append(frame + int(heights[frame : frame + RUN_IN].argmax()))
    return [0, *edges[::-1]]


def refine_postures(
    goals: Goals,
    solver_pass: SolverPass,
    postures: Postures,
    rows: Indices | None = None,
) -> Postures:
    """Return postures that are nearer to the goals, each frame from its own.

    In some `rows`, or all.
    """
    if rows is None:
        rows = np.arange(len(postures.q))
    q = postures.q.copy()
    root = postures.root.copy()
    start = Postures(q[rows], root[rows])
    solution = _solve(goals, solver_pass, rows, start, start.q)
    q[rows] = solution.q
    root[rows] = solution.root
    return Postures(q, root)


def _solve(
    goals: Goals,
    solver_pass: SolverPass,
    rows: slice | Indices,
    start: Postures,
    rest: Floats,
    restarts: int = 0,
) -> ik.Solution:
    """Return the solution of a pass in some rows, near to joint values at `rest`."""
    problem = ik.TaskList(goals.body, start.q, start.root, rest)
    for task in solver_pass.tasks:
        if isinstance(task, ik.FrameTask):
            task = replace(task, goal=np.asarray(task.goal)[rows])
        elif isinstance(task, ik.DistanceTask):
            task = replace(task, distance=np.asarray(task.distance)[rows])
        problem.add_task(task)
    problem.add_loops()
    return ik.solve(problem, solver_pass.space, restarts, solver_pass.steps)
