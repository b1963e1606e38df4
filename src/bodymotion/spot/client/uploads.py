"""Upload animations to a robot.

Only those that changed and have no errors; and choreographies with their animations.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from bodymotion.diagnostics import FormatError, Problem, ShortRepr
from bodymotion.formats.registry import read
from bodymotion.spot.animation import Animation, Parameter
from bodymotion.spot.cha import move_name
from bodymotion.spot.cha_proto import to_proto
from bodymotion.spot.cha_proto.sequence import limits_of
from bodymotion.spot.choreography.values import Choreography
from bodymotion.spot.client.connection import translated_errors, vendor
from bodymotion.spot.client.dances import send_choreography
from bodymotion.spot.playback.validation import checked

UPLOAD_TIMEOUT = 60.0
"""[s] A robot validates an animation before it answers."""

Result = Literal["uploaded", "unchanged", "refused", "faulty"]


@dataclass(frozen=True)
class Outcome(ShortRepr):
    """The result of an upload.

    Attributes
    ----------
    name, source:
        The move's name, and the file it came from (None for an `Animation`).
    result:
        "uploaded"; "unchanged", the robot has it already; "refused" by the robot;
        "faulty", not sent because of errors.
    warnings:
        The warnings of the robot.
    problems:
        The problems that were found before the upload.
    reason:
        The reason why it was not sent, where it is not one of the problems.
    """

    name: str
    source: Path | None
    result: Result
    warnings: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    reason: str = ""


def upload(
    animations: Iterable[Animation | Choreography | str | PathLike[str]],
    robot: Any,  # noqa: ANN401
    *,
    again: bool = False,
    done: Callable[[Outcome], object] = lambda outcome: None,
) -> tuple[Outcome, ...]:
    """Upload animations to a robot.

    Sequences can use them as moves of the type `animation::NAME`.

    And choreographies.

    The known animations of a choreography are uploaded first; it is then checked by the
    moves that the robot lists.

    Parameters
    ----------
    animations:
        Animations and choreographies, or files of them.
    robot:
        The vendor's `bosdyn.client.robot.Robot`, logged in
        (`bodymotion.spot.connected`).
    again:
        Also send animations that the robot has already.
    done:
        Called after each upload.

    Raises
    ------
    SpotError
        When the robot does not answer.
    """
    module = vendor("bosdyn.choreography.client.choreography")
    with translated_errors(str(robot.address)):
        # The helper knows which animations the robot has already, by generated ids.
        helper = module.AnimationUploadHelper(robot)
        ranges = helper.choreography_client.list_all_moves(
            timeout=UPLOAD_TIMEOUT
        ).move_param_config
    # Forgetting them makes the helper send all again.
    if again:
        helper.animation_name_to_generated_id.clear()
    outcomes: list[Outcome] = []
    sent: list[str] = []

    def send(
        value: object, file: Path | None = None, problems: tuple[Problem, ...] = ()
    ) -> None:
        outcomes.append(
            _upload_one(value, file, problems, helper, ranges, str(robot.address), sent)
        )
        sent.append(outcomes[-1].name)
        done(outcomes[-1])

    for thing in animations:
        if isinstance(thing, (Animation, Choreography)):
            file = None
        else:
            file = Path(thing)
        value, problems = (thing, ()) if file is None else _read(file)
        # A choreography needs its animations on the robot first.
        if isinstance(value, Choreography) and not any(
            problem.severity == "error" for problem in problems
        ):
            for name, animation in value.animations.items():
                if name not in sent:
                    send(animation)
            found, warnings = send_choreography(value, robot)
            result: Result = "faulty" if warnings is None else "uploaded"
            outcomes.append(
                Outcome(value.name, value.source.path, result, warnings or (), found)
            )
            done(outcomes[-1])
        else:
            send(value, file, problems)
    return tuple(outcomes)


def _read(file: Path) -> tuple[object, tuple[Problem, ...]]:
    """Return the value of a file, if any, and the problems of the file."""
    try:
        result = read(file)[1]
    except FormatError as error:
        return None, error.problems
    return result.value, result.problems


def _reason_not_to_send(
    animation: Animation, ranges: str, before: Sequence[str]
) -> str:
    """Return why an animation without errors cannot be sent; "" where it can."""
    if not animation.name:
        return "the move has no name: that of the file is empty"
    if animation.name in before:
        return f"another of these animations is also the move {animation.name}"
    # A parameter that is only named needs the robot's range.
    known = limits_of(ranges)
    missing = [
        name
        for name, limits in animation.parameters.items()
        if limits == Parameter() and name not in known
    ]
    if missing:
        return (
            f"the robot has no range of {', '.join(missing)}; give minimum, default "
            "and maximum in the file"
        )
    return ""


def _upload_one(
    animation: object,
    file: Path | None,
    problems: tuple[Problem, ...],
    helper: Any,  # noqa: ANN401
    ranges: str,
    where: str,
    before: Sequence[str],
) -> Outcome:
    """Upload an animation, the value of a file, and return what came of it."""
    if not isinstance(animation, Animation):
        reason = "the file is neither an animation nor a choreography"
        if any(problem.severity == "error" for problem in problems):
            reason = ""
        name = "" if file is None else move_name(file)
        return Outcome(name, file, "faulty", problems=problems, reason=reason)
    name = animation.name
    source = file or animation.source.path
    # An animation with errors is not sent.
    problems = checked(animation)
    if any(problem.severity == "error" for problem in problems):
        shown = name if file is None else move_name(file) or name
        return Outcome(shown, source, "faulty", problems=problems, reason="")
    reason = _reason_not_to_send(animation, ranges, before)
    if reason:
        return Outcome(name, source, "faulty", problems=problems, reason=reason)
    message = to_proto(animation, move_params_config=ranges or None)
    module = vendor("bosdyn.choreography.client.choreography")
    with translated_errors(where):
        try:
            answer = helper.upload_animated_move(message, timeout=UPLOAD_TIMEOUT)
        # The robot refuses the animation: its reasons are in the response.
        except (
            module.AnimationValidationFailedError,
            module.AnimationRejectedDanceActiveError,
        ) as error:
            warnings = tuple(error.response.warnings) or (
                str(error.error_message).rstrip("."),
            )
            return Outcome(name, source, "refused", warnings, problems)
    if answer is None:
        return Outcome(name, source, "unchanged", problems=problems)
    return Outcome(name, source, "uploaded", tuple(answer.warnings), problems)
