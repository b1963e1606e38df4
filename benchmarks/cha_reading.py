"""Reading and writing a Spot animation of 36 000 keyframes, 31 values each: `load` and `save`, and NumPy's functions for tables of numbers.

Ours reads options, parameters and columns, looks at each value for what the document forbids, and tells zeros that are the bare text 0. Its
save looks at the values, too, and flushes them to the disk. NumPy only reads and writes the numbers.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import bodymotion as bm
from benchmarks.spot_message import timed, write_sample


def main(repeats: int = 7) -> list[tuple[str, float, float, float, str]]:
    """Print and return the rows: (name, ours [s], peer [s], ratio peer/ours, target)."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        path, other = Path(folder) / "sway.cha", Path(folder) / "sway.txt"
        write_sample(path)
        animation = bm.load(path)
        table = np.column_stack([animation.keyframes.times, animation.keyframes.values])
        assert np.array_equal(np.loadtxt(path, skiprows=5), table)
        megabytes = path.stat().st_size / 1e6
        for name, ours, peer, target in (
            (
                "reading .cha",
                lambda: bm.load(path),
                lambda: np.loadtxt(path, skiprows=5),
                ">= 1",
            ),
            (
                "writing .cha",
                lambda: bm.save(animation, other.with_suffix(".cha")),
                lambda: np.savetxt(other, table),
                ">= 3",
            ),
        ):
            mine, _ = timed(ours, repeats)
            theirs, _ = timed(peer, max(2, repeats // 3))
            found.append(
                (
                    f"{name}, {megabytes:.1f} MB, against NumPy's tables",
                    mine,
                    theirs,
                    theirs / mine,
                    target,
                )
            )
            print(
                f"{found[-1][0]}: ours {mine * 1e3:.0f} ms, NumPy {theirs * 1e3:.0f} ms, ratio {theirs / mine:.1f} (target {target})"
            )
        assert bm.load(other.with_suffix(".cha")) == animation
    return found


if __name__ == "__main__":
    main()
