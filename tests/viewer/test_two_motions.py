"""Two motions on one time line, what a model is made of, plots of quantities, and files that are made of pictures."""

from __future__ import annotations

import io
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_robots import arm, biped, swinging

import bodymotion as bm
from bodymotion.comparison import compare_motions
from bodymotion.diagnostics import WrongUseError
from bodymotion.geometry import rotations
from bodymotion.scene.compared_motion import Differences, side_by_side
from bodymotion.scene.loading import load_scene
from bodymotion.scene.options import DisplayOptions
from bodymotion.scene.scene import Curve, make_scene
from bodymotion.viewer import Viewer
from bodymotion.viewer.api import view
from bodymotion.viewer.capture import even_size, file_name, png
from bodymotion.viewer.overlays import inertia_box, joint_label, joint_labels
from bodymotion.viewer.page import page
from bodymotion.viewer.plot_panel import filled
from waiting import until

EXAMPLES = Path(__file__).parents[2] / "examples"


def moved(motion: bm.Motion, by: float, seconds: float = 0.0) -> bm.Motion:
    joints = motion.joint_displacement
    frames = joints.num_frames + round(seconds * joints.timeline.frame_rate)
    values = np.concatenate(
        [
            joints.values,
            np.repeat(joints.values[-1:], frames - joints.num_frames, axis=0),
        ]
    )
    timeline = bm.Timeline.uniform(frames, joints.timeline.frame_rate)
    return bm.Motion(
        (
            replace(
                joints,
                values=values + by * np.arange(frames)[:, None],
                timeline=timeline,
            ),
        )
    )


def test_what_differs_is_what_comparing_finds() -> None:
    body = biped()
    one = swinging(body)
    other = swinging(body, size=0.5)
    found = Differences(make_scene(body, one), make_scene(body, other))
    frame, column = divmod(int(np.abs(found.joints).argmax()), found.joints.shape[1])
    expected = next(
        d
        for d in compare_motions(one, other, body=body).differences
        if "largest" in d.numbers
    ).numbers
    assert (
        abs(found.joints[frame, column]) == pytest.approx(expected["largest"])
        and frame == expected["frame"]
    )
    assert expected["part"].startswith(body.joints[column].name)
    row = np.abs(
        other.joint_displacement.values[30] - one.joint_displacement.values[30]
    )
    text = found.describe(30)
    assert text.startswith(f"now {body.joints[int(row.argmax())].name} ")
    assert (
        f"max {body.joints[column].name} {np.rad2deg(found.joints[frame, column]):+.2f}°"
        in text
    )


@pytest.mark.parametrize("is_ghost", [True, False])
def test_both_are_where_their_motions_are(is_ghost: bool) -> None:
    body = biped()
    one, other = swinging(body), moved(swinging(body), 0.001, seconds=1.0)
    scene = side_by_side(make_scene(body, one), make_scene(body, other), is_ghost)
    if is_ghost:
        # A ghost ends with the first motion, which a note reports with both times.
        assert scene.timeline.duration == pytest.approx(2.0)
        assert "2.00 s" in scene.notes[-1] and "3.00 s" in scene.notes[-1]
    else:
        assert scene.timeline.duration == pytest.approx(3.0)
        assert scene.own_frames == 101
    with Viewer(scene, port=8700, play=False) as viewer:
        viewer.show("stand", False)
        for frame in (0, 50, 100) if is_ghost else (0, 50, 100, 140):
            viewer.seek_frame(frame)
            np.testing.assert_allclose(
                viewer.link_poses(), make_scene(body, one).link_poses[min(frame, 100)]
            )
            second = viewer.scene_view.compared.nodes
            expected = make_scene(body, other).link_poses[frame]
            np.testing.assert_allclose(second._sent[0], expected[0], atol=1e-6)
            assert second._sent[1:, 3:].shape == (len(body.links) - 1, 4)
        viewer.replace(make_scene(body, one))
        assert viewer.scene_view.compared is None


def test_two_motions_are_given_as_a_list(tmp_path: Path, capsys) -> None:
    body = arm()
    one, other = swinging(body), swinging(body, size=0.2)
    viewer = view(
        body,
        [one, other],
        ghost=True,
        port=8700,
        open_browser=False,
        block=False,
        play=False,
    )
    assert viewer is not None
    assert viewer.scene.compared is not None and viewer.scene.is_ghost
    viewer.stop()
    assert view(body, [one, other], output=tmp_path / "a.html") is None
    capsys.readouterr()
    for sources, ghost in (
        ((one, other, one), False),
        ((body, one), True),
        ((body, body), False),
    ):
        with pytest.raises(WrongUseError):
            load_scene(*sources, ghost=ghost)


def test_a_page_may_be_dark_and_show_two() -> None:
    body = arm()
    scene = side_by_side(
        make_scene(body, swinging(body)),
        make_scene(body, swinging(body, size=0.1)),
        True,
    )
    assert "darkMode:true" in page(
        scene, DisplayOptions(dark=True, axes=True, names=True, inertias=True)
    )
    plain = page(scene)
    assert "darkMode:false" in plain
    assert "of the first motion" not in plain


def test_a_page_says_of_which_motion_its_overlays_are() -> None:
    body = biped()
    walk = swinging(body)
    options = DisplayOptions(mass=True, support=True)
    assert "of the first motion: Centre of mass, Support polygon" in page(
        side_by_side(make_scene(body, walk), make_scene(body, walk), False), options
    )
    assert "of the first motion" not in page(make_scene(body, walk), options)


@given(st.floats(0.05, 2), st.floats(0.05, 2), st.floats(0.05, 2), st.floats(0.1, 50))
def test_the_inertia_box_of_a_box_is_itself(
    a: float, b: float, c: float, mass: float
) -> None:
    moments = mass / 12 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
    link = bm.Link(
        name="L", index=0, segments=(bm.Segment(mass=mass, inertia=np.diag(moments)),)
    )
    lengths, axes = inertia_box(link)
    np.testing.assert_allclose(np.sort(lengths), sorted([a, b, c]), rtol=1e-5)
    assert np.linalg.det(axes) == pytest.approx(1.0)
    rebuilt = (
        axes
        @ np.diag(mass / 12 * (np.square(lengths).sum() - np.square(lengths)))
        @ axes.T
    )
    np.testing.assert_allclose(rebuilt, np.diag(moments), atol=1e-9 * moments.max())


def test_inertia_boxes_are_at_the_centres_of_mass() -> None:
    """A box of steel is shown as itself, turned and moved as in its link."""
    turn, center = (
        rotations.from_axis_angle([0.0, 0.0, 1.0], 0.5),
        np.array([0.1, 0.2, 0.3]),
    )
    matrix, lengths = rotations.to_matrix(turn), np.array([0.1, 0.2, 0.4])
    inertia = (
        matrix
        @ np.diag(2.0 / 12 * (np.square(lengths).sum() - np.square(lengths)))
        @ matrix.T
    )
    segment = bm.Segment(mass=2.0, center_of_mass=center, inertia=inertia)
    root = bm.Link(
        name="L", index=0, segments=(segment,), joint=bm.Joint(name="L", type="free")
    )
    with Viewer(
        make_scene(bm.Body(links=(root,)), None), port=8700, play=False
    ) as viewer:
        viewer.show("inertias", True)
        ball, box = viewer.scene_view.overlays._made["inertias"]
        np.testing.assert_allclose(
            [ball.position, box.position], [center, center], atol=1e-6
        )
        shown = rotations.to_matrix(np.asarray(box.wxyz))
        np.testing.assert_allclose(
            shown @ np.diag(box.dimensions) @ shown.T,
            matrix @ np.diag(lengths) @ matrix.T,
            atol=1e-5,
        )


def test_what_has_no_mass_has_no_inertia_box_and_tags_have_ids() -> None:
    assert inertia_box(bm.Link(name="L", index=0)) is None
    flat = bm.Segment(mass=1.0, inertia=np.diag([1.0, 0.1, 0.1]))
    assert inertia_box(bm.Link(name="L", index=0, segments=(flat,))) is None
    assert (
        joint_label(bm.Link(name="L", index=0, joint=bm.Joint(name="J", id=3)))
        == "3  J"
    )
    assert joint_label(bm.Link(name="L", index=0)) == "L"


def test_joints_at_one_place_have_one_tag() -> None:
    links = [
        bm.Link(name=name, index=k, parent=parent, joint=bm.Joint(name=name, id=k))
        for k, (name, parent) in enumerate(
            (("A", -1), ("B", 0), ("C", 1), ("D", 0), ("E", 3))
        )
    ]
    places = np.array([[0, 0, 0], [0, 0, 1], [0, 0, 1.001], [0, 0, 1], [0, 1, 1.0]])
    assert joint_labels(links, places, 0.01) == {
        0: "0  A",
        1: "1  B, 2  C",
        3: "3  D",
        4: "4  E",
    }


def test_any_quantity_is_plotted_once_it_is_known() -> None:
    body, walk = bm.load(EXAMPLES / "biped.wrl"), bm.load(EXAMPLES / "biped_walk.seq")
    measures = bm.dynamics.measure(body, walk)
    with Viewer(
        make_scene(body, walk),
        port=8700,
        play=False,
        options=DisplayOptions(quantity="zmp"),
    ) as viewer:
        viewer.seek(4.6)
        until(lambda: viewer.panel.plot.chosen == ("x", "y", "z"))
        until(lambda: viewer.panel.plot._legend.content.count("<tr>") == 3)
        viewer.seek(4.6)
        for value in measures.zmp[460]:
            assert f"{round(value, 4) + 0.0:.4f} m" in viewer.panel.plot._legend.content
        assert viewer.panel.plot._plot.content.count("<polyline") == 3


def test_what_a_motion_has_not_is_said() -> None:
    with Viewer(
        make_scene(arm(), swinging(arm())),
        port=8700,
        play=False,
        options=DisplayOptions(quantity="zmp"),
    ) as viewer:
        viewer.seek(0.5)
        until(
            lambda: "does not have this quantity" in viewer.panel.plot._status.content
        )
        assert viewer.panel.plot._status.visible


@given(
    st.lists(
        st.floats(-5, 5) | st.sampled_from([np.nan, np.inf]), min_size=1, max_size=30
    ),
    st.integers(1, 40),
)
def test_a_drawn_curve_keeps_what_is_known(values: list[float], count: int) -> None:
    drawn = filled(Curve("a", "m", np.array(values)), count).values
    assert len(drawn) == count and np.isfinite(drawn).all()
    for k, value in enumerate(values[:count]):
        assert not np.isfinite(value) or drawn[k] == value


@given(st.integers(1, 9000), st.integers(1, 9000))
def test_videos_have_even_sizes(width: int, height: int) -> None:
    w, h = even_size(width, height)
    assert (
        w % 2 == h % 2 == 0
        and w >= 2
        and h >= 2
        and (w * h <= 1920 * 1080 or min(w, h) == 2)
    )
    if width * height <= 1920 * 1080:
        assert 0 <= width - w < 2 or w == 2


def test_a_video_has_the_frames_that_were_given() -> None:
    av = pytest.importorskip("av")
    from bodymotion.system.video_files import VideoFile

    file = io.BytesIO()
    video = VideoFile(file, "", (64, 48), Fraction(30))
    for k in range(7):
        video.add(video.frame(np.full((48, 64, 3), 30 * k, dtype=np.uint8), "rgb24"))
    video.finish()
    with av.open(io.BytesIO(file.getvalue())) as read:
        frames = [frame.to_ndarray(format="rgb24") for frame in read.decode(video=0)]
    assert len(frames) == 7 and frames[0].shape == (48, 64, 3)
    np.testing.assert_allclose(
        [frame.mean() for frame in frames], 30 * np.arange(7), atol=8
    )


def test_a_missing_video_library_is_said(monkeypatch) -> None:
    from bodymotion.system.video_files import VideoFile

    monkeypatch.setitem(__import__("sys").modules, "av", None)
    with pytest.raises(ImportError, match=r"bodymotion\[render\]"):
        VideoFile(io.BytesIO(), "", (64, 48), Fraction(30))


def test_pictures_are_files_with_plain_names() -> None:
    from PIL import Image

    assert (
        file_name("a/b <c>", "png") == "a_b_c.png"
        and file_name("…", "png") == "bodymotion.png"
    )
    seen = np.zeros((4, 6, 4), dtype=np.uint8)
    seen[0, 0] = (10, 20, 30, 255)
    read = np.asarray(Image.open(io.BytesIO(png(seen))))
    assert (
        read.shape == (4, 6, 3)
        and tuple(read[0, 0]) == (10, 20, 30)
        and tuple(read[1, 1]) == (255, 255, 255)
    )


def test_two_animations_of_spot(examples) -> None:
    """With the arm if one of them moves it; a choreography counts as one, too."""
    wave, sway = bm.load(examples / "wave.cha"), bm.load(examples / "sway.cha")
    dance = bm.Choreography(name="show", slices_per_minute=400).add(sway)
    for other in (sway, dance):
        scene = load_scene(other, wave, ghost=True)
        assert scene.is_ghost
        assert scene.compared is not None
        assert scene.compared.q.shape[1] == scene.q.shape[1] == 19
        np.testing.assert_allclose(
            scene.compared.q, wave.play().joint_displacement.values
        )
