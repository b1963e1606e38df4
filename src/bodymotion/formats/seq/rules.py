"""The rules of body motion files.

Rules whose `source` is "reference" are those of Choreonoid's loader, where the
documents define nothing.
"""

from bodymotion.diagnostics import document, judgement, reference

NOT_A_MOTION = document.error(
    "SEQ003",
    "The top node is a mapping of type CompositeSeq (BodyMotion in version 1).",
    "a motion starts with 'type: CompositeSeq'",
    example=("type: PoseSeq", "type: CompositeSeq"),
)
VERSION = reference.error(
    "SEQ004",
    "The format version is 1, 2, 3 or 4.",
    example=("formatVersion: 5", "formatVersion: 2"),
)
IRREGULAR_ROWS = judgement.error(
    "SEQ005",
    "A large file has its frames in a regular form: one line per frame, or the nested "
    "lists that YAML libraries write.",
    "write each frame as '- [ 0.1, 0.2 ]' on a line of its own; only such rows are "
    "read without holding the whole text in memory",
    example=("- [ 0.1, *a ] among gigabytes of rows", "- [ 0.1, 0.2 ]"),
)
TAG = judgement.error(
    "SEQ007",
    "Nodes have no tags other than YAML's own (!!str, !!int, !!float, !!bool, !!seq, "
    "!!map).",
    example=("numParts: !!python/int 2", "numParts: !!int 2"),
)

COMPONENT_TYPE = document.error(
    "SEQ102",
    "Each component has a type.",
    example=(
        "- content: JointDisplacement",
        "- type: MultiValueSeq\n    content: JointDisplacement",
    ),
)
FRAME_RATE_MISSING = document.error(
    "SEQ103",
    "A component without time stamps has a frame rate, its own or that of the top "
    "node.",
    "add 'frameRate: …' to the top node, with the number of frames per second",
    example=("formatVersion: 2", "formatVersion: 2\nframeRate: 100"),
)
NUM_PARTS = document.error(
    "SEQ105",
    "The number of parts is a whole number, zero or greater.",
    example=("numParts: two", "numParts: 2"),
)
FRAME_TIME_V1 = reference.error(
    "SEQ107",
    "A file of version 1 has no time-stamped frames.",
    "write 'formatVersion: 2' and its names",
    example=("formatVersion: 1", "formatVersion: 2"),
)
SE3_FORMAT = document.error(
    "SEQ108",
    "The SE3 format is XYZQWQXQYQZ, XYZQXQYQZQW or XYZRPY.",
    example=("SE3Format: QUATERNION", "SE3Format: XYZQWQXQYQZ"),
)
ROW = document.error(
    "SEQ110",
    "Each frame is a row of as many numbers as numParts, or as many poses.",
    example=("- [ 0.1 ]", "- [ 0.1, 0.2 ]"),
)
NUMBER = judgement.error(
    "SEQ111",
    "The elements of a row are plain decimal numbers, which all programs read alike.",
    "0x10, 1_000, 1:30 and quoted numbers are read differently by different programs",
    example=("- [ 0.1, 1_000 ]", "- [ 0.1, 0.2 ]"),
)
NUM_PARTS_ROWS = document.error(
    "SEQ115",
    "numParts is the number of parts of the rows.",
    "either numParts is wrong, or the rows are: correct one of them",
    example=("numParts: 3", "numParts: 2"),
)
INDENTATION = document.error(
    "SEQ116",
    "The keys of a component are indented below its dash, and its frames below them.",
    "indent the lines below each '-' of a component by 4 spaces, the dashes by 2, the "
    "rows of frames by 6",
    example=(
        "components:\n-\ntype: Vector3Seq\nframes: []",
        "components:\n  -\n    type: Vector3Seq\n    frames: []",
    ),
)

VERSION_MISSING = document.warning(
    "SEQ201",
    "A CompositeSeq has a format version.",
    "add 'formatVersion: 2'; without it the version is 2, or 3 if contents have the "
    "names of version 3",
    fixable=True,
    example=(
        "type: CompositeSeq\ncontent: BodyMotion",
        "type: CompositeSeq\ncontent: BodyMotion\nformatVersion: 2",
    ),
)
VERSION_LOW = judgement.warning(
    "SEQ202",
    "A format version is at least 1.",
    "it is read as version 1",
    example=("formatVersion: 0.5", "formatVersion: 2"),
)
TOP_TYPE = reference.warning(
    "SEQ203",
    "The type of the top node is that of the version: BodyMotion in version 1, "
    "CompositeSeq from 2 on.",
    example=("type: BodyMotion", "type: CompositeSeq"),
)
TOP_CONTENT = document.note(
    "SEQ204",
    "The content of the top node is BodyMotion.",
    example=("content: Dance", "content: BodyMotion"),
)
BARE_COMPONENT = document.warning(
    "SEQ205",
    "Components are in the list 'components' of a CompositeSeq.",
    "it is read as a motion of this one component",
    example=(
        "a Vector3Seq as the top node",
        "a CompositeSeq with the Vector3Seq in its components",
    ),
)
NO_COMPONENTS = judgement.warning(
    "SEQ206",
    "A motion has at least one component.",
    example=(
        "components: []",
        "components: [ { type: Vector3Seq, content: ZMP, frames: [] } ]",
    ),
)
COMPONENT_UNKNOWN = document.warning(
    "SEQ207",
    "The type of a component is MultiValueSeq, MultiSE3Seq or Vector3Seq.",
    "it is kept, and not interpreted",
    example=("type: Vector4Seq", "type: Vector3Seq"),
)
CONTENT_MISSING = document.warning(
    "SEQ208",
    "Each component has a content.",
    "the content of the top node is used, as Choreonoid does",
    example=("- type: Vector3Seq", "- type: Vector3Seq\n    content: ZMP"),
)
CONTENT_OF_OTHER_VERSION = reference.warning(
    "SEQ209",
    "Contents have the names of the file's version.",
    "it is kept under this name",
    example=("content: JointPosition", "content: JointDisplacement"),
)
CONTENT_TYPE = document.warning(
    "SEQ210",
    "Joint displacements are a MultiValueSeq, link positions a MultiSE3Seq, a ZMP a "
    "Vector3Seq.",
    example=(
        "content: LinkPosition\n    numParts: 2",
        "content: JointDisplacement\n    numParts: 2",
    ),
)
CONTENT_TWICE = judgement.warning(
    "SEQ211",
    "Each content occurs once.",
    "both are kept; the properties of Motion return the last one, as Choreonoid does",
    example=("two components with content: ZMP", "one of them with another content"),
)
NUM_PARTS_MISSING = document.warning(
    "SEQ212",
    "A MultiValueSeq or MultiSE3Seq has numParts.",
    "the parts of the first row are counted",
    example=(
        "content: JointDisplacement",
        "content: JointDisplacement\n    numParts: 2",
    ),
)
NUM_PARTS_VECTOR = document.warning(
    "SEQ213",
    "A Vector3Seq has no numParts.",
    "it is not used",
    example=("content: ZMP\n    numParts: 3", "content: ZMP"),
)
NUM_FRAMES = document.warning(
    "SEQ214",
    "numFrames is the number of rows.",
    "all rows are read; numFrames is not used",
    fixable=True,
    example=("numFrames: 3", "numFrames: 2"),
)
SE3_FORMAT_MISSING = document.warning(
    "SEQ215",
    "A MultiSE3Seq has an SE3 format.",
    "it is derived from the length of the first pose",
    example=(
        "content: LinkPosition\n    numParts: 1",
        "content: LinkPosition\n    numParts: 1\n    SE3Format: XYZQWQXQYQZ",
    ),
)
FRAMES_MISSING = judgement.warning(
    "SEQ216",
    "A component has frames.",
    "it is read as a component of no frames",
    example=("content: ZMP }", "content: ZMP, frames: [] }"),
)
LENGTHS = judgement.warning(
    "SEQ217",
    "Joint displacements, link positions and the ZMP have equally many frames.",
    "each keeps its own length; Choreonoid cuts or misreads them",
    example=("- [ 0, 0, 0 ]", "- [ 0, 0, 0 ]\n      - [ 0, 0, 0 ]"),
)
RATES = document.warning(
    "SEQ218",
    "The frame rate of a component is that of the top node.",
    example=("frameRate: 50\n    frames:", "frameRate: 100\n    frames:"),
)
DOCUMENTS = judgement.warning(
    "SEQ221",
    "A file holds one YAML document.",
    "the first one is read",
    example=("---", "# ---"),
)
PART_LABELS = judgement.warning(
    "SEQ222",
    "There are as many part labels as parts.",
    example=("partLabels: [ HIP ]", "partLabels: [ HIP, KNEE ]"),
)
NUM_FRAMES_NUMBER = document.warning(
    "SEQ223",
    "numFrames is a whole number.",
    "not used: all rows are read",
    fixable=True,
    example=("numFrames: many", "numFrames: 2"),
)

MERGE = judgement.warning(
    "SEQ224",
    "Keys are not merged into mappings with '<<'.",
    "they are merged as YAML 1.1 defines; Choreonoid does not merge them",
    example=("<<: *usual", "frameRate: 100"),
)
MISSPELT_CONTENT = judgement.warning(
    "SEQ226",
    "The contents of the format are spelt correctly.",
    "it is kept under this name: programs that look for joints, links or the ZMP do "
    "not find it",
    example=("content: JointDisplacment", "content: JointDisplacement"),
)
IRREGULAR_RATE = judgement.warning(
    "SEQ227",
    "A frame rate is between 0.001 and 1 000 000 frames per second.",
    "frameRate is in frames per second",
    example=("frameRate: 1e-9", "frameRate: 100"),
)

RETIRED = {
    "SEQ104": "MOT106",
    "SEQ112": "MOT105",
    "SEQ113": "MOT101",
}  # Codes that rules had before, and the rules that took over.
