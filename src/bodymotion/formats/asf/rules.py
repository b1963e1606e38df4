"""The rules of .asf and .amc files. Rules about skeletons and their motion are in `bodymotion.checks`."""

from bodymotion.diagnostics import judgement

UNREADABLE = judgement.error(
    "ASF001", "The file must exist and be readable.", example=("a folder called walk.amc", "a file called walk.amc")
)
NO_SKELETON = judgement.error(
    "ASF002",
    "An .amc needs the .asf with its skeleton: the one whose name its name begins with (01.asf for 01_05.amc), or the only one beside it.",
    "asf=… (--asf) names the file",
    example=("walk.amc alone in a folder", "walk.amc beside walk.asf"),
)
TOO_LARGE = judgement.error(
    "ASF003", "A file must stay within the limits of the reader.", example=("more than 1000 bones", "30 bones")
)
BONES = judgement.error("ASF101", "An .asf must have :root, :bonedata and :hierarchy.", example=(":bones", ":bonedata"))
FIELD = judgement.error(
    "ASF102",
    "A field must have its numbers: three in direction, axis, position and orientation, one greater than 0 in the unit of length.",
    example=("direction 0 -1", "direction 0 -1 0"),
)
DOF = judgement.error(
    "ASF103",
    "The degrees of freedom are rx, ry and rz, each once; those of the root also tx, ty and tz.",
    example=("dof rx rx", "dof rx rz"),
)
HIERARCHY = judgement.error(
    "ASF104", "The hierarchy must have each bone once, below root.", example=("ltibia lfemur", "lfemur ltibia")
)
NAME = judgement.error(
    "ASF105", "Each bone of :bonedata must have a name of its own.", example=("name root", "name lfemur")
)
FRAME = judgement.error(
    "ASF201",
    "A frame must have one line for root and each bone with degrees of freedom: the name, and a finite number for each of them.",
    "a frame with an error is left out",
    example=("ltibia 20 1", "ltibia 20"),
)
NUMBER = judgement.warning(
    "ASF202",
    "The numbers of frames must count up by one.",
    "the file may have been cut or joined; all frames are read",
    example=("3", "2"),
)
RATE = judgement.note(
    "ASF203",
    "The frame rate is not in the file; 120 Hz, that of the CMU recordings, is assumed.",
    "frame_rate=… (--input-rate) gives the rate",
    example=("load('01_01.amc')", "load('01_01.amc', frame_rate=120)"),
)
