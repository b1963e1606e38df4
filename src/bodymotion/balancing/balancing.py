"""Change a motion so that a body keeps its balance, and never for the worse.

`improve` searches postures that keep the balance, at the times of the input or, where
that is not enough, of a slower motion. `Judge` compares each result with the input. The
first one that is nowhere worse is taken: whole, or only where it is good. Otherwise the
input stays as it is.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np

from bodymotion.balancing.improving import (
    MAX_ITERATIONS,
    Improved,
    has_margin,
    improve,
)
from bodymotion.balancing.judging import (
    CRITERIA,
    MAX_LENGTH,
    SAFE_MARGIN,
    Judge,
    Judgement,
    Quality,
    compare,
)
from bodymotion.balancing.postures import Postures
from bodymotion.balancing.reporting import (
    BalanceReport,
    Comparison,
    KeptPart,
    make_report,
)
from bodymotion.balancing.rules import NOT_BALANCED
from bodymotion.balancing.slowing import (
    MIN_FACTOR,
    SlowPart,
    check_jumps,
    excess_acceleration,
    excess_speed,
    excess_tipping,
    excess_torque,
    slow_parts,
    slower,
)
from bodymotion.balancing.spans import (
    blend,
    good_spans,
    smaller_spans,
    weights_of,
)
from bodymotion.balancing.zmp import known_zmp
from bodymotion.diagnostics import Location, Problem, WrongUseError
from bodymotion.dynamics import Measures, measure
from bodymotion.editing.rules import NOT_EDITED
from bodymotion.geometry.arrays import Bools, Floats, check_memory, runs
from bodymotion.model.body import Body
from bodymotion.motion import Motion, MultiSE3Seq, MultiValueSeq, Timeline, Vector3Seq
from bodymotion.motion.components import (
    JOINT_DISPLACEMENT,
    LINK_POSITION,
    ZMP,
    Component,
)

__all__ = ["BalanceReport", "BalancedMotion", "balance"]

# [m] Planned distance of the zero moment point from the edges.
MARGIN = 0.07
# Shorter motions have no accelerations to balance.
MIN_FRAMES = 5
# [bytes] For each frame of the plan, about.
FRAME_SIZE = 5000
# [bytes] For each frame and link of the measures, about.
LINK_SIZE = 1000
# So often a motion is made slower at most.
MAX_SLOWER = 3
# A longer result must have more safe frames by this share than a shorter one, or come
# nearer to a limit.
MIN_WORTH = 0.01
# So often a smaller part of a result is tried.
MAX_BLENDS = 8
ONLY_TOGETHER = "a change here would make the whole motion fall earlier, or worse"
# So many reasons are given for what is not balanced.
MAX_REASONS = 3

Progress: TypeAlias = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class BalancedMotion(Motion):
    """A motion, and in `report` what balancing changed."""

    report: BalanceReport = field(compare=False, kw_only=True)


class Attempt(NamedTuple):
    """A result of the search, not judged yet.

    `base`, with measures `old`, is the input or a slower one. `later` (T,) [s] are the
    times of the input's frames in it.
    """

    base: Motion
    old: Measures
    improved: Improved
    later: Floats


class Result(NamedTuple):
    """A motion that is judged."""

    measures: Measures
    quality: Quality
    judgement: Judgement
    attempt: Attempt
    # (T,) where postures are not those of the base.
    changed: Bools


def balance(
    body: Body,
    motion: Motion,
    *,
    margin: float | None = None,
    feet: Sequence[int | str] | None = None,
    ground: float | None = None,
    limits: bool = True,
    acceleration: float = np.inf,
    max_length: float | None = None,
    simulated: bool | None = None,
    progress: Progress | None = None,
) -> BalancedMotion:
    """Change a motion so that a body keeps its balance.

    Feet in contact are pinned, flat on the ground, with swings that fit. The path of
    the centre of mass keeps the zero moment point in the support polygon, as near to
    the old path as possible. Postures follow by inverse kinematics, within the limits
    of joints.

    A result is never worse than its input in length, stability margin, share of safe
    frames, foot slip, depth below the ground, limits of position, velocity and effort,
    and jumps. Where it would be, the input stays as it was, and `problems` has a
    finding (BAL101). A motion that is safe stays unchanged.

    Parameters
    ----------
    margin:
        [m] Minimum distance of the zero moment point from each edge of the support
        polygon; at most 80 % of that of its middle. By default 70 mm are planned, and a
        motion is safe with 10 mm. One without the margin that is given is changed.
    feet, ground:
        The links that may be in contact, and the height of the ground [m]; by default
        as `bodymotion.dynamics.measure` finds them.
    limits:
        Slow the motion down where its joints exceed their velocity limits, or where it
        is too fast to be balanced, or for the torques that its motors have.
    acceleration:
        [rad/s² or m/s²] The motion is slowed down where a joint exceeds it, too.
    max_length:
        How many times as long as the input the result may be; by default 1.2 times, or
        any length with an `acceleration`.
    simulated:
        Whether a result that falls earlier than its input in a simulation is refused;
        by default if the extra `sim` is installed and MuJoCo can load the body.
    progress:
        Called with the steps done and their number at most.

    Returns
    -------
    BalancedMotion
        With joint displacements, the pose of the root, the zero moment point, and the
        other components of the motion, which stay as they are: `problems` lists them.
        `report` has what was changed, and what could not be fixed.

    Raises
    ------
    ImportError
        Without the extra `opt`.
    ValueError
        When the motion does not fit the body, has numbers that are not finite or less
        than five frames, or the body cannot balance: its root is fixed, it has no mass,
        no feet, or crawlers.
    """
    _check_options(margin, acceleration, max_length)
    original = _measure_input(body, motion, feet, ground)
    if max_length is None:
        max_length = MAX_LENGTH if np.isinf(acceleration) else np.inf
    planned_margin = MARGIN if margin is None else margin
    judge = Judge(
        body,
        original,
        original.feet.links,
        _find_ground_height(original, ground),
        acceleration=acceleration,
        max_length=max_length,
        enough=max(planned_margin - SAFE_MARGIN, SAFE_MARGIN),
        wants_margin=margin is not None,
        simulates=simulated,
    )
    if judge.needs_nothing and (margin is None or has_margin(original, margin)):
        return _leave_unchanged(motion, original)
    if limits:
        check_jumps(original)
    steps = _Steps(progress, MAX_ITERATIONS * (1 + MAX_SLOWER * limits))
    results = _search_results(judge, planned_margin, limits, steps)
    accepted = [result for result in results if result.judgement.accepts]
    if accepted:
        best = _choose_best(accepted)
        return _accept(judge, best, best.quality)
    for result in results:
        part = _take_good_parts(judge, result)
        if part is not None:
            return _accept(judge, part, result.quality)
    return _refuse(judge, motion, results[0])


def _search_results(
    judge: Judge,
    margin: float,
    limits: bool,
    steps: "_Steps",
) -> list[Result]:
    """Return results until one is right, or no longer worth its time."""
    results: list[Result] = []
    for attempt in _search_attempts(judge, margin, limits, steps):
        result = _judge_postures(judge, attempt, attempt.improved.measures)
        is_worth_its_time = not results or _is_worth(results[-1], result)
        results.append(result)
        if _is_right(result.quality) or not is_worth_its_time:
            break
    return results


def _check_options(
    margin: float | None,
    acceleration: float,
    max_length: float | None,
) -> None:
    """Raise WrongUseError for options out of their range."""
    if margin is not None and not 0 <= margin < np.inf:
        raise WrongUseError(
            f"margin: expected a finite distance of at least 0, got {margin:g}"
        )
    if not acceleration > 0:
        raise WrongUseError(
            f"acceleration: expected a limit above 0, got {acceleration:g}"
        )
    if max_length is not None and not max_length >= 1:
        raise WrongUseError(
            f"max_length: expected a factor of at least 1, got {max_length:g}"
        )


def _measure_input(
    body: Body,
    motion: Motion,
    feet: Sequence[int | str] | None,
    ground: float | None,
) -> Measures:
    """Return the measures of a motion that can be balanced.

    Raises MemoryError or ValueError for others.
    """
    frames = max((component.num_frames for component in motion.timed), default=0)
    size = frames * (FRAME_SIZE + LINK_SIZE * len(body.links))
    check_memory(size, f"balancing {frames} frames")
    measures = measure(body, motion, feet=feet, ground=ground)
    name = body.name or "the body"
    if body.is_mounted or not body.mass:
        raise ValueError(f"{name} cannot balance: its root is fixed, or it has no mass")
    if not measures.feet.links or any(measures.contacts.crawls):
        raise ValueError(
            f"{name} has no feet in this motion; name those that touch the ground: "
            "feet=[…] or --feet"
        )
    if len(measures.times) < MIN_FRAMES:
        raise ValueError(
            f"balancing needs five frames or more; the motion has {len(measures.times)}"
        )
    finite = np.isfinite(measures.joint_displacements).all()
    if not (finite and np.isfinite(measures.root_poses).all()):
        raise ValueError(
            "balancing needs finite numbers; fill the gaps first (`edit --fill-gaps`)"
        )
    return measures


def _find_ground_height(original: Measures, ground: float | None) -> float | None:
    """Return the one height of the ground, None where it follows the feet."""
    if ground is not None:
        return ground
    heights = original.ground
    if np.ptp(heights) == 0:
        return float(heights[0])
    return None


class _Steps:
    """Counts the steps of the search."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress = progress
        self._total = total
        self._done = 0

    def __call__(self) -> None:
        """Count a step, and report it."""
        self._done += 1
        if self._progress is not None:
            self._progress(min(self._done, self._total), self._total)


def _search_attempts(
    judge: Judge,
    margin: float,
    limits: bool,
    steps: _Steps,
) -> Iterator[Attempt]:
    """Search results, each slower than the one before, up to the maximum length."""
    original = judge.before
    base = original.motion
    old = original
    later = original.times
    factor = np.ones(len(old.times))
    if limits:
        factor = np.maximum(excess_speed(original), factor)
    for number in range(1 + MAX_SLOWER * limits):
        if factor.max() > 1.0 + MIN_FACTOR:
            slowed = slower(base, old.times, factor)
            longer = np.interp(later, slowed.times, slowed.later)
            if _is_too_long(judge, longer):
                # The first search is at the times of the input; again it would only
                # find the same.
                if number:
                    return
            else:
                base = slowed.motion
                later = longer
                old = judge.measured(base)
        improved = improve(old, margin, steps)
        yield Attempt(base, old, improved, later)
        if not limits:
            return
        factor = _needed_factor(improved.measures, judge.acceleration)
        if factor.max() <= 1.0 + MIN_FACTOR:
            return


def _is_too_long(judge: Judge, later: Floats) -> bool:
    """Return whether a motion at times (T,) [s] is longer than allowed."""
    length = later[-1] - later[0]
    return bool(length > judge.max_length * judge.quality.seconds)


def _needed_factor(measures: Measures, acceleration: float) -> Floats:
    """Return by which factor (T,) a result must be slower."""
    factors = (
        excess_speed(measures),
        excess_acceleration(measures, acceleration),
        excess_torque(measures),
        excess_tipping(measures),
    )
    return np.asarray(np.max(factors, axis=0))


def _judge_postures(
    judge: Judge,
    attempt: Attempt,
    new: Measures,
    changed: Bools | None = None,
) -> Result:
    """Make a motion of new postures, and compare it with the input."""
    postures = Postures(new.joint_displacements, new.root_poses)
    zmp: Floats | None = known_zmp(new)
    is_outside = bool((new.stability_margin < 0).any())
    if is_outside and attempt.base.zmp is None:
        # No controller can follow a zero moment point outside of the support polygon.
        zmp = None
    motion = _with_postures(attempt.base, attempt.old, postures, zmp)
    measures = judge.measured(motion)
    quality, judgement = judge.review(measures)
    if changed is None:
        changed = np.ones(len(new.times), dtype=bool)
    return Result(measures, quality, judgement, attempt, changed)


def _is_right(quality: Quality) -> bool:
    """Return whether nothing is left to improve."""
    return not any(quality.total(each) > each.need for each in CRITERIA)


def _choose_best(results: Sequence[Result]) -> Result:
    """Return the shortest of results, or a longer one that is worth its time."""
    best = results[0]
    for result in results[1:]:
        judgement = compare(best.quality, result.quality)
        if not judgement.worse and _is_worth(best, result):
            best = result
    return best


def _is_worth(shorter: Result, longer: Result) -> bool:
    """Return whether a longer result is so much better that it is worth its time."""
    unsafe = CRITERIA[0]
    gained = shorter.quality.total(unsafe) - longer.quality.total(unsafe)
    better = compare(shorter.quality, longer.quality).better
    in_limits = {"velocity", "effort", "acceleration"} & set(better)
    return gained >= MIN_WORTH or bool(in_limits)


def _take_good_parts(judge: Judge, whole: Result) -> Result | None:
    """Take a result only where it is good, None where no part of it is accepted.

    Parts around frames that are worse are left out, until none is left.
    """
    attempt = whole.attempt
    times = attempt.old.times
    needed = judge.needed(judge.assess(attempt.old))
    for each in (False, True):
        bad = judge.worse_frames(whole.quality, each=each)
        spans = good_spans(bad, needed, times)
        for _ in range(MAX_BLENDS):
            if not spans:
                break
            weights = weights_of(spans, times)
            result = _blend_result(judge, attempt, weights)
            if result.judgement.accepts:
                return result
            worse = judge.worse_frames(result.quality, each=each) & (weights > 0)
            if result.judgement.fall is not None:
                # The motion stays as it was until both have fallen.
                worse |= times - times[0] <= _later_fall(judge, result)
            if not worse.any():
                break
            smaller = smaller_spans(spans, worse, times)
            spans = [span for span in smaller if needed[slice(*span)].any()]
    return None


def _later_fall(judge: Judge, result: Result) -> float:
    """Return the time [s] at which both the input and a result have fallen."""
    falls = [fall for fall in (judge.fall, result.judgement.fall) if fall is not None]
    return max(falls)


def _blend_result(
    judge: Judge,
    attempt: Attempt,
    weights: Floats,
) -> Result:
    """Judge a result that is taken by weights (T,)."""
    old = attempt.old
    improved = attempt.improved
    postures = blend(old, improved.measures, improved.feet, weights)
    motion = Motion.from_joints(postures.joints, times=old.times, root=postures.root)
    new = measure(old.body, motion, feet=judge.feet, ground=old.ground)
    return _judge_postures(judge, attempt, new, weights > 0)


def _with_postures(
    base: Motion,
    old: Measures,
    postures: Postures,
    zmp: Floats | None,
) -> Motion:
    """Return a motion with other postures and their zero moment point, if given."""
    joints = base.joint_displacement
    if joints is None:
        timeline = Timeline.stamped(old.times)
    else:
        timeline = joints.timeline
    labels = tuple(joint.name for joint in old.body.joints)
    changed: tuple[Component, ...] = (
        MultiValueSeq(
            content=JOINT_DISPLACEMENT,
            timeline=timeline,
            values=postures.joints,
            part_labels=labels,
        ),
        MultiSE3Seq(
            content=LINK_POSITION,
            timeline=timeline,
            values=postures.root[:, None],
            part_labels=(old.body.links[0].name,),
        ),
    )
    if zmp is not None:
        changed = (*changed, Vector3Seq(content=ZMP, timeline=timeline, values=zmp))
    return Motion((*changed, *_others(base)), base.extra, problems=base.problems)


def _others(motion: Motion) -> tuple[Component, ...]:
    """Return the components that balancing does not change."""
    return tuple(
        component
        for component in motion.components
        if component.content not in (JOINT_DISPLACEMENT, LINK_POSITION, ZMP)
    )


def _leave_unchanged(motion: Motion, original: Measures) -> BalancedMotion:
    """Return a motion that is safe, as it is."""
    compared = Comparison(original, original, original)
    return BalancedMotion(
        motion.components,
        motion.extra,
        problems=motion.problems,
        report=make_report(compared, "unchanged"),
    )


def _refuse(
    judge: Judge,
    motion: Motion,
    result: Result,
) -> BalancedMotion:
    """Return a motion that no result improves, as it is."""
    original = judge.before
    reason = _reason(result.judgement.worse)
    kept = KeptPart(float(original.times[0]), float(original.times[-1]), reason)
    report = make_report(
        Comparison(original, original, original),
        "refused",
        kept=[kept],
        acceleration=judge.acceleration,
    )
    return BalancedMotion(
        motion.components,
        motion.extra,
        problems=(*motion.problems, *_findings(motion, [kept])),
        report=report,
    )


def _reason(
    faults: Sequence[str], default: str = "no better postures were found"
) -> str:
    """Return why a result is not taken."""
    if not faults:
        return default
    reason = "; ".join(faults[:MAX_REASONS])
    left = len(faults) - MAX_REASONS
    if left > 0:
        return f"{reason}; and {left} more"
    return reason


def _accept(
    judge: Judge,
    result: Result,
    whole: Quality,
) -> BalancedMotion:
    """Return a result that is better than the input.

    It is taken from postures of which `whole` is the quality if all of them are taken.
    """
    original = judge.before
    attempt = result.attempt
    kept = _kept_parts(judge, result, whole)
    slowed: tuple[SlowPart, ...] = ()
    if attempt.later is not original.times:
        slowed = slow_parts(original.times, attempt.later)
    missed = np.where(result.changed, attempt.improved.missed, 0.0)
    report = make_report(
        Comparison(original, attempt.old, result.measures),
        "partly improved" if kept else "improved",
        feet=attempt.improved.feet,
        missed=missed,
        slowed=slowed,
        kept=kept,
        acceleration=judge.acceleration,
        falls=(judge.fall, result.judgement.fall),
    )
    motion = result.measures.motion
    problems = [
        NOT_EDITED.problem(f"{component.content} is not changed with the postures")
        for component in _others(motion)
    ]
    problems += _findings(motion, kept)
    return BalancedMotion(
        motion.components,
        motion.extra,
        problems=(*motion.problems, *problems),
        report=report,
    )


def _kept_parts(
    judge: Judge,
    result: Result,
    whole: Quality,
) -> list[KeptPart]:
    """Return the parts of the input that are not balanced though they need it."""
    if result.changed.all():
        return []
    attempt = result.attempt
    needed = judge.needed(judge.assess(attempt.old))
    original = judge.before.times
    times = np.interp(attempt.old.times, attempt.later, original)
    return [
        KeptPart(
            float(times[first]),
            float(times[after - 1]),
            _reason(judge.faults_in(whole, slice(first, after)), ONLY_TOGETHER),
        )
        for first, after in runs(~result.changed)
        if needed[first:after].any()
    ]


def _findings(motion: Motion, kept: Sequence[KeptPart]) -> list[Problem]:
    """Return one finding for each part of a motion that is not balanced."""
    path = motion.source.path
    where = Location(None if path is None else str(path))
    return [
        NOT_BALANCED.problem(
            f"not balanced from {part.begin:.2f} s to {part.end:.2f} s, where postures "
            f"stay as they were: {part.reason}",
            where,
            data={"begin": part.begin, "end": part.end},
        )
        for part in kept
    ]
