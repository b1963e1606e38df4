"""Where the sample files are, and what a missing one means: a skip here, a failure where CI=true."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CORPUS = Path(os.environ.get("BODYMOTION_CORPUS", ROOT.parent / "shared" / "corpus"))


def missing(what: str) -> None:
    """Skip with the reason; fail where CI=true."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{what} is missing, and CI=true")
    pytest.skip(f"{what} is missing")


def corpus_files(*patterns: str) -> list[Path]:
    """List sample files by glob patterns below the corpus, for parametrized tests; empty where it is absent."""
    return sorted(path for pattern in patterns for path in CORPUS.glob(pattern))
