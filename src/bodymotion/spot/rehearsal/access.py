"""Access to the stand-in robot: users with tokens, and leases for moving it."""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from typing import Any

from bodymotion.spot.client.connection import vendor

RESOURCES = ("body",)
OPEN = ("/bosdyn.api.AuthService/", "/bosdyn.api.RobotIdService/")
"""Services that need no login, as on a robot."""
MAX_WRONG_PASSWORDS, LOCKOUT = 5, 10.0
"""After so many wrong passwords in a row all logins are refused for so many seconds."""


class Accounts:
    """The user, and the tokens of those who have logged in."""

    def __init__(self, username: str, password: str) -> None:
        self.username, self._password = username, password
        self._tokens: set[str] = set()
        self._wrong, self._locked_until = 0, 0.0
        self._lock = threading.Lock()

    def login(self, username: str, password: str) -> str | None:
        """Return a token; None for a wrong user name or password. Raises PermissionError during a lockout."""
        with self._lock:
            if time.monotonic() < self._locked_until:
                raise PermissionError
            is_right = _same(username, self.username) & _same(password, self._password)
            if not is_right:
                self._wrong += 1
                if self._wrong >= MAX_WRONG_PASSWORDS:
                    self._wrong, self._locked_until = 0, time.monotonic() + LOCKOUT
                return None
            self._wrong = 0
            return self._new_token()

    def renew(self, token: str) -> str | None:
        """Return a new token for a valid one; None for any other."""
        with self._lock:
            return self._new_token() if token in self._tokens else None

    def is_valid(self, token: str) -> bool:
        """Return whether a token is valid."""
        with self._lock:
            return token in self._tokens

    def _new_token(self) -> str:
        token = secrets.token_urlsafe(32)
        self._tokens.add(token)
        return token


def _same(a: str, b: str) -> bool:
    return hmac.compare_digest(a.encode(), b.encode())


class TokenCheck:
    """An interceptor of a gRPC server that refuses calls without a valid token."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts

    def intercept_service(self, continuation: Any, call: Any) -> Any:  # noqa: ANN401
        """Return the handler of a call: its own, or one that refuses."""
        token = str(dict(call.invocation_metadata).get("authorization", ""))
        if call.method.startswith(OPEN) or self._accounts.is_valid(token.removeprefix("Bearer ")):
            return continuation(call)
        return vendor("grpc").unary_unary_rpc_method_handler(_refuse)


def _refuse(_request: object, context: Any) -> None:  # noqa: ANN401
    context.abort(vendor("grpc").StatusCode.UNAUTHENTICATED, "401: log in first")


class Leases:
    """The lease of each resource, its owner, and the check of leases that are used. The only resource is the body."""

    def __init__(self) -> None:
        self.epoch = secrets.token_hex(8)
        self._lock = threading.Lock()
        self._newest = dict.fromkeys(RESOURCES, 0)
        self._owners: dict[str, str] = {}

    def acquire(self, resource: str, client: str, *, force: bool = False) -> Any | None:  # noqa: ANN401
        """Return a new lease (the vendor's message); None where a client has it and `force` is not set."""
        with self._lock:
            if resource in self._owners and not force:
                return None
            self._newest[resource] += 1
            self._owners[resource] = client
            return self._message(resource)

    def release(self, lease: Any) -> bool:  # noqa: ANN401
        """Release a lease; return False where it is not the active one."""
        with self._lock:
            if not self._is_active(lease):
                return False
            del self._owners[lease.resource]
            return True

    def owner(self, resource: str) -> str:
        """Return the name of the client that has the lease, or an empty text."""
        with self._lock:
            return self._owners.get(resource, "")

    def current(self, resource: str) -> Any:  # noqa: ANN401
        """Return the newest lease of a resource."""
        with self._lock:
            return self._message(resource)

    def check(self, lease: Any, result: Any) -> bool:  # noqa: ANN401
        """Write into a LeaseUseResult whether a lease may be used, and return it."""
        with self._lock:
            status = self._status(lease, result)
            resource = lease.resource if lease.resource in self._newest else RESOURCES[0]
            result.status = status
            result.attempted_lease.CopyFrom(lease)
            result.latest_known_lease.CopyFrom(self._message(resource))
            result.owner.client_name = self._owners.get(resource, "")
            return bool(status == result.STATUS_OK)

    def _status(self, lease: Any, result: Any) -> int:  # noqa: ANN401
        if not lease.resource or not lease.sequence:
            return int(result.STATUS_INVALID_LEASE)
        if lease.resource not in self._newest:
            return int(result.STATUS_UNMANAGED)
        if lease.epoch != self.epoch:
            return int(result.STATUS_WRONG_EPOCH)
        if lease.sequence[0] < self._newest[lease.resource]:
            return int(result.STATUS_OLDER)
        return int(result.STATUS_OK if self._is_active(lease) else result.STATUS_REVOKED)

    def _is_active(self, lease: Any) -> bool:  # noqa: ANN401
        known = lease.resource in self._owners and lease.epoch == self.epoch and len(lease.sequence) > 0
        return known and lease.sequence[0] == self._newest[lease.resource]

    def _message(self, resource: str) -> Any:  # noqa: ANN401
        return vendor("bosdyn.api.lease_pb2").Lease(
            resource=resource,
            epoch=self.epoch,
            sequence=[self._newest[resource]],
            client_names=[self._owners[resource]] if resource in self._owners else [],
        )
