"""Where the sample files are, what a missing one means (a skip here, a failure where CI=true), and how much of them a run tries.

`make test` tries a part of what can be tried many times over: every tenth of the sample files of a kind, a tenth of the examples that
hypothesis makes. `make accept` (ACCEPT=1) runs the same tests, with the same assertions, over all of them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import pytest

ROOT = Path(__file__).resolve().parent.parent
CORPUS = Path(os.environ.get("BODYMOTION_CORPUS", ROOT.parent / "shared" / "corpus"))
STRANGERS = CORPUS.parent / "strangers"
"""Inputs made after public problem reports, one folder for each case."""
UNBOUNDED = CORPUS.parent / "hostile"
"""Inputs that once took memory or time without end: open them with limits."""
ACCEPT = os.environ.get("ACCEPT") == "1"
"""Whether everything is tried."""
PART = 10
"""One of so many is tried otherwise."""
T = TypeVar("T")


def tries(number: int) -> int:
    """Return how many examples hypothesis makes of a test that makes `number` of them in acceptance."""
    return number if ACCEPT else min(number, max(number // PART, 5))


def sampled(items: Sequence[T], least: int = 10) -> list[T]:
    """Return all items in acceptance, else every tenth of them, at least `least`, spread evenly."""
    number = len(items) if ACCEPT else max(len(items) // PART, least)
    if number >= len(items):
        return list(items)
    return [items[k * len(items) // number] for k in range(number)]


def missing(what: str) -> None:
    """Skip with the reason; fail where CI=true."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{what} is missing, and CI=true")
    pytest.skip(f"{what} is missing")


def corpus_files(*patterns: str) -> list[Path]:
    """List sample files by glob patterns below the corpus, for parametrized tests; empty where it is absent."""
    return sorted(path for pattern in patterns for path in CORPUS.glob(pattern))
