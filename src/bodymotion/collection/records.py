"""Results of many files on the disk: a line of JSON for each, written as soon as it is known; at the end a table (CSV, Parquet).

A run that was interrupted, or killed, continues with `resume`. A row counts while its file has the size and the time that it had, and
while the same was to be done (`run`).
"""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from bodymotion.diagnostics import WrongUseError
from bodymotion.system.deferred import need
from bodymotion.system.files import check_place, whole_file

Row = dict[str, Any]
KEY = ("file", "size", "modified", "run")
NAMES = ("name", "content", "rule", "link")  # Keys whose value names an item of a list.
MAX_NUMBERS = 16  # A longer list has no column in a table.
_BYTE = re.compile(
    "[\ud800-\udfff]"
)  # A byte of a file name that is not UTF-8, as Python has it.
PART_SIZE, PART_ROWS = (
    "32MB",
    20_000,
)  # Size of a file in a folder of Parquet files, and rows of its groups.


class Records:
    """Rows in a file: `.jsonl`; or `.csv` or `.parquet` (extra `lake`), which are written at the end of the block, also after Ctrl-C.

    A path without an extension is a folder of Parquet files.

    Attributes
    ----------
    done:
        The rows of an earlier run that count: their exit codes, by `key`.
    num_found:
        The number of all rows of an earlier run.
    """

    def __init__(self, path: Path, *, resume: bool = False) -> None:
        kind = path.suffix.lower()
        if kind not in (".jsonl", *TABLES):
            raise WrongUseError(
                f"{path}: a table of results is a .csv, a .jsonl, a .parquet or a folder"
            )
        if not path.is_dir() or kind:
            check_place(path)
        self.path = path
        self._table = TABLES.get(kind)
        self._lines = (
            path if self._table is None else path.with_name(f"{path.name}.part")
        )
        self._out: BinaryIO
        self._resume = resume
        self.done = {
            key(row): row.get("exit_code") for row in self.earlier((*KEY, "exit_code"))
        }
        self.num_found = len(self.done)

    def earlier(self, columns: Sequence[str] | None = None) -> Iterator[Row]:
        """Return the rows of an earlier run, with some columns or all."""
        if self._resume and self._table is not None and self.path.exists():
            yield from self._table[0](self.path, columns)
        if self._resume and self._lines.exists():
            yield from read_rows(self._lines)

    def keep(self, about: Iterable[Row]) -> dict[str, Any]:
        """Forget the rows that are not about one of these results; return `done`."""
        keys = set(map(key, about))
        self.done = {one: code for one, code in self.done.items() if one in keys}
        return self.done

    def __enter__(self) -> Records:
        # An unfinished line is removed, too; a row that is in the table and among the lines is written once.
        left = set(self.done)
        with whole_file(self._lines) as stream:
            for row in self.earlier():
                if key(row) in left:
                    left.remove(key(row))
                    stream.write(_line(row))
        self._out = self._lines.open("ab")
        return self

    def add(self, row: Row) -> None:
        """Write a row."""
        self._out.write(_line(row))
        self._out.flush()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._out.close()
        if self._table is not None and (
            kind is None or issubclass(kind, (Exception, KeyboardInterrupt))
        ):
            self._table[1](self._lines, self.path)
            self._lines.unlink()


def about(file: str, state: Callable[[], tuple[int, str]], run: str) -> Row:
    """Return the first columns of a row: those of `key`. `state` returns the size of the file, and what changes when it is written."""
    try:
        size, modified = state()
    except OSError:
        size, modified = -1, ""
    return {
        "file": file.encode("utf-8", "backslashreplace").decode(),
        "size": size,
        "modified": modified,
        "run": run,
    }


def key(row: Mapping[str, Any]) -> str:
    """Return what a row is a result of: file, its size and time, and what was done."""
    return "|".join([str(row.get(name, "")) for name in KEY])


def read_rows(path: Path) -> Iterator[Row]:
    """Read rows from lines of JSON, one after another; what is no row, such as a line that was not finished, is left out."""
    with path.open("rb") as stream:
        for line in stream:
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if isinstance(row, dict):
                yield row


def flat(data: Mapping[str, Any], above: str = "") -> Row:
    """Return a row without nested values: `a.b` for a member, `list.NAME` for an item with a name, the count of problems of each rule."""
    row: Row = {}
    for name, value in data.items():
        column = f"{above}{name}"
        if isinstance(value, Mapping):
            row |= flat(value, f"{column}.")
        elif (
            isinstance(value, list)
            and value
            and all(isinstance(item, Mapping) for item in value)
        ):
            for item in value:
                label = next((known for known in NAMES if item.get(known)), None)
                named = None if label is None else item[label]
                if "rule" in item:
                    row[f"{column}.{named}"] = row.get(f"{column}.{named}", 0) + 1
                elif named is not None and "value" in item:
                    row[f"{column}.{named}"] = item["value"]
                elif named is not None:
                    row |= flat(
                        {k: v for k, v in item.items() if k != label},
                        f"{column}.{named}.",
                    )
        elif not isinstance(value, list):
            row[column] = value
        elif len(value) <= MAX_NUMBERS:
            row[column] = " ".join(map(str, value))
    return row


def write_csv(lines: Path, path: Path) -> None:
    """Write a table with the columns of all rows of a file with lines of JSON; the rows are never in memory together."""
    columns: dict[str, None] = {}
    for row in read_rows(lines):
        columns |= dict.fromkeys(flat(row))
    with whole_file(path) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
        writer = csv.DictWriter(text, list(columns))
        writer.writeheader()
        writer.writerows(map(flat, read_rows(lines)))
        text.detach()


def read_csv(path: Path, columns: Sequence[str] | None = None) -> Iterator[Row]:
    """Read the rows of a table with some columns or all; all values are text."""
    with path.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            yield {
                name: value
                for name, value in row.items()
                if columns is None or name in columns
            }


def write_parquet(lines: Path, path: Path) -> None:
    """Write the rows of a file with lines of JSON, to a file or a folder of files; members are struct columns."""
    duckdb = need("duckdb", "lake", "writing .parquet")
    if not lines.stat().st_size:
        _remove(path)
        return
    # One process writes; the name is that of the table only when it is whole.
    part = path.with_name(f"{path.name}.tmp")
    _remove(part)
    names = [str(one).replace("'", "''") for one in (lines, part)]
    options = "format='newline_delimited', sample_size=-1, map_inference_threshold=-1"
    parts = (
        ""
        if path.suffix
        else f", FILE_SIZE_BYTES '{PART_SIZE}', ROW_GROUP_SIZE {PART_ROWS}"
    )
    with duckdb.connect(":memory:") as base:
        base.execute("SET preserve_insertion_order = false")
        base.execute(
            f"COPY (SELECT * FROM read_json('{names[0]}', {options})) TO '{names[1]}' (FORMAT parquet{parts})"
        )
    if not path.suffix:
        _remove(path)
    part.replace(path)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def read_parquet(path: Path, columns: Sequence[str] | None = None) -> Iterator[Row]:
    """Read the rows of a table, one after another, with some columns or all; those without a value are left out."""
    dataset = need("pyarrow.dataset", "lake", "reading .parquet")
    table = dataset.dataset(str(path), format="parquet", exclude_invalid_files=False)
    names = [name for name in table.schema.names if columns is None or name in columns]
    for batch in table.to_batches(columns=names):
        yield from map(_without_nulls, batch.to_pylist())


def _without_nulls(row: Row) -> Row:
    return {
        name: _without_nulls(v) if isinstance(v, dict) else v
        for name, v in row.items()
        if v is not None
    }


TABLES = {
    ".csv": (read_csv, write_csv),
    ".parquet": (read_parquet, write_parquet),
    "": (read_parquet, write_parquet),
}
"""What reads a table, and what writes it from lines of JSON."""


def _line(row: Row) -> bytes:
    text = json.dumps(row, ensure_ascii=False, allow_nan=False)
    if not text.isascii():
        text = json.dumps(
            json.loads(_BYTE.sub(lambda byte: rf"\\u{ord(byte[0]):04x}", text))
        )
    return text.encode() + b"\n"
