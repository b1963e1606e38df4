"""Shapes of hostile files: what a valid file of a format becomes, as bytes. Each shape is tried with the files of every reader.

A shape is a function of the seed, the format's name and a random generator. It returns None where it makes no sense for the format.
"""

from __future__ import annotations

import io
import random
import re
import sqlite3
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.changing import TEXTS
from fuzz.other_targets import packed
from fuzz.target import Target

Shape = Callable[[bytes, Target, random.Random], bytes | None]

LONG = 4 << 20
"""[bytes] The length of what is repeated."""
DEPTH = 50_000
"""Levels of nested text."""
COPIES = 400
"""Copies of one part of a text."""
MANY_ROWS = 300_000
"""Rows of a table, above the limit for a small file."""
ZEROS = 300 << 20
"""[bytes] Zeros that are compressed."""
NUMBER = re.compile(rb"(?<![\w.])[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?(?![\w.])")
NAME = re.compile(rb"(?<=[\"' :])[A-Za-z_][A-Za-z0-9_]{2,}(?=[\"' ,\n])")
XML = ("urdf", "mjcf", "collada")
YAML = ("seq", "body", "pseq", "cnoid", "map")
NUMBERS = {
    "nan": b"nan",
    "infinity": b"inf",
    "nan of YAML": b".nan",
    "large": b"1e308",
    "larger": b"1e999",
    "small": b"1e-300",
    "negative": b"-1",
    "whole": b"99999999999999999999",
    "far": b"100000",
    "zero": b"0",
}
NAMES = {
    "escape": b"\x1b[31mred",
    "long": b"n" * 300,
    "above": b"../../above",
    "drive": b"C:\\\\Windows\\\\x",
    "option": b"--output=x",
    "formula": b"=cmd|'/C calc'!A0",
    "surrogate": b"\xed\xa0\x80",
    "direction": "\u202eabc".encode(),
}
OPENINGS = {
    "brackets": b"[",
    "braces": b"{a: ",
    "lists": b"- ",
    "elements": b"<a>",
    "groups": b"Group { children [ ",
    "parentheses": b"(",
    "messages": b"a { ",
}
PROGRAMS = {
    "endless": "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"
    " SELECT 1 AS topic_id, 0 AS timestamp, x AS data FROM n",
    "blob": "SELECT 1 AS topic_id, 0 AS timestamp, zeroblob(900000000) AS data",
    "text": "SELECT 1 AS topic_id, 0 AS timestamp, printf('%900000000d', 1) AS data",
    "join": "SELECT 1 AS topic_id, 0 AS timestamp, a.type AS data"
    " FROM sqlite_schema a, sqlite_schema b, sqlite_schema c, sqlite_schema d",
}


def all_numbers(value: bytes) -> Shape:
    """Return the shape in which all numbers are the same."""

    def change(seed: bytes, target: Target, rng: random.Random) -> bytes | None:
        return NUMBER.sub(value, seed) if _is_text(target) else None

    return change


def one_number(value: bytes) -> Shape:
    """Return the shape in which one number, any of them, is replaced."""

    def change(seed: bytes, target: Target, rng: random.Random) -> bytes | None:
        found = [*NUMBER.finditer(seed)]
        if not found or not _is_text(target):
            return None
        match = rng.choice(found)
        return seed[: match.start()] + value + seed[match.end() :]

    return change


def all_names(value: bytes) -> Shape:
    """Return the shape in which one name is replaced wherever it is."""

    def change(seed: bytes, target: Target, rng: random.Random) -> bytes | None:
        found = sorted(set(NAME.findall(seed)))
        if not found or not _is_text(target):
            return None
        return seed.replace(rng.choice(found), value)

    return change


def nested(opening: bytes) -> Shape:
    """Return the shape with deep nesting, at the end of a line in the middle."""

    def change(seed: bytes, target: Target, rng: random.Random) -> bytes | None:
        if not _is_text(target):
            return None
        lines = seed.splitlines(keepends=True)
        middle = len(lines) // 2
        return b"".join((*lines[:middle], opening * DEPTH, b"\n", *lines[middle:]))

    return change


def repeated_part(seed: bytes, target: Target, rng: random.Random) -> bytes | None:
    """Repeat some lines in the middle many times."""
    lines = seed.splitlines(keepends=True)
    if len(lines) < 3 or not _is_text(target):
        return None
    start = rng.randrange(1, len(lines) - 1)
    stop = rng.randrange(start + 1, min(start + 6, len(lines)) + 1)
    part = b"".join(lines[start:stop])
    return b"".join((*lines[:start], part * COPIES, *lines[stop:]))


def doubling_aliases(seed: bytes, target: Target, rng: random.Random) -> bytes | None:
    """Add aliases of YAML that double, and merged keys that do."""
    if (target.format or target.name) not in YAML:
        return None
    rows = ["A0: &a0 [1, 1]", "M0: &m0 {a: 1, b: 2}"]
    for k in range(1, 60):
        rows.append(f"A{k}: &a{k} [*a{k - 1}, *a{k - 1}]")
        rows.append(f"M{k}: &m{k} {{<<: [*m{k - 1}, *m{k - 1}], k{k}: *m{k - 1}}}")
    return seed + b"\n" + "\n".join(rows).encode() + b"\n"


def document_type(text: str) -> Shape:
    """Return the shape of XML with a document type."""

    def change(seed: bytes, target: Target, rng: random.Random) -> bytes | None:
        if not seed.lstrip().startswith(b"<"):
            return None
        root = re.search(rb"<([A-Za-z]\w*)", seed)
        name = root[1].decode() if root else "robot"
        declared = f"<!DOCTYPE {name} [{text.replace('ROOT', name)}]>\n"
        start = root.start() if root else 0
        return seed[:start] + declared.encode() + seed[start:]

    return change


ATTRIBUTES = " ".join(f'a{k} CDATA "{"x" * 100}"' for k in range(5000))
ENTITIES = "".join(
    f'<!ENTITY e{k} "{f"&e{k - 1};" * 10 if k else "x" * 100}">' for k in range(12)
)


def cut(share: float) -> Shape:
    """Return the shape that ends early."""
    return lambda seed, target, rng: seed[: int(len(seed) * share)]


def changed_bytes(value: bytes) -> Shape:
    """Return the shape in which bytes at some places are others: sizes, counts and addresses among them."""

    def change(seed: bytes, target: Target, rng: random.Random) -> bytes | None:
        if _is_text(target):
            return None
        data = bytearray(seed)
        for _ in range(4):
            at = rng.randrange(len(data))
            data[at : at + len(value)] = value
        return bytes(data)

    return change


def zeros_in_archive(seed: bytes, target: Target, rng: random.Random) -> bytes | None:
    """Replace the members of an archive by compressed zeros behind their heads."""
    is_unpacked = target.name == "lerobot"  # it is no archive for the reader
    if is_unpacked or not zipfile.is_zipfile(io.BytesIO(seed)):
        return None
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(seed)) as old,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            with new.open(name, "w", force_zip64=True) as member:
                member.write(old.read(name)[:128])
                for _ in range(ZEROS >> 20):
                    member.write(bytes(1 << 20))
    return stream.getvalue()


def large_texture(seed: bytes, target: Target, rng: random.Random) -> bytes | None:
    """Return a picture of many pixels in place of the file: it is no model."""
    rows = zlib.compress(bytes(40_000 * 5_000), 9)
    head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (40_000).to_bytes(4, "big") * 2
    return head + b"\x08\0\0\0\0" + len(rows).to_bytes(4, "big") + b"IDAT" + rows


def program_of_sql(query: str) -> Shape:
    """Return the shape of a rosbag2 whose messages are a view."""

    def change(seed: bytes, target: Target, rng: random.Random) -> bytes | None:
        if target.format != "rosbag2":
            return None
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a.db3"
            path.write_bytes(seed)
            base = sqlite3.connect(path)
            base.execute("DROP TABLE messages")
            base.execute(f"CREATE VIEW messages AS {query}")
            base.commit()
            base.close()
            return path.read_bytes()

    return change


def in_a_member(shape: Shape) -> Shape:
    """Return the shape of a packed folder of which one file, any of them, has that shape."""

    def change(seed: bytes, target: Target, rng: random.Random) -> bytes | None:
        if target.how != "folder":
            return None
        members = _members(seed)
        names = sorted(members)
        rng.shuffle(names)
        for name in names:
            how = "text" if name.endswith(TEXTS) else "bytes"
            content = shape(members[name], replace(target, how=how), rng)
            if content is not None and content != members[name]:
                return packed({**members, name: content})
        return None

    return change


def table_of_episodes(change: Callable[[Any], Any]) -> Shape:
    """Return the shape of a data set whose table of episodes is changed."""

    def shape(seed: bytes, target: Target, rng: random.Random) -> bytes | None:
        if target.name != "lerobot":
            return None
        members = _members(seed)
        name = next(name for name in members if name.startswith("meta/episodes"))
        return packed({**members, name: _table(change(_read_table(members[name])))})

    return shape


def table_of_frames(change: Callable[[Any], Any]) -> Shape:
    """Return the shape of a data set whose frames are changed."""

    def shape(seed: bytes, target: Target, rng: random.Random) -> bytes | None:
        if target.name != "lerobot":
            return None
        members = _members(seed)
        name = next(name for name in members if name.startswith("data/"))
        return packed({**members, name: _table(change(_read_table(members[name])))})

    return shape


def _read_table(content: bytes) -> Any:  # noqa: ANN401
    from pyarrow import parquet

    return parquet.read_table(io.BytesIO(content))


def _table(table: Any) -> bytes:  # noqa: ANN401
    from pyarrow import parquet

    stream = io.BytesIO()
    parquet.write_table(table, stream, compression="zstd")
    return stream.getvalue()


def _with_values(table: Any, name: str, value: Any) -> Any:  # noqa: ANN401
    """Return a table in which a column has the same value in all rows."""
    import pyarrow as pa

    column = pa.array([value] * table.num_rows)
    return table.set_column(table.column_names.index(name), name, column)


def _many_rows(table: Any) -> Any:  # noqa: ANN401
    """Return a table with its first row many times."""
    return table.take([0] * MANY_ROWS)


def _null_lists(table: Any) -> Any:  # noqa: ANN401
    """Return a table of frames whose lists are nulls that are expanded to a million numbers each."""
    import pyarrow as pa

    nulls = pa.nulls(table.num_rows, pa.list_(pa.float64(), 1_000_000))
    at = table.column_names.index("observation.state")
    return table.set_column(at, "observation.state", nulls)


def _members(seed: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(seed)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archive_of(members: Callable[[], Iterator[tuple[str, int]]]) -> Shape:
    """Return the shape of an archive of members of these names, with so many zeros."""

    def change(seed: bytes, target: Target, rng: random.Random) -> bytes | None:
        if target.name not in ("zip", "tar", "tar.gz"):
            return None
        stream = io.BytesIO()
        if target.name == "zip":
            with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as packing:
                for name, size in members():
                    with packing.open(name, "w") as member:
                        for _ in range(-(-size >> 20)):
                            member.write(bytes(min(size, 1 << 20)))
            return stream.getvalue()
        mode = "w:gz" if target.name == "tar.gz" else "w"
        with tarfile.open(fileobj=stream, mode=mode) as archive:
            for name, size in members():
                about = tarfile.TarInfo(name)
                about.size = size if mode == "w:gz" else min(size, LONG)
                archive.addfile(about, io.BytesIO(bytes(about.size)))
        return stream.getvalue()

    return change


def _hostile_members() -> Iterator[tuple[str, int]]:
    for name in NAMES.values():
        yield f"{name.decode('utf-8', 'replace')}.seq", 100
    for name in ("/etc/a.seq", "walks/../../a.seq", "CON.seq", " .seq", "a\nb.seq"):
        yield name, 100


def _many_members() -> Iterator[tuple[str, int]]:
    for k in range(COPIES * COPIES):
        yield f"{k}.seq", 0


def _large_members() -> Iterator[tuple[str, int]]:
    yield "walks/a.npz", ZEROS
    yield "walks/b.csv", ZEROS


def silence(seed: bytes, target: Target, rng: random.Random) -> bytes | None:
    """Return a quarter of an hour of silence in two channels, compressed where the kind of music is."""
    if target.name not in ("music-wav", "music-flac", "music-ogg"):
        return None
    import soundfile

    kind = target.name.partition("-")[2].upper()
    stream = io.BytesIO()
    rate = 44_100 if kind == "FLAC" else 8_000
    with soundfile.SoundFile(stream, "w", rate, 2, format=kind) as file:
        for _ in range(890):
            file.write(np.zeros((rate, 2), np.int16))
    return stream.getvalue()


def _is_text(target: Target) -> bool:
    return target.how == "text"


SHAPES: dict[str, Shape] = {
    "as it is": lambda seed, target, rng: seed,
    "empty": lambda seed, target, rng: b"",
    "zeros": lambda seed, target, rng: bytes(1 << 20),
    "zeros behind it": lambda seed, target, rng: seed + bytes(LONG),
    "one long line": lambda seed, target, rng: seed + b"a" * LONG,
    "many spaces": lambda seed, target, rng: seed.replace(b" ", b" " * 10_000, 20),
    "many lines": lambda seed, target, rng: seed + b"\n" * LONG,
    "itself many times": lambda seed, target, rng: (
        seed * (1 + (LONG // 4) // len(seed))
    ),
    "itself twice": lambda seed, target, rng: seed * 2,
    "UTF-16": lambda seed, target, rng: seed.decode("latin-1").encode("utf-16"),
    "byte order mark": lambda seed, target, rng: b"\xef\xbb\xbf" + seed,
    "carriage returns": lambda seed, target, rng: seed.replace(b"\n", b"\r"),
    "part many times": repeated_part,
    "part more times": lambda seed, target, rng: repeated_part(
        repeated_part(seed, target, rng) or seed, target, rng
    ),
    "aliases": doubling_aliases,
    "attributes of a document type": document_type(f"<!ATTLIST ROOT {ATTRIBUTES}>"),
    "entities of a document type": document_type(ENTITIES),
    "entity of a file": document_type('<!ENTITY e SYSTEM "file:///etc/passwd">'),
    "zeros in an archive": zeros_in_archive,
    "picture": large_texture,
    **{f"cut at {share}": cut(share) for share in (0.1, 0.5, 0.9, 0.99)},
    **{f"all numbers {name}": all_numbers(text) for name, text in NUMBERS.items()},
    **{f"one number {name}": one_number(text) for name, text in NUMBERS.items()},
    **{f"name {name}": all_names(text) for name, text in NAMES.items()},
    **{f"deep {name}": nested(text) for name, text in OPENINGS.items()},
    **{
        f"bytes {value.hex()}": changed_bytes(value)
        for value in (b"\xff" * 4, b"\xff" * 8, b"\x7f\xff", b"\0" * 4, b"\x80")
    },
    **{f"SQL {name}": program_of_sql(text) for name, text in PROGRAMS.items()},
}
SHAPES |= {
    f"file {name}": in_a_member(SHAPES[name])
    for name in (
        *("empty", "zeros", "one long line", "picture", "cut at 0.5", "cut at 0.99"),
        *(f"all numbers {name}" for name in NUMBERS),
        *(f"one number {name}" for name in NUMBERS),
        *(f"name {name}" for name in NAMES),
        *("deep brackets", "deep braces", "bytes ffffffff", "bytes 7fff", "bytes 80"),
    )
}
SHAPES |= {
    "long episodes": table_of_episodes(
        lambda table: _with_values(table, "length", 10**9)
    ),
    "negative episodes": table_of_episodes(
        lambda table: _with_values(table, "length", -1)
    ),
    "texts of episodes": table_of_episodes(
        lambda table: _with_values(table, "length", "a" * LONG)
    ),
    "many episodes": table_of_episodes(_many_rows),
    "many frames": table_of_frames(_many_rows),
    "frames of nulls": table_of_frames(_null_lists),
    "frames of texts": table_of_frames(
        lambda table: _with_values(table, "observation.state", "a" * LONG)
    ),
    "frames of infinity": table_of_frames(
        lambda table: _with_values(table, "timestamp", float("inf"))
    ),
    "names of members": archive_of(_hostile_members),
    "many members": archive_of(_many_members),
    "large members": archive_of(_large_members),
    "silence": silence,
}
"""All shapes by their names."""
