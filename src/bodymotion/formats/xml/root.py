"""The name of the root element of an XML file, from its first bytes: what formats in XML are known by.

What may stand before it is passed over piece by piece, each looked at once: a byte order mark, white space, `<?…?>`, comments, a DOCTYPE
with or without declarations in brackets.
"""

from __future__ import annotations

import re

__all__ = ["root_element"]

_SPACE = re.compile(rb"\s*+")
_NAME = re.compile(rb"<([A-Za-z_][\w.:-]*+)(?=[\s/>])")


def root_element(head: bytes) -> str:
    """Return the name of the first element of a file that begins like this; empty where it is not XML, or the element comes later."""
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        head = head.decode("utf-16", "ignore").encode()
    at = 3 if head.startswith(b"\xef\xbb\xbf") else 0
    while True:
        found = _SPACE.match(head, at)
        at = found.end() if found else at
        end = _end_of_piece(head, at)
        if end is None:
            break
        if end < 0:
            return ""
        at = end
    name = _NAME.match(head, at)
    return "" if name is None else name[1].decode("latin-1")


def _end_of_piece(head: bytes, at: int) -> int | None:
    """Return where a piece that begins at a place ends; -1 where it does not end, None where no such piece begins."""
    if head.startswith(b"<?", at):
        return _after(head, b"?>", at + 2)
    if head.startswith(b"<!--", at):
        return _after(head, b"-->", at + 4)
    if head.startswith(b"<!DOCTYPE", at):
        close, bracket = head.find(b">", at), head.find(b"[", at)
        if 0 <= bracket < close:
            bracket = head.find(b"]", bracket)
            close = head.find(b">", bracket) if bracket >= 0 else -1
        return close + 1 if close >= 0 else -1
    return None


def _after(head: bytes, what: bytes, start: int) -> int:
    found = head.find(what, start)
    return -1 if found < 0 else found + len(what)
