"""The formats, whose table is `formats.txt`.

How each is recognised, what reads it and what writes it; `load` and `save`.

A file is recognised by its first `HEAD` bytes (`formats.sniffing`), then by its
extension, then by more of its content.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from importlib import import_module
from inspect import signature
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from bodymotion import extensions
from bodymotion.diagnostics import (
    Findings,
    FormatError,
    Location,
    Problem,
    ReadResult,
    WrongUseError,
)
from bodymotion.diagnostics.text import counted, with_article
from bodymotion.formats import sniffing
from bodymotion.formats.encodings import in_utf8
from bodymotion.formats.limits import budget_for
from bodymotion.formats.resources import check_inside, gather_missing, unreadable
from bodymotion.formats.rules import (
    CONFLICT,
    OTHER_KIND,
    UNKNOWN,
    UNWRITABLE,
)
from bodymotion.formats.untrusted import (
    TRUST_OPTIONS,
    call_within_limits,
    requested_limits,
    without_time_limit,
)
from bodymotion.system.files import (
    pipes_kept,
    read_head,
    read_tail,
    size_of,
)
from bodymotion.system.limited import note_reading

if TYPE_CHECKING:
    from bodymotion.keyposes import KeyPoses
    from bodymotion.model.body import Body
    from bodymotion.motion import Motion
    from bodymotion.skeleton import Skeleton

T = TypeVar("T")

HEAD = 65536
"""[bytes] The part of a file that its format is recognised by."""
LONG_HEAD = 1 << 20
"""[bytes] The part that is looked at when neither these nor the extension decide.

Long comments may stand before the first key.
"""
# `formats.txt` is a table of text, so that formats are listed without importing them.
_TABLES = {
    "bodymotion.formats": Path(__file__).with_name("formats.txt").read_text("utf-8"),
    **{one.package: one.formats for one in extensions.extensions()},
}
"""For each package with formats its table, as `formats.txt`."""
AMBIGUOUS = frozenset(re.findall(r"(\.\w+)\?", "\n".join(_TABLES.values())))
"""Extensions that other files have, too.

In a folder such a file is used only if its content is of a known format.
"""

PROGRAMS = (
    *(".bash", ".c", ".cc", ".cpp", ".h", ".hpp", ".ipynb", ".jl", ".js", ".lua"),
    *(".m", ".py", ".rb", ".rs", ".sh", ".ts"),
)
"""Extensions of programs, whatever their content."""
MAX_SEARCHED = 64 << 20
"""[bytes] Larger files are not searched for conflict markers."""
MARKER = re.compile(rb"^(<{7}|={7}|>{7})(?=[ \r\n]|\Z)", re.MULTILINE)
_KINDS = {
    "Body": "models",
    "Motion": "motions",
    "KeyPoses": "key poses",
    "Skeleton": "recorded motions",
    **{kind.name: kind.plural for kind in extensions.kinds()},
}
"""What messages call the kinds of values that files hold."""

MAX_KEPT = 4
"""Bodies that are kept in memory."""


@dataclass(frozen=True)
class Function(extensions.Function):
    """A reader or a writer of files called `title`."""

    title: str

    def __call__(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401
        """Read or write a file.

        TypeError for an option that it does not have.
        """
        # Options are keyword-only, so their names are those of the reader's parameters.
        for name in sorted(options.keys() - self.options):
            known = ", ".join(sorted(self.options)) or "none"
            raise TypeError(
                f"{with_article(self.title)} has no option {name!r}; its options: "
                f"{known}"
            )
        return self.find()(*args, **options)

    @property
    def options(self) -> frozenset[str]:
        """The names of its options: its keyword-only parameters."""
        parameters = signature(self.find()).parameters.values()
        return frozenset(one.name for one in parameters if one.kind is one.KEYWORD_ONLY)


@dataclass(frozen=True)
class Format:
    """A row of the table.

    Attributes
    ----------
    name:
        The name on the command line (`--from`, `--to`).
    title:
        What a file of this format is, for messages.
    read:
        `read(path, **options)` returns a `ReadResult`: the value, partial where the
        file is faulty, and all problems.
    sniff:
        `sniff(head)` returns whether a file that begins with these bytes is of this
        format.
    write:
        `write(value, path, **options)` writes a value of the type `holds`, and returns
        what was lost.
    """

    name: str
    title: str
    extensions: tuple[str, ...]
    read: Function
    sniff: Callable[[bytes], bool]
    write: Function | None
    holds: str

    @property
    def writes(self) -> frozenset[str]:
        """The names of the options of the writer."""
        if self.write is None:
            return frozenset()
        return self.write.options

    def options_of(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options that the reader has, or that any file may have."""
        usable = self.read.options | TRUST_OPTIONS
        return {name: value for name, value in options.items() if name in usable}


def _format(row: str, package: str) -> Format:
    """Return the format of a row, whose modules are in a package."""
    # Columns of the table are between bars.
    name, holds, suffixes, module, reader, writer, sniff, title = (
        cell.strip() for cell in row.split("|")
    )
    module = f"{package}.{module}"
    write = None
    if writer:
        place = f"{module}.{writer}" if ":" in writer else f"{module}:{writer}"
        write = Function(place, title)
    recognises: Callable[[bytes], bool] = lambda head: False  # noqa: E731
    # Formats without a function are known by their extension only.
    if sniff:
        of_package = import_module(f"{package}.sniffing")
        recognises = getattr(of_package, f"looks_like_{sniff}")
    return Format(
        name,
        title,
        tuple(suffixes.replace("?", "").split()),
        Function(f"{module}:{reader}", title),
        recognises,
        write,
        holds,
    )


def _formats() -> Iterator[Format]:
    """Yield the formats of all tables."""
    for package, table in _TABLES.items():
        for row in table.splitlines():
            if "|" in row and not row.startswith(("#", "name ")):
                yield _format(row, package)


FORMATS = tuple(_formats())
"""The table of formats: `formats.txt` and those of extensions."""


def named_format(name: str) -> Format:
    """Return the format of this name.

    Raises
    ------
    ValueError
        When there is none; the message lists those that exist.
    """
    for candidate in FORMATS:
        if candidate.name == name:
            return candidate
    raise ValueError(
        f"there is no format {name!r}; expected one of "
        f"{', '.join(f.name for f in FORMATS)}"
    )


def recognised(head: bytes) -> Format | None:
    """Return the format of a file by its first bytes.

    None where they do not show it.
    """
    # Patterns are for ASCII: wide characters are changed first.
    head, _ = in_utf8(head)
    # Texts may be inside of archives uncompressed.
    is_archive = sniffing.is_archive(head)
    for row in FORMATS:
        can_be = row.name in sniffing.ZIPPED or not is_archive
        if can_be and row.sniff(head):
            return row
    return None


def find_format(path: str | PathLike[str]) -> Format:
    """Return the format of a file, by its content, then by its extension.

    Raises
    ------
    FormatError
        When the format is unknown (FMT001), or the file cannot be opened (FMT002).
    """
    path = Path(path)
    try:
        head = read_head(path, HEAD)
    except (OSError, ValueError) as error:
        raise unreadable(error, path) from error
    if path.suffix.lower() in PROGRAMS:
        # Its texts may look like the files that it writes.
        message = "the file is a program; expected a model or a motion"
        hint = "run it, and open what it writes"
        raise UNKNOWN.error(message, Location(str(path)), hint)
    if head.startswith(b"PK"):
        # The names of all parts of an archive are at its end.
        head += read_tail(path, HEAD)
    row = recognised(head) or _by_extension(path)
    # Comments may be longer than the first part; a pipe has no second look.
    if row is None and len(head) == HEAD and path.is_file():
        row = recognised(read_head(path, LONG_HEAD))
    if row is None:
        raise _unknown_format(path)
    return row


def _by_extension(path: Path) -> Format | None:
    for row in FORMATS:
        if path.suffix.lower() in row.extensions:
            return row
    return None


def _unknown_format(path: Path) -> FormatError:
    """Return the error for a file of an unknown format."""
    extension = "a file name without extension"
    if path.suffix:
        extension = f"extension {path.suffix!r}"
    supported: list[str] = []
    for kind, kinds in _KINDS.items():
        extensions: list[str] = []
        # Extensions by kind, for the message.
        for row in FORMATS:
            if row.holds == kind:
                extensions += row.extensions
        supported.append(f"{kinds} ({', '.join(extensions)})")
    message = f"unknown format: neither the content nor {extension} matches"
    hint = f"supported are {', '.join(supported)}"
    return UNKNOWN.error(message, Location(str(path)), hint)


def read(
    path: str | PathLike[str],
    *,
    format: str | None = None,
    **options: Any,  # noqa: ANN401
) -> tuple[Format, ReadResult[Any]]:
    """Read a file; return its format, and the value with all problems of the file.

    Parameters
    ----------
    path, format, options:
        As for `load`.

    Raises
    ------
    FormatError
        When the format is unknown (FMT001), or the file cannot be opened (FMT002).
        Other faults of the file are problems of the result.
    """
    path = Path(path)
    # Untrusted files, and those with a time limit, are read in a child process.
    limits = requested_limits(options)
    options = without_time_limit(options)
    if limits is not None:
        name, result = call_within_limits(
            _read_named, path, format, options, files=[path], limits=limits
        )
        return named_format(name), result
    return read_here(path, format, options)


def read_here(
    path: Path, format: str | None, options: dict[str, Any]
) -> tuple[Format, ReadResult[Any]]:
    """Return the result of `read`, of a file that is read in this process.

    For functions that are called in a child process.
    """
    # A pipe can be read once: its content is kept for all that look at it.
    with pipes_kept():
        if format is None:
            row = find_format(path)
        else:
            row = named_format(format)
        try:
            found = _read(row, path, options)
        except FormatError as error:
            return row, ReadResult(None, error.problems)
    return row, found


def _read_named(
    path: Path, format: str | None, options: dict[str, Any]
) -> tuple[str, ReadResult[Any]]:
    """Return the name of the format, and the result of `read`.

    A child process can send these.
    """
    row, result = read_here(path, format, options)
    return row.name, result


def _read(row: Format, path: Path, options: dict[str, Any]) -> ReadResult[Any]:
    """Return the result of a format's reader for a file."""
    # Untrusted implies that nothing outside is opened.
    if options.get("untrusted"):
        options = {**options, "allow_outside": False}
    note_reading(path)
    # Names such as /dev/stdin are links of the system, not of a folder from others.
    is_of_system = path.is_relative_to("/dev") or path.is_relative_to("/proc")
    if options.get("untrusted") and path.is_symlink() and not is_of_system:
        check_inside(path, path.parent / "any", allow_outside=False)
    try:
        path.stat()
    except (OSError, ValueError) as error:
        raise unreadable(error, path) from error
    # Options that any file may have, and this reader lacks.
    unused = {"allow_outside", "untrusted", "body"} - row.read.options
    used = {name: value for name, value in options.items() if name not in unused}
    # A file with conflict markers has many faults, and they are the reason.
    try:
        with budget_for(path):
            result: ReadResult[Any] = row.read(path, **used)
    except FormatError:
        conflict = _conflict(path)
        if conflict is None:
            raise
        return ReadResult(None, (conflict,))
    # Conflict markers are looked for only where the file has faults.
    if not result.whole and Findings(result.problems).errors:
        conflict = _conflict(path)
        if conflict is not None:
            return ReadResult(None, (conflict,))
    # Missing files are one problem, not one for each.
    problems = gather_missing(result.problems)
    if len(problems) == len(result.problems):
        return result
    value = result.value
    if value is not None:
        value = replace(value, problems=problems)
    return replace(result, value=value, problems=problems)


def _conflict(path: Path) -> Problem | None:
    """Return the problem of a file with conflict markers.

    None for one without, and for one that cannot be searched.
    """
    content = b""
    try:
        # None for a pipe whose end was not read: to open it again would wait for
        # another writer.
        size = size_of(path)
        if size is not None and size <= MAX_SEARCHED:
            content = read_head(path, size)
    except OSError:
        return None
    markers = list(MARKER.finditer(content))
    # All three, in this order: other texts have lines of `=`.
    if [marker[0][:1] for marker in markers[:3]] != [b"<", b"=", b">"]:
        return None
    first, between, last = (
        1 + content.count(b"\n", 0, marker.start()) for marker in markers[:3]
    )
    message = (
        "conflict markers of a version control system in lines "
        f"{first}, {between} and {last}"
    )
    # A conflict has three markers.
    if len(markers) > 5:
        message += f" and {counted(len(markers) // 3 - 1, 'more conflict')}"
    return CONFLICT.problem(message, Location(str(path), first, 1))


def unused_options(options: Iterable[str], rows: Iterable[Format]) -> dict[str, str]:
    """Return the options that no reader of some formats has.

    Each with the titles of the formats.     Those of `TRUST_OPTIONS` fit any.

    Raises
    ------
    TypeError
        When no reader has an option.
    """
    titles = {with_article(row.title): row.read.options for row in rows}
    unused = sorted({*options}.difference(TRUST_OPTIONS, *titles.values()))
    for name in unused:
        if not any(name in row.read.options for row in FORMATS):
            raise TypeError(f"there is no option {name!r}")
    return dict.fromkeys(unused, " or ".join(titles) or "what is not read from a file")


def load(
    path: str | PathLike[str],
    *,
    format: str | None = None,
    **options: Any,  # noqa: ANN401
) -> Any:  # noqa: ANN401
    """Read a file: a `Body` from a `.wrl`, a `Motion` from a `.seq`, and so on.

    The value is of the kind that the file's format holds; `FORMATS` lists all.

    Parameters
    ----------
    path:
        The file. Its content determines its format; if that is ambiguous, its extension
        does. A pipe is read as a whole first.
    format:
        The name of a format of `FORMATS`, to read the file in that format whatever its
        content.
    options:
        Those of the format's reader. A model's parts are found by their relative paths.
        `untrusted=True` opens only those in the folder of the model or below it, for
        files from others; `allow_outside=True` also those with absolute paths or behind
        symbolic links. `body` is for tables whose columns are joints. Other formats
        ignore these. An untrusted file is read in a child process with limits of memory
        and time (see `bodymotion.system.limited`); `time_limit` [s] is another limit of
        time, also for other files.

    Raises
    ------
    FormatError
        When the file has an error, with line, column and rule; `problems` of the
        exception are all that were found. Where there is no file, it is a
        FileNotFoundError, too.
    """
    path = Path(path)
    limits = requested_limits(options)
    options = without_time_limit(options)
    if limits is not None:
        return call_within_limits(
            _load, path, format, options, files=[path], limits=limits
        )
    return _load(path, format, options)


def _load(path: Path, format: str | None, options: dict[str, Any]) -> Any:  # noqa: ANN401
    """Return the value of a file, read in this process."""
    with pipes_kept():
        if format is None:
            row = find_format(path)
        else:
            row = named_format(format)
        # Only bodies that are files are kept.
        if not (_keeping.get() and row.holds == "Body" and path.is_file()):
            return _read(row, path, options).require()
        about = path.stat()
        # A file that was changed has another time or size; options give another body.
        key = (
            path.absolute(),
            about.st_mtime_ns,
            about.st_size,
            repr(sorted(options.items())),
        )
        # Files that the model names may have changed as well.
        body, parts = _kept_bodies.get(key, (None, None))
        if body is None or parts != _part_times(body):
            body = _read(row, path, options).require()
            _kept_bodies[key] = body, _part_times(body)
            # The oldest goes first.
            if len(_kept_bodies) > MAX_KEPT:
                del _kept_bodies[next(iter(_kept_bodies))]
        return body


def _part_times(body: Body) -> tuple[int | None, ...]:
    """Return when each file that a model names was changed [ns].

    None for missing files.
    """
    return tuple(
        path.stat().st_mtime_ns if path.is_file() else None
        for path in body.source.parts
    )


_kept_bodies: dict[Any, tuple[Body, tuple[int | None, ...]]] = {}
_keeping: ContextVar[bool] = ContextVar("keeping", default=False)


@contextmanager
def bodies_kept() -> Iterator[None]:
    """Within the block, read a body once.

    What is constant for it is computed once, too. For what uses it with many motions.
    """
    token = _keeping.set(True)
    try:
        yield
    finally:
        _keeping.reset(token)


def load_together(
    sources: Iterable[Any],
    *,
    by_position: bool = False,
    **options: Any,  # noqa: ANN401
) -> list[Any]:
    """Return values that belong together, such as a body and its motions.

    Those that are files are read.     In the order of the sources.

    Each option goes to the files whose reader has it. Tables get the body, which names
    their columns; key poses become a motion on it.

    Parameters
    ----------
    sources:
        Values or files.
    by_position:
        Read joint columns by position, whatever their names
        (`bodymotion.model.body.by_position`).
    options:
        Those of the readers.

    Raises
    ------
    FormatError
        When a file has an error.
    WrongUseError
        When an option has no effect on any of the files; TypeError when there is no
        such option.
    """
    values = list(sources)
    limits = requested_limits(options)
    paths = [value for value in values if isinstance(value, (str, PathLike))]
    # In a child process only if all values are files: others would have to be sent.
    if limits is None or len(paths) < len(values):
        return _load_together(values, by_position, options)
    # What key poses mean on a body is computed within the limits, too.
    return call_within_limits(
        _load_together,
        values,
        by_position,
        without_time_limit(options),
        files=paths,
        limits=limits,
    )


def _load_together(
    values: list[Any], by_position: bool, options: dict[str, Any]
) -> list[Any]:
    """Return the values of `load_together`."""
    from bodymotion.keyposes import KeyPoses
    from bodymotion.model.body import Body
    from bodymotion.model.body import by_position as put_by_position
    from bodymotion.motion import Motion

    def first_body() -> Body | None:
        for value in values:
            if isinstance(value, Body):
                return value
        return None

    files: dict[int, Path] = {}
    for k, value in enumerate(values):
        if isinstance(value, (str, PathLike)):
            files[k] = Path(value)
    with pipes_kept():
        rows = {k: find_format(path) for k, path in files.items()}
        for name, titles in unused_options(options, rows.values()).items():
            raise WrongUseError(f"{name} has no effect on {titles}")
        # Bodies first.
        for k, row in sorted(rows.items(), key=lambda item: item[1].holds != "Body"):
            of_format = row.options_of(options)
            body = first_body()
            if body is not None and not by_position:
                of_format["body"] = body
            values[k] = load(files[k], format=row.name, **of_format)
    body = first_body()
    if body is None:
        return values
    # What belongs to the body is computed with it.
    for k, value in enumerate(values):
        if isinstance(value, KeyPoses):
            values[k] = value.to_motion(body)
        if by_position and isinstance(values[k], Motion):
            values[k] = put_by_position(values[k], body)
    return values


def load_body(
    path: str | PathLike[str],
    *,
    format: str | None = None,
    **options: Any,  # noqa: ANN401
) -> Body:
    """Read a model; arguments and errors as for `load`.

    A file that holds something else is an error (FMT004).
    """
    return cast("Body", load_of_kind("Body", path, format, options))


def load_motion(
    path: str | PathLike[str],
    *,
    format: str | None = None,
    **options: Any,  # noqa: ANN401
) -> Motion:
    """Read a motion; arguments and errors as for `load`.

    A file that holds something else is an error (FMT004).
    """
    return cast("Motion", load_of_kind("Motion", path, format, options))


def load_key_poses(
    path: str | PathLike[str],
    *,
    format: str | None = None,
    **options: Any,  # noqa: ANN401
) -> KeyPoses:
    """Read key poses; arguments and errors as for `load`.

    A file that holds something else is an error (FMT004).
    """
    return cast("KeyPoses", load_of_kind("KeyPoses", path, format, options))


def load_skeleton(
    path: str | PathLike[str],
    *,
    format: str | None = None,
    **options: Any,  # noqa: ANN401
) -> Skeleton:
    """Read a recorded motion.

    Arguments and errors as for `load`. A file that holds something else is an error
    (FMT004).
    """
    return cast("Skeleton", load_of_kind("Skeleton", path, format, options))


def load_of_kind(
    kind: str, path: str | PathLike[str], format: str | None, options: dict[str, Any]
) -> Any:  # noqa: ANN401
    """Read a file with a value of a kind.

    FormatError (FMT004) for another one.
    """
    with pipes_kept():
        return load(path, format=format_of_kind(kind, path, format).name, **options)


def format_of_kind(
    kind: str, path: str | PathLike[str], format: str | None = None
) -> Format:
    """Return the format of a file, or the one named.

    FormatError (FMT004) where it holds something else.
    """
    if format is None:
        row = find_format(path)
    else:
        row = named_format(format)
    if row.holds != kind:
        message = (
            f"the file is {with_article(row.title)}, which holds "
            f"{with_article(row.holds)}, not {with_article(kind)}"
        )
        data = {"holds": row.holds, "wanted": kind}
        raise OTHER_KIND.error(message, Location(str(path)), data=data)
    return row


def target_format(
    value: object, path: str | PathLike[str], format: str | None = None
) -> Format:
    """Return the format in which a value is written to `path`.

    That of the extension, or the one named.

    Raises
    ------
    FormatError
        When no format for such values has the extension, or the one named cannot be
        written (FMT003).
    """
    path = Path(path)
    # Subclasses are written as what they derive from.
    kinds = [base.__name__ for base in type(value).__mro__]
    able = [row for row in FORMATS if row.write is not None and row.holds in kinds]
    kind = with_article(able[0].holds if able else kinds[0])
    hint = ""
    if able:
        extensions: list[str] = []
        for row in able:
            extensions += row.extensions
        hint = f"{kind} can be written as {', '.join(extensions)}"
    location = Location(str(path))
    if format is not None:
        wanted = named_format(format)
        if wanted in able:
            return wanted
        message = f"{kind} cannot be written as {wanted.title}"
        raise UNWRITABLE.error(message, location, hint)
    # The first format of the extension.
    for row in able:
        if path.suffix.lower() in row.extensions:
            return row
    name = "a file name without extension"
    if path.suffix:
        name = f"extension {path.suffix!r}"
    raise UNWRITABLE.error(f"{name}: no format for {kind} has it", location, hint)


def save(
    value: object,
    path: str | PathLike[str],
    *,
    format: str | None = None,
    **options: Any,  # noqa: ANN401
) -> Findings:
    """Write a body, a motion or another value to a file, whole or not at all.

    An existing file is replaced.

    Parameters
    ----------
    value:
        A `Body`, a `Motion`, or another value that some format holds.
    path:
        The file; its extension names the format.
    format:
        The name of a format of `FORMATS`, whatever the extension.
    options:
        Those of the format's writer; for .seq: `version`, `style`, `se3_format`,
        `frame_time`, `digits` (see `bodymotion.formats.seq.writer.write_seq`); for
        .wrl: `mesh`; for .urdf: `mesh`, `package`, `extension`; for MJCF: those of
        `write_mjcf`.

    Returns
    -------
    Findings
        What the file does not hold of the value, and what the value does not hold of
        the file that it was read from (`losses`).

    Raises
    ------
    FormatError
        When no format for such values fits (FMT003).
    OSError
        When the file cannot be written; an existing file is unchanged.
    """
    found = target_format(value, path, format)
    assert found.write is not None
    # What reading left out is lost in the new file, too.
    left_out = tuple(
        problem for problem in getattr(value, "problems", ()) if problem.leaves_out
    )
    return Findings((*left_out, *found.write(value, Path(path), **options)))
