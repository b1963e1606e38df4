"""Access to the stand-in robot: users with tokens, and leases for moving it."""

# ruff: noqa: ANN401 - messages of protobuf are made at run time

import hmac
import secrets
import threading
import time
from typing import Any

from bodymotion.spot.client.connection import vendor

BODY = "body"  # The only resource of leases.
OPEN = (
    "/bosdyn.api.AuthService/",
    "/bosdyn.api.RobotIdService/",
)  # Services that need no login, as on a robot.
MAX_WRONG_PASSWORDS = 5
# Wrong passwords in a row after which logins are refused for this time [s].
LOCKOUT = 10.0


class Accounts:
    """The user, and the tokens of those who have logged in.

    An interceptor of a gRPC server that refuses calls without a valid one.
    """

    def __init__(self, username: str, password: str) -> None:
        self.username = username
        self._password = password
        self._tokens: set[str] = set()
        self._wrong = 0
        self._locked_until = 0.0
        self._lock = threading.Lock()

    def login(self, username: str, password: str) -> str | None:
        """Return a token; None for a wrong user name or password.

        Raises PermissionError during a lockout.
        """
        with self._lock:
            if time.monotonic() < self._locked_until:
                raise PermissionError
            # Both comparisons always run, in constant time: the time of an answer tells
            # nothing.
            is_right = _same(username, self.username) & _same(password, self._password)
            if not is_right:
                # Too many wrong passwords lock all logins out for a while, as on the
                # robot.
                self._wrong += 1
                if self._wrong >= MAX_WRONG_PASSWORDS:
                    self._wrong = 0
                    self._locked_until = time.monotonic() + LOCKOUT
                return None
            self._wrong = 0
            return self._new_token()

    def renew(self, token: str) -> str | None:
        """Return a new token for a valid one.

        None for any other.
        """
        with self._lock:
            if token in self._tokens:
                return self._new_token()
            return None

    def intercept_service(self, continuation: Any, call: Any) -> Any:
        """Return the handler of a call: its own, or one that refuses."""
        token = str(dict(call.invocation_metadata).get("authorization", ""))
        with self._lock:
            is_valid = token.removeprefix("Bearer ") in self._tokens
        if call.method.startswith(OPEN) or is_valid:
            return continuation(call)
        # As a stream of requests, which is refused before the first one is received:
        # gRPC would take a single one into memory, whatever its size.
        return vendor("grpc").stream_unary_rpc_method_handler(_refuse)

    def _new_token(self) -> str:
        token = secrets.token_urlsafe(32)
        self._tokens.add(token)
        return token


def _same(a: str, b: str) -> bool:
    return hmac.compare_digest(a.encode(), b.encode())


def _refuse(_requests: object, context: Any) -> None:
    context.abort(vendor("grpc").StatusCode.UNAUTHENTICATED, "401: log in first")


class Leases:
    """The lease of the body, its owner, and the check of leases that are used."""

    def __init__(self) -> None:
        self.epoch = secrets.token_hex(8)
        self._lock = threading.Lock()
        self._newest = 0
        self.owner: str | None = None
        """The name of the client that has the lease."""

    def acquire(self, client: str, *, force: bool = False) -> Any | None:
        """Return a new lease (the vendor's message).

        None where a client has it and `force` is not set.
        """
        with self._lock:
            if self.owner is not None and not force:
                return None
            self._newest += 1
            self.owner = client
            return self.current()

    def release(self, lease: Any) -> bool:
        """Release a lease; return False where it is not the active one."""
        with self._lock:
            if not self._is_active(lease):
                return False
            self.owner = None
            return True

    def check(self, lease: Any, result: Any) -> bool:
        """Write into a LeaseUseResult whether a lease may be used, and return it."""
        with self._lock:
            # From the outside in: resource, epoch (this run of the robot), then age.
            if not lease.resource or not lease.sequence:
                result.status = result.STATUS_INVALID_LEASE
            elif lease.resource != BODY:
                result.status = result.STATUS_UNMANAGED
            elif lease.epoch != self.epoch:
                result.status = result.STATUS_WRONG_EPOCH
            elif lease.sequence[0] < self._newest:
                result.status = result.STATUS_OLDER
            else:
                if self._is_active(lease):
                    result.status = result.STATUS_OK
                else:
                    result.status = result.STATUS_REVOKED
            result.attempted_lease.CopyFrom(lease)
            result.latest_known_lease.CopyFrom(self.current())
            result.owner.client_name = self.owner or ""
            return bool(result.status == result.STATUS_OK)

    def _is_active(self, lease: Any) -> bool:
        known = (
            lease.resource == BODY
            and self.owner is not None
            and lease.epoch == self.epoch
        )
        return known and len(lease.sequence) > 0 and lease.sequence[0] == self._newest

    def current(self) -> Any:
        """Return the newest lease."""
        if self.owner is None:
            names = []
        else:
            names = [self.owner]
        lease = vendor("bosdyn.api.lease_pb2").Lease
        return lease(
            resource=BODY, epoch=self.epoch, sequence=[self._newest], client_names=names
        )
