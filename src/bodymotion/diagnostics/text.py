"""Write text for people.

Problems in groups, lists, counts, articles, times, and names from files without
control characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bodymotion.diagnostics.problem import Location, Problem, Severity

_NOT_IN_NODE_NAMES = re.compile(r"[^\w .+-]")
_ORDER = {"error": 0, "warning": 1, "note": 2}
# Characters that control a terminal or the direction of writing, and halves of
# surrogate pairs.
UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff"
    "\ud800-\udfff]"
)


@dataclass(frozen=True)
class Group:
    """All problems of one rule and severity.

    Those in the files that a file names are included.
    """

    problems: tuple[Problem, ...]

    @property
    def rule(self) -> str:
        """The code of the rule."""
        return self.problems[0].rule

    @property
    def severity(self) -> Severity:
        """The severity that all of them have."""
        return self.problems[0].severity

    @property
    def count(self) -> int:
        """How many times the rule is broken."""
        return sum(problem.count for problem in self.problems)

    @property
    def title(self) -> str:
        """The code of the rule and how many times it is broken.

        `WRL135 ×24`; a message about missing files counts them itself.
        """
        if self.count > 1 and "missing" not in self.problems[0].data:
            return f"{self.rule} ×{self.count}"
        return self.rule

    def locations(self, number: int) -> tuple[Location, ...]:
        """Return the first different locations, at most `number`."""
        return tuple(dict.fromkeys(problem.location for problem in self.problems))[
            :number
        ]


def grouped(*findings: Sequence[Problem] | Iterable[Problem]) -> tuple[Group, ...]:
    """Group problems by rule and severity.

    Parameters
    ----------
    findings:
        Several lists, the most important first: those of the motion, then those of the
        model.

    Returns
    -------
    The groups of each list, one list after another: missing files first, then errors,
    warnings and notes, each by the first problem.
    """
    groups: dict[tuple[int, bool, int, str], list[Problem]] = {}
    for number, problems in enumerate(findings):
        for problem in problems:
            # In the order of sorting: the list, missing files, the severity. The code
            # keeps groups apart; the sort leaves it out and is stable, so that it keeps
            # the order of first problems.
            key = (
                number,
                "missing" not in problem.data,
                _ORDER[problem.severity],
                problem.rule,
            )
            groups.setdefault(key, []).append(problem)
    ordered = sorted(groups.items(), key=lambda item: item[0][:3])
    return tuple(Group(tuple(problems)) for _, problems in ordered)


def listed(names: Iterable[str], limit: int = 5) -> str:
    """Return names as a list.

    `a, b, c`; of more than `limit` + 1 the first ones, `a, b and 7 more`.
    """
    names = list(names)
    # "and 1 more" would be as long as the name itself.
    if len(names) <= limit + 1:
        return ", ".join(names)
    return f"{', '.join(names[:limit])} and {len(names) - limit} more"


def place_after(location: Location, first: Location) -> str:
    """Return a location that is listed after another one of its rule.

    `line 12`, with the name of its file where that is another.
    """
    if location.path and location.path != first.path:
        name = PurePath(location.path).name
    else:
        name = ""
    return ": ".join(
        part
        for part in (
            name,
            f"line {location.line}" if location.line else location.inside,
        )
        if part
    )


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: `1 frame`, `2 frames`."""
    if number == 1:
        return f"{number} {noun}"
    return f"{number} {plural or noun + 's'}"


def with_article(noun: str) -> str:
    """Return a noun with its indefinite article.

    `an Axis`, `a Body`; a plural such as `KeyPoses` has none.
    """
    # The name of a type that is a plural.
    if noun.endswith("Poses"):
        return noun
    return f"{'an' if noun[:1].lower() in ('a', 'e', 'i', 'o') else 'a'} {noun}"


def shown(text: str, most: int = 40) -> str:
    """Return the text without unsafe characters, cut off after `most` characters.

    Unsafe are control characters and halves of surrogate pairs.
    """
    clean = UNSAFE.sub("\ufffd", text)
    if len(clean) <= most:
        return clean
    # The ellipsis is the last of `most` characters.
    return clean[: most - 1] + "…"


def distinct(names: Iterable[str], kind: str = "column") -> tuple[str, ...]:
    """Return all different names.

    `KNEE`, `KNEE (2)`; what has no name is named by its kind and index, `column 3`.
    """
    found: dict[str, None] = {}
    for index, name in enumerate(names):
        first = label = name if name.strip() else f"{kind} {index}"
        # A numbered name may itself be in use, so it is counted up until it is free.
        number = 2
        while label in found:
            label = f"{first} ({number})"
            number = number + 1
        found[label] = None
    return tuple(found)


def moment(time: float) -> str:
    """Return a time [s] with enough digits to distinguish frames.

    Also of clocks that began long ago: 0.5, 1700000000.25.
    """
    # `g` has six digits: from 1000 s on it would drop milliseconds. From 1e15 s on a
    # number in double precision does not hold them.
    if not 1e3 <= abs(time) < 1e15:
        return f"{time:g}"
    return f"{time:.3f}".rstrip("0").rstrip(".")


def html_text(text: str, max_characters: int = 2000) -> str:
    """Return the text escaped for HTML, without control characters."""
    from html import escape

    return escape(shown(text, max_characters))


def severities(groups: Iterable[Group | Problem]) -> str:
    """Return how many problems of each severity there are.

    `1 error, 18 warnings, 4 notes`.
    """
    # In order of severity, whatever comes first.
    counts = dict.fromkeys(_ORDER, 0)
    for group in groups:
        counts[group.severity] += group.count
    return ", ".join(
        counted(number, severity) for severity, number in counts.items() if number
    )


def small_html(text: str) -> str:
    """Return a paragraph of a panel as HTML, in small letters."""
    return (
        f'<div style="padding:0.1em '
        f'1em;font-size:0.85em;opacity:0.8">{html_text(text)}</div>'
    )


def node_name(index: int, name: str) -> str:
    """Return a name for a node of a scene tree.

    Unique by its index, without characters that have a meaning in paths.
    """
    return f"{index} {_NOT_IN_NODE_NAMES.sub('_', shown(name, 60))}".strip()


def fixed(value: float, digits: int, sign: str = "-") -> str:
    """Return a number with `digits` decimal places, never "-0.0".

    With `sign` "+" positive numbers have a sign, too.
    """
    # Adding 0 makes 0.0 of −0.0.
    return f"{round(float(value), digits) + 0.0:{sign}.{digits}f}"
