"""Compare a motion of a robot with its source.

In figures (`compare_retarget`), and in a view (`side_by_side`).

With d the directions of the source's limbs, L the lengths of the robot's, and its
shoulder or hip s, the goal of a hand or foot is s + Σ L·d; its reach is the distance
from there. Of a quadruped, goals of the feet, contact, and the directions of the trunk
are planned (`retargeting.quadruped`). A foot slides by the path along the ground of
what touches it while the source's foot is in contact (`retargeting.source` defines
when), and it floats while it is more than `MAX_FLOAT` above the ground then.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from bodymotion.checks.findings import Sampling
from bodymotion.checks.physics.sudden import jumps_of_joints, jumps_of_root
from bodymotion.diagnostics import Location, ShortRepr
from bodymotion.dynamics import measure
from bodymotion.formats.resources import missing_files
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.shapes import Shape
from bodymotion.kernels.feet import lowest
from bodymotion.model.body import Body
from bodymotion.model.links import Joint, Segment, velocity_range
from bodymotion.model.scaling import scale
from bodymotion.model.stick_figure import drawn_shapes
from bodymotion.motion import Motion, MultiSE3Seq, Timeline
from bodymotion.motion.components import LINK_POSITION
from bodymotion.motion.interpolation import sampled
from bodymotion.retargeting.feet import PATCH
from bodymotion.retargeting.quadruped import (
    Plan,
    contact_depths,
    level_frame,
    planned,
    soles_of,
    stand_of,
)
from bodymotion.retargeting.roles import (
    LEG_ENDS,
    LEGS,
    LIMBS,
    SIDES,
    Figure,
    figure_of_body,
)
from bodymotion.retargeting.skeletons import Recorded, with_body
from bodymotion.retargeting.source import (
    Recording,
    lowest_of_links,
    moving_figure,
    part_axes,
    recorded,
    sole_points,
)
from bodymotion.skeleton import Skeleton

COLLISION_FRAMES = 300  # Maximum number of frames that are checked for collisions.
MAX_FLOAT = 0.01  # [m]
MAX_UNMATCHED = (
    0.1  # [s] A smaller difference in length is not shown; keyframes are less apart.
)
OUTLINE_DIRECTIONS = 12
"""Level directions in which the widths of figures are measured."""
APART = 0.55  # Of the sum of their heights: how far they are apart.

Errors: TypeAlias = tuple[
    dict[str, float], dict[str, float]
]  # Of positions [m] and of directions [rad], by name.


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
        beyond = self.limit_violations
        fast = self.speed_violations
        floats = 100 * self.float_share
        rest = f"; source and motion differ in length by {self.unmatched:.2f} s, which are not compared"
        rows = [
            (
                "frames",
                f"{self.frames} in {self.seconds:.2f} "
                f"s{rest if self.unmatched > MAX_UNMATCHED else ''}",
            ),
            *(
                ("reach", f"{name} within {1e3 * far:.1f} mm on average")
                for name, far in self.reach.items()
            ),
            *(
                ("direction", f"{name} {np.degrees(a):.1f}° on average")
                for name, a in self.directions.items()
            ),
            (
                "contact",
                f"agrees in {100 * self.contact_agreement:.1f} % of the frames",
            ),
            *(
                ("foot slide", f"{name} {1e3 * way:.0f} mm in all")
                for name, way in self.slide.items()
            ),
            (
                "float",
                f"{floats:.1f} % of the frames with contact, by more than "
                f"{1e3 * MAX_FLOAT:g} mm",
            ),
            ("penetration", f"{1e3 * self.penetration:.1f} mm at most"),
            ("jumps", f"{self.joint_jumps} of joints, {self.root_jumps} of the root"),
            (
                "limits",
                f"{beyond} frames beyond a position limit, {fast} a velocity limit",
            ),
        ]
        if self.outline is not None:
            share = f"{100 * self.outline:.1f} % of the height on average"
            rows.append(("outline", f"height and widths differ by {share}"))
        if self.collision_share is not None:
            rows.append(
                (
                    "collisions",
                    f"links overlap in {100 * self.collision_share:.1f} % of the "
                    "frames",
                )
            )
        return "".join(f"{name:<13}{text}\n" for name, text in rows)


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
    done: Recording | Plan
    if figure.is_quadruped:
        done = planned(source, source_body, source_roles, stand_of(figure))
        names, on, (links, cloud, edges) = LEGS, done.contact, soles_of(body, figure)
    else:
        done = recorded(source, source_body, source_roles)
        names = SIDES
        on = done.on_ground
        links = [figure.points[f"{side} ankle"][0] for side in SIDES]
        clouds = [sole_points(body, figure, side) for side in SIDES]
        cloud = np.concatenate(clouds)
        edges = np.cumsum([0, *map(len, clouds)])
    found = measure(body, motion, feet=links)
    times = done.times[done.times <= found.times[-1] + 1e-9]
    count = len(times)
    q = sampled(found.joint_displacements, found.times, times)
    root = sampled(found.root_poses, found.times, times)
    placed = body.forward_kinematics(q, root)
    if isinstance(done, Plan):
        errors = _leg_errors(done, body, figure, placed)
    else:
        errors = _limb_errors(done, figure, placed)
    contact = on[:count]
    low = lowest(placed[:, links], cloud, edges, PATCH)
    height = low[..., 0]
    steps = _slides(placed[:, links], low[..., 1:])
    both = contact[1:] & contact[:-1]
    limits = np.array(
        [
            (j.lower, j.upper) if j.lower <= j.upper else (-np.inf, np.inf)
            for j in body.joints
        ]
    )
    speeds = np.array([velocity_range(joint) for joint in body.joints]).reshape(-1, 2)
    rate = np.diff(q, axis=0) / np.diff(times)[:, None]
    frames = Sampling(np.arange(count), times, lambda _: Location(""))
    jumps = jumps_of_joints(q, frames, body), jumps_of_root(root, frames)
    counts = [
        sum(len(one.moments) for one in some if one.problem.rule != "MOT307")
        for some in jumps
    ]
    return RetargetComparison(
        frames=count,
        seconds=float(times[-1] - times[0]),
        unmatched=float(abs(done.times[-1] - found.times[-1])),
        reach=errors[0],
        directions=errors[1],
        outline=_outline_difference(source, source_body, body, placed)
        if isinstance(done, Recording)
        else None,
        contact_agreement=float((contact == (height < MAX_FLOAT)).mean()),
        slide={
            name: float(np.where(both[:, k], steps[:, k], 0.0).sum())
            for k, name in enumerate(names)
        },
        float_share=float((height > MAX_FLOAT)[contact].mean())
        if contact.any()
        else 0.0,
        penetration=float(
            max(-height.min(), -lowest_of_links(body, placed).min(), 0.0)
        ),
        joint_jumps=counts[0],
        root_jumps=counts[1],
        limit_violations=int(
            ((q < limits[:, 0] - 1e-6) | (q > limits[:, 1] + 1e-6)).any(axis=1).sum()
        ),
        collision_share=_collision_share(body, q, root),
        speed_violations=int(
            ((rate < speeds[:, 0] - 1e-6) | (rate > speeds[:, 1] + 1e-6))
            .any(axis=1)
            .sum()
        ),
    )


def _outline_difference(
    source: Skeleton | Motion, source_body: Body | None, body: Body, placed: Floats
) -> float:
    """Return the mean difference of the extents of a source and of a robot with links at poses (T, L, 7), as a share of their heights."""
    joints = _joint_positions(source, source_body or body)
    extents = [_extents(points) for points in (joints, placed[..., :3])]
    shares = [one / max(float(np.quantile(one[:, 0], 0.95)), 1e-9) for one in extents]
    count = len(placed)
    return float(np.abs(shares[0][:count] - shares[1]).mean())


def _joint_positions(source: Skeleton | Motion, body: Body) -> Floats:
    """Return the positions (T, N, 3) [m] of the joints of a skeleton, or of the links of a body that moves."""
    if isinstance(source, Skeleton):
        return source.joint_positions()
    return measure(body, source).link_poses[..., :3]


def _extents(points: Floats) -> Floats:
    """Return the height, the largest and the smallest width (T, 3) [m] of points (T, N, 3)."""
    angles = np.pi / OUTLINE_DIRECTIONS * np.arange(OUTLINE_DIRECTIONS)
    along = points[..., :2] @ np.stack([np.cos(angles), np.sin(angles)])
    widths = np.ptp(along, axis=1)
    height = np.ptp(points[..., 2], axis=1)
    return np.column_stack([height, widths.max(axis=1), widths.min(axis=1)])


def _limb_errors(recording: Recording, figure: Figure, placed: Floats) -> Errors:
    """Return the distances [m] of hands and feet from their goals, and the angles [rad] of limbs, for poses (T, L, 7) of the links."""
    count = len(placed)
    points = {role: figure.at(role, placed) for role in figure.points}
    pelvis = rotations.multiply(
        placed[:, figure.points["pelvis"][0], 3:], part_axes(figure)["pelvis"]
    )
    yaw = rotations.to_rpy(
        rotations.multiply(
            pelvis, rotations.conjugate(recording.frames["pelvis"][:count])
        )
    )[:, 2]
    heading = rotations.from_rpy(
        [0.0, 0.0, float(np.arctan2(np.sin(yaw).mean(), np.cos(yaw).mean()))]
    )
    reach = {}
    directions = {}
    for side in SIDES:
        for limb in LIMBS.values():
            roles_of = [f"{side} {part}" for part in limb[:3]]
            if not all(
                role in points and role in recording.points for role in roles_of
            ):
                continue
            goal = points[roles_of[0]]
            for start, end, along in zip(
                roles_of, roles_of[1:], recording.directions(*roles_of), strict=False
            ):
                way = rotations.rotate(heading, along[:count])
                own = points[end] - points[start]
                goal = goal + figure.length(start, end) * way
                directions[f"{start} to {end.split()[1]}"] = _mean_angle(own, way)
            reach[roles_of[-1]] = float(
                np.linalg.norm(points[roles_of[-1]] - goal, axis=1).mean()
            )
    if all(
        f"{side} shoulder" in where
        for side in SIDES
        for where in (points, recording.points)
    ):
        own, way = (
            sum(
                (
                    where[f"{side} shoulder"][:count] - where[f"{side} hip"][:count]
                    for side in SIDES
                ),
                np.zeros(3),
            )
            for where in (points, recording.points)
        )
        directions["hips to shoulders"] = _mean_angle(
            own, rotations.rotate(heading, way)
        )
    return reach, directions


def _leg_errors(plan: Plan, body: Body, figure: Figure, placed: Floats) -> Errors:
    """Return the distances [m] of four feet from the plan, and the angles [rad] of the trunk, for poses (T, L, 7) of the links."""
    count = len(placed)
    trunk = figure.points["trunk"][0]
    goals = plan.feet[:count] + contact_depths(body, figure, placed)[..., None] * [
        0,
        0,
        1,
    ]
    away = np.stack([figure.at(f"{leg} foot", placed) for leg in LEGS], axis=1) - goals
    level = rotations.multiply(
        rotations.conjugate(figure.reference[trunk, 3:]), level_frame(figure)
    )
    own = rotations.multiply(placed[:, trunk, 3:], level)
    way = rotations.from_rpy(plan.rpy[:count])
    axes = {
        "trunk forward": np.array([1.0, 0.0, 0.0]),
        "trunk up": np.array([0.0, 0.0, 1.0]),
    }
    angles = {
        name: _mean_angle(*(rotations.rotate(one, axis) for one in (own, way)))
        for name, axis in axes.items()
    }
    return dict(
        zip(LEG_ENDS, np.linalg.norm(away, axis=2).mean(axis=0).tolist(), strict=True)
    ), angles


def _mean_angle(a: Floats, b: Floats) -> float:
    """Return the mean angle [rad] between vectors (T, 3)."""
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    return float(
        np.arccos(
            np.clip((a * b).sum(axis=1) / np.maximum(lengths, 1e-9), -1, 1)
        ).mean()
    )


def _slides(feet: Floats, points: Floats) -> Floats:
    """Return the paths (T − 1, K) [m] along the ground, from frame to frame, of the points (T, K, 3) of feet (T, K, 7) that touch it."""
    inside = rotations.rotate(
        rotations.conjugate(feet[..., 3:]), points - feet[..., :3]
    )
    ways = []
    for at in (inside[:-1], inside[1:]):  # what touches before, and what touches after
        before, after = (
            placed[..., :3] + rotations.rotate(placed[..., 3:], at)
            for placed in (feet[:-1], feet[1:])
        )
        ways.append(np.linalg.norm((after - before)[..., :2], axis=-1))
    return np.asarray(np.minimum(*ways))


def _collision_share(body: Body, q: Floats, root: Floats) -> float | None:
    """Return the share of frames, evenly spread, in which links of the body collide.

    None where that cannot be found out.
    """
    from bodymotion.checks.physics.collisions import find_collisions

    rows = np.unique(np.linspace(0, len(q) - 1, COLLISION_FRAMES).astype(int))
    try:
        found = find_collisions(body, q[rows], root[rows])
    except (ImportError, ValueError):
        return None
    return len(np.unique(found.frames)) / len(rows)


def side_by_side(
    source: Recorded,
    body: Body,
    motion: Motion,
    *,
    source_body: Body | None = None,
    roles: Mapping[str, str] | None = None,
    source_roles: Mapping[str, str] | None = None,
) -> tuple[Body, Motion]:
    """Return a body with the links of a source and of a robot, and its motion.

    `bm.view(*bm.side_by_side(person, robot, motion))`.

    The source is left of the robot, in its heading and size, so that their paths are
    equal. Parameters and errors: `compare_retarget`.
    """
    source, source_body = with_body(source, source_body)
    robot = figure_of_body(body, roles)
    figure, joints, timeline = moving_figure(source, source_body, source_roles)
    person, moved = (
        source.body_and_motion()
        if isinstance(source, Skeleton)
        else (source_body or body, source)
    )
    found = measure(body, motion)
    other = measure(person, moved)
    leg = "left hip", "left knee", "left ankle"
    own_size, size = (
        stand_of(one)[0] if one.is_quadruped else one.length(*leg)
        for one in (robot, figure)
    )
    if robot.is_quadruped and not figure.is_quadruped:
        size = float(
            figure.rest["left hip"][2] - min(at[2] for at in figure.rest.values())
        )
    own = _lateral(robot, found.link_poses)
    way = _lateral(figure, np.array(sampled(joints, timeline.times, found.times)))
    yaw = np.arctan2(np.cross(way, own)[:, 2].sum(), (way * own).sum())
    shown = np.array(sampled(other.link_poses, other.times, found.times)) * (
        [own_size / size] * 3 + [1.0] * 4
    )
    shown = poses.compose(
        np.array([0.0, 0.0, 0.0, *rotations.from_rpy([0.0, 0.0, float(yaw)])]), shown
    )
    tall = float(np.ptp(found.link_poses[0, :, 2]) + np.ptp(shown[0, :, 2]))
    place = found.link_poses[0, :, :2].mean(axis=0) - shown[0, :, :2].mean(axis=0)
    shown[..., :2] += place + APART * tall * own[0, :2] / max(
        float(np.linalg.norm(own[0])), 1e-9
    )
    placed = np.concatenate([shown, found.link_poses], axis=1)
    drawn: list[tuple[Shape, ...]] = []
    for shown_body in (scale(person, own_size / size), body):
        drawn += drawn_shapes(shown_body, are_missing=bool(missing_files(shown_body)))
    links = [
        replace(
            link,
            index=k,
            parent=-1 if k == 0 else 0,
            name=f"source {link.name}" if k < len(person.links) else link.name,
            offset=placed[0, k] if k else link.offset,
            joint=Joint(name=f"{k}", type="fixed"),
            segments=(Segment(name=link.name, visuals=shapes),),
        )
        for k, (link, shapes) in enumerate(
            zip((*person.links, *body.links), drawn, strict=True)
        )
    ]
    both = Body(
        name=f"source and {body.name or 'robot'}",
        links=tuple(links),
        environment=body.environment,
    )
    timeline = found.timeline or Timeline.stamped(found.times)
    return both, Motion(
        components=(
            MultiSE3Seq(content=LINK_POSITION, timeline=timeline, values=placed),
        )
    )


def _lateral(figure: Figure, placed: Floats) -> Floats:
    """Return the ways (T, 3) [m] along the ground from right to left hips, for poses (T, N, 7) of the joints."""
    ends = ("front ", "hind ") if figure.is_quadruped else ("",)
    ways = [
        figure.at(f"{end}left hip", placed) - figure.at(f"{end}right hip", placed)
        for end in ends
    ]
    return np.asarray(sum(ways) * np.array([1.0, 1.0, 0.0]))
