"""Where two bodies differ: exactly, but for numbers that rounding may change."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import numpy as np

__all__ = ["difference"]

ROUNDED = ("transform", "pose", "offset", "root_pose", "placed", "axis")
"""Fields that are turned into other numbers and back (matrices, quaternions), so that rounding may change their last digits."""


def difference(
    a: object, b: object, tolerance: float = 0.0, where: str = "body"
) -> str:
    """Say what differs first, "" where nothing does.

    Fields in `ROUNDED` may differ by `tolerance`, as a share of the largest number of their array, or of 1; all others not at all.
    """
    if isinstance(a, (list, tuple)) and isinstance(b, np.ndarray):
        a = np.asarray(a)
    if type(a) is not type(b) and not (
        isinstance(a, (int, float)) and isinstance(b, (int, float))
    ):
        return f"{where}: {a!r:.80} and {b!r:.80}"
    pairs: list[tuple[object, object, str]] = []
    if is_dataclass(a):
        pairs = [
            (getattr(a, f.name), getattr(b, f.name), f"{where}.{f.name}")
            for f in fields(a)
            if f.compare
        ]
    elif isinstance(a, dict):
        if a.keys() != b.keys():
            return f"{where}: {sorted(a.keys() ^ b.keys())} in one only"
        pairs = [(a[key], b[key], f"{where}.{key}") for key in a]
    elif isinstance(a, (list, tuple)):
        if len(a) != len(b):
            return f"{where}: {len(a)} and {len(b)} items"
        pairs = [
            (x, y, f"{where}[{i}]") for i, (x, y) in enumerate(zip(a, b, strict=True))
        ]
    elif isinstance(a, np.ndarray):
        if a.shape != b.shape:
            return f"{where}: shapes {a.shape} and {b.shape}"
        if not np.array_equal(a, b, equal_nan=a.dtype.kind == "f"):
            apart = np.abs(a - b).max()
            allowed = (
                tolerance * max(1.0, np.abs(a).max())
                if where.rpartition(".")[2] in ROUNDED
                else 0.0
            )
            if not apart <= allowed:
                return f"{where}: {apart:.3g} apart"
    elif a != b and not (a != a and b != b):
        return f"{where}: {a!r:.80} and {b!r:.80}"
    return next(
        (
            found
            for x, y, place in pairs
            if (found := difference(x, y, tolerance, place))
        ),
        "",
    )
