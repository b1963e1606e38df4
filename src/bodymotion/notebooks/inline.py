"""The viewer's page that plays on its own, as the result of a notebook's cell."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from bodymotion.system.atomic_files import whole_file

if TYPE_CHECKING:
    from bodymotion.scene.given import Showable

__all__ = ["InlinePage", "inline"]


@dataclass(frozen=True)
class InlinePage:
    """A page of HTML that needs no server: a notebook shows it in a frame of its own, `height` [px] high."""

    html: str = field(repr=False)
    title: str = ""
    height: int = 560

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{escape(self.html, quote=True)}" title="{escape(self.title, quote=True)}" '
            f'style="width:100%;height:{self.height}px;border:0;border-radius:6px" sandbox="allow-scripts"></iframe>'
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page to a file that any browser opens; OSError when that fails."""
        with whole_file(Path(path)) as stream:
            stream.write(self.html.encode("utf-8"))


def inline(
    thing: Showable, other: Showable | None = None, *, height: int = 560, show: Iterable[str] = ()
) -> InlinePage:
    """Make the page; see `bodymotion.system.display.Shown.view`."""
    from bodymotion.viewer.api import _switches, load_take
    from bodymotion.viewer.html import page

    take = load_take(*(one for one in (thing, other) if one is not None))
    return InlinePage(page(take, _switches(show)), take.title, height)
