"""When feet stand, by their heights and speeds alone; how far they slide; and a root that follows them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bodymotion as bm
from bodymotion.dynamics import foot_slips, measure
from bodymotion.kernels.feet import stances
from sample_files import tries

HEIGHT, SPEED = (0.005, 0.01), (0.15, 0.3)
T = np.arange(301) / 100


def stand(heights, speeds, times=T):
    """Return where feet stand (T, K); one number is for all frames."""
    high, fast = (
        np.atleast_2d(
            np.broadcast_to(values, (1, len(times))) if np.ndim(values) < 1 else values
        )
        for values in (heights, speeds)
    )
    found = stances(high.T.astype(float), fast.T.astype(float), times, HEIGHT, SPEED)
    return found[:, 0] > 0 if found.shape[1] == 1 else found > 0


def swing(times, apex, begin=1.0, end=2.0):
    """Return height and speed of a foot that swings once."""
    wave = np.where(
        (times > begin) & (times < end),
        np.sin(np.pi * (times - begin) / (end - begin)),
        0.0,
    )
    return apex * wave**2, 0.8 * wave**2


@pytest.mark.parametrize("rate", [20, 50, 200, 1000])
@pytest.mark.parametrize("noise", [0.0, 0.0005])
def test_a_foot_stands_until_it_climbs_and_from_when_it_is_down(rate, noise):
    """To one frame, and the first millimetre of the climb; also where heights tremble by half of one."""
    times = np.arange(3 * rate + 1) / rate
    height, speed = swing(times, 0.05)
    found = stand(
        height + noise * np.random.default_rng(1).uniform(-1, 1, len(times)),
        speed,
        times,
    )
    on = height == 0
    assert found[on].mean() > 0.97
    assert not found[height > 0.0025 + noise].any()
    assert found[[0, -1]].all()


def test_a_slow_climb_is_no_stance():
    """It takes 0.4 s for the first 10 mm, and slides 15 mm meanwhile."""
    height = np.where(T > 1, 0.025 * (T - 1), 0.0)
    for way in (height, height[::-1]):
        found = stand(way, 0.04)
        assert found[way < 0.0009].all() and not found[way > 0.0013].any()


@pytest.mark.parametrize("speed", [0.05, 0.2, 0.5, 3.0])
def test_what_is_dragged_stands(speed):
    trembling = 0.002 * np.random.default_rng(0).normal(size=len(T))
    assert stand(0.0, speed).all()
    assert stand(trembling, speed).all()
    assert stand(np.full(len(T), 0.004), speed).all(), "the only foot there is"


def test_what_swings_low_does_not_stand():
    """3 mm above a ground on which the other foot stands."""
    height, speed = swing(T, 0.003)
    found = stand([height, 0 * T], [speed, 0 * T])
    assert found[:, 1].all()
    assert not found[speed > 0.31, 0].any()
    assert found[(T < 1) | (T > 2.1), 0].all()


def test_a_short_slip_is_a_slip_and_a_short_scuff_is_part_of_the_swing():
    slip = np.where((T > 1) & (T < 1.06), 0.6, 0.0)
    assert stand(0.0, slip).all()
    coming = np.where(T < 1, 0.1, 0.0005)
    fast = np.where(T < 1.06, 0.6, 0.0)
    np.testing.assert_array_equal(stand(coming, fast), T >= 1.06)
    assert stand(coming, np.where(T < 1.5, 0.6, 0.0))[T >= 1].all(), (
        "half a second is no scuff"
    )
    assert stand(np.where(T < 1, 0.1, 0.0), fast)[T >= 1].all(), (
        "on the ground it touches"
    )


def test_a_foot_that_settles_higher_stands_there():
    assert stand(np.where(T > 2, 0.004, 0.0), 0.0).all()
    assert stand(0.008 * T / 3, 0.0).all(), "so slowly nobody steps"


def test_frames_without_numbers_are_no_stance_and_end_none():
    height = np.where((T > 1) & (T < 1.1), np.nan, 0.0)
    np.testing.assert_array_equal(stand(height, 0.0), np.isfinite(height))
    np.testing.assert_array_equal(stand(0.0, height), np.isfinite(height))
    assert (
        stand(np.zeros(1), np.ones(1), T[:1]).all()
        and stand(np.zeros(2), np.ones(2), T[:2]).all()
    )
    assert stances(np.zeros((0, 2)), np.zeros((0, 2)), T[:0], HEIGHT, SPEED).shape == (
        0,
        2,
    )


def slid(velocity, standing=True, crawls=False):
    zero = np.zeros((len(T), 1))
    on = np.broadcast_to(np.reshape(standing, (-1, 1)), zero.shape)
    moving = np.stack([velocity[0], velocity[1], 0 * T], axis=1)[:, None]
    speeds = np.where(on, np.linalg.norm(moving, axis=2), 0.0)
    contacts = bm.dynamics.Contacts(
        (0,), ("A",), on, zero, np.zeros((len(T), 1, 3)), moving, speeds, (crawls,)
    )
    return foot_slips(contacts, T)


def test_a_slide_is_the_way_in_a_stance_and_its_moment_the_fastest():
    """Half a circle of 0.1 m, fastest in its middle."""
    pace = np.pi * np.sin(np.pi * T / 3) * np.pi / 6
    angle = np.pi / 2 * (1 - np.cos(np.pi * T / 3))
    (one,) = slid((0.1 * pace * np.cos(angle), 0.1 * pace * np.sin(angle)))
    assert one.way == pytest.approx(0.1 * np.pi, rel=0.01)
    assert abs(T[one.fastest] - 1.5) < 0.06
    assert (one.first, one.last) == (0, 300)
    parts = slid((np.ones(len(T)), 0 * T), (T < 1) | (T >= 2))
    np.testing.assert_allclose([part.way for part in parts], [0.99, 1.0], atol=1e-9)
    assert slid((T, T), crawls=True) == ()


def test_what_trembles_goes_nowhere():
    (one,) = slid((0.05 * np.cos(np.pi * np.arange(len(T))), 0 * T))
    assert one.way < 0.002


@settings(max_examples=tries(15), deadline=None)
@given(st.integers(0, 999), st.sampled_from([5, 50]))
def test_a_root_on_its_feet_flies_at_no_time(seed, rate):
    """Four legs that go up and down each as it likes, all of them on the ground in the first frame."""
    rng = np.random.default_rng(seed)
    times = np.arange(60) / rate
    q = (
        0.1
        * rng.uniform(0, 1, 4)
        * np.sin(np.outer(times * rate / 20, rng.uniform(-3, 3, 4)))
    )
    seat = bm.Link(
        name="SEAT",
        joint=bm.Joint(type="free"),
        segments=(bm.Segment(mass=8.0, inertia=np.eye(3)),),
    )
    sole = bm.Segment(
        mass=1.0,
        inertia=np.eye(3),
        visuals=(bm.shapes.Shape(bm.shapes.Box((0.1, 0.1, 0.02))),),
    )
    places = [(0.2, 0.2), (0.2, -0.2), (-0.2, 0.2), (-0.2, -0.2)]
    legs = [
        bm.Link(
            name=f"LEG{k}",
            index=1 + k,
            parent=0,
            offset=[x, y, -0.5, 1, 0, 0, 0],
            joint=bm.Joint(type="slide", id=k, axis=[0, 0, 1]),
            segments=(sole,),
        )
        for k, (x, y) in enumerate(places)
    ]
    measures = measure(bm.Body(links=(seat, *legs)), bm.Motion.from_joints(q, rate))
    assert measures.contacts.names == ("LEG0", "LEG1", "LEG2", "LEG3")
    assert measures.contacts.in_contact.any(axis=1).all()
    np.testing.assert_allclose(measures.contacts.heights.min(axis=1), 0, atol=1e-12)


def test_what_falls_through_the_ground_does_not_stand():
    box = bm.Segment(
        mass=2.0,
        inertia=np.eye(3),
        visuals=(bm.shapes.Shape(bm.shapes.Box((0.2, 0.2, 0.2))),),
    )
    body = bm.Body(
        links=(bm.Link(name="BOX", joint=bm.Joint(type="free"), segments=(box,)),)
    )
    root = np.zeros((len(T), 7))
    root[:, 2], root[:, 3] = 3.0 - 0.5 * 9.80665 * T**2, 1.0
    motion = bm.Motion.from_joints(np.zeros((len(T), 0)), 100, root=root)
    assert not measure(body, motion, ground=0.0).contacts.in_contact.any()
