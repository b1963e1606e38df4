"""Validation of a choreography by the rules of `rules.py`, and the part of it that a robot dances with non-strict parsing."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import numpy as np

from bodymotion.diagnostics import Diagnostics, Problem, Rule
from bodymotion.diagnostics.spelling import choices
from bodymotion.diagnostics.text import counted
from bodymotion.motion import Motion
from bodymotion.motion.feet import LEGS
from bodymotion.spot.cha import check_animation
from bodymotion.spot.cha_proto.messages import ENUMS, MESSAGES
from bodymotion.spot.cha_proto.sequence import KINDS
from bodymotion.spot.choreography import rules
from bodymotion.spot.choreography.moves import (
    length_range,
    natural_slices,
    ranges_of,
    states_of,
    tracks_of,
)
from bodymotion.spot.choreography.playing import (
    parameters_of,
    play_choreography,
    play_move,
)
from bodymotion.spot.choreography.values import PREFIX, STATES, Choreography, Move
from bodymotion.spot.playback import JOINT_NAMES, REACH_ERROR, last_pose, needs_arm
from bodymotion.spot.playback.playing import check_keyframes, default_start
from bodymotion.spot.playback.rules import FOOT_REACH, HAND_REACH
from bodymotion.spot.playback.validation import REACH_TOLERANCE

# [slices per minute]
MIN_TEMPO = 1.0
MAX_TEMPO = 10_000.0
ADVISED_TEMPO = (250.0, 450.0)  # [slices per minute]
MAX_SLICES = 100_000  # Of a sequence.
MAX_PAIRS = 100  # Different pairs of neighbours, and of groups of moves at the same time, that are played.
MAX_PLAYED = 2_000  # [slices] Longer groups are not played.
MAX_STEP = 0.2  # [rad] Accepted step of a joint at the start of a move: at 100 Hz a speed of 20 rad/s.
_DEPRECATED = {
    ("step_params", "mirror"): "mirror_x and mirror_y",
    ("jump_params", "absolute"): "yaw_is_absolute and translation_is_absolute",
    ("turn_params", "absolute"): "yaw_is_absolute and motion_is_absolute",
}
_SWING = ("swing_height", "liftoff_velocity", "touchdown_velocity")
_UNUSABLE = (
    rules.MOVE_UNKNOWN,
    rules.MOVE_TIME,
    rules.MOVE_UNPLAYABLE,
    rules.FAULTY,
    rules.NOT_FINITE,
)
_MATTERING = frozenset(
    rule.code for rule in (*_UNUSABLE, rules.TRACKS, rules.OTHER_PARAMETERS)
)
"""A move with one of these problems is left out by `danced`."""


class _Review:
    """The problems of a choreography, located in its file."""

    def __init__(self, choreography: Choreography) -> None:
        self.choreography = choreography
        self.found = Diagnostics()
        self._locations = choreography.source.locations
        self._lengths: dict[tuple[str, str], tuple[float, float]] = {}

    def length_range(self, move: Move) -> tuple[float, float]:
        """Return the smallest and the largest length [slices] of a move, which all moves of its type have.

        See `moves.length_range`.
        """
        key = move.type, move.animation
        if key not in self._lengths:
            self._lengths[key] = length_range(self.choreography, move)
        return self._lengths[key]

    def report(
        self,
        rule: Rule,
        message: str,
        number: int | None = None,
        field: str = "",
        **data: object,
    ) -> None:
        """Report a problem of the move `number`, or of a field of the choreography."""
        if self.found.is_full(rule):
            self.found.count_more(rule)
            return
        if number is None:
            subject: tuple[str | int, ...] = (field,) if field else ()
        else:
            move = self.choreography.moves[number]
            if field:
                subject = ("moves", number, field)
            else:
                subject = ("moves", number)
            message = f"{move.type!r} at slice {move.start_slice} {message}"
        self.found.report(
            rule, message, self._locations.locate(subject), subject=subject, data=data
        )


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
    review = _Review(choreography)
    if not choreography.name:
        review.report(rules.SEQUENCE_NAME, "the sequence has no name", field="name")
    tempo = choreography.slices_per_minute
    valid_tempo = MIN_TEMPO <= tempo <= MAX_TEMPO
    if not valid_tempo:
        message = (
            f"{tempo:g} slices per minute, expected {MIN_TEMPO:g} to {MAX_TEMPO:g}"
        )
        review.report(rules.TEMPO, message, field="slices_per_minute")
    elif not ADVISED_TEMPO[0] <= tempo <= ADVISED_TEMPO[1]:
        low, high = ADVISED_TEMPO
        message = f"{tempo:g} slices per minute, {tempo / 4:g} beats per minute; advised are {low:g} to {high:g} slices"
        review.report(rules.TEMPO_ADVISED, message, field="slices_per_minute")
    if not choreography.moves:
        review.report(rules.NO_MOVES, "the sequence has no moves", field="moves")
    usable: list[int] = []
    ends: dict[int, int] = {}
    bad = _animation_faults(choreography)
    for number, move in enumerate(choreography.moves):
        known = _check_type(review, number, move, bad)
        timed = _check_time(review, number, move)
        _check_parameters(review, number, move)
        if known and timed:
            ends[number] = (
                _check_length(review, number, move) if valid_tempo else move.end_slice
            )
            usable.append(number)
    usable.sort(key=lambda number: choreography.moves[number].start_slice)
    with_ids: dict[int, int] = {}
    for number, move in enumerate(choreography.moves):
        if move.id and with_ids.setdefault(move.id, number) != number:
            review.report(
                rules.MOVE_ID,
                f"has the id {move.id}, as move {with_ids[move.id] + 1}",
                number,
                "id",
            )
    clear = _check_tracks(review, usable, ends)
    _check_states(review, clear)
    _check_neighbours(review, usable, ends)
    if jumps and valid_tempo:
        animated = [
            number
            for number in clear
            if choreography.moves[number].animation in choreography.animations
        ]
        for number, message in _pose_jumps(choreography, animated):
            review.report(rules.POSE_JUMP, message, number)
        _check_reach(review, animated)
    return review.found.problems


def danced(choreography: Choreography, problems: Iterable[Problem]) -> Choreography:
    """Return the part of a choreography that a robot dances with non-strict parsing, by the problems that `check_choreography` found.

    Moves are left out that are unknown, that begin before the first slice or have no
    length, and that need a track of another move. Lengths and parameters become the
    nearest ones that are allowed. Without a valid tempo no moves are left.
    """
    moves: dict[int, Move] = dict(enumerate(choreography.moves))
    for problem in problems:
        if problem.rule == rules.TEMPO.code:
            moves.clear()
        if (
            len(problem.subject) < 2
            or (move := moves.get(number := int(problem.subject[1]))) is None
        ):
            continue
        if problem.rule in _MATTERING:
            del moves[number]
        elif problem.rule == rules.MOVE_LENGTH.code:
            moves[number] = replace(move, requested_slices=problem.data["slices"])  # type: ignore[arg-type]
        elif problem.rule == rules.MOVE_PARAMETER.code:
            name = problem.subject[2]
            allowed = problem.data["allowed"]
            rest = {
                key: value
                for key, value in move.parameters.items()
                if key != name or allowed is not None
            }
            moves[number] = replace(
                move,
                parameters=rest if allowed is None else {**rest, name: allowed},  # type: ignore[dict-item]
            )
    return choreography.replaced(*moves.values())


def _animation_faults(choreography: Choreography) -> dict[str, tuple[Rule, str]]:
    """Return why animations cannot be danced, by name."""
    bad: dict[str, tuple[Rule, str]] = {}
    needs, forbids = (
        [name for name, one in choreography.animations.items() if option in one.options]
        for option in ("arm_required", "arm_prohibited")
    )
    for name, animation in choreography.animations.items():
        errors = [
            one
            for one in (*animation.problems, *check_animation(animation))
            if one.severity == "error"
        ]
        if errors:
            first = f"the first is {errors[0].rule}: {errors[0].message}"
            bad[name] = (
                rules.FAULTY,
                f"has {counted(len(errors), 'error')} in its animation, {first}",
            )
        try:
            check_keyframes(animation)
            natural_slices(animation, 120.0)
        except (ValueError, MemoryError) as error:
            bad[name] = rules.MOVE_UNPLAYABLE, f"cannot be played: {error}"
        if name in forbids and needs:
            bad[name] = rules.ARM, f"is for a robot without arm; {needs[0]!r} needs one"
    return bad


def _check_type(
    review: _Review, number: int, move: Move, bad: dict[str, tuple[Rule, str]]
) -> bool:
    """Check that a move is known.

    Return whether it can be danced.
    """
    choreography = review.choreography
    robot = choreography.robot
    name = move.animation
    infos, ranges = ({}, {}) if robot is None else (robot.infos, robot.ranges)
    info = choreography.info(move)
    if name in bad:
        review.report(bad[name][0], bad[name][1], number, "type")
        return False
    if not name:
        if robot is not None and move.type not in infos and move.type not in ranges:
            message = (
                f"is not listed by the robot; {choices(move.type, {*infos, *ranges})}"
            )
            review.report(rules.MOVE_UNKNOWN, message, number, "type")
            return False
        if robot is None and (not move.type or ":" in move.type):
            meant = f"{PREFIX}{move.type.rpartition(':')[2] or 'NAME'}"
            review.report(
                rules.MOVE_UNKNOWN,
                f"is not a move; did you mean {meant!r}?",
                number,
                "type",
            )
            return False
        return True
    animation = choreography.animations.get(name)
    named = str(move.parameters.get("animation_name", ""))
    if move.type == "animation" or named not in ("", name):
        review.report(
            rules.OLD_TYPE, f"names the animation {named!r}", number, "animation_name"
        )
    if animation is None and robot is not None and info is None and infos:
        review.report(
            rules.MOVE_UNKNOWN,
            "is an animation that the robot does not list",
            number,
            "type",
        )
        return False
    if animation is None and info is None:
        review.report(
            rules.ANIMATION_MISSING,
            f"has no file {name}.cha that can be read",
            number,
            "type",
            missing=name,
        )
    if (
        animation is not None
        and info is not None
        and MIN_TEMPO <= choreography.slices_per_minute <= MAX_TEMPO
    ):
        here = natural_slices(animation, choreography.bpm)
        there = info.natural_slices(choreography.slices_per_minute)
        if set(info.tracks) != set(animation.controls) or (
            there and abs(here - there) > 1
        ):
            message = f"has {there} slices of {', '.join(info.tracks)} on the robot, {here} of {', '.join(animation.controls)} in the file"
            review.report(rules.DIFFERS, message, number, "type")
    return True


def _check_time(review: _Review, number: int, move: Move) -> bool:
    if move.start_slice < 0 or move.requested_slices <= 0:
        message = f"lasts {counted(move.requested_slices, 'slice')}; expected a start at slice 0 or later, and at least 1 slice"
        review.report(
            rules.MOVE_TIME,
            message,
            number,
            "start_slice" if move.start_slice < 0 else "requested_slices",
        )
    elif move.end_slice > MAX_SLICES:
        message = f"ends beyond slice {MAX_SLICES}, at {move.end_slice}"
        review.report(rules.MOVE_TIME, message, number, "requested_slices")
    else:
        return True
    return False


def _check_length(review: _Review, number: int, move: Move) -> int:
    """Check the length of a move.

    Return where it ends with the length that is used.
    """
    low, high = review.length_range(move)
    nearest = int(
        min(
            max(move.requested_slices, math.ceil(low)),
            high if high < MAX_SLICES else MAX_SLICES,
        )
    )
    if nearest != move.requested_slices:
        too_long = nearest < move.requested_slices
        bound, word = (
            (f"at most {high:g}", "extendable")
            if too_long
            else (f"at least {low:g}", "truncatable")
        )
        lasts = f"{nearest if low == high else bound}" + (
            f", as it is not {word}" if move.animation else ""
        )
        message = f"has {counted(move.requested_slices, 'slice')}; expected {lasts}"
        review.report(
            rules.MOVE_LENGTH, message, number, "requested_slices", slices=nearest
        )
    return move.start_slice + nearest


def _check_parameters(review: _Review, number: int, move: Move) -> None:
    expected, ranges = ranges_of(review.choreography, move)
    if move.kind and (
        move.kind != expected if expected is not None else move.kind not in KINDS
    ):
        of = expected or ("no parameters" if expected == "" else ", ".join(KINDS))
        review.report(
            rules.OTHER_PARAMETERS, f"has {move.kind}, expected {of}", number, move.kind
        )
        return
    values = move.parameters
    kind = move.kind
    for name, value in values.items():
        if isinstance(value, float) and not math.isfinite(value):
            review.report(
                rules.NOT_FINITE,
                f"{name} is {value}, expected a finite number",
                number,
                name,
            )
            continue
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            _check_number(review, number, move, name, float(value))
        if (
            ranges is None
            or isinstance(value, (bool, bytes, type(None)))
            or name == "animation_name"
        ):
            continue
        limits = ranges.get(name)
        low, high = (None, None) if limits is None else (limits.minimum, limits.maximum)
        if limits is None:
            message = f"has no parameter {name}; {choices(name, ranges)}"
            review.report(rules.MOVE_PARAMETER, message, number, name, allowed=None)
        elif (
            isinstance(value, (int, float))
            and low is not None
            and high is not None
            and not low <= value <= high
        ):
            message = f"{name} is {value:g}, expected {low:g} to {high:g}"
            nearest = type(value)(min(max(value, low), max(low, high)))
            review.report(rules.MOVE_PARAMETER, message, number, name, allowed=nearest)
    for message, name in _without_effect(kind, values.get):
        review.report(rules.NO_EFFECT, message, number, name)
    for (of, name), instead in _DEPRECATED.items():
        if of == kind and values.get(name):
            review.report(
                rules.DEPRECATED,
                f"{name} is deprecated; {instead} replace it",
                number,
                name,
            )
    foot = values.get("foot")
    if kind == "step_params" and (
        foot == "LEG_NO_LEG" or (foot is not None and foot == values.get("second_foot"))
    ):
        message = f"steps with {foot!s} and {values.get('second_foot')!s}; expected two different feet"
        review.report(rules.SECOND_FOOT, message, number, "second_foot")


def _check_number(
    review: _Review, number: int, move: Move, name: str, value: float
) -> None:
    """Check a number that may be a part of a colour, or stand for a name."""
    last = name.rpartition(".")[2]
    if last in ("red", "green", "blue") and not 0 <= value <= 255:
        review.report(
            rules.COLOR, f"{name} is {value:g}, expected 0 to 255", number, name
        )
    if move.kind:
        message = MESSAGES.get(MESSAGES["MoveParams"][move.kind].kind, {})
    else:
        message = {}
    if name in message and (words := ENUMS.get(message[name].kind)):
        review.report(
            rules.ENUMERATION,
            f"{name} is {value:g}; expected one of {', '.join(words)}",
            number,
            name,
        )


def _without_effect(
    kind: str, get: Callable[[str], object]
) -> Iterator[tuple[str, str]]:
    """Return parameters that have no effect beside others: a message, and the name."""
    if get("number_of_circles") and get("beats_per_circle"):
        yield (
            "beats_per_circle has no effect together with number_of_circles",
            "beats_per_circle",
        )
    if kind == "step_params" and any(get(f"swing_waypoint.{axis}") for axis in "xyz"):
        for name in _SWING:
            if get(name):
                yield f"{name} has no effect together with a swing_waypoint", name
    if kind == "buzzer_note_params" and get("sharp") and get("flat"):
        yield "sharp and flat have no effect together", "flat"


def _check_tracks(
    review: _Review, usable: list[int], ends: dict[int, int]
) -> list[int]:
    """Report moves that control a track of another move at the same time.

    Return the others.
    """
    moves = review.choreography.moves
    clear = []
    busy: dict[str, int] = {}
    for number in usable:
        move = moves[number]
        tracks = tracks_of(review.choreography, moves[number])
        rivals = {
            track: busy[track]
            for track in tracks
            if track in busy and ends[busy[track]] > move.start_slice
        }
        if rivals:
            track, other = next(iter(rivals.items()))
            first = f"{moves[other].type!r} at slice {moves[other].start_slice}"
            message = f"and {first} both control the {track} until slice {min(ends[number], ends[other])}"
            review.report(
                rules.TRACKS, message, number, tracks=tuple(rivals), other=other
            )
            continue
        clear.append(number)
        busy |= dict.fromkeys(tracks, number)
    return clear


def _check_states(review: _Review, usable: list[int]) -> None:
    """Check the positions in which moves of the legs begin."""
    choreography = review.choreography
    before = ""
    entrance = str(choreography.options.get("entrance_state", ""))
    last: Move | None = None
    for number in usable:
        move = choreography.moves[number]
        if "legs" not in tracks_of(choreography, move):
            continue
        states, after = states_of(choreography, move)
        if (
            last is None
            and states
            and entrance not in ("", STATES[0])
            and entrance not in states
        ):
            message = f"does not begin in {entrance}, but in {' or '.join(states)}"
            review.report(rules.ENTRANCE_STATE, message, number)
        elif before and states and before not in states and last is not None:
            message = f"begins in {' or '.join(states)}; {last.type!r} before it ends in {before}"
            review.report(rules.ENTRANCE, message, number)
        before = after
        last = move


def _check_neighbours(review: _Review, usable: list[int], ends: dict[int, int]) -> None:
    """Check custom gaits, random lengths, links to the next move, and held poses."""
    choreography, moves = review.choreography, review.choreography.moves
    gaits = [number for number in usable if moves[number].type == "custom_gait"]
    edges = sorted(
        {edge for gait in gaits for edge in (moves[gait].start_slice, ends[gait])}
    )
    for number in usable if edges else ():
        crossed = next(
            (edge for edge in edges if moves[number].start_slice < edge < ends[number]),
            None,
        )
        if crossed is not None:
            review.report(
                rules.GAIT,
                f"crosses slice {crossed}, at which a custom gait begins or ends",
                number,
            )
    body_ends = {
        ends[number]
        for number in usable
        if "body" in tracks_of(choreography, moves[number])
    }
    starts = {(moves[number].type, moves[number].start_slice) for number in usable}
    for number in usable:
        move = moves[number]
        if move.type == "random_stretch":
            message = "lengthens the moves directly before it: the length of the dance is unknown"
            review.report(rules.LENGTH_UNKNOWN, message, number)
        if (
            move.parameters.get("link_to_next")
            and (move.type, ends[number]) not in starts
        ):
            message = f"is linked to the next move, but no {move.type!r} begins at slice {ends[number]}"
            review.report(rules.LINK, message, number, "link_to_next")
        if move.type == "body_const" and move.start_slice not in body_ends:
            review.report(
                rules.HOLD,
                "holds the pose of a move of the body, but none ends there",
                number,
            )


def _pose_jumps(
    choreography: Choreography, animated: Iterable[int]
) -> Iterator[tuple[int, str]]:
    """Return the moves, of those `animated` (in the order of their starts), at whose start joints jump, each with a message."""
    before: dict[str, Move] = {}
    known: dict[object, str] = {}
    for number in animated:
        move = choreography.moves[number]
        animation = choreography.animations[move.animation]
        for track in animation.controls:
            last = before.get(track)
            if last is not None and last.end_slice == move.start_slice:
                key = _key(last, move)
                if key not in known and len(known) < MAX_PAIRS:
                    known[key] = _jump(choreography, last, move)
                if known.get(key):
                    yield number, known[key]
                break
        before |= dict.fromkeys(animation.controls, move)


def _key(*moves: Move) -> object:
    """Return what the motion of moves depends on, apart from the slice at which the first of them begins."""
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


def _check_reach(review: _Review, animated: Iterable[int]) -> None:
    """Report feet and hands that miss their goals in moves that are played together, of those `animated` (in the order of their starts)."""
    choreography = review.choreography
    groups = list[list[int]]()
    end = 0
    moves = choreography.moves
    played = dict[object, list[tuple[Rule, str, int, float]]]()
    for number in animated:
        if not groups or moves[number].start_slice >= end:
            groups.append([])
        groups[-1].append(number)
        end = max(end, moves[number].end_slice)
    for group in groups:
        together = [moves[number] for number in group]
        key = _key(*together)
        first = together[0].start_slice
        if key not in played and len(played) < MAX_PAIRS:
            from_start = (
                replace(one, start_slice=one.start_slice - first) for one in together
            )
            played[key] = _missed(choreography.replaced(*from_start))
        for rule, text, after, amount in played.get(key, ()):
            at = first + after
            number = max(
                (k for k in group if moves[k].start_slice <= at),
                key=lambda k: moves[k].start_slice,
            )
            others = [
                moves[k].type
                for k in group
                if k != number and moves[k].start_slice <= at < moves[k].end_slice
            ]
            if others:
                beside = f", beside {', '.join(map(repr, others))}"
            else:
                beside = ""
            review.report(
                rule, f"{text} at slice {at}{beside}", number, amount=amount, slice=at
            )


def _missed(choreography: Choreography) -> list[tuple[Rule, str, int, float]]:
    """Return what misses its goal in a dance.

    The rule, a message, the slice where it does most, and by how much [m].
    """
    try:
        if choreography.slices <= MAX_PLAYED:
            motion = play_choreography(choreography)
        else:
            motion = Motion()
    except ValueError:
        return []
    found = []
    for one in motion.timed:
        if one.content == REACH_ERROR:
            for rule, parts in ((FOOT_REACH, slice(0, 4)), (HAND_REACH, slice(4, 5))):
                errors = one.values[:, parts]
                if errors.max(initial=0.0) > REACH_TOLERANCE:
                    frame, part = np.unravel_index(int(errors.argmax()), errors.shape)
                    if rule is FOOT_REACH:
                        name = f"has foot {LEGS[part]}"
                    else:
                        name = "has the hand"
                    at = int(
                        one.timeline.times[frame]
                        * choreography.slices_per_minute
                        / 60.0
                    )
                    found.append(
                        (
                            rule,
                            f"{name} {errors.max():.3f} m short of its goal",
                            at,
                            float(errors.max()),
                        )
                    )
    return found


def _jump(choreography: Choreography, last: Move, move: Move) -> str:
    """Return the largest step of a joint between two animations as a message.

    "" where none is too large.
    """
    animations = choreography.animations
    first = animations[last.animation]
    second = animations[move.animation]
    arm = needs_arm(first) or needs_arm(second)
    try:
        end = last_pose(
            play_move(first, last, choreography.bpm, default_start(first), arm=arm)
        )
        joints = play_move(
            second, move, choreography.bpm, end, arm=arm
        ).joint_displacement
    except (ValueError, MemoryError):
        return ""
    assert joints is not None
    before = np.concatenate([end.legs.ravel(), end.arm, [end.gripper]])[
        : joints.num_parts
    ]
    steps = np.abs(joints.values[0] - before)
    worst = int(np.argmax(steps))
    if not steps[worst] > MAX_STEP:
        return ""
    return f"begins with {JOINT_NAMES[worst]} at {joints.values[0, worst]:.2f} rad; {last.type!r} before it ends at {before[worst]:.2f} rad"
