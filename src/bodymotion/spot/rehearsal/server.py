"""The stand-in robot: all services behind one TLS port of 127.0.0.1.

With a certificate of its own.
"""

from __future__ import annotations

import datetime
import errno
import ipaddress
import os
import secrets
import tempfile
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from bodymotion.formats.untrusted import call_within_limits
from bodymotion.motion import Motion
from bodymotion.spot.cha_proto.sequence import read_move_list
from bodymotion.spot.choreography import play_choreography
from bodymotion.spot.client.connection import Credentials, vendor
from bodymotion.spot.rehearsal.access import Accounts
from bodymotion.spot.rehearsal.basic_services import SERVICES
from bodymotion.spot.rehearsal.choreography import (
    UPLOAD,
    Services,
    choreography_of,
)
from bodymotion.spot.rehearsal.store import Dance, Store
from bodymotion.system.files import check_place, read_head, whole_file

HOST = "127.0.0.1"
MAX_MESSAGE_BYTES = (
    128 << 20
)  # The default limit of gRPC, 4 MiB, is too small for a long recording.
COMMON_NAME = "bodymotion rehearsal"  # In each certificate of a stand-in robot.
MAX_CERTIFICATE = 1 << 16  # [bytes] A longer file is no certificate of ours.
CERTIFICATE_LIFETIME = datetime.timedelta(days=30)
# The vendor's client calls each service of a robot by a name that ends in spot.robot.
CERTIFICATE_NAMES = "*.spot.robot", "localhost"


class StandIn:
    """A stand-in robot that runs from `with` or `start` to `stop`.

    Parameters
    ----------
    port:
        The port of 127.0.0.1 on which it listens; 0 for a free one.
    credentials:
        The user that can log in; by default "rehearsal" with a new password.
    certificate:
        The file for the certificate that a client needs; by default a temporary file.
    arm:
        Whether it has an arm.
    robot_moves:
        A file of moves that it lists as its own (`bodymotion spot moves -o FILE`); it
        accepts them, and approximates them or pauses.
    report:
        Called with a line for each event; never a password.
    on_dance:
        Called in its own thread with the motion of each dance, the seconds until it
        starts, and the seconds left out at its start.

    Attributes
    ----------
    port, credentials:
        The port on which it listens, and the user that can log in.
    certificate:
        The file with the certificate that a client needs.
    """

    def __init__(
        self,
        *,
        port: int = 0,
        credentials: Credentials | None = None,
        certificate: str | PathLike[str] | None = None,
        arm: bool = True,
        robot_moves: str | PathLike[str] | None = None,
        report: Callable[[str], object] = lambda text: None,
        on_dance: Callable[[Motion, float, float], object] | None = None,
        say: Callable[[str], object] | None = None,
    ) -> None:
        """Prepare services, certificate and port; nothing runs before `start`."""
        # `say` is the former name of `report`.
        if say is not None:
            warnings.warn("say= is now report=", DeprecationWarning, stacklevel=2)
        self.credentials = credentials or Credentials(
            "rehearsal", secrets.token_urlsafe(9)
        )
        self.arm = arm
        self.store = Store(
            None if robot_moves is None else read_move_list(Path(robot_moves))
        )
        self._report = say or report
        self._on_dance = on_dance
        self._folder = tempfile.TemporaryDirectory(prefix="bodymotion-rehearsal-")
        self.certificate = Path(
            certificate or Path(self._folder.name) / "certificate.pem"
        )
        check_certificate_place(self.certificate)
        # Recordings exceed the 4 MiB that gRPC accepts by default.
        grpc = vendor("grpc")
        accounts = Accounts(self.credentials.username, self.credentials.password)
        options = [
            ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
            ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
            # Two servers on one port would take each other's calls.
            ("grpc.so_reuseport", 0),
        ]
        self._server = grpc.server(
            ThreadPoolExecutor(8, "bodymotion-rehearsal"),
            interceptors=[accounts],
            options=options,
        )
        services = Services(
            accounts, self.store, arm=self.arm, log=self._report, danced=self._dance
        )
        # One handler for each service of the SDK.
        for name, kind, _ in SERVICES:
            self._server.add_generic_rpc_handlers((_handlers(name, kind, services),))
        # TLS with a new certificate in each run: the vendor's client requires it.
        certified, key = make_certificate()
        secure = grpc.ssl_server_credentials([(key, certified)])
        try:
            self.port = self._server.add_secure_port(f"{HOST}:{port}", secure)
            with whole_file(self.certificate) as stream:
                stream.write(certified)
        # A port that is taken raises RuntimeError in gRPC: the caller gets an OSError.
        except (RuntimeError, OSError) as error:
            self._folder.cleanup()
            raise (
                error
                if isinstance(error, OSError)
                else OSError(f"port {port} of {HOST} is not free")
            ) from None

    def start(self) -> StandIn:
        """Start to listen."""
        self._server.start()
        return self

    def stop(self) -> None:
        """Stop to listen, and delete the temporary certificate."""
        self._server.stop(grace=0.2).wait(2.0)
        self._folder.cleanup()

    def wait(self) -> None:
        """Wait until it is stopped."""
        self._server.wait_for_termination()

    def __enter__(self) -> StandIn:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _dance(self, dance: Dance) -> None:
        """Show a dance in a thread of its own, so that the answer does not wait."""
        on_dance = self._on_dance
        if on_dance is None:
            return

        def show() -> None:
            """Play the dance and hand its motion over."""
            # Seconds before the slice at which the dance begins.
            left_out = dance.first_slice * 60.0 / dance.sequence.slices_per_minute
            try:
                # A copy: other calls may upload meanwhile.
                known = choreography_of(
                    dance.sequence, dict(self.store.animations), self.store.listed
                )
                play = partial(
                    play_choreography, first_slice=dance.first_slice, arm=self.arm
                )
                # An upload is not trusted: play it in a process with limits.
                motion = call_within_limits(play, known, files=[UPLOAD])
                on_dance(motion, (dance.start - self.store.now()) / 1e9, left_out)
            except (
                Exception
            ) as error:  # The robot keeps running when the dance cannot be shown.
                self._report(f"dance {dance.sequence.name}: cannot be shown: {error}")

        threading.Thread(target=show, name="bodymotion-dance", daemon=True).start()


def _handlers(name: str, kind: str, methods: object) -> Any:  # noqa: ANN401
    """Return gRPC's handlers of a service's methods that an object has.

    Calls of other methods are answered with UNIMPLEMENTED.
    """
    grpc = vendor("grpc")
    make = vendor("google.protobuf.message_factory").GetMessageClass
    # The class names of services follow the SDK: package.module_service_pb2.
    package, _, service = kind.rpartition(".")
    module = vendor(f"{package}.{name.replace('-', '_')}_service_pb2")
    described = module.DESCRIPTOR.services_by_name[service]
    handlers = {}
    # Methods that the stand-in has; gRPC answers others with UNIMPLEMENTED.
    for method in described.methods:
        if not hasattr(methods, method.name):
            continue
        answer = "stream" if method.server_streaming else "unary"
        make_handler = getattr(grpc, f"unary_{answer}_rpc_method_handler")
        response = make(method.output_type)
        fill = getattr(methods, method.name)
        handlers[method.name] = make_handler(
            _answering(fill, response, is_stream=method.server_streaming),
            request_deserializer=make(method.input_type).FromString,
            response_serializer=response.SerializeToString,
        )
    return grpc.method_handlers_generic_handler(described.full_name, handlers)


def _answering(
    fill: Callable[[Any, Any], None], make: Callable[[], Any], *, is_stream: bool
) -> Callable[[Any, Any], Any]:
    """Return a call, as gRPC has it, of a method.

    The method fills the response that `make` returns, the only one of a stream. Its
    header has the times of the call.
    """
    context = vendor("bosdyn.client.server_util").ResponseContext

    def call(request: Any, _: Any) -> Any:  # noqa: ANN401
        with context(make(), request) as response:
            fill(request, response)
        if is_stream:
            return iter([response])
        return response

    return call


def check_certificate_place(path: Path) -> None:
    """Raise unless a file can be replaced by a certificate.

    There is none, or one of an earlier rehearsal.

    Raises
    ------
    OSError
        When there is something else, or no such folder.
    """
    check_place(path)
    if not os.path.lexists(path):
        return
    if path.is_file() and _is_own_certificate(read_head(path, MAX_CERTIFICATE)):
        return
    raise FileExistsError(
        errno.EEXIST,
        "exists and is no certificate of a rehearsal; name another file",
        str(path),
    )


def _is_own_certificate(content: bytes) -> bool:
    """Return whether bytes are one certificate that `make_certificate` has made."""
    x509 = vendor("cryptography.x509")
    begin = b"-----BEGIN"
    if not content.startswith(begin) or content.count(begin) != 1:
        return False
    try:
        subject = x509.load_pem_x509_certificate(content).subject
    except ValueError:
        return False
    return any(name.value == COMMON_NAME for name in subject)


def make_certificate() -> tuple[bytes, bytes]:
    """Return a certificate that signs itself, and its key, as PEM.

    The server has both, clients need the certificate.
    """
    x509 = vendor("cryptography.x509")
    ec = vendor("cryptography.hazmat.primitives.asymmetric.ec")
    coding = vendor("cryptography.hazmat.primitives.serialization")
    # An elliptic curve: its keys are made at once, unlike those of RSA.
    key = ec.generate_private_key(ec.SECP256R1())
    now = datetime.datetime.now(datetime.UTC)
    common_name = vendor("cryptography.x509.oid").NameOID.COMMON_NAME
    name = x509.Name([x509.NameAttribute(common_name, COMMON_NAME)])
    # The client calls services by names, and the host by its address.
    others = [x509.DNSName(other) for other in CERTIFICATE_NAMES] + [
        x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    ]
    certificate = (
        x509.CertificateBuilder(
            name, name, key.public_key(), x509.random_serial_number()
        )
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + CERTIFICATE_LIFETIME)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.SubjectAlternativeName(others), critical=False)
        .sign(key, vendor("cryptography.hazmat.primitives.hashes").SHA256())
    )
    pem = coding.Encoding.PEM
    return certificate.public_bytes(pem), key.private_bytes(
        pem, coding.PrivateFormat.PKCS8, coding.NoEncryption()
    )
