"""`bodymotion convert IN OUT`.

A motion, a model or another value in another format; a motion in another version, order
or unit.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, NoReturn

import click
from click import FloatRange, IntRange

from bodymotion.cli import failures
from bodymotion.cli.help import Group
from bodymotion.cli.options import (
    ByPosition,
    NameList,
    Positive,
    ReaderOptions,
    check_reading,
    flag_of,
    found_by,
    is_large,
    load_body,
    load_motion,
    reads_files,
    reports_losses,
)
from bodymotion.cli.output import (
    LOST,
    Bar,
    conclude,
    exit_code,
    print_message,
    print_method,
    progress,
    show_problems,
    written,
)
from bodymotion.diagnostics import Location, Problem
from bodymotion.diagnostics.text import counted, with_article
from bodymotion.extensions import kind_named, kinds
from bodymotion.formats.registry import (
    FORMATS,
    Format,
    find_format,
    load,
    named_format,
    target_format,
)
from bodymotion.formats.rules import UNWRITABLE
from bodymotion.system.files import check_place, files_written, temporary_folder

if TYPE_CHECKING:
    from bodymotion.model.body import Body
    from bodymotion.motion import Motion
    from bodymotion.motion.interpolation import Method

NAMES = ", ".join(
    f"{row.name} ({' '.join(row.extensions)})" if row.extensions else row.name
    for row in FORMATS
)

NOT_FOR_FORMATS = {"files", "reading", "read_as", "write_as", "every"}
"""Parameters of the command that are no options of readers, writers or changes."""
SWITCHES = ("fix_inertia", "strict", "by_position")
"""Options that are not used where they are off."""
READER_AND_WRITER_OPTIONS = ("layout", "link_names")
"""Options of readers that writers have, too."""
MESHES = {
    "openhrp": ("inline", "parts"),
    "urdf": ("obj", "stl", "glb"),
    "mjcf": ("obj", "stl"),
}
"""The formats in which the writers of models can write meshes."""
_FROM_MOTION = [kind for kind in kinds() if kind.function("from_motion")]
_TO_MOTION = [kind for kind in kinds() if kind.function("to_motion")]
CONVERTIBLE = {
    "Motion": (*(kind.name for kind in _FROM_MOTION), "KeyPoses"),
    "KeyPoses": ("Motion",),
    **{kind.name: ("Motion",) for kind in _TO_MOTION},
}
"""Kinds of values that become others."""
CONVERSION_OPTIONS = {
    **{("Motion", kind.name): kind.from_motion_options for kind in _FROM_MOTION},
    **{(kind.name, "Motion"): kind.to_motion_options for kind in _TO_MOTION},
    ("Motion", "KeyPoses"): ("tolerance",),
    ("KeyPoses", "Motion"): ("rate", "steps", "automatic_zmp"),
}
"""Options for conversions from one kind of value to another."""


@reports_losses
@reads_files
def convert(
    reading: ReaderOptions,
    files: list[Path],
    read_as: Annotated[
        str | None,
        f"--from FORMAT: The format of IN, whatever its content: {NAMES}.",
        Group.READING,
    ] = None,
    write_as: str | None = None,
    version: Literal["1", "2", "3", "4"] | None = None,
    style: Literal["block", "json", "canonical"] | None = None,
    se3_format: Literal["XYZQWQXQYQZ", "XYZQXQYQZQW", "XYZRPY"] | None = None,
    frame_time: bool | None = None,
    encoding: Literal["cdr", "json"] | None = None,
    digits: Annotated[int | None, IntRange(1, 15)] = None,
    rate: Positive = None,
    method: Literal["after", "nearest", "before", "linear", "cubic", "pchip"]
    | None = None,
    body: Path | None = None,
    layout: Literal["unitree", "beyondmimic"] | None = None,
    link_names: NameList = None,
    written_degrees: bool | None = None,
    table_degrees: bool | None = None,
    mesh: Literal["inline", "parts", "glb", "obj", "stl"] | None = None,
    scale: Positive = None,
    root: str | None = None,
    fix_inertia: bool = False,
    strict: bool = False,
    self_collision: Literal["none", "touching", "all"] | None = None,
    actuators: Literal["motor", "position", "none"] | None = None,
    gains: Path | None = None,
    collision_shapes: Literal["mesh", "hull", "box"] | None = None,
    friction: Annotated[float | None, FloatRange(0)] = None,
    package: str | None = None,
    move_params_config: Path | None = None,
    steps: Literal["stealthy", "toe", "none"] | None = None,
    automatic_zmp: bool | None = None,
    tolerance: Positive = None,
    legs: Literal["joints", "feet"] | None = None,
    bpm: Positive = None,
    by_position: ByPosition = False,
    every: bool = False,
) -> None:
    """Convert a motion or a model to another format.

    A motion can also get another version, order or unit. Formats are recognized by
    content and extension; --from lists them. A motion becomes {script}, which is played
    in turn. Key poses become the motion between them, and a motion becomes key poses.
    What the new file cannot hold is listed on stderr; with --strict-losses the exit
    code is 3 if that matters. OUT is written whole or not at all. From .seq to .seq,
    files of any size are copied piece by piece.

    \b
    Examples:
      bodymotion convert walk.seq old.seq --seq-version 1
      bodymotion convert walk.seq walk.json
      bodymotion convert table.csv walk.seq --input-rate 200 --degrees --body robot.wrl
      bodymotion convert lafan.csv dance.seq --layout unitree
      bodymotion convert Sample.pos sample.seq --from-zero
      bodymotion convert SR1.wrl sr1.urdf --mesh stl
      bodymotion convert SR1.wrl sr1.xml --actuators position
      bodymotion convert robot.wrl dance.pseq dance.seq
      bodymotion convert robot.wrl walk.seq walk.pseq --fit 0.02

    Options:
      files [MODEL] IN OUT: A motion, a model or key poses; and the new file, whose
        extension names the format: it may be IN. A MODEL before them is that of --body.
      write_as --to FORMAT: The format of OUT, whatever its extension; lerobot is a new
        folder with one data set of all motions.
      version --seq-version: The version of a .seq; by default that of IN, 4 for other
        formats.
      --rate -r HZ: Resample the motion to this frame rate.
      --body -b MODEL: Model whose joints name the columns of a table; the columns of
        OUT are in its order.
      --mesh: Where meshes are written: into a .wrl (inline) or files beside it (parts);
        beside a URDF or MJCF as glb, obj, stl.
      --scale FACTOR: Multiply all lengths of a model by this; masses stay. 0.001
        converts millimetres to metres.
      --actuators: Actuators of an MJCF: torques (motor, the default), servos
        (position), or none.

    More options:
      --style: Of a .seq: block (YAML as in the documents) or json. Of a script:
        canonical, the order of its document. By default as IN.
      --se3-format: Order of the numbers of a pose in a .seq.
      --encoding: Of the messages of an .mcap: cdr of ROS 2, or json.
      --frame-time/--no-frame-time: Write time stamps with all frames, or with none.
      --digits: Round values to this number of significant digits.
      --method -m: Interpolation with --rate; see retime.
      --link-names A,B,…: Names for the links of an .npz; `segments` names the links of
        a URDF after their segments.
      --root LINK: Make this link the root link.
      --fix-inertia: Repair impossible masses and inertias; each repair is reported.
      --strict: Reject masses and inertias that MuJoCo rejects. By default they are
        repaired for an MJCF.
      --self-collision: Links of an MJCF that do not collide with each other: all
        (none), those that overlap at rest (touching, the default), or only those of one
        joint (all).
      --gains FILE: Gains of position actuators: a line `kp kd` or `name kp kd` for each
        joint.
      --collision-shapes: Collision meshes of an MJCF: as they are (mesh), as hulls of
        64 vertices, or as boxes.
      --friction: Coefficient of friction of the floor of an MJCF; 1 by default.
      --package NAME: Name a URDF's meshes as package://NAME/…
      move_params_config --move-params FILE: The MoveParamsConfig of a robot: limits of
        parameters that a script only names.
      --steps: How feet depart and arrive between key poses: they rise first (stealthy),
        or roll over the toe.
      automatic_zmp --zmp/--no-zmp: Add a zero moment point to key poses without one; by
        default on.
      tolerance --fit TOLERANCE: Maximum error of key poses that are made from a motion
        [rad or m]; 0.01 by default.
      --legs: How {script} that is made from a motion describes the legs:
        joint angles or foot positions.
      --bpm BPM: Beats per minute of the script that is written, or at which one is
        played.

    Reading the files:
      --layout: Columns of a table without names: of IN if that is a .csv, else of OUT.
      table_degrees --degrees/--radians: The same where only OUT is a table;
        --input-degrees, --input-radians where only IN is a table.

    More output:
      written_degrees --output-degrees/--output-radians: Unit of angles in OUT, if that
        is a table.
      every --all: Report every loss; by default those of one rule are grouped.
    """  # noqa: D301
    parameters = dict(locals())
    if len(files) not in (2, 3) or (len(files) == 3 and body is not None):
        raise click.BadParameter(
            f"expected IN OUT, or MODEL IN OUT without --body; got {len(files)} files"
        )
    *models, source, target = files
    if models:
        body = models[0]
    values = {
        name: value for name, value in parameters.items() if name not in NOT_FOR_FORMATS
    }
    values["body"] = body
    # False means that the switch was not used: None, as of all other options.
    for name in SWITCHES:
        values[name] = values[name] or None
    options = Options(values, reading, read_as, write_as, every)
    with failures("convert"):
        run(source, target, options)


class _Losses(NamedTuple):
    """Problems of a conversion.

    Attributes
    ----------
    of_reading:
        Of the file that was read, as far as they are to be summarized.
    of_writing:
        Of the conversion and of the new file.
    """

    of_reading: Sequence[Problem]
    of_writing: Sequence[Problem]


@dataclass(frozen=True)
class Options:
    """The options on the command line.

    Those of readers, and others, whose values in `values` are None if they were not
    used.
    """

    values: Mapping[str, Any]
    reading: ReaderOptions
    read_as: str | None = None
    write_as: str | None = None
    every: bool = False

    @property
    def used(self) -> dict[str, Any]:
        """The options that were used."""
        return {name: value for name, value in self.values.items() if value is not None}

    def some(self, *names: str) -> dict[str, Any]:
        """Return the used options of these names."""
        return {name: value for name, value in self.used.items() if name in names}

    def others(self, names: Collection[str]) -> dict[str, Any]:
        """Return the used options without those of these names."""
        return {name: value for name, value in self.used.items() if name not in names}


@dataclass(frozen=True)
class _Conversion:
    """A file, its format, and the file that it becomes."""

    source: Path
    target: Path
    origin: Format
    options: Options

    @property
    def target_kind(self) -> str:
        """What the target holds.

        What the origin holds where a format of that kind fits, else what that can
        become.
        """
        suffix = self.target.suffix.lower()
        # The kinds that can be written with this extension.
        fitting = {
            row.holds
            for row in FORMATS
            if row.write is not None and suffix in row.extensions
        }
        if self.options.write_as is not None:
            fitting = {named_format(self.options.write_as).holds}
        for kind in (self.origin.holds, *CONVERTIBLE.get(self.origin.holds, ())):
            if kind in fitting:
                return kind
        return self.origin.holds

    def goal_for(self, value: object) -> Format:
        """Return the format of the target for a value."""
        return target_format(value, self.target, self.options.write_as)

    def write(
        self, value: object, goal: Format, writing: Mapping[str, Any]
    ) -> Sequence[Problem]:
        """Write a value with options of the writer, and return what was lost."""
        assert goal.write is not None
        return tuple(goal.write(value, self.target, **writing))


def run(source: Path, target: Path, options: Options) -> NoReturn:
    """Convert a file, report what was lost, and end with the exit code."""
    if options.write_as is not None:
        found_by("--to", named_format, options.write_as)
    if options.read_as is None:
        origin = find_format(source)
    else:
        origin = found_by("--from", named_format, options.read_as)
    options = _with_units(options, origin, target)
    body = options.values["body"]
    check_reading(options.reading, [origin, *([] if body is None else [body])])
    conversion = _Conversion(source, target, origin, options)
    with progress(f"converting {source.name}") as bar, files_written() as files:
        # Three ways: to another kind of value, between motions, and between models or
        # scripts.
        if conversion.target_kind != origin.holds:
            losses = _convert_to_another_kind(conversion)
        elif origin.holds == "Motion":
            losses = _Losses((), _convert_motion(conversion, bar))
        else:
            losses = _convert_model(conversion)
    _report_reading(source, losses.of_reading)
    # Of the problems of reading only losses count for `--strict-losses`: errors, and
    # what was not read.
    left_out = [
        problem
        for problem in losses.of_reading
        if problem.severity == "error" or problem.leaves_out
    ]
    conclude(target, (*left_out, *losses.of_writing), options.every, files)


def _report_reading(source: Path, problems: Sequence[Problem]) -> None:
    """Print how many warnings a file has, if any."""
    severities = Counter(problem.severity for problem in problems)
    # Notes alone are not worth a line.
    if severities["warning"]:
        numbers = [
            counted(severities[severity], severity)
            for severity in ("warning", "note")
            if severities[severity]
        ]
        print_message(
            f"{source}: {', '.join(numbers)} while reading; "
            f"`bodymotion check {source}` lists them"
        )


def _with_units(options: Options, origin: Format, target: Path) -> Options:
    """Return the options with the unit of angles as one of the reader or the writer."""
    values = dict(options.values)
    written_degrees = values.pop("written_degrees")
    table_degrees = values.pop("table_degrees")
    # The formats that OUT may become.
    goals = [row for row in FORMATS if target.suffix.lower() in row.extensions]
    if options.write_as is not None:
        goals = [named_format(options.write_as)]
    has_written_unit = any("degrees" in row.writes for row in goals)
    has_read_unit = origin.name in ("csv", "parquet")
    if written_degrees is not None and not has_written_unit:
        raise click.BadParameter(
            f"has no effect on {target.name}", param_hint="--output-degrees"
        )
    reading = dict(options.reading)
    # `--degrees` is for the only table of the two files. With two it would be
    # ambiguous.
    if table_degrees is not None:
        both = f"{with_article(origin.title)} and {target.name}"
        if has_read_unit and has_written_unit:
            raise click.BadParameter(
                f"{both} both have a unit of angles; --input-degrees and "
                "--output-degrees state one each",
                param_hint="--degrees",
            )
        if has_read_unit:
            reading["degrees"] = table_degrees
        elif has_written_unit:
            written_degrees = table_degrees
        else:
            raise click.BadParameter(f"has no effect on {both}", param_hint="--degrees")
    if written_degrees is not None:
        values["degrees"] = written_degrees
    return replace(options, values=values, reading=reading)


def _fitting(used: Mapping[str, Any], format: Format) -> dict[str, Any]:
    """Return used options that the writer of a format has.

    One that it does not have is wrong use.
    """
    for name in used:
        if name == "body" or name not in format.writes:
            flag = flag_of(name, convert)
            raise click.BadParameter(
                f"has no effect on {with_article(format.title)}", param_hint=flag
            )
    return dict(used)


def _convert_model(conversion: _Conversion) -> _Losses:
    """Convert a model, or a script to another format of its kind."""
    from bodymotion.model.body import Body

    origin = conversion.origin
    options = conversion.options
    changes = ("scale", "root", "fix_inertia") if origin.holds == "Body" else ()
    value = load(
        conversion.source, format=origin.name, **origin.options_of(options.reading)
    )
    goal = conversion.goal_for(value)
    # Changes of the body are no options of a writer.
    writing = _fitting(options.others(changes), goal)
    _check_model_options(writing, goal)
    of_reading = tuple(value.problems)
    of_changes: tuple[Problem, ...] = ()
    if isinstance(value, Body):
        value, of_changes = _change_body(value, options)
        if "gains" in writing:
            from bodymotion.formats.gains import read_gains

            writing["gains"] = read_gains(writing["gains"], value)
    of_writing = conversion.write(value, goal, writing)
    return _Losses(of_reading, (*of_changes, *of_writing))


def _check_model_options(writing: dict[str, Any], goal: Format) -> None:
    """Raise BadParameter for values that the writer of a model does not have."""
    from bodymotion.formats.urdf.writer import is_package_name

    package = writing.get("package")
    mesh = writing.get("mesh")
    names = writing.get("link_names")
    # --link-names is a list for an .npz; for a URDF it has the one value `segments`.
    if names is not None:
        if names != ["segments"]:
            raise click.BadParameter(
                "a URDF names its links after links or `segments`",
                param_hint="--link-names",
            )
        writing["link_names"] = "segments"
    if package is not None and not is_package_name(package):
        raise click.BadParameter(
            f"{package!r:.60} is not a name of a ROS package", param_hint="--package"
        )
    if mesh is not None and mesh not in MESHES[goal.name]:
        raise click.BadParameter(
            f"meshes of {goal.title} are written as {' or '.join(MESHES[goal.name])}",
            param_hint="--mesh",
        )


def _change_body(body: "Body", options: Options) -> "tuple[Body, tuple[Problem, ...]]":
    """Return the body with the changes of the options, and the problems of these."""
    from bodymotion.editing import reroot, scale
    from bodymotion.model.inertias import repaired

    # Problems are appended by each change: those from here on are of the changes.
    num_read = len(body.problems)
    root = options.values["root"]
    factor = options.values["scale"]
    if root is not None:
        body = found_by("--root", reroot, body, root)
    if factor is not None:
        body = scale(body, factor)
    problems = body.problems[num_read:]
    if options.values["fix_inertia"]:
        body, repairs = repaired(body)
        # A wanted change is no loss.
        notes = [replace(problem, severity="note") for problem in repairs]
        problems = (*problems, *notes)
    return body, problems


def _convert_motion(conversion: _Conversion, bar: Bar | None) -> Sequence[Problem]:
    """Convert a motion, and return what was lost."""
    from bodymotion.model.body import by_position
    from bodymotion.motion import Motion

    origin = conversion.origin
    options = conversion.options
    rate = options.values["rate"]
    method = options.values["method"]
    if method is not None and rate is None:
        raise click.BadParameter("needs a frame rate: --rate HZ", param_hint="--method")
    goal = conversion.goal_for(Motion())
    reading = _shared_options(origin, options)
    # What is left is for the writer; an option that it lacks is wrong use.
    writing = _fitting(
        options.others({*reading, "rate", "method", "body", "by_position"}), goal
    )
    reading |= origin.options_of(options.reading)
    reads_by_position = bool(options.values["by_position"])
    body = None
    if options.values["body"] is not None:
        body = load_body(options.values["body"], options.reading)
        # Readers of tables name and order the columns by the body; by position they
        # must not.
        if "body" in origin.read.options and not reads_by_position:
            reading["body"] = body
        if "body" in goal.writes:
            writing["body"] = body
    # A large .seq need not fit into memory.
    if origin.name == goal.name == "seq" and body is None:
        losses = _piece_by_piece(
            conversion.source, conversion.target, writing, rate, method, bar
        )
        if losses is not None:
            return losses
    motion = _load(conversion, reading)
    if body is not None:
        if reads_by_position:
            motion = by_position(motion, body)
        # Writers that take the body put the joints in order themselves.
        if "body" not in writing:
            motion = _in_order(motion, body)
    if rate is not None:
        motion = motion.resample(rate, method or "linear")
        if method is not None:
            print_method(method, rate)
    return (*motion.problems, *conversion.write(motion, goal, writing))


def _shared_options(origin: Format, options: Options) -> dict[str, Any]:
    """Return the options of the reader that the writer may have, too.

    A layout is that of IN where that is a table without names, else that of OUT.
    """
    shared = origin.options_of(options.some(*READER_AND_WRITER_OPTIONS))
    # Only `unitree` is a layout of tables without names; other layouts are for the
    # writer.
    is_table = origin.name in ("csv", "parquet")
    if not is_table or shared.get("layout") != "unitree":
        shared.pop("layout", None)
    return shared


def _load(conversion: _Conversion, reading: Mapping[str, Any]) -> "Motion":
    """Read the motion, a large one only where memory suffices."""
    if conversion.origin.name == "seq" and not reading:
        return load_motion(
            conversion.source,
            advice="with --rate, --method after, nearest, before and linear need less",
        )
    motion: Motion = load(conversion.source, format=conversion.origin.name, **reading)
    return motion


def _piece_by_piece(
    source: Path,
    target: Path,
    writing: dict[str, Any],
    rate: float | None,
    method: "Method | None",
    bar: Bar | None,
) -> tuple[Problem, ...] | None:
    """Convert .seq to .seq piece by piece.

    Return None where the motion is needed as a whole, or is small.
    """
    from bodymotion.formats.seq import open_motion
    from bodymotion.formats.seq.writer import Notation, can_copy, copy_seq
    from bodymotion.motion.interpolation import HOLDING

    frame_time = writing.get("frame_time")
    notation = {key: value for key, value in writing.items() if key != "frame_time"}
    # Two ways in little memory: all rows are copied, or they are resampled one by one.
    with open_motion(source) as reader:
        if rate is None and can_copy(reader, writing.get("version"), frame_time):
            return copy_seq(reader, target, Notation(**notation), frame_time, bar)
        used_method: Method = method or "linear"
        can_stream = used_method in (*HOLDING, "linear") and not frame_time
        if rate is None or not can_stream or not is_large(source, target):
            return None
        from bodymotion.editing.streaming import resample_file

        if method is not None:
            print_method(method, rate)
        return resample_file(
            source, target, rate, used_method, progress=bar, **notation
        )


def _in_order(motion: "Motion", body: "Body") -> "Motion":
    """Return the motion with its named columns in the order of joint ids.

    A note where no column has the name of a joint.
    """
    from bodymotion.editing.rules import IDLE
    from bodymotion.formats.tables.columns import by_joint_id
    from bodymotion.model.body import matched
    from bodymotion.motion import MultiValueSeq

    components = []
    has_names = False
    for component in motion.components:
        labels = [label for label in getattr(component, "part_labels", ()) if label]
        if isinstance(component, MultiValueSeq) and labels:
            is_displacement = component is motion.joint_displacement
            # Other values, such as torques, are those of joints if all names are.
            if is_displacement or -1 not in matched(labels, body):
                component = by_joint_id(component, body, whole=False)
                has_names = True
        components.append(component)
    if has_names:
        return motion.replaced(*components)
    message = (
        "no column has a name: the columns keep their order, that of the joints of "
        f"{body.name or 'the body'}"
    )
    return motion.replaced(*motion.components, problems=[IDLE.problem(message)])


def _convert_to_another_kind(conversion: _Conversion) -> _Losses:
    """Make a motion of a script or key poses, or a script or key poses of a motion."""
    from bodymotion.keyposes import KeyPoses
    from bodymotion.motion import Motion

    origin = conversion.origin
    options = conversion.options
    kind = conversion.target_kind
    making = options.some(*CONVERSION_OPTIONS.get((origin.holds, kind), ()))
    needs_body = "KeyPoses" in (origin.holds, kind)
    if needs_body:
        body = _needed_body(conversion)
        shared = {}
        used = options.others({*making, "body", "by_position"})
        reading = origin.options_of({**options.reading, "body": body})
    else:
        body = None
        shared = origin.options_of(options.some(*READER_AND_WRITER_OPTIONS))
        used = options.others({*making, *shared})
        reading = origin.options_of(options.reading)
    script_kind = kind_named(kind)
    # The format of OUT is found from a value of its kind, before IN is read: wrong use
    # ends at once.
    empty: object = Motion() if kind == "Motion" else KeyPoses()
    if script_kind is not None:
        empty = script_kind.type()
    goal = conversion.goal_for(empty)
    writing = _fitting(used, goal)
    value = load(conversion.source, format=origin.name, **shared, **reading)
    made = _make(conversion, value, body, making)
    if needs_body and "body" in goal.writes:
        writing["body"] = body
    of_writing = conversion.write(made, goal, writing)
    origin_kind = kind_named(origin.holds)
    # Key poses and scripts that are played have the problems of what they are made of.
    if not needs_body and (origin_kind is None or not origin_kind.has_tempo):
        of_writing = (*made.problems, *of_writing)
    return _Losses(tuple(value.problems), of_writing)


def _needed_body(conversion: _Conversion) -> "Body":
    """Return the body that key poses are for."""
    options = conversion.options
    if options.values["body"] is None:
        example = (
            f"bodymotion convert robot.wrl {conversion.source} {conversion.target}"
        )
        raise click.BadParameter(
            f"key poses need the model that they are for: {example}",
            param_hint="--body",
        )
    return load_body(options.values["body"], options.reading)


def _make(
    conversion: _Conversion,
    value: Any,  # noqa: ANN401
    body: "Body | None",
    making: dict[str, Any],
) -> Any:  # noqa: ANN401
    """Return a value of another kind.

    A value that it cannot be made of is a fault of the file.
    """
    from bodymotion.keyposes import KeyPoses

    source = conversion.source
    target = conversion.target
    # Functions have the parameter `frame_rate`, the command has `--rate`.
    if "rate" in making:
        making["frame_rate"] = making.pop("rate")
    script_kind = kind_named(conversion.target_kind)
    origin_kind = kind_named(conversion.origin.holds)
    try:
        if conversion.target_kind == "KeyPoses":
            assert body is not None
            return KeyPoses.from_motion(value, body, name=target.stem, **making)
        if script_kind is not None:
            from_motion = script_kind.function("from_motion")
            assert from_motion is not None
            return from_motion(value, target, **making)
        if origin_kind is not None:
            to_motion = origin_kind.function("to_motion")
            assert to_motion is not None
            return to_motion(value, **making)
        return value.to_motion(body, **making)
    except ValueError as error:
        raise UNWRITABLE.error(str(error), Location(str(source)), "") from error


def write_data_set(folder: Path, convert_all: Callable[[Path, Path], int]) -> int:
    """Write a data set of LeRobot, and return the exit code.

    `convert_all(parts, rows)` writes a table for each motion into a folder.
    """
    from bodymotion.collection import open_collection, write_lerobot

    check_place(folder)
    with temporary_folder(folder) as above:
        # First all motions are converted, each by itself, so that a faulty one ends
        # before the data set is begun.
        parts = above / "parts"
        code = convert_all(parts, above / "results.jsonl")
        if code not in (0, LOST):
            print_message(f"{folder}: not written")
            return code
        clips = open_collection(parts)
        names = [clip.name.removesuffix(".parquet") for clip in clips]
        # Read one after another: never more than one is in memory.
        lost = write_lerobot(
            (clip.load(degrees=False) for clip in clips), folder, tasks=names
        )
    show_problems(lost)
    written(folder, f"{counted(len(names), 'episode')} written")
    return max(code, exit_code(lost))
