"""When which foot stands, as bars; where it slips, and when none does."""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics.text import shown
from bodymotion.geometry.arrays import Floats
from bodymotion.plots.layout import SIDE, Flow
from bodymotion.plots.panels import together
from bodymotion.plots.parts import Bars, Curves, Sheet
from bodymotion.plots.subject import Subject

__all__ = ["SLIP", "bars", "contacts_sheet", "stretches"]

SLIP = 0.02
"""[m/s] A standing foot that is faster than this over the ground is marked."""
MOST_TOGETHER = 8


def stretches(flags: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return where flags (T,) are set: the first frame of each stretch and the one after its last."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def bars(subject: Subject) -> Bars:
    """Make the bars of all feet."""
    assert subject.measures is not None
    m = subject.measures
    inside = subject.inside(m.times)
    times, slips = m.times[inside], m.contacts.slip_speeds[inside]
    standing = np.asarray(m.contacts.standing[inside])
    feet = range(standing.shape[1])
    return Bars(
        "Feet that stand",
        tuple(shown(m.contacts.names[k] or f"foot {k}", 24) for k in feet),
        tuple(_spans(np.asarray(standing[:, k], dtype=bool), times) for k in feet),
        tuple(_spans(np.asarray(standing[:, k] & (slips[:, k] > SLIP)), times) for k in feet),
        _spans(np.asarray(~standing.any(axis=1)), times),
        "flight",
        f"slips (over {SLIP * 1000:g} mm/s)",
        tuple(feet),
    )


def _spans(flags: npt.NDArray[np.bool_], times: Floats) -> tuple[tuple[float, float], ...]:
    """Return stretches as times; each frame lasts until the next one, the last one as long as the one before."""
    if not len(times):
        return ()
    last = float(times[-1] - times[-2]) if len(times) > 1 else 0.01
    ends = np.append(times[1:], times[-1] + last)
    return tuple((float(times[a]), float(ends[b - 1])) for a, b in stretches(flags))


def contacts_sheet(subject: Subject, flow: Flow) -> Sheet:
    """Make the plot: bars, then height, slip and force of the feet."""
    left, right = SIDE + 1.3, flow.width - SIDE - 1.7
    made = subject.once("bars", lambda: bars(subject))
    flow.across(made, max(0.34 * len(made.labels), 0.7), left=left, right=right)
    for name in ("foot_heights", "slip_speeds", "foot_forces"):
        flow.y += 0.05
        flow.across(subject.once(name, partial(_of_feet, subject, name)), 1.6, left=left, right=right)
    return flow.sheet("contacts", "Contacts", subject)


def _of_feet(subject: Subject, name: str) -> Curves:
    of = subject.series(name)
    feet = range(min(len(of.labels), MOST_TOGETHER))
    return together(of.title, of, feet, labels=[shown(label, 20) for label in of.labels])
