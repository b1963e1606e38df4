"""A local viser server that refuses other sites.

It has no output and a free port, and refuses requests from pages of other sites.

A browser lets any page open a WebSocket to any address, also to one of this machine.
The header `Origin` names the site of the page, the header `Host` the requested name
(RFC 6455, section 10.2). A request from another site is refused with 403. So is a
request for a name that is not this machine's, because the owner of the name can make it
point here for a moment (DNS rebinding).
"""

from __future__ import annotations

import atexit
import contextlib
import http
import io
import ipaddress
import logging
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from errno import EADDRINUSE
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import viser
    from websockets.asyncio.server import ServerConnection
    from websockets.http11 import Request, Response

    _Answer: TypeAlias = "Response | None"
    _Hook: TypeAlias = Callable[
        [ServerConnection, Request], "Awaitable[_Answer] | _Answer"
    ]

NUM_PORTS = 100  # Number of ports that are tried.
_PATCH_LOCK = threading.Lock()


def quiet_server(host: str, port: int) -> viser.ViserServer:
    """Start a viser server without output on the first free port from `port` on.

    viser can share a page on the internet through a server of its developers when a
    browser requests it; this is switched off.

    Raises OSError as `free_port`; RuntimeError when this version of viser does not
    allow to check requests.
    """
    import viser

    free = free_port(host, port)
    with contextlib.redirect_stdout(io.StringIO()), _guarded(host) as guarded:
        server = viser.ViserServer(host=host, port=free, verbose=False)
        atexit.unregister(server.stop)  # it prints
        atexit.register(stop_server, server)
    if not guarded:
        stop_server(server)
        raise RuntimeError(
            f"viser {viser.__version__} cannot refuse requests from other sites; "
            "install version 1.1 or later"
        )
    with contextlib.suppress(
        ImportError, AttributeError
    ):  # a private part of viser; its button is hidden in any case
        from viser import _messages

        server._websock_server.unregister_handler(_messages.ShareUrlRequest)
    return server


def is_allowed(host: str | None, origin: str | None, served: str) -> bool:
    """Return whether a request is allowed, by its headers `Host` and `Origin` (None:
    absent) and the host that is `served`.

    The requested name must be an address, localhost, the served host or this machine's
    own name. The site of the page must be the requested one; programs that are no
    browsers send no `Origin`.
    """
    requested = _authority(host)
    if requested is None or not _is_ours(requested[0], served):
        return False
    if origin is None:
        return True
    scheme, _, rest = origin.partition("://")
    standard = 443 if scheme == "https" else 80
    return scheme in ("http", "https") and _authority(rest, standard) == (
        requested[0],
        requested[1] or standard,
    )


def _authority(text: str | None, port: int = 0) -> tuple[str, int] | None:
    """Return name and port of `name:port` (by default `port`).

    None for other text.
    """
    try:
        parts = urlsplit(f"//{text or ''}")
        if (
            parts.path
            or parts.query
            or parts.fragment
            or "@" in parts.netloc
            or not parts.hostname
        ):
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
        own = socket.gethostname().lower().rstrip(".")
        return bool(own) and name in (own, f"{own}.local")
    return True


def _request_check(served: str, next_hook: _Hook | None) -> _Hook:
    """Return a hook that refuses forbidden requests.

    Requests that are allowed go to `next_hook`.
    """
    from websockets.datastructures import Headers
    from websockets.http11 import Response

    def hook(
        connection: ServerConnection, request: Request
    ) -> Awaitable[_Answer] | _Answer:
        hosts = request.headers.get_all("Host")
        origins = request.headers.get_all("Origin")
        single = len(hosts) == 1 and len(origins) <= 1
        if not single or not is_allowed(
            hosts[0], origins[0] if origins else None, served
        ):
            text = (
                b"Requests from other sites are refused: open this page at its own "
                b"address.\n"
            )
            headers = Headers(
                {
                    "Content-Type": "text/plain",
                    "Content-Length": str(len(text)),
                    "Connection": "close",
                }
            )
            return Response(http.HTTPStatus.FORBIDDEN, "Forbidden", headers, text)
        if next_hook is None:
            answer = None
        else:
            answer = next_hook(connection, request)
        return _not_framed(answer)

    return hook


def _not_framed(answer: Awaitable[_Answer] | _Answer) -> Awaitable[_Answer] | _Answer:
    """Return an answer that no page of another site may show in a frame."""
    if answer is None:
        return None
    if isinstance(answer, Awaitable):

        async def wait() -> _Answer:
            found = _not_framed(await answer)
            if isinstance(found, Awaitable):
                return await found
            return found

        return wait()
    answer.headers["Content-Security-Policy"] = "frame-ancestors 'self'"
    return answer


@contextlib.contextmanager
def _guarded(served: str) -> Iterator[list[bool]]:
    """Check the requests of the WebSocket server that is started in the block.

    The yielded list is empty until it is started.

    viser has no option for this, so the function that starts the WebSocket server is
    replaced meanwhile.
    """
    from websockets.asyncio import server as sockets

    serve = sockets.serve
    guarded = []

    def guarded_serve(*args: Any, **options: Any) -> Any:  # noqa: ANN401
        guarded.append(True)
        return serve(
            *args,
            **{
                **options,
                "process_request": _request_check(
                    served, options.get("process_request")
                ),
                # What scans ports sends no request; its lines of errors are no
                # messages.
                "logger": _silent_logger(),
            },
        )

    with _PATCH_LOCK:
        sockets.serve = guarded_serve  # type: ignore[assignment, misc]
        try:
            yield guarded
        finally:
            sockets.serve = serve  # type: ignore[misc]


def _silent_logger() -> logging.Logger:
    """Return a logger that prints nothing."""
    logger = logging.getLogger("bodymotion.viewer.requests")
    logger.addHandler(logging.NullHandler())
    logger.propagate = False
    return logger


def free_port(host: str, port: int) -> int:
    """Return the first free port from `port` on.

    0 leaves the choice to the system.

    Raises OSError when the host is not one of this machine, or no port is free.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM
        )[0]
    except socket.gaierror as error:
        raise OSError(f"cannot listen at {host!r}: {error.strerror}") from error
    for candidate in range(port, min(port + NUM_PORTS, 65536)):
        with socket.socket(family, kind, protocol) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                trial.bind((address[0], candidate, *address[2:]))
            except PermissionError:
                continue
            except OSError as error:
                if error.errno == EADDRINUSE:
                    continue
                raise OSError(f"cannot listen at {host!r}: {error.strerror}") from error
            return candidate
    raise OSError(
        f"no port from {port} to {min(port + NUM_PORTS - 1, 65535)} is free at {host!r}"
    )


def on_user(widget: Any, react: Callable[[Any], object]) -> None:  # noqa: ANN401
    """Call `react(value)` when a user changes a widget.

    In a browser; not when the viewer changes its value.
    """
    widget.on_update(
        lambda event: react(event.target.value) if event.client_id is not None else None
    )


def stop_server(server: viser.ViserServer) -> None:
    """Stop a server without output."""
    with contextlib.redirect_stdout(io.StringIO()):
        server.stop()
