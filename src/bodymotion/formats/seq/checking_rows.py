"""A look at all rows of a component that goes on after each fault. Rows that are as they should be go by in pieces, as fast as loading."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import Location, Rule
from bodymotion.formats.seq import rules
from bodymotion.formats.seq.frames import RowPiece
from bodymotion.formats.seq.headers import ComponentHeader
from bodymotion.formats.seq.layout import Layout
from bodymotion.formats.seq.listing import Listing
from bodymotion.formats.seq.nodes import Node, Scalar, Sequence
from bodymotion.formats.seq.reader import MUST_BE_FINITE
from bodymotion.formats.seq.rows import RowFaultError, row_numbers
from bodymotion.formats.seq.single_rows import SingleRow, elements, row_of, single_rows
from bodymotion.formats.seq.source_bytes import UnusualError
from bodymotion.motion.rules import (
    MAX_LENGTH_ERROR,
    MOTION_NO_QUATERNION,
    MOTION_NO_TURN,
    MOTION_NOT_FINITE,
    MOTION_QUATERNION,
    ROUNDING,
)

__all__ = ["ComponentCheck", "Effort"]

MOST_FAULTS = 10_000
"""After so many faulty rows the rest of a component is not looked at."""
_TIMES = 4
_IN_ROW = 20
"""So many numbers of one row are named."""
_UNREADABLE = "a bracket or a comma is missing, or there is one too many"

Numbers = npt.NDArray[np.float64]


class Effort:
    """How many rows of a file may yet be read one by one: by aliases, one sequence of rows may be that of many components."""

    def __init__(self, headers: Iterable[ComponentHeader]) -> None:
        rows = {id(header.frames): header.num_frames for header in headers if header.frames is not None}
        self.left = _TIMES * sum(rows.values()) + MOST_FAULTS


class ComponentCheck:
    """The check of the rows of one component; `one_by_one`: also where a piece of them is no YAML as a whole."""

    def __init__(
        self, header: ComponentHeader, listing: Listing, one_by_one: bool = False, effort: Effort | None = None
    ) -> None:
        self.header, self.listing, self.one_by_one = header, listing, one_by_one
        self.effort = effort or Effort([header])
        self.inside = header.inside
        self.faults = 0
        self._last = -np.inf

    def run(self, layout: Layout) -> None:
        """Look at all rows.

        Raises
        ------
        UnusualError
            Where the rows are in a shape that only a full YAML parse knows.
        """
        assert self.header.frames is not None
        for piece in self.header.frames.pieces(layout):
            if piece.block is not None:
                numbers, rows = np.arange(piece.first_row, piece.first_row + piece.num_rows), piece.block
            else:
                numbers, rows = self._one_by_one(piece, layout)
                self.effort.left -= piece.num_rows
            if len(rows):
                if layout.stamped:
                    self._times(piece, numbers, rows[:, 0])
                self._finite(piece, numbers, rows[:, layout.stamped :], layout)
                if layout.pose_size == 7:
                    self._turns(piece, numbers, rows[:, layout.stamped :].reshape(len(rows), -1, 7), layout)
            if self.faults > MOST_FAULTS or self.effort.left < 0:
                self.listing.cut(self.inside)
                return

    def _path(self, row: int) -> str:
        return f"{self.inside}.frames[{row}]"

    def _one_by_one(self, piece: RowPiece, layout: Layout) -> tuple[npt.NDArray[np.intp], Numbers]:
        """Read the rows that can be read, and say what is wrong with the others."""
        numbers, rows = [], []
        for row in self._singles(piece):
            if row.node is None:
                self.faults += 1
                at = piece.indent or 0 if row.at is None else row.at
                where = partial(piece.place, row.base + at, self._path(row.number))
                hint = None if row.rule is not rules.NOT_YAML else _UNREADABLE if row.at is None else ""
                self.listing.add(row.rule, self.inside, f"frame {row.number}: {row.fault}", where, hint)
                continue
            values = self._numbers(piece, row, row.node, layout)
            if values is not None:
                numbers.append(row.number)
                rows.append(values)
        found = np.array(rows, np.float64).reshape(len(rows), layout.width)
        return np.array(numbers, np.intp), found

    def _singles(self, piece: RowPiece) -> Iterator[SingleRow]:
        try:
            nodes = list(piece.nodes())
            if len(nodes) != piece.num_rows:
                raise UnusualError("the rows do not end with their lines", piece.place(0, None))
        except UnusualError:
            if not self.one_by_one:
                raise
            yield from single_rows(piece)
            return
        for number, node in enumerate(nodes, piece.first_row):
            yield SingleRow(number, 0, node)

    def _numbers(self, piece: RowPiece, row: SingleRow, node: Node, layout: Layout) -> list[float] | None:
        """Return the numbers of a row, or say all that is wrong with it."""
        faulty = 0
        while True:
            try:
                values = row_numbers(node, layout)
            except RowFaultError as error:
                faulty += 1
                where = partial(piece.place, row.base + error.index, self._path(row.number))
                self.listing.add(error.rule, self.inside, f"frame {row.number} {error.message}", where)
                if error.rule is rules.NUMBER and faulty < _IN_ROW and not self.listing.full(error.rule, self.inside):
                    wrong = next(item for item in elements(node) if item.index == error.index)
                    wrong.text, wrong.quoted = "0", False  # to look at those behind it
                    continue
            break
        self.faults += faulty > 0
        return None if faulty else values

    def _times(self, piece: RowPiece, numbers: npt.NDArray[np.intp], times: Numbers) -> None:
        """Check that each time is after the last one that is a time."""
        known = np.concatenate([[self._last], times])
        latest = np.maximum.accumulate(np.where(np.isfinite(known), np.arange(len(known)), 0))
        before = known[latest[:-1]]
        self._last = known[latest[-1]]
        good = (times > before) & (times < np.inf)
        for k in self._wrong(rules.TIME_ORDER, np.flatnonzero(~good)):
            last = float(before[k])
            than = f"not after {last!r} s, the time of the frame before" if last > -np.inf else "no time"
            message = f"frame {numbers[k]} is at {float(times[k])!r} s, {than}"
            self.listing.add(rules.TIME_ORDER, self.inside, message, partial(self._place, piece, int(numbers[k]), 0))

    def _finite(self, piece: RowPiece, numbers: npt.NDArray[np.intp], values: Numbers, layout: Layout) -> None:
        if np.isfinite(values).all():
            return
        rule = rules.NOT_FINITE if self.header.content in MUST_BE_FINITE else MOTION_NOT_FINITE
        wrong = ~np.isfinite(values)
        for k in self._wrong(rule, np.flatnonzero(wrong.any(axis=1))):
            first, count = int(np.argmax(wrong[k])), int(np.count_nonzero(wrong[k]))
            what = self._part(first // (layout.pose_size or 1))
            more = f", and {count - 1} more numbers of that frame" if count > 1 else ""
            message = f"{self.header.content} has {values[k, first]:g} for {what} in frame {numbers[k]}{more}"
            where = partial(self._place, piece, int(numbers[k]), first + layout.stamped)
            self.listing.add(rule, self.inside, message, where)

    def _turns(self, piece: RowPiece, numbers: npt.NDArray[np.intp], poses: Numbers, layout: Layout) -> None:
        with np.errstate(all="ignore"):
            length = np.sqrt(np.einsum("ijk,ijk->ij", poses[..., 3:], poses[..., 3:]))
        odd = np.isfinite(length) & (np.abs(length - 1) > ROUNDING)
        if not odd.any():
            return
        far = odd & (np.abs(length - 1) > MAX_LENGTH_ERROR)
        for rule, wrong in (
            (MOTION_NO_TURN, odd & (length == 0)),
            (MOTION_NO_QUATERNION, far & (length > 0)),
            (MOTION_QUATERNION, odd & ~far),
        ):
            frames, parts = np.nonzero(wrong)
            for k in self._wrong(rule, np.arange(len(frames))):
                frame, part = int(numbers[frames[k]]), int(parts[k])
                said = "zero" if rule is MOTION_NO_TURN else f"of length {length[frames[k], part]:.6g}"
                message = f"the quaternion of {self._part(part)} in frame {frame} of {self.header.content} is {said}"
                where = partial(self._place, piece, frame, layout.stamped + 7 * part + 3)
                self.listing.add(rule, self.inside, message, where)

    def _wrong(self, rule: Rule, wrong: npt.NDArray[np.intp]) -> Iterator[int]:
        """Return those that are listed; the others are counted."""
        for number, k in enumerate(wrong.tolist()):
            if self.listing.full(rule, self.inside):
                self.listing.add(rule, self.inside, "", Location, count=len(wrong) - number)
                return
            yield k

    def _part(self, part: int) -> str:
        labels = self.header.part_labels
        label = labels[part] if part < len(labels) else ""
        kinds = {"MultiSE3Seq": "link", "Vector3Seq": "coordinate"}
        return repr(label) if label else f"{kinds.get(self.header.type, 'joint')} {part}"

    def _place(self, piece: RowPiece, number: int, element: int | None) -> Location:
        """Say where a row begins, or where a number of it is."""
        row = row_of(piece, number)
        if row is None or row.node is None:
            return piece.place(0, self._path(number))
        index = row.node.index
        if element is not None and isinstance(row.node, Sequence):
            found: list[Scalar] = list(elements(row.node))
            index = found[element].index if element < len(found) else index
        return piece.place(row.base + index, self._path(number))
