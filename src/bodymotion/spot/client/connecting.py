"""A connection to a robot, or to the stand-in robot, through the vendor's client."""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from bodymotion.spot.client.credentials import Credentials

__all__ = ["PORT", "SpotError", "connected", "vendor"]

PORT = 443
LICENSE = "choreography"
PATIENCE = 10.0
"""[s] So long an answer to a small question may take."""


class SpotError(RuntimeError):
    """The robot cannot be reached, or does not do what it is asked for; the message says it in words."""


def vendor(module: str) -> Any:  # noqa: ANN401
    """Import a module of the vendor's packages.

    Raises
    ------
    ImportError
        When it is missing; the message says how it is installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"talking to a robot needs an extra: pip install 'bodymotion[spot]' ({error.name or module} is missing)"
        ) from error


def split_address(address: str, port: int = PORT) -> tuple[str, int]:
    """Split HOST or HOST:PORT; an IPv6 address with a port has brackets.

    Raises
    ------
    ValueError
        When there is no host, or the port is no number from 1 to 65535.
    """
    host, colon, end = address.rpartition(":")
    if not colon or _is_address(address) or host.startswith("[") != host.endswith("]"):
        host, end = address, str(port)
    host = host.removeprefix("[").removesuffix("]")
    if not host or not end.isdecimal() or not 0 < int(end) < 65536:
        raise ValueError(f"{address!r} is no address of a robot: HOST or HOST:PORT")
    return host, int(end)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


@contextmanager
def connected(
    host: str, credentials: Credentials, *, port: int = PORT, certificate: str | Path | None = None
) -> Iterator[Any]:
    """Be logged in at a robot that has a licence for choreography: gives the vendor's `bosdyn.client.robot.Robot`.

    Parameters
    ----------
    certificate:
        The certificate (PEM) of the authority that the robot's own is signed by; by default the vendor's.

    Raises
    ------
    SpotError
        When the robot does not answer, refuses the credentials, or has no such licence.
    ImportError
        When the extra `spot` is not installed.
    OSError
        When the certificate cannot be read.
    """
    sdk_room, choreography = vendor("bosdyn.client.sdk"), vendor("bosdyn.choreography.client.choreography")
    for name in ("bosdyn.client", "bosdyn.Robot", "bodymotion"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    if certificate is not None and b"-----BEGIN CERTIFICATE-----" not in Path(certificate).read_bytes():
        raise SpotError(f"{certificate} is no certificate: a file in PEM form has a line BEGIN CERTIFICATE")
    sdk = sdk_room.create_standard_sdk(
        "bodymotion", [choreography.ChoreographyClient], cert_resource_glob=certificate and str(certificate)
    )
    robot = sdk.create_robot(host)
    robot.update_secure_channel_port(port)
    try:
        with said_in_words(f"{host}:{port}"):
            robot.get_id(id_service_name="robot-id")
            if credentials.token:
                robot.authenticate_with_token(credentials.token, timeout=PATIENCE)
            else:
                robot.authenticate(credentials.username, credentials.password, timeout=PATIENCE)
            enabled = robot.ensure_client("license").get_feature_enabled([LICENSE], timeout=PATIENCE)
        if not enabled.get(LICENSE):
            raise SpotError(f"{host} has no licence for {LICENSE}")
        yield robot
    finally:
        sdk.clear_robots()
        robot.shutdown()


@contextmanager
def said_in_words(where: str) -> Iterator[None]:
    """Make what the vendor's client raises a `SpotError` in one sentence, without secrets."""
    kinds, auth = vendor("bosdyn.client.exceptions"), vendor("bosdyn.client.auth")
    try:
        yield
    except auth.InvalidLoginError:
        raise SpotError(f"{where} refuses this user name and password") from None
    except auth.InvalidTokenError:
        raise SpotError(f"{where} refuses this token") from None
    except auth.TemporarilyLockedOutError:
        raise SpotError(f"{where} lets nobody in for a while, after too many wrong passwords") from None
    except kinds.TimedOutError:
        raise SpotError(f"{where} does not answer in time") from None
    except (kinds.UnableToConnectToRobotError, kinds.UnknownDnsNameError, kinds.ProxyConnectionError) as error:
        reason = _reason(error)
        if "CERTIFICATE" in reason or "SSL_ERROR" in reason:
            reason = "its certificate is signed by another authority than the one given (certificate=…, --certificate)"
        raise SpotError(f"{where} cannot be reached: {reason}") from None
    except kinds.UnauthenticatedError:
        raise SpotError(f"{where} wants other credentials") from None
    except kinds.Error as error:
        raise SpotError(f"{where}: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    """Return the first line of what a call to the robot says of itself."""
    details = getattr(getattr(error, "error", None), "details", None)
    text = (details() if callable(details) else None) or str(error) or type(error).__name__
    return str(text).splitlines()[0][:300]
