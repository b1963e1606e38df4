"""Fonts for names in any script, and a warning where no font of the machine has a letter."""

import sys
import unicodedata
from collections.abc import Iterable

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
FAMILIES = tuple(
    family for family, _ in _JAPANESE
)  # Names of fonts with Japanese letters, the best first.
FILES = ("DejaVuSans.ttf", *(file for _, file in _JAPANESE))
"""Files of fonts with more than Latin letters.

Greek and Cyrillic first, then Japanese.
"""
MAX_LISTED_LETTERS = 12

_warned: set[str] = set()


def warn_missing_letters(letters: Iterable[str]) -> None:
    """Write to stderr, once for each letter, that boxes replace these letters, and which Debian package has them."""
    new = sorted(
        {one for one in letters if one.isprintable() and one not in " \ufffd"} - _warned
    )
    if not new:
        return
    _warned.update(new)
    listed = "".join(new[:MAX_LISTED_LETTERS]) + (
        "…" if len(new) > MAX_LISTED_LETTERS else ""
    )
    asian = any(
        one.isalpha() and unicodedata.east_asian_width(one) in "WF" for one in new
    )
    if asian:
        advice = "; on Debian and Ubuntu: apt install fonts-noto-cjk"
    else:
        advice = ""
    print(
        f"bodymotion: no font of this machine has {listed}; boxes replace them{advice}",
        file=sys.stderr,
        flush=True,
    )
