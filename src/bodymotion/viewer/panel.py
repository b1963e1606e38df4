"""The panel: playing, joints, what is shown, plot, and what is known of the files.

Names come from files, so whatever becomes HTML is escaped; everything else goes through widgets that show plain text.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

from bodymotion.viewer.animation_panel import AnimationPanel, in_short
from bodymotion.viewer.camera import PRESETS
from bodymotion.viewer.contacts import MISSED
from bodymotion.viewer.joints import JointSliders
from bodymotion.viewer.plots import JointPlot
from bodymotion.viewer.strip import strip_html, strip_now
from bodymotion.viewer.switches import LABELS
from bodymotion.viewer.take import Take
from bodymotion.viewer.text import counted, html_text, node_name, shown

if TYPE_CHECKING:
    import viser

    from bodymotion.viewer.app import Viewer

__all__ = ["Panel"]

SPEEDS = ("0.1×", "0.25×", "0.5×", "1×", "2×", "4×")
NO_PATH = "no link"
MOST_PROBLEMS = 40
LOOPS = ("loops", "motion_loops")
"""The switches that stand with the joints."""
QUIET = 0.6
"""For so many seconds after someone has moved the slider it is not written back."""


class Panel:
    """The widgets of one take; everything that they do goes through the viewer's inbox."""

    def __init__(self, viewer: Viewer) -> None:
        self._viewer = viewer
        self._gui = gui = viewer.server.gui
        take = viewer.take
        self.message = gui.add_html("", visible=False)
        self.playback = _Playback(viewer) if take.num_frames > 1 else None
        self.plot: JointPlot | None = None
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
            self._add_switches()
        if take.num_frames > 1 and take.curves:
            with tabs.add_tab("Plot"):
                self.plot = JointPlot(gui, take, viewer.switches.plotted, viewer.plot_changed)
                self.plot.draw()
        with tabs.add_tab(f"About{f' ({len(take.problems)})' if take.problems else ''}"):
            self._about = gui.add_html(about(viewer))

    def _add_switches(self) -> None:
        gui, viewer = self._gui, self._viewer
        take = viewer.take
        views = gui.add_button_group("View", tuple(PRESETS))
        views.on_click(lambda event: viewer.look(event.client, preset=event.target.value))
        if take.body.viewpoints:
            names = tuple(f"{i + 1}. {shown(v.description) or 'viewpoint'}" for i, v in enumerate(take.body.viewpoints))
            chosen = gui.add_dropdown("Viewpoint", ("—", *names))

            def go(event: viser.GuiEvent[viser.GuiDropdownHandle[str]]) -> None:
                if event.client is not None and event.target.value in names:
                    viewer.look(event.client, viewpoint=names.index(event.target.value))

            chosen.on_update(go)
        absent = {
            "zmp": take.zmp is None,
            "contacts": take.contacts is None,
            "devices": not take.body.devices,
            "mass": take.body.mass == 0,
            "follow": take.num_frames < 2,
            "collisions": not any(link.collisions for link in take.body.links),
            "visuals": not any(link.visuals for link in take.body.links),
            "axes": not len(self.sliders),
        }
        for name in LABELS:
            if not absent.get(name, name in LOOPS):
                self._add_tick(name)
        self._path: Any = None
        if take.num_frames > 1:
            self._paths = {node_name(link.index, link.name): link.name for link in take.body.links}
            self._path = gui.add_dropdown("Path of", (NO_PATH, *self._paths), initial_value=self._path_shown())
            self._path.on_update(
                lambda event: (
                    viewer.choose_path(self._paths.get(event.target.value)) if event.client_id is not None else None
                )
            )

    def _add_loops(self) -> Any:  # noqa: ANN401
        """Add the switches that close loops, and the place where it stands how far they are from that."""
        for name in LOOPS:
            if name == "loops" or self._viewer.take.num_frames > 1:
                self._add_tick(name)
        return self._gui.add_html(_small(self._viewer.stage.loop_note()))

    def _add_tick(self, name: str) -> None:
        tick = self._ticks[name] = self._gui.add_checkbox(LABELS[name], getattr(self._viewer.switches, name))
        tick.on_update(self._switched(name))

    def _path_shown(self) -> str:
        chosen = self._viewer.switches.path
        return next((label for label, name in self._paths.items() if name == chosen), NO_PATH)

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
        if self._path is not None:
            self._path.value = self._path_shown()
        if self.plot is not None:
            self.plot.follow(viewer.player.frame)
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


class _Playback:
    """Time, frame slider, buttons, speed and loop."""

    def __init__(self, viewer: Viewer) -> None:
        self._viewer = viewer
        from viser import Icon

        gui = viewer.server.gui
        self._icons = (Icon.PLAYER_PLAY, Icon.PLAYER_PAUSE)
        self._touched = -QUIET
        self._clock = gui.add_html(self._time_in_words())
        self._slider: Any = gui.add_slider("Frame", 0, viewer.take.num_frames - 1, 1, viewer.player.frame)
        self._slider.on_update(self._scrubbed)
        drawn = self._strip_html()
        self._strip: Any = gui.add_html(drawn) if drawn else None
        self._now: Any = gui.add_html(strip_now(viewer.take.timeline, viewer.player.time)) if drawn else None
        self._play = gui.add_button("Play", icon=self._icons[0])
        self._play.on_click(lambda _event: viewer.act("toggle"))
        steps = gui.add_button_group("Step", ("|◀", "◀", "▶", "▶|"))
        actions = {"|◀": "first", "◀": "back", "▶": "next", "▶|": "last"}
        steps.on_click(lambda event: viewer.act(actions[event.target.value]))
        self._speed: Any = gui.add_slider("Speed ×", 0.1, 4.0, 0.05, viewer.player.speed)
        self._speed.on_update(
            lambda event: viewer.set_speed(event.target.value) if event.client_id is not None else None
        )
        self._loop: Any = gui.add_checkbox("Loop", viewer.player.loop)
        self._loop.on_update(lambda event: viewer.set_loop(event.target.value) if event.client_id is not None else None)
        self._shows_pause: bool | None = None

    def _scrubbed(self, event: viser.GuiEvent[viser.GuiSliderHandle[int]]) -> None:
        if event.client_id is not None:
            self._touched = monotonic()
            self._viewer.scrub(event.target.value)

    def _time_in_words(self) -> str:
        player = self._viewer.player
        rate = player.timeline.frame_rate
        where = f"{player.time:.3f} s</b> of {player.end:.3f} s"
        if player.start:
            where += f" (from {player.start:.3f} s)"
        frame = f"frame {player.frame} of {player.num_frames - 1}" + (f", {rate:g} Hz" if rate else ", time stamps")
        if self._viewer.switches.stand and not self._viewer.take.has_root:
            frame += " · no root poses: it stands on the ground"
        take = self._viewer.take
        beat = f"<b>{html_text(take.beats.in_words(player.time))}</b><br>" if take.beats is not None else ""
        missed = take.contacts.in_words(player.frame) if take.contacts is not None else ""
        warned = f'<br><span style="font-size:0.85em;color:rgb{MISSED}">{html_text(missed)}</span>' if missed else ""
        return (
            '<div style="padding:0 1em;font-variant-numeric:tabular-nums"><b style="font-size:1.15em">'
            f'{where}<br>{beat}<span style="opacity:0.7;font-size:0.85em">{frame}</span>{warned}</div>'
        )

    def _strip_html(self) -> str:
        take, marks = self._viewer.take, []
        performance = take.performance
        if performance is not None:
            for problem in performance.problems[:MOST_PROBLEMS]:
                keyframe = performance.keyframe_of(problem)
                time = None if keyframe is None else performance.time_of(keyframe)
                if time is not None:
                    marks.append((time, in_short(problem)))
        return strip_html(take.timeline, take.beats, take.contacts, marks)

    def retake(self) -> None:
        """Go on with another time line."""
        self._slider.max = max(self._viewer.take.num_frames - 1, 1)
        if self._strip is not None:
            self._strip.content = self._strip_html()

    def sync(self) -> None:
        """Write the player's state into the widgets."""
        player = self._viewer.player
        self._clock.content = self._time_in_words()
        if self._now is not None:
            self._now.content = strip_now(player.timeline, player.time)
        if monotonic() - self._touched >= QUIET:
            self._slider.value = player.frame
        if self._shows_pause != player.playing:
            self._shows_pause = player.playing
            self._play.label = "Pause" if player.playing else "Play"
            self._play.icon = self._icons[player.playing]
        self._speed.value = player.speed
        self._loop.value = player.loop


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


def about(viewer: Viewer) -> str:
    """Say as HTML what is shown, and what was odd in the files."""
    take = viewer.take
    facts = [
        ("Body", "none; the poses of the motion are shown as frames") if take.motion_alone else
        ("Body", f"{take.body.name or 'without a name'}: {len(take.body.links)} links, {take.body.num_joints} joint columns, "
                 f"{take.body.mass:.3g} kg"),
    ]  # fmt: skip
    facts += [(f"File {i + 1}", path.name) for i, path in enumerate(viewer.files)]
    if take.motion is not None:
        rate = take.timeline.frame_rate
        facts.append(("Motion", f"{take.num_frames} frames" + (f" at {rate:g} Hz" if rate else " with time stamps")))
    if viewer.switches.stand:
        facts.append(("Ground", "The motion says nothing of the root, so the body stands on its lowest point."
                      if take.motion is not None else "The body stands on its lowest point."))  # fmt: skip
    facts += [("Note", note) for note in take.notes]
    rows = "".join(
        f'<tr><td style="opacity:0.65;padding-right:8px;vertical-align:top;white-space:nowrap">{html_text(k)}</td>'
        f"<td>{html_text(v)}</td></tr>"
        for k, v in facts
    )
    found = "".join(
        f'<li style="margin-bottom:4px">{html_text(in_short(problem))}</li>'
        for problem in take.problems[:MOST_PROBLEMS]
    )
    if len(take.problems) > MOST_PROBLEMS:
        found += f"<li>… and {len(take.problems) - MOST_PROBLEMS} more</li>"
    listed = f"<b>{counted(len(take.problems), 'problem')} in the files</b><ul>{found}</ul>" if take.problems else ""
    return (
        '<div style="padding:0 1em;font-size:0.82em;overflow-wrap:anywhere">'
        f'<table>{rows}</table><br>{listed}<span style="opacity:0.65">Keys: space play · ← → frame · shift ← → 0.1 s · '
        "Home End · [ ] speed · L loop · F follow</span></div>"
    )
