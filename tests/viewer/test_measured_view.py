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
from bodymotion.model.motors import effort_range
from bodymotion.rendering.playback import Playback
from bodymotion.viewer import Viewer
from bodymotion.viewer.insight import look_into
from bodymotion.viewer.limits import BEYOND, NO_LIMIT, LimitColors, color_of, legend, limit_ranges, shares
from bodymotion.viewer.server import quiet_server, stop_server
from bodymotion.viewer.stage import Stage, fit
from bodymotion.viewer.support import filled
from bodymotion.viewer.switches import Switches
from bodymotion.viewer.take import Take, make_take
from bodymotion.viewer.trails import PIECES, trail
from browser_pictures import until

EXAMPLES = Path(__file__).parents[2] / "examples"
LAYERS = ("contacts", "support", "measured_zmp", "trails", "mass")


@pytest.fixture(scope="module")
def body() -> bm.Body:
    return bm.load(EXAMPLES / "biped.wrl")


@pytest.fixture(scope="module")
def walk() -> bm.Motion:
    return bm.load(EXAMPLES / "biped_walk.seq")


@pytest.fixture(scope="module")
def take(body, walk) -> Take:
    return make_take(body, walk)


@pytest.fixture(scope="module")
def measures(body, walk) -> bm.dynamics.Measures:
    return bm.dynamics.measure(body, walk)


@pytest.fixture
def stage(take):
    server = quiet_server("127.0.0.1", 0)
    switches = Switches(**dict.fromkeys(LAYERS, True))
    fit(switches, take)
    stage = Stage(server, take, switches)
    stage.learn_at_once()
    yield stage
    stop_server(server)


def messages(stage: Stage, frame: int) -> list:
    """What is sent to show a frame."""
    recording = stage.server.get_scene_serializer()
    before = len(recording._messages)
    stage.show(frame)
    sent = [message for _, message in recording._messages[before:]]
    recording.serialize()
    return sent


def test_what_is_known_is_what_is_measured(take, measures) -> None:
    insight = look_into(take, stands=False)
    np.testing.assert_allclose(insight.zmp, measures.zmp, atol=1e-9)
    np.testing.assert_allclose(insight.center_of_mass, measures.center_of_mass, atol=1e-9)
    np.testing.assert_allclose(insight.given_zmp, measures.given_zmp, atol=1e-9)
    np.testing.assert_allclose(insight.support[..., :2], measures.support_polygons.corners, atol=1e-9)
    standing = np.stack([np.isfinite(corners[:, 0, 0]) for corners in insight.foot_patches], axis=1)
    np.testing.assert_array_equal(standing, measures.contacts.standing)


def test_prints_of_feet_lie_in_the_support_polygon(take, measures) -> None:
    insight = look_into(take, stands=False)
    for corners in insight.foot_patches:
        for k in range(corners.shape[1]):
            there = np.isfinite(corners[:, k, 0])
            inside, _ = measures.support_polygons.margins(np.nan_to_num(corners[:, k, :2]))
            assert inside[there].min() > -1e-9


def test_polygons_and_points_are_drawn_where_they_are(stage, measures) -> None:
    for frame in (0, 130, 460, 999):
        stage.show(frame)
        marks = stage.layers._marks
        count = measures.support_polygons.counts[frame]
        drawn = marks["support"]._patch._face
        assert drawn.visible
        np.testing.assert_allclose(
            drawn.vertices[:count, :2], measures.support_polygons.corners[frame, :count], atol=1e-6
        )
        rest = drawn.vertices[count:]
        np.testing.assert_array_equal(rest, np.broadcast_to(drawn.vertices[count - 1], rest.shape))
        np.testing.assert_allclose(marks["measured_zmp"]._cube.position, measures.zmp[frame], atol=1e-9)
        prints = marks["contacts"]
        seen = [patch._face.visible for patch in prints._patches]
        np.testing.assert_array_equal(seen, measures.contacts.standing[frame])
        assert [ball.visible for ball in prints._balls] == [not stands for stands in seen]
        ends = {name: line.points[-1, 1] for name, line in stage.layers._trails._lines.items()}
        for name, points in (
            ("mass", measures.center_of_mass),
            ("zmp", measures.given_zmp),
            ("measured_zmp", measures.zmp),
        ):
            np.testing.assert_allclose(ends[name][:2], points[frame, :2], atol=1e-6)


def test_a_pose_set_by_hand_hides_what_was_measured(stage) -> None:
    stage.show(460)
    stage.pose_joint(3, 0.3)
    stage.show(460)
    assert not stage.layers._marks["support"]._patch._face.visible
    assert not any(line.visible for line in stage.layers._trails._lines.values())
    stage.unpose()
    stage.show(460)
    assert stage.layers._marks["support"]._patch._face.visible


def test_what_is_off_sends_nothing(stage, take) -> None:
    stage.show(400)
    on = messages(stage, 401)
    assert len(on) <= 2 * len(take.body.links) + 20
    for name in LAYERS:
        stage.switch(name, False)
    stage.show(402)
    off = {message["name"] for message in messages(stage, 403)}
    assert all(name == "/world" or name.startswith(("/world/robot", "/world/zero moment point")) for name in off)


@given(st.integers(2, 60), st.floats(0.05, 5.0), st.floats(0, 1), st.integers(0, 2**31))
def test_a_trail_ends_where_its_point_is_and_leads_through_what_was(
    frames: int, seconds: float, at: float, seed: int
) -> None:
    points = np.random.default_rng(seed).normal(size=(frames, 3))
    timeline = bm.Timeline.uniform(frames, 20.0)
    frame = int(at * (frames - 1))
    pieces = trail(points, timeline, float(timeline.times[frame]), seconds)
    assert pieces.shape == (PIECES, 2, 3)
    np.testing.assert_array_equal(pieces[-1, 1], points[frame])
    np.testing.assert_array_equal(pieces[1:, 0], pieces[:-1, 1])
    first = int(timeline.frames_at(max(timeline.times[frame] - seconds, 0.0)))
    seen = {tuple(point) for point in pieces.reshape(-1, 3)}
    assert seen <= {tuple(point) for point in points[first : frame + 1]}
    points[:frame] = np.nan
    assert np.isfinite(trail(points, timeline, float(timeline.times[frame]), seconds)).all()


def test_corners_beyond_their_number_lie_on_the_last() -> None:
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [np.nan] * 3])
    np.testing.assert_array_equal(filled(corners), corners[[0, 1, 2, 2]])
    assert filled(np.full((4, 3), np.nan)) is None


finite = st.floats(-1e3, 1e3)


@given(st.floats(-1e3, -1e-3), st.floats(1e-3, 1e3), finite)
def test_a_share_is_one_at_the_limit_and_grows_with_the_value(low: float, high: float, value: float) -> None:
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
    assert color_of(1.0 + 1e-6 + high) == BEYOND and color_of(np.nan) == NO_LIMIT


def test_links_have_the_colour_of_their_joint_s_share(take, measures) -> None:
    server = quiet_server("127.0.0.1", 0)
    try:
        switches = Switches(velocity_limits=True)
        stage = Stage(server, take, switches)
        stage.learn_at_once()
        stage.show(460)
        colors = stage.layers.colors
        assert not any(handle.visible for handle in stage.scene._visuals)
        for link in take.body.links:
            mesh = colors._meshes.get(link.index)
            if mesh is None:
                continue
            joint = link.joint
            expected = NO_LIMIT
            if joint.type in ("rotate", "slide"):
                column = take.body.joints.index(joint)
                speed = measures.joint_velocities[460, column]
                limit = joint.velocity_upper if speed >= 0 else joint.velocity_lower
                expected = color_of(abs(speed / limit)) if np.isfinite(limit) else NO_LIMIT
            assert tuple(mesh.color) == expected
        worst = np.nanargmax(colors.shares[460])
        assert take.body.joints[worst].name in colors.in_words(460)
        stage.switch("torque_limits", True)
        stage.show(460)
        assert not switches.velocity_limits and stage.layers.colors.kind == "torque"
        stage.switch("torque_limits", False)
        stage.show(461)
        assert stage.layers.colors is None and all(handle.visible for handle in stage.scene._visuals)
    finally:
        stop_server(server)


def test_torque_limits_are_those_of_the_motors(body) -> None:
    lower, upper = limit_ranges(body, "torque")
    for joint, low, high in zip(body.joints, lower, upper, strict=True):
        assert (low, high) == (effort_range(joint) or (-np.inf, np.inf))


def test_a_walk_without_root_poses_is_measured_on_its_feet(body, walk) -> None:
    alone = make_take(body, bm.Motion((walk.joint_displacement,)))
    assert alone.stands_by_default
    insight = look_into(alone, stands=True)
    assert insight.measures.contacts.standing.any(axis=1).mean() > 0.9
    own = poses.transform_points(poses.inverse(insight.measures.root_poses), insight.measures.zmp)
    np.testing.assert_allclose(poses.transform_points(insight.roots, own), insight.zmp, atol=1e-9)
    lowest = alone.footprint.lowest(alone.link_poses[::50]) - alone.link_poses[::50, 0, 2]
    np.testing.assert_allclose(insight.roots[::50, 2] + lowest, 0.0, atol=1e-9)
    np.testing.assert_array_equal(np.nan_to_num(insight.support[..., 2]), 0.0)


def test_what_the_model_mounts_stays_where_the_model_puts_it() -> None:
    mounted = arm()
    assert mounted.is_mounted
    for motion in (None, swinging(mounted)):
        take = make_take(mounted, motion)
        assert not take.stands_by_default
        played = Playback(take)
        np.testing.assert_array_equal(played.roots(np.array([0.0])), [mounted.root_pose[:3]])


def test_why_nothing_is_measured_is_said(walk) -> None:
    alone = make_take(None, walk)
    assert "no body" in look_into(alone, False).why_not
    assert look_into(make_take(arm(), None), False).why_not == "there is no motion"
    mounted = look_into(make_take(arm(), swinging(arm())), False)
    assert mounted.why_not == "" and not mounted.on_feet and mounted.zmp is None
    with pytest.raises(KeyError, match="zmp"):
        mounted.series("zmp")
    assert "mounted" in mounted.about_feet


def test_the_viewer_measures_in_the_background_and_goes_on(body, walk) -> None:
    with Viewer(make_take(body, walk), port=8700, play=False) as viewer:
        assert viewer.insight is None
        viewer.show("support")
        until(lambda: viewer.insight is not None and viewer.stage.layers.insight is viewer.insight)
        viewer.seek(4.6)
        assert viewer.stage.layers._marks["support"]._patch._face.visible
        assert viewer.measuring.in_words() == ""
        viewer.show("stand")
        until(lambda: viewer.insight is not None and viewer.insight.stands)
        viewer.show("stand", False)
        viewer.replace(make_take(arm(), swinging(arm())))
        until(lambda: viewer.insight is not None and viewer.insight.take.body.name == arm().name)
        assert not viewer.insight.on_feet


def test_frames_held_for_a_longer_second_motion_are_not_measured(take, measures) -> None:
    from bodymotion.viewer.second import on_one_time_line

    longer = replace(take, timeline=bm.Timeline.uniform(take.num_frames, 80.0))
    held = on_one_time_line(take, longer)
    assert held.num_frames == 1251 and held.own_frames == 1001
    insight = look_into(held, stands=False)
    np.testing.assert_allclose(insight.zmp, measures.zmp, atol=1e-9)


def test_colours_need_limits(take) -> None:
    insight = look_into(make_take(arm(), swinging(arm())), False)
    server = quiet_server("127.0.0.1", 0)
    try:
        stage = Stage(server, insight.take, Switches())
        colors = LimitColors(stage.scene, insight, "torque")
        assert not colors.there and colors.in_words(0) == "no torque limits in the model"
        assert "gradient" not in legend("torque", colors.in_words(0), colors.there)
    finally:
        stop_server(server)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300, -1e9])
@pytest.mark.parametrize("which", ["joint_displacement", "link_position"])
def test_numbers_that_make_no_sense_do_no_harm(body, walk, value: float, which: str) -> None:
    component = getattr(walk, which)
    values = np.array(component.values)
    values[100:103] = value
    odd = walk.replaced(*(replace(c, values=values) if c is component else c for c in walk.components))
    server = quiet_server("127.0.0.1", 0)
    try:
        stage = Stage(server, make_take(body, odd), Switches(**dict.fromkeys(LAYERS, True), velocity_limits=True))
        stage.learn_at_once()
        for frame in (90, 101, 120):
            stage.show(frame)
    finally:
        stop_server(server)


def test_what_goes_wrong_is_said_once_and_not_tried_again(body, walk, monkeypatch, capsys) -> None:
    tries = []

    def fails(*things: object) -> None:
        tries.append(things)
        raise RuntimeError("no luck")

    monkeypatch.setattr("bodymotion.viewer.measuring.look_into", fails)
    with Viewer(make_take(body, walk), port=8700, play=False) as viewer:
        viewer.show("support")
        until(lambda: "no luck" in viewer.measuring.in_words())
        for time in (1.0, 2.0, 3.0):
            viewer.seek(time)
        assert len(tries) == 1 and viewer.time == 3.0
    assert "no luck" in capsys.readouterr().err
