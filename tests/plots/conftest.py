"""A walk that was measured, odd motions, and headless Chromium without a network."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import bodymotion as bm
from browser_fixtures import opened


@pytest.fixture(scope="session")
def biped(examples) -> bm.Body:
    return bm.load(examples / "biped.wrl")


@pytest.fixture(scope="session")
def walk(examples) -> bm.Motion:
    return bm.load(examples / "biped_walk.seq")


@pytest.fixture(scope="session")
def measures(biped, walk):
    return bm.dynamics.measure(biped, walk)


@pytest.fixture(scope="session")
def swing(biped):
    """Return a motion of so many frames in which all joints swing, each with the given amplitude [rad]; the root as high as it is said."""

    def make(
        frames: int = 200,
        amplitude: float = 0.2,
        body: bm.Body = biped,
        height: float | None = None,
    ) -> bm.Motion:
        times = np.arange(frames) / 100
        q = amplitude * np.sin(
            2 * times[:, None] * np.linspace(0.5, 2, body.num_joints)
        )
        root = np.tile(np.array(body.root_pose), (frames, 1))
        if height is not None:
            root[:, 2] = height
        return bm.Motion.from_joints(q, 100.0, root=root)

    return make


@pytest.fixture(scope="session")
def offline(chromium) -> Iterator[object]:
    with opened(chromium, 1000, 700) as page:
        page.context.set_offline(True)
        page.on(
            "console",
            lambda said: (
                page.faults.append(said.text) if said.type == "error" else None
            ),
        )
        yield page
