"""Run a command for files of others in a child process with limits.

That of a single run with --untrusted or --time-limit.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import click

from bodymotion.cli.help import TwoPages
from bodymotion.system.limited import (
    IS_AVAILABLE,
    LimitedProcess,
    ProcessEndedError,
    ProcessLimits,
    is_limited,
)

COMPUTING_TIME = 600.0
"""[s] Time for a command that computes for long.

To read a file it has no more time than any other.
"""
COMPUTING = ("balance", "ik", "retarget", "simulate")
UNTRUSTED = "--untrusted"
"""The option that marks files of others."""
APART = ("catalogue", "check", "view")
"""Commands that read each file in a process of its own."""


class Program(NamedTuple):
    """The whole program, for commands that run in other processes.

    `run` runs a command with its words, and returns the exit code. `find_command`
    returns a command by its name.
    """

    run: Callable[[str, list[str]], int]
    find_command: Callable[[str], click.Command]


class ContainedCommand(TwoPages):
    """A command that runs in a child process for files of others."""

    program: Program

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, and keep them for the child process."""
        # The child parses them again, as it has its own program.
        ctx.meta["words"] = list(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command."""
        limits = self._limits(ctx)
        if limits is None:
            return super().invoke(ctx)
        from bodymotion.cli import failures

        assert self.name is not None
        with failures(self.name):
            code = run_contained(self.program, self.name, ctx.meta["words"], limits)
        raise click.exceptions.Exit(code)

    def _limits(self, ctx: click.Context) -> ProcessLimits | None:
        """Return the limits of the run.

        None where it needs no child process.
        """
        # In a child the limits are already set; commands of `APART` use children
        # themselves.
        if self.name in APART or is_limited() or not IS_AVAILABLE:
            return None
        assert self.name is not None
        return run_limits(
            self.name,
            untrusted=ctx.params.get("allow_outside") is False,
            time_limit=ctx.params.get("time_limit"),
            size=sum(_sizes(ctx.meta["words"])),
        )


def run_limits(
    name: str, *, untrusted: bool, time_limit: float | None, size: int
) -> ProcessLimits | None:
    """Return the limits for a run of a command with files of `size` bytes.

    None where it has none.
    """
    from bodymotion.formats.untrusted import choose_limits

    if not untrusted and time_limit is None:
        return None
    limits = choose_limits(time_limit, untrusted=untrusted)
    # Reading a file is quick, what these commands do with it is not.
    if name in COMPUTING and untrusted and time_limit is None:
        limits = replace(limits, processor=COMPUTING_TIME, deadline=COMPUTING_TIME)
    return limits.for_size(size)


def _sizes(words: Sequence[str]) -> Iterator[int]:
    """Yield the sizes of the files that a command line names [bytes]."""
    for word in words:
        with suppress(OSError, ValueError):
            # Also the file of `--body=robot.wrl`.
            yield Path(word.rpartition("=")[2]).stat().st_size


def run_contained(
    program: Program, name: str, words: Sequence[str], limits: ProcessLimits
) -> int:
    """Run a command in a child process, and return its exit code.

    Raises
    ------
    FormatError
        When a limit is exceeded (FMT013), or the process ends (FMT014).
    """
    from bodymotion.formats.untrusted import describe_end

    with _stream(sys.stdout) as stdout, _stream(sys.stderr) as stderr:
        process = LimitedProcess(streams=(stdout, stderr), shares_files=True)
        try:
            process.submit(program.run, name, list(words), limits=limits)
            code: int = process.receive()
        except (ProcessEndedError, MemoryError) as error:
            # The message names the first file of the command line, as the one that was
            # read may be unknown.
            files = [word for word in words if Path(word).is_file()]
            path = Path(files[0] if files else name)
            raise describe_end(error, path) from None
        finally:
            process.end()
    return code


@contextmanager
def _stream(stream: TextIO) -> Iterator[Any]:
    """Return a file that a child process can write to, for a stream of this process.

    Its content goes to the stream at the end.
    """
    with suppress(OSError, ValueError):
        # What was printed before comes before what the child prints.
        stream.flush()
    try:
        descriptor = stream.fileno()
    except (OSError, AttributeError, ValueError):
        descriptor = None
    # A stream of a test or notebook is no file: its text is copied at the end.
    if descriptor is not None:
        yield descriptor
        return
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as copy:
        try:
            yield copy.fileno()
        finally:
            copy.seek(0)
            shutil.copyfileobj(copy, stream)
