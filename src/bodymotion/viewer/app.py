"""The viewer: a server, a take on its stage, a player, a panel, and one thread that owns them all.

Whatever a browser, a key, a watcher or a program wants is put into an inbox and done by that thread between two ticks, so nothing needs a
lock. A tick sends at most one picture; when the time for a picture has passed, it is left out. While nobody looks, nothing is drawn.
"""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import TypeVar

from bodymotion.diagnostics.text import shown
from bodymotion.geometry.arrays import Floats
from bodymotion.viewer.asked import Asked
from bodymotion.viewer.capture import Capture
from bodymotion.viewer.inbox import Inbox
from bodymotion.viewer.insight import Insight
from bodymotion.viewer.keys import add_keys, run_in_browsers
from bodymotion.viewer.looks import apply_theme
from bodymotion.viewer.measuring import Measuring
from bodymotion.viewer.moves import move
from bodymotion.viewer.panel import Panel
from bodymotion.viewer.performance import Wishes
from bodymotion.viewer.performing import Performing
from bodymotion.viewer.player import Player
from bodymotion.viewer.plots import GO_WHERE_CLICKED
from bodymotion.viewer.server import quiet_server, stop_server
from bodymotion.viewer.stage import Stage, fit, refit
from bodymotion.viewer.surroundings import Lights
from bodymotion.viewer.switches import Switches
from bodymotion.viewer.take import Take

__all__ = ["Viewer"]

PICTURES = 60.0
"""Pictures a second at most."""
PANEL, VALUES = 12.0, 4.0
"""How often a second, while playing, the clock and slider are written, and the values of joints."""
LONGEST_TICK = 0.5
"""[s] After a longer pause (a computer that slept) the player goes on where it was."""
T = TypeVar("T")


class Viewer(Asked):
    """A viewer that runs until `stop`.

    Its state (`take`, `player`, `stage`, `switches`) belongs to its own thread; use the methods. They return when it is done.
    """

    def __init__(
        self,
        take: Take,
        *,
        host: str = "127.0.0.1",
        port: int = 8080,
        files: Sequence[Path] = (),
        switches: Switches | None = None,
        play: bool = True,
    ) -> None:
        self.take = take
        self.files = tuple(files)
        self.switches = switches or Switches()
        fit(self.switches, take)
        self.player = Player(take.timeline)
        self.server = quiet_server(host, port)
        self._host = host
        self._inbox = Inbox()
        self._stopped = threading.Event()
        self._play_when_seen = play
        self._when_stopped: list[Callable[[], None]] = []
        self.pictures = 0
        self.measuring = Measuring(self._inbox.post, self._learned)
        self.performing = Performing(self, self._inbox.post, self._retake)
        self.capture = Capture(self)
        self._prepare_page()
        self.stage = self._set_stage(take)
        self.panel = Panel(self)
        add_keys(self.server, self.act)
        run_in_browsers(self.server, GO_WHERE_CLICKED)
        self._first_camera()
        self._thread = threading.Thread(target=self._run, name="bodymotion-viewer", daemon=True)
        self._inbox.owned_by(self._thread)
        self._thread.start()
        self.server.on_client_connect(lambda _client: self._inbox.post(self._seen))

    @property
    def url(self) -> str:
        """The address to open in a browser."""
        host = {"0.0.0.0": "localhost", "::": "localhost"}.get(self._host, self._host)
        return f"http://{f'[{host}]' if ':' in host else host}:{self.server.get_port()}"

    @property
    def time(self) -> float:
        """Where the player stands [s]."""
        return self.player.time

    @property
    def frame(self) -> int:
        """The frame that is shown."""
        return self.player.frame

    @property
    def playing(self) -> bool:
        """Whether it plays."""
        return self.player.playing

    def play(self) -> None:
        """Go on playing."""
        self._do(self.player.play)

    def pause(self) -> None:
        """Stop where it is."""
        self._do(self.player.pause)

    def seek(self, time: float) -> None:
        """Go to a time [s]."""
        self._do(lambda: self._go(lambda: self.player.seek(time)))

    def seek_frame(self, frame: int) -> None:
        """Go to a frame."""
        self._do(lambda: self._go(lambda: self.player.seek_frame(frame)))

    def set_joint(self, column: int, value: float) -> None:
        """Pause and set a joint by hand [rad or m]; it stays until the time changes."""
        self._do(lambda: self._pose(column, value))

    def show(self, name: str, on: bool = True) -> None:
        """Turn one of the switches on or off, such as "devices" or "frames"."""
        self._do(lambda: self._switch(name, on))

    def link_poses(self) -> Floats:
        """Return the poses (L, 7) of the links in the world, as they are shown."""
        return self._do(self.stage.link_poses)

    def replace(self, take: Take) -> None:
        """Show another take in the place of this one, at the same time and with the same switches."""
        self._do(lambda: self._replace(take))

    def perform(
        self, *, bpm: float | None = None, slices: float | None = None, parameters: Mapping[str, float] | None = None
    ) -> None:
        """Play the animation that is shown anew: at a tempo, for so many slices, with these parameters; without any as it is by itself.

        The slice that is shown stays.

        Raises
        ------
        ValueError
            When no animation is shown, or it cannot be played so.
        """
        wishes = Wishes(bpm, slices, dict(parameters or {}))
        self._do(lambda: self.performing.perform(wishes))

    def say(self, text: str, bad: bool = False) -> None:
        """Write a message at the top of the panel."""
        self._do(lambda: self.panel.say(text, bad))

    def wait(self) -> None:
        """Return when the viewer is stopped; Ctrl-C stops it."""
        try:
            while not self._stopped.wait(0.5):
                pass
        except KeyboardInterrupt:
            self.stop()

    def stop(self) -> None:
        """Close the viewer and its server."""
        if self._stopped.is_set():
            return
        for work in self._when_stopped:
            work()
        self._stopped.set()
        self.capture.cancel()
        self.measuring.forget()
        self._inbox.post(lambda: None)
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=5.0)
        self._inbox.owned_by(None)
        stop_server(self.server)

    def on_stop(self, work: Callable[[], None]) -> None:
        """Have `work` done when the viewer stops."""
        self._when_stopped.append(work)

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    # What the viewer's own thread does.

    def _prepare_page(self) -> None:
        apply_theme(self.server.gui, self.switches.dark)
        self.server.gui.main_panel.dock_right()
        self.server.gui.set_panel_label(shown(self.take.title))

    def _set_stage(self, take: Take) -> Stage:
        stage = Stage(self.server, take, self.switches)
        stage.lights = Lights(self.server.scene, self.switches.shadows)
        stage.loops.prepare()
        return stage

    def _first_camera(self) -> None:
        view = self.stage.first_view()
        camera = self.server.initial_camera
        camera.fov = view.field_of_view
        camera.near = 0.01 * self.stage.scene.size
        camera.far = 300.0 * self.stage.scene.size
        camera.position = view.position
        camera.look_at = view.look_at

    def _seen(self) -> None:
        if self._play_when_seen:
            self._play_when_seen = False
            self.player.play()

    def _go(self, move: Callable[[], None]) -> None:
        self.stage.unpose()
        move()

    def _pose(self, column: int, value: float) -> None:
        self.player.pause()
        self.stage.pose_joint(column, value)

    def _act(self, name: str) -> None:
        if name == "follow":
            self._switch("follow", not self.switches.follow)
        else:
            move(self.player, name, self.stage.unpose)

    def _switch(self, name: str, on: bool) -> None:
        self.stage.switch(name, on)
        if name == "dark":
            apply_theme(self.server.gui, self.switches.dark)

    def _replace(self, take: Take) -> None:
        self.performing.forget()
        self.capture.cancel()
        self.measuring.forget()
        self.server.gui.reset()
        refit(self.switches, take, self.take)
        stays = self.stage.suits(take)
        self.take = take
        self.player = self.player.moved_to(take.timeline)
        self._prepare_page()
        if stays:
            self.stage.retake(take)
        else:
            self.stage.remove()
            self.stage = self._set_stage(take)
        self.panel = Panel(self)
        add_keys(self.server, self.act)
        run_in_browsers(self.server, GO_WHERE_CLICKED)

    def _retake(self, take: Take, time: float) -> None:
        """Go on with another motion of the same body, at a time [s]."""
        self.take = take
        self.player = self.player.moved_to(take.timeline)
        self.player.seek(time)
        self.stage.retake(take)
        self.measuring.forget()
        self.panel.retake()

    @property
    def insight(self) -> Insight | None:
        """What is known of the motion as it is shown; None as long as that was not needed."""
        return self.measuring.known(self.stage.played, self.switches.stand)

    def _measure(self) -> None:
        """Have worked out what is needed of what is shown; layers forget what is no longer so."""
        layers, known = self.stage.layers, self.insight
        if layers.insight is not known:
            self.stage.learn(known)
        plotted = self.switches.quantity if self.panel.plot is not None else None
        if layers.wanted or plotted is not None:
            wanted = {*layers.quantities, *([plotted] if plotted is not None else [])}
            self.measuring.want(self.stage.played, self.switches.stand, frozenset(wanted))

    def _learned(self, insight: Insight) -> None:
        self.stage.learn(self.insight)
        if self.panel.plot is not None:
            self.panel.plot.draw(self.insight)

    def _do(self, work: Callable[[], T]) -> T:
        return self._inbox.do(work, self._show)

    def _show(self) -> None:
        self._measure()
        self.stage.show(self.player.frame)
        self.pictures += 1

    def _run(self) -> None:
        last, shown = monotonic(), -1
        next_panel = next_values = 0.0
        while not self._stopped.is_set():
            work = self._inbox.next(1.0 / PICTURES - (monotonic() - last) if self.player.playing else 1.0)
            try:
                acted, played = False, self.player.playing
                while work is not None and not self._stopped.is_set():
                    work()
                    acted, work = True, self._inbox.next(0.0)
                now = monotonic()
                seconds, last = now - last, now
                self.player.advance(seconds if played and seconds <= LONGEST_TICK else 0.0)
                frame = self.player.frame
                if not acted and not self.server.get_clients():
                    shown = -1
                    continue
                if frame != shown or acted:
                    if self.player.playing:
                        self.stage.unpose()
                    self._show()
                    shown = frame
                if acted or now >= next_panel:
                    slow = acted or now >= next_values
                    self.panel.sync(slow)
                    next_panel = now + 1.0 / PANEL
                    next_values = now + 1.0 / VALUES if slow else next_values
            except Exception:
                if not self._stopped.is_set():
                    traceback.print_exc(file=sys.stderr)
