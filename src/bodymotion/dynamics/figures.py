"""The key figures of a motion: few numbers, each with the moment and the part that it is about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.dynamics.contacts import slides
from bodymotion.dynamics.quantities import Series, measurable, series

if TYPE_CHECKING:
    from bodymotion.dynamics.measures import Measures

__all__ = ["Extreme", "Figure", "extremes", "figures"]

NOTHING = 1e-9
"""[m] A slide that is shorter is none: it is what rounding leaves."""


@dataclass(frozen=True)
class Figure:
    """One number about a motion.

    Attributes
    ----------
    name, title:
        For programs, and in words.
    value, unit:
        In SI; of shares, numbers from 0 to 1, the unit is "share"; a count has none.
    time:
        [s] when, for what happens at a moment.
    part:
        Which joint, link or foot.
    """

    name: str
    title: str
    value: float
    unit: str = ""
    time: float | None = None
    part: str | None = None

    def __str__(self) -> str:
        share = self.unit == "share"
        value = f"{100 * self.value:.4g} %" if share else f"{self.value:.4g} {self.unit}".rstrip()
        when = "" if self.time is None else f" at {self.time:.2f} s"
        return f"{self.title}: {value}{when}{f', {self.part}' if self.part else ''}"


@dataclass(frozen=True)
class Extreme:
    """Between which values a column of a `Series` goes.

    `lowest` and `highest` with their times [s]; `used` is the greatest share of a limit that is used, counted from 0, and `used_time` when:
    both None without a lower limit below 0 or an upper one above it.
    A column without numbers has NaN.
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
    column = of.values[:, k]
    if np.isnan(column).all():
        return Extreme(of.labels[k], of.units[k], *(np.nan,) * 4)
    low, high = int(np.nanargmin(column)), int(np.nanargmax(column))
    used = [
        (float(column[frame] / limits[k]) + 0.0, float(of.times[frame]))  # No share is -0.
        for frame, limits, side in ((low, of.lower, -1), (high, of.upper, 1))
        if limits is not None and np.isfinite(limits[k]) and side * limits[k] > 0
    ]
    share, when = max(used) if used else (None, None)
    ends = (float(column[low]), float(of.times[low]), float(column[high]), float(of.times[high]))
    return Extreme(of.labels[k], of.units[k], *ends, used=share, used_time=when)


def figures(measures: Measures) -> tuple[Figure, ...]:
    """Return the key figures of a motion, in an order for reading; those that it does not have are left out."""
    return tuple(one for one in _all(measures) if np.isfinite(one.value))


def _all(m: Measures) -> Iterator[Figure]:
    has = set(measurable(m))
    times = m.times
    yield Figure("duration", "Duration", float(times[-1] - times[0]), "s")
    yield Figure("frames", "Frames", len(times))
    yield Figure("mass", "Mass", m.body.mass, "kg")
    if not m.is_mounted:
        steps = np.linalg.norm(np.diff(m.root_poses[:, :2], axis=0), axis=1)
        yield Figure("path_length", "Path of the root over the ground", float(np.nansum(steps)), "m")
        yield _largest("root_speed", "Fastest root", np.linalg.norm(m.root_velocity[:, :3], axis=1), "m/s", m)
    for name, title, unit in (
        ("joint_velocities", "Fastest joint", "rad/s"),
        ("joint_accelerations", "Greatest acceleration of a joint", "rad/s²"),
        ("torques", "Greatest torque", "Nm"),
        ("power", "Greatest power", "W"),
    ):
        if name in has and (name in ("joint_velocities", "joint_accelerations") or m.body.mass > 0):
            of = series(m, name)
            if name in ("torques", "power"):
                # Of a crawler's belt no torque is known.
                working = [joint.type != "crawler" for joint in m.body.joints]
                of = of.select([label for label, works in zip(of.labels, working, strict=True) if works])
            yield from _of_joints(name, title, unit, of)
    if "limit_distances" in has:
        yield from _nearest_limit(series(m, "limit_distances"))
        yield from _used(series(m, "joint_velocities"))
    if "work" in has and m.body.mass > 0:
        positive = np.maximum(np.nan_to_num(m.power, posinf=np.inf), 0).sum(axis=1)
        yield Figure("positive_work", "Energy the joints put in", float(np.trapezoid(positive, times)), "J")
    if "zmp" in has:
        yield from _standing(m)


def _largest(name: str, title: str, values: np.ndarray, unit: str, m: Measures) -> Figure:
    k = int(np.nanargmax(values)) if not np.isnan(values).all() else 0
    return Figure(name, title, float(values[k]), unit, float(m.times[k]))


def _of_joints(name: str, title: str, unit: str, of: Series) -> Iterator[Figure]:
    """Return the greatest value over all joints of one unit; those that slide are another figure."""
    for wanted in dict.fromkeys((unit, *of.units)):
        columns = [k for k, one in enumerate(of.units) if one == wanted]
        if not columns:
            continue
        sizes = np.abs(of.values[:, columns])
        if np.isnan(sizes).all():
            continue
        frame, column = np.unravel_index(int(np.nanargmax(sizes)), sizes.shape)
        tail = "" if wanted == unit else " (slide)"
        label = of.labels[columns[int(column)]]
        yield Figure(
            name + ("" if not tail else "_slide"),
            title + tail,
            float(sizes[frame, column]),
            wanted,
            float(of.times[frame]),
            label,
        )


def _nearest_limit(of: Series) -> Iterator[Figure]:
    for unit, tail in (("rad", ""), ("m", "_slide")):
        columns = [k for k, one in enumerate(of.units) if one == unit]
        distances = of.values[:, columns]
        if columns and np.isfinite(distances).any():
            frame, column = np.unravel_index(int(np.nanargmin(distances)), distances.shape)
            title = "Nearest to a joint limit" + (" (slide)" if tail else "")
            part = of.labels[columns[int(column)]]
            yield Figure(
                "nearest_limit" + tail, title, float(distances[frame, column]), unit, float(of.times[frame]), part
            )


def _used(of: Series) -> Iterator[Figure]:
    found = [(one.used, one.used_time, one.label) for one in extremes(of) if one.used is not None]
    if found:
        used, time, label = max(found, key=lambda triple: triple[0])
        yield Figure("velocity_limit_used", "Most of a velocity limit used", used, "share", time, label)


def _standing(m: Measures) -> Iterator[Figure]:
    margin, standing = m.stability_margin, m.contacts.standing
    feet = standing[np.isfinite(m.contacts.heights).all(axis=1)].sum(axis=1)
    if not np.isnan(margin).all():
        k = int(np.nanargmin(margin))
        yield Figure("least_margin", "Least stability margin", float(margin[k]), "m", float(m.times[k]))
        inside = float(np.mean(margin[~np.isnan(margin)] >= 0))
        yield Figure("time_in_balance", "Time with the ZMP inside the feet", inside, "share")
    if len(feet):
        yield Figure("time_on_one_foot", "Time on one foot", float(np.mean(feet == 1)), "share")
        yield Figure("time_in_flight", "Time in flight", float(np.mean(feet == 0)), "share")
    yield from _longest_slide(m)
    given = m.given_zmp
    if given is not None:
        apart = np.linalg.norm((m.zmp - given)[:, :2], axis=1)
        if not np.isnan(apart).all():
            k = int(np.nanargmax(apart))
            yield Figure(
                "zmp_apart", "ZMP of the file apart from the motion's", float(apart[k]), "m", float(m.times[k])
            )


def _longest_slide(m: Measures) -> Iterator[Figure]:
    """Return how far a foot slides in one stance, and when it is fastest."""
    found = slides(m.contacts, m.times)
    if found:
        most = max(found, key=lambda one: one.way)
        title = "Farthest slide of a foot in one stance"
        time, part = float(m.times[most.fastest]), m.contacts.names[most.foot]
        yield Figure("longest_slide", title, most.way if most.way > NOTHING else 0.0, "m", time, part)
