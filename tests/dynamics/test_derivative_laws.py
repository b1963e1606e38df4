"""Velocities and accelerations of what is known in closed form."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bodymotion as bm
from bodymotion.geometry import poses, rotations
from sample_files import tries

METHODS = ("spline", "central", "savgol")
EXACT = {"spline": 3, "central": 2, "savgol": 3}
"""The order of polynomials that each method differentiates exactly, the ends included."""


def stamps(count: int, seed: int | None) -> np.ndarray:
    """Times with a rate of 100 Hz, or uneven ones."""
    gaps = (
        np.full(count, 0.01)
        if seed is None
        else np.random.default_rng(seed).uniform(0.004, 0.02, count)
    )
    return 0.3 + np.cumsum(gaps)


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=tries(20))
@given(
    count=st.integers(10, 60),
    seed=st.none() | st.integers(0, 99),
    numbers=st.integers(0, 999),
)
def test_polynomials_are_exact(method, count, seed, numbers):
    times = stamps(count, seed)
    factors = np.random.default_rng(numbers).normal(size=(EXACT[method] + 1, 3))
    curves = [np.polynomial.Polynomial(column) for column in factors.T]
    first, second = bm.dynamics.derivatives(
        np.stack([c(times) for c in curves], axis=-1), times, method
    )
    np.testing.assert_allclose(
        first, np.stack([c.deriv()(times) for c in curves], axis=-1), atol=1e-8
    )
    np.testing.assert_allclose(
        second, np.stack([c.deriv(2)(times) for c in curves], axis=-1), atol=1e-5
    )


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=tries(20))
@given(
    count=st.integers(1, 30),
    seed=st.none() | st.integers(0, 99),
    speed=st.floats(-18, 18),
)
def test_a_steady_turn_has_its_speed_and_no_acceleration(method, count, seed, speed):
    """About any axis, as long as it turns by less than half a turn over a window."""
    times = stamps(count, seed)
    axis = np.array([0.48, -0.6, 0.64])
    spin = rotations.multiply(
        rotations.from_axis_angle(axis, speed * times),
        rotations.from_rpy([0.3, 2.0, -1.0]),
    )
    place = [1.0, 2.0, 3.0] + times[:, None] * [0.5, 0.0, -2.0]
    first, second = bm.dynamics.pose_derivatives(
        poses.from_parts(place, spin), times, method
    )
    moved = count > 1
    np.testing.assert_allclose(
        first, np.tile([0.5, 0, -2.0, *(speed * axis)], (count, 1)) * moved, atol=1e-7
    )
    np.testing.assert_allclose(second, 0, atol=1e-3)


def tumbling(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Orientation, angular velocity and acceleration in the world of a turn about x, then about the turned z."""
    a, da, dda = 0.7 * np.sin(2 * t), 1.4 * np.cos(2 * t), -2.8 * np.sin(2 * t)
    b, db, ddb = (
        1.5 * t + 0.3 * np.sin(4 * t),
        1.5 + 1.2 * np.cos(4 * t),
        -4.8 * np.sin(4 * t),
    )
    x = np.array([1.0, 0.0, 0.0])
    first = rotations.from_axis_angle(x, a)
    z = rotations.rotate(first, np.array([0.0, 0.0, 1.0]))
    spin = da[:, None] * x + db[:, None] * z
    gain = (
        dda[:, None] * x + ddb[:, None] * z + db[:, None] * np.cross(da[:, None] * x, z)
    )
    return (
        rotations.multiply(first, rotations.from_axis_angle([0, 0, 1], b)),
        spin,
        gain,
    )


@pytest.mark.parametrize(
    ("method", "order"), [("spline", 2), ("central", 1), ("savgol", 2)]
)
@pytest.mark.parametrize("uneven", [False, True])
def test_tumbling_comes_nearer_with_more_frames(method, order, uneven):
    """Halving the gaps makes the acceleration's worst error, ends included, smaller by 2 to the power of `order`, or nearly."""
    errors = []
    for count in (200, 800):
        t = np.linspace(0, 2, count + 1)
        if uneven:
            t = t + 0.3 / count * np.sin(np.arange(count + 1))
        quaternions, spin, gain = tumbling(t)
        signs = np.where(np.arange(len(t)) % 3 == 0, -2.0, 1.0)[:, None]
        first, second = bm.dynamics.pose_derivatives(
            poses.from_parts(np.zeros(3), signs * quaternions), t, method
        )
        errors.append(
            (np.abs(first[:, 3:] - spin).max(), np.abs(second[:, 3:] - gain).max())
        )
    assert errors[1][0] < errors[0][0] / 4 ** (order + 0.8) + 1e-9
    assert errors[1][1] < errors[0][1] / 4 ** (order - 0.3) + 1e-9
    assert errors[1][1] < (0.1 if method == "central" else 0.01)


def test_numbers_that_are_none_spoil_only_themselves():
    t = np.arange(50) / 100
    values = np.stack([3 * t, t * t], axis=-1)
    values[20, 0] = np.nan
    for method in METHODS:
        first, second = bm.dynamics.derivatives(values, t, method)
        assert np.isnan(first[20, 0]) and np.isnan(second[20, 0])
        assert np.isnan(first).sum() == np.isnan(second).sum() == 1
        np.testing.assert_allclose(np.delete(first[:, 0], 20), 3, atol=1e-9)
    placed = poses.from_parts(np.zeros(3), tumbling(t)[0])
    placed[7, 4] = np.inf
    first, _ = bm.dynamics.pose_derivatives(placed, t)
    assert np.isnan(first).any(axis=1).nonzero()[0].tolist() == [7]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((np.zeros((3, 2)), [0.0, 1.0]), r"times: expected shape \(3,\)"),
        ((np.zeros((3, 2)), [0.0, 2.0, 1.0]), "increas"),
        ((np.zeros((3, 2)), [0.0, 1.0, 2.0], "euler"), "spline, central, savgol"),
    ],
)
def test_what_is_refused(arguments, said):
    with pytest.raises(ValueError, match=said):
        bm.dynamics.derivatives(*arguments)
    with pytest.raises(ValueError, match="window"):
        bm.dynamics.derivatives(np.zeros(9), np.arange(9.0), "savgol", window=4)
