"""The two pages of help of a command.

`--help` prints a page that fits a terminal of 24 lines: what the command does, an
example or two, its arguments and its main options. `--help-all` prints everything,
with the options in groups.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from enum import Enum

import click

MAX_EXAMPLES = 2
"""Examples on the first page."""
MAX_COLUMN = 26
"""Width of the column with the options on the first page [characters]."""
SPACING = 2
"""Between the two columns, and before the first [characters]."""
CLAUSE_END = re.compile("[.;:] ")
"""Where a long text is cut for the first page."""
EXAMPLES = "\b\nExamples:\n"
"""What precedes the examples in the docstring of a command."""


class Group(Enum):
    """A group of options, by its heading in docstrings and in the help.

    The help has them in this order.
    """

    MAIN = "Options"
    MORE = "More options"
    READING = "Reading the files"
    OUTPUT = "Output"
    MORE_OUTPUT = "More output"
    MANY = "Many files"
    FORMATS = "Reading certain formats"


FIRST_PAGE = (Group.MAIN, Group.OUTPUT)
"""The groups on the first page."""


class GroupedOption(click.Option):
    """An option that belongs to a group of the help."""

    group = Group.MAIN


class TwoPages(click.Command):
    """A command with a first page of help, and one with everything."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters, those of the help at the end."""
        # click shows parameters in this order.
        return [*super().get_params(ctx), _HELP_ALL]

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the first page."""
        self.format_usage(ctx, formatter)
        self.format_summary(formatter)
        self.format_first_page(ctx, formatter)
        formatter.write_paragraph()
        formatter.write_text(self.advice(ctx))

    def format_help_all(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write everything."""
        super().format_help(ctx, formatter)

    def format_summary(self, formatter: click.HelpFormatter) -> None:
        """Write the first paragraph of the description."""
        summary, _, _ = (self.help or "").partition("\n\n")
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(summary)

    def format_first_page(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write examples, arguments and main options."""
        examples = (self.help or "").partition(EXAMPLES)[2].splitlines()
        if examples:
            with formatter.section("Examples"):
                # A line that is wrapped cannot be copied.
                fitting = [line for line in examples if len(line) <= formatter.width]
                for example in fitting[:MAX_EXAMPLES]:
                    formatter.write(f"{'':{SPACING}}{example.strip()}\n")
        rows = [
            (param.make_metavar(ctx), param.help or "")
            for param in self.params
            if isinstance(param, click.Argument)
        ]
        # Options of other groups are on the second page.
        rows += _rows(self.options_in([Group.MAIN]), ctx)
        _write_first_page("Arguments and options", rows, formatter)
        outputs = _rows(self.options_in([Group.OUTPUT]), ctx)
        _write_first_page(Group.OUTPUT.value, outputs, formatter)

    def advice(self, ctx: click.Context) -> str:
        """Return how to see what the first page leaves out."""
        left_out = self.options_in(
            [group for group in Group if group not in FIRST_PAGE]
        )
        text = f"`{ctx.command_path} --help-all` explains all in full"
        # `options_in` is an iterator: it is counted by going through it.
        number = sum(1 for _ in left_out)
        if number == 0:
            return f"{text}."
        return f"{text}, and {number} more options."

    def options_in(self, groups: Collection[Group]) -> Iterator[GroupedOption]:
        """Yield the options in these groups."""
        for param in self.params:
            if isinstance(param, GroupedOption) and param.group in groups:
                yield param

    def format_options(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write all options in their groups, those of help and version at the end."""
        for group in Group:
            records = [
                option.get_help_record(ctx) for option in self.options_in([group])
            ]
            _write_section(group.value, records, formatter)
        # `--help`, `--help-all` and `--version` are of no group.
        others = [
            option.get_help_record(ctx)
            for option in self.get_params(ctx)
            if not isinstance(option, GroupedOption | click.Argument)
        ]
        _write_section("Help", others, formatter)


def first_clause(text: str, room: int) -> str:
    """Return a text, or of a longer one as many clauses as fit into a line."""
    if len(text) <= room:
        return text
    ends = [match.start() for match in CLAUSE_END.finditer(text)]
    # As many whole clauses as fit; the first one where none does.
    fitting = [end for end in ends if end < room]
    if not ends:
        return text
    return f"{text[: max(fitting, default=ends[0])]}."


def _rows(
    options: Iterator[GroupedOption], ctx: click.Context
) -> list[tuple[str, str]]:
    """Return the usage and the text of options, without defaults and ranges."""
    rows = []
    for option in options:
        record = option.get_help_record(ctx)
        if record is not None:
            rows.append((record[0], option.help or ""))
    return rows


def _write_first_page(
    heading: str, rows: list[tuple[str, str]], formatter: click.HelpFormatter
) -> None:
    """Write a section whose texts are on one line each, where that is possible."""
    column = min(max((len(usage) for usage, _ in rows), default=0), MAX_COLUMN)
    room = formatter.width - column - 2 * SPACING
    short = [(usage, first_clause(text, room)) for usage, text in rows]
    _write_section(heading, short, formatter, MAX_COLUMN)


def _write_section(
    heading: str,
    rows: Collection[tuple[str, str] | None],
    formatter: click.HelpFormatter,
    max_column: int = 30,
) -> None:
    """Write a section of the help, if it has rows."""
    written = [row for row in rows if row is not None]
    if written:
        with formatter.section(heading):
            formatter.write_dl(written, col_max=max_column)


def _print_help_all(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    """Print everything and exit."""
    if not value or ctx.resilient_parsing:
        return
    assert isinstance(ctx.command, TwoPages)
    formatter = ctx.make_formatter()
    ctx.command.format_help_all(ctx, formatter)
    click.echo(formatter.getvalue().rstrip("\n"), color=ctx.color)
    ctx.exit()


_HELP_ALL = click.Option(
    ["--help-all"],
    is_flag=True,
    expose_value=False,
    is_eager=True,
    help="Show all options in full and exit.",
    callback=_print_help_all,
)
