"""A process that reads hostile files under limits, and says how each went: a line of JSON for each line on stdin."""

from __future__ import annotations

import json
import os
import resource
import sys
import time
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from fuzz.cases import fault_of  # noqa: E402
from fuzz.harness import Workspace, evaluate, show  # noqa: E402
from fuzz.targets import TARGETS  # noqa: E402
from fuzz.watching import Hang, memory_used, watched  # noqa: E402

import bodymotion as bm  # noqa: E402
from bodymotion.diagnostics import FormatError  # noqa: E402
from bodymotion.formats.meshes import collada  # noqa: E402
from bodymotion.formats.registry import find_format  # noqa: E402

ADDRESSES = 4 << 30
"""[bytes] Memory that may be allocated in addition to that in use; the memory that is used is measured."""


def warm_up() -> None:
    """Read a file of each format, so that imports and compilation are done."""
    for target in TARGETS.values():
        workspace = Workspace(target)
        for seed in target.seeds():
            fault_of(workspace, seed)
        workspace.close()


def read(path: str) -> str:
    """Load, check and evaluate a file; return the type of its value, or the rule that rejects it."""
    outcome = "refused"
    try:
        value = bm.load(path, untrusted=True)
    except FormatError as error:
        outcome = f"refused: {error.problem.rule} {error.problem.message[:100]}"
    else:
        outcome = type(value).__name__
        evaluate(value)
        del value
    report = bm.check(path, untrusted=True)
    str(report)
    try:
        if find_format(path).name == "seq":
            with bm.open_motion(path) as reader:
                for _ in reader.chunks(1000):
                    pass
    except FormatError:
        pass
    return outcome


def main() -> None:
    if os.environ.get("ACCEPT") != "1":
        collada.MAX_NODES //= 10  # Whatever the limit is, nodes that double exceed it.
    warm_up()
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + ADDRESSES,) * 2)
    print(json.dumps({"name": "", "outcome": "ready"}), flush=True)
    for line in sys.stdin:
        case = json.loads(line)
        start, outcome = time.process_time(), ""
        os.chdir(case["folder"])
        try:
            with (
                warnings.catch_warnings(),
                watched(
                    Path(case["folder"]) / "model",
                    case["size"],
                    20,
                    1 << 40,
                    case["path"],
                ),
            ):
                warnings.simplefilter("ignore")
                outcome = read(case["path"])
        except (Exception, Hang) as error:
            show(error)
            outcome = f"fault: {type(error).__name__} {error}"[:300]
        answer = {
            "name": case["name"],
            "outcome": outcome,
            "seconds": time.process_time() - start,
            "memory": memory_used(),
        }
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
