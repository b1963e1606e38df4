"""Compare a motion of a robot with its source: `compare_retarget`.

With d the directions of the source's limbs, L the lengths of the robot's, and its
shoulder or hip s, the goal of a hand or foot is s + Σ L·d; its reach is the distance
from there. Of a quadruped, goals of the feet, contact, and the directions of the trunk
are planned (`retargeting.quadruped_plans`). A foot slides by the path along the ground
of what touches it while the source's foot is in contact (`retargeting.contact_phases`
defines when), and it floats while it is more than `MAX_FLOAT` above the ground then.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bodymotion.checks.findings import Finding, Sampling
from bodymotion.checks.physics.sudden import jumps_of_joints, jumps_of_root
from bodymotion.diagnostics import Location, ShortRepr
from bodymotion.dynamics import measure
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Bools, Floats
from bodymotion.kernels.feet import lowest
from bodymotion.model.body import Body
from bodymotion.model.links import velocity_range
from bodymotion.motion import Motion
from bodymotion.motion.interpolation import sampled
from bodymotion.retargeting.feet import PATCH
from bodymotion.retargeting.figures import figure_of_body
from bodymotion.retargeting.part_frames import part_axes
from bodymotion.retargeting.quadruped import (
    Soles,
    find_soles,
    measure_contact_depths,
)
from bodymotion.retargeting.quadruped_plans import (
    Plan,
    level_frame,
    make_plan,
    measure_stand,
)
from bodymotion.retargeting.roles import LEG_ENDS, LEGS, LIMBS, SIDES, Figure
from bodymotion.retargeting.skeletons import Recorded, with_body
from bodymotion.retargeting.soles import lowest_of_links, sole_points
from bodymotion.retargeting.source import Recording, record_figure
from bodymotion.skeleton import Skeleton

# Frames that are checked for collisions, at most.
COLLISION_FRAMES = 300
# [m] A foot that is higher is in the air.
MAX_FLOAT = 0.01
# [s] A smaller difference in length is not shown; keyframes are less apart.
MAX_UNMATCHED = 0.1
# Level directions in which the widths of figures are measured.
OUTLINE_DIRECTIONS = 12
# Of the heights of a figure over time: that of the figure when it stands.
TALL_QUANTILE = 0.95
# [rad, m, or these per second] Joints that are less beyond a limit keep it.
LIMIT_TOLERANCE = 1e-6
# Its findings are noise, and no jumps.
NOISE_RULE = "MOT307"


class PoseErrors(NamedTuple):
    """Mean errors of end points [m] and of directions [rad], by name."""

    reach: dict[str, float]
    directions: dict[str, float]


@dataclass(frozen=True, kw_only=True)
class RetargetComparison(ShortRepr):
    """The errors of a retargeted motion against its source.

    Attributes
    ----------
    frames, seconds:
        Length of what source and motion both have.
    unmatched:
        [s] The difference of their lengths.
    reach:
        [m] By end point, the mean distance from its scaled goal.
    directions:
        [rad] By limb, or axis of the trunk, the mean angle to the source's.
    outline:
        The mean difference of height, largest and smallest width of all joints, as a
        share of the figure's height. It uses no roles, so it shows where roles are
        wrong, which the other figures do not. None between a figure with two legs and
        one with four.
    contact_agreement:
        Share of the frames in which a foot is in contact if and only if the source's
        is, mean of all feet.
    slide:
        [m] By foot, over the ground in all its stance phases.
    float_share:
        Share of the frames with contact of the source's foot in which the robot's foot
        is in the air.
    penetration:
        [m] The largest depth of a link below the ground.
    joint_jumps, root_jumps:
        Sudden changes, as the rules MOT301 to MOT305 define them.
    limit_violations, speed_violations:
        Frames in which a joint is beyond a limit, or faster than its velocity limit.
    collision_share:
        Share of up to `COLLISION_FRAMES` frames in which links overlap that do not at
        rest; None without the extra `sim`, or where MuJoCo cannot load the body.
    """

    frames: int
    seconds: float
    unmatched: float
    reach: Mapping[str, float]
    directions: Mapping[str, float]
    outline: float | None
    contact_agreement: float
    slide: Mapping[str, float]
    float_share: float
    penetration: float
    joint_jumps: int
    root_jumps: int
    limit_violations: int
    speed_violations: int
    collision_share: float | None

    def __str__(self) -> str:
        return "".join(f"{name:<13}{text}\n" for name, text in self._rows())

    def _rows(self) -> Iterator[tuple[str, str]]:
        """Yield a name and a text for each figure."""
        length = f"{self.frames} in {self.seconds:.2f} s"
        if self.unmatched > MAX_UNMATCHED:
            length += (
                f"; source and motion differ in length by {self.unmatched:.2f} s, "
                "which are not compared"
            )
        yield "frames", length
        for name, distance in self.reach.items():
            yield "reach", f"{name} within {1e3 * distance:.1f} mm on average"
        for name, angle in self.directions.items():
            yield "direction", f"{name} {np.degrees(angle):.1f}° on average"
        agreement = 100 * self.contact_agreement
        yield "contact", f"agrees in {agreement:.1f} % of the frames"
        for name, slide in self.slide.items():
            yield "foot slide", f"{name} {1e3 * slide:.0f} mm in all"
        floats = (
            f"{100 * self.float_share:.1f} % of the frames with contact, by more than "
            f"{1e3 * MAX_FLOAT:g} mm"
        )
        yield "float", floats
        yield "penetration", f"{1e3 * self.penetration:.1f} mm at most"
        jumps = f"{self.joint_jumps} of joints, {self.root_jumps} of the root"
        yield "jumps", jumps
        limits = (
            f"{self.limit_violations} frames beyond a position limit, "
            f"{self.speed_violations} a velocity limit"
        )
        yield "limits", limits
        if self.outline is not None:
            share = f"{100 * self.outline:.1f} % of the height on average"
            yield "outline", f"height and widths differ by {share}"
        if self.collision_share is not None:
            share = f"{100 * self.collision_share:.1f} % of the frames"
            yield "collisions", f"links overlap in {share}"


def compare_retarget(
    source: Recorded,
    body: Body,
    motion: Motion,
    *,
    source_body: Body | None = None,
    roles: Mapping[str, str] | None = None,
    source_roles: Mapping[str, str] | None = None,
) -> RetargetComparison:
    """Return the errors of a motion of a body against its source.

    Parameters and exceptions as those of `retarget`.

    The motion is compared at the source's times, up to its end, in its own mean
    heading. The ground is at z = 0, where `retarget` puts it.
    """
    source, source_body = with_body(source, source_body)
    figure = figure_of_body(body, roles)
    expected: Recording | Plan
    names: Sequence[str]
    if figure.is_quadruped:
        stand = measure_stand(figure)
        expected = make_plan(source, source_body, source_roles, stand)
        names = LEGS
        contact = expected.contact
        soles = find_soles(body, figure)
    else:
        expected = record_figure(source, source_body, source_roles)
        names = SIDES
        contact = expected.on_ground
        soles = _soles_of_biped(body, figure)
    measures = measure(body, motion, feet=soles.links)
    times = expected.times[expected.times <= measures.times[-1] + 1e-9]
    contact = contact[: len(times)]
    q = sampled(measures.joint_displacements, measures.times, times)
    root = sampled(measures.root_poses, measures.times, times)
    link_poses = body.forward_kinematics(q, root)
    outline = None
    if isinstance(expected, Plan):
        errors = _measure_quadruped_errors(expected, body, figure, link_poses)
    else:
        errors = _measure_biped_errors(expected, figure, link_poses)
        outline = _compare_outlines(source, source_body or body, link_poses)
    feet = link_poses[:, soles.links]
    low = lowest(feet, soles.points, soles.edges, PATCH)
    heights = low[..., 0]
    floats = (heights > MAX_FLOAT)[contact]
    depth = max(-heights.min(), -lowest_of_links(body, link_poses).min(), 0.0)
    frames = Sampling(np.arange(len(times)), times, lambda _: Location(""))
    return RetargetComparison(
        frames=len(times),
        seconds=float(times[-1] - times[0]),
        unmatched=float(abs(expected.times[-1] - measures.times[-1])),
        reach=errors.reach,
        directions=errors.directions,
        outline=outline,
        contact_agreement=float((contact == (heights < MAX_FLOAT)).mean()),
        slide=_measure_slides(names, feet, low[..., 1:], contact),
        float_share=float(floats.mean()) if floats.size else 0.0,
        penetration=float(depth),
        joint_jumps=_count_jumps(jumps_of_joints(q, frames, body)),
        root_jumps=_count_jumps(jumps_of_root(root, frames)),
        limit_violations=_count_limit_violations(body, q),
        collision_share=_collision_share(body, q, root),
        speed_violations=_count_speed_violations(body, q, times),
    )


def _soles_of_biped(body: Body, figure: Figure) -> Soles:
    """Return the points of two feet that can touch the ground."""
    links = [figure.link_of(f"{side} ankle") for side in SIDES]
    clouds = [sole_points(body, figure, side) for side in SIDES]
    edges = np.cumsum([0, *map(len, clouds)])
    return Soles(links, np.concatenate(clouds), edges)


def _count_jumps(findings: Sequence[Finding]) -> int:
    """Return the number of sudden changes."""
    return sum(
        len(finding.moments)
        for finding in findings
        if finding.problem.rule != NOISE_RULE
    )


def _count_limit_violations(body: Body, q: Floats) -> int:
    """Return the number of frames in which a joint of `q` (T, J) is beyond a limit."""
    limits = np.empty((body.num_joints, 2))
    for column, joint in enumerate(body.joints):
        limits[column] = (-np.inf, np.inf)
        if joint.lower <= joint.upper:
            limits[column] = (joint.lower, joint.upper)
    return _count_outside(q, limits)


def _count_speed_violations(
    body: Body,
    q: Floats,
    times: Floats,
) -> int:
    """Return the number of frames in which a joint of `q` (T, J) is too fast."""
    ranges = [velocity_range(joint) for joint in body.joints]
    velocities = np.diff(q, axis=0) / np.diff(times)[:, None]
    return _count_outside(velocities, np.array(ranges).reshape(-1, 2))


def _count_outside(values: Floats, limits: Floats) -> int:
    """Return the number of frames of (T, J) in which a value is outside of (J, 2)."""
    is_below = values < limits[:, 0] - LIMIT_TOLERANCE
    is_above = values > limits[:, 1] + LIMIT_TOLERANCE
    return int((is_below | is_above).any(axis=1).sum())


def _compare_outlines(
    source: Skeleton | Motion,
    source_body: Body,
    link_poses: Floats,
) -> float:
    """Return the mean difference of the extents of a source and of a robot.

    As a share of their heights. `link_poses` (T, L, 7) are those of the robot.
    """
    if isinstance(source, Skeleton):
        joints = source.joint_positions()
    else:
        joints = measure(source_body, source).link_poses[..., :3]
    count = len(link_poses)
    difference = _extents(joints)[:count] - _extents(link_poses[..., :3])
    return float(np.abs(difference).mean())


def _extents(points: Floats) -> Floats:
    """Return the height, the largest and the smallest width (T, 3) of points.

    As a share of the height of the figure with points (T, N, 3) when it stands.
    """
    angles = np.pi / OUTLINE_DIRECTIONS * np.arange(OUTLINE_DIRECTIONS)
    along = points[..., :2] @ np.stack([np.cos(angles), np.sin(angles)])
    widths = np.ptp(along, axis=1)
    height = np.ptp(points[..., 2], axis=1)
    extents = np.column_stack([height, widths.max(axis=1), widths.min(axis=1)])
    return extents / max(float(np.quantile(height, TALL_QUANTILE)), 1e-9)


def _measure_biped_errors(
    recording: Recording,
    figure: Figure,
    link_poses: Floats,
) -> PoseErrors:
    """Return the errors of hands, feet and limbs, for poses (T, L, 7) of the links."""
    count = len(link_poses)
    points = {role: figure.locate(role, link_poses) for role in figure.points}
    expected = {role: path[:count] for role, path in recording.points.items()}
    heading = _mean_heading(recording, figure, link_poses)
    errors = PoseErrors({}, {})
    for side in SIDES:
        for parts in LIMBS.values():
            roles = [f"{side} {part}" for part in parts[:3]]
            if not (points.keys() & expected.keys()).issuperset(roles):
                continue
            goal = points[roles[0]]
            directions = recording.directions(*roles)
            for start, end, direction in zip(
                roles, roles[1:], directions, strict=False
            ):
                direction = rotations.rotate(heading, direction[:count])
                goal = goal + figure.length(start, end) * direction
                bone = points[end] - points[start]
                name = f"{start} to {end.split()[1]}"
                errors.directions[name] = _mean_angle(bone, direction)
            distances = np.linalg.norm(points[roles[-1]] - goal, axis=1)
            errors.reach[roles[-1]] = float(distances.mean())
    shoulders = [f"{side} shoulder" for side in SIDES]
    if (points.keys() & expected.keys()).issuperset(shoulders):
        direction = rotations.rotate(heading, _hips_to_shoulders(expected))
        angle = _mean_angle(_hips_to_shoulders(points), direction)
        errors.directions["hips to shoulders"] = angle
    return errors


def _mean_heading(
    recording: Recording,
    figure: Figure,
    link_poses: Floats,
) -> Floats:
    """Return the mean rotation (4,) about z from the source's pelvis to the robot's."""
    orientations = link_poses[:, figure.link_of("pelvis"), 3:]
    pelvis = rotations.multiply(orientations, part_axes(figure)["pelvis"])
    expected = recording.frames["pelvis"][: len(link_poses)]
    difference = rotations.multiply(pelvis, rotations.conjugate(expected))
    yaw = rotations.to_rpy(difference)[:, 2]
    mean_yaw = np.arctan2(np.sin(yaw).mean(), np.cos(yaw).mean())
    return rotations.from_rpy([0.0, 0.0, float(mean_yaw)])


def _hips_to_shoulders(points: Mapping[str, Floats]) -> Floats:
    """Return the sum (T, 3) [m] of the vectors from hip to shoulder of both sides."""
    left = points["left shoulder"] - points["left hip"]
    right = points["right shoulder"] - points["right hip"]
    return left + right


def _measure_quadruped_errors(
    plan: Plan,
    body: Body,
    figure: Figure,
    link_poses: Floats,
) -> PoseErrors:
    """Return the errors of four feet and the trunk for link poses (T, L, 7)."""
    count = len(link_poses)
    depths = measure_contact_depths(body, figure, link_poses)
    goals = plan.feet[:count] + depths[..., None] * [0, 0, 1]
    feet = np.stack([figure.locate(role, link_poses) for role in LEG_ENDS], axis=1)
    distances = np.linalg.norm(feet - goals, axis=2).mean(axis=0)
    trunk = figure.link_of("trunk")
    to_trunk = rotations.conjugate(figure.reference[trunk, 3:])
    level = rotations.multiply(to_trunk, level_frame(figure))
    orientations = rotations.multiply(link_poses[:, trunk, 3:], level)
    expected = rotations.from_rpy(plan.rpy[:count])
    angles = {}
    for name, axis in (("forward", [1.0, 0.0, 0.0]), ("up", [0.0, 0.0, 1.0])):
        trunk_axis = rotations.rotate(orientations, np.array(axis))
        expected_axis = rotations.rotate(expected, np.array(axis))
        angles[f"trunk {name}"] = _mean_angle(trunk_axis, expected_axis)
    return PoseErrors(dict(zip(LEG_ENDS, distances.tolist(), strict=True)), angles)


def _mean_angle(a: Floats, b: Floats) -> float:
    """Return the mean angle [rad] between vectors (T, 3)."""
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    cosines = (a * b).sum(axis=1) / np.maximum(lengths, 1e-9)
    return float(np.arccos(np.clip(cosines, -1, 1)).mean())


def _measure_slides(
    names: Sequence[str],
    feet: Floats,
    points: Floats,
    contact: Bools,
) -> dict[str, float]:
    """Return by foot the path [m] along the ground of what touches it, in contact.

    `points` (T, K, 3) of feet at poses (T, K, 7) are what touches the ground; `contact`
    (T, K).
    """
    to_feet = rotations.conjugate(feet[..., 3:])
    in_feet = rotations.rotate(to_feet, points - feet[..., :3])
    # Of what touches before, and what touches after, the one that moves less.
    steps = np.minimum(
        _level_steps(feet, in_feet[:-1]), _level_steps(feet, in_feet[1:])
    )
    stays = contact[1:] & contact[:-1]
    slides = {}
    for foot, name in enumerate(names):
        slides[name] = float(np.where(stays[:, foot], steps[:, foot], 0.0).sum())
    return slides


def _level_steps(feet: Floats, points: Floats) -> Floats:
    """Return how far (T − 1, K) [m] points move along the ground in each step.

    `feet` (T, K, 7) are poses, `points` (T − 1, K, 3) are in their frames.
    """
    before = feet[:-1, :, :3] + rotations.rotate(feet[:-1, :, 3:], points)
    after = feet[1:, :, :3] + rotations.rotate(feet[1:, :, 3:], points)
    return np.asarray(np.linalg.norm((after - before)[..., :2], axis=-1))


def _collision_share(
    body: Body,
    q: Floats,
    root: Floats,
) -> float | None:
    """Return the share of frames, evenly spread, in which links of the body collide.

    None where that cannot be found out.
    """
    from bodymotion.checks.physics.collisions import find_collisions

    rows = np.unique(np.linspace(0, len(q) - 1, COLLISION_FRAMES).astype(int))
    try:
        collisions = find_collisions(body, q[rows], root[rows])
    except (ImportError, ValueError):
        return None
    return len(np.unique(collisions.frames)) / len(rows)
