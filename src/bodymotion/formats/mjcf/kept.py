"""What MJCF cannot hold, kept in the file's `<custom>` texts, which MuJoCo ignores and our reader reads.

The name of a text is `bodymotion KIND NAME`, with the name of an object in the file; its data is a mapping in JSON::

    <custom>
      <text name="bodymotion link RARM_ELBOW" data="{&quot;joint&quot;: {&quot;id&quot;: 7, &quot;gear_ratio&quot;: 100.0}}"/>
    </custom>

Kinds are `body` (whose name is empty), `link`, `device`, `geom`, `material` and `loop`. A text has only
what the rest of the file does not hold. Where the two disagree because the file was edited, the rest of the file counts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from bodymotion.formats.kept_json import plain
from bodymotion.formats.xml.tree import is_xml_text

if TYPE_CHECKING:
    from bodymotion.formats.xml.tree import Element


def text_name(kind: str, name: str) -> str:
    """Return the name of the text of an object."""
    return f"bodymotion {kind} {name}".rstrip()


class Kept:
    """The texts of a file by kind and name."""

    def __init__(self) -> None:
        self.lost: list[str] = []
        """The paths of values that JSON cannot hold."""
        self._texts: dict[str, dict[str, object]] = {}

    def add(self, kind: str, name: str, values: Mapping[str, object]) -> None:
        """Keep values of an object."""
        if values:
            key = text_name(kind, name)
            entry = plain(values, self.lost, f"{kind} {name}".rstrip())
            assert isinstance(entry, dict)
            self._texts.setdefault(key, {}).update(entry)

    def get(self, kind: str, name: str) -> dict[str, object]:
        """Return what is kept of an object; mostly nothing."""
        return self._texts.get(text_name(kind, name), {})

    def names(self, kind: str) -> list[str]:
        """Return the names of the objects of a kind that have a text."""
        start = f"{text_name(kind, '')} "
        return [key.removeprefix(start) for key in self._texts if key.startswith(start)]

    def write(self, root: Element) -> None:
        """Add the texts to the `<custom>` of a model."""
        if not self._texts:
            return
        custom = root.add("custom")
        for name, values in self._texts.items():
            text = json.dumps(values, ensure_ascii=False)
            # JSON can write characters that XML cannot hold as \uXXXX.
            custom.add("text", {"name": name, "data": text if is_xml_text(text) else json.dumps(values)})

    def read(self, name: str, data: str) -> bool:
        """Read a text of a file; return whether it is one of ours that can be used."""
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
