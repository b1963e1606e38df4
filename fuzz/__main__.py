"""`python -m fuzz [--seconds N] [TARGET…]`: try each reader for so many seconds, one after another; what breaks it becomes a case."""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAMES = (
    *("seq", "json", "wrl", "body", "urdf", "mjcf", "cha", "cap", "pb", "states", "csv", "npz", "openhrp-text"),
    *("vrml-mesh", "collada", "obj", "stl", "ply", "glb", "gltf"),
)


def main() -> int:
    """Run the targets; give 1 where one of them broke, 2 where atheris is missing."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"what to try: {' '.join(NAMES)} (all)")
    parser.add_argument("--seconds", type=float, default=60, help="for each target (60)")
    parser.add_argument("--until", type=float, help="a time (seconds since 1970) to go on until, round and round")
    parser.add_argument(
        "--cases", type=Path, default=ROOT / "tests" / "fuzz_cases", help="where to keep inputs that break a reader"
    )
    given = parser.parse_args()
    for name in given.targets:
        if name not in NAMES:
            parser.error(f"there is no target {name!r}; there are: {' '.join(NAMES)}")
    if importlib.util.find_spec("atheris") is None:
        print(
            "atheris is not installed (it is for Linux); the tests do the same with hypothesis, for a few seconds",
            file=sys.stderr,
        )
        return 2
    work = Path(os.environ.get("BODYMOTION_FUZZ", Path(tempfile.gettempdir()) / "bodymotion-fuzz"))
    work.mkdir(parents=True, exist_ok=True)
    total: dict[str, list[int]] = {name: [0, 0] for name in given.targets or NAMES}
    while True:
        for name, sums in total.items():
            runs, faults = run(name, given.seconds, given.cases, work)
            sums[0] += runs
            sums[1] += faults
            if given.until is not None and time.time() + given.seconds > given.until:
                break
        if given.until is None or time.time() + given.seconds > given.until:
            break
    print("executions in all: " + ", ".join(f"{name} {runs}" for name, (runs, _) in total.items()))
    return 1 if any(faults for _, faults in total.values()) else 0


def run(name: str, seconds: float, cases: Path, work: Path) -> tuple[int, int]:
    """Fuzz one target in a process of its own; give how many inputs were tried, and how many different faults they showed."""
    command = [sys.executable, "-m", "fuzz.worker", name, str(round(seconds)), str(cases), str(work)]
    log = work / f"{name}.log"
    with log.open("wb") as file:
        ended = subprocess.run(command, cwd=ROOT, stdout=file, stderr=file, check=False).returncode
    text = log.read_text(encoding="utf-8", errors="replace")
    done = re.findall(r"^Done (\d+) runs in (\d+) second", text, re.MULTILINE)
    counted = re.findall(r"^#(\d+)\s", text, re.MULTILINE)
    runs = int(done[-1][0]) if done else int(counted[-1]) if counted else 0
    faults = re.findall(r"^FAULT (.*)", text, re.MULTILINE)
    covered = re.findall(r"\bcov: (\d+)", text)
    branches = covered[-1] if covered else "?"
    print(
        f"{time.strftime('%H:%M:%S')} {name}: {runs} executions in {seconds:.0f} s, {branches} branches, {len(faults)} faults"
    )
    for fault in faults:
        print(f"  {fault}")
    if ended:
        print(f"  ended with {ended}: see {log}")
    sys.stdout.flush()
    return runs, len(faults) + bool(ended and not faults)


if __name__ == "__main__":
    sys.exit(main())
