"""What the stand-in robot says about an animation or a sequence that it is given, and whether it takes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bodymotion.animation import TRACKS, Animation
from bodymotion.diagnostics import Problem
from bodymotion.formats.cha import check_animation
from bodymotion.spot.rehearsal.moves import move_parameters, natural_slices, set_parameter, unset_parameter
from bodymotion.spot.rehearsal.ranges import RANGES
from bodymotion.spot.rehearsal.stage import PREFIX, Known

__all__ = ["judge_animation", "judge_sequence"]

SLOWEST, FASTEST = 1.0, 10_000.0
"""Slices per minute that are a tempo."""
LONGEST = 100_000
"""[slices] No sequence is longer."""


def judge_animation(animation: Animation, *, arm: bool) -> tuple[bool, tuple[str, ...]]:
    """Say whether a robot with or without arm takes an animation, and what there is to say about it.

    It refuses what breaks the document, as `check` reports it for a file.
    """
    problems = check_animation(animation)
    said = [in_words(problem) for problem in problems]
    good = not any(problem.severity == "error" for problem in problems)
    if arm and "arm_prohibited" in animation.options:
        good, said = False, [*said, "the animation is not for a robot with arm (arm_prohibited)"]
    if not arm and "arm_required" in animation.options:
        good, said = False, [*said, "the animation needs a robot with arm (arm_required)"]
    return good, tuple(said)


def in_words(problem: Problem) -> str:
    """Return a problem as a warning in an answer."""
    return f"{problem.rule} {problem.message}"


def judge_sequence(sequence: Any, known: Mapping[str, Known]) -> tuple[Any, tuple[str, ...]]:  # noqa: ANN401
    """Return what can be danced of a sequence, and what is wrong with the rest.

    Moves that nobody knows, that begin before the first slice or do not last, and those that want a track while another has it are left
    out; a length or parameter that an animation does not allow becomes the nearest that it does. Without a tempo nothing is left.
    """
    said: list[str] = []
    danced = type(sequence)()
    danced.CopyFrom(sequence)
    del danced.moves[:]
    if not sequence.name:
        said.append("the sequence has no name")
    if not SLOWEST <= sequence.slices_per_minute <= FASTEST:
        said.append(f"{sequence.slices_per_minute:g} slices per minute are no tempo: {SLOWEST:g} to {FASTEST:g} are")
        return danced, tuple(said)
    if not sequence.moves:
        said.append("the sequence has no moves")
    busy: dict[str, list[tuple[int, int, str]]] = {track: [] for track in TRACKS}
    for move in sequence.moves:
        found = known.get(move.type.removeprefix(PREFIX))
        if not move.type.startswith(PREFIX):
            said.append(f"{move.type}: this stand-in robot plays animations only, not the robot's own moves")
        elif found is None:
            said.append(f"{move.type}: no such animation was uploaded")
        elif move.start_slice < 0 or move.requested_slices <= 0:
            said.append(f"{move.type} begins at slice {move.start_slice} and lasts {move.requested_slices}")
        elif move.start_slice + move.requested_slices > LONGEST:
            said.append(f"{move.type} ends beyond slice {LONGEST}")
        else:
            kept = danced.moves.add()
            kept.CopyFrom(move)
            try:
                said += _allowed(kept, found.animation, sequence.slices_per_minute / 4.0)
            except (ValueError, MemoryError) as error:
                said.append(f"{move.type} cannot be played: {error}")
                del danced.moves[-1]
                continue
            clash = _clash(kept, found.animation, busy)
            if clash:
                said.append(clash)
                del danced.moves[-1]
    return danced, tuple(dict.fromkeys(said))


def _allowed(move: Any, animation: Animation, bpm: float) -> list[str]:  # noqa: ANN401
    """Bring a move's length and parameters to what its animation allows; say what was changed."""
    said = []
    natural = natural_slices(animation, bpm)
    longer, shorter = move.requested_slices > natural, move.requested_slices < natural
    if (longer and "extendable" not in animation.options) or (shorter and "truncatable" not in animation.options):
        word = "extendable" if longer else "truncatable"
        said.append(f"{move.type} lasts {natural} slices, not {move.requested_slices}: it is not {word}")
        move.requested_slices = natural
    for name, value in move_parameters(move).items():
        limits = animation.parameters.get(name)
        if limits is None:
            said.append(f"{move.type} has no parameter {name}")
            unset_parameter(move, name)
            continue
        low = limits.minimum if limits.minimum is not None else RANGES[name][0]
        high = limits.maximum if limits.maximum is not None else RANGES[name][2]
        if not low <= value <= high:
            said.append(f"{move.type}: {name} is {value:g}, not from {low:g} to {high:g}")
            set_parameter(move, name, min(max(value, low), high))
    return said


def _clash(move: Any, animation: Animation, busy: dict[str, list[tuple[int, int, str]]]) -> str:  # noqa: ANN401
    """Say which move has a track of this one at the same time; else note that this one has its tracks now."""
    begin, end = move.start_slice, move.start_slice + move.requested_slices
    for track in animation.controls:
        for first, last, other in busy[track]:
            if begin < last and first < end:
                return f"{move.type} and {other} both control the {track} at slice {max(begin, first)}"
    for track in animation.controls:
        busy[track].append((begin, end, move.type))
    return ""
