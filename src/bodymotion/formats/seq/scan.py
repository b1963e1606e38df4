"""Finds the rows of numbers in the bytes of a file, without parsing them, and takes them out of the text.

What is left, the skeleton, is small: the headers, with a mark `~` in place of the rows of each component. It is parsed as YAML; a
mark that comes back as the only item of a sequence proves that YAML, too, saw rows there. Rows are known in three shapes: lines
`- [ … ]` of one indentation below `frames:`, nested block lists `- - …` there, and a flow sequence `frames: [[…], […]]`. They are
counted and cut into pieces of whole rows. Whatever is in another shape raises `UnusualError`, and the file is then parsed as YAML
as a whole.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field

import numpy as np

from bodymotion.diagnostics import Location
from bodymotion.formats.seq import rules
from bodymotion.formats.seq.bits import Places
from bodymotion.formats.seq.nodes import Places as TextPlaces
from bodymotion.formats.seq.page import Mask, Page
from bodymotion.formats.seq.source_bytes import ByteSource, UnusualError

__all__ = ["PIECE", "Piece", "Scan", "Span", "first_odd_byte", "scan"]

PIECE = 1 << 19
"""Rows are handled in pieces of about this many bytes."""
MAX_PIECE = 1 << 26
"""A row longer than this is not known to the fast reader."""
MAX_SKELETON = 1 << 23
MAX_SPANS = 1000
MAX_INDENT = 54
_WINDOW = 1 << 14

_KEY = re.compile(rb"(?:^|(?<=[\s,{\"']))frames[\"']?[ \t]*:(?=[\s\[])")
_FLOW = re.compile(rb"(?:\s|(?<=\s)#[^\r\n]*[\r\n])*\[(?=(?:\s|(?<=\s)#[^\r\n]*[\r\n])*\[)")
_BLOCK = re.compile(rb"[ \t]*(?:[ \t]#[^\r\n]*)?\r?\n(?:[ \t]*(?:#[^\r\n]*)?\r?\n)*(?= *- +(?:\[|- ))")
_DASHES = re.compile(rb" *(?:- +)*[\"']?")
_STRINGS = re.compile(rb"\"(?:[^\"\\]|\\.)*+(?:(\")|\\?\Z)|'[^']*+(?:(')|\Z)", re.DOTALL)
_COMMENT = re.compile(rb"(?:^|(?<=\s))#")
_BREAK = re.compile(rb"[\r\n]")
_BETWEEN = re.compile(rb"[ \t\r\n]*,[ \t\r\n]*")
_SPACE = re.compile(rb"[ \t\r\n]*")
_TAIL = re.compile(rb"[ \t\r\n]*,?[ \t\r\n]*")


@dataclass(frozen=True)
class Piece:
    """Whole rows: `size` bytes from `offset`, `rows` rows from `first_row` on; the first byte is at `line`, `column`."""

    offset: int
    size: int
    first_row: int
    rows: int
    line: int
    column: int


@dataclass
class Span:
    """Rows below one key: lines of `indent` spaces and a dash, or (`indent` None) the elements of a flow sequence.

    All that was taken out of the text for them, comments included, are the bytes from `start` to `stop`.
    """

    indent: int | None
    start: int = 0
    stop: int = 0
    pieces: list[Piece] = field(default_factory=list)

    @property
    def num_rows(self) -> int:
        """How many rows there are."""
        return self.pieces[-1].first_row + self.pieces[-1].rows if self.pieces else 0


@dataclass
class Scan:
    """What is left of a file without its rows: the text with marks, and for the place of each mark the rows that were there."""

    where: TextPlaces
    marks: dict[int, Span]
    encoding: str

    def with_rows(self, source: ByteSource, wanted: set[int]) -> Scan:
        """Put all rows back into the text but those of the marks `wanted`."""
        where, marks, encoding = TextPlaces(self.where.path), {}, self.encoding
        for start, text, line, column in self.where.pieces():
            mark = start + text.find("~")
            span = self.marks.get(mark)
            if span and mark not in wanted:
                text, said = decoded(source.read(span.start, span.stop - span.start))
                encoding = said or encoding
            elif span:
                marks[where.length + mark - start] = span
            where.add(text, line, column)
        return Scan(where, marks, encoding)


def decoded(part: bytes) -> tuple[str, str | None]:
    """Return bytes of a file as text, and the encoding where it is not the usual one."""
    try:
        return part.decode("utf-8"), None
    except UnicodeDecodeError:
        return part.decode("cp932", "replace"), "cp932"


def first_odd_byte(source: ByteSource) -> tuple[int, int, int] | None:
    """Return line, column and value of the first byte of a file that is not UTF-8, None where there is none."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    at, line, column = source.start, 1, 1
    while at < source.size:
        part = source.read(at, PIECE)
        at += len(part)
        try:
            text, wrong = decoder.decode(part, not part or at >= source.size), None
        except UnicodeDecodeError as error:
            text, wrong = error.object[: error.start].decode("utf-8"), error.object[error.start]
        lines = text.count("\n")
        line, column = line + lines, (1 if lines else column) + len(text) - (text.rfind("\n") + 1)
        if wrong is not None:
            return line, column, wrong
        if not part:
            break
    return None


def scan(source: ByteSource, page: Page | None = None) -> Scan:
    """Take the rows out of a file. In bounded memory, at close to the speed of reading.

    Raises
    ------
    UnusualError
        When rows are in a shape that is not known here, or the text without its rows is too large.
    """
    return _Scanner(source, page or Page()).run()


class _Scanner:
    def __init__(self, source: ByteSource, page: Page) -> None:
        self.source = source
        self.where = TextPlaces(source.path)
        self.marks: dict[int, Span] = {}
        self.encoding = source.encoding
        self.line, self.column = 1, 1
        self.page = page
        self.window = b""
        self.base = source.start

    def run(self) -> Scan:
        searched = 0
        known = 0  # up to here it is known what is a comment; no key is looked at twice
        while True:
            found = _KEY.search(self.window, searched)
            end = found.end() if found else len(self.window)
            if len(self.window) - end < _WINDOW // 2 and self.more():
                searched = max((found.start() if found else end) - 16, searched)
                continue
            if found is None:
                break
            start = max(known, *(self.window.rfind(mark, known, found.start()) + 1 for mark in (b"\n", b"\r")))
            if self.in_comment(start, found.start()):
                searched = known = self.end_of_line(found.end())
                continue
            searched = known = found.end()
            flow, block = _FLOW.match(self.window, found.end()), _BLOCK.match(self.window, found.end())
            if flow is not None:
                self.take(flow.end() - 1, b"[~]", None)
                searched = known = 0
            elif block is not None:
                lead = self.window[block.end() :]
                indent = len(lead) - len(lead.lstrip(b" "))
                dashes = _DASHES.match(self.window, start)
                assert dashes is not None
                key_column = len(dashes[0].rstrip(b"\"'")) if dashes.end() == found.start() else MAX_INDENT
                if key_column <= indent <= MAX_INDENT:
                    self.take(block.end(), b" " * indent + b"- ~\n", indent)
                    searched = known = 0
        self.text(self.window)
        return Scan(self.where, self.marks, self.encoding)

    def more(self) -> bool:
        part = self.source.read(self.base + len(self.window), max(_WINDOW, len(self.window)))
        self.window += part
        if len(self.window) + self.where.length > MAX_SKELETON and part:
            raise self.unusual("the text is long, and its rows are in no known shape")
        return bool(part)

    def in_comment(self, start: int, stop: int) -> bool:
        """Whether what stands between two places of a line of the window begins a comment."""
        part = self.window[start:stop]
        if b"#" not in part:
            return False
        part = _STRINGS.sub(lambda found: b'""' if found.lastindex else found[0], part)
        return _COMMENT.search(part) is not None

    def end_of_line(self, at: int) -> int:
        """Find where the line ends that the place `at` of the window is in."""
        while True:
            found = _BREAK.search(self.window, at)
            if found:
                return found.start()
            at = len(self.window)
            if not self.more():
                return at

    def unusual(self, message: str) -> UnusualError:
        return UnusualError(message, Location(self.source.path, self.line))

    def text(self, part: bytes) -> None:
        """Append text of the file to the skeleton."""
        text, said = decoded(part)
        self.encoding = said or self.encoding
        if b"\r" in part and b"\n" not in part and not self.where.length:
            raise self.unusual("the lines end with carriage returns only")
        self.where.add(text, self.line, self.column)
        self.line += text.count("\n")
        last = text.rfind("\n")
        self.column = len(text) - last if last >= 0 else self.column + len(text)

    def take(self, at: int, mark: bytes, indent: int | None) -> None:
        """Move the rows that begin at `at` of the window from the text into a span, and leave the mark."""
        if len(self.marks) == MAX_SPANS:
            raise self.unusual(f"there are more than {MAX_SPANS} sequences of frames")
        self.text(self.window[:at])
        start = self.base + at
        span = Span(indent, start)
        self.marks[self.where.length + mark.index(b"~")] = span
        self.where.add(mark.decode(), self.line, self.column)
        end = self.flow_rows(span, start) if indent is None else self.block_rows(span, start, indent)
        span.stop = end
        self.window, self.base = b"", end

    def block_rows(self, span: Span, pos: int, indent: int) -> int:
        """Walk through lines of rows; gives where they end."""
        page, rows, want = self.page, 0, PIECE
        while True:
            page.load(self.source, pos, want)
            last = pos + page.size >= self.source.size
            starts, found = page.lines(indent)
            stop = None if found.all() else self.end_of_rows(starts, found, indent, last)
            keep = len(starts) if stop is None else stop
            if stop is None and not last:
                # The last row may go on after this piece: it is left for the next one.
                whole = np.flatnonzero(found)
                keep = int(whole[-1]) if len(whole) else 0
                if not found[:keep].any():
                    want *= 2
                    if want > MAX_PIECE:
                        raise self.unusual("a row is too long")
                    continue
            size = int(starts[keep]) if keep < len(starts) else page.size
            count = int(np.count_nonzero(found[:keep]))
            if count:
                span.pieces.append(Piece(pos, size, rows, count, self.line, 1))
            rows += count
            pos += size
            want = PIECE
            self.line, self.column = self.line + keep, 1
            if stop is None and last and size and page.text[-1] != 10:
                self.line, self.column = self.line - 1, size - int(starts[-1]) + 1
            if stop is not None or last:
                return pos

    def end_of_rows(self, starts: Places, found: Mask, indent: int, last: bool) -> int | None:
        """Return the first line that belongs to no row: neither begins one, nor goes on with one, nor is blank or a comment."""
        page = self.page
        for k in np.flatnonzero(~(found | page.begin_with(starts, b" " * (indent + 1)))).tolist():
            if k + 1 == len(starts) and not last:
                return None
            line = page.copy(int(starts[k]), int(starts[k + 1]) if k + 1 < len(starts) else page.size)
            if line.strip() and not line.lstrip().startswith(b"#"):
                dash = line[: indent + 1] == b" " * indent + b"-" and not line.startswith(b"---")
                if dash and line.strip() == b"-" and k + 1 == len(starts):
                    found[k] = True  # a file that was cut off: the row is there, and is faulty
                    return None
                if dash or line.startswith(b"\t"):
                    where = Location(self.source.path, self.line + int(k), indent + 1)
                    raise UnusualError("a row begins in an unusual way", where)
                return int(k)
        return None

    def flow_rows(self, span: Span, pos: int) -> int:
        """Walk through `[[…], […]]` from its first bracket on; gives where it ends."""
        pos += 1
        self.column += 1
        page, rows, want = self.page, 0, PIECE
        while True:
            page.load(self.source, pos, want)
            last = pos + page.size >= self.source.size
            raw = b""
            if page.has(b"#"):
                raw = page.copy()
                if not last:
                    page.size = raw.rfind(b"\n") + 1
                page.blank_comments()
            b = page.brackets()
            kinds = page.text[b]
            step = (kinds == 91).astype(np.int8) - (kinds == 93)
            depth = np.cumsum(step, dtype=np.int32)
            over = np.flatnonzero(depth < 0)[:1].tolist()
            end = int(b[over[0]]) if over else None
            if over:
                b, depth, step = b[: over[0]], depth[: over[0]], step[: over[0]]
            closing = b[(depth == 0) & (step < 0)]
            count = len(closing)
            after = int(closing[-1]) + 1 if count else 0
            used = after if end is None else end
            for quote in (b'"', b"'"):
                if page.has(quote) and quote in page.copy(0, used):
                    raise self.unusual("there are quotes among the rows")
            if not count and end is None:
                want *= 2
                if last:
                    self.advance(page.copy(0, int(b[0]) if len(b) else page.size))
                    where = Location(self.source.path, self.line, self.column)
                    message = "the file ends within a row" if len(b) else "the file ends among the rows"
                    quoted = page.has(b'"') or page.has(b"'")
                    raise UnusualError(message, where) from None if quoted else rules.NOT_YAML.error(message, where)
                if want > MAX_PIECE:
                    raise self.unusual("a row does not end")
                continue
            raw = (raw or page.copy())[: used + 1]
            if count:
                first = int(b[0])
                if not (_BETWEEN if rows else _SPACE).fullmatch(page.copy(0, first)):
                    raise self.unusual("there is something between two rows")
                self.advance(raw[:first])
                span.pieces.append(Piece(pos + first, after - first, rows, count, self.line, self.column))
                self.advance(raw[first:after])
                rows += count
            if end is not None:
                if not _TAIL.fullmatch(page.copy(after, end)) or not rows:
                    raise self.unusual("there is something after the last row")
                self.advance(raw[after : end + 1])
                return pos + end + 1
            pos += after
            want = PIECE

    def advance(self, part: bytes) -> None:
        self.line += part.count(b"\n")
        last = part.rfind(b"\n")
        self.column = len(part) - last if last >= 0 else self.column + len(part)
