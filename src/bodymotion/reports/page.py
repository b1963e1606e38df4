"""The report as one page of HTML: everything in it, nothing fetched, readable without its scripts.

The robot plays in a frame of its own, with the viewer's page as `srcdoc`; the scripts lead it by messages (docs/viewer.md). The key figures
stand in the page a second time, with all their digits, as JSON under the id `figures`: for programs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from math import isfinite

from bodymotion.diagnostics import Problem
from bodymotion.dynamics import Figure
from bodymotion.reports.contents import Contents, Moment, Row
from bodymotion.reports.wording import measured, said
from bodymotion.viewer.text import counted, html_text

__all__ = ["page"]

MOST_FINDINGS = 200
"""So many findings are on the page; how many more there are is said."""


def page(contents: Contents, robot: str, plots: Sequence[str], head: str, span: tuple[float, float]) -> str:
    """Return the page.

    Parameters
    ----------
    contents:
        What is said.
    robot:
        The page on which the robot plays; empty for none.
    plots:
        HTML of each plot.
    head:
        What the plots need once, as HTML.
    span:
        [s] of the first and the last frame.
    """
    title = html_text(contents.title, 200)
    top = f'<div class="top"><div>{_robot(robot, contents, span)}</div><div>{_figures(contents.figures)}</div></div>'
    sections = [top, _moments(contents.moments), _findings(contents.findings), _plots(plots), _rows(contents.rows)]
    about = " · ".join(html_text(one, 300) for one in (*contents.about, f"{span[1] - span[0]:.2f} s", *contents.notes))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title} · report</title><style>{_file('page.css')}</style>{head}</head><body>"
        f"<header><h1>{title}</h1><p>{about}</p></header><main>{''.join(sections)}</main>"
        "<footer>Made by bodymotion. Velocities and accelerations are those of splines through the frames; torques come from "
        "inverse dynamics with the masses of the model and a flat, hard ground.</footer>"
        f'<script type="application/json" id="figures">{_json(contents.figures)}</script>'
        f"<script>{_file('page.js')}</script></body></html>"
    )


def _file(name: str) -> str:
    return files("bodymotion.reports").joinpath(name).read_text(encoding="utf-8")


def _json(figures: Iterable[Figure]) -> str:
    rows = [
        {"name": f.name, "title": f.title, "value": f.value, "unit": f.unit, "time": f.time, "part": f.part}
        for f in figures
    ]
    return json.dumps(rows, ensure_ascii=True).replace("<", "\\u003c")


def _section(title: str, inside: str) -> str:
    return f"<section><h2>{title}</h2>{inside}</section>" if inside else ""


def _at(time: float | None) -> str:
    return "" if time is None else f'<button class="at" data-time="{time!r}">{time:.2f} s</button>'


def _robot(robot: str, contents: Contents, span: tuple[float, float]) -> str:
    frame = (
        f'<iframe id="robot" title="the robot" sandbox="allow-scripts" srcdoc="{escape(robot, quote=True)}"></iframe>'
        if robot
        else ""
    )
    length = max(span[1] - span[0], 1e-9)
    marks = "".join(
        f'<i class="{moment.severity}" data-time="{moment.time!r}" title="{html_text(f"{moment.time:.2f} s: {moment.text}", 300)}" '
        f'style="left:{100 * (moment.time - span[0]) / length:.3f}%"></i>'
        for moment in contents.moments
        if isfinite(moment.time)
    )
    line = f'<div id="line" data-start="{span[0]!r}" data-end="{span[1]!r}">{marks}<div id="now"></div></div>'
    words = f'at <span id="clock">{span[0]:.2f} s</span>; the marks are the moments below'
    return f'<div id="place"><section id="stage">{frame}{line}<div class="soft">{words}</div></section></div>'


def _figures(figures: Iterable[Figure]) -> str:
    rows = "".join(
        f'<tr><td>{html_text(f.title)}</td><td class="n" title="{f.value!r} {html_text(f.unit)}">{html_text(said(f))}</td>'
        f'<td>{html_text(f.part or "", 60)}</td><td class="n">{_at(f.time)}</td></tr>'
        for f in figures
    )
    return _section("Key figures", f"<table><tbody>{rows}</tbody></table>")


def _moments(moments: Sequence[Moment]) -> str:
    rows = "".join(
        f'<tr><td class="n">{_at(m.time)}</td><td class="{m.severity}">{html_text(m.text, 400)}</td></tr>'
        for m in moments
    )
    return _section("Worst moments", f'<table id="moments"><tbody>{rows}</tbody></table>' if rows else "")


def _findings(findings: Sequence[Problem]) -> str:
    if not findings:
        return _section("Findings", '<p class="soft">The checks of the model and of the motion found nothing.</p>')
    items = "".join(
        f'<li><span class="{p.severity}">{p.severity}</span> <code>{html_text(p.rule)}</code> {html_text(p.message, 600)}'
        f"{f'<br><span class=soft>{html_text(p.hint, 300)}</span>' if p.hint else ''}</li>"
        for p in findings[:MOST_FINDINGS]
    )
    more = len(findings) - MOST_FINDINGS
    items += f"<li>… and {more} more: bodymotion check lists them</li>" if more > 0 else ""
    return _section(f"Findings: {counted(len(findings), 'problem')}", f'<ul id="findings">{items}</ul>')


def _plots(plots: Sequence[str]) -> str:
    return "".join(f'<section class="plot">{html}</section>' for html in plots)


def _rows(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    head = "<tr><th>joint</th><th>range of the motion within its limits</th><th class=n>lowest</th><th class=n>highest</th>"
    head += "<th class=n>fastest</th><th class=n>of its limit</th><th class=n>greatest torque</th><th class=n>greatest power</th></tr>"
    body = "".join(_row(row) for row in rows)
    return _section(
        "Joints", f'<div class="wide"><table id="joints"><thead>{head}</thead><tbody>{body}</tbody></table></div>'
    )


def _row(row: Row) -> str:
    d = row.displacement
    used = "" if row.velocity.used is None else measured(row.velocity.used, "share")
    cells = (
        measured(d.lowest, d.unit),
        measured(d.highest, d.unit),
        _largest(row.velocity.lowest, row.velocity.highest, row.velocity.unit),
        used,
        _largest(row.torque.lowest, row.torque.highest, row.torque.unit),
        _largest(row.power.lowest, row.power.highest, row.power.unit),
    )
    return (
        f"<tr><td>{html_text(row.joint, 60)}</td><td>{_bar(row)}</td>"
        + "".join(f'<td class="n">{html_text(c)}</td>' for c in cells)
        + "</tr>"
    )


def _largest(low: float, high: float, unit: str) -> str:
    return measured(max(abs(low), abs(high)), unit)


def _bar(row: Row) -> str:
    """Draw which part of a joint's range is used."""
    room = row.upper - row.lower
    if not isfinite(room) or room <= 0:
        return '<span class="soft">no limits</span>'
    low, high = ((value - row.lower) / room for value in (row.displacement.lowest, row.displacement.highest))
    if not (isfinite(low) and isfinite(high)):
        return ""
    beyond = low < -1e-6 or high > 1 + 1e-6
    left, right = min(max(low, 0.0), 1.0), min(max(high, 0.0), 1.0)
    note = ' <span class="error">beyond</span>' if beyond else ""
    return f'<span class="bar"><b style="left:{100 * left:.1f}%;width:{100 * (right - left):.1f}%"></b></span>{note}'
