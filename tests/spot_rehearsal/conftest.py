"""A stand-in robot, and the vendor's own client logged in at it."""

from __future__ import annotations

import pytest

pytest.importorskip(
    "bosdyn.choreography.client", reason="the extra spot is not installed"
)

from bodymotion.spot import StandIn, connected


@pytest.fixture
def heard() -> list[str]:
    return []


@pytest.fixture
def danced() -> list[tuple]:
    return []


@pytest.fixture
def stand_in(heard, danced):
    with StandIn(
        report=heard.append, on_dance=lambda *dance: danced.append(dance)
    ) as robot:
        yield robot


@pytest.fixture
def robot(stand_in):
    """The vendor's Robot."""
    with connected(
        "127.0.0.1",
        stand_in.credentials,
        port=stand_in.port,
        certificate=stand_in.certificate,
    ) as there:
        yield there


@pytest.fixture
def client(robot):
    """The vendor's ChoreographyClient."""
    return robot.ensure_client("choreography")
