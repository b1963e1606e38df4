"""Read messages, from bytes and from text, as animations."""

# ruff: noqa: ANN401 - messages of protobuf are made at run time

import re
import warnings
from collections.abc import Mapping, Set
from dataclasses import replace
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from bodymotion.diagnostics import (
    Diagnostics,
    FormatError,
    Location,
    ReadResult,
    Source,
    SourceMap,
    Subject,
)
from bodymotion.diagnostics.spelling import unusual_character
from bodymotion.diagnostics.text import listed
from bodymotion.formats.encodings import in_utf8
from bodymotion.formats.limits import timed
from bodymotion.formats.resources import file_bytes
from bodymotion.formats.rules import ENCODING, TOO_LARGE
from bodymotion.geometry.arrays import Floats
from bodymotion.spot.animation import TRACKS, Animation, Keyframes, Parameter
from bodymotion.spot.cha import check_animation, is_apart, unplayable
from bodymotion.spot.cha_proto import rules
from bodymotion.spot.cha_proto.messages import (
    ARM_PLAYBACKS,
    FLAGS,
    LIMITS,
    ROWS,
    TINY,
    message_class,
    parameter_paths,
)
from bodymotion.spot.cha_proto.rows import (
    PATHS,
    TIME,
    Layout,
    Table,
    gap,
    rivals,
    table_of,
)
from bodymotion.spot.sniffing import is_binary

MAX_SHOWN = 1000  # [characters] Of a line with a fault that are searched.
MAX_FILE_BYTES = 1 << 30
_MAX_BYTES_OUTSIDE_ROWS = 1 << 20
# Maximum count of numbers in a table from a small file. A larger file may have four
# numbers for each byte.
_MAX_NUMBERS_OF_ANY_FILE = 1 << 20
_MAX_LISTED = 6
# Sets of fields that the rows of a text have; with more, protobuf parses all rows.
_MAX_ALIKE = 64
_WHOLE = re.compile(r"(?<![\w.\"'+-])-?(?:0[xX][\da-fA-F]{1,3000}|[1-9]\d{9,3000})\b")
_NUMBER = re.compile(r"(?<=: )-?\d[\d.eE+-]*(?=\n)")

# Characters of faulty fields that are parsed again. What is behind is read without
# reports of unknown fields, up to its next fault.
_MAX_REREAD = 1 << 18
Fault: TypeAlias = tuple[str, int, int]  # The reason, the line and the column.
_STRING = r"\"(?:[^\"\\\n]|\\.)*\"?|'(?:[^'\\\n]|\\.)*'?"
# A field of a text with its value, or up to the brace that its message begins with.
FIELD = re.compile(
    rf"#.*|{_STRING}|(?P<name>[\w.+-]++)\s*(?:(?P<open>:?\s*[{{<])|(?P<colon>:)\s*"
    rf"(?P<value>(?:(?:{_STRING})\s*)++|\[[^\[\]{{<]*\]|[\w.+-]++(?!\s*[:{{<]))?)?"
    r"|(?P<bare>[{<])|(?P<close>[}>])"
)
_FIELD_OF_SEQUENCE = re.compile(r"(?m)^\s*(?:slices_per_minute|moves|choreography)\b")


def from_bytes(data: bytes) -> Animation:
    """Read the bytes of the vendor's message Animation.

    The vendor's package is not needed.

    The value 1e-6, which stands for zero, becomes 0 again. Where only some keyframes
    have a number, the others get the one before (CAP102 in `problems`). Times that go
    back, numbers that are not finite and the like are read as they are, and are errors
    in `problems`.

    Raises
    ------
    FormatError
        When the bytes are no such message (CAP001), or its keyframes contradict each
        other (CAP003), are nearly all empty (FMT009), or are missing (CAP006).
    """
    return _read(data, is_text=False).require()


def from_text(text: str | bytes) -> Animation:
    """Read the text of the vendor's message Animation, the content of a `.cap` file.

    Otherwise like `from_bytes`.

    Raises
    ------
    FormatError
        As `from_bytes` does, and CAP002 with line and column for text that is no such
        message.
    """
    if isinstance(text, str):
        data = text.encode("utf-8", "surrogatepass")
    else:
        data = text
    return _read(data, is_text=True).require()


def read_animation_message(
    path: str | Path, *, parameters: Mapping[str, float] | None = None
) -> ReadResult[Animation]:
    """Read a file of a message Animation, as text (`.cap`) or bytes (`.pb`).

    Its content decides. `parameters`: see `read_cha`.
    """
    found = Diagnostics(path)
    with found.recover():
        data = file_bytes(path, MAX_FILE_BYTES)
        result = _read(data, is_text=not is_binary(data), path=Path(path))
        if parameters and result.value is not None:
            return replace(result, value=result.value.with_parameters(parameters))
        return result
    return ReadResult(None, found.problems)


def _read(
    data: bytes, *, is_text: bool, path: Path | None = None
) -> ReadResult[Animation]:
    """Read a message from its content, and check what cannot be played."""
    found = Diagnostics(path)
    animation: Animation | None = None
    with found.recover():
        head, table = read_table(data, "Animation", found, is_text=is_text)
        animation = _animation(head, table, found, path)
        # The rules of the document know what is next to keyframes that were left out.
        found.extend(
            check_animation(animation) if table.left_out else unplayable(animation)
        )
        # With faults of the text the motion is known, except next to them.
        errors = [
            one
            for one in found.problems
            if one.severity == "error" and one.rule != rules.TEXT.code
        ]
        unknown: list[Subject] = []
        # The two keyframes on each side of a gap: velocities depend on them.
        for row in table.left_out:
            unknown += [("keyframes", row + k) for k in (-2, -1, 0, 1)]
        locations = SourceMap(
            unknown=unknown if all(map(is_apart, errors)) else [("keyframes",)]
        )
        animation = replace(
            animation,
            problems=found.problems,
            source=replace(animation.source, locations=locations),
        )
    return found.result(animation)


def read_table(
    data: bytes, kind: str, found: Diagnostics, *, is_text: bool
) -> tuple[Any, Table]:
    """Read a message with rows.

    The message without them, and the rows as a table in which no number is missing.

    Parameters
    ----------
    data:
        Bytes of the wire format, or of text.
    kind:
        The message, a key of `ROWS`.
    found:
        Gets a problem for unknown fields and for gaps.

    Raises
    ------
    FormatError
        When the data is not such a message (CAP001, CAP002), is a sequence of moves
        (CAP005), has no rows (CAP006), or many nearly empty rows (FMT009).
    """
    from google.protobuf.message import DecodeError

    location = Location(found.path)
    rows_field, row = ROWS[kind]
    # The raw class holds each row as bytes: rows are read by `table_of` without a
    # Python object for every number.
    wire, left_out = _wire_of_text(data, kind, found) if is_text else (data, ())
    try:
        head = message_class(f"{kind}Raw").FromString(wire)
    except DecodeError:
        raise rules.WIRE.error(
            "the bytes are not a protobuf message, or are cut off", location
        ) from None
    rows = list(getattr(head, rows_field))
    # 6 bytes: tag and length of a row of up to 2^35 bytes.
    outside = len(wire) - sum(len(row) + 6 for row in rows)
    if outside > _MAX_BYTES_OUTSIDE_ROWS:
        raise TOO_LARGE.error(f"{outside} bytes are not in keyframes", location)
    # The table may have four numbers for each byte of the file. Nearly empty rows,
    # which need more, are refused: a small file must not fill the memory.
    table = table_of(rows, row, _MAX_NUMBERS_OF_ANY_FILE + 4 * len(data), location)
    head.ClearField(rows_field)
    if not is_text:
        # Unknown fields of a text have been reported with their line.
        _report_unknown(head, table.with_unknown, found)
    if not rows:
        # Without rows because of faults: these are the reason.
        if found.refusal is not None:
            raise FormatError(found.refusal)
        raise rules.NO_FRAMES.error("the message has no keyframes", location)
    # Members of a oneof (body_pos or com_pos) may not change from row to row.
    for first, second in rivals(row).items():
        if first in table.parents and second in table.parents:
            message = f"some keyframes have {first}, others {second}"
            raise rules.CHANGES.error(
                message, location, data={"fields": (first, second)}
            )
    return head, _without_gaps(replace(table, left_out=left_out), found)


def _report_unknown(message: Any, rows: int, found: Diagnostics) -> None:
    """Report the fields of bytes that are not in the table of messages.

    `rows` is the number of rows that have some, too.
    """
    from google.protobuf.unknown_fields import UnknownFieldSet

    names: dict[str, None] = {}

    def collect(message: Any, path: str) -> None:
        known = message.DESCRIPTOR.fields_by_number
        for one in UnknownFieldSet(message):
            field = known.get(one.field_number)
            names[f"{path}{one.field_number if field is None else field.name}"] = None
        for field, value in message.ListFields():
            if field.message_type is not None:
                collect(value, f"{path}{field.name}.")

    collect(message, "")
    if names:
        parts = [listed(names, _MAX_LISTED)]
    else:
        parts = []
    if rows:
        parts.append(f"some in {rows} keyframe{'s' * (rows > 1)}")
    if parts:
        found.report(
            rules.UNKNOWN,
            f"unknown fields: {' and '.join(parts)}",
            data={"fields": list(names), "rows": rows},
        )


def _without_gaps(table: Table, found: Diagnostics) -> Table:
    """Return a table without missing numbers.

    Each is replaced by the one before it, or else by the first.

    Report the gaps.
    """
    if table.held.all():
        return table
    values = table.values.copy()
    gaps: dict[str, int] = {}
    # For each missing number the last row before it that has one; the first row with
    # one at the start. `there` are the rows that have the column.
    for index in np.flatnonzero(~table.held.all(axis=0)):
        there = np.flatnonzero(table.held[:, index])
        source = np.searchsorted(there, np.arange(len(values)), side="right") - 1
        values[:, index] = values[there[np.maximum(source, 0)], index]
        gaps[table.columns[index].rpartition(".")[0]] = len(values) - len(there)
    shown = listed((f"{name} in {count}" for name, count in gaps.items()), _MAX_LISTED)
    message = f"missing in some of {len(values)} keyframes: {shown}"
    found.report(rules.GAPS, message, data={"missing": gaps, "keyframes": len(values)})
    return replace(table, values=values)


# Text.


def text_of(data: bytes, found: Diagnostics) -> str:
    """Return the text of a file, with line feeds at the ends of lines.

    Raises
    ------
    FormatError
        When it is not UTF-8 (CAP002).
    """
    data, wide = in_utf8(data)
    if wide:
        found.report(ENCODING, f"the text is {wide}", Location(found.path, 1))
    try:
        # utf-8-sig drops a byte order mark.
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"byte {data[error.start]:#04x} is not UTF-8"
        raise rules.TEXT.error(message, Location(found.path, line)) from None
    return text.replace("\r\n", "\n")


def _wire_of_text(
    data: bytes, kind: str, found: Diagnostics
) -> tuple[bytes, tuple[int, ...]]:
    """Return the bytes of a text without faulty rows, and where these are.

    For each of them the row after it.
    """
    text = text_of(data, found)
    rows_field = ROWS[kind][0]
    if rows_field not in text and _FIELD_OF_SEQUENCE.search(text):
        raise rules.SEQUENCE.error(
            "the file is a sequence of moves", Location(found.path)
        )
    # First the fast way for texts as protobuf writes them, then the general parser,
    # which reports and skips faults.
    if (wire := _wire_of_rows(text, kind)) is not None:
        return wire, ()
    message, faulty = parsed(text, kind, found)
    # Rows are deleted in order: the index of each in what is left of the others.
    left_out = tuple(row - before for before, row in enumerate(faulty))
    for row in left_out:
        del getattr(message, rows_field)[row]
    return bytes(message.SerializeToString()), left_out


def _wire_of_rows(text: str, kind: str) -> bytes | None:
    """Return the bytes of a text as protobuf writes it.

    Each field is on a line of its own.

    None for any other text, and for faults.

    Of rows that differ in their numbers only, protobuf parses one. It would take a
    hundred times as long for all of them.
    """
    # A row as MessageToString writes it: the brace alone on the first and last line.
    rows_field, row = ROWS[kind]
    rows = re.compile(rf"^{rows_field} \{{\n((?:[ \t].*\n)*)\}}\n", re.MULTILINE)
    head, error = attempt(rows.sub("", text), f"{kind}Raw")
    if error is not None or getattr(head, rows_field):
        return None
    alike: dict[str, tuple[list[int], list[list[float]]]] = {}
    count = 0
    for count, found in enumerate(rows.finditer(text), 1):
        # Numbers become %r: rows with the same fields share one pattern.
        indices, numbers = alike.setdefault(
            _NUMBER.sub("%r", found[1].replace("%", "%%")), ([], [])
        )
        if len(alike) > _MAX_ALIKE:
            return None
        indices.append(count - 1)
        try:
            numbers.append([float(number) for number in _NUMBER.findall(found[1])])
        except ValueError:
            return None
    content = [b""] * count
    # Parse each pattern once with marker numbers, find these in the wire format, and
    # write all its rows by filling in the bytes.
    for shared, (indices, numbers) in alike.items():
        width = len(numbers[0])
        message, error = attempt(shared % tuple(gap(k) for k in range(width)), row)
        if error is not None:
            layout = None
        else:
            layout = Layout.of(message, width)
        if layout is None:
            return None
        for index, filled in zip(indices, layout.fill(np.array(numbers)), strict=True):
            content[index] = filled.tobytes()
    getattr(head, rows_field).extend(content)
    return bytes(head.SerializeToString())


def parsed(text: str, kind: str, found: Diagnostics) -> tuple[Any, list[int]]:
    """Return the message of a text, and the rows with a fault.

    Without what is unknown or faulty.

    Every unknown field and every fault is reported: an outermost field is parsed again
    without what is reported.
    """
    # The whole text at once: nearly all files have no fault.
    message = message_class(kind)()
    whole, fault = attempt(text, kind)
    if fault is None:
        return whole, []
    if kind in ("Animation", "ChoreographyStateLog"):
        rows = getattr(message, ROWS[kind][0])
    else:
        rows = []
    faulty = list[int]()
    # Each attempt parses a field again: `rereads` bounds the time for hostile texts.
    rereads = _MAX_REREAD
    line = 1
    begins = _scan(text, frozenset(message.DESCRIPTOR.fields_by_name))[1]
    # One outermost field after the other, so that a fault affects its own field only.
    for begin, end in timed(pairwise([0, *begins, len(text)])):
        part = text[begin:end]
        num_rows = len(rows)
        has_fault = False
        # Columns of faults in the first line of the part count from its begin.
        before = begin - text.rfind("\n", 0, begin) - 1
        # What is faulty only beside other fields is one that is there twice.
        while (
            fault := (own := attempt(part, kind)[1]) or attempt(part, kind, message)[1]
        ) is not None and rereads > 0:
            reason, row, column = fault
            part, is_unknown = _without(part, kind, own, row, column)
            location = Location(
                found.path, line + row - 1, column + (before if row == 1 else 0)
            )
            has_fault |= not is_unknown
            found.report(
                rules.UNKNOWN if is_unknown else rules.TEXT,
                reason,
                location,
                fatal=not is_unknown,
            )
            # 256: a short field costs something, too.
            rereads -= len(part) + 256
        behind = None
        if rereads <= 0:
            # With the field in progress, where it still has a fault.
            rest, first = (
                (text[end:], line + text.count("\n", begin, end))
                if fault is None
                else (part + text[end:], line)
            )
            behind = attempt(rest, kind, message, skip_unknown=True)[1]
            if behind is not None:
                location = Location(found.path, first + behind[1] - 1, behind[2])
                found.report(rules.TEXT, behind[0], location, fatal=True)
        if has_fault and len(rows) > num_rows:
            faulty.append(num_rows)
        if rereads <= 0:
            faulty += (
                [len(rows) - 1]
                if behind is not None and len(rows) > num_rows + 1
                else []
            )
            break
        line += text.count("\n", begin, end)
    return message, faulty


def _scan(
    text: str, names: Set[str] = frozenset()
) -> tuple[list[tuple[bool, int, int, int]], list[int], str]:
    """Return the fields of a text, and where its outermost ones begin.

    And closing braces for those that are open at its end.

    A field is given by whether it has a value, its begin, the end of its value or
    opening brace, and its end. One of `names` at the begin of a line is outermost: the
    message before it is not closed.
    """
    fields: list[tuple[bool, int, int, int]] = []
    outermost: list[int] = []
    opened: list[re.Match[str]] = []
    for found in FIELD.finditer(text):
        # A name that is only known at the outermost level begins a new field there: an
        # earlier brace was not closed.
        begin, end = found.span()
        if found["name"] in names and text[begin - 1] == "\n":
            opened.clear()
        if not opened and (found["name"] or found["close"]):
            outermost.append(begin)
        if found["open"] or found["bare"]:
            opened.append(found)
        elif found["close"] and opened:
            fields.append((True, opened[-1].start(), opened.pop().end(), end))
        elif found["name"]:
            fields.append((bool(found["value"]), begin, end, end))
    return (
        fields,
        outermost,
        "".join("}" if one[0][-1] == "{" else ">" for one in reversed(opened)),
    )


def _without(
    text: str, kind: str, own: Fault | None, row: int, column: int
) -> tuple[str, bool]:
    """Return a text without its first fault, at a row and a column.

    And whether that is an unknown field with its value.

    `own` is the first fault of the text alone. A parser that skips unknown fields does
    not find it there if it is one.
    """
    fields, _, closing = _scan(text)
    # An open brace at the end is the only fault if closing it helps.
    if closing and attempt(closed := f"{text}\n{closing}", kind)[1] is None:
        return closed, False
    # Line and column to an index: line ends count one each.
    at = sum(len(line) + 1 for line in text.split("\n")[: row - 1]) + column - 1
    # A field without a value is found to be faulty at what comes next.
    hit = (one for one in fields if one[1] <= at < one[2] + (not one[0]))
    has_value, begin, _, end = min(hit, default=(False, at, at, at + 1))
    # Blank out the fault: the locations of all others stay.
    rest = text[:begin] + re.sub(r"\S", " ", text[begin:end]) + text[end:]
    return rest, has_value and attempt(text, kind, skip_unknown=True)[1] != own


def attempt(
    text: str,
    kind: str,
    message: Any = None,
    *,
    skip_unknown: bool = False,
) -> tuple[Any, Fault | None]:
    """Add a text to a message, by default a new one of a kind.

    Return it, and the first fault.
    """
    from google.protobuf import text_format

    if message is None:
        message = message_class(kind)()
    with warnings.catch_warnings():
        # Of escapes such as \\q, which it does not change.
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            text_format.Parse(text, message, allow_unknown_field=skip_unknown)
        except RecursionError:
            return message, ("the messages are nested too deeply to be read", 1, 1)
        except text_format.ParseError as error:
            reason = (
                # The message begins with line and column, which the location has
                # already.
                re.sub(r"^\d+:\d+ : ", "", str(error))
                .replace("bosdyn.api.spot.", "")
                .rstrip(".")
            )
            if len(reason) <= 300:
                short = reason
            else:
                # A whole line may be quoted in the reason: keep its two ends.
                short = f"{reason[:120]}…{reason[-120:]}"
            line = error.GetLine() or 1
            at_fault = "".join(text.split("\n")[line - 1 : line])[:MAX_SHOWN]
            if unusual := unusual_character(at_fault):
                short = f"{short}: the line has the character {unusual}"
            return message, (short, line, error.GetColumn() or 1)
        except ValueError as error:
            # Of the number of an enumeration protobuf gives the value, not its
            # location.

            number = str(error).rpartition(" ")[2]
            begin = next(
                (
                    one.start()
                    for one in _WHOLE.finditer(text)
                    if str(int(one[0], 0)) == number
                ),
                0,
            )
            return message, (
                str(error)[:300],
                text.count("\n", 0, begin) + 1,
                begin - text.rfind("\n", 0, begin),
            )
    return message, None


# From the message to the animation.


def _animation(
    head: Any,
    table: Table,
    found: Diagnostics,
    path: Path | None,
) -> Animation:
    """Return the animation of a message.

    The value 1e-6, which stands for zero, becomes a zero that counts as the bare text
    0; other zeros do not. Times that are sums of one step from 0 on become the option
    `frequency`.
    """
    # Columns in the order of PATHS, whatever the order of fields in the file.
    names = [name for name, field in PATHS.items() if field in table.columns]
    values = table.values[:, [table.columns.index(PATHS[name]) for name in names]]
    # The vendor's converter writes 1e-6 for zero, because plain doubles of 0 vanish
    # from the wire. Contacts are flags and have true zeros.
    exact = values == TINY
    for number, name in enumerate(names):
        if name.endswith("_contact"):
            exact[:, number] = values[:, number] == 0
    values[exact] = 0.0
    times = table.column(TIME)
    # Exact multiples of the step, as `frequency` means them.
    frequency = _frequency(times)
    if frequency is not None:
        times = np.arange(len(times)) / frequency
    keyframes = Keyframes(
        columns=tuple(names),
        values=values,
        times=np.where(times == TINY, 0.0, times),
        exact_zeros=exact,
    )
    return Animation(
        name=head.name or (path.name.split(".")[0] if path is not None else ""),
        options=_options(head, frequency),
        parameters=_parameters(head, found),
        keyframes=keyframes,
        source=Source("cap", path, options={"left_out": table.left_out}),
    )


def _frequency(times: Floats) -> float | None:
    """Return the frequency [Hz] whose steps add up to these times.

    To the last bit, as the vendor's converter adds them.

    Or None.
    """
    if len(times) < 2 or times[0] != 0 or not times[1] > 0:
        return None
    # 1 / step is rarely exact: try a whole number, six digits, and the value itself.
    with np.errstate(over="ignore"):
        guess = float(1.0 / times[1])
    if not np.isfinite(guess):
        return None
    for frequency in (float(round(guess)), float(f"{guess:.6g}"), guess):
        # The converter sums up steps: products k / frequency have other last bits.
        steps = np.full(len(times), 1.0 / frequency if frequency else 0.0)
        steps[0] = 0.0
        if np.array_equal(np.cumsum(steps), times):
            return frequency
    return None


def _options(head: Any, frequency: float | None) -> dict[str, object]:
    """Return the options of a message; fields with their default are not set."""
    options: dict[str, object] = {
        "controls": tuple(
            track for track in TRACKS if getattr(head, f"controls_{track}")
        )
    }
    # Proto3: a double of 0 is not on the wire, and means that it is not given.
    for keyword in ("bpm", "timing_adjustability"):
        if getattr(head, keyword):
            options[keyword] = getattr(head, keyword)
    if head.precise_timing and "timing_adjustability" not in options:
        options["precise_timing"] = True
    if frequency is not None:
        options["frequency"] = frequency
    # 0 is "unspecified".
    if 0 < head.arm_playback < len(ARM_PLAYBACKS):
        options["arm_playback"] = ARM_PLAYBACKS[head.arm_playback]
    options |= {keyword: True for keyword in FLAGS if getattr(head, keyword)}
    return options


def _parameters(head: Any, found: Diagnostics) -> dict[str, Parameter]:
    """Return the parameters of a message, from its three messages of limits."""
    parameters: dict[str, Parameter] = {}
    partial: list[str] = []
    for name, (path, _) in parameter_paths().items():
        limits = [_limit(getattr(head, message), path) for message in LIMITS]
        known = [limit for limit in limits if limit is not None]
        if not known:
            continue
        # A limit may be missing in one of them: take it from the others.
        if len(known) < len(limits):
            partial.append(name)
        minimum, default, maximum = limits
        if default is None:
            default = known[0]
        parameters[name] = Parameter(
            min(known) if minimum is None else minimum,
            default,
            max(known) if maximum is None else maximum,
        )
    if partial:
        found.report(
            rules.PARTLY,
            f"limits are missing of {', '.join(partial)}",
            data={"names": partial},
        )
    # The name of the animation is that of the message itself.
    if any(getattr(head, message).animation_name for message in LIMITS):
        found.report(
            rules.NAME, "the field animation_name of the parameters is not used"
        )
    return parameters


def _limit(parameters: Any, path: str) -> float | None:
    """Return a limit; None where its wrapper is missing.

    A wrapper without a value holds 0.
    """
    parent = parameters
    for part in path.split(".")[:-1]:
        if not parent.HasField(part):
            return None
        parent = getattr(parent, part)
    value = float(attrgetter(path)(parameters))
    return 0.0 if value == TINY else value
