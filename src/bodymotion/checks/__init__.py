"""Checks of models and motions: physics, names, limits, and the problems of reading.

Start at `check`. `moments` returns when a motion breaks rules on its body, `catalogue` all rules by code.
"""

from __future__ import annotations

from bodymotion.checks.checking import check
from bodymotion.checks.motions_on_bodies import moments
from bodymotion.checks.physics.moments import Moment
from bodymotion.diagnostics.catalogue import catalogue

__all__ = ["Moment", "catalogue", "check", "moments"]
