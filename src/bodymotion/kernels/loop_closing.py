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

The equations say how far a mechanism is from closing (`Mechanism`;
`bodymotion.model.closed_loops` makes it). An equation of points: d · (P₂ − P₁) / size =
0. An equation of axes: d · a₂ = 0. All in the base's frame; d moves with the first
link. Its derivative by the rotation of a joint with axis ω through o is ± d · ω × (P₂ −
o) / size or ± d · ω × a₂, by a translation ± d · ω: + where the joint moves the second
link, − where it moves the first one, in whose frame d is.
"""

from typing import NamedTuple

import numpy as np

from bodymotion.geometry.arrays import Floats, Indices
from bodymotion.kernels.compiling import inlined, kernel, part_of_kernel
from bodymotion.kernels.kinematics import ROTATE, SLIDE
from bodymotion.kernels.vectors import cross, dot, multiply, plus, product, put, times

CROSSED = 1  # Flag of a frame: a singular pose was passed on the way to it.
LOST = 2  # Flag of a frame: corrections did not converge, so loops are not closed.

MAX_STEP = 0.3  # [rad] Largest change of a variable in one step.
# The smallest step, as a share of the way from frame to frame.
MIN_STEP_SHARE = 2.0**-10
# Share of the regular value below which a singular value is not used in predictions.
# The direction before is used instead.
SINGULAR_SHARE = 1e-3
ZERO_SHARE = 1e-10  # Singular values below this share of the largest one count as 0.
# Share of the smallest singular value that the first correction may have at most. The
# theorem's condition h ≤ 1/2 for equations whose second derivatives are at most 2.
NEWTON_KANTOROVICH = 0.25
MAX_CORRECTIONS = 12  # In one step.
MAX_CORRECTIONS_WHEN_LOST = 240  # Then a distant solution is searched, with damping.
MAX_SWEEPS = 40  # Of the Jacobi rotations of a singular value decomposition.
ROUNDING = 1e-15  # Error, or cosine of two columns, that rounding leaves.
SMALL_CORRECTION = 1e-11  # [rad] Newton's next step would be below rounding.
SMALL_ERROR = 1e-14  # Likewise for the error after a correction.
SURE_CORRECTION = 1e-9  # [rad] So small a correction leads to no other branch.


class Chain(NamedTuple):
    """The n moving and fixed links of a mechanism, or of a tree.

    Attributes
    ----------
    parents:
        (n,) numbers of the parents; −1 is the common base.
    kinds:
        (n,) `FIXED`, `ROTATE` or `SLIDE`.
    variables:
        (n,) which of the v variables moves a link; −1 is none.
    rotations, positions:
        (n, 3, 3) and (n, 3) each link's pose in its parent at joint value 0.
    axes:
        (n, 3) of the joints, unit vectors in the link's frame.
    units:
        (v,) joint value = unit · variable: 1 for angles, the mechanism's size for
        lengths.
    """

    parents: Indices
    kinds: Indices
    variables: Indices
    rotations: Floats
    positions: Floats
    axes: Floats
    units: Floats


class Mechanism(NamedTuple):
    """Links and the m equations of their loops.

    Attributes
    ----------
    chain:
        The links.
    ends:
        (m, 2) the first and second link of each equation; −1 is the common base.
    tips:
        (m, 2, 3) points in these links; of an equation of axes, the second one is the
        second link's axis.
    directions:
        (m, 3) unit vectors in the first link's frame.
    of_axes:
        (m,) 0 for an equation of points, 1 for one of axes.
    sides:
        (m, n) 1 where link j carries only the second link, −1 where only the first
        one, else 0.
    size:
        [m] distances are divided by it, so that all numbers have the magnitude of
        angles.
    """

    chain: Chain
    ends: Indices
    tips: Floats
    directions: Floats
    of_axes: Indices
    sides: Indices
    size: float


class LinkFrames(NamedTuple):
    """Rotations (n + 1, 3, 3), positions (n + 1, 3) and joint axes (n, 3) of links.

    In the base's frame; the last ones are those of the base itself.
    """

    rotations: Floats
    positions: Floats
    axes: Floats


class Loops(NamedTuple):
    """What is followed.

    Attributes
    ----------
    mechanism:
        With v variables.
    followers, drivers:
        The variables that are computed, and the others.
    rank:
        How many of the followers' singular values are not 0 where nothing is singular.
    median:
        How large the smallest of them is there.
    """

    mechanism: Mechanism
    followers: Indices
    drivers: Indices
    rank: int
    median: float


class Followed(NamedTuple):
    """T frames with closed loops.

    Attributes
    ----------
    variables:
        (T, v).
    smallest:
        (T,) the smallest of the singular values, as a share of their median.
    marks:
        (T,) `CROSSED` and `LOST`.
    """

    variables: Floats
    smallest: Floats
    marks: Indices


class Work(NamedTuple):
    """The equations at a pose.

    Attributes
    ----------
    links:
        Where the links are.
    residual, jacobian:
        (m,) of the equations and (m, v) their derivatives.
    columns, vectors, values:
        The decomposition of the followers' derivatives, as `decompose` leaves it.
    """

    links: LinkFrames
    residual: Floats
    jacobian: Floats
    columns: Floats
    vectors: Floats
    values: Floats


class Memory(NamedTuple):
    """What is kept from step to step.

    Attributes
    ----------
    work:
        The equations at the last pose that was evaluated.
    x, trial:
        (v,) the pose that was reached last, and the one that is tried.
    jacobian:
        (m, v) the derivatives at `x`.
    way:
        The way of the drivers from `x` to their targets.
    move:
        The predicted movement of the followers.
    driver_step, follower_step:
        The movements of drivers and followers in the last step.
    product:
        A square matrix of the followers, overwritten.
    """

    work: Work
    x: Floats
    trial: Floats
    jacobian: Floats
    way: Floats
    move: Floats
    driver_step: Floats
    follower_step: Floats
    product: Floats


class Correction(NamedTuple):
    """How the corrections of a pose went.

    Attributes
    ----------
    is_settled:
        Whether they came to an end.
    first:
        The length of the first one.
    smallest:
        The smallest singular value where they began.
    """

    is_settled: bool
    first: float
    smallest: float


@inlined
def length(values: Floats) -> float:
    """Return the Euclidean length of a vector."""
    square = 0.0
    for value in values:
        square += value * value
    return float(np.sqrt(square))


@inlined
def place_links(chain: Chain, x: Floats, links: LinkFrames) -> None:
    """Compute where the links are at variables x (v,)."""
    # Unpacked once: each access to a record in a loop would count references.
    parents, kinds, variables, offset_rotations, offsets, own_axes, units = chain
    rotations, positions, axes = links
    # The last row is the base itself: parent −1 is that row.
    at_zero = np.empty((3, 3))
    for a in range(3):
        positions[-1, a] = 0.0
        for b in range(3):
            rotations[-1, a, b] = 1.0 if a == b else 0.0
    for i in range(parents.shape[0]):
        parent = parents[i]
        u = own_axes[i]
        multiply(rotations[parent], offset_rotations[i], at_zero)
        offset = product(rotations[parent], offsets[i])
        position = plus(positions[parent], offset)
        axis = product(at_zero, u)
        value = 0.0
        if kinds[i]:
            value = units[variables[i]] * x[variables[i]]
        cosine = 1.0
        sine = 0.0
        shift = 0.0
        if kinds[i] == ROTATE:
            cosine = np.cos(value)
            sine = np.sin(value)
        elif kinds[i] == SLIDE:
            shift = value
        put(plus(position, axis, shift), positions[i])
        put(axis, axes[i])
        for a in range(3):
            # Rodrigues' rotation of a row r: c·r + (1 − c)·(r·u)·u + s·(r × u).
            row = at_zero[a]
            along = plus(times(row, cosine), u, (1.0 - cosine) * axis[a])
            put(plus(along, cross(row, u), sine), rotations[i, a])


@inlined
def constrain(
    mechanism: Mechanism,
    x: Floats,
    links: LinkFrames,
    residual: Floats,
    jacobian: Floats,
) -> None:
    """Compute the residual (m,) and its derivatives (m, v) at variables x (v,)."""
    chain, ends, tips, directions, of_axes, sides, size = mechanism
    place_links(chain, x, links)
    rotations, positions, axes = links
    kinds = chain.kinds
    variables = chain.variables
    for k in range(ends.shape[0]):
        first = ends[k, 0]
        second = ends[k, 1]
        # An axis is a direction: positions do not count.
        if of_axes[k]:
            is_point = 0.0
            scale = 1.0
        else:
            is_point = 1.0
            scale = 1.0 / size
        # d in the base's frame, and the two points (or the second link's axis).
        d = product(rotations[first], directions[k])
        arm = product(rotations[second], tips[k, 1])
        tip = plus(arm, positions[second], is_point)
        start = plus(product(rotations[first], tips[k, 0]), positions[first])
        residual[k] = scale * dot(d, plus(tip, start, -is_point))
        # Links on one side only change the equation: the others move both points alike.
        for j in range(jacobian.shape[1]):
            jacobian[k, j] = 0.0
        for i in range(kinds.shape[0]):
            if not kinds[i] or sides[k, i] == 0:
                continue
            # A slide moves the point along its axis, and no axis.
            slope = is_point * dot(d, axes[i])
            # A rotation about o: ω × (P₂ − o), or ω × a₂ of an axis.
            if kinds[i] == ROTATE:
                arm = plus(tip, positions[i], -is_point)
                slope = scale * dot(d, cross(axes[i], arm))
            jacobian[k, variables[i]] += sides[k, i] * slope


def derivatives(mechanism: Mechanism, x: Floats) -> tuple[Floats, Floats]:
    """Return the residual (m,) and its derivatives (m, v) at variables x (v,)."""
    residual = np.zeros(len(mechanism.ends))
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
) -> Followed:
    """Close loops over T frames, from the pose `start` (v,).

    `followers`, `rank` and `median` are as in `Loops`; the other variables are as in
    `targets` (T, v).
    """
    # Drivers are at their targets; followers are filled in frame by frame.
    followed = Followed(
        np.array(targets, order="C"),
        np.ones(len(targets)),
        np.zeros(len(targets), dtype=np.int64),
    )
    if len(followers) and len(targets):
        drivers = np.setdiff1d(np.arange(targets.shape[1]), followers).astype(np.int64)
        loops = Loops(mechanism, followers, drivers, rank, median)
        _follow(loops, np.array(start), followed.variables.copy(), followed)
    return followed


@inlined
def _copy(values: Floats, out: Floats) -> None:
    """Copy a table; as a loop, because `out[:] = values` takes seconds to compile."""
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            out[i, j] = values[i, j]


@inlined
def _make_link_frames(links: int) -> LinkFrames:
    return LinkFrames(
        np.empty((links + 1, 3, 3)), np.empty((links + 1, 3)), np.empty((links, 3))
    )


@inlined
def _evaluate(
    mechanism: Mechanism, x: Floats, followers: Indices, work: Work, is_near: bool
) -> None:
    """Compute residual and derivatives, and decompose those by the followers.

    They are transposed when there are more followers than equations. `is_near`: the
    last evaluation was for an x near this one.
    """
    links, residual, jacobian, columns, vectors, values = work
    constrain(mechanism, x, links, residual, jacobian)
    # The decomposition needs at least as many rows as columns.
    is_transposed = followers.shape[0] > residual.shape[0]
    for k in range(residual.shape[0]):
        for j in range(followers.shape[0]):
            if is_transposed:
                columns[j, k] = jacobian[k, followers[j]]
            else:
                columns[k, j] = jacobian[k, followers[j]]
    decompose(columns, vectors, values, is_near)


@kernel
def _derivatives(
    mechanism: Mechanism, x: Floats, residual: Floats, jacobian: Floats
) -> None:
    links = _make_link_frames(mechanism.chain.parents.shape[0])
    constrain(mechanism, x, links, residual, jacobian)


@part_of_kernel
def _correct(
    mechanism: Mechanism,
    followers: Indices,
    rank: int,
    x: Floats,
    work: Work,
    most: int,
) -> Correction:
    """Move the followers until the loops are closed as far as possible.

    With at most `most` steps of Gauss and Newton, damped after one that does not reduce
    the error. `work` is left as it is at the end.
    """
    residual = work.residual
    values = work.values
    _evaluate(mechanism, x, followers, work, False)
    error = length(residual)
    step = np.empty(followers.shape[0])
    before = np.empty(followers.shape[0])
    smallest = 1.0
    # The smallest singular value that is not 0 where nothing is singular.
    if rank > 0:
        smallest = values[rank - 1]
    first = -1.0
    damping = 0.0
    for _ in range(most):
        # A pose that ran away to infinity.
        if not np.isfinite(error):
            return Correction(False, np.inf, 0.0)
        _solve(work, residual, damping, ZERO_SHARE * values[0], step)
        way = length(step)
        if first < 0.0:
            first = way
        # Closed exactly, or nothing left to move: a loop that cannot be closed has its
        # least error here.
        if error < ROUNDING or way == 0.0:
            return Correction(True, first, smallest)
        for j in range(followers.shape[0]):
            before[j] = x[followers[j]]
            x[followers[j]] -= step[j]
        _evaluate(mechanism, x, followers, work, True)
        after = length(residual)
        # Newton converges quadratically: the next step would be below rounding.
        if damping == 0.0 and (way < SMALL_CORRECTION or after < SMALL_ERROR):
            return Correction(True, first, smallest)
        # The step reduced the error: less damping, and none when it is small.
        if after <= error * (1.0 + 1e-12):
            error = after
            if damping > 1e-6 * values[0]:
                damping = 0.1 * damping
            else:
                damping = 0.0
        # It did not: back, and more damping.
        else:
            for j in range(followers.shape[0]):
                x[followers[j]] = before[j]
            _evaluate(mechanism, x, followers, work, True)
            damping = max(10.0 * damping, 1e-3 * values[0])
    return Correction(False, first, smallest)


@inlined
def _has_turned_over(
    before: Floats, after: Floats, columns: Indices, matrix: Floats
) -> bool:
    """Return whether det(Bᵀ·A) of the derivatives before and after is negative.

    Then the equations were singular in between. `matrix` is overwritten.
    """
    # By Gaussian elimination with row pivoting: the sign of the determinant changes
    # with

    # each negative pivot and with each exchange of rows.
    count = columns.shape[0]
    for i in range(count):
        for j in range(count):
            matrix[i, j] = 0.0
            for k in range(before.shape[0]):
                matrix[i, j] += before[k, columns[i]] * after[k, columns[j]]
    is_negative = False
    for i in range(count):
        best = i
        for j in range(i + 1, count):
            if abs(matrix[j, i]) > abs(matrix[best, i]):
                best = j
        if best != i:
            is_negative = not is_negative
            for j in range(count):
                matrix[i, j], matrix[best, j] = matrix[best, j], matrix[i, j]
        if matrix[i, i] == 0.0:
            return False
        is_negative = is_negative != (matrix[i, i] < 0.0)
        for j in range(i + 1, count):
            factor = matrix[j, i] / matrix[i, i]
            for k in range(i, count):
                matrix[j, k] -= factor * matrix[i, k]
    return is_negative


@part_of_kernel
def _predict(loops: Loops, part: float, memory: Memory) -> None:
    """Predict how followers move when drivers move by the share `part` of their way.

    Along the tangent. Directions that it leaves open at a singular pose are those of
    the last step.
    """
    work = memory.work
    jacobian = work.jacobian
    columns = work.columns
    vectors = work.vectors
    values = work.values
    out = memory.move
    way = memory.way
    driver_step = memory.driver_step
    follower_step = memory.follower_step
    drivers = loops.drivers
    # The equations stay fulfilled: A_followers·move = −A_drivers·way·part.
    right = np.zeros(work.residual.shape[0])
    for k in range(right.shape[0]):
        for j in range(drivers.shape[0]):
            right[k] -= jacobian[k, drivers[j]] * way[j] * part
    near = SINGULAR_SHARE * loops.median
    is_singular = loops.rank > 0 and values[loops.rank - 1] < near
    if is_singular:
        # Near a singular pose, directions of small singular values would make huge
        # moves.
        cut = near
    else:
        cut = ZERO_SHARE * values[0]
    _solve(work, right, 0.0, cut, out)
    square = length(driver_step) ** 2
    # On the first step nothing is known of the direction before.
    if not is_singular or square == 0.0:
        return
    # The last step, scaled by how far the drivers go along their last direction, less
    # its parts along the directions that the tangent determines.
    ratio = 0.0
    for j in range(drivers.shape[0]):
        ratio += driver_step[j] * way[j] * part / square
    # Right vectors stand in `columns`, times σ, where the matrix was transposed.
    is_transposed = out.shape[0] > right.shape[0]
    for k in range(out.shape[0]):
        out[k] += ratio * follower_step[k]
    direction = np.empty(out.shape[0])
    for j in range(values.shape[0]):
        if not values[j] > cut:
            continue
        along = 0.0
        for k in range(out.shape[0]):
            if is_transposed:
                direction[k] = columns[k, j] / values[j]
            else:
                direction[k] = vectors[k, j]
            along += direction[k] * ratio * follower_step[k]
        for k in range(out.shape[0]):
            out[k] -= along * direction[k]


@part_of_kernel
def _allocate(loops: Loops, start: Floats) -> Memory:
    """Return the arrays that following needs, at the pose `start`."""
    equations = loops.mechanism.ends.shape[0]
    followers = loops.followers.shape[0]
    drivers = loops.drivers.shape[0]
    variables = start.shape[0]
    rows = max(equations, followers)
    count = min(equations, followers)
    work = Work(
        _make_link_frames(loops.mechanism.chain.parents.shape[0]),
        np.empty(equations),
        np.empty((equations, variables)),
        np.empty((rows, count)),
        np.empty((count, count)),
        np.empty(count),
    )
    return Memory(
        work,
        start,
        np.empty(variables),
        np.empty((equations, variables)),
        np.empty(drivers),
        np.empty(followers),
        np.zeros(drivers),
        np.zeros(followers),
        np.empty((followers, followers)),
    )


@part_of_kernel
def _find_way(loops: Loops, target: Floats, memory: Memory) -> float:
    """Fill in the way of the drivers to their targets; return its largest part.

    It is infinite when a target is not a finite number.
    """
    farthest = 0.0
    for j in range(loops.drivers.shape[0]):
        driver = loops.drivers[j]
        memory.way[j] = target[driver] - memory.x[driver]
        if not np.isfinite(memory.way[j]):
            return np.inf
        farthest = max(farthest, abs(memory.way[j]))
    return farthest


@part_of_kernel
def _set_trial(
    loops: Loops,
    target: Floats,
    part: float,
    is_last: bool,
    share: float,
    memory: Memory,
) -> None:
    """Fill in the trial pose.

    Drivers go a part of their way, followers a share of the predicted move.
    """
    x = memory.x
    trial = memory.trial
    way = memory.way
    move = memory.move
    drivers = loops.drivers
    followers = loops.followers
    for j in range(drivers.shape[0]):
        driver = drivers[j]
        if is_last:  # without rounding
            trial[driver] = target[driver]
        else:
            trial[driver] = x[driver] + part * way[j]
    for j in range(followers.shape[0]):
        follower = followers[j]
        trial[follower] = x[follower] + share * move[j]


@part_of_kernel
def _accept_trial(loops: Loops, has_moved: bool, memory: Memory) -> None:
    """Go to the trial pose; remember the step when the drivers have moved."""
    x = memory.x
    trial = memory.trial
    if has_moved:
        for j in range(loops.drivers.shape[0]):
            driver = loops.drivers[j]
            memory.driver_step[j] = trial[driver] - x[driver]
        for j in range(loops.followers.shape[0]):
            follower = loops.followers[j]
            memory.follower_step[j] = trial[follower] - x[follower]
    for j in range(x.shape[0]):
        x[j] = trial[j]
    # Derivatives at the accepted pose, for the next comparison.
    _copy(memory.work.jacobian, memory.jacobian)


@part_of_kernel
def _is_sure(loops: Loops, correction: Correction, memory: Memory) -> bool:
    """Return whether the trial pose is surely on the branch of the last one."""
    if not correction.is_settled:
        return False
    # Only where as many followers as equations count is the matrix square.
    if loops.followers.shape[0] == loops.rank and _has_turned_over(
        memory.jacobian, memory.work.jacobian, loops.followers, memory.product
    ):
        return False
    # The theorem of Newton and Kantorovich, or so small a correction that it does not
    # matter.
    is_unique = correction.first <= NEWTON_KANTOROVICH * correction.smallest
    return is_unique or correction.first < SURE_CORRECTION


@part_of_kernel
def _follow_frame(
    loops: Loops, target: Floats, farthest: float, memory: Memory, is_lost: bool
) -> tuple[bool, float, int]:
    """Move to the targets of one frame, in steps; see the module.

    Return whether the loops are open now, the smallest singular value on the way as a
    share of the median, and the marks.
    """
    mechanism = loops.mechanism
    followers = loops.followers
    rank = loops.rank
    work = memory.work
    smallest = np.inf
    marks = 0
    max_size = 1.0
    # The largest share of the way in which no driver moves by more than `MAX_STEP`.
    if farthest > MAX_STEP:
        max_size = max(MAX_STEP / farthest, MIN_STEP_SHARE)
    size = max_size
    remaining = 1.0
    is_at_x = True  # whether `work` is that of x
    while remaining > 0.0:
        # Without a closed pose to follow from, the target itself is tried.
        part = size
        if is_lost or size >= remaining:
            part = remaining
        # A rejected trial left the equations at another pose.
        if not is_at_x:
            _evaluate(mechanism, memory.x, followers, work, False)
            is_at_x = True
        _predict(loops, part, memory)
        longest = 0.0
        for j in range(memory.move.shape[0]):
            longest = max(longest, abs(memory.move[j]))
        is_smallest = part <= MIN_STEP_SHARE
        share = 1.0
        # Too long a prediction: a shorter step, but not below the smallest.
        if longest > MAX_STEP:
            if not is_lost and not is_smallest:
                shorter = part * max(0.1, 0.9 * MAX_STEP / longest)
                size = max(shorter, MIN_STEP_SHARE)
                continue
            # With open loops there is no tangent to trust: the move is only shortened.
            if is_lost:
                share = MAX_STEP / longest
        _set_trial(loops, target, part, part == remaining, share, memory)
        is_at_x = False
        most = MAX_CORRECTIONS_WHEN_LOST if is_lost else MAX_CORRECTIONS
        correction = _correct(mechanism, followers, rank, memory.trial, work, most)
        is_sure = _is_sure(loops, correction, memory)
        # Not sure: half the step, down to the smallest, which is taken in any case.
        if not (is_sure or is_lost or is_smallest):
            size = max(0.5 * part, MIN_STEP_SHARE)
            continue
        if not is_sure:
            marks |= CROSSED
        # Even the smallest step does not converge: the loops are open from here on.
        if not correction.is_settled and not is_lost:
            is_lost = True
            continue
        is_lost = not correction.is_settled
        # A step without a way of the drivers has no direction to remember.
        _accept_trial(loops, part > 0.0 and farthest > 0.0, memory)
        is_at_x = True
        if loops.rank > 0:
            smallest = min(smallest, work.values[loops.rank - 1] / loops.median)
        else:
            smallest = min(smallest, 1.0)
        if part < remaining:
            remaining = remaining - part
        else:
            remaining = 0.0
        # Steps grow again after the difficult part.
        size = min(2.0 * part, max_size)
    if is_lost:
        marks |= LOST
    return is_lost, smallest, marks


@kernel
def _follow(loops: Loops, start: Floats, targets: Floats, followed: Followed) -> None:
    """Fill in frame after frame; `start` is overwritten."""
    memory = _allocate(loops, start)
    # The start need not be closed: its loops are closed first.
    correction = _correct(
        loops.mechanism,
        loops.followers,
        loops.rank,
        start,
        memory.work,
        MAX_CORRECTIONS_WHEN_LOST,
    )
    _copy(memory.work.jacobian, memory.jacobian)
    is_lost = not correction.is_settled
    for t in range(targets.shape[0]):
        farthest = _find_way(loops, targets[t], memory)
        is_finite = farthest < np.inf
        if is_finite:
            is_lost, followed.smallest[t], followed.marks[t] = _follow_frame(
                loops, targets[t], farthest, memory, is_lost
            )
        else:
            followed.smallest[t] = 0.0
            followed.marks[t] = LOST
        for j in range(loops.followers.shape[0]):
            follower = loops.followers[j]
            if is_finite:
                # `start` is the pose reached last; it is changed in place.
                followed.variables[t, follower] = start[follower]
            else:
                followed.variables[t, follower] = np.nan


@inlined
def decompose(w: Floats, v: Floats, s: Floats, is_near: bool) -> None:
    """Replace the columns of `w` (r, c), r ≥ c, by u·σ, largest first.

    `v` (c, c) and `s` (c,) get the right vectors and σ. `is_near`: `v` holds the right
    vectors of a matrix near this one, as the starting point.

    One-sided Jacobi (Hestenes, 1958): columns are rotated in pairs until all are
    orthogonal; their lengths then are the singular values, exact to the last digits
    also where they are small (Demmel and Veselić, 1992). NumPy's own routine inside
    kernels would need SciPy.
    """
    _begin_decomposition(w, v, is_near)
    for _ in range(MAX_SWEEPS):
        if not _rotate_pairs(w, v):
            break
    # Lengths of orthogonal columns are the singular values.
    for j in range(s.shape[0]):
        square = 0.0
        for k in range(w.shape[0]):
            square += w[k, j] * w[k, j]
        s[j] = np.sqrt(square)
    _sort_columns(w, v, s)


@part_of_kernel
def _begin_decomposition(w: Floats, v: Floats, is_near: bool) -> None:
    """Replace `w` by w·v where `v` is near, else let `v` be the identity."""
    rows, count = w.shape
    if not is_near:
        for i in range(count):
            for j in range(count):
                v[i, j] = 1.0 if i == j else 0.0
        return
    row = np.empty(count)
    # Row by row, as `w` is overwritten: after rotation by near vectors its columns are
    # nearly orthogonal.
    for k in range(rows):
        for j in range(count):
            row[j] = 0.0
        for i in range(count):
            for j in range(count):
                row[j] += w[k, i] * v[i, j]
        for j in range(count):
            w[k, j] = row[j]


@part_of_kernel
def _rotate_pairs(w: Floats, v: Floats) -> bool:
    """Make each two columns of `w` orthogonal; return whether any were not."""
    rows, count = w.shape
    has_rotated = False
    for i in range(count - 1):
        for j in range(i + 1, count):
            a = 0.0
            b = 0.0
            g = 0.0
            for k in range(rows):
                a += w[k, i] * w[k, i]
                b += w[k, j] * w[k, j]
                g += w[k, i] * w[k, j]
            # The cosine of the two columns is 0 within rounding.
            if abs(g) <= ROUNDING * np.sqrt(a * b) or g == 0.0:
                continue
            has_rotated = True
            # The rotation by θ that makes them orthogonal has cot 2θ = (b − a) / 2g;
            # t = tan θ is the smaller root of t² + 2·ζ·t − 1 = 0.
            zeta = (b - a) / (2.0 * g)
            sign = 1.0 if zeta >= 0.0 else -1.0
            t = sign / (abs(zeta) + np.sqrt(1.0 + zeta * zeta))
            cosine = 1.0 / np.sqrt(1.0 + t * t)
            sine = cosine * t
            _rotate_columns(w, i, j, cosine, sine)
            _rotate_columns(v, i, j, cosine, sine)
    return has_rotated


@inlined
def _rotate_columns(matrix: Floats, i: int, j: int, cosine: float, sine: float) -> None:
    for k in range(matrix.shape[0]):
        x = matrix[k, i]
        matrix[k, i] = cosine * x - sine * matrix[k, j]
        matrix[k, j] = sine * x + cosine * matrix[k, j]


@part_of_kernel
def _sort_columns(w: Floats, v: Floats, s: Floats) -> None:
    """Sort the columns by `s`, largest first."""
    for i in range(s.shape[0] - 1):
        best = i
        for j in range(i + 1, s.shape[0]):
            if s[j] > s[best]:
                best = j
        if best != i:
            s[i], s[best] = s[best], s[i]
            for k in range(w.shape[0]):
                w[k, i], w[k, best] = w[k, best], w[k, i]
            for k in range(v.shape[0]):
                v[k, i], v[k, best] = v[k, best], v[k, i]


@inlined
def _solve(work: Work, right: Floats, damping: float, cut: float, out: Floats) -> None:
    """Compute the shortest x (n,) that minimizes |A·x − right|² + (damping·|x|)².

    A (m, n) is as `decompose` left it; singular values not above `cut` count as 0.
    """
    # With A = Σ σ·u·vᵀ, x = Σ v · σ·(u·right) / (σ² + damping²). Columns hold u·σ, or
    # v·σ where n > m: then Aᵀ was decomposed.
    if out.shape[0] > right.shape[0]:
        of_right = work.vectors
        of_x = work.columns
    else:
        of_right = work.columns
        of_x = work.vectors
    values = work.values
    for i in range(out.shape[0]):
        out[i] = 0.0
    for j in range(values.shape[0]):
        if not values[j] > cut:
            continue
        along = 0.0
        for k in range(of_right.shape[0]):
            along += of_right[k, j] * right[k]
        along /= values[j] * values[j] + damping * damping
        for k in range(of_x.shape[0]):
            out[k] += along * of_x[k, j]
