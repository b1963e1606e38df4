"""What several elements share: <origin>, finite numbers, and content of other programs.

Content that URDF does not know is kept as XML and written back.
"""

import math
from collections.abc import Collection
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bodymotion.formats.urdf import rules
from bodymotion.formats.xml.syntax import closest_name
from bodymotion.formats.xml.tree import (
    MISSPELT,
    Element,
    number_text,
    one_line,
    parse_xml,
)
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.model.rules import NOT_FINITE, ROTATION_ANGLE, ZERO_QUATERNION

# [rad] No angle of rpy needs to be larger than a full turn.
MAX_ANGLE = 2.0 * math.pi + 0.01
REPEATED = ("visual", "collision")
# How many attributes of an element are compared with the known ones.
MAX_SPELLING_CANDIDATES = 10


class Content(NamedTuple):
    """The names of the attributes and elements that an element may have."""

    attributes: tuple[str, ...]
    elements: tuple[str, ...]


def _read_names() -> dict[str, Content]:
    names: dict[str, Content] = {}
    text = Path(__file__).with_name("elements.txt").read_text("utf-8")
    for line in text.splitlines():
        name, attributes, elements = line.split(":")
        names[name] = Content(tuple(attributes.split()), tuple(elements.split()))
    return names


# By name of an element of a link or joint, what it may have. The reader of shapes
# reports what else is below <geometry>.
NAMES = _read_names()


def finite_numbers(
    element: Element,
    name: str,
    count: int | tuple[int, ...],
    default: tuple[float, ...] | None,
) -> tuple[float, ...]:
    """Return the numbers of an attribute; 0 for infinite ones, which are reported."""
    values = element.numbers(name, count, default)
    if not any(map(math.isinf, values)):
        return values
    message = f"<{element.name}> has an infinite number; 0 is read instead"
    element.report(NOT_FINITE, message)
    element.faulty |= {name}
    return tuple(0.0 if math.isinf(value) else value for value in values)


def read_origin(parent: Element) -> Floats:
    """Return the pose (7,) of the <origin> in an element.

    The identity without one.
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
        turns = largest / (2 * math.pi)
        message = f"rpy is {shown}: {turns:.3g} full turns"
        origin.report(ROTATION_ANGLE, message, "rpy")
        origin.faulty |= {"rpy"}
    return poses.from_parts(xyz, rotations.from_rpy(rpy))


def _quaternion(origin: Element) -> Floats:
    """Return the unit quaternion (4,) wxyz of an <origin>."""
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
        has_quaternion = "quat_xyzw" in element.attributes
        is_reported = "rpy" in element.attributes
        if element.name == "origin" and has_quaternion and not is_reported:
            message = (
                f"quat_xyzw is of URDF 1.1, and the file is of version {version}: "
                "it is read"
            )
            element.report(rules.ORIENTATION, message, "quat_xyzw", severity="warning")
            return


def roll_pitch_yaw(quaternion: Floats) -> Floats:
    """Return roll, pitch and yaw (3,) [rad] of a quaternion.

    0.0 instead of -0.0.
    """
    return np.asarray(rotations.to_rpy(quaternion) + 0.0)


def add_origin(parent: Element, pose: Floats) -> None:
    """Add the <origin> of a pose, unless it is the identity.

    The pose is given as (7,) or as a rigid matrix (4, 4).
    """
    if pose.shape == (4, 4):
        position = pose[:3, 3]
        # Adding 0.0 makes 0.0 of -0.0.
        rpy = rotations.matrix_to_rpy(pose[:3, :3]) + 0.0
    else:
        position = pose[:3]
        rpy = roll_pitch_yaw(pose[3:])
    if position.any() or rpy.any():
        parent.add("origin", {"xyz": number_text(position), "rpy": number_text(rpy)})


def read_rest(element: Element) -> str:
    """Return what URDF does not know of an element.

    Of a <link> or <joint>, as XML.

    "" where there is nothing. Where a visual or collision has such a thing, all of them
    are listed, empty ones too, so that each is found again.
    """
    rest = _rest(element, f"{element.name} {element.get('name')!r:.60}")
    if _has_content(rest):
        return one_line(rest)
    return ""


def _has_content(rest: Element) -> bool:
    return bool(rest.attributes or rest.children)


def _rest(element: Element, title: str) -> Element:
    """Return a copy of an element with only what URDF does not know.

    Such things are reported; `title` names the link or joint in the messages.
    """
    names = NAMES[element.name].elements
    others = _others(element)
    if others:
        unknown = ", ".join(others)[:80]
        message = f"{unknown} of <{element.name}> in {title} is kept"
        element.report(rules.UNKNOWN, message, next(iter(others)))
    rest = Element(element.name, others)
    for name in names:
        parts = list(element.all(name))
        read = parts if name in REPEATED else parts[:1]
        rests = [_rest(part, title) for part in read]
        if any(map(_has_content, rests)):
            rest.children += rests
        if len(parts) > len(read):
            message = f"a second <{name}> in {title}; only the first is read"
            parts[1].report(rules.SECOND, message)
    for child in element.children:
        if child.name not in names and element.name != "geometry":
            child.report(rules.UNKNOWN, f"<{child.name[:60]}> in {title} is kept")
            rest.children.append(child)
    return rest


def _others(element: Element) -> dict[str, str]:
    """Return the attributes of an element that URDF does not know."""
    known = NAMES[element.name].attributes
    return {
        key: value
        for key, value in element.attributes.items()
        if key not in known and not key.startswith("xmlns")
    }


def correct_names(
    element: Element, names: Collection[str], repeated: Collection[str] = REPEATED
) -> None:
    """Report misspelt names below an element, and read them as they are meant.

    The element may have elements of these names, those of `repeated` several times.
    """
    present = {child.name for child in element.children}
    for child in element.children:
        if child.name not in names and not child.is_full(rules.UNKNOWN):
            free = [name for name in names if name in repeated or name not in present]
            meant = closest_name(child.name, free)
            if meant is not None:
                message = (
                    f"<{child.name[:60]}> in <{element.name}>: did you mean <{meant}>?"
                )
                child.report(MISSPELT, message)
                child.name = meant
                present.add(meant)
        if child.name in names and child.name in NAMES:
            _correct_attributes(child)
            correct_names(child, NAMES[child.name].elements)


def _correct_attributes(element: Element) -> None:
    """Read misspelt attributes of an element as they are meant."""
    if element.is_full(rules.UNKNOWN):
        return
    for name in islice(_others(element), MAX_SPELLING_CANDIDATES):
        known = NAMES[element.name].attributes
        free = [each for each in known if each not in element.attributes]
        meant = closest_name(name, free)
        if meant is not None:
            message = (
                f"<{element.name}> has no attribute {name!r:.60}: did you mean "
                f"{meant!r}?"
            )
            element.report(MISSPELT, message, name)
            element.correct(name, meant)


def parse_rest(text: object, name: str) -> Element | None:
    """Return the text that `read_rest` returned as an element of that name.

    None where it is something else.
    """
    try:
        element = parse_xml(str(text).encode("utf-8", "replace"))
    except ValueError:
        return None
    return element if element.name == name else None


def merge_rest(element: Element, rest: Element) -> bool:
    """Merge what `read_rest` returned into an element.

    Return whether all of it fits there.
    """
    for key, value in rest.attributes.items():
        element.attributes.setdefault(key, value)
    names = NAMES[element.name].elements if element.name in NAMES else ()
    fits = True
    for name in REPEATED:
        if name in names:
            fits &= _merge_repeated(list(element.all(name)), list(rest.all(name)))
    for child in rest.children:
        if child.name not in names:
            element.children.append(replace(child))
        elif child.name not in REPEATED:
            target = element.first(child.name)
            fits &= target is not None and merge_rest(target, child)
    return fits


def _merge_repeated(elements: list[Element], rests: list[Element]) -> bool:
    """Merge rests into elements one by one, if there are as many of both."""
    if len(elements) != len(rests):
        return not any(map(_has_content, rests))
    # All are merged, also behind one that does not fit.
    fit = [merge_rest(each, rest) for each, rest in zip(elements, rests, strict=True)]
    return all(fit)
