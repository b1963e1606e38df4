"""Stdout for results: whoever reads it may stop (`| head`), and its encoding may not hold every character."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

import typer

__all__ = ["PIPE_CLOSED", "results"]

PIPE_CLOSED = 141
"""The exit code of a program that SIGPIPE ended: what a shell expects here."""


@contextmanager
def results() -> Iterator[TextIO]:
    """Return stdout to write results to; when its reader has gone, end quietly."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        yield sys.stdout
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(PIPE_CLOSED) from None
