"""Rules about sequences of moves, and about animations on the robot to which they are sent."""

from __future__ import annotations

from bodymotion.diagnostics import DocumentRule, Rule

SEQUENCE_NAME = DocumentRule("SPOT101", "error", "A sequence has a name.", example=("name: ''", "name: 'show'"))
TEMPO = Rule(
    "SPOT102",
    "error",
    "A sequence has a tempo from 1 to 10 000 slices per minute.",
    "without it no move can be danced",
    example=("slices_per_minute: 0", "slices_per_minute: 480"),
)
NO_MOVES = Rule("SPOT103", "error", "A sequence has moves.", example=("no moves", "moves { … }"))
MOVE_UNKNOWN = Rule(
    "SPOT104",
    "error",
    "The moves of a sequence are animations that were uploaded.",
    "the stand-in robot does not have the robot's own moves",
    example=("type: 'step'", "type: 'animation::sway'"),
)
MOVE_TIME = Rule(
    "SPOT105",
    "error",
    "A move begins at slice 0 or later, lasts a slice or more, and ends at slice 100 000 or before.",
    example=("requested_slices: 0", "requested_slices: 8"),
)
MOVE_LENGTH = DocumentRule(
    "SPOT106",
    "warning",
    "A move lasts as long as its animation, unless that may be extended or truncated.",
    hint="its natural length is used",
    example=("requested_slices: 9 of an animation of 8 slices", "requested_slices: 8"),
)
MOVE_PARAMETER = DocumentRule(
    "SPOT107",
    "warning",
    "A move sets parameters that its animation has, within their limits.",
    hint="the nearest value that is allowed is used",
    example=("animate_params { gripper_offset { value: 1 } } of an animation without it", "animate_params { }"),
)
MOVE_UNPLAYABLE = Rule(
    "SPOT108", "error", "The animation of a move can be played.", example=("a height that is nan", "a height of 0.4 m")
)
TRACKS = DocumentRule(
    "SPOT109",
    "error",
    "One move at a time controls a track.",
    hint="the later move is left out",
    example=("two moves of the body at slice 0", "one at slice 0, the other behind it"),
)
ARM = DocumentRule(
    "SPOT110",
    "error",
    "An animation that requires an arm is for a robot with arm, one that prohibits it for a robot without.",
    example=("arm_required, sent to a robot without arm", "arm_required, sent to a robot with arm"),
)
NAME = DocumentRule(
    "SPOT111", "error", "An animation that is uploaded has a name.", example=("name: ''", "name: 'wave'")
)
