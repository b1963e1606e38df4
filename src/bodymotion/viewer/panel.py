"""The panel: playback, animation, joints, display options, plot, and a summary of the files with their findings.

Names come from files, so all HTML is escaped; other widgets show plain text.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from bodymotion.diagnostics.text import counted, html_text, severities, small_html
from bodymotion.scene.loading import groups_html, table_html
from bodymotion.scene.options import LABELS
from bodymotion.scene.scene import Scene
from bodymotion.viewer.animation_panel import AnimationPanel
from bodymotion.viewer.display_panel import DisplayPanel
from bodymotion.viewer.joint_panel import JointSliders
from bodymotion.viewer.link_panel import LinkCard, tree_html
from bodymotion.viewer.page import PlaybackPanel
from bodymotion.viewer.plot_panel import PlotPanel
from bodymotion.viewer.server import on_user

if TYPE_CHECKING:
    import viser

    from bodymotion.viewer.app import Viewer

LOOP_OPTIONS = ("loops", "motion_loops")
KEY_HELP = "Keys: space play · ← → frame · shift ← → 0.1 s · Home End · [ ] speed · L loop · F follow"


WARNING = "margin:0.2em 0.8em;padding:0.3em 0.6em;border-radius:4px;background:#f0a02033;font-size:0.85em"


class Panel:
    """The widgets of one scene; all that they do goes through the viewer's queue."""

    def __init__(self, viewer: Viewer) -> None:
        self._viewer = viewer
        gui = viewer.server.gui
        scene = viewer.scene
        self.message = gui.add_html("", visible=False)
        if scene.warnings:
            gui.add_html("".join(f'<div style="{WARNING}">⚠ {html_text(text)}</div>' for text in scene.warnings))
        self.playback_panel = PlaybackPanel(viewer) if scene.num_frames > 1 else None
        self.link_card = LinkCard(viewer)
        tabs = gui.add_tab_group()
        self.animation: AnimationPanel | None = None
        if scene.playback is not None:
            with tabs.add_tab("Move"):
                self.animation = AnimationPanel(viewer, scene.playback)
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
                checkbox = self._checkboxes[name] = gui.add_checkbox(LABELS[name], getattr(self._viewer.options, name))
                on_user(checkbox, partial(self._viewer.switch, name))
        self._loop_note = gui.add_html(small_html(self._viewer.scene_view.loop_note()))

    def sync(self, all_values: bool) -> None:
        """Write the state of the viewer into the widgets; the values of joints only with `all_values`."""
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
        """Show another motion of the same body: the animation, played with other settings."""
        scene = self._viewer.scene
        if self.playback_panel is not None:
            self.playback_panel.update()
        if self.animation is not None and scene.playback is not None:
            self.animation.update(scene.playback)
        if self.plot is not None:
            self.plot.update(scene)
        self.link_card.update()
        self._summary.content = summary_html(self._viewer)

    def show_message(self, text: str, bad: bool = False) -> None:
        """Show a message at the top of the panel; an empty one removes it."""
        color = "#c92a2a" if bad else "#495057"
        self.message.content = f'<div style="padding:0 1em;color:{color};font-size:0.85em">{html_text(text)}</div>'
        self.message.visible = bool(text)


def _joints_hint(scene: Scene, num_sliders: int) -> str:
    """Return how to use the sliders, or why there are none."""
    if num_sliders:
        return "Sliders in degrees (or metres), labels in radians. Moving a slider pauses."
    if not scene.without_body:
        return "No joint of this body moves a link."
    joints = scene.motion.joint_displacement if scene.motion is not None else None
    if joints is None or not joints.num_parts:
        return "There is no body: the poses of the motion are shown as frames. It has no joint values."
    return (
        f"There is no body, only a motion with {counted(joints.num_parts, 'joint column')} (see Plot). "
        "Open it with its body to move joints."
    )


def summary_html(viewer: Viewer) -> str:
    """Return as HTML a table of what is shown, the findings about the files, one line for each rule, and the keys."""
    scene, body = viewer.scene, viewer.scene.body
    about = "none; the poses of the motion are shown as frames"
    if not scene.without_body:
        counts = f"{counted(len(body.links), 'link')}, {counted(body.num_joints, 'joint column')}"
        about = f"{body.name or 'without a name'}: {counts}, {body.mass:.3g} kg"
    facts = [("Body", about)]
    facts += [(f"File {i + 1}", path.name) for i, path in enumerate(viewer.files)]
    if scene.motion is not None:
        rate = scene.timeline.frame_rate
        facts.append(("Motion", f"{scene.num_frames} frames" + (f" at {rate:g} Hz" if rate else " with time stamps")))
    if viewer.options.stand:
        reason = "The motion has no root poses: the" if scene.motion is not None else "The"
        facts.append(("Ground", f"{reason} body stands on its lowest point."))
    facts += [("Note", note) for note in scene.notes]
    groups = scene.findings
    findings = f"<b>{severities(groups)} in the files</b>{groups_html(groups)}" if groups else ""
    return (
        '<div style="padding:0 1em;font-size:0.82em;overflow-wrap:anywhere">'
        f"{table_html((name, html_text(text)) for name, text in facts)}<br>"
        f'{findings}<span style="opacity:0.65">{KEY_HELP}</span></div>'
    )
