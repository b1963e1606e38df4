"""Shapes of hostile files: what a valid file of a format becomes, as bytes. Each shape is tried with the files of every reader.

A shape is a function of the seed, the format's name and a random generator. It returns None where it makes no sense for the format.
"""

from __future__ import annotations

import io
import random
import re
import sqlite3
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

from fuzz.target import Target

Shape = Callable[[bytes, Target, random.Random], bytes | None]

LONG = 4 << 20
"""[bytes] The length of what is repeated."""
DEPTH = 50_000
"""Levels of nested text."""
COPIES = 400
"""Copies of one part of a text."""
ZEROS = 300 << 20
"""[bytes] Zeros that are compressed."""
NUMBER = re.compile(rb"(?<![\w.])[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?(?![\w.])")
NAME = re.compile(rb"(?<=[\"' :])[A-Za-z_][A-Za-z0-9_]{2,}(?=[\"' ,\n])")
XML = ("urdf", "mjcf", "collada")
YAML = ("seq", "body", "pseq")
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
    if target.format not in YAML:
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
    if not zipfile.is_zipfile(io.BytesIO(seed)):
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
"""All shapes by their names."""
