"""Choreonoid's key poses (.pseq).

YAML; joints, links and the zero moment point of a robot at a few times.

The shape of a file (s, m, rad; the world's frame)::

    # Body pose sequence format version 1.0 defined by cnoid-Robotics
    type: PoseSeq
    name: "Walk"
    targetBody: "SR1"
    refs:
      -
        time: 2.5
        maxTransitionTime: 0.8
        refer:
          type: Pose
          name: ""
          joints: [ 0, 1, 2 ]
          q: [ 0.1, -0.2, 0 ]
          spJoints: [ 1 ]
          ikLinks:
            -
              name: WAIST
              index: 0
              isBaseLink: true
              translation: [ 0, 0, 0.7 ]
              rotation: [ 1, 0, 0,  0, 1, 0,  0, 0, 1 ]
            -
              name: LLEG_ANKLE_R
              index: 23
              translation: [ 0, 0.09, 0.0545 ]
              rotation: [ 1, 0, 0,  0, 1, 0,  0, 0, 1 ]
              isTouching: true
              partingDirection: [ 0, 0, 1 ]
          zmp: [ 0.04, 0, 0 ]
          isZmpStationaryPoint: true
      -
        time: 3.0
        refer: { type: PronunSymbol, name: a }

`joints` are joint ids, `spJoints` those of them that come to rest. Flags of links, all
false by default: isBaseLink, isStationaryPoint,
isTouching, isSlave; `contactPoints` is a list of points. In files from before September
2022 `refer` may be the name of a pose that stands earlier in the file. Poses of one
time are reached in the reverse order of the file.

`reader` makes a `KeyPoses` of a file, `writer` a file of one: unchanged poses keep
their text with all comments.
"""

from bodymotion.formats.pseq.reader import read_pseq
from bodymotion.formats.pseq.writer import write_pseq

__all__ = ["read_pseq", "write_pseq"]
