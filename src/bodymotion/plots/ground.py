"""The zero moment point: its path on the ground seen from above, the stability margin, and the footprints."""

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics.text import shown
from bodymotion.dynamics import Contacts, Measures, SupportPolygons, support_polygons
from bodymotion.geometry.arrays import Floats, runs
from bodymotion.plots.curves import decimated, line_of, ranged
from bodymotion.plots.layout import SIDE, Flow
from bodymotion.plots.parts import Chart, Color, Curves, Footprint, Ground, number_text
from bodymotion.plots.subject import Subject

MAX_POINTS = 1500
MARGIN = 0.25  # [m] Distance around footprints in which a path is always shown.


def decimated_path(times: Floats, points: Floats) -> npt.NDArray[np.intp]:
    """Return the frames of a path (T, 2) that are drawn, the outermost ones included."""
    if len(times) <= MAX_POINTS:
        return np.arange(len(times))
    found = np.concatenate([decimated(times, points[:, k], MAX_POINTS // 2)[0] for k in range(2)])
    return np.asarray(np.searchsorted(times, np.unique(found)))


def view_limits(
    solid: Sequence[Floats], path: Floats, width: float, least: float, most: float
) -> tuple[tuple[float, float], tuple[float, float], bool]:
    """Return the ranges of axes with equal scales, in a frame of this width and between two heights [inch].

    All `solid` points (…, 2) are shown, and the part of the `path` (N, 2) near them.
    The third value is whether a part of it is cut off.
    """
    low, high = _box([*solid, path])
    cut = False
    if any(np.isfinite(points).all(axis=1).any() for points in solid):
        inner_low, inner_high = _box(solid)
        border = max(0.6 * float(max(inner_high - inner_low)), MARGIN)
        cut = bool((low < inner_low - border).any() or (high > inner_high + border).any())
        low, high = np.maximum(low, inner_low - border), np.minimum(high, inner_high + border)
    border = 0.06 * float(max(*(high - low), 0.05))
    low, high = low - border, high + border
    size = high - low
    height = float(np.clip(width * size[1] / size[0], least, most))
    scale = max(size[0] / width, size[1] / height)
    middle, half = (low + high) / 2, np.array([width, height]) * scale / 2
    x = float(middle[0] - half[0]), float(middle[0] + half[0])
    y = float(middle[1] - half[1]), float(middle[1] + half[1])
    return x, y, cut


def _box(shapes: Sequence[Floats]) -> tuple[Floats, Floats]:
    points = np.concatenate([np.reshape(shape, (-1, 2)) for shape in shapes])
    points = points[np.isfinite(points).all(axis=1)]
    return (points.min(axis=0), points.max(axis=0)) if len(points) else (np.zeros(2), np.ones(2))


MAX_FOOTPRINTS = 240
MIN_MARGIN_RANGE = 0.3  # [m] The axis of the margin reaches at least to minus this.
STEP = 0.3  # [m] A foot or wheel that slides or rolls this far in contact gets another footprint.
MAX_TRIED_FRAMES = 7
"""Frames of a stance phase that are tried: the largest footprint is drawn, not the heel or the toe alone."""


def zmp_chart(subject: Subject, flow: Flow) -> Chart:
    """Return the chart: ground, stability margin, and the difference between recorded and computed ZMP."""
    left, right = SIDE + 0.8, flow.width - SIDE - 0.9
    highest = max(6.2 * flow.stretch, 1.8)
    part = ground_part(subject, right - left, min(2.6, highest), highest)
    height = (right - left) * (part.y[1] - part.y[0]) / (part.x[1] - part.x[0])
    flow.across(part, height, left=left, right=right)
    flow.y += max(0.18 * -(-len(part.names) // part.legend_columns(right - left)) + 0.15, 0.75)
    flow.across(margin_part(subject), 1.7, left=left, right=right)
    recorded = subject.measured.recorded_zmp
    if recorded is not None:
        flow.y += 0.1
        flow.across(subject.cached("apart", lambda: _zmp_difference(subject, recorded)), 1.7, left=left, right=right)
    return flow.chart("zmp", "Zero moment point", subject)


def margin_part(subject: Subject) -> Curves:
    """Return the curve of the stability margin, with its floor at 0."""
    return subject.cached("margin", lambda: _margin(subject))


def _margin(subject: Subject) -> Curves:
    m = subject.measured
    inside = subject.inside(m.times)
    factor, unit = subject.small_length
    margin = m.stability_margin[inside] * factor
    line = line_of("Stability margin", m.times[inside], margin, 0, most=1600)
    found = ranged((Curves("Stability margin", unit, (line,), floor=0.0),), from_zero=True)[0]
    if np.isnan(margin).all():
        return replace(found, note="no foot in contact")
    k = int(np.nanargmin(margin))
    least = f"minimum {subject.length_text(float(margin[k] / factor))} at {m.times[inside][k]:.2f} s"
    far = max(4 * max(float(np.nanmax(margin)), 0.0), MIN_MARGIN_RANGE * factor)
    if found.lowest < -far:
        highest = 1.08 * max(float(np.nanmax(margin)), 0.0) + 0.08 * far
        return replace(found, lowest=-far, highest=highest, note=f"{least}; below the axis")
    return replace(found, note=least)


def _zmp_difference(subject: Subject, recorded: Floats) -> Curves:
    m = subject.measured
    inside = subject.inside(m.times)
    factor, unit = subject.small_length
    apart = (recorded - m.zmp)[inside] * factor
    lines = tuple(line_of(f"along {axis}", m.times[inside], apart[:, k], k, most=1600) for k, axis in enumerate("xy"))
    size = np.linalg.norm(apart[:, :2], axis=1)
    note = (
        ""
        if np.isnan(size).all()
        else f"median {number_text(float(np.nanmedian(size)))} {unit}, maximum {number_text(float(np.nanmax(size)))} {unit}"
    )
    return ranged((Curves("Recorded ZMP minus computed ZMP", unit, lines, note=note, legend=True),), from_zero=True)[0]


def ground_part(subject: Subject, width: float, least: float, most: float) -> Ground:
    """Return the ground, `width` wide and from `least` to `most` high [inch]."""
    part = subject.cached("ground", lambda: _ground(subject))
    solid = [one.corners for one in part.footprints] + [points for _, _, points, _ in part.others]
    x, y, cut = view_limits(solid, part.path, width, least, most)
    title = "ZMP from above; far parts are cut off" if cut else "Zero moment point, seen from above"
    return replace(part, title=title, x=x, y=y)


def _ground(subject: Subject) -> Ground:
    """Return the ground without the ranges of its axes."""
    m = subject.measured
    inside = subject.inside(m.times)
    frames = np.flatnonzero(inside)
    times = m.times[frames]
    footprints = _footprints(m, frames)
    kept = decimated_path(times, m.zmp[frames, :2])
    others: list[tuple[str, Floats, Floats, Color]] = []
    paths: tuple[tuple[str, Floats | None, Color], ...] = (
        ("Centre of mass", m.center_of_mass, "muted"),
        ("Recorded ZMP", m.recorded_zmp, "recorded"),
    )
    for name, points, color in paths:
        if points is not None:
            own = decimated_path(times, points[frames, :2])
            others.append((name, times[own], np.asarray(points[frames[own], :2]), color))
    path, unit = np.asarray(m.zmp[frames[kept], :2]), (0.0, 1.0)
    worst = _worst(m, frames, subject)
    return Ground("", footprints, "Computed ZMP", times[kept], path, tuple(others), unit, unit, worst)


def has_zmp(subject: Subject) -> bool:
    """Return whether there is a zero moment point at any time; a robot that always falls has none."""
    m = subject.measured
    return bool(np.isfinite(m.zmp[subject.inside(m.times)]).any())


def _worst(m: Measures, frames: npt.NDArray[np.intp], subject: Subject) -> tuple[float, float, float, str] | None:
    margin = m.stability_margin[frames]
    if np.isnan(margin).all():
        return None
    k = int(np.nanargmin(margin))
    at = m.zmp[frames[k]]
    time = float(m.times[frames[k]])
    return time, float(at[0]), float(at[1]), f"{subject.length_text(float(margin[k]))} at {time:.2f} s"


def _footprints(m: Measures, frames: npt.NDArray[np.intp]) -> tuple[Footprint, ...]:
    """Return the footprints: one per contact of a foot, more where it slides or rolls; and the hulls of several feet."""
    in_contact = m.contacts.in_contact[frames]
    found: list[Footprint] = []
    stances = [
        (k, a, b, moments)
        for k in range(in_contact.shape[1])
        for a, b in runs(in_contact[:, k])
        for moments in _moments(m.contacts.points[frames[a:b], k, :2], a)
    ]
    every = max(-(-len(stances) // MAX_FOOTPRINTS), 1)
    chosen = stances[::every]
    hulls = iter(_hulls(m, [(int(frames[at]), [k]) for k, _, _, moments in chosen for at in moments]))
    for k, a, b, moments in chosen:
        corners = max(itertools.islice(hulls, len(moments)), key=_area)
        if len(corners) > 2:
            name = shown(m.contacts.names[k] or f"foot {k}", 30)
            found.append(Footprint(name, corners, float(m.times[frames[a]]), float(m.times[frames[b - 1]]), k))
    several: list[Footprint] = []
    changes = np.flatnonzero(np.any(np.diff(in_contact.astype(np.int8), axis=0), axis=1)) + 1
    phases = [p for p in np.split(np.arange(len(frames)), changes) if len(p) and in_contact[p[0]].sum() > 1]
    phases = phases[:: max(-(-len(phases) // MAX_FOOTPRINTS), 1)]
    middles = [
        (int(frames[phase[len(phase) // 2]]), [int(k) for k in np.flatnonzero(in_contact[phase[0]])])
        for phase in phases
    ]
    for phase, corners in zip(phases, _hulls(m, middles), strict=True):
        if len(corners) > 2:
            ends = float(m.times[frames[phase[0]]]), float(m.times[frames[phase[-1]]])
            several.append(Footprint("support of several feet", corners, *ends, None))
    return (*several, *found)


def _moments(points: Floats, first: int) -> list[list[int]]:
    """Return the candidate frames for each footprint of a foot in contact."""
    count = len(points)
    net = float(np.linalg.norm(np.nan_to_num(points[-1] - points[0])))
    if net < STEP:
        return [sorted({first + int(at) for at in np.linspace(0, count - 1, MAX_TRIED_FRAMES + 2)[1:-1]})]
    steps = np.nan_to_num(np.linalg.norm(np.diff(points, axis=0), axis=1))
    way = np.concatenate([[0.0], np.cumsum(steps)])
    return [[first + int(np.searchsorted(way, s))] for s in np.linspace(0, way[-1], 2 + int(min(net / STEP, 40)))]


def _area(corners: Floats) -> float:
    x, y = corners[:, 0], corners[:, 1]
    return float(abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1)))) / 2


def _hulls(m: Measures, moments: list[tuple[int, list[int]]]) -> list[Floats]:
    """Return for each frame and its feet their convex polygon (M, 2)."""
    at = np.array([frame for frame, _ in moments], dtype=np.intp)
    c = m.contacts
    in_contact = np.zeros((len(at), c.in_contact.shape[1]), dtype=bool)
    for row, (_, feet) in zip(in_contact, moments, strict=True):
        row[feet] = True
    chosen = Contacts(c.links, c.names, in_contact, c.heights[at], c.points[at], c.velocities[at], c.slip_speeds[at])
    hulls: SupportPolygons = support_polygons(chosen, m.feet, m.link_poses[at], m.ground[at])
    return [np.array(corners[:count]) for corners, count in zip(hulls.corners, hulls.counts, strict=True)]
