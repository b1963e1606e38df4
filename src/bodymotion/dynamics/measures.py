"""Measure a motion on a body.

`measure`: from a body and a motion to joint values, root poses and their derivatives.

`Measures`: what is computed of them.

Each result is computed when it is first read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import (
    Location,
    Problem,
    ShortRepr,
    WrongUseError,
    judgement,
)
from bodymotion.diagnostics.spelling import choices
from bodymotion.diagnostics.text import with_article
from bodymotion.dynamics import trees
from bodymotion.dynamics.contacts import (
    Contacts,
    Soles,
    SupportPolygons,
    Thresholds,
    detect_contacts,
    feet_of_joints,
    find_feet,
    foot_links,
    ground_height,
    placed_on_feet,
    soles,
    support_polygons,
)
from bodymotion.dynamics.differentiation import (
    DERIVATIVES,
    Derivative,
    derivatives,
    pose_derivatives,
    stretches,
)
from bodymotion.dynamics.trees import GRAVITY, gravity_vector
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats, check_memory, frozen, median_step
from bodymotion.geometry.shapes import Shape
from bodymotion.model.body import Body, fit_problems
from bodymotion.model.body import by_position as put_by_position
from bodymotion.model.joint_recovery import recover_joints
from bodymotion.model.links import (
    AccelerationSensor,
    Device,
    ForceSensor,
    Gyro,
    RangeSensor,
    VisionSensor,
)
from bodymotion.model.scripts import RobotScript, is_played
from bodymotion.motion import Motion
from bodymotion.motion.components import Timeline
from bodymotion.motion.interpolation import sampled, unwrapped
from bodymotion.motion.interpolation.sampling import bridged

if TYPE_CHECKING:
    from bodymotion.dynamics import sensors
    from bodymotion.dynamics.sensors import CameraFrames, Scenery, Thing
    from bodymotion.dynamics.visible_shapes import VisibleShapes
    from bodymotion.geometry.shapes import Shape

ON_FEET = judgement.note(
    "MEAS101",
    "A motion has the pose of the root. Otherwise it is computed from feet in contact.",
    "on_feet=False (`bodymotion measure --no-on-feet`) keeps the root at the model's "
    "own pose",
    example=("a walk with JointDisplacement alone", "one with the root's pose, too"),
)
NOT_FINITE = judgement.warning(
    "MEAS103",
    "The numbers of a measured motion are finite. Results that depend on others are "
    "left out.",
    "`bodymotion check` reports where they are",
    example=("nan for a joint in one frame", "a number"),
)

SMOOTHING_TIME = 0.05
# [s] Window of the polynomials of "suited" derivatives. The second one of a root that
# follows the feet.
SMOOTHING_TIME_ON_FEET = 0.15
MAX_NAMED = 5  # Joints that are named in a message at most.
MIN_WINDOW = 9  # Splines are used where the window has fewer frames.
# The same for a played script. Its accelerations jump at keyframes, where splines would
# oscillate.
MIN_WINDOW_PLAYED = 5


@dataclass(frozen=True, eq=False, kw_only=True)
class Measures(ShortRepr):
    """The result of `measure`.

    T frames of a body with L links and J joint columns. Arrays are read-only,
    directions the world's.

    Attributes
    ----------
    times:
        (T,) [s].
    joint_displacements, joint_velocities, joint_accelerations:
        (T, J) [rad, rad/s, rad/s²; for slides m, m/s, m/s²], in order of joint columns.
    root_poses:
        (T, 7) of the root link in the world.
    root_velocity, root_acceleration:
        (T, 6) of the root link's origin [m/s, m/s²], then its angular velocity and
        acceleration [rad/s, rad/s²].
    gravity:
        (3,) [m/s²] the acceleration of free fall.
    problems:
        Irregularities of the motion on this body.
    timeline:
        Of the frames, with the motion's frame rate where it has one; None if only
        `times` are given.
    """

    body: Body
    motion: Motion
    times: Floats
    joint_displacements: Floats
    root_poses: Floats
    joint_velocities: Floats
    joint_accelerations: Floats
    root_velocity: Floats
    root_acceleration: Floats
    gravity: Floats
    problems: tuple[Problem, ...] = ()
    timeline: Timeline | None = field(default=None, repr=False)
    ground_option: Floats | None = field(default=None, repr=False)
    feet_option: tuple[int | str, ...] | None = field(default=None, repr=False)
    thresholds: Thresholds = field(default_factory=Thresholds, repr=False)

    def _summary(self) -> str:
        return (
            f"Measures({self.body.name!r}: {len(self.times)} frames, "
            f"{len(self.body.links)} links, {self.body.num_joints} joints)"
        )

    @property
    def is_mounted(self) -> bool:
        """Whether the root is fixed to the world.

        Then its mount carries the body, and no foot does.
        """
        return self.body.is_mounted

    @cached_property
    def link_poses(self) -> Floats:
        """(T, L, 7) of all links in the world."""
        return frozen(
            self.body.forward_kinematics(self.joint_displacements, self.root_poses)
        )

    @cached_property
    def link_velocities(self) -> Floats:
        """(T, L, 6) velocities of the links' origins.

        [m/s], then angular velocities [rad/s], along the world's axes.
        """
        return frozen(self._inverse.link_velocities)

    @cached_property
    def link_accelerations(self) -> Floats:
        """(T, L, 6) accelerations of the links' origins, without gravity.

        [m/s²], then angular accelerations [rad/s²], along the world's axes.
        """
        return frozen(
            trees.link_accelerations(self.body, self.link_poses, *self._moving)[1]
        )

    def jacobian(
        self, link: int | str, point: npt.ArrayLike = (0.0, 0.0, 0.0)
    ) -> Floats:
        """Return the Jacobian (T, 6, 6 + J) of a `point` (3,) [m] in a link's frame.

        See `bodymotion.dynamics.jacobian`.
        """
        return trees.jacobian(self.body, self.link_poses, link, point)

    @cached_property
    def mass_matrix(self) -> Floats:
        """(T, 6 + J, 6 + J) of the velocities (v₀, ω₀, q̇), with the rotors.

        See `bodymotion.dynamics.mass_matrix`.
        """
        return frozen(trees.mass_matrix(self.body, self.link_poses))

    @cached_property
    def momentum(self) -> trees.Momentum:
        """Momentum, kinetic energy and centre of mass.

        Linear momentum, angular momentum about the centre of mass, and the energy of
        the links.
        """
        return trees.momentum(self.body, self.link_poses, self.link_velocities)

    @property
    def center_of_mass(self) -> Floats:
        """(T, 3) [m] in the world."""
        return self.momentum.center_of_mass

    @property
    def center_of_mass_velocity(self) -> Floats:
        """(T, 3) [m/s] in the world."""
        return self.momentum.center_of_mass_velocity

    @cached_property
    def center_of_mass_acceleration(self) -> Floats:
        """(T, 3) [m/s²] in the world.

        0 for a body without mass.
        """
        mass = self.body.mass
        return frozen(
            # Newton: F + m·g = m·c̈ for the total force F of the world.
            self.root_wrench[:, :3] / mass + self.gravity
            if mass
            else np.zeros((len(self.times), 3))
        )

    @cached_property
    def kinetic_energy(self) -> Floats:
        """(T,) [J] of the links and the joints' rotors."""
        return frozen(
            self.momentum.kinetic_energy
            + trees.rotor_energy(self.body, self.joint_velocities)
        )

    @cached_property
    def potential_energy(self) -> Floats:
        """(T,) [J]; 0 where the centre of mass is as high as the world's origin."""
        return frozen(-self.body.mass * (self.center_of_mass @ self.gravity))

    @property
    def _moving(self) -> tuple[Floats, ...]:
        check_memory(
            2 * self.link_poses.nbytes,
            f"motion of {len(self.body.links)} links in {len(self.times)} frames",
        )
        return (
            self.joint_velocities,
            self.joint_accelerations,
            self.root_velocity,
            self.root_acceleration,
        )

    @cached_property
    def _inverse(self) -> trees.InverseDynamics:
        return trees.inverse_dynamics(
            self.body, self.link_poses, *self._moving, gravity=self.gravity
        )

    @property
    def root_wrench(self) -> Floats:
        """(T, 6) force [N] and moment [Nm] that the world exerts on the body.

        The moment is about the root's origin, both are along the world's axes.
        """
        return self._inverse.root_wrench

    @property
    def free_torques(self) -> Floats:
        """(T, J) [Nm, N] of the joints when all external forces act on the root link.

        The result of inverse dynamics alone.
        """
        return self._inverse.torques

    @cached_property
    def torques(self) -> Floats:
        """(T, J) [Nm, for slides N] torques of the joints, rotors included.

        The ground's forces act on the feet in contact.

        These forces are distributed as in `contact_wrenches`. Without contact, and for
        a mounted body, they are `free_torques`.
        """
        torques = np.array(self.free_torques)
        if self.is_mounted:
            return frozen(torques)
        _, kinds, columns, _, axes = self.body.tree
        # Inverse dynamics put the whole force of the ground on the root. Where it acts
        # on a foot, each joint between the foot and the root takes the part of it along
        # its axis.
        for k, foot in enumerate(self.contacts.links):
            for index in self.body.path_to_root(foot):
                if kinds[index]:
                    placed = self.link_poses[:, index]
                    axis = rotations.rotate(
                        rotations.normalized(placed[:, 3:]), axes[index]
                    )
                    wrench = self._wrench_about(k, placed[:, :3])
                    if kinds[index] == 1:
                        acts = wrench[:, 3:]
                    else:
                        acts = wrench[:, :3]
                    torques[:, columns[index]] -= np.sum(axis * acts, axis=1)
        return frozen(torques)

    def _wrench_about(self, foot: int, points: Floats) -> Floats:
        """Return force and moment (T, 6) of the ground on one foot.

        `foot` is its number; the moment is about points (T, 3) in the world.
        """
        wrench = self.contact_wrenches[:, foot]
        arm = self.contacts.points[:, foot] - points
        return np.concatenate(
            [wrench[:, :3], wrench[:, 3:] + np.cross(arm, wrench[:, :3])], axis=1
        )

    @cached_property
    def _link_wrenches(self) -> Floats:
        found = trees.inverse_dynamics(
            self.body,
            self.link_poses,
            *self._moving,
            gravity=self.gravity,
            wrenches=True,
        )
        assert found.link_wrenches is not None
        return frozen(found.link_wrenches)

    def transmitted_wrench(self, link: int | str) -> Floats:
        """Return what a parent exerts on its link (T, 6).

        Force [N] and moment [Nm] about the link's origin, along the world's axes.
        """
        if isinstance(link, str):
            link = self.body.link(link).index
        wrench = np.array(self._link_wrenches[:, link])
        if self.is_mounted:
            return wrench
        # What the ground carries of the links from here on, the parent need not carry.
        for k, foot in enumerate(self.contacts.links):
            if link in self.body.path_to_root(foot):
                wrench -= self._wrench_about(k, self.link_poses[:, link, :3])
        return wrench

    @cached_property
    def feet(self) -> Soles:
        """The feet and their contact points."""
        chosen = self.feet_option
        return soles(
            self.body,
            find_feet(self.body, self.link_poses) if chosen is None else chosen,
        )

    @cached_property
    def ground(self) -> Floats:
        """(T,) [m] the height of the ground."""
        if self.ground_option is not None:
            return self.ground_option
        return frozen(
            np.full(len(self.times), ground_height(self.feet, self.link_poses))
        )

    @cached_property
    def contacts(self) -> Contacts:
        """The contacts of the feet.

        When and where they are, the feet's velocities there and whether they slip.
        """
        moving = (self.link_poses, self.link_velocities)
        return detect_contacts(
            self.body,
            self.feet,
            *moving,
            self.ground,
            self.thresholds,
            times=self.times,
        )

    @cached_property
    def contact_wrenches(self) -> Floats:
        """(T, K, 6) force [N] and moment [Nm] of the ground on each foot.

        About its contact point, along the world's axes.
        """
        found = trees.contact_wrenches(
            self.contacts, self.root_wrench, self.root_poses[:, :3], self.zmp
        )
        return frozen(found)

    @cached_property
    def zmp(self) -> Floats:
        """(T, 3) [m] the zero moment point of the motion on the ground, in the world.

        NaN where the body is airborne.
        """
        weight = self.body.mass * float(np.linalg.norm(self.gravity))
        return frozen(
            trees.zero_moment_point(
                self.root_wrench, self.root_poses[:, :3], self.ground, weight=weight
            )
        )

    @cached_property
    def recorded_zmp(self) -> Floats | None:
        """(T, 3) [m] the recorded zero moment point, in the world.

        None where there is none.
        """
        zmp = self.motion.zmp
        if zmp is None or not zmp.num_frames:
            return None
        # The component may have another rate than the joints.
        points = sampled(zmp.values, zmp.timeline.times, self.times)
        return frozen(
            poses.transform_points(self.root_poses, points)
            if zmp.is_root_relative
            else points
        )

    @cached_property
    def support_polygons(self) -> SupportPolygons:
        """The support polygons: convex hulls of points in contact, seen from above."""
        return support_polygons(self.contacts, self.feet, self.link_poses, self.ground)

    @cached_property
    def stability_margin(self) -> Floats:
        """(T,) [m] distance of the zero moment point inside the support polygon.

        Negative outside, NaN while airborne.
        """
        return frozen(self.support_polygons.margins(self.zmp[:, :2])[0])

    @cached_property
    def center_of_pressure(self) -> Floats:
        """(T, 3) [m] the centre of pressure of the ground.

        It is the zero moment point, or the point of the support polygon nearest to it.

        Where the two differ the body would tip over. NaN without contact.
        """
        nearest = self.support_polygons.margins(self.zmp[:, :2])[1]
        height = np.where(np.isnan(nearest[:, 0]), np.nan, self.ground)
        return frozen(np.concatenate([nearest, height[:, None]], axis=1))

    @cached_property
    def power(self) -> Floats:
        """(T, J) [W] mechanical power of each joint.

        Torque times velocity; negative where it brakes.
        """
        return frozen(self.torques * self.joint_velocities)

    @cached_property
    def work(self) -> Floats:
        """(T, J) [J] mechanical work of each joint since the first frame.

        By the trapezoidal rule.

        An unknown power counts as 0.
        """
        steps = (
            # Only NaN counts as 0; an infinite power stays visible.
            np.nan_to_num(
                0.5 * (self.power[1:] + self.power[:-1]), posinf=np.inf, neginf=-np.inf
            )
            * np.diff(self.times)[:, None]
        )
        return frozen(
            np.concatenate([np.zeros((1, steps.shape[1])), np.cumsum(steps, axis=0)])
        )

    @cached_property
    def effort(self) -> Floats:
        """(J,) [Nm, N] the root mean square of each joint's torque.

        Over the time where it is known; it heats its motor.
        """
        square = np.square(self.torques)
        if len(self.times) < 2:
            return frozen(np.sqrt(square[0]))
        # Trapezoidal rule over the intervals in which the torque is known.
        steps = 0.5 * (square[1:] + square[:-1])
        spans = np.where(np.isnan(steps), 0.0, np.diff(self.times)[:, None])
        total = np.sum(np.where(np.isnan(steps), 0.0, steps) * spans, axis=0)
        known = spans.sum(axis=0)
        return frozen(
            np.sqrt(
                np.divide(
                    total, known, out=np.full(len(known), np.nan), where=known > 0
                )
            )
        )

    @cached_property
    def limit_distances(self) -> Floats:
        """(T, J) [rad, m] to the nearer limit of each joint.

        Negative beyond it, inf without limits.
        """
        q = self.joint_displacements
        joints = self.body.joints
        lower, upper = (
            np.array([(joint.lower, joint.upper) for joint in joints]).reshape(-1, 2).T
        )
        # ±inf without limits, so the distance is inf.
        return frozen(np.minimum(q - lower, upper - q))

    @cached_property
    def velocity_limit_distances(self) -> Floats:
        """(T, J) [rad/s, m/s] to the nearer limit of each joint's velocity.

        Negative beyond it, inf without limits.
        """
        dq = self.joint_velocities
        joints = self.body.joints
        lower, upper = (
            np.array([(joint.velocity_lower, joint.velocity_upper) for joint in joints])
            .reshape(-1, 2)
            .T
        )
        return frozen(np.minimum(dq - lower, upper - dq))

    @cached_property
    def visible_shapes(self) -> VisibleShapes:
        """The shapes of the body for its cameras."""
        from bodymotion.dynamics.visible_shapes import VisibleShapes

        shapes: list[tuple[Shape, int]] = []
        for link in self.body.links:
            shapes += [(shape, link.index) for shape in link.visuals]
        return VisibleShapes(shapes)

    @overload
    def read(
        self, device: VisionSensor, scenery: Scenery | Iterable[Thing] = ()
    ) -> CameraFrames: ...
    @overload
    def read(
        self,
        device: AccelerationSensor | Gyro | ForceSensor | RangeSensor,
        scenery: Scenery | Iterable[Thing] = (),
    ) -> sensors.Reading: ...
    @overload
    def read(
        self, device: Device | str, scenery: Scenery | Iterable[Thing] = ()
    ) -> sensors.Reading | CameraFrames: ...
    def read(
        self, device: Device | str, scenery: Scenery | Iterable[Thing] = ()
    ) -> sensors.Reading | CameraFrames:
        """Return the readings of a sensor, given itself or by its name.

        For a camera its frames.

        `scenery` is the environment of range sensors and cameras. See `read_sensor` and
        `camera_frames`.
        """
        from bodymotion.dynamics import sensors
        from bodymotion.dynamics.sensors import camera_frames

        if isinstance(device, str):
            found = [one for one in self.body.devices if one.name == device]
            if not found:
                names = [one.name for one in self.body.devices]
                raise KeyError(f"no device {device!r}; {choices(device, names)}")
            device = found[0]
        if isinstance(device, VisionSensor):
            return camera_frames(self, device, scenery)
        return sensors.read_sensor(self, device, scenery)

    def read_all(
        self, scenery: Scenery | Iterable[Thing] = ()
    ) -> tuple[sensors.Reading, ...]:
        """Return the readings of all sensors but cameras.

        Accelerometers, gyros, force and range sensors, in the body's order of devices.

        Cameras are left out, as their frames need much more memory; `read` returns
        those of one.
        """
        from bodymotion.dynamics import sensors

        if isinstance(scenery, sensors.Scenery):
            seen = scenery
        else:
            seen = sensors.Scenery(scenery)
        return tuple(
            self.read(one, seen)
            for one in self.body.devices
            if isinstance(one, sensors.READABLE)
        )


def measure(
    body: Body,
    motion: Motion,
    *,
    derivative: Derivative | Literal["suited"] = "suited",
    window: int = 9,
    order: int = 3,
    gravity: float | npt.ArrayLike = GRAVITY,
    ground: float | npt.ArrayLike | None = None,
    feet: Sequence[int | str] | None = None,
    thresholds: Thresholds | None = None,
    close_loops: bool = False,
    on_feet: bool | None = None,
    by_position: bool = False,
) -> Measures:
    """Measure a motion on a body.

    Most results are computed when they are first read.

    The motion is that of the joints and the root's pose, also where the motion has the
    poses of all links beside them; from poses of all links alone, joints are recovered.
    Components on several timelines get one (`Motion.synchronized`), cubically. Over a
    long gap between time stamps the robot rests. Numbers that are not finite are left
    out, with all results that depend on them. `Measures.problems` reports this, and
    other irregularities.

    Parameters
    ----------
    derivative, window, order:
        Method for velocities and accelerations: "spline", "central" or "savgol", see
        `derivatives`; or "suited": splines, but from 180 frames per second on, where
        files have too few digits for them, "savgol" over 0.05 s (`window` is ignored
        then); for a played script, whose accelerations jump at its keyframes, from
        100 on. Jumps of rotating joints by full turns are removed.
    gravity:
        [m/s²] downwards along z, or the acceleration (3,) of free fall.
    ground:
        Height [m] of level ground, one number or one per frame (T,); by default the
        median height of the lowest foot, or its height in each frame where the root
        follows the feet.
    feet:
        Indices or names of the links that may be in contact; by default those that
        `find_feet` finds, or those that the root follows.
    thresholds:
        Thresholds of contact.
    close_loops:
        Whether dependent joints in closed loops are computed from the others.
    on_feet:
        Whether to compute the root's pose so that feet in contact do not slip
        (`root_on_feet`): for walks that have joints alone. The root's velocity then has
        a small step where the supporting foot changes; "suited" derivatives of it are
        those over 0.15 s. None computes it, with a note in `Measures.problems`, if the
        motion has no root pose, the root is free, and there are feet, none of which
        rotates by a full turn as wheels do. Otherwise a root without a pose has the
        body's own.
    by_position:
        Read joint columns by position, whatever their names.

    Raises
    ------
    ValueError
        When the motion does not fit the body (`Body.joint_values`, `Body.link_poses`),
        has no frames, none with finite numbers, or times that do not increase; or with
        `on_feet`, when there are no feet. `WrongUseError` for an invalid argument.
    KeyError
        When no link has the name of a foot.
    TypeError
        For anything but a body and a motion.
    """
    _check_kinds(body, motion)
    if by_position:
        motion = put_by_position(motion, body)
    if derivative not in ("suited", *DERIVATIVES):
        raise WrongUseError(
            f"derivative: expected one of suited, {', '.join(DERIVATIVES)}, got "
            f"{derivative!r}"
        )
    placed = configurations(
        body, motion, feet=feet, close_loops=close_loops, on_feet=on_feet
    )
    times = placed.times
    q = placed.joint_displacements
    root = placed.root_poses
    if ground is None:
        ground = placed.ground
    # Without a second frame there is no rate, and no window.
    if len(times) > 1:
        gap = median_step(times)
    else:
        gap = np.inf
    if is_played(motion):
        fewest = MIN_WINDOW_PLAYED
    else:
        fewest = MIN_WINDOW

    def rates(
        method: Callable[..., tuple[Floats, Floats]],
        values: Floats,
        smoothing: float = SMOOTHING_TIME,
    ) -> tuple[Floats, Floats]:
        """Return first and second derivatives, stretch by stretch."""
        if derivative != "suited":
            options: dict[str, Any] = {
                "method": derivative,
                "window": window,
                "order": order,
            }
        else:
            # The window in frames, odd, so that it has a middle.
            if gap > 0:
                frames = 2 * int(0.5 * smoothing / gap) + 1
            else:
                frames = 0
            # Too few frames for a polynomial to remove noise: splines.
            options = {
                "method": "savgol" if frames >= fewest else "spline",
                "window": max(frames, fewest),
                "order": 3,
            }
        # Each stretch has its own derivatives.
        parts = [
            method(values[a:b], times[a:b], **options)
            for a, b in pairwise(stretches(times))
        ]
        return np.concatenate([first for first, _ in parts]), np.concatenate(
            [second for _, second in parts]
        )

    # Jumps by full turns are no movement; positions keep them as they are recorded.
    turning = [
        column for column, joint in enumerate(body.joints) if joint.type == "rotate"
    ]
    whole = np.array(q)
    whole[:, turning] = unwrapped(whole[:, turning])
    dq, ddq = rates(derivatives, whole)
    if placed.on_feet:
        on_feet_time = SMOOTHING_TIME_ON_FEET
    else:
        on_feet_time = SMOOTHING_TIME
    velocity, acceleration = rates(pose_derivatives, root, on_feet_time)
    return Measures(
        body=body,
        motion=motion,
        times=frozen(times),
        joint_displacements=frozen(q),
        root_poses=frozen(root),
        joint_velocities=frozen(dq),
        joint_accelerations=frozen(ddq),
        root_velocity=frozen(velocity),
        root_acceleration=frozen(acceleration),
        gravity=frozen(gravity_vector(gravity)),
        problems=placed.problems,
        timeline=placed.timeline,
        ground_option=None if ground is None else _heights(ground, len(times)),
        feet_option=placed.feet,
        thresholds=thresholds or Thresholds(),
    )


@dataclass(frozen=True, eq=False)
class Configurations:
    """A motion on a body.

    Joint values (T, J) and root poses (T, 7), with NaN where they are not finite.

    `feet` are those that are given or that the root follows; `ground` (T,) is the
    height of the lowest one if the root follows them.
    """

    timeline: Timeline
    joint_displacements: Floats
    root_poses: Floats
    problems: tuple[Problem, ...]
    feet: tuple[int, ...] | None
    on_feet: bool
    ground: Floats | None

    @property
    def times(self) -> Floats:
        """The time (T,) [s] of each frame."""
        return self.timeline.times


def configurations(
    body: Body,
    motion: Motion,
    *,
    feet: Sequence[int | str] | None = None,
    close_loops: bool = False,
    on_feet: bool | None = None,
) -> Configurations:
    """Return the joint values and root poses of a motion on a body.

    Options and errors are those of `measure`.
    """
    if feet is None:
        links = None
    else:
        links = foot_links(body, feet)
    timeline, q, root, problems = _configurations(body, motion)
    times = timeline.times
    if not len(times):
        raise ValueError("the motion has no frames to measure")
    # Faults are reported in the file of the motion.
    where = Location(None if motion.source.path is None else str(motion.source.path))
    problems += fit_problems(motion, body)
    q, root, lacking = _finite(body, times, q, root, where)
    problems += lacking
    if close_loops and body.extra_joints:
        from bodymotion.model import closed_loops

        q = closed_loops.close_loops(body, q).q
    # The root follows the feet unasked only where the motion says nothing about it.
    if on_feet is None and root is None and (found := _followed_feet(body, q, links)):
        on_feet = True
        links = found
        message = "the motion has no root pose: the root follows the feet"
        problems += (ON_FEET.problem(message, where),)
    ground = None
    if on_feet:
        # Feet are placed over gaps of straight lines, as NaN would move all later
        # frames.
        whole = bridged(q)[0]
        if links is None:
            links = feet_of_joints(body, whole)
        root, lowest = placed_on_feet(body, whole, links)
        if np.isfinite(lowest).all():
            # The height decreases slightly with each step.
            ground = lowest
    if root is None:
        root = np.broadcast_to(body.root_pose, (len(times), 7))
    return Configurations(timeline, q, root, problems, links, bool(on_feet), ground)


def _check_kinds(body: object, motion: object) -> None:
    """Raise TypeError for anything but a body and a motion, with what helps."""
    if isinstance(body, Body) and isinstance(motion, Motion):
        return
    kinds = [type(thing).__name__ for thing in (body, motion)]
    how = ""
    scripts = [thing for thing in (body, motion) if isinstance(thing, RobotScript)]
    if scripts:
        name = with_article(type(scripts[0]).__name__)
        how = f"; `body_and_motion()` of {name} returns both"
    elif {"str", "Path", "PosixPath", "WindowsPath"} & set(kinds):
        how = "; read files with bodymotion.load first"
    raise TypeError(
        f"measure: expected a Body and then a Motion, got {' and '.join(kinds)}{how}"
    )


def _heights(ground: float | npt.ArrayLike, frames: int) -> Floats:
    """Return the height of the ground (T,) in each frame."""
    heights = np.asarray(ground, dtype=np.float64)
    if heights.shape not in ((), (1,), (frames,)):
        raise WrongUseError(
            f"ground: expected one height, or one for each of {frames} frames, got "
            f"shape {heights.shape}"
        )
    if not np.isfinite(heights).all():
        wrong = heights[~np.isfinite(heights)][0]
        raise WrongUseError(f"ground: expected finite heights, got {wrong:g}")
    return frozen(np.broadcast_to(heights, (frames,)))


def _followed_feet(
    body: Body, q: Floats, feet: tuple[int, ...] | None
) -> tuple[int, ...]:
    """Return the feet that the root may follow.

    None where the root is not free, or a foot is a wheel.
    """
    if not body.links or body.is_mounted:
        return ()
    whole = bridged(q)[0]
    if feet is None:
        found = feet_of_joints(body, whole)
    else:
        found = feet
    turning = {
        column
        for column in body.columns_above(*found)
        if body.joints[column].type == "rotate"
    }
    # A wheel rolls: its contact point moves over the ground, though it does not slip.
    if any(np.ptp(unwrapped(whole[:, [column]])) > 2 * np.pi for column in turning):
        return ()
    return found


def _finite(
    body: Body, times: Floats, q: Floats, root: Floats | None, where: Location
) -> tuple[Floats, Floats | None, tuple[Problem, ...]]:
    """Return joints and root with NaN for what is not finite.

    The third value is the problem that reports it.
    """
    is_wrong = ~np.isfinite(q)
    is_lost = np.zeros(len(q), dtype=np.bool_)
    if root is not None:
        is_lost |= ~np.isfinite(root).all(axis=1)
    if not is_wrong.any() and not is_lost.any():
        return q, root, ()
    # With no finite frame at all, no result would be left.
    if (q.size and is_wrong.all()) or is_lost.all():
        kind = "root pose" if is_lost.all() else "joint value"
        raise ValueError(f"no frame has a finite {kind}, so it cannot be measured")
    frames = np.flatnonzero(is_wrong.any(axis=1) | is_lost)
    names = []
    if is_lost.any():
        names.append("the root")
    for column in np.flatnonzero(is_wrong.any(axis=0)):
        names.append(body.joints[column].name or f"joint {column}")
    more = ""
    if len(names) > MAX_NAMED:
        more = f" and {len(names) - MAX_NAMED} more"
    message = (
        f"{len(frames)} of {len(q)} frames have numbers that are not finite, from "
        f"frame {frames[0]} ({times[frames[0]]:.3f} s) on: "
        f"{', '.join(names[:MAX_NAMED])}{more}; results that depend on them are left "
        "out"
    )
    # One wrong number of a pose makes the whole pose unknown.
    if root is not None and is_lost.any():
        root = np.where(is_lost[:, None], np.nan, root)
    problem = NOT_FINITE.problem(message, where)
    return np.where(is_wrong, np.nan, q), root, (problem,)


def _configurations(
    body: Body, motion: Motion
) -> tuple[Timeline, Floats, Floats | None, tuple[Problem, ...]]:
    """Return the timeline, joint values, root poses and problems of a motion.

    Joint values (T, J), root poses (T, 7) or None without any.
    """
    problems: tuple[Problem, ...] = ()
    links = motion.link_position
    if links is not None:
        # Poses of more links than the body has are a motion of another body.
        if links.num_parts > len(body.links):
            body.link_poses(motion)  # raises
        # The .seq document allows poses of all links without joints.
        if motion.joint_displacement is None and links.num_parts == len(body.links):
            before = len(motion.problems)
            motion, _ = recover_joints(motion, body)
            problems = motion.problems[before:]
    joints = motion.joint_displacement
    link_position = motion.link_position
    if joints is None:
        body.link_poses(motion)  # raises, with the reason
        raise ValueError("the motion has no joint displacements")
    root = None
    if link_position is not None and link_position.num_parts:
        # Components of a .seq file may have rates of their own.
        if link_position.timeline != joints.timeline:
            together = motion.replaced(joints, link_position).synchronized("cubic")
            joints = together.joint_displacement or joints
            link_position = together.link_position or link_position
        root = link_position.values[:, 0]
    return joints.timeline, body.joint_values(joints), root, problems
