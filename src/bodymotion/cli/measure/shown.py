"""What is printed of a motion that was measured: for people, with degrees and percents; for programs, in SI."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.cli.info.data import Data, number, problems_of
from bodymotion.cli.page import Page, Table
from bodymotion.dynamics import extremes, figures, slides
from bodymotion.model.motors import effort_range

if TYPE_CHECKING:
    from bodymotion.cli.measure.measured import Wanted
    from bodymotion.dynamics import Measures, Series
    from bodymotion.geometry.arrays import Floats

__all__ = ["as_data", "page_of"]

LARGE = 1e7
"""Larger numbers are printed with a power of ten."""
LONG_AGO = 1e13
"""[s] Times of clocks, whenever they began, are printed with all their digits."""


def as_data(measures: Measures, chosen: Sequence[Wanted], model: Path, motion: Path, listed: bool) -> Data:
    """Return all that is said as JSON can hold it, numbers in SI."""
    data: Data = {"model": str(model), "motion": str(motion)}
    if listed:
        return {**data, "quantities": [_about(one.series) for one in chosen], "sensors": _sensors(measures)}
    if chosen:
        return {**data, "quantities": [{**_about(one.series), "columns": _extremes(one.series)} for one in chosen]}
    return {
        **data,
        "figures": [
            {
                "name": one.name,
                "title": one.title,
                "value": number(one.value),
                "unit": one.unit,
                "time": one.time,
                "part": one.part,
            }
            for one in figures(measures)
        ],
        "joints": _joints(measures),
        "feet": _feet(measures),
        **problems_of(measures.problems),
    }


def page_of(measures: Measures, chosen: Sequence[Wanted], model: Path, motion: Path, listed: bool) -> Page:
    """Return the same as a page to read."""
    page = Page()
    page.heading(f"{motion.name} on {measures.body.name or model.name}")
    if listed:
        _list(page, measures, chosen)
    elif chosen:
        for one in chosen:
            page.heading(one.series.title)
            page.table(_columns(one.series))
            if one.pictures is not None:
                device = one.pictures.device
                page.line(f"{len(one.pictures)} pictures of {device.width} × {device.height}, {device.type}")
    else:
        _summary(page, measures)
    return page


def _summary(page: Page, measures: Measures) -> None:
    rows = []
    for one in figures(measures):
        scale, unit = _readable(one.unit)
        at = "" if one.time is None else _time(one.time)
        rows.append((one.title, _short(one.value, scale), unit, one.part or "", at))
    page.table(Table(("figure", "value", "unit", "of", "at [s]"), rows, frozenset({"value", "at [s]"})))
    page.heading("Joints")
    page.table(_joint_table(_joints(measures)))
    feet = _feet(measures)
    if feet:
        page.heading("Feet")
        rows = [
            (
                foot["link"],
                f"{100 * foot['standing']:.0f}",
                str(foot["contacts"]),
                _short(foot["slip"], 1000),
                _short(foot["force"]),
            )
            for foot in feet
        ]
        columns = ("link", "stands [%]", "contacts", "slips [mm]", "most force [N]")
        page.table(Table(columns, rows, frozenset(columns[1:])))


def _joint_table(joints: Sequence[Data]) -> Table:
    rows = []
    for joint in joints:
        scale, unit = _readable(joint["unit"])
        rows.append(
            (
                joint["name"],
                f"{_short(joint['lowest'], scale)} … {_short(joint['highest'], scale)} {unit}",
                _percent(joint["limit_used"]),
                f"{_short(joint['velocity'], scale)} {unit}/s",
                _time(joint["velocity_time"]),
                _percent(joint["velocity_limit_used"]),
                f"{_short(joint['torque'])} {joint['torque_unit']}",
                _time(joint["torque_time"]),
                _percent(joint["torque_limit_used"]),
                _short(joint["effort"]),
            )
        )
    columns = (
        "joint",
        "from … to",
        "limit [%]",
        "fastest",
        "at [s]",
        "limit [%]",
        "hardest",
        "at [s]",
        "limit [%]",
        "effort",
    )
    return Table(columns, rows, frozenset(columns[1:]))


def _list(page: Page, measures: Measures, chosen: Sequence[Wanted]) -> None:
    quantities = [one.series for one in chosen]
    rows = [(one.name, one.title, " ".join(dict.fromkeys(one.units)), _of(one)) for one in quantities]
    page.table(Table(("name", "what it is", "unit", "columns"), rows))
    sensors = _sensors(measures)
    if sensors:
        page.heading("Sensors")
        page.table(Table(("name", "kind", "link"), [(one["name"], one["kind"], one["link"]) for one in sensors]))
        if any(one["kind"] == "VisionSensor" for one in sensors):
            page.line("Sensors are read when --of names them; the pictures of cameras go to an .npz.")


def _of(one: Series) -> str:
    count = len(one.labels)
    if one.of == "axis":
        return " ".join(one.labels)
    return (
        "1" if one.of == "body" else f"{count} {one.of if count == 1 else 'feet' if one.of == 'foot' else one.of + 's'}"
    )


def _columns(of: Series) -> Table:
    rows = []
    for one in extremes(of):
        scale, unit = _readable(one.unit)
        low, high = _short(one.lowest, scale), _short(one.highest, scale)
        times = _time(one.lowest_time), _time(one.highest_time)
        rows.append((one.label, unit, low, times[0], high, times[1], _percent(one.used)))
    columns = ("column", "unit", "lowest", "at [s]", "highest", "at [s]", "limit [%]")
    return Table(columns, rows, frozenset(columns[2:]))


def _about(one: Series) -> Data:
    return {"name": one.name, "title": one.title, "of": one.of, "labels": list(one.labels), "units": list(one.units)}


def _extremes(of: Series) -> list[Data]:
    return [
        {
            "label": one.label,
            "unit": one.unit,
            "lowest": number(one.lowest),
            "lowest_time": number(one.lowest_time),
            "highest": number(one.highest),
            "highest_time": number(one.highest_time),
            "limit_used": one.used,
        }
        for one in extremes(of)
    ]


def _sensors(measures: Measures) -> list[Data]:
    from bodymotion.model.devices import OtherDevice

    links = measures.body.links
    return [
        {"name": one.name, "kind": one.kind, "link": links[one.link].name}
        for one in measures.body.devices
        if not isinstance(one, OtherDevice) and 0 <= one.link < len(links)
    ]


def _largest(values: Floats) -> int:
    return 0 if np.isnan(values).all() else int(np.nanargmax(np.abs(values)))


def _used(values: Floats, lower: float, upper: float) -> float | None:
    """Return the greatest share of a limit that values take, counted from 0; None without limits on that limit's side of 0."""
    shares = [
        float(np.nanmax(values / limit))
        for limit, is_side in ((lower, lower < 0), (upper, upper > 0))
        if np.isfinite(limit) and is_side and not np.isnan(values).all()
    ]
    return max(0.0, *shares) if shares else None


def _joints(measures: Measures) -> list[Data]:
    from bodymotion.diagnostics.text import distinct

    joints = measures.body.joints
    torques, velocities = measures.torques, measures.joint_velocities
    found = []
    for k, name in enumerate(distinct([joint.name for joint in joints], "joint")):
        joint, values = joints[k], measures.joint_displacements[:, k]
        fastest, hardest = _largest(velocities[:, k]), _largest(torques[:, k])
        efforts = effort_range(joint)
        unit = "m" if joint.type == "slide" else "rad"
        found.append(
            {
                "name": name,
                "unit": unit,
                "lowest": number(np.fmin.reduce(values)),
                "highest": number(np.fmax.reduce(values)),
                "limit_used": _used(values, joint.lower, joint.upper),
                "velocity": number(velocities[fastest, k]),
                "velocity_time": float(measures.times[fastest]),
                "velocity_limit_used": _used(velocities[:, k], joint.velocity_lower, joint.velocity_upper),
                "torque": number(torques[hardest, k]),
                "torque_unit": "N" if joint.type == "slide" else "Nm",
                "torque_time": float(measures.times[hardest]),
                "torque_limit_used": None if efforts is None else _used(torques[:, k], *efforts),
                "effort": number(measures.effort[k]),
            }
        )
    return found


def _feet(measures: Measures) -> list[Data]:
    """Return for each foot how much of the time it stands, how often it comes down, and how far it slides in all."""
    if measures.is_mounted or not measures.body.mass > 0 or not measures.feet.links:
        return []
    contacts = measures.contacts
    ways = np.zeros(len(contacts.names))
    for slide in slides(contacts, measures.times):
        ways[slide.foot] += slide.way
    found = []
    for k, name in enumerate(contacts.names):
        stands = contacts.standing[:, k]
        begins = int(np.count_nonzero(stands[1:] & ~stands[:-1]) + stands[0])
        force = np.where(stands, np.nan_to_num(measures.contact_wrenches[:, k, 2]), 0.0)
        found.append(
            {
                "link": name,
                "standing": float(stands.mean()),
                "contacts": begins,
                "slip": number(float(ways[k])),
                "force": number(float(force.max())),
            }
        )
    return found


def _readable(unit: str) -> tuple[float, str]:
    """Return by what a number in SI is multiplied for people, and the unit then: degrees for radians, percents for shares."""
    if unit == "share":
        return 100.0, "%"
    return (float(np.rad2deg(1.0)), "°" + unit[3:]) if unit.startswith("rad") else (1.0, unit)


def _short(value: float | None, scale: float = 1.0) -> str:
    if value is None or np.isnan(value):
        return "-"
    value *= scale
    return f"{value:.0f}" if 1000 <= abs(value) < LARGE else f"{value:.4g}" if abs(value) >= 5e-4 else "0"


def _time(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.3f}" if abs(value) < LONG_AGO else f"{value:.4g}"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f}" if abs(100 * share) < LARGE else f"{100 * share:.4g}"
