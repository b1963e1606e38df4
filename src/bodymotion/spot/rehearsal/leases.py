"""Leases: who may move the robot. There is one resource that matters, the body; its lease goes by a growing number."""

from __future__ import annotations

import secrets
import threading
from typing import Any

from bodymotion.spot.client.connecting import vendor

__all__ = ["RESOURCES", "Leases"]

RESOURCES = ("body",)


class Leases:
    """The lease of each resource, its owner, and what is said about leases that are used."""

    def __init__(self) -> None:
        self.epoch = secrets.token_hex(8)
        self._lock = threading.Lock()
        self._newest = dict.fromkeys(RESOURCES, 0)
        self._owners: dict[str, str] = {}

    def acquire(self, resource: str, client: str, *, take: bool = False) -> Any | None:  # noqa: ANN401
        """Return a new lease (the vendor's message); None when somebody has it and it is not taken by force."""
        with self._lock:
            if resource in self._owners and not take:
                return None
            self._newest[resource] += 1
            self._owners[resource] = client
            return self._message(resource)

    def give_back(self, lease: Any) -> bool:  # noqa: ANN401
        """Take a lease back; False when it is not the one in force."""
        with self._lock:
            if not self._in_force(lease):
                return False
            del self._owners[lease.resource]
            return True

    def owner(self, resource: str) -> str:
        """Return the name of the client that has the lease, or nothing."""
        with self._lock:
            return self._owners.get(resource, "")

    def current(self, resource: str) -> Any:  # noqa: ANN401
        """Return the newest lease of a resource."""
        with self._lock:
            return self._message(resource)

    def judge(self, lease: Any, result: Any) -> bool:  # noqa: ANN401
        """Say in a LeaseUseResult whether a lease may be used, and give it."""
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
        return int(result.STATUS_OK if self._in_force(lease) else result.STATUS_REVOKED)

    def _in_force(self, lease: Any) -> bool:  # noqa: ANN401
        known = lease.resource in self._owners and lease.epoch == self.epoch and len(lease.sequence) > 0
        return known and lease.sequence[0] == self._newest[lease.resource]

    def _message(self, resource: str) -> Any:  # noqa: ANN401
        return vendor("bosdyn.api.lease_pb2").Lease(
            resource=resource,
            epoch=self.epoch,
            sequence=[self._newest[resource]],
            client_names=[self._owners[resource]] if resource in self._owners else [],
        )
