"""How long retargeted motions stand: clips on G1 and SR1 in windows of 5 s, each simulated from its own pose and velocity.

``python -m benchmarks.windows [ROBOT] [CLIP…]`` prints a row for each clip: the share of windows that stand to their end, and the median
time to a fall [s], a window that stands counting as 5 s. All motions are at 100 Hz. A window is balanced where that makes at least
`MIN_SAFE` of its frames safe; faster ones, with flights, it makes no better. For the dance on G1 there are rows for the results of GMR and
Unitree, too. It is no part of ``python -m benchmarks``: it takes many minutes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

import bodymotion as bm
from benchmarks.samples import sample
from bodymotion.balancing.balancing import BalancedMotion

SECONDS, FRAME_RATE, MIN_SAFE = 5.0, 100.0, 0.8
HUMANS = "mocap/Roboparty+human-humanoid-tools/assets/motions/mimic/"
CLIPS = {
    "dance": HUMANS + "LAFAN/dance1_subject2.bvh",
    "CMU walk": "mocap/VictorS-67+pybvh/bvh_data/cmu_12_01_walk.bvh",
    "CMU play": "mocap/facebookresearch+fairmotion/tests/data/01_01.bvh",
    "Xsens walk": HUMANS + "Xsens_mocap/walk.bvh",
    "kick": HUMANS + "MOCAP/D0429_踢月转体__01_Sk00_143.bvh",
}
ROBOTS = {
    "G1": "robots/YanjieZe+GMR/assets/unitree_g1/g1_mocap_29dof.xml",
    "SR1": "wrl/choreonoid+choreonoid/share/model/SR1/SR1.wrl",
}
OTHERS = {
    "GMR": "retargeted/made/gmr_dance1_subject2_g1.npz",
    "Unitree": "retargeted/unitreerobotics+unitree_rl_mjlab/mjlab/motions/g1/dance1_subject2.csv",
}


def windows(motion: bm.Motion) -> Iterator[bm.Motion]:
    """Yield the parts of 5 s of a motion; its last part, which is shorter, only where it is the first."""
    motion = motion.resample(FRAME_RATE, "cubic")
    for start in np.arange(0.0, max(motion.duration - SECONDS, 0.0) + 1e-9, SECONDS):
        yield motion.between(start, min(start + SECONDS, motion.duration))


def times_to_fall(body: bm.Body, motion: bm.Motion, balanced: bool) -> np.ndarray:
    """Return for each window the time [s] of the fall, its whole length where it stands, and whether it stands (N, 2)."""
    found = []
    for part in windows(motion):
        try:
            played = bm.balance(body, part, ground=0.0) if balanced else part
        except ValueError:  # nothing is in contact, or its accelerations are too large
            played = part
        if isinstance(played, BalancedMotion) and played.report.safe_after < MIN_SAFE:
            played = part
        fall = bm.simulate(body, played, sensors=False, until_fall=True).fall
        found.append((SECONDS if fall is None else fall, fall is None))
    return np.array(found, dtype=np.float64)


def print_row(name: str, body: bm.Body, motion: bm.Motion) -> None:
    """Print how a motion stands, as it is and balanced."""
    for balanced in (False, True):
        found = times_to_fall(body, motion, balanced)
        share, median = 100 * found[:, 1].mean(), np.median(found[:, 0])
        kind = "balanced" if balanced else "as it is"
        print(
            f"{name:<24}{kind:<10}{len(found):>3} windows, {share:5.1f} % stand, median {median:.2f} s",
            flush=True,
        )


def main(chosen: list[str]) -> None:
    """Print the rows of the chosen robots and clips, by default of all."""
    for robot, path in ROBOTS.items():
        if chosen and {*chosen} & {*ROBOTS} and robot not in chosen:
            continue
        body = bm.load_body(sample(path))
        for clip, source in CLIPS.items():
            if chosen and {*chosen} & {*CLIPS} and clip not in chosen:
                continue
            print_row(
                f"{robot}, {clip}",
                body,
                bm.retarget(bm.load_skeleton(sample(source)), body),
            )
            for name, other in (
                OTHERS.items() if (robot, clip) == ("G1", "dance") else ()
            ):
                print_row(
                    f"{robot}, {clip}, {name}",
                    body,
                    bm.load_motion(sample(other), body=body),
                )


if __name__ == "__main__":
    main(sys.argv[1:])
