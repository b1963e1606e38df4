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
from itertools import chain
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

# Rules with findings that are listed.
MAX_LISTED_GROUPS = 200
# Locations that are listed for one rule.
MAX_LOCATIONS = 4

# The key figures that are about one moment.
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
# The key figures that are a fault when negative.
NEGATIVE_IS_FAULT = {"min_margin", "nearest_limit", "nearest_limit_slide"}
# Moments of one rule, the worst ones.
MAX_MOMENTS_PER_RULE = 3
# Of figures that are no fault when negative, smaller values are no moment: nothing
# moves.
MIN_MOMENT_VALUE = 1e-6
# [m] Shorter lengths are in millimetres.
MIN_METRES = 0.1
# Share of its range by which a joint may be beyond it: rounding.
ROUNDING = 1e-6


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
    key_figures = figures(measures)
    of_model: tuple[Problem, ...] = ()
    sources = [body.source]
    if playback is not None:
        sources.append(playback.script.source)
        of_motion = checks.check(playback.script, bpm=playback.settings.bpm).problems
        of_rules = _moments_of_rules(playback.moments)
    else:
        sources.append(motion.source)
        of_motion = checks.check(motion, body=body).problems
        # The worst first: only a few moments of each rule are shown.
        worst = sorted(checks.moments(motion, body), key=lambda moment: -moment.amount)
        of_rules = _moments_of_rules((moment.time, moment) for moment in worst)
        if check_body:
            of_model = checks.check(body).problems
    moments = [*_moments_of_figures(key_figures), *of_rules]
    moments.sort(key=lambda moment: moment.time)
    paths = [source.path for source in sources]
    return Contents(
        title=title or body.name or "A motion",
        files=tuple(path.name for path in paths if path is not None),
        figures=key_figures,
        moments=tuple(moments),
        rows=_joint_rows(measures),
        findings=(*of_motion, *of_model),
        groups=grouped(of_motion, of_model),
        notes=notes,
    )


def _moments_of_figures(key_figures: tuple[Figure, ...]) -> list[Moment]:
    """Return the moments of key figures, as warnings where they are faults."""
    moments = []
    for figure in key_figures:
        if figure.name not in MOMENT_FIGURES or figure.time is None:
            continue
        severity = "note"
        # Of a margin only the negative is a fault; of all others 0 means that nothing
        # happens.
        if figure.name in NEGATIVE_IS_FAULT:
            if figure.value < 0:
                severity = "warning"
        elif not abs(figure.value) > MIN_MOMENT_VALUE:
            continue
        if figure.unit == "share" and figure.value > 1:
            severity = "warning"
        text = f"{figure.title}: {figure_text(figure)}"
        if figure.part:
            text += f", {figure.part}"
        moments.append(Moment(figure.time, text, severity))
    return moments


def _moments_of_rules(
    broken: Iterable[tuple[float, Problem | checks.Moment]],
) -> list[Moment]:
    """Return the first moments of each rule that is broken."""
    by_rule: dict[str, list[Moment]] = {}
    for time, violation in broken:
        text = f"{violation.rule}: {violation.message}"
        moment = Moment(time, text, violation.severity)
        by_rule.setdefault(violation.rule, []).append(moment)
    first = (moments[:MAX_MOMENTS_PER_RULE] for moments in by_rule.values())
    return list(chain.from_iterable(first))


def _joint_rows(measures: Measures) -> tuple[JointRow, ...]:
    """Return the rows of the joints that move a link."""
    if "joint_displacements" not in measurable(measures):
        return ()
    names = ("joint_displacements", "joint_velocities", "torques", "power")
    displacements, velocities, torques, powers = (
        extremes(series(measures, name)) for name in names
    )
    rows = []
    # Ids may have gaps: such columns move no link.
    for k, label in enumerate(series(measures, names[0]).labels):
        if measures.body.joint_links[k] >= 0:
            joint = measures.body.joints[k]
            row = JointRow(
                label,
                displacements[k],
                velocities[k],
                torques[k],
                powers[k],
                joint.lower,
                joint.upper,
            )
            rows.append(row)
    return tuple(rows)


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
    elif unit == "m" and abs(value) < MIN_METRES:
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

    Parameters
    ----------
    contents:
        What is reported.
    robot:
        The page on which the robot plays; empty for none.
    plots:
        HTML of each plot.
    head:
        HTML that the plots need once.
    span:
        [s] Times of the first and the last frame.
    """
    title = html_text(contents.title, 200)
    top = (
        f'<div class="top"><div>{_robot(robot, span)}</div>'
        f"<div>{_figures(contents.figures)}</div></div>"
    )
    drawn = "".join(f'<section class="plot">{html}</section>' for html in plots)
    sections = [
        top,
        _moments(contents.moments),
        _findings(contents.groups),
        drawn,
        _joints(contents.rows),
    ]
    facts = (*contents.files, f"{span[1] - span[0]:.2f} s", *contents.notes)
    about = " · ".join(html_text(fact, 300) for fact in facts)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        # Style and script are part of the page, which needs no network.
        f"<title>{title} · "
        f"report</title><style>{_file('page.css')}</style>{head}</head><body>"
        f"<header><h1>{title}</h1><p>{about}</p></header>"
        f"<main>{''.join(sections)}</main>"
        "<footer>Made by bodymotion. Velocities and accelerations come from splines "
        "through the frames; torques from "
        "inverse dynamics with the masses of the model and a flat, rigid "
        "ground.</footer>"
        f'<script type="application/json" id="figures">'
        f"{_json(contents.figures)}</script>"
        f"<script>{_file('page.js')}</script></body></html>"
    )


def _file(name: str) -> str:
    """Return a file of this package as text."""
    return files("bodymotion.reports").joinpath(name).read_text(encoding="utf-8")


def _json(figures: Iterable[Figure]) -> str:
    """Return key figures as JSON that a script of HTML can hold."""
    # `</script>` in a name would end the script; \u003c is the same text in JSON.
    return json.dumps([asdict(figure) for figure in figures]).replace("<", "\\u003c")


def _section(title: str, inside: str) -> str:
    """Return a section; empty where nothing is inside."""
    if inside:
        return f"<section><h2>{title}</h2>{inside}</section>"
    return ""


def _seek_button(time: float | None) -> str:
    """Return a button that shows the robot at a time [s]."""
    if time is None:
        return ""
    return f'<button class="at" data-time="{time!r}">{time:.2f} s</button>'


def _robot(robot: str, span: tuple[float, float]) -> str:
    """Return the frame in which the robot plays, and its clock."""
    frame = ""
    if robot:
        source = escape(robot, quote=True)
        # The page of the robot is a document of its own, which `sandbox` keeps from
        # reaching this one.
        frame = (
            '<iframe id="robot" title="the robot" sandbox="allow-scripts" '
            f'srcdoc="{source}"></iframe>'
        )
    start, end = span
    clock = (
        f'<span id="clock" data-start="{start!r}" data-end="{end!r}">'
        f"{start:.2f} s</span>"
    )
    return (
        f'<div id="place"><section id="stage">{frame}<div class="soft">at {clock}; '
        "the marks are the moments below</div></section></div>"
    )


def _figures(figures: Iterable[Figure]) -> str:
    """Return the table of key figures."""
    rows = ""
    for figure in figures:
        # The number with all digits is shown when the pointer is on it.
        exact = f"{figure.value!r} {html_text(figure.unit)}"
        rows += (
            f"<tr><td>{html_text(figure.title)}</td>"
            f'<td class="n" title="{exact}">{html_text(figure_text(figure))}</td>'
            f"<td>{html_text(figure.part or '', 60)}</td>"
            f'<td class="n">{_seek_button(figure.time)}</td></tr>'
        )
    return _section("Key figures", f"<table><tbody>{rows}</tbody></table>")


def _moments(moments: Sequence[Moment]) -> str:
    """Return the table of the worst moments."""
    if not moments:
        return ""
    rows = "".join(
        f'<tr><td class="n">{_seek_button(moment.time)}</td>'
        f'<td class="{moment.severity}">{html_text(moment.text, 400)}</td></tr>'
        for moment in moments
    )
    table = f'<table id="moments"><tbody>{rows}</tbody></table>'
    return _section("Worst moments", table)


def _findings(groups: Sequence[Group]) -> str:
    """Return the list of findings."""
    if not groups:
        return _section(
            "Findings",
            '<p class="soft">No problems found in the model and the motion.</p>',
        )
    items = "".join(map(_group, groups[:MAX_LISTED_GROUPS]))
    num_more = len(groups) - MAX_LISTED_GROUPS
    if num_more > 0:
        rules = counted(num_more, "more rule")
        items += f"<li>… and {rules}: bodymotion check lists them</li>"
    title = f"Findings: {severities(groups)}"
    return _section(title, f'<ul id="findings">{items}</ul>')


def _group(group: Group) -> str:
    """Return the findings of one rule as an item of a list."""
    first = group.problems[0]
    details = []
    # Some problems have no location, such as those of a value from memory.
    locations = list(filter(str, group.locations(MAX_LOCATIONS)))
    if locations:
        places = [place_after(locations[0], Location())]
        places += [place_after(other, locations[0]) for other in locations[1:]]
        text = ", ".join(places)
        if len(group.locations(MAX_LOCATIONS + 1)) > MAX_LOCATIONS:
            text += " …"
        details.append(html_text(text, 300))
    if first.hint:
        details.append(html_text(first.hint, 300))
    item = (
        f'<span class="{first.severity}">{first.severity}</span> '
        f"<code>{html_text(group.title)}</code> {html_text(first.message, 600)}"
    )
    if details:
        item += f'<br><span class="soft">{" · ".join(details)}</span>'
    return f"<li>{item}</li>"


def _joints(rows: Sequence[JointRow]) -> str:
    """Return the table of joints."""
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
    body = "".join(map(_joint, rows))
    table = f'<table id="joints"><thead>{head}</thead><tbody>{body}</tbody></table>'
    return _section("Joints", f'<div class="wide">{table}</div>')


def _joint(row: JointRow) -> str:
    """Return a joint as a row of the table."""
    reached = row.displacement
    used = row.velocity.used
    values = (
        value_text(reached.lowest, reached.unit),
        value_text(reached.highest, reached.unit),
        _largest_text(row.velocity),
        "" if used is None else value_text(used, "share"),
        _largest_text(row.torque),
        _largest_text(row.power),
    )
    cells = "".join(f'<td class="n">{html_text(text)}</td>' for text in values)
    return (
        f"<tr><td>{html_text(row.joint, 60)}</td><td>{_range_bar(row)}</td>{cells}</tr>"
    )


def _largest_text(extreme: Extreme) -> str:
    """Return the largest amount of a quantity, in either direction."""
    return value_text(max(abs(extreme.lowest), abs(extreme.highest)), extreme.unit)


def _range_bar(row: JointRow) -> str:
    """Return a bar that shows which part of a joint's range is used."""
    span = row.upper - row.lower
    if not isfinite(span) or span <= 0:
        return '<span class="soft">no limits</span>'
    # Shares of the range: 0 is the lower limit, 1 the upper one.
    low = (row.displacement.lowest - row.lower) / span
    high = (row.displacement.highest - row.lower) / span
    if not (isfinite(low) and isfinite(high)):
        return ""
    left = min(max(low, 0.0), 1.0)
    right = min(max(high, 0.0), 1.0)
    bar = (
        f'<span class="bar"><b style="left:{100 * left:.1f}%;'
        f'width:{100 * (right - left):.1f}%"></b></span>'
    )
    # What is beyond the limits is cut off in the bar, so a word reports it.
    if low < -ROUNDING or high > 1 + ROUNDING:
        bar += ' <span class="error">beyond</span>'
    return bar
