"""What files and messages of Spot cannot hold.

Rules ``LOSS06.`` and ``LOSS07.``.
"""

from bodymotion.diagnostics import document, judgement

DISPLAY = judgement.note(
    "LOSS060",
    "The message Animation cannot hold a description and a colour.",
    "they are in MoveInfo: bodymotion.spot.to_move_info()",
    example=("description a nod, saved as .cap", "no description"),
)
EXCLUDED = judgement.warning(
    "LOSS061",
    "A message holds only the last of columns that exclude each other.",
    example=(
        "body_euler_rpy beside body_quat_wxyz, saved as .cap",
        "body_euler_rpy alone",
    ),
)
NO_LIMITS = judgement.warning(
    "LOSS062",
    "A message holds the limits of a parameter, not only its name.",
    "move_params_config=… is the robot's MoveParamsConfig, a text in its list of all "
    "moves",
    example=("speed without limits, saved as .cap", "speed 0.5 1 2"),
)
WHOLE = judgement.warning(
    "LOSS063",
    "A message holds contacts as true or false, and the number of a dance frame as a "
    "whole number.",
    example=("a contact of 0.5, saved as .cap", "a contact of 1"),
)
NO_FIELD = judgement.warning(
    "LOSS064",
    "The messages have no field for this.",
    example=("a column 'mood', saved as .cap", "columns of the document"),
)
DESCRIPTION = document.note(
    "LOSS070",
    "A description is one line of text without # and //, and without blanks around it.",
    example=("description 'a # b'", "description 'a b'"),
)
COMMENTS = judgement.note(
    "LOSS071",
    "Comments are kept beside parts that still exist.",
    example=(
        "a comment at an option that was removed",
        "a comment at an option that is there",
    ),
)
OPTION = document.warning(
    "LOSS072",
    "Options of an animation file have names that the document defines.",
    example=("options={'mood': True}", "options={'extendable': True}"),
)
FREQUENCY = document.note(
    "LOSS073",
    "An animation file has a frequency or a column of times, not both.",
    example=(
        "frequency 30, and times 0, 0.5, 1.3",
        "frequency 30, and times 0, 1/30, 2/30",
    ),
)
UNREAD = judgement.warning(
    "LOSS074",
    "Lines that the reader did not understand are not written.",
    example=(
        "extendible in the file that was read",
        "extendable in the file that was read",
    ),
)
BODY_POSE = judgement.warning(
    "LOSS076",
    "A motion of Spot has a pose of the root.",
    "without it the body stays level at its nominal height",
    example=(
        "an animation of a motion of joints alone",
        "of a motion of joints and the root",
    ),
)
NAME = document.warning(
    "LOSS075",
    "The name of a move is that of its animation file.",
    example=(
        "Animation(name='nod'), saved as wave.cha",
        "Animation(name='wave'), saved as wave.cha",
    ),
)
