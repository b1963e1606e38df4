"""The check of a body motion file: all that is wrong with it in one run, in bounded memory, at the speed of loading where nothing is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from bodymotion.diagnostics import FormatError, Problem
from bodymotion.formats.seq import rules
from bodymotion.formats.seq.checking_rows import ComponentCheck, Effort
from bodymotion.formats.seq.document import Document, open_document, whole_document
from bodymotion.formats.seq.faulty_lines import without_faulty_lines
from bodymotion.formats.seq.fields import Fields
from bodymotion.formats.seq.findings import Findings
from bodymotion.formats.seq.headers import ComponentHeader, read_headers
from bodymotion.formats.seq.layout import VECTOR3, Layout
from bodymotion.formats.seq.listing import Listing, first_of_each
from bodymotion.formats.seq.nodes import Mapping, Node, Sequence
from bodymotion.formats.seq.part_counts import other_parts
from bodymotion.formats.seq.reader import MUST_BE_FINITE
from bodymotion.formats.seq.single_rows import first_row
from bodymotion.formats.seq.source_bytes import ByteSource, UnusualError

__all__ = ["check_seq", "component_fields", "examine", "parts_of_rows"]

_TAIL = 1 << 16


def check_seq(path: str | Path) -> tuple[Problem, ...]:
    """Return all that is wrong with a body motion file, errors too, in the order of the file.

    Also what is to be said of the motion's numbers whatever its format: the rules MOT101 to MOT104. Of one rule, 20 problems of each
    component are listed, and the last of them says how many more there are.
    """
    try:
        with ByteSource.open(path) as source:
            return examine(source)
    except FormatError as error:
        return error.problems


def examine(source: ByteSource) -> tuple[Problem, ...]:
    """Return all that is wrong with a text: as the fast reader finds it, or a YAML parse, or, where it is no YAML, what can be read of it."""
    found = _attempt(source)
    if not isinstance(found, FormatError):
        return found
    if found.problem.rule != rules.NOT_YAML.code:
        return found.problems
    return without_faulty_lines(source, found, _attempt)


def _attempt(source: ByteSource) -> tuple[Problem, ...] | FormatError:
    """Return all that is wrong with a text; an error for one that is no YAML as a whole, and whose rows cannot be found."""
    fast = None
    try:
        fast = open_document(source)
        return _examined(fast)
    except FormatError as error:
        return FormatError(error.problem, error.problems)  # without what it was raised from: all that was parsed
    except UnusualError as error:
        why = error
    try:
        return _examined(whole_document(source, why))
    except FormatError as error:
        plain = FormatError(error.problem, error.problems)
    return plain if fast is None else _row_by_row(fast, plain)


def _row_by_row(document: Document, error: FormatError) -> tuple[Problem, ...] | FormatError:
    """Look at the rows of a file that is no YAML as a whole; `error` says why it is none."""
    try:
        found = _examined(document, one_by_one=True)
    except (UnusualError, FormatError):
        return error
    # A row that is no YAML is named itself: what a parser of the whole says is the same once more, one line too late.
    named = {rules.NOT_YAML.code, rules.ALIASES.code, rules.TAG.code}
    if _ends_in_a_row(document.source):
        found = _of_a_part(found)
    return found if any(problem.rule in named for problem in found) else (*error.problems, *found)


def _ends_in_a_row(source: ByteSource) -> bool:
    """Whether a file was cut off: its last line begins a row that does not end."""
    start = max(source.size - _TAIL, source.start)
    text = source.read(start, source.size - start).rstrip()
    last = text[text.rfind(b"\n") + 1 :].lstrip()
    return last.startswith(b"-") and last.count(b"[") > last.count(b"]")


def _of_a_part(found: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """Say that a file ends too early in place of what follows from that."""
    follows = (rules.NUM_FRAMES.code, rules.LENGTHS.code)
    told = [problem for problem in found if problem.rule not in follows]
    for k in reversed(range(len(told))):
        if told[k].rule == rules.NOT_YAML.code:
            frame, _, _ = told[k].message.partition(":")
            hint = "what comes behind it is missing, the number of frames and other components among it"
            told[k] = replace(told[k], message=f"the file ends in the middle of {frame}: it was cut off", hint=hint)
            break
    return tuple(told)


def _examined(document: Document, one_by_one: bool = False) -> tuple[Problem, ...]:
    headers = read_headers(document, Findings(lenient=True, one_by_one=one_by_one))
    listing, effort = Listing(), Effort(headers.components)
    done: set[tuple[int, Layout | None, bool]] = set()
    for header in headers.components:
        if header.layout is None or header.frames is None:
            continue
        # Aliases give one sequence of frames to several components.
        key = (id(header.frames), header.layout, header.content in MUST_BE_FINITE)
        if key in done:
            continue
        done.add(key)
        own = Listing()
        ComponentCheck(header, own, one_by_one, effort).run(header.layout)
        if own.count(rules.ROW, header.inside):
            own = _with_other_parts(document, header, one_by_one, effort) or own
        listing.merge(own)
    problems = dict.fromkeys([*first_of_each(headers.problems), *listing.problems])
    return tuple(sorted(problems, key=lambda p: (p.location.line or 0, p.location.column or 0)))


def _with_other_parts(document: Document, header: ComponentHeader, one_by_one: bool, effort: Effort) -> Listing | None:
    """Where all rows have as many parts, but not as many as the component says, say that once, and what else is wrong with them."""
    row, parts = _first_parts(header, one_by_one)
    fields = component_fields(document, header)
    if row is None or parts in (0, header.num_parts) or "num_parts" not in fields.values:
        return None
    listing = Listing()
    where = fields.at(fields.values["num_parts"], ".numParts")
    told = other_parts(header, row, parts)
    listing.add(rules.NUM_PARTS_ROWS, header.inside, told.message, lambda: where, told.hint or None)
    ComponentCheck(header, listing, one_by_one, effort).run(told.layout)
    return None if listing.count(rules.ROW, header.inside) else listing


def _first_parts(header: ComponentHeader, one_by_one: bool) -> tuple[Node | None, int]:
    """Return the first row of a component, and how many parts it has; None and 0 where that cannot be told."""
    if header.layout is None or header.frames is None or header.type == VECTOR3:
        return None, 0
    try:
        row = first_row(header.frames, one_by_one)
    except (UnusualError, FormatError):
        return None, 0
    return row, max(len(row.items) - header.layout.stamped, 0) if isinstance(row, Sequence) else 0


def parts_of_rows(header: ComponentHeader) -> int:
    """Return how many parts the first row of a component has; 0 where that cannot be told."""
    return _first_parts(header, False)[1]


def component_fields(document: Document, header: ComponentHeader) -> Fields:
    """Return the keys of a component."""
    node: Node | None = document.tree.root
    if header.inside:
        top = Fields(document, _mapping(node), Findings(lenient=True), "")
        components = top.values.get("components")
        number = int(header.inside.removeprefix("components[").removesuffix("]"))
        node = components.items[number] if isinstance(components, Sequence) else None
    return Fields(document, _mapping(node), Findings(lenient=True), header.inside)


def _mapping(node: Node | None) -> Mapping:
    assert isinstance(node, Mapping)
    return node
