"""What a row of numbers must look like, and where its numbers go."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from bodymotion.formats.seq.bits import Bytes, Places
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats

__all__ = ["MULTI_SE3", "MULTI_VALUE", "OLD_TYPES", "SE3_SIZES", "TYPES", "VECTOR3", "Layout"]

MULTI_VALUE, MULTI_SE3, VECTOR3 = "MultiValueSeq", "MultiSE3Seq", "Vector3Seq"
TYPES = {MULTI_VALUE: MULTI_VALUE, MULTI_SE3: MULTI_SE3, VECTOR3: VECTOR3}
"""The types of components, by their names."""
OLD_TYPES = {**TYPES, "MultiSe3Seq": MULTI_SE3, "MultiAffine3Seq": MULTI_SE3}
"""The same by all names that version 1 has for them."""

SE3_SIZES = {"XYZQWQXQYQZ": 7, "XYZQXQYQZQW": 7, "XYZRPY": 6}
"""The orders of a pose's numbers, and how many they are."""


@dataclass(frozen=True)
class Layout:
    """A row: its time first where `stamped`, then `parts` numbers, or (with an `order`) `parts` nested poses of that order."""

    parts: int
    stamped: bool = False
    order: str | None = None

    @property
    def pose_size(self) -> int:
        """How many numbers a pose has; 0 where there are no poses."""
        return SE3_SIZES[self.order] if self.order else 0

    @property
    def width(self) -> int:
        """How many numbers a row has in all."""
        return self.stamped + self.parts * (self.pose_size or 1)

    @cached_property
    def pattern(self) -> tuple[Bytes, Places]:
        """The brackets of a row, and how many commas of the row stand before each."""
        if not self.order:
            return np.frombuffer(b"[]", np.uint8), np.array([0, self.width - 1])
        size = self.pose_size
        opening = self.stamped + np.arange(self.parts) * size
        commas = np.stack([opening, opening + size - 1], axis=1).ravel()
        return (
            np.frombuffer(b"[" + b"[]" * self.parts + b"]", np.uint8),
            np.concatenate([[0], commas, [self.width - 1]]).astype(np.intp),
        )

    def empty(self, rows: int) -> tuple[Floats, Floats | None]:
        """Make room for the values of `rows` rows, and for their times where they have any."""
        shape = (rows, self.parts, 7) if self.order else (rows, self.parts)
        return np.empty(shape), np.empty(rows) if self.stamped else None

    def store(self, rows: npt.NDArray[np.float64], values: Floats, times: Floats | None) -> None:
        """Put rows (N, width) as read where they belong: poses as x y z, w x y z."""
        if times is not None:
            times[:] = rows[:, 0]
            rows = rows[:, 1:]
        if self.order is None:
            values[:] = rows
            return
        poses = rows.reshape(len(rows), self.parts, self.pose_size)
        values[..., :3] = poses[..., :3]
        if self.order == "XYZQWQXQYQZ":
            values[..., 3:] = poses[..., 3:]
        elif self.order == "XYZQXQYQZQW":
            values[..., 3] = poses[..., 6]
            values[..., 4:] = poses[..., 3:6]
        else:
            with np.errstate(invalid="ignore"):  # an infinite angle is no rotation: nan, which the reader reports
                values[..., 3:] = rotations.from_rpy(poses[..., 3:])
