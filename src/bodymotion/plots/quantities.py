"""Plots of one quantity, of the contacts of the feet, and of the sensors."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from bodymotion.choreography import PREFIX
from bodymotion.diagnostics.text import shown
from bodymotion.dynamics import QUANTITIES, Series
from bodymotion.geometry.arrays import Floats, runs
from bodymotion.model.links import AccelerationSensor, ForceSensor, Gyro
from bodymotion.plots.curves import line_of, most_varying, panel, ranged, together
from bodymotion.plots.layout import SIDE, Flow
from bodymotion.plots.parts import Bars, Chart, Curves, Line
from bodymotion.plots.subject import JointGroup, Subject, series_of
from bodymotion.scene.animation_playback import beats_of, moves_of

MAX_PANELS = 120
MAX_TOGETHER = 8
MAX_BEATS = 2000
LEVELS = 2000  # Of the waveform of music.
OWN_RANGE = ("joint_displacements", "work", "JointDisplacement", "LinkPosition", "limit_distances")
"""Quantities whose panels have their own ranges; panels of other quantities have one range per group of joints."""


def quantity_chart(subject: Subject, flow: Flow, name: str) -> Chart:
    """Return the chart of a quantity of a motion on a body."""
    return series_chart(subject, flow, subject.series(name))


def series_chart(subject: Subject, flow: Flow, of: Series) -> Chart:
    """Return the chart of a series."""
    if of.of in ("joint", "link") and len(of.labels):
        groups, notes = subject.cached((of.name, of.title), lambda: _panels(subject, of))
        flow.grid(groups)
    else:
        notes = ()
        _few(flow, of)
    return flow.chart(of.name, of.title, subject, notes)


def groups_of(subject: Subject, of: Series) -> tuple[JointGroup, ...]:
    """Return the columns of a series in groups; those of joints by groups of joints."""
    if of.of != "joint":
        return (JointGroup("", tuple(range(len(of.labels)))),)
    place = {column: k for k, column in enumerate(subject.columns)}
    found = (
        JointGroup(joint_group.name, tuple(place[c] for c in joint_group.columns if c in place))
        for joint_group in subject.joint_groups
    )
    return tuple(joint_group for joint_group in found if joint_group.columns)


def _panels(subject: Subject, of: Series) -> tuple[list[tuple[str, Sequence[Curves]]], tuple[str, ...]]:
    chosen = set(most_varying(of, MAX_PANELS))
    groups: list[tuple[str, Sequence[Curves]]] = []
    several = len(of.labels) > MAX_TOGETHER
    for color, joint_group in enumerate(groups_of(subject, of)):
        made = [panel(of, k, color) for k in joint_group.columns if k in chosen]
        groups.append((shown(joint_group.name, 60) if several else "", _scaled(of, made)))
    notes: list[str] = []
    if of.name in QUANTITIES and QUANTITIES[of.name].limits and of.lower is None:
        notes.append("the model has no limits for this")
    if len(chosen) < len(of.labels):
        notes.append(f"the {len(chosen)} of {len(of.labels)} columns that vary most are shown; select others by name")
    return groups, tuple(notes)


def _scaled(of: Series, panels: list[Curves]) -> list[Curves]:
    if of.name in OWN_RANGE:
        return panels
    units = {one.unit for one in panels}
    common = {unit: iter(ranged([one for one in panels if one.unit == unit], from_zero=True)) for unit in units}
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


SLIP = 0.02  # [m/s] A foot in contact that slips faster than this is marked.


def bars(subject: Subject) -> Bars:
    """Return the bars of all feet."""
    m = subject.measured
    inside = subject.inside(m.times)
    times, slips = m.times[inside], m.contacts.slip_speeds[inside]
    in_contact = np.asarray(m.contacts.in_contact[inside])
    feet = range(in_contact.shape[1])
    return Bars(
        "Feet in contact",
        tuple(shown(m.contacts.names[k] or f"foot {k}", 24) for k in feet),
        tuple(_spans(np.asarray(in_contact[:, k], dtype=bool), times) for k in feet),
        tuple(_spans(np.asarray(in_contact[:, k] & (slips[:, k] > SLIP)), times) for k in feet),
        _spans(np.asarray(~in_contact.any(axis=1)), times),
        "flight",
        f"slips (over {SLIP * 1000:g} mm/s)",
        tuple(feet),
    )


def dance_bars(subject: Subject) -> Bars:
    """Return the moves of a dance as bars, a row for each track, over its beats."""
    motion = subject.motion
    rows, beats = moves_of(motion), beats_of(motion)
    gap = subject.times[-1] / 500 if len(subject.times) else 0.0
    beat = 4 * beats.slice if beats is not None else 0.0
    count = min(int(subject.times[-1] / beat) + 1, MAX_BEATS) if beat > 0 and len(subject.times) else 0
    grid = beat * np.arange(count + 1) if subject.music is None else subject.music.beats
    return Bars(
        "Moves",
        tuple(track.replace("_", " ") for track in rows),
        tuple(tuple((one.start, max(one.end - gap, one.start)) for one in blocks) for blocks in rows.values()),
        tuple(tuple((one.start, one.end - gap) for one in blocks if not one.is_played) for blocks in rows.values()),
        tuple(zip(grid[1:-1:2].tolist(), grid[2::2].tolist(), strict=False)),
        "every second beat",
        "motion not published",
        tuple(range(len(rows))),
        tuple(tuple(shown(one.name.removeprefix(PREFIX), 40) for one in blocks) for blocks in rows.values()),
    )


def music_part(subject: Subject) -> Curves:
    """Return the waveform of the music, with its beats as steps below it: the first of a bar is twice as high."""
    music = subject.music
    assert music is not None
    levels = music.levels(LEVELS)
    wave = line_of("waveform", np.linspace(0.0, music.duration, LEVELS), levels, 0)
    height = np.where(np.isin(music.beats, music.downbeats), -0.3, -0.15)
    combs = np.stack([np.zeros_like(height), height, np.full_like(height, np.nan)], axis=1).ravel()
    beats = Line("beats", np.repeat(music.beats, 3), combs, 1)
    note = f"{music.tempo:.1f} beats per minute" if music.tempo else "no beats"
    title = f"Music: {shown(music.path.name, 40)}"
    return Curves(title, "", (wave, beats), note=note, legend=True, lowest=-0.35, highest=1.05)


def music_chart(subject: Subject, flow: Flow) -> Chart:
    """Return the chart: waveform and beats of the music, and the moves of a dance."""
    left, right = SIDE + 1.3, flow.width - SIDE - 1.7
    flow.across(subject.cached("music", lambda: music_part(subject)), 1.6, left=left, right=right)
    return moves_chart(subject, flow) if moves_of(subject.motion) else flow.chart("music", "Music", subject)


def moves_chart(subject: Subject, flow: Flow) -> Chart:
    """Return the chart: the moves of a dance by their tracks."""
    left, right = SIDE + 1.3, flow.width - SIDE - 1.7
    made = subject.cached("moves", lambda: dance_bars(subject))
    flow.across(made, max(0.34 * len(made.labels), 0.7), left=left, right=right)
    return flow.chart("moves", "Moves", subject)


def _spans(flags: npt.NDArray[np.bool_], times: Floats) -> tuple[tuple[float, float], ...]:
    """Return runs of frames as time spans; a frame lasts until the next one, the last one as long as the one before."""
    if not len(times):
        return ()
    last = float(times[-1] - times[-2]) if len(times) > 1 else 0.01
    ends = np.append(times[1:], times[-1] + last)
    return tuple((float(times[a]), float(ends[b - 1])) for a, b in runs(flags))


def contacts_chart(subject: Subject, flow: Flow) -> Chart:
    """Return the chart: bars, then height, slip and force of the feet."""
    left, right = SIDE + 1.3, flow.width - SIDE - 1.7
    made = subject.cached("bars", lambda: bars(subject))
    flow.across(made, max(0.34 * len(made.labels), 0.7), left=left, right=right)
    for name in ("foot_heights", "slip_speeds", "foot_forces"):
        flow.y += 0.05
        flow.across(subject.cached(name, partial(_of_feet, subject, name)), 1.6, left=left, right=right)
    return flow.chart("contacts", "Contacts", subject)


def _of_feet(subject: Subject, name: str) -> Curves:
    of = subject.series(name)
    feet = range(min(len(of.labels), MAX_TOGETHER))
    return together(of.title, of, feet, labels=[shown(label, 20) for label in of.labels])


READ = (AccelerationSensor, Gyro, ForceSensor)
MAX_SENSORS = 24
WHAT = {"N": "force", "Nm": "moment", "N m": "moment"}  # Quantities by unit, for sensors with more than one.


def has_sensors(subject: Subject) -> bool:
    """Return whether the body has a sensor whose readings can be plotted."""
    return subject.measures is not None and any(isinstance(one, READ) for one in subject.measures.body.devices)


def sensors_chart(subject: Subject, flow: Flow) -> Chart:
    """Return the chart: one panel for each sensor, two for a force sensor."""
    panels, notes = subject.cached("sensors", lambda: _sensor_panels(subject))
    columns = max(flow.columns, 1)
    slot = (flow.width - 2 * SIDE) / columns
    flow.gridded = True
    top = flow.y
    for k, one in enumerate(panels):
        left = SIDE + k % columns * slot
        top = flow.y + 0.05 if k % columns == 0 else top
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
            of = series_of("sensors", device.name, labels, unit, reading.times, reading.values[:, columns], "axis")
            of = subject.fit(of)
            at_limit = "saturated at times" if saturated.reshape(len(reading.times), -1).any() else ""
            title = f"{device.kind} {shown(device.name, 30)} on {shown(m.body.links[device.link].name, 30)}"
            if len(by_unit) > 1:
                title += f": {WHAT.get(unit, unit)}"
            panels.append(together(title, of, range(len(columns)), note=at_limit))
    more = len(devices) - MAX_SENSORS
    return panels, (f"{more} more sensors not shown",) if more > 0 else ()
