"""Rotations as unit quaternions in the order w x y z, over arrays (..., 4).

Quaternions are normalized where they are used; a zero quaternion counts as the
identity. Angles are radians. Roll, pitch and yaw are those of the .seq document and of
URDF: R = Rz(yaw) · Ry(pitch) · Rx(roll).

Nothing in a file shows that its angles are meant as degrees. `limits_in_degrees` and
its siblings are the one judgement for limits, rotations, motions and keyframes: they
look for values that no robot has in radians and that would be plausible as degrees.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats, unit

__all__ = [
    "IDENTITY",
    "angle_between",
    "conjugate",
    "from_axis_angle",
    "from_matrix",
    "from_rpy",
    "matrix_to_rpy",
    "multiply",
    "normalized",
    "rotate",
    "slerp",
    "to_axis_angle",
    "to_matrix",
    "to_rpy",
]

IDENTITY: Floats = np.array([1.0, 0.0, 0.0, 0.0])
IDENTITY.flags.writeable = False

FULL_TURN = 2.0 * math.pi  # [rad]
MAX_ROTATION = (
    FULL_TURN + 1e-3
)  # [rad] The angle of a rotation that is larger looks like degrees.
MAX_LIMIT = (
    40.0  # [rad] Limits of a joint beyond this (6.4 full turns) look like degrees.
)
MAX_WHOLE_LIMIT = (
    2 * FULL_TURN
)  # [rad] So do limits beyond this when both are whole numbers, such as -35 and 20.
NO_LIMIT = 1e4  # [rad] Files write a number beyond this for a joint without a limit.
# The part of the frames in which angles must be too large: a few wild frames have
# another cause.
MIN_SHARE = 0.25


def _columns(values: Floats) -> Floats:
    """Return the array with the last axis first.

    Faster than NumPy's function for up to two axes.
    """
    if values.ndim <= 2:
        return values.T
    return np.moveaxis(values, -1, 0)


def normalized(quaternion: npt.ArrayLike) -> Floats:
    """Return quaternions (..., 4) scaled to unit length.

    Those without a finite, positive length become the identity.
    """
    q = np.asarray(quaternion, dtype=np.float64)
    # Component by component: NumPy is slow to reduce rows of four.
    w, x, y, z = _columns(q)
    with np.errstate(over="ignore", invalid="ignore"):
        square = w * w + x * x + y * y + z * z
        if ((square > 1e-200) & (square < 1e200)).all():
            return np.asarray(q / np.sqrt(square)[..., None])
    largest = np.abs(q).max(axis=-1, keepdims=True)
    usable = np.isfinite(largest) & (largest > 0)
    scaled = np.where(usable, q, IDENTITY) / np.where(usable, largest, 1.0)
    return np.asarray(scaled / np.linalg.norm(scaled, axis=-1, keepdims=True))


def conjugate(quaternion: npt.ArrayLike) -> Floats:
    """Return the inverse of unit quaternions (..., 4)."""
    q: Floats = np.asarray(quaternion, dtype=np.float64)
    return np.asarray(q * np.array([1.0, -1.0, -1.0, -1.0]))


def multiply(a: npt.ArrayLike, b: npt.ArrayLike) -> Floats:
    """Return the products a·b (..., 4) of quaternions: b is applied first, then a."""
    aw, ax, ay, az = _columns(np.asarray(a, dtype=np.float64))
    bw, bx, by, bz = _columns(np.asarray(b, dtype=np.float64))
    return np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        axis=-1,
    )


def rotate(quaternion: npt.ArrayLike, vector: npt.ArrayLike) -> Floats:
    """Return vectors (..., 3) rotated by unit quaternions (..., 4)."""
    q = np.asarray(quaternion, dtype=np.float64)
    v = np.asarray(vector, dtype=np.float64)
    w, x, y, z = _columns(q)
    a, b, c = _columns(v)
    # v + 2w·(u × v) + 2u × (u × v), u the vector part: t = 2u × v, then v + w·t + u ×
    # t.
    i = 2.0 * (y * c - z * b)
    j = 2.0 * (z * a - x * c)
    k = 2.0 * (x * b - y * a)
    return np.stack(
        [
            a + w * i + (y * k - z * j),
            b + w * j + (z * i - x * k),
            c + w * k + (x * j - y * i),
        ],
        axis=-1,
    )


def to_matrix(quaternion: npt.ArrayLike) -> Floats:
    """Return rotation matrices (..., 3, 3) of quaternions (..., 4)."""
    w, x, y, z = _columns(normalized(quaternion))
    matrix = np.empty((*np.shape(w), 3, 3))
    matrix[..., 0, 0] = 1 - 2 * (y * y + z * z)
    matrix[..., 0, 1] = 2 * (x * y - w * z)
    matrix[..., 0, 2] = 2 * (x * z + w * y)
    matrix[..., 1, 0] = 2 * (x * y + w * z)
    matrix[..., 1, 1] = 1 - 2 * (x * x + z * z)
    matrix[..., 1, 2] = 2 * (y * z - w * x)
    matrix[..., 2, 0] = 2 * (x * z - w * y)
    matrix[..., 2, 1] = 2 * (y * z + w * x)
    matrix[..., 2, 2] = 1 - 2 * (x * x + y * y)
    return matrix


def from_matrix(matrix: npt.ArrayLike) -> Floats:
    """Return quaternions (..., 4) with w >= 0 of rotation matrices (..., 3, 3).

    Of the four expressions for a quaternion the one with the largest divisor is used
    (Shepperd, 1978), so no digits are lost near rotations by π.
    """
    m = np.asarray(matrix, dtype=np.float64)
    xx = m[..., 0, 0]
    yy = m[..., 1, 1]
    zz = m[..., 2, 2]
    x = m[..., 2, 1] - m[..., 1, 2]
    y = m[..., 0, 2] - m[..., 2, 0]
    z = m[..., 1, 0] - m[..., 0, 1]
    xy = m[..., 0, 1] + m[..., 1, 0]
    xz = m[..., 0, 2] + m[..., 2, 0]
    yz = m[..., 1, 2] + m[..., 2, 1]
    # The symmetric matrix 4 q qᵀ; the divisors are on its diagonal.
    rows = (
        (1 + xx + yy + zz, x, y, z),
        (x, 1 + xx - yy - zz, xy, xz),
        (y, xy, 1 - xx + yy - zz, yz),
        (z, xz, yz, 1 - xx - yy + zz),
    )
    candidates = np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
    best = np.argmax(np.diagonal(candidates, axis1=-2, axis2=-1), axis=-1)
    q = normalized(
        np.take_along_axis(candidates, best[..., None, None], axis=-2)[..., 0, :]
    )
    return np.asarray(np.where(q[..., :1] < 0, -q, q))


def from_axis_angle(axis: npt.ArrayLike, angle: npt.ArrayLike) -> Floats:
    """Return quaternions (..., 4) of rotations about axes.

    By `angle` (...) [rad] about `axis` (..., 3) of any length.

    A zero axis: the identity.
    """
    axis = np.asarray(axis, dtype=np.float64)
    half = 0.5 * np.asarray(angle, dtype=np.float64)[..., None]
    w = np.where(axis.any(axis=-1, keepdims=True), np.cos(half), 1.0)
    xyz = unit(axis) * np.sin(half)
    return np.concatenate([np.broadcast_to(w, (*xyz.shape[:-1], 1)), xyz], axis=-1)


def from_vector(vector: npt.ArrayLike) -> Floats:
    """Return quaternions (..., 4) of rotation vectors (..., 3) [rad]."""
    vector = np.asarray(vector, dtype=np.float64)
    half = 0.5 * np.sqrt(np.einsum("...i,...i", vector, vector))
    w = np.cos(half)
    sine = np.sin(half)
    # sin(½α)/α, which is ½ at α = 0.
    scale = 0.5 * np.divide(sine, half, out=np.ones_like(half), where=half > 0)
    return np.concatenate([w[..., None], scale[..., None] * vector], axis=-1)


def difference(a: npt.ArrayLike, b: npt.ArrayLike) -> Floats:
    """Return the rotation vectors (..., 3) [rad] log(a·b⁻¹) from b to a (..., 4).

    In the world.
    """
    rotation = multiply(a, conjugate(b))
    w = rotation[..., 0]
    vector = rotation[..., 1:]
    sine = np.sqrt(np.einsum("...i,...i", vector, vector))
    # q and −q are one rotation; near the identity the angle is twice its sine.
    scale = 2.0 * np.divide(
        np.arctan2(sine, np.abs(w)), sine, out=np.ones_like(sine), where=sine > 0
    )
    return np.asarray(np.where(w < 0, -scale, scale)[..., None] * vector)


def to_axis_angle(quaternion: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Return unit axes (..., 3) and angles (...) in 0…π of quaternions (..., 4).

    The identity has the axis z.
    """
    q = normalized(quaternion)
    # The sign with w ≥ 0 gives angles up to π.
    q = np.where(q[..., :1] < 0, -q, q)
    sine = np.linalg.norm(q[..., 1:], axis=-1)
    # By both parts: near 0 and π the arc cosine has no digits.
    angle = 2.0 * np.arctan2(sine, q[..., 0])
    is_rotated = sine > 0
    axis = q[..., 1:] / np.where(is_rotated, sine, 1.0)[..., None]
    axis = np.where(is_rotated[..., None], axis, np.array([0.0, 0.0, 1.0]))
    return np.asarray(axis), np.asarray(angle)


def from_rpy(rpy: npt.ArrayLike) -> Floats:
    """Return quaternions (..., 4) of roll, pitch, yaw (..., 3)."""
    # Rz(yaw) · Ry(pitch) · Rx(roll), as in URDF.
    half = 0.5 * np.asarray(rpy, dtype=np.float64)
    sr, sp, sy = _columns(np.sin(half))
    cr, cp, cy = _columns(np.cos(half))
    return np.stack(
        [
            cr * cp * cy + sr * sp * sy,
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
        ],
        axis=-1,
    )


def to_rpy(quaternion: npt.ArrayLike) -> Floats:
    """Return roll, pitch, yaw (..., 3) of quaternions (..., 4).

    Roll is computed first; then yaw and pitch from the matrix without the roll, M = R ·
    Rx(−roll) = Rz(yaw) · Ry(pitch). Other than pitch = asin(…), this loses no digits
    near ±90°.
    """
    return matrix_to_rpy(to_matrix(quaternion))


def matrix_to_rpy(matrix: npt.ArrayLike) -> Floats:
    """Return roll, pitch, yaw (..., 3) of rotation matrices (..., 3, 3).

    As `to_rpy` does.
    """
    r = np.asarray(matrix, dtype=np.float64)
    roll = np.arctan2(r[..., 2, 1], r[..., 2, 2])
    sine = np.sin(roll)
    cosine = np.cos(roll)
    yaw = np.arctan2(
        r[..., 0, 2] * sine - r[..., 0, 1] * cosine,
        r[..., 1, 1] * cosine - r[..., 1, 2] * sine,
    )
    pitch = np.arctan2(-r[..., 2, 0], r[..., 2, 1] * sine + r[..., 2, 2] * cosine)
    return np.stack([roll, pitch, yaw], axis=-1)


def angle_between(a: npt.ArrayLike, b: npt.ArrayLike) -> Floats:
    """Return the angles (...) in 0…π [rad] between orientations a and b (..., 4)."""
    return to_axis_angle(multiply(conjugate(normalized(a)), normalized(b)))[1]


def slerp(a: npt.ArrayLike, b: npt.ArrayLike, fraction: npt.ArrayLike) -> Floats:
    """Return orientations (..., 4) on the shorter arc from a to b (..., 4).

    At `fraction` (...) in 0…1 (Shoemake, 1985).
    """
    a = normalized(a)
    b = normalized(b)
    b = np.where(np.sum(a * b, axis=-1, keepdims=True) < 0, -b, b)
    t = np.asarray(fraction, dtype=np.float64)[..., None]
    # The angle Ω between a and b on the sphere: |b − a| = 2·sin Ω/2, |a + b| = 2·cos Ω/2.
    # It has all its digits also where it is small, other than by arccos a·b.
    difference_length = np.linalg.norm(b - a, axis=-1, keepdims=True)
    sum_length = np.linalg.norm(a + b, axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(difference_length, sum_length)
    sine = np.sin(angle)
    # The weights are sin((1−t)Ω)/sin Ω and sin(tΩ)/sin Ω; nearer, they are linear in t.
    is_far = sine > 1e-9
    divisor = np.where(is_far, sine, 1.0)
    weight_a = np.where(is_far, np.sin((1.0 - t) * angle) / divisor, 1.0 - t)
    weight_b = np.where(is_far, np.sin(t * angle) / divisor, t)
    return normalized(weight_a * a + weight_b * b)


def limits_in_degrees(lower: float, upper: float) -> float | None:
    """Return the larger of two joint limits [rad] that look like degrees.

    As a positive angle.

    Else None.
    """
    largest = max(
        (abs(limit) for limit in (lower, upper) if abs(limit) < NO_LIMIT), default=0.0
    )
    whole = float(lower).is_integer() and float(upper).is_integer()
    if largest > (MAX_WHOLE_LIMIT if whole else MAX_LIMIT):
        return largest
    return None


def limits_in_radians(limits: Floats) -> int | None:
    """Return which of joint limits (J, 2) [°] are widest if all look like radians.

    Else None.

    Some joint of a robot in degrees has a limit beyond a full turn in radians. Whole
    numbers of a few joints may be degrees.
    """
    widest = np.abs(limits).max(axis=1)
    whole = (np.abs(limits - np.round(limits)) < 1e-9).all()
    if widest.max() > FULL_TURN + 0.01 or (whole and len(limits) < 4):
        return None
    return int(widest.argmax())


@dataclass(frozen=True)
class AnglesInDegrees:
    """Angles over time that look like degrees.

    Attributes
    ----------
    columns:
        The columns that would stay between their limits as degrees.
    beyond:
        How many columns are beyond their limits as radians.
    frame, column:
        Where the largest of them is.
    """

    columns: tuple[int, ...]
    beyond: int
    frame: int
    column: int


def angles_in_degrees(
    values: Floats,
    lower: Floats,
    upper: Floats,
    *,
    min_angle: float = FULL_TURN,
    max_angle: float = math.inf,
) -> AnglesInDegrees | None:
    """Return how angles over time look like degrees.

    None where they do not.

    They do where most columns that are beyond their limits would stay between them as
    degrees, and of these columns some are beyond their limits in more than `MIN_SHARE`
    of the frames, and some are beyond `min_angle`.

    Parameters
    ----------
    values:
        (T, C) [rad].
    lower, upper:
        (C,) the limits [rad]; columns with infinite ones are never beyond.
    min_angle, max_angle:
        Some must be larger than the first [rad]. Values beyond the second [rad] are
        wrong for another reason, and cannot be the largest.
    """
    with np.errstate(invalid="ignore"):
        wrong = (values < lower) | (values > upper)
        columns = np.flatnonzero(wrong.any(axis=0))
        as_degrees = np.radians(values[:, columns])
        kept = columns[
            ~((as_degrees < lower[columns]) | (as_degrees > upper[columns])).any(axis=0)
        ]
    # Most of the columns beyond their limits must fit as degrees, over enough frames.
    if (
        2 * len(kept) <= len(columns)
        or np.mean(wrong[:, kept].any(axis=1)) <= MIN_SHARE
    ):
        return None
    sizes = np.abs(values[:, kept].T)
    # What is wrong for another reason is never the largest.
    sizes[~(sizes <= max_angle) | np.isinf(sizes)] = 0.0
    column, frame = np.unravel_index(np.argmax(sizes), sizes.shape)
    if sizes[column, frame] <= min_angle:
        return None
    return AnglesInDegrees(
        tuple(kept.tolist()), len(columns), int(frame), int(kept[column])
    )
