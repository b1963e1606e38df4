"""The command `bodymotion`: one file per verb; each parses, calls the library and prints.

Results go to stdout, messages to stderr. Exit codes: 0 fine, 1 problems found or failed, 2 wrong use, 3 done but something was lost,
130 interrupted.
"""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command with the arguments of the process; never returns but by `SystemExit`."""
    from bodymotion.cli.app import app

    app(prog_name="bodymotion")
