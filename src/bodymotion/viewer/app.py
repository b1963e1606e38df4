"""The viewer: a server, a scene, a player, a panel, and one thread that owns them all.

Whatever a browser, a key, a file watcher or a program requests is put into a queue and
run by that thread between two ticks, so no locks are needed. A tick sends at most one
frame; frames whose time has passed are skipped. While no browser is connected, nothing
is sent.
"""

from __future__ import annotations

import queue
import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

from bodymotion.diagnostics.text import shown
from bodymotion.geometry.arrays import Floats
from bodymotion.model.links import Link
from bodymotion.scene.options import DisplayOptions
from bodymotion.scene.playback import PlaybackSettings
from bodymotion.scene.scene import Scene
from bodymotion.viewer.analysis import BackgroundAnalysis, MotionAnalysis
from bodymotion.viewer.capture import Capture
from bodymotion.viewer.page import script
from bodymotion.viewer.panel import Panel
from bodymotion.viewer.playback_control import PlaybackControl
from bodymotion.viewer.player import KEYS, Player, run_action
from bodymotion.viewer.pose_handles import PoseHandles
from bodymotion.viewer.scene_view import (
    SceneView,
    add_lights,
    apply_defaults,
    apply_theme,
    framing,
    reapply_defaults,
    show_camera,
)
from bodymotion.viewer.server import quiet_server, stop_server

MAX_FRAME_RATE = 60.0  # Frames per second.
CLOCK_RATE = 12.0
# Updates per second, during playback, of the clock and the slider, and of the values of
# joints.
VALUES_RATE = 4.0
# [s] After a longer pause (a computer that slept) the player stays at its time.
MAX_TICK = 0.5
WORK_TIMEOUT = 600.0  # [s] for `WorkQueue.run`.
T = TypeVar("T")


class WorkQueue:
    """Work for one thread, in the order of requests.

    The thread, the `worker`, calls `next`.

    Without it callers work themselves.
    """

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()
        self.worker: threading.Thread | None = None

    def post(self, work: Callable[[], object]) -> None:
        """Request work without waiting for it."""
        self._waiting.put(work)

    def run(
        self, work: Callable[[], T], after: Callable[[], object] = lambda: None
    ) -> T:
        """Wait until `work`, then `after` are done.

        Return what `work` returns, or raise what it raises.
        """
        if self.worker is None or threading.current_thread() is self.worker:
            return work()
        answer: Future[T] = Future()

        def run() -> None:
            try:
                result = work()
                after()
                answer.set_result(result)
            except BaseException as error:
                answer.set_exception(error)

        self.post(run)
        return answer.result(WORK_TIMEOUT)

    def next(self, timeout: float) -> Callable[[], object] | None:
        """Return the next work, waiting at most `timeout` seconds for it.

        None when there is none.
        """
        try:
            if timeout > 0:
                return self._waiting.get(timeout=timeout)
            return self._waiting.get_nowait()
        except queue.Empty:
            return None


class Viewer:
    """A viewer that runs until `stop`.

    Its state (`scene`, `player`, `scene_view`, `options`) belongs to its own thread.
    The first group of methods is for programs: they return when they are done. The
    second group is for the panel and the keys: they return at once.
    """

    def __init__(
        self,
        scene: Scene,
        *,
        host: str = "127.0.0.1",
        port: int = 8080,
        files: Sequence[Path] = (),
        options: DisplayOptions | None = None,
        play: bool = True,
    ) -> None:
        self.scene = scene
        self.files = tuple(files)
        self.options = options or DisplayOptions()
        apply_defaults(self.options, scene)
        self.player = Player(scene.timeline)
        self.server = quiet_server(host, port)
        self._host = host
        self._queue = WorkQueue()
        self._stopped = threading.Event()
        self._play_on_connect = play
        self._was_connected = False
        self.selected_link: Link | None = None
        self._on_stop: list[Callable[[], None]] = []
        self.num_shown = 0
        self.background_analysis = BackgroundAnalysis(
            self._queue.post, self._analysis_done
        )
        self.playback_control = PlaybackControl(self, self._update)
        self.capture = Capture(self)
        self.handles = PoseHandles(self)
        self.scene_view = self._make_scene_view(scene)
        self._make_panel()
        from viser import _messages

        # A private part of viser, which has no public way to run a script in all
        # browsers, also in those that connect later.
        live = _messages.RunJavascriptMessage(
            source=script("timeline.js") + script("live.js")
        )
        self.server.gui._websock_interface.queue_message(live)
        self.scene_view.set_first_camera()
        self._thread = threading.Thread(
            target=self._run, name="bodymotion-viewer", daemon=True
        )
        self._queue.worker = self._thread
        self._thread.start()
        self.server.on_client_connect(lambda _client: self._queue.post(self._connected))

    # For programs.

    @property
    def url(self) -> str:
        """The address to open in a browser."""
        host = {"0.0.0.0": "localhost", "::": "localhost"}.get(self._host, self._host)
        return f"http://{f'[{host}]' if ':' in host else host}:{self.server.get_port()}"

    @property
    def time(self) -> float:
        """The current time [s]."""
        return self.player.time

    @property
    def frame(self) -> int:
        """The current frame."""
        return self.player.frame

    @property
    def playing(self) -> bool:
        """Whether it plays."""
        return self.player.playing

    @property
    def analysis(self) -> MotionAnalysis | None:
        """The analysis of the motion as it is shown.

        None until an overlay or plot needed it.
        """
        return self.background_analysis.known(
            self.scene_view.shown_scene, self.options.stand
        )

    def play(self) -> None:
        """Start to play."""
        self._do(self.player.play)

    def pause(self) -> None:
        """Pause at the current time."""
        self._do(self.player.pause)

    def seek(self, time: float) -> None:
        """Go to a time [s]."""
        self._do(lambda: self._go(self.player.seek, time))

    def seek_frame(self, frame: int) -> None:
        """Go to a frame."""
        self._do(lambda: self._go(self.player.seek_frame, frame))

    def set_joint(self, column: int, value: float) -> None:
        """Pause and set a joint by hand [rad or m].

        It stays until the time changes.
        """
        self._do(lambda: self._pose(column, value))

    def show(self, name: str, on: bool = True) -> None:
        """Switch a display option on or off, such as "devices" or "frames"."""
        self._do(lambda: self._switch(name, on))

    def link_poses(self) -> Floats:
        """Return the poses (L, 7) of the links in the world, as they are shown."""
        return self._do(self.scene_view.link_poses)

    def replace(self, scene: Scene, *, reset_camera: bool = False) -> None:
        """Show another scene at the same time and with the same options.

        With `reset_camera` all browsers see the whole robot.
        """

        def show() -> None:
            if reset_camera:
                bounds = scene.extent.bounds(scene.link_poses[0])
            else:
                bounds = None
            clients = self.server.get_clients().values() if reset_camera else ()
            if bounds is not None:  # before the links come, one after the other
                for client in clients:
                    show_camera(client, framing(bounds, "Corner"))
            self._replace(scene)
            if reset_camera:
                self.scene_view.set_first_camera()
                initial = self.server.initial_camera
                for client in clients:
                    client.camera.near, client.camera.far = initial.near, initial.far
                    show_camera(client, self.scene_view.first_camera())

        self._do(show)

    def draw(self, scene: Scene) -> None:
        """Show the shapes of a scene with the same links and motion."""
        self._do(lambda: self.scene_view.draw(scene))

    def replay(
        self,
        *,
        bpm: float | None = None,
        slices: float | None = None,
        parameters: Mapping[str, float] | None = None,
    ) -> None:
        """Play the shown script with another tempo, length [slices] or parameters.

        The current slice stays.

        Raises
        ------
        ValueError
            When no script is shown, or it cannot be played so.
        """
        settings = PlaybackSettings(bpm, slices, dict(parameters or {}))
        self._do(lambda: self.playback_control.replay(settings))

    def show_message(self, text: str, bad: bool = False) -> None:
        """Show a message at the top of the panel.

        An empty one removes it.
        """
        self._do(lambda: self.panel.show_message(text, bad))

    def wait(self) -> None:
        """Return when the viewer is stopped; Ctrl-C stops it."""
        try:
            while not self._stopped.wait(0.5):
                pass
        except KeyboardInterrupt:
            self.stop()

    def stop(self) -> None:
        """Stop the viewer and its server."""
        if self._stopped.is_set():
            return
        for work in self._on_stop:
            work()
        self._stopped.set()
        self.capture.cancel()
        self.background_analysis.forget()
        self._queue.post(lambda: None)
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=5.0)
        self._queue.worker = None
        stop_server(self.server)

    def on_stop(self, work: Callable[[], None]) -> None:
        """Run `work` when the viewer stops."""
        self._on_stop.append(work)

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    # For the panel and the keys.

    def act(self, name: str) -> None:
        """Run the action of a key or button.

        `player.KEYS` lists the names.
        """
        if any(name == action for _, _, action, _ in KEYS):
            self._queue.post(lambda: self._act(name))

    def scrub(self, time: float) -> None:
        """Pause at a time [s]."""

        def go() -> None:
            self.player.pause()
            self._go(self.player.seek, time)

        self._queue.post(go)

    def select(self, index: int) -> None:
        """Select a link by its index, show it in the panel and highlight it.

        Another number, or the selected link, selects none.
        """

        def show() -> None:
            links = self.scene.body.links
            before = self.selected_link
            if 0 <= index < len(links):
                found = links[index]
            else:
                found = None
            self.selected_link = None if found is before else found
            self.scene_view.nodes.select(None if self.selected_link is None else index)
            self.panel.link_card.update()

        self._queue.post(show)

    def post(self, work: Callable[[], object]) -> None:
        """Run work on the viewer's own thread."""
        self._queue.post(work)

    def switch(self, name: str, on: bool) -> None:
        """Switch a display option on or off."""
        self._queue.post(lambda: self._switch(name, on))

    def pose_joint(self, column: int, value: float) -> None:
        """Pause and set a joint by hand [rad or m]."""
        self._queue.post(lambda: self._pose(column, value))

    def change_setting(self, name: str, value: float) -> None:
        """Play the script with another value, see `PlaybackSettings.changed`.

        Of several requests that wait only the result counts.
        """
        self._queue.post(lambda: self.playback_control.change_setting(name, value))

    def plot_changed(self) -> None:
        """Draw the curves that are chosen now."""

        def draw() -> None:
            plot = self.panel.plot
            if plot is not None:
                self.options.quantity, self.options.plotted = plot.quantity, plot.chosen
                plot.draw(self.analysis)

        self._queue.post(draw)

    # What the viewer's own thread does.

    def _make_panel(self) -> None:
        gui = self.server.gui
        apply_theme(gui, self.options.dark)
        gui.main_panel.dock_right()
        gui.set_panel_label(shown(self.scene.title))
        self.panel = Panel(self)
        command: Any = gui.add_command
        for key, modifier, name, description in KEYS:
            # They are also in viser's list of commands (Ctrl-K).
            handle = command(description, hotkey=key, modifier=modifier)
            handle.on_trigger(lambda _event, name=name: self.act(name))

    def _make_scene_view(self, scene: Scene) -> SceneView:
        view = SceneView(self.server, scene, self.options, self.select)
        view.light = add_lights(self.server.scene, self.options.shadows)
        view.loops.prepare()
        return view

    def _connected(self) -> None:
        self._was_connected = True
        if self._play_on_connect:
            self._play_on_connect = False
            self.player.play()

    def _go(self, seek: Callable[[Any], None], to: float) -> None:
        self.scene_view.set_pose(None, None)
        seek(to)

    def _pose(self, column: int, value: float) -> None:
        self.player.pause()
        self.scene_view.pose_joint(column, value)

    def _act(self, name: str) -> None:
        if name == "follow":
            self._switch("follow", not self.options.follow)
        else:
            run_action(self.player, name, lambda: self.scene_view.set_pose(None, None))

    def _switch(self, name: str, on: bool) -> None:
        self.scene_view.switch(name, on)
        if name == "dark":
            apply_theme(self.server.gui, self.options.dark)

    def _replace(self, scene: Scene) -> None:
        self.playback_control.forget()
        self.capture.cancel()
        self.handles.remove()
        self.background_analysis.forget()
        self.server.gui.reset()
        reapply_defaults(self.options, scene, self.scene)
        if all(link.name != self.options.path for link in scene.body.links):
            self.options.path = None
        self.scene = scene
        self.player = self.player.with_timeline(scene.timeline)
        if self.scene_view.can_show(scene):
            self.scene_view.update(scene)
        else:
            self.selected_link = None
            self.scene_view.remove()
            self.scene_view = self._make_scene_view(scene)
        self._make_panel()

    def _update(self, scene: Scene, time: float) -> None:
        """Show another motion of the same body, at a time [s]."""
        self.scene = scene
        self.player = self.player.with_timeline(scene.timeline)
        self.player.seek(time)
        self.scene_view.update(scene)
        self.background_analysis.forget()
        self.panel.update()

    def _analyze(self) -> None:
        """Start the analysis that is needed for what is shown.

        Overlays drop one that is out of date.
        """
        overlays = self.scene_view.analysis_overlays
        known = self.analysis
        if overlays.analysis is not known:
            overlays.set_analysis(known)
        if self.panel.plot is not None:
            plotted = self.options.quantity
        else:
            plotted = None
        # The timeline shows contacts and findings of every motion that can be measured.
        if (
            overlays.needed
            or plotted is not None
            or (self._was_connected and not self.scene.reason_not_to_measure)
        ):
            quantities = {
                *overlays.quantities,
                *([plotted] if plotted is not None else []),
            }
            self.background_analysis.request(
                self.scene_view.shown_scene, self.options.stand, frozenset(quantities)
            )

    def _analysis_done(self, _analysis: MotionAnalysis) -> None:
        self.scene_view.analysis_overlays.set_analysis(self.analysis)
        if self.panel.plot is not None:
            self.panel.plot.draw(self.analysis)
        if self.panel.playback_panel is not None:
            self.panel.playback_panel.update()

    def _do(self, work: Callable[[], T]) -> T:
        return self._queue.run(work, self._show)

    def _show(self) -> None:
        self._analyze()
        self.scene_view.show(self.player.frame)
        self.handles.update_positions()
        self.num_shown += 1

    def _run(self) -> None:
        last = monotonic()
        last_frame = -1
        next_panel = next_values = 0.0
        while not self._stopped.is_set():
            work = self._queue.next(
                1.0 / MAX_FRAME_RATE - (monotonic() - last)
                if self.player.playing
                else 1.0
            )
            try:
                acted = False
                played = self.player.playing
                while work is not None and not self._stopped.is_set():
                    work()
                    acted = True
                    work = self._queue.next(0.0)
                now = monotonic()
                seconds = now - last
                last = now
                self.player.advance(seconds if played and seconds <= MAX_TICK else 0.0)
                frame = self.player.frame
                if not acted and not self.server.get_clients():
                    last_frame = -1
                    continue
                if frame != last_frame or acted:
                    if self.player.playing:
                        self.scene_view.set_pose(None, None)
                    self._show()
                    last_frame = frame
                if acted or now >= next_panel:
                    all_values = acted or now >= next_values
                    self.panel.sync(all_values)
                    next_panel = now + 1.0 / CLOCK_RATE
                    if all_values:
                        next_values = now + 1.0 / VALUES_RATE
            except Exception:
                if not self._stopped.is_set():
                    traceback.print_exc(file=sys.stderr)
