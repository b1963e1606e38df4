"""`bodymotion convert IN OUT`.

A motion, a model or another value in another format; a motion in another version, order
or unit.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn, TypeAlias

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
SWITCHES = (
    "fix_inertia",
    "strict",
    "by_position",
)  # Options that are not used where they are off.
READER_AND_WRITER_OPTIONS = (
    "layout",
    "link_names",
)  # Options of readers that writers have, too.
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
    content and extension; --from lists them. A motion becomes
    {script}, which is played in turn. Key poses become the motion between them, and a motion
    becomes key poses. What the new file cannot hold is listed on stderr; with
    --strict-losses the exit code is 3 if that matters. OUT is written whole or not at
    all. From .seq to .seq, files of any size are copied piece by piece.

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
    used = dict(locals())
    if len(files) not in (2, 3) or (len(files) == 3 and body is not None):
        raise click.BadParameter(
            f"expected IN OUT, or MODEL IN OUT without --body; got {len(files)} files"
        )
    *models, source, target = files
    if models:
        body = models[0]
    values = {
        name: value for name, value in used.items() if name not in NOT_FOR_FORMATS
    }
    values |= {"body": body, **{name: values[name] or None for name in SWITCHES}}
    options = Options(values, reading, read_as, write_as, every)
    with failures("convert"):
        run(source, target, options)


_Found: TypeAlias = "tuple[Sequence[Problem], Sequence[Problem]]"
"""Problems of the file that was read, as far as they are to be summarized, and those of the conversion."""


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

    def some(self, *names: str) -> dict[str, Any]:
        """Return the used options of these names."""
        return {
            name: self.values[name]
            for name in names
            if self.values.get(name) is not None
        }

    def others(self, names: Collection[str]) -> dict[str, Any]:
        """Return the used options without those of these names."""
        return {
            name: value
            for name, value in self.values.items()
            if value is not None and name not in names
        }


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
    work: Callable[[Path, Path, Format, Options, Bar | None], _Found] = _model
    if _target_kind(origin, target, options.write_as) != origin.holds:
        work = _of_another_kind
    elif origin.holds == "Motion":
        work = _motion
    with progress(f"converting {source.name}") as bar, files_written() as files:
        read, found = work(source, target, origin, options, bar)
    left_out = [
        problem for problem in read if problem.severity == "error" or problem.leaves_out
    ]
    count = {
        kind: sum(problem.severity == kind for problem in read)
        for kind in ("warning", "note")
    }
    if count["warning"]:
        numbers = ", ".join(counted(n, kind) for kind, n in count.items() if n)
        print_message(
            f"{source}: {numbers} while reading; `bodymotion check {source}` lists them"
        )
    conclude(target, (*left_out, *found), options.every, files)


def _with_units(options: Options, origin: Format, target: Path) -> Options:
    """Return the options with the unit of angles as an option of the reader or of the writer."""
    written, either = (
        options.values[name] for name in ("written_degrees", "table_degrees")
    )
    if options.write_as is None:
        goals = [row for row in FORMATS if target.suffix.lower() in row.extensions]
    else:
        goals = [named_format(options.write_as)]
    writes = any("degrees" in row.writes for row in goals)
    if written is not None and not writes:
        raise click.BadParameter(
            f"has no effect on {target.name}", param_hint="--output-degrees"
        )
    reading = dict(options.reading)
    if either is not None:
        reads = origin.name in ("csv", "parquet")
        if reads and writes:
            raise click.BadParameter(
                f"{with_article(origin.title)} and {target.name} both have a unit of "
                "angles; "
                "--input-degrees and --output-degrees state one each",
                param_hint="--degrees",
            )
        if reads:
            reading["degrees"] = either
        elif writes:
            written = either
        else:
            names = f"{with_article(origin.title)} and {target.name}"
            raise click.BadParameter(
                f"has no effect on {names}", param_hint="--degrees"
            )
    values = {
        name: value
        for name, value in options.values.items()
        if name not in ("written_degrees", "table_degrees")
    }
    if written is not None:
        values["degrees"] = written
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


def _target_kind(origin: Format, target: Path, write_as: str | None) -> str:
    """Return what the target holds.

    What the origin holds where a format of that kind fits, else what that can become.
    """
    fitting = {
        row.holds
        for row in FORMATS
        if row.write is not None and target.suffix.lower() in row.extensions
    }
    if write_as is not None:
        fitting = {named_format(write_as).holds}
    kinds = (origin.holds, *CONVERTIBLE.get(origin.holds, ()))
    return next((kind for kind in kinds if kind in fitting), origin.holds)


def _model(
    source: Path, target: Path, origin: Format, options: Options, bar: Bar | None
) -> _Found:
    """Convert a model, or a script to another format of its kind."""
    from bodymotion.model.body import Body

    changes = ("scale", "root", "fix_inertia") if origin.holds == "Body" else ()
    thing = load(source, format=origin.name, **origin.options_of(options.reading))
    goal = target_format(thing, target, options.write_as)
    writing = _fitting(options.others(changes), goal)
    _check_model_options(writing, goal)
    read: tuple[Problem, ...] = tuple(thing.problems)
    found: tuple[Problem, ...] = ()
    if isinstance(thing, Body):
        thing, found = _changed(thing, options)
        if "gains" in writing:
            from bodymotion.formats.gains import read_gains

            writing["gains"] = read_gains(writing["gains"], thing)
    assert goal.write is not None
    return read, (*found, *goal.write(thing, target, **writing))


def _check_model_options(writing: dict[str, Any], goal: Format) -> None:
    from bodymotion.formats.urdf.writer import is_package_name

    package, mesh, names = (
        writing.get(name) for name in ("package", "mesh", "link_names")
    )
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


def _changed(body: "Body", options: Options) -> "tuple[Body, tuple[Problem, ...]]":
    """Return the body with the changes of the options, and the problems of these."""
    from bodymotion.editing import reroot, scale
    from bodymotion.model.inertias import repaired

    known = len(body.problems)
    root = options.values["root"]
    factor = options.values["scale"]
    if root is not None:
        body = found_by("--root", reroot, body, root)
    if factor is not None:
        body = scale(body, factor)
    found = body.problems[known:]
    if options.values["fix_inertia"]:
        body, more = repaired(body)
        # A wanted change is no loss.
        found = (*found, *(replace(problem, severity="note") for problem in more))
    return body, found


def _motion(
    source: Path, target: Path, origin: Format, options: Options, bar: Bar | None
) -> _Found:
    from bodymotion.model.body import by_position
    from bodymotion.motion import Motion

    rate, method, model = (options.values[name] for name in ("rate", "method", "body"))
    if method is not None and rate is None:
        raise click.BadParameter("needs a frame rate: --rate HZ", param_hint="--method")
    goal = target_format(Motion(), target, options.write_as)
    # A layout and a unit are those of IN where that is a table without names, else
    # those of OUT.
    both = origin.options_of(options.some(*READER_AND_WRITER_OPTIONS))
    is_read = both.get("layout") == "unitree" and origin.name in ("csv", "parquet")
    read = {one: both[one] for one in both if one != "layout" or is_read}
    write = _fitting(
        options.others({*read, "rate", "method", "body", "by_position"}), goal
    )
    read |= origin.options_of(options.reading)
    if model is None:
        body = None
    else:
        body = load_body(model, options.reading)
    by_place = bool(options.values["by_position"])
    if body is not None and "body" in origin.read.options and not by_place:
        read["body"] = body
    if body is not None and "body" in goal.writes:
        write["body"] = body
    if origin.name == goal.name == "seq":
        if body is not None:
            problems = None
        else:
            problems = _piece_by_piece(source, target, write, rate, method, bar)
        if problems is not None:
            return (), problems
    if origin.name == "seq" and not read:
        motion = load_motion(
            source,
            advice="with --rate, --method after, nearest, before and linear need less",
        )
    else:
        motion = load(source, format=origin.name, **read)
    if by_place and body is not None:
        motion = by_position(motion, body)
    if body is None or "body" in write:
        changed = motion
    else:
        changed = _in_order(motion, body)
    if rate is not None:
        changed = changed.resample(rate, method or "linear")
        if method is not None:
            print_method(method, rate)
    assert goal.write is not None
    return (), (*changed.problems, *goal.write(changed, target, **write))


def _piece_by_piece(
    source: Path,
    target: Path,
    write: dict[str, Any],
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

    notation = {name: value for name, value in write.items() if name != "frame_time"}
    with open_motion(source) as reader:
        if rate is None and can_copy(
            reader, write.get("version"), write.get("frame_time")
        ):
            return copy_seq(
                reader, target, Notation(**notation), write.get("frame_time"), bar
            )
        used: Method = method or "linear"
        if (
            rate is None
            or write.get("frame_time")
            or used not in (*HOLDING, "linear")
            or not is_large(source, target)
        ):
            return None
        from bodymotion.editing.streaming import resample_file

        if method is not None:
            print_method(method, rate)
        return resample_file(source, target, rate, used, progress=bar, **notation)


def _in_order(motion: "Motion", body: "Body") -> "Motion":
    """Return the motion with columns that are named by joints of a body in the order of joint ids.

    A note where there are none.
    """
    from bodymotion.editing.rules import IDLE
    from bodymotion.formats.tables.columns import by_joint_id
    from bodymotion.model.body import matched
    from bodymotion.motion import MultiValueSeq

    def is_named(component: object) -> bool:
        labels = [label for label in getattr(component, "part_labels", ()) if label]
        of_joints = component is motion.joint_displacement or -1 not in matched(
            labels, body
        )
        return isinstance(component, MultiValueSeq) and bool(labels) and of_joints

    if any(map(is_named, motion.components)):
        return motion.replaced(
            *(
                by_joint_id(c, body, whole=False)
                if isinstance(c, MultiValueSeq) and is_named(c)
                else c
                for c in motion.components
            )
        )
    message = f"no column has a name: the columns keep their order, that of the joints of {body.name or 'the body'}"
    return motion.replaced(*motion.components, problems=[IDLE.problem(message)])


def _of_another_kind(
    source: Path, target: Path, origin: Format, options: Options, bar: Bar | None
) -> _Found:
    """Make a motion of a script or key poses, or a script or key poses of a motion."""
    from bodymotion.keyposes import KeyPoses
    from bodymotion.motion import Motion

    kind = _target_kind(origin, target, options.write_as)
    body: Body | None = None
    of_body: dict[str, Body] = {}
    if "KeyPoses" in (origin.holds, kind):
        if options.values["body"] is None:
            example = f"bodymotion convert robot.wrl {source} {target}"
            raise click.BadParameter(
                f"key poses need the model that they are for: {example}",
                param_hint="--body",
            )
        body = load_body(options.values["body"], options.reading)
        of_body = {"body": body}
    making = options.some(*CONVERSION_OPTIONS.get((origin.holds, kind), ()))
    script_kind = kind_named(kind)
    played_kind = kind_named(origin.holds)
    empty: object = Motion() if kind == "Motion" else KeyPoses()
    if script_kind is not None:
        empty = script_kind.type()
    goal = target_format(empty, target, options.write_as)
    if of_body:
        reading = {}
    else:
        reading = origin.options_of(options.some(*READER_AND_WRITER_OPTIONS))
    writing = _fitting(
        options.others(
            {*making, *reading, *(("body", "by_position") if of_body else ())}
        ),
        goal,
    )
    thing = load(
        source,
        format=origin.name,
        **reading,
        **origin.options_of({**options.reading, **of_body}),
    )
    if "rate" in making:
        making["frame_rate"] = making.pop("rate")
    if kind == "KeyPoses":
        made = _made(
            source, KeyPoses.from_motion, thing, body, name=target.stem, **making
        )
    elif script_kind is not None:
        from_motion = script_kind.function("from_motion")
        assert from_motion is not None
        made = _made(source, from_motion, thing, target, **making)
    elif played_kind is not None:
        to_motion = played_kind.function("to_motion")
        assert to_motion is not None
        made = _made(source, to_motion, thing, **making)
    else:
        made = _made(source, thing.to_motion, *of_body.values(), **making)
    assert goal.write is not None
    found = tuple(
        goal.write(
            made,
            target,
            **writing,
            **({"body": body} if of_body and "body" in goal.writes else {}),
        )
    )
    if of_body or (played_kind is not None and played_kind.has_tempo):
        lost = ()
    else:
        lost = made.problems
    return tuple(thing.problems), (*lost, *found)


def _made(
    source: Path,
    make: Callable[..., Any],
    *arguments: object,
    **options: Any,  # noqa: ANN401
) -> Any:  # noqa: ANN401
    """Return what a function makes of the value of a file.

    A value that it cannot use is a fault of the file.
    """
    try:
        return make(*arguments, **options)
    except ValueError as error:
        raise UNWRITABLE.error(str(error), Location(str(source)), "") from error


def write_data_set(folder: Path, convert_all: Callable[[Path, Path], int]) -> int:
    """Write a data set of LeRobot, and return the exit code.

    `convert_all(parts, rows)` writes a table for each motion into a folder.
    """
    from bodymotion.collection import open_collection, write_lerobot

    check_place(folder)
    with temporary_folder(folder) as above:
        parts = above / "parts"
        code = convert_all(parts, above / "results.jsonl")
        if code not in (0, LOST):
            print_message(f"{folder}: not written")
            return code
        clips = open_collection(parts)
        names = [clip.name.removesuffix(".parquet") for clip in clips]
        lost = write_lerobot(
            (clip.load(degrees=False) for clip in clips), folder, tasks=names
        )
    show_problems(lost)
    written(folder, f"{counted(len(names), 'episode')} written")
    return max(code, exit_code(lost))
