"""What `import bodymotion` costs, against `import numpy`: each in fresh interpreters, in turns, timed inside them."""

from __future__ import annotations

import statistics
import subprocess
import sys

TIMED = "import time; start = time.perf_counter(); {code}; print(time.perf_counter() - start)"
ROUNDS = 15


def seconds(code: str) -> float:
    """Return how long some code takes in a fresh interpreter."""
    result = subprocess.run(
        [sys.executable, "-c", TIMED.format(code=code)],
        capture_output=True,
        text=True,
        check=True,
    )
    return float(result.stdout)


def compare(code: str, rounds: int = ROUNDS) -> tuple[float, float]:
    """Return the median seconds of some code and of `import numpy`, after one round that warms the disk's cache."""
    ours, theirs = [], []
    for round_ in range(rounds + 1):
        mine, peer = seconds(code), seconds("import numpy")
        if round_:
            ours.append(mine)
            theirs.append(peer)
    return statistics.median(ours), statistics.median(theirs)


def main() -> list[tuple[str, float, float, float, str]]:
    """Print a row for each way to import; return (name, ours [s], peer [s], ratio peer/ours, target)."""
    rows = []
    for code, target in (
        ("import bodymotion", ">= 0.77 (1/1.3)"),
        ("from bodymotion import Body, Motion, load", "none"),
    ):
        ours, theirs = compare(code)
        row = (f"{code}, against import numpy", ours, theirs, theirs / ours, target)
        print(
            f"{row[0]}: ours {ours * 1e3:.1f} ms, numpy {theirs * 1e3:.1f} ms, ratio {row[3]:.2f} (target {row[4]})"
        )
        rows.append(row)
    return rows


if __name__ == "__main__":
    main()
