"""Results of `bodymotion simulate`: tables, images, and what is printed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bodymotion.cli.output import members, number, one_line, results, written
from bodymotion.diagnostics.text import counted
from bodymotion.system.files import whole_file

if TYPE_CHECKING:
    from bodymotion.cli.measure_output import Block
    from bodymotion.dynamics import CameraFrames
    from bodymotion.model.links import VisionSensor
    from bodymotion.simulation import SimulationResult

MAX_IMAGES = 100_000
"""The largest number of frames that --cameras writes."""
CONTACT_COLUMNS = ("fx", "fy", "fz", "tx", "ty", "tz", "x", "y", "z")
CONTACT_UNITS = ("N",) * 3 + ("Nm",) * 3 + ("m",) * 3
"""Force, torque and point of application in the world."""


def write_sensors(result: SimulationResult, path: Path) -> None:
    """Write the readings of the sensors.

    Range sensors have times of their own, which a table has no columns for.
    """
    from bodymotion.cli.measure_output import block_of, write
    from bodymotion.model.links import RangeSensor

    readings = list(result.readings)
    # These formats have times for each sensor.
    if path.suffix.lower() in (".npz", ".json"):
        for device in result.body.devices:
            if isinstance(device, RangeSensor):
                readings.append(result.read(device))
    if not readings:
        raise ValueError(f"the body has no sensors for {path.name}")
    write(path, [block_of(reading) for reading in readings])
    written(path)


def write_contacts(result: SimulationResult, path: Path) -> None:
    """Write the contact wrench of each link that touches something."""
    from bodymotion.cli.measure_output import write

    blocks = list(_contact_blocks(result))
    if not blocks:
        raise ValueError(f"no links touch, so there are no contacts for {path.name}")
    write(path, blocks)
    written(path)


def _contact_blocks(result: SimulationResult) -> Iterator[Block]:
    """Yield the contact wrench of each link that touches something."""
    from bodymotion.cli.measure_output import Block
    from bodymotion.dynamics import Series

    for column, index in enumerate(result.touching):
        name = result.body.links[index].name
        values = result.contact_forces[:, column]
        # A link that could touch and never did has no block.
        if values.any():
            series = Series(
                name=name,
                title=f"contacts of {name}",
                of="link",
                labels=CONTACT_COLUMNS,
                units=CONTACT_UNITS,
                times=result.times,
                values=values,
            )
            yield Block(series)


def write_images(
    result: SimulationResult, devices: list[VisionSensor], folder: Path
) -> None:
    """Write the frames of cameras.

    FOLDER/0_NAME_00000.png …, and .npz with `time` [s] and `depth` (H, W) [m] where it
    has depths.
    """
    cameras = [result.camera_frames(device) for device in devices]
    total = sum(map(len, cameras))
    if total > MAX_IMAGES:
        raise ValueError(
            f"{folder.name} would hold {total} frames, more than {MAX_IMAGES}; "
            "simulate a shorter part (--to)"
        )
    folder.mkdir(parents=True, exist_ok=True)
    for index, (device, frames) in enumerate(zip(devices, cameras, strict=True)):
        # Names of devices may have characters that no file can have; the index keeps
        # them apart.
        letters = [c if c.isalnum() or c in "-_" else "_" for c in device.name]
        _write_frames(frames, folder / f"{index}_{''.join(letters)}")
        written(folder, f"{counted(len(frames), 'frame')} of {device.name}")


def _write_frames(frames: CameraFrames, base: Path) -> None:
    """Write frames to BASE_00000.png and .npz, and so on."""
    from PIL import Image

    for number_of_frame, frame in enumerate(frames):
        name = f"{base.name}_{number_of_frame:05d}"
        if frame.color is not None:
            # Each image is whole, also after Ctrl-C.
            with whole_file(base.with_name(f"{name}.png")) as stream:
                Image.fromarray(frame.color).save(stream, "PNG")
        if frame.depth is not None:
            with whole_file(base.with_name(f"{name}.npz")) as stream:
                np.savez_compressed(stream, time=frame.time, depth=frame.depth)


def print_result(result: SimulationResult, as_json: bool, verbose: bool) -> None:
    """Print the figures of a simulation."""
    with results() as stream:
        if as_json:
            # One line, so that many runs make lines of JSON.
            stream.write(json.dumps(_figures(result)) + "\n")
        else:
            stream.write(_text(result, verbose))


def _figures(result: SimulationResult) -> dict[str, Any]:
    """Return the figures for programs."""
    link, force, time = result.worst_contact
    joint_errors = {}
    for joint, error in zip(result.body.joints, result.joint_errors, strict=True):
        joint_errors[joint.name] = number(error)
    return {
        "seconds": number(float(result.times[-1])),
        "steps": len(result.times) - 1,
        **members(result, "fall", "diverged", "planned_time"),
        "joint_errors": joint_errors,
        **members(result, "root_error", "root_error_at_end", "slip", "energy"),
        "worst_contact": {"link": link, "force": number(force), "time": number(time)},
    }


def _text(result: SimulationResult, verbose: bool) -> str:
    """Return the figures as lines to read."""
    length = f"{result.times[-1]:.3f} s in {len(result.times) - 1} steps"
    rows = [("simulated", f"{length}; {result.end_text}")]
    # Angles and lengths have no common maximum.
    for errors in (
        _joint_errors(result, "rotate", "°", float(np.degrees(1.0))),
        _joint_errors(result, "slide", " mm", 1e3),
    ):
        if errors:
            rows.append(("joint error", errors))
    # A mounted robot has no root that moves, and no feet that slip.
    if not result.body.is_mounted:
        largest = f"{result.root_error:.3f} m at most"
        last = f"{result.root_error_at_end:.3f} m at the end"
        rows.append(("root error", f"{largest}, {last}"))
        rows.append(("foot slip", f"{1e3 * result.slip:.1f} mm at most"))
    rows.append(("mechanical work", f"{result.energy:.1f} J"))
    overlaps = _overlaps(result, verbose)
    if overlaps:
        rows.append(("contacts", overlaps))
    link, force, time = result.worst_contact
    if link:
        rows.append(("worst contact", f"{force:.0f} N on {link} at {time:.3f} s"))
    return "".join(one_line(f"{name:<16} {value}") + "\n" for name, value in rows)


def _joint_errors(result: SimulationResult, kind: str, unit: str, factor: float) -> str:
    """Return the errors of the joints of a type; empty where there are none.

    `factor` is that from SI to the unit.
    """
    joints = result.body.joints
    columns = [k for k, joint in enumerate(joints) if joint.type == kind]
    if not columns:
        return ""
    errors = result.joint_errors
    worst = max(columns, key=lambda k: errors[k])
    # The mean over joints of errors that are RMS themselves.
    mean = np.sqrt(np.mean(errors[columns] ** 2)) * factor
    largest = f"{errors[worst] * factor:.3g}{unit} of {joints[worst].name}"
    return f"{mean:.3g}{unit} RMS, largest {largest}"


def _overlaps(result: SimulationResult, verbose: bool) -> str:
    """Return which links do not collide as they overlap at rest; empty for none."""
    from bodymotion.formats.mjcf.rules import OVERLAP

    for problem in result.problems:
        if problem.rule == OVERLAP.code:
            pairs = problem.data["pairs"]
            assert isinstance(pairs, list)
            details = f": {'; '.join(pairs)}" if verbose else " (-v lists them)"
            links = f"{counted(len(pairs), 'pair')} of links"
            return f"{links} overlap at rest and do not collide{details}"
    return ""
