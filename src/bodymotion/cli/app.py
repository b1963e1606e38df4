"""The commands, put together; each is imported only when it is run, or when the help lists all."""

import importlib

import click

from bodymotion import __version__
from bodymotion.cli.many import VERBS, command_for_many
from bodymotion.cli.options import click_command

_FIRST = ("info", "view", "render", "check", "measure", "plot", "report", "convert", "diff", "retime", "edit", "ik")
COMMANDS = (*_FIRST, "balance", "retarget", "simulate", "catalogue", "spot")
"""Names of the commands; each is a function, or a group of functions, of this name in the module of this name."""


MAX_SUGGESTED = 2  # An option that more commands have is not suggested in place of an unknown command.


class _Commands(click.Group):
    """A group whose commands are imported when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command; of an unknown one suggest the option that does what its name says, or a command of a similar name."""
        if args and args[0] not in COMMANDS:
            wanted = f"--{args[0].lower()}"
            commands = (self.get_command(ctx, name) for name in COMMANDS)
            having = [one.name for one in commands if one and any(wanted in option.opts for option in one.params)]
            if 0 < len(having) <= MAX_SUGGESTED:
                uses = " or ".join(f"'bodymotion {name} {wanted}'" for name in having)
                ctx.fail(f"No such command {args[0]!r}. Did you mean {uses}?")
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in COMMANDS and cmd_name not in self.commands:
            module = importlib.import_module(f"bodymotion.cli.{cmd_name}")
            command, kind = getattr(module, cmd_name), getattr(module, "COMMAND_CLASS", click.Command)
            if cmd_name in VERBS:
                command, kind = command_for_many(cmd_name, command, kind)
            self.commands[cmd_name] = command if isinstance(command, click.Group) else click_command(command, kind)
        return self.commands.get(cmd_name)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; end with 130 at Ctrl-C, as shells expect it."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise click.exceptions.Exit(130) from None


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Results go to stdout, messages to stderr. Exit codes: 0 done, 1 problems found or failed (diff: different), 2 wrong use, "
    "3 done, but something that matters was lost.",
)
@click.version_option(__version__, message="%(prog)s %(version)s", help="Print the version and exit.")
@click.pass_context
def app(ctx: click.Context) -> None:
    """Open, check, show, convert and measure robot models and robot motions.

    \b
    Examples:
      bodymotion info robot.wrl walk.seq
      bodymotion view robot.wrl walk.seq
      bodymotion check --body robot.wrl walk.seq
    """  # noqa: D301
    from bodymotion.system.open_files import pipes_kept

    ctx.with_resource(pipes_kept())
