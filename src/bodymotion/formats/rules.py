"""Rules about files of any format: FMT…."""

from __future__ import annotations

from bodymotion.diagnostics import Rule

UNKNOWN = Rule("FMT001", "error", "The file is of a format that bodymotion reads.", example=("notes.docx", "walk.seq"))
UNREADABLE = Rule(
    "FMT002", "error", "The file can be opened.", example=("a path where nothing is", "the path of a file")
)
UNWRITABLE = Rule(
    "FMT003",
    "error",
    "A body, a motion or an animation is written in a format that holds it.",
    example=("save(body, 'robot.seq')", "save(body, 'robot.wrl')"),
)
OTHER_KIND = Rule(
    "FMT004",
    "error",
    "`load_body`, `load_motion` and `load_animation` read a file that holds such a value.",
    "bodymotion.load reads any file",
    example=("load_body('walk.seq')", "load_motion('walk.seq')"),
)
GAINS = Rule(
    "FMT005",
    "error",
    "A file of gains has a line `kp kd` or `name kp kd` for each joint of the body.",
    example=("KNEE stiff 100", "KNEE 8000 100"),
)
CONFLICT = Rule(
    "FMT006",
    "error",
    "A file has no conflict markers of a version control system.",
    "keep one of the two versions, and remove the lines <<<<<<<, ======= and >>>>>>>",
    example=("<<<<<<< HEAD\nmass 2\n=======\nmass 3\n>>>>>>> branch", "mass 2"),
)
