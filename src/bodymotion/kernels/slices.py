"""Work divided by frames among threads. Kernels hold no interpreter lock, so the threads run side by side."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np

from bodymotion.geometry.arrays import Floats, frozen

__all__ = ["as_rows", "in_slices"]

FEW = 512
"""Up to so many frames one thread is faster than several."""


def as_rows(values: Floats, shape: tuple[int, ...]) -> Floats:
    """Return values in a shape, contiguous and read-only: for any other mix of the two, a kernel would be compiled once more."""
    return frozen(np.ascontiguousarray(values).reshape(shape))


def in_slices(count: int, work: Callable[[int, int], None], few: int = FEW) -> None:
    """Call `work(start, stop)` for slices that together are 0…count; on several threads where there are more than `few`."""
    workers = os.cpu_count() or 1
    if count <= few or workers == 1:
        work(0, count)
        return
    edges = np.linspace(0, count, min(4 * workers, count) + 1).astype(int)
    list(_pool().map(work, edges[:-1], edges[1:]))


@cache
def _pool() -> ThreadPoolExecutor:
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_pool.cache_clear)
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="bodymotion-kernel")
