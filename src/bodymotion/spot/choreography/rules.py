"""Rules about choreographies, and animations on the robot."""

from bodymotion.diagnostics import document, judgement

SEQUENCE_NAME = document.error(
    "SPOT101", "A sequence has a name.", example=("name: ''", "name: 'show'")
)
TEMPO = judgement.error(
    "SPOT102",
    "A sequence has a tempo from 1 to 10 000 slices per minute.",
    "a slice is a quarter of a beat: slices_per_minute is four times the beats per "
    "minute",
    example=("slices_per_minute: 0", "slices_per_minute: 480"),
)
NO_MOVES = judgement.error(
    "SPOT103", "A sequence has moves.", example=("no moves", "moves { … }")
)
MOVE_UNKNOWN = judgement.error(
    "SPOT104",
    "The robot lists the moves of a sequence, or they are animations.",
    "animation::NAME plays NAME.cha; a list of the robot's own moves (--robot-moves) "
    "can also be given to a stand-in",
    example=("type: 'stp', and a list with 'step'", "type: 'step'"),
)
MOVE_TIME = judgement.error(
    "SPOT105",
    "A move begins at slice 0 or later, lasts a slice or more, and ends at slice 100 "
    "000 or before.",
    example=("requested_slices: 0", "requested_slices: 8"),
)
MOVE_LENGTH = document.warning(
    "SPOT106",
    "A move has the length that its animation or the robot's list defines, unless it "
    "may be extended or truncated.",
    "the nearest length that is allowed is used",
    example=("requested_slices: 9 of an animation of 8 slices", "requested_slices: 8"),
)
MOVE_PARAMETER = document.error(
    "SPOT107",
    "A move sets only parameters that it has, to values within their limits.",
    "the robot rejects the sequence, or with non-strict parsing uses the nearest "
    "value that is allowed",
    example=(
        "animate_params { gripper_offset { value: 1 } } of an animation without it",
        "animate_params { }",
    ),
)
MOVE_UNPLAYABLE = judgement.error(
    "SPOT108",
    "The animation of a move can be played.",
    example=("a height that is nan", "a height of 0.4 m"),
)
TRACKS = document.error(
    "SPOT109",
    "One move at a time controls a track.",
    "let the later move begin where the other ends",
    example=("two moves of the body at slice 0", "one at slice 0, the other after it"),
)
ARM = document.error(
    "SPOT110",
    "An animation that requires an arm is played on a robot with an arm, one that "
    "prohibits an arm on a robot without.",
    example=(
        "arm_required, sent to a robot without arm",
        "arm_required, sent to a robot with arm",
    ),
)
NAME = document.error(
    "SPOT111",
    "An animation that is uploaded has a name.",
    example=("name: ''", "name: 'wave'"),
)
ANIMATION_MISSING = judgement.warning(
    "SPOT112",
    "The animations of a sequence are in files beside it, or the robot lists them.",
    "put NAME.cha beside the sequence or into a folder `animations`, or give the "
    "robot's list: --robot-moves",
    example=(
        "type: 'animation::wave', and no such file",
        "type: 'animation::wave', and wave.cha beside the sequence",
    ),
)
TEMPO_ADVISED = document.note(
    "SPOT113",
    "Sequences are most reliable at 250 to 450 slices per minute.",
    example=("slices_per_minute: 600", "slices_per_minute: 400"),
)
ENTRANCE = document.error(
    "SPOT114",
    "A move of the legs begins in the position in which the one before it ends.",
    "put a transition between the two, such as stand_up or sit",
    example=(
        "a move that ends sitting, then one that begins standing",
        "both end and begin standing",
    ),
)
ENTRANCE_STATE = document.error(
    "SPOT115",
    "The first move of the legs accepts the entrance state of the sequence.",
    example=(
        "entrance_state: TRANSITION_STATE_SIT, and a move that begins standing",
        "TRANSITION_STATE_STAND",
    ),
)
MOVE_ID = document.error(
    "SPOT116",
    "No two moves have the same id.",
    example=("id: 7 twice", "id: 7 and id: 8"),
)
OTHER_PARAMETERS = document.error(
    "SPOT117",
    "A move has the parameters of its type.",
    example=(
        "type: 'animation::wave' step_params { }",
        "type: 'animation::wave' animate_params { }",
    ),
)
NOT_FINITE = judgement.error(
    "SPOT118",
    "Parameters are finite numbers.",
    example=(
        "twerk_params { height { value: nan } }",
        "twerk_params { height { value: 0.1 } }",
    ),
)
ENUMERATION = judgement.warning(
    "SPOT119",
    "The value of an enumeration is one of its names.",
    example=(
        "butt_circle_params { pivot: 9 }",
        "butt_circle_params { pivot: PIVOT_FRONT }",
    ),
)
COLOR = document.error(
    "SPOT120",
    "The parts of a colour are 0 to 255.",
    example=(
        "set_color_params { left_color { red { value: 300 } } }",
        "left_color { red { value: 30 } }",
    ),
)
NO_EFFECT = document.note(
    "SPOT121",
    "A parameter has an effect together with the other parameters of its move.",
    example=(
        "buzzer_note_params { sharp { value: true } flat { value: true } }",
        "sharp { value: true }",
    ),
)
DEPRECATED = document.note(
    "SPOT122",
    "Fields are not deprecated.",
    example=(
        "step_params { mirror { value: true } }",
        "step_params { mirror_x { value: true } }",
    ),
)
GAIT = document.error(
    "SPOT123",
    "No move crosses the start or the end of a custom gait. The moves within it are "
    "repeated until it is stopped.",
    example=(
        "custom_gait from slice 8, and a move from 0 to 12",
        "a move from 8 to 12",
    ),
)
LENGTH_UNKNOWN = document.note(
    "SPOT124",
    "The length of a dance is known. random_stretch lengthens the extendable moves "
    "directly before it by random amounts.",
    example=("type: 'random_stretch'", "type: 'stand_up'"),
)
LINK = document.warning(
    "SPOT125",
    "A move with link_to_next is followed at once by a move of the same type.",
    "link_to_next has no effect otherwise",
    example=(
        "goto_params { link_to_next { value: true } }, and no goto behind it",
        "goto behind it",
    ),
)
HOLD = document.warning(
    "SPOT126",
    "A move body_const begins where another move of the body ends. It holds the last "
    "pose of that move.",
    example=(
        "body_const at slice 8, after a sway that ends at 4",
        "a sway that ends at 8",
    ),
)
SECOND_FOOT = document.warning(
    "SPOT127",
    "A step names two different feet, or LEG_NO_LEG as the second one.",
    example=(
        "foot: LEG_FRONT_LEFT second_foot: LEG_FRONT_LEFT",
        "second_foot: LEG_NO_LEG",
    ),
)
OLD_TYPE = document.note(
    "SPOT128",
    "The type of an animation is animation::NAME, and animation_name is empty or that "
    "name.",
    example=(
        "type: 'animation' animate_params { animation_name: 'wave' }",
        "type: 'animation::wave'",
    ),
)
DIFFERS = judgement.warning(
    "SPOT129",
    "An animation on the robot is the same as in the file beside the sequence.",
    "upload it again; an animation of the same name replaces the old one",
    example=(
        "the robot lists 'animation::wave' with 8 slices, wave.cha has 16",
        "both have 8 slices",
    ),
)
FAULTY = judgement.error(
    "SPOT130",
    "The animations of a sequence have no errors.",
    "`bodymotion check` of the animation's file lists them",
    example=("wave.cha with a column that is twice", "wave.cha without errors"),
)
POSE_JUMP = judgement.warning(
    "SPOT131",
    "An animation begins in the pose in which the move before it ends, or enters it "
    "slowly.",
    "larger body_entry_slices or arm_entry_slices make the entry smoother",
    example=(
        "an animation that ends with the arm stretched, then one that begins stowed",
        "one that begins stretched",
    ),
)
PLACEHOLDER = judgement.note(
    "SPOT132",
    "The moves of a sequence are animations. Others are shown as pauses, or "
    "approximately (≈), because their motion is not published.",
    example=("type: 'step'", "type: 'animation::wave'"),
)
NEAR = judgement.error(
    "SPOT133",
    "Robots that dance together keep a distance of 10 cm.",
    "move the starting places farther apart; the distance is that between boxes "
    "around the parts of the robots",
    example=("two robots that begin 0.5 m apart", "two robots that begin 2 m apart"),
)
