"""Where the things of an animation stand in its file, for what is said about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bodymotion.formats.cha.findings import Place
from bodymotion.formats.cha.rows import Rows

__all__ = ["Places"]


@dataclass
class Places:
    """Places by what stands there; without a file the answers are names of things."""

    options: Mapping[str, tuple[Place, ...]] = field(default_factory=dict)
    """The keyword of an option, and then its values."""
    parameters: Mapping[str, tuple[Place, ...]] = field(default_factory=dict)
    columns: Mapping[str, Place] = field(default_factory=dict)
    """The keyword that a single column comes of."""
    header: Place | None = None
    begin: Place | None = None
    rows: Rows | None = None
    value_of: Mapping[str, int] = field(default_factory=dict)
    """The place of each single column among the values of a row."""

    def option(self, name: str, value: int = -1) -> Place:
        """Say where an option, or a value of it, stands."""
        return _of(self.options.get(name), value + 1) or self.begin or Place(inside=name)

    def parameter(self, name: str, value: int = -1) -> Place:
        """Say where a parameter stands, or its minimum, default, maximum (value 0, 1, 2)."""
        return _of(self.parameters.get(name), value + 1) or Place(inside=name)

    def column(self, name: str = "") -> Place:
        """Say where a column is defined; where it is not, or for none, where the columns are."""
        return self.columns.get(name) or self.header or Place(inside=name or "columns")

    def value(self, row: int, column: str) -> Place:
        """Say where the value of a column stands in the row of a keyframe."""
        if self.rows is None:
            return Place(inside=f"keyframe {row + 1}, {column}")
        return self.rows.place(row, self.value_of.get(column, 0))


def _of(places: tuple[Place, ...] | None, k: int) -> Place | None:
    return places[min(k, len(places) - 1)] if places else None
