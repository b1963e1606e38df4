"""Whole commands as processes: CPU seconds as ratios to `python -c "import numpy, numba"` in the same run, and with an empty cache.

Every command is run on the bundled examples several times, in turns with the import of NumPy and numba; the ratio is the median of those of
the turns. CPU seconds are user and system time of the process and its children. The first run of each command is not counted: it fills the
caches, that of the bytecode in a folder of the benchmark, so that PYTHONDONTWRITEBYTECODE does not count. Then each command is run with an
empty NUMBA_CACHE_DIR: the row shows the CPU seconds more than warm, which compiling takes.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
ROUNDS = 5
MAX_COMPILING = 3.0
"""[s] CPU time that a command with an empty cache may take longer than warm."""

COMMANDS: tuple[tuple[str, tuple[str, ...], float], ...] = (
    ("check wave.cha", ("check", "wave.cha"), 1.5),
    ("info of a .cha", ("info", "wave.cha"), 1.5),
    ("info of a .seq", ("info", "biped_walk.seq"), 1.5),
    ("info of a .wrl", ("info", "biped.wrl"), 1.5),
    ("check --body", ("check", "--body", "biped.wrl", "biped_walk.seq"), 2.5),
    ("measure", ("measure", "biped.wrl", "biped_walk.seq"), 2.5),
    ("view --html", ("view", "biped.wrl", "biped_walk.seq", "--html", "OUT.html"), 4.0),
    ("plot", ("plot", "biped.wrl", "biped_walk.seq", "-o", "OUT.png"), 5.0),
    ("report", ("report", "biped.wrl", "biped_walk.seq", "-o", "OUT.html"), 6.0),
)
"""Name, arguments and largest ratio of each command; OUT stands for a file in a temporary folder."""


def cpu_seconds(command: list[str], environment: dict[str, str]) -> float:
    """Return the CPU seconds of a process and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = subprocess.run(
        command,
        cwd=EXAMPLES,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if result.returncode:
        raise SystemExit(
            f"{' '.join(command)}: exit code {result.returncode}\n{result.stderr}"
        )
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _with_empty_cache(command: list[str], environment: dict[str, str]) -> float:
    with tempfile.TemporaryDirectory() as cache:
        return cpu_seconds(command, {**environment, "NUMBA_CACHE_DIR": cache})


def main() -> list[tuple[str, float, float, float, str]]:
    """Print and return one row per command: name, CPU [s], that of the import [s], their ratio, target; and one for the empty cache."""
    imports = [sys.executable, "-c", "import numpy, numba"]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            name: value
            for name, value in os.environ.items()
            if name != "PYTHONDONTWRITEBYTECODE"
        }
        environment["PYTHONPYCACHEPREFIX"] = f"{folder}/bytecode"
        cpu_seconds(imports, environment)
        for name, arguments, target in COMMANDS:
            command = [
                sys.executable,
                "-m",
                "bodymotion",
                *(a.replace("OUT", f"{folder}/out") for a in arguments),
            ]
            cpu_seconds(command, environment)
            ours, theirs = [], []
            for _ in range(ROUNDS):
                theirs.append(cpu_seconds(imports, environment))
                ours.append(cpu_seconds(command, environment))
            ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
            warm, base = statistics.median(ours), statistics.median(theirs)
            cold = min(_with_empty_cache(command, environment) for _ in range(2))
            rows.append((name, warm, base, ratio, f"<= {target:g}"))
            rows.append(
                (
                    f"{name}, compiling",
                    cold - warm,
                    base,
                    cold - warm,
                    f"<= {MAX_COMPILING:g} s",
                )
            )
            print(
                f"{name}: {warm:.2f} s of CPU, {ratio:.2f} times the import of NumPy and numba ({base:.2f} s; target {target:g}); "
                f"with an empty cache {cold - warm:.2f} s more (target {MAX_COMPILING:g})"
            )
    return rows


if __name__ == "__main__":
    main()
