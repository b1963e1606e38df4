"""What is measured as it is shown: contacts, polygons, zero moment points, trails, and colours of limits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_robots import arm, swinging

import bodymotion as bm
from bodymotion.geometry import poses
from bodymotion.rendering.playback import Playback
from bodymotion.scene.options import DisplayOptions
from bodymotion.scene.scene import Scene, make_scene
from bodymotion.viewer import Viewer
from bodymotion.viewer.analysis import analyze
from bodymotion.viewer.limit_colors import (
    BEYOND_COLOR,
    NO_LIMIT_COLOR,
    LimitColors,
    color_of,
    legend,
    shares,
)
from bodymotion.viewer.overlays import TRAIL_PIECES, closed_corners, trail
from bodymotion.viewer.scene_view import SceneView, apply_defaults
from bodymotion.viewer.server import quiet_server, stop_server
from waiting import until
from walker import punch, puncher

EXAMPLES = Path(__file__).parents[2] / "examples"
LAYERS = ("contacts", "support", "measured_zmp", "trails", "mass")


@pytest.fixture(scope="module")
def body() -> bm.Body:
    return bm.load(EXAMPLES / "biped.wrl")


@pytest.fixture(scope="module")
def walk() -> bm.Motion:
    return bm.load(EXAMPLES / "biped_walk.seq")


@pytest.fixture(scope="module")
def scene(body, walk) -> Scene:
    return make_scene(body, walk)


@pytest.fixture(scope="module")
def measures(body, walk) -> bm.dynamics.Measures:
    return bm.dynamics.measure(body, walk)


@pytest.fixture
def scene_view(scene):
    server = quiet_server("127.0.0.1", 0)
    options = DisplayOptions(**dict.fromkeys(LAYERS, True))
    apply_defaults(options, scene)
    scene_view = SceneView(server, scene, options)
    scene_view.analyze_now()
    yield scene_view
    stop_server(server)


def messages(scene_view: SceneView, frame: int) -> list:
    """What is sent to show a frame."""
    recording = scene_view.server.get_scene_serializer()
    before = len(recording._messages)
    scene_view.show(frame)
    sent = [message for _, message in recording._messages[before:]]
    recording.serialize()
    return sent


def test_what_is_known_is_what_is_measured(scene, measures) -> None:
    analysis = analyze(scene, on_ground=False)
    np.testing.assert_allclose(analysis.zmp, measures.zmp, atol=1e-9)
    np.testing.assert_allclose(
        analysis.center_of_mass, measures.center_of_mass, atol=1e-9
    )
    np.testing.assert_allclose(analysis.recorded_zmp, measures.recorded_zmp, atol=1e-9)
    np.testing.assert_allclose(
        analysis.support[..., :2], measures.support_polygons.corners, atol=1e-9
    )
    standing = np.stack(
        [np.isfinite(corners[:, 0, 0]) for corners in analysis.foot_patches], axis=1
    )
    np.testing.assert_array_equal(standing, measures.contacts.in_contact)


def test_prints_of_feet_lie_in_the_support_polygon(scene, measures) -> None:
    analysis = analyze(scene, on_ground=False)
    for corners in analysis.foot_patches:
        for k in range(corners.shape[1]):
            there = np.isfinite(corners[:, k, 0])
            inside, _ = measures.support_polygons.margins(
                np.nan_to_num(corners[:, k, :2])
            )
            assert inside[there].min() > -1e-9


def test_polygons_and_points_are_drawn_where_they_are(scene_view, measures) -> None:
    for frame in (0, 130, 460, 999):
        scene_view.show(frame)
        marks = scene_view.analysis_overlays._made
        count = measures.support_polygons.counts[frame]
        drawn = marks["support"]._face
        assert drawn.visible
        np.testing.assert_allclose(
            drawn.vertices[:count, :2],
            measures.support_polygons.corners[frame, :count],
            atol=1e-6,
        )
        rest = drawn.vertices[count:]
        np.testing.assert_array_equal(
            rest, np.broadcast_to(drawn.vertices[count - 1], rest.shape)
        )
        np.testing.assert_allclose(
            marks["measured_zmp"]._cube.position, measures.zmp[frame], atol=1e-9
        )
        prints = marks["contacts"]
        seen = [patch._face.visible for patch in prints._patches]
        np.testing.assert_array_equal(seen, measures.contacts.in_contact[frame])
        assert [ball.visible for ball in prints._balls] == [
            not on_ground for on_ground in seen
        ]
        ends = {
            name: line.points[-1, 1] for name, line in marks["trails"]._lines.items()
        }
        for name, points in (
            ("mass", measures.center_of_mass),
            ("zmp", measures.recorded_zmp),
            ("measured_zmp", measures.zmp),
        ):
            np.testing.assert_allclose(ends[name][:2], points[frame, :2], atol=1e-6)


def test_a_pose_set_by_hand_hides_what_was_measured(scene_view) -> None:
    scene_view.show(460)
    scene_view.pose_joint(3, 0.3)
    scene_view.show(460)
    assert not scene_view.analysis_overlays._made["support"]._face.visible
    assert not any(
        line.visible
        for line in scene_view.analysis_overlays._made["trails"]._lines.values()
    )
    scene_view.set_pose(None, None)
    scene_view.show(460)
    assert scene_view.analysis_overlays._made["support"]._face.visible


def test_what_is_off_sends_nothing(scene_view, scene) -> None:
    scene_view.show(400)
    on = messages(scene_view, 401)
    assert len(on) <= 2 * len(scene.body.links) + 20
    for name in LAYERS:
        scene_view.switch(name, False)
    scene_view.show(402)
    off = {message["name"] for message in messages(scene_view, 403)}
    assert all(
        name == "/world"
        or name.startswith(("/world/robot", "/world/zero moment point"))
        for name in off
    )


@given(st.integers(2, 60), st.floats(0.05, 5.0), st.floats(0, 1), st.integers(0, 2**31))
def test_a_trail_ends_where_its_point_is_and_leads_through_what_was(
    frames: int, seconds: float, at: float, seed: int
) -> None:
    points = np.random.default_rng(seed).normal(size=(frames, 3))
    timeline = bm.Timeline.uniform(frames, 20.0)
    frame = int(at * (frames - 1))
    pieces = trail(points, timeline, float(timeline.times[frame]), seconds)
    assert pieces.shape == (TRAIL_PIECES, 2, 3)
    np.testing.assert_array_equal(pieces[-1, 1], points[frame])
    np.testing.assert_array_equal(pieces[1:, 0], pieces[:-1, 1])
    first = int(timeline.frames_at(max(timeline.times[frame] - seconds, 0.0)))
    seen = {tuple(point) for point in pieces.reshape(-1, 3)}
    assert seen <= {tuple(point) for point in points[first : frame + 1]}
    points[:frame] = np.nan
    assert np.isfinite(
        trail(points, timeline, float(timeline.times[frame]), seconds)
    ).all()


def test_corners_beyond_their_number_lie_on_the_last() -> None:
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [np.nan] * 3])
    np.testing.assert_array_equal(closed_corners(corners, 4), corners[[0, 1, 2, 2]])
    assert closed_corners(np.full((4, 3), np.nan), 4) is None


finite = st.floats(-1e3, 1e3)


@given(st.floats(-1e3, -1e-3), st.floats(1e-3, 1e3), finite)
def test_a_share_is_one_at_the_limit_and_grows_with_the_value(
    low: float, high: float, value: float
) -> None:
    at = shares([[high, low, 0.0, value]], [low] * 4, [high] * 4)[0]
    np.testing.assert_allclose(at[:3], [1, 1, 0])
    assert (at[3] > 1) == (value > high or value < low)
    assert np.isnan(shares([[value]], [-np.inf], [np.inf])).all()


@given(st.floats(0, 1), st.floats(0, 1))
def test_colours_go_from_green_over_yellow_to_red(one: float, other: float) -> None:
    low, high = sorted((one, other))
    for before, after in zip(color_of(low), color_of(high), strict=True):
        assert all(0 <= part <= 255 for part in (before, after))
    ratio = [color_of(s)[0] / max(color_of(s)[1], 1) for s in (low, high)]
    assert ratio[0] <= ratio[1] + 1e-9
    assert (
        color_of(1.0 + 1e-6 + high) == BEYOND_COLOR
        and color_of(np.nan) == NO_LIMIT_COLOR
    )


def test_links_have_the_colour_of_their_joint_s_share(scene, measures) -> None:
    server = quiet_server("127.0.0.1", 0)
    try:
        options = DisplayOptions(velocity_limits=True)
        scene_view = SceneView(server, scene, options)
        scene_view.analyze_now()
        scene_view.show(460)
        colors = scene_view.analysis_overlays.colors

        def visible() -> set[bool]:
            return {
                node.visible
                for name, (_, node) in scene_view.nodes._shapes.items()
                if name.endswith("/shapes")
            }

        assert visible() == {False}
        for link in scene.body.links:
            mesh = colors._meshes.get(link.index)
            if mesh is None:
                continue
            joint = link.joint
            expected = NO_LIMIT_COLOR
            if joint.type in ("rotate", "slide"):
                column = scene.body.joints.index(joint)
                speed = measures.joint_velocities[460, column]
                limit = joint.velocity_upper if speed >= 0 else joint.velocity_lower
                expected = (
                    color_of(abs(speed / limit))
                    if np.isfinite(limit)
                    else NO_LIMIT_COLOR
                )
            assert tuple(mesh.color) == expected
        worst = np.nanargmax(colors.shares[460])
        assert scene.body.joints[worst].name in colors.describe(460)
        scene_view.switch("torque_limits", True)
        scene_view.show(460)
        assert (
            not options.velocity_limits
            and scene_view.analysis_overlays.colors.kind == "torque"
        )
        scene_view.switch("torque_limits", False)
        scene_view.show(461)
        assert scene_view.analysis_overlays.colors is None and visible() == {True}
    finally:
        stop_server(server)


def test_a_walk_without_root_poses_is_measured_on_its_feet(body, walk) -> None:
    alone = make_scene(body, bm.Motion((walk.joint_displacement,)))
    assert alone.on_ground_by_default
    analysis = analyze(alone, on_ground=True)
    assert analysis.measures.contacts.in_contact.any(axis=1).mean() > 0.9
    own = poses.transform_points(
        poses.inverse(analysis.measures.root_poses), analysis.measures.zmp
    )
    np.testing.assert_allclose(
        poses.transform_points(analysis.roots, own), analysis.zmp, atol=1e-9
    )
    lowest = alone.extent.lowest(alone.link_poses[::50]) - alone.link_poses[::50, 0, 2]
    np.testing.assert_allclose(analysis.roots[::50, 2] + lowest, 0.0, atol=1e-9)
    np.testing.assert_array_equal(np.nan_to_num(analysis.support[..., 2]), 0.0)


def test_what_the_model_mounts_stays_where_the_model_puts_it() -> None:
    mounted = arm()
    assert mounted.is_mounted
    for motion in (None, swinging(mounted)):
        scene = make_scene(mounted, motion)
        assert not scene.on_ground_by_default
        shown_scene = Playback(scene)
        np.testing.assert_array_equal(
            shown_scene.roots(np.array([0.0])), [mounted.root_pose[:3]]
        )


def test_why_nothing_is_measured_is_said(walk) -> None:
    alone = make_scene(None, walk)
    assert "no body" in analyze(alone, False).failure
    assert analyze(make_scene(arm(), None), False).failure == "there is no motion"
    mounted = analyze(make_scene(arm(), swinging(arm())), False)
    assert mounted.failure == "" and not mounted.on_feet and mounted.zmp is None
    with pytest.raises(KeyError, match="zmp"):
        mounted.series("zmp")
    assert "mounted" in mounted.no_feet_reason


def test_the_viewer_measures_in_the_background_and_goes_on(body, walk) -> None:
    with Viewer(make_scene(body, walk), port=8700, play=False) as viewer:
        assert viewer.analysis is None
        viewer.show("support")
        until(
            lambda: (
                viewer.analysis is not None
                and viewer.scene_view.analysis_overlays.analysis is viewer.analysis
            )
        )
        viewer.seek(4.6)
        assert viewer.scene_view.analysis_overlays._made["support"]._face.visible
        assert viewer.background_analysis.describe() == ""
        viewer.show("stand")
        until(lambda: viewer.analysis is not None and viewer.analysis.on_ground)
        viewer.show("stand", False)
        viewer.replace(make_scene(arm(), swinging(arm())))
        until(
            lambda: (
                viewer.analysis is not None
                and viewer.analysis.scene.body.name == arm().name
            )
        )
        assert not viewer.analysis.on_feet


def test_frames_held_for_a_longer_second_motion_are_not_measured(
    scene, measures
) -> None:
    from bodymotion.scene.compared_motion import extended

    longer = replace(scene, timeline=bm.Timeline.uniform(scene.num_frames, 80.0))
    held = extended(scene, longer)
    assert (
        held.timeline.times[-1] == longer.timeline.times[-1]
        and held.own_frames == 1001 < held.num_frames
    )
    analysis = analyze(held, on_ground=False)
    np.testing.assert_allclose(analysis.zmp, measures.zmp, atol=1e-9)


def test_colours_need_limits(scene) -> None:
    analysis = analyze(make_scene(arm(), swinging(arm())), False)
    server = quiet_server("127.0.0.1", 0)
    try:
        scene_view = SceneView(server, analysis.scene, DisplayOptions())
        colors = LimitColors(scene_view.nodes, analysis, "torque")
        assert (
            not colors.exist and colors.describe(0) == "no torque limits in the model"
        )
        assert "gradient" not in legend("torque", colors.describe(0), colors.exist)
    finally:
        stop_server(server)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300, -1e9])
@pytest.mark.parametrize("which", ["joint_displacement", "link_position"])
def test_numbers_that_make_no_sense_do_no_harm(
    body, walk, value: float, which: str
) -> None:
    walk = walk[:200]
    component = getattr(walk, which)
    values = np.array(component.values)
    values[100:103] = value
    odd = walk.replaced(
        *(replace(c, values=values) if c is component else c for c in walk.components)
    )
    server = quiet_server("127.0.0.1", 0)
    try:
        scene_view = SceneView(
            server,
            make_scene(body, odd),
            DisplayOptions(**dict.fromkeys(LAYERS, True), velocity_limits=True),
        )
        scene_view.analyze_now()
        for frame in (90, 101, 120):
            scene_view.show(frame)
    finally:
        stop_server(server)


def test_what_goes_wrong_is_said_once_and_not_tried_again(
    body, walk, monkeypatch, capsys
) -> None:
    tries = []

    def fails(*things: object) -> None:
        tries.append(things)
        raise RuntimeError("no luck")

    monkeypatch.setattr("bodymotion.viewer.analysis.analyze", fails)
    with Viewer(make_scene(body, walk), port=8700, play=False) as viewer:
        viewer.show("support")
        until(lambda: "no luck" in viewer.background_analysis.describe())
        for time in (1.0, 2.0, 3.0):
            viewer.seek(time)
        assert len(tries) == 1 and viewer.time == 3.0
    assert "no luck" in capsys.readouterr().err


def test_collisions_are_marked_with_links_and_depth() -> None:
    pytest.importorskip("mujoco")
    server = quiet_server("127.0.0.1", 0)
    view = SceneView(
        server, make_scene(puncher(), punch(0.06)), DisplayOptions(contacts=True)
    )
    view.analyze_now()
    view.show(120)
    marks = view.analysis_overlays._made["overlaps"]
    assert marks._balls[0].visible and marks._labels[0].text.endswith(
        "TRUNK – HAND: 60 mm"
    )
    assert marks._balls[0].position[0] == pytest.approx(0.2, abs=0.07)
    view.show(200)
    assert not marks._balls[0].visible
    stop_server(server)
