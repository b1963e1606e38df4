"""The representation of values with arrays, long texts or many parts.

One short line.
"""

from dataclasses import fields
from reprlib import Repr
from typing import Any

MAX_CHARACTERS = 300
MAX_NUMBERS = 7  # An array of more numbers is represented by its shape.


class _Parts(Repr):
    def repr_ndarray(self, array: Any, level: int) -> str:  # noqa: ANN401
        if array.ndim == 1 and array.size <= MAX_NUMBERS and array.dtype.kind in "fi":
            return f"[{' '.join(f'{value:g}' for value in array.tolist())}]"
        return f"array{array.shape}"

    def repr_float(self, number: float, level: int) -> str:
        return f"{number:.6g}"

    repr_mappingproxy = Repr.repr_dict


_PARTS = _Parts()
_PARTS.maxstring = 120  # [characters]
_PARTS.maxother = 60  # [characters]
_PARTS.maxtuple = 4
_PARTS.maxlist = 4
_PARTS.fillvalue = "…"


class ShortRepr:
    """Base of dataclasses whose `repr` is one short line.

    A `_summary`, otherwise the fields, without those left at their default.
    """

    __slots__ = ()

    def __init_subclass__(cls, **options: Any) -> None:  # noqa: ANN401
        super().__init_subclass__(**options)
        # dataclass() keeps what is in the class itself.
        cls.__repr__ = cls.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        text = " ".join(self._summary().split())
        if len(text) <= MAX_CHARACTERS:
            return text
        return f"{text[: MAX_CHARACTERS - 1]}…"

    def _summary(self) -> str:
        shown = (
            (one.name, getattr(self, one.name), one.default)
            for one in fields(self)  # type: ignore[arg-type]
            if one.repr
        )
        parts = (
            f"{name}={_PARTS.repr(value)}"
            for name, value, default in shown
            if value is not default
        )
        return f"{type(self).__name__}({', '.join(parts)})"
