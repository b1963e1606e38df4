"""`python -m fuzz [--seconds N] [TARGET…]`: fuzz each reader for N seconds, one after another; inputs that break it become cases.

Where they have less than 10 s each, which is less than it takes to start, they are started together, and several are tried at a time.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from fuzz.targets import TARGETS

ROOT = Path(__file__).resolve().parent.parent
TOGETHER = 10.0
"""[s] With less than that for each, targets are started together."""
MAX_SHOWN = 2000
"""[bytes] Maximum length of an input that is printed when it breaks a reader."""


def main() -> int:
    """Run the targets; return 1 if one of them broke, 2 if atheris is missing."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument(
        "targets",
        nargs="*",
        metavar="TARGET",
        help=f"what to try: {' '.join(TARGETS)} (all)",
    )
    parser.add_argument(
        "--seconds", type=float, default=60, help="for each target (60)"
    )
    parser.add_argument(
        "--until",
        type=float,
        help="a time (seconds since 1970) to go on until, round and round",
    )
    parser.add_argument(
        "--cases",
        type=Path,
        default=ROOT / "tests" / "fuzz_cases",
        help="where to keep inputs that break a reader",
    )
    options = parser.parse_args()
    for name in options.targets:
        if name not in TARGETS:
            parser.error(
                f"there is no target {name!r}; expected one of {' '.join(TARGETS)}"
            )
    if importlib.util.find_spec("atheris") is None:
        print(
            "atheris is not installed (it is for Linux); the tests do the same with hypothesis, for a few seconds",
            file=sys.stderr,
        )
        return 2
    work = Path(
        os.environ.get(
            "BODYMOTION_FUZZ", Path(tempfile.gettempdir()) / "bodymotion-fuzz"
        )
    )
    work.mkdir(parents=True, exist_ok=True)
    total: dict[str, list[int]] = {name: [0, 0] for name in options.targets or TARGETS}
    while True:
        together = options.seconds < TOGETHER and len(total) > 1
        for name, runs, faults in (all_of if together else each_of)(
            list(total), options.seconds, options.cases, work
        ):
            total[name][0] += runs
            total[name][1] += faults
            if (
                options.until is not None
                and time.time() + options.seconds > options.until
            ):
                break
        if options.until is None or time.time() + options.seconds > options.until:
            break
    print(
        "executions in all: "
        + ", ".join(f"{name} {runs}" for name, (runs, _) in total.items())
    )
    return 1 if any(faults for _, faults in total.values()) else 0


def each_of(
    names: list[str], seconds: float, cases: Path, work: Path
) -> Iterator[tuple[str, int, int]]:
    """Fuzz targets one after another, each in its own process; yield the name, the number of inputs, and the number of different faults."""
    for name in names:
        command = [
            sys.executable,
            "-m",
            "fuzz.worker",
            name,
            str(round(seconds)),
            str(cases),
            str(work),
        ]
        with (work / f"{name}.log").open("wb") as file:
            ended = subprocess.run(
                command, cwd=ROOT, stdout=file, stderr=file, check=False
            ).returncode
        yield name, *report(name, seconds, ended, work)


def all_of(
    names: list[str], seconds: float, cases: Path, work: Path
) -> Iterator[tuple[str, int, int]]:
    """Fuzz targets side by side from one start; yield as `each_of` does, as they end."""
    command = [
        sys.executable,
        "-m",
        "fuzz.worker",
        ",".join(names),
        str(round(seconds)),
        str(cases),
        str(work),
    ]
    left = set(names)
    with (work / "all.log").open("wb") as file:
        worker = subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=file, text=True
        )
        assert worker.stdout is not None
        for line in worker.stdout:
            found = re.fullmatch(r"ENDED (\S+) (-?\d+)\n", line)
            if found and found.group(1) in left:
                left.remove(found.group(1))
                yield (
                    found.group(1),
                    *report(found.group(1), seconds, int(found.group(2)), work),
                )
        worker.wait()
    for name in sorted(left):
        print(f"  {name} was not tried: see {work / 'all.log'}")
        yield name, 0, 1


def report(name: str, seconds: float, ended: int, work: Path) -> tuple[int, int]:
    """Print the result of a target, and return the number of inputs and the number of different faults."""
    log = work / f"{name}.log"
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
    for kept in re.findall(r"^KEPT (.*)", text, re.MULTILINE):
        print(f"  {kept}:\n  {Path(kept).read_bytes()[:MAX_SHOWN]!r}")
    if ended:
        print(f"  ended with {ended}: see {log}")
    sys.stdout.flush()
    return runs, len(faults) + bool(ended and not faults)


if __name__ == "__main__":
    sys.exit(main())
