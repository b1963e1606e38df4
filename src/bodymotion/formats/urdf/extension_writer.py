"""The element <bodymotion>, written; names in the file; and the report of what the file does not hold.

Each element of the rest of the file is read as it will be, and compared with the value that it was made of: where they differ, the value is
kept in <bodymotion>. So nothing is written twice, and nothing is forgotten when the rest of the file learns to hold more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from bodymotion.diagnostics import losses
from bodymotion.formats.urdf import rules
from bodymotion.formats.urdf.extension import VERSION, as_json, is_same
from bodymotion.formats.xml.tree import Element, is_xml_text

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem, Rule

__all__ = ["Keeper", "Tally", "quiet_differences", "unique_names"]

MOST_NAMES = 8


class Tally:
    """Collects names under a rule and a sentence."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], tuple[Rule, dict[str, None]]] = {}

    def add(self, rule: Rule, words: str, name: str) -> None:
        """Note that `words` goes for the thing called `name`."""
        self._found.setdefault((rule.code, words), (rule, {}))[1][name] = None

    @property
    def problems(self) -> list[Problem]:
        """One problem for each kind, in order of codes."""
        found = sorted(self._found.items(), key=lambda item: item[0])
        return [rule.problem(f"{words}: {_listed(list(names))}") for (_, words), (rule, names) in found]


def _listed(names: list[str]) -> str:
    shown = ", ".join(name[:60] or "''" for name in names[:MOST_NAMES])
    return shown + (f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else "")


def unique_names(wanted: Iterable[str], otherwise: str) -> list[str]:
    """Return a name of its own for each that is wanted: as it is where it can be, else plainer, and with a number behind it.

    An empty one becomes `otherwise` with its place in the list.
    """
    names = [_plain(name) or f"{otherwise}_{number}" for number, name in enumerate(wanted)]
    # A name that stands once keeps it, even where another one would be renamed to it.
    taken = set(names)
    used: set[str] = set()
    numbers: dict[str, int] = {}
    found = []
    for name in names:
        free = name
        while free in used or (free != name and free in taken):
            numbers[name] = numbers.get(name, 1) + 1
            free = f"{name}_{numbers[name]}"
        used.add(free)
        found.append(free)
    return found


def _plain(name: str) -> str:
    name = name if is_xml_text(name) else "".join(letter if is_xml_text(letter) else "_" for letter in name)
    return re.sub(r"[\s/]+", "_", name.strip())


class Keeper:
    """Collects what is kept; with `on` False nothing is, and all of it is lost."""

    def __init__(self, on: bool, lost: Tally) -> None:
        self.on, self.lost = on, lost
        self.element = Element("bodymotion", {"version": VERSION})

    def differences(
        self, said: object, meant: object, title: str, skip: Sequence[str] = (), words: str = ""
    ) -> dict[str, Any]:
        """Return pairs of the values of fields in which two dataclasses differ; note them for the report under the name `title`.

        `words` says what thing has the field, for the report.
        """
        found: dict[str, Any] = {}
        for one in fields(meant):  # type: ignore[arg-type]
            if one.name in skip or not one.compare:
                continue
            now = as_json(getattr(said, one.name))
            value = self.plain(getattr(meant, one.name), f"{words}{one.name}", title)
            if not is_same(now, value):
                found[one.name] = [now, value]
                self.note(f"{words}{one.name}", title)
        return found

    def plain(self, value: object, what: str, title: str) -> Any:  # noqa: ANN401
        """Return a value as JSON holds it, without the parts that it cannot, which are lost."""
        try:
            return as_json(value)
        except TypeError:
            if isinstance(value, dict):
                return {
                    key: self.plain(inner, f"{what} {key}", title)
                    for key, inner in value.items()
                    if isinstance(key, str) and self._fits(inner, f"{what} {key}", title)
                }
            self.lost.add(losses.UNSAID, f"{what} is of a kind that cannot be kept", title)
            return None

    def _fits(self, value: object, what: str, title: str) -> bool:
        if isinstance(value, dict):
            return True
        try:
            as_json(value)
        except TypeError:
            self.lost.add(losses.UNSAID, f"{what} is of a kind that cannot be kept", title)
            return False
        return True

    def note(self, what: str, title: str) -> None:
        """Say that the rest of the file does not hold `what` of the thing called `title`."""
        if self.on:
            self.lost.add(rules.KEPT, f"kept in <bodymotion>: {what}", title)
        else:
            self.lost.add(losses.UNSAID, f"left out: {what}", title)

    def put(self, name: str, attributes: dict[str, str], values: dict[str, Any], always: bool = False) -> None:
        """Add an element, if there is anything to be said."""
        if values or always:
            self.element.add(name, attributes, json.dumps(values) if values else "")


def quiet_differences(base: object, meant: object, skip: tuple[str, ...] = ("id", "link", "links")) -> dict[str, Any]:
    """Return what is to be kept of a thing that is reported as a whole."""
    return Keeper(True, Tally()).differences(base, meant, "", skip)
