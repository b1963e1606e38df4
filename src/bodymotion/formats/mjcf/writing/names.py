"""Names in MJCF: each thing of a kind has one of its own, as far as can be the one it has in the body."""

from __future__ import annotations

from bodymotion.formats.xml.tree import holds

__all__ = ["Names"]


class Names:
    """Gives names that are not yet taken, for each kind of thing (`body`, `joint`, `site` …) by itself."""

    def __init__(self, *, slashes: bool = False) -> None:
        self._slashes = slashes
        # MuJoCo calls the world this, as a body.
        self._taken: dict[str, set[str]] = {"body": {"world"}}
        self._next: dict[tuple[str, str], int] = {}

    def free(self, kind: str, wanted: str, fallback: str = "") -> str:
        """Return the wanted name, with a number behind it where it is taken; `fallback` where it is empty or XML cannot hold it.

        Characters that dm_control and MuJoCo's own attachments use to join names (`/`) become `_`, unless they are to stay (`slashes`).
        """
        plain = "".join(
            c if (c != "/" or self._slashes) and (c == " " or not c.isspace()) and holds(c) else "_" for c in wanted
        ).strip()
        plain = plain or fallback or kind
        taken = self._taken.setdefault(kind, set())
        name = plain
        number = self._next.get((kind, plain), 2)
        while name in taken:
            name, number = f"{plain}_{number}", number + 1
        self._next[kind, plain] = number
        taken.add(name)
        return name

    def give_back(self, kind: str, name: str) -> None:
        """Take a name back that nothing has got."""
        self._taken.get(kind, set()).discard(name)
