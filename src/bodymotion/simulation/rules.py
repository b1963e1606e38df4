"""Rules about simulated motions."""

from __future__ import annotations

from bodymotion.diagnostics import Rule

SATURATED = Rule(
    "SIM101",
    "warning",
    "The motors have the efforts that the motion needs.",
    source="judgement",
    hint="limits=False (`bodymotion simulate --no-limits`) shows the efforts that it would need",
    example=("a knee that needs 150 N m, with an effort limit of 115 N m", "one that needs 80 N m"),
)
