"""Validation of a choreography by the rules of `rules.py`.

And the part of it that a robot dances with non-strict parsing.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from bodymotion.diagnostics import Problem, Rule
from bodymotion.diagnostics.text import counted
from bodymotion.geometry.arrays import Floats
from bodymotion.motion.components import Timeline
from bodymotion.motion.feet import LEGS
from bodymotion.spot.animation import Animation
from bodymotion.spot.cha import check_animation
from bodymotion.spot.choreography import rules
from bodymotion.spot.choreography.approximation import parameters_of
from bodymotion.spot.choreography.move_checks import (
    MAX_TEMPO,
    MIN_TEMPO,
    Fault,
    MoveReview,
    Review,
)
from bodymotion.spot.choreography.moves import natural_slices, states_of, tracks_of
from bodymotion.spot.choreography.playing import play_choreography, play_move
from bodymotion.spot.choreography.values import STATES, Choreography, Move
from bodymotion.spot.playback import JOINT_NAMES, REACH_ERROR, last_pose, needs_arm
from bodymotion.spot.playback.playing import check_keyframes, default_start
from bodymotion.spot.playback.rules import FOOT_REACH, HAND_REACH
from bodymotion.spot.playback.validation import REACH_TOLERANCE

# [slices per minute] The tempos that the vendor advises.
ADVISED_TEMPO = (250.0, 450.0)
# Different pairs of neighbours, and of groups of moves at a time, that are played.
MAX_PAIRS = 100
# [slices] Longer groups are not played.
MAX_PLAYED = 2_000
# [rad] Accepted step of a joint at the start of a move: at 100 Hz 20 rad/s.
MAX_STEP = 0.2
# [beats per minute] The tempo for trying whether animations can be played.
TEST_TEMPO = 120.0
_LEFT_OUT = (
    rules.MOVE_UNKNOWN,
    rules.MOVE_TIME,
    rules.MOVE_UNPLAYABLE,
    rules.FAULTY,
    rules.NOT_FINITE,
    rules.TRACKS,
    rules.OTHER_PARAMETERS,
)
# A move with one of these problems is left out by `danced`.
_LEAVES_OUT = frozenset(rule.code for rule in _LEFT_OUT)


class Miss(NamedTuple):
    """A foot or hand that misses its goal.

    Attributes
    ----------
    slice:
        The slice in which the distance is largest.
    distance:
        [m] How far it is from its goal.
    """

    rule: Rule
    message: str
    slice: int
    distance: float


def problems_of(choreography: Choreography, **_: object) -> tuple[Problem, ...]:
    """Return the problems of reading a choreography, and those of its meaning."""
    return (*choreography.problems, *check_choreography(choreography))


def check_choreography(
    choreography: Choreography, *, jumps: bool = True
) -> tuple[Problem, ...]:
    """Return the problems of a choreography.

    The subject of a problem of a move is ("moves", its index), with the name of its
    field or parameter behind it. What only a robot knows (moves, lengths, positions,
    limits of parameters) is checked where `choreography.robot` or an animation has it.

    Parameters
    ----------
    jumps:
        Also play the animations, and report jumps between them, and goals that feet and
        hands miss.
    """
    review = Review(choreography)
    moves = choreography.moves
    # First the sequence, then each move by itself, then moves with each other.
    _check_head(review)
    faults = _animation_faults(choreography)
    ends: dict[int, int] = {}
    for number in range(len(moves)):
        one = MoveReview(review, number)
        one.check(faults)
        if one.is_usable:
            ends[number] = one.end_slice
    # Moves with errors do not take part in what follows: no follow-up findings.
    usable = sorted(ends, key=lambda number: moves[number].start_slice)
    _check_ids(review)
    clear = _check_tracks(review, usable, ends)
    _check_states(review, clear)
    _check_gaits(review, usable, ends)
    _check_neighbours(review, usable, ends)
    # Playing needs a tempo.
    if jumps and review.has_valid_tempo:
        animated = [
            number
            for number in clear
            if moves[number].animation in choreography.animations
        ]
        for number, message in _pose_jumps(choreography, animated):
            review.report(rules.POSE_JUMP, message, number)
        _check_reach(review, animated)
    return review.found.problems


def _check_head(review: Review) -> None:
    """Check name, tempo, and that there are moves."""
    choreography = review.choreography
    if not choreography.name:
        review.report(rules.SEQUENCE_NAME, "the sequence has no name", field="name")
    tempo = choreography.slices_per_minute
    lowest, highest = ADVISED_TEMPO
    if not review.has_valid_tempo:
        message = (
            f"{tempo:g} slices per minute, expected {MIN_TEMPO:g} to {MAX_TEMPO:g}"
        )
        review.report(rules.TEMPO, message, field="slices_per_minute")
    elif not lowest <= tempo <= highest:
        message = (
            f"{tempo:g} slices per minute, {tempo / 4:g} beats per minute; advised are "
            f"{lowest:g} to {highest:g} slices"
        )
        review.report(rules.TEMPO_ADVISED, message, field="slices_per_minute")
    if not choreography.moves:
        review.report(rules.NO_MOVES, "the sequence has no moves", field="moves")


def _check_ids(review: Review) -> None:
    """Report moves with the id of an earlier one."""
    first_with_id: dict[int, int] = {}
    for number, move in enumerate(review.choreography.moves):
        first = first_with_id.setdefault(move.id, number)
        if move.id and first != number:
            message = f"has the id {move.id}, as move {first + 1}"
            review.report(rules.MOVE_ID, message, number, "id")


def danced(choreography: Choreography, problems: Iterable[Problem]) -> Choreography:
    """Return the part of a choreography that a robot dances with non-strict parsing.

    `problems` are those that `check_choreography` found. Moves are left out that are
    unknown, that begin before the first slice or have no length, and that need a track
    of another move. Lengths and parameters become the nearest ones that are allowed.
    Without a valid tempo no moves are left.
    """
    moves: dict[int, Move] = dict(enumerate(choreography.moves))
    for problem in problems:
        if problem.rule == rules.TEMPO.code:
            # A tempo that no robot accepts leaves nothing to dance.
            moves.clear()
        if len(problem.subject) < 2:
            continue
        number = int(problem.subject[1])
        move = moves.get(number)
        if move is None:
            continue
        if problem.rule in _LEAVES_OUT:
            del moves[number]
        elif problem.rule == rules.MOVE_LENGTH.code:
            slices: Any = problem.data["slices"]
            moves[number] = replace(move, requested_slices=slices)
        elif problem.rule == rules.MOVE_PARAMETER.code:
            parameters = dict(move.parameters)
            name = str(problem.subject[2])
            allowed = problem.data["allowed"]
            if allowed is None:
                parameters.pop(name, None)
            else:
                parameters[name] = allowed  # type: ignore[assignment]
            moves[number] = replace(move, parameters=parameters)
    return choreography.replaced(*moves.values())


def _animation_faults(choreography: Choreography) -> dict[str, Fault]:
    """Return why animations cannot be danced, by name."""
    animations = choreography.animations
    # One robot dances all: with or without arm.
    needing_arm = [
        name for name, one in animations.items() if "arm_required" in one.options
    ]
    faults: dict[str, Fault] = {}
    for name, animation in animations.items():
        fault = _fault_of(animation)
        if needing_arm and "arm_prohibited" in animation.options:
            message = f"is for a robot without arm; {needing_arm[0]!r} needs one"
            fault = Fault(rules.ARM, message)
        if fault is not None:
            faults[name] = fault
    return faults


def _fault_of(animation: Animation) -> Fault | None:
    """Return why an animation cannot be danced by itself; None where it can."""
    try:
        check_keyframes(animation)
        # Any valid tempo will do to see whether it can be played.
        natural_slices(animation, TEST_TEMPO)
    except (ValueError, MemoryError) as error:
        return Fault(rules.MOVE_UNPLAYABLE, f"cannot be played: {error}")
    problems = (*animation.problems, *check_animation(animation))
    errors = [problem for problem in problems if problem.severity == "error"]
    if not errors:
        return None
    message = (
        f"has {counted(len(errors), 'error')} in its animation, the first is "
        f"{errors[0].rule}: {errors[0].message}"
    )
    return Fault(rules.FAULTY, message)


def _check_tracks(review: Review, usable: list[int], ends: dict[int, int]) -> list[int]:
    """Report moves that control a track of another move at the same time.

    Return the others.
    """
    moves = review.choreography.moves
    clear = []
    # The move on each track that was accepted last; in order of starts it is the one
    # that may still go on.
    last_on_track: dict[str, int] = {}
    for number in usable:
        move = moves[number]
        tracks = tracks_of(review.choreography, move)
        rivals: dict[str, int] = {}
        for track in tracks:
            other = last_on_track.get(track)
            if other is not None and ends[other] > move.start_slice:
                rivals[track] = other
        # The later of two rivals is reported and left out, the earlier one stays.
        if not rivals:
            clear.append(number)
            last_on_track |= dict.fromkeys(tracks, number)
            continue
        track, other = next(iter(rivals.items()))
        first = f"{moves[other].type!r} at slice {moves[other].start_slice}"
        end = min(ends[number], ends[other])
        message = f"and {first} both control the {track} until slice {end}"
        review.report(rules.TRACKS, message, number, tracks=tuple(rivals), other=other)
    return clear


def _check_states(review: Review, usable: list[int]) -> None:
    """Check the positions in which moves of the legs begin."""
    choreography = review.choreography
    entrance = str(choreography.options.get("entrance_state", ""))
    has_entrance = entrance not in ("", STATES[0])
    # Only moves of the legs begin and end in positions such as stand and sit.
    last: Move | None = None
    state_before = ""
    for number in usable:
        move = choreography.moves[number]
        if "legs" not in tracks_of(choreography, move):
            continue
        states, state_after = states_of(choreography, move)
        if last is None:
            if states and has_entrance and entrance not in states:
                message = f"does not begin in {entrance}, but in {' or '.join(states)}"
                review.report(rules.ENTRANCE_STATE, message, number)
        elif state_before and states and state_before not in states:
            message = (
                f"begins in {' or '.join(states)}; {last.type!r} before it ends in "
                f"{state_before}"
            )
            review.report(rules.ENTRANCE, message, number)
        state_before = state_after
        last = move


def _check_gaits(review: Review, usable: list[int], ends: dict[int, int]) -> None:
    """Report moves during which a custom gait begins or ends."""
    moves = review.choreography.moves
    # All slices at which a custom gait begins or ends; a move may touch them, not
    # cross.
    edges: set[int] = set()
    for number in usable:
        if moves[number].type == "custom_gait":
            edges |= {moves[number].start_slice, ends[number]}
    for number in usable:
        start = moves[number].start_slice
        crossed = [edge for edge in edges if start < edge < ends[number]]
        if crossed:
            message = (
                f"crosses slice {min(crossed)}, at which a custom gait begins or ends"
            )
            review.report(rules.GAIT, message, number)


def _check_neighbours(review: Review, usable: list[int], ends: dict[int, int]) -> None:
    """Check random lengths, links to the next move, and held poses."""
    choreography = review.choreography
    moves = choreography.moves
    body_ends = {
        ends[number]
        for number in usable
        if "body" in tracks_of(choreography, moves[number])
    }
    starts = {(moves[number].type, moves[number].start_slice) for number in usable}
    for number in usable:
        move = moves[number]
        if move.type == "random_stretch":
            message = (
                "lengthens the moves directly before it: the length of the dance is "
                "unknown"
            )
            review.report(rules.LENGTH_UNKNOWN, message, number)
        is_linked = move.parameters.get("link_to_next")
        if is_linked and (move.type, ends[number]) not in starts:
            message = (
                f"is linked to the next move, but no {move.type!r} begins at slice "
                f"{ends[number]}"
            )
            review.report(rules.LINK, message, number, "link_to_next")
        if move.type == "body_const" and move.start_slice not in body_ends:
            message = "holds the pose of a move of the body, but none ends there"
            review.report(rules.HOLD, message, number)


def _pose_jumps(
    choreography: Choreography, animated: Iterable[int]
) -> Iterator[tuple[int, str]]:
    """Yield the moves at whose start joints jump, each with a message.

    `animated` are the moves with known animations, in the order of their starts.
    """
    before: dict[str, Move] = {}
    known: dict[object, str] = {}
    for number in animated:
        move = choreography.moves[number]
        animation = choreography.animations[move.animation]
        for track in animation.controls:
            last = before.get(track)
            if last is not None and last.end_slice == move.start_slice:
                # The same pair of moves is played once; `MAX_PAIRS` bounds the time.
                key = _key(last, move)
                if key not in known and len(known) < MAX_PAIRS:
                    known[key] = _jump(choreography, last, move)
                if known.get(key):
                    yield number, known[key]
                break
        before |= dict.fromkeys(animation.controls, move)


def _key(*moves: Move) -> object:
    """Return what the motion of moves depends on, apart from the first slice."""
    first = moves[0].start_slice
    return tuple(
        (
            one.type,
            one.start_slice - first,
            one.requested_slices,
            *sorted(parameters_of(one).items()),
        )
        for one in moves
    )


def _check_reach(review: Review, animated: Iterable[int]) -> None:
    """Report feet and hands that miss their goals in moves that are played together.

    `animated` are the moves with known animations, in the order of their starts.
    """
    choreography = review.choreography
    moves = choreography.moves
    # Groups that repeat are played once.
    misses_of_groups: dict[object, list[Miss]] = {}
    for group in _groups_at_a_time(choreography, animated):
        together = [moves[number] for number in group]
        key = _key(*together)
        first = together[0].start_slice
        if key not in misses_of_groups and len(misses_of_groups) < MAX_PAIRS:
            # Played from slice 0: the part before the group does not matter.
            from_start = [
                replace(one, start_slice=one.start_slice - first) for one in together
            ]
            misses_of_groups[key] = _misses(choreography.replaced(*from_start))
        for miss in misses_of_groups.get(key, ()):
            _report_miss(review, group, miss, first + miss.slice)


def _groups_at_a_time(
    choreography: Choreography, numbers: Iterable[int]
) -> list[list[int]]:
    """Return moves in groups that overlap, in the order of their starts."""
    groups: list[list[int]] = []
    end = 0
    for number in numbers:
        move = choreography.moves[number]
        if not groups or move.start_slice >= end:
            groups.append([])
        groups[-1].append(number)
        end = max(end, move.end_slice)
    return groups


def _report_miss(review: Review, group: list[int], miss: Miss, slice_: int) -> None:
    """Report a miss at the move of a group that began last before it."""
    # The move that began last is most likely the one to change.
    moves = review.choreography.moves
    begun = [number for number in group if moves[number].start_slice <= slice_]
    latest = max(begun, key=lambda number: moves[number].start_slice)
    others = [
        repr(moves[number].type)
        for number in begun
        if number != latest and slice_ < moves[number].end_slice
    ]
    beside = f", beside {', '.join(others)}" if others else ""
    message = f"{miss.message} at slice {slice_}{beside}"
    review.report(miss.rule, message, latest, amount=miss.distance, slice=slice_)


def _misses(choreography: Choreography) -> list[Miss]:
    """Return what misses its goal in a dance, each where it does most."""
    if choreography.slices > MAX_PLAYED:
        return []
    try:
        motion = play_choreography(choreography)
    except ValueError:
        return []
    misses = []
    for component in motion.timed:
        if component.content != REACH_ERROR:
            continue
        line = component.timeline
        # [1/min] Seconds times tempo / 60 are slices.
        tempo = choreography.slices_per_minute
        # The columns are the four feet, then the hand.
        feet = component.values[:, :4]
        hand = component.values[:, 4:5]
        foot, time, distance = _largest(feet, line)
        if distance > REACH_TOLERANCE:
            message = f"has foot {LEGS[foot]} {distance:.3f} m short of its goal"
            misses.append(Miss(FOOT_REACH, message, int(time * tempo / 60.0), distance))
        _, time, distance = _largest(hand, line)
        if distance > REACH_TOLERANCE:
            message = f"has the hand {distance:.3f} m short of its goal"
            misses.append(Miss(HAND_REACH, message, int(time * tempo / 60.0), distance))
    return misses


def _largest(distances: Floats, timeline: Timeline) -> tuple[int, float, float]:
    """Return the column, time [s] and value of the largest distance; 0 for none."""
    if not distances.size:
        return 0, 0.0, 0.0
    frame, column = np.unravel_index(int(distances.argmax()), distances.shape)
    return int(column), float(timeline.times[frame]), float(distances.max())


def _jump(choreography: Choreography, last: Move, move: Move) -> str:
    """Return the largest step of a joint between two animations as a message.

    "" where none is too large.
    """
    animations = choreography.animations
    first = animations[last.animation]
    second = animations[move.animation]
    arm = needs_arm(first) or needs_arm(second)
    bpm = choreography.bpm
    try:
        # The first one from a default start, the second one from where it ends.
        played = play_move(first, last, bpm, default_start(first), arm=arm)
        end = last_pose(played)
        joints = play_move(second, move, bpm, end, arm=arm).joint_displacement
    except (ValueError, MemoryError):
        return ""
    assert joints is not None
    # As a row of joint arrays: legs, arm, gripper; without arm the first twelve.
    all_joints = np.concatenate([end.legs.ravel(), end.arm, [end.gripper]])
    before = all_joints[: joints.num_parts]
    steps = np.abs(joints.values[0] - before)
    worst = int(np.argmax(steps))
    if not steps[worst] > MAX_STEP:
        return ""
    return (
        f"begins with {JOINT_NAMES[worst]} at {joints.values[0, worst]:.2f} rad; "
        f"{last.type!r} before it ends at {before[worst]:.2f} rad"
    )
