"""The bytes of a .seq file, and the rows of numbers in them, found without parsing (`scan`).

Bytes are read where they are needed, a piece at a time, and searched for characters in
bulk: reading a file twice is cheaper than holding it in memory.

Rows are taken out of the text. What is left, the skeleton, is small: the headers, with
a mark `~` in place of the rows of each component. It is parsed as YAML; a mark that is
the only item of a sequence there proves that YAML sees rows in the same place. Rows are
recognised in three shapes: lines `- [ … ]` of one indentation below `frames:`, nested
block lists `- - …` there, and a flow sequence `frames: [[…], […]]`. They are counted
and cut into pieces of whole rows. Any other shape raises `UnusualError`, and the file
is then parsed as YAML as a whole.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import BinaryIO

import numpy as np

from bodymotion.diagnostics import Location
from bodymotion.formats.encodings import wide_encoding
from bodymotion.formats.limits import check_time
from bodymotion.formats.resources import unreadable
from bodymotion.formats.rules import UNREADABLE
from bodymotion.formats.seq import rules
from bodymotion.formats.yaml.rules import NOT_YAML
from bodymotion.formats.yaml.tree import PiecedText
from bodymotion.geometry.arrays import Bools, Indices
from bodymotion.system.files import pipe_content

MAX_TRANSCODED = 256 << 20
"""[bytes] Larger texts in UTF-16 or UTF-32, or with carriage returns as line ends, are refused.

They are changed as a whole.
"""
_HEAD = 1 << 16  # [bytes] The part of a file that shows how its lines end.
_DECODED_PIECE = 1 << 19
_LONE_RETURN = re.compile(rb"\r(?!\n)")
_COMMENT = re.compile(rb"#(?:(?<=\s#)|(?<=\A#))[^\r\n]*")

PIECE = 1 << 19  # [bytes] Rows are read in pieces of about this size.
MAX_PIECE = 1 << 26  # [bytes] A longer row is left to the YAML parser.
MAX_SKELETON = 1 << 23  # [bytes] The text without its rows.
MAX_SPANS = 1000
MAX_INDENT = 54  # [columns] Rows further in are left to the YAML parser.
_WINDOW = 1 << 14  # [bytes] The part of a file in which keys are searched for.

_KEY = re.compile(rb"(?:^|(?<=[\s,{\"']))frames[\"']?[ \t]*:(?=[\s\[])")
_FLOW = re.compile(
    rb"(?:\s|(?<=\s)#[^\r\n]*[\r\n])*\[(?=(?:\s|(?<=\s)#[^\r\n]*[\r\n])*\[)"
)
_BLOCK = re.compile(
    rb"[ \t]*(?:[ \t]#[^\r\n]*)?\r?\n(?:[ \t]*(?:#[^\r\n]*)?\r?\n)*(?= *- +(?:\[|- ))"
)
_DASHES = re.compile(rb" *(?:- +)*[\"']?")
_STRINGS = re.compile(
    rb"\"(?:[^\"\\]|\\.)*+(?:(\")|\\?\Z)|'[^']*+(?:(')|\Z)", re.DOTALL
)
_BREAK = re.compile(rb"[\r\n]")
_BETWEEN = re.compile(rb"[ \t\r\n]*,[ \t\r\n]*")
_SPACE = re.compile(rb"[ \t\r\n]*")
_TAIL = re.compile(rb"[ \t\r\n]*,?[ \t\r\n]*")


def without_comments(text: bytes) -> bytes:
    """Put spaces in place of comments, so that all offsets stay."""
    if b"#" in text:
        return _COMMENT.sub(lambda found: b" " * len(found[0]), text)
    return text


def decoded(part: bytes) -> tuple[str, str | None]:
    """Return bytes of a file as text, and the encoding where it is not UTF-8."""
    try:
        return part.decode("utf-8"), None
    except UnicodeDecodeError:
        return part.decode("cp932", "replace"), "cp932"


class UnusualError(Exception):
    """A text in an irregular shape.

    Only a YAML parse of the whole file can read it.

    Its cause is a `FormatError` where the result of a full parse is known.
    """

    def __init__(self, message: str, location: Location | None = None) -> None:
        super().__init__(message)
        self.location = location or Location()


class ByteSource(AbstractContextManager["ByteSource"]):
    """Random access to the bytes of a file, or of a text in memory.

    Where lines end with carriage returns alone, line feeds are returned in their place.

    Attributes
    ----------
    path, size:
        The file, and its size [bytes].
    start:
        Where the text begins, behind a byte order mark.
    encoding:
        That of the byte order mark, else "utf-8".
    """

    def __init__(
        self, file: BinaryIO | None, data: bytes | None, path: str | None
    ) -> None:
        self.path = path
        self.encoding = "utf-8"
        self.start = 0
        self._file = file
        self._data = data
        assert file is not None or data is not None
        if file is not None:
            self.size = file.seek(0, 2)
        else:
            self.size = len(data or b"")
        head = self.read(0, _HEAD)
        wide = wide_encoding(head)
        if head.startswith(codecs.BOM_UTF8):
            self.start = 3
            self.encoding = "utf-8-sig"
        if wide:
            self.encoding = wide
            self._replace(
                f"in {wide}",
                "UTF-8",
                lambda data: data.decode(wide, "replace").encode("utf-8", "replace"),
            )
            head = self.read(0, _HEAD)
        lone = _LONE_RETURN.search(head)
        if (
            lone is not None
            and lone.end() < len(head)
            and b"\n" not in head[: lone.start()]
        ):
            expected = "lines that end with line feeds"
            self._replace(
                "with carriage returns only", expected, partial(_LONE_RETURN.sub, b"\n")
            )

    def _replace(
        self, what: str, expected: str, change: Callable[[bytes], bytes]
    ) -> None:
        """Read the whole text, changed, into memory."""
        if self.size > MAX_TRANSCODED:
            message = f"the text has {self.size} bytes {what}; more than {MAX_TRANSCODED} are read only with {expected}"
            raise rules.IRREGULAR_ROWS.error(
                message, Location(self.path), f"save it with {expected}"
            )
        self._data = change(self.read(0, self.size))
        self.size = len(self._data)

    @classmethod
    def open(cls, path: str | Path) -> ByteSource:
        """Open a file; a pipe is read as a whole.

        Raises FormatError with FMT002 when that fails.
        """
        try:
            content = pipe_content(path)
            if content is not None:
                return cls(None, content, str(path))
            file = Path(path).open("rb")  # noqa: SIM115
        except (OSError, ValueError) as error:
            raise unreadable(error, path) from error
        try:
            return cls(file, None, str(path))
        except OSError as error:
            file.close()
            raise unreadable(error, path) from error
        except BaseException:
            file.close()
            raise

    def read(self, offset: int, size: int) -> bytes:
        """Return `size` bytes from `offset`, fewer at the end.

        Raises FormatError with FMT002 when the file cannot be read there.
        """
        if self._data is not None:
            return self._data[offset : offset + size]
        assert self._file is not None
        size = max(min(size, self.size - offset), 0)
        try:
            self._file.seek(offset)
            part = self._file.read(size)
        except OSError as error:
            raise unreadable(error, self.path or "") from error
        if len(part) < size:
            raise UNREADABLE.error(
                "the file became shorter while it was read", Location(self.path)
            )
        return part

    @contextmanager
    def reopened(self) -> Iterator[None]:
        """Open a file that was closed once more, for the block.

        Raises FormatError with FMT002 when it was removed, or its size has changed.
        """
        if self._data is not None or (self._file is not None and not self._file.closed):
            yield
            return
        with ByteSource.open(self.path or "") as other:
            if other.size != self.size or other._file is None:
                raise UNREADABLE.error("the file has changed", Location(self.path))
            self._file = other._file
            try:
                yield
            finally:
                self._file = None

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


def first_non_utf8_byte(source: ByteSource) -> tuple[int, int, int] | None:
    """Return line, column and value of the first byte of a file that is not UTF-8.

    None where there is none.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    at = source.start
    line = 1
    column = 1
    while at < source.size:
        part = source.read(at, _DECODED_PIECE)
        at += len(part)
        try:
            text = decoder.decode(part, not part or at >= source.size)
            wrong = None
        except UnicodeDecodeError as error:
            text = error.object[: error.start].decode("utf-8")
            wrong = error.object[error.start]
        lines = text.count("\n")
        line = line + lines
        column = (1 if lines else column) + len(text) - (text.rfind("\n") + 1)
        if wrong is not None:
            return line, column, wrong
        if not part:
            break
    return None


def lines(text: bytes, indent: int) -> tuple[Indices, Bools]:
    """Return where lines begin, and which of them begin with `indent` spaces, a dash and a space."""
    starts = np.flatnonzero(np.frombuffer(b"\n" + text, np.uint8) == 10)
    starts = starts[: len(starts) - (not text or text.endswith(b"\n"))]
    return starts, begin_with(text, starts, b" " * indent + b"- ")


def begin_with(text: bytes, starts: Indices, prefix: bytes) -> Bools:
    """Return at which of `starts` a prefix is."""
    codes = np.frombuffer(text + bytes(len(prefix)), np.uint8)
    found = np.ones(len(starts), np.bool_)
    for k, code in enumerate(prefix):
        found &= codes[starts + k] == code
    return found


@dataclass(frozen=True)
class Piece:
    """Whole rows: `size` bytes from `offset`, `rows` rows from `first_row` on.

    The first byte is at `line`, `column`.
    """

    offset: int
    size: int
    first_row: int
    rows: int
    line: int
    column: int


@dataclass
class Span:
    """Rows below one key.

    Lines of `indent` spaces and a dash, or (`indent` None) the elements of a flow
    sequence.

    The bytes from `start` to `stop` were taken out of the text for them, comments
    included.
    """

    indent: int | None
    start: int = 0
    stop: int = 0
    pieces: list[Piece] = field(default_factory=list)

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        if self.pieces:
            return self.pieces[-1].first_row + self.pieces[-1].rows
        return 0


@dataclass
class Scan:
    """A file without its rows.

    The text with marks, the rows by the offset of their mark in it, and the encoding.
    """

    text: PiecedText
    marks: dict[int, Span]
    encoding: str

    def with_rows(self, source: ByteSource, wanted: set[int]) -> Scan:
        """Return the scan with all rows back in the text but those of the marks `wanted`."""
        whole = PiecedText(self.text.path)
        marks = {}
        encoding = self.encoding
        for start, text, line, column in self.text.pieces():
            mark = start + text.find("~")
            span = self.marks.get(mark)
            if span and mark not in wanted:
                text, other = decoded(source.read(span.start, span.stop - span.start))
                encoding = other or encoding
            elif span:
                marks[whole.length + mark - start] = span
            whole.add(text, line, column)
        return Scan(whole, marks, encoding)


def scan(source: ByteSource) -> Scan:
    """Take the rows out of a file, in bounded memory and at close to the speed of reading.

    Raises UnusualError when rows are in another shape than the three, or the text
    without its rows is too large.
    """
    return _Scanner(source).run()


class _Scanner:
    def __init__(self, source: ByteSource) -> None:
        self.source = source
        self.skeleton = PiecedText(source.path)
        self.marks: dict[int, Span] = {}
        self.encoding = source.encoding
        self.line = 1
        self.column = 1
        self.window = b""
        self.base = source.start

    def run(self) -> Scan:
        searched = 0
        known = 0  # the text before is searched for comments already: no key is looked at twice
        while True:
            found = _KEY.search(self.window, searched)
            if found:
                end = found.end()
            else:
                end = len(self.window)
            if len(self.window) - end < _WINDOW // 2 and self.more():
                searched = max((found.start() if found else end) - 16, searched)
                continue
            if found is None:
                break
            start = max(
                known,
                *(
                    self.window.rfind(mark, known, found.start()) + 1
                    for mark in (b"\n", b"\r")
                ),
            )
            if self.in_comment(start, found.start()):
                searched = known = self.end_of_line(found.end())
                continue
            searched = known = found.end()
            flow = _FLOW.match(self.window, found.end())
            block = _BLOCK.match(self.window, found.end())
            if flow is not None:
                self.remove_rows(flow.end() - 1, b"[~]", None)
                searched = known = 0
            elif block is not None:
                lead = self.window[block.end() :]
                indent = len(lead) - len(lead.lstrip(b" "))
                dashes = _DASHES.match(self.window, start)
                assert dashes is not None
                if dashes.end() == found.start():
                    key_column = len(dashes[0].rstrip(b"\"'"))
                else:
                    key_column = MAX_INDENT
                if key_column <= indent <= MAX_INDENT:
                    self.remove_rows(block.end(), b" " * indent + b"- ~\n", indent)
                    searched = known = 0
        self.keep(self.window)
        return Scan(self.skeleton, self.marks, self.encoding)

    def more(self) -> bool:
        part = self.source.read(
            self.base + len(self.window), max(_WINDOW, len(self.window))
        )
        self.window += part
        if len(self.window) + self.skeleton.length > MAX_SKELETON and part:
            raise self.unusual("the headers are long, or the rows have another shape")
        return bool(part)

    def in_comment(self, start: int, stop: int) -> bool:
        """Return whether a comment begins in a part of a line of the window."""
        part = self.window[start:stop]
        if b"#" not in part:
            return False
        part = _STRINGS.sub(lambda found: b'""' if found.lastindex else found[0], part)
        return _COMMENT.search(part) is not None

    def end_of_line(self, at: int) -> int:
        """Return where the line ends that the offset `at` of the window is in."""
        while True:
            found = _BREAK.search(self.window, at)
            if found:
                return found.start()
            at = len(self.window)
            if not self.more():
                return at

    def unusual(self, message: str) -> UnusualError:
        return UnusualError(message, Location(self.source.path, self.line))

    def keep(self, part: bytes) -> None:
        """Append text of the file to the skeleton."""
        text, other = decoded(part)
        self.encoding = other or self.encoding
        if b"\r" in part and b"\n" not in part and not self.skeleton.length:
            raise self.unusual("the lines end with carriage returns only")
        self.skeleton.add(text, self.line, self.column)
        self.advance(text.encode("latin-1", "replace"))

    def remove_rows(self, at: int, mark: bytes, indent: int | None) -> None:
        """Move the rows that begin at the offset `at` of the window from the text into a span, and leave the mark."""
        if len(self.marks) == MAX_SPANS:
            raise self.unusual(f"there are more than {MAX_SPANS} sequences of frames")
        self.keep(self.window[:at])
        start = self.base + at
        span = Span(indent, start)
        self.marks[self.skeleton.length + mark.index(b"~")] = span
        self.skeleton.add(mark.decode(), self.line, self.column)
        if indent is None:
            end = self.flow_rows(span, start)
        else:
            end = self.block_rows(span, start, indent)
        span.stop = end
        self.window = b""
        self.base = end

    def block_rows(self, span: Span, pos: int, indent: int) -> int:
        """Read lines of rows; return where they end."""
        rows = 0
        want = PIECE
        while True:
            check_time()
            text = self.source.read(pos, want)
            last = pos + len(text) >= self.source.size
            starts, found = lines(text, indent)
            if found.all():
                stop = None
            else:
                stop = self.end_of_rows(text, starts, found, indent, last)
            if stop is None:
                keep = len(starts)
            else:
                keep = stop
            if stop is None and not last:
                # The last row may continue behind this piece: it is left for the next
                # one.
                whole = np.flatnonzero(found)
                if len(whole):
                    keep = int(whole[-1])
                else:
                    keep = 0
                if not found[:keep].any():
                    want *= 2
                    if want > MAX_PIECE:
                        raise self.unusual("a row is too long")
                    continue
            if keep < len(starts):
                size = int(starts[keep])
            else:
                size = len(text)
            count = int(np.count_nonzero(found[:keep]))
            if count:
                span.pieces.append(Piece(pos, size, rows, count, self.line, 1))
            rows += count
            pos += size
            want = PIECE
            self.line = self.line + keep
            self.column = 1
            if stop is None and last and size and not text.endswith(b"\n"):
                self.line = self.line - 1
                self.column = size - int(starts[-1]) + 1
            if stop is not None or last:
                return pos

    def end_of_rows(
        self, text: bytes, starts: Indices, found: Bools, indent: int, last: bool
    ) -> int | None:
        """Return the first line that belongs to no row.

        It neither begins nor continues one, and is neither blank nor a comment.
        """
        for k in np.flatnonzero(
            ~(found | begin_with(text, starts, b" " * (indent + 1)))
        ).tolist():
            if k + 1 == len(starts) and not last:
                return None
            line = text[starts[k] : starts[k + 1] if k + 1 < len(starts) else None]
            if line.strip() and not line.lstrip().startswith(b"#"):
                dash = line[
                    : indent + 1
                ] == b" " * indent + b"-" and not line.startswith(b"---")
                if dash and line.strip() == b"-" and k + 1 == len(starts):
                    found[k] = (
                        True  # a file that was cut off: the row is there and is faulty
                    )
                    return None
                if dash or line.startswith(b"\t"):
                    where = Location(self.source.path, self.line + int(k), indent + 1)
                    raise UnusualError(
                        "a row begins neither with '- [' nor with '- -'", where
                    )
                return int(k)
        return None

    def flow_rows(self, span: Span, pos: int) -> int:
        """Read `[[…], […]]` from its first bracket on.

        Return where it ends.
        """
        pos += 1
        self.column += 1
        rows = 0
        want = PIECE
        while True:
            check_time()
            raw = self.source.read(pos, want)
            last = pos + len(raw) >= self.source.size
            if b"#" in raw and not last:
                raw = raw[: raw.rfind(b"\n") + 1]
            text = without_comments(raw)
            codes = np.frombuffer(text, np.uint8)
            brackets = np.flatnonzero((codes == 91) | (codes == 93))
            step = 92 - codes[brackets].astype(np.int8)
            depth = np.cumsum(step, dtype=np.int32)
            over = np.flatnonzero(depth < 0)[:1].tolist()
            if over:
                end = int(brackets[over[0]])
            else:
                end = None
            inside = slice(over[0] if over else None)
            closing = brackets[inside][(depth[inside] == 0) & (step[inside] < 0)]
            count = len(closing)
            if count:
                after = int(closing[-1]) + 1
            else:
                after = 0
            used = text[: after if end is None else end]
            if b'"' in used or b"'" in used:
                raise self.unusual("there are quotes among the rows")
            if not count and end is None:
                want *= 2
                if last:
                    self.advance(text[: brackets[0] if len(brackets) else None])
                    where = Location(self.source.path, self.line, self.column)
                    if len(brackets):
                        message = "the file ends within a row"
                    else:
                        message = "the file ends among the rows"
                    quoted = b'"' in text or b"'" in text
                    raise UnusualError(message, where) from (
                        None if quoted else NOT_YAML.error(message, where)
                    )
                if want > MAX_PIECE:
                    raise self.unusual("a row does not end")
                continue
            if count:
                first = int(brackets[0])
                if not (_BETWEEN if rows else _SPACE).fullmatch(text, 0, first):
                    raise self.unusual(
                        "there is something besides a comma between two rows"
                    )
                self.advance(raw[:first])
                span.pieces.append(
                    Piece(
                        pos + first, after - first, rows, count, self.line, self.column
                    )
                )
                self.advance(raw[first:after])
                rows += count
            if end is not None:
                if not _TAIL.fullmatch(text, after, end) or not rows:
                    raise self.unusual("there is something after the last row")
                self.advance(raw[after : end + 1])
                return pos + end + 1
            pos += after
            want = PIECE

    def advance(self, part: bytes) -> None:
        """Move line and column over a part of the text with one byte for each character."""
        self.line += part.count(b"\n")
        last = part.rfind(b"\n")
        if last >= 0:
            self.column = len(part) - last
        else:
            self.column = self.column + len(part)
