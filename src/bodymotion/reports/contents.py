"""What a report says of a motion on a body, as plain data: `page.py` writes it down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bodymotion import checks
from bodymotion.diagnostics import Problem
from bodymotion.dynamics import Extreme, Figure, Measures, extremes, figures, measurable, series
from bodymotion.model.body import Body
from bodymotion.reports.wording import said

if TYPE_CHECKING:
    from bodymotion.motion import Motion

__all__ = ["Contents", "Moment", "Row", "contents_of"]

WORST = {
    *(
        "least_margin",
        "nearest_limit",
        "nearest_limit_slide",
        "velocity_limit_used",
        "longest_slide",
        "zmp_apart",
        "root_speed",
    ),
    *(f"{name}{kind}" for name in ("joint_velocities", "joint_accelerations", "torques") for kind in ("", "_slide")),
    "power",
}
"""The key figures that are about one moment."""
MOST_OF_A_RULE = 3
BEYOND = {"least_margin", "nearest_limit", "nearest_limit_slide"}
"""Those that are a fault when they are negative."""
NOTHING = 1e-6
"""Of the others, what is not larger is no moment worth looking at: nothing moves."""


@dataclass(frozen=True)
class Moment:
    """A moment worth looking at: `time` [s], what happens there, how bad that is."""

    time: float
    text: str
    severity: str = "note"


@dataclass(frozen=True)
class Row:
    """A joint in the table: between which values it goes, its fastest, hardest and strongest."""

    joint: str
    displacement: Extreme
    velocity: Extreme
    torque: Extreme
    power: Extreme
    lower: float
    upper: float


@dataclass(frozen=True)
class Contents:
    """All of a report but the robot and the plots."""

    title: str
    about: tuple[str, ...]
    figures: tuple[Figure, ...]
    moments: tuple[Moment, ...]
    rows: tuple[Row, ...]
    findings: tuple[Problem, ...]
    notes: tuple[str, ...] = ()


def contents_of(
    measures: Measures, *, title: str = "", motion: Motion | None = None, notes: tuple[str, ...] = ()
) -> Contents:
    """Gather what is to be said of a measured motion."""
    body, motion = measures.body, measures.motion
    found = figures(measures)
    findings = (*checks.check(body).problems, *checks.check(motion, body=body).problems)
    return Contents(
        title=title or body.name or "A motion",
        about=_about(body, motion),
        figures=found,
        moments=tuple(sorted((*_of_figures(found), *_of_rules(motion, body)), key=lambda moment: moment.time)),
        rows=_rows(measures),
        findings=findings,
        notes=notes,
    )


def _about(body: Body, motion: Motion) -> tuple[str, ...]:
    names = [thing.source.path.name for thing in (body, motion) if thing.source.path is not None]
    return tuple(names)


def _of_figures(found: tuple[Figure, ...]) -> list[Moment]:
    told = []
    for figure in found:
        if figure.name in WORST and figure.time is not None and (figure.name in BEYOND or abs(figure.value) > NOTHING):
            beyond = (figure.name in BEYOND and figure.value < 0) or (figure.unit == "share" and figure.value > 1)
            text = f"{figure.title}: {said(figure)}{f', {figure.part}' if figure.part else ''}"
            told.append(Moment(figure.time, text, "warning" if beyond else "note"))
    return told


def _of_rules(motion: Motion, body: Body) -> list[Moment]:
    """Return the worst moments of each rule that the motion breaks on the body."""
    kept: dict[str, list[checks.Moment]] = {}
    for moment in sorted(checks.moments(motion, body), key=lambda moment: -moment.amount):
        kept.setdefault(moment.rule, []).append(moment)
    return [
        Moment(one.time, f"{one.rule}: {one.message}", one.severity)
        for found in kept.values()
        for one in found[:MOST_OF_A_RULE]
    ]


def _rows(measures: Measures) -> tuple[Row, ...]:
    if "joint_displacements" not in measurable(measures):
        return ()
    names = ("joint_displacements", "joint_velocities", "torques", "power")
    displacements, velocities, torques, power = (extremes(series(measures, name)) for name in names)
    of = series(measures, "joint_displacements")
    return tuple(
        Row(
            label,
            displacements[k],
            velocities[k],
            torques[k],
            power[k],
            measures.body.joints[k].lower,
            measures.body.joints[k].upper,
        )
        for k, label in enumerate(of.labels)
        if measures.body.joint_links[k] >= 0
    )
