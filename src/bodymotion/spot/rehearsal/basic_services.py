"""The services around the dances: robot id, login, directory, time, licence, leases, power and state."""

from __future__ import annotations

import uuid
from typing import Any

from bodymotion.spot.client.connecting import vendor
from bodymotion.spot.rehearsal.answers import answering, refused, set_time, time_of
from bodymotion.spot.rehearsal.gate import Gate
from bodymotion.spot.rehearsal.leases import RESOURCES, Leases
from bodymotion.spot.rehearsal.stage import Stage

__all__ = ["SERVICES", "Auth", "Directory", "Identity", "Lending", "License", "Power", "State", "Time"]

API = "bosdyn.api."
SERVICES = (
    ("auth", "bosdyn.api.AuthService", "auth.spot.robot"),
    ("choreography", "bosdyn.api.spot.ChoreographyService", "choreography.spot.robot"),
    ("directory", "bosdyn.api.DirectoryService", "api.spot.robot"),
    ("lease", "bosdyn.api.LeaseService", "api.spot.robot"),
    ("license", "bosdyn.api.LicenseService", "api.spot.robot"),
    ("power", "bosdyn.api.PowerService", "power.spot.robot"),
    ("robot-id", "bosdyn.api.RobotIdService", "id.spot.robot"),
    ("robot-state", "bosdyn.api.RobotStateService", "state.spot.robot"),
    ("time-sync", "bosdyn.api.TimeSyncService", "api.spot.robot"),
)
"""Name, type and authority of each service, as the directory lists them."""
SERIAL = "spot-REHEARSAL"


class Identity:
    """RobotIdService."""

    @answering(f"{API}robot_id_pb2", "RobotIdResponse")
    def GetRobotId(self, request: Any, answer: Any, context: Any) -> None:  # noqa: ANN401, N802
        """Say who it is."""
        known = answer.robot_id
        known.serial_number, known.computer_serial_number = SERIAL, SERIAL
        known.species, known.version, known.nickname = "spot", "V3", "stand-in"
        known.software_release.version.major_version = 5
        known.software_release.name = "bodymotion rehearsal"


class Auth:
    """AuthService."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    @answering(f"{API}auth_pb2", "GetAuthTokenResponse")
    def GetAuthToken(self, request: Any, answer: Any, context: Any) -> None:  # noqa: ANN401, N802
        """Return a token for a user name and password, or for a token."""
        if request.token:
            token = self._gate.renew(request.token)
            answer.status = answer.STATUS_OK if token else answer.STATUS_INVALID_TOKEN
        else:
            try:
                token = self._gate.login(request.username, request.password)
            except PermissionError:
                answer.status = answer.STATUS_TEMPORARILY_LOCKED_OUT
                return
            answer.status = answer.STATUS_OK if token else answer.STATUS_INVALID_LOGIN
        answer.token = token or ""


class Directory:
    """DirectoryService."""

    @answering(f"{API}directory_pb2", "ListServiceEntriesResponse")
    def ListServiceEntries(self, request: Any, answer: Any, context: Any) -> None:  # noqa: ANN401, N802
        """List all services."""
        for service in SERVICES:
            _describe(answer.service_entries.add(), service)

    @answering(f"{API}directory_pb2", "GetServiceEntryResponse")
    def GetServiceEntry(self, request: Any, answer: Any, context: Any) -> None:  # noqa: ANN401, N802
        """Describe a service."""
        found = next((service for service in SERVICES if service[0] == request.service_name), None)
        if found is None:
            answer.status = answer.STATUS_NONEXISTENT_SERVICE
            return
        answer.status = answer.STATUS_OK
        _describe(answer.service_entry, found)


def _describe(entry: Any, service: tuple[str, str, str]) -> None:  # noqa: ANN401
    entry.name, entry.type, entry.authority = service
    entry.user_token_required = service[0] not in ("auth", "robot-id")


class Time:
    """TimeSyncService: the skew is the middle of both ways of a round trip, as the clocks of both ends saw it."""

    def __init__(self) -> None:
        self._best: dict[str, tuple[int, int]] = {}

    @answering(f"{API}time_sync_pb2", "TimeSyncUpdateResponse")
    def TimeSyncUpdate(self, request: Any, answer: Any, context: Any) -> None:  # noqa: ANN401, N802
        """Take a round trip, and say how far the clocks are apart."""
        clock = request.clock_identifier or uuid.uuid4().hex
        answer.clock_identifier = clock
        if request.HasField("previous_round_trip") and request.clock_identifier:
            trip = request.previous_round_trip
            out, back = (
                time_of(trip.server_rx) - time_of(trip.client_tx),
                time_of(trip.client_rx) - time_of(trip.server_tx),
            )
            length, skew = out + back, (out - back) // 2
            set_time(answer.previous_estimate.round_trip_time, length)
            set_time(answer.previous_estimate.clock_skew, skew)
            if clock not in self._best or length <= self._best[clock][0]:
                self._best[clock] = (length, skew)
        state = answer.state
        set_time(state.measurement_time, time_of(answer.header.request_received_timestamp))
        if clock not in self._best:
            state.status = state.STATUS_MORE_SAMPLES_NEEDED
            return
        state.status = state.STATUS_OK
        set_time(state.best_estimate.round_trip_time, self._best[clock][0])
        set_time(state.best_estimate.clock_skew, self._best[clock][1])


class License:
    """LicenseService: choreography is licensed."""

    features = ("choreography",)

    @answering(f"{API}license_pb2", "GetLicenseInfoResponse")
    def GetLicenseInfo(self, request: Any, answer: Any, context: Any) -> None:  # noqa: ANN401, N802
        """Show the licence."""
        answer.license.status = answer.license.STATUS_VALID
        answer.license.robot_serial = SERIAL
        answer.license.licensed_features.extend(self.features)

    @answering(f"{API}license_pb2", "GetFeatureEnabledResponse")
    def GetFeatureEnabled(self, request: Any, answer: Any, context: Any) -> None:  # noqa: ANN401, N802
        """Say which features are licensed."""
        for code in request.feature_codes:
            answer.feature_enabled[code] = code in self.features


class Lending:
    """LeaseService. A lease that is taken by force ends the dance of whoever had it."""

    def __init__(self, leases: Leases, stage: Stage) -> None:
        self._leases, self._stage = leases, stage

    @answering(f"{API}lease_pb2", "AcquireLeaseResponse")
    def AcquireLease(self, request: Any, answer: Any, context: Any) -> None:  # noqa: ANN401, N802
        """Return a lease that nobody has."""
        self._lend(request, answer, take=False)

    @answering(f"{API}lease_pb2", "TakeLeaseResponse")
    def TakeLease(self, request: Any, answer: Any, context: Any) -> None:  # noqa: ANN401, N802
        """Return a lease, whoever has it."""
        self._lend(request, answer, take=True)

    def _lend(self, request: Any, answer: Any, *, take: bool) -> None:  # noqa: ANN401
        resource = request.resource or RESOURCES[0]
        if resource not in RESOURCES:
            answer.status = answer.STATUS_INVALID_RESOURCE
            return
        owner = self._leases.owner(resource)
        lease = self._leases.acquire(resource, request.header.client_name, take=take)
        answer.lease_owner.client_name = self._leases.owner(resource)
        if lease is None:
            answer.status = answer.STATUS_RESOURCE_ALREADY_CLAIMED
            return
        if owner:
            self._stage.interrupt()
        answer.status = answer.STATUS_OK
        answer.lease.CopyFrom(lease)

    @answering(f"{API}lease_pb2", "ReturnLeaseResponse")
    def ReturnLease(self, request: Any, answer: Any, context: Any) -> None:  # noqa: ANN401, N802
        """Take a lease back; the dance ends."""
        if request.lease.resource not in RESOURCES:
            answer.status = answer.STATUS_INVALID_RESOURCE
        elif self._leases.give_back(request.lease):
            self._stage.interrupt()
            answer.status = answer.STATUS_OK
        else:
            answer.status = answer.STATUS_NOT_ACTIVE_LEASE

    @answering(f"{API}lease_pb2", "RetainLeaseResponse")
    def RetainLease(self, request: Any, answer: Any, context: Any) -> None:  # noqa: ANN401, N802
        """Say whether a lease is still in force."""
        self._leases.judge(request.lease, answer.lease_use_result)

    @answering(f"{API}lease_pb2", "ListLeasesResponse")
    def ListLeases(self, request: Any, answer: Any, context: Any) -> None:  # noqa: ANN401, N802
        """List all resources and who has them."""
        for resource in RESOURCES:
            entry = answer.resources.add()
            entry.resource = resource
            entry.lease_owner.client_name = self._leases.owner(resource)
            if self._leases.owner(resource) or request.include_full_lease_info:
                entry.lease.CopyFrom(self._leases.current(resource))
        answer.resource_tree.resource = "all-leases"
        for resource in RESOURCES:
            answer.resource_tree.sub_resources.add().resource = resource


class Power:
    """PowerService: motors go on and off at once."""

    def __init__(self, leases: Leases, stage: Stage) -> None:
        self._leases, self._stage = leases, stage
        self.on = False
        self._count = 0

    @answering(f"{API}power_pb2", "PowerCommandResponse")
    def PowerCommand(self, request: Any, answer: Any, context: Any) -> None:  # noqa: ANN401, N802
        """Switch the motors."""
        if not self._leases.judge(request.lease, answer.lease_use_result):
            return
        if request.request not in (request.REQUEST_ON_MOTORS, request.REQUEST_OFF_MOTORS):
            refused(answer, "the stand-in robot switches its motors only")
            return
        self.on = request.request == request.REQUEST_ON_MOTORS
        if not self.on:
            self._stage.interrupt()
        self._count += 1
        answer.power_command_id = self._count
        answer.status = vendor(f"{API}power_pb2").STATUS_SUCCESS

    @answering(f"{API}power_pb2", "PowerCommandFeedbackResponse")
    def PowerCommandFeedback(self, request: Any, answer: Any, context: Any) -> None:  # noqa: ANN401, N802
        """Say that it was done."""
        answer.status = vendor(f"{API}power_pb2").STATUS_SUCCESS


class State:
    """RobotStateService: whether the motors are on, and whether there is an arm."""

    def __init__(self, power: Power, stage: Stage, *, arm: bool) -> None:
        self._power, self._stage, self._arm = power, stage, arm

    @answering(f"{API}robot_state_pb2", "RobotStateResponse")
    def GetRobotState(self, request: Any, answer: Any, context: Any) -> None:  # noqa: ANN401, N802
        """Show the state."""
        power = answer.robot_state.power_state
        set_time(power.timestamp, self._stage.now())
        power.motor_power_state = power.STATE_ON if self._power.on else power.STATE_OFF
        if self._arm:
            answer.robot_state.manipulator_state.SetInParent()

    @answering(f"{API}robot_state_pb2", "RobotHardwareConfigurationResponse")
    def GetRobotHardwareConfiguration(self, request: Any, answer: Any, context: Any) -> None:  # noqa: ANN401, N802
        """Show what it is made of."""
        answer.hardware_configuration.can_power_command_request_off_robot = False
