"""Pairs for rules: what breaks one, and a twin close by that does not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias
from unittest import mock

import pytest

import bodymotion as bm
from bodymotion import FormatError
from bodymotion.diagnostics import Problem
from bodymotion.diagnostics.catalogue import catalogue

Content: TypeAlias = str | bytes
Folder: TypeAlias = Mapping[str, Content]
Piece: TypeAlias = tuple[str, str]
Reported: TypeAlias = Callable[[Path], Iterable[Problem]]

__all__ = [
    "RULES",
    "Content",
    "Folder",
    "Pair",
    "calls",
    "example_of",
    "examples",
    "files",
    "folders",
    "in_format",
    "limited",
    "problems_of",
]


RULES = catalogue()


@dataclass(frozen=True)
class Pair:
    """Two functions that get an empty folder and return the problems; `place`: whether a line of a file is named.

    `still`: the errors that the twin has for another reason.
    """

    wrong: Reported
    right: Reported
    place: bool = True
    still: frozenset[str] = frozenset()
    name: str = ""
    folder: Folder | None = None
    """The file that is checked, and all files of the folder that break the rule; None for what is only called."""


def calls(wrong: Reported, right: Reported, still: str = "") -> Pair:
    """Make a pair of things that are done."""
    return Pair(wrong, right, False, frozenset(still.split()))


def files(
    name: str, wrong: Content, right: Content, *, place: bool = True, still: str = ""
) -> Pair:
    """Make a pair of two contents of a file."""
    return folders(name, {name: wrong}, {name: right}, place=place, still=still)


def folders(
    name: str, wrong: Folder, right: Folder, *, place: bool = True, still: str = ""
) -> Pair:
    """Make a pair of folders with a file that is checked."""
    return Pair(
        _checked(name, wrong),
        _checked(name, right),
        place,
        frozenset(still.split()),
        name,
        wrong,
    )


def examples(
    name: str,
    good: str,
    codes: str,
    *,
    beside: Folder | None = None,
    place: bool = True,
) -> dict[str, Pair]:
    """Make a pair for each of the codes: the file as it is, and with the rule's example in place of its right half."""
    return _replaced(
        name, good, {code: example_of(code) for code in codes.split()}, beside, place
    )


def in_format(
    name: str, good: str, pieces: Mapping[str, Piece], *, beside: Folder | None = None
) -> dict[str, Pair]:
    """Make a pair for each of the codes, in one more format that breaks the rule: the file with the first text, and as it is."""
    made = _replaced(name, good, pieces, beside, place=True)
    return {f"{code} {Path(name).suffix}": pair for code, pair in made.items()}


def _replaced(
    name: str,
    good: str,
    pieces: Mapping[str, Piece],
    beside: Folder | None,
    place: bool,
) -> dict[str, Pair]:
    made = {}
    for code, (wrong, right) in pieces.items():
        more = beside or {}
        made[code] = folders(
            name,
            {**more, name: good.replace(right, wrong)},
            {**more, name: good},
            place=place,
        )
        if good.count(right) != 1:
            made[code] = calls(
                lambda _: pytest.fail(
                    "the right half of the example is not once in the text"
                ),
                list,
            )
    return made


def limited(pair: Pair, name: str, value: object) -> Pair:
    """Make a pair of which both halves are tried with another limit, so that it takes no gigabytes to reach it."""

    def of(reported: Reported) -> Reported:
        def within(folder: Path) -> Iterable[Problem]:
            with mock.patch(name, value):
                return reported(folder)

        return within

    return replace(pair, wrong=of(pair.wrong), right=of(pair.right))


def example_of(code: str) -> Piece:
    """Return the example of a rule: what breaks it, and what does not."""
    example = RULES[code].example
    assert example is not None, f"{code} has no example"
    return example


def problems_of(read: Callable[[], object]) -> tuple[Problem, ...]:
    """Return the problems that are reported when something is read or made."""
    try:
        found = read()
    except FormatError as error:
        return error.problems
    return tuple(getattr(found, "problems", ()))


def _checked(name: str, folder: Folder) -> Reported:
    def reported(place: Path) -> Iterable[Problem]:
        for inside, content in folder.items():
            path = place / inside
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return bm.check(place / name).problems

    return reported
