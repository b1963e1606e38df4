"""What both readers, that of bytes and that of text, make of a file: the outer message, and a table of its rows."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import FormatError, Location, Problem
from bodymotion.formats.cha_proto.messages import Tree
from bodymotion.formats.cha_proto.rules import GAPS, SPARSE, UNKNOWN
from bodymotion.formats.cha_proto.trees import row_tree
from bodymotion.geometry.arrays import Floats

__all__ = ["KINDS", "Recording", "check_size", "filled"]

Flags = npt.NDArray[np.bool_]

KINDS = {
    "Animation": ("animation_keyframes", "AnimationKeyframe"),
    "ChoreographyStateLog": ("key_frames", "LoggedStateKeyFrame"),
}
"""The messages that are read, the field of their rows, and the message of a row."""

_ROOM = 1 << 20
"""So many numbers may be in any file."""
_SHOWN = 6


@dataclass
class Recording:
    """A message that was read.

    Attributes
    ----------
    kind:
        Which of `KINDS`.
    tree:
        Its fields besides the rows.
    count:
        How many rows there are.
    nodes:
        The paths of the messages that are in any of them.
    columns:
        The paths of the numbers that are in any of them.
    values, held:
        (N, C) the numbers, and whether they are there.
    """

    kind: str
    tree: Tree
    count: int
    nodes: frozenset[str]
    columns: tuple[str, ...]
    values: Floats
    held: Flags
    problems: list[Problem] = field(default_factory=list)
    location: Location = field(default_factory=Location)

    @property
    def places(self) -> dict[str, int]:
        """The columns by path."""
        return {path: place for place, path in enumerate(self.columns)}

    def say_unknown(self, names: list[str], rows: int = 0) -> None:
        """Note fields that were passed over; `rows` have some, too."""
        unique = list(dict.fromkeys(names))
        said = ", ".join(unique[:_SHOWN]) + (f" and {len(unique) - _SHOWN} more" if len(unique) > _SHOWN else "")
        if rows:
            said += f"{' and ' if said else ''}some in {rows} keyframe{'s' if rows > 1 else ''}"
        if said:
            self.problems.append(UNKNOWN.problem(f"unknown fields: {said}", self.location))


def check_size(rows: int, columns: int, size: int, location: Location) -> None:
    """Raise FormatError when a table would be far larger than the file: nearly all keyframes of it are empty."""
    if rows * (columns + 1) > _ROOM + 4 * size:
        raise too_sparse(rows, columns, size, location)


def too_sparse(rows: int, columns: int, size: int, location: Location) -> FormatError:
    """Make that error."""
    return SPARSE.error(f"{rows} keyframes of up to {columns} numbers in {size} bytes: nearly all are empty", location)


def filled(recording: Recording) -> Floats:
    """Return the numbers (N, C), each that is missing as it was before, or will first be; gaps become problems."""
    held = recording.held
    if held.all():
        return recording.values
    values = recording.values.copy()
    gaps: list[str] = []
    tree = row_tree(KINDS[recording.kind][1])
    for place in np.flatnonzero(~held.all(axis=0)):
        there = np.flatnonzero(held[:, place])
        source = np.searchsorted(there, np.arange(recording.count), side="right") - 1
        values[:, place] = values[there[np.maximum(source, 0)], place]
        owner = tree.nodes[tree.slots[tree.slot_of[recording.columns[place]]].owner].path
        gaps.append(f"{owner} in {recording.count - len(there)}")
    shown = list(dict.fromkeys(gaps))
    more = f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
    said = f"missing of {recording.count} keyframes: {', '.join(shown[:_SHOWN])}{more}"
    recording.problems.append(GAPS.problem(said, recording.location))
    return values
