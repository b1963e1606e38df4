"""The efforts of joints: what MuJoCo clamps the forces of their actuators to."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bodymotion.diagnostics.text import counted, listed
from bodymotion.formats.mjcf import rules
from bodymotion.formats.mjcf.defaults import Defaults, Settings
from bodymotion.formats.xml.tree import Element
from bodymotion.model.links import Joint, Link, effort_range

if TYPE_CHECKING:
    from bodymotion.formats.mjcf.bodies import Tree

# Joints that a message names.
MAX_LISTED_JOINTS = 3
# By attribute with a range, the one that says whether it applies.
LIMITED = {"ctrlrange": "ctrllimited", "forcerange": "forcelimited"}


class Range(NamedTuple):
    """A range of forces [N] or torques [N m]."""

    low: float
    high: float


def with_efforts(
    links: tuple[Link, ...], tree: Tree, root: Element, defaults: Defaults
) -> tuple[Link, ...]:
    """Return the links with the effort ranges of their joints.

    MuJoCo clamps the force of each actuator (`forcerange`), and then the sum of those
    on a joint (`actuatorfrcrange`, which the joint has already). Where a model has
    neither, the range of a motor's control is one of its force. Else it is not used: it
    is often −1 to 1, for a policy that is scaled elsewhere.
    """
    indices = _indices_by_joint(links, tree)
    with_limits = list(links)
    narrow: list[Element] = []
    for index, elements in _actuators_by_link(root, defaults, indices).items():
        joint = links[index].joint
        # Forces of all actuators on a joint add up, so do their ranges.
        controls = _sum_ranges(elements, tree.settings, "ctrlrange")
        forces = _sum_ranges(elements, tree.settings, "forcerange")
        stated = effort_range(joint)
        if forces is None and stated is None:
            forces = controls
        limits = _intersection(forces, stated)
        if controls is not None and _is_narrower(controls, limits):
            narrow.append(elements[0])
        if forces is not None:
            with_limits[index] = replace(
                links[index], joint=_with_range(joint, limits, stated)
            )
    if narrow:
        _report_narrow_controls(narrow)
    return tuple(with_limits)


def _indices_by_joint(links: Sequence[Link], tree: Tree) -> dict[str, int]:
    """Return the links by the names of their joints."""
    indices: dict[str, int] = {}
    # Reversed, so that of several joints with one name the first counts. Names of the
    # file, which <custom> may have changed, take precedence.
    for link in reversed(links):
        if link.joint.type in ("rotate", "slide"):
            indices[link.joint.name] = link.index
    for raw, link in zip(tree.links, links, strict=True):
        if raw.joint_element is not None and raw.joint_element.get("name"):
            indices[raw.joint_element.get("name")] = link.index
    return indices


def _actuators_by_link(
    root: Element, defaults: Defaults, indices: Mapping[str, int]
) -> dict[int, list[Element]]:
    actuators: dict[int, list[Element]] = {}
    for actuator in root.inside("actuator"):
        element = defaults.full(actuator)
        if element.get("joint") in indices:
            index = indices[element.get("joint")]
            actuators.setdefault(index, []).append(element)
    return actuators


def _intersection(forces: Range | None, stated: tuple[float, float] | None) -> Range:
    """Return what both ranges have in common; all where there is none."""
    low, high = forces or stated or (-math.inf, math.inf)
    if stated is not None:
        low = max(low, stated[0])
        high = min(high, stated[1])
    return Range(low, high)


def _is_narrower(controls: Range, limits: Range) -> bool:
    return controls.low > limits.low or controls.high < limits.high


def _with_range(
    joint: Joint, limits: Range, stated: tuple[float, float] | None
) -> Joint:
    """Return a joint with a range of efforts, unless it has that."""
    # Ranges without a common part leave the joint as it was.
    if limits.low >= limits.high:
        return joint
    if stated is not None and np.allclose(stated, limits, rtol=1e-9, atol=0.0):
        return joint
    return replace(joint, extra={**joint.extra, "joint_effort_range": list(limits)})


def _report_narrow_controls(motors: Sequence[Element]) -> None:
    """Report joints whose motors have controls narrower than their limits."""
    joints = tuple(motor.get("joint") for motor in motors)
    message = (
        f"the range of the control of {counted(len(joints), 'joint')} "
        f"({listed(joints, MAX_LISTED_JOINTS)}) is narrower than the limits of its "
        "force; "
        "the limits count"
    )
    motors[0].report(rules.NARROW_CONTROL, message, data={"joints": joints})


def _sum_ranges(
    actuators: Sequence[Element], settings: Settings, attribute: str
) -> Range | None:
    """Return the range of what all actuators of a joint give it together.

    None where one of them has no such range.
    """
    low = 0.0
    high = 0.0
    for element in actuators:
        ends = _actuator_range(element, settings, attribute)
        if ends is None:
            return None
        # The first of six numbers is that of a joint with one degree of freedom.
        gear = element.numbers("gear")[0] if element.get("gear") else 1.0
        # A negative gear exchanges the ends.
        least, most = sorted((ends.low * gear, ends.high * gear))
        low += least
        high += most
    return Range(low, high) if low < high else None


def _actuator_range(
    element: Element, settings: Settings, attribute: str
) -> Range | None:
    """Return a range of an actuator, if it applies.

    [N or N m] Before the gear.
    """
    # The control of a motor is a force; that of other actuators is not.
    if attribute == "ctrlrange" and element.name != "motor":
        return None
    if not element.get(attribute):
        return None
    limited = element.get(LIMITED[attribute], "auto")
    is_automatic = limited == "auto" and settings.of(element).autolimits
    if limited != "true" and not is_automatic:
        return None
    low, high = element.numbers(attribute, 2)
    if low < high and math.isfinite(low) and math.isfinite(high):
        return Range(low, high)
    return None
