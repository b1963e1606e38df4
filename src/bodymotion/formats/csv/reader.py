"""Read a table of comma-separated values.

What a column is by its name, and from columns to components.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, get_args

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
from bodymotion.formats.csv.columns import (
    ANGLES,
    AXES,
    DEGREE,
    OWN_COLUMNS,
    Column,
    Kind,
    column,
)
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

# Columns of the pose of the root in the layout 'unitree'.
UNITREE_POSE = 7
# The index of the first number of a quaternion, or of an angle, in a pose.
QUATERNION = 3
# [Hz] The frame rate of Unitree's retargeted motions, whose files do not have it.
UNITREE_RATE = 30.0
# [rad] Angles that are further beyond the limits of their joint may be degrees.
LIMIT_MARGIN = 1.0
# Names of the index of pandas.
_INDEX = re.compile(r"|Unnamed: \d+(\.\d+)*|index|level_0|__index_level_0__")
# Columns of the results of commands.
_RESULTS = {"file", "modified", "run"}


def holds_motion(path: Path) -> bool | None:
    """Return whether a table of Parquet or Arrow has times or poses of one motion.

    None for results of commands, such as a catalogue.
    """
    with open_file(path) as file:
        schema = schema_of(opened(file))
    # A table of results names a file in each row, not a time.
    if {*schema.names} >= _RESULTS:
        return None
    names = names_in(schema)
    columns = [column(name) for name in names]
    has_motion = any(
        one is not None and one.kind in ("time", "pose") for one in columns
    )
    # Logs of robot learning (LeRobot) have many episodes in a table.
    return has_motion and "episode_index" not in names


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
    diagnostics = Diagnostics(path)
    is_arrow = _is_arrow(path)
    if is_arrow:
        table = read_arrow(path, diagnostics)
    else:
        table = read_table(path, diagnostics, delimiter)
    if table is None:
        return ReadResult(None, diagnostics.problems)
    # Without any names, columns can only be known by their position.
    is_nameless = table.names is None and columns is None
    if is_nameless and layout is None and _looks_like_unitree(table):
        layout = "unitree"
        text = (
            "no names, a position and a quaternion first: read as layout 'unitree', "
            f"{frame_rate or UNITREE_RATE:g} Hz"
        )
        diagnostics.report(rules.GUESSED_LAYOUT, text, Location(table.path, 1))
    try:
        names = _names(table, layout, columns, quaternion_order, body, diagnostics)
    except FormatError as error:
        diagnostics.extend(error.problems)
        return ReadResult(None, diagnostics.problems)
    # Names by the number of columns (joint_0 …) are none of the file's.
    if layout == "unitree" and columns is None:
        is_nameless = all(map(is_generic, names[UNITREE_POSE:]))
    if layout == "unitree" and frame_rate is None:
        frame_rate = UNITREE_RATE
    reader = _Reader(table, names, degrees, quaternion_order, body, diagnostics)
    # One timeline for all components: a table has one time per row.
    timeline = reader.timeline(frame_rate, from_zero)
    components: list[Component] = []
    # Each content is read by itself, so a fault in one leaves the others.
    with diagnostics.recover(("contents", LINK_POSITION)):
        components += reader.poses(timeline)
    with diagnostics.recover(("contents", JOINT_DISPLACEMENT)):
        components += reader.joints(timeline, is_nameless)
    components += reader.zmps(timeline)
    components += reader.contacts(timeline)
    reader.check_options(layout)
    # Our own tables are in radians by definition.
    is_our_own = names[: len(OWN_COLUMNS)] == OWN_COLUMNS
    if layout is None and not is_our_own and reader.assumed:
        text = (
            f"{listed(reader.assumed, 4)}: no unit, read as radians (up to "
            f"{reader.largest:.6g})"
        )
        diagnostics.report(rules.ASSUMED, text, reader.location)
    if is_arrow:
        source = Source("parquet", Path(path))
    else:
        source = Source("csv", Path(path), encoding="utf-8")
    motion = table_motion([table], components, source, diagnostics)
    return ReadResult(motion, diagnostics.problems)


def _is_arrow(path: str | Path) -> bool:
    """Return whether a file is a table of Parquet or Arrow.

    False where it cannot be opened, which `read_table` reports.
    """
    try:
        return looks_like_arrow(read_head(path, 8))
    except (OSError, ValueError):
        return False


def _looks_like_unitree(table: Table) -> bool:
    """Return whether columns 3 to 6 are quaternions, and joints follow."""
    return table.values.shape[1] > UNITREE_POSE and are_quaternions(
        table.values[:, 3:UNITREE_POSE]
    )


def _names(
    table: Table,
    layout: str | None,
    columns: Sequence[str] | None,
    order: QuaternionOrder | None,
    body: Body | None,
    found: Diagnostics,
) -> list[str]:
    """Return the names of the columns, by layout or file."""
    count = table.values.shape[1]
    location = Location(table.path, table.header_line)
    if columns is not None:
        if len(columns) != count:
            text = f"found {counted(len(columns), 'name')}; expected {count}"
            raise rules.COLUMNS.error(text, location)
        return list(columns)
    if layout == "unitree":
        return _unitree_names(table, order, body, found)
    if table.names is None:
        text = f"the file has {counted(count, 'column')} and no names"
        raise rules.NO_NAMES.error(text, location)
    if "root_translateX" in table.names:
        return [_bones_seed_name(name) for name in table.names]
    # Where no row can be read, as with decimal commas, the rows are reported, and
    # nothing is known of a column without a name.
    is_unread = len(table.values) > 0 and not np.isfinite(table.values).any()
    names = []
    # The names of a broken header may be fewer than the columns.
    for name, values in zip(table.names, table.values.T, strict=False):
        is_index = _INDEX.fullmatch(name) is not None
        # pandas writes its index as a column without a name, or with one of these.
        if is_index and (is_unread or _counts_rows(values)):
            names.append("frame")
        else:
            names.append(name)
    return names


def _unitree_names(
    table: Table, order: QuaternionOrder | None, body: Body | None, found: Diagnostics
) -> list[str]:
    """Return names for the columns of the layout 'unitree', which has none."""
    count = table.values.shape[1]
    location = Location(table.path, table.header_line)
    if table.names is not None:
        text = "the table has names; the layout 'unitree' has none"
        raise rules.COLUMNS.error(text, location, "leave the layout out")
    # A pose and one joint at least.
    if count <= UNITREE_POSE:
        text = f"found {counted(count, 'column')}; layout 'unitree' has at least 8"
        raise rules.COLUMNS.error(text, location)
    # Unitree's files are x y z w; some programs write w first.
    if order is None and order_of(table.values[:, 3:UNITREE_POSE]) == "wxyz":
        text = "the root is upright with quaternions as w x y z: read in that order"
        found.report(rules.GUESSED_ORDER, text, Location(table.path, 1))
        order = "wxyz"
    pose = [f"root_{axis}" for axis in "xyz"]
    pose += [f"root_q{letter}" for letter in order or "xyzw"]
    num_joints = count - UNITREE_POSE
    joints = names_by_count(num_joints, body, location, found)
    if not joints:
        joints = tuple(generic_name(k) for k in range(num_joints))
    return [*pose, *joints]


def _counts_rows(values: Floats) -> bool:
    """Return whether a column (T,) has the numbers of the rows.

    They may begin with any number.
    """
    # Rows that could not be read show nothing.
    known = np.flatnonzero(np.isfinite(values))
    offsets = values[known] - known
    if len(known) < 2:
        # A single row is the first: 0.
        return bool(len(known)) and offsets[0] == 0
    is_whole = bool((offsets == np.rint(offsets)).all())
    return is_whole and bool((offsets == offsets[0]).all())


def _bones_seed_name(name: str) -> str:
    """Return the name here of a column of BONES-SEED.

    Its lengths are centimetres, and its angles degrees.
    """
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
        self.columns = self._columns_of(names)

    def _columns_of(self, names: list[str]) -> list[Column]:
        """Return the columns; one that cannot be used is one of frames."""
        columns = []
        known: set[tuple[object, ...]] = set()
        # All feet, or none: contacts of some have no component.
        kinds = [one.kind for one in map(column, names) if one is not None]
        has_all_feet = kinds.count("contact") >= len(LEGS)
        for number, name in enumerate(names, 1):
            one = column(name)
            if not name:
                text = f"column {number} has no name, and is not the number of the row"
                self.found.report(rules.NAMES, text, self.location)
                one = Column("frame", name)
            elif one is None:
                text = f"the unit of the column {name!r} is unknown"
                self.found.report(rules.NAMES, text, self.location)
                one = Column("frame", name)
            if one.kind == "contact" and not has_all_feet:
                # Contacts of some feet only are columns like any other.
                one = replace(one, kind="joint", index=0)
            # Of a pose, its part and number make the column; of a joint its name.
            key: tuple[object, ...] = (one.kind, one.part, one.index)
            if one.kind == "joint":
                key = (*key, one.name)
            if one.kind != "frame" and key in known:
                text = f"two columns are {one.name!r}"
                self.found.report(rules.NAMES, text, self.location)
                one = replace(one, kind="frame")
            known.add(key)
            columns.append(one)
        return columns

    def of(self, kind: Kind, part: str = "") -> dict[int, Floats]:
        """Return the columns of a kind by their index, in SI units."""
        columns = {}
        # A broken header may have fewer names than columns.
        for one, values in zip(self.columns, self.values.T, strict=False):
            if one.kind == kind and one.part == part:
                if one.factor is not None:
                    values = values * one.factor
                columns[one.index] = values
        return columns

    def timeline(self, rate: float | None, from_zero: bool) -> Timeline:
        """Return the timeline of the times or of the rate."""
        times = self.of("time").get(0)
        if times is not None:
            # Only without a unit may the times be in another one.
            if any(one.kind == "time" and one.factor is None for one in self.columns):
                check_unit(times, self.found, self.location)
            return self.table.timeline(times, self.found, rate, from_zero)
        if rate is None:
            self.found.report(
                rules.NO_TIME,
                "there are no column 'time' and no frame rate",
                self.location,
            )
            # A rate of 1 Hz keeps the frames; the times are marked unknown.
            self.found.mark_unknown(("times",))
        return Timeline.uniform(len(self.values), rate or 1.0)

    def poses(self, timeline: Timeline) -> list[Component]:
        """Return the component of link poses, if there is one."""
        parts = list(
            dict.fromkeys(
                c.part for c in self.columns if c.kind in ("pose", "angle", "unclear")
            )
        )
        if not parts:
            return []
        # The root comes first: its columns may be anywhere.
        if parts[0] != "" and "" in parts:
            parts.remove("")
            parts.insert(0, "")
        poses = np.stack([self.pose(part) for part in parts], axis=1)
        names = parts
        # With a body, poses are in the order of its links.
        if self.body is not None and len(parts) > 1:
            names = [self.body.links[0].name if part == "" else part for part in parts]
            poses = poses[:, link_order(names, self.body, self.location)]
            names = [link.name for link in self.body.links[: len(names)]]
        # Poses "", "1", "2" … are those that `write_csv` numbers without labels.
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
        """Return the poses (T, 7) of a link; "" is the root."""
        prefix = f"link/{part}/" if part else "root_"
        columns = self.of("pose", part)
        angles = self.of("angle", part)
        unclear = self.of("unclear", part)
        has_quaternion = any(index >= QUATERNION for index in columns)
        # A pose has one orientation: a quaternion, angles, or columns q0 … q3.
        num_orientations = [has_quaternion, bool(angles), bool(unclear)].count(True)
        if num_orientations != 1:
            held = "more than one orientation" if num_orientations else "no orientation"
            text = f"{prefix}x, {prefix}y, {prefix}z come with {held}"
            raise rules.POSE.error(text, self.location)
        if unclear:
            if self.order is None:
                text = "the columns root_q0 … root_q3 do not show which of them is w"
                raise rules.QUATERNION_ORDER.error(text, self.location)
            # The option says which of q0 … q3 is which.
            for index, letter in enumerate(self.order):
                if index in unclear:
                    columns[AXES.index(f"q{letter}")] = unclear[index]
        # Position and quaternion, or position and three angles.
        axes: tuple[str, ...] = AXES
        if angles:
            axes = (*AXES[:QUATERNION], *ANGLES)
            for index, values in angles.items():
                columns[QUATERNION + index] = values
        absent = [prefix + axis for k, axis in enumerate(axes) if k not in columns]
        if absent:
            text = f"there is no column {', '.join(absent)}"
            raise rules.POSE.error(text, self.location)
        numbers = np.stack([columns[k] for k in range(len(axes))], axis=-1)
        if not angles:
            return numbers
        factors = self._angle_factors()
        # Roll, pitch and yaw about the fixed axes x, y and z.
        quaternions = rotations.from_rpy(numbers[:, QUATERNION:] * factors)
        return np.concatenate([numbers[:, :QUATERNION], quaternions], axis=-1)

    def _angle_factors(self) -> list[float]:
        """Return the factors of roll, pitch and yaw to radians."""
        indices = [k for k, one in enumerate(self.columns) if one.kind == "angle"]
        indices.sort(key=lambda k: self.columns[k].index)
        self.check_unit(indices)
        factors = []
        for k in indices:
            is_in_degrees = self.degrees and self.columns[k].factor is None
            factors.append(DEGREE if is_in_degrees else 1.0)
        return factors

    def joints(self, timeline: Timeline, is_nameless: bool) -> list[Component]:
        """Return the component of joints, if there is one."""
        indices = [k for k, one in enumerate(self.columns) if one.kind == "joint"]
        if not indices:
            return []
        names = tuple(self.columns[k].name for k in indices)
        joints = self._joints_of_columns(names)
        # Sliding joints are in metres, whatever the unit of angles.
        is_slide = [joint is not None and joint.type == "slide" for joint in joints]
        self.check_unit(
            [k for k, slides in zip(indices, is_slide, strict=True) if not slides]
        )
        factors = []
        for k, slides in zip(indices, is_slide, strict=True):
            default = DEGREE if self.degrees and not slides else 1.0
            factors.append(self.columns[k].factor or default)
        values = self.values[:, indices] * factors
        if self.body is None:
            # Columns joint_0, joint_1 … name joints by their ids.
            by_id = in_id_order(values, names, self.location, self.found)
            if by_id is not None:
                return [_joint_component(timeline, by_id, ())]
            return [_joint_component(timeline, values, names)]
        if is_nameless:
            self._report_nameless(len(names), self.body)
        # Columns whose unit is unknown may be joints of the body.
        lost = {one.name for one in self.columns if one.kind == "frame"}
        ordered, labels = in_body_order(
            values, names, self.body, self.location, self.found, lost
        )
        # Limits are compared only where the unit is in doubt.
        if self.degrees is None:
            self._check_limits(indices, joints, values)
        return [_joint_component(timeline, ordered, labels)]

    def _joints_of_columns(self, names: tuple[str, ...]) -> list[Joint | None]:
        """Return the joint of the body that each column is."""
        if self.body is None:
            return [None] * len(names)
        joints = self.body.joints
        return [joints[k] if k >= 0 else None for k in matched(names, self.body)]

    def _report_nameless(self, count: int, body: Body) -> None:
        """Report that columns are read by position; refuse another number of them."""
        if count != len(body.joints):
            text = (
                f"{count} joint columns without names; {body.name} has "
                f"{len(body.joints)} joints: {', '.join(joint_names(body))}"
            )
            raise rules.COLUMNS.error(text, self.location)
        text = (
            f"{count} joint columns without names, read in the order of the joints of "
            f"{body.name}"
        )
        self.found.report(NAMELESS, text, self.location)

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
            message = (
                f"angles go up to {largest:.6g}: degrees, or "
                f"{largest / (2 * math.pi):.1f} turns?"
            )
            raise rules.UNIT.error(message, self.location)
        # Zeros have the same value in any unit.
        if largest > 0:
            self.assumed += [self.columns[k].name for k in without_unit]
            self.largest = max(self.largest, largest)

    def check_options(self, layout: str | None) -> None:
        """Refuse an option that changes nothing, or that the names of columns deny."""
        kinds = {one.kind for one in self.columns}
        if self.order is not None and layout is None and "unclear" not in kinds:
            message = (
                f"no quaternion is in doubt: quaternion_order={self.order!r} has no "
                f"effect"
            )
            data = {"option": "quaternion_order"}
            self.found.report(OPTION, message, self.location, data=data)
        if self.degrees is None:
            return
        if self.degrees:
            stated = DEGREE
        else:
            stated = 1.0
        factors = {one.factor for one in self.columns if one.kind in ("angle", "joint")}
        if None not in factors and stated not in factors:
            message = (
                f"no column is an angle without unit: degrees={self.degrees} has no "
                f"effect"
            )
            data = {"option": "degrees"}
            self.found.report(OPTION, message, self.location, data=data)

    def _check_limits(
        self, indices: list[int], joints: list[Joint | None], values: Floats
    ) -> None:
        """Refuse angles (T, J) without a unit that look like degrees.

        They are far beyond the limits of their joints.
        """
        columns = []
        limited: list[Joint] = []
        for number, (k, joint) in enumerate(zip(indices, joints, strict=True)):
            # A range that is empty, or of a joint that slides, shows no unit.
            has_limits = (
                joint is not None
                and joint.type == "rotate"
                and joint.lower < joint.upper
            )
            if joint is not None and has_limits and self.columns[k].factor is None:
                columns.append(number)
                limited.append(joint)
        # (J,): the limits with a margin.
        lower = np.array([joint.lower - LIMIT_MARGIN for joint in limited])
        upper = np.array([joint.upper + LIMIT_MARGIN for joint in limited])
        angles = values[:, columns]
        wrong = angles_in_degrees(angles, lower, upper, min_angle=0.0)
        if wrong is not None:
            joint = limited[wrong.column]
            text = (
                f"{joint.name} is at {angles[wrong.frame, wrong.column]:.6g} in frame "
                f"{wrong.frame}, far beyond its limits of {joint.lower:.3g} to "
                f"{joint.upper:.3g} rad: degrees?"
            )
            raise rules.UNIT.error(text, self.location)

    def zmps(self, timeline: Timeline) -> list[Component]:
        """Return the components of zero moment points."""
        components: list[Component] = []
        kinds: tuple[tuple[Kind, bool], ...] = (("zmp", False), ("relative zmp", True))
        for kind, relative in kinds:
            found = self.of(kind)
            # One or two of the three columns make no point.
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
        # Only where all feet have a column: see `_columns_of`.
        found = self.of("contact")
        if not found:
            return []
        values = np.stack([found[k] for k in range(len(LEGS))], axis=-1)
        return [
            MultiValueSeq(
                content=FOOT_CONTACT, timeline=timeline, values=values, part_labels=LEGS
            )
        ]


def _joint_component(
    timeline: Timeline, values: Floats, labels: tuple[str, ...]
) -> Component:
    return MultiValueSeq(
        content=JOINT_DISPLACEMENT,
        timeline=timeline,
        values=values,
        part_labels=labels,
    )
