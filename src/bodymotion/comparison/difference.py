"""The result of a comparison."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import ShortRepr
from bodymotion.geometry.arrays import Bools

# Characters of a value in a message.
MAX_TEXT = 120


@dataclass(frozen=True)
class Difference(ShortRepr):
    """One difference.

    Attributes
    ----------
    what:
        The component, the link, or a field of it.
    message:
        The difference as text.
    numbers:
        For numbers: the `largest` amount and its `unit`, the `frame`, `time` [s] and
        `part` (name) where it is, the `count` of frames beyond the tolerance, the
        `root_mean_square` of the amounts, `parts`: the worst amount of each part by
        name.
    """

    what: str
    message: str
    numbers: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.what}: {self.message}"


@dataclass(frozen=True)
class Comparison(ShortRepr):
    """All differences beyond the tolerances; `equal` when there is none."""

    differences: tuple[Difference, ...] = ()

    @property
    def equal(self) -> bool:
        """Whether there is no difference."""
        return not self.differences

    def __str__(self) -> str:
        return "\n".join(map(str, self.differences))


@dataclass(frozen=True)
class Tolerance:
    """Numbers a and b are equal when |a − b| ≤ atol + rtol · |b|.

    NaN equals NaN.
    """

    atol: float = 0.0
    rtol: float = 0.0

    def __post_init__(self) -> None:
        for name, value in (("atol", self.atol), ("rtol", self.rtol)):
            if not 0 <= value < np.inf:
                raise ValueError(f"{name} {value}, expected a finite number, 0 or more")

    def beyond(self, a: npt.ArrayLike, b: npt.ArrayLike) -> Bools:
        """Return where two arrays of the same shape are not equal."""
        with np.errstate(invalid="ignore", over="ignore"):
            close = np.isclose(a, b, rtol=self.rtol, atol=self.atol, equal_nan=True)
        return np.asarray(~close)

    def alike(self, a: npt.ArrayLike, b: npt.ArrayLike) -> bool:
        """Return whether two arrays have one shape and are equal in all numbers."""
        return np.shape(a) == np.shape(b) and not self.beyond(a, b).any()


def in_words(x: object) -> str:
    """Return a value as text for a message."""
    if isinstance(x, float):
        return f"{x:.9g}"
    text = str(x)
    if len(text) <= MAX_TEXT:
        return text
    return text[: MAX_TEXT - 3] + "…"


def of_values(
    what: str,
    one: Mapping[str, object],
    other: Mapping[str, object],
    tolerance: Tolerance,
) -> Iterator[Difference]:
    """Return the differences between two mappings of values by name."""
    for name in dict.fromkeys((*one, *other)):
        a = one.get(name)
        b = other.get(name)
        if name in one and name in other:
            if isinstance(a, float) and isinstance(b, float):
                is_equal = tolerance.alike(a, b)
            else:
                is_equal = a == b
            if is_equal:
                continue
        first = in_words(a) if name in one else "not set"
        second = in_words(b) if name in other else "not set"
        yield Difference(what, f"{name} {first} and {second}")
