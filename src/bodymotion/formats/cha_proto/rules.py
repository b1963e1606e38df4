"""The rules of animations and logs as messages."""

from __future__ import annotations

from bodymotion.diagnostics import Rule

WIRE = Rule(
    "CAP001",
    "error",
    "The bytes are a complete message of the protobuf wire format.",
    example=("a .pb that is cut off", "a .pb that is whole"),
)
TEXT = Rule("CAP002", "error", "The text is a message of the protobuf text format.", example=("time: soon", "time: 1"))
CHANGES = Rule(
    "CAP003",
    "error",
    "All keyframes have the same fields: an animation has one set of columns.",
    example=("body { quaternion { w: 1 } }", "body { euler_angles { } }"),
)
SPARSE = Rule(
    "CAP004",
    "error",
    "A file does not consist of nearly empty keyframes.",
    example=("600000 keyframes without anything in them, after some with columns", "10 of them"),
)
SEQUENCE = Rule(
    "CAP005",
    "error",
    "The message is an animation, not a sequence of moves.",
    "a sequence names animations and other moves that only the robot has",
    example=("moves { type: 'step' }", "name: 'step'"),
)
NO_FRAMES = Rule(
    "CAP006",
    "error",
    "An animation or a log has keyframes.",
    example=("controls_body: true, and no keyframe", "animation_keyframes { time: 0 … }"),
)
UNREADABLE = Rule(
    "CAP007",
    "error",
    "The file can be opened and read to its end.",
    example=("a folder called wave.cap", "a file called wave.cap"),
)
LARGE = Rule(
    "CAP008",
    "error",
    "The file of a choreography has at most 16 MiB, and 100 000 moves.",
    example=("moves { } 100 001 times", "moves { type: 'step' … }"),
)
NO_LIST = Rule(
    "CAP009",
    "error",
    "A file of a robot's moves is the text of ListAllMovesResponse or of MoveParamsConfig.",
    "give the answer of a robot to ListAllMoves as text, or the file MoveParamsConfig.txt",
    example=("an empty file", "sway sway_params, and vertical 0 0.05 0.1"),
)
UNKNOWN = Rule("CAP101", "warning", "All fields are known; unknown ones are ignored.", example=("tail: 1", "bpm: 1"))
GAPS = Rule(
    "CAP102",
    "warning",
    "A number is in all keyframes or in none; a missing number gets the value before it.",
    "the robot reports numbers that only some keyframes have",
    example=("body_pos { z { } }", "body_pos { z { } x { } }"),
)
PARTLY = Rule(
    "CAP103",
    "warning",
    "A parameter has a minimum, a default and a maximum.",
    "missing limits are taken from the others",
    example=(
        "default_parameters { speed { value: 1 } }",
        "minimum_parameters { speed { value: 1 } } default_parameters { speed { value: 1 } } maximum_parameters { speed { value: 1 } }",
    ),
)
NAME = Rule(
    "CAP104",
    "note",
    "Parameters name no other animation.",
    example=("default_parameters { animation_name: 'b' }", "default_parameters { }"),
)
STAMPS = Rule(
    "CAP105",
    "warning",
    "The keyframes of a log are in the order of time; others are left out.",
    example=("timestamp { seconds: 5 } twice", "timestamp { seconds: 5 }, then timestamp { seconds: 6 }"),
)
