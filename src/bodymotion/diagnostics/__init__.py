"""What is found in files and values: `Problem`, `Rule`, `Location`, `Findings`; the one collector `Diagnostics`; `Source` and its map.

The lowest package: it imports nothing else of bodymotion.
"""

from bodymotion.diagnostics.problem import (
    Diagnostics,
    Findings,
    FormatError,
    Location,
    Locator,
    MissingFileError,
    Problem,
    ReadResult,
    Rule,
    Severity,
    Source,
    SourceMap,
    Subject,
    WrongUseError,
    document,
    judgement,
    reference,
)
from bodymotion.diagnostics.text import Group, grouped

__all__ = [
    "Diagnostics",
    "Findings",
    "FormatError",
    "Group",
    "Location",
    "Locator",
    "MissingFileError",
    "Problem",
    "ReadResult",
    "Rule",
    "Severity",
    "Source",
    "SourceMap",
    "Subject",
    "WrongUseError",
    "document",
    "grouped",
    "judgement",
    "reference",
]
