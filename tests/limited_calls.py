"""Functions for child processes with limits: each does one thing that a file of others could cause."""

from __future__ import annotations

import os
import time
from decimal import Decimal
from pathlib import Path

import numpy as np

from bodymotion.motion import Motion
from bodymotion.system.files import whole_file


def abort() -> None:
    os.abort()


def compute() -> None:
    while True:
        pass


def wait() -> None:
    time.sleep(600)


def allocate(count: int) -> int:
    return len(bytearray(count))


def write(path: Path, count: int) -> int:
    """Write so many bytes to a file, and return its size."""
    path.write_bytes(bytes(count))
    return path.stat().st_size


def foreign_value() -> object:
    return Decimal(1)


def motion_of_columns() -> Motion:
    """Return a motion whose values are a view of every second column."""
    columns = np.arange(24.0).reshape(4, 6)[:, ::2]
    return Motion.from_joints(columns, 10, joint_names=["a", "b", "c"])


def write_and_abort(path: Path) -> None:
    with whole_file(path) as stream:
        stream.write(b"half")
        stream.flush()
        os.abort()


def half(number: int) -> float:
    return number / 2
