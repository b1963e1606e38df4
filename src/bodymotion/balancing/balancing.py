"""Change a motion so that the zero moment point stays in the support polygon and feet in contact do not move."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from bodymotion.balancing.planning import plan_center
from bodymotion.balancing.stance import FootPlan, plan_feet, support_edges
from bodymotion.diagnostics import ShortRepr, WrongUseError
from bodymotion.dynamics import Measures, measure
from bodymotion.dynamics.contacts import longest_slip
from bodymotion.dynamics.differentiation import derivatives
from bodymotion.editing.retiming import speed_shares, stretched
from bodymotion.editing.rules import NOT_EDITED
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Bools, Floats, check_memory, median_step, runs
from bodymotion.kernels.feet import lowest
from bodymotion.kernels.inverse_kinematics import CENTER, POSE
from bodymotion.model.body import Body
from bodymotion.model.closed_loops import close_loops
from bodymotion.model.ik import TaskList, search_space, solve
from bodymotion.model.links import effort_range
from bodymotion.motion import Motion, MultiSE3Seq, MultiValueSeq, Timeline, Vector3Seq
from bodymotion.motion.components import JOINT_DISPLACEMENT, LINK_POSITION, ZMP
from bodymotion.motion.interpolation.lowpass import (
    all_low_passed,
    bump,
    gaussian,
    inner_shares,
    smooth_bound,
)

MAX_ITERATIONS = 6  # Of plan and postures: each plan uses the inverse dynamics of the postures before.
CENTER_TOLERANCE = (
    2e-4  # [m] The path of the centre of mass is found when it changes by less.
)
SAFE_MARGIN = 0.01  # [m] Frames with a smaller stability margin are reported.
REST_SPEED = (
    0.05  # [m/s] A motion whose centre of mass is slower at an end is at rest there.
)
ZMP_CUTOFF = 8.0  # [Hz] of the low-pass filter of the zero moment point: what is faster does not tilt a body, and is not balanced.
ROOT_CUTOFF = 3.0  # [Hz] of the low-pass filter of the root of a motion without root poses, which follows the feet with all their noise.
HEIGHT_CUTOFF = 4.0  # [Hz] of the low-pass filter of the height of the centre of mass.
MAX_OFFSET = 0.15  # [m] Maximum that links moving about the centre of mass add to the zero moment point.
END_FRAMES = 2  # Frames at both ends whose accelerations are not reliable.
MIN_LOWERING, MAX_LOWERING = 2e-4, 0.03
"""[m] Where legs are too short for the height of the centre of mass by the first, it is planned lower, by twice the second at most."""
LOWERING_TIME = (
    0.5  # [s] over which it is lowered: if it falls fast, feet carry little.
)
MAX_MISS = 1e-3  # [m] Feet and centre of mass that are further from where they should be are reported.
MIN_FILTERED = 3  # Shorter clips, in frames, are not filtered.
FRAME_SIZE, LINK_SIZE = (
    5000,
    1000,
)  # [bytes] For each frame of the plan and, for each link, of the measures, about.
MIN_REPORTED = 5e-5  # [rad or m] Joints that change by less are not listed.
MAX_SLOWER, MAX_SLOWER_ONCE = 3, 1.5
"""So often a motion is made slower, since joints are faster where feet and balance need it, and for balance by this factor each time."""
EFFORT_SHARE = 0.98  # Of the efforts of motors: torques are filtered before they are compared with it.
MAX_FORCE_SHARE = 0.05  # Of the weight: a larger force in the air is reported.
MAX_FACTOR = 100  # A motion that had to be made slower by more has a jump.
EASING_TIME = (
    0.2  # [s] A motion slows down over this time before a joint would be too fast.
)

# The search for postures.
MAX_STEPS = 200
FOOT_WEIGHT = (
    100.0  # [1/m, 1/rad] Of the poses of feet and the horizontal centre of mass.
)
HEIGHT_WEIGHT = 1.0  # [1/m] Of the height of the centre of mass.
ROOT_WEIGHT = 5.0  # [1/rad] Of the orientation of the root.
LEG_WEIGHT, OTHER_WEIGHT = 1e-3, 0.2
"""Of the difference to the old joint values: legs move freely, other joints only where legs are not enough."""
NOMINAL_SHARE = 0.3  # How far the search begins from the old joints towards their mean.
HALF_FOOT = 0.1
"""[m] The error of a foot's rotation counts as the distance that a point at this distance from its middle moves."""


@dataclass(frozen=True, kw_only=True)
class BalanceReport(ShortRepr):
    """The changes of a motion, and the problems that remain.

    Attributes
    ----------
    seconds, frames:
        Length of the new motion.
    safe_before, safe_after:
        Share of the frames with a stability margin of at least 10 mm.
    margin_before, margin_after:
        [m] The minimum stability margin.
    slip_before, slip_after:
        [m] The longest slip of a foot in one stance phase.
    center_shift:
        [m] The largest shift of the centre of mass, and its time [s].
    feet, joints:
        By the names of changed links and joints: the largest change [m; rad or m], and its time [s].
    sliding:
        The names of joints whose change is in metres.
    slowed:
        Begin and end [s] of slowed parts, in the motion before that step, and the largest factor.
    remaining:
        The problems that could not be fixed.
    """

    seconds: float
    frames: int
    safe_before: float
    safe_after: float
    margin_before: float
    margin_after: float
    slip_before: float
    slip_after: float
    center_shift: tuple[float, float]
    feet: dict[str, tuple[float, float]]
    joints: dict[str, tuple[float, float]]
    sliding: tuple[str, ...] = ()
    slowed: tuple[tuple[float, float, float], ...] = ()
    remaining: tuple[str, ...] = ()

    def __str__(self) -> str:
        safe, safe_now = 100 * self.safe_before, 100 * self.safe_after
        margin, margin_now = 1e3 * self.margin_before, 1e3 * self.margin_after
        rows = [
            ("frames", f"{self.frames} in {self.seconds:.3f} s"),
            (
                "safe frames",
                f"{safe:.1f} % before, {safe_now:.1f} % now (margin of 10 mm)",
            ),
            (
                "stability margin",
                f"{margin:.1f} mm at least before, {margin_now:.1f} mm now",
            ),
            (
                "foot slip",
                f"{1e3 * self.slip_before:.2f} mm at most before, {1e3 * self.slip_after:.2f} mm now",
            ),
        ]
        moved = {
            "centre of mass": self.center_shift,
            **{f"foot {name}": shift for name, shift in self.feet.items()},
        }
        rows += [
            (name, f"moved by up to {1e3 * much:.1f} mm at {at:.2f} s")
            for name, (much, at) in moved.items()
        ]
        for name, (much, at) in self.joints.items():
            unit = "m" if name in self.sliding else "rad"
            rows.append(
                (f"joint {name}", f"changed by up to {much:.4f} {unit} at {at:.2f} s")
            )
        rows += [
            ("slower", f"{a:.2f} s to {b:.2f} s, by up to {factor:.2f}")
            for a, b, factor in self.slowed
        ]
        rows += [("not fixed", text) for text in self.remaining]
        width = max(len(name) for name, _ in rows) + 2
        return "".join(f"{name:<{width}}{text}\n" for name, text in rows)


@dataclass(frozen=True, eq=False)
class BalancedMotion(Motion):
    """A motion, and in `report` what balancing changed."""

    report: BalanceReport = field(compare=False, kw_only=True)


def balance(
    body: Body,
    motion: Motion,
    *,
    margin: float = 0.07,
    feet: Sequence[int | str] | None = None,
    ground: float | None = None,
    limits: bool = True,
    acceleration: float = np.inf,
) -> BalancedMotion:
    """Return the motion nearest to another one that keeps the zero moment point in the support polygon.

    Feet in contact are pinned, flat on the ground, with swings that fit. The path of the centre of mass keeps the zero moment point of the
    whole body in the support polygon, as near to the old path as possible: one quadratic programme over all frames (`planning`), repeated
    with the inverse dynamics of its result. Inverse kinematics of each frame keeps feet, centre of mass and the orientation of the root,
    within the limits of the joints, and changes other joints as little as possible (`posture`). In the air the centre of mass moves
    straight on; its height there, and rotations, are as before. A motion stays as it is where 99 % of its frames have the wanted margin
    less 10 mm, and feet slip by no more than 1 mm.

    Parameters
    ----------
    margin:
        [m] Minimum distance of the zero moment point from each edge of the support polygon; at most 80 % of that of its middle.
    feet, ground:
        The links that may be in contact, and the height of the ground [m]; by default as `bodymotion.dynamics.measure` finds them.
    limits:
        Slow the motion down where its joints exceed their velocity limits, or where it is too fast to be balanced, or for the torques
        that its motors have. Torques that a posture needs at rest are only reported.
    acceleration:
        [rad/s² or m/s²] The motion is slowed down where a joint exceeds it, too.

    Returns
    -------
    BalancedMotion
        With joint displacements, the pose of the root, the zero moment point, and the other components of the motion, which stay
        as they are: `problems` lists them. `report` has what was changed, and what could not be fixed.

    Raises
    ------
    ImportError
        Without the extra `opt`.
    ValueError
        When the motion does not fit the body, has numbers that are not finite or less than five frames, or the body cannot balance:
        its root is fixed, it has no mass, no feet, or crawlers.
    """
    if not 0 <= margin < np.inf:
        raise WrongUseError(
            f"margin: expected a finite distance of at least 0, got {margin:g}"
        )
    if not acceleration > 0:
        raise WrongUseError(
            f"acceleration: expected a limit above 0, got {acceleration:g}"
        )
    slowed: tuple[tuple[float, float, float], ...] = ()
    now = old = original = _measured(body, motion, feet, ground)
    for number in range(1 + MAX_SLOWER * limits):
        factor = (
            _excess_speed(now, acceleration if number else np.inf)
            if limits
            else np.ones(1)
        )
        if number:
            factor = np.maximum(
                factor, np.maximum(_excess_acceleration(now), _excess_torque(now))
            )
        if factor.max() > 1.0 + 1e-6:
            motion, parts = _slower(motion, now.times, factor)
            slowed += parts
            old = _measured(body, motion, feet, ground)
        elif number:
            break
        # What is faster than a body tilts is mostly the noise of a file.
        cutoff = ROOT_CUTOFF if old.motion.link_position is None else ZMP_CUTOFF
        root = smoothed(old.root_poses, old.times, cutoff, are_poses=True)
        smooth = smoothed(old.joint_displacements, old.times, ZMP_CUTOFF), root
        plan = plan_feet(old, body.forward_kinematics(*smooth))
        missed, now = _balanced(old, smooth, plan, margin)
    report = _report(original, old, now, plan, missed, slowed, acceleration)
    return _result(motion, old, now, report)


def _measured(
    body: Body, motion: Motion, feet: Sequence[int | str] | None, ground: float | None
) -> Measures:
    """Return the measures of a motion that can be balanced; raise MemoryError or ValueError for others."""
    frames = max((component.num_frames for component in motion.timed), default=0)
    check_memory(
        frames * (FRAME_SIZE + LINK_SIZE * len(body.links)),
        f"balancing {frames} frames",
    )
    found = measure(body, motion, feet=feet, ground=ground)
    name = body.name or "the body"
    if body.is_mounted or not body.mass:
        raise ValueError(f"{name} cannot balance: its root is fixed, or it has no mass")
    if not found.feet.links or any(found.contacts.crawls):
        raise ValueError(
            f"{name} has no feet in this motion; name those that touch the ground: feet=[…] or --feet"
        )
    if len(found.times) < 5:
        raise ValueError(
            f"balancing needs five frames or more; the motion has {len(found.times)}"
        )
    if not (
        np.isfinite(found.joint_displacements).all()
        and np.isfinite(found.root_poses).all()
    ):
        raise ValueError(
            "balancing needs finite numbers; fill the gaps first (`edit --fill-gaps`)"
        )
    return found


def _balanced(
    old: Measures, before: tuple[Floats, Floats], plan: FootPlan, margin: float
) -> tuple[Floats, Measures]:
    """Return the misses (T,) [m] and the measures of the best iteration, or of the old motion where none is better."""
    body, times, ground = old.body, old.times, old.ground
    polygons, numbers = support_edges(plan, old, margin)
    smooth = body.center_of_mass(body.forward_kinematics(*before))
    smooth[:, 2:] = smoothed(smooth[:, 2:], times, HEIGHT_CUTOFF)
    # In the air the centre of mass falls freely, so that its height is planned, too.
    air = np.asarray(~plan.contact.any(axis=1))
    planned = slice(0, 3 if air.any() else 2)
    wish, center, acceleration = (
        np.array(smooth),
        np.array(smooth),
        derivatives(smooth, times)[1],
    )
    speed = np.linalg.norm(old.center_of_mass_velocity, axis=1)
    at_rest = bool(speed[0] < REST_SPEED), bool(speed[-1] < REST_SPEED)
    q, root, now = *before, old
    kept = np.where(plan.contact, plan.shifts, 0.0).max(axis=1), old
    best, low = kept, np.zeros(1)
    points = zip(numbers, _smooth_zmp(old), strict=True)
    inside = [
        (polygons[k][1] - polygons[k][0] @ point).min() for k, point in points if k >= 0
    ]
    if (
        _score(old, kept[0])[0] == 1
        and np.quantile(inside, 0.01) >= -SAFE_MARGIN
        and longest_slip(old.contacts, old.times) <= MAX_MISS
    ):
        return kept
    for number in range(MAX_ITERATIONS):
        path, rate = now.center_of_mass, now.center_of_mass_acceleration
        fall = np.maximum(rate[:, 2] - now.gravity[2], 0.1 * -now.gravity[2])
        pendulum = smoothed(((path[:, 2] - ground) / fall)[:, None], times, ZMP_CUTOFF)
        offset = np.nan_to_num(now.zmp[:, :2] - path[:, :2] + pendulum * rate[:, :2])
        inner = np.clip(np.arange(len(times)), END_FRAMES, len(times) - 1 - END_FRAMES)
        offset = smoothed(
            np.clip(offset[inner], -MAX_OFFSET, MAX_OFFSET), times, ZMP_CUTOFF
        )
        old_path = wish[:, planned], acceleration[:, planned]
        wanted = plan_center(
            times, *old_path, offset, pendulum[:, 0], polygons, numbers, at_rest
        )
        change = np.abs(wanted - center[:, planned]).max()
        if number and change < CENTER_TOLERANCE and low.max() <= MIN_LOWERING:
            break
        center[:, 2], center[:, planned] = wish[:, 2], wanted
        root = np.concatenate(
            (root[:, :2] + (wanted - path[:, planned])[:, :2], root[:, 2:]), axis=1
        )
        lifted = replace(
            plan, targets=_lifted(plan.targets, center[:, 2] - smooth[:, 2], air)
        )
        q, root, missed = solve_postures(body, lifted, center, before, (q, root))
        if body.extra_joints:
            q = close_loops(body, q).q
        now = measure(
            body,
            Motion.from_joints(q, times=times, root=root),
            feet=plan.links,
            ground=ground,
        )
        low = np.clip(center[:, 2] - now.center_of_mass[:, 2], 0.0, MAX_LOWERING)
        if low.max() > MIN_LOWERING:
            lowered = wish[:, 2] - eased(2.0 * low, times, LOWERING_TIME)
            wish[:, 2] = np.maximum(lowered, smooth[:, 2] - 2.0 * MAX_LOWERING)
        if not number or _score(now, missed) > _score(best[1], best[0]):
            best = missed, now
    (share, now_margin), (old_share, old_margin) = (
        _score(measures, misses) for misses, measures in (best, kept)
    )
    return (
        best
        if (share, now_margin) >= (old_share, min(old_margin, SAFE_MARGIN))
        else kept
    )


def _lifted(targets: Floats, change: Floats, air: Bools) -> Floats:
    """Return the poses (T, K, 7) of feet that follow the change (T,) [m] of the height of the centre of mass in each flight."""
    targets = np.array(targets)
    for a, b in runs(air):
        share = inner_shares(b - a)
        more = (change[a:b] - (1.0 - share) * change[a] - share * change[b - 1]).max()
        targets[a:b, :, 2] += (max(more, 0.0) * bump(share))[:, None]
    return targets


def _score(now: Measures, missed: Floats) -> tuple[float, float]:
    """Return the share of frames that are as they should be, and the minimum margin [m]; more is better."""
    limits = np.array(
        [joint.lower <= joint.upper for joint in now.body.joints], dtype=bool
    )
    inside = (now.limit_distances[:, limits] >= -1e-6).all(axis=1)
    carried = np.where(_falls(now), np.nan, now.stability_margin)
    good = (_falls(now) | (carried >= SAFE_MARGIN)) & (missed < MAX_MISS) & inside
    return float(np.mean(good)), float(np.nan_to_num(_minimum(carried), nan=-np.inf))


def _held(now: Measures) -> Floats:
    """Return the force [1] and the moment about the centre of mass [m] (T, 2) that hold the robot, as parts of its weight."""
    force, moment = np.split(now.root_wrench, 2, axis=1)
    moment = moment - np.cross(now.center_of_mass - now.root_poses[:, :3], force)
    weight = now.body.mass * float(np.linalg.norm(now.gravity))
    return (
        np.stack([np.linalg.norm(part, axis=1) for part in (force, moment)], axis=1)
        / weight
    )


def _falls(now: Measures) -> Bools:
    """Return where (T,) the robot falls freely: nothing holds it. Accelerations of the frames next to these are not reliable."""
    free = (_held(now) <= [MAX_FORCE_SHARE, SAFE_MARGIN]).all(axis=1)
    return np.convolve(free, np.ones(1 + 2 * END_FRAMES))[END_FRAMES:-END_FRAMES] > 0


def smoothed(
    values: Floats, times: Floats, cutoff: float, *, are_poses: bool = False
) -> Floats:
    """Return values (T, …) without what is faster than a cutoff [Hz]; as they are below 3 frames."""
    if len(times) < MIN_FILTERED:
        return values
    weights = gaussian(
        float(np.clip(cutoff * median_step(times), 1.0 / len(values), 0.5))
    )
    return all_low_passed(values, weights, poses=are_poses)


def _known_zmp(now: Measures) -> Floats:
    """Return the zero moment point (T, 3) [m], with straight lines where nothing is in contact."""
    zmp, known = now.zmp.copy(), np.isfinite(now.zmp).all(axis=1)
    for k in range(3):
        zmp[:, k] = (
            np.interp(now.times, now.times[known], now.zmp[known, k])
            if known.any()
            else 0.0
        )
    return zmp


def _smooth_zmp(now: Measures) -> Floats:
    """Return x and y (T, 2) [m] of the zero moment point without what is faster than a body tilts."""
    return smoothed(_known_zmp(now)[:, :2], now.times, ZMP_CUTOFF)


def eased(values: Floats, times: Floats, seconds: float = EASING_TIME) -> Floats:
    """Return smooth values (T,) that are nowhere below `values`, and rise `seconds` before them."""
    if len(times) < MIN_FILTERED:
        return values
    return smooth_bound(
        values, int(np.clip(seconds / median_step(times) + 0.5, 1, len(times)))
    )


def _excess_speed(now: Measures, acceleration: float) -> Floats:
    """Return by which factor (T,) joints must be slower for their velocity limits and the acceleration, 1 where they keep them."""
    ratio = speed_shares(now.body, now.joint_velocities)
    ratio[np.isinf(ratio)] = (
        0.0  # A limit of 0 cannot be reached by slowing down; it is reported.
    )
    if ratio.max(initial=0.0) > MAX_FACTOR:
        frame, column = np.unravel_index(ratio.argmax(), ratio.shape)
        raise ValueError(
            f"joint {now.body.joints[column].name!r} is {ratio.max():.3g} times as fast as its velocity limit at {now.times[frame]:.3f} s, "
            f"expected a jump of no more than {MAX_FACTOR} times; remove jumps first, or use limits=False (--no-limits)"
        )
    sudden = np.sqrt(
        np.abs(now.joint_accelerations).max(axis=1, initial=0.0) / acceleration
    )
    return np.asarray(np.maximum(ratio.max(axis=1, initial=1.0), sudden))


def _excess_torque(now: Measures) -> Floats:
    """Return by which factor (T,) a motion must be slower for the torques of its motors, 1 where they are enough.

    At half the speed, what moving adds to the torques that the postures need at rest is a quarter. Where these are too large
    themselves, slowing down does not help.
    """
    lower, upper = EFFORT_SHARE * np.reshape(_efforts(now.body), (-1, 2)).T
    torques = smoothed(now.torques, now.times, ZMP_CUTOFF)
    beyond = (torques < lower) | (torques > upper)
    if not beyond.any() or not now.contacts.in_contact.any(axis=1).all():
        return np.ones(len(now.times))
    rates = (
        "joint_velocities",
        "joint_accelerations",
        "root_velocity",
        "root_acceleration",
    )
    still = replace(now, **{name: 0.0 * getattr(now, name) for name in rates})
    rest = smoothed(still.torques, now.times, ZMP_CUTOFF)
    added = torques - rest
    kept = np.where(added > 0, upper - rest, lower - rest) / np.where(
        beyond, added, 1.0
    )
    kept = np.where(
        beyond & (rest > lower) & (rest < upper),
        np.clip(kept, MAX_SLOWER_ONCE**-2, 1.0),
        1.0,
    )
    return np.asarray(kept.min(axis=1, initial=1.0) ** -0.5)


def _efforts(body: Body) -> list[tuple[float, float]]:
    """Return the smallest and the largest torque [Nm or N] of each joint's motor, infinite without limits."""
    return [effort_range(joint) or (-np.inf, np.inf) for joint in body.joints]


def _excess_acceleration(now: Measures) -> Floats:
    """Return by which factor (T,) a motion must be slower for the zero moment point to be in the support polygon, 1 where it is.

    At half the speed it is at a quarter of its distance from the centre of mass. A motion with a flight is not made slower: it would fall.
    """
    if not now.contacts.in_contact.any(axis=1).all():
        return np.ones(len(now.times))
    zmp = _smooth_zmp(now)
    lack = SAFE_MARGIN - np.nan_to_num(
        now.support_polygons.margins(zmp)[0], nan=SAFE_MARGIN
    )
    away = np.linalg.norm(zmp - now.center_of_mass[:, :2], axis=1)
    kept = np.clip(
        1.0 - (lack + SAFE_MARGIN) / np.maximum(away, 1e-9), MAX_SLOWER_ONCE**-2, 1.0
    )
    return np.where((lack > 0) & (away > lack), kept**-0.5, 1.0)


def _slower(
    motion: Motion, times: Floats, factor: Floats
) -> tuple[Motion, tuple[tuple[float, float, float], ...]]:
    """Return the motion slower by a factor (T,) at times (T,), smoothly, and where; a fixed rate is kept."""
    slowness = eased(factor, times)
    steps = 0.5 * (slowness[1:] + slowness[:-1]) * np.diff(times)
    later = times[0] + np.concatenate(([0.0], np.cumsum(steps)))
    parts = tuple(
        (float(times[a]), float(times[b - 1]), float(factor[a:b].max()))
        for a, b in runs(slowness > 1.001)
    )
    return stretched(motion, times, later, "cubic"), parts


def _report(
    original: Measures,
    old: Measures,
    now: Measures,
    plan: FootPlan,
    missed: Floats,
    slowed: tuple[tuple[float, float, float], ...],
    acceleration: float,
) -> BalanceReport:
    """Compare the original measures, and those of the slowed motion (`old`, as many frames as `now`), with the balanced ones."""
    times = old.times

    def largest(values: Floats) -> tuple[float, float]:
        frame = int(np.argmax(values))
        return float(values[frame]), float(times[frame])

    def changes(names: list[str], values: Floats) -> dict[str, tuple[float, float]]:
        return {
            name: largest(of)
            for name, of in zip(names, values.T, strict=True)
            if of.max() > MIN_REPORTED
        }

    feet = [old.body.links[index].name for index in plan.links]
    joints = [joint.name or f"joint {k}" for k, joint in enumerate(old.body.joints)]
    found_none = now is old and _score(now, missed)[0] < 1
    unchanged = (
        ("no better postures were found, so they are as before",) if found_none else ()
    )
    placed = [
        poses.transform_points(one.link_poses[:, plan.links], plan.points)
        for one in (now, old)
    ]
    return BalanceReport(
        seconds=float(times[-1] - times[0]),
        frames=len(times),
        safe_before=float(np.mean(original.stability_margin >= SAFE_MARGIN)),
        safe_after=float(np.mean(now.stability_margin >= SAFE_MARGIN)),
        margin_before=_minimum(original.stability_margin),
        margin_after=_minimum(now.stability_margin),
        slip_before=longest_slip(original.contacts, original.times),
        slip_after=longest_slip(now.contacts, now.times),
        center_shift=largest(
            np.linalg.norm(now.center_of_mass - old.center_of_mass, axis=1)
        ),
        feet=changes(feet, np.linalg.norm(placed[0] - placed[1], axis=-1)),
        joints=changes(
            joints, np.abs(now.joint_displacements - old.joint_displacements)
        ),
        sliding=tuple(
            joints[k]
            for k, joint in enumerate(old.body.joints)
            if joint.type == "slide"
        ),
        slowed=slowed,
        remaining=(*unchanged, *_remaining(now, plan, missed, acceleration)),
    )


def _minimum(margins: Floats) -> float:
    """Return the minimum of margins (T,), which are nan where nothing is in contact; nan without any."""
    return float(np.nanmin(margins)) if np.isfinite(margins).any() else float("nan")


def _remaining(
    now: Measures, plan: FootPlan, missed: Floats, acceleration: float
) -> list[str]:
    """Return what is not right in a balanced motion."""
    times, found = now.times, []

    def note(what: str, mask: Bools, rest: str = "") -> None:
        """Add what is wrong in some frames (T,), if there are any."""
        parts = [f"{times[a]:.2f} s to {times[b - 1]:.2f} s" for a, b in runs(mask)]
        more = f" and {len(parts) - 3} more" if len(parts) > 3 else ""
        if parts:
            found.append(f"{what} from {', '.join(parts[:3])}{more}{rest}")

    stands, falls = plan.contact.any(axis=1), _falls(now)
    margin = f"stability margin {1e3 * _minimum(now.stability_margin[stands & ~falls]):.1f} mm, expected 10 mm or more,"
    note(margin, (now.stability_margin < SAFE_MARGIN) & stands & ~falls)
    held = ~falls & ~(stands & np.isfinite(now.stability_margin))
    weight = now.body.mass * float(np.linalg.norm(now.gravity))
    most, twisted = weight * _held(now).max(axis=0, where=held[:, None], initial=0.0)
    wrong = f"in the air {most:.3g} N and {twisted:.3g} Nm are needed, expected none,"
    note(wrong, held, ": rotations are as before")
    far = (
        f"feet or centre of mass are up to {1e3 * missed.max():.1f} mm from their goals"
    )
    note(far, missed > MAX_MISS)
    for link in now.body.links:
        if link.index not in plan.links and len(points := link.contact_points):
            heights = lowest(
                now.link_poses[:, [link.index]], points, np.array([0, len(points)]), 0.0
            )[:, 0, 0]
            low = f"link {link.name!r} is up to {1e3 * (now.ground - heights).max():.1f} mm below the ground"
            note(low, np.asarray(heights < now.ground - MAX_MISS))
    joints = now.body.joints
    ranges = (
        (
            "position",
            now.joint_displacements,
            [(joint.lower, joint.upper) for joint in joints],
        ),
        (
            "velocity",
            now.joint_velocities,
            [(joint.velocity_lower, joint.velocity_upper) for joint in joints],
        ),
        (
            "acceleration",
            now.joint_accelerations,
            [(-acceleration, acceleration)] * len(joints),
        ),
        ("effort", now.torques, _efforts(now.body)),
    )
    for what, table, limits in ranges:
        for joint, column, (lower, upper) in zip(joints, table.T, limits, strict=True):
            over = np.maximum(lower - column, column - upper)
            wrong = f"{what} {column[over.argmax()]:.4g}, expected {lower:.4g} to {upper:.4g},"
            note(f"joint {joint.name!r}: {wrong}", over > 1e-6)
    return found


def _result(
    motion: Motion, old: Measures, now: Measures, report: BalanceReport
) -> BalancedMotion:
    """Return the motion with the joints, root and zero moment point of the measures `now`, at the times of `old`."""
    rest = tuple(
        c
        for c in motion.components
        if c.content not in (JOINT_DISPLACEMENT, LINK_POSITION, ZMP)
    )
    changed = now is not old or report.slowed
    notes = [
        NOT_EDITED.problem(f"{c.content} is not changed with the postures")
        for c in rest
        if changed
    ]
    if now is old:
        return BalancedMotion(
            motion.components,
            motion.extra,
            problems=(*motion.problems, *notes),
            report=report,
        )
    joints = motion.joint_displacement
    timeline = joints.timeline if joints is not None else Timeline.stamped(old.times)
    q, root = now.joint_displacements, now.root_poses[:, None]
    labels, root_label = (
        tuple(joint.name for joint in old.body.joints),
        (old.body.links[0].name,),
    )
    new = (
        MultiValueSeq(
            content=JOINT_DISPLACEMENT, timeline=timeline, values=q, part_labels=labels
        ),
        MultiSE3Seq(
            content=LINK_POSITION,
            timeline=timeline,
            values=root,
            part_labels=root_label,
        ),
        Vector3Seq(content=ZMP, timeline=timeline, values=_known_zmp(now)),
    )
    return BalancedMotion(
        (*new, *rest), motion.extra, problems=(*motion.problems, *notes), report=report
    )


def solve_postures(
    body: Body,
    plan: FootPlan,
    center: Floats,
    old: tuple[Floats, Floats],
    start: tuple[Floats, Floats],
) -> tuple[Floats, Floats, Floats]:
    """Return joints (T, J), root poses (T, 7) and how far feet and centre of mass are from their goals at most (T,) [m].

    The sum of weighted squares is least: of the feet's poses and the horizontal centre of mass, which count most, and of the height of the
    centre of mass (`center` (T, 3)), the root's orientation and the joints (`old`). Joints stay within their limits; those whose lower
    limit is above the upper one have none.
    """
    q, legs = np.array(start[0]), body.columns_above(*plan.links)
    if start[0] is old[0]:
        # Stretched knees could bend either way: the first search begins where they bend as they mostly do.
        q[:, legs] += NOMINAL_SHARE * (q.mean(axis=0) - q)[:, legs]
    problem = TaskList(body, q, start[1], old[0])
    for k, link in enumerate(plan.links):
        goal = plan.targets[:, k].copy()
        goal[:, :3] = poses.transform_points(goal, plan.points[k])
        weights = [FOOT_WEIGHT] * (6 if plan.oriented[k] else 3)
        problem.add(
            body.links[link].name,
            POSE,
            weights,
            goal,
            (link, -1),
            (plan.points[k], np.zeros(3)),
        )
    problem.add("centre of mass", CENTER, [FOOT_WEIGHT] * 2, center)
    problem.add("height", CENTER, [0.0, 0.0, HEIGHT_WEIGHT], center)
    problem.add("root", POSE, [0.0] * 3 + [ROOT_WEIGHT] * 3, old[1])
    near = np.full(6 + body.num_joints, OTHER_WEIGHT)
    near[[6 + column for column in legs]] = LEG_WEIGHT
    found = solve(problem, search_space(body, True, None, near), 0, MAX_STEPS)
    missed = (found.errors[:, :-2] * [1.0, HALF_FOOT]).max(axis=(1, 2))
    return found.q, found.root, missed
