"""The rules of animations and logs as messages."""

from __future__ import annotations

from bodymotion.diagnostics import Rule

__all__ = ["RULES"]

WIRE = Rule("CAP001", "error", "The bytes are a message of the wire format, with nothing cut off.", "judgement")
TEXT = Rule("CAP002", "error", "The text is a message in the text format.", "judgement")
CHANGES = Rule(
    "CAP003",
    "error",
    "All keyframes say in the same way where a part is: an animation has one set of columns.",
    "judgement",
)
SPARSE = Rule("CAP004", "error", "A file holds about as much as its size makes expect.", "judgement")
SEQUENCE = Rule(
    "CAP005",
    "error",
    "A sequence of moves is no animation.",
    "judgement",
    "it names animations and other moves of the robot; only the robot knows how these look",
)
NO_FRAMES = Rule("CAP006", "error", "An animation, and a log, has keyframes.", "judgement")
UNREADABLE = Rule("CAP007", "error", "The file can be opened and read to its end.", "judgement")
UNKNOWN = Rule("CAP101", "warning", "Fields that bodymotion does not know are passed over.", "judgement")
GAPS = Rule(
    "CAP102",
    "warning",
    "A number is in all keyframes or in none; where it is missing the one before is held.",
    "judgement",
    "the robot complains of numbers that are sometimes there and sometimes not",
)
PARTLY = Rule(
    "CAP103",
    "warning",
    "A parameter has a minimum, a default and a maximum.",
    "judgement",
    "those that are missing are taken from the others",
)
NAME = Rule("CAP104", "note", "Parameters name no other animation.", "judgement")
STAMPS = Rule(
    "CAP105",
    "warning",
    "The keyframes of a log follow each other in time; those that do not are left out.",
    "judgement",
)

RULES = (WIRE, TEXT, CHANGES, SPARSE, SEQUENCE, NO_FRAMES, UNREADABLE, UNKNOWN, GAPS, PARTLY, NAME, STAMPS)
"""All of them."""
