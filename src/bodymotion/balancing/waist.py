"""The waist balancer of Choreonoid.

It moves the waist sideways until the computed zero moment point reaches its goal.

With momentum P and angular momentum L about the world's origin, mass M, centre of mass
c, desired zero moment point p and gravity g, the computed point is, with z̈ = Ṗ_z / M,

    x = (Ṗ_x·p_z − L̇_y + M·g·c_x) / (M·(z̈ + g))
    y = (Ṗ_y·p_z + L̇_x + M·g·c_y) / (M·(z̈ + g))

A shift u of the whole mass at its height changes that point by u − c_z/(g + z̈)·ü. So
for the shift that makes up the difference d, with k = c_z / ((g + z̈)·Δt²), and u = 0
before the first and after the last frame,

    −k·u[i−1] + (2k + 1)·u[i] − k·u[i+1] = d[i]

which is solved for x and y. The shift is added to the waist's goal, and all is done
again, since the mass of the legs moves less.
"""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from bodymotion.diagnostics import ShortRepr
from bodymotion.dynamics.trees import link_velocities, mass_arrays
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.kernels import kinematics
from bodymotion.keyposes.interpolation import Interpolated, Plan
from bodymotion.model.body import Body
from bodymotion.motion.interpolation.lowpass import quintic
from bodymotion.system.deferred import need

# [m/s²] As the reference has it.
GRAVITY = 9.8
# [m/s²] Of gravity and the mass's acceleration together, where a body falls freely.
MIN_GRAVITY = 1.0
# [m]
MAX_SHIFT = 1.0
# [m] The centre of mass must be so near to the zero moment point at the end for the
# waist to be put back there.
MAX_FINAL_DISTANCE = 2e-3
# A shift of the waist moves the centre of mass by about three quarters of it. The rest
# falls by a factor of four in each step.
CENTERING_STEPS = 12
# [rad] The reference ignores smaller rotations between two frames.
MIN_ANGLE = 0.001414


@dataclass(frozen=True)
class BalancerOptions(ShortRepr):
    """The number of iterations of the balancer, and its behaviour at both ends.

    Attributes
    ----------
    iterations:
        Repetitions.
    smoother, smoother_time:
        Polynomial by which the shift grows from 0, and for how long [s].
    centered_ends:
        Whether the centre of mass begins and ends over the zero moment point; the shift
        then need not be 0 there.
    """

    iterations: int = 2
    smoother: Literal["quintic", "cubic", "none"] = "quintic"
    smoother_time: float = 0.5
    centered_ends: bool = False


def balanced(
    plan: Plan,
    times: Floats,
    options: BalancerOptions,
) -> tuple[Interpolated, Floats]:
    """Return the balanced frames, and the shift (T, 3) [m] of the waist.

    Raises ValueError when the root is not a link with keys, or there is no zero moment
    point. Raises ImportError without the extra `opt`.
    """
    body = plan.body
    held = np.minimum(times, plan.duration)
    start = plan.at(held)
    if start.zmp is None:
        raise ValueError(
            "the key poses have no zero moment point, and none can be made: the "
            "balancer needs one"
        )
    if 0 not in start.links:
        raise ValueError(
            f"the root link {body.links[0].name!r} has no key: the balancer moves it "
            "by its keys"
        )
    desired = start.zmp
    shift = np.zeros((len(times), 3))
    frames = start
    step = times[1] - times[0]
    fades_in = _growth(times - times[0], options)
    fades_out = _growth(times[-1] - times, options)
    for _ in range(options.iterations):
        center, fall, point = _compute_zmp(body, frames, desired, step)
        shift[:, :2] += _solve_shift(center, fall, desired[:, :2] - point, step)
        np.clip(shift, -MAX_SHIFT, MAX_SHIFT, out=shift)
        if options.centered_ends:
            _center(plan, held, shift, 1 - fades_out, desired[-1])
        frames = plan.at(held, shift)
    if options.centered_ends:
        _center(plan, held, shift, 1 - fades_in, desired[0])
    else:
        center = _compute_zmp(body, frames, desired, step).center
        distance = np.hypot(*(center[-1] - desired[-1])[:2])
        share = fades_in
        if distance <= MAX_FINAL_DISTANCE:
            share = fades_in * fades_out
        shift *= share[:, None]
    return plan.at(held, shift), shift


def _center(
    plan: Plan,
    held: Floats,
    shift: Floats,
    weight: Floats,
    point: Floats,
) -> None:
    """Change a shift so that the centre of mass is over a point (3,).

    `shift` (T, 3) is changed in place, by `weight` (T,).
    """
    rows = np.flatnonzero(weight)
    centered = shift[rows].copy()
    for _ in range(CENTERING_STEPS):
        frames = plan.at(held[rows], centered)
        links = plan.body.forward_kinematics(frames.q, frames.root)
        center = plan.body.center_of_mass(links)
        centered[:, :2] += (point - center)[:, :2]
    shift[rows] += weight[rows, None] * (centered - shift[rows])


class _ComputedZmp(NamedTuple):
    """The centre of mass (T, 3) [m], g + z̈ (T,) and the zero moment point (T, 2)."""

    center: Floats
    fall: Floats
    point: Floats


def _compute_zmp(
    body: Body,
    frames: Interpolated,
    desired: Floats,
    step: float,
) -> _ComputedZmp:
    """Return the zero moment point at the height of the desired one (T, 3)."""
    links = body.forward_kinematics(frames.q, frames.root)
    speeds = np.zeros_like(frames.q)
    speeds[:-1] = np.diff(frames.q, axis=0) / step
    root_velocity = _root_velocity(frames.root, step)
    velocities = link_velocities(body, links, speeds, root_velocity)
    momentum = kinematics.momentum(mass_arrays(body), links, velocities)
    linear = momentum[:, :3]
    center = momentum[:, 6:9]
    # About the world's origin.
    angular = momentum[:, 3:6] + np.cross(center, linear)
    force = _rate_from_rest(linear, step)
    moment = _rate_from_rest(angular, step)
    weight = body.mass * GRAVITY
    fall = np.maximum(GRAVITY + force[:, 2] / body.mass, MIN_GRAVITY)
    turning = np.stack((-moment[:, 1], moment[:, 0]), axis=1)
    point = force[:, :2] * desired[:, 2:] + turning + weight * center[:, :2]
    return _ComputedZmp(center, fall, point / (body.mass * fall)[:, None])


def _root_velocity(root: Floats, step: float) -> Floats:
    """Return the velocity (T, 6) [m/s, rad/s] of a root at poses (T, 7)."""
    velocity = np.zeros((len(root), 6))
    velocity[:-1, :3] = np.diff(root[:, :3], axis=0) / step
    to_root = rotations.conjugate(root[:-1, 3:])
    axis, angle = rotations.to_axis_angle(rotations.multiply(to_root, root[1:, 3:]))
    angle = np.where(angle < MIN_ANGLE, 0.0, angle)
    velocity[:-1, 3:] = axis * angle[:, None] / step
    return velocity


def _rate_from_rest(momentum: Floats, step: float) -> Floats:
    """Return the rate of change (T, 3) of a momentum (T, 3) that begins at 0."""
    rate = np.zeros_like(momentum)
    rate[0] = momentum[0] / step
    rate[1:] = np.diff(momentum, axis=0) / step
    return rate


def _solve_shift(
    center: Floats,
    fall: Floats,
    difference: Floats,
    step: float,
) -> Floats:
    """Return the shift (T, 2) that solves the tridiagonal system."""
    k = center[:, 2] / (fall * step * step)
    # The upper, middle and lower bands, as of SciPy.
    bands = np.array((np.roll(-k, 1), 2.0 * k + 1.0, np.roll(-k, -1)))
    # The reference leaves this element out.
    bands[2, -3:-2] = 0.0
    linalg: Any = need("scipy.linalg", "opt", "balancing")
    return np.asarray(linalg.solve_banded((1, 1), bands, difference))


def _growth(times: Floats, options: BalancerOptions) -> Floats:
    """Return how far (T,) a shift has grown at times since it began, 0…1."""
    if options.smoother == "none":
        return np.ones_like(times)
    u = np.clip(times / options.smoother_time, 0.0, 1.0)
    if options.smoother == "cubic":
        return u * u * (3 - 2 * u)
    return quintic(u)
