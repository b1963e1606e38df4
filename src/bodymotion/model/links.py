"""Links, their joints, motors, segments and devices.

Links, the joints that hold them with their motors, the segments that they are made of,
and the sensors and other devices on them.

Devices have the fields of the OpenHRP document in snake_case. Their `pose` (7,) is in
the link's frame. A device looks along its −z axis with +y up. A `max_…` of −1 means
that there is no limit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import ContentEquality, Floats, frozen
from bodymotion.geometry.poses import transform_points
from bodymotion.geometry.shapes import Shape

if TYPE_CHECKING:
    from bodymotion.model.body import Body

JointType: TypeAlias = Literal["rotate", "slide", "free", "fixed", "crawler"]

# Models of more links are not read. Each is looked at by itself wherever a body is
# read, drawn or checked, and no robot has them.
MAX_LINKS = 10_000

# The joint types that have a column without an id too. The root has none then.
MOVING = ("rotate", "slide", "crawler")
MAX_RAYS = 10**6  # Maximum number of rays of a range sensor.
_COUNTABLE = 10**15
# The attributes of a Joint for its motor. Files have keys of the same names.
MOTOR_NUMBERS = (
    "gear_ratio",
    "gear_efficiency",
    "rotor_inertia",
    "rotor_resistor",
    "torque_const",
    "encoder_pulse",
)
# Kinds of devices of scenes, of which no physics, kinematics or sensor depends.
EFFECTS = (
    *(
        "CompetitorMarker",
        "DirectionalLight",
        "FireDevice",
        "FountainDevice",
        "MarkerDevice",
        "PointLight",
    ),
    *("RainDevice", "SmokeDevice", "SnowDevice", "SpotLight", "SpotLightDevice"),
)

BANDWIDTH = 15.0  # [Hz] Natural frequency of a servo that moves what its joint carries.
# [Hz] Natural frequency of a servo between a free root and a foot, when it moves the
# rest of the body on that foot.
STANCE_BANDWIDTH = 3.0
# [Hz] No servo is faster with what its joint carries. At time steps of up to 2 ms it is
# integrated well.
MAX_BANDWIDTH = 100.0
MIN_INERTIA = 1e-4  # [kg m² or kg] A joint moves at least this.
# [m] Links whose shapes reach down to this height above the lowest point support the
# body.
CONTACT_HEIGHT = 0.02


@dataclass(frozen=True, eq=False, kw_only=True)
class Joint(ContentEquality, axis=(3,)):
    """The joint between a link and its parent, with the fields of the OpenHRP document.

    Attributes
    ----------
    name, type, id:
        `id` is −1 where the file gives none. A crawler's value moves its belt and no
        link.
    axis:
        (3,) unit vector in the link's frame; without meaning for free and fixed joints.
    lower, upper:
        [rad or m], ±inf where there is no limit.
    velocity_lower, velocity_upper:
        [rad/s or m/s], ±inf where there is no limit; see `velocity_range`.
    gear_ratio, gear_efficiency, rotor_inertia [kg m²], torque_const [Nm/A]:
        The motor and its gear: see `armature`.
    rotor_resistor [Ω], encoder_pulse [pulses per revolution of the motor]:
        As in the file; not used in computations.
    extra:
        All other fields, as in the file.
    """

    name: str = ""
    type: JointType = "fixed"
    id: int = -1
    axis: Floats = field(default_factory=lambda: frozen([0.0, 0.0, 1.0]))
    lower: float = -np.inf
    upper: float = np.inf
    velocity_lower: float = -np.inf
    velocity_upper: float = np.inf
    gear_ratio: float = 1.0
    gear_efficiency: float = 1.0
    rotor_inertia: float = 0.0
    rotor_resistor: float = 0.0
    torque_const: float = 1.0
    encoder_pulse: float = 1.0
    extra: Mapping[str, object] = field(default_factory=dict)

    def _summary(self) -> str:
        if np.isfinite([self.lower, self.upper]).any():
            ranged = f", {self.lower:.4g} to {self.upper:.4g}"
        else:
            ranged = ""
        return f"Joint({self.name!r}: {self.type}, id {self.id}{ranged})"


@dataclass(frozen=True, eq=False, kw_only=True)
class Segment(ContentEquality, transform=(4, 4), center_of_mass=(3,), inertia=(3, 3)):
    """A rigid part of a link.

    `transform` (4, 4) in the link; all else in the segment's own frame.

    `mass` [kg], `center_of_mass` (3,) [m], `inertia` (3, 3) [kg m²] about the centre of
    mass.
    """

    name: str = ""
    transform: Floats = field(default_factory=lambda: frozen(np.eye(4)))
    mass: float = 0.0
    center_of_mass: Floats = field(default_factory=lambda: frozen(np.zeros(3)))
    inertia: Floats = field(default_factory=lambda: frozen(np.zeros((3, 3))))
    visuals: tuple[Shape, ...] = ()
    collisions: tuple[Shape, ...] = ()
    extra: Mapping[str, object] = field(default_factory=dict)

    def _summary(self) -> str:
        shapes = (
            f"{len(self.visuals)} visual and {len(self.collisions)} collision shapes"
        )
        return f"Segment({self.name!r}: {self.mass:.4g} kg, {shapes})"


@dataclass(frozen=True, eq=False, kw_only=True)
class Link(ContentEquality, offset=(7,)):
    """A rigid body of the tree.

    `index` counts links depth-first; `parent` is the parent's index, −1 for the root;
    `offset` (7,) the pose in the parent at joint
    value 0 (for the root: in the world). Masses and shapes come from the segments, put
    together in the link's frame.
    """

    name: str = ""
    index: int = 0
    parent: int = -1
    joint: Joint = field(default_factory=Joint)
    offset: Floats = field(default_factory=lambda: poses.IDENTITY)
    segments: tuple[Segment, ...] = ()

    def _summary(self) -> str:
        if self.parent < 0:
            place = "root"
        else:
            place = f"parent {self.parent}"
        return (
            f"Link({self.name!r}: index {self.index}, {place}, {self.joint.type} "
            f"joint, {self.mass:.4g} kg)"
        )

    @cached_property
    def mass(self) -> float:
        """The sum [kg] of the segments' masses."""
        return float(sum(segment.mass for segment in self.segments))

    @cached_property
    def center_of_mass(self) -> Floats:
        """Where the mass is (3,) [m], in the link's frame.

        Σ m·(T·c) / Σ m; the origin for a link without mass.
        """
        if self.mass == 0:
            return frozen(np.zeros(3))
        # Of one segment without rounding by multiplication and division.
        if len(self.segments) == 1:
            return frozen(_placed(self.segments[0]))
        moment = np.zeros(3)
        for segment in self.segments:
            moment += segment.mass * _placed(segment)
        return frozen(moment / self.mass)

    @cached_property
    def inertia(self) -> Floats:
        """The inertia tensor (3, 3) [kg m²] about the centre of mass.

        Along the link's axes.

        Each segment's tensor is rotated into the link's axes and moved to the common
        centre of mass (Huygens–Steiner).
        """
        # Its own centre is the link's: nothing is moved.
        if len(self.segments) == 1:
            turn = self.segments[0].transform[:3, :3]
            return frozen(turn @ self.segments[0].inertia @ turn.T)
        total = np.zeros((3, 3))
        for segment in self.segments:
            turn = segment.transform[:3, :3]
            arm = _placed(segment) - self.center_of_mass
            total += turn @ segment.inertia @ turn.T
            # Huygens–Steiner: m·(|r|²·1 − r·rᵀ).
            total += segment.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        return frozen(total)

    @cached_property
    def visuals(self) -> tuple[Shape, ...]:
        """The shapes that are drawn of the link, in its frame."""
        shapes: list[Shape] = []
        for segment in self.segments:
            shapes += [shape.moved(segment.transform) for shape in segment.visuals]
        return tuple(shapes)

    @cached_property
    def collisions(self) -> tuple[Shape, ...]:
        """The shapes that collide with other objects, in the link's frame."""
        shapes: list[Shape] = []
        for segment in self.segments:
            shapes += [shape.moved(segment.transform) for shape in segment.collisions]
        return tuple(shapes)

    @cached_property
    def visual_points(self) -> Floats:
        """The outermost points (N, 3) [m] of the visual shapes, in the link's frame."""
        from bodymotion.geometry.meshes import outermost_points

        return frozen(outermost_points(self.visuals))

    @cached_property
    def contact_points(self) -> Floats:
        """The outermost points (N, 3) [m] that may touch, in the link's frame.

        Of the collision shapes, or of the visuals without any.
        """
        from bodymotion.geometry.meshes import outermost_points

        if self.collisions:
            return frozen(outermost_points(self.collisions))
        return self.visual_points


def _placed(segment: Segment) -> Floats:
    return np.asarray(
        segment.transform[:3, :3] @ segment.center_of_mass + segment.transform[:3, 3]
    )


def _unlimited() -> Floats:
    return frozen([-1.0, -1.0, -1.0])


@dataclass(frozen=True, eq=False, kw_only=True)
class Device(ContentEquality, pose=(7,)):
    """What all devices have.

    `name`, `id` (−1 none), `link` (index), `pose` (7,) in the link, unknown fields in
    `extra`.
    """

    name: str = ""
    id: int = -1
    link: int = 0
    pose: Floats = field(default_factory=lambda: poses.IDENTITY)
    extra: Mapping[str, object] = field(default_factory=dict)

    def _summary(self) -> str:
        return f"{self.kind}({self.name!r}: id {self.id}, on link {self.link})"

    @property
    def kind(self) -> str:
        """The name of the device's node in the document.

        Or in the file, where the document has none such.
        """
        return type(self).__name__


def in_order_of_ids(devices: Sequence[tuple[str, int]]) -> list[int]:
    """Return the order of devices in which those of one kind follow their ids.

    Each device is given by its kind and id.

    Those without an id (−1) come after those with one. The places that the devices of a
    kind have among the others stay as they are.
    """
    of_kind: dict[str, list[int]] = {}
    for place, (kind, _) in enumerate(devices):
        of_kind.setdefault(kind, []).append(place)
    order = list(range(len(devices)))
    for places in of_kind.values():
        in_order = sorted(
            # False before True: those with an id first.
            places,
            key=lambda place: (devices[place][1] < 0, devices[place][1]),
        )
        for place, device in zip(places, in_order, strict=True):
            order[place] = device
    return order


@dataclass(frozen=True, eq=False, kw_only=True)
class AccelerationSensor(Device):
    """Three-axis accelerometer: `max_acceleration` (3,) [m/s²]."""

    max_acceleration: Floats = field(default_factory=_unlimited)


@dataclass(frozen=True, eq=False, kw_only=True)
class Gyro(Device):
    """Three-axis rate gyro: `max_angular_velocity` (3,) [rad/s]."""

    max_angular_velocity: Floats = field(default_factory=_unlimited)


@dataclass(frozen=True, eq=False, kw_only=True)
class ForceSensor(Device):
    """Six-axis sensor of force and torque: `max_force` [N], `max_torque` [Nm] (3,)."""

    max_force: Floats = field(default_factory=_unlimited)
    max_torque: Floats = field(default_factory=_unlimited)


@dataclass(frozen=True, eq=False, kw_only=True)
class VisionSensor(Device):
    """Camera: `type` is COLOR, DEPTH, COLOR_DEPTH or NONE.

    `field_of_view` [rad]; clip distances [m]; pixels; [Hz].

    The field of view is the angle over the shorter side of the image.
    """

    type: str = "NONE"
    field_of_view: float = 0.785398
    front_clip_distance: float = 0.01
    back_clip_distance: float = 10.0
    width: int = 320
    height: int = 240
    frame_rate: float = 30.0

    @property
    def half_size(self) -> tuple[float, float]:
        """Half the width and half the height [m] of the image.

        Of what it shows of a plane one metre ahead.

        Raises
        ------
        ValueError
            For an image without pixels, or a field of view that is not between 0 and π.
        """
        if min(self.width, self.height) < 1 or not 0 < self.field_of_view < math.pi:
            raise ValueError(
                f"{self.name or 'a camera'} makes no images of {self.width} × "
                f"{self.height} pixels "
                f"over a field of view of {self.field_of_view:g} rad"
            )
        # The angle is over the shorter side; pixels are square.
        shorter = math.tan(0.5 * self.field_of_view) / min(self.width, self.height)
        return shorter * self.width, shorter * self.height


def angle_over(angle: float, pixels: int, across: int) -> float:
    """Return the angle [rad] that a camera sees over `across` pixels in a line.

    It sees `angle` over `pixels` of them.

    Formats give it for the width, the height or the shorter side. What is no angle of a
    camera, or has no pixels, is returned as it is.
    """
    if across == pixels or min(across, pixels) < 1 or not 0 < angle < math.pi:
        return angle
    # Pixels have even widths on a plane, so tangents are in their ratio.
    return 2.0 * math.atan(math.tan(0.5 * angle) * across / pixels)


@dataclass(frozen=True, eq=False, kw_only=True)
class RangeSensor(Device):
    """Laser range finder scanning the XZ plane.

    `scan_angle`, `scan_step` [rad], `scan_rate` [Hz], `max_distance` [m].
    """

    scan_angle: float = 3.14159
    scan_step: float = 0.1
    scan_rate: float = 10.0
    max_distance: float = 10.0

    @property
    def num_rays(self) -> int:
        """How many rays there are, computed without the rays themselves.

        1 where angle or step are no positive numbers.
        """
        return 2 * self._half + 1

    @property
    def ray_angles(self) -> Floats:
        """The angles (N,) [rad] of the rays from −z towards the sides.

        0, ±scan_step, … within ±scan_angle/2.

        Raises
        ------
        ValueError
            When there are more than a million, see `num_rays`.
        """
        if self.num_rays > MAX_RAYS:
            raise ValueError(
                f"{self.name or 'a range sensor'} has {self.num_rays:.6g} rays, more "
                f"than {MAX_RAYS}: "
                f"is its scanStep of {self.scan_step:g} rad meant?"
            )
        half = self._half
        if half:
            return np.asarray(np.arange(-half, half + 1) * float(self.scan_step))
        return np.zeros(1)

    @property
    def _half(self) -> int:
        """How many rays are on either side of the middle one."""
        # Angles that are negative, zero or not finite leave the middle ray.
        if not (0 < self.scan_angle < math.inf and 0 < self.scan_step < math.inf):
            return 0
        ratio = 0.5 * self.scan_angle / self.scan_step
        if ratio < _COUNTABLE:
            # The margin keeps the outermost ray where steps divide the angle.
            return math.floor(ratio + 1e-9)
        # So many rays cannot be counted exactly; `ray_angles` refuses them.
        return _COUNTABLE


# The devices of the OpenHRP document by their kinds.
DEVICE_KINDS: dict[str, type[Device]] = {
    kind.__name__: kind
    for kind in (AccelerationSensor, Gyro, ForceSensor, VisionSensor, RangeSensor)
}
# By the classes of sensors, the attributes that are a limit for each direction.
SENSOR_LIMITS: dict[type[Device], tuple[str, ...]] = {
    AccelerationSensor: ("max_acceleration",),
    Gyro: ("max_angular_velocity",),
    ForceSensor: ("max_force", "max_torque"),
}


@dataclass(frozen=True, eq=False, kw_only=True)
class OtherDevice(Device):
    """A device of any other type: its `type`.

    All its fields are in `extra`.
    """

    type: str = ""

    @property
    def kind(self) -> str:
        """The name of the device's node in the file."""
        return self.type


def armature(joint: Joint) -> float:
    """Return the inertia [kg m² or kg] of the rotor as the joint feels it.

    That is `equivalentInertia` where a file gives it, else gear_ratio² · rotor_inertia.
    """
    stated = first_number(joint.extra, "equivalentInertia")
    # A rotor without inertia counts as not stated.
    if stated is not None and stated != 0:
        return stated
    return joint.gear_ratio**2 * joint.rotor_inertia


def stated_efforts(joint: Joint) -> tuple[float, float] | None:
    """Return the limits of torque [Nm] (force [N]) as the file has them.

    Of `.body`, URDF and MJCF; None without them.
    """
    limits = _numbers(joint.extra.get("joint_effort_range"))
    if len(limits) == 2:
        return (limits[0], limits[1])
    return None


def effort_range(joint: Joint) -> tuple[float, float] | None:
    """Return the smallest and the largest torque [Nm] (force [N]) at the joint.

    They are what the motor gives; None without a limit.

    0 is none, too.

    In OpenHRP it follows from the limit of the current: climit · torque constant · gear
    ratio · gear efficiency.
    """
    limits = stated_efforts(joint)
    # Limits in the wrong order or infinite ones are none.
    if limits is not None and limits[0] < limits[1] and np.isfinite(limits).all():
        return limits
    # One number in both directions: `effort` of a URDF, else from the current.
    most = first_number(joint.extra, "effort")
    if most is None:
        current = first_number(joint.extra, "climit")
        if current is None:
            most = None
        else:
            most = (
                current * joint.torque_const * joint.gear_ratio * joint.gear_efficiency
            )
    # 0 stands for a limit that is not known.
    if most is None or not np.isfinite(most) or most == 0:
        return None
    return -abs(most), abs(most)


def velocity_range(joint: Joint) -> tuple[float, float]:
    """Return the limits of a joint's velocity.

    None (±inf) where it could not move both ways: 0 in a file is no limit (BODY114).
    """
    low = joint.velocity_lower
    high = joint.velocity_upper
    if low < 0 < high:
        return (low, high)
    return (-np.inf, np.inf)


def motor_range(joint: Joint) -> tuple[float, float] | None:
    """Return `effort_range` before the gear."""
    efforts = effort_range(joint)
    gear = joint.gear_ratio
    if efforts is None or gear in (0.0, 1.0):
        return efforts
    # A negative gear ratio exchanges both limits.
    low, high = sorted((efforts[0] / gear, efforts[1] / gear))
    if np.isfinite([low, high]).all() and low < high:
        return (low, high)
    return None


def _numbers(value: object) -> list[float]:
    try:
        if value is not None:
            return [
                float(number)
                for number in np.ravel(np.asarray(value, dtype=np.float64))
            ]
        return []
    except (TypeError, ValueError):
        return []


def first_number(extra: Mapping[str, object], key: str) -> float | None:
    """Return the number, or the first of the numbers, that a file gives for a key.

    None where there is none.
    """
    numbers = _numbers(extra.get(key))
    if numbers and not np.isnan(numbers[0]):
        return numbers[0]
    return None


def default_gains(body: Body) -> Floats:
    """Return the gains kp, kd (J, 2) of the joints.

    [N m/rad, N m s/rad] or [N/m, N s/m].

    A servo that moves the inertia I is the oscillator I·x″ + kd·x′ + kp·x = 0 = x″ +
    2ζω·x′ + ω²·x, so kp = I·ω² and kd = 2ζ·√(kp·I). I is what the joint carries at
    rest, about its axis, with the armature; ω = 2π · `BANDWIDTH`, and ζ = 1, critical
    damping. Under gravity a link of length l sags by about g/(l·ω²): 0.3° for 0.2 m. A
    joint between a free root and a link that supports the body moves the rest of the
    body, of inertia I′, while that link is on the ground: there kp is at least I′·(2π ·
    `STANCE_BANDWIDTH`)², and kd is still that of I. Damping for I′ would be far more
    than MuJoCo's contacts, which do not include it, allow with I.
    """
    poses = body.forward_kinematics(np.zeros(body.num_joints))
    masses = np.array([link.mass for link in body.links])
    turns = rotations.to_matrix(poses[:, 3:])
    # Centres of mass (L, 3) and inertias (L, 3, 3) along the world's axes, at rest.
    centers = poses[:, :3] + np.einsum(
        "lij,lj->li", turns, [link.center_of_mass for link in body.links]
    )
    inertias = np.einsum(
        "lij,ljk,lmk->lim", turns, [link.inertia for link in body.links], turns
    )
    if not body.is_mounted:
        standing = standing_links(body, poses)
    else:
        standing = set()
    # For each link, which links (L,) it carries, itself included.
    below = [np.zeros(len(body.links), dtype=bool) for _ in body.links]
    # From the tips inwards: children are after their parents.
    for link in reversed(body.links):
        below[link.index][link.index] = True
        if link.parent >= 0:
            below[link.parent] |= below[link.index]
    found = np.zeros((body.num_joints, 2))
    for column, index in enumerate(body.joint_links):
        joint = body.links[index].joint
        if index <= 0 or joint.type not in ("rotate", "slide"):
            continue
        # The joint's axis along the world's.
        axis = turns[index] @ joint.axis
        if joint.type == "slide":
            moments = masses
        else:
            # Moment about the axis: aᵀ·I·a + m·|a × r|².
            arms = np.cross(axis, centers - poses[index, :3])
            moments = np.einsum("i,lij,j->l", axis, inertias, axis) + masses * (
                arms**2
            ).sum(axis=1)
        carried = moments[below[index]].sum() + armature(joint)
        # Invalid masses give the smallest inertia, not a gain that is NaN.
        if np.isfinite(carried):
            carried = max(carried, MIN_INERTIA)
        else:
            carried = MIN_INERTIA
        kp = carried * (2.0 * np.pi * BANDWIDTH) ** 2
        # While the foot stands, this joint moves all that it does not carry.
        if any(below[index][foot] for foot in standing):
            rest = moments[~below[index]].sum()
            most = carried * (2.0 * np.pi * MAX_BANDWIDTH) ** 2
            kp = max(kp, min(rest * (2.0 * np.pi * STANCE_BANDWIDTH) ** 2, most))
        # kd of critical damping: 2·√(kp·I).
        found[column] = kp, 2.0 * np.sqrt(kp * carried)
    return found


def passive_joints(body: Body) -> tuple[int, ...]:
    """Return the joint columns without a motor.

    Those that follow from others in closed loops, and those that mimic others.
    """
    found = {
        column for column, joint in enumerate(body.joints) if "mimic" in joint.extra
    }
    if body.extra_joints:
        from bodymotion.model.closed_loops import close_loops

        found |= {*close_loops(body, np.zeros(body.num_joints)).following}
    return tuple(sorted(found))


def standing_links(body: Body, link_poses: Floats) -> set[int]:
    """Return the links whose collision shapes are lowest.

    By index, in poses (L, 7), within `CONTACT_HEIGHT`.
    """
    lows: dict[int, float] = {}
    for link in body.links:
        corners: list[Floats] = []
        # Corners of the boxes reach down as far as the shapes, or a little further.
        for shape in link.collisions:
            if shape.bounds is not None:
                corners += _corners(shape.bounds)
        if corners:
            heights = transform_points(link_poses[link.index], corners)[:, 2]
            lows[link.index] = float(heights.min())
    limit = min(lows.values(), default=0.0) + CONTACT_HEIGHT
    return {index for index, low in lows.items() if low < limit}


def _corners(box: Floats) -> list[Floats]:
    """Return the 8 corners (3,) of a box (2, 3)."""
    return [np.where(upper, box[1], box[0]) for upper in np.ndindex(2, 2, 2)]


def rigid_groups(body: Body) -> tuple[tuple[int, ...], ...]:
    """Return the links, by index, in groups that move as one.

    A fixed link (a crawler, whose belt alone moves) goes with its parent.
    """
    home: list[int] = []
    groups: dict[int, list[int]] = {}
    for link in body.links:
        alone = link.parent < 0 or link.joint.type in ("rotate", "slide", "free")
        # A parent's group is known, as parents are before their children.
        home.append(link.index if alone else home[link.parent])
        groups.setdefault(home[-1], []).append(link.index)
    return tuple(tuple(group) for group in groups.values())


def is_moving(body: Body, index: int) -> bool:
    """Return whether a link can move in the world.

    Its root is free, or a joint lies between it and the root.
    """
    link = body.links[index]
    while link.parent >= 0:
        if link.joint.type in ("rotate", "slide", "free"):
            return True
        link = body.links[link.parent]
    return link.joint.type == "free"


def floats_in_world(body: Body, index: int) -> bool:
    """Return whether a link floats freely in the world.

    It has a free joint and everything above it is fixed to the world, so that a
    simulator can move it freely.
    """
    link = body.links[index]
    if link.parent < 0 or link.joint.type != "free":
        return False
    while link.parent >= 0:
        link = body.links[link.parent]
        if link.joint.type != "fixed":
            return False
    return True
