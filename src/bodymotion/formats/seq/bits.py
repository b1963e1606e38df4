"""Sets of byte positions as bit maps, 64 positions to a word: 'how many commas are before here' for thousands of places at once."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Bytes: TypeAlias = npt.NDArray[np.uint8]
Words: TypeAlias = npt.NDArray[np.uint64]
Places: TypeAlias = npt.NDArray[np.intp]

__all__ = ["Bytes", "Places", "Rank", "Words", "after", "before", "bit_map", "places"]


def bit_map(mask: npt.NDArray[np.bool_]) -> Words:
    """Pack a mask (N,) into words: bit i % 64 of word i // 64 is mask[i]. One empty word follows."""
    packed = np.zeros((len(mask) // 64 + 2) * 8, np.uint8)
    packed[: (len(mask) + 7) // 8] = np.packbits(mask, bitorder="little")
    return packed.view("<u8")


def after(words: Words) -> Words:
    """Move each position one up: i is in the result when i − 1 is in `words`."""
    moved = words << np.uint64(1)
    moved[1:] |= words[:-1] >> np.uint64(63)
    return moved


def before(words: Words) -> Words:
    """Move each position one down: i is in the result when i + 1 is in `words`."""
    moved = words >> np.uint64(1)
    moved[:-1] |= words[1:] << np.uint64(63)
    return moved


def places(words: Words) -> Places:
    """List the positions in a (sparse) map, in order."""
    hit = np.flatnonzero(words)
    bits = np.unpackbits(words[hit].view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
    row, bit = np.nonzero(bits)
    return np.asarray(hit[row] * 64 + bit)


class Rank:
    """Counts the positions of a map before given ones."""

    def __init__(self, words: Words) -> None:
        self.words = words
        counts = np.bitwise_count(words).astype(np.intp)
        self.total = np.cumsum(counts) - counts

    def __call__(self, positions: Places) -> Places:
        """Return for each position how many of the map's are before it."""
        word = positions >> 6
        below = (np.uint64(1) << (positions & 63).astype(np.uint64)) - np.uint64(1)
        return np.asarray(self.total[word] + np.bitwise_count(self.words[word] & below))
