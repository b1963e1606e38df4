"""From named arrays to a motion.

Our layout, and those of other programs, each known by its keys.

The layouts are in `layouts.txt`; loco-mujoco has an array ``q_NAME`` for each joint
instead, those of the root included.

The rate is in ``fps``, ``frame_rate``, ``frequency`` or ``dt``, or times are in
``times`` or ``time``. Names are in ``joint_names`` or ``dof_names``, and ``link_names``
or ``body_names``.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import (
    Diagnostics,
    FormatError,
    Location,
    ReadResult,
    Source,
    SourceMap,
)
from bodymotion.diagnostics.text import counted, listed
from bodymotion.formats.npz import rules
from bodymotion.formats.rules import OPTION
from bodymotion.formats.tables.columns import (
    angles_without_unit,
    check_increasing,
    check_rate,
    check_unit,
    even_rate,
    in_body_order,
    joint_names,
    link_order,
    slides_of,
    timeline_of,
)
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body, matched
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
from bodymotion.motion.rules import FRAME_RATE

Array: TypeAlias = npt.NDArray[Any]
UNREAD: Array = np.array(None)  # In place of an array that could not be read.
QuaternionOrder: TypeAlias = Literal["wxyz", "xyzw"]

# The indices of w x y z in a quaternion of each order.
WXYZ_OF: dict[QuaternionOrder, list[int]] = {
    "wxyz": [0, 1, 2, 3],
    "xyzw": [3, 0, 1, 2],
}

JOINT_NAMES = ("joint_names", "dof_names")
LINK_NAMES = ("link_names", "body_names")
RATES = ("fps", "frame_rate", "frequency")
TIMES = ("times", "time")
ROOT_JOINTS = (
    "root",
    "freejoint",
    "floating_base_joint",
    "floating_base",
    "",
)  # Names of free joints.
# Layouts whose joints without names may be in the order of MuJoCo or of Isaac Lab.
NO_ORDER = "BeyondMimic", "Isaac Lab AMP"
UNIT_TOLERANCE = 0.01  # The difference of a quaternion's length from 1.
LOCO_MUJOCO_RATE = 500.0  # [Hz] That of loco-mujoco's files, which do not have it.
# The joints of the Unitree G1 in MuJoCo's order, in which Unitree, GMR and others write
# them.
G1_JOINTS = tuple(Path(__file__).with_name("g1_joints.txt").read_text("utf-8").split())
UPRIGHT = 0.9
# Mean heights of the root's z axis. Above the one in the right order of quaternions,
# below the other in the wrong one.
NOT_UPRIGHT = 0.75


@dataclass(frozen=True)
class Layout:
    """The keys of a program's arrays.

    `joints` (T, N), `position` (T, 3) or (T, B, 3) and `rotation` (T, 4) or (T, B, 4).

    Without `position`, the first columns of `joints` are the pose of the root. `order`
    is that of quaternions, empty for an exponential map; data decide where it
    `is_open`. `also` are further keys by which the layout is known.
    """

    name: str
    joints: str
    position: str
    rotation: str
    order: QuaternionOrder | Literal[""]
    is_open: bool
    also: tuple[str, ...]

    @property
    def keys(self) -> set[str]:
        """The keys by which the layout is known."""
        return {self.joints, self.position, self.rotation, *self.also} - {""}


def _layout(row: str) -> Layout:
    """Return the layout of a row of `layouts.txt`."""
    # Columns of the table are between bars.
    name, joints, position, rotation, order, also = (
        cell.strip() for cell in row.split("|")
    )
    return Layout(
        name,
        joints,
        position,
        rotation,
        # A "?" behind the order: other programs write the same keys in another order.
        order.strip("?"),  # type: ignore[arg-type]
        order.endswith("?"),
        tuple(also.split()),
    )


LAYOUTS = tuple(
    map(
        _layout,
        Path(__file__)
        .with_name("layouts.txt")
        .read_text("utf-8")
        .partition("also\n")[2]
        .splitlines(),
    )
)


def names_by_count(
    count: int, body: Body | None, location: Location, found: Diagnostics
) -> tuple[str, ...]:
    """Return the names of joints that their number shows.

    29 joints without names are those of the Unitree G1, which is noted.

    Else none.

    They are not used for a body without joints of these names.
    """
    # Only 29 joints are known to have one usual order.
    if count != len(G1_JOINTS):
        return ()
    if body is not None and -1 in matched(G1_JOINTS, body):
        return ()
    message = f"{count} joints without names are read as those of the Unitree G1"
    found.report(rules.KNOWN_ORDER, message, location)
    return G1_JOINTS


def are_quaternions(values: Floats) -> bool:
    """Return whether at least nine of ten rows (T, 4) have length 1.

    A row with a fault is still a quaternion.
    """
    return len(values) > 0 and bool(
        np.mean(np.abs(np.linalg.norm(values, axis=1) - 1) < UNIT_TOLERANCE) >= 0.9
    )


def order_of(quaternions: Floats) -> QuaternionOrder | None:
    """Return the order of quaternions (T, 4) of a root in which it is upright.

    None where both orders or none have it so.
    """
    quaternions = quaternions[np.isfinite(quaternions).all(axis=1)]
    if not len(quaternions):
        return None
    with np.errstate(all="ignore"):
        # z of the rotated z axis is 1 − 2 (x² + y²) / |q|²: for the parts a b c d in
        # the order w x y z, x and y are b and c; in the order x y z w they are a and b.
        a, b, c, _ = np.square(quaternions.T) / np.maximum(
            np.square(quaternions).sum(axis=1), 1e-300
        )
        heights: dict[QuaternionOrder, float] = {
            "wxyz": float(1 - 2 * np.mean(b + c)),
            "xyzw": float(1 - 2 * np.mean(a + b)),
        }
    # The order in which the root stands upright more.
    best, other = sorted(heights, key=lambda order: -heights[order])
    if heights[best] > UPRIGHT and heights[other] < NOT_UPRIGHT:
        return best
    return None


@dataclass(frozen=True)
class ReadOptions:
    """The options of the caller; see `read_npz`."""

    body: Body | None = None
    joint_names: Sequence[str] | None = None
    link_names: Sequence[str] | None = None
    frame_rate: float | None = None
    quaternion_order: QuaternionOrder | None = None
    degrees: bool | None = None

    def used(self) -> set[str]:
        """Return the names of the options that were used.

        The body is no option.
        """
        names = (one.name for one in fields(self) if one.name != "body")
        return {name for name in names if getattr(self, name) is not None}


def motion_of(
    arrays: dict[str, Array], source: Source, found: Diagnostics, options: ReadOptions
) -> ReadResult[Motion]:
    """Return the motion of named arrays, with all problems.

    The arrays are those of a file, and not looked into before.
    """
    components: list[Component] = []
    location = Location(str(source.path))
    if found.refusal is None or arrays:
        with found.recover(("components", "all")):
            reader = _Reader(arrays, location, options, found)
            # The first layout in the table whose keys are all there.
            layout = next((one for one in LAYOUTS if one.keys <= arrays.keys()), None)
            # loco-mujoco: one array for each joint.
            named = [
                key for key in arrays if key.startswith("q_") and arrays[key].ndim == 1
            ]
            if arrays.keys() & {"joint_displacement", "link_position", "zmp"}:
                reader.own_layout(components)
            elif layout is not None:
                reader.layout(components, layout)
            elif named:
                reader.loco_mujoco(components, named)
            else:
                names = listed(sorted(arrays), 20) or "none"
                message = (
                    f"the arrays are {names}; expected joint_displacement or a known "
                    f"layout"
                )
                raise rules.LAYOUT.error(message, location)
            # An option that changed nothing was probably meant for another file.
            for option in sorted(options.used() - reader.acted):
                message = f"the file has nothing that {option} is about"
                found.report(OPTION, message, location, data={"option": option})
    if not components and found.has_errors:
        return ReadResult(None, found.problems)
    source = replace(source, locations=SourceMap({(): location}, found.unknown))
    return ReadResult(
        Motion(tuple(components), source=source, problems=found.problems),
        found.problems,
    )


class _Reader:
    def __init__(
        self,
        arrays: dict[str, Array],
        location: Location,
        options: ReadOptions,
        found: Diagnostics,
    ) -> None:
        self.arrays = arrays
        self.location = location
        self.body = options.body
        self.options = options
        self.found = found
        self.used: set[str] = set()
        """The keys of arrays that were read."""
        self.is_ours = False
        """Whether the archive has the names of this package."""
        self.acted: set[str] = set()
        """The options that had an effect."""

    def array(self, name: str) -> Array:
        """Return an array.

        Raise the error of the archive where it could not be read.
        """
        self.used.add(name)
        if self.arrays[name] is UNREAD and self.found.refusal is not None:
            raise FormatError(self.found.refusal)
        return self.arrays[name]

    def numbers(self, name: str, shape: tuple[int | None, ...]) -> Floats:
        array = self.array(name)
        fits = array.ndim == len(shape) and all(
            n is None or n == m for n, m in zip(shape, array.shape, strict=True)
        )
        # Kinds: integers, unsigned ones, floats.
        if array.dtype.kind not in "iuf" or not fits:
            wanted = ", ".join("any" if n is None else str(n) for n in shape)
            message = (
                f"{name} is {array.dtype} of shape {array.shape}; expected numbers of "
                f"shape ({wanted})"
            )
            raise rules.SHAPE.error(message, self.location)
        return np.asarray(array, np.float64)

    def names(
        self, keys: Sequence[str], stated: Sequence[str] | None, count: int
    ) -> tuple[str, ...]:
        """Return the `stated` names, or those of the first existing array of `keys`.

        Empty without both.
        """
        self.acted.add("joint_names" if keys is JOINT_NAMES else "link_names")
        if stated is not None:
            names = tuple(stated)
        else:
            names = ()
        # The stated names count, and replace those of the file.
        key = next((key for key in keys if key in self.arrays), "")
        if not names and key:
            array = self.array(key)
            # Texts are Unicode (U) or bytes (S).
            if array.ndim != 1 or array.dtype.kind not in "SU":
                raise rules.SHAPE.error(f"{key} is no list of texts", self.location)
            names = tuple(
                one.decode("utf-8", "replace") if isinstance(one, bytes) else one
                for one in array.tolist()
            )
        self.used.add(key)
        # MuJoCo's lists begin with the free joint.
        if stated is None and len(names) == count + 1 and names[0] in ROOT_JOINTS:
            names = names[1:]
        if names and len(names) != count:
            raise rules.SHAPE.error(
                f"{len(names)} names for {count} columns: {', '.join(names[:60])}",
                self.location,
            )
        return names

    def timeline(self, count: int, assumed: float | None = None) -> Timeline:
        """Return the timeline of `count` frames.

        One of 1 Hz, marked as unknown, where it cannot be read.
        """
        self.acted.add("frame_rate")
        with self.found.recover(("times",)):
            rate = self.rate_of_file()
            # The caller's rate replaces the file's.
            if self.options.frame_rate is not None:
                rate = self.options.frame_rate
            times_key = next((key for key in TIMES if key in self.arrays), None)
            if times_key is not None:
                return self.timeline_of_times(self.numbers(times_key, (count,)), rate)
            if rate is not None:
                if self.options.frame_rate is None:
                    check_rate(rate, count, self.found, self.location)
                return Timeline.uniform(count, rate)
            if assumed is None:
                text = f"there is neither a rate ({', '.join(RATES)}) nor times"
                raise rules.RATE.error(text, self.location)
            text = f"no frame rate; {assumed:g} Hz is assumed"
            self.found.report(rules.ASSUMED_RATE, text, self.location)
            return Timeline.uniform(count, assumed)
        return Timeline.uniform(count, 1.0)

    def rate_of_file(self) -> float | None:
        """Return the rate [Hz] of the file.

        None where it has none.
        """
        for key in RATES:
            if key in self.arrays:
                return self.rate(key)
        if "dt" in self.arrays:
            # `dt` is the time between two frames.
            return 1 / self.rate("dt")
        return None

    def timeline_of_times(self, times: Floats, rate: float | None) -> Timeline:
        """Return the timeline of times (T,) [s]."""
        check_increasing(times, self.found, lambda frame: self.location)
        check_unit(times, self.found, self.location)
        # Our own archives have times only where these are time stamps.
        is_even = len(times) > 1 and even_rate(times) is not None
        if self.is_ours or not is_even:
            return Timeline.stamped(times, rate)
        # Other programs write times also where they have a fixed rate.
        return timeline_of(times, rate)

    def rate(self, name: str) -> float:
        array = self.array(name)
        if (
            array.size != 1
            or array.dtype.kind not in "iuf"
            or not 0 < float(array.ravel()[0]) < np.inf
        ):
            raise FRAME_RATE.error(
                f"{name} is {array.ravel()[:3].tolist()}, not one positive number",
                self.location,
            )
        return float(array.ravel()[0])

    def own_layout(self, components: list[Component]) -> None:
        """Add the components of an archive with our names."""
        self.is_ours = True
        keys = [
            key
            for key in ("joint_displacement", "link_position", "zmp")
            if key in self.arrays
        ]
        # Any of the arrays has the number of frames.
        first = self.array(
            next((key for key in keys if self.arrays[key] is not UNREAD), keys[0])
        )
        if first.ndim:
            count = len(first)
        else:
            count = 0
        timeline = self.timeline(count)
        if "link_position" in self.arrays:
            with self.found.recover(("contents", LINK_POSITION)):
                poses = self.numbers("link_position", (count, None, 7))
                names = self.names(LINK_NAMES, self.options.link_names, poses.shape[1])
                components.append(self.links(poses, timeline, names))
        if "joint_displacement" in self.arrays:
            with self.found.recover(("contents", JOINT_DISPLACEMENT)):
                q = self.numbers("joint_displacement", (count, None))
                names = self.names(JOINT_NAMES, self.options.joint_names, q.shape[1])
                # Radians by definition: other numbers are not reported.
                q = self.in_radians(q, names, bool(self.options.degrees))
                components.append(self.joints(q, timeline, names))
        if "zmp" in self.arrays:
            relative = self.arrays.get("zmp_is_root_relative", np.zeros(1))
            self.used.add("zmp_is_root_relative")
            with self.found.recover(("contents", ZMP)):
                values = self.numbers("zmp", (count, 3))
                is_relative = bool(relative.any())
                zmp = Vector3Seq(
                    content=ZMP,
                    timeline=timeline,
                    values=values,
                    is_root_relative=is_relative,
                )
                components.append(zmp)
        self.report_unread()

    def layout(self, components: list[Component], layout: Layout) -> None:
        """Add the components of an archive of another program."""
        q = self.numbers(layout.joints, (None, None))
        if layout.position:
            position, rotation = self.poses_of_bodies(len(q), layout)
        else:
            q, position, rotation = self.of_whole(q, layout)
        # The order is open: the data decide, see `order`.
        if layout.is_open:
            rotation = rotation[..., self.order(rotation[:, 0], layout)]
        elif layout.order and rotation.shape[1]:
            self.acted.add("quaternion_order")
            order = self.options.quaternion_order or layout.order
            rotation = rotation[..., WXYZ_OF[order]]
        names = self.names_of_joints(q.shape[1], layout)
        links: tuple[str, ...] = ()
        if layout.position:
            links = self.names(LINK_NAMES, self.options.link_names, position.shape[1])
        q = self.in_radians(q, names, self.options.degrees)
        timeline = self.timeline(len(q))
        # (T, B, 7): position and quaternion of each body.
        poses = np.concatenate([position, rotation], axis=-1)
        left_out = ""
        # Without names only the first body, the root, is known.
        if not links:
            if poses.shape[1] > 1:
                left_out = "the poses of bodies other than the first"
            poses = poses[:, :1]
        self.report_unread(left_out)
        if poses.shape[1]:
            components.append(self.links(poses, timeline, links))
        components.append(self.joints(q, timeline, names))

    def poses_of_bodies(self, count: int, layout: Layout) -> tuple[Floats, Floats]:
        """Return the positions (T, B, 3) and quaternions (T, B, 4) of bodies.

        Arrays without an axis for bodies are those of the root.
        """
        # Three axes: frames, bodies, numbers.
        if self.arrays[layout.position].ndim == 3:
            position = self.numbers(layout.position, (count, None, 3))
            rotation = self.numbers(layout.rotation, (count, None, 4))
        else:
            position = self.numbers(layout.position, (count, 3))[:, None]
            rotation = self.numbers(layout.rotation, (count, 4))[:, None]
        if position.shape[:2] != rotation.shape[:2] or not position.shape[1]:
            text = (
                f"{layout.position} has {position.shape[1]} bodies, and "
                f"{layout.rotation} {rotation.shape[1]}"
            )
            raise rules.SHAPE.error(text, self.location)
        return position, rotation

    def names_of_joints(self, count: int, layout: Layout) -> tuple[str, ...]:
        """Return the names of the joints, in the file or shown by their number.

        Empty where the body has to show them.
        """
        names = self.names(JOINT_NAMES, self.options.joint_names, count)
        if not names and layout.name not in NO_ORDER:
            names = names_by_count(count, self.body, self.location, self.found)
        if not names and self.body is None:
            text = f"found {counted(count, 'joint')} without names"
            raise rules.NAMES.error(text, self.location)
        return names

    def in_radians(
        self, q: Floats, names: tuple[str, ...], degrees: bool | None
    ) -> Floats:
        """Return joint columns (T, J) in rad or m."""
        self.acted.add("degrees")
        # Without names, columns are the body's joints in order.
        in_order = () if self.body is None else joint_names(self.body)
        slides = slides_of(names or in_order, self.body)
        if len(slides) != q.shape[1]:
            slides = [False] * q.shape[1]
        return angles_without_unit(q, degrees, slides, self.location, self.found)

    def of_whole(self, values: Floats, layout: Layout) -> tuple[Floats, Floats, Floats]:
        """Return joints and poses of rows that begin with the root's pose.

        Positions are (T, 1, 3) and orientations (T, 1, 4); (T, 0, …) where rows have no
        pose.
        """
        # A quaternion has 4 numbers, an exponential map 3.
        size = 7 if layout.order else 6
        turn = values[:, 3:size]
        has_root = values.shape[1] >= size
        if not has_root or (layout.order and not are_quaternions(turn)):
            return values, np.zeros((len(values), 0, 3)), np.zeros((len(values), 0, 4))
        # An exponential map is axis · angle: its length is the angle.
        if not layout.order:
            turn = rotations.from_axis_angle(turn, np.linalg.norm(turn, axis=1))
        return values[:, size:], values[:, None, :3], turn[:, None]

    def order(self, quaternions: Floats, layout: Layout) -> list[int]:
        """Return the indices of w x y z in quaternions (T, 4).

        Report how they were found.
        """
        self.acted.add("quaternion_order")
        if self.options.quaternion_order is not None:
            return WXYZ_OF[self.options.quaternion_order]
        # Some archives state the order in an array of their own.
        key = f"{layout.rotation}_order"
        for stated, indices in WXYZ_OF.items():
            if key in self.arrays and str(self.arrays[key]) == stated:
                self.used.add(key)
                return indices
        order = order_of(quaternions)
        reason = "in which the root is upright"
        if order is None:
            # The order of the layout's program, where the data show none.
            assert layout.order
            order = layout.order
            reason = "of its program; the data do not decide"
        text = (
            f"{layout.rotation} ({layout.name}) is read as {' '.join(order)}, the "
            f"order "
            f"{reason}"
        )
        self.found.report(rules.GUESSED_ORDER, text, self.location)
        return WXYZ_OF[order]

    def loco_mujoco(self, components: list[Component], keys: list[str]) -> None:
        """Add the joints of an archive with one array for each."""
        count = len(self.arrays[keys[0]])
        q = np.stack([self.numbers(key, (count,)) for key in keys], axis=1)
        # dq_NAME are velocities, which follow from the positions.
        self.used |= {f"d{key}" for key in keys}
        timeline = self.timeline(count, LOCO_MUJOCO_RATE)
        self.report_unread()
        components.append(
            self.joints(q, timeline, tuple(key.removeprefix("q_") for key in keys))
        )

    def links(
        self, poses: Floats, timeline: Timeline, names: tuple[str, ...]
    ) -> MultiSE3Seq:
        if self.body is not None and names:
            poses = poses[:, link_order(names, self.body, self.location)]
            names = tuple(link.name for link in self.body.links[: poses.shape[1]])
        return MultiSE3Seq(
            content=LINK_POSITION, timeline=timeline, values=poses, part_labels=names
        )

    def joints(
        self, q: Floats, timeline: Timeline, names: tuple[str, ...]
    ) -> MultiValueSeq:
        """Return the component of joint columns (T, J)."""
        if self.body is not None and names:
            q, names = in_body_order(q, names, self.body, self.location, self.found)
        elif self.body is not None:
            wanted = joint_names(self.body)
            if len(wanted) != q.shape[1]:
                message = (
                    f"{q.shape[1]} joints without names; {self.body.name} has "
                    f"{len(wanted)}: {', '.join(wanted)}"
                )
                raise rules.SHAPE.error(message, self.location)
            message = (
                f"{q.shape[1]} joints without names are read in the order of "
                f"{self.body.name}'s joint ids"
            )
            self.found.report(rules.ORDER, message, self.location)
            names = wanted
        return MultiValueSeq(
            content=JOINT_DISPLACEMENT, timeline=timeline, values=q, part_labels=names
        )

    def report_unread(self, more: str = "") -> None:
        # An array that could not be read is reported by the archive.
        known = (
            key
            for key in sorted(self.arrays.keys() - self.used)
            if self.arrays[key] is not UNREAD
        )
        if unread := [*known, *([more] if more else [])]:
            self.found.report(
                rules.UNREAD,
                f"arrays that are not read: {', '.join(unread)}",
                self.location,
            )
