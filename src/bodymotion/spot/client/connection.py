"""Connect to a robot, or to the stand-in robot, through the vendor's client.

Credentials, addresses, login.

Credentials come from the environment or from a prompt, never from a command line, and
are in no message.
"""

from __future__ import annotations

import ipaddress
import logging
import os
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from bodymotion.diagnostics import ShortRepr
from bodymotion.system.deferred import need

PORT = 443
LICENSE = "choreography"
# [s]
CALL_TIMEOUT = 10.0
USERNAME = "BOSDYN_CLIENT_USERNAME"
# The environment variables of the vendor's own programs.
PASSWORD = "BOSDYN_CLIENT_PASSWORD"
# The environment variable for a token of an earlier login.
TOKEN = "BOSDYN_CLIENT_TOKEN"


class SpotError(RuntimeError):
    """The robot cannot be reached, or refuses a request.

    The message gives the reason.
    """


def vendor(module: str) -> Any:  # noqa: ANN401
    """Return a module of the vendor's packages.

    Raises
    ------
    ImportError
        When it is missing; the message names the extra to install.
    """
    return need(module, "spot", "talking to a robot")


def split_address(address: str, port: int = PORT) -> tuple[str, int]:
    """Split HOST or HOST:PORT.

    An IPv6 address with a port has brackets.

    Raises
    ------
    ValueError
        When there is no host, or the port is not a number from 1 to 65535.
    """
    host, colon, end = address.rpartition(":")
    # An IPv6 address has colons, too: without brackets all of it is the host.
    if not colon or _is_address(address) or host.startswith("[") != host.endswith("]"):
        host = address
        end = str(port)
    host = host.removeprefix("[").removesuffix("]")
    if not host or not end.isdecimal() or not 0 < int(end) < 65536:
        raise ValueError(
            f"{address!r} is not an address of a robot; expected HOST or HOST:PORT"
        )
    return host, int(end)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


@contextmanager
def connected(
    host: str,
    credentials: Credentials,
    *,
    port: int = PORT,
    certificate: str | PathLike[str] | None = None,
) -> Iterator[Any]:
    """Log in to a robot with a licence for choreography.

    The context is the vendor's `bosdyn.client.robot.Robot`.

    Parameters
    ----------
    certificate:
        The certificate (PEM) of the authority that signed the certificate of the robot;
        by default the vendor's.

    Raises
    ------
    SpotError
        When the robot does not answer, refuses the credentials, or has no such licence.
    ImportError
        When the extra `spot` is not installed.
    OSError
        When the certificate cannot be read.
    """
    # The vendor's SDK is imported when it is needed: it is an optional extra.
    sdk_module = vendor("bosdyn.client.sdk")
    choreography = vendor("bosdyn.choreography.client.choreography")
    # Errors are translated below: the log of the SDK would only repeat them.
    for name in ("bosdyn.client", "bosdyn.Robot", "bodymotion"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    # gRPC would only say that the handshake failed.
    if (
        certificate is not None
        and b"-----BEGIN CERTIFICATE-----" not in Path(certificate).read_bytes()
    ):
        raise SpotError(
            f"{certificate} is not a certificate: a PEM file has a line BEGIN "
            "CERTIFICATE"
        )
    sdk = sdk_module.create_standard_sdk(
        "bodymotion",
        [choreography.ChoreographyClient],
        cert_resource_glob=certificate and str(certificate),
    )
    robot = sdk.create_robot(host)
    robot.update_secure_channel_port(port)
    try:
        with translated_errors(f"{host}:{port}"):
            try:
                # The identity service needs no login: it shows whether there is a
                # robot.
                robot.get_id(id_service_name="robot-id")
            except vendor("bosdyn.client.exceptions").RpcError:
                _check_certificate(host, port, sdk.cert)
                raise
            if credentials.token:
                robot.authenticate_with_token(credentials.token, timeout=CALL_TIMEOUT)
            else:
                robot.authenticate(
                    credentials.username, credentials.password, timeout=CALL_TIMEOUT
                )
            # Without this licence the robot refuses all of the choreography service.
            enabled = robot.ensure_client("license").get_feature_enabled(
                [LICENSE], timeout=CALL_TIMEOUT
            )
        if not enabled.get(LICENSE):
            raise SpotError(f"{host} has no licence for {LICENSE}")
        yield robot
    # Close channels and threads in any case.
    finally:
        sdk.clear_robots()
        robot.shutdown()


@contextmanager
def translated_errors(where: str) -> Iterator[None]:
    """Turn errors of the vendor's client into a `SpotError`.

    With one sentence and without secrets.
    """
    kinds = vendor("bosdyn.client.exceptions")
    auth = vendor("bosdyn.client.auth")
    try:
        yield
    except auth.InvalidLoginError:
        raise SpotError(f"{where} refuses this user name and password") from None
    except auth.InvalidTokenError:
        raise SpotError(f"{where} refuses this token") from None
    except auth.TemporarilyLockedOutError:
        raise SpotError(
            f"{where} refuses all logins for a while, after too many wrong passwords"
        ) from None
    except kinds.TimedOutError:
        raise SpotError(f"{where} does not answer in time") from None
    except kinds.UnauthenticatedError:
        raise SpotError(f"{where} needs other credentials") from None
    # Last: the base class of the errors above.
    except kinds.Error as error:
        unreachable = (
            kinds.UnableToConnectToRobotError,
            kinds.UnknownDnsNameError,
            kinds.ProxyConnectionError,
        )
        if isinstance(error, unreachable):
            verb = " cannot be reached"
        else:
            verb = ""
        raise SpotError(f"{where}{verb}: {_reason(error)}") from None


def _check_certificate(host: str, port: int, authority: bytes) -> None:
    """Raise `SpotError` when a handshake by TLS fails.

    gRPC reports it in words only.
    """
    try:
        context = ssl.create_default_context(cadata=authority.decode("ascii", "ignore"))
        context.check_hostname = (
            False  # The certificate of a robot holds for all of its addresses.
        )
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # Python is stricter than gRPC.
        with (
            socket.create_connection((host, port), CALL_TIMEOUT) as plain,
            context.wrap_socket(plain),
        ):
            pass
    except ssl.SSLError:
        reason = (
            "its certificate is not signed by the given authority (certificate=…, "
            "--certificate)"
        )
        raise SpotError(f"{host}:{port} cannot be reached: {reason}") from None
    except OSError:
        pass  # Nobody answers: the error of the call says so.


def _reason(error: Exception) -> str:
    """Return the first line of the reason of a failed call."""
    # Errors of gRPC have their reason in `details()`.
    details = getattr(getattr(error, "error", None), "details", None)
    text = (
        (details() if callable(details) else None) or str(error) or type(error).__name__
    )
    return str(text).splitlines()[0][:300]


@dataclass(frozen=True)
class Credentials(ShortRepr):
    """A user name with its password, or a token.

    The secrets are not part of the representation.
    """

    username: str = ""
    password: str = field(default="", repr=False)
    token: str = field(default="", repr=False)


def find_credentials(
    ask: Callable[[str], tuple[str, str]] | None = None,
    *,
    username: str = "",
    environment: Mapping[str, str] | None = None,
) -> Credentials:
    """Return credentials from the environment, or else from a prompt.

    Parameters
    ----------
    ask:
        Called with the user name, if it is known; returns user name and password.
    username:
        Overrides that of the environment.

    Raises
    ------
    ValueError
        When they are not in the environment and there is no prompt; the message names
        the variables.
    """
    variables = os.environ if environment is None else environment
    known = username or variables.get(USERNAME, "")
    if variables.get(TOKEN) and not username:
        return Credentials(token=variables[TOKEN])
    if known and variables.get(PASSWORD):
        return Credentials(known, variables[PASSWORD])
    if ask is None:
        raise ValueError(
            f"no credentials for the robot: set {USERNAME} and {PASSWORD}, or {TOKEN}"
        )
    return Credentials(*ask(known))
