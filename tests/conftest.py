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


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder with the sample files."""
    if not (CORPUS / "INDEX.csv").is_file():
        missing(f"the sample folder {CORPUS} (BODYMOTION_CORPUS names another)")
    return CORPUS


@pytest.fixture(scope="session")
def examples() -> Path:
    """The folder with the project's own examples."""
    return ROOT / "examples"
