"""The joint of a link, its motor, and what MJCF cannot say of them."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics import Location, losses
from bodymotion.formats.mjcf.plain_joints import DYNAMICS
from bodymotion.formats.only_mjcf import of_mjcf, texts
from bodymotion.formats.xml.tree import Element, number_text
from bodymotion.geometry.arrays import same
from bodymotion.model.links import Joint
from bodymotion.model.motors import armature, motor_range

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem
    from bodymotion.model.links import Link

__all__ = ["TYPES", "ball_element", "joint_element", "kept_of_joint", "motor_element", "rest_of"]

TYPES = {"rotate": "hinge", "slide": "slide"}


def joint_element(link: Link, name: str, problems: list[Problem], *, top: bool) -> Element | None:
    """Return the joint of a link, None where MJCF welds the link to its parent; what it loses goes to `problems`.

    `top` says whether the link stands in the world.
    """
    joint = link.joint
    place = Location(inside=f"links[{link.index}]")
    if link.parent < 0 or (top and joint.type == "free"):
        if joint.type != "free":
            return None
        alone = texts({k: v for k, v in of_mjcf(joint.extra).items() if k != "name"})
        return Element("joint" if alone.get("type") == "free" else "freejoint", {"name": name, **alone})
    if joint.type in ("free", "crawler"):
        told = {
            "free": f"joint {joint.name} is free and not at the root, which MuJoCo does not have: it is fixed",
            "crawler": f"joint {joint.name} moves a belt, which MuJoCo does not have: it is fixed",
        }
        problems.append(losses.JOINT_KIND.problem(told[joint.type], place))
    if joint.type == "fixed" and joint.extra.get("urdf_type") == "planar":
        words = f"joint {joint.name} slides and turns in a plane, which MuJoCo does not have: it is fixed"
        problems.append(losses.JOINT_KIND.problem(words, place))
    if joint.type not in TYPES:
        return None
    if "ball" in of_mjcf(joint.extra):
        words = f"joint {joint.name} is a part of a ball joint, which the body has no more: it is a hinge"
        problems.append(losses.JOINT_KIND.problem(words, place))
    given = {"name": name, "type": TYPES[joint.type], "axis": number_text(joint.axis)}
    if not np.linalg.norm(joint.axis) > 1e-12:
        given["axis"] = "0 0 1"
        problems.append(losses.EFFECT.problem(f"joint {joint.name} has no axis: it is written as z", place))
    limits = told_limits(joint)
    if limits is not None:
        given["range"] = number_text(limits)
    elif np.isfinite([joint.lower, joint.upper]).any():
        words = (
            f"the lower limit of joint {joint.name}, {joint.lower:g}, is above the upper, {joint.upper:g}: none is set"
        )
        problems.append(losses.EFFECT.problem(words, place))
    turning = armature(joint)
    if turning > 0 and np.isfinite(turning):
        given["armature"] = number_text(turning)
    given |= _dynamics(joint, problems, place)
    beyond = of_mjcf(joint.extra)
    given |= texts({k: v for k, v in beyond.items() if k not in ("ball", "type", "pos", *given)})
    return Element("joint", given)


def _dynamics(joint: Joint, problems: list[Problem], place: Location) -> dict[str, str]:
    """Return damping, springs and friction, which URDF calls `friction`; what MuJoCo refuses is told."""
    # Of the URDF's friction a file of ours says frictionloss.
    extra: dict[str, object] = {"frictionloss": joint.extra.get("friction"), **joint.extra}
    given: dict[str, str] = {}
    for key in DYNAMICS:
        value = extra.get(key)
        if value is None:
            continue
        try:
            numbers = np.atleast_1d(np.asarray(value, dtype=np.float64))
        except (TypeError, ValueError):
            numbers = np.array([np.nan])
        least = -np.inf if key == "springref" else 0.0
        if numbers.ndim == 1 and len(numbers) and np.isfinite(numbers).all() and (numbers >= least).all():
            given[key] = number_text(numbers)
        else:
            words = f"{key} of joint {joint.name} is {value!r:.60}, which MuJoCo does not take: it is left out"
            problems.append(losses.EFFECT.problem(words, place))
    return given


def ball_element(joint: Joint, name: str) -> Element:
    """Return the ball joint that three joints were read from."""
    said = texts(of_mjcf(joint.extra).get("ball"))
    return Element("joint", {**said, "name": name, "type": "ball"})


def rest_of(joint: Joint) -> float:
    """Return the value that MuJoCo's `ref` gives the joint where the body is at its pose."""
    try:
        rest = float(str(of_mjcf(joint.extra).get("ref", "0")))
    except ValueError:
        return 0.0
    return rest if np.isfinite(rest) and joint.type in TYPES else 0.0


def told_limits(joint: Joint) -> tuple[float, float] | None:
    """Return the range of a joint as MuJoCo takes it for one; None where there is none.

    It takes equal limits for none: the upper one is then the next number.
    """
    lower, upper = joint.lower, joint.upper
    if np.isnan([lower, upper]).any() or lower > upper or not np.isfinite([lower, upper]).any():
        return None
    return lower, float(np.nextafter(upper, np.inf)) if lower == upper else upper


def motor_element(joint: Joint, name: str, joint_name: str) -> Element:
    """Return the motor of a joint: its control is the torque [Nm] (force [N]) before the gear."""
    given = {"name": name, "joint": joint_name}
    if joint.gear_ratio not in (0.0, 1.0):
        given["gear"] = number_text(joint.gear_ratio)
    limits = motor_range(joint)
    if limits is not None:
        given["forcerange"] = number_text(limits)
    return Element("motor", given)


def kept_of_joint(joint: Joint, again: Joint) -> dict[str, object]:
    """Return the fields of a joint in which it differs from what the reader would make of the file without them."""
    found = {
        field.name: getattr(joint, field.name)
        for field in fields(Joint)
        if field.name != "extra" and not same(getattr(joint, field.name), getattr(again, field.name))
    }
    # What MJCF alone says stands in the file itself, in the joint, the body or the lights.
    kept = {k: v for k, v in joint.extra.items() if k != "mjcf" and not (k in again.extra and same(v, again.extra[k]))}
    if kept:
        found["extra"] = kept
    without = [
        key
        for key in again.extra
        if key != "mjcf" and not (key in joint.extra and same(joint.extra[key], again.extra[key]))
    ]
    if without:
        found |= {"extra": kept, "without": without}
    return found
