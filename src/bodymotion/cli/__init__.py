"""The command `bodymotion`: one file per verb; each parses, calls the library and prints.

Results go to stdout, messages to stderr. Exit codes: 0 fine, 1 failed (diff: different), 2 wrong use, 3 done but something was lost,
129 terminal closed, 130 interrupted, 143 terminated.
"""

from __future__ import annotations

import os
import signal
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command with the arguments of the process; never returns but by `SystemExit`."""
    signal.signal(signal.SIGTERM, _terminated)
    # Under nohup a closed terminal is to end nothing.
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, _terminated)
    from bodymotion.cli.app import app

    try:
        app(prog_name="bodymotion")
    except SystemExit as end:
        _leave_compiling(end.code)
        raise


def _leave_compiling(code: object) -> None:
    """End at once where a thread still compiles something for the viewer: nobody waits for that after Ctrl-C."""
    from bodymotion.kernels.background import still_compiling

    if still_compiling():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 1 if code else 0)


def _terminated(number: int, frame: object) -> None:
    """End as after an exception: files that are being written are cleaned up."""
    raise SystemExit(128 + number)
