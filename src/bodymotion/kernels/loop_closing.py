"""Closing loops along a motion.

Dependent joints are computed from the driving joints, each frame from the one before.

From a closed pose the driving joints move in steps. For each step the dependent joints
are predicted along the tangent and corrected by Gauss-Newton steps, damped (Levenberg
and Marquardt) where an undamped one does not reduce the error. A step is accepted when
its corrections converge, when the first of them is small compared with the smallest
singular value of the equations (the theorem of Newton and Kantorovich: then there is
one solution nearby, on the same branch), and when no singular pose lies within it;
otherwise it is halved. A singular pose is passed in the smallest step, along the
direction in which the dependent joints moved before.

The equations say how far a mechanism is from closing. A mechanism is a tuple of arrays;
`bodymotion.model.closed_loops` makes it:

    parents, kinds, variables (n,)      of its n moving and fixed links: the number of the parent (−1: the common base), 0 none, 1 rotate,
                                        2 slide, and which of the v variables moves it
                                        (−1: none)
    turns (n, 3, 3), places (n, 3)      each link's pose in its parent at joint value 0
    axes (n, 3)                         of the joints, unit vectors in the link's frame
    units (v,)                          joint value = unit · variable: 1 for angles, the mechanism's size for lengths
    ends (m, 2)                         for each of the m equations its first and second link (−1: the common base)
    tips (m, 2, 3)                      points in these links; of an equation of axes, the second one is the second link's axis
    directions (m, 3)                   unit vectors in the first link's frame
    of_axes (m,)                        0: an equation of points, 1: of axes
    sides (m, n)                        1 where link j carries only the second link, −1 where only the first one, else 0
    size (1,)                           [m] distances are divided by it, so that all numbers have the magnitude of angles

An equation of points: d · (P₂ − P₁) / size = 0. An equation of axes: d · a₂ = 0. All in
the base's frame; d moves with the first link. Its derivative by the rotation of a joint
with axis ω through o is ± d · ω × (P₂ − o) / size or ± d · ω × a₂, by a translation ± d
· ω: + where the joint moves the second link, − where it moves the first one, in whose
frame d is.
"""

from typing import TypeAlias

import numpy as np

from bodymotion.geometry.arrays import Floats, Indices
from bodymotion.kernels.compiling import inlined, kernel
from bodymotion.kernels.vectors import cross, dot, multiply, plus, product, put, times

Work: TypeAlias = tuple[Floats, Floats, Floats, Floats, Floats, Floats, Floats, Floats]

CROSSED = 1
LOST = 2
"""Flags of a frame.

A singular pose was passed on the way to it; the corrections did not converge, so the
loops are not closed exactly.
"""
MAX_STEP = 0.3  # [rad] Largest change of a variable in one step.
MIN_STEP_SHARE = (
    2.0**-10
)  # The smallest step, as a share of the way from frame to frame.
SINGULAR_SHARE = 1e-3  # Below this share of the regular value, singular values are not used in predictions, but the direction before.
ZERO_SHARE = 1e-10  # Singular values below this share of the largest one count as 0.
NEWTON_KANTOROVICH = 0.25
# Corrections per step.
MAX_CORRECTIONS = 12
MAX_CORRECTIONS_WHEN_LOST = 240
MAX_SWEEPS = 40  # Of the Jacobi rotations of a singular value decomposition.

# A mechanism.
Chain: TypeAlias = tuple[Indices, Indices, Indices, Floats, Floats, Floats, Floats]
"""The first seven arrays: links, offsets and axes."""
Mechanism: TypeAlias = tuple[
    Indices,
    Indices,
    Indices,
    Floats,
    Floats,
    Floats,
    Floats,
    Indices,
    Floats,
    Floats,
    Indices,
    Indices,
    Floats,
]


@inlined
def length(values: Floats) -> float:
    """Return the Euclidean length of a vector."""
    square = 0.0
    for value in values:
        square += value * value
    return float(np.sqrt(square))


@inlined
def place_links(
    chain: Chain, x: Floats, turns: Floats, places: Floats, axes: Floats
) -> None:
    """Compute rotations (n + 1, 3, 3) and positions (n + 1, 3) in the base's frame, last those of the base, and joint axes (n, 3)."""
    parents, kinds, variables, offset_turns, offset_places, own_axes, units = chain
    at_zero = np.empty((3, 3))
    for a in range(3):
        places[-1, a] = 0.0
        for b in range(3):
            turns[-1, a, b] = 1.0 if a == b else 0.0
    for i in range(parents.shape[0]):
        up = parents[i]
        u = own_axes[i]
        multiply(turns[up], offset_turns[i], at_zero)
        place = plus(places[up], product(turns[up], offset_places[i]))
        axis = product(at_zero, u)
        if kinds[i]:
            value = units[variables[i]] * x[variables[i]]
        else:
            value = 0.0
        c, s = (np.cos(value), np.sin(value)) if kinds[i] == 1 else (1.0, 0.0)
        put(plus(place, axis, value if kinds[i] == 2 else 0.0), places[i])
        put(axis, axes[i])
        for a in range(3):
            # Rodrigues' rotation of a row r: c·r + (1 − c)·(r·u)·u + s·(r × u).
            row = at_zero[a]
            put(
                plus(plus(times(row, c), u, (1.0 - c) * axis[a]), cross(row, u), s),
                turns[i, a],
            )


@inlined
def constrain(
    mechanism: Mechanism,
    x: Floats,
    turns: Floats,
    places: Floats,
    axes: Floats,
    residual: Floats,
    jacobian: Floats,
) -> None:
    """Compute the equations' residual (m,) and its derivatives (m, v) at variables x (v,).

    The other arrays are as in `place_links`.
    """
    place_links(mechanism[:7], x, turns, places, axes)
    kinds = mechanism[1]
    variables = mechanism[2]
    ends, tips, directions, of_axes, sides, size = mechanism[7:]
    for k in range(ends.shape[0]):
        first = ends[k, 0]
        second = ends[k, 1]
        is_point, scale = (0.0, 1.0) if of_axes[k] else (1.0, 1.0 / size[0])
        d = product(turns[first], directions[k])
        tip = plus(product(turns[second], tips[k, 1]), places[second], is_point)
        start = plus(product(turns[first], tips[k, 0]), places[first])
        residual[k] = scale * dot(d, plus(tip, start, -is_point))
        for j in range(jacobian.shape[1]):
            jacobian[k, j] = 0.0
        for i in range(kinds.shape[0]):
            if kinds[i] == 0 or sides[k, i] == 0:
                continue
            slope = is_point * dot(d, axes[i])
            if kinds[i] == 1:
                slope = scale * dot(d, cross(axes[i], plus(tip, places[i], -is_point)))
            jacobian[k, variables[i]] += sides[k, i] * slope


def derivatives(mechanism: Mechanism, x: Floats) -> tuple[Floats, Floats]:
    """Return the equations' residual (m,) and their derivatives (m, v) at variables x (v,)."""
    residual = np.zeros(len(mechanism[7]))
    jacobian = np.zeros((len(residual), len(x)))
    _derivatives(mechanism, np.array(x), residual, jacobian)
    return residual, jacobian


def follow(
    mechanism: Mechanism,
    followers: Indices,
    rank: int,
    median: float,
    start: Floats,
    targets: Floats,
) -> tuple[Floats, Floats, Indices]:
    """Close loops over T frames.

    `followers`: which of the v variables are worked out; the others are as in `targets`
    (T, v). `rank`: how many of the followers'
    singular values are not 0 where nothing is singular; `median`: how large the
    smallest of them is there.
    `start` (v,): where to begin.

    Return the variables (T, v), the smallest of those singular values as parts of that
    size (T,), and marks (T,).
    """
    found = np.array(targets, order="C")
    smallest = np.ones(len(targets))
    marks = np.zeros(len(targets), dtype=np.int64)
    if len(followers) and len(targets):
        drivers = np.setdiff1d(np.arange(targets.shape[1]), followers).astype(np.int64)
        _follow(
            mechanism,
            followers,
            drivers,
            rank,
            median,
            np.array(start),
            np.array(found),
            found,
            smallest,
            marks,
        )
    return found, smallest, marks


@inlined
def _copy(values: Floats, out: Floats) -> None:
    """Copy a table; as a loop, because `out[:] = values` takes seconds to compile."""
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            out[i, j] = values[i, j]


@inlined
def _evaluate(
    mechanism: Mechanism, x: Floats, columns: Indices, work: Work, near: bool
) -> None:
    """Compute residual, derivatives, and the decomposition of those by the columns (transposed when there are more columns than rows).

    `near`: what was worked out last was for an x near this one.
    """
    turns, places, axes, residual, jacobian, w, v, s = work
    constrain(mechanism, x, turns, places, axes, residual, jacobian)
    transposed = columns.shape[0] > residual.shape[0]
    for k in range(residual.shape[0]):
        for j in range(columns.shape[0]):
            if transposed:
                w[j, k] = jacobian[k, columns[j]]
            else:
                w[k, j] = jacobian[k, columns[j]]
    decompose(w, v, s, near)


@kernel
def _derivatives(
    mechanism: Mechanism, x: Floats, residual: Floats, jacobian: Floats
) -> None:
    links = mechanism[0].shape[0]
    places = np.empty((links + 1, 3))
    constrain(
        mechanism,
        x,
        np.empty((links + 1, 3, 3)),
        places,
        np.empty((links, 3)),
        residual,
        jacobian,
    )


@inlined
def _correct(
    mechanism: Mechanism,
    followers: Indices,
    rank: int,
    x: Floats,
    work: Work,
    most: int,
) -> tuple[bool, float, float]:
    """Move the dependent joints until the loops are closed as far as possible.

    Return whether that came to an end, how long the first correction was, and the
    smallest singular value where it began. `work` is left as it is at the end.
    """
    _evaluate(mechanism, x, followers, work, False)
    residual = work[3]
    s = work[7]
    error = length(residual)
    step = np.empty(followers.shape[0])
    before = np.empty(followers.shape[0])
    if rank > 0:
        smallest = s[rank - 1]
    else:
        smallest = 1.0
    first = -1.0
    damping = 0.0
    for _ in range(most):
        if not np.isfinite(error):
            return False, np.inf, 0.0
        _solve(work, residual, damping, ZERO_SHARE * s[0], step)
        way = length(step)
        first = way if first < 0.0 else first
        if error < 1e-15 or way == 0.0:
            return True, first, smallest
        for j in range(followers.shape[0]):
            before[j] = x[followers[j]]
            x[followers[j]] -= step[j]
        _evaluate(mechanism, x, followers, work, True)
        after = length(residual)
        if damping == 0.0 and (way < 1e-11 or after < 1e-14):
            return True, first, smallest
        if after <= error * (1.0 + 1e-12):
            error = after
            if damping > 1e-6 * s[0]:
                damping = 0.1 * damping
            else:
                damping = 0.0
        else:
            for j in range(followers.shape[0]):
                x[followers[j]] = before[j]
            _evaluate(mechanism, x, followers, work, True)
            damping = max(10.0 * damping, 1e-3 * s[0])
    return False, first, smallest


@inlined
def _turned_over(before: Floats, now: Floats, columns: Indices, matrix: Floats) -> bool:
    """Return whether det(Bᵀ·N) of the derivatives before and now is negative.

    Then the equations were singular in between.
    """
    count = columns.shape[0]
    for i in range(count):
        for j in range(count):
            matrix[i, j] = 0.0
            for k in range(before.shape[0]):
                matrix[i, j] += before[k, columns[i]] * now[k, columns[j]]
    negative = False
    for i in range(count):
        best = i
        for j in range(i + 1, count):
            if abs(matrix[j, i]) > abs(matrix[best, i]):
                best = j
        if best != i:
            negative = not negative
            for j in range(count):
                matrix[i, j], matrix[best, j] = matrix[best, j], matrix[i, j]
        if matrix[i, i] == 0.0:
            return False
        negative = negative != (matrix[i, i] < 0.0)
        for j in range(i + 1, count):
            factor = matrix[j, i] / matrix[i, i]
            for k in range(i, count):
                matrix[j, k] -= factor * matrix[i, k]
    return negative


@inlined
def _predict(
    work: Work,
    drivers: Indices,
    way: Floats,
    part: float,
    earlier: Floats,
    rank: int,
    near: float,
    moved: Floats,
    out: Floats,
) -> None:
    """Predict the movement of the dependent joints when the driving joints move by the share `part` of their way.

    Along the tangent; in directions that it leaves open at a singular pose (with
    singular values below `near`), as `moved` for drivers that went `earlier`.
    """
    residual = work[3]
    jacobian = work[4]
    w = work[5]
    v = work[6]
    s = work[7]
    right = np.zeros(residual.shape[0])
    for k in range(residual.shape[0]):
        for j in range(drivers.shape[0]):
            right[k] -= jacobian[k, drivers[j]] * way[j] * part
    singular = rank > 0 and s[rank - 1] < near
    if singular:
        cut = near
    else:
        cut = ZERO_SHARE * s[0]
    _solve(work, right, 0.0, cut, out)
    square = length(earlier) ** 2
    if not singular or square == 0.0:
        return
    ratio = 0.0
    for j in range(drivers.shape[0]):
        ratio += earlier[j] * way[j] * part / square
    transposed = out.shape[0] > residual.shape[0]
    for k in range(out.shape[0]):
        out[k] += ratio * moved[k]
    for j in range(s.shape[0]):
        if s[j] > cut:
            dot = 0.0
            for k in range(out.shape[0]):
                dot += (w[k, j] / s[j] if transposed else v[k, j]) * ratio * moved[k]
            for k in range(out.shape[0]):
                out[k] -= dot * (w[k, j] / s[j] if transposed else v[k, j])


@kernel
def _follow(
    mechanism: Mechanism,
    followers: Indices,
    drivers: Indices,
    rank: int,
    median: float,
    x: Floats,
    targets: Floats,
    found: Floats,
    smallest: Floats,
    marks: Indices,
) -> None:
    equations = mechanism[7].shape[0]
    links = mechanism[0].shape[0]
    nf = followers.shape[0]
    nd = drivers.shape[0]
    rows = max(equations, nf)
    count = min(equations, nf)
    work = (
        np.empty((links + 1, 3, 3)),
        np.empty((links + 1, 3)),
        np.empty((links, 3)),
        np.empty(equations),
        np.empty((equations, x.shape[0])),
        np.empty((rows, count)),
        np.empty((count, count)),
        np.empty(count),
    )
    trial = np.empty(x.shape[0])
    jacobian = np.empty((equations, x.shape[0]))
    matrix = np.empty((nf, nf))
    move = np.empty(nf)
    moved = np.zeros(nf)
    way = np.empty(nd)
    earlier = np.zeros(nd)
    settled, _, _ = _correct(
        mechanism, followers, rank, x, work, MAX_CORRECTIONS_WHEN_LOST
    )
    _copy(work[4], jacobian)
    lost = not settled
    fresh = True
    for t in range(targets.shape[0]):
        finite = True
        farthest = 0.0
        for j in range(nd):
            way[j] = targets[t, drivers[j]] - x[drivers[j]]
            finite = finite and np.isfinite(way[j])
            farthest = max(farthest, abs(way[j]))
        if not finite:
            marks[t] = LOST
            smallest[t] = 0.0
            for j in range(nf):
                found[t, followers[j]] = np.nan
            continue
        remaining = 1.0
        smallest[t] = np.inf
        if farthest <= MAX_STEP:
            size = 1.0
        else:
            size = max(MAX_STEP / farthest, MIN_STEP_SHARE)
        while remaining > 0.0:
            if lost or size >= remaining:
                part = remaining
            else:
                part = size
            if not fresh:
                _evaluate(mechanism, x, followers, work, False)
                fresh = True
            _predict(
                work,
                drivers,
                way,
                part,
                earlier,
                rank,
                SINGULAR_SHARE * median,
                moved,
                move,
            )
            longest = 0.0
            for j in range(nf):
                longest = max(longest, abs(move[j]))
            is_smallest = part <= MIN_STEP_SHARE
            if longest > MAX_STEP and not lost and not is_smallest:
                size = max(part * max(0.1, 0.9 * MAX_STEP / longest), MIN_STEP_SHARE)
                continue
            for j in range(nd):
                trial[drivers[j]] = (
                    targets[t, drivers[j]]
                    if part == remaining
                    else x[drivers[j]] + part * way[j]
                )
            if lost and longest > MAX_STEP:
                shorter = MAX_STEP / longest
            else:
                shorter = 1.0
            for j in range(nf):
                trial[followers[j]] = x[followers[j]] + shorter * move[j]
            fresh = False
            settled, first, sharp = _correct(
                mechanism,
                followers,
                rank,
                trial,
                work,
                MAX_CORRECTIONS_WHEN_LOST if lost else MAX_CORRECTIONS,
            )
            crossed = nf == rank and _turned_over(jacobian, work[4], followers, matrix)
            sure = (
                settled
                and not crossed
                and (first <= NEWTON_KANTOROVICH * sharp or first < 1e-9)
            )
            if not (sure or lost or is_smallest):
                size = max(0.5 * part, MIN_STEP_SHARE)
                continue
            if not settled and not lost:
                lost = True
                marks[t] |= CROSSED
                continue
            lost = not settled
            if not sure:
                marks[t] |= CROSSED
            if part > 0.0 and farthest > 0.0:
                for j in range(nd):
                    earlier[j] = trial[drivers[j]] - x[drivers[j]]
                for j in range(nf):
                    moved[j] = trial[followers[j]] - x[followers[j]]
            for j in range(x.shape[0]):
                x[j] = trial[j]
            fresh = True
            _copy(work[4], jacobian)
            smallest[t] = min(
                smallest[t], work[7][rank - 1] / median if rank > 0 else 1.0
            )
            if part < remaining:
                remaining = remaining - part
            else:
                remaining = 0.0
            size = 2.0 * part
            if farthest > MAX_STEP:
                size = min(size, max(MAX_STEP / farthest, MIN_STEP_SHARE))
        if lost:
            marks[t] |= LOST
        for j in range(nf):
            found[t, followers[j]] = x[followers[j]]


@inlined
def decompose(w: Floats, v: Floats, s: Floats, near: bool) -> None:
    """Replace the columns of `w` (r, c), r ≥ c, by u·σ, largest first.

    `v` (c, c) and `s` (c,) get the right vectors and σ.

    One-sided Jacobi (Hestenes, 1958): columns are rotated in pairs until all are
    orthogonal; their lengths then are the singular values, exact to the last digits
    also where they are small (Demmel and Veselić, 1992). NumPy's own routine inside
    kernels would need SciPy.

    `near`: `v` holds the right vectors of a matrix near this one, as the starting
    point.
    """
    rows, count = w.shape
    if near:
        row = np.empty(count)
        for k in range(rows):
            for j in range(count):
                row[j] = 0.0
            for i in range(count):
                for j in range(count):
                    row[j] += w[k, i] * v[i, j]
            for j in range(count):
                w[k, j] = row[j]
    else:
        for i in range(count):
            for j in range(count):
                v[i, j] = 1.0 if i == j else 0.0
    for _ in range(MAX_SWEEPS):
        turned = False
        for i in range(count - 1):
            for j in range(i + 1, count):
                a = 0.0
                b = 0.0
                g = 0.0
                for k in range(rows):
                    a += w[k, i] * w[k, i]
                    b += w[k, j] * w[k, j]
                    g += w[k, i] * w[k, j]
                if abs(g) <= 1e-15 * np.sqrt(a * b) or g == 0.0:
                    continue
                turned = True
                zeta = (b - a) / (2.0 * g)
                t = (1.0 if zeta >= 0.0 else -1.0) / (
                    abs(zeta) + np.sqrt(1.0 + zeta * zeta)
                )
                c = 1.0 / np.sqrt(1.0 + t * t)
                z = c * t
                for k in range(rows):
                    x = w[k, i]
                    w[k, i] = c * x - z * w[k, j]
                    w[k, j] = z * x + c * w[k, j]
                for k in range(count):
                    x = v[k, i]
                    v[k, i] = c * x - z * v[k, j]
                    v[k, j] = z * x + c * v[k, j]
        if not turned:
            break
    for j in range(count):
        square = 0.0
        for k in range(rows):
            square += w[k, j] * w[k, j]
        s[j] = np.sqrt(square)
    for i in range(count - 1):
        best = i
        for j in range(i + 1, count):
            if s[j] > s[best]:
                best = j
        if best != i:
            s[i], s[best] = s[best], s[i]
            for k in range(rows):
                w[k, i], w[k, best] = w[k, best], w[k, i]
            for k in range(count):
                v[k, i], v[k, best] = v[k, best], v[k, i]


@inlined
def _solve(work: Work, right: Floats, damping: float, cut: float, out: Floats) -> None:
    """Compute the shortest x (n,) that minimizes |A·x − right|² + (damping·|x|)², for A (m, n) as `decompose` left it.

    Where n > m, Aᵀ was decomposed. Singular values not above `cut` count as 0.
    """
    w = work[5]
    v = work[6]
    s = work[7]
    transposed = out.shape[0] > right.shape[0]
    for i in range(out.shape[0]):
        out[i] = 0.0
    for j in range(s.shape[0]):
        if not s[j] > cut:
            continue
        dot = 0.0
        if transposed:
            for k in range(v.shape[0]):
                dot += v[k, j] * right[k]
        else:
            for k in range(w.shape[0]):
                dot += w[k, j] * right[k]
        dot /= s[j] * s[j] + damping * damping
        if transposed:
            for k in range(w.shape[0]):
                out[k] += dot * w[k, j]
        else:
            for k in range(v.shape[0]):
                out[k] += dot * v[k, j]
