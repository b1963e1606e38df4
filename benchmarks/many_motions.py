"""Unit costs of many motions in CPU time: walks checked on a body, short clips in a catalogue, questions, a robot with meshes."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from typing import Any

import numpy as np

import bodymotion as bm
from benchmarks.samples import CORPUS
from bodymotion.collection import build_catalogue, open_collection, query
from bodymotion.dynamics import figures, measure
from bodymotion.formats import registry
from bodymotion.kernels import compiling

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
G1 = "robots/YanjieZe+GMR/assets/unitree_g1/g1_mocap_29dof.xml"
DANCE = "retargeted/made/gmr_dance1_subject2_g1.npz"
RECORDED = "mocap/VictorS-67+pybvh/bvh_data/cmu_12_01_walk.bvh"
FRAMES = 1000
WALKS = 2000
"""Walks of 10 s in the figure of the whole; only a part is run."""
PART = 20
CLIPS = 1000
"""Clips of 0.6 s in the catalogue."""


def seconds(walks: list[Path], body: Path) -> float:
    """Return the CPU time for each walk [s]: the body loaded, and the walk checked on it."""
    start = time.process_time()
    for walk in walks:
        bm.check(walk, body=registry.load_body(body))
    return (time.process_time() - start) / len(walks)


def catalogued(folder: Path, body: Path | None) -> tuple[float, float, float]:
    """Return the CPU times for each clip [s] of the processes and of the program, and that of a question."""
    table = folder.parent / f"{body is not None}.parquet"

    def used(who: int) -> float:
        found = getrusage(who)
        return found.ru_utime + found.ru_stime

    before = used(RUSAGE_CHILDREN), used(RUSAGE_SELF)
    number = build_catalogue(open_collection(folder), table, body=body, workers=2)
    after = used(RUSAGE_CHILDREN), used(RUSAGE_SELF)
    start = time.process_time()
    query(table, "errors = 0 and duration > 0.5 and joint_max > 1", ["file"])
    question = time.process_time() - start
    return (after[0] - before[0]) / number, (after[1] - before[1]) / number, question


def per_link(body: Any, motion: Any, work: Any) -> float:
    """Return the CPU time for each frame and link [s]."""
    work(body, motion)
    start = time.process_time()
    for _ in range(3):
        work(body, motion[0 : motion.num_frames])
    return (time.process_time() - start) / 3 / motion.num_frames / len(body.links)


def main() -> list[tuple[str, float, float, float, str]]:
    """Print the costs; return (name, ours [s], other [s], ratio, target)."""
    body, walk = EXAMPLES / "biped.wrl", EXAMPLES / "biped_walk.seq"
    rows: list[tuple[str, float, float, float, str]] = []
    with tempfile.TemporaryDirectory() as above:
        folder = Path(above)
        walks = [folder / f"{k}.seq" for k in range(PART)]
        for path in walks:
            path.write_bytes(walk.read_bytes())
        bm.check(walk, body=body)
        each = seconds(walks, body)
        with registry.bodies_kept():
            # Often enough that compiled code is used, as in a process that gets many.
            kept = min(seconds(walks, body) for _ in range(5))
        print(
            f"{WALKS} walks of 10 s checked on a body: {kept * WALKS:.0f} s of CPU, {each * WALKS:.0f} s with the body read for each"
        )
        rows.append(
            (
                "check of many walks, body kept against read each time",
                kept,
                each,
                each / kept,
                ">= 1",
            )
        )
        bm.save(bm.load(walk)[0:60], folder / "clip.seq")
        (folder / "clips").mkdir()
        for k in range(CLIPS):
            (folder / "clips" / f"{k}.seq").write_bytes(
                (folder / "clip.seq").read_bytes() + b"\n# %d\n" % k
            )
        for name, model in (
            ("no body", None),
            ("torques, contacts and findings on a body", body),
        ):
            inner, outer, question = catalogued(folder / "clips", model)
            rate = 2 / (inner + outer)
            costs = f"{inner * 1e3:.1f} ms in its process, {outer * 1e3:.2f} ms in the program"
            print(f"clip of 60 frames, {name}: {costs}, {rate:.0f}/s on 2 cores")
            print(f"a question to {CLIPS} rows: {question * 1e3:.0f} ms")
    if (CORPUS / G1).exists():
        compiling.expect(WALKS, 1)  # as commands for many files do
        ours = bm.load(body), bm.load(walk)[0:FRAMES]
        robot = bm.load_body(CORPUS / G1)
        steps = bm.retarget(bm.load_skeleton(CORPUS / RECORDED), robot)
        steps = steps.resample(
            FRAMES / (steps.num_frames * float(np.median(np.diff(steps.times))))
        )[0:FRAMES]
        for title, motion, target in (
            ("a walk", steps, ">= 0.67"),
            ("a dance with faults", bm.load(CORPUS / DANCE)[0:FRAMES], "-"),
        ):
            for name, work in (
                ("check", lambda b, m: bm.check(m, body=b)),
                ("measure", lambda b, m: figures(measure(b, m))),
            ):
                costs = np.median(
                    [
                        (per_link(robot, motion, work), per_link(*ours, work))
                        for _ in range(5)
                    ],
                    axis=0,
                )
                title_of = f"{name} of {title} on G1 (meshes) against the walk of the biped, each frame and link"
                rows.append((title_of, costs[0], costs[1], costs[1] / costs[0], target))
    return rows


if __name__ == "__main__":
    main()
