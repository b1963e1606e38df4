"""Plots of one quantity, of the contacts of the feet, of the sensors, and of the zero moment point.

The plots of the zero moment point show its path on the ground seen from above, the
stability margin, and the footprints.
"""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

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
from bodymotion.scene.playback import beats_of, moves_of

MAX_PANELS = 120
MAX_TOGETHER = 8
MAX_BEATS = 2000
LEVELS = 2000  # Of the waveform of music.
OWN_RANGE = (
    "joint_displacements",
    "work",
    "JointDisplacement",
    "LinkPosition",
    "limit_distances",
)
"""Quantities whose panels have their own ranges.

Panels of other quantities have one range per group of joints.
"""

SLIP = 0.02  # [m/s] A foot in contact that slips faster than this is marked.
READ = (AccelerationSensor, Gyro, ForceSensor)
MAX_SENSORS = 24
QUANTITY_OF_UNIT = {
    "N": "force",
    "Nm": "moment",
    "N m": "moment",
}  # For sensors with more than one.

# The zero moment point.
MAX_POINTS = 1500
MARGIN = 0.25  # [m] Distance around footprints in which a path is always shown.
MAX_FOOTPRINTS = 240
MIN_MARGIN_RANGE = 0.3  # [m] The axis of the margin reaches at least to minus this.
STEP = 0.3  # [m] A foot or wheel that slides or rolls this far in contact gets another footprint.
MAX_TRIED_FRAMES = 7
"""Frames of a stance phase that are tried.

The largest footprint is drawn, not the heel or the toe alone.
"""


def quantity_chart(subject: Subject, flow: Flow, name: str) -> Chart:
    """Return the chart of a quantity of a motion on a body."""
    return series_chart(subject, flow, subject.series(name))


def series_chart(subject: Subject, flow: Flow, of: Series) -> Chart:
    """Return the chart of a series."""
    if of.of in ("joint", "link") and len(of.labels):
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
    place = {column: k for k, column in enumerate(subject.columns)}
    found = (
        JointGroup(
            joint_group.name, tuple(place[c] for c in joint_group.columns if c in place)
        )
        for joint_group in subject.joint_groups
    )
    return tuple(joint_group for joint_group in found if joint_group.columns)


def _panels(
    subject: Subject, of: Series
) -> tuple[list[tuple[str, Sequence[Curves]]], tuple[str, ...]]:
    chosen = set(most_varying(of, MAX_PANELS))
    groups: list[tuple[str, Sequence[Curves]]] = []
    several = len(of.labels) > MAX_TOGETHER
    for color, joint_group in enumerate(groups_of(subject, of)):
        made = [panel(of, k, color) for k in joint_group.columns if k in chosen]
        groups.append(
            (shown(joint_group.name, 60) if several else "", _scaled(of, made))
        )
    notes: list[str] = []
    if of.name in QUANTITIES and QUANTITIES[of.name].limits and of.lower is None:
        notes.append("the model has no limits for this")
    if len(chosen) < len(of.labels):
        notes.append(
            f"the {len(chosen)} of {len(of.labels)} columns that vary most are shown; "
            "select others by name"
        )
    return groups, tuple(notes)


def _scaled(of: Series, panels: list[Curves]) -> list[Curves]:
    if of.name in OWN_RANGE:
        return panels
    units = {one.unit for one in panels}
    common = {
        unit: iter(ranged([one for one in panels if one.unit == unit], from_zero=True))
        for unit in units
    }
    return [next(common[one.unit]) for one in panels]


def _few(flow: Flow, of: Series) -> None:
    if of.of == "foot" and 1 < len(of.labels) <= MAX_TOGETHER:
        flow.across(together(of.title, of, range(len(of.labels))), 2.6)
        return
    count = len(of.labels)
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
    slips = m.contacts.slip_speeds[inside]
    in_contact = np.asarray(m.contacts.in_contact[inside])
    feet = range(in_contact.shape[1])
    return Bars(
        "Feet in contact",
        tuple(shown(m.contacts.names[k] or f"foot {k}", 24) for k in feet),
        tuple(_spans(np.asarray(in_contact[:, k], dtype=bool), times) for k in feet),
        tuple(
            _spans(np.asarray(in_contact[:, k] & (slips[:, k] > SLIP)), times)
            for k in feet
        ),
        _spans(np.asarray(~in_contact.any(axis=1)), times),
        "flight",
        f"slips (over {SLIP * 1000:g} mm/s)",
        tuple(feet),
    )


def dance_bars(subject: Subject) -> Bars:
    """Return the moves of a dance as bars, a row for each track, over its beats."""
    motion = subject.motion
    rows = moves_of(motion)
    beats = beats_of(motion)
    if len(subject.times):
        gap = subject.times[-1] / 500
    else:
        gap = 0.0
    if beats is not None:
        beat = 4 * beats.slice
    else:
        beat = 0.0
    if beat > 0 and len(subject.times):
        count = min(int(subject.times[-1] / beat) + 1, MAX_BEATS)
    else:
        count = 0
    if subject.music is None:
        grid = beat * np.arange(count + 1)
    else:
        grid = subject.music.beats
    return Bars(
        "Moves",
        tuple(track.replace("_", " ") for track in rows),
        tuple(
            tuple((one.start, max(one.end - gap, one.start)) for one in blocks)
            for blocks in rows.values()
        ),
        tuple(
            tuple((one.start, one.end - gap) for one in blocks if not one.is_played)
            for blocks in rows.values()
        ),
        tuple(zip(grid[1:-1:2].tolist(), grid[2::2].tolist(), strict=False)),
        "every second beat",
        "motion not published",
        tuple(range(len(rows))),
        tuple(tuple(shown(one.name, 40) for one in blocks) for blocks in rows.values()),
    )


def music_part(subject: Subject) -> Curves:
    """Return the waveform of the music, with its beats as steps below it.

    The first of a bar is twice as high.
    """
    music = subject.music
    assert music is not None
    levels = music.levels(LEVELS)
    wave = line_of("waveform", np.linspace(0.0, music.duration, LEVELS), levels, 0)
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
    if len(times) > 1:
        last = float(times[-1] - times[-2])
    else:
        last = 0.01
    ends = np.append(times[1:], times[-1] + last)
    return tuple((float(times[a]), float(ends[b - 1])) for a, b in runs(flags))


def contacts_chart(subject: Subject, flow: Flow) -> Chart:
    """Return the chart: bars, then height, slip and force of the feet."""
    left = SIDE + 1.3
    right = flow.width - SIDE - 1.7
    made = subject.cached("bars", lambda: bars(subject))
    flow.across(made, max(0.34 * len(made.labels), 0.7), left=left, right=right)
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
    of = subject.series(name)
    feet = range(min(len(of.labels), MAX_TOGETHER))
    return together(
        of.title, of, feet, labels=[shown(label, 20) for label in of.labels]
    )


def has_sensors(subject: Subject) -> bool:
    """Return whether the body has a sensor whose readings can be plotted."""
    return subject.measures is not None and any(
        isinstance(one, READ) for one in subject.measures.body.devices
    )


def sensors_chart(subject: Subject, flow: Flow) -> Chart:
    """Return the chart: one panel for each sensor, two for a force sensor."""
    panels, notes = subject.cached("sensors", lambda: _sensor_panels(subject))
    columns = max(flow.columns, 1)
    slot = (flow.width - 2 * SIDE) / columns
    flow.gridded = True
    top = flow.y
    for k, one in enumerate(panels):
        left = SIDE + k % columns * slot
        if k % columns == 0:
            top = flow.y + 0.05
        flow.y = top
        flow.across(one, 1.4, left=left + 0.8, right=left + slot - 1.5)
    return flow.chart("sensors", "Sensors", subject, notes)


def _sensor_panels(subject: Subject) -> tuple[list[Curves], tuple[str, ...]]:
    m = subject.measured
    devices = [one for one in m.body.devices if isinstance(one, READ)]
    panels = []
    for device in devices[:MAX_SENSORS]:
        reading = m.read(device)
        by_unit: dict[str, list[int]] = {}
        for k, unit in enumerate(reading.units):
            by_unit.setdefault(unit, []).append(k)
        saturated = np.asarray(reading.saturated)
        for unit, columns in by_unit.items():
            labels = tuple(reading.columns[k] for k in columns)
            of = series_of(
                "sensors",
                device.name,
                labels,
                unit,
                reading.times,
                reading.values[:, columns],
                "axis",
            )
            of = subject.fit(of)
            if saturated.reshape(len(reading.times), -1).any():
                at_limit = "saturated at times"
            else:
                at_limit = ""
            title = f"{device.kind} {shown(device.name, 30)} on {shown(m.body.links[device.link].name, 30)}"
            if len(by_unit) > 1:
                title += f": {QUANTITY_OF_UNIT.get(unit, unit)}"
            panels.append(together(title, of, range(len(columns)), note=at_limit))
    more = len(devices) - MAX_SENSORS
    return panels, (f"{more} more sensors not shown",) if more > 0 else ()


def decimated_path(times: Floats, points: Floats) -> Indices:
    """Return the frames of a path (T, 2) that are drawn, the outermost ones included."""
    if len(times) <= MAX_POINTS:
        return np.arange(len(times))
    found = np.concatenate(
        [decimated(times, points[:, k], MAX_POINTS // 2)[0] for k in range(2)]
    )
    return np.asarray(np.searchsorted(times, np.unique(found)))


def view_limits(
    solid: Sequence[Floats],
    path: Floats,
    width: float,
    min_height: float,
    max_height: float,
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
        cut = bool(
            (low < inner_low - border).any() or (high > inner_high + border).any()
        )
        low = np.maximum(low, inner_low - border)
        high = np.minimum(high, inner_high + border)
    border = 0.06 * float(max(*(high - low), 0.05))
    low = low - border
    high = high + border
    size = high - low
    height = float(np.clip(width * size[1] / size[0], min_height, max_height))
    scale = max(size[0] / width, size[1] / height)
    middle = (low + high) / 2
    half = np.array([width, height]) * scale / 2
    x = float(middle[0] - half[0]), float(middle[0] + half[0])
    y = float(middle[1] - half[1]), float(middle[1] + half[1])
    return x, y, cut


def _box(shapes: Sequence[Floats]) -> tuple[Floats, Floats]:
    points = np.concatenate([np.reshape(shape, (-1, 2)) for shape in shapes])
    points = points[np.isfinite(points).all(axis=1)]
    if len(points):
        return (points.min(axis=0), points.max(axis=0))
    return (np.zeros(2), np.ones(2))


def zmp_chart(subject: Subject, flow: Flow) -> Chart:
    """Return the chart: ground, stability margin, and the difference between recorded and computed ZMP."""
    left = SIDE + 0.8
    right = flow.width - SIDE - 0.9
    highest = max(6.2 * flow.stretch, 1.8)
    part = ground_part(subject, right - left, min(2.6, highest), highest)
    height = (right - left) * (part.y[1] - part.y[0]) / (part.x[1] - part.x[0])
    flow.across(part, height, left=left, right=right)
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
    m = subject.measured
    inside = subject.inside(m.times)
    factor, unit = subject.small_length
    margin = m.stability_margin[inside] * factor
    line = line_of("Stability margin", m.times[inside], margin, 0, most=1600)
    found = ranged(
        (Curves("Stability margin", unit, (line,), floor=0.0),), from_zero=True
    )[0]
    if np.isnan(margin).all():
        return replace(found, note="no foot in contact")
    k = int(np.nanargmin(margin))
    minimum = f"minimum {subject.length_text(float(margin[k] / factor))} at {m.times[inside][k]:.2f} s"
    far = max(4 * max(float(np.nanmax(margin)), 0.0), MIN_MARGIN_RANGE * factor)
    if found.lowest < -far:
        highest = 1.08 * max(float(np.nanmax(margin)), 0.0) + 0.08 * far
        return replace(
            found, lowest=-far, highest=highest, note=f"{minimum}; below the axis"
        )
    return replace(found, note=minimum)


def _zmp_difference(subject: Subject, recorded: Floats) -> Curves:
    m = subject.measured
    inside = subject.inside(m.times)
    factor, unit = subject.small_length
    apart = (recorded - m.zmp)[inside] * factor
    lines = tuple(
        line_of(f"along {axis}", m.times[inside], apart[:, k], k, most=1600)
        for k, axis in enumerate("xy")
    )
    size = np.linalg.norm(apart[:, :2], axis=1)
    if np.isnan(size).all():
        note = ""
    else:
        note = f"median {number_text(float(np.nanmedian(size)))} {unit}, maximum {number_text(float(np.nanmax(size)))} {unit}"
    return ranged(
        (
            Curves(
                "Recorded ZMP minus computed ZMP", unit, lines, note=note, legend=True
            ),
        ),
        from_zero=True,
    )[0]


def ground_part(
    subject: Subject, width: float, min_height: float, max_height: float
) -> Ground:
    """Return the ground, `width` wide and from `min_height` to `max_height` high [inch]."""
    part = subject.cached("ground", lambda: _ground(subject))
    solid = [one.corners for one in part.footprints] + [
        points for _, _, points, _ in part.others
    ]
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
    margin = m.stability_margin[frames]
    if np.isnan(margin).all():
        return None
    k = int(np.nanargmin(margin))
    at = m.zmp[frames[k]]
    time = float(m.times[frames[k]])
    return (
        time,
        float(at[0]),
        float(at[1]),
        f"{subject.length_text(float(margin[k]))} at {time:.2f} s",
    )


def _footprints(m: Measures, frames: Indices) -> tuple[Footprint, ...]:
    """Return the footprints: one per contact of a foot, more where it slides or rolls.

    And the hulls of several feet.
    """
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
    hulls = iter(
        _hulls(
            m, [(int(frames[at]), [k]) for k, _, _, moments in chosen for at in moments]
        )
    )
    for k, a, b, moments in chosen:
        corners = max(itertools.islice(hulls, len(moments)), key=_area)
        if len(corners) > 2:
            name = shown(m.contacts.names[k] or f"foot {k}", 30)
            found.append(
                Footprint(
                    name,
                    corners,
                    float(m.times[frames[a]]),
                    float(m.times[frames[b - 1]]),
                    k,
                )
            )
    several: list[Footprint] = []
    changes = (
        np.flatnonzero(np.any(np.diff(in_contact.astype(np.int8), axis=0), axis=1)) + 1
    )
    phases = [
        p
        for p in np.split(np.arange(len(frames)), changes)
        if len(p) and in_contact[p[0]].sum() > 1
    ]
    phases = phases[:: max(-(-len(phases) // MAX_FOOTPRINTS), 1)]
    middles = [
        (
            int(frames[phase[len(phase) // 2]]),
            [int(k) for k in np.flatnonzero(in_contact[phase[0]])],
        )
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
        return [
            sorted(
                {
                    first + int(at)
                    for at in np.linspace(0, count - 1, MAX_TRIED_FRAMES + 2)[1:-1]
                }
            )
        ]
    steps = np.nan_to_num(np.linalg.norm(np.diff(points, axis=0), axis=1))
    way = np.concatenate([[0.0], np.cumsum(steps)])
    return [
        [first + int(np.searchsorted(way, s))]
        for s in np.linspace(0, way[-1], 2 + int(min(net / STEP, 40)))
    ]


def _area(corners: Floats) -> float:
    x = corners[:, 0]
    y = corners[:, 1]
    return float(abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1)))) / 2


def _hulls(m: Measures, moments: list[tuple[int, list[int]]]) -> list[Floats]:
    """Return for each frame and its feet their convex polygon (M, 2)."""
    at = np.array([frame for frame, _ in moments], dtype=np.intp)
    c = m.contacts
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
