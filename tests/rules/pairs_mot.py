"""Pairs for motions, and for motions on a body: the physical ones are written down in `walker`."""

from __future__ import annotations

import numpy as np

import bodymotion as bm
from rules.pairs import Pair, calls, examples
from walker import FAULTS, frames, moving, walker

SEQ = """\
type: CompositeSeq
content: BodyMotion
formatVersion: 2
frameRate: 100
components:
  - type: MultiValueSeq
    content: JointDisplacement
    numParts: 2
    frames:
      - [ 0.1, 0.2 ]
  - type: MultiSE3Seq
    content: LinkPosition
    numParts: 1
    SE3Format: XYZQWQXQYQZ
    frames:
      - [ [ 2, 3, 4, 1, 0, 0, 0 ] ]
"""
BOX = bm.Segment(name="BOX", mass=1.0, inertia=0.01 * np.eye(3), visuals=(bm.Shape(bm.Box((0.1, 0.1, 0.1))),))
TURNS = {
    "type": "rotate",
    "axis": [0, 0, 1],
    "lower": -2.0,
    "upper": 2.0,
    "velocity_lower": -3.0,
    "velocity_upper": 3.0,
}
BODY = bm.Body(
    name="chain",
    links=tuple(
        bm.Link(
            name=name,
            index=k,
            parent=k - 1,
            segments=(BOX,),
            joint=bm.Joint(name=name, id=k - 1, **TURNS) if k else bm.Joint(name=name, type="free"),
        )
        for k, name in enumerate(("BASE", "ARM", "HAND"))
    ),
)


def still(joints: int = 2, frame: float = 0.0) -> bm.Motion:
    """Give 10 frames, 10 in a second, with a joint of the middle one at `frame`, and the root."""
    q = np.zeros((10, joints))
    q[5, 1] = frame
    return bm.Motion.from_joints(q, 10, root=np.tile([0.0, 0, 0, 1, 0, 0, 0], (10, 1)))


def links(count: int, off: float = 0.0) -> bm.Motion:
    """Give poses of so many links beside joints, the last one `off` by so many metres."""
    poses = np.tile([0.0, 0, 0, 1, 0, 0, 0], (10, count, 1))
    poses[7, -1, 0] += off
    return bm.Motion((*bm.Motion.from_link_poses(poses, 10).components, still().joint_displacement))


def on_body(wrong: bm.Motion, right: bm.Motion, body: bm.Body = BODY, of_wrong: bm.Body | None = None) -> Pair:
    return calls(
        lambda _: bm.check(wrong, body=of_wrong or body).problems, lambda _: bm.check(right, body=body).problems
    )


FREE = still().replaced(bm.Vector3Seq(content="ZMP", timeline=bm.Timeline.uniform(10, 10), values=np.zeros((10, 3))))

PAIRS: dict[str, Pair] = {
    "MOT101": on_body(still(frame=np.nan), still()),
    **examples("walk.seq", SEQ, "MOT102 MOT103"),
    "MOT201": on_body(bm.Motion.from_joints(np.zeros((10, 1)), 10), still()),
    "MOT202": on_body(still(3), still()),
    "MOT203": on_body(links(4), links(3)),
    "MOT204": on_body(still(frame=2.1), still(frame=2.0)),
    "MOT205": on_body(still(frame=0.4), still(frame=0.3)),
    "MOT206": on_body(links(3, 0.002), links(3, 0.0005)),
    "MOT207": on_body(FREE, still()),
    **{
        code: on_body(fault(frames(100), large), fault(frames(100), small), walker())
        for code, (fault, large, small) in FAULTS.items()
    },
    "MOT331": on_body(
        moving(frames(100)), moving(frames(100)), walker(arm=2.0, effort=10.0), walker(arm=2.0, effort=9.0)
    ),
}
