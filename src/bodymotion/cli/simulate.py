"""`bodymotion simulate MODEL [MOTION]`: simulate a robot that follows a motion."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

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
    one_line,
    print_message,
    progress,
    saved,
    show_problems,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bodymotion.geometry.arrays import Floats
    from bodymotion.model.body import Body
    from bodymotion.model.links import VisionSensor
    from bodymotion.motion import Motion
    from bodymotion.simulation import Push, SimulationResult

TIMESTEP = 0.001
"""[s] Length of a step, unless an option or a project states another."""
NUM_PUSH_WORDS = 6
"""Of a push: T,LINK,FX,FY,FZ,DURATION."""


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
      bodymotion simulate biped.wrl walk.seq --push 2,WAIST,0,150,0,0.1 --until-fall
      bodymotion simulate SR1.wrl SR1Walk.seq --gains gains.txt --sensors sensors.npz

    Options:
      model MODEL: A model; or {script}, or a project of Choreonoid
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
    from bodymotion.cli.simulate_output import (
        print_result,
        write_contacts,
        write_images,
        write_sensors,
    )
    from bodymotion.simulation import ControllerError
    from bodymotion.simulation import simulate as run

    with failures("simulate"):
        for target in (output, sensors, contacts):
            check_output(target, [model, motion, gains])
        further = [_placed_model(text, reading) for text in objects or ()]
        scene = _load_scene(model, motion, share or (), reading, by_position)
        body = scene.body
        devices = []
        if cameras is not None:
            devices = _choose_cameras(body, cameras)
        # What is on the command line comes before what a project states.
        options: dict[str, Any] = {
            "drive": drive,
            "root": root,
            "start": start,
            "end": scene.end if end is None else end,
            "timestep": timestep or scene.timestep,
            "frame_rate": rate,
            "floor": scene.floor if floor is None else floor,
            "friction": friction,
            "objects": [*further, *scene.objects],
            "self_collision": self_collision,
            "limits": limits,
            "until_fall": until_fall,
        }
        with progress(f"simulating {model.name}") as bar:
            try:
                result = run(
                    body,
                    scene.motion,
                    gains=_gains(gains, body),
                    controller=_controller(controller, body),
                    pushes=[_push(text, body) for text in push or ()],
                    progress=bar,
                    **options,
                )
            except ControllerError as error:
                print_message(f"bodymotion simulate: {error}")
                raise click.exceptions.Exit(1) from error
        _show_new_problems(result, json_output)
        code = 0
        if output is not None:
            code = saved(result.motion, output)
        if sensors is not None:
            write_sensors(result, sensors)
        if contacts is not None:
            write_contacts(result, contacts)
        if cameras is not None:
            write_images(result, devices, cameras)
        print_result(result, json_output, verbose)
        # After Ctrl-C the results up to then are written, with the exit code of shells.
        if result.interrupted:
            raise click.exceptions.Exit(130)
        has_failed = result.has_failed or scene.is_incomplete
        raise click.exceptions.Exit(1 if has_failed else code)


class _Scene(NamedTuple):
    """A body, its motion, and what a project states about their simulation.

    Attributes
    ----------
    objects:
        Further models and their poses in the world.
    end:
        End of the simulation [s]; None for that of the motion.
    timestep:
        Length of a step [s].
    floor:
        Whether there is level ground; None where that depends on the root.
    is_incomplete:
        Whether a part of the project could not be read.
    """

    body: Body
    motion: Motion | None
    objects: Sequence[tuple[Body, Floats]] = ()
    end: float | None = None
    timestep: float = TIMESTEP
    floor: bool | None = None
    is_incomplete: bool = False


def _load_scene(
    model: Path,
    motion: Path | None,
    share: Sequence[Path],
    reading: ReaderOptions,
    by_position: bool,
) -> _Scene:
    """Read a model and its motion, or a project."""
    if model.suffix.lower() != ".cnoid":
        return _Scene(*load_pair(model, motion, reading, by_position))
    from bodymotion.model.body import by_position as named_by_position
    from bodymotion.simulation import load_project

    project = load_project(model, share, **reading)
    show_problems(project.problems)
    # A motion of one or two frames is a pose, which a project holds for some time.
    end = None
    if project.motion is None or len(project.motion.times) < 3:
        end = project.seconds
    chosen = project.motion
    if motion is not None:
        chosen = load_motion(motion, reading, project.body, hint="MOTION")
        if by_position:
            chosen = named_by_position(chosen, project.body)
    return _Scene(
        project.body,
        chosen,
        objects=project.objects,
        end=end,
        timestep=project.timestep or TIMESTEP,
        # A project has its ground among its objects.
        floor=False,
        is_incomplete=any(problem.severity == "error" for problem in project.problems),
    )


def _show_new_problems(result: SimulationResult, json_output: bool) -> None:
    """Print the problems of a simulation; those of the model have been printed."""
    from bodymotion.formats.mjcf.rules import OVERLAP

    for_text = [problem for problem in result.problems if problem.rule != OVERLAP.code]
    # The text names links that overlap in a line of its own.
    # JSON has no line about them.
    problems = result.problems if json_output else for_text
    show_problems(
        [problem for problem in problems if problem not in result.body.problems]
    )


def _gains(path: Path | None, body: Body) -> Any:  # noqa: ANN401
    """Return the gains in a file, if it is given."""
    from bodymotion.formats.gains import read_gains

    if path is None:
        return None
    return read_gains(path, body)


def _controller(text: str | None, body: Body) -> Any:  # noqa: ANN401
    """Return an object of a class in a Python file, if one is named.

    Its constructor gets the body if it has a parameter.
    """
    import runpy

    if text is None:
        return None
    # The last colon: a path of Windows begins with a drive.
    file, _, name = text.rpartition(":")
    if not file.endswith(".py") or not Path(file).is_file():
        raise click.BadParameter(
            f"{text!r} is not a FILE.py:NAME of a file that exists",
            param_hint="--controller",
        )
    try:
        controller = runpy.run_path(file, run_name="bodymotion_controller").get(name)
    # A program of the user may raise anything.
    except Exception as error:
        message = one_line(f"{file}: {type(error).__name__}: {error}")
        raise click.BadParameter(message, param_hint="--controller") from None
    if controller is None:
        raise click.BadParameter(
            f"{file} defines no {name!r}", param_hint="--controller"
        )
    if inspect.signature(controller).parameters:
        return controller(body)
    return controller()


def _placed_model(text: str, reading: ReaderOptions) -> tuple[Body, Floats]:
    """Return the model of MODEL@X,Y,Z[,YAW], and its pose in the world."""
    import numpy as np

    from bodymotion.geometry import rotations

    # The last @: a path may have one.
    path, _, place = text.rpartition("@")
    if not path:
        path = place
        place = "0,0,0"
    x, y, z, *angles = numbers("--with", place, (3, 4), "3 or 4 numbers")
    yaw = np.radians(angles[0] if angles else 0.0)
    rotation = rotations.from_axis_angle([0.0, 0.0, 1.0], yaw)
    body = load_body(Path(path), reading, hint="--with")
    show_reading(body)
    return body, np.array([x, y, z, *rotation])


def _push(text: str, body: Body) -> Push:
    """Return the push of T,LINK,FX,FY,FZ,DURATION."""
    from bodymotion.simulation import Push

    words = text.split(",")
    names = [link.name for link in body.links]
    if len(words) != NUM_PUSH_WORDS or words[1] not in names:
        raise click.BadParameter(
            f"{text!r} is not T,LINK,FX,FY,FZ,DURATION; the links are "
            f"{', '.join(names):.300}",
            param_hint="--push",
        )
    # The link stands among numbers; without it all words are numbers.
    link = words.pop(1)
    time, x, y, z, duration = numbers("--push", ",".join(words), (5,), "5 numbers")
    return Push(time, link, (x, y, z), duration)


def _choose_cameras(body: Body, folder: Path) -> list[VisionSensor]:
    """Return the cameras that make images, and report the others.

    BadParameter when `folder` is no name of a new or empty folder.
    """
    from bodymotion.dynamics.sensors import check_camera
    from bodymotion.model.links import VisionSensor

    # Images of an earlier run would be mixed with the new ones.
    is_used = folder.exists() and (not folder.is_dir() or any(folder.iterdir()))
    if folder == Path() or is_used:
        raise click.BadParameter(
            f"{str(folder)!r} is not a new or empty folder; name one",
            param_hint="--cameras",
        )
    cameras = []
    for device in body.devices:
        if not isinstance(device, VisionSensor):
            continue
        try:
            check_camera(device)
        except ValueError as error:
            print_message(f"bodymotion simulate: camera left out: {error}")
        else:
            cameras.append(device)
    if not cameras:
        raise ValueError(
            f"--cameras {folder}: the body has no camera that makes images"
        )
    return cameras
