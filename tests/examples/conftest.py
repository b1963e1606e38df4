"""The robot and the walk of the examples, read once."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import bodymotion as bm

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="session")
def body() -> bm.Body:
    return bm.load(EXAMPLES / "biped.wrl")


@pytest.fixture(scope="session")
def motion() -> bm.Motion:
    return bm.load(EXAMPLES / "biped_walk.seq")


@pytest.fixture(scope="session")
def link_poses(body, motion) -> np.ndarray:
    return body.link_poses(motion)


@pytest.fixture(scope="session")
def make():
    """The package beside the examples that makes them."""
    sys.path.insert(0, str(EXAMPLES))
    yield lambda name: importlib.import_module(name)
    sys.path.remove(str(EXAMPLES))
