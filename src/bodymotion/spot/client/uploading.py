"""Uploading animations to a robot: only what changed, and only what has no error."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from bodymotion.animation import Animation, Parameter
from bodymotion.checks import check
from bodymotion.diagnostics import FormatError, Problem
from bodymotion.formats.cha_proto import to_proto
from bodymotion.formats.cha_proto.writer import limits_of
from bodymotion.formats.registry import load
from bodymotion.spot.client.connecting import said_in_words, vendor

__all__ = ["Outcome", "animation_files", "upload"]

PATIENCE = 60.0
"""[s] So long a robot may look at an animation."""

Result = Literal["uploaded", "unchanged", "refused", "faulty"]


@dataclass(frozen=True)
class Outcome:
    """What became of an animation.

    Attributes
    ----------
    name, source:
        The move's name, and the file it came from (None for an `Animation`).
    result:
        "uploaded"; "unchanged", the robot has it; "refused" by the robot; "faulty", not sent because of its own errors.
    warnings:
        What the robot said about it.
    problems:
        What `check` said about it.
    reason:
        Why it was not sent, where no problem says it.
    """

    name: str
    source: Path | None
    result: Result
    warnings: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    reason: str = ""


def animation_files(paths: Iterable[str | Path]) -> list[Path]:
    """Return the files to upload: those named, and of folders all their `.cha`, in order of their names.

    Raises
    ------
    FileNotFoundError
        When a path does not exist, or a folder holds none.
    """
    found: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            found_here = (file for file in path.iterdir() if file.suffix.lower() == ".cha" and file.is_file())
            inside = sorted(found_here, key=lambda file: file.name.casefold())
            if not inside:
                raise FileNotFoundError(f"{path}: no .cha file is in this folder")
            found += inside
        elif path.exists():
            found.append(path)
        else:
            raise FileNotFoundError(f"{path}: there is no such file or folder")
    return list(dict.fromkeys(found))


def upload(
    animations: Iterable[Animation | str | Path],
    robot: Any,  # noqa: ANN401
    *,
    again: bool = False,
    done: Callable[[Outcome], object] = lambda outcome: None,
) -> tuple[Outcome, ...]:
    """Upload animations to a robot, so that sequences can use them as moves of the type `animation::NAME`.

    Parameters
    ----------
    animations:
        Animations or files of them.
    robot:
        The vendor's `bosdyn.client.robot.Robot`, logged in (`bodymotion.spot.connected`).
    again:
        Also send what the robot has already.
    done:
        Called after each one.

    Raises
    ------
    SpotError
        When the robot does not answer.
    """
    room = vendor("bosdyn.choreography.client.choreography")
    with said_in_words(str(robot.address)):
        helper = room.AnimationUploadHelper(robot)
        ranges = helper.choreography_client.list_all_moves(timeout=PATIENCE).move_param_config
    if again:
        helper.animation_name_to_generated_id.clear()
    outcomes: list[Outcome] = []
    for thing in animations:
        outcome = _upload_one(thing, helper, ranges, str(robot.address), [other.name for other in outcomes])
        done(outcome)
        outcomes.append(outcome)
    return tuple(outcomes)


def _upload_one(
    thing: Animation | str | Path,
    helper: Any,  # noqa: ANN401
    ranges: str,
    where: str,
    before: Sequence[str],
) -> Outcome:
    source = None if isinstance(thing, Animation) else Path(thing)
    name = thing.name if isinstance(thing, Animation) else Path(thing).name.split(".cha")[0]
    report = check(thing)

    def faulty(reason: str = "", problems: tuple[Problem, ...] = report.problems) -> Outcome:
        return Outcome(name, source, "faulty", problems=problems, reason=reason)

    if report.errors:
        return faulty()
    try:
        animation = thing if isinstance(thing, Animation) else load(thing)
    except FormatError as error:
        return faulty(problems=error.problems)
    if not isinstance(animation, Animation):
        return faulty("it holds no animation")
    name = animation.name
    if not name:
        return faulty("the move has no name: that of the file is empty")
    if name in before:
        return faulty(f"another of these is the move {name}, too")
    lacking = [
        key for key, given in animation.parameters.items() if given == Parameter() and key not in limits_of(ranges)
    ]
    if lacking:
        return faulty(
            f"the robot tells no range of {', '.join(lacking)}: the file has to give minimum, default and maximum"
        )
    message = to_proto(animation, move_params_config=ranges or None)
    room = vendor("bosdyn.choreography.client.choreography")
    with said_in_words(where):
        try:
            answer = helper.upload_animated_move(message, timeout=PATIENCE)
        except (room.AnimationValidationFailedError, room.AnimationRejectedDanceActiveError) as error:
            said = tuple(error.response.warnings) or (str(error.error_message).rstrip("."),)
            return Outcome(name, source, "refused", said, report.problems)
    if answer is None:
        return Outcome(name, source, "unchanged", problems=report.problems)
    return Outcome(name, source, "uploaded", tuple(answer.warnings), report.problems)
