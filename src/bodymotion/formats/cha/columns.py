"""The line of columns: keywords of single columns and of groups, in any order."""

from __future__ import annotations

from bodymotion.animation import GROUPS
from bodymotion.formats.cha import rules
from bodymotion.formats.cha.findings import Findings, Place
from bodymotion.formats.cha.options import near
from bodymotion.formats.cha.rows import NUMBER
from bodymotion.formats.cha.text import Line
from bodymotion.formats.cha.words import COLUMNS, TIME, singles

__all__ = ["EXCLUSIVE_RULES", "Header", "exclusive", "read_header"]


class Header:
    """The columns of a file.

    `values` names what each value of a row is: a column, or "" for one that is not known or not counted; `keywords` are those of the line,
    and `places` say where the keyword of each column stands.
    """

    def __init__(self) -> None:
        self.keywords: list[str] = []
        self.values: list[str] = []
        self.names: list[str] = []
        self.places: dict[str, Place] = {}
        self.unknown = 0
        self.is_numbers = False


def exclusive(a: str, b: str) -> str:
    """Say which rule, if any, two single columns break by standing together: "body", "orientation", "arm" or "leg"; else ""."""
    for kind, sides in _EXCLUSIVE.items():
        for one, other in sides:
            if (a in one and b in other) or (b in one and a in other):
                return kind
    return ""


def _group(*names: str) -> frozenset[str]:
    return frozenset(column for name in names for column in GROUPS[name])


_HAND = _group("hand_pos", "hand_quat_wxyz", "hand_euler_rpy")
_EXCLUSIVE = {
    "body": [(_group("body_pos"), _group("com_pos"))],
    "orientation": [(_group(f"{what}_quat_wxyz"), _group(f"{what}_euler_rpy")) for what in ("body", "hand")],
    "arm": [(_group("arm_joints"), _HAND)],
    "leg": [(_group(f"{leg}_angles"), _group(f"{leg}_pos")) for leg in ("fl", "fr", "hl", "hr")],
}
EXCLUSIVE_RULES = {
    "body": rules.BODY_EXCLUSIVE,
    "orientation": rules.ORIENTATION_EXCLUSIVE,
    "arm": rules.ARM_EXCLUSIVE,
    "leg": rules.LEG_EXCLUSIVE,
}
"""The rules that say so."""


def read_header(line: Line, findings: Findings) -> Header:
    """Read the line of columns."""
    header = Header()
    if all(NUMBER.fullmatch(word.text) for word in line.words):
        findings.add(rules.HEADER_MISSING, "numbers stand where the columns should be named", line.place)
        header.is_numbers = True
        return header
    for word in line.words:
        if word.text not in COLUMNS and word.text not in GROUPS:
            hint = "" if findings.full(rules.COLUMN_UNKNOWN) else near(word.text, (*COLUMNS, *GROUPS), "column")
            findings.add(rules.COLUMN_UNKNOWN, f"{word.text[:60]!r} is no column", word.place, hint)
            header.unknown += 1
            header.values.append("")
            header.names.append(word.text[:60])
            continue
        _add(header, word.text, word.place, findings)
    return header


def _add(header: Header, keyword: str, place: Place, findings: Findings) -> None:
    columns = singles(keyword)
    clash = None if keyword in header.keywords else _clash(header, keyword)
    twice = [column for column in columns if column in header.places]
    if clash:
        kind, other = clash
        findings.add(EXCLUSIVE_RULES[kind], f"{keyword!r} stands beside {other!r}", place)
    elif twice:
        of = f", of {keyword!r}," if keyword in GROUPS else ""
        stands = "stands" if len(twice) == 1 else "stand"
        findings.add(rules.COLUMN_TWICE, f"{', '.join(twice)}{of} {stands} here for a second time", place)
    if keyword not in header.keywords:
        header.keywords.append(keyword)
    for column in columns:
        header.values.append("" if column in header.places else column)
        header.names.append(column)
        header.places.setdefault(column, place)


def _clash(header: Header, keyword: str) -> tuple[str, str] | None:
    """Find a keyword before this one that excludes it."""
    for other in header.keywords:
        if {keyword, other} in ({"body_quat_wxyz", "body_quat_xyzw"}, {"hand_quat_wxyz", "hand_quat_xyzw"}):
            return "orientation", other
        for column in singles(keyword):
            for before in singles(other):
                if TIME not in (column, before) and (kind := exclusive(column, before)):
                    return kind, other
    return None
