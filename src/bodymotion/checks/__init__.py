"""Checks of models and motions.

Physics, names, limits, and the problems of reading.

Start at `check`. `moments` returns when a motion breaks rules on its body, `catalogue`
all rules by code.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bodymotion.checks.checking import check
from bodymotion.diagnostics.catalogue import catalogue

if TYPE_CHECKING:
    from bodymotion.checks.findings import Moment
    from bodymotion.checks.motions import moments

__all__ = ["Moment", "catalogue", "check", "moments"]

# Names that need the measures of a motion, which take long to load.
_LAZY = {"Moment": "findings", "moments": "motions"}


def __getattr__(name: str) -> Any:  # noqa: ANN401
    if name not in _LAZY:
        raise AttributeError(f"module 'bodymotion.checks' has no attribute {name!r}")
    return getattr(import_module(f"bodymotion.checks.{_LAZY[name]}"), name)
