"""The folders that tests of all rooms look into."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from sample_files import CORPUS, ROOT, missing

settings.register_profile("shared machines", deadline=None)
settings.load_profile("shared machines")


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
