"""Devices by themselves: the rays of range sensors."""

from __future__ import annotations

import math
import tracemalloc

import pytest

from bodymotion.devices import RangeSensor


@pytest.mark.parametrize(
    ("angle", "step", "rays"),
    [(1.0, 0.25, 5), (1.0, 0.3, 3), (0.0, 0.1, 1), (1.0, 0.0, 1), (-1.0, 0.1, 1), (1.0, 2.0, 1), (0.0, math.inf, 1)],
)
def test_rays_stand_on_both_sides_of_the_middle(angle, step, rays):
    sensor = RangeSensor(scan_angle=angle, scan_step=step)
    assert sensor.num_rays == rays
    assert sensor.ray_angles.tolist() == [k * step if k else 0.0 for k in range(-(rays // 2), rays // 2 + 1)]


@pytest.mark.parametrize("step", [1e-7, 1e-300, 5e-324])
def test_rays_without_number_are_counted_and_not_laid_out(step):
    """A step that is far too small costs no memory: there are more rays than a model can mean."""
    sensor = RangeSensor(name="eye", scan_angle=6.28, scan_step=step)
    tracemalloc.start()
    try:
        assert sensor.num_rays > 10**7
        with pytest.raises(ValueError, match="eye has"):
            _ = sensor.ray_angles
        assert tracemalloc.get_traced_memory()[1] < 10**6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_rays_of_no_number(value):
    assert RangeSensor(scan_angle=value).num_rays == RangeSensor(scan_step=value).num_rays == 1
