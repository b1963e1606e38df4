"""Bodies, motions and animations in a few lines of HTML, with a drawing or curves: what a notebook shows of them.

Names come from files: they are escaped and cut. Long lists are cut, too, and say how long they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from bodymotion.animation import Animation
from bodymotion.diagnostics import Problem
from bodymotion.model.body import Body
from bodymotion.motion import Motion, MultiSE3Seq, MultiValueSeq, OtherSeq, Vector3Seq
from bodymotion.notebooks.drawing import drawing
from bodymotion.viewer.text import counted, html_text

__all__ = ["html_of"]

MOST_ROWS = 200
MOST_CURVES = 6
CURVE_POINTS = 300
COLORS = ("#1f77d0", "#e0701a", "#2a9d4a", "#b03ac0", "#c8a400", "#d0364c")


def html_of(thing: object) -> str:
    """Return the summary of a Body, a Motion or an Animation."""
    if isinstance(thing, Body):
        return _body(thing)
    if isinstance(thing, Motion):
        return _motion(thing)
    assert isinstance(thing, Animation)
    return _animation(thing)


def _body(body: Body) -> str:
    moving = sum(index >= 0 for index in body.joint_links)
    facts = [counted(len(body.links), "link"), counted(moving, "joint"), f"{body.mass:.4g} kg"]
    facts += [counted(len(body.devices), "device")] if body.devices else []
    facts += [counted(len(body.extra_joints), "closed loop")] if body.extra_joints else []
    rows = []
    for link in body.links[:MOST_ROWS]:
        joint = link.joint
        parent = body.links[link.parent].name if link.parent >= 0 else ""
        number = "" if joint.id < 0 else str(joint.id)
        rows.append(
            (str(link.index), link.name, parent, joint.type, number, _range(joint.lower, joint.upper, joint.type))
        )
    picture = drawing(body, body.forward_kinematics(np.zeros(body.num_joints))) if body.links else ""
    table = _table(("#", "link", "parent", "joint", "id", "range"), rows, len(body.links))
    return _card("Body", body.name, facts, body.problems, _beside(picture, _folded("links and joints", table)))


def _range(lower: float, upper: float, kind: str) -> str:
    if not (np.isfinite(lower) or np.isfinite(upper)) or kind not in ("rotate", "slide"):
        return ""
    factor, unit = (1.0, " m") if kind == "slide" else (np.rad2deg(1.0), "°")
    return f"{factor * lower:.4g} … {factor * upper:.4g}{unit}"


def _motion(motion: Motion) -> str:
    rows = []
    for component in motion.components:
        if isinstance(component, OtherSeq):
            rows.append((component.content, component.type, "", "", ""))
            continue
        line = component.timeline
        rate = "time stamps" if line.frame_rate is None else f"{line.frame_rate:g} Hz"
        parts = "" if isinstance(component, Vector3Seq) else str(component.num_parts)
        rows.append((component.content, type(component).__name__, parts, str(line.num_frames), rate))
    duration = max((component.timeline.duration for component in motion.timed), default=0.0)
    facts = [f"{duration:.4g} s", counted(len(motion.components), "component")]
    table = _table(("content", "type", "parts", "frames", "rate"), rows, len(rows))
    path = motion.source.path
    name = str(motion.extra.get("name") or (path.name if path is not None else ""))
    return _card("Motion", name, facts, motion.problems, table + _curves(motion))


def _curves(motion: Motion) -> str:
    """Draw the columns that move most."""
    component: MultiValueSeq | MultiSE3Seq | None = motion.joint_displacement or motion.link_position
    if component is None or component.num_frames < 2 or not component.num_parts:
        return ""
    joints = isinstance(component, MultiValueSeq)
    values = component.values if joints else component.values[:, 0, :3]
    names = component.part_labels if joints else ("x", "y", "z")
    values = np.where(np.isfinite(values), values, 0.0)
    spans = np.ptp(values, axis=0)
    chosen = np.argsort(-spans, kind="stable")[:MOST_CURVES]
    labels = [names[k] if k < len(names) and names[k] else f"joint {k}" for k in chosen]
    legend = " ".join(
        f'<span style="color:{color}">&#9644;</span> {html_text(label, 40)}'
        for color, label in zip(COLORS, labels, strict=False)
    )
    what = ("joints that move most" if values.shape[1] > MOST_CURVES else "joints") if joints else "root link [m]"
    return f'<div style="margin-top:6px">{_sparkline(values[:, chosen])}<div style="font-size:85%">{what}: {legend}</div></div>'


def _sparkline(values: np.ndarray, width: int = 520, height: int = 110) -> str:
    frames = np.unique(np.linspace(0, len(values) - 1, min(CURVE_POINTS, len(values))).astype(int))
    shown = values[frames]
    low, high = float(shown.min()), float(shown.max())
    x = np.linspace(2, width - 2, len(frames))
    y = height - 4 - (height - 8) * (shown - low) / max(high - low, 1e-12)
    lines = "".join(
        f'<polyline fill="none" stroke="{COLORS[k]}" stroke-width="1.4" points="{_points(x, y[:, k])}"/>'
        for k in range(y.shape[1])
    )
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" style="background:#7f7f7f14">{lines}</svg>'


def _points(x: Iterable[float], y: Iterable[float]) -> str:
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))


def _animation(animation: Animation) -> str:
    keyframes = animation.keyframes
    tracks = animation.options.get("controls", ())
    facts = [f"{animation.duration:.4g} s", counted(len(keyframes), "keyframe")]
    facts += [f"controls {', '.join(map(str, tracks))}"] if isinstance(tracks, tuple) and tracks else []
    options = [
        (name, "" if value is True else str(value)) for name, value in animation.options.items() if name != "controls"
    ]
    parameters = [
        (name, *("" if value is None else f"{value:g}" for value in (one.minimum, one.default, one.maximum)))
        for name, one in animation.parameters.items()
    ]
    inside = (
        _folded(counted(len(options), "option"), _table(("option", "value"), options, len(options))) if options else ""
    )
    if parameters:
        table = _table(("parameter", "least", "default", "most"), parameters, len(parameters))
        inside += _folded(counted(len(parameters), "parameter"), table)
    columns = ", ".join(keyframes.columns) or "none"
    inside += f'<div style="font-size:85%">columns: {html_text(columns, 600)}</div>'
    return _card("Animation", animation.title, facts, animation.problems, _beside(_standing(animation), inside))


def _standing(animation: Animation) -> str:
    """Draw Spot as it is at the first keyframe."""
    from bodymotion.spot.playback import needs_arm, play, spot_body

    if not len(animation.keyframes):
        return ""
    try:
        body = spot_body(arm=needs_arm(animation))
        poses = body.link_poses(play(animation))
    except ValueError:
        return ""
    return drawing(body, poses[0], 150)


def _card(kind: str, name: str, facts: Sequence[str], problems: Sequence[Problem], inside: str) -> str:
    title = f"<b>{html_text(name, 80)}</b>" if name.strip() else "<b>without a name</b>"
    said = ""
    if problems:
        found = "".join(f"<li>{html_text(str(problem), 300)}</li>" for problem in problems[:20])
        more = f"<li>… and {len(problems) - 20} more</li>" if len(problems) > 20 else ""
        said = _folded(counted(len(problems), "problem"), f'<ul style="margin:2px">{found}{more}</ul>')
    line = " · ".join(html_text(fact, 200) for fact in facts)
    return (
        '<div style="border:1px solid #8888;border-radius:6px;padding:8px 12px;display:inline-block;max-width:100%">'
        f"<div>{kind} {title} · {line}</div>{inside}{said}</div>"
    )


def _beside(picture: str, text: str) -> str:
    if not picture:
        return text
    return f'<div style="display:flex;gap:18px;align-items:flex-start;margin-top:6px">{picture}<div>{text}</div></div>'


def _folded(title: str, inside: str) -> str:
    return f'<details><summary style="cursor:pointer">{html_text(title)}</summary>{inside}</details>'


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], count: int) -> str:
    cells = "".join(f'<th style="text-align:left">{title}</th>' for title in head)
    body = "".join(
        "<tr>" + "".join(f'<td style="text-align:left">{html_text(cell, 60)}</td>' for cell in row) + "</tr>"
        for row in rows[:MOST_ROWS]
    )
    more = f'<tr><td colspan="{len(head)}">… {count} in all</td></tr>' if count > MOST_ROWS else ""
    return f'<table style="font-size:90%"><thead><tr>{cells}</tr></thead><tbody>{body}{more}</tbody></table>'
