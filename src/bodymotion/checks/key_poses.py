"""Rules about key poses on the body that they are for; then those of the motion between them."""

import numpy as np

from bodymotion.checks import rules
from bodymotion.diagnostics import Location, Problem, Rule
from bodymotion.diagnostics.text import listed
from bodymotion.keyposes import KeyPoses
from bodymotion.keyposes.interpolation import Plan
from bodymotion.model.body import Body

LIMIT_TOLERANCE = 1e-6  # [rad or m] The distance beyond a limit that is ignored.
MAX_MISS = 1e-3  # [m, rad] So much may a link be away from its key.
RATE = 100.0  # [Hz] At which the motion between the poses is looked at.


def check_key_poses(key_poses: KeyPoses, body: Body) -> tuple[Problem, ...]:
    """Return the problems of key poses on a body; where these have no errors, also those of the motion between them."""
    found: list[Problem] = []
    locations = key_poses.source.locations

    def report(rule: Rule, message: str, *subject: str | int) -> None:
        location = locations.locate(subject) or Location(str(key_poses.source.path) if key_poses.source.path else None)
        found.append(rule.problem(message, location, subject=subject))

    if key_poses.target_body and body.name and key_poses.target_body != body.name:
        report(rules.OTHER_BODY, f"the key poses are for {key_poses.target_body!r}, the body is {body.name!r}")
    names = {link.name for link in body.links}
    for number, pose in enumerate(key_poses.poses):
        unknown = [joint for joint in pose.joints if joint >= body.num_joints]
        if unknown:
            ids = listed(map(str, unknown))
            message = f"the pose at {pose.time:g} s has the joints {ids}; the body has ids up to {body.num_joints - 1}"
            report(rules.NO_SUCH_JOINT, message, "poses", number, "joints")
        for joint, value in pose.joints.items():
            if joint >= body.num_joints:
                continue
            limits = body.joints[joint]
            if not limits.lower - LIMIT_TOLERANCE <= value <= limits.upper + LIMIT_TOLERANCE:
                between = f"{limits.lower:.6g} to {limits.upper:.6g}"
                message = f"joint {limits.name!r} is at {value:.6g} at {pose.time:g} s; its range is {between}"
                report(rules.KEY_BEYOND_LIMIT, message, "poses", number, "joints", joint)
        for place, key in enumerate(pose.links):
            if key.name not in names and not 0 <= key.index < len(body.links):
                message = f"the body has no link {key.name!r}, nor one with the index {key.index}: the key is not used"
                report(rules.NO_SUCH_LINK, message, "poses", number, "links", place)
    if not key_poses.poses or any(problem.severity == "error" for problem in (*found, *key_poses.problems)):
        return tuple(found)
    for link, time, distance, angle in _missed(key_poses, body):
        message = (
            f"link {body.links[link].name!r} cannot be where its keys put it: it is {1000 * distance:.4g} mm and {angle:.4g} rad off "
            f"at {time:.4g} s"
        )
        numbers = [n for n, pose in enumerate(key_poses.poses) if pose.time <= time] or [0]
        report(rules.OUT_OF_REACH, message, "poses", numbers[-1])
    from bodymotion.checks.motions import check_motion_on_body

    return (*found, *check_motion_on_body(key_poses.to_motion(body, RATE), body))


def _missed(key_poses: KeyPoses, body: Body) -> list[tuple[int, float, float, float]]:
    """Return each link that misses its keys: its index, when it does so most [s], and by how much [m, rad]."""
    made = Plan(key_poses, body, "none", with_zmp=False).at(np.arange(int(RATE * key_poses.duration) + 1) / RATE)
    errors = np.nan_to_num(made.errors)
    worst = errors.max(axis=2)
    return [
        (link, float(made.times[frame]), float(errors[frame, n, 0]), float(errors[frame, n, 1]))
        for n, link in enumerate(made.links)
        if worst[frame := int(worst[:, n].argmax()), n] > MAX_MISS
    ]
