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

Kinds of tasks, with points P on link a and Q on link b (−1: the world), and the goal g
(7,) of each frame; residuals in world axes:

    POSE (6)       P − g, and the rotation vector from the goal's orientation to the link's
    CENTER (3)     centre of mass − g
    LOOK (3)       the rotation vector from the direction of g from P to an axis of link a
    DISTANCE (1)   |P − Q| − g₃, with Q = (g₀, g₁, g₂) where b is −1; P and Q are the nearest points of the segments along the direction
                   (in link a) and (g₄, g₅, g₆) (in link b)
    POINTS (1)     d · (Q − P), d a direction in link a           an equation of an extra joint, as in `loop_closing`
    AXES (1)       d · a₂, a₂ an axis in link b                   likewise
    PLANE (1)      (g₀, g₁, g₂) · P − g₃
    CENTER_PLANE (1)   likewise, of the centre of mass
"""

from typing import TypeAlias

import numpy as np

from bodymotion.geometry.arrays import Floats, Indices
from bodymotion.kernels.compiling import in_slices, inlined, kernel
from bodymotion.kernels.kinematics import rotation, unit_pose
from bodymotion.kernels.loop_closing import Chain, place_links
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

POSE, CENTER, LOOK, DISTANCE, POINTS, AXES, PLANE, CENTER_PLANE = range(8)
Tasks: TypeAlias = tuple[Indices, Indices, Floats, Floats, Floats, Indices, Indices]
"""Kinds (K,), links (K, 2), points (K, 2, 3), directions (K, 3), weights (K, 6) of the residuals, whether these are hard (K, 6); and (K,) 0
for an equation, 1 for residuals that are at most 0, −1 for those that are at least 0."""
Masses: TypeAlias = tuple[
    Floats, Floats
]  # The links' shares (L,) of the mass, and their centres (L, 3).
Space: TypeAlias = tuple[Indices, Floats, Floats, Floats]
"""Of the variables (6 + J).

Which may move, limits, and the weights with which joints are held at their rest values.
"""
Free: TypeAlias = tuple[Indices, Indices, Floats, Floats, Floats]
"""The F variables that may move, the place (6 + J) among them of each variable or −1, their limits and weights (F,) as in `Space`."""
# A chain of the links that matter; the root's pose replaces its offset.
IkProblem: TypeAlias = tuple[Chain, Masses, Tasks, Free]
Pose: TypeAlias = tuple[Floats, Floats]  # Joints (J,) and the pose (7,) of the root.
Linear: TypeAlias = tuple[
    Floats, Floats
]  # Weighted residuals (R,) and their derivatives (R, F).
Work: TypeAlias = tuple[Floats, Floats, Floats]
"""Rotations (L + 1, 3, 3) and positions (L + 1, 3) of the links in the world, and of the world itself.

Joint axes (L, 3).
"""
System: TypeAlias = tuple[Floats, Floats, Floats]
"""H = AᵀW²A, g = AᵀW²r, and the factor of H + λ of the joints that are not at limits.
"""

TOLERANCE = 1e-10  # [m, rad] A task with a smaller error is done.
MIN_STEP = 1e-11  # [rad or m] A smaller step ends the descent.
MAX_STEP = 0.5  # [rad or m] No variable moves further in one step.
# The descent ends when MAX_STALLS steps in a row gain less than this share.
MIN_GAIN = 1e-12
MAX_STALLS = 3
MAX_TRIED_STEPS = 4  # Steps that are tried at most, for each one that may be taken.
HARD = 30.0
MAX_STEP_OF_UPDATES = 0.1
"""The weight of hard tasks.

And [rad or m] the largest step after which their multipliers are updated.
"""
ONE_THREAD_FRAMES = (
    64  # Number of frames up to which one thread is faster than several.
)
DAMPING = 1e-3
MIN_SHARE = 1e-9
MIN_DAMPING = 1e-11
MIN_RELATIVE_GAIN = 1e-9
"""The first and the least share of the squared error that is λ, the least λ.

And the least relative gain: below, rounding decides.
"""


def solve(
    problem: tuple[Chain, Masses, Tasks, Space],
    goals: Floats,
    rest: Floats,
    starts: Floats,
    roots: Floats,
    steps: int,
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return joints (T, J), root poses (T, 7), the errors (T, K, 2) of tasks [m, rad], and the sum (T,) of their weighted squares.

    `goals` (T, K, 7), `roots` (T, 7). `rest` (1 or T, J). With one row of joints in
    `starts` (1 or T, J) each frame starts where the one
    before ended, else each with its own.
    """
    (
        (parents, kinds, columns, orientations, positions, axes, units),
        masses,
        tasks,
        space,
    ) = problem
    # Copies of one layout: for another the kernel would be compiled once more.
    goals, rest, starts, roots = (
        np.array(rows, order="C") for rows in (goals, rest, starts, roots)
    )
    count = len(goals)
    q = np.empty((count, starts.shape[1]))
    root = np.empty((count, 7))
    errors = np.empty((count, len(tasks[0]), 2))
    cost = np.empty(count)
    variables = np.flatnonzero(space[0])
    places = np.where(space[0], np.cumsum(space[0]) - 1, -1)
    free = (
        variables,
        places,
        space[1][variables],
        space[2][variables],
        space[3][variables],
    )
    # Links that carry none of the tasks' do not matter; the last row is the world.
    needed = np.isin(np.arange(len(parents) + 1), [0, len(parents)])
    needed[:] |= np.isin(tasks[0], (CENTER, CENTER_PLANE)).any()
    needed[tasks[1]] = True
    for link in range(len(parents) - 1, 0, -1):
        needed[parents[link]] |= needed[link]
    number = np.cumsum(needed) - 1
    used = np.flatnonzero(needed[:-1])
    number[-1] = -1
    parents = number[parents[used]]
    kinds = kinds[used]
    columns = columns[used]
    axes = axes[used]
    masses = (masses[0][used], masses[1][used])
    tasks = (tasks[0], number[tasks[1]], *tasks[2:])

    def work(begin: int, end: int) -> None:
        # The root's pose is written into the first offset.
        chain = (
            parents,
            kinds,
            columns,
            orientations[used],
            positions[used],
            axes,
            units,
        )
        rows = (goals, rest, starts, roots, q, root, errors, cost)
        _solve(
            (chain, masses, tasks, free),
            steps,
            *(one[begin:end] if len(one) > 1 else one for one in rows),
        )

    # Frames that start where the one before ended are not divided.
    in_slices(
        count, work, one_thread=ONE_THREAD_FRAMES if len(starts) == count else count
    )
    return q, root, errors, cost


@inlined
def _rotation_vector(
    orientation: Floats, goal: Floats, d: Floats, out: Floats
) -> float:
    """Fill `out` (3,) with the rotation vector from `goal` (3, 3) to `orientation` (3, 3).

    Return its angle. `d` (3, 3) is overwritten.
    """
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
        out[0], out[1], out[2] = d[2, 1] - d[1, 2], d[0, 2] - d[2, 0], d[1, 0] - d[0, 1]
    else:
        w = d[k, j] - d[j, k]
        out[i] = 1.0 + d[i, i] - d[j, j] - d[k, k]
        out[j] = d[j, i] + d[i, j]
        out[k] = d[k, i] + d[i, k]
    sine = norm(out)
    angle = 2.0 * np.arctan2(sine, abs(w))
    if sine == 0.0:
        scale = 0.0
    else:
        scale = (angle if w >= 0.0 else -angle) / sine
    for k in range(3):
        out[k] *= scale
    return float(angle)


@inlined
def _nearest(p: Triple, q: Triple, u: Triple, v: Triple) -> tuple[Triple, Triple]:
    """Return the points of two segments, from p along u and from q along v, that are nearest to each other."""
    w = plus(p, q, -1.0)
    uu = dot(u, u)
    uv = dot(u, v)
    vv = dot(v, v)
    uw = dot(u, w)
    vw = dot(v, w)
    square = uu * vv - uv * uv  # 0 for parallel segments
    if square > 1e-9 * uu * vv:
        s = min(max((uv * vw - vv * uw) / square, 0.0), 1.0)
    else:
        s = 0.0
    if vv > 0.0:
        t = min(max((uv * s + vw) / vv, 0.0), 1.0)
    else:
        t = 0.0
    if uu > 0.0:
        s = min(max((uv * t - uw) / uu, 0.0), 1.0)
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
        one, two = pairs[n]
        for t in range(begins.shape[1]):
            p = times(begins[one, t])
            q = times(begins[two, t])
            u = times(ways[one, t])
            v = times(ways[two, t])
            apart = plus(plus(plus(p, q, -1.0), u, 0.5), v, -0.5)
            out[n, t] = np.inf
            if dot(apart, apart) < far[n] * far[n]:
                p, q = _nearest(p, q, u, v)
                out[n, t] = norm(plus(p, q, -1.0))


@inlined
def _add(
    chain: Chain,
    link: int,
    point: Triple,
    work: Work,
    by: Floats,
    places: Indices,
    rows: Indices,
    jac: Floats,
) -> None:
    """Add to the rows of `jac` the products of `by` (6, 6) with v and ω of a point of a link, for each variable.

    With s a joint's axis and r from its origin to the point, v = s × r and ω = s, or v
    = s and ω = 0 where it slides.
    """
    parents, kinds, columns = chain[:3]
    _, positions, axes = work
    i = link
    while i >= 0:
        if kinds[i]:
            place = places[6 + columns[i]]
        else:
            place = -1
        arm = plus(point, positions[i], -1.0)
        axis = times(axes[i])
        if place >= 0:
            v, w = (
                (axis, (0.0, 0.0, 0.0)) if kinds[i] == 2 else (cross(axis, arm), axis)
            )
            for m in range(6):
                if rows[m] >= 0:
                    jac[rows[m], place] += dot(by[m], v) + dot(by[m, 3:], w)
        elif i == 0 and places[0] >= 0:
            for m in range(6):
                if rows[m] >= 0:
                    _add_root(by[m], arm, jac[rows[m]])
                    for k in range(3, 6):
                        jac[rows[m], k] += by[m, k]
        i = parents[i]


@inlined
def _add_root(along: Floats, arm: Triple, slopes: Floats) -> None:
    """Add the derivatives of a point's way along a vector, at `arm` from the root's origin, by the root's pose."""
    turn = cross(arm, along)
    for k in range(3):
        slopes[k] += along[k]
        slopes[3 + k] += turn[k]


@inlined
def _add_center(
    chain: Chain,
    masses: Masses,
    work: Work,
    by: Floats,
    places: Indices,
    rows: Indices,
    jac: Floats,
) -> Triple:
    """Add the products of `by` (6, 6) with the derivatives of the centre of mass, and return it.

    They follow from what each joint carries: Δc = s·axis × (m/s − o), s its share of
    the mass.
    """
    parents, kinds, columns = chain[:3]
    shares, centers = masses
    orientations, positions, axes = work
    share = shares.copy()
    moment = np.empty(centers.shape)
    arm = (0.0, 0.0, 0.0)
    for i in range(len(shares)):
        put(
            times(plus(positions[i], product(orientations[i], centers[i])), shares[i]),
            moment[i],
        )
    for i in range(len(shares) - 1, -1, -1):
        arm = plus(moment[i], positions[i], -share[i])
        if kinds[i] == 2:
            change = times(axes[i], share[i])
        else:
            change = cross(axes[i], arm)
        if i > 0:
            share[parents[i]] += share[i]
            put(plus(moment[parents[i]], moment[i]), moment[parents[i]])
        if kinds[i]:
            place = places[6 + columns[i]]
        else:
            place = -1
        for m in range(6):
            if rows[m] >= 0 and i == 0 and places[0] >= 0:
                _add_root(by[m], arm, jac[rows[m]])
            elif rows[m] >= 0 and place >= 0:
                jac[rows[m], place] += dot(by[m], change)
    return times(moment[0])


@inlined
def _evaluate(
    problem: IkProblem,
    goals: Floats,
    rest: Floats,
    at: Pose,
    work: Work,
    system: Linear,
    errors: Floats,
    slopes: bool,
) -> tuple[float, float, float]:
    """Compute weighted residuals; return |W·r|² of soft tasks, Σ|r| of hard ones, and the largest error [m, rad].

    With `slopes` their derivatives are computed, too.
    """
    (
        chain,
        masses,
        (kinds, links, points, directions, weights, hard, signs),
        (variables, places, _, _, pulls),
    ) = problem
    (x, pose), (orientations, positions, axes), (residual, jac) = at, work, system
    rotation(pose, chain[3][0])
    for k in range(3):
        chain[4][0, k] = pose[k]
    place_links(chain, x, orientations, positions, axes)
    if slopes:
        jac[:] = 0.0
    r = np.zeros(6)
    rows = np.empty(6, dtype=np.int64)
    by = np.empty((6, 6))
    back = np.empty((6, 6))
    goal = np.empty((3, 3))
    soft = 0.0
    apart = 0.0
    worst = 0.0
    row = 0
    for n in range(kinds.shape[0]):
        kind = kinds[n]
        a = links[n, 0]
        b = links[n, 1]
        first = row
        errors[n, 0] = 0.0
        errors[n, 1] = 0.0
        if (
            kind == DISTANCE and signs[n] < 0 and goals[n, 3] <= 0.0
        ):  # any distance is at least that
            residual[row] = 0.0
            row += 1
            continue
        for m in range(6):
            r[m] = 0.0
            rows[m] = -1
            if weights[n, m] > 0.0:
                rows[m] = row
                row += 1
                for k in range(6):
                    by[m, k] = 0.0
                    back[m, k] = 0.0
        if a >= 0:
            p = plus(positions[a], product(orientations[a], points[n, 0]))
        else:
            p = times(goals[n])
        if b >= 0:
            q = plus(positions[b], product(orientations[b], points[n, 1]))
        else:
            q = times(goals[n])
        axis = product(orientations[a], directions[n])
        if kind == POSE:
            if rows[3] >= 0:
                rotation(goals[n], goal)
                _rotation_vector(orientations[a], goal, back, r[3:])
            for m in range(6):
                by[m, m] = 1.0
            put(plus(p, goals[n], -1.0), r)
        elif kind == CENTER:
            for k in range(3):
                by[k, k] = 1.0
            put(
                plus(
                    _add_center(chain, masses, work, by, places, rows, jac),
                    goals[n],
                    -1.0,
                ),
                r,
            )
        elif kind in (PLANE, CENTER_PLANE):
            put(goals[n], by[0])
            if kind == CENTER_PLANE:
                p = _add_center(chain, masses, work, by, places, rows, jac)
            r[0] = dot(goals[n], p) - goals[n, 3]
        elif kind == LOOK:
            way = plus(goals[n], p, -1.0)
            distance = max(norm(way), 1e-9)
            way = times(way, 1.0 / distance)
            turn = cross(way, axis)
            cosine = dot(way, axis)
            sine = norm(turn)
            angle = np.arctan2(sine, cosine)
            if sine < 1e-9 and cosine < 0.0:  # straight away from it: any normal
                turn = cross(
                    way, (0.0, 1.0, 0.0) if abs(way[0]) > 0.5 else (1.0, 0.0, 0.0)
                )
                sine = norm(turn)
            put(times(turn, angle / sine if sine > 0.0 else 0.0), r)
            for k in range(3):
                after = (k + 1) % 3
                last = (k + 2) % 3
                by[k, last] = way[after] / distance
                by[k, after] = -way[last] / distance
                put(times(axis, -axis[k]), by[k, 3:])
                by[k, 3 + k] += 1.0
        elif kind == DISTANCE:
            p, q = _nearest(p, q, axis, product(orientations[b], goals[n, 4:]))
            way = plus(p, q, -1.0)
            distance = max(norm(way), 1e-9)
            r[0] = distance - goals[n, 3]
            put(times(way, 1.0 / distance), by[0])
            put(times(way, -1.0 / distance), back[0])
        elif kind == POINTS:
            r[0] = dot(axis, plus(q, p, -1.0))
            put(times(axis, -1.0), by[0])
            put(axis, back[0])
            p = q
        else:
            q = plus(q, positions[b], -1.0)
            r[0], turn = dot(axis, q), cross(q, axis)
            put(times(turn, -1.0), by[0, 3:])
            put(turn, back[0, 3:])
        idle = signs[n] != 0 and not hard[n, 0] and signs[n] * r[0] < 0.0
        if slopes and not idle and kind not in (CENTER, CENTER_PLANE):
            _add(chain, a, p, work, by, places, rows, jac)
            if b >= 0:
                _add(chain, b, q, work, back, places, rows, jac)
        of_angle = 1 if kind in (LOOK, AXES) else 0
        for m in range(6):
            if rows[m] < 0:
                continue
            if hard[n, m]:
                weight = HARD
            else:
                weight = weights[n, m]
            if signs[n]:
                weight *= signs[n]
            residual[rows[m]] = weight * r[m]
            if slopes:
                for j in range(jac.shape[1]):
                    jac[rows[m], j] *= weight
            if signs[n] and residual[rows[m]] < 0.0:
                r[m] = 0.0
            elif hard[n, m]:
                apart += abs(r[m])
            else:
                soft += residual[rows[m]] ** 2
            errors[n, 1 if m >= 3 else of_angle] += r[m] ** 2
        for k in range(2):
            errors[n, k] = np.sqrt(errors[n, k])
            if row > first:
                worst = max(worst, errors[n, k])
    for i in range(variables.shape[0]):
        j = variables[i] - 6
        if j >= 0:
            soft += (pulls[i] * (x[j] - rest[j])) ** 2
    return soft, apart, worst


@inlined
def _normal_equations(
    free: Free,
    rest: Floats,
    x: Floats,
    bounded: Indices,
    lagrange: Floats,
    linear: Linear,
    system: System,
) -> None:
    """Compute H = AᵀW²A and g = AᵀW²r, with the multipliers of hard tasks and the joints' rest values."""
    (residual, jac), (h, g, _) = linear, system
    count = g.shape[0]
    used = np.empty(count, dtype=np.int64)
    slopes = np.empty(count)
    for i in range(count):
        g[i] = 0.0
        for j in range(count):
            h[i, j] = 0.0
    for row in range(residual.shape[0]):
        number = 0
        right = residual[row] + lagrange[row] / HARD
        if bounded[row] and right <= 0.0:
            continue
        for j in range(count):
            if jac[row, j] != 0.0:
                used[number] = j
                slopes[number] = jac[row, j]
                number += 1
        for p in range(number):
            i = used[p]
            g[i] += slopes[p] * right
            for s in range(p + 1):
                h[i, used[s]] += slopes[p] * slopes[s]
    for i in range(count):
        k = free[0][i] - 6
        if k >= 0:
            pull = free[4][i] ** 2
            g[i] += pull * (x[k] - rest[k])
            h[i, i] += pull
        for j in range(i):
            h[j, i] = h[i, j]


@inlined
def _penalty(residual: float, multiplier: float, bounded: int) -> float:
    """Return what a hard residual adds to the merit, with its multiplier in units of residuals."""
    if bounded:
        residual = max(residual, -multiplier)
    return residual * (multiplier + 0.5 * residual)


@inlined
def _step(
    free: Free, x: Floats, damping: float, system: System, index: Indices, step: Floats
) -> float:
    """Fill in the step (F,) of the damped problem between the limits.

    Return its largest part.
    """
    variables, _, lower, upper, _ = free
    h, g, factor = system
    count = g.shape[0]
    right = np.empty(count)
    fixed = np.empty(count, dtype=np.int64)
    for i in range(count):
        step[i] = 0.0
        j = variables[i] - 6
        fixed[i] = j >= 0 and (
            (x[j] <= lower[i] and g[i] > 0.0) or (x[j] >= upper[i] and g[i] < 0.0)
        )
    for _ in range(count):
        number = 0
        for i in range(
            count - 1, -1, -1
        ):  # from the ends of limbs to the root: what one limb has, another one has not
            if not fixed[i]:
                index[number] = i
                number += 1
        for p in range(number):
            i = index[p]
            right[p] = -g[i]
            for j in range(count):
                if fixed[j] and step[j] != 0.0:
                    right[p] -= h[i, j] * step[j]
            # Row p of the upper factor U, H + λ = Uᵀ·U, row by row: its inner loop runs
            # along rows.
            row = factor[p]
            for s in range(p, number):
                row[s] = h[i, index[s]]
            row[p] += damping
        for p in range(number):
            row = factor[p]
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
        for p in range(number - 1, -1, -1):
            row = factor[p]
            for k in range(p + 1, number):
                right[p] -= row[k] * right[k]
            right[p] /= row[p]
            step[index[p]] = right[p]
        beyond = False
        for p in range(number):
            i = index[p]
            j = variables[i] - 6
            if j >= 0:
                at = x[j] + step[i]
                if at < lower[i] or at > upper[i]:
                    step[i] = (lower[i] if at < lower[i] else upper[i]) - x[j]
                    fixed[i] = 1
                    beyond = True
        if not beyond:
            break
    farthest = 0.0
    for i in range(count):
        farthest = max(farthest, abs(step[i]))
    if farthest > MAX_STEP:
        for i in range(count):
            step[i] *= MAX_STEP / farthest
    return farthest


@inlined
def _move(free: Free, at: Pose, step: Floats, out: Pose) -> None:
    """Fill in the joints and the root's pose after a step."""
    (x, pose), (trial, trial_pose), (variables, _, lower, upper, _) = at, out, free
    for j in range(x.shape[0]):
        trial[j] = x[j]
    for k in range(7):
        trial_pose[k] = pose[k]
    for i in range(step.shape[0]):
        j = variables[i] - 6
        if j >= 0 and step[i] != 0.0:
            trial[j] = min(max(x[j] + step[i], lower[i]), upper[i])
    if variables.shape[0] and variables[0] == 0:
        angle = norm(step[3:])
        s = 0.5 * (np.sin(0.5 * angle) / (0.5 * angle) if angle > 1e-9 else 1.0)
        w, (a, b, c) = np.cos(0.5 * angle), times(step[3:], s)
        pw = pose[3]
        px = pose[4]
        py = pose[5]
        pz = pose[6]
        put(plus(pose, step), trial_pose)
        trial_pose[3] = w * pw - a * px - b * py - c * pz
        trial_pose[4] = w * px + a * pw + b * pz - c * py
        trial_pose[5] = w * py - a * pz + b * pw + c * px
        trial_pose[6] = w * pz + a * py - b * px + c * pw


@kernel
def _solve(
    problem: IkProblem,
    steps: int,
    goals: Floats,
    rests: Floats,
    starts: Floats,
    roots: Floats,
    q: Floats,
    root: Floats,
    errors: Floats,
    cost: Floats,
) -> None:
    chain, _, (kinds, _, _, _, weights, hard, signs), free = problem
    links = chain[0].shape[0]
    joints = q.shape[1]
    is_hard = np.zeros(weights.size, dtype=np.int64)
    bounded = np.zeros(weights.size, dtype=np.int64)
    rows = 0
    for n in range(kinds.shape[0]):
        for m in range(6):
            if weights[n, m] > 0.0:
                is_hard[rows], bounded[rows] = hard[n, m], signs[n]
                rows += 1
    count = free[0].shape[0]
    work = (np.empty((links + 1, 3, 3)), np.empty((links + 1, 3)), np.empty((links, 3)))
    system = (np.empty((count, count)), np.empty(count), np.empty((count, count)))
    # Residuals and derivatives where x is, and where it is tried.
    residuals = np.zeros((2, rows))
    jacobians = np.empty((2, rows, count))
    at = 0
    pulled = False
    for i in range(count):
        pulled = pulled or free[4][i] > 0.0
    index = np.empty(count, dtype=np.int64)
    step = np.empty(count)
    x, pose = here = (np.empty(joints), np.empty(7))
    trial, trial_pose = there = (np.empty(joints), np.empty(7))
    lagrange = np.zeros(rows)
    tried = np.empty((kinds.shape[0], 2))
    for t in range(q.shape[0]):
        rest = rests[min(t, rests.shape[0] - 1)]
        for j in range(joints):
            trial[j] = starts[t, j] if t < starts.shape[0] else x[j]
            place = free[1][6 + j]
            if place >= 0:
                trial[j] = min(max(trial[j], free[2][place]), free[3][place])
        if t < starts.shape[0] or free[1][0] < 0:
            unit_pose(roots[t], trial_pose)
        for row in range(rows):
            lagrange[row] = 0.0
        soft = np.inf
        apart = 0.0
        worst = np.inf
        merit = np.inf
        farthest = np.inf
        # `taken` counts accepted steps. `more` is a factor of λ for this frame alone, raised where rounding rejected a step: the share that
        # the next frame begins with must not depend on rounding.
        stalls = 0
        taken = 0
        more = 1.0
        if t < starts.shape[0]:
            share = DAMPING
        for number in range(MAX_TRIED_STEPS * steps + 1):
            other = 1 - at
            linear = (residuals[other], jacobians[other])
            slopes = taken + (number > 0) < steps
            now, opened, error = _evaluate(
                problem, goals[t], rest, there, work, linear, tried, slopes
            )
            value = 0.5 * now
            for row in range(rows):
                if is_hard[row]:
                    value += _penalty(
                        residuals[other, row], lagrange[row] / HARD, bounded[row]
                    )
            if number == 0 or value < merit or error <= TOLERANCE:
                at = other
                if number > 0:
                    taken += 1
                    if merit - value <= MIN_GAIN * abs(value) and opened <= TOLERANCE:
                        stalls = stalls + 1
                    else:
                        stalls = 0
                    if merit - value > MIN_RELATIVE_GAIN * abs(value):
                        share = max(0.2 * share * more, MIN_SHARE)
                        more = 1.0
                soft = now
                apart = opened
                worst = error
                merit = value
                for j in range(joints):
                    x[j] = trial[j]
                for k in range(7):
                    pose[k] = trial_pose[k]
                for n in range(kinds.shape[0]):
                    for k in range(2):
                        errors[t, n, k] = tried[n, k]
                if (
                    taken == steps
                    or stalls >= MAX_STALLS
                    or (worst <= TOLERANCE and not pulled)
                ):
                    break
                if farthest <= MAX_STEP_OF_UPDATES:
                    for row in range(rows):
                        if is_hard[row]:
                            share_of = lagrange[row] / HARD
                            merit -= _penalty(
                                residuals[at, row], share_of, bounded[row]
                            )
                            share_of += residuals[at, row]
                            if bounded[row]:
                                share_of = max(share_of, 0.0)
                            merit += _penalty(
                                residuals[at, row], share_of, bounded[row]
                            )
                            lagrange[row] = HARD * share_of
                _normal_equations(free, rest, x, bounded, lagrange, linear, system)
            elif value - merit > MIN_RELATIVE_GAIN * abs(value):
                share *= 10.0
            else:
                more *= 10.0
            farthest = _step(
                free,
                x,
                share * more * (soft + apart * apart) + MIN_DAMPING,
                system,
                index,
                step,
            )
            if not farthest > MIN_STEP:
                break
            _move(free, here, step, there)
        for j in range(joints):
            q[t, j] = x[j]
        cost[t] = soft
        unit_pose(pose, root[t])
        for k in range(7):
            trial_pose[k] = pose[k]
