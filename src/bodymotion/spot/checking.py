"""Problems of a Spot animation.

Its own, those of the motion that is played, with all parameters at their corners, and
its physics.

The physics are collisions, the floor, flight and torques (`physics`); the other rules
about the played motion are in `spot.playback`.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple

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
# [s] A shorter overload of a motor is not reported. Played motions are smooth, so that
# this is less than for recorded ones.
MIN_OVERLOAD = 0.03
# With more corners than this, each parameter is tried alone at its ends. And all
# together at their lower and at their upper ends.
MAX_CORNERS = 4
# Frames that are played at corners: of a long animation only the first are tried.
MAX_CORNER_FRAMES = 20_000


def check_animation(
    animation: Animation,
    *,
    arm: bool | None = None,
    bpm: float | None = None,
    parameters: Mapping[str, float] | None = None,
) -> tuple[Problem, ...]:
    """Return all problems of an animation, with those of its physics.

    The others are those of `all_problems`.

    Without `parameters` it is played with their defaults, and at the corners of their
    ranges. Of each rule that is broken at corners only, the corner with the fewest
    changed parameters is reported. With `parameters` it is played with these values
    only.
    """

    def validated(animation: Animation, *, arm: bool | None) -> Iterator[Problem]:
        played = played_move(animation, arm, bpm, parameters)
        results: list[_Result] = [_Result({}, played)]
        if isinstance(played, Played) and parameters is None:
            results += _at_corners(animation, arm, bpm)
        yield from _problems_of(results)

    return all_problems(animation, arm=arm, validated=validated)


class _Result(NamedTuple):
    """An animation as it is played with values of parameters, or why it is not."""

    corner: dict[str, float]
    played: Played | Problem


def _at_corners(
    animation: Animation, arm: bool | None, bpm: float | None
) -> Iterator[_Result]:
    """Yield an animation as it is played at the corners of its parameters' ranges."""
    for number, corner in enumerate(corners(animation), 1):
        played = played_move(animation, arm, bpm, corner)
        num_frames = len(played.times) if isinstance(played, Played) else 0
        # Of a long animation only the first corners are tried.
        if number * num_frames > MAX_CORNER_FRAMES:
            return
        yield _Result(corner, played)


def _problems_of(results: Sequence[_Result]) -> Iterator[Problem]:
    """Yield the problems of plays, of each rule those of the first corner only."""
    plays = [one.played for one in results if isinstance(one.played, Played)]
    of_physics = iter(_physics(plays))
    # A fast move starts again: its jump is the note about its ends.
    reported = {LOOP.code}
    for corner, played in results:
        problems: tuple[Problem, ...]
        if isinstance(played, Played):
            problems = (*played.problems(), *next(of_physics))
        else:
            problems = (played,)
        for problem in problems:
            if not corner:
                yield problem
            elif problem.rule not in reported and problem.severity != "note":
                yield _at_corner(problem, corner)
        reported.update(problem.rule for problem in problems)


def _at_corner(problem: Problem, corner: dict[str, float]) -> Problem:
    """Return a problem that an animation has with values of parameters only."""
    values = ", ".join(f"{name} = {value:g}" for name, value in corner.items())
    return replace(
        problem,
        severity="warning",
        message=f"with {values}: {problem.message}",
        data={**problem.data, "parameters": corner},
    )


def corners(animation: Animation) -> Iterator[dict[str, float]]:
    """Yield parameter values at the ends of their ranges, without defaults.

    Corners of fewer parameters first.
    """
    defaults = settings(animation)
    ends: dict[str, list[float]] = {}
    for name, parameter in animation.parameters.items():
        if name not in NEUTRAL or name in NOT_SIMULATED:
            continue
        limits = dict.fromkeys((parameter.minimum, parameter.maximum))
        values = [
            float(value)
            for value in limits
            if value is not None and value != defaults[name]
        ]
        if values:
            ends[name] = values
    for name, values in ends.items():
        for value in values:
            yield {name: value}
    if len(ends) < 2:
        return
    if math.prod(map(len, ends.values())) <= MAX_CORNERS:
        for chosen in product(*ends.values()):
            yield dict(zip(ends, chosen, strict=True))
        return
    yield {name: values[0] for name, values in ends.items()}
    yield {name: values[-1] for name, values in ends.items()}


def _physics(plays: Sequence[Played]) -> Iterator[list[Problem]]:
    """Yield the problems of each play by the rules `OF_PHYSICS`, at keyframes."""
    if not plays:
        return
    body = spot_body(arm=plays[0].arm is not None)
    feet = soles(body, [f"{leg}_foot" for leg in LEGS])
    moved = []
    for played in plays:
        floor = played.floor - FOOT_RADIUS
        on_floor = played.body - [0.0, 0.0, floor, 0.0, 0.0, 0.0, 0.0]
        moved.append((played.joints, on_floor))
    with np.errstate(all="ignore"):
        results = physics_of_plays(body, feet, plays[0].times, moved, MIN_OVERLOAD)
    for played, findings in zip(plays, results, strict=True):
        report = Report(played.animation, played.timing)
        # Where feet miss their goals, legs may cross only because of that.
        feet_reach = played.errors[:, : len(LEGS)] <= REACH_TOLERANCE
        is_sound = played.reliable & feet_reach.all(axis=1)
        for finding in findings:
            problem = finding.problem
            frame = problem.data.get("frame", 0)
            if problem.rule not in OF_PHYSICS or not isinstance(frame, int):
                continue
            if is_sound[frame]:
                keyframe = report.keyframe(frame)
                subject = ("keyframes", keyframe)
                location = report.location(keyframe)
                at_keyframe = replace(problem, location=location, subject=subject)
                report.diagnostics.add(at_keyframe)
        yield list(report.diagnostics.problems)
