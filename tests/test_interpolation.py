"""What is between frames: the document's examples by hand, SciPy as a second opinion, and laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicSpline, PchipInterpolator
from scipy.spatial.transform import Rotation, RotationSpline, Slerp

from bodymotion.geometry import arrays, poses, rotations
from bodymotion.motion import Motion, MultiSE3Seq, MultiValueSeq
from bodymotion.motion.components import Timeline
from bodymotion.motion.interpolation import (
    find_wraps,
    held_frames,
    resampled,
    sampled,
    unwrapped,
)
from bodymotion.motion.interpolation.lowpass import gaussian, taps
from sample_files import tries

METHODS = ["after", "nearest", "before", "linear", "cubic", "pchip"]
SMOOTH = ["linear", "cubic", "pchip"]
DOCUMENT = Timeline.stamped([0.0, 0.1, 0.3, 0.4, 0.7])


def moving(seed, count, links=1, turn=1.0, gap=(0.01, 1.0)):
    """Make times (T,) and poses (T, L, 7) that turn by about `turn` from frame to frame, with either sign of the quaternion."""
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.uniform(*gap, count))
    values = rng.normal(size=(count, links, 7))
    for link in range(links):
        now = Rotation.random(rng=rng)
        for frame in range(count):
            values[frame, link, 3:] = now.as_quat(scalar_first=True) * rng.choice(
                [-1, 1]
            )
            axis = rng.normal(size=3)
            now = now * Rotation.from_rotvec(
                axis / np.linalg.norm(axis) * turn * rng.uniform(0, 1)
            )
    return times, values


def same_turn(a, b, tolerance):
    return np.minimum(np.abs(a - b).max(-1), np.abs(a + b).max(-1)).max() < tolerance


# The import of the documents, by hand: source frames 0 to 4 at 0, 0.1, 0.3, 0.4, 0.7 s.


@pytest.mark.parametrize("method", ["after", "nearest", "before"])
def test_the_documents_example_at_100_hz(method):
    frames = [0] * 10 + [1] * 20 + [2] * 10 + [3] * 30 + [4]
    assert held_frames(DOCUMENT, 100, 71, method).tolist() == frames
    rows = [[0.0, 0.0], [0.01, 0.01], [0.01, 0.02], [0.02, 0.03], [2, 0.04]]
    motion = Motion(
        (MultiValueSeq(content="JointDisplacement", timeline=DOCUMENT, values=rows),)
    ).resample(100, method)
    assert motion.joint_displacement.values.tolist() == [rows[k] for k in frames]
    assert (motion.frame_rate, motion.num_frames) == (100, 71)


@pytest.mark.parametrize(
    ("rate", "method", "frames"),
    [
        # At 4 Hz the sources are at frames 0, 0.4, 1.2, 1.6 and 2.8.
        (4, "after", [0, 1, 3, 4]),
        (4, "nearest", [1, 2, 3, 4]),
        (4, "before", [1, 3, 4]),
        # At 25 Hz they are at frames 0, 2.5, 7.5, 10 and 17.5.
        (25, "after", [0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 4]),
        (25, "nearest", [0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 4]),
        (25, "before", [0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 4]),
    ],
)
def test_the_documents_example_at_other_rates(rate, method, frames):
    values = MultiValueSeq(
        content="JointDisplacement", timeline=DOCUMENT, values=np.arange(5.0)[:, None]
    )
    assert (
        Motion((values,))
        .resample(rate, method)
        .joint_displacement.values[:, 0]
        .tolist()
        == frames
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rate", [50, 100, 200, 500])
def test_stamps_on_the_grid_land_on_their_frame(method, rate):
    count = 20_000
    row = np.arange(count, dtype=float)[:, None]
    for stamps in (
        np.arange(count) / rate,
        [float(f"{k / rate:.6f}") for k in range(count)],
    ):
        found = Motion(
            (MultiValueSeq(content="X", timeline=Timeline.stamped(stamps), values=row),)
        ).resample(rate, method)
        assert np.array_equal(found.components[0].values, row)


@pytest.mark.parametrize("method", ["after", "nearest", "before"])
@pytest.mark.parametrize("rate", [24, 30, 60, 75, 120, 240, 333.333])
def test_six_digits_of_a_time_are_enough(method, rate):
    stamps = Timeline.stamped([float(f"{k / rate:.6f}") for k in range(3000)])
    assert np.array_equal(held_frames(stamps, rate, 3000, method), np.arange(3000))


# What SciPy says.


@given(st.integers(0, 10_000), st.integers(2, 12))
@settings(max_examples=tries(40), deadline=None)
def test_cubic_and_pchip_are_those_of_scipy(seed, count):
    rng = np.random.default_rng(seed)
    times, values = np.cumsum(rng.uniform(0.05, 1, count)), rng.normal(size=(count, 3))
    values[rng.random(size=values.shape) < 0.3] = 0.5
    at = rng.uniform(times[0], times[-1], 50)
    assert np.allclose(
        sampled(values, times, at, "cubic"),
        CubicSpline(times, values)(at),
        rtol=1e-9,
        atol=1e-9,
    )
    assert np.allclose(
        sampled(values, times, at, "pchip"),
        PchipInterpolator(times, values)(at),
        rtol=1e-12,
        atol=1e-12,
    )


@given(
    st.integers(0, 10_000),
    st.integers(2, 9),
    st.sampled_from([1e-9, 1e-4, 0.3, 0.5, 1.0, 3.0]),
)
@settings(max_examples=tries(60), deadline=None)
def test_orientations_are_those_of_scipys_slerp(seed, count, turn):
    times, values = moving(seed, count, links=2, turn=turn)
    at = np.random.default_rng(seed).uniform(times[0], times[-1], 40)
    for method in ("linear", "pchip"):
        found = sampled(values, times, at, method)
        for link in range(2):
            expected = Slerp(
                times, Rotation.from_quat(values[:, link, 3:], scalar_first=True)
            )(at)
            assert same_turn(
                found[:, link, 3:], expected.as_quat(scalar_first=True), 1e-12
            )


@given(
    st.integers(0, 10_000), st.integers(2, 9), st.sampled_from([1e-9, 1e-3, 0.1, 1.0])
)
@settings(max_examples=tries(40), deadline=None)
def test_smooth_orientations_are_those_of_scipys_spline(seed, count, turn):
    times, values = moving(seed, count, turn=turn, gap=(0.2, 0.4))
    at = np.random.default_rng(seed).uniform(times[0], times[-1], 40)
    expected = RotationSpline(
        times, Rotation.from_quat(values[:, 0, 3:], scalar_first=True)
    )(at)
    assert same_turn(
        sampled(values, times, at, "cubic")[:, 0, 3:],
        expected.as_quat(scalar_first=True),
        1e-7,
    )


def test_positions_of_poses_follow_their_method():
    times, values = moving(3, 7, links=2)
    at = np.linspace(times[0], times[-1], 30)
    for method in SMOOTH:
        numbers = sampled(values[..., :3].reshape(7, 6), times, at, method)
        assert np.array_equal(
            sampled(values, times, at, method)[..., :3].reshape(30, 6), numbers
        )


def test_the_rotation_spline_has_no_jump_in_speed_or_acceleration():
    times, values = moving(1, 6, turn=2.0, gap=(0.3, 0.6))
    step = 1e-4

    def speeds(t):
        q = sampled(values, times, t + step * np.arange(-2, 3), "cubic")[:, 0, 3:]
        turns = Rotation.from_quat(q, scalar_first=True)
        return (turns[:-1].inv() * turns[1:]).as_rotvec() / step

    for knot in times[1:-1]:
        speed = speeds(knot)
        acceleration = np.diff(speed, axis=0) / step
        assert np.abs(np.diff(acceleration, axis=0)).max() < 0.1
        assert np.abs(acceleration).max() < 1e3


# Laws.


@pytest.mark.parametrize("method", METHODS)
@given(st.integers(0, 1000), st.integers(1, 8))
@settings(max_examples=tries(10), deadline=None)
def test_on_a_source_frame_is_what_stands_there_and_outside_it_holds(
    method, seed, count
):
    rng = np.random.default_rng(seed)
    frames = np.cumsum(rng.integers(1, 5, count))
    values = rng.normal(size=(count, 2, 7))
    found = resampled(
        values, Timeline.stamped(frames / 100), 100, frames[-1] + 4, method
    )
    assert np.array_equal(found[frames], values)
    assert np.array_equal(found[: frames[0]], np.repeat(values[:1], frames[0], axis=0))
    assert np.array_equal(found[frames[-1] :], np.repeat(values[-1:], 4, axis=0))


@pytest.mark.parametrize("method", SMOOTH)
def test_what_moves_evenly_stays_even(method):
    times = np.cumsum(np.random.default_rng(0).uniform(0.1, 1, 9))
    at = np.linspace(times[0], times[-1], 50)
    line = np.stack([2 * times + 1, -times], axis=1)
    assert np.allclose(
        sampled(line, times, at, method),
        np.stack([2 * at + 1, -at], axis=1),
        atol=1e-12,
    )
    spin = poses.from_parts(
        np.zeros(3), rotations.from_axis_angle([1, 2, 2], 1.5 * times)
    )[:, None]
    expected = rotations.from_axis_angle([1, 2, 2], 1.5 * at)
    assert same_turn(sampled(spin, times, at, method)[:, 0, 3:], expected, 1e-12)


@pytest.mark.parametrize("method", SMOOTH)
@pytest.mark.parametrize("antialias", [False, True])
def test_turning_the_world_before_or_after_is_the_same(method, antialias):
    _, values = moving(5, 60, links=2, turn=0.2)
    by = np.array([1, -2, 0.5, *rotations.from_rpy([0.3, -1, 2.5])])
    timeline = Timeline.uniform(60, 100)
    before = resampled(
        poses.compose(by, values), timeline, 30, 18, method, antialias=antialias
    )
    after = poses.compose(
        by, resampled(values, timeline, 30, 18, method, antialias=antialias)
    )
    if method != "pchip":  # which looks at each of x, y, z alone
        assert np.allclose(before[..., :3], after[..., :3], atol=1e-9)
    assert same_turn(before[..., 3:], after[..., 3:], 1e-9)


@given(st.integers(0, 1000))
@settings(max_examples=tries(20), deadline=None)
def test_pchip_does_not_overshoot(seed):
    rng = np.random.default_rng(seed)
    times, values = np.cumsum(rng.uniform(0.1, 1, 8)), rng.normal(size=(8, 2))
    for i in range(7):
        inside = sampled(
            values, times, np.linspace(times[i], times[i + 1], 20), "pchip"
        )
        low, high = np.sort(values[i : i + 2], axis=0)
        assert np.all(inside >= low - 1e-12)
        assert np.all(inside <= high + 1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_frames(method, antialias, count):
    _, values = moving(2, count)
    found = resampled(
        values, Timeline.uniform(count, 10), 8, count, method, antialias=antialias
    )
    if method in SMOOTH:
        assert np.allclose(found[0, :, :3], values[0, :, :3])
        assert same_turn(found[0, :, 3:], rotations.normalized(values[0, :, 3:]), 1e-12)
    assert (
        len(
            resampled(
                values,
                Timeline.stamped(np.arange(count) + 0.5),
                100,
                500,
                method,
                antialias=antialias,
            )
        )
        == 500
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("antialias", [False, True])
def test_numbers_that_are_not_finite_spoil_only_their_surroundings(method, antialias):
    values = np.random.default_rng(0).normal(size=(200, 3))
    values[100:103, 1], values[100:103, 2] = np.nan, np.inf
    found = resampled(
        values, Timeline.uniform(200, 100), 45, 90, method, antialias=antialias
    )
    assert np.isfinite(found[:, 0]).all()
    assert np.isfinite(found[np.r_[:42, 49:90]]).all()
    assert not np.isfinite(found[45, 1])
    broken = np.full((5, 2, 7), np.nan)
    broken[2] = 0
    assert resampled(
        broken, Timeline.uniform(5, 10), 7, 3, method, antialias=antialias
    ).shape == (3, 2, 7)


@pytest.mark.parametrize("method", METHODS)
def test_times_must_increase(method):
    for stamps, said in (
        ([0, 1, 1], "frame 2 is at 1 s and the one before it at 1 s"),
        ([0, np.nan, 1], "frame 1 has no"),
    ):
        with pytest.raises(ValueError, match=said):
            resampled(np.zeros((3, 1)), Timeline.stamped(stamps), 10, 5, method)


def test_methods_are_named_when_there_is_none():
    with pytest.raises(
        ValueError, match="after, nearest, before, linear, cubic, pchip"
    ):
        resampled(np.zeros((2, 1)), Timeline.uniform(2, 10), 20, 3, "spline")
    with pytest.raises(ValueError, match="holds values"):
        sampled(np.zeros((2, 1)), np.arange(2.0), [0.5], "after")


# The low-pass.


@pytest.mark.parametrize("fine", [2, 3, 10])
def test_the_filter_is_scipys_window_design(fine):
    from scipy.signal import firwin  # it loads all of SciPy's statistics

    expected = firwin(2 * 12 * fine + 1, 0.425, window=("kaiser", 5.653), fs=fine)
    assert np.allclose(taps(fine), expected, atol=1e-12)


def waves(rate, seconds, hertz):
    times = np.arange(int(rate * seconds) + 1) / rate
    return Timeline.uniform(len(times), rate), np.sin(2 * np.pi * hertz * times + 0.3)[
        :, None
    ]


@pytest.mark.parametrize("rate", [1000, 730])
def test_slow_movement_passes_and_fast_movement_does_not(rate):
    timeline, slow = waves(rate, 2, 20)
    found = resampled(slow, timeline, 100, 201, "cubic", antialias=True)
    expected = np.sin(2 * np.pi * 20 * np.arange(201) / 100 + 0.3)
    assert np.allclose(found[15:-15, 0], expected[15:-15], atol=2e-3)
    timeline, fast = waves(rate, 2, 70)
    assert (
        np.abs(
            resampled(fast, timeline, 100, 201, "cubic", antialias=True)[15:-15]
        ).max()
        < 2e-3
    )
    assert np.abs(resampled(fast, timeline, 100, 201, "cubic")[15:-15]).max() > 0.9


def test_the_filter_keeps_even_movement_ends_and_rates_that_go_up():
    timeline = Timeline.uniform(400, 1000)
    line = np.stack([timeline.times * 3 - 1, np.ones(400)], axis=1)
    found = resampled(line, timeline, 90, 36, "linear", antialias=True)
    assert np.allclose(
        found, np.stack([np.arange(36) / 30 - 1, np.ones(36)], axis=1), atol=1e-12
    )
    noise = np.random.default_rng(0).normal(size=(400, 2))
    down = resampled(noise, timeline, 100, 60, "after", antialias=True)
    assert np.allclose(down[0], noise[0], atol=1e-12)
    assert np.array_equal(down[40:], np.repeat(noise[-1:], 20, axis=0))
    assert np.array_equal(
        resampled(noise, timeline, 1500, 500, "linear", antialias=True),
        resampled(noise, timeline, 1500, 500, "linear"),
    )


@pytest.mark.parametrize("method", METHODS)
def test_frames_that_are_very_close_make_no_endless_filter(method):
    values = np.arange(5.0)[:, None]
    burst = np.array([0, 1e-9, 2e-9, 3e-9, 100])
    for timeline in (
        Timeline.uniform(5, 1e9),
        Timeline.stamped(burst[:4] + 1),
        Timeline.stamped(burst),
    ):
        found = resampled(
            values[: timeline.num_frames], timeline, 3, 301, method, antialias=True
        )
        assert found[-1, 0] == timeline.num_frames - 1


def test_a_turn_at_constant_speed_passes_the_filter():
    times = np.arange(2000) / 1000
    spin = poses.from_parts(
        np.zeros(3), rotations.from_axis_angle([0, 1, 1], 9 * times)
    )[:, None]
    found = resampled(
        spin, Timeline.uniform(2000, 1000), 50, 100, "linear", antialias=True
    )
    assert same_turn(
        found[:, 0, 3:],
        rotations.from_axis_angle([0, 1, 1], 9 * np.arange(100) / 50),
        1e-9,
    )
    assert np.allclose(np.linalg.norm(found[..., 3:], axis=-1), 1)


def test_the_bell_damps_its_cutoff_by_3_decibels():
    weights = gaussian(0.03)
    frames = np.arange(len(weights)) - len(weights) // 2
    assert np.isclose(
        np.sum(weights * np.cos(2 * np.pi * 0.03 * frames)), np.sqrt(0.5), atol=1e-5
    )


# Angles that jump.


@given(st.integers(0, 1000), st.integers(2, 60))
@settings(max_examples=tries(30), deadline=None)
def test_wrapped_angles_are_found_and_made_whole(seed, count):
    rng = np.random.default_rng(seed)
    angles = np.cumsum(rng.uniform(-0.9, 0.9, (count, 3)), axis=0)
    wrapped = (angles + np.pi) % (2 * np.pi) - np.pi
    assert np.allclose(unwrapped(wrapped), angles - angles[0] + wrapped[0])
    jumps = np.abs(np.diff(wrapped, axis=0)) > np.pi
    assert [(w.frame - 1, w.part) for w in find_wraps(wrapped)] == [
        tuple(at) for at in np.argwhere(jumps)
    ]


def test_a_slide_of_metres_or_a_quick_move_is_no_wrap():
    assert find_wraps(np.array([[0.0, 0.0], [4.0, -5.0], [np.nan, 1e300]])) == ()
    (wrap,) = find_wraps(np.array([[0.0, 3.1], [0.1, -3.1], [0.2, -3.0]]))
    assert (wrap.frame, wrap.part, wrap.turns) == (1, 1, -1)


def angles_over_pi(rate=100):
    table = [[3.0], [3.1], [-3.1], [-3.0]]
    return Motion(
        (
            MultiValueSeq(
                content="JointDisplacement",
                timeline=Timeline.uniform(4, rate),
                values=table,
            ),
        )
    )


def test_wraps_are_noticed_when_values_are_interpolated():
    motion = angles_over_pi()
    (problem,) = motion.resample(200, "linear").problems
    assert (problem.rule, problem.severity) == ("EDIT101", "warning")
    assert "frame 2" in problem.message
    assert motion.resample(200, "after").problems == ()
    whole = motion.resample(200, "linear", unwrap=True)
    assert whole.problems == ()
    assert np.all(np.diff(whole.joint_displacement.values[:, 0]) > 0)


# Motions.


def test_resampling_needs_a_rate_from_somewhere():
    stamped = MultiValueSeq(
        content="X", timeline=Timeline.stamped([0, 0.5]), values=[[0], [1]]
    )
    with pytest.raises(ValueError, match="choose a frame_rate"):
        Motion((stamped,)).resample()
    wished = MultiValueSeq(
        content="X",
        timeline=Timeline.stamped([0, 0.5], import_rate=4),
        values=[[0], [1]],
    )
    assert Motion((wished,)).resample(method="linear").components[0].values[
        :, 0
    ].tolist() == [0, 0.5, 1]
    for wrong in (0, -1, np.nan, np.inf):
        with pytest.raises(ValueError, match="positive, finite"):
            Motion((wished,)).resample(wrong)


@pytest.mark.parametrize("method", METHODS)
def test_a_start_makes_stamps_of_a_clock_usable(method):
    stamps = Timeline.stamped(1.7e9 + np.array([0.0, 0.5, 1.0]))
    motion = Motion(
        (MultiValueSeq(content="X", timeline=stamps, values=[[0], [1], [2]]),)
    )
    found = motion.resample(4, method, start=1.7e9).components[0].values[:, 0]
    assert found.tolist() == (
        [0, 0.5, 1, 1.5, 2] if method in SMOOTH else [0, 0, 1, 1, 2]
    )


def test_what_does_not_fit_into_memory_is_said_before(monkeypatch):
    monkeypatch.setattr(arrays, "available_memory", lambda: 10_000)
    motion = Motion(
        (
            MultiValueSeq(
                content="X", timeline=Timeline.stamped([0, 1e6]), values=[[0], [1]]
            ),
        )
    )
    with pytest.raises(MemoryError, match="of 100000001 frames would need"):
        motion.resample(100)


def test_a_low_pass_across_missing_numbers_is_said():
    values = np.ones((40, 2))
    values[[3, 5], 1] = np.nan
    motion = Motion(
        (MultiValueSeq(content="X", timeline=Timeline.uniform(40, 100), values=values),)
    )
    (problem,) = motion.resample(25, "linear", antialias=True).problems
    assert problem.rule == "EDIT106" and "not finite: 2" in problem.message
    assert not motion.resample(200, "linear", antialias=True).problems
    assert not motion.resample(25, "linear").problems


def test_everything_else_of_a_component_stays():
    component = MultiSE3Seq(
        content="LinkPosition",
        timeline=Timeline.uniform(3, 10),
        values=np.tile(poses.IDENTITY, (3, 1, 1)),
        part_labels=("root",),
        extra={"note": 1},
    )
    motion = Motion((component,), extra={"top": "x"})
    for method in METHODS:
        found = motion.resample(25, method)
        assert (found.components[0].part_labels, found.components[0].extra) == (
            ("root",),
            {"note": 1},
        )
        assert (found.extra, found.source, found.num_frames) == (
            motion.extra,
            motion.source,
            6,
        )
        assert motion.resample(10, method) == motion
