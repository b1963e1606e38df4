"""Problems of a Spot animation: its own, those of the motion that is played, with all parameters at their corners, and its physics.

The physics are collisions, the floor, flight and torques (`physics`); the other rules about the played motion are in `spot.playback`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product

import numpy as np

from bodymotion.animation import Animation
from bodymotion.checks.physics import rules
from bodymotion.checks.physics.checking import physics
from bodymotion.checks.physics.samples import Ground
from bodymotion.diagnostics import Problem
from bodymotion.dynamics import soles
from bodymotion.spot.playback import spot_body
from bodymotion.spot.playback.dimensions import FOOT_RADIUS, LEGS
from bodymotion.spot.playback.parameters import NEUTRAL, NOT_SIMULATED, settings
from bodymotion.spot.playback.rules import LOOP
from bodymotion.spot.playback.validation import REACH_TOLERANCE, Played, Report, all_problems, played_move

OF_PHYSICS = {
    rule.code for rule in (rules.SINKS, rules.HOVERS, rules.TORQUE_LIMIT, rules.COLLIDES, rules.NO_COLLISIONS)
}
MIN_OVERLOAD = 0.03
"""[s] A shorter overload of a motor is not reported. Played motions are smooth, so that this is less than for recorded ones."""
MAX_CORNERS = 4
"""With more corners than this, each parameter is tried alone at its ends, and all together at their lower and at their upper ends."""
MAX_CORNER_FRAMES = 20_000  # Frames that are played at corners; of a long animation only the first corners are tried.


def check_animation(
    animation: Animation,
    *,
    arm: bool | None = None,
    bpm: float | None = None,
    parameters: Mapping[str, float] | None = None,
) -> tuple[Problem, ...]:
    """Return all problems of an animation, as `all_problems`, with those of its physics.

    Without `parameters` it is played with their defaults, and at the corners of their ranges. Of each rule that is broken at corners only,
    the corner with the fewest changed parameters is reported. With `parameters` it is played with these values only.
    """

    def validated(animation: Animation, *, arm: bool | None) -> Iterator[Problem]:
        played = played_move(animation, arm, bpm, parameters)
        if not isinstance(played, Played):
            yield played
            return
        known: set[str] = set()
        frames = 0
        for corner in ({}, *(() if parameters is not None else corners(animation))):
            if corner:
                played = played_move(animation, arm, bpm, corner)
                frames += len(played.times) if isinstance(played, Played) else 0
                if frames > MAX_CORNER_FRAMES:
                    return
            found = (*played.problems(), *_physics(played)) if isinstance(played, Played) else (played,)
            values = ", ".join(f"{name} = {value:g}" for name, value in corner.items())
            for one in found:
                if not corner:
                    yield one
                elif one.rule not in known and one.severity != "note":
                    data = {**one.data, "parameters": corner}
                    yield replace(one, severity="warning", message=f"with {values}: {one.message}", data=data)
            known.update(one.rule for one in found)
            # A fast move starts again: its jump is the note about its ends.
            known.add(LOOP.code)

    return all_problems(animation, arm=arm, validated=validated)


def corners(animation: Animation) -> Iterator[dict[str, float]]:
    """Return parameter values at the ends of their ranges, without defaults; corners of fewer parameters first."""
    defaults = settings(animation)
    ends: list[list[tuple[str, float]]] = []
    for name, given in animation.parameters.items():
        if name in NEUTRAL and name not in NOT_SIMULATED:
            values = dict.fromkeys(
                value for value in (given.minimum, given.maximum) if value not in (None, defaults[name])
            )
            ends.append([(name, float(value)) for value in values if value is not None])
    ends = [one for one in ends if one]
    for pair in (pair for one in ends for pair in one):
        yield dict([pair])
    if len(ends) < 2:
        return
    if np.prod([float(len(one)) for one in ends]) <= MAX_CORNERS:
        yield from map(dict, product(*ends))
    else:
        yield from (dict(one[end] for one in ends) for end in (0, -1))


def _physics(played: Played) -> list[Problem]:
    """Return the problems of a played motion by the rules `OF_PHYSICS`, at their keyframes."""
    body = spot_body(arm=played.arm is not None)
    feet = soles(body, [f"{leg}_foot" for leg in LEGS])
    ground = Ground(feet, None, played.floor - FOOT_RADIUS, level=True)
    report = Report(played.animation, played.timing)
    # Where feet miss their goals, legs may cross only because of that.
    sound = played.reliable & (played.errors[:, : len(LEGS)] <= REACH_TOLERANCE).all(axis=1)
    with np.errstate(all="ignore"):
        findings = physics(played.motion, body, played.joints, ground=ground, min_overload=MIN_OVERLOAD)
    for one in findings:
        if one.problem.rule not in OF_PHYSICS:
            continue
        frame = one.problem.data.get("frame", 0)
        if isinstance(frame, int) and sound[frame]:
            key = report.keyframe(frame)
            report.diagnostics.add(replace(one.problem, location=report.location(key), subject=("keyframes", key)))
    return list(report.diagnostics.problems)
