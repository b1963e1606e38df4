"""Read the rows of each component into its arrays, with all faults.

The fastest possible method is used. Rows of a regular shape are parsed in bulk, a piece
at a time; a piece with anything irregular is handed to `rows`, and what only a full
parse can read to the YAML tree of the whole file. Where the file as a whole is not
YAML, rows on lines of their own are still read one by one. Faulty rows are nan in the
arrays and marked unknown.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeAlias, TypeVar

import numpy as np

from bodymotion.diagnostics import (
    Diagnostics,
    FormatError,
    Location,
    Locator,
    Problem,
    ReadResult,
    Rule,
    Source,
    SourceMap,
    Subject,
)
from bodymotion.formats.seq import rules
from bodymotion.formats.seq.document import (
    Document,
    RowPiece,
    open_document,
    whole_document,
)
from bodymotion.formats.seq.headers import ComponentHeader, Headers, read_headers
from bodymotion.formats.seq.rows import has_decimal_commas, numbers_of
from bodymotion.formats.seq.scan import ByteSource, UnusualError
from bodymotion.formats.seq.values import MULTI_SE3, VECTOR3, Layout
from bodymotion.formats.yaml.rules import ALIAS, NOT_YAML
from bodymotion.formats.yaml.tree import Node, Scalar, Sequence
from bodymotion.geometry.arrays import Floats, Indices, frozen
from bodymotion.motion import (
    Component,
    Motion,
    MultiSE3Seq,
    MultiValueSeq,
    OtherSeq,
    Vector3Seq,
)
from bodymotion.motion.components import Timeline
from bodymotion.motion.rules import TIME_ORDER

MAX_FAULTY_ROWS = (
    10_000  # Faulty rows of a component after which the rest of it is not read.
)
STEP_TOLERANCE = 0.1
"""[of 1/frameRate] By which the mean step of a first column may be off for it to be read as the time."""
_TAIL = 1 << 16  # [bytes] The end of a file that shows whether it was cut off in a row.
_PASSES = 4
"""Times that each row of a file may be read one by one.

Aliases can give one sequence of rows to many components.
"""

Frames = slice | Indices
T = TypeVar("T")


def read_seq(path: str | Path) -> ReadResult[Motion]:
    """Read a body motion file (.seq, .yaml, .yml, .json) of any version, with all its faults.

    Rows of a regular shape are read in pieces: no more than the arrays and some
    megabytes are held in memory.
    """
    try:
        with ByteSource.open(path) as source:
            return read_source(source)
    except FormatError as error:
        return ReadResult(None, error.problems, refusal=error.problem)


def parse_seq(data: bytes, path: str = "") -> Motion:
    """Return the body motion in the bytes of a file.

    `path` is only for locations.

    Raises
    ------
    FormatError
        When the file cannot be read as a whole; `problems` of the exception are all
        that are wrong with it.
    """
    return read_source(ByteSource(None, data, path or None)).require()


def read_document(source: ByteSource, use: Callable[[Document], T]) -> T:
    """Return what `use` makes of the document.

    With the rows in the bytes, or else with those of a YAML parse of the whole file.

    Raises
    ------
    FormatError
        When the file is no YAML, and whatever `use` raises.
    """
    try:
        return use(open_document(source))
    except UnusualError as error:
        why = error
    return use(whole_document(source, why))


def read_source(source: ByteSource) -> ReadResult[Motion]:
    """Read a body motion.

    Where the file is no YAML as a whole, its rows are read one by one, if they can be
    found.
    """
    fast = None
    try:
        fast = open_document(source)
        return motion_of(fast)
    except FormatError as error:
        return ReadResult(None, error.problems, refusal=error.problem)
    except UnusualError as error:
        why = error
    try:
        return motion_of(whole_document(source, why))
    except FormatError as error:
        problems = error.problems
        refusal = error.problem
    if fast is not None:
        result = _row_by_row(fast, problems, refusal)
        if result is not None:
            return result
    return ReadResult(None, problems, refusal=refusal)


def _row_by_row(
    document: Document, of_parser: tuple[Problem, ...], refusal: Problem
) -> ReadResult[Motion] | None:
    """Read a file that is no YAML as a whole, with its rows one by one.

    None where that is impossible. `of_parser` are the problems of the YAML parser, and
    `refusal` the one for which it stopped.
    """
    document.read_rows_singly()
    try:
        result = motion_of(document)
    except (UnusualError, FormatError):
        return None
    problems = result.problems
    if _ends_in_a_row(document.source):
        problems = _of_a_cut_file(problems)
    # A row that is no YAML is reported by itself: what a parser of the whole file
    # reports is the same, one line too late.
    codes = {problem.rule for problem in problems}
    names_the_row = not codes.isdisjoint({NOT_YAML.code, ALIAS.code, rules.TAG.code})
    if refusal.rule == rules.IRREGULAR_ROWS.code or not names_the_row:
        problems = (*of_parser, *problems)
    for problem in problems:
        if problem.severity == "error":
            refusal = problem
            break
    return ReadResult(result.value, problems, refusal=refusal)


def _ends_in_a_row(source: ByteSource) -> bool:
    """Return whether the last line of a file begins a row that does not end."""
    start = max(source.size - _TAIL, source.start)
    text = source.read(start, source.size - start).rstrip()
    last = text[text.rfind(b"\n") + 1 :].lstrip()
    return last.startswith(b"-") and last.count(b"[") > last.count(b"]")


def _of_a_cut_file(problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """Report that a file ends too early in place of the problems that follow from it."""
    follow = (rules.NUM_FRAMES.code, rules.LENGTHS.code)
    kept = [problem for problem in problems if problem.rule not in follow]
    last = next(
        (k for k in reversed(range(len(kept))) if kept[k].rule == NOT_YAML.code), None
    )
    if last is not None and "frame" in kept[last].data:
        message = f"the file ends in the middle of frame {kept[last].data['frame']}: it was cut off"
        hint = "the rest is missing, further frames and components among it"
        kept[last] = replace(kept[last], message=message, hint=hint)
    return tuple(kept)


def motion_of(document: Document) -> ReadResult[Motion]:
    """Return the motion of a document."""
    found = document.faults_so_far()
    try:
        headers = read_headers(document, found)
    except FormatError as error:
        raise FormatError(error.problem, (*found.problems, *error.problems)) from error
    effort = Effort(headers.components)
    arrays: dict[tuple[int, Layout], tuple[_Rows, int]] = {}
    components: list[Component] = []
    for k, header in enumerate(headers.components):
        if header.layout is None:
            components.append(component_of(header, None, None))
            continue
        # Aliases give one sequence of frames to several components: they are read once.
        key = (id(header.frames or header), header.layout)
        if key in arrays:
            read, first = arrays[key]
            same: Subject = ("components", first)
            found.mark_unknown(
                *[
                    ("components", k, *rest[2:])
                    for rest in found.unknown
                    if rest[:2] == same
                ]
            )
        else:
            read = _read_component(header, ("components", k), found, effort)
            arrays[key] = read, k
        layout, values, times = read
        if layout != header.layout:
            header = replace(
                header, num_parts=layout.parts, has_frame_time=layout.stamped
            )
        if not header.has_frame_time and header.frame_rate is None:
            found.mark_unknown(("components", k, "timeline"))
        components.append(component_of(header, values, times))
    if not headers.is_complete:
        found.mark_unknown(("components", "all"))
    source = source_of(document, headers, found.unknown)
    problems = tuple(
        sorted(
            found.problems, key=lambda p: (p.location.line or 0, p.location.column or 0)
        )
    )
    motion = Motion(tuple(components), headers.extra, source, problems)
    return ReadResult(motion, problems, found.refusal is None, found.refusal)


def source_of(
    document: Document, headers: Headers, unknown: Iterable[Subject] = ()
) -> Source:
    """Return where a motion came from, what a writer needs to write it alike, and where its components and frames are in the file."""
    path = document.source.path
    formats = tuple(c.se3_format for c in headers.components)
    options = {
        "style": headers.style,
        "frame_rate": headers.frame_rate,
        "se3_formats": formats,
    }
    entries: dict[Subject, Location | Locator] = {
        ("components", k): _locator(header)
        for k, header in enumerate(headers.components)
    }
    if path:
        place = Path(path)
    else:
        place = None
    version = str(headers.version)
    locations = SourceMap(entries, unknown)
    return Source(
        "seq", place, version, document.encoding, options, locations=locations
    )


def _locator(header: ComponentHeader) -> Locator:
    """Return a function that locates a component, its "frame_rate", ("frames", t), and part n of a frame as ("frames", t, n).

    Number k of the position of a pose is ("frames", t, n, k).
    """
    own = header.location
    rate = header.rate_location
    inside = header.inside
    if header.frames is None:
        locate = None
    else:
        locate = header.frames.locator()
    stamped = header.has_frame_time
    if header.layout is None:
        pose_size = 0
    else:
        pose_size = header.layout.pose_size

    def located(part: Subject) -> Location | None:
        if part[:1] == ("frame_rate",):
            return rate
        if part[:1] != ("frames",) or len(part) < 2 or locate is None:
            return own if not part else None
        element = None
        if len(part) > 2:
            # Of a pose its orientation, which its rules are about.
            if len(part) > 3:
                at = int(part[3])
            else:
                at = 3
            element = stamped + (
                int(part[2]) * pose_size + at if pose_size else int(part[2])
            )
        return locate(int(part[1]), element, f"{inside}.frames[{part[1]}]".lstrip("."))

    return located


def component_of(
    header: ComponentHeader, values: Floats | None, times: Floats | None
) -> Component:
    """Return a component made of its header and its rows (None for a component of an unknown type)."""
    if values is None:
        return OtherSeq(type=header.type, content=header.content, extra=header.extra)
    if header.has_frame_time:
        timeline = Timeline.stamped(
            np.empty(0) if times is None else times, header.frame_rate
        )
    else:
        # A component without a rate is refused; its frames are there for the rules that
        # need no times.
        timeline = Timeline.uniform(
            len(values), 1.0 if header.frame_rate is None else header.frame_rate
        )
    content = header.content
    labels = header.part_labels
    extra = header.extra
    if header.type == VECTOR3:
        more = {"is_root_relative": header.is_root_relative}
        return Vector3Seq(
            content=content,
            timeline=timeline,
            values=values,
            part_labels=labels,
            extra=extra,
            **more,
        )
    kind = MultiSE3Seq if header.type == MULTI_SE3 else MultiValueSeq
    return kind(
        content=content,
        timeline=timeline,
        values=values,
        part_labels=labels,
        extra=extra,
    )


class Effort:
    """The number of rows of a file that may still be read one by one."""

    def __init__(self, headers: Iterable[ComponentHeader]) -> None:
        rows = {
            id(header.frames): header.num_frames
            for header in headers
            if header.frames is not None
        }
        self.left = _PASSES * sum(rows.values()) + MAX_FAULTY_ROWS


_Rows: TypeAlias = tuple[Layout, Floats, Floats | None]
"""The layout with which rows were read, their values, and their times."""


def _read_component(
    header: ComponentHeader, subject: Subject, found: Diagnostics, effort: Effort
) -> _Rows:
    """Return the rows of a component, faulty ones as nan."""
    assert header.layout is not None
    own = Diagnostics(found.path)
    rows = _filled(header, header.layout, subject, own, effort)
    if _has_faulty_rows(own):
        own, rows = _read_with_other_parts(header, subject, own.path, effort) or (
            own,
            rows,
        )
    found.extend(own.problems)
    found.mark_unknown(*own.unknown)
    found.refusal = found.refusal or own.refusal
    return rows


def _has_faulty_rows(found: Diagnostics) -> bool:
    return any(problem.rule == rules.ROW.code for problem in found.problems)


def _filled(
    header: ComponentHeader,
    layout: Layout,
    subject: Subject,
    found: Diagnostics,
    effort: Effort,
) -> _Rows:
    arrays: tuple[Floats, Floats | None] | None = None
    for frames, block in RowReader(header, subject, found, effort).rows(layout):
        # Not before there is a row: numParts of a faulty header may be any number.
        arrays = arrays or layout.unknown(header.num_frames)
        layout.store(block, *arrays, frames)
    if arrays is None:
        if not header.num_frames or header.type == VECTOR3:
            parts = layout.parts
        else:
            parts = 0
        layout = replace(layout, parts=parts)
        arrays = layout.unknown(header.num_frames)
    values, times = arrays
    return layout, frozen(values), None if times is None else frozen(times)


def _read_with_other_parts(
    header: ComponentHeader, subject: Subject, path: str | None, effort: Effort
) -> tuple[Diagnostics, _Rows] | None:
    """Read rows that all have one number of parts, but not that of the header, which is reported once.

    None for others.

    They may have numbers with decimal commas, which count twice; a time without
    hasFrameTime; hasFrameTime without a time. Which of them it is, or whether numParts
    is wrong, only the author can decide.
    """
    parts = parts_of_rows(header)
    if (
        parts in (0, header.num_parts)
        or header.parts_location is None
        or header.layout is None
    ):
        return None
    stamped = header.layout.stamped
    order = header.layout.order
    trial = Diagnostics(path)
    if order:
        layout = replace(header.layout, parts=parts)
    else:
        layout = Layout(stamped + parts)
    rows = _filled(header, layout, subject, trial, effort)
    hint = None
    is_stamped = stamped
    if not order:
        if not trial.problems:
            values = rows[1]
        else:
            values = np.zeros((0, stamped + parts))
        rising = bool((np.diff(values[:, 0]) > 0).all())
        several = rising and len(values) > 1
        steps = (
            np.ptp(values[:, 0]) / (len(values) - 1) * (header.frame_rate or 0.0)
            if several
            else 0.0
        )
        if _have_commas(header, values, stamped + header.num_parts):
            # Halves of numbers: the first one is no time.
            hint = "decimal commas? '0,1' is two numbers: write 0.1"
            is_stamped = False
        elif (
            not stamped
            and parts == header.num_parts + 1
            and rising
            and abs(steps - 1) <= STEP_TOLERANCE
        ):
            hint = "the first number of each row increases by about 1/frameRate: if it is the time, write 'hasFrameTime: true'"
        elif stamped and parts == header.num_parts - 1 and not rising:
            hint = "the first number of each row does not increase as a time does: is hasFrameTime wrong?"
            is_stamped = False
        if is_stamped:
            trial = Diagnostics(path)
            rows = _filled(header, Layout(parts, True), subject, trial, effort)
    if _has_faulty_rows(trial):
        return None
    what = ("pose" if order else "number") + ("" if parts == 1 else "s")
    beside = " besides the time" if stamped else ""
    message = (
        f"numParts is {header.num_parts}, but all rows have {parts} {what}{beside}"
    )
    found = Diagnostics(path)
    found.refuse(rules.NUM_PARTS_ROWS.error(message, header.parts_location, hint))
    found.extend(trial.problems)
    found.mark_unknown((*subject, "num_parts"), *trial.unknown)
    return found, rows


def parts_of_rows(header: ComponentHeader) -> int:
    """Return the number of parts of the first row of a component.

    0 where it cannot be counted.
    """
    if header.layout is None or header.frames is None or header.type == VECTOR3:
        return 0
    try:
        row = header.frames.first_row()
    except (UnusualError, FormatError):
        return 0
    if isinstance(row, Sequence):
        return max(len(row.items) - header.layout.stamped, 0)
    return 0


def _have_commas(header: ComponentHeader, values: Floats, expected: int) -> bool:
    """Return whether rows (T, N) have `expected` numbers when all or some of them have a decimal comma."""
    assert header.frames is not None
    row = header.frames.first_row()
    if isinstance(row, Sequence):
        items = [item for item in row.items if isinstance(item, Scalar)]
    else:
        items = []
    fractions = values[:, 1::2]
    are_halves = len(items) == 2 * expected and (values == np.rint(values)).all()
    if are_halves and fractions.any() and not np.signbit(fractions).any():
        return True
    return has_decimal_commas(items, expected)


class RowReader:
    """Reads the rows of one component.

    Faulty ones are reported and left out.

    Parameters
    ----------
    header, subject:
        The component, and what it is called in the subjects of faults: ("components",
        0).
    found, effort:
        Gets the faults; counts the rows that are read one by one.
    """

    def __init__(
        self,
        header: ComponentHeader,
        subject: Subject,
        found: Diagnostics,
        effort: Effort,
    ) -> None:
        self.header = header
        self.subject = subject
        self.found = found
        self.effort = effort

    def rows(self, layout: Layout) -> Iterator[tuple[Frames, Floats]]:
        """Return rows (N, width) as they are read, with their numbers.

        Raises
        ------
        UnusualError
            When only a YAML parse of the whole file can read the rows.
        """
        if self.header.frames is None:
            return
        last = -np.inf
        faulty = 0
        for piece in self.header.frames.pieces(layout):
            frames: Frames = slice(piece.first_row, piece.first_row + piece.num_rows)
            block = piece.block
            if block is None:
                numbers, block = self._one_by_one(piece, layout)
                self.effort.left -= piece.num_rows
                faulty += piece.num_rows - len(block)
                if len(block) != piece.num_rows:
                    frames = numbers
            if len(block):
                if layout.stamped:
                    last = self._check_times(frames, block[:, 0], last)
                yield frames, block
            if faulty > MAX_FAULTY_ROWS or self.effort.left < 0:
                self.found.mark_unknown((*self.subject, "frames"))
                return

    def _one_by_one(self, piece: RowPiece, layout: Layout) -> tuple[Indices, Floats]:
        """Return the rows of a piece that can be read, with their numbers, and report the others."""
        numbers: list[int] = []
        rows: list[list[float]] = []
        for number, start, node in self._nodes(piece):
            values, faults = numbers_of(node, layout)
            if values is not None:
                numbers.append(number)
                rows.append(values)
                continue
            self.found.mark_unknown((*self.subject, "frames", number))
            for fault in faults:
                if not fault.is_reported:
                    self._refuse(
                        fault.rule,
                        number,
                        f" {fault.message}",
                        partial(piece.location, start + fault.offset),
                    )
        return np.array(numbers, np.intp), np.array(rows, np.float64).reshape(
            len(rows), layout.width if rows else 0
        )

    def _nodes(self, piece: RowPiece) -> Iterator[tuple[int, int, Node]]:
        """Return number, offset in the piece and node of each row.

        Report those that are no YAML by themselves.
        """
        try:
            nodes = piece.nodes()
        except UnusualError:
            if piece.singles is None:
                raise
        else:
            yield from (
                (number, 0, node) for number, node in enumerate(nodes, piece.first_row)
            )
            return
        for number, row in enumerate(piece.singles(), piece.first_row):
            if row.node is not None:
                yield number, row.start, row.node
                continue
            self.found.mark_unknown((*self.subject, "frames", number))
            hint = None
            if row.rule is NOT_YAML:
                if row.fault_offset is None:
                    hint = "a bracket or a comma is missing, or there is one too many"
                else:
                    hint = ""
            where = partial(
                piece.location,
                row.start
                + (row.indent if row.fault_offset is None else row.fault_offset),
            )
            self._refuse(
                row.rule, number, f": {row.fault}", where, hint, {"frame": number}
            )

    def _refuse(
        self,
        rule: Rule,
        frame: int,
        message: str,
        locate: Callable[[str | None], Location],
        hint: str | None = None,
        data: dict[str, object] | None = None,
    ) -> None:
        """Report the fault of a frame.

        `locate` is called with the path inside where it is not only counted.
        """
        if self.found.is_full(rule):
            self.found.count_more(rule)
            return
        subject: Subject = (*self.subject, "frames", frame)
        where = locate(f"{self.header.inside}.frames[{frame}]".lstrip("."))
        self.found.refuse(
            rule.error(
                f"frame {frame}{message}", where, hint, subject=subject, data=data
            )
        )

    def _check_times(self, frames: Frames, times: Floats, last: float) -> float:
        """Check that each time is after the one before that is a time.

        Return the last one.
        """
        if times[0] > last and times[-1] < np.inf and (times[1:] > times[:-1]).all():
            return float(times[-1])
        known = np.concatenate([[last], times])
        latest = np.maximum.accumulate(
            np.where(np.isfinite(known), np.arange(len(known)), 0)
        )
        before = known[latest[:-1]]
        assert self.header.frames is not None
        for k in np.flatnonzero(~((times > before) & (times < np.inf))).tolist():
            if isinstance(frames, slice):
                frame = frames.start + k
            else:
                frame = int(frames[k])
            after = f"not after {float(before[k])!r} s, the time of the frame before"
            order = after if before[k] > -np.inf else "no time"
            locate = partial(self.header.frames.location, frame, 0)
            self._refuse(
                TIME_ORDER, frame, f" is at {float(times[k])!r} s, {order}", locate
            )
        return float(known[latest[-1]])
