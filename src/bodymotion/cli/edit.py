"""`bodymotion edit IN OUT --STEP…`.

Change a motion, step by step, in the order of the command line.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from bodymotion.cli import failures
from bodymotion.cli.contained import ContainedCommand
from bodymotion.cli.options import (
    ByPosition,
    NotNegative,
    ReaderOptions,
    check_output,
    check_reading,
    is_large,
    load_body,
    load_motion,
    load_script,
    numbers,
    reads_files,
    reports_losses,
)
from bodymotion.cli.output import conclude, finish, print_message, progress
from bodymotion.extensions import kind_named

if TYPE_CHECKING:
    from bodymotion.geometry.arrays import Floats
    from bodymotion.model.body import Body
    from bodymotion.motion import Motion

TIME_STEPS = (
    "trim",
    "trim_frames",
    "append",
    "loop",
    "seamless",
    "hold",
    "insert",
    "length",
    "within_limits",
)
"""Steps that change the length of a motion."""
VALUE_STEPS = (
    "offset_joint",
    "scale_joint",
    "fill_gaps",
    "reverse",
    "mirror",
    "smooth",
    "unwrap",
)
"""Steps that change the values of frames."""
PLACE_STEPS = ("shift", "turn", "start_at")
"""Steps that move the motion in the world."""
COMPONENT_STEPS = (
    "keep",
    "drop",
    "fill_links",
    "recover_joints",
    "root_only",
    "zmp",
)
"""Steps that add, remove or replace components."""
STEPS = (*TIME_STEPS, *VALUE_STEPS, *PLACE_STEPS, *COMPONENT_STEPS)
"""The steps by the names of their options."""
REPORTED_STEPS = (*TIME_STEPS[2:], "offset_joint", "scale_joint", "fill_gaps")
"""Steps whose effect is reported in a line; that of a trim is plain."""
JOINING_STEPS = ("append", "loop", "seamless", "insert")
MAX_SLIP = 0.01
"""[m] By which a foot may slip more after motions are joined."""


class OrderedCommand(ContainedCommand):
    """A command that keeps the order of its options in `ctx.meta[OrderedCommand.KEY]`.

    Their names, as often as they were used.
    """

    KEY = "bodymotion.order"

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Record the order of the options, then parse them as usual."""
        ctx.meta[self.KEY] = []
        # The parser of click is used twice: for the order, and for the values.
        if args and not ctx.resilient_parsing:
            _, _, params = self.make_parser(ctx).parse_args(args=list(args))
            ctx.meta[self.KEY] = [param.name for param in params]
        return super().parse_args(ctx, args)


COMMAND_CLASS = OrderedCommand
Texts = list[str] | None


@reports_losses
@reads_files
def edit(
    reading: ReaderOptions,
    source: Path,
    target: Path,
    trim: Texts = None,
    trim_frames: Texts = None,
    append: Texts = None,
    loop: Texts = None,
    seamless: Texts = None,
    hold: Texts = None,
    insert: Texts = None,
    length: Texts = None,
    within_limits: bool = False,
    offset_joint: Texts = None,
    scale_joint: Texts = None,
    fill_gaps: bool = False,
    reverse: bool = False,
    mirror: bool = False,
    smooth: Texts = None,
    unwrap: bool = False,
    shift: Texts = None,
    turn: Texts = None,
    start_at: Texts = None,
    keep: Texts = None,
    drop: Texts = None,
    fill_links: bool = False,
    recover_joints: bool = False,
    root_only: bool = False,
    zmp: Texts = None,
    body: Path | None = None,
    pair: Texts = None,
    blend: NotNegative = 0.0,
    foot: str | None = None,
    by_position: ByPosition = False,
) -> None:
    """Change a motion, or {script}, step by step.

    The steps are done in the order of the command line. What a step leaves unchanged or
    loses is reported on stderr. A script can be trimmed, reversed, mirrored,
    changed in length and appended, and --set sets its parameters; its comments stay.

    \b
    Examples:
      bodymotion edit walk.seq part.seq --trim 1:5
      bodymotion edit walk.seq mirrored.seq --mirror --body robot.wrl
      bodymotion edit walk.seq far.seq --trim 2:4 --loop 3 --blend 0.2 --start-at 0,0,90
      bodymotion edit walk.seq both.seq --append turn.seq --smooth 8
      bodymotion edit walk.seq links.seq --fill-links --body robot.wrl
      bodymotion edit walk.seq slow.seq --hold 2:0.5 --within-limits --body robot.wrl
      bodymotion edit links.seq joints.seq --recover-joints --root-only --body robot.wrl

    Options:
      source IN: A motion, or {script}.
      target OUT: The new file; may be IN.
      --trim START:END: Keep this time span in seconds, both ends included.
      --append FILE: Append another motion, starting at the last root pose.
      --loop N: Repeat N times, each starting at the last root pose.
      --length SECONDS: Change the length to this many seconds, or to BEATS@BPM: beats
        at a tempo, such as 8@120.
      --mirror: Exchange left and right; needs --body if there are joints.
      --smooth HZ: Low-pass filter with this cutoff frequency (-3 dB).
      --keep CONTENT,…: Keep only components with these contents.
      --body -b MODEL: The model that the motion is for.

    More options:
      --trim-frames FIRST:LAST: Keep these frames, both included; -1 is the last.
      --seamless SECONDS: Make one period for --loop: the end fades into the beginning
        over this time.
      --hold AT:SECONDS: Hold the pose at a time for a duration, both in seconds.
      --insert AT:FILE: Insert another motion at a time in seconds; the rest continues
        from its end.
      --within-limits: Slow down where joints exceed their speed limits; needs --body.
      --offset-joint JOINT=VALUE: Add to a joint, in degrees; in metres if it slides
        (with --body).
      --scale-joint JOINT=FACTOR: Multiply the displacements of a joint.
      --fill-gaps: Replace numbers that are not finite by straight lines between known
        ones.
      --reverse: Reverse time.
      --unwrap: Remove jumps of joint angles by full turns.
      --shift X,Y,Z: Translate in the world, in metres.
      --turn YAW: Rotate about the z axis of the world in degrees, or by ROLL,PITCH,YAW.
      --start-at X,Y,YAW: Move the motion so that its first root pose is here, in metres
        and degrees.
      --drop CONTENT,…: Remove components with these contents.
      --fill-links: Compute the poses of all links from root and joints; needs --body.
      --recover-joints: Compute the joints from the poses of all links; needs --body.
      --root-only: Keep only the root of the link poses.
      --zmp FRAME: Express the ZMP in the frame of the root link or of the world.
      --pair LEFT=RIGHT: For --mirror: links that correspond; by default found by their
        names.
      --blend SECONDS: For --append, --insert and --loop: blend over this time.
      --foot LINK: For --append, --insert and --loop: the link that continues in place
        instead of the root, such as the foot in contact, or auto: the lowest one; needs
        --body.
    """  # noqa: D301
    from bodymotion.formats.registry import find_format

    # click sorts values by option; the order of the command line is kept apart.
    steps = _steps_of(click.get_current_context())
    if not steps and "parameters" not in reading:
        raise click.BadParameter(
            "no step given; use --trim, --mirror or another one", param_hint="edit"
        )
    context = EditContext(
        body,
        reading,
        by_position,
        dict(_pair(text) for text in pair or ()),
        blend,
        foot,
    )
    with failures("edit"):
        check_output(target, [body])
        # Trimming alone works row by row, so that a file larger than memory can be
        # trimmed.
        if [name for name, _ in steps] == ["trim"] and is_large(source, target):
            _, text = steps[0]
            start, end = time_span("--trim", text, float)
            from bodymotion.editing.streaming import trim_file

            with progress(f"writing {target.name}") as bar:
                problems = trim_file(source, target, start, end, progress=bar)
                conclude(target, problems)
        paths = [source, *map(Path, append or ())]
        # AT:FILE
        for text in insert or ():
            _, _, path = text.partition(":")
            paths.append(Path(path))
        if body is not None:
            paths.append(body)
        check_reading(reading, paths)
        kind = kind_named(find_format(source).holds)
        edit_script = None if kind is None else kind.function("edit")
        if kind is None or edit_script is None:
            motion = context.load(source, "IN", "--trim alone needs less")
            finish(motion, _edit_motion(motion, steps, context), target)
        script = load_script(source, reading, kind)
        edited = script
        for name, text in steps:
            edited = edit_script(edited, name, text, context)
        finish(script, edited, target)


def _steps_of(ctx: click.Context) -> list[tuple[str, str]]:
    """Return the steps of a command line in their order, with their texts.

    The text of a step without a value is empty.
    """
    # The values of each option in their order. Switches have none.
    texts = {}
    for name in STEPS:
        if not isinstance(ctx.params[name], bool):
            texts[name] = iter(ctx.params[name] or ())
    steps = []
    # An option that is used twice takes its next value each time.
    for name in ctx.meta[OrderedCommand.KEY]:
        if name in STEPS:
            steps.append((name, next(texts[name]) if name in texts else ""))
    return steps


def _edit_motion(
    motion: Motion, steps: Sequence[tuple[str, str]], context: EditContext
) -> Motion:
    """Return a motion after steps, and print what they have changed."""
    for name, text in steps:
        before = motion
        motion = _changed(before, name, text, context)
        # Joining compares poses, as it knows no feet. With the body the slip itself is
        # known.
        if name in JOINING_STEPS and context.body is not None:
            motion = _with_measured_slip(before, motion, context.body)
        if name in REPORTED_STEPS:
            words = f"{option_of(name)} {text}" if text else option_of(name)
            print_message(f"{words}: {_effect(before, motion)}")
    return motion


def option_of(step: str) -> str:
    """Return the option of a step."""
    return f"--{step.replace('_', '-')}"


def _with_measured_slip(before: Motion, after: Motion, body: Body) -> Motion:
    """Return a joined motion with the problem that feet slip, measured on a body.

    It replaces the problem that the poses of the feet differ.
    """
    from bodymotion.editing.rules import SLIPPING

    try:
        slip_before = _longest_slip(before, body)
        slip = _longest_slip(after, body)
    except ValueError:  # Without joints or feet, only poses can be compared.
        return after
    # Without the problem of this step; those of earlier steps stay.
    problems = [
        problem
        for problem in after.problems
        if problem.rule != SLIPPING.code or problem in before.problems
    ]
    # Feet of the motion itself may slip: only what joining adds is its fault.
    if slip > slip_before + MAX_SLIP:
        message = (
            f"a foot slips by {1e3 * slip:.0f} mm in one stance, "
            f"{1e3 * slip_before:.0f} mm before"
        )
        data = {"slip": slip, "slip_before": slip_before}
        problems.append(SLIPPING.problem(message, data=data))
    return replace(after, problems=tuple(problems))


def _longest_slip(motion: Motion, body: Body) -> float:
    """Return the largest slip of a foot in one contact [m]."""
    from bodymotion.dynamics import measure
    from bodymotion.dynamics.contacts import longest_slip

    measures = measure(body, motion)
    return longest_slip(measures.contacts, measures.times)


def _pair(text: str) -> tuple[str, str]:
    left, equals, right = text.partition("=")
    if not (left and equals and right):
        _wrong("--pair", text, "of the form LEFT=RIGHT")
    return left, right


@dataclass(frozen=True)
class EditContext:
    """The options that steps use beside their own value."""

    model: Path | None = None
    reading: ReaderOptions = field(default_factory=dict)
    by_position: bool = False
    pairs: dict[str, str] = field(default_factory=dict)
    blend: float = 0.0
    foot: str | None = None

    @cached_property
    def body(self) -> Body | None:
        """The body, read when it is first used."""
        if self.model is None:
            return None
        return load_body(self.model, self.reading)

    def load(self, path: Path, hint: str, advice: str = "") -> Motion:
        """Read a motion, its joint columns by position where that is wanted."""
        from bodymotion.model.body import by_position

        motion = load_motion(path, self.reading, hint=hint, advice=advice)
        if self.by_position:
            return by_position(motion, self.needed_body("--by-position"))
        return motion

    def slides(self, name: str) -> bool:
        """Return whether a joint of the body slides."""
        # Without a body each joint is taken as a rotation.
        joints = () if self.body is None else self.body.joints
        return any(joint.name == name and joint.type == "slide" for joint in joints)

    @property
    def joining(self) -> dict[str, Any]:
        """The options of steps that join motions."""
        body = None
        if self.foot is not None:
            body = self.needed_body("--foot")
        return {"blend": self.blend, "body": body, "foot": self.foot}

    def needed_body(self, option: str) -> Body:
        """Return the body for an option that needs one."""
        if self.body is None:
            raise click.BadParameter("needs a model: --body MODEL", param_hint=option)
        return self.body


def _wrong(option: str, text: str, expected: str) -> NoReturn:
    raise click.BadParameter(f"{text!r} is not {expected}", param_hint=option)


def time_span(
    option: str, text: str, kind: type[float] | type[int]
) -> list[float | None]:
    """Return the ends of START:END.

    None for one that is left out.
    """
    parts = text.split(":")
    try:
        ends = [kind(part) if part.strip() else None for part in parts]
    except ValueError:
        ends = []
    # NaN compares with nothing, so that no frame would be left, and no error reported.
    is_number = [end is None or not math.isnan(end) for end in ends]
    if len(ends) != 2 or not all(is_number):
        _wrong(option, text, "of the form START:END, where each may be left out")
    return ends


def _effect(before: Motion, after: Motion) -> str:
    """Return what a step has changed, in a few words."""
    length_before = _end_of(before)
    length = _end_of(after)
    if length_before != length:
        return f"{length_before:g} s became {length:g} s"
    num_changed = 0
    # Components of another shape were made anew: their numbers cannot be compared.
    for old, new in zip(before.timed, after.timed, strict=False):
        if old.values.shape == new.values.shape:
            num_changed += _count_changes(old.values, new.values)
    if num_changed:
        return f"{num_changed} numbers changed"
    return "nothing to change"


def _end_of(motion: Motion) -> float:
    """Return the time of the last frame of any component [s]."""
    ends = [float(c.timeline.times[-1]) for c in motion.timed if c.num_frames]
    return max(ends, default=0.0)


def _count_changes(before: Floats, after: Floats) -> int:
    """Return the number of values that differ; two that are not finite do not."""
    import numpy as np

    is_equal = np.where(np.isfinite(before), before == after, np.isnan(after))
    return int(before.size - is_equal.sum())


def length_in_seconds(option: str, text: str) -> float:
    """Return the seconds of SECONDS or BEATS@BPM."""
    expected = "a number of seconds, or BEATS@BPM"
    # 8@120 is 8 beats at 120 per minute: 60 · 8 / 120 s.
    count, *tempo = numbers(option, text, (1, 2), expected, separator="@")
    if min([count, *tempo]) <= 0:
        _wrong(option, text, "above 0")
    if not tempo:
        return float(count)
    return float(60.0 * count / tempo[0])


def _changed(motion: Motion, step: str, text: str, context: EditContext) -> Motion:
    """Return a motion after a step with the text of its option."""
    change = _change_components
    if step in TIME_STEPS:
        change = _change_length
    elif step in VALUE_STEPS:
        change = _change_values
    elif step in PLACE_STEPS:
        change = _move
    return change(motion, step, text, context)


def _change_length(
    motion: Motion, step: str, text: str, context: EditContext
) -> Motion:
    """Return a motion after one of `TIME_STEPS`."""
    from bodymotion import editing

    option = option_of(step)
    match step:
        case "trim":
            start, end = time_span(option, text, float)
            return editing.trim(motion, start, end)
        case "trim_frames":
            first, last = time_span(option, text, int)
            # --trim-frames 10: is from frame 10 on.
            last_frame = None if last is None else int(last)
            return editing.trim_frames(motion, int(first or 0), last_frame)
        case "append":
            following = context.load(Path(text), option)
            return editing.join(motion, following, **context.joining)
        case "loop":
            if not text.strip().lstrip("+").isdecimal() or int(text) < 1:
                _wrong(option, text, "an integer of at least 1")
            return editing.loop(motion, int(text), **context.joining)
        case "seamless":
            (seconds,) = numbers(option, text, (1,), "a number of seconds")
            # The value of the option is the time over which the end fades.
            joining = context.joining | {"blend": seconds}
            return editing.seamless(motion, **joining)
        case "hold":
            time, seconds = numbers(
                option, text, (2,), "of the form AT:SECONDS", separator=":"
            )
            return editing.hold(motion, time, seconds)
        case "insert":
            time_text, _, path = text.partition(":")
            (time,) = numbers(option, time_text, (1,), "of the form AT:FILE")
            inserted = context.load(Path(path), option)
            return editing.insert(motion, inserted, time, **context.joining)
        case "length":
            return editing.change_length(motion, length_in_seconds(option, text))
        # The only other step is --within-limits.
        case _:
            return editing.within_limits(motion, context.needed_body(option))


def _change_values(
    motion: Motion, step: str, text: str, context: EditContext
) -> Motion:
    """Return a motion after one of `VALUE_STEPS`."""
    from bodymotion import editing

    option = option_of(step)
    match step:
        case "offset_joint" | "scale_joint":
            name, _, number = text.rpartition("=")
            (value,) = numbers(option, number, (1,), "of the form JOINT=NUMBER")
            change = {"factor": value}
            if step == "offset_joint":
                # The option is in degrees, the library in radians; a slide is in metres
                # in both.
                slides = context.slides(name)
                change = {"offset": value if slides else math.radians(value)}
            return editing.change_joint(motion, name, body=context.body, **change)
        case "fill_gaps":
            return editing.fill_gaps(motion)
        case "reverse":
            return editing.reverse(motion)
        case "mirror":
            return editing.mirror(motion, context.body, context.pairs)
        case "smooth":
            (cutoff,) = numbers(option, text, (1,), "a frequency in Hz")
            if cutoff <= 0:
                _wrong(option, text, "a frequency in Hz above 0")
            return editing.smooth(motion, cutoff)
        case _:
            return editing.unwrap(motion, context.body)


def _move(motion: Motion, step: str, text: str, context: EditContext) -> Motion:
    """Return a motion after one of `PLACE_STEPS`."""
    import numpy as np

    from bodymotion import editing
    from bodymotion.geometry import rotations

    option = option_of(step)
    if step == "shift":
        position = numbers(option, text, (3,), "of the form X,Y,Z in metres")
        # The pose (7,) of a translation: its quaternion w x y z is the identity.
        return editing.move(motion, [*position, 1, 0, 0, 0])
    if step == "turn":
        angles = numbers(
            option, text, (1, 3), "an angle in degrees, or three: ROLL,PITCH,YAW"
        )
        if len(angles) == 1:
            # One angle is a rotation about z, the yaw of roll, pitch and yaw.
            angles = [0.0, 0.0, *angles]
        rotation = rotations.from_rpy(np.radians(angles))
        return editing.move(motion, [0, 0, 0, *rotation])
    expected = "of the form X,Y or X,Y,YAW in metres and degrees"
    x, y, *yaw = numbers(option, text, (2, 3), expected)
    return editing.start_at(motion, x, y, math.radians(yaw[0] if yaw else 0.0))


def _change_components(
    motion: Motion, step: str, text: str, context: EditContext
) -> Motion:
    """Return a motion after one of `COMPONENT_STEPS`."""
    from bodymotion import editing

    option = option_of(step)
    match step:
        case "keep":
            return editing.keep(motion, *text.split(","))
        case "drop":
            return editing.drop(motion, *text.split(","))
        case "fill_links":
            return editing.fill_link_poses(motion, context.needed_body(option))
        case "recover_joints":
            body = context.needed_body(option)
            recovered, residual = editing.recover_joints(motion, body)
            # Without a new problem the residual is worth a line; else a problem states
            # it.
            if len(recovered.problems) == len(motion.problems):
                print_message(f"joints recovered: {residual}")
            return recovered
        case "root_only":
            return editing.keep_root_pose(motion)
        # The only other step is --zmp.
        case _:
            if text not in ("root", "world"):
                _wrong(option, text, "root or world")
            if text == "root":
                return editing.zmp_to_root(motion)
            return editing.zmp_to_world(motion)
