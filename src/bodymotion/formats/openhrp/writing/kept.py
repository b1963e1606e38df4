"""Fields that are only kept (`extra`): which of them a .wrl can hold, and of what types its prototypes declare them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics.losses import KEPT_VALUE
from bodymotion.formats.vrml import FieldDeclaration, Value
from bodymotion.formats.vrml.writing import is_name

if TYPE_CHECKING:
    from bodymotion.diagnostics import Rule

__all__ = ["KeptFields", "as_value"]

ROWS = {2: ("MFVec2f",), 3: ("MFVec3f", "MFColor"), 4: ("MFRotation",)}
SINGLES = {2: ("SFVec2f",), 3: ("SFVec3f", "SFColor"), 4: ("SFRotation",)}
LISTS = (
    "MFFloat",
    "MFInt32",
    "MFString",
    "MFNode",
    "MFVec2f",
    "MFVec3f",
    "MFColor",
    "MFRotation",
    "MFTime",
)
WIDER = {"SFFloat": "MFFloat", "SFInt32": "MFInt32", "SFString": "MFString"}


def as_value(value: object) -> tuple[Value, tuple[str, ...]]:
    """Return a value as a field holds it, and the types that a field may have for it, the best first; none where there is no such type."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value), ("SFBool",)
    if isinstance(value, (int, np.integer)):
        if -(2**31) <= value < 2**31:
            return int(value), ("SFInt32", "SFFloat", "SFTime")
        return float(value), ("SFFloat", "SFTime") if int(float(value)) == value else ()
    if isinstance(value, (float, np.floating)):
        return float(value), ("SFFloat", "SFTime") if math.isfinite(value) else ()
    if isinstance(value, str):
        return value, () if any("\ud800" <= letter <= "\udfff" for letter in value) else ("SFString",)
    if value is None:
        return None, ("SFNode",)
    if isinstance(value, (list, tuple)):
        if not len(value):
            return [], LISTS
        if all(isinstance(item, str) for item in value):
            return [str(item) for item in value], ("MFString",)
        if not all(isinstance(item, (int, float, np.number, list, tuple, np.ndarray)) for item in value):
            return None, ()
        try:
            value = np.asarray(value)
        except ValueError:
            return None, ()
    if isinstance(value, np.ndarray):
        return _array(value)
    return None, ()


def _array(value: np.ndarray) -> tuple[Value, tuple[str, ...]]:
    if value.dtype.kind not in "iuf" or value.ndim not in (1, 2) or not np.isfinite(value).all():
        return None, ()
    if not value.size:
        return [], LISTS if value.ndim == 1 else ROWS.get(value.shape[1], ())
    if value.ndim == 2:
        return value.astype(np.float64), ROWS.get(value.shape[1], ())
    if value.dtype.kind in "iu" and value.min() >= -(2**31) and value.max() < 2**31:
        return value.astype(np.int32), ("MFInt32", *SINGLES.get(len(value), ()), "MFFloat", "MFTime")
    return value.astype(np.float64), (*SINGLES.get(len(value), ()), "MFFloat", "MFTime")


class KeptFields:
    """The kept fields of all nodes of one kind; `types` are those to be declared beyond the `declared` ones."""

    def __init__(
        self,
        kind: str,
        extras: Sequence[Mapping[str, object]],
        declared: Mapping[str, FieldDeclaration],
        optional: Mapping[str, str],
        tell: Callable[[Rule, str], None],
    ) -> None:
        self.kind = kind
        self.tell = tell
        self.types: dict[str, str] = {}
        self._all = {name: field.type for name, field in declared.items() if field.access.endswith("ield")}
        possible: dict[str, tuple[str, ...]] = {}
        for extra in extras:
            for name, value in extra.items():
                if name in self._all or not isinstance(name, str):
                    continue
                _, types = as_value(value)
                if types:
                    before = possible.get(name, types)
                    possible[name] = tuple(kind for kind in before if kind in types) or before
        for name, types in possible.items():
            if is_name(name):
                self.types[name] = optional.get(name, types[0])
        self._all |= self.types

    def of(self, extra: Mapping[str, object], used: Sequence[str] = ()) -> dict[str, Value]:
        """Return the fields of one node; says what cannot be kept. Names in `used` are written by others."""
        fields: dict[str, Value] = {}
        left: list[str] = []
        for name, given in extra.items():
            if name in used:
                continue
            value, types = as_value(given)
            kind = self._all.get(name, "")
            if kind in types:
                fields[name] = value
            elif any(WIDER.get(single) == kind for single in types):
                fields[name] = [value] if isinstance(value, str) else np.array([value])
                self.tell(KEPT_VALUE, f"{self.kind}: {name} {given!r:.60} becomes a list of one")
            else:
                left.append(str(name))
        if left:
            names = ", ".join(left[:8]) + (f" and {len(left) - 8} more" if len(left) > 8 else "")
            self.tell(KEPT_VALUE, f"{self.kind}: no field holds {names}")
        return fields
