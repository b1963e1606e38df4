"""One cause is told once, by its name: what follows from it is not said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bodymotion as bm


@pytest.fixture(scope="module")
def walk(examples):
    return bm.load(examples / "biped_walk.seq"), bm.load(examples / "biped.wrl")


def changed(motion: bm.Motion, name: str, change) -> bm.Motion:
    """Give a motion with other numbers in one of its components."""
    component = getattr(motion, name)
    values = np.array(component.values)
    change(values)
    new = replace(component, values=values)
    return motion.replaced(*(new if c is component else c for c in motion.components))


def codes(motion: bm.Motion, body: bm.Body | None) -> list[str]:
    return [problem.rule for problem in bm.check(motion, body=body).problems]


def zero_row(values):
    values[600] = 0


def spike(values):
    values[300, 3] += 0.5


@pytest.mark.parametrize("change", [zero_row, spike])
def test_a_wrong_frame(walk, change):
    """Joints are fast there, and forces great: only the frame is told."""
    motion, body = walk
    assert codes(changed(motion, "joint_displacement", change), body) == ["MOT302"]


def test_what_is_fast_elsewhere_is_told_beside_a_wrong_frame(walk):
    motion, body = walk
    column = next(k for k, joint in enumerate(body.joints) if "ELBOW" in joint.name)

    def both(values):
        spike(values)
        # Up and down within its limits, smoothly, and too fast.
        times = np.arange(len(values)) * 0.01
        wave = np.where((times > 6) & (times < 8), np.sin(np.pi * (times - 6)) ** 2, 0.0)
        values[:, column] += 0.6 * wave * np.sin(25 * times)

    found = codes(changed(motion, "joint_displacement", both), body)
    assert "MOT302" in found and "MOT205" in found


def test_a_jump_of_the_root(walk):
    """The zero moment point in the world does not jump along: that is said already."""
    motion, body = walk

    def ahead(values):
        values[500:, 0, 0] += 0.1

    assert codes(changed(motion, "link_position", ahead), body) == ["MOT304"]
