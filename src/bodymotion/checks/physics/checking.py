"""`physics`: all rules about the physics of a motion on a body."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from bodymotion.checks.findings import (
    MAX_MOMENTS,
    Finding,
    FrameLocator,
    Moment,
    Run,
    Sampling,
    component_number,
    finding,
    frame_location,
    runs,
    too_fast,
)
from bodymotion.checks.physics import rules
from bodymotion.checks.physics.collisions import FLOOR, MIN_DEPTH, Collisions, find_collisions
from bodymotion.checks.physics.samples import (
    CONTACT_HEIGHT,
    MAX_SLIP_HEIGHT,
    WINDOW,
    Ground,
    Samples,
    chosen_frames,
    ground_of,
    measure_samples,
)
from bodymotion.checks.physics.sudden import jumps_of_joints, jumps_of_root, sign_flips
from bodymotion.diagnostics import Location, Rule, Severity
from bodymotion.diagnostics.text import counted
from bodymotion.dynamics import Soles
from bodymotion.dynamics.differentiation import MIN_REST
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body
from bodymotion.motion import Motion, MultiSE3Seq, MultiValueSeq, Vector3Seq
from bodymotion.motion.interpolation import sampled
from bodymotion.scene.scene import missing_files

JOINT_RULES = (rules.JOINT_JUMPS.code, rules.JOINT_SPIKE.code, rules.FULL_TURN.code)
MAX_ZMP_DISTANCE, MAX_ZMP_SHARE = 1.0, 0.1
"""[m] If the zero moment point is farther outside of the feet in more than this share of the frames, the frame rate is wrong."""
SPIKES = (rules.JOINT_SPIKE.code, rules.ROOT_SPIKE.code)


OF_HEIGHTS = {rule.code for rule in (rules.SINKS, rules.HOVERS, rules.UNEVEN, rules.OFF_THE_FLOOR)}
MAX_FLOOR_DEPTHS: tuple[tuple[Severity, float], ...] = (("error", 0.1), ("warning", 0.02))
"""[m] The depth of feet below the floor from which on it is an error, and a warning."""


def physics(motion: Motion, body: Body, q: Floats | None, unusable: Collection[str] = ()) -> list[Finding]:
    """Return the findings about the physics of a motion that fits its body.

    Parameters
    ----------
    q:
        (T, J) the values of the body's joints; None where the motion has none that fit. They are then computed from the poses of all
        links, where the motion has these.
    unusable:
        Contents of components whose positions are in another unit.
    """
    links = motion.link_position
    if links is not None and links.content in unusable:
        links = None
    main: MultiValueSeq | MultiSE3Seq | None = motion.joint_displacement
    if q is None:
        if motion.joint_displacement is not None or links is None or links.num_parts != len(body.links):
            return []
        main, q = links, _recovered(motion, body)
    if main is None or q is None or not _is_increasing(main.timeline.times):
        return []
    times = main.timeline.times
    locate = partial(frame_location, motion, component_number(motion, main))
    frames = Sampling(np.arange(len(times)), times, locate)
    found = jumps_of_joints(q, times, body, locate)
    root = None
    if links is not None and links.num_parts and links.num_frames and _is_increasing(links.timeline.times):
        root = links.values[:, 0]
        own, number = links.timeline.times, component_number(motion, links)
        found += jumps_of_root(root, own, partial(frame_location, motion, number))
        formats = motion.source.options.get("se3_formats")
        known = isinstance(formats, (tuple, list)) and len(formats) == len(motion.components)
        # Signs of angles that were converted are not the file's.
        if not (known and formats[number] == "XYZRPY"):  # type: ignore[index]
            found += sign_flips(root[:, 3:], own, partial(frame_location, motion, number))
        if links.timeline != main.timeline:
            root = sampled(links.values[:, :1], own, times)[:, 0]
    if not body.links or not len(q):
        return found
    zmp = motion.zmp
    if zmp is not None:
        usable = zmp.content not in unusable and zmp.num_frames and _is_increasing(zmp.timeline.times)
        zmp = zmp if usable and np.isfinite(zmp.values).all() else None
    free = body.links[0].joint.type == "free"
    has_place = not free or root is not None or (zmp is not None and zmp.is_root_relative)
    ground = ground_of(body, q, root, times) if free and has_place else None
    floor = ground.height if ground is not None and ground.level and root is not None else None
    chosen = chosen_frames(q, root, times)
    overlaps, collisions = _overlaps(body, q, root, frames, chosen, floor)
    if overlaps is not None:
        collisions = _collisions(overlaps, Sampling(chosen, times[chosen], locate), body)
    if not has_place or (free and root is None and ground is None):
        return found + collisions
    if root is None and not free:
        root = np.broadcast_to(body.root_pose, (len(q), 7))
    samples = measure_samples(body, q, root, frames, ground, zmp)
    if samples is None:
        return found + collisions
    _discard(samples, found)
    margins = samples.margins[np.isfinite(samples.margins)]
    trembles = any(one.problem.rule == rules.TREMBLES.code for one in found)
    if not trembles and len(margins) and np.mean(margins < -MAX_ZMP_DISTANCE) > MAX_ZMP_SHARE:
        reason = (
            f"the zero moment point is {-float(np.min(margins)):.3g} m outside of the feet: nothing can move so fast"
        )
        of_time = too_fast(reason, main.timeline, locate(int(samples.frames[int(np.nanargmin(samples.margins))])))
        return [*(one for one in found if one.problem.rule in (rules.FULL_TURN.code, rules.SIGN_FLIP.code)), of_time]
    if zmp is not None and not zmp.is_root_relative and any(one.problem.rule == rules.ROOT_JUMPS.code for one in found):
        # After a jump of the root the two are apart; the jump is reported.
        samples.recorded_margins[:] = samples.zmp_differences[:] = np.nan
    found += collisions
    if ground is not None:
        if root is not None and links is not None:
            found += feet_on_ground(samples, ground, body, overlaps)
            of_root = partial(frame_location, motion, component_number(motion, links))
            found += off_the_floor(ground, body, root, times, zmp, of_root)
        found += balance(samples)
    found = _with_cause(found, body)
    # The forces in an extra joint are unknown.
    return found if body.extra_joints else found + torques(samples, body, MIN_OVERLOAD)


def physics_of_plays(
    body: Body, feet: Soles, times: Floats, plays: Sequence[tuple[Floats, Floats]], min_overload: float
) -> list[list[Finding]]:
    """Return the findings about collisions, depths, flight and torques of each of N played motions on a level floor at z = 0.

    They are measured together: one motion, with a rest before each.

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
    starts = np.arange(len(plays)) * (times[-1] - times[0] + 2 * MIN_REST)
    frames = Sampling(np.arange(len(q)), (starts[:, None] + times).ravel(), lambda _: Location())
    ground = Ground(feet, None, 0.0, level=True)
    chosen = chosen_frames(q, root, frames.times)
    overlaps, unchecked = _overlaps(body, q, root, frames, chosen, ground.height)
    samples = measure_samples(body, q, root, frames, ground, None)
    edges = np.searchsorted(chosen, np.arange(len(plays) + 1) * len(times))
    results = []
    for k, (own_q, own_root) in enumerate(plays):
        rows = slice(edges[k], edges[k + 1])
        numbers = chosen[rows] - k * len(times)
        sampling = Sampling(numbers, times[numbers], frames.locate)
        own = None if overlaps is None else overlaps.of_postures(rows)
        found = list(unchecked) if own is None else _collisions(own, sampling, body)
        if samples is not None:
            part = samples.of_frames(rows, sampling)
            _discard(part, jumps_of_joints(own_q, times, body, frames.locate))
            _discard(part, jumps_of_root(own_root, times, frames.locate))
            found += feet_on_ground(part, ground, body, own) + torques(part, body, min_overload)
        results.append(found)
    return results


def _discard(samples: Samples, found: Sequence[Finding]) -> None:
    """Discard measurements around sudden changes."""
    for moment in (moment for one in found for moment in one.moments if moment.rule != rules.SIGN_FLIP.code):
        samples.discard(moment.start, moment.end, wrong=moment.rule in SPIKES)


def _with_cause(found: list[Finding], body: Body) -> list[Finding]:
    """Name the cause in findings about the heights of feet, where files of shapes are missing: the lowest points are unknown then."""
    missing = len(missing_files(body))
    if not missing:
        return found
    cause = f"; {counted(missing, 'file')} of shapes missing, so the lowest points of the feet are unknown"
    hint = "find the missing files first: the heights of the feet follow from their shapes"
    for k, one in enumerate(found):
        if one.problem.rule in OF_HEIGHTS:
            data = {**one.problem.data, "missing_files": missing}
            problem = replace(one.problem, message=one.problem.message + cause, hint=hint, data=data)
            found[k] = replace(one, problem=problem)
    return found


def calm_steps(times: Floats, found: Sequence[Finding]) -> npt.NDArray[np.bool_]:
    """Return the steps (T − 1,) between frames at `times` in which no joint changes suddenly; there speeds are checked."""
    calm = np.ones(max(len(times) - 1, 0), dtype=bool)
    for one in found:
        moments = [moment for moment in one.moments if moment.rule in JOINT_RULES]
        if len(moments) >= MAX_MOMENTS:
            # There may be more moments than those that were kept.
            return np.zeros_like(calm)
        for moment in moments:
            calm[
                np.searchsorted(times[1:], moment.start - WINDOW) : np.searchsorted(times[:-1], moment.end + WINDOW)
            ] = False
    return calm


def _recovered(motion: Motion, body: Body) -> Floats | None:
    from bodymotion.editing import recover_joints

    try:
        joints = recover_joints(motion, body)[0].joint_displacement
        return None if joints is None else body.joint_values(joints)
    except ValueError:
        return None


def _is_increasing(times: Floats) -> bool:
    return bool(len(times) and np.isfinite(times).all() and (np.diff(times) > 0).all())


MAX_FLOOR_VARIATION = 1e-3
"""[m] A recorded zero moment point whose height varies by no more is on a floor at that height."""


def off_the_floor(
    ground: Ground, body: Body, root: Floats, times: Floats, zmp: Vector3Seq | None, locate: FrameLocator
) -> list[Finding]:
    """Report feet whose ground is not the floor, in a motion of root poses (T, 7).

    The height of the floor is known from the recorded zero moment point, or else from the root pose of the model.
    """
    if not ground.level:
        return []
    if zmp is not None:
        heights = _heights(zmp, root, times)
        if not heights.size or np.ptp(heights) > MAX_FLOOR_VARIATION:
            return []
        # Files have few digits: 0.0004 m is 0.
        floor = round(float(np.median(heights)), 3) + 0.0
        reason = "the recorded zero moment point is there"
    elif _is_at_zero(ground, body):
        floor, reason = 0.0, "with the root at its pose in the model they are there"
    else:
        return []
    if abs(ground.height - floor) <= CONTACT_HEIGHT:
        return []
    side = "below" if ground.height < floor else "above"
    message = (
        f"the ground under the feet is {abs(ground.height - floor):.3f} m {side} the floor at z = {floor:g} m; {reason}"
    )
    problem = rules.OFF_THE_FLOOR.problem(message, locate(0), data={"height": ground.height - floor})
    deep: list[Severity] = [severity for severity, depth in MAX_FLOOR_DEPTHS if floor - ground.height > depth]
    return [Finding(replace(problem, severity=(*deep, "note")[0]))]


def _heights(zmp: Vector3Seq, root: Floats, times: Floats) -> Floats:
    """Return the heights [m] of the recorded zero moment point in the world, of the frames in which it is known."""
    points = np.asarray(sampled(zmp.values, zmp.timeline.times, times))
    if zmp.is_root_relative:
        points = poses.transform_points(root, points)
    return np.asarray(points[np.isfinite(points[:, 2]), 2])


def _is_at_zero(ground: Ground, body: Body) -> bool:
    """Return whether the feet are at z = 0 with all joints at 0 and the root at its pose in the model."""
    from bodymotion.kernels.feet import lowest

    feet = ground.feet
    placed = body.forward_kinematics(np.zeros((1, body.num_joints)), body.root_pose[None])
    bottom = lowest(placed[:, list(feet.links)], feet.points, feet.edges, 0.0)[..., 0]
    return abs(float(bottom.min())) <= CONTACT_HEIGHT


MAX_SLIP = 0.01  # [m] The largest foot slip in one stance phase; landing and lifting take some millimetres.
MAX_DEPTH = 0.01  # [m] The largest depth of a foot below the ground; models of soles are inexact, and soles are soft.
MAX_OVERLAP = 0.05  # [m] The overlap of two links from which on it is an error.
MIN_AIR_HEIGHT = 0.02  # [m] A foot at this height or above has no contact.
MAX_CONTACT_SPEED = 0.3  # [m/s] A faster foot has no contact.
MIN_SUPPORT = 0.3  # A body whose motion needs more than this part of its weight from the ground is not in free fall.
MIN_HOVERING = 0.2  # [s] A shorter time without contact is not reported.
MAX_ZMP_OUTSIDE = 0.01  # [m] The largest distance of the zero moment point outside of the feet.
MIN_TIPPING = 0.1  # [s] A shorter time outside is not reported: a body does not tip over at once.
MIN_RECORDED_OUTSIDE = 0.05  # [s] The same for the recorded point, which needs no derivatives.
MAX_ZMP_DIFFERENCE = 0.05
"""[m] The largest difference between the recorded and the computed zero moment point. Patterns planned with simple models of the same robot
are about 30 mm off."""
MAX_LOAD = 1.05  # The largest torque, as a multiple of what the motor gives; torques computed from frames have errors.
MIN_OVERLOAD = 0.05  # [s] A shorter overload of a motor is not reported.
BRIDGE = 0.05  # [s] Two violations with a shorter time between them are one.


def feet_on_ground(samples: Samples, ground: Ground, body: Body, overlaps: Collisions | None) -> list[Finding]:
    """Return where feet slip, links are below the ground, or no foot has contact although the body does not fall.

    On uneven ground it is only the last.
    """
    if not ground.level:
        return _hovers(samples, level=False) or _uneven(samples)
    feet, links = ground.feet.links, body.links
    slips = [_slips(samples, k, links[f].name) for k, f in enumerate(feet) if links[f].joint.type != "crawler"]
    depths = [(f, -samples.heights[:, k], MAX_DEPTH) for k, f in enumerate(feet)]
    of_others = () if overlaps is None else overlaps.by_pair()
    depths += [(link, depth, MIN_DEPTH) for one, link, depth in of_others if one == FLOOR and link not in feet]
    sinks = []
    for link, depth, limit in depths:
        text = "{subject!r} is {amount:.3g} mm below the ground in {at}"
        limits = {"bridge": BRIDGE, "max_amount": MAX_FLOOR_DEPTHS[0][1] / limit}
        sinks.append(_moments(rules.SINKS, samples, depth * 1000, limit * 1000, text, links[link].name, **limits))
    return [*_together(rules.SLIPS, slips), *_together(rules.SINKS, sinks), *_hovers(samples, level=True)]


def _overlaps(
    body: Body, q: Floats, root: Floats | None, motion: Sampling, frames: npt.NDArray[np.intp], floor: float | None
) -> tuple[Collisions | None, list[Finding]]:
    """Return the collisions in some `frames` of a motion; None, and the finding with the reason, where they cannot be found."""
    if len(body.links) < 2 or not len(frames):
        return None, []
    placed = np.broadcast_to(body.root_pose, (len(q), 7)) if root is None else root
    try:
        return find_collisions(body, q[frames], placed[frames], floor), []
    except (ImportError, ValueError) as error:
        reason = f"collisions of links were not checked: {error}"
        return None, [Finding(rules.NO_COLLISIONS.problem(reason, replace(motion.locate(0), line=None, column=None)))]


def _collisions(overlaps: Collisions, sampling: Sampling, body: Body) -> list[Finding]:
    """Return the finding about links inside of each other."""
    found = []
    text = "{subject} overlap by {amount:.3g} mm in {at}, and for {duration:.2f} s"
    limits = {"bridge": BRIDGE, "max_amount": MAX_OVERLAP / MIN_DEPTH}
    for one, two, depth in overlaps.by_pair():
        if one != FLOOR:
            names = f"{body.links[one].name!r} and {body.links[two].name!r}"
            found.append(_moments(rules.COLLIDES, sampling, depth * 1000, MIN_DEPTH * 1000, text, names, **limits))
    return _together(rules.COLLIDES, found)


def _uneven(samples: Samples) -> list[Finding]:
    lowest = samples.heights.min(axis=1)
    low, high = np.nanquantile(lowest, (0.05, 0.95)) * 1000
    part = float(np.mean(np.abs(lowest) <= CONTACT_HEIGHT))
    message = (
        f"the lowest foot is within {CONTACT_HEIGHT * 1000:.0f} mm of one height in only {part:.0%} of the frames (5th to 95th percentile: "
        f"{low:.0f} to {high:.0f} mm); foot slip, depth and balance are not checked"
    )
    return [Finding(rules.UNEVEN.problem(message, replace(samples.locate(0), line=None, column=None, inside=None)))]


def _hovers(samples: Samples, *, level: bool) -> list[Finding]:
    amount, limit, text = samples.slowest, MAX_CONTACT_SPEED, "slowest foot is {amount:.3g} m/s fast"
    if level:
        text = "lowest foot is {amount:.3g} mm above the ground"
        amount, limit = samples.heights.min(axis=1) * 1000, MIN_AIR_HEIGHT * 1000
    text = f"no foot is in contact for {{duration:.2f}} s, and the body does not fall: the {text} in {{at}}"
    hovering = np.where(samples.support > MIN_SUPPORT, amount, np.nan)
    return finding(rules.HOVERS, *_moments(rules.HOVERS, samples, hovering, limit, text, min_duration=MIN_HOVERING))


def balance(samples: Samples) -> list[Finding]:
    """Return where the computed and the recorded zero moment point are outside of the feet, and where they differ."""
    outside, differs = "is up to {amount:.3g} mm outside of the feet", "is up to {amount:.3g} mm from the computed one"
    found: list[Finding] = []
    for rule, amount, limit, min_duration, text in (
        (rules.TIPS, -samples.margins, MAX_ZMP_OUTSIDE, MIN_TIPPING, outside),
        (rules.OWN_ZMP_OUTSIDE, -samples.recorded_margins, MAX_ZMP_OUTSIDE, MIN_RECORDED_OUTSIDE, outside),
        (rules.OWN_ZMP_DIFFERS, samples.zmp_differences, MAX_ZMP_DIFFERENCE, MIN_TIPPING, differs),
    ):
        point = "the zero moment point" if rule is rules.TIPS else "the recorded zero moment point"
        text = f"{point} {text}, in {{at}}, for {{duration:.2f}} s"
        moments = _moments(rule, samples, amount * 1000, limit * 1000, text, min_duration=min_duration, bridge=BRIDGE)
        found += finding(rule, *moments)
    return found


def torques(samples: Samples, body: Body, min_duration: float) -> list[Finding]:
    """Return where joints need more torque or force than their motors give, for `min_duration` [s] or more."""
    found = []
    for k, column in enumerate(samples.motors):
        joint = body.joints[column]
        name = joint.name or body.links[body.joint_links[column]].name
        loads = np.asarray(samples.torques[:, k], dtype=np.float64)
        effort, unit = max(abs(samples.efforts[k])), "Nm" if joint.type == "rotate" else "N"
        needs = f"{{subject!r}} needs {{amount:.4g}} {unit}, and its motor has {effort:.4g} {unit}"
        text = f"{needs}, in {{at}}; it is overloaded for {{duration:.2f}} s"
        limits = {"threshold": MAX_LOAD, "min_duration": min_duration, "bridge": BRIDGE}
        found.append(_moments(rules.TORQUE_LIMIT, samples, loads * effort, effort, text, name, **limits))
    return _together(rules.TORQUE_LIMIT, found)


def _slips(samples: Samples, foot: int, name: str) -> tuple[list[Moment], int]:
    """Return the stance phases in which a foot slips more than `MAX_SLIP`, and their number."""
    contact = np.where(samples.heights[:, foot] < MAX_SLIP_HEIGHT, 1.0, 0.0)
    stances, _ = runs(contact, samples.times, 0.5, max_runs=len(contact))
    known = np.nan_to_num(samples.slip_speeds[:, foot])
    # The trapezoidal rule.
    path = np.concatenate([[0.0], np.cumsum(0.5 * (known[1:] + known[:-1]) * np.diff(samples.times))])
    found = []
    for run in stances:
        distance = float(path[run.last] - path[run.first])
        if distance <= MAX_SLIP:
            continue
        worst = run.first + int(np.argmax(samples.slip_speeds[run.first : run.last + 1, foot]))
        slip = Run(run.first, run.last, worst, distance / MAX_SLIP)
        speed = samples.slip_speeds[worst, foot]
        message = (
            f"{name!r} slips {distance * 1000:.3g} mm over the ground from t = {samples.times[run.first]:.2f} s "
            f"to {samples.times[run.last]:.2f} s, "
            f"fastest in {samples.when(worst)} at {speed:.2g} m/s"
        )
        found.append(samples.moment(rules.SLIPS, slip, message, name))
    return found, len(found)


def _moments(
    rule: Rule, samples: Sampling, values: Floats, limit: float, text: str, subject: str = "", **more: float
) -> tuple[list[Moment], int]:
    """Return the moments in which `values` (T,) are above a limit, as `Sampling.moments`.

    `text` is the message, with {subject}, {amount} (the largest value), {at} and {duration}.
    """

    def message_of(run: Run) -> str:
        duration = float(samples.times[min(run.last + 1, len(samples.times) - 1)] - samples.times[run.first])
        return text.format(subject=subject, amount=run.amount * limit, at=samples.when(run.worst), duration=duration)

    return samples.moments(rule, values / limit, message_of, subject, **more)


def _together(rule: Rule, parts: Sequence[tuple[list[Moment], int]]) -> list[Finding]:
    """Return the finding of the moments of several subjects, each with the number of all its moments."""
    return finding(rule, [one for moments, _ in parts for one in moments], sum(count for _, count in parts))
