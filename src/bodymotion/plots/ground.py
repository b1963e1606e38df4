"""The zero moment point on the ground, seen from above, in the footprints of those who stand; and how far inside it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics.text import shown
from bodymotion.dynamics import Contacts, Measures, SupportPolygons, support_polygons
from bodymotion.geometry.arrays import Floats
from bodymotion.plots.contacts import stretches
from bodymotion.plots.layout import SIDE, Flow
from bodymotion.plots.panels import line_of, ranged
from bodymotion.plots.parts import Color, Curves, Footprint, Ground, Sheet
from bodymotion.plots.paths import thin_path, view_of
from bodymotion.plots.subject import Subject
from bodymotion.plots.words import number

__all__ = ["ground_part", "margin_part", "rests", "zmp_sheet"]

MOST_FOOTPRINTS = 240
FAR = 0.3
"""[m] So far below 0 the axis of the margin goes in any case."""
STEP = 0.3
"""[m] What slides or rolls on so far while it stands, as wheels do, has a further footprint."""
TRIED = 7
"""So many moments of a foot's stance are tried: the largest footprint is drawn, not the heel or the toe alone."""


def zmp_sheet(subject: Subject, flow: Flow) -> Sheet:
    """Make the plot: the ground, the stability margin, and how far the file's own point is from the motion's."""
    left, right = SIDE + 0.8, flow.width - SIDE - 0.9
    highest = max(6.2 * flow.stretch, 1.8)
    part = ground_part(subject, right - left, min(2.6, highest), highest)
    height = (right - left) * (part.y[1] - part.y[0]) / (part.x[1] - part.x[0])
    flow.across(part, height, left=left, right=right)
    flow.y += max(0.18 * -(-len(part.names) // part.legend_columns(right - left)) + 0.15, 0.75)
    assert subject.measures is not None
    flow.across(margin_part(subject), 1.7, left=left, right=right)
    given = subject.measures.given_zmp
    if given is not None:
        flow.y += 0.1
        flow.across(subject.once("apart", lambda: _apart(subject, given)), 1.7, left=left, right=right)
    return flow.sheet("zmp", "Zero moment point", subject)


def margin_part(subject: Subject) -> Curves:
    """Make the curve of the stability margin, bad below 0."""
    return subject.once("margin", lambda: _margin(subject))


def _margin(subject: Subject) -> Curves:
    m = _measured(subject)
    inside = subject.inside(m.times)
    factor, unit = subject.length
    margin = m.stability_margin[inside] * factor
    line = line_of("Stability margin", m.times[inside], margin, 0, most=1600)
    found = ranged((Curves("Stability margin", unit, (line,), floor=0.0),), from_zero=True)[0]
    if np.isnan(margin).all():
        return replace(found, note="no foot stands")
    k = int(np.nanargmin(margin))
    least = f"least {subject.length_text(float(margin[k] / factor))} at {m.times[inside][k]:.2f} s"
    far = max(4 * max(float(np.nanmax(margin)), 0.0), FAR * factor)
    if found.lowest < -far:
        highest = 1.08 * max(float(np.nanmax(margin)), 0.0) + 0.08 * far
        return replace(found, lowest=-far, highest=highest, note=f"{least}; below what is shown")
    return replace(found, note=least)


def _apart(subject: Subject, given: Floats) -> Curves:
    m = _measured(subject)
    inside = subject.inside(m.times)
    factor, unit = subject.length
    apart = (given - m.zmp)[inside] * factor
    lines = tuple(line_of(f"along {axis}", m.times[inside], apart[:, k], k, most=1600) for k, axis in enumerate("xy"))
    size = np.linalg.norm(apart[:, :2], axis=1)
    note = (
        ""
        if np.isnan(size).all()
        else f"median {number(float(np.nanmedian(size)))} {unit}, most {number(float(np.nanmax(size)))} {unit}"
    )
    return ranged((Curves("The file's point less the motion's", unit, lines, note=note, legend=True),), from_zero=True)[
        0
    ]


def ground_part(subject: Subject, width: float, least: float, most: float) -> Ground:
    """Make the ground of `width` [inch], from `least` to `most` [inch] high."""
    part = subject.once("ground", lambda: _ground(subject))
    solid = [one.corners for one in part.footprints] + [points for _, _, points, _ in part.others]
    x, y, cut = view_of(solid, part.path, width, least, most)
    title = "ZMP from above; far parts are cut off" if cut else "Zero moment point, seen from above"
    return replace(part, title=title, x=x, y=y)


def _ground(subject: Subject) -> Ground:
    """Make the ground, with what it shows still to be found."""
    m = _measured(subject)
    inside = subject.inside(m.times)
    frames = np.flatnonzero(inside)
    times = m.times[frames]
    footprints = _footprints(m, frames)
    kept = thin_path(times, m.zmp[frames, :2])
    others: list[tuple[str, Floats, Floats, Color]] = []
    com = thin_path(times, m.center_of_mass[frames, :2])
    others.append(("Centre of mass", times[com], np.asarray(m.center_of_mass[frames[com], :2]), "muted"))
    if m.given_zmp is not None:
        own = thin_path(times, m.given_zmp[frames, :2])
        others.append(("ZMP of the file", times[own], np.asarray(m.given_zmp[frames[own], :2]), "given"))
    path = np.asarray(m.zmp[frames[kept], :2])
    return Ground(
        "",
        footprints,
        "ZMP of the motion",
        times[kept],
        path,
        tuple(others),
        (0.0, 1.0),
        (0.0, 1.0),
        _worst(m, frames, subject),
    )


def rests(subject: Subject) -> bool:
    """Say whether there is a zero moment point at any time: of what falls all the time there is not."""
    m = _measured(subject)
    return bool(np.isfinite(m.zmp[subject.inside(m.times)]).any())


def _measured(subject: Subject) -> Measures:
    assert subject.measures is not None
    return subject.measures


def _worst(m: Measures, frames: npt.NDArray[np.intp], subject: Subject) -> tuple[float, float, float, str] | None:
    margin = m.stability_margin[frames]
    if np.isnan(margin).all():
        return None
    k = int(np.nanargmin(margin))
    at = m.zmp[frames[k]]
    time = float(m.times[frames[k]])
    return time, float(at[0]), float(at[1]), f"{subject.length_text(float(margin[k]))} at {time:.2f} s"


def _footprints(m: Measures, frames: npt.NDArray[np.intp]) -> tuple[Footprint, ...]:
    """Return the feet's footprints: one for each time that they stand, more where they slide or roll on; and what several feet span."""
    standing = m.contacts.standing[frames]
    found: list[Footprint] = []
    stances = [
        (k, a, b, moments)
        for k in range(standing.shape[1])
        for a, b in stretches(standing[:, k])
        for moments in _moments(m.contacts.points[frames[a:b], k, :2], a)
    ]
    every = max(-(-len(stances) // MOST_FOOTPRINTS), 1)
    for k, a, b, moments in stances[::every]:
        corners = max((_hull(m, int(frames[at]), [k]) for at in moments), key=_area)
        if len(corners) > 2:
            name = shown(m.contacts.names[k] or f"foot {k}", 30)
            found.append(Footprint(name, corners, float(m.times[frames[a]]), float(m.times[frames[b - 1]]), k))
    several: list[Footprint] = []
    changes = np.flatnonzero(np.any(np.diff(standing.astype(np.int8), axis=0), axis=1)) + 1
    phases = [p for p in np.split(np.arange(len(frames)), changes) if len(p) and standing[p[0]].sum() > 1]
    for phase in phases[:: max(-(-len(phases) // MOST_FOOTPRINTS), 1)]:
        corners = _hull(m, int(frames[phase[len(phase) // 2]]), [int(k) for k in np.flatnonzero(standing[phase[0]])])
        if len(corners) > 2:
            ends = float(m.times[frames[phase[0]]]), float(m.times[frames[phase[-1]]])
            several.append(Footprint("support of several feet", corners, *ends, None))
    return (*several, *found)


def _moments(points: Floats, first: int) -> list[list[int]]:
    """Return for each footprint that a standing foot leaves the frames from which it may be taken."""
    count = len(points)
    net = float(np.linalg.norm(np.nan_to_num(points[-1] - points[0])))
    if net < STEP:
        return [sorted({first + int(at) for at in np.linspace(0, count - 1, TRIED + 2)[1:-1]})]
    steps = np.nan_to_num(np.linalg.norm(np.diff(points, axis=0), axis=1))
    way = np.concatenate([[0.0], np.cumsum(steps)])
    return [[first + int(np.searchsorted(way, s))] for s in np.linspace(0, way[-1], 2 + int(min(net / STEP, 40)))]


def _area(corners: Floats) -> float:
    x, y = corners[:, 0], corners[:, 1]
    return float(abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1)))) / 2


def _hull(m: Measures, frame: int, feet: list[int]) -> Floats:
    """Return the polygon (M, 2) that these feet span at a frame."""
    c = m.contacts
    standing = np.zeros((1, c.standing.shape[1]), dtype=bool)
    standing[0, feet] = True
    at = slice(frame, frame + 1)
    one = Contacts(c.links, c.names, standing, c.heights[at], c.points[at], c.velocities[at], c.slip_speeds[at])
    hull: SupportPolygons = support_polygons(one, m.feet, m.link_poses[at], m.ground[at])
    return np.array(hull.corners[0, : int(hull.counts[0])])
