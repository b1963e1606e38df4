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
from typing import Any, NamedTuple, TypeVar

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
from bodymotion.diagnostics.text import counted
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

MAX_FAULTY_ROWS = 10_000
"""Faulty rows of a component after which the rest of it is not read."""
STEP_TOLERANCE = 0.1
"""[1/frameRate] Error of the mean step of a first column that is the time."""
_TAIL = 1 << 16
"""[bytes] The end of a file that shows whether it was cut off in a row."""
_PASSES = 4
"""Times that each row of a file may be read one by one.

Aliases can give one sequence of rows to many components.
"""

Frames = slice | Indices
T = TypeVar("T")


def read_seq(path: str | Path) -> ReadResult[Motion]:
    """Read a body motion file of any version, with all its faults.

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
        # The fast way: headers as YAML, rows in bulk.
        fast = open_document(source)
        return motion_of(fast)
    except FormatError as error:
        return ReadResult(None, error.problems, refusal=error.problem)
    except UnusualError as error:
        why = error
    # Some row, or the shape of the file, needs a parse as a whole.
    try:
        return motion_of(whole_document(source, why))
    except FormatError as error:
        problems = error.problems
        refusal = error.problem
    # No YAML as a whole, but the headers were found: rows may still be read.
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
    # Each row by itself: one that is no YAML does not end the others.
    document.read_rows_singly()
    try:
        result = motion_of(document)
    except (UnusualError, FormatError):
        return None
    problems = result.problems
    # Of a cut file only the cut is reported, not all that is missing behind it.
    if _ends_in_a_row(document.source):
        problems = _of_a_cut_file(problems)
    # A row that is no YAML is reported by itself: what a parser of the whole file
    # reports is the same, one line too late.
    codes = {problem.rule for problem in problems}
    names_the_row = not codes.isdisjoint({NOT_YAML.code, ALIAS.code, rules.TAG.code})
    if refusal.rule == rules.IRREGULAR_ROWS.code or not names_the_row:
        problems = (*of_parser, *problems)
    # The first error is the reason why no whole value is loaded.
    for problem in problems:
        if problem.severity == "error":
            refusal = problem
            break
    return ReadResult(result.value, problems, refusal=refusal)


def _ends_in_a_row(source: ByteSource) -> bool:
    """Return whether the last line of a file begins a row that does not end."""
    start = max(source.size - _TAIL, source.start)
    # A row that is cut off has an opening bracket without a closing one.
    text = source.read(start, source.size - start).rstrip()
    last = text[text.rfind(b"\n") + 1 :].lstrip()
    return last.startswith(b"-") and last.count(b"[") > last.count(b"]")


def _of_a_cut_file(problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """Report that a file ends too early, and not what follows from that."""
    # Both are consequences of rows that are missing.
    follow_up = (rules.NUM_FRAMES.code, rules.LENGTHS.code)
    rest = [problem for problem in problems if problem.rule not in follow_up]
    faults = [k for k, problem in enumerate(rest) if problem.rule == NOT_YAML.code]
    if faults and "frame" in rest[faults[-1]].data:
        fault = rest[faults[-1]]
        frame = fault.data["frame"]
        message = f"the file ends in the middle of frame {frame}: it was cut off"
        hint = "the rest is missing, further frames and components among it"
        rest[faults[-1]] = replace(fault, message=message, hint=hint)
    return tuple(rest)


def motion_of(document: Document) -> ReadResult[Motion]:
    """Return the motion of a document."""
    found = document.faults_so_far()
    try:
        headers = read_headers(document, found)
    except FormatError as error:
        # All problems up to the one that ends the reading.
        raise FormatError(error.problem, (*found.problems, *error.problems)) from error
    effort = Effort(headers.components)
    first_with: dict[tuple[int, Layout], tuple[int, _Rows]] = {}
    components: list[Component] = []
    for k, header in enumerate(headers.components):
        if header.layout is None:
            components.append(component_of(header, None, None))
            continue
        # Aliases give one sequence of frames to several components: they are read once.
        key = (id(header.frames or header), header.layout)
        if key in first_with:
            first, rows = first_with[key]
            _mark_like(("components", first), ("components", k), found)
        else:
            rows = _read_component(header, ("components", k), found, effort)
            first_with[key] = k, rows
        # Rows may show another layout than the header: they are kept with it.
        layout, values, times = rows
        if layout != header.layout:
            header = replace(
                header, num_parts=layout.parts, has_frame_time=layout.stamped
            )
        # Without a rate and stamps, the times of frames are unknown.
        if not header.has_frame_time and header.frame_rate is None:
            found.mark_unknown(("components", k, "timeline"))
        components.append(component_of(header, values, times))
    if not headers.is_complete:
        found.mark_unknown(("components", "all"))
    source = source_of(document, headers, found.unknown)
    # Problems in the order of the file, whatever the order in which they were found.
    problems = tuple(sorted(found.problems, key=_line_and_column))
    motion = Motion(tuple(components), headers.extra, source, problems)
    return ReadResult(motion, problems, found.refusal is None, found.refusal)


def _mark_like(component: Subject, other: Subject, found: Diagnostics) -> None:
    """Mark what is unknown of a component as unknown of another one."""
    unknown = [subject for subject in found.unknown if subject[:2] == component]
    found.mark_unknown(*((*other, *subject[2:]) for subject in unknown))


def _line_and_column(problem: Problem) -> tuple[int, int]:
    return problem.location.line or 0, problem.location.column or 0


def source_of(
    document: Document, headers: Headers, unknown: Iterable[Subject] = ()
) -> Source:
    """Return where a motion came from.

    With what a writer needs to write it alike, and where its components and frames are
    in the file.
    """
    path = document.source.path
    formats = tuple(header.se3_format for header in headers.components)
    # Options of the file, so that saving it again changes as little as possible.
    options = {
        "style": headers.style,
        "frame_rate": headers.frame_rate,
        "se3_formats": formats,
    }
    entries: dict[Subject, Location | Locator] = {
        ("components", k): _locator(header)
        for k, header in enumerate(headers.components)
    }
    return Source(
        "seq",
        Path(path) if path else None,
        str(headers.version),
        document.encoding,
        options,
        locations=SourceMap(entries, unknown),
    )


def _locator(header: ComponentHeader) -> Locator:
    """Return a function that locates the parts of a component.

    They are "frame_rate", ("frames", t), part n of a frame as ("frames", t, n), and
    number k of the position of a pose as ("frames", t, n, k).
    """
    # Not the header itself, which holds the rows.
    component = header.location
    rate = header.rate_location
    inside = header.inside
    is_stamped = header.has_frame_time
    pose_size = header.layout.pose_size if header.layout is not None else 0
    locate_row = header.frames.locator() if header.frames is not None else None

    def element_of(part: int, number: int) -> int:
        """Return which number of a row is one of a part."""
        # A pose takes `pose_size` numbers in the row, behind the time.
        if pose_size:
            return is_stamped + part * pose_size + number
        return is_stamped + part

    def locate(part: Subject) -> Location | None:
        if not part:
            return component
        if part[0] == "frame_rate":
            return rate
        if part[0] != "frames" or len(part) < 2 or locate_row is None:
            return None
        # Numbers of the row are counted without nesting.
        element = None
        if len(part) > 2:
            # Of a pose its orientation, which its rules are about.
            number = int(part[3]) if len(part) > 3 else 3
            element = element_of(int(part[2]), number)
        path = f"{inside}.frames[{part[1]}]".lstrip(".")
        return locate_row(int(part[1]), element, path)

    return locate


def component_of(
    header: ComponentHeader, values: Floats | None, times: Floats | None
) -> Component:
    """Return a component made of its header and its rows.

    These are None for a component of an unknown type.
    """
    if values is None:
        return OtherSeq(type=header.type, content=header.content, extra=header.extra)
    # Frames that have a time have no constant step.
    if header.has_frame_time:
        stamps = np.empty(0) if times is None else times
        timeline = Timeline.stamped(stamps, header.frame_rate)
    else:
        # A component without a rate is refused; its frames are there for the rules that
        # need no times.
        rate = 1.0 if header.frame_rate is None else header.frame_rate
        timeline = Timeline.uniform(len(values), rate)
    common: dict[str, Any] = {
        "content": header.content,
        "timeline": timeline,
        "values": values,
        "part_labels": header.part_labels,
        "extra": header.extra,
    }
    if header.type == VECTOR3:
        return Vector3Seq(is_root_relative=header.is_root_relative, **common)
    if header.type == MULTI_SE3:
        return MultiSE3Seq(**common)
    return MultiValueSeq(**common)


class Effort:
    """The number of rows of a file that may still be read one by one."""

    def __init__(self, headers: Iterable[ComponentHeader]) -> None:
        rows: dict[int, int] = {}
        for header in headers:
            # One entry for each sequence of rows, however many components share it.
            if header.frames is not None:
                rows[id(header.frames)] = header.num_frames
        # Components with few rows may have faults in all of them.
        self.left = _PASSES * sum(rows.values()) + MAX_FAULTY_ROWS


class _Rows(NamedTuple):
    """The layout with which rows were read, their values, and their times [s]."""

    layout: Layout
    values: Floats
    times: Floats | None


def _read_component(
    header: ComponentHeader, subject: Subject, found: Diagnostics, effort: Effort
) -> _Rows:
    """Return the rows of a component, faulty ones as nan."""
    assert header.layout is not None
    # Collected apart: they are discarded if another number of parts explains them.
    of_component = Diagnostics(found.path)
    rows = _filled(header, header.layout, subject, of_component, effort)
    if _has_faulty_rows(of_component):
        other = _read_with_other_parts(header, subject, found.path, effort)
        if other is not None:
            of_component, rows = other
    found.extend(of_component.problems)
    found.mark_unknown(*of_component.unknown)
    found.refusal = found.refusal or of_component.refusal
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
    """Return the arrays of a component, filled with its rows."""
    arrays: tuple[Floats, Floats | None] | None = None
    # Values in the shape of their type; rows that cannot be read stay nan.
    for frames, block in RowReader(header, subject, found, effort).rows(layout):
        # Not before there is a row: numParts of a faulty header may be any number.
        arrays = arrays or layout.unknown(header.num_frames)
        layout.store(block, *arrays, frames)
    # No row at all: no memory for parts that may not exist.
    if arrays is None:
        if header.num_frames and header.type != VECTOR3:
            layout = replace(layout, parts=0)
        arrays = layout.unknown(header.num_frames)
    values, times = arrays
    return _Rows(layout, frozen(values), None if times is None else frozen(times))


def _read_with_other_parts(
    header: ComponentHeader, subject: Subject, path: str | None, effort: Effort
) -> tuple[Diagnostics, _Rows] | None:
    """Read rows that all have one number of parts, but not that of the header.

    That is reported once. None for other rows.

    They may have numbers with decimal commas, which count twice; a time without
    hasFrameTime; hasFrameTime without a time. Which of them it is, or whether numParts
    is wrong, only the author can decide.
    """
    # The first row says how many numbers a row has.
    parts = parts_of_rows(header)
    location = header.parts_location
    # Without numParts in the file there is nothing that contradicts the rows.
    if parts in (0, header.num_parts) or location is None or header.layout is None:
        return None
    is_stamped = header.layout.stamped
    is_pose = bool(header.layout.order)
    trial = Diagnostics(path)
    hint = None
    if is_pose:
        layout = replace(header.layout, parts=parts)
        rows = _filled(header, layout, subject, trial, effort)
    else:
        # The times are a column like the others: they may be none.
        layout = Layout(is_stamped + parts)
        rows = _filled(header, layout, subject, trial, effort)
        # Times that are read as values, to see whether they are times.
        values = rows.values
        # Faulty rows say nothing.
        if trial.problems:
            values = np.zeros((0, is_stamped + parts))
        hint, keeps_times = _explain_parts(header, values, parts)
        # The first column is the time: read it as such.
        if is_stamped and keeps_times:
            trial = Diagnostics(path)
            rows = _filled(header, Layout(parts, True), subject, trial, effort)
    if _has_faulty_rows(trial):
        return None
    in_rows = counted(parts, "pose" if is_pose else "number")
    beside = " besides the time" if is_stamped else ""
    message = f"numParts is {header.num_parts}, but all rows have {in_rows}{beside}"
    found = Diagnostics(path)
    # One error in place of one for each row.
    found.refuse(rules.NUM_PARTS_ROWS.error(message, location, hint))
    found.extend(trial.problems)
    found.mark_unknown((*subject, "num_parts"), *trial.unknown)
    return found, rows


def _explain_parts(
    header: ComponentHeader, values: Floats, parts: int
) -> tuple[str | None, bool]:
    """Return a hint why rows have another number of parts, and whether times are times.

    `values` (T, N) are all numbers of the rows, also the times, none where some are
    faulty; `parts` is the number of parts without the times.
    """
    assert header.layout is not None
    is_stamped = header.layout.stamped
    # Halves of numbers double the number of columns.
    if _have_commas(header, values, is_stamped + header.num_parts):
        # Halves of numbers: the first one is no time.
        return "decimal commas? '0,1' is two numbers: write 0.1", False
    # A time increases with each row.
    first = values[:, 0]
    is_rising = bool((np.diff(first) > 0).all())
    # The mean step of the first column in units of 1/frameRate.
    step = 0.0
    if is_rising and len(values) > 1:
        step = np.ptp(first) / (len(values) - 1) * (header.frame_rate or 0.0)
    has_steps = is_rising and abs(step - 1) <= STEP_TOLERANCE
    # One number too many, with the step of the frame rate: it is the time.
    if not is_stamped and parts == header.num_parts + 1 and has_steps:
        hint = (
            "the first number of each row increases by about 1/frameRate: if it is the "
            "time, write 'hasFrameTime: true'"
        )
        return hint, True
    # One number too few, and the first is no time: there is no time in the rows.
    if is_stamped and parts == header.num_parts - 1 and not is_rising:
        hint = (
            "the first number of each row does not increase as a time does: is "
            "hasFrameTime wrong?"
        )
        return hint, False
    return None, True


def parts_of_rows(header: ComponentHeader) -> int:
    """Return the number of parts of the first row of a component.

    0 where it cannot be counted.
    """
    if header.layout is None or header.frames is None or header.type == VECTOR3:
        return 0
    try:
        # Where the first row is faulty, nothing can be counted.
        row = header.frames.first_row()
    except (UnusualError, FormatError):
        return 0
    if isinstance(row, Sequence):
        return max(len(row.items) - header.layout.stamped, 0)
    return 0


def _have_commas(header: ComponentHeader, values: Floats, expected: int) -> bool:
    """Return whether rows (T, N) have numbers with a decimal comma.

    All or some of them have one where there are `expected` numbers then.
    """
    assert header.frames is not None
    row = header.frames.first_row()
    items: list[Scalar] = []
    if isinstance(row, Sequence):
        items = [item for item in row.items if isinstance(item, Scalar)]
    # Of "0,1 0,2" the second of each two numbers is a fraction: never negative, not all
    # 0.
    fractions = values[:, 1::2]
    # A whole row of halves: twice as many numbers, all of them whole.
    are_halves = len(items) == 2 * expected and (values == np.rint(values)).all()
    if are_halves and fractions.any() and not np.signbit(fractions).any():
        return True
    # Only some numbers have a decimal comma.
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
        # Before any time.
        last = -np.inf
        faulty = 0
        for piece in self.header.frames.pieces(layout):
            frames: Frames = slice(piece.first_row, piece.first_row + piece.num_rows)
            block = piece.block
            # The piece is irregular: each row of it is looked at.
            if block is None:
                numbers, block = self._one_by_one(piece, layout)
                self.effort.left -= piece.num_rows
                faulty += piece.num_rows - len(block)
                # Frames in gaps: those with faults have no numbers.
                if len(block) != piece.num_rows:
                    frames = numbers
            if len(block):
                if layout.stamped:
                    # Times are compared across pieces.
                    last = self._check_times(frames, block[:, 0], last)
                yield frames, block
            # A file of faulty rows would be reported endlessly.
            if faulty > MAX_FAULTY_ROWS or self.effort.left < 0:
                self.found.mark_unknown((*self.subject, "frames"))
                return

    def _one_by_one(self, piece: RowPiece, layout: Layout) -> tuple[Indices, Floats]:
        """Return the rows of a piece that can be read, with their numbers.

        Report the others.
        """
        numbers: list[int] = []
        rows: list[list[float]] = []
        for number, start, node in self._nodes(piece):
            # Rows that are right are kept, whatever the others are.
            values, faults = numbers_of(node, layout)
            if values is not None:
                numbers.append(number)
                rows.append(values)
                continue
            self.found.mark_unknown((*self.subject, "frames", number))
            for fault in faults:
                # A fault that another rule reported is not repeated.
                if not fault.is_reported:
                    locate = partial(piece.location, start + fault.offset)
                    self._refuse(fault.rule, number, f" {fault.message}", locate)
        # No rows give an array (0, 0).
        width = layout.width if rows else 0
        block = np.array(rows, np.float64).reshape(len(rows), width)
        return np.array(numbers, np.intp), block

    def _nodes(self, piece: RowPiece) -> Iterator[tuple[int, int, Node]]:
        """Return number, offset in the piece and node of each row.

        Report those that are no YAML by themselves.
        """
        # The piece as a list of its own in YAML: one parse for all rows.
        try:
            nodes = piece.nodes()
        except UnusualError:
            # Not a list of rows: each row is parsed by itself, where lines show them.
            if piece.singles is None:
                raise
        else:
            for number, node in enumerate(nodes, piece.first_row):
                yield number, 0, node
            return
        for number, row in enumerate(piece.singles(), piece.first_row):
            if row.node is not None:
                yield number, row.start, row.node
                continue
            self.found.mark_unknown((*self.subject, "frames", number))
            hint = None
            offset = row.indent
            if row.fault_offset is not None:
                offset = row.fault_offset
            # A row by itself has a clearer hint than YAML's rule.
            if row.rule is NOT_YAML:
                hint = ""
                if row.fault_offset is None:
                    hint = "a bracket or a comma is missing, or there is one too many"
            locate = partial(piece.location, row.start + offset)
            data: dict[str, object] = {"frame": number}
            self._refuse(row.rule, number, f": {row.fault}", locate, hint, data)

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
        # Locations take time: beyond the limit only the number counts.
        if self.found.is_full(rule):
            self.found.count_more(rule)
            return
        subject: Subject = (*self.subject, "frames", frame)
        location = locate(f"{self.header.inside}.frames[{frame}]".lstrip("."))
        message = f"frame {frame}{message}"
        error = rule.error(message, location, hint, subject=subject, data=data)
        self.found.refuse(error)

    def _check_times(self, frames: Frames, times: Floats, last: float) -> float:
        """Check that each time is after the one before that is a time.

        Return the last one.
        """
        # The usual case, in a few operations of arrays.
        if times[0] > last and times[-1] < np.inf and (times[1:] > times[:-1]).all():
            return float(times[-1])
        # Of each time, the last finite one before it.
        with_last = np.concatenate([[last], times])
        # 0, the index of `last`, in place of those that are no times.
        numbers = np.where(np.isfinite(with_last), np.arange(len(with_last)), 0)
        # The running maximum of indices: the latest finite time up to each frame.
        latest = with_last[np.maximum.accumulate(numbers)]
        before = latest[:-1]
        assert self.header.frames is not None
        # nan fails the first comparison.
        is_good = (times > before) & (times < np.inf)
        for k in np.flatnonzero(~is_good).tolist():
            if isinstance(frames, slice):
                frame = frames.start + k
            else:
                frame = int(frames[k])
            reason = "no time"
            if before[k] > -np.inf:
                time = float(before[k])
                reason = f"not after {time!r} s, the time of the frame before"
            locate = partial(self.header.frames.location, frame, 0)
            message = f" is at {float(times[k])!r} s, {reason}"
            self._refuse(TIME_ORDER, frame, message, locate)
        return float(latest[-1])
