"""Scale the numbers of a vector in a text to length 1; changed numbers get as many digits as the others."""

import math
import re
from collections.abc import Sequence

from bodymotion.formats.text import number

_BESIDE_DIGITS = re.compile(r"[eE].*|[^0-9]")
MIN_DIGITS = 9  # Minimum number of digits that are written: a length that is off by 1e-9 is 1 to all rules.


def unit_texts(texts: Sequence[str], values: Sequence[float]) -> list[tuple[int, str]]:
    """Return the index and the text of each number that changes where all are divided by their length; none where they have none."""
    largest = max(map(abs, values))
    if not 0 < largest < math.inf or any(map(math.isnan, values)):
        return []
    scaled = [value / largest for value in values]
    length = math.sqrt(sum(value * value for value in scaled))
    digits = min(max(MIN_DIGITS, *(len(_BESIDE_DIGITS.sub("", text).lstrip("0")) for text in texts)), 17)
    units = [value / length for value in scaled]
    new = (
        text if u == v else number(float(f"{u:.{digits}g}")) for text, v, u in zip(texts, values, units, strict=True)
    )
    return [(k, text) for k, text in enumerate(new) if text != texts[k]]
