"""The element <bodymotion>: what a Body holds and URDF has no words for. Other programs pass over it.

It stands last in <robot>. What it holds is JSON as the text of its elements, each a mapping from the name of a field to a pair: the value
that the rest of the file gives to that field, and the one that is meant. Where a file was changed by hand, the first is no longer what the
rest of the file gives, and the pair is passed over (URDF161). A joint's `id` and what is in `segment` and `robot` stand alone::

    <bodymotion version="1">
      <robot>{"name": ["robot", "SR1"], "info": {…}, "extra": {…}, "root_pose": […], "root_offset": […], "viewpoints": [{…}]}</robot>
      <link name="ARM">{"name": ["ARM", "left arm"], "segment": {"name": "ARM_LINK", "extra": {…}}}</link>
      <link name="HAND">{"collision_materials": ["material_0"], "offset": [[0, 0, 1, 1, 0, 0, 0], [0, 0, 1, -1, 0, 0, 0]]}</link>
      <link name="LEG">{"segments": [{"name": "A", "transform": […], "mass": 1.0, …, "shapes": [visuals, collisions]}, …]}</link>
      <joint link="ARM">{"id": 3, "rotor_inertia": [0.0, 1e-4], "velocity_lower": [-2.0, -5.0]}</joint>
      <material name="material_0">{"specular": [[0, 0, 0], [0.5, 0.5, 0.5]]}</material>
      <device sensor="WAIST/gyro">{"max_angular_velocity": [[-1, -1, -1], [9, 9, 9]]}</device>
      <device sensor="WAIST/gyro#2" meant="no"/>
      <device kind="SpotLightDevice" link="HEAD">{"name": ["", "light"], "extra": [{}, {"color": [1, 1, 1]}]}</device>
      <extra_joint link1="A" link2="B">{"type": ["xyz", "ball"], "axis": [[1, 0, 0], [0, 0, 1]]}</extra_joint>
    </bodymotion>

A joint is named by the link that it holds; links and materials by their names in the file, sensors by their link and name (with `#2`, …
behind it for a second one). <device> elements stand in the order of the body's devices: those with `sensor` are a Gazebo sensor, those with
`kind` are none. An IMU is an accelerometer and a gyro, counted in this order; `meant="no"` is the half of one that the body has not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import numpy as np

from bodymotion.formats.urdf import rules
from bodymotion.model.body import ExtraJointType
from bodymotion.model.links import JointType

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem
    from bodymotion.formats.xml.tree import Element

__all__ = ["VERSION", "Extension", "Said", "close", "plain", "read_extension"]

VERSION = "1"
HIGHEST_ID = 9999
CLOSE = 1e-12
"""Numbers that differ by so little, relative to the larger one or to 1, count as the same."""

PLACES = ("offset", "pose", "positions", "axis")
"""Fields without a meaning where they are not finite."""

T = TypeVar("T")


@dataclass(frozen=True)
class Said:
    """The mapping of one element, and where it stands."""

    values: Mapping[str, Any]
    element: Element

    def applied(self, base: T, problems: list[Problem], skip: Sequence[str] = ()) -> T:
        """Return a dataclass with the fields that the mapping means; pairs whose first value is not the field's are noted and passed over."""
        known = {f.name for f in fields(base)}  # type: ignore[arg-type]
        meant: dict[str, object] = {}
        for name, pair in self.values.items():
            if name in skip:
                continue
            if name not in known or not isinstance(pair, list) or len(pair) != 2:
                self.wrong(f"it says {name!r:.60}, which is no field, or not a pair", problems)
                continue
            now = getattr(base, name)
            try:
                if not close(plain(now), pair[0]):
                    problems.append(rules.CHANGED.problem(f"{name} was changed by hand", self.element.location))
                    continue
                meant[name] = _coerced(now, pair[1], name)
            except (TypeError, ValueError, OverflowError) as error:
                self.wrong(f"{name} cannot be used: {error}"[:200], problems)
        return replace(base, **meant)  # type: ignore[type-var]

    def wrong(self, message: str, problems: list[Problem]) -> None:
        """Note that a part cannot be used."""
        problems.append(rules.EXTENSION.problem(message, self.element.location))

    def mapping(self, name: str, problems: list[Problem]) -> dict[str, Any]:
        """Return the mapping of that name, an empty one where it is none."""
        value = self.values.get(name, {})
        if not isinstance(value, dict):
            self.wrong(f"{name} is no mapping", problems)
            return {}
        return value

    def numbers(self, name: str, count: int, problems: list[Problem]) -> np.ndarray | None:
        """Return an array (count,) of finite numbers, None where there is none."""
        value = self.values.get(name)
        if value is None:
            return None
        try:
            array = _coerced(np.zeros(count), value, name)
        except (TypeError, ValueError, OverflowError) as error:
            self.wrong(f"{name} cannot be used: {error}"[:200], problems)
            return None
        return np.asarray(array) if np.isfinite(np.asarray(array)).all() else None


@dataclass
class Extension:
    """What the element says, by the names in the file."""

    robot: Said | None = None
    links: dict[str, Said] = field(default_factory=dict)
    joints: dict[str, Said] = field(default_factory=dict)
    materials: dict[str, Said] = field(default_factory=dict)
    devices: list[Said] = field(default_factory=list)
    extra_joints: list[Said] = field(default_factory=list)

    def joint_id(self, link: str, otherwise: int, problems: list[Problem]) -> int:
        """Return the id of the joint that holds a link; where any joint has one here, those that have none are without."""
        if not any("id" in said.values for said in self.joints.values()):
            return otherwise
        said = self.joints.get(link)
        value = said.values.get("id", -1) if said else -1
        if isinstance(value, bool) or not isinstance(value, int) or not -1 <= value <= HIGHEST_ID:
            if said:
                said.wrong(f"the id {value!r:.40} is no small whole number", problems)
            return -1
        return value


def read_extension(robot: Element, problems: list[Problem]) -> Extension:
    """Read the element, as far as it can be used."""
    found = Extension()
    for root in robot.all("bodymotion"):
        if root.get("version") != VERSION:
            wrong = f"its version is {root.get('version')!r:.40}, not {VERSION}"
            problems.append(rules.EXTENSION.problem(wrong, root.location))
            continue
        for said in _parts(root, problems):
            element = said.element
            match element.name:
                case "robot":
                    found.robot = said
                case "link":
                    found.links[element.get("name")] = said
                case "joint":
                    found.joints[element.get("link")] = said
                case "material":
                    found.materials[element.get("name")] = said
                case "device":
                    found.devices.append(said)
                case "extra_joint":
                    found.extra_joints.append(said)
                case _:
                    said.wrong(f"<{element.name}> is not known", problems)
    return found


def _parts(root: Element, problems: list[Problem]) -> Iterator[Said]:
    for element in root.children:
        try:
            values = json.loads(element.text) if element.text.strip() else {}
        except (ValueError, RecursionError) as error:
            problems.append(rules.EXTENSION.problem(f"no JSON: {error}"[:200], element.location))
            continue
        if not isinstance(values, dict):
            problems.append(rules.EXTENSION.problem("its JSON is no mapping", element.location))
            continue
        yield Said(values, element)


_WORDS = {("type", "fixed"): get_args(JointType), ("type", "xyz"): get_args(ExtraJointType)}


def _coerced(now: object, meant: object, name: str) -> object:
    """Return a value that fits where `now` stands; TypeError or ValueError where it does not."""
    if isinstance(now, np.ndarray):
        array = np.array(meant, dtype=np.float64)
        if array.shape != now.shape:
            raise ValueError(f"shape {array.shape}, not {now.shape}")
        if name in PLACES and not np.isfinite(array).all():
            raise ValueError("not finite")
        return array
    if isinstance(now, tuple):
        return tuple(np.asarray(_coerced(np.array(now, dtype=np.float64), meant, name)).tolist())
    if isinstance(now, Mapping):
        if not isinstance(meant, dict):
            raise TypeError("no mapping")
        return meant
    if isinstance(now, bool) or isinstance(meant, bool):
        raise TypeError("a truth value")
    if isinstance(now, float):
        if not isinstance(meant, (int, float)):
            raise TypeError("no number")
        return float(meant)
    if type(now) is not type(meant):
        raise TypeError(f"a {type(meant).__name__}, not a {type(now).__name__}")
    for words in _WORDS.values():
        if name == "type" and now in words and meant not in words:
            raise ValueError(f"no such type: {meant!r:.40}")
    return meant


def plain(value: object) -> Any:  # noqa: ANN401
    """Return a value as JSON can hold it; TypeError where it cannot."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value.item() if isinstance(value, np.generic) else value
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise TypeError("a mapping with keys that are no texts")
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    raise TypeError(f"a {type(value).__name__}")


def close(a: object, b: object) -> bool:
    """Whether two values of JSON are the same; numbers may differ by rounding."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(close(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(close(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        if a == b or (a != a and b != b):
            return True
        return bool(abs(a - b) <= CLOSE * max(1.0, abs(a), abs(b)) < np.inf)
    return type(a) is type(b) and a == b
