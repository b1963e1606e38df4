"""The rules of .pseq files. Rules about key poses on a body are in `bodymotion.checks`."""

from __future__ import annotations

from bodymotion.diagnostics import Rule

UNREADABLE = Rule(
    "PSQ001",
    "error",
    "The file must exist and be readable.",
    example=("a folder called dance.pseq", "a file called dance.pseq"),
)
NOT_YAML = Rule(
    "PSQ002",
    "error",
    "A .pseq file must be YAML, nested at most 100 deep.",
    example=("zmp: [ 0, 0, 0", "zmp: [ 0, 0, 0 ]"),
    source="reference",
)
NOT_KEY_POSES = Rule(
    "PSQ003",
    "error",
    "The top node must be a mapping with `type: PoseSeq` and a list `refs`.",
    example=("type: PoseSequence", "type: PoseSeq"),
    source="reference",
)
ALIAS = Rule(
    "PSQ004",
    "error",
    "An alias must name a node before it, and all aliases together must not unfold to too many nodes.",
    example=("refer: *walk", "refer: *stand"),
)
KEY_TWICE = Rule(
    "PSQ005",
    "warning",
    "A key must occur once in a mapping; of several the last is used.",
    example=("time: 1\n    time: 2", "time: 1"),
)
WRONG_VALUE = Rule(
    "PSQ006",
    "error",
    "The value of a key must be of the kind that the key needs.",
    example=("time: soon", "time: 1"),
    source="reference",
)
NOT_FINITE = Rule("PSQ007", "error", "Numbers must be finite.", example=("zmp: [ .nan, 0, 0 ]", "zmp: [ 0, 0, 0 ]"))
SUFFIX = Rule(
    "PSQ008",
    "warning",
    "A number must not be followed by other characters.",
    "write 0.5, not 0.5f; the characters behind the number are not used",
    example=("time: 1s", "time: 1"),
)
MISSPELT = Rule(
    "PSQ009",
    "warning",
    "A key that is similar to one of the format is probably misspelt.",
    example=("isTouch1ng: true", "isTouching: true"),
)
TOO_LARGE = Rule(
    "PSQ010",
    "error",
    "A file must stay within the limits of the reader.",
    example=("more than 100 000 key poses", "100 key poses"),
)
IGNORED = Rule(
    "PSQ011",
    "note",
    "A file must hold one document without tags; further documents and tags are not used.",
    leaves_out=True,
    example=("\n--- # another document", "\n# another document"),
)
NAME = Rule(
    "PSQ101",
    "error",
    "A sequence must have a name.",
    'Choreonoid does not open the file without; write name: "Dance"',
    example=("type: PoseSeq", "type: PoseSeq\nname: A"),
    source="reference",
)
TIME = Rule(
    "PSQ102",
    "error",
    "Each pose must have a time, not before 0.",
    example=("maxTransitionTime: 0.5", "time: 1\n    maxTransitionTime: 0.5"),
    source="reference",
)
SAME_TIME = Rule(
    "PSQ103",
    "warning",
    "Poses must have different times; of several at one time the first in the file is reached last.",
    "remove all but one, or give them times of their own",
    example=("two poses at 0 s", "poses at 0 s and at 1 s"),
    source="reference",
)
KIND = Rule(
    "PSQ104",
    "warning",
    "`refer` must be a Pose or a PronunSymbol; others are not used.",
    leaves_out=True,
    example=("refer: { type: Beat }", "refer: { type: Pose }"),
    source="reference",
)
SHARED = Rule(
    "PSQ105",
    "warning",
    "`refer` must hold the pose itself; the name of an earlier pose is how files were written before September 2022.",
    "save the file anew: Choreonoid does not open it as it is",
    example=("refer: stand", "refer: { type: Pose }"),
    source="reference",
)
UNKNOWN_POSE = Rule(
    "PSQ106",
    "error",
    "A pose that `refer` names must stand earlier in the file.",
    example=("refer: nowhere", "refer: { type: Pose }"),
    source="reference",
)
LENGTHS = Rule(
    "PSQ107",
    "error",
    "`q` must have as many values as `joints`.",
    example=("joints: [ 0, 1 ]\n      q: [ 0.1 ]", "joints: [ 0, 1 ]\n      q: [ 0.1, 0 ]"),
    source="reference",
)
JOINT = Rule(
    "PSQ108",
    "error",
    "Joint ids must be whole numbers from 0 on, each once in a pose.",
    example=("joints: [ 0, 0 ]", "joints: [ 0, 1 ]"),
)
STATIONARY = Rule(
    "PSQ109",
    "warning",
    "Joints that come to rest (spJoints) must be among the joints of the pose.",
    example=("spJoints: [ 7 ]", "spJoints: [ 1 ]"),
)
LINK_POSE = Rule(
    "PSQ110",
    "warning",
    "A link must have a translation and a rotation; without, it is not used.",
    leaves_out=True,
    example=("- { name: WAIST, index: 0 }", "- { name: WAIST, index: 0, translation: [ 0, 0, 1 ], rotation: […] }"),
    source="reference",
)
LINK_NAME = Rule(
    "PSQ111",
    "error",
    "A link must have a name or an index.",
    example=(
        "- { translation: [ 0, 0, 1 ], rotation: […] }",
        "- { index: 0, translation: [ 0, 0, 1 ], rotation: […] }",
    ),
    source="reference",
)
ROTATION = Rule(
    "PSQ112",
    "warning",
    "The rotation of a link must be a rotation matrix, given by rows.",
    "its nine numbers are used as they are",
    example=("rotation: [ 2, 0, 0, 0, 1, 0, 0, 0, 1 ]", "rotation: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ]"),
)
BASES = Rule(
    "PSQ113",
    "warning",
    "One link of a pose at most is the base; of several the last is.",
    example=("two links with isBaseLink: true", "one link with isBaseLink: true"),
    source="reference",
)
NO_POSES = Rule(
    "PSQ114",
    "warning",
    "A sequence must have poses.",
    example=("refs: []", "refs: [ { time: 0, refer: { type: Pose } } ]"),
)
COMMENTS = Rule(
    "PSQ201",
    "note",
    "Comments of poses that were changed or removed are not written.",
    leaves_out=True,
    example=("a comment in a pose that was edited", "a comment in a pose that stays"),
)
UNWRITABLE = Rule(
    "PSQ202",
    "warning",
    "YAML holds texts of Unicode characters, numbers, truth values, lists and mappings.",
    leaves_out=True,
    example=("an object in `extra`", "a number in `extra`"),
)
