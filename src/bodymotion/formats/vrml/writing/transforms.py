"""Rotations and matrices as fields of nodes, so that the reader makes the same numbers of them.

An angle and an axis, or a scale, that come out of a matrix carry its rounding. So rounded ones are tried first, from few digits on:
where they give the very same matrix they are what somebody once wrote, and short. Else all digits are written; what is read then differs
by rounding only, about 1e-15 of the largest number.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np

from bodymotion.formats.vrml import access
from bodymotion.formats.vrml.nodes import Node, Value
from bodymotion.formats.vrml.scene import node_transform, rotation_matrix
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats

__all__ = ["holds", "rotation_value", "transform_fields"]

DIGITS = (3, 4, 5, 6, 7, 8, 10, 12, 13, 15, 16)
UNTURNED: Floats = np.eye(3)
ROUNDING = 1e-12
"""How far, as a share of its largest number, a matrix may be from one that its fields give."""


def rotation_value(quaternion: Floats) -> Floats | None:
    """Return axis and angle (4,) of a quaternion w x y z as an SFRotation; None for the identity.

    The angle is in 0…2π and keeps the quaternion's sign.
    """
    w, x, y, z = quaternion.tolist()
    length = math.sqrt(x * x + y * y + z * z)
    if length == 0.0 or not math.isfinite(length + w):
        if w < 0:
            return np.array([0.0, 0.0, 1.0, 2 * math.pi])
        return None
    # Zeros without a sign: they are the same to the reader and shorter.
    exact = (x / length + 0.0, y / length + 0.0, z / length + 0.0), 2.0 * math.atan2(length, w)

    def same(axis: tuple[float, float, float], angle: float) -> bool:
        return access.quaternion(axis, angle) == (w, x, y, z)

    return np.array(_searched(*exact, same) or (*exact[0], exact[1]))


def transform_fields(matrix: Floats) -> dict[str, Value]:
    """Return translation, rotation, scale and scaleOrientation of a Transform that is the affine matrix (4, 4).

    Those that do nothing are left out.

    A stretched matrix is a turn times a symmetric stretch (polar decomposition); the stretch is a scale along the axes where that is so,
    and else along its eigenvectors. A mirrored one has a negative scale.
    """
    if np.array_equal(matrix[:3, :3], UNTURNED):
        return {"translation": matrix[:3, 3]} if matrix[:3, 3].any() else {}
    turn, scale, orientation = _parts(matrix[:3, :3])
    exact = (*_axis_angle(turn), *scale, *_axis_angle(orientation))
    if scale == (1.0, 1.0, 1.0):
        wanted = tuple(tuple(row) for row in matrix[:3, :3].tolist())
        found = _searched(exact[:3], exact[3], lambda axis, angle: rotation_matrix(axis, angle) == wanted)
        return _fields(matrix[:3, 3], np.array([*(found or exact[:4]), *exact[4:]])) or {}
    for value in _candidates(exact):
        fields = _fields(matrix[:3, 3], value)
        if fields is not None and np.array_equal(node_transform(Node("Transform", fields=fields)), matrix):
            return fields
    return _fields(matrix[:3, 3], np.array(exact)) or {}


def holds(matrix: Floats, fields: dict[str, Value]) -> bool:
    """Whether a Transform with these fields is the matrix but for rounding."""
    if not np.isfinite(matrix).all():
        return False
    read = node_transform(Node("Transform", fields=fields))
    return bool(np.abs(read - matrix).max() <= ROUNDING * max(1.0, np.abs(matrix).max()))


def _searched(
    axis: tuple[float, ...], angle: float, same: Callable[[tuple[float, float, float], float], bool]
) -> tuple[float, ...] | None:
    """Return a rotation that is read as the wanted one: of the fewest digits, or else beside the computed one; None where none is found.

    `same` is asked with axes as they are read, of length 1.
    """
    axes = list(dict.fromkeys(tuple(_rounded(x, digits) for x in axis) for digits in DIGITS))
    angles = list(dict.fromkeys(_rounded(angle, digits) for digits in DIGITS))
    for near in (*axes, axis):
        if any(near):
            read = access.unit(*near)
            for turn in (*angles, angle):
                if same(read, turn):
                    return (*near, turn)
    for near in itertools.product(*map(_beside, axis)):
        read = access.unit(*near)
        for turn in _beside(angle):
            if same(read, turn):
                return (*near, turn)
    return None


def _beside(x: float) -> tuple[float, ...]:
    """Return a number and the doubles next to it; of none there are none."""
    return (x, math.nextafter(x, math.inf), math.nextafter(x, -math.inf)) if x else (x,)


def _rounded(x: float, digits: int) -> float:
    return float(f"{x:.{digits}g}")


def _candidates(exact: tuple[float, ...]) -> Iterator[Floats]:
    for digits in DIGITS:
        yield np.array([_rounded(x, digits) for x in exact])
    yield np.array(exact)


def _fields(translation: Floats, value: Floats) -> dict[str, Value] | None:
    """Return the fields of a turn (4), a scale (3) and its orientation (4); None where rounding has left no axis."""
    if not value[:3].any() or not value[7:10].any():
        return None
    fields: dict[str, Value] = {}
    if translation.any():
        fields["translation"] = translation
    if value[3] != 0.0:
        fields["rotation"] = value[:4]
    if (value[4:7] != 1.0).any():
        fields["scale"] = value[4:7]
        if value[10] != 0.0:
            fields["scaleOrientation"] = value[7:]
    return fields


def _axis_angle(turn: Floats) -> tuple[float, float, float, float]:
    if turn is UNTURNED:
        return 0.0, 0.0, 1.0, 0.0
    axis, angle = rotations.to_axis_angle(rotations.from_matrix(turn))
    x, y, z = (axis + 0.0).tolist()
    return x, y, z, float(angle)


def _parts(matrix: Floats) -> tuple[Floats, tuple[float, ...], Floats]:
    """Split a matrix (3, 3) into a turn, a scale (3) and the turn of the scale's axes."""
    lengths = np.linalg.norm(matrix, axis=0)
    turn = matrix / np.where(lengths > 0, lengths, 1.0)
    if (lengths > 0).all() and np.abs(turn.T @ turn - np.eye(3)).max() <= 1e-14:
        lengths = np.where(np.abs(lengths - 1.0) <= 4e-16, 1.0, lengths)
        if np.linalg.det(turn) < 0:
            # Any of the three may be the mirrored one: the one that leaves the smallest turn.
            mirrored = int(np.argmin(np.diag(turn)))
            turn[:, mirrored] *= -1
            lengths[mirrored] *= -1
        return turn, tuple(lengths.tolist()), UNTURNED
    left, sizes, right = np.linalg.svd(matrix)
    axes = right.T
    if np.linalg.det(axes) < 0:
        axes = -axes
        left = -left
    turn = left @ axes.T
    if np.linalg.det(turn) < 0:
        turn, sizes = -turn, -sizes
    return turn, tuple(sizes.tolist()), axes
