"""The path of the centre of mass over a whole motion, as one quadratic programme.

With the centre of mass c at height h above the ground, gravity g and the height's acceleration z̈, the zero moment point is

    p = c − h/(g + z̈)·c̈ + e

where e is what the motion of the links about the centre of mass adds. It is measured on the motion at hand by inverse dynamics; it changes
little when the centre of mass does, so that a few repetitions find the zero moment point of the whole body.

x and y of c, and its height where there are flights, are cubic B-splines with uniform knots, whose second derivatives are continuous.
Their coefficients minimise

    ∫ |c − c₀|² + τ⁴·|c̈ − c̈₀|² + w·s² dt,    N(t)·p ≤ d(t) + s,  s ≥ 0

for the old path c₀, and support polygons N·p ≤ d; s is by how much p may leave them where it must. In the air a
large weight keeps c̈ at that of free fall.
"""

from typing import Any

import numpy as np

from bodymotion.dynamics.trees import GRAVITY
from bodymotion.geometry.arrays import Floats, median_step
from bodymotion.system.deferred import need

KNOT_GAP = 0.04  # [s] At least: a spline with more coefficients than frames could meet its constraints by oscillations between them.
MAX_KNOTS = (
    10  # For each frame, on average: long breaks between frames get a coarser spline.
)
GRID_GAP = 0.01  # [s] The zero moment point is constrained at such times.
SMOOTHING_TIME = 0.3
"""[s] τ: changes that are slower than this cost by how far they move, faster ones by their acceleration."""
OUTSIDE_WEIGHT = (
    1e5  # Of the squared distance of the zero moment point from its polygon.
)
REST_WEIGHT = 30.0
"""Of the acceleration at an end at rest [s^2.5], times τ of the speed there [s^1.5], and of the acceleration in the air [s²]."""
TOLERANCE, MAX_STEPS = (
    1e-6,
    60,
)  # Of the solver: primal and dual residuals and duality gap, and iterations.
MAX_RESIDUAL = 1e-6  # [m] Largest violation of a constraint by a programme that is not solved to TOLERANCE.
MAX_GAP = 1e-4  # Its largest duality gap, relative to 1 plus the cost.


def plan_center(
    times: Floats,
    center: Floats,
    acceleration: Floats,
    offset: Floats,
    pendulum: Floats,
    polygons: list[tuple[Floats, Floats]],
    numbers: list[int],
    at_rest: tuple[bool, bool],
) -> Floats:
    """Return the path (T, C) [m] of the centre of mass, C = 2 or 3: with its height, which falls freely in the air.

    Parameters
    ----------
    times, pendulum:
        (T,) [s], and h/(g + z̈) [s²].
    center, acceleration, offset:
        (T, C) c₀ [m], c̈₀ [m/s²], and (T, 2) e [m].
    polygons, numbers:
        Half-planes of the support polygons, and which of them each frame has; −1 in the air.
    at_rest:
        Whether the motion begins and ends at rest.

    Raises
    ------
    ImportError
        Without the extra `opt`.
    """
    piqp = need("piqp", "opt", "balancing")
    sparse: Any = need("scipy.sparse", "opt", "balancing")
    length = times[-1] - times[0]
    gap = max(KNOT_GAP, 2.0 * median_step(times), length / (MAX_KNOTS * len(times)))
    count = max(int(np.ceil(length / gap)), 1) + 3
    # Frames that are about `GRID_GAP` apart, the first and the last among them.
    step = np.floor((times - times[0]) / GRID_GAP + 1e-6)
    rows = np.unique([*np.unique(step, return_index=True)[1], len(times) - 1])
    at = times[rows]
    value, _, second = (
        _basis((at - times[0]) / gap, count, order) / gap**order for order in (0, 1, 2)
    )
    weights = np.sqrt(np.gradient(at)) if len(at) > 1 else np.ones(1)
    parts = [(sparse.diags(weights) @ value, weights[:, None] * center[rows])]
    bend = SMOOTHING_TIME**2 * weights
    air = np.array(numbers)[rows] < 0
    flat = np.where(air, REST_WEIGHT * weights, 0.0)[:, None]
    parts.append((sparse.diags(bend) @ second, bend[:, None] * acceleration[rows]))
    axes = center.shape[1]
    parts.append(
        (sparse.diags(flat[:, 0]) @ second, flat * [0.0, 0.0, -GRAVITY][:axes])
    )
    for end, rests in zip((0.0, at[-1] - at[0]), at_rest, strict=True):
        if rests:
            for order, weight in ((1, REST_WEIGHT * SMOOTHING_TIME), (2, REST_WEIGHT)):
                parts.append(
                    (
                        weight
                        / gap**order
                        * _basis(np.array([end / gap]), count, order),
                        np.zeros((1, axes)),
                    )
                )
    matrix, right = (
        sparse.vstack([part for part, _ in parts]),
        np.concatenate([part for _, part in parts]),
    )
    square = (matrix.T @ matrix).tocsc()
    linear = matrix.T @ right
    carried = np.flatnonzero(~air)
    point = (value - sparse.diags(pendulum[rows]) @ second).tocsr()
    inequalities = [(polygons[numbers[rows[k]]], k) for k in carried]
    number = np.concatenate(
        [np.full(len(d), i) for i, ((_, d), _) in enumerate(inequalities)]
        or [np.zeros(0, int)]
    )
    normals = np.concatenate([n for (n, _), _ in inequalities] or [np.zeros((0, 2))])
    limits = np.concatenate([d for (_, d), _ in inequalities] or [np.zeros(0)])
    lines = point[carried[number]]
    offset = offset[rows][carried[number]]
    slack = sparse.csc_matrix(
        (-np.ones(len(number)), (np.arange(len(number)), number)),
        (len(number), len(carried)),
    )
    sides = [
        sparse.diags(normal) @ lines
        for normal in np.pad(normals, ((0, 0), (0, axes - 2))).T
    ]
    size = axes * count + len(carried)
    cost = sparse.block_diag(
        [*[square] * axes, sparse.diags(OUTSIDE_WEIGHT * weights[carried] ** 2)]
    ).tocsc()
    solver = piqp.SparseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = TOLERANCE
    solver.settings.eps_duality_gap_abs = TOLERANCE
    solver.settings.max_iter = MAX_STEPS
    solver.settings.kkt_solver = (
        piqp.KKTSolver.sparse_ldlt_ineq_cond
    )  # each constraint has few of the coefficients
    solver.setup(
        cost,
        np.concatenate([-linear.T.ravel(), np.zeros(len(carried))]),
        None,
        None,
        sparse.hstack([*sides, slack]).tocsc(),
        np.full(len(limits), -np.inf),
        limits - np.sum(normals * offset, axis=1),
        np.concatenate([np.full(axes * count, -np.inf), np.zeros(len(carried))]),
        np.full(size, np.inf),
    )
    status = solver.solve()
    found = np.asarray(solver.result.x)
    end = solver.result.info
    near = end.primal_res <= MAX_RESIDUAL and end.duality_gap <= MAX_GAP * (
        1.0 + abs(end.primal_obj)
    )
    solved = status == piqp.PIQP_SOLVED or (
        status == piqp.PIQP_MAX_ITER_REACHED and near
    )
    if not solved or not np.isfinite(found).all():
        raise ValueError(
            f"the path of the centre of mass could not be found ({status}): the motion's accelerations are too large"
        )
    return np.asarray(
        _basis((times - times[0]) / gap, count, 0)
        @ found[: axes * count].reshape(axes, count).T
    )


def _basis(times: Floats, count: int, order: int) -> Any:  # noqa: ANN401
    """Return the matrix (T, count) that gives a spline, or its first or second derivative, at times in gaps between its knots."""
    sparse: Any = need("scipy.sparse", "opt", "balancing")
    interpolate: Any = need("scipy.interpolate", "opt", "balancing")
    knots = np.arange(order - 3, count + 1 - order, dtype=np.float64)
    differences = sparse.eye(count, format="csr")
    for _ in range(order):
        differences = differences[1:] - differences[:-1]
    return interpolate.BSpline.design_matrix(times, knots, 3 - order) @ differences
