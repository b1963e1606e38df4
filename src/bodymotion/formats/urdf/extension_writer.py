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
from bodymotion.formats.kept_json import as_json, plain
from bodymotion.formats.urdf import rules
from bodymotion.formats.urdf.extension import VERSION, is_same
from bodymotion.formats.xml.tree import Element, is_xml_text

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem, Rule

MAX_NAMES = 8
"""Names that are listed of one kind of loss."""


MATTERS = ("joint rotor_inertia",)
"""What other programs would need of the values that URDF has no field for."""


class LossReport:
    """Collects what a file does not hold: one problem for each rule and message, with the names of the objects."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], tuple[Rule, dict[str, None]]] = {}

    def add(self, rule: Rule, message: str, name: str) -> None:
        """Record a loss of the object called `name`."""
        self._found.setdefault((rule.code, message), (rule, {}))[1][name] = None

    @property
    def problems(self) -> list[Problem]:
        """One problem for each kind of loss, in order of codes."""
        found = sorted(self._found.items(), key=lambda item: item[0])
        return [rule.problem(f"{message}: {_listed(list(names))}") for (_, message), (rule, names) in found]


def _listed(names: list[str]) -> str:
    shown = ", ".join(name[:60] or "''" for name in names[:MAX_NAMES])
    return shown + (f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else "")


def unique_names(wanted: Iterable[str], otherwise: str) -> list[str]:
    """Return a different name for each wanted one: the same where possible, else without white space and slashes, and with a number.

    An empty name becomes `otherwise` with its index in the list.
    """
    names = [_plain(name) or f"{otherwise}_{number}" for number, name in enumerate(wanted)]
    # A name that occurs once is kept, even where another one would be renamed to it.
    reserved = set(names)
    used: set[str] = set()
    numbers: dict[str, int] = {}
    found = []
    for name in names:
        free = name
        while free in used or (free != name and free in reserved):
            numbers[name] = numbers.get(name, 1) + 1
            free = f"{name}_{numbers[name]}"
        used.add(free)
        found.append(free)
    return found


def _plain(name: str) -> str:
    name = name if is_xml_text(name) else "".join(letter if is_xml_text(letter) else "_" for letter in name)
    return re.sub(r"[\s/]+", "_", name.strip())


class ExtensionWriter:
    """Writes <bodymotion>; with `on` False nothing is kept, and everything is reported as lost."""

    def __init__(self, on: bool, lost: LossReport) -> None:
        self.on, self.lost = on, lost
        self.element = Element("bodymotion", {"version": VERSION})

    def differences(
        self, read_back: object, meant: object, title: str, skip: Sequence[str] = (), prefix: str = ""
    ) -> dict[str, Any]:
        """Return pairs of the values of fields in which two dataclasses differ, and report them under the name `title`.

        `prefix` names the kind of object in the report.
        """
        found: dict[str, Any] = {}
        for one in fields(meant):  # type: ignore[arg-type]
            if one.name in skip or not one.compare:
                continue
            now = as_json(getattr(read_back, one.name))
            value = self.plain(getattr(meant, one.name), f"{prefix}{one.name}", title)
            if not is_same(now, value):
                found[one.name] = [now, value]
                self.note(f"{prefix}{one.name}", title)
        return found

    def plain(self, value: object, what: str, title: str) -> Any:  # noqa: ANN401
        """Return a value as JSON holds it; parts that JSON cannot hold are lost."""
        lost: list[str] = []
        found = plain(value, lost, what)
        for where in lost:
            self.lost.add(losses.UNSAID.as_note, f"{where} is of a kind that cannot be kept", title)
        return found

    def note(self, what: str, title: str) -> None:
        """Report that the rest of the file does not hold `what` of the object called `title`."""
        matters = what in MATTERS
        rule = losses.UNSAID if matters else rules.KEPT if self.on else losses.UNSAID.as_note
        self.lost.add(rule, f"{'kept in <bodymotion>' if self.on else 'left out'}: {what}", title)

    def put(self, name: str, attributes: dict[str, str], values: dict[str, Any], always: bool = False) -> None:
        """Add an element if it has values, or always."""
        if values or always:
            self.element.add(name, attributes, json.dumps(values) if values else "")


def quiet_differences(base: object, meant: object, skip: tuple[str, ...] = ("id", "link", "links")) -> dict[str, Any]:
    """Return the differences of an object that is reported as a whole."""
    return ExtensionWriter(True, LossReport()).differences(base, meant, "", skip)
