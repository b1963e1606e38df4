"""The path of the centre of mass over a whole motion, as one quadratic programme.

With the centre of mass c at height h above the ground, gravity g and the height's
acceleration z̈, the zero moment point is

    p = c − h/(g + z̈)·c̈ + e

where e is what the motion of the links about the centre of mass adds. It is measured on
the motion at hand by inverse dynamics; it changes little when the centre of mass does,
so that a few repetitions find the zero moment point of the whole body.

x and y of c, and its height where there are flights, are cubic B-splines with uniform
knots, whose second derivatives are continuous. Their coefficients minimise

    ∫ |c − c₀|² + τ⁴·|c̈ − c̈₀|² + w·s² dt,    N(t)·p ≤ d(t) + s,  s ≥ 0

for the old path c₀, and support polygons N·p ≤ d; s is by how much p may leave them
where it must. In the air a large weight keeps c̈ at that of free fall.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bodymotion.balancing.stance import HalfPlanes
from bodymotion.dynamics.trees import GRAVITY
from bodymotion.geometry.arrays import Floats, Indices, median_step
from bodymotion.system.deferred import need

# [s] At least: a spline with more coefficients than frames could meet its constraints
# by oscillations between them.
KNOT_GAP = 0.04
# For each frame, on average: long breaks between frames get a coarser spline.
MAX_KNOTS = 10
# [s] The zero moment point is constrained at such times.
GRID_GAP = 0.01
# [s] τ: changes that are slower than this cost by how far they move, faster ones by
# their acceleration.
SMOOTHING_TIME = 0.3
# Of the squared distance of the zero moment point from its polygon.
OUTSIDE_WEIGHT = 1e5
# Of the acceleration at an end at rest [s^2.5], times τ of the speed there [s^1.5], and
# of the acceleration in the air [s²].
REST_WEIGHT = 30.0
# Of the solver: primal and dual residuals, and duality gap.
TOLERANCE = 1e-6
# Iterations of the solver.
MAX_STEPS = 60
# [m] Largest violation of a constraint by a programme that is not solved to TOLERANCE.
MAX_RESIDUAL = 1e-6
# Its largest duality gap, relative to 1 plus the cost.
MAX_GAP = 1e-4


class _Grid(NamedTuple):
    """The frames `rows` at which costs and constraints are stated, and the spline.

    `times` (N,) [s] since the first frame; `values` and `seconds` are matrices (N, C)
    that give the spline and its second derivative there from its C coefficients, whose
    knots are `gap` [s] apart.
    """

    rows: Indices
    times: Floats
    gap: float
    values: Any
    seconds: Any

    @property
    def num_coefficients(self) -> int:
        """The number C of coefficients."""
        return int(self.values.shape[1])

    @property
    def weights(self) -> Floats:
        """(N,) [s^0.5] whose squares are the times that frames stand for."""
        if len(self.times) < 2:
            return np.ones(1)
        return np.sqrt(np.gradient(self.times))


class _Quadratic(NamedTuple):
    """The cost ½·xᵀ·square·x − linear·x of each axis: (C, C) and (C, A)."""

    square: Any
    linear: Floats


class _Inequalities(NamedTuple):
    """Constraints matrix·x ≤ limits on all coefficients and slacks."""

    matrix: Any
    limits: Floats


def plan_center(
    times: Floats,
    center: Floats,
    acceleration: Floats,
    offset: Floats,
    pendulum: Floats,
    polygons: Sequence[HalfPlanes],
    numbers: Sequence[int],
    at_rest: tuple[bool, bool],
) -> Floats:
    """Return the path (T, A) [m] of the centre of mass.

    It is the one nearest to c₀ that keeps the ZMP, c − pendulum·c̈ + e, in the support
    polygons where it can. A = 2, or 3 with its height, which falls freely in the air.

    Parameters
    ----------
    times, pendulum:
        (T,) [s], and h/(g + z̈) [s²].
    center, acceleration, offset:
        (T, A) c₀ [m], c̈₀ [m/s²], and (T, 2) e [m], which the links add to the ZMP.
    polygons, numbers:
        Half-planes of the support polygons, and which of them each frame has; −1 in the
        air.
    at_rest:
        Whether the motion begins and ends at rest.

    Raises
    ------
    ImportError
        Without the extra `opt`.
    """
    grid = _grid(times)
    is_in_air = np.array(numbers)[grid.rows] < 0
    on_ground = np.flatnonzero(~is_in_air)
    goals = center[grid.rows], acceleration[grid.rows]
    cost = _cost(grid, *goals, is_in_air.astype(np.float64), at_rest)
    point = grid.values - _diagonal(pendulum[grid.rows]) @ grid.seconds
    planes = [polygons[numbers[row]] for row in grid.rows[on_ground]]
    inside = _inequalities(
        point.tocsr()[on_ground],
        offset[grid.rows][on_ground],
        planes,
        center.shape[1],
    )
    slack_costs = OUTSIDE_WEIGHT * grid.weights[on_ground] ** 2
    coefficients = _solve(cost, inside, slack_costs)
    spline = _basis((times - times[0]) / grid.gap, grid.num_coefficients, 0)
    return np.asarray(spline @ coefficients)


def _diagonal(values: Floats) -> Any:  # noqa: ANN401
    sparse: Any = need("scipy.sparse", "opt", "balancing")
    return sparse.diags(values)


def _grid(times: Floats) -> _Grid:
    """Return frames that are about `GRID_GAP` apart, and the spline there."""
    length = times[-1] - times[0]
    gap = max(KNOT_GAP, 2.0 * median_step(times), length / (MAX_KNOTS * len(times)))
    count = max(int(np.ceil(length / gap)), 1) + 3
    step = np.floor((times - times[0]) / GRID_GAP + 1e-6)
    firsts = np.unique(step, return_index=True)[1]
    # The last frame is always among them.
    rows = np.unique([*firsts, len(times) - 1])
    since = times[rows] - times[0]
    values = _basis(since / gap, count, 0)
    seconds = _basis(since / gap, count, 2) / gap**2
    return _Grid(rows, since, gap, values, seconds)


def _cost(
    grid: _Grid,
    center: Floats,
    acceleration: Floats,
    in_air: Floats,
    at_rest: tuple[bool, bool],
) -> _Quadratic:
    """Return the cost of coefficients: the squares of weighted differences."""
    sparse: Any = need("scipy.sparse", "opt", "balancing")
    axes = center.shape[1]
    free_fall = np.array([0.0, 0.0, -GRAVITY][:axes])
    weights = grid.weights
    bending = SMOOTHING_TIME**2 * weights
    falling = REST_WEIGHT * weights * in_air
    matrices = [
        _diagonal(weights) @ grid.values,
        _diagonal(bending) @ grid.seconds,
        _diagonal(falling) @ grid.seconds,
    ]
    goals = [
        weights[:, None] * center,
        bending[:, None] * acceleration,
        falling[:, None] * free_fall,
    ]
    for end, rests in zip((0.0, grid.times[-1]), at_rest, strict=True):
        if not rests:
            continue
        at_end = np.array([end / grid.gap])
        speed = _basis(at_end, grid.num_coefficients, 1) / grid.gap
        rate = _basis(at_end, grid.num_coefficients, 2) / grid.gap**2
        matrices += [REST_WEIGHT * SMOOTHING_TIME * speed, REST_WEIGHT * rate]
        goals += [np.zeros((1, axes)), np.zeros((1, axes))]
    matrix = sparse.vstack(matrices)
    return _Quadratic((matrix.T @ matrix).tocsc(), matrix.T @ np.concatenate(goals))


def _inequalities(
    points: Any,  # noqa: ANN401
    offsets: Floats,
    planes: Sequence[HalfPlanes],
    axes: int,
) -> _Inequalities:
    """Return that zero moment points are in their polygons, up to a slack of each.

    `points` (N, C) gives x or y of N points, without their offsets (N, 2) [m].
    """
    sparse: Any = need("scipy.sparse", "opt", "balancing")
    counts = [len(plane[1]) for plane in planes]
    frames = np.repeat(np.arange(len(planes)), counts)
    normals = np.concatenate([np.zeros((0, 2)), *(plane[0] for plane in planes)])
    limits = np.concatenate([np.zeros(0), *(plane[1] for plane in planes)])
    rows = points[frames]
    # The height, if it is planned, does not move the point.
    sides = [
        _diagonal(normal) @ rows
        for normal in np.pad(normals, ((0, 0), (0, axes - 2))).T
    ]
    indices = (np.arange(len(frames)), frames)
    slacks = sparse.csc_matrix(
        (-np.ones(len(frames)), indices), (len(frames), len(planes))
    )
    return _Inequalities(
        sparse.hstack([*sides, slacks]).tocsc(),
        limits - np.sum(normals * offsets[frames], axis=1),
    )


def _solve(
    cost: _Quadratic,
    inside: _Inequalities,
    slack_costs: Floats,
) -> Floats:
    """Return the coefficients (C, A) of the least cost.

    Slacks are at least 0.
    """
    piqp = need("piqp", "opt", "balancing")
    sparse: Any = need("scipy.sparse", "opt", "balancing")
    count, axes = cost.linear.shape
    size = axes * count + len(slack_costs)
    solver = piqp.SparseSolver()
    solver.settings.eps_abs = TOLERANCE
    solver.settings.eps_rel = TOLERANCE
    solver.settings.eps_duality_gap_abs = TOLERANCE
    solver.settings.max_iter = MAX_STEPS
    # Each constraint has few of the coefficients.
    solver.settings.kkt_solver = piqp.KKTSolver.sparse_ldlt_ineq_cond
    none = np.zeros(len(slack_costs))
    solver.setup(
        sparse.block_diag([cost.square] * axes + [_diagonal(slack_costs)]).tocsc(),
        np.concatenate([-cost.linear.T.ravel(), none]),
        None,
        None,
        inside.matrix,
        np.full(len(inside.limits), -np.inf),
        inside.limits,
        np.concatenate([np.full(axes * count, -np.inf), none]),
        np.full(size, np.inf),
    )
    status = solver.solve()
    solution = np.asarray(solver.result.x)
    is_solved = status == piqp.PIQP_SOLVED
    if status == piqp.PIQP_MAX_ITER_REACHED:
        info = solver.result.info
        largest_gap = MAX_GAP * (1.0 + abs(info.primal_obj))
        is_solved = info.primal_res <= MAX_RESIDUAL and info.duality_gap <= largest_gap
    if not is_solved or not np.isfinite(solution).all():
        raise ValueError(
            f"the path of the centre of mass could not be found ({status}): the "
            "motion's accelerations are too large"
        )
    return np.asarray(solution[: axes * count].reshape(axes, count).T)


def _basis(
    times: Floats,
    count: int,
    order: int,
) -> Any:  # noqa: ANN401
    """Return the matrix (T, count) that gives a spline from its coefficients.

    Or its first or second derivative, by `order`; times are in gaps between its knots.
    """
    sparse: Any = need("scipy.sparse", "opt", "balancing")
    interpolate: Any = need("scipy.interpolate", "opt", "balancing")
    knots = np.arange(order - 3, count + 1 - order, dtype=np.float64)
    differences = sparse.eye(count, format="csr")
    for _ in range(order):
        differences = differences[1:] - differences[:-1]
    return interpolate.BSpline.design_matrix(times, knots, 3 - order) @ differences
