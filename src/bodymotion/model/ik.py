"""Inverse kinematics: the tasks of links, the centre of mass and distances, and the joint values that fulfil them.

`Body.ik` is the way in. A task is fulfilled when its error is at most `MAX_ERROR`.
Where tasks cannot all be fulfilled, the sum of their
squared errors, times the squares of their weights, is least: a weight of 1 stands for
1/m and 1/rad. A task of infinite weight comes before all others, as do pinned links and
closed loops. The method is in `kernels.inverse_kinematics`.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

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

SAME_COST = 1e-3
"""Of two solutions that miss their goals, and whose costs differ by less than this share, the nearer one is chosen."""
MAX_ERROR = 1e-6  # [m, rad] A task with a smaller error is fulfilled.
RANGE = {
    1: 2 * np.pi,
    2: 1.0,
}  # [rad or m] How far a rotating or sliding joint is from `q0` in random starts at most.
MIN_QUATERNION = 1e-100  # A shorter quaternion is not an orientation: its square is 0.
MAX_NUMBER = 1e15  # [m, rad] Targets, start values and poses have no larger numbers, whose squares would overflow.
ORIGIN = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class FrameTask:
    """A point of a link, its origin by default, is at a position, the link in an orientation, or both.

    `link`: name or index; `goal`: pose (..., 7), position (..., 3) or orientation (...,
    4) in the world; `point` (3,) in the link's frame.
    """

    link: str | int
    goal: npt.ArrayLike
    weight: float = 1.0
    orientation_weight: float = 1.0
    point: npt.ArrayLike = ORIGIN


@dataclass(frozen=True, eq=False)
class CenterOfMassTask:
    """The centre of mass is at `goal` (..., 3) [m] in the world, or above or below the point `goal` (..., 2)."""

    goal: npt.ArrayLike
    weight: float = 1.0


@dataclass(frozen=True, eq=False)
class LookAtTask:
    """An `axis` (3,) of a link, from a `point` (3,) of it, points at the position `goal` (..., 3) in the world."""

    link: str
    goal: npt.ArrayLike
    axis: npt.ArrayLike = (1.0, 0.0, 0.0)
    weight: float = 1.0
    point: npt.ArrayLike = ORIGIN


@dataclass(frozen=True, eq=False)
class DistanceTask:
    """A `point` (3,) of a link is `distance` (...) [m] away from `to`.

    A position (..., 3) in the world, or `to_point` (3,) of a link.

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


@dataclass(frozen=True, eq=False)
class HalfSpaceTask:
    """Positions p with normal · p ≤ offset.

    A `point` (3,) of a link is there, or the centre of mass where `link` is None.

    `normal` (..., 3): a direction in the world; `offset` (...) [m], for a normal of
    length 1. Two numbers are x and y of a vertical plane,
    such as an edge of a support polygon. With the default weight the task comes before
    those of finite weight.
    """

    link: str | int | None
    normal: npt.ArrayLike
    offset: npt.ArrayLike
    weight: float = np.inf
    point: npt.ArrayLike = ORIGIN


Task: TypeAlias = (
    FrameTask | CenterOfMassTask | LookAtTask | DistanceTask | HalfSpaceTask
)


def inside(
    points: npt.ArrayLike, margin: float = 0.0, link: str | int | None = None
) -> list[HalfSpaceTask]:
    """Return the tasks that keep the centre of mass, or a link, above the convex hull of points (N, 2 or 3), such as those of soles.

    It stays at least `margin` [m] away from each edge. ValueError when the points are
    on one line.
    """
    found = sorted((x, y) for x, y, *_ in real_numbers(points, "points").tolist())
    hull = np.array(hull_of_sorted(found))
    if len(hull) < 3:
        raise ValueError("expected points that are not on one line")
    edges = np.roll(hull, -1, axis=0) - hull
    normals = np.stack((edges[:, 1], -edges[:, 0]), axis=1) / np.linalg.norm(
        edges, axis=1, keepdims=True
    )
    return [
        HalfSpaceTask(link, normal, normal @ at - margin)
        for normal, at in zip(normals, hull, strict=True)
    ]


@dataclass(frozen=True, eq=False, kw_only=True)
class Solution(ContentEquality):
    """What inverse kinematics found. As an array it is `q`.

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
        """The largest errors [m] and [rad] of the tasks that are not fulfilled in all frames, by their names."""
        worst = self.errors.reshape(-1, len(self.names), 2).max(axis=0)
        found: dict[str, tuple[float, float]] = {}
        for name, (far, angle) in zip(self.names, worst.tolist(), strict=True):
            if not (far <= MAX_ERROR and angle <= MAX_ERROR):
                before = found.get(name, (0.0, 0.0))
                found[name] = max(far, before[0]), max(angle, before[1])
        return found

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
            f"{name} by {far:.3g} m, {angle:.3g} rad"
            for name, (far, angle) in self.missed.items()
        ]
        if texts:
            about = f"misses {listed(texts)}"
        else:
            about = "all reached"
        return f"Solution({counted(self.cost.size, 'frame')}, {counted(len(self.names), 'task')}: {about})"


class TaskList:
    """The tasks of a body and where its search begins, for the kernel."""

    def __init__(
        self,
        body: Body,
        q0: npt.ArrayLike | None,
        root: npt.ArrayLike | None,
        posture: npt.ArrayLike | None,
    ) -> None:
        self.body = body
        self.names: list[str] = []
        self.firsts: list[int] = []
        self.parts: list[
            tuple[Any, ...]
        ] = []  # Kind, links, points, direction, weights and sign of each task.
        self.goals: list[Floats] = []  # (7,) or (T, 7) of each task.
        self.starts = _rows(
            np.zeros(body.num_joints) if q0 is None else q0, body.num_joints, "q0"
        )
        self.roots = _rows(body.root_pose if root is None else root, 7, "root")
        _check_orientations(self.roots, "root")
        if posture is None:
            self.rest = self.starts
        else:
            self.rest = _rows(posture, body.num_joints, "posture")

    def add(
        self,
        name: str,
        kind: int,
        weights: Sequence[float],
        goal: npt.ArrayLike,
        links: tuple[int, int] = (0, -1),
        points: tuple[npt.ArrayLike, npt.ArrayLike] = (ORIGIN, ORIGIN),
        direction: npt.ArrayLike = ORIGIN,
        *,
        continues: bool = False,
        sign: int = 0,
    ) -> None:
        """Add a task with a goal (..., 1 to 7), or one more equation of the task before.

        With a sign an inequality, as `kernel.Tasks`.
        """
        if not all(weight >= 0 for weight in weights) or not any(weights):
            raise ValueError(
                f"{name}: weights {weights}; expected numbers of at least 0, and one "
                "above it"
            )
        ends = [_vector(point, name) for point in points]
        if not continues:
            self.names.append(name)
            self.firsts.append(len(self.parts))
        self.parts.append(
            (
                kind,
                links,
                ends,
                _vector(direction, name),
                [*weights, *[0.0] * (6 - len(weights))],
                sign,
            )
        )
        rows = _rows(goal, None, name)
        self.goals.append(
            np.concatenate(
                [rows, np.zeros((*rows.shape[:-1], 7 - rows.shape[-1]))], axis=-1
            )
        )

    def add_pinned(self, names: Sequence[str]) -> None:
        """Add the links that stay where they are at the start."""
        if names:
            links = self.body.forward_kinematics(self.starts, self.roots)
        for name in names:
            link = self.body.link(name).index
            self.add(
                f"{name} (pinned)",
                kernel.POSE,
                [np.inf] * 6,
                links[..., link, :],
                (link, -1),
            )

    def add_task(self, task: Task) -> None:
        """Add a task of the user."""
        if isinstance(task, CenterOfMassTask):
            width = np.shape(task.goal)[-1:]
            if width not in ((2,), (3,)) or self.body.mass <= 0:
                expected = "expected 2 or 3 numbers, or T rows of them"
                raise ValueError(
                    "centre of mass: "
                    f"{expected if self.body.mass > 0 else 'the body has no mass'}"
                )
            self.add(
                "centre of mass", kernel.CENTER, [task.weight] * width[0], task.goal
            )
            return
        if task.link is None:
            link = -1
        else:
            link = self.index(task.link)
        if link >= 0:
            name = self.body.links[link].name
        else:
            name = "centre of mass"
        if isinstance(task, FrameTask):
            goal = np.asarray(task.goal)
            width = goal.shape[-1:]
            if width not in ((7,), (3,), (4,)):
                raise ValueError(
                    f"{name}: expected a pose (7 numbers), position (3) or "
                    f"orientation (4), or T rows of them, got shape {goal.shape}"
                )
            if width == (4,):
                goal = np.concatenate([np.zeros((*goal.shape[:-1], 3)), goal], axis=-1)
            if width != (3,):
                goal = _rows(goal, 7, name)
                _check_orientations(goal, name)
            of_task = (
                task.weight if width != (4,) else 0.0,
                task.orientation_weight if width != (3,) else 0.0,
            )
            weights = [weight for weight in of_task for _ in range(3)]
            self.add(name, kernel.POSE, weights, goal, (link, -1), (task.point, ORIGIN))
        elif isinstance(task, LookAtTask):
            axis = _vector(task.axis, f"axis of {task.link}")
            length = float(np.linalg.norm(axis))
            if length == 0:
                raise ValueError(
                    f"axis of {task.link}: expected a direction, got 0 0 0"
                )
            name = f"{task.link} looks"
            goal = _rows(task.goal, 3, name)
            ends = (task.point, ORIGIN)
            self.add(
                name,
                kernel.LOOK,
                [task.weight] * 3,
                goal,
                (link, -1),
                ends,
                axis / length,
            )
        elif isinstance(task, HalfSpaceTask):
            name += " in a half-space"
            normal = real_numbers(task.normal, name)
            offset = real_numbers(task.offset, name)[..., None]
            if normal.shape[-1:] not in ((2,), (3,)) or not normal.any(axis=-1).all():
                raise ValueError(
                    f"{name}: expected a normal of 2 or 3 numbers, not all 0, or T "
                    f"rows of them, got {task.normal!r}"
                )
            if link < 0 and self.body.mass <= 0:
                raise ValueError(f"{name}: the body has no mass")
            normal = np.pad(
                normal, [(0, 0)] * (normal.ndim - 1) + [(0, 3 - normal.shape[-1])]
            )
            normal = normal / np.linalg.norm(normal, axis=-1, keepdims=True)
            goal = _joined(normal, offset)
            if link >= 0:
                kind = kernel.PLANE
            else:
                kind = kernel.CENTER_PLANE
            self.add(
                name,
                kind,
                [task.weight],
                goal,
                (max(link, 0), -1),
                (task.point, ORIGIN),
                sign=1,
            )
        else:
            if isinstance(task.to, str | int):
                other = self.index(task.to)
            else:
                other = -1
            name += f" to {self.body.links[other].name if other >= 0 else 'a point'}"
            if other >= 0:
                position = np.zeros(3)
            else:
                position = real_numbers(task.to, name)
            if position.shape[-1:] != (3,):
                raise ValueError(
                    f"{name}: expected a position of 3 numbers, or T rows of them, "
                    f"got {position.shape}"
                )
            far = real_numbers(task.distance, name)[..., None]
            if (far < 0).any():
                raise ValueError(
                    f"{name}: distance {far.min():g} m; expected at least 0"
                )
            goal = _joined(_joined(position, far), _vector(task.to_along, name))
            points = (task.point, task.to_point)
            sign = -int(task.at_least)
            self.add(
                name,
                kernel.DISTANCE,
                [task.weight],
                goal,
                (link, other),
                points,
                task.along,
                sign=sign,
            )

    def index(self, link: str | int) -> int:
        """Return the index of a link.

        KeyError or ValueError names those that exist.
        """
        if isinstance(link, str):
            return self.body.link(link).index
        index = operator.index(link)
        count = len(self.body.links)
        if not 0 <= index < count:
            raise ValueError(f"no link {index}; the body has links 0 to {count - 1}")
        return index

    def add_loops(self) -> None:
        """Add the equations of the extra joints."""
        for number, joint in enumerate(self.body.extra_joints):
            name = joint.name or f"extra joint {number}"
            equations = [
                (kernel.POINTS, d, tuple(joint.positions))
                for d in constrained_directions(joint)
            ]
            equations += [
                (kernel.AXES, d, (ORIGIN, unit_axis(joint)))
                for d in constrained_tilts(joint)
            ]
            for row, (kind, direction, ends) in enumerate(equations):
                self.add(
                    name,
                    kind,
                    [np.inf],
                    np.zeros(7),
                    joint.links,
                    ends,
                    direction,
                    continues=row > 0,
                )

    def random_starts(self, missed: Indices, space: kernel.Space, count: int) -> Floats:
        """Return joint values (count, J), random within limits for the joints that move the links of missed tasks, else as at the start."""
        q: Floats = np.atleast_2d(self.starts)[0]
        reach = np.zeros(len(q))
        for number in missed:
            is_center = self.parts[number][0] in (kernel.CENTER, kernel.CENTER_PLANE)
            if is_center:
                links = range(len(self.body.links))
            else:
                links = self.parts[number][1]
            for column in self.body.columns_above(*links):
                if space[0][6 + column]:
                    reach[column] = RANGE[
                        int(self.body.tree[1][self.body.joint_links[column]])
                    ]
        lower = np.maximum(space[1][6:], q - reach)
        upper = np.minimum(space[2][6:], q + reach)
        lower = np.where(reach > 0, lower, q)
        upper = np.where(reach > 0, upper, q)
        return lower + (upper - lower) * np.random.default_rng(0).random(
            (count, len(q))
        )

    def tasks(self) -> kernel.Tasks:
        """Return the tasks for the kernel."""
        kinds, links, points, directions, weights, signs = (
            np.array(column) for column in zip(*self.parts, strict=True)
        )
        hard = np.isinf(weights)
        weights[hard] = 1.0
        return kinds, links, points, directions, weights, hard.astype(np.int64), signs


def _joined(first: Floats, second: Floats) -> Floats:
    """Return the columns of both (..., N) and (..., M), whose batch axes broadcast."""
    shape = np.broadcast_shapes(first.shape[:-1], second.shape[:-1])
    return np.concatenate(
        [np.broadcast_to(part, (*shape, part.shape[-1])) for part in (first, second)],
        axis=-1,
    )


def _vector(values: npt.ArrayLike, what: str) -> Floats:
    """Return finite numbers (3,); ValueError names what is wrong."""
    vector = real_numbers(values, what)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise ValueError(f"{what}: expected 3 finite numbers, got {values!r}")
    return vector


def _rows(values: npt.ArrayLike, width: int | None, name: str) -> Floats:
    """Return finite values (width,) or (T, width).

    ValueError names what is wrong.
    """
    array = real_numbers(values, name)
    empty = array.shape[:1] == (0,) and array.shape != (
        width,
    )  # a body without joints has 0 joint values
    if (
        empty
        or array.ndim not in (1, 2)
        or (width is not None and array.shape[-1] != width)
    ):
        raise ValueError(
            f"{name}: expected {f'{width} numbers' if width else 'numbers'}, or T "
            f"rows of them, got shape {array.shape}"
        )
    if not (allowed := np.abs(array) <= MAX_NUMBER).all():
        raise ValueError(
            f"{name}: expected finite numbers of at most {MAX_NUMBER:g}, got "
            f"{array[~allowed][0]:g}"
        )
    return array


def _check_orientations(poses: Floats, name: str) -> None:
    """Raise ValueError when the quaternion of a pose (..., 7) has no length."""
    if not (np.linalg.norm(poses[..., 3:], axis=-1) > MIN_QUATERNION).all():
        raise ValueError(
            f"{name}: the quaternion 0 0 0 0 is not an orientation; expected w, x, y, "
            "z such as 1 0 0 0"
        )


def solve(
    problem: TaskList, space: kernel.Space, restarts: int, max_steps: int
) -> Solution:
    """Return the solution; `restarts` and `max_steps` are those of `Body.ik`."""
    body = problem.body
    count = len(problem.parts)
    columns = body.num_joints
    if not count:
        raise ValueError("inverse kinematics needs a target, a task or a pinned link")
    if min(restarts, max_steps) < 0:
        raise ValueError(
            f"restarts {restarts}, max_steps {max_steps}; expected numbers of at "
            "least 0"
        )
    inputs = (*problem.goals, problem.starts, problem.roots, problem.rest)
    counts = {len(array) for array in inputs if array.ndim == 2} - {1}
    if len(counts) > 1:
        raise ValueError(
            "all that changes over time has the same number of frames, these have "
            f"{listed(map(str, sorted(counts)))}"
        )
    if counts:
        frames = counts.pop()
    else:
        frames = 1
    # Two sets of up to six residuals a task and their derivatives, two matrices; then
    # goals, starts and results, each with a copy.
    check_memory(
        16
        * (
            (6 * count + 6 + columns) * (6 + columns)
            + max(frames, restarts + 1) * (9 * count + 2 * columns + 15)
        ),
        f"inverse kinematics of {counted(count, 'task')} in "
        f"{counted(frames, 'frame')} with {restarts} restarts",
    )
    goals = np.stack(
        [np.broadcast_to(rows, (frames, 7)) for rows in problem.goals], axis=1
    )
    starts, roots, rest = (np.atleast_2d(array) for array in inputs[-3:])
    parents, kinds, of_joints, offsets, axes = body.tree
    arrays = (
        np.array(parents),
        np.array(kinds),
        np.array(of_joints),
        np.array(rotations.to_matrix(offsets[:, 3:])),
        np.array(offsets[:, :3]),
        np.array(axes),
        np.ones(columns),
    )
    masses = np.array([link.mass / (body.mass or 1.0) for link in body.links])
    centers = np.array([link.center_of_mass for link in body.links])
    compiled = (arrays, (masses, centers), problem.tasks(), space)

    def found(
        goals: Floats, starts: Floats, roots: Floats, rest: Floats
    ) -> tuple[Floats, Floats, Floats, Floats]:
        return kernel.solve(
            compiled,
            goals,
            rest,
            starts,
            np.broadcast_to(roots, (len(goals), 7)),
            max_steps,
        )

    own = len(starts) == frames and not restarts  # Each frame begins at its own start.
    first = slice(None if own else 1)
    q, at, errors, cost = found(goals[first], starts[first], roots[first], rest[first])
    if restarts > 0 and errors.max() > MAX_ERROR:
        begin = problem.random_starts(
            np.flatnonzero(errors[0].max(axis=1) > MAX_ERROR), space, restarts
        )
        others = found(
            np.repeat(goals[:1], restarts, axis=0), begin, roots[:1], rest[:1]
        )
        tried = [
            np.concatenate(pair)
            for pair in zip((q, at, errors, cost), others, strict=True)
        ]
        missed = tried[2].max(axis=(1, 2)) > MAX_ERROR
        kinds_of = compiled[2][0]
        is_hard = compiled[2][5]
        parts = np.asarray(
            is_hard.reshape(-1, 2, 3).any(axis=2)
        )  # position and orientation of a pose
        parts = np.where(kinds_of[:, None] == kernel.POSE, parts, parts[:, :1])
        hard = (tried[2] * parts).max(axis=(1, 2))
        far = np.linalg.norm(tried[0] - starts[0], axis=1)
        worse = missed & (tried[3] > (1 + SAME_COST) * tried[3].min())
        best = np.lexsort(
            (
                far,
                np.where(worse, tried[3], 0.0),
                missed,
                np.where(hard > MAX_ERROR, hard, 0.0),
            )
        )[:1]
        q, at, errors, cost = (values[best] for values in tried)
    if frames > 1 and not own:
        at = np.concatenate([at, np.broadcast_to(roots, (frames, 7))[1:]])
        q, at, errors, cost = found(goals, np.concatenate([q, starts[1:]]), at, rest)
    errors = np.sqrt(np.add.reduceat(np.square(errors), problem.firsts, axis=1))
    names = tuple(joint.name for joint in body.joints)
    row = 0 if all(array.ndim == 1 for array in inputs) else slice(None)
    return Solution(
        q=q[row],
        root=at[row],
        names=tuple(problem.names),
        errors=errors[row],
        cost=cost[row],
        joint_names=names if all(names) else (),
    )


def search_space(
    body: Body,
    free_root: bool,
    joints: Iterable[str | int] | None,
    posture_weight: npt.ArrayLike,
) -> kernel.Space:
    """Return for the variables (6 + J) which may move, their limits, and the weights of the posture, one number or (6 + J,)."""
    posture_weight = np.asarray(posture_weight)
    if not ((posture_weight >= 0) & (posture_weight < np.inf)).all():
        raise ValueError(
            f"posture weight {posture_weight}; expected a finite number of at least 0"
        )
    count = 6 + body.num_joints
    moving = np.zeros(count, dtype=np.int64)
    moving[:6] = free_root
    lower = np.full(count, -np.inf)
    upper = np.full(count, np.inf)
    kinds, columns = body.tree[1:3]
    moving[6 + columns[kinds > 0]] = 1
    if joints is not None:
        chosen = np.zeros(count, dtype=np.int64)
        chosen[[*range(6), *(6 + column for column in columns_of(body, joints))]] = 1
        moving *= chosen
    for column, joint in enumerate(body.joints):
        if joint.lower <= joint.upper:
            lower[6 + column], upper[6 + column] = joint.lower, joint.upper
    return (
        moving,
        lower,
        upper,
        np.where(np.arange(count) < 6, 0.0, posture_weight * moving),
    )
