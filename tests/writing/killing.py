"""Saves over and over, and is killed at it: ``python tests/writing/killing.py [runs]`` kills a save 200 times.

As a child (``child FILE A B``) it saves the motions of two files in turns; it says "ready" once the first is there.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import bodymotion as bm

MARK = ".bodymotion-tmp-"


def leftovers(folder: Path) -> list[str]:
    """Name the temporary files in a folder."""
    return [path.name for path in folder.iterdir() if MARK in path.name]


def child(target: str, *sources: str) -> None:
    """Save the sources to the target in turns, for ever."""
    motions = [bm.load(source) for source in sources]
    bm.save(motions[0], target)
    print("ready", flush=True)
    while True:
        for motion in motions:
            bm.save(motion, target)


def kill_saves(
    folder: Path, sources: list[Path], runs: int, chance: random.Random
) -> int:
    """Kill `runs` saves at random moments; gives how many left a temporary file, and fails when a file is lost."""
    target = folder / "walk.seq"
    whole = []
    for source in sources:
        bm.save(bm.load(source), target)
        whole.append(target.read_bytes())
    left = 0
    for _ in range(runs):
        process = subprocess.Popen(
            [sys.executable, __file__, "child", str(target), *map(str, sources)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(chance.uniform(0, 0.03))
        process.kill()
        process.wait()
        process.stdout.close()
        assert target.read_bytes() in whole
        found = leftovers(folder)
        assert len(found) <= 1, found
        left += len(found)
        if chance.random() < 0.5:
            bm.save(bm.load(sources[0]), target)
            assert not leftovers(folder)
    bm.save(bm.load(sources[0]), target)
    assert not leftovers(folder)
    return left


def main(runs: int = 200) -> None:
    """Run the long version."""
    import numpy as np

    from bodymotion.motion import Motion, MultiValueSeq
    from bodymotion.motion.components import Timeline

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sources = []
        for k, count in enumerate((3000, 20000)):
            values = np.random.default_rng(k).normal(size=(count, 30))
            motion = Motion(
                (
                    MultiValueSeq(
                        content="JointDisplacement",
                        timeline=Timeline.uniform(count, 500),
                        values=values,
                    ),
                )
            )
            sources.append(folder / f"source{k}.seq")
            bm.save(motion, sources[-1])
        left = kill_saves(folder, sources, runs, random.Random(1))
        print(
            f"{runs} saves killed, no file lost; {left} left a temporary file, which the next save removed"
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        child(*sys.argv[2:])
    else:
        main(*map(int, sys.argv[1:2]))
