"""Rules about sequences of moves, and about animations on the robot to which they are sent."""

from __future__ import annotations

from bodymotion.diagnostics import document, judgement

SEQUENCE_NAME = document.error("SPOT101", "A sequence has a name.", example=("name: ''", "name: 'show'"))
TEMPO = judgement.error(
    "SPOT102",
    "A sequence has a tempo from 1 to 10 000 slices per minute.",
    "without it no move can be danced",
    example=("slices_per_minute: 0", "slices_per_minute: 480"),
)
NO_MOVES = judgement.error("SPOT103", "A sequence has moves.", example=("no moves", "moves { … }"))
MOVE_UNKNOWN = judgement.error(
    "SPOT104",
    "The moves of a sequence are animations that were uploaded.",
    "the stand-in robot does not have the robot's own moves",
    example=("type: 'step'", "type: 'animation::sway'"),
)
MOVE_TIME = judgement.error(
    "SPOT105",
    "A move begins at slice 0 or later, lasts a slice or more, and ends at slice 100 000 or before.",
    example=("requested_slices: 0", "requested_slices: 8"),
)
MOVE_LENGTH = document.warning(
    "SPOT106",
    "A move lasts as long as its animation, unless that may be extended or truncated.",
    "its natural length is used",
    example=("requested_slices: 9 of an animation of 8 slices", "requested_slices: 8"),
)
MOVE_PARAMETER = document.warning(
    "SPOT107",
    "A move sets parameters that its animation has, within their limits.",
    "the nearest value that is allowed is used",
    example=("animate_params { gripper_offset { value: 1 } } of an animation without it", "animate_params { }"),
)
MOVE_UNPLAYABLE = judgement.error(
    "SPOT108", "The animation of a move can be played.", example=("a height that is nan", "a height of 0.4 m")
)
TRACKS = document.error(
    "SPOT109",
    "One move at a time controls a track.",
    "the later move is left out",
    example=("two moves of the body at slice 0", "one at slice 0, the other behind it"),
)
ARM = document.error(
    "SPOT110",
    "An animation that requires an arm is for a robot with arm, one that prohibits it for a robot without.",
    example=("arm_required, sent to a robot without arm", "arm_required, sent to a robot with arm"),
)
NAME = document.error("SPOT111", "An animation that is uploaded has a name.", example=("name: ''", "name: 'wave'"))
