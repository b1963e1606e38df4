"""The key figures of a motion.

Few numbers, each with its time and its joint, link or foot.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

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
    """Return the key figures of a motion, in the order for display, without those that
    it does not have.
    """
    return tuple(one for one in _all(measures) if np.isfinite(one.value))


def _all(m: Measures) -> Iterator[Figure]:
    has = set(measurable(m))
    times = m.times
    yield Figure("duration", "Duration", float(times[-1] - times[0]), "s")
    yield Figure("num_frames", "Frames", len(times))
    yield Figure("mass", "Mass", m.body.mass, "kg")
    if not m.is_mounted:
        steps = np.linalg.norm(np.diff(m.root_poses[:, :2], axis=0), axis=1)
        yield Figure(
            "path_length",
            "Path of the root over the ground",
            float(np.nansum(steps)),
            "m",
        )
        yield _largest(
            "max_root_speed",
            "Largest speed of the root",
            np.linalg.norm(m.root_velocity[:, :3], axis=1),
            "m/s",
            m,
        )
    for quantity, name, title, unit in (
        ("joint_velocities", "max_joint_velocity", "Largest joint velocity", "rad/s"),
        (
            "joint_accelerations",
            "max_joint_acceleration",
            "Largest joint acceleration",
            "rad/s²",
        ),
        ("torques", "max_torque", "Largest joint torque", "Nm"),
        ("power", "max_power", "Largest joint power", "W"),
    ):
        needs_mass = quantity in ("torques", "power")
        if quantity in has and (m.body.mass > 0 or not needs_mass):
            of = series(m, quantity)
            if needs_mass:
                # The torque of a crawler's belt is unknown.
                working = [joint.type != "crawler" for joint in m.body.joints]
                of = of.select(
                    [
                        label
                        for label, works in zip(of.labels, working, strict=True)
                        if works
                    ]
                )
            yield from _of_joints(name, title, unit, of)
    if "limit_distances" in has:
        distances = series(m, "limit_distances")
        yield from _of_joints(
            "nearest_limit",
            "Smallest distance to a joint limit",
            "rad",
            distances,
            smallest=True,
        )
        used = [
            one
            for one in extremes(series(m, "joint_velocities"))
            if one.used is not None
        ]
        if used:
            most = max(used, key=lambda one: one.used or 0.0)
            title = "Largest share of a velocity limit"
            share = most.used or 0.0
            yield Figure(
                "velocity_limit_used", title, share, "share", most.used_time, most.label
            )
    if "work" in has and m.body.mass > 0:
        positive = np.maximum(np.nan_to_num(m.power, posinf=np.inf), 0).sum(axis=1)
        yield Figure(
            "positive_work",
            "Positive mechanical work",
            float(np.trapezoid(positive, times)),
            "J",
        )
    if "zmp" in has:
        yield from _balance(m)


def _largest(
    name: str, title: str, values: np.ndarray, unit: str, m: Measures
) -> Figure:
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
    if smallest:
        values = -of.values
    else:
        values = np.abs(of.values)
    for wanted in dict.fromkeys((unit, *of.units)):
        columns = [k for k, one in enumerate(of.units) if one == wanted]
        known = np.where(
            np.isfinite(values[:, columns])
            if smallest
            else ~np.isnan(values[:, columns]),
            values[:, columns],
            -np.inf,
        )
        if not columns or np.isneginf(known).all():
            continue
        frame, column = np.unravel_index(int(known.argmax()), known.shape)
        label = of.labels[columns[int(column)]]
        time = float(of.times[frame])
        value = float(-known[frame, column] if smallest else known[frame, column])
        tail, note = ("", "") if wanted == unit else ("_slide", " (slide)")
        yield Figure(name + tail, title + note, value, wanted, time, label)


def _balance(m: Measures) -> Iterator[Figure]:
    margin = m.stability_margin
    in_contact = m.contacts.in_contact
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
        apart = np.linalg.norm((m.zmp - recorded)[:, :2], axis=1)
        yield _largest(
            "max_zmp_difference",
            "Largest difference between recorded and computed ZMP",
            apart,
            "m",
            m,
        )
