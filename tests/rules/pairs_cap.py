"""Pairs for animations and logs of Spot as messages."""

from __future__ import annotations

from pathlib import Path

import bodymotion as bm
from rules.pairs import Pair, calls, files, limited, problems_of

WAVE = """\
name: 'wave'
bpm: 1
controls_body: true
default_parameters { }
animation_keyframes { time: 0 body { body_pos { z { value: 0.5 } x { } } euler_angles { } } }
animation_keyframes { time: 1 body { body_pos { z { value: 0.5 } x { } } euler_angles { } } }
"""
LOG = "".join(
    f"key_frames {{ timestamp {{ seconds: {second} }} joint_angles {{ fl {{ knee: -1 }} }} }}\n"
    for second in (5, 6)
)
LEGS = (
    "legs { "
    + " ".join(
        f"{leg} {{ joint_angles {{ hip_x: 0.1 hip_y: 0.8 knee: -1.6 }} }}"
        for leg in ("fl", "fr", "hl", "hr")
    )
    + " }"
)
FULL = bm.spot.to_bytes(
    bm.spot.from_text(
        "".join(f"animation_keyframes {{ time: {k} {LEGS} }}\n" for k in (0, 1))
    )
)
BYTES = bm.spot.to_bytes(bm.spot.from_text(WAVE))


def sparse(count: int) -> bytes:
    """Return the bytes of an animation with so many empty keyframes (field 2, of length 0) at its end."""
    return FULL + b"\x12\x00" * count


def limits(*names: str) -> str:
    return "".join(f"{name}_parameters {{ speed {{ value: 1 }} }}\n" for name in names)


def one(code: str, good: str, right: str, wrong: str) -> Pair:
    assert right in good
    return files(
        "wave.cap", good.replace(right, wrong, 1), good, place=code == "CAP002"
    )


SHOW = (
    "name: 'show' slices_per_minute: 400\nmoves { type: 'sit' requested_slices: 8 }\n"
)


def forced(folder: Path, text: str) -> tuple[bm.Problem, ...]:
    """Return the problems of a text that is read as an animation."""
    (folder / "wave.cap").write_text(text)
    return problems_of(lambda: bm.load(folder / "wave.cap", format="cap"))


def listed(folder: Path, text: str) -> tuple[bm.Problem, ...]:
    """Return the problems of a file of a robot's moves."""
    (folder / "robot.txt").write_text(text)
    (folder / "show.csq").write_text(SHOW)
    return problems_of(
        lambda: bm.load(folder / "show.csq", robot_moves=folder / "robot.txt")
    )


PAIRS: dict[str, Pair] = {
    "CAP001": files("wave.pb", BYTES[:-1], BYTES, place=False),
    "CAP002": one("CAP002", WAVE, "time: 1", "time: soon"),
    "CAP003": one("CAP003", WAVE, "euler_angles { }", "quaternion { w: 1 }"),
    "FMT009 .pb": files(
        "wave.pb", sparse(600_000), sparse(10), place=False, still="CHA120 MOT105"
    ),
    "CAP005": calls(
        lambda folder: forced(folder, "name: 'wave'\nmoves { type: 'step' }\n"),
        lambda folder: forced(folder, WAVE),
    ),
    "CAP006": files(
        "wave.cap", "name: 'wave'\ncontrols_body: true\n", WAVE, place=False
    ),
    "FMT009 .csq": limited(
        files(
            "show.csq",
            SHOW + SHOW.partition("\n")[2] * 2,
            SHOW,
            place=False,
            still="SPOT105",
        ),
        "bodymotion.spot.cha_proto.sequence.MAX_MOVES",
        2,
    ),
    "CAP009": calls(
        lambda folder: listed(folder, ""),
        lambda folder: listed(folder, "sway sway_params\nvertical 0 0.05 0.1\n"),
    ),
    "CAP101": one("CAP101", WAVE, "bpm: 1", "tail: 1"),
    "CAP102": one(
        "CAP102",
        WAVE,
        "body_pos { z { value: 0.5 } x { } }",
        "body_pos { z { value: 0.5 } }",
    ),
    "CAP103": one(
        "CAP103",
        WAVE.replace("default_parameters { }\n", "")
        + limits("minimum", "default", "maximum"),
        limits("minimum", "default", "maximum"),
        limits("default"),
    ),
    "CAP104": one(
        "CAP104",
        WAVE,
        "default_parameters { }",
        "default_parameters { animation_name: 'b' }",
    ),
    "CAP105": files(
        "log.pbtxt",
        LOG.replace("seconds: 6", "seconds: 5"),
        LOG,
        place=False,
        still="CHA181",
    ),
}
