"""Read a table of comma-separated values.

What a column is by its name, and from columns to components.
"""

import math
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import numpy as np

from bodymotion.diagnostics import (
    Diagnostics,
    FormatError,
    Location,
    ReadResult,
    Source,
)
from bodymotion.diagnostics.text import counted, listed
from bodymotion.formats.csv import rules
from bodymotion.formats.csv.arrow import names_in, opened, read_arrow, schema_of
from bodymotion.formats.npz.layouts import (
    QuaternionOrder,
    are_quaternions,
    names_by_count,
    order_of,
)
from bodymotion.formats.rules import OPTION
from bodymotion.formats.sniffing import looks_like_arrow
from bodymotion.formats.tables.columns import (
    check_unit,
    in_body_order,
    in_id_order,
    joint_names,
    largest_size,
    link_order,
    look_like_degrees,
)
from bodymotion.formats.tables.number_table import Table, read_table, table_motion
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.rotations import angles_in_degrees
from bodymotion.model.body import NAMELESS, Body, generic_name, is_generic, matched
from bodymotion.model.links import Joint
from bodymotion.motion import (
    JOINT_DISPLACEMENT,
    LINK_POSITION,
    ZMP,
    Component,
    Motion,
    MultiSE3Seq,
    MultiValueSeq,
    Vector3Seq,
)
from bodymotion.motion.components import Timeline
from bodymotion.motion.feet import FOOT_CONTACT, LEGS
from bodymotion.system.files import open_file, read_head

AXES = ("x", "y", "z", "qw", "qx", "qy", "qz")
"""The numbers of a pose, in the order of this package."""
OWN_COLUMNS = ["time", *(f"root_{axis}" for axis in AXES)]
"""The first columns of a table that `write_csv` makes of a motion with a root pose.

Its angles are in radians.
"""

Kind: TypeAlias = Literal[
    "time",
    "frame",
    "pose",
    "angle",
    "unclear",
    "zmp",
    "relative zmp",
    "contact",
    "joint",
]

_UNIT = re.compile(r"[\[(]\s*+([a-zA-Zµ°|]++)\s*+[\])]\Z")
_UNITS = {
    **dict.fromkeys(("s", "sec", "m", "rad", "rad|m"), 1.0),
    **{
        "ms": 1e-3,
        "us": 1e-6,
        "ns": 1e-9,
        "cm": 1e-2,
        "mm": 1e-3,
        "deg": math.pi / 180,
        "°": math.pi / 180,
    },
}
_ROOT = re.compile(
    r"(?:root|base)_(?:pos(?:ition)?_|quat(?:ernion)?_)?(x|y|z|q[wxyz]|roll|pitch|yaw|q[0-3])",
    re.IGNORECASE,
)
_QUATERNION_PART = re.compile(r"(?:root|base)_quat(?:ernion)?_([wxyz])", re.IGNORECASE)
_LINK = re.compile(r"link/(.*)/(x|y|z|q[wxyz])", re.DOTALL)
_INDEX = re.compile(r"|Unnamed: \d+(\.\d+)*|index|level_0|__index_level_0__")
_ZMP = re.compile(r"(root_relative_)?zmp_([xyz])", re.IGNORECASE)

UNITREE_POSE = 7  # Columns of the pose of the root in the layout 'unitree'.
UNITREE_RATE = 30.0  # [Hz] The frame rate of Unitree's retargeted motions, whose files do not have it.
LIMIT_MARGIN = (
    1.0  # [rad] So may angles of a joint that are further than this beyond its limits.
)


@dataclass(frozen=True)
class Column:
    """A column's kind; of a pose, the link (`part`; "" is the root) and number (`index`).

    The factor to SI units, None without unit.
    """

    kind: Kind
    name: str
    index: int = 0
    part: str = ""
    factor: float | None = None


def column(text: str) -> Column | None:
    """Return the column that a name stands for.

    None for an unknown unit.
    """
    name = text
    factor = None
    if match := _UNIT.search(text):
        factor = _UNITS.get(match[1].lower())
        if factor is None:
            return None
        name = text[: match.start()].rstrip()
    low = name.lower()
    if low in ("time", "t", "timestamp", "time_s"):
        return Column("time", name, factor=factor)
    if low in ("frame", "frame_index", "frame_id"):
        return Column("frame", name, factor=factor)
    if name.endswith("_contact") and name[:-8] in LEGS and factor is None:
        return Column("contact", name, LEGS.index(name[:-8]))
    if match := _LINK.fullmatch(name):
        return Column("pose", name, AXES.index(match[2]), match[1], factor)
    if match := _ZMP.fullmatch(name):
        return Column(
            "relative zmp" if match[1] else "zmp",
            name,
            "xyz".index(match[2].lower()),
            factor=factor,
        )
    if match := _QUATERNION_PART.fullmatch(name):
        return Column("pose", name, AXES.index(f"q{match[1].lower()}"), factor=factor)
    if match := _ROOT.fullmatch(name):
        axis = match[1].lower()
        if axis in AXES:
            return Column("pose", name, AXES.index(axis), factor=factor)
        if axis in ("roll", "pitch", "yaw"):
            return Column(
                "angle", name, ("roll", "pitch", "yaw").index(axis), factor=factor
            )
        return Column("unclear", name, int(axis[1]), factor=factor)
    return Column("joint", name, factor=factor)


def holds_motion(path: Path) -> bool | None:
    """Return whether a table of Parquet or Arrow has times or poses of one motion.

    None for results of commands, such as a catalogue.
    """
    with open_file(path) as file:
        names = names_in(schema := schema_of(opened(file)))
    is_motion = any(
        one is not None and one.kind in ("time", "pose") for one in map(column, names)
    )
    if {"file", "modified", "run"} <= {*schema.names}:
        return None
    return is_motion and "episode_index" not in names


def read_csv(
    path: str | Path,
    *,
    layout: Literal["unitree"] | None = None,
    columns: Sequence[str] | None = None,
    frame_rate: float | None = None,
    degrees: bool | None = None,
    quaternion_order: QuaternionOrder | None = None,
    body: Body | None = None,
    from_zero: bool = False,
    delimiter: str | None = None,
) -> ReadResult[Motion]:
    """Read a table of motion.

    Go on after faults. The value is None where no column can be read.

    Parameters
    ----------
    path:
        The file.
    layout:
        "unitree" for a table without names: x y z [m], a quaternion, joints; 30
        frames/s without `frame_rate`. The quaternion is x y z w without
        `quaternion_order`, unless only w x y z has the root upright (CSV012).
    columns:
        Names for the columns, in place of those of the file or where it has none.
    frame_rate:
        [Hz] of a table without times; with times, the rate for resampling.
    degrees:
        Whether angles without a unit in their name are degrees (True) or radians
        (False). By default they are read as radians, which a note reports (CSV011); in
        more than a quarter of the frames, values beyond two turns, or with a body those
        more than 1 rad beyond the limits of their joint, are errors (CSV004).
    quaternion_order:
        The order of columns such as root_q0 … root_q3, or of a layout.
    body:
        Joint columns are matched with its joints by name, and put in their order;
        without names, they are its joints in order of joint id.
    from_zero:
        Subtract the time of the first frame from all times.
    delimiter:
        "," ";" a tab or " "; by default the first line decides.

    Raises
    ------
    ValueError
        For unknown options.
    """
    if layout not in (None, "unitree"):
        raise ValueError(f"the layouts are 'unitree', not {layout!r}")
    if quaternion_order not in (None, *get_args(QuaternionOrder)):
        raise ValueError(
            f"the quaternion orders are 'wxyz' and 'xyzw', not {quaternion_order!r}"
        )
    found = Diagnostics(path)
    is_arrow = False
    with suppress(OSError, ValueError):  # which `read_table` reports
        is_arrow = looks_like_arrow(read_head(path, 8))
    if is_arrow:
        table = read_arrow(path, found)
    else:
        table = read_table(path, found, delimiter)
    if table is None:
        return ReadResult(None, found.problems)
    is_nameless = table.names is None and columns is None
    if (
        is_nameless
        and layout is None
        and table.values.shape[1] > 7
        and are_quaternions(table.values[:, 3:7])
    ):
        layout = "unitree"
        message = f"no names, a position and a quaternion first: read as layout 'unitree', {frame_rate or UNITREE_RATE:g} Hz"
        found.report(rules.GUESSED_LAYOUT, message, Location(table.path, 1))
    try:
        names = _names(table, layout, columns, quaternion_order, body, found)
        if layout == "unitree" and columns is None:
            is_nameless = all(map(is_generic, names[UNITREE_POSE:]))
    except FormatError as error:
        found.extend(error.problems)
        return ReadResult(None, found.problems)
    rate = UNITREE_RATE if layout == "unitree" and frame_rate is None else frame_rate
    reader = _Reader(table, names, degrees, quaternion_order, body, found)
    timeline = reader.timeline(rate, from_zero)
    components: list[Component] = []
    with found.recover(("contents", LINK_POSITION)):
        components += reader.poses(timeline)
    with found.recover(("contents", JOINT_DISPLACEMENT)):
        components += reader.joints(timeline, is_nameless)
    components += reader.zmps(timeline)
    components += reader.contacts(timeline)
    reader.check_options(layout)
    if layout is None and names[: len(OWN_COLUMNS)] != OWN_COLUMNS and reader.assumed:
        message = f"{listed(reader.assumed, 4)}: no unit, read as radians (up to {reader.largest:.6g})"
        found.report(rules.ASSUMED, message, reader.location)
    if is_arrow:
        source = Source("parquet", Path(path))
    else:
        source = Source("csv", Path(path), encoding="utf-8")
    motion = table_motion([table], components, source, found)
    return ReadResult(motion, found.problems)


def _names(
    table: Table,
    layout: str | None,
    columns: Sequence[str] | None,
    order: QuaternionOrder | None,
    body: Body | None,
    found: Diagnostics,
) -> list[str]:
    count = table.values.shape[1]
    location = Location(table.path, table.header_line)
    if columns is not None:
        if len(columns) != count:
            raise rules.COLUMNS.error(
                f"found {counted(len(columns), 'name')}; expected {count}", location
            )
        return list(columns)
    if layout == "unitree":
        if table.names is not None:
            raise rules.COLUMNS.error(
                "the table has names; the layout 'unitree' has none",
                location,
                "leave the layout out",
            )
        if count < 8:
            raise rules.COLUMNS.error(
                f"found {counted(count, 'column')}; layout 'unitree' has at least 8",
                location,
            )
        if order is None and order_of(table.values[:, 3:7]) == "wxyz":
            message = (
                "the root is upright with quaternions as w x y z: read in that order"
            )
            found.report(rules.GUESSED_ORDER, message, Location(table.path, 1))
            order = "wxyz"
        letters = order or "xyzw"
        pose = [f"root_{axis}" for axis in "xyz"]
        pose += [f"root_q{letter}" for letter in letters]
        joints = names_by_count(count - len(pose), body, location, found)
        if not joints:
            joints = tuple(generic_name(k) for k in range(count - len(pose)))
        return [*pose, *joints]
    if table.names is None:
        raise rules.NO_NAMES.error(
            f"the file has {counted(count, 'column')} and no names", location
        )
    if "root_translateX" in table.names:
        return [_bones_seed_name(name) for name in table.names]
    # Where no row can be read, as with decimal commas, the rows are reported, and
    # nothing is known of a column without a name.
    if len(table.values) and not np.isfinite(table.values).any():
        return ["frame" if _INDEX.fullmatch(name) else name for name in table.names]
    return [
        "frame" if _counts_rows(name, table.values[:, k]) else name
        for k, name in enumerate(table.names)
    ]


def _counts_rows(name: str, values: Floats) -> bool:
    """Return whether a column is the index of a table of pandas.

    Without a name of its own, and the numbers of the rows.
    """
    if not _INDEX.fullmatch(name):
        return False
    known = np.flatnonzero(np.isfinite(values))
    offsets = values[known] - known
    if len(known) < 2:
        return bool(len(known)) and offsets[0] == 0
    is_whole = bool((offsets == np.rint(offsets)).all())
    return is_whole and bool((offsets == offsets[0]).all())


def _bones_seed_name(name: str) -> str:
    """Return the name here of a column of BONES-SEED, whose lengths are centimetres and whose angles are degrees."""
    if match := re.fullmatch(r"root_(translate|rotate)([XYZ])", name):
        axis = "XYZ".index(match[2])
        if match[1] == "translate":
            return f"root_{'xyz'[axis]} [cm]"
        return f"root_{('roll', 'pitch', 'yaw')[axis]} [deg]"
    if name.endswith("_dof"):
        return f"{name.removesuffix('_dof')} [deg]"
    return name


class _Reader:
    def __init__(
        self,
        table: Table,
        names: list[str],
        degrees: bool | None,
        order: QuaternionOrder | None,
        body: Body | None,
        found: Diagnostics,
    ) -> None:
        self.table = table
        self.values = table.values
        self.degrees = degrees
        self.order = order
        self.body = body
        self.found = found
        self.location = Location(table.path, table.header_line)
        self.assumed: list[str] = []
        self.largest = 0.0
        self.columns: list[Column] = []
        known: set[tuple[object, ...]] = set()
        feet = sum(
            one is not None and one.kind == "contact" for one in map(column, names)
        )
        for number, name in enumerate(names, 1):
            one = column(name)
            if not name:
                message = (
                    f"column {number} has no name, and is not the number of the row"
                )
                found.report(rules.NAMES, message, self.location)
                one = Column("frame", name)
            if one is None:
                found.report(
                    rules.NAMES,
                    f"the unit of the column {name!r} is unknown",
                    self.location,
                )
                one = Column("frame", name)
            if one.kind == "contact" and feet < len(LEGS):
                # Contacts of some feet only are columns like any other.
                one = replace(one, kind="joint", index=0)
            key = (
                one.kind,
                one.part,
                one.index,
                one.name if one.kind in ("joint", "frame") else "",
            )
            if key in known and one.kind != "frame":
                found.report(
                    rules.NAMES, f"two columns are {one.name!r}", self.location
                )
                one = replace(one, kind="frame")
            known.add(key)
            self.columns.append(one)

    def of(self, *kinds: str, part: str = "") -> dict[int, Floats]:
        """Return the columns of these kinds by their index, in SI units."""
        return {
            one.index: self.values[:, k]
            if one.factor is None
            else self.values[:, k] * one.factor
            for k, one in enumerate(self.columns)
            if one.kind in kinds and one.part == part
        }

    def timeline(self, rate: float | None, from_zero: bool) -> Timeline:
        times = self.of("time").get(0)
        if times is not None:
            if any(one.kind == "time" and one.factor is None for one in self.columns):
                check_unit(times, self.found, self.location)
            return self.table.timeline(times, self.found, rate, from_zero)
        if rate is None:
            self.found.report(
                rules.NO_TIME,
                "there are no column 'time' and no frame rate",
                self.location,
            )
            self.found.mark_unknown(("times",))
        return Timeline.uniform(len(self.values), rate or 1.0)

    def poses(self, timeline: Timeline) -> list[Component]:
        parts = list(
            dict.fromkeys(
                c.part for c in self.columns if c.kind in ("pose", "angle", "unclear")
            )
        )
        if not parts:
            return []
        if parts[0] != "" and "" in parts:
            parts.remove("")
            parts.insert(0, "")
        poses = np.stack([self.pose(part) for part in parts], axis=1)
        names = parts
        if self.body is not None and len(parts) > 1:
            names = [self.body.links[0].name if part == "" else part for part in parts]
            poses = poses[:, link_order(names, self.body, self.location)]
            names = [link.name for link in self.body.links[: len(names)]]
        is_numbered = all(name == (str(k) if k else "") for k, name in enumerate(names))
        if len(parts) > 1 and not is_numbered:
            labels = tuple(names)
        else:
            labels = ()
        return [
            MultiSE3Seq(
                content=LINK_POSITION,
                timeline=timeline,
                values=poses,
                part_labels=labels,
            )
        ]

    def pose(self, part: str) -> Floats:
        if part:
            name = f"link/{part}/"
        else:
            name = "root_"
        found = self.of("pose", part=part)
        angles = self.of("angle", part=part)
        unclear = self.of("unclear", part=part)
        orientations = (found.keys() - {0, 1, 2}, angles, unclear)
        if sum(map(bool, orientations)) != 1:
            if any(orientations):
                orientation = "more than one orientation"
            else:
                orientation = "no orientation"
            raise rules.POSE.error(
                f"{name}x, {name}y, {name}z come with {orientation}", self.location
            )
        if unclear and self.order is None:
            message = "the columns root_q0 … root_q3 do not show which of them is w"
            raise rules.QUATERNION_ORDER.error(message, self.location)
        found |= {
            AXES.index(f"q{letter}"): unclear[k]
            for k, letter in enumerate(self.order or ())
            if k in unclear
        }
        found |= {3 + k: values for k, values in angles.items()}
        axes = (*AXES[:3], "roll", "pitch", "yaw") if angles else AXES
        absent = [name + axis for k, axis in enumerate(axes) if k not in found]
        if absent:
            raise rules.POSE.error(
                f"there is no column {', '.join(absent)}", self.location
            )
        numbers = np.stack([found[k] for k in range(len(axes))], axis=-1)
        if not angles:
            return numbers
        columns = [k for k, one in enumerate(self.columns) if one.kind == "angle"]
        columns.sort(key=lambda k: self.columns[k].index)
        self.check_unit(columns)
        factors = [
            math.pi / 180 if self.degrees and self.columns[k].factor is None else 1.0
            for k in columns
        ]
        quaternions = rotations.from_rpy(numbers[:, 3:] * factors)
        return np.concatenate([numbers[:, :3], quaternions], axis=-1)

    def joints(self, timeline: Timeline, nameless: bool) -> list[Component]:
        indices = [k for k, one in enumerate(self.columns) if one.kind == "joint"]
        if not indices:
            return []
        found = [self.columns[k] for k in indices]
        values = self.values[:, indices]
        names = tuple(one.name for one in found)
        joints = () if self.body is None else self.body.joints
        places = [-1] * len(names) if self.body is None else matched(names, self.body)
        slides = [k >= 0 and joints[k].type == "slide" for k in places]
        self.check_unit(
            [k for k, slide in zip(indices, slides, strict=True) if not slide]
        )
        bare = np.where(slides, 1.0, math.pi / 180 if self.degrees else 1.0)
        factors = [one.factor or turn for one, turn in zip(found, bare, strict=True)]
        values = values * factors
        labels = names
        in_file = values
        if (
            self.body is None
            and (by_id := in_id_order(values, names, self.location, self.found))
            is not None
        ):
            values = by_id
            labels = ()
        elif self.body is not None:
            if nameless and len(names) != len(self.body.joints):
                wanted = f"{self.body.name} has {len(joints)} joints: {', '.join(joint_names(self.body))}"
                raise rules.COLUMNS.error(
                    f"{len(names)} joint columns without names; {wanted}", self.location
                )
            lost = {one.name for one in self.columns if one.kind == "frame"}
            values, labels = in_body_order(
                values, names, self.body, self.location, self.found, lost
            )
            if nameless:
                order = f"read in the order of the joints of {self.body.name}"
                self.found.report(
                    NAMELESS,
                    f"{len(names)} joint columns without names, {order}",
                    self.location,
                )
            if self.degrees is None:
                without_unit = [
                    k
                    for k, one in enumerate(found)
                    if one.factor is None and places[k] >= 0
                ]
                self.check_limits(
                    in_file[:, without_unit], [joints[places[k]] for k in without_unit]
                )
        return [
            MultiValueSeq(
                content=JOINT_DISPLACEMENT,
                timeline=timeline,
                values=values,
                part_labels=labels,
            )
        ]

    def check_unit(self, indices: list[int]) -> None:
        """Refuse angles without a unit that look like degrees.

        Remember those that are read as radians.
        """
        without_unit = [k for k in indices if self.columns[k].factor is None]
        if self.degrees is not None or not without_unit:
            return
        angles = self.values[:, without_unit]
        largest = largest_size(angles)
        if look_like_degrees(angles):
            message = f"angles go up to {largest:.6g}: degrees, or {largest / (2 * math.pi):.1f} turns?"
            raise rules.UNIT.error(message, self.location)
        if largest > 0:
            self.assumed += [self.columns[k].name for k in without_unit]
            self.largest = max(self.largest, largest)

    def check_options(self, layout: str | None) -> None:
        """Refuse an option that changes nothing, or that the names of columns deny."""
        kinds = {one.kind for one in self.columns}
        if self.order is not None and layout is None and "unclear" not in kinds:
            message = f"no quaternion is in doubt: quaternion_order={self.order!r} has no effect"
            data = {"option": "quaternion_order"}
            self.found.report(OPTION, message, self.location, data=data)
        if self.degrees is None:
            return
        if self.degrees:
            stated = math.pi / 180
        else:
            stated = 1.0
        factors = {one.factor for one in self.columns if one.kind in ("angle", "joint")}
        if None not in factors and stated not in factors:
            message = f"no column is an angle without unit: degrees={self.degrees} has no effect"
            data = {"option": "degrees"}
            self.found.report(OPTION, message, self.location, data=data)

    def check_limits(self, angles: Floats, joints: list[Joint]) -> None:
        """Refuse angles (T, J) that are so far beyond the limits of their joints that they look like degrees, where no unit is given."""
        known = [
            k
            for k, joint in enumerate(joints)
            if joint.type == "rotate" and joint.lower < joint.upper
        ]
        limits = np.array(
            [
                (joints[k].lower - LIMIT_MARGIN, joints[k].upper + LIMIT_MARGIN)
                for k in known
            ]
        )
        if (
            wrong := angles_in_degrees(
                angles[:, known], *limits.reshape(-1, 2).T, min_angle=0.0
            )
        ) is not None:
            joint = joints[known[wrong.column]]
            value = angles[wrong.frame, known[wrong.column]]
            limit = f"far beyond its limits of {joint.lower:.3g} to {joint.upper:.3g} rad: degrees?"
            raise rules.UNIT.error(
                f"{joint.name} is at {value:.6g} in frame {wrong.frame}, {limit}",
                self.location,
            )

    def zmps(self, timeline: Timeline) -> list[Component]:
        components: list[Component] = []
        for kind, relative in (("zmp", False), ("relative zmp", True)):
            found = self.of(kind)
            if found and len(found) < 3:
                self.found.report(
                    rules.POSE,
                    "a zero moment point has zmp_x, zmp_y and zmp_z",
                    self.location,
                )
                self.found.mark_unknown(("contents", ZMP))
            elif found:
                values = np.stack([found[k] for k in range(3)], axis=-1)
                components.append(
                    Vector3Seq(
                        content=ZMP,
                        timeline=timeline,
                        values=values,
                        is_root_relative=relative,
                    )
                )
        return components

    def contacts(self, timeline: Timeline) -> list[Component]:
        found = self.of("contact")
        if not found:
            return []
        values = np.stack([found[k] for k in range(len(LEGS))], axis=-1)
        return [
            MultiValueSeq(
                content=FOOT_CONTACT, timeline=timeline, values=values, part_labels=LEGS
            )
        ]
