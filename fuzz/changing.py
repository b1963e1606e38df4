"""Mutate a file in the way of its format: replace words and numbers (by edge cases), remove, duplicate and move lines and blocks."""

from __future__ import annotations

import io
import random
import re
import warnings
import zipfile
from collections.abc import Callable

from fuzz.target import Target

__all__ = ["changed"]

EDGE_NUMBERS = (
    *(
        b"0",
        b"-0",
        b"-1",
        b"1",
        b"2",
        b"255",
        b"65536",
        b"2147483647",
        b"-2147483648",
        b"2147483648",
        b"4294967295",
    ),
    *(
        b"9223372036854775807",
        b"99999999999999999999",
        b"00",
        b"0x7f",
        b"1_0",
        b".",
        b"-",
        b"3.",
        b"1e",
        b"1e308",
    ),
    *(
        b"-1e308",
        b"1e999",
        b"1e-320",
        b"5e-324",
        b"0.1",
        b"nan",
        b"inf",
        b"-inf",
        b"1e16",
        b"1e5",
        b"",
    ),
)
STRAY = (
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\t",
    b"\r",
    b"\n",
    b"  ",
    b'"',
    b"'",
    b"#",
    b"\xe3\x81\x82",
    b"\xed\xa0\x80",
    b"\x1a",
    b"\\",
)
NUMBER = re.compile(rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
WORD = re.compile(rb"[A-Za-z_][A-Za-z_0-9]*")
PIECE = re.compile(rb"[A-Za-z_0-9.+-]+|[^\sA-Za-z_0-9]|\n *")


def _put(data: bytes, start: int, stop: int, piece: bytes) -> bytes:
    return data[:start] + piece + data[stop:]


def _number(data: bytes, target: Target, by: random.Random) -> bytes:
    found = list(NUMBER.finditer(data))
    if not found:
        return _stray(data, target, by)
    chosen = by.choice(found)
    return _put(
        data,
        *chosen.span(),
        by.choice(EDGE_NUMBERS) if by.random() < 0.8 else by.choice(found).group(),
    )


def _word(data: bytes, target: Target, by: random.Random) -> bytes:
    found = list(WORD.finditer(data))
    if not found:
        return _stray(data, target, by)
    chosen = by.choice(found)
    piece = (
        by.choice(target.words)
        if target.words and by.random() < 0.6
        else by.choice(found).group()
    )
    return _put(data, *chosen.span(), piece)


def _piece(data: bytes, target: Target, by: random.Random) -> bytes:
    found = list(PIECE.finditer(data))
    if not found:
        return _stray(data, target, by)
    chosen, other = by.choice(found), by.choice(found)
    match by.randrange(4):
        case 0:
            return _put(data, *chosen.span(), b"")
        case 1:
            return _put(data, *chosen.span(), other.group())
        case 2:
            return _put(
                data,
                chosen.end(),
                chosen.end(),
                b" "
                + (by.choice(target.words) if target.words else other.group())
                + b" ",
            )
        case _:
            return _put(
                data, chosen.end(), chosen.end(), chosen.group() * by.choice((1, 2, 30))
            )


def _block(data: bytes, target: Target, by: random.Random) -> bytes:
    """Take out, double or move a block: between brackets, or some lines."""
    marks = [m.start() for m in re.finditer(rb"[\n{}\[\]<>(),]", data)]
    if len(marks) < 2:
        return _stray(data, target, by)
    first = by.randrange(len(marks) - 1)
    last = min(first + 1 + int(by.expovariate(0.3)), len(marks) - 1)
    start, stop = marks[first], marks[last]
    block = data[start:stop]
    match by.randrange(3):
        case 0:
            return _put(data, start, stop, b"")
        case 1:
            return _put(data, stop, stop, block * by.choice((1, 1, 1, 2, 20)))
        case _:
            rest = _put(data, start, stop, b"")
            at = by.choice(marks)
            return _put(rest, min(at, len(rest)), min(at, len(rest)), block)


def _stray(data: bytes, target: Target, by: random.Random) -> bytes:
    at = by.randrange(len(data) + 1)
    return _put(
        data,
        at,
        at + by.choice((0, 0, 1, 4)),
        by.choice(STRAY) if by.random() < 0.7 else by.randbytes(by.randrange(1, 5)),
    )


def _cut(data: bytes, target: Target, by: random.Random) -> bytes:
    return (
        data[: by.randrange(len(data) + 1)]
        if by.random() < 0.3
        else _stray(data, target, by)
    )


def _byte(data: bytes, target: Target, by: random.Random) -> bytes:
    if not data:
        return by.randbytes(4)
    at = by.randrange(len(data))
    match by.randrange(5):
        case 0:
            return _put(data, at, at + 1, bytes([data[at] ^ 1 << by.randrange(8)]))
        case 1:
            return _put(
                data,
                at,
                at + 4,
                by.choice(
                    (
                        b"\xff\xff\xff\xff",
                        b"\xff\xff\xff\x7f",
                        b"\0\0\0\0",
                        b"\1\0\0\0",
                        b"\0\0\xc0\x7f",
                    )
                ),
            )
        case 2:
            return _put(
                data,
                at,
                at + 1,
                by.choice(
                    (
                        b"\0",
                        b"\x7f",
                        b"\x80",
                        b"\xff",
                        b"\1",
                        b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
                    )
                ),
            )
        case 3:
            length = by.randrange(1, 40)
            return _put(data, at, at, data[at : at + length])
        case _:
            return _put(data, at, at + by.randrange(1, 12), b"")


def _zip(data: bytes, target: Target, by: random.Random) -> bytes:
    """Change what is packed, and pack it again; or the archive itself."""
    if by.random() < 0.15:
        return _byte(data, target, by)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [
                (i.filename, archive.read(i))
                for i in archive.infolist()[:30]
                if i.file_size < 1 << 20
            ]
    except Exception:
        return _byte(data, target, by)
    if not members:
        return _byte(data, target, by)
    at = by.randrange(len(members))
    name, inside = members[at]
    match by.randrange(6):
        case 0:
            members[at] = (by.choice(members)[0], inside)
        case 1:
            del members[at]
        case 2:
            members[at] = (name, inside[:8] + _byte(inside[8:], target, by))
        case 3:
            types = (
                b"<f8",
                b"|O8",
                b"<f4",
                b"<i8",
                b">f8",
                b"|b1",
                b"<U3",
                b"<c16",
                b"|V8",
                b"<f2",
                b"|S4",
                b"<M8[s]",
                b"|u1",
                b"<f16",
            )
            members[at] = (
                name,
                re.sub(
                    rb"'[<>|][A-Za-z][^']*'",
                    b"'" + by.choice(types) + b"'",
                    inside,
                    count=1,
                ),
            )
        case 4:
            shape = by.choice(
                (
                    b"()",
                    b"(0,)",
                    b"(3, 0)",
                    b"(99999999999,)",
                    b"(-1,)",
                    b"(3, 2, 1)",
                    b"(6,)",
                    b"(1, 3, 2)",
                    b"(True,)",
                )
            )
            head, tail = inside[:128], inside[128:]
            found = re.search(rb"\([^)]*\)", head)
            if found:
                fill = len(found.group()) - len(shape)
                head = head.replace(found.group(), shape, 1)
                head = (
                    head[:-1] + b" " * fill + b"\n"
                    if fill >= 0
                    else head[: fill - 1] + b"\n"
                )
            members[at] = (name, head + tail)
        case _:
            members[at] = (
                name,
                _put(
                    inside,
                    128,
                    128 + 8 * by.randrange(3),
                    by.randbytes(8 * by.randrange(3)),
                ),
            )
    packed = io.BytesIO()
    with (
        zipfile.ZipFile(
            packed, "w", by.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
        ) as archive,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        for name, inside in members:
            archive.writestr(name or "x", inside)
    return packed.getvalue()


_TEXT: tuple[Callable[[bytes, Target, random.Random], bytes], ...] = (
    _number,
    _number,
    _word,
    _word,
    _piece,
    _block,
    _stray,
    _cut,
)


def _folder(data: bytes, target: Target, by: random.Random) -> bytes:
    """Change one file of a folder that is packed, as its name tells, or the names of two, and pack it again."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            about = [one for one in archive.infolist()[:30] if one.file_size < 1 << 20]
            members = [(one.filename, archive.read(one)) for one in about]
    except Exception:
        return _byte(data, target, by)
    if not members:
        return _byte(data, target, by)
    at = by.randrange(len(members))
    name, inside = members[at]
    match by.randrange(12):
        case 0:
            members[at] = (by.choice(members)[0], inside)
        case 1:
            del members[at]
        case 2:
            changed_name = by.choice(_TEXT)(name.encode(), target, by)
            members[at] = (changed_name.decode("utf-8", "replace"), inside)
        case 3:
            return _byte(data, target, by)
        case _:
            is_text = name.endswith(TEXTS)
            change = by.choice(_TEXT if is_text else _HOW["bytes"])
            members[at] = (name, change(inside, target, by))
    packed = io.BytesIO()
    how = by.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with zipfile.ZipFile(packed, "w", how) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, inside in members:
            archive.writestr(name.replace("\0", "") or "x", inside)
    return packed.getvalue()


TEXTS = (".json", ".csv", ".seq", ".txt")
"""Ends of the names of text files in folders."""
_HOW = {
    "text": _TEXT,
    "bytes": (_byte, _byte, _byte, _block, _cut, _number, _word),
    "zip": (_zip,),
    "folder": (_folder,),
}


def changed(
    data: bytes, target: Target, by: random.Random, most: int | None = None
) -> bytes:
    """Return another input made of this one by a few changes; `by` decides which, so that a number makes it again."""
    for _ in range(1 + int(by.expovariate(0.7))):
        data = by.choice(_HOW[target.how])(data, target, by)
    return data[: target.most if most is None else most]
