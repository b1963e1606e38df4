"""Whether a file is a .body model, by how it starts."""

from __future__ import annotations

import codecs
import re

__all__ = ["looks_like_body"]

_FORMAT = re.compile(rb"(?:^|[\s{,])[\"']?format[\"']?\s*:\s*[\"']?ChoreonoidBody(?![A-Za-z0-9_])")


def looks_like_body(head: bytes) -> bool:
    """Whether the first bytes of a file say `format: ChoreonoidBody`."""
    if head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        head = head[2:].replace(b"\0", b"")
    return _FORMAT.search(head.removeprefix(codecs.BOM_UTF8)) is not None
