"""Positions in the text of an XML file, misspelt names, and explanations of what is wrong with a file that is not well-formed."""

import re
from collections.abc import Iterable, Sequence
from xml.parsers import expat

from bodymotion.diagnostics.spelling import character_name, meant

MAX_TAG_BYTES = 20_000  # The part of a tag that is searched.
STAND_INS = "\x7f~^`|$%*?!"  # Characters that XML allows without an escape; the first that a file does not have replaces a lone &.

_ROOTS = ("robot", "mujoco", "mujocoinclude", "COLLADA")

_MESSAGES = {
    expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT: "the file has content after the "
    "end of its root element: there is "
    "one </…> too many, "
    "or a second root element",
    expat.errors.XML_ERROR_MISPLACED_XML_PI: "<?xml …?> is not at the beginning of "
    "the file; nothing may be before it",
}
_NAME = rb"[^\s<>/=\"'&]+"
_ATTRIBUTE = re.compile(rb"\s+(" + _NAME + rb")\s*=\s*(?:\"([^\"<]*)\"|'([^'<]*)')")
_CLOSING = rb"(?:</)?(" + _NAME + rb")"
_TAG = re.compile(rb"<" + _NAME)
_UNKNOWN = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos);|#)[^;\s<&]{0,60};?")
_REFERENCE = re.compile(rb"&(?!(?:#[0-9]+|#x[0-9A-Fa-f]+|[A-Za-z_][\w.-]*);)")


def closest_name(word: str, known: Iterable[str]) -> str | None:
    """Return the known name that a misspelt one is closest to.

    None where none is close. Three letters may be in another order.
    """
    names = list(known)
    if ":" in word:
        return None
    mixed = (
        name
        for name in names
        if len(word) == len(name) == 3 and sorted(word.lower()) == sorted(name.lower())
    )
    return meant(word, names) or next(mixed, None)


def attribute_position(data: bytes, at: int, name: str) -> tuple[int, int] | None:
    """Return the position of an attribute of the tag at byte `at`.

    Lines below the tag, and the column (from 1) in that line.

    In the line of the tag, the column is relative to the `<`. None where the attribute
    is not found.
    """
    tag = data[at : at + MAX_TAG_BYTES]
    wanted = name.encode("utf-8", "replace")
    opened = _TAG.match(tag)
    if opened is not None:
        end = opened.end()
    else:
        end = None
    while end is not None:
        found = _ATTRIBUTE.match(tag, end)
        if found is None:
            return None
        if found[1] == wanted:
            before = tag[: found.start(1)]
            down = len(re.findall(rb"\r\n?|\n", before))
            right = len(_text(re.split(rb"[\r\n]", before)[-1]))
            return down, right + 1 if down else right
        end = found.end()
    return None


def line_and_column(data: bytes, at: int) -> tuple[int, int]:
    """Return line and column, from 1, of a byte of a file."""
    start = max(data.rfind(b"\n", 0, at), data.rfind(b"\r", 0, at)) + 1
    lines = (
        data.count(b"\n", 0, at) + data.count(b"\r", 0, at) - data.count(b"\r\n", 0, at)
    )
    return lines + 1, len(_text(data[start:at])) + 1


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def with_tag_corrected(
    data: bytes, at: int, name: str, start: int
) -> tuple[bytes, int | None] | None:
    """Return the data with a misspelt tag as it is meant, and its byte unless it is the one at `at`.

    None where it is not clear.

    It is the end tag at byte `at`, or the start tag at byte `start` of the element
    `name` that it closes.
    """
    found = re.compile(_CLOSING).match(data, at)
    if found is not None:
        closing = _text(found[1])
    else:
        closing = ""
    if found is None or not (
        closest_name(closing, (name,)) or closest_name(name, (closing,))
    ):
        return None
    if closing in _ROOTS or re.search(rb"<" + re.escape(found[1]) + rb"[\s/>]", data):
        return data[: start + 1] + found[1] + data[
            start + 1 + len(name.encode()) :
        ], start
    return data[: found.start(1)] + name.encode() + data[found.end(1) :], None


def with_fault_replaced(data: bytes, at: int, code: int, stand_in: str) -> bytes | None:
    """Return data of the same length without a & that is no reference (`stand_in` instead, if any), or without a repeated attribute."""
    if data[at : at + 1] != b"&" and data[max(at - 1, 0) : at] == b"&":
        at -= 1
    if data[at : at + 1] == b"&":
        if stand_in:
            return data[:at] + stand_in.encode() + data[at + 1 :]
        return None
    is_twice = code == expat.errors.codes[expat.errors.XML_ERROR_DUPLICATE_ATTRIBUTE]
    if is_twice:
        found = _ATTRIBUTE.match(data, max(at - 1, 0))
    else:
        found = None
    return (
        found
        and data[: found.start()]
        + re.sub(rb"[^\r\n]", b" ", found[0])
        + data[found.end() :]
    )


def explain_syntax_error(
    data: bytes, at: int, code: int, open_tags: Sequence[tuple[str, int]]
) -> tuple[str, int | None]:
    """Explain what is wrong where expat stopped, at byte `at` with one of its error codes.

    Parameters
    ----------
    open_tags:
        Name and line of the elements that are open there, the outermost first.

    Returns
    -------
    The message, and the byte that it is about, None for `at`.
    """
    of_code = expat.errors.codes
    if (
        code
        in (
            of_code[expat.errors.XML_ERROR_NO_ELEMENTS],
            of_code[expat.errors.XML_ERROR_SYNTAX],
        )
        and not open_tags
    ):
        return (
            "the file has no element; expected XML"
            if data.strip()
            else "the file is empty; expected XML",
            None,
        )
    if at < 0 or b"\0" in data[:4]:
        return expat.ErrorString(code) or "", None
    if code == of_code[expat.errors.XML_ERROR_TAG_MISMATCH]:
        return _closes_nothing(data, at, open_tags), None
    if code == of_code[expat.errors.XML_ERROR_NO_ELEMENTS]:
        return f"the file ends too early: {_still_open(open_tags[-1])}", None
    if code == of_code[expat.errors.XML_ERROR_UNDEFINED_ENTITY]:
        sign = _UNKNOWN.search(data, at, at + MAX_TAG_BYTES)
        if sign:
            shown = _text(sign.group())
        else:
            shown = "&…;"
        message = f"{shown} is not defined: & itself is written &amp;; defined are also &lt; &gt; &quot; &apos;"
        return message, sign.start() if sign else None
    if code == of_code[expat.errors.XML_ERROR_DUPLICATE_ATTRIBUTE]:
        name = re.match(_NAME, data[at : at + 80])
        return (
            f"the attribute {_text(name.group()) if name else ''} is twice in one tag",
            None,
        )
    if code in (
        of_code[expat.errors.XML_ERROR_INVALID_TOKEN],
        of_code[expat.errors.XML_ERROR_UNCLOSED_TOKEN],
    ):
        if not open_tags and data[max(at - 1, 0) : at + 1] == b"</":
            return _closes_nothing(data, at - 1, open_tags), None
        return _in_tag(data, at) or (_unreadable(data, at, code), None)
    return _MESSAGES.get(expat.ErrorString(code), expat.ErrorString(code)) or "", None


def _still_open(tag: tuple[str, int]) -> str:
    name, line = tag
    return f"<{name:.60}> from line {line} is not closed: add </{name:.60}>, or write <{name:.60} …/>"


def _closes_nothing(data: bytes, at: int, open_tags: Sequence[tuple[str, int]]) -> str:
    found = re.match(_CLOSING, data[at : at + 200])
    if found:
        name = _text(found[1])[:60]
    else:
        name = "…"
    if not open_tags:
        return f"</{name}> closes nothing"
    inner, line = open_tags[-1]
    if closest_name(inner, (name,)) and name in (tag for tag, _ in open_tags):
        return f"<{inner:.60}> is closed by </{name}>: did you mean <{name}>?"
    if closest_name(name, (inner,)):
        return f"</{name}> closes nothing: did you mean </{inner:.60}>, for <{inner:.60}> from line {line}?"
    return f"</{name}> closes nothing here: {_still_open(open_tags[-1])}"


def _in_tag(data: bytes, at: int) -> tuple[str, int | None] | None:
    """Explain what is wrong in the tag around or before a byte.

    None where it is something else.
    """
    start = data.rfind(b"<", 0, at)
    if start < 0 or at - start > MAX_TAG_BYTES:
        return None
    tag = data[start : at + MAX_TAG_BYTES]
    opened = _TAG.match(tag)
    if opened is None or tag[1:2] in b"!?":
        return None
    end = opened.end()
    last = None
    while (found := _ATTRIBUTE.match(tag, end)) is not None:
        if (sign := _REFERENCE.search(tag, found.start(), found.end())) is not None:
            return _ampersand(start + sign.start())
        end = found.end()
        last = found
    if end > at - start:
        return None
    if re.match(rb"\s*<", tag[end:]):
        return (
            f"the tag <{_text(opened.group()[1:])[:60]}> has no end: > or /> is "
            "missing",
            start,
        )
    if re.match(rb"\s*/?>", tag[end:]):
        sign = _REFERENCE.search(tag, end, at - start + 2)
        if sign is not None:
            return _ampersand(start + sign.start())
        return None
    return _broken_attribute(tag, start, end, last)


def _ampersand(at: int) -> tuple[str, int]:
    return "a & begins a reference such as &lt;; & itself is written &amp;", at


def _broken_attribute(
    tag: bytes, start: int, end: int, last: re.Match[bytes] | None
) -> tuple[str, int | None] | None:
    if last is not None and re.match(rb"[^\s/>]", tag[end:]):
        if last[2] is not None:
            value = last[2]
        else:
            value = last[3]
        name = _text(last[1])[:60]
        if b"=" in value or b"\n" in value:
            return f"the quote at the end of {name} is missing", start + last.start(1)
        return f"a space is missing after the value of {name}", start + end
    found = re.match(rb"\s+(" + _NAME + rb")\s*(=?)\s*([\"']?)", tag[end:])
    if found is None:
        return None
    name = _text(found[1])[:60]
    position = start + end + found.start(1)
    if not found[2]:
        return f'the attribute {name} has no value: write {name}="…"', position
    if not found[3]:
        return (
            f'the value of {name} does not begin with a quote: write {name}="…"',
            position,
        )
    sign = _REFERENCE.search(tag, end)
    quote = tag.find(found[3], end + found.end())
    following = tag.find(b"<", end)
    if (
        sign is not None
        and (quote < 0 or sign.start() < quote)
        and (following < 0 or sign.start() < following)
    ):
        return _ampersand(start + sign.start())
    if following >= 0 and (quote < 0 or following < quote):
        if quote >= 0 and re.fullmatch(rb"<\s?[^<>=\"'\n]{0,40}", tag[following:quote]):
            return "a < in a value is written &lt;", start + following
        return f"the quote at the end of {name} is missing", position
    if quote < 0:
        return (f"the quote at the end of {name} is missing", position)
    return None


def _unreadable(data: bytes, at: int, code: int) -> str:
    here = data[at : at + 1]
    before = data[max(at - 1, 0) : at]
    if code == expat.errors.codes[expat.errors.XML_ERROR_UNCLOSED_TOKEN]:
        comment = data[at : at + 4] == b"<!--"
        if comment:
            return "a comment has no end: --> is missing"
        return "a tag has no end: > is missing"
    if here == b"&" or before == b"&":
        return _ampersand(at)[0]
    if here == b"<" or before == b"<":
        return "a < is not followed by a name; < itself is written &lt;"
    if here and (here[0] < 32 or here[0] == 127):
        return f"the control character {here[0]:#04x} is not allowed in XML"
    if here and here[0] > 127:
        # A character of up to four bytes.
        letter = data[at : at + 4].decode("utf-8", "ignore")[:1]
        if letter and data.startswith(letter.encode(), at):
            return f"the character {character_name(letter)} cannot be here"
        return (
            f"the byte {here[0]:#04x} is not a character in the encoding of the file: "
            "save the file as UTF-8, "
            "or name its encoding in <?xml version='1.0' encoding='…'?>"
        )
    if b"--" in data[max(at - 2, 0) : at + 2] and data.rfind(
        b"<!--", 0, at
    ) > data.rfind(b"-->", 0, at - 2):
        return "a comment contains --, which is not allowed"
    if here:
        return f"{_text(here)!r} is not allowed here"
    return "the file ends too early"
