"""What MJCF has no word for, kept in the file's `<custom>` texts, where MuJoCo passes over it and our reader takes it back.

A text is called `bodymotion KIND NAME`, with the name that the thing has in the file, and holds a mapping in JSON::

    <custom>
      <text name="bodymotion link RARM_ELBOW" data="{&quot;joint&quot;: {&quot;id&quot;: 7, &quot;gear_ratio&quot;: 100.0}}"/>
    </custom>

Kinds are `body` (whose name is empty), `link`, `device`, `geom`, `material` and `loop`. Only what the rest of the file does not say
is there. Where the two disagree (somebody changed the file), the rest of the file is right.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.formats.xml.tree import holds

if TYPE_CHECKING:
    from bodymotion.formats.xml.tree import Element

__all__ = ["Kept", "plain", "text_name"]

DEEPEST = 50


def text_name(kind: str, name: str) -> str:
    """Return the name of the text that keeps something of a thing."""
    return f"bodymotion {kind} {name}".rstrip()


def plain(value: object, lost: list[str], where: str, depth: int = 0) -> object:
    """Return a value as JSON has it, arrays as lists; what it has not is left out, and its place goes to `lost`."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufU":
        return value.tolist()
    if depth < DEEPEST and isinstance(value, (list, tuple)):
        return [plain(item, lost, f"{where}[{i}]", depth + 1) for i, item in enumerate(value)]
    if depth < DEEPEST and isinstance(value, Mapping):
        found = {}
        for key, item in value.items():
            if isinstance(key, str):
                found[key] = plain(item, lost, f"{where}.{key}", depth + 1)
            else:
                lost.append(f"{where}[{key!r:.40}]")
        return found
    lost.append(where)
    return None


class Kept:
    """The texts of a file: what is kept of each thing, by kind and name."""

    def __init__(self) -> None:
        self.lost: list[str] = []
        """What could not be kept."""
        self._texts: dict[str, dict[str, object]] = {}

    def add(self, kind: str, name: str, values: Mapping[str, object]) -> None:
        """Keep some values of a thing."""
        if values:
            key = text_name(kind, name)
            said = plain(values, self.lost, f"{kind} {name}".rstrip())
            assert isinstance(said, dict)
            self._texts.setdefault(key, {}).update(said)

    def get(self, kind: str, name: str) -> dict[str, object]:
        """Return what is kept of a thing, nothing as a rule."""
        return self._texts.get(text_name(kind, name), {})

    def names(self, kind: str) -> list[str]:
        """Return the names of the things of a kind of which something is kept."""
        start = f"{text_name(kind, '')} "
        return [key.removeprefix(start) for key in self._texts if key.startswith(start)]

    def write(self, root: Element) -> None:
        """Put the texts into the `<custom>` of a model."""
        if not self._texts:
            return
        custom = root.add("custom")
        for name, values in self._texts.items():
            text = json.dumps(values, ensure_ascii=False)
            # JSON writes what XML has no place for as \uXXXX, but for half surrogates and the like.
            custom.add("text", {"name": name, "data": text if holds(text) else json.dumps(values)})

    def read(self, name: str, data: str) -> bool:
        """Take a text of a file; False where it is none of ours, or is broken."""
        if not name.startswith("bodymotion "):
            return False
        try:
            values = json.loads(data)
        except (ValueError, RecursionError):
            return False
        if not isinstance(values, dict):
            return False
        self._texts.setdefault(name, {}).update(values)
        return True
