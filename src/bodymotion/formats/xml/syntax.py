"""Positions in the text of an XML file, misspelt names, and explained syntax errors."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from xml.parsers import expat

from bodymotion.diagnostics.spelling import character_name, meant

# [bytes] The part of a tag that is searched, so that a huge tag takes no time.
MAX_TAG_BYTES = 20_000
# [bytes] The part of the file in which the name of an end tag is searched.
MAX_NAME_BYTES = 200

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
_ATTRIBUTE_START = re.compile(rb"\s+(" + _NAME + rb")\s*(=?)\s*([\"']?)")
_CLOSING = re.compile(rb"(?:</)?(" + _NAME + rb")")
_TAG = re.compile(rb"<" + _NAME)
_UNKNOWN = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos);|#)[^;\s<&]{0,60};?")
_REFERENCE = re.compile(rb"&(?!(?:#[0-9]+|#x[0-9A-Fa-f]+|[A-Za-z_][\w.-]*);)")

_CODES = expat.errors.codes
_NO_ELEMENTS = _CODES[expat.errors.XML_ERROR_NO_ELEMENTS]
_SYNTAX = _CODES[expat.errors.XML_ERROR_SYNTAX]
_TAG_MISMATCH = _CODES[expat.errors.XML_ERROR_TAG_MISMATCH]
_UNDEFINED_ENTITY = _CODES[expat.errors.XML_ERROR_UNDEFINED_ENTITY]
_DUPLICATE_ATTRIBUTE = _CODES[expat.errors.XML_ERROR_DUPLICATE_ATTRIBUTE]
_INVALID_TOKEN = _CODES[expat.errors.XML_ERROR_INVALID_TOKEN]
_UNCLOSED_TOKEN = _CODES[expat.errors.XML_ERROR_UNCLOSED_TOKEN]


class OpenTag(NamedTuple):
    """An element that is not closed yet, and the line of its start tag."""

    name: str
    line: int


class Explanation(NamedTuple):
    """What is wrong, and the byte that it is about.

    None where expat stopped.
    """

    message: str
    position: int | None = None


def closest_name(word: str, known: Iterable[str]) -> str | None:
    """Return the known name that a misspelt one is closest to.

    None where none is close. Three letters may be in another order.
    """
    # A name with a prefix belongs to another program.
    if ":" in word:
        return None
    names = list(known)
    similar = meant(word, names)
    if similar or len(word) != 3:
        return similar
    # xzy for xyz: words this short have no other similar ones.
    letters = sorted(word.lower())
    for name in names:
        if sorted(name.lower()) == letters:
            return name
    return None


def attribute_position(data: bytes, start: int, name: str) -> tuple[int, int] | None:
    """Return the position of an attribute of a tag.

    The tag begins at the byte `start`.

    It is the number of lines below the tag, and the column in that line, from 1. In the
    line of the tag, the column is relative to the `<`. None where the attribute is not
    found.
    """
    # expat gives the position of tags only: the attributes are searched in the bytes.
    tag = data[start : start + MAX_TAG_BYTES]
    wanted = name.encode("utf-8", "replace")
    opened = _TAG.match(tag)
    if opened is None:
        return None
    end = opened.end()
    while (attribute := _ATTRIBUTE.match(tag, end)) is not None:
        if attribute[1] == wanted:
            before = tag[: attribute.start(1)]
            lines_below = len(re.findall(rb"\r\n?|\n", before))
            characters = len(_text(re.split(rb"[\r\n]", before)[-1]))
            if lines_below:
                return lines_below, characters + 1
            return 0, characters
        end = attribute.end()
    return None


def line_and_column(data: bytes, position: int) -> tuple[int, int]:
    """Return line and column, from 1, of a byte of a file."""
    before = data[:position]
    start = max(before.rfind(b"\n"), before.rfind(b"\r")) + 1
    # A line ends with \n, \r or \r\n.
    lines = before.count(b"\n") + before.count(b"\r") - before.count(b"\r\n")
    return lines + 1, len(_text(before[start:])) + 1


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def explain_syntax_error(
    data: bytes, position: int, code: int, open_tags: Sequence[OpenTag]
) -> Explanation:
    """Explain what is wrong where expat stopped.

    That is at a byte, with one of its error codes. `open_tags` are the elements that
    are open there, the outermost first.
    """
    if code in (_NO_ELEMENTS, _SYNTAX) and not open_tags:
        if data.strip():
            return Explanation("the file has no element; expected XML")
        return Explanation("the file is empty; expected XML")
    # The explanations search for ASCII bytes, which UTF-16 does not have.
    is_utf16 = b"\0" in data[:4]
    if position < 0 or is_utf16:
        return Explanation(expat.ErrorString(code) or "")
    if code == _TAG_MISMATCH:
        return Explanation(_explain_end_tag(data, position, open_tags))
    if code == _NO_ELEMENTS:
        return Explanation(f"the file ends too early: {_still_open(open_tags[-1])}")
    if code == _UNDEFINED_ENTITY:
        return _explain_entity(data, position)
    if code == _DUPLICATE_ATTRIBUTE:
        name = re.match(_NAME, data[position : position + 80])
        shown = _text(name.group()) if name else ""
        return Explanation(f"the attribute {shown} is twice in one tag")
    if code in (_INVALID_TOKEN, _UNCLOSED_TOKEN):
        # Behind the root, expat reports </ as an invalid token.
        if not open_tags and data[max(position - 1, 0) : position + 1] == b"</":
            return Explanation(_explain_end_tag(data, position - 1, open_tags))
        # expat stops where it cannot go on, often far behind the fault: the tag is read
        # again from its start.
        in_tag = _explain_tag(data, position)
        return in_tag or Explanation(_explain_character(data, position, code))
    message = expat.ErrorString(code)
    return Explanation(_MESSAGES.get(message, message) or "")


def _explain_entity(data: bytes, position: int) -> Explanation:
    """Explain a `&name;` that is not defined."""
    entity = _UNKNOWN.search(data, position, position + MAX_TAG_BYTES)
    shown = _text(entity.group()) if entity else "&…;"
    message = (
        f"{shown} is not defined: & itself is written &amp;; defined are also &lt; "
        "&gt; &quot; &apos;"
    )
    return Explanation(message, entity.start() if entity else None)


def _still_open(tag: OpenTag) -> str:
    return (
        f"<{tag.name:.60}> from line {tag.line} is not closed: add </{tag.name:.60}>, "
        f"or write <{tag.name:.60} …/>"
    )


def _explain_end_tag(data: bytes, position: int, open_tags: Sequence[OpenTag]) -> str:
    """Explain an end tag that closes no element, or not the innermost one."""
    closing = _CLOSING.match(data[position : position + MAX_NAME_BYTES])
    name = _text(closing[1])[:60] if closing else "…"
    if not open_tags:
        return f"</{name}> closes nothing"
    inner = open_tags[-1]
    # Either the start tag is misspelt, or the end tag, or an end tag is missing.
    is_open = any(tag.name == name for tag in open_tags)
    if is_open and closest_name(inner.name, (name,)):
        return f"<{inner.name:.60}> is closed by </{name}>: did you mean <{name}>?"
    if closest_name(name, (inner.name,)):
        return (
            f"</{name}> closes nothing: did you mean </{inner.name:.60}>, for "
            f"<{inner.name:.60}> from line {inner.line}?"
        )
    return f"</{name}> closes nothing here: {_still_open(inner)}"


def _explain_tag(data: bytes, position: int) -> Explanation | None:
    """Explain what is wrong in the tag around or before a byte.

    None where it is something else.
    """
    start = data.rfind(b"<", 0, position)
    if start < 0 or position - start > MAX_TAG_BYTES:
        return None
    tag = data[start : position + MAX_TAG_BYTES]
    opened = _TAG.match(tag)
    is_markup = tag[1:2] in b"!?"
    if opened is None or is_markup:
        return None
    # Pass over the attributes that are whole.
    end = opened.end()
    last = None
    while (attribute := _ATTRIBUTE.match(tag, end)) is not None:
        lone = _REFERENCE.search(tag, attribute.start(), attribute.end())
        if lone is not None:
            return _explain_ampersand(start + lone.start())
        end = attribute.end()
        last = attribute
    # The whole attributes reach beyond the fault: it is not in this tag.
    if end > position - start:
        return None
    rest = tag[end:]
    if re.match(rb"\s*<", rest):
        name = _text(opened.group()[1:])[:60]
        return Explanation(f"the tag <{name}> has no end: > or /> is missing", start)
    if re.match(rb"\s*/?>", rest):
        lone = _REFERENCE.search(tag, end, position - start + 2)
        return _explain_ampersand(start + lone.start()) if lone else None
    is_glued = last is not None and re.match(rb"[^\s/>]", rest)
    if last is not None and is_glued:
        return _explain_end_of_value(last, start, end)
    return _explain_attribute(tag, start, end)


def _explain_ampersand(position: int) -> Explanation:
    message = "a & begins a reference such as &lt;; & itself is written &amp;"
    return Explanation(message, position)


def _explain_end_of_value(last: re.Match[bytes], start: int, end: int) -> Explanation:
    """Explain an attribute that is followed by something without a space."""
    # Groups 2 and 3 are the value in either kind of quotes.
    value = last[3] if last[2] is None else last[2]
    name = _text(last[1])[:60]
    # A value with = or a line break goes on into the next attribute.
    if b"=" in value or b"\n" in value:
        message = f"the quote at the end of {name} is missing"
        return Explanation(message, start + last.start(1))
    message = f"a space is missing after the value of {name}"
    return Explanation(message, start + end)


def _explain_attribute(tag: bytes, start: int, end: int) -> Explanation | None:
    """Explain what is wrong in the attribute behind byte `end` of a tag."""
    attribute = _ATTRIBUTE_START.match(tag, end)
    if attribute is None:
        return None
    name = _text(attribute[1])[:60]
    position = start + attribute.start(1)
    if not attribute[2]:
        message = f'the attribute {name} has no value: write {name}="…"'
        return Explanation(message, position)
    if not attribute[3]:
        message = f'the value of {name} does not begin with a quote: write {name}="…"'
        return Explanation(message, position)
    # What comes first explains the fault: a &, the closing quote, or a <.
    lone = _REFERENCE.search(tag, end)
    quote = tag.find(attribute[3], attribute.end())
    following = tag.find(b"<", end)
    ends = [place for place in (quote, following) if place >= 0]
    if lone is not None and all(lone.start() < place for place in ends):
        return _explain_ampersand(start + lone.start())
    no_quote = Explanation(f"the quote at the end of {name} is missing", position)
    if quote < 0:
        return no_quote
    if 0 <= following < quote:
        # A short text without = or a quote is no tag that follows.
        if re.fullmatch(rb"<\s?[^<>=\"'\n]{0,40}", tag[following:quote]):
            return Explanation("a < in a value is written &lt;", start + following)
        return no_quote
    return None


def _explain_character(data: bytes, position: int, code: int) -> str:
    """Explain a character that cannot be at a byte of the file."""
    here = data[position : position + 1]
    before = data[max(position - 1, 0) : position]
    if code == _UNCLOSED_TOKEN:
        if data[position : position + 4] == b"<!--":
            return "a comment has no end: --> is missing"
        return "a tag has no end: > is missing"
    if b"&" in (here, before):
        return _explain_ampersand(position).message
    if b"<" in (here, before):
        return "a < is not followed by a name; < itself is written &lt;"
    # In a comment if one begins later than the last one ends.
    begins_comment = data.rfind(b"<!--", 0, position)
    is_in_comment = begins_comment > data.rfind(b"-->", 0, position - 2)
    if is_in_comment and b"--" in data[max(position - 2, 0) : position + 2]:
        return "a comment contains --, which is not allowed"
    if not here:
        return "the file ends too early"
    if here[0] < 32 or here[0] == 127:
        return f"the control character {here[0]:#04x} is not allowed in XML"
    if here[0] > 127:
        return _explain_letter(data, position)
    return f"{_text(here)!r} is not allowed here"


def _explain_letter(data: bytes, position: int) -> str:
    """Explain a byte beyond ASCII: a letter, or a byte of another encoding."""
    # A character has up to four bytes.
    letter = data[position : position + 4].decode("utf-8", "ignore")[:1]
    if letter and data.startswith(letter.encode(), position):
        return f"the character {character_name(letter)} cannot be here"
    return (
        f"the byte {data[position]:#04x} is not a character in the encoding of the "
        "file: save the file as UTF-8, or name its encoding in "
        "<?xml version='1.0' encoding='…'?>"
    )
