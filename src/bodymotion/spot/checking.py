"""Problems of a Spot animation.

Its own, those of the motion that is played, with all parameters at their corners, and
its physics.

The physics are collisions, the floor, flight and torques (`physics`); the other rules
about the played motion are in `spot.playback`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from bodymotion.checks.physics import rules
from bodymotion.checks.physics.checking import physics_of_plays
from bodymotion.diagnostics import Problem
from bodymotion.dynamics import soles
from bodymotion.motion.feet import LEGS
from bodymotion.spot.animation import Animation
from bodymotion.spot.playback import spot_body
from bodymotion.spot.playback.dimensions import FOOT_RADIUS
from bodymotion.spot.playback.rules import LOOP
from bodymotion.spot.playback.timing import NEUTRAL, NOT_SIMULATED, settings
from bodymotion.spot.playback.validation import (
    REACH_TOLERANCE,
    Played,
    Report,
    all_problems,
    played_move,
)

_PHYSICS = (
    rules.DEPTH,
    rules.FLIGHT,
    rules.TORQUE_LIMIT,
    rules.COLLISION,
    rules.NO_COLLISIONS,
)
OF_PHYSICS = {rule.code for rule in _PHYSICS}
MIN_OVERLOAD = 0.03
"""[s] A shorter overload of a motor is not reported.

Played motions are smooth, so that this is less than for recorded ones.
"""
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

    Without `parameters` it is played with their defaults, and at the corners of their
    ranges. Of each rule that is broken at corners only, the corner with the fewest
    changed parameters is reported. With `parameters` it is played with these values
    only.
    """

    def validated(animation: Animation, *, arm: bool | None) -> Iterator[Problem]:
        results: list[tuple[dict[str, float], Played | Problem]] = []
        for corner in ({}, *(() if parameters is not None else corners(animation))):
            played = played_move(animation, arm, bpm, corner or parameters)
            if (
                isinstance(played, Played)
                and len(results) * len(played.times) > MAX_CORNER_FRAMES
            ):
                break
            results.append((corner, played))
            if not isinstance(played, Played) and not corner:
                break
        plays = [played for _, played in results if isinstance(played, Played)]
        of_physics = iter(_physics(plays))
        known: set[str] = set()
        for corner, played in results:
            if isinstance(played, Played):
                found = (*played.problems(), *next(of_physics))
            else:
                found = (played,)
            values = ", ".join(f"{name} = {value:g}" for name, value in corner.items())
            for one in found:
                if not corner:
                    yield one
                elif one.rule not in known and one.severity != "note":
                    data = {**one.data, "parameters": corner}
                    yield replace(
                        one,
                        severity="warning",
                        message=f"with {values}: {one.message}",
                        data=data,
                    )
            known.update(one.rule for one in found)
            # A fast move starts again: its jump is the note about its ends.
            known.add(LOOP.code)

    return all_problems(animation, arm=arm, validated=validated)


def corners(animation: Animation) -> Iterator[dict[str, float]]:
    """Return parameter values at the ends of their ranges, without defaults.

    Corners of fewer parameters first.
    """
    defaults = settings(animation)
    ends: list[list[tuple[str, float]]] = []
    for name, parameter in animation.parameters.items():
        if name in NEUTRAL and name not in NOT_SIMULATED:
            values = dict.fromkeys(
                value
                for value in (parameter.minimum, parameter.maximum)
                if value not in (None, defaults[name])
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


def _physics(plays: Sequence[Played]) -> Iterator[list[Problem]]:
    """Return for each of several plays of an animation its problems by the rules `OF_PHYSICS`, at their keyframes."""
    if not plays:
        return
    body = spot_body(arm=plays[0].arm is not None)
    feet = soles(body, [f"{leg}_foot" for leg in LEGS])
    placed = [
        (one.joints, one.body - [0.0, 0.0, one.floor - FOOT_RADIUS, 0.0, 0.0, 0.0, 0.0])
        for one in plays
    ]
    with np.errstate(all="ignore"):
        results = physics_of_plays(body, feet, plays[0].times, placed, MIN_OVERLOAD)
    for played, findings in zip(plays, results, strict=True):
        report = Report(played.animation, played.timing)
        # Where feet miss their goals, legs may cross only because of that.
        sound = played.reliable & (
            played.errors[:, : len(LEGS)] <= REACH_TOLERANCE
        ).all(axis=1)
        for one in findings:
            frame = one.problem.data.get("frame", 0)
            if (
                one.problem.rule in OF_PHYSICS
                and isinstance(frame, int)
                and sound[frame]
            ):
                key = report.keyframe(frame)
                report.diagnostics.add(
                    replace(
                        one.problem,
                        location=report.location(key),
                        subject=("keyframes", key),
                    )
                )
        yield list(report.diagnostics.problems)
