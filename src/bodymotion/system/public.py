"""The public names of a package, each imported when it is first used.

They are in the stub of the package, `__init__.pyi`, with one line `from module import Name as Name` for each. Type checkers read the stub,
and `public` reads it when the package is imported, so that a name is in one place only.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any


def public(package: str, *own: str) -> tuple[list[str], Callable[[str], Any]]:
    """Return `__all__` and `__getattr__` of a package: the names in its stub, and its `own` ones, which it defines itself."""
    module = sys.modules[package]
    stub = str(module.__file__).removesuffix("__init__.py") + "__init__.pyi"
    with open(stub, encoding="utf-8") as file:  # noqa: PTH123 - pathlib loads slowly
        rows = [line.split() for line in file if line.startswith("from ")]
    names = {row[5]: row[1] for row in rows if row[4:5] == ["as"]}

    def find(name: str) -> Any:  # noqa: ANN401
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        where = names[name]
        found = None if where == package else getattr(import_module(where), name, None)
        setattr(module, name, import_module(f"{where}.{name}") if found is None else found)
        return getattr(module, name)

    return sorted([*names, *own]), find
