"""Plots of one quantity, of contacts of the feet, of sensors, and of the ZMP.

The plots of the zero moment point show its path on the ground seen from above, the
stability margin, and the footprints.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from bodymotion.diagnostics.text import shown
from bodymotion.dynamics import (
    QUANTITIES,
    Contacts,
    Measures,
    Series,
    SupportPolygons,
    support_polygons,
)
from bodymotion.geometry.arrays import Bools, Floats, Indices, runs
from bodymotion.model.links import AccelerationSensor, ForceSensor, Gyro
from bodymotion.plots.curves import (
    decimated,
    line_of,
    most_varying,
    panel,
    ranged,
    together,
)
from bodymotion.plots.layout import SIDE, Flow
from bodymotion.plots.parts import (
    Bars,
    Chart,
    Color,
    Curves,
    Footprint,
    Ground,
    Line,
    number_text,
)
from bodymotion.plots.subject import JointGroup, Subject, series_of
from bodymotion.scene.playback import SLICES_PER_BEAT, beats_of, moves_of

# Panels of a chart: those that vary most.
MAX_PANELS = 120
# Curves in one panel, and panels without the names of their groups.
MAX_TOGETHER = 8
# Beats that are marked.
MAX_BEATS = 2000
# Points of the waveform of music.
LEVELS = 2000
# Quantities whose panels have their own ranges. Panels of other quantities have one
# range per group of joints.
OWN_RANGE = (
    "joint_displacements",
    "work",
    "JointDisplacement",
    "LinkPosition",
    "limit_distances",
)

# [m/s] A foot in contact that slips faster than this is marked.
SLIP = 0.02
# Sensors whose readings are plotted.
READ = (AccelerationSensor, Gyro, ForceSensor)
# Sensors of a chart.
MAX_SENSORS = 24
# Names of quantities by their units, for sensors with more than one.
QUANTITY_OF_UNIT = {"N": "force", "Nm": "moment", "N m": "moment"}

# Points of a path on the ground.
MAX_POINTS = 1500
# [m] Distance around footprints in which a path is always shown.
MARGIN = 0.25
# Footprints that are drawn.
MAX_FOOTPRINTS = 240
# [m] The axis of the margin reaches at least to minus this.
MIN_MARGIN_RANGE = 0.3
# [m] A foot or wheel that slides or rolls this far in contact gets another footprint.
STEP = 0.3
# Footprints of one contact of a foot that slides or rolls.
MAX_STEPS = 40
# Frames of a stance phase that are tried. The largest footprint is drawn, not the heel
# or the toe alone.
MAX_TRIED_FRAMES = 7


def quantity_chart(subject: Subject, flow: Flow, name: str) -> Chart:
    """Return the chart of a quantity of a motion on a body."""
    return series_chart(subject, flow, subject.series(name))


def series_chart(subject: Subject, flow: Flow, of: Series) -> Chart:
    """Return the chart of a series."""
    # Joints and links in a grid of panels; other quantities across the chart.
    if of.of in ("joint", "link") and len(of.labels):
        # Laying out tries many sizes: the panels are made once.
        groups, notes = subject.cached(
            (of.name, of.title), lambda: _panels(subject, of)
        )
        flow.grid(groups)
    else:
        notes = ()
        _few(flow, of)
    return flow.chart(of.name, of.title, subject, notes)


def groups_of(subject: Subject, of: Series) -> tuple[JointGroup, ...]:
    """Return the columns of a series in groups.

    Those of joints by groups of joints.
    """
    if of.of != "joint":
        return (JointGroup("", tuple(range(len(of.labels)))),)
    indices = {column: k for k, column in enumerate(subject.columns)}
    groups = []
    for group in subject.joint_groups:
        shown_columns = filter(indices.__contains__, group.columns)
        columns = tuple(indices[column] for column in shown_columns)
        if columns:
            groups.append(JointGroup(group.name, columns))
    return tuple(groups)


def _panels(
    subject: Subject, of: Series
) -> tuple[list[tuple[str, Sequence[Curves]]], tuple[str, ...]]:
    """Return the panels of a series in groups with names, and notes."""
    chosen = set(most_varying(of, MAX_PANELS))
    groups: list[tuple[str, Sequence[Curves]]] = []
    is_large = len(of.labels) > MAX_TOGETHER
    for color, group in enumerate(groups_of(subject, of)):
        panels = [panel(of, k, color) for k in group.columns if k in chosen]
        name = shown(group.name, 60) if is_large else ""
        groups.append((name, _scaled(of, panels)))
    notes: list[str] = []
    # Quantities that have limits, of a model without them.
    if of.name in QUANTITIES and QUANTITIES[of.name].limits and of.lower is None:
        notes.append("the model has no limits for this")
    if len(chosen) < len(of.labels):
        notes.append(
            f"the {len(chosen)} of {len(of.labels)} columns that vary most are shown; "
            "select others by name"
        )
    return groups, tuple(notes)


def _scaled(of: Series, panels: list[Curves]) -> list[Curves]:
    """Return panels with a common range for each unit, or with their own."""
    if of.name in OWN_RANGE:
        return panels
    scaled = list(panels)
    for unit in {curves.unit for curves in panels}:
        indices = [k for k, curves in enumerate(panels) if curves.unit == unit]
        of_unit = ranged([panels[k] for k in indices], from_zero=True)
        for k, curves in zip(indices, of_unit, strict=True):
            scaled[k] = curves
    return scaled


def _few(flow: Flow, of: Series) -> None:
    # Few feet share a panel, others have one each.
    if of.of == "foot" and 1 < len(of.labels) <= MAX_TOGETHER:
        flow.across(together(of.title, of, range(len(of.labels))), 2.6)
        return
    count = len(of.labels)
    # Only the lowest panel has times.
    for k in range(min(count, MAX_PANELS)):
        made = panel(of, k, k if of.of == "axis" else 0, most=1600)
        if count == 1:
            made = replace(made, title="")
        flow.across(made, 2.6 if count == 1 else 1.6, time_labels=k == count - 1)


def bars(subject: Subject) -> Bars:
    """Return the bars of all feet."""
    m = subject.measured
    inside = subject.inside(m.times)
    times = m.times[inside]
    in_contact = np.asarray(m.contacts.in_contact[inside], dtype=bool)
    # Slip counts in contact only: a foot in the air moves anyway.
    slips = in_contact & (m.contacts.slip_speeds[inside] > SLIP)
    feet = range(in_contact.shape[1])
    return Bars(
        "Feet in contact",
        tuple(shown(m.contacts.names[k] or f"foot {k}", 24) for k in feet),
        tuple(_spans(in_contact[:, k], times) for k in feet),
        tuple(_spans(slips[:, k], times) for k in feet),
        _spans(np.asarray(~in_contact.any(axis=1)), times),
        "flight",
        f"slips (over {SLIP * 1000:g} mm/s)",
        tuple(feet),
    )


def dance_bars(subject: Subject) -> Bars:
    """Return the moves of a dance as bars, a row for each track, over its beats."""
    rows = moves_of(subject.motion)
    # Moves that follow each other stay apart, by a five-hundredth of the dance.
    gap = subject.times[-1] / 500 if len(subject.times) else 0.0
    spans = []
    unpublished = []
    names = []
    for blocks in rows.values():
        spans.append(
            tuple((block.start, max(block.end - gap, block.start)) for block in blocks)
        )
        unpublished.append(
            tuple(
                (block.start, block.end - gap)
                for block in blocks
                if not block.is_played
            )
        )
        names.append(tuple(shown(block.name, 40) for block in blocks))
    grid = _beat_times(subject)
    return Bars(
        "Moves",
        tuple(track.replace("_", " ") for track in rows),
        tuple(spans),
        tuple(unpublished),
        # Every second beat is shaded: from beat 1 to 2, from 3 to 4 …, counted from 0.
        tuple(zip(grid[1:-1:2].tolist(), grid[2::2].tolist(), strict=False)),
        "every second beat",
        "motion not published",
        tuple(range(len(rows))),
        tuple(names),
    )


def _beat_times(subject: Subject) -> Floats:
    """Return the times [s] of the beats of the music, or of the tempo of a dance."""
    if subject.music is not None:
        return subject.music.beats
    beats = beats_of(subject.motion)
    # Without beats only the start is a beat.
    if beats is None or not len(subject.times):
        return np.zeros(1)
    beat = SLICES_PER_BEAT * beats.slice
    # A tempo of a broken file must not make millions of beats.
    count = min(int(subject.times[-1] / beat) + 1, MAX_BEATS)
    return np.asarray(beat * np.arange(count + 1))


def music_part(subject: Subject) -> Curves:
    """Return the waveform of the music, with its beats as steps below it.

    The first of a bar is twice as high.
    """
    music = subject.music
    assert music is not None
    levels = music.levels(LEVELS)
    wave = line_of("waveform", np.linspace(0.0, music.duration, LEVELS), levels, 0)
    # Downbeats are twice as long. Steps: down and up at each beat, NaN between beats.
    height = np.where(np.isin(music.beats, music.downbeats), -0.3, -0.15)
    combs = np.stack(
        [np.zeros_like(height), height, np.full_like(height, np.nan)], axis=1
    ).ravel()
    beats = Line("beats", np.repeat(music.beats, 3), combs, 1)
    if music.tempo:
        note = f"{music.tempo:.1f} beats per minute"
    else:
        note = "no beats"
    title = f"Music: {shown(music.path.name, 40)}"
    return Curves(
        title, "", (wave, beats), note=note, legend=True, lowest=-0.35, highest=1.05
    )


def music_chart(subject: Subject, flow: Flow) -> Chart:
    """Return the chart: waveform and beats of the music, and the moves of a dance."""
    left = SIDE + 1.3
    right = flow.width - SIDE - 1.7
    flow.across(
        subject.cached("music", lambda: music_part(subject)),
        1.6,
        left=left,
        right=right,
    )
    if moves_of(subject.motion):
        return moves_chart(subject, flow)
    return flow.chart("music", "Music", subject)


def moves_chart(subject: Subject, flow: Flow) -> Chart:
    """Return the chart: the moves of a dance by their tracks."""
    left = SIDE + 1.3
    right = flow.width - SIDE - 1.7
    made = subject.cached("moves", lambda: dance_bars(subject))
    flow.across(made, max(0.34 * len(made.labels), 0.7), left=left, right=right)
    return flow.chart("moves", "Moves", subject)


def _spans(flags: Bools, times: Floats) -> tuple[tuple[float, float], ...]:
    """Return runs of frames as time spans.

    A frame lasts until the next one, the last one as long as the one before.
    """
    if not len(times):
        return ()
    # A single frame gets 10 ms.
    last = float(times[-1] - times[-2]) if len(times) > 1 else 0.01
    ends = np.append(times[1:], times[-1] + last)
    return tuple(
        (float(times[start]), float(ends[stop - 1])) for start, stop in runs(flags)
    )


def contacts_chart(subject: Subject, flow: Flow) -> Chart:
    """Return the chart: bars, then height, slip and force of the feet."""
    left = SIDE + 1.3
    right = flow.width - SIDE - 1.7
    made = subject.cached("bars", lambda: bars(subject))
    flow.across(made, max(0.34 * len(made.labels), 0.7), left=left, right=right)
    # Feet below the bars, over the same times.
    for name in ("foot_heights", "slip_speeds", "foot_forces"):
        flow.y += 0.05
        flow.across(
            subject.cached(name, partial(_of_feet, subject, name)),
            1.6,
            left=left,
            right=right,
        )
    return flow.chart("contacts", "Contacts", subject)


def _of_feet(subject: Subject, name: str) -> Curves:
    """Return a quantity of the feet in one panel."""
    of = subject.series(name)
    feet = range(min(len(of.labels), MAX_TOGETHER))
    labels = [shown(label, 20) for label in of.labels]
    return together(of.title, of, feet, labels=labels)


def has_sensors(subject: Subject) -> bool:
    """Return whether the body has a sensor whose readings can be plotted."""
    if subject.measures is None:
        return False
    return any(isinstance(device, READ) for device in subject.measures.body.devices)


def sensors_chart(subject: Subject, flow: Flow) -> Chart:
    """Return the chart: one panel for each sensor, two for a force sensor."""
    panels, notes = subject.cached("sensors", lambda: _sensor_panels(subject))
    columns = max(flow.columns, 1)
    slot = (flow.width - 2 * SIDE) / columns
    # Several panels in a row: the number of columns matters to the layout.
    flow.gridded = True
    top = flow.y
    # All panels of a row begin at the same height.
    for k, one in enumerate(panels):
        left = SIDE + k % columns * slot
        if k % columns == 0:
            top = flow.y + 0.05
        flow.y = top
        flow.across(one, 1.4, left=left + 0.8, right=left + slot - 1.5)
    return flow.chart("sensors", "Sensors", subject, notes)


def _sensor_panels(subject: Subject) -> tuple[list[Curves], tuple[str, ...]]:
    """Return a panel for each unit of each sensor, and notes."""
    m = subject.measured
    devices = [device for device in m.body.devices if isinstance(device, READ)]
    panels = []
    for device in devices[:MAX_SENSORS]:
        reading = m.read(device)
        by_unit: dict[str, list[int]] = {}
        # A force sensor has newtons and newton metres: a panel for each.
        for k, unit in enumerate(reading.units):
            by_unit.setdefault(unit, []).append(k)
        note = "saturated at times" if np.any(reading.saturated) else ""
        name = f"{device.kind} {shown(device.name, 30)}"
        name += f" on {shown(m.body.links[device.link].name, 30)}"
        for unit, columns in by_unit.items():
            of = series_of(
                "sensors",
                device.name,
                tuple(reading.columns[k] for k in columns),
                unit,
                reading.times,
                reading.values[:, columns],
                "axis",
            )
            title = name
            if len(by_unit) > 1:
                title += f": {QUANTITY_OF_UNIT.get(unit, unit)}"
            curves = subject.fit(of)
            panels.append(together(title, curves, range(len(columns)), note=note))
    num_more = len(devices) - MAX_SENSORS
    if num_more > 0:
        return panels, (f"{num_more} more sensors not shown",)
    return panels, ()


def decimated_path(times: Floats, points: Floats) -> Indices:
    """Return the frames of a path (T, 2) that are drawn, with the outermost ones."""
    if len(times) <= MAX_POINTS:
        return np.arange(len(times))
    # Along x and along y: both keep their extreme points.
    drawn = [decimated(times, points[:, k], MAX_POINTS // 2)[0] for k in range(2)]
    return np.asarray(np.searchsorted(times, np.unique(np.concatenate(drawn))))


def view_limits(
    solid: Sequence[Floats],
    path: Floats,
    width: float,
    min_height: float,
    max_height: float,
) -> tuple[tuple[float, float], tuple[float, float], bool]:
    """Return the ranges of axes with equal scales.

    They are for a frame of this width, and between two heights [inch].

    All `solid` points (…, 2) are shown, and the part of the `path` (N, 2) near them.
    The third value is whether a part of it is cut off.
    """
    # All that could be shown …
    low, high = _box([*solid, path])
    cut = False
    # … but the path only near the footprints: the ZMP of a fall may be far away.
    if any(np.isfinite(points).all(axis=1).any() for points in solid):
        inner_low, inner_high = _box(solid)
        border = max(0.6 * float(max(inner_high - inner_low)), MARGIN)
        cut = bool(
            (low < inner_low - border).any() or (high > inner_high + border).any()
        )
        low = np.maximum(low, inner_low - border)
        high = np.minimum(high, inner_high + border)
    # A border of 6 %, at least 3 mm.
    border = 0.06 * float(max(*(high - low), 0.05))
    low = low - border
    high = high + border
    size = high - low
    # Height with equal scales, within its limits; then widen the axis that has space.
    height = float(np.clip(width * size[1] / size[0], min_height, max_height))
    scale = max(size[0] / width, size[1] / height)
    middle = (low + high) / 2
    half = np.array([width, height]) * scale / 2
    x = float(middle[0] - half[0]), float(middle[0] + half[0])
    y = float(middle[1] - half[1]), float(middle[1] + half[1])
    return x, y, cut


def _box(shapes: Sequence[Floats]) -> tuple[Floats, Floats]:
    """Return the lowest and the highest corner (2,) of all finite points."""
    points = np.concatenate([np.reshape(shape, (-1, 2)) for shape in shapes])
    points = points[np.isfinite(points).all(axis=1)]
    if not len(points):
        return np.zeros(2), np.ones(2)
    return points.min(axis=0), points.max(axis=0)


def zmp_chart(subject: Subject, flow: Flow) -> Chart:
    """Return the chart: ground, stability margin, and difference of both ZMPs.

    The difference is between the recorded and the computed ZMP.
    """
    left = SIDE + 0.8
    right = flow.width - SIDE - 0.9
    highest = max(6.2 * flow.stretch, 1.8)
    # The ground first: its height determines where the rest begins.
    part = ground_part(subject, right - left, min(2.6, highest), highest)
    height = (right - left) * (part.y[1] - part.y[0]) / (part.x[1] - part.x[0])
    flow.across(part, height, left=left, right=right)
    # Space for the lines of the legend.
    flow.y += max(
        0.18 * -(-len(part.names) // part.legend_columns(right - left)) + 0.15, 0.75
    )
    flow.across(margin_part(subject), 1.7, left=left, right=right)
    recorded = subject.measured.recorded_zmp
    if recorded is not None:
        flow.y += 0.1
        flow.across(
            subject.cached("apart", lambda: _zmp_difference(subject, recorded)),
            1.7,
            left=left,
            right=right,
        )
    return flow.chart("zmp", "Zero moment point", subject)


def margin_part(subject: Subject) -> Curves:
    """Return the curve of the stability margin, with its floor at 0."""
    return subject.cached("margin", lambda: _margin(subject))


def _margin(subject: Subject) -> Curves:
    """Compute the curve of `margin_part`."""
    m = subject.measured
    inside = subject.inside(m.times)
    factor, unit = subject.small_length
    # NaN without feet in contact.
    margin = m.stability_margin[inside] * factor
    line = line_of("Stability margin", m.times[inside], margin, 0, most=1600)
    found = ranged(
        (Curves("Stability margin", unit, (line,), floor=0.0),), from_zero=True
    )[0]
    if np.isnan(margin).all():
        return replace(found, note="no foot in contact")
    k = int(np.nanargmin(margin))
    smallest = subject.length_text(float(margin[k] / factor))
    minimum = f"minimum {smallest} at {m.times[inside][k]:.2f} s"
    # Far outside only the part near the axis is shown.
    far = max(4 * max(float(np.nanmax(margin)), 0.0), MIN_MARGIN_RANGE * factor)
    if found.lowest < -far:
        highest = 1.08 * max(float(np.nanmax(margin)), 0.0) + 0.08 * far
        return replace(
            found, lowest=-far, highest=highest, note=f"{minimum}; below the axis"
        )
    return replace(found, note=minimum)


def _zmp_difference(subject: Subject, recorded: Floats) -> Curves:
    """Return the difference of both ZMPs as curves."""
    m = subject.measured
    inside = subject.inside(m.times)
    factor, unit = subject.small_length
    # The x and y of the difference; its length is in the note.
    apart = (recorded - m.zmp)[inside] * factor
    lines = tuple(
        line_of(f"along {axis}", m.times[inside], apart[:, k], k, most=1600)
        for k, axis in enumerate("xy")
    )
    size = np.linalg.norm(apart[:, :2], axis=1)
    note = ""
    if not np.isnan(size).all():
        median = number_text(float(np.nanmedian(size)))
        maximum = number_text(float(np.nanmax(size)))
        note = f"median {median} {unit}, maximum {maximum} {unit}"
    title = "Recorded ZMP minus computed ZMP"
    part = Curves(title, unit, lines, note=note, legend=True)
    return ranged((part,), from_zero=True)[0]


def ground_part(
    subject: Subject, width: float, min_height: float, max_height: float
) -> Ground:
    """Return the ground, with a width and between two heights [inch]."""
    part = subject.cached("ground", lambda: _ground(subject))
    # What must be visible: footprints and the other paths.
    solid = [footprint.corners for footprint in part.footprints]
    solid += [points for _, _, points, _ in part.others]
    x, y, cut = view_limits(solid, part.path, width, min_height, max_height)
    if cut:
        title = "ZMP from above; far parts are cut off"
    else:
        title = "Zero moment point, seen from above"
    return replace(part, title=title, x=x, y=y)


def _ground(subject: Subject) -> Ground:
    """Return the ground without the ranges of its axes."""
    m = subject.measured
    inside = subject.inside(m.times)
    frames = np.flatnonzero(inside)
    times = m.times[frames]
    footprints = _footprints(m, frames)
    # The path is thinned, its peaks stay.
    kept = decimated_path(times, m.zmp[frames, :2])
    others: list[tuple[str, Floats, Floats, Color]] = []
    paths: tuple[tuple[str, Floats | None, Color], ...] = (
        ("Centre of mass", m.center_of_mass, "muted"),
        ("Recorded ZMP", m.recorded_zmp, "recorded"),
    )
    for name, points, color in paths:
        if points is not None:
            own = decimated_path(times, points[frames, :2])
            others.append(
                (name, times[own], np.asarray(points[frames[own], :2]), color)
            )
    path = np.asarray(m.zmp[frames[kept], :2])
    unit = (0.0, 1.0)
    worst = _worst(m, frames, subject)
    return Ground(
        "",
        footprints,
        "Computed ZMP",
        times[kept],
        path,
        tuple(others),
        unit,
        unit,
        worst,
    )


def has_zmp(subject: Subject) -> bool:
    """Return whether there is a zero moment point at any time.

    A robot that always falls has none.
    """
    m = subject.measured
    return bool(np.isfinite(m.zmp[subject.inside(m.times)]).any())


def _worst(
    m: Measures, frames: Indices, subject: Subject
) -> tuple[float, float, float, str] | None:
    """Return time [s], position [m] and text of the smallest stability margin."""
    margin = m.stability_margin[frames]
    if np.isnan(margin).all():
        return None
    k = int(np.nanargmin(margin))
    x, y = m.zmp[frames[k], :2].tolist()
    time = float(m.times[frames[k]])
    text = f"{subject.length_text(float(margin[k]))} at {time:.2f} s"
    return time, x, y, text


class _Contact(NamedTuple):
    """A contact of a foot from frame `first` to `last`, with frames to try."""

    foot: int
    first: int
    last: int
    tried: list[int]


def _footprints(m: Measures, frames: Indices) -> tuple[Footprint, ...]:
    """Return the footprints: one per contact of a foot, more where it slides or rolls.

    And the hulls of several feet.
    """
    in_contact = m.contacts.in_contact[frames]
    return (
        *_support_of_several_feet(m, frames, in_contact),
        *_footprints_of_feet(m, frames, in_contact),
    )


def _footprints_of_feet(
    m: Measures, frames: Indices, in_contact: Bools
) -> Iterator[Footprint]:
    """Yield the largest footprint of each contact."""
    contacts = []
    for foot in range(in_contact.shape[1]):
        for start, stop in runs(in_contact[:, foot]):
            points = m.contacts.points[frames[start:stop], foot, :2]
            for tried in _frames_to_try(points, start):
                contacts.append(_Contact(foot, start, stop - 1, tried))
    # Too many contacts: every n-th, evenly.
    every = max(-(-len(contacts) // MAX_FOOTPRINTS), 1)
    contacts = contacts[::every]
    # All hulls at once: one call of the kernel for all contacts.
    moments = []
    for contact in contacts:
        moments += [(int(frames[frame]), [contact.foot]) for frame in contact.tried]
    hulls = iter(_hulls(m, moments))
    for contact in contacts:
        # The hulls come in the order of the frames to try.
        corners = max(itertools.islice(hulls, len(contact.tried)), key=_area)
        if len(corners) > 2:
            yield Footprint(
                shown(m.contacts.names[contact.foot] or f"foot {contact.foot}", 30),
                corners,
                float(m.times[frames[contact.first]]),
                float(m.times[frames[contact.last]]),
                contact.foot,
            )


def _support_of_several_feet(
    m: Measures, frames: Indices, in_contact: Bools
) -> Iterator[Footprint]:
    """Yield the hull of each phase in which several feet are in contact."""
    # A phase ends where any foot lands or lifts.
    steps = np.diff(in_contact.astype(np.int8), axis=0)
    changes = np.flatnonzero(np.any(steps, axis=1)) + 1
    phases = []
    for phase in np.split(np.arange(len(frames)), changes):
        if len(phase) and in_contact[phase[0]].sum() > 1:
            phases.append(phase)
    phases = phases[:: max(-(-len(phases) // MAX_FOOTPRINTS), 1)]
    # The frame in the middle stands for the phase.
    middles = []
    for phase in phases:
        feet = np.flatnonzero(in_contact[phase[0]]).tolist()
        middles.append((int(frames[phase[len(phase) // 2]]), feet))
    for phase, corners in zip(phases, _hulls(m, middles), strict=True):
        if len(corners) > 2:
            first = float(m.times[frames[phase[0]]])
            last = float(m.times[frames[phase[-1]]])
            yield Footprint("support of several feet", corners, first, last, None)


def _frames_to_try(points: Floats, first: int) -> list[list[int]]:
    """Return the frames to try for each footprint of a foot at points (T, 2).

    `first` is the number of the first frame.
    """
    # A foot that stays: inner frames, without heel strike and toe off.
    net = float(np.linalg.norm(np.nan_to_num(points[-1] - points[0])))
    if net < STEP:
        inner = np.linspace(0, len(points) - 1, MAX_TRIED_FRAMES + 2)[1:-1]
        return [(first + np.unique(inner.astype(int))).tolist()]
    # A foot that slides or rolls: equal distances along its path.
    steps = np.nan_to_num(np.linalg.norm(np.diff(points, axis=0), axis=1))
    distances = np.concatenate([[0.0], np.cumsum(steps)])
    count = 2 + int(min(net / STEP, MAX_STEPS))
    goals = np.linspace(0, distances[-1], count)
    return [[frame] for frame in (first + np.searchsorted(distances, goals)).tolist()]


def _area(corners: Floats) -> float:
    """Return the area [m²] of a polygon (M, 2), by the shoelace formula."""
    # ½ |Σ xᵢ·yᵢ₊₁ − yᵢ·xᵢ₊₁|.
    x = corners[:, 0]
    y = corners[:, 1]
    return float(abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1)))) / 2


def _hulls(m: Measures, moments: list[tuple[int, list[int]]]) -> list[Floats]:
    """Return for each frame and its feet their convex polygon (M, 2)."""
    at = np.array([frame for frame, _ in moments], dtype=np.intp)
    c = m.contacts
    # Only the feet of this frame count, whatever else is in contact.
    in_contact = np.zeros((len(at), c.in_contact.shape[1]), dtype=bool)
    for row, (_, feet) in zip(in_contact, moments, strict=True):
        row[feet] = True
    chosen = Contacts(
        c.links,
        c.names,
        in_contact,
        c.heights[at],
        c.points[at],
        c.velocities[at],
        c.slip_speeds[at],
    )
    hulls: SupportPolygons = support_polygons(
        chosen, m.feet, m.link_poses[at], m.ground[at]
    )
    return [
        np.array(corners[:count])
        for corners, count in zip(hulls.corners, hulls.counts, strict=True)
    ]
