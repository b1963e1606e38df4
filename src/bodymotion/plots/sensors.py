"""What the sensors of a body read along a motion: accelerometers, gyros, force sensors."""

from __future__ import annotations

import numpy as np

from bodymotion.arrays import frozen
from bodymotion.devices import AccelerationSensor, ForceSensor, Gyro
from bodymotion.dynamics import Series
from bodymotion.labels import shown
from bodymotion.plots.layout import SIDE, Flow
from bodymotion.plots.panels import together
from bodymotion.plots.parts import Sheet
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
    m = subject.measures
    assert m is not None
    devices = [one for one in m.body.devices if isinstance(one, READ)]
    left, right = SIDE + 0.8, flow.width - SIDE - 1.5
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
            flow.y += 0.05
            flow.across(together(title, of, range(len(columns)), note=at_limit), 1.4, left=left, right=right)
    more = len(devices) - MOST_SENSORS
    return flow.sheet("sensors", "Sensors", subject, (f"{more} more sensors are not shown",) if more > 0 else ())
