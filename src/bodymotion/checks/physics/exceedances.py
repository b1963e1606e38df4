"""Moments in which a measured value is above a limit.

They are described only where they are reported: a motion may have thousands of them, of
which `MAX_MOMENTS` are kept.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from bodymotion.checks.findings import (
    MAX_MOMENTS,
    Finding,
    Moment,
    Run,
    Sampling,
    find_runs,
    make_finding,
)
from bodymotion.diagnostics import Rule
from bodymotion.geometry.arrays import Floats

# [s] Two violations with a shorter time between them are one.
BRIDGE = 0.05


class PendingMoment(NamedTuple):
    """A moment that is not described yet."""

    amount: float
    describe: Callable[[], Moment]


class PendingMoments(NamedTuple):
    """The worst moments of one subject, and the number of all."""

    moments: list[PendingMoment]
    total: int


@dataclass(frozen=True)
class Limit:
    """A limit of a measured value.

    Attributes
    ----------
    rule:
        The rule that it belongs to.
    value:
        The limit, in the unit of the message.
    text:
        The message, with {subject}, {amount} (the largest value), {at} and {duration}.
    threshold:
        The multiple of the limit from which on it is a violation.
    max_amount:
        The multiple of the limit from which on it is an error.
    min_duration:
        [s] Shorter violations are left out.
    bridge:
        [s] Violations with shorter gaps are one.
    """

    rule: Rule
    value: float
    text: str
    threshold: float = 1.0
    max_amount: float = np.inf
    min_duration: float = 0.0
    bridge: float = 0.0

    def find(
        self, samples: Sampling, values: Floats, subject: str = ""
    ) -> PendingMoments:
        """Return the moments in which `values` (T,) are above the limit."""
        found, count = find_runs(
            values / self.value,
            samples.times,
            self.threshold,
            min_duration=self.min_duration,
            bridge=self.bridge,
        )
        moments = []
        for run in found:
            describe = partial(self._describe, samples, run, subject)
            moments.append(PendingMoment(run.amount, describe))
        return PendingMoments(moments, count)

    def _describe(self, samples: Sampling, run: Run, subject: str) -> Moment:
        after = min(run.last + 1, len(samples.times) - 1)
        message = self.text.format(
            subject=subject,
            amount=run.amount * self.value,
            at=samples.when(run.worst),
            duration=float(samples.times[after] - samples.times[run.first]),
        )
        return samples.moment(self.rule, run, message, subject, self.max_amount)


def report_worst(rule: Rule, parts: Sequence[PendingMoments]) -> list[Finding]:
    """Return the finding of the moments of several subjects.

    Only the worst are described. An empty list without moments.
    """
    pending = []
    count = 0
    for part in parts:
        pending += part.moments
        count += part.total
    by_amount = sorted(range(len(pending)), key=lambda k: -pending[k].amount)
    worst = sorted(by_amount[:MAX_MOMENTS])
    return make_finding(rule, [pending[k].describe() for k in worst], count)
