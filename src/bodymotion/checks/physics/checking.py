"""`check_physics`: all rules about the physics of a motion on a body."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bodymotion.checks.findings import (
    MAX_MOMENTS,
    Finding,
    Sampling,
    all_frames,
    component_number,
    joint_name,
    too_fast,
)
from bodymotion.checks.physics import rules
from bodymotion.checks.physics.collisions import (
    FLOOR,
    MIN_DEPTH,
    Collisions,
    find_collisions,
)
from bodymotion.checks.physics.exceedances import BRIDGE, Limit, report_worst
from bodymotion.checks.physics.feet import TO_MM, check_feet, check_floor_height
from bodymotion.checks.physics.ground import Ground, find_ground, select_frames
from bodymotion.checks.physics.samples import WINDOW, Samples, measure_samples
from bodymotion.checks.physics.sudden import jumps_of_joints, jumps_of_root, sign_flips
from bodymotion.diagnostics import Location, Rule
from bodymotion.diagnostics.text import counted
from bodymotion.dynamics import Soles
from bodymotion.dynamics.differentiation import MIN_REST
from bodymotion.geometry.arrays import Bools, Floats, Indices
from bodymotion.model.body import Body
from bodymotion.model.joint_recovery import recover_joints
from bodymotion.motion import Motion, MultiSE3Seq, MultiValueSeq, Vector3Seq
from bodymotion.motion.interpolation import sampled

# [m] The overlap of two links from which on it is an error.
ERROR_OVERLAP = 0.05
# [m] The largest distance of the zero moment point outside of the feet.
MAX_ZMP_OUTSIDE = 0.01
# [s] A shorter time outside is not reported: a body does not tip over at once.
MIN_TIPPING = 0.1
# [s] The same for the recorded point, which needs no derivatives.
MIN_RECORDED_OUTSIDE = 0.05
# [m] The largest difference between the recorded and the computed zero moment point.
# Patterns planned with simple models of the same robot are about 30 mm off.
MAX_ZMP_DIFFERENCE = 0.05
# The largest torque, as a multiple of the motor's limit. Torques computed from frames
# have errors.
MAX_LOAD = 1.05
# [s] A shorter overload of a motor is not reported.
MIN_OVERLOAD = 0.05
# [m] A zero moment point farther outside of the feet is impossible.
MAX_ZMP_DISTANCE = 1.0
# The share of frames with such a point from which on the frame rate is wrong.
MAX_IMPOSSIBLE_SHARE = 0.1

JOINT_RULES = (rules.JOINT_JUMPS.code, rules.JOINT_SPIKE.code, rules.FULL_TURN.code)
# Rules whose findings are true at any frame rate.
RATE_INDEPENDENT_RULES = (rules.FULL_TURN.code, rules.SIGN_FLIP.code)
HEIGHT_RULES = (
    rules.DEPTH.code,
    rules.FLIGHT.code,
    rules.GROUND.code,
    rules.FLOOR_HEIGHT.code,
)


@dataclass(frozen=True)
class _Trajectory:
    """A motion on its body.

    Attributes
    ----------
    main:
        The component whose frames are checked.
    q:
        (T, J) the values of the body's joints in these frames.
    root:
        (T, 7) root poses; None where they are unknown.
    links:
        The component of the root poses, where the motion has one.
    zmp:
        The recorded zero moment point, where it can be used.
    """

    motion: Motion
    body: Body
    main: MultiValueSeq | MultiSE3Seq
    q: Floats
    root: Floats | None
    links: MultiSE3Seq | None
    zmp: Vector3Seq | None

    @property
    def times(self) -> Floats:
        """(T,) [s] The times of the frames."""
        return self.main.timeline.times

    @property
    def frames(self) -> Sampling:
        """The frames of the main component."""
        return all_frames(self.motion, self.main)

    @property
    def can_be_placed(self) -> bool:
        """Whether it is known where the body, or its feet, are in the world."""
        if self.body.is_mounted or self.root is not None:
            return True
        return self.zmp is not None and self.zmp.is_root_relative


def check_physics(
    motion: Motion, body: Body, q: Floats | None, unusable: Collection[str] = ()
) -> list[Finding]:
    """Return the findings about the physics of a motion that fits its body.

    Parameters
    ----------
    q:
        (T, J) the values of the body's joints; None where the motion has none that fit.
        They are then computed from the poses of all links, where the motion has these.
    unusable:
        Contents of components whose positions are in another unit.
    """
    links = motion.link_position
    if links is not None and links.content in unusable:
        links = None
    rooted = links if _has_root(links) else None
    findings = [] if rooted is None else _check_root(motion, rooted)

    main: MultiValueSeq | MultiSE3Seq | None = motion.joint_displacement
    if main is None and links is not None and links.num_parts == len(body.links):
        # Without joint values, those that follow from the poses of all links.
        main = links
        q = _recover_joint_values(motion, body)
    if main is None or q is None or not _is_increasing(main.timeline.times):
        return findings
    findings = jumps_of_joints(q, all_frames(motion, main), body) + findings
    if not body.links or not len(q):
        return findings
    root = None
    if rooted is not None:
        root = rooted.values[:, 0]
        if rooted.timeline != main.timeline:
            poses = rooted.values[:, :1]
            # Root poses at other times than the joints are interpolated at the times of
            # these.
            root = sampled(poses, rooted.timeline.times, main.timeline.times)[:, 0]
    zmp = _usable_zmp(motion, unusable)
    trajectory = _Trajectory(motion, body, main, q, root, links, zmp)
    return _check_trajectory(trajectory, findings)


def _has_root(links: MultiSE3Seq | None) -> bool:
    if links is None or not links.num_parts or not links.num_frames:
        return False
    return _is_increasing(links.timeline.times)


def _check_root(motion: Motion, links: MultiSE3Seq) -> list[Finding]:
    """Report jumps of the root, and quaternions that change their sign."""
    root = links.values[:, 0]
    frames = all_frames(motion, links)
    findings = jumps_of_root(root, frames)
    # Signs of angles that were converted are not the file's.
    formats = motion.source.options.get("se3_formats")
    number = component_number(motion, links)
    if (
        isinstance(formats, (tuple, list))
        and len(formats) == len(motion.components)
        and formats[number] == "XYZRPY"
    ):
        return findings
    return findings + sign_flips(root[:, 3:], frames)


def _recover_joint_values(motion: Motion, body: Body) -> Floats | None:
    """Compute the joint values (T, J) from poses of all links."""
    try:
        joints = recover_joints(motion, body)[0].joint_displacement
        if joints is None:
            return None
        return body.joint_values(joints)
    except ValueError:
        return None


def _usable_zmp(motion: Motion, unusable: Collection[str]) -> Vector3Seq | None:
    zmp = motion.zmp
    if zmp is None or zmp.content in unusable or not zmp.num_frames:
        return None
    if _is_increasing(zmp.timeline.times) and np.isfinite(zmp.values).any():
        return zmp
    return None


def _is_increasing(times: Floats) -> bool:
    return bool(len(times) and np.isfinite(times).all() and (np.diff(times) > 0).all())


def _check_trajectory(
    trajectory: _Trajectory, findings: list[Finding]
) -> list[Finding]:
    """Add the findings about collisions, feet, balance and motors to those before."""
    ground = None
    if trajectory.can_be_placed and not trajectory.body.is_mounted:
        ground = find_ground(
            trajectory.body, trajectory.q, trajectory.root, trajectory.times
        )
    overlaps, collisions = _check_overlaps(trajectory, ground)
    samples = _measure(trajectory, ground)
    if samples is None:
        return findings + collisions
    # A jump has an endless acceleration: it would be reported as forces and slips
    # again.
    samples.discard(findings)

    if not _has(findings, rules.OSCILLATION):
        wrong_rate = _check_rate(samples, trajectory)
        if wrong_rate:
            true_findings = [
                finding
                for finding in findings
                if finding.problem.rule in RATE_INDEPENDENT_RULES
            ]
            return true_findings + wrong_rate
    zmp = trajectory.zmp
    is_in_world = zmp is not None and not zmp.is_root_relative
    if is_in_world and _has(findings, rules.ROOT_JUMPS):
        # After a jump of the root the two are apart; the jump is reported.
        samples.recorded_margins[:] = np.nan
        samples.zmp_differences[:] = np.nan
    findings = findings + collisions
    if ground is not None:
        findings += _check_ground(trajectory, ground, samples, overlaps)
        findings += _check_balance(samples)
    findings = _add_missing_files(findings, trajectory.body)
    # The forces in an extra joint are unknown.
    if not trajectory.body.extra_joints:
        findings += _check_torques(samples, trajectory.body, MIN_OVERLOAD)
    return findings


def _check_overlaps(
    trajectory: _Trajectory, ground: Ground | None
) -> tuple[Collisions | None, list[Finding]]:
    """Return the collisions, and the findings about them."""
    body = trajectory.body
    q = trajectory.q
    root = trajectory.root
    frames = trajectory.frames
    floor = None
    if ground is not None and ground.level and root is not None:
        floor = ground.height
    chosen = select_frames(q, root, trajectory.times)
    overlaps, findings = _find_overlaps(body, q, root, frames, chosen, floor)
    if overlaps is not None:
        sampling = Sampling(chosen, trajectory.times[chosen], frames.locate)
        findings = _check_collisions(overlaps, sampling, body)
    return overlaps, findings


def _measure(trajectory: _Trajectory, ground: Ground | None) -> Samples | None:
    """Return the measurements; None where the body cannot be placed."""
    body = trajectory.body
    root = trajectory.root
    if root is None and body.is_mounted:
        root = np.broadcast_to(body.root_pose, (len(trajectory.q), 7))
    if not trajectory.can_be_placed or (root is None and ground is None):
        return None
    return measure_samples(
        body, trajectory.q, root, trajectory.frames, ground, trajectory.zmp
    )


def _check_ground(
    trajectory: _Trajectory,
    ground: Ground,
    samples: Samples,
    overlaps: Collisions | None,
) -> list[Finding]:
    """Return the findings about feet and the height of the floor."""
    root = trajectory.root
    links = trajectory.links
    if root is None or links is None:
        return []
    body = trajectory.body
    return [
        *check_feet(samples, ground, body, overlaps),
        *check_floor_height(
            ground,
            body,
            root,
            trajectory.times,
            trajectory.zmp,
            all_frames(trajectory.motion, links).locate,
        ),
    ]


def _has(findings: Sequence[Finding], rule: Rule) -> bool:
    return any(finding.problem.rule == rule.code for finding in findings)


def _check_rate(samples: Samples, trajectory: _Trajectory) -> list[Finding]:
    """Report a wrong frame rate, as known from impossible zero moment points."""
    margins = samples.margins[np.isfinite(samples.margins)]
    if not len(margins):
        return []
    # Accelerations grow with the square of the frame rate, and with them the distance
    # of the zero moment point.
    if np.mean(margins < -MAX_ZMP_DISTANCE) <= MAX_IMPOSSIBLE_SHARE:
        return []
    distance = -float(np.min(margins))
    reason = (
        f"the zero moment point is {distance:.3g} m outside of the feet: accelerations "
        "are impossible"
    )
    worst = int(samples.frames[int(np.nanargmin(samples.margins))])
    location = trajectory.frames.locate(worst)
    return [too_fast(reason, trajectory.main.timeline, location)]


def physics_of_plays(
    body: Body,
    feet: Soles,
    times: Floats,
    plays: Sequence[tuple[Floats, Floats]],
    min_overload: float,
) -> list[list[Finding]]:
    """Return the findings of each of N played motions.

    On a level floor at z = 0.

    About collisions, depths, flight and torques. They are measured together: one
    motion, with a rest before each.

    Parameters
    ----------
    feet:
        The links that may be in contact.
    times:
        (T,) [s] of the frames of all of them.
    plays:
        The joint values (T, J) and root poses (T, 7) of each.
    min_overload:
        [s] A shorter overload of a motor is not reported.
    """
    q, root = (np.concatenate(parts) for parts in zip(*plays, strict=True))
    # The gap between two motions is long enough to be a rest, so that derivatives do
    # not reach from one into the next.
    starts = np.arange(len(plays)) * (times[-1] - times[0] + 2 * MIN_REST)
    frames = Sampling(
        np.arange(len(q)), (starts[:, None] + times).ravel(), lambda _: Location()
    )
    ground = Ground(feet, None, 0.0, level=True)
    chosen = select_frames(q, root, frames.times)
    overlaps, unchecked = _find_overlaps(body, q, root, frames, chosen, ground.height)
    samples = measure_samples(body, q, root, frames, ground, None)
    # (N + 1,) Where the chosen frames of each motion begin.
    edges = np.searchsorted(chosen, np.arange(len(plays) + 1) * len(times))
    results = []
    for k, (play_q, play_root) in enumerate(plays):
        rows = slice(edges[k], edges[k + 1])
        numbers = chosen[rows] - k * len(times)
        sampling = Sampling(numbers, times[numbers], frames.locate)
        play_overlaps = None
        findings = list(unchecked)
        if overlaps is not None:
            play_overlaps = overlaps.of_postures(rows)
            findings = _check_collisions(play_overlaps, sampling, body)
        if samples is not None:
            play_samples = samples.of_frames(rows, sampling)
            play_frames = Sampling(np.arange(len(times)), times, frames.locate)
            play_samples.discard(
                jumps_of_joints(play_q, play_frames, body)
                + jumps_of_root(play_root, play_frames)
            )
            findings += check_feet(play_samples, ground, body, play_overlaps)
            findings += _check_torques(play_samples, body, min_overload)
        results.append(findings)
    return results


def _add_missing_files(findings: list[Finding], body: Body) -> list[Finding]:
    """Name missing files of shapes as a cause.

    In findings about heights of feet.

    The lowest points are unknown then.
    """
    from bodymotion.formats.resources import missing_files

    missing = len(missing_files(body))
    if not missing:
        return findings
    cause = (
        f"; {counted(missing, 'file')} of shapes missing, so the lowest points of the "
        "feet are unknown"
    )
    hint = (
        "find the missing files first: the heights of the feet follow from their shapes"
    )
    changed = []
    for finding in findings:
        problem = finding.problem
        if problem.rule in HEIGHT_RULES:
            data = {**problem.data, "missing_files": missing}
            message = problem.message + cause
            problem = replace(problem, message=message, hint=hint, data=data)
            finding = replace(finding, problem=problem)
        changed.append(finding)
    return changed


def find_calm_steps(times: Floats, findings: Sequence[Finding]) -> Bools:
    """Return the steps (T − 1,) between frames at `times` without sudden changes.

    There the speeds of joints are checked.
    """
    calm = np.ones(max(len(times) - 1, 0), dtype=bool)
    for finding in findings:
        moments = [moment for moment in finding.moments if moment.rule in JOINT_RULES]
        if len(moments) >= MAX_MOMENTS:
            # There may be more moments than those that were kept.
            return np.zeros_like(calm)
        for moment in moments:
            first = np.searchsorted(times[1:], moment.start - WINDOW)
            last = np.searchsorted(times[:-1], moment.end + WINDOW)
            calm[first:last] = False
    return calm


def _find_overlaps(
    body: Body,
    q: Floats,
    root: Floats | None,
    motion: Sampling,
    frames: Indices,
    floor: float | None,
) -> tuple[Collisions | None, list[Finding]]:
    """Return the collisions in some `frames` of a motion.

    None, and the finding with the reason, where they cannot be found.
    """
    if len(body.links) < 2 or not len(frames):
        return None, []
    if root is None:
        root_poses = np.broadcast_to(body.root_pose, (len(q), 7))
    else:
        root_poses = root
    try:
        return find_collisions(body, q[frames], root_poses[frames], floor), []
    except (ImportError, ValueError) as error:
        reason = f"collisions of links were not checked: {error}"
        location = replace(motion.locate(0), line=None, column=None)
        return None, [Finding(rules.NO_COLLISIONS.problem(reason, location))]


def _check_collisions(
    overlaps: Collisions, sampling: Sampling, body: Body
) -> list[Finding]:
    """Report links inside of each other."""
    limit = Limit(
        rules.COLLISION,
        MIN_DEPTH * TO_MM,
        "{subject} overlap by {amount:.3g} mm in {at}, and for {duration:.2f} s",
        max_amount=ERROR_OVERLAP / MIN_DEPTH,
        bridge=BRIDGE,
    )
    collisions = []
    for one, two, depth in overlaps.by_pair():
        if one != FLOOR:
            names = f"{body.links[one].name!r} and {body.links[two].name!r}"
            collisions.append(limit.find(sampling, depth * TO_MM, names))
    return report_worst(rules.COLLISION, collisions)


def _check_balance(samples: Samples) -> list[Finding]:
    """Report zero moment points outside of the feet, and where the two differ.

    The computed and the recorded one.
    """
    place = "{amount:.3g} mm outside of the feet, in {at}, for {duration:.2f} s"
    difference = "{amount:.3g} mm from the computed one, in {at}, for {duration:.2f} s"
    outside = Limit(
        rules.ZMP_OUTSIDE,
        MAX_ZMP_OUTSIDE * TO_MM,
        f"the zero moment point is up to {place}",
        min_duration=MIN_TIPPING,
        bridge=BRIDGE,
    )
    recorded_outside = Limit(
        rules.RECORDED_ZMP_OUTSIDE,
        MAX_ZMP_OUTSIDE * TO_MM,
        f"the recorded zero moment point is up to {place}",
        min_duration=MIN_RECORDED_OUTSIDE,
        bridge=BRIDGE,
    )
    differs = Limit(
        rules.RECORDED_ZMP_DIFFERS,
        MAX_ZMP_DIFFERENCE * TO_MM,
        f"the recorded zero moment point is up to {difference}",
        min_duration=MIN_TIPPING,
        bridge=BRIDGE,
    )
    findings = []
    for limit, distances in (
        (outside, -samples.margins),
        (recorded_outside, -samples.recorded_margins),
        (differs, samples.zmp_differences),
    ):
        found = limit.find(samples, distances * TO_MM)
        findings += report_worst(limit.rule, [found])
    return findings


def _check_torques(samples: Samples, body: Body, min_duration: float) -> list[Finding]:
    """Report joints that need more torque or force than their motors give.

    For `min_duration` [s] or more.
    """
    overloads = []
    for k, column in enumerate(samples.motors):
        effort = max(abs(samples.efforts[k]))
        unit = "Nm" if body.joints[column].type == "rotate" else "N"
        limit = Limit(
            rules.TORQUE_LIMIT,
            effort,
            f"{{subject!r}} needs {{amount:.4g}} {unit}, and its motor has "
            f"{effort:.4g} {unit}, in {{at}}; it is overloaded for {{duration:.2f}} s",
            threshold=MAX_LOAD,
            min_duration=min_duration,
            bridge=BRIDGE,
        )
        loads = np.asarray(samples.torques[:, k], dtype=np.float64)
        name = joint_name(body, column)
        overloads.append(limit.find(samples, loads * effort, name))
    return report_worst(rules.TORQUE_LIMIT, overloads)
