"""The command `bodymotion`: one file per verb; each parses, calls the library and prints.

Results go to stdout, messages to stderr. Exit codes: 0 fine, 1 failed (diff: different), 2 wrong use, 3 done but something was lost,
129 terminal closed, 130 interrupted, 143 terminated.
"""

from __future__ import annotations

import signal

__all__ = ["main"]


def main() -> None:
    """Run the command with the arguments of the process; never returns but by `SystemExit`."""
    signal.signal(signal.SIGTERM, _terminated)
    # Under nohup a closed terminal is to end nothing.
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, _terminated)
    from bodymotion.cli.app import app

    app(prog_name="bodymotion")


def _terminated(number: int, frame: object) -> None:
    """End as after an exception: files that are being written are cleaned up."""
    raise SystemExit(128 + number)
