"""The table of measurable quantities.

Name, title, unit, columns by name, limits. Plots, tables and pages read it.

A new quantity is a new row of `QUANTITIES`; everything that shows or writes quantities
includes it then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Literal

import numpy as np

from bodymotion.diagnostics import ShortRepr
from bodymotion.diagnostics.spelling import choices
from bodymotion.diagnostics.text import distinct
from bodymotion.geometry.arrays import ContentEquality, Floats, frozen
from bodymotion.model.links import effort_range

if TYPE_CHECKING:
    from bodymotion.dynamics.measures import Measures
    from bodymotion.model.links import Joint

Of = Literal["joint", "link", "foot", "axis", "body"]

AXES = ("x", "y", "z")


@dataclass(frozen=True, eq=False, kw_only=True)
class Series(ContentEquality):
    """A quantity along a motion: N named columns over T frames.

    Attributes
    ----------
    name, title:
        The key in `QUANTITIES`, and the title.
    of:
        What each column belongs to: a "joint", a "link", a "foot", an "axis" of the
        world, or the whole "body".
    labels, units:
        Of the N columns; labels are unique. Units are SI ("rad/s", "Nm" …), "" without
        a unit.
    times:
        (T,) [s].
    values:
        (T, N); NaN where undefined.
    lower, upper:
        (N,) the limits of the columns in the same units, ±inf where there is none; None
        where no column has any.
    """

    name: str
    title: str
    of: Of
    labels: tuple[str, ...]
    units: tuple[str, ...]
    times: Floats
    values: Floats
    lower: Floats | None = None
    upper: Floats | None = None

    def column(self, label: str) -> Floats:
        """Return the column (T,) of that label.

        Raises
        ------
        KeyError
            When there is none; the message lists those that exist.
        """
        if label not in self.labels:
            raise KeyError(
                f"{self.title} has no column {label!r}; {choices(label, self.labels)}"
            )
        return np.asarray(self.values[:, self.labels.index(label)])

    def select(self, labels: Sequence[str]) -> Series:
        """Return these columns only, in this order; KeyError as in `column`."""
        for label in labels:
            self.column(label)
        columns = [self.labels.index(label) for label in labels]
        return replace(
            self,
            labels=tuple(labels),
            units=tuple(self.units[k] for k in columns),
            values=frozen(self.values[:, columns]),
            lower=None if self.lower is None else frozen(self.lower[columns]),
            upper=None if self.upper is None else frozen(self.upper[columns]),
        )

    def in_degrees(self) -> Series:
        """Return the series with degrees instead of radians, for people to read."""
        turns = np.array([unit.startswith("rad") for unit in self.units], dtype=bool)
        factors = np.where(turns, np.rad2deg(1.0), 1.0)
        return replace(
            self,
            units=tuple(
                "°" + unit[3:] if turned else unit
                for unit, turned in zip(self.units, turns, strict=True)
            ),
            values=frozen(self.values * factors),
            lower=None if self.lower is None else frozen(self.lower * factors),
            upper=None if self.upper is None else frozen(self.upper * factors),
        )


@dataclass(frozen=True)
class Quantity(ShortRepr):
    """A row of the table.

    `unit` is that of rotating joints, then after "|" that of sliding ones where it is
    another; `values` returns (T,) or (T, N) of
    measures for which `exists` is true, by default their attribute of the name of the
    row; `limits` returns the lower and the upper limit of a joint, or None.
    """

    title: str
    of: Of
    unit: str
    values: Callable[[Measures], Floats | None] | None = None
    exists: Callable[[Measures], bool] = lambda m: True
    limits: Callable[[Joint], tuple[float, float] | None] | None = None


def _jointed(m: Measures) -> bool:
    return m.body.num_joints > 0


def _on_ground(m: Measures) -> bool:
    """Return whether feet can carry the body.

    Its root is not mounted, it has mass, and there are feet.
    """
    return not m.is_mounted and m.body.mass > 0 and bool(m.feet.links)


QUANTITIES: dict[str, Quantity] = {
    "joint_displacements": Quantity(
        "Joint displacements",
        "joint",
        "rad|m",
        exists=_jointed,
        limits=attrgetter("lower", "upper"),
    ),
    "joint_velocities": Quantity(
        "Joint velocities",
        "joint",
        "rad/s|m/s",
        exists=_jointed,
        limits=attrgetter("velocity_lower", "velocity_upper"),
    ),
    "joint_accelerations": Quantity(
        "Joint accelerations", "joint", "rad/s²|m/s²", exists=_jointed
    ),
    "torques": Quantity(
        "Joint torques", "joint", "Nm|N", exists=_jointed, limits=effort_range
    ),
    "power": Quantity("Joint power", "joint", "W", exists=_jointed),
    "work": Quantity("Mechanical work of the joints", "joint", "J", exists=_jointed),
    "limit_distances": Quantity(
        "Distance to the joint limits", "joint", "rad|m", exists=_jointed
    ),
    "velocity_limit_distances": Quantity(
        "Distance to the velocity limits", "joint", "rad/s|m/s", exists=_jointed
    ),
    "root_position": Quantity(
        "Position of the root", "axis", "m", lambda m: m.root_poses[:, :3]
    ),
    "root_velocity": Quantity(
        "Velocity of the root", "axis", "m/s", lambda m: m.root_velocity[:, :3]
    ),
    "root_angular_velocity": Quantity(
        "Angular velocity of the root",
        "axis",
        "rad/s",
        lambda m: m.root_velocity[:, 3:],
    ),
    "root_force": Quantity(
        "Force of the world on the root", "axis", "N", lambda m: m.root_wrench[:, :3]
    ),
    "root_moment": Quantity(
        "Moment of the world about the root",
        "axis",
        "Nm",
        lambda m: m.root_wrench[:, 3:],
    ),
    "center_of_mass": Quantity("Centre of mass", "axis", "m"),
    "center_of_mass_velocity": Quantity(
        "Velocity of the centre of mass", "axis", "m/s"
    ),
    "center_of_mass_acceleration": Quantity(
        "Acceleration of the centre of mass", "axis", "m/s²"
    ),
    "linear_momentum": Quantity(
        "Linear momentum", "axis", "kg m/s", lambda m: m.momentum.linear
    ),
    "angular_momentum": Quantity(
        "Angular momentum", "axis", "kg m²/s", lambda m: m.momentum.angular
    ),
    "zmp": Quantity("Zero moment point", "axis", "m", exists=_on_ground),
    "given_zmp": Quantity(
        "Recorded zero moment point",
        "axis",
        "m",
        lambda m: m.recorded_zmp,
        lambda m: m.recorded_zmp is not None,
    ),
    "center_of_pressure": Quantity(
        "Centre of pressure", "axis", "m", exists=_on_ground
    ),
    "stability_margin": Quantity("Stability margin", "body", "m", exists=_on_ground),
    "kinetic_energy": Quantity("Kinetic energy", "body", "J"),
    "potential_energy": Quantity("Potential energy", "body", "J"),
    "contacts": Quantity(
        "Foot contact",
        "foot",
        "",
        lambda m: m.contacts.in_contact.astype(np.float64),
        _on_ground,
    ),
    "foot_heights": Quantity(
        "Height of the feet", "foot", "m", lambda m: m.contacts.heights, _on_ground
    ),
    "slip_speeds": Quantity(
        "Slip speed of the feet",
        "foot",
        "m/s",
        lambda m: m.contacts.slip_speeds,
        _on_ground,
    ),
    "foot_forces": Quantity(
        "Vertical force on the feet",
        "foot",
        "N",
        lambda m: m.contact_wrenches[:, :, 2],
        _on_ground,
    ),
    "link_speeds": Quantity(
        "Speed of the links",
        "link",
        "m/s",
        lambda m: _lengths(m.link_velocities[:, :, :3]),
    ),
    "link_angular_speeds": Quantity(
        "Angular speed of the links",
        "link",
        "rad/s",
        lambda m: _lengths(m.link_velocities[:, :, 3:]),
    ),
}
"""All quantities by name, in the order in which they are listed."""


def series(measures: Measures, name: str) -> Series:
    """Return a quantity of a motion by its name in `QUANTITIES`.

    Raises
    ------
    KeyError
        When there is no quantity of that name, or this motion on this body does not
        have it; the message lists those that exist.
    """
    if name not in QUANTITIES:
        raise KeyError(f"there is no quantity {name!r}; {choices(name, QUANTITIES)}")
    quantity = QUANTITIES[name]
    if quantity.exists(measures):
        values = (quantity.values or attrgetter(name))(measures)
    else:
        values = None
    if values is None:
        raise KeyError(
            f"{measures.body.name or 'this body'} has no {quantity.title.lower()} in "
            f"this motion ({name})"
        )
    if quantity.of == "joint":
        joints = measures.body.joints
    else:
        joints = ()
    labels = _labels(measures, quantity)
    lower, upper = _limits(joints, quantity.limits) if quantity.limits else (None, None)
    return Series(
        name=name,
        title=quantity.title,
        of=quantity.of,
        labels=labels,
        # A crawler's value is the distance that its belt moves.
        units=tuple(
            quantity.unit.split("|")[-1 if joint.type in ("slide", "crawler") else 0]
            for joint in joints
        )
        or (quantity.unit,) * len(labels),
        times=measures.times,
        values=frozen(values.reshape(len(measures.times), -1)),
        lower=lower,
        upper=upper,
    )


def measurable(measures: Measures) -> tuple[str, ...]:
    """Return the names of the quantities of this motion on this body.

    Only the feet are measured for this.
    """
    return tuple(
        name for name, quantity in QUANTITIES.items() if quantity.exists(measures)
    )


def _labels(measures: Measures, quantity: Quantity) -> tuple[str, ...]:
    body = measures.body
    if quantity.of == "joint":
        return distinct((joint.name for joint in body.joints), "joint")
    if quantity.of == "link":
        return distinct((link.name for link in body.links), "link")
    if quantity.of == "foot":
        return distinct(measures.contacts.names, "foot")
    if quantity.of == "axis":
        return AXES
    return (quantity.title,)


def _limits(
    joints: Sequence[Joint], of: Callable[[Joint], tuple[float, float] | None]
) -> tuple[Floats, Floats] | tuple[None, None]:
    """Return the lower and the upper limits (J,).

    None where no joint has any.
    """
    pairs = np.array(
        [of(joint) or (-np.inf, np.inf) for joint in joints], dtype=np.float64
    ).reshape(-1, 2)
    if np.isfinite(pairs).any():
        return (frozen(pairs[:, 0]), frozen(pairs[:, 1]))
    return (None, None)


def _lengths(vectors: Floats) -> Floats:
    return np.asarray(np.linalg.norm(vectors, axis=-1))


@dataclass(frozen=True)
class Extreme(ShortRepr):
    """The range of a column of a `Series`.

    `lowest` and `highest` with their times [s]; `used` is the largest share of a limit
    that is used, counted from 0, at `used_time`: both
    are None without a lower limit below 0 or an upper one above it. A column without
    numbers has NaN.
    """

    label: str
    unit: str
    lowest: float
    lowest_time: float
    highest: float
    highest_time: float
    used: float | None = None
    used_time: float | None = None


def extremes(of: Series) -> tuple[Extreme, ...]:
    """Return the extremes of each column of a quantity, in its order."""
    return tuple(_extreme(of, k) for k in range(len(of.labels)))


def _extreme(of: Series, k: int) -> Extreme:
    """Return the range of column `k`, and the share of a limit that is used."""
    column = of.values[:, k]
    if np.isnan(column).all():
        return Extreme(of.labels[k], of.units[k], *(np.nan,) * 4)
    low = int(np.nanargmin(column))
    high = int(np.nanargmax(column))
    used = [
        (
            float(column[frame] / limits[k]) + 0.0,
            float(of.times[frame]),
        )  # No share is -0.
        for frame, limits, side in ((low, of.lower, -1), (high, of.upper, 1))
        if limits is not None and np.isfinite(limits[k]) and side * limits[k] > 0
    ]
    share, when = max(used) if used else (None, None)
    ends = (
        float(column[low]),
        float(of.times[low]),
        float(column[high]),
        float(of.times[high]),
    )
    return Extreme(of.labels[k], of.units[k], *ends, used=share, used_time=when)
