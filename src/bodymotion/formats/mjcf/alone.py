"""What a file says of its things that a Body has no field for, as plain data: it goes into `extra` under "mjcf"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.formats.mjcf.conventions import CLASSES
from bodymotion.formats.mjcf.frames import finite, pose
from bodymotion.formats.xml.tree import number_text
from bodymotion.geometry import poses, rotations

if TYPE_CHECKING:
    from bodymotion.formats.mjcf.frames import Item
    from bodymotion.formats.mjcf.geoms import Geom
    from bodymotion.formats.mjcf.settings import Settings
    from bodymotion.formats.xml.tree import Element

__all__ = ["GEOM_KEPT", "SITE_PLACE", "geom_rules", "kind_of", "of_body", "placed"]

PLACE = ("pos", "quat", "axisangle", "euler", "xyaxes", "zaxis")
SITE_PLACE = ("name", "class", "material", "fromto", *PLACE)
BODY_TOLD = ("name", "childclass", *PLACE)
GEOM_RULES = {"contype": "1", "conaffinity": "1", "group": "0"}
"""What geoms without a class have."""
GEOM_KEPT = (
    "contype",
    "conaffinity",
    "condim",
    "group",
    "priority",
    "friction",
    "solmix",
    "solref",
    "solimp",
    "margin",
    "gap",
    "fluidshape",
    "fluidcoef",
    "user",
)


def of_body(element: Element, lights: Sequence[Item], settings: Settings) -> dict[str, object]:
    """Return what is said of a body beside its joints, mass, shapes and devices: attributes, and the lights on it."""
    said: dict[str, object] = {}
    attributes = {key: value for key, value in element.attributes.items() if key not in BODY_TOLD}
    if attributes:
        said["body"] = attributes
    if lights:
        said["lights"] = [placed(item, settings) for item in lights]
    return said


def placed(item: Item, settings: Settings) -> dict[str, object]:
    """Return an element of a body as plain data: with its defaults, in the body's own frame, angles in radians."""
    element = item.element
    values = {key: value for key, value in element.attributes.items() if key not in ("class", *PLACE)}
    if element.name == "light":
        place = poses.from_parts(finite(element, "pos", 3, (0.0, 0.0, 0.0)), rotations.IDENTITY)
        if item.frame is not None:
            place = poses.compose(item.frame, place)
            values["dir"] = number_text(rotations.rotate(item.frame[3:], finite(element, "dir", 3, (0.0, 0.0, -1.0))))
        return {"element": "light", **values, "pos": number_text(place[:3])}
    if "fromto" in values:
        ends = finite(element, "fromto", 6).reshape(2, 3)
        ends = ends if item.frame is None else poses.transform_points(item.frame, ends)
        return {"element": element.name, **values, "fromto": number_text(ends)}
    place = pose(element, settings)
    place = place if item.frame is None else poses.compose(item.frame, place)
    return {"element": element.name, **values, "pos": number_text(place[:3]), "quat": number_text(place[3:])}


def geom_rules(geoms: Sequence[Geom]) -> list[dict[str, object]]:
    """Return how each geom touches and is shown, as far as it is not what our writer gives one that is seen, touches, or both.

    Nothing where no geom needs it.
    """
    found: list[dict[str, object]] = []
    needed = False
    for geom in geoms:
        element = geom.element
        given = {key: value for key, value in element.attributes.items() if key in GEOM_KEPT}
        flat_of_ours = geom.type == "mesh" and element.get("class") in CLASSES and touches_nothing(element)
        usual = {**GEOM_RULES, **CLASSES[kind_of(visual=geom.visual, collision=geom.collision)]}
        said: dict[str, object] = {}
        for key, value in {**GEOM_RULES, **given}.items():
            if key in ("contype", "conaffinity") and flat_of_ours:
                continue
            if key == "group" and _hidden(value) == _hidden(usual["group"]):
                # All else that groups do is for viewers to ask.
                continue
            if value.split() != usual.get(key, "").split():
                said[key] = value
        if geom.type == "plane":
            said["plane"] = element.get("size")
        needed |= bool(said)
        found.append({**said, "shown": [geom.visual, geom.collision]})
    kinds = [(geom.visual, geom.collision) for geom in geoms]
    # Our writer puts what is only seen first, and what is both only where all is.
    ordered = kinds == sorted(kinds, key=lambda kind: kind[1]) and ((True, True) not in kinds or len(set(kinds)) == 1)
    return found if needed or not ordered else []


def _hidden(group: str) -> bool:
    return group.strip() not in ("", "0", "1", "2")


def kind_of(*, visual: bool, collision: bool) -> str:
    """Return the class of our writer for a geom."""
    return "seen_collision" if visual and collision else "visual" if visual else "collision"


def touches_nothing(element: Element) -> bool:
    """Whether no other geom can touch this one by its bits."""
    return not np.any([element.number(key, 1.0) for key in ("contype", "conaffinity")])
