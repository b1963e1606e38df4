"""The key figures of a motion.

Few numbers, each with its time and its joint, link or foot.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bodymotion.diagnostics import ShortRepr
from bodymotion.dynamics.contacts import foot_slips
from bodymotion.dynamics.quantities import Series, extremes, measurable, series

if TYPE_CHECKING:
    from bodymotion.dynamics.measures import Measures

MIN_SLIP = 1e-9  # [m] A shorter foot slip is a rounding error and counts as 0.


@dataclass(frozen=True)
class Figure(ShortRepr):
    """One number about a motion.

    Its `name` for programs, its `title` for people, and the `part` (joint, link or
    foot) it is of.

    `value` is in SI; the `unit` of shares, numbers from 0 to 1, is "share"; a count has
    none. `time` [s] is that of an event.
    """

    name: str
    title: str
    value: float
    unit: str = ""
    time: float | None = None
    part: str | None = None

    def __str__(self) -> str:
        share = self.unit == "share"
        if share:
            value = f"{100 * self.value:.4g} %"
        else:
            value = f"{self.value:.4g} {self.unit}".rstrip()
        if self.time is None:
            when = ""
        else:
            when = f" at {self.time:.2f} s"
        return f"{self.title}: {value}{when}{f', {self.part}' if self.part else ''}"


def figures(measures: Measures) -> tuple[Figure, ...]:
    """Return the key figures of a motion, in the order for display.

    Without those that it does not have.
    """
    return tuple(one for one in _all(measures) if np.isfinite(one.value))


class _JointQuantity(NamedTuple):
    """A quantity of joints, with the name, title and unit of its figure.

    `needs_mass`: it is 0 or unknown for a body without mass.
    """

    quantity: str
    name: str
    title: str
    unit: str
    needs_mass: bool = False


JOINT_QUANTITIES = (
    _JointQuantity(
        "joint_velocities", "max_joint_velocity", "Largest joint velocity", "rad/s"
    ),
    _JointQuantity(
        "joint_accelerations",
        "max_joint_acceleration",
        "Largest joint acceleration",
        "rad/s²",
    ),
    _JointQuantity("torques", "max_torque", "Largest joint torque", "Nm", True),
    _JointQuantity("power", "max_power", "Largest joint power", "W", True),
)


def _all(m: Measures) -> Iterator[Figure]:
    """Yield all figures, also those that are not finite."""
    has = set(measurable(m))
    yield Figure("duration", "Duration", float(m.times[-1] - m.times[0]), "s")
    yield Figure("num_frames", "Frames", len(m.times))
    yield Figure("mass", "Mass", m.body.mass, "kg")
    if not m.is_mounted:
        yield from _of_root(m)
    for quantity in JOINT_QUANTITIES:
        if quantity.quantity in has and (m.body.mass > 0 or not quantity.needs_mass):
            yield from _of_quantity(quantity, m)
    if "limit_distances" in has:
        yield from _of_limits(m)
    if "work" in has and m.body.mass > 0:
        # Positive work alone: what joints brake is left out.
        positive = np.maximum(np.nan_to_num(m.power, posinf=np.inf), 0).sum(axis=1)
        work = float(np.trapezoid(positive, m.times))
        yield Figure("positive_work", "Positive mechanical work", work, "J")
    if "zmp" in has:
        yield from _balance(m)


def _of_root(m: Measures) -> Iterator[Figure]:
    # Over the ground: height does not count.
    steps = np.linalg.norm(np.diff(m.root_poses[:, :2], axis=0), axis=1)
    title = "Path of the root over the ground"
    yield Figure("path_length", title, float(np.nansum(steps)), "m")
    speeds = np.linalg.norm(m.root_velocity[:, :3], axis=1)
    yield _largest("max_root_speed", "Largest speed of the root", speeds, "m/s", m)


def _of_quantity(quantity: _JointQuantity, m: Measures) -> Iterator[Figure]:
    values = series(m, quantity.quantity)
    if quantity.needs_mass:
        # The torque of a crawler's belt is unknown.
        labels = zip(values.labels, m.body.joints, strict=True)
        values = values.select([n for n, joint in labels if joint.type != "crawler"])
    yield from _of_joints(quantity.name, quantity.title, quantity.unit, values)


def _of_limits(m: Measures) -> Iterator[Figure]:
    """Yield how near joints come to their limits of position and velocity."""
    distances = series(m, "limit_distances")
    title = "Smallest distance to a joint limit"
    yield from _of_joints("nearest_limit", title, "rad", distances, smallest=True)
    # Only joints with a velocity limit use a share of it.
    used = [e for e in extremes(series(m, "joint_velocities")) if e.used is not None]
    if used:
        most = max(used, key=lambda extreme: extreme.used or 0.0)
        yield Figure(
            "velocity_limit_used",
            "Largest share of a velocity limit",
            most.used or 0.0,
            "share",
            most.used_time,
            most.label,
        )


def _largest(
    name: str, title: str, values: np.ndarray, unit: str, m: Measures
) -> Figure:
    # All unknown: frame 0 with NaN, which `figures` leaves out.
    if not np.isnan(values).all():
        k = int(np.nanargmax(values))
    else:
        k = 0
    return Figure(name, title, float(values[k]), unit, float(m.times[k]))


def _of_joints(
    name: str, title: str, unit: str, of: Series, *, smallest: bool = False
) -> Iterator[Figure]:
    """Return the largest amount, or the smallest value, over all joints of one unit.

    Sliding joints are another figure.
    """
    # The largest of the negated values is the smallest.
    if smallest:
        values = -of.values
        is_known = np.isfinite(values)
    else:
        values = np.abs(of.values)
        is_known = ~np.isnan(values)
    # Unknown numbers never win.
    values = np.where(is_known, values, -np.inf)
    # rad and m do not compare.
    for joint_unit in dict.fromkeys((unit, *of.units)):
        columns = [k for k, other in enumerate(of.units) if other == joint_unit]
        if not columns or np.isneginf(values[:, columns]).all():
            continue
        of_unit = values[:, columns]
        frame, column = np.unravel_index(int(of_unit.argmax()), of_unit.shape)
        value = float(of_unit[frame, column])
        label = of.labels[columns[int(column)]]
        figure = Figure(
            name,
            title,
            -value if smallest else value,
            joint_unit,
            float(of.times[frame]),
            label,
        )
        if joint_unit != unit:
            figure = replace(figure, name=f"{name}_slide", title=f"{title} (slide)")
        yield figure


def _balance(m: Measures) -> Iterator[Figure]:
    """Yield the figures of balance: margin, support, slip and recorded ZMP."""
    margin = m.stability_margin
    in_contact = m.contacts.in_contact
    # Frames with unknown poses are neither flight nor single support.
    feet = in_contact[np.isfinite(m.contacts.heights).all(axis=1)].sum(axis=1)
    if not np.isnan(margin).all():
        k = int(np.nanargmin(margin))
        yield Figure(
            "min_margin",
            "Minimum stability margin",
            float(margin[k]),
            "m",
            float(m.times[k]),
        )
        # Frames in flight have no margin.
        inside = float(np.mean(margin[~np.isnan(margin)] >= 0))
        yield Figure(
            "time_in_balance",
            "Time with the ZMP inside the support polygon",
            inside,
            "share",
        )
    if len(feet):
        yield Figure(
            "time_on_one_foot",
            "Time in single support",
            float(np.mean(feet == 1)),
            "share",
        )
        yield Figure(
            "time_in_flight", "Time in flight", float(np.mean(feet == 0)), "share"
        )
    if slips := foot_slips(m.contacts, m.times):
        most = max(slips, key=lambda one: one.way)
        title = "Largest foot slip in one stance phase"
        time = float(m.times[most.fastest])
        part = m.contacts.names[most.foot]
        yield Figure(
            "max_slip",
            title,
            most.way if most.way > MIN_SLIP else 0.0,
            "m",
            time,
            part,
        )
    recorded = m.recorded_zmp
    if recorded is not None:
        # On the ground: the recorded point may have any height.
        apart = np.linalg.norm((m.zmp - recorded)[:, :2], axis=1)
        yield _largest(
            "max_zmp_difference",
            "Largest difference between recorded and computed ZMP",
            apart,
            "m",
            m,
        )
