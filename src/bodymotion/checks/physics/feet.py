"""Rules about feet: slip, depth below the ground, flight, and the floor."""

from dataclasses import replace
from functools import partial

import numpy as np

from bodymotion.checks.findings import Finding, FrameLocator, Run, find_runs
from bodymotion.checks.physics import rules
from bodymotion.checks.physics.collisions import FLOOR, MIN_DEPTH, Collisions
from bodymotion.checks.physics.exceedances import (
    BRIDGE,
    Limit,
    PendingMoment,
    PendingMoments,
    report_worst,
)
from bodymotion.checks.physics.ground import CONTACT_HEIGHT, Ground, lowest_heights
from bodymotion.checks.physics.samples import MAX_SLIP_HEIGHT, Samples
from bodymotion.diagnostics import Severity
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body
from bodymotion.motion import Vector3Seq
from bodymotion.motion.interpolation import sampled

# [m] The largest foot slip in one stance phase. Landing and lifting take some
# millimetres.
MAX_SLIP = 0.01
# The most frames in a row that may be unknown within one stance phase.
MAX_UNKNOWN_FRAMES = 5
# [m] The largest depth of a foot below the ground. Models of soles are inexact, and
# soles are soft.
MAX_DEPTH = 0.01
# [m] The depth of feet below the ground or the floor from which on it is an error.
ERROR_DEPTH = 0.1
# [m] The depth of feet below the floor from which on it is a warning. Less is a note: a
# robot may be on a table, or its model is inexact.
WARNING_DEPTH = 0.02
# [m] A recorded zero moment point whose height varies by no more is on a floor. The
# floor is at that height.
MAX_FLOOR_VARIATION = 1e-3
# Decimals of the height of the floor [m]: files have few digits, 0.0004 m is 0.
FLOOR_DIGITS = 3
# [m] A foot at this height or above has no contact.
MIN_AIR_HEIGHT = 0.02
# [m/s] A faster foot has no contact.
MAX_CONTACT_SPEED = 0.3
# The part of its weight up to which a body is in free fall. A motion that needs more
# from the ground has a contact.
MIN_SUPPORT = 0.3
# [s] A shorter time without contact is not reported.
MIN_HOVERING = 0.2

TO_MM = 1000


def check_feet(
    samples: Samples, ground: Ground, body: Body, overlaps: Collisions | None
) -> list[Finding]:
    """Report feet that slip, links below the ground, and bodies that hover.

    On uneven ground only the last.
    """
    if not ground.level:
        return _check_hovering(samples, level=False) or _report_uneven(samples)
    return [
        *_check_slips(samples, ground, body),
        *_check_depths(samples, ground, body, overlaps),
        *_check_hovering(samples, level=True),
    ]


def _check_slips(samples: Samples, ground: Ground, body: Body) -> list[Finding]:
    slips = []
    for foot, link in enumerate(ground.feet.links):
        # The tracks of a crawler move over the ground.
        if body.links[link].joint.type != "crawler":
            slips.append(_find_slips(samples, foot, body.links[link].name))
    return report_worst(rules.FOOT_SLIP, slips)


def _find_slips(samples: Samples, foot: int, name: str) -> PendingMoments:
    """Return the stance phases in which a foot slips more than `MAX_SLIP`."""
    times = samples.times
    in_contact = np.where(samples.heights[:, foot] < MAX_SLIP_HEIGHT, 1.0, 0.0)
    steps = np.diff(samples.frames)
    in_contact[:-1][steps > MAX_UNKNOWN_FRAMES * steps.min()] = 0.0
    stances, _ = find_runs(in_contact, times, 0.5, max_runs=len(in_contact))

    speeds = samples.slip_speeds[:, foot]
    known = np.nan_to_num(speeds)
    # The trapezoidal rule.
    distances = 0.5 * (known[1:] + known[:-1]) * np.diff(times)
    path = np.concatenate([[0.0], np.cumsum(distances)])
    slips = []
    for stance in stances:
        distance = float(path[stance.last] - path[stance.first])
        if distance <= MAX_SLIP:
            continue
        worst = stance.first + int(np.argmax(speeds[stance.first : stance.last + 1]))
        slip = Run(stance.first, stance.last, worst, distance / MAX_SLIP)
        message = (
            f"{name!r} slips {distance * TO_MM:.3g} mm over the ground from t = "
            f"{times[slip.first]:.2f} s to {times[slip.last]:.2f} s, "
            f"fastest in {samples.when(worst)} at {speeds[worst]:.2g} m/s"
        )
        describe = partial(samples.moment, rules.FOOT_SLIP, slip, message, name)
        slips.append(PendingMoment(slip.amount, describe))
    return PendingMoments(slips, len(slips))


def _check_depths(
    samples: Samples, ground: Ground, body: Body, overlaps: Collisions | None
) -> list[Finding]:
    """Report links that are below the ground.

    Feet by their lowest points, others by MuJoCo's contacts with the floor.
    """

    def find_depths(link: int, depths: Floats, max_depth: float) -> PendingMoments:
        limit = Limit(
            rules.DEPTH,
            max_depth * TO_MM,
            "{subject!r} is {amount:.3g} mm below the ground in {at}",
            max_amount=ERROR_DEPTH / max_depth,
            bridge=BRIDGE,
        )
        return limit.find(samples, depths * TO_MM, body.links[link].name)

    feet = ground.feet.links
    found = []
    for foot, link in enumerate(feet):
        found.append(find_depths(link, -samples.heights[:, foot], MAX_DEPTH))
    for one, link, depths in () if overlaps is None else overlaps.by_pair():
        if one == FLOOR and link not in feet:
            found.append(find_depths(link, depths, MIN_DEPTH))
    return report_worst(rules.DEPTH, found)


def _check_hovering(samples: Samples, *, level: bool) -> list[Finding]:
    """Report times in which the body hovers.

    No foot has contact although the body does not fall.

    On uneven ground the heights of feet are unknown, so their speeds are used.
    """
    if level:
        values = samples.heights.min(axis=1) * TO_MM
        max_value = MIN_AIR_HEIGHT * TO_MM
        text = "lowest foot is {amount:.3g} mm above the ground"
    else:
        values = samples.slowest
        max_value = MAX_CONTACT_SPEED
        text = "slowest foot moves at {amount:.3g} m/s"
    limit = Limit(
        rules.FLIGHT,
        max_value,
        "no foot is in contact for {duration:.2f} s, and the body does not fall: the "
        f"{text} in {{at}}",
        min_duration=MIN_HOVERING,
    )
    not_falling = np.where(samples.support > MIN_SUPPORT, values, np.nan)
    return report_worst(rules.FLIGHT, [limit.find(samples, not_falling)])


def _report_uneven(samples: Samples) -> list[Finding]:
    heights = samples.heights.min(axis=1)
    low, high = np.nanquantile(heights, (0.05, 0.95)) * TO_MM
    share = float(np.mean(np.abs(heights) <= CONTACT_HEIGHT))
    message = (
        f"the lowest foot is within {CONTACT_HEIGHT * TO_MM:.0f} mm of one height in "
        f"only {share:.0%} of the frames (5th to 95th percentile: "
        f"{low:.0f} to {high:.0f} mm); foot slip, depth and balance are not checked"
    )
    # The finding is about the whole file.
    location = replace(samples.locate(0), line=None, column=None, inside=None)
    return [Finding(rules.GROUND.problem(message, location))]


def check_floor_height(
    ground: Ground,
    body: Body,
    root: Floats,
    times: Floats,
    zmp: Vector3Seq | None,
    locate: FrameLocator,
) -> list[Finding]:
    """Report feet whose ground is not the floor.

    In a motion of root poses (T, 7).

    The height of the floor is known from the recorded zero moment point, or else from
    the root pose of the model.
    """
    if not ground.level:
        return []
    if zmp is not None:
        floor = _find_recorded_floor(zmp, root, times)
        reason = "the recorded zero moment point is there"
    elif _is_at_zero(ground, body):
        floor = 0.0
        reason = "with the root at its pose in the model they are there"
    else:
        return []
    if floor is None or abs(ground.height - floor) <= CONTACT_HEIGHT:
        return []

    side = "below" if ground.height < floor else "above"
    message = (
        f"the ground under the feet is {abs(ground.height - floor):.3f} m {side} the "
        f"floor at z = {floor:g} m; {reason}"
    )
    data = {"height": ground.height - floor}
    problem = rules.FLOOR_HEIGHT.problem(message, locate(0), data=data)
    severity: Severity = "note"
    if floor - ground.height > ERROR_DEPTH:
        severity = "error"
    elif floor - ground.height > WARNING_DEPTH:
        severity = "warning"
    return [Finding(replace(problem, severity=severity))]


def _find_recorded_floor(zmp: Vector3Seq, root: Floats, times: Floats) -> float | None:
    """Return the height [m] at which the recorded zero moment point stays.

    None where it does not stay at one height.
    """
    points = np.asarray(sampled(zmp.values, zmp.timeline.times, times))
    if zmp.is_root_relative:
        points = poses.transform_points(root, points)
    heights = points[np.isfinite(points[:, 2]), 2]
    if not heights.size or np.ptp(heights) > MAX_FLOOR_VARIATION:
        return None
    # Adding zero makes −0 positive.
    return round(float(np.median(heights)), FLOOR_DIGITS) + 0.0


def _is_at_zero(ground: Ground, body: Body) -> bool:
    """Return whether the feet are at z = 0 with all joints at 0.

    The root is at its pose in the model.
    """
    joints = np.zeros((1, body.num_joints))
    link_poses = body.forward_kinematics(joints, body.root_pose[None])
    foot_poses = link_poses[:, list(ground.feet.links)]
    heights = lowest_heights(ground.feet, foot_poses)
    return abs(float(heights.min())) <= CONTACT_HEIGHT
