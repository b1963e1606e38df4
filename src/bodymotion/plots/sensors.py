"""What the sensors of a body read along a motion: accelerometers, gyros, force sensors."""

from __future__ import annotations

import numpy as np

from bodymotion.diagnostics.text import shown
from bodymotion.dynamics import Series
from bodymotion.geometry.arrays import frozen
from bodymotion.model.devices import AccelerationSensor, ForceSensor, Gyro
from bodymotion.plots.layout import SIDE, Flow
from bodymotion.plots.panels import together
from bodymotion.plots.parts import Curves, Sheet
from bodymotion.plots.subject import Subject

__all__ = ["has_sensors", "sensors_sheet"]

READ = (AccelerationSensor, Gyro, ForceSensor)
MOST_SENSORS = 24
WHAT = {"N": "force", "Nm": "moment", "N m": "moment"}
"""What is read in a unit, for sensors that read more than one thing."""


def has_sensors(subject: Subject) -> bool:
    """Say whether there is a sensor whose readings can be plotted."""
    return subject.measures is not None and any(isinstance(one, READ) for one in subject.measures.body.devices)


def sensors_sheet(subject: Subject, flow: Flow) -> Sheet:
    """Make the plot: one panel for each sensor, two for the force and the moment of a force sensor."""
    panels, notes = subject.once("sensors", lambda: _panels(subject))
    columns = max(flow.columns, 1)
    slot = (flow.width - 2 * SIDE) / columns
    flow.gridded = True
    top = flow.y
    for k, panel in enumerate(panels):
        left = SIDE + k % columns * slot
        top = flow.y + 0.05 if k % columns == 0 else top
        flow.y = top
        flow.across(panel, 1.4, left=left + 0.8, right=left + slot - 1.5)
    return flow.sheet("sensors", "Sensors", subject, notes)


def _panels(subject: Subject) -> tuple[list[Curves], tuple[str, ...]]:
    m = subject.measures
    assert m is not None
    devices = [one for one in m.body.devices if isinstance(one, READ)]
    panels = []
    for device in devices[:MOST_SENSORS]:
        reading = m.read(device)
        by_unit: dict[str, list[int]] = {}
        for k, unit in enumerate(reading.units):
            by_unit.setdefault(unit, []).append(k)
        saturated = np.asarray(reading.saturated)
        for unit, columns in by_unit.items():
            of = subject.fit(
                Series(
                    name="sensors",
                    title=device.name,
                    of="axis",
                    labels=tuple(reading.columns[k] for k in columns),
                    units=(unit,) * len(columns),
                    times=reading.times,
                    values=frozen(reading.values[:, columns]),
                )
            )
            at_limit = "at its limit in places" if saturated.reshape(len(reading.times), -1).any() else ""
            title = f"{device.kind} {shown(device.name, 30)} on {shown(m.body.links[device.link].name, 30)}"
            if len(by_unit) > 1:
                title += f": {WHAT.get(unit, unit)}"
            panels.append(together(title, of, range(len(columns)), note=at_limit))
    more = len(devices) - MOST_SENSORS
    return panels, (f"{more} more sensors are not shown",) if more > 0 else ()
