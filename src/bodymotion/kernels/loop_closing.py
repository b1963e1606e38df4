"""Closing loops along a motion: dependent joints are computed from the driving joints, each frame from the one before.

From a closed pose the driving joints move in steps. For each step the dependent joints are predicted along the tangent and corrected by
Gauss-Newton steps, damped (Levenberg and Marquardt) where an undamped one does not reduce the error. A step is accepted when its
corrections converge, when the first of them is small compared with the smallest singular value of the equations (the theorem of Newton
and Kantorovich: then there is one solution nearby, on the same branch), and when no singular pose lies within it; otherwise it is halved.
A singular pose is passed in the smallest step, along the direction in which the dependent joints moved before.
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats
from bodymotion.kernels.compiling import inlined, kernel
from bodymotion.kernels.loop_constraints import Indices, Mechanism, constrain, length

Work: TypeAlias = tuple[Floats, Floats, Floats, Floats, Floats, Floats, Floats, Floats]

CROSSED, LOST = 1, 2
"""Flags of a frame: a singular pose was passed on the way to it; the corrections did not converge, so the loops are not closed exactly."""
MAX_STEP = 0.3  # [rad] Largest change of a variable in one step.
MIN_STEP_SHARE = 2.0**-10  # The smallest step, as a share of the way from frame to frame.
SINGULAR_SHARE = 1e-3  # Below this share of the regular value, singular values are not used in predictions, but the direction before.
ZERO_SHARE = 1e-10  # Singular values below this share of the largest one count as 0.
NEWTON_KANTOROVICH = 0.25
MAX_CORRECTIONS, MAX_CORRECTIONS_WHEN_LOST = 12, 240  # Corrections per step.

MAX_SWEEPS = 40  # Of the Jacobi rotations of a singular value decomposition.


def derivatives(mechanism: Mechanism, x: Floats) -> tuple[Floats, Floats]:
    """Return the equations' residual (m,) and their derivatives (m, v) at variables x (v,)."""
    residual = np.zeros(len(mechanism[7]))
    jacobian = np.zeros((len(residual), len(x)))
    _derivatives(mechanism, np.array(x), residual, jacobian)
    return residual, jacobian


def follow(
    mechanism: Mechanism, followers: Indices, rank: int, usual: float, start: Floats, targets: Floats
) -> tuple[Floats, Floats, npt.NDArray[np.int64]]:
    """Close loops over T frames.

    `followers`: which of the v variables are worked out; the others are as in `targets` (T, v). `rank`: how many of the followers'
    singular values are not 0 where nothing is singular; `usual`: how large the least of them is there. `start` (v,): the pose near which to
    begin.

    Return the variables (T, v), the least of those singular values as parts of the usual one (T,), and marks (T,).
    """
    found = np.array(targets, order="C")
    least = np.ones(len(targets))
    marks = np.zeros(len(targets), dtype=np.int64)
    if len(followers) and len(targets):
        drivers = np.setdiff1d(np.arange(targets.shape[1]), followers).astype(np.int64)
        _follow(mechanism, followers, drivers, rank, usual, np.array(start), np.array(found), found, least, marks)
    return found, least, marks


@inlined
def _copy(values: Floats, out: Floats) -> None:
    """Copy a table; as a loop, because `out[:] = values` takes seconds to compile."""
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            out[i, j] = values[i, j]


@inlined
def _evaluate(mechanism: Mechanism, x: Floats, columns: Indices, work: Work, near: bool) -> None:
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
def _derivatives(mechanism: Mechanism, x: Floats, residual: Floats, jacobian: Floats) -> None:
    links = mechanism[0].shape[0]
    places = np.empty((links + 1, 3))
    constrain(mechanism, x, np.empty((links + 1, 3, 3)), places, np.empty((links, 3)), residual, jacobian)


@inlined
def _correct(
    mechanism: Mechanism, followers: Indices, rank: int, x: Floats, work: Work, most: int
) -> tuple[bool, float, float]:
    """Move the dependent joints until the loops are closed as far as possible.

    Return whether that came to an end, how long the first correction was, and the least singular value where it began. `work` is
    left as it is at the end.
    """
    _evaluate(mechanism, x, followers, work, False)
    residual, s = work[3], work[7]
    error = length(residual)
    step = np.empty(followers.shape[0])
    before = np.empty(followers.shape[0])
    least = s[rank - 1] if rank > 0 else 1.0
    first = -1.0
    damping = 0.0
    for _ in range(most):
        if not np.isfinite(error):
            return False, np.inf, 0.0
        _solve(work, residual, damping, ZERO_SHARE * s[0], step)
        way = length(step)
        first = way if first < 0.0 else first
        if error < 1e-15 or way == 0.0:
            return True, first, least
        for j in range(followers.shape[0]):
            before[j] = x[followers[j]]
            x[followers[j]] -= step[j]
        _evaluate(mechanism, x, followers, work, True)
        after = length(residual)
        if damping == 0.0 and (way < 1e-11 or after < 1e-14):
            return True, first, least
        if after <= error * (1.0 + 1e-12):
            error = after
            damping = 0.1 * damping if damping > 1e-6 * s[0] else 0.0
        else:
            for j in range(followers.shape[0]):
                x[followers[j]] = before[j]
            _evaluate(mechanism, x, followers, work, True)
            damping = max(10.0 * damping, 1e-3 * s[0])
    return False, first, least


@inlined
def _turned_over(before: Floats, now: Floats, columns: Indices, room: Floats) -> bool:
    """Return whether det(Bᵀ·N) of the derivatives before and now is negative: then the equations were singular in between."""
    count = columns.shape[0]
    for i in range(count):
        for j in range(count):
            room[i, j] = 0.0
            for k in range(before.shape[0]):
                room[i, j] += before[k, columns[i]] * now[k, columns[j]]
    negative = False
    for i in range(count):
        best = i
        for j in range(i + 1, count):
            if abs(room[j, i]) > abs(room[best, i]):
                best = j
        if best != i:
            negative = not negative
            for j in range(count):
                room[i, j], room[best, j] = room[best, j], room[i, j]
        if room[i, i] == 0.0:
            return False
        negative = negative != (room[i, i] < 0.0)
        for j in range(i + 1, count):
            factor = room[j, i] / room[i, i]
            for k in range(i, count):
                room[j, k] -= factor * room[i, k]
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

    Along the tangent; in directions that it leaves open at a singular pose (with singular values below `near`), as `moved` for drivers that
    went `earlier`.
    """
    residual, jacobian, w, v, s = work[3], work[4], work[5], work[6], work[7]
    right = np.zeros(residual.shape[0])
    for k in range(residual.shape[0]):
        for j in range(drivers.shape[0]):
            right[k] -= jacobian[k, drivers[j]] * way[j] * part
    singular = rank > 0 and s[rank - 1] < near
    cut = near if singular else ZERO_SHARE * s[0]
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
    usual: float,
    x: Floats,
    targets: Floats,
    found: Floats,
    least: Floats,
    marks: npt.NDArray[np.int64],
) -> None:
    equations, links = mechanism[7].shape[0], mechanism[0].shape[0]
    nf, nd = followers.shape[0], drivers.shape[0]
    rows, count = max(equations, nf), min(equations, nf)
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
    move = np.empty(nf)
    moved = np.zeros(nf)
    way = np.empty(nd)
    earlier = np.zeros(nd)
    room = np.empty((nf, nf))
    settled, _, _ = _correct(mechanism, followers, rank, x, work, MAX_CORRECTIONS_WHEN_LOST)
    lost = not settled
    jacobian = np.empty((equations, x.shape[0]))
    _copy(work[4], jacobian)
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
            least[t] = 0.0
            for j in range(nf):
                found[t, followers[j]] = np.nan
            continue
        remaining = 1.0
        least[t] = np.inf
        size = 1.0 if farthest <= MAX_STEP else max(MAX_STEP / farthest, MIN_STEP_SHARE)
        while remaining > 0.0:
            part = remaining if lost or size >= remaining else size
            if not fresh:
                _evaluate(mechanism, x, followers, work, False)
                fresh = True
            _predict(work, drivers, way, part, earlier, rank, SINGULAR_SHARE * usual, moved, move)
            longest = 0.0
            for j in range(nf):
                longest = max(longest, abs(move[j]))
            smallest = part <= MIN_STEP_SHARE
            if longest > MAX_STEP and not lost and not smallest:
                size = max(part * max(0.1, 0.9 * MAX_STEP / longest), MIN_STEP_SHARE)
                continue
            for j in range(nd):
                trial[drivers[j]] = targets[t, drivers[j]] if part == remaining else x[drivers[j]] + part * way[j]
            shorter = MAX_STEP / longest if lost and longest > MAX_STEP else 1.0
            for j in range(nf):
                trial[followers[j]] = x[followers[j]] + shorter * move[j]
            fresh = False
            settled, first, sharp = _correct(
                mechanism, followers, rank, trial, work, MAX_CORRECTIONS_WHEN_LOST if lost else MAX_CORRECTIONS
            )
            crossed = nf == rank and _turned_over(jacobian, work[4], followers, room)
            sure = settled and not crossed and (first <= NEWTON_KANTOROVICH * sharp or first < 1e-9)
            if not (sure or lost or smallest):
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
            least[t] = min(least[t], work[7][rank - 1] / usual if rank > 0 else 1.0)
            remaining = remaining - part if part < remaining else 0.0
            size = 2.0 * part
            if farthest > MAX_STEP:
                size = min(size, max(MAX_STEP / farthest, MIN_STEP_SHARE))
        if lost:
            marks[t] |= LOST
        for j in range(nf):
            found[t, followers[j]] = x[followers[j]]


@inlined
def decompose(w: Floats, v: Floats, s: Floats, near: bool) -> None:
    """Replace the columns of `w` (r, c), r ≥ c, by u·σ, largest first; `v` (c, c) and `s` (c,) get the right vectors and σ.

    One-sided Jacobi (Hestenes, 1958): columns are rotated in pairs until all are orthogonal; their lengths then are the singular values,
    exact to the last digits also where they are small (Demmel and Veselić, 1992). NumPy's own routine inside kernels would need SciPy.

    `near`: `v` holds the right vectors of a matrix near this one, as the starting point.
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
                t = (1.0 if zeta >= 0.0 else -1.0) / (abs(zeta) + np.sqrt(1.0 + zeta * zeta))
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
    w, v, s, transposed = work[5], work[6], work[7], out.shape[0] > right.shape[0]
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
