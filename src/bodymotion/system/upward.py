"""Methods whose work is done in a higher layer.

Imports go down only: a value such as `Animation` must not import the package that plays it. Some methods belong to the value all the same,
because users look for them there. Such a method has its signature and its docstring at the value, and names the function that does
the work::

    @provided_by("bodymotion.spot.playback.playing:play")
    def play(self, *, bpm: float | None = None) -> Motion:
        \"\"\"Return the motion of the animation.\"\"\"
        raise NotImplementedError

The function gets the object and all arguments. Its module is imported when the method is called. This is the only way upwards.
"""

import functools
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, TypeVar, cast

Method = TypeVar("Method", bound=Callable[..., Any])


def provided_by(function: str) -> Callable[[Method], Method]:
    """Return a decorator that makes a method call `function`, given as "module:name", with the object and all arguments.

    A class method gets the class as its first argument (`@classmethod` stands above this decorator).
    """
    module, _, name = function.partition(":")

    def decorate(method: Method) -> Method:
        @functools.wraps(method)
        def call(*args: Any, **options: Any) -> Any:  # noqa: ANN401
            return getattr(import_module(module), name)(*args, **options)

        return cast("Method", call)

    return decorate


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
