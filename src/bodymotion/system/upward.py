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
from collections.abc import Callable
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
