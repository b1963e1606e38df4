"""Responses to calls: each has a header with the times of the call and of the response, and whether the call was valid."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

NANO = 1_000_000_000


def answering(fill: Callable[[Any, Any], None], make: Callable[[], Any]) -> Callable[[Any, Any], Any]:
    """Return a call, as gRPC has it, of a method that fills the response that `make` returns."""

    def call(request: Any, context: Any) -> Any:  # noqa: ANN401
        received = time.time_ns()
        response = make()
        header = response.header
        header.request_header.CopyFrom(request.header)
        header.error.code = header.error.CODE_OK
        set_time(header.request_received_timestamp, received)
        fill(request, response)
        set_time(header.response_timestamp, time.time_ns())
        return response

    return call


def set_invalid_request(response: Any, reason: str) -> None:  # noqa: ANN401
    """Mark a call as invalid in the header of its response."""
    response.header.error.code = response.header.error.CODE_INVALID_REQUEST
    response.header.error.message = reason


def set_time(stamp: Any, nanoseconds: int) -> None:  # noqa: ANN401
    """Set a Timestamp or Duration."""
    stamp.seconds, stamp.nanos = divmod(nanoseconds, NANO)
    if stamp.seconds < 0 < stamp.nanos and stamp.DESCRIPTOR.name == "Duration":
        stamp.seconds, stamp.nanos = stamp.seconds + 1, stamp.nanos - NANO


def time_of(stamp: Any) -> int:  # noqa: ANN401
    """Return a Timestamp in nanoseconds."""
    return int(stamp.seconds) * NANO + int(stamp.nanos)
