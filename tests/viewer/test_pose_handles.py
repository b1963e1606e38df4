"""Handles in a real browser: a hand is dragged with the mouse, and follows; the feet stay."""

from __future__ import annotations

import numpy as np
import pytest

import bodymotion as bm
from bodymotion.geometry import rotations
from bodymotion.scene.scene import make_scene
from bodymotion.viewer import Viewer
from bodymotion.viewer.pose_handles import Drag
from waiting import TIMEOUT, until

pytestmark = pytest.mark.browser
FEET = ("R_ANKLE_ROLL", "L_ANKLE_ROLL")


@pytest.fixture
def viewer(page, examples):
    viewer = Viewer(
        make_scene(bm.load(examples / "biped.wrl"), None), port=8700, play=False
    )
    viewer.show("shadows", False)
    viewer.server.scene.configure_environment_map(None)
    page.set_viewport_size({"width": 900, "height": 500})
    page.goto(viewer.url)
    page.get_by_role("tab", name="Show").wait_for(timeout=TIMEOUT * 1000)
    yield viewer
    viewer.stop()


def on_screen(page, client, point):
    """Return where in the browser's window a point (3,) of the world is drawn [px].

    The camera's own image size is that of the picture, which has fewer pixels where the browser is slow.
    """
    camera, box = client.camera, page.locator("canvas").first.bounding_box()
    x, y, z = rotations.rotate(
        rotations.conjugate(camera.wxyz), np.asarray(point) - camera.position
    )
    scale = 0.5 * box["height"] / np.tan(0.5 * camera.fov)
    return box["x"] + 0.5 * box["width"] + scale * x / z, box["y"] + 0.5 * box[
        "height"
    ] + scale * y / z


def test_a_handle_that_is_removed_while_it_is_dragged_moves_nothing(examples):
    """As when the drag was of the selected link, and another link is selected."""
    viewer = Viewer(
        make_scene(bm.load(examples / "biped.wrl"), None), port=8700, play=False
    )
    try:
        before = viewer.link_poses()
        viewer.scene_view.set_pose(np.array(viewer.scene_view.q), np.array(before[0]))
        viewer.handles._drag = Drag(5, np.array(viewer.scene_view.q), before, ())
        viewer.handles._end()
        assert viewer.handles._drag is None and np.allclose(
            viewer.link_poses(), before, rtol=0, atol=1e-6
        )
    finally:
        viewer.stop()


def test_a_hand_is_dragged_saved_and_put_back(page, viewer, tmp_path):
    body = viewer.scene.body
    hand, feet = body.link("R_WRIST").index, [body.link(name).index for name in FEET]
    before = viewer.link_poses()
    page.get_by_text("Drag handles").click()
    until(lambda: len(viewer.handles._handles) == 4)
    assert set(viewer.handles._handles) == {hand, body.link("L_WRIST").index, *feet}
    handle = viewer.handles._handles[hand]
    (client,) = viewer.server.get_clients().values()
    aside = before[hand, :3] + [0.1, 0.0, 0.0]
    client.camera.position, client.camera.look_at = aside - [0.0, 1.5, 0.0], aside
    goals = []
    handle.on_update(lambda event: goals.append(np.array(event.target.position)))

    def drag():
        arrow = [0.8 * handle.scale, 0.0, 0.0]
        page.mouse.move(*on_screen(page, client, handle.position + np.array(arrow)))
        page.mouse.down()
        page.mouse.move(
            *on_screen(page, client, before[hand, :3] + [0.2, 0, 0] + arrow), steps=10
        )
        page.mouse.up()

    until(
        lambda: (
            viewer.link_poses()[hand, 0] > before[hand, 0] + 0.18
            and viewer.handles._drag is None
        ),
        drag,
    )
    links = viewer.link_poses()
    farthest = max(goals, key=lambda goal: goal[0])
    assert np.linalg.norm(links[hand, :3] - farthest) < 0.005
    assert np.linalg.norm(links[feet, :3] - before[feet, :3], axis=1).max() < 0.001
    with page.expect_download() as download:
        page.get_by_role("button", name="Save", exact=True).first.click()
    download.value.save_as(tmp_path / "pose.seq")
    np.testing.assert_allclose(
        body.link_poses(bm.load(tmp_path / "pose.seq"))[0], links, atol=1e-5
    )
    undo = page.get_by_role("button", name="Undo")
    until(lambda: np.abs(viewer.link_poses() - before).max() < 1e-9, undo.click)
    assert np.allclose(handle.position, before[hand, :3])
