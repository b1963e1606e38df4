"""Colours as television has them: brightness, and how much bluer and redder than grey, in the narrow range of eight bits.

ITU-R BT.709-6, 3.2 to 3.5: Y = 0.2126 R + 0.7152 G + 0.0722 B, kept as 16 + 219 Y; (B - Y) / 1.8556 and
(R - Y) / 1.5748, each kept as 128 + 224 of it.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.kernels.compiling import kernel

__all__ = ["to_planes"]

Bytes: TypeAlias = npt.NDArray[np.uint8]
Shares: TypeAlias = npt.NDArray[np.float32]

_SHARES = np.array([0.2126, 0.7152, 0.0722])
LIGHT = np.array([*(219 / 255 * _SHARES), 16.5], dtype=np.float32)
BLUER = np.array([*(224 / 255 / 1.8556 * ([0.0, 0.0, 1.0] - _SHARES)), 128.5], dtype=np.float32)
REDDER = np.array([*(224 / 255 / 1.5748 * ([1.0, 0.0, 0.0] - _SHARES)), 128.5], dtype=np.float32)
"""The shares of red, green and blue, and what is added, with a half to round by."""


def to_planes(picture: Bytes, light: Bytes, bluer: Bytes, redder: Bytes) -> None:
    """Write a picture (H, W, 4) of red, green, blue and one that says nothing, the lowest row first, as planes, the highest row first.

    `light` is (H, W); `bluer` and `redder` are, too, or of the mean of four pixels each, (H/2, W/2).
    """
    flat = np.ascontiguousarray(picture).reshape(len(picture), -1)
    _weighed(flat, LIGHT, light)
    if bluer.shape != light.shape:
        halved = np.empty((bluer.shape[0], 4 * bluer.shape[1]), dtype=np.uint8)
        _halved(flat, halved)
        flat = halved
    _weighed(flat, BLUER, bluer)
    _weighed(flat, REDDER, redder)


@kernel
def _weighed(picture: Bytes, shares: Shares, out: Bytes) -> None:
    for i in range(len(out)):
        _weigh(picture[-1 - i], shares, out[i])


@kernel
def _weigh(row: Bytes, shares: Shares, out: Bytes) -> None:
    """Weigh one row; in a function of its own, the compiler looks at many pixels at once."""
    red, green, blue, more = shares
    for j in range(len(out)):
        r, g, b = np.float32(row[4 * j]), np.float32(row[4 * j + 1]), np.float32(row[4 * j + 2])
        out[j] = np.uint8(np.int32(red * r + green * g + blue * b + more))


@kernel
def _halved(picture: Bytes, out: Bytes) -> None:
    for i in range(out.shape[0]):
        one, other, into = picture[2 * i], picture[2 * i + 1], out[i]
        for j in range(out.shape[1] // 4):
            for k in range(4):
                at = 8 * j + k
                into[4 * j + k] = np.uint8((np.int32(one[at]) + one[at + 4] + other[at] + other[at + 4] + 2) >> 2)
