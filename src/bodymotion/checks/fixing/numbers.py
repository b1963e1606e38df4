"""Numbers of a text brought to the length of 1 together: those that change get the digits that their neighbours have."""

import math
import re
from collections.abc import Sequence

from bodymotion.formats.text import number

_BESIDE_DIGITS = re.compile(r"[eE].*|[^0-9]")
FEWEST = 9  # So many digits are written at least: a length that is off by 1e-9 is 1 to all rules.


def unit_texts(texts: Sequence[str], values: Sequence[float]) -> list[tuple[int, str]]:
    """Return the index and the text of each number that changes where all are divided by their length; none where they have none."""
    largest = max(map(abs, values))
    if not 0 < largest < math.inf or any(map(math.isnan, values)):
        return []
    scaled = [value / largest for value in values]
    length = math.sqrt(sum(value * value for value in scaled))
    digits = min(max(FEWEST, *(len(_BESIDE_DIGITS.sub("", text).lstrip("0")) for text in texts)), 17)
    units = [value / length for value in scaled]
    new = (
        text if u == v else number(float(f"{u:.{digits}g}")) for text, v, u in zip(texts, values, units, strict=True)
    )
    return [(k, text) for k, text in enumerate(new) if text != texts[k]]
