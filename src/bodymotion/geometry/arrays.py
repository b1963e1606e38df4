"""Read-only float64 arrays, the contents of all values in this package.

Their comparison; and the memory for large ones.
"""

import gc
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from numbers import Real
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import ShortRepr

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int32]
Indices: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]


def frozen(
    values: npt.ArrayLike,
    shape: Sequence[int | None] | None = None,
    what: str = "array",
) -> Floats:
    """Return `values` as a read-only float64 array.

    It is checked against `shape`; None in it is any length. A float64 array is not
    copied: the returned view is read-only, the caller's array stays writable.

    Raises ValueError when the shape differs; the message has both.
    """
    array = np.asarray(values, dtype=np.float64)
    if shape is not None and array.shape != shape and not _fits(array.shape, shape):
        expected = ", ".join("any" if n is None else str(n) for n in shape)
        raise ValueError(f"{what}: expected shape ({expected}), got {array.shape}")
    if array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array


def _fits(shape: tuple[int, ...], expected: Sequence[int | None]) -> bool:
    """Return whether a shape is the expected one; None stands for any length."""
    return len(shape) == len(expected) and all(
        n in (None, m) for n, m in zip(expected, shape, strict=True)
    )


@contextmanager
def without_collections() -> Iterator[None]:
    """Pause the collection of garbage.

    Looking for it among millions of new values, which all stay, takes as long as making
    them.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def frozen_ints(values: npt.ArrayLike, what: str = "array") -> Ints:
    """Return `values` as a read-only int32 array."""
    array = np.asarray(values)
    if array.dtype.kind not in "iu" and array.size:
        raise ValueError(f"{what}: expected whole numbers, got {array.dtype}")
    array = array.astype(np.int32, copy=False).view()
    array.flags.writeable = False
    return array


def real_numbers(values: npt.ArrayLike, what: str = "array") -> Floats:
    """Return `values` as a float64 array.

    Anything but a regular array of real numbers is rejected.

    Raises ValueError for rows of different lengths, complex numbers, texts, None, dates
    and the like; the message begins with `what`.
    """
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(
            f"{what}: expected a regular array of numbers; are all rows of one "
            f"length? ({error})"
        ) from None
    if array.dtype.kind == "O":
        index = next(
            (i for i, cell in np.ndenumerate(array) if not isinstance(cell, Real)), None
        )
        if index is not None:
            raise ValueError(
                f"{what}: expected real numbers, got {array[index]!r} at "
                f"{list(map(int, index))}"
            )
    elif array.dtype.kind not in "biuf":
        raise ValueError(f"{what}: expected real numbers, got {array.dtype}")
    return array.astype(np.float64, copy=False)


def unit(vectors: npt.ArrayLike) -> Floats:
    """Return vectors (..., K) scaled to length 1; zeros stay zero."""
    vectors = np.asarray(vectors, dtype=np.float64)
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(length > 0, length, 1.0))


def median_step(times: Floats) -> float:
    """Return the median time [s] between frames at times (T,), T at least 2."""
    gaps = np.sort(np.diff(times))
    return float(0.5 * (gaps[(len(gaps) - 1) // 2] + gaps[len(gaps) // 2]))


def runs(mask: Bools) -> list[tuple[int, int]]:
    """Return the runs of True in a mask (N,).

    For each the index of its first element, and the one after its last.
    """
    edges = np.flatnonzero(
        np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8))
    )
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def without_short_runs(mask: Bools, times: Floats, min_duration: float) -> Bools:
    """Return a mask (N,) without short gaps, then without short runs.

    Short are those of less than `min_duration` between first and last element, over
    times (N,).
    """
    found = np.array(mask)
    for state in (False, True):
        for a, b in runs(found == state):
            if a > 0 and b < len(found) and times[b] - times[a] < min_duration:
                found[a:b] = not state
    return found


def same(a: object, b: object) -> bool:
    """Return whether two contents are equal.

    Arrays element by element, NaN equal to NaN, mappings and sequences recursively.
    """
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return _are_same_arrays(np.asarray(a), np.asarray(b))
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a):
        return math.isnan(b)
    return bool(a == b)


def _are_same_arrays(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> bool:
    if a.shape != b.shape:
        return False
    # Only numbers of floating point can be NaN.
    may_have_nan = a.dtype.kind == "f" and b.dtype.kind == "f"
    return bool(np.array_equal(a, b, equal_nan=may_have_nan))


class ContentEquality(ShortRepr):
    """Base of dataclasses (declared with `eq=False`) that hold arrays.

    `==` compares all fields that take part in comparison.

    A class may name the shapes of arrays, as `class Link(ContentEquality,
    offset=(7,))`: these are checked, and become read-only.
    """

    _shapes: ClassVar[Mapping[str, Sequence[int | None]]] = {}

    def __init_subclass__(cls, **shapes: Sequence[int | None]) -> None:
        super().__init_subclass__()
        cls._shapes = {**cls._shapes, **shapes}

    def __post_init__(self) -> None:
        for name, shape in self._shapes.items():
            object.__setattr__(self, name, frozen(getattr(self, name), shape, name))

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        if other is self:
            return True
        compared = [f.name for f in fields(self) if f.compare]  # type: ignore[arg-type]
        return all(same(getattr(self, name), getattr(other, name)) for name in compared)

    __hash__ = None  # type: ignore[assignment]


def available_memory() -> int | None:
    """Return how many bytes a process can still get without swapping.

    None where the system does not report it.
    """
    try:
        with open("/proc/meminfo", encoding="ascii") as file:  # noqa: PTH123
            for line in file:
                if line.startswith("MemAvailable:"):
                    return 1024 * int(line.split()[1])
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def check_memory(size: int, what: str) -> None:
    """Raise MemoryError when `size` bytes are more than available.

    `what` names what needs them, for the message.
    """
    available = available_memory()
    if available is not None and size > available:
        raise MemoryError(
            f"{what} would need {_size_text(size)} of memory; {_size_text(available)} "
            "are available"
        )


def _size_text(size: int) -> str:
    if size >= 1e8:
        return f"{size / 1e9:.1f} GB"
    return f"{size / 1e6:.1f} MB"
