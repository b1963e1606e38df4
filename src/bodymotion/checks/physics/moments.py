"""When something happens in a motion: moments, and the problem that is made of all moments of one rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import Location, Problem, Rule, Severity
from bodymotion.geometry.arrays import Floats

__all__ = ["MOST", "Finding", "Moment", "Run", "finding", "runs", "when"]

MOST = 100
"""So many moments of a rule (and of a joint, for those of limits) are kept: the worst."""


@dataclass(frozen=True)
class Moment:
    """One time at which a motion breaks a rule on its body.

    Attributes
    ----------
    rule, severity:
        The rule's code, such as "MOT301", and how bad it is.
    time:
        [s] when it is worst.
    start, end:
        [s] from when to when it lasts; both are `time` for what happens in one frame.
    frame:
        The number of the frame that is worst, from 0, in the component that `location` names.
    subject:
        The joint or link; "" for the whole body.
    amount:
        How bad, as a multiple of what the rule lets pass: above 1. It tells which moments of one rule are worse than others.
    message:
        What happens, in words.
    location:
        Where the frame stands in the file.
    """

    rule: str
    severity: Severity
    time: float
    start: float
    end: float
    frame: int
    subject: str
    amount: float
    message: str
    location: Location = field(default_factory=Location)


@dataclass(frozen=True)
class Finding:
    """A problem, and the moments at which it shows."""

    problem: Problem
    moments: tuple[Moment, ...] = ()


@dataclass(frozen=True)
class Run:
    """Frames `first` to `last` in which something is wrong, worst in frame `worst`, there by `amount`."""

    first: int
    last: int
    worst: int
    amount: float


def runs(
    amount: Floats, times: Floats, threshold: float = 1.0, *, least: float = 0.0, bridge: float = 0.0, most: int = MOST
) -> tuple[list[Run], int]:
    """Return where `amount` (T,) is above a threshold for `least` seconds or longer; gaps of up to `bridge` seconds do not part two runs.

    NaN is not above. A frame lasts half of the way to both neighbours. Of more than `most` runs the worst are given, in order of time;
    the second result is how many there are in all.
    """
    wrong = np.nan_to_num(amount, nan=-np.inf) > threshold
    frames = np.flatnonzero(wrong)
    if not len(frames):
        return [], 0
    edges = np.concatenate([times[:1], 0.5 * (times[1:] + times[:-1]), times[-1:]])
    apart = edges[frames[1:]] - edges[frames[:-1] + 1]
    cuts = np.flatnonzero((np.diff(frames) > 1) & (apart > bridge)) + 1
    starts = np.concatenate([[0], cuts])
    firsts, lasts = frames[starts], frames[np.concatenate([cuts, [len(frames)]]) - 1]
    long = edges[lasts + 1] - edges[firsts] >= least * (1 - 1e-9)
    tops = np.maximum.reduceat(amount[frames], starts)
    chosen = np.flatnonzero(long)
    count = len(chosen)
    if count > most:
        chosen = np.sort(chosen[np.argsort(-tops[chosen], kind="stable")[:most]])
    found = []
    for k in chosen:
        first, last = int(firsts[k]), int(lasts[k])
        worst = first + int(np.nanargmax(amount[first : last + 1]))
        found.append(Run(first, last, worst, float(tops[k])))
    return found, count


def when(frame: int, time: float) -> str:
    """Return the words for a frame and its time."""
    return f"frame {frame} (t = {time:.2f} s)"


def finding(rule: Rule, moments: Sequence[Moment], total: int | None = None) -> list[Finding]:
    """Make the one problem of all moments of a rule, which says what is worst, and when the next are; nothing where there are none.

    `total`: how many there are, where not all were kept.
    """
    if not moments:
        return []
    count = len(moments) if total is None else total
    worst = max(moments, key=lambda moment: moment.amount)
    others = sorted((m for m in moments if m is not worst), key=lambda moment: -moment.amount)[:4]
    message = worst.message
    if count > 1:
        named = ", ".join(
            f"t = {m.time:.2f} s" + (f" ({m.subject})" if m.subject and m.subject != worst.subject else "")
            for m in sorted(others, key=lambda moment: moment.time)
        )
        more = count - 1 - len(others)
        message = f"in {count} places, worst: {message}; also at {named}" + (f" and {more} more times" if more else "")
    kept = sorted(moments, key=lambda moment: -moment.amount)[:MOST]
    return [Finding(rule.problem(message, worst.location), tuple(sorted(kept, key=lambda m: (m.time, -m.amount))))]


Where = Callable[[int], Location]
Mask = npt.NDArray[np.bool_]
