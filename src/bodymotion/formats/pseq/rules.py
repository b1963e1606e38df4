"""The rules of .pseq files.

Rules about key poses on a body are in `bodymotion.checks`.
"""

from bodymotion.diagnostics import judgement, reference
from bodymotion.motion.rules import MOTION_NOT_FINITE

RETIRED = {"PSQ007": MOTION_NOT_FINITE.code}

NOT_KEY_POSES = reference.error(
    "PSQ003",
    "The top node is a mapping with `type: PoseSeq` and a list `refs`.",
    example=("type: PoseSequence", "type: PoseSeq"),
)
NAME = reference.error(
    "PSQ101",
    "A sequence has a name.",
    'Choreonoid does not open a file without a name; write name: "Dance"',
    example=("type: PoseSeq", "type: PoseSeq\nname: A"),
)
TIME = reference.error(
    "PSQ102",
    "Each pose has a time, 0 or later.",
    example=("maxTransitionTime: 0.5", "time: 1\n    maxTransitionTime: 0.5"),
)
SAME_TIME = reference.warning(
    "PSQ103",
    "No two poses have the same time. Of several at one time, the first in the file "
    "is reached last.",
    "remove all but one, or give them times of their own",
    example=("two poses at 0 s", "poses at 0 s and at 1 s"),
)
KIND = reference.warning(
    "PSQ104",
    "`refer` is a Pose or a PronunSymbol. Others are not used.",
    leaves_out=True,
    example=("refer: { type: Beat }", "refer: { type: Pose }"),
)
NAMED_POSE = reference.warning(
    "PSQ105",
    "`refer` holds the pose itself. Files from before September 2022 may hold the "
    "name of an earlier pose.",
    "save the file again: Choreonoid does not open it as it is",
    example=("refer: stand", "refer: { type: Pose }"),
)
UNKNOWN_POSE = reference.error(
    "PSQ106",
    "A pose that `refer` names is earlier in the file.",
    example=("refer: nowhere", "refer: { type: Pose }"),
)
LENGTHS = reference.error(
    "PSQ107",
    "`q` has as many values as `joints`.",
    example=(
        "joints: [ 0, 1 ]\n      q: [ 0.1 ]",
        "joints: [ 0, 1 ]\n      q: [ 0.1, 0 ]",
    ),
)
JOINT = judgement.error(
    "PSQ108",
    "Joint ids are whole numbers from 0 on, each once in a pose.",
    example=("joints: [ 0, 0 ]", "joints: [ 0, 1 ]"),
)
STATIONARY = judgement.warning(
    "PSQ109",
    "Joints that come to rest (spJoints) are among the joints of the pose.",
    example=("spJoints: [ 7 ]", "spJoints: [ 1 ]"),
)
LINK_POSE = reference.warning(
    "PSQ110",
    "A link has a translation and a rotation. Otherwise it is not used.",
    leaves_out=True,
    example=(
        "- { name: WAIST, index: 0 }",
        "- { name: WAIST, index: 0, translation: [ 0, 0, 1 ], rotation: […] }",
    ),
)
LINK_NAME = reference.error(
    "PSQ111",
    "A link has a name or an index.",
    example=(
        "- { translation: [ 0, 0, 1 ], rotation: […] }",
        "- { index: 0, translation: [ 0, 0, 1 ], rotation: […] }",
    ),
)
ROTATION = judgement.warning(
    "PSQ112",
    "The rotation of a link is a rotation matrix, given by rows.",
    "its nine numbers are used as they are",
    example=(
        "rotation: [ 2, 0, 0, 0, 1, 0, 0, 0, 1 ]",
        "rotation: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ]",
    ),
)
BASES = reference.warning(
    "PSQ113",
    "At most one link of a pose is the base. The last of several is used.",
    example=("two links with isBaseLink: true", "one link with isBaseLink: true"),
)
NO_POSES = judgement.warning(
    "PSQ114",
    "A sequence has poses.",
    example=("refs: []", "refs: [ { time: 0, refer: { type: Pose } } ]"),
)
COMMENTS = judgement.note(
    "PSQ201",
    "Comments of poses that were changed or removed are not written.",
    leaves_out=True,
    example=("a comment in a pose that was edited", "a comment in a pose that stays"),
)
UNWRITABLE = judgement.warning(
    "PSQ202",
    "YAML holds texts of Unicode characters, numbers, truth values, lists and "
    "mappings.",
    leaves_out=True,
    example=("an object in `extra`", "a number in `extra`"),
)
