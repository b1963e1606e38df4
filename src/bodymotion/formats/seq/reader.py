"""From a file to a Motion with all its faults: the rows of each component into its arrays.

A file goes the fastest way that reads it. Rows of a regular shape are parsed in bulk, a piece at a time; a piece with anything irregular is
handed to `rows`, and what only a full parse can read to the YAML tree of the whole file. Where the file is no YAML as a whole,
rows on lines
of their own are still read one by one; where its headers are none, likely fixes of the faulty lines are tried (`formats.yaml.recovery`).
Faulty rows are nan in the arrays and marked unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import (
    Diagnostics,
    FormatError,
    Location,
    Locator,
    Problem,
    ReadResult,
    Source,
    SourceMap,
    Subject,
)
from bodymotion.formats.seq import rules
from bodymotion.formats.seq.bulk_rows import Layout
from bodymotion.formats.seq.document import Document, RowPiece, open_document, whole_document
from bodymotion.formats.seq.file_bytes import ByteSource, UnusualError
from bodymotion.formats.seq.headers import ComponentHeader, Headers, first_row, read_headers
from bodymotion.formats.seq.names import KEYS, VECTOR3
from bodymotion.formats.seq.rows import has_decimal_commas, numbers_of
from bodymotion.formats.yaml.recovery import MAX_PARSED_BYTES, read_on
from bodymotion.formats.yaml.tree import Node, Scalar, Sequence
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.motion import Component, Motion, MultiSE3Seq, MultiValueSeq, OtherSeq, Vector3Seq
from bodymotion.motion.components import Timeline

MAX_FAULTY_ROWS = 10_000
"""Faulty rows of a component after which the rest of it is not read."""
MAX_RECOVERED_BYTES = 10 * MAX_PARSED_BYTES
"""[bytes] In larger files no faulty line is fixed."""
STEP_TOLERANCE = 0.1
"""[of 1/frameRate] By which the mean step of a first column may be off for it to be read as the time."""
_TAIL = 1 << 16
"""[bytes] The end of a file that shows whether it was cut off in a row."""
_PASSES = 4
"""Times that each row of a file may be read one by one: aliases can give one sequence of rows to many components."""

_MAY_BE_LOST = frozenset(
    rule.code
    for rule in (
        rules.NOT_A_MOTION,
        rules.COMPONENT_TYPE,
        rules.FRAME_RATE_MISSING,
        rules.VERSION_MISSING,
        rules.TOP_TYPE,
        rules.TOP_CONTENT,
        rules.NO_COMPONENTS,
        rules.CONTENT_MISSING,
        rules.NUM_PARTS_MISSING,
        rules.NUM_FRAMES,
        rules.SE3_FORMAT_MISSING,
        rules.FRAMES_MISSING,
        rules.LENGTHS,
    )
)
"""Rules about missing parts: these may have been in a line that was left out."""

Numbers = npt.NDArray[np.float64]
T = TypeVar("T")


def read_seq(path: str | Path) -> ReadResult[Motion]:
    """Read a body motion file (.seq, .yaml, .yml, .json) of any version, with all its faults.

    Rows of a regular shape are read in pieces: no more than the arrays and some megabytes are held in memory.
    """
    try:
        with ByteSource.open(path) as source:
            return read_source(source)
    except FormatError as error:
        return ReadResult(None, error.problems, refusal=error.problem)


def parse_seq(data: bytes, path: str = "") -> Motion:
    """Return the body motion in the bytes of a file; `path` is only for locations.

    Raises
    ------
    FormatError
        When the file cannot be read as a whole; `problems` of the exception are all that are wrong with it.
    """
    return read_source(ByteSource(None, data, path or None)).require()


def read_document(source: ByteSource, use: Callable[[Document], T]) -> T:
    """Return what `use` makes of the document: with the rows in the bytes, or else with those of a YAML parse of the whole file.

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
    """Read a body motion with all its faults."""
    result = _attempt(source)
    if isinstance(result, ReadResult):
        return result
    if (
        result.problem.rule != rules.NOT_YAML.code
        or source.encoding not in ("utf-8", "utf-8-sig")
        or source.size > MAX_RECOVERED_BYTES
    ):
        return ReadResult(None, result.problems, refusal=result.problem)
    keys = [spelling for spellings in KEYS.values() for spelling in spellings]
    recovered = read_on(
        source.read(0, source.size), result, lambda data: _attempt(ByteSource(None, data, source.path)), keys
    )
    others = (p for p in recovered.problems if not recovered.lost or p.rule not in _MAY_BE_LOST)
    problems = tuple(dict.fromkeys((*recovered.faults, *others)))
    return ReadResult(recovered.value, problems, refusal=recovered.refusal)


def _attempt(source: ByteSource) -> ReadResult[Motion] | FormatError:
    """Return the motion in a text; an error where it is no YAML and its rows cannot be found."""
    fast = None
    try:
        fast = open_document(source)
        return motion_of(fast)
    except FormatError as error:
        return FormatError(error.problem, error.problems)  # without the tracebacks, which hold all that was parsed
    except UnusualError as error:
        why = error
    try:
        return motion_of(whole_document(source, why))
    except FormatError as error:
        plain = FormatError(error.problem, error.problems)
    return plain if fast is None else _row_by_row(fast, plain)


def _row_by_row(document: Document, error: FormatError) -> ReadResult[Motion] | FormatError:
    """Read a file that is no YAML as a whole, for which `error` is the reason, with its rows one by one."""
    try:
        result = motion_of(document, singles=True)
    except (UnusualError, FormatError):
        return error
    problems = result.problems
    if _ends_in_a_row(document.source):
        problems = _of_a_cut_file(problems)
    # A row that is no YAML is reported by itself: what a parser of the whole file reports is the same, one line too late.
    named = (rules.NOT_YAML.code, rules.ALIASES.code, rules.TAG.code)
    if error.problem.rule == rules.TOO_LARGE.code or not any(problem.rule in named for problem in problems):
        problems = (*error.problems, *problems)
    refusal = next((problem for problem in problems if problem.severity == "error"), error.problem)
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
    last = next((k for k in reversed(range(len(kept))) if kept[k].rule == rules.NOT_YAML.code), None)
    if last is not None and "frame" in kept[last].data:
        message = f"the file ends in the middle of frame {kept[last].data['frame']}: it was cut off"
        hint = "the rest is missing, further frames and components among it"
        kept[last] = replace(kept[last], message=message, hint=hint)
    return tuple(kept)


def motion_of(document: Document, singles: bool = False) -> ReadResult[Motion]:
    """Return the motion of a document; with `singles`, rows are read one by one where a piece of them is no YAML."""
    found = Diagnostics(document.source.path)
    found.extend(document.faults.problems)
    found.refusal = document.faults.refusal
    try:
        headers = read_headers(document, found, singles)
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
            found.mark_unknown(*[("components", k, *rest[2:]) for rest in found.unknown if rest[:2] == same])
        else:
            read = _read_component(header, ("components", k), found, effort, singles)
            arrays[key] = read, k
        if read.layout != header.layout:
            header = replace(header, num_parts=read.layout.parts, has_frame_time=read.layout.stamped)
        if not header.has_frame_time and header.frame_rate is None:
            found.mark_unknown(("components", k, "timeline"))
        components.append(component_of(header, read.values, read.times))
    if not headers.is_complete:
        found.mark_unknown(("components", "all"))
    source = source_of(document, headers, found.unknown)
    problems = tuple(sorted(found.problems, key=lambda p: (p.location.line or 0, p.location.column or 0)))
    motion = Motion(tuple(components), headers.extra, source, problems)
    return ReadResult(motion, problems, found.refusal is None, found.refusal)


def source_of(document: Document, headers: Headers, unknown: Iterable[Subject] = ()) -> Source:
    """Return where a motion came from, what a writer needs to write it alike, and where its components and frames are in the file."""
    path = document.source.path
    options = {
        "style": headers.style,
        "frame_rate": headers.frame_rate,
        "se3_formats": tuple(c.se3_format for c in headers.components),
    }
    entries: dict[Subject, Location | Locator] = {
        ("components", k): _locator(header) for k, header in enumerate(headers.components)
    }
    locations = SourceMap(entries, unknown)
    return Source(
        "seq", Path(path) if path else None, str(headers.version), document.encoding, options, locations=locations
    )


def _locator(header: ComponentHeader) -> Locator:
    """Return a function that locates a component, its "frame_rate", ("frames", t), and part n of a frame as ("frames", t, n)."""
    own, rate, inside = header.location, header.rate_location, header.inside
    locate = None if header.frames is None else header.frames.locator()
    stamped, pose_size = header.has_frame_time, 0 if header.layout is None else header.layout.pose_size

    def located(part: Subject) -> Location | None:
        if part[:1] == ("frame_rate",):
            return rate
        if part[:1] != ("frames",) or len(part) < 2 or locate is None:
            return own if not part else None
        element = None
        if len(part) > 2:
            # Of a pose its orientation, which its rules are about.
            element = stamped + (int(part[2]) * pose_size + 3 if pose_size else int(part[2]))
        return locate(int(part[1]), element, inside)

    return located


def component_of(header: ComponentHeader, values: Floats | None, times: Floats | None) -> Component:
    """Return a component made of its header and its rows (None for a component of an unknown type)."""
    if values is None:
        return OtherSeq(type=header.type, content=header.content, extra=header.extra)
    if header.has_frame_time:
        timeline = Timeline.stamped(np.empty(0) if times is None else times, header.frame_rate)
    else:
        # A component without a rate is refused; its frames are there for the rules that need no times.
        timeline = Timeline.uniform(len(values), 1.0 if header.frame_rate is None else header.frame_rate)
    content, labels, extra = header.content, header.part_labels, header.extra
    if header.type == "MultiSE3Seq":
        return MultiSE3Seq(content=content, timeline=timeline, values=values, part_labels=labels, extra=extra)
    if header.type == "MultiValueSeq":
        return MultiValueSeq(content=content, timeline=timeline, values=values, part_labels=labels, extra=extra)
    relative = header.is_root_relative
    return Vector3Seq(
        content=content, timeline=timeline, values=values, part_labels=labels, extra=extra, is_root_relative=relative
    )


class Effort:
    """The number of rows of a file that may still be read one by one."""

    def __init__(self, headers: Iterable[ComponentHeader]) -> None:
        rows = {id(header.frames): header.num_frames for header in headers if header.frames is not None}
        self.left = _PASSES * sum(rows.values()) + MAX_FAULTY_ROWS


@dataclass
class _Rows:
    """The values of a component, its times, and the layout with which they were read."""

    layout: Layout
    values: Floats
    times: Floats | None


def _read_component(
    header: ComponentHeader, subject: Subject, found: Diagnostics, effort: Effort, singles: bool
) -> _Rows:
    """Return the rows of a component, faulty ones as nan."""
    assert header.layout is not None
    own = Diagnostics(found.path)
    rows = _filled(header, header.layout, subject, own, effort, singles)
    if any(problem.rule == rules.ROW.code for problem in own.problems):
        other = _other_layout(header, singles)
        if other is not None:
            # All rows have as many parts, but not as many as the header says: that is reported once, and the rows are read as they are.
            trial = Diagnostics(found.path)
            message, hint, layout = other
            trial.refuse(rules.NUM_PARTS_ROWS.error(message, header.parts_location, hint or None))
            trial.mark_unknown((*subject, "num_parts"))
            again = _filled(header, layout, subject, trial, effort, singles)
            if not any(problem.rule == rules.ROW.code for problem in trial.problems):
                own, rows = trial, again
    found.extend(own.problems)
    found.mark_unknown(*own.unknown)
    found.refusal = found.refusal or own.refusal
    return rows


def _filled(
    header: ComponentHeader, layout: Layout, subject: Subject, found: Diagnostics, effort: Effort, singles: bool
) -> _Rows:
    arrays: tuple[Floats, Floats | None] | None = None
    for numbers, block in read_rows(header, layout, subject, found, effort, singles):
        if arrays is None:
            # Not before there is a row: numParts of a faulty header may be any number.
            is_whole = isinstance(numbers, slice) and len(block) == header.num_frames
            arrays = layout.empty(header.num_frames) if is_whole else _unknown(layout, header.num_frames)
        values, times = arrays
        if isinstance(numbers, slice):
            layout.store(block, values[numbers], None if times is None else times[numbers])
        else:
            some, some_times = layout.empty(len(block))
            layout.store(block, some, some_times)
            values[numbers] = some
            if times is not None and some_times is not None:
                times[numbers] = some_times
    if arrays is None:
        parts = layout.parts if not header.num_frames or header.type == VECTOR3 else 0
        layout = replace(layout, parts=parts)
        arrays = _unknown(layout, header.num_frames)
    return _Rows(layout, frozen(arrays[0]), None if arrays[1] is None else frozen(arrays[1]))


def _unknown(layout: Layout, rows: int) -> tuple[Floats, Floats | None]:
    """Return arrays of nan for the values of rows, and for their times where they have any."""
    arrays = layout.empty(rows)
    for array in arrays:
        if array is not None:
            array[:] = np.nan
    return arrays


def read_rows(
    header: ComponentHeader,
    layout: Layout,
    subject: Subject,
    found: Diagnostics,
    effort: Effort,
    singles: bool = False,
) -> Iterator[tuple[slice | npt.NDArray[np.intp], Numbers]]:
    """Return the rows (N, width) of a component as they are read, with their numbers; faulty ones are left out.

    Parameters
    ----------
    subject:
        The component, for the faults of rows: ("components", 0).
    found, effort:
        Gets the faults; counts the rows that are read one by one.
    singles:
        Whether rows are read each by itself where a piece of them is no YAML.

    Raises
    ------
    UnusualError
        When only a YAML parse of the whole file can read the rows.
    """
    if header.frames is None:
        return
    last, faulty = -np.inf, 0
    for piece in header.frames.pieces(layout):
        numbers: slice | npt.NDArray[np.intp]
        if piece.block is not None:
            numbers, block = slice(piece.first_row, piece.first_row + piece.num_rows), piece.block
        else:
            numbers, block = _read_one_by_one(piece, header.inside, layout, subject, found, singles)
            effort.left -= piece.num_rows
            faulty += piece.num_rows - len(block)
        if len(block):
            if layout.stamped:
                last = _check_times(header, numbers, block[:, 0], last, subject, found)
            yield numbers, block
        if faulty > MAX_FAULTY_ROWS or effort.left < 0:
            found.mark_unknown((*subject, "frames"))
            return


def _read_one_by_one(
    piece: RowPiece, inside: str, layout: Layout, subject: Subject, found: Diagnostics, singles: bool
) -> tuple[slice | npt.NDArray[np.intp], Numbers]:
    """Return the rows of a piece that can be read, and report the others."""
    numbers: list[int] = []
    rows: list[list[float]] = []
    for number, start, node in _nodes_of(piece, inside, subject, found, singles):
        values, faults = numbers_of(node, layout)
        if values is not None:
            numbers.append(number)
            rows.append(values)
            continue
        about: Subject = (*subject, "frames", number)
        found.mark_unknown(about)
        for fault in faults:
            if fault.is_reported:
                continue
            if found.is_full(fault.rule):
                found.count_more(fault.rule)
                continue
            where = piece.location(start + fault.offset, _path(inside, number))
            found.refuse(fault.rule.error(f"frame {number} {fault.message}", where, subject=about))
    block = np.array(rows, np.float64).reshape(len(rows), layout.width if rows else 0)
    if len(rows) == piece.num_rows:
        return slice(piece.first_row, piece.first_row + piece.num_rows), block
    return np.array(numbers, np.intp), block


def _nodes_of(
    piece: RowPiece, inside: str, subject: Subject, found: Diagnostics, singles: bool
) -> Iterator[tuple[int, int, Node]]:
    """Return number, offset in the piece and node of each row; report those that are no YAML by themselves."""
    try:
        nodes = piece.nodes()
    except UnusualError:
        if not singles or piece.singles is None:
            raise
    else:
        yield from ((number, 0, node) for number, node in enumerate(nodes, piece.first_row))
        return
    for number, row in enumerate(piece.singles(), piece.first_row):
        if row.node is not None:
            yield number, row.start, row.node
            continue
        about: Subject = (*subject, "frames", number)
        found.mark_unknown(about)
        if found.is_full(row.rule):
            found.count_more(row.rule)
            continue
        fault_offset = row.indent if row.fault_offset is None else row.fault_offset
        where = piece.location(row.start + fault_offset, _path(inside, number))
        hint = None
        if row.rule is rules.NOT_YAML:
            hint = "a bracket or a comma is missing, or there is one too many" if row.fault_offset is None else ""
        message = f"frame {number}: {row.fault}"
        found.refuse(row.rule.error(message, where, hint, subject=about, data={"frame": number}))


def _path(inside: str, frame: int) -> str:
    return f"{inside}.frames[{frame}]".lstrip(".")


def _check_times(
    header: ComponentHeader,
    numbers: slice | npt.NDArray[np.intp],
    times: Numbers,
    last: float,
    subject: Subject,
    found: Diagnostics,
) -> float:
    """Check that each time is after the one before that is a time; return the last one."""
    if times[0] > last and times[-1] < np.inf and (times[1:] > times[:-1]).all():
        return float(times[-1])
    known = np.concatenate([[last], times])
    latest = np.maximum.accumulate(np.where(np.isfinite(known), np.arange(len(known)), 0))
    before = known[latest[:-1]]
    found.mark_unknown((*subject, "timeline"))
    for k in np.flatnonzero(~((times > before) & (times < np.inf))).tolist():
        if found.is_full(rules.TIME_ORDER):
            found.count_more(rules.TIME_ORDER)
            continue
        frame = numbers.start + k if isinstance(numbers, slice) else int(numbers[k])
        order = f"not after {float(before[k])!r} s, the time of the frame before" if before[k] > -np.inf else "no time"
        assert header.frames is not None
        where = header.frames.location(frame, 0, header.inside)
        message = f"frame {frame} is at {float(times[k])!r} s, {order}"
        found.refuse(rules.TIME_ORDER.error(message, where, subject=(*subject, "frames", frame)))
    return float(known[latest[-1]])


def parts_of_rows(header: ComponentHeader, singles: bool = False) -> int:
    """Return the number of parts of the first row of a component; 0 where it cannot be counted."""
    return _first_parts(header, singles)[1]


def _first_parts(header: ComponentHeader, singles: bool) -> tuple[Node | None, int]:
    if header.layout is None or header.frames is None or header.type == VECTOR3:
        return None, 0
    try:
        row = first_row(header.frames, singles)
    except (UnusualError, FormatError):
        return None, 0
    return row, max(len(row.items) - header.layout.stamped, 0) if isinstance(row, Sequence) else 0


def _other_layout(header: ComponentHeader, singles: bool) -> tuple[str, str, Layout] | None:
    """Return what is wrong with rows of another number of parts than numParts, what to do, and the layout that they have.

    They may have numbers with decimal commas, which count twice; a time without hasFrameTime; hasFrameTime without a time. Which of them
    it is, or whether numParts is wrong, only the author can decide.
    """
    row, parts = _first_parts(header, singles)
    if row is None or parts in (0, header.num_parts) or header.parts_location is None or header.layout is None:
        return None
    stamped, order = header.layout.stamped, header.layout.order
    layout = Layout(parts, stamped, order)
    what = ("pose" if order else "number") + ("" if parts == 1 else "s")
    message = (
        f"numParts is {header.num_parts}, but all rows have {parts} {what}{' besides the time' if stamped else ''}"
    )
    if order:
        return message, "", layout
    columns = _columns(header, layout)
    if _have_commas(columns, row, stamped + header.num_parts):
        # Halves of numbers: the first one is no time.
        return message, "decimal commas? '0,1' is two numbers: write 0.1", Layout(stamped + parts)
    if not stamped and parts == header.num_parts + 1 and columns.steps_like(header.frame_rate):
        hint = (
            "the first number of each row increases by about 1/frameRate: if it is the time, write 'hasFrameTime: true'"
        )
        return message, hint, layout
    if stamped and parts == header.num_parts - 1 and not columns.rising:
        hint = "the first number of each row does not increase as a time does: is hasFrameTime wrong?"
        return message, hint, Layout(header.num_parts, False)
    return message, "", layout


@dataclass
class _Columns:
    """What all rows have in common.

    `rising`: the first number increases from row to row, from `first` to `last`. `halves`: all numbers may be halves of numbers with a
    decimal comma, those behind it not all 0 (`fractions`).
    """

    rows: int = 0
    first: float = 0.0
    last: float = -np.inf
    rising: bool = True
    halves: bool = True
    fractions: bool = False

    def steps_like(self, rate: float | None) -> bool:
        if rate is None or self.rows < 2 or not self.rising:
            return False
        return abs((self.last - self.first) / (self.rows - 1) * rate - 1) <= STEP_TOLERANCE


def _columns(header: ComponentHeader, layout: Layout) -> _Columns:
    assert header.frames is not None
    columns = _Columns()
    for piece in header.frames.pieces(layout):
        block = piece.block
        if block is None or not block.size:
            continue
        first = block[:, 0]
        if not columns.rows:
            columns.first = float(first[0])
        columns.rising &= bool(first[0] > columns.last and (first[1:] > first[:-1]).all())
        columns.last = float(first[-1])
        columns.rows += len(block)
        columns.halves &= bool((block == np.rint(block)).all() and not np.signbit(block[:, 1::2]).any())
        columns.fractions |= bool(block[:, 1::2].any())
    return columns


def _have_commas(columns: _Columns, row: Node, expected: int) -> bool:
    """Return whether rows have `expected` numbers when all or some of them have a decimal comma."""
    items = [item for item in row.items if isinstance(item, Scalar)] if isinstance(row, Sequence) else []
    if len(items) == 2 * expected and columns.rows and columns.halves and columns.fractions:
        return True
    return has_decimal_commas(items, expected)
