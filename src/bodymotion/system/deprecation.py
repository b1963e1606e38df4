"""Old names of keywords, which work for one more version."""

import functools
import warnings
from collections.abc import Callable
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])


def renamed(**names: str) -> Callable[[Function], Function]:
    """Return a decorator for a function with renamed keywords, old=new: an old one works, with a DeprecationWarning."""

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def call(*args: Any, **options: Any) -> Any:  # noqa: ANN401
            for old in names.keys() & options.keys():
                warnings.warn(f"{old}= is now {names[old]}=", DeprecationWarning, stacklevel=2)
                options[names[old]] = options.pop(old)
            return function(*args, **options)

        return cast("Function", call)

    return decorate
