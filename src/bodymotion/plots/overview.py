"""What one wants to see first: all joints, the fastest and the hardest ones, contacts, balance, and the key figures."""

from __future__ import annotations

from functools import partial

import numpy as np

from bodymotion.diagnostics.text import shown
from bodymotion.dynamics import Figure, Series, figures, measurable
from bodymotion.plots.contacts import bars
from bodymotion.plots.ground import ground_part, margin_part, rests
from bodymotion.plots.layout import COLUMN_EDGE, LEFT, ROW, Flow
from bodymotion.plots.panels import together
from bodymotion.plots.parts import Cell, Curves, Facts, Sheet, Strips
from bodymotion.plots.quantities import groups_of
from bodymotion.plots.strips import strips
from bodymotion.plots.subject import Subject
from bodymotion.plots.words import number

__all__ = ["facts", "overview_sheet"]

HARDEST = 5


def overview_sheet(subject: Subject, flow: Flow) -> Sheet:
    """Make the overview of a motion on a body."""
    m = subject.measures
    assert m is not None
    has = set(measurable(m))
    right, aside = flow.middle, flow.aside
    top = flow.y
    if "joint_displacements" in has and subject.columns:
        made = subject.once("strips", lambda: _strips(subject))
        flow.across(made, max(ROW * len(made.rows), 0.8), left=LEFT, right=right, time_labels=False)
        for name, title in (("joint_velocities", "Fastest joints"), ("torques", "Hardest working joints")):
            if name == "joint_velocities" or (m.body.mass > 0 and _working(subject)):
                most = subject.once(name, partial(_foremost, subject, name, title))
                flow.across(most, 1.15, left=LEFT, right=right, time_labels=False)
    if "contacts" in has:
        feet = subject.once("bars", lambda: bars(subject))
        flow.across(feet, max(0.22 * len(feet.labels), 0.45), left=LEFT, right=right, time_labels=False)
        margin = margin_part(subject)
        if any(np.isfinite(line.values).any() for line in margin.lines):
            flow.across(margin, 1.15, left=LEFT, right=right, time_labels=False)
    elif "power" in has and _working(subject) and m.body.mass > 0:
        most = subject.once("power", lambda: _foremost(subject, "power", "Most power"))
        flow.across(most, 1.15, left=LEFT, right=right, time_labels=False)
    if flow.y == top:
        flow.across(_root(subject.series("root_position")), 1.6, left=LEFT, right=right, time_labels=False)
    _number_last(flow)
    highest = min(max(4.2 * flow.stretch, 1.2), 4.2)
    ground = (
        ground_part(subject, flow.width - COLUMN_EDGE - aside, min(1.6, highest), highest)
        if "zmp" in has and rests(subject)
        else None
    )
    flow.beside(top, aside, ground, subject.once("facts", lambda: facts(subject)))
    return flow.sheet("overview", "", subject)


def _number_last(flow: Flow) -> None:
    last = flow.cells[-1]
    flow.cells[-1] = Cell(last.part, last.x, last.y, last.width, last.height, True)
    flow.y += 0.25


def _strips(subject: Subject) -> Strips:
    joints = subject.series("joint_displacements")
    return strips("Joints", joints, groups_of(subject, joints))


def _working(subject: Subject) -> list[str]:
    """Return the names of the joints that move links: of a crawler's belt no torque is known."""
    assert subject.measures is not None
    joints = subject.measures.body.joints
    return [subject.joint_labels[k] for k in subject.columns if joints[k].type != "crawler"]


def _foremost(subject: Subject, name: str, title: str) -> Curves:
    """Show the columns with the greatest values, of the unit that most of them have."""
    of = subject.series(name)
    if name != "joint_velocities":
        of = of.select(_working(subject))
    unit = max(set(of.units), key=of.units.count)
    sizes = np.where(np.isfinite(of.values), np.abs(of.values), 0.0).max(axis=0, initial=0.0)
    columns = [int(k) for k in np.argsort(-sizes, kind="stable") if of.units[k] == unit][:HARDEST]
    return together(title, of, columns, labels=[shown(label, 18) for label in of.labels])


def _root(of: Series) -> Curves:
    return together(of.title, of, range(3))


def facts(subject: Subject) -> Facts:
    """Return the key figures of the whole motion, in units for people."""
    assert subject.measures is not None
    rows = []
    for one in figures(subject.measures):
        rows.append((one.title, _value(one, subject), _where(one)))
    return Facts("Key figures", tuple(rows))


def _value(one: Figure, subject: Subject) -> str:
    value, unit = one.value, one.unit
    if unit == "share":
        return f"{number(round(value * 100))} %"
    if not unit:
        return f"{value:.0f}"
    if unit.startswith("rad") and not subject.radians:
        value, unit = float(np.rad2deg(value)), "°" + unit[3:]
    if unit == "m":
        return subject.length_text(value)
    return f"{number(value)}{'' if unit == '°' else ' '}{unit}"


def _where(one: Figure) -> str:
    when = "" if one.time is None else f"at {one.time:.2f} s"
    return ", ".join(filter(None, (shown(one.part or "", 24), when)))
