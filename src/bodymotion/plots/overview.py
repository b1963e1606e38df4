"""The overview: of a motion on a body, and of a motion alone."""

from collections.abc import Container

import numpy as np

from bodymotion.diagnostics.text import shown
from bodymotion.dynamics import Figure, figures, measurable
from bodymotion.geometry import poses
from bodymotion.plots.curves import curve_rows, most_varying, together
from bodymotion.plots.layout import COLUMN_EDGE, LEFT, ROW, Flow
from bodymotion.plots.parts import (
    Cell,
    Chart,
    CurveRows,
    Curves,
    Ground,
    KeyFigures,
    Part,
    number_text,
)
from bodymotion.plots.quantities import (
    bars,
    dance_bars,
    decimated_path,
    ground_part,
    groups_of,
    has_zmp,
    margin_part,
    view_limits,
)
from bodymotion.plots.subject import JointGroup, Subject
from bodymotion.scene.playback import moves_of

# Curves of the joints with the largest values.
MAX_CURVES = 5
# Curves in one panel; more are rows.
MAX_LINES = 6
# [inch] Heights of panels, and of a row of bars for feet and for moves.
PANEL = 1.15
BARS = 0.22
MOVES = 0.24
MIN_BARS = 0.45


def overview_chart(subject: Subject, flow: Flow) -> Chart:
    """Return the overview of a motion on a body."""
    m = subject.measured
    quantities = set(measurable(m))
    aside = flow.aside
    top = flow.y
    for part, height in _overview_parts(subject, quantities):
        flow.across(part, height, left=LEFT, right=flow.middle, time_labels=False)
    last = flow.cells[-1]
    flow.cells[-1] = Cell(last.part, last.x, last.y, last.width, last.height, True)
    flow.y += 0.25
    highest = min(max(4.2 * flow.stretch, 1.2), 4.2)
    ground = None
    if "zmp" in quantities and has_zmp(subject):
        width = flow.width - COLUMN_EDGE - aside
        ground = ground_part(subject, width, min(1.6, highest), highest)
    key = subject.cached("key_figures", lambda: key_figures(subject))
    flow.beside(top, aside, ground, key)
    return flow.chart("overview", "", subject)


def _overview_parts(
    subject: Subject, quantities: Container[str]
) -> list[tuple[Part, float]]:
    """Return the plots of an overview over time, with their heights [inch]."""
    m = subject.measured
    has_joints = "joint_displacements" in quantities and bool(subject.columns)
    has_torques = m.body.mass > 0 and bool(_working(subject))
    parts: list[tuple[Part, float]] = []
    if moves_of(m.motion):
        dance = subject.cached("moves", lambda: dance_bars(subject))
        parts.append((dance, max(MOVES * len(dance.labels), MIN_BARS)))
    if has_joints:
        rows = subject.cached("curve_rows", lambda: _joint_rows(subject))
        parts.append((rows, max(ROW * len(rows.rows), 0.8)))
        parts.append((_largest(subject, "joint_velocities", "Fastest joints"), PANEL))
    if has_joints and has_torques:
        title = "Joints with the largest torques"
        parts.append((_largest(subject, "torques", title), PANEL))
    if "contacts" in quantities:
        feet = subject.cached("bars", lambda: bars(subject))
        parts.append((feet, max(BARS * len(feet.labels), MIN_BARS)))
        margin = margin_part(subject)
        if any(np.isfinite(line.values).any() for line in margin.lines):
            parts.append((margin, PANEL))
    elif "power" in quantities and has_torques:
        title = "Joints with the largest power"
        parts.append((_largest(subject, "power", title), PANEL))
    if not parts:
        root = subject.series("root_position")
        parts.append((together(root.title, root, range(3)), 1.6))
    return parts


def _joint_rows(subject: Subject) -> CurveRows:
    """Return the joint values as rows."""
    joints = subject.series("joint_displacements")
    return curve_rows("Joints", joints, groups_of(subject, joints))


def _working(subject: Subject) -> list[str]:
    """Return the names of the shown joints with torques: all but crawlers."""
    joints = subject.measured.body.joints
    return [
        subject.joint_labels[k] for k in subject.columns if joints[k].type != "crawler"
    ]


def _largest(subject: Subject, name: str, title: str) -> Curves:
    """Return a panel of the columns with the largest values, made once."""
    return subject.cached(name, lambda: _find_largest(subject, name, title))


def _find_largest(subject: Subject, name: str, title: str) -> Curves:
    """Return a panel of the columns with the largest values.

    They are of the most frequent unit.
    """
    of = subject.series(name)
    if name != "joint_velocities":
        of = of.select(_working(subject))
    unit = max(set(of.units), key=of.units.count)
    sizes = np.where(np.isfinite(of.values), np.abs(of.values), 0.0)
    order = np.argsort(-sizes.max(axis=0, initial=0.0), kind="stable").tolist()
    columns = [k for k in order if of.units[k] == unit][:MAX_CURVES]
    labels = [shown(label, 18) for label in of.labels]
    return together(title, of, columns, labels=labels)


def key_figures(subject: Subject) -> KeyFigures:
    """Return the key figures of the whole motion, in units for reading."""
    rows = []
    for figure in figures(subject.measured):
        places = [shown(figure.part or "", 24)]
        if figure.time is not None:
            places.append(f"at {figure.time:.2f} s")
        place = ", ".join(filter(None, places))
        rows.append((figure.title, _value(figure, subject), place))
    return KeyFigures("Key figures", tuple(rows))


def _value(figure: Figure, subject: Subject) -> str:
    """Return a key figure with its unit as text."""
    value = figure.value
    unit = figure.unit
    if unit == "share":
        return f"{number_text(round(value * 100))} %"
    if not unit:
        return f"{value:.0f}"
    if unit.startswith("rad") and not subject.radians:
        value = float(np.rad2deg(value))
        unit = "°" + unit[3:]
    if unit == "m":
        return subject.length_text(value)
    if unit == "°":
        return f"{number_text(value)}°"
    return f"{number_text(value)} {unit}"


def alone_chart(subject: Subject, flow: Flow) -> Chart:
    """Return the overview of a motion alone.

    Its components over time, and the path of its zero moment point or root.
    """
    right = flow.middle
    aside = flow.aside
    top = flow.y
    if not subject.components:
        raise ValueError("the motion has no frames to plot")
    for of in subject.components:
        is_joints = of.of == "joint"
        columns = subject.columns if is_joints else range(len(of.labels))
        if not columns:
            continue
        chosen = of.select([of.labels[k] for k in columns])
        flow.y += 0.05
        if len(columns) <= MAX_LINES:
            curves = together(of.title, chosen, range(len(columns)))
            flow.across(curves, 1.3, left=LEFT, right=right)
            continue
        if is_joints:
            groups = groups_of(subject, of)
        else:
            groups = (JointGroup("", tuple(range(len(columns)))),)
        rows = curve_rows(of.title, chosen, groups)
        flow.across(rows, ROW * len(rows.rows), left=LEFT, right=right)
        if is_joints:
            most = most_varying(chosen, MAX_LINES - 1)
            curves = together("Joints that vary most", chosen, most)
            flow.across(curves, 1.3, left=LEFT, right=right)
    ground = _path_on_ground(subject, flow.width - COLUMN_EDGE - aside)
    flow.beside(top, aside, ground, _key_figures(subject))
    return flow.chart("overview", "", subject)


def _path_on_ground(subject: Subject, width: float) -> Ground | None:
    """Return the path of the recorded zero moment point, or else that of the root."""
    zmp = subject.motion.zmp
    links = subject.motion.link_position
    if links is not None and not (links.num_parts and links.num_frames):
        links = None
    if zmp is not None and zmp.is_root_relative and links is None:
        zmp = None
    if zmp is not None and zmp.num_frames:
        times = zmp.timeline.times
        points = zmp.values
        label = "recorded ZMP"
        if zmp.is_root_relative and links is not None:
            frames = np.asarray(links.timeline.frames_at(times))
            points = poses.transform_points(links.values[frames, 0], points)
    elif links is not None:
        times = links.timeline.times
        points = links.values[:, 0, :3]
        label = "path of the root"
    else:
        return None
    inside = subject.inside(times)
    times = times[inside]
    path = np.asarray(points[inside, :2])
    drawn = decimated_path(times, path)
    x, y, _ = view_limits([], path, width, 1.6, 4.2)
    title = f"{label[0].upper()}{label[1:]}, seen from above"
    return Ground(title, (), label, times[drawn], path[drawn], (), x, y)


def _key_figures(subject: Subject) -> KeyFigures:
    """Return the length and the rate of each component."""
    rows = []
    for component in subject.motion.timed:
        frames = component.num_frames
        if not frames:
            continue
        rate = component.timeline.frame_rate
        pace = "time-stamped" if rate is None else f"{number_text(rate, 5)} frames/s"
        seconds = f"{component.timeline.duration:.2f} s"
        rows.append((component.content, seconds, f"{frames} frames, {pace}"))
    return KeyFigures("Components", tuple(rows))
