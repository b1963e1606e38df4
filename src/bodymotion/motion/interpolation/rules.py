"""What is odd in values that are interpolated."""

from __future__ import annotations

from bodymotion.diagnostics import Rule

__all__ = ["BRIDGED", "WRAPPED"]

WRAPPED = Rule(
    "EDIT101",
    "warning",
    "Interpolation takes a joint angle that jumps by a full turn back through all angles between.",
    "judgement",
    "take the jumps out first (unwrap=True, --unwrap), or hold values",
    example=("interpolating 3.1, then -3.1", "interpolating 3.1, then 3.2"),
)
BRIDGED = Rule(
    "EDIT106",
    "warning",
    "The low-pass takes numbers that are not finite for missing ones: it goes straight across, and frames nearest to them are nan.",
    "judgement",
    example=("a low-pass over 0.1, nan, 0.3", "a low-pass over 0.1, 0.2, 0.3"),
)
