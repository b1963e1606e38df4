"""The messages of a rosbag2 in SQLite (`.db3`).

Rows of the tables `topics` and `messages`.

The schema of a file of others is a program: a view may call functions or itself without
end. So only plain tables are read, each by a statement of its own, and everything else
of SQL is forbidden. No row can be in the file more often than the file has bytes for.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from bodymotion.diagnostics import Location
from bodymotion.diagnostics.text import counted, with_article
from bodymotion.formats.limits import Budget
from bodymotion.formats.rules import TOO_LARGE, UNREADABLE

# The columns of the table `topics` that are read.
TOPICS = ("id", "name", "type", "serialization_format")
# The columns of the table `messages` that are read.
MESSAGES = ("topic_id", "timestamp", "data")
# A robot has some hundred topics.
MAX_TOPICS = 10_000
# [bytes] A row takes at least a pointer, two lengths and a header of its page.
MIN_ROW_BYTES = 6
# Steps of the virtual machine of SQLite after which the time is checked.
STEPS = 1000
# [bytes] The length of a statement, and of a text in a small file.
MAX_TEXT = 1 << 20


class Message(NamedTuple):
    """A row of `messages` with the row of its topic.

    `time` in ns, `kind` the type of the message, `data` in CDR.
    """

    topic: str
    kind: str
    time: int
    data: bytes


def read_messages(path: Path, budget: Budget) -> Iterator[Message]:
    """Yield the messages of a file in CDR, in the order of the file.

    Raises
    ------
    FormatError
        When `topics` or `messages` are no plain tables (FMT002), or have more than the
        file can hold (FMT009).
    sqlite3.Error
        When the file is damaged.
    """
    size = path.stat().st_size
    # Read-only, and without a journal: nothing is written beside the file.
    address = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(address, uri=True)) as connection:
        _forbid_programs(connection, size)
        # SQLite calls it after so many steps: a loop inside of it ends there.
        connection.set_progress_handler(lambda: budget.is_out_of_time, STEPS)
        # First as a list of tables, with the rights for it; then only columns.
        for table in ("topics", "messages"):
            _check_is_table(connection, table, path)
        connection.set_authorizer(_authorize)
        topics: dict[object, tuple[str, str]] = {}
        for number, name, kind, encoding in _rows(connection, "topics", TOPICS):
            if len(topics) >= MAX_TOPICS:
                message = f"the log has more than {MAX_TOPICS} topics"
                raise TOO_LARGE.error(message, Location(str(path)))
            # Messages of other encodings cannot be decoded.
            if encoding == "cdr":
                topics[number] = str(name), str(kind)
        num_bytes = 0
        try:
            # Rows of a crafted file may be many times its size.
            for topic, stamp, data in _rows(connection, "messages", MESSAGES):
                num_bytes += MIN_ROW_BYTES
                if isinstance(data, (bytes, str)):
                    num_bytes += len(data)
                if num_bytes > size:
                    message = "the messages have more bytes than the file"
                    raise TOO_LARGE.error(message, Location(str(path)))
                if topic in topics and isinstance(data, bytes):
                    yield Message(*topics[topic], int(stamp), data)
        except sqlite3.OperationalError:
            budget.check_time()  # The better reason, where the time was over.
            raise


def _forbid_programs(connection: sqlite3.Connection, size: int) -> None:
    """Set the limits of SQLite.

    Those of lengths and of a statement, and no functions of the schema.
    """
    limits = {
        sqlite3.SQLITE_LIMIT_LENGTH: max(size, MAX_TEXT),
        sqlite3.SQLITE_LIMIT_SQL_LENGTH: MAX_TEXT,
        sqlite3.SQLITE_LIMIT_COLUMN: 100,
        sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 20,
        sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 2,
        sqlite3.SQLITE_LIMIT_VDBE_OP: 10_000,
        sqlite3.SQLITE_LIMIT_ATTACHED: 0,
        sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    }
    for name, value in limits.items():
        connection.setlimit(name, value)
    for pragma in ("trusted_schema=OFF", "query_only=ON", "cell_size_check=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _check_is_table(connection: sqlite3.Connection, name: str, path: Path) -> None:
    """Raise FormatError where a name is no table, or its columns are computed."""
    kinds = [
        (kind, str(text))
        for kind, text in connection.execute(
            "SELECT type, sql FROM sqlite_schema WHERE lower(name) = ?", [name]
        )
    ]
    location = Location(str(path))
    if len(kinds) != 1 or kinds[0][0] != "table":
        if kinds:
            held = with_article(str(kinds[0][0])[:20])
        else:
            held = "not there"
        raise UNREADABLE.error(f"{name!r} is {held}; expected a table", location, "")
    # The hidden column 6: 0 is stored, others are computed.
    columns = connection.execute(f"PRAGMA table_xinfo({name})").fetchall()
    computed = [str(column[1])[:40] for column in columns if column[6]]
    is_virtual = kinds[0][1].lower().split()[:2] == ["create", "virtual"]
    if computed or is_virtual:
        content = "a program"
        if computed:
            content = counted(len(computed), "computed column")
        raise UNREADABLE.error(
            f"the table {name!r} has {content}; expected a table of stored values",
            location,
            "",
        )


def _rows(
    connection: sqlite3.Connection, table: str, columns: tuple[str, ...]
) -> sqlite3.Cursor:
    """Return the rows of a table, in the order of the file."""
    # NOT INDEXED: an index may leave out rows, or have them in another order.
    return connection.execute(f"SELECT {', '.join(columns)} FROM {table} NOT INDEXED")


def _authorize(
    action: int,
    first: str | None,
    second: str | None,
    database: str | None,
    trigger: str | None,
) -> int:
    """Allow to read the columns of the two tables, and nothing else."""
    if action == sqlite3.SQLITE_SELECT:
        return sqlite3.SQLITE_OK
    is_read = action == sqlite3.SQLITE_READ and database == "main"
    if is_read and trigger is None and first in ("topics", "messages"):
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY
