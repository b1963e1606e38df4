"""The panel: playing, joints, what is shown, plot, and what is known of the files.

Names come from files, so whatever becomes HTML is escaped; everything else goes through widgets that show plain text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bodymotion.viewer.about import about
from bodymotion.viewer.animation_panel import AnimationPanel
from bodymotion.viewer.joints import JointSliders
from bodymotion.viewer.playback import Playback
from bodymotion.viewer.plots import Plot
from bodymotion.viewer.show_panel import ShowPanel
from bodymotion.viewer.switches import LABELS
from bodymotion.viewer.take import Take
from bodymotion.viewer.text import counted, html_text

if TYPE_CHECKING:
    import viser

    from bodymotion.viewer.app import Viewer

__all__ = ["Panel"]

LOOPS = ("loops", "motion_loops")
"""The switches that stand with the joints."""


class Panel:
    """The widgets of one take; everything that they do goes through the viewer's inbox."""

    def __init__(self, viewer: Viewer) -> None:
        self._viewer = viewer
        self._gui = gui = viewer.server.gui
        take = viewer.take
        self.message = gui.add_html("", visible=False)
        self.playback = Playback(viewer) if take.num_frames > 1 else None
        self.plot: Plot | None = None
        tabs = gui.add_tab_group()
        self.animation: AnimationPanel | None = None
        if take.performance is not None:
            with tabs.add_tab("Move"):
                self.animation = AnimationPanel(viewer, take.performance)
        with tabs.add_tab("Joints"):
            hint = gui.add_html("")
            self._ticks: dict[str, Any] = {}
            self._loops = self._add_loops() if take.body.extra_joints and not take.motion_alone else None
            self.sliders = JointSliders(gui, take.body, viewer.pose_joint)
            hint.content = _small(_about_joints(take, len(self.sliders)))
        with tabs.add_tab("Show"):
            self.show = ShowPanel(viewer, bool(len(self.sliders)))
        if take.num_frames > 1 and take.curves:
            with tabs.add_tab("Plot"):
                self.plot = Plot(gui, take, viewer.switches, viewer.plot_changed)
                self.plot.draw(None)
        with tabs.add_tab(f"About{f' ({len(take.problems)})' if take.problems else ''}"):
            self._about = gui.add_html(about(viewer))

    def _add_loops(self) -> Any:  # noqa: ANN401
        """Add the switches that close loops, and the place where it stands how far they are from that."""
        for name in LOOPS:
            if name == "loops" or self._viewer.take.num_frames > 1:
                self._add_tick(name)
        return self._gui.add_html(_small(self._viewer.stage.loop_note()))

    def _add_tick(self, name: str) -> None:
        tick = self._ticks[name] = self._gui.add_checkbox(LABELS[name], getattr(self._viewer.switches, name))
        tick.on_update(self._switched(name))

    def _switched(self, name: str) -> Any:  # noqa: ANN401
        def react(event: viser.GuiEvent[viser.GuiCheckboxHandle]) -> None:
            if event.client_id is not None:
                self._viewer.switch(name, event.target.value)

        return react

    def sync(self, slow: bool) -> None:
        """Write the state of the viewer into the widgets; the joints and the plot's values only when `slow`."""
        viewer = self._viewer
        if self.playback is not None:
            self.playback.sync()
        for name, tick in self._ticks.items():
            tick.value = getattr(viewer.switches, name)
        self.show.sync(slow)
        if self.plot is not None:
            self.plot.follow(viewer.player.frame, viewer.measuring.in_words())
        if slow:
            self.sliders.show(viewer.stage.q)
            if self._loops is not None:
                self._loops.content = _small(viewer.stage.loop_note())

    def retake(self) -> None:
        """Go on with another motion of the same body: the animation, played in another way."""
        take = self._viewer.take
        if self.playback is not None:
            self.playback.retake()
        if self.animation is not None and take.performance is not None:
            self.animation.retake(take.performance)
        if self.plot is not None:
            self.plot.retake(take)
        self._about.content = about(self._viewer)

    def say(self, text: str, bad: bool = False) -> None:
        """Write a message at the top of the panel; an empty one takes it away."""
        color = "#c92a2a" if bad else "#495057"
        self.message.content = f'<div style="padding:0 1em;color:{color};font-size:0.85em">{html_text(text)}</div>'
        self.message.visible = bool(text)


def _small(text: str) -> str:
    return f'<div style="padding:0 1em;font-size:0.85em;opacity:0.75">{html_text(text)}</div>'


def _about_joints(take: Take, sliders: int) -> str:
    """Say what the joint panel is for, or why it is empty."""
    if sliders:
        return "Degrees (or metres) on the slider, radians below the name. Moving one pauses."
    if not take.motion_alone:
        return "No joint of this body moves a link."
    joints = take.motion.joint_displacement if take.motion is not None else None
    if joints is None or not joints.num_parts:
        return "There is a motion only: its poses are shown as frames. It has no joint values."
    columns = counted(joints.num_parts, "joint column")
    return f"There is a motion only, with {columns} (see Plot). With the body that it belongs to, joints move links."
