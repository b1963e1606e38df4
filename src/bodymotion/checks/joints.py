"""Joints: axes, limits, motors."""

from __future__ import annotations

import math

import numpy as np

from bodymotion.checks import rules
from bodymotion.checks.sheet import Sheet, some
from bodymotion.model.links import Joint, Link

__all__ = ["check_joints"]

MANY_TURNS = 6.5
"""Limits of more full turns than this (40 rad) are told as degrees."""
SOME_TURNS = 2.0
"""And so are those of more than this that are whole numbers, such as -35 and 20."""
FAR = 20.0
"""[m] A joint that slides farther is told; powers of ten from 100 on are a way to say that there is no limit."""
NO_LIMIT = 1e4
"""Limits beyond this are a way to say that there is none."""


def check_joints(sheet: Sheet) -> None:
    """Check the joint of each link."""
    outside = []
    for link in sheet.body.links:
        joint = link.joint
        if link.index and joint.type == "free":
            sheet.of_link(rules.FREE_INSIDE, link, "has a free joint and is not the root", "type")
        if not link.index and joint.type in ("rotate", "slide") and joint.id >= 0:
            said = f"is the root, of type {joint.type}: column {joint.id} moves nothing"
            sheet.of_link(rules.ROOT_MOVES, link, said, "type")
        if joint.type in ("rotate", "slide"):
            _axis(sheet, link, joint)
            _limits(sheet, link, joint)
            if link.index and (joint.lower > 0 or joint.upper < 0) and joint.lower <= joint.upper:
                outside.append(link.name)
        _motor(sheet, link, joint)
    if outside:
        sheet.of_body(rules.ZERO_OUTSIDE, f"0 is outside the limits of {some(list(map(repr, outside)))}")


def _axis(sheet: Sheet, link: Link, joint: Joint) -> None:
    length = float(np.linalg.norm(joint.axis))
    if length == 0:
        sheet.of_link(rules.NO_AXIS, link, f"has a {joint.type} joint with the axis 0 0 0", "axis")
    elif math.isfinite(length) and abs(length - 1) > 1e-6:
        shown = " ".join(f"{number:.6g}" for number in joint.axis)
        said = f"has a {joint.type} joint with the axis {shown}, of length {length:.6g}"
        sheet.of_link(rules.AXIS_LENGTH, link, said, "axis")


def _limits(sheet: Sheet, link: Link, joint: Joint) -> None:
    unit = "rad" if joint.type == "rotate" else "m"
    if joint.lower > joint.upper:
        sheet.of_link(rules.LIMITS, link, f"has the limits {joint.lower:g} to {joint.upper:g} {unit}", "lower")
    elif joint.lower == joint.upper:
        sheet.of_link(
            rules.NO_RANGE,
            link,
            f"has a {joint.type} joint with both limits at {joint.lower:g} {unit}: it cannot move",
            "lower",
        )
    if joint.velocity_lower > joint.velocity_upper:
        said = f"has the velocity limits {joint.velocity_lower:g} to {joint.velocity_upper:g} {unit}/s"
        sheet.of_link(rules.LIMITS, link, said, "velocity")
    elif joint.velocity_lower == joint.velocity_upper == 0:
        said = f"has a velocity limit of 0 {unit}/s: it cannot move"
        sheet.of_link(rules.VELOCITY, link, said, "velocity", "give it the speed that it makes, or no limit")
    elif joint.velocity_lower >= 0 or joint.velocity_upper <= 0:
        said = f"has the velocity limits {joint.velocity_lower:g} to {joint.velocity_upper:g} {unit}/s"
        sheet.of_link(rules.VELOCITY, link, f"{said}: it cannot move both ways", "velocity")
    if joint.type == "slide":
        far = [abs(end) for end in (joint.lower, joint.upper) if FAR < abs(end) < NO_LIMIT]
        far = [end for end in far if not (end >= 100 and math.log10(end).is_integer())]
        if far:
            said = f"has the limits {joint.lower:g} to {joint.upper:g} m"
            sheet.of_link(rules.SLIDES_FAR, link, said, "upper" if far[-1] == abs(joint.upper) else "lower")
    if joint.type == "rotate":
        ends = [
            (abs(end), name) for end, name in ((joint.lower, "lower"), (joint.upper, "upper")) if abs(end) < NO_LIMIT
        ]
        largest, part = max(ends, key=lambda end: end[0], default=(0.0, ""))
        whole = all(float(limit).is_integer() for limit in (joint.lower, joint.upper))
        if largest > (SOME_TURNS if whole else MANY_TURNS) * 2 * math.pi and not sheet.is_said(rules.DEGREES):
            said = f"has the limits {joint.lower:g} to {joint.upper:g} rad: {largest / (2 * math.pi):.3g} full turns"
            sheet.of_link(rules.DEGREES, link, said, part)


def _motor(sheet: Sheet, link: Link, joint: Joint) -> None:
    odd: list[tuple[str, str]] = []
    if joint.gear_ratio == 0:
        odd.append(("gear_ratio", "a gear ratio of 0"))
    if not 0 < joint.gear_efficiency <= 1:
        odd.append(("gear_efficiency", f"a gear efficiency of {joint.gear_efficiency:g}"))
    if joint.rotor_inertia < 0:
        odd.append(("rotor_inertia", f"a rotor inertia of {joint.rotor_inertia:g} kg m²"))
    for part, value in (("rotor_resistor", joint.rotor_resistor), ("encoder_pulse", joint.encoder_pulse)):
        if value < 0:
            odd.append((part, f"a {part.replace('_', ' ')} of {value:g}"))
    if joint.torque_const < 0:
        odd.append(("torque_const", f"a torque constant of {joint.torque_const:g} Nm/A"))
    current = joint.extra.get("climit")
    if isinstance(current, np.ndarray) and current.size and current.dtype.kind in "fiu" and current.flat[0] < 0:
        odd.append(("climit", f"a climit of {current.flat[0]:g} A"))
    if odd:
        sheet.of_link(rules.MOTOR, link, f"has {' and '.join(said for _, said in odd)}", odd[0][0])
