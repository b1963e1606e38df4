"""What the panel and the keys ask of a viewer, from any thread, without waiting for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from bodymotion.viewer.inbox import Inbox
from bodymotion.viewer.insight import Insight
from bodymotion.viewer.panel import Panel
from bodymotion.viewer.performing import Performing
from bodymotion.viewer.player import Player
from bodymotion.viewer.stage import Stage
from bodymotion.viewer.switches import Switches

if TYPE_CHECKING:
    import viser

__all__ = ["Asked"]


class Asked:
    """The part of `Viewer` that puts what is asked for into its inbox."""

    _inbox: Inbox
    panel: Panel
    performing: Performing
    player: Player
    stage: Stage
    switches: Switches

    @property
    def insight(self) -> Insight | None:
        """What is known of the motion as it is shown; None as long as that was not needed."""
        raise NotImplementedError

    def _act(self, name: str) -> None:
        raise NotImplementedError

    def _go(self, move: Callable[[], None]) -> None:
        raise NotImplementedError

    def _pose(self, column: int, value: float) -> None:
        raise NotImplementedError

    def _switch(self, name: str, on: bool) -> None:
        raise NotImplementedError

    def act(self, name: str) -> None:
        """Do what a key or a button stands for; `keys.KEYS` has the names."""
        self._inbox.post(lambda: self._act(name))

    def scrub(self, frame: int) -> None:
        """Pause at a frame."""

        def scrub() -> None:
            self.player.pause()
            self._go(lambda: self.player.seek_frame(frame))

        self._inbox.post(scrub)

    def set_speed(self, speed: float) -> None:
        """Play so many times faster than the clock."""
        self._inbox.post(lambda: self.player.set_speed(speed))

    def set_loop(self, loop: bool) -> None:
        """Start again at the end, or not."""
        self._inbox.post(lambda: setattr(self.player, "loop", loop))

    def switch(self, name: str, on: bool) -> None:
        """Turn one of the switches on or off."""
        self._inbox.post(lambda: self._switch(name, on))

    def pose_joint(self, column: int, value: float) -> None:
        """Pause and set a joint by hand [rad or m]."""
        self._inbox.post(lambda: self._pose(column, value))

    def choose_path(self, link: str | None) -> None:
        """Draw the path of a link, or of none."""
        self._inbox.post(lambda: self.stage.choose_path(link))

    def wish(self, key: str, value: float) -> None:
        """Play the animation with another value of what `animation_panel.with_wish` knows. Of several wishes the last ones count."""
        self._inbox.post(lambda: self.performing.wish(key, value))

    def go_to_keyframe(self, keyframe: int) -> None:
        """Pause where a keyframe is shown."""

        def go() -> None:
            time = self.performing.time_of(keyframe)
            if time is not None:
                self.player.pause()
                self._go(lambda: self.player.seek(time))

        self._inbox.post(go)

    def set_trail(self, seconds: float) -> None:
        """Let trails go back so many seconds."""
        self._inbox.post(lambda: setattr(self.switches, "trail_seconds", seconds))

    def plot_changed(self) -> None:
        """Draw the curves that are chosen now."""

        def draw() -> None:
            if self.panel.plot is not None:
                self.switches.quantity, self.switches.plotted = self.panel.plot.quantity, self.panel.plot.chosen
                self.panel.plot.draw(self.insight)

        self._inbox.post(draw)

    def look(
        self, client: viser.ClientHandle | None, *, preset: str | None = None, viewpoint: int | None = None
    ) -> None:
        """Turn the camera of one browser to a preset, or to a viewpoint of the model."""

        def look() -> None:
            if client is None:
                return
            view = self.stage.viewpoint(viewpoint) if viewpoint is not None else self.stage.view(preset or "Corner")
            with client.atomic():
                client.camera.up_direction = view.up
                client.camera.position = view.position
                client.camera.look_at = view.look_at
                client.camera.fov = view.field_of_view

        self._inbox.post(look)
