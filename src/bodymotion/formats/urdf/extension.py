"""The element <bodymotion>: the values of a Body that URDF cannot hold.

Other programs ignore it.

It is the last element of <robot>. The text of each of its elements is JSON, a mapping
from the name of a field to a pair: the value of the field in the rest of the file, and
the value in the body. Where the file was edited, the rest of the file has another
value, and the pair is
ignored (URDF161). A joint's `id` and the values in `segment` and `robot` are no pairs::

    <bodymotion version="1">
      <robot>{"name": ["robot", "SR1"], "info": {…}, "extra": {…}, "root_pose": […],
      "root_offset": […], "viewpoints": [{…}]}</robot> <link name="ARM">{"name": ["ARM",
      "left arm"], "segment": {"name": "ARM_LINK", "extra": {…}}}</link> <link
      name="HAND">{"collision_materials": ["material_0"], "offset": [[0, 0, 1, 1, 0, 0,
      0], [0, 0, 1, -1, 0, 0, 0]]}</link> <link name="LEG">{"segments": [{"name": "A",
      "transform": […], "mass": 1.0, …, "shapes": [visuals, collisions]}, …]}</link>
      <joint link="ARM">{"id": 3, "rotor_inertia": [0.0, 1e-4], "velocity_lower": [-2.0,
      -5.0]}</joint> <material name="material_0">{"specular": [[0, 0, 0], [0.5, 0.5,
      0.5]]}</material> <device sensor="WAIST/gyro">{"max_angular_velocity": [[-1, -1,
      -1], [9, 9, 9]]}</device> <device sensor="WAIST/gyro#2" meant="no"/> <device
      kind="SpotLightDevice" link="HEAD">{"name": ["", "light"], "extra": [{}, {"color":
      [1, 1, 1]}]}</device> <extra_joint link1="A" link2="B">{"type": ["xyz", "ball"],
      "axis": [[1, 0, 0], [0, 0, 1]]}</extra_joint>
    </bodymotion>

A joint is named by its child link, links and materials by their names in the file,
sensors by their link and name (with `#2` … for a second one). <device> elements are in
the order of the body's devices: those with `sensor` are a Gazebo sensor, those with
`kind` are not. An IMU is an accelerometer and a gyro, in this order; `meant="no"` is
the half of an IMU that the body does not have.

The writer reads each element of the rest of the file as it will be read, and compares
it with the value that it was made of: where they differ, the value is kept here. So no
value is written twice, and none is lost when other elements can hold more.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

import numpy as np

from bodymotion.diagnostics import Problem, Rule, losses
from bodymotion.diagnostics.text import listed
from bodymotion.formats.kept_json import as_json, coerced, plain
from bodymotion.formats.plain import parse_json
from bodymotion.formats.urdf import rules
from bodymotion.formats.xml.tree import Element, is_xml_text
from bodymotion.model.links import Link

VERSION = "1"
MAX_ID = 9999
TOLERANCE = 1e-12  # Difference of equal numbers, relative to the larger one or to 1.

T = TypeVar("T")
MAX_NAMES = 8  # Names that are listed of one kind of loss.

NEEDED_VALUES = (
    "joint rotor_inertia",
)  # What other programs would need of the values that URDF has no field for.


@dataclass(frozen=True)
class Entry:
    """One element of <bodymotion>: the mapping in its text."""

    values: Mapping[str, Any]
    element: Element

    def applied(self, base: T, skip: Sequence[str] = ()) -> T:
        """Return a dataclass with the fields of the mapping.

        Pairs whose first value is not that of `base` are reported and ignored.
        """
        known = {f.name for f in fields(base)}  # type: ignore[arg-type]
        meant: dict[str, object] = {}
        for name, pair in self.values.items():
            if name in skip:
                continue
            if name not in known or not isinstance(pair, list) or len(pair) != 2:
                self.report(
                    f"it has {name!r:.60}, which is not a field with a pair of values"
                )
                continue
            now = getattr(base, name)
            try:
                if not is_same(as_json(now), pair[0]):
                    self.element.report(rules.CHANGED, f"{name} was changed by hand")
                    continue
                meant[name] = coerced(now, pair[1], name)
            except (TypeError, ValueError, OverflowError) as error:
                self.report(f"{name} cannot be used: {error}"[:200])
        return replace(base, **meant)  # type: ignore[type-var]

    def report(self, message: str) -> None:
        """Report that a part of the entry cannot be used (URDF160)."""
        self.element.report(rules.EXTENSION, message)

    def id(self, otherwise: int) -> int:
        """Return the id; `otherwise` where there is none, −1 where it is no id."""
        value = self.values.get("id", otherwise)
        if (
            isinstance(value, bool)
            or not isinstance(value, int)
            or not -1 <= value <= MAX_ID
        ):
            self.report(
                f"the id {value!r:.40} is not a whole number from -1 to {MAX_ID}"
            )
            return -1
        return value

    def mapping(self, name: str) -> dict[str, Any]:
        """Return the mapping of a name.

        An empty one where the value is something else.
        """
        value = self.values.get(name, {})
        if not isinstance(value, dict):
            self.report(f"{name} is not a mapping")
            return {}
        return value

    def numbers(self, name: str, count: int) -> np.ndarray | None:
        """Return an array (count,) of finite numbers.

        None where the value is something else.
        """
        if name not in self.values:
            return None
        array = self.using(
            name, lambda: np.asarray(coerced(np.zeros(count), self.values[name], name))
        )
        if array is not None and np.isfinite(array).all():
            return array
        return None

    def using(self, name: str, use: Callable[[], T]) -> T | None:
        """Return what `use` makes of the value of a name.

        None where it cannot be used, which is reported.
        """
        try:
            return use()
        except (TypeError, ValueError, OverflowError) as error:
            self.report(f"{name} cannot be used: {error}"[:200])
            return None


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
        """Return the id of the joint that holds a link.

        `otherwise` where no joint has an id here, −1 where others have one.
        """
        if not any("id" in entry.values for entry in self.joints.values()):
            return otherwise
        entry = self.joints.get(link)
        if entry:
            return entry.id(-1)
        return -1


def read_extension(robot: Element) -> Extension:
    """Read the <bodymotion> elements of a robot, as far as they can be used."""
    found = Extension()
    for root in robot.all("bodymotion"):
        if root.get("version") != VERSION:
            root.report(
                rules.EXTENSION,
                f"its version is {root.get('version')!r:.40}, not {VERSION}",
            )
            continue
        for element in root.children:
            values = None
            with suppress(ValueError):
                if element.text.strip():
                    values = parse_json(element.text)
                else:
                    values = {}
            if not isinstance(values, dict):
                element.report(
                    rules.EXTENSION,
                    "its text is not a mapping of names to values in JSON",
                )
                continue
            entry = Entry(values, element)
            named = {
                "link": found.links,
                "joint": found.joints,
                "material": found.materials,
            }
            listed = {"device": found.devices, "extra_joint": found.extra_joints}
            if element.name == "robot":
                found.robot = entry
            elif element.name in named:
                named[element.name][
                    element.get("link" if element.name == "joint" else "name")
                ] = entry
            elif element.name in listed:
                listed[element.name].append(entry)
            else:
                entry.report(f"<{element.name}> is not an element of <bodymotion>")
    return found


def is_same(a: object, b: object) -> bool:
    """Return whether two values of JSON are the same.

    Numbers may differ by rounding.
    """
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(is_same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(
            is_same(x, y) for x, y in zip(a, b, strict=True)
        )
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        if a == b or (a != a and b != b):
            return True
        return bool(abs(a - b) <= TOLERANCE * max(1.0, abs(a), abs(b)) < np.inf)
    return type(a) is type(b) and a == b


def has_parts(link: Link) -> bool:
    """Return whether a link has several segments, or one that is not in the frame of the link."""
    return len(link.segments) > 1 or any(
        not np.array_equal(one.transform, np.eye(4)) for one in link.segments
    )


class LossReport:
    """Collects what a file does not hold.

    One problem for each rule and kind of loss, with the names of the objects.
    """

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], tuple[Rule, dict[str, None]]] = {}

    def add(self, rule: Rule, kind: str, name: str) -> None:
        """Record a loss of the object called `name`.

        `kind` describes it, such as "links are reordered".
        """
        self._found.setdefault((rule.code, kind), (rule, {}))[1][name] = None

    @property
    def problems(self) -> list[Problem]:
        """One problem for each kind of loss, in order of codes."""
        found = []
        for (_, kind), (rule, names) in sorted(
            self._found.items(), key=lambda item: item[0]
        ):
            shown = listed((name[:60] or "''" for name in names), MAX_NAMES)
            found.append(rule.problem(f"{kind}: {shown}", data={"names": tuple(names)}))
        return found


def unique_names(wanted: Iterable[str], otherwise: str) -> list[str]:
    """Return a different name for each wanted one.

    The same where possible, else without white space and slashes, and with a number.

    An empty name becomes `otherwise` with its index in the list.
    """
    names = [
        _plain(name) or f"{otherwise}_{number}" for number, name in enumerate(wanted)
    ]
    # A name that occurs once is kept, even where another one would be renamed to it.
    reserved = set(names)
    used: set[str] = set()
    numbers: dict[str, int] = {}
    found = []
    for name in names:
        free = name
        while free in used or (free != name and free in reserved):
            numbers[name] = numbers.get(name, 1) + 1
            free = f"{name}_{numbers[name]}"
        used.add(free)
        found.append(free)
    return found


def _plain(name: str) -> str:
    if not is_xml_text(name):
        name = "".join(letter if is_xml_text(letter) else "_" for letter in name)
    return re.sub(r"[\s/]+", "_", name.strip())


class ExtensionWriter:
    """Writes <bodymotion>; with `on` False nothing is kept, and everything is reported as lost."""

    def __init__(self, on: bool, lost: LossReport) -> None:
        self.on = on
        self.lost = lost
        self.element = Element("bodymotion", {"version": VERSION})

    def differences(
        self,
        read_back: object,
        meant: object,
        title: str,
        skip: Sequence[str] = (),
        prefix: str = "",
    ) -> dict[str, Any]:
        """Return pairs of the values of fields in which two dataclasses differ, and report them under the name `title`.

        `prefix` names the kind of object in the report.
        """
        found: dict[str, Any] = {}
        for one in fields(meant):  # type: ignore[arg-type]
            if one.name in skip or not one.compare:
                continue
            now = as_json(getattr(read_back, one.name))
            value = self.plain(getattr(meant, one.name), f"{prefix}{one.name}", title)
            if not is_same(now, value):
                found[one.name] = [now, value]
                self.note(f"{prefix}{one.name}", title)
        return found

    def plain(self, value: object, what: str, title: str) -> Any:  # noqa: ANN401
        """Return a value as JSON holds it.

        Parts that JSON cannot hold are lost.
        """
        lost: list[str] = []
        found = plain(value, lost, what)
        for where in lost:
            self.lost.add(
                losses.NO_TARGET_FIELD.as_note,
                f"{where} is of a kind that cannot be kept",
                title,
            )
        return found

    def note(self, what: str, title: str) -> None:
        """Report that the rest of the file does not hold `what` of the object called `title`."""
        matters = what in NEEDED_VALUES
        if matters:
            rule = losses.NO_TARGET_FIELD
        elif self.on:
            rule = rules.KEPT
        else:
            rule = losses.NO_TARGET_FIELD.as_note
        self.lost.add(
            rule, f"{'kept in <bodymotion>' if self.on else 'left out'}: {what}", title
        )

    def put(
        self,
        name: str,
        attributes: dict[str, str],
        values: dict[str, Any],
        always: bool = False,
    ) -> None:
        """Add an element if it has values, or always."""
        if values or always:
            self.element.add(name, attributes, json.dumps(values) if values else "")


def quiet_differences(
    base: object, meant: object, skip: tuple[str, ...] = ("id", "link", "links")
) -> dict[str, Any]:
    """Return the differences of an object that is reported as a whole."""
    return ExtensionWriter(True, LossReport()).differences(base, meant, "", skip)
