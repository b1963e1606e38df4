"""Writing 100 MB of .seq, a third of the numbers with exponents: `save`, PyYAML's C dumper and `np.savetxt` with the same numbers.

Ours is the whole save: text, temporary file, flush to the disk, renaming. The peers only write to a file. PyYAML is given plain lists that
are there already, of a part of the rows, and its time is scaled.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np

import bodymotion as bm

JOINTS, FRAMES, PART = 40, 108_000, 1_000


def numbers() -> np.ndarray:
    """Make joint values of all sizes (FRAMES, JOINTS): from 1e-12 to 100, about half of them below 1e-5 and so with an exponent."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(FRAMES, JOINTS)) * 10.0 ** rng.integers(
        -12, 2, size=(FRAMES, JOINTS)
    )


def dumped(rows: list, path: Path) -> float:
    """Return the seconds that PyYAML takes."""
    import yaml

    document = {
        "type": "MultiValueSeq",
        "content": "JointDisplacement",
        "numParts": JOINTS,
        "frames": rows,
    }
    start = time.perf_counter()
    with path.open("w") as file:
        yaml.dump(document, file, Dumper=yaml.CSafeDumper, default_flow_style=None)
    return time.perf_counter() - start


def main(repeats: int = 5) -> list[tuple[str, float, float, float, str]]:
    """Print two rows; return (name, ours [s], peer [s], ratio peer/ours, target) of each."""
    values = numbers()
    motion = bm.Motion.from_joints(values, 1000)
    rows = values[:PART].tolist()
    ours, yaml_times, text_times = [], [], []
    with tempfile.TemporaryDirectory() as name:
        path, other = Path(name) / "a.seq", Path(name) / "b.txt"
        bm.save(motion, path)
        size = path.stat().st_size
        for _ in range(repeats):
            start = time.perf_counter()
            bm.save(motion, path)
            ours.append(time.perf_counter() - start)
            yaml_times.append(dumped(rows, other) * FRAMES / PART)
            start = time.perf_counter()
            np.savetxt(other, values[: FRAMES // 10])
            text_times.append((time.perf_counter() - start) * 10)
        assert bm.load(path) == motion
    mine = float(np.median(ours))
    print(
        f"  {size / 1e6:.0f} MB, {values.size / 1e6:.1f} million numbers, {size / 1e6 / mine:.0f} MB/s with the flush to the disk"
    )
    found = []
    for peer, times, target in (
        ("PyYAML's C dumper", yaml_times, ">= 50"),
        ("np.savetxt", text_times, ">= 5"),
    ):
        theirs = float(np.median(times))
        row = (
            f"writing 100 MB of .seq, against {peer}",
            mine,
            theirs,
            theirs / mine,
            target,
        )
        print(
            f"{row[0]}: ours {mine * 1e3:.0f} ms, {peer} {theirs * 1e3:.0f} ms, ratio {row[3]:.1f} (target {target})"
        )
        found.append(row)
    return found


if __name__ == "__main__":
    main()
