"""Cameras: what is to be seen is in the picture and fills it, and points are where a camera of that place would show them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bodymotion.scene.camera import MARGIN, PRESETS, fitted, looking, smoothed_path
from sample_files import tries

SIZES = [(640, 360), (300, 700), (512, 512)]
numbers = st.floats(-5.0, 5.0, allow_nan=False)
clouds = (
    st.lists(st.tuples(numbers, numbers, numbers), min_size=2, max_size=30)
    .map(np.array)
    .filter(lambda cloud: np.ptp(cloud, axis=0).max() > 0.05)
)


@settings(max_examples=tries(60))
@given(
    cloud=clouds,
    name=st.sampled_from(sorted(PRESETS)),
    size=st.sampled_from(SIZES),
    flat=st.booleans(),
)
def test_a_fitted_camera_sees_everything_and_wastes_no_room(cloud, name, size, flat):
    camera = fitted(cloud, PRESETS[name], size, flat=flat)
    seen = camera.project(cloud, size) / size
    assert np.isfinite(seen).all()
    assert (seen >= MARGIN - 1e-6).all() and (seen <= 1 - MARGIN + 1e-6).all()
    filled = np.ptp(seen, axis=0).max()
    # A camera stays away from things that have depth alone.
    assert (
        filled > 1 - 2 * MARGIN - 1e-6
        or np.ptp(cloud @ camera.axes[:2].T, axis=0).max()
        < 0.6 * np.ptp(cloud, axis=0).max()
    )


def test_a_point_is_seen_where_the_rules_of_perspective_put_it():
    camera = looking((-2.0, 0.0, 1.0), (0.0, 0.0, 1.0))
    scale = 0.5 * 400 / np.tan(0.5 * camera.field_of_view)
    # From -x one looks along +x, so that +y is on the left.
    np.testing.assert_allclose(
        camera.project([0.0, 0.5, 1.25], (600, 400)),
        [300 - scale * 0.25, 200 - scale * 0.125],
    )
    assert np.isnan(camera.project([-3.0, 0.0, 1.0], (600, 400))).all()


def test_presets_look_from_where_they_say():
    cloud = np.random.default_rng(1).normal(size=(20, 3))
    for name, axis, sign in (
        ("front", 0, 1),
        ("back", 0, -1),
        ("left", 1, 1),
        ("right", 1, -1),
        ("top", 2, 1),
    ):
        camera = fitted(cloud, PRESETS[name], (640, 360))
        away = camera.position - cloud.mean(axis=0)
        assert np.argmax(np.abs(away)) == axis and np.sign(away[axis]) == sign, name


@pytest.mark.parametrize("place", [(1, 2, 3), (np.inf, 0, 0)])
def test_a_camera_that_looks_at_itself_or_nowhere_is_refused(place):
    with pytest.raises(ValueError, match="finite and different"):
        looking(place, (1, 2, 3))


def test_a_following_camera_goes_smoothly_with_the_root():
    times = np.arange(0, 10, 1 / 30)
    steady = np.stack([0.5 * times, np.zeros_like(times), np.ones_like(times)], axis=1)
    np.testing.assert_allclose(smoothed_path(steady, 1 / 30), steady, atol=1e-9)
    swaying = steady + np.stack(
        [0 * times, 0.05 * np.sin(2 * np.pi * 2 * times), 0 * times], axis=1
    )
    path = smoothed_path(swaying, 1 / 30)
    assert np.abs(path[20:-20, 1]).max() < 0.1 * 0.05
    assert np.abs(path - swaying).max() < 0.12
    for count in (1, 2, 3):
        assert smoothed_path(steady[:count], 1 / 30).shape == (count, 3)
