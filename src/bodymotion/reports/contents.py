"""The contents of a report about a motion on a body, as plain data; `page.py` writes them as HTML."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import degrees, isfinite

from bodymotion import checks
from bodymotion.diagnostics import Group, Problem, grouped
from bodymotion.dynamics import Extreme, Figure, Measures, extremes, figures, measurable, series
from bodymotion.scene.animation_playback import AnimationPlayback

MOMENT_FIGURES = {
    *("least_margin", "nearest_limit", "nearest_limit_slide", "velocity_limit_used", "longest_slide", "zmp_apart"),
    *(f"{name}{kind}" for name in ("joint_velocities", "joint_accelerations", "torques") for kind in ("", "_slide")),
    *("root_speed", "power"),
}
"""The key figures that are about one moment."""
NEGATIVE_IS_FAULT = {"least_margin", "nearest_limit", "nearest_limit_slide"}
MAX_MOMENTS_PER_RULE = 3
MIN_MOMENT_VALUE = 1e-6  # Of figures that are no fault when negative, smaller values are no moment: nothing moves.


@dataclass(frozen=True)
class Moment:
    """A moment of the motion: `time` [s], what happens, and its severity."""

    time: float
    text: str
    severity: str = "note"


@dataclass(frozen=True)
class JointRow:
    """A joint in the table: the extremes of its quantities, and its limits `lower` and `upper` [rad or m]."""

    joint: str
    displacement: Extreme
    velocity: Extreme
    torque: Extreme
    power: Extreme
    lower: float
    upper: float


@dataclass(frozen=True)
class Contents:
    """The contents of a report, without the robot and the plots. `findings` are those of the motion, then those of the model."""

    title: str
    files: tuple[str, ...]
    figures: tuple[Figure, ...]
    moments: tuple[Moment, ...]
    rows: tuple[JointRow, ...]
    findings: tuple[Problem, ...]
    groups: tuple[Group, ...] = ()
    notes: tuple[str, ...] = ()


def contents_of(
    measures: Measures,
    *,
    title: str = "",
    notes: tuple[str, ...] = (),
    playback: AnimationPlayback | None = None,
    check_body: bool = True,
) -> Contents:
    """Return the contents for a measured motion.

    Of a motion that plays an animation, the findings are those about the animation; with `check_body`, others have those of the body, too.
    """
    body, motion = measures.body, measures.motion
    found = figures(measures)
    if playback is not None:
        of_motion = checks.check(playback.animation, bpm=playback.settings.bpm).problems
        of_rules = _moments_of_rules(playback.moments)
    else:
        of_motion = checks.check(motion, body=body).problems
        worst = sorted(checks.moments(motion, body), key=lambda moment: -moment.amount)
        of_rules = _moments_of_rules((moment.time, moment) for moment in worst)
    read = (body, motion if playback is None else playback.animation)
    of_model = checks.check(body).problems if check_body and playback is None else ()
    moments = (*_moments_of_figures(found), *of_rules)
    return Contents(
        title=title or body.name or "A motion",
        files=tuple(one.source.path.name for one in read if one.source.path is not None),
        figures=found,
        moments=tuple(sorted(moments, key=lambda moment: moment.time)),
        rows=_joint_rows(measures),
        findings=(*of_motion, *of_model),
        groups=grouped(of_motion, of_model),
        notes=notes,
    )


def _moments_of_figures(found: tuple[Figure, ...]) -> list[Moment]:
    moments = []
    for figure in found:
        signed = figure.name in NEGATIVE_IS_FAULT
        moves = signed or abs(figure.value) > MIN_MOMENT_VALUE
        if moves and figure.name in MOMENT_FIGURES and figure.time is not None:
            is_fault = (signed and figure.value < 0) or (figure.unit == "share" and figure.value > 1)
            text = f"{figure.title}: {figure_text(figure)}{f', {figure.part}' if figure.part else ''}"
            moments.append(Moment(figure.time, text, "warning" if is_fault else "note"))
    return moments


def _moments_of_rules(found: Iterable[tuple[float, Problem | checks.Moment]]) -> list[Moment]:
    """Return the first moments of each rule that is broken."""
    by_rule: dict[str, list[Moment]] = {}
    for time, one in found:
        by_rule.setdefault(one.rule, []).append(Moment(time, f"{one.rule}: {one.message}", one.severity))
    return [moment for some in by_rule.values() for moment in some[:MAX_MOMENTS_PER_RULE]]


def _joint_rows(measures: Measures) -> tuple[JointRow, ...]:
    if "joint_displacements" not in measurable(measures):
        return ()
    names = ("joint_displacements", "joint_velocities", "torques", "power")
    displacements, velocities, torques, power = (extremes(series(measures, name)) for name in names)
    labels, joints = series(measures, names[0]).labels, measures.body.joints
    return tuple(
        JointRow(label, displacements[k], velocities[k], torques[k], power[k], joints[k].lower, joints[k].upper)
        for k, label in enumerate(labels)
        if measures.body.joint_links[k] >= 0
    )


def value_text(value: float, unit: str) -> str:
    """Return an SI value with its unit: 4 digits, angles in degrees, shares in percent, lengths under 10 cm in millimetres."""
    if not isfinite(value):
        return "–"
    if unit.startswith("rad"):
        value, unit = degrees(value), "°" + unit[3:]
    elif unit == "share":
        value, unit = 100 * value, "%"
    elif unit == "m" and abs(value) < 0.1:
        value, unit = 1000 * value, "mm"
    space = "" if unit == "°" else " "
    return f"{value:.4g}{space}{unit}".rstrip()


def figure_text(figure: Figure) -> str:
    """Return the value of a key figure with its unit."""
    return value_text(figure.value, figure.unit)
