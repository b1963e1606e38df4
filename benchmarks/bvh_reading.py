"""From a .bvh file of 2.8 MB (LAFAN1, 22 joints, 3945 frames) to positions of joints: ours, and pybvh's reader and `joint_positions`.

By the processor's time, with compiled code loaded: a program that reads few files reads them with simdjson, which takes 4 ms longer. Ours
checks each row, too.
"""

from __future__ import annotations

import time
import warnings

import numpy as np

import bodymotion as bm
from benchmarks.samples import sample

WARM_UP = 50  # So many clips are enough for both to be done by compiled code.
CLIP = "mocap/Roboparty+human-humanoid-tools/assets/motions/mimic/LAFAN/dance1_subject2.bvh"


def main(repeats: int = 9) -> list[tuple[str, float, float, float, str]]:
    """Print and return the rows: (name, ours [s], peer [s], ratio peer/ours, target)."""
    import pybvh

    path = sample(CLIP)
    mine = theirs = float("inf")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(WARM_UP):
            bm.load_skeleton(path).joint_positions()
        for _ in range(repeats):
            start = time.process_time()
            ours = bm.load_skeleton(path).joint_positions(as_read=True)
            mine, start = min(mine, time.process_time() - start), time.process_time()
            peer = pybvh.read_bvh_file(path).joint_positions()
            theirs = min(theirs, time.process_time() - start)
    assert np.abs(ours - peer).max() < 1e-6
    name = "a .bvh to joint positions, against pybvh"
    print(
        f"{name}: ours {mine * 1e3:.0f} ms, pybvh {theirs * 1e3:.0f} ms, ratio {theirs / mine:.1f} (target >= 5)"
    )
    return [(name, mine, theirs, theirs / mine, ">= 5")]


if __name__ == "__main__":
    main()
