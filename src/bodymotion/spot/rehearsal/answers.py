"""Answers to calls: each begins with a header that says when the call came, when it was answered, and that it was understood."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from typing import Any

from bodymotion.spot.client.connecting import vendor

__all__ = ["answering", "set_time", "time_of"]

NANO = 1_000_000_000


def answering(module: str, name: str) -> Callable[[Callable[..., None]], Callable[..., Any]]:
    """Make a call of a method that fills an answer of the message `name` in the vendor's `module`."""

    def wrap(fill: Callable[..., None]) -> Callable[..., Any]:
        @wraps(fill)
        def call(self: object, request: Any, context: Any) -> Any:  # noqa: ANN401
            received = time.time_ns()
            answer = getattr(vendor(module), name)()
            header = answer.header
            header.request_header.CopyFrom(request.header)
            header.error.code = header.error.CODE_OK
            set_time(header.request_received_timestamp, received)
            fill(self, request, answer, context)
            set_time(header.response_timestamp, time.time_ns())
            return answer

        return call

    return wrap


def refused(answer: Any, why: str) -> None:  # noqa: ANN401
    """Say in an answer's header that the call makes no sense."""
    answer.header.error.code = answer.header.error.CODE_INVALID_REQUEST
    answer.header.error.message = why


def set_time(stamp: Any, nanoseconds: int) -> None:  # noqa: ANN401
    """Set a Timestamp or Duration."""
    stamp.seconds, stamp.nanos = divmod(nanoseconds, NANO)
    if stamp.seconds < 0 < stamp.nanos and stamp.DESCRIPTOR.name == "Duration":
        stamp.seconds, stamp.nanos = stamp.seconds + 1, stamp.nanos - NANO


def time_of(stamp: Any) -> int:  # noqa: ANN401
    """Return a Timestamp in nanoseconds."""
    return int(stamp.seconds) * NANO + int(stamp.nanos)
