"""`Measures`: everything that is measured of a motion, each result computed when it is first read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, overload

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import Problem
from bodymotion.diagnostics.spelling import choices
from bodymotion.dynamics import forces, kinematics
from bodymotion.dynamics.contacts import (
    Contacts,
    Soles,
    SupportPolygons,
    Thresholds,
    detect_contacts,
    find_feet,
    ground_height,
    soles,
    support_polygons,
)
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.model.body import Body
from bodymotion.model.links import AccelerationSensor, Device, ForceSensor, Gyro, RangeSensor, VisionSensor
from bodymotion.motion import Motion
from bodymotion.motion.interpolation import sampled
from bodymotion.system.memory import check_memory

if TYPE_CHECKING:
    from bodymotion.dynamics import sensors
    from bodymotion.dynamics.cameras import CameraFrames
    from bodymotion.dynamics.sensors import Scenery, Thing
    from bodymotion.dynamics.visible_shapes import VisibleShapes


@dataclass(frozen=True, eq=False, kw_only=True)
class Measures:
    """The result of `measure`: T frames of a body with L links and J joint columns. Arrays are read-only, directions the world's.

    Attributes
    ----------
    times:
        (T,) [s].
    joint_displacements, joint_velocities, joint_accelerations:
        (T, J) [rad, rad/s, rad/s²; for slides m, m/s, m/s²], in order of joint columns.
    root_poses:
        (T, 7) of the root link in the world.
    root_velocity, root_acceleration:
        (T, 6) of the root link's origin [m/s, m/s²], then its angular velocity and acceleration [rad/s, rad/s²].
    gravity:
        (3,) [m/s²] the acceleration of free fall.
    problems:
        Irregularities of the motion on this body.
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
    given_ground: Floats | None = field(default=None, repr=False)
    given_feet: tuple[int | str, ...] | None = field(default=None, repr=False)
    thresholds: Thresholds = field(default_factory=Thresholds, repr=False)

    def __repr__(self) -> str:
        return f"Measures({self.body.name!r}: {len(self.times)} frames, {len(self.body.links)} links, {self.body.num_joints} joints)"

    @property
    def is_mounted(self) -> bool:
        """Whether the root is fixed to the world: then its mount carries the body, and no foot does."""
        return self.body.is_mounted

    @cached_property
    def link_poses(self) -> Floats:
        """(T, L, 7) of all links in the world."""
        return frozen(self.body.forward_kinematics(self.joint_displacements, self.root_poses))

    @cached_property
    def link_velocities(self) -> Floats:
        """(T, L, 6) of the links' origins [m/s], then angular velocities [rad/s], along the world's axes."""
        check_memory(self.link_poses.nbytes, f"velocities of {len(self.body.links)} links in {len(self.times)} frames")
        moving = (self.joint_velocities, self.root_velocity)
        return frozen(kinematics.link_velocities(self.body, self.link_poses, *moving))

    @cached_property
    def link_accelerations(self) -> Floats:
        """(T, L, 6) of the links' origins [m/s²], then angular accelerations [rad/s²], along the world's axes, without gravity."""
        check_memory(
            2 * self.link_poses.nbytes, f"accelerations of {len(self.body.links)} links in {len(self.times)} frames"
        )
        moving = (self.joint_velocities, self.joint_accelerations, self.root_velocity, self.root_acceleration)
        return frozen(kinematics.link_accelerations(self.body, self.link_poses, *moving)[1])

    def jacobian(self, link: int | str, point: npt.ArrayLike = (0.0, 0.0, 0.0)) -> Floats:
        """Return the Jacobian (T, 6, 6 + J) of a `point` (3,) [m] in a link's frame; see `bodymotion.dynamics.jacobian`."""
        return kinematics.jacobian(self.body, self.link_poses, link, point)

    @cached_property
    def mass_matrix(self) -> Floats:
        """(T, 6 + J, 6 + J) of the velocities (v₀, ω₀, q̇), with the rotors; see `bodymotion.dynamics.mass_matrix`."""
        return frozen(forces.mass_matrix(self.body, self.link_poses))

    @cached_property
    def momentum(self) -> forces.Momentum:
        """Linear momentum, angular momentum about the centre of mass, kinetic energy of the links, and the centre of mass."""
        return forces.momentum(self.body, self.link_poses, self.link_velocities)

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
        """(T, 3) [m/s²] in the world; 0 for a body without mass."""
        mass = self.body.mass
        return frozen(self.root_wrench[:, :3] / mass + self.gravity if mass else np.zeros((len(self.times), 3)))

    @cached_property
    def kinetic_energy(self) -> Floats:
        """(T,) [J] of the links and the joints' rotors."""
        return frozen(self.momentum.kinetic_energy + forces.rotor_energy(self.body, self.joint_velocities))

    @cached_property
    def potential_energy(self) -> Floats:
        """(T,) [J]; 0 where the centre of mass is at the height of the world's origin."""
        return frozen(-self.body.mass * (self.center_of_mass @ self.gravity))

    @cached_property
    def _inverse(self) -> forces.InverseDynamics:
        moving = (self.joint_velocities, self.joint_accelerations, self.root_velocity, self.root_acceleration)
        return forces.inverse_dynamics(self.body, self.link_poses, *moving, gravity=self.gravity)

    @property
    def root_wrench(self) -> Floats:
        """(T, 6) force [N] and moment [Nm] about the root's origin that the world exerts on the body, along the world's axes."""
        return self._inverse.root_wrench

    @property
    def free_torques(self) -> Floats:
        """(T, J) [Nm, N] of the joints when all external forces act on the root link: the result of inverse dynamics alone."""
        return self._inverse.torques

    @cached_property
    def torques(self) -> Floats:
        """(T, J) [Nm, for slides N] of the joints, rotors included, with the ground's forces acting on the feet in contact.

        These forces are distributed as in `contact_wrenches`. Without contact, and for a mounted body, they are `free_torques`.
        """
        torques = np.array(self.free_torques)
        if self.is_mounted:
            return frozen(torques)
        _, kinds, columns, _, axes = self.body.tree
        for k, foot in enumerate(self.contacts.links):
            index = foot
            while index > 0:
                if kinds[index]:
                    placed = self.link_poses[:, index]
                    axis = rotations.rotate(rotations.normalized(placed[:, 3:]), axes[index])
                    given = self._wrench_about(k, placed[:, :3])
                    acts = given[:, 3:] if kinds[index] == 1 else given[:, :3]
                    torques[:, columns[index]] -= np.sum(axis * acts, axis=1)
                index = self.body.links[index].parent
        return frozen(torques)

    def _wrench_about(self, foot: int, points: Floats) -> Floats:
        """Return force and moment (T, 6) of the ground on the foot of that number, about points (T, 3) in the world."""
        given = self.contact_wrenches[:, foot]
        arm = self.contacts.points[:, foot] - points
        return np.concatenate([given[:, :3], given[:, 3:] + np.cross(arm, given[:, :3])], axis=1)

    @cached_property
    def _link_wrenches(self) -> Floats:
        check_memory(self.link_poses.nbytes, f"the forces on {len(self.body.links)} links in {len(self.times)} frames")
        moving = (self.joint_velocities, self.joint_accelerations, self.root_velocity, self.root_acceleration)
        found = forces.inverse_dynamics(self.body, self.link_poses, *moving, gravity=self.gravity, wrenches=True)
        assert found.link_wrenches is not None
        return frozen(found.link_wrenches)

    def transmitted_wrench(self, link: int) -> Floats:
        """Return force [N] and moment [Nm] about the link's origin (T, 6), along the world's axes, that a parent exerts on its link."""
        wrench = np.array(self._link_wrenches[:, link])
        if self.is_mounted:
            return wrench
        for k, foot in enumerate(self.contacts.links):
            above = foot
            while above > link:
                above = self.body.links[above].parent
            if above == link:
                wrench -= self._wrench_about(k, self.link_poses[:, link, :3])
        return wrench

    @cached_property
    def feet(self) -> Soles:
        """The feet and their contact points."""
        chosen = self.given_feet
        return soles(self.body, find_feet(self.body, self.link_poses) if chosen is None else chosen)

    @cached_property
    def ground(self) -> Floats:
        """(T,) [m] the height of the ground."""
        if self.given_ground is not None:
            return self.given_ground
        return frozen(np.full(len(self.times), ground_height(self.feet, self.link_poses)))

    @cached_property
    def contacts(self) -> Contacts:
        """When and where the feet are in contact, their velocities there and whether they slip."""
        moving = (self.link_poses, self.link_velocities)
        return detect_contacts(self.body, self.feet, *moving, self.ground, self.thresholds, times=self.times)

    @cached_property
    def contact_wrenches(self) -> Floats:
        """(T, K, 6) force [N] and moment [Nm] of the ground on each foot, about its contact point, along the world's axes."""
        found = forces.contact_wrenches(self.contacts, self.root_wrench, self.root_poses[:, :3], self.zmp)
        return frozen(found)

    @cached_property
    def zmp(self) -> Floats:
        """(T, 3) [m] the zero moment point of the motion on the ground, in the world; NaN where the body is airborne."""
        weight = self.body.mass * float(np.linalg.norm(self.gravity))
        return frozen(forces.zero_moment_point(self.root_wrench, self.root_poses[:, :3], self.ground, weight=weight))

    @cached_property
    def recorded_zmp(self) -> Floats | None:
        """(T, 3) [m] the zero moment point that is recorded in the motion, in the world; None where there is none."""
        zmp = self.motion.zmp
        if zmp is None or not zmp.num_frames:
            return None
        points = sampled(zmp.values, zmp.timeline.times, self.times)
        return frozen(poses.transform_points(self.root_poses, points) if zmp.is_root_relative else points)

    @cached_property
    def support_polygons(self) -> SupportPolygons:
        """The support polygons: convex hulls of what touches the ground, seen from above."""
        return support_polygons(self.contacts, self.feet, self.link_poses, self.ground)

    @cached_property
    def stability_margin(self) -> Floats:
        """(T,) [m] distance of the zero moment point inside the support polygon; negative outside, NaN while airborne."""
        return frozen(self.support_polygons.margins(self.zmp[:, :2])[0])

    @cached_property
    def center_of_pressure(self) -> Floats:
        """(T, 3) [m]: the zero moment point, or the point of the support polygon nearest to it.

        Where the two differ the body would tip over. NaN without contact.
        """
        nearest = self.support_polygons.margins(self.zmp[:, :2])[1]
        height = np.where(np.isnan(nearest[:, 0]), np.nan, self.ground)
        return frozen(np.concatenate([nearest, height[:, None]], axis=1))

    @cached_property
    def power(self) -> Floats:
        """(T, J) [W] mechanical power of each joint: torque times velocity; negative where it brakes."""
        return frozen(self.torques * self.joint_velocities)

    @cached_property
    def work(self) -> Floats:
        """(T, J) [J] mechanical work of each joint since the first frame (trapezoidal rule); an unknown power counts as 0."""
        steps = (
            np.nan_to_num(0.5 * (self.power[1:] + self.power[:-1]), posinf=np.inf, neginf=-np.inf)
            * np.diff(self.times)[:, None]
        )
        return frozen(np.concatenate([np.zeros((1, steps.shape[1])), np.cumsum(steps, axis=0)]))

    @cached_property
    def effort(self) -> Floats:
        """(J,) [Nm, N] the root mean square of each joint's torque over the time where it is known, which heats its motor."""
        square = np.square(self.torques)
        if len(self.times) < 2:
            return frozen(np.sqrt(square[0]))
        steps = 0.5 * (square[1:] + square[:-1])
        spans = np.where(np.isnan(steps), 0.0, np.diff(self.times)[:, None])
        total, known = np.sum(np.where(np.isnan(steps), 0.0, steps) * spans, axis=0), spans.sum(axis=0)
        return frozen(np.sqrt(np.divide(total, known, out=np.full(len(known), np.nan), where=known > 0)))

    @cached_property
    def limit_distances(self) -> Floats:
        """(T, J) [rad, m] to the nearer limit of each joint; negative beyond it, inf without limits."""
        q, joints = self.joint_displacements, self.body.joints
        lower, upper = np.array([(joint.lower, joint.upper) for joint in joints]).reshape(-1, 2).T
        return frozen(np.minimum(q - lower, upper - q))

    @cached_property
    def velocity_limit_distances(self) -> Floats:
        """(T, J) [rad/s, m/s] to the nearer limit of each joint's velocity; negative beyond it, inf without limits."""
        dq, joints = self.joint_velocities, self.body.joints
        lower, upper = np.array([(joint.velocity_lower, joint.velocity_upper) for joint in joints]).reshape(-1, 2).T
        return frozen(np.minimum(dq - lower, upper - dq))

    @cached_property
    def visible_shapes(self) -> VisibleShapes:
        """The shapes of the body for its cameras."""
        from bodymotion.dynamics.visible_shapes import VisibleShapes

        return VisibleShapes((shape, link.index) for link in self.body.links for shape in link.visuals)

    @overload
    def read(self, device: VisionSensor, scenery: Scenery | Iterable[Thing] = ()) -> CameraFrames: ...
    @overload
    def read(
        self, device: AccelerationSensor | Gyro | ForceSensor | RangeSensor, scenery: Scenery | Iterable[Thing] = ()
    ) -> sensors.Reading: ...
    @overload
    def read(self, device: Device | str, scenery: Scenery | Iterable[Thing] = ()) -> sensors.Reading | CameraFrames: ...
    def read(self, device: Device | str, scenery: Scenery | Iterable[Thing] = ()) -> sensors.Reading | CameraFrames:
        """Return the readings of a sensor, given itself or by its name; for a camera its frames.

        `scenery` is the environment of range sensors and cameras. See `read_sensor` and `camera_frames`.
        """
        from bodymotion.dynamics import sensors
        from bodymotion.dynamics.cameras import camera_frames

        if isinstance(device, str):
            found = [one for one in self.body.devices if one.name == device]
            if not found:
                names = [one.name for one in self.body.devices]
                raise KeyError(f"no device {device!r}; {choices(device, names)}")
            device = found[0]
        if isinstance(device, VisionSensor):
            return camera_frames(self, device, scenery)
        return sensors.read_sensor(self, device, scenery)

    def read_all(self, scenery: Scenery | Iterable[Thing] = ()) -> tuple[sensors.Reading, ...]:
        """Return the readings of all accelerometers, gyros, force and range sensors, in the body's order of devices.

        Cameras are left out, as their frames need much more memory; `read` returns those of one.
        """
        from bodymotion.dynamics import sensors

        seen = scenery if isinstance(scenery, sensors.Scenery) else sensors.Scenery(scenery)
        return tuple(self.read(one, seen) for one in self.body.devices if isinstance(one, sensors.READABLE))
