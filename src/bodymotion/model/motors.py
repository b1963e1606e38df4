"""The motors of joints: the inertia that motor and gear add, their efforts, and the gains of servos."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.poses import transform_points

if TYPE_CHECKING:
    from bodymotion.model.body import Body
    from bodymotion.model.links import Joint


def armature(joint: Joint) -> float:
    """Return the inertia [kg m² or kg] of the rotor as the joint feels it.

    That is `equivalentInertia` where a file gives it, else gear_ratio² · rotor_inertia.
    """
    given = first_number(joint.extra, "equivalentInertia")
    return given if given is not None and given != 0 else joint.gear_ratio**2 * joint.rotor_inertia


def effort_range(joint: Joint) -> tuple[float, float] | None:
    """Return the least and the most torque [Nm] (force [N]) that the motor gives at the joint, None where the file has no limit.

    `.body` files have it as `joint_effort_range`, URDF as `effort`; in OpenHRP it follows from the limit of the current: climit · torque
    constant · gear ratio · gear efficiency.
    """
    given = _numbers(joint.extra.get("joint_effort_range"))
    if len(given) == 2 and given[0] < given[1] and np.isfinite(given).all():
        return given[0], given[1]
    most = first_number(joint.extra, "effort")
    if most is None:
        current = first_number(joint.extra, "climit")
        most = None if current is None else current * joint.torque_const * joint.gear_ratio * joint.gear_efficiency
    if most is None or not np.isfinite(most) or most == 0:
        return None
    return -abs(most), abs(most)


def motor_range(joint: Joint) -> tuple[float, float] | None:
    """Return `effort_range` before the gear."""
    efforts = effort_range(joint)
    gear = joint.gear_ratio
    if efforts is None or gear in (0.0, 1.0):
        return efforts
    low, high = sorted((efforts[0] / gear, efforts[1] / gear))
    return (low, high) if np.isfinite([low, high]).all() and low < high else None


def _numbers(value: object) -> list[float]:
    try:
        return [float(number) for number in np.ravel(np.asarray(value, dtype=np.float64))] if value is not None else []
    except (TypeError, ValueError):
        return []


def first_number(extra: Mapping[str, object], key: str) -> float | None:
    """Return the number, or the first of the numbers, that a file gives for a key; None where there is none."""
    numbers = _numbers(extra.get(key))
    return numbers[0] if numbers and not np.isnan(numbers[0]) else None


BANDWIDTH = 15.0  # [Hz] Natural frequency of a servo that moves what its joint carries.
STANCE_BANDWIDTH = 3.0  # [Hz] Natural frequency of a servo between a free root and a foot, when it moves the rest of the body on that foot.
MAX_BANDWIDTH = 100.0
"""[Hz] No servo is faster with what its joint carries; at time steps of up to 2 ms it is integrated well."""
MIN_INERTIA = 1e-4  # [kg m² or kg] A joint moves at least this.
CONTACT_HEIGHT = 0.02  # [m] Links whose shapes reach down to this height above the lowest point support the body.


def default_gains(body: Body) -> Floats:
    """Return the gains kp, kd (J, 2) of the joints: [N m/rad, N m s/rad] or [N/m, N s/m].

    A servo that moves the inertia I is the oscillator I·x″ + kd·x′ + kp·x = 0 = x″ + 2ζω·x′ + ω²·x, so kp = I·ω² and kd = 2ζ·√(kp·I). I is
    what the joint carries at rest, about its axis, with the armature; ω = 2π · `BANDWIDTH`, and ζ = 1, critical damping. Under gravity a
    link of length l sags by about g/(l·ω²): 0.3° for 0.2 m. A joint between a free root and a link that supports the body moves the rest of
    the body, of inertia I′, while that link is on the ground: there kp is at least I′·(2π · `STANCE_BANDWIDTH`)², and kd is still that of
    I. Damping for I′ would be far more than MuJoCo's contacts, which do not include it, allow with I.
    """
    poses = body.forward_kinematics(np.zeros(body.num_joints))
    masses = np.array([link.mass for link in body.links])
    turns = rotations.to_matrix(poses[:, 3:])
    centers = poses[:, :3] + np.einsum("lij,lj->li", turns, [link.center_of_mass for link in body.links])
    inertias = np.einsum("lij,ljk,lmk->lim", turns, [link.inertia for link in body.links], turns)
    standing = standing_links(body, poses) if not body.is_mounted else set()
    below = [np.zeros(len(body.links), dtype=bool) for _ in body.links]
    for link in reversed(body.links):
        below[link.index][link.index] = True
        if link.parent >= 0:
            below[link.parent] |= below[link.index]
    found = np.zeros((body.num_joints, 2))
    for column, index in enumerate(body.joint_links):
        joint = body.links[index].joint
        if index <= 0 or joint.type not in ("rotate", "slide"):
            continue
        axis = turns[index] @ joint.axis
        if joint.type == "slide":
            moments = masses
        else:
            arms = np.cross(axis, centers - poses[index, :3])
            moments = np.einsum("i,lij,j->l", axis, inertias, axis) + masses * (arms**2).sum(axis=1)
        carried = moments[below[index]].sum() + armature(joint)
        carried = max(carried, MIN_INERTIA) if np.isfinite(carried) else MIN_INERTIA
        kp = carried * (2.0 * np.pi * BANDWIDTH) ** 2
        if any(below[index][foot] for foot in standing):
            rest = moments[~below[index]].sum()
            most = carried * (2.0 * np.pi * MAX_BANDWIDTH) ** 2
            kp = max(kp, min(rest * (2.0 * np.pi * STANCE_BANDWIDTH) ** 2, most))
        found[column] = kp, 2.0 * np.sqrt(kp * carried)
    return found


def passive_joints(body: Body) -> tuple[int, ...]:
    """Return the joint columns without a motor: those that follow from others in closed loops, and those that mimic others."""
    found = {column for column, joint in enumerate(body.joints) if "mimic" in joint.extra}
    if body.extra_joints:
        from bodymotion.model.closed_loops import close_loops

        found |= {*close_loops(body, np.zeros(body.num_joints)).following}
    return tuple(sorted(found))


def standing_links(body: Body, link_poses: Floats) -> set[int]:
    """Return the links, by index, whose collision shapes are lowest in poses (L, 7), within `CONTACT_HEIGHT`."""
    lows: dict[int, float] = {}
    for link in body.links:
        box = [shape.bounds for shape in link.collisions if shape.bounds is not None]
        if box:
            corners = [np.where(upper, b[1], b[0]) for b in box for upper in np.ndindex(2, 2, 2)]
            lows[link.index] = float(transform_points(link_poses[link.index], corners)[:, 2].min())
    return {index for index, low in lows.items() if low < min(lows.values()) + CONTACT_HEIGHT}
