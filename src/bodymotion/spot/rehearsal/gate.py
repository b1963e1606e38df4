"""Who may ask: one user with a password; who has logged in carries a token, and every call but two needs it."""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from typing import Any

from bodymotion.spot.client.connecting import vendor

__all__ = ["Gate", "Interceptor"]

OPEN = ("/bosdyn.api.AuthService/", "/bosdyn.api.RobotIdService/")
"""Services that are there before anybody has logged in, as on a robot."""
TRIES, PAUSE = 5, 10.0
"""After so many wrong passwords in a row nobody is let in for so many seconds."""


class Gate:
    """The user and the tokens given out."""

    def __init__(self, username: str, password: str) -> None:
        self.username, self._password = username, password
        self._tokens: set[str] = set()
        self._wrong, self._closed_until = 0, 0.0
        self._lock = threading.Lock()

    def login(self, username: str, password: str) -> str | None:
        """Return a token; None for a wrong user name or password. Raises `PermissionError` while nobody is let in."""
        with self._lock:
            if time.monotonic() < self._closed_until:
                raise PermissionError
            right = _same(username, self.username) & _same(password, self._password)
            if not right:
                self._wrong += 1
                if self._wrong >= TRIES:
                    self._wrong, self._closed_until = 0, time.monotonic() + PAUSE
                return None
            self._wrong = 0
            return self._new_token()

    def renew(self, token: str) -> str | None:
        """Return a new token for one that is good; None for any other."""
        with self._lock:
            return self._new_token() if token in self._tokens else None

    def knows(self, token: str) -> bool:
        """Whether a token was given out."""
        with self._lock:
            return token in self._tokens

    def _new_token(self) -> str:
        token = secrets.token_urlsafe(32)
        self._tokens.add(token)
        return token


def _same(a: str, b: str) -> bool:
    return hmac.compare_digest(a.encode(), b.encode())


class Interceptor:
    """Refuses calls without a token, as a gRPC server's interceptor."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    def intercept_service(self, continuation: Any, call: Any) -> Any:  # noqa: ANN401
        """Return the handler of a call: its own, or one that refuses."""
        said = str(dict(call.invocation_metadata).get("authorization", ""))
        if call.method.startswith(OPEN) or self._gate.knows(said.removeprefix("Bearer ")):
            return continuation(call)
        return vendor("grpc").unary_unary_rpc_method_handler(_refuse)


def _refuse(_request: object, context: Any) -> None:  # noqa: ANN401
    context.abort(vendor("grpc").StatusCode.UNAUTHENTICATED, "401: log in first")
