"""Resampling a long motion with SLERP: one call here, SciPy's Slerp link by link there.

30 links, 10 minutes at 1 kHz. SciPy turns the orientations of `LINKS` links only, and its time is multiplied by 30 / LINKS; the positions,
which ours interpolates too, are not asked of it.
"""

from __future__ import annotations

import resource
import time

import numpy as np

from bodymotion.geometry import rotations
from bodymotion.motion import Motion, MultiSE3Seq
from bodymotion.motion.components import Timeline

FRAMES, ALL_LINKS, RATE = 600_000, 30, 1000
LINKS = 3


def long_motion() -> Motion:
    """Make link poses that wander and turn."""
    rng = np.random.default_rng(0)
    values = np.empty((FRAMES, ALL_LINKS, 7))
    for link in range(ALL_LINKS):
        steps = rng.normal(size=(FRAMES, 6)) * 1e-3
        np.cumsum(steps, axis=0, out=steps)
        values[:, link, :3] = steps[:, :3]
        values[:, link, 3:] = rotations.from_axis_angle(
            steps[:, 3:], np.linalg.norm(steps[:, 3:], axis=1)
        )
    return Motion(
        (
            MultiSE3Seq(
                content="LinkPosition",
                timeline=Timeline.uniform(FRAMES, RATE),
                values=values,
            ),
        )
    )


def scipys(motion: Motion, times) -> tuple[float, np.ndarray]:
    """Return the seconds that SciPy takes for `LINKS` links, and the orientations (N, LINKS, 4) that it gives."""
    from scipy.spatial.transform import Rotation, Slerp

    found = np.empty((len(times), LINKS, 4))
    start = time.perf_counter()
    for link in range(LINKS):
        turns = Rotation.from_quat(
            motion.link_position.values[:, link, 3:], scalar_first=True
        )
        found[:, link] = Slerp(motion.times, turns)(times).as_quat(scalar_first=True)
    return time.perf_counter() - start, found


def compare(motion: Motion, rate: float, repeats: int = 3):
    """Return the median seconds of ours and of SciPy's for all links, how far they are apart, and by how much memory grew [bytes].

    Memory is what the process took at its peak beyond what it had with the motion and one result.
    """
    result = motion.resample(rate, "linear")
    ours = []
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(repeats):
        del result
        start = time.perf_counter()
        result = motion.resample(rate, "linear")
        ours.append(time.perf_counter() - start)
    grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    times = np.minimum(result.times, motion.times[-1])
    seconds, expected = scipys(motion, times)
    theirs = seconds * ALL_LINKS / LINKS
    found = result.link_position.values[:, :LINKS, 3:]
    apart = np.minimum(
        np.abs(found - expected).max(axis=-1), np.abs(found + expected).max(axis=-1)
    ).max()
    return float(np.median(ours)), theirs, float(apart), grown


def main() -> list[tuple[str, float, float, float, str]]:
    """Print a row for a higher and a lower rate; return (name, ours [s], peer [s], ratio peer/ours, target)."""
    motion = long_motion()
    table = []
    for rate in (1200, 240):
        ours, theirs, apart, grown = compare(motion, rate)
        row = (
            f"SLERP of 30 links, 10 minutes from 1 kHz to {rate} Hz, against SciPy's link by link",
            ours,
            theirs,
            theirs / ours,
            ">= 5",
        )
        print(
            f"{row[0]}: ours {ours:.2f} s, SciPy {theirs:.2f} s, ratio {row[3]:.1f} (target {row[4]})"
        )
        size = 8 * 7 * ALL_LINKS * int(FRAMES / RATE * rate)
        print(
            f"  SciPy's is {ALL_LINKS // LINKS} times that of {LINKS} links; apart {apart:.1e}"
        )
        print(
            f"  the result takes {size / 1e9:.2f} GB; beside motion and result memory grew by {grown / 1e9:.2f} GB"
        )
        table.append(row)
    return table


if __name__ == "__main__":
    main()
