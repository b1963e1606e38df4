"""The plot of a motion alone: what the file itself has, as there is no body to say more."""

from __future__ import annotations

import numpy as np

from bodymotion.geometry import poses
from bodymotion.plots.layout import COLUMN_EDGE, LEFT, ROW, Flow
from bodymotion.plots.limbs import Limb
from bodymotion.plots.panels import together
from bodymotion.plots.parts import Facts, Ground, Sheet
from bodymotion.plots.paths import thin_path, view_of
from bodymotion.plots.quantities import groups_of
from bodymotion.plots.strips import liveliest, strips
from bodymotion.plots.subject import Subject
from bodymotion.plots.words import number

__all__ = ["alone_sheet"]

MOST_LINES = 6


def alone_sheet(subject: Subject, flow: Flow) -> Sheet:
    """Make the overview of a motion alone: its components over time, and its zero moment point's or root's way over the ground."""
    right, aside = flow.middle, flow.aside
    top = flow.y
    if not subject.components:
        raise ValueError("the motion has no frames, so there is nothing to plot")
    for of in subject.components:
        columns = [*subject.columns] if of.of == "joint" else [*range(len(of.labels))]
        if not columns:
            continue
        chosen = of.select([of.labels[k] for k in columns])
        flow.y += 0.05
        if len(columns) <= MOST_LINES:
            flow.across(together(of.title, chosen, range(len(columns))), 1.3, left=LEFT, right=right)
            continue
        groups = groups_of(subject, of) if of.of == "joint" else (Limb("", tuple(range(len(columns)))),)
        made = strips(of.title, chosen, groups)
        flow.across(made, ROW * len(made.rows), left=LEFT, right=right)
        if of.of == "joint":
            most = liveliest(chosen, MOST_LINES - 1)
            flow.across(together("Those that move most", chosen, most), 1.3, left=LEFT, right=right)
    flow.beside(top, aside, _way(subject, flow.width - COLUMN_EDGE - aside), _facts(subject))
    return flow.sheet("overview", "", subject)


def _way(subject: Subject, width: float) -> Ground | None:
    """Return the way of the file's zero moment point over the ground, or else that of its root."""
    motion = subject.motion
    zmp, links = motion.zmp, motion.link_position
    root = links.values[:, 0] if links is not None and links.num_parts and links.num_frames else None
    if zmp is not None and zmp.num_frames and (not zmp.is_root_relative or root is not None):
        times, points, label = zmp.timeline.times, zmp.values, "ZMP of the file"
        if zmp.is_root_relative:
            assert links is not None
            here = np.asarray(links.timeline.frames_at(times))
            points = poses.transform_points(links.values[here, 0], points)
    elif root is not None:
        assert links is not None
        times, points, label = links.timeline.times, root[:, :3], "way of the root"
    else:
        return None
    inside = subject.inside(times)
    times, path = times[inside], np.asarray(points[inside, :2])
    kept = thin_path(times, path)
    x, y, _ = view_of([], path, width, 1.6, 4.2)
    title = f"{label[0].upper()}{label[1:]}, seen from above"
    return Ground(title, (), label, times[kept], path[kept], (), x, y)


def _facts(subject: Subject) -> Facts:
    rows = []
    for component in subject.motion.timed:
        if component.num_frames:
            rate = component.timeline.frame_rate
            paced = "time-stamped" if rate is None else f"{number(rate, 5)} frames/s"
            frames = component.num_frames
            rows.append((component.content, f"{component.timeline.duration:.2f} s", f"{frames} frames, {paced}"))
    return Facts("Components", tuple(rows))
