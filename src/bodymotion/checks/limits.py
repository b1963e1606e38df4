"""Limits of joints: whether each stays between them, and is no faster than it can be."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from bodymotion.checks import rules
from bodymotion.checks.physics.moments import Finding, Moment, runs
from bodymotion.checks.rows import place_of_frame
from bodymotion.diagnostics import Rule
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body
from bodymotion.model.links import Joint
from bodymotion.motion import Motion, MultiSE3Seq, MultiValueSeq

__all__ = ["TOLERANCE", "found_moments", "in_frames", "positions", "shares", "speeds"]

TOLERANCE = 1e-6
"""By so much [rad or m] a joint may be beyond its limit: files give few digits."""
FASTER = 1.001
"""By this factor a joint may be faster than its limit: the speed is that of the straight line between two frames."""


def positions(motion: Motion, number: int, joints: MultiValueSeq, q: Floats, body: Body) -> list[Finding]:
    """Say which joints are beyond their limits."""
    found = []
    for column, (joint, link) in enumerate(zip(body.joints, body.joint_links, strict=True)):
        if link < 0 or joint.type not in ("rotate", "slide") or joint.lower > joint.upper:
            continue
        beyond = np.maximum(joint.lower - q[:, column], q[:, column] - joint.upper)
        wrong = beyond > TOLERANCE
        count = int(np.count_nonzero(wrong))
        if not count:
            continue
        first, worst = int(np.argmax(wrong)), int(np.nanargmax(np.where(np.isnan(beyond), -np.inf, beyond)))
        name, unit = joint.name or body.links[link].name, "rad" if joint.type == "rotate" else "m"
        values = q[:, column]

        def said(frame: int, name: str = name, unit: str = unit, values: Floats = values, joint: Joint = joint) -> str:
            value = float(values[frame])
            limit = joint.lower if value < joint.lower else joint.upper
            return f"{name!r} is at {value:.6g} {unit} in frame {frame}, its limit is {limit:.6g} {unit}"

        message = f"{said(worst)}: beyond it in {in_frames(count)}, from frame {first} on"
        problem = rules.POSITION_LIMIT.problem(message, place_of_frame(motion, number, worst))
        when_wrong = found_moments(rules.POSITION_LIMIT, motion, number, joints, name, beyond, TOLERANCE, said)
        found.append(Finding(problem, when_wrong))
    return found


def shares(
    joints: MultiValueSeq, q: Floats, body: Body, calm: npt.NDArray[np.bool_]
) -> dict[int, tuple[Floats, Floats]]:
    """Give, for each joint that is too fast somewhere, its speeds (T − 1,), and which parts of its limit these are.

    Only of steps that are `calm` (T − 1,): of others something is said that explains their speed.
    """
    found: dict[int, tuple[Floats, Floats]] = {}
    if len(q) < 2:
        return found
    gaps = np.diff(joints.timeline.times)
    for column, (joint, link) in enumerate(zip(body.joints, body.joint_links, strict=True)):
        low, high = joint.velocity_lower, joint.velocity_upper
        if link < 0 or joint.type not in ("rotate", "slide", "crawler") or not low < 0 < high:
            continue
        speed = np.diff(q[:, column]) / gaps
        given = np.where(calm & np.isfinite(speed), speed, 0.0)
        part = np.maximum(given / low, given / high) if np.isfinite([low, high]).all() else _part(given, low, high)
        if (part > FASTER).any():
            found[column] = (given, part)
    return found


def speeds(
    motion: Motion, number: int, joints: MultiValueSeq, body: Body, fast: dict[int, tuple[Floats, Floats]]
) -> list[Finding]:
    """Say which joints are too fast, by their `shares`."""
    found = []
    for column, (given, part) in fast.items():
        joint, link = body.joints[column], body.joint_links[column]
        low, high = joint.velocity_lower, joint.velocity_upper
        wrong = part > FASTER
        count = int(np.count_nonzero(wrong))
        first, worst = int(np.argmax(wrong)), int(np.argmax(part))
        name, unit = joint.name or body.links[link].name, "m/s" if joint.type == "slide" else "rad/s"

        def said(
            frame: int, name: str = name, unit: str = unit, given: Floats = given, low: float = low, high: float = high
        ) -> str:
            limit = low if given[frame] < 0 else high
            return f"{name!r} moves at {given[frame]:.6g} {unit} from frame {frame} to {frame + 1}, its limit is {limit:.6g} {unit}"

        message = f"{said(worst)}: faster in {in_frames(count)}, from frame {first} on"
        problem = rules.SPEED_LIMIT.problem(message, place_of_frame(motion, number, worst))
        when_wrong = found_moments(rules.SPEED_LIMIT, motion, number, joints, name, part, FASTER, said)
        found.append(Finding(problem, when_wrong))
    return found


def found_moments(
    rule: Rule,
    motion: Motion,
    number: int,
    component: MultiValueSeq | MultiSE3Seq,
    subject: str,
    amount: Floats,
    threshold: float,
    said: Callable[[int], str],
) -> tuple[Moment, ...]:
    """Return the moments in which `amount` (of frames, or of the steps from them) is above a threshold; `said` tells of a frame."""
    times = component.timeline.times
    found, _ = runs(amount / threshold, times[: len(amount)])
    return tuple(
        Moment(
            rule.code,
            rule.severity,
            float(times[run.worst]),
            float(times[run.first]),
            float(times[run.last]),
            run.worst,
            subject,
            run.amount,
            said(run.worst),
            place_of_frame(motion, number, run.worst),
        )
        for run in found
    )


def _part(speed: Floats, low: float, high: float) -> Floats:
    """Return how much of its limit each speed is, where one of the two is infinite."""
    return np.asarray(np.where(speed < 0, speed / low, speed / high))


def in_frames(count: int) -> str:
    """Say how many frames."""
    return "1 frame" if count == 1 else f"{count} frames"
