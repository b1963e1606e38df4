"""Results of many files on the disk.

A line of JSON for each, written as soon as it is known; at the end a table (CSV,
Parquet).

A run that was interrupted, or killed, continues with `resume`. A row counts while its
file has the size and the time that it had, and while the same was to be done (`run`).
"""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from bodymotion.diagnostics import WrongUseError
from bodymotion.formats.tables.columns import FORMULA_SIGNS
from bodymotion.system.deferred import need
from bodymotion.system.files import check_place, flush_file, only_writer, whole_file

Row = dict[str, Any]
KEY = ("file", "size", "modified", "run")
# Keys whose value names an item of a list.
NAMES = ("name", "content", "rule", "link")
# A longer list has no column in a table.
MAX_NUMBERS = 16
_BYTE = re.compile(
    "[\ud800-\udfff]"
)  # A byte of a file name that is not UTF-8, as Python has it.
# The apostrophes before what a spreadsheet takes for a formula.
_FORMULA = re.compile(f"^'+(?=[{re.escape(''.join(FORMULA_SIGNS))}])")
# Rows that are in memory together.
ROWS_AT_ONCE = 1000
# [bytes] of a row for which DuckDB has memory; its default.
MIN_OBJECT_SIZE = 16 << 20
# Size of a file in a folder of Parquet files, and rows of its groups.
PART_SIZE = "32MB"
PART_ROWS = 20_000


class Records:
    """Rows in a file.

    `.jsonl`; or `.csv` or `.parquet` (extra `lake`), which are written at the end of
    the block, also after Ctrl-C.

    A path without an extension is a folder of Parquet files. Within the block this
    process alone writes them; `keep` begins, and `add` writes a row.

    A row is in the table, or in the lines beside it (`t.csv.part`), which are removed
    once the table is whole. So the rows are complete at any time.

    Attributes
    ----------
    done:
        The rows of an earlier run that count: their exit codes, by `key`.
    """

    def __init__(self, path: Path, *, resume: bool = False) -> None:
        kind = path.suffix.lower()
        if kind not in (".jsonl", *TABLES):
            raise WrongUseError(
                f"{path}: a table of results is a .csv, a .jsonl, a .parquet or a "
                "folder"
            )
        if not path.is_dir() or kind:
            check_place(path)
            if path.exists() and not path.is_file():
                raise WrongUseError(f"{path} is no regular file; name a file")
        self.path = path
        # Rows are always appended to lines of JSON, which survive an interruption. A
        # table of another format is made of them at the end.
        self._table = TABLES.get(kind)
        self._lines = path
        if self._table is not None:
            self._lines = path.with_name(f"{path.name}.part")
        self._out: FileIO | None = None
        self._resume = resume
        self._stack = ExitStack()
        self.done: dict[str, Any] = {}

    def earlier(self, columns: Sequence[str] | None = None) -> Iterator[Row]:
        """Return the rows of an earlier run, with some columns or all."""
        # A run that was interrupted left the table of the run before it, and its own
        # lines.
        if self._resume and self._table is not None:
            table = current_table(self.path)
            if table.exists():
                yield from self._table.read(table, columns)
        if self._resume and self._lines.exists():
            yield from read_rows(self._lines)

    def is_complete(self, about: Iterable[Row]) -> bool:
        """Return whether the table has exactly these results.

        And no run was interrupted.
        """
        if self._table is None or self._lines.exists():
            return False
        # A motion that is named twice has one row.
        in_table = sorted(map(key, self._earlier_results()))
        return in_table == sorted(set(map(key, about)))

    def _earlier_results(self) -> Iterator[Row]:
        """Return what the rows of an earlier run are about, and their exit codes."""
        for row in self.earlier((*KEY, "exit_code")):
            if not row.keys() >= {*KEY}:
                raise WrongUseError(
                    f"{self.path} exists and is no table of results, which have the "
                    f"columns {', '.join(KEY)}; choose another name"
                )
            yield row

    def __enter__(self) -> Records:
        with ExitStack() as stack:
            # Two processes that write one table would lose each other's rows.
            stack.enter_context(only_writer(self.path))
            if self._table is not None:
                finish_replacing(self.path)
            self.done = {
                key(row): row.get("exit_code") for row in self._earlier_results()
            }
            self._stack = stack.pop_all()
        return self

    def keep(self, about: Iterable[Row]) -> dict[str, Any]:
        """Forget the rows that are not about one of these results.

        Return `done`.
        """
        keys = set(map(key, about))
        self.done = {one: code for one, code in self.done.items() if one in keys}
        # An unfinished line is removed, too; a row that is in the table and among the
        # lines is written once.
        left = set(self.done)
        with whole_file(self._lines) as stream:
            for row in self.earlier():
                if key(row) in left:
                    left.remove(key(row))
                    stream.write(_line(row))
        # Unbuffered: each row is in the file when `add` returns.
        self._out = self._stack.enter_context(FileIO(self._lines, "ab"))
        return self.done

    def add(self, row: Row) -> None:
        """Write a row.

        Raises
        ------
        OSError
            When the disk is full; the rows before it are kept.
        """
        if self._out is None:
            raise RuntimeError("rows are added after `keep`, within the block")
        # Without a buffer, which could write half of a line later.
        rest = memoryview(_line(row))
        try:
            while rest:
                rest = rest[self._out.write(rest) :]
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self._lines)) from error

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._stack:
            began = self._out is not None
            self._out = None
            # An exception or Ctrl-C still makes the table of what was done. What ends
            # the process, such as SystemExit after SIGTERM, leaves the lines: there may
            # be no time.
            is_ended = kind is not None and not issubclass(
                kind, (Exception, KeyboardInterrupt)
            )
            if self._table is None or not began or is_ended:
                return
            try:
                self._table.write(self._lines, self.path)
            except OSError as failure:
                reason = (
                    f"{failure.strerror or failure}; the rows are kept in "
                    f"{self._lines.name}"
                )
                raise OSError(failure.errno, reason, str(self.path)) from failure
            self._lines.unlink()


def about(file: str, state: Callable[[], tuple[int, str]], run: str) -> Row:
    """Return the first columns of a row.

    Those of `key`. `state` returns the size of the file, and what changes when it is
    written.
    """
    try:
        size, modified = state()
    # The file cannot be reached: its row records the error of reading it.
    except OSError:
        size = -1
        modified = ""
    return {
        # A name of the file system may hold bytes that are no UTF-8, which Python keeps
        # as halves of surrogate pairs. JSON and Parquet cannot hold those.
        "file": file.encode("utf-8", "backslashreplace").decode(),
        "size": size,
        "modified": modified,
        "run": run,
    }


def key(row: Mapping[str, Any]) -> str:
    """Return what a row is a result of: file, its size and time, and what was done."""
    return "|".join([str(row.get(name, "")) for name in KEY])


def read_rows(path: Path) -> Iterator[Row]:
    """Read rows from lines of JSON, one after another.

    What is no row, such as a line that was not finished, is left out.
    """
    with path.open("rb") as stream:
        for line in stream:
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if isinstance(row, dict):
                yield row


def flat(data: Mapping[str, Any], above: str = "") -> Row:
    """Return a row without nested values.

    `a.b` for a member, `list.NAME` for an item with a name, the count of problems of
    each rule.
    """
    row: Row = {}
    for name, value in data.items():
        column = f"{above}{name}"
        if isinstance(value, Mapping):
            row |= flat(value, f"{column}.")
        elif not isinstance(value, list):
            row[column] = value
        elif value and all(isinstance(item, Mapping) for item in value):
            for item in value:
                _add_item(row, column, item)
        elif len(value) <= MAX_NUMBERS:
            # Longer lists are no cells of a spreadsheet, and are left out.
            row[column] = " ".join(map(str, value))
    return row


def _add_item(row: Row, column: str, item: Mapping[str, Any]) -> None:
    """Add an item of a list to a row: a value, or a count of problems."""
    # The member by which the item is named: its column is then the same in each row.
    label = next((label for label in NAMES if item.get(label)), None)
    title = None if label is None else item[label]
    if "rule" in item:
        count = row.get(f"{column}.{title}", 0)
        row[f"{column}.{title}"] = count + 1
    elif title is None:
        return
    elif "value" in item:
        row[f"{column}.{title}"] = item["value"]
    else:
        others = {name: value for name, value in item.items() if name != label}
        row |= flat(others, f"{column}.{title}.")


def write_csv(lines: Path, path: Path) -> None:
    """Write a table with the columns of all rows of a file with lines of JSON.

    The rows are never in memory together.
    """
    columns: dict[str, None] = {}
    for row in read_rows(lines):
        # A first pass for the names: rows may have different members.
        columns |= dict.fromkeys(flat(row))
    with whole_file(path) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
        writer = csv.DictWriter(text, list(columns))
        writer.writeheader()
        for row in map(flat, read_rows(lines)):
            writer.writerow({name: _as_cell(value) for name, value in row.items()})
        # The stream is closed by `whole_file`, not by the text layer over it.
        text.detach()


def read_csv(path: Path, columns: Sequence[str] | None = None) -> Iterator[Row]:
    """Read the rows of a table with some columns or all.

    All values are text.
    """
    with path.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            yield {
                # Without the apostrophe of `_as_cell`.
                name: _FORMULA.sub(lambda found: found[0][1:], value or "", count=1)
                for name, value in row.items()
                if columns is None or name in columns
            }


def _as_cell(value: object) -> object:
    """Return a value for a cell of a .csv.

    Text that a spreadsheet would run gets an apostrophe, which `read_csv` removes.
    """
    if not isinstance(value, str) or not _FORMULA.match(f"'{value}"):
        return value
    try:
        # A negative number in a text begins with a sign of formulas, and is harmless.
        float(value)
    except ValueError:
        return f"'{value}"
    return value


def write_parquet(lines: Path, path: Path) -> None:
    """Write the rows of a file with lines of JSON, to a file or a folder of files.

    Members are struct columns.

    Raises
    ------
    OSError
        When the disk is full.
    """
    if not lines.stat().st_size:
        _remove(path)
        return
    # First whole under another name, and on the disk: a power failure leaves the old
    # table.
    part = _unfinished(path)
    try:
        _remove(part)
        _copy_to_parquet(lines, part, in_parts=not path.suffix)
        for file in [part] if part.is_file() else sorted(part.iterdir()):
            flush_file(file)
        if path.suffix:
            part.replace(path)
        else:
            part.rename(_replacement(path))
            finish_replacing(path)
    finally:
        _remove(part)


def _copy_to_parquet(lines: Path, path: Path, *, in_parts: bool) -> None:
    """Write the rows of a file with lines of JSON to a new file or folder."""
    duckdb = need("duckdb", "lake", "writing .parquet")
    with lines.open("rb") as stream:
        # DuckDB rejects a line that is longer than its buffer.
        longest = max(map(len, stream))
    # SQL has the names as texts, in which a quote is doubled.
    source, target = (str(one).replace("'", "''") for one in (lines, path))
    # Types are those of all rows, not of a sample; members are structs, never maps.
    options = "format='newline_delimited', sample_size=-1, map_inference_threshold=-1"
    options += f", maximum_object_size={max(longest + 1, MIN_OBJECT_SIZE)}"
    parts = ""
    if in_parts:
        parts = f", FILE_SIZE_BYTES '{PART_SIZE}', ROW_GROUP_SIZE {PART_ROWS}"

    def copy(base: Any, depth: int) -> None:  # noqa: ANN401
        rows = f"read_json('{source}', {options}, maximum_depth={depth})"
        base.execute(
            f"COPY (SELECT * FROM {rows}) TO '{target}' (FORMAT parquet{parts})"
        )

    try:
        with duckdb.connect(":memory:") as base:
            # Order does not matter, and keeping it takes memory.
            base.execute("SET preserve_insertion_order = false")
            try:
                copy(base, -1)
            except duckdb.IOException:
                raise
            except duckdb.Error:
                # Members have names that are equal but for case, which no struct has:
                # their columns are JSON.
                copy(base, 1)
    except duckdb.Error as error:
        raise OSError(str(error).partition("\n")[0]) from error


def _unfinished(path: Path) -> Path:
    """Return what a table is called while it is written."""
    return path.with_name(f"{path.name}.tmp")


def _replacement(path: Path) -> Path:
    """Return what a folder is called once it is whole.

    No folder replaces another in one step.
    """
    return path.with_name(f"{path.name}.new")


def current_table(path: Path) -> Path:
    """Return the name that a table has now: another one while a folder is replaced."""
    if path.exists() or path.suffix:
        return path
    return _replacement(path)


def finish_replacing(path: Path) -> None:
    """Finish the replacement of a folder of Parquet files.

    Also that of a killed process.
    """
    if path.suffix:
        return
    former = path.with_name(f"{path.name}.old")
    _remove(former)
    # Each step leaves either folder under a name that `current_table` or this function
    # finds. `.new` exists only when it is whole.
    if _replacement(path).exists():
        if path.exists():
            path.rename(former)
        _replacement(path).rename(path)
        _remove(former)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def read_parquet(path: Path, columns: Sequence[str] | None = None) -> Iterator[Row]:
    """Read the rows of a table, one after another, with some columns or all.

    Members without a value are left out.
    """
    duckdb = need("duckdb", "lake", "reading .parquet")
    files = [str(path)]
    if path.is_dir():
        files = sorted(map(str, path.glob("*.parquet")))
    if not files:
        return
    with duckdb.connect(":memory:") as base:
        try:
            in_table = base.read_parquet(files, hive_partitioning=False).columns
            # Of the wanted columns those that the table has; in SQL a quote in a name
            # is doubled.
            quoted = []
            for name in in_table:
                if columns is None or name in columns:
                    doubled = name.replace('"', '""')
                    quoted.append(f'"{doubled}"')
            chosen = ", ".join(quoted) or "NULL AS none"
            # As JSON: a column of values of several types is JSON, and stays so.
            base.execute(
                f"SELECT to_json(found) FROM (SELECT {chosen} FROM read_parquet($1, "
                "hive_partitioning=false)) AS found",
                [files],
            )
            while lines := base.fetchmany(ROWS_AT_ONCE):
                for (line,) in lines:
                    yield _without_null_members(json.loads(line))
        except duckdb.Error as error:
            reason = str(error).partition("\n")[0]
            raise ValueError(f"{path} is no table of Parquet: {reason}") from None


def _without_null_members(row: Row) -> Row:
    """Return a row whose members have values.

    A column that is null stays a column.
    """

    def cleaned(value: Any) -> Any:  # noqa: ANN401
        if not isinstance(value, dict):
            return value
        return {
            name: cleaned(member)
            for name, member in value.items()
            if member is not None
        }

    return {name: cleaned(value) for name, value in row.items()}


class Table(NamedTuple):
    """How a table is read, and written from lines of JSON."""

    read: Callable[[Path, Sequence[str] | None], Iterator[Row]]
    write: Callable[[Path, Path], None]


TABLES = {
    ".csv": Table(read_csv, write_csv),
    ".parquet": Table(read_parquet, write_parquet),
    "": Table(read_parquet, write_parquet),
}


def _line(row: Row) -> bytes:
    text = json.dumps(row, ensure_ascii=False, allow_nan=False)
    # A half of a surrogate pair becomes the visible text \udc80, as no Unicode has it;
    # all other letters become escapes of ASCII.
    if not text.isascii():
        text = json.dumps(
            json.loads(_BYTE.sub(lambda byte: rf"\\u{ord(byte[0]):04x}", text))
        )
    return text.encode() + b"\n"
