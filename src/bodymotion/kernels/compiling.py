"""How kernels are compiled: without the interpreter's lock, as NumPy divides, kept on disk where there is a place for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from numba import njit

__all__ = ["inlined", "kernel"]

_F = TypeVar("_F", bound=Callable[..., object])


def kernel(function: _F) -> _F:
    """Compile a function that Python calls; its machine code is kept on disk unless no folder for it can be written."""
    try:
        return cast(_F, njit(nogil=True, error_model="numpy", cache=True)(function))
    except RuntimeError:
        return cast(_F, njit(nogil=True, error_model="numpy")(function))


def inlined(function: _F) -> _F:
    """Compile a function that kernels call, fusing multiplications and additions.

    It has no cache entry of its own: with one it would be linked to its callers, not inlined into them.
    """
    return cast(_F, njit(nogil=True, error_model="numpy", fastmath={"contract"})(function))
