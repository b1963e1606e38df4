"""`bodymotion simulate MODEL [MOTION]`: simulate a robot that follows a motion."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click
from click import FloatRange

from bodymotion.cli import failures
from bodymotion.cli.options import (
    AsJson,
    ByPosition,
    Positive,
    ReaderOptions,
    Verbose,
    check_output,
    load_body,
    load_motion,
    load_pair,
    numbers,
    reads_files,
    reports_losses,
    show_reading,
)
from bodymotion.cli.output import (
    members,
    number,
    one_line,
    print_message,
    progress,
    results,
    saved,
    show_problems,
    written,
)
from bodymotion.diagnostics.text import counted
from bodymotion.system.files import whole_file

if TYPE_CHECKING:
    from bodymotion.geometry.arrays import Floats
    from bodymotion.model.body import Body
    from bodymotion.model.links import VisionSensor
    from bodymotion.simulation import Push, SimulationResult

MAX_IMAGES = 100_000  # The largest number of frames that --cameras writes.


@reports_losses
@reads_files
def simulate(
    reading: ReaderOptions,
    model: Path,
    motion: Path | None = None,
    output: Path | None = None,
    gains: Path | None = None,
    drive: Literal["servo", "torque", "effort"] = "servo",
    controller: str | None = None,
    root: Literal["free", "fixed"] | None = None,
    start: float = 0.0,
    end: float | None = None,
    timestep: Positive = None,
    rate: Positive = None,
    floor: bool | None = None,
    friction: Annotated[float, FloatRange(0)] = 1.0,
    objects: list[str] | None = None,
    share: list[Path] | None = None,
    push: list[str] | None = None,
    self_collision: Literal["none", "touching", "all"] = "touching",
    limits: bool = True,
    until_fall: bool = False,
    sensors: Path | None = None,
    contacts: Path | None = None,
    cameras: Path | None = None,
    json_output: AsJson = False,
    verbose: Verbose = False,
    by_position: ByPosition = False,
) -> None:
    """Simulate a robot that follows a motion, with MuJoCo.

    The robot starts at the first pose of the motion, with its feet on the ground. OUT
    has the simulated joint displacements, poses of all links, ZMP from the contact
    forces, and joint efforts. The exit code is 1 when the robot falls: its root is
    tilted by more than 45° against the motion, or at less than half of the planned
    height. Ctrl-C keeps what was simulated so far.

    \b
    Examples:
      bodymotion simulate biped.wrl biped_walk.seq -o simulated.seq
      bodymotion simulate biped.wrl biped_walk.seq --push 2,WAIST,0,150,0,0.1 --until-fall
      bodymotion simulate SR1.wrl SR1Walk.seq --gains sr1_gains.txt --sensors sensors.npz

    Options:
      model MODEL: A model; or an animation of Spot, or a project of Choreonoid
        (.cnoid).
      motion [MOTION]: The motion of its joints; without it, the body holds its rest
        pose.
      --gains FILE: Gains of the servos: a line `kp kd` or `name kp kd` for each joint.
      --drive: How joints follow: by servos, by torques of the same law at each step, or
        they get the torques of the motion.
      end --to SECONDS: End at this time; without a motion, 5 s by default.
      --until-fall: End when the robot falls.

    More options:
      --push T,LINK,FX,FY,FZ,DURATION: A force [N] on a link from time T [s]; may be
        repeated.
      --controller FILE:NAME: A Python class whose step(state) returns the torques of
        the joints.
      --root: Release the root, or hold it at its first pose.
      start --from SECONDS: Begin at this time of the motion.
      --timestep SECONDS: Length of a step; 0.001 by default, or that of a project.
      --rate -r HZ: Frame rate of OUT; by default that of MOTION, or 100.
      --floor/--no-floor: Level ground at z = 0; by default if the root is free.
      --friction: Coefficient of friction of the ground.
      objects --with MODEL@X,Y,Z[,YAW]: A further model at this position [m, degrees];
        may be repeated.
      --share FOLDER: A folder for ${SHARE} in a project; may be repeated.
      --self-collision: Links that do not collide with each other: all, those that
        overlap at rest, or none.
      --limits/--no-limits: Keep the limits of joints and efforts.

    Output:
      --output -o OUT: Write the simulated motion.
      --sensors FILE: Write the readings of the sensors at each step: .csv, .npz, .json,
        .parquet.

    More output:
      --contacts FILE: Write the contact force of each link at each step, likewise.
      --cameras FOLDER: Write the images of the cameras at their frame rates: .png, and
        depths as .npz.
    """  # noqa: D301
    from bodymotion.formats.gains import read_gains
    from bodymotion.formats.mjcf.rules import OVERLAP
    from bodymotion.model.body import by_position as named_by_position
    from bodymotion.simulation import ControllerError, load_project
    from bodymotion.simulation import simulate as run

    with failures("simulate"):
        incomplete = False
        for target in (output, sensors, contacts):
            check_output(target, [model, motion, gains])
        placed = [_placed(text, reading) for text in objects or ()]
        if model.suffix.lower() == ".cnoid":
            project = load_project(model, share or (), **reading)
            show_problems(project.problems)
            body = project.body
            plan = project.motion
            floor = bool(floor)
            placed += project.objects
            incomplete = any(
                problem.severity == "error" for problem in project.problems
            )
            timestep = timestep or project.timestep
            if end is None and (plan is None or len(plan.times) < 3):
                end = project.seconds
            if motion is not None:
                plan = load_motion(motion, reading, body, hint="MOTION")
                if by_position:
                    plan = named_by_position(plan, body)
        else:
            body, plan = load_pair(model, motion, reading, by_position)
        if cameras is None:
            devices = []
        else:
            devices = _cameras(body, cameras)
        with progress(f"simulating {model.name}") as bar:
            try:
                found = run(
                    body,
                    plan,
                    gains=None if gains is None else read_gains(gains, body),
                    drive=drive,
                    controller=None
                    if controller is None
                    else _controller(controller, body),
                    root=root,
                    start=start,
                    end=end,
                    timestep=timestep or 0.001,
                    frame_rate=rate,
                    floor=floor,
                    friction=friction,
                    objects=placed,
                    pushes=[_push(text, body) for text in push or ()],
                    self_collision=self_collision,
                    limits=limits,
                    until_fall=until_fall,
                    progress=bar,
                )
            except ControllerError as error:
                print_message(f"bodymotion simulate: {error}")
                raise click.exceptions.Exit(1) from error
        # The text has it as one line.
        shown = [p for p in found.problems if p.rule != OVERLAP.code or json_output]
        # Those of the model have been printed as it was read.
        show_problems([p for p in shown if p not in body.problems])
        if output is None:
            code = 0
        else:
            code = saved(found.motion, output)
        _write_tables(found, sensors, contacts)
        if cameras is not None:
            _write_images(found, devices, cameras)
        with results() as stream:
            stream.write(
                json.dumps(_figures(found)) + "\n"
                if json_output
                else _text(found, verbose)
            )
        if found.interrupted:
            raise click.exceptions.Exit(130)
        raise click.exceptions.Exit(1 if found.has_failed or incomplete else code)


def _controller(text: str, body: Body) -> Any:  # noqa: ANN401
    """Return an object of a class in a Python file.

    Its constructor gets the body if it has a parameter.
    """
    import runpy

    file, _, name = text.rpartition(":")
    if not file.endswith(".py") or not Path(file).is_file():
        raise click.BadParameter(
            f"{text!r} is not a FILE.py:NAME of a file that exists",
            param_hint="--controller",
        )
    try:
        made = runpy.run_path(file, run_name="bodymotion_controller").get(name)
    except Exception as error:
        message = one_line(f"{file}: {type(error).__name__}: {error}")
        raise click.BadParameter(message, param_hint="--controller") from None
    if made is None:
        raise click.BadParameter(
            f"{file} defines no {name!r}", param_hint="--controller"
        )
    if inspect.signature(made).parameters:
        return made(body)
    return made()


def _placed(text: str, reading: ReaderOptions) -> tuple[Body, Floats]:
    import numpy as np

    from bodymotion.geometry import rotations

    path, _, at = text.rpartition("@")
    x, y, z, yaw = [
        *numbers("--with", at if path else "0,0,0", (3, 4), "3 or 4 numbers"),
        0.0,
    ][:4]
    turn = rotations.from_axis_angle([0.0, 0.0, 1.0], np.radians(yaw))
    body = load_body(Path(path or at), reading, hint="--with")
    show_reading(body)
    return body, np.array([x, y, z, *turn])


def _push(text: str, body: Body) -> Push:
    from bodymotion.simulation import Push

    words = text.split(",")
    if len(words) != 6 or words[1] not in {link.name for link in body.links}:
        links = ", ".join(link.name for link in body.links)
        raise click.BadParameter(
            f"{text!r} is not T,LINK,FX,FY,FZ,DURATION; the links are {links:.300}",
            param_hint="--push",
        )
    time, x, y, z, duration = numbers(
        "--push", ",".join([words[0], *words[2:]]), (5,), "5 numbers"
    )
    return Push(time, words[1], (x, y, z), duration)


def _write_tables(
    found: SimulationResult, sensors: Path | None, contacts: Path | None
) -> None:
    from bodymotion.cli.measure_output import Block, block_of, write
    from bodymotion.dynamics import Series
    from bodymotion.model.links import RangeSensor

    if sensors is not None:
        scans = [
            found.read(d) for d in found.body.devices if isinstance(d, RangeSensor)
        ]
        read = (
            *found.readings,
            *(scans if sensors.suffix.lower() in (".npz", ".json") else ()),
        )
        if not read:
            raise ValueError(f"the body has no sensors for {sensors.name}")
        write(sensors, [block_of(one) for one in read])
        written(sensors)
    if contacts is not None:
        labels = ("fx", "fy", "fz", "tx", "ty", "tz", "x", "y", "z")
        units = ("N",) * 3 + ("Nm",) * 3 + ("m",) * 3
        about: dict[str, Any] = {
            "of": "link",
            "labels": labels,
            "units": units,
            "times": found.times,
        }
        blocks = []
        for column, index in enumerate(found.touching):
            name = found.body.links[index].name
            values = found.contact_forces[:, column]
            if values.any():
                blocks.append(
                    Block(
                        Series(
                            name=name,
                            title=f"contacts of {name}",
                            values=values,
                            **about,
                        )
                    )
                )
        if not blocks:
            raise ValueError(
                f"no links touch, so there are no contacts for {contacts.name}"
            )
        write(contacts, blocks)
        written(contacts)


def _cameras(body: Body, folder: Path) -> list[VisionSensor]:
    """Return the cameras that make images, and report the others.

    BadParameter when `folder` is no name of a new or empty folder.
    """
    from bodymotion.dynamics.sensors import check_camera
    from bodymotion.model.links import VisionSensor

    if folder == Path() or (
        folder.exists() and (not folder.is_dir() or any(folder.iterdir()))
    ):
        raise click.BadParameter(
            f"{str(folder)!r} is not a new or empty folder; name one",
            param_hint="--cameras",
        )
    found = []
    for device in body.devices:
        if isinstance(device, VisionSensor):
            try:
                check_camera(device)
                found.append(device)
            except ValueError as error:
                print_message(f"bodymotion simulate: camera left out: {error}")
    if not found:
        raise ValueError(
            f"--cameras {folder}: the body has no camera that makes images"
        )
    return found


def _write_images(
    found: SimulationResult, devices: list[VisionSensor], folder: Path
) -> None:
    """Write the frames of cameras.

    FOLDER/0_NAME_00000.png …, and .npz with `time` [s] and `depth` (H, W) [m] where it
    has depths.
    """
    import numpy as np
    from PIL import Image

    cameras = [found.camera_frames(device) for device in devices]
    total = sum(map(len, cameras))
    if total > MAX_IMAGES:
        raise ValueError(
            f"{folder.name} would hold {total} frames, more than {MAX_IMAGES}; "
            "simulate a shorter part (--to)"
        )
    folder.mkdir(parents=True, exist_ok=True)
    for index, (device, frames) in enumerate(zip(devices, cameras, strict=True)):
        name = f"{index}_" + "".join(
            c if c.isalnum() or c in "-_" else "_" for c in device.name
        )
        for k, frame in enumerate(frames):
            if frame.color is not None:
                with whole_file(folder / f"{name}_{k:05d}.png") as stream:
                    Image.fromarray(frame.color).save(stream, "PNG")
            if frame.depth is not None:
                with whole_file(folder / f"{name}_{k:05d}.npz") as stream:
                    np.savez_compressed(stream, time=frame.time, depth=frame.depth)
        written(folder, f"{counted(len(frames), 'frame')} of {device.name}")


def _figures(found: SimulationResult) -> dict[str, Any]:
    link, force, time = found.worst_contact
    return {
        "seconds": number(float(found.times[-1])),
        "steps": len(found.times) - 1,
        **members(found, "fall", "diverged", "planned_time"),
        "joint_errors": {
            joint.name: number(value)
            for joint, value in zip(found.body.joints, found.joint_errors, strict=True)
        },
        **members(found, "root_error", "root_error_at_end", "slip", "energy"),
        "worst_contact": {"link": link, "force": number(force), "time": number(time)},
    }


def _text(found: SimulationResult, verbose: bool) -> str:
    import numpy as np

    from bodymotion.formats.mjcf.rules import OVERLAP

    link, force, time = found.worst_contact
    rows = [
        (
            "simulated",
            f"{found.times[-1]:.3f} s in {len(found.times) - 1} steps; "
            f"{found.end_text}",
        )
    ]
    for kind, unit, factor in (("rotate", "°", np.degrees(1.0)), ("slide", " mm", 1e3)):
        of = [k for k, joint in enumerate(found.body.joints) if joint.type == kind]
        if of:
            worst = max(of, key=lambda k: found.joint_errors[k])
            mean = np.sqrt(np.mean(found.joint_errors[of] ** 2)) * factor
            largest = f"{found.joint_errors[worst] * factor:.3g}{unit} of {found.body.joints[worst].name}"
            rows.append(("joint error", f"{mean:.3g}{unit} RMS, largest {largest}"))
    if not found.body.is_mounted:
        rows.append(
            (
                "root error",
                f"{found.root_error:.3f} m at most, {found.root_error_at_end:.3f} m "
                "at the end",
            )
        )
        rows.append(("foot slip", f"{1e3 * found.slip:.1f} mm at most"))
    rows.append(("mechanical work", f"{found.energy:.1f} J"))
    overlaps = [problem for problem in found.problems if problem.rule == OVERLAP.code]
    if overlaps:
        pairs = overlaps[0].data["pairs"]
        assert isinstance(pairs, list)
        text = (
            f"{counted(len(pairs), 'pair')} of links overlap at rest and do not collide"
        )
        if verbose:
            listed = f": {'; '.join(pairs)}"
        else:
            listed = " (-v lists them)"
        rows.append(("contacts", text + listed))
    if link:
        rows.append(("worst contact", f"{force:.0f} N on {link} at {time:.3f} s"))
    return "".join(one_line(f"{name:<16} {value}") + "\n" for name, value in rows)
