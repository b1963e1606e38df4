"""The folders that tests of all rooms look into."""

from __future__ import annotations

import gc
import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from bodymotion.kernels import compiling
from browser_fixtures import chromium, page  # noqa: F401
from sample_files import CORPUS, ROOT, STRANGERS, UNBOUNDED, missing, tries

# Where CI=true the same examples are tried each time, so that a change is judged by itself; elsewhere new ones are looked for.
settings.register_profile(
    "shared machines",
    deadline=None,
    max_examples=tries(100),
    derandomize=os.environ.get("CI") == "true",
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("shared machines")
# A program that has done much gets compiled code, with other last digits: what a test compares must not depend on the tests before it.
# The size of each input decides alone: motions as long as recorded ones get the code that such a program has.
compiling.MAX_NUMPY_WORK, compiling.MAX_NUMPY_WORK_IN_ALL = 10_000, sys.maxsize
compiling._Kernel.is_compiled = False
# The processes that tests start need not compile the same modules each time, and end by Ctrl-C also where a shell runs the tests in the
# background, which makes it ignored.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Leave the thousands of tests, and the modules they are in, out of each later collection of garbage."""
    gc.freeze()


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder with the sample files."""
    if not (CORPUS / "INDEX.csv").is_file():
        missing(f"the sample folder {CORPUS} (BODYMOTION_CORPUS names another)")
    return CORPUS


@pytest.fixture(scope="session")
def strangers() -> Path:
    """The folder with the inputs of public problem reports, by case number."""
    if not STRANGERS.is_dir():
        missing(f"the folder {STRANGERS}")
    return STRANGERS


@pytest.fixture(scope="session")
def unbounded() -> Path:
    """The folder with inputs that once took memory or time without end."""
    if not UNBOUNDED.is_dir():
        missing(f"the folder {UNBOUNDED}")
    return UNBOUNDED


@pytest.fixture(scope="session")
def examples() -> Path:
    """The folder with the project's own examples."""
    return ROOT / "examples"
