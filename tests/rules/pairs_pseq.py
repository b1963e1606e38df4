"""Pairs for key poses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import bodymotion as bm
from bodymotion.diagnostics import Problem
from rules.pairs import (
    Pair,
    Reported,
    calls,
    example_of,
    examples,
    files,
    in_format,
    limited,
)

LINK = "- { name: WAIST, index: 0, translation: [ 0, 0, 1 ], rotation: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ], isTouching: true }"
POSES = f"""type: PoseSeq
name: A
refs:
  - &stand
    time: 1
    refer:
      type: Pose
      joints: [ 0, 1 ]
      q: [ 0.1, 0 ]
      spJoints: [ 1 ]
      ikLinks:
        {LINK}
      zmp: [ 0, 0, 0 ]
"""
"""A sound file."""
TWO = POSES + "  - { time: 2, refer: { type: Pose } }\n"
FILE = "dance.pseq"


def changed(wrong: str, right: str, good: str = POSES) -> Pair:
    """Make a pair of the text with one piece in place of another."""
    assert good.count(right) == 1
    return files(FILE, good.replace(right, wrong), good)


def saved(key_poses: bm.KeyPoses) -> Reported:
    """Return what is reported when key poses are saved."""
    return lambda folder: bm.save(key_poses, folder / FILE).problems


def commented(time: float) -> Reported:
    """Return what is reported when a pose with a comment is saved at a time."""

    def reported(folder: Path) -> tuple[Problem, ...]:
        (folder / FILE).write_text(POSES.replace("q: [", "# here\n      q: ["))
        read = bm.load_key_poses(folder / FILE)
        return bm.save(
            replace(
                read, poses=(replace(read[0], time=time),) if time != 1 else read.poses
            ),
            folder / FILE,
        ).problems

    return reported


ROBOT = bm.Body(
    name="Robot",
    links=(
        bm.Link(name="WAIST", joint=bm.Joint(type="free")),
        *(
            bm.Link(
                name=f"LEG{k}",
                index=k + 1,
                parent=k,
                offset=[0, 0, -0.1, 1, 0, 0, 0],
                joint=bm.Joint(
                    name=f"J{k}",
                    type="rotate",
                    id=k,
                    axis=np.eye(3)[k % 3],
                    lower=-1,
                    upper=1,
                ),
            )
            for k in range(6)
        ),
    ),
)
REST = bm.KeyPoses(
    name="A",
    poses=(
        bm.keyposes.KeyPose(
            joints={0: 0.1, 3: 0.3, 4: 0.2},
            links=(
                bm.keyposes.LinkKey(name="WAIST", position=[0, 0, 0.6], is_base=True),
                bm.keyposes.LinkKey(
                    name="LEG5",
                    position=ROBOT.forward_kinematics(
                        [0.2, 0.1, 0.1, 0.2, 0.3, 0.1], [0, 0, 0.6, 1, 0, 0, 0]
                    )[6, :3],
                    rotation=bm.rotations.to_matrix(
                        ROBOT.forward_kinematics(
                            [0.2, 0.1, 0.1, 0.2, 0.3, 0.1], [0, 0, 0.6, 1, 0, 0, 0]
                        )[6, 3:]
                    ),
                ),
            ),
        ),
    ),
)
"""Key poses that a body of one leg can follow."""


def on_robot(**changes: object) -> Reported:
    """Return what is found in the first pose with changes, on the body of one leg; `target_body` is of the sequence."""
    target = str(changes.pop("target_body", "Robot"))
    pose = replace(REST[0], **changes)  # type: ignore[arg-type]
    return lambda _: (
        bm.check(replace(REST, target_body=target, poses=(pose,)), body=ROBOT).problems
    )


def foot(**changes: object) -> Reported:
    return on_robot(links=(REST[0].links[0], replace(REST[0].links[1], **changes)))  # type: ignore[arg-type]


PAIRS: dict[str, Pair] = {
    **examples(FILE, POSES, "YAML101 PSQ107 PSQ108 PSQ109"),
    "PSQ003": changed("type: PoseSeq\nname: A\nrefs: 5", POSES.rstrip()),
    **in_format(
        FILE,
        POSES,
        {
            "YAML102": ("zmp: *nothing", "zmp: [ 0, 0, 0 ]"),
            "YAML103": ("time: 1\n    time: 2", "time: 1"),
            "YAML104": ("time: soon", "time: 1"),
            "YAML105": ("time: 1s", "time: 1"),
            "YAML106": ("isTouch1ng: true", "isTouching: true"),
        },
    ),
    "FMT009": limited(
        files(FILE, TWO, POSES), "bodymotion.formats.pseq.reader.MAX_POSES", 1
    ),
    "YAML107 .pseq": files(
        FILE, POSES + example_of("YAML107")[0], POSES + example_of("YAML107")[1]
    ),
    "PSQ101": changed("", "name: A\n"),
    "PSQ102": changed("maxTransitionTime: 1\n", "time: 1\n"),
    "PSQ103": files(FILE, TWO.replace("time: 2", "time: 1"), TWO),
    "PSQ104": changed("{ type: Beat }", "{ type: Pose }", TWO),
    "PSQ105": changed(
        "rest",
        "{ type: Pose }",
        TWO.replace("type: Pose\n", "type: Pose\n      name: rest\n"),
    ),
    "PSQ106": changed("nowhere", "{ type: Pose }", TWO),
    "PSQ110": changed("- { name: WAIST, index: 0 }", LINK),
    "PSQ111": changed("", "name: WAIST, index: 0, "),
    "PSQ112": changed("rotation: [ 2,", "rotation: [ 1,"),
    "PSQ113": files(
        FILE,
        POSES.replace(
            LINK, "\n        ".join([LINK.replace("isTouching", "isBaseLink")] * 2)
        ),
        POSES.replace(LINK, LINK.replace("isTouching", "isBaseLink")),
    ),
    "PSQ114": changed("refs: []\n", POSES.partition("name: A\n")[2]),
    "KEY101": calls(on_robot(joints={6: 0.1}), on_robot()),
    "KEY102": calls(foot(name="TAIL"), foot()),
    "KEY103": calls(on_robot(joints={3: 1.1}), on_robot()),
    "KEY104": calls(foot(position=[0, 0, -2]), foot()),
    "KEY105": calls(on_robot(target_body="SR1"), on_robot()),
    "PSQ201": calls(commented(2.0), commented(1)),
    "PSQ202": calls(
        saved(bm.KeyPoses(name="A", extra={"thing": object()})),
        saved(bm.KeyPoses(name="A", extra={"thing": 1})),
    ),
}
