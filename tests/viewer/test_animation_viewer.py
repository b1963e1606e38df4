"""Spot animations in the viewer: feet by contact, slices and beats, parameters, findings. No browser looks on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_robots import arm, biped, run_view, swinging

import bodymotion as bm
from bodymotion.checks import moments
from bodymotion.diagnostics import WrongUseError
from bodymotion.scene.loading import load_scene
from bodymotion.scene.playback import Beats, PlaybackSettings
from bodymotion.scene.scene import contacts_of, make_scene
from bodymotion.scene.theme import MISSED, STANCE, SWING
from bodymotion.spot.animation_playback import play_animation
from bodymotion.spot.playback import FOOT_CONTACT, JOINT_NAMES, REACH_ERROR
from bodymotion.spot.playback.timing import NEUTRAL
from bodymotion.spot.viewer_panel import (
    findings_html,
    options_html,
    parameter_limits,
)
from bodymotion.viewer import Viewer, view
from bodymotion.viewer.analysis import analyze
from bodymotion.viewer.page import runs, timeline_data
from sample_files import tries
from waiting import until

NOD = """\
controls legs body
bpm 120
extendable
precise_steps
timing_adjustability 0.5
track_swing_trajectories

speed 0.5 1 2
translation_multiplier.z 0 1 1.5
body_tracking_stiffness 1 5 10

time foot_pos contact body_z
"""
FEET = (
    (0.29785, 0.165945),
    (0.29785, -0.165945),
    (-0.29785, 0.165945),
    (-0.29785, -0.165945),
)


def nod(rows: list[tuple[float, float, float]]) -> str:
    """A move whose front left foot is lifted: rows of time, height of that foot and of the body."""
    text = NOD
    for at, ground_offset, height in rows:
        feet = " ".join(
            f"{x} {y} {ground_offset if leg == 0 else 0}"
            for leg, (x, y) in enumerate(FEET)
        )
        text += f"{at} {feet} {int(ground_offset == 0)} 1 1 1 {height}\n"
    return text


NODS = [(0, 0, 0.48), (0.5, 0.06, 0.46), (1, 0.06, 0.46), (1.5, 0, 0.48), (2, 0, 0.48)]


@pytest.fixture
def nodding(tmp_path: Path) -> Path:
    file = tmp_path / "nod.cha"
    file.write_text(nod(NODS))
    return file


@pytest.fixture
def opened() -> Iterator[Callable[..., Viewer]]:
    viewers: list[Viewer] = []

    def show(thing: object, **more: object) -> Viewer:
        viewer = view(
            thing, block=False, open_browser=False, play=False, port=8900, **more
        )
        assert viewer is not None
        viewers.append(viewer)
        return viewer

    yield show
    for viewer in viewers:
        viewer.stop()


def component(motion: bm.Motion, content: str) -> np.ndarray:
    return next(c.values for c in motion.timed if c.content == content)


def test_spot_plays_the_animation(
    examples: Path, opened: Callable[..., Viewer]
) -> None:
    for name, joints in (("wave", 19), ("trot", 12)):
        animation = bm.load(examples / f"{name}.cha")
        viewer = opened(animation)
        assert viewer.scene.title == name.capitalize()
        assert viewer.scene.body is bm.spot.body(arm=joints == 19)
        viewer.seek_frame(100)
        expected = viewer.scene.body.link_poses(animation.play())[100]
        np.testing.assert_allclose(viewer.link_poses(), expected, atol=1e-12)


@pytest.mark.parametrize("extension", [".cha", ".cap", ".pb"])
def test_messages_are_shown_like_files_written_by_hand(
    nodding: Path, extension: str
) -> None:
    file = nodding.with_suffix(extension)
    if extension != ".cha":
        bm.save(bm.load(nodding), file)
    scene = load_scene(file)
    assert (
        scene.playback is not None
        and scene.contacts is not None
        and scene.beats is not None
    )
    np.testing.assert_allclose(
        scene.link_poses, load_scene(nodding).link_poses, atol=1e-5
    )


def test_contacts_are_those_of_the_motion_also_after_saving_it(
    examples: Path, tmp_path: Path
) -> None:
    motion = bm.load(examples / "trot.cha").play()
    bm.save(motion, tmp_path / "trot.seq")
    for scene in (
        load_scene(examples / "trot.cha"),
        load_scene(bm.spot.body(arm=False), motion),
        load_scene(tmp_path / "trot.seq"),
    ):
        assert scene.contacts is not None and scene.contacts.names == (
            "fl",
            "fr",
            "hl",
            "hr",
        )
        assert [scene.body.links[index].name for index in scene.contacts.links] == [
            "fl_foot",
            "fr_foot",
            "hl_foot",
            "hr_foot",
        ]
        np.testing.assert_array_equal(
            scene.contacts.stance, component(motion, FOOT_CONTACT) == 1
        )
        assert scene.beats == Beats(100.0, 0.15, 32.0)


def test_a_motion_alone_is_played_by_spot_where_its_joints_have_spots_names() -> None:
    still = bm.Timeline.uniform(2, 10.0)

    def of(labels: tuple[str, ...]) -> bm.Body:
        values = np.zeros((2, len(labels)))
        motion = bm.MultiValueSeq(
            content="JointDisplacement",
            timeline=still,
            values=values,
            part_labels=labels,
        )
        return load_scene(bm.Motion((motion,))).body

    assert of(JOINT_NAMES) is bm.spot.body(arm=True)
    assert of(JOINT_NAMES[:12]) is bm.spot.body(arm=False)
    for others in (("",) * 12, JOINT_NAMES[:11], ("hip",) * 19):
        assert len(of(others).links) == 1


def test_no_contacts_where_nobody_says_so_or_the_body_has_no_such_feet() -> None:
    body = biped()
    motion = swinging(body)
    assert (
        load_scene(body, motion).contacts is None and load_scene(arm()).contacts is None
    )
    feet = bm.MultiValueSeq(
        content=FOOT_CONTACT,
        timeline=motion.timeline,
        values=np.ones((motion.num_frames, 2)),
        part_labels=("L_ANKLE", "R_ANKLE"),
    )
    own = load_scene(body, motion.replaced(*motion.components, feet)).contacts
    assert own is not None and own.stance.all() and not own.out_of_reach.any()
    assert (
        contacts_of(
            bm.spot.body(), motion.replaced(*motion.components, feet), motion.timeline
        )
        is None
    )


@given(st.floats(20, 400), st.floats(1, 400), st.floats(0, 1))
def test_beats_are_counted_from_one_and_have_four_slices(
    bpm: float, slices: float, share: float
) -> None:
    beats = Beats(bpm, 15 / bpm, slices)
    at = share * slices * beats.slice
    assert beats.slice_at(at) == pytest.approx(share * slices)
    assert 1 <= beats.beat_at(at) <= int(np.ceil(slices / 4))
    assert beats.beat_at(at) - 1 <= share * slices / 4 + 1e-6
    assert (
        Beats(120.0, 0.125, 32.0).describe(12.3 * 0.125) == "slice 12.3 of 32, beat 4"
    )


@given(
    st.sampled_from(sorted(NEUTRAL)),
    st.none() | st.lists(st.floats(-1e9, 1e9), min_size=3, max_size=3),
)
def test_a_slider_stays_within_the_limits_of_its_parameter(
    name: str, numbers: list[float] | None
) -> None:
    low, default, high = sorted(numbers) if numbers is not None else (None, None, None)
    covers = parameter_limits(name, bm.spot.Parameter(low, default, high))
    assert covers.from_file == (numbers is not None)
    assert covers.lowest <= covers.default <= covers.highest
    assert all(
        covers.lowest <= covers.clipped(x) <= covers.highest
        for x in (-1e12, 0.0, 1e12, float("nan"))
    )
    if low is not None and high is not None:
        assert (covers.lowest, covers.default, covers.highest) == (low, default, high)
    if not covers.fixed and covers.highest - covers.lowest > 1e-6:
        assert 99 <= (covers.highest - covers.lowest) / covers.step <= 260


def test_a_slider_plays_it_anew_at_the_same_time(
    nodding: Path, opened: Callable[..., Viewer]
) -> None:
    animation = bm.load(nodding)
    viewer = opened(nodding)
    viewer.seek(0.75)
    viewer.change_setting(".translation_multiplier.z", 1.5)
    viewer.change_setting(".speed", 2.0)
    until(
        lambda: (
            viewer.scene.playback.settings.parameters
            == {"translation_multiplier.z": 1.5, "speed": 2.0}
        )
    )
    expected = animation.play(parameters={"translation_multiplier.z": 1.5, "speed": 2})
    assert viewer.time == 0.75
    np.testing.assert_allclose(
        viewer.link_poses(),
        viewer.scene.body.link_poses(expected)[viewer.frame],
        atol=1e-12,
    )
    viewer.change_setting("bpm", 60.0)
    until(lambda: viewer.scene.beats.bpm == 60)
    assert viewer.time == 1.5
    viewer.change_setting("slices", 40.0)
    until(lambda: viewer.scene.beats.slices == 40)
    viewer.change_setting("slices", 3.0)
    until(lambda: viewer.scene.beats.slices == 16)
    viewer.change_setting("", 0.0)
    until(lambda: viewer.scene.playback.settings == PlaybackSettings())
    assert viewer.time == 0.75
    np.testing.assert_array_equal(
        viewer.scene.link_poses, load_scene(nodding).link_poses
    )


def test_a_program_asks_for_what_is_allowed_only(
    nodding: Path, opened: Callable[..., Viewer]
) -> None:
    viewer = opened(nodding)
    before = viewer.scene
    for wrong in (
        {"slices": 3},
        {"parameters": {"speed": 3}},
        {"parameters": {"nonsense": 1}},
        {"bpm": -1},
    ):
        with pytest.raises(ValueError, match=r".+"):
            viewer.replay(**wrong)
        assert viewer.scene is before
    viewer.replay(bpm=90, slices=20, parameters={"speed": 0.5})
    assert viewer.scene.beats == Beats(90.0, 15 / 90, 20.0)
    with pytest.raises(ValueError, match="nothing is shown"):
        opened(arm()).replay(bpm=90)


def test_options_that_the_controller_alone_heeds_are_said_to_be_not_simulated(
    nodding: Path,
) -> None:
    html = options_html(play_animation(bm.load(nodding)))
    rows = re.findall(r"<tr>(.*?)</tr>", html)
    named = {
        name
        for name in (*NEUTRAL, *bm.load(nodding).options)
        for row in rows
        if f">{name}<" in row and "not simulated" in row
    }
    assert named == {
        "precise_steps",
        "timing_adjustability",
        "track_swing_trajectories",
        "body_tracking_stiffness",
    }
    assert all(f">{name}<" in html for name in bm.load(nodding).options)


def test_findings_have_their_keyframe_and_frames_out_of_reach_are_marked(
    tmp_path: Path, opened: Callable[..., Viewer]
) -> None:
    file = tmp_path / "high.cha"
    rows = [
        (t, ground_offset, 0.48 if t != 1 else 0.75) for t, ground_offset, _ in NODS
    ]
    file.write_text(nod(rows))
    viewer = opened(file)
    scene = viewer.scene
    assert scene.playback is not None and scene.contacts is not None
    reach = next(p for p in scene.problems if p.rule == "SPOT001")
    key = scene.playback.keyframe_of(reach)
    assert key == 2 and file.read_text().splitlines()[
        reach.location.line - 1
    ].startswith("1 ")
    html = findings_html(scene.playback)
    assert (
        "Keyframe 3 at 1.00 s" in html and "SPOT001" in html and "<script" not in html
    )
    expected = component(scene.motion, REACH_ERROR) > 1e-3
    np.testing.assert_array_equal(scene.contacts.out_of_reach, expected)
    assert expected[scene.timeline.frames_at(1.0)].all() and not expected[0].any()
    assert "foot fl is" in scene.contacts.describe(int(scene.timeline.frames_at(1.0)))
    data = timeline_data(scene)
    assert any(
        color == f"rgb{MISSED}" for _, spans in data["rows"] for _, _, color, _ in spans
    )
    assert any(
        time == pytest.approx(1.0) and text.startswith("SPOT001")
        for time, text, _ in data["marks"]
    )
    viewer.scrub(scene.playback.time_of(2))
    until(lambda: viewer.time == pytest.approx(1.0, abs=0.011))


@settings(max_examples=tries(50))
@given(st.lists(st.booleans(), max_size=60))
def test_runs_are_where_it_is_true(on: list[bool]) -> None:
    again = np.zeros(len(on), dtype=bool)
    last = -1
    for first, end in runs(np.array(on, dtype=bool)):
        assert last < first < end
        again[first:end] = True
        last = end
    assert again.tolist() == on


def test_the_time_line_shows_stance_and_swing_as_long_as_they_are(
    nodding: Path,
) -> None:
    scene = load_scene(nodding)
    data = timeline_data(scene)
    assert (data["slices"], data["slice"], data["end"]) == (
        16,
        scene.beats.slice,
        scene.timeline.times[-1],
    )
    assert len(data["rows"]) == scene.contacts.stance.shape[1]
    frames, step = scene.num_frames, scene.timeline.duration / (scene.num_frames - 1)
    for (_, spans), stance in zip(data["rows"], scene.contacts.stance.T, strict=True):
        for color, on in ((STANCE, stance), (SWING, ~stance)):
            shown = sum(
                end - start for start, end, drawn, _ in spans if drawn == f"rgb{color}"
            )
            assert shown == pytest.approx(on[: frames - 1].sum() * step, abs=1e-6)
    assert timeline_data(load_scene(arm()))["rows"] == []


def test_a_faulty_save_keeps_the_last_good_one_and_what_was_chosen(
    nodding: Path, opened: Callable[..., Viewer]
) -> None:
    viewer = opened(nodding, watch=True)
    viewer.seek(1.2)
    viewer.change_setting(".translation_multiplier.z", 1.5)
    viewer.change_setting("bpm", 120.0)
    until(lambda: viewer.scene.playback.settings.bpm == 120)
    good, scene_view = viewer.scene, viewer.scene_view
    nodding.write_text(nod(NODS).replace("\n1 ", "\nnonsense "))
    until(lambda: "Not reloaded" in viewer.panel.message.content)
    assert viewer.scene is good
    assert re.search(r"nod\.cha:15:1: CHA\d+", viewer.panel.message.content)
    nodding.write_text(
        nod([*NODS[:2], (1, 0.06, 0.40), *NODS[3:]]).replace("z 0 1 1.5", "z 0 1 1.25")
    )
    until(lambda: viewer.scene is not good)
    assert viewer.scene.playback.settings == PlaybackSettings(
        120.0, None, {"translation_multiplier.z": 1.25}
    )
    until(lambda: not viewer.panel.message.visible)
    assert viewer.scene_view is scene_view
    assert viewer.time == pytest.approx(1.2)


def test_texts_of_files_are_never_html(tmp_path: Path) -> None:
    file = tmp_path / "<img src=x>.cha"
    file.write_text(
        "controls body\nbpm 120\ndescription <script>alert(1)</script>\n\nno parameters\n\ntime body_z\n0 0.48\n1 0.2\n"
    )
    scene = load_scene(file)
    done = scene.playback
    assert done is not None
    for text in (options_html(done), findings_html(done)):
        assert "<script>" not in text and "<img" not in text


def test_misuse_is_refused_in_words(nodding: Path, examples: Path) -> None:
    animation = bm.load(nodding)
    for things, words in (
        ((animation, nodding, nodding), "one animation"),
        ((animation, examples / "biped_walk.seq"), "alone"),
        ((arm(), animation), "leave out the body"),
    ):
        with pytest.raises(WrongUseError, match=words):
            load_scene(*things)
    with pytest.raises(WrongUseError, match="Spot animation"):
        load_scene(arm(), arm=True)
    with pytest.raises(ValueError, match="arm_required"):
        load_scene(examples / "wave.cha", arm=False)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["wave.cha", "biped_walk.seq"], 2, "an animation is shown alone"),
        (["--no-arm", "wave.cha"], 1, "arm_required"),
        (["--arm", "biped.wrl"], 2, "Spot animation only"),
        (["broken.cha"], 1, "broken.cha:3:"),
    ],
)
def test_the_command_reports_wrong_use(
    examples: Path, tmp_path: Path, arguments: list[str], code: int, words: str
) -> None:
    (tmp_path / "broken.cha").write_text(
        "controls body\n\nnonsense 1 2 3\n\ntime body_z\n0 0.48\n1 0.4 3\n"
    )
    given = [
        str((tmp_path if one.startswith("broken") else examples) / one)
        if "." in one
        else one
        for one in arguments
    ]
    done = run_view(*given)
    assert done.exit_code == code and words in done.stderr
    if "broken.cha" in arguments:
        assert len(re.findall(r"broken\.cha:\d+:\d+: CHA\d+ ", done.stderr)) > 1


def test_approximate_moves_are_not_judged(corpus: Path) -> None:
    path = next(corpus.rglob("default_dance.csq"))
    body, motion = bm.load(path).body_and_motion()
    scene = make_scene(body, motion)
    moves = motion.extra["spot"]["moves"]
    assert any(move["approximate"] for move in moves)
    # Our approximation bends knees beyond their limits, and lifts feet from their targets.
    assert moments(motion, body)
    assert analyze(scene, False, overlays=False).moments == ()
    assert not scene.contacts.out_of_reach.any()
