"""Fonts for names in any script, and a warning about letters without a font."""

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
# Names of fonts with Japanese letters, the best first.
FAMILIES = tuple(family for family, _ in _JAPANESE)
# Files of fonts with more than Latin letters. Greek and Cyrillic first, then Japanese.
FILES = ("DejaVuSans.ttf", *(file for _, file in _JAPANESE))
# Letters that a message lists.
MAX_LISTED_LETTERS = 12
# Blanks, and the mark of a letter that was lost before.
IGNORED = " \ufffd"

_warned: set[str] = set()


def warn_missing_letters(letters: Iterable[str]) -> None:
    """Write to stderr, once for each letter, that boxes replace these letters.

    The message names the Debian package that has them.
    """
    visible = {one for one in letters if one.isprintable() and one not in IGNORED}
    new = sorted(visible - _warned)
    if not new:
        return
    _warned.update(new)
    listed = "".join(new[:MAX_LISTED_LETTERS])
    if len(new) > MAX_LISTED_LETTERS:
        listed += "…"
    advice = ""
    if any(map(_is_asian, new)):
        advice = "; on Debian and Ubuntu: apt install fonts-noto-cjk"
    print(
        f"bodymotion: no font of this machine has {listed}; boxes replace them{advice}",
        file=sys.stderr,
        flush=True,
    )


def _is_asian(letter: str) -> bool:
    """Return whether a letter is as wide as Chinese and Japanese letters are."""
    return letter.isalpha() and unicodedata.east_asian_width(letter) in "WF"
