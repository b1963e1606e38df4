"""A viser server that says nothing on stdout, on a port that is free, and answers no page of another site.

A browser lets any page open a WebSocket to any address, also to one of this machine; the page says where it comes from in the header
`Origin`, and under which name it asks in `Host` (RFC 6455, section 10.2). What comes from elsewhere is refused with 403, and so is a name
that is not this machine's: whoever owns the name can let it point here for a moment (DNS rebinding).
"""

from __future__ import annotations

import contextlib
import http
import io
import ipaddress
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import viser
    from websockets.asyncio.server import ServerConnection
    from websockets.http11 import Request, Response

    _Answer: TypeAlias = "Response | None"
    _Hook: TypeAlias = Callable[[ServerConnection, Request], "Awaitable[_Answer] | _Answer"]

__all__ = ["free_port", "is_welcome", "quiet_server", "stop_server"]


def quiet_server(host: str, port: int) -> viser.ViserServer:
    """Start a viser server that prints nothing, on the first free port from `port` on.

    viser can offer a page to the internet through a server of its makers when a browser asks for it; ours does not.

    Raises
    ------
    OSError
        As `free_port`.
    RuntimeError
        When this version of viser does not let requests be looked at before they are answered.
    """
    import viser

    free = free_port(host, port)
    with contextlib.redirect_stdout(io.StringIO()), _guarded(host) as guarded:
        server = viser.ViserServer(host=host, port=free, verbose=False)
    if not guarded:
        stop_server(server)
        raise RuntimeError(f"viser {viser.__version__} does not let foreign pages be refused; version 1.1 does")
    with contextlib.suppress(ImportError, AttributeError):  # no public part of viser; its button is hidden anyway
        from viser import _messages

        server._websock_server.unregister_handler(_messages.ShareUrlRequest)
    return server


def is_welcome(host: str | None, origin: str | None, served: str) -> bool:
    """Whether a request is answered, by its headers `Host` and `Origin` (None: not there) and the host that is served.

    The name asked for is an address, localhost, the host that is served or this machine's own name. A page comes from where it asks;
    a program that is no browser does not say where it comes from.
    """
    asked = _authority(host)
    if asked is None or not _is_ours(asked[0], served):
        return False
    if origin is None:
        return True
    scheme, _, rest = origin.partition("://")
    return scheme in ("http", "https") and _authority(rest, 443 if scheme == "https" else 80) == (
        asked[0],
        asked[1] if asked[1] else 443 if scheme == "https" else 80,
    )


def _authority(text: str | None, port: int = 0) -> tuple[str, int] | None:
    """Return name and port (`port` where none is given) of `name:port`; None where it is nothing of the kind."""
    try:
        parts = urlsplit(f"//{text or ''}")
        if parts.path or parts.query or parts.fragment or "@" in parts.netloc or not parts.hostname:
            return None
        return parts.hostname.lower().rstrip("."), parts.port or port
    except ValueError:
        return None


def _is_ours(name: str, served: str) -> bool:
    if name in ("localhost", served.lower().rstrip(".")) or name.endswith(".localhost"):
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return name in _own_names()
    return True


@cache
def _own_names() -> frozenset[str]:
    name = socket.gethostname().lower().rstrip(".")
    return frozenset((name, f"{name}.local")) - {"", ".local"}


def _looking(served: str, then: _Hook | None) -> _Hook:
    """Return a hook that refuses who is not welcome, and asks `then` about everybody else."""
    from websockets.datastructures import Headers
    from websockets.http11 import Response

    def hook(connection: ServerConnection, request: Request) -> Awaitable[_Answer] | _Answer:
        hosts, origins = request.headers.get_all("Host"), request.headers.get_all("Origin")
        once = len(hosts) == 1 and len(origins) <= 1
        if not once or not is_welcome(hosts[0], origins[0] if origins else None, served):
            text = b"This page cannot be used from there: open it by the address that it is served at.\n"
            headers = Headers({"Content-Type": "text/plain", "Content-Length": str(len(text)), "Connection": "close"})
            return Response(http.HTTPStatus.FORBIDDEN, "Forbidden", headers, text)
        return None if then is None else then(connection, request)

    return hook


_ONE_AT_A_TIME = threading.Lock()


@contextlib.contextmanager
def _guarded(served: str) -> Iterator[list[bool]]:
    """Look at the requests of the WebSocket server that is started in the block; give a list, empty as long as there is none.

    viser has no place for this: while it starts, what it calls to start is another function.
    """
    from websockets.asyncio import server as sockets

    serve, guarded = sockets.serve, []

    def guarding(*things: Any, **options: Any) -> Any:  # noqa: ANN401
        guarded.append(True)
        return serve(*things, **{**options, "process_request": _looking(served, options.get("process_request"))})

    with _ONE_AT_A_TIME:
        sockets.serve = guarding  # type: ignore[assignment, misc]
        try:
            yield guarded
        finally:
            sockets.serve = serve  # type: ignore[misc]


def free_port(host: str, port: int) -> int:
    """Find the first port from `port` on that can be listened at; 0 leaves the choice to the system.

    Raises
    ------
    OSError
        When the host is none of this machine's, or none of a hundred ports is free.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except socket.gaierror as error:
        raise OSError(f"cannot listen at {host!r}: {error.strerror}") from error
    for candidate in range(port, min(port + 100, 65536)):
        with socket.socket(family, kind, protocol) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                trial.bind((address[0], candidate, *address[2:]))
            except PermissionError:
                continue
            except OSError as error:
                if error.errno == 98 or "in use" in str(error).lower():
                    continue
                raise OSError(f"cannot listen at {host!r}: {error.strerror}") from error
            return candidate
    raise OSError(f"no port from {port} to {min(port + 99, 65535)} is free at {host!r}")


def stop_server(server: viser.ViserServer) -> None:
    """Stop a server as quietly."""
    with contextlib.redirect_stdout(io.StringIO()):
        server.stop()
