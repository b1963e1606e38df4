"""The element <bodymotion>, written: whatever reading the rest of the file would not give back.

Each element of the rest is read as it will be, and compared with what it was made of: what differs is kept. So nothing is said twice, and
nothing is forgotten when the rest learns to say more.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from bodymotion.diagnostics import losses
from bodymotion.formats.urdf import rules
from bodymotion.formats.urdf.extension import VERSION, close, plain
from bodymotion.formats.urdf.writing.tally import Tally
from bodymotion.formats.xml.tree import Element

__all__ = ["Keeper", "quiet_differences"]


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
            now = plain(getattr(said, one.name))
            value = self.plain(getattr(meant, one.name), f"{words}{one.name}", title)
            if not close(now, value):
                found[one.name] = [now, value]
                self.note(f"{words}{one.name}", title)
        return found

    def plain(self, value: object, what: str, title: str) -> Any:  # noqa: ANN401
        """Return a value as JSON holds it, without the parts that it cannot, which are lost."""
        try:
            return plain(value)
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
            plain(value)
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
