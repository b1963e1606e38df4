"""The report as one page of HTML.

Self-contained, and readable without its scripts.

`Contents` are the contents of a report about a motion on a body, as plain data.

The robot plays in a frame, with the viewer's page as `srcdoc`; the scripts control it
by messages (docs/viewer.md). For programs, the key figures are in the page a second
time, with all digits, as JSON under the id `figures`.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from html import escape
from importlib.resources import files
from math import degrees, isfinite

from bodymotion import checks
from bodymotion.diagnostics import Group, Location, Problem, ShortRepr, grouped
from bodymotion.diagnostics.text import counted, html_text, place_after, severities
from bodymotion.dynamics import (
    Extreme,
    Figure,
    Measures,
    extremes,
    figures,
    measurable,
    series,
)
from bodymotion.scene.playback import Playback

MAX_LISTED_GROUPS = 200
MAX_LOCATIONS = 4  # Number of locations that are listed for one rule.

MOMENT_FIGURES = {
    "min_margin",
    "nearest_limit",
    "nearest_limit_slide",
    "velocity_limit_used",
    "max_slip",
    "max_zmp_difference",
    "max_joint_velocity",
    "max_joint_velocity_slide",
    "max_joint_acceleration",
    "max_joint_acceleration_slide",
    "max_torque",
    "max_torque_slide",
    "max_root_speed",
    "max_power",
}
"""The key figures that are about one moment."""
NEGATIVE_IS_FAULT = {"min_margin", "nearest_limit", "nearest_limit_slide"}
MAX_MOMENTS_PER_RULE = 3
MIN_MOMENT_VALUE = 1e-6  # Of figures that are no fault when negative, smaller values are no moment: nothing moves.


@dataclass(frozen=True)
class Moment(ShortRepr):
    """A moment of the motion: `time` [s], what happens, and its severity."""

    time: float
    text: str
    severity: str = "note"


@dataclass(frozen=True)
class JointRow(ShortRepr):
    """A joint in the table.

    The extremes of its quantities, and its limits `lower` and `upper` [rad or m].
    """

    joint: str
    displacement: Extreme
    velocity: Extreme
    torque: Extreme
    power: Extreme
    lower: float
    upper: float


@dataclass(frozen=True)
class Contents(ShortRepr):
    """The contents of a report, without the robot and the plots.

    `findings` are those of the motion, then those of the model.
    """

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
    playback: Playback | None = None,
    check_body: bool = True,
) -> Contents:
    """Return the contents for a measured motion.

    Of a motion that plays a script, the findings are those about the script;
    with `check_body`, others have those of the body, too.
    """
    body = measures.body
    motion = measures.motion
    found = figures(measures)
    if playback is not None:
        of_motion = checks.check(playback.script, bpm=playback.settings.bpm).problems
        of_rules = _moments_of_rules(playback.moments)
    else:
        of_motion = checks.check(motion, body=body).problems
        worst = sorted(checks.moments(motion, body), key=lambda moment: -moment.amount)
        of_rules = _moments_of_rules((moment.time, moment) for moment in worst)
    read = (body, motion if playback is None else playback.script)
    if check_body and playback is None:
        of_model = checks.check(body).problems
    else:
        of_model = ()
    moments = (*_moments_of_figures(found), *of_rules)
    return Contents(
        title=title or body.name or "A motion",
        files=tuple(
            one.source.path.name for one in read if one.source.path is not None
        ),
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
            is_fault = (signed and figure.value < 0) or (
                figure.unit == "share" and figure.value > 1
            )
            text = f"{figure.title}: {figure_text(figure)}{f', {figure.part}' if figure.part else ''}"
            moments.append(Moment(figure.time, text, "warning" if is_fault else "note"))
    return moments


def _moments_of_rules(
    found: Iterable[tuple[float, Problem | checks.Moment]],
) -> list[Moment]:
    """Return the first moments of each rule that is broken."""
    by_rule: dict[str, list[Moment]] = {}
    for time, one in found:
        by_rule.setdefault(one.rule, []).append(
            Moment(time, f"{one.rule}: {one.message}", one.severity)
        )
    return [
        moment for some in by_rule.values() for moment in some[:MAX_MOMENTS_PER_RULE]
    ]


def _joint_rows(measures: Measures) -> tuple[JointRow, ...]:
    if "joint_displacements" not in measurable(measures):
        return ()
    names = ("joint_displacements", "joint_velocities", "torques", "power")
    displacements, velocities, torques, power = (
        extremes(series(measures, name)) for name in names
    )
    labels = series(measures, names[0]).labels
    joints = measures.body.joints
    return tuple(
        JointRow(
            label,
            displacements[k],
            velocities[k],
            torques[k],
            power[k],
            joints[k].lower,
            joints[k].upper,
        )
        for k, label in enumerate(labels)
        if measures.body.joint_links[k] >= 0
    )


def value_text(value: float, unit: str) -> str:
    """Return an SI value with its unit.

    4 digits, angles in degrees, shares in percent, lengths under 10 cm in millimetres.
    """
    if not isfinite(value):
        return "–"
    if unit.startswith("rad"):
        value = degrees(value)
        unit = "°" + unit[3:]
    elif unit == "share":
        value = 100 * value
        unit = "%"
    elif unit == "m" and abs(value) < 0.1:
        value = 1000 * value
        unit = "mm"
    space = "" if unit == "°" else " "
    return f"{value:.4g}{space}{unit}".rstrip()


def figure_text(figure: Figure) -> str:
    """Return the value of a key figure with its unit."""
    return value_text(figure.value, figure.unit)


def page(
    contents: Contents,
    robot: str,
    plots: Sequence[str],
    head: str,
    span: tuple[float, float],
) -> str:
    """Return the page.

    `contents`: what is reported. `robot`: the page on which the robot plays; empty for
    none. `plots`: HTML of each plot. `head`: HTML that
    the plots need once. `span`: times of the first and the last frame [s].
    """
    title = html_text(contents.title, 200)
    top = f'<div class="top"><div>{_robot(robot, span)}</div><div>{_figures(contents.figures)}</div></div>'
    drawn = "".join(f'<section class="plot">{html}</section>' for html in plots)
    sections = [
        top,
        _moments(contents.moments),
        _findings(contents.groups),
        drawn,
        _joints(contents.rows),
    ]
    about = " · ".join(
        html_text(one, 300)
        for one in (*contents.files, f"{span[1] - span[0]:.2f} s", *contents.notes)
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title} · "
        f"report</title><style>{_file('page.css')}</style>{head}</head><body>"
        f"<header><h1>{title}</h1><p>{about}</p></header><main>{''.join(sections)}</main>"
        "<footer>Made by bodymotion. Velocities and accelerations come from splines "
        "through the frames; torques from "
        "inverse dynamics with the masses of the model and a flat, rigid "
        "ground.</footer>"
        f'<script type="application/json" id="figures">{_json(contents.figures)}</script>'
        f"<script>{_file('page.js')}</script></body></html>"
    )


def _file(name: str) -> str:
    return files("bodymotion.reports").joinpath(name).read_text(encoding="utf-8")


def _json(figures: Iterable[Figure]) -> str:
    return json.dumps([asdict(figure) for figure in figures]).replace("<", "\\u003c")


def _section(title: str, inside: str) -> str:
    if inside:
        return f"<section><h2>{title}</h2>{inside}</section>"
    return ""


def _seek_button(time: float | None) -> str:
    if time is None:
        return ""
    return f'<button class="at" data-time="{time!r}">{time:.2f} s</button>'


def _robot(robot: str, span: tuple[float, float]) -> str:
    frame = ""
    if robot:
        source = escape(robot, quote=True)
        frame = f'<iframe id="robot" title="the robot" sandbox="allow-scripts" srcdoc="{source}"></iframe>'
    clock = f'<span id="clock" data-start="{span[0]!r}" data-end="{span[1]!r}">{span[0]:.2f} s</span>'
    return f'<div id="place"><section id="stage">{frame}<div class="soft">at {clock}; the marks are the moments below</div></section></div>'


def _figures(figures: Iterable[Figure]) -> str:
    rows = "".join(
        f'<tr><td>{html_text(f.title)}</td><td class="n" title="{f.value!r} {html_text(f.unit)}">{html_text(figure_text(f))}</td>'
        f'<td>{html_text(f.part or "", 60)}</td><td class="n">{_seek_button(f.time)}</td></tr>'
        for f in figures
    )
    return _section("Key figures", f"<table><tbody>{rows}</tbody></table>")


def _moments(moments: Sequence[Moment]) -> str:
    rows = "".join(
        f'<tr><td class="n">{_seek_button(m.time)}</td><td class="{m.severity}">{html_text(m.text, 400)}</td></tr>'
        for m in moments
    )
    return _section(
        "Worst moments",
        f'<table id="moments"><tbody>{rows}</tbody></table>' if rows else "",
    )


def _findings(groups: Sequence[Group]) -> str:
    if not groups:
        return _section(
            "Findings",
            '<p class="soft">No problems found in the model and the motion.</p>',
        )
    items = "".join(_group(group) for group in groups[:MAX_LISTED_GROUPS])
    more = len(groups) - MAX_LISTED_GROUPS
    items += (
        f"<li>… and {counted(more, 'more rule')}: bodymotion check lists them</li>"
        if more > 0
        else ""
    )
    return _section(
        f"Findings: {severities(groups)}", f'<ul id="findings">{items}</ul>'
    )


def _group(group: Group) -> str:
    first = group.problems[0]
    known = [location for location in group.locations(MAX_LOCATIONS) if str(location)]
    places = ", ".join(
        place_after(location, known[0] if k else Location())
        for k, location in enumerate(known)
    )
    if len(group.locations(MAX_LOCATIONS + 1)) > MAX_LOCATIONS:
        more = " …"
    else:
        more = ""
    if places:
        details = [html_text(f"{places}{more}", 300)]
    else:
        details = []
    details += [html_text(first.hint, 300)] if first.hint else []
    return (
        f'<li><span class="{first.severity}">{first.severity}</span> <code>{html_text(group.title)}</code> '
        f"{html_text(first.message, 600)}"
        + (f'<br><span class="soft">{" · ".join(details)}</span>' if details else "")
        + "</li>"
    )


def _joints(rows: Sequence[JointRow]) -> str:
    if not rows:
        return ""
    titles = (
        "lowest",
        "highest",
        "max velocity",
        "of its limit",
        "max torque",
        "max power",
    )
    head = "<tr><th>joint</th><th>range of the motion within its limits</th>"
    head += "".join(f'<th class="n">{title}</th>' for title in titles) + "</tr>"
    body = "".join(_joint(row) for row in rows)
    table = f'<table id="joints"><thead>{head}</thead><tbody>{body}</tbody></table>'
    return _section("Joints", f'<div class="wide">{table}</div>')


def _joint(row: JointRow) -> str:
    d = row.displacement
    largest = [
        value_text(max(abs(extreme.lowest), abs(extreme.highest)), extreme.unit)
        for extreme in (row.velocity, row.torque, row.power)
    ]
    if row.velocity.used is None:
        used = ""
    else:
        used = value_text(row.velocity.used, "share")
    values = (
        value_text(d.lowest, d.unit),
        value_text(d.highest, d.unit),
        largest[0],
        used,
        *largest[1:],
    )
    cells = "".join(f'<td class="n">{html_text(text)}</td>' for text in values)
    return (
        f"<tr><td>{html_text(row.joint, 60)}</td><td>{_range_bar(row)}</td>{cells}</tr>"
    )


def _range_bar(row: JointRow) -> str:
    """Return a bar that shows which part of a joint's range is used."""
    span = row.upper - row.lower
    if not isfinite(span) or span <= 0:
        return '<span class="soft">no limits</span>'
    low, high = (
        (value - row.lower) / span
        for value in (row.displacement.lowest, row.displacement.highest)
    )
    if not (isfinite(low) and isfinite(high)):
        return ""
    beyond = low < -1e-6 or high > 1 + 1e-6
    left = min(max(low, 0.0), 1.0)
    right = min(max(high, 0.0), 1.0)
    if beyond:
        note = ' <span class="error">beyond</span>'
    else:
        note = ""
    return f'<span class="bar"><b style="left:{100 * left:.1f}%;width:{100 * (right - left):.1f}%"></b></span>{note}'
