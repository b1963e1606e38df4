"""The panel beside the scene.

It has playback, script, joints, links, display options, plot, and a summary of the
files with their findings.

The tab Joints has a slider for each joint that moves a link, in degrees or metres,
within the joint's limits. The tab Links has the tree of links with a search; the card
of the selected link is above the tabs. The tab Show has cameras, images and videos, and
the display options.

Names come from files, so all HTML is escaped; other widgets show plain text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from bodymotion.diagnostics.text import (
    counted,
    fixed,
    html_text,
    node_name,
    severities,
    shown,
    small_html,
)
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body
from bodymotion.model.links import Joint, Link
from bodymotion.scene.loading import groups_html, table_html
from bodymotion.scene.options import LABELS, LIMIT_OPTIONS
from bodymotion.scene.scene import Scene, limits_text
from bodymotion.viewer.limit_colors import legend
from bodymotion.viewer.page import PlaybackPanel
from bodymotion.viewer.plot_panel import PlotPanel, filled, svg_of
from bodymotion.viewer.scene_view import PRESETS, show_camera
from bodymotion.viewer.script_panel import ScriptPanel, script_panel
from bodymotion.viewer.server import on_user

if TYPE_CHECKING:
    import viser

    from bodymotion.scene.camera import Camera
    from bodymotion.viewer.app import Viewer
    from bodymotion.viewer.scene_view import SceneView

LOOP_OPTIONS = ("loops", "motion_loops")
KEY_HELP = (
    "Keys: space play · ← → frame · shift ← → 0.1 s · Home End · [ ] speed · L loop · "
    "F follow"
)
WARNING = (
    "margin:0.2em 0.8em;padding:0.3em "
    "0.6em;border-radius:4px;background:#f0a02033;font-size:0.85em"
)

# The tab Show.
NO_PATH = "no link"
MAX_TRAIL_SECONDS = 10.0
# The options of each folder.
FOLDERS = {
    "Robot": (
        "visuals",
        "collisions",
        "frames",
        "axes",
        "names",
        "inertias",
        "devices",
    ),
    "Balance": ("mass", "zmp", "measured_zmp", "contacts", "support", "trails"),
    "Limits": tuple(LIMIT_OPTIONS),
    "Environment": ("follow", "stand", "shadows", "dark"),
}

# The tab Joints.
# [rad or m] Range of a slider in both directions where the joint has no limit.
DEFAULT_RANGE = {"rotate": np.pi, "slide": 1.0}
MAX_LIMIT = 100.0  # [rad or m] Larger limits count as none.
# Looks like a decimal point; viser breaks the line of a label after a real one.
NO_BREAK_POINT = "\u2024\u2060"
# [s] After a user has moved a slider its value is not overwritten for this time.
WRITE_BACK_DELAY = 0.6

# The tab Links.
MAX_LISTED_LINKS = 2000
JOINT_KINDS = {
    "rotate": "⟳",
    "slide": "↔",
    "crawler": "⛓",
    "free": "✥",
    "fixed": "",
}  # The sign of each joint type.


def tree_html(body: Body) -> str:
    """Return the links as a tree in HTML, with a field to search.

    `live.js` makes both work.
    """
    depths: list[int] = []
    rows = []
    for link in body.links[:MAX_LISTED_LINKS]:
        depths.append(0 if link.parent < 0 else depths[link.parent] + 1)
        joint = link.joint
        if joint.name and joint.name != link.name:
            other = f" · {shown(joint.name)}"
        else:
            other = ""
        if joint.id >= 0:
            number = f" {joint.id}"
        else:
            number = ""
        if link.index:
            note = html_text(f"{JOINT_KINDS[joint.type]}{number}{other}")
        else:
            note = ""
        rows.append(
            f'<div data-bodymotion-link="{link.index}" '
            f'style="cursor:pointer;padding:1px 0 1px {0.9 * min(depths[-1], 14)}em">'
            f"{html_text(link.name) or f'link {link.index}'} <span "
            f'style="opacity:0.6">{note}</span></div>'
        )
    more = len(body.links) - MAX_LISTED_LINKS
    rows += [f"<div>… and {counted(more, 'more link')}</div>"] if more > 0 else []
    field = (
        "width:100%;box-sizing:border-box;margin:0.4em "
        "0;padding:0.3em;font:inherit;color:inherit;background:none"
    )
    return (
        '<div style="padding:0 1em;font-size:0.85em;overflow-wrap:anywhere"><input '
        'class="bodymotion-search" '
        f'placeholder="Search links and joints" style="{field};border:1px solid '
        f'#8888;border-radius:4px">'
        f"{''.join(rows)}</div>"
    )


class LinkCard:
    """The name, joint, value, limits, mass and plot of the selected link.

    Hidden while none is selected.
    """

    def __init__(self, viewer: Viewer) -> None:
        self._viewer = viewer
        self._card = viewer.server.gui.add_html("", visible=False)
        self._plot = viewer.server.gui.add_html("", visible=False)

    def update(self) -> None:
        """Show the selected link of the viewer, and the plot of its joint."""
        link = self._viewer.selected_link
        scene = self._viewer.scene
        if link is None:
            name = ""
        else:
            name = link.joint.name
        curve = next(
            (curve for curve in scene.curves if name and curve.name == name), None
        )
        self._plot.visible = curve is not None and scene.num_frames > 1
        if curve is not None and self._plot.visible:
            times = scene.timeline.times
            plot = svg_of(times, [filled(curve, len(times))])
            self._plot.content = (
                f'<div class="bodymotion-plot" style="cursor:crosshair">{plot}</div>'
            )
        self.sync()

    def sync(self) -> None:
        """Show the current value of the joint."""
        link = self._viewer.selected_link
        self._card.visible = link is not None
        if link is None:
            return
        table = table_html(
            (name, html_text(text)) for name, text in _facts(self._viewer, link)
        )
        self._card.content = (
            '<div style="margin:0.3em 0.8em;padding:0.4em 0.6em;border:1px solid '
            "#228be6;border-radius:6px;font-size:0.85em;"
            'overflow-wrap:anywhere"><span data-bodymotion-link="-1" title="Close" '
            'style="float:right;cursor:pointer">✕</span>'
            f"<b>{html_text(link.name) or f'link {link.index}'}</b>{table}</div>"
        )


def _facts(viewer: Viewer, link: Link) -> list[tuple[str, str]]:
    body = viewer.scene.body
    joint = link.joint
    if link.parent >= 0:
        parent = body.links[link.parent].name
    else:
        parent = "the world"
    facts = [
        (
            "Joint",
            f"{joint.name or 'without a name'}: {joint.type}, to "
            f"{parent or f'link {link.parent}'}",
        )
    ]
    column = next(
        (k for k, index in enumerate(body.joint_links) if index == link.index), None
    )
    if column is not None and joint.type in ("rotate", "slide"):
        facts.append(("Value", value_text(joint, float(viewer.scene_view.q[column]))))
        axis = " ".join(f"{part:.3g}" for part in joint.axis)
        facts.append(("Limits", f"{limits_text(joint)}, axis {axis}, column {column}"))
    center = " ".join(fixed(part, 3) for part in link.center_of_mass)
    facts.append(
        (
            "Mass",
            f"{link.mass:.4g} kg, centre at {center} m" if link.mass > 0 else "none",
        )
    )
    position = viewer.scene_view.link_poses()[link.index, :3]
    facts.append(("Position", f"{' '.join(fixed(part, 3) for part in position)} m"))
    return facts


@dataclass(frozen=True)
class SliderRange:
    """The range of a slider, in degrees for rotary joints and metres for sliding ones.

    Its ends are the joint's limits `lower` and `upper` [rad or m], rounded to steps of
    the slider, and stand for these limits.
    """

    lowest: float
    highest: float
    step: float
    to_shown: float
    lower: float
    upper: float

    def shown(self, value: float) -> float:
        """Return a joint value [rad or m] as the slider shows it.

        Rounded to its steps and clipped to its range.
        """
        on_step = round(round(value * self.to_shown / self.step) * self.step, 6)
        return float(np.clip(on_step, self.lowest, self.highest))

    def joint_value(self, shown: float) -> float:
        """Return the joint value for a number in a widget.

        It is in rad or m, for the slider or its field, and clipped to the limits.
        """
        if self.lowest < self.highest and shown <= self.lowest:
            return self.lower
        if self.lowest < self.highest and shown >= self.highest:
            return self.upper
        return min(max(shown / self.to_shown, self.lower), self.upper)


def slider_range(joint: Joint) -> SliderRange:
    """Return the range of a joint's slider.

    Its limits, or ±180° or ±1 m without limits.
    """
    rotary = joint.type != "slide"
    default = DEFAULT_RANGE["rotate" if rotary else "slide"]
    lower = joint.lower
    upper = joint.upper
    if abs(lower) <= MAX_LIMIT:
        lower = lower
    elif not abs(upper) <= MAX_LIMIT:
        lower = -default
    else:
        lower = min(-default, upper)
    if not (abs(upper) <= MAX_LIMIT):
        upper = max(default, lower)
    if lower > upper:
        lower, upper = upper, lower
    if rotary:
        to_shown = float(np.rad2deg(1.0))
    else:
        to_shown = 1.0
    digits = 1 if rotary else 3
    while digits < 6 and 0 < (upper - lower) * to_shown < 10 * 10.0**-digits:
        digits += 1
    lowest = round(lower * to_shown, digits)
    highest = round(upper * to_shown, digits)
    return SliderRange(lowest, highest, 10.0**-digits, to_shown, lower, upper)


def value_text(joint: Joint, value: float) -> str:
    """Return a joint value as text.

    It is in degrees and radians, or metres. The second value is whether it is beyond
    the joint's limits.
    """
    if joint.type == "slide":
        text = f"{fixed(value, 3, '+')} m"
    else:
        text = f"{fixed(np.rad2deg(value), 1, '+')}° {fixed(value, 3, '+')} rad"
    beyond = value < joint.lower - 1e-6 or value > joint.upper + 1e-6
    if beyond:
        return f"{text} (beyond limit)"
    return text


class JointSliders:
    """The sliders of a body's joints.

    `moved(column, value)` is called when a user moves one.
    """

    def __init__(
        self, gui: viser.GuiApi, body: Body, moved: Callable[[int, float], None]
    ) -> None:
        self._body = body
        self._sliders: dict[int, Any] = {}
        self._ranges: dict[int, SliderRange] = {}
        self._touched: dict[int, float] = {}
        for column, index in enumerate(body.joint_links):
            joint = body.joints[column]
            if index < 1 or joint.type not in ("rotate", "slide"):
                continue
            covers = self._ranges[column] = slider_range(joint)
            slider = gui.add_slider(
                _label(joint, column, 0.0),
                min=covers.lowest,
                max=covers.highest,
                step=covers.step,
                initial_value=covers.shown(0.0),
                hint=_hint(joint, column, 0.0),
            )
            self._sliders[column] = slider
            on_user(slider, partial(self._react, column, moved))

    def _react(
        self, column: int, moved: Callable[[int, float], None], value: float
    ) -> None:
        covers = self._ranges[column]
        self._touched[column] = monotonic()
        moved(column, covers.joint_value(value))

    def __len__(self) -> int:
        return len(self._sliders)

    def show(self, q: Floats) -> None:
        """Show joint values (J,) [rad or m]."""
        now = monotonic()
        for column, slider in self._sliders.items():
            value = float(q[column])
            if now - self._touched.get(column, -WRITE_BACK_DELAY) >= WRITE_BACK_DELAY:
                slider.value = self._ranges[column].shown(value)
            joint = self._body.joints[column]
            slider.label, slider.hint = (
                _label(joint, column, value),
                _hint(joint, column, value),
            )


def _label(joint: Joint, column: int, value: float) -> str:
    name = shown(joint.name or f"joint {column}")
    if joint.type == "slide":
        return f"{name} [m]"
    number = fixed(value, 3, "+").replace("-", "−").replace(".", NO_BREAK_POINT)
    return f"{name} {number}\u00a0rad"


def _hint(joint: Joint, column: int, value: float) -> str:
    return (
        f"{shown(joint.name) or 'joint'} (column {column}): "
        f"{value_text(joint, value)}; limits {limits_text(joint)}"
    )


class DisplayPanel:
    """The widgets of the tab Show.

    `has_joints` when the body has joints that move links.
    """

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
                    checkbox = self._checkboxes[name] = gui.add_checkbox(
                        LABELS[name], getattr(viewer.options, name)
                    )
                    on_user(checkbox, partial(viewer.switch, name))
                if folder == "Balance" and viewer.scene.num_frames > 1:
                    self._add_trail_and_path()
                if folder == "Limits":
                    self._legend = gui.add_html("", visible=False)

    def _add_cameras(self) -> None:
        gui = self._gui
        viewer = self._viewer
        presets = gui.add_button_group("Camera", tuple(PRESETS))
        presets.on_click(
            lambda event: self._move(
                event.client, lambda view: view.camera(event.target.value)
            )
        )
        viewpoints = viewer.scene.body.viewpoints
        if viewpoints:
            names = tuple(
                f"{i + 1}. {shown(v.description) or 'viewpoint'}"
                for i, v in enumerate(viewpoints)
            )
            chosen = gui.add_dropdown("Viewpoint", ("—", *names))

            def move(event: viser.GuiEvent[viser.GuiDropdownHandle[str]]) -> None:
                if event.target.value in names:
                    self._move(
                        event.client,
                        lambda view: view.viewpoint(names.index(event.target.value)),
                    )

            chosen.on_update(move)

    def _move(
        self, client: viser.ClientHandle | None, camera: Callable[[SceneView], Camera]
    ) -> None:
        """Move the camera of one browser."""
        if client is not None:
            self._viewer.post(
                lambda: show_camera(client, camera(self._viewer.scene_view))
            )

    def _add_capture(self) -> None:
        viewer = self._viewer
        kinds = ("Image", "Video") if viewer.scene.num_frames > 1 else ("Image",)
        hint = (
            "This view as a PNG file; the motion, from first to last frame, as a "
            "video file"
        )
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
        gui = self._gui
        viewer = self._viewer
        trail: Any = gui.add_slider(
            "Trail [s]", 0.5, MAX_TRAIL_SECONDS, 0.5, viewer.options.trail_seconds
        )
        on_user(
            trail, lambda seconds: setattr(viewer.options, "trail_seconds", seconds)
        )
        self._paths = {
            node_name(link.index, link.name): link.name
            for link in viewer.scene.body.links
        }
        self._path = gui.add_dropdown(
            "Path of", (NO_PATH, *self._paths), initial_value=self._chosen_path()
        )
        on_user(
            self._path,
            lambda name: viewer.post(
                lambda: viewer.scene_view.choose_path(self._paths.get(name))
            ),
        )

    def _chosen_path(self) -> str:
        chosen = self._viewer.options.path
        return next(
            (label for label, name in self._paths.items() if name == chosen), NO_PATH
        )

    def sync(self, all_values: bool) -> None:
        """Write the state of the viewer into the widgets.

        The legend of limits only with `all_values`.
        """
        viewer = self._viewer
        for name, checkbox in self._checkboxes.items():
            checkbox.value = getattr(viewer.options, name)
        if self._path is not None:
            self._path.value = self._chosen_path()
        overlays = viewer.scene_view.analysis_overlays
        if overlays.needed:
            status = viewer.background_analysis.describe() or overlays.describe()
        else:
            status = ""
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
                self._legend.content = legend(
                    colors.kind, colors.describe(frame), colors.exist
                )


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
    return absent | dict.fromkeys(
        ("measured_zmp", "support", "trails", *LIMIT_OPTIONS), not moves
    )


class Panel:
    """The widgets of one scene.

    All that they do goes through the viewer's queue.
    """

    def __init__(self, viewer: Viewer) -> None:
        self._viewer = viewer
        gui = viewer.server.gui
        scene = viewer.scene
        self.message = gui.add_html("", visible=False)
        if scene.warnings:
            gui.add_html(
                "".join(
                    f'<div style="{WARNING}">⚠ {html_text(text)}</div>'
                    for text in scene.warnings
                )
            )
        self.playback_panel = PlaybackPanel(viewer) if scene.num_frames > 1 else None
        self.link_card = LinkCard(viewer)
        tabs = gui.add_tab_group()
        self.script_panel: ScriptPanel | None = None
        if scene.playback is not None:
            with tabs.add_tab("Move"):
                self.script_panel = script_panel(viewer, scene.playback)
        with tabs.add_tab("Joints"):
            hint = gui.add_html("")
            if (scene.body.tree[1] > 0).any() and not scene.without_body:
                viewer.handles.add_to(gui)
            self._checkboxes: dict[str, Any] = {}
            self._loop_note: Any = None
            if scene.body.extra_joints and not scene.without_body:
                self._add_loops(gui)
            self.sliders = JointSliders(gui, scene.body, viewer.pose_joint)
            hint.content = small_html(_joints_hint(scene, len(self.sliders)))
        with tabs.add_tab("Links"):
            gui.add_html(tree_html(scene.body))
        with tabs.add_tab("Show"):
            self.show = DisplayPanel(viewer, bool(len(self.sliders)))
        self.plot: PlotPanel | None = None
        if scene.num_frames > 1 and scene.curves:
            with tabs.add_tab("Plot"):
                self.plot = PlotPanel(gui, scene, viewer.options, viewer.plot_changed)
                self.plot.draw(None)
        count = sum(group.count for group in scene.findings if group.severity != "note")
        with tabs.add_tab(f"About ({count})" if count else "About"):
            self._summary = gui.add_html(summary_html(viewer))
        self.link_card.update()

    def _add_loops(self, gui: viser.GuiApi) -> None:
        """Add the options that close loops, and a note about how far they are open."""
        for name in LOOP_OPTIONS:
            if name == "loops" or self._viewer.scene.num_frames > 1:
                checkbox = self._checkboxes[name] = gui.add_checkbox(
                    LABELS[name], getattr(self._viewer.options, name)
                )
                on_user(checkbox, partial(self._viewer.switch, name))
        self._loop_note = gui.add_html(small_html(self._viewer.scene_view.loop_note()))

    def sync(self, all_values: bool) -> None:
        """Write the state of the viewer into the widgets.

        The values of joints only with `all_values`.
        """
        viewer = self._viewer
        if self.playback_panel is not None:
            self.playback_panel.sync()
        for name, checkbox in self._checkboxes.items():
            checkbox.value = getattr(viewer.options, name)
        self.show.sync(all_values)
        if self.plot is not None:
            self.plot.follow(viewer.player.frame, viewer.background_analysis.describe())
        if all_values:
            self.link_card.sync()
            self.sliders.show(viewer.scene_view.q)
            if self._loop_note is not None:
                self._loop_note.content = small_html(viewer.scene_view.loop_note())

    def update(self) -> None:
        """Show another motion of the same body.

        The script, played with other settings.
        """
        scene = self._viewer.scene
        if self.playback_panel is not None:
            self.playback_panel.update()
        if self.script_panel is not None and scene.playback is not None:
            self.script_panel.update(scene.playback)
        if self.plot is not None:
            self.plot.update(scene)
        self.link_card.update()
        self._summary.content = summary_html(self._viewer)

    def show_message(self, text: str, bad: bool = False) -> None:
        """Show a message at the top of the panel.

        An empty one removes it.
        """
        color = "#c92a2a" if bad else "#495057"
        self.message.content = (
            f'<div style="padding:0 '
            f'1em;color:{color};font-size:0.85em">{html_text(text)}</div>'
        )
        self.message.visible = bool(text)


def _joints_hint(scene: Scene, num_sliders: int) -> str:
    """Return how to use the sliders, or why there are none."""
    if num_sliders:
        return (
            "Sliders in degrees (or metres), labels in radians. Moving a slider pauses."
        )
    if not scene.without_body:
        return "No joint of this body moves a link."
    if scene.motion is not None:
        joints = scene.motion.joint_displacement
    else:
        joints = None
    if joints is None or not joints.num_parts:
        return (
            "There is no body: the poses of the motion are shown as frames. It has no "
            "joint values."
        )
    return (
        "There is no body, only a motion with "
        f"{counted(joints.num_parts, 'joint column')} (see Plot). "
        "Open it with its body to move joints."
    )


def summary_html(viewer: Viewer) -> str:
    """Return the summary as HTML.

    It has a table of what is shown, the findings about the files, one line for each
    rule, and the keys.
    """
    scene, body = viewer.scene, viewer.scene.body
    about = "none; the poses of the motion are shown as frames"
    if not scene.without_body:
        counts = (
            f"{counted(len(body.links), 'link')}, "
            f"{counted(body.num_joints, 'joint column')}"
        )
        about = f"{body.name or 'without a name'}: {counts}, {body.mass:.3g} kg"
    facts = [("Body", about)]
    facts += [(f"File {i + 1}", path.name) for i, path in enumerate(viewer.files)]
    if scene.motion is not None:
        rate = scene.timeline.frame_rate
        facts.append(
            (
                "Motion",
                f"{scene.num_frames} frames"
                + (f" at {rate:g} Hz" if rate else " with time stamps"),
            )
        )
    if viewer.options.stand:
        if scene.motion is not None:
            reason = "The motion has no root poses: the"
        else:
            reason = "The"
        facts.append(("Ground", f"{reason} body stands on its lowest point."))
    facts += [("Note", note) for note in scene.notes]
    groups = scene.findings
    if groups:
        findings = f"<b>{severities(groups)} in the files</b>{groups_html(groups)}"
    else:
        findings = ""
    return (
        '<div style="padding:0 1em;font-size:0.82em;overflow-wrap:anywhere">'
        f"{table_html((name, html_text(text)) for name, text in facts)}<br>"
        f'{findings}<span style="opacity:0.65">{KEY_HELP}</span></div>'
    )
