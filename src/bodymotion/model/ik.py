"""Inverse kinematics: tasks, and the joint values that fulfil them.

`Body.ik` is the way in. A task is fulfilled when its error is at most `MAX_ERROR`.
Where tasks cannot all be fulfilled, the sum of their squared errors, times the squares
of their weights, is least: a weight of 1 stands for 1/m and 1/rad. A task of infinite
weight comes before all others, as do pinned links and closed loops. The method is in
`kernels.inverse_kinematics`.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics.text import counted, listed
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import (
    Bools,
    ContentEquality,
    Floats,
    Indices,
    check_memory,
    real_numbers,
)
from bodymotion.geometry.meshes import hull_of_sorted
from bodymotion.kernels import inverse_kinematics as kernel
from bodymotion.kernels.kinematics import ROTATE, SLIDE
from bodymotion.kernels.loop_closing import Chain
from bodymotion.model.closed_loops import (
    columns_of,
    constrained_directions,
    constrained_tilts,
    unit_axis,
)
from bodymotion.motion import Motion

if TYPE_CHECKING:
    from bodymotion.model.body import Body

__all__ = [
    "CenterOfMassTask",
    "DistanceTask",
    "FrameTask",
    "HalfSpaceTask",
    "LookAtTask",
    "Solution",
    "Task",
    "inside",
]

# Relative difference of two costs up to which the solution nearer to `q0` is chosen.
SAME_COST = 1e-3
MAX_ERROR = 1e-6  # [m, rad] A task with a smaller error is fulfilled.
# [rad or m] How far a joint is from `q0` in random starts at most.
START_RANGE = {ROTATE: 2 * np.pi, SLIDE: 1.0}
MIN_QUATERNION = 1e-100  # A shorter quaternion is not an orientation: its square is 0.
MAX_NUMBER = 1e15  # [m, rad] The squares of larger numbers would overflow.
ORIGIN = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class TaskRows:
    """A task for the kernel.

    Attributes
    ----------
    name:
        What the task is about, in messages and in `Solution.names`.
    kind:
        `kernel.POSE` … `kernel.CENTER_PLANE`.
    weights:
        Up to 6, of the residuals.
    goal:
        (..., 1 to 7), as the kind defines it.
    links, points, direction:
        As in `kernel.Tasks`.
    sign:
        0, or that of an inequality.
    """

    name: str
    kind: int
    weights: Sequence[float]
    goal: npt.ArrayLike
    links: tuple[int, int] = (0, -1)
    points: tuple[npt.ArrayLike, npt.ArrayLike] = (ORIGIN, ORIGIN)
    direction: npt.ArrayLike = ORIGIN
    sign: int = 0


@dataclass(frozen=True, eq=False)
class FrameTask:
    """A point of a link is at a position, the link in an orientation, or both.

    `link`: name or index; `goal`: pose (..., 7), position (..., 3) or orientation (...,
    4) in the world; `point` (3,) in the link's frame, its origin by default.
    """

    link: str | int
    goal: npt.ArrayLike
    weight: float = 1.0
    orientation_weight: float = 1.0
    point: npt.ArrayLike = ORIGIN

    def rows(self, body: Body) -> TaskRows:
        """Return the task for the kernel."""
        link = _link_index(body, self.link)
        name = body.links[link].name
        goal = np.asarray(self.goal)
        width = goal.shape[-1:]
        if width not in ((7,), (3,), (4,)):
            raise ValueError(
                f"{name}: expected a pose (7 numbers), position (3) or "
                f"orientation (4), or T rows of them, got shape {goal.shape}"
            )
        has_position = width != (4,)
        has_orientation = width != (3,)
        if not has_position:
            goal = np.concatenate([np.zeros((*goal.shape[:-1], 3)), goal], axis=-1)
        if has_orientation:
            goal = _rows(goal, 7, name)
            _check_orientations(goal, name)
        weight = self.weight if has_position else 0.0
        orientation_weight = self.orientation_weight if has_orientation else 0.0
        return TaskRows(
            name,
            kernel.POSE,
            [weight] * 3 + [orientation_weight] * 3,
            goal,
            (link, -1),
            (self.point, ORIGIN),
        )


@dataclass(frozen=True, eq=False)
class CenterOfMassTask:
    """The centre of mass is at a position, or above or below a point.

    `goal`: (..., 3) [m] in the world, or (..., 2) for x and y alone.
    """

    goal: npt.ArrayLike
    weight: float = 1.0

    def rows(self, body: Body) -> TaskRows:
        """Return the task for the kernel."""
        name = "centre of mass"
        if body.mass <= 0:
            raise ValueError(f"{name}: the body has no mass")
        # Two numbers: the height of the centre of mass is free.
        width = np.shape(self.goal)[-1:]
        if width not in ((2,), (3,)):
            raise ValueError(f"{name}: expected 2 or 3 numbers, or T rows of them")
        return TaskRows(name, kernel.CENTER, [self.weight] * width[0], self.goal)


@dataclass(frozen=True, eq=False)
class LookAtTask:
    """An axis of a link points at a position.

    `axis` (3,) in the link's frame, from its `point` (3,); `goal` (..., 3) in the
    world.
    """

    link: str
    goal: npt.ArrayLike
    axis: npt.ArrayLike = (1.0, 0.0, 0.0)
    weight: float = 1.0
    point: npt.ArrayLike = ORIGIN

    def rows(self, body: Body) -> TaskRows:
        """Return the task for the kernel."""
        link = _link_index(body, self.link)
        axis = _vector(self.axis, f"axis of {self.link}")
        length = float(np.linalg.norm(axis))
        if length == 0:
            raise ValueError(f"axis of {self.link}: expected a direction, got 0 0 0")
        name = f"{self.link} looks"
        return TaskRows(
            name,
            kernel.LOOK,
            [self.weight] * 3,
            _rows(self.goal, 3, name),
            (link, -1),
            (self.point, ORIGIN),
            # The kernel needs a unit vector.
            axis / length,
        )


@dataclass(frozen=True, eq=False)
class DistanceTask:
    """A point of a link is at a distance from another point.

    `point` (3,) of the link is `distance` (...) [m] away from `to`: a position (..., 3)
    in the world, or `to_point` (3,) of a link.

    With `at_least` it may be further away. `along` and `to_along` (3,) make segments of
    points, which begin there: the distance is that of their nearest points. Capsules
    stay apart where it is at least the sum of their radii.
    """

    link: str | int
    to: str | int | npt.ArrayLike
    distance: npt.ArrayLike
    weight: float = 1.0
    point: npt.ArrayLike = ORIGIN
    to_point: npt.ArrayLike = ORIGIN
    at_least: bool = False
    along: npt.ArrayLike = ORIGIN
    to_along: npt.ArrayLike = ORIGIN

    def rows(self, body: Body) -> TaskRows:
        """Return the task for the kernel."""
        link = _link_index(body, self.link)
        name = body.links[link].name
        if isinstance(self.to, str | int):
            other = _link_index(body, self.to)
            name += f" to {body.links[other].name}"
            position = np.zeros(3)
        else:
            other = -1
            name += " to a point"
            position = real_numbers(self.to, name)
        if position.shape[-1:] != (3,):
            raise ValueError(
                f"{name}: expected a position of 3 numbers, or T rows of them, "
                f"got {position.shape}"
            )
        distance = real_numbers(self.distance, name)[..., None]
        if (distance < 0).any():
            raise ValueError(
                f"{name}: distance {distance.min():g} m; expected at least 0"
            )
        # The goal (7,) of the kernel: position, distance, and the second segment.
        goal = _joined(_joined(position, distance), _vector(self.to_along, name))
        return TaskRows(
            name,
            kernel.DISTANCE,
            [self.weight],
            goal,
            (link, other),
            (self.point, self.to_point),
            self.along,
            sign=-1 if self.at_least else 0,
        )


@dataclass(frozen=True, eq=False)
class HalfSpaceTask:
    """A point stays on one side of a plane: normal · p ≤ offset.

    A `point` (3,) of a link, or the centre of mass where `link` is None.

    `normal` (..., 3): a direction in the world; `offset` (...) [m], for a normal of
    length 1. Two numbers are x and y of a vertical plane, such as an edge of a support
    polygon. With the default weight the task comes before those of finite weight.
    """

    link: str | int | None
    normal: npt.ArrayLike
    offset: npt.ArrayLike
    weight: float = np.inf
    point: npt.ArrayLike = ORIGIN

    def rows(self, body: Body) -> TaskRows:
        """Return the task for the kernel."""
        if self.link is None:
            link = 0
            kind = kernel.CENTER_PLANE
            name = "centre of mass in a half-space"
        else:
            link = _link_index(body, self.link)
            kind = kernel.PLANE
            name = f"{body.links[link].name} in a half-space"
        normal = real_numbers(self.normal, name)
        offset = real_numbers(self.offset, name)[..., None]
        if normal.shape[-1:] not in ((2,), (3,)) or not normal.any(axis=-1).all():
            raise ValueError(
                f"{name}: expected a normal of 2 or 3 numbers, not all 0, or T "
                f"rows of them, got {self.normal!r}"
            )
        if self.link is None and body.mass <= 0:
            raise ValueError(f"{name}: the body has no mass")
        # A vertical plane.
        if normal.shape[-1] == 2:
            normal = _joined(normal, np.zeros(1))
        # Of length 1, so that the residual is in metres.
        normal = normal / np.linalg.norm(normal, axis=-1, keepdims=True)
        return TaskRows(
            name,
            kind,
            [self.weight],
            _joined(normal, offset),
            (link, -1),
            (self.point, ORIGIN),
            sign=1,
        )


Task: TypeAlias = (
    FrameTask | CenterOfMassTask | LookAtTask | DistanceTask | HalfSpaceTask
)


def inside(
    points: npt.ArrayLike, margin: float = 0.0, link: str | int | None = None
) -> list[HalfSpaceTask]:
    """Return the tasks that keep a body above a polygon.

    The centre of mass, or a link, stays above the convex hull of points (N, 2 or 3),
    such as those of soles, at least `margin` [m] away from each edge.

    Raises
    ------
    ValueError
        When the points are on one line.
    """
    # Seen from above, without heights.
    corners = sorted((x, y) for x, y, *_ in real_numbers(points, "points").tolist())
    hull = np.array(hull_of_sorted(corners))
    if len(hull) < 3:
        raise ValueError("expected points that are not on one line")
    # The hull is counterclockwise: outside is to the right of each edge.
    edges = np.roll(hull, -1, axis=0) - hull
    normals = np.stack((edges[:, 1], -edges[:, 0]), axis=1)
    normals = normals / np.linalg.norm(edges, axis=1, keepdims=True)
    return [
        HalfSpaceTask(link, normal, normal @ corner - margin)
        for normal, corner in zip(normals, hull, strict=True)
    ]


@dataclass(frozen=True, eq=False, kw_only=True)
class Solution(ContentEquality):
    """The result of inverse kinematics. As an array it is `q`.

    Attributes
    ----------
    q:
        (..., J) joint values [rad or m].
    root:
        (..., 7) poses of the root in the world.
    names:
        For each of the K tasks what it is about: pinned links, targets, other tasks,
        and extra joints.
    errors:
        (..., K, 2) how far [m] and by which angle [rad] each task is missed.
    cost:
        (...) the sum of the squared errors of the tasks of finite weight and of the
        posture, times the squares of their weights.
    joint_names:
        Names of the columns of `q`; none where a joint has no name.
    """

    q: Floats
    root: Floats
    names: tuple[str, ...]
    errors: Floats
    cost: Floats
    joint_names: tuple[str, ...] = ()

    @property
    def reached(self) -> Bools:
        """Whether all tasks are fulfilled (...)."""
        return np.asarray((self.errors <= MAX_ERROR).all(axis=(-2, -1)))

    @property
    def missed(self) -> dict[str, tuple[float, float]]:
        """The largest errors [m] and [rad] of tasks that are not always fulfilled."""
        worst = self.errors.reshape(-1, len(self.names), 2).max(axis=0)
        errors: dict[str, tuple[float, float]] = {}
        for name, (distance, angle) in zip(self.names, worst.tolist(), strict=True):
            if distance <= MAX_ERROR and angle <= MAX_ERROR:
                continue
            # Several tasks may be about one link.
            distance_before, angle_before = errors.get(name, (0.0, 0.0))
            errors[name] = (max(distance, distance_before), max(angle, angle_before))
        return errors

    def motion(self, frame_rate: float = 100.0) -> Motion:
        """Return a motion at a frame rate [Hz].

        A single pose is one frame.
        """
        return Motion.from_joints(
            np.atleast_2d(self.q),
            frame_rate,
            root=np.atleast_2d(self.root),
            joint_names=self.joint_names,
        )

    def __array__(
        self,
        dtype: Any = None,  # noqa: ANN401
        copy: bool | None = None,
    ) -> npt.NDArray[Any]:
        """Return a copy of `q`."""
        return np.array(self.q, dtype=dtype)

    def _summary(self) -> str:
        texts = [
            f"{name} by {distance:.3g} m, {angle:.3g} rad"
            for name, (distance, angle) in self.missed.items()
        ]
        if texts:
            outcome = f"misses {listed(texts)}"
        else:
            outcome = "all reached"
        frames = counted(self.cost.size, "frame")
        tasks = counted(len(self.names), "task")
        return f"Solution({frames}, {tasks}: {outcome})"


class TaskList:
    """The tasks of a body and where its search begins, for the kernel.

    Attributes
    ----------
    names:
        Of the tasks.
    firsts:
        The number of the first rows of each task: one of loops has several.
    rows:
        The rows of all tasks, with finite points and directions (3,).
    goals:
        (7,) or (T, 7) of all rows.
    starts, roots, rest:
        (J,) or (T, J), (7,) or (T, 7), and (J,) or (T, J): where the search begins, and
        the posture.
    """

    def __init__(
        self,
        body: Body,
        q0: npt.ArrayLike | None,
        root: npt.ArrayLike | None,
        posture: npt.ArrayLike | None,
    ) -> None:
        """Take the start of the search and the posture; there are no tasks yet."""
        self.body = body
        self.names: list[str] = []
        self.firsts: list[int] = []
        self.rows: list[TaskRows] = []
        self.goals: list[Floats] = []
        count = body.num_joints
        self.starts = _rows(np.zeros(count) if q0 is None else q0, count, "q0")
        self.roots = _rows(body.root_pose if root is None else root, 7, "root")
        _check_orientations(self.roots, "root")
        if posture is None:
            self.rest = self.starts
        else:
            self.rest = _rows(posture, count, "posture")

    def add(
        self,
        name: str,
        kind: int,
        weights: Sequence[float],
        goal: npt.ArrayLike,
        links: tuple[int, int] = (0, -1),
        points: tuple[npt.ArrayLike, npt.ArrayLike] = (ORIGIN, ORIGIN),
    ) -> None:
        """Add a task; see `TaskRows`."""
        self.add_rows(TaskRows(name, kind, weights, goal, links, points))

    def add_rows(self, rows: TaskRows, *, continues: bool = False) -> None:
        """Add a task, or more equations of the task before."""
        weights = rows.weights
        name = rows.name
        # Also for NaN, which is not at least 0.
        if not all(weight >= 0 for weight in weights) or not any(weights):
            raise ValueError(
                f"{name}: weights {weights}; expected numbers of at least 0, and one "
                "above it"
            )
        first, second = rows.points
        points = (_vector(first, name), _vector(second, name))
        # Further equations of a loop belong to the task before.
        if not continues:
            self.names.append(name)
            self.firsts.append(len(self.rows))
        direction = _vector(rows.direction, name)
        self.rows.append(replace(rows, points=points, direction=direction))
        goal = _rows(rows.goal, None, name)
        # Goals of the kernel have 7 numbers, whatever a task needs.
        self.goals.append(_joined(goal, np.zeros(7 - goal.shape[-1])))

    def add_pinned(self, names: Sequence[str]) -> None:
        """Add the links that stay where they are at the start."""
        # Where they are at the start, which may differ from frame to frame.
        if names:
            links = self.body.forward_kinematics(self.starts, self.roots)
        for name in names:
            link = self.body.link(name).index
            label = f"{name} (pinned)"
            goal = links[..., link, :]
            self.add(label, kernel.POSE, [np.inf] * 6, goal, (link, -1))

    def add_task(self, task: Task) -> None:
        """Add a task of the user."""
        self.add_rows(task.rows(self.body))

    def add_loops(self) -> None:
        """Add the equations of the extra joints."""
        for number, joint in enumerate(self.body.extra_joints):
            name = joint.name or f"extra joint {number}"
            points = TaskRows(
                name,
                kernel.POINTS,
                [np.inf],
                np.zeros(7),
                joint.links,
                tuple(joint.positions),
            )
            # Where a hinge keeps axes parallel, the second "point" is the axis.
            axes = replace(points, kind=kernel.AXES, points=(ORIGIN, unit_axis(joint)))
            equations = [
                *(replace(points, direction=d) for d in constrained_directions(joint)),
                *(replace(axes, direction=d) for d in constrained_tilts(joint)),
            ]
            for row, equation in enumerate(equations):
                self.add_rows(equation, continues=row > 0)

    def random_starts(self, missed: Indices, space: kernel.Space, count: int) -> Floats:
        """Return random joint values (count, J), always the same ones.

        Within the limits, of the joints that move the links of missed tasks; the others
        are as at the start.
        """
        body = self.body
        q: Floats = np.atleast_2d(self.starts)[0]
        reach = np.zeros(len(q))
        for number in missed:
            rows = self.rows[number]
            links: Iterable[int] = rows.links
            # The centre of mass depends on all links.
            if rows.kind in (kernel.CENTER, kernel.CENTER_PLANE):
                links = range(len(body.links))
            for column in body.columns_above(*links):
                if space.is_moving[6 + column]:
                    # Only joints that move a link of a missed task are changed: others
                    # are right.
                    kind = int(body.tree.kinds[body.joint_links[column]])
                    reach[column] = START_RANGE[kind]
        # Limits and a range around the start, so that joints without limits stay near.
        lower = np.maximum(space.lower[6:], q - reach)
        upper = np.minimum(space.upper[6:], q + reach)
        lower = np.where(reach > 0, lower, q)
        upper = np.where(reach > 0, upper, q)
        random = np.random.default_rng(0).random((count, len(q)))
        return lower + (upper - lower) * random

    def tasks(self) -> kernel.Tasks:
        """Return the tasks for the kernel."""
        weights = np.zeros((len(self.rows), 6))
        for row, task in zip(weights, self.rows, strict=True):
            row[: len(task.weights)] = task.weights
        # Hard tasks have an infinite weight; the kernel has its own weight for them.
        is_hard = np.isinf(weights)
        weights[is_hard] = 1.0
        return kernel.Tasks(
            np.array([task.kind for task in self.rows]),
            np.array([task.links for task in self.rows]),
            np.array([task.points for task in self.rows]),
            np.array([task.direction for task in self.rows]),
            weights,
            is_hard.astype(np.int64),
            np.array([task.sign for task in self.rows]),
        )


def _link_index(body: Body, link: str | int) -> int:
    """Return the index of a link.

    KeyError or ValueError names those that exist.
    """
    if isinstance(link, str):
        return body.link(link).index
    index = operator.index(link)
    count = len(body.links)
    if not 0 <= index < count:
        raise ValueError(f"no link {index}; the body has links 0 to {count - 1}")
    return index


def _joined(first: Floats, second: Floats) -> Floats:
    """Return the columns of (..., N) and (..., M) whose batch axes broadcast."""
    shape = np.broadcast_shapes(first.shape[:-1], second.shape[:-1])
    first = np.broadcast_to(first, (*shape, first.shape[-1]))
    second = np.broadcast_to(second, (*shape, second.shape[-1]))
    return np.concatenate([first, second], axis=-1)


def _vector(values: npt.ArrayLike, name: str) -> Floats:
    """Return finite numbers (3,); ValueError reports what is wrong."""
    vector = real_numbers(values, name)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise ValueError(f"{name}: expected 3 finite numbers, got {values!r}")
    return vector


def _rows(values: npt.ArrayLike, width: int | None, name: str) -> Floats:
    """Return finite values (width,) or (T, width); ValueError reports what is wrong."""
    array = real_numbers(values, name)
    # A body without joints has 0 joint values; T rows are at least one.
    is_empty = array.shape[:1] == (0,) and array.shape != (width,)
    has_width = width is None or array.shape[-1:] == (width,)
    if is_empty or array.ndim not in (1, 2) or not has_width:
        numbers = f"{width} numbers" if width else "numbers"
        raise ValueError(
            f"{name}: expected {numbers}, or T rows of them, got shape {array.shape}"
        )
    is_allowed = np.abs(array) <= MAX_NUMBER
    if not is_allowed.all():
        raise ValueError(
            f"{name}: expected finite numbers of at most {MAX_NUMBER:g}, got "
            f"{array[~is_allowed][0]:g}"
        )
    return array


def _check_orientations(poses: Floats, name: str) -> None:
    """Raise ValueError when the quaternion of a pose (..., 7) has no length."""
    if not (np.linalg.norm(poses[..., 3:], axis=-1) > MIN_QUATERNION).all():
        raise ValueError(
            f"{name}: the quaternion 0 0 0 0 is not an orientation; expected w, x, y, "
            "z such as 1 0 0 0"
        )


def _count_frames(problem: TaskList) -> int:
    """Return the number of frames; ValueError when arrays have different ones."""
    inputs = (*problem.goals, problem.starts, problem.roots, problem.rest)
    # Arrays with one row fit any number of frames.
    counts = {len(array) for array in inputs if array.ndim == 2} - {1}
    if len(counts) > 1:
        raise ValueError(
            "all that changes over time has the same number of frames, these have "
            f"{listed(map(str, sorted(counts)))}"
        )
    return counts.pop() if counts else 1


def _kernel_problem(problem: TaskList, space: kernel.Space) -> kernel.Problem:
    """Return the problem in the arrays of the kernel."""
    body = problem.body
    tree = body.tree
    chain = Chain(
        np.array(tree.parents),
        np.array(tree.kinds),
        np.array(tree.columns),
        np.array(rotations.to_matrix(tree.offsets[:, 3:])),
        np.array(tree.offsets[:, :3]),
        np.array(tree.axes),
        # Units are 1: only closed loops scale their variables.
        np.ones(body.num_joints),
    )
    masses = kernel.LinkMasses(
        # A body without mass has no task about its centre, so any divisor will do.
        np.array([link.mass / (body.mass or 1.0) for link in body.links]),
        np.array([link.center_of_mass for link in body.links]),
    )
    return kernel.Problem(chain, masses, problem.tasks(), kernel.Space(*space))


class _Search(NamedTuple):
    """A problem in arrays: goals (T, K, 7); starts, roots, rest with 1 or T rows."""

    problem: kernel.Problem
    goals: Floats
    starts: Floats
    roots: Floats
    rest: Floats
    max_steps: int

    def solve(self) -> kernel.Results:
        """Return the solution of all frames."""
        return kernel.solve(
            self.problem,
            self.goals,
            self.rest,
            self.starts,
            np.broadcast_to(self.roots, (len(self.goals), 7)),
            self.max_steps,
        )

    def first(self) -> _Search:
        """Return the search of the first frame alone."""
        return self._replace(
            goals=self.goals[:1],
            starts=self.starts[:1],
            roots=self.roots[:1],
            rest=self.rest[:1],
        )


def _choose(results: kernel.Results, tasks: kernel.Tasks, start: Floats) -> Indices:
    """Return the number (1,) of the best of several solutions.

    In this order: hard tasks are fulfilled; all tasks are; the cost is less; the joints
    are nearer to `start` (J,).
    """
    is_missed = results.errors.max(axis=(1, 2)) > MAX_ERROR
    # Position and orientation of a pose may be hard each by itself; other tasks are
    # hard as a whole.
    is_hard = np.asarray(tasks.is_hard.reshape(-1, 2, 3).any(axis=2))
    is_pose = tasks.kinds[:, None] == kernel.POSE
    is_hard = np.where(is_pose, is_hard, is_hard[:, :1])
    hard_errors = (results.errors * is_hard).max(axis=(1, 2))
    distances = np.linalg.norm(results.joints - start, axis=1)
    costs = results.costs
    # Costs that differ by less than `SAME_COST` are equal; then the distance decides. A
    # cost counts only where tasks are missed.
    is_worse = np.asarray(is_missed & (costs > (1 + SAME_COST) * costs.min()))
    # `lexsort` sorts by the last key first.
    keys = (
        distances,
        np.where(is_worse, costs, 0.0),
        is_missed,
        np.where(hard_errors > MAX_ERROR, hard_errors, 0.0),
    )
    return np.lexsort(keys)[:1]


def _restart(
    problem: TaskList,
    search: _Search,
    space: kernel.Space,
    results: kernel.Results,
    restarts: int,
) -> kernel.Results:
    """Return the best solution of the first frame: `results`, or from random starts."""
    missed = np.flatnonzero(results.errors[0].max(axis=1) > MAX_ERROR)
    first = search.first()
    # Each restart is one "frame" with the goals of the first one.
    others = first._replace(
        goals=np.repeat(first.goals, restarts, axis=0),
        starts=problem.random_starts(missed, space, restarts),
    ).solve()
    pairs = zip(results, others, strict=True)
    # The solution so far is the first candidate.
    tried = kernel.Results(*map(np.concatenate, pairs))
    best = _choose(tried, search.problem.tasks, search.starts[0])
    return kernel.Results(*(values[best] for values in tried))


def solve(
    problem: TaskList, space: kernel.Space, restarts: int, max_steps: int
) -> Solution:
    """Return the solution; `restarts` and `max_steps` are those of `Body.ik`."""
    body = problem.body
    count = len(problem.rows)
    columns = body.num_joints
    if not count:
        raise ValueError("inverse kinematics needs a target, a task or a pinned link")
    if min(restarts, max_steps) < 0:
        raise ValueError(
            f"restarts {restarts}, max_steps {max_steps}; expected numbers of at "
            "least 0"
        )
    frames = _count_frames(problem)
    # Two sets of up to six residuals a task and their derivatives, two matrices; then
    # goals, starts and results, each with a copy.
    of_search = (6 * count + 6 + columns) * (6 + columns)
    of_frames = max(frames, restarts + 1) * (9 * count + 2 * columns + 15)
    check_memory(
        16 * (of_search + of_frames),
        f"inverse kinematics of {counted(count, 'task')} in "
        f"{counted(frames, 'frame')} with {restarts} restarts",
    )
    goals = [np.broadcast_to(goal, (frames, 7)) for goal in problem.goals]
    search = _Search(
        _kernel_problem(problem, space),
        np.stack(goals, axis=1),
        np.atleast_2d(problem.starts),
        np.atleast_2d(problem.roots),
        np.atleast_2d(problem.rest),
        max_steps,
    )
    if len(search.starts) == frames and not restarts:
        # Each frame begins at its own start.
        results = search.solve()
    else:
        results = search.first().solve()
        # Only the first frame is worth random starts: others follow it.
        if restarts > 0 and results.errors.max() > MAX_ERROR:
            results = _restart(problem, search, space, results, restarts)
        if frames > 1:
            # Again from the first frame's solution, each from the one before.
            roots = np.broadcast_to(search.roots, (frames, 7))
            results = search._replace(
                starts=np.concatenate([results.joints, search.starts[1:]]),
                roots=np.concatenate([results.roots, roots[1:]]),
            ).solve()
    # The errors of a task are those of all its equations together.
    # Position and angle apart.
    squares = np.add.reduceat(np.square(results.errors), problem.firsts, axis=1)
    names = tuple(joint.name for joint in body.joints)
    # Without any array over time the answer has no axis of frames.
    inputs = (*problem.goals, problem.starts, problem.roots, problem.rest)
    if all(array.ndim == 1 for array in inputs):
        row: int | slice = 0  # one pose, without an axis of frames
    else:
        row = slice(None)
    return Solution(
        q=results.joints[row],
        root=results.roots[row],
        names=tuple(problem.names),
        errors=np.sqrt(squares)[row],
        cost=results.costs[row],
        joint_names=names if all(names) else (),
    )


def search_space(
    body: Body,
    free_root: bool,
    joints: Iterable[str | int] | None,
    posture_weight: npt.ArrayLike,
) -> kernel.Space:
    """Return which variables (6 + J) move, their limits, and the posture's weights.

    `posture_weight`: one number or (6 + J,).
    """
    posture_weight = np.asarray(posture_weight)
    if not ((posture_weight >= 0) & (posture_weight < np.inf)).all():
        raise ValueError(
            f"posture weight {posture_weight}; expected a finite number of at least 0"
        )
    count = 6 + body.num_joints
    is_moving = np.zeros(count, dtype=np.int64)
    is_moving[:6] = free_root
    # Columns of the root have no limits.
    lower = np.full(count, -np.inf)
    upper = np.full(count, np.inf)
    tree = body.tree
    # Only joints that move links: crawlers and placeholders do not.
    is_moving[6 + tree.columns[tree.kinds > 0]] = 1
    if joints is not None:
        is_chosen = np.zeros(count, dtype=np.int64)
        is_chosen[:6] = 1
        for column in columns_of(body, joints):
            is_chosen[6 + column] = 1
        is_moving *= is_chosen
    for column, joint in enumerate(body.joints):
        # Limits in the wrong order are none.
        if joint.lower <= joint.upper:
            lower[6 + column] = joint.lower
            upper[6 + column] = joint.upper
    weights = posture_weight * is_moving
    # The posture is one of joints.
    is_root = np.arange(count) < 6
    return kernel.Space(is_moving, lower, upper, np.where(is_root, 0.0, weights))
