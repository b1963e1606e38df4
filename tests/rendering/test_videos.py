"""Videos: as many pictures and seconds as asked for, read back by FFmpeg; the robot in their middle; a file that is whole or not there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from small_robots import arm
from test_stills import of_color, pixels, walker

import bodymotion as bm
from bodymotion.rendering import videos
from waiting import TIMEOUT, until

pytestmark = pytest.mark.usefixtures("drawing")
SIZE = (160, 120)


def names_in(folder) -> list[str]:
    return [path.name for path in folder.iterdir()]


def read(path) -> tuple[list[np.ndarray], float, str]:
    """Return the frames of a video, its seconds and its codec."""
    import av

    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        frames = list(container.decode(stream))
        step = frames[1].time - frames[0].time if len(frames) > 1 else 0.0
        return (
            [frame.to_ndarray(format="rgb24") for frame in frames],
            frames[-1].time + step,
            stream.codec_context.name,
        )


@pytest.mark.parametrize(
    ("kind", "codec"), [("mp4", "h264"), ("webm", "vp9"), ("gif", "gif")]
)
def test_frames_and_seconds_are_those_asked_for(tmp_path, kind, codec):
    path = tmp_path / f"walk.{kind}"
    told = []
    bm.render(
        arm(),
        walker(0.3),
        output=path,
        size=SIZE,
        start=0.5,
        end=1.5,
        fps=10,
        progress=lambda *so_far: told.append(so_far),
    )
    frames, seconds, name = read(path)
    assert (
        len(frames) == 11 and seconds == pytest.approx(1.1, abs=0.02) and codec in name
    )
    assert told == [(k + 1, 11) for k in range(11)]
    assert frames[0].shape == (120, 160, 3) and frames[0].mean() > 150
    assert np.abs(frames[0].astype(int) - frames[-1]).max() > 40
    assert names_in(tmp_path) == [path.name]


def test_slow_motion_has_more_pictures(tmp_path):
    bm.render(
        arm(),
        walker(0.3),
        output=tmp_path / "slow.mp4",
        size=SIZE,
        end=0.5,
        fps=20,
        speed=0.25,
        overlay=(),
    )
    frames, seconds, _ = read(tmp_path / "slow.mp4")
    assert len(frames) == 41 and seconds == pytest.approx(2.05, abs=0.02)


def test_colours_come_back_as_they_were_drawn(tmp_path):
    """The matrix and the range that the file names are those that were used."""
    still = pixels(
        bm.render(arm(), walker(0.0), at=0.0, size=(320, 240), camera="front")
    )
    bm.render(
        arm(),
        walker(0.0),
        output=tmp_path / "a.mp4",
        size=(320, 240),
        camera="front",
        end=0.2,
        overlay=(),
    )
    import av

    with av.open(str(tmp_path / "a.mp4")) as container:
        frame = next(container.decode(video=0))
    assert frame.colorspace == 1 and frame.color_range == 1
    seen = (
        frame.reformat(format="rgb24", src_colorspace="ITU709").to_ndarray().astype(int)
    )
    for channel in range(3):
        places = of_color(still, channel)
        inner = places[
            np.abs(places - np.median(places, axis=0))
            .sum(axis=1)
            .argsort()[: len(places) // 4]
        ]
        rows, columns = inner.T
        # The median: some of the pixels are at an edge, where both are smoothed in different ways.
        assert np.median(np.abs(seen[rows, columns] - still[rows, columns])) < 6


def test_the_camera_follows_what_goes_far(tmp_path):
    middles = {}
    for name, follow in (("auto", None), ("stays", False)):
        bm.render(
            arm(),
            walker(8.0),
            output=tmp_path / f"{name}.mp4",
            size=(320, 120),
            camera="right",
            fps=5,
            follow=follow,
            overlay=(),
        )
        middles[name] = [
            of_color(frame, 0)[:, 1].mean()
            for frame in read(tmp_path / f"{name}.mp4")[0]
        ]
    assert (
        np.ptp(middles["auto"]) < 0.05 * 320
        and abs(np.mean(middles["auto"]) - 160) < 0.1 * 320
    )
    assert np.ptp(middles["stays"]) > 0.5 * 320


def test_an_odd_size_becomes_even_and_the_time_is_written(tmp_path):
    bm.render(arm(), walker(0.0), output=tmp_path / "a.mp4", size=(161, 121), fps=10)
    frames, _, _ = read(tmp_path / "a.mp4")
    assert frames[0].shape == (122, 162, 3)
    changed = np.argwhere(np.abs(frames[0].astype(int) - frames[-1]).max(axis=2) > 60)
    assert len(changed) > 5 and changed[:, 0].min() > 95 and changed[:, 1].max() < 60


def test_times_of_a_span():
    span = videos.Span(1.0, 2.0, Fraction(30), 2.0)
    np.testing.assert_allclose(span.times, 1.0 + np.arange(16) / 15)
    assert len(videos.Span(0.0, 0.0, Fraction(30)).times) == 1


def test_a_fault_of_the_second_thread_is_raised_and_leaves_no_file(
    tmp_path, monkeypatch
):
    def broken(self, pixels, text, theme):
        raise MemoryError("no room for that")

    monkeypatch.setattr(videos.Encoder, "write", broken)
    with pytest.raises(MemoryError, match="no room"):
        bm.render(arm(), walker(0.3), output=tmp_path / "a.mp4", size=SIZE)
    assert names_in(tmp_path) == []


def test_ctrl_c_leaves_the_old_file_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "a.webm"
    path.write_bytes(b"old")

    def pressed(done, total):
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bm.render(arm(), walker(0.3), output=path, size=SIZE, progress=pressed)
    assert path.read_bytes() == b"old" and names_in(tmp_path) == ["a.webm"]


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_ends_the_command(tmp_path, examples):
    command = [
        sys.executable,
        "-m",
        "bodymotion",
        "render",
        "biped.wrl",
        "biped_walk.seq",
        "-o",
        str(tmp_path / "a.mp4"),
    ]
    process = subprocess.Popen(
        [*command, "--speed", "0.01", "--size", "160x90"],
        cwd=examples,
        stderr=subprocess.PIPE,
    )
    until(lambda: names_in(tmp_path) or process.poll() is not None)
    assert names_in(tmp_path), (
        process.stderr.read() if process.poll() is not None else "nothing was written"
    )
    process.send_signal(signal.SIGINT)
    assert process.wait(TIMEOUT) == 130
    assert names_in(tmp_path) == [] and process.stderr.read() == b""


def test_where_nothing_can_be_written_it_is_said(tmp_path):
    with pytest.raises(OSError, match="there is no folder"):
        bm.render(arm(), walker(0.3), output=tmp_path / "none" / "a.mp4", size=SIZE)
    with pytest.raises(ValueError, match="at least two frames"):
        bm.render(arm(), output=tmp_path / "a.mp4", size=SIZE)
