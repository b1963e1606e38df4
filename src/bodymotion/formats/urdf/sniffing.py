"""Whether a file is a URDF model, by how it starts."""

from __future__ import annotations

import codecs
import re

__all__ = ["looks_like_urdf"]

_BEFORE = re.compile(rb"\s*(<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>\[]*(\[.*?\]\s*)?>|\s+)*", re.DOTALL)
_ROOT = re.compile(rb"<robot[\s/>]")


def looks_like_urdf(head: bytes) -> bool:
    """Whether the first element in the first bytes of a file is `<robot>`."""
    if head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        head = head[2:].replace(b"\0", b"")
    head = head.removeprefix(codecs.BOM_UTF8)
    if b"<robot" not in head:
        return False
    found = _BEFORE.match(head)
    return found is not None and _ROOT.match(head, found.end()) is not None
