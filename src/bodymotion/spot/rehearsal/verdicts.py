"""What the stand-in robot says about an animation or a sequence that it is given, and whether it takes it."""

from __future__ import annotations

from typing import Any

from bodymotion.animation import TRACKS, Animation
from bodymotion.diagnostics import Problem
from bodymotion.formats.cha import check_animation
from bodymotion.spot.rehearsal.stage import PREFIX, Known

__all__ = ["judge_animation", "judge_sequence"]


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
    """Give a problem as a warning in an answer."""
    return f"{problem.rule} {problem.message}"


def judge_sequence(sequence: Any, known: dict[str, Known]) -> tuple[str, ...]:  # noqa: ANN401
    """Say what is wrong with a sequence: unknown moves, lengths and tempo that make no sense, moves that want a track at one time."""
    said = []
    if not sequence.name:
        said.append("the sequence has no name")
    if not sequence.slices_per_minute > 0:
        said.append(f"{sequence.slices_per_minute:g} slices per minute are no tempo")
    if not sequence.moves:
        said.append("the sequence has no moves")
    busy: dict[str, list[tuple[int, int, str]]] = {track: [] for track in TRACKS}
    for move in sequence.moves:
        begin, end = move.start_slice, move.start_slice + move.requested_slices
        if begin < 0 or end <= begin:
            said.append(f"{move.type} lasts from slice {begin} to {end}")
        if not move.type.startswith(PREFIX):
            said.append(f"{move.type}: this stand-in robot plays animations only, not the robot's own moves")
            continue
        found = known.get(move.type.removeprefix(PREFIX))
        if found is None:
            said.append(f"{move.type}: no such animation was uploaded")
            continue
        for track in found.animation.controls:
            clash = next((other for first, last, other in busy[track] if begin < last and first < end), None)
            if clash is not None:
                said.append(f"{move.type} and {clash} both control the {track} at slice {begin}")
            busy[track].append((begin, end, move.type))
    return tuple(dict.fromkeys(said))
