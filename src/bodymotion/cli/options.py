"""The options that several commands have, and the reading of files with them.

`described` defines options.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Container, Iterable, Mapping
from contextlib import suppress
from functools import wraps
from inspect import Parameter, cleandoc, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypeVar

import click
from click import FloatRange, IntRange
from click.core import ParameterSource

from bodymotion.cli.extended_help import extended_help
from bodymotion.cli.help import Group
from bodymotion.cli.output import STRICT_LOSSES, one_line, show_problems
from bodymotion.diagnostics import FormatError
from bodymotion.diagnostics.text import with_article
from bodymotion.extensions import Kind, kind_named
from bodymotion.system.files import check_not_read, check_place

if TYPE_CHECKING:
    from bodymotion.formats.registry import Format
    from bodymotion.model.body import Body
    from bodymotion.motion import Motion
    from bodymotion.skeleton import Skeleton

LARGE = 64 << 20  # [bytes] A larger .seq file is processed row by row where possible.
BYTES_PER_NUMBER = 3 * 8
"""Memory for each number of a motion while it is changed.

As read, as changed, and one copy in between.
"""

T = TypeVar("T")

ReaderOptions: TypeAlias = dict[str, Any]  # The options of readers that were used.
ByPosition: TypeAlias = Annotated[
    bool,
    "--by-position: Read joint columns by position, whatever their names.",
    Group.READING,
]
StrictLosses: TypeAlias = Annotated[
    bool,
    "--strict-losses: Exit code 3 if something that matters is lost.",
    Group.OUTPUT,
]
AsJson: TypeAlias = Annotated[bool, "--json: Print JSON.", Group.OUTPUT]
Verbose: TypeAlias = Annotated[
    bool, "--verbose -v: List what is otherwise only counted.", Group.MORE_OUTPUT
]
Arm: TypeAlias = Annotated[
    bool | None,
    "--arm/--no-arm: Play a script with or without the robot's arm; by default as it "
    "needs.",
    Group.MORE,
]
Bpm: TypeAlias = Annotated[
    float | None,
    "--bpm BPM: Tempo at which a script is played, in beats per minute.",
    Group.MORE,
]
Music: TypeAlias = Annotated[
    Path | None,
    "--music FILE: Music (wav, flac, ogg, mp3) beside the motion, with its beats on "
    "the timeline.",
    Group.MORE,
]
BeatsPerBar: TypeAlias = Annotated[
    int,
    IntRange(1),
    "--beats-per-bar N: Beats in a bar of the music; 3 in a waltz.",
    Group.MORE,
]
Slices: TypeAlias = Annotated[
    float | None,
    "--slices N: Length of the playback in slices (quarter beats).",
    Group.MORE,
]
Workers: TypeAlias = Annotated[
    int | None,
    IntRange(1),
    "--workers N: Processes that share many files; by default one for each core.",
    Group.MANY,
]
TimeLimit: TypeAlias = Annotated[
    float | None,
    FloatRange(0.1),
    "--time-limit SECONDS: A file that takes longer fails; by default, 9 of processor "
    "time with --untrusted, and 3600 of many files.",
    Group.MANY,
]
Cluster: TypeAlias = Annotated[
    str | None,
    "--cluster ADDRESS: Use a Dask cluster, such as tcp://host:8786.",
    Group.MANY,
]


def positive(value: float | None) -> float | None:
    """Return the value of an option: None, or finite and greater than 0."""
    if value is not None and not 0 < value < math.inf:
        raise click.BadParameter(f"{value:g} is not a finite number greater than 0")
    return value


def not_negative(value: float | None) -> float | None:
    """Return the value of an option, which must be finite and at least 0, or None."""
    if value is not None and not 0 <= value < math.inf:
        raise click.BadParameter(f"{value:g} is not a finite number of at least 0")
    return value


def numbers(
    option: str,
    text: str,
    counts: Container[int],
    expected: str,
    kind: type[int] | type[float] = float,
    separator: str = ",",
) -> list[Any]:
    """Return finite numbers, separated by `separator`, in the text of an option.

    Their count must be in `counts`, else wrong use.
    """
    try:
        found = [kind(part) for part in text.split(separator)]
    # Then the count is wrong, which is reported below.
    except ValueError:
        found = []
    if len(found) not in counts or not all(map(math.isfinite, found)):
        if len(found) in counts:
            reason = ": a number is not finite"
        else:
            reason = ""
        raise click.BadParameter(
            f"{text!r} is not {expected}{reason}", param_hint=option
        )
    return found


def found_by(
    option: str,
    find: Callable[..., Any],
    *arguments: object,
) -> Any:  # noqa: ANN401
    """Return `find(*arguments)`; an unknown name is wrong use of the option."""
    try:
        return find(*arguments)
    except (KeyError, ValueError) as error:
        raise click.BadParameter(one_line(error.args[0]), param_hint=option) from None


def names(text: str | None) -> tuple[str, ...]:
    """Return the names in a text that separates them by commas."""
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


def name_list(text: str | None) -> list[str] | None:
    """Return the names in the text of an option, None where it is not used."""
    if text:
        return text.split(",")
    return None


def assignments(texts: list[str]) -> dict[str, float]:
    """Return the numbers in texts NAME=VALUE by their names."""
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            # Reported below, with the same message as a text without "=".
            equals = ""
        if not equals:
            raise click.BadParameter(
                f"{text!r} is not NAME=VALUE with a number", param_hint="--set"
            )
    return found


Positive: TypeAlias = Annotated[float | None, positive]
NotNegative: TypeAlias = Annotated[float, not_negative]
Distance: TypeAlias = Annotated[float | None, not_negative]
NameList: TypeAlias = Annotated[str | None, name_list]


_HEADING = re.compile(rf"\n\n({'|'.join(group.value for group in Group)}):\n")
"""A heading above options in the docstring of a command."""


def described(command: Callable[..., Any]) -> Callable[..., Any]:
    """Move the options in the docstring of a command into the types of its parameters.

    They stand at its end, below the headings of their groups (`Group`). An argument
    is `parameter METAVAR: help`, an option `--flag -f METAVAR: help`, with the
    parameter before its flags where these have another name. What else the command
    line needs is in the `Annotated` type of the parameter: a type of click such as
    `IntRange(0)`, or a function that checks and returns the value.
    """
    # The split has the text before the first heading, then heading and table by turns.
    head, *tables = _HEADING.split(
        extended_help(cleandoc(command.__doc__ or ""), command.__name__)
    )
    parameters = dict(signature(command, eval_str=True).parameters)
    for heading, table in zip(tables[::2], tables[1::2], strict=True):
        # An entry is indented by two spaces, its further lines by more.
        for entry in re.split(r"^  (?! )", table, flags=re.MULTILINE)[1:]:
            usage = " ".join(entry.split())
            # `--rate -r HZ` is of the parameter rate, `degrees --input-degrees` of
            # degrees.
            first_word = re.split("[ :/]", usage, maxsplit=1)[0]
            name = first_word.strip("-").replace("-", "_")
            parameters[name] = parameters[name].replace(
                annotation=Annotated[parameters[name].annotation, usage, Group(heading)]
            )
    command.__doc__ = head
    # click, and the other decorators, read the signature: it has the options' texts in
    # its annotations.
    command.__signature__ = signature(command).replace(  # type: ignore[attr-defined]
        parameters=list(parameters.values())
    )
    return command


@described
def reading_options(
    allow_outside: bool | None = None,
    package_paths: list[Path] | None = None,
    apply_humanoid_pose: bool | None = None,
    layout: Literal["unitree"] | None = None,
    columns: NameList = None,
    joint_names: NameList = None,
    link_names: NameList = None,
    frame_rate: Positive = None,
    degrees: bool | None = None,
    quaternion_order: Literal["wxyz", "xyzw"] | None = None,
    unit: Positive = None,
    up: Literal["X", "Y", "Z", "-X", "-Y", "-Z"] | None = None,
    asf: Path | None = None,
    body_model: Path | None = None,
    robot_moves: Path | None = None,
    from_zero: bool | None = None,
    topic: str | None = None,
    parameters: list[str] | None = None,
    time_limit: TimeLimit = None,
) -> None:
    """Define the options of readers, with the names that `bodymotion.load` has.

    Reading the files:
      --allow-outside/--untrusted: Read parts of a model also by absolute paths and by
        symbolic links out of its folder, or only those in its folder. By default,
        relative paths are followed.
      package_paths --package-path FOLDER: A folder with packages of package:// in a
        URDF; may be repeated.
      frame_rate --input-rate HZ: The frame rate of an .amc, and of a .csv, .npz or .pkl
        without times.
      degrees --input-degrees/--input-radians: Unit of angles in a table, .npz, .pkl or
        LeRobot data set that does not state it.

    Reading certain formats:
      --apply-humanoid-pose: Move a .wrl model by the pose of its Humanoid node.
      --layout: The columns of a .csv without names.
      --columns A,B,…: Names for the columns of a .csv.
      --joint-names A,B,…: Names for the joints of an .npz or .pkl.
      --link-names A,B,…: Names for the links of an .npz or .pkl.
      --quaternion-order: Order of quaternions in a .csv, .npz or .pkl that does not
        define it.
      --unit METRES: Unit of length of a .bvh; by default found from its legs.
      --up: The axis of a .bvh that is up; by default found from its poses.
      --asf FILE: The skeleton (.asf) of an .amc.
      --body-model FILE: The body model (SMPL, .npz) with the lengths of the bones of an
        AMASS .npz.
      --robot-moves FILE: The moves that the robot lists, to check a dance by.
      --from-zero: Subtract the first time of a table from all its times.
      --topic NAME: The topic of joints or poses that is read of a log with several.
      parameters --set NAME=VALUE: A parameter of {script}; may be repeated.
    """


def reads_files(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command with the options of readers.

    Its parameter `reading` gets those that were used.

    A command that has a parameter of the same name as one of them has its own option
    instead.
    """
    own = signature(described(command)).parameters
    added = [
        one
        for name, one in signature(reading_options).parameters.items()
        if name not in own
    ]

    @wraps(command)
    def run(**arguments: Any) -> Any:  # noqa: ANN401
        used = {one.name: arguments.pop(one.name) for one in added}
        # A default of the project is no wrong use for files that name no packages.
        if is_project_default("package_paths") and not _has_packages(arguments):
            used["package_paths"] = None
        # `--untrusted` is the other side of `--allow-outside`, and limits memory and
        # time, too.
        if used.get("allow_outside") is False:
            used["untrusted"] = True
        if used.get("parameters"):
            used["parameters"] = assignments(used["parameters"])
        return command(
            **arguments,
            reading={name: value for name, value in used.items() if value is not None},
        )

    kept = [one for name, one in own.items() if name != "reading"]
    run.__signature__ = signature(command).replace(  # type: ignore[attr-defined]
        parameters=[*kept, *added]
    )
    return run


def reports_losses(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command that writes a file, with the option `--strict-losses`."""
    own = signature(command)
    added = Parameter(
        "strict_losses",
        Parameter.POSITIONAL_OR_KEYWORD,
        default=False,
        annotation=StrictLosses,
    )

    @wraps(command)
    def run(*, strict_losses: bool, **arguments: Any) -> Any:  # noqa: ANN401
        # In the context, where `exit_code` finds it: commands have no parameter for it.
        click.get_current_context().meta[STRICT_LOSSES] = strict_losses
        return command(**arguments)

    run.__signature__ = own.replace(  # type: ignore[attr-defined]
        parameters=[*own.parameters.values(), added]
    )
    return run


def is_project_default(name: str) -> bool:
    """Return whether the value of a parameter is a default of the project."""
    context = click.get_current_context(silent=True)
    return (
        context is not None
        and context.get_parameter_source(name) is ParameterSource.DEFAULT_MAP
    )


def _has_packages(arguments: Mapping[str, Any]) -> bool:
    """Return whether a file of a command line may name files of packages."""
    from bodymotion.formats.registry import find_format

    paths: list[Path] = []
    for value in arguments.values():
        if isinstance(value, list):
            entries = value
        else:
            entries = [value]
        paths += [one for one in entries if isinstance(one, Path) and one.is_file()]
    # By format: a URDF may name packages, a .seq cannot.
    for path in paths:
        with suppress(FormatError):
            if "package_paths" in find_format(path).read.options:
                return True
    return False


def flag_of(name: str, command: Callable[..., Any]) -> str:
    """Return the option of a command that sets a parameter.

    `--input-rate` for frame_rate.
    """
    notes = signature(command).parameters[name].annotation.__metadata__
    usage = " ".join(note for note in notes if isinstance(note, str))
    match = re.search("--[a-z-]+", usage)
    assert match is not None
    return match[0]


def check_reading(reading: ReaderOptions, files: Iterable[Path | Format]) -> None:
    """Check that each option of readers has an effect on one of the files.

    Wrong use otherwise.
    """
    from bodymotion.formats.registry import find_format, unused_options

    if not reading:
        return
    rows = []
    # A file of no known format is reported when it is read.
    for path in files:
        with suppress(FormatError):
            rows.append(find_format(path) if isinstance(path, Path) else path)
    for name, titles in unused_options(reading, rows).items():
        raise click.BadParameter(
            f"has no effect on {titles}", param_hint=flag_of(name, reading_options)
        )


def is_large(source: Path, target: Path) -> bool:
    """Return whether a motion is converted from one .seq file to another row by row."""
    from bodymotion.formats.registry import find_format, target_format
    from bodymotion.motion import Motion

    # A small motion takes the way of all other formats.
    if source.stat().st_size <= LARGE or find_format(source).name != "seq":
        return False
    return target_format(Motion(), target).name == "seq"


def kind_of(kind: type) -> str:
    """Return what a file with a value of this type holds.

    "a model", "a motion".
    """
    return with_article(noun_of(kind.__name__))


def noun_of(kind: str) -> str:
    """Return the noun for a kind of value.

    "model" for Body, "pose sequence" for KeyPoses.
    """
    nouns = {"Body": "model", "KeyPoses": "pose sequence"}
    return nouns.get(kind, kind.lower())


def load_motion(
    path: Path,
    reading: ReaderOptions | None = None,
    body: Body | None = None,
    hint: str = "IN",
    advice: str = "",
) -> Motion:
    """Read a motion; a file with something else is wrong use.

    A `body` names the columns of a table. A large file is read only where memory
    suffices, else MemoryError, with `advice` in its message.
    """
    from bodymotion.formats.registry import find_format
    from bodymotion.geometry.arrays import check_memory
    from bodymotion.motion import Motion

    if (
        path.exists()
        and path.stat().st_size > LARGE
        and find_format(path).name == "seq"
    ):
        from bodymotion.formats.seq import open_motion

        # Headers have the number of frames: memory is checked before any is read.
        with open_motion(path) as reader:
            numbers = sum(
                h.num_frames * h.layout.width
                for h in reader.components
                if h.layout is not None
            )
        check_memory(
            BYTES_PER_NUMBER * numbers,
            f"changing {path} as a whole" + (f" ({advice})" if advice else ""),
        )
    return _loaded(path, reading or {}, Motion, hint, body=body)


def load_script(
    path: Path, reading: ReaderOptions, kind: Kind, hint: str = "IN"
) -> Any:  # noqa: ANN401
    """Read a script of a kind; a file with something else is wrong use."""
    return _loaded(path, reading, kind.type, hint)


def load_body(path: Path, reading: ReaderOptions, hint: str = "--body") -> Body:
    """Read a body; a file with something else is wrong use."""
    from bodymotion.model.body import Body

    return _loaded(path, reading, Body, hint)


def _loaded(
    path: Path,
    reading: ReaderOptions,
    kind: type[T],
    hint: str,
    **options: Any,  # noqa: ANN401
) -> T:
    """Read a value of a type; a file with something else is wrong use."""
    from bodymotion.formats.registry import find_format, load

    row = find_format(path)
    return of_kind(
        load(path, format=row.name, **options, **row.options_of(reading)),
        path,
        kind,
        hint,
    )


def of_kind(found: object, path: Path, kind: type[T], hint: str) -> T:
    """Return what a file holds.

    Wrong use where it is of another kind.
    """
    if isinstance(found, kind):
        return found
    # A motion is wanted, and the file is a script that becomes one.
    advice = f"; `bodymotion convert {path} {path.stem}.seq` plays it"
    held_kind = kind_named(type(found).__name__)
    is_played = held_kind is not None and held_kind.has_tempo
    if not is_played or kind.__name__ != "Motion":
        advice = ""
    held = kind_of(type(found))
    wanted = kind_of(kind)
    raise click.BadParameter(
        one_line(f"{path} holds {held}, not {wanted}{advice}"), param_hint=hint
    )


def read_files(
    files: Iterable[Path], reading: ReaderOptions, by_position: bool
) -> list[Any]:
    """Read the files of a command together, and print what was assumed of motions.

    Joints that are missing, names, orders.
    """
    from bodymotion.model.body import Body, fit_problems

    found, motions = _read(files, reading, by_position)
    # Without a body nothing can be assumed about how motions fit it.
    body = next((one for one in found if isinstance(one, Body)), None)
    if body is not None:
        for motion in motions:
            show_problems(fit_problems(motion, body))
    return found


def _read(
    files: Iterable[Path], reading: ReaderOptions, by_position: bool
) -> tuple[list[Any], list[Motion]]:
    """Return what files hold, and the motions among it.

    Print the problems of the bodies and motions.
    """
    from bodymotion.formats.registry import load_together
    from bodymotion.model.body import Body
    from bodymotion.motion import Motion

    found = load_together(files, by_position=by_position, **reading)
    motions = [one for one in found if isinstance(one, Motion)]
    for body in (one for one in found if isinstance(one, Body)):
        show_reading(body)
    for motion in motions:
        show_reading(motion)
    return found, motions


def show_reading(thing: Body | Motion | Skeleton) -> None:
    """Print the problems of a file that was read, without notes."""
    show_problems([problem for problem in thing.problems if problem.severity != "note"])


def load_pair(
    model: Path,
    motion: Path | None,
    reading: ReaderOptions,
    by_position: bool,
    bpm: float | None = None,
) -> tuple[Body, Motion | None]:
    """Read a body and its motion, if any.

    A script is for its own robot, recorded motion has its own body.

    Anything else is wrong use.
    """
    from bodymotion.model.body import Body
    from bodymotion.model.scripts import RobotScript, tempo_error
    from bodymotion.motion import Motion
    from bodymotion.skeleton import Skeleton

    # Measures and simulations report by themselves how a motion fits its body.
    found, _ = _read(
        [path for path in (model, motion) if path is not None], reading, by_position
    )
    # Recorded motion and scripts bring their body.
    if len(found) == 1 and isinstance(found[0], Skeleton):
        return found[0].body_and_motion()
    if len(found) == 1 and isinstance(found[0], RobotScript):
        return found[0].body_and_motion(bpm=bpm)
    # Only scripts have a tempo.
    if bpm is not None:
        raise click.BadParameter(str(tempo_error()), param_hint="--bpm")
    body = of_kind(found[0], model, Body, "MODEL")
    return body, None if motion is None else of_kind(found[1], motion, Motion, "MOTION")


def check_output(path: Path | None, read: Iterable[Path | None] = ()) -> None:
    """Raise, before any work is done, when a file cannot be written.

    It has no folder, is a folder, or is one of those that are `read`.
    """
    if path is not None:
        check_place(path)
        check_not_read(path, [one for one in read if one is not None])
