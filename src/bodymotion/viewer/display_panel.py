"""The tab Show: cameras, images and videos, and the display options."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from bodymotion.diagnostics.text import node_name, shown, small_html
from bodymotion.scene.options import LABELS, LIMIT_OPTIONS
from bodymotion.scene.scene import Scene
from bodymotion.viewer.limit_colors import legend
from bodymotion.viewer.scene_view import PRESETS, show_camera
from bodymotion.viewer.server import on_user

if TYPE_CHECKING:
    from collections.abc import Callable

    import viser

    from bodymotion.scene.camera import Camera
    from bodymotion.viewer.app import Viewer
    from bodymotion.viewer.scene_view import SceneView

NO_PATH = "no link"
MAX_TRAIL_SECONDS = 10.0
FOLDERS = {
    "Robot": ("visuals", "collisions", "frames", "axes", "names", "inertias", "devices"),
    "Balance": ("mass", "zmp", "measured_zmp", "contacts", "support", "trails"),
    "Limits": tuple(LIMIT_OPTIONS),
    "Environment": ("follow", "stand", "shadows", "dark"),
}
"""The options of each folder."""


class DisplayPanel:
    """The widgets of the tab Show; `has_joints` when the body has joints that move links."""

    def __init__(self, viewer: Viewer, has_joints: bool) -> None:
        self._viewer = viewer
        self._gui = gui = viewer.server.gui
        self._checkboxes: dict[str, Any] = {}
        self._path: Any = None
        self._legend: Any = None
        self._add_cameras()
        self._add_capture()
        self._status = gui.add_html("", visible=False)
        absent = _absent(viewer.scene, has_joints)
        for folder, names in FOLDERS.items():
            present = [name for name in names if not absent.get(name)]
            if not present:
                continue
            with gui.add_folder(folder):
                for name in present:
                    checkbox = self._checkboxes[name] = gui.add_checkbox(LABELS[name], getattr(viewer.options, name))
                    on_user(checkbox, partial(viewer.switch, name))
                if folder == "Balance" and viewer.scene.num_frames > 1:
                    self._add_trail_and_path()
                if folder == "Limits":
                    self._legend = gui.add_html("", visible=False)

    def _add_cameras(self) -> None:
        gui, viewer = self._gui, self._viewer
        presets = gui.add_button_group("Camera", tuple(PRESETS))
        presets.on_click(lambda event: self._move(event.client, lambda view: view.camera(event.target.value)))
        viewpoints = viewer.scene.body.viewpoints
        if viewpoints:
            names = tuple(f"{i + 1}. {shown(v.description) or 'viewpoint'}" for i, v in enumerate(viewpoints))
            chosen = gui.add_dropdown("Viewpoint", ("—", *names))

            def move(event: viser.GuiEvent[viser.GuiDropdownHandle[str]]) -> None:
                if event.target.value in names:
                    self._move(event.client, lambda view: view.viewpoint(names.index(event.target.value)))

            chosen.on_update(move)

    def _move(self, client: viser.ClientHandle | None, camera: Callable[[SceneView], Camera]) -> None:
        """Move the camera of one browser."""
        if client is not None:
            self._viewer.post(lambda: show_camera(client, camera(self._viewer.scene_view)))

    def _add_capture(self) -> None:
        viewer = self._viewer
        kinds = ("Image", "Video") if viewer.scene.num_frames > 1 else ("Image",)
        hint = "This view as a PNG file; the motion, from first to last frame, as a video file"
        save = self._gui.add_button_group("Save", kinds, hint=hint)

        def capture(event: viser.GuiEvent[viser.GuiButtonGroupHandle]) -> None:
            if event.client is not None and event.target.value == "Image":
                viewer.capture.save_image(event.client)
            elif event.client is not None:
                viewer.capture.record(event.client)

        save.on_click(capture)
        self._progress: Any = self._gui.add_progress_bar(0.0, visible=False)
        self._cancel: Any = self._gui.add_button("Cancel the video", visible=False)
        self._cancel.on_click(lambda _event: viewer.capture.cancel())
        self._capture_state = self._gui.add_html("", visible=False)

    def _add_trail_and_path(self) -> None:
        gui, viewer = self._gui, self._viewer
        trail: Any = gui.add_slider("Trail [s]", 0.5, MAX_TRAIL_SECONDS, 0.5, viewer.options.trail_seconds)
        on_user(trail, lambda seconds: setattr(viewer.options, "trail_seconds", seconds))
        self._paths = {node_name(link.index, link.name): link.name for link in viewer.scene.body.links}
        self._path = gui.add_dropdown("Path of", (NO_PATH, *self._paths), initial_value=self._chosen_path())
        on_user(self._path, lambda name: viewer.post(lambda: viewer.scene_view.choose_path(self._paths.get(name))))

    def _chosen_path(self) -> str:
        chosen = self._viewer.options.path
        return next((label for label, name in self._paths.items() if name == chosen), NO_PATH)

    def sync(self, all_values: bool) -> None:
        """Write the state of the viewer into the widgets; the legend of limits only with `all_values`."""
        viewer = self._viewer
        for name, checkbox in self._checkboxes.items():
            checkbox.value = getattr(viewer.options, name)
        if self._path is not None:
            self._path.value = self._chosen_path()
        overlays = viewer.scene_view.analysis_overlays
        status = (viewer.background_analysis.describe() or overlays.describe()) if overlays.needed else ""
        _show_text(self._status, status)
        _show_text(self._capture_state, viewer.capture.state)
        share = viewer.capture.share
        self._progress.visible = self._cancel.visible = share is not None
        if share is not None:
            self._progress.value = 100.0 * share
        if self._legend is not None and all_values:
            colors = overlays.colors
            self._legend.visible = colors is not None
            if colors is not None:
                frame = min(viewer.player.frame, len(colors.shares) - 1)
                self._legend.content = legend(colors.kind, colors.describe(frame), colors.exist)


def _show_text(widget: Any, text: str) -> None:  # noqa: ANN401
    widget.visible = bool(text)
    if text:
        widget.content = small_html(text)


def _absent(scene: Scene, has_joints: bool) -> dict[str, bool]:
    """Return the options that have no effect for a scene."""
    moves = scene.num_frames > 1 and not scene.without_body
    absent = {
        "zmp": scene.zmp is None,
        "contacts": scene.contacts is None and not moves,
        "devices": not scene.body.devices,
        "mass": scene.body.mass == 0,
        "inertias": scene.body.mass == 0,
        "follow": scene.num_frames < 2,
        "collisions": not any(link.collisions for link in scene.body.links),
        "visuals": not any(scene.shapes),
        "axes": not has_joints,
    }
    return absent | dict.fromkeys(("measured_zmp", "support", "trails", *LIMIT_OPTIONS), not moves)
