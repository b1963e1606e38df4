"""A viser server that says nothing on stdout, on a port that is free."""

from __future__ import annotations

import contextlib
import io
import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import viser

__all__ = ["free_port", "quiet_server", "stop_server"]


def quiet_server(host: str, port: int) -> viser.ViserServer:
    """Start a viser server that prints nothing, on the first free port from `port` on.

    viser can offer a page to the internet through a server of its makers when a browser asks for it; ours does not.
    """
    import viser

    free = free_port(host, port)
    with contextlib.redirect_stdout(io.StringIO()):
        server = viser.ViserServer(host=host, port=free, verbose=False)
    with contextlib.suppress(ImportError, AttributeError):  # no public part of viser; its button is hidden anyway
        from viser import _messages

        server._websock_server.unregister_handler(_messages.ShareUrlRequest)
    return server


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
        raise OSError(f"can not listen at {host!r}: {error.strerror}") from error
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
                raise OSError(f"can not listen at {host!r}: {error.strerror}") from error
            return candidate
    raise OSError(f"no port from {port} to {min(port + 99, 65535)} is free at {host!r}")


def stop_server(server: viser.ViserServer) -> None:
    """Stop a server as quietly."""
    with contextlib.redirect_stdout(io.StringIO()):
        server.stop()
