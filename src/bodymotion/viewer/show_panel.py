"""The part of the panel that says what is shown: views, the robot's parts, balance, limits; and pictures and videos of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bodymotion.diagnostics.text import shown
from bodymotion.viewer.camera import PRESETS
from bodymotion.viewer.limits import legend
from bodymotion.viewer.switches import LABELS, LIMIT_SWITCHES
from bodymotion.viewer.take import Take
from bodymotion.viewer.text import html_text, node_name

if TYPE_CHECKING:
    import viser

    from bodymotion.viewer.app import Viewer

__all__ = ["ShowPanel"]

NO_PATH = "no link"
LONGEST_TRAIL = 10.0
FOLDERS = {
    "Robot": ("visuals", "collisions", "frames", "axes", "names", "inertias", "devices"),
    "Balance": ("mass", "zmp", "measured_zmp", "contacts", "support", "trails"),
    "Limits": tuple(LIMIT_SWITCHES),
    "Around": ("follow", "stand", "shadows", "dark"),
}
"""The switches of each folder."""


class ShowPanel:
    """The widgets of the tab Show; `has_joints` when there are joints to be seen."""

    def __init__(self, viewer: Viewer, has_joints: bool) -> None:
        self._viewer = viewer
        self._gui = gui = viewer.server.gui
        self._ticks: dict[str, Any] = {}
        self._path: Any = None
        self._trail: Any = None
        self._legend: Any = None
        take = viewer.take
        absent = _absent(take, has_joints)
        self._add_views()
        self._add_capture()
        self._status = gui.add_html("", visible=False)
        for folder, names in FOLDERS.items():
            present = [name for name in names if not absent.get(name)]
            if not present:
                continue
            with gui.add_folder(folder):
                for name in present:
                    self._add_tick(name)
                if folder == "Balance":
                    self._add_trail_and_path()
                if folder == "Limits":
                    self._legend = gui.add_html("", visible=False)

    def _add_views(self) -> None:
        gui, viewer = self._gui, self._viewer
        views = gui.add_button_group("Look from", tuple(PRESETS))
        views.on_click(lambda event: viewer.look(event.client, preset=event.target.value))
        points = viewer.take.body.viewpoints
        if points:
            names = tuple(f"{i + 1}. {shown(v.description) or 'viewpoint'}" for i, v in enumerate(points))
            chosen = gui.add_dropdown("Viewpoint", ("—", *names))

            def go(event: viser.GuiEvent[viser.GuiDropdownHandle[str]]) -> None:
                if event.client is not None and event.target.value in names:
                    viewer.look(event.client, viewpoint=names.index(event.target.value))

            chosen.on_update(go)

    def _add_capture(self) -> None:
        viewer = self._viewer
        kinds = ("Picture", "Video") if viewer.take.num_frames > 1 else ("Picture",)
        hint = "What is seen here as a PNG file; the motion, once through, as a video file"
        keep = self._gui.add_button_group("Keep", kinds, hint=hint)

        def capture(event: viser.GuiEvent[viser.GuiButtonGroupHandle]) -> None:
            if event.client is not None and event.target.value == "Picture":
                viewer.capture.take_picture(event.client)
            elif event.client is not None:
                viewer.capture.record(event.client)

        keep.on_click(capture)
        self._progress: Any = self._gui.add_progress_bar(0.0, visible=False)
        self._cancel: Any = self._gui.add_button("Cancel the video", visible=False)
        self._cancel.on_click(lambda _event: viewer.capture.cancel())
        self._captured = self._gui.add_html("", visible=False)

    def _add_trail_and_path(self) -> None:
        gui, viewer = self._gui, self._viewer
        take = viewer.take
        if take.num_frames < 2:
            return
        self._trail = gui.add_slider("Length [s]", 0.5, LONGEST_TRAIL, 0.5, viewer.switches.trail_seconds)
        self._trail.on_update(
            lambda event: viewer.set_trail(event.target.value) if event.client_id is not None else None
        )
        self._paths = {node_name(link.index, link.name): link.name for link in take.body.links}
        self._path = gui.add_dropdown("Path of", (NO_PATH, *self._paths), initial_value=self._path_shown())
        self._path.on_update(
            lambda event: (
                viewer.choose_path(self._paths.get(event.target.value)) if event.client_id is not None else None
            )
        )

    def _path_shown(self) -> str:
        chosen = self._viewer.switches.path
        return next((label for label, name in self._paths.items() if name == chosen), NO_PATH)

    def _add_tick(self, name: str) -> None:
        tick = self._ticks[name] = self._gui.add_checkbox(LABELS[name], getattr(self._viewer.switches, name))
        tick.on_update(
            lambda event: self._viewer.switch(name, event.target.value) if event.client_id is not None else None
        )

    def sync(self, slow: bool) -> None:
        """Write the state of the viewer into the widgets; what takes longer only when `slow`."""
        viewer = self._viewer
        for name, tick in self._ticks.items():
            tick.value = getattr(viewer.switches, name)
        if self._path is not None:
            self._path.value = self._path_shown()
        layers = viewer.stage.layers
        _say(self._status, (viewer.measuring.in_words() or layers.in_words()) if layers.wanted else "")
        self._sync_capture()
        if self._legend is not None and slow:
            colors = viewer.stage.layers.colors
            self._legend.visible = colors is not None
            if colors is not None:
                frame = min(viewer.player.frame, len(colors.shares) - 1)
                self._legend.content = legend(colors.kind, colors.in_words(frame), colors.there)

    def _sync_capture(self) -> None:
        capture = self._viewer.capture
        _say(self._captured, capture.state)
        self._progress.visible = capture.share is not None
        if capture.share is not None:
            self._progress.value = 100.0 * capture.share
        self._cancel.visible = capture.share is not None


def _say(place: Any, text: str) -> None:  # noqa: ANN401
    place.visible = bool(text)
    if text:
        place.content = f'<div style="padding:0 1em;font-size:0.85em;opacity:0.85">{html_text(text)}</div>'


def _absent(take: Take, has_joints: bool) -> dict[str, bool]:
    """Return the switches that make no sense for a take."""
    moves = take.num_frames > 1 and not take.motion_alone
    absent = {
        "zmp": take.zmp is None,
        "contacts": take.contacts is None and not moves,
        "devices": not take.body.devices,
        "mass": take.body.mass == 0,
        "inertias": take.body.mass == 0,
        "follow": take.num_frames < 2,
        "collisions": not any(link.collisions for link in take.body.links),
        "visuals": not any(link.visuals for link in take.body.links),
        "axes": not has_joints,
    }
    return absent | dict.fromkeys(("measured_zmp", "support", "trails", *LIMIT_SWITCHES), not moves)
