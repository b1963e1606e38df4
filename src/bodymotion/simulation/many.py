"""Many simulations at once, on all cores."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from bodymotion.diagnostics import WrongUseError
from bodymotion.model.body import Body
from bodymotion.simulation.simulating import simulate

if TYPE_CHECKING:
    from bodymotion.motion import Motion
    from bodymotion.simulation.result import Simulation


def simulate_many(
    bodies: Body | Sequence[Body],
    motions: Sequence[Motion],
    *,
    workers: int | None = None,
    **options: Any,  # noqa: ANN401
) -> tuple[Simulation, ...]:
    """Simulate many motions, of one body or of one body each, at once.

    Each simulation is one of `simulate`, on a thread of its own: MuJoCo takes the steps without the lock of the interpreter. The model of a
    body is made once.

    Parameters
    ----------
    bodies:
        One body for all motions, or one for each.
    workers:
        The number of threads; by default that of the cores.
    options:
        Those of `simulate`, the same for all.

    Raises
    ------
    WrongUseError
        When the number of bodies is not that of the motions, or `workers` is less than 1; other errors are those of `simulate`.
    """
    several = [bodies] * len(motions) if isinstance(bodies, Body) else list(bodies)
    if len(several) != len(motions):
        raise WrongUseError(f"bodies: expected one, or one for each of {len(motions)} motions, got {len(several)}")
    count = (os.cpu_count() or 1) if workers is None else workers
    if count < 1:
        raise WrongUseError(f"workers: expected at least 1, got {workers}")
    with ThreadPoolExecutor(count) as pool:
        return tuple(pool.map(lambda pair: simulate(pair[0], pair[1], **options), zip(several, motions, strict=True)))
