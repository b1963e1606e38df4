"""Checks of models and motions: physics, names, limits, and what the readers have to say.

`check` is the way in; `catalogue` gives all rules by code.
"""

from __future__ import annotations

from bodymotion.checks.catalogue import catalogue
from bodymotion.checks.checking import check

__all__ = ["catalogue", "check"]
