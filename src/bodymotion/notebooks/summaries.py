"""Summaries of bodies, motions and scripts as HTML for notebooks.

Names come from files: they are escaped and shortened. Long lists are cut; their last
line has the full length.

The drawing of a body needs no packages: the outline of a link is the convex hull of its
outermost points, seen from front left above.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

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
from bodymotion.model.links import Link
from bodymotion.model.stick_figure import drawn_shapes
from bodymotion.motion import (
    Component,
    Motion,
    MultiSE3Seq,
    MultiValueSeq,
    OtherSeq,
    Vector3Seq,
)
from bodymotion.scene.loading import groups_html
from bodymotion.scene.scene import Curve, limits_text
from bodymotion.viewer.plot_panel import (
    COLORS,
    filled,
    largest_spans,
    svg_of,
    with_unique_names,
)

# Rows of a table.
MAX_ROWS = 200
# Rules with findings.
MAX_GROUPS = 20
# Links of a drawing.
MAX_DRAWN_LINKS = 400
# [rad] Direction of the view: from +x towards +y, and above the ground.
AZIMUTH = np.radians(35.0)
ELEVATION = np.radians(15.0)
# [px] Around a drawing.
MARGIN = 4


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
    """Return the summary of a body."""
    # Columns without a link are placeholders for missing ids.
    moving = sum(index >= 0 for index in body.joint_links)
    facts = [
        counted(len(body.links), "link"),
        counted(moving, "joint"),
        f"{body.mass:.4g} kg",
    ]
    if body.devices:
        facts.append(counted(len(body.devices), "device"))
    if body.extra_joints:
        facts.append(counted(len(body.extra_joints), "closed loop"))
    missing = missing_files_text(body)
    if missing:
        facts.append(missing)
    rows = [_link_row(body, link) for link in body.links[:MAX_ROWS]]
    head = ("#", "link", "parent", "joint", "id", "range")
    # A long table is folded, so that the picture is seen first.
    table = folded("links and joints", html_table(head, rows, len(body.links)))
    picture = ""
    if body.links:
        picture = drawing(body, body.forward_kinematics(np.zeros(body.num_joints)))
    return card("Body", body.name, facts, body.problems, beside(picture, table))


def _link_row(body: Body, link: Link) -> tuple[str, ...]:
    """Return the row of a link in a table."""
    joint = link.joint
    parent = body.links[link.parent].name if link.parent >= 0 else ""
    number = str(joint.id) if joint.id >= 0 else ""
    limits = limits_text(joint) if joint.type in ("rotate", "slide") else ""
    return (str(link.index), link.name, parent, joint.type, number, limits)


def _motion(motion: Motion) -> str:
    """Return the summary of a motion."""
    rows = [_component_row(component) for component in motion.components]
    duration = max((part.timeline.duration for part in motion.timed), default=0.0)
    facts = [f"{duration:.4g} s", counted(len(motion.components), "component")]
    table = html_table(("content", "type", "parts", "frames", "rate"), rows, len(rows))
    name = str(motion.extra.get("name") or "")
    if not name and motion.source.path is not None:
        name = motion.source.path.name
    return card("Motion", name, facts, motion.problems, table + _curves(motion))


def _component_row(component: Component) -> tuple[str, ...]:
    """Return the row of a component in a table."""
    if isinstance(component, OtherSeq):
        return (component.content, component.type, "", "", "")
    timeline = component.timeline
    rate = "time stamps"
    if timeline.frame_rate is not None:
        rate = f"{timeline.frame_rate:g} Hz"
    parts = "" if isinstance(component, Vector3Seq) else str(component.num_parts)
    kind = type(component).__name__
    return (component.content, kind, parts, str(timeline.num_frames), rate)


def _curves(motion: Motion) -> str:
    """Return the curves of the columns with the largest spans."""
    component: MultiValueSeq | MultiSE3Seq | None = (
        motion.joint_displacement or motion.link_position
    )
    if component is None or component.num_frames < 2 or not component.num_parts:
        return ""
    title = "root link [m]"
    # Without joints the position of the root is drawn.
    names: Sequence[str] = ("x", "y", "z")
    if isinstance(component, MultiValueSeq):
        title = "joints"
        values = component.values
        names = component.part_labels
        if values.shape[1] > len(COLORS):
            title = "joints with the largest range"
    else:
        values = component.values[:, 0, :3]
    labels = [f"joint {column}" for column in range(values.shape[1])]
    for column, name in enumerate(names[: len(labels)]):
        labels[column] = name or labels[column]
    curves = with_unique_names(
        Curve(label, "", values[:, column]) for column, label in enumerate(labels)
    )
    chosen = largest_spans(curves, len(COLORS))
    legend = " ".join(
        f'<span style="color:{color}">&#9644;</span> {html_text(label, 40)}'
        for color, label in zip(COLORS, chosen, strict=False)
    )
    times = component.timeline.times
    plot = svg_of(times, [filled(curves[label], len(times)) for label in chosen])
    return (
        f'<div style="width:520px">{plot}</div>'
        f'<div style="font-size:85%">{title}: {legend}</div>'
    )


def card(
    kind: str, name: str, facts: Sequence[str], problems: Sequence[Problem], inside: str
) -> str:
    """Return a summary in a frame: a title with facts, its inside, and findings."""
    title = html_text(name, 80) if name.strip() else "without a name"
    groups = grouped(problems)
    findings = ""
    if groups:
        findings = folded(severities(groups), groups_html(groups, MAX_GROUPS))
    line = " · ".join(html_text(fact, 200) for fact in facts)
    return (
        '<div style="border:1px solid #8888;border-radius:6px;padding:8px 12px;'
        'display:inline-block;max-width:100%">'
        f"<div>{kind} <b>{title}</b> · {line}</div>{inside}{findings}</div>"
    )


def beside(picture: str, text: str) -> str:
    """Return a picture with a text beside it, both as HTML."""
    if not picture:
        return text
    return (
        '<div style="display:flex;gap:18px;align-items:flex-start;margin-top:6px">'
        f"{picture}<div>{text}</div></div>"
    )


def folded(title: str, inside: str) -> str:
    """Return a part that is shown when its title is clicked."""
    return (
        f'<details><summary style="cursor:pointer">{html_text(title)}</summary>'
        f"{inside}</details>"
    )


def html_table(head: Sequence[str], rows: Sequence[Sequence[str]], count: int) -> str:
    """Return a table of texts, which are escaped; at most `MAX_ROWS` of `count`."""
    titles = "".join(f'<th style="text-align:left">{title}</th>' for title in head)
    body = ""
    for row in rows[:MAX_ROWS]:
        cells = "".join(
            f'<td style="text-align:left">{html_text(cell, 60)}</td>' for cell in row
        )
        body += f"<tr>{cells}</tr>"
    if count > MAX_ROWS:
        body += f'<tr><td colspan="{len(head)}">… {count} in all</td></tr>'
    return (
        f'<table style="font-size:90%"><thead><tr>{titles}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


class _Piece(NamedTuple):
    """The outline of a link in the image plane [m], its colour and its nearness [m]."""

    nearness: float
    color: str
    outline: list[Point]


def drawing(body: Body, link_poses: Floats, height: int = 220) -> str:
    """Return a body with links at poses (L, 7) as SVG of a `height` [px].

    Empty when nothing is visible. Links farther away are drawn first.
    """
    pieces = sorted(_project_links(body, link_poses), key=lambda piece: piece.nearness)
    if not pieces:
        return ""
    corners = np.concatenate([piece.outline for piece in pieces])
    low = corners.min(axis=0)
    high = corners.max(axis=0)
    # A body that is flat from this side still has a width and a height.
    span = np.maximum(high - low, 1e-3 * max(float((high - low).max()), 1e-9))
    # A wide body is limited by its width, at most 5/3 of the height.
    scale = (height - 2 * MARGIN) / max(span[1], 0.6 * span[0])
    width, tall = scale * span + 2 * MARGIN
    shapes = "".join(
        f'<polygon points="{_corners(piece.outline, low, high, scale)}" '
        f'fill="{piece.color}"/>'
        for piece in pieces
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" '
        f'height="{tall:.0f}" viewBox="0 0 {width:.1f} {tall:.1f}">'
        '<g stroke="#00000055" stroke-width="0.7" stroke-linejoin="round">'
        f"{shapes}</g></svg>"
    )


def _project_links(body: Body, link_poses: Floats) -> Iterator[_Piece]:
    """Yield the outlines of the links that are visible."""
    # An orthographic camera: the axes of its image (right, up) in the world, and the
    # direction to it.
    right = np.array([-np.sin(AZIMUTH), np.cos(AZIMUTH), 0.0])
    up = np.array(
        [
            -np.sin(ELEVATION) * np.cos(AZIMUTH),
            -np.sin(ELEVATION) * np.sin(AZIMUTH),
            np.cos(ELEVATION),
        ]
    )
    towards = np.cross(right, up)
    shapes = drawn_shapes(body, are_missing=bool(missing_files(body)))
    extent = BodyExtent(body, shapes)
    points = extent.placed(link_poses)
    for index in range(min(len(link_poses), MAX_DRAWN_LINKS)):
        of_link = points[extent.links == index]
        of_link = of_link[np.isfinite(of_link).all(axis=1)]
        if len(of_link):
            columns = (of_link @ right).tolist()
            rows = (of_link @ up).tolist()
            # The convex hull of the points of a link in the image.
            outline = hull_of_sorted(sorted(set(zip(columns, rows, strict=True))))
            color = _color(shapes[index] or body.environment)
            # Painter's algorithm: links are sorted by their mean nearness.
            yield _Piece(float((of_link @ towards).mean()), color, outline)


def _corners(outline: list[Point], low: Floats, high: Floats, scale: float) -> str:
    """Return the corners of an outline as SVG; y goes down there."""
    points = []
    for x, y in outline:
        column = MARGIN + scale * (x - low[0])
        row = MARGIN + scale * (high[1] - y)
        points.append(f"{column:.1f},{row:.1f}")
    return " ".join(points)


def _color(shapes: Sequence[Shape]) -> str:
    """Return the colour of the largest shape."""
    red, green, blue = (
        round(255 * min(max(value, 0.0), 1.0))
        for value in max(shapes, key=_size).material.diffuse
    )
    return f"#{red:02x}{green:02x}{blue:02x}"


def _size(shape: Shape) -> float:
    """Return the sum of the edges [m] of the box around a shape."""
    if shape.bounds is None:
        return 0.0
    return float(np.ptp(shape.bounds, axis=0).sum())
