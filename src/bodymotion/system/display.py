"""How bodies, motions and animations are displayed in a notebook."""

from collections.abc import Iterable
from typing import Any

from bodymotion.system.upward import provided_by


class NotebookDisplay:
    """Base of values that notebooks display."""

    @provided_by("bodymotion.notebooks:html_of")
    def _repr_html_(self) -> str:
        """Return a summary as HTML, which notebooks show instead of the text."""
        raise NotImplementedError

    @provided_by("bodymotion.notebooks:inline")
    def view(self, other: object = None, *, height: int = 560, show: Iterable[str] = ()) -> Any:  # noqa: ANN401
        """Return a page that plays inline in a notebook; in a program, `save` the page or see `bodymotion.view`.

        Parameters
        ----------
        other:
            The motion of a body, or the body of a motion; an animation needs none.
        height:
            [px] of the page in the notebook.
        show:
            What to switch on, as for `bodymotion.view`: "axes", "frames", "mass" …

        Raises
        ------
        ValueError
            When the two do not fit, or there is nothing to show.
        """
        raise NotImplementedError
