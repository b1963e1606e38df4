"""Body motions: Choreonoid's standard body motion files (.seq), of versions 1 to 4.

The shape of a file, in the spelling of version 2::

    type: CompositeSeq
    content: BodyMotion
    formatVersion: 2
    frameRate: 500
    components:
      -
        type: MultiSE3Seq
        content: LinkPosition
        numParts: 1
        SE3Format: XYZQWQXQYQZ
        frames:
          - [ [ 0, 0, 0.7, 1, 0, 0, 0 ] ]
      -
        type: MultiValueSeq
        content: JointDisplacement
        numParts: 2
        frames:
          - [ 0.1, 0.2 ]
      -
        type: Vector3Seq
        content: ZMP
        isRootRelative: true
        frames:
          - [ 0, 0, -0.7 ]

It is YAML; written in flow style as a whole, it is JSON. A row is `[ v, … ]`
(MultiValueSeq), `[ [ x, y, z, … ], … ]` (MultiSE3Seq, nested even for one pose) or `[
x, y, z ]` (Vector3Seq). With `hasFrameTime: true` the time is the first number of the
row. A component inherits the keys that it does not have from the top node.

============  =====================  =================  =========================
version       1                      2 and 4            3
============  =====================  =================  =========================
joints        JointPosition          JointDisplacement  MultiJointDisplacementSeq
links         LinkPosition           LinkPosition       MultiLinkPositionSeq
ZMP           ZMP, RelativeZMP,      ZMP (4: or         ZMPSeq
              RelativeZmp            ZMPSeq)
order of SE3  format                 SE3Format          SE3Format
keys          camelCase, purpose     camelCase (4:      camelCase
              for content            snake_case)
============  =====================  =================  =========================

Version 1 is a BodyMotion and has no key for its version; version 2 is that of the
documents, and Choreonoid writes version 4 today.

Both spellings of a key are read in every version, and contents get their names of
version 2.

The rows of a regular file never go through a YAML parser. `scan` finds them in the
bytes of the file and leaves a small text, the headers;
`document` is the tree of these with the rows beside it; `headers` reads and checks
them; `values` has single values in both directions,
and parses rows into arrays, `rows` those of another shape. `reader` makes the motion,
with every fault of a file. `streaming` reads motions larger than memory. `writer`
writes all four versions, as YAML or JSON.

Where Choreonoid's loader and the documents disagree, the documents are followed:
XYZQXQYQZQW is read in every version; a frame whose time does not increase is an error;
`1.5abc` is not a number; components keep their own lengths; an empty or a bare motion
loads. Time stamps are kept as they are: putting the frames on a fixed rate is not done
while reading.
"""

from bodymotion.formats.seq.headers import ComponentHeader
from bodymotion.formats.seq.reader import parse_seq, read_seq, read_source
from bodymotion.formats.seq.streaming import MotionReader, open_motion

__all__ = [
    "ComponentHeader",
    "MotionReader",
    "open_motion",
    "parse_seq",
    "read_seq",
    "read_source",
]
