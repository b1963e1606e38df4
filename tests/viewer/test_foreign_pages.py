"""The viewer answers its own page and nobody else's: neither pages of other sites, nor names that only point here."""

from __future__ import annotations

import http.client
import inspect
import socket
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

viser = pytest.importorskip("viser")
client = pytest.importorskip("websockets.sync.client")

from websockets.exceptions import InvalidStatus  # noqa: E402

import bodymotion as bm  # noqa: E402
from bodymotion.viewer.server import is_allowed, quiet_server, stop_server  # noqa: E402
from waiting import TIMEOUT  # noqa: E402

VERSION = f"viser-v{viser.__version__}"


@pytest.fixture(scope="module", params=["127.0.0.1", "0.0.0.0"])
def port(request):
    server = quiet_server(request.param, 8400)
    yield server.get_port()
    stop_server(server)


def connects(port: int, host: str | None = None, origin: str | None = None) -> bool:
    """Whether a WebSocket opens; `host` and `origin` are what its headers say."""
    headers = {"Host": host} if host else {}
    plain = socket.create_connection(("127.0.0.1", port))
    # The library writes the Host of its address, so that address is the name that is told.
    address = f"ws://{headers.get('Host', f'127.0.0.1:{port}')}/"
    try:
        with client.connect(
            address,
            sock=plain,
            origin=origin,
            subprotocols=[VERSION],
            compression=None,
            proxy=None,
        ) as socket_:
            return bool(socket_.recv(timeout=TIMEOUT))
    except InvalidStatus as error:
        assert error.response.status_code == 403
        return False


def test_its_own_page_may(port):
    assert connects(port)
    assert connects(port, origin=f"http://127.0.0.1:{port}")
    assert connects(port, f"localhost:{port}", f"http://localhost:{port}")


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "https://evil.example:8400",
        "null",
        "file://",
        "http://localhost:1",
        "chrome-extension://abc",
    ],
)
def test_a_page_of_another_site_may_not(port, origin):
    assert not connects(port, origin=origin)


def test_nor_a_name_that_only_points_here(port):
    assert not connects(port, f"evil.example:{port}", f"http://evil.example:{port}")
    assert not connects(port, f"evil.example:{port}")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "evil.example"}, 403),
        ({"Host": ""}, 403),
        ({"Origin": "http://evil.example"}, 403),
    ],
)
def test_the_page_itself(port, headers, status):
    asking = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
    asking.request("GET", "/", headers=headers)
    answer = asking.getresponse()
    assert answer.status == status
    assert (b"<html" in answer.read().lower()) == (status == 200)
    if status == 200:
        # No page of another site shows it in a frame, where a click could be led astray.
        assert answer.headers["Content-Security-Policy"] == "frame-ancestors 'self'"
    asking.close()


PROBED = """
import socket, time
from bodymotion.viewer.server import quiet_server, stop_server
server = quiet_server("127.0.0.1", 8600)
for sent in (b"", b"x", b"\\r\\n\\r\\n", b"\\x16\\x03\\x01\\x02\\x00", b"EHLO x\\r\\n"):
    with socket.create_connection(("127.0.0.1", server.get_port())) as probe:
        probe.sendall(sent)
        probe.shutdown(socket.SHUT_WR)
        while probe.recv(1000):
            pass
stop_server(server)
"""


def test_what_scans_ports_leaves_no_lines():
    done = subprocess.run(
        [sys.executable, "-c", PROBED], capture_output=True, text=True
    )
    assert done.returncode == 0 and done.stderr == ""


@pytest.mark.parametrize(
    ("host", "origin", "welcome"),
    [
        ("localhost:8080", None, True),
        ("LOCALHOST.:8080", "http://localhost:8080", True),
        ("[::1]:8080", "http://[::1]:8080", True),
        ("192.168.1.5:8080", "http://192.168.1.5:8080", True),
        ("192.168.1.5", "http://192.168.1.5", True),
        ("192.168.1.5", "https://192.168.1.5", True),
        ("robot.lab:8080", "http://robot.lab:8080", True),
        (socket.gethostname(), None, True),
        ("other.lab:8080", "http://other.lab:8080", False),
        ("localhost:8080", "http://localhost:8081", False),
        ("localhost:8080", "http://127.0.0.1:8080", False),
        ("localhost:8080", "http://localhost:8080@evil.example", False),
        ("localhost:8080", "http://evil.example#localhost:8080", False),
        ("localhost:8080@evil.example", None, False),
        ("localhost:x", None, False),
        ("", None, False),
        (None, None, False),
        ("localhost", "null", False),
        ("localhost", "", False),
    ],
)
def test_who_is_welcome(host, origin, welcome):
    assert is_allowed(host, origin, "robot.lab") is welcome


@given(st.text(max_size=30), st.none() | st.text(max_size=30))
def test_any_headers(host, origin):
    assert is_allowed(host, origin, "127.0.0.1") in (True, False)
    assert not is_allowed(f"x{host}.example", origin, "127.0.0.1")


@pytest.mark.skipif(
    not sys.platform.startswith("linux"),
    reason="other systems have no second address of their own",
)
def test_nobody_elsewhere_is_served_unless_asked(port, request):
    """All of 127.0.0.0/8 is this machine: a server that listens at every address hears 127.0.0.2, one at 127.0.0.1 does not."""
    everywhere = "0.0.0.0" in request.node.name
    try:
        socket.create_connection(("127.0.0.2", port), timeout=TIMEOUT).close()
        heard = True
    except ConnectionRefusedError:
        heard = False
    assert heard == everywhere


def test_the_viewer_serves_this_machine_alone():
    assert inspect.signature(bm.view).parameters["host"].default == "127.0.0.1"
