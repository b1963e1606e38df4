"""Knowing an MJCF file by its first bytes."""

from __future__ import annotations

import re

__all__ = ["looks_like_mjcf"]

_START = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml.{0,2000}?\?>\s*|<!--.{0,60000}?-->\s*|<!DOCTYPE[^>\[]{0,2000}>\s*)*<mujoco(?:include)?[\s/>]",
    re.DOTALL,
)


def looks_like_mjcf(head: bytes) -> bool:
    """Whether a file that begins like this has `<mujoco>` for its root."""
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        head = head.decode("utf-16", "ignore").encode()
    return _START.match(head) is not None
