"""Rules about a motion, alone and on the body that it is for.

Alone: numbers and quaternions, and whether numbers are in metres, radians and frames
per second (`units`). On its body: its columns, the limits of the joints (`limits`),
link poses, and physics.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from weakref import ref

import numpy as np

from bodymotion.checks import rules
from bodymotion.checks.findings import (
    Finding,
    Moment,
    all_frames,
    component_number,
    frame_location,
    part_name,
)
from bodymotion.checks.limits import check_frame_rate, check_positions, check_speeds
from bodymotion.checks.physics.checking import check_physics
from bodymotion.checks.units import (
    check_degrees,
    check_degrees_on_body,
    check_metres,
    check_time_steps,
)
from bodymotion.diagnostics import Diagnostics, Location, Problem, Rule, Subject
from bodymotion.diagnostics.text import counted
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Bools, Floats
from bodymotion.model.body import Body, fit_problems
from bodymotion.motion import Motion, MultiSE3Seq, MultiValueSeq, OtherSeq, Vector3Seq
from bodymotion.motion.components import (
    JOINT_DISPLACEMENT,
    LINK_POSITION,
    ZMP,
    TimedComponent,
    Timeline,
    out_of_order,
    with_even_steps,
)
from bodymotion.motion.rules import (
    MAX_LENGTH_ERROR,
    MOTION_NOT_FINITE,
    MOTION_QUATERNION,
    MOTION_QUATERNION_LENGTH,
    MOTION_ZERO_QUATERNION,
    ROUNDING,
)

# Quaternions up to this length are zero. The square of such a length is 0, and memory
# that was never written holds such numbers.
MAX_ZERO_LENGTH = 1e-150
# [m, rad] The difference from forward kinematics that is ignored.
POSE_TOLERANCE = 1e-3
# Poses that are compared in one block, which bounds the memory.
BLOCK_POSES = 1 << 16


def check_motion(motion: Motion) -> tuple[Problem, ...]:
    """Return the problems of reading a motion, wrong numbers and quaternions."""
    found = Diagnostics(motion.source.path)
    for number, component in enumerate(motion.components):
        if isinstance(component, OtherSeq):
            continue
        check = _NumberCheck(found, motion, number, component)
        check.check_finite()
        if isinstance(component, MultiSE3Seq):
            check.check_quaternions(component)
    return (*motion.problems, *found.problems)


@dataclass(frozen=True)
class _NumberCheck:
    """The check of the numbers of a component, the `number`-th of a motion."""

    found: Diagnostics
    motion: Motion
    number: int
    component: TimedComponent

    def check_finite(self) -> None:
        """Report values with numbers that are not finite.

        A value is one of a joint, a pose or a point.
        """
        component = self.component
        content = component.content
        is_wrong: Bools = ~np.isfinite(component.values)
        unknown = self.motion.source.locations.unknown
        for column, name in enumerate(component.part_labels):
            if ("contents", content, name) in unknown:
                is_wrong[:, column] = False
        # (T, P) for joints, (T, P, 7) for poses, of which one wrong number is enough.
        numbers = is_wrong
        if isinstance(component, MultiSE3Seq):
            is_wrong = np.any(is_wrong, axis=-1)
        for frame, part in self._each(MOTION_NOT_FINITE, is_wrong):
            owner = ""
            if not isinstance(component, Vector3Seq):
                owner = f" of {part_name(component, part)}"
            message = f"{content}: a number{owner} in frame {frame} is not finite"
            inside: list[int] = []
            if isinstance(component, MultiSE3Seq):
                axis = int(np.argmax(numbers[frame, part]))
                # Only numbers of positions have a location of their own.
                inside = [axis] if axis < 3 else []
            self._report(MOTION_NOT_FINITE, message, frame, part, *inside)

    def check_quaternions(self, component: MultiSE3Seq) -> None:
        """Report the quaternions whose length is not 1."""
        length = _quaternion_lengths(component)
        error = np.abs(length - 1)
        is_zero = length < MAX_ZERO_LENGTH
        for rule, is_wrong in (
            (MOTION_ZERO_QUATERNION, is_zero),
            (MOTION_QUATERNION_LENGTH, ~is_zero & (error > MAX_LENGTH_ERROR)),
            (MOTION_QUATERNION, (error > ROUNDING) & (error <= MAX_LENGTH_ERROR)),
        ):
            for frame, part in self._each(rule, is_wrong):
                message = (
                    f"{component.content}: the quaternion of "
                    f"{part_name(component, part)} in frame {frame} is of length "
                    f"{length[frame, part]:.6g}"
                )
                self._report(rule, message, frame, part)

    def _each(self, rule: Rule, is_wrong: Bools) -> Iterator[tuple[int, int]]:
        """Return the frame and the part of each wrong value in (T, P).

        Those beyond the cap of the collector are only counted.
        """
        indices = np.argwhere(is_wrong)
        for done, (frame, part) in enumerate(indices):
            if self.found.is_full(rule):
                self.found.count_more(rule, len(indices) - done)
                return
            yield int(frame), int(part)

    def _report(
        self, rule: Rule, message: str, frame: int, part: int, *inside: int
    ) -> None:
        subject: Subject = ("components", self.number, "frames", frame, part)
        if self.motion.source.locations.is_known(subject):
            self.found.report(
                rule,
                message,
                frame_location(self.motion, self.number, frame, part, *inside),
                subject=subject,
                data={"frame": frame, "part": part},
            )


def _quaternion_lengths(component: MultiSE3Seq) -> Floats:
    """Return the lengths (T, P) of the quaternions.

    NaN where a number is not finite.
    """
    quaternions = component.values[..., 3:]
    return np.asarray(
        np.hypot.reduce(
            np.where(np.isfinite(quaternions), np.abs(quaternions), np.nan), axis=-1
        )
    )


def check_units(motion: Motion) -> list[Problem]:
    """Return the problems of numbers that look like other units, without a body."""
    motion = _with_unknown(motion)
    degrees = check_degrees(motion)
    in_mm, _ = check_metres(motion)
    return [*check_time_steps(motion), *in_mm, *degrees]


def _with_unknown(motion: Motion) -> Motion:
    """Return a motion in which what is unknown is NaN.

    These are numbers that are not finite, quaternions that are no orientations, and
    stamped frames that could not be read, or are not in order. The times of the latter
    are at even steps between the others.
    """
    components = list(motion.components)
    for k, component in enumerate(motion.components):
        if not isinstance(component, OtherSeq):
            components[k] = _component_with_unknown(component)
    return replace(motion, components=tuple(components))


def _component_with_unknown(component: TimedComponent) -> TimedComponent:
    """Return a component whose wrong numbers and frames are NaN."""
    is_unknown = ~np.isfinite(component.values)
    timeline = component.timeline
    if isinstance(component, MultiSE3Seq):
        error = np.abs(_quaternion_lengths(component) - 1)
        is_unknown[..., 3:] |= (error > MAX_LENGTH_ERROR)[..., None]
    if timeline.stamps is not None:
        is_wrong = out_of_order(timeline.stamps)
        if is_wrong.any():
            is_unknown[is_wrong] = True
            stamps = np.where(is_wrong, np.nan, timeline.stamps)
            timeline = Timeline.stamped(with_even_steps(stamps))
    if not is_unknown.any() and timeline is component.timeline:
        return component
    values = np.where(is_unknown, np.nan, component.values)
    return replace(component, values=values, timeline=timeline)


def check_motion_on_body(motion: Motion, body: Body) -> tuple[Problem, ...]:
    """Return the problems of a motion on the body that it is for."""
    return tuple(finding.problem for finding in _find_last(motion, body))


def moments(motion: Motion, body: Body) -> tuple[Moment, ...]:
    """Return the moments of the problems of a motion.

    On its body, in order of time.

    Those that `check` reports. Of each rule, and for limits of each joint, the 100
    worst are kept; `amount` orders them. Problems of a whole motion have none.
    """
    found: list[Moment] = []
    with np.errstate(all="ignore"):
        for finding in _find_last(motion, body):
            found += finding.moments
    return tuple(
        sorted(found, key=lambda moment: (moment.time, moment.rule, moment.subject))
    )


# The findings of the last motion on its body. For a report that calls both `check` and
# `moments`.
_last: list[tuple[ref[Motion], ref[Body], list[Finding]]] = []


def _find_last(motion: Motion, body: Body) -> list[Finding]:
    for last_motion, last_body, findings in _last:
        if last_motion() is motion and last_body() is body:
            return findings
    findings = _find(motion, body)
    _last[:] = [(ref(motion), ref(body), findings)]
    return findings


def _find(motion: Motion, body: Body) -> list[Finding]:
    """Return the findings of a motion on its body.

    Frames that could not be read are NaN. The rules look at the others, and at the
    components whose names are known.
    """
    motion = _with_unknown(motion)
    problems = Diagnostics()
    q = _fit_joints(motion, body, problems)
    links_fit = _fit_links(motion, body, problems)
    degrees: list[Problem] = []
    if q is not None and len(q):
        degrees = check_degrees_on_body(motion, q, body)
    in_mm, unusable = check_metres(motion, body, None if degrees else q)
    time_steps = check_time_steps(motion)
    problems.extend([*time_steps, *in_mm, *degrees])
    findings = [*map(Finding, problems.problems)]
    links = motion.link_position
    if degrees or (motion.joint_displacement is None and links is None):
        # Limits, speeds and physics would only repeat the finding about degrees.
        return findings
    if q is not None:
        findings += check_positions(motion, q, body)
        if links is not None and links_fit and links.content not in unusable:
            findings += _check_link_poses(motion, links, q, body)
    # Speeds and physics would only repeat the finding about a wrong rate. A long gap
    # between time stamps changes no other speed.
    is_wrong_rate = any(
        problem.rule == rules.FRAME_RATE.code or problem.data.get("every_step")
        for problem in time_steps
    )
    if is_wrong_rate or not _is_complete(motion):
        return findings
    physics: list[Finding] = []
    if not problems.has_errors:
        physics = _check_rate_or_physics(motion, body, q, unusable)
    if q is None or _has_wrong_rate(physics):
        return findings + physics
    return findings + check_speeds(motion, q, body, physics) + physics


def _check_rate_or_physics(
    motion: Motion, body: Body, q: Floats | None, unusable: frozenset[str]
) -> list[Finding]:
    """Return the finding of a wrong frame rate, or else those about physics."""
    wrong_rate = [] if q is None else check_frame_rate(motion, q, body)
    return wrong_rate or check_physics(motion, body, q, unusable)


def _has_wrong_rate(findings: list[Finding]) -> bool:
    return any(finding.problem.rule == rules.FRAME_RATE.code for finding in findings)


def _fit_joints(motion: Motion, body: Body, problems: Diagnostics) -> Floats | None:
    """Return the joint values (T, J) of a motion.

    What does not fit the body is reported.

    None where they are unknown.
    """
    joints = motion.joint_displacement
    if joints is None:
        is_unread = _is_unread(motion, JOINT_DISPLACEMENT, LINK_POSITION)
        if motion.link_position is None and not is_unread:
            path = motion.source.path
            problems.add(
                rules.NOTHING_MOVES.problem(
                    "the motion has neither JointDisplacement nor LinkPosition",
                    Location(None if path is None else str(path)),
                )
            )
        return None
    locate = partial(_component_location, motion, joints)
    try:
        q = body.joint_values(joints)
    except ValueError as error:
        problems.add(rules.JOINTS.problem(str(error), locate(), ""))
        return None
    problems.extend(fit_problems(motion, body, locate))
    return q


def _fit_links(motion: Motion, body: Body, problems: Diagnostics) -> bool:
    """Return whether the motion has no poses of links, or those of all.

    And report poses of too many, or of too few to know all.
    """
    links = motion.link_position
    if links is None:
        return True
    count = links.num_parts
    wanted = len(body.links)
    message = (
        f"{links.content} has poses of {counted(count, 'link')}, "
        f"{body.name or 'the body'} has {counted(wanted, 'link')}"
    )
    is_without_joints = motion.joint_displacement is None and not _is_unread(
        motion, JOINT_DISPLACEMENT
    )
    if count < wanted and is_without_joints:
        message += ", and no joints to compute the others from"
    if count > wanted or (count < wanted and is_without_joints):
        location = _component_location(motion, links)
        problems.add(rules.LINKS.problem(message, location))
    return count == wanted


def _is_unread(motion: Motion, *contents: str) -> bool:
    """Return whether components of one of these contents may have been lost.

    They may be in the file, but could not be read.
    """
    is_known = motion.source.locations.is_known
    return not (
        is_known(("components", "all"))
        and all(is_known(("contents", content)) for content in contents)
    )


def _is_complete(motion: Motion) -> bool:
    """Return whether all frames are known, but for single numbers, and in order."""
    contents = (JOINT_DISPLACEMENT, LINK_POSITION, ZMP)
    for subject in motion.source.locations.unknown:
        if subject[0] == "contents" or _is_in_other(motion, subject, contents):
            continue
        is_one_number = subject[2:3] == ("frames",) and len(subject) > 3
        if not is_one_number:
            return False
    return all(
        (np.diff(component.timeline.times) > 0).all() for component in motion.timed
    )


def _is_in_other(motion: Motion, subject: Subject, contents: tuple[str, ...]) -> bool:
    """Return whether a subject is in a component of another content."""
    return any(
        subject[:2] == ("components", number) and component.content not in contents
        for number, component in enumerate(motion.components)
    )


def _component_location(
    motion: Motion, component: MultiValueSeq | MultiSE3Seq
) -> Location:
    """Return the location of a component.

    That of its first frame, where it has one.
    """
    number = component_number(motion, component)
    inside = f"components[{number}]"
    if component.num_frames:
        return replace(frame_location(motion, number, 0), inside=inside)
    path = motion.source.path
    return Location(None if path is None else str(path), inside=inside)


def _check_link_poses(
    motion: Motion, links: MultiSE3Seq, q: Floats, body: Body
) -> list[Finding]:
    """Report recorded link poses that differ from those of root and joints."""
    joints = motion.joint_displacement
    if joints is None or links.timeline != joints.timeline:
        return []
    if not body.links or not len(q):
        return []
    distances = _PoseErrors(body, len(q))
    angles = _PoseErrors(body, len(q))
    # In blocks of frames: the poses of all links of a long motion would not fit into
    # memory.
    step = max(BLOCK_POSES // len(body.links), 1)
    for start in range(0, len(q), step):
        recorded = links.values[start : start + step]
        expected = body.forward_kinematics(q[start : start + step], recorded[:, 0])
        offsets = recorded[..., :3] - expected[..., :3]
        distances.add(start, np.linalg.norm(offsets, axis=-1))
        angles.add(start, rotations.angle_between(recorded[..., 3:], expected[..., 3:]))
    errors = np.maximum(distances.errors, angles.errors)
    is_wrong = errors > POSE_TOLERANCE
    if not is_wrong.any():
        return []
    differs = distances.differs | angles.differs
    message = (
        f"links are up to {distances.worst * 1000:.3g} mm ({distances.position}) and "
        f"{np.degrees(angles.worst):.3g}° ({angles.position}) from the forward "
        f"kinematics of root and joints, in "
        f"{counted(int(np.count_nonzero(is_wrong)), 'frame')}: "
        f"{np.count_nonzero(differs)} of {len(body.links)} links; the first in the "
        f"tree is {body.links[int(np.argmax(differs))].name!r}"
    )
    frames = all_frames(motion, links)
    location = frames.locate(int(np.argmax(is_wrong)))
    problem = rules.POSES_DISAGREE.problem(message, location)
    text = "links differ from the forward kinematics of root and joints in"
    moments = frames.moments(
        rules.POSES_DISAGREE,
        errors / POSE_TOLERANCE,
        lambda run: f"{text} {frames.when(run.worst)}",
    )
    return [Finding(problem, tuple(moments))]


class _PoseErrors:
    """Errors of link poses, in position or in orientation.

    The largest of each frame, `errors` (T,), and in which links some are too large,
    `differs` (L,); the `worst` of all, and its link and frame as text.
    """

    def __init__(self, body: Body, num_frames: int) -> None:
        self._body = body
        self.errors = np.zeros(num_frames)
        self.differs = np.zeros(len(body.links), dtype=bool)
        self.worst = 0.0
        self.position = f"{body.links[0].name!r}, frame 0"

    def add(self, start: int, errors: Floats) -> None:
        """Add the errors (T, L) of the frames from `start` on."""
        # What is not finite is reported by its own rule.
        errors[~np.isfinite(errors)] = 0.0
        self.errors[start : start + len(errors)] = errors.max(axis=1)
        self.differs |= (errors > POSE_TOLERANCE).any(axis=0)
        frame, link = np.unravel_index(np.argmax(errors), errors.shape)
        if errors[frame, link] > self.worst:
            self.worst = float(errors[frame, link])
            self.position = f"{self._body.links[link].name!r}, frame {start + frame}"
