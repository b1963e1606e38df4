"""The player's laws: where it stands is always a frame, and time goes as the clock says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bodymotion import Timeline
from bodymotion.viewer.player import SPEEDS, Player

uniform = st.builds(Timeline.uniform, st.integers(1, 400), st.floats(0.5, 1000))
gaps = st.lists(st.floats(1e-3, 2.0), min_size=0, max_size=50)
stamped = st.builds(
    lambda start, steps: Timeline.stamped(start + np.cumsum([0.0, *steps])),
    st.floats(-5, 5),
    gaps,
)
timelines = st.one_of(uniform, stamped)


@given(timelines, st.data())
def test_every_frame_can_be_gone_to(timeline: Timeline, data: st.DataObject) -> None:
    player = Player(timeline)
    frame = data.draw(st.integers(0, timeline.num_frames - 1))
    player.seek_frame(frame)
    assert player.frame == frame


@given(timelines, st.floats(-1e9, 1e9))
def test_any_time_gives_the_last_frame_at_or_before_it(
    timeline: Timeline, time: float
) -> None:
    player = Player(timeline)
    player.seek(time)
    assert player.start <= player.time <= player.end
    before = np.flatnonzero(timeline.times <= player.time + 1e-6)
    assert player.frame == max(before.max(initial=0), 0)


@given(timelines, st.integers(-500, 500))
def test_a_step_goes_that_many_frames_and_pauses(
    timeline: Timeline, steps: int
) -> None:
    player = Player(timeline)
    player.play()
    player.seek_frame(timeline.num_frames // 2)
    player.step(steps)
    assert not player.playing
    assert player.frame == min(
        max(timeline.num_frames // 2 + steps, 0), timeline.num_frames - 1
    )


@given(
    st.integers(2, 300),
    st.floats(1, 500),
    st.floats(0.1, 4),
    st.lists(st.floats(0, 0.2), max_size=30),
)
def test_without_loop_time_adds_up_and_stops_at_the_end(
    frames: int, rate: float, speed: float, ticks: list[float]
) -> None:
    player = Player(Timeline.uniform(frames, rate), loop=False, speed=speed)
    player.play()
    for seconds in ticks:
        player.advance(seconds)
    expected = sum(ticks) * speed
    assert player.time == pytest.approx(min(expected, player.end), abs=1e-9)
    assert player.playing == (expected < player.end) or expected == pytest.approx(
        player.end
    )


@given(st.integers(2, 300), st.floats(1, 500), st.lists(st.floats(0, 10), max_size=20))
def test_with_loop_time_goes_round(
    frames: int, rate: float, ticks: list[float]
) -> None:
    player = Player(Timeline.uniform(frames, rate))
    player.play()
    for seconds in ticks:
        player.advance(seconds)
    period = frames / rate
    apart = (player.time - sum(ticks)) / period
    assert abs(apart - round(apart)) * period < 1e-6 * max(1.0, sum(ticks))
    assert player.playing and 0 <= player.frame < frames


def test_the_whole_path_of_speeds() -> None:
    player = Player(Timeline.uniform(10, 10))
    for _ in SPEEDS:
        player.change_speed("slower")
    up = [player.speed]
    for _ in SPEEDS:
        player.change_speed("faster")
        up.append(player.speed)
    assert up == [*SPEEDS, SPEEDS[-1]]
    player.set_speed(99.0)
    assert player.speed == 4.0
    player.set_speed(float("nan"))
    assert player.speed == 4.0


def test_play_at_the_end_begins_anew_and_one_frame_does_not_play() -> None:
    player = Player(Timeline.uniform(11, 10), loop=False)
    player.seek(1.0)
    player.play()
    assert player.playing and player.frame == 0
    alone = Player(Timeline.uniform(1, 10))
    alone.play()
    assert not alone.playing


def test_a_paused_player_stands_still_and_a_clock_never_goes_back() -> None:
    player = Player(Timeline.uniform(11, 10))
    player.advance(0.5)
    assert player.time == 0
    player.play()
    player.advance(-3.0)
    player.advance(float("nan"))
    assert player.time == 0


@given(timelines, timelines, st.floats(-10, 10))
def test_another_timeline_keeps_the_time(
    one: Timeline, other: Timeline, time: float
) -> None:
    player = Player(one, loop=False, speed=2.0)
    player.seek(time)
    moved = player.with_timeline(other)
    assert (moved.loop, moved.speed) == (False, 2.0)
    assert moved.time == min(max(player.time, moved.start), moved.end)


def test_no_frames_no_player() -> None:
    with pytest.raises(ValueError, match="at least one frame"):
        Player(Timeline.uniform(0, 10))
