"""`bodymotion edit IN OUT --STEP…`: change a motion, step by step, in the order of the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from bodymotion.cli.given import not_negative
from bodymotion.cli.options import AllowOutside

__all__ = ["InOrder", "edit"]


class InOrder(TyperCommand):
    """A command that knows in which order its options were given: `ctx.meta[InOrder.KEY]`, names, as often as they were given."""

    KEY = "bodymotion.order"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        """Note the order of the options, then parse as ever."""
        ctx.meta[self.KEY] = []
        if args and not ctx.resilient_parsing:
            ctx.meta[self.KEY] = [given.name for given in self.make_parser(ctx).parse_args(args=list(args))[2]]
        return super().parse_args(ctx, args)


Texts = list[str] | None


def edit(
    ctx: typer.Context,
    source: Annotated[Path, typer.Argument(metavar="IN", help="A motion.", show_default=False)],
    target: Annotated[
        Path, typer.Argument(metavar="OUT", help="Where the new one goes; may be IN.", show_default=False)
    ],
    trim: Annotated[
        Texts, typer.Option("--trim", metavar="START:END", help="Keep this time, in seconds, both ends included.")
    ] = None,
    trim_frames: Annotated[
        Texts,
        typer.Option("--trim-frames", metavar="FIRST:LAST", help="Keep these frames, both included; -1 is the last."),
    ] = None,
    append: Annotated[
        Texts, typer.Option("--append", metavar="FILE", help="Go on with another motion, from where the root is then.")
    ] = None,
    loop: Annotated[
        Texts, typer.Option("--loop", metavar="N", help="N times, each from where the root is then.")
    ] = None,
    reverse: Annotated[bool, typer.Option("--reverse", help="Backwards.")] = False,
    mirror: Annotated[bool, typer.Option("--mirror", help="Left for right; needs --body if there are joints.")] = False,
    smooth: Annotated[
        Texts, typer.Option("--smooth", metavar="HZ", help="Damp what is faster; at HZ to 0.7 of its size.")
    ] = None,
    unwrap: Annotated[bool, typer.Option("--unwrap", help="Take out jumps of joint angles by full turns.")] = False,
    shift: Annotated[Texts, typer.Option("--shift", metavar="X,Y,Z", help="Move through the world, in metres.")] = None,
    turn: Annotated[
        Texts,
        typer.Option("--turn", metavar="YAW", help="Turn about the world's z axis in degrees, or by ROLL,PITCH,YAW."),
    ] = None,
    start_at: Annotated[
        Texts,
        typer.Option("--start-at", metavar="X,Y,YAW", help="Put the first root pose there, in metres and degrees."),
    ] = None,
    keep: Annotated[Texts, typer.Option("--keep", metavar="CONTENT,…", help="Keep only these components.")] = None,
    drop: Annotated[Texts, typer.Option("--drop", metavar="CONTENT,…", help="Leave these components out.")] = None,
    fill_links: Annotated[
        bool, typer.Option("--fill-links", help="Add the poses of all links, from root and joints; needs --body.")
    ] = False,
    recover_joints: Annotated[
        bool, typer.Option("--recover-joints", help="Get joints from the poses of all links; needs --body.")
    ] = False,
    root_only: Annotated[bool, typer.Option("--root-only", help="Of the link poses keep the root's.")] = False,
    zmp: Annotated[
        Texts, typer.Option("--zmp", metavar="FRAME", help="Tell the ZMP in the frame of the root, or of the world.")
    ] = None,
    body: Annotated[
        Path | None, typer.Option("--body", "-b", metavar="MODEL", help="Whose motion it is (.wrl).")
    ] = None,
    pair: Annotated[
        Texts,
        typer.Option(
            "--pair", metavar="LEFT=RIGHT", help="For --mirror: links that are partners; by default names tell."
        ),
    ] = None,
    blend: Annotated[
        float,
        typer.Option(
            "--blend", metavar="SECONDS", callback=not_negative, help="For --append and --loop: fade one into the next."
        ),
    ] = 0.0,
    allow_outside: AllowOutside = False,
) -> None:
    """Change a motion step by step, in the order in which the steps are given.

    What a step leaves as it is or loses is said on stderr. Exit code 3: something was lost.

    \b
    Examples:
      bodymotion edit walk.seq part.seq --trim 1:5
      bodymotion edit walk.seq mirrored.seq --mirror --body robot.wrl
      bodymotion edit walk.seq far.seq --trim 2:4 --loop 3 --blend 0.2 --start-at 0,0,90
      bodymotion edit walk.seq both.seq --append turn.seq --smooth 8
      bodymotion edit walk.seq links.seq --fill-links --drop JointDisplacement --body robot.wrl
      bodymotion edit links.seq joints.seq --recover-joints --root-only --body robot.wrl
    """  # noqa: D301
    from bodymotion.cli.changes import conclude, finish, is_large, load_motion
    from bodymotion.cli.edit.steps import STEPS, Beside
    from bodymotion.cli.failures import failures
    from bodymotion.cli.progress import progress

    texts = {name: iter(ctx.params[name] or ()) for name in STEPS if not isinstance(ctx.params[name], bool)}
    steps = [(name, next(texts[name], "") if name in texts else "") for name in ctx.meta[InOrder.KEY] if name in STEPS]
    if not steps:
        raise typer.BadParameter("say what to do: there is no step such as --trim or --mirror", param_hint="edit")
    beside = Beside(body, allow_outside, dict(_pair(text) for text in pair or ()), blend)
    with failures("edit"):
        if [name for name, _ in steps] == ["trim"] and is_large(source, target):
            from bodymotion.cli.edit.steps import span
            from bodymotion.editing.streaming import trim_file

            with progress(f"writing {target.name}") as told:
                conclude(trim_file(source, target, *span("--trim", steps[0][1], float), progress=told))
        before = after = load_motion(source, whole="--trim alone takes less")
        for name, text in steps:
            after = STEPS[name](after, text, beside)
        finish(before, after, target)


def _pair(text: str) -> tuple[str, str]:
    left, equals, right = text.partition("=")
    if not (left and equals and right):
        raise typer.BadParameter(f"{text!r} is not of the form LEFT=RIGHT", param_hint="--pair")
    return left, right
