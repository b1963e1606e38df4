"""Inverse kinematics of trees of links.

Joint values and root poses that bring tasks as near to their goals as limits allow.

Variables are u = (v₀, ω₀, q) (6 + J): a translation of the root, a rotation of it about
its origin, and the joints. With residuals r and their derivatives A by u, each step
minimizes |W·(r + A·Δu)|² + λ·|Δu|² between the limits (Levenberg and Marquardt; λ a
share of the squared error, kept from frame to frame, so that convergence stays
quadratic where joints are redundant: Fan and Yuan, 2005). Joints that it would move
beyond a limit are put on it and the others solved again; a joint leaves its limit when
the gradient points inwards.

Hard tasks c (closed loops, pinned links) come before all others. They are met exactly
by the method of multipliers (Hestenes, 1969, and Powell): a step is accepted when it
reduces |W·r|²/2 + μ·c + ρ·|c|²/2, ρ being the square of `HARD`, and then μ grows by
ρ·c.

An inequality c ≤ 0 is such a task whose residual is max(c, −μ/ρ) (Rockafellar, 1973),
so that μ ≥ 0; without μ it is max(c, 0).

Tasks have a goal g (7,) in each frame, a point P on link a and Q on link b (−1: the
world). The functions that compute residuals and derivatives state their formulas:
`_add_pose` … `_add_axes`, one for each kind of task.
"""

from typing import NamedTuple

import numpy as np

from bodymotion.geometry.arrays import Floats, Indices
from bodymotion.kernels.compiling import in_slices, inlined, kernel, part_of_kernel
from bodymotion.kernels.kinematics import SLIDE, rotation, unit_pose
from bodymotion.kernels.loop_closing import Chain, LinkFrames, place_links
from bodymotion.kernels.vectors import (
    Triple,
    cross,
    dot,
    multiply,
    norm,
    plus,
    product,
    put,
    times,
)

# Kinds of tasks, with the number of their residuals.
POSE = 0  # (6) position and orientation of link a
CENTER = 1  # (3) centre of mass
LOOK = 2  # (3) direction of an axis of link a
DISTANCE = 3  # (1) distance of two segments
POINTS = 4  # (1) equation of an extra joint: two points
AXES = 5  # (1) equation of an extra joint: two axes
PLANE = 6  # (1) height of P above a plane
CENTER_PLANE = 7  # (1) height of the centre of mass above a plane

TOLERANCE = 1e-10  # [m, rad] A task with a smaller error is done.
MIN_STEP = 1e-11  # [rad or m] A smaller step ends the descent.
MAX_STEP = 0.5  # [rad or m] No variable moves further in one step.
MIN_GAIN = 1e-12  # Relative gain of a step; less of it is a stall.
MAX_STALLS = 3  # The descent ends after this number of stalls in a row.
MAX_TRIED_STEPS = 4  # Steps that are tried at most, for each one that may be taken.
HARD = 30.0  # [1/m, 1/rad] Weight of hard tasks.
# [rad or m] Largest step after which the multipliers of hard tasks are updated.
MAX_STEP_OF_UPDATES = 0.1
ONE_THREAD_FRAMES = 64  # Up to this number of frames one thread is fastest.
DAMPING = 1e-3  # λ is first this share of the squared error,
MIN_SHARE = 1e-9  # later at least this share of it,
MIN_DAMPING = 1e-11  # and never less than this.
MIN_RELATIVE_GAIN = 1e-9  # Rounding decides about gains below this share.
# Sine of the angle between two directions that counts as 0: they have no normal.
STRAIGHT_AWAY = 1e-9
MIN_DISTANCE = 1e-9  # [m] Divisor where two points coincide.


class Tasks(NamedTuple):
    """K tasks, each with up to six residuals.

    Attributes
    ----------
    kinds:
        (K,) `POSE` … `CENTER_PLANE`.
    links:
        (K, 2) links a and b; −1 is the world.
    points:
        (K, 2, 3) P in the frame of link a, Q in that of link b.
    directions:
        (K, 3) unit vectors in the frame of link a.
    weights:
        (K, 6) [1/m, 1/rad] of the residuals; those with 0 do not exist.
    is_hard:
        (K, 6) whether residuals are hard: 0 or 1.
    signs:
        (K,) 0 for an equation, 1 for residuals that are at most 0, −1 for those that
        are at least 0.
    """

    kinds: Indices
    links: Indices
    points: Floats
    directions: Floats
    weights: Floats
    is_hard: Indices
    signs: Indices


class LinkMasses(NamedTuple):
    """Shares (L,) of the mass, and centres of mass (L, 3) in the links' frames."""

    shares: Floats
    centers: Floats


class Space(NamedTuple):
    """Which of the variables (6 + J) move, their limits, and the posture's weights."""

    is_moving: Indices
    lower: Floats
    upper: Floats
    weights: Floats


class FreeVariables(NamedTuple):
    """The F variables that move.

    Attributes
    ----------
    variables:
        (F,) their numbers among all variables (6 + J), in ascending order.
    numbers:
        (6 + J) the number of each variable among them, or −1.
    lower, upper, weights:
        (F,) as in `Space`.
    """

    variables: Indices
    numbers: Indices
    lower: Floats
    upper: Floats
    weights: Floats


class Problem(NamedTuple):
    """What is solved; the root's pose replaces the first offset of the chain."""

    chain: Chain
    masses: LinkMasses
    tasks: Tasks
    space: Space


class ReducedProblem(NamedTuple):
    """A problem with only the links and variables that matter."""

    chain: Chain
    masses: LinkMasses
    tasks: Tasks
    free: FreeVariables


class Frames(NamedTuple):
    """What is given for T frames.

    Attributes
    ----------
    goals:
        (T, K, 7).
    rests:
        (1 or T, J) joint values near which the posture's weights hold joints.
    starts:
        (1 or T, J) where the search begins.
    roots:
        (T, 7) poses of the root, where its search begins if it is free.
    """

    goals: Floats
    rests: Floats
    starts: Floats
    roots: Floats


class Results(NamedTuple):
    """What is computed for T frames.

    Attributes
    ----------
    joints, roots:
        (T, J) joint values and (T, 7) poses of the root.
    errors:
        (T, K, 2) of tasks [m, rad].
    costs:
        (T,) the sum of the weighted squares of soft tasks.
    """

    joints: Floats
    roots: Floats
    errors: Floats
    costs: Floats


class State(NamedTuple):
    """Joint values (J,) and the pose (7,) of the root."""

    joints: Floats
    root: Floats


class Linear(NamedTuple):
    """Weighted residuals (R,) and their derivatives (R, F)."""

    residual: Floats
    jacobian: Floats


class Equations(NamedTuple):
    """H = AᵀW²A (F, F), g = AᵀW²r (F,), and the factor of H + λ of free joints."""

    hessian: Floats
    gradient: Floats
    factor: Floats


class RowKinds(NamedTuple):
    """Of each residual (R,): whether it is hard, and the sign of its inequality."""

    is_hard: Indices
    signs: Indices


class TaskRows(NamedTuple):
    """The residuals of one task, before they are weighted.

    Attributes
    ----------
    errors:
        (6,) the residuals.
    rows:
        (6,) their rows among all residuals; −1 for those without weight.
    of_first, of_second:
        (6, 6) their derivatives by the velocities v and ω of link a at point P, and of
        link b at point Q.
    """

    errors: Floats
    rows: Indices
    of_first: Floats
    of_second: Floats


class Cost(NamedTuple):
    """|W·r|² of soft tasks, Σ|r| of hard ones, and the largest error [m, rad]."""

    soft: float
    hard: float
    worst: float


class Memory(NamedTuple):
    """Arrays that are used again in each frame.

    Residuals (2, R) and derivatives (2, R, F) are held twice: where the search is, and
    where it is tried.
    """

    row_kinds: RowKinds
    links: LinkFrames
    residuals: Floats
    jacobians: Floats
    equations: Equations
    order: Indices
    step: Floats
    multipliers: Floats
    current: State
    trial: State
    trial_errors: Floats


def solve(
    problem: Problem,
    goals: Floats,
    rest: Floats,
    starts: Floats,
    roots: Floats,
    steps: int,
) -> Results:
    """Return the solutions of frames; arrays are as in `Frames`.

    With one row of joints in `starts` each frame starts where the one before ended, and
    so does a free root: then only the first of `roots` is used. Otherwise each frame
    starts at its own row. `steps` is the largest number of steps in a frame.
    """
    # Copies of one layout: for another the kernel would be compiled once more.
    frames = Frames(
        np.array(goals, order="C"),
        np.array(rest, order="C"),
        np.array(starts, order="C"),
        np.array(roots, order="C"),
    )
    count = len(goals)
    results = Results(
        joints=np.empty((count, starts.shape[1])),
        roots=np.empty((count, 7)),
        errors=np.empty((count, len(problem.tasks.kinds), 2)),
        costs=np.empty(count),
    )
    reduced = _reduce(problem)
    chain = reduced.chain

    def work(begin: int, end: int) -> None:
        # The root's pose is written into the first offset of a thread's own chain.
        own_chain = chain._replace(
            rotations=chain.rotations.copy(), positions=chain.positions.copy()
        )
        # One row of `rests` or `starts` is that of all frames.
        given = [rows[begin:end] if len(rows) > 1 else rows for rows in frames]
        filled = [rows[begin:end] for rows in results]
        own_problem = reduced._replace(chain=own_chain)
        _solve(own_problem, steps, Frames(*given), Results(*filled))

    if len(starts) == count:
        one_thread = ONE_THREAD_FRAMES
    else:  # Frames that start where the one before ended are not divided.
        one_thread = count
    in_slices(count, work, one_thread)
    return results


def _reduce(problem: Problem) -> ReducedProblem:
    """Return the problem without links that carry none of the tasks' links."""
    chain = problem.chain
    tasks = problem.tasks
    space = problem.space
    count = len(chain.parents)
    # The last flag and number are those of the world, whose index is −1.
    is_needed = np.zeros(count + 1, dtype=bool)
    is_needed[[0, -1]] = True
    # The centre of mass depends on all links.
    is_needed[:] |= np.isin(tasks.kinds, (CENTER, CENTER_PLANE)).any()
    is_needed[tasks.links] = True
    # Children are after their parents: what is needed needs its whole chain.
    for link in range(count - 1, 0, -1):
        is_needed[chain.parents[link]] |= is_needed[link]
    # Numbers among the links that stay, in the same order.
    numbers = np.cumsum(is_needed) - 1
    numbers[-1] = -1
    links = np.flatnonzero(is_needed[:-1])
    variables = np.flatnonzero(space.is_moving)
    return ReducedProblem(
        Chain(
            numbers[chain.parents[links]],
            chain.kinds[links],
            chain.variables[links],
            chain.rotations[links],
            chain.positions[links],
            chain.axes[links],
            chain.units,
        ),
        LinkMasses(problem.masses.shares[links], problem.masses.centers[links]),
        tasks._replace(links=numbers[tasks.links]),
        FreeVariables(
            variables,
            np.where(space.is_moving, np.cumsum(space.is_moving) - 1, -1),
            space.lower[variables],
            space.upper[variables],
            space.weights[variables],
        ),
    )


@inlined
def _rotation_vector(
    orientation: Floats, goal: Floats, d: Floats, out: Floats
) -> float:
    """Fill `out` (3,) with the rotation vector from one orientation to another.

    From `goal` (3, 3) to `orientation` (3, 3). Return its angle. `d` (3, 3) is
    overwritten.
    """
    # d = orientation · goalᵀ is the rotation between them in the world's axes.
    multiply(orientation, goal.T, d)
    # The quaternion by the largest of its parts (Shepperd): near π the sine alone has
    # no digits.
    trace = d[0, 0] + d[1, 1] + d[2, 2]
    i = 0
    for k in range(1, 3):
        if d[k, k] > d[i, i]:
            i = k
    j = (i + 1) % 3
    k = (i + 2) % 3
    if trace > d[i, i]:
        w = 1.0 + trace
        out[0] = d[2, 1] - d[1, 2]
        out[1] = d[0, 2] - d[2, 0]
        out[2] = d[1, 0] - d[0, 1]
    else:
        w = d[k, j] - d[j, k]
        out[i] = 1.0 + d[i, i] - d[j, j] - d[k, k]
        out[j] = d[j, i] + d[i, j]
        out[k] = d[k, i] + d[i, k]
    sine = norm(out)
    # sin ½α and cos ½α up to one factor; α is at most π with |w|.
    angle = 2.0 * np.arctan2(sine, abs(w))
    if sine == 0.0:
        scale = 0.0
    elif w >= 0.0:
        scale = angle / sine
    else:
        scale = -angle / sine
    for k in range(3):
        out[k] *= scale
    return float(angle)


@inlined
def _share(value: float) -> float:
    """Return the value limited to 0…1, the ends of a segment."""
    return min(max(value, 0.0), 1.0)


@inlined
def _nearest(p: Triple, q: Triple, u: Triple, v: Triple) -> tuple[Triple, Triple]:
    """Return the nearest points of two segments, from p along u and q along v."""
    # |p + s·u − q − t·v|² is least where its derivatives by s and t are 0:
    #     s·uu − t·uv = −uw,   s·uv − t·vv = −vw,   w = p − q
    # (Ericson, Real-Time Collision Detection, 5.1.9). First s of the two lines, limited
    # to the segment; then t of the point nearest to that; then s again.
    w = plus(p, q, -1.0)
    uu = dot(u, u)
    uv = dot(u, v)
    vv = dot(v, v)
    uw = dot(u, w)
    vw = dot(v, w)
    determinant = uu * vv - uv * uv  # 0 for parallel segments: any s is nearest
    s = 0.0
    t = 0.0
    if determinant > 1e-9 * uu * vv:
        s = _share((uv * vw - vv * uw) / determinant)
    if vv > 0.0:
        t = _share((uv * s + vw) / vv)
    if uu > 0.0:
        s = _share((uv * t - uw) / uu)
    else:
        s = 0.0
    return plus(p, u, s), plus(q, v, t)


@kernel
def distances(
    begins: Floats, ways: Floats, pairs: Indices, far: Floats, out: Floats
) -> None:
    """Fill the distances (N, T) of `pairs` (N, 2) of segments (C, T, 3).

    Inf where their middles are not nearer than `far` (N,).
    """
    for n in range(pairs.shape[0]):
        first, second = pairs[n]
        # In each frame the middles are compared first, which is cheaper than the
        # nearest points.
        for t in range(begins.shape[1]):
            p = times(begins[first, t])
            q = times(begins[second, t])
            u = times(ways[first, t])
            v = times(ways[second, t])
            between = plus(plus(plus(p, q, -1.0), u, 0.5), v, -0.5)
            out[n, t] = np.inf
            if dot(between, between) < far[n] * far[n]:
                p, q = _nearest(p, q, u, v)
                out[n, t] = norm(plus(p, q, -1.0))


@inlined
def _add_link(
    chain: Chain,
    link: int,
    point: Triple,
    links: LinkFrames,
    slopes: Floats,
    free: FreeVariables,
    rows: Indices,
    jacobian: Floats,
) -> None:
    """Add the derivatives by the variables that move a point of a link.

    `slopes` (6, 6): the derivatives of the rows by v and ω of the point.
    """
    # Each joint between the link and the root moves the point. With s the joint's axis
    # and r from its origin to the point, v = s × r and ω = s, or v = s and ω = 0 where
    # it slides.
    # Taken out once: each access to a field counts references.
    parents = chain.parents
    kinds = chain.kinds
    variables = chain.variables
    numbers = free.numbers
    positions = links.positions
    axes = links.axes
    i = link
    while i >= 0:
        number = -1
        if kinds[i]:
            number = numbers[6 + variables[i]]
        arm = plus(point, positions[i], -1.0)
        axis = times(axes[i])
        if number >= 0:
            if kinds[i] == SLIDE:
                v = axis
                w = (0.0, 0.0, 0.0)
            else:
                v = cross(axis, arm)
                w = axis
            for m in range(6):
                if rows[m] >= 0:
                    jacobian[rows[m], number] += dot(slopes[m], v) + dot(
                        slopes[m, 3:], w
                    )
        elif i == 0 and numbers[0] >= 0:
            for m in range(6):
                if rows[m] >= 0:
                    _add_root(slopes[m], arm, jacobian[rows[m]])
                    for k in range(3, 6):
                        jacobian[rows[m], k] += slopes[m, k]
        i = parents[i]


@inlined
def _add_root(slope: Floats, arm: Triple, row: Floats) -> None:
    """Add the derivatives by the root's pose, at `arm` from the root's origin.

    `slope` (3,): the derivative by the point's velocity v.
    """
    # v = v₀ + ω₀ × arm, so slope·v = slope·v₀ + (arm × slope)·ω₀.
    by_rotation = cross(arm, slope)
    for k in range(3):
        row[k] += slope[k]
        row[3 + k] += by_rotation[k]


@inlined
def _add_center(
    problem: ReducedProblem, links: LinkFrames, task: TaskRows, jacobian: Floats
) -> Triple:
    """Add the derivatives by the centre of mass, and return it."""
    # What joint i carries has the share s of the mass and the moment m = Σ
    # share·centre.

    # It rotates about the origin o: dc = axis × (m − s·o), or slides: dc = s·axis.
    chain = problem.chain
    numbers = problem.free.numbers
    rows = task.rows
    share = problem.masses.shares.copy()
    moment = np.empty(problem.masses.centers.shape)
    arm = (0.0, 0.0, 0.0)
    # Σ share·centre (L, 3) of each link by itself.
    for i in range(len(share)):
        center = product(links.rotations[i], problem.masses.centers[i])
        put(times(plus(links.positions[i], center), share[i]), moment[i])
    # From the tips inwards: when link i is reached, its share and moment are those of
    # all that it carries.
    for i in range(len(share) - 1, -1, -1):
        arm = plus(moment[i], links.positions[i], -share[i])
        if chain.kinds[i] == SLIDE:
            change = times(links.axes[i], share[i])
        else:
            change = cross(links.axes[i], arm)
        parent = chain.parents[i]
        if i > 0:
            share[parent] += share[i]
            put(plus(moment[parent], moment[i]), moment[parent])
        number = -1
        if chain.kinds[i]:
            number = numbers[6 + chain.variables[i]]
        for m in range(6):
            if rows[m] >= 0 and i == 0 and numbers[0] >= 0:
                _add_root(task.of_first[m], arm, jacobian[rows[m]])
            elif rows[m] >= 0 and number >= 0:
                jacobian[rows[m], number] += dot(task.of_first[m], change)
    return times(moment[0])


@part_of_kernel
def _add_pose(
    goal: Floats,
    p: Triple,
    orientation: Floats,
    goal_matrix: Floats,
    task: TaskRows,
) -> None:
    """Compute P − g, and the rotation vector from the goal's orientation."""
    # Its derivative by ω is taken as the identity, which it is at the goal.
    if task.rows[3] >= 0:
        rotation(goal, goal_matrix)
        _rotation_vector(orientation, goal_matrix, task.of_second, task.errors[3:])
    for m in range(6):
        task.of_first[m, m] = 1.0
    put(plus(p, goal, -1.0), task.errors)


@part_of_kernel
def _add_look(goal: Floats, p: Triple, axis: Triple, task: TaskRows) -> None:
    """Compute the rotation vector from the direction P → g to an axis."""
    ray = plus(goal, p, -1.0)
    distance = max(norm(ray), MIN_DISTANCE)
    ray = times(ray, 1.0 / distance)
    normal = cross(ray, axis)
    cosine = dot(ray, axis)
    sine = norm(normal)
    angle = np.arctan2(sine, cosine)
    if sine < STRAIGHT_AWAY and cosine < 0.0:  # opposite directions: any normal
        if abs(ray[0]) > 0.5:
            # Any vector that is not along the ray will do.
            normal = cross(ray, (0.0, 1.0, 0.0))
        else:
            normal = cross(ray, (1.0, 0.0, 0.0))
        sine = norm(normal)
    if sine > 0.0:
        put(times(normal, angle / sine), task.errors)
    else:
        put(times(normal, 0.0), task.errors)
    # The axis rotates by ω less its part along the axis, which changes nothing. The
    # ray rotates by −ray × v / distance, which the error loses.
    for k in range(3):
        after = (k + 1) % 3
        last = (k + 2) % 3
        task.of_first[k, last] = ray[after] / distance
        task.of_first[k, after] = -ray[last] / distance
        put(times(axis, -axis[k]), task.of_first[k, 3:])
        task.of_first[k, 3 + k] += 1.0


@part_of_kernel
def _add_distance(goal: Floats, p: Triple, q: Triple, task: TaskRows) -> None:
    """Compute |P − Q| − g₃ of the nearest points P and Q of two segments."""
    # That the nearest points move along the segments changes nothing to first order:
    # the distance is least there.
    between = plus(p, q, -1.0)
    distance = max(norm(between), MIN_DISTANCE)
    task.errors[0] = distance - goal[3]
    put(times(between, 1.0 / distance), task.of_first[0])
    put(times(between, -1.0 / distance), task.of_second[0])


@part_of_kernel
def _add_points(p: Triple, q: Triple, direction: Triple, task: TaskRows) -> None:
    """Compute d · (Q − P), d a direction in link a."""
    # d moves with link a: the derivative is d·v of link b at Q, less d·v of the point
    # of link a that is at Q as well (its ω × (Q − P) is the change of d).
    task.errors[0] = dot(direction, plus(q, p, -1.0))
    put(times(direction, -1.0), task.of_first[0])
    put(direction, task.of_second[0])


@part_of_kernel
def _add_axes(axis: Triple, direction: Triple, task: TaskRows) -> None:
    """Compute d · a₂, d a direction in link a and a₂ an axis in link b."""
    # (ω_b × a₂)·d = ω_b·(a₂ × d), and the opposite for link a.
    slope = cross(axis, direction)
    task.errors[0] = dot(direction, axis)
    put(times(slope, -1.0), task.of_first[0, 3:])
    put(slope, task.of_second[0, 3:])


@part_of_kernel
def _number_rows(weights: Floats, first: int, task: TaskRows) -> int:
    """Number the rows of the residuals with weights; return the next row."""
    row = first
    for m in range(6):
        task.errors[m] = 0.0
        task.rows[m] = -1
        if weights[m] > 0.0:
            task.rows[m] = row
            row += 1
            for k in range(6):
                task.of_first[m, k] = 0.0
                task.of_second[m, k] = 0.0
    return row


@part_of_kernel
def _compute_rows(
    problem: ReducedProblem,
    n: int,
    goal: Floats,
    links: LinkFrames,
    goal_matrix: Floats,
    task: TaskRows,
    jacobian: Floats,
    with_slopes: bool,
) -> None:
    """Compute the residuals of task `n`, and their derivatives by the variables."""
    tasks = problem.tasks
    kind = tasks.kinds[n]
    a = tasks.links[n, 0]
    b = tasks.links[n, 1]
    # The world has no frame: there the point is the goal's position.
    if a >= 0:
        p = plus(links.positions[a], product(links.rotations[a], tasks.points[n, 0]))
    else:
        p = times(goal)
    if b >= 0:
        q = plus(links.positions[b], product(links.rotations[b], tasks.points[n, 1]))
    else:
        q = times(goal)
    direction = product(links.rotations[a], tasks.directions[n])
    if kind == POSE:
        _add_pose(goal, p, links.rotations[a], goal_matrix, task)
    elif kind == CENTER:
        for k in range(3):
            task.of_first[k, k] = 1.0
        center = _add_center(problem, links, task, jacobian)
        put(plus(center, goal, -1.0), task.errors)
    elif kind in (PLANE, CENTER_PLANE):  # (g₀, g₁, g₂) · P − g₃
        put(goal, task.of_first[0])
        if kind == CENTER_PLANE:
            p = _add_center(problem, links, task, jacobian)
        task.errors[0] = dot(goal, p) - goal[3]
    elif kind == LOOK:
        _add_look(goal, p, direction, task)
    elif kind == DISTANCE:
        along = product(links.rotations[b], goal[4:])
        p, q = _nearest(p, q, direction, along)
        _add_distance(goal, p, q, task)
    elif kind == POINTS:
        _add_points(p, q, direction, task)
        # The derivative of `_add_points` is by the point of link a that is at Q.
        p = q
    else:
        axis = plus(q, links.positions[b], -1.0)
        _add_axes(axis, direction, task)
    sign = tasks.signs[n]
    # A soft inequality that is fulfilled has no derivatives.
    is_idle = sign != 0 and not tasks.is_hard[n, 0] and sign * task.errors[0] < 0.0
    if with_slopes and not is_idle and kind not in (CENTER, CENTER_PLANE):
        free = problem.free
        chain = problem.chain
        _add_link(chain, a, p, links, task.of_first, free, task.rows, jacobian)
        if b >= 0:
            _add_link(chain, b, q, links, task.of_second, free, task.rows, jacobian)


@part_of_kernel
def _weight_rows(
    tasks: Tasks,
    n: int,
    task: TaskRows,
    linear: Linear,
    errors: Floats,
    with_slopes: bool,
    soft: float,
    hard: float,
) -> tuple[float, float]:
    """Weight the rows of a task and sum its errors (2,) [m, rad].

    Return the sums `soft` and `hard` of `Cost` with what the task adds to them.
    """
    rows = task.rows
    of_task = task.errors
    weights = tasks.weights
    is_hard = tasks.is_hard
    residual = linear.residual
    jacobian = linear.jacobian
    # Errors are summed apart: [m] in column 0, [rad] in column 1.
    of_angle = 1 if tasks.kinds[n] in (LOOK, AXES) else 0
    sign = tasks.signs[n]
    for m in range(6):
        row = rows[m]
        if row < 0:
            continue
        if is_hard[n, m]:
            weight = HARD
        else:
            weight = weights[n, m]
        # "At least" is "at most" with the opposite sign.
        if sign:
            weight *= sign
        residual[row] = weight * of_task[m]
        if with_slopes:
            for j in range(jacobian.shape[1]):
                jacobian[row, j] *= weight
        if sign and residual[row] < 0.0:
            of_task[m] = 0.0  # a fulfilled inequality
        elif is_hard[n, m]:
            hard += abs(of_task[m])
        else:
            soft += residual[row] ** 2
        errors[1 if m >= 3 else of_angle] += of_task[m] ** 2
    for k in range(2):
        errors[k] = np.sqrt(errors[k])
    return soft, hard


@inlined
def _evaluate(
    problem: ReducedProblem,
    goals: Floats,
    rest: Floats,
    state: State,
    links: LinkFrames,
    linear: Linear,
    errors: Floats,
    with_slopes: bool,
) -> Cost:
    """Compute the weighted residuals, and with `with_slopes` their derivatives."""
    tasks = problem.tasks
    chain = problem.chain
    free = problem.free
    rotation(state.root, chain.rotations[0])
    for k in range(3):
        chain.positions[0, k] = state.root[k]
    place_links(chain, state.joints, links)
    if with_slopes:
        linear.jacobian[:] = 0.0
    task = TaskRows(
        np.zeros(6), np.empty(6, dtype=np.int64), np.empty((6, 6)), np.empty((6, 6))
    )
    goal_matrix = np.empty((3, 3))
    soft = 0.0
    hard = 0.0
    worst = 0.0
    row = 0
    for n in range(tasks.kinds.shape[0]):
        first = row
        goal = goals[n]
        errors[n, 0] = 0.0
        errors[n, 1] = 0.0
        # Otherwise the nearest points would be computed for a distance that is never
        # wrong.
        if tasks.kinds[n] == DISTANCE and tasks.signs[n] < 0 and goal[3] <= 0.0:
            # Any distance is at least that.
            linear.residual[row] = 0.0
            row += 1
            continue
        row = _number_rows(tasks.weights[n], first, task)
        _compute_rows(
            problem, n, goal, links, goal_matrix, task, linear.jacobian, with_slopes
        )
        soft, hard = _weight_rows(
            tasks, n, task, linear, errors[n], with_slopes, soft, hard
        )
        if row > first:
            worst = max(worst, errors[n, 0])
            worst = max(worst, errors[n, 1])
    # The posture: joints are drawn to their rest values.
    for i in range(free.variables.shape[0]):
        j = free.variables[i] - 6
        if j >= 0:
            soft += (free.weights[i] * (state.joints[j] - rest[j])) ** 2
    return Cost(soft, hard, worst)


@inlined
def _set_up_equations(
    free: FreeVariables,
    rest: Floats,
    joints: Floats,
    signs: Indices,
    multipliers: Floats,
    linear: Linear,
    equations: Equations,
) -> None:
    """Compute H and g, with the multipliers of hard tasks and the posture."""
    jacobian = linear.jacobian
    hessian = equations.hessian
    gradient = equations.gradient
    count = gradient.shape[0]
    moving = np.empty(count, dtype=np.int64)
    slopes = np.empty(count)
    for i in range(count):
        gradient[i] = 0.0
        for j in range(count):
            hessian[i, j] = 0.0
    for row in range(linear.residual.shape[0]):
        # The gradient of the merit: Aᵀ·(W·r + μ/W), by multipliers in units of 1/W.
        right = linear.residual[row] + multipliers[row] / HARD
        if signs[row] and right <= 0.0:
            continue  # an inequality that does not act
        # Most derivatives are 0: the joints of other limbs do not move a link.
        number = 0
        for j in range(count):
            if jacobian[row, j] != 0.0:
                moving[number] = j
                slopes[number] = jacobian[row, j]
                number += 1
        for p in range(number):
            i = moving[p]
            gradient[i] += slopes[p] * right
            # Only the lower triangle is summed; it is copied below.
            for s in range(p + 1):
                hessian[i, moving[s]] += slopes[p] * slopes[s]
    for i in range(count):
        k = free.variables[i] - 6
        if k >= 0:
            pull = free.weights[i] ** 2
            gradient[i] += pull * (joints[k] - rest[k])
            hessian[i, i] += pull
        for j in range(i):
            hessian[j, i] = hessian[i, j]


@inlined
def _penalty(residual: float, multiplier: float, sign: int) -> float:
    """Return what a hard residual adds to the merit: μ·c + ρ·c²/2.

    The residual is `HARD`·c, the multiplier μ / `HARD`.
    """
    if sign:
        residual = max(residual, -multiplier)
    return residual * (multiplier + 0.5 * residual)


@part_of_kernel
def _fix_joints_at_limits(
    free: FreeVariables, joints: Floats, gradient: Floats, fixed: Indices
) -> None:
    """Fill in which joints are at a limit beyond which the gradient moves them."""
    for i in range(fixed.shape[0]):
        j = free.variables[i] - 6
        fixed[i] = j >= 0 and (
            (joints[j] <= free.lower[i] and gradient[i] > 0.0)
            or (joints[j] >= free.upper[i] and gradient[i] < 0.0)
        )


@part_of_kernel
def _order_free(fixed: Indices, order: Indices) -> int:
    """Fill in the variables that are not fixed; return their number.

    From the ends of limbs to the root: what one limb has, another one has not, so the
    factor keeps its zeros.
    """
    number = 0
    for i in range(fixed.shape[0] - 1, -1, -1):
        if not fixed[i]:
            order[number] = i
            number += 1
    return number


@part_of_kernel
def _solve_damped(
    equations: Equations,
    damping: float,
    fixed: Indices,
    order: Indices,
    number: int,
    right: Floats,
    step: Floats,
) -> None:
    """Solve (H + λ)·step = −g for the variables that are not fixed, by Cholesky.

    The steps of fixed variables are given, and move to the right side.
    """
    hessian = equations.hessian
    gradient = equations.gradient
    factor = equations.factor
    for p in range(number):
        i = order[p]
        right[p] = -gradient[i]
        # Joints on limits have moved by their known steps.
        for j in range(fixed.shape[0]):
            if fixed[j] and step[j] != 0.0:
                right[p] -= hessian[i, j] * step[j]
        # Row p of the upper factor U, H + λ = Uᵀ·U, row by row: its inner loop runs
        # along rows.
        row = factor[p]
        for s in range(p, number):
            row[s] = hessian[i, order[s]]
        row[p] += damping
    # Cholesky, row by row: row p of U, then its products are subtracted from the rows
    # below.
    for p in range(number):
        row = factor[p]
        # Rounding may leave a diagonal element that is not positive.
        row[p] = np.sqrt(max(row[p], MIN_DAMPING))
        scale = 1.0 / row[p]
        right[p] *= scale
        for s in range(p + 1, number):
            row[s] *= scale
            right[s] -= row[s] * right[p]
        for k in range(p + 1, number):
            if row[k] != 0.0:
                for s in range(k, number):
                    factor[k, s] -= row[k] * row[s]
    # Back substitution: U·step = right.
    for p in range(number - 1, -1, -1):
        row = factor[p]
        for k in range(p + 1, number):
            right[p] -= row[k] * right[k]
        right[p] /= row[p]
        step[order[p]] = right[p]


@part_of_kernel
def _stop_at_limits(
    free: FreeVariables,
    joints: Floats,
    order: Indices,
    number: int,
    fixed: Indices,
    step: Floats,
) -> bool:
    """Shorten steps that lead beyond limits and fix their joints; return if any did."""
    is_beyond = False
    for p in range(number):
        i = order[p]
        j = free.variables[i] - 6
        if j < 0:
            continue
        # The step may only lead to the limit.
        value = joints[j] + step[i]
        if value < free.lower[i]:
            step[i] = free.lower[i] - joints[j]
        elif value > free.upper[i]:
            step[i] = free.upper[i] - joints[j]
        else:
            continue
        fixed[i] = 1
        is_beyond = True
    return is_beyond


@inlined
def _compute_step(
    free: FreeVariables,
    joints: Floats,
    damping: float,
    equations: Equations,
    order: Indices,
    step: Floats,
) -> float:
    """Fill in the step (F,) of the damped problem between the limits.

    Return its largest part, before it is shortened to `MAX_STEP`.
    """
    count = step.shape[0]
    right = np.empty(count)
    fixed = np.empty(count, dtype=np.int64)
    for i in range(count):
        step[i] = 0.0
    _fix_joints_at_limits(free, joints, equations.gradient, fixed)
    # Each pass fixes at least one joint more, so F passes are enough.
    for _ in range(count):
        number = _order_free(fixed, order)
        _solve_damped(equations, damping, fixed, order, number, right, step)
        if not _stop_at_limits(free, joints, order, number, fixed, step):
            break
    largest = 0.0
    for i in range(count):
        largest = max(largest, abs(step[i]))
    # Linearization holds for small rotations only; the direction stays.
    if largest > MAX_STEP:
        for i in range(count):
            step[i] *= MAX_STEP / largest
    return largest


@inlined
def _move(free: FreeVariables, state: State, step: Floats, out: State) -> None:
    """Fill in the joints and the root's pose after a step."""
    _copy_state(state, out)
    for i in range(step.shape[0]):
        j = free.variables[i] - 6
        if j >= 0 and step[i] != 0.0:
            value = state.joints[j] + step[i]
            # Rounding must not carry a joint beyond its limit.
            out.joints[j] = min(max(value, free.lower[i]), free.upper[i])
    # The root's six variables are free together or not at all.
    if free.variables.shape[0] and free.variables[0] == 0:
        _move_root(state.root, step, out.root)


@part_of_kernel
def _move_root(pose: Floats, step: Floats, out: Floats) -> None:
    """Fill in the root's pose after the translation and rotation of a step."""
    put(plus(pose, step), out)
    # The quaternion (cos α/2, sin α/2 · axis) of the rotation vector, times the pose's.
    angle = norm(step[3:])
    # sin(½α)/α·φ; for tiny angles ½·φ.
    if angle > 1e-9:
        scale = 0.5 * (np.sin(0.5 * angle) / (0.5 * angle))
    else:
        scale = 0.5
    w = np.cos(0.5 * angle)
    x, y, z = times(step[3:], scale)
    pw = pose[3]
    px = pose[4]
    py = pose[5]
    pz = pose[6]
    out[3] = w * pw - x * px - y * py - z * pz
    out[4] = w * px + x * pw + y * pz - z * py
    out[5] = w * py - x * pz + y * pw + z * px
    out[6] = w * pz + x * py - y * px + z * pw


@inlined
def _copy_state(state: State, out: State) -> None:
    for j in range(state.joints.shape[0]):
        out.joints[j] = state.joints[j]
    for k in range(7):
        out.root[k] = state.root[k]


@inlined
def _copy_errors(errors: Floats, out: Floats) -> None:
    """Copy errors; as a loop, because `out[:] = errors` takes seconds to compile."""
    for n in range(errors.shape[0]):
        out[n, 0] = errors[n, 0]
        out[n, 1] = errors[n, 1]


@part_of_kernel
def _begin(free: FreeVariables, frames: Frames, t: int, memory: Memory) -> None:
    """Fill the trial state with where frame `t` begins, and forget multipliers."""
    joints = memory.trial.joints
    has_start = t < frames.starts.shape[0]
    for j in range(joints.shape[0]):
        # Frames with starts of their own begin there, others where the frame before
        # ended.
        if has_start:
            joints[j] = frames.starts[t, j]
        else:
            joints[j] = memory.current.joints[j]
        number = free.numbers[6 + j]
        if number >= 0:
            joints[j] = min(max(joints[j], free.lower[number]), free.upper[number])
    # A free root goes on from the frame before, too.
    if has_start or free.numbers[0] < 0:
        unit_pose(frames.roots[t], memory.trial.root)
    for row in range(memory.multipliers.shape[0]):
        memory.multipliers[row] = 0.0


@part_of_kernel
def _compute_merit(
    soft: float, kinds: RowKinds, residual: Floats, multipliers: Floats
) -> float:
    """Return |W·r|²/2 of soft tasks, with the penalties of hard ones."""
    merit = 0.5 * soft
    for row in range(residual.shape[0]):
        if kinds.is_hard[row]:
            merit += _penalty(residual[row], multipliers[row] / HARD, kinds.signs[row])
    return merit


@part_of_kernel
def _update_multipliers(
    merit: float, kinds: RowKinds, residual: Floats, multipliers: Floats
) -> float:
    """Let multipliers grow by ρ·c, and return the merit with the new ones."""
    for row in range(residual.shape[0]):
        if kinds.is_hard[row]:
            # The term with the old multiplier is exchanged for that with the new one.
            sign = kinds.signs[row]
            scaled = multipliers[row] / HARD
            merit -= _penalty(residual[row], scaled, sign)
            scaled += residual[row]
            if sign:
                scaled = max(scaled, 0.0)
            merit += _penalty(residual[row], scaled, sign)
            multipliers[row] = HARD * scaled
    return merit


@part_of_kernel
def _descend(
    problem: ReducedProblem,
    steps: int,
    frames: Frames,
    results: Results,
    t: int,
    memory: Memory,
    share: float,
) -> float:
    """Solve frame `t`, from the trial state; return the last share that is λ."""
    free = problem.free
    goals = frames.goals[t]
    rest = frames.rests[min(t, frames.rests.shape[0] - 1)]
    kinds = memory.row_kinds
    current = memory.current
    multipliers = memory.multipliers
    has_posture = False
    # With a posture, tasks that are met are not the end: joints still move to their
    # rest values.
    for i in range(free.weights.shape[0]):
        has_posture = has_posture or free.weights[i] > 0.0
    cost = Cost(np.inf, 0.0, np.inf)
    merit = np.inf
    longest = np.inf
    stalls = 0
    taken = 0
    side = 0  # which of the two residuals are those of the current state
    # A factor of λ for this frame alone, raised where rounding rejected a step: the
    # share that the next frame begins with must not depend on rounding.
    more = 1.0
    for attempt in range(MAX_TRIED_STEPS * steps + 1):
        other = 1 - side
        # Residuals of a trial replace those of the state only when it is accepted.
        linear = Linear(memory.residuals[other], memory.jacobians[other])
        # The last step needs no derivatives after it.
        with_slopes = taken + (attempt > 0) < steps
        trial_cost = _evaluate(
            problem,
            goals,
            rest,
            memory.trial,
            memory.links,
            linear,
            memory.trial_errors,
            with_slopes,
        )
        trial_merit = _compute_merit(
            trial_cost.soft, kinds, linear.residual, multipliers
        )
        gain = merit - trial_merit
        size = abs(trial_merit)
        # A step is accepted when the merit falls, or all tasks are met.
        if attempt == 0 or trial_merit < merit or trial_cost.worst <= TOLERANCE:
            side = other
            if attempt > 0:
                taken += 1
                # Stalls count only where hard tasks are met: their multipliers may
                # still move.
                if gain <= MIN_GAIN * size and trial_cost.hard <= TOLERANCE:
                    stalls = stalls + 1
                else:
                    stalls = 0
                # Accepted: λ falls, and convergence becomes quadratic.
                if gain > MIN_RELATIVE_GAIN * size:
                    share = max(0.2 * share * more, MIN_SHARE)
                    more = 1.0
            cost = trial_cost
            merit = trial_merit
            _copy_state(memory.trial, current)
            _copy_errors(memory.trial_errors, results.errors[t])
            is_met = cost.worst <= TOLERANCE and not has_posture
            if taken == steps or stalls >= MAX_STALLS or is_met:
                break
            # Far from the solution, multipliers would grow by errors of the
            # linearization.
            if longest <= MAX_STEP_OF_UPDATES:
                merit = _update_multipliers(merit, kinds, linear.residual, multipliers)
            _set_up_equations(
                free,
                rest,
                current.joints,
                kinds.signs,
                multipliers,
                linear,
                memory.equations,
            )
        # Rejected: the linearization does not hold that far, so λ grows.
        elif -gain > MIN_RELATIVE_GAIN * size:
            share *= 10.0
        else:
            more *= 10.0
        # λ is a share of the squared error: it vanishes as tasks are met.
        square = cost.soft + cost.hard * cost.hard
        damping = share * more * square + MIN_DAMPING
        longest = _compute_step(
            free, current.joints, damping, memory.equations, memory.order, memory.step
        )
        # `not >` also ends for NaN.
        if not longest > MIN_STEP:
            break
        _move(free, current, memory.step, memory.trial)
    results.costs[t] = cost.soft
    return share


@part_of_kernel
def _find_row_kinds(tasks: Tasks) -> RowKinds:
    """Return the kinds of the residuals that have weights."""
    count = 0
    for n in range(tasks.kinds.shape[0]):
        for m in range(6):
            count += tasks.weights[n, m] > 0.0
    kinds = RowKinds(np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64))
    row = 0
    for n in range(tasks.kinds.shape[0]):
        for m in range(6):
            if tasks.weights[n, m] > 0.0:
                kinds.is_hard[row] = tasks.is_hard[n, m]
                kinds.signs[row] = tasks.signs[n]
                row += 1
    return kinds


@part_of_kernel
def _allocate(problem: ReducedProblem, joints: int) -> Memory:
    """Return arrays of the sizes that the problem needs."""
    links = problem.chain.parents.shape[0]
    count = problem.free.variables.shape[0]
    kinds = _find_row_kinds(problem.tasks)
    rows = kinds.signs.shape[0]
    return Memory(
        kinds,
        LinkFrames(
            np.empty((links + 1, 3, 3)), np.empty((links + 1, 3)), np.empty((links, 3))
        ),
        np.zeros((2, rows)),
        np.empty((2, rows, count)),
        Equations(np.empty((count, count)), np.empty(count), np.empty((count, count))),
        np.empty(count, dtype=np.int64),
        np.empty(count),
        np.zeros(rows),
        State(np.empty(joints), np.empty(7)),
        State(np.empty(joints), np.empty(7)),
        np.empty((problem.tasks.kinds.shape[0], 2)),
    )


@kernel
def _solve(
    problem: ReducedProblem, steps: int, frames: Frames, results: Results
) -> None:
    """Solve frame after frame."""
    memory = _allocate(problem, results.joints.shape[1])
    current = memory.current
    share = DAMPING
    for t in range(results.joints.shape[0]):
        _begin(problem.free, frames, t, memory)
        # The share is kept only along frames that follow each other.
        if t < frames.starts.shape[0]:
            share = DAMPING
        share = _descend(problem, steps, frames, results, t, memory, share)
        for j in range(current.joints.shape[0]):
            results.joints[t, j] = current.joints[j]
        unit_pose(current.root, results.roots[t])
        # The next frame begins with this root.
        for k in range(7):
            memory.trial.root[k] = current.root[k]
