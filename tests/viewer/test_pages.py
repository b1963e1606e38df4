"""Pages, sliders, watching, and what `view` and the command say when something is wrong."""

import http.client
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_robots import arm, biped, run_view, swinging

import bodymotion as bm
from bodymotion.diagnostics.text import fixed
from bodymotion.scene.compared_motion import side_by_side
from bodymotion.scene.options import LABELS
from bodymotion.scene.scene import make_scene
from bodymotion.viewer import view
from bodymotion.viewer.api import FileWatcher
from bodymotion.viewer.page import MAX_FRAMES, page, sampled
from bodymotion.viewer.panel import slider_range, summary_html, value_text
from bodymotion.viewer.server import free_port
from waiting import TIMEOUT, until


def timelines() -> st.SearchStrategy[bm.Timeline]:
    gaps = st.lists(
        st.sampled_from([1e-9, 1e-4, 0.003, 0.02, 0.7, 58.0, 1e9, 1e16]), max_size=50
    )
    stamped = gaps.map(
        lambda found: bm.Timeline.stamped(
            np.cumsum([1.7e9 if len(found) % 2 else 0.0, *found])
        )
    )
    return stamped | st.builds(
        bm.Timeline.uniform,
        st.integers(1, 100_000),
        st.sampled_from([1e-9, 7.0, 50.0, 1e3, 1e12]),
    )


@given(timelines(), st.lists(st.floats(0, 70), max_size=3))
def test_a_page_shows_frames_at_their_own_times(
    timeline: bm.Timeline, moments: list[float]
) -> None:
    sampling, times = sampled(timeline, moments), timeline.times
    frames = sampling.frames
    assert (sampling.times == times[frames] - times[0]).all()
    assert (
        frames[0] == 0
        and frames[-1] == timeline.num_frames - 1
        and (np.diff(frames) > 0).all()
    )
    assert set(timeline.frames_at(moments)) <= set(frames)
    assert len(frames) <= min(
        timeline.num_frames,
        MAX_FRAMES + len(moments),
        3 + 80 * timeline.duration + len(moments),
    )
    if len(frames) < MAX_FRAMES:
        after = times[np.minimum(frames[:-1] + 1, timeline.num_frames - 1)]
        left_out = np.flatnonzero(np.diff(frames) > 1)
        assert (times[frames[1:]] - after <= 1 / 60 + 1e-6)[left_out].all()


def test_a_second_motion_that_ends_later_is_shown_to_its_end() -> None:
    body = arm()
    q = np.zeros((3, body.num_joints))
    first, long = (
        make_scene(body, bm.Motion.from_joints(q, times=times))
        for times in ([0, 0.1, 0.2], [0, 0.15, 1e9])
    )
    both = side_by_side(first, long, is_ghost=False)
    assert both.timeline.times.tolist() == [0, 0.1, 0.2, 1e9] and both.own_frames == 3


def test_a_page_fetches_nothing_and_shows_names_as_text() -> None:
    body = bm.Body(name="</title><script>alert(1)</script>", links=arm().links)
    text = page(make_scene(body, swinging(body)))
    own = re.sub(r'"[A-Za-z0-9+/=\\_-]{2000,}"', '""', text)
    assert not re.search(
        r"<(?:script|link|img|iframe)[^>]+(?:src|href)\s*=\s*[\"']?(?:https?:)?//", own
    )
    assert not re.search(r"@import|url\(\s*[\"']?https?:", own)
    assert "<script>alert(1)" not in own and "&lt;script&gt;alert(1)" in own
    assert own.count("<title>") == 1


limits = st.floats(-1e5, 1e5) | st.sampled_from([np.inf, -np.inf, 0.0])


@given(st.sampled_from(["rotate", "slide"]), limits, limits, st.floats(-10, 10))
def test_a_slider_stays_within_the_limits(
    kind: str, lower: float, upper: float, value: float
) -> None:
    covers = slider_range(
        bm.Joint(type=kind, lower=min(lower, upper), upper=max(lower, upper))
    )
    low, high = min(lower, upper), max(lower, upper)
    assert covers.lowest <= covers.shown(value) <= covers.highest
    for end in (covers.lowest, covers.highest):
        if abs(low) <= 100 and abs(high) <= 100:
            assert low - 1e-6 <= covers.joint_value(end) <= high + 1e-6
    inside = covers.joint_value(covers.shown(value))
    if covers.lowest < covers.shown(value) < covers.highest:
        assert abs(inside - value) * covers.to_shown <= covers.step


@given(st.integers(-180, 0), st.integers(1, 180), st.integers(3, 6))
def test_limits_given_in_rounded_radians_are_round_degrees_and_are_reached(
    low: int, high: int, digits: int
) -> None:
    lower, upper = round(np.deg2rad(low), digits), round(np.deg2rad(high), digits)
    covers = slider_range(bm.Joint(type="rotate", lower=lower, upper=upper))
    assert abs(covers.lowest - low) <= 0.1 and abs(covers.highest - high) <= 0.1
    if digits > 3:
        assert (covers.lowest, covers.highest) == (low, high)
    assert (covers.joint_value(covers.lowest), covers.joint_value(covers.highest)) == (
        lower,
        upper,
    )
    assert (covers.joint_value(-300.0), covers.joint_value(300.0)) == (lower, upper)


def test_what_rounds_to_zero_has_no_minus() -> None:
    assert [
        fixed(-0.0004, 3, "+"),
        fixed(-0.0006, 3),
        fixed(0.25, 1),
        fixed(1, 2, "+"),
    ] == [
        "+0.000",
        "-0.001",
        "0.2",
        "+1.00",
    ]
    assert value_text(bm.Joint(type="rotate"), -1e-9) == "+0.0° +0.000 rad"


def test_joint_values_are_said_in_degrees_and_radians_or_metres() -> None:
    assert value_text(bm.Joint(type="rotate"), np.pi / 2) == "+90.0° +1.571 rad"
    assert value_text(bm.Joint(type="slide"), -0.25) == "-0.250 m"
    assert "beyond" in value_text(bm.Joint(type="rotate", upper=1.0), 1.2)


def test_a_saved_file_is_noticed_once_it_is_at_rest(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("1")
    watcher = FileWatcher([file], lambda: None)
    assert not watcher.check()
    file.write_text("22")
    assert [watcher.check() for _ in range(3)] == [False, True, False]
    other = tmp_path / "b"
    other.write_text("33")
    other.replace(file)
    assert [watcher.check() for _ in range(3)] == [False, True, False]
    file.unlink()
    assert [watcher.check() for _ in range(3)] == [False, False, False]
    file.write_text("444")
    assert [watcher.check() for _ in range(3)] == [False, True, False]


def test_parts_of_a_model_are_watched_too(tmp_path: Path) -> None:
    def part(size: int) -> str:
        return f"#VRML V2.0 utf8\nShape {{ geometry Box {{ size {size} {size} {size} }} }}\n"

    model, box = tmp_path / "model.wrl", tmp_path / "box.wrl"
    model.write_text('#VRML V2.0 utf8\nInline { url "box.wrl" }\n')
    box.write_text(part(1))
    viewer = view(model, block=False, open_browser=False, port=8760, watch=True)
    assert viewer is not None
    with viewer:
        until(
            lambda: (
                viewer.scene.body.links[0].visuals[0].geometry
                == bm.shapes.Box((3, 3, 3))
            ),
            lambda: box.write_text(part(3)),
        )


def test_the_viewer_is_driven_by_a_program() -> None:
    body = biped()
    motion = swinging(body)
    viewer = view(
        motion,
        body,
        block=False,
        open_browser=False,
        port=8750,
        play=False,
        show=["frames"],
    )
    assert viewer is not None
    with viewer:
        viewer.seek_frame(30)
        assert (viewer.frame, viewer.time, viewer.playing) == (
            30,
            pytest.approx(0.6),
            False,
        )
        lifted = viewer.link_poses()
        np.testing.assert_allclose(lifted[:, :2], viewer.scene.link_poses[30][:, :2])
        viewer.set_joint(0, 0.7)
        turned = viewer.link_poses()
        assert not np.allclose(turned[1, 3:], lifted[1, 3:]) and np.allclose(
            turned[2:], lifted[2:]
        )
        viewer.seek(0.2)
        viewer.play()
        assert viewer.playing
        viewer.pause()
        address = viewer.url.removeprefix("http://")
        connection = http.client.HTTPConnection(address, timeout=TIMEOUT)
        connection.request("GET", "/")
        assert connection.getresponse().status == 200
        connection.close()
        with pytest.raises(ValueError, match="joint columns"):
            viewer._do(lambda: body.forward_kinematics(np.zeros(3)))
        assert viewer.frame >= 10


@pytest.mark.parametrize("follow", [False, True])
def test_a_viewpoint_goes_with_the_robot(follow: bool) -> None:
    body = biped()
    motion = swinging(body)
    walk = np.tile([1.0, 2.0, 0.85, 1, 0, 0, 0], (motion.num_frames, 1, 1))
    walk[:, 0, 0] += np.linspace(0, 5, motion.num_frames)
    roots = bm.MultiSE3Seq(
        content="LinkPosition",
        timeline=bm.Timeline.uniform(len(walk), 50.0),
        values=walk,
    )
    viewer = view(
        body,
        motion.replaced(*motion.components, roots),
        block=False,
        open_browser=False,
        port=8755,
        play=False,
    )
    assert viewer is not None
    with viewer:
        viewer.show("follow", follow)
        for frame in (0, 100):
            viewer.seek_frame(frame)
            poses = viewer.link_poses()
            robot = poses[0, :2] - viewer.scene_view.follow_offset(poses)[:2]
            seen = viewer.scene_view.viewpoint(0).position
            np.testing.assert_allclose(
                seen,
                [*(robot + body.viewpoints[0].pose[:2]), body.viewpoints[0].pose[2]],
            )


def test_the_next_free_port_is_taken_and_a_wrong_host_is_said() -> None:
    one = view(arm(), block=False, open_browser=False, port=8770)
    two = view(arm(), block=False, open_browser=False, port=8770)
    assert one is not None and two is not None
    with one, two:
        assert one.url != two.url
    for host in ("no.such.host.invalid", "203.0.113.7"):
        with pytest.raises(OSError, match="cannot listen"):
            free_port(host, 8770)


def test_problems_are_said_on_stderr_live_and_with_a_page(
    tmp_path: Path, capsys
) -> None:
    other = swinging(biped(), seconds=0.2)
    viewer = view(arm(), other, block=False, open_browser=False, port=8780)
    assert viewer is not None
    with viewer:
        live = capsys.readouterr().err
        assert "1 warning in the files</b>" in summary_html(
            viewer
        ) and "9 joint columns" in summary_html(viewer)
    assert view(arm(), other, output=tmp_path / "a.html") is None
    for text in (live, capsys.readouterr().err):
        assert (
            "1 warning in" in text and "9 joint columns" in text and "2 joints" in text
        )


@pytest.mark.parametrize(
    ("things", "more", "words"),
    [
        ((arm(), arm()), {}, "found 2 models"),
        ((arm(), bm.Motion()), {}, "no frames"),
        ((arm(),), {"show": ["nonsense"]}, "option 'nonsense'"),
    ],
)
def test_what_can_not_be_shown_is_refused_in_words(
    things: tuple, more: dict, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        view(*things, block=False, open_browser=False, **more)


def test_a_missing_file_is_a_format_error(tmp_path: Path) -> None:
    with pytest.raises(bm.FormatError):
        view(tmp_path / "none.wrl", open_browser=False)


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "bodymotion", "view", *map(str, arguments)]


def test_the_command_writes_a_page(examples: Path, tmp_path: Path) -> None:
    out = tmp_path / "walk.html"
    done = subprocess.run(
        command("--html", out, examples / "biped.wrl", examples / "biped_walk.seq"),
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    assert (done.returncode, done.stdout) == (0, "")
    assert "1001 frames at 100 Hz, 601 of them shown" in done.stderr
    assert (
        out.read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html>")
    )
    assert [path.name for path in tmp_path.iterdir()] == ["walk.html"]


@pytest.mark.parametrize("play", [True, False])
def test_a_page_that_shall_not_play_is_led_to_its_first_picture(
    tmp_path: Path, play: bool
) -> None:
    view(arm(), swinging(arm(), seconds=0.1), output=tmp_path / "arm.html", play=play)
    text = (tmp_path / "arm.html").read_text(encoding="utf-8")
    assert text.count('"play": true') == play
    assert text.count('"play": false') == (not play)


def test_the_command_shows_until_ctrl_c(examples: Path) -> None:
    process = subprocess.Popen(
        command("--no-browser", "--port", 8790, examples / "biped.wrl"),
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert re.search(r"http://127\.0\.0\.1:\d+", line)
        process.send_signal(signal.SIGINT)
        out, rest = process.communicate(timeout=TIMEOUT)
        assert out == "" and "Traceback" not in rest
        assert process.returncode in (0, 130)
    finally:
        process.kill()


def test_the_command_reports_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    bad = tmp_path / "a.wrl"
    bad.write_text("#VRML V2.0 utf8\nTransform {")
    done = run_view(bad)
    assert done.exit_code == 1 and "a.wrl:2" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["biped.wrl"] * 4, 2, "at most three files"),
        (["biped.wrl"] * 2, 2, "found 2 models"),
        (["biped.wrl", "--ghost"], 2, "a ghost is the second of two motions"),
        (["biped.wrl", "--show", "nonsense"], 2, "'nonsense'"),
        (
            ["biped.wrl", "--html", "/nowhere/at/all/x.html"],
            1,
            "there is no folder /nowhere/at/all",
        ),
        (
            ["biped.wrl", "--html", "walk.pdf"],
            2,
            "walk.pdf: the name of a page must end in .html or .htm",
        ),
    ],
)
def test_wrong_use_is_reported(
    examples: Path, arguments: list[str], code: int, words: str
) -> None:
    done = run_view(
        *(examples / one if one.endswith(".wrl") else one for one in arguments)
    )
    assert done.exit_code == code and words in done.stderr
    if "nonsense" in words:
        help_text = run_view("--help-all").stdout
        assert all(name in help_text and name in done.stderr for name in LABELS)
