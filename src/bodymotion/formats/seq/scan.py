"""Find the rows of numbers in the bytes of a .seq file, without parsing (`scan`).

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
from typing import BinaryIO, NamedTuple

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
"""[bytes] Larger texts in UTF-16 or UTF-32, or of lone carriage returns, are refused.

They are changed as a whole.
"""
_HEAD = 1 << 16
"""[bytes] The part of a file that shows how its lines end."""
_DECODED_PIECE = 1 << 19
_LONE_RETURN = re.compile(rb"\r(?!\n)")
_COMMENT = re.compile(rb"#(?:(?<=\s#)|(?<=\A#))[^\r\n]*")

PIECE = 1 << 19
"""[bytes] Rows are read in pieces of about this size."""
MAX_PIECE = 1 << 26
"""[bytes] A longer row is left to the YAML parser."""
MAX_SKELETON = 1 << 23
"""[bytes] The text without its rows."""
MAX_SPANS = 1000
"""Sequences of rows; a file with more is left to the YAML parser."""
MAX_INDENT = 54
"""[columns] Rows further in are left to the YAML parser."""
_WINDOW = 1 << 14
"""[bytes] The part of a file in which keys are searched for."""
_KEY_LENGTH = 16
"""[bytes] The end of the window in which a key may be cut off."""

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
    # Spaces of the same length keep all offsets and columns.
    if b"#" in text:
        return _COMMENT.sub(lambda found: b" " * len(found[0]), text)
    return text


def decoded(part: bytes) -> tuple[str, str | None]:
    """Return bytes of a file as text, and the encoding where it is not UTF-8."""
    try:
        return part.decode("utf-8"), None
    except UnicodeDecodeError:
        # What is not UTF-8 is taken for Japanese (cp932); wrong bytes are replaced.
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
        # The beginning shows the encoding and how lines end.
        head = self.read(0, _HEAD)
        wide = wide_encoding(head)
        if head.startswith(codecs.BOM_UTF8):
            self.start = 3
            self.encoding = "utf-8-sig"
        # UTF-16 and UTF-32 are changed to UTF-8 as a whole: the scan is for bytes of
        # ASCII.
        if wide:
            self.encoding = wide
            self._replace(
                f"in {wide}",
                "UTF-8",
                lambda data: data.decode(wide, "replace").encode("utf-8", "replace"),
            )
            head = self.read(0, _HEAD)
        # Lone carriage returns are line ends of old Macs; only if no line feed precedes
        # them.
        lone = _LONE_RETURN.search(head)
        if (
            lone is not None
            # A return at the very end of the head may be followed by a line feed.
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
        # A change of the whole text needs it in memory, twice.
        if self.size > MAX_TRANSCODED:
            message = (
                f"the text has {self.size} bytes {what}; "
                f"more than {MAX_TRANSCODED} are read only with {expected}"
            )
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
        # A pipe cannot be read at random.
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
        # Beyond the end: an empty read, as of bytes.
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
        # The text is in memory, or the file is still open.
        if self._data is not None or (self._file is not None and not self._file.closed):
            yield
            return
        # A location is asked for after reading: the file must be the same.
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
    # A character may be cut at the end of a piece: the decoder keeps its beginning.
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
            # All before the wrong byte is text: its lines count.
            text = error.object[: error.start].decode("utf-8")
            wrong = error.object[error.start]
        lines = text.count("\n")
        line = line + lines
        # After a line end the column begins again.
        column = (1 if lines else column) + len(text) - (text.rfind("\n") + 1)
        if wrong is not None:
            return line, column, wrong
        if not part:
            break
    return None


def lines(text: bytes, indent: int) -> tuple[Indices, Bools]:
    """Return where lines begin, and which of them begin a row.

    These begin with `indent` spaces, a dash and a space.
    """
    # A line begins behind each line feed, and at 0: hence the one in front.
    starts = np.flatnonzero(np.frombuffer(b"\n" + text, np.uint8) == 10)
    # Behind a last line feed there is no line.
    starts = starts[: len(starts) - (not text or text.endswith(b"\n"))]
    return starts, begin_with(text, starts, b" " * indent + b"- ")


def begin_with(text: bytes, starts: Indices, prefix: bytes) -> Bools:
    """Return at which of `starts` a prefix is."""
    # Zeros behind the text: a prefix at its end is compared with them, not out of
    # range.
    codes = np.frombuffer(text + bytes(len(prefix)), np.uint8)
    found = np.ones(len(starts), np.bool_)
    # One pass for each character of the prefix, over all lines at once.
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
        """Return the scan with all rows in the text but those of some marks."""
        whole = PiecedText(self.text.path)
        marks = {}
        encoding = self.encoding
        for start, text, line, column in self.text.pieces():
            mark = start + text.find("~")
            span = self.marks.get(mark)
            if span and mark not in wanted:
                # Rows of other keys go back into the text as YAML.
                text, other = decoded(source.read(span.start, span.stop - span.start))
                encoding = other or encoding
            elif span:
                # Offsets shift by the rows that were put back.
                marks[whole.length + mark - start] = span
            whole.add(text, line, column)
        return Scan(whole, marks, encoding)


def scan(source: ByteSource) -> Scan:
    """Take the rows out of a file.

    In bounded memory, and at close to the speed of reading.

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
        # The part of the file that is searched now, from `base` on.
        self.window = b""
        self.base = source.start

    def run(self) -> Scan:
        """Take the rows of all keys `frames` out of the text."""
        searched = 0
        # The text before this is searched for comments already: no key is looked at
        # twice.
        done = 0
        while True:
            key = _KEY.search(self.window, searched)
            end = key.end() if key else len(self.window)
            # Rows or a comment behind the key may continue beyond the window.
            if len(self.window) - end < _WINDOW // 2 and self.more():
                # A key may begin at the end of the window.
                start = key.start() if key else end
                searched = max(start - _KEY_LENGTH, searched)
                continue
            if key is None:
                break
            # A key in a comment is none; quotes hide a "#".
            start = self.start_of_line(key.start(), done)
            if self.in_comment(start, key.start()):
                done = self.end_of_line(key.end())
            elif self.remove_rows_of(key, start):
                # The window begins anew behind the rows.
                done = 0
            else:
                done = key.end()
            searched = done
        self.keep(self.window)
        return Scan(self.skeleton, self.marks, self.encoding)

    def start_of_line(self, pos: int, first: int) -> int:
        """Return where the line begins that a position of the window is in.

        `first` if that is later.
        """
        # Either character ends a line.
        newline = self.window.rfind(b"\n", first, pos)
        carriage_return = self.window.rfind(b"\r", first, pos)
        return max(first, newline + 1, carriage_return + 1)

    def remove_rows_of(self, key: re.Match[bytes], start: int) -> bool:
        """Remove the rows behind a key, whose line begins at `start`.

        Return whether there are any.
        """
        # A flow sequence of rows: `frames: [[`.
        flow = _FLOW.match(self.window, key.end())
        if flow is not None:
            self.remove_rows(flow.end() - 1, b"[~]", None)
            return True
        # Lines of rows: `frames:` and a dash below.
        block = _BLOCK.match(self.window, key.end())
        if block is None:
            return False
        # The blanks before the first dash of the rows.
        lead = self.window[block.end() :]
        indent = len(lead) - len(lead.lstrip(b" "))
        # Dashes and an opening quote may precede the key in its line, nothing else.
        dashes = _DASHES.match(self.window, start)
        assert dashes is not None  # it matches everywhere
        if indent > MAX_INDENT or dashes.end() != key.start():
            return False
        # A sequence of YAML may be as far in as its key, not further out.
        # Rows are indented at least as far as their key.
        if len(dashes[0].rstrip(b"\"'")) > indent:
            return False
        # The mark has the shape of a row, so YAML sees a list with one item.
        self.remove_rows(block.end(), b" " * indent + b"- ~\n", indent)
        return True

    def more(self) -> bool:
        part = self.source.read(
            self.base + len(self.window), max(_WINDOW, len(self.window))
        )
        self.window += part
        # A text without rows grows up to the limit, then YAML reads it as a whole.
        if len(self.window) + self.skeleton.length > MAX_SKELETON and part:
            raise self.unusual("the headers are long, or the rows have another shape")
        return bool(part)

    def in_comment(self, start: int, stop: int) -> bool:
        """Return whether a comment begins in a part of a line of the window."""
        part = self.window[start:stop]
        if b"#" not in part:
            return False
        # A "#" in quotes begins no comment; an open quote is kept and may hide one.
        part = _STRINGS.sub(lambda found: b'""' if found.lastindex else found[0], part)
        return _COMMENT.search(part) is not None

    def end_of_line(self, pos: int) -> int:
        """Return where the line ends that a position of the window is in."""
        while True:
            line_end = _BREAK.search(self.window, pos)
            if line_end:
                return line_end.start()
            pos = len(self.window)
            if not self.more():
                return pos

    def unusual(self, message: str) -> UnusualError:
        return UnusualError(message, Location(self.source.path, self.line))

    def keep(self, part: bytes) -> None:
        """Append text of the file to the skeleton."""
        text, other = decoded(part)
        self.encoding = other or self.encoding
        # Checked at the first piece: lines are found by line feeds from here on.
        if b"\r" in part and b"\n" not in part and not self.skeleton.length:
            raise self.unusual("the lines end with carriage returns only")
        self.skeleton.add(text, self.line, self.column)
        # latin-1 has one byte for each character, so columns count characters.
        self.advance(text.encode("latin-1", "replace"))

    def remove_rows(self, at: int, mark: bytes, indent: int | None) -> None:
        """Move rows from the text into a span, and leave the mark.

        They begin at the offset `at` of the window.
        """
        # A regular file has one sequence of rows for each component.
        if len(self.marks) == MAX_SPANS:
            raise self.unusual(f"there are more than {MAX_SPANS} sequences of frames")
        self.keep(self.window[:at])
        start = self.base + at
        span = Span(indent, start)
        # The offset of the "~" identifies the rows in the tree.
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
        num_rows = 0
        size = PIECE
        while True:
            check_time()
            text = self.source.read(pos, size)
            is_last = pos + len(text) >= self.source.size
            starts, begin_rows = lines(text, indent)
            stop = None
            # In most pieces every line begins a row.
            if not begin_rows.all():
                # Lines that begin no row may continue one, or end the rows.
                stop = self.end_of_rows(text, starts, begin_rows, indent, is_last)
            num_lines = len(starts) if stop is None else stop
            if stop is None and not is_last:
                # The last row may continue behind this piece: it is left for the next
                # one.
                row_lines = np.flatnonzero(begin_rows)
                num_lines = int(row_lines[-1]) if len(row_lines) else 0
                # No row ends in this piece: it is read again, twice as long.
                if not begin_rows[:num_lines].any():
                    size *= 2
                    if size > MAX_PIECE:
                        raise self.unusual("a row is too long")
                    continue
            length = len(text)
            if num_lines < len(starts):
                length = int(starts[num_lines])
            count = int(np.count_nonzero(begin_rows[:num_lines]))
            if count:
                # A piece begins at the beginning of a line: column 1.
                span.pieces.append(Piece(pos, length, num_rows, count, self.line, 1))
            num_rows += count
            pos += length
            size = PIECE
            self.line += num_lines
            self.column = 1
            # The last line has no line end: the position is behind its last character.
            if stop is None and is_last and length and not text.endswith(b"\n"):
                self.line -= 1
                self.column = length - int(starts[-1]) + 1
            if stop is not None or is_last:
                return pos

    def end_of_rows(
        self,
        text: bytes,
        starts: Indices,
        begin_rows: Bools,
        indent: int,
        is_last: bool,
    ) -> int | None:
        """Return the first line that belongs to no row.

        It neither begins nor continues one, and is neither blank nor a comment.
        """
        # Deeper indentation continues the row before.
        continues = begin_with(text, starts, b" " * (indent + 1))
        dash = b" " * indent + b"-"
        last_line = len(starts) - 1
        for k in np.flatnonzero(~(begin_rows | continues)).tolist():
            # An incomplete last line of a piece is judged in the next piece.
            if k == last_line and not is_last:
                return None
            end = None if k == last_line else starts[k + 1]
            line = text[starts[k] : end]
            if not line.strip() or line.lstrip().startswith(b"#"):
                continue
            # "---" begins a document and is no dash.
            has_dash = line.startswith(dash) and not line.startswith(b"---")
            if has_dash and line.strip() == b"-" and k == last_line:
                # A file that was cut off: the row is there and is faulty.
                begin_rows[k] = True
                return None
            # A dash without a row, or a tab, has meanings that need a parser.
            if has_dash or line.startswith(b"\t"):
                location = Location(self.source.path, self.line + int(k), indent + 1)
                message = "a row begins neither with '- [' nor with '- -'"
                raise UnusualError(message, location)
            return int(k)
        return None

    def flow_rows(self, span: Span, pos: int) -> int:
        """Read `[[…], […]]` from its first bracket on.

        Return where it ends.
        """
        # Behind the bracket that opens the list.
        pos += 1
        self.column += 1
        num_rows = 0
        size = PIECE
        while True:
            check_time()
            raw = self.source.read(pos, size)
            is_last = pos + len(raw) >= self.source.size
            # A comment may be cut at the end of the piece: only whole lines are used.
            if b"#" in raw and not is_last:
                raw = raw[: raw.rfind(b"\n") + 1]
            text = without_comments(raw)
            rows = _find_flow_rows(text)
            used = text[: rows.stop if rows.end is None else rows.end]
            # A bracket in quotes would be counted.
            if b'"' in used or b"'" in used:
                raise self.unusual("there are quotes among the rows")
            # Neither a whole row nor the end: read more.
            if not rows.num_rows and rows.end is None:
                if is_last:
                    raise self.unended(text, rows.first)
                size *= 2
                if size > MAX_PIECE:
                    raise self.unusual("a row does not end")
                continue
            if rows.num_rows:
                # Nothing but a comma may be between rows of two pieces.
                before = _BETWEEN if num_rows else _SPACE
                if not before.fullmatch(text, 0, rows.first):
                    raise self.unusual(
                        "there is something besides a comma between two rows"
                    )
                # The position of the first row.
                self.advance(raw[: rows.first])
                span.pieces.append(
                    Piece(
                        pos + rows.first,
                        rows.stop - rows.first,
                        num_rows,
                        rows.num_rows,
                        self.line,
                        self.column,
                    )
                )
                self.advance(raw[rows.first : rows.stop])
                num_rows += rows.num_rows
            if rows.end is not None:
                # After the last row a comma and blanks may follow; an empty list is
                # left to YAML.
                if not _TAIL.fullmatch(text, rows.stop, rows.end) or not num_rows:
                    raise self.unusual("there is something after the last row")
                self.advance(raw[rows.stop : rows.end + 1])
                return pos + rows.end + 1
            # The next piece begins behind the last whole row.
            pos += rows.stop
            size = PIECE

    def unended(self, text: bytes, first: int) -> UnusualError:
        """Return the error for a file that ends within its rows.

        `first` is the offset of the first bracket in the last piece.
        """
        self.advance(text[:first])
        location = Location(self.source.path, self.line, self.column)
        message = "the file ends among the rows"
        # The last row begins and does not end.
        if first < len(text):
            message = "the file ends within a row"
        error = UnusualError(message, location)
        # A bracket in quotes is none: then only a YAML parse finds the fault.
        if b'"' not in text and b"'" not in text:
            error.__cause__ = NOT_YAML.error(message, location)
        return error

    def advance(self, part: bytes) -> None:
        """Move line and column over a part of the text.

        It has one byte for each character.
        """
        self.line += part.count(b"\n")
        last = part.rfind(b"\n")
        if last >= 0:
            # The column counts from the last line feed, which is column 0.
            self.column = len(part) - last
        else:
            self.column += len(part)


class _FlowRows(NamedTuple):
    """Rows `[…], […]` in a piece of text."""

    first: int
    """The offset of the first bracket; the length of the piece where it has none."""
    stop: int
    """The offset after the last whole row; 0 where there is none."""
    end: int | None
    """The offset of the bracket that closes the list of rows, if it is there."""
    num_rows: int
    """The number of whole rows."""


def _find_flow_rows(text: bytes) -> _FlowRows:
    """Find the whole rows in a piece of a flow sequence."""
    # Bytes as numbers: brackets are found without a loop.
    codes = np.frombuffer(text, np.uint8)
    brackets = np.flatnonzero((codes == ord("[")) | (codes == ord("]")))
    # 1 for an opening bracket, and -1 for a closing one, whose code is greater by 2.
    step = 92 - codes[brackets].astype(np.int8)
    depth = np.cumsum(step, dtype=np.int32)
    end = None
    inside = slice(None)
    # The first closing bracket without an opening one ends the list of rows.
    outside = np.flatnonzero(depth < 0)
    if len(outside):
        end = int(brackets[outside[0]])
        inside = slice(int(outside[0]))
    # A row ends where a closing bracket returns to depth 0; inner ones are of poses.
    closes_row = (depth[inside] == 0) & (step[inside] < 0)
    closing = brackets[inside][closes_row]
    return _FlowRows(
        first=int(brackets[0]) if len(brackets) else len(text),
        stop=int(closing[-1]) + 1 if len(closing) else 0,
        end=end,
        num_rows=len(closing),
    )
