"""Typefaces for names in any script, as pictures need them; and what is said when this machine has none for a letter."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterable

__all__ = ["FAMILIES", "FILES", "say_missing"]

_JAPANESE = (
    ("Noto Sans CJK JP", "NotoSansCJK-Regular.ttc"),
    ("Noto Sans JP", "NotoSansJP-Regular.ttf"),
    ("Source Han Sans JP", "SourceHanSansJP-Regular.otf"),
    ("IPAexGothic", "ipaexg.ttf"),
    ("IPAGothic", "ipag.ttf"),
    ("TakaoGothic", "TakaoGothic.ttf"),
    ("VL Gothic", "VL-Gothic-Regular.ttf"),
    ("Droid Sans Fallback", "DroidSansFallbackFull.ttf"),
    ("WenQuanYi Zen Hei", "wqy-zenhei.ttc"),
    ("Hiragino Sans", "ヒラギノ角ゴシック W3.ttc"),
    ("Yu Gothic", "YuGothR.ttc"),
    ("MS Gothic", "msgothic.ttc"),
)
FAMILIES = tuple(family for family, _ in _JAPANESE)
"""Names of typefaces that have Japanese letters, the best first."""
FILES = ("DejaVuSans.ttf", *(file for _, file in _JAPANESE))
"""Files of typefaces that have more than Latin letters, the first ones Greek and Cyrillic, the others Japanese."""
MOST_SAID = 12

_said: set[str] = set()


def say_missing(letters: Iterable[str]) -> None:
    """Say on stderr, once for each, that boxes stand for these letters, and which package of Debian has them."""
    new = sorted({one for one in letters if one.isprintable() and one not in " \ufffd"} - _said)
    if not new:
        return
    _said.update(new)
    some = "".join(new[:MOST_SAID]) + ("…" if len(new) > MOST_SAID else "")
    asian = any(one.isalpha() and unicodedata.east_asian_width(one) in "WF" for one in new)
    help_ = "; on Debian and Ubuntu: apt install fonts-noto-cjk" if asian else ""
    print(f"bodymotion: no typeface of this machine has {some}: boxes stand there{help_}", file=sys.stderr, flush=True)
