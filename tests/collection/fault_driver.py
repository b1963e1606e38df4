"""Run commands in forked processes, each with one fault at one call that changes files; print what came of it.

Started with `faults.so` in LD_PRELOAD, a folder, and as JSON the names of scenarios and of
faults, and the number of calls that are tried for each of both, 0 for all.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import shutil
import signal
import sys
import traceback
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import bodymotion as bm
from bodymotion.cli import main
from bodymotion.collection.records import current_table

FAULTS = {"once": 1, "full": 2, "killed": 3, "torn": 4, "second": 5}
"""What happens at a call, and its number in `faults.c`."""
TABLE = ["info", "walks", "--workers", "1", "--resume", "--table"]
CATALOGUE = ["catalogue", "walks", "--workers", "1", "--output"]
SET = ["convert", "walks", "set", "--to", "lerobot", "--workers", "1"]
SCENARIOS = {
    "t.jsonl": [*TABLE, "t.jsonl"],
    "t.csv": [*TABLE, "t.csv"],
    "t.parquet": [*TABLE, "t.parquet"],
    "parts": [*CATALOGUE, "parts"],
    "c.parquet": [*CATALOGUE, "c.parquet"],
    "set": SET,
}
"""The command of each result."""


IMPORTED = [
    "bodymotion.checks.motions",
    "bodymotion.cli.catalogue",
    "bodymotion.cli.convert",
    "bodymotion.cli.info_data",
    "bodymotion.cli.many",
    "bodymotion.cli.many_plan",
    "bodymotion.collection.catalogue",
    "bodymotion.formats.seq",
    "duckdb",
    "fsspec",
    "pyarrow.dataset",
    "pyarrow.parquet",
]
"""What the commands import; a fork has it."""


@dataclass
class Ended:
    """How a command ended: by an exit code, negative for a signal; what it printed, and the rows that then are there."""

    code: int
    printed: str
    rows: list[Any] | None
    files: list[str]


@dataclass
class Trial:
    """What came of one fault: the run with it, a second one meanwhile, and the next one."""

    name: str
    fault: str
    call: int
    first: Ended
    second: Ended | None
    following: Ended


def rows_of(path: Path) -> list[Any] | None:
    """Return what a result holds, in order; None where there is none."""
    path = current_table(path)
    if not path.exists():
        return None
    if path.name == "set":
        clips = bm.open_collection(path)
        return [len(clip.load().joint_displacement.values) for clip in clips]
    if path.suffix == ".csv":
        import csv

        with path.open() as stream:
            found: list[Any] = list(csv.DictReader(stream))
    elif path.suffix == ".jsonl":
        lines = path.read_bytes().split(b"\n")
        found = [json.loads(line) for line in lines[:-1]]
    else:
        import pyarrow.parquet

        found = pyarrow.parquet.read_table(path).to_pylist()
    return sorted(found, key=lambda row: str(row["file"]))


def start(folder: Path, words: Sequence[str], fault: str = "", call: int = 0) -> int:
    """Start a command in a forked process; return its number."""
    process = os.fork()
    if process:
        return process
    output = os.open(f"{folder}.{os.getpid()}", os.O_WRONLY | os.O_CREAT, 0o600)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.chdir(folder)
    sys.argv = ["bodymotion", *words]
    faults.faults_arm(os.fsencode(folder), FAULTS.get(fault, 0), call)
    try:
        main()
    except SystemExit as end:
        os._exit(end.code if isinstance(end.code, int) else 1 if end.code else 0)
    except BaseException:
        traceback.print_exc()

    finally:
        os._exit(70)


def ended(process: int, folder: Path, name: str) -> Ended:
    """Wait for the end of a command."""
    _, status = os.waitpid(process, 0)
    printed = Path(f"{folder}.{process}").read_text()
    try:
        rows = rows_of(folder / name)
    except Exception as error:
        rows = [f"{type(error).__name__}: {error}"]
    files = sorted(os.listdir(folder))  # noqa: PTH208
    return Ended(os.waitstatus_to_exitcode(status), printed, rows, files)


def attempt(above: Path, name: str, fault: str, call: int) -> Trial:
    """Run a command with a fault, perhaps a second one meanwhile, and then once more."""
    folder = above / "trial"
    shutil.copytree(above / name, folder)
    words = SCENARIOS[name]
    first = start(folder, words, fault, call)
    second = None
    if fault == "second":
        _, status = os.waitpid(first, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            raise RuntimeError(f"call {call} of {name} was not reached: {status}")
        second = ended(start(folder, words), folder, name)
        os.kill(first, signal.SIGCONT)
    trial = Trial(
        name,
        fault,
        call,
        ended(first, folder, name),
        second,
        ended(start(folder, words), folder, name),
    )
    shutil.rmtree(folder)
    for path in above.glob("trial.*"):
        path.unlink()
    return trial


def prepare(above: Path, name: str) -> None:
    """Write motions, the result of an earlier run on some of them, and then more motions."""
    folder = above / name
    (folder / "walks").mkdir(parents=True)
    for k, letter in enumerate("ab" if name == "set" else "abcd"):
        if k == 2:
            process = start(folder, SCENARIOS[name])
            if ended(process, folder, name).code:
                raise RuntimeError(Path(f"{folder}.{process}").read_text())
        motion = bm.Motion.from_joints(
            np.zeros((20 + k, 2)), 50, joint_names=["a", "b"]
        )
        bm.save(motion, folder / "walks" / f"{letter}.csv")


def run_all(
    above: Path, names: Sequence[str], kinds: Sequence[str], tried: int
) -> None:
    """Print what comes of each scenario: a run without a fault in one line, and each trial in one."""
    for name in names:
        prepare(above, name)
        folder = above / "trial"
        shutil.copytree(above / name, folder)
        before = rows_of(folder / name)
        expected = ended(start(folder, SCENARIOS[name]), folder, name)
        calls = faults.faults_calls()
        shutil.rmtree(folder)
        print(json.dumps([name, before, asdict(expected)]))
        for number, fault in enumerate(kinds):
            numbers = range(1, calls + 1)
            if tried:
                # Other calls for each fault, and always late ones, which replace.
                numbers = range(calls - 2 * number, 0, -max(calls // tried, 1))
            for call in numbers:
                print(json.dumps(asdict(attempt(above, name, fault, call))))


if __name__ == "__main__":
    faults = ctypes.CDLL(os.environ["LD_PRELOAD"])
    del os.environ["LD_PRELOAD"]
    for module in IMPORTED:
        importlib.import_module(module)
    chosen = json.loads(sys.argv[2])
    run_all(Path(sys.argv[1]), chosen["names"], chosen["faults"], chosen["calls"])
