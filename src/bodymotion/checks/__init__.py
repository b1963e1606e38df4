"""Checks of models and motions: physics, names, limits, and what the readers have to say.

`check` is the way in; `moments` gives when a motion breaks rules on its body; `catalogue` gives all rules by code.
"""

from __future__ import annotations

from bodymotion.checks.checking import check
from bodymotion.checks.motions_on_bodies import moments
from bodymotion.checks.physics.moments import Moment
from bodymotion.diagnostics.catalogue import catalogue

__all__ = ["Moment", "catalogue", "check", "moments"]
