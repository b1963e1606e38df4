"""How bodies, motions and animations show themselves in a notebook.

What draws them stands far above them. The top of the package, which every program imports first, says here who that is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

__all__ = ["Shown", "shown_by"]

_drawers: dict[str, Callable[..., Any]] = {}


def shown_by(html: Callable[[object], str], inline: Callable[..., Any]) -> None:
    """Say who writes a summary of a thing as HTML, and who plays it inline."""
    _drawers.update(html=html, inline=inline)


class Shown:
    """Base of what shows itself."""

    def _repr_html_(self) -> str:
        """Return a summary as HTML, which notebooks show in place of the text."""
        return str(_drawers["html"](self))

    def view(self, other: object = None, *, height: int = 560, show: Iterable[str] = ()) -> Any:  # noqa: ANN401
        """Return it as a page that plays inline in a notebook; in a program, `save` the page or see `bodymotion.view`.

        Parameters
        ----------
        other:
            The motion that a body is to move by, or the body that moves by a motion; an animation needs none.
        height:
            [px] of the page in the notebook.
        show:
            What to switch on, as for `bodymotion.view`: "axes", "frames", "mass" …

        Raises
        ------
        ValueError
            When the two do not fit, or there is nothing to show.
        """
        return _drawers["inline"](self, other, height=height, show=show)
