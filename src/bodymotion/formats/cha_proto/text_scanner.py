"""The words of the protobuf text format, one after the other.

::

    message   = { field [";" | ","] }
    field     = name ":" value | name [":"] "{" message "}" | name [":"] "<" message ">"
    value     = ["-"] word | text { text } | "[" [value { "," value }] "]"
    name      = word | "[" word { ("." | "/") word } "]"
    text      = between quotes of one kind, with escapes as in C
    comment   = "#" up to the end of the line
"""

from __future__ import annotations

import re

from bodymotion.diagnostics import FormatError, Location
from bodymotion.formats.cha_proto.rules import TEXT

__all__ = ["Scanner"]

_BLANK = re.compile(r"(?:[ \t\r\n\f\v]+|#[^\n]*)*")
_TOKEN = re.compile(r""""(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[A-Za-z_][A-Za-z0-9_]*|[0-9.][A-Za-z0-9_.]*|[\s\S]""")
_EXPONENT = re.compile(r"[+-][0-9]+[fF]?")
_EXTENSION = re.compile(r"\s*([\w.%/-]{1,200})\s*\]", re.ASCII)
_ESCAPE = re.compile(
    rb"\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([abfnrtv?\\'\"])|(.?))", re.DOTALL
)
_PLAIN = {b"a": 7, b"b": 8, b"f": 12, b"n": 10, b"r": 13, b"t": 9, b"v": 11}
_CLOSING = {"{": "}", "<": ">", "[": "]"}
_NUMBER = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fF]?")
_WHOLE = re.compile(r"0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*")
_LONGEST_NUMBER = 400
_SHOWN = 40


class Scanner:
    """A place in a text, and what comes next there."""

    def __init__(self, text: str, location: Location) -> None:
        self.text, self.location, self.at = text, location, 0
        self.start = 0
        """Where the last token began."""

    def error(self, message: str, at: int | None = None) -> FormatError:
        """Make the error that the text is at fault at its last token."""
        at = self.start if at is None else at
        line = self.text.count("\n", 0, at) + 1
        column = at - self.text.rfind("\n", 0, at)
        return TEXT.error(message, Location(self.location.path, line, column))

    def peek(self) -> str:
        """Return the first character of the next token, "" at the end."""
        found = _BLANK.match(self.text, self.at)
        assert found is not None
        self.at = found.end()
        return self.text[self.at : self.at + 1]

    def take(self) -> str:
        """Return the next token; "" at the end."""
        if not self.peek():
            self.start = self.at
            return ""
        found = _TOKEN.match(self.text, self.at)
        assert found is not None
        self.start, self.at = self.at, found.end()
        token = found.group()
        if token[0] in "0123456789." and token[-1] in "eE" and not token.startswith(("0x", "0X")):
            exponent = _EXPONENT.match(self.text, self.at)
            if exponent is not None:
                self.at = exponent.end()
                token += exponent.group()
        return token

    def accept(self, token: str) -> bool:
        """Take the next token if it is this one character."""
        if self.peek() != token:
            return False
        self.start = self.at
        self.at += 1
        return True

    def opened(self) -> str:
        """Take the bracket that opens a message, and give the one that closes it."""
        token = self.take()
        if token not in ("{", "<"):
            raise self.error(f"expected {{ of a message, found {_said(token)}")
        return _CLOSING[token]

    def name(self) -> str:
        """Take the name of a field; that of an extension with its brackets."""
        token = self.take()
        if token == "[":
            extension = _EXTENSION.match(self.text, self.at)
            if extension is None:
                raise self.error("expected the name of an extension and ]")
            self.at = extension.end()
            return f"[{extension[1]}]"
        if not token or not (token[0].isalpha() or token[0] == "_"):
            raise self.error(f"expected the name of a field, found {_said(token)}")
        return token

    def double(self) -> float:
        """Take a number."""
        negative = self.accept("-")
        token = self.take()
        low = token.lower()
        if low in ("inf", "inff", "infinity", "infinityf"):
            value = float("inf")
        elif low in ("nan", "nanf"):
            value = float("nan")
        elif len(token) <= _LONGEST_NUMBER and _NUMBER.fullmatch(token):
            value = float(token.rstrip("fF"))
        elif len(token) <= _LONGEST_NUMBER and _WHOLE.fullmatch(token):
            value = float(int(token, 16))
        else:
            raise self.error(f"expected a number, found {_said(token)}")
        return -value if negative else value

    def whole(self, bits: int) -> int:
        """Take a whole number of so many bits."""
        negative = self.accept("-")
        token = self.take()
        if len(token) > _LONGEST_NUMBER or not _WHOLE.fullmatch(token):
            raise self.error(f"expected a whole number, found {_said(token)}")
        value = int(token, 16 if token[1:2] in ("x", "X") else 8 if token[0] == "0" else 10)
        value = -value if negative else value
        if not -(1 << (bits - 1)) <= value < 1 << (bits - 1):
            raise self.error(f"{_said(token)} is no number of {bits} bits")
        return value

    def truth(self) -> bool:
        """Take true or false, or 1 or 0."""
        token = self.take()
        if token in ("true", "True", "t", "1"):
            return True
        if token in ("false", "False", "f", "0"):
            return False
        raise self.error(f"expected true or false, found {_said(token)}")

    def string(self) -> str:
        """Take a text, or several that follow each other."""
        parts: list[bytes] = []
        while not parts or self.peek() in ("'", '"'):
            token = self.take()
            if len(token) < 2 or token[0] not in "'\"":
                raise self.error(f"expected a text between quotes, found {_said(token)}")
            # Undecodable bytes of the file, and halves of surrogate pairs, come back as the error below.
            parts.append(_ESCAPE.sub(self._unescaped, token[1:-1].encode("utf-8", "surrogatepass")))
        try:
            return b"".join(parts).decode("utf-8")
        except UnicodeDecodeError:
            raise self.error("the text is not UTF-8") from None

    def _unescaped(self, found: re.Match[bytes]) -> bytes:
        octal, hexadecimal, short, long, plain, other = found.groups()
        if octal is not None:
            return bytes([int(octal, 8) & 255])
        if hexadecimal is not None:
            return bytes([int(hexadecimal, 16)])
        if short is not None or long is not None:
            code = int(short or long, 16)
            if code > 0x10FFFF:
                raise self.error(f"there is no character U+{code:X}")
            return chr(code).encode("utf-8", "surrogatepass")
        if plain is not None:
            return bytes([_PLAIN[plain]]) if plain in _PLAIN else plain
        raise self.error(f"there is no escape \\{other.decode('utf-8', 'replace')}")

    def skip_value(self) -> None:
        """Pass over the value of an unknown field, whatever it is."""
        self.accept(":")
        open_brackets: list[str] = []
        while True:
            token = self.take()
            if token in _CLOSING:
                open_brackets.append(_CLOSING[token])
            elif token in ("}", ">", "]"):
                if not open_brackets or open_brackets.pop() != token:
                    raise self.error(f"expected a value, found {_said(token)}")
            elif not token:
                raise self.error("the text ends within a value")
            elif not open_brackets and token == "-":
                continue
            if not open_brackets:
                break
        while token[0] in "'\"" and self.peek() in ("'", '"'):
            self.take()

    def after_field(self) -> None:
        """Pass over what may stand between two fields."""
        if not self.accept(";"):
            self.accept(",")


def _said(token: str) -> str:
    if not token:
        return "the end of the text"
    return repr(token if len(token) <= _SHOWN else token[:_SHOWN] + "…")
