"""Rules about files of any format: FMT…."""

from bodymotion.diagnostics import judgement

UNKNOWN = judgement.error(
    "FMT001",
    "The file is of a format that bodymotion reads.",
    example=("notes.docx", "walk.seq"),
)
UNREADABLE = judgement.error(
    "FMT002",
    "The file can be opened and read to its end.",
    example=("a path where nothing is", "the path of a file"),
)
UNWRITABLE = judgement.error(
    "FMT003",
    "A body or a motion is saved in a format that can hold it.",
    example=("save(body, 'robot.seq')", "save(body, 'robot.wrl')"),
)
OTHER_KIND = judgement.error(
    "FMT004",
    "`load_body` reads a file with a body, `load_motion` one with a motion …",
    "bodymotion.load reads any file",
    example=("load_body('walk.seq')", "load_motion('walk.seq')"),
)
GAINS = judgement.error(
    "FMT005",
    "A file of gains has a line `kp kd` or `name kp kd` for each joint of the body.",
    example=("KNEE stiff 100", "KNEE 8000 100"),
)
CONFLICT = judgement.error(
    "FMT006",
    "A file has no conflict markers of a version control system.",
    "keep one of the two versions, and remove the lines <<<<<<<, ======= and >>>>>>>",
    example=("<<<<<<< HEAD\nmass 2\n=======\nmass 3\n>>>>>>> branch", "mass 2"),
)
NAMES = judgement.error(
    "FMT007",
    "A feature of a LeRobot data set has a name for each number. Features without "
    "names are left out.",
    example=("shape [3], names ['HIP', 'KNEE']", "shape [2], names ['HIP', 'KNEE']"),
)
STAMPS = judgement.warning(
    "FMT008",
    "The time stamps of a LeRobot data set agree with its fps.",
    example=("fps 25, time stamps 0, 0.01, 0.02", "fps 100, time stamps 0, 0.01, 0.02"),
)
TOO_LARGE = judgement.error(
    "FMT009",
    "The sizes, counts and depths in a file are within the limits of its reader. Real "
    "files are below these limits.",
    leaves_out=True,
    example=(
        "a skeleton of 5000 bones, a model of 100 000 links",
        "a skeleton of 30 bones",
    ),
)
UNPACKED = judgement.error(
    "FMT010",
    "A compressed file unpacks to at most 64 MB, or to 100 times its size.",
    "save it again without compression",
    example=("a gigabyte of zeros, compressed", "the same, not compressed"),
)
ENCODING = judgement.warning(
    "FMT011",
    "The text of a file is UTF-8.",
    "save it as UTF-8",
    example=("# 歩行 in cp932", "# 歩行 in UTF-8"),
)
OPTION = judgement.error(
    "FMT012",
    "An option about a file has an effect on it, or confirms what the file states.",
    "leave the option out, or correct the file",
    example=(
        "load('walk.csv', degrees=True) of columns 'KNEE [rad]'",
        "load('walk.csv', degrees=True) of columns 'KNEE'",
    ),
)
LIMIT = judgement.error(
    "FMT013",
    "A file of others is read within the limits of processor time, memory and time on "
    "the clock that its process has.",
    "if you trust the file, raise --time-limit (time_limit=…), or leave out "
    "--untrusted (untrusted=True)",
    leaves_out=True,
    example=("a view of SQLite that never ends, in a .db3", "a table of SQLite"),
)
CRASH = judgement.error(
    "FMT014",
    "Reading a file does not end the process that reads it.",
    "the file is damaged, or a library has a fault: write the file again",
    leaves_out=True,
    example=(
        "damaged metadata at which pyarrow ends the process",
        "metadata as pyarrow writes it",
    ),
)
BLANK = judgement.error(
    "FMT015",
    "Blanks, digits and signs are characters of ASCII, outside of names and comments.",
    "write the character of the keyboard; an input method for Japanese writes U+3000 "
    "for a blank",
    example=("radius\u30000.1", "radius 0.1"),
)

_RETIRED = {
    "FMT002": "ASF001 BDY100 BVH001 MCP001 MJCF100 NPZ004 PKL001 PSQ001 SEQ001 TAB001 "
    "URDF100 VRML100",
    "FMT009": "ASF003 BDY112 BVH003 MJCF104 PKL002 PSQ010 TAB005 "
    "VRML106 VRML211 XML100 XML103",
    "FMT010": "CSV014 MCP002 NPZ002",
    "FMT011": "SEQ220",
}
RETIRED: dict[str, str] = {}
"""Codes that formats had for these rules before."""
for _code, _old_codes in _RETIRED.items():
    RETIRED |= dict.fromkeys(_old_codes.split(), _code)
