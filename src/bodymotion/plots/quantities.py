"""The plot of one quantity: joint by joint in their limbs, foot by foot, or along the axes of the world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bodymotion.diagnostics.text import shown
from bodymotion.dynamics import QUANTITIES, Series
from bodymotion.plots.layout import SIDE, Flow
from bodymotion.plots.limbs import Limb
from bodymotion.plots.panels import panel, ranged, together
from bodymotion.plots.parts import Curves, Sheet
from bodymotion.plots.strips import liveliest
from bodymotion.plots.subject import Subject

__all__ = ["MOST_PANELS", "groups_of", "quantity_sheet", "series_sheet"]

MOST_PANELS = 120
MOST_TOGETHER = 8
OWN_RANGE = ("joint_displacements", "work", "JointDisplacement", "LinkPosition", "limit_distances")
"""Quantities whose panels are scaled one by one; of others those of a limb are drawn to one scale, to be compared."""


def quantity_sheet(subject: Subject, flow: Flow, name: str) -> Sheet:
    """Make the plot of a quantity of a motion on a body."""
    return series_sheet(subject, flow, subject.series(name))


def series_sheet(subject: Subject, flow: Flow, of: Series) -> Sheet:
    """Make the plot of a series."""
    if of.of in ("joint", "link") and len(of.labels):
        notes = _many(subject, flow, of)
    else:
        notes = ()
        _few(flow, of)
    return flow.sheet(of.name, of.title, subject, notes)


def groups_of(subject: Subject, of: Series) -> tuple[Limb, ...]:
    """Return the columns of a series in groups: of joints, the limbs."""
    if of.of != "joint":
        return (Limb("", tuple(range(len(of.labels)))),)
    place = {column: k for k, column in enumerate(subject.columns)}
    found = (Limb(limb.name, tuple(place[c] for c in limb.columns if c in place)) for limb in subject.limbs)
    return tuple(limb for limb in found if limb.columns)


def _many(subject: Subject, flow: Flow, of: Series) -> tuple[str, ...]:
    groups, notes = subject.once((of.name, of.title), lambda: _panels(subject, of))
    flow.grid(groups)
    return notes


def _panels(subject: Subject, of: Series) -> tuple[list[tuple[str, Sequence[Curves]]], tuple[str, ...]]:
    chosen = set(liveliest(of, MOST_PANELS))
    groups: list[tuple[str, Sequence[Curves]]] = []
    several = len(of.labels) > MOST_TOGETHER
    for color, limb in enumerate(groups_of(subject, of)):
        made = [panel(of, k, color) for k in limb.columns if k in chosen]
        groups.append((shown(limb.name, 60) if several else "", _scaled(of, made)))
    notes: list[str] = []
    if of.name in QUANTITIES and QUANTITIES[of.name].limits and of.lower is None:
        notes.append("the model has no such limits")
    if len(chosen) < len(of.labels):
        notes.append(f"the {len(chosen)} of {len(of.labels)} columns that move most are shown; name others to see them")
    return groups, tuple(notes)


def _scaled(of: Series, panels: list[Curves]) -> list[Curves]:
    if of.name in OWN_RANGE:
        return panels
    units = {one.unit for one in panels}
    common = {unit: iter(ranged([one for one in panels if one.unit == unit], from_zero=True)) for unit in units}
    return [next(common[one.unit]) for one in panels]


def _few(flow: Flow, of: Series) -> None:
    left, right = SIDE + 0.7, flow.width - SIDE
    if of.of == "foot" and 1 < len(of.labels) <= MOST_TOGETHER:
        flow.across(together(of.title, of, range(len(of.labels))), 2.6, left=left, right=right - 1.5)
        return
    count = len(of.labels)
    for k in range(min(count, MOST_PANELS)):
        made = panel(of, k, k if of.of == "axis" else 0, most=1600)
        if count == 1:
            made = replace(made, title="")
        flow.across(made, 2.6 if count == 1 else 1.6, left=left, right=right, time_labels=k == count - 1)
