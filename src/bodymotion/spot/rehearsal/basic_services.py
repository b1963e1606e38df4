"""The services beside ChoreographyService.

Robot id, login, directory, time, licence, leases, power and state.
"""

# ruff: noqa: ANN401, N802 - messages of protobuf are made at run time

import uuid
from typing import Any

from bodymotion.spot.client.connection import LICENSE, vendor
from bodymotion.spot.rehearsal.access import BODY, Accounts, Leases
from bodymotion.spot.rehearsal.store import Store

# Name, type and authority of each service, as the directory lists them.
SERVICES = (
    ("auth", "bosdyn.api.AuthService", "auth.spot.robot"),
    ("choreography", "bosdyn.api.spot.ChoreographyService", "choreography.spot.robot"),
    ("directory", "bosdyn.api.DirectoryService", "api.spot.robot"),
    ("lease", "bosdyn.api.LeaseService", "api.spot.robot"),
    ("license", "bosdyn.api.LicenseService", "api.spot.robot"),
    ("power", "bosdyn.api.PowerService", "power.spot.robot"),
    ("robot-command", "bosdyn.api.RobotCommandService", "command.spot.robot"),
    ("robot-id", "bosdyn.api.RobotIdService", "id.spot.robot"),
    ("robot-state", "bosdyn.api.RobotStateService", "state.spot.robot"),
    ("time-sync", "bosdyn.api.TimeSyncService", "api.spot.robot"),
)
SERIAL = "spot-REHEARSAL"


def set_invalid_request(response: Any, reason: str) -> None:
    """Mark a call as invalid in the header of its response."""
    response.header.error.code = response.header.error.CODE_INVALID_REQUEST
    response.header.error.message = reason


class BasicServices:
    """The methods of all these services, whose names are different in each."""

    def __init__(self, accounts: Accounts, store: Store, *, arm: bool) -> None:
        self._accounts = accounts
        self._leases = Leases()
        self._store = store
        self._arm = arm
        self.motors_on = False
        self._power_commands = 0
        self._round_trips: dict[str, tuple[int, int]] = {}
        """For each clock its shortest round trip, and the skew that it shows."""

    # RobotIdService

    def GetRobotId(self, request: Any, response: Any) -> None:
        """Return the identity of the robot."""
        known = response.robot_id
        known.serial_number, known.computer_serial_number = SERIAL, SERIAL
        known.species, known.version, known.nickname = "spot", "V3", "stand-in"
        known.software_release.version.major_version = 5
        known.software_release.name = "bodymotion rehearsal"

    # AuthService

    def GetAuthToken(self, request: Any, response: Any) -> None:
        """Return a token for a user name and password, or for a token."""
        if request.token:
            token = self._accounts.renew(request.token)
            if token:
                response.status = response.STATUS_OK
            else:
                response.status = response.STATUS_INVALID_TOKEN
        else:
            try:
                token = self._accounts.login(request.username, request.password)
            except PermissionError:
                response.status = response.STATUS_TEMPORARILY_LOCKED_OUT
                return
            if token:
                response.status = response.STATUS_OK
            else:
                response.status = response.STATUS_INVALID_LOGIN
        response.token = token or ""

    # DirectoryService

    def ListServiceEntries(self, request: Any, response: Any) -> None:
        """List all services."""
        for service in SERVICES:
            _describe(response.service_entries.add(), service)

    def GetServiceEntry(self, request: Any, response: Any) -> None:
        """Describe a service."""
        found = next(
            (service for service in SERVICES if service[0] == request.service_name),
            None,
        )
        if found is None:
            response.status = response.STATUS_NONEXISTENT_SERVICE
            return
        response.status = response.STATUS_OK
        _describe(response.service_entry, found)

    # TimeSyncService: the skew of two clocks is half the difference of both ways of a
    # round trip.

    def TimeSyncUpdate(self, request: Any, response: Any) -> None:
        """Return the estimated skew of the clocks after a round trip."""
        clock = request.clock_identifier or uuid.uuid4().hex
        response.clock_identifier = clock
        if request.HasField("previous_round_trip") and request.clock_identifier:
            trip = request.previous_round_trip
            out = trip.server_rx.ToNanoseconds() - trip.client_tx.ToNanoseconds()
            back = trip.client_rx.ToNanoseconds() - trip.server_tx.ToNanoseconds()
            length = out + back
            skew = (out - back) // 2
            response.previous_estimate.round_trip_time.FromNanoseconds(length)
            response.previous_estimate.clock_skew.FromNanoseconds(skew)
            if clock not in self._round_trips or length <= self._round_trips[clock][0]:
                self._round_trips[clock] = (length, skew)
        state = response.state
        state.measurement_time.FromNanoseconds(
            response.header.request_received_timestamp.ToNanoseconds()
        )
        if clock not in self._round_trips:
            state.status = state.STATUS_MORE_SAMPLES_NEEDED
            return
        state.status = state.STATUS_OK
        state.best_estimate.round_trip_time.FromNanoseconds(self._round_trips[clock][0])
        state.best_estimate.clock_skew.FromNanoseconds(self._round_trips[clock][1])

    # LicenseService

    def GetLicenseInfo(self, request: Any, response: Any) -> None:
        """Return the licence."""
        response.license.status = response.license.STATUS_VALID
        response.license.robot_serial = SERIAL
        response.license.licensed_features.append(LICENSE)

    def GetFeatureEnabled(self, request: Any, response: Any) -> None:
        """Return which features are licensed."""
        for code in request.feature_codes:
            response.feature_enabled[code] = code == LICENSE

    # LeaseService: taking a lease by force ends the dance of its owner.

    def AcquireLease(self, request: Any, response: Any) -> None:
        """Return a lease that no client has."""
        self._lend(request, response, force=False)

    def TakeLease(self, request: Any, response: Any) -> None:
        """Return a lease, even if another client has it."""
        self._lend(request, response, force=True)

    def _lend(self, request: Any, response: Any, *, force: bool) -> None:
        """Lend the body; taking it from its owner stops the dance."""
        if request.resource not in ("", BODY):
            response.status = response.STATUS_INVALID_RESOURCE
            return
        owner = self._leases.owner
        lease = self._leases.acquire(request.header.client_name, force=force)
        response.lease_owner.client_name = self._leases.owner or ""
        if lease is None:
            response.status = response.STATUS_RESOURCE_ALREADY_CLAIMED
            return
        # The client that danced no longer controls the robot.
        if owner:
            self._store.stop_dance()
        response.status = response.STATUS_OK
        response.lease.CopyFrom(lease)

    def ReturnLease(self, request: Any, response: Any) -> None:
        """Release a lease; the dance ends."""
        if request.lease.resource != BODY:
            response.status = response.STATUS_INVALID_RESOURCE
        elif self._leases.release(request.lease):
            self._store.stop_dance()
            response.status = response.STATUS_OK
        else:
            response.status = response.STATUS_NOT_ACTIVE_LEASE

    def RetainLease(self, request: Any, response: Any) -> None:
        """Return whether a lease is still active."""
        self._leases.check(request.lease, response.lease_use_result)

    def ListLeases(self, request: Any, response: Any) -> None:
        """List all resources and their owners."""
        entry = response.resources.add()
        entry.resource = BODY
        entry.lease_owner.client_name = self._leases.owner or ""
        if self._leases.owner or request.include_full_lease_info:
            entry.lease.CopyFrom(self._leases.current())
        response.resource_tree.resource = "all-leases"
        response.resource_tree.sub_resources.add().resource = BODY

    # PowerService: motors switch on and off immediately.

    def PowerCommand(self, request: Any, response: Any) -> None:
        """Switch the motors."""
        if not self._leases.check(request.lease, response.lease_use_result):
            return
        if request.request not in (
            request.REQUEST_ON_MOTORS,
            request.REQUEST_OFF_MOTORS,
        ):
            set_invalid_request(response, "the stand-in robot only switches its motors")
            return
        self.motors_on = request.request == request.REQUEST_ON_MOTORS
        if not self.motors_on:
            self._store.stop_dance()
        self._power_commands += 1
        response.power_command_id = self._power_commands
        response.status = vendor("bosdyn.api.power_pb2").STATUS_SUCCESS

    def PowerCommandFeedback(self, request: Any, response: Any) -> None:
        """Answer that the command was executed."""
        response.status = vendor("bosdyn.api.power_pb2").STATUS_SUCCESS

    # RobotCommandService

    def RobotCommand(self, request: Any, response: Any) -> None:
        """Sit down and switch the motors off, which ends a dance."""
        if not self._leases.check(request.lease, response.lease_use_result):
            return
        if not request.command.full_body_command.HasField("safe_power_off_request"):
            set_invalid_request(
                response,
                "the stand-in robot only sits down and switches its motors off",
            )
            return
        self.motors_on = False
        self._store.stop_dance()
        response.status = response.STATUS_OK

    # RobotStateService

    def GetRobotState(self, request: Any, response: Any) -> None:
        """Return whether the motors are on, and whether there is an arm."""
        power = response.robot_state.power_state
        power.timestamp.FromNanoseconds(self._store.now())
        if self.motors_on:
            power.motor_power_state = power.STATE_ON
        else:
            power.motor_power_state = power.STATE_OFF
        if self._arm:
            response.robot_state.manipulator_state.SetInParent()

    def GetRobotHardwareConfiguration(self, request: Any, response: Any) -> None:
        """Return the hardware configuration."""
        response.hardware_configuration.can_power_command_request_off_robot = False


def _describe(entry: Any, service: tuple[str, str, str]) -> None:
    entry.name, entry.type, entry.authority = service
    entry.user_token_required = service[0] not in ("auth", "robot-id")
