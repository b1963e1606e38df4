"""Imports that wait until something is used.

The public names of a package, optional packages, and the functions of higher layers.

Public names are in the stub of the package, `__init__.pyi`, with one line `from module
import Name as Name` for each. Type checkers read the stub, and `public` reads it when
the package is imported, so that a name is in one place only.

Imports go down only: a value such as `Motion` must not import the package that plays
it. Some methods belong to the value all the same, because users look for them there.
Such a method has its signature and its docstring at the value, and names the function
in a higher layer that does the work::

    @provided_by("bodymotion.notebooks:html_of")
    def _repr_html_(self) -> str:
        \"\"\"Return a summary as HTML.\"\"\"
        raise NotImplementedError

The function gets the object and all arguments. Its module is imported when the method
is called. This is the only way upwards.
"""

import functools
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pkgutil import resolve_name
from types import MappingProxyType
from typing import Any, TypeVar, cast

Method = TypeVar("Method", bound=Callable[..., Any])


def public(
    package: str, *own: str, renamed: Mapping[str, str] = MappingProxyType({})
) -> tuple[list[str], Callable[[str], Any]]:
    """Return `__all__` and `__getattr__` of a package.

    Parameters
    ----------
    own:
        The names that the package defines itself; the others are in its stub.
    renamed:
        Former names, each with the present one and its module:
        `{"Simulation": "bodymotion.simulation.SimulationResult"}`. They work with a
        DeprecationWarning.
    """
    module = sys.modules[package]
    modules = _read_stub(str(module.__file__).removesuffix("py") + "pyi")

    def find(name: str) -> Any:  # noqa: ANN401
        """Return the value of a name, and keep it in the module."""
        if name not in modules:
            present = renamed.get(name) or _name_in_extension(package, name)
            if present is not None:
                warnings.warn(
                    f"{package}.{name} is now {present}",
                    DeprecationWarning,
                    stacklevel=2,
                )
                return resolve_name(present)
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        place = modules[name]
        value = None
        # A submodule of the package itself is no attribute of it before its import.
        if place != package:
            value = getattr(import_module(place), name, None)
        if value is None:
            value = import_module(f"{place}.{name}")
        # The next access finds the name in the module, without this function.
        setattr(module, name, value)
        return value

    return sorted([*modules, *own]), find


def _name_in_extension(package: str, name: str) -> str | None:
    """Return the present name of something that moved to an extension, if it did."""
    # Python and its tools ask for names such as `__path__`; extensions need not be
    # loaded for them.
    if name.startswith("_"):
        return None
    from bodymotion.extensions import extensions

    former = f"{package}.{name}"
    names = (extension.renamed.get(former) for extension in extensions())
    return next((present for present in names if present is not None), None)


def _read_stub(path: str) -> dict[str, str]:
    """Return the module of each name in a stub."""
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 - pathlib loads slowly
        # A long import is wrapped in parentheses: joined, it is one line again.
        text = file.read().replace("(\n", "").replace(",\n)", "")
    modules = {}
    for line in text.splitlines():
        words = line.split()
        # from MODULE import NAME as NAME
        if words[:1] == ["from"] and words[4:5] == ["as"]:
            modules[words[5]] = words[1]
    return modules


def need(module: str, extra: str, what: str) -> Any:  # noqa: ANN401
    """Import a module of an extra.

    `what` names the feature that needs it, for the message when it is missing.

    Raises
    ------
    ImportError
        When it is not installed; the message names the extra.
    """
    try:
        return import_module(module)
    except ImportError as error:
        missing = error.name or module
        raise ImportError(
            f"{what} needs an extra: pip install 'bodymotion[{extra}]' "
            f"({missing.partition('.')[0]} is missing)",
            name=error.name,
        ) from error


def provided_by(function: str) -> Callable[[Method], Method]:
    """Return a decorator that makes a method call another function.

    `function` is given as "module:name"; it gets the object and all arguments.

    A class method gets the class as its first argument (`@classmethod` stands above
    this decorator).
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
    def view(
        self, other: object = None, *, height: int = 560, show: Iterable[str] = ()
    ) -> Any:  # noqa: ANN401
        """Return a page that plays inline in a notebook.

        In a program, `save` the page or see `bodymotion.view`.

        Parameters
        ----------
        other:
            The motion of a body, or the body of a motion; a script needs none.
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
