"""The rules of animations and logs as messages."""

from bodymotion.diagnostics import judgement

WIRE = judgement.error(
    "CAP001",
    "The bytes are a complete message of the protobuf wire format.",
    example=("a .pb that is cut off", "a .pb that is whole"),
)
TEXT = judgement.error(
    "CAP002",
    "The text is a message of the protobuf text format.",
    example=("time: soon", "time: 1"),
)
CHANGES = judgement.error(
    "CAP003",
    "All keyframes have the same fields: an animation has one set of columns.",
    example=("body { quaternion { w: 1 } }", "body { euler_angles { } }"),
)
SEQUENCE = judgement.error(
    "CAP005",
    "The message is an animation, not a sequence of moves.",
    "a sequence names animations and other moves that only the robot has",
    example=("moves { type: 'step' }", "name: 'step'"),
)
NO_FRAMES = judgement.error(
    "CAP006",
    "An animation or a log has keyframes.",
    example=(
        "controls_body: true, and no keyframe",
        "animation_keyframes { time: 0 … }",
    ),
)
NO_LIST = judgement.error(
    "CAP009",
    "A file of a robot's moves is the text of ListAllMovesResponse or of "
    "MoveParamsConfig.",
    "give the answer of a robot to ListAllMoves as text, or the file "
    "MoveParamsConfig.txt",
    example=("an empty file", "sway sway_params, and vertical 0 0.05 0.1"),
)
UNKNOWN = judgement.warning(
    "CAP101", "All fields are known. Others are ignored.", example=("tail: 1", "bpm: 1")
)
GAPS = judgement.warning(
    "CAP102",
    "A number is in all keyframes or in none. A missing number gets the value before "
    "it.",
    "the robot reports numbers that only some keyframes have",
    example=("body_pos { z { } }", "body_pos { z { } x { } }"),
)
PARTLY = judgement.warning(
    "CAP103",
    "A parameter has a minimum, a default and a maximum.",
    "missing limits are taken from the others",
    example=(
        "default_parameters { speed { value: 1 } }",
        "minimum_parameters { speed { value: 1 } } default_parameters { speed { "
        "value: 1 } } maximum_parameters { speed { value: 1 } }",
    ),
)
NAME = judgement.note(
    "CAP104",
    "Parameters name no other animation.",
    example=("default_parameters { animation_name: 'b' }", "default_parameters { }"),
)
STAMPS = judgement.warning(
    "CAP105",
    "The keyframes of a log are in the order of time. Others are left out.",
    example=(
        "timestamp { seconds: 5 } twice",
        "timestamp { seconds: 5 }, then timestamp { seconds: 6 }",
    ),
)

# Codes that other rules replaced.
RETIRED = {
    "CAP004": "FMT009",
    "CAP007": "FMT002",
    "CAP008": "FMT009",
}
