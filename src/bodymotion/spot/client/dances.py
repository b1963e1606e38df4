"""Choreographies on a robot: the list of its moves, upload, and performance."""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import Any

from bodymotion.diagnostics import Problem
from bodymotion.spot.cha_proto.sequence import robot_moves_of
from bodymotion.spot.cha_proto.writer import message_of
from bodymotion.spot.choreography import check_choreography
from bodymotion.spot.choreography.values import Choreography
from bodymotion.spot.client.connection import SpotError, translated_errors, vendor

CALL_TIMEOUT = 60.0  # [s] A robot validates a sequence before it answers.
POLL_INTERVAL = 0.2  # [s] Between two questions for the status of a dance.
STATUS_SLICES = (
    16  # Number of slices, four beats, after which the status is reported again.
)
# The states of a dance that goes on; others end it.
RUNNING = "DANCING", "PREPPING", "WAITING_FOR_START_TIME", "VALIDATING"


def list_moves(robot: Any) -> str:  # noqa: ANN401
    """Return the moves that a robot lists.

    The text of a message ListAllMovesResponse, which `robot_moves=` of `load` takes.

    Raises
    ------
    SpotError
        When the robot does not answer.
    """
    from google.protobuf import text_format

    client = robot.ensure_client("choreography")
    with translated_errors(str(robot.address)):
        answer = client.list_all_moves(timeout=CALL_TIMEOUT)
    answer.ClearField("header")
    return str(text_format.MessageToString(answer))


def send_choreography(
    choreography: Choreography,
    robot: Any,  # noqa: ANN401
) -> tuple[tuple[Problem, ...], tuple[str, ...] | None]:
    """Check a choreography by the moves of a robot and send it, unless it has errors.

    Returns
    -------
    tuple
        The problems that were found, and the warnings of the robot; None when it was
        not sent.

    Raises
    ------
    SpotError
        When the robot does not answer, or rejects it.
    """
    client = robot.ensure_client("choreography")
    sequences = vendor("bosdyn.api.spot.choreography_sequence_pb2")
    with translated_errors(str(robot.address)):
        listed = robot_moves_of(client.list_all_moves(timeout=CALL_TIMEOUT))
        checked = replace(choreography, robot=listed)
        problems = (*checked.problems, *check_choreography(checked))
        if any(problem.severity == "error" for problem in problems):
            return problems, None
        # Our message class and the vendor's have the same wire format.
        message = sequences.ChoreographySequence.FromString(
            message_of(choreography).SerializeToString()
        )
        return problems, tuple(
            client.upload_choreography(message, timeout=CALL_TIMEOUT).warnings
        )


def perform(name: str, robot: Any, **options: Any) -> str:  # noqa: ANN401
    """Let a robot perform a choreography that was uploaded.

    See `perform_together`. Return the last state, such as COMPLETED_SEQUENCE.
    """
    return perform_together([(name, robot)], **options)[0]


def perform_together(
    dances: Sequence[tuple[str, Any]],
    *,
    first_slice: int = 0,
    start_in: float = 3.0,
    power_on: bool = False,
    report: Callable[[str], object] = lambda text: None,
) -> tuple[str, ...]:
    """Let robots perform choreographies that were uploaded.

    All from the same moment on; wait for their ends.

    Return the last states.

    The robots move. They need a clear area, and E-Stops that are configured by another
    program, such as the one of the tablet. The leases of their bodies are acquired, and
    returned at the end. When one cannot start, or the wait is interrupted (Ctrl-C), all
    of them sit down and their motors turn off.

    Parameters
    ----------
    dances:
        The name of the choreography of each robot, and the robot.
    first_slice:
        The slice at which they begin; moves that begin before it are skipped.
    start_in:
        [s] Time until the start.
    power_on:
        Turn the motors on; without it they must be on.
    report:
        Called with the state of a robot, with the slice, whenever it changes, and every
        `STATUS_SLICES` slices.

    Raises
    ------
    SpotError
        When another client has a lease, motors are off, or a robot rejects its
        choreography.
    """
    # The lease is kept alive by a thread while the context lasts.
    keep = vendor("bosdyn.client.lease").LeaseKeepAlive
    with ExitStack() as leases:
        for _, robot in dances:
            with translated_errors(str(robot.address)):
                # A common start time needs clocks that agree.
                robot.time_sync.wait_for_sync(CALL_TIMEOUT)
                leases.enter_context(
                    keep(
                        robot.ensure_client("lease"),
                        must_acquire=True,
                        return_at_exit=True,
                    )
                )
                if power_on:
                    robot.power_on(timeout_sec=CALL_TIMEOUT)
                elif not robot.is_powered_on():
                    raise SpotError(
                        "the motors are off; turn them on, or pass --power-on "
                        "(power_on=True)"
                    )
        # From here on robots may move: any exception, also Ctrl-C, stops all of them.
        try:
            # One start for all; `start_in` leaves time to reach each of them.
            start = time.time() + start_in
            for name, robot in dances:
                with translated_errors(str(robot.address)):
                    client = robot.ensure_client("choreography")
                    client.execute_choreography(
                        name, start, first_slice, timeout=CALL_TIMEOUT
                    )
            return _wait([robot for _, robot in dances], report)
        except BaseException:
            report("stopping: the robots sit down, and their motors turn off")
            for _, robot in dances:
                with suppress(vendor("bosdyn.client.exceptions").Error):
                    # Not cut immediately: the robot sits down first. One that does not
                    # answer must not keep the others from stopping.
                    robot.power_off(cut_immediately=False, timeout_sec=CALL_TIMEOUT)
            raise


def _wait(robots: Sequence[Any], report: Callable[[str], object]) -> tuple[str, ...]:
    """Wait until all dances end; return the last states."""
    states = [""] * len(robots)
    parts = [0] * len(robots)
    # Poll each robot; report changes of state and every few slices.
    while True:
        for k, robot in enumerate(robots):
            with translated_errors(str(robot.address)):
                status, _ = robot.ensure_client("choreography").get_choreography_status(
                    timeout=CALL_TIMEOUT
                )
            state = str(type(status).Status.Name(status.status)).removeprefix("STATUS_")
            part = int(status.current_slice) // STATUS_SLICES
            if (state, part) != (states[k], parts[k]):
                if len(robots) > 1:
                    name = f"robot {k + 1} ({robot.address}): "
                else:
                    name = ""
                at = f"slice {status.current_slice:.0f} of {status.sequence_slices}"
                report(f"{name}{state.lower().replace('_', ' ')}, {at}")
            states[k], parts[k] = state, part
        if not set(states) & set(RUNNING):
            return tuple(states)
        time.sleep(POLL_INTERVAL)


def download_log(robot: Any, *, seconds: float | None = None) -> bytes:  # noqa: ANN401
    """Return the log of the last choreography of a robot.

    The bytes of a message ChoreographyStateLog.

    With `seconds` the robot records for this time, at most 300 s, and the log is that
    recording.

    Raises
    ------
    SpotError
        When the robot has no log, or does not answer.
    """
    client = robot.ensure_client("choreography")
    kinds = vendor(
        "bosdyn.api.spot.choreography_sequence_pb2"
    ).DownloadRobotStateLogRequest
    with translated_errors(str(robot.address)):
        # A manual recording is another kind of log.
        if seconds is not None:
            client.start_recording_state(seconds, timeout=CALL_TIMEOUT)
            time.sleep(seconds)
            client.stop_recording_state(timeout=CALL_TIMEOUT)
        if seconds is None:
            kind = kinds.LOG_TYPE_LAST_CHOREOGRAPHY
        else:
            kind = kinds.LOG_TYPE_MANUAL
        _, log = client.download_robot_state_log(kind, timeout=CALL_TIMEOUT)
    if not log.key_frames:
        raise SpotError(f"{robot.address} has no log")
    return bytes(log.SerializeToString())
