"""Devices by themselves: the rays of range sensors, what cameras see."""

from __future__ import annotations

import math
import tracemalloc

import pytest

from bodymotion.model.links import RangeSensor, VisionSensor, angle_over


@pytest.mark.parametrize(
    ("angle", "step", "rays"),
    [
        (1.0, 0.25, 5),
        (1.0, 0.3, 3),
        (0.0, 0.1, 1),
        (1.0, 0.0, 1),
        (-1.0, 0.1, 1),
        (1.0, 2.0, 1),
        (0.0, math.inf, 1),
    ],
)
def test_rays_stand_on_both_sides_of_the_middle(angle, step, rays):
    sensor = RangeSensor(scan_angle=angle, scan_step=step)
    assert sensor.num_rays == rays
    assert sensor.ray_angles.tolist() == [
        k * step if k else 0.0 for k in range(-(rays // 2), rays // 2 + 1)
    ]


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
    assert (
        RangeSensor(scan_angle=value).num_rays
        == RangeSensor(scan_step=value).num_rays
        == 1
    )


@pytest.mark.parametrize(
    ("width", "height"), [(320, 240), (240, 320), (7, 7), (1, 998)]
)
def test_the_angles_of_a_camera_belong_to_the_sides_of_its_picture(width, height):
    camera = VisionSensor(field_of_view=1.2, width=width, height=height)
    shorter = min(width, height)
    for side, half in zip((width, height), camera.half_size, strict=True):
        angle = angle_over(1.2, shorter, side)
        assert math.isclose(angle, 2 * math.atan(half), rel_tol=1e-12)
        assert math.isclose(angle_over(angle, side, shorter), 1.2, rel_tol=1e-9)


@pytest.mark.parametrize(
    ("angle", "pixels"),
    [(0.0, 3), (math.pi, 3), (7.0, 3), (math.nan, 3), (1.0, 0), (1.0, -2)],
)
def test_what_is_no_angle_of_a_camera_stays(angle, pixels):
    assert angle_over(angle, pixels, 6) is angle
