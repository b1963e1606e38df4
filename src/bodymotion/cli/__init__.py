"""The command `bodymotion`: one module per command.

Each parses its arguments, calls the library and prints.

Results go to stdout, messages to stderr. Exit codes: 0 done, 1 problems found or failed
(diff: different), 2 wrong use, 3 (only with `--strict-losses`) done but something was
lost that matters, 129 terminal closed, 130 interrupted, 141 reader of the output gone,
143 terminated.
"""

import errno
import gc
import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

PIPE_CLOSED = 141  # Exit code of a program that SIGPIPE ended, as shells expect it.


def main() -> None:
    """Run the command with the arguments of the process.

    End with `SystemExit`.
    """
    _open_closed_streams()
    if sys.flags.optimize >= 2:
        print(
            "bodymotion: the command reads its options from docstrings, which `python "
            "-OO` "
            "and PYTHONOPTIMIZE=2 leave out; use PYTHONOPTIMIZE=1",
            file=sys.stderr,
        )
        raise SystemExit(1)
    signal.signal(signal.SIGTERM, _terminate)
    # Where Ctrl-C is ignored, as under nohup, it stays so.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
    # Under nohup a closed terminal must not end the command.
    if (
        hasattr(signal, "SIGHUP")
        and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN
    ):
        signal.signal(signal.SIGHUP, _terminate)
    # The command draws nothing with MuJoCo, whose import looks for a window system with
    # a process of its own.
    os.environ.setdefault("MUJOCO_GL", "disable")
    # Long motions are shared by threads of ours; those of NumPy's OpenBLAS would use up
    # a processor while they wait for work.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Numbers that are not finite are findings and losses; NumPy's lines about them,
    # also those of the processes that share many files, name lines of our code.
    if not sys.warnoptions:
        os.environ["PYTHONWARNINGS"] = "ignore::RuntimeWarning"
        warnings.simplefilter("ignore", RuntimeWarning)
    try:
        from bodymotion.cli.app import app

        app(prog_name="bodymotion")
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except OSError as error:
        if error.errno != errno.EBADF:  # stdout was closed
            raise
        reason = f"the results cannot be written: {error.strerror}"
        print(f"bodymotion: {reason}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        raise SystemExit(1) from None
    except SystemExit as end:
        _exit_at_once(end.code)
        raise
    finally:
        # The process ends: the search for cycles in hundreds of modules would take a
        # tenth of a short command's time.
        gc.freeze()


@contextmanager
def failures(command: str, *errors: type[Exception]) -> Iterator[None]:
    """Turn exceptions about files and values into messages on stderr.

    They, and `errors`, end with exit code 1, wrong use with 2, Ctrl-C with 130.
    """
    import click

    from bodymotion.cli.output import one_line, print_message, show_problems
    from bodymotion.diagnostics import FormatError, WrongUseError

    expected: tuple[type[Exception], ...] = (
        ValueError,
        MemoryError,
        ImportError,
        *errors,
    )
    try:
        yield
    except FormatError as error:
        show_problems(
            [problem for problem in error.problems if problem.severity == "error"]
            or [error.problem]
        )
        raise click.exceptions.Exit(1) from None
    # Before ValueError, of which it is one: exit code 2.
    except WrongUseError as error:
        raise click.BadParameter(one_line(error)) from None
    # Before OSError, of which it is one: the reader of the output has ended.
    except BrokenPipeError:
        raise click.exceptions.Exit(PIPE_CLOSED) from None
    except OSError as error:
        # Errors of libraries may have neither.
        if error.filename and error.strerror:
            text = f"{error.filename}: {error.strerror}"
        else:
            text = str(error)
        print_message(f"bodymotion {command}: {text}")
        raise click.exceptions.Exit(1) from None
    except expected as error:
        print_message(f"bodymotion {command}: {str(error) or 'not enough memory'}")
        raise click.exceptions.Exit(1) from None
    except KeyboardInterrupt:
        raise click.exceptions.Exit(130) from None


def _open_closed_streams() -> None:
    """Open the standard streams that the parent process has closed (`2>&-`).

    A file that is opened later would get their numbers. Messages go nowhere; results
    cannot be written, which is reported.
    """
    # stdout is opened for reading: writing to it then fails, and is reported.
    modes = {"stdin": ("r", os.O_RDONLY), "stdout": ("w", os.O_RDONLY)}
    modes["stderr"] = ("w", os.O_WRONLY)
    for number, (name, (mode, flags)) in enumerate(modes.items()):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, flags)
            if descriptor != number:
                os.dup2(descriptor, number)
                os.close(descriptor)
            setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115


def _exit_at_once(code: object) -> None:
    """End at once where a thread still compiles kernels for the viewer.

    The interpreter would wait for it. DuckDB would list its leaks.
    """
    compiling = sys.modules.get("bodymotion.kernels.compiling")
    if "duckdb" in sys.modules or (
        compiling is not None and compiling.still_compiling()
    ):
        limited = sys.modules.get("bodymotion.system.limited")
        if limited is not None:
            # `os._exit` does not run functions of `atexit`.
            limited.end_idle()
        sys.stdout.flush()
        sys.stderr.flush()
        if not isinstance(code, int):
            code = 1 if code else 0
        os._exit(code)


class _Interrupt(KeyboardInterrupt):
    """Ctrl-C.

    `python -m` ends by the signal, not by an exit code, once a KeyboardInterrupt left
    an `exec` of text, as in imports. A subclass of it does not.
    """


def _interrupt(number: int, frame: object) -> None:
    raise _Interrupt


def _terminate(number: int, frame: object) -> None:
    """End as after an exception: files that are being written are removed."""
    raise SystemExit(128 + number)
