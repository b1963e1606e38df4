"""Feet on the ground.

Their lowest points, when they are in contact, the support polygon, and root poses for
which they do not slip.
"""

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Bools, Floats, Indices, runs
from bodymotion.geometry.poses import compose, inverse
from bodymotion.geometry.rotations import conjugate, rotate
from bodymotion.kernels.compiling import as_rows, in_slices, is_small, kernel
from bodymotion.kernels.kinematics import apply, matrices, rotation

# Products of matrices with more multiplications are divided by BLAS among threads of
# its own, which wait, and keep ours waiting.
BLAS_SIZE = 1 << 18


def product(a: Floats, b: Floats) -> Floats:
    """Return a @ b (N, M), on this thread alone."""
    rows = max(BLAS_SIZE // max(b.size, 1), 1)
    out = np.empty((len(a), b.shape[1]))
    for k in range(0, len(a), rows):
        np.matmul(a[k : k + rows], b, out=out[k : k + rows])
    return out


def lowest(poses: Floats, points: Floats, edges: Indices, patch: float) -> Floats:
    """Return the lowest points of feet (T, K, 4).

    For poses (T, K, 7): the height of the lowest point, and the middle of all points up
    to `patch` above it.

    (T, K, 4).

    `points` (P, 3) in the feet's frames; those of foot k are `edges[k]`…`edges[k + 1]`.
    """
    out = np.empty((*poses.shape[:2], 4))

    def work(a: int, b: int) -> None:
        turns = matrices(poses[a:b])
        for foot in range(poses.shape[1]):
            own = points[edges[foot] : edges[foot + 1]]
            found = out[a:b, foot]
            # The third row of the rotation gives heights: z of the foot + R₂·p.
            heights = product(turns[2, :, foot].T, own.T)
            heights += poses[a:b, foot, 2, None]
            found[:, 0] = heights.min(axis=1, initial=np.inf)
            touching = heights <= found[:, :1] + patch
            # Points that are never in the patch need not be multiplied.
            used = touching.any(axis=0)
            weights = touching[:, used].astype(np.float64)
            # Mean (N, 3) of the touching points, in the foot's frame.
            middle = product(weights, own[used]) / weights.sum(axis=1, keepdims=True)
            found[:, 1:] = poses[a:b, foot, :3] + apply(turns[:, :, foot], middle.T).T

    in_slices(len(poses), work)
    return out


def heights(
    poses: Floats, points: Floats, edges: Indices, share: float = np.inf
) -> Floats:
    """Return the heights (T, K, 2) of the lowest and the highest point.

    As for `lowest`.

    They are inf and -inf for feet that in no frame are the highest, or reach down to a
    share of the height of all above the lowest.
    """
    # The world's z in the frames of the feet, (3, K, T).
    up = matrices(poses)[2]
    # Corners (3, K, 1) of each foot's box in its own frame.
    z = poses[..., 2].T
    low, high = (
        bound.reduceat(points, edges[:-1]).T[..., None]
        for bound in (np.minimum, np.maximum)
    )
    middle = (np.add.reduceat(points, edges[:-1]) / np.diff(edges)[:, None]).T[
        ..., None
    ]
    # A foot is inside of its box, and has a point as low and one as high as the middle
    # of its points.
    center = (up * (low + high)).sum(0) / 2
    extent = (abs(up) * (high - low)).sum(0) / 2
    inner = (up * middle).sum(0)
    low = z + center - extent
    high = z + center + extent
    inner = z + inner
    # Upper bound of the height up to which a foot matters: boxes decide which feet need
    # all their points.
    above = inner.min(axis=0) + share * (high.max(axis=0) - low.min(axis=0))
    used = ~((low > above) & (high < inner.max(axis=0))).all(axis=1)
    out = np.full((*poses.shape[:2], 2), [np.inf, -np.inf])
    for foot in np.flatnonzero(used):
        found = product(up[:, foot].T, points[edges[foot] : edges[foot + 1]].T)
        out[:, foot, 0], out[:, foot, 1] = (
            found.min(axis=1, initial=np.inf),
            found.max(axis=1, initial=-np.inf),
        )
        out[:, foot] += poses[:, foot, 2, None]
    return out


def hulls(
    poses: Floats,
    points: Floats,
    edges: Indices,
    standing: Floats,
    heights: Floats,
    patch: float,
) -> tuple[Floats, Indices]:
    """Return the convex hulls of the standing feet's lowest points.

    Corners (T, M, 2), counter-clockwise, and their numbers (T,).

    Of a foot in contact, with `standing` (T, K) not 0, these are the points up to
    `patch` above its lowest one, at `heights` (T, K). Corners that a hull does not have
    are NaN.
    """
    # No point is below −inf: feet in the air have no corners.
    highest = np.where(standing != 0.0, heights + patch, -np.inf)
    if is_small(_hulls, len(poses) * len(points)):
        corners, counts = _small_hulls(poses, points, edges, highest)
    else:
        # A chain of corners is closed by its first one while it is sought.
        corners = np.empty((len(poses), len(points) + 1, 2))
        counts = np.empty(len(poses), dtype=np.int64)
        feet, own, most = (as_rows(one, one.shape) for one in (poses, points, highest))
        in_slices(
            len(poses),
            lambda a, b: _hulls(
                feet[a:b], own, edges, most[a:b], corners[a:b], counts[a:b]
            ),
        )
    # Of all hulls, the one with most corners gives M.
    corners = corners[:, : max(int(counts.max(initial=0)), 1)].copy()
    corners[np.arange(corners.shape[1]) >= counts[:, None]] = np.nan
    return corners, counts


@np.errstate(all="ignore")
def margins(corners: Floats, counts: Indices, points: Floats) -> Floats:
    """Return the distances of points (T, 2) inside polygons, and nearest points.

    Distances are negative outside; of each polygon it is the point nearest to the given
    one.

    (T, 3).

    The nearest point of a polygon to one that is inside is that one itself. Without
    corners all is NaN.
    """
    # Complex numbers x + iy: products of vectors are one operation.
    places = corners[..., 0] + 1j * corners[..., 1]
    point = points[:, 0] + 1j * points[:, 1]
    there = np.arange(corners.shape[1]) < counts[:, None]
    rows = np.arange(len(points))
    # The corner after each one; after the last comes the first.
    after = np.roll(places, -1, axis=1)
    after[rows, counts - 1] = places[:, 0]
    edge = after - places
    away = point[:, None] - places
    # The dot product of both is the real part, the cross product the imaginary one.
    product = edge.conj() * away
    square = edge.real**2 + edge.imag**2
    # The share along the edge of the foot of the perpendicular, limited to the edge. An
    # edge without length has the share 0.
    along = np.divide(
        product.real, square, out=np.zeros_like(square), where=square > 0.0
    )
    along = np.clip(along, 0.0, 1.0)
    distance = np.abs(away - along * edge)
    best = np.argmin(np.where(there, distance, np.inf), axis=1)
    known = (counts > 0) & np.isfinite(points).all(axis=1)
    # Counter-clockwise corners: inside, the point is on the left of all edges. A line
    # or a point has no inside.
    inside = (counts > 2) & ((product.imag >= 0.0) | ~there).all(axis=1)
    nearest = np.where(
        inside, point, places[rows, best] + along[rows, best] * edge[rows, best]
    )
    margin = np.where(inside, distance[rows, best], -distance[rows, best])
    return np.where(
        known[:, None], np.column_stack([margin, nearest.real, nearest.imag]), np.nan
    )


def _small_hulls(
    poses: Floats, points: Floats, edges: Indices, highest: Floats
) -> tuple[Floats, Indices]:
    """Return what `_hulls` computes, with NumPy.

    The chains of all frames grow together, a point in each step.
    """
    turns = matrices(poses)
    rows = np.arange(len(poses))
    feet = np.repeat(np.arange(poses.shape[1]), np.diff(edges))
    x, y, z = apply(turns[:, :, feet], points.T[:, :, None]) + poses[:, feet, :3].T
    touching = z <= highest[:, feet].T
    # Corners that do not touch are at the end, at inf.
    # Complex numbers are sorted by x, then by y.
    places = np.sort(np.where(touching, x + 1j * y, np.inf), axis=0)
    # Number of touching points of each frame.
    num = touching.sum(axis=0)
    chains = np.full((num.max(initial=0) + 1, len(poses)), complex(np.nan, np.nan))
    found = np.zeros_like(num)
    min_length = np.full_like(num, 2)
    # Lower chain from left to right (steps 0 … num − 1), then the upper one back.
    for step in range(2 * len(chains) - 3):
        own = np.minimum(step, 2 * num - 2 - step)
        there = own >= 0
        place = places[np.maximum(own, 0), rows]
        # The upper chain never removes corners of the lower one.
        min_length = np.where(step == num, found + 1, min_length)
        # Corners at which the chain does not turn left are removed, in all frames in
        # which there still are any.
        while True:
            start = chains[found - 2, rows]
            edge = chains[found - 1, rows] - start
            away = place - start
            straight = edge.real * away.imag - edge.imag * away.real <= 0.0
            if not (drop := there & (found >= min_length) & straight).any():
                break
            found -= drop
        chains[found[there], rows[there]] = place[there]
        found += there
    # The last point closes the chain: it is the first one again. A single point is no
    # pair.
    counts = np.maximum(found - 1, np.minimum(found, 1))
    # Two points at one position are one.
    counts[(counts == 2) & (chains[0] == chains[min(1, len(chains) - 1)])] = 1
    return np.stack([chains.real.T, chains.imag.T], axis=-1), counts


@kernel
def _hulls(
    poses: Floats,
    points: Floats,
    edges: Indices,
    highest: Floats,
    corners: Floats,
    counts: Indices,
) -> None:
    """Fill in the corners and numbers of convex hulls.

    Corners (T, P + 1, 2), by Andrew's monotone chain, and their numbers (T,), of the
    points up to `highest` (T, K).
    """
    total = points.shape[0]
    x = np.empty(total)
    y = np.empty(total)
    turns = np.empty((poses.shape[1], 3, 3))
    # The order by x, then y, of the frame before is nearly that of the next one.
    order = np.arange(total)
    left = np.empty(total, dtype=np.int64)
    for t in range(poses.shape[0]):
        for foot in range(poses.shape[1]):
            rotation(poses[t, foot], turns[foot])
        count = 0
        for n in range(total):
            k = order[n]
            foot = 0
            while k >= edges[foot + 1]:
                foot += 1
            turn = turns[foot]
            pose = poses[t, foot]
            a = points[k, 0]
            b = points[k, 1]
            c = points[k, 2]
            # `not … <=`: a pose that is NaN has no corners.
            if (
                not pose[2] + turn[2, 0] * a + turn[2, 1] * b + turn[2, 2] * c
                <= highest[t, foot]
            ):
                left[n - count] = k
                continue
            u = pose[0] + turn[0, 0] * a + turn[0, 1] * b + turn[0, 2] * c
            v = pose[1] + turn[1, 0] * a + turn[1, 1] * b + turn[1, 2] * c
            # Insertion sort, which takes one pass where the order is that of the frame
            # before.
            i = count
            while i > 0 and (x[i - 1] > u or (x[i - 1] == u and y[i - 1] > v)):
                x[i], y[i], order[i] = x[i - 1], y[i - 1], order[i - 1]
                i -= 1
            x[i], y[i], order[i] = u, v, k
            count += 1
        # Points that do not touch follow, for the next frame.
        order[count:] = left[: total - count]
        chain = corners[t]
        found = 0
        min_length = 2
        for step in range(2 * count - 1):
            if step < count:
                i = step
            else:
                i = 2 * count - 2 - step
            # Back along the upper chain.
            if step == count:
                min_length = found + 1
            while found >= min_length:
                ax = chain[found - 2, 0]
                ay = chain[found - 2, 1]
                bx = chain[found - 1, 0]
                by = chain[found - 1, 1]
                if (bx - ax) * (y[i] - ay) - (by - ay) * (x[i] - ax) > 0.0:
                    break
                found -= 1
            chain[found, 0], chain[found, 1] = x[i], y[i]
            found += 1
        # The chain ends at its first point, which counts once.
        found = max(found - 1, min(found, 1))
        counts[t] = (
            1
            if found == 2 and chain[0, 0] == chain[1, 0] and chain[0, 1] == chain[1, 1]
            else found
        )


LIFT_HEIGHT = (
    0.001  # [m] A foot that rises by more above the height of its contact lifts off.
)
MAX_ABOVE_LOWEST = (
    0.002  # [m] A foot up to this height above the lowest one counts as equally low.
)
TOUCHING_HEIGHT = (
    1e-5  # [m] A foot that is no higher than this touches the ground in any case.
)
# [s] A foot at one height for this time rests there. One that slides for this time does
# not land or lift off.
MIN_REST_TIME = 0.1


@np.errstate(all="ignore")
def stances(
    heights: Floats,
    speeds: Floats,
    times: Floats,
    height: tuple[float, float],
    speed: tuple[float, float],
) -> Floats:
    """Return where feet are in contact (T, K), 1 or 0.

    Of `heights` (T, K) [m] above the ground and `speeds` (T, K) [m/s] over it.

    (T, K), 1 or 0.

    A foot is low from the frame in which it is below `height[0]` until it is above
    `height[1]`. While it is low it is in contact, except

    - while it lifts off or comes down: the climb at the end, back to 1 mm above the
      height of the contact, or to where it stayed at one
      height for 0.1 s; and likewise the descent at the beginning;
    - while it is fast (from above `speed[1]` until below `speed[0]`) and does not slip.
      It slips when it is on the mean at most 1 mm above
      the height of the contact and 2 mm above the lowest foot; but not for less than
      0.1 s just after it came down or before it lifts off. On the ground, or below it,
      it slips in any case.
    """
    out = np.zeros(heights.shape)
    # (T,) NaN only where no foot has a height.
    lowest_foot = np.fmin.reduce(heights, axis=1, initial=np.inf)
    for own, fast, found in zip(heights.T, speeds.T, out.T, strict=True):
        # An unknown speed makes the foot's state unknown: neither low nor in contact.
        own = np.where(fast >= 0.0, own, np.nan)
        for first, after in runs(_low(own, *height, True)):
            found[first:after] = _stance(
                own, fast, lowest_foot, times, (first, after), height[0], speed
            )
    return out


def _low(values: Floats, below: float, above: float, is_first: bool) -> Bools:
    """Return where values (T,) are low.

    From below the one limit until above the other, or unknown.

    With `is_first`, the state before the first value is unknown, and one between the
    limits is low.
    """
    # Schmitt trigger: where a value decides, and between decisions the last one before.
    begins = values < below
    stays = values <= above
    begins[:1] |= stays[:1] & is_first
    decided = begins | ~stays
    decided[:1] = True
    return np.asarray(
        begins[np.maximum.accumulate(np.where(decided, np.arange(len(values)), 0))]
    )


def _stance(
    heights: Floats,
    speeds: Floats,
    lowest_foot: Floats,
    times: Floats,
    frames: tuple[int, int],
    low: float,
    speed: tuple[float, float],
) -> Floats:
    """Return where a low foot is in contact, as 1 or 0 for each frame.

    It is low in `frames`: the first, and the one after the last.
    """
    first, after = frames
    out = np.zeros(after - first)
    own = heights[first:after]
    # The height of the contact is the mean of the heights up to their mean. What is
    # below the ground touches it.
    level = max(float(own[own <= own.mean() + 1e-12].mean()), 0.0)
    begin = first
    # A phase that begins in the first frame low has no descent before it.
    last = after - 1
    if (first > 0 and heights[first - 1] > low) or heights[first] >= low:
        begin = _end_of_descent(heights, times, first, last, 1, level)
    # The same at its end. Before unknown heights it ends without lifting off.
    if (after < len(heights) and not np.isnan(heights[after])) or heights[last] >= low:
        last = _end_of_descent(heights, times, last, first, -1, level)
    end = last + 1
    out[begin - first : max(end - first, 0)] = 1.0
    # Within the contact: fast stretches that swing are not in contact.
    for a, b in runs(~_low(speeds[begin:end], *speed, begin == 0)):
        a = a + begin
        b = b + begin
        # A stretch that reaches the motion's ends may go on outside.
        inside = (a > begin or begin == 0) and (b < end or end == len(heights))
        lands = not inside and times[b - 1] - times[a] < MIN_REST_TIME - 1e-9
        # How far it is above the lowest foot on the mean: while both feet are down it
        # slips.
        above_lowest = float((heights[a:b] - lowest_foot[a:b]).mean())
        if (
            lands
            or heights[a:b].mean() > level + LIFT_HEIGHT
            or above_lowest > MAX_ABOVE_LOWEST
        ):
            # On or below the ground it touches in any case.
            out[a - first : b - first][heights[a:b] > TOUCHING_HEIGHT] = 0.0
    return out


def _end_of_descent(
    heights: Floats, times: Floats, top: int, last: int, step: int, level: float
) -> int:
    """Return the frame in which the descent that begins at `top` ends.

    Frames go from `top` by `step` to `last`.
    """
    low = top
    other = top
    t = top
    while True:
        # It climbs again: the lowest frame so far was the end of the descent.
        if heights[t] > heights[low] + LIFT_HEIGHT:
            return low
        if heights[t] < heights[low]:
            low = t
        # At the height of the contact the descent is over.
        if heights[t] <= level + LIFT_HEIGHT:
            return low
        # `other` follows t at a distance of 0.1 s: a foot that has not sunk since
        # rests.
        while (
            other != t and abs(times[other + step] - times[t]) >= MIN_REST_TIME - 1e-9
        ):
            other += step
        if (
            abs(times[other] - times[t]) >= MIN_REST_TIME - 1e-9
            and heights[other] - heights[t] < LIFT_HEIGHT
        ):
            return other
        if t == last:
            return low
        t += step


# [m] A foot that would be lower than the supporting one by more than this becomes the
# supporting one.
MAX_SINK = 1e-4
BLOCK = 512  # Frames that are computed together.


@np.errstate(all="ignore")
def roots(
    feet: Floats, points: Floats, edges: Indices, start: Floats
) -> tuple[Floats, Floats]:
    """Return root poses (T, 7) for which the supporting foot does not slip.

    From poses (T, K, 7) of the feet in the root's frame, K > 0.

    A foot supports the body, at one place, until another one would sink below it. The
    first root pose is `start` (7,).

    The second array is the height (T,) of the lowest foot's lowest point then. `points`
    (P, 3) in the feet's frames; those of foot k are `edges[k]`…`edges[k + 1]`.
    """
    ground = np.empty(len(feet))
    held = np.empty((len(feet), 7))
    if not len(feet):
        return held, ground
    turns = matrices(feet)
    positions = np.ascontiguousarray(feet[..., :3].T)
    supports = np.zeros(len(feet), dtype=np.int64)

    def heights(up: Floats, root: npt.ArrayLike, part: slice) -> Floats:
        """Return the heights (K, N) of the lowest points.

        For the world's z (3, N) in the frames of roots of heights (N,).

        With R, t of a foot there and its points p, they are root + up·t + min (Rᵀup)·p.
        """
        found: Floats = root + (up[:, None] * positions[..., part]).sum(axis=0)
        own = (turns[..., part] * up[:, None, None]).sum(axis=0)
        for foot, lowest in enumerate(found):
            lowest += (points[edges[foot] : edges[foot + 1]] @ own[:, foot]).min(
                axis=0, initial=np.inf
            )
        return found

    # The direction up in the root's frame of the first pose.
    up = rotate(conjugate(start[3:]), [0.0, 0.0, 1.0])
    support = int(heights(up[:, None], start[2], slice(1)).argmin())
    # The pose (7,) of the supporting foot in the world, which stays while it supports.
    pose = compose(start, feet[0, support])
    t = 0
    has_changed = True
    while t < len(feet):
        part = slice(t, t + BLOCK)
        # Up in the root's frame, of each frame of the block: the foot's pose in the
        # world is fixed, so the root's orientation follows from that of the foot in the
        # root's frame.
        up = apply(
            turns[:, :, support, part], rotate(conjugate(pose[3:]), [0.0, 0.0, 1.0])
        )
        found = heights(
            up, pose[2] - (up * positions[:, support, part]).sum(axis=0), part
        )
        sinks = found.min(axis=0) < found[support] - MAX_SINK
        # In the first frame after a change the new foot supports, whatever sinks.
        sinks[:has_changed] = False
        has_changed = bool(sinks.any())
        # Frames up to the one in which another foot sinks.
        part = slice(t, t + int(sinks.argmax()) if has_changed else t + len(sinks))
        supports[part], held[part], ground[part] = (
            support,
            pose,
            found.min(axis=0)[: part.stop - t],
        )
        t = part.stop
        if has_changed:
            # The new foot supports the body at its position one frame ago, before it
            # would have been too low.
            before = compose(pose, inverse(feet[t - 1, support]))
            support = int(found[:, t - part.start].argmin())
            pose = compose(before, feet[t - 1, support])
    # root = foot in the world · (foot in the root)⁻¹.
    out = compose(held, inverse(feet[np.arange(len(feet)), supports]))
    # Exactly as given, without rounding.
    out[0] = start
    return out, ground
