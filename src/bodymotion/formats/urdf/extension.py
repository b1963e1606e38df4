"""The element <bodymotion>: the values of a Body that URDF cannot hold. Other programs ignore it.

It is the last element of <robot>. The text of each of its elements is JSON, a mapping from the name of a field to a pair: the value of the
field in the rest of the file, and the value in the body. Where the file was edited, the rest of the file has another value, and the pair is
ignored (URDF161). A joint's `id` and the values in `segment` and `robot` are no pairs::

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

A joint is named by its child link, links and materials by their names in the file, sensors by their link and name (with `#2` … for a second
one). <device> elements are in the order of the body's devices: those with `sensor` are a Gazebo sensor, those with `kind` are not.
An IMU is an accelerometer and a gyro, in this order; `meant="no"` is the half of an IMU that the body does not have.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import numpy as np

from bodymotion.formats.urdf import rules
from bodymotion.model.body import ExtraJointType
from bodymotion.model.links import JointType, Link, Segment

if TYPE_CHECKING:
    from bodymotion.formats.xml.tree import Element
    from bodymotion.geometry.shapes import Shape

VERSION = "1"
MAX_ID = 9999
TOLERANCE = 1e-12
"""Difference of equal numbers, relative to the larger one or to 1."""

FINITE_FIELDS = ("offset", "pose", "positions", "axis")
"""Fields that must be finite."""

T = TypeVar("T")


@dataclass(frozen=True)
class Entry:
    """One element of <bodymotion>: the mapping in its text."""

    values: Mapping[str, Any]
    element: Element

    def applied(self, base: T, skip: Sequence[str] = ()) -> T:
        """Return a dataclass with the fields of the mapping; pairs whose first value is not that of `base` are reported and ignored."""
        known = {f.name for f in fields(base)}  # type: ignore[arg-type]
        meant: dict[str, object] = {}
        for name, pair in self.values.items():
            if name in skip:
                continue
            if name not in known or not isinstance(pair, list) or len(pair) != 2:
                self.report(f"it has {name!r:.60}, which is no field with a pair of values")
                continue
            now = getattr(base, name)
            try:
                if not is_same(as_json(now), pair[0]):
                    self.element.report(rules.CHANGED, f"{name} was changed by hand")
                    continue
                meant[name] = _coerced(now, pair[1], name)
            except (TypeError, ValueError, OverflowError) as error:
                self.report(f"{name} cannot be used: {error}"[:200])
        return replace(base, **meant)  # type: ignore[type-var]

    def report(self, message: str) -> None:
        """Report that a part of the entry cannot be used (URDF160)."""
        self.element.report(rules.EXTENSION, message)

    def mapping(self, name: str) -> dict[str, Any]:
        """Return the mapping of a name; an empty one where the value is something else."""
        value = self.values.get(name, {})
        if not isinstance(value, dict):
            self.report(f"{name} is no mapping")
            return {}
        return value

    def numbers(self, name: str, count: int) -> np.ndarray | None:
        """Return an array (count,) of finite numbers; None where the value is something else."""
        value = self.values.get(name)
        if value is None:
            return None
        try:
            array = _coerced(np.zeros(count), value, name)
        except (TypeError, ValueError, OverflowError) as error:
            self.report(f"{name} cannot be used: {error}"[:200])
            return None
        return np.asarray(array) if np.isfinite(np.asarray(array)).all() else None


@dataclass
class Extension:
    """The entries of the element, by the names in the file."""

    robot: Entry | None = None
    links: dict[str, Entry] = field(default_factory=dict)
    joints: dict[str, Entry] = field(default_factory=dict)
    materials: dict[str, Entry] = field(default_factory=dict)
    devices: list[Entry] = field(default_factory=list)
    extra_joints: list[Entry] = field(default_factory=list)

    def joint_id(self, link: str, otherwise: int) -> int:
        """Return the id of the joint that holds a link: `otherwise` where no joint has an id here, −1 where others have one."""
        if not any("id" in entry.values for entry in self.joints.values()):
            return otherwise
        entry = self.joints.get(link)
        value = entry.values.get("id", -1) if entry else -1
        if isinstance(value, bool) or not isinstance(value, int) or not -1 <= value <= MAX_ID:
            if entry:
                entry.report(f"the id {value!r:.40} is no whole number from -1 to {MAX_ID}")
            return -1
        return value


def read_extension(robot: Element) -> Extension:
    """Read the <bodymotion> elements of a robot, as far as they can be used."""
    found = Extension()
    for root in robot.all("bodymotion"):
        if root.get("version") != VERSION:
            wrong = f"its version is {root.get('version')!r:.40}, not {VERSION}"
            root.report(rules.EXTENSION, wrong)
            continue
        for entry in _parts(root):
            element = entry.element
            match element.name:
                case "robot":
                    found.robot = entry
                case "link":
                    found.links[element.get("name")] = entry
                case "joint":
                    found.joints[element.get("link")] = entry
                case "material":
                    found.materials[element.get("name")] = entry
                case "device":
                    found.devices.append(entry)
                case "extra_joint":
                    found.extra_joints.append(entry)
                case _:
                    entry.report(f"<{element.name}> is no element of <bodymotion>")
    return found


def _parts(root: Element) -> Iterator[Entry]:
    for element in root.children:
        try:
            values = json.loads(element.text) if element.text.strip() else {}
        except (ValueError, RecursionError) as error:
            element.report(rules.EXTENSION, f"its text is no JSON: {error}"[:200])
            continue
        if not isinstance(values, dict):
            element.report(rules.EXTENSION, "its JSON is no mapping of names to values")
            continue
        yield Entry(values, element)


_ENUMERATIONS = {("type", "fixed"): get_args(JointType), ("type", "xyz"): get_args(ExtraJointType)}


def _coerced(now: object, meant: object, name: str) -> object:
    """Return a value in the type and shape of `now`; TypeError or ValueError where it does not fit."""
    if isinstance(now, np.ndarray):
        array = np.array(meant, dtype=np.float64)
        if array.shape != now.shape:
            raise ValueError(f"shape {array.shape}, not {now.shape}")
        if name in FINITE_FIELDS and not np.isfinite(array).all():
            raise ValueError("not finite")
        return array
    if isinstance(now, tuple):
        return tuple(np.asarray(_coerced(np.array(now, dtype=np.float64), meant, name)).tolist())
    if isinstance(now, Mapping):
        if not isinstance(meant, dict):
            raise TypeError("no mapping")
        return meant
    if isinstance(now, bool) or isinstance(meant, bool):
        raise TypeError("a boolean")
    if isinstance(now, float):
        if not isinstance(meant, (int, float)):
            raise TypeError("no number")
        return float(meant)
    if type(now) is not type(meant):
        raise TypeError(f"a {type(meant).__name__}, not a {type(now).__name__}")
    for types in _ENUMERATIONS.values():
        if name == "type" and now in types and meant not in types:
            raise ValueError(f"unknown type {meant!r:.40}")
    return meant


def as_json(value: object) -> Any:  # noqa: ANN401
    """Return a value as JSON holds it; TypeError where it cannot."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value.item() if isinstance(value, np.generic) else value
    if isinstance(value, np.generic):
        return as_json(value.item())
    if isinstance(value, np.ndarray):
        return as_json(value.tolist())
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise TypeError("a mapping with keys that are no texts")
        return {key: as_json(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(inner) for inner in value]
    raise TypeError(f"a {type(value).__name__}")


def is_same(a: object, b: object) -> bool:
    """Return whether two values of JSON are the same; numbers may differ by rounding."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(is_same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(is_same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        if a == b or (a != a and b != b):
            return True
        return bool(abs(a - b) <= TOLERANCE * max(1.0, abs(a), abs(b)) < np.inf)
    return type(a) is type(b) and a == b


SUM_TOLERANCE = 1e-9
"""Relative difference up to which the sums of the parts equal the link in the rest of the file."""
MIN_DETERMINANT = 1e-9
"""The smallest determinant of a transform that is inverted."""
SHAPES_OF_ARRAYS = {"transform": (4, 4), "center_of_mass": (3,), "inertia": (3, 3), "mass": (), "shapes": (2,)}


def has_parts(link: Link) -> bool:
    """Return whether a link has several segments, or one that is not in the frame of the link."""
    return len(link.segments) > 1 or any(not np.array_equal(one.transform, np.eye(4)) for one in link.segments)


def json_of_segments(link: Link, counts: Sequence[tuple[int, int]]) -> list[dict[str, Any]] | None:
    """Return the entry of the segments of a link; None where they cannot be separated again.

    `counts` are the numbers of <visual> and <collision> elements of each.
    """
    found = []
    for one, count in zip(link.segments, counts, strict=True):
        numbers = np.concatenate([one.transform.ravel(), one.inertia.ravel(), one.center_of_mass, [one.mass]])
        if not np.isfinite(numbers).all() or abs(np.linalg.det(one.transform[:3, :3])) < MIN_DETERMINANT:
            return None
        found.append(
            {
                "name": one.name,
                "transform": as_json(one.transform),
                "mass": one.mass,
                "center_of_mass": as_json(one.center_of_mass),
                "inertia": as_json(one.inertia),
                "shapes": list(count),
            }
        )
    return found


def separate_segments(entry: Entry, whole: Segment) -> tuple[Segment, ...]:
    """Return the segments of a link from its entry and from the whole as one segment; that one where they do not fit it."""
    entries = entry.values.get("segments")
    try:
        found = [_segment(values) for values in entries] if isinstance(entries, list) else []
        counts = [_counts(values) for values in entries] if isinstance(entries, list) else []
        found = _with_shapes(found, counts, whole)
    except (TypeError, ValueError, OverflowError, np.linalg.LinAlgError) as error:
        entry.report(f"segments cannot be used: {error}"[:200])
        return (whole,)
    if not found or not _sums_up(found, whole):
        entry.element.report(rules.CHANGED, "masses or shapes of the link were changed by hand")
        return (whole,)
    return tuple(found)


def _segment(values: object) -> Segment:
    if not isinstance(values, Mapping):
        raise TypeError("no mapping")
    arrays = {}
    for name in ("transform", "mass", "center_of_mass", "inertia"):
        arrays[name] = np.array(values.get(name, np.nan), dtype=np.float64)
        if arrays[name].shape != SHAPES_OF_ARRAYS[name] or not np.isfinite(arrays[name]).all():
            raise ValueError(f"{name} is of another shape, or not finite")
    name, extra = values.get("name", ""), values.get("extra", {})
    return Segment(
        name=name if isinstance(name, str) else "",
        transform=arrays["transform"],
        mass=float(arrays["mass"]),
        center_of_mass=arrays["center_of_mass"],
        inertia=arrays["inertia"],
        extra=extra if isinstance(extra, dict) else {},
    )


def _counts(values: Mapping[str, object]) -> tuple[int, int]:
    shown = values.get("shapes", [0, 0])
    if not isinstance(shown, list) or len(shown) != 2 or not all(isinstance(n, int) and n >= 0 for n in shown):
        raise ValueError("shapes are no two counts")
    return shown[0], shown[1]


def _with_shapes(segments: list[Segment], counts: list[tuple[int, int]], whole: Segment) -> list[Segment]:
    """Return the segments with their shapes in their own frames; none where the number of shapes differs."""
    if [sum(count[k] for count in counts) for k in (0, 1)] != [len(whole.visuals), len(whole.collisions)]:
        return []
    found, used = [], [0, 0]
    for segment, count in zip(segments, counts, strict=True):
        back = np.linalg.inv(segment.transform)
        own: list[tuple[Shape, ...]] = []
        for k, shapes in enumerate((whole.visuals, whole.collisions)):
            own.append(tuple(shape.moved(back) for shape in shapes[used[k] : used[k] + count[k]]))
            used[k] += count[k]
        found.append(replace(segment, visuals=own[0], collisions=own[1]))
    return found


def _sums_up(segments: list[Segment], whole: Segment) -> bool:
    made = Link(segments=tuple(segments))
    inertia = 0.5 * (made.inertia + made.inertia.T)
    pairs = ((made.mass, whole.mass), (made.center_of_mass, whole.center_of_mass), (inertia, whole.inertia))
    return all(
        bool(np.abs(np.asarray(ours) - theirs).max() <= SUM_TOLERANCE * max(1e-6, float(np.abs(theirs).max())))
        for ours, theirs in pairs
    )
