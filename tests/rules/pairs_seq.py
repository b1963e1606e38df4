"""Pairs for body motions in YAML."""

from __future__ import annotations

import bodymotion as bm
from bodymotion.formats.seq import parse_seq
from rules.pairs import Pair, calls, examples, files, in_format, limited, problems_of

TOP = "type: CompositeSeq\ncontent: BodyMotion\nformatVersion: 2\nframeRate: 100\n"
JOINTS = """\
  - type: MultiValueSeq
    content: JointDisplacement
    numParts: 2
    frames:
      - [ 0.1, 0.2 ]
      - [ 0.3, 0.4 ]
"""
POSES = """\
  - type: MultiSE3Seq
    content: LinkPosition
    numParts: 1
    SE3Format: XYZQWQXQYQZ
    frames:
      - [ [ 0, 0, 0.8, 1, 0, 0, 0 ] ]
"""
ZMP = "  - type: Vector3Seq\n    content: ZMP\n    isRootRelative: true\n    frames:\n      - [ 0, 0, 0 ]\n"
MOTION = f"{TOP}components:\n{JOINTS}"
MANY = {
    "frameTime": MOTION.replace("numParts: 2", "hasFrameTime: true\n    numParts: 1")
    .replace("0.1, 0.2", "0.5, 2")
    .replace("0.3, 0.4", "0.6, 3"),
    "labels": MOTION.replace(
        "numParts: 2", "numParts: 2\n    numFrames: 2\n    partLabels: [ HIP, KNEE ]"
    ),
    "rate": MOTION.replace("    frames:", "    frameRate: 100\n    frames:"),
    "both": f"{MOTION}{ZMP}      - [ 0, 0, 0 ]\n",
}
LARGE = f"{MOTION}      - [ 0.1, *a ]\n" + "      - [ 0.1, 0.2 ]\n" * 50
"""A row that only a full parser of YAML could read, among others."""
CP932 = f"# 歩行\n{MOTION}"


def written() -> Pair:
    """Write poses in one order of their numbers, with the other one as the twin."""
    motion = parse_seq((MOTION + POSES).encode())

    def saved(order):
        return lambda folder: (
            bm.save(motion, folder / "walk.seq", se3_format=order).problems
        )

    return calls(saved("XYZQXQYQZQW"), saved("XYZQWQXQYQZ"))


TORQUES = (
    "  - type: MultiValueSeq\n    content: Torque\n    numParts: 1\n    frames: {}\n"
)

PAIRS: dict[str, Pair] = {
    **examples("walk.seq", MOTION, "SEQ003 SEQ004 SEQ103 SEQ105 SEQ110 SEQ111 SEQ115"),
    **examples("walk.seq", MOTION, "SEQ226 SEQ227"),
    "SEQ116": files(
        "walk.seq",
        "".join(
            line.strip() + "\n"
            for line in MOTION.replace("\n  - ", "\n-\n").splitlines()
        ),
        MOTION,
    ),
    **in_format(
        "walk.seq",
        MOTION,
        {
            "YAML101": ("- [ 0.1, 0.2", "- [ 0.1, 0.2 ]"),
            "YAML103": ("frameRate: 100\nframeRate: 200", "frameRate: 100"),
        },
    ),
    **examples("walk.seq", MOTION, "YAML106"),
    "SEQ005": limited(
        calls(
            lambda _: problems_of(lambda: parse_seq(LARGE.encode())),
            lambda _: problems_of(
                lambda: parse_seq(LARGE.replace("*a", "0.2").encode())
            ),
        ),
        "bodymotion.formats.seq.document.MAX_WHOLE",
        300,
    ),
    "YAML102 .seq": files(
        "walk.seq",
        MOTION.replace("[ 0.3, 0.4 ]", "*first"),
        MOTION.replace("[ 0.1", "&first [ 0.1").replace("[ 0.3, 0.4 ]", "*first"),
    ),
    **examples("walk.seq", MOTION.replace("numParts: ", "numParts: !!int "), "SEQ007"),
    "YAML104 .seq": files(
        "walk.seq", f"{TOP}components: 7\n", f"{TOP}components: []\n"
    ),
    "YAML104 of a single value": files(
        "walk.seq", MOTION.replace("Rate: 100", "Rate: [ 100 ]"), MOTION
    ),
    **examples("walk.seq", MOTION, "SEQ102 SEQ201 SEQ202 SEQ203 SEQ204 SEQ209 SEQ212"),
    "YAML104 of a truth value": files(
        "walk.seq",
        (MOTION + ZMP).replace("Relative: true", "Relative: 2"),
        MOTION + ZMP,
    ),
    **examples("walk.seq", MANY["frameTime"], "SEQ107"),
    **examples(
        "walk.seq",
        MOTION + POSES + "      - [ [ 0, 0, 0.8, 1, 0, 0, 0 ] ]\n",
        "SEQ108 SEQ215",
    ),
    "YAML104 of frames": files(
        "walk.seq", MOTION + TORQUES.format("7"), MOTION + TORQUES.format("[ [ 7 ] ]")
    ),
    "SEQ205": files(
        "walk.seq",
        "type: Vector3Seq\ncontent: ZMP\nformatVersion: 2\nframeRate: 1\nframes: [[1, 2, 3]]\n",
        f"{TOP}components: [ {{ type: Vector3Seq, content: ZMP, frames: [[1, 2, 3]] }} ]\n",
    ),
    **examples(
        "walk.seq",
        f"{TOP}components: [ {{ type: Vector3Seq, content: ZMP, frames: [] }} ]\n",
        "SEQ206 SEQ216",
    ),
    **examples("walk.seq", MANY["both"], "SEQ207 SEQ208 SEQ210 SEQ213 SEQ217"),
    "SEQ211": files(
        "walk.seq",
        MOTION + JOINTS,
        MOTION + JOINTS.replace("JointDisplacement", "JointEffort"),
    ),
    **examples("walk.seq", MANY["labels"], "SEQ214 SEQ222 SEQ223"),
    **examples("walk.seq", MANY["rate"], "SEQ218"),
    "FMT011": files("walk.seq", CP932.encode("cp932"), CP932),
    **examples("walk.seq", MOTION + "# ---\n", "SEQ221"),
    "SEQ301": written(),
    "SEQ224": files(
        "walk.seq",
        MOTION.replace(
            "frameRate: 100", "usual: &usual { frameRate: 100 }\n<<: *usual"
        ),
        MOTION,
    ),
}

MORE = [
    files("walk.seq", MANY["frameTime"].replace("[ 0.6, 3 ]", "[ 0.5, 3 ]"), MOTION),
    files("walk.seq", MOTION.replace("frameRate: 100", "frameRate: -1"), MOTION),
]
"""Files that break rules which exist once for all formats, whose example is a file of another format."""
