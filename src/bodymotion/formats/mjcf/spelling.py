"""Names that MJCF does not have: MuJoCo refuses a file with one, and a reader that passes over it reads another robot."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from bodymotion.formats.mjcf import rules
from bodymotion.formats.mjcf.words import Word, words
from bodymotion.formats.xml.places import nearest

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem
    from bodymotion.formats.xml.tree import Element

__all__ = ["check_names"]


SHOWN = 100
"""So many names are told of a model; the last of them says how many more there are."""


def check_names(root: Element, problems: list[Problem]) -> None:
    """Note the elements and attributes of a model that are none of MJCF's; what is in such an element is not looked at."""
    found: list[Problem] = []
    more = 0
    for element, name, word in _unknown(root):
        if len(found) < SHOWN:
            found.append(_problem(element, name, word))
        else:
            more += 1
    if more:
        found[-1] = replace(found[-1], message=f"{found[-1].message}; and {more} more like this")
    problems += found


def _unknown(root: Element) -> Iterator[tuple[Element, str | Element, Word]]:
    """Return what is not known: the element that it is in, an attribute's name or an element, and what may be there."""
    stack: list[tuple[Element, Word]] = [(root, words()[root.name])]
    while stack:
        element, word = stack.pop()
        if word.elements is None:
            continue
        for name in element.attributes:
            if name not in word.attributes and not name.startswith(("xmlns", "xml:")):
                yield element, name, word
        inside: list[tuple[Element, Word]] = []
        for child in element.children:
            known = word.elements.get(child.name)
            if known is not None:
                inside.append((child, known))
            elif child.name != "include":
                yield element, child, word
        stack += reversed(inside)


def _problem(element: Element, found: str | Element, word: Word) -> Problem:
    assert word.elements is not None
    if isinstance(found, str):
        said = nearest(found, word.attributes - element.attributes.keys())
        title, place = f"<{element.name}> has no attribute {found!r:.60}", element.place(found)
    else:
        said = nearest(found.name, word.elements)
        title, place = f"<{element.name}> has no element <{found.name:.60}>", found.location
    if said is None:
        return rules.FOREIGN.problem(title, place)
    shown = f"'{said}'" if isinstance(found, str) else f"<{said}>"
    return rules.MISSPELT.problem(f"{title}: did you mean {shown}?", place)
