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
from fuzz.harness import Place, look_at, show  # noqa: E402
from fuzz.targets import TARGETS  # noqa: E402
from fuzz.watching import Hang, taken, watched  # noqa: E402

import bodymotion as bm  # noqa: E402
from bodymotion.diagnostics import FormatError  # noqa: E402
from bodymotion.formats.registry import find_format  # noqa: E402

ADDRESSES = 4 << 30
"""[bytes] What may be asked for, over what is in use; what is touched is measured."""


def warm_up() -> None:
    """Read a file of each format, so that imports and compilation are done."""
    for target in TARGETS.values():
        place = Place(target)
        for seed in target.seeds():
            fault_of(place, seed)
        place.close()


def read(path: str) -> str:
    """Load, check and look at a file; give its thing's type or the rule that refuses it."""
    said = "refused"
    try:
        thing = bm.load(path, untrusted=True)
    except FormatError as error:
        said = f"refused: {error.problem.rule} {error.problem.message[:100]}"
    else:
        said = type(thing).__name__
        look_at(thing)
        del thing
    report = bm.check(path, untrusted=True)
    str(report)
    try:
        if find_format(path).name == "seq":
            with bm.open_motion(path) as reader:
                for _ in reader.chunks(1000):
                    pass
    except FormatError:
        pass
    return said


def main() -> None:
    warm_up()
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + ADDRESSES,) * 2)
    print(json.dumps({"name": "", "outcome": "ready"}), flush=True)
    for line in sys.stdin:
        given = json.loads(line)
        start, outcome = time.process_time(), ""
        os.chdir(given["folder"])
        try:
            with (
                warnings.catch_warnings(),
                watched(Path(given["folder"]) / "model", given["size"], 20, 1 << 40, given["path"]),
            ):
                warnings.simplefilter("ignore")
                outcome = read(given["path"])
        except (Exception, Hang) as error:
            show(error)
            outcome = f"fault: {type(error).__name__} {error}"[:300]
        answer = {"name": given["name"], "outcome": outcome, "seconds": time.process_time() - start, "memory": taken()}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
