"""Summaries of bodies, motions and scripts as HTML, with a drawing or curves, for notebooks.

Names come from files: they are escaped and shortened. Long lists are cut; their last
line has the full length.

The drawing of a body needs no packages: the outline of a link is the convex hull of its
outermost points, seen from front left above.
"""

from collections.abc import Sequence

import numpy as np

from bodymotion.diagnostics import Problem, grouped
from bodymotion.diagnostics.text import counted, html_text, severities
from bodymotion.extensions import kind_of
from bodymotion.formats.resources import missing_files, missing_files_text
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.meshes import Point, hull_of_sorted
from bodymotion.geometry.shapes import Shape
from bodymotion.model.body import Body
from bodymotion.model.extent import BodyExtent
from bodymotion.model.stick_figure import drawn_shapes
from bodymotion.motion import Motion, MultiSE3Seq, MultiValueSeq, OtherSeq, Vector3Seq
from bodymotion.scene.loading import groups_html
from bodymotion.scene.scene import Curve, limits_text
from bodymotion.viewer.plot_panel import (
    COLORS,
    filled,
    largest_spans,
    svg_of,
    with_unique_names,
)

MAX_ROWS = 200
MAX_GROUPS = 20
MAX_DRAWN_LINKS = 400
AZIMUTH = np.radians(35.0)
ELEVATION = np.radians(15.0)
"""Direction of the view: from +x towards +y, and above the ground."""


def html_of(value: object) -> str:
    """Return the summary of a Body, a Motion or a script."""
    if isinstance(value, Body):
        return _body(value)
    if isinstance(value, Motion):
        return _motion(value)
    kind = kind_of(value)
    summarize = None if kind is None else kind.function("summary")
    if summarize is None:
        return card(type(value).__name__, getattr(value, "title", ""), (), (), "")
    html: str = summarize(value)
    return html


def _body(body: Body) -> str:
    moving = sum(index >= 0 for index in body.joint_links)
    facts = [
        counted(len(body.links), "link"),
        counted(moving, "joint"),
        f"{body.mass:.4g} kg",
    ]
    facts += [counted(len(body.devices), "device")] if body.devices else []
    facts += (
        [counted(len(body.extra_joints), "closed loop")] if body.extra_joints else []
    )
    facts += [text] if (text := missing_files_text(body)) else []
    rows = []
    for link in body.links[:MAX_ROWS]:
        joint = link.joint
        if link.parent >= 0:
            parent = body.links[link.parent].name
        else:
            parent = ""
        if joint.id < 0:
            number = ""
        else:
            number = str(joint.id)
        if joint.type in ("rotate", "slide"):
            limits = limits_text(joint)
        else:
            limits = ""
        rows.append((str(link.index), link.name, parent, joint.type, number, limits))
    if body.links:
        picture = drawing(body, body.forward_kinematics(np.zeros(body.num_joints)))
    else:
        picture = ""
    table = html_table(
        ("#", "link", "parent", "joint", "id", "range"), rows, len(body.links)
    )
    return card(
        "Body",
        body.name,
        facts,
        body.problems,
        beside(picture, folded("links and joints", table)),
    )


def _motion(motion: Motion) -> str:
    rows = []
    for component in motion.components:
        if isinstance(component, OtherSeq):
            rows.append((component.content, component.type, "", "", ""))
            continue
        line = component.timeline
        if line.frame_rate is None:
            rate = "time stamps"
        else:
            rate = f"{line.frame_rate:g} Hz"
        if isinstance(component, Vector3Seq):
            parts = ""
        else:
            parts = str(component.num_parts)
        rows.append(
            (
                component.content,
                type(component).__name__,
                parts,
                str(line.num_frames),
                rate,
            )
        )
    duration = max(
        (component.timeline.duration for component in motion.timed), default=0.0
    )
    facts = [f"{duration:.4g} s", counted(len(motion.components), "component")]
    table = html_table(("content", "type", "parts", "frames", "rate"), rows, len(rows))
    path = motion.source.path
    name = str(motion.extra.get("name") or (path.name if path is not None else ""))
    return card("Motion", name, facts, motion.problems, table + _curves(motion))


def _curves(motion: Motion) -> str:
    """Return the curves of the columns with the largest spans."""
    component: MultiValueSeq | MultiSE3Seq | None = (
        motion.joint_displacement or motion.link_position
    )
    if component is None or component.num_frames < 2 or not component.num_parts:
        return ""
    joints = isinstance(component, MultiValueSeq)
    if joints:
        values = component.values
    else:
        values = component.values[:, 0, :3]
    if joints:
        names = component.part_labels
    else:
        names = ("x", "y", "z")
    labels = [
        names[k] if k < len(names) and names[k] else f"joint {k}"
        for k in range(values.shape[1])
    ]
    curves = with_unique_names(
        Curve(label, "", values[:, k]) for k, label in enumerate(labels)
    )
    chosen = largest_spans(curves, len(COLORS))
    legend = " ".join(
        f'<span style="color:{color}">&#9644;</span> {html_text(label, 40)}'
        for color, label in zip(COLORS, chosen, strict=False)
    )
    if joints:
        if len(curves) > len(COLORS):
            what = "joints with the largest range"
        else:
            what = "joints"
    else:
        what = "root link [m]"
    times = component.timeline.times
    plot = svg_of(times, [filled(curves[label], len(times)) for label in chosen])
    return f'<div style="width:520px">{plot}</div><div style="font-size:85%">{what}: {legend}</div>'


def card(
    kind: str, name: str, facts: Sequence[str], problems: Sequence[Problem], inside: str
) -> str:
    """Return a summary in a frame: a title with facts, its inside, and findings."""
    if name.strip():
        title = f"<b>{html_text(name, 80)}</b>"
    else:
        title = "<b>without a name</b>"
    groups = grouped(problems)
    findings = ""
    if groups:
        findings = folded(severities(groups), groups_html(groups, MAX_GROUPS))
    line = " · ".join(html_text(fact, 200) for fact in facts)
    return (
        '<div style="border:1px solid #8888;border-radius:6px;padding:8px 12px;display:inline-block;max-width:100%">'
        f"<div>{kind} {title} · {line}</div>{inside}{findings}</div>"
    )


def beside(picture: str, text: str) -> str:
    """Return a picture with a text beside it, both as HTML."""
    if not picture:
        return text
    return f'<div style="display:flex;gap:18px;align-items:flex-start;margin-top:6px">{picture}<div>{text}</div></div>'


def folded(title: str, inside: str) -> str:
    """Return a part that is shown when its title is clicked."""
    return f'<details><summary style="cursor:pointer">{html_text(title)}</summary>{inside}</details>'


def html_table(head: Sequence[str], rows: Sequence[Sequence[str]], count: int) -> str:
    """Return a table of texts, which are escaped; at most `MAX_ROWS` of `count`."""
    cells = "".join(f'<th style="text-align:left">{title}</th>' for title in head)
    body = "".join(
        "<tr>"
        + "".join(
            f'<td style="text-align:left">{html_text(cell, 60)}</td>' for cell in row
        )
        + "</tr>"
        for row in rows[:MAX_ROWS]
    )
    if count > MAX_ROWS:
        more = f'<tr><td colspan="{len(head)}">… {count} in all</td></tr>'
    else:
        more = ""
    return f'<table style="font-size:90%"><thead><tr>{cells}</tr></thead><tbody>{body}{more}</tbody></table>'


def drawing(body: Body, link_poses: Floats, height: int = 220) -> str:
    """Return a body with links at poses (L, 7) as SVG of a `height` [px].

    Empty when nothing is visible.

    Links farther away are drawn first.
    """
    right = np.array([-np.sin(AZIMUTH), np.cos(AZIMUTH), 0.0])
    up = np.array(
        [
            -np.sin(ELEVATION) * np.cos(AZIMUTH),
            -np.sin(ELEVATION) * np.sin(AZIMUTH),
            np.cos(ELEVATION),
        ]
    )
    towards = np.cross(right, up)
    pieces: list[tuple[float, str, list[Point]]] = []
    drawn = drawn_shapes(body, are_missing=bool(missing_files(body)))
    extent = BodyExtent(body, drawn)
    everything = extent.placed(link_poses)
    for index in range(min(len(link_poses), MAX_DRAWN_LINKS)):
        placed = everything[extent.links == index]
        placed = placed[np.isfinite(placed).all(axis=1)]
        if len(placed):
            projected = sorted(
                set(zip((placed @ right).tolist(), (placed @ up).tolist(), strict=True))
            )
            color = _color(drawn[index] or body.environment)
            pieces.append(
                (float((placed @ towards).mean()), color, hull_of_sorted(projected))
            )
    if not pieces:
        return ""
    corners = np.array([corner for _, _, polygon in pieces for corner in polygon])
    low = corners.min(axis=0)
    high = corners.max(axis=0)
    span = np.maximum(high - low, 1e-3 * max(float((high - low).max()), 1e-9))
    scale = (height - 8) / max(span[1], 0.6 * span[0])
    width = scale * span[0] + 8
    tall = scale * span[1] + 8
    shapes = "".join(
        f'<polygon points="{_corners(polygon, low, high, scale)}" fill="{color}"/>'
        for _, color, polygon in sorted(pieces, key=lambda piece: piece[0])
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{tall:.0f}" viewBox="0 0 {width:.1f} {tall:.1f}">'
        f'<g stroke="#00000055" stroke-width="0.7" stroke-linejoin="round">{shapes}</g></svg>'
    )


def _corners(polygon: list[Point], low: Floats, high: Floats, scale: float) -> str:
    return " ".join(
        f"{4 + scale * (x - low[0]):.1f},{4 + scale * (high[1] - y):.1f}"
        for x, y in polygon
    )


def _color(shapes: Sequence[Shape]) -> str:
    """Return the colour of the largest shape."""
    largest = max(
        shapes,
        key=lambda shape: (
            0.0 if shape.bounds is None else float(np.ptp(shape.bounds, axis=0).sum())
        ),
    )
    red, green, blue = (
        round(255 * min(max(value, 0.0), 1.0)) for value in largest.material.diffuse
    )
    return f"#{red:02x}{green:02x}{blue:02x}"
