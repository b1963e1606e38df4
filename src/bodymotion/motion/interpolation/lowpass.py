"""The low-pass filter before a lower frame rate.

It removes what the new rate cannot represent, instead of aliasing it.

The filter is a sinc under a Kaiser window, symmetric, so nothing is delayed. Relative
to the new rate f: frequencies up to 0.35·f pass (within 0.1 %), 0.425·f passes by half,
from 0.5·f on a thousandth is left (60 dB). Values are first put on a grid at a whole
multiple of the new rate that is at least as fine as the old one, by the chosen method;
where the old rate is such a multiple, that changes nothing. They are filtered there,
and every m-th row is kept. Beyond the ends, the movement is continued by reflection
through the end.

Orientations are filtered as four numbers, with the signs chosen so that there is no
jump, then normalized. A rotation at constant speed stays one, and rotating the world
before or after filtering gives the same result.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats, check_memory

Rows: TypeAlias = Callable[[int, int, Floats], None]

BETA = 5.653  # Shape of the Kaiser window for 60 dB: 0.1102 · (60 − 8.7).

# Half width of the filter in frames of the new rate. (60 − 7.95) / (2.285 · 2π · 0.15)
# on both sides together.
HALF_WIDTH = 12


def taps(factor: int) -> Floats:
    """Return the weights (2·12·factor + 1,) of the filter, whose sum is 1.

    For a grid `factor` times finer than the new frame rate.
    """
    # Distances from the middle in frames of the new rate.
    frames = np.arange(-HALF_WIDTH * factor, HALF_WIDTH * factor + 1) / factor
    # Kaiser's window I₀(β·√(1 − x²)), x from −1 to 1.
    window = np.i0(BETA * np.sqrt(np.clip(1 - (frames / HALF_WIDTH) ** 2, 0, None)))
    # An ideal low-pass at 0.425 of the new rate, between the bands of the module's
    # text.
    weights = np.sinc(2 * 0.425 * frames) * window
    return np.asarray(weights / weights.sum())


def gaussian(cutoff: float) -> Floats:
    """Return the weights (2·half + 1,) of a Gaussian low-pass, whose sum is 1.

    Its −3 dB point (1/√2) is at `cutoff` [cycles per row].
    """
    # The transform exp(−2π²σ²f²) is 1/√2 at f = √(ln 2)/(2π·σ).
    width = np.sqrt(np.log(2)) / (2 * np.pi * cutoff)
    # Beyond five standard deviations weights are below 4e-6 of the largest.
    half = int(np.ceil(5 * width))
    check_memory(
        4 * 8 * (2 * half + 1), f"a low-pass filter over {2 * half + 1} frames"
    )
    weights = np.exp(-0.5 * (np.arange(-half, half + 1) / width) ** 2)
    return np.asarray(weights / weights.sum())


def smooth_bound(values: Floats, span: int) -> Floats:
    """Return smooth values (T,) nowhere below the given ones.

    Weighted means over `span` rows on both sides of maxima over as many.
    """
    largest = np.pad(values, span, mode="edge")
    # Maxima over windows of doubling sizes: log₂ of the width passes instead of one per
    # row.
    size = 1
    width = 2 * span + 1
    while size < width:
        step = min(size, width - size)
        largest = np.maximum(largest[:-step], largest[step:])
        size = size + step
    # Weights that are 0 just outside of the window.
    window = np.hanning(width + 2)[1:-1]
    # A mean over maxima that all include the row is at least the row.
    return np.convolve(
        np.pad(largest, span, mode="edge"), window / window.sum(), mode="valid"
    )


def quintic(share: Floats) -> Floats:
    """Return the quintic polynomial (...) from 0 to 1 at shares 0…1.

    Speeds and accelerations are 0 at both ends.
    """
    return share**3 * (10.0 - 15.0 * share + 6.0 * share * share)


def bump(share: Floats) -> Floats:
    """Return a polynomial (...) that is 1 at share 0.5.

    It is 0 without speed at shares 0 and 1.
    """
    return 16.0 * (share * (1.0 - share)) ** 2


def inner_shares(count: int) -> Floats:
    """Return the shares (count,) of frames between two others.

    0 and 1 are those of the frame before and the frame behind.
    """
    return np.linspace(0.0, 1.0, count + 2)[1:-1]


def low_passed(
    fill: Rows,
    out: Floats,
    weights: Floats,
    *,
    step: int = 1,
    ends: tuple[int, int],
    block: int = 1 << 16,
    poses: bool = False,
) -> None:
    """Fill `out` (N, …) with low-passed rows 0, step, 2·step, … of a grid.

    Each is the sum of the rows around it times `weights` (2·half + 1,).

    `fill(first, last, rows)` writes rows first…last−1 of the grid. The movement runs
    from row ends[0] to ends[1]; before and after that it
    is constant. About `block` rows are processed at a time.
    """
    from bodymotion.kernels import interpolation

    half = len(weights) // 2
    numbers = (len(weights) + block) * int(np.prod(out.shape[1:]))
    check_memory(3 * 8 * numbers, f"a low-pass filter over {len(weights)} frames")
    lowest, highest = ends
    # The first and the last row of `out` within the movement.
    begin = min(-(-lowest // step), len(out))
    end = min(highest // step + 1, len(out))
    at_once = max(block // step, 1)
    for first in range(begin, end, at_once):
        stop = min(first + at_once, end)
        # Each block needs `half` rows more on both sides.
        span = (first * step - half, (stop - 1) * step + half + 1)
        table = reflected(fill, out.shape[1:], span, ends, poses)
        rows = interpolation.filtered(table.reshape(len(table), -1), weights, step)
        out[first:stop] = rows.reshape(stop - first, *out.shape[1:])
        if poses:
            # Sums of quaternions are shorter than 1.
            out[first:stop, ..., 3:] = rotations.normalized(out[first:stop, ..., 3:])
    # Before and after the movement all rows are copies of its ends.
    for still, row in ((out[:begin], lowest), (out[end:], highest)):
        if len(still):
            fill(row, row + 1, still[:1])
            still[1:] = still[0]


def all_low_passed(values: Floats, weights: Floats, *, poses: bool) -> Floats:
    """Return values (T, …) after a low-pass filter.

    Each row is the sum of those around it times `weights`, as `low_passed` has them.
    """

    def fill(first: int, last: int, rows: Floats) -> None:
        rows[:] = values[first:last]

    out = np.empty(values.shape)
    low_passed(fill, out, weights, ends=(0, len(values) - 1), poses=poses)
    return out


def reflected(
    fill: Rows,
    shape: tuple[int, ...],
    span: tuple[int, int],
    ends: tuple[int, int],
    poses: bool,
) -> Floats:
    """Return rows (…, *shape) of a grid from span[0] to before span[1].

    Beyond its ends (first and last row) it continues by reflection.

    A number x beyond an end at e is 2e − x′, x′ being as far inside; an orientation
    continues by the rotation from x′ to e. Quaternions are one curve without jumps of
    sign.
    """
    from bodymotion.kernels import interpolation

    lowest, highest = ends
    before = max(lowest - span[0], 0)
    after = max(span[1] - 1 - highest, 0)
    first = max(min(span[0], highest - after), lowest)
    last = min(max(span[1] - 1, lowest + before), highest)
    table = np.empty((last + 1 - first, *shape))
    fill(first, last + 1, table)
    if poses:
        table[..., 3:] = interpolation.unit_quaternions(table[..., 3:])
    if before:
        table = _continued(table[::-1], before, poses)[::-1]
        first = first - before
    if after:
        table = _continued(table, after, poses)
    return table[span[0] - first : span[1] - first]


def _continued(table: Floats, count: int, poses: bool) -> Floats:
    """Return the table with `count` more rows, reflected through the last row.

    Where rows run out, through the last new row, and so on.
    """
    while count:
        end = table[-1]
        if len(table) > 1:
            inside = table[-2 : -2 - count : -1]
        else:
            inside = table[-1:]
        more = 2 * end - inside
        if poses:
            q = inside[..., 3:]
            e = end[..., 3:]
            more[..., 3:] = 2 * np.sum(q * e, axis=-1, keepdims=True) * e - q
        table = np.concatenate([table, more])
        count -= len(more)
    return table
