"""The rules of animations and logs as messages."""

from __future__ import annotations

from bodymotion.diagnostics import Rule

__all__ = ["RULES"]

WIRE = Rule(
    "CAP001",
    "error",
    "The bytes are a message of the wire format, with nothing cut off.",
    "judgement",
    example=("a .pb that is cut off", "a .pb that is whole"),
)
TEXT = Rule(
    "CAP002", "error", "The text is a message in the text format.", "judgement", example=("time: soon", "time: 1")
)
CHANGES = Rule(
    "CAP003",
    "error",
    "All keyframes say in the same way where a part is: an animation has one set of columns.",
    "judgement",
    example=("body { quaternion { w: 1 } }", "body { euler_angles { } }"),
)
SPARSE = Rule(
    "CAP004",
    "error",
    "A file holds about as much as its size makes expect.",
    "judgement",
    example=("600000 keyframes without anything in them, after some with columns", "10 of them"),
)
SEQUENCE = Rule(
    "CAP005",
    "error",
    "A sequence of moves is no animation.",
    "judgement",
    "it names animations and other moves of the robot; only the robot knows how these look",
    example=("moves { type: 'step' }", "name: 'step'"),
)
NO_FRAMES = Rule(
    "CAP006",
    "error",
    "An animation, and a log, has keyframes.",
    "judgement",
    example=("controls_body: true, and no keyframe", "animation_keyframes { time: 0 … }"),
)
UNREADABLE = Rule(
    "CAP007",
    "error",
    "The file can be opened and read to its end.",
    "judgement",
    example=("a folder called wave.cap", "a file called wave.cap"),
)
UNKNOWN = Rule(
    "CAP101",
    "warning",
    "Fields that bodymotion does not know are passed over.",
    "judgement",
    example=("tail: 1", "bpm: 1"),
)
GAPS = Rule(
    "CAP102",
    "warning",
    "A number is in all keyframes or in none; where it is missing the one before is held.",
    "judgement",
    "the robot complains of numbers that are sometimes there and sometimes not",
    example=("body_pos { z { } }", "body_pos { z { } x { } }"),
)
PARTLY = Rule(
    "CAP103",
    "warning",
    "A parameter has a minimum, a default and a maximum.",
    "judgement",
    "those that are missing are taken from the others",
    example=(
        "default_parameters { speed { value: 1 } }",
        "minimum_parameters { speed { value: 1 } } default_parameters { speed { value: 1 } } maximum_parameters { speed { value: 1 } }",
    ),
)
NAME = Rule(
    "CAP104",
    "note",
    "Parameters name no other animation.",
    "judgement",
    example=("default_parameters { animation_name: 'b' }", "default_parameters { }"),
)
STAMPS = Rule(
    "CAP105",
    "warning",
    "The keyframes of a log follow each other in time; those that do not are left out.",
    "judgement",
    example=("timestamp { seconds: 5 } twice", "timestamp { seconds: 5 }, then timestamp { seconds: 6 }"),
)

RULES = (WIRE, TEXT, CHANGES, SPARSE, SEQUENCE, NO_FRAMES, UNREADABLE, UNKNOWN, GAPS, PARTLY, NAME, STAMPS)
"""All of them."""
