"""Results of `bodymotion measure`.

A page with degrees and percents, data in SI units, and files of all values.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click
import numpy as np
import numpy.typing as npt

from bodymotion.cli.output import Data, members, number, problems_of
from bodymotion.cli.page import Page
from bodymotion.diagnostics.text import counted, distinct
from bodymotion.dynamics import extremes, figures, foot_slips, series
from bodymotion.geometry.arrays import Bools
from bodymotion.model.links import OtherDevice
from bodymotion.system.files import whole_file

if TYPE_CHECKING:
    from bodymotion.dynamics import CameraFrames, Extreme, Measures, Reading, Series
    from bodymotion.geometry.arrays import Floats

MAX_PLAIN = 1e7  # Larger numbers are printed with an exponent.
MIN_PRINTED = 1e-6
"""Smaller numbers, rounding errors of the computation, are printed as 0."""
MAX_MILLIMETRES = (
    0.1  # [m] Smaller lengths among the key figures are printed in millimetres.
)
MAX_TIME = (
    1e13  # [s] Larger times are printed with an exponent; those of clocks are not.
)
LARGE_FILE = 100_000_000  # [bytes] The size of a larger file is reported.
MAX_NAMED = 8  # Quantities in a file that are reported by name; more are counted.


@dataclass(frozen=True, eq=False)
class Block:
    """A quantity or a sensor.

    `series` of columns and where they are saturated, or the `frames` of a camera.
    """

    series: Series
    saturated: Bools | None = None
    frames: CameraFrames | None = None


def block_of(read: Reading | CameraFrames) -> Block:
    """Return the readings of a sensor, or the frames of a camera, as a block."""
    from bodymotion.dynamics import CameraFrames, Series

    device = read.device
    frames = read if isinstance(read, CameraFrames) else None
    # A camera has frames in place of columns: its series has none.
    labels: tuple[str, ...] = ()
    units = labels
    values = np.zeros((len(read.times), 0))
    saturated = None
    if not isinstance(read, CameraFrames):
        labels = read.columns
        units = read.units
        values = read.values
        saturated = read.saturated
    series = Series(
        name=device.name or device.kind,
        title=f"{device.kind} {device.name}",
        of="axis",
        labels=labels,
        units=units,
        times=read.times,
        values=values,
    )
    return Block(series, saturated, frames)


def about_written(path: Path, blocks: Sequence[Block]) -> str:
    """Return the names of the quantities in a file, or their number.

    With the size of a large file.
    """
    names = [one.series.name for one in blocks]
    if len(names) <= MAX_NAMED:
        what = ", ".join(names)
    else:
        what = f"{len(names)} quantities"
    # A pipe has no size.
    if path.is_file():
        size = path.stat().st_size
    else:
        size = 0
    return what + (f" ({size / 1e6:.0f} MB)" if size > LARGE_FILE else "")


def as_data(
    measures: Measures, chosen: Sequence[Block], model: Path, motion: Path, listed: bool
) -> Data:
    """Return what is printed as JSON can hold it, in SI units."""
    data: Data = {"model": str(model), "motion": str(motion)}
    if listed:
        return {
            **data,
            "quantities": [_about(one.series) for one in chosen],
            "sensors": _sensors(measures),
        }
    if chosen:
        data["quantities"] = [
            {**_about(block.series), "columns": _extremes(block.series)}
            for block in chosen
        ]
        return data
    key_figures = [
        {**asdict(figure), "value": number(figure.value)}
        for figure in figures(measures)
    ]
    # Notes are about the file, not about what is measured.
    problems = [
        problem for problem in measures.motion.problems if problem.severity != "note"
    ]
    return {
        **data,
        "figures": key_figures,
        "joints": _joints(measures),
        "feet": _feet(measures),
        **problems_of([*problems, *measures.problems]),
    }


def _extremes(of: Series) -> list[Data]:
    """Return the lowest and the highest value of each column, with their times."""
    names = ("label", "unit", "lowest", "lowest_time", "highest", "highest_time")
    return [
        {**members(extreme, *names), "limit_used": extreme.used}
        for extreme in extremes(of)
    ]


def page_of(
    measures: Measures, chosen: Sequence[Block], model: Path, motion: Path, listed: bool
) -> Page:
    """Return the same as a page to read, with degrees and percents."""
    page = Page()
    page.heading(f"{motion.name} on {measures.body.name or model.name}")
    if listed:
        _list(page, measures, chosen)
    elif chosen:
        for one in chosen:
            page.heading(one.series.title)
            _columns(page, one.series)
            # Images have no columns of extremes: their number and size is printed.
            if one.frames is not None:
                device = one.frames.device
                page.line(
                    f"{len(one.frames)} frames of {device.width} × {device.height}, "
                    f"{device.type}"
                )
    else:
        _summary(page, measures)
    return page


def _summary(page: Page, measures: Measures) -> None:
    """Add the key figures, the joints and the feet."""
    rows = []
    for one in figures(measures):
        # A margin of 12.3 mm is easier to read than 0.0123 m.
        scale, unit = (
            (1000.0, "mm")
            if one.unit == "m" and abs(one.value) < MAX_MILLIMETRES
            else _readable(one.unit)
        )
        if one.time is None:
            at = ""
        else:
            at = _time(one.time)
        rows.append((one.title, _short(one.value, scale), unit, one.part or "", at))
    page.table("figure | >value | unit | of | >at [s]", rows)
    page.heading("Joints")
    _joint_table(page, _joints(measures))
    feet = _feet(measures)
    if feet:
        page.heading("Feet")
        feet_rows = []
        for foot in feet:
            moved = _short(foot["slip"], 1000)
            force = _short(foot["force"])
            feet_rows.append(
                (
                    foot["link"],
                    f"{100 * foot['time_in_contact']:.0f}",
                    foot["contacts"],
                    moved,
                    force,
                )
            )
        page.table(
            "link | >in contact [%] | >contacts | >slip [mm] | >max force [N]",
            feet_rows,
        )


def _joint_table(page: Page, joints: Sequence[Data]) -> None:
    """Add the table of joints, with degrees and percents."""
    rows = []
    for joint in joints:
        scale, unit = _readable(joint["unit"])
        row = [
            joint["name"],
            f"{_short(joint['lowest'], scale)} … {_short(joint['highest'], scale)} "
            f"{unit}",
        ]
        row += [
            _percent(joint["limit_used"]),
            f"{_short(joint['velocity'], scale)} {unit}/s",
        ]
        row += [_time(joint["velocity_time"]), _percent(joint["velocity_limit_used"])]
        row += [
            f"{_short(joint['torque'])} {joint['torque_unit']}",
            _time(joint["torque_time"]),
        ]
        rows.append(
            [*row, _percent(joint["torque_limit_used"]), _short(joint["effort"])]
        )
    # Velocities and torques have the same columns.
    of_speed, of_torque = (
        f">max {name} | >at [s] | >limit [%]" for name in ("velocity", "torque")
    )
    page.table(
        f"joint | >range | >limit [%] | {of_speed} | {of_torque} | >RMS torque", rows
    )


def _list(page: Page, measures: Measures, chosen: Sequence[Block]) -> None:
    """Add the names of quantities and sensors."""
    quantities = [one.series for one in chosen]
    # Each unit once: a quantity of rotations and slides has two.
    rows = [
        (one.name, one.title, " ".join(dict.fromkeys(one.units)), _of(one))
        for one in quantities
    ]
    page.table("name | description | unit | columns", rows)
    sensors = _sensors(measures)
    if sensors:
        page.heading("Sensors")
        page.table(
            "name | kind | link",
            [(one["name"], one["kind"], one["link"]) for one in sensors],
        )
        if any(one["kind"] == "VisionSensor" for one in sensors):
            page.line(
                "Sensors are read only when --of names them; camera images are "
                "written to an .npz."
            )


def _of(one: Series) -> str:
    if one.of == "axis":
        return " ".join(one.labels)
    if one.of == "body":
        return "1"
    return counted(len(one.labels), one.of, "feet" if one.of == "foot" else "")


def _columns(page: Page, of: Series) -> None:
    """Add the extremes of the columns of a quantity."""
    rows = []
    for one in extremes(of):
        scale, unit = _readable(one.unit)
        low = _short(one.lowest, scale)
        high = _short(one.highest, scale)
        times = _time(one.lowest_time), _time(one.highest_time)
        rows.append(
            (one.label, unit, low, times[0], high, times[1], _percent(one.used))
        )
    page.table(
        "column | unit | >minimum | >at [s] | >maximum | >at [s] | >limit [%]", rows
    )


def _about(one: Series) -> Data:
    return {
        "name": one.name,
        "title": one.title,
        "of": one.of,
        "labels": list(one.labels),
        "units": list(one.units),
    }


def _sensors(measures: Measures) -> list[Data]:
    links = measures.body.links
    return [
        {"name": one.name, "kind": one.kind, "link": links[one.link].name}
        for one in measures.body.devices
        if not isinstance(one, OtherDevice) and 0 <= one.link < len(links)
    ]


def _joints(measures: Measures) -> list[Data]:
    """Return the range of each joint, its largest velocity and torque."""
    if not measures.body.num_joints:
        return []
    # The time of a joint without a finite value.
    start = float(measures.times[0])
    rows = []
    for joint, displacement, velocity, torque, effort in zip(
        measures.body.joints,
        extremes(series(measures, "joint_displacements")),
        extremes(series(measures, "joint_velocities")),
        extremes(series(measures, "torques")),
        measures.effort,
        strict=True,
    ):
        # Units of a slide are m, m/s and N, of a rotation rad, rad/s and Nm.
        slides = joint.type == "slide"
        rows.append(
            {
                "name": displacement.label,
                "unit": "m" if slides else "rad",
                **members(displacement, "lowest", "highest"),
                "limit_used": _used(displacement),
                **_largest("velocity", velocity, start),
                "torque_unit": "N" if slides else "Nm",
                **_largest("torque", torque, start),
                "effort": number(effort),
            }
        )
    return rows


def _largest(name: str, extreme: Extreme, start: float) -> Data:
    """Return the value with the largest amount, with its sign and time.

    Where it has no time, as no value is finite, that is the start of the motion.
    """
    value = extreme.highest
    time = extreme.highest_time
    # The sign shows the direction, so the amount alone is not enough.
    if abs(extreme.lowest) > abs(extreme.highest):
        value = extreme.lowest
        time = extreme.lowest_time
    return {
        name: number(value),
        f"{name}_time": start if np.isnan(time) else time,
        f"{name}_limit_used": _used(extreme),
    }


def _used(extreme: Extreme) -> float | None:
    """Return the used share of a limit; 0 for less than none."""
    if extreme.used is None:
        return None
    return max(0.0, extreme.used)


def _feet(measures: Measures) -> list[Data]:
    """Return for each foot its contacts, total slip and largest force."""
    # A mounted robot stands on no feet, and without a mass there are no forces.
    if measures.is_mounted or not measures.body.mass > 0 or not measures.feet.links:
        return []
    contacts = measures.contacts
    # [m] The sum over all contacts of a foot.
    ways = np.zeros(len(contacts.names))
    for slide in foot_slips(contacts, measures.times):
        ways[slide.foot] += slide.way
    found = []
    for k, name in enumerate(contacts.names):
        touches = contacts.in_contact[:, k]
        # A contact begins where a frame touches and the one before does not, or with
        # the motion.
        begins = int(np.count_nonzero(touches[1:] & ~touches[:-1]) + touches[0])
        # (T,) Vertical force; NaN where it cannot be computed.
        force = np.where(
            touches, np.nan_to_num(measures.contact_wrenches[:, k, 2]), 0.0
        )
        found.append(
            {
                "link": name,
                "time_in_contact": float(touches.mean()),
                "contacts": begins,
                "slip": number(float(ways[k])),
                "force": number(float(force.max())),
            }
        )
    return found


def _readable(unit: str) -> tuple[float, str]:
    """Return the factor from SI to the printed unit, and that unit.

    Degrees for radians, percents for shares.
    """
    if unit == "share":
        return 100.0, "%"
    if unit.startswith("rad"):
        return (float(np.rad2deg(1.0)), "°" + unit[3:])
    return (1.0, unit)


def _short(value: float | None, scale: float = 1.0) -> str:
    if value is None or np.isnan(value):
        return "-"
    value *= scale
    # `g` with 4 digits would write 12345 as 1.234e+04.
    if 1000 <= abs(value) < MAX_PLAIN:
        return f"{value:.0f}"
    if abs(value) >= MIN_PRINTED:
        return f"{value:.4g}"
    return "0"


def _time(value: float) -> str:
    if np.isnan(value):
        return "-"
    if abs(value) < MAX_TIME:
        return f"{value:.3f}"
    return f"{value:.4g}"


def _percent(share: float | None) -> str:
    if share is None:
        return ""
    if abs(100 * share) < MAX_PLAIN:
        return f"{100 * share:.0f}"
    return f"{100 * share:.4g}"


def write(path: Path, blocks: Sequence[Block]) -> None:
    """Write blocks to a file in the format of its extension.

    An unknown extension is wrong use.
    """
    writers = {".csv": _csv, ".npz": _npz, ".json": _json, ".parquet": _parquet}
    writer = writers.get(path.suffix.lower())
    if writer is None:
        raise click.BadParameter(
            f"{path.name} does not end in {', '.join(writers)}", param_hint="--output"
        )
    # Whole or not at all: a full disk leaves no half of a table.
    with whole_file(path) as stream:
        writer(stream, blocks)


def _table(blocks: Sequence[Block]) -> tuple[tuple[str, ...], Floats]:
    """Return all blocks side by side: the names of the columns, and values (T, N).

    The first column is `time`.
    """
    for block in blocks:
        if block.frames is not None:
            raise ValueError(
                f"images of {block.series.name} do not fit in a table; write an .npz"
            )
    # A range sensor or a camera has a rate of its own, for which a table has no rows.
    all_series = [block.series for block in blocks]
    times = all_series[0].times
    for one in all_series:
        if not np.array_equal(one.times, times):
            raise ValueError(
                f"{one.name} has other times than {all_series[0].name}, but a table "
                "has one time for each row; "
                "write them to separate files, or to an .npz or .json"
            )
    names = ["time"]
    values = [times[:, None]]
    for one in all_series:
        values.append(one.values)
        # A quantity of the body has one column, which needs no label.
        for label in one.labels:
            names.append(one.name if one.of == "body" else f"{one.name}/{label}")
    table = np.concatenate(values, axis=1)
    return distinct(names), np.ascontiguousarray(table)


def _csv(stream: BinaryIO, blocks: Sequence[Block]) -> None:
    from bodymotion.formats.tables.number_table import write_rows

    names, values = _table(blocks)
    header = io.StringIO()
    csv.writer(header, lineterminator="\n").writerow(names)
    # "surrogateescape": names of joints may hold bytes that are no UTF-8.
    stream.write(header.getvalue().encode("utf-8", "surrogateescape"))
    write_rows(stream, values, b",")


def _parquet(stream: BinaryIO, blocks: Sequence[Block]) -> None:
    from bodymotion.formats.csv.arrow import arrow

    names, values = _table(blocks)
    arrow(".parquet").write_table(arrow().table([*values.T], names), stream)


def _npz(stream: BinaryIO, blocks: Sequence[Block]) -> None:
    """Write blocks as arrays: `NAME`, and `NAME.times` and others about it."""
    from bodymotion.formats.npz.reader import write_archive

    arrays: dict[str, npt.NDArray[Any]] = {}
    for block in blocks:
        of = block.series
        frames = block.frames
        # NAME is the array of values, NAME.times, NAME.labels … are about it.
        about: dict[str, Any] = {"times": of.times}
        if frames is not None:
            about |= {"color": frames.color, "depth": frames.depth}
        else:
            arrays[of.name] = of.values
            about |= {
                "labels": np.array(of.labels, dtype=np.str_),
                "units": np.array(of.units, dtype=np.str_),
            }
            about |= {
                "lower": of.lower,
                "upper": of.upper,
                "saturated": block.saturated,
            }
        arrays |= {
            f"{of.name}.{key}": array
            for key, array in about.items()
            if array is not None
        }
    # Only images are worth the time of compression.
    write_archive(
        stream, arrays, compressed=any(block.frames is not None for block in blocks)
    )


def _json(stream: BinaryIO, blocks: Sequence[Block]) -> None:
    """Write blocks as a list of objects; numbers that are not finite are null."""
    import orjson

    data = []
    for block in blocks:
        of = block.series
        if block.frames is not None:
            raise ValueError(f"images of {of.name} do not fit in JSON; write an .npz")
        about = {
            "name": of.name,
            "title": of.title,
            "labels": of.labels,
            "units": of.units,
            "times": of.times,
        }
        data.append(
            {**about, "lower": of.lower, "upper": of.upper, "values": of.values}
        )
    # orjson writes numbers that are not finite as null, and only contiguous arrays
    # directly.
    how = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE
    stream.write(
        orjson.dumps(
            data, default=lambda array: np.ascontiguousarray(array), option=how
        )
    )
