"""Motions made unbalanced on purpose: how many that fall in a simulation stand after `balance`, and what the balancing costs.

Five walks at 100 Hz (three of SR1, one interpolated from its key poses, the bundled biped), each in 20 variants: seven with the centre of
mass of the heaviest link shifted, six played faster, seven with a load at the end of an arm. ``python -m benchmarks.unbalanced [WALK…]``
prints a row for each, and sums for each kind. It is no part of ``python -m benchmarks``: it takes many minutes.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

import bodymotion as bm
from benchmarks.samples import sample

SHIFTS = (
    (0.05, 0.0),
    (-0.05, 0.0),
    (0.0, 0.04),
    (0.0, -0.04),
    (0.08, 0.02),
    (-0.06, -0.04),
    (0.1, 0.0),
)
"""[m] Of the centre of mass of the whole body."""
SPEEDS = (1.15, 1.3, 1.5, 1.75, 2.0, 2.5)
LOADS = (0.03, 0.05, 0.07, 0.09, 0.11, 0.13, 0.15)
"""Share of the body's mass."""
ARMS = {"SR1": "LARM_WRIST_R", "BIPED": "L_WRIST"}


def walks() -> Iterator[tuple[str, bm.Body, bm.Motion]]:
    """Yield names, bodies and walks."""
    body = bm.load_body(sample("wrl/choreonoid+choreonoid/share/model/SR1/SR1.wrl"))
    for number in (1, 2, 3):
        path = sample(
            f"seq/choreonoid+choreonoid/sample/SimpleController/SR1WalkPattern{number}.seq"
        )
        yield f"SR1-{number}", body, bm.load_motion(path).resample(100.0, "cubic")
    keys = bm.load_key_poses(
        sample(
            "seq/choreonoid+choreonoid/sample/PoseSeq/motion/SR1/SR1WalkPattern2.pseq"
        )
    )
    yield "SR1-keys", body, keys.to_motion(body)
    examples = Path(__file__).resolve().parents[1] / "examples"
    yield (
        "biped",
        bm.load_body(examples / "biped.wrl"),
        bm.load_motion(examples / "biped_walk.seq").between(0.0, 6.0),
    )


def with_segments(
    body: bm.Body, link: bm.Link, segments: tuple[bm.Segment, ...]
) -> bm.Body:
    """Return the body with other segments of a link."""
    changed = replace(link, segments=segments)
    return replace(
        body, links=tuple(changed if one is link else one for one in body.links)
    )


def variants() -> Iterator[tuple[str, str, str, bm.Body, bm.Motion]]:
    """Yield walk, kind, variant, body and motion of each case."""
    for name, body, motion in walks():
        heavy = max(body.links, key=lambda link: link.mass)
        for shift in SHIFTS:
            # Far enough that the centre of the whole body moves by the shift.
            moved = np.array([*shift, 0.0]) * body.mass / heavy.mass
            segments = tuple(
                replace(
                    one,
                    center_of_mass=one.center_of_mass + one.transform[:3, :3].T @ moved,
                )
                for one in heavy.segments
            )
            yield (
                name,
                "shifted",
                f"{shift[0]:+.2f} {shift[1]:+.2f} m",
                with_segments(body, heavy, segments),
                motion,
            )
        for speed in SPEEDS:
            yield (
                name,
                "faster",
                f"x{speed:g}",
                body,
                bm.editing.change_speed(motion, speed, keep_rate=True),
            )
        arm = body.link(ARMS[body.name])
        for share in LOADS:
            load = bm.Segment(
                name="LOAD", mass=share * body.mass, inertia=1e-3 * np.eye(3)
            )
            yield (
                name,
                "loaded",
                f"{100 * share:.0f} %",
                with_segments(body, arm, (*arm.segments, load)),
                motion,
            )


def main(chosen: list[str]) -> None:
    """Print a row for each case, and the sums."""
    fell, upright, good, newly = (
        Counter[str](),
        Counter[str](),
        Counter[str](),
        Counter[str](),
    )
    for name, kind, variant, body, motion in variants():
        if chosen and name not in chosen:
            continue
        before = bm.simulate(body, motion, sensors=False, until_fall=True).fall
        start = time.process_time()
        new = bm.balance(body, motion)
        spent = time.process_time() - start
        after = bm.simulate(body, new, sensors=False, until_fall=True).fall
        assert new.report is not None
        report = new.report
        joints = max((much for much, _ in report.joints.values()), default=0.0)
        shown = [
            "upright" if time is None else f"falls at {time:.2f} s"
            for time in (before, after)
        ]
        print(
            f"{name:<9}{kind:<8}{variant:<14}{shown[0]:<17}→ {shown[1]:<17}safe {100 * report.safe_after:5.1f} %  slip "
            f"{1e3 * report.slip_after:.2f} mm  joints {joints:.2f}  {report.seconds / spent:.1f}x real time",
            flush=True,
        )
        if before is None:
            good[kind] += 1
            newly[kind] += after is not None
        else:
            fell[kind] += 1
            upright[kind] += after is None
    for kind in fell | good:
        print(
            f"{kind}: {fell[kind]} fell, of these {upright[kind]} stand; {good[kind]} stood, of these {newly[kind]} fall"
        )
    print(
        f"all: {fell.total()} fell, of these {upright.total()} stand; {good.total()} stood, of these {newly.total()} fall"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
