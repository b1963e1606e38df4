"""Checks of a motion on the body that it is for: its columns, and the limits of the joints."""

from __future__ import annotations

import numpy as np

from bodymotion import rotations
from bodymotion.arrays import Floats
from bodymotion.body import Body
from bodymotion.checks import rules
from bodymotion.checks.rows import place_of_frame
from bodymotion.diagnostics import Location, Problem
from bodymotion.motion import Motion, MultiSE3Seq, MultiValueSeq

__all__ = ["check_motion_on_body"]

TOLERANCE = 1e-6
"""By so much [rad or m] a joint may be beyond its limit: files give few digits."""
FASTER = 1.001
"""By this factor a joint may be faster than its limit: the speed is that of the straight line between two frames."""
CLOSE = 1e-3
"""[m, rad] Link poses that differ from those of root and joints by less agree."""
PIECE = 1 << 16
"""How many poses are worked on at a time."""


def check_motion_on_body(motion: Motion, body: Body) -> tuple[Problem, ...]:
    """Give what is wrong with a motion when the body moves by it."""
    joints, links = motion.joint_displacement, motion.link_position
    problems: list[Problem] = []
    if joints is None and links is None:
        where = Location(None if motion.source.path is None else str(motion.source.path))
        return (rules.NOTHING_MOVES.problem("the motion has neither JointDisplacement nor LinkPosition", where),)
    q = None
    if joints is not None:
        q = _columns(motion, joints, body, problems)
        if q is not None:
            number = _number(motion, joints)
            _positions(motion, number, q, body, problems)
            _speeds(motion, number, joints, q, body, problems)
    if links is not None and _links_fit(motion, links, body, joints is not None, problems) and q is not None:
        assert joints is not None
        _agree(motion, links, joints, q, body, problems)
    return tuple(problems)


def _number(motion: Motion, component: MultiValueSeq | MultiSE3Seq) -> int:
    return next(k for k, one in enumerate(motion.components) if one is component)


def _place(motion: Motion, component: MultiValueSeq | MultiSE3Seq) -> Location:
    path = motion.source.path
    return Location(None if path is None else str(path), inside=f"components[{_number(motion, component)}]")


def _columns(motion: Motion, joints: MultiValueSeq, body: Body, problems: list[Problem]) -> Floats | None:
    try:
        q = body.joint_values(joints)
    except ValueError as error:
        problems.append(rules.JOINTS.problem(str(error), _place(motion, joints)))
        return None
    if joints.num_parts > body.num_joints:
        message = (
            f"{joints.content} has {joints.num_parts} columns, {body.name or 'the body'} has {body.num_joints} joints"
        )
        problems.append(rules.MORE_COLUMNS.problem(message, _place(motion, joints)))
    return q


def _links_fit(motion: Motion, links: MultiSE3Seq, body: Body, joints: bool, problems: list[Problem]) -> bool:
    count, wanted = links.num_parts, len(body.links)
    if count > wanted or (count < wanted and not joints):
        wrong = f"{links.content} has poses of {count} links, {body.name or 'the body'} has {wanted} links"
        without = "" if count > wanted else ", and there are no joints to get the others from"
        problems.append(rules.LINKS.problem(wrong + without, _place(motion, links)))
    return count == wanted


def _positions(motion: Motion, number: int, q: Floats, body: Body, problems: list[Problem]) -> None:
    for column, (joint, link) in enumerate(zip(body.joints, body.joint_links, strict=True)):
        if link < 0 or joint.type not in ("rotate", "slide") or joint.lower > joint.upper:
            continue
        beyond = np.maximum(joint.lower - q[:, column], q[:, column] - joint.upper)
        wrong = beyond > TOLERANCE
        count = int(np.count_nonzero(wrong))
        if not count:
            continue
        first, worst = int(np.argmax(wrong)), int(np.nanargmax(np.where(np.isnan(beyond), -np.inf, beyond)))
        unit = "rad" if joint.type == "rotate" else "m"
        value = float(q[worst, column])
        limit = joint.lower if value < joint.lower else joint.upper
        message = (
            f"{joint.name or body.links[link].name!r} is at {value:.6g} {unit} in frame {worst}, its limit is {limit:.6g} {unit}: beyond "
            f"it in {_frames(count)}, from frame {first} on"
        )
        problems.append(rules.POSITION_LIMIT.problem(message, place_of_frame(motion, number, first)))


def _speeds(motion: Motion, number: int, joints: MultiValueSeq, q: Floats, body: Body, problems: list[Problem]) -> None:
    if len(q) < 2:
        return
    speed = np.diff(q, axis=0) / np.diff(joints.timeline.times)[:, None]
    for column, (joint, link) in enumerate(zip(body.joints, body.joint_links, strict=True)):
        low, high = joint.velocity_lower, joint.velocity_upper
        if link < 0 or joint.type not in ("rotate", "slide", "crawler") or not low < 0 < high:
            continue
        given = np.where(np.isfinite(speed[:, column]), speed[:, column], 0.0)
        part = np.maximum(given / low, given / high) if np.isfinite([low, high]).all() else _part(given, low, high)
        wrong = part > FASTER
        count = int(np.count_nonzero(wrong))
        if not count:
            continue
        first, worst = int(np.argmax(wrong)), int(np.argmax(part))
        unit = "m/s" if joint.type == "slide" else "rad/s"
        limit = low if given[worst] < 0 else high
        message = (
            f"{joint.name or body.links[link].name!r} moves at {given[worst]:.6g} {unit} from frame {worst} to {worst + 1}, its limit is "
            f"{limit:.6g} {unit}: faster in {_frames(count)}, from frame {first} on"
        )
        problems.append(rules.SPEED_LIMIT.problem(message, place_of_frame(motion, number, first)))


def _part(speed: Floats, low: float, high: float) -> Floats:
    """Give how much of its limit each speed is, where one of the two is infinite."""
    return np.asarray(np.where(speed < 0, speed / low, speed / high))


def _agree(
    motion: Motion, links: MultiSE3Seq, joints: MultiValueSeq, q: Floats, body: Body, problems: list[Problem]
) -> None:
    if links.timeline != joints.timeline or not body.links or not len(q):
        return
    step = max(PIECE // len(body.links), 1)
    worst = np.zeros(2)
    at = [(0, 0), (0, 0)]
    wrong = 0
    first = -1
    for start in range(0, len(q), step):
        given = links.values[start : start + step]
        expected = body.forward_kinematics(q[start : start + step], given[:, 0])
        apart = np.linalg.norm(given[..., :3] - expected[..., :3], axis=-1)
        turned = rotations.angle_between(rotations.normalized(given[..., 3:]), rotations.normalized(expected[..., 3:]))
        for kind, amount in enumerate((apart, turned)):
            amount = np.where(np.isfinite(amount), amount, 0.0)
            frame, link = (int(k) for k in np.unravel_index(int(np.argmax(amount)), amount.shape))
            if amount[frame, link] > worst[kind]:
                worst[kind], at[kind] = amount[frame, link], (start + frame, link)
        bad = ((apart > CLOSE) | (turned > CLOSE)).any(axis=1)
        if first < 0 and bad.any():
            first = start + int(np.argmax(bad))
        wrong += int(np.count_nonzero(bad))
    if wrong:
        (frame_a, link_a), (frame_b, link_b) = at
        message = (
            f"links are up to {worst[0] * 1000:.3g} mm ({body.links[link_a].name!r}, frame {frame_a}) and {np.degrees(worst[1]):.3g}° "
            f"({body.links[link_b].name!r}, frame {frame_b}) from where root and joints put them, in {_frames(wrong)}"
        )
        place = place_of_frame(motion, _number(motion, links), first)
        problems.append(rules.POSES_DISAGREE.problem(message, place))


def _frames(count: int) -> str:
    return "1 frame" if count == 1 else f"{count} frames"
