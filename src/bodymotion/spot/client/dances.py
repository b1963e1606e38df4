"""Choreographies on a robot: the list of its moves, upload, and performance."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bodymotion.choreography import Choreography
from bodymotion.diagnostics import Problem
from bodymotion.formats.cha_proto.robot_moves import robot_moves_of
from bodymotion.formats.cha_proto.sequence import message_of
from bodymotion.spot.choreography import check_choreography
from bodymotion.spot.client.connection import SpotError, translated_errors, vendor

CALL_TIMEOUT = 60.0
"""[s] A robot validates a sequence before it answers."""
POLL_INTERVAL = 0.2
"""[s] Between two questions for the status of a dance."""
RUNNING = ("DANCING", "PREPPING", "WAITING_FOR_START_TIME", "VALIDATING")
"""The states of a dance that goes on; others end it."""


def list_moves(robot: Any) -> str:  # noqa: ANN401
    """Return the moves that a robot lists as the text of a message ListAllMovesResponse, which `robot_moves=` of `load` takes.

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
        The problems that were found, and the warnings of the robot; None when it was not sent.

    Raises
    ------
    SpotError
        When the robot does not answer, or rejects it.
    """
    client, sequences = robot.ensure_client("choreography"), vendor("bosdyn.api.spot.choreography_sequence_pb2")
    with translated_errors(str(robot.address)):
        listed = robot_moves_of(client.list_all_moves(timeout=CALL_TIMEOUT))
        checked = replace(choreography, robot=listed)
        problems = (*checked.problems, *check_choreography(checked))
        if any(problem.severity == "error" for problem in problems):
            return problems, None
        message = sequences.ChoreographySequence.FromString(message_of(choreography).SerializeToString())
        return problems, tuple(client.upload_choreography(message, timeout=CALL_TIMEOUT).warnings)


def perform(
    name: str,
    robot: Any,  # noqa: ANN401
    *,
    first_slice: int = 0,
    start_in: float = 3.0,
    power_on: bool = False,
    report: Callable[[str], object] = lambda text: None,
) -> str:
    """Let a robot perform a choreography that was uploaded, and wait for its end; return the last state, such as COMPLETED_SEQUENCE.

    The robot moves. It needs a clear area, and an E-Stop that is configured by another program, such as the one of the tablet. The lease
    of the body is acquired, and returned at the end. When the wait is interrupted (Ctrl-C), the robot sits down and its motors turn off.

    Parameters
    ----------
    first_slice:
        The slice at which it begins; moves that begin before it are skipped.
    start_in:
        [s] Time until the start.
    power_on:
        Turn the motors on; without it they must be on.
    report:
        Called with the state whenever it changes, with the slice.

    Raises
    ------
    SpotError
        When another client has the lease, the motors are off, or the robot rejects the choreography.
    """
    client = robot.ensure_client("choreography")
    with translated_errors(str(robot.address)):
        robot.time_sync.wait_for_sync()
        keep = vendor("bosdyn.client.lease").LeaseKeepAlive
        with keep(robot.ensure_client("lease"), must_acquire=True, return_at_exit=True):
            if power_on:
                robot.power_on(timeout_sec=CALL_TIMEOUT)
            elif not robot.is_powered_on():
                raise SpotError("the motors are off; turn them on, or pass --power-on (power_on=True)")
            client.execute_choreography(name, time.time() + start_in, first_slice, timeout=CALL_TIMEOUT)
            try:
                return _wait(client, report)
            except KeyboardInterrupt:
                robot.power_off(cut_immediately=False, timeout_sec=CALL_TIMEOUT)
                raise


def _wait(client: Any, report: Callable[[str], object]) -> str:  # noqa: ANN401
    """Wait until a dance ends; return the last state."""
    last = ""
    while True:
        status, _ = client.get_choreography_status(timeout=CALL_TIMEOUT)
        state = str(type(status).Status.Name(status.status)).removeprefix("STATUS_")
        if state != last:
            report(f"{state.lower().replace('_', ' ')}, slice {status.current_slice:.0f} of {status.sequence_slices}")
            last = state
        if state not in RUNNING:
            return state
        time.sleep(POLL_INTERVAL)
