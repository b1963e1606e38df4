"""What was asked for by name, quantities and sensors alike, as blocks of columns with their times; or pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import typer

if TYPE_CHECKING:
    from bodymotion.dynamics import Measures, Pictures, Reading, Series
    from bodymotion.dynamics.ranging import Thing
    from bodymotion.model.devices import Device

__all__ = ["Wanted", "choose", "wanted"]


@dataclass(frozen=True, eq=False)
class Wanted:
    """A quantity, or what a sensor reads: `series` of columns, and where it is at its limits; or else the `pictures` of a camera."""

    series: Series
    saturated: npt.NDArray[np.bool_] | None = None
    pictures: Pictures | None = None


def wanted(measures: Measures) -> list[Wanted]:
    """Return all quantities that this motion on this body has."""
    from bodymotion.dynamics import measurable, series

    return [Wanted(series(measures, name)) for name in measurable(measures)]


def choose(measures: Measures, names: Sequence[str], scenery: Sequence[Thing]) -> list[Wanted]:
    """Return the quantities and sensors of these names, all quantities where no name is given; another name is wrong use."""
    from bodymotion.dynamics import QUANTITIES, Scenery, measurable, series
    from bodymotion.model.devices import AccelerationSensor, ForceSensor, Gyro, RangeSensor, VisionSensor

    if not names:
        return wanted(measures)
    sensors = (AccelerationSensor, Gyro, ForceSensor, RangeSensor, VisionSensor)
    devices: dict[str, Device] = {}
    for one in measures.body.devices:
        if isinstance(one, sensors) and one.name:
            devices.setdefault(one.name, one)
    around = Scenery(scenery)
    found = []
    for name in dict.fromkeys(names):
        if name in QUANTITIES:
            try:
                found.append(Wanted(series(measures, name)))
            except KeyError as error:
                raise ValueError(error.args[0]) from None
        elif name in devices:
            found.append(_read(measures.read(devices[name], around)))
        else:
            there = ", ".join(measurable(measures))
            more = f"; sensors: {', '.join(devices)}" if devices else ""
            raise typer.BadParameter(f"there is no {name!r}; quantities: {there}{more}", param_hint="--of")
    return found


def _read(of: Reading | Pictures) -> Wanted:
    from bodymotion.dynamics import Pictures, Series

    pictures = of if isinstance(of, Pictures) else None
    reading = None if isinstance(of, Pictures) else of
    return Wanted(
        Series(
            name=of.device.name,
            title=f"{of.device.kind} {of.device.name}",
            of="axis",
            labels=() if reading is None else reading.columns,
            units=() if reading is None else reading.units,
            times=of.times,
            values=np.zeros((len(of.times), 0)) if reading is None else reading.values,
        ),
        None if reading is None else reading.saturated,
        pictures,
    )
