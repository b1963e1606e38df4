"""A check of a motion on its body, with all rules of physics, beside the time to load the two; with compiled code loaded."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

import bodymotion as bm
from benchmarks.samples import sample

ROBOT = "wrl/choreonoid+choreonoid/share/model/SR1/SR1.wrl"
WARM_UP = 32  # So many checks are enough for all that is computed by compiled code.
WALKS = (
    "seq/choreonoid+choreonoid/sample/SimpleController/SR1WalkPattern2.seq",
    "seq/choreonoid+choreonoid/share/motion/SR1/SR1WalkPattern2.yaml",
)


def compare(motion: Path, body: Path, repeats: int = 9) -> tuple[float, float]:
    """Return the median seconds of loading both and of checking one against the other, files read each time, taken in turns."""
    for _ in range(WARM_UP):
        bm.check(motion, body=body)
    loading, checking = [], []
    for _ in range(repeats):
        start = time.perf_counter()
        bm.load(motion)
        bm.load(body)
        loading.append(time.perf_counter() - start)
        start = time.perf_counter()
        bm.check(motion, body=body)
        checking.append(time.perf_counter() - start)
    return statistics.median(loading), statistics.median(checking)


def main() -> list[tuple[str, float, float, float, str]]:
    """Print a row for each walk; return (name, the check [s], loading both [s], ratio, target)."""
    rows = []
    for walk in WALKS:
        loading, checking = compare(sample(walk), sample(ROBOT))
        name = f"check of {Path(walk).name} on SR1, against loading both"
        rows.append((name, checking, loading, loading / checking, ">= 0.1"))
        print(
            f"{name}: {checking * 1e3:.1f} ms, loading {loading * 1e3:.1f} ms: {checking / loading:.1f} times as long"
        )
    return rows


if __name__ == "__main__":
    main()
