"""Keys of a .body file with angles and poses.

`formats.yaml.fields` reads all others.

Angles come in degrees or radians, as the file's header has it, and are returned in
radians. A rotation is an axis and an angle, or a list of such, of which the last is
applied first; a translation is three numbers, or a list of such to be added up.
"""

import math
from collections.abc import Iterator

import numpy as np

from bodymotion.diagnostics.text import counted
from bodymotion.formats.choreonoid_body import rules
from bodymotion.formats.rules import TOO_LARGE
from bodymotion.formats.yaml import fields as yaml_fields
from bodymotion.formats.yaml.fields import reads, shown
from bodymotion.formats.yaml.rules import WRONG_VALUE
from bodymotion.formats.yaml.tree import Node, Sequence
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.geometry.rotations import MAX_ROTATION
from bodymotion.model.rules import QUATERNION, ZERO_QUATERNION
from bodymotion.motion.rules import MAX_LENGTH_ERROR

TWELFTHS_OF_PI = 2, 3, 4, 6, 8, 9, 12, 18, 24
"""Angles by which links are rotated.

30°, 45°, 60°, 90° and so on, as numbers of π/12 rad.
"""

MAX_AXIS_ERROR = 1e-2
"""Difference of the length of an axis from 1 that is no rounding of a file."""


class Fields(yaml_fields.Fields):
    """The keys of one mapping of a model."""

    def rows(self, *names: str, width: int) -> Floats | None:
        """Return a flat list of numbers as rows (N, width), infinite ones too.

        None where the key is missing.
        """
        values = self.numbers(*names)
        if values is None:
            return None
        # An incomplete last row is left out, and reported.
        left = len(values) % width
        if left:
            message = (
                f"{names[0]} of {self.title} has {len(values)} numbers, "
                f"expected a multiple of {width}"
            )
            self.report(rules.LEFT_OVER, message, names[0])
        return frozen(
            np.array(values[: len(values) - left], dtype=np.float64).reshape(-1, width)
        )

    def angle(self, *names: str, default: float) -> float:
        """Return an angle [rad]; `default` is in radians."""
        # nan stands for a missing key: the default is in radians already.
        angle = self.number(*names, default=math.nan)
        if math.isnan(angle):
            return default
        return angle * self.context.angle_unit

    @reads(None)
    def translation(self, value: Node, name: str) -> tuple[float, ...]:
        """Return a translation (3,) [m], the sum where there are several.

        None where the key is missing.
        """
        total = [0.0, 0.0, 0.0]
        for part in self._lists(value, name):
            total = [
                a + b for a, b in zip(total, self._list(part, name, 3), strict=True)
            ]
        return tuple(total)

    @reads(None)
    def rotation(self, value: Node, name: str) -> tuple[float, ...]:
        """Return a rotation as a quaternion w x y z.

        The product where there are several; None where the key is missing.
        """
        total: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0)
        for part in self._lists(value, name):
            # The last in the list is applied first: it is on the right.
            total = tuple(
                rotations.multiply(total, self._rotation(part, name)).tolist()
            )
        return total

    def _lists(self, value: Node, name: str) -> Iterator[Sequence]:
        """Return the lists of numbers in a list.

        They may be in lists to any depth.
        """
        if not isinstance(value, Sequence):
            self.refuse(name, "a list of numbers", value)
        # Either numbers or lists, not both.
        nested = [item for item in value.items if isinstance(item, Sequence)]
        if nested and len(nested) < len(value.items):
            self.refuse(name, "a list of numbers, or of lists of numbers", value)
        if not nested:
            yield value
        for item in nested:
            # Aliases of lists in lists grow exponentially.
            self.context.nested_left -= 1
            if self.context.nested_left < 0:
                raise TOO_LARGE.error(
                    f"{name} of {self.title} expands to too many lists", value.location
                )
            yield from self._lists(item, name)

    def _list(self, part: Sequence, name: str, count: int) -> list[float]:
        numbers = [self.scalar_number(name, item) for item in part.items]
        if len(numbers) != count:
            found = counted(len(numbers), "number")
            message = f"{name} of {self.title} has {found}; expected {count}"
            raise WRONG_VALUE.error(message, part.location)
        if not all(map(math.isfinite, numbers)):
            self.not_finite(name, *numbers, where=part.location)
            return [0.0] * count
        return numbers

    def _rotation(self, part: Sequence, name: str) -> tuple[float, ...]:
        """Return one rotation as a quaternion w x y z."""
        x, y, z, angle = self._list(part, name, 4)
        # Without the large and the tiny, squares stay in range.
        largest = max(abs(x), abs(y), abs(z))
        found = self.context.found
        # An axis 0 0 0 with the angle 0 means no rotation.
        if largest == 0.0:
            if angle != 0.0:
                self.unknown.add(name)
                message = f"{name} of {self.title} has the axis 0 0 0"
                found.report(
                    ZERO_QUATERNION,
                    message,
                    part.location,
                    hint="write 0, 0, 1, 0 for no rotation",
                )
            return (1.0, 0.0, 0.0, 0.0)
        x = x / largest
        y = y / largest
        # After division by the largest component, all are at most 1.
        z = z / largest
        length = math.sqrt(x * x + y * y + z * z)
        error = abs(length * largest - 1.0)
        if angle != 0.0 and error > MAX_AXIS_ERROR:
            axis = shown([x * largest, y * largest, z * largest])
            message = (
                f"{name} of {self.title} has the axis {axis}, of length "
                f"{length * largest:.6g}"
            )
            angles_hint = (
                "are these angles? A rotation is an axis and an angle, neither three "
                "angles nor a quaternion"
            )
            hint = angles_hint if error > MAX_LENGTH_ERROR else None
            found.report(QUATERNION, message, part.location, hint=hint)
        self._check_angle(part, name, angle)
        # q = (cos θ/2, a · sin θ/2), with a = (x, y, z) / length.
        half = 0.5 * angle * self.context.angle_unit
        sine = math.sin(half) / length
        return (math.cos(half), x * sine, y * sine, z * sine)

    def _check_angle(self, part: Sequence, name: str, angle: float) -> None:
        """Report an angle that is probably in the other unit.

        Many turns in radians, or a part of π in degrees.
        """
        message = f"{name} of {self.title} has the angle {angle:g}"
        hint = None
        if self.context.angle_unit == 1.0:
            if abs(angle) <= MAX_ROTATION:
                return
            message += f" rad, {abs(angle) / (2 * math.pi):.3g} full turns"
            hint = (
                "it looks like degrees: multiply it by π/180, "
                "or write angle_unit: degree"
            )
        elif abs(angle) > MAX_ROTATION:
            # More than a turn can only be degrees.
            return
        else:
            # A part of π in a file of degrees was meant in radians.
            twelfths = abs(angle) * 12 / math.pi
            whole = round(twelfths)
            if whole not in TWELFTHS_OF_PI or abs(twelfths - whole) > 1e-3 * whole:
                return
            message += f" degrees, and {abs(angle):g} rad would be {15 * whole}°"
        self.context.found.report(rules.DEGREES, message, part.location, hint=hint)


def angle_unit(header: Fields, default: float) -> float:
    """Return an angle of 1 in radians, as a file's header defines it.

    `default` where it does not.
    """
    word = header.text("angle_unit")
    if word not in ("", "degree", "radian"):
        header.reject(
            rules.ANGLE_UNIT,
            f"angle_unit is {word!r:.60}; expected degree or radian",
            "angle_unit",
        )
    return {"": default, "radian": 1.0}.get(word, math.pi / 180.0)
