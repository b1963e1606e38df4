"""The `<compiler>` of a model: in what its numbers are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bodymotion.formats.mjcf import rules

if TYPE_CHECKING:
    from bodymotion.formats.xml.tree import Element

__all__ = ["Settings", "read_settings"]


@dataclass(frozen=True)
class Settings:
    """`angle`: what an angle of 1 is in radians; the others as in the documentation of MJCF, with its defaults."""

    angle: float = math.pi / 180.0
    eulerseq: str = "xyz"
    autolimits: bool = True
    inertiafromgeom: str = "auto"
    inertiagrouprange: tuple[float, float] = (0.0, 5.0)
    boundmass: float = 0.0
    boundinertia: float = 0.0
    balanceinertia: bool = False
    settotalmass: float = -1.0
    meshdir: str = ""
    texturedir: str = ""
    strippath: bool = False
    fitaabb: bool = False


def read_settings(root: Element) -> Settings:
    """Take all `<compiler>` elements of a model together; of an attribute given twice the last counts.

    Raises
    ------
    FormatError
        When a value is none that its attribute can have, or coordinates are global.
    """
    given: dict[str, Element] = {}
    for element in root.all("compiler"):
        for name in element.attributes:
            given[name] = element
    if "coordinate" in given and given["coordinate"].get("coordinate") != "local":
        given["coordinate"].fault(rules.GLOBAL, "coordinate is not local", "coordinate")

    def word(name: str, default: str, *allowed: str) -> str:
        if name not in given:
            return default
        value = given[name].get(name)
        if allowed and value not in allowed:
            given[name].wrong(f"{name} of <compiler> is {value!r:.60}, not one of {', '.join(allowed)}", name)
            return default
        return value

    def number(name: str, default: float) -> float:
        return given[name].number(name) if name in given else default

    def truth(name: str, default: bool) -> bool:
        return word(name, "true" if default else "false", "true", "false") == "true"

    eulerseq = word("eulerseq", "xyz")
    if len(eulerseq) != 3 or not set(eulerseq) <= set("xyzXYZ"):
        given["eulerseq"].wrong(f"eulerseq is {eulerseq!r:.60}, not three of x, y, z, X, Y and Z", "eulerseq")
        eulerseq = "xyz"
    groups = given["inertiagrouprange"].numbers("inertiagrouprange", 2) if "inertiagrouprange" in given else (0.0, 5.0)
    assets = word("assetdir", "")
    return Settings(
        angle=1.0 if word("angle", "degree", "degree", "radian") == "radian" else math.pi / 180.0,
        eulerseq=eulerseq,
        autolimits=truth("autolimits", True),
        inertiafromgeom=word("inertiafromgeom", "auto", "auto", "true", "false"),
        inertiagrouprange=(groups[0], groups[1]),
        boundmass=number("boundmass", 0.0),
        boundinertia=number("boundinertia", 0.0),
        balanceinertia=truth("balanceinertia", False),
        settotalmass=number("settotalmass", -1.0),
        meshdir=word("meshdir", assets),
        texturedir=word("texturedir", assets),
        strippath=truth("strippath", False),
        fitaabb=truth("fitaabb", False),
    )
