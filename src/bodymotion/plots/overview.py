"""The overview: of a motion on a body, and of a motion alone."""

from functools import partial

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

MAX_CURVES = 5
MAX_LINES = 6  # Curves in one panel; more are rows.


def overview_chart(subject: Subject, flow: Flow) -> Chart:
    """Return the overview of a motion on a body."""
    m = subject.measured
    has = set(measurable(m))
    right = flow.middle
    aside = flow.aside
    top = flow.y
    if moves_of(m.motion):
        dance = subject.cached("moves", lambda: dance_bars(subject))
        flow.across(
            dance,
            max(0.24 * len(dance.labels), 0.45),
            left=LEFT,
            right=right,
            time_labels=False,
        )
    if "joint_displacements" in has and subject.columns:
        made = subject.cached("curve_rows", lambda: _joint_rows(subject))
        flow.across(
            made,
            max(ROW * len(made.rows), 0.8),
            left=LEFT,
            right=right,
            time_labels=False,
        )
        for name, title in (
            ("joint_velocities", "Fastest joints"),
            ("torques", "Joints with the largest torques"),
        ):
            if name == "joint_velocities" or (m.body.mass > 0 and _working(subject)):
                most = subject.cached(name, partial(_largest, subject, name, title))
                flow.across(most, 1.15, left=LEFT, right=right, time_labels=False)
    if "contacts" in has:
        feet = subject.cached("bars", lambda: bars(subject))
        flow.across(
            feet,
            max(0.22 * len(feet.labels), 0.45),
            left=LEFT,
            right=right,
            time_labels=False,
        )
        margin = margin_part(subject)
        if any(np.isfinite(line.values).any() for line in margin.lines):
            flow.across(margin, 1.15, left=LEFT, right=right, time_labels=False)
    elif "power" in has and _working(subject) and m.body.mass > 0:
        most = subject.cached(
            "power", lambda: _largest(subject, "power", "Joints with the largest power")
        )
        flow.across(most, 1.15, left=LEFT, right=right, time_labels=False)
    if flow.y == top:
        root = subject.series("root_position")
        flow.across(
            together(root.title, root, range(3)),
            1.6,
            left=LEFT,
            right=right,
            time_labels=False,
        )
    last = flow.cells[-1]
    flow.cells[-1] = Cell(last.part, last.x, last.y, last.width, last.height, True)
    flow.y += 0.25
    highest = min(max(4.2 * flow.stretch, 1.2), 4.2)
    if "zmp" in has and has_zmp(subject):
        ground = ground_part(
            subject, flow.width - COLUMN_EDGE - aside, min(1.6, highest), highest
        )
    else:
        ground = None
    flow.beside(
        top, aside, ground, subject.cached("key_figures", lambda: key_figures(subject))
    )
    return flow.chart("overview", "", subject)


def _joint_rows(subject: Subject) -> CurveRows:
    joints = subject.series("joint_displacements")
    return curve_rows("Joints", joints, groups_of(subject, joints))


def _working(subject: Subject) -> list[str]:
    """Return the names of the shown joints with torques: all but crawlers."""
    joints = subject.measured.body.joints
    return [
        subject.joint_labels[k] for k in subject.columns if joints[k].type != "crawler"
    ]


def _largest(subject: Subject, name: str, title: str) -> Curves:
    """Return a panel of the columns with the largest values, of the most frequent unit."""
    of = subject.series(name)
    if name != "joint_velocities":
        of = of.select(_working(subject))
    unit = max(set(of.units), key=of.units.count)
    sizes = np.where(np.isfinite(of.values), np.abs(of.values), 0.0).max(
        axis=0, initial=0.0
    )
    columns = [
        int(k) for k in np.argsort(-sizes, kind="stable") if of.units[k] == unit
    ][:MAX_CURVES]
    return together(
        title, of, columns, labels=[shown(label, 18) for label in of.labels]
    )


def key_figures(subject: Subject) -> KeyFigures:
    """Return the key figures of the whole motion, in units for reading."""
    rows = []
    for one in figures(subject.measured):
        if one.time is None:
            when = ""
        else:
            when = f"at {one.time:.2f} s"
        where = ", ".join(filter(None, (shown(one.part or "", 24), when)))
        rows.append((one.title, _value(one, subject), where))
    return KeyFigures("Key figures", tuple(rows))


def _value(one: Figure, subject: Subject) -> str:
    value = one.value
    unit = one.unit
    if unit == "share":
        return f"{number_text(round(value * 100))} %"
    if not unit:
        return f"{value:.0f}"
    if unit.startswith("rad") and not subject.radians:
        value = float(np.rad2deg(value))
        unit = "°" + unit[3:]
    if unit == "m":
        return subject.length_text(value)
    return f"{number_text(value)}{'' if unit == '°' else ' '}{unit}"


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
        if of.of == "joint":
            columns = [*subject.columns]
        else:
            columns = [*range(len(of.labels))]
        if not columns:
            continue
        chosen = of.select([of.labels[k] for k in columns])
        flow.y += 0.05
        if len(columns) <= MAX_LINES:
            flow.across(
                together(of.title, chosen, range(len(columns))),
                1.3,
                left=LEFT,
                right=right,
            )
            continue
        if of.of == "joint":
            groups = groups_of(subject, of)
        else:
            groups = (JointGroup("", tuple(range(len(columns)))),)
        made = curve_rows(of.title, chosen, groups)
        flow.across(made, ROW * len(made.rows), left=LEFT, right=right)
        if of.of == "joint":
            most = most_varying(chosen, MAX_LINES - 1)
            flow.across(
                together("Joints that vary most", chosen, most),
                1.3,
                left=LEFT,
                right=right,
            )
    flow.beside(
        top,
        aside,
        _way(subject, flow.width - COLUMN_EDGE - aside),
        _key_figures(subject),
    )
    return flow.chart("overview", "", subject)


def _way(subject: Subject, width: float) -> Ground | None:
    """Return the path of the recorded zero moment point on the ground, or else that of the root."""
    motion = subject.motion
    zmp = motion.zmp
    links = motion.link_position
    if links is not None and links.num_parts and links.num_frames:
        root = links.values[:, 0]
    else:
        root = None
    if (
        zmp is not None
        and zmp.num_frames
        and (not zmp.is_root_relative or root is not None)
    ):
        times = zmp.timeline.times
        points = zmp.values
        label = "recorded ZMP"
        if zmp.is_root_relative:
            assert links is not None
            here = np.asarray(links.timeline.frames_at(times))
            points = poses.transform_points(links.values[here, 0], points)
    elif root is not None:
        assert links is not None
        times = links.timeline.times
        points = root[:, :3]
        label = "path of the root"
    else:
        return None
    inside = subject.inside(times)
    times = times[inside]
    path = np.asarray(points[inside, :2])
    kept = decimated_path(times, path)
    x, y, _ = view_limits([], path, width, 1.6, 4.2)
    title = f"{label[0].upper()}{label[1:]}, seen from above"
    return Ground(title, (), label, times[kept], path[kept], (), x, y)


def _key_figures(subject: Subject) -> KeyFigures:
    rows = []
    for component in subject.motion.timed:
        if component.num_frames:
            rate = component.timeline.frame_rate
            if rate is None:
                pace = "time-stamped"
            else:
                pace = f"{number_text(rate, 5)} frames/s"
            frames = component.num_frames
            rows.append(
                (
                    component.content,
                    f"{component.timeline.duration:.2f} s",
                    f"{frames} frames, {pace}",
                )
            )
    return KeyFigures("Components", tuple(rows))
