"""Old names of keyword arguments and attributes, which keep working for one version."""

import functools
import warnings
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def warn_renamed(old: str, new: str) -> None:
    """Warn, at the line that uses an attribute by its old name, that it has a new one."""
    warnings.warn(f"{old} is now {new}", DeprecationWarning, stacklevel=3)


def renamed_keywords(**new_names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that accepts keyword arguments by their old names, with a DeprecationWarning.

    `new_names` has the new name for each old one: `@renamed_keywords(path="output")`.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **keywords: P.kwargs) -> R:
            renamed: dict[str, Any] = dict(keywords)
            for old, new in new_names.items():
                if old not in renamed:
                    continue
                if new in renamed:
                    raise TypeError(f"{function.__name__}() got {old!r} and {new!r}, which are the same; use {new!r}")
                message = f"the keyword {old!r} of {function.__name__}() is now {new!r}"
                warnings.warn(message, DeprecationWarning, stacklevel=2)
                renamed[new] = renamed.pop(old)
            return function(*args, **renamed)

        return call

    return decorate
