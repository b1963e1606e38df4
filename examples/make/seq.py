"""Write a walk as a standard body motion file: blocks outside, rows of numbers in flow style."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .walk import RATE, Walk

HEADER = """# {title}
# Made by examples/make_examples.py of the project bodymotion (Apache-2.0).
type: CompositeSeq
content: BodyMotion
formatVersion: 2
frameRate: {rate}
numFrames: {frames}
components:
"""
COMPONENT = """  -
    type: {type}
    content: {content}
{keys}    frameRate: {rate}
    numFrames: {frames}
    frames:
"""


def plain(value: float) -> str:
    """Write a number of at most ten decimals: always with a point, never with an exponent."""
    text = f"{value:.10f}".rstrip("0")
    text += "0" if text.endswith(".") else ""
    return "0.0" if text == "-0.0" else text


def _row(values: npt.ArrayLike) -> str:
    return "[ " + ", ".join(plain(value) for value in np.ravel(values)) + " ]"


def write_seq(walk: Walk, title: str) -> str:
    """Return the whole file: poses of the root link, joints, zero moment point in the world."""
    rate, frames = f"{RATE:g}", len(walk.joints)

    def component(kind: str, content: str, keys: str, rows: list[str]) -> str:
        head = COMPONENT.format(
            type=kind, content=content, keys=keys, rate=rate, frames=frames
        )
        return head + "".join(f"      - {row}\n" for row in rows)

    return (
        HEADER.format(title=title, rate=rate, frames=frames)
        + component(
            "MultiSE3Seq",
            "LinkPosition",
            "    numParts: 1\n    SE3Format: XYZQWQXQYQZ\n",
            [f"[ {_row(pose)} ]" for pose in walk.root],
        )
        + component(
            "MultiValueSeq",
            "JointDisplacement",
            f"    numParts: {walk.joints.shape[1]}\n",
            [_row(row) for row in walk.joints],
        )
        + component(
            "Vector3Seq",
            "ZMP",
            "    isRootRelative: false\n",
            [_row(row) for row in walk.zmp],
        )
    )
