"""The stand-in robot as a whole: all services behind one TLS port of 127.0.0.1."""

from __future__ import annotations

import secrets
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from bodymotion.motion import Motion
from bodymotion.spot.client.connecting import vendor
from bodymotion.spot.client.credentials import Credentials
from bodymotion.spot.rehearsal.basic_services import Auth, Directory, Identity, Lending, License, Power, State, Time
from bodymotion.spot.rehearsal.certificates import make_certificates
from bodymotion.spot.rehearsal.choreography import Choreography
from bodymotion.spot.rehearsal.dancing import sequence_motion
from bodymotion.spot.rehearsal.gate import Gate, Interceptor
from bodymotion.spot.rehearsal.leases import Leases
from bodymotion.spot.rehearsal.stage import Dance, Stage

__all__ = ["StandIn"]

HOST = "127.0.0.1"
LONGEST_MESSAGE = 128 << 20
"""[bytes] gRPC's own limit of 4 MiB is less than a long recording has."""


class StandIn:
    """A stand-in robot that runs from `with` or `start` to `stop`.

    Parameters
    ----------
    port:
        Where it listens, on 127.0.0.1 only; 0 takes a free one.
    credentials:
        Who is let in; by default the user "rehearsal" with a new password.
    certificate:
        Where the certificate that a client needs is written; by default to a file that goes with the stand-in robot.
    arm:
        Whether it has an arm.
    say:
        Gets a line for what happens; never a password.
    on_dance:
        Gets the motion of each dance, the seconds until it begins, and the seconds of the motion that are left out at its start. It is
        called in a thread of its own.

    Attributes
    ----------
    port, credentials:
        Where it listens, and who is let in.
    certificate:
        The file with the certificate that a client needs.
    """

    def __init__(
        self,
        *,
        port: int = 0,
        credentials: Credentials | None = None,
        certificate: str | Path | None = None,
        arm: bool = True,
        say: Callable[[str], object] = lambda line: None,
        on_dance: Callable[[Motion, float, float], object] | None = None,
    ) -> None:
        self.credentials = credentials or Credentials("rehearsal", secrets.token_urlsafe(9))
        self.arm = arm
        self.stage = Stage()
        self._say, self._on_dance = say, on_dance
        self._folder = tempfile.TemporaryDirectory(prefix="bodymotion-rehearsal-")
        self.certificate = Path(certificate or Path(self._folder.name) / "authority.pem")
        grpc = vendor("grpc")
        gate = Gate(self.credentials.username, self.credentials.password)
        options = [
            ("grpc.max_receive_message_length", LONGEST_MESSAGE),
            ("grpc.max_send_message_length", LONGEST_MESSAGE),
            ("grpc.so_reuseport", 0),
        ]
        self._server = grpc.server(
            ThreadPoolExecutor(8, "bodymotion-rehearsal"), interceptors=[Interceptor(gate)], options=options
        )
        self._add_services(gate)
        made = make_certificates()
        secure = grpc.ssl_server_credentials([(made.key, made.server)])
        try:
            self.port = self._server.add_secure_port(f"{HOST}:{port}", secure)
            self.certificate.write_bytes(made.authority)
        except RuntimeError:
            self._folder.cleanup()
            raise OSError(f"port {port} of {HOST} is not free") from None
        except OSError:
            self._folder.cleanup()
            raise

    def _add_services(self, gate: Gate) -> None:
        leases = Leases()
        power = Power(leases, self.stage)
        dances = Choreography(
            self.stage, leases, power, arm=self.arm, say=self._say, danced=self._dance if self._on_dance else _nothing
        )
        for service, servant in (
            ("auth_service_pb2.AuthService", Auth(gate)),
            ("directory_service_pb2.DirectoryService", Directory()),
            ("lease_service_pb2.LeaseService", Lending(leases, self.stage)),
            ("license_service_pb2.LicenseService", License()),
            ("power_service_pb2.PowerService", power),
            ("robot_id_service_pb2.RobotIdService", Identity()),
            ("robot_state_service_pb2.RobotStateService", State(power, self.stage, arm=self.arm)),
            ("time_sync_service_pb2.TimeSyncService", Time()),
            ("spot.choreography_service_pb2.ChoreographyService", dances),
        ):
            self._server.add_generic_rpc_handlers((_handlers(f"bosdyn.api.{service}", servant),))

    def start(self) -> StandIn:
        """Begin to listen."""
        self._server.start()
        return self

    def stop(self) -> None:
        """Listen no more; the certificate's file goes."""
        self._server.stop(grace=0.2).wait(2.0)
        self._folder.cleanup()

    def wait(self) -> None:
        """Return when it is stopped."""
        self._server.wait_for_termination()

    def __enter__(self) -> StandIn:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _dance(self, dance: Dance) -> None:
        def show() -> None:
            left_out = dance.first_slice * 60.0 / dance.sequence.slices_per_minute
            assert self._on_dance is not None
            try:
                motion = sequence_motion(dance.sequence, dict(self.stage.animations), arm=self.arm)
                self._on_dance(motion, (dance.start - self.stage.now()) / 1e9, left_out)
            except Exception as error:  # The robot goes on, whatever becomes of its picture.
                self._say(f"dance {dance.sequence.name}: cannot be shown: {error}")

        threading.Thread(target=show, name="bodymotion-dance", daemon=True).start()


def _nothing(dance: Dance) -> None:
    pass


def _handlers(service: str, servant: object) -> Any:  # noqa: ANN401
    """Make gRPC's handlers of the methods that a servant has; calls of the others are answered with UNIMPLEMENTED."""
    grpc, make = vendor("grpc"), vendor("google.protobuf.message_factory").GetMessageClass
    module, _, name = service.rpartition(".")
    described = vendor(module).DESCRIPTOR.services_by_name[name]
    return grpc.method_handlers_generic_handler(
        described.full_name,
        {
            method.name: grpc.unary_unary_rpc_method_handler(
                getattr(servant, method.name),
                request_deserializer=make(method.input_type).FromString,
                response_serializer=make(method.output_type).SerializeToString,
            )
            for method in described.methods
            if hasattr(servant, method.name)
        },
    )
