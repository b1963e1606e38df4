"""The names of the methods, and what all of them ask of time stamps."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np

from bodymotion.geometry.arrays import Floats

__all__ = ["HOLDING", "Method", "check_increasing", "check_method", "check_rate"]

Method: TypeAlias = Literal["after", "nearest", "before", "linear", "cubic", "pchip"]

HOLDING = ("after", "nearest", "before")
"""The methods that hold a value until the next one."""


def check_method(method: Method) -> None:
    """Raise ValueError, naming those that exist, when there is no such method."""
    if method not in get_args(Method):
        raise ValueError(f"no method {method!r}; there are: {', '.join(get_args(Method))}")


def check_rate(frame_rate: float) -> None:
    """Raise ValueError when a frame rate is not a positive, finite number."""
    if not 0 < frame_rate < np.inf:
        raise ValueError(f"a frame rate is a positive, finite number of Hz, not {frame_rate}")


def check_increasing(times: Floats) -> None:
    """Raise ValueError, naming the first fault, when times (T,) are not finite or do not increase strictly, as the document demands."""
    finite = np.isfinite(times)
    if not finite.all():
        frame = int(np.argmin(finite))
        raise ValueError(f"frame {frame} has no finite time stamp but {times[frame]}")
    rising = np.diff(times) > 0
    if not rising.all():
        frame = int(np.argmin(rising)) + 1
        raise ValueError(
            f"time stamps must increase, frame {frame} is at {times[frame]:g} s and the one before it at {times[frame - 1]:g} s"
        )
