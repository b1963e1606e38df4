"""Which joints of closed loops drive, and which follow.

A mechanism with v moving joints and equations of rank r can be driven by v − r of them; the others follow. Which ones drive unless told:
joints that were asked for; then those with a motor (a gear ratio, torque constant or rotor inertia other than the default), then those
with an id, then those nearer to the root, then those with the lower column. A joint that those before it determine follows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.geometry.arrays import Floats
from bodymotion.model.closed_loops.mechanism import Mechanism, rank

if TYPE_CHECKING:
    from bodymotion.model.body import Body

__all__ = ["choose_driving", "columns_of"]


def choose_driving(body: Body, mechanism: Mechanism, samples: list[Floats], first: tuple[int, ...] = ()) -> list[int]:
    """Return the columns that drive, in order of column: as many as the mechanism has degrees of freedom.

    `samples`: the equations' derivatives (m, v) at typical poses. `first`: columns that drive before all others.
    """
    jacobian = max(samples, key=rank)
    follow: list[int] = []
    most = rank(jacobian)
    for column in sorted(mechanism.columns, key=lambda column: _rank_of(body, column, first), reverse=True):
        tried = [*follow, mechanism.columns.index(column)]
        if len(follow) < most and rank(jacobian[:, tried]) == len(tried):
            follow = tried
    return [column for k, column in enumerate(mechanism.columns) if k not in follow]


def _rank_of(body: Body, column: int, first: tuple[int, ...]) -> tuple[int | bool, ...]:
    joint = body.joints[column]
    index = body.joint_links[column]
    depth = 0
    above = index
    while body.links[above].parent >= 0:
        above = body.links[above].parent
        depth += 1
    wanted = first.index(column) if column in first else len(first)
    motor = joint.gear_ratio != 1 or joint.torque_const != 1 or joint.rotor_inertia != 0
    return wanted, not motor, joint.id < 0, depth, column


def columns_of(body: Body, joints: str | int | Iterable[str | int]) -> tuple[int, ...]:
    """Return the columns of joints (or of one) named by their name, their link's name or their column.

    Raises
    ------
    ValueError
        When there is no such joint; the message has the names that exist.
    """
    names: dict[str, int] = {}
    for column, index in enumerate(body.joint_links):
        if index >= 0:
            names.setdefault(body.links[index].name, column)
    for column, one in enumerate(body.joints):
        if one.name:
            names.setdefault(one.name, column)
    found = []
    for joint in (joints,) if isinstance(joints, (str, int)) else joints:
        if isinstance(joint, str):
            if joint not in names:
                raise ValueError(f"no joint {joint!r}; there are: {', '.join(names)}")
            found.append(names[joint])
        else:
            column = int(joint)
            if not 0 <= column < body.num_joints:
                raise ValueError(f"no joint column {column}; the body has {body.num_joints}")
            found.append(column)
    return tuple(found)


def followers_of(mechanism: Mechanism, driving: Iterable[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return which of the mechanism's variables follow when some columns drive."""
    chosen = set(driving)
    return np.array([k for k, column in enumerate(mechanism.columns) if column not in chosen], dtype=np.int64)
