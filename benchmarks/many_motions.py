"""CPU time for each of many walks in one process: the body kept (as `collection.map_files` does), beside the body read for each walk."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import bodymotion as bm
from bodymotion.formats import registry

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
WALKS = 2000
"""Walks of 10 s in the figure of the whole; only a part is run."""
PART = 20


def seconds(walks: list[Path], body: Path) -> float:
    """Return the CPU time for each walk [s]: the body loaded, and the walk checked on it."""
    start = time.process_time()
    for walk in walks:
        bm.check(walk, body=registry.load_body(body))
    return (time.process_time() - start) / len(walks)


def main() -> list[tuple[str, float, float, float, str]]:
    """Print the two times; give (name, kept [s], read each time [s], ratio, target)."""
    body, walk = EXAMPLES / "biped.wrl", EXAMPLES / "biped_walk.seq"
    with tempfile.TemporaryDirectory() as folder:
        walks = [Path(folder) / f"{k}.seq" for k in range(PART)]
        for path in walks:
            path.write_bytes(walk.read_bytes())
        bm.check(walk, body=body)
        each = seconds(walks, body)
        registry.keep_bodies()
        kept = seconds(walks, body)
        registry._kept_bodies = None
    print(
        f"{WALKS} walks of 10 s checked on a body: {kept * WALKS:.0f} s of CPU, {each * WALKS:.0f} s with the body read for each"
    )
    return [("check of many walks, body kept against read each time", kept, each, each / kept, ">= 1")]


if __name__ == "__main__":
    main()
