"""Checks of a motion on the body that it is for: its columns, the limits of the joints, link poses, and physics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bodymotion.checks import rules
from bodymotion.checks.degrees import look_like_degrees
from bodymotion.checks.limits import TOLERANCE, found_moments, in_frames, positions, shares, speeds
from bodymotion.checks.physics.checking import calm_steps, physics
from bodymotion.checks.physics.moments import Finding, Moment, when
from bodymotion.checks.rows import place_of_frame
from bodymotion.checks.units import in_millimetres, time_steps, too_many_frames
from bodymotion.diagnostics import Location, Problem
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body
from bodymotion.motion import Motion, MultiSE3Seq, MultiValueSeq

__all__ = ["check_motion_on_body", "moments"]

CLOSE = 1e-3
"""[m, rad] Link poses that differ from those of root and joints by less agree."""
PIECE = 1 << 16
"""How many poses are worked on at a time."""


def check_motion_on_body(motion: Motion, body: Body) -> tuple[Problem, ...]:
    """Return what is wrong with a motion when the body moves by it."""
    return tuple(one.problem for one in _findings(motion, body))


def moments(motion: Motion, body: Body) -> tuple[Moment, ...]:
    """Return when a motion breaks a rule on its body, in order of time: the moments of the problems that `check` tells.

    They are those of limits (MOT204, MOT205), of link poses (MOT206) and of physics (MOT3xx); of one rule, and for limits of one joint,
    the 100 worst. `amount` tells which of one rule is worst. What is wrong with a motion as a whole has none.
    """
    with np.errstate(all="ignore"):
        found = [moment for one in _findings(motion, body) for moment in one.moments]
    return tuple(sorted(found, key=lambda moment: (moment.time, moment.rule, moment.subject)))


def _findings(motion: Motion, body: Body) -> list[Finding]:
    joints, links = motion.joint_displacement, motion.link_position
    if joints is None and links is None:
        where = Location(None if motion.source.path is None else str(motion.source.path))
        return [
            Finding(rules.NOTHING_MOVES.problem("the motion has neither JointDisplacement nor LinkPosition", where))
        ]
    problems: list[Problem] = []
    found: list[Finding] = []
    q = None
    degrees = False
    if joints is not None:
        q = _columns(motion, joints, body, problems)
        number = _number(motion, joints)
        if q is not None and len(q) and (seen := look_like_degrees(q, body, TOLERANCE)) is not None:
            degrees = True
            problems.append(rules.IN_DEGREES.problem(seen[0], place_of_frame(motion, number, seen[1])))
        elif q is not None and len(q):
            found += positions(motion, number, joints, q, body)
    fits = links is None or _links_fit(motion, links, body, joints is not None, problems)
    if degrees:
        # All that would be found is that.
        return [*map(Finding, problems)]
    told, doubtful = in_millimetres(motion, body, q)
    problems += [*told, *time_steps(motion)]
    if links is not None and fits and q is not None and links.content not in doubtful:
        assert joints is not None
        found += _agree(motion, links, joints, q, body)
    if any(problem.severity == "error" for problem in problems):
        of_physics = []
    elif joints is not None and q is not None and (hurried := too_many_frames(motion, joints, q, body)):
        of_physics = hurried
    else:
        of_physics = physics(motion, body, q, doubtful)
    if (
        joints is not None
        and q is not None
        and not any(one.problem.rule == rules.FRAME_RATE.code for one in of_physics)
    ):
        fast = shares(joints, q, body, calm_steps(joints.timeline.times, of_physics))
        found += speeds(motion, _number(motion, joints), joints, body, fast)
    found += of_physics
    return [*map(Finding, problems), *found]


def _number(motion: Motion, component: MultiValueSeq | MultiSE3Seq) -> int:
    return next(k for k, one in enumerate(motion.components) if one is component)


def _place(motion: Motion, component: MultiValueSeq | MultiSE3Seq) -> Location:
    """Return the place of a component: its first frame, where it has one."""
    number = _number(motion, component)
    inside = f"components[{number}]"
    if component.num_frames:
        return replace(place_of_frame(motion, number, 0), inside=inside)
    path = motion.source.path
    return Location(None if path is None else str(path), inside=inside)


def _columns(motion: Motion, joints: MultiValueSeq, body: Body, problems: list[Problem]) -> Floats | None:
    try:
        q = body.joint_values(joints)
    except ValueError as error:
        problems.append(
            rules.JOINTS.problem(str(error).removesuffix(" Is it a motion of another body?"), _place(motion, joints))
        )
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


def _agree(motion: Motion, links: MultiSE3Seq, joints: MultiValueSeq, q: Floats, body: Body) -> list[Finding]:
    if links.timeline != joints.timeline or not body.links or not len(q):
        return []
    step = max(PIECE // len(body.links), 1)
    worst = np.zeros(2)
    at = [(0, 0), (0, 0)]
    amount = np.zeros(len(q))
    off = np.zeros(len(body.links), dtype=bool)
    for start in range(0, len(q), step):
        given = links.values[start : start + step]
        expected = body.forward_kinematics(q[start : start + step], given[:, 0])
        apart = np.linalg.norm(given[..., :3] - expected[..., :3], axis=-1)
        turned = rotations.angle_between(rotations.normalized(given[..., 3:]), rotations.normalized(expected[..., 3:]))
        for kind, one in enumerate((apart, turned)):
            one[~np.isfinite(one)] = 0.0
            frame, link = (int(k) for k in np.unravel_index(int(np.argmax(one)), one.shape))
            if one[frame, link] > worst[kind]:
                worst[kind], at[kind] = one[frame, link], (start + frame, link)
        both = np.maximum(apart, turned)
        amount[start : start + len(given)] = both.max(axis=1)
        off |= (both > CLOSE).any(axis=0)
    wrong = amount > CLOSE
    if not wrong.any():
        return []
    (frame_a, link_a), (frame_b, link_b) = at
    count, frames = int(np.count_nonzero(off)), in_frames(int(np.count_nonzero(wrong)))
    message = (
        f"links are up to {worst[0] * 1000:.3g} mm ({body.links[link_a].name!r}, frame {frame_a}) and {np.degrees(worst[1]):.3g}° "
        f"({body.links[link_b].name!r}, frame {frame_b}) from where root and joints put them, in {frames}: "
        f"{count} of {len(body.links)} links, the first in the tree {body.links[int(np.argmax(off))].name!r}"
    )
    number = _number(motion, links)
    problem = rules.POSES_DISAGREE.problem(message, place_of_frame(motion, number, int(np.argmax(wrong))))
    times = links.timeline.times

    def said(frame: int) -> str:
        return f"links are not where root and joints put them in {when(frame, times[frame])}"

    return [
        Finding(problem, found_moments(rules.POSES_DISAGREE, motion, number, links, "", amount, CLOSE, said)),
    ]
