"""`bodymotion edit IN OUT --STEP…`.

Change a motion, step by step, in the order of the command line.
"""

from __future__ import annotations

import math
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
    from bodymotion.model.body import Body
    from bodymotion.motion import Motion

LENGTH_STEPS = (
    "append",
    "loop",
    "seamless",
    "hold",
    "insert",
    "length",
    "within_limits",
)
REPORTED_STEPS = (
    *LENGTH_STEPS,
    "offset_joint",
    "scale_joint",
    "fill_gaps",
)  # Their effect is reported in a line.
LINK_STEPS = ("fill_links", "recover_joints", "root_only", "zmp")
OTHER_STEPS = (
    "reverse",
    "mirror",
    "smooth",
    "unwrap",
    "shift",
    "turn",
    "start_at",
    "keep",
    "drop",
)
STEPS = (
    "trim",
    "trim_frames",
    *REPORTED_STEPS,
    *OTHER_STEPS,
    *LINK_STEPS,
)  # The steps by the names of their options.
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
        if args and not ctx.resilient_parsing:
            ctx.meta[self.KEY] = [
                option.name
                for option in self.make_parser(ctx).parse_args(args=list(args))[2]
            ]
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
      bodymotion edit walk.seq links.seq --fill-links --drop JointDisplacement --body robot.wrl
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

    ctx = click.get_current_context()
    texts = {
        name: iter(ctx.params[name] or ())
        for name in STEPS
        if not isinstance(ctx.params[name], bool)
    }
    steps = [
        (name, next(texts[name], "") if name in texts else "")
        for name in ctx.meta[OrderedCommand.KEY]
        if name in STEPS
    ]
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
        if [name for name, _ in steps] == ["trim"] and is_large(source, target):
            from bodymotion.editing.streaming import trim_file

            with progress(f"writing {target.name}") as bar:
                conclude(
                    target,
                    trim_file(
                        source,
                        target,
                        *time_span("--trim", steps[0][1], float),
                        progress=bar,
                    ),
                )
        inserted = [Path(text.partition(":")[2]) for text in insert or ()]
        others = [*map(Path, append or ()), *inserted, *([body] if body else [])]
        check_reading(reading, [source, *others])
        kind = kind_named(find_format(source).holds)
        edit_script = None if kind is None else kind.function("edit")
        before: Any
        if kind is not None and edit_script is not None:
            before = load_script(source, reading, kind)
        else:
            before = context.load(source, "IN", "--trim alone needs less")
        after = before
        for name, text in steps:
            done: Any = (edit_script or _changed)(after, name, text, context)
            if (
                name in JOINING_STEPS
                and edit_script is None
                and context.body is not None
            ):
                done = _with_measured_slip(after, done, context.body)
            if name in REPORTED_STEPS and edit_script is None:
                print_message(
                    f"--{name.replace('_', '-')}{text and ' '}{text}: "
                    f"{_effect(after, done)}"
                )
            after = done
        finish(before, after, target)


def _with_measured_slip(before: Motion, after: Motion, body: Body) -> Motion:
    """Return a joined motion with the problem that feet slip, measured on a body, in place of the one that poses differ."""
    from bodymotion.dynamics import measure
    from bodymotion.dynamics.contacts import longest_slip
    from bodymotion.editing.rules import SLIPPING

    slips = []
    try:
        for motion in (before, after):
            found = measure(body, motion)
            slips.append(longest_slip(found.contacts, found.times))
    except ValueError:  # Without joints or feet, only poses can be compared.
        return after
    problems = [
        problem
        for problem in after.problems
        if problem.rule != SLIPPING.code or problem in before.problems
    ]
    if slips[1] > slips[0] + MAX_SLIP:
        message = f"a foot slips by {1e3 * slips[1]:.0f} mm in one stance, {1e3 * slips[0]:.0f} mm before"
        data = {"slip": slips[1], "slip_before": slips[0]}
        problems.append(SLIPPING.problem(message, data=data))
    return replace(after, problems=tuple(problems))


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
        """Read a motion; with a body, its joint columns by position where that is wanted."""
        from bodymotion.model.body import by_position

        motion = load_motion(path, self.reading, hint=hint, advice=advice)
        if self.by_position:
            return by_position(motion, self.needed_body("--by-position"))
        return motion

    @property
    def joining(self) -> dict[str, Any]:
        """The options of steps that join motions."""
        if self.foot is None:
            body = None
        else:
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
        found = [kind(part) if part.strip() else None for part in parts]
        if len(found) == 2 and not any(
            number is not None and math.isnan(number) for number in found
        ):
            return found
    except ValueError:
        pass
    _wrong(option, text, "of the form START:END, where each may be left out")


def _effect(before: Motion, after: Motion) -> str:
    """Return what a step has changed, in a few words."""
    import numpy as np

    lengths = [
        max((float(c.timeline.times[-1]) for c in m.timed if c.num_frames), default=0.0)
        for m in (before, after)
    ]
    if lengths[0] != lengths[1]:
        return f"{lengths[0]:g} s became {lengths[1]:g} s"
    both = (
        (a.values, b.values) for a, b in zip(before.timed, after.timed, strict=False)
    )
    pairs = [(a, b) for a, b in both if a.shape == b.shape]
    changed = sum(
        a.size - int(np.equal(a, b, where=np.isfinite(a), out=np.isnan(b)).sum())
        for a, b in pairs
    )
    if changed:
        return f"{changed} numbers changed"
    return "nothing to change"


def length_in_seconds(option: str, text: str) -> float:
    """Return the seconds of SECONDS or BEATS@BPM."""
    found = numbers(
        option, text, (1, 2), "a number of seconds, or BEATS@BPM", separator="@"
    )
    if min(found) <= 0:
        _wrong(option, text, "above 0")
    return float(found[0] if len(found) == 1 else 60.0 * found[0] / found[1])


def _changed(motion: Motion, step: str, text: str, context: EditContext) -> Motion:
    """Return a motion after a step with the text of its option."""
    import numpy as np

    from bodymotion import editing
    from bodymotion.geometry import poses, rotations

    option = f"--{step.replace('_', '-')}"
    match step:
        case "trim":
            return editing.trim(motion, *time_span(option, text, float))
        case "trim_frames":
            first, last = time_span(option, text, int)
            return editing.trim_frames(
                motion, int(first or 0), None if last is None else int(last)
            )
        case "append":
            return editing.join(
                motion, context.load(Path(text), option), **context.joining
            )
        case "loop":
            if not text.strip().lstrip("+").isdecimal() or int(text) < 1:
                _wrong(option, text, "an integer of at least 1")
            return editing.loop(motion, int(text), **context.joining)
        case "seamless":
            (seconds,) = numbers(option, text, (1,), "a number of seconds")
            joining = context.joining | {"blend": seconds}
            return editing.seamless(motion, **joining)
        case "hold":
            return editing.hold(
                motion,
                *numbers(option, text, (2,), "of the form AT:SECONDS", separator=":"),
            )
        case "insert":
            at, _, path = text.partition(":")
            (time,) = numbers(option, at, (1,), "of the form AT:FILE")
            return editing.insert(
                motion, context.load(Path(path), option), time, **context.joining
            )
        case "length":
            return editing.change_length(motion, length_in_seconds(option, text))
        case "within_limits":
            return editing.within_limits(motion, context.needed_body(option))
        case "offset_joint" | "scale_joint":
            name, _, number = text.rpartition("=")
            (value,) = numbers(option, number, (1,), "of the form JOINT=NUMBER")
            if step == "scale_joint":
                return editing.change_joint(
                    motion, name, factor=value, body=context.body
                )
            slides = context.body is not None and any(
                j.name == name and j.type == "slide" for j in context.body.joints
            )
            return editing.change_joint(
                motion,
                name,
                offset=value if slides else math.radians(value),
                body=context.body,
            )
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
        case "unwrap":
            return editing.unwrap(motion, context.body)
        case "shift":
            return editing.move(
                motion,
                [
                    *numbers(option, text, (3,), "of the form X,Y,Z in metres"),
                    1,
                    0,
                    0,
                    0,
                ],
            )
        case "turn":
            angles = numbers(
                option, text, (1, 3), "an angle in degrees, or three: ROLL,PITCH,YAW"
            )
            turn = rotations.from_rpy(np.radians([0.0, 0.0, *angles][-3:]))
            return editing.move(motion, poses.from_parts(np.zeros(3), turn))
        case "start_at":
            place = numbers(
                option, text, (2, 3), "of the form X,Y or X,Y,YAW in metres and degrees"
            )
            x, y, yaw = [*place, 0.0][:3]
            return editing.start_at(motion, x, y, float(np.radians(yaw)))
        case "keep" | "drop":
            return (editing.keep if step == "keep" else editing.drop)(
                motion, *text.split(",")
            )
        case "fill_links":
            return editing.fill_link_poses(motion, context.needed_body(option))
        case "recover_joints":
            recovered, residual = editing.recover_joints(
                motion, context.needed_body(option)
            )
            if len(recovered.problems) == len(motion.problems):
                print_message(f"joints recovered: {residual}")
            return recovered
        case "root_only":
            return editing.keep_root_pose(motion)
        case _:
            if text not in ("root", "world"):
                _wrong(option, text, "root or world")
            if text == "root":
                return editing.zmp_to_root(motion)
            return editing.zmp_to_world(motion)
