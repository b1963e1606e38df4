"""Rules about key poses on their body, and the motion between them."""

from collections.abc import Iterator

import numpy as np

from bodymotion.checks import rules
from bodymotion.checks.motions import check_motion_on_body
from bodymotion.checks.units import LIMIT_TOLERANCE
from bodymotion.diagnostics import Location, Problem, Rule
from bodymotion.diagnostics.text import listed
from bodymotion.formats.rules import TOO_LARGE
from bodymotion.keyposes import KeyPoses
from bodymotion.model.body import Body

# [m, rad] The largest distance of a link from its key.
MAX_MISS = 1e-3
# The most frames of a motion between key poses that is checked: 33 minutes.
MAX_FRAMES = 200_000
# [Hz] The rate at which the motion between the poses is checked.
RATE = 100.0


def check_key_poses(key_poses: KeyPoses, body: Body) -> tuple[Problem, ...]:
    """Return the problems of key poses on a body.

    Where these have no errors, also those of the motion between them.
    """
    found = [*_check_name(key_poses, body), *_check_poses(key_poses, body)]
    problems = (*found, *key_poses.problems)
    has_errors = any(problem.severity == "error" for problem in problems)
    if not key_poses.poses or has_errors:
        return tuple(found)
    num_frames = RATE * key_poses.duration
    if num_frames > MAX_FRAMES:
        message = (
            f"the last pose is at {key_poses.duration:g} s: at {RATE:g} Hz the motion "
            f"has {num_frames:.0f} frames; expected at most {MAX_FRAMES}; the motion "
            "between the poses is not checked"
        )
        last = len(key_poses.poses) - 1
        return (*found, _report(key_poses, TOO_LARGE, message, "poses", last))
    motion = key_poses.to_motion(body, RATE)
    return (
        *found,
        *_check_reach(key_poses, body),
        *check_motion_on_body(motion, body),
    )


def _report(
    key_poses: KeyPoses, rule: Rule, message: str, *subject: str | int
) -> Problem:
    location = key_poses.source.locations.locate(subject)
    if location is None:
        path = key_poses.source.path
        location = Location(str(path) if path else None)
    return rule.problem(message, location, subject=subject)


def _check_name(key_poses: KeyPoses, body: Body) -> list[Problem]:
    name = key_poses.target_body
    if not name or not body.name or name == body.name:
        return []
    message = f"the key poses are for {name!r}, the body is {body.name!r}"
    return [_report(key_poses, rules.OTHER_BODY, message)]


def _check_poses(key_poses: KeyPoses, body: Body) -> Iterator[Problem]:
    """Check the joints, links and values of key poses.

    The body has them, and values are within the limits.
    """
    names = {link.name for link in body.links}
    for number, pose in enumerate(key_poses.poses):
        unknown = [joint for joint in pose.joints if joint >= body.num_joints]
        if unknown:
            ids = listed(map(str, unknown))
            message = (
                f"the pose at {pose.time:g} s has the joints {ids}; the body has ids "
                f"up to {body.num_joints - 1}"
            )
            yield _report(
                key_poses, rules.NO_SUCH_JOINT, message, "poses", number, "joints"
            )
        for column, value in pose.joints.items():
            if column >= body.num_joints:
                continue
            joint = body.joints[column]
            lower = joint.lower - LIMIT_TOLERANCE
            upper = joint.upper + LIMIT_TOLERANCE
            if not lower <= value <= upper:
                message = (
                    f"joint {joint.name!r} is at {value:.6g} at {pose.time:g} s; its "
                    f"range is {joint.lower:.6g} to {joint.upper:.6g}"
                )
                subject = ("poses", number, "joints", column)
                yield _report(key_poses, rules.KEY_BEYOND_LIMIT, message, *subject)
        for place, key in enumerate(pose.links):
            if key.name not in names and not 0 <= key.index < len(body.links):
                message = (
                    f"the body has no link {key.name!r}, nor one with the index "
                    f"{key.index}: the key is not used"
                )
                subject = ("poses", number, "links", place)
                yield _report(key_poses, rules.NO_SUCH_LINK, message, *subject)


def _check_reach(key_poses: KeyPoses, body: Body) -> Iterator[Problem]:
    """Report each link that misses its keys, where it does so most."""
    from bodymotion.keyposes.interpolation import Plan

    plan = Plan(key_poses, body, "none", with_zmp=False)
    times = np.arange(int(RATE * key_poses.duration) + 1) / RATE
    solution = plan.at(times)
    # (T, L, 2) [m, rad] distances and angles.
    errors = np.nan_to_num(solution.errors)
    for n, link in enumerate(solution.links):
        frame = int(errors[:, n].max(axis=1).argmax())
        distance, angle = errors[frame, n]
        if max(distance, angle) <= MAX_MISS:
            continue
        time = float(solution.times[frame])
        message = (
            f"link {body.links[link].name!r} cannot reach the pose of its keys: it is "
            f"{1000 * distance:.4g} mm and {angle:.4g} rad away at {time:.4g} s"
        )
        before = [k for k, pose in enumerate(key_poses.poses) if pose.time <= time]
        number = before[-1] if before else 0
        yield _report(key_poses, rules.OUT_OF_REACH, message, "poses", number)
