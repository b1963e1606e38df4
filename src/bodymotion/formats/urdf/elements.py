"""Shared by several elements.

<origin>, finite numbers, and elements of other programs, which are kept as XML and
written back.
"""

import math
from collections.abc import Collection
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np

from bodymotion.formats.urdf import rules
from bodymotion.formats.xml.syntax import closest_name
from bodymotion.formats.xml.tree import (
    MISSPELT,
    Element,
    number_text,
    parse_xml,
    to_xml,
)
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.model.rules import NOT_FINITE, ROTATION_ANGLE, ZERO_QUATERNION

MAX_ANGLE = (
    2.0 * math.pi + 0.01
)  # [rad] No angle of rpy needs to be larger than a full turn.

NAMES = {
    name: (tuple(attributes.split()), tuple(elements.split()))
    for name, attributes, elements in (
        line.split(":")
        for line in Path(__file__)
        .with_name("elements.txt")
        .read_text("utf-8")
        .splitlines()
    )
}
"""The attributes and elements of each element of a link or joint.

The reader of shapes reports those below <geometry>.
"""

REPEATED = ("visual", "collision")
MAX_SPELLING_CANDIDATES = (
    10  # How many attributes of an element are compared with the known ones.
)


def finite_numbers(
    element: Element,
    name: str,
    count: int | tuple[int, ...],
    default: tuple[float, ...] | None,
) -> tuple[float, ...]:
    """Return the numbers of an attribute.

    0 for those that are infinite, which is reported.
    """
    values = element.numbers(name, count, default)
    if not any(map(math.isinf, values)):
        return values
    element.report(
        NOT_FINITE, f"<{element.name}> has an infinite number; 0 is read instead"
    )
    element.faulty |= {name}
    return tuple(0.0 if math.isinf(value) else value for value in values)


def read_origin(parent: Element) -> Floats:
    """Return the pose (7,) of the <origin> in an element.

    Without one it is the identity.
    """
    origin = parent.first("origin")
    if origin is None:
        return poses.IDENTITY
    xyz = finite_numbers(origin, "xyz", 3, (0.0, 0.0, 0.0))
    if "quat_xyzw" in origin.attributes:
        return poses.from_parts(xyz, _quaternion(origin))
    rpy = finite_numbers(origin, "rpy", 3, (0.0, 0.0, 0.0))
    largest = max(map(abs, rpy))
    if largest > MAX_ANGLE:
        shown = " ".join(f"{value:.6g}" for value in rpy)
        origin.report(
            ROTATION_ANGLE,
            f"rpy is {shown}: {largest / (2 * math.pi):.3g} full turns",
            "rpy",
        )
        origin.faulty |= {"rpy"}
    return poses.from_parts(xyz, rotations.from_rpy(rpy))


def _quaternion(origin: Element) -> Floats:
    """Return the quaternion (4,) wxyz of an <origin> that has one, of length 1."""
    if "rpy" in origin.attributes:
        message = "<origin> has rpy and quat_xyzw; expected one orientation"
        origin.report(rules.ORIENTATION, message, "quat_xyzw", fatal=True)
    x, y, z, w = finite_numbers(origin, "quat_xyzw", 4, (0.0, 0.0, 0.0, 1.0))
    if not any((x, y, z, w)):
        message = "quat_xyzw of <origin> has length 0, expected 1"
        hint = "write 0 0 0 1 for no rotation"
        origin.report(ZERO_QUATERNION, message, "quat_xyzw", hint=hint, fatal=True)
        return rotations.IDENTITY
    return rotations.normalized(np.array([w, x, y, z]))


def check_version(robot: Element) -> None:
    """Report the first quaternion in a file whose version has none."""
    version = robot.get("version") or "1.0"
    if version != "1.0":
        return
    for element in robot.every():
        if (
            element.name == "origin"
            and "quat_xyzw" in element.attributes
            and "rpy" not in element.attributes
        ):
            message = f"quat_xyzw is of URDF 1.1, and the file is of version {version}: it is read"
            element.report(rules.ORIENTATION, message, "quat_xyzw", severity="warning")
            return


def roll_pitch_yaw(quaternion: Floats) -> Floats:
    """Return roll, pitch and yaw (3,) [rad] of a quaternion.

    0.0 instead of -0.0.
    """
    return np.asarray(rotations.to_rpy(quaternion) + 0.0)


def add_origin(parent: Element, pose: Floats) -> None:
    """Add the <origin> of a pose, given as (7,) or as a rigid matrix (4, 4), unless it is the identity."""
    if pose.shape == (4, 4):
        position = pose[:3, 3]
        rpy = rotations.matrix_to_rpy(pose[:3, :3]) + 0.0
    else:
        position = pose[:3]
        rpy = roll_pitch_yaw(pose[3:])
    if position.any() or rpy.any():
        parent.add("origin", {"xyz": number_text(position), "rpy": number_text(rpy)})


def one_line(element: Element) -> str:
    """Return an element as XML without line breaks between elements, as it is kept in `extra`."""
    return "".join(line.strip() for line in to_xml(element).decode().splitlines()[1:])


def read_rest(element: Element) -> str:
    """Return what a <link> or <joint> has that URDF does not know, as XML with nothing else in it.

    "" where there is nothing.

    Where a visual or collision has such a thing, all of them are listed, empty ones
    too, so that each is found again.
    """
    rest = _rest(element, f"{element.name} {element.get('name')!r:.60}")
    if _has_content(rest):
        return one_line(rest)
    return ""


def _has_content(rest: Element) -> bool:
    return bool(rest.attributes or rest.children)


def _rest(element: Element, title: str) -> Element:
    names = NAMES[element.name][1]
    others = _others(element)
    if others:
        unknown = ", ".join(others)[:80]
        element.report(
            rules.UNKNOWN,
            f"{unknown} of <{element.name}> in {title} is kept",
            next(iter(others)),
        )
    rest = Element(element.name, others)
    for name in names:
        found = list(element.all(name))
        parts = [
            _rest(one, title) for one in (found if name in REPEATED else found[:1])
        ]
        if any(map(_has_content, parts)):
            rest.children += parts
        if name not in REPEATED and len(found) > 1:
            found[1].report(
                rules.SECOND, f"a second <{name}> in {title}; only the first is read"
            )
    for child in element.children:
        if child.name not in names and element.name != "geometry":
            if not element.partial:
                child.report(rules.UNKNOWN, f"<{child.name[:60]}> in {title} is kept")
            rest.children.append(child)
    return rest


def _others(element: Element) -> dict[str, str]:
    """Return the attributes of an element that URDF does not know."""
    known = NAMES[element.name][0]
    return {
        key: value
        for key, value in element.attributes.items()
        if key not in known and not key.startswith("xmlns")
    }


def correct_names(
    element: Element, names: Collection[str], repeated: Collection[str] = REPEATED
) -> None:
    """Report misspelt names of attributes and elements below an element that has elements of these names.

    Read them as they are meant.
    """
    there = {child.name for child in element.children}
    for child in element.children:
        if child.name not in names and not child.is_full(rules.UNKNOWN):
            meant = closest_name(
                child.name,
                [name for name in names if name in repeated or name not in there],
            )
            if meant is not None:
                child.report(
                    MISSPELT,
                    f"<{child.name[:60]}> in <{element.name}>: did you mean <{meant}>?",
                )
                child.name = meant
                there.add(meant)
        if child.name in names and child.name in NAMES:
            _correct_attributes(child)
            correct_names(child, NAMES[child.name][1])


def _correct_attributes(element: Element) -> None:
    if element.is_full(rules.UNKNOWN):
        return
    for name in islice(_others(element), MAX_SPELLING_CANDIDATES):
        meant = closest_name(
            name,
            [
                known
                for known in NAMES[element.name][0]
                if known not in element.attributes
            ],
        )
        if meant is not None:
            message = f"<{element.name}> has no attribute {name!r:.60}: did you mean {meant!r}?"
            element.report(MISSPELT, message, name)
            element.correct(name, meant)


def parse_rest(text: object, name: str) -> Element | None:
    """Return the text that `read_rest` returned as an element of that name.

    None where it is something else.
    """
    try:
        found = parse_xml(str(text).encode("utf-8", "replace"))
    except ValueError:
        return None
    return found if found.name == name else None


def merge_rest(element: Element, rest: Element) -> bool:
    """Merge what `read_rest` returned into an element.

    Return whether all of it fits there.
    """
    whole = True
    _, names = NAMES.get(element.name, ((), ()))
    for key, value in rest.attributes.items():
        element.attributes.setdefault(key, value)
    for name in REPEATED:
        ours = list(element.all(name))
        theirs = list(rest.all(name))
        if name in names and len(ours) == len(theirs):
            for one, other in zip(ours, theirs, strict=True):
                whole &= merge_rest(one, other)
        elif name in names and any(map(_has_content, theirs)):
            whole = False
    for child in rest.children:
        if child.name not in names:
            element.children.append(replace(child))
        elif child.name not in REPEATED:
            target = element.first(child.name)
            whole &= target is not None and merge_rest(target, child)
    return whole
